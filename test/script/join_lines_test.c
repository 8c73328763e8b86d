/* Lines joined to events. The fake collector holds tuples here; who an event is anchored to is written before it: "1,2:[...]". */
#include "harness/fake_collector.h"

#include "tuple/body.h"

#include <gale_script.h>
#include <stdlib.h>

#include "harness/cm.h"

enum { LINES = 64 };

typedef struct kept {
    gale_tuple tuple;
    void *body;
} kept;

static struct {
    const gale_collector_ops *base;
    kept lines[LINES + 1]; /* by handle */
    gale_handle last;
    uint64_t renewed;
    int hold_error;
} holding;

static int hold(gale_collector *out, gale_handle handle, gale_handle *ret_held) {
    fake_collector *fake = (fake_collector *)out;
    if (holding.hold_error) return holding.hold_error;
    gale_handle at = ++holding.last;
    assert_in_range(at, 1, LINES);
    assert_int_equal(handle, fake->tuple.handle);
    size_t size = gx_body_size(fake->tuple.body);
    holding.lines[at].body = aligned_alloc(16, (size + 15) & ~(size_t)15);
    memcpy(holding.lines[at].body, fake->tuple.body, size);
    holding.lines[at].tuple = fake->tuple;
    holding.lines[at].tuple.body = holding.lines[at].body;
    holding.lines[at].tuple.handle = at;
    *ret_held = at;
    return GALE_OK;
}

static const gale_tuple *held(gale_collector *out, gale_handle handle) {
    (void)out;
    return handle <= LINES && holding.lines[handle].body ? &holding.lines[handle].tuple : NULL;
}

static int emit_anchored(gale_collector *out, uint32_t stream, const gale_value *values, size_t count,
                         const gale_handle *anchors, size_t anchor_count) {
    fake_collector *fake = (fake_collector *)out;
    size_t before = fake->emitted.size;
    for (size_t i = 0; i < anchor_count; i++) {
        assert_non_null(held(out, anchors[i]));
        gx_buf_format(&fake->emitted, "%s%d", i ? "," : "", (int)anchors[i]);
    }
    gx_buf_add_byte(&fake->emitted, ':');
    int rc = holding.base->emit_anchored(out, stream, values, count, anchors, anchor_count);
    if (rc < 0) fake->emitted.size = before;
    return rc;
}

static void let_go(gale_handle handle) {
    assert_in_range(handle, 1, LINES);
    assert_non_null(holding.lines[handle].body); /* it is answered once */
    free(holding.lines[handle].body);
    holding.lines[handle].body = NULL;
}

static int ack(gale_collector *out, gale_handle handle) {
    let_go(handle);
    return holding.base->ack(out, handle);
}

static int fail(gale_collector *out, gale_handle handle, int32_t reason, const char *text) {
    let_go(handle);
    return holding.base->fail(out, handle, reason, text);
}

static int renew(gale_collector *out, gale_handle handle) {
    assert_non_null(held(out, handle));
    holding.renewed++;
    return GALE_OK;
}

static uint32_t open_lines(void) {
    uint32_t count = 0;
    for (size_t i = 1; i <= LINES; i++) count += holding.lines[i].body != NULL;
    return count;
}

typedef struct fixture {
    fake_collector fake;
    gale_bolt bolt;
    void *self;
    gale_join_lines_options options;
    gale_error error;
} fixture;

static void begin(fixture *f) {
    static gale_collector_ops ops;
    fake_init(&f->fake);
    holding.base = holding.base ? holding.base : f->fake.collector.ops;
    holding.renewed = holding.last = 0;
    holding.hold_error = 0;
    ops = *holding.base;
    ops.hold = hold;
    ops.held = held;
    ops.emit_anchored = emit_anchored;
    ops.ack = ack;
    ops.fail = fail;
    ops.reset_timeout = renew;
    f->fake.collector.ops = &ops;
    fake_source(&f->fake, "tail", "file, line");
    f->error = (gale_error)GALE_ERROR_INIT;
    f->self = NULL;
    f->options = (gale_join_lines_options){
        .size = sizeof f->options, .fields = "file, line", .field = "line", .separator = "|", .timeout = 4
    };
}

static void define(fixture *f) {
    if (gale_join_lines_bolt(&f->options, &f->bolt, &f->error) < 0) fail_msg("%s", f->error.text);
}

