/* What tests of parsers and shapers share: one bolt behind a component "lines", what it makes of a value or a tuple, and the
 * errors of options. Owner: the test. */
#ifndef TEST_KIT_RIG_H
#define TEST_KIT_RIG_H

#include "base/str.h"
#include "kit/streams.h"

#include "harness/cm.h"

typedef struct rig {
    fake_collector fake;
    gale_bolt bolt;
    void *self;
} rig;

/* `rc` is what making `r->bolt` returned. */
static inline void rig_begin(rig *r, int rc, const char *fields) {
    assert_int_equal(rc, GALE_OK);
    r->self = NULL;
    fake_init(&r->fake);
    streams_use(&r->fake);
    fake_source(&r->fake, "lines", fields);
    assert_int_equal(fake_prepare(&r->fake, &r->bolt, &r->self), GALE_OK);
    fake_forget(&r->fake);
}

static inline void rig_end(rig *r) {
    fake_cleanup(&r->bolt, r->self);
    fake_fini(&r->fake);
}

/* Ends the task alone; what it logs can be read. */
static inline void rig_clean(rig *r) {
    fake_forget(&r->fake);
    r->bolt.ops->cleanup(r->self);
    r->self = NULL;
}

static inline int rig_take(rig *r, const gale_value *values, size_t count) {
    fake_forget(&r->fake);
    return r->bolt.ops->execute(r->self, fake_tuple(&r->fake, values, count), &r->fake.collector);
}

static inline void rig_expect_of(rig *r, const gale_value *values, size_t count, const char *emitted) {
    assert_int_equal(rig_take(r, values, count), GALE_OK);
    assert_string_equal(fake_text(&r->fake.emitted), emitted);
}

static inline void rig_expect(rig *r, const char *text, const char *emitted) {
    gale_value value = gale_text(text);
    rig_expect_of(r, &value, 1, emitted);
}

static inline void rig_fails(rig *r, gale_value value, int code, const char *report) {
    assert_int_equal(rig_take(r, &value, 1), code);
    assert_string_equal(fake_text(&r->fake.reports), report);
}

static inline void rig_tick_is_passed_over(rig *r) {
    fake_forget(&r->fake);
    assert_int_equal(r->bolt.ops->execute(r->self, fake_tick(&r->fake, 1), &r->fake.collector), GALE_OK);
    assert_int_equal(r->fake.emissions, 0);
}

/* Asserts what making a bolt with these options says; `call` uses `&bolt` and `&error`. */
#define RIG_REFUSES(call, message)                                                                                     \
    do {                                                                                                               \
        gale_bolt bolt = { 0 };                                                                                        \
        gale_error error = GALE_ERROR_INIT;                                                                            \
        assert_true((call) < 0);                                                                                       \
        assert_string_equal(error.text, message);                                                                      \
        assert_null(bolt.ops);                                                                                         \
    } while (0)

/* Whichever allocation fails, from the first to number `most`, the bolt is prepared and takes `text`, or says why not. */
static inline void rig_survives(int (*make)(gale_bolt *ret_bolt), const char *fields, const char *text, uint64_t most) {
    for (uint64_t n = 1; n <= most; n++) {
        rig r = { .self = NULL };
        gale_value value = gale_text(text);
        fake_init(&r.fake);
        streams_use(&r.fake);
        fake_source(&r.fake, "lines", fields);
        assert_int_equal(make(&r.bolt), GALE_OK);
        r.fake.fail_at = n;
        int rc = fake_prepare(&r.fake, &r.bolt, &r.self);
        if (n == 1) assert_int_equal(rc, GALE_NO_MEMORY);
        assert_true(rc == GALE_OK || rc == GALE_NO_MEMORY);
        if (rc == GALE_OK) rc = rig_take(&r, &value, 1);
        assert_true(rc == GALE_OK || rc == GALE_NO_MEMORY);
        rig_end(&r);
    }
}

#endif
