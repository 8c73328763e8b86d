/* Named groups to fields. */
#include "kit/rig.h"

#include <gale_script.h>

static int make(gale_bolt *ret_bolt, const char *pattern, const char *fields, const char *keep, gale_error *error) {
    gale_regex_options options = { .size = sizeof options, .pattern = pattern, .fields = fields, .keep = keep };
    return gale_regex_bolt(&options, ret_bolt, error);
}

static void groups_become_fields(void **state) {
    (void)state;
    rig r;
    rig_begin(&r, make(&r.bolt, "^(?<host>\\S+) (\\d) ?(?<why>.*)?", NULL, NULL, NULL), "line");
    assert_string_equal(r.bolt.outputs[0].fields, "host, why");
    assert_string_equal(r.bolt.outputs[1].fields, "line, problem");
    rig_expect(&r, "a 1 x", "[\"a\",\"x\"]\n");
    rig_expect(&r, "a 1", "[\"a\",\"\"]\n");
    rig_expect(&r, "a b", "1:[\"a b\",\"the pattern is not found in it\"]\n");
    rig_expect(&r, "", "1:[\"\",\"the pattern is not found in it\"]\n");
    rig_tick_is_passed_over(&r);
    rig_end(&r);
}

static void fields_choose_groups_and_give_types(void **state) {
    (void)state;
    rig r;
    rig_begin(&r, make(&r.bolt, "(?<a>\\w*),(?<b>\\w*),(?<c>x)?", "c, b int", "line", NULL), "line");
    assert_string_equal(r.bolt.outputs[0].fields, "line, c, b");
    rig_expect(&r, "q,12,", "[\"q,12,\",null,12]\n");
    rig_expect(&r, "q,,x", "[\"q,,x\",\"x\",null]\n");
    rig_expect(&r, "q,no,x", "1:[\"q,no,x\",\"field 'b': 'no' is no int\"]\n");
    rig_end(&r);
}

static void of_several_groups_with_a_name_the_one_that_took_part_counts(void **state) {
    (void)state;
    rig r;
    rig_begin(&r, make(&r.bolt, "(?J)^(?:a(?<x>.)|b(?<x>.))", NULL, NULL, NULL), "line");
    rig_expect(&r, "a1", "[\"1\"]\n");
    rig_expect(&r, "b2", "[\"2\"]\n");
    rig_end(&r);
}

static void bytes_are_matched_as_bytes(void **state) {
    (void)state;
    rig r;
    gale_value line = gale_bytes("\xe9=1", 3);
    rig_begin(&r, make(&r.bolt, "^(?<c>.)=(?<n>.)$", NULL, NULL, NULL), "line");
    rig_expect_of(&r, &line, 1, "[{\"base64\":\"6Q==\"},\"1\"]\n");
    rig_expect(&r, "\xc3\xa9=1", "[\"\xc3\xa9\",\"1\"]\n");
    rig_fails(&r, gale_i64(1), GALE_TYPE,
              "regex bolt: field 'line' (value 0) of component 'lines' must be string or bytes, is i64 1\n");
    rig_end(&r);
}

static void a_text_on_which_the_pattern_explodes_is_bad_and_the_next_is_not(void **state) {
    (void)state;
    rig r;
    rig_begin(&r, make(&r.bolt, "^(?<x>(a+)+)[bc]", NULL, NULL, NULL), "line");
    rig_expect(
        &r, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaax",
        "1:[\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaax\",\"the pattern takes too many steps, or too much "
        "memory\"]\n");
    rig_expect(&r, "aab", "[\"aa\"]\n");
    rig_end(&r);
}

static void what_makes_no_sense_is_refused(void **state) {
    (void)state;
    RIG_REFUSES(make(&bolt, NULL, NULL, NULL, &error), "regex bolt: pattern is not given");
    RIG_REFUSES(make(&bolt, "", NULL, NULL, &error), "regex bolt: pattern is not given");
    RIG_REFUSES(make(&bolt, "(a)", NULL, NULL, &error), "regex bolt: no group of the pattern has a name: (?<name>...)");
    RIG_REFUSES(make(&bolt, "(?<status>a)", "staus", NULL, &error),
                "regex bolt: fields: the pattern has no group 'staus'; did you mean 'status'?");
    RIG_REFUSES(make(&bolt, "(?<a>a)", "a it", NULL, &error),
                "regex bolt: fields: 'it' is no type of 'a it' (string, int, float, bool, auto); did you mean 'int'?");
    RIG_REFUSES(make(&bolt, "(?<a>a)", NULL, "a", &error), "regex bolt: fields: 'a' goes out already");
    RIG_REFUSES(make(&bolt, "(?<a>", NULL, NULL, &error),
                "regex bolt: pattern: the pattern '(?<a>' is wrong at byte 5: missing closing parenthesis");
    RIG_REFUSES(make(NULL, "(?<a>a)", NULL, NULL, &error), "regex bolt: there is no place for its definition");
}

static int make_simple(gale_bolt *ret_bolt) {
    return make(ret_bolt, "(?<a>a+)", NULL, NULL, NULL);
}

static void every_failing_allocation_is_survived(void **state) {
    (void)state;
    rig_survives(make_simple, "line", "aa", 12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_become_fields),
        cmocka_unit_test(fields_choose_groups_and_give_types),
        cmocka_unit_test(of_several_groups_with_a_name_the_one_that_took_part_counts),
        cmocka_unit_test(bytes_are_matched_as_bytes),
        cmocka_unit_test(a_text_on_which_the_pattern_explodes_is_bad_and_the_next_is_not),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
