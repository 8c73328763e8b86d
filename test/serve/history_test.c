/* What is remembered of a run. */
#include "serve/history.h"

#include "serve/snapshots.h"

#include "harness/cm.h"

static const uint64_t none[GX_HISTOGRAM_BUCKETS];

/* A snapshot a second, each with ten trees and twenty calls more. */
static void add_seconds(gx_history *history, int from, int to) {
    for (int second = from; second < to; second++) {
        gx_snapshot *one = snapshot_at(second);
        one->run.trees = 10 * (uint64_t)second;
        one->tasks[COUNT].executed = 20 * (uint64_t)second;
        one->streams[1].emitted = 30 * (uint64_t)second;
        gx_history_add(history, one, none);
    }
}

/* A second in which so many trees took so long, since `sums`. */
static void add_acked(gx_history *history, int second, uint64_t *sums, uint64_t trees, int64_t nanoseconds) {
    for (size_t i = gx_histogram_bucket(nanoseconds); i < GX_HISTOGRAM_BUCKETS; i++) sums[i] += trees;
    gx_history_add(history, snapshot_at(second), sums);
}

static int64_t p50_of(const gx_history *history, uint32_t sample) {
    const gx_sample_part *rows;
    return gx_history_sample(history, sample, &rows)->p50;
}

static int64_t p99_of(const gx_history *history, uint32_t sample) {
    const gx_sample_part *rows;
    return gx_history_sample(history, sample, &rows)->p99;
}

static void at_first_there_is_nothing(void **state) {
    gx_history *history = gx_history_new(&parts);
    gx_snapshot *begin;
    (void)state;
    assert_null(gx_history_before(history, 0, GALE_SECOND));
    assert_int_equal(gx_history_count(history), 0);
    for (uint32_t w = 0; w <= GX_HISTORY_ALL; w++) {
        assert_true(gx_history_window(history, w, GALE_SECOND, &begin));
        assert_null(begin);
    }
    gx_history_free(history);
    gx_history_free(NULL);
}

static void of_the_last_seconds_the_one_that_is_old_enough_is_found(void **state) {
    gx_history *history = gx_history_new(&parts);
    (void)state;
    add_seconds(history, 0, 3);
    assert_int_equal(gx_history_before(history, 2 * GALE_SECOND, GALE_SECOND)->time, GALE_SECOND);
    assert_int_equal(gx_history_before(history, 2 * GALE_SECOND, 0)->time, 2 * GALE_SECOND);
    assert_int_equal(gx_history_before(history, 2 * GALE_SECOND, 10 * GALE_SECOND)->time, 0); /* the oldest there is */
    add_seconds(history, 3, 100);
    assert_int_equal(gx_history_before(history, 99 * GALE_SECOND, 10 * GALE_SECOND)->time, 89 * GALE_SECOND);
    assert_int_equal(gx_history_before(history, 99 * GALE_SECOND, 60 * GALE_SECOND)->time, 89 * GALE_SECOND);
    gx_history_free(history);
}

static void samples_are_kept_for_ten_minutes(void **state) {
    gx_history *history = gx_history_new(&parts);
    const gx_sample_part *rows;
    (void)state;
    add_seconds(history, 0, GX_HISTORY_SAMPLES);
    assert_int_equal(gx_history_count(history), GX_HISTORY_SAMPLES);
    assert_int_equal(gx_history_sample(history, 0, &rows)->time, 0);
    add_seconds(history, GX_HISTORY_SAMPLES, GX_HISTORY_SAMPLES + 7);
    assert_int_equal(gx_history_count(history), GX_HISTORY_SAMPLES);
    for (uint32_t i = 0; i < GX_HISTORY_SAMPLES; i++) {
        assert_int_equal(gx_history_sample(history, i, &rows)->trees, 10 * (i + 7));
        assert_int_equal(rows[1].executed, 20 * (i + 7));
        assert_int_equal(rows[0].executed, 0);
    }
    gx_history_free(history);
}

static void latencies_are_of_each_second(void **state) {
    gx_history *history = gx_history_new(&parts);
    uint64_t sums[GX_HISTOGRAM_BUCKETS] = { 0 };
    (void)state;
    add_acked(history, 0, sums, 1000000, 40); /* before anybody looked: of no second */
    add_acked(history, 1, sums, 0, 0);
    add_acked(history, 2, sums, 1, 50);
    add_acked(history, 3, sums, 1000, 60);
    for (size_t i = gx_histogram_bucket(30); i < GX_HISTOGRAM_BUCKETS; i++) sums[i] += 98;
    add_acked(history, 4, sums, 2, 5 * GALE_SECOND); /* 98 that took 30 ns, and two that took long */
    add_acked(history, 5, sums, 0, 0);
    add_acked(history, 6, sums, UINT32_MAX, INT64_MAX);
    static const int64_t p50[] = { -1, -1, 50, 60, 30, -1 };
    for (uint32_t i = 0; i < 6; i++) assert_int_equal(p50_of(history, i), p50[i]);
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(p99_of(history, i), p50[i]);
    assert_in_range(p99_of(history, 4), 5 * GALE_SECOND, 5 * GALE_SECOND / 32 * 33);
    assert_int_equal(p99_of(history, 5), -1);
    assert_int_equal(p99_of(history, 6), (INT64_C(1) << 62) - 1);
    gx_history_free(history);
}

