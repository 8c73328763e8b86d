#include "flow/feed.h"

enum { TIME_ALL_UP_TO = 1000000, ELSE_ONE_IN = 16 };

static int64_t now(const bench_feed *feed) {
    return feed->clock.now(feed->clock.user);
}

void bench_feed_activate(void *self) {
    bench_feed *feed = self;
    feed->pace.start = feed->pace.now = now(feed);
    feed->pace.sent = 0;
}

void bench_feed_open(bench_feed *feed, bench_shared *shared, const gale_context *context) {
    const bench_arguments *a = shared->arguments;
    *feed = (bench_feed){ .shared = shared, .clock = context->clock, .acks = a->acks };
    feed->writer = context->task_index;
    feed->timed = bench_arguments_timed(a) || (a->acks && shared->stamped) || shared->rate > 0 || shared->rest > 0;
    feed->mask = shared->rate > TIME_ALL_UP_TO ? ELSE_ONE_IN - 1 : 0;
    if (shared->rate > 0) feed->pace.gap = 1e9 * context->task_count / shared->rate;
    bench_feed_activate(feed);
}

/* Storm's low-throughput spout: it emits, then sleeps. */
static int after_rest(bench_feed *feed, gale_wait *wait, uint64_t *ret_id) {
    int64_t time = now(feed);
    if (time < feed->pace.start) {
        wait->until = feed->pace.start;
        return GALE_NEXT_UNTIL;
    }
    feed->pace.start = time + feed->shared->rest;
    *ret_id = (uint64_t)time;
    return GALE_NEXT_EMITTED;
}

int bench_feed_when(bench_feed *feed, gale_wait *wait, uint64_t *ret_id) {
    if (feed->shared->rest) return after_rest(feed, wait, ret_id);
    if (feed->shared->rate <= 0) {
        *ret_id = (uint64_t)now(feed);
        return GALE_NEXT_EMITTED;
    }
    bench_pace *pace = &feed->pace;
    int64_t intended = bench_pace_intended(pace);
    if (intended > pace->now) pace->now = now(feed);
    if (intended > pace->now) {
        wait->until = intended;
        return GALE_NEXT_UNTIL;
    }
    *ret_id = pace->sent++ & feed->mask ? 0 : (uint64_t)intended;
    return GALE_NEXT_EMITTED;
}

void bench_feed_ack(void *self, uint64_t message_id) {
    bench_feed *feed = self;
    if (__builtin_expect(message_id == 0, 1)) return;
    bench_latency_add(&feed->shared->latency, feed->writer, now(feed) - (int64_t)message_id);
}
