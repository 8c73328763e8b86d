#include "front/strangers.h"

#include "base/str.h"
#include "front/connector.h"

#include <stdio.h>

#define NO_MULTILANG                                                                                                   \
    "Storm's protocol for other languages (multilang) is missing; in Python a spout or bolt is a class or a function " \
    "of a program that runs the topology (docs/python.md), in C or C++ one of a plugin (docs/plugins.md)"
#define NO_WINDOWS                                                                                                     \
    "gale.bolt.Window tells aggregates of tumbling and sliding windows, by the clock or by the tuples' own time; "     \
    "what "                                                                                                            \
    "else a window's tuples are to be made into is to be done by a component in C"
#define NO_JOIN                                                                                                        \
    "joins are missing; gale.bolt.Lookup adds columns of a table in a file, and a gale.bolt.Window with `first(a)` "   \
    "and `first(b)` brings two streams together (docs/semantics/windows.md#joins)"
#define NO_HDFS "gale.bolt.FileSink writes to files of this machine, by templates and rotated; what is missing is HDFS"
#define NO_STORE                                                                                                       \
    "there is no connector; gale.bolt.FileSink with `format: json` writes lines that a loader of that store can take"
#define NO_QUEUE                                                                                                       \
    "there is no connector; gale.spout.Stdin reads what a client of that queue prints (its acks do not reach the "     \
    "queue)"
#define METRICS                                                                                                        \
    "metrics are at `/metrics` of a run with --listen, as Prometheus reads them (docs/metrics.md), in its summary "    \
    "and "                                                                                                             \
    "in `--json`"
#define NO_TRIDENT "Trident and the Streams API are missing; spouts, bolts and streams say the same"
#define NO_STATE                                                                                                       \
    "its state and checkpoints are those of a durable run (gale run --state DIR), in which gale's own bolts take part"

