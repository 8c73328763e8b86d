import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Between the thread that runs the trials and the flow: static, since engines copy components. One thread sends, one
 * thread takes (it may be the same); each count has one writer.
 */
final class Gate {
    /** While false, nothing is sent. */
    static volatile boolean open;
    /** Nothing is sent and nothing more is expected: a sender calls rest. */
    static volatile boolean resting = true;
    /** Where latencies go; none are recorded while it is null. */
    static volatile Latencies latencies;
    /** How often it was opened: a paced sender starts a new schedule each time. */
    static volatile int round; // only the thread that runs the trials adds to it

    private static final int SENT = 16;
    private static final int DONE = 32; // on another cache line
    private static final AtomicLongArray COUNTS = new AtomicLongArray(48);
    private static volatile long firstAt;

    private Gate() {
    }

    static void letGo() {
        resting = false;
        round++;
        open = true;
    }

    private static long add(int which) {
        long count = COUNTS.getPlain(which) + 1;
        COUNTS.lazySet(which, count);
        return count;
    }

    static void sent() {
        add(SENT);
    }

    /** One tree, or one leaf of a tree when there are no acks. */
    static void done() {
        if (add(DONE) == 1) {
            firstAt = System.currentTimeMillis();
        }
    }

    static void done(long intended) {
        Latencies to = latencies;
        if (to != null) {
            to.add(System.nanoTime() - intended);
        }
        done();
    }

    static long countSent() {
        return COUNTS.get(SENT);
    }

    static long countDone() {
        return COUNTS.get(DONE);
    }

    /** When the first tree was completed, in milliseconds of the wall clock; 0 before. */
    static long firstAt() {
        return firstAt;
    }

    /** A sender that is held calls this instead of spinning: other programs have their trials then. */
    static void rest() {
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