/* How many calls of execute there were in a window that ends at `second`. */
static uint64_t in_window(const gx_history *history, uint32_t window, int second) {
    gx_snapshot *begin;
    assert_true(gx_history_window(history, window, second * GALE_SECOND, &begin));
    uint64_t before = begin ? begin->tasks[COUNT].executed : 0;
    gx_snapshot_free(begin);
    return 20 * (uint64_t)second - before;
}

static void a_window_has_all_of_a_run_that_is_shorter(void **state) {
    gx_history *history = gx_history_new(&parts);
    (void)state;
    add_seconds(history, 0, 601);
    assert_int_equal(in_window(history, 0, 599), 20 * 599);
    assert_int_equal(in_window(history, 1, 600), 20 * 600);
    assert_int_equal(in_window(history, GX_HISTORY_ALL, 600), 20 * 600);
    gx_history_free(history);
}

static void a_window_of_a_longer_one_is_its_last_part_in_proportion(void **state) {
    gx_history *history = gx_history_new(&parts);
    (void)state;
    add_seconds(history, 0, 11900);
    for (int second = 11900; second <= 12000; second++) {
        add_seconds(history, second, second + 1);
        uint64_t short_one = in_window(history, 0, second), long_one = in_window(history, 1, second);
        assert_in_range(short_one, 20 * 600 - 20, 20 * 600 + 20);
        assert_in_range(long_one, 20 * 10800 - 20, 20 * 10800 + 20);
    }
    assert_int_equal(in_window(history, 2, 12000), 20 * 12000);
    gx_snapshot *begin;
    assert_true(gx_history_window(history, 0, 12000 * GALE_SECOND, &begin));
    assert_in_range(begin->streams[1].emitted, 30 * 11400 - 30, 30 * 11400 + 30);
    assert_int_equal(begin->time, 11400 * GALE_SECOND);
    gx_snapshot_free(begin);
    gx_history_free(history);
}

static void the_windows_are_storms(void **state) {
    (void)state;
    assert_int_equal(gx_history_seconds(0), 600);
    assert_int_equal(gx_history_seconds(1), 10800);
    assert_int_equal(gx_history_seconds(2), 86400);
    assert_int_equal(gx_history_seconds(GX_HISTORY_ALL), 0);
}

static void a_moment_between_two_has_its_part_of_both(void **state) {
    gx_snapshot *a = snapshot_at(10), *b = snapshot_at(20), *made;
    (void)state;
    a->tasks[COUNT].executed = 100, b->tasks[COUNT].executed = 200;
    b->tasks[COUNT].queued_bytes = 7;
    b->tasks[LINES].emitted = UINT64_MAX;
    made = gx_snapshot_between(&parts, a, b, 12 * GALE_SECOND);
    assert_int_equal(made->tasks[COUNT].executed, 120);
    assert_int_equal(made->tasks[COUNT].queued_bytes, 7);
    assert_int_equal(made->time, 12 * GALE_SECOND);
    gx_snapshot_free(made);
    made = gx_snapshot_between(&parts, a, b, 5 * GALE_SECOND);
    assert_int_equal(made->tasks[COUNT].executed, 100);
    gx_snapshot_free(made);
    made = gx_snapshot_between(&parts, a, b, 30 * GALE_SECOND);
    assert_int_equal(made->tasks[COUNT].executed, 200);
    gx_snapshot_free(made);
    gx_snapshot_free(a);
    gx_snapshot_free(b);
}

static void a_components_figures_are_its_tasks_together(void **state) {
    gx_snapshot *one = snapshot_at(1);
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        one->tasks[COUNT + i].executed = 10 + i;
        one->tasks[COUNT + i].queued_bytes_max = 5 - i;
        one->tasks[COUNT + i].done = i != 1;
    }
    gale_task_stats sum = gx_snapshot_sum(one, &parts.parts[1]);
    assert_int_equal(sum.executed, 33);
    assert_int_equal(sum.queued_bytes_max, 5);
    assert_false(sum.done);
    one->failures[GX_SNAPSHOT_REASONS + GALE_REASON_TIMEOUT] = 3;
    assert_int_equal(gx_snapshot_failures(one, &parts, &parts.parts[1], GALE_REASON_TIMEOUT), 3);
    assert_string_equal(gx_snapshot_reason(GALE_REASON_TIMEOUT), "timeout");
    assert_string_equal(gx_snapshot_reason(GALE_REASON_COUNT), "user");
    gx_snapshot_free(one);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_first_there_is_nothing),
        cmocka_unit_test(of_the_last_seconds_the_one_that_is_old_enough_is_found),
        cmocka_unit_test(samples_are_kept_for_ten_minutes),
        cmocka_unit_test(latencies_are_of_each_second),
        cmocka_unit_test(a_window_has_all_of_a_run_that_is_shorter),
        cmocka_unit_test(a_window_of_a_longer_one_is_its_last_part_in_proportion),
        cmocka_unit_test(the_windows_are_storms),
        cmocka_unit_test(a_moment_between_two_has_its_part_of_both),
        cmocka_unit_test(a_components_figures_are_its_tasks_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
