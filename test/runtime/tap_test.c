/* Taps: who looks at what a component emits, how often, and until when. */
#include "runtime/rig.h"

#include "base/os/cpu.h"
#include "harness/counting_allocator.h"
#include "runtime/runtime.h"

#include <string.h>

static rig_spout spout;
static rig_bolt a, c;

typedef struct looker {
    gx_atomic64 seen;
    gx_atomic64 tracked;
    gx_atomic64 freed;
    char component[16], stream[16];
    int64_t last; /* the first value */
} looker;

static void on_event(void *user, const gale_event *event) {
    looker *l = user;
    gx_add_relaxed(&l->seen, 1);
    gx_add_relaxed(&l->tracked, event->tracked);
}

static void look_close(void *user, const gale_event *event) {
    looker *l = user;
    on_event(user, event);
    strncpy(l->component, event->component, sizeof l->component - 1);
    strncpy(l->stream, event->stream, sizeof l->stream - 1);
    l->last = event->values[0].as.i64;
}

static void on_free(void *user) {
    gx_add_relaxed(&((looker *)user)->freed, 1);
}

static uint64_t seen(looker *l) {
    return gx_load_relaxed(&l->seen);
}

static uint64_t freed(looker *l) {
    return gx_load_relaxed(&l->freed);
}

/* Each number to the default stream, each that ends in 7 to `side` as well. */
static int forks(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    gale_value values[2] = { gale_tuple_value(tuple, 0), gale_tuple_value(tuple, 1) };
    (void)bolt;
    int rc = gale_emit(out, 0, values, 2);
    if (rc >= 0 && values[0].as.i64 % 10 == 7) rc = gale_emit(out, 1, values, 1);
    return rc < 0 ? rc : 0;
}

static void build(rig *r, uint64_t to_emit) {
    memset(&spout, 0, sizeof spout);
    memset(&a, 0, sizeof a);
    memset(&c, 0, sizeof c);
    spout.to_emit = to_emit;
    a.on = forks;
    c.on = rig_take;
    rig_init(r);
    gale_topology_add_spout(r->topology, "spout", rig_spout_of(&spout), 1);
    gale_topology_add_bolt(r->topology, "a", rig_simple(&a), 2);
    gale_topology_add_bolt(r->topology, "c", rig_simple(&c), 1);
    gale_topology_subscribe(r->topology, "a", "spout", NULL, gale_shuffle());
    gale_topology_subscribe(r->topology, "c", "a", NULL, gale_shuffle());
}

static gale_tap tap(const rig *r, const char *component, const char *stream, double per_second, looker *l) {
    gale_tap_options options = GALE_TAP_OPTIONS_INIT;
    gale_tap made = 0;
    options.component = component;
    options.stream = stream;
    options.per_second = per_second;
    options.on_event = on_event;
    options.free_user = on_free;
    options.user = l;
    assert_int_equal(gale_runtime_tap(r->runtime, &options, &made, NULL), GALE_OK);
    assert_true(made != 0);
    return made;
}

static void several_taps_see_what_each_asked_for(void **state) {
    (void)state;
    for (uint32_t executors = 1; executors <= 2; executors++) {
        rig r;
        looker all = { 0 }, side = { 0 }, source = { 0 };
        build(&r, 100);
        rig_make(&r, executors);
        tap(&r, "a", NULL, 0, &all);
        tap(&r, "a", "side", 0, &side);
        tap(&r, "spout", "default", 0, &source);
        rig_settle(&r);
        assert_int_equal(seen(&all), 110);
        assert_int_equal(seen(&side), 10);
        assert_int_equal(seen(&source), 100);
        assert_int_equal(gx_load_relaxed(&source.tracked), 100);
        assert_int_equal(gx_load_relaxed(&all.tracked), 0);
        assert_int_equal(spout.acks, 100);
        assert_int_equal(c.seen, 100);
        rig_fini(&r);
        assert_int_equal(freed(&all) + freed(&side) + freed(&source), 3);
    }
}

static void an_event_says_what_where_and_from_whom(void **state) {
    (void)state;
    rig r;
    looker l = { 0 };
    gale_tap_options options = GALE_TAP_OPTIONS_INIT;
    gale_tap made;
    build(&r, 8);
    rig_make(&r, 1);
    options.component = "a";
    options.stream = "side";
    options.on_event = look_close;
    options.user = &l;
    assert_int_equal(gale_runtime_tap(r.runtime, &options, &made, NULL), GALE_OK);
    rig_settle(&r);
    assert_int_equal(seen(&l), 1);
    assert_string_equal(l.component, "a");
    assert_string_equal(l.stream, "side");
    assert_int_equal(l.last, 7);
    rig_fini(&r);
}

/* So many tuples as the clock allows, of a spout that never ends. */
static void a_rate_is_of_all_tasks_and_executors_together(void **state) {
    (void)state;
    for (uint32_t executors = 1; executors <= 2; executors++) {
        rig r;
        looker l = { 0 };
        build(&r, UINT64_MAX);
        rig_make(&r, executors);
        tap(&r, "a", NULL, 100, &l);
        for (int i = 0; i < 1000; i++) {
            gale_runtime_step(r.runtime);
            gale_manual_clock_advance(r.clock, GALE_MILLISECOND);
        }
        assert_in_range(seen(&l), 95, 100);
        rig_fini(&r);
    }
}

