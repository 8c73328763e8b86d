/* What hurts, in sentences; and health. */
#include "serve/hurts.h"

#include "serve/healthy.h"
#include "serve/snapshots.h"

#include "harness/cm.h"

#include <stdio.h>
#include <string.h>

typedef struct pair {
    gx_snapshot *before, *now; /* ten seconds apart */
    gx_hurts hurts;
} pair;

static int setup(void **state) {
    pair *p = calloc(1, sizeof *p);
    p->before = snapshot_at(100);
    p->now = snapshot_at(110);
    *state = p;
    return 0;
}

static int teardown(void **state) {
    pair *p = *state;
    gx_snapshot_free(p->before);
    gx_snapshot_free(p->now);
    free(p);
    return 0;
}

static void find(pair *p) {
    gx_hurts_find(&parts, p->before, p->now, &p->hurts);
}

static void assert_only(pair *p, gx_hurt_level level, const char *text) {
    find(p);
    assert_int_equal(p->hurts.count, 1);
    assert_string_equal(p->hurts.list[0].text, text);
    assert_int_equal(p->hurts.list[0].level, level);
}

static void what_does_well_hurts_nobody(void **state) {
    pair *p = *state;
    p->now->tasks[LINES].emitted = p->now->tasks[COUNT].executed = 1000000;
    find(p);
    assert_int_equal(p->hurts.count, 0);
    gx_hurts_find(&parts, NULL, p->now, &p->hurts);
    assert_int_equal(p->hurts.count, 0);
    gx_hurts_find(&parts, p->now, p->now, &p->hurts);
    assert_int_equal(p->hurts.count, 0);
}

static void a_spout_that_is_held_says_by_whom_and_why(void **state) {
    pair *p = *state;
    p->before->tasks[LINES].held_nanoseconds = 5 * GALE_SECOND; /* long ago */
    p->now->tasks[LINES].held_nanoseconds = 5 * GALE_SECOND + 7100 * GALE_MILLISECOND;
    p->now->tasks[LINES].held_by = 4;
    p->now->tasks[COUNT + 2].execute_samples = 10;
    p->now->tasks[COUNT + 2].execute_nanoseconds = 21 * GALE_MILLISECOND;
    p->now->tasks[COUNT + 2].queued_bytes = 256 * 1024;
    assert_only(p, GX_HURT_BAD, "spout lines is held 71 % by count[2]: 2.1 ms a tuple, queue 256 KiB");
    assert_int_equal(p->hurts.list[0].task, 4);
    p->now->tasks[COUNT + 2].execute_samples = 0;
    assert_only(p, GX_HURT_BAD, "spout lines is held 71 % by count[2]: queue 256 KiB");
    p->now->tasks[COUNT + 2].queued_bytes = 0;
    assert_only(p, GX_HURT_BAD, "spout lines is held 71 % by count[2]");
    p->now->tasks[LINES].held_nanoseconds = 5 * GALE_SECOND + 2 * GALE_SECOND;
    assert_only(p, GX_HURT_WARN, "spout lines is held 20 % by count[2]");
    p->now->tasks[LINES].held_by = 0; /* not now; it was mostly this one */
    p->now->tasks[LINES].held_mostly_by = 3;
    p->now->tasks[LINES].held_nanoseconds = 5 * GALE_SECOND + 500 * GALE_MILLISECOND;
    assert_only(p, GX_HURT_NOTE, "spout lines is held 5 % by count[1]");
    p->now->tasks[LINES].held_mostly_by = 99;
    assert_only(p, GX_HURT_NOTE, "spout lines is held 5 % by flow control");
    p->now->tasks[LINES].hold = GALE_HOLD_FLOW; /* its first hold goes on */
    p->now->tasks[LINES].hold_by = 4;
    assert_only(p, GX_HURT_NOTE, "spout lines is held 5 % by count[2]");
    p->now->tasks[LINES].held_nanoseconds = 5 * GALE_SECOND + 50 * GALE_MILLISECOND;
    find(p);
    assert_int_equal(p->hurts.count, 0); /* less than one percent */
}

