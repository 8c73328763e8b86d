#include "draw/ordering.h"
#include "draw/placing.h"

#include "draw/graphs.h"
#include "harness/cm.h"
#include "harness/counting_allocator.h"

static made_graph made;
static gx_heap heap;
static gx_layering l;
static gx_extent nodes[GRAPH_NODES], labels[GRAPH_EDGES];

static int fresh(void **state) {
    (void)state;
    gx_heap_init(&heap, NULL);
    for (uint32_t n = 0; n < GRAPH_NODES; n++) nodes[n] = (gx_extent){ 5 + (int32_t)(n % 7), 6, 3 };
    for (uint32_t e = 0; e < GRAPH_EDGES; e++) labels[e] = (gx_extent){ 0, (int32_t)(e % 9), 1 };
    return 0;
}

static int done(void **state) {
    (void)state;
    return gx_heap_reserved(&heap) == 0 ? 0 : -1;
}

static const gx_extents extents = { nodes, labels, { 1, 1, 0 }, 2 };

static void lay_out(void) {
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gx_layering_new(&heap, &made.graph, &extents, &l, &error), 0);
    assert_true(gx_ordering_do(&l));
    assert_true(gx_placing_do(&l));
}

static uint32_t layer_of(uint32_t node) {
    return l.stops[node].layer;
}

/* Neighbours are apart, and everything is on the sheet. */
static void check_places(void) {
    for (uint32_t i = 0; i < l.layer_count; i++)
        for (uint32_t k = 0; k < l.layers[i].count; k++) {
            const gx_stop *stop = &l.stops[l.layers[i].stops[k]];
            assert_int_equal(stop->layer, i);
            assert_int_equal(stop->order, k);
            assert_true(stop->at - stop->extent.before >= 0 && stop->at + stop->extent.after <= l.width);
            if (!k) continue;
            const gx_stop *left = &l.stops[l.layers[i].stops[k - 1]];
            assert_true(left->at + left->extent.after + extents.gap <= stop->at - stop->extent.before);
        }
}

/* Each edge goes down one layer a stop, has one label, on an odd layer, and ends at its components. */
static void check_routes(void) {
    for (uint32_t e = 0; e < made.graph.edge_count; e++) {
        const gx_graph_edge *edge = &made.edges[e];
        const gx_route *route = &l.routes[e];
        uint32_t seen = 0;
        if (edge->from == edge->to) {
            assert_int_equal(route->count, 0);
            continue;
        }
        assert_true(route->count >= 3);
        assert_int_equal(route->stops[0], edge->back ? edge->to : edge->from);
        assert_int_equal(route->stops[route->count - 1], edge->back ? edge->from : edge->to);
        for (uint32_t i = 0; i < route->count; i++) {
            const gx_stop *stop = &l.stops[route->stops[i]];
            if (i) assert_int_equal(stop->layer, l.stops[route->stops[i - 1]].layer + 1);
            seen += stop->kind == GX_STOP_LABEL;
            if (stop->kind == GX_STOP_LABEL) assert_int_equal(stop->layer % 2, 1);
            if (stop->kind == GX_STOP_NODE) assert_int_equal(stop->layer % 2, 0);
        }
        assert_int_equal(seen, 1);
    }
}

/* What the ordering says of crossings, counted one by one. */
static uint32_t crossings(void) {
    uint32_t count = 0;
    for (uint32_t i = 0; i + 1 < l.layer_count; i++)
        for (uint32_t a = 0; a < l.layers[i].count; a++)
            for (uint32_t b = a + 1; b < l.layers[i].count; b++) {
                const gx_stop *left = &l.stops[l.layers[i].stops[a]], *right = &l.stops[l.layers[i].stops[b]];
                for (uint32_t x = 0; x < left->down_count; x++)
                    for (uint32_t y = 0; y < right->down_count; y++)
                        count += l.stops[left->down[x]].order > l.stops[right->down[y]].order;
            }
    return count;
}

