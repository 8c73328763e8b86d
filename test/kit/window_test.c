#include "kit/streams.h"

#include "harness/memory_store.h"

#include <gale/kit.h>
#include <math.h>
#include <stdio.h>

#include "harness/cm.h"

typedef struct fixture {
    fake_collector fake;
    gale_bolt bolt;
    void *self;
} fixture;

static gale_window_options options_of(const char *aggregates, double length, double slide) {
    return (gale_window_options){
        .size = sizeof(gale_window_options), .key = "k", .aggregates = aggregates, .length = length, .slide = slide
    };
}

static void begin_with(fixture *f, const gale_window_options *options) {
    gale_error error = GALE_ERROR_INIT;
    fake_init(&f->fake);
    if (gale_window_bolt(options, &f->bolt, &error) < 0) fail_msg("%s", error.text);
    assert_int_equal(fake_prepare(&f->fake, &f->bolt, &f->self), 0);
}

static void begin(fixture *f, const char *aggregates, double length, double slide) {
    gale_window_options options = options_of(aggregates, length, slide);
    begin_with(f, &options);
}

static void end(fixture *f) {
    fake_cleanup(&f->bolt, f->self);
    fake_fini(&f->fake);
}

static int run(fixture *f, const gale_tuple *tuple) {
    fake_forget(&f->fake);
    return f->bolt.ops->execute(f->self, tuple, &f->fake.collector);
}

static int take_value(fixture *f, const char *key, gale_value x) {
    gale_value values[3] = { gale_text(key), x, gale_i64(0) };
    fake_source(&f->fake, "source", "k, x, time");
    return run(f, fake_tuple(&f->fake, values, 3));
}

static int take_at(fixture *f, const char *key, int64_t x, int64_t time) {
    gale_value values[3] = { gale_text(key), gale_i64(x), gale_i64(time) };
    fake_source(&f->fake, "source", "k, x, time");
    return run(f, fake_tuple(&f->fake, values, 3));
}

static void expect(fixture *f, int rc, const char *emitted) {
    assert_int_equal(rc, 0);
    assert_string_equal(fake_text(&f->fake.emitted), emitted);
}

static void take(fixture *f, const char *key, int64_t x) {
    expect(f, take_value(f, key, gale_i64(x)), "");
}

static void tick(fixture *f, const char *emitted) {
    expect(f, run(f, fake_tick(&f->fake, 1)), emitted);
}

static void tick_after(fixture *f, double seconds, const char *emitted) {
    gale_manual_clock_advance(f->fake.clock, (int64_t)(seconds * 1e9));
    tick(f, emitted);
}

static void finish(fixture *f, const char *emitted) {
    fake_forget(&f->fake);
    expect(f, f->bolt.ops->finish(f->self, &f->fake.collector), emitted);
}

static void align(fixture *f, int64_t seconds) {
    int64_t now = gale_context_now(&f->fake.context), step = seconds * GALE_SECOND;
    gale_manual_clock_advance(f->fake.clock, (step - now % step) % step);
    tick(f, "");
}

/* --- What is told ------------------------------------------------------------------------------------------------------- */

/* start and end count from where the clock stands. */
static const char *row(fixture *f, const char *format, int64_t start, int64_t seconds) {
    static char text[4][300];
    static int next;
    char *to = text[next++ % 4];
    int64_t zero = gale_context_now(&f->fake.context) / GALE_SECOND;
    snprintf(to, sizeof text[0], format, (long long)(zero + start), (long long)(zero + start + seconds));
    return to;
}

static void an_empty_window_is_not_told(void **state) {
    (void)state;
    fixture f;
    begin(&f, "count", 10, 0);
    tick_after(&f, 35, "");
    finish(&f, "");
    end(&f);
}

static void a_tumbling_window_is_told_once_when_it_has_ended(void **state) {
    (void)state;
    fixture f;
    begin(&f, "count, sum(x)", 10, 0);
    align(&f, 10);
    const char *told = row(&f, "~[\"a\",%lld,%lld,2,8]\n", 0, 10);
    take(&f, "a", 3);
    take(&f, "a", 5);
    tick_after(&f, 9, "");
    tick_after(&f, 1, told);
    tick_after(&f, 10, "");
    finish(&f, "");
    end(&f);
}

