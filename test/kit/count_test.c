#include "harness/fake_collector.h"

#include <gale/kit.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

typedef struct fixture {
    fake_collector fake;
    gale_bolt bolt;
    void *self;
} fixture;

static void begin(fixture *f, int32_t emit) {
    fake_init(&f->fake);
    assert_int_equal(gale_count_bolt(emit, &f->bolt, NULL), 0);
    assert_int_equal(fake_prepare(&f->fake, &f->bolt, &f->self), 0);
}

static void end(fixture *f) {
    fake_cleanup(&f->bolt, f->self);
    fake_fini(&f->fake);
}

static int execute(fixture *f, gale_value value) {
    return f->bolt.ops->execute(f->self, fake_tuple(&f->fake, &value, 1), &f->fake.collector);
}

static void each_input_tells_the_new_count(void **state) {
    (void)state;
    fixture f;
    begin(&f, GALE_COUNT_EMIT_EACH);
    static const char *const words[] = { "a", "b", "a", "a" };
    for (int i = 0; i < 4; i++) assert_int_equal(execute(&f, gale_text(words[i])), 0);
    assert_int_equal(f.bolt.ops->finish(f.self, &f.fake.collector), 0);
    assert_string_equal(fake_text(&f.fake.emitted), "[\"a\",1]\n[\"b\",1]\n[\"a\",2]\n[\"a\",3]\n");
    end(&f);
}

static void finish_tells_all_totals_in_order_of_first_sight(void **state) {
    (void)state;
    fixture f;
    begin(&f, GALE_COUNT_EMIT_FINISH);
    gale_value items[2] = { gale_i64(1), gale_null() };
    const gale_value values[] = { gale_text("b"),      gale_text("a"), gale_i64(1),    gale_f64(1),
                                  gale_bytes("a", 1),  gale_null(),    gale_text("b"), gale_bool(true),
                                  gale_list(items, 2), gale_i64(1) };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) assert_int_equal(execute(&f, values[i]), 0);
    assert_int_equal(f.fake.emissions, 0);
    assert_int_equal(f.bolt.ops->finish(f.self, &f.fake.collector), 0);
    assert_string_equal(fake_text(&f.fake.emitted), "[\"b\",2]\n[\"a\",1]\n[1,2]\n[1.0,1]\n[{\"base64\":\"YQ==\"},1]\n"
                                                    "[null,1]\n[true,1]\n[[1,null],1]\n");
    end(&f);
}

static void a_count_that_was_not_told_is_not_counted(void **state) {
    (void)state;
    fixture f;
    begin(&f, GALE_COUNT_EMIT_EACH);
    f.fake.emit_error = GALE_NO_MEMORY;
    assert_int_equal(execute(&f, gale_text("a")), GALE_NO_MEMORY);
    f.fake.emit_error = 0;
    assert_int_equal(execute(&f, gale_text("a")), 0);
    assert_string_equal(fake_text(&f.fake.emitted), "[\"a\",1]\n");
    end(&f);
}

static void only_the_first_value_counts(void **state) {
    (void)state;
    fixture f;
    begin(&f, GALE_COUNT_EMIT_EACH);
    gale_value pair[2] = { gale_text("a"), gale_i64(5) };
    assert_int_equal(f.bolt.ops->execute(f.self, fake_tuple(&f.fake, pair, 2), &f.fake.collector), 0);
    assert_int_equal(execute(&f, gale_text("a")), 0);
    pair[1] = gale_text("another");
    assert_int_equal(f.bolt.ops->execute(f.self, fake_tuple(&f.fake, pair, 2), &f.fake.collector), 0);
    assert_string_equal(fake_text(&f.fake.emitted), "[\"a\",1]\n[\"a\",2]\n[\"a\",3]\n");
    end(&f);
}