static void check(void) {
    lay_out();
    check_places();
    check_routes();
    assert_int_equal(l.crossings, crossings());
}

/* --- Small graphs -------------------------------------------------------------------------------------------------- */

static void nothing_has_no_layers(void **state) {
    (void)state;
    graph_begin(&made, 0);
    check();
    assert_int_equal(l.layer_count, 0);
    assert_int_equal(l.width, 0);
    gx_layering_free(&l);
}

static void one_stands_alone(void **state) {
    (void)state;
    graph_begin(&made, 1);
    check();
    assert_int_equal(l.layer_count, 1);
    assert_int_equal(l.stops[0].at, nodes[0].before);
    assert_int_equal(l.width, nodes[0].before + nodes[0].after);
    gx_layering_free(&l);
}

static void a_chain_is_straight(void **state) {
    (void)state;
    graph_begin(&made, 50);
    for (uint32_t n = 0; n + 1 < 50; n++) graph_edge(&made, n, n + 1, false);
    check();
    assert_int_equal(l.layer_count, 99);
    for (uint32_t s = 0; s < l.stop_count; s++) assert_int_equal(l.stops[s].at, l.stops[0].at);
    gx_layering_free(&l);
}

static void a_component_is_below_all_that_lead_to_it(void **state) {
    (void)state;
    graph_begin(&made, 5);
    graph_edge(&made, 0, 1, false);
    graph_edge(&made, 0, 4, false);
    graph_edge(&made, 1, 2, false);
    graph_edge(&made, 2, 4, false);
    graph_edge(&made, 3, 4, false);
    check();
    assert_int_equal(layer_of(0), 0);
    assert_int_equal(layer_of(3), 0);
    assert_int_equal(layer_of(4), 6);
    assert_int_equal(l.crossings, 0);
    gx_layering_free(&l);
}

static void a_long_edge_is_straight_between_its_ends(void **state) {
    (void)state;
    graph_begin(&made, 6);
    for (uint32_t n = 0; n + 1 < 6; n++) {
        if (n == 0) graph_edge(&made, 0, 5, false);
        graph_edge(&made, n, n + 1, false);
    }
    check();
    const gx_route *route = &l.routes[0];
    assert_int_equal(route->count, 11);
    for (uint32_t i = 2; i + 1 < route->count; i++)
        assert_int_equal(l.stops[route->stops[i]].at, l.stops[route->stops[1]].at);
    gx_layering_free(&l);
}

static void what_closes_a_cycle_is_turned_around(void **state) {
    (void)state;
    graph_begin(&made, 3);
    graph_edge(&made, 0, 1, false);
    graph_edge(&made, 1, 2, false);
    graph_edge(&made, 2, 1, true);
    check();
    assert_true(layer_of(0) < layer_of(1) && layer_of(1) < layer_of(2));
    assert_int_equal(l.stops[l.routes[2].stops[l.routes[2].count - 2]].kind,
                     GX_STOP_LABEL); /* next to where it comes from */
    gx_layering_free(&l);
}

static void what_leads_to_itself_has_no_way(void **state) {
    (void)state;
    graph_begin(&made, 2);
    graph_edge(&made, 0, 1, false);
    graph_edge(&made, 1, 1, true);
    graph_edge(&made, 1, 1, true);
    check();
    assert_int_equal(l.layer_count, 3);
    gx_layering_free(&l);
}

static void edges_between_the_same_two_have_places_of_their_own(void **state) {
    (void)state;
    graph_begin(&made, 2);
    for (int i = 0; i < 5; i++) graph_edge(&made, 0, 1, false);
    check();
    assert_int_equal(l.layers[1].count, 5);
    assert_int_equal(l.crossings, 0);
    gx_layering_free(&l);
}

/* --- Crossings ----------------------------------------------------------------------------------------------------- */

static uint32_t crossings_of_complete(uint32_t upper, uint32_t lower) {
    graph_begin(&made, upper + lower);
    for (uint32_t a = 0; a < upper; a++)
        for (uint32_t b = 0; b < lower; b++) graph_edge(&made, a, upper + b, false);
    check();
    gx_layering_free(&l);
    return l.crossings;
}