static void prepare(fixture *f) {
    define(f);
    assert_int_equal(fake_prepare(&f->fake, &f->bolt, &f->self), 0);
}

static void end(fixture *f) {
    fake_cleanup(&f->bolt, f->self);
    for (size_t i = 1; i <= LINES; i++)
        if (holding.lines[i].body) let_go(i);
    fake_fini(&f->fake);
}

static int take(fixture *f, const char *file, gale_value line) {
    gale_value values[2] = { gale_text(file), line };
    fake_forget(&f->fake);
    return f->bolt.ops->execute(f->self, fake_tuple(&f->fake, values, 2), &f->fake.collector);
}

static void expect(fixture *f, const char *file, const char *line, const char *emitted) {
    assert_int_equal(take(f, file, gale_text(line)), 0);
    assert_string_equal(fake_text(&f->fake.emitted), emitted);
}

static void expect_tick(fixture *f, double seconds, const char *emitted) {
    gale_manual_clock_advance(f->fake.clock, (int64_t)(seconds * 1e9));
    fake_forget(&f->fake);
    assert_int_equal(f->bolt.ops->execute(f->self, fake_tick(&f->fake, 1), &f->fake.collector), 0);
    assert_string_equal(fake_text(&f->fake.emitted), emitted);
}

static void expect_end(fixture *f, const char *emitted) {
    fake_forget(&f->fake);
    assert_int_equal(f->bolt.ops->finish(f->self, &f->fake.collector), 0);
    assert_string_equal(fake_text(&f->fake.emitted), emitted);
    assert_int_equal(open_lines(), 0);
}

/* --- Which lines belong together --- */

static void a_line_that_begins_an_event_ends_the_one_before(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    f.options.start = "^\\d";
    prepare(&f);
    assert_string_equal(f.bolt.outputs[0].fields, "file, line");
    expect(&f, "a", "1 first", "");
    expect(&f, "b", "  at x", "");
    expect(&f, "c", "2 second", "1,2:[\"a\",\"1 first|  at x\"]\n");
    assert_int_equal(f.fake.acks, 2);
    expect(&f, "d", "3 third", "3:[\"c\",\"2 second\"]\n");
    expect_end(&f, "4:[\"d\",\"3 third\"]\n");
    end(&f);
}

static void what_comes_before_the_first_beginning_is_an_event(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    f.options.start = "^\\d";
    prepare(&f);
    expect(&f, "a", " tail", "");
    expect(&f, "a", " of it", "");
    expect(&f, "a", "1", "1,2:[\"a\",\" tail| of it\"]\n");
    end(&f);
}

static void a_line_that_continues_belongs_to_the_one_before(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    f.options.go_on = "^\\s|^$";
    prepare(&f);
    expect(&f, "a", "x", "");
    expect(&f, "a", " y", "");
    expect(&f, "a", "", "");
    expect(&f, "a", "z", "1,2,3:[\"a\",\"x| y|\"]\n");
    expect(&f, "a", "w", "4:[\"a\",\"z\"]\n");
    end(&f);
}

static void a_line_that_ends_an_event_is_its_last(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    f.options.end = ";$";
    prepare(&f);
    expect(&f, "a", "select", "");
    expect(&f, "a", "1;", "1,2:[\"a\",\"select|1;\"]\n");
    expect(&f, "a", "2;", "3:[\"a\",\"2;\"]\n");
    expect_end(&f, "");
    end(&f);
}

static void lines_of_different_keys_do_not_mix(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    f.options.go_on = "^\\s";
    f.options.key = "file";
    prepare(&f);
    expect(&f, "a", "1", "");
    expect(&f, "b", "2", "");
    expect(&f, "a", " 3", "");
    expect(&f, "b", " 4", "");
    expect(&f, "b", "5", "2,4:[\"b\",\"2| 4\"]\n");
    expect_end(&f, "1,3:[\"a\",\"1| 3\"]\n5:[\"b\",\"5\"]\n");
    end(&f);
}

static void bytes_stay_bytes_unless_they_are_text(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    f.options.go_on = "^.\\xe9";
    prepare(&f);
    expect(&f, "a", "x", "");
    assert_int_equal(take(&f, "a", gale_bytes(" \xe9", 2)), 0);
    assert_int_equal(take(&f, "a", gale_bytes("y", 1)), 0);
    assert_string_equal(fake_text(&f.fake.emitted), "1,2:[\"a\",{\"base64\":\"eHwg6Q==\"}]\n");
    expect(&f, "a", "z", "3:[\"a\",\"y\"]\n");
    end(&f);
}

