#include "topology/config.h"

#include "base/nearest.h"
#include "base/number.h"
#include "base/object.h"
#include "base/str.h"
#include "tuple/body.h"
#include "tuple/value.h"

#include <gale/metric.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* --- The table ---------------------------------------------------------------------------------------------------- */

enum {
    BOOL = 1u << GALE_TYPE_BOOL,
    I64 = 1u << GALE_TYPE_I64,
    NUMBER = I64 | 1u << GALE_TYPE_F64,
    STRING = 1u << GALE_TYPE_STRING,
    ANY = (1u << GALE_TYPE_COUNT) - 1
};

enum { EXECUTORS_MAX = 256, TASKS_MAX = 32767 };

/* Above zero: a nanosecond is the least there is. Seconds must fit int64 nanoseconds. */
#define TINY 1e-9
#define MOST_SECONDS 9e9
#define NO_RANGE 1, 0

/* Sorted by name. A refused key's text ends a sentence that begins with the key. */
static const gx_key table[] = {
    { "gale.append", GX_KEY_WORKS, BOOL, "false", NO_RANGE, true,
      "A file sink writes behind what its file holds, as with its own `append`." },
    { "gale.blocking", GX_KEY_WORKS, BOOL, "false", NO_RANGE, true,
      "The component's calls may block: each of its tasks gets an executor of its own." },
    { "gale.executor", GX_KEY_WORKS, I64, "", 0, EXECUTORS_MAX - 1, true,
      "Places all tasks of the component on this executor." },
    { "gale.input", GX_KEY_WORKS, STRING, "", NO_RANGE, true, "The path that a file spout reads instead of its own." },
    { "gale.member", GX_KEY_WORKS, STRING, "", NO_RANGE, true,
      "Which of how many processes this one is, `2/3`: a source that divides among them takes its share, and keeps "
      "it." },
    { "gale.metric.series", GX_KEY_WORKS, I64, "200", 1, GALE_METRIC_SERIES_MAX, true,
      "How many series with labels the metrics of a task have together; further ones are counted as `other`." },
    { "gale.output", GX_KEY_WORKS, STRING, "", NO_RANGE, true, "The path that a file sink writes instead of its own." },
    { "gale.overwrite", GX_KEY_WORKS, BOOL, "false", NO_RANGE, true,
      "A file sink may replace what its file holds, as with its own `overwrite`." },
    { "gale.rate", GX_KEY_WORKS, NUMBER, "", TINY, 1e9, true, "How many tuples a second each task of a spout emits." },
    { "gale.required", GX_KEY_WORKS, BOOL, "false", NO_RANGE, true,
      "The run does not begin without the component: what is \"not now\" to others is an error of the start. A server "
      "is "
      "connected to before, in 10 s for each of its addresses." },
    { "gale.sink.losses", GX_KEY_WORKS, I64, "3", 1, INT32_MAX, true,
      "How many connections may end behind one tuple, alone on its way, before its sink rejects it." },
    { "gale.state.memory.mb", GX_KEY_WORKS, I64, "64", 1, 1048576, false,
      "In a durable run: MiB of keyed state that are kept in memory; what is more is read from its store again." },
    { "topology.acker.executors", GX_KEY_WORKS, I64, "", 0, 32767, false,
      "null: each spout's own ledger tracks its trees; a number: so many acker tasks; 0: no acking." },
    { "topology.auto-credentials", GX_KEY_ACCEPTED, ANY, "", NO_RANGE, false,
      "There is no cluster that asks who is who." },
    { "topology.auto.task.hooks", GX_KEY_REFUSED, ANY, "", NO_RANGE, false,
      "hooks are Java classes that see every tuple, and cannot run here" },
    { "topology.backpressure.check.millis", GX_KEY_ACCEPTED, I64, "", NO_RANGE, false, "Flow control needs no timer." },
    { "topology.backpressure.enable", GX_KEY_ACCEPTED, BOOL, "", NO_RANGE, false, "Flow control is always on." },
    { "topology.backpressure.wait.park.microsec", GX_KEY_ACCEPTED, I64, "", NO_RANGE, false,
      "How executors wait is an option of the runtime." },
    { "topology.backpressure.wait.progressive.level1.count", GX_KEY_ACCEPTED, I64, "", NO_RANGE, false,
      "How executors wait is an option of the runtime." },
    { "topology.backpressure.wait.progressive.level2.count", GX_KEY_ACCEPTED, I64, "", NO_RANGE, false,
      "How executors wait is an option of the runtime." },
    { "topology.backpressure.wait.progressive.level3.sleep.millis", GX_KEY_ACCEPTED, I64, "", NO_RANGE, false,
      "How executors wait is an option of the runtime." },
    { "topology.backpressure.wait.strategy", GX_KEY_ACCEPTED, STRING, "", NO_RANGE, false,
      "How executors wait is an option of the runtime." },
    { "topology.batch.flush.interval.millis", GX_KEY_ACCEPTED, I64, "", NO_RANGE, false,
      "What is emitted is published whenever an executor has nothing else to do." },
    { "topology.blobstore.map", GX_KEY_ACCEPTED, ANY, "", NO_RANGE, false, "There are no worker processes." },
    { "topology.bolt.wait.park.microsec", GX_KEY_ACCEPTED, I64, "", NO_RANGE, false,
      "How executors wait is an option of the runtime." },
    { "topology.bolt.wait.progressive.level1.count", GX_KEY_ACCEPTED, I64, "", NO_RANGE, false,
      "How executors wait is an option of the runtime." },
    { "topology.bolt.wait.progressive.level2.count", GX_KEY_ACCEPTED, I64, "", NO_RANGE, false,
      "How executors wait is an option of the runtime." },
    { "topology.bolt.wait.progressive.level3.sleep.millis", GX_KEY_ACCEPTED, I64, "", NO_RANGE, false,
      "How executors wait is an option of the runtime." },
    { "topology.bolt.wait.strategy", GX_KEY_ACCEPTED, STRING, "", NO_RANGE, false,
      "How executors wait is an option of the runtime." },
    { "topology.bolts.late.tuple.stream", GX_KEY_REFUSED, ANY, "", NO_RANGE, true,
      "what is late goes to the stream `late` of a gale.bolt.EventTime" },
    { "topology.bolts.message.id.field.name", GX_KEY_REFUSED, ANY, "", NO_RANGE, true,
      "a tuple of gale.bolt.Window is acked when it is counted, whatever its message was" },
    { "topology.bolts.tuple.timestamp.max.lag.ms", GX_KEY_REFUSED, ANY, "", NO_RANGE, true,
      "set `latenessSeconds` of a gale.bolt.EventTime before the gale.bolt.Window" },
    { "topology.bolts.watermark.event.interval.ms", GX_KEY_REFUSED, ANY, "", NO_RANGE, false,
      "a gale.bolt.EventTime emits a watermark whenever time moves" },
    { "topology.bolts.window.length.count", GX_KEY_REFUSED, ANY, "", NO_RANGE, true,
      "write a window of so many tuples as a bolt that counts them; gale.bolt.Window has windows of time" },
    { "topology.bolts.window.length.duration.ms", GX_KEY_REFUSED, ANY, "", NO_RANGE, true,
      "set `length` of a gale.bolt.Window" },
    { "topology.bolts.window.sliding.interval.count", GX_KEY_REFUSED, ANY, "", NO_RANGE, true,
      "write a window of so many tuples as a bolt that counts them; gale.bolt.Window has windows of time" },
    { "topology.bolts.window.sliding.interval.duration.ms", GX_KEY_REFUSED, ANY, "", NO_RANGE, true,
      "set `slide` of a gale.bolt.Window" },
    { "topology.builtin.metrics.bucket.size.secs", GX_KEY_ACCEPTED, I64, "", NO_RANGE, false,
      "Counters are read at any time and are not kept in buckets." },
    { "topology.classpath", GX_KEY_ACCEPTED, ANY, "", NO_RANGE, false, "There is no Java virtual machine." },
    { "topology.component.cpu.pcore.percent", GX_KEY_ACCEPTED, NUMBER, "", NO_RANGE, true,
      "There is no cluster that schedules." },
    { "topology.component.resources.offheap.memory.mb", GX_KEY_ACCEPTED, NUMBER, "", NO_RANGE, true,
      "There is no cluster that schedules." },
    { "topology.component.resources.onheap.memory.mb", GX_KEY_ACCEPTED, NUMBER, "", NO_RANGE, true,
      "There is no cluster that schedules." },
    { "topology.dead_letters.file", GX_KEY_WORKS, STRING, "", NO_RANGE, false,
      "Spout tuples that fail for good, or are rejected, are appended to this file, a line of JSON each. How often one "
      "is tried "
      "is topology.replay.attempts then, not the spout's `maxAttempts`." },
    { "topology.debug", GX_KEY_WORKS, BOOL, "false", NO_RANGE, true,
      "true: every tuple that is emitted or executed, and every ack and failure, is a line of the log, at level "
      "info." },
    { "topology.disable.loadaware.messaging", GX_KEY_WORKS, BOOL, "false", NO_RANGE, false,
      "true: shuffle is exactly even; false: tasks on the same executor come first while its work is light." },
    { "topology.enable.message.timeouts", GX_KEY_WORKS, BOOL, "true", NO_RANGE, false,
      "Whether trees time out at all." },
    { "topology.enable.v2.metrics.tick", GX_KEY_ACCEPTED, BOOL, "", NO_RANGE, false,
      "Counters are read from the runtime." },
    { "topology.environment", GX_KEY_ACCEPTED, ANY, "", NO_RANGE, false,
      "The process keeps the environment that it was started in." },
    { "topology.error.throttle.interval.secs", GX_KEY_ACCEPTED, I64, "", NO_RANGE, false,
      "Reports are counted, and the first ones are logged." },
    { "topology.event.logger.register", GX_KEY_REFUSED, ANY, "", NO_RANGE, false,
      "event loggers are Java classes, whose records somebody waits for" },
    { "topology.eventlogger.executors", GX_KEY_ACCEPTED, I64, "", NO_RANGE, false,
      "Nothing is prepared for the event log: gale run --log-events." },
    { "topology.executor.overflow.limit", GX_KEY_ACCEPTED, I64, "", NO_RANGE, false,
      "Queues are sized within one budget of memory." },
    { "topology.executor.receive.buffer.size", GX_KEY_ACCEPTED, I64, "", NO_RANGE, false,
      "Queues are sized within one budget of memory." },
    { "topology.fall.back.on.java.serialization", GX_KEY_ACCEPTED, BOOL, "", NO_RANGE, false,
      "Tuples have one format and are not serialized by classes." },
    { "topology.flush.tuple.freq.millis", GX_KEY_ACCEPTED, I64, "", NO_RANGE, false,
      "What is emitted is published whenever an executor has nothing else to do." },
    { "topology.groups", GX_KEY_ACCEPTED, ANY, "", NO_RANGE, false, "There is no cluster that asks who is who." },
    { "topology.isolate.machines", GX_KEY_ACCEPTED, ANY, "", NO_RANGE, false, "There is no cluster that schedules." },
    { "topology.kryo.decorators", GX_KEY_ACCEPTED, ANY, "", NO_RANGE, false,
      "Tuples have one format and are not serialized by classes." },
    { "topology.kryo.factory", GX_KEY_ACCEPTED, ANY, "", NO_RANGE, false,
      "Tuples have one format and are not serialized by classes." },
    { "topology.kryo.register", GX_KEY_ACCEPTED, ANY, "", NO_RANGE, false,
      "Tuples have one format and are not serialized by classes." },
    { "topology.localityaware.higher.bound", GX_KEY_ACCEPTED, NUMBER, "", NO_RANGE, false,
      "Shuffle grouping goes by congestion, not by bounds of the load." },
    { "topology.localityaware.lower.bound", GX_KEY_ACCEPTED, NUMBER, "", NO_RANGE, false,
      "Shuffle grouping goes by congestion, not by bounds of the load." },
    { "topology.logging.sensitivity", GX_KEY_ACCEPTED, ANY, "", NO_RANGE, false, "There are no worker processes." },
    { "topology.max.error.report.per.interval", GX_KEY_ACCEPTED, I64, "", NO_RANGE, false,
      "Reports are counted, and the first ones are logged." },
    { "topology.max.replication.wait.time.sec", GX_KEY_ACCEPTED, I64, "", NO_RANGE, false,
      "There is no cluster that schedules." },
    { "topology.max.spout.pending", GX_KEY_WORKS, I64, "", 0, INT32_MAX, true,
      "How many trees of one spout task may be open; null or 0: no limit but memory." },
    { "topology.max.task.parallelism", GX_KEY_WORKS, I64, "", 1, TASKS_MAX, true,
      "The most tasks that a component gets." },
    { "topology.message.deadline.secs", GX_KEY_WORKS, NUMBER, "", TINY, MOST_SECONDS, false,
      "What has waited in queues for so many seconds since its spout's emit fails unexecuted; unset: no deadline." },
    { "topology.message.timeout.ceiling.secs", GX_KEY_WORKS, NUMBER, "", TINY, MOST_SECONDS, false,
      "In progress mode a tree fails at this age, whatever was acked; null: ten times the timeout." },
    { "topology.message.timeout.mode", GX_KEY_WORKS, STRING, "fixed", NO_RANGE, false,
      "fixed: the timeout runs from the emit; progress: from the last ack of any tuple of the tree." },
    { "topology.message.timeout.secs", GX_KEY_WORKS, NUMBER, "30", TINY, MOST_SECONDS, false,
      "A tree that is not answered after so many seconds fails; fractions are allowed." },
    { "topology.metrics.consumer.register", GX_KEY_ACCEPTED, ANY, "", NO_RANGE, false,
      "Metrics are at `/metrics` of a run with --listen, as Prometheus reads them (docs/metrics.md)." },
    { "topology.metrics.reporters", GX_KEY_ACCEPTED, ANY, "", NO_RANGE, false,
      "Metrics are at `/metrics` of a run with --listen, as Prometheus reads them (docs/metrics.md)." },
    { "topology.min.replication.count", GX_KEY_ACCEPTED, I64, "", NO_RANGE, false,
      "There is no cluster that schedules." },
    { "topology.multilang.serializer", GX_KEY_ACCEPTED, STRING, "", NO_RANGE, false,
      "It is for components in other languages, of which there are none here." },
    { "topology.name", GX_KEY_ACCEPTED, ANY, "", NO_RANGE, false, "The topology is named where it is made." },
    { "topology.num.stat.buckets", GX_KEY_ACCEPTED, I64, "", NO_RANGE, false,
      "Counters are read at any time and are not kept in buckets." },
    { "topology.priority", GX_KEY_ACCEPTED, I64, "", NO_RANGE, false, "There is no cluster that schedules." },
    { "topology.producer.batch.dynamic", GX_KEY_ACCEPTED, BOOL, "", NO_RANGE, false,
      "What is emitted is published whenever an executor has nothing else to do." },
    { "topology.producer.batch.size", GX_KEY_ACCEPTED, I64, "", NO_RANGE, false,
      "Queues are sized within one budget of memory." },
    { "topology.ras.acker.executors.per.worker", GX_KEY_ACCEPTED, I64, "", NO_RANGE, false,
      "topology.acker.executors says how many." },
    { "topology.ras.constraint.max.state.search", GX_KEY_ACCEPTED, ANY, "", NO_RANGE, false,
      "There is no cluster that schedules." },
    { "topology.ras.constraint.max.time.secs", GX_KEY_ACCEPTED, ANY, "", NO_RANGE, false,
      "There is no cluster that schedules." },
    { "topology.ras.constraints", GX_KEY_ACCEPTED, ANY, "", NO_RANGE, false, "There is no cluster that schedules." },
    { "topology.ras.one.component.per.worker", GX_KEY_ACCEPTED, ANY, "", NO_RANGE, false,
      "There is no cluster that schedules." },
    { "topology.ras.one.executor.per.worker", GX_KEY_ACCEPTED, ANY, "", NO_RANGE, false,
      "There is no cluster that schedules." },
    { "topology.readonly.groups", GX_KEY_ACCEPTED, ANY, "", NO_RANGE, false,
      "There is no cluster that asks who is who." },
    { "topology.readonly.users", GX_KEY_ACCEPTED, ANY, "", NO_RANGE, false,
      "There is no cluster that asks who is who." },
    { "topology.replay.attempts", GX_KEY_WORKS, I64, "1", 1, INT32_MAX, true,
      "How often a spout's tuple is emitted, in all, before its spout hears that it failed." },
    { "topology.replay.backoff.initial.secs", GX_KEY_WORKS, NUMBER, "1", 0, MOST_SECONDS, false,
      "How long a failed tuple waits for its second attempt; each further wait is twice as long." },
    { "topology.replay.backoff.max.secs", GX_KEY_WORKS, NUMBER, "60", 0, MOST_SECONDS, false,
      "The longest wait before another attempt." },
    { "topology.scheduler.favored.nodes", GX_KEY_ACCEPTED, ANY, "", NO_RANGE, false,
      "There is no cluster that schedules." },
    { "topology.scheduler.strategy", GX_KEY_ACCEPTED, STRING, "", NO_RANGE, false,
      "There is no cluster that schedules." },
    { "topology.scheduler.unfavored.nodes", GX_KEY_ACCEPTED, ANY, "", NO_RANGE, false,
      "There is no cluster that schedules." },
    { "topology.serialized.message.size.metrics", GX_KEY_ACCEPTED, BOOL, "", NO_RANGE, false,
      "Counters are read from the runtime." },
    { "topology.shellbolt.max.pending", GX_KEY_ACCEPTED, I64, "", NO_RANGE, false,
      "It is for components in other languages, of which there are none here." },
    { "topology.skip.missing.kryo.registrations", GX_KEY_ACCEPTED, BOOL, "", NO_RANGE, false,
      "Tuples have one format and are not serialized by classes." },
    { "topology.sleep.spout.wait.strategy.time.ms", GX_KEY_ACCEPTED, I64, "", NO_RANGE, true,
      "How executors wait is an option of the runtime." },
    { "topology.spout.recvq.skips", GX_KEY_ACCEPTED, I64, "", NO_RANGE, false,
      "Queues are sized within one budget of memory." },
    { "topology.spout.wait.park.microsec", GX_KEY_ACCEPTED, I64, "", NO_RANGE, false,
      "How executors wait is an option of the runtime." },
    { "topology.spout.wait.progressive.level1.count", GX_KEY_ACCEPTED, I64, "", NO_RANGE, false,
      "How executors wait is an option of the runtime." },
    { "topology.spout.wait.progressive.level2.count", GX_KEY_ACCEPTED, I64, "", NO_RANGE, false,
      "How executors wait is an option of the runtime." },
    { "topology.spout.wait.progressive.level3.sleep.millis", GX_KEY_ACCEPTED, I64, "", NO_RANGE, false,
      "How executors wait is an option of the runtime." },
    { "topology.spout.wait.strategy", GX_KEY_ACCEPTED, STRING, "", NO_RANGE, true,
      "How executors wait is an option of the runtime." },
    { "topology.spread.components", GX_KEY_ACCEPTED, ANY, "", NO_RANGE, false, "There is no cluster that schedules." },
    { "topology.state.checkpoint.interval.ms", GX_KEY_WORKS, I64, "1000", 1, 86400000, false,
      "In a durable run: milliseconds from one checkpoint to the next." },
    { "topology.state.dir", GX_KEY_WORKS, STRING, "", NO_RANGE, false,
      "gale run: the folder for the state of a durable run, which goes on from what is in there (gale run --state)." },
    { "topology.state.provider", GX_KEY_REFUSED, ANY, "", NO_RANGE, true,
      "state is kept in a folder of the machine's (topology.state.dir)" },
    { "topology.state.provider.config", GX_KEY_REFUSED, ANY, "", NO_RANGE, true,
      "state is kept in a folder of the machine's (topology.state.dir)" },
    { "topology.state.synchronization.timeout.secs", GX_KEY_ACCEPTED, I64, "", NO_RANGE, false,
      "A checkpoint is awaited however long it takes." },
    { "topology.stats.ewma.enable", GX_KEY_ACCEPTED, BOOL, "", NO_RANGE, false,
      "Storm's moving averages are not kept." },
    { "topology.stats.ewma.smoothing.factor", GX_KEY_ACCEPTED, NUMBER, "", NO_RANGE, false,
      "Counts are exact, and latencies are sampled at a rate of gale's own." },
    { "topology.stats.sample.rate", GX_KEY_ACCEPTED, NUMBER, "", NO_RANGE, false,
      "Counts are exact, and latencies are sampled at a rate of gale's own." },
    { "topology.submitter.principal", GX_KEY_ACCEPTED, ANY, "", NO_RANGE, false,
      "There is no cluster that asks who is who." },
    { "topology.submitter.user", GX_KEY_ACCEPTED, ANY, "", NO_RANGE, false,
      "There is no cluster that asks who is who." },
    { "topology.subprocess.timeout.secs", GX_KEY_ACCEPTED, I64, "", NO_RANGE, false,
      "It is for components in other languages, of which there are none here." },
    { "topology.task.refresh.poll.secs", GX_KEY_ACCEPTED, I64, "", NO_RANGE, false,
      "There is no cluster that schedules." },
    { "topology.tasks", GX_KEY_WORKS, I64, "", 1, TASKS_MAX, true,
      "How many tasks a component has, instead of its parallelism." },
    { "topology.testing.always.try.serialize", GX_KEY_ACCEPTED, BOOL, "", NO_RANGE, false,
      "Tuples have one format and are not serialized by classes." },
    { "topology.tick.tuple.freq.secs", GX_KEY_WORKS, NUMBER, "", TINY, MOST_SECONDS, true,
      "A bolt's tasks get a tick tuple every so many seconds; fractions are allowed." },
    { "topology.transactional.id", GX_KEY_REFUSED, ANY, "", NO_RANGE, true, "transactional topologies are not here" },
    { "topology.transfer.batch.size", GX_KEY_ACCEPTED, I64, "", NO_RANGE, false,
      "Queues are sized within one budget of memory." },
    { "topology.transfer.buffer.size", GX_KEY_ACCEPTED, I64, "", NO_RANGE, false,
      "Queues are sized within one budget of memory." },
    { "topology.trident.batch.emit.interval.millis", GX_KEY_ACCEPTED, I64, "", NO_RANGE, false,
      "It is for Trident, which is not here." },
    { "topology.tuple.compression.enable", GX_KEY_ACCEPTED, BOOL, "", NO_RANGE, false,
      "Tuples do not leave the process." },
    { "topology.tuple.compression.threshold", GX_KEY_ACCEPTED, I64, "", NO_RANGE, false,
      "Tuples do not leave the process." },
    { "topology.tuple.serializer", GX_KEY_ACCEPTED, ANY, "", NO_RANGE, false,
      "Tuples have one format and are not serialized by classes." },
    { "topology.upstream.feedback.enable", GX_KEY_ACCEPTED, BOOL, "", NO_RANGE, false,
      "No grouping here uses feedback." },
    { "topology.upstream.feedback.freq.secs", GX_KEY_ACCEPTED, NUMBER, "", NO_RANGE, false,
      "No grouping here uses feedback." },
    { "topology.users", GX_KEY_ACCEPTED, ANY, "", NO_RANGE, false, "There is no cluster that asks who is who." },
    { "topology.v2.metrics.tick.interval.seconds", GX_KEY_ACCEPTED, I64, "", NO_RANGE, false,
      "Counters are read from the runtime." },
    { "topology.version", GX_KEY_ACCEPTED, ANY, "", NO_RANGE, false, "The topology is named where it is made." },
    { "topology.worker.childopts", GX_KEY_ACCEPTED, ANY, "", NO_RANGE, false, "There is no Java virtual machine." },
    { "topology.worker.gc.childopts", GX_KEY_ACCEPTED, ANY, "", NO_RANGE, false, "There is no Java virtual machine." },
    { "topology.worker.logwriter.childopts", GX_KEY_ACCEPTED, ANY, "", NO_RANGE, false,
      "There is no Java virtual machine." },
    { "topology.worker.max.heap.size.mb", GX_KEY_ACCEPTED, NUMBER, "", NO_RANGE, false,
      "There are no worker processes." },
    { "topology.worker.metrics", GX_KEY_ACCEPTED, ANY, "", NO_RANGE, false,
      "Such classes only watch; the results are the same without them." },
    { "topology.worker.receiver.thread.count", GX_KEY_ACCEPTED, NUMBER, "", NO_RANGE, false,
      "There are no worker processes." },
    { "topology.worker.shared.thread.pool.size", GX_KEY_ACCEPTED, NUMBER, "", NO_RANGE, false,
      "There are no worker processes." },
    { "topology.worker.timeout.secs", GX_KEY_ACCEPTED, NUMBER, "", NO_RANGE, false, "There are no worker processes." },
    { "topology.workers", GX_KEY_ACCEPTED, I64, "", NO_RANGE, false, "There is one process." },
};

