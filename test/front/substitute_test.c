#include "front/substitute.h"

#include "base/str.h"
#include "harness/cm.h"

#include <stdlib.h>
#include <string.h>

static const char properties_text[] = "topic = events\n"
                                      "size=12\n"
                                      "hosts=[\"a:1\", 'b:2', c]\n"
                                      "empty=\n"
                                      "two=x\\n  y\n";

static int substitute(const char *text, bool environment, gx_buf *out, gx_edits *edits, gale_error *error) {
    gx_properties properties;
    *error = (gale_error)GALE_ERROR_INIT;
    assert_int_equal(gx_properties_parse("p", gx_str(properties_text), &properties, error), 0);
    gx_variables variables = { &properties, environment };
    int rc = gx_substitute("t.yaml", gx_str(text), &variables, 1000, NULL, out, edits, error);
    gx_properties_fini(&properties);
    return rc;
}

static void expect(const char *text, const char *expected) {
    gx_buf out = GX_BUF_INIT(NULL);
    gx_edits edits = { .count = 0 };
    gale_error error;
    if (substitute(text, true, &out, &edits, &error) < 0) fail_msg("%s", error.text);
    assert_string_equal(gx_buf_text(&out), expected);
    gx_edits_fini(&edits);
    gx_buf_fini(&out);
}

static void expect_error(const char *text, bool environment, const char *message) {
    gx_buf out = GX_BUF_INIT(NULL);
    gx_edits edits = { .count = 0 };
    gale_error error;
    assert_true(substitute(text, environment, &out, &edits, &error) < 0);
    assert_string_equal(error.text, message);
    gx_edits_fini(&edits);
    gx_buf_fini(&out);
}

/* --- Replacing ---------------------------------------------------------------------------------------------------- */

static void variables_stand_for_properties(void **state) {
    (void)state;
    expect("a: ${topic}", "a: events");
    expect("a: ${ topic }-${size}, ${topic}", "a: events-12, events");
    expect("[${size}]\n${empty}!", "[12]\n!");
    expect("no variable: $x {y} $", "no variable: $x {y} $");
    expect("${ never closed", "${ never closed");
    expect("${ never closed\n}", "${ never closed\n}");
    expect("", "");
}

static void a_list_has_elements(void **state) {
    (void)state;
    expect("${hosts[0]} ${hosts[1]} ${hosts[2]}", "a:1 b:2 c");
    expect("${hosts}", "[\"a:1\", 'b:2', c]");
    expect_error("${hosts[3]}", false, "t.yaml:1:1: '${hosts[3]}': the property is no list [a, b, ...] of so many");
    expect_error("x: ${size[0]}", false, "t.yaml:1:4: '${size[0]}': the property is no list [a, b, ...] of so many");
    expect_error("${hosts[x]}", false,
                 "t.yaml:1:1: unknown variable '${hosts[x]}', and $${ stands for a ${ that is none");
}

static void the_environment_is_asked_where_it_may_be(void **state) {
    (void)state;
    setenv("GALE_TEST_VARIABLE", "from outside", 1);
    unsetenv("GALE_TEST_NOTHING");
    expect("${ENV-GALE_TEST_VARIABLE}", "from outside");
    expect_error("${ENV-GALE_TEST_VARIABLE}", false,
                 "t.yaml:1:1: '${ENV-GALE_TEST_VARIABLE}' is of the environment, which is read with -e (--env-filter)");
    expect_error("a\nb ${ENV-GALE_TEST_NOTHING}", true, "t.yaml:2:3: the environment has no 'GALE_TEST_NOTHING'");
}

static void what_is_not_known_is_refused_but_in_a_comment(void **state) {
    (void)state;
    expect_error("a: b\nc: \xc3\xa4${topc}\n", false, "t.yaml:2:5: unknown variable '${topc}'; did you mean 'topic'?");
    expect_error("a: 'x # ${topc}'", false, "t.yaml:1:9: unknown variable '${topc}'; did you mean 'topic'?");
    expect_error("a#b: ${topc}", false, "t.yaml:1:6: unknown variable '${topc}'; did you mean 'topic'?");
    expect("# ${topc}\na: b # it's ${topc} ${topic}\n", "# ${topc}\na: b # it's ${topc} events\n");
}

static void a_doubled_dollar_stands_for_itself(void **state) {
    (void)state;
    expect("$${topic} ${topic} $$", "${topic} events $$");
}

static void without_properties_the_option_is_named(void **state) {
    (void)state;
    gx_buf out = GX_BUF_INIT(NULL);
    gx_edits edits = { .count = 0 };
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gx_substitute("t", gx_str("${a}"), NULL, 100, NULL, &out, &edits, &error), GALE_NOT_FOUND);
    assert_string_equal(error.text, "t:1:1: unknown variable '${a}'; --filter FILE names a file of properties, and $${ "
                                    "stands for a ${ that is none");
    gx_edits_fini(&edits);
    gx_buf_fini(&out);
}

static void all_that_is_not_known_is_kept_where_several_errors_are_wanted(void **state) {
    (void)state;
    gx_problems problems = { .count = 0 };
    gx_buf out = GX_BUF_INIT(NULL);
    gx_edits edits = { .count = 0 };
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gx_substitute("t", gx_str("${a}\n ${b}"), NULL, 100, &problems, &out, &edits, &error), 0);
    assert_int_equal(problems.errors, 2);
    assert_int_equal(problems.list[1].position.line, 2);
    assert_int_equal(problems.list[1].position.column, 2);
    assert_string_equal(gx_buf_text(&out), "${a}\n ${b}");
    gx_problems_fini(&problems);
    gx_edits_fini(&edits);
    gx_buf_fini(&out);
}

