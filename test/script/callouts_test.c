/* Where patterns need callouts. */
#include "script/callouts.h"

#include "script/matcher.h"
#include "script/patterns.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "harness/cm.h"

static void places(const char *pattern, const char *wanted) {
    gx_buf out = GX_BUF_INIT(NULL);
    bool known = gx_callouts_place(gx_str(pattern), &out);
    const char *text = known ? gx_buf_text(&out) : NULL;
    if (known != (wanted != NULL) || (known && strcmp(text, wanted) != 0))
        fail_msg("'%s' becomes '%s'", pattern, text ? text : "nothing");
    gx_buf_fini(&out);
}

/* The callout is written as a point here. */
static void callouts_stand_where_a_search_may_go_another_way(void **state) {
    (void)state;
    places("", "(?C)");
    places("abc", "(?C)abc");
    places("a+b", "(?C)a+(?C)b");
    places("a{3}b{2,}?c", "(?C)a{3}b{2,}?(?C)c");
    places("a|b", "(?C)a|(?C)b");
    places("x(a)(?:b)?(c|d)", "(?C)x(a)(?:(?C)b)?(?C)((?C)c|(?C)d)");
    places("(?<n>a++)*", "(?C)(?<n>(?C)a++(?C))*(?C)");
    places("(?i)[]+)\\]]*\\)", "(?C)(?i)[]+)\\]]*(?C)\\)");
    places("[^]a]?{x}\xc3\xa9+", "(?C)[^]a]?(?C){x}\xc3\xa9+(?C)");
    places("^\\d{1,3}\\.\\x20$", "(?C)^\\d{1,3}(?C)\\.\\x20$");
    places("0123456789abcdefghij", "(?C)0123456789abcdef(?C)ghij");
}

static void what_is_not_known_is_left_alone(void **state) {
    (void)state;
    static const char *const patterns[] = { "(a)\\1",  "(?=a)",    "(?<=a)b",   "(?x)a b",     "(*UTF)a", "(?#c)a",
                                            "(?>a)",   "\\Qa*\\E", "\\p{L}",    "[[:alpha:]]", "(?(1)a)", "(?R)",
                                            "\\bx\\K", "a{,3}",    "\\g1",      "\\o{7}",      "\\x{e9}", "\\cA",
                                            "(?C)a",   "(?|a|b)",  "(?&n)",     "(?P=n)",      "\\X",     "\\R",
                                            "\\E",     "^*",       "[a\\Q]\\E]" };
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) places(patterns[i], NULL);
}

/* --- The pattern with callouts finds what the pattern finds --- */

static void callouts_change_no_result(void **state) {
    (void)state;
    static const char *const texts[] = { "", "a", "ab ab", "aab.b \xc3\xa9\xc3\xa9", "abababab", "1a 2b {", " b a " };
    int known = 0;
    for (uint64_t seed = 0; seed < 20000; seed++) {
        pattern_maker m = { .random = gx_random_new(seed, 1) };
        size_t wanted[2 * PATTERN_GROUPS], found[2 * PATTERN_GROUPS];
        gx_buf placed = GX_BUF_INIT(NULL);
        const char *text = texts[seed % (sizeof texts / sizeof *texts)];
        pattern_alternatives(&m, 3);
        int rc = pattern_search(m.text, m.size, text, 0, wanted);
        if (rc != -99 && gx_callouts_place((gale_str){ m.text, m.size }, &placed)) {
            int again = pattern_search(placed.data, placed.size, text, 0, found);
            if (again != rc || memcmp(found, wanted, sizeof found) != 0)
                fail_msg("seed %llu: '%s' finds %d in '%s', and with callouts %d", (unsigned long long)seed, m.text, rc,
                         text, again);
            known++;
        }
        gx_buf_fini(&placed);
    }
    assert_true(known > 5000);
}

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* GX_STEPS_WORK is some 0.1 s. The limit here is far above, for sanitizers and the interpreter. */
static void no_search_takes_longer_than_its_bound(void **state) {
    (void)state;
    static char text[50000];
    gx_heap heap;
    double longest = 0;
    const char *seeds = getenv("GALE_TEST_PATTERNS");
    gx_heap_init(&heap, NULL);
    for (size_t i = 0; i < sizeof text; i++) text[i] = "ab a"[i * i % 7 % 4];
    for (uint64_t seed = 0; seed < (seeds ? strtoull(seeds, NULL, 10) : 300); seed++) {
        pattern_maker m = { .random = gx_random_new(seed, 2) };
        gx_pattern *pattern;
        pattern_alternatives(&m, 4);
        pattern_add(&m, "[cx]");
        if (gx_pattern_new(m.text, "here", &pattern, NULL) < 0) continue;
        gx_matcher *matcher = gx_matcher_new(&heap, pattern);
        double before = cpu_seconds();
        (void)gx_matcher_find(matcher, (gale_str){ text, sizeof text }, true);
        double took = cpu_seconds() - before;
        if (took > longest) longest = took;
        if (took > 5) fail_msg("seed %llu: '%s' took %.1f s", (unsigned long long)seed, m.text, took);
        gx_matcher_free(matcher);
        gx_pattern_free(pattern);
    }
    print_message("the longest search took %.3f s\n", longest);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callouts_stand_where_a_search_may_go_another_way),
        cmocka_unit_test(what_is_not_known_is_left_alone),
        cmocka_unit_test(callouts_change_no_result),
        cmocka_unit_test(no_search_takes_longer_than_its_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
