import com.hazelcast.config.Config;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.function.FunctionEx;
import com.hazelcast.jet.Traversers;
import com.hazelcast.jet.aggregate.AggregateOperations;
import com.hazelcast.jet.config.JobConfig;
import com.hazelcast.jet.core.AbstractProcessor;
import com.hazelcast.jet.core.ProcessorMetaSupplier;
import com.hazelcast.jet.core.ProcessorSupplier;
import com.hazelcast.jet.pipeline.Pipeline;
import com.hazelcast.jet.pipeline.Sink;
import com.hazelcast.jet.pipeline.Sinks;
import com.hazelcast.jet.pipeline.Sources;
import com.hazelcast.jet.pipeline.StreamSource;
import com.hazelcast.jet.pipeline.StreamStage;
import java.util.List;

/** Hazelcast Jet, one member in this process; bench/peers/README.md says what it guarantees and what it does not. */
final class JetFlows {
    private static final List<String> FLOWS = List.of("const-null", "const-id-null", "word-count");

    private JetFlows() {
    }

    /** Emits for as long as the outbox has room. It never ends. */
    static final class Source extends AbstractProcessor {
        private final Pace pace;
        private final boolean words;
        private final boolean timed;
        private Object waiting;
        private long number;

        Source(Options options) {
            pace = new Pace(options);
            words = options.words();
            timed = options.timed();
        }

        @Override
        public boolean complete() {
            while (waiting != null || prepare()) {
                if (!tryEmit(waiting)) {
                    break;
                }
                waiting = null;
                number++;
                Gate.sent();
            }
            return false;
        }

        private boolean prepare() {
            if (!Gate.open) {
                return false;
            }
            long due = pace.next();
            if (due >= 0) {
                waiting = words ? Sentences.line(number) : timed ? (Object) due : "some data";
            }
            return due >= 0;
        }
    }

    /** Counts what comes; a number is the time when it should have been sent. */
    static final class Null extends AbstractProcessor {
        @Override
        protected boolean tryProcess(int ordinal, Object item) {
            if (item instanceof Long intended) {
                Gate.done(intended);
            } else {
                Gate.done();
            }
            return true;
        }
    }

    private static Pipeline pipeline(Options options) {
        Pipeline pipeline = Pipeline.create();
        StreamSource<Object> source = Sources.streamFromProcessor("source",
                ProcessorMetaSupplier.forceTotalParallelismOne(
                        ProcessorSupplier.of(() -> new Source(options))));
        Sink<Object> sink = Sinks.fromProcessor("null",
                ProcessorMetaSupplier.forceTotalParallelismOne(
                        ProcessorSupplier.of(Null::new)));
        StreamStage<Object> stage = pipeline.readFrom(source).withoutTimestamps().setLocalParallelism(1);
        switch (options.flow) {
            case "const-null" -> stage.writeTo(sink);
            case "const-id-null" -> stage.map(FunctionEx.identity()).setLocalParallelism(1).writeTo(sink);
            default -> stage.flatMap(line -> Traversers.traverseArray(((String) line).split(" ")))
                    .setLocalParallelism(1).groupingKey(FunctionEx.identity())
                    .rollingAggregate(AggregateOperations.counting())
                    .setLocalParallelism(1).map(entry -> (Object) entry).setLocalParallelism(1).writeTo(sink);
        }
        return pipeline;
    }

    private static HazelcastInstance member(Options options) {
        Config config = new Config();
        config.setProperty("hazelcast.logging.type", "none");
        config.setProperty("hazelcast.phone.home.enabled", "false");
        config.getMetricsConfig().setEnabled(false);
        config.getNetworkConfig().getJoin().getAutoDetectionConfig().setEnabled(false);
        config.getNetworkConfig().getJoin().getMulticastConfig().setEnabled(false);
        config.getNetworkConfig().getInterfaces().setEnabled(true).addInterface("127.0.0.1");
        config.getJetConfig().setEnabled(true).setCooperativeThreadCount(options.executors);
        return Hazelcast.newHazelcastInstance(config);
    }

    public static void main(String[] words) throws Exception {
        Options options = Options.parse(words);
        options.refuseUnless("jet", FLOWS);
        if (options.acks || options.timed() && (options.pending == 1 || options.words())) {
            Options.end(3,
                    "jet never says that a record is done: --acks off only, no --pending 1, --rate only for const");
        }
        String settings = String.format("one member, %d cooperative threads, no guarantee, no completion of a record: "
                + "a tree is done when the sink has it", options.executors);
        Trials trials = new Trials(options, "jet", settings, options.words() ? Sentences.WORDS : 1);
        Trials.keepOutputClean();
        HazelcastInstance member = member(options);
        JobConfig job = new JobConfig().setMetricsEnabled(false);
        member.getJet().newJob(pipeline(options), job);
        trials.run();
        Runtime.getRuntime().halt(0);
    }
}
