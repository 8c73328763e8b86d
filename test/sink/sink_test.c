/* The task of a sink, without a system: what it is as it is, and in a durable run. */
#include "harness/fake_saver.h"
#include "sink/sink.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

/* A sink, and the system that it stands before: what is made of the settings, and freed. */
typedef struct sink {
    sink_task task; /* first */
    fake_collector fake;
    fake_saver saver;
    uint64_t drives;
} sink;

typedef struct settings {
    bool out_of_memory;
    char id[SINK_ID_MAX];
    uint64_t made, freed, commits, rows;
} settings;

static void *make(const void *given_, const char *id) {
    settings *given = (settings *)(uintptr_t)given_;
    if (given->out_of_memory) return NULL;
    snprintf(given->id, sizeof given->id, "%s", id);
    given->made++;
    return given;
}

static void release(void *once) {
    ((settings *)once)->freed++;
}

static int commit(void *once, gale_epoch *epoch, gale_error *error) {
    settings *given = once;
    (void)error;
    given->commits++;
    given->rows += gale_epoch_count(epoch);
    return 0;
}

static const sink_once once = { make, release, commit, NULL };

static int setup(void **state) {
    sink *s = test_calloc(1, sizeof *s);
    fake_init(&s->fake);
    fake_saver_init(&s->saver, &s->fake);
    s->fake.holds = true;
    *state = s;
    return 0;
}

static int teardown(void **state) {
    sink *s = *state;
    fake_saver_fini(&s->saver);
    fake_fini(&s->fake);
    test_free(s);
    return 0;
}

static int begin(sink *s, settings *given, bool durable) {
    s->fake.context.durable = durable;
    return sink_task_open(&s->task, &s->fake.context, &s->fake.collector, 1000, 0, &once, given, NULL);
}

static void drive(void *self) {
    ((sink *)self)->drives++;
    gale_manual_clock_advance(((sink *)self)->fake.clock, GALE_SECOND);
}

static void as_it_is_a_tuple_is_answered_when_the_system_has_it_or_refuses_it(void **state) {
    sink *s = *state;
    settings given = { .made = 0 };
    uint64_t id;
    assert_int_equal(begin(s, &given, false), 0);
    assert_int_equal(gale_dispatch_hold(s->task.dispatch, fake_tuple_text(&s->fake, "a"), 1, &id), 0);
    sink_be_taken(s, id);
    assert_int_equal(s->fake.acks, 1);
    assert_int_equal(gale_dispatch_hold(s->task.dispatch, fake_tuple_text(&s->fake, "b"), 1, &id), 0);
    sink_be_refused(s, id, "a column is too short");
    assert_int_equal(s->fake.fails, 1);
    assert_string_equal(s->fake.fail_text, "a column is too short");
    assert_int_equal(given.made, 0);
    sink_task_close(&s->task);
}

static void as_it_is_its_end_waits_for_answers(void **state) {
    sink *s = *state;
    settings given = { .made = 0 };
    uint64_t id;
    assert_int_equal(begin(s, &given, false), 0);
    assert_int_equal(sink_finish(&s->task, 3 * GALE_SECOND, "there", "taken", drive), 0);
    assert_int_equal(s->drives, 0);
    assert_int_equal(gale_dispatch_hold(s->task.dispatch, fake_tuple_text(&s->fake, "a"), 1, &id), 0);
    assert_int_equal(sink_finish(&s->task, 3 * GALE_SECOND, "there", "taken", drive), GALE_IO);
    assert_int_equal(s->drives, 3);
    sink_task_close(&s->task);
}

static void in_a_durable_run_a_tuple_is_acked_when_its_row_is_kept_and_commits_are_of_a_marker_by_name(void **state) {
    sink *s = *state;
    settings given = { .made = 0 };
    gale_value row = gale_text("a");
    s->fake.context.task_index = 3;
    assert_int_equal(begin(s, &given, true), 0);
    assert_string_equal(given.id, "test/subject/3");
    assert_int_equal(sink_take_once(&s->task, fake_tuple_text(&s->fake, "a"), &s->fake.collector, &row, 1), 0);
    assert_int_equal(s->fake.acks, 1);
    assert_int_equal(fake_save(&s->saver, &sink_durable, s), 0);
    assert_int_equal(given.rows, 0);
    assert_int_equal(fake_commit_pledges(&s->saver), 0);
    fake_drop_pledges(&s->saver);
    sink_durable.committed(s, s->saver.checkpoint);
    assert_int_equal(given.commits, 1);
    assert_int_equal(given.rows, 1);
    assert_int_equal(sink_finish(&s->task, 3 * GALE_SECOND, "there", "taken", drive), 0);
    assert_int_equal(s->drives, 0);
    sink_task_close(&s->task);
    assert_int_equal(given.freed, 1);
}

static void in_a_durable_run_a_row_that_finds_no_memory_is_not_acked(void **state) {
    sink *s = *state;
    settings given = { .made = 0 };
    gale_value row = gale_text("a");
    assert_int_equal(begin(s, &given, true), 0);
    s->fake.fail_at = s->fake.allocations + 1;
    assert_int_equal(sink_take_once(&s->task, fake_tuple_text(&s->fake, "a"), &s->fake.collector, &row, 1),
                     GALE_NO_MEMORY);
    assert_int_equal(s->fake.acks, 0);
    sink_task_close(&s->task);
}

static void what_cannot_be_made_is_said_and_nothing_stays(void **state) {
    sink *s = *state;
    settings given = { .out_of_memory = true };
    assert_int_equal(begin(s, &given, true), GALE_NO_MEMORY);
    sink_task_close(&s->task);
    given.out_of_memory = false;
    for (int durable = 0; durable < 2; durable++) {
        uint64_t n = 0;
        int rc;
        do {
            s->task = (sink_task){ .context = NULL };
            s->fake.fail_at = s->fake.allocations + ++n;
            rc = begin(s, &given, durable);
            s->fake.fail_at = 0;
            sink_task_close(&s->task);
        } while (rc == GALE_NO_MEMORY);
        assert_int_equal(rc, 0);
        assert_in_range(n, 2, 20);
    }
    assert_int_equal(given.made, given.freed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(as_it_is_a_tuple_is_answered_when_the_system_has_it_or_refuses_it, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(as_it_is_its_end_waits_for_answers, setup, teardown),
        cmocka_unit_test_setup_teardown(
            in_a_durable_run_a_tuple_is_acked_when_its_row_is_kept_and_commits_are_of_a_marker_by_name, setup,
            teardown),
        cmocka_unit_test_setup_teardown(in_a_durable_run_a_row_that_finds_no_memory_is_not_acked, setup, teardown),
        cmocka_unit_test_setup_teardown(what_cannot_be_made_is_said_and_nothing_stays, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
