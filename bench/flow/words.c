/* Flows of words.
 *
 *     word-count         sentences from memory -> split -> count      ten words each, 10,000 different ones
 *     file-word-count    the same from a file of 20 MB, read again and again     Storm's FileReadWordCountTopo
 *     top-words          words -> rolling count -> intermediate -> total rankings     storm-starter's RollingTopWords
 *
 * A tree is a sentence, or a word of top-words; time is told by the word. */
#include "flow/flow.h"
#include "harness/text.h"

#include <gale/file.h>
#include <gale/kit.h>
#include <stdlib.h>

enum { FILE_BYTES = 20000000, WINDOW = 3, EMIT = 1, TOP = 5 };

typedef struct words_spout {
    bench_feed feed;
    const gale_str *texts;
    uint32_t count, at;
} words_spout;

static int open_with(void *user, const gale_context *context, const gale_str *texts, uint32_t count, void **ret_self) {
    words_spout *spout = calloc(1, sizeof *spout);
    if (!spout) return GALE_NO_MEMORY;
    bench_feed_open(&spout->feed, user, context);
    spout->texts = texts;
    spout->count = count;
    spout->at = count / context->task_count * context->task_index;
    *ret_self = spout;
    return 0;
}

static int lines_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)out;
    return open_with(user, context, bench_text_lines(), BENCH_LINES, ret_self);
}

static int words_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)out;
    return open_with(user, context, bench_text_words(), BENCH_LINES * BENCH_LINE_WORDS, ret_self);
}

static int words_next(void *self, gale_collector *out, gale_wait *wait) {
    words_spout *spout = self;
    gale_value value = gale_string(spout->texts[spout->at].data, spout->texts[spout->at].size);
    int said = bench_feed_emit(&spout->feed, out, wait, &value, 1);
    if (said == GALE_NEXT_EMITTED && ++spout->at == spout->count) spout->at = 0;
    return said;
}

static const gale_spout_ops lines_ops = { .size = sizeof lines_ops,
                                          .name = "sentences",
                                          .open = lines_open,
                                          .activate = bench_feed_activate,
                                          .next = words_next,
                                          .ack = bench_feed_ack,
                                          .close = free };

static const gale_spout_ops words_ops = { .size = sizeof words_ops,
                                          .name = "words",
                                          .open = words_open,
                                          .activate = bench_feed_activate,
                                          .next = words_next,
                                          .ack = bench_feed_ack,
                                          .close = free };

static void add_split_and_count(gale_topology *topology, uint32_t tasks) {
    gale_bolt split = { 0 }, count = { 0 };
    int made = gale_split_bolt(NULL, &split, NULL);
    bench_flow_bolt(topology, "split", made, split, tasks, "lines", gale_local_or_shuffle());
    made = gale_count_bolt(GALE_COUNT_EMIT_FINISH, &count, NULL);
    bench_flow_bolt(topology, "count", made, count, tasks, "split", gale_fields("word"));
}

static void build_word_count(gale_topology *topology, bench_shared *shared) {
    uint32_t tasks = bench_flow_tasks(shared);
    (void)bench_text_lines(); /* made before threads ask for it */
    bench_flow_spout(topology, "lines", &lines_ops, shared, "line",
                     bench_flow_spouts(shared, shared->arguments->spread ? 1 : tasks));
    add_split_and_count(topology, tasks);
}

static void build_file_word_count(gale_topology *topology, bench_shared *shared) {
    gale_file_spout_options options = { .size = sizeof options, .repeat = true };
    gale_spout spout = { 0 };
    options.path = bench_text_file(shared->at, FILE_BYTES);
    if (gale_file_spout(&options, &spout, NULL) < 0) exit(1);
    gale_topology_add_spout(topology, "lines", spout, bench_flow_spouts(shared, 1));
    add_split_and_count(topology, bench_flow_tasks(shared));
}

static void build_top_words(gale_topology *topology, bench_shared *shared) {
    gale_bolt count = { 0 }, some = { 0 }, all = { 0 };
    (void)bench_text_words();
    bench_flow_spout(topology, "words", &words_ops, shared, "word", bench_flow_spouts(shared, 1));
    int made = gale_rolling_count_bolt(WINDOW, EMIT, &count, NULL);
    bench_flow_bolt(topology, "count", made, count, bench_flow_tasks(shared), "words", gale_fields("word"));
    made = gale_intermediate_rankings_bolt(TOP, EMIT, &some, NULL);
    bench_flow_bolt(topology, "some", made, some, bench_flow_tasks(shared), "count", gale_fields("obj"));
    made = gale_total_rankings_bolt(TOP, EMIT, &all, NULL);
    bench_flow_bolt(topology, "all", made, all, 1, "some", gale_global());
}

const bench_flow bench_flow_word_count = { "word-count",     build_word_count, "count", BENCH_LINE_WORDS,
                                           BENCH_LINE_WORDS, "count",          0,       "" };
const bench_flow bench_flow_file_word_count = { "file-word-count",
                                                build_file_word_count,
                                                "count",
                                                BENCH_LINE_WORDS,
                                                BENCH_LINE_WORDS,
                                                "count",
                                                0,
                                                "gale.spout.File, 20 MB, repeated" };
const bench_flow bench_flow_top_words = {
    "top-words", build_top_words, "count", 1, 0, "count", 0, "window 3 s, told every second, top 5"
};