enum { TABLE_SIZE = sizeof table / sizeof table[0] };

const gx_key *gx_config_keys(size_t *ret_count) {
    *ret_count = TABLE_SIZE;
    return table;
}

const gx_key *gx_config_find(gale_str name) {
    size_t low = 0, high = TABLE_SIZE;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = gx_str_compare(gx_str(table[middle].name), name);
        if (order == 0) return &table[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static bool has_prefix(gale_str key, const char *prefix) {
    size_t size = strlen(prefix);
    return key.size >= size && memcmp(key.data, prefix, size) == 0;
}

/* --- Checking a key and its value --------------------------------------------------------------------------------- */

static const char *after_prefix(const char *name) {
    return strchr(name, '.') + 1;
}

/* The key that is meant by a word without its "topology." or "gale.", or NULL. */
static const char *nearest_without_prefix(gale_str wanted) {
    gx_nearest nearest = gx_nearest_to(wanted);
    for (size_t i = 0; i < TABLE_SIZE; i++) gx_nearest_offer(&nearest, gx_str(after_prefix(table[i].name)));
    gale_str word = gx_nearest_word(&nearest);
    for (size_t i = 0; word.size && i < TABLE_SIZE; i++)
        if (after_prefix(table[i].name) == word.data) return table[i].name;
    return NULL;
}

/* What the keys of Storm's daemons begin with: they say how a cluster runs. */
#define DAEMONS                                                                                                        \
    "blobstore cgroup client drpc executor java logs logviewer nimbus pacemaker resource scheduler storm supervisor "  \
    "task transactional ui worker zmq"

/* The part before the first dot, or all of it. */
static gale_str first_word(gale_str key) {
    const char *dot = memchr(key.data, '.', key.size);
    return (gale_str){ key.data, dot ? (size_t)(dot - key.data) : key.size };
}

bool gx_config_is_daemons(gale_str key) {
    gale_str rest = gx_str(DAEMONS), word, first = first_word(key);
    while (first.size < key.size && gx_str_next(&rest, ' ', &word))
        if (gx_str_equal(first, word)) return true;
    return false;
}

static size_t dots_of(gale_str key) {
    size_t dots = 0;
    for (size_t i = 0; i < key.size; i++) dots += key.data[i] == '.';
    return dots;
}

/* The key of Storm's whose "topology." was left out; NULL: the key is a component's own, or a daemon's. A key of one word must be Storm's to the
 * letter, since words like "host" and "path" are anybody's. */
static const char *without_topology(gale_str key) {
    gx_nearest nearest = gx_nearest_to(key);
    size_t dots = dots_of(key);
    if (gx_config_is_daemons(key)) return NULL;
    for (size_t i = 0; i < TABLE_SIZE; i++) {
        const char *name = table[i].name;
        if (!has_prefix(gx_str(name), "topology.")) continue;
        if (gx_str_is(key, after_prefix(name))) return name;
        if (dots && dots_of(gx_str(name)) == dots + 1) gx_nearest_offer(&nearest, gx_str(after_prefix(name)));
    }
    gale_str word = gx_nearest_word(&nearest);
    return word.size ? word.data - strlen("topology.") : NULL;
}

static int refuse_short(gale_str key, const char *whole, gale_error *error) {
    return gale_error_set(
        error, GALE_CONFIG,
        "unknown key '%.*s'; did you mean '%s'? A component's own key needs a name that is not Storm's, "
        "as 'my.%.*s'",
        GX_STR(key), whole, GX_STR(key));
}

int gx_config_refuse(gale_str key, gale_error *error) {
    char hint[160];
    gx_nearest nearest = gx_nearest_to(key);
    for (size_t i = 0; i < TABLE_SIZE; i++) gx_nearest_offer(&nearest, gx_str(table[i].name));
    const char *longer = gx_nearest_word(&nearest).size ? NULL : nearest_without_prefix(key);
    if (longer)
        return gale_error_set(error, GALE_CONFIG, "unknown key '%.*s'; did you mean '%s'?", GX_STR(key), longer);
    return gale_error_set(error, GALE_CONFIG, "unknown key '%.*s'%s", GX_STR(key),
                          gx_nearest_hint(&nearest, hint, sizeof hint));
}

const char *gx_config_why(gale_str key, char out[GX_CONFIG_WHY]) {
    const gx_key *known = gx_config_find(key);
    size_t size = known && known->class_ == GX_KEY_ACCEPTED ? strlen(known->text) : 0;
    *out = 0;
    if (!size) return out;
    snprintf(out, GX_CONFIG_WHY, ": %c%.*s", known->text[0] + ('a' - 'A'), (int)size - 2, known->text + 1);
    return out;
}

static const char *types_text(uint32_t types) {
    if (types == BOOL) return "true or false";
    if (types == I64) return "a whole number";
    if (types == NUMBER) return "a number";
    return "a string";
}

static int refuse_type(const gx_key *known, const gale_value *value, gale_error *error) {
    const char *wanted = types_text(known->types), *is = gale_type_name(value->type);
    if (value->type == GALE_TYPE_STRING && value->size <= 60)
        return gale_error_set(error, GALE_CONFIG, "'%s' must be %s, not the string '%.*s'", known->name, wanted,
                              (int)value->size, value->as.string);
    return gale_error_set(error, GALE_CONFIG, "'%s' must be %s, not a value of type %s", known->name, wanted, is);
}

static int check_range(const gx_key *known, const gale_value *value, gale_error *error) {
    if (known->min > known->max || (value->type != GALE_TYPE_I64 && value->type != GALE_TYPE_F64)) return 0;
    double number = value->type == GALE_TYPE_I64 ? (double)value->as.i64 : value->as.f64;
    if (number >= known->min && number <= known->max) return 0;
    if (number > known->max)
        return gale_error_set(error, GALE_CONFIG, "'%s' must be at most %.15g, not %.15g", known->name, known->max,
                              number);
    if (known->min == TINY)
        return gale_error_set(error, GALE_CONFIG, "'%s' must be above 0, not %.15g", known->name, number);
    return gale_error_set(error, GALE_CONFIG, "'%s' must be at least %.15g, not %.15g", known->name, known->min,
                          number);
}

/* Offers each of the words; true when `value` is one. */
static bool is_word(const char *words, gale_str value, gx_nearest *nearest) {
    while (*words) {
        gale_str word = { words, strcspn(words, " ") };
        if (gx_str_equal(word, value)) return true;
        gx_nearest_offer(nearest, word);
        words += word.size + (words[word.size] == ' ');
    }
    return false;
}

const char *gx_config_words(const gx_key *key) {
    return strcmp(key->name, "topology.message.timeout.mode") == 0 ? "fixed progress" : NULL;
}

static int check_words(const gx_key *known, const gale_value *value, gale_error *error) {
    const char *words = gx_config_words(known);
    if (!words || value->type != GALE_TYPE_STRING) return 0;
    char hint[160];
    gale_str given = { value->as.string, value->size };
    gx_nearest nearest = gx_nearest_to(given);
    if (is_word(words, given, &nearest)) return 0;
    return gale_error_set(error, GALE_CONFIG, "'%s' must be one of: %s, not '%.*s'%s", known->name, words,
                          (int)(given.size < 60 ? given.size : 60), given.data,
                          gx_nearest_hint(&nearest, hint, sizeof hint));
}

/* Does it ask for what is so in any case? */
static bool asks_for_nothing(const gx_key *known, const gale_value *value) {
    return strcmp(known->name, "topology.workers") == 0 && value->type == GALE_TYPE_I64 && value->as.i64 == 1;
}

/* Null unsets, whatever the key. Returns 1 for a key without effect. */
static int check_known(const gx_key *known, const gale_value *value, gale_error *error) {
    int no_effect = known->class_ == GX_KEY_ACCEPTED && !asks_for_nothing(known, value);
    if (value->type == GALE_TYPE_NULL) return no_effect;
    if (known->class_ == GX_KEY_REFUSED)
        return gale_error_set(error, GALE_CONFIG, "'%s' is not supported: %s", known->name, known->text);
    if (value->type >= GALE_TYPE_COUNT || !(known->types >> value->type & 1)) return refuse_type(known, value, error);
    int rc = check_range(known, value, error);
    if (rc == 0) rc = check_words(known, value, error);
    return rc < 0 ? rc : no_effect;
}

static int check_entry(gale_str key, const gale_value *value, gale_error *error) {
    if (key.size == 0) return gale_error_set(error, GALE_CONFIG, "a configuration key is empty");
    const gx_key *known = gx_config_find(key);
    if (known) return check_known(known, value, error);
    if (has_prefix(key, "topology.") || has_prefix(key, "gale.")) return gx_config_refuse(key, error);
    const char *whole = without_topology(key);
    return whole ? refuse_short(key, whole, error) : 0;
}

/* --- The set of keys ---------------------------------------------------------------------------------------------- */

typedef struct entry {
    char *key;
    gale_value_owned *value;
    bool hidden;
} entry;

struct gale_config {
    gx_mark mark;
    entry *entries;
    size_t count;
    size_t capacity;
};

gale_config *gale_config_new(void) {
    gale_config *config = calloc(1, sizeof *config);
    if (config) gx_mark_begin(&config->mark, GX_KIND_CONFIG);
    return config;
}

static bool is_config(const gale_config *config) {
    return gx_mark_is(config, GX_KIND_CONFIG);
}

void gale_config_free(gale_config *config) {
    if (!is_config(config)) return;
    gx_mark_end(&config->mark);
    for (size_t i = 0; i < config->count; i++) {
        free(config->entries[i].key);
        gale_value_owned_free(config->entries[i].value);
    }
    free(config->entries);
    free(config);
}

size_t gale_config_size(const gale_config *config) {
    return is_config(config) ? config->count : 0;
}

static entry *find_entry(const gale_config *config, gale_str key) {
    for (size_t i = 0; i < gale_config_size(config); i++)
        if (gx_str_is(key, config->entries[i].key)) return &config->entries[i];
    return NULL;
}

static bool make_room(gale_config *config) {
    if (config->count < config->capacity) return true;
    size_t capacity = config->capacity ? 2 * config->capacity : 8;
    entry *entries = realloc(config->entries, capacity * sizeof *entries);
    if (!entries) return false;
    config->entries = entries;
    config->capacity = capacity;
    return true;
}

static int append(gale_config *config, gale_str key, gale_value_owned *value) {
    char *name = make_room(config) ? malloc(key.size + 1) : NULL;
    if (!name) return GALE_NO_MEMORY;
    memcpy(name, key.data, key.size);
    name[key.size] = 0;
    config->entries[config->count++] = (entry){ name, value, false };
    return 0;
}

/* The value is checked already. */
static int put(gale_config *config, gale_str key, const gale_value *value) {
    gale_value_owned *copy = gale_value_copy(value);
    if (!copy) return GALE_NO_MEMORY;
    entry *found = find_entry(config, key);
    if (found) {
        gale_value_owned_free(found->value);
        found->value = copy;
        return 0;
    }
    int rc = append(config, key, copy);
    if (rc < 0) gale_value_owned_free(copy);
    return rc;
}

static int set(gale_config *config, gale_str key, const gale_value *value, gale_error *error) {
    if (!is_config(config)) return gale_error_set(error, GALE_INVALID, "there is no configuration to set a key in");
    int64_t size = gx_body_measure(value, 1);
    if (size < 0)
        return gale_error_set(error, GALE_CONFIG, "the value of '%.*s' is not valid: %s", GX_STR(key),
                              gale_error_text((int)size));
    int effect = check_entry(key, value, error);
    if (effect < 0) return effect;
    if (put(config, key, value) < 0) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    return effect;
}

int gale_config_set(gale_config *config, const char *key, gale_value value, gale_error *error) {
    return set(config, gx_str(key), &value, error);
}

int gale_config_set_text(gale_config *config, const char *assignment, gale_error *error) {
    const char *equals = assignment ? strchr(assignment, '=') : NULL;
    if (!equals) return gale_error_set(error, GALE_CONFIG, "'%s' is no 'key=value'", assignment ? assignment : "");
    gale_str key = gx_str_trim((gale_str){ assignment, (size_t)(equals - assignment) });
    gale_value value = gx_config_scalar(gx_str(equals + 1));
    return set(config, key, &value, error);
}

bool gale_config_get(const gale_config *config, const char *key, gale_value *ret_value) {
    const entry *found = find_entry(config, gx_str(key));
    if (found && ret_value) *ret_value = gale_value_owned_view(found->value);
    return found != NULL;
}

bool gale_config_at(const gale_config *config, size_t index, gale_str *ret_key, gale_value *ret_value) {
    if (index >= gale_config_size(config)) return false;
    if (ret_key) *ret_key = gx_str(config->entries[index].key);
    if (ret_value) *ret_value = gale_value_owned_view(config->entries[index].value);
    return true;
}

/* --- Reading with a default --------------------------------------------------------------------------------------- */

static gale_value value_or_default(const gale_config *config, const char *key) {
    gale_value value;
    if (gale_config_get(config, key, &value)) return value;
    const gx_key *known = gx_config_find(gx_str(key));
    return known ? gx_config_scalar(gx_str(known->default_text)) : gale_null();
}

int64_t gale_config_i64(const gale_config *config, const char *key, int64_t fallback) {
    gale_value value = value_or_default(config, key);
    return value.type == GALE_TYPE_I64 ? value.as.i64 : fallback;
}

double gale_config_f64(const gale_config *config, const char *key, double fallback) {
    gale_value value = value_or_default(config, key);
    if (value.type == GALE_TYPE_I64) return (double)value.as.i64;
    return value.type == GALE_TYPE_F64 ? value.as.f64 : fallback;
}

bool gale_config_bool(const gale_config *config, const char *key, bool fallback) {
    gale_value value = value_or_default(config, key);
    return value.type == GALE_TYPE_BOOL ? value.as.boolean : fallback;
}

gale_str gale_config_text(const gale_config *config, const char *key, gale_str fallback) {
    gale_value value = value_or_default(config, key);
    return value.type == GALE_TYPE_STRING ? gx_value_str(&value) : fallback;
}

/* --- Copies and overlay ------------------------------------------------------------------------------------------- */

/* What a component says about a key that is the topology's alone is dropped, as Storm does. */
static bool may_overlay(gale_str key) {
    const gx_key *known = gx_config_find(key);
    return !known || known->component;
}

gale_config *gx_config_overlay(const gale_config *topology, const gale_config *component) {
    gale_config *both = gx_config_copy(topology);
    gale_str key;
    gale_value value;
    for (size_t i = 0; both && gale_config_at(component, i, &key, &value); i++) {
        if (!may_overlay(key) || put(both, key, &value) == 0) continue;
        gale_config_free(both);
        both = NULL;
    }
    return both;
}

void gx_config_hide(gale_config *config, gale_str key) {
    entry *found = find_entry(config, key);
    if (found) found->hidden = true;
}

bool gx_config_hides(const gale_config *config, gale_str key) {
    const entry *found = find_entry(config, key);
    return found && found->hidden;
}

gale_config *gx_config_copy(const gale_config *config) {
    gale_config *copy = gale_config_new();
    gale_str key;
    gale_value value;
    for (size_t i = 0; copy && gale_config_at(config, i, &key, &value); i++) {
        if (put(copy, key, &value) == 0) continue;
        gale_config_free(copy);
        copy = NULL;
    }
    return copy;
}

/* --- Scalars as YAML 1.1 reads them ------------------------------------------------------------------------------- */

static bool is_one_of(gale_str text, const char *const *words) {
    for (; *words; words++)
        if (gx_str_is(text, *words)) return true;
    return false;
}

static bool is_quoted(gale_str text) {
    return text.size >= 2 && (text.data[0] == '"' || text.data[0] == '\'') && text.data[text.size - 1] == text.data[0];
}

static int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

/* Digits of `base`, with '_' between them; false too when they pass `limit`. */
static bool read_digits(gale_str digits, unsigned base, uint64_t limit, uint64_t *ret_number) {
    uint64_t number = 0;
    bool any = false;
    for (size_t i = 0; i < digits.size; i++) {
        if (digits.data[i] == '_') continue;
        unsigned digit = (unsigned)digit_of(digits.data[i]);
        if (digit >= base || number > (limit - digit) / base) return false;
        number = number * base + digit;
        any = true;
    }
    *ret_number = number;
    return any;
}

/* 190:20:30 is 190 * 3600 + 20 * 60 + 30: what follows a colon is below 60. `*ret_rest` is what stands behind. */
static bool read_base_60(gale_str text, uint64_t limit, uint64_t *ret_number, gale_str *ret_rest) {
    gale_str rest = text;
    uint64_t number = 0;
    size_t parts = 0;
    if (!text.size || text.data[0] < '0' || text.data[0] > '9') return false;
    for (; parts == 0 || (rest.size && rest.data[0] == ':'); parts++) {
        if (parts) rest.data++, rest.size--;
        size_t size = 0;
        while (size < rest.size && ((rest.data[size] >= '0' && rest.data[size] <= '9') || rest.data[size] == '_'))
            size++;
        uint64_t part;
        if (!read_digits((gale_str){ rest.data, size }, 10, limit, &part)) return false;
        if (parts && (size > 2 || part > 59 || memchr(rest.data, '_', size))) return false;
        if (number > (limit - part) / 60) return false;
        number = number * 60 + part;
        rest = (gale_str){ rest.data + size, rest.size - size };
    }
    *ret_number = number;
    *ret_rest = rest;
    return parts > 1;
}

static bool read_magnitude(gale_str text, uint64_t limit, uint64_t *ret_number) {
    gale_str rest;
    unsigned base = 10;
    if (!text.size || text.data[0] == '_') return false;
    if (text.data[0] != '0' && read_base_60(text, limit, ret_number, &rest)) return rest.size == 0;
    if (text.size > 2 && text.data[0] == '0' && (text.data[1] == 'x' || text.data[1] == 'b'))
        base = text.data[1] == 'x' ? 16 : 2, text.data += 2, text.size -= 2;
    else if (text.size > 1 && text.data[0] == '0')
        base = 8, text.data++, text.size--;
    return read_digits(text, base, limit, ret_number);
}

static bool read_i64(gale_str text, int64_t *ret_number) {
    bool negative = text.size && text.data[0] == '-';
    if (text.size && (text.data[0] == '-' || text.data[0] == '+')) text.data++, text.size--;
    uint64_t number;
    if (!read_magnitude(text, (uint64_t)INT64_MAX + negative, &number)) return false;
    *ret_number = (int64_t)(negative ? 0 - number : number);
    return true;
}

/* How many digits and underscores it begins with. */
static size_t digits_at(gale_str text, size_t at, bool underscores) {
    size_t from = at;
    while (at < text.size && ((text.data[at] >= '0' && text.data[at] <= '9') || (underscores && text.data[at] == '_')))
        at++;
    return at - from;
}

/* Is it written as YAML 1.1 writes numbers? strtod alone would take "inf", "nan" and "0x1p3". "08" is neither octal nor
 * a float, but a string. */
static bool looks_like_float(gale_str text) {
    size_t at = text.size && (text.data[0] == '-' || text.data[0] == '+');
    bool leading_zero = text.size > at + 1 && text.data[at] == '0';
    size_t whole = digits_at(text, at, true), part = 0;
    if (whole && text.data[at] == '_') return false;
    at += whole;
    bool point = at < text.size && text.data[at] == '.', exponent = false;
    if (point) at += 1 + (part = digits_at(text, at + 1, whole > 0));
    if (at < text.size && (text.data[at] == 'e' || text.data[at] == 'E')) {
        at++;
        if (at < text.size && (text.data[at] == '+' || text.data[at] == '-')) at++;
        size_t digits = digits_at(text, at, false);
        if (!digits) return false;
        at += digits;
        exponent = true;
    }
    return at == text.size && whole + part > 0 && (point || exponent || !leading_zero);
}

/* .inf, -.INF, .NaN */
static bool read_special(gale_str text, double *ret_number) {
    static const char *const infinite[] = { ".inf", ".Inf", ".INF", NULL }, *const nan[] = { ".nan", ".NaN", ".NAN",
                                                                                             NULL };
    bool negative = text.size && text.data[0] == '-';
    if (is_one_of(text, nan)) return *ret_number = (double)NAN, true;
    if (text.size && (text.data[0] == '-' || text.data[0] == '+')) text.data++, text.size--;
    if (!is_one_of(text, infinite)) return false;
    *ret_number = negative ? -(double)INFINITY : (double)INFINITY;
    return true;
}

/* 190:20:30.15 */
static bool read_base_60_point(gale_str text, double *ret_number) {
    bool negative = text.size && text.data[0] == '-';
    if (text.size && (text.data[0] == '-' || text.data[0] == '+')) text.data++, text.size--;
    uint64_t whole;
    gale_str rest;
    if (!read_base_60(text, INT64_MAX, &whole, &rest) || !rest.size || rest.data[0] != '.') return false;
    if (digits_at(rest, 1, true) != rest.size - 1) return false;
    double number = (double)whole, place = 1;
    for (size_t i = 1; i < rest.size; i++)
        if (rest.data[i] != '_') number += (rest.data[i] - '0') * (place /= 10);
    *ret_number = negative ? -number : number;
    return true;
}

static bool read_f64(gale_str text, double *ret_number) {
    char copy[64];
    size_t size = 0;
    if (read_special(text, ret_number) || read_base_60_point(text, ret_number)) return true;
    if (!looks_like_float(text) || text.size >= sizeof copy) return false;
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] != '_') copy[size++] = text.data[i];
    return gx_number_read((gale_str){ copy, size }, ret_number);
}

gale_value gx_config_scalar(gale_str text) {
    static const char *const yes[] = { "true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", NULL };
    static const char *const no[] = { "false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", NULL };
    static const char *const none[] = { "", "~", "null", "Null", "NULL", NULL };
    text = gx_str_trim(text);
    int64_t whole;
    double number;
    if (is_quoted(text)) return gale_string(text.data + 1, text.size - 2);
    if (is_one_of(text, none)) return gale_null();
    if (is_one_of(text, yes)) return gale_bool(true);
    if (is_one_of(text, no)) return gale_bool(false);
    if (read_i64(text, &whole)) return gale_i64(whole);
    if (read_f64(text, &number)) return gale_f64(number);
    return gale_string(text.data, text.size);
}