static void what_ended_is_told_by_the_next_tuple_before_it_is_counted(void **state) {
    (void)state;
    fixture f;
    begin(&f, "count", 10, 0);
    align(&f, 10);
    take(&f, "a", 1);
    const char *told = row(&f, "~[\"a\",%lld,%lld,1]\n", 0, 10), *last = row(&f, "~[\"a\",%lld,%lld,1]\n", 10, 10);
    gale_manual_clock_advance(f.fake.clock, 12 * GALE_SECOND);
    expect(&f, take_value(&f, "a", gale_i64(1)), told);
    finish(&f, last);
    end(&f);
}

static void a_sliding_window_holds_what_came_in_its_length(void **state) {
    (void)state;
    fixture f;
    begin(&f, "sum(x), max(x)", 3, 1);
    align(&f, 3);
    const char *told[5];
    static char texts[5][60];
    static const int sums[] = { 9, 11, 11, 2 }, most[] = { 9, 9, 9, 2 };
    for (int i = 0; i < 4; i++) {
        char format[60];
        snprintf(format, sizeof format, "~[\"a\",%%lld,%%lld,%d,%d]\n", sums[i], most[i]);
        told[i] = strcpy(texts[i], row(&f, format, i - 2, 3));
    }
    take(&f, "a", 9);
    tick_after(&f, 1, told[0]);
    take(&f, "a", 2);
    tick_after(&f, 1, told[1]);
    tick_after(&f, 1, told[2]);
    tick_after(&f, 1, told[3]);
    tick_after(&f, 1, "");
    end(&f);
}

static void a_change_is_told_at_a_tick_and_a_key_that_left_once_as_empty(void **state) {
    (void)state;
    fixture f;
    gale_window_options options = options_of("count, max(x)", 2, 1);
    options.emit = GALE_WINDOW_EMIT_CHANGE;
    begin_with(&f, &options);
    align(&f, 2);
    const char *first = row(&f, "~[\"a\",%lld,%lld,2,7]\n", -1, 2),
               *empty = row(&f, "~[\"a\",%lld,%lld,0,null]\n", 1, 2);
    take(&f, "a", 7);
    take(&f, "a", 5);
    tick_after(&f, 0.5, first);
    tick(&f, "");
    tick_after(&f, 0.5, ""); /* the window moved on, and holds the same */
    tick_after(&f, 1, empty);
    tick_after(&f, 5, "");
    finish(&f, "");
    end(&f);
}

static void windows_may_have_no_key(void **state) {
    (void)state;
    fixture f;
    gale_window_options options = options_of("count", 0.5, 0.25);
    options.key = NULL;
    begin_with(&f, &options);
    align(&f, 1);
    take(&f, "a", 1);
    take(&f, "b", 1);
    tick_after(&f, 0.25, "~[-0.25,0.25,2]\n");
    end(&f);
}

static bool first_wants;
static int over_five(void *user, const gale_value *values, size_t count, gale_error *error) {
    assert_ptr_equal(user, &first_wants);
    assert_int_equal(count, 4);
    assert_int_equal(error->code, GALE_OK);
    if (values[3].as.i64 == 99) return GALE_TYPE;
    if (values[3].as.i64 == 98) return gale_error_set(error, GALE_TYPE, "98 of all");
    return values[3].as.i64 > 5;
}

static int freed;
static void free_wants(void *user) {
    assert_ptr_equal(user, &first_wants);
    freed++;
}

static void a_row_is_told_when_having_says_so(void **state) {
    (void)state;
    fixture f;
    gale_window_options options = options_of("sum(x)", 10, 0);
    options.having = over_five;
    options.having_user = &first_wants;
    options.free_having_user = free_wants;
    freed = 0;
    begin_with(&f, &options);
    align(&f, 10);
    take(&f, "a", 5);
    take(&f, "b", 6);
    take(&f, "c", 99);
    take(&f, "d", 98);
    tick_after(&f, 10, row(&f, "~[\"b\",%lld,%lld,6]\n", 0, 10));
    assert_string_equal(fake_text(&f.fake.reports),
                        "window: 'having' could not be said of a row, which is left out: wrong type of value\n"
                        "window: 'having' could not be said of a row, which is left out: 98 of all\n");
    end(&f);
    assert_int_equal(freed, 1);
}

