/* Pieces of Lua that want to go on for ever, to take all memory, or to end the process: each ends with its call, within the
 * call's bounds, and the box is as good as before. */
#include "script/rig.h"

enum { BYTES_AFTER = 4 << 20 };

#define WORK GALE_TOO_LARGE, "it took more than 3000000 units of work"
#define MEMORY GALE_TOO_LARGE, "it took more than 1048576 bytes of memory"
#define STEPS GALE_TYPE, "here:1: the pattern took too many steps"
#define FOR_EVER(what) "for i = 1, math.maxinteger do " what " end return 1"

typedef struct hostile {
    const char *text;
    int rc;
    const char *said; /* how it begins */
} hostile;

static void expect_ended(void **state, const hostile *rows, size_t count) {
    rig *r = *state;
    for (size_t i = 0; i < count; i++) {
        const char *said = rig_ask(r, rows[i].text);
        bool is = r->rc == rows[i].rc && strncmp(said, rows[i].said, strlen(rows[i].said)) == 0;
        if (!is)
            fail_msg("%s\n  ends with %d, %s\n  and not   %d, %s", rows[i].text, r->rc, said, rows[i].rc, rows[i].said);
        rig_expect(r, "join(split('1 2'), '+') .. ('x'):match('.')", "\"1+2x\"");
        assert_in_range(gx_box_bytes(r->box), 1, BYTES_AFTER);
    }
}

#define EXPECT_ENDED(...)                                                                                              \
    static const hostile rows[] = { __VA_ARGS__ };                                                                     \
    expect_ended(state, rows, sizeof rows / sizeof *rows)

static void loops_end(void **state) {
    EXPECT_ENDED({ "while true do end return 1", WORK }, { "::a:: goto a return 1", WORK },
                 { "repeat until false return 1", WORK }, { "local function f() return f() end return f()", WORK },
                 { FOR_EVER("local t = {}"), WORK }, { FOR_EVER("local t = i .. ''"), WORK },
                 { FOR_EVER("local t = 1.5 .. ''"), WORK }, { FOR_EVER("local t = i ^ 2.5"), WORK },
                 { FOR_EVER("local t = '0x1p4' + 1"), WORK }, { FOR_EVER("local t = math.sin(i)"), WORK },
                 { FOR_EVER("local f = function() return i end"), WORK });
}

static void bombs_end(void **state) {
    EXPECT_ENDED(
        { "local s = 'x' while true do s = s .. s end return 1", MEMORY },
        { "local t = {} while true do t[#t + 1] = {} end return 1", MEMORY },
        { "local t = {} while true do t = {t, t} end return 1", MEMORY },
        { "local t = {} for i = 1, math.maxinteger do t['k' .. i] = i end return 1", MEMORY },
        { "string.rep('x', 1 << 30)", WORK }, { "string.rep('x', 1 << 21)", MEMORY },
        { "string.rep('x', 1, string.rep('y', 1 << 21))", MEMORY },
        { "(''):rep(math.maxinteger) .. nil", GALE_TYPE, "here:1: attempt to concatenate" },
        { "pad('x', 1 << 40)", WORK }, { "pad('x', 1 << 21)", MEMORY },
        { "split(string.rep('a', 400000), 'a')", MEMORY },
        { "replace(string.rep('a', 40000), 'a', string.rep('b', 1000))", MEMORY },
        { "(string.rep('a', 40000):gsub('a', string.rep('b', 1000)))", MEMORY },
        { "(string.rep('a', 40000):gsub('.*', string.rep('%0', 1000)))", MEMORY },
        { "json.decode('[' .. string.rep('{},', 100000) .. '1]')", MEMORY },
        { "local t = {} for i = 1, 2000 do t[i] = string.rep('x', 400) end return json.encode({t, t, t, t})", MEMORY },
        { "hex(string.rep('x', 600000))", MEMORY },
        { "table.concat({string.rep('x', 300000), string.rep('y', 300000), 'z'}, string.rep('-', 300000))", MEMORY },
        { "local t = {} for i = 1, 1000 do t[i] = string.rep('x', 250) end t = {t, t, t, t, t, t, t, t} t = {t, t, t, "
          "t, t, t, t, t} "
          "return {t, t, t, t, t, t, t, t, t}",
          GALE_TOO_LARGE, "it returned more than there is room for" },
        { "local s = string.rep('x', 100000) local t = {} for i = 1, 4000 do t[i] = s end return t", GALE_TOO_LARGE,
          "it returned more than there is room for" });
}

/* A call that has nearly no room left makes Lua collect its garbage at every step. */
static void collecting_garbage_is_work(void **state) {
    EXPECT_ENDED(
        { "local t, n = {}, 0 for i = 1, 8000 do t[i] = {i} end local s = string.rep('x', 100000) "
          "while true do n = n + 1 local x = {n} end return 1",
          WORK },
        { "local t = {} for i = 1, 9000 do t[i] = {i} end while true do local x = string.rep('x', 60000) end return 1",
          WORK });
}

static void recursion_ends(void **state) {
    EXPECT_ENDED(
        { "local function f() return 1 + f() end return f()", WORK },
        { "local f, g function g() return 1 + f() end function f() return 1 + g() end return f()", MEMORY },
        { "local function f(a) return (a:gsub('.', f)) end return f('x')", GALE_TYPE, "here:1: C stack overflow" },
        { "local function f() table.sort({1, 2, 3}, f) return true end return f()", GALE_TYPE,
          "here:1: C stack overflow" },
        { "local f local function g() table.sort({1, 2}, f) end f = function() local s = ('x'):gsub('.', g) return "
          "true end "
          "return f()",
          GALE_TYPE, "here:1: C stack overflow" },
        { "local t = {} for i = 1, 300 do t = {t} end return t", GALE_TYPE, "it returned a table that is too deep" },
        { "json.encode(json.decode('[[1]]'), (function() local t = {} for i = 1, 40 do t = {t} end return "
          "json.encode(t) end)())",
          GALE_TYPE, "here:1: the value is too deep" });
}

