#include "harness/fake_saver.h"

#include <gale/connect.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

typedef struct fixture {
    fake_collector fake;
    gale_dispatch *dispatch;
} fixture;

static int setup(void **state) {
    gale_dispatch_options options = GALE_DISPATCH_OPTIONS_INIT;
    fixture *f = test_calloc(1, sizeof *f);
    fake_init(&f->fake);
    f->fake.holds = true;
    options.memory = 100;
    options.most = 4;
    assert_int_equal(gale_dispatch_new(&f->fake.context, &f->fake.collector, &options, &f->dispatch, NULL), 0);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    gale_dispatch_free(f->dispatch);
    fake_fini(&f->fake);
    test_free(f);
    return 0;
}

static uint64_t hold(fixture *f, size_t bytes) {
    uint64_t id = 0;
    assert_int_equal(gale_dispatch_hold(f->dispatch, fake_tuple_text(&f->fake, "a"), bytes, &id), 0);
    assert_int_not_equal(id, 0);
    return id;
}

static void a_tuple_is_held_until_it_is_answered(void **state) {
    fixture *f = *state;
    uint64_t id = hold(f, 1);
    assert_int_equal(gale_dispatch_count(f->dispatch), 1);
    assert_ptr_equal(gale_dispatch_tuple(f->dispatch, id), &f->fake.tuple);
    assert_int_equal(f->fake.acks, 0);
    assert_int_equal(gale_dispatch_ack(f->dispatch, id), 0);
    assert_int_equal(f->fake.acks, 1);
    assert_int_equal(gale_dispatch_count(f->dispatch), 0);
    assert_null(gale_dispatch_tuple(f->dispatch, id));
}

/* What moves, and how, when the end is waited for. */
typedef struct ending {
    fixture *f;
    uint64_t ids[4];
    uint32_t drives, answered;
    uint32_t every; /* so many drives to an answer; 0: none comes */
} ending;

static void drive(void *user) {
    ending *e = user;
    gale_manual_clock_advance(e->f->fake.clock, GALE_SECOND);
    if (e->every && ++e->drives % e->every == 0)
        assert_int_equal(gale_dispatch_ack(e->f->dispatch, e->ids[e->answered++]), 0);
}

static int finish(ending *e, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) e->ids[i] = hold(e->f, 1);
    return gale_dispatch_finish(e->f->dispatch, 3 * GALE_SECOND, "there", "taken", drive, e);
}

static void an_end_waits_as_long_as_something_moves(void **state) {
    ending e = { .f = *state, .every = 3 };
    assert_int_equal(finish(&e, 4), 0);
    assert_int_equal(e.answered, 4);
    assert_int_equal(e.drives, 12);
    assert_int_equal(finish(&e, 0), 0);
    assert_int_equal(e.drives, 12);
    assert_int_equal(gale_dispatch_finish(NULL, 3 * GALE_SECOND, "there", "taken", drive, &e), 0);
}

static void what_an_end_has_waited_for_in_vain_is_reported(void **state) {
    ending e = { .f = *state, .every = 4 };
    assert_int_equal(finish(&e, 2), GALE_IO);
    assert_string_equal(gx_buf_text(&e.f->fake.reports), "there: 2 tuples were not taken within 3 s (finishWait)\n");
    assert_int_equal(gale_dispatch_ack(e.f->dispatch, e.ids[0]), 0);
    gx_buf_reset(&e.f->fake.reports);
    e.every = 0;
    assert_int_equal(finish(&e, 0), GALE_IO);
    assert_string_equal(gx_buf_text(&e.f->fake.reports), "there: 1 tuple was not taken within 3 s (finishWait)\n");
    assert_int_equal(gale_dispatch_finish(e.f->dispatch, 1, NULL, "taken", drive, &e), GALE_INVALID);
}

static void one_that_was_answered_names_nothing_any_more(void **state) {
    fixture *f = *state;
    uint64_t first = hold(f, 1);
    assert_int_equal(gale_dispatch_fail(f->dispatch, first, GALE_REASON_FAILED, "no"), 0);
    uint64_t second = hold(f, 1);
    assert_int_not_equal(first, second);
    assert_int_equal(gale_dispatch_ack(f->dispatch, first), GALE_NOT_FOUND);
    assert_int_equal(gale_dispatch_fail(f->dispatch, first, GALE_REASON_FAILED, NULL), GALE_NOT_FOUND);
    assert_int_equal(gale_dispatch_ack(f->dispatch, 0), GALE_NOT_FOUND);
    assert_int_equal(gale_dispatch_ack(f->dispatch, UINT64_MAX), GALE_NOT_FOUND);
    assert_int_equal(f->fake.acks, 0);
    assert_int_equal(f->fake.fails, 1);
    assert_int_equal(gale_dispatch_count(f->dispatch), 1);
}

