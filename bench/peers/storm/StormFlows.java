import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.storm.Config;
import org.apache.storm.DaemonConfig;
import org.apache.storm.LocalCluster;
import org.apache.storm.metricstore.NoOpMetricStore;
import org.apache.storm.policy.WaitStrategyPark;
import org.apache.storm.spout.SpoutOutputCollector;
import org.apache.storm.task.OutputCollector;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.topology.TopologyBuilder;
import org.apache.storm.topology.base.BaseRichBolt;
import org.apache.storm.topology.base.BaseRichSpout;
import org.apache.storm.tuple.Fields;
import org.apache.storm.tuple.Tuple;
import org.apache.storm.tuple.Values;

/** Storm's own performance topologies on its LocalCluster, one worker; bench/peers/README.md says what was set. */
final class StormFlows {
    private static final List<String> FLOWS =
            List.of("const-null", "const-id-null", "word-count", "fan-out-10", "diamond");
    private static final int FAN_OUT = 10;

    private StormFlows() {
    }

    /** Emits a constant or a line, each with a message id if there are ackers. */
    static final class Spout extends BaseRichSpout {
        private static final long serialVersionUID = 1;
        private static final int OPEN = 1 << 17; // more than ever are
        private final Pace pace;
        private final boolean acks;
        private final boolean timed;
        private final boolean words;
        private transient long[] intended;
        private transient SpoutOutputCollector out;
        private transient long number;

        Spout(Options options) {
            pace = new Pace(options);
            acks = options.acks;
            timed = options.timed();
            words = options.words();
        }

        @Override
        public void open(Map<String, Object> conf, TopologyContext context, SpoutOutputCollector collector) {
            out = collector;
            intended = new long[OPEN];
        }

        @Override
        public void nextTuple() {
            if (!Gate.open) {
                if (Gate.resting) {
                    Gate.rest();
                }
                return;
            }
            long due = pace.next();
            if (due < 0) {
                return;
            }
            Values values = new Values(words ? Sentences.line(number) : "some data");
            if (acks) {
                intended[(int) number & (OPEN - 1)] = due;
                out.emit(values, number);
            } else {
                out.emit(values);
            }
            number++;
            Gate.sent();
        }

        @Override
        public void ack(Object id) {
            if (timed) {
                Gate.done(intended[(int) (long) (Long) id & (OPEN - 1)]);
            } else {
                Gate.done();
            }
        }

        @Override
        public void fail(Object id) {
            throw new IllegalStateException("tree " + id + " failed");
        }

        @Override
        public void declareOutputFields(OutputFieldsDeclarer declarer) {
            declarer.declare(new Fields("data"));
        }
    }

    /** What all bolts here have in common. Without acks the last bolt's calls are counted. */
    abstract static class Bolt extends BaseRichBolt {
        private static final long serialVersionUID = 1;
        private final boolean count;
        protected transient OutputCollector out;

        Bolt(boolean count) {
            this.count = count;
        }

        @Override
        public void prepare(Map<String, Object> conf, TopologyContext context, OutputCollector collector) {
            out = collector;
        }

        @Override
        public void execute(Tuple tuple) {
            work(tuple);
            out.ack(tuple);
            if (count) {
                Gate.done();
            }
        }

        abstract void work(Tuple tuple);

        @Override
        public void declareOutputFields(OutputFieldsDeclarer declarer) {
            declarer.declare(new Fields("data"));
        }
    }

    static final class Null extends Bolt {
        private static final long serialVersionUID = 1;

        Null(boolean count) {
            super(count);
        }

        @Override
        void work(Tuple tuple) {
            // it takes the tuple, and that is all
        }
    }

    /** Passes on what it gets, so many times. */
    static final class Id extends Bolt {
        private static final long serialVersionUID = 1;
        private final int times;

        Id(int times) {
            super(false);
            this.times = times;
        }

        @Override
        void work(Tuple tuple) {
            for (int i = 0; i < times; i++) {
                out.emit(tuple, new Values(tuple.getValue(0)));
            }
        }
    }

    static final class Split extends Bolt {
        private static final long serialVersionUID = 1;

        Split() {
            super(false);
        }

        @Override
        void work(Tuple tuple) {
            for (String word : tuple.getString(0).split(" ")) {
                out.emit(tuple, new Values(word));
            }
        }
    }

    static final class Count extends Bolt {
        private static final long serialVersionUID = 1;
        private final HashMap<String, Long> counts = new HashMap<>();

        Count(boolean count) {
            super(count);
        }

        @Override
        void work(Tuple tuple) {
            counts.merge(tuple.getString(0), 1L, Long::sum);
        }
    }

