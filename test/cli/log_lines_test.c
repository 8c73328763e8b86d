#include "cli/log_lines.h"

#include "harness/cm.h"

#include <fcntl.h>
#include <gale/clock.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const int64_t noon = 1767355384 * GALE_SECOND + 56 * GALE_MILLISECOND; /* 2026-01-02T12:03:04.056Z */

static gx_log_lines json_lines(void) {
    gx_log_lines lines = GX_LOG_LINES_INIT;
    lines.json = true;
    return lines;
}

static void expect(gx_buf *out, const char *text) {
    assert_string_equal(gx_buf_text(out), text);
    gx_buf_reset(out);
}

static size_t count_lines(gx_buf *out) {
    size_t count = 0;
    for (const char *at = gx_buf_text(out); (at = strchr(at, '\n')); at++) count++;
    return count;
}

static void a_line_of_json_has_time_level_component_and_message(void **state) {
    (void)state;
    gx_log_lines lines = json_lines();
    gx_buf out = GX_BUF_INIT(NULL);
    gx_log_lines_add(&lines, noon, GALE_LOG_WARN, "count", "text", &out);
    expect(&out,
           "{\"time\":\"2026-01-02T12:03:04.056Z\",\"level\":\"warn\",\"component\":\"count\",\"message\":\"text\"}\n");
    gx_log_lines_add(&lines, noon, GALE_LOG_INFO, NULL, "", &out);
    expect(&out, "{\"time\":\"2026-01-02T12:03:04.056Z\",\"level\":\"info\",\"component\":null,\"message\":\"\"}\n");
    gx_log_lines_fini(&lines);
    gx_buf_fini(&out);
}

static void what_json_or_a_terminal_would_take_otherwise_is_escaped(void **state) {
    (void)state;
    gx_log_lines lines = json_lines();
    gx_buf out = GX_BUF_INIT(NULL);
    gx_log_lines_add(&lines, noon, GALE_LOG_ERROR, "a\"b", "c:\\d\n\x1b[31m \xff \xc2\x9b \xc3\xa9", &out);
    expect(&out, "{\"time\":\"2026-01-02T12:03:04.056Z\",\"level\":\"error\",\"component\":\"a\\\"b\","
                 "\"message\":\"c:\\\\d\\n\\u001b[31m \\\\xff \\u009b \xc3\xa9\"}\n");
    gx_log_lines_fini(&lines);
    gx_buf_fini(&out);
}

static void a_line_that_comes_again_within_a_second_is_counted(void **state) {
    (void)state;
    gx_log_lines lines = json_lines();
    gx_buf out = GX_BUF_INIT(NULL);
    for (int i = 0; i < 4; i++) gx_log_lines_add(&lines, noon + i, GALE_LOG_INFO, NULL, "same", &out);
    gx_buf_reset(&out);
    gx_log_lines_repeat(&lines, noon, &out);
    expect(&out, "{\"time\":\"2026-01-02T12:03:04.056Z\",\"level\":\"info\",\"component\":null,\"message\":\"same\","
                 "\"repeated\":3}\n");
    gx_log_lines_repeat(&lines, noon, &out);
    expect(&out, "");
    gx_log_lines_add(&lines, noon + GALE_SECOND, GALE_LOG_INFO, NULL, "same", &out);
    assert_true(out.size > 0);
    gx_log_lines_fini(&lines);
    gx_buf_fini(&out);
}

static void lines_that_take_turns_are_counted_each(void **state) {
    (void)state;
    gx_log_lines lines = json_lines();
    gx_buf out = GX_BUF_INIT(NULL);
    char text[20];
    for (int i = 0; i < 3 * GX_LOG_LINES_RECENT; i++) {
        snprintf(text, sizeof text, "n%d", i % GX_LOG_LINES_RECENT);
        gx_log_lines_add(&lines, noon + i, GALE_LOG_INFO, NULL, text, &out);
        assert_int_equal(out.size > 0, i < GX_LOG_LINES_RECENT);
        gx_buf_reset(&out);
    }
    gx_log_lines_add(&lines, noon + 100, GALE_LOG_INFO, NULL, "one more", &out); /* in the place of the oldest */
    expect(&out,
           "{\"time\":\"2026-01-02T12:03:04.056Z\",\"level\":\"info\",\"component\":null,\"message\":\"n0\","
           "\"repeated\":2}\n"
           "{\"time\":\"2026-01-02T12:03:04.056Z\",\"level\":\"info\",\"component\":null,\"message\":\"one more\"}\n");
    gx_log_lines_repeat(&lines, noon, &out);
    assert_int_equal(count_lines(&out), GX_LOG_LINES_RECENT - 1);
    gx_log_lines_fini(&lines);
    gx_buf_fini(&out);
}

static void refuse(gx_log_lines *lines, int64_t now, int number, gx_buf *out) {
    char text[80];
    snprintf(text, sizeof text, "line %d: no queue takes 'k.%c' (queue's)", number, 'a' + number % 26);
    gx_log_lines_add(lines, now, GALE_LOG_WARN, "in", text, out);
}