static int opened, open_rc;
static int open_wants(void *user, const gale_context *context, void **ret_self, gale_error *error) {
    assert_ptr_equal(user, &opened);
    assert_non_null(context);
    if (open_rc < 0) return gale_error_set(error, open_rc, "not today");
    opened++;
    *ret_self = &first_wants;
    return GALE_OK;
}

static void close_wants(void *self) {
    assert_ptr_equal(self, &first_wants);
    opened--;
}

static void each_task_asks_a_having_of_its_own(void **state) {
    (void)state;
    fixture f;
    void *other = NULL;
    gale_window_options options = options_of("sum(x)", 10, 0);
    options.having = over_five;
    options.having_open = open_wants;
    options.having_close = close_wants;
    options.having_user = &opened;
    opened = open_rc = 0;
    begin_with(&f, &options);
    assert_int_equal(fake_prepare(&f.fake, &f.bolt, &other), 0);
    assert_int_equal(opened, 2);
    f.bolt.ops->cleanup(other);
    assert_int_equal(opened, 1);
    open_rc = GALE_NO_MEMORY;
    assert_int_equal(fake_prepare(&f.fake, &f.bolt, &other), GALE_NO_MEMORY);
    assert_string_equal(fake_text(&f.fake.reports), "not today\n");
    align(&f, 10);
    take(&f, "a", 6);
    tick_after(&f, 10, row(&f, "~[\"a\",%lld,%lld,6]\n", 0, 10));
    end(&f);
    assert_int_equal(opened, 0);
}

static void a_sum_that_no_i64_holds_is_null_and_said(void **state) {
    (void)state;
    fixture f;
    begin(&f, "sum(x), avg(x)", 10, 0);
    align(&f, 10);
    take(&f, "a", INT64_MAX);
    take(&f, "a", INT64_MAX);
    tick_after(&f, 10, row(&f, "~[\"a\",%lld,%lld,null,9.223372036854776e+18]\n", 0, 10));
    assert_string_equal(fake_text(&f.fake.reports),
                        "window: 'sum_x' of a window has come to more than an i64 holds, and is told as null\n");
    end(&f);
}

static void nothing_but_nulls_is_null_counts_are_zero(void **state) {
    (void)state;
    fixture f;
    begin(&f,
          "count, count(x), sum(x), avg(x), min(x), max(x), first(x), last(x), distinct(x), percentile(x, 0.5), top(x, "
          "2)",
          10, 0);
    align(&f, 10);
    assert_int_equal(take_value(&f, "a", gale_null()), 0);
    tick_after(&f, 10, row(&f, "~[\"a\",%lld,%lld,1,0,null,null,null,null,null,null,0,null,[]]\n", 0, 10));
    end(&f);
}

static void nan_is_above_all_numbers_and_leaves_with_its_pane(void **state) {
    (void)state;
    fixture f;
    begin(&f, "min(x), max(x), sum(x), percentile(x, 0)", 2, 1);
    align(&f, 2);
    const char *both = row(&f, "~[\"a\",%lld,%lld,1,null,null,1.0]\n", -1, 2),
               *after = row(&f, "~[\"a\",%lld,%lld,4,4,4,4.0]\n", 1, 2);
    assert_int_equal(take_value(&f, "a", gale_f64(__builtin_nan(""))), 0);
    take(&f, "a", 1);
    tick_after(&f, 1, both);
    take(&f, "a", 4);
    gale_manual_clock_advance(f.fake.clock, GALE_SECOND);
    assert_int_equal(run(&f, fake_tick(&f.fake, 1)), 0);
    tick_after(&f, 1, after);
    end(&f);
}

/* --- Event time ------------------------------------------------------------------------------------------------------------ */

