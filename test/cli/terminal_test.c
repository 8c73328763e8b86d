#include "cli/terminal.h"

#include "harness/cm.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* What was written to `pipe`, without the time of day at the beginning of each line. */
static void expect_written(int pipe, const char *expected) {
    char bytes[2000], lines[2000] = "";
    ssize_t n = read(pipe, bytes, sizeof bytes - 1);
    bytes[n > 0 ? n : 0] = 0;
    enum { TIME = sizeof "12:00:00.000 " - 1 };
    for (char *line = bytes, *end; (end = strchr(line, '\n')); line = end + 1) {
        assert_true(end - line > TIME);
        strncat(lines, line + TIME, (size_t)(end + 1 - line) - TIME);
    }
    assert_string_equal(lines, expected);
}

static void log_times(gx_terminal *terminal, int times, const char *text) {
    gale_logger logger = gx_terminal_logger(terminal, GALE_LOG_INFO);
    for (int i = 0; i < times; i++) gale_log(&logger, GALE_LOG_WARN, "counter", "%s", text);
}

static void lines_that_come_again_are_repeated_once_with_their_number(void **state) {
    (void)state;
    int ends[2];
    gx_terminal terminal;
    assert_int_equal(pipe(ends), 0);
    gx_terminal_init(&terminal, ends[1]);
    log_times(&terminal, 1, "one");
    log_times(&terminal, 4, "two");
    log_times(&terminal, 2, "three");
    gx_terminal_flush(&terminal);
    gx_terminal_flush(&terminal);
    expect_written(ends[0], "WARN counter: one\n"
                            "WARN counter: two\n"
                            "WARN counter: three\n"
                            "WARN counter: two (3 times more)\n"
                            "WARN counter: three (1 time more)\n");
    gx_terminal_fini(&terminal);
    close(ends[0]);
    close(ends[1]);
}

static void the_level_can_be_changed_while_a_logger_is_in_use(void **state) {
    (void)state;
    int ends[2];
    gx_terminal terminal;
    assert_int_equal(pipe(ends), 0);
    gx_terminal_init(&terminal, ends[1]);
    gale_logger logger = gx_terminal_logger(&terminal, GALE_LOG_WARN);
    gale_log(&logger, GALE_LOG_INFO, NULL, "one");
    gx_terminal_set_log_level(&terminal, GALE_LOG_INFO);
    gale_log(&logger, GALE_LOG_INFO, NULL, "two");
    gale_logger again = gx_terminal_logger(&terminal, GALE_LOG_ERROR); /* who comes later finds the level set */
    gale_log(&again, GALE_LOG_INFO, NULL, "three");
    gx_terminal_set_log_level(&terminal, GALE_LOG_OFF);
    gale_log(&logger, GALE_LOG_ERROR, NULL, "four");
    assert_int_equal(gx_terminal_log_level(&terminal), GALE_LOG_OFF);
    gx_terminal_fini(&terminal);
    close(ends[1]);
    char text[400] = "";
    ssize_t size = read(ends[0], text, sizeof text - 1);
    close(ends[0]);
    assert_true(size > 0);
    assert_null(strstr(text, "one"));
    assert_non_null(strstr(text, "two"));
    assert_non_null(strstr(text, "three"));
    assert_null(strstr(text, "four"));
}

static void a_write_that_fails_is_remembered_with_its_reason(void **state) {
    (void)state;
    gx_terminal terminal;
    int fd = open("/dev/full", O_WRONLY);
    assert_true(fd >= 0);
    gx_terminal_init(&terminal, fd);
    assert_true(gx_terminal_print(&terminal, ""));
    assert_int_equal(terminal.broken, 0);
    assert_false(gx_terminal_print(&terminal, "text\n"));
    assert_int_equal(terminal.broken, ENOSPC);
    gx_terminal_fini(&terminal);
    close(fd);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_that_come_again_are_repeated_once_with_their_number),
        cmocka_unit_test(the_level_can_be_changed_while_a_logger_is_in_use),
        cmocka_unit_test(a_write_that_fails_is_remembered_with_its_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
