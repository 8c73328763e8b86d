/* Programs made at random of all functions of the library, with large operands: what a call computes is in proportion to what it is
 * charged, by the thread's CPU time. The first argument is the number of programs, the second the seed. */
#include "base/os/time.h"
#include "base/random.h"
#include "script/rig.h"

#include <stdlib.h>

enum {
    PROGRAMS = 1500,
    WORK = 200000,   /* of a generated program */
    PROMISED = 166,  /* CPU nanoseconds of a unit: 3,000,000 units in half a second */
    SLACK = 2,       /* for a busy machine */
    START = 5000000, /* nanoseconds that a call may take beside its units */
    TRIES = 5,
    DEPTH = 3,
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    SLOWER = 20
#else
    SLOWER = 1
#endif
};

static uint64_t programs = PROGRAMS, seed = 1;

/* --- The oracle --- */

static int64_t cpu_of(rig *r, int function) {
    gale_value x = gale_null();
    int64_t began = gx_os_thread_cpu();
    (void)rig_call(r, function, &x);
    return gx_os_thread_cpu() - began;
}

/* CPU nanoseconds beyond those that the units allow, in the fastest of some tries. */
static int64_t excess_of(rig *r, uint64_t work, const char *text) {
    int function = rig_compile(r, text);
    int64_t least = INT64_MAX;
    if (r->rc < 0) fail_msg("%s\n  is no program: %s", text, gx_buf_text(&r->said));
    for (int i = 0; i < TRIES && least > 0; i++) {
        int64_t took = cpu_of(r, function);
        int64_t units = (int64_t)(work - gx_box_left(r->box));
        int64_t excess = took - (START + units * PROMISED * SLACK) * SLOWER;
        if (excess < least) least = excess;
    }
    return least;
}

static void expect_in_time(rig *r, uint64_t work, const char *text) {
    int64_t excess = excess_of(r, work, text);
    if (excess > 0)
        fail_msg("%s\n  computes %lld us longer than its units allow (it ends with: %s)", text,
                 (long long)excess / 1000, gx_buf_text(&r->said));
}

/* --- The generator --- */

/* The arguments of each function, and its result: s text, S long text, d text of control characters, p pattern, e replacement, n number, k
 * small whole number, t list, T list of texts, m map, x anything, c order, v many arguments, N many numbers, j JSON, w moment, F format of a
 * moment, f format; those behind '?' may be missing. */
