#include "kit/streams.h"

#include "base/random.h"

#include <gale/kit.h>
#include <stdio.h>

#include "harness/cm.h"

typedef struct fixture {
    fake_collector fake;
    gale_bolt bolt;
    void *self;
} fixture;

static gale_unique_options options_of(const char *windows) {
    return (gale_unique_options){ .size = sizeof(gale_unique_options), .key = "who", .windows = windows };
}

static void begin(fixture *f, const char *windows) {
    gale_unique_options options = options_of(windows);
    fake_init(&f->fake);
    streams_use(&f->fake);
    assert_int_equal(gale_unique_bolt(&options, &f->bolt, NULL), 0);
    assert_int_equal(fake_prepare(&f->fake, &f->bolt, &f->self), 0);
}

static void end(fixture *f) {
    fake_cleanup(&f->bolt, f->self);
    fake_fini(&f->fake);
}

static int run(fixture *f, const gale_tuple *tuple) {
    fake_forget(&f->fake);
    return f->bolt.ops->execute(f->self, tuple, &f->fake.collector);
}

static int take(fixture *f, int64_t time, const char *name) {
    gale_value values[2] = { gale_i64(time), gale_text(name) };
    fake_source(&f->fake, "clock", "time, who");
    return run(f, fake_tuple(&f->fake, values, 2));
}

static int watermark_of(fixture *f, gale_value mark, gale_value newest) {
    gale_value values[2] = { mark, newest };
    fake_source(&f->fake, "clock", "mark, newest");
    f->fake.stream.name = "watermark";
    return run(f, fake_tuple(&f->fake, values, 2));
}

static void expect(fixture *f, int rc, const char *emitted) {
    assert_int_equal(rc, 0);
    assert_string_equal(fake_text(&f->fake.emitted), emitted);
}

static void take_all(fixture *f, int64_t time, const char *names) {
    for (const char *name = names; *name; name++) expect(f, take(f, time, (char[2]){ *name, 0 }), "");
}

static void watermark(fixture *f, int64_t mark, int64_t newest, const char *emitted) {
    expect(f, watermark_of(f, gale_i64(mark), gale_i64(newest)), emitted);
}

static void tick(fixture *f, const char *emitted) {
    expect(f, run(f, fake_tick(&f->fake, 1)), emitted);
}

static void finish(fixture *f, const char *emitted) {
    fake_forget(&f->fake);
    expect(f, f->bolt.ops->finish(f->self, &f->fake.collector), emitted);
}

static void each_key_counts_once_in_each_of_its_windows(void **state) {
    (void)state;
    fixture f;
    begin(&f, "60, 300");
    take_all(&f, 0, "aabab");
    take_all(&f, 59, "ac");
    take_all(&f, 60, "ad");
    tick(&f, "~[60,0,3]\n~[60,60,2]\n~[300,0,4]\n");
    tick(&f, "");
    take_all(&f, 299, "ae");
    take_all(&f, 300, "a");
    tick(&f, "~[60,240,2]\n~[300,0,1]\n~[60,300,1]\n~[300,300,1]\n");
    finish(&f, "");
    end(&f);
}

static void a_window_is_told_when_the_watermark_passes_its_end(void **state) {
    (void)state;
    fixture f;
    begin(&f, "60");
    watermark(&f, -120, 0, "1:~[-120,0,1]\n");
    take_all(&f, 0, "ab");
    take_all(&f, 60, "a");
    watermark(&f, -30, 90, "1:~[-30,0,1]\n");
    watermark(&f, 59, 179, "1:~[59,0,1]\n");
    take_all(&f, 59, "c"); /* late, but in time */
    watermark(&f, 60, 180, "~[60,0,3]\n1:~[60,0,1]\n");
    assert_int_equal(take(&f, 59, "d"), GALE_STATE);
    assert_string_equal(fake_text(&f.fake.reports), "unique: the time 59 is behind the watermark, 60\n");
    watermark(&f, 70, 190, ""); /* ends nothing */
    watermark(&f, 65, 185, ""); /* goes back: of no effect */
    assert_int_equal(take(&f, 69, "d"), GALE_STATE);
    take_all(&f, 70, "a");
    finish(&f, "~[60,60,1]\n");
    end(&f);
}

