#include "draw/graph.h"

#include "harness/cm.h"
#include "harness/counting_allocator.h"

static int next(void *self, gale_collector *out, gale_wait *wait) {
    (void)self;
    (void)out;
    (void)wait;
    return GALE_NEXT_DONE;
}

static int execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    (void)self;
    (void)tuple;
    (void)out;
    return 0;
}

static const gale_spout_ops spout_ops = { .size = sizeof spout_ops, .name = "s", .next = next };
static const gale_bolt_ops bolt_ops = { .size = sizeof bolt_ops, .name = "b", .execute = execute };
static const gale_output outputs[] = { { NULL, "a, b" }, { "side", "x" } };

static gx_heap heap;
static gale_topology *topology;
static gx_graph graph;

static int fresh(void **state) {
    (void)state;
    gx_heap_init(&heap, NULL);
    topology = gale_topology_new("drawn");
    return topology ? 0 : -1;
}

static int done(void **state) {
    (void)state;
    gale_topology_free(topology);
    return gx_heap_reserved(&heap) == 0 ? 0 : -1;
}

static void spout(const char *name) {
    gale_spout s = { .size = sizeof s, .ops = &spout_ops, .outputs = outputs, .output_count = 2 };
    assert_int_equal(gale_topology_add_spout(topology, name, s, 1), 0);
}

static void bolt(const char *name, uint32_t parallelism) {
    gale_bolt b = { .size = sizeof b, .ops = &bolt_ops, .outputs = outputs, .output_count = 2 };
    assert_int_equal(gale_topology_add_bolt(topology, name, b, parallelism), 0);
}

static void edge(const char *from, const char *stream, const char *to) {
    assert_int_equal(gale_topology_subscribe(topology, to, from, stream, gale_fields(stream ? "x" : "a, b")), 0);
}

static void make(void) {
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gx_graph_new(&heap, topology, &graph, &error), 0);
}

static void assert_edge(uint32_t number, uint32_t from, const char *stream, uint32_t to, bool back) {
    assert_int_equal(graph.edges[number].from, from);
    assert_string_equal(graph.edges[number].stream, stream);
    assert_int_equal(graph.edges[number].to, to);
    assert_int_equal(graph.edges[number].back, back);
}

static void components_and_edges_are_in_the_order_of_their_names(void **state) {
    (void)state;
    spout("words");
    bolt("sink", 1);
    bolt("count", 3);
    edge("count", NULL, "sink");
    edge("words", "side", "sink");
    edge("words", NULL, "count");
    edge("words", NULL, "sink");
    make();
    assert_int_equal(graph.node_count, 3);
    assert_string_equal(graph.nodes[0].name, "count");
    assert_int_equal(graph.nodes[0].tasks, 3);
    assert_null(graph.nodes[0].class_name);
    assert_true(graph.nodes[2].is_spout);
    assert_int_equal(graph.nodes[2].output_count, 3);
    assert_int_equal(graph.edge_count, 4);
    assert_edge(0, 0, "default", 1, false);
    assert_edge(1, 2, "default", 0, false);
    assert_edge(2, 2, "default", 1, false);
    assert_edge(3, 2, "side", 1, false);
    assert_int_equal(graph.edges[0].field_count, 2);
    gx_graph_free(&graph);
}

static void what_closes_a_cycle_is_what_the_plan_says(void **state) {
    (void)state;
    spout("s");
    bolt("a", 1);
    bolt("b", 1);
    edge("s", NULL, "b");
    edge("b", NULL, "a");
    edge("a", NULL, "b");
    edge("a", "side", "a");
    make();
    assert_edge(0, 0, "default", 1, true);
    assert_edge(1, 0, "side", 0, true);
    assert_edge(2, 1, "default", 0, false);
    assert_edge(3, 2, "default", 1, false);
    gx_graph_free(&graph);
}

static void acker_tasks_are_no_component_of_it(void **state) {
    (void)state;
    spout("s");
    bolt("a", 1);
    edge("s", NULL, "a");
    assert_int_equal(gale_topology_set(topology, NULL, "topology.acker.executors", gale_i64(2)), 0);
    make();
    assert_int_equal(graph.node_count, 2);
    assert_edge(0, 1, "default", 0, false);
    gx_graph_free(&graph);
}

static void a_component_says_what_it_is_made_of(void **state) {
    (void)state;
    spout("s");
    assert_int_equal(gx_topology_set_class(topology, "s", "a.First"), 0);
    assert_int_equal(gx_topology_set_class(topology, "s", "a.Second"), 0);
    make();
    assert_string_equal(graph.nodes[0].class_name, "a.Second");
    gx_graph_free(&graph);
}

static void without_memory_nothing_is_left_behind(void **state) {
    (void)state;
    spout("s");
    bolt("a", 2);
    edge("s", NULL, "a");
    for (size_t n = 1, failed = 1; failed; n++) {
        counting_allocator counting = { .fail_at = n };
        gale_allocator handle = counting_handle(&counting);
        gx_heap small;
        gale_error error = GALE_ERROR_INIT;
        gx_heap_init(&small, &handle);
        int rc = gx_graph_new(&small, topology, &graph, &error);
        failed = counting.calls >= n;
        assert_int_equal(rc, failed ? GALE_NO_MEMORY : GALE_OK);
        if (rc == 0) gx_graph_free(&graph);
        assert_int_equal(counting.blocks, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(components_and_edges_are_in_the_order_of_their_names, fresh, done),
        cmocka_unit_test_setup_teardown(what_closes_a_cycle_is_what_the_plan_says, fresh, done),
        cmocka_unit_test_setup_teardown(acker_tasks_are_no_component_of_it, fresh, done),
        cmocka_unit_test_setup_teardown(a_component_says_what_it_is_made_of, fresh, done),
        cmocka_unit_test_setup_teardown(without_memory_nothing_is_left_behind, fresh, done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