static int watermark(fixture *f, gale_value mark) {
    gale_value values[2] = { mark, mark };
    fake_source(&f->fake, "clock", "mark, newest");
    f->fake.stream.name = "watermark";
    return run(f, fake_tuple(&f->fake, values, 2));
}

static void begin_event(fixture *f, double length, double slide) {
    gale_window_options options = options_of("count, first(x), last(x)", length, slide);
    options.time = "time";
    begin_with(f, &options);
}

static void a_watermark_ends_windows_and_what_is_behind_it_fails(void **state) {
    (void)state;
    fixture f;
    begin_event(&f, 10, 0);
    expect(&f, watermark(&f, gale_i64(0)), "");
    expect(&f, take_at(&f, "a", 1, 5), "");
    expect(&f, take_at(&f, "a", 2, 12), "");
    expect(&f, take_at(&f, "a", 3, 2), ""); /* out of order: the first by its time, not by its coming */
    expect(&f, watermark(&f, gale_i64(9)), "");
    expect(&f, watermark(&f, gale_i64(10)), "~[\"a\",0,10,2,3,1]\n");
    assert_int_equal(take_at(&f, "a", 4, 9), GALE_STATE);
    assert_string_equal(fake_text(&f.fake.reports), "window: the time 9 is behind the watermark, 10\n");
    expect(&f, watermark(&f, gale_i64(3)), ""); /* goes back: of no effect */
    finish(&f, "~[\"a\",10,20,1,2,2]\n");
    end(&f);
}

static void without_a_watermark_all_is_kept_until_the_end(void **state) {
    (void)state;
    fixture f;
    begin_event(&f, 4, 2);
    expect(&f, take_at(&f, "a", 1, 7), "");
    expect(&f, take_at(&f, "a", 2, -1), "");
    finish(&f, "~[\"a\",-4,0,1,2,2]\n~[\"a\",-2,2,1,2,2]\n~[\"a\",4,8,1,1,1]\n~[\"a\",6,10,1,1,1]\n");
    end(&f);
}

static void of_times_with_fractions_the_first_and_the_last_are_exact(void **state) {
    (void)state;
    fixture f;
    begin_event(&f, 10, 0);
    static const double times[] = { 9.875, 9.5, 9.9999, 10.0, -0.25 };
    fake_source(&f.fake, "source", "k, x, time");
    for (int i = 0; i < 5; i++) {
        gale_value values[3] = { gale_text("a"), gale_i64(i), gale_f64(times[i]) };
        assert_int_equal(run(&f, fake_tuple(&f.fake, values, 3)), GALE_OK);
    }
    finish(&f, "~[\"a\",-10,0,1,4,4]\n~[\"a\",0,10,3,1,2]\n~[\"a\",10,20,1,3,3]\n");
    end(&f);
}

static void what_is_no_time_or_watermark_is_refused(void **state) {
    (void)state;
    fixture f;
    begin_event(&f, 10, 0);
    assert_int_equal(take_at(&f, "a", 1, INT64_MAX), GALE_INVALID);
    assert_int_equal(take_at(&f, "a", 1, INT64_MIN), GALE_INVALID);
    assert_int_equal(watermark(&f, gale_i64(INT64_MAX)), GALE_INVALID);
    assert_int_equal(watermark(&f, gale_text("x")), GALE_TYPE);
    gale_value values[3] = { gale_text("a"), gale_i64(1), gale_text("1") };
    fake_source(&f.fake, "source", "k, x, time");
    assert_int_equal(run(&f, fake_tuple(&f.fake, values, 3)), GALE_TYPE);
    values[2] = gale_f64(NAN);
    assert_int_equal(run(&f, fake_tuple(&f.fake, values, 3)), GALE_INVALID);
    values[2] = gale_f64(1e12); /* milliseconds, say */
    assert_int_equal(run(&f, fake_tuple(&f.fake, values, 3)), GALE_INVALID);
    finish(&f, "");
    end(&f);
}

/* --- Refusals ----------------------------------------------------------------------------------------------------------- */

