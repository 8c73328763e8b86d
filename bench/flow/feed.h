/* What the spouts of all flows share: when to emit, and how long trees took.
 *
 * What:    unpaced, a feed emits whenever it is asked. Paced, a tuple's message id is the time that it was meant for;
 *          with one tree in flight, the time of its emit; so `ack` needs no table to know how long a tree took.
 * Threads: a feed belongs to its spout task; what it points to is shared.
 * Limits:  reading the clock costs 20 to 40 ns; above a million trees a second one in 16 is timed.
 */
#ifndef BENCH_FLOW_FEED_H
#define BENCH_FLOW_FEED_H

#include "harness/latency.h"

#include <gale/component.h>

typedef struct bench_shared {
    const bench_arguments *arguments;
    bench_latency latency;
    double rate;    /* trees a second, of all spouts together; 0: not paced */
    int64_t rest;   /* ns that a spout sleeps after each emit; 0: it does not */
    bool stamped;   /* every tree is timed from its emit */
    const char *at; /* argv[0] */
} bench_shared;

typedef struct bench_feed {
    bench_shared *shared;
    gale_clock clock;
    uint32_t writer; /* its histogram */
    bool acks;
    bool timed;
    bench_pace pace;
    uint64_t mask; /* tuple i is timed when i & mask is 0 */
} bench_feed;

/* Whether the feed wants an emit now: 0 and its message id, or what `next` is to return. */
int bench_feed_when(bench_feed *feed, gale_wait *wait, uint64_t *ret_id);

void bench_feed_open(bench_feed *feed, bench_shared *shared, const gale_context *context);

/* The spout's activate: the pace begins anew. */
void bench_feed_activate(void *feed);

/* The spout's ack. */
void bench_feed_ack(void *feed, uint64_t message_id);

/* Emits when it is time. What `next` returns. */
static inline int bench_feed_emit(bench_feed *feed, gale_collector *out, gale_wait *wait, const gale_value *values,
                                  size_t count) {
    uint64_t id = 0;
    if (__builtin_expect(feed->timed, 0)) {
        int said = bench_feed_when(feed, wait, &id);
        if (said != GALE_NEXT_EMITTED) return said;
    }
    int rc = feed->acks ? gale_emit_tracked(out, 0, values, count, id) : gale_emit(out, 0, values, count);
    return rc < 0 ? rc : GALE_NEXT_EMITTED;
}

#endif