static void who_feeds_it_waits_while_it_has_enough_bytes(void **state) {
    fixture *f = *state;
    uint64_t a = hold(f, 60);
    assert_false(f->fake.congested);
    uint64_t b = hold(f, 40);
    assert_true(f->fake.congested);
    assert_int_equal(gale_dispatch_ack(f->dispatch, b), 0);
    assert_true(f->fake.congested);
    assert_int_equal(gale_dispatch_ack(f->dispatch, a), 0);
    assert_false(f->fake.congested);
}

static void who_feeds_it_waits_while_it_has_enough_tuples(void **state) {
    fixture *f = *state;
    uint64_t ids[4];
    for (size_t i = 0; i < 4; i++) {
        assert_false(f->fake.congested);
        ids[i] = hold(f, 0);
    }
    assert_true(f->fake.congested);
    for (size_t i = 0; i < 2; i++) assert_int_equal(gale_dispatch_ack(f->dispatch, ids[i]), 0);
    assert_true(f->fake.congested);
    assert_int_equal(gale_dispatch_ack(f->dispatch, ids[2]), 0);
    assert_false(f->fake.congested);
}

static uint64_t hold_sent(fixture *f) {
    uint64_t id = hold(f, 1);
    assert_true(gale_dispatch_may_send(f->dispatch));
    gale_dispatch_sent(f->dispatch, id);
    return id;
}

static uint64_t send_and_lose(fixture *f, uint64_t id) {
    assert_true(gale_dispatch_may_send(f->dispatch));
    gale_dispatch_sent(f->dispatch, id);
    return gale_dispatch_lost(f->dispatch, true, "it hung up");
}

static void a_tuple_that_ends_the_connection_alone_is_rejected_after_so_many(void **state) {
    fixture *f = *state;
    uint64_t id = hold(f, 1);
    for (int i = 1; i < GALE_SINK_LOSSES; i++) assert_int_equal(send_and_lose(f, id), 0);
    assert_int_equal(f->fake.fails, 0);
    assert_int_equal(send_and_lose(f, id), id);
    assert_int_equal(f->fake.fails, 1);
    assert_int_equal(f->fake.fail_reason, GALE_REASON_REJECTED);
    assert_string_equal(f->fake.fail_text, "3 connections ended behind it while nothing else was on its way "
                                           "(gale.sink.losses): it hung up");
    assert_int_equal(gale_dispatch_count(f->dispatch), 0);
}

static void a_system_that_is_away_rejects_nothing(void **state) {
    fixture *f = *state;
    uint64_t id = hold(f, 1);
    for (int i = 0; i < 100; i++) {
        gale_dispatch_sent(f->dispatch, id);
        assert_int_equal(gale_dispatch_lost(f->dispatch, false, "it is silent"), 0);
        assert_int_equal(gale_dispatch_lost(f->dispatch, true, "nothing was sent"), 0);
    }
    assert_int_equal(f->fake.fails, 0);
    assert_int_equal(send_and_lose(f, id), 0);
}

static void several_that_were_lost_twice_are_sent_one_at_a_time(void **state) {
    fixture *f = *state;
    uint64_t a = hold_sent(f), b = hold_sent(f);
    assert_int_equal(gale_dispatch_lost(f->dispatch, true, "once"), 0);
    gale_dispatch_sent(f->dispatch, a);
    assert_true(gale_dispatch_may_send(f->dispatch));
    gale_dispatch_sent(f->dispatch, b);
    assert_int_equal(gale_dispatch_lost(f->dispatch, true, "twice"), 0);
    gale_dispatch_sent(f->dispatch, a);
    assert_false(gale_dispatch_may_send(f->dispatch));
    assert_int_equal(gale_dispatch_ack(f->dispatch, a), 0);
    for (int i = 1; i < GALE_SINK_LOSSES; i++) assert_int_equal(send_and_lose(f, b), 0);
    assert_int_equal(send_and_lose(f, b), b);
    (void)hold_sent(f);
    assert_true(gale_dispatch_may_send(f->dispatch));
}