static void a_value_of_another_type_fails_its_tuple_and_counts_nowhere(void **state) {
    (void)state;
    fixture f;
    begin(&f, "count, distinct(x), top(x, 2), sum(x)", 10, 0);
    align(&f, 10);
    assert_int_equal(take_value(&f, "a", gale_text("12")), GALE_TYPE);
    assert_string_equal(
        fake_text(&f.fake.reports),
        "window: field 'x' (value 1) of component 'source' must be a number (i64 or f64), is string \"12\"\n");
    take(&f, "a", 1);
    assert_int_equal(take_value(&f, "a", gale_text("12")), GALE_TYPE);
    tick_after(&f, 10, row(&f, "~[\"a\",%lld,%lld,1,1,[[1,1]],1]\n", 0, 10));
    end(&f);
}

static int take_weight(fixture *f, const char *key, gale_value value, gale_value weight) {
    gale_value values[3] = { gale_text(key), value, weight };
    fake_source(&f->fake, "source", "k, x, y");
    return run(f, fake_tuple(&f->fake, values, 3));
}

static void a_weight_is_a_whole_number_and_nothing_of_another_is_counted(void **state) {
    (void)state;
    fixture f;
    begin(&f, "count, top(x, 2), top(x, 2, y) as heaviest", 10, 0);
    align(&f, 10);
    assert_int_equal(take_weight(&f, "a", gale_i64(1), gale_i64(-1)), GALE_TYPE);
    assert_int_equal(take_weight(&f, "a", gale_i64(1), gale_f64(2)), GALE_TYPE);
    assert_non_null(
        strstr(fake_text(&f.fake.reports),
               "window: field 'y' (value 2) of component 'source' must be a whole number, not below 0, is "));
    assert_int_equal(take_weight(&f, "a", gale_i64(1), gale_i64(5)), 0);
    assert_int_equal(take_weight(&f, "a", gale_i64(1), gale_null()), 0);
    assert_int_equal(take_weight(&f, "a", gale_i64(2), gale_i64(INT64_C(5000000000))), 0);
    assert_int_equal(take_weight(&f, "a", gale_i64(3), gale_i64(0)), 0);
    tick_after(&f, 10, row(&f, "~[\"a\",%lld,%lld,4,[[1,2],[2,1]],[[2,5000000000],[1,5]]]\n", 0, 10));
    end(&f);
}

static void a_field_that_is_not_there_is_named_with_the_nearest(void **state) {
    (void)state;
    fixture f;
    begin(&f, "sum(xx)", 10, 0);
    assert_int_equal(take_value(&f, "a", gale_i64(1)), GALE_FIELDS);
    assert_string_equal(fake_text(&f.fake.reports),
                        "window: component 'source', stream 'default', has no field 'xx'; did you mean 'x'?\n");
    end(&f);
}

static void keys_and_bytes_have_limits_that_are_named(void **state) {
    (void)state;
    fixture f;
    gale_window_options options = options_of("count", 10, 0);
    options.max_keys = 2;
    begin_with(&f, &options);
    align(&f, 10);
    take(&f, "a", 1);
    take(&f, "b", 1);
    assert_int_equal(take_value(&f, "c", gale_i64(1)), GALE_TOO_LARGE);
    assert_string_equal(fake_text(&f.fake.reports),
                        "window: there are 2 keys in windows, and no more are allowed (max_keys)\n");
    take(&f, "a", 1);
    gale_manual_clock_advance(f.fake.clock, 10 * GALE_SECOND);
    assert_int_equal(take_value(&f, "c", gale_i64(1)), 0); /* the others are forgotten */
    end(&f);
    options.max_keys = 0;
    options.max_bytes = 1;
    begin_with(&f, &options);
    assert_int_equal(take_value(&f, "a", gale_i64(1)), GALE_TOO_LARGE);
    assert_string_equal(fake_text(&f.fake.reports),
                        "window: windows take more than the 1 bytes that a task is allowed (max_bytes)\n");
    end(&f);
}