static const struct {
    const char *name, *arguments;
    char result;
} functions[] = {
    { "assert", "x?v", 'x' },
    { "base64.decode", "s", 'x' },
    { "base64.encode", "s", 's' },
    { "contains", "ss", 'x' },
    { "ends", "ss", 'x' },
    { "error", "", 0 },
    { "hash", "s", 'n' },
    { "hex", "s", 's' },
    { "ipairs", "t", 0 },
    { "join", "t?s", 's' },
    { "json.decode", "j", 'x' },
    { "json.encode", "t", 's' },
    { "json.null", "", 0 },
    { "lines", "s", 'T' },
    { "math.abs", "n", 'n' },
    { "math.acos", "n", 'n' },
    { "math.asin", "n", 'n' },
    { "math.atan", "n?n", 'n' },
    { "math.ceil", "n", 'n' },
    { "math.cos", "n", 'n' },
    { "math.deg", "n", 'n' },
    { "math.exp", "n", 'n' },
    { "math.floor", "n", 'n' },
    { "math.fmod", "nn", 'n' },
    { "math.huge", "", 0 },
    { "math.log", "n?n", 'n' },
    { "math.max", "nN", 'n' },
    { "math.maxinteger", "", 0 },
    { "math.min", "nN", 'n' },
    { "math.mininteger", "", 0 },
    { "math.modf", "n", 'n' },
    { "math.pi", "", 0 },
    { "math.rad", "n", 'n' },
    { "math.sin", "n", 'n' },
    { "math.sqrt", "n", 'n' },
    { "math.tan", "n", 'n' },
    { "math.tointeger", "x", 'x' },
    { "math.type", "x", 'x' },
    { "math.ult", "kk", 'x' },
    { "metric.count", "g?k", 'x' },
    { "metric.gauge", "gn", 'x' },
    { "metric.observe", "gk", 'x' },
    { "now", "", 'n' },
    { "pad", "sk?x", 's' },
    { "pairs", "m", 0 },
    { "regex", "sp", 'x' },
    { "replace", "sss", 's' },
    { "select", "iv", 'x' },
    { "split", "s?sk", 'T' },
    { "starts", "ss", 'x' },
    { "string.byte", "s?kk", 'x' },
    { "string.char", "B", 's' },
    { "string.find", "sp?kx", 'x' },
    { "string.format", "fx?v", 's' },
    { "string.gmatch", "sp?k", 0 },
    { "string.gsub", "spe?k", 's' },
    { "string.len", "s", 'n' },
    { "string.lower", "s", 's' },
    { "string.match", "sp?k", 'x' },
    { "string.rep", "sk?s", 's' },
    { "string.reverse", "s", 's' },
    { "string.sub", "sk?k", 's' },
    { "string.upper", "s", 's' },
    { "table.concat", "T?s", 's' },
    { "table.insert", "tux", 0 },
    { "table.pack", "v", 't' },
    { "table.remove", "t?u", 'x' },
    { "table.sort", "t?c", 0 },
    { "table.unpack", "t?kk", 'x' },
    { "time.date", "w", 'm' },
    { "time.floor", "wi", 'n' },
    { "time.format", "w?F", 's' },
    { "time.parse", "s?F", 'x' },
    { "tonumber", "x?b", 'x' },
    { "tostring", "x", 's' },
    { "trim", "s", 's' },
    { "type", "v", 's' },
    { "url.decode", "s", 's' },
    { "url.encode", "s", 's' },
    { "url.parse", "s", 'm' },
    { "url.query", "s", 'm' },
    { "utf8.char", "C", 's' },
    { "utf8.charpattern", "", 0 },
    { "utf8.codepoint", "s?ii", 'x' },
    { "utf8.codes", "s", 0 },
    { "utf8.len", "s", 'x' },
    { "utf8.offset", "sk?i", 'x' },
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* Operands of each kind, which need not be calls. The names are made by `prelude`. */
static const struct {
    char kind;
    const char *texts[8];
} operands[] = {
    { 's', { "s", "l", "d", "''", "'a'", "u", "n1" } },
    { 'g', { "'a'", "'b' .. i % 9" } },
    { 'p', { "'a'", "'.'", "'(a)|(b)'", "'.*x'", "'^a*$'", "'(?<k>a)(?<n>.)'", "''", "'\\\\w+'" } },
    { 'e', { "'%0'", "'b'", "rep('%0', 50)", "m", "function(a) return a end", "''" } },
    { 'n', { "1", "0.5", "i", "f1", "f2", "math.pi", "math.maxinteger", "-1" } },
    { 'k', { "1", "2", "-1", "i", "40", "1000" } },
    { 'i', { "1", "2" } },
    { 'u', { "1", "#t // 2 + 1" } },
    { 'b', { "10", "16", "36" } },
    { 't', { "t", "q", "{}", "{i}", "{...}", "t2" } },
    { 'T', { "t2", "q", "{}", "{s, l}" } },
    { 'm', { "m", "{}", "{a = i}" } },
    { 'x', { "nil", "true", "i", "s", "m", "t", "f1", "json.null" } },
    { 'c', { "function(a, b) return tostring(a) > tostring(b) end", "function() return true end" } },
    { 'v', { "...", "table.unpack(t)", "1", "s, s, s", "nil", "select(2, ...)" } },
    { 'N', { "...", "table.unpack(t)", "1", "f1, f2" } },
    { 'B', { "string.byte(s, 1, 3000)", "65, 66", "table.unpack(bytes)" } },
    { 'C', { "table.unpack(bytes)", "8364", "string.byte(l, 1, 900)" } },
    { 'j', { "js", "jn", "'[1]'", "s", "'{\"a\": 1.5e300}'" } },
    { 'w', { "0", "i", "1.5", "1e9" } },
    { 'F', { "'%F'", "'%Y-%m-%dT%H:%M:%S.%f%z'", "rep('%T', 200)" } },
    { 'f', { "'%s'", "'%q'", "'%.14g'", "'%-99s'", "'%%%s'", "'%5s'", "rep('%%', 900)" } },
};

typedef struct maker {
    gx_random random;
    gx_buf text;
} maker;

static uint32_t below(maker *m, uint32_t n) {
    return gx_random_below(&m->random, n);
}

static void add_operand(maker *m, char kind) {
    for (size_t i = 0; i < sizeof operands / sizeof *operands; i++) {
        uint32_t count = 0;
        if (operands[i].kind != kind) continue;
        while (count < 8 && operands[i].texts[count]) count++;
        gx_buf_add_text(&m->text, operands[i].texts[below(m, count)]);
        return;
    }
    fail_msg("there is no operand of the kind '%c'", kind);
}

static void add_value(maker *m, char kind, int depth);

static void add_call(maker *m, size_t function, int depth) {
    const char *at = functions[function].arguments;
    gx_buf_format(&m->text, "%s(", functions[function].name);
    for (bool first = true, optional = false; *at; at++) {
        if (*at == '?') {
            optional = true;
            continue;
        }
        if (optional && below(m, 3) == 0) break;
        if (!first) gx_buf_add_text(&m->text, ", ");
        add_value(m, *at, depth + 1);
        first = false;
    }
    gx_buf_add_byte(&m->text, ')');
}

static bool fits(char kind, char result) {
    return result &&
           (result == kind || (kind == 't' && result == 'T') || (kind == 'x' && result) || (kind == 'v' && result));
}

/* A value of the kind: an operand, or what a function makes. */
static void add_value(maker *m, char kind, int depth) {
    uint32_t from = below(m, FUNCTIONS);
    for (size_t i = 0; i < FUNCTIONS && depth < DEPTH && below(m, 2); i++) {
        if (!fits(kind, functions[(from + i) % FUNCTIONS].result)) continue;
        add_call(m, (from + i) % FUNCTIONS, depth);
        return;
    }
    add_operand(m, kind);
}

static void add_statement(maker *m) {
    static const char *const statements[] = {
        "for a, b in pairs(m) do n = n + 1 end",
        "for _, a in ipairs(t) do n = n + 1 end",
        "for a in utf8.codes('abc') do n = a end",
        "for a in s:gmatch('a') do n = n + 1 end",
        "local a <const> = {...}",
        "if s < l then n = n + 1 end",
        "local a = m[l]",
        "local a = s .. l",
        "local a = #t + #s",
        "local function g(...) return ... end local a = g(g(...))",
        "local function g(n, ...) if n == 0 then return ... end return 1, g(n - 1, ...) end local a = g(30, ...)",
        "t2[#t2 + 1] = s",
    };
    uint32_t function = below(m, FUNCTIONS + FUNCTIONS / 4);
    if (function >= FUNCTIONS) {
        gx_buf_format(&m->text, "do %s end ", statements[below(m, sizeof statements / sizeof *statements)]);
    } else if (functions[function].result) {
        gx_buf_add_text(&m->text, "do local a = ");
        add_call(m, function, 0);
        gx_buf_add_text(&m->text, " end ");
    } else if (functions[function].arguments[0]) {
        add_call(m, function, 0);
        gx_buf_add_byte(&m->text, ' ');
    }
}

/* Operands, of which some are as large as the bounds allow, and a loop that ends with its budget. */
static const char *make_program(maker *m, uint64_t number) {
    static const uint32_t sizes[] = { 3, 40, 300, 5000, 60000, 200000 };
    static const uint32_t counts[] = { 1, 9, 100, 1000, 4000, 9000 };
    m->random = gx_random_new(seed, number);
    gx_buf_reset(&m->text);
    gx_buf_format(&m->text, "local rep, i = string.rep, 0 local s = rep('%s', %u) ", below(m, 2) ? "a" : "a b\\n",
                  sizes[below(m, 6)] / 4);
    gx_buf_format(&m->text, "local l, d, u = s .. 'x', rep('\\1', %u), 'http://a:1/' .. rep('b%%20=&', %u) ",
                  sizes[below(m, 5)], sizes[below(m, 4)]);
    gx_buf_format(&m->text,
                  "local n, n1, f1, f2, t, t2, q, m, bytes = 0, '12.5', 1.2345678901234e-300, 1e300, {}, {}, "
                  "{}, {a = 1, b = 'c'}, {} for k = 1, %u do t[k] = k * 1.5 end ",
                  counts[below(m, 6)]);
    gx_buf_format(&m->text, "for k = 1, %u do t2[k] = %s end for k = 1, %u do q[k], m['k' .. k] = s, k end ",
                  counts[below(m, 4)], below(m, 2) ? "'v' .. k" : "k % 2 == 0 and s or l", counts[below(m, 4)]);
    gx_buf_format(&m->text,
                  "for k = 1, %u do bytes[k] = 65 + k %% 60 end local js, jn = '[' .. rep('{},', %u) .. '1]', "
                  "'[' .. rep('1.25e-300,', %u) .. '1]' local function run(...) for k = 1, 1e9 do i = k ",
                  counts[below(m, 5)], sizes[below(m, 4)], sizes[below(m, 4)]);
    for (uint32_t count = 1 + below(m, 3); count; count--) add_statement(m);
    gx_buf_add_text(&m->text, "end end return run(");
    add_operand(m, below(m, 2) ? 'N' : 'n');
    gx_buf_add_byte(&m->text, ')');
    return gx_buf_text(&m->text);
}

/* --- The tests --- */

static void begin(rig *r, bool count_alone, uint64_t work) {
    rig_init(r, (gx_box_limits){ .work = work });
    if (count_alone) gx_box_count_alone(r->box);
}

static void every_function_of_the_library_is_generated(void **state) {
    (void)state;
    rig r;
    begin(&r, true, WORK);
    gale_str rest = gx_box_names(r.box), name;
    while (gx_str_next(&rest, ' ', &name)) {
        bool is_known = !name.size || gx_box_is_table(r.box, name);
        for (size_t i = 0; i < FUNCTIONS; i++) is_known |= gx_str_is(name, functions[i].name);
        if (!is_known) fail_msg("%.*s has no row here: it is not generated", GX_STR(name));
    }
    rig_fini(&r);
}

static void what_is_computed_is_charged(void **state) {
    (void)state;
    rig r;
    begin(&r, true, WORK);
    maker m = { .text = GX_BUF_INIT(NULL) };
    for (uint64_t i = 0; i < programs; i++) {
        const char *text = make_program(&m, i);
        expect_in_time(&r, WORK, text);
        if (i % 200 == 199) { /* compiled functions stay in a box */
            rig_fini(&r);
            begin(&r, true, WORK);
        }
    }
    gx_buf_fini(&m.text);
    rig_fini(&r);
}

#define EIGHT "a, b, a, b, b, a, b, a, "
#define MANY EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT

/* The worst that were found, each beyond the promise before its charge was there. */
static const char *const found[] = {
    "local t = {} for i = 1, 8000 do t[i] = i end local function g(...) return ... end local function h(...) for i = "
    "1, 1e9 "
    "do local x = g(g(g(...))) end end local function f(...) return 1 + h(table.unpack(t, 1, 2600)) end return "
    "f(table.unpack(t))",
    "local function g(...) return ... end local function f(...) for i = 1, 1e9 do local x = g(g(g(...))) end end local "
    "t = {} "
    "for i = 1, 4000 do t[i] = i end return f(table.unpack(t))",
    "local function f(...) for i = 1, 1e9 do local x = math.max(...) end end local t = {} for i = 1, 4000 do t[i] = i "
    "end "
    "return f(table.unpack(t))",
    "local function f(...) for i = 1, 1e9 do local x = select('#', ...) end end return f(string.byte(string.rep('x', "
    "7000), 1, -1))",
    "local function f(...) return ... end local t = {} for i = 1, 9000 do t[i] = i end for i = 1, 1e9 do local x = "
    "f(f(f(table.unpack(t)))) end",
    "local t = {} for i = 1, 9000 do t[i] = i end local function f(n) if n == 0 then return table.unpack(t) end return "
    "1, f(n - 1) end for i = 1, 1e9 do local x = f(100) end",
    "local a, b = string.rep('x', 200000) .. 'a', string.rep('x', 200000) .. 'b' local t = {" MANY MANY MANY MANY
    "} for i = 1, 1e9 do table.sort(t) end",
    "local s = string.rep('\\1', 100000) for i = 1, 1e9 do local x = string.format('%q', s) end",
    "local t = {} for i = 1, 4000 do t[i] = 1.2345678901234e-300 * i end for i = 1, 1e9 do local x = table.concat(t) "
    "end",
    "local t = {} for i = 1, 4000 do t[i] = 1.2345678901234e-300 * i end for i = 1, 1e9 do local x = join(t) end",
    "local t = {} for i = 1, 4000 do t[i] = 8364 end local function f(...) for i = 1, 1e9 do local x = utf8.char(...) "
    "end "
    "end return f(table.unpack(t))",
    "for i = 1, 1e9 do local x = table.unpack({}, 1.0, 40000.0) end",
    "local p, r = '', string.rep('${n99}', 3000) for i = 1, 99 do p = p .. '(?<n' .. i .. '>a?)' end for i = 1, 1e9 do "
    "local x = ('a'):gsub(p, r) end",
    "local t = {} for i = 1, 1000 do t[i] = string.rep('0', 190) .. '1e9' end local function f(...) for i = 1, 1e9 do "
    "local x = math.max(...) end end return f(table.unpack(t))",
};

static void expect_all_in_time(bool count_alone, const char *const *texts, size_t count) {
    for (size_t i = 0; i < count; i++) {
        rig r;
        begin(&r, count_alone, GX_BOX_WORK);
        expect_in_time(&r, GX_BOX_WORK, texts[i]);
        if (strcmp(gx_buf_text(&r.said), "it took more than 3000000 units of work") != 0)
            fail_msg("%s\n  ends with: %s", texts[i], gx_buf_text(&r.said));
        rig_fini(&r);
    }
}

static void the_worst_that_were_found_are_charged(void **state) {
    (void)state;
    expect_all_in_time(true, found, sizeof found / sizeof *found);
}

/* Instructions of Lua's machine whose price depends on their operands. */
static const char *const dear[] = {
    "local a, b, n = 1e308, 3e-308, 0 for i = 1, 1e9 do n = a % b + a % b + a % b + a % b end",
    "local s, n = '1.234567890123456789e-300', 0 for i = 1, 1e9 do n = s + s + s + s + s + s + s + s end",
    "local a, s = 1.2345678901234e-300 for i = 1, 1e9 do s = a .. a .. a .. a .. a .. a .. a .. a .. a .. a .. a end",
    "local t = {} for i = 1, 8000 do t[i * 8191] = i end local n = 0 for i = 1, 1e9 do n = t[1e15 // 1 | 0] or t[8191] "
    "end",
    "local t, n = {}, 0 for i = 0, 40 do t[1 << i] = 1 end for i = 1, 8000 do t[8191 * i + (1 << i % 13)] = 1 end "
    "for i = 1, 1e9 do n = #t end",
};

static void instructions_are_charged_by_cpu_time_where_the_count_is_late(void **state) {
    (void)state;
    expect_all_in_time(false, dear, sizeof dear / sizeof *dear);
}

/* A long list of arguments makes only the instructions dear that may copy it. */
static void a_long_list_of_arguments_does_not_make_the_rest_dear(void **state) {
    (void)state;
    rig r;
    begin(&r, true, GX_BOX_WORK);
    rig_expect(
        &r,
        "local t, n = {string.byte(string.rep('x', 8000), 1, -1)}, 0 for i, b in ipairs(t) do n = n + b * i % 7 end "
        "return #t",
        "8000");
    assert_true(gx_box_left(r.box) > GX_BOX_WORK / 2);
    rig_fini(&r);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_of_the_library_is_generated),
        cmocka_unit_test(what_is_computed_is_charged),
        cmocka_unit_test(the_worst_that_were_found_are_charged),
        cmocka_unit_test(instructions_are_charged_by_cpu_time_where_the_count_is_late),
        cmocka_unit_test(a_long_list_of_arguments_does_not_make_the_rest_dear),
    };
    if (argc > 1) programs = strtoull(argv[1], NULL, 10);
    if (argc > 2) seed = strtoull(argv[2], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
