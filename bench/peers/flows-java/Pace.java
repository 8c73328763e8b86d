import java.io.Serializable;

/** When a sender may send: at once, or at times planned in advance that do not move when the flow falls behind. */
final class Pace implements Serializable {
    private static final long serialVersionUID = 1;
    private final double gap;
    private final boolean timed;
    private int round;
    private long from;
    private long count;

    Pace(Options options) {
        gap = options.rate > 0 ? 1e9 / options.rate : 0;
        timed = options.timed();
    }

    /** The intended time of the next tree (0 if times do not matter), or -1: not yet. */
    long next() {
        if (!timed) {
            return 0;
        }
        long now = System.nanoTime();
        if (gap == 0) {
            return now;
        }
        if (round != Gate.round) {
            round = Gate.round;
            from = now;
            count = 0;
        }
        long due = from + (long) (count * gap);
        if (due > now) {
            return -1;
        }
        count++;
        return due;
    }
}