static void what_cannot_be_emitted_is_told_later(void **state) {
    (void)state;
    fixture f;
    begin(&f, "count", 10, 0);
    align(&f, 10);
    const char *a = row(&f, "~[\"a\",%lld,%lld,1]\n", 0, 10), *b = row(&f, "~[\"b\",%lld,%lld,1]\n", 0, 10);
    take(&f, "a", 1);
    take(&f, "b", 1);
    f.fake.emit_error = GALE_NO_MEMORY;
    f.fake.emits_before = 1;
    gale_manual_clock_advance(f.fake.clock, 25 * GALE_SECOND);
    assert_int_equal(run(&f, fake_tick(&f.fake, 1)), GALE_NO_MEMORY);
    assert_string_equal(fake_text(&f.fake.emitted), a);
    f.fake.emit_error = 0;
    tick(&f, b);
    tick(&f, "");
    end(&f);
}

static void options_are_checked(void **state) {
    (void)state;
    static const struct {
        gale_window_options options;
        const char *sentence;
    } wrong[] = {
        { { .key = "k", .aggregates = "count" }, "window bolt: length is 0 seconds, must be 0.001 to 1e+09" },
        { { .aggregates = "count", .length = 1e10 }, "window bolt: length is 1e+10 seconds, must be 0.001 to 1e+09" },
        { { .aggregates = "count", .length = 10, .slide = -1 },
          "window bolt: slide is -1 seconds, must be 0.001 to 1e+09" },
        { { .aggregates = "count", .length = 10, .slide = 11 },
          "window bolt: slide is 11 seconds, above the length, 10: what comes between two windows would be in none" },
        { { .aggregates = "count", .length = 1.5, .time = "time" },
          "window bolt: length is 1.5 seconds; by the time that tuples carry, seconds are whole" },
        { { .aggregates = "count", .length = 1, .emit = 2 },
          "window bolt: emit is 2, which is neither close (0) nor change (1)" },
        { { .aggregates = "count", .length = 1, .tick = 1e-9 },
          "window bolt: tick is 1e-09 seconds, must be 0.001 to 1e+09" },
        { { .length = 1 }, "window bolt: aggregates: there are none" },
        { { .aggregates = "cuont", .length = 1 },
          "window bolt: aggregates, column 1: there is no function 'cuont'; did you mean 'count'?" },
        { { .aggregates = "count", .length = 1, .key = "a, a" }, "window bolt: key names 'a' twice" },
        { { .aggregates = "count", .length = 1, .time = "a, b" },
          "window bolt: time names 2 fields, must name one: 'a, b'" },
        { { .aggregates = "count", .length = 1, .exact = 1000001 }, "window bolt: exact is 1000001, at most 1000000" },
        { { .aggregates = "count", .length = 1, .counters = 1000001 },
          "window bolt: counters is 1000001, at most 1000000" },
    };
    gale_bolt bolt;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        gale_error error = GALE_ERROR_INIT;
        gale_window_options options = wrong[i].options;
        options.size = sizeof options;
        assert_int_equal(gale_window_bolt(&options, &bolt, &error), GALE_INVALID);
        assert_string_equal(error.text, wrong[i].sentence);
    }
    assert_int_equal(gale_window_bolt(NULL, &bolt, NULL), GALE_INVALID);
    assert_int_equal(gale_window_bolt(&wrong[0].options, NULL, NULL), GALE_INVALID);
    assert_int_equal(gale_window_bolt(&wrong[0].options, &bolt, NULL), GALE_INVALID); /* its size was not set */
}

static void what_has_no_key_must_be_one_task(void **state) {
    (void)state;
    fake_collector fake;
    gale_bolt bolt;
    void *self;
    gale_window_options options = options_of("count", 1, 0);
    options.key = "";
    fake_init(&fake);
    fake.context.task_count = 2;
    assert_int_equal(gale_window_bolt(&options, &bolt, NULL), 0);
    assert_int_equal(fake_prepare(&fake, &bolt, &self), GALE_INVALID);
    assert_non_null(strstr(fake_text(&fake.reports), "would each see a part of what has no key; it must be one"));
    fake_cleanup(&bolt, NULL);
    fake_fini(&fake);
}

/* --- Memory --------------------------------------------------------------------------------------------------------------- */

#define ALL                                                                                                            \
    "count, count(x), sum(x), avg(x), min(x), max(x), first(y), last(y), distinct(y), percentile(x, 0.5), top(y, 3), " \
    "top(y, 1) as best, top(y, 2, w) as heaviest"

