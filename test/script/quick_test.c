/* The quick way of expressions against Lua itself: what it answers is what Lua answers, type and all. */
#include "base/random.h"
#include "script/box.h"
#include "script/quick.h"
#include "tuple/json.h"

#include <math.h>
#include <stdlib.h>

#include "harness/cm.h"

enum { NAMES = 4 };

typedef struct rig {
    gx_heap heap;
    gx_box *box;
    gx_random random;
    gale_str names[NAMES];
    gale_value values[NAMES];
} rig;

static void begin(rig *r) {
    static const char *const names[NAMES] = { "a", "b", "c", "d" };
    gx_heap_init(&r->heap, NULL);
    assert_int_equal(gx_box_new(&r->heap, &(gx_box_limits){ 0, 0 }, &r->box, NULL), 0);
    r->random = gx_random_new(7, 0);
    for (int i = 0; i < NAMES; i++) r->names[i] = gx_str(names[i]), r->values[i] = gale_null();
}

static void end(rig *r) {
    gx_box_free(r->box);
    assert_int_equal(gx_heap_reserved(&r->heap), 0);
}

static uint32_t below(rig *r, uint32_t bound) {
    return (uint32_t)(gx_random_next(&r->random) % bound);
}

/* --- Drawing --- */

static gale_value draw_value(rig *r) {
    static const char *const texts[] = { "", "a", "b", "10", "0x10", "ab", "1e3", " 5 " };
    static const double floats[] = { 0.0, -0.0, 1.0, 2.5, -7.25, 9007199254740993.0, 1e300, -1e300 };
    static const int64_t wholes[] = { 0, 1, -1, 2, 7, -7, INT64_MAX, INT64_MIN, 9007199254740993, 500 };
    switch (below(r, 9)) {
    case 0: return gale_null();
    case 1: return gale_bool(below(r, 2));
    case 2: return gale_text(texts[below(r, 8)]);
    case 3: return gale_f64(floats[below(r, 8)]);
    case 4: return gale_f64(below(r, 2) ? (double)NAN : (double)INFINITY);
    case 5: return gale_bytes("\xff\0z", 3);
    default: return gale_i64(wholes[below(r, 10)]);
    }
}

static void draw_expression(rig *r, int depth, gx_buf *to) {
    static const char *const leaves[] = { "a",     "b",   "c",    "d",   "nil", "true",
                                          "false", "0",   "1",    "2",   "-3",  "2.5",
                                          "1e308", "'a'", "'10'", "500", "0.0", "9223372036854775807" };
    static const char *const signs[] = { "+", "-", "*", "/", "//", "%", "<", "<=", ">", ">=", "==", "~=", "and", "or" };
    uint32_t kind = depth <= 0 ? 0 : below(r, 8);
    if (kind < 2) {
        gx_buf_add_text(to, leaves[below(r, 18)]);
    } else if (kind == 2) {
        gx_buf_add_text(to, below(r, 2) ? "not " : "- ");
        draw_expression(r, depth - 1, to);
    } else if (kind == 3) {
        gx_buf_add_byte(to, '(');
        draw_expression(r, depth - 1, to);
        gx_buf_add_byte(to, ')');
    } else {
        draw_expression(r, depth - 1, to);
        gx_buf_format(to, " %s ", signs[below(r, 14)]);
        draw_expression(r, depth - 1, to);
    }
}

/* --- Comparing --- */

/* The sign of zero and of NaN is none of a value's. */
static bool same(const gale_value *a, const gale_value *b) {
    bool text = a->type == GALE_TYPE_BYTES || b->type == GALE_TYPE_BYTES; /* Lua has one type for both */
    return text ? a->size == b->size && memcmp(a->as.string, b->as.string, a->size) == 0 : gale_value_equal(a, b);
}