static void windows_begin_at_multiples_before_1970_too(void **state) {
    (void)state;
    fixture f;
    begin(&f, "60");
    take_all(&f, -1, "a");
    take_all(&f, -60, "a");
    take_all(&f, -61, "a");
    finish(&f, "~[60,-120,1]\n~[60,-60,1]\n");
    end(&f);
}

/* The sum of what was told of windows of a minute; a watermark has "1:" before it. */
static int64_t sum_of(fixture *f) {
    int64_t sum = 0;
    for (const char *line = fake_text(&f->fake.emitted); *line; line = strchr(line, '\n') + 1) {
        long long start, count;
        if (sscanf(line, "~[60,%lld,%lld]", &start, &count) == 2) sum += count;
    }
    return sum;
}

/* Random times within the lateness: each pair is counted once, however the map turned meanwhile. */
static void no_duplicate_is_counted_as_long_as_its_window_is_open(void **state) {
    (void)state;
    enum { KEYS = 8, MINUTES = 200, LATE = 120 };
    static uint8_t seen[MINUTES + 1][KEYS];
    int64_t counted = 0, wanted = 0;
    fixture f;
    begin(&f, "60");
    memset(seen, 0, sizeof seen);
    gx_random random = gx_random_new(5, 0);
    for (int64_t now = LATE; now < MINUTES * 60; now++) {
        assert_int_equal(watermark_of(&f, gale_i64(now - LATE), gale_i64(now)), 0);
        counted += sum_of(&f);
        int64_t time = now - gx_random_below(&random, LATE + 1);
        uint32_t key = gx_random_below(&random, KEYS);
        wanted += !seen[time / 60][key];
        seen[time / 60][key] = 1;
        assert_int_equal(take(&f, time, (char[2]){ (char)('a' + key), 0 }), 0);
    }
    fake_forget(&f.fake);
    assert_int_equal(f.bolt.ops->finish(f.self, &f.fake.collector), 0);
    assert_int_equal(counted + sum_of(&f), wanted);
    end(&f);
}

static void what_has_ended_takes_no_memory(void **state) {
    (void)state;
    fixture f;
    begin(&f, "60");
    uint64_t before = f.fake.blocks;
    for (int64_t minute = 0; minute < 50; minute++) {
        assert_int_equal(watermark_of(&f, gale_i64(60 * minute - 60), gale_i64(60 * minute)), 0);
        for (int i = 0; i < 300; i++) {
            char name[100];
            snprintf(name, sizeof name, "somebody with a name that is too long to lie in the table, number %d", i);
            assert_int_equal(take(&f, 60 * minute, name), 0);
        }
        assert_in_range(f.fake.blocks - before, 0, 300 * 6);
    }
    assert_int_equal(watermark_of(&f, gale_i64(100000), gale_i64(100060)), 0);
    assert_in_range(f.fake.blocks - before, 0, 50);
    end(&f);
}

static void what_could_not_be_told_is_told_later_and_before_the_watermark(void **state) {
    (void)state;
    fixture f;
    begin(&f, "60");
    take_all(&f, 0, "ab");
    take_all(&f, 60, "a");
    f.fake.emit_error = GALE_NO_MEMORY;
    assert_int_equal(run(&f, fake_tick(&f.fake, 1)), GALE_NO_MEMORY);
    f.fake.emits_before = 1;
    assert_int_equal(watermark_of(&f, gale_i64(120), gale_i64(120)), GALE_NO_MEMORY);
    assert_string_equal(fake_text(&f.fake.emitted), "~[60,0,2]\n");
    f.fake.emits_before = 1;
    assert_int_equal(watermark_of(&f, gale_i64(121), gale_i64(121)), GALE_NO_MEMORY);
    assert_string_equal(fake_text(&f.fake.emitted), "~[60,60,1]\n");
    f.fake.emit_error = 0;
    watermark(&f, 121, 121, "1:~[121,0,1]\n");
    finish(&f, "");
    end(&f);
}

