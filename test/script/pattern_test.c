/* Patterns: PCRE2 with the arguments and results of Lua's functions. */
#include "script/patterns.h"
#include "script/rig.h"

#include <stdio.h>

static void groups_are_answered(void **state) {
    RIG_EXPECT_ALL(
        { "('abc'):match('b')", "\"b\"" }, { "('abc'):match('x')", "null" },
        { "select(2, ('k=v'):match('(\\\\w)=(\\\\w)'))", "\"v\"" }, { "select('#', ('ac'):match('(a)(b)?(c)'))", "3" },
        { "select(2, ('ac'):match('(a)(b)?(c)')) == nil", "true" }, { "select('#', ('a'):match('(a)(b)?(c)?'))", "3" },
        { "('a'):match('()')", "\"\"" }, { "('abcabc'):match('a.', 2)", "\"ab\"" },
        { "('abc'):match('c', -1)", "\"c\"" }, { "('abc'):match('a', -99)", "\"a\"" },
        { "('abc'):match('$', 4)", "\"\"" }, { "('abc'):match('$', 5)", "null" }, { "('abc'):match('^b', 2)", "null" },
        { "('abc'):match('\\\\Gb', 2)", "\"b\"" }, { "string.match(123, '2')", "\"2\"" }, { "('a'):match(1)", "null" },
        { "('ab'):match('a\\\\Kb')", "\"b\"" });
}

static void places_are_answered(void **state) {
    RIG_EXPECT_ALL({ "('abc'):find('bc')", "2" }, { "select(2, ('abc'):find('bc'))", "3" },
                   { "select(3, ('abc'):find('(b)c'))", "\"b\"" }, { "select('#', ('abc'):find('bc'))", "2" },
                   { "('a.c'):find('.', 1, true)", "2" }, { "('abc'):find('.', 1, true)", "null" },
                   { "('abc'):find('', 4)", "4" }, { "('abc'):find('', 5)", "null" },
                   { "('abc'):find('', 9, true)", "null" }, { "('aé'):find('$')", "4" },
                   { "('aaa'):find('a', 2, true)", "2" }, { "('aaa'):find('aa', 3, true)", "null" });
}

static void all_matches_are_gone_through(void **state) {
    RIG_EXPECT_ALL(
        { "local r = {} for w in ('a bc  d'):gmatch('\\\\w+') do r[#r + 1] = w end return r", "[\"a\",\"bc\",\"d\"]" },
        { "local n = 0 for _ in ('abc'):gmatch('x*') do n = n + 1 end return n", "4" },
        { "local r = {} for a, b in ('abcd'):gmatch('(.)(.)') do r[#r + 1] = b .. a end return r", "[\"ba\",\"dc\"]" },
        { "local r = {} for w in ('aXbX'):gmatch('.', 3) do r[#r + 1] = w end return r", "[\"b\",\"X\"]" },
        { "for w in ('abc'):gmatch('.', 9) do return w end return 'none'", "\"none\"" },
        { "local r = {} for a, b in ('abab'):gmatch('(a)|(b)') do r[#r + 1] = a or b end return r",
          "[\"a\",\"b\",\"a\",\"b\"]" },
        { "local f = ('a'):gmatch('a') f() f() return f()", "null" });
}

static void matches_are_replaced(void **state) {
    RIG_EXPECT_ALL(
        { "(('abc'):gsub('b*', '-'))", "\"-a-c-\"" }, { "select(2, ('abc'):gsub('.', ''))", "3" },
        { "(('abc'):gsub('.', '%0%0', 2))", "\"aabbc\"" }, { "(('abc'):gsub('.', '%1'))", "\"abc\"" },
        { "(('abc'):gsub('(.)(.)', '%2%1'))", "\"bac\"" }, { "(('a'):gsub('a', '%%%$$x$'))", "\"%$$x$\"" },
        { "(('a1'):gsub('(?<l>a)(?<d>.)', '${d}${l}'))", "\"1a\"" },
        { "(('a'):gsub('a', '${x}'))", "here:1: there is no group 'x' in the pattern" },
        { "(('a'):gsub('a', '%2'))", "here:1: invalid capture index %2 in replacement string" },
        { "(('a'):gsub('a', '%x'))", "here:1: invalid use of '%' in replacement string" },
        { "(('a'):gsub('a', '%'))", "here:1: invalid use of '%' in replacement string" },
        { "(('a b'):gsub('\\\\w', {a = 1, b = false}))", "\"1 b\"" },
        { "(('a b'):gsub('(\\\\w)', function(c) return c == 'a' and c:upper() end))", "\"A b\"" },
        { "(('a'):gsub('a', function() return {} end))", "here:1: invalid replacement value (a table)" },
        { "(('a'):gsub('a'))", "here:1: bad argument #2 to 'gsub' (string/function/table expected, got no value)" },
        { "(('abc'):gsub('b', '', 0))", "\"abc\"" }, { "(('ab'):gsub('(x)?b', '[%1]'))", "\"a[]\"" },
        { "(('aé'):gsub('', '-'))", "\"-a-é-\"" }, { "(('a\\xe9'):gsub('', '-')) == '-a-\\xe9-'", "true" },
        { "(('a,b'):gsub('[a-z]', function(c) return (c:gsub('.', '<%0>')) end))", "\"<a>,<b>\"" });
}