static int take_both(fixture *f, int n) {
    char text[60];
    snprintf(text, sizeof text, "a word that is longer than sixteen bytes %d", n % 7);
    gale_value values[4] = { gale_text(n % 2 ? "a" : "a key that is longer than sixteen bytes"),
                             n % 5 ? gale_i64(n) : gale_f64(n / 2.0), gale_text(text), gale_i64(n % 11) };
    fake_source(&f->fake, "source", "k, x, y, w");
    return run(f, fake_tuple(&f->fake, values, 4));
}

static void a_key_is_forgotten_wholly_with_its_last_pane(void **state) {
    (void)state;
    fixture f;
    begin(&f, ALL, 5, 1);
    align(&f, 5);
    assert_int_equal(take_both(&f, 1), 0);
    assert_int_equal(run(&f, fake_tick(&f.fake, 1)), 0);
    for (int i = 0; i < 8; i++) {
        gale_manual_clock_advance(f.fake.clock, GALE_SECOND);
        assert_int_equal(run(&f, fake_tick(&f.fake, 1)), 0);
    }
    uint64_t blocks = f.fake.blocks;
    for (int n = 0; n < 200; n++) {
        gale_manual_clock_advance(f.fake.clock, 300 * GALE_MILLISECOND);
        assert_int_equal(take_both(&f, n), 0);
    }
    assert_true(f.fake.blocks > blocks);
    for (int i = 0; i < 8; i++) {
        gale_manual_clock_advance(f.fake.clock, GALE_SECOND);
        assert_int_equal(run(&f, fake_tick(&f.fake, 1)), 0);
    }
    assert_in_range(f.fake.blocks, 0, blocks + 2); /* what is kept for rows and the like, and no key's */
    end(&f);
}

/* Whatever allocation fails, the tuple fails, nothing of it is counted, and what is told in the end is right. */
static void run_short_of_memory(uint64_t fail_at, bool changes, bool *ret_failed, char *told, size_t size) {
    fixture f;
    gale_window_options options = options_of(ALL, 3, 1);
    options.exact = 4;
    options.counters = 2;
    options.emit = changes ? GALE_WINDOW_EMIT_CHANGE : GALE_WINDOW_EMIT_CLOSE;
    begin_with(&f, &options);
    align(&f, 3);
    f.fake.allocations = 0;
    f.fake.fail_at = fail_at;
    told[0] = 0;
    for (int n = 0; n < 60; n++) {
        gale_manual_clock_advance(f.fake.clock, n % 4 ? 0 : 500 * GALE_MILLISECOND);
        for (int rc = -1; rc < 0;) {
            rc = n % 4 ? take_both(&f, n) : run(&f, fake_tick(&f.fake, 1));
            if (rc < 0) assert_int_equal(rc, GALE_NO_MEMORY);
            strncat(told, fake_text(&f.fake.emitted), size - strlen(told) - 1);
        }
    }
    *ret_failed = f.fake.allocations >= fail_at;
    f.fake.fail_at = 0;
    end(&f);
}

static void a_tuple_that_fails_for_lack_of_memory_is_counted_nowhere(void **state) {
    (void)state;
    static char whole[60000], told[60000];
    for (int changes = 0; changes < 2; changes++) {
        bool failed = true;
        run_short_of_memory(UINT64_MAX, changes, &failed, whole, sizeof whole);
        assert_true(strlen(whole) > 1000);
        failed = true;
        for (uint64_t n = 1; failed; n++) {
            run_short_of_memory(n, changes, &failed, told, sizeof told);
            if (strcmp(told, whole) != 0) fail_msg("without allocation %d:\n%s\nnot\n%s", (int)n, told, whole);
        }
    }
}

