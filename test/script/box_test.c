/* What can be reached from inside of a box, and what is kept: nothing. */
#include "script/rig.h"

#include <stdio.h>

static void what_reaches_out_is_not_there(void **state) {
    static const char *const names[] = {
        "io",       "os",       "package", "debug",          "coroutine",    "require",      "load",   "loadstring",
        "dofile",   "loadfile", "print",   "collectgarbage", "setmetatable", "getmetatable", "rawget", "rawset",
        "rawequal", "rawlen",   "pcall",   "xpcall",         "next",         "_G",           "warn",   "_VERSION"
    };
    char text[100], answer[100];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(text, sizeof text, "return %s", names[i]);
        snprintf(answer, sizeof answer, "here:1: there is no '%s'", names[i]);
        const char *said = rig_ask(*state, text);
        assert_int_equal(strncmp(said, answer, strlen(answer)), 0);
    }
    RIG_EXPECT_ALL({ "string.dump", "here:1: there is no 'dump'" }, { "string.pack", "here:1: there is no 'pack'" },
                   { "math.random", "here:1: there is no 'random'" },
                   { "table.move", "here:1: there is no 'move'; did you mean 'remove'?" },
                   { "('x').dump", "here:1: there is no 'dump'" },
                   { "spilt('a')", "here:1: there is no 'spilt'; did you mean 'split'?" },
                   { "json.parse('1')", "here:1: there is no 'parse'" });
}

static void nothing_can_be_changed(void **state) {
#define REFUSED(name)                                                                                                  \
    "here:1: '" name "' is not local: nothing is kept from one tuple to the next; write local " name " = ..."
    RIG_EXPECT_ALL(
        { "y = 1", REFUSED("y") }, { "string = nil", REFUSED("string") }, { "function f() end return 1", REFUSED("f") },
        { "string.rep = 1 return 1", REFUSED("rep") },
        { "local s = '' s.x = 1 return 1", "here:1: attempt to index a string value (local 's')" },
        { "_ENV.x = 1 return 1", REFUSED("x") }, { "_ENV.string.x = 1 return 1", REFUSED("x") },
        { "json.null = 1 return 1", REFUSED("null") },
        { "table.insert(string, 1) return 1", "here:1: '?' is not local: nothing is kept from one tuple to the "
                                              "next; write local ? = ..." },
        { "table.remove(_ENV) return 1", "here:1: '?' is not local: nothing is kept from one tuple to the next; "
                                         "write local ? = ..." },
        { "table.sort(string) return #string", "0" });
#undef REFUSED
}

static void an_environment_cannot_be_exchanged(void **state) {
    RIG_EXPECT_ALL(
        { "_ENV = {} return 1", "here:1: attempt to assign to const variable '_ENV'" },
        { "local function f() _ENV = {} end f() return 1", "here:1: attempt to assign to const variable '_ENV'" },
        { "local _ENV = {y = 5} return y", "5" }, { "local _ENV = {} return x", "null" },
        { "local function f(_ENV) return y end return f({y = 6})", "6" }, { "split('a b')", "[\"a\",\"b\"]" });
}

static void precompiled_code_is_refused(void **state) {
    rig *r = *state;
    gale_error error = GALE_ERROR_INIT;
    static const char code[] = "\x1bLua\x54\x00\x19\x93\r\n\x1a\n\x04\x08\x08";
    int function;
    assert_int_equal(gx_box_compile(r->box, (gale_str){ code, sizeof code - 1 }, "here", gx_str(""), &function, &error),
                     GALE_SYNTAX);
    assert_non_null(strstr(error.text, "here:1: unexpected symbol near"));
}

/* The same function, called again. */
static void a_call_leaves_nothing_to_the_next(void **state) {
    rig *r = *state;
    gale_error error = GALE_ERROR_INIT;
    gale_value value;
    int function;
    const char *text = "local n = 0 local function f() n = n + 1 return n end f() return f()";
    assert_int_equal(gx_box_compile(r->box, gx_str(text), "here", gx_str(""), &function, &error), GALE_OK);
    for (int i = 0; i < 3; i++) {
        gx_box_begin(r->box);
        assert_int_equal(gx_box_call(r->box, function, NULL, 0, &value, &error), GALE_OK);
        assert_int_equal(value.as.i64, 2);
    }
}

static void errors_say_where(void **state) {
    RIG_EXPECT_ALL(
        { "\n\n1 + {}", "here:3: attempt to perform arithmetic on a table value" },
        { "local x\nreturn x.y", "here:2: attempt to index a nil value (local 'x')" },
        { "1 < 'a'", "here:1: attempt to compare number with string" },
        { "local t = {1, {}}\ntable.sort(t)", "here:2: attempt to compare table with number" },
        { "error('oh')", "here:1: oh" }, { "error('oh', 0)", "here:1: oh" }, { "error('here:7: oh', 0)", "here:7: oh" },
        { "error({})", "an error that is no text" }, { "error()", "an error that is no text" },
        { "assert(false, 'no')", "here:1: no" }, { "assert(nil)", "here:1: assertion failed!" },
        { "split", "it returned a function, which is no value" },
        { "{1, nil, 3}", "it returned a table that is neither a list (1 to n) nor a map (strings)" },
        { "{1, x = 2}", "it returned a table that is neither a list (1 to n) nor a map (strings)" },
        { "{['\\xff'] = 2}", "it returned a table with a key that is no UTF-8" },
        { "local t = {} t.t = t return t", "it returned a table that is too deep" },
        { "goto x", "here:1: unexpected symbol near 'goto'" }, { "1 +", "here:1: unexpected symbol near <eof>" });
}

static void maps_come_back_in_the_order_of_their_keys(void **state) {
    RIG_EXPECT_ALL(
        { "local t = {} for i = 26, 1, -1 do t[string.char(96 + i)] = i end return t",
          "{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,\"i\":9,\"j\":10,\"k\":11,\"l\":12,\"m\":"
          "13,"
          "\"n\":14,\"o\":15,\"p\":16,\"q\":17,\"r\":18,\"s\":19,\"t\":20,\"u\":21,\"v\":22,\"w\":23,\"x\":24,\"y\":25,"
          "\"z\":26}" });
}

static void limits_out_of_range_are_refused(void **state) {
    rig *r = *state;
    gale_error error = GALE_ERROR_INIT;
    gx_box *box;
    gx_box_limits limits = { .memory = (uint64_t)GX_BOX_MEMORY_MAX + 1 };
    assert_int_equal(gx_box_new(&r->heap, &limits, &box, &error), GALE_INVALID);
    assert_string_equal(error.text, "memory is 268435457 bytes, at most 268435456");
    limits = (gx_box_limits){ .work = UINT64_MAX };
    assert_int_equal(gx_box_new(&r->heap, &limits, &box, &error), GALE_INVALID);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_reaches_out_is_not_there),
        cmocka_unit_test(nothing_can_be_changed),
        cmocka_unit_test(an_environment_cannot_be_exchanged),
        cmocka_unit_test(precompiled_code_is_refused),
        cmocka_unit_test(a_call_leaves_nothing_to_the_next),
        cmocka_unit_test(errors_say_where),
        cmocka_unit_test(maps_come_back_in_the_order_of_their_keys),
        cmocka_unit_test(limits_out_of_range_are_refused),
    };
    return cmocka_run_group_tests(tests, rig_set_up, rig_tear_down);
}
