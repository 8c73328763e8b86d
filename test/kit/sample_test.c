#include "kit/rig.h"

#include "tuple/hash.h"

#include <gale/kit.h>
#include <math.h>
#include <stdio.h>

static int make(gale_sample_options options, gale_bolt *ret_bolt, gale_error *error) {
    options.size = sizeof options;
    return gale_sample_bolt(&options, ret_bolt, error);
}

static void begin(rig *r, gale_sample_options options) {
    options.fields = "user, n";
    rig_begin(r, make(options, &r->bolt, NULL), "user, n");
}

static bool passes(rig *r, int64_t user, int64_t n) {
    const gale_value values[] = { gale_i64(user), gale_i64(n) };
    assert_int_equal(rig_take(r, values, 2), GALE_OK);
    return r->fake.emitted.size > 0;
}

static int count(rig *r, int users, int tuples) {
    int passed = 0;
    for (int i = 0; i < tuples; i++) passed += passes(r, i % users, i);
    return passed;
}

static void so_many_are_counted_off(void **state) {
    (void)state;
    rig r;
    begin(&r, (gale_sample_options){ .every = 3 });
    for (int i = 1; i <= 9; i++) assert_int_equal(passes(&r, 0, i), i % 3 == 0);
    assert_string_equal(fake_text(&r.fake.emitted), "[0,9]\n");
    fake_forget(&r.fake);
    rig_tick_is_passed_over(&r);
    rig_end(&r);
}

/* Of 20,000 with a chance of 1 %: 200, and 14 standard deviations around it. */
static void each_has_its_chance(void **state) {
    (void)state;
    rig r;
    begin(&r, (gale_sample_options){ .share = 0.01 });
    assert_in_range(count(&r, 1, 20000), 10, 400);
    rig_end(&r);
    begin(&r, (gale_sample_options){ .share = 1 });
    assert_int_equal(count(&r, 1, 1000), 1000);
    rig_end(&r);
    begin(&r, (gale_sample_options){ .share = 1e-300 });
    assert_int_equal(count(&r, 1, 1000), 0);
    rig_end(&r);
}

static void all_tuples_of_the_same_keys_pass_and_no_others(void **state) {
    (void)state;
    rig one, other, larger;
    int passed = 0;
    begin(&one, (gale_sample_options){ .share = 0.1, .key = "user" });
    begin(&other, (gale_sample_options){ .every = 10, .key = "user" });
    begin(&larger, (gale_sample_options){ .share = 0.3, .key = "user" });
    for (int user = 0; user < 3000; user++) {
        bool is = passes(&one, user, 0);
        passed += is;
        assert_int_equal(passes(&one, user, 1), is);
        assert_int_equal(passes(&other, user, 2), is);
        assert_true(!is || passes(&larger, user, 3));
    }
    assert_in_range(passed, 200, 400);
    rig_end(&one);
    rig_end(&other);
    rig_end(&larger);
}

/* It is part of what users keep: never change it. */
static void which_keys_pass_never_changes(void **state) {
    (void)state;
    static const int64_t first[] = { 9, 13, 66, 81, 100 };
    rig r;
    int64_t at = 0;
    begin(&r, (gale_sample_options){ .share = 0.1, .key = "user" });
    for (int64_t user = 0; at < 5; user++)
        if (passes(&r, user, 0)) assert_int_equal(user, first[at++]);
    rig_end(&r);
}

/* Behind a fields grouping, whose tasks have hashes of one range each, every task has its share. */
static void every_task_of_a_grouping_by_the_key_has_its_share(void **state) {
    (void)state;
    int passed[4] = { 0 }, all[4] = { 0 };
    rig r;
    begin(&r, (gale_sample_options){ .share = 0.25, .key = "user" });
    for (int user = 0; user < 8000; user++) {
        gale_value value = gale_i64(user);
        uint32_t task = gx_hash_below(gx_values_hash_all(&value, 1), 4);
        all[task]++;
        passed[task] += passes(&r, user, 0);
    }
    for (int task = 0; task < 4; task++) assert_in_range(passed[task] * 100 / all[task], 18, 32);
    rig_end(&r);
}

static void what_it_cannot_read_or_emit_fails(void **state) {
    (void)state;
    const gale_value values[] = { gale_i64(1), gale_i64(2) };
    rig r;
    begin(&r, (gale_sample_options){ .every = 1, .key = "user" });
    r.fake.emit_error = GALE_NO_MEMORY;
    assert_int_equal(rig_take(&r, values, 2), GALE_NO_MEMORY);
    fake_source(&r.fake, "others", "user, m");
    assert_int_equal(rig_take(&r, values, 2), GALE_FIELDS);
    fake_source(&r.fake, "others", "usr, n");
    assert_int_equal(rig_take(&r, values, 2), GALE_FIELDS);
    rig_end(&r);
}

static int make_any(gale_bolt *ret_bolt) {
    return make((gale_sample_options){ .fields = "line", .every = 1 }, ret_bolt, NULL);
}

static void every_failing_allocation_is_survived(void **state) {
    (void)state;
    rig_survives(make_any, "line", "x", 2);
}

#define REFUSES(message, ...) RIG_REFUSES(make((gale_sample_options){ __VA_ARGS__ }, &bolt, &error), message)

static void options_that_are_wrong_are_told(void **state) {
    (void)state;
    gale_sample_options options = { .size = 0 };
    REFUSES("sample bolt: fields names no field", .every = 1);
    REFUSES("sample bolt: neither share nor every is given; one of them says how many pass", .fields = "a");
    REFUSES("sample bolt: both share and every are given; one of them says how many pass", .fields = "a", .every = 2,
            .share = 0.5);
    REFUSES("sample bolt: share is 1.5, must be above 0 and at most 1", .fields = "a", .share = 1.5);
    REFUSES("sample bolt: share is -1, must be above 0 and at most 1", .fields = "a", .share = -1);
    REFUSES("sample bolt: share is nan, must be above 0 and at most 1", .fields = "a", .share = (double)NAN);
    REFUSES("sample bolt: key names 'a' twice", .fields = "a", .every = 2, .key = "a, a");
    RIG_REFUSES(gale_sample_bolt(&options, &bolt, &error),
                "sample bolt: options.size is 0; set it to the size of the structure");
    RIG_REFUSES(gale_sample_bolt(&options, NULL, &error), "sample bolt: there is no place for its definition");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(so_many_are_counted_off),
        cmocka_unit_test(each_has_its_chance),
        cmocka_unit_test(all_tuples_of_the_same_keys_pass_and_no_others),
        cmocka_unit_test(which_keys_pass_never_changes),
        cmocka_unit_test(every_task_of_a_grouping_by_the_key_has_its_share),
        cmocka_unit_test(what_it_cannot_read_or_emit_fails),
        cmocka_unit_test(every_failing_allocation_is_survived),
        cmocka_unit_test(options_that_are_wrong_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