static void a_field_counts_wherever_it_stands(void **state) {
    (void)state;
    fixture f;
    gale_value pair[2] = { gale_text("h"), gale_text("r") };
    fake_init(&f.fake);
    assert_int_equal(gale_field_count_bolt("request", GALE_COUNT_EMIT_EACH, &f.bolt, NULL), 0);
    assert_int_equal(fake_prepare(&f.fake, &f.bolt, &f.self), 0);
    static const char *const streams[] = { "host, request", "request, host", "host, request" };
    for (int i = 0; i < 3; i++) {
        fake_source(&f.fake, "parse", streams[i]);
        assert_int_equal(f.bolt.ops->execute(f.self, fake_tuple(&f.fake, pair, 2), &f.fake.collector), 0);
    }
    assert_string_equal(fake_text(&f.fake.emitted), "[\"r\",1]\n[\"h\",1]\n[\"r\",2]\n");
    fake_source(&f.fake, "parse", "host, requests");
    assert_int_equal(f.bolt.ops->execute(f.self, fake_tuple(&f.fake, pair, 2), &f.fake.collector), GALE_FIELDS);
    assert_string_equal(fake_text(&f.fake.reports), "count: component 'parse', stream 'default', has no field "
                                                    "'request'; did you mean 'requests'?\n");
    end(&f);
}

static void more_than_one_field_is_refused(void **state) {
    (void)state;
    gale_bolt bolt = { 0 };
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gale_field_count_bolt("host, agent", GALE_COUNT_EMIT_EACH, &bolt, &error), GALE_INVALID);
    assert_string_equal(error.text, "count bolt: field names 2 fields, must name one: 'host, agent'");
    assert_int_equal(gale_field_rolling_count_bolt("host, agent", 2, 1, &bolt, &error), GALE_INVALID);
    assert_string_equal(error.text, "rolling count bolt: field names 2 fields, must name one: 'host, agent'");
    assert_null(bolt.ops);
}

static void a_tuple_without_values_fails(void **state) {
    (void)state;
    fixture f;
    begin(&f, GALE_COUNT_EMIT_EACH);
    assert_int_equal(f.bolt.ops->execute(f.self, fake_tuple(&f.fake, NULL, 0), &f.fake.collector), GALE_FIELDS);
    assert_int_equal(f.bolt.ops->execute(f.self, fake_tick(&f.fake, 1), &f.fake.collector), 0);
    assert_int_equal(f.fake.emissions, 0);
    end(&f);
}

static void another_way_to_emit_is_refused(void **state) {
    (void)state;
    gale_bolt bolt = { 0 };
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gale_count_bolt(2, &bolt, &error), GALE_INVALID);
    assert_string_equal(error.text, "count bolt: emit is 2, which is neither each (0) nor finish (1)");
    assert_null(bolt.ops);
}

static void every_failing_allocation_is_survived_and_counts_stay_right(void **state) {
    (void)state;
    for (uint64_t n = 1; n < 30; n++) {
        fixture f;
        fake_init(&f.fake);
        assert_int_equal(gale_count_bolt(GALE_COUNT_EMIT_FINISH, &f.bolt, NULL), 0);
        f.fake.fail_at = n;
        if (fake_prepare(&f.fake, &f.bolt, &f.self) < 0) assert_int_equal(fake_prepare(&f.fake, &f.bolt, &f.self), 0);
        for (int i = 0; i < 300; i++) {
            if (execute(&f, gale_i64(i)) < 0) assert_int_equal(execute(&f, gale_i64(i)), 0);
        }
        assert_int_equal(f.bolt.ops->finish(f.self, &f.fake.collector), 0);
        assert_int_equal(f.fake.emissions, 300);
        assert_null(strstr(fake_text(&f.fake.emitted), ",2]"));
        end(&f);
    }
}

static void the_steady_state_allocates_nothing(void **state) {
    (void)state;
    fixture f;
    begin(&f, GALE_COUNT_EMIT_FINISH);
    for (int i = 0; i < 1000; i++) assert_int_equal(execute(&f, gale_i64(i % 100)), 0);
    uint64_t before = f.fake.allocations;
    for (int i = 0; i < 1000; i++) assert_int_equal(execute(&f, gale_i64(i % 100)), 0);
    assert_int_equal(f.fake.allocations, before);
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_input_tells_the_new_count),
        cmocka_unit_test(finish_tells_all_totals_in_order_of_first_sight),
        cmocka_unit_test(a_count_that_was_not_told_is_not_counted),
        cmocka_unit_test(only_the_first_value_counts),
        cmocka_unit_test(a_field_counts_wherever_it_stands),
        cmocka_unit_test(more_than_one_field_is_refused),
        cmocka_unit_test(a_tuple_without_values_fails),
        cmocka_unit_test(another_way_to_emit_is_refused),
        cmocka_unit_test(every_failing_allocation_is_survived_and_counts_stay_right),
        cmocka_unit_test(the_steady_state_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
