import java.io.Serializable;
import java.util.List;

/** The command line that every measured program takes. */
final class Options implements Serializable {
    private static final long serialVersionUID = 1;
    String flow = "const-null";
    boolean acks = true;
    int executors = 1;
    double seconds = 1;
    double warm = 1;
    int trials = Integer.MAX_VALUE;
    int pending;
    double rate;

    static Options parse(String[] words) {
        Options options = new Options();
        try {
            for (int i = 0; i < words.length; i += 2) {
                options.set(words[i], words[i + 1]);
            }
        } catch (RuntimeException e) {
            end(2, "not understood: " + String.join(" ", words));
        }
        return options;
    }

    private void set(String name, String value) {
        switch (name) {
            case "--flow" -> flow = value;
            case "--acks" -> acks = onOff(value);
            case "--executors" -> executors = Integer.parseInt(value);
            case "--seconds" -> seconds = Double.parseDouble(value);
            case "--warm" -> warm = Double.parseDouble(value);
            case "--trials" -> trials = Integer.parseInt(value);
            case "--pending" -> pending = Integer.parseInt(value);
            case "--rate" -> rate = Double.parseDouble(value);
            case "--keys" -> Integer.parseInt(value); // no flow here has keys of a number that can be chosen
            default -> throw new IllegalArgumentException(name);
        }
    }

    private static boolean onOff(String value) {
        if (!value.equals("on") && !value.equals("off")) {
            throw new IllegalArgumentException(value);
        }
        return value.equals("on");
    }

    /** Are latencies recorded? A clock is read for each tree then. */
    boolean timed() {
        return rate > 0 || pending == 1;
    }

    boolean words() {
        return flow.equals("word-count");
    }

    void refuseUnless(String program, List<String> flows) {
        if (!flows.contains(flow)) {
            end(3, program + " has no flow " + flow + "; it has " + String.join(", ", flows));
        }
    }

    static void end(int code, String why) {
        System.err.println(why);
        System.exit(code);
    }
}
