/** A histogram of nanoseconds: 32 steps to each power of two, so a figure is at most 3 % too high. One writer. */
final class Latencies {
    private static final int STEPS = 5;
    private final long[] counts = new long[(64 - STEPS) << STEPS];
    private long total;

    void add(long ns) {
        counts[place(Math.max(ns, 0))]++;
        total++;
    }

    private static int place(long ns) {
        int shift = Math.max(0, 63 - Long.numberOfLeadingZeros(ns | 1) - STEPS);
        return (shift << STEPS) + (int) (ns >>> shift);
    }

    private static long top(int place) {
        int shift = Math.max(0, (place >> STEPS) - 1);
        return (((long) place - ((long) shift << STEPS)) + 1 << shift) - 1;
    }

    /** Microseconds that a part of all did not exceed, as JSON. */
    String quantile(double part) {
        if (total == 0) {
            return "null";
        }
        long left = (long) Math.ceil(part * total);
        int place = 0;
        while ((left -= counts[place]) > 0) {
            place++;
        }
        return String.format(java.util.Locale.ROOT, "%.3f", top(place) / 1e3);
    }
}
