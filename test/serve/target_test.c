/* What a request asks for, taken to pieces. */
#include "serve/target.h"

#include "harness/cm.h"

#include <stdio.h>

/* Read, its segments and pairs are `expected`: "/a/b name=value ..." */
static void assert_reads(const char *text, const char *expected) {
    gx_target target;
    const char *why;
    char shown[2 * GX_TARGET_SIZE];
    int size = 0;
    assert_true(gx_target_read(gx_str(text), &target, &why));
    shown[0] = 0;
    for (uint32_t i = 0; i < target.segment_count; i++)
        size += snprintf(shown + size, sizeof shown - (size_t)size, "/%.*s", GX_STR(target.segments[i]));
    for (uint32_t i = 0; i < target.pair_count; i++)
        size += snprintf(shown + size, sizeof shown - (size_t)size, " %.*s=%.*s", GX_STR(target.pairs[i].name),
                         GX_STR(target.pairs[i].value));
    assert_string_equal(shown, expected);
}

static void assert_refused(const char *text, const char *expected) {
    gx_target target;
    const char *why;
    assert_false(gx_target_read(gx_str(text), &target, &why));
    assert_string_equal(why, expected);
}

static void paths_are_cut_at_slashes_and_decoded(void **state) {
    (void)state;
    assert_reads("/", "");
    assert_reads("/metrics", "/metrics");
    assert_reads("/api/", "/api");
    assert_reads("/api/v1/topology/word%20count", "/api/v1/topology/word count");
    assert_reads("/a%2Fb/c+d", "/a/b/c+d");
    assert_reads("/%c3%A4", "/\xc3\xa4");
    assert_reads("//a", "//a"); /* an empty segment first, which no route has */
}

static void queries_are_pairs(void **state) {
    (void)state;
    assert_reads("/?", "");
    assert_reads("/?a=1", " a=1");
    assert_reads("/x?a=1&b&c=&&d=e=f", "/x a=1 b= c= d=e=f");
    assert_reads("/?where=word+%3D+'a'", " where=word = 'a'");
    assert_reads("/?=v", " =v");
}

static void the_first_of_two_pairs_is_the_value(void **state) {
    (void)state;
    gx_target target;
    const char *why;
    assert_true(gx_target_read(gx_str("/?a=1&a=2"), &target, &why));
    assert_true(gx_str_is(gx_target_query(&target, "a"), "1"));
    assert_null(gx_target_query(&target, "b").data);
}

static void what_could_mean_something_else_is_refused(void **state) {
    (void)state;
    assert_refused("", "does not begin with '/'");
    assert_refused("http://elsewhere/", "does not begin with '/'");
    assert_refused("*", "does not begin with '/'");
    assert_refused("/../etc/passwd", "has a segment of dots");
    assert_refused("/a/%2e%2E/b", "has a segment of dots");
    assert_refused("/a/./b", "has a segment of dots");
    assert_refused("/%", "has a '%' that is not followed by two hexadecimal digits");
    assert_refused("/%4", "has a '%' that is not followed by two hexadecimal digits");
    assert_refused("/%4g", "has a '%' that is not followed by two hexadecimal digits");
    assert_refused("/%00", "has a control character");
    assert_refused("/a?b=%0d%0aX: y", "has a control character");
    assert_refused("/a%7f", "has a control character");
    assert_refused("/%ff", "is no UTF-8");
    assert_refused("/?a=%c3", "is no UTF-8");
    assert_refused("/%ed%a0%80", "is no UTF-8");
}

static void there_are_so_many_segments_and_pairs_and_no_more(void **state) {
    (void)state;
    char text[GX_TARGET_SIZE + 2] = "";
    for (int i = 0; i < GX_TARGET_SEGMENTS; i++) strcat(text, "/a");
    assert_reads(text, text);
    strcat(text, "/a");
    assert_refused(text, "has too many segments");
    strcpy(text, "/?a");
    for (int i = 1; i < GX_TARGET_PAIRS; i++) strcat(text, "&a");
    gx_target target;
    const char *why;
    assert_true(gx_target_read(gx_str(text), &target, &why));
    strcat(text, "&a");
    assert_refused(text, "has too many parameters");
    memset(text, 'a', sizeof text - 1);
    text[0] = '/';
    text[GX_TARGET_SIZE] = 0;
    assert_reads(text, text);
    text[GX_TARGET_SIZE] = 'a';
    text[GX_TARGET_SIZE + 1] = 0;
    assert_refused(text, "is too long");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_cut_at_slashes_and_decoded),
        cmocka_unit_test(queries_are_pairs),
        cmocka_unit_test(the_first_of_two_pairs_is_the_value),
        cmocka_unit_test(what_could_mean_something_else_is_refused),
        cmocka_unit_test(there_are_so_many_segments_and_pairs_and_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