static void of_many_warnings_that_are_alike_a_few_are_shown_and_the_last_with_their_number(void **state) {
    (void)state;
    gx_log_lines lines = GX_LOG_LINES_INIT;
    gx_buf out = GX_BUF_INIT(NULL);
    for (int i = 1; i <= 1000; i++) refuse(&lines, noon + i, i, &out);
    assert_int_equal(count_lines(&out), GX_LOG_ALIKE_SHOWN);
    gx_buf_reset(&out);
    gx_log_lines_repeat(&lines, noon, &out);
    assert_string_equal(gx_buf_text(&out) + strlen("12:00:00.000 "),
                        "WARN in: line 1000: no queue takes 'k.m' (queue's) (and 989 more like it)\n");
    gx_buf_reset(&out);
    gx_log_lines_repeat(&lines, noon, &out);
    expect(&out, "");
    for (int i = 1; i <= 3; i++) refuse(&lines, noon + GALE_SECOND + i, 1000 + i, &out); /* they go on: one a second */
    assert_int_equal(count_lines(&out), 1);
    gx_buf_reset(&out);
    refuse(&lines, noon + 3 * GALE_SECOND, 1004, &out);
    assert_non_null(strstr(gx_buf_text(&out), "line 1003: no queue takes 'k.p' (queue's) (and 1 more like it)\n"));
    assert_non_null(strstr(out.data, "line 1004"));
    gx_log_lines_fini(&lines);
    gx_buf_fini(&out);
}

static void warnings_that_differ_in_values_in_double_quotes_are_alike(void **state) {
    (void)state;
    gx_log_lines lines = GX_LOG_LINES_INIT;
    gx_buf out = GX_BUF_INIT(NULL);
    char text[200];
    for (int i = 0; i < 260; i++) {
        int letter = 'a' + i % 26;
        const char *cut = i % 2 ? "\"" : "..."; /* a value that was too long has no second quote */
        snprintf(text, sizeof text, "where:1: there is no 'length'; with n = %d, word = \"%c\\\" \\\\\", last = \"%c%s",
                 i, letter, letter, cut);
        gx_log_lines_add(&lines, noon + i, GALE_LOG_WARN, "long", text, &out);
    }
    assert_int_equal(count_lines(&out), GX_LOG_ALIKE_SHOWN);
    gx_log_lines_fini(&lines);
    gx_buf_fini(&out);
}

static void lines_that_differ_in_words_or_are_no_warnings_are_shown_each(void **state) {
    (void)state;
    gx_log_lines lines = json_lines();
    gx_buf out = GX_BUF_INIT(NULL);
    char text[40];
    for (int i = 0; i < 26; i++) {
        snprintf(text, sizeof text, "NATS's word '%d %c", i, 'a' + i); /* an apostrophe, and quotes without an end */
        gx_log_lines_add(&lines, noon, GALE_LOG_WARN, "in", text, &out);
        snprintf(text, sizeof text, "checkpoint %d", i);
        gx_log_lines_add(&lines, noon, GALE_LOG_INFO, "in", text, &out);
    }
    assert_int_equal(count_lines(&out), 52);
    gx_buf_reset(&out);
    for (int i = 0; i < 12; i++) refuse(&lines, noon, 26 * i, &out);
    gx_buf_reset(&out);
    gx_log_lines_repeat(&lines, noon, &out);
    expect(&out, "{\"time\":\"2026-01-02T12:03:04.056Z\",\"level\":\"warn\",\"component\":\"in\","
                 "\"message\":\"line 286: no queue takes 'k.a' (queue's)\",\"alike\":1}\n");
    gx_log_lines_fini(&lines);
    gx_buf_fini(&out);
}

static void further_lines_of_a_text_are_indented(void **state) {
    (void)state;
    gx_log_lines lines = GX_LOG_LINES_INIT;
    gx_buf out = GX_BUF_INIT(NULL);
    gx_log_lines_add(&lines, noon, GALE_LOG_WARN, "count", "one\ntwo", &out);
    const char *text = gx_buf_text(&out);
    assert_string_equal(text + strlen("12:00:00.000 "), "WARN count: one\n  two\n");
    gx_log_lines_fini(&lines);
    gx_buf_fini(&out);
}

/* --- Files --- */

static void read_file(const char *path, char *to, size_t room) {
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    ssize_t size = read(fd, to, room - 1);
    to[size > 0 ? size : 0] = 0;
    close(fd);
}