static void timeouts_begin_anew_while_something_is_held(void **state) {
    fixture *f = *state;
    uint64_t a = hold(f, 1), b = hold(f, 1);
    gale_manual_clock_advance(f->fake.clock, 9 * GALE_SECOND);
    assert_int_equal(fake_tell_watches(&f->fake), 0);
    gale_manual_clock_advance(f->fake.clock, GALE_SECOND);
    assert_int_equal(fake_tell_watches(&f->fake), 1);
    assert_int_equal(f->fake.resets, 2);
    assert_int_equal(gale_dispatch_ack(f->dispatch, a), 0);
    gale_manual_clock_advance(f->fake.clock, 10 * GALE_SECOND);
    assert_int_equal(fake_tell_watches(&f->fake), 1);
    assert_int_equal(f->fake.resets, 3);
    assert_int_equal(gale_dispatch_ack(f->dispatch, b), 0);
    gale_manual_clock_advance(f->fake.clock, 10 * GALE_SECOND);
    assert_int_equal(fake_tell_watches(&f->fake), 1);
    gale_manual_clock_advance(f->fake.clock, 60 * GALE_SECOND);
    assert_int_equal(fake_tell_watches(&f->fake), 0);
    assert_int_equal(f->fake.resets, 3);
}

static void many_come_and_go_in_any_order(void **state) {
    enum { MANY = 300 };
    fixture *f = *state;
    uint64_t ids[MANY];
    gx_random random = gx_random_new(9, 1);
    for (size_t round = 0; round < 20; round++) {
        for (size_t i = 0; i < MANY; i++) ids[i] = hold(f, 1);
        assert_int_equal(gale_dispatch_count(f->dispatch), MANY);
        for (size_t left = MANY; left; left--) {
            size_t at = gx_random_below(&random, (uint32_t)left);
            assert_int_equal(gale_dispatch_ack(f->dispatch, ids[at]), 0);
            ids[at] = ids[left - 1];
        }
        assert_int_equal(gale_dispatch_count(f->dispatch), 0);
    }
    assert_int_equal(f->fake.acks, 20 * MANY);
}

/* --- Checkpoints --- */

typedef struct sink {
    gale_dispatch *dispatch;
    uint64_t sent; /* again, last */
    size_t count;
    int rc; /* of sending */
} sink;

static int sink_save(void *self, gale_saver *to) {
    return gale_dispatch_save(((sink *)self)->dispatch, to);
}

static int send_again(void *user, uint64_t id, const gale_tuple *tuple) {
    sink *s = user;
    assert_non_null(tuple);
    s->sent = id;
    s->count++;
    return s->rc;
}

static int sink_restore(void *self, gale_saved *from, gale_collector *out) {
    (void)out;
    return gale_dispatch_restore(((sink *)self)->dispatch, from, send_again, self);
}

static const gale_durable_ops durable = {
    .size = sizeof durable, .version = 1, .save = sink_save, .restore = sink_restore
};

/* Holds a tuple, saves it, and begins again, with another dispatch. */
static void save_one(fixture *f, fake_saver *saver, sink *s) {
    (void)hold(f, 7);
    assert_int_equal(fake_save(saver, &durable, s), 0);
    gale_dispatch_free(f->dispatch);
    assert_int_equal(gale_dispatch_new(&f->fake.context, &f->fake.collector, NULL, &f->dispatch, NULL), 0);
    s->dispatch = f->dispatch;
}

static void what_was_on_its_way_is_sent_again_after_a_restart(void **state) {
    fixture *f = *state;
    fake_saver saver;
    fake_saver_init(&saver, &f->fake);
    sink s = { .dispatch = f->dispatch };
    save_one(f, &saver, &s);
    assert_int_equal(fake_restore(&saver, &durable, &s), 0);
    assert_int_equal(s.count, 1);
    assert_int_equal(gale_dispatch_count(f->dispatch), 1);
    assert_int_equal(gale_dispatch_ack(f->dispatch, s.sent), 0);
    assert_int_equal(f->fake.acks, 1);
    fake_saver_fini(&saver);
}

static void what_was_answered_before_the_restart_is_not_sent(void **state) {
    fixture *f = *state;
    fake_saver saver;
    fake_saver_init(&saver, &f->fake);
    sink s = { .dispatch = f->dispatch };
    save_one(f, &saver, &s);
    f->fake.holds = false; /* none is held any more */
    assert_int_equal(fake_restore(&saver, &durable, &s), 0);
    assert_int_equal(s.count, 0);
    assert_int_equal(gale_dispatch_count(f->dispatch), 0);
    fake_saver_fini(&saver);
}

static void sending_that_fails_ends_the_restoring(void **state) {
    fixture *f = *state;
    fake_saver saver;
    fake_saver_init(&saver, &f->fake);
    sink s = { .dispatch = f->dispatch, .rc = GALE_IO };
    save_one(f, &saver, &s);
    assert_int_equal(fake_restore(&saver, &durable, &s), GALE_IO);
    fake_saver_fini(&saver);
}

static int save_another(void *self, gale_saver *to) {
    const gale_value text = gale_text("of another");
    (void)self;
    return gale_save(to, &text, 1);
}

