/* Durable runs over a file of numbers, a line each, that end after so many steps, as a process does that is killed. What outlives them: the file, the
 * store and the clock. Threads: one. Owner: the test. */
#ifndef GALE_TEST_NUMBERS_H
#define GALE_TEST_NUMBERS_H

#include "base/random.h"
#include "harness/cm.h"
#include "harness/memory_store.h"

#include <gale/file.h>
#include <gale/gale.h>
#include <stdio.h>
#include <unistd.h>

typedef struct numbers {
    memory_store disk;
    gale_store store;
    gale_manual_clock *clock;
    char in[60];
    gx_random random;
    uint64_t failed_commits;
} numbers;

static inline void numbers_init(numbers *n, int count) {
    *n = (numbers){ .failed_commits = 0 };
    memory_store_init(&n->disk);
    n->store = memory_store_open(&n->disk);
    n->clock = gale_manual_clock_new(0);
    snprintf(n->in, sizeof n->in, "/tmp/gale_numbers_XXXXXX");
    int fd = mkstemp(n->in);
    assert_true(fd >= 0);
    for (int i = 0; i < count; i++) dprintf(fd, "%d\n", i);
    close(fd);
}

static inline void numbers_fini(numbers *n) {
    unlink(n->in);
    n->store.close(n->store.self);
    memory_store_fini(&n->disk);
    gale_manual_clock_free(n->clock);
}

/* Adds the spout "lines". */
static inline void numbers_add_spout(const numbers *n, gale_topology *topology) {
    gale_file_spout_options from = { .size = sizeof from, .path = n->in };
    gale_spout lines;
    assert_int_equal(gale_file_spout(&from, &lines, NULL), 0);
    gale_topology_add_spout(topology, "lines", lines, 1);
}

/* So many steps, of a new process, which has the topology. True when it came to its end: then `*ret_rc` says how, with words. */
static inline bool numbers_run(numbers *n, gale_topology *topology, uint64_t steps, int64_t interval, int *ret_rc,
                               gale_error *error) {
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    gale_clock clock = gale_manual_clock_handle(n->clock);
    options.clock = &clock;
    options.executors = 2;
    options.seed = 7;
    options.until_drained = true;
    options.store = &n->store;
    options.checkpoint_interval = interval;
    gale_runtime *runtime = NULL;
    if (gale_runtime_new(topology, &options, &runtime, error) < 0) fail_msg("%s", error->text);
    gale_topology_free(topology);
    bool closed = false;
    for (uint64_t i = 0; i < steps && !closed; i++) {
        closed = gale_runtime_step(runtime) == GALE_STOPPED;
        gale_manual_clock_advance(n->clock, 100000);
        if (gx_random_below(&n->random, 4) == 0) n->failed_commits += gale_runtime_commit(runtime, NULL) < 0;
    }
    *ret_rc = closed ? gale_runtime_wait(runtime, 0, error) : 0;
    assert_int_equal(gale_runtime_free(runtime, -1, NULL), 0);
    n->store.abandon(n->store.self);
    return closed;
}

#endif
