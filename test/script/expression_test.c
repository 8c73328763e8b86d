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
    expect_refused(&r, "status = 500", "filter: where:1: it has no value: `=` assigns, and `==` compares");
    expect_refused(&r, "local x = 1 return statsu",
                   "filter: where:1:20: there is no field 'statsu'; did you mean 'status'?");
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
        { "LOWER(path)", "LOWER'; did you mean 'string.lower'?" },
        { "LENGTH(path)", "LENGTH'; did you mean 'string.len'?" },
        { "parseInt(path)", "parseInt'; did you mean 'tonumber'?" },
        { "COALESCE(path, 1)", "COALESCE'; did you mean 'a or b'?" },
        { "strcmp(path, 'x')", "strcmp'; did you mean 'a == b'?" },
        { "isNull(path)", "isNull'; did you mean 'x == nil'?" },
        { "startsWith(path, 'x')", "startsWith'; did you mean 'starts'?" },
        { "concat(path, 'x')", "concat'; did you mean 'a .. b'?" },
        { "xyzzy(path)", "xyzzy'" },
    };
    char wanted[200];
    rig r;
    begin(&r);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        snprintf(wanted, sizeof wanted, "filter: where:1:1: there is no function '%s", calls[i][1]);
        expect_refused(&r, calls[i][0], wanted);
    }
    expect(&r, "(status & 1) | 2 ~= 2", "true");
    end(&r);
}

typedef struct foreign {
    const char *language, *text, *wanted;
} foreign;

#define CHOICE "`a and b or c`, or `if a then return b end return c`"

static const foreign foreigners[] = {
    { "C", "status != 5", "8: cannot use `!=`; write `~=`" },
    { "C", "!status", "1: cannot use `!`; write `not`" },
    { "C", "status > 1 && status < 5", "12: cannot use `&&`; write `and`" },
    { "C", "status > 1 || status < 5", "12: cannot use `||`; write `or`; `..` joins texts" },
    { "C", "status > 1 ? path : 'x'", "12: cannot use `?`; write " CHOICE },
    { "C", "status == NULL", "11: cannot use `NULL`; write `nil`" },
    { "C", "row->status > 1", "4: cannot use `->`; write `.`" },
    { "C", "status > 1 /* many */", "12: cannot use `/*`; write `-- a comment`" },
    { "JavaScript", "status === 5", "8: cannot use `===`; write `==`" },
    { "JavaScript", "status !== 5", "8: cannot use `!==`; write `~=`" },
    { "JavaScript", "path != null", "6: cannot use `!=`; write `~=`" },
    { "JavaScript", "path == null", "9: cannot use `null`; write `nil`" },
    { "JavaScript", "path == undefined", "9: cannot use `undefined`; write `nil`" },
    { "JavaScript", "path ?? 'x'", "6: cannot use `?\?`; write `or`" },
    { "JavaScript", "path?.size > 1", "5: cannot use `?.`; write `(x or {}).y`" },
    { "JavaScript", "typeof path == 'string'", "1: cannot use `typeof`; write `type(x)`" },
    { "JavaScript", "let x = 1", "1: cannot use `let`; write `local`" },
    { "JavaScript", "`a${path}`", "1: cannot use ```; write a text in quotes, \"x\" or 'x', and a field by its name" },
    { "Python", "path is None", "6: cannot use `is None`; write `x == nil`" },
    { "Python", "path is not None", "6: cannot use `is not None`; write `x ~= nil`" },
    { "Python", "status == True", "11: cannot use `True`; write `true`" },
    { "Python", "path if status else 'x'", "6: cannot use `if`; write " CHOICE },
    { "Python", "status ** 2", "8: cannot use `**`; write `^`" },
    { "Python", "'x' in path",
      "5: cannot use `in`; write `x == a or x == b`; `contains(text, part)` finds a part of a text" },
    { "Python", "'x' not in path",
      "5: cannot use `not in`; write `x ~= a and x ~= b`; `not contains(text, part)` for a part of a text" },
    { "SQL", "path is null", "6: cannot use `is null`; write `x == nil`" },
    { "SQL", "path IS NOT NULL", "6: cannot use `IS NOT NULL`; write `x ~= nil`" },
    { "SQL", "status <> 5", "8: cannot use `<>`; write `~=`" },
    { "SQL", "status > 1 AND path == 'x'", "12: cannot use `AND`; write `and` between two conditions" },
    { "SQL", "NOT status", "1: cannot use `NOT`; write `not`" },
    { "SQL", "status in (200, 404)",
      "8: cannot use `in`; write `x == a or x == b`; `contains(text, part)` finds a part of a text" },
    { "SQL", "path LIKE '/api%'",
      "6: cannot use `LIKE`; write `contains(text, part)`, `starts`, `ends`, or `string.match(text, pattern)`" },
    { "SQL", "path NOT LIKE '/api%'", "6: cannot use `NOT LIKE`; write `not contains(text, part)`" },
    { "SQL", "status BETWEEN 200 AND 299", "8: cannot use `BETWEEN`; write `x >= a and x <= b`" },
    { "SQL", "path == 'x' or status = 200", "23: cannot use `=`; write `==`" },
    { "SQL", "CASE WHEN status > 1 THEN 1 ELSE 0 END", "1: cannot use `CASE`; write " CHOICE },
    { "SQL", "path::int > 5", "5: cannot use `::`; write `tonumber(x)` or `tostring(x)`" },
    { "Excel", "IF(status > 1, 'a', 'b')", "1: cannot use `IF`; write " CHOICE },
    { "Excel", "AND(status > 1, status < 5)", "1: cannot use `AND`; write `and` between two conditions" },
    { "Excel", "OR(status > 1, status < 5)", "1: cannot use `OR`; write `or` between two conditions" },
    { "Excel", "status = TRUE and path", "10: cannot use `TRUE`; write `true`" },
    { "Perl", "path =~ 'x'", "6: cannot use `=~`; write `string.match(text, pattern)`" },
    { "Perl", "status eq 'x'", "8: cannot use `eq`; write `==`" },
    { "JSONPath", "$.status > 1", "1: cannot use `$`; write a field by its name: `user.name` for `$.user.name`" },
    { "shell", "${status} > 1", "1: cannot use `$`; write a field by its name: `user.name` for `$.user.name`" },
    { "a word processor", "path == \xe2\x80\x9cx\xe2\x80\x9d",
      "9: cannot use `\xe2\x80\x9c`; write a text in quotes, \"x\" or 'x', and a field by its name" },
};