static void a_call_that_does_not_come_back_is_told_before_all_else(void **state) {
    pair *p = *state;
    p->now->executors = calloc(2, sizeof *p->now->executors);
    p->now->executor_count = 2;
    p->now->runtime_time = 100 * GALE_SECOND;
    p->now->executors[1] = (gale_executor_stats){ .tasks = 1, .in_call = 3, .in_call_since = 99 * GALE_SECOND };
    find(p);
    assert_int_equal(p->hurts.count, 0); /* not long */
    p->now->executors[1].in_call_since = 66 * GALE_SECOND;
    assert_only(p, GX_HURT_BAD, "count[1] has been in one call for 34 s");
    assert_int_equal(p->hurts.list[0].task, 3);
    assert_string_equal(p->hurts.list[0].component, "count");
    p->now->executors[1].tasks = 3;
    assert_only(p, GX_HURT_BAD, "count[1] has been in one call for 34 s; 2 tasks of its executor wait");
    p->now->tasks[LINES].held_nanoseconds = 10 * GALE_SECOND;
    p->now->tasks[LINES].held_by = 3;
    find(p);
    assert_int_equal(p->hurts.count, 2);
    assert_string_equal(p->hurts.list[0].component, "count");
    p->now->executors[1].in_call = 99; /* nobody knows it */
    find(p);
    assert_int_equal(p->hurts.count, 1);
}

static void a_bolt_that_may_block_hurts_when_a_spout_is_held_meanwhile(void **state) {
    pair *p = *state;
    gale_config *config = gale_config_new();
    assert_int_equal(gale_config_set_text(config, "gale.blocking=true", NULL), GALE_OK);
    gx_component built = { .config = config };
    made_parts[1].built = &built;
    p->now->executors = calloc(1, sizeof *p->now->executors);
    p->now->executor_count = 1;
    p->now->runtime_time = 100 * GALE_SECOND;
    p->now->executors[0] = (gale_executor_stats){ .tasks = 1, .in_call = 3, .in_call_since = 66 * GALE_SECOND };
    find(p);
    assert_int_equal(p->hurts.count, 0);
    p->now->tasks[LINES].hold = GALE_HOLD_FLOW;
    assert_only(p, GX_HURT_BAD, "count[1] has been in one call for 34 s");
    made_parts[1].built = NULL;
    gale_config_free(config);
}

static void a_holder_that_is_held_itself_is_not_the_one_that_is_told(void **state) {
    pair *p = *state;
    p->now->tasks[LINES].held_nanoseconds = 6 * GALE_SECOND;
    p->now->tasks[LINES].held_by = 2;
    p->now->tasks[COUNT].held_by = 4;
    assert_only(p, GX_HURT_BAD, "spout lines is held 60 % by count[2]");
    assert_int_equal(p->hurts.list[0].task, 4);
    p->now->tasks[COUNT + 2].held_by = 2; /* a cycle ends */
    find(p);
    assert_int_equal(p->hurts.count, 1);
}

static void a_spout_that_waits_for_answers(void **state) {
    pair *p = *state;
    p->now->tasks[LINES].pending_nanoseconds = 4 * GALE_SECOND;
    p->now->tasks[LINES].pending_limit = 1000;
    assert_only(p, GX_HURT_NOTE, "spout lines waits for answers 40 % of the time: 1000 of 1000 pending");
    p->now->tasks[LINES].pending_nanoseconds = 40 * GALE_SECOND; /* clocks are not that exact */
    assert_only(p, GX_HURT_WARN, "spout lines waits for answers 100 % of the time: 1000 of 1000 pending");
}

