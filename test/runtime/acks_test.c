#include "engine/acks.h"

#include "runtime/rig.h"
#include "runtime/runtime.h"

#include <string.h>

/* A spout, whose one tuple a bolt forgets: its tree is open, and failures of it may come through the ack ring. */
typedef struct fixture {
    rig r;
    rig_spout s;
    rig_bolt b;
    gx_executor *ex;
    uint64_t root;
    gx_inlet inlet;
} fixture;

static fixture *setup(void) {
    static fixture f;
    memset(&f, 0, sizeof f);
    rig_init(&f.r);
    f.s.to_emit = 1;
    f.b.on = rig_take;
    assert_int_equal(gale_topology_add_spout(f.r.topology, "s", rig_spout_of(&f.s), 1), GALE_OK);
    assert_int_equal(gale_topology_add_bolt(f.r.topology, "b", rig_manual(&f.b), 1), GALE_OK);
    assert_int_equal(gale_topology_subscribe(f.r.topology, "b", "s", NULL, gale_shuffle()), GALE_OK);
    rig_make(&f.r, 1);
    rig_settle(&f.r);
    f.ex = f.r.runtime->shared.executors[0];
    assert_int_equal(gx_ledger_counters(&f.ex->ledger).open, 1);
    f.root = gx_ledger_root(&f.ex->ledger, 0);
    return &f;
}

static void fail_at(fixture *f, uint64_t task, uint32_t reason) {
    uint64_t mark = (uint64_t)GX_LEDGERS_MAX << GX_LEDGER_SHIFT, kind = (uint64_t)GX_NOTICE_FAIL << 48;
    uint64_t first[] = { mark | kind | task << 32 | reason, f->root }, second[] = { 0, 0 };
    gx_acks_receive(f->ex, &f->inlet, first);
    assert_int_equal(f->s.fails, 0);
    gx_acks_receive(f->ex, &f->inlet, second);
    rig_settle(&f->r);
    assert_int_equal(f->s.fails, 1);
    assert_int_equal((uint32_t)f->s.last_failure.reason, reason);
}

static void a_failure_names_the_task_that_it_comes_from(void **state) {
    (void)state;
    fixture *f = setup();
    uint32_t task = rig_task_number(&f->r, "b", 0);
    fail_at(f, task, GALE_REASON_FAILED);
    assert_int_equal(f->s.last_failure.task, task);
    assert_string_equal(f->s.last_component, "b");
    assert_int_equal(gale_runtime_failures(f->r.runtime, "b", GALE_REASON_FAILED), 1);
    rig_fini(&f->r);
}

static void a_failure_from_a_task_that_is_not_in_the_plan_has_no_place(void **state) {
    (void)state;
    static const uint64_t tasks[] = { 0, 3, 0xffff };
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        fixture *f = setup();
        fail_at(f, tasks[i], GALE_REASON_FAILED);
        assert_int_equal(f->s.last_failure.task, 0);
        assert_string_equal(f->s.last_component, "");
        assert_int_equal(gale_runtime_failures(f->r.runtime, NULL, GALE_REASON_FAILED), 1);
        rig_fini(&f->r);
    }
}

static void a_reason_that_there_is_not_is_counted_among_the_applications_own(void **state) {
    (void)state;
    fixture *f = setup();
    fail_at(f, rig_task_number(&f->r, "b", 0), UINT32_MAX);
    assert_int_equal(gale_runtime_failures(f->r.runtime, "b", GALE_REASON_USER), 1);
    rig_fini(&f->r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_names_the_task_that_it_comes_from),
        cmocka_unit_test(a_failure_from_a_task_that_is_not_in_the_plan_has_no_place),
        cmocka_unit_test(a_reason_that_there_is_not_is_counted_among_the_applications_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