static void what_other_languages_have_is_answered_with_what_to_write(void **state) {
    (void)state;
    char wanted[300];
    rig r;
    begin(&r);
    for (size_t i = 0; i < sizeof foreigners / sizeof *foreigners; i++) {
        const foreign *f = &foreigners[i];
        snprintf(wanted, sizeof wanted, "filter: where:1:%s", f->wanted);
        if (compile(&r, f->text) != GALE_SYNTAX || strcmp(r.error.text, wanted) != 0)
            print_message("of %s: %s\n", f->language, f->text);
        expect_refused(&r, f->text, wanted);
    }
    end(&r);
}

static void a_text_that_lua_takes_is_never_foreign(void **state) {
    (void)state;
    rig r;
    begin(&r);
    r.names[1] = gx_str("like");
    r.names[2] = gx_str("null");
    expect(&r, "like ~= '&& || != is null ?' and null > 0", "true");
    expect(&r, "local is = 1 local AND = 2 return is + AND", "3");
    expect(&r, "local t = { a = 1 } for k in pairs(t) do if k == 'a' then return k end end", "\"a\"");
    assert_int_equal(compile(&r, "like == '&& || !=' and"), GALE_SYNTAX);
    assert_null(strstr(r.error.text, "cannot use"));
    end(&r);
}