static void what_another_has_saved_is_refused(void **state) {
    static const gale_durable_ops another = { .size = sizeof another, .version = 1, .save = save_another };
    fixture *f = *state;
    fake_saver saver;
    fake_saver_init(&saver, &f->fake);
    sink s = { .dispatch = f->dispatch };
    assert_int_equal(fake_save(&saver, &another, &s), 0);
    assert_int_equal(fake_restore(&saver, &durable, &s), GALE_DAMAGED);
    assert_non_null(strstr(fake_text(&f->fake.reports), "dispatch: record 1 of what was saved"));
    fake_saver_fini(&saver);
}

static void what_cannot_be_held_is_not_on_its_way(void **state) {
    fixture *f = *state;
    uint64_t id = 0;
    const gale_tuple *tuple = fake_tuple_text(&f->fake, "a");
    f->fake.fail_at = f->fake.allocations + 1;
    assert_int_equal(gale_dispatch_hold(f->dispatch, tuple, 1, &id), GALE_NO_MEMORY);
    f->fake.watch_error = GALE_TOO_LARGE;
    assert_int_equal(gale_dispatch_hold(f->dispatch, tuple, 1, &id), GALE_TOO_LARGE);
    f->fake.watch_error = 0;
    f->fake.holds = false;
    assert_int_equal(gale_dispatch_hold(f->dispatch, tuple, 1, &id), GALE_UNSUPPORTED);
    assert_int_equal(id, 0);
    assert_int_equal(gale_dispatch_count(f->dispatch), 0);
}

static void what_is_not_there_is_refused(void **state) {
    fixture *f = *state;
    gale_dispatch_options options = GALE_DISPATCH_OPTIONS_INIT;
    gale_dispatch *dispatch;
    uint64_t id;
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gale_dispatch_new(NULL, &f->fake.collector, NULL, &dispatch, &error), GALE_INVALID);
    assert_int_equal(gale_dispatch_new(&f->fake.context, NULL, NULL, &dispatch, &error), GALE_INVALID);
    assert_int_equal(gale_dispatch_new(&f->fake.context, &f->fake.collector, NULL, NULL, &error), GALE_INVALID);
    options.size = 0;
    assert_int_equal(gale_dispatch_new(&f->fake.context, &f->fake.collector, &options, &dispatch, &error),
                     GALE_INVALID);
    f->fake.fail_at = f->fake.allocations + 1;
    assert_int_equal(gale_dispatch_new(&f->fake.context, &f->fake.collector, NULL, &dispatch, &error), GALE_NO_MEMORY);
    gale_dispatch_free(NULL);
    assert_int_equal(gale_dispatch_hold(NULL, fake_tuple_text(&f->fake, "a"), 1, &id), GALE_INVALID);
    assert_int_equal(gale_dispatch_hold(f->dispatch, NULL, 1, &id), GALE_INVALID);
    assert_int_equal(gale_dispatch_hold(f->dispatch, &f->fake.tuple, 1, NULL), GALE_INVALID);
    assert_int_equal(gale_dispatch_ack(NULL, 1), GALE_NOT_FOUND);
    assert_null(gale_dispatch_tuple(NULL, 1));
    assert_int_equal(gale_dispatch_count(NULL), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_tuple_is_held_until_it_is_answered, setup, teardown),
        cmocka_unit_test_setup_teardown(an_end_waits_as_long_as_something_moves, setup, teardown),
        cmocka_unit_test_setup_teardown(what_an_end_has_waited_for_in_vain_is_reported, setup, teardown),
        cmocka_unit_test_setup_teardown(one_that_was_answered_names_nothing_any_more, setup, teardown),
        cmocka_unit_test_setup_teardown(who_feeds_it_waits_while_it_has_enough_bytes, setup, teardown),
        cmocka_unit_test_setup_teardown(who_feeds_it_waits_while_it_has_enough_tuples, setup, teardown),
        cmocka_unit_test_setup_teardown(a_tuple_that_ends_the_connection_alone_is_rejected_after_so_many, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_system_that_is_away_rejects_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(several_that_were_lost_twice_are_sent_one_at_a_time, setup, teardown),
        cmocka_unit_test_setup_teardown(timeouts_begin_anew_while_something_is_held, setup, teardown),
        cmocka_unit_test_setup_teardown(many_come_and_go_in_any_order, setup, teardown),
        cmocka_unit_test_setup_teardown(what_was_on_its_way_is_sent_again_after_a_restart, setup, teardown),
        cmocka_unit_test_setup_teardown(what_was_answered_before_the_restart_is_not_sent, setup, teardown),
        cmocka_unit_test_setup_teardown(sending_that_fails_ends_the_restoring, setup, teardown),
        cmocka_unit_test_setup_teardown(what_another_has_saved_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(what_cannot_be_held_is_not_on_its_way, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_not_there_is_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
