#include "ds/rankings.h"

#include "base/random.h"
#include "harness/cm.h"
#include "harness/counting_allocator.h"

#include <stdio.h>

static gx_heap heap;
static counting_allocator counting;

static int setup(void **state) {
    (void)state;
    counting = (counting_allocator){ 0 };
    gale_allocator handle = counting_handle(&counting);
    gx_heap_init(&heap, &handle);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    return counting.blocks == 0 ? 0 : -1;
}

static gx_rankings *make(int64_t top_n) {
    gx_rankings *rankings = NULL;
    assert_int_equal(gx_rankings_new(&heap, top_n, gx_str_compare, &rankings, NULL), GALE_OK);
    return rankings;
}

/* "A5 B4": one letter and a count each. */
static const char *shown(const gx_rankings *rankings) {
    static char text[400];
    size_t size = 0;
    text[0] = 0;
    for (size_t i = 0; i < gx_rankings_size(rankings); i++) {
        gale_str object;
        int64_t count = gx_rankings_at(rankings, i, &object, NULL);
        size += (size_t)snprintf(text + size, sizeof text - size, "%s%.*s%lld", i ? " " : "", GX_STR(object),
                                 (long long)count);
    }
    return text;
}

static int update(gx_rankings *rankings, const char *object, int64_t count) {
    return gx_rankings_update(rankings, gx_str(object), count, (gale_str){ NULL, 0 });
}

typedef struct vector {
    const char *object;
    int64_t count;
    const char *after;
} vector;

static void check_vectors(int64_t top_n, const vector *vectors, size_t count) {
    gx_rankings *rankings = make(top_n);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(update(rankings, vectors[i].object, vectors[i].count), GALE_OK);
        assert_string_equal(shown(rankings), vectors[i].after);
    }
    gx_rankings_free(rankings);
}

#define CHECK(top_n, ...)                                                                                              \
    do {                                                                                                               \
        static const vector vectors[] = { __VA_ARGS__ };                                                               \
        check_vectors(top_n, vectors, sizeof vectors / sizeof *vectors);                                               \
    } while (0)

static void fewer_than_one_place_are_refused(void **state) {
    (void)state;
    gx_rankings *rankings = NULL;
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gx_rankings_new(&heap, 0, gx_str_compare, &rankings, &error), GALE_INVALID);
    assert_string_equal(error.text, "rankings need at least 1 place, not 0");
    assert_int_equal(gx_rankings_new(&heap, INT64_MIN, gx_str_compare, &rankings, NULL), GALE_INVALID);
    assert_null(rankings);
    gx_rankings_free(NULL);
}

static void new_rankings_are_empty_and_know_their_places(void **state) {
    (void)state;
    gx_rankings *rankings = make(7);
    assert_int_equal(gx_rankings_size(rankings), 0);
    assert_int_equal(gx_rankings_top_n(rankings), 7);
    gx_rankings_prune_zeros(rankings);
    gx_rankings_free(rankings);
}

static void equal_counts_are_ordered_by_object(void **state) {
    (void)state;
    CHECK(5, { "D", 1, "D1" }, { "B", 1, "B1 D1" }, { "A", 1, "A1 B1 D1" }, { "C", 1, "A1 B1 C1 D1" });
    CHECK(3, { "A", 2, "A2" }, { "B", 1, "A2 B1" }, { "C", 1, "A2 B1 C1" }, { "B", 1, "A2 B1 C1" },
          { "A", 1, "A1 B1 C1" });
}

static void of_equals_the_last_in_order_goes(void **state) {
    (void)state;
    CHECK(2, { "C", 1, "C1" }, { "D", 1, "C1 D1" }, { "A", 1, "A1 C1" }, { "B", 1, "A1 B1" }, { "C", 1, "A1 B1" });
}

static void an_evicted_object_does_not_come_back_by_itself(void **state) {
    (void)state;
    CHECK(2, { "A", 3, "A3" }, { "B", 3, "A3 B3" }, { "C", 3, "A3 B3" }, { "A", 0, "B3 A0" }, { "C", 3, "B3 C3" });
    CHECK(3, { "A", 5, "A5" }, { "B", 4, "A5 B4" }, { "C", 3, "A5 B4 C3" }, { "D", 4, "A5 B4 D4" },
          { "A", 1, "B4 D4 A1" }); /* C is gone, though 3 > 1 */
}

