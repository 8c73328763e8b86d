/* Flows whose bolts do not answer at once.
 *
 *     back-pressure     spout -> slow       Storm's BackPressureTopo: the rate is what the bolt takes
 *     open-trees        spout -> keep       --pending trees stay open: each is acked when so many more have come */
#include "flow/flow.h"

#include <stdlib.h>

enum { SLOW = 10 * 1000, OPEN_TREES = 1024 };

static int slow_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    (void)self, (void)tuple, (void)out;
    gale_clock clock = gale_clock_monotonic();
    int64_t until = clock.now(clock.user) + SLOW;
    while (clock.now(clock.user) < until) {
    }
    return 0;
}

static const gale_bolt_ops slow_ops = { .size = sizeof slow_ops, .name = "slow", .execute = slow_execute };

static void build_back_pressure(gale_topology *topology, bench_shared *shared) {
    shared->stamped = true;
    bench_flow_add_const(topology, shared);
    bench_flow_bolt(topology, "slow", 0, bench_flow_own(&slow_ops, shared, NULL), 1, "const", gale_local_or_shuffle());
}

typedef struct keep {
    uint32_t count, at;
    gale_handle handles[];
} keep;

static int keep_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)context, (void)out;
    const bench_shared *shared = user;
    uint32_t count = shared->arguments->pending ? shared->arguments->pending : OPEN_TREES;
    keep *bolt = calloc(1, sizeof *bolt + count * sizeof *bolt->handles);
    if (!bolt) return GALE_NO_MEMORY;
    bolt->count = count;
    *ret_self = bolt;
    return 0;
}

static int keep_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    (void)tuple;
    keep *bolt = self;
    gale_handle *place = &bolt->handles[bolt->at];
    if (*place) (void)gale_ack(out, *place); /* at the end of a run it has been answered for us */
    bolt->at = bolt->at + 1 == bolt->count ? 0 : bolt->at + 1;
    return gale_tuple_hold(out, gale_tuple_handle(tuple), place);
}

static const gale_bolt_ops keep_ops = { .size = sizeof keep_ops,
                                        .name = "keep",
                                        .kind = GALE_BOLT_MANUAL,
                                        .prepare = keep_prepare,
                                        .execute = keep_execute,
                                        .cleanup = free };

static void build_open_trees(gale_topology *topology, bench_shared *shared) {
    gale_topology_set(topology, NULL, "topology.enable.message.timeouts", gale_bool(false));
    bench_flow_add_const(topology, shared);
    bench_flow_bolt(topology, "keep", 0, bench_flow_own(&keep_ops, shared, NULL), 1, "const", gale_local_or_shuffle());
}

const bench_flow bench_flow_back_pressure = { "back-pressure",
                                              build_back_pressure,
                                              "slow",
                                              1,
                                              0,
                                              "slow",
                                              0,
                                              "the bolt takes 10 us a tuple; the spout is held by flow control alone" };
const bench_flow bench_flow_open_trees = {
    "open-trees", build_open_trees, "keep", 1, 0, NULL, 0, "every tuple is held until --pending more have come"
};