    private static TopologyBuilder topology(Options options) {
        TopologyBuilder builder = new TopologyBuilder();
        boolean count = !options.acks;
        builder.setSpout("spout", new Spout(options), 1);
        switch (options.flow) {
            case "const-null" -> builder.setBolt("null", new Null(count), 1).localOrShuffleGrouping("spout");
            case "const-id-null" -> {
                builder.setBolt("id", new Id(1), 1).localOrShuffleGrouping("spout");
                builder.setBolt("null", new Null(count), 1).localOrShuffleGrouping("id");
            }
            case "word-count" -> {
                builder.setBolt("split", new Split(), 1).localOrShuffleGrouping("spout");
                builder.setBolt("count", new Count(count), 1).fieldsGrouping("split", new Fields("data"));
            }
            case "fan-out-10" -> {
                builder.setBolt("fan", new Id(FAN_OUT), 1).localOrShuffleGrouping("spout");
                builder.setBolt("null", new Null(count), 1).localOrShuffleGrouping("fan");
            }
            default -> {
                builder.setBolt("left", new Id(1), 1).localOrShuffleGrouping("spout");
                builder.setBolt("right", new Id(1), 1).localOrShuffleGrouping("spout");
                builder.setBolt("null", new Null(count), 1).localOrShuffleGrouping("left")
                        .localOrShuffleGrouping("right");
            }
        }
        return builder;
    }

    private static int leaves(Options options) {
        return options.acks ? 1 : switch (options.flow) {
            case "word-count" -> Sentences.WORDS;
            case "fan-out-10" -> FAN_OUT;
            case "diamond" -> 2;
            default -> 1;
        };
    }

    /** The sizes that were best: large batches for throughput, none where latency counts. */
    record Sizes(int batch, int queue, int pending) {
        static Sizes of(Options options) {
            boolean leafy = options.words() || options.flow.equals("fan-out-10");
            Sizes best = options.timed() ? new Sizes(1, 1024, 2000)
                    : !options.acks ? new Sizes(500, 50_000, 0)
                    : leafy ? new Sizes(100, 32_768, 1000) : new Sizes(500, 50_000, 20_000);
            return options.pending > 0 ? new Sizes(best.batch, best.queue, options.pending) : best;
        }
    }

    private static Map<String, Object> configuration(Options options, Sizes sizes) {
        Map<String, Object> conf = new HashMap<>();
        conf.put(Config.TOPOLOGY_ACKER_EXECUTORS, options.acks ? 1 : 0);
        conf.put(Config.TOPOLOGY_PRODUCER_BATCH_SIZE, sizes.batch);
        conf.put(Config.TOPOLOGY_EXECUTOR_RECEIVE_BUFFER_SIZE, sizes.queue);
        conf.put(Config.TOPOLOGY_MAX_SPOUT_PENDING, sizes.pending == 0 ? null : sizes.pending);
        conf.put(Config.TOPOLOGY_SPOUT_WAIT_STRATEGY, WaitStrategyPark.class.getName());
        conf.put(Config.TOPOLOGY_SPOUT_WAIT_PARK_MICROSEC, 0);
        conf.put(Config.TOPOLOGY_SPOUT_RECVQ_SKIPS, 8);
        conf.put(Config.TOPOLOGY_STATS_SAMPLE_RATE, 0.0005);
        conf.put(Config.TOPOLOGY_DISABLE_LOADAWARE_MESSAGING, true);
        return conf;
    }

    private static LocalCluster cluster() throws Exception {
        Map<String, Object> conf = new HashMap<>();
        conf.put(DaemonConfig.STORM_METRIC_STORE_CLASS, NoOpMetricStore.class.getName());
        conf.put(DaemonConfig.STORM_DAEMON_METRICS_REPORTER_PLUGINS, List.of());
        return new LocalCluster.Builder().withSupervisors(1).withPortsPerSupervisor(1).withDaemonConf(conf).build();
    }

    public static void main(String[] words) throws Exception {
        Options options = Options.parse(words);
        options.refuseUnless("storm", FLOWS);
        Sizes sizes = Sizes.of(options);
        String pending = sizes.pending == 0 ? "unbounded" : Integer.toString(sizes.pending);
        String settings = String.format(
                "LocalCluster, 1 worker, %d acker, batch %d, queue %d, pending %s, spout polls busily",
                options.acks ? 1 : 0, sizes.batch, sizes.queue, pending);
        Trials trials = new Trials(options, "storm", settings, leaves(options));
        Trials.keepOutputClean();
        LocalCluster cluster = cluster();
        cluster.submitTopology("flow", configuration(options, sizes), topology(options).createTopology());
        trials.run();
        Thread end = new Thread(() -> close(cluster));
        end.start();
        end.join(10_000);
        Runtime.getRuntime().halt(0);
    }

    /** So that it takes away its temporary files. */
    private static void close(LocalCluster cluster) {
        try {
            cluster.close();
        } catch (Exception e) {
            System.err.println("storm: " + e);
        }
    }
}