static void one_place_holds_the_best(void **state) {
    (void)state;
    CHECK(1, { "B", 2, "B2" }, { "C", 1, "B2" }, { "A", 2, "A2" }, { "A", 0, "A0" }, { "B", 1, "B1" });
}

static void counts_go_up_and_down(void **state) {
    (void)state;
    CHECK(4, { "A", 1, "A1" }, { "B", 2, "B2 A1" }, { "C", 3, "C3 B2 A1" }, { "A", 9, "A9 C3 B2" },
          { "A", 2, "C3 A2 B2" }, { "C", 0, "A2 B2 C0" }, { "B", INT64_MAX, "B9223372036854775807 A2 C0" });
}

static void a_negative_count_is_refused_and_changes_nothing(void **state) {
    (void)state;
    gx_rankings *rankings = make(2);
    assert_int_equal(update(rankings, "A", 1), GALE_OK);
    assert_int_equal(update(rankings, "A", -1), GALE_INVALID);
    assert_int_equal(update(rankings, "B", INT64_MIN), GALE_INVALID);
    assert_string_equal(shown(rankings), "A1");
    gx_rankings_free(rankings);
}

static void pruning_drops_zeros_and_keeps_the_order(void **state) {
    (void)state;
    gx_rankings *rankings = make(5);
    static const char *const objects[] = { "A", "B", "C", "D", "E" };
    for (int i = 0; i < 5; i++) assert_int_equal(update(rankings, objects[i], i % 2 * i), GALE_OK);
    assert_string_equal(shown(rankings), "D3 B1 A0 C0 E0");
    gx_rankings_prune_zeros(rankings);
    assert_string_equal(shown(rankings), "D3 B1");
    assert_int_equal(update(rankings, "A", 2), GALE_OK);
    assert_string_equal(shown(rankings), "D3 A2 B1");
    gx_rankings_free(rankings);
}

static void an_update_replaces_the_payload(void **state) {
    (void)state;
    gx_rankings *rankings = make(2);
    gale_str object, payload;
    assert_int_equal(gx_rankings_update(rankings, gx_str("word"), 1, gx_str("first")), GALE_OK);
    assert_int_equal(gx_rankings_update(rankings, gx_str("word"), 1, gx_str("a second and longer one")), GALE_OK);
    assert_int_equal(gx_rankings_at(rankings, 0, &object, &payload), 1);
    assert_true(gx_str_is(object, "word"));
    assert_true(gx_str_is(payload, "a second and longer one"));
    assert_int_equal(gx_rankings_update(rankings, object, 2, payload), GALE_OK); /* its own bytes */
    assert_int_equal(gx_rankings_at(rankings, 0, &object, &payload), 2);
    assert_true(gx_str_is(payload, "a second and longer one"));
    assert_int_equal(gx_rankings_update(rankings, object, 3, (gale_str){ NULL, 0 }), GALE_OK);
    gx_rankings_at(rankings, 0, &object, &payload);
    assert_int_equal(payload.size, 0);
    gx_rankings_free(rankings);
}

static void empty_objects_and_payloads_are_objects_and_payloads(void **state) {
    (void)state;
    gx_rankings *rankings = make(2);
    gale_str nothing = { NULL, 0 }, object, payload;
    assert_int_equal(gx_rankings_update(rankings, nothing, 1, nothing), GALE_OK);
    assert_int_equal(gx_rankings_at(rankings, 0, &object, &payload), 1);
    assert_int_equal(object.size + payload.size, 0);
    gx_rankings_free(rankings);
}

static int same_for_all(gale_str a, gale_str b) {
    (void)a;
    (void)b;
    return 0;
}

static void objects_that_compare_equal_are_told_apart_by_their_bytes(void **state) {
    (void)state;
    gx_rankings *rankings = NULL;
    assert_int_equal(gx_rankings_new(&heap, 3, same_for_all, &rankings, NULL), GALE_OK);
    assert_int_equal(update(rankings, "B", 1), GALE_OK);
    assert_int_equal(update(rankings, "A", 1), GALE_OK);
    assert_string_equal(shown(rankings), "A1 B1");
    gx_rankings_free(rankings);
}

/* The definition: add or replace, sort all, cut. */
typedef struct naive {
    struct {
        char object;
        int64_t count;
    } rows[40];
    size_t size;
} naive;

