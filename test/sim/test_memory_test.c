/* gale_test.h where memory is out: the n-th allocation fails, for every n, until a whole test gets through. */
#include "harness/cm.h"

#include <gale_test.h>
#include <stdlib.h>
#include <string.h>

static size_t fails_at, calls; /* from 1; 0: none */

static int is_out(void) {
    return fails_at && ++calls == fails_at;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);

void *__wrap_malloc(size_t size) {
    return is_out() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
    return is_out() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size) {
    return is_out() ? NULL : __real_realloc(block, size);
}

static const gale_output words[] = { { NULL, "word, length" } };

static int measure(void *self, const gale_tuple *tuple, gale_collector *out) {
    (void)self;
    gale_value word = gale_tuple_value(tuple, 0);
    const gale_value values[] = { word, gale_i64(word.size) };
    gale_report(out, "a word");
    int rc = gale_emit(out, 0, values, 2);
    return rc < 0 ? rc : GALE_OK;
}

static void *users; /* that are to be given back */

static void give_back(void *user) {
    users = user == users ? NULL : users;
    free(user);
}

static gale_bolt measurer(void) {
    static const gale_bolt_ops ops = { .size = sizeof ops, .name = "measurer", .execute = measure };
    return (gale_bolt){ .size = sizeof(gale_bolt), .ops = &ops, .outputs = words, .output_count = 1 };
}

/* Everything that may want memory. True when all of it got through. */
static bool play(gale_bolt bolt) {
    const gale_test_input input = { "lines", NULL, "word" };
    const gale_value word = gale_text("cow"), wanted[] = { gale_text("cow"), gale_i64(4) };
    gale_test *test = NULL;
    int rc = gale_test_new_for_bolt(bolt, &input, 1, NULL, &test, NULL);
    if (rc < 0) {
        assert_int_equal(rc, GALE_NO_MEMORY);
        assert_null(test);
        return false;
    }
    bool whole = gale_test_feed(test, "lines", NULL, &word, 1, NULL) == 0;
    const char *text = gale_test_differs(test, "bolt", NULL, GALE_TEST_ANY_ORDER, wanted, 2, 1);
    whole = whole && text && strstr(text, "length is 3, not 4") && !gale_test_not_acked(test);
    text = gale_test_not_failed(test, 0, GALE_REASON_FAILED, NULL);
    whole = whole && text && strstr(text, "was acked");
    whole = gale_test_finish(test, NULL) == GALE_OK && whole;
    gale_test_free(test);
    return whole;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    bool failed = true;
    for (size_t n = 1; failed; n++) {
        gale_bolt bolt = measurer();
        users = bolt.user = malloc(1);
        bolt.free_user = give_back;
        calls = 0;
        fails_at = n;
        bool whole = play(bolt);
        failed = calls >= n;
        fails_at = 0;
        if (!failed) assert_true(whole);
        assert_null(users);
        assert_true(n < 100000);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_allocation_may_fail) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
