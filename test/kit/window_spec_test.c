#include "kit/window_spec.h"

#include "base/str.h"
#include <stdio.h>

#include "harness/cm.h"

static gx_window_spec spec;

static void parse(const char *text) {
    gale_error error = GALE_ERROR_INIT;
    if (gx_window_spec_parse(text, "host, start, end", "window", &spec, &error) < 0)
        fail_msg("'%s' is refused: %s", text, error.text);
}

static void expect_error(const char *text, const char *sentence) {
    gale_error error = GALE_ERROR_INIT;
    gx_window_spec other = { .count = 77 };
    assert_int_equal(gx_window_spec_parse(text, "host, start, end", "window", &other, &error), GALE_INVALID);
    assert_string_equal(error.text, sentence);
    assert_int_equal(other.count, 77);
}

static void expect_call(uint32_t i, uint8_t function, const char *name) {
    assert_int_equal(spec.calls[i].function, function);
    assert_true(gx_str_is(gx_window_call_name(&spec, i), name));
}

static void all_functions_are_read_with_their_names_and_fields(void **state) {
    (void)state;
    parse("count, count(a) , sum(bytes) as sum , avg(ms),min(ms),max( ms ),first(a),last(a), distinct(user), "
          "percentile(ms, 0.99) as p99, top(path,10)");
    static const char *const names[] = { "count",   "count_a", "sum",           "avg_ms", "min_ms",  "max_ms",
                                         "first_a", "last_a",  "distinct_user", "p99",    "top_path" };
    static const uint8_t functions[] = { GX_WINDOW_COUNT,    GX_WINDOW_COUNT,      GX_WINDOW_SUM,   GX_WINDOW_AVG,
                                         GX_WINDOW_MIN,      GX_WINDOW_MAX,        GX_WINDOW_FIRST, GX_WINDOW_LAST,
                                         GX_WINDOW_DISTINCT, GX_WINDOW_PERCENTILE, GX_WINDOW_TOP };
    assert_int_equal(spec.count, 11);
    for (uint32_t i = 0; i < 11; i++) expect_call(i, functions[i], names[i]);
    assert_string_equal(spec.fields.text, "a,bytes,ms,user,path");
    assert_false(spec.calls[0].has_field);
    assert_int_equal(spec.calls[5].field, 2);
    assert_int_equal(spec.calls[9].parameter, 990000000);
    assert_int_equal(spec.calls[10].parameter, 10);
    assert_false(spec.calls[10].weighted);
}

static void the_most_may_be_by_the_sum_of_another_field(void **state) {
    (void)state;
    parse("top(path, 3), top(path, 3, bytes) as heaviest");
    assert_true(spec.calls[1].weighted);
    assert_int_equal(spec.calls[1].weight, 1);
    assert_string_equal(spec.fields.text, "path,bytes");
}

static void shares_are_read_exactly(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint32_t parts;
    } shares[] = { { "percentile(x, 0)", 0 },
                   { "percentile(x, 1)", 1000000000 },
                   { "percentile(x, 1.000)", 1000000000 },
                   { "percentile(x, .5)", 500000000 },
                   { "percentile(x, 0.000000001)", 1 } };
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        parse(shares[i].text);
        assert_int_equal(spec.calls[0].parameter, shares[i].parts);
    }
}

