#include "kit/streams.h"

#include <gale/kit.h>

#include "harness/cm.h"

#define LINE "10.0.0.1 - mia [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.0\" 200 2326 \"-\" \"curl\""

typedef struct fixture {
    fake_collector fake;
    gale_bolt bolt;
    void *self;
} fixture;

static void begin(fixture *f) {
    fake_init(&f->fake);
    streams_use(&f->fake);
    fake_source(&f->fake, "lines", "line");
    assert_int_equal(gale_access_log_bolt(NULL, &f->bolt, NULL), 0);
    assert_int_equal(fake_prepare(&f->fake, &f->bolt, &f->self), 0);
}

static void end(fixture *f) {
    fake_cleanup(&f->bolt, f->self);
    fake_fini(&f->fake);
}

static int take(fixture *f, gale_value value) {
    fake_forget(&f->fake);
    return f->bolt.ops->execute(f->self, fake_tuple(&f->fake, &value, 1), &f->fake.collector);
}

static void expect(fixture *f, gale_value value, const char *emitted) {
    assert_int_equal(take(f, value), 0);
    assert_string_equal(fake_text(&f->fake.emitted), emitted);
}

static void a_line_becomes_its_fields(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    expect(
        &f, gale_text(LINE),
        "[\"10.0.0.1\",\"mia\",971211336,\"GET / HTTP/1.0\",200,2326,null,\"curl\",\"GET\",\"/\",null,\"HTTP/1.0\"]\n");
    end(&f);
}

static void only_a_piece_that_is_no_text_comes_out_as_bytes(void **state) {
    (void)state;
    static const char line[] = "h - - [10/Oct/2000:13:55:36 -0700] \"GET /\xff\" 200 - \"-\" \"curl\"";
    fixture f;
    begin(&f);
    assert_int_equal(take(&f, gale_bytes(line, sizeof line - 1)), 0);
    const char *emitted = fake_text(&f.fake.emitted);
    assert_non_null(strstr(emitted, "[\"h\",null,971211336,"));
    assert_non_null(strstr(emitted, ",200,0,null,\"curl\","));
    assert_null(strstr(emitted, "\"GET /"));
    end(&f);
}

static void what_is_no_line_goes_to_a_stream_of_its_own(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    expect(&f, gale_text("nonsense"), "1:[\"nonsense\",\"there is no host\"]\n");
    expect(&f, gale_text(""), "1:[\"\",\"there is no host\"]\n");
    assert_string_equal(fake_text(&f.fake.logged), "");
    end(&f);
}

static void bad_lines_that_nobody_takes_are_counted_and_logged(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    streams_unheard = 1 << 1;
    expect(&f, gale_text("nonsense"), "");
    assert_string_equal(fake_text(&f.fake.logged), "no line of an access log, there is no host: nonsense\n");
    expect(&f, gale_text("more of it"), "");
    expect(&f, gale_bytes("\xff", 1), "");
    assert_string_equal(fake_text(&f.fake.logged), "");
    f.bolt.ops->cleanup(f.self);
    f.self = NULL;
    assert_string_equal(fake_text(&f.fake.logged),
                        "3 lines were no line of an access log; who subscribes to the stream 'bad' gets them\n");
    end(&f);
}

static void a_line_that_cannot_be_emitted_fails(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    f.fake.emit_error = GALE_NO_MEMORY;
    assert_int_equal(take(&f, gale_text(LINE)), GALE_NO_MEMORY);
    assert_int_equal(take(&f, gale_text("nonsense")), GALE_NO_MEMORY);
    end(&f);
}

static void what_is_no_text_fails_with_its_type(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    assert_int_equal(take(&f, gale_i64(7)), GALE_TYPE);
    assert_string_equal(
        fake_text(&f.fake.reports),
        "access log bolt: field 'line' (value 0) of component 'lines' must be string or bytes, is i64 7\n");
    assert_int_equal(f.bolt.ops->execute(f.self, fake_tuple(&f.fake, NULL, 0), &f.fake.collector), GALE_FIELDS);
    assert_int_equal(f.bolt.ops->execute(f.self, fake_tick(&f.fake, 1), &f.fake.collector), 0);
    end(&f);
}

static void the_line_may_be_any_field_and_others_go_along(void **state) {
    (void)state;
    fixture f = { .self = NULL };
    gale_access_log_options options = { .size = sizeof options, .field = "line", .keep = "file" };
    fake_init(&f.fake);
    streams_use(&f.fake);
    fake_source(&f.fake, "lines", "file, line");
    assert_int_equal(gale_access_log_bolt(&options, &f.bolt, NULL), 0);
    assert_string_equal(f.bolt.outputs[0].fields,
                        "file, host, user, time, request, status, bytes, referer, agent, method, "
                        "path, query, protocol");
    assert_int_equal(fake_prepare(&f.fake, &f.bolt, &f.self), 0);
    gale_value values[2] = { gale_text("a.log"), gale_text(LINE) };
    assert_int_equal(f.bolt.ops->execute(f.self, fake_tuple(&f.fake, values, 2), &f.fake.collector), 0);
    assert_non_null(strstr(fake_text(&f.fake.emitted), "[\"a.log\",\"10.0.0.1\",\"mia\",971211336,"));
    end(&f);
}

static void what_goes_out_twice_is_refused(void **state) {
    (void)state;
    gale_bolt bolt;
    gale_error error = GALE_ERROR_INIT;
    gale_access_log_options options = { .size = sizeof options, .keep = "time" };
    assert_int_equal(gale_access_log_bolt(&options, &bolt, &error), GALE_INVALID);
    assert_string_equal(error.text, "access log bolt: fields: 'time' goes out already");
}

static void without_memory_it_is_not_prepared(void **state) {
    (void)state;
    fixture f;
    fake_init(&f.fake);
    assert_int_equal(gale_access_log_bolt(NULL, &f.bolt, NULL), 0);
    f.fake.fail_at = 1;
    assert_int_equal(fake_prepare(&f.fake, &f.bolt, &f.self), GALE_NO_MEMORY);
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_becomes_its_fields),
        cmocka_unit_test(only_a_piece_that_is_no_text_comes_out_as_bytes),
        cmocka_unit_test(what_is_no_line_goes_to_a_stream_of_its_own),
        cmocka_unit_test(bad_lines_that_nobody_takes_are_counted_and_logged),
        cmocka_unit_test(a_line_that_cannot_be_emitted_fails),
        cmocka_unit_test(what_is_no_text_fails_with_its_type),
        cmocka_unit_test(the_line_may_be_any_field_and_others_go_along),
        cmocka_unit_test(what_goes_out_twice_is_refused),
        cmocka_unit_test(without_memory_it_is_not_prepared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
