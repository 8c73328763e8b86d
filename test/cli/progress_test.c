#include "cli/progress.h"

#include "base/str.h"
#include "harness/cm.h"

#include <stdio.h>

enum { WHAT = 0xabc };

#define HEAD "gale simulate record 1\nwhat 0000000000000abc\n"

static void goes_on_at(const char *text, uint64_t first, uint64_t wanted) {
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gx_progress_parse("r", gx_str(text), WHAT, &first, &error), GALE_OK);
    assert_int_equal(first, wanted);
    assert_int_equal(error.length, 0);
}

static void refused_of(gale_str text, const char *message) {
    gale_error error = GALE_ERROR_INIT;
    uint64_t next = 7;
    assert_int_equal(gx_progress_parse("r", text, WHAT, &next, &error), GALE_INVALID);
    assert_string_equal(error.text, message);
    assert_int_equal(next, 7);
}

static void refused(const char *text, const char *message) {
    refused_of(gx_str(text), message);
}

static void a_run_goes_on_behind_the_seeds_that_are_done(void **state) {
    (void)state;
    goes_on_at(HEAD, 1, 1);
    goes_on_at(HEAD "done 1 30 0\n", 1, 31);
    goes_on_at(HEAD "done 1 30 1\nfailed 17 it was wrong\ndone 31 60 0\n", 1, 61);
    goes_on_at(HEAD "done 1 30 0\ndone 1 20 0", 1, 31);
    goes_on_at(HEAD "done 1 30 0\n", 100, 100);
}

static void the_last_seed_of_all_leaves_none_to_go_on_with(void **state) {
    (void)state;
    goes_on_at(HEAD "done 5 18446744073709551615 0\n", 5, 5);
    goes_on_at(HEAD "done 0 18446744073709551615 18446744073709551615\n", 5, 5);
}

static void another_file_or_another_topologys_record_is_refused(void **state) {
    (void)state;
    static const char none[] = "r: line 1: this is not a record of gale simulate";
    static const char other[] = "r: line 2: this is the record of another topology or other options; name another file";
    refused("", none);
    refused("word\n", none);
    refused("gale simulate record 10\n", none);
    refused_of((gale_str){ "gale simulate record 1\0\n", 24 }, none);
    refused("gale simulate record 1\n", other);
    refused("gale simulate record 1\nwhat 0000000000000abd\n", other);
    refused("gale simulate record 1\nwhat abc\n", other);
    refused("gale simulate record 1\nwhat 0000000000000ABC\n", other);
}

static void a_line_that_is_no_line_of_a_record_is_named(void **state) {
    (void)state;
    static const char *const lines[] = {
        "",           "done",        "done 1 2",    "done 1 2 0 0", "done 2 1 0",
        "done 1 2 3", "done -1 2 0", "done +1 2 0", "done 1 2 x",   "done 1 2 0x0",
        "failed",     "failed x",    "failed -1",   "did 1 2 0",    "done 1 2 99999999999999999999"
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char text[200];
        snprintf(text, sizeof text, HEAD "done 1 1 0\n%s\n", lines[i]);
        refused(text, "r: line 4 is neither 'done FROM TO FAILURES' nor 'failed SEED'");
    }
}

/* sscanf would take three numbers from three lines. */
static void numbers_of_one_line_stand_in_one_line(void **state) {
    (void)state;
    refused(HEAD "done 1\n2\n0\n", "r: line 3 is neither 'done FROM TO FAILURES' nor 'failed SEED'");
}

static void what_is_written_is_read_again(void **state) {
    (void)state;
    gx_buf out = GX_BUF_INIT(NULL);
    gx_progress_begin(&out, WHAT);
    gx_progress_done(&out, 1, 1000, 2);
    gx_progress_failed(&out, 17, "a text\nof two lines");
    gx_progress_failed(&out, 18, "");
    assert_string_equal(gx_buf_text(&out), HEAD "done 1 1000 2\nfailed 17 a text\nfailed 18 \n");
    goes_on_at(gx_buf_text(&out), 1, 1001);
    gx_buf_fini(&out);
}

/* Each line is looked at once: as long as a record may be, and many times over if it were not. */
static void a_record_of_sixteen_megabytes_is_read(void **state) {
    (void)state;
    gx_buf out = GX_BUF_INIT(NULL);
    gx_progress_begin(&out, WHAT);
    while (out.size < (16 << 20)) gx_progress_done(&out, 1, 1, 0);
    goes_on_at(gx_buf_text(&out), 1, 2);
    gx_buf_fini(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_goes_on_behind_the_seeds_that_are_done),
        cmocka_unit_test(the_last_seed_of_all_leaves_none_to_go_on_with),
        cmocka_unit_test(another_file_or_another_topologys_record_is_refused),
        cmocka_unit_test(a_line_that_is_no_line_of_a_record_is_named),
        cmocka_unit_test(numbers_of_one_line_stand_in_one_line),
        cmocka_unit_test(what_is_written_is_read_again),
        cmocka_unit_test(a_record_of_sixteen_megabytes_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
