/* A bolt a thousand times slower than its spout, unlimited pending, on real threads: after a warm-up the memory of the
 * process is flat, the engine takes no more of it, and nothing is lost.
 *
 * usage: slow_bolt SECONDS    (60 is the figure that is promised; CI takes less) */
#include "base/os/time.h"

#include <gale/kit.h>
#include <gale/runtime.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FLAT_BYTES = 1 << 20, WARM_UP_MAX = 10 };

static uint64_t emitted, answered, failed; /* the spout's thread writes; read after the end */

static int next(void *self, gale_collector *out, gale_wait *wait) {
    (void)self, (void)wait;
    gale_value value = gale_string("a tuple", 7);
    int rc = gale_emit_tracked(out, 0, &value, 1, emitted);
    if (rc < 0) return rc;
    emitted++;
    return GALE_NEXT_EMITTED;
}

static void on_ack(void *self, uint64_t id) {
    (void)self, (void)id;
    answered++;
}

static void on_fail(void *self, uint64_t id, const gale_failure *failure) {
    (void)self, (void)id;
    answered++;
    failed += failure->reason != GALE_REASON_STOPPED;
}

/* About 100 us, where the spout takes about 0.1 us. */
static int slow(void *user, const gale_tuple *tuple) {
    (void)user, (void)tuple;
    int64_t until = gx_os_monotonic() + 100 * GALE_MICROSECOND;
    while (gx_os_monotonic() < until) {
    }
    return 0;
}

static long resident_bytes(void) {
    long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &size, &resident) != 2) resident = -1;
    if (file) fclose(file);
    return resident * sysconf(_SC_PAGESIZE);
}

static void fail(const char *what, long figure) {
    fprintf(stderr, "%s: %ld\n", what, figure);
    exit(1);
}

static gale_topology *build(uint32_t executors) {
    static const gale_spout_ops ops = {
        .size = sizeof ops, .name = "fast", .next = next, .ack = on_ack, .fail = on_fail
    };
    static const gale_output text[] = { { NULL, "text" } };
    gale_topology *t = gale_topology_new("slow-bolt");
    gale_spout spout = { .size = sizeof spout, .ops = &ops, .outputs = text, .output_count = 1 };
    gale_bolt bolt;
    if (gale_callback_bolt(slow, NULL, &bolt, NULL) < 0) fail("no bolt", 0);
    gale_topology_add_spout(t, "fast", spout, 1);
    gale_topology_add_bolt(t, "slow", bolt, 1);
    gale_topology_subscribe(t, "slow", "fast", NULL, gale_shuffle());
    if (executors > 1) gale_topology_set(t, "slow", "gale.executor", gale_i64(1));
    return t;
}

static void run(uint32_t executors, int seconds) {
    emitted = answered = failed = 0;
    gale_topology *topology = build(executors);
    gale_error error = GALE_ERROR_INIT;
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = executors;
    gale_runtime *runtime;
    if (gale_runtime_new(topology, &options, &runtime, &error) < 0 || gale_runtime_start(runtime, &error) < 0)
        fail(error.text, error.code);
    int warm_up = seconds / 2 < WARM_UP_MAX ? seconds / 2 : WARM_UP_MAX;
    (void)gale_runtime_wait(runtime, warm_up * GALE_SECOND, NULL);
    gale_run_stats before = { .size = sizeof before }, now = { .size = sizeof now };
    gale_runtime_stats(runtime, &before);
    long resident = resident_bytes(), most = resident;
    for (int i = warm_up; i < seconds; i++) {
        (void)gale_runtime_wait(runtime, GALE_SECOND, NULL);
        if (resident_bytes() > most) most = resident_bytes();
    }
    gale_runtime_stats(runtime, &now);
    if (most - resident > FLAT_BYTES) fail("memory grew by", most - resident);
    /* How far a queue runs over its mark depends on when threads run, so a chunk or two may still be taken: a new
     * high-water mark. That nothing is allocated without one is tested where time stands still (engine/running). */
    if (now.memory_reserved > before.memory_reserved + FLAT_BYTES)
        fail("the engine took", (long)(now.memory_reserved - before.memory_reserved));
    gale_runtime_drain(runtime);
    (void)gale_runtime_wait(runtime, 60 * GALE_SECOND, NULL);
    if (gale_runtime_free(runtime, 60 * GALE_SECOND, &error) < 0) fail(error.text, error.code);
    if (answered != emitted) fail("not answered", (long)(emitted - answered));
    if (failed) fail("failed", (long)failed);
    printf(
        "%u executors: %llu tuples, all acked; %ld KiB more memory and %llu allocations in %d s after the first %d\n",
        executors, (unsigned long long)emitted, (most - resident) / 1024,
        (unsigned long long)(now.allocations - before.allocations), seconds - warm_up, warm_up);
    gale_topology_free(topology);
}

int main(int argc, char **argv) {
    int seconds = argc > 1 ? atoi(argv[1]) : 60;
    run(1, seconds);
    run(2, seconds);
    return 0;
}
