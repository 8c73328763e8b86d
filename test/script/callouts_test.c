/* Where patterns need callouts. */
#include "script/callouts.h"

#include "base/random.h"
#include "script/matcher.h"
#include "script/steps.h"

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

enum { PATTERN = 400, GROUPS = 40 };

typedef struct maker {
    gx_random random;
    char text[PATTERN];
    size_t size;
} maker;

static void add(maker *m, const char *piece) {
    size_t size = strlen(piece);
    if (m->size + size >= sizeof m->text) return;
    memcpy(m->text + m->size, piece, size + 1);
    m->size += size;
}

static const char *one_of(maker *m, const char *const *pieces, size_t count) {
    return pieces[gx_random_below(&m->random, count)];
}

static void make_alternatives(maker *m, int depth);

static void make_item(maker *m, int depth) {
    static const char *const atoms[] = { "a",   "b",    "ab",   ".",   "\\w",      "\\S",          " ",
                                         "\\d", "[ab]", "[^b]", "\\.", "\xc3\xa9", "[^\xc3\xa9 ]", "\\b",
                                         "^",   "$",    "{" };
    static const char *const opens[] = { "(", "(?:", "(?i)(" };
    static const char *const repeats[] = { "", "", "", "*", "+", "?", "{2}", "{1,3}", "*?", "+?", "++", "{0,2}?" };
    size_t before = m->size;
    const char *atom = one_of(m, atoms, sizeof atoms / sizeof *atoms);
    if (depth && gx_random_below(&m->random, 3) == 0) {
        add(m, one_of(m, opens, 3));
        make_alternatives(m, depth - 1);
        add(m, ")");
    } else {
        add(m, atom);
    }
    bool is_anchor = m->size > before && (strcmp(atom, "\\b") == 0 || strcmp(atom, "^") == 0 || strcmp(atom, "$") == 0);
    if (!is_anchor || m->text[m->size - 1] == ')') add(m, one_of(m, repeats, sizeof repeats / sizeof *repeats));
}

static void make_alternatives(maker *m, int depth) {
    uint64_t count = 1 + gx_random_below(&m->random, 3) / 2;
    for (uint64_t i = 0; i < count; i++) {
        if (i) add(m, "|");
        for (uint64_t k = gx_random_below(&m->random, 5); k > 0; k--) make_item(m, depth);
    }
}

static int search(const char *pattern, size_t size, const char *text, uint32_t options, size_t *found) {
    int code, rc = -99;
    size_t at;
    pcre2_code *made = pcre2_compile((PCRE2_SPTR)pattern, size, options | PCRE2_UTF, &code, &at, NULL);
    pcre2_match_data *data = made ? pcre2_match_data_create(GROUPS, NULL) : NULL;
    if (made) rc = pcre2_match(made, (PCRE2_SPTR)text, strlen(text), 0, 0, data, NULL);
    memset(found, 0, 2 * GROUPS * sizeof *found);
    if (rc > 0) memcpy(found, pcre2_get_ovector_pointer(data), 2 * (size_t)rc * sizeof *found);
    pcre2_match_data_free(data);
    pcre2_code_free(made);
    return rc;
}

static void callouts_change_no_result(void **state) {
    (void)state;
    static const char *const texts[] = { "", "a", "ab ab", "aab.b \xc3\xa9\xc3\xa9", "abababab", "1a 2b {", " b a " };
    int known = 0;
    for (uint64_t seed = 0; seed < 20000; seed++) {
        maker m = { .random = gx_random_new(seed, 1) };
        size_t wanted[2 * GROUPS], found[2 * GROUPS];
        gx_buf placed = GX_BUF_INIT(NULL);
        const char *text = texts[seed % (sizeof texts / sizeof *texts)];
        make_alternatives(&m, 3);
        int rc = search(m.text, m.size, text, 0, wanted);
        if (rc != -99 && gx_callouts_place((gale_str){ m.text, m.size }, &placed)) {
            int again = search(placed.data, placed.size, text, 0, found);
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
        maker m = { .random = gx_random_new(seed, 2) };
        gx_pattern *pattern;
        make_alternatives(&m, 4);
        add(&m, "[cx]");
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