/* In two layers, a(a-1)/2 * b(b-1)/2: no order has fewer. */
static void two_layers_where_all_lead_to_all_cross_as_often_as_they_must(void **state) {
    (void)state;
    assert_int_equal(crossings_of_complete(1, 7), 0);
    assert_int_equal(crossings_of_complete(2, 2), 1);
    assert_int_equal(crossings_of_complete(3, 3), 9);
    assert_int_equal(crossings_of_complete(2, 5), 10);
}

static void a_tree_does_not_cross(void **state) {
    (void)state;
    graph_begin(&made, 63);
    for (uint32_t n = 0; n < 31; n++) {
        graph_edge(&made, n, 62 - 2 * (30 - n), false);
        graph_edge(&made, n, 61 - 2 * (30 - n), false);
    }
    check();
    assert_int_equal(l.crossings, 0);
    gx_layering_free(&l);
}

/* Names are in the wrong order: n0 feeds the last, n9 the first. */
static void lanes_that_do_not_touch_do_not_cross(void **state) {
    (void)state;
    graph_begin(&made, 30);
    for (uint32_t n = 0; n < 20; n++) graph_edge(&made, n, n < 10 ? 19 - n : 20 + (n * 7 + 3) % 10, false);
    check();
    assert_int_equal(l.crossings, 0);
    gx_layering_free(&l);
}

/* A ladder with a line around it, which can be drawn without a crossing, though not in the order of the names. */
static void a_cycle_beside_long_edges_does_not_cross(void **state) {
    (void)state;
    graph_begin(&made, 6); /* a b c d, lines, other */
    graph_edge(&made, 0, 1, false);
    graph_edge(&made, 0, 3, false);
    graph_edge(&made, 1, 2, false);
    graph_edge(&made, 2, 0, true);
    graph_edge(&made, 2, 3, false);
    graph_edge(&made, 4, 0, false);
    graph_edge(&made, 4, 3, false);
    graph_edge(&made, 5, 1, false);
    check();
    assert_int_equal(l.crossings, 0);
    gx_layering_free(&l);
}

/* --- Large ones ---------------------------------------------------------------------------------------------------- */

static void wide_deep_and_dense_ones_keep_all_rules(void **state) {
    (void)state;
    for (uint32_t seed = 1; seed <= 40; seed++) {
        graph_random(&made, 2 + seed * 3, (2 + seed * 3) * (1 + seed % 3), 1 + seed % 17, seed);
        check();
        gx_layering_free(&l);
    }
    graph_begin(&made, 1001);
    for (uint32_t n = 1; n < 1001; n++) graph_edge(&made, 0, n, false);
    check();
    assert_int_equal(l.crossings, 0);
    gx_layering_free(&l);
}

static void a_thousand_components_are_laid_out(void **state) {
    (void)state;
    graph_random(&made, 1000, 3000, 60, 7);
    lay_out();
    check_places();
    check_routes();
    gx_layering_free(&l);
}

static void the_same_graph_is_always_laid_out_the_same(void **state) {
    (void)state;
    graph_random(&made, 80, 160, 12, 3);
    lay_out();
    gx_layering first = l;
    lay_out();
    assert_int_equal(first.stop_count, l.stop_count);
    for (uint32_t s = 0; s < l.stop_count; s++) {
        assert_int_equal(first.stops[s].at, l.stops[s].at);
        assert_int_equal(first.stops[s].order, l.stops[s].order);
    }
    gx_layering_free(&first);
    gx_layering_free(&l);
}

/* --- Bounds -------------------------------------------------------------------------------------------------------- */

