// Storm's own maps, Caffeine and Guava as peers of `script/bench maps`: the same commands, streams and checks as
// ../../workload.h. One map a process, so that the compiler sees one class behind the interface and inlines it.
package maps;

import com.google.common.base.Ticker;
import com.google.common.cache.CacheBuilder;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.apache.storm.utils.RotatingMap;
import org.apache.storm.utils.TimeCacheMap;

public final class Maps {
    static final int BUCKETS = 3;
    static final int ZIPF_PERIOD_MAX = 500000;

    /** One map. 0 is "not there". */
    interface Peer {
        void put(long key, long value);

        long get(long key);

        long take(long key);

        boolean putIfAbsent(long key, long value);

        default void rotate() {}

        default void end() {}
    }

    static long or0(Long value) {
        return value == null ? 0 : value;
    }

    static final class StormRotating implements Peer {
        final RotatingMap<Long, Long> map = new RotatingMap<>(BUCKETS);

        public void put(long key, long value) {
            map.put(key, value);
        }

        public long get(long key) {
            return or0(map.get(key));
        }

        public long take(long key) {
            return or0((Long) map.remove(key));
        }

        public boolean putIfAbsent(long key, long value) {
            Long boxed = key;
            if (map.containsKey(boxed)) return false;
            map.put(boxed, value);
            return true;
        }

        public void rotate() {
            map.rotate();
        }
    }

    /**
     * Its own thread rotates it by the wall clock, which in these runs never comes to that. Rotations are done for it
     * as that thread does them.
     */
    static final class StormTimeCache implements Peer {
        @SuppressWarnings("deprecation")
        final TimeCacheMap<Long, Long> map = new TimeCacheMap<>(36000, BUCKETS);
        final Object lock = inside("lock");
        final RotatingMap<?, ?> rotatingMap = (RotatingMap<?, ?>) inside("rotatingMap");

        private Object inside(String field) {
            try {
                Field found = TimeCacheMap.class.getDeclaredField(field);
                found.setAccessible(true);
                return found.get(map);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException("this TimeCacheMap has no field '" + field + "'", e);
            }
        }

        public void rotate() {
            synchronized (lock) {
                rotatingMap.rotate();
            }
        }

        public void put(long key, long value) {
            map.put(key, value);
        }

        public long get(long key) {
            return or0(map.get(key));
        }

        public long take(long key) {
            return or0((Long) map.remove(key));
        }

        /** As the article's bolt does it, in two steps: it has no other way. */
        public boolean putIfAbsent(long key, long value) {
            Long boxed = key;
            if (map.containsKey(boxed)) return false;
            map.put(boxed, value);
            return true;
        }

        public void end() {
            map.cleanup();
        }
    }

    /** Time moves by a period with each rotation; an entry expires after two, as the others do at the earliest. */
    abstract static class Concurrent implements Peer {
        volatile long time;
        ConcurrentMap<Long, Long> map;

        public void put(long key, long value) {
            map.put(key, value);
        }

        public long take(long key) {
            return or0((Long) map.remove(key));
        }

        public boolean putIfAbsent(long key, long value) {
            return map.putIfAbsent(key, value) == null;
        }

        public void rotate() {
            time += 1_000_000_000L;
        }
    }

    static final class Caffeine extends Concurrent {
        final com.github.benmanes.caffeine.cache.Cache<Long, Long> cache;

        Caffeine() {
            cache = com.github.benmanes.caffeine.cache.Caffeine.newBuilder()
                    .expireAfterWrite(BUCKETS - 1, TimeUnit.SECONDS).ticker(() -> time).build();
            map = cache.asMap();
        }

        public long get(long key) {
            return or0(cache.getIfPresent(key));
        }
    }

    static final class Guava extends Concurrent {
        final com.google.common.cache.Cache<Long, Long> cache;

        Guava() {
            cache = CacheBuilder.newBuilder().expireAfterWrite(BUCKETS - 1, TimeUnit.SECONDS).ticker(new Ticker() {
                public long read() {
                    return time;
                }
            }).build();
            map = cache.asMap();
        }

