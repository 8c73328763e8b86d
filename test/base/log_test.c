#include "base/log.h"

#include "harness/cm.h"

#include <string.h>

typedef struct heard {
    int lines;
    int32_t level;
    char component[32];
    char text[2000];
} heard;

static void hear(void *user, int32_t level, const char *component, const char *text) {
    heard *h = user;
    h->lines++;
    h->level = level;
    strncpy(h->component, component ? component : "none", sizeof h->component - 1);
    strncpy(h->text, text, sizeof h->text - 1);
}

static gale_logger logger_at(heard *h, int32_t level) {
    return (gale_logger){ sizeof(gale_logger), level, hear, h };
}

static void a_wanted_line_arrives_formatted(void **state) {
    (void)state;
    heard h = { 0 };
    gale_logger logger = logger_at(&h, GALE_LOG_INFO);
    gale_log(&logger, GALE_LOG_WARN, "bolt", "%d of %s", 3, "four");
    assert_int_equal(h.lines, 1);
    assert_int_equal(h.level, GALE_LOG_WARN);
    assert_string_equal(h.component, "bolt");
    assert_string_equal(h.text, "3 of four");
    gale_log(&logger, GALE_LOG_INFO, NULL, "x");
    assert_string_equal(h.component, "none");
}

static void what_is_below_the_level_is_dropped(void **state) {
    (void)state;
    heard h = { 0 };
    gale_logger logger = logger_at(&h, GALE_LOG_WARN);
    gale_log(&logger, GALE_LOG_INFO, NULL, "x");
    gale_log(&logger, GALE_LOG_OFF, NULL, "x");
    logger.level = GALE_LOG_OFF;
    gale_log(&logger, GALE_LOG_ERROR, NULL, "x");
    assert_int_equal(h.lines, 0);
}

static void without_a_handle_messages_are_dropped(void **state) {
    (void)state;
    gale_logger silent = { sizeof silent, GALE_LOG_TRACE, NULL, NULL };
    gale_log(NULL, GALE_LOG_ERROR, NULL, "x");
    gale_log(&silent, GALE_LOG_ERROR, NULL, "x");
}

static void a_message_is_one_line(void **state) {
    (void)state;
    heard h = { 0 };
    gale_logger logger = logger_at(&h, GALE_LOG_TRACE);
    gale_log(&logger, GALE_LOG_INFO, NULL, "a\nb\r\n\n");
    assert_string_equal(h.text, "a b");
    gale_log(&logger, GALE_LOG_INFO, NULL, "%s", "\n");
    assert_string_equal(h.text, "");
}

static void a_line_is_cut_at_1000_bytes_between_characters(void **state) {
    (void)state;
    heard h = { 0 };
    gale_logger logger = logger_at(&h, GALE_LOG_TRACE);
    gale_log(&logger, GALE_LOG_INFO, NULL, "%01000d", 7);
    assert_int_equal(strlen(h.text), 1000);
    gale_log(&logger, GALE_LOG_INFO, NULL, "%01001d", 7);
    assert_int_equal(strlen(h.text), 1000);
    gale_log(&logger, GALE_LOG_INFO, NULL, "%0999d\xc3\xa9", 7);
    assert_int_equal(strlen(h.text), 999);
    gale_log(&logger, GALE_LOG_INFO, NULL, "%0998d\xc3\xa9", 7);
    assert_int_equal(strlen(h.text), 1000);
}

static void levels_have_names(void **state) {
    (void)state;
    assert_string_equal(gx_log_level_name(GALE_LOG_TRACE), "trace");
    assert_string_equal(gx_log_level_name(GALE_LOG_ERROR), "error");
    assert_string_equal(gx_log_level_name(GALE_LOG_OFF), "off");
    assert_string_equal(gx_log_level_name(-1), "unknown");
    assert_string_equal(gx_log_level_name(6), "unknown");
}

static void the_ready_made_logger_has_the_level_that_it_was_asked_for(void **state) {
    (void)state;
    gale_logger logger = gale_logger_stderr(GALE_LOG_WARN);
    assert_int_equal(logger.size, sizeof logger);
    assert_int_equal(logger.level, GALE_LOG_WARN);
    gale_log(&logger, GALE_LOG_INFO, "test", "not to be seen");
    gale_log(&logger, GALE_LOG_WARN, NULL, "to be seen: %d", 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ready_made_logger_has_the_level_that_it_was_asked_for),
        cmocka_unit_test(a_wanted_line_arrives_formatted),
        cmocka_unit_test(what_is_below_the_level_is_dropped),
        cmocka_unit_test(without_a_handle_messages_are_dropped),
        cmocka_unit_test(a_message_is_one_line),
        cmocka_unit_test(a_line_is_cut_at_1000_bytes_between_characters),
        cmocka_unit_test(levels_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