static void what_is_too_large_is_refused_by_name(void **state) {
    (void)state;
    gale_error error = GALE_ERROR_INIT;
    graph_begin(&made, 2);
    made.graph.node_count = GX_LAYERING_NODES + 1;
    assert_int_equal(gx_layering_new(&heap, &made.graph, &extents, &l, &error), GALE_TOO_LARGE);
    assert_string_equal(error.text, "'made' is too large to be drawn: it has 4097 components, and 4096 is the most");
    graph_begin(&made, 2);
    made.graph.edge_count = GX_LAYERING_EDGES + 1;
    assert_int_equal(gx_layering_new(&heap, &made.graph, &extents, &l, &error), GALE_TOO_LARGE);
    assert_string_equal(error.text, "'made' is too large to be drawn: it has 16385 streams, and 16384 is the most");
}

/* A chain, and from each of its components an edge to the last. */
static void what_would_pass_too_many_places_is_refused(void **state) {
    (void)state;
    gale_error error = GALE_ERROR_INIT;
    graph_begin(&made, 1000);
    for (uint32_t n = 0; n < 999; n++) {
        graph_edge(&made, n, n + 1, false);
        graph_edge(&made, n, 999, false);
    }
    assert_int_equal(gx_layering_new(&heap, &made.graph, &extents, &l, &error), GALE_TOO_LARGE);
    assert_string_equal(
        error.text, "'made' is too large to be drawn: its streams would pass 1000000 places, and 131072 is the most");
}

static void without_memory_nothing_is_left_behind(void **state) {
    (void)state;
    graph_random(&made, 9, 18, 4, 5);
    for (size_t n = 1, failed = 1; failed; n++) {
        counting_allocator counting = { .fail_at = n };
        gale_allocator handle = counting_handle(&counting);
        gx_heap small;
        gale_error error = GALE_ERROR_INIT;
        gx_heap_init(&small, &handle);
        int rc = gx_layering_new(&small, &made.graph, &extents, &l, &error);
        bool whole = rc == 0 && gx_ordering_do(&l) && gx_placing_do(&l);
        failed = counting.calls >= n;
        assert_int_equal(whole, !failed);
        if (rc < 0) assert_int_equal(error.code, GALE_NO_MEMORY);
        if (rc == 0) gx_layering_free(&l);
        assert_int_equal(counting.blocks, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_has_no_layers, fresh, done),
        cmocka_unit_test_setup_teardown(one_stands_alone, fresh, done),
        cmocka_unit_test_setup_teardown(a_chain_is_straight, fresh, done),
        cmocka_unit_test_setup_teardown(a_component_is_below_all_that_lead_to_it, fresh, done),
        cmocka_unit_test_setup_teardown(a_long_edge_is_straight_between_its_ends, fresh, done),
        cmocka_unit_test_setup_teardown(what_closes_a_cycle_is_turned_around, fresh, done),
        cmocka_unit_test_setup_teardown(what_leads_to_itself_has_no_way, fresh, done),
        cmocka_unit_test_setup_teardown(edges_between_the_same_two_have_places_of_their_own, fresh, done),
        cmocka_unit_test_setup_teardown(two_layers_where_all_lead_to_all_cross_as_often_as_they_must, fresh, done),
        cmocka_unit_test_setup_teardown(a_tree_does_not_cross, fresh, done),
        cmocka_unit_test_setup_teardown(lanes_that_do_not_touch_do_not_cross, fresh, done),
        cmocka_unit_test_setup_teardown(a_cycle_beside_long_edges_does_not_cross, fresh, done),
        cmocka_unit_test_setup_teardown(wide_deep_and_dense_ones_keep_all_rules, fresh, done),
        cmocka_unit_test_setup_teardown(a_thousand_components_are_laid_out, fresh, done),
        cmocka_unit_test_setup_teardown(the_same_graph_is_always_laid_out_the_same, fresh, done),
        cmocka_unit_test_setup_teardown(what_is_too_large_is_refused_by_name, fresh, done),
        cmocka_unit_test_setup_teardown(what_would_pass_too_many_places_is_refused, fresh, done),
        cmocka_unit_test_setup_teardown(without_memory_nothing_is_left_behind, fresh, done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
