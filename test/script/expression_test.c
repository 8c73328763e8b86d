/* Expressions over fields: which names they use, what they say of what is wrong. */
#include "script/expression.h"
#include "tuple/json.h"

#include <stdio.h>

#include "harness/cm.h"

enum { NAMES = 5 };

typedef struct rig {
    gx_heap heap;
    gx_box *box;
    gx_expression made;
    gale_str names[NAMES];
    gale_value values[NAMES];
    gale_error error;
    gx_buf shown;
} rig;

static void begin(rig *r) {
    static const char *const names[NAMES] = { "status", "path", "time", "user-agent", "gone" };
    gx_heap_init(&r->heap, NULL);
    assert_int_equal(gx_box_new(&r->heap, &(gx_box_limits){ 0, 0 }, &r->box, NULL), 0);
    for (int i = 0; i < NAMES; i++) r->names[i] = gx_str(names[i]);
    r->values[0] = gale_i64(503);
    r->values[1] = gale_text("/a");
    r->values[2] = gale_i64(86400);
    r->values[3] = gale_text("curl");
    r->values[4] = gale_null();
    r->shown = (gx_buf)GX_BUF_INIT(NULL);
}

static void end(rig *r) {
    gx_box_free(r->box);
    gx_buf_fini(&r->shown);
    assert_int_equal(gx_heap_reserved(&r->heap), 0);
}

static int compile(rig *r, const char *text) {
    r->error = (gale_error)GALE_ERROR_INIT;
    return gx_expression_compile(&r->made, &r->heap, r->box, gx_str(text), "filter: where", r->names, NAMES, &r->error);
}

static void expect(rig *r, const char *text, const char *wanted) {
    gale_value value;
    assert_int_equal(compile(r, text), 0);
    gx_box_begin(r->box);
    assert_int_equal(gx_expression_run(&r->made, r->values, &value, &r->error), 0);
    gx_buf_reset(&r->shown);
    gx_json json = gx_json_to(&r->shown);
    gx_json_value(&json, &value);
    assert_string_equal(gx_buf_text(&r->shown), wanted);
}

static void expect_refused(rig *r, const char *text, const char *report) {
    assert_int_equal(compile(r, text), GALE_SYNTAX);
    assert_string_equal(r->error.text, report);
}

static void expect_failed(rig *r, const char *text, int rc, const char *report) {
    gale_value value;
    assert_int_equal(compile(r, text), 0);
    gx_box_begin(r->box);
    assert_int_equal(gx_expression_run(&r->made, r->values, &value, &r->error), rc);
    assert_string_equal(r->error.text, report);
}

static void fields_are_names(void **state) {
    (void)state;
    rig r;
    begin(&r);
    expect(&r, "status >= 500", "true");
    expect(&r, "path .. status", "\"/a503\"");
    expect(&r, "gone == nil", "true");
    expect(&r, "gone", "null");
    expect(&r, "{ p = { path, status } }", "{\"p\":[\"/a\",503]}");
    expect(&r, "('x'):upper()", "\"X\"");
    end(&r);
}

static void blocks_return(void **state) {
    (void)state;
    rig r;
    begin(&r);
    expect(&r, "local class = status // 100\nif class == 5 then return 'bad' end\nreturn 'good'", "\"bad\"");
    expect(&r, "for i = 1, 3 do end", "null");
    expect(&r, "local function twice(x) return 2 * x end return twice(status)", "1006");
    end(&r);
}

static void the_row_has_fields_of_any_name(void **state) {
    (void)state;
    rig r;
    begin(&r);
    expect(&r, "row['user-agent'] .. row.status", "\"curl503\"");
    expect(&r, "row.gone == nil and row.nothing == nil", "true");
    end(&r);
}

/* What is called or indexed is the library's: a field may have its name. */
static void a_field_may_have_a_name_of_the_library(void **state) {
    (void)state;
    rig r;
    begin(&r);
    r.names[1] = gx_str("math");
    r.values[1] = gale_f64(2.5);
    expect(&r, "math.floor(math) + math.max(1, time)", "86402");
    expect(&r, "math + 1", "3.5");
    end(&r);
}

static void a_name_that_is_nothing_is_refused_with_its_place(void **state) {
    (void)state;
    rig r;
    begin(&r);
    expect_refused(&r, "statsu > 1", "filter: where:1:1: there is no field 'statsu'; did you mean 'status'?");
    expect_refused(&r, "status > 1 and\n  -- not that\n  (pth == 'x')",
                   "filter: where:3:4: there is no field 'pth'; did you mean 'path'?");
    expect_refused(&r, "os.time()", "filter: where:1:1: there is no field 'os'");
    expect_failed(&r, "local x = 1 return statsu", GALE_TYPE,
                  "filter: where:1: there is no 'statsu'; did you mean 'starts'?");
    end(&r);
}

