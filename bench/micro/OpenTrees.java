import java.util.HashMap;
import java.util.Random;

/**
 * What Storm keeps for an open tree, on this machine's heap: the objects of its acker (Acker.AckObject in a HashMap) and
 * of its spout executor (TupleInfo in a HashMap), without tuples. Beside bench/open_trees.c.
 * usage: java -Xmx4g bench/OpenTrees.java
 */
public class OpenTrees {
    static final int TREES = 2_000_000;

    static class AckObject {
        long val;
        long startTime;
        int spoutTask;
        boolean failed;
    }

    static class TupleInfo {
        int taskId;
        Object messageId;
        String stream;
        Object values;
        long timestamp;
        String id;
    }

    static long used() throws InterruptedException {
        for (int i = 0; i < 4; i++) {
            System.gc();
            Thread.sleep(50);
        }
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    public static void main(String[] arguments) throws InterruptedException {
        long[] roots = new Random(1).longs(TREES).toArray();
        long before = used();
        HashMap<Object, AckObject> acker = new HashMap<>();
        for (long root : roots) acker.put(root, new AckObject());
        long between = used();
        HashMap<Long, TupleInfo> spout = new HashMap<>();
        for (int i = 0; i < TREES; i++) {
            TupleInfo info = new TupleInfo();
            info.messageId = i + 1_000L; /* a Long of its own */
            spout.put(roots[i], info);
        }
        long after = used();
        System.out.printf("acker %.1f, spout %.1f bytes a tree (%d and %d open)%n", (between - before) / (double) TREES,
                          (after - between) / (double) TREES, acker.size(), spout.size());
    }
}