static void a_bolt_that_has_no_time_left(void **state) {
    pair *p = *state;
    gale_task_stats *bolt = &p->now->tasks[COUNT];
    bolt->executed = 9700;
    bolt->execute_samples = 100;
    bolt->execute_nanoseconds = 100 * GALE_MILLISECOND;
    assert_only(p, GX_HURT_WARN, "count[0] is busy 97 % of the time: 1.0 ms a tuple");
    bolt->executed = 8500;
    assert_only(p, GX_HURT_NOTE, "count[0] is busy 85 % of the time: 1.0 ms a tuple");
    bolt->executed = 7000;
    find(p);
    assert_int_equal(p->hurts.count, 0);
    assert_float_equal(gx_hurts_capacity(&parts.parts[1], p->before, p->now), 0.7, 1e-9);
    assert_float_equal(gx_hurts_capacity(&parts.parts[1], NULL, p->now), 0, 0);
}

static void what_is_lost_is_told_with_its_number(void **state) {
    pair *p = *state;
    const struct {
        size_t offset;
        const char *text;
        gx_hurt_level level;
    } rows[] = {
        { offsetof(gale_task_stats, shed), "3 of no tree lost at the full queue of count, in the last 10 s",
          GX_HURT_BAD },
        { offsetof(gale_task_stats, overflowed), "3 failed at the full queue of count, in the last 10 s", GX_HURT_BAD },
        { offsetof(gale_task_stats, errors), "3 errors reported by count, in the last 10 s", GX_HURT_WARN },
        { offsetof(gale_task_stats, expired), "3 over their deadline at count, not executed, in the last 10 s",
          GX_HURT_WARN },
        { offsetof(gale_task_stats, forgotten), "3 neither answered nor held by count: they time out, in the last 10 s",
          GX_HURT_WARN },
        { offsetof(gale_task_stats, misused),
          "3 answers or emits of count without effect: they came too late, in the last 10 s", GX_HURT_WARN },
        { offsetof(gale_task_stats, dropped), "3 dropped at count, as its inputs say, in the last 10 s", GX_HURT_NOTE },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t *count = (uint64_t *)((char *)&p->now->tasks[COUNT + 1] + rows[i].offset);
        *count = 3;
        assert_only(p, rows[i].level, rows[i].text);
        *count = 0;
    }
}

static void failures_are_told_by_reason_but_for_the_runs_own_end(void **state) {
    pair *p = *state;
    p->now->failures[GX_SNAPSHOT_REASONS + GALE_REASON_STOPPED] = 9;
    p->now->failures[GX_SNAPSHOT_REASONS + GALE_REASON_TIMEOUT] = 1;
    assert_only(p, GX_HURT_WARN, "1 tree failed at count (timeout), in the last 10 s");
}

static void dead_letters_are_told_and_worse_if_lost(void **state) {
    pair *p = *state;
    p->now->run.dead_letters = 2;
    assert_only(p, GX_HURT_WARN, "2 dead letters, in the last 10 s");
    p->now->run.dead_letters_lost = 1;
    find(p);
    assert_string_equal(p->hurts.list[0].text, "1 dead letter lost, in the last 10 s");
}

static void make_unwell(pair *p, bool open) {
    p->now->unwell = calloc(1, sizeof *p->now->unwell);
    p->now->unwell_count = 1;
    p->now->unwell[0] = (gale_unwell){ .component = "lines", .task = 1, .open = open, .since = 98 * GALE_SECOND };
    snprintf(p->now->unwell[0].text, sizeof p->now->unwell[0].text, "the server is away");
}

static void who_is_not_well_comes_first(void **state) {
    pair *p = *state;
    make_unwell(p, true);
    p->now->tasks[COUNT].errors = 3;
    p->now->tasks[COUNT].shed = 3;
    p->now->tasks[COUNT].dropped = 3;
    find(p);
    assert_int_equal(p->hurts.count, 4);
    assert_string_equal(p->hurts.list[0].text, "lines is unhealthy: the server is away");
    assert_int_equal(p->hurts.list[1].level, GX_HURT_BAD);
    assert_int_equal(p->hurts.list[2].level, GX_HURT_WARN);
    assert_int_equal(p->hurts.list[3].level, GX_HURT_NOTE);
}

