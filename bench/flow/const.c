/* Flows whose tuples are a constant: what is measured is the engine.
 *
 *     const-null        spout -> null                  Storm's ConstSpoutNullBoltTopo
 *     const-id-null     spout -> id -> null            Storm's ConstSpoutIdBoltNullBoltTopo
 *     fan-out-10        spout -> all of ten tasks
 *     diamond           spout -> left, right -> join
 *     low-throughput    spout that sleeps 1 ms after each emit -> null      Storm's LowThroughputTopo */
#include "flow/flow.h"

#include <gale/kit.h>
#include <stdlib.h>

static int const_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)out;
    bench_feed *feed = calloc(1, sizeof *feed);
    if (!feed) return GALE_NO_MEMORY;
    bench_feed_open(feed, user, context);
    *ret_self = feed;
    return 0;
}

static int const_next(void *self, gale_collector *out, gale_wait *wait) {
    const gale_value value = gale_string("some data", 9);
    return bench_feed_emit(self, out, wait, &value, 1);
}

static const gale_spout_ops const_ops = { .size = sizeof const_ops,
                                          .name = "const",
                                          .open = const_open,
                                          .activate = bench_feed_activate,
                                          .next = const_next,
                                          .ack = bench_feed_ack,
                                          .close = free };

static int id_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    (void)self;
    gale_value value = gale_tuple_value(tuple, 0);
    int rc = gale_emit(out, 0, &value, 1);
    return rc < 0 ? rc : 0;
}

static const gale_bolt_ops id_ops = { .size = sizeof id_ops, .name = "id", .execute = id_execute };
static const gale_output data = { NULL, "data" };

void bench_flow_add_const(gale_topology *topology, bench_shared *shared) {
    bench_flow_spout(topology, "const", &const_ops, shared, "data", bench_flow_spouts(shared, 1));
}

static void add_id(gale_topology *topology, bench_shared *shared, const char *name) {
    bench_flow_bolt(topology, name, 0, bench_flow_own(&id_ops, shared, &data), 1, "const", gale_local_or_shuffle());
}

static void add_null(gale_topology *topology, const char *name, uint32_t tasks, const char *from,
                     gale_grouping grouping) {
    gale_bolt null = { 0 };
    int made = gale_null_bolt(&null, NULL);
    bench_flow_bolt(topology, name, made, null, tasks, from, grouping);
}

static void build_const_null(gale_topology *topology, bench_shared *shared) {
    bench_flow_add_const(topology, shared);
    uint32_t tasks = shared->arguments->tasks;
    add_null(topology, "null", tasks ? tasks : 1, "const", tasks > 1 ? gale_shuffle() : gale_local_or_shuffle());
}

static void build_const_id_null(gale_topology *topology, bench_shared *shared) {
    bench_flow_add_const(topology, shared);
    add_id(topology, shared, "id");
    add_null(topology, "null", 1, "id", gale_local_or_shuffle());
}

static void build_fan_out(gale_topology *topology, bench_shared *shared) {
    bench_flow_add_const(topology, shared);
    add_null(topology, "null", 10, "const", gale_all());
}

static void build_diamond(gale_topology *topology, bench_shared *shared) {
    bench_flow_add_const(topology, shared);
    add_id(topology, shared, "left");
    add_id(topology, shared, "right");
    add_null(topology, "join", 1, "left", gale_local_or_shuffle());
    gale_topology_subscribe(topology, "join", "right", NULL, gale_local_or_shuffle());
}

static void build_low_throughput(gale_topology *topology, bench_shared *shared) {
    if (shared->rate <= 0) shared->rest = GALE_MILLISECOND;
    build_const_null(topology, shared);
}

const bench_flow bench_flow_const_null = { "const-null", build_const_null, "null", 1, 0, "null", 0, "" };
const bench_flow bench_flow_const_id_null = { "const-id-null", build_const_id_null, "null", 1, 0, "null", 0, "" };
const bench_flow bench_flow_fan_out = { "fan-out-10", build_fan_out, "null", 10, 0, "null", 0, "" };
const bench_flow bench_flow_diamond = { "diamond", build_diamond, "join", 2, 0, "join", 0, "" };
const bench_flow bench_flow_low_throughput = { "low-throughput",
                                               build_low_throughput,
                                               "null",
                                               1,
                                               0,
                                               "null",
                                               0,
                                               "threads park; latency from the emit unless a rate is given" };