static void a_definition_without_memory_for_a_task_says_so(void **state) {
    (void)state;
    for (uint64_t n = 1;; n++) {
        fake_collector fake;
        gale_bolt bolt;
        void *self = NULL;
        gale_window_options options = options_of(ALL, 3, 1);
        fake_init(&fake);
        assert_int_equal(gale_window_bolt(&options, &bolt, NULL), 0);
        fake.allocations = 0;
        fake.fail_at = n;
        int rc = fake_prepare(&fake, &bolt, &self);
        assert_true(rc == 0 || rc == GALE_NO_MEMORY);
        fake_cleanup(&bolt, self);
        fake_fini(&fake);
        if (rc == 0) break;
    }
}

/* --- What lasts ------------------------------------------------------------------------------------------------------------ */

static void what_was_saved_for_other_windows_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *aggregates;
        double length, slide;
    } others[] = { { "count", 10, 5 }, { "count", 20, 10 }, { "count as n", 10, 10 } };
    for (size_t i = 0; i < 3; i++) {
        memory_store memory;
        fixture f;
        memory_store_init(&memory);
        gale_store store = memory_store_open(&memory);
        gale_window_options options = options_of("count", 10, 10);
        fake_init(&f.fake);
        f.fake.store = &store;
        f.fake.context.durable = true;
        assert_int_equal(gale_window_bolt(&options, &f.bolt, NULL), 0);
        assert_int_equal(fake_prepare(&f.fake, &f.bolt, &f.self), 0);
        take(&f, "a", 1);
        assert_int_equal(fake_keep(&f.fake, f.bolt.ops->durable, f.self), 0);
        fake_cleanup(&f.bolt, f.self);
        fake_end_states(&f.fake);
        options = options_of(others[i].aggregates, others[i].length, others[i].slide);
        assert_int_equal(gale_window_bolt(&options, &f.bolt, NULL), 0);
        assert_int_equal(fake_prepare(&f.fake, &f.bolt, &f.self), 0);
        assert_int_equal(fake_give_back(&f.fake, f.bolt.ops->durable, f.self, 0, 1), GALE_STATE);
        assert_non_null(strstr(fake_text(&f.fake.reports), "the windows had another length or slide"));
        fake_cleanup(&f.bolt, f.self);
        fake_end_states(&f.fake);
        fake_fini(&f.fake);
        memory_store_fini(&memory);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_window_is_not_told),
        cmocka_unit_test(a_tumbling_window_is_told_once_when_it_has_ended),
        cmocka_unit_test(what_ended_is_told_by_the_next_tuple_before_it_is_counted),
        cmocka_unit_test(a_sliding_window_holds_what_came_in_its_length),
        cmocka_unit_test(a_change_is_told_at_a_tick_and_a_key_that_left_once_as_empty),
        cmocka_unit_test(windows_may_have_no_key),
        cmocka_unit_test(a_row_is_told_when_having_says_so),
        cmocka_unit_test(each_task_asks_a_having_of_its_own),
        cmocka_unit_test(a_sum_that_no_i64_holds_is_null_and_said),
        cmocka_unit_test(nothing_but_nulls_is_null_counts_are_zero),
        cmocka_unit_test(nan_is_above_all_numbers_and_leaves_with_its_pane),
        cmocka_unit_test(a_watermark_ends_windows_and_what_is_behind_it_fails),
        cmocka_unit_test(without_a_watermark_all_is_kept_until_the_end),
        cmocka_unit_test(of_times_with_fractions_the_first_and_the_last_are_exact),
        cmocka_unit_test(what_is_no_time_or_watermark_is_refused),
        cmocka_unit_test(a_weight_is_a_whole_number_and_nothing_of_another_is_counted),
        cmocka_unit_test(a_value_of_another_type_fails_its_tuple_and_counts_nowhere),
        cmocka_unit_test(a_field_that_is_not_there_is_named_with_the_nearest),
        cmocka_unit_test(keys_and_bytes_have_limits_that_are_named),
        cmocka_unit_test(what_cannot_be_emitted_is_told_later),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(what_has_no_key_must_be_one_task),
        cmocka_unit_test(a_key_is_forgotten_wholly_with_its_last_pane),
        cmocka_unit_test(a_tuple_that_fails_for_lack_of_memory_is_counted_nowhere),
        cmocka_unit_test(a_definition_without_memory_for_a_task_says_so),
        cmocka_unit_test(what_was_saved_for_other_windows_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