static void tasks_that_are_unhealthy_for_one_reason_are_one_problem(void **state) {
    pair *p = *state;
    p->now->unwell = calloc(3, sizeof *p->now->unwell);
    p->now->unwell_count = 3;
    for (uint32_t i = 0; i < 3; i++) {
        p->now->unwell[i] = (gale_unwell){
            .component = "count", .task = 2 + i, .open = true, .since = 98 * GALE_SECOND
        };
        snprintf(p->now->unwell[i].text, sizeof p->now->unwell[i].text, "no answer after %u ms", 5000 + i);
    }
    assert_only(p, GX_HURT_BAD, "count is unhealthy (3 of 3 tasks): no answer after 5000 ms");
    assert_int_equal(p->hurts.list[0].since, 12 * GALE_SECOND);
    snprintf(p->now->unwell[1].text, sizeof p->now->unwell[1].text, "refused");
    find(p);
    assert_int_equal(p->hurts.count, 2);
    assert_string_equal(p->hurts.list[1].text, "count[1] is unhealthy: refused");
    p->now->unwell[1].open = false; /* another problem, whatever it says */
    find(p);
    assert_string_equal(p->hurts.list[1].text, "count[1] is not open: refused");
}

/* However many lines the spout has logged of it. */
static void where_trees_failed_stands_before_what_their_spout_reports(void **state) {
    pair *p = *state;
    p->now->failures[GX_SNAPSHOT_REASONS + GALE_REASON_REJECTED] = 3;
    p->now->tasks[LINES].errors = 3154;
    p->now->tasks[COUNT].errors = 2;
    p->now->run.dead_letters = 3000;
    find(p);
    assert_int_equal(p->hurts.count, 4);
    assert_string_equal(p->hurts.list[0].text, "3 trees failed at count (rejected), in the last 10 s");
    assert_string_equal(p->hurts.list[1].text, "2 errors reported by count, in the last 10 s");
    assert_string_equal(p->hurts.list[2].text, "3000 dead letters, in the last 10 s");
    assert_string_equal(p->hurts.list[3].text, "3154 errors reported by lines, in the last 10 s");
}

static void there_are_so_many_and_the_least_bad_are_left_out(void **state) {
    pair *p = *state;
    p->now->unwell = calloc(GX_HURTS_MAX + 5, sizeof *p->now->unwell);
    p->now->unwell_count = GX_HURTS_MAX + 5;
    for (uint32_t i = 0; i < p->now->unwell_count; i++)
        p->now->unwell[i] = (gale_unwell){ .component = "count", .task = 2, .text = { (char)('a' + i) } };
    p->now->tasks[COUNT].errors = 3;
    find(p);
    assert_int_equal(p->hurts.count, GX_HURTS_MAX);
    for (uint32_t i = 0; i < GX_HURTS_MAX; i++) assert_int_equal(p->hurts.list[i].level, GX_HURT_BAD);
}

/* --- Health -------------------------------------------------------------------------------------------------------- */

static void assert_health(pair *p, bool live, bool ready, const char *text) {
    gx_healthy healthy;
    gx_healthy_look(&parts, p->now, GALE_SECOND, false, &healthy);
    assert_int_equal(healthy.live, live);
    assert_int_equal(healthy.ready, ready);
    assert_int_equal(healthy.count, text != NULL);
    if (text) assert_string_equal(healthy.problems[0].text, text);
}

static void what_runs_and_is_well_is_healthy(void **state) {
    assert_health(*state, true, true, NULL);
}

static void what_does_not_run_is_not_ready(void **state) {
    pair *p = *state;
    p->now->run.phase = GALE_PHASE_OPENING;
    assert_health(p, true, false, "the topology is opening, and not running");
    p->now->run.phase = GALE_PHASE_CLOSED;
    assert_health(p, false, false, "the topology is closed, and not running");
}

