#include "cli/summary.h"

#include "harness/cm.h"

#include <string.h>

static gx_summary_row rows[] = {
    { .component = "counter",
      .tasks = 4,
      .executed = 1500,
      .emitted = 10,
      .acked = 1500,
      .execute_samples = 1,
      .execute_nanoseconds = 4180 },
    { .component = "wordGenerator", .spout = true, .tasks = 5, .emitted = 1500 },
};

static gx_summary untracked_run(void) {
    return (gx_summary){ .total = { .run = { .executed = 1500, .elapsed = 3 * GALE_SECOND }, .emitted = 1500 },
                         .topology = "t",
                         .rows = rows,
                         .row_count = 2 };
}

static void expect_text(const gx_summary *summary, const char *expected) {
    gx_buf out = GX_BUF_INIT(NULL);
    gx_summary_text(summary, &out);
    assert_string_equal(gx_buf_text(&out), expected);
    gx_buf_fini(&out);
}

static void a_run_without_tracked_tuples_speaks_of_no_trees(void **state) {
    (void)state;
    gx_summary summary = untracked_run();
    expect_text(&summary, "component      tasks  executed  emitted  acked  execute\n"
                          "counter            4     1,500       10  1,500  4.18 us\n"
                          "wordGenerator      5         -    1,500      0        -\n"
                          "no tracked tuples; 1,500 emitted by spouts\n"
                          "3.00 s: 500 tuples/s\n");
}

static void a_column_appears_with_its_first_figure(void **state) {
    (void)state;
    gx_summary summary = untracked_run();
    gx_summary_row spout = rows[1];
    spout.acked = 1, spout.outcomes[gx_outcome_of(GALE_REASON_TIMEOUT)] = 2;
    summary.rows = &spout, summary.row_count = 1;
    summary.total.run.trees = 1490, summary.total.run.acked = 0, summary.total.run.open = 1490;
    expect_text(&summary, "component      tasks  emitted  acked  timed out\n"
                          "wordGenerator      5    1,500      1          2\n"
                          "1,490 trees: 0 acked, 0 failed, 0 timed out, 0 stopped, 1,490 open\n"
                          "10 more tuples, not tracked, emitted by spouts\n"
                          "3.00 s: 497 trees/s, 500 tuples/s\n");
}

static void a_run_that_did_nothing_has_a_summary(void **state) {
    (void)state;
    gx_summary summary = { .topology = "t" };
    expect_text(&summary, "component\nno tracked tuples; 0 emitted by spouts\n0.00 s: 0 tuples/s\n");
}

/* What is cut in the future has no age. */
static const gale_checkpoint_stats checkpoint = { .number = 17,
                                                  .count = 3,
                                                  .wall = INT64_MAX,
                                                  .took = 2 * GALE_MILLISECOND,
                                                  .took_p50 = GALE_MILLISECOND,
                                                  .took_p99 = 4 * GALE_MILLISECOND,
                                                  .took_max = 5 * GALE_MILLISECOND,
                                                  .held = 6 * GALE_MILLISECOND,
                                                  .held_p50 = 7 * GALE_MILLISECOND,
                                                  .held_p99 = 8 * GALE_MILLISECOND,
                                                  .held_max = 9 * GALE_MILLISECOND,
                                                  .bytes = 1000,
                                                  .bytes_max = 2000 };

static void the_checkpoints_of_a_durable_run_are_told(void **state) {
    (void)state;
    gx_summary summary = { .topology = "t", .total = { .durable = true, .checkpoint = checkpoint } };
    expect_text(&summary,
                "component\nno tracked tuples; 0 emitted by spouts\n"
                "3 checkpoints; the last, 17: 0 ns old, 1.0 kB, 2.00 ms to make it last, spouts held for 6.00 ms\n"
                "spouts held p50 7.00 ms, p99 8.00 ms, max 9.00 ms; to last p50 1.00 ms, p99 4.00 ms, max 5.00 ms; "
                "at most 2.0 kB\n"
                "0.00 s: 0 tuples/s\n");
}

static void the_line_of_a_durable_run_ends_with_its_last_checkpoint(void **state) {
    (void)state;
    gx_reading now = { .durable = true, .checkpoint = checkpoint }, before = { .emitted = 0 };
    gx_buf out = GX_BUF_INIT(NULL);
    gx_summary_line(&now, &before, &out);
    assert_non_null(strstr(gx_buf_text(&out), "  checkpoint 17, 0 ns ago\n"));
    now.checkpoint.number = 0;
    gx_buf_reset(&out);
    gx_summary_line(&now, &before, &out);
    assert_null(strstr(gx_buf_text(&out), "checkpoint"));
    gx_buf_fini(&out);
}