static void words_and_signs_of_other_languages_are_answered_with_luas(void **state) {
    (void)state;
    static const char *const calls[][2] = {
        { "floor(status)", "floor'; did you mean 'math.floor'?" },
        { "lower (path)", "lower'; did you mean 'string.lower'?" },
        { "toupper(path)", "toupper'; did you mean 'string.upper'?" },
        { "len(path)", "len'; did you mean 'string.len'?" },
        { "substr(path, 1)", "substr'; did you mean 'string.sub'?" },
        { "round(status)", "round'; did you mean 'math.floor(x + 0.5)'?" },
        { "contain(path, 'x')", "contain'; did you mean 'contains'?" },
        { "xyzzy(path)", "xyzzy'" },
    };
    static const char *const signs[] = { "status > 1 && status < 5", "status > 1 || status < 5", "status != 5",
                                         "!status" };
    char wanted[200];
    rig r;
    begin(&r);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        snprintf(wanted, sizeof wanted, "filter: where:1:1: there is no function '%s", calls[i][1]);
        expect_refused(&r, calls[i][0], wanted);
    }
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        assert_int_equal(compile(&r, signs[i]), GALE_SYNTAX);
        assert_non_null(strstr(r.error.text, "; it is `and`, `or`, `~=`, `not` here"));
    }
    assert_int_equal(compile(&r, "path == '&& || !=' and"), GALE_SYNTAX);
    assert_null(strstr(r.error.text, "`and`"));
    expect(&r, "(status & 1) | 2 ~= 2", "true");
    end(&r);
}

static void what_is_no_lua_is_refused(void **state) {
    (void)state;
    rig r;
    begin(&r);
    expect_refused(&r, "", "filter: where: is empty");
    expect_refused(&r, " -- nothing", "filter: where: is empty");
    expect_refused(&r, "status >=", "filter: where:1: unexpected symbol near <eof>");
    expect_refused(&r, "status ! 5", "filter: where:1: <eof> expected near '!'; it is `and`, `or`, `~=`, `not` here");
    expect_refused(&r, "local a = 1\nreturn a +", "filter: where:2: unexpected symbol near <eof>");
    expect_refused(&r, "\x1bLua", "filter: where:1:2: there is no field 'Lua'");
    end(&r);
}

static void a_field_that_is_a_word_of_luas_is_found_in_the_row(void **state) {
    (void)state;
    rig r;
    begin(&r);
    r.names[1] = gx_str("end");
    r.values[1] = gale_i64(60);
    expect(&r, "row['end'] - 59", "1");
    expect_refused(&r, "end > 5",
                   "filter: where:1: <eof> expected near 'end'\n  'end' is a word of Lua's; the field is row[\"end\"]");
    expect_refused(&r, "status >", "filter: where:1: unexpected symbol near <eof>");
    end(&r);
}

static void what_fails_tells_the_values(void **state) {
    (void)state;
    rig r;
    begin(&r);
    expect_failed(&r, "status + path", GALE_TYPE,
                  "filter: where:1: attempt to add a 'number' with a 'string'; with status = 503, path = \"/a\"");
    expect_failed(&r, "gone > 5", GALE_TYPE, "filter: where:1: attempt to compare number with nil; with gone = null");
    expect_failed(&r, "error('so')", GALE_TYPE, "filter: where:1: so");
    expect_failed(&r, "error({})", GALE_TYPE, "filter: where: an error that is no text");
    expect_failed(&r, "{ 1, nil, 3 }", GALE_TYPE,
                  "filter: where: it returned a table that is neither a list (1 to n) nor a map (strings)");
    end(&r);
}

static void a_long_value_is_cut(void **state) {
    (void)state;
    rig r;
    begin(&r);
    char text[300];
    memset(text, 'x', sizeof text);
    r.values[1] = gale_string(text, sizeof text);
    gale_value value;
    assert_int_equal(compile(&r, "path + 1"), 0);
    gx_box_begin(r.box);
    assert_int_equal(gx_expression_run(&r.made, r.values, &value, &r.error), GALE_TYPE);
    assert_non_null(strstr(r.error.text, "path = \"xxxx"));
    assert_non_null(strstr(r.error.text, "xxx..."));
    assert_true(r.error.length < 250);
    end(&r);
}

static void nothing_is_kept_from_one_call_to_the_next(void **state) {
    (void)state;
    rig r;
    begin(&r);
    expect_failed(
        &r, "local function f() seen = 1 end f() return 1", GALE_TYPE,
        "filter: where:1: 'seen' is not local: nothing is kept from one tuple to the next; write local seen = ...");
    expect_failed(
        &r, "local s = string s.upper = nil return 1", GALE_TYPE,
        "filter: where:1: 'upper' is not local: nothing is kept from one tuple to the next; write local upper = ...");
    end(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_names),
        cmocka_unit_test(blocks_return),
        cmocka_unit_test(the_row_has_fields_of_any_name),
        cmocka_unit_test(a_field_may_have_a_name_of_the_library),
        cmocka_unit_test(a_name_that_is_nothing_is_refused_with_its_place),
        cmocka_unit_test(words_and_signs_of_other_languages_are_answered_with_luas),
        cmocka_unit_test(what_is_no_lua_is_refused),
        cmocka_unit_test(a_field_that_is_a_word_of_luas_is_found_in_the_row),
        cmocka_unit_test(what_fails_tells_the_values),
        cmocka_unit_test(a_long_value_is_cut),
        cmocka_unit_test(nothing_is_kept_from_one_call_to_the_next),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