static void what_is_no_lua_is_refused(void **state) {
    (void)state;
    rig r;
    begin(&r);
    expect_refused(&r, "", "filter: where: is empty");
    expect_refused(&r, " -- nothing", "filter: where: is empty");
    expect_refused(&r, "status >=", "filter: where:1: unexpected symbol near <eof>");
    expect_refused(&r, "status ! 5", "filter: where:1:8: cannot use `!`; write `not`");
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
    expect_refused(
        &r, "local function f() seen = 1 end f() return 1",
        "filter: where:1:20: 'seen' is not local: nothing is kept from one tuple to the next; write local seen = ...");
    expect_failed(
        &r, "local s = string s.upper = nil return 1", GALE_TYPE,
        "filter: where:1: 'upper' is not local: nothing is kept from one tuple to the next; write local upper = ...");
    end(&r);
}

/* --- Names that cannot be --- */

/* The name without its last letter but one, with a letter in its place. */
static void misspell(char *to, size_t size, gale_str name) {
    snprintf(to, size, "%.*s", GX_STR(name));
    if (name.size > 2) to[name.size - 2] = to[name.size - 2] == 'q' ? 'k' : 'q';
}

/* Refused at 1:`column`, with the hint "did you mean 'WORD" if there is a word. */
static void expect_name_refused(rig *r, const char *text, unsigned column, const char *word) {
    char place[60], hint[100];
    snprintf(place, sizeof place, "filter: where:1:%u: there is no ", column);
    snprintf(hint, sizeof hint, "; did you mean '%s", word ? word : "");
    if (compile(r, text) != GALE_SYNTAX) fail_msg("%s is not refused", text);
    if (strncmp(r->error.text, place, strlen(place)) != 0 || (word && !strstr(r->error.text, hint)))
        fail_msg("%s\n  is refused with %s\n  without %s and%s", text, r->error.text, place, hint);
}

static void every_function_misspelt_is_refused_with_the_right_one(void **state) {
    (void)state;
    rig r;
    begin(&r);
    gale_str rest = gx_box_names(r.box), name;
    char wrong[80], text[200], whole[80];
    while (gx_str_next(&rest, ' ', &name)) {
        const char *point = name.size ? memchr(name.data, '.', name.size) : NULL;
        gale_str last = point ? (gale_str){ point + 1, (size_t)(name.data + name.size - point - 1) } : name;
        if (last.size < 4 || gx_box_is_table(r.box, name)) continue; /* a shorter word may be near to several */
        misspell(wrong, sizeof wrong, name);
        snprintf(whole, sizeof whole, "%.*s", GX_STR(name));
        snprintf(text, sizeof text, "%s(path)", wrong);
        expect_name_refused(&r, text, 1, whole);
        snprintf(text, sizeof text, "local a = 1 if a then return %s(path, a) end", wrong);
        expect_name_refused(&r, text, 30, whole);
        misspell(wrong, sizeof wrong, last);
        if (!point || strncmp(whole, "string.", 7) != 0) continue;
        snprintf(text, sizeof text, "path:%s()", wrong);
        expect_name_refused(&r, text, 6, whole);
        snprintf(text, sizeof text, "local a = path .. 'x' return a:%s()", wrong);
        expect_name_refused(&r, text, 32, whole);
    }
    end(&r);
}

static void functions_of_a_value_are_refused(void **state) {
    (void)state;
    rig r;
    begin(&r);
    expect_name_refused(&r, "path.contains('x')", 6, "contains(x, ...)'");
    expect_name_refused(&r, "path:contains('x')", 6, "contains(x, ...)'");
    expect_name_refused(&r, "path.upper()", 6, "string.upper(x, ...)'");
    expect_name_refused(&r, "path:lower():startswith 'x'", 14, "starts'");
    expect_name_refused(&r, "row.path.trim()", 10, NULL);
    expect_name_refused(&r, "('x'):splt(',')", 7, "split(x, ...)'");
    expect_name_refused(&r, "local function f() return 1 end return path:contains('x')", 45, "contains(x, ...)'");
    expect_name_refused(&r, "time(5)", 1, NULL);
    expect_name_refused(&r, "math.pie > 3", 1, "math.pi'");
    assert_int_equal(compile(&r, "p99(status)"), GALE_SYNTAX);
    assert_string_equal(r.error.text,
                        "filter: where:1:1: there is no function 'p99'; percentile(x, 0.99) is an aggregate "
                        "of gale.bolt.Window");
    end(&r);
}