/* --- When there is no end to it --- */

/* Each part is one event. */
static void expect_parts(fixture *f, bool tick, int parts) {
    f->fake.part_rows = 1;
    fake_forget(&f->fake);
    for (int n = 1; n <= parts; n++) {
        f->fake.part_asked = 0;
        int rc = tick ? f->bolt.ops->execute(f->self, fake_tick(&f->fake, 1), &f->fake.collector)
                      : f->bolt.ops->finish(f->self, &f->fake.collector);
        assert_int_equal(rc, n < parts ? GALE_MORE : 0);
    }
    f->fake.part_rows = 0;
}

static void events_that_end_together_are_emitted_in_parts(void **state) {
    (void)state;
    for (int tick = 0; tick < 2; tick++) {
        fixture f;
        begin(&f);
        f.options.start = "^\\d";
        f.options.key = "file";
        prepare(&f);
        expect(&f, "a", "1", "");
        expect(&f, "b", "2", "");
        expect(&f, "a", " 3", "");
        expect(&f, "c", "4", "");
        gale_manual_clock_advance(f.fake.clock, 5 * GALE_SECOND);
        expect_parts(&f, tick, 3);
        assert_string_equal(fake_text(&f.fake.emitted), "2:[\"b\",\"2\"]\n1,3:[\"a\",\"1| 3\"]\n4:[\"c\",\"4\"]\n");
        assert_int_equal(open_lines(), 0);
        expect_end(&f, "");
        end(&f);
    }
}

static void an_event_that_gets_no_more_is_emitted(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    f.options.start = "^\\d";
    f.options.key = "file";
    prepare(&f);
    assert_true(f.bolt.settings[0].value.as.f64 <= 1);
    expect(&f, "a", "1", "");
    expect_tick(&f, 3, "");
    expect(&f, "b", "2", "");
    expect_tick(&f, 0.9, "");
    expect(&f, "a", " 3", "");
    expect_tick(&f, 3.2, "2:[\"b\",\"2\"]\n");
    expect_tick(&f, 0.8, "1,3:[\"a\",\"1| 3\"]\n");
    expect_tick(&f, 100, "");
    end(&f);
}

static void lines_that_wait_do_not_time_out(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    f.options.start = "^\\d";
    f.options.timeout = 1000;
    prepare(&f);
    expect(&f, "a", "1", "");
    expect(&f, "a", " 2", "");
    expect_tick(&f, 9.9, "");
    assert_int_equal(holding.renewed, 0);
    expect_tick(&f, 0.1, "");
    assert_int_equal(holding.renewed, 2);
    expect_tick(&f, 9.9, "");
    assert_int_equal(holding.renewed, 2);
    expect_tick(&f, 0.1, "");
    assert_int_equal(holding.renewed, 4);
    end(&f);
}

static void an_event_is_cut_at_its_limits_and_goes_on(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    f.options.start = "^\\d";
    f.options.max_lines = 2;
    f.options.max_bytes = 10;
    prepare(&f);
    expect(&f, "a", "1", "");
    expect(&f, "a", " x", "");
    expect(&f, "a", " y", "1,2:[\"a\",\"1| x\"]\n");
    assert_non_null(strstr(fake_text(&f.fake.logged), "it is cut here"));
    expect(&f, "a", " 234567", "3:[\"a\",\" y\"]\n");
    assert_string_equal(fake_text(&f.fake.logged), "");
    expect(&f, "a", " longer than all", "4:[\"a\",\" 234567\"]\n");
    expect(&f, "a", " z", "5:[\"a\",\" longer than all\"]\n");
    expect(&f, "a", "2", "6:[\"a\",\" z\"]\n");
    fake_forget(&f.fake);
    f.bolt.ops->cleanup(f.self);
    f.self = NULL;
    assert_non_null(strstr(fake_text(&f.fake.logged), "4 times an event was cut"));
    end(&f);
}

