#include "harness/fake_collector.h"

#include <gale/kit.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

typedef struct fixture {
    fake_collector fake;
    gale_bolt bolt;
    void *self;
} fixture;

static int setup(void **state) {
    fixture *f = test_calloc(1, sizeof *f);
    fake_init(&f->fake);
    fake_source(&f->fake, "counter", "obj, count, actualWindowLengthInSeconds");
    assert_int_equal(gale_rolling_count_agg_bolt(&f->bolt, NULL), 0);
    assert_int_equal(fake_prepare(&f->fake, &f->bolt, &f->self), 0);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    fake_cleanup(&f->bolt, f->self);
    fake_fini(&f->fake);
    test_free(f);
    return 0;
}

/* What task `task` says of `object`. */
static int say_value(fixture *f, uint16_t task, gale_value object, gale_value count) {
    const gale_value values[] = { object, count, gale_i64(9) };
    const gale_tuple *tuple = fake_tuple(&f->fake, values, 3);
    f->fake.tuple.source = task;
    return f->bolt.ops->execute(f->self, tuple, &f->fake.collector);
}

static int say(fixture *f, uint16_t task, const char *object, int64_t count) {
    return say_value(f, task, gale_text(object), gale_i64(count));
}

static void expect(fixture *f, uint16_t task, const char *object, int64_t count, const char *emitted) {
    fake_forget(&f->fake);
    assert_int_equal(say(f, task, object, count), 0);
    assert_string_equal(fake_text(&f->fake.emitted), emitted);
}

static void the_last_counts_of_all_sources_are_summed_at_once_unanchored(void **state) {
    fixture *f = *state;
    expect(f, 1, "a", 2, "~[\"a\",2]\n");
    expect(f, 2, "a", 3, "~[\"a\",5]\n");
    expect(f, 1, "a", 7, "~[\"a\",10]\n");
    expect(f, 1, "b", 1, "~[\"b\",1]\n");
    expect(f, 2, "a", 0, "~[\"a\",7]\n");
    expect(f, 2, "a", 4, "~[\"a\",11]\n");
    assert_int_equal(f->fake.acks, 0); /* it is simple: the engine acks */
    assert_int_equal(f->bolt.ops->kind, GALE_BOLT_SIMPLE);
    assert_string_equal(f->bolt.outputs[0].fields, "obj, count");
}

static void equal_objects_of_other_types_are_others(void **state) {
    fixture *f = *state;
    assert_int_equal(say_value(f, 1, gale_i64(1), gale_i64(5)), 0);
    assert_int_equal(say_value(f, 2, gale_text("1"), gale_i64(6)), 0);
    assert_int_equal(say_value(f, 2, gale_i64(1), gale_i64(7)), 0);
    assert_string_equal(fake_text(&f->fake.emitted), "~[1,5]\n~[\"1\",6]\n~[1,12]\n");
}

static void negative_counts_that_sum_to_zero_are_not_forgotten(void **state) {
    fixture *f = *state;
    expect(f, 1, "a", 5, "~[\"a\",5]\n");
    expect(f, 2, "a", -5, "~[\"a\",0]\n");
    expect(f, 1, "a", 6, "~[\"a\",1]\n");
    expect(f, 3, "m", INT64_MAX, "~[\"m\",9223372036854775807]\n");
    expect(f, 4, "m", 1, "~[\"m\",-9223372036854775808]\n"); /* as a Java long does */
}