/* Whatever allocation fails, and however often the tuple is replayed then: it counts once in each window. */
static void every_failing_allocation_leaves_the_counts_right(void **state) {
    (void)state;
    gale_unique_options options = options_of("60, 300");
    for (uint64_t n = 1; n < 40; n++) {
        fixture f;
        fake_init(&f.fake);
        streams_use(&f.fake);
        assert_int_equal(gale_unique_bolt(&options, &f.bolt, NULL), 0);
        f.fake.fail_at = f.fake.allocations + n;
        if (fake_prepare(&f.fake, &f.bolt, &f.self) < 0) assert_int_equal(fake_prepare(&f.fake, &f.bolt, &f.self), 0);
        for (int i = 0; i < 60; i++) {
            char name[100];
            snprintf(name, sizeof name, "somebody with a name that is too long to lie in the table, number %d", i);
            int rc = take(&f, 60 * (i % 3), name);
            assert_true(rc == 0 || rc == GALE_NO_MEMORY);
            assert_int_equal(take(&f, 60 * (i % 3), name), 0);
        }
        finish(&f, "~[60,0,20]\n~[60,60,20]\n~[60,120,20]\n~[300,0,60]\n");
        end(&f);
    }
}

static void what_is_no_time_or_no_watermark_fails(void **state) {
    (void)state;
    fixture f;
    begin(&f, "60");
    assert_int_equal(take(&f, INT64_MAX, "a"), GALE_INVALID);
    assert_int_equal(take(&f, INT64_MIN, "a"), GALE_INVALID);
    assert_int_equal(watermark_of(&f, gale_i64(5), gale_i64(4)), GALE_INVALID);
    assert_int_equal(watermark_of(&f, gale_i64(INT64_MIN), gale_i64(INT64_MAX)), GALE_INVALID);
    assert_int_equal(watermark_of(&f, gale_null(), gale_i64(4)), GALE_TYPE);
    assert_int_equal(watermark_of(&f, gale_i64(4), gale_null()), GALE_TYPE);
    gale_value values[2] = { gale_text("noon"), gale_text("a") };
    fake_source(&f.fake, "clock", "time, who");
    assert_int_equal(run(&f, fake_tuple(&f.fake, values, 2)), GALE_TYPE);
    fake_source(&f.fake, "clock", "time, whom");
    values[0] = gale_i64(1);
    assert_int_equal(run(&f, fake_tuple(&f.fake, values, 2)), GALE_FIELDS);
    finish(&f, "");
    end(&f);
}

static void expect_refused(const char *key, const char *windows, uint32_t emit, const char *message) {
    gale_bolt bolt = { 0 };
    gale_error error = GALE_ERROR_INIT;
    gale_unique_options options = options_of(windows);
    options.key = key;
    options.emit_seconds = emit;
    assert_int_equal(gale_unique_bolt(&options, &bolt, &error), GALE_INVALID);
    assert_string_equal(error.text, message);
    assert_null(bolt.ops);
}

static void arguments_are_checked(void **state) {
    (void)state;
    expect_refused(NULL, "60", 1, "unique bolt: key names no field");
    expect_refused("a", "", 1, "unique bolt: windows has '', must be seconds, 1 to 1000000000");
    expect_refused("a", "60,", 1, "unique bolt: windows has '', must be seconds, 1 to 1000000000");
    expect_refused("a", "0", 1, "unique bolt: windows has '0', must be seconds, 1 to 1000000000");
    expect_refused("a", "-1", 1, "unique bolt: windows has '-1', must be seconds, 1 to 1000000000");
    expect_refused("a", "60 300", 1, "unique bolt: windows has '60 300', must be seconds, 1 to 1000000000");
    expect_refused("a", "99999999999", 1, "unique bolt: windows has '99999999999', must be seconds, 1 to 1000000000");
    expect_refused("a", "60, 060", 1, "unique bolt: windows has 60 twice");
    expect_refused("a", "1,2,3,4,5,6,7,8,9", 1, "unique bolt: windows has more than 8 lengths");
    expect_refused("a", "60", UINT32_MAX, "unique bolt: emit_seconds is 4294967295, at most 2147483647");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_key_counts_once_in_each_of_its_windows),
        cmocka_unit_test(a_window_is_told_when_the_watermark_passes_its_end),
        cmocka_unit_test(windows_begin_at_multiples_before_1970_too),
        cmocka_unit_test(no_duplicate_is_counted_as_long_as_its_window_is_open),
        cmocka_unit_test(what_has_ended_takes_no_memory),
        cmocka_unit_test(what_could_not_be_told_is_told_later_and_before_the_watermark),
        cmocka_unit_test(every_failing_allocation_leaves_the_counts_right),
        cmocka_unit_test(what_is_no_time_or_no_watermark_fails),
        cmocka_unit_test(arguments_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
