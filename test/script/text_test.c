/* Text, lists and maps: what the library answers, beyond the examples of docs/reference/expressions.md. */
#include "script/rig.h"

static void text_is_split(void **state) {
    RIG_EXPECT_ALL({ "split('', ',')", "[\"\"]" }, { "split(',', ',')", "[\"\",\"\"]" },
                   { "split('a, b, c', ', ', 2)", "[\"a\",\"b, c\"]" }, { "split('a,b', ',', 1)", "[\"a,b\"]" },
                   { "split('')", "[]" }, { "split('  ')", "[]" }, { "split(' a\\tb  ', nil, 9)", "[\"a\",\"b\"]" },
                   { "split(12.5, '.')", "[\"12\",\"5\"]" },
                   { "split('a', '')", "here:1: bad argument #2 to 'split' (is empty)" },
                   { "split('a', ',', 0)", "here:1: bad argument #3 to 'split' (is below 1)" },
                   { "split(nil)", "here:1: bad argument #1 to 'split' (string expected, got nil)" });
}

static void lines_end_with_line_feeds(void **state) {
    RIG_EXPECT_ALL({ "lines('')", "[]" }, { "lines('\\n')", "[\"\"]" }, { "lines('a\\n\\nb')", "[\"a\",\"\",\"b\"]" },
                   { "lines('a\\rb\\r\\nc\\r')", "[\"a\\rb\",\"c\\r\"]" });
}

static void text_is_asked(void **state) {
    RIG_EXPECT_ALL({ "trim('')", "\"\"" }, { "trim(' \\t\\r\\n\\v\\f')", "\"\"" }, { "starts('', '')", "true" },
                   { "starts('a', 'ab')", "false" }, { "ends('ab', 'b')", "true" }, { "ends('b', 'ab')", "false" },
                   { "contains('', '')", "true" }, { "contains('abc', 'bc')", "true" },
                   { "contains('abc', 'cb')", "false" },
                   { "contains({}, 'a')", "here:1: bad argument #1 to 'contains' (string expected, got table)" });
}

static void text_is_made(void **state) {
    RIG_EXPECT_ALL({ "replace('aaa', 'aa', 'b')", "\"ba\"" }, { "replace('abc', 'x', 'y')", "\"abc\"" },
                   { "replace('%d%d', '%d', '%1')", "\"%1%1\"" },
                   { "replace('a', '', 'b')", "here:1: bad argument #2 to 'replace' (is empty)" },
                   { "#replace(string.rep('a', 1000), 'a', 'bc')", "2000" }, { "pad('abc', 2)", "\"abc\"" },
                   { "pad('é', 3) .. '|'", "\"é  |\"" }, { "pad('\\xff\\xfe', 3) == '\\xff\\xfe '", "true" },
                   { "pad('a', -5)", "\"a\"" }, { "string.rep('ab', 0)", "\"\"" }, { "string.rep('ab', -1)", "\"\"" },
                   { "string.rep('', 5, ',')", "\",,,,\"" }, { "(''):rep(1e18 // 1 | 0)", "\"\"" },
                   { "string.rep('abc', math.maxinteger)", "here:1: resulting string too large" });
}

static void nothing_tells_an_address(void **state) {
    RIG_EXPECT_ALL({ "tostring(split)", "\"function\"" }, { "tostring({})", "\"table\"" },
                   { "tostring(json.null)", "\"null\"" }, { "tostring(true) .. tostring(nil)", "\"truenil\"" },
                   { "tostring(1 << 62) .. ' ' .. tostring(1e15) .. ' ' .. tostring(-0.0)",
                     "\"4611686018427387904 1000000000000000.0 -0.0\"" },
                   { "tostring()", "here:1: bad argument #1 to 'tostring' (value expected)" },
                   { "string.format('%s %s %s %s', {}, split, json.null, nil)", "\"table function null nil\"" },
                   { "string.format('%p', 'x')", "here:1: invalid conversion '%p' to 'format'" },
                   { "string.format('%-5p', {})", "here:1: invalid conversion '%p' to 'format'" },
                   { "string.format('%d')", "here:1: bad argument #2 to 'format' (no value)" },
                   { "string.format('%')", "here:1: bad argument #2 to 'format' (no value)" },
                   { "string.format('%5s|%-5s|%%|%q', 'a', 'b', 'c\\n')", "\"    a|b    |%|\\\"c\\\\\\n\\\"\"" },
                   { "string.format('%y', 1)", "here:1: invalid conversion '%y' to 'format'" });
}

