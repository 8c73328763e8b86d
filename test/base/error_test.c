#include "harness/cm.h"

#include <gale/error.h>
#include <string.h>

static void fill_with(char *text, char byte, size_t size) {
    memset(text, byte, size);
    text[size] = 0;
}

static void names_and_texts_come_from_the_table(void **state) {
    (void)state;
    assert_string_equal(gale_error_name(GALE_NO_MEMORY), "NO_MEMORY");
    assert_string_equal(gale_error_text(GALE_NO_MEMORY), "out of memory");
    assert_string_equal(gale_error_name(GALE_CLOSED_PIPE), "CLOSED_PIPE");
    assert_string_equal(gale_error_name(GALE_DAMAGED), "DAMAGED");
    assert_string_equal(gale_error_name(GALE_OK), "OK");
}

static void numbers_outside_the_table_are_unknown(void **state) {
    (void)state;
    assert_string_equal(gale_error_name(-22), "UNKNOWN");
    assert_string_equal(gale_error_name(7), "UNKNOWN");
    assert_string_equal(gale_error_name(INT32_MIN), "UNKNOWN");
    assert_string_equal(gale_error_text(-1000), "unknown error");
}

static void version_is_the_headers(void **state) {
    (void)state;
    assert_string_equal(gale_version(), GALE_VERSION_TEXT);
}

static void set_returns_the_code_and_replaces_what_was_there(void **state) {
    (void)state;
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gale_error_set(&error, GALE_IO, "first %d", 1), GALE_IO);
    assert_int_equal(gale_error_set(&error, GALE_TYPE, "two"), GALE_TYPE);
    assert_int_equal(error.code, GALE_TYPE);
    assert_string_equal(error.text, "two");
    assert_int_equal(error.length, 3);
}

static void lines_are_added_from_the_innermost_outwards(void **state) {
    (void)state;
    gale_error error = GALE_ERROR_INIT;
    gale_error_set(&error, GALE_CONFIG, "inner");
    assert_int_equal(gale_error_add(&error, "in bolt '%s'", "count"), GALE_CONFIG);
    assert_int_equal(gale_error_add(&error, "in topology"), GALE_CONFIG);
    assert_string_equal(error.text, "inner\nin bolt 'count'\nin topology");
    assert_int_equal(error.length, strlen(error.text));
}

static void without_a_report_set_still_returns_the_code(void **state) {
    (void)state;
    assert_int_equal(gale_error_set(NULL, GALE_STATE, "x"), GALE_STATE);
    assert_int_equal(gale_error_add(NULL, "x"), GALE_OK);
}

static void adding_to_an_empty_report_changes_nothing(void **state) {
    (void)state;
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gale_error_add(&error, "context"), GALE_OK);
    assert_int_equal(error.length, 0);
    assert_string_equal(error.text, "");
}

static void a_line_that_does_not_fit_is_left_out_whole_and_marked(void **state) {
    (void)state;
    gale_error error = GALE_ERROR_INIT;
    char line[801];
    fill_with(line, 'x', 800);
    gale_error_set(&error, GALE_IO, "%s", line);
    assert_int_equal(gale_error_add(&error, "%s", line), GALE_IO);
    assert_int_equal(error.length, 804);
    assert_string_equal(error.text + 800, "\n...");
}

static void after_a_gap_no_line_is_added(void **state) {
    (void)state;
    gale_error error = GALE_ERROR_INIT;
    char line[801];
    fill_with(line, 'x', 800);
    gale_error_set(&error, GALE_IO, "%s", line);
    gale_error_add(&error, "%s", line);
    assert_int_equal(gale_error_add(&error, "short"), GALE_IO);
    assert_string_equal(error.text + 800, "\n...");
}

static void every_size_of_first_line_fits_and_is_ended(void **state) {
    (void)state;
    for (size_t size = 980; size < 1020; size++) {
        gale_error error = GALE_ERROR_INIT;
        char line[1100];
        fill_with(line, 'y', size);
        gale_error_set(&error, GALE_IO, "%s", line);
        for (int i = 0; i < 3; i++) gale_error_add(&error, "a");
        assert_true(error.length < GALE_ERROR_TEXT);
        assert_int_equal(error.length, strlen(error.text));
        if (size > 995)
            assert_string_equal(error.text + 995, "...");
        else if (size < 990)
            assert_string_equal(error.text + size, "\na\na\na");
    }
}

static void a_cut_does_not_split_a_character(void **state) {
    (void)state;
    for (size_t shift = 0; shift < 4; shift++) {
        gale_error error = GALE_ERROR_INIT;
        char line[1300];
        fill_with(line, 'z', shift);
        for (int i = 0; i < 300; i++) strcat(line, "\xf0\x9f\x8c\xaa");
        gale_error_set(&error, GALE_IO, "%s", line);
        assert_int_equal((error.length - 3 - shift) % 4, 0);
        assert_string_equal(error.text + error.length - 3, "...");
    }
}

static void a_report_may_be_an_argument_of_its_own_change(void **state) {
    (void)state;
    gale_error error = GALE_ERROR_INIT;
    gale_error_set(&error, GALE_IO, "inner");
    gale_error_set(&error, GALE_CONFIG, "outer: %s", error.text);
    assert_string_equal(error.text, "outer: inner");
    gale_error_add(&error, "%s again", error.text);
    assert_string_equal(error.text, "outer: inner\nouter: inner again");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_texts_come_from_the_table),
        cmocka_unit_test(numbers_outside_the_table_are_unknown),
        cmocka_unit_test(version_is_the_headers),
        cmocka_unit_test(set_returns_the_code_and_replaces_what_was_there),
        cmocka_unit_test(lines_are_added_from_the_innermost_outwards),
        cmocka_unit_test(without_a_report_set_still_returns_the_code),
        cmocka_unit_test(adding_to_an_empty_report_changes_nothing),
        cmocka_unit_test(a_line_that_does_not_fit_is_left_out_whole_and_marked),
        cmocka_unit_test(after_a_gap_no_line_is_added),
        cmocka_unit_test(every_size_of_first_line_fits_and_is_ended),
        cmocka_unit_test(a_cut_does_not_split_a_character),
        cmocka_unit_test(a_report_may_be_an_argument_of_its_own_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