/* A name that ends with a point or a $ stands for all that begin with it; the longest one that fits is taken. */
static const struct {
    const char *name, *text;
} rows[] = {
    { "org.apache.storm.flux.wrappers.bolts.FluxShellBolt", NO_MULTILANG },
    { "org.apache.storm.flux.wrappers.spouts.FluxShellSpout", NO_MULTILANG },
    { "org.apache.storm.task.ShellBolt", NO_MULTILANG },
    { "org.apache.storm.spout.ShellSpout", NO_MULTILANG },
    { "org.apache.storm.hdfs.", NO_HDFS },
    { "org.apache.storm.hdfs.spout.", "gale.spout.File reads a file of this machine; what is missing is HDFS" },
    { "org.apache.storm.hbase.", NO_STORE },
    { "org.apache.storm.cassandra.", NO_STORE },
    { "org.apache.storm.mongodb.", NO_STORE },
    { "org.apache.storm.hive.", NO_STORE },
    { "org.apache.storm.druid.", NO_STORE },
    { "org.apache.storm.jms.", NO_QUEUE },
    { "org.apache.storm.kinesis.", NO_QUEUE },
    { "org.apache.storm.pulsar.", NO_QUEUE },
    { "org.apache.storm.rocketmq.", NO_QUEUE },
    { "org.apache.storm.eventhubs.", NO_QUEUE },
    { "org.apache.storm.topology.base.BaseWindowedBolt", NO_WINDOWS },
    { "org.apache.storm.topology.base.BaseWindowedBolt$", NO_WINDOWS },
    { "org.apache.storm.topology.base.BaseStatefulWindowedBolt", NO_WINDOWS },
    { "org.apache.storm.topology.base.BaseStatefulBolt", NO_STATE },
    { "org.apache.storm.state.", NO_STATE },
    { "org.apache.storm.bolt.JoinBolt", NO_JOIN },
    { "gale.bolt.Join", NO_JOIN },
    { "Join", NO_JOIN },
    { "join", NO_JOIN },
    { "joins", NO_JOIN },
    { "org.apache.storm.starter.bolt.SlidingWindowSumBolt", NO_WINDOWS },
    { "org.apache.storm.starter.bolt.SlidingTupleTsBolt", NO_WINDOWS },
    { "org.apache.storm.starter.bolt.SingleJoinBolt", NO_JOIN },
    { "org.apache.storm.starter.bolt.PrinterBolt", "gale.bolt.Printer prints each tuple, as a JSON line" },
    { "org.apache.storm.starter.spout.RandomSentenceSpout",
      "gale.spout.Generator makes lines of words; gale.spout.File repeats those of a file (`repeat: true`)" },
    { "org.apache.storm.starter.spout.RandomIntegerSpout", "gale.spout.Generator makes lines of words" },
    { "org.apache.storm.starter.", "what is there of storm-starter, `gale help classes` lists with Storm's names" },
    { "org.apache.storm.testing.FixedTupleSpout", "gale.spout.File emits the lines of a file, each once" },
    { "org.apache.storm.testing.FeederSpout", "gale.spout.Stdin emits what is fed to it" },
    { "org.apache.storm.testing.", "gale.spout.Words, Generator and AccessLog make tuples up" },
    { "org.apache.storm.perf.", "gale.spout.Generator, gale.bolt.Split, Count and Null do what its topologies do" },
    { "org.apache.storm.trident.", NO_TRIDENT },
    { "org.apache.storm.streams.", NO_TRIDENT },
    { "org.apache.storm.drpc.", "DRPC is missing" },
    { "org.apache.storm.metric.", METRICS },
    { "org.apache.storm.metrics2.", METRICS },
    { "org.apache.storm.tuple.Fields",
      "names of fields are a list, as in `args: [word, count]`, and need no component" },
    { "java.time.Duration", "a length of time is a text, as 10s, 5m or 2h, and needs no component" },
    { "java.", "it is an object of Java's; properties of gale's classes are texts, numbers, lists and maps" },
    { "org.apache.storm.blobstore.", "there are no worker processes that files are to be brought to" },
    { "org.apache.storm.flux.test.", "it is a class of Storm's own tests" },
    { "org.apache.storm.flux.examples.", "it is a Java class of Storm's examples" },
};

static bool fits(gale_str name, const char *row) {
    size_t size = strlen(row);
    bool all_below = row[size - 1] == '.' || row[size - 1] == '$';
    return all_below ? name.size > size && memcmp(name.data, row, size) == 0 : gx_str_is(name, row);
}

/* What is known of a name: the longest row that fits, here or of connectors, of which several may stand for the same. */
typedef struct known {
    gale_str name;
    size_t length; /* of the row */
    uint32_t count;
    gx_buf *out;
} known;

static void take_stand_in(void *user, const gx_stand_in *one) {
    known *k = user;
    char row[200];
    snprintf(row, sizeof row, "%.*s", GX_STR(one->name));
    if (one->name.size < k->length || !fits(k->name, row)) return;
    if (one->name.size > k->length) gx_buf_reset(k->out), k->count = 0;
    k->length = one->name.size;
    if (k->count++) gx_buf_add_text(k->out, "; or ");
    if (one->class_.size)
        gx_buf_format(k->out, "write it as `className: %.*s, properties: %.*s` (docs/connectors/%s.md)",
                      GX_STR(one->class_), GX_STR(one->text), one->connector->name);
    else
        gx_buf_add(k->out, one->text.data, one->text.size);
}

const char *gx_stranger(gale_str name, gx_buf *out) {
    known k = { .name = name, .out = out };
    gx_buf_reset(out);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strlen(rows[i].name) <= k.length || !fits(name, rows[i].name)) continue;
        gx_buf_reset(out);
        gx_buf_add_text(out, rows[i].text);
        k.length = strlen(rows[i].name);
    }
    gx_connector_stand_ins(take_stand_in, &k);
    return k.length ? gx_buf_text(out) : NULL;
}
