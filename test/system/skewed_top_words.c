/* Skewed rolling top words against the plain ones, in one topology on one executor and a hand-moved clock: partial key
 * grouping and the aggregation behind it give the rankings that fields grouping gives, and spread the work better.
 *
 * Rankings are compared while nothing is pushed out of them: what a ranking forgets depends on the order of updates. */
#include "base/buf.h"
#include "base/random.h"
#include "tuple/json.h"

#include <gale/kit.h>
#include <gale/runtime.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 40, TOP = 2 * WORDS, SECONDS = 120, PER_SECOND = 50, COUNTERS = 4 };

typedef struct feed {
    char word[20]; /* to be emitted next, unless empty */
} feed;

static int feed_next(void *self, gale_collector *out, gale_wait *wait) {
    feed *f = self;
    wait->until = 0;
    if (!f->word[0]) return GALE_NEXT_UNTIL;
    gale_value value = gale_text(f->word);
    int rc = gale_emit_tracked(out, 0, &value, 1, 1);
    if (rc >= 0) f->word[0] = 0;
    return rc < 0 ? rc : GALE_NEXT_EMITTED;
}

static void check(int rc, const gale_error *error) {
    if (rc >= 0) return;
    fprintf(stderr, "%s\n", error->text);
    exit(1);
}

/* Objects and counts of the last ranking; what else a rankable carries differs. */
static int keep_ranking(void *user, const gale_tuple *tuple) {
    gx_buf *kept = user;
    gale_value rankings = gale_tuple_value(tuple, 0);
    gx_buf_reset(kept);
    gx_json json = gx_json_to(kept);
    for (size_t i = 0; i < rankings.size; i++) {
        gale_value rank = gale_list_at(&rankings, i);
        gale_value object = gale_list_at(&rank, 0), count = gale_list_at(&rank, 1);
        gx_json_value(&json, &object);
        gx_json_value(&json, &count);
    }
    return gx_buf_text(kept) ? 0 : GALE_NO_MEMORY;
}

/* Adds a bolt called `prefix` `name`, fed by `prefix` `from` or by the words. */
static void add(gale_topology *t, const char *prefix, const char *name, gale_bolt bolt, uint32_t tasks,
                const char *from, gale_grouping grouping) {
    char id[40], source[40];
    snprintf(id, sizeof id, "%s-%s", prefix, name);
    snprintf(source, sizeof source, "%s%s%s", from ? prefix : "", from ? "-" : "", from ? from : "words");
    gale_topology_add_bolt(t, id, bolt, tasks);
    gale_topology_subscribe(t, id, source, NULL, grouping);
}

static void add_chain(gale_topology *t, const char *prefix, bool skewed, gx_buf *kept) {
    gale_error error = GALE_ERROR_INIT;
    gale_bolt counter, sums, intermediate, total, keep;
    char id[40];
    check(gale_rolling_count_bolt(9, 3, &counter, &error), &error);
    check(gale_intermediate_rankings_bolt(TOP, 2, &intermediate, &error), &error);
    check(gale_total_rankings_bolt(TOP, 2, &total, &error), &error);
    check(gale_callback_bolt(keep_ranking, kept, &keep, &error), &error);
    add(t, prefix, "counter", counter, COUNTERS, NULL, skewed ? gale_partial_key("word") : gale_fields("word"));
    if (skewed) {
        check(gale_rolling_count_agg_bolt(&sums, &error), &error);
        add(t, prefix, "sums", sums, 3, "counter", gale_fields("obj"));
    }
    add(t, prefix, "rank", intermediate, 4, skewed ? "sums" : "counter", gale_fields("obj"));
    add(t, prefix, "total", total, 1, "rank", gale_global());
    add(t, prefix, "keep", keep, 1, "total", gale_global());
    /* No two kinds tick together, so that it does not matter who is first. */
    gale_topology_set(t, (snprintf(id, sizeof id, "%s-rank", prefix), id), "topology.tick.tuple.freq.secs",
                      gale_f64(2.003));
    gale_topology_set(t, (snprintf(id, sizeof id, "%s-total", prefix), id), "topology.tick.tuple.freq.secs",
                      gale_f64(1.999));
}