static void an_error_names_the_column_and_the_nearest_word(void **state) {
    (void)state;
    expect_error("", "window: there are none");
    expect_error(NULL, "window: there are none");
    expect_error("count, summ(x)", "window, column 8: there is no function 'summ'; did you mean 'sum'?");
    expect_error("p99(ms)", "window, column 1: there is no function 'p99'; did you mean 'percentile(x, 0.99)'?");
    expect_error("p5(ms)", "window, column 1: there is no function 'p5'; did you mean 'percentile(x, 0.05)'?");
    expect_error("median(ms)", "window, column 1: there is no function 'median'; did you mean 'percentile(x, 0.5)'?");
    expect_error("average(ms)", "window, column 1: there is no function 'average'; did you mean 'avg'?");
    expect_error("count, mean(ms)", "window, column 8: there is no function 'mean'; did you mean 'avg'?");
    expect_error("cnt", "window, column 1: there is no function 'cnt'; did you mean 'count'?");
    expect_error("count, xyzzy(x)", "window, column 8: there is no function 'xyzzy'");
    expect_error("sum", "window, column 4: sum needs a field: (field)");
    expect_error("sum()", "window, column 5: ')' where a field is to be");
    expect_error("sum(x", "window, column 6: the end, where ')' is to be");
    expect_error("sum(x,1)", "window, column 6: ',' where ')' is to be");
    expect_error("count,", "window, column 7: the end, where a function is to be");
    expect_error("count max(x)", "window, column 7: 'max' where 'as', a comma or the end is to be");
    expect_error("count as", "window, column 9: the end, where a name is to be");
    expect_error("count)", "window, column 6: ')' where a comma or the end is to be");
    expect_error("top(x, 3, )", "window, column 11: ')' where a field is to be");
    expect_error("top(x, 3, y, z)", "window, column 12: ',' where ')' is to be");
    expect_error("top(x)", "window, column 6: ')' where a comma and a number is to be");
    expect_error("top(x, 0)", "window, column 8: '0' is no whole number from 1 to 1000");
    expect_error("top(x, 1001)", "window, column 8: '1001' is no whole number from 1 to 1000");
    expect_error("percentile(x, 99)",
                 "window, column 15: '99' is not from 0 to 1, with 9 digits behind the point at most");
    expect_error("percentile(x, 0.0000000001)",
                 "window, column 15: '0.0000000001' is not from 0 to 1, with 9 digits behind the point at most");
    expect_error("percentile(x, )", "window, column 15: ')' where a number is to be");
    expect_error("percentile(x, .)",
                 "window, column 15: '.' is not from 0 to 1, with 9 digits behind the point at most");
}

static void a_name_that_is_taken_is_refused(void **state) {
    (void)state;
    expect_error("count, sum(x) as count",
                 "window, column 8: the row has a field 'count' already; give it another name with 'as'");
    expect_error("percentile(x, 0.5), percentile(x, 0.9)",
                 "window, column 21: the row has a field 'percentile_x' already; give it another name with 'as'");
    expect_error("count as start",
                 "window, column 1: the row has a field 'start' already; give it another name with 'as'");
    expect_error("first(a) as host",
                 "window, column 1: the row has a field 'host' already; give it another name with 'as'");
}

static void there_are_limits(void **state) {
    (void)state;
    char text[4000] = "count";
    for (int i = 1; i < 32; i++) sprintf(text + strlen(text), ", count as c%d", i);
    parse(text);
    assert_int_equal(spec.count, 32);
    strcat(text, ", max(x)");
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gx_window_spec_parse(text, "", "window", &spec, &error), GALE_INVALID);
    assert_non_null(strstr(error.text, "there are more than 32"));
    memset(text, 'x', sizeof text);
    memcpy(text, "max(", 4);
    strcpy(text + 2000, ")");
    assert_int_equal(gx_window_spec_parse(text, "", "window", &spec, &error), GALE_INVALID);
    assert_non_null(strstr(error.text, "is a field too many"));
    memset(text, 'x', sizeof text);
    memcpy(text, "count as ", 9);
    strcpy(text + 3000, "x");
    assert_int_equal(gx_window_spec_parse(text, "", "window", &spec, &error), GALE_INVALID);
    assert_non_null(strstr(error.text, "the names are too long together"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_functions_are_read_with_their_names_and_fields),
        cmocka_unit_test(the_most_may_be_by_the_sum_of_another_field),
        cmocka_unit_test(shares_are_read_exactly),
        cmocka_unit_test(an_error_names_the_column_and_the_nearest_word),
        cmocka_unit_test(a_name_that_is_taken_is_refused),
        cmocka_unit_test(there_are_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