static void an_object_at_zero_is_told_and_its_memory_comes_back(void **state) {
    fixture *f = *state;
    char object[20];
    expect(f, 1, "never seen", 0, "~[\"never seen\",0]\n");
    uint64_t allocations = 0;
    for (int i = 0; i < 30000; i++) {
        if (i == 10000) allocations = f->fake.allocations;
        snprintf(object, sizeof object, "object %05d", i);
        fake_forget(&f->fake);
        assert_int_equal(say(f, 1, object, 1), 0);
        assert_int_equal(say(f, 2, object, 1), 0);
        assert_int_equal(say(f, 1, object, 0), 0);
        assert_int_equal(say(f, 2, object, 0), 0);
    }
    assert_string_equal(fake_text(&f->fake.emitted), "~[\"object 29999\",1]\n~[\"object 29999\",2]\n"
                                                     "~[\"object 29999\",1]\n~[\"object 29999\",0]\n");
    assert_int_equal(f->fake.allocations, allocations);
}

static void wrong_tuples_fail_and_say_why(void **state) {
    fixture *f = *state;
    const gale_value one[] = { gale_text("a") };
    assert_int_equal(f->bolt.ops->execute(f->self, fake_tuple(&f->fake, one, 1), &f->fake.collector), GALE_FIELDS);
    assert_int_equal(say_value(f, 1, gale_text("a"), gale_f64(1)), GALE_TYPE);
    assert_string_equal(fake_text(&f->fake.reports),
                        "rolling count agg: a tuple of component 'counter', stream 'default', has 1 value, at least 2 "
                        "needed\n"
                        "rolling count agg: field 'count' (value 1) of component 'counter' must be i64, is f64 1.0\n");
    assert_string_equal(fake_text(&f->fake.emitted), "");
}

static void a_tick_is_nothing(void **state) {
    fixture *f = *state;
    assert_int_equal(f->bolt.ops->execute(f->self, fake_tick(&f->fake, 1), &f->fake.collector), 0);
    assert_string_equal(fake_text(&f->fake.emitted), "");
}

static void what_could_not_be_told_was_not_said(void **state) {
    fixture *f = *state;
    expect(f, 1, "a", 2, "~[\"a\",2]\n");
    f->fake.emit_error = GALE_NO_MEMORY;
    assert_int_equal(say(f, 1, "a", 5), GALE_NO_MEMORY);
    assert_int_equal(say(f, 2, "a", 5), GALE_NO_MEMORY);
    assert_int_equal(say(f, 1, "b", 5), GALE_NO_MEMORY);
    f->fake.emit_error = 0;
    expect(f, 3, "a", 1, "~[\"a\",3]\n");
    expect(f, 3, "b", 1, "~[\"b\",1]\n");
}

static void every_failing_allocation_is_survived_and_sums_stay_right(void **state) {
    fixture *f = *state;
    for (uint64_t n = 1; n < 40; n++) {
        fake_cleanup(&f->bolt, f->self);
        f->self = NULL;
        assert_int_equal(gale_rolling_count_agg_bolt(&f->bolt, NULL), 0);
        f->fake.fail_at = f->fake.allocations + n;
        if (fake_prepare(&f->fake, &f->bolt, &f->self) < 0) {
            assert_int_equal(fake_prepare(&f->fake, &f->bolt, &f->self), 0);
        }
        for (int i = 0; i < 200; i++) {
            if (say_value(f, (uint16_t)(1 + i % 2), gale_i64(i / 2), gale_i64(i)) == 0) continue;
            assert_int_equal(say_value(f, (uint16_t)(1 + i % 2), gale_i64(i / 2), gale_i64(i)), 0);
        }
        fake_forget(&f->fake);
        assert_int_equal(say_value(f, 3, gale_i64(99), gale_i64(1)), 0);
        assert_string_equal(fake_text(&f->fake.emitted), "~[99,398]\n");
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(the_last_counts_of_all_sources_are_summed_at_once_unanchored),
        CASE(equal_objects_of_other_types_are_others),
        CASE(negative_counts_that_sum_to_zero_are_not_forgotten),
        CASE(an_object_at_zero_is_told_and_its_memory_comes_back),
        CASE(wrong_tuples_fail_and_say_why),
        CASE(a_tick_is_nothing),
        CASE(what_could_not_be_told_was_not_said),
        CASE(every_failing_allocation_is_survived_and_sums_stay_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