static void functions_of_the_library_end(void **state) {
    EXPECT_ENDED(
        { FOR_EVER("local x = (''):rep(math.maxinteger)"), WORK }, { FOR_EVER("local x = ('x'):upper()"), WORK },
        { FOR_EVER("local x = string.format('%99.99f', 1e300)"), WORK },
        { FOR_EVER("local x = tostring(i / 7)"), WORK }, { FOR_EVER("local x = json.encode({i / 7})"), WORK },
        { FOR_EVER("local x = time.format(i / 7)"), WORK }, { FOR_EVER("local x = ('abc'):find('x', 1, true)"), WORK },
        { FOR_EVER("local x = ('abc'):match('b')"), WORK }, { FOR_EVER("local x = ('a'):match('a' .. i)"), WORK },
        { "local s = string.rep('x', 400000) " FOR_EVER("local x = utf8.len(s)"), WORK },
        { "local s = string.rep('x', 400000) " FOR_EVER("local x = hash(s)"), WORK },
        { "local s = string.rep('a', 200000) local t = s .. 'b' s = s .. 'c' " FOR_EVER("local x = s < t"), WORK },
        { "local t = {} for i = 1, 10000 do t[i] = i % 7 end " FOR_EVER("table.sort(t)"), WORK },
        { "local t = {} for i = 1, 30000 do t[i] = i end " FOR_EVER("table.insert(t, 1, table.remove(t))"), WORK },
        { "local t = {} for i = 1, 30000 do t[i] = '' end " FOR_EVER("local x = table.concat(t)"), WORK },
        { "local t = {} for i = 1, 20000 do t['k' .. i % 9000] = i end for i = 0, 9000 do t['k' .. i] = nil "
          "end " FOR_EVER("for k in pairs(t) do end"),
          WORK },
        { "table.unpack({}, 1, 1 << 40)", GALE_TYPE, "here:1: too many results to unpack" },
        { "table.unpack({}, 1, 1 << 19)", GALE_TYPE, "here:1: too many results to unpack" },
        { "table.concat({}, '', 1, 1 << 60)", GALE_TYPE, "here:1: item 1 is a nil, which cannot be joined" });
}

static void patterns_end(void **state) {
    EXPECT_ENDED(
        { "string.rep('a', 50000):match('(a+)+[bc]')", STEPS },
        { "string.rep('a', 50000):match('^(a|aa)+[bc]')", GALE_TYPE, "here:1: the pattern took too m" },
        { "string.rep('a', 30):match('^(a|aa)+[bc]')", STEPS },
        { "string.rep('a', 30):match('^((((a*)*)*)*)*[bc]')", STEPS },
        { "string.rep('a', 50000):match('a*[bc]')", STEPS }, { "string.rep('a', 500000):match('.*.*[bc]')", STEPS },
        { "string.rep('a', 300000):match('(a*)\\\\1[bc]')", STEPS },
        { "(string.rep('a', 29999) .. 'b'):rep(16):match('a{30000}[cb]')", STEPS },
        { "string.rep('a', 50000):match('(?R)')", GALE_TYPE, "here:1: the pattern failed: nested recursion" },
        { "string.rep('a', 50000):match('(?:a(?R)?[bc]|a)*[cd]')", GALE_TYPE, "here:1: the pattern took too m" },
        { "string.rep('a', 50000):match('^(?:a|b)*[cd]')", GALE_TYPE, "here:1: the pattern took too m" },
        { "('a'):match('(?:a{65535}){65535}')", GALE_TYPE,
          "here:1: the pattern '(?:a{65535}){65535}' is wrong at byte" },
        { "('a'):match('((a{1,500}){1,500}){1,500}')", GALE_TYPE,
          "here:1: the pattern '((a{1,500}){1,500}){1,500}' is wrong at byte" },
        { "('a'):match(string.rep('(', 5000))", GALE_TYPE, "here:1: the pattern has 5000 bytes, at most 2048" },
        { "local p = '[' for i = 0, 180 do p = p .. utf8.char(1000 + 2 * i) .. '-' .. utf8.char(1000 + 2 * i) end "
          "return string.rep(utf8.char(1360), 100000):match(p .. ']*[bc]')",
          WORK });
}

static void a_hostile_constant_is_no_cheaper(void **state) {
    rig *r = *state;
    gx_buf text = GX_BUF_INIT(NULL);
    gx_buf_add_text(&text, "local a, b = '");
    for (int i = 0; i < 30000; i++) gx_buf_add_byte(&text, 'x');
    gx_buf_add_text(&text, "a', '");
    for (int i = 0; i < 30000; i++) gx_buf_add_byte(&text, 'x');
    gx_buf_add_text(&text, "b' for i = 1, 200000 do local c = a == b end return 1");
    assert_string_equal(rig_ask(r, gx_buf_text(&text)), "it took more than 3000000 units of work");
    gx_buf_fini(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_end),
        cmocka_unit_test(bombs_end),
        cmocka_unit_test(collecting_garbage_is_work),
        cmocka_unit_test(recursion_ends),
        cmocka_unit_test(functions_of_the_library_end),
        cmocka_unit_test(patterns_end),
        cmocka_unit_test(a_hostile_constant_is_no_cheaper),
    };
    return cmocka_run_group_tests(tests, rig_set_up, rig_tear_down);
}
