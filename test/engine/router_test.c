#include "engine/router.h"

#include "harness/cm.h"
#include "harness/counting_allocator.h"

#include <stdio.h>

enum { EDGES_MAX = 8, TARGETS_MAX = 64 };

typedef struct fixture {
    counting_allocator counting;
    gx_heap heap;
    gx_random random;
    gx_plan_edge edges[EDGES_MAX];
    gx_plan_stream plan;
    gx_stream_routes routes;
} fixture;

static void prepare(fixture *f, const gx_plan_edge *edges, uint32_t count) {
    memset(f, 0, sizeof *f);
    gale_allocator handle = counting_handle(&f->counting);
    gx_heap_init(&f->heap, &handle);
    f->random = gx_random_new(1, 2);
    if (count) memcpy(f->edges, edges, count * sizeof *edges);
    f->plan = (gx_plan_stream){ f->edges, count, 3 };
}

static void setup(fixture *f, const gx_plan_edge *edges, uint32_t count) {
    prepare(f, edges, count);
    assert_int_equal(gx_router_init(&f->routes, &f->plan, &f->heap, &f->random), GALE_OK);
}

static void teardown(fixture *f) {
    gx_router_fini(&f->routes, &f->heap);
    assert_int_equal(f->counting.blocks, 0);
    assert_int_equal(gx_heap_reserved(&f->heap), 0);
}

static gx_plan_edge edge_of(gale_grouping_kind kind, uint16_t first_task, uint16_t task_count) {
    return (gx_plan_edge){ .first_task = first_task, .task_count = task_count, .grouping = (uint8_t)kind };
}

static gx_plan_edge by_fields(uint16_t first_task, uint16_t task_count, const uint16_t *fields, uint32_t field_count) {
    gx_plan_edge edge = edge_of(GALE_GROUPING_FIELDS, first_task, task_count);
    edge.fields = fields;
    edge.field_count = field_count;
    return edge;
}

static uint16_t target(fixture *f, const gale_value *values) {
    uint16_t targets[TARGETS_MAX];
    assert_int_equal(gx_router_targets(&f->routes, values, targets), 1);
    return targets[0];
}

static const uint16_t target_counts[] = { 1, 2, 7 };

static void a_stream_without_consumers_has_no_targets(void **state) {
    (void)state;
    fixture f;
    setup(&f, NULL, 0);
    assert_int_equal(f.routes.fanout, 0);
    assert_int_equal(f.routes.field_count, 3);
    uint16_t targets[1];
    assert_int_equal(gx_router_targets(&f.routes, NULL, targets), 0);
    teardown(&f);
}

static void shuffle_starts_at_the_second_of_a_permutation_and_is_exactly_even(void **state) {
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        uint16_t n = target_counts[i];
        gx_plan_edge edge = edge_of(GALE_GROUPING_SHUFFLE, 10, n);
        fixture f;
        setup(&f, &edge, 1);
        const uint16_t *order = f.routes.routes[0].order;
        uint32_t seen[7] = { 0 };
        for (uint16_t t = 0; t < n; t++) {
            assert_in_range(order[t], 10, 10 + n - 1);
            seen[order[t] - 10]++;
        }
        for (uint16_t t = 0; t < n; t++) assert_int_equal(seen[t], 1);
        for (uint32_t k = 1; k <= 1000; k++) {
            uint16_t to = target(&f, NULL);
            assert_int_equal(to, order[k % n]);
            seen[to - 10]++;
            for (uint16_t t = 0; t < n; t++) assert_in_range(seen[t] - 1, k / n, k / n + 1);
        }
        teardown(&f);
    }
}

static void different_tasks_shuffle_differently(void **state) {
    (void)state;
    uint32_t firsts[7] = { 0 };
    gx_plan_edge edge = edge_of(GALE_GROUPING_SHUFFLE, 1, 7);
    for (uint64_t task = 0; task < 7000; task++) {
        fixture f;
        prepare(&f, &edge, 1);
        f.random = gx_random_new(9, task);
        assert_int_equal(gx_router_init(&f.routes, &f.plan, &f.heap, &f.random), GALE_OK);
        firsts[target(&f, NULL) - 1]++;
        teardown(&f);
    }
    for (int t = 0; t < 7; t++) assert_in_range(firsts[t], 850, 1150); /* 1000 give or take five deviations */
}

static void fields_send_equal_values_to_the_same_task_and_use_all_tasks(void **state) {
    (void)state;
    static const uint16_t field[] = { 1 };
    for (size_t i = 0; i < 3; i++) {
        uint16_t n = target_counts[i];
        gx_plan_edge edge = by_fields(20, n, field, 1);
        fixture f;
        setup(&f, &edge, 1);
        uint32_t seen[7] = { 0 };
        for (int k = 0; k < 7000; k++) {
            char word[16], again[16];
            sprintf(word, "word%d", k);
            strcpy(again, word);
            gale_value values[] = { gale_i64(k), gale_string(word, strlen(word)) };
            gale_value others[] = { gale_f64(0.5), gale_string(again, strlen(again)) };
            uint16_t to = target(&f, values);
            assert_in_range(to, 20, 20 + n - 1);
            assert_int_equal(target(&f, others), to);
            assert_int_equal(to, 20 + gx_hash_below(n == 1 ? 0 : gx_value_hash(&values[1]), n));
            seen[to - 20]++;
        }
        for (uint16_t t = 0; t < n; t++) assert_in_range(seen[t], 6000 / n, 8000 / n);
        teardown(&f);
    }
}