static void a_source_that_is_down_is_not_ready_and_alive(void **state) {
    pair *p = *state;
    make_unwell(p, false);
    assert_health(p, true, false, "lines[0] is not open: the server is away");
    gx_healthy healthy;
    gx_healthy_look(&parts, p->now, GALE_SECOND, false, &healthy);
    assert_int_equal(healthy.problems[0].since, 12 * GALE_SECOND);
}

static void one_that_was_told_to_pause_is_not_ready_and_well(void **state) {
    pair *p = *state;
    gx_healthy healthy;
    gx_healthy_look(&parts, p->now, GALE_SECOND, true, &healthy);
    assert_true(healthy.live && healthy.well && !healthy.ready);
    assert_string_equal(healthy.problems[0].text, "spouts were told to pause; gale activate lets them go on");
    make_unwell(p, false);
    gx_healthy_look(&parts, p->now, GALE_SECOND, true, &healthy);
    assert_false(healthy.well);
    assert_int_equal(healthy.count, 2);
}

static void be_in_call(pair *p, int64_t seconds) {
    free(p->now->executors);
    p->now->executors = calloc(1, sizeof *p->now->executors);
    p->now->executor_count = 1;
    p->now->runtime_time = 1000 * GALE_SECOND;
    p->now->executors[0] = (gale_executor_stats){ .in_call = 1, .in_call_since = (1000 - seconds) * GALE_SECOND };
}

static void a_stuck_call_is_neither_alive_nor_ready(void **state) {
    pair *p = *state;
    be_in_call(p, 30);
    assert_health(p, true, true, NULL);
    be_in_call(p, 31);
    assert_health(p, false, false, "lines[0] has been in one call for 31 s: all tasks of executor 0 wait for it");
}

static void a_checkpoint_is_late_after_ten_intervals(void **state) {
    pair *p = *state;
    p->now->durable = true;
    p->now->checkpoint.count = 3;
    p->now->checkpoint.wall = 81 * GALE_SECOND;
    assert_health(p, true, true, NULL);
    p->now->checkpoint.wall = 79 * GALE_SECOND;
    assert_health(p, false, false, "no checkpoint for 31 s; one is due every 1.0 s");
    p->now->checkpoint.count = 0; /* none in this run, which has just begun */
    p->now->run.elapsed = GALE_SECOND;
    assert_health(p, true, true, NULL);
    p->now->durable = false;
    p->now->run.elapsed = 1000 * GALE_SECOND;
    assert_health(p, true, true, NULL);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(what_does_well_hurts_nobody),
        CASE(a_spout_that_is_held_says_by_whom_and_why),
        CASE(a_call_that_does_not_come_back_is_told_before_all_else),
        CASE(a_bolt_that_may_block_hurts_when_a_spout_is_held_meanwhile),
        CASE(a_holder_that_is_held_itself_is_not_the_one_that_is_told),
        CASE(a_spout_that_waits_for_answers),
        CASE(a_bolt_that_has_no_time_left),
        CASE(what_is_lost_is_told_with_its_number),
        CASE(failures_are_told_by_reason_but_for_the_runs_own_end),
        CASE(dead_letters_are_told_and_worse_if_lost),
        CASE(who_is_not_well_comes_first),
        CASE(tasks_that_are_unhealthy_for_one_reason_are_one_problem),
        CASE(where_trees_failed_stands_before_what_their_spout_reports),
        CASE(there_are_so_many_and_the_least_bad_are_left_out),
        CASE(what_runs_and_is_well_is_healthy),
        CASE(what_does_not_run_is_not_ready),
        CASE(a_source_that_is_down_is_not_ready_and_alive),
        CASE(one_that_was_told_to_pause_is_not_ready_and_well),
        CASE(a_stuck_call_is_neither_alive_nor_ready),
        CASE(a_checkpoint_is_late_after_ten_intervals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
