/* keyed-count: keys by Zipf's law -> counts of parts (partial key grouping) -> their sums (fields grouping). A tree is a
 * key, counted twice: two edges. --keys says how many there are. */
#include "flow/flow.h"
#include "harness/text.h"

#include <gale/kit.h>
#include <stdlib.h>

enum { TASKS = 2 };

typedef struct keys_spout {
    bench_feed feed;
    uint32_t *keys;
    uint32_t at;
} keys_spout;

static void keys_close(void *self) {
    keys_spout *spout = self;
    free(spout->keys);
    free(spout);
}

static int keys_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)out;
    const bench_shared *shared = user;
    keys_spout *spout = calloc(1, sizeof *spout);
    if (!spout) return GALE_NO_MEMORY;
    bench_feed_open(&spout->feed, user, context);
    spout->keys = bench_text_keys(shared->arguments->keys);
    spout->at = BENCH_KEYS_DRAWN / context->task_count * context->task_index;
    *ret_self = spout;
    return 0;
}

static int keys_next(void *self, gale_collector *out, gale_wait *wait) {
    keys_spout *spout = self;
    gale_value value = gale_i64(spout->keys[spout->at]);
    int said = bench_feed_emit(&spout->feed, out, wait, &value, 1);
    if (said == GALE_NEXT_EMITTED) spout->at = (spout->at + 1) % BENCH_KEYS_DRAWN;
    return said;
}

static const gale_spout_ops keys_ops = { .size = sizeof keys_ops,
                                         .name = "keys",
                                         .open = keys_open,
                                         .activate = bench_feed_activate,
                                         .next = keys_next,
                                         .ack = bench_feed_ack,
                                         .close = keys_close };

static void build_keyed_count(gale_topology *topology, bench_shared *shared) {
    gale_bolt part = { 0 }, sum = { 0 };
    uint32_t tasks = shared->arguments->tasks ? shared->arguments->tasks : TASKS;
    bench_flow_spout(topology, "keys", &keys_ops, shared, "word", bench_flow_spouts(shared, 1));
    int made = gale_count_bolt(GALE_COUNT_EMIT_EACH, &part, NULL);
    bench_flow_bolt(topology, "part", made, part, tasks, "keys", gale_partial_key("word"));
    made = gale_rolling_count_agg_bolt(&sum, NULL);
    bench_flow_bolt(topology, "sum", made, sum, tasks, "part", gale_fields("word"));
}

const bench_flow bench_flow_keyed_count = {
    "keyed-count", build_keyed_count, "sum", 1, 0, "sum", 0, "two tasks a stage"
};