static void lists_are_changed(void **state) {
    RIG_EXPECT_ALL({ "local t = {} table.insert(t, 1) table.insert(t, 1, 0) return t", "[0,1]" },
                   { "table.insert({}, 3, 0)", "here:1: bad argument #2 to 'insert' (position out of bounds)" },
                   { "table.insert({}, 1, 2, 3)", "here:1: wrong number of arguments to 'insert'" },
                   { "table.remove({})", "null" }, { "local t = {1, 2, 3} table.remove(t, 2) return t", "[1,3]" },
                   { "table.concat({1, {}})", "here:1: item 2 is a table, which cannot be joined" },
                   { "join({}, ',')", "\"\"" },
                   { "join({1, {}})", "here:1: item 2 is a table, which cannot be joined" },
                   { "join('a')", "here:1: bad argument #1 to 'join' (table expected, got string)" },
                   { "table.unpack({1, 2}, 2)", "2" }, { "select('#', table.unpack({}, 1, 200))", "200" },
                   { "select('#', table.unpack({}, 1, 1e7 // 1 | 0))", "here:1: too many results to unpack" });
}

static void lists_are_sorted_and_what_is_equal_stays(void **state) {
    RIG_EXPECT_ALL(
        { "local t = {} table.sort(t) return t", "[]" },
        { "local t = {5, 1.5, -2} table.sort(t) return t", "[-2,1.5,5]" },
        { "local t = {} for i = 1, 100 do t[i] = (i * 37) % 101 end table.sort(t) for i = 2, 100 do "
          "if t[i - 1] > t[i] then return i end end return 'sorted'",
          "\"sorted\"" },
        { "local t = {{'a', 2}, {'b', 1}, {'c', 2}, {'d', 1}} table.sort(t, function(x, y) return x[2] < y[2] end) "
          "return t[1][1] .. t[2][1] .. t[3][1] .. t[4][1]",
          "\"bdac\"" },
        { "local t = {3, 2, 1} table.sort(t, function() return true end) return #t", "3" },
        { "table.sort({1, 'a'})", "here:1: attempt to compare string with number" },
        { "table.sort({1, 2}, 3)", "here:1: bad argument #2 to 'sort' (function expected, got number)" },
        { "local t = {2, 1} table.sort(t, function(a, b) t[1] = nil return a < b end) return t", "[1,2]" });
}

static void pairs_has_an_order(void **state) {
    RIG_EXPECT_ALL(
        { "local s = '' for k, v in pairs({[true] = 1, [false] = 2, z = 3, a = 4, [2.5] = 5, [-1] = 6}) do "
          "s = s .. v end return s",
          "\"654321\"" },
        { "local s = '' for k in pairs({'a', 'b'}) do s = s .. k end return s", "\"12\"" },
        { "for k in pairs({}) do return k end return 'none'", "\"none\"" },
        { "local n = 0 for k in pairs(string) do n = n + 1 end return n", "0" },
        { "local t, n = {a = 1, b = 2, c = 3}, 0 for k in pairs(t) do t.b = nil n = n + 1 end return n", "2" },
        { "pairs(nil)", "here:1: bad argument #1 to 'pairs' (table expected, got nil)" });
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_split),
        cmocka_unit_test(lines_end_with_line_feeds),
        cmocka_unit_test(text_is_asked),
        cmocka_unit_test(text_is_made),
        cmocka_unit_test(nothing_tells_an_address),
        cmocka_unit_test(lists_are_changed),
        cmocka_unit_test(lists_are_sorted_and_what_is_equal_stays),
        cmocka_unit_test(pairs_has_an_order),
    };
    return cmocka_run_group_tests(tests, rig_set_up, rig_tear_down);
}