static void a_text_cannot_grow_without_end(void **state) {
    (void)state;
    gx_buf text = GX_BUF_INIT(NULL);
    for (int i = 0; i < 200; i++) gx_buf_add_text(&text, "${topic}");
    expect_error(gx_buf_text(&text), false, "t.yaml:1:1329: this makes the text too large");
    gx_buf_fini(&text);
}

/* --- Places ------------------------------------------------------------------------------------------------------- */

static void expect_spot(const gx_edits *edits, uint32_t line, uint32_t column, uint32_t was_line, uint32_t was_column) {
    gx_spot was = gx_edits_back(edits, (gx_spot){ line, column });
    assert_int_equal(was.line, was_line);
    assert_int_equal(was.column, was_column);
}

static void what_stands_behind_a_variable_is_known_by_its_old_place(void **state) {
    (void)state;
    gx_buf out = GX_BUF_INIT(NULL);
    gx_edits edits = { .count = 0 };
    gale_error error;
    /*                               0123456789 */
    assert_int_equal(substitute("a: ${size} b ${topic} c\nd ${two} e\nf", false, &out, &edits, &error), 0);
    assert_string_equal(gx_buf_text(&out), "a: 12 b events c\nd x\n  y e\nf");
    expect_spot(&edits, 0, 0, 0, 0);
    expect_spot(&edits, 0, 3, 0, 3); /* the variable */
    expect_spot(&edits, 0, 4, 0, 3); /* inside */
    expect_spot(&edits, 0, 6, 0, 11);
    expect_spot(&edits, 0, 15, 0, 22);
    expect_spot(&edits, 1, 0, 1, 0);
    expect_spot(&edits, 2, 2, 1, 2);
    expect_spot(&edits, 2, 4, 1, 9);
    expect_spot(&edits, 3, 0, 2, 0);
    expect_spot(NULL, 7, 8, 7, 8);
    gx_edits_fini(&edits);
    gx_buf_fini(&out);
}

static void what_came_from_the_environment_is_known(void **state) {
    (void)state;
    gx_buf out = GX_BUF_INIT(NULL);
    gx_edits edits = { .count = 0 };
    gale_error error;
    setenv("GALE_TEST_VARIABLE", "12345", 1);
    assert_int_equal(substitute("${topic} ab${ENV-GALE_TEST_VARIABLE}cd ef", true, &out, &edits, &error), 0);
    assert_string_equal(gx_buf_text(&out), "events ab12345cd ef");
    assert_false(gx_edits_secret(&edits, (gx_spot){ 0, 0 }, (gx_spot){ 0, 6 }));
    assert_true(gx_edits_secret(&edits, (gx_spot){ 0, 7 }, (gx_spot){ 0, 16 }));
    assert_false(gx_edits_secret(&edits, (gx_spot){ 0, 17 }, (gx_spot){ 0, 19 }));
    assert_false(gx_edits_secret(NULL, (gx_spot){ 0, 0 }, (gx_spot){ 9, 0 }));
    gx_edits_fini(&edits);
    gx_buf_fini(&out);
}

/* --- Properties --------------------------------------------------------------------------------------------------- */

static const char *get(const gx_properties *properties, const char *name) {
    const gale_str *value = gx_properties_get(properties, gx_str(name));
    return value ? value->data : "(none)";
}

static void properties_are_read_as_java_reads_them(void **state) {
    (void)state;
    static const char text[] = "# a comment = x\n! another\n\n"
                               "a=1\nb : 2\nc 3\nd\n"
                               "  long = one, \\\n      two\n"
                               "e\\=f = \\t\\u00e4\\n\n"
                               "a=again\r\n"
                               "last=end";
    gx_properties properties;
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gx_properties_parse("p", gx_str(text), &properties, &error), 0);
    assert_int_equal(properties.count, 8);
    assert_string_equal(get(&properties, "a"), "again");
    assert_string_equal(get(&properties, "b"), "2");
    assert_string_equal(get(&properties, "c"), "3");
    assert_string_equal(get(&properties, "d"), "");
    assert_string_equal(get(&properties, "long"), "one, two");
    assert_string_equal(get(&properties, "e=f"), "\t\xc3\xa4\n");
    assert_string_equal(get(&properties, "last"), "end");
    assert_string_equal(get(&properties, "x"), "(none)");
    gx_properties_fini(&properties);
}

static void properties_that_are_wrong_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } rows[] = {
        { "a=\\u12", "p:1:7: \\u needs four hexadecimal digits" },
        { "b=1\na=\\ud800", "p:2:9: this \\u is no character" },
        { "a=\xff", "p: this is not UTF-8 text" },
    };
    gx_properties properties;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gale_error error = GALE_ERROR_INIT;
        assert_int_equal(gx_properties_parse("p", gx_str(rows[i].text), &properties, &error), GALE_SYNTAX);
        assert_string_equal(error.text, rows[i].message);
    }
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gx_properties_load("/no/such", &properties, &error), GALE_IO);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_stand_for_properties),
        cmocka_unit_test(a_list_has_elements),
        cmocka_unit_test(the_environment_is_asked_where_it_may_be),
        cmocka_unit_test(what_is_not_known_is_refused_but_in_a_comment),
        cmocka_unit_test(a_doubled_dollar_stands_for_itself),
        cmocka_unit_test(without_properties_the_option_is_named),
        cmocka_unit_test(all_that_is_not_known_is_kept_where_several_errors_are_wanted),
        cmocka_unit_test(a_text_cannot_grow_without_end),
        cmocka_unit_test(what_stands_behind_a_variable_is_known_by_its_old_place),
        cmocka_unit_test(what_came_from_the_environment_is_known),
        cmocka_unit_test(properties_are_read_as_java_reads_them),
        cmocka_unit_test(properties_that_are_wrong_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
