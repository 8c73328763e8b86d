import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** One trial for each line on standard input, one JSON object for each trial on standard output. */
final class Trials {
    private static final PrintStream OUT = System.out;
    private static final double RESUME = 0.3; // seconds: what a flow that is warm needs to be at its speed again
    private static final int TURNS = 10;
    private static final long STILL = 200; // milliseconds without a change, after which no more is expected
    private static final long STILL_ACKS = 3000;
    private static final long PATIENCE = 60_000; // milliseconds

    private final Options options;
    private final String program;
    private final String settings;
    private final int leaves;
    private long missing;

    /** LEAVES: how many calls of Gate.done make a tree. */
    Trials(Options options, String program, String settings, int leaves) {
        this.options = options;
        this.program = program;
        this.settings = settings;
        this.leaves = leaves;
    }

    /** What engines print belongs on standard error. */
    static void keepOutputClean() {
        System.setOut(System.err);
    }

    /** The first tree at once, so that its time does not depend on when the first trial is asked for. */
    void run() throws IOException, InterruptedException {
        Gate.letGo();
        for (long waited = 0; Gate.firstAt() == 0; waited++) {
            failAfter(waited, "no tree was completed");
            Thread.sleep(1);
        }
        hold();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (int trial = 0; trial < options.trials && in.readLine() != null; trial++) {
            if (trial == 0) {
                warm();
            }
            trial(Math.min(options.warm, RESUME));
        }
    }

    /** In turns, so that the compiler has also seen how a flow is held when it decides what to do with the loops. */
    private void warm() throws InterruptedException {
        for (int turn = 0; turn < TURNS; turn++) {
            Gate.letGo();
            Thread.sleep((long) (options.warm * 1e3 / TURNS));
            hold();
            Thread.sleep(20);
        }
    }

    private void trial(double warm) throws IOException, InterruptedException {
        Gate.letGo();
        Thread.sleep((long) (warm * 1e3));
        Latencies latencies = new Latencies();
        long from = System.nanoTime();
        long before = Gate.countDone();
        Gate.latencies = latencies;
        Thread.sleep((long) (options.seconds * 1e3));
        Gate.latencies = null;
        long done = Gate.countDone() - before;
        double seconds = (System.nanoTime() - from) / 1e9;
        if (done == 0) {
            failAfter(PATIENCE + 1, "nothing was done in a trial");
        }
        hold();
        print(done, seconds, latencies);
    }

    /** An engine may keep a last batch until more comes; with acks, trees that stay open are told. */
    private void hold() throws InterruptedException {
        Gate.open = false;
        long before = -1;
        for (long still = 0; leavesOpen() > missing && still < (options.acks ? STILL_ACKS : STILL); ) {
            Thread.sleep(1);
            still = leavesOpen() == before ? still + 1 : 0;
            before = leavesOpen();
        }
        if (options.acks && leavesOpen() > missing) {
            System.err.println(program + ": " + leavesOpen() + " trees stay open, of " + Gate.countSent());
        }
        missing = leavesOpen();
        Gate.resting = true;
    }

    private long leavesOpen() {
        return Gate.countSent() * leaves - Gate.countDone();
    }

    private void failAfter(long waited, String what) {
        if (waited > PATIENCE) {
            System.err.println(program + ": " + what);
            Runtime.getRuntime().halt(1);
        }
    }

    private void print(long done, double seconds, Latencies latencies) throws IOException {
        double trees = (double) done / leaves;
        double units = options.words() ? trees * Sentences.WORDS : trees;
        String words = options.words() ? String.format(Locale.ROOT, "\"words\":%.0f,", units) : "";
        long first = Gate.firstAt() - ManagementFactory.getRuntimeMXBean().getStartTime();
        OUT.printf(Locale.ROOT,
                "{\"program\":\"%s\",\"flow\":\"%s\",\"acks\":%b,\"executors\":%d,\"trees\":%.0f,%s\"seconds\":%.6f,"
                        + "\"ns\":%.3f,\"p50_us\":%s,\"p99_us\":%s,\"p999_us\":%s,\"rss\":%d,\"first_ms\":%d,"
                        + "\"settings\":\"%s\"}%n",
                program, options.flow, options.acks, options.executors, trees, words, seconds, seconds * 1e9 / units,
                latencies.quantile(0.5), latencies.quantile(0.99), latencies.quantile(0.999), peakResident(), first,
                settings);
        OUT.flush();
    }

    private static long peakResident() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmHWM:")) {
                return Long.parseLong(line.replaceAll("\\D", "")) * 1024;
            }
        }
        return 0;
    }
}
