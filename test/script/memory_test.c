/* Memory that fails at any allocation: at making a box, at compiling, at calling. Nothing leaks, nothing is half done, and
 * with memory all goes on. */
#include "script/rig.h"

#include "harness/counting_allocator.h"

enum { MOST_CALLS = 20000 };

static const char *const texts[] = {
    "split('a,b,c', ',')",
    "('k1=v1 k2=v2'):gsub('(\\\\w+)=(?<v>\\\\w+)', function(k, v) return v .. '=' .. string.rep(k, 40) end)",
    "regex('10.0.0.1 GET /x', '(?<ip>[^ ]+) (?<m>[A-Z]+)')",
    "json.encode(json.decode('{\"a\": [1, 2.5, \"\\\\u00e9\"], \"b\": {}}'))",
    "local t = {} for i = 1, 50 do t[i] = 'x' .. i end table.sort(t) return join(t, ',')",
    "local t = {} for k, v in pairs({a = 1, b = 2}) do t[v] = k end return t",
    "url.query('a=b&c=d') and time.format(time.parse('2026-11-22')) .. base64.encode(hex('x'))",
    "local r = '' for w in ('a b c'):gmatch('((?:a|b)*\\\\w)') do r = r .. w end return r",
    "string.rep('a', 2000):match('^(?:a|b)*$') ~= nil",
};

typedef struct life {
    counting_allocator counting;
    gale_allocator allocator;
    gx_heap heap;
    gx_box *box;
} life;

static void begin(life *l) {
    *l = (life){ .box = NULL };
    l->allocator = counting_handle(&l->counting);
    gx_heap_init(&l->heap, &l->allocator);
}

static int make(life *l) {
    gale_error error = GALE_ERROR_INIT;
    gx_box_limits limits = { .work = 0 };
    return gx_box_new(&l->heap, &limits, &l->box, &error);
}

static void end(life *l) {
    gx_box_free(l->box);
    assert_int_equal(l->counting.blocks, 0);
    assert_int_equal(l->counting.bytes, 0);
}

/* GALE_OK, or what memory that fails may answer. */
static int ask(life *l, const char *text) {
    gale_error error = GALE_ERROR_INIT;
    gale_value value;
    int function;
    int rc = gx_box_compile(l->box, gx_str(text), "here", gx_str(""), &function, &error);
    if (rc == GALE_OK) {
        gx_box_begin(l->box);
        rc = gx_box_call(l->box, function, NULL, 0, &value, &error);
    }
    bool may = rc == GALE_OK || rc == GALE_NO_MEMORY || rc == GALE_TOO_LARGE ||
               strstr(error.text, "took too much memory");
    if (!may) fail_msg("%s: %d, %s", text, rc, error.text);
    return rc;
}

static void a_box_is_made_whole_or_not(void **state) {
    (void)state;
    for (int all = 0; all < 2; all++) {
        life l;
        int rc = GALE_NO_MEMORY;
        for (size_t n = 1; rc < 0 && n < MOST_CALLS; n++) {
            begin(&l);
            l.counting.fail_at = n;
            l.counting.fail_after = all;
            rc = make(&l);
            assert_true(rc == GALE_OK || rc == GALE_NO_MEMORY);
            l.counting.fail_at = 0;
            if (rc == GALE_OK) assert_int_equal(ask(&l, texts[0]), GALE_OK);
            end(&l);
        }
        assert_int_equal(rc, GALE_OK);
    }
}

/* The n-th allocation of compiling and calling fails, then all of the same again with memory. */
static void a_call_fails_alone(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        for (int all = 0; all < 2; all++) {
            bool whole = false;
            for (size_t n = 1; !whole && n < MOST_CALLS; n++) {
                life l;
                begin(&l);
                assert_int_equal(make(&l), GALE_OK);
                size_t before = l.counting.calls;
                l.counting.fail_at = before + n;
                l.counting.fail_after = all;
                ask(&l, texts[i]);
                whole = l.counting.calls < before + n;
                l.counting.fail_at = 0;
                assert_int_equal(ask(&l, texts[i]), GALE_OK);
                end(&l);
            }
            assert_true(whole);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_box_is_made_whole_or_not),
        cmocka_unit_test(a_call_fails_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
