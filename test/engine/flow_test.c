#include "engine/flow.h"

#include "harness/cm.h"

#include <pthread.h>
#include <sched.h>

static _Atomic(uint8_t) marks[8];

static void clear(gx_flow *flow) {
    for (int i = 0; i < 8; i++) atomic_init(&marks[i], 0);
    memset(flow, 0, sizeof *flow);
    flow->congested = marks;
}

static void a_task_without_gates_may_always_run(void **state) {
    (void)state;
    gx_flow flow;
    clear(&flow);
    gx_plan_task task = { 0 };
    for (uint16_t t = 0; t < 8; t++) gx_flow_mark(&flow, t, true);
    assert_false(gx_flow_gated(&flow, &task));
}

static void a_task_is_gated_while_any_of_its_gates_is_congested_and_by_no_other(void **state) {
    (void)state;
    static const uint16_t gates[] = { 2, 3, 6 };
    gx_plan_task task = { .gate_count = 3, .gates = gates };
    for (unsigned set = 0; set < 256; set++) {
        gx_flow flow;
        clear(&flow);
        for (uint16_t t = 0; t < 8; t++)
            if (set >> t & 1) gx_flow_mark(&flow, t, true);
        assert_int_equal(gx_flow_gated(&flow, &task), (set & (1u << 2 | 1u << 3 | 1u << 6)) != 0);
    }
}

static void who_held_it_last_is_blamed_while_congested_and_no_longer(void **state) {
    (void)state;
    static const uint16_t gates[] = { 2, 3, 6 };
    gx_plan_task task = { .gate_count = 3, .gates = gates };
    gx_flow flow;
    clear(&flow);
    assert_int_equal(gx_flow_holder(&flow, &task, 0), 0);
    assert_int_equal(gx_flow_holder(&flow, &task, 6), 0); /* it was, but nobody is any more */
    gx_flow_mark(&flow, 3, true);
    gx_flow_mark(&flow, 6, true);
    assert_int_equal(gx_flow_holder(&flow, &task, 0), 3);
    assert_int_equal(gx_flow_holder(&flow, &task, 6), 6); /* still */
    gx_flow_mark(&flow, 6, false);
    assert_int_equal(gx_flow_holder(&flow, &task, 6), 3); /* another is */
    gx_flow_mark(&flow, 2, true);
    assert_int_equal(gx_flow_holder(&flow, &task, 3), 3);
    assert_int_equal(gx_flow_holder(&flow, &task, 6), 2);
}

static void every_mark_and_every_clearing_changes_the_epoch(void **state) {
    (void)state;
    static const uint16_t gates[] = { 1 };
    gx_plan_task task = { .gate_count = 1, .gates = gates };
    gx_flow flow;
    clear(&flow);
    uint32_t epoch = gx_flow_epoch(&flow);
    gx_flow_mark(&flow, 1, true);
    assert_int_not_equal(gx_flow_epoch(&flow), epoch);
    assert_true(gx_flow_gated(&flow, &task));
    epoch = gx_flow_epoch(&flow);
    gx_flow_mark(&flow, 1, false);
    assert_int_not_equal(gx_flow_epoch(&flow), epoch);
    assert_false(gx_flow_gated(&flow, &task));
}

enum { ROUNDS = 20000 };

/* Marks the tasks in turn: the n-th epoch comes with the first n marks. */
static void *mark_all(void *user) {
    gx_flow *flow = user;
    for (uint32_t i = 1; i <= ROUNDS; i++) gx_flow_mark(flow, (uint16_t)(i % 8), true);
    return NULL;
}

static void who_sees_an_epoch_sees_the_marks_that_made_it(void **state) {
    (void)state;
    gx_flow flow;
    clear(&flow);
    pthread_t marker;
    assert_int_equal(pthread_create(&marker, NULL, mark_all, &flow), 0);
    uint32_t epoch;
    bool missing = false;
    while ((epoch = gx_flow_epoch(&flow)) < ROUNDS) {
        for (uint32_t i = 1; i <= epoch && i <= 8; i++) missing |= !gx_load_relaxed(&marks[i % 8]);
        sched_yield();
    }
    pthread_join(marker, NULL);
    assert_false(missing);
}

/* --- Effort --- */

static void a_step_that_takes_long_is_heavy_however_much_it_does(void **state) {
    (void)state;
    gx_effort effort = { NULL, false };
    gx_effort_measure(&effort, GX_EFFORT_STEP, 100000);
    assert_false(effort.heavy);
    gx_effort_measure(&effort, GX_EFFORT_STEP + 1, 100000);
    assert_true(effort.heavy);
}

static void few_things_that_take_long_are_heavy_too(void **state) {
    (void)state;
    gx_effort effort = { NULL, false };
    gx_effort_measure(&effort, 10 * GX_EFFORT_EACH, 10);
    assert_false(effort.heavy);
    gx_effort_measure(&effort, 10 * GX_EFFORT_EACH + 1, 10);
    assert_true(effort.heavy);
}

static void heavy_work_is_light_again_at_half(void **state) {
    (void)state;
    gx_effort effort = { NULL, true };
    gx_effort_measure(&effort, GX_EFFORT_STEP / 2 + 1, 100000);
    assert_true(effort.heavy);
    gx_effort_measure(&effort, 10 * GX_EFFORT_EACH / 2 + 1, 10);
    assert_true(effort.heavy);
    gx_effort_measure(&effort, 10 * GX_EFFORT_EACH / 2, 10);
    assert_false(effort.heavy);
    effort.heavy = true;
    gx_effort_measure(&effort, GX_EFFORT_STEP / 2, 100000);
    assert_false(effort.heavy);
}

static void a_clock_that_stands_makes_all_work_light(void **state) {
    (void)state;
    gx_effort effort = { NULL, true };
    gx_effort_measure(&effort, 0, 1);
    assert_false(effort.heavy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_without_gates_may_always_run),
        cmocka_unit_test(a_task_is_gated_while_any_of_its_gates_is_congested_and_by_no_other),
        cmocka_unit_test(who_held_it_last_is_blamed_while_congested_and_no_longer),
        cmocka_unit_test(every_mark_and_every_clearing_changes_the_epoch),
        cmocka_unit_test(who_sees_an_epoch_sees_the_marks_that_made_it),
        cmocka_unit_test(a_step_that_takes_long_is_heavy_however_much_it_does),
        cmocka_unit_test(few_things_that_take_long_are_heavy_too),
        cmocka_unit_test(heavy_work_is_light_again_at_half),
        cmocka_unit_test(a_clock_that_stands_makes_all_work_light),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