static gale_topology *build(feed *f, gx_buf *plain, gx_buf *skewed) {
    static const gale_spout_ops ops = { .size = sizeof ops, .name = "feed", .next = feed_next };
    static const gale_output word[] = { { NULL, "word" } };
    gale_error error = GALE_ERROR_INIT;
    gale_topology *t = gale_topology_new("skewed-top-words");
    gale_spout spout = { .size = sizeof spout, .ops = &ops, .user = f, .outputs = word, .output_count = 1 };
    gale_topology_add_spout(t, "words", spout, 1);
    add_chain(t, "plain", false, plain);
    add_chain(t, "skewed", true, skewed);
    check(gale_topology_check(t, &error), &error);
    return t;
}

static void settle(gale_runtime *runtime) {
    while (gale_runtime_step(runtime) > 0) {
    }
}

/* What the busiest task of a component executed. */
static uint64_t busiest(const gale_runtime *runtime, const char *component) {
    uint64_t most = 0;
    for (uint32_t task = 1; task <= gale_runtime_task_count(runtime); task++) {
        gale_task_stats stats = { .size = sizeof stats };
        if (!gale_runtime_task_stats(runtime, task, &stats) || strcmp(stats.component, component) != 0) continue;
        if (stats.executed > most) most = stats.executed;
    }
    return most;
}

static void compare(const gx_buf *plain, const gx_buf *skewed, int tenths) {
    if (plain->size == skewed->size && (!plain->size || memcmp(plain->data, skewed->data, plain->size) == 0)) return;
    fprintf(stderr, "after %d.%d s the rankings differ:\n  plain  %.*s\n  skewed %.*s\n", tenths / 10, tenths % 10,
            (int)plain->size, plain->data, (int)skewed->size, skewed->data);
    exit(1);
}

/* Every other word is the same one; a word rests for a while now and then, so that counts fall to zero. */
static void draw_word(feed *f, gx_random *random, int second) {
    uint32_t n = gx_random_below(random, 2) ? gx_random_below(random, WORDS) : 0;
    snprintf(f->word, sizeof f->word, "w%u", (n + (uint32_t)(second / 30)) % WORDS);
}

static size_t feed_and_compare(gale_runtime *runtime, gale_manual_clock *clock, feed *f, const gx_buf *plain,
                               const gx_buf *skewed) {
    gx_random random = gx_random_new(7, 7);
    size_t compared = 0;
    for (int tenths = 0; tenths < SECONDS * 10; tenths++) {
        bool silent = tenths / 200 % 2; /* longer than the window: all is forgotten */
        for (int i = 0; i < PER_SECOND / 10 && !silent; i++) {
            draw_word(f, &random, tenths / 10);
            settle(runtime);
        }
        gale_manual_clock_advance(clock, GALE_SECOND / 10);
        settle(runtime);
        compare(plain, skewed, tenths);
        compared += plain->size > 0;
    }
    return compared;
}

int main(void) {
    feed f = { "" };
    gx_buf plain = GX_BUF_INIT(NULL), skewed = GX_BUF_INIT(NULL);
    gale_error error = GALE_ERROR_INIT;
    gale_topology *topology = build(&f, &plain, &skewed);
    gale_manual_clock *clock = gale_manual_clock_new(0);
    gale_clock handle = gale_manual_clock_handle(clock);
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = 1;
    options.clock = &handle;
    gale_runtime *runtime;
    check(gale_runtime_new(topology, &options, &runtime, &error), &error);
    settle(runtime);
    size_t compared = feed_and_compare(runtime, clock, &f, &plain, &skewed);
    uint64_t plain_most = busiest(runtime, "plain-counter"), skewed_most = busiest(runtime, "skewed-counter");
    gale_runtime_free(runtime, -1, NULL);
    gale_topology_free(topology);
    gale_manual_clock_free(clock);
    gx_buf_fini(&plain);
    gx_buf_fini(&skewed);
    printf("rankings equal at %zu readings; the busiest counter took %llu tuples, %llu when skewed\n", compared,
           (unsigned long long)plain_most, (unsigned long long)skewed_most);
    return compared < SECONDS || skewed_most >= plain_most;
}