static bool is_unseen(const rig *r, uint32_t index) {
    return r->runtime->shared.tasks[rig_task_number(r, "a", index)]->streams[0].bare;
}

static void between_its_events_a_tap_with_a_rate_is_not_there(void **state) {
    (void)state;
    rig r;
    looker l = { 0 };
    build(&r, UINT64_MAX);
    rig_make(&r, 1);
    for (int i = 0; i < 10; i++) gale_runtime_step(r.runtime);
    assert_true(is_unseen(&r, 0));
    tap(&r, "a", NULL, 1, &l);
    for (int i = 0; i < 10; i++) gale_runtime_step(r.runtime);
    assert_int_equal(seen(&l), 1);
    assert_true(is_unseen(&r, 0) && is_unseen(&r, 1));
    gale_manual_clock_advance(r.clock, GALE_SECOND);
    for (int i = 0; i < 10; i++) gale_runtime_step(r.runtime);
    assert_int_equal(seen(&l), 2);
    assert_true(is_unseen(&r, 0) && is_unseen(&r, 1));
    rig_fini(&r);
}

static void when_it_has_ended_nothing_is_shown_and_its_user_is_freed_once(void **state) {
    (void)state;
    rig r;
    looker l = { 0 }, other = { 0 };
    build(&r, UINT64_MAX);
    rig_make(&r, 2);
    gale_tap ends = tap(&r, "a", NULL, 0, &l);
    tap(&r, "a", NULL, 0, &other);
    for (int i = 0; i < 10; i++) gale_runtime_step(r.runtime);
    uint64_t before = seen(&l), others = seen(&other);
    assert_true(before > 0);
    assert_int_equal(gale_runtime_tap_end(r.runtime, ends), GALE_OK);
    assert_int_equal(freed(&l), 0); /* the executors have it still */
    assert_int_equal(gale_runtime_tap_end(r.runtime, ends), GALE_NOT_FOUND);
    for (int i = 0; i < 10; i++) gale_runtime_step(r.runtime);
    assert_int_equal(seen(&l), before);
    assert_int_equal(freed(&l), 1);
    assert_true(seen(&other) > others);
    rig_fini(&r);
    assert_int_equal(freed(&l), 1);
    assert_int_equal(freed(&other), 1);
}

static void a_run_that_ends_lets_go_of_its_taps(void **state) {
    (void)state;
    rig r;
    looker l = { 0 };
    build(&r, 10);
    rig_make(&r, 2);
    gale_tap made = tap(&r, "a", NULL, 0, &l);
    rig_settle(&r);
    rig_drain(&r);
    assert_int_equal(seen(&l), 11);
    assert_int_equal(gale_runtime_tap_end(r.runtime, made), GALE_OK);
    assert_int_equal(freed(&l), 1); /* nobody runs any more */
    rig_fini(&r);
}

static void a_runtime_that_never_ran_frees_its_taps(void **state) {
    (void)state;
    rig r;
    looker l = { 0 }, ended = { 0 };
    build(&r, 10);
    rig_make(&r, 2);
    tap(&r, "a", NULL, 0, &l);
    assert_int_equal(gale_runtime_tap_end(r.runtime, tap(&r, "a", NULL, 0, &ended)), GALE_OK);
    rig_fini(&r);
    assert_int_equal(freed(&l), 1);
    assert_int_equal(freed(&ended), 1);
}

static gale_tap ends_itself;
static rig *of_itself;

static void end_itself(void *user, const gale_event *event) {
    on_event(user, event);
    if (ends_itself) assert_int_equal(gale_runtime_tap_end(of_itself->runtime, ends_itself), GALE_OK);
    ends_itself = 0;
}

static void a_tap_may_end_itself(void **state) {
    (void)state;
    rig r;
    looker l = { 0 };
    gale_tap_options options = GALE_TAP_OPTIONS_INIT;
    build(&r, 100);
    rig_make(&r, 1);
    of_itself = &r;
    options.component = "a";
    options.on_event = end_itself;
    options.free_user = on_free;
    options.user = &l;
    assert_int_equal(gale_runtime_tap(r.runtime, &options, &ends_itself, NULL), GALE_OK);
    rig_settle(&r);
    assert_int_equal(seen(&l), 1);
    assert_int_equal(freed(&l), 1);
    assert_int_equal(spout.acks, 100);
    rig_fini(&r);
}

