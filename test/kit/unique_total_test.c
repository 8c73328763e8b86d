#include "kit/streams.h"

#include <gale/kit.h>

#include "harness/cm.h"

typedef struct fixture {
    fake_collector fake;
    gale_bolt bolt;
    void *self;
} fixture;

static void begin(fixture *f) {
    fake_init(&f->fake);
    streams_use(&f->fake);
    assert_int_equal(gale_unique_total_bolt(1, &f->bolt, NULL), 0);
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

static int send(fixture *f, const char *stream, int64_t a, int64_t b, int64_t c) {
    gale_value values[3] = { gale_i64(a), gale_i64(b), gale_i64(c) };
    fake_source(&f->fake, "unique", "a, b, c");
    f->fake.stream.name = stream;
    return run(f, fake_tuple(&f->fake, values, 3));
}

static void expect(fixture *f, int rc, const char *emitted) {
    assert_int_equal(rc, 0);
    assert_string_equal(fake_text(&f->fake.emitted), emitted);
}

static void count(fixture *f, int64_t window, int64_t start, int64_t more) {
    expect(f, send(f, "default", window, start, more), "");
}

static void watermark(fixture *f, int64_t mark, int64_t task, const char *emitted) {
    expect(f, send(f, "watermark", mark, task, 2), emitted);
}

static void tick(fixture *f, const char *emitted) {
    expect(f, run(f, fake_tick(&f->fake, 1)), emitted);
}

static void finish(fixture *f, const char *emitted) {
    fake_forget(&f->fake);
    expect(f, f->bolt.ops->finish(f->self, &f->fake.collector), emitted);
}

static void a_window_goes_out_once_when_all_tasks_have_passed_it(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    count(&f, 60, 0, 3);
    count(&f, 300, 0, 3);
    count(&f, 60, 60, 1);
    watermark(&f, 120, 0, "");
    count(&f, 60, 0, 4);
    watermark(&f, 59, 1, "");
    watermark(&f, 60, 1, "~[60,0,7]\n");
    watermark(&f, 400, 1, "~[60,60,1]\n");
    watermark(&f, 300, 0, "~[300,0,3]\n");
    watermark(&f, 10, 0, "");
    finish(&f, "");
    end(&f);
}

static void the_end_tells_the_rest_in_the_order_of_ends(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    count(&f, 300, 0, 9);
    count(&f, 60, 240, 2);
    count(&f, 60, -60, 1);
    finish(&f, "~[60,-60,1]\n~[60,240,2]\n~[300,0,9]\n");
    finish(&f, "");
    end(&f);
}

static void ticks_tell_how_it_stands_when_it_has_moved(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    tick(&f, "");
    count(&f, 60, 0, 1);
    count(&f, 60, 60, 1);
    tick(&f, "1:~[60,0,1]\n1:~[60,60,1]\n");
    tick(&f, "");
    count(&f, 60, 60, 2);
    tick(&f, "1:~[60,60,3]\n");
    finish(&f, "~[60,0,1]\n~[60,60,3]\n");
    end(&f);
}

static void what_could_not_be_emitted_goes_out_later(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    count(&f, 60, 0, 1);
    count(&f, 60, 60, 2);
    f.fake.emit_error = GALE_NO_MEMORY;
    assert_int_equal(run(&f, fake_tick(&f.fake, 1)), GALE_NO_MEMORY);
    watermark(&f, 500, 0, "");
    f.fake.emits_before = 1;
    assert_int_equal(send(&f, "watermark", 500, 1, 2), GALE_NO_MEMORY);
    assert_string_equal(fake_text(&f.fake.emitted), "~[60,0,1]\n");
    f.fake.emit_error = 0;
    tick(&f, "1:~[60,60,2]\n");
    watermark(&f, 501, 1, "~[60,60,2]\n");
    end(&f);
}

static void every_failing_allocation_is_survived(void **state) {
    (void)state;
    for (uint64_t n = 1; n < 8; n++) {
        fixture f;
        fake_init(&f.fake);
        streams_use(&f.fake);
        assert_int_equal(gale_unique_total_bolt(1, &f.bolt, NULL), 0);
        f.fake.fail_at = f.fake.allocations + n;
        if (fake_prepare(&f.fake, &f.bolt, &f.self) < 0) assert_int_equal(fake_prepare(&f.fake, &f.bolt, &f.self), 0);
        for (int64_t start = 0; start < 1200; start += 60) {
            int rc = send(&f, "default", 60, start, 1);
            if (rc < 0) count(&f, 60, start, 1);
        }
        int rc = send(&f, "watermark", 120, 0, 1);
        if (rc < 0) rc = send(&f, "watermark", 120, 0, 1);
        expect(&f, rc, "~[60,0,1]\n~[60,60,1]\n");
        end(&f);
    }
}

static void what_no_unique_bolt_would_send_fails(void **state) {
    (void)state;
    static const int64_t counts[][3] = {
        { 0, 0, 1 }, { INT64_MAX, 0, 1 }, { 60, INT64_MIN, 1 }, { 60, INT64_MAX, 1 }, { 60, 0, -1 }
    };
    static const int64_t marks[][3] = { { 1, 0, 0 }, { 1, -1, 2 }, { 1, 2, 2 }, { 1, 0, 1 << 20 }, { 1, 0, 3 } };
    fixture f;
    begin(&f);
    watermark(&f, 60, 0, "");
    for (int i = 0; i < 5; i++) {
        assert_int_equal(send(&f, "default", counts[i][0], counts[i][1], counts[i][2]), GALE_INVALID);
        assert_int_equal(send(&f, "watermark", marks[i][0], marks[i][1], marks[i][2]), GALE_INVALID);
    }
    assert_string_equal(fake_text(&f.fake.reports),
                        "unique total: component 'unique', stream 'watermark', sent (1, 0, 3), which is out of "
                        "range\n");
    gale_value values[3] = { gale_i64(60), gale_null(), gale_i64(1) };
    assert_int_equal(run(&f, fake_tuple(&f.fake, values, 3)), GALE_TYPE);
    assert_int_equal(run(&f, fake_tuple(&f.fake, values, 2)), GALE_FIELDS);
    finish(&f, "");
    end(&f);
}

static void it_is_one_task_with_a_tick(void **state) {
    (void)state;
    fixture f;
    gale_error error = GALE_ERROR_INIT;
    fake_init(&f.fake);
    assert_int_equal(gale_unique_total_bolt(0, &f.bolt, &error), GALE_INVALID);
    assert_string_equal(error.text, "unique total bolt: emit_seconds is 0, must be 1 to 2147483647");
    assert_int_equal(gale_unique_total_bolt(INT64_MAX, &f.bolt, &error), GALE_INVALID);
    assert_int_equal(gale_unique_total_bolt(7, &f.bolt, &error), 0);
    assert_int_equal(f.bolt.settings[0].value.as.i64, 7);
    f.fake.context.task_count = 2;
    assert_int_equal(fake_prepare(&f.fake, &f.bolt, &f.self), GALE_INVALID);
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_window_goes_out_once_when_all_tasks_have_passed_it),
        cmocka_unit_test(the_end_tells_the_rest_in_the_order_of_ends),
        cmocka_unit_test(ticks_tell_how_it_stands_when_it_has_moved),
        cmocka_unit_test(what_could_not_be_emitted_goes_out_later),
        cmocka_unit_test(every_failing_allocation_is_survived),
        cmocka_unit_test(what_no_unique_bolt_would_send_fails),
        cmocka_unit_test(it_is_one_task_with_a_tick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
