/* Rolling top words on one executor and a hand-moved clock, driven by a script; model_test.py compares what it prints
 * with the second model.
 *
 * usage: rolling_top_words COUNTERS INTERMEDIATES TOP WINDOW EMIT < script
 *
 *     word TEXT      goes in; all comes to rest
 *     advance MS     the clock moves; all comes to rest. Counters tick every EMIT seconds, intermediate rankers every
 *                    2.003, the total ranker every 1.999, so that no two kinds ever tick together
 *
 * Output: `route TEXT COUNTER INTERMEDIATE` for each word when it first comes, and each ranking as a line of JSON. */
#include "base/hash.h"
#include "tuple/hash.h"
#include "tuple/json.h"

#include <gale/kit.h>
#include <gale/runtime.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct feed {
    char *word; /* to be emitted next, or NULL */
} feed;

static int feed_next(void *self, gale_collector *out, gale_wait *wait) {
    feed *f = self;
    wait->until = 0;
    if (!f->word) return GALE_NEXT_UNTIL;
    gale_value value = gale_text(f->word);
    int rc = gale_emit_tracked(out, 0, &value, 1, 1);
    if (rc >= 0) f->word = NULL;
    return rc < 0 ? rc : GALE_NEXT_EMITTED;
}

static int print_rankings(void *user, const gale_tuple *tuple) {
    (void)user;
    gx_buf line = GX_BUF_INIT(NULL);
    gx_json json = gx_json_to(&line);
    gale_value rankings = gale_tuple_value(tuple, 0);
    gx_json_value(&json, &rankings);
    puts(gx_buf_text(&line));
    gx_buf_fini(&line);
    return 0;
}

static void check(int rc, const gale_error *error) {
    if (rc >= 0) return;
    fprintf(stderr, "%s\n", error->text);
    exit(1);
}

static gale_topology *build(feed *f, char **arguments) {
    static const gale_spout_ops ops = { .size = sizeof ops, .name = "feed", .next = feed_next };
    static const gale_output word[] = { { NULL, "word" } };
    int64_t top = atoll(arguments[3]);
    gale_error error = GALE_ERROR_INIT;
    gale_topology *t = gale_topology_new("rolling-top-words");
    gale_spout spout = { .size = sizeof spout, .ops = &ops, .user = f, .outputs = word, .output_count = 1 };
    gale_bolt counter, intermediate, total, printer;
    check(gale_rolling_count_bolt(atoll(arguments[4]), atoll(arguments[5]), &counter, &error), &error);
    check(gale_intermediate_rankings_bolt(top, 2, &intermediate, &error), &error);
    check(gale_total_rankings_bolt(top, 2, &total, &error), &error);
    check(gale_callback_bolt(print_rankings, NULL, &printer, &error), &error);
    gale_topology_add_spout(t, "words", spout, 1);
    gale_topology_add_bolt(t, "counter", counter, (uint32_t)atoi(arguments[1]));
    gale_topology_add_bolt(t, "intermediate", intermediate, (uint32_t)atoi(arguments[2]));
    gale_topology_add_bolt(t, "total", total, 1);
    gale_topology_add_bolt(t, "printer", printer, 1);
    gale_topology_subscribe(t, "counter", "words", NULL, gale_fields("word"));
    gale_topology_subscribe(t, "intermediate", "counter", NULL, gale_fields("obj"));
    gale_topology_subscribe(t, "total", "intermediate", NULL, gale_global());
    gale_topology_subscribe(t, "printer", "total", NULL, gale_shuffle());
    gale_topology_set(t, "intermediate", "topology.tick.tuple.freq.secs", gale_f64(2.003));
    gale_topology_set(t, "total", "topology.tick.tuple.freq.secs", gale_f64(1.999));
    check(gale_topology_check(t, &error), &error);
    return t;
}

static void settle(gale_runtime *runtime) {
    while (gale_runtime_step(runtime) > 0) {
    }
}

static void print_route(const char *word, char **arguments) {
    gale_value value = gale_text(word);
    const uint16_t first = 0;
    uint64_t hash = gx_values_hash(&value, &first, 1);
    printf("route %s %u %u\n", word, gx_hash_below(hash, (uint32_t)atoi(arguments[1])),
           gx_hash_below(hash, (uint32_t)atoi(arguments[2])));
}

int main(int argc, char **argv) {
    if (argc != 6) return 2;
    feed f = { NULL };
    gale_error error = GALE_ERROR_INIT;
    gale_topology *topology = build(&f, argv);
    gale_manual_clock *clock = gale_manual_clock_new(0);
    gale_clock handle = gale_manual_clock_handle(clock);
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = 1;
    options.clock = &handle;
    gale_runtime *runtime;
    check(gale_runtime_new(topology, &options, &runtime, &error), &error);
    settle(runtime);
    char line[256];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "word ", 5) == 0) {
            f.word = line + 5;
            print_route(f.word, argv);
        } else if (strncmp(line, "advance ", 8) == 0) {
            gale_manual_clock_advance(clock, atoll(line + 8) * GALE_MILLISECOND);
        } else {
            return 2;
        }
        settle(runtime);
    }
    gale_runtime_free(runtime, -1, NULL);
    gale_topology_free(topology);
    gale_manual_clock_free(clock);
    return 0;
}
