/* Two durable jobs of a program of one's own, for kill_test.py and test/power: rolling top words on the words' own time, and
 * a count behind a bolt that fails, does not answer in time, and rejects.
 *
 *   kill_job top FOLDER INTERVAL_MS      reads FOLDER/text, writes FOLDER/rankings
 *   kill_job moody FOLDER INTERVAL_MS    reads FOLDER/text, writes FOLDER/counts, /copied, /letters
 *
 * FOLDER/state has the state. Ends when all is done: 0; 3: what the run ends with is said. */
#include "job.h"

#include <gale/file.h>
#include <gale/kit.h>
#include <gale_store.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *folder;

static const char *path_of(const char *name) {
    static char path[4096];
    snprintf(path, sizeof path, "%.4000s/%s", folder, name);
    return path;
}

static void must(int rc, const gale_error *error) {
    if (rc >= 0) return;
    fprintf(stderr, "kill_job: %s\n", error->length ? error->text : gale_error_text(rc));
    exit(3);
}

static void add_lines(gale_topology *topology) {
    gale_file_spout_options options = { .size = sizeof options, .path = path_of("text") };
    gale_error error = GALE_ERROR_INIT;
    gale_spout spout;
    must(gale_file_spout(&options, &spout, &error), &error);
    gale_topology_add_spout(topology, "lines", spout, 1);
}

static void add_sink(gale_topology *topology, const char *name, bool append) {
    gale_file_sink_options options = { .size = sizeof options, .path = path_of(name), .append = append };
    gale_error error = GALE_ERROR_INIT;
    gale_bolt bolt;
    must(gale_file_sink_bolt(&options, &bolt, &error), &error);
    gale_topology_add_bolt(topology, name, bolt, 1);
}

static gale_topology *top_words(void) {
    gale_topology *topology = gale_topology_new("top");
    gale_event_time_options time = { .size = sizeof time, .output = "time, word", .lateness_seconds = JOB_LATENESS };
    gale_error error = GALE_ERROR_INIT;
    gale_bolt clock;
    must(gale_event_time_bolt(&time, &clock, &error), &error);
    add_lines(topology);
    gale_topology_add_bolt(topology, "parse", job_parse(), 1);
    gale_topology_add_bolt(topology, "clock", clock, 1);
    gale_topology_add_bolt(topology, "count", job_count(), JOB_COUNTERS);
    gale_topology_add_bolt(topology, "rank", job_rank(), 1);
    add_sink(topology, "rankings", true);
    gale_topology_subscribe(topology, "parse", "lines", NULL, gale_shuffle());
    gale_topology_subscribe(topology, "clock", "parse", NULL, gale_global());
    gale_topology_subscribe(topology, "count", "clock", NULL, gale_fields("word"));
    gale_topology_subscribe(topology, "count", "clock", "watermark", gale_all());
    gale_topology_subscribe(topology, "rank", "count", NULL, gale_global());
    gale_topology_subscribe(topology, "rank", "count", "watermark", gale_global());
    gale_topology_subscribe(topology, "rankings", "rank", NULL, gale_global());
    gale_topology_set(topology, NULL, "topology.max.spout.pending", gale_i64(500));
    return topology;
}

/* On one executor a tuple that is executed is not over: its deadline comes before its timeout, by the same clock. Else one
 * that timed out in a queue would be counted, and counted again when it is tried again. */
static gale_topology *moody_count(void) {
    gale_topology *topology = gale_topology_new("moody");
    gale_error error = GALE_ERROR_INIT;
    gale_bolt count;
    must(gale_count_bolt(GALE_COUNT_EMIT_FINISH, &count, &error), &error);
    add_lines(topology);
    gale_topology_add_bolt(topology, "moody", job_moody(), 2);
    gale_topology_add_bolt(topology, "count", count, 2);
    add_sink(topology, "counts", false);
    add_sink(topology, "copied", true);
    gale_topology_subscribe(topology, "moody", "lines", NULL, gale_shuffle());
    gale_topology_subscribe(topology, "copied", "moody", NULL, gale_global());
    gale_topology_subscribe(topology, "count", "moody", "words", gale_fields("word"));
    gale_topology_subscribe(topology, "counts", "count", NULL, gale_global());
    gale_topology_set(topology, NULL, "topology.max.spout.pending", gale_i64(300));
    gale_topology_set(topology, NULL, "topology.message.timeout.secs", gale_f64(0.02));
    gale_topology_set(topology, NULL, "topology.message.deadline.secs", gale_f64(0.01));
    gale_topology_set(topology, NULL, "topology.replay.attempts", gale_i64(25));
    gale_topology_set(topology, NULL, "topology.replay.backoff.initial.secs", gale_f64(0.0001));
    gale_topology_set(topology, NULL, "topology.replay.backoff.max.secs", gale_f64(0.001));
    gale_topology_set(topology, NULL, "topology.dead_letters.file", gale_text(path_of("letters")));
    return topology;
}

static void run(gale_topology *topology, uint32_t executors, double interval_ms) {
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    gale_store_options place = GALE_STORE_OPTIONS_INIT;
    gale_error error = GALE_ERROR_INIT;
    gale_runtime *runtime;
    gale_store store;
    char state[4096];
    snprintf(state, sizeof state, "%s", path_of("state"));
    place.folder = state;
    place.topology = gale_topology_name(topology);
    place.create = true;
    must(gale_store_open(&place, &store, &error), &error);
    options.store = &store;
    options.checkpoint_interval = (int64_t)(interval_ms * 1e6);
    options.executors = executors;
    options.until_drained = true;
    must(gale_runtime_new(topology, &options, &runtime, &error), &error);
    gale_topology_free(topology);
    must(gale_runtime_run(runtime, &error), &error);
    gale_runtime_free(runtime, -1, NULL);
    store.close(store.self);
}

int main(int count, char **words) {
    if (count != 4) return 2;
    bool top = strcmp(words[1], "top") == 0;
    folder = words[2];
    if (!top && strcmp(words[1], "moody") != 0) return 2;
    run(top ? top_words() : moody_count(), top ? 2 : 1, strtod(words[3], NULL));
    return 0;
}