static void a_tap_that_makes_no_sense_is_refused_in_words(void **state) {
    static const struct {
        gale_tap_options options;
        int code;
        const char *says;
    } wrong[] = {
        { { .on_event = on_event }, GALE_INVALID, "needs a component" },
        { { .component = "a" }, GALE_INVALID, "needs a function" },
        { { .component = "b", .on_event = on_event }, GALE_NOT_FOUND, "'b'" },
        { { .component = "a", .stream = "left", .on_event = on_event }, GALE_NOT_FOUND, "'a' has no stream 'left'" },
        { { .component = "a", .per_second = -1, .on_event = on_event }, GALE_INVALID, "-1 tuples a second" },
        { { .component = "a", .percent = 101, .on_event = on_event }, GALE_INVALID, "101 percent" },
    };
    (void)state;
    rig r;
    looker l = { 0 };
    gale_tap made = 77;
    build(&r, 1);
    rig_make(&r, 1);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        gale_tap_options options = wrong[i].options;
        gale_error error = GALE_ERROR_INIT;
        options.size = sizeof options;
        options.free_user = on_free;
        options.user = &l;
        assert_int_equal(gale_runtime_tap(r.runtime, &options, &made, &error), wrong[i].code);
        assert_non_null(strstr(error.text, wrong[i].says));
    }
    assert_int_equal(made, 77);
    assert_int_equal(gale_runtime_tap(NULL, NULL, &made, NULL), GALE_INVALID);
    assert_int_equal(gale_runtime_tap(r.runtime, NULL, &made, NULL), GALE_INVALID);
    assert_int_equal(gale_runtime_tap_end(NULL, 1), GALE_INVALID);
    assert_int_equal(gale_runtime_tap_end(r.runtime, 0), GALE_NOT_FOUND);
    rig_fini(&r);
    assert_int_equal(freed(&l), 0);
}

static void without_memory_there_is_no_tap_and_one_that_ends_shows_nothing(void **state) {
    (void)state;
    rig r;
    looker l = { 0 }, more = { 0 };
    counting_allocator counting = { 0 };
    gale_allocator handle = counting_handle(&counting);
    gale_runtime_options options = { .size = sizeof options, .allocator = &handle, .executors = 1 };
    build(&r, UINT64_MAX);
    rig_make_with(&r, options);
    gale_tap made = tap(&r, "a", NULL, 0, &l);
    for (int i = 0; i < 10; i++) gale_runtime_step(r.runtime);
    gale_tap_options wanted = GALE_TAP_OPTIONS_INIT;
    wanted.component = "a";
    wanted.on_event = on_event;
    wanted.free_user = on_free;
    wanted.user = &more;
    for (size_t fails = 1; fails <= 2; fails++) {
        gale_tap none;
        counting.fail_at = counting.calls + fails;
        assert_int_equal(gale_runtime_tap(r.runtime, &wanted, &none, NULL), GALE_NO_MEMORY);
    }
    counting.fail_at = counting.calls + 1;
    uint64_t before = seen(&l);
    assert_int_equal(gale_runtime_tap_end(r.runtime, made), GALE_OK);
    for (int i = 0; i < 10; i++) gale_runtime_step(r.runtime);
    assert_int_equal(seen(&l), before);
    rig_fini(&r);
    assert_int_equal(freed(&l), 1);
    assert_int_equal(freed(&more), 0);
    assert_int_equal(counting.blocks, 0);
}

static void taps_come_and_go_while_threads_run(void **state) {
    (void)state;
    enum { TAPS = 200 };
    rig r;
    static looker l[TAPS];
    memset(l, 0, sizeof l);
    gale_clock clock = gale_clock_monotonic();
    gale_runtime_options options = { .size = sizeof options, .executors = 2, .clock = &clock };
    build(&r, UINT64_MAX);
    rig_make_with(&r, options);
    assert_int_equal(gale_runtime_start(r.runtime, NULL), GALE_OK);
    for (int i = 0; i < TAPS; i++) {
        gale_tap made = tap(&r, i % 3 ? "a" : "spout", NULL, i % 2 ? 0 : 1000, &l[i]);
        while (!seen(&l[i])) gx_os_cpu_yield();
        assert_int_equal(gale_runtime_tap_end(r.runtime, made), GALE_OK);
    }
    for (int i = 0; i < TAPS; i++)
        while (!freed(&l[i])) gx_os_cpu_yield();
    gale_runtime_stop(r.runtime);
    assert_int_equal(gale_runtime_wait(r.runtime, -1, NULL), GALE_OK);
    rig_fini(&r);
    for (int i = 0; i < TAPS; i++) assert_int_equal(freed(&l[i]), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_taps_see_what_each_asked_for),
        cmocka_unit_test(an_event_says_what_where_and_from_whom),
        cmocka_unit_test(a_rate_is_of_all_tasks_and_executors_together),
        cmocka_unit_test(between_its_events_a_tap_with_a_rate_is_not_there),
        cmocka_unit_test(when_it_has_ended_nothing_is_shown_and_its_user_is_freed_once),
        cmocka_unit_test(a_run_that_ends_lets_go_of_its_taps),
        cmocka_unit_test(a_runtime_that_never_ran_frees_its_taps),
        cmocka_unit_test(a_tap_may_end_itself),
        cmocka_unit_test(a_tap_that_makes_no_sense_is_refused_in_words),
        cmocka_unit_test(without_memory_there_is_no_tap_and_one_that_ends_shows_nothing),
        cmocka_unit_test(taps_come_and_go_while_threads_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