        public long get(long key) {
            return or0(cache.getIfPresent(key));
        }
    }

    static Peer make(String name) {
        switch (name) {
        case "storm-rotating": return new StormRotating();
        case "storm-time-cache": return new StormTimeCache();
        case "caffeine": return new Caffeine();
        case "guava": return new Guava();
        default: throw new IllegalArgumentException("no map is called '" + name + "'");
        }
    }

    // --- The stream of keys: see workload.h

    static long mix(long z) {
        z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return z ^ (z >>> 31);
    }

    static long keyOf(long number) {
        return mix(number + 0x9e3779b97f4a7c15L);
    }

    static long valueOf(long key) {
        return key | 1;
    }

    static final class Draw {
        long state;

        long next() {
            state += 0x9e3779b97f4a7c15L;
            return mix(state);
        }

        long below(long n) {
            return ((next() >>> 32) * n) >>> 32;
        }

        long zipf(long n) {
            long octaves = 64 - Long.numberOfLeadingZeros(n);
            for (;;) {
                long low = 1L << below(octaves);
                long rank = low + (next() & (low - 1));
                long chance = below(rank);
                if (rank <= n && chance < low) return rank - 1;
            }
        }
    }

    // --- A trial

    static final class Job implements Runnable {
        String work;
        Peer map;
        int[] steps;
        long ops;
        int thread;
        int threads;
        long keys;
        long oldest;
        long period;
        long check;
        long began;
        long ended;
        CyclicBarrier barrier;

        public void run() {
            try {
                barrier.await();
            } catch (InterruptedException | BrokenBarrierException e) {
                throw new IllegalStateException(e);
            }
            began = System.nanoTime();
            if (work.equals("reads")) check = reads(map, steps);
            if (work.equals("ack")) check = ack();
            if (work.equals("zipf")) check = zipf(map, steps, period);
            ended = System.nanoTime();
        }

        static long reads(Peer map, int[] steps) {
            long check = 0;
            for (int step : steps) {
                long key = keyOf(step & Integer.MAX_VALUE);
                if (step < 0)
                    map.put(key, valueOf(key));
                else
                    check += map.get(key);
            }
            return check;
        }

        long ack() {
            long check = 0;
            long untilRotation = period;
            for (long i = 0; i < ops / 2; i++, oldest += threads) {
                long fresh = keyOf(oldest + keys);
                long done = keyOf(oldest);
                map.put(fresh, valueOf(fresh));
                if ((map.take(done) ^ valueOf(done)) == 0) check++;
                if (untilRotation != 0 && --untilRotation == 0) {
                    map.rotate();
                    untilRotation = period;
                }
            }
            return check;
        }

        static long zipf(Peer map, int[] steps, long period) {
            long check = 0;
            long untilRotation = period;
            for (int step : steps) {
                long key = keyOf(step);
                if (map.putIfAbsent(key, valueOf(key))) check++;
                if (untilRotation != 0 && --untilRotation == 0) {
                    map.rotate();
                    untilRotation = period;
                }
            }
            return check;
        }
    }

    // --- A peer

    final String name;
    final boolean shared;
    Peer full;
    Peer seen;
    long keys;
    int threads;
    long[] oldest;

    Maps(String name) {
        this.name = name;
        shared = !name.equals("storm-rotating");
    }

    static void putRange(Peer map, long from, long to) {
        for (long i = from; i < to; i++) map.put(keyOf(i), valueOf(keyOf(i)));
    }

    void fill(long keys, int threads) {
        if (threads > 1 && !shared) throw new IllegalArgumentException(name + " is for one thread");
        end();
        this.keys = keys;
        this.threads = threads;
        full = make(name);
        // Time does not move here: expiry after two periods would take the first third.
        boolean rotates = name.startsWith("storm");
        for (int b = 0; b < BUCKETS; b++) {
            if (b > 0 && rotates) full.rotate();
            putRange(full, keys * b / BUCKETS, keys * (b + 1) / BUCKETS);
        }
        oldest = new long[threads];
        for (int t = 0; t < threads; t++) oldest[t] = t;
    }