static void for_want_of_keys_the_event_that_waited_longest_is_emitted(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    f.options.start = "^\\d";
    f.options.key = "file";
    f.options.max_keys = 2;
    prepare(&f);
    expect(&f, "a", "1", "");
    expect(&f, "b", "2", "");
    expect(&f, "a", " 3", "");
    expect(&f, "c", "4", "2:[\"b\",\"2\"]\n");
    assert_non_null(strstr(fake_text(&f.fake.logged), "maxKeys"));
    expect(&f, "a", "5", "1,3:[\"a\",\"1| 3\"]\n");
    end(&f);
}

static void a_line_on_which_the_pattern_takes_too_much_does_not_match(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    f.options.start = "^(a+)+[bc]";
    prepare(&f);
    expect(&f, "a", "ab", "");
    expect(&f, "a", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaax", "");
    assert_non_null(strstr(fake_text(&f.fake.logged), "the pattern took too much"));
    expect(&f, "a", "ab", "1,2:[\"a\",\"ab|aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaax\"]\n");
    end(&f);
}

/* --- Failures --- */

static void an_event_that_cannot_be_emitted_fails_its_lines(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    f.options.start = "^\\d";
    prepare(&f);
    expect(&f, "a", "1", "");
    expect(&f, "a", " 2", "");
    f.fake.emit_error = GALE_NO_MEMORY;
    expect(&f, "a", "3", "");
    assert_int_equal(f.fake.fails, 2);
    f.fake.emit_error = 0;
    expect(&f, "a", "4", "3:[\"a\",\"3\"]\n");
    end(&f);
}

static void a_tuple_that_is_no_line_fails_and_leaves_the_event_open(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    f.options.start = "^\\d";
    prepare(&f);
    expect(&f, "a", "1", "");
    assert_int_equal(take(&f, "a", gale_i64(7)), GALE_TYPE);
    assert_string_equal(fake_text(&f.fake.reports),
                        "join lines: field 'line' (value 1) of component 'tail' must be string or bytes, is i64 7\n");
    holding.hold_error = GALE_NO_MEMORY;
    assert_int_equal(take(&f, "a", gale_text(" 2")), GALE_NO_MEMORY);
    holding.hold_error = 0;
    fake_source(&f.fake, "tail", "files, line");
    assert_int_equal(take(&f, "a", gale_text(" 2")), GALE_FIELDS);
    fake_source(&f.fake, "tail", "file, line");
    expect(&f, "a", " 3", "");
    expect_end(&f, "1,2:[\"a\",\"1| 3\"]\n");
    end(&f);
}

static void what_makes_no_sense_is_refused(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    static const struct {
        const char *start, *go_on, *field, *separator;
        double timeout;
        int rc;
        const char *said;
    } rows[] = {
        { NULL, NULL, "line", NULL, 0, GALE_INVALID, "join lines: there is no pattern: give start, continue or end" },
        { "a", "b", "line", NULL, 0, GALE_INVALID, "join lines: start, continue and end exclude each other" },
        { "(", NULL, "line", NULL, 0, GALE_SYNTAX,
          "join lines: start: the pattern '(' is wrong at byte 1: missing closing parenthesis" },
        { "a", NULL, "lines", NULL, 0, GALE_INVALID, "join lines: field: 'lines' is not among the fields" },
        { "a", NULL, "file, line", NULL, 0, GALE_INVALID,
          "join lines: field names 2 fields, must name one: 'file, line'" },
        { "a", NULL, "line", NULL, -1, GALE_INVALID, "join lines: timeout is -1 seconds, must be 0.01 to 1e+06" },
        { "a", NULL, "line", "0123456789012345678901234567890123456789012345678901234567890123", 0, GALE_INVALID,
          "join lines: separator has 64 bytes, at most 63" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gale_join_lines_options options = { .size = sizeof options,
                                            .fields = "file, line",
                                            .field = rows[i].field,
                                            .start = rows[i].start,
                                            .go_on = rows[i].go_on,
                                            .separator = rows[i].separator,
                                            .timeout = rows[i].timeout };
        f.error = (gale_error)GALE_ERROR_INIT;
        assert_int_equal(gale_join_lines_bolt(&options, &f.bolt, &f.error), rows[i].rc);
        assert_string_equal(f.error.text, rows[i].said);
    }
    assert_int_equal(gale_join_lines_bolt(&f.options, NULL, &f.error), GALE_INVALID);
    fake_fini(&f.fake);
}

/* --- What lasts --- */

static void an_open_event_goes_on_in_another_life(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    f.options.go_on = "^\\s";
    f.options.key = "file";
    f.options.max_bytes = 8;
    prepare(&f);
    expect(&f, "a", "1", "");
    expect(&f, "b", "2", "");
    gale_manual_clock_advance(f.fake.clock, 1000000000);
    expect(&f, "a", " 3", "");
    const gale_durable_ops *durable = f.bolt.ops->durable;
    assert_int_equal(fake_keep(&f.fake, durable, f.self), 0);
    f.bolt.ops->cleanup(f.self);
    assert_int_equal(fake_prepare(&f.fake, &f.bolt, &f.self), 0);
    assert_int_equal(fake_give_back(&f.fake, durable, f.self, 0, 1), 0);
    expect_tick(&f, 2.9, "");
    expect_tick(&f, 0.1, "2:[\"b\",\"2\"]\n");        /* it waits as long as it would have */
    expect(&f, "a", " 45", "1,3:[\"a\",\"1| 3\"]\n"); /* and is as large as it was */
    expect_end(&f, "4:[\"a\",\" 45\"]\n");
    end(&f);
}

static void a_line_that_is_not_held_any_more_is_left_out(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    f.options.go_on = "^\\s";
    prepare(&f);
    expect(&f, "a", "1", "");
    expect(&f, "a", " 2", "");
    assert_int_equal(fake_keep(&f.fake, f.bolt.ops->durable, f.self), 0);
    let_go(2);
    f.bolt.ops->cleanup(f.self);
    assert_int_equal(fake_prepare(&f.fake, &f.bolt, &f.self), 0);
    assert_int_equal(fake_give_back(&f.fake, f.bolt.ops->durable, f.self, 0, 1), 0);
    expect_end(&f, "1:[\"a\",\"1\"]\n");
    end(&f);
}

static void every_failing_allocation_is_survived(void **state) {
    (void)state;
    static const char *const lines[] = { "1", " a", " b", "2", "3", " c" };
    bool whole = false;
    for (uint64_t n = 1; !whole; n++) {
        fixture f;
        begin(&f);
        f.options.start = "^\\d";
        f.options.key = "file";
        define(&f);
        f.fake.fail_at = n;
        int rc = fake_prepare(&f.fake, &f.bolt, &f.self);
        uint64_t answered = 0, taken = 0;
        for (size_t i = 0; i < 6 && rc == 0; i++) {
            int one = take(&f, i % 2 ? "b" : "a", gale_text(lines[i]));
            assert_true(one == 0 || one == GALE_NO_MEMORY);
            answered += f.fake.acks + f.fake.fails;
            taken += one == 0;
            assert_int_equal(answered + open_lines(), taken); /* nothing is lost, and nothing answered twice */
        }
        whole = f.fake.allocations < n;
        f.fake.fail_at = 0;
        if (rc == 0) {
            fake_forget(&f.fake);
            assert_int_equal(f.bolt.ops->finish(f.self, &f.fake.collector), 0);
            assert_int_equal(open_lines(), 0);
        }
        end(&f);
        assert_true(n < 1000);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_that_begins_an_event_ends_the_one_before),
        cmocka_unit_test(what_comes_before_the_first_beginning_is_an_event),
        cmocka_unit_test(a_line_that_continues_belongs_to_the_one_before),
        cmocka_unit_test(a_line_that_ends_an_event_is_its_last),
        cmocka_unit_test(lines_of_different_keys_do_not_mix),
        cmocka_unit_test(bytes_stay_bytes_unless_they_are_text),
        cmocka_unit_test(an_event_that_gets_no_more_is_emitted),
        cmocka_unit_test(events_that_end_together_are_emitted_in_parts),
        cmocka_unit_test(lines_that_wait_do_not_time_out),
        cmocka_unit_test(an_event_is_cut_at_its_limits_and_goes_on),
        cmocka_unit_test(for_want_of_keys_the_event_that_waited_longest_is_emitted),
        cmocka_unit_test(a_line_on_which_the_pattern_takes_too_much_does_not_match),
        cmocka_unit_test(an_event_that_cannot_be_emitted_fails_its_lines),
        cmocka_unit_test(a_tuple_that_is_no_line_fails_and_leaves_the_event_open),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(an_open_event_goes_on_in_another_life),
        cmocka_unit_test(a_line_that_is_not_held_any_more_is_left_out),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