/* 1 when the quick way answered. */
static int compare(rig *r, gale_str text, const gx_quick *quick, int function) {
    gale_value fast, slow;
    gx_box_begin(r->box);
    if (!gx_quick_run(quick, r->values, &fast)) return 0;
    int rc = gx_box_call(r->box, function, r->values, NAMES, &slow, NULL);
    if (rc < 0 || !same(&fast, &slow)) {
        gx_buf buf = GX_BUF_INIT(NULL);
        gx_json json = gx_json_to(&buf);
        gale_value all = gale_list(r->values, NAMES);
        gx_json_value(&json, &all);
        gx_json_value(&json, &fast);
        gx_json_value(&json, &slow);
        fail_msg("%.*s with %s: rc %d, types %d and %d", GX_STR(text), gx_buf_text(&buf), rc, fast.type, slow.type);
    }
    return 1;
}

static void what_it_answers_is_what_lua_answers(void **state) {
    (void)state;
    rig r;
    gx_quick quick;
    uint64_t compiled = 0, answered = 0;
    begin(&r);
    for (int i = 0; i < 20000; i++) {
        gx_buf text = GX_BUF_INIT(NULL);
        draw_expression(&r, 4, &text);
        gale_str given = { text.data, text.size };
        int function;
        if (gx_quick_compile(&quick, given, r.names, NAMES)) {
            compiled++;
            assert_int_equal(gx_box_compile(r.box, given, "x", gx_str("a,b,c,d"), &function, NULL), 0);
            for (int k = 0; k < 10; k++) {
                for (int n = 0; n < NAMES; n++) r.values[n] = draw_value(&r);
                answered += (uint64_t)compare(&r, given, &quick, function);
            }
        }
        gx_buf_fini(&text);
        if (i % 1000 == 999) {
            gx_box_free(r.box); /* what was compiled stays as long as the box */
            assert_int_equal(gx_box_new(&r.heap, &(gx_box_limits){ 0, 0 }, &r.box, NULL), 0);
        }
    }
    assert_true(compiled > 15000 && answered > 60000);
    end(&r);
}

static bool compiles(rig *r, const char *text) {
    gx_quick quick;
    return gx_quick_compile(&quick, gx_str(text), r->names, NAMES);
}

static void what_it_does_not_know_is_left_to_lua(void **state) {
    (void)state;
    rig r;
    begin(&r);
    static const char *const known[] = { "a", "a >= 500 and (b == 'x' or not c)", "-a // 2 % 3 / 4", "((((a))))",
                                         "nil" };
    static const char *const unknown[] = { "",        "a b",      "a +",  "(a",    "a)",    "e",     "a.b",
                                           "a()",     "a[1]",     "#a",   "a..b",  "a ^ 2", "a & b", "{}",
                                           "\"\\n\"", "[[x]]",    "0x10", "a = 1", "and",   "~a",    "a ~ b",
                                           "...",     "return a", "a;",   "1 2" };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) assert_true(compiles(&r, known[i]));
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) assert_false(compiles(&r, unknown[i]));
    end(&r);
}

static void what_is_too_long_or_too_deep_is_left_to_lua(void **state) {
    (void)state;
    rig r;
    begin(&r);
    for (int depth = 1; depth < 60; depth++) {
        gx_buf text = GX_BUF_INIT(NULL), sum = GX_BUF_INIT(NULL);
        for (int i = 0; i < depth; i++) gx_buf_add_text(&text, "a+(");
        gx_buf_add_text(&text, "a");
        for (int i = 0; i < depth; i++) gx_buf_add_byte(&text, ')');
        for (int i = 0; i < depth; i++) gx_buf_add_text(&sum, "a+");
        gx_buf_add_text(&sum, "a");
        gx_quick quick;
        bool deep = gx_quick_compile(&quick, (gale_str){ text.data, text.size }, r.names, NAMES);
        assert_int_equal(deep, depth < GX_QUICK_STACK);
        bool is_long = gx_quick_compile(&quick, (gale_str){ sum.data, sum.size }, r.names, NAMES);
        assert_int_equal(is_long, 2 * depth + 1 <= GX_QUICK_CODE);
        gx_buf_fini(&text);
        gx_buf_fini(&sum);
    }
    end(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_answers_is_what_lua_answers),
        cmocka_unit_test(what_it_does_not_know_is_left_to_lua),
        cmocka_unit_test(what_is_too_long_or_too_deep_is_left_to_lua),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