static void naive_update(naive *n, size_t top_n, char object, int64_t count) {
    size_t at = 0;
    while (at < n->size && n->rows[at].object != object) at++;
    if (at == n->size) n->size++;
    n->rows[at].object = object;
    n->rows[at].count = count;
    for (size_t i = 0; i < n->size; i++)
        for (size_t j = 0; j + 1 < n->size; j++) {
            bool ordered = n->rows[j].count > n->rows[j + 1].count ||
                           (n->rows[j].count == n->rows[j + 1].count && n->rows[j].object < n->rows[j + 1].object);
            if (ordered) continue;
            naive kept = *n;
            n->rows[j] = kept.rows[j + 1];
            n->rows[j + 1] = kept.rows[j];
        }
    if (n->size > top_n) n->size = top_n;
}

static void random_updates_agree_with_the_definition(void **state) {
    (void)state;
    gx_random random = gx_random_new(3, 0);
    for (size_t top_n = 1; top_n <= 9; top_n++) {
        gx_rankings *rankings = make((int64_t)top_n);
        naive n = { .size = 0 };
        for (int i = 0; i < 500; i++) {
            char object = (char)('A' + gx_random_below(&random, 14));
            int64_t count = gx_random_below(&random, 6);
            naive_update(&n, top_n, object, count);
            assert_int_equal(gx_rankings_update(rankings, (gale_str){ &object, 1 }, count, gx_str("p")), GALE_OK);
            assert_int_equal(gx_rankings_size(rankings), n.size);
            for (size_t j = 0; j < n.size; j++) {
                gale_str at;
                assert_int_equal(gx_rankings_at(rankings, j, &at, NULL), n.rows[j].count);
                assert_int_equal(at.data[0], n.rows[j].object);
            }
        }
        gx_rankings_free(rankings);
    }
}

static void full_rankings_stop_allocating(void **state) {
    (void)state;
    gx_rankings *rankings = make(5);
    size_t calls = 0;
    for (int64_t i = 0; i < 1000; i++) {
        char object[20];
        snprintf(object, sizeof object, "word-%d", (int)(i % 100));
        assert_int_equal(gx_rankings_update(rankings, gx_str(object), i, gx_str("payload")), GALE_OK);
        if (i == 100) calls = counting.calls;
    }
    assert_int_equal(counting.calls, calls);
    gx_rankings_free(rankings);
}

static size_t run_with_failure_at(size_t n) {
    counting = (counting_allocator){ .fail_at = n };
    gx_rankings *rankings = NULL;
    int made = gx_rankings_new(&heap, 12, gx_str_compare, &rankings, NULL);
    assert_true(made == GALE_OK || (made == GALE_NO_MEMORY && !rankings));
    for (int i = 0; rankings && i < 60; i++) {
        char object = (char)('A' + i * 7 % 20), before[400];
        static const char payload[] = "a payload that grows as we go on and on";
        snprintf(before, sizeof before, "%s", shown(rankings));
        gale_str part = { payload, (size_t)i % sizeof payload };
        int result = gx_rankings_update(rankings, (gale_str){ &object, 1 }, i % 9, part);
        assert_true(result == GALE_OK || result == GALE_NO_MEMORY);
        if (result) assert_string_equal(shown(rankings), before);
    }
    gx_rankings_free(rankings);
    assert_int_equal(counting.blocks, 0);
    return counting.calls;
}

static void any_failing_allocation_changes_nothing(void **state) {
    (void)state;
    size_t calls = run_with_failure_at(0);
    assert_true(calls > 10);
    for (size_t n = 1; n <= calls; n++) run_with_failure_at(n);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(fewer_than_one_place_are_refused),
        TEST(new_rankings_are_empty_and_know_their_places),
        TEST(equal_counts_are_ordered_by_object),
        TEST(of_equals_the_last_in_order_goes),
        TEST(an_evicted_object_does_not_come_back_by_itself),
        TEST(one_place_holds_the_best),
        TEST(counts_go_up_and_down),
        TEST(a_negative_count_is_refused_and_changes_nothing),
        TEST(pruning_drops_zeros_and_keeps_the_order),
        TEST(an_update_replaces_the_payload),
        TEST(empty_objects_and_payloads_are_objects_and_payloads),
        TEST(objects_that_compare_equal_are_told_apart_by_their_bytes),
        TEST(random_updates_agree_with_the_definition),
        TEST(full_rankings_stop_allocating),
        TEST(any_failing_allocation_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