    void end() {
        if (full != null) full.end();
        if (seen != null) seen.end();
        full = null;
        seen = null;
    }

    int[] drawSteps(String work, long ops, int thread, long percent, long seed) {
        Draw draw = new Draw();
        draw.state = mix(seed + thread);
        int[] steps = new int[(int) ops];
        for (int i = 0; i < steps.length; i++) {
            boolean reads = work.equals("reads");
            steps[i] = (int) (reads ? draw.below(keys) : draw.zipf(keys));
            if (reads && draw.below(100) >= percent) steps[i] |= Integer.MIN_VALUE;
        }
        return steps;
    }

    long periodOf(String work, int thread) {
        long zipf = Math.min(keys, ZIPF_PERIOD_MAX);
        if (threads == 1) return work.equals("zipf") ? zipf : keys;
        return work.equals("zipf") && thread == 0 ? zipf / threads : 0;
    }

    String run(String work, long percent, long ops, long seed) throws InterruptedException {
        if (work.equals("zipf") && seen == null) seen = make(name);
        Job[] jobs = new Job[threads];
        CyclicBarrier barrier = new CyclicBarrier(threads);
        for (int t = 0; t < threads; t++) {
            Job j = jobs[t] = new Job();
            j.work = work;
            j.map = work.equals("zipf") ? seen : full;
            j.ops = ops / threads;
            j.thread = t;
            j.threads = threads;
            j.keys = keys;
            j.oldest = oldest[t];
            j.period = work.equals("reads") ? 0 : periodOf(work, t);
            j.barrier = barrier;
            if (!work.equals("ack")) j.steps = drawSteps(work, j.ops, t, percent, seed);
        }
        Thread[] others = new Thread[threads];
        for (int t = 1; t < threads; t++) (others[t] = new Thread(jobs[t])).start();
        jobs[0].run();
        for (int t = 1; t < threads; t++) others[t].join();
        long began = Long.MAX_VALUE;
        long ended = Long.MIN_VALUE;
        long check = 0;
        for (int t = 0; t < threads; t++) {
            began = Math.min(began, jobs[t].began);
            ended = Math.max(ended, jobs[t].ended);
            check += jobs[t].check;
            oldest[t] = jobs[t].oldest;
        }
        return (ended - began) + " " + Long.toUnsignedString(check);
    }

    // --- Memory

    static long used() {
        for (int i = 0; i < 2; i++) System.gc();
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }

    static long resident() throws IOException {
        return Long.parseLong(Files.readString(Path.of("/proc/self/statm")).split(" ")[1]) * 4096;
    }

    /** After the fill only: ten turnovers of ten million entries would take minutes here. */
    String memory(long keys) throws IOException {
        long usedBefore = used();
        long residentBefore = resident();
        Peer map = make(name);
        putRange(map, 0, keys);
        long used = used() - usedBefore;
        long resident = resident() - residentBefore;
        long rotation = -1;
        for (int i = 0; name.startsWith("storm") && i < BUCKETS - 1; i++) {
            long before = System.nanoTime();
            map.rotate();
            rotation = Math.max(rotation, System.nanoTime() - before);
        }
        if (map.get(keyOf(keys - 1)) == 0) throw new IllegalStateException("the last key is not there");
        map.end();
        return rotation + " " + used + " " + resident + " -1 -1";
    }

    String answer(String[] words) throws Exception {
        switch (words[0]) {
        case "fill":
            fill(Long.parseLong(words[1]), Integer.parseInt(words[2]));
            return "ok";
        case "reads": return run("reads", Long.parseLong(words[1]), Long.parseLong(words[2]), Long.parseLong(words[3]));
        case "ack":
        case "zipf": return run(words[0], 0, Long.parseLong(words[1]), Long.parseLong(words[2]));
        case "memory": return memory(Long.parseLong(words[1]));
        default: throw new IllegalArgumentException("what is '" + String.join(" ", words) + "'?");
        }
    }

    public static void main(String[] args) throws Exception {
        Maps peer = new Maps(args[0]);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null;) System.out.println(peer.answer(line.trim().split(" ")));
        peer.end();
        System.exit(0);
    }
}