/* What only Lua can know is not refused. */
static void what_may_be_is_not_refused(void **state) {
    (void)state;
    static const char *const texts[] = {
        "local t = { f = function() return 1 end } return t.f()",
        "local t = {} function t:f(a) return self.n + a end t.n = 1 return t:f(2)",
        "local t = {} t['g'] = split return t:g()",
        "local _ENV = { y = 5 } return y",
        "local t = row return t.path:upper()",
        "for i = 1, 3 do if i == 2 then goto on end ::on:: end return 1",
        "local a <const>, b = 1, 2 return a + b",
        "local x = { path = path, status = status } return x.path .. x.status",
        "for k, v in pairs(row) do if v == 1 then return k end end return nil",
        "select('#', ('a'):byte(1, -1))",
        "json.decode('{}').a",
        "(function(...) local n = select('#', ...) return n end)(1, 2)",
        "local function f(a, ...) return a end return f(path, 1):len()",
        "path = function() return 1 end return path()",
    };
    rig r;
    begin(&r);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (compile(&r, texts[i]) != 0) fail_msg("%s\n  is refused with %s", texts[i], r.error.text);
    end(&r);
}

/* --- The same expression with other names of fields --- */

enum { FIELDS = 3 };

/* @1, @2 and @3 stand for names of fields: a number, a text, a map. */
static const char *const patterns[] = {
    "@1 - 1 + #@2",
    "@2 .. @1",
    "tostring(@1) .. string.upper(@2)",
    "@1 > 5 and @2 or @3",
    "({ @1 = @1, x = { @2, @1 }, m = @3 }).x",
    "@3.m0 + @1",
    "@3['m0'] .. @2",
    "@2:rep(2) .. (@2):sub(1, 1)",
    "join(split(@2, 'x'), tostring(@1))",
    "local zz = @1 return zz + #@2",
    "local @1 = 5 return @1 + #@2",
    "local zz, @1 = 7, 8 return @1 + #@2 + zz",
    "local @1, zz = 7, 8 return @1 + #@2 + zz",
    "local @1 <const> = 7 return @1 .. @2",
    "for @1 = 1, 3 do if @1 == 2 then return @1 .. @2 end end",
    "local zz = 0 for @1, @2 in pairs({ 4, 5 }) do zz = zz + @1 * @2 end return zz .. @2",
    "local function zz(@1, @2) return @1 .. @2 end return zz(@2, @1)",
    "local function @1(zz) return zz .. @2 end return @1(@2)",
    "local zz = { @1 = @2, f = function() local yy, @1 = 1, 2 return @1 end } return zz.@1 .. zz.f()",
    "do goto @1 end ::@1:: return @2 .. @1",
    "local zz = {} zz.@1 = @1 zz.@2, zz.@3 = 2, 3 return zz.@1 + zz.@2",
    "@2:gsub('a', function(@1) return @1 .. '!' end) .. @1",
    "@1 = @1 + 1 return @1",
    "local zz = @3 return zz.m0 == 1 and @2",
    "local function @1(zz) return zz .. 1 end local yy = @1 return yy(@2)",
    "assert(@1) and type(@2) .. type(@3)",
    "@1 .. row['@2'] .. row.@1",
    "local zz = '@2' return row[zz] .. #row['@2'] .. @1",
    "@3['m0'] .. row['@3']['m0'] .. row.@3.m0",
    "row['@1'] + @1 * 2 == 126 and @2:upper() .. row.@2:upper()",
};

static const char *write_pattern(gx_buf *to, const char *pattern, const char *const *names) {
    gx_buf_reset(to);
    for (const char *at = pattern; *at; at++) {
        if (*at == '@')
            gx_buf_add_text(to, names[*++at - '1']);
        else
            gx_buf_add_byte(to, *at);
    }
    return gx_buf_text(to);
}