static void what_was_held_dropped_or_too_late_is_told(void **state) {
    (void)state;
    gx_summary_row held[] = { { .component = "count", .tasks = 4, .executed = 5, .expired = 12 },
                              { .component = "words",
                                .spout = true,
                                .tasks = 2,
                                .emitted = 9,
                                .held = 1420 * GALE_MILLISECOND,
                                .pending_time = 100 * GALE_MILLISECOND,
                                .pending_limit = 1000,
                                .held_by = 4,
                                .held_by_time = 900 * GALE_MILLISECOND,
                                .held_by_queue = 8000000,
                                .held_by_component = "count",
                                .held_by_index = 3 } };
    gx_summary_drop drops[] = { { "words", "default", "count", "oldest", 1234 },
                                { "words", "side", "count", "newest", 2 },
                                { "words", "none", "count", "newest", 0 } };
    gx_summary summary = { .total = { .run = { .executed = 5, .elapsed = GALE_SECOND }, .emitted = 9 },
                           .topology = "t",
                           .rows = held,
                           .row_count = 2,
                           .drops = drops,
                           .drop_count = 3 };
    expect_text(&summary, "component  tasks  executed  emitted\n"
                          "count          4         5        0\n"
                          "words          2         -        9\n"
                          "no tracked tuples; 9 emitted by spouts\n"
                          "12 over their deadline at count, not executed\n"
                          "words held 71 % of the time by count[3], queue 8.0 MB\n"
                          "words waited 5 % of the time for answers: 1,000 of 1,000 pending\n"
                          "dropped 1,234 of words -> count (oldest)\n"
                          "dropped 2 of words.side -> count (newest)\n"
                          "1.00 s: 5.0 tuples/s\n");
    summary.row_count = 1, summary.drop_count = 0, summary.rows = &held[1];
    held[1].held_by_queue = 0, held[1].pending_time = 0;
    expect_text(&summary, "component  tasks  emitted\n"
                          "words          2        9\n"
                          "no tracked tuples; 9 emitted by spouts\n"
                          "words held 71 % of the time by count[3], which did not read its ring\n"
                          "1.00 s: 5.0 tuples/s\n");
    summary.row_count = 2, summary.drop_count = 3, summary.rows = held;
    held[1].held_by_queue = 8000000, held[1].pending_time = 100 * GALE_MILLISECOND;
    gx_buf out = GX_BUF_INIT(NULL);
    gx_summary_json(&summary, 0, &out);
    const char *json = gx_buf_text(&out);
    assert_non_null(strstr(json, "\"expired\":12"));
    assert_non_null(strstr(json,
                           "\"held_seconds\":1.42,\"held_mostly_by\":{\"component\":\"count\",\"index\":3,\"task\":4,"
                           "\"seconds\":0.9,\"queue_bytes_max\":8000000},\"waited_for_answers_seconds\":0.1"));
    assert_non_null(strstr(json, "\"dropped\":[{\"from\":\"words\",\"stream\":\"default\",\"to\":\"count\","
                                 "\"drop\":\"oldest\",\"count\":1234},"));
    gx_buf_fini(&out);
}

static void expect_line(const gx_reading *now, const gx_reading *before, const char *expected) {
    gx_buf out = GX_BUF_INIT(NULL);
    gx_summary_line(now, before, &out);
    assert_string_equal(gx_buf_text(&out), expected);
    gx_buf_fini(&out);
}

static void the_line_counts_trees_or_what_spouts_emit(void **state) {
    (void)state;
    gx_reading before = { .emitted = 0 };
    gx_reading now = { .run = { .executed = 40, .elapsed = 2 * GALE_SECOND }, .emitted = 20 };
    expect_line(&now, &before, "   2 s  20 emitted, none tracked  10 emitted/s  20 tuples/s\n");
    now.run.trees = 20, now.run.open = 3, now.run.failed = 1;
    expect_line(&now, &before, "   2 s  20 trees  10 trees/s  20 tuples/s  3 open  1 failed\n");
    now.held = "words", now.held_by = "count", now.held_by_index = 3;
    expect_line(&now, &before, "   2 s  20 trees  10 trees/s  20 tuples/s  3 open  1 failed  words held by count[3]\n");
    now.held = NULL, now.unwell = "sink", now.unwell_count = 1;
    expect_line(&now, &before, "   2 s  20 trees  10 trees/s  20 tuples/s  3 open  1 failed  sink is unhealthy\n");
    now.unwell_count = 3;
    expect_line(&now, &before,
                "   2 s  20 trees  10 trees/s  20 tuples/s  3 open  1 failed  sink and 2 more unhealthy\n");
    expect_line(&before, &before, "   0 s  0 trees  0 trees/s  0 tuples/s  0 open  0 failed\n");
}

static void json_tells_what_is_untracked(void **state) {
    (void)state;
    gx_summary summary = untracked_run();
    gx_buf out = GX_BUF_INIT(NULL);
    gx_summary_json(&summary, 0, &out);
    assert_non_null(strstr(gx_buf_text(&out), "\"trees\":0,\"untracked\":1500,"));
    gx_buf_reset(&out);
    summary.total.run.trees = 1501; /* counted after the spouts' figures were read */
    gx_summary_json(&summary, 0, &out);
    assert_non_null(strstr(gx_buf_text(&out), "\"trees\":1501,\"untracked\":0,"));
    gx_buf_fini(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_without_tracked_tuples_speaks_of_no_trees),
        cmocka_unit_test(a_column_appears_with_its_first_figure),
        cmocka_unit_test(what_was_held_dropped_or_too_late_is_told),
        cmocka_unit_test(the_checkpoints_of_a_durable_run_are_told),
        cmocka_unit_test(the_line_of_a_durable_run_ends_with_its_last_checkpoint),
        cmocka_unit_test(a_run_that_did_nothing_has_a_summary),
        cmocka_unit_test(the_line_counts_trees_or_what_spouts_emit),
        cmocka_unit_test(json_tells_what_is_untracked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
