/* What connections share: regions and locks. */
#include "store/shared.h"

#include "harness/cm.h"
#include "harness/counting_allocator.h"

static gx_heap heap;
static gx_shared shared;
static counting_allocator counting;

static int setup(void **state) {
    (void)state;
    counting = (counting_allocator){ 0 };
    gale_allocator handle = counting_handle(&counting);
    gx_heap_init(&heap, &handle);
    gx_shared_init(&shared, &heap);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    gx_shared_fini(&shared);
    assert_int_equal(counting.blocks, 0);
    return 0;
}

static void a_region_is_made_when_asked_for_and_stays_where_it_is(void **state) {
    (void)state;
    void *first = &heap, *again = NULL, *far = NULL;
    assert_true(gx_shared_region(&shared, 0, 4096, false, &first));
    assert_null(first);
    assert_true(gx_shared_region(&shared, 0, 4096, true, &first));
    assert_non_null(first);
    assert_true(gx_shared_region(&shared, 5, 4096, true, &far));
    assert_true(gx_shared_region(&shared, 0, 4096, false, &again));
    assert_ptr_equal(first, again);
    for (int i = 0; i < 4096; i++) assert_int_equal(((char *)far)[i], 0);
}

static void a_region_without_memory_is_refused(void **state) {
    (void)state;
    void *region = &heap;
    for (size_t n = 1; n <= 2; n++) {
        counting.fail_at = counting.calls + n;
        assert_false(gx_shared_region(&shared, 0, 4096, true, &region));
        assert_null(region);
    }
}

static void many_read_or_one_is_alone(void **state) {
    (void)state;
    gx_shared_holds a = { 0 }, b = { 0 };
    assert_true(gx_shared_lock(&shared, &a, 3, 1, false));
    assert_true(gx_shared_lock(&shared, &b, 3, 1, false));
    assert_false(gx_shared_lock(&shared, &b, 0, 8, true));
    assert_true(gx_shared_lock(&shared, &b, 0, 3, true));
    assert_false(gx_shared_lock(&shared, &a, 2, 1, false));
    gx_shared_unlock(&shared, &b, 0, 8);
    assert_true(gx_shared_lock(&shared, &a, 2, 1, true));
    gx_shared_unlock(&shared, &a, 0, 8);
    assert_true(gx_shared_lock(&shared, &b, 0, 8, true));
    gx_shared_unlock(&shared, &b, 0, 8);
}

static void what_is_held_already_may_be_asked_for_again(void **state) {
    (void)state;
    gx_shared_holds a = { 0 }, b = { 0 };
    assert_true(gx_shared_lock(&shared, &a, 4, 1, false));
    assert_true(gx_shared_lock(&shared, &a, 4, 1, false));
    gx_shared_unlock(&shared, &a, 4, 1);
    assert_true(gx_shared_lock(&shared, &b, 4, 1, true));
    gx_shared_unlock(&shared, &b, 4, 1);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(a_region_is_made_when_asked_for_and_stays_where_it_is),
        CASE(a_region_without_memory_is_refused),
        CASE(many_read_or_one_is_alone),
        CASE(what_is_held_already_may_be_asked_for_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
