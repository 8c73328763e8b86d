/** Lines of ten words out of ten thousand, the same for every peer: "wordN", drawn evenly by a fixed sequence. */
final class Sentences {
    static final int WORDS = 10;
    private static final int VOCABULARY = 10_000;
    private static final String[] LINES = make(1 << 14);

    private Sentences() {
    }

    static String line(long n) {
        return LINES[(int) n & (LINES.length - 1)];
    }

    private static String[] make(int count) {
        String[] lines = new String[count];
        long state = 1;
        for (int i = 0; i < count; i++) {
            String[] words = new String[WORDS];
            for (int w = 0; w < WORDS; w++) {
                state = state * 6364136223846793005L + 1442695040888963407L;
                words[w] = "word" + (state >>> 33) % VOCABULARY;
            }
            lines[i] = String.join(" ", words);
        }
        return lines;
    }
}