static void lines_go_to_the_file_with_their_date_and_after_a_rotation_to_the_new_one(void **state) {
    (void)state;
    char folder[] = "/tmp/gale-log-XXXXXX", path[60], old[60], text[300];
    gx_log_lines lines = GX_LOG_LINES_INIT;
    gx_buf out = GX_BUF_INIT(NULL);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/log", folder);
    snprintf(old, sizeof old, "%s/log.1", folder);
    assert_int_equal(gx_log_lines_open(&lines, path, NULL), 0);
    gx_log_lines_add(&lines, noon, GALE_LOG_WARN, "count", "one", &out);
    assert_int_equal(rename(path, old), 0);
    gx_log_lines_add(&lines, noon, GALE_LOG_INFO, NULL, "two", &out);
    assert_int_equal(gx_log_lines_reopen(&lines, NULL), 0);
    gx_log_lines_add(&lines, noon, GALE_LOG_INFO, NULL, "three", &out);
    read_file(old, text, sizeof text);
    assert_string_equal(text, "2026-01-02T12:03:04.056Z WARN count: one\n2026-01-02T12:03:04.056Z INFO two\n");
    read_file(path, text, sizeof text);
    assert_string_equal(text, "2026-01-02T12:03:04.056Z INFO three\n");
    assert_int_equal(out.size, 0);
    gx_log_lines_fini(&lines);
    unlink(path), unlink(old), rmdir(folder);
}

static void a_file_that_somebody_has_removed_is_made_anew_and_says_so(void **state) {
    (void)state;
    char folder[] = "/tmp/gale-log-XXXXXX", path[60], text[300];
    gx_log_lines lines = GX_LOG_LINES_INIT;
    gx_buf out = GX_BUF_INIT(NULL);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/log", folder);
    assert_int_equal(gx_log_lines_open(&lines, path, NULL), 0);
    gx_log_lines_add(&lines, noon, GALE_LOG_INFO, NULL, "one", &out);
    unlink(path);
    gx_log_lines_add(&lines, noon + 2 * GALE_SECOND, GALE_LOG_INFO, NULL, "two", &out);
    read_file(path, text, sizeof text);
    assert_string_equal(
        text, "2026-01-02T12:03:06.056Z WARN the file of this log was removed by somebody, with what it held; "
              "it is made anew\n2026-01-02T12:03:06.056Z INFO two\n");
    gx_log_lines_fini(&lines);
    gx_buf_fini(&out);
    unlink(path), rmdir(folder);
}

static void a_file_that_cannot_be_opened_again_is_gone_on_with(void **state) {
    (void)state;
    char folder[] = "/tmp/gale-log-XXXXXX", path[60], text[300];
    gx_log_lines lines = GX_LOG_LINES_INIT;
    gale_error error = GALE_ERROR_INIT;
    gx_buf out = GX_BUF_INIT(NULL);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/log", folder);
    assert_int_equal(gx_log_lines_open(&lines, path, NULL), 0);
    int kept = open(path, O_RDONLY);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(gx_log_lines_reopen(&lines, &error), GALE_IO);
    gx_log_lines_add(&lines, noon, GALE_LOG_INFO, NULL, "one", &out);
    ssize_t size = read(kept, text, sizeof text);
    assert_int_equal(size, strlen("2026-01-02T12:03:04.056Z INFO one\n"));
    gx_log_lines_fini(&lines);
    close(kept);
    rmdir(path), rmdir(folder);
}

static void lines_that_a_full_disk_did_not_take_are_counted_and_told(void **state) {
    (void)state;
    char folder[] = "/tmp/gale-log-XXXXXX", path[60], text[500];
    struct rlimit before, none = { 0, 0 };
    gx_log_lines lines = GX_LOG_LINES_INIT;
    gx_buf out = GX_BUF_INIT(NULL);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/log", folder);
    assert_int_equal(gx_log_lines_open(&lines, path, NULL), 0);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    none.rlim_max = before.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    gx_log_lines_add(&lines, noon, GALE_LOG_INFO, NULL, "one", &out);
    gx_log_lines_add(&lines, noon, GALE_LOG_INFO, NULL, "two", &out);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    gx_log_lines_add(&lines, noon, GALE_LOG_INFO, NULL, "three", &out);
    read_file(path, text, sizeof text);
    assert_string_equal(text, "2026-01-02T12:03:04.056Z WARN 2 lines of this log could not be written\n"
                              "2026-01-02T12:03:04.056Z INFO three\n");
    gx_log_lines_fini(&lines);
    unlink(path), rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_of_json_has_time_level_component_and_message),
        cmocka_unit_test(what_json_or_a_terminal_would_take_otherwise_is_escaped),
        cmocka_unit_test(a_line_that_comes_again_within_a_second_is_counted),
        cmocka_unit_test(lines_that_take_turns_are_counted_each),
        cmocka_unit_test(of_many_warnings_that_are_alike_a_few_are_shown_and_the_last_with_their_number),
        cmocka_unit_test(warnings_that_differ_in_values_in_double_quotes_are_alike),
        cmocka_unit_test(lines_that_differ_in_words_or_are_no_warnings_are_shown_each),
        cmocka_unit_test(further_lines_of_a_text_are_indented),
        cmocka_unit_test(lines_go_to_the_file_with_their_date_and_after_a_rotation_to_the_new_one),
        cmocka_unit_test(a_file_that_somebody_has_removed_is_made_anew_and_says_so),
        cmocka_unit_test(a_file_that_cannot_be_opened_again_is_gone_on_with),
        cmocka_unit_test(lines_that_a_full_disk_did_not_take_are_counted_and_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