static void several_fields_count_in_the_order_of_the_grouping(void **state) {
    (void)state;
    static const uint16_t forward[] = { 0, 2 }, backward[] = { 2, 0 };
    gx_plan_edge edges[] = { by_fields(1, 50, forward, 2), by_fields(1, 50, backward, 2) };
    fixture f;
    setup(&f, edges, 2);
    int differ = 0;
    for (int k = 0; k < 200; k++) {
        gale_value values[] = { gale_i64(k), gale_i64(-1), gale_i64(1000 + k) };
        gale_value turned[] = { gale_i64(1000 + k), gale_i64(5), gale_i64(k) };
        uint16_t a[2], b[2];
        assert_int_equal(gx_router_targets(&f.routes, values, a), 2);
        assert_int_equal(gx_router_targets(&f.routes, turned, b), 2);
        assert_int_equal(a[0], b[1]);
        assert_int_equal(a[1], b[0]);
        assert_int_equal(a[0], 1 + gx_hash_below(gx_values_hash(values, forward, 2), 50));
        differ += a[0] != a[1];
    }
    assert_true(differ > 150);
    teardown(&f);
}

static void all_names_every_task_once_and_global_the_first(void **state) {
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        uint16_t n = target_counts[i], targets[TARGETS_MAX];
        gx_plan_edge edges[] = { edge_of(GALE_GROUPING_ALL, 5, n), edge_of(GALE_GROUPING_GLOBAL, 30, n) };
        fixture f;
        setup(&f, edges, 2);
        assert_int_equal(f.routes.fanout, n + 1);
        for (int k = 0; k < 20; k++) {
            assert_int_equal(gx_router_targets(&f.routes, NULL, targets), n + 1);
            for (uint16_t t = 0; t < n; t++) assert_int_equal(targets[t], 5 + t);
            assert_int_equal(targets[n], 30);
        }
        teardown(&f);
    }
}

static void several_consumers_are_served_in_their_order_each_with_its_own_state(void **state) {
    (void)state;
    static const uint16_t field[] = { 0 };
    gx_plan_edge edges[] = { edge_of(GALE_GROUPING_SHUFFLE, 1, 2), edge_of(GALE_GROUPING_ALL, 3, 3),
                             edge_of(GALE_GROUPING_SHUFFLE, 6, 7), by_fields(13, 4, field, 1),
                             edge_of(GALE_GROUPING_GLOBAL, 17, 2) };
    fixture f;
    setup(&f, edges, 5);
    assert_int_equal(f.routes.fanout, 1 + 3 + 1 + 1 + 1);
    for (uint32_t k = 1; k <= 50; k++) {
        uint16_t targets[TARGETS_MAX];
        gale_value value = gale_i64(k);
        assert_int_equal(gx_router_targets(&f.routes, &value, targets), 7);
        assert_int_equal(targets[0], f.routes.routes[0].order[k % 2]);
        for (uint16_t t = 0; t < 3; t++) assert_int_equal(targets[1 + t], 3 + t);
        assert_int_equal(targets[4], f.routes.routes[2].order[k % 7]);
        assert_int_equal(targets[5], 13 + gx_hash_below(gx_value_hash(&value), 4));
        assert_int_equal(targets[6], 17);
    }
    teardown(&f);
}

static void the_allocation_that_fails_leaves_routes_that_can_be_ended(void **state) {
    (void)state;
    gx_plan_edge edges[] = { edge_of(GALE_GROUPING_SHUFFLE, 1, 2), edge_of(GALE_GROUPING_ALL, 3, 3),
                             edge_of(GALE_GROUPING_SHUFFLE, 6, 7) };
    for (size_t n = 1; n <= 3; n++) {
        fixture f;
        prepare(&f, edges, 3);
        f.counting.fail_at = n;
        assert_int_equal(gx_router_init(&f.routes, &f.plan, &f.heap, &f.random), GALE_NO_MEMORY);
        teardown(&f);
    }
    fixture f;
    setup(&f, edges, 3);
    assert_int_equal(f.counting.calls, 3);
    teardown(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_without_consumers_has_no_targets),
        cmocka_unit_test(shuffle_starts_at_the_second_of_a_permutation_and_is_exactly_even),
        cmocka_unit_test(different_tasks_shuffle_differently),
        cmocka_unit_test(fields_send_equal_values_to_the_same_task_and_use_all_tasks),
        cmocka_unit_test(several_fields_count_in_the_order_of_the_grouping),
        cmocka_unit_test(all_names_every_task_once_and_global_the_first),
        cmocka_unit_test(several_consumers_are_served_in_their_order_each_with_its_own_state),
        cmocka_unit_test(the_allocation_that_fails_leaves_routes_that_can_be_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
