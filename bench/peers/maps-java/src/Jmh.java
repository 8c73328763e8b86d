// The same gets and puts under JMH: `script/bench maps jmh` shows whether Maps.java, which takes turns with the other
// peers and so cannot be a JMH benchmark, measures these maps as JMH does.
package maps;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class Jmh {
    static final int OPS = 500000;

    @Param({"storm-rotating", "storm-time-cache", "caffeine", "guava"}) public String map;
    @Param("64000") public int keys;
    @Param({"90", "50"}) public int reads;

    Maps peer;
    int[] steps;

    @Setup
    public void fill() {
        peer = new Maps(map);
        peer.fill(keys, 1);
        steps = peer.drawSteps("reads", OPS, 0, reads, 3);
    }

    @Benchmark
    @OperationsPerInvocation(OPS)
    public long reads() {
        return Maps.Job.reads(peer.full, steps);
    }
}
