/* What tests of expressions share: a box, and what a piece of Lua answers in it as JSON, or its error.
 * Owner: the test. */
#ifndef TEST_SCRIPT_RIG_H
#define TEST_SCRIPT_RIG_H

#include "base/str.h"
#include "harness/cm.h"
#include "script/box.h"
#include "tuple/json.h"

typedef struct rig {
    gx_heap heap;
    gx_box *box;
    gx_buf said;
    int rc;
} rig;

static inline int64_t rig_now(void *user) {
    (void)user;
    return INT64_C(1700000000500000000);
}

static inline void rig_init(rig *r, gx_box_limits limits) {
    gale_error error = GALE_ERROR_INIT;
    gale_clock clock = { .now = rig_now };
    *r = (rig){ .rc = GALE_OK };
    gx_heap_init(&r->heap, NULL);
    if (gx_box_new(&r->heap, &limits, &r->box, &error) < 0) fail_msg("%s", error.text);
    gx_box_set_clock(r->box, &clock);
}

static inline void rig_fini(rig *r) {
    gx_box_free(r->box);
    gx_buf_fini(&r->said);
    assert_int_equal(gx_heap_reserved(&r->heap), 0);
}

/* Makes a function of one value, `x`. */
static inline int rig_compile(rig *r, const char *text) {
    gale_error error = GALE_ERROR_INIT;
    int function = 0;
    gx_buf_reset(&r->said);
    r->rc = gx_box_compile(r->box, gx_str(text), "here", gx_str("x"), &function, &error);
    if (r->rc < 0) gx_buf_add_text(&r->said, error.text);
    return function;
}

/* What it answers, as JSON, or its error; borrowed until the next. */
static inline const char *rig_call(rig *r, int function, const gale_value *x) {
    gale_error error = GALE_ERROR_INIT;
    gale_value value = gale_null();
    gx_buf_reset(&r->said);
    gx_json json = gx_json_to(&r->said);
    gx_box_begin(r->box);
    r->rc = gx_box_call(r->box, function, x, 1, &value, &error);
    if (r->rc < 0)
        gx_buf_add_text(&r->said, error.text);
    else
        gx_json_value(&json, &value);
    return gx_buf_text(&r->said);
}

static inline const char *rig_ask(rig *r, const char *text) {
    gale_value x = gale_null();
    int function = rig_compile(r, text);
    return r->rc < 0 ? gx_buf_text(&r->said) : rig_call(r, function, &x);
}

static inline void rig_expect(rig *r, const char *text, const char *answer) {
    const char *said = rig_ask(r, text);
    if (strcmp(said, answer) != 0) fail_msg("%s\n  says   %s\n  and not %s", text, said, answer);
}

/* Rows of a text and what it answers. */
static inline void rig_expect_all(rig *r, const char *const (*rows)[2], size_t count) {
    for (size_t i = 0; i < count; i++) rig_expect(r, rows[i][0], rows[i][1]);
}

#define RIG_EXPECT_ALL(...)                                                                                            \
    static const char *const rows[][2] = { __VA_ARGS__ };                                                              \
    rig_expect_all(*state, rows, sizeof rows / sizeof *rows)

/* The fixture of a program whose tests share a box with the usual bounds. */
static inline int rig_set_up(void **state) {
    static rig shared;
    rig_init(&shared, (gx_box_limits){ .work = 0 });
    *state = &shared;
    return 0;
}

static inline int rig_tear_down(void **state) {
    rig_fini(*state);
    return 0;
}

#endif