static void named_groups_become_a_map(void **state) {
    RIG_EXPECT_ALL({ "regex('ab', '(?<x>a)(b)')", "{\"x\":\"a\"}" }, { "regex('ab', '(a)(b)')", "[\"a\",\"b\"]" },
                   { "regex('ab', 'b')", "[\"b\"]" }, { "regex('ab', 'c')", "null" },
                   { "regex('b', '(?<x>a)?(?<y>b)')", "{\"y\":\"b\"}" },
                   { "regex('b', '(?J)(?<x>a)|(?<x>b)')", "{\"x\":\"b\"}" }, { "regex('b', '(a)?(b)')[2]", "\"b\"" });
}

static void text_is_utf8_where_it_is(void **state) {
    RIG_EXPECT_ALL({ "#('é'):match('.')", "2" }, { "#('\\xe9'):match('.')", "1" }, { "('É'):match('(?i)é')", "\"É\"" },
                   { "('né'):match('.', 3)", "null" }, { "('éa'):find('a', 2)", "3" },
                   { "('\\xe9a'):match('\\xe9(.)')", "\"a\"" }, { "('éa'):match('\\xc3')", "{\"base64\":\"ww==\"}" },
                   { "('é'):match('(*UCP)\\\\w')", "\"é\"" }, { "('é'):match('\\\\w')", "null" });
}

static void what_is_no_pattern_is_told(void **state) {
    RIG_EXPECT_ALL({ "('a'):match('(a')", "here:1: the pattern '(a' is wrong at byte 2: missing closing parenthesis" },
                   { "('a'):match('a\\\\Cb')",
                     "here:1: the pattern 'a\\Cb' is wrong at byte 3: using \\C is disabled by the application" },
                   { "('\\xff'):match('(*UTF)a')",
                     "here:1: the pattern '(*UTF)a' is wrong at byte 6: using UTF is disabled by the application" },
                   { "('a'):match(string.rep('a', 2049))", "here:1: the pattern has 2049 bytes, at most 2048" },
                   { "('a'):match(string.rep('(a)', 101))", "here:1: the pattern has more than 100 groups" },
                   { "('a'):match(string.rep('(', 101) .. string.rep(')', 101))",
                     "here:1: the pattern is wrong at byte 101: parentheses are too deeply nested" },
                   { "string.match('a')", "here:1: bad argument #2 to 'match' (string expected, got no value)" },
                   { "string.match('a', {})", "here:1: bad argument #2 to 'match' (string expected, got table)" });
}

static void more_patterns_are_used_than_are_kept(void **state) {
    RIG_EXPECT_ALL({ "local n = 0 for i = 1, 700 do n = n + #('a' .. i):match('a(' .. i .. ')') end return n", "1992" },
                   { "local r = ('a b c'):gsub('\\\\w', function(c) for i = 1, 300 do ('x'):match('x' .. i) end "
                     "return c .. c end) return r",
                     "\"aa bb cc\"" },
                   { "local r = '' for c in ('abc'):gmatch('.') do for i = 1, 300 do ('x'):match('y' .. i) end "
                     "r = r .. c end return r",
                     "\"abc\"" });
}

/* --- Callouts --- */

static uint64_t work_of(rig *r, const char *text) {
    gale_value x = gale_null();
    int function = rig_compile(r, text);
    (void)rig_call(r, function, &x); /* now the pattern is compiled */
    (void)rig_call(r, function, &x);
    return GX_BOX_WORK - gx_box_left(r->box);
}

/* The comment makes a pattern of it that is called back before each item. */
static void items_that_cannot_go_another_way_cost_no_steps(void **state) {
    uint64_t known = work_of(*state, "('abcdefghijklmn'):match('abcdefghijklmn')");
    uint64_t unknown = work_of(*state, "('abcdefghijklmn'):match('(?#)abcdefghijklmn')");
    assert_in_range(unknown - known, 20, 40);
}

static void patterns_find_what_they_find_without_callouts(void **state) {
    static const char *const texts[] = { "", "a", "ab ab", "aab.b \xc3\xa9\xc3\xa9", "abababab", "1a 2b {", " b a " };
    rig *r = *state;
    int function = rig_compile(r, "local b, e = x[2]:find(x[1]) return b and b .. '-' .. e or 'none'");
    int found = 0;
    for (uint64_t seed = 0; seed < 5000; seed++) {
        pattern_maker m = { .random = gx_random_new(seed, 3) };
        size_t at[2 * PATTERN_GROUPS];
        char wanted[60] = "\"none\"";
        const char *text = texts[seed % (sizeof texts / sizeof *texts)];
        pattern_alternatives(&m, 3);
        int rc = pattern_search(m.text, m.size, text, 0, at);
        const gale_value both[2] = { gale_text(m.text), gale_text(text) };
        gale_value x = gale_list(both, 2);
        const char *said = rig_call(r, function, &x);
        if (rc == -99 || strstr(said, "took too many steps")) continue;
        if (rc > 0) snprintf(wanted, sizeof wanted, "\"%zu-%zu\"", at[0] + 1, at[1]);
        found += rc > 0;
        if (strcmp(said, wanted) != 0) fail_msg("'%s' in '%s' says %s, not %s", m.text, text, said, wanted);
    }
    assert_true(found > 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_are_answered),
        cmocka_unit_test(places_are_answered),
        cmocka_unit_test(all_matches_are_gone_through),
        cmocka_unit_test(matches_are_replaced),
        cmocka_unit_test(named_groups_become_a_map),
        cmocka_unit_test(text_is_utf8_where_it_is),
        cmocka_unit_test(what_is_no_pattern_is_told),
        cmocka_unit_test(more_patterns_are_used_than_are_kept),
        cmocka_unit_test(items_that_cannot_go_another_way_cost_no_steps),
        cmocka_unit_test(patterns_find_what_they_find_without_callouts),
    };
    return cmocka_run_group_tests(tests, rig_set_up, rig_tear_down);
}
