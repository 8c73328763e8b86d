/* Patterns outside of a box. */
#include "script/matcher.h"

#include "harness/counting_allocator.h"
#include "script/steps.h"

#include <stdlib.h>

#include "harness/cm.h"

typedef struct rig {
    gx_heap heap;
    gx_pattern *pattern;
    gx_matcher *matcher;
} rig;

static void begin(rig *r, const char *text) {
    gale_error error = GALE_ERROR_INIT;
    gx_heap_init(&r->heap, NULL);
    if (gx_pattern_new(text, "here", &r->pattern, &error) < 0) fail_msg("%s", error.text);
    r->matcher = gx_matcher_new(&r->heap, r->pattern);
    assert_non_null(r->matcher);
}

static void end(rig *r) {
    gx_matcher_free(r->matcher);
    gx_pattern_free(r->pattern);
    assert_int_equal(gx_heap_reserved(&r->heap), 0);
}

static void expect_group(rig *r, uint32_t group, const char *wanted) {
    gale_str found = gx_matcher_group(r->matcher, group);
    if (!wanted) {
        assert_null(found.data);
        return;
    }
    assert_non_null(found.data);
    assert_int_equal(found.size, strlen(wanted));
    assert_memory_equal(found.data, wanted, found.size);
}

static void groups_are_pieces_of_the_text(void **state) {
    (void)state;
    rig r;
    begin(&r, "(?<key>\\w+)=(\\d+)?(?<rest>.*)");
    assert_int_equal(gx_pattern_groups(r.pattern), 3);
    assert_int_equal(gx_pattern_name(r.pattern, 1).size, 3);
    assert_int_equal(gx_pattern_name(r.pattern, 2).size, 0);
    assert_memory_equal(gx_pattern_name(r.pattern, 3).data, "rest", 5);
    assert_int_equal(gx_matcher_find(r.matcher, gx_str(" ab=x"), true), 1);
    expect_group(&r, 0, "ab=x");
    expect_group(&r, 1, "ab");
    expect_group(&r, 2, NULL);
    expect_group(&r, 3, "x");
    assert_int_equal(gx_matcher_find(r.matcher, gx_str("a=17"), true), 1);
    expect_group(&r, 2, "17");
    expect_group(&r, 3, "");
    assert_int_equal(gx_matcher_find(r.matcher, gx_str("ab"), true), 0);
    assert_int_equal(gx_matcher_find(r.matcher, gx_str(""), true), 0);
    end(&r);
}

static void a_character_is_one_where_the_text_is_utf8(void **state) {
    (void)state;
    rig r;
    begin(&r, "^.$");
    assert_int_equal(gx_matcher_find(r.matcher, gx_str("\xc3\xa9"), true), 1);
    assert_int_equal(gx_matcher_find(r.matcher, gx_str("\xe9"), false), 1);
    assert_int_equal(gx_matcher_find(r.matcher, gx_str("\xe9\xe9"), false), 0);
    end(&r);
}

static void what_is_no_pattern_is_told(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int rc;
        const char *said;
    } rows[] = {
        { "(a", GALE_SYNTAX, "here: the pattern '(a' is wrong at byte 2: missing closing parenthesis" },
        { "a\\Cb", GALE_SYNTAX,
          "here: the pattern 'a\\Cb' is wrong at byte 3: using \\C is disabled by the application" },
        { "\xff", GALE_SYNTAX,
          "here: the pattern '\xff' is wrong at byte 0: UTF-8 error: illegal byte (0xfe or 0xff)" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gale_error error = GALE_ERROR_INIT;
        gx_pattern *made = NULL;
        assert_int_equal(gx_pattern_new(rows[i].text, "here", &made, &error), rows[i].rc);
        assert_string_equal(error.text, rows[i].said);
        assert_null(made);
    }
}

static void what_is_too_large_is_refused(void **state) {
    (void)state;
    char text[4096] = { 0 };
    gale_error error = GALE_ERROR_INIT;
    gx_pattern *made = NULL;
    memset(text, 'a', GX_STEPS_PATTERN + 1);
    assert_int_equal(gx_pattern_new(text, "here", &made, &error), GALE_TOO_LARGE);
    assert_string_equal(error.text, "here: the pattern has 2049 bytes, at most 2048");
    text[0] = 0;
    for (int i = 0; i < GX_STEPS_GROUPS + 1; i++) memcpy(text + 3 * i, "(a)", 4);
    assert_int_equal(gx_pattern_new(text, "here", &made, &error), GALE_TOO_LARGE);
    assert_string_equal(error.text, "here: the pattern has more than 100 groups");
}

/* Each is exponential, cubic or worse in a text of many a's. */
static void a_pattern_that_explodes_ends_within_its_bound(void **state) {
    (void)state;
    static const char *const patterns[] = {
        "(a+)+$",       "(a|aa)+$",         "(a|a?)+$",          "(.*)*[bc]",
        "(a*)*[bc]",    ".*.*.*.*[bc]",     "a*a*a*a*a*[bc]",    "(?:a?){80}a{80}[bc]",
        "(a+)+\\1[bc]", "(?:(?:a+)+)+[bc]", "(?=(a+))a*[bc]\\1", "((a{1,300}){1,100})[bc]"
    };
    static char text[200000];
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = 'x';
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        rig r;
        begin(&r, patterns[i]);
        int rc = gx_matcher_find(r.matcher, (gale_str){ text, sizeof text }, true);
        if (rc != GALE_TOO_LARGE) fail_msg("%s: %d", patterns[i], rc);
        assert_in_range(gx_matcher_work(r.matcher), 0, 2 * GX_STEPS_WORK + 200000);
        assert_in_range(gx_matcher_find(r.matcher, gx_str("ab"), true), 0, 1);
        end(&r);
    }
}

static void failing_allocations_are_survived(void **state) {
    (void)state;
    gale_error error = GALE_ERROR_INIT;
    gx_pattern *pattern = NULL;
    assert_int_equal(gx_pattern_new("(a+)b", "here", &pattern, &error), 0);
    bool whole = false;
    for (uint64_t n = 1; !whole; n++) {
        counting_allocator counting = { .fail_at = n };
        gale_allocator handle = counting_handle(&counting);
        gx_heap heap;
        gx_heap_init(&heap, &handle);
        gx_matcher *matcher = gx_matcher_new(&heap, pattern);
        int rc = matcher ? gx_matcher_find(matcher, gx_str("aab"), true) : GALE_NO_MEMORY;
        assert_true(rc == 1 || rc == GALE_NO_MEMORY);
        whole = rc == 1;
        gx_matcher_free(matcher);
        assert_int_equal(gx_heap_reserved(&heap), 0);
        assert_true(n < 100);
    }
    gx_pattern_free(pattern);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_are_pieces_of_the_text),
        cmocka_unit_test(a_character_is_one_where_the_text_is_utf8),
        cmocka_unit_test(what_is_no_pattern_is_told),
        cmocka_unit_test(what_is_too_large_is_refused),
        cmocka_unit_test(a_pattern_that_explodes_ends_within_its_bound),
        cmocka_unit_test(failing_allocations_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