/* What the text answers where fields have these names, or how it ends. */
static void answer(rig *r, const char *pattern, const char *const *names, gx_buf *ret_answer) {
    gx_buf text = GX_BUF_INIT(NULL);
    gale_value pair[] = { gale_text("m0"), gale_i64(1) }, value = gale_null();
    gale_value values[FIELDS] = { gale_i64(42), gale_text("abxa"), gale_map(pair, 1) };
    gale_str fields[FIELDS];
    for (int i = 0; i < FIELDS; i++) fields[i] = gx_str(names[i]);
    const char *written = write_pattern(&text, pattern, names);
    r->error = (gale_error)GALE_ERROR_INIT;
    int rc = gx_expression_compile(&r->made, &r->heap, r->box, gx_str(written), "x", fields, FIELDS, &r->error);
    gx_box_begin(r->box);
    if (rc == GALE_OK) rc = gx_expression_run(&r->made, values, &value, &r->error);
    gx_buf_reset(ret_answer);
    gx_json json = gx_json_to(ret_answer);
    gx_buf_format(ret_answer, "%d ", rc);
    gx_json_value(&json, &value);
    gx_buf_fini(&text);
}

static void expect_the_same(const char *const *names) {
    static const char *const plain[FIELDS] = { "aa", "bb", "cc" };
    gx_buf one = GX_BUF_INIT(NULL), other = GX_BUF_INIT(NULL);
    rig r;
    begin(&r);
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        answer(&r, patterns[i], plain, &one);
        answer(&r, patterns[i], names, &other);
        if (strcmp(gx_buf_text(&one), gx_buf_text(&other)) != 0)
            fail_msg("%s\n  with %s, %s, %s answers %s (%s)\n  and not %s", patterns[i], names[0], names[1], names[2],
                     gx_buf_text(&other), r.error.text, gx_buf_text(&one));
    }
    gx_buf_fini(&one);
    gx_buf_fini(&other);
    end(&r);
}

/* The name, what the library calls it where it is a field, and what that is called in turn. */
static void expect_family(const char *name) {
    char derived[FIELDS][100];
    snprintf(derived[0], sizeof derived[0], "%s", name);
    snprintf(derived[1], sizeof derived[1], "field_%.80s", name);
    snprintf(derived[2], sizeof derived[2], "field_%.80s_", name);
    const char *up[] = { derived[0], derived[1], derived[2] }, *down[] = { derived[2], derived[1], derived[0] };
    const char *mixed[] = { derived[1], derived[0], "other" }, *ended[] = { "other", derived[2], derived[0] };
    expect_the_same(up);
    expect_the_same(down);
    expect_the_same(mixed);
    expect_the_same(ended);
}

/* Those that the patterns call themselves may be fields, too, but not names that a pattern makes. */
static bool is_called_by_a_pattern(const char *name) {
    static const char *const called[] = { "tostring", "join", "split", "assert", "type", "pairs" };
    for (size_t i = 0; i < sizeof called / sizeof *called; i++)
        if (strcmp(name, called[i]) == 0) return true;
    return false;
}

static void the_same_expression_with_other_names_of_fields_answers_the_same(void **state) {
    (void)state;
    static const char *const more[] = { "row", "_G", "_ENV", "self", "arg", "_", "field_", "field", "__index", "R2D2" };
    char name[100];
    rig r;
    begin(&r);
    gale_str rest = gx_box_names(r.box), known;
    while (gx_str_next(&rest, ' ', &known)) {
        snprintf(name, sizeof name, "%.*s", GX_STR(known));
        if (*name && !strchr(name, '.') && !is_called_by_a_pattern(name)) expect_family(name);
    }
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) expect_family(more[i]);
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
        cmocka_unit_test(what_other_languages_have_is_answered_with_what_to_write),
        cmocka_unit_test(a_text_that_lua_takes_is_never_foreign),
        cmocka_unit_test(what_is_no_lua_is_refused),
        cmocka_unit_test(a_field_that_is_a_word_of_luas_is_found_in_the_row),
        cmocka_unit_test(what_fails_tells_the_values),
        cmocka_unit_test(a_long_value_is_cut),
        cmocka_unit_test(nothing_is_kept_from_one_call_to_the_next),
        cmocka_unit_test(every_function_misspelt_is_refused_with_the_right_one),
        cmocka_unit_test(functions_of_a_value_are_refused),
        cmocka_unit_test(what_may_be_is_not_refused),
        cmocka_unit_test(the_same_expression_with_other_names_of_fields_answers_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
