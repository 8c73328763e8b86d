#include "topology/plan.h"

#include "harness/cm.h"
#include "topology/faults.h"

#include <stdio.h>
#include <string.h>

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
static const gale_output outputs[] = { { NULL, "a, b, c" }, { "side", "x" } };

static gx_heap heap;
static gale_topology *topology;
static gx_plan *plan;

static int fresh(void **state) {
    (void)state;
    gx_heap_init(&heap, NULL);
    plan = NULL;
    topology = gale_topology_new("planned");
    return topology ? 0 : -1;
}

static int done(void **state) {
    (void)state;
    gx_plan_free(plan);
    gale_topology_free(topology);
    return gx_heap_reserved(&heap) == 0 ? 0 : -1;
}

static void spout(const char *name, uint32_t parallelism) {
    gale_spout s = { .size = sizeof s, .ops = &spout_ops, .outputs = outputs, .output_count = 2 };
    assert_int_equal(gale_topology_add_spout(topology, name, s, parallelism), 0);
}

static void bolt(const char *name, uint32_t parallelism) {
    gale_bolt b = { .size = sizeof b, .ops = &bolt_ops, .outputs = outputs, .output_count = 2 };
    assert_int_equal(gale_topology_add_bolt(topology, name, b, parallelism), 0);
}

static void joined(const char *from, const char *to, const char *stream, gale_grouping grouping) {
    assert_int_equal(gale_topology_subscribe(topology, to, from, stream, grouping), 0);
}

static void edge(const char *from, const char *to) {
    joined(from, to, NULL, gale_shuffle());
}

static void set(const char *component, const char *key, gale_value value) {
    assert_int_equal(gale_topology_set(topology, component, key, value), 0);
}

static void make(uint32_t executors) {
    gale_error e = GALE_ERROR_INIT;
    if (gale_topology_check(topology, &e) < 0) fail_msg("%s", e.text);
    assert_int_equal(gx_plan_new(&heap, topology, executors, false, &plan, &e), GALE_OK);
}

static const gx_plan_component *named(const char *name) {
    for (uint32_t i = 0; i < plan->component_count; i++)
        if (strcmp(plan->components[i].built->name, name) == 0) return &plan->components[i];
    fail_msg("no component '%s'", name);
    return NULL;
}

/* The only edge from one component to another on any stream, or NULL. */
static const gx_plan_edge *edge_between(const char *from, const char *to) {
    const gx_plan_component *c = named(from);
    for (uint32_t s = 0; s < c->stream_count; s++)
        for (uint32_t e = 0; e < c->streams[s].edge_count; e++)
            if (&plan->components[c->streams[s].edges[e].component] == named(to)) return &c->streams[s].edges[e];
    return NULL;
}

/* The gates of a component's tasks as the names of the components whose tasks they are, in order, each whole. */
static void check_gates(const char *name, const char *expected) {
    const gx_plan_component *c = named(name);
    for (uint32_t t = 0; t < c->task_count; t++) {
        const gx_plan_task *task = &plan->tasks[c->first_task + t];
        char text[200] = "";
        for (uint32_t i = 0; i < task->gate_count;) {
            const gx_plan_component *gate = &plan->components[plan->tasks[task->gates[i]].component];
            for (uint32_t k = 0; k < gate->task_count; k++, i++) {
                assert_true(i < task->gate_count);
                assert_int_equal(task->gates[i], gate->first_task + k);
            }
            if (*text) strcat(text, " ");
            strcat(text, gate->built->name);
        }
        assert_string_equal(text, expected);
    }
}

/* Ranks are a permutation, and every edge that is not a back edge goes up. */
static void check_ranks(void) {
    uint32_t seen = 0;
    for (uint32_t i = 0; i < plan->component_count; i++) {
        const gx_plan_component *c = &plan->components[i];
        assert_true(c->rank < plan->component_count && plan->component_count <= 32);
        assert_false(seen >> c->rank & 1);
        seen |= 1u << c->rank;
        for (uint32_t s = 0; s < c->stream_count; s++)
            for (uint32_t e = 0; e < c->streams[s].edge_count; e++) {
                const gx_plan_edge *to = &c->streams[s].edges[e];
                if (!to->back) assert_true(c->rank < plan->components[to->component].rank);
            }
    }
}

/* --- Tasks --- */

static void one_spout_alone_is_task_one(void **state) {
    (void)state;
    spout("only", 1);
    make(1);
    assert_int_equal(plan->component_count, 1);
    assert_int_equal(plan->task_count, 1);
    assert_int_equal(plan->components[0].first_task, 1);
    assert_int_equal(plan->tasks[1].gate_count, 0);
    assert_int_equal(plan->components[0].rank, 0);
    assert_string_equal(plan->schema.components[0]->name, "__system");
    assert_string_equal(plan->schema.components[1]->name, "only");
    assert_false(gx_plan_feeds(plan, 0, 0));
    assert_true(plan->acking);
    assert_int_equal(plan->timeout, 30 * GALE_SECOND);
}

static void tasks_are_numbered_in_byte_order_of_names(void **state) {
    (void)state;
    spout("words", 2);
    bolt("count", 3);
    bolt("Zoo", 1);
    bolt("\xc3\xa4rger", 2); /* above all of ASCII, however char is signed */
    bolt("count2", 1);
    edge("words", "count");
    edge("words", "Zoo");
    edge("words", "\xc3\xa4rger");
    edge("words", "count2");
    make(1);
    static const char *const order[] = { "Zoo", "count", "count2", "words", "\xc3\xa4rger" };
    static const uint16_t first[] = { 1, 2, 5, 6, 8 };
    assert_int_equal(plan->task_count, 9);
    assert_int_equal(plan->schema.task_count, 9);
    for (uint16_t i = 0; i < 5; i++) {
        const gx_plan_component *c = &plan->components[i];
        assert_string_equal(c->built->name, order[i]);
        assert_int_equal(c->first_task, first[i]);
        for (uint16_t k = 0; k < c->task_count; k++) {
            assert_int_equal(plan->tasks[first[i] + k].component, i);
            assert_int_equal(plan->tasks[first[i] + k].index, k);
            assert_string_equal(plan->schema.components[first[i] + k]->name, order[i]);
        }
    }
}

static void the_number_of_tasks_comes_from_the_configuration(void **state) {
    (void)state;
    spout("a", 2);
    bolt("b", 2);
    bolt("c", 9);
    bolt("d", 9);
    edge("a", "b");
    edge("a", "c");
    edge("a", "d");
    set("b", "topology.tasks", gale_i64(5));
    set(NULL, "topology.max.task.parallelism", gale_i64(4));
    set("d", "topology.max.task.parallelism", gale_i64(7));
    make(1);
    assert_int_equal(named("a")->task_count, 2);
    assert_int_equal(named("b")->task_count, 4);
    assert_int_equal(named("c")->task_count, 4);
    assert_int_equal(named("d")->task_count, 7);
    assert_int_equal(plan->task_count, 17);
}

static void as_many_tasks_as_there_may_be_are_planned(void **state) {
    (void)state;
    spout("s", 2);
    bolt("b", GALE_TASKS_MAX - 2);
    edge("s", "b");
    make(7);
    assert_int_equal(plan->task_count, GALE_TASKS_MAX);
    assert_int_equal(named("b")->first_task, 1);
    assert_int_equal(named("s")->first_task, GALE_TASKS_MAX - 1);
    assert_int_equal(plan->tasks[GALE_TASKS_MAX].gate_count, GALE_TASKS_MAX - 2);
    assert_int_equal(plan->tasks[GALE_TASKS_MAX - 2].executor, 6);
}

/* --- Streams and edges --- */

static void every_stream_lists_its_consumers_with_grouping_and_field_indices(void **state) {
    (void)state;
    spout("s", 1);
    bolt("all", 2);
    bolt("by", 3);
    bolt("one", 4);
    joined("s", "by", NULL, gale_fields("c, a"));
    joined("s", "all", NULL, gale_all());
    joined("s", "one", "side", gale_global());
    joined("s", "all", "side", gale_fields("x"));
    joined("all", "one", "side", gale_shuffle());
    make(1);
    const gx_plan_component *s = named("s");
    assert_int_equal(s->stream_count, 3); /* the last one for dead letters */
    assert_int_equal(s->streams[0].field_count, 3);
    assert_int_equal(s->streams[1].field_count, 1);
    assert_int_equal(s->streams[0].edge_count, 2);
    assert_int_equal(s->streams[1].edge_count, 2);
    const gx_plan_edge *all = &s->streams[0].edges[0], *by = &s->streams[0].edges[1];
    assert_int_equal(all->grouping, GALE_GROUPING_ALL);
    assert_int_equal(all->first_task, named("all")->first_task);
    assert_int_equal(all->task_count, 2);
    assert_int_equal(by->grouping, GALE_GROUPING_FIELDS);
    assert_int_equal(by->field_count, 2);
    assert_int_equal(by->fields[0], 2);
    assert_int_equal(by->fields[1], 0);
    assert_int_equal(by->task_count, 3);
    assert_int_equal(s->streams[1].edges[0].fields[0], 0);
    assert_int_equal(s->streams[1].edges[1].grouping, GALE_GROUPING_GLOBAL);
    assert_int_equal(named("all")->streams[0].edge_count, 0);
    assert_int_equal(named("all")->streams[1].edge_count, 1);
    assert_string_equal(s->schema.streams[1].name, "side");
    assert_string_equal(s->schema.streams[0].fields[1], "b");
}

static int choose(void *self, const gale_targets *targets, const gale_value *values, size_t count,
                  uint32_t *ret_indices) {
    (void)self, (void)targets, (void)values, (void)count, (void)ret_indices;
    return 0;
}

static void an_edge_has_what_its_grouping_needs(void **state) {
    (void)state;
    static const gale_custom_ops ops = { .size = sizeof ops, .name = "mine", .choose = choose };
    spout("s", 1);
    bolt("a", 2);
    bolt("b", 2);
    bolt("c", 2);
    joined("s", "a", NULL, gale_partial_key(NULL));
    joined("s", "b", NULL, gale_partial_key("c, b"));
    joined("s", "c", NULL, gale_custom(&ops, &heap, NULL));
    make(1);
    const gx_plan_edge *edges = named("s")->streams[0].edges;
    assert_int_equal(edges[0].field_count, 1); /* no name: the first value */
    assert_int_equal(edges[0].fields[0], 0);
    assert_int_equal(edges[1].field_count, 2);
    assert_int_equal(edges[1].fields[0], 2);
    assert_int_equal(edges[1].fields[1], 1);
    assert_int_equal(edges[2].grouping, GALE_GROUPING_CUSTOM);
    assert_int_equal(edges[2].field_count, 0);
    assert_string_equal(edges[2].consumer, "c");
    assert_string_equal(edges[2].subscription->source, "s");
    assert_ptr_equal(edges[2].subscription->custom.choose, choose);
    assert_ptr_equal(edges[2].subscription->user, &heap);
}

static void shuffle_is_load_aware_unless_the_configuration_says_otherwise(void **state) {
    (void)state;
    spout("s", 1);
    make(1);
    assert_true(plan->load_aware);
    gx_plan_free(plan);
    assert_int_equal(gale_topology_set(topology, NULL, "topology.disable.loadaware.messaging", gale_bool(true)), 0);
    make(1);
    assert_false(plan->load_aware);
    gx_plan_free(plan);
    assert_int_equal(gale_topology_set(topology, NULL, "topology.disable.loadaware.messaging", gale_bool(false)), 0);
    make(1);
    assert_true(plan->load_aware);
}

static void a_component_knows_its_inputs_for_looking_up_fields(void **state) {
    (void)state;
    spout("s", 1);
    bolt("b", 1);
    joined("s", "b", NULL, gale_shuffle());
    joined("b", "b", "side", gale_shuffle());
    make(1);
    gale_context context = { .size = sizeof context, .inputs = &named("b")->input_table };
    assert_int_equal(gale_context_field(&context, "s", NULL, "c"), 2);
    assert_int_equal(gale_context_field(&context, "b", "side", "x"), 0);
    assert_int_equal(gale_context_field(&context, "b", NULL, "a"), -1);
    assert_int_equal(gale_context_field(&context, "s", NULL, "d"), -1);
    assert_int_equal(named("s")->input_table.count, 0);
}

static void feeding_follows_the_edges_between_executors(void **state) {
    (void)state;
    spout("s", 1);
    bolt("b", 1);
    bolt("c", 2);
    edge("s", "b");
    edge("b", "c");
    set("b", "gale.executor", gale_i64(2));
    make(3); /* s on 0, b on 2, c on 0 and 1 */
    static const bool expected[3][3] = { { false, false, true }, { false, false, false }, { true, true, false } };
    for (uint32_t from = 0; from < 3; from++)
        for (uint32_t to = 0; to < 3; to++) assert_int_equal(gx_plan_feeds(plan, from, to), expected[from][to]);
}

/* --- Cycles --- */

static void a_pipeline_has_no_back_edge_and_is_gated_by_what_it_feeds(void **state) {
    (void)state;
    spout("z", 1);
    bolt("y", 2);
    bolt("x", 3);
    bolt("w", 1);
    edge("z", "y");
    edge("y", "x");
    edge("x", "w");
    edge("z", "w");
    make(2);
    check_ranks();
    assert_int_equal(named("z")->rank, 0);
    assert_int_equal(named("w")->rank, 3);
    assert_false(edge_between("z", "y")->back);
    check_gates("z", "w y");
    check_gates("y", "x");
    check_gates("x", "w");
    check_gates("w", "");
}

static void an_edge_that_drops_gates_nobody_and_has_counters_for_each_task(void **state) {
    (void)state;
    spout("s", 1);
    bolt("a", 2);
    bolt("b", 3);
    edge("s", "a");
    joined("s", "b", NULL, gale_drop_oldest(gale_shuffle()));
    joined("a", "b", NULL, gale_drop_newest(gale_shuffle()));
    joined("a", "b", "side", gale_fields("x"));
    make(1);
    check_ranks();
    check_gates("s", "a");
    check_gates("a", "b"); /* by the stream that drops nothing */
    const gx_plan_component *b = named("b");
    assert_int_equal(b->drop_count, 2);
    assert_int_equal(plan->drop_slots, 6);
    assert_int_equal(b->drops[0].policy, GALE_DROP_OLDEST);
    assert_int_equal(b->drops[0].source, named("s") - plan->components);
    assert_int_equal(b->drops[1].policy, GALE_DROP_NEWEST);
    assert_int_equal(b->drops[1].first_slot, 3);
    assert_int_equal(b->drops[1].lane, 2);
    assert_int_equal(named("a")->drop_count, 0);
}

static void a_self_loop_is_a_back_edge_that_gates_the_spouts_above_and_not_itself(void **state) {
    (void)state;
    spout("s", 1);
    bolt("b", 2);
    bolt("c", 1);
    edge("s", "b");
    joined("b", "b", "side", gale_fields("x"));
    edge("b", "c");
    make(1);
    check_ranks();
    assert_true(edge_between("b", "b")->back);
    assert_false(edge_between("s", "b")->back);
    check_gates("b", "c");
    check_gates("s", "b");
    check_gates("c", "");
}

static void a_cycle_of_two_has_one_back_edge_where_the_walk_closes_it(void **state) {
    (void)state;
    spout("s", 1);
    bolt("a", 1);
    bolt("b", 1);
    edge("s", "b");
    edge("b", "a");
    edge("a", "b");
    make(1);
    check_ranks();
    assert_false(edge_between("b", "a")->back);
    assert_true(edge_between("a", "b")->back);
    check_gates("s", "b");
    check_gates("b", "a");
    check_gates("a", "");
}

static void a_spout_far_above_a_cycle_is_held_by_it_and_one_beside_it_is_not(void **state) {
    (void)state;
    spout("far", 1);
    spout("other", 1);
    bolt("a", 1);
    bolt("b", 1);
    bolt("c", 1);
    bolt("d", 1);
    edge("far", "a");
    edge("a", "b");
    edge("b", "c");
    edge("c", "b"); /* back to b */
    edge("c", "d");
    edge("other", "d");
    make(1);
    check_ranks();
    assert_true(edge_between("c", "b")->back);
    check_gates("far", "a b");
    check_gates("a", "b");
    check_gates("b", "c");
    check_gates("c", "d");
    check_gates("other", "d");
}

static void a_cycle_that_no_spout_reaches_is_planned_too(void **state) {
    (void)state;
    spout("s", 1);
    bolt("a", 1);
    bolt("b", 1);
    bolt("sink", 1);
    edge("s", "sink");
    edge("a", "b");
    edge("b", "a");
    edge("b", "sink");
    make(1);
    check_ranks();
    assert_true(edge_between("b", "a")->back);
    assert_false(edge_between("a", "b")->back);
    check_gates("s", "sink");
    check_gates("a", "b");
    check_gates("b", "sink");
}

/* Gates without back edges can have no cycle, whatever the graph: the ranks prove it. All graphs of a spout and three
 * bolts in which each bolt has an input. */
static void every_small_graph_has_ranks_that_prove_its_gates_free_of_cycles(void **state) {
    (void)state;
    static const char *const names[] = { "s", "a", "b", "c" };
    for (uint32_t graph = 0; graph < 1u << 12; graph++) {
        if (!(graph & 0xf) || !(graph >> 4 & 0xf) || !(graph >> 8)) continue;
        gale_topology_free(topology);
        topology = gale_topology_new("small");
        spout("s", 1);
        for (int to = 1; to < 4; to++) bolt(names[to], 1);
        for (int to = 1; to < 4; to++)
            for (int from = 0; from < 4; from++)
                if (graph >> (4 * (to - 1)) >> from & 1) edge(names[from], names[to]);
        make(1);
        check_ranks();
        for (uint16_t t = 1; t <= plan->task_count; t++)
            for (uint32_t g = 0; g < plan->tasks[t].gate_count; g++) {
                const gx_plan_component *from = &plan->components[plan->tasks[t].component];
                assert_true(from->rank < plan->components[plan->tasks[plan->tasks[t].gates[g]].component].rank);
            }
        gx_plan_free(plan);
        plan = NULL;
    }
}

static void a_long_chain_is_planned(void **state) {
    (void)state;
    enum { LENGTH = 400 };
    char from[16] = "s", to[16];
    spout("s", 1);
    for (int i = 0; i < LENGTH; i++) {
        sprintf(to, "b%05d", i);
        bolt(to, 1);
        edge(from, to);
        strcpy(from, to);
    }
    edge(from, "b00000");
    make(4);
    assert_int_equal(named("s")->rank, 0);
    for (uint32_t i = 0; i < LENGTH; i++) assert_int_equal(plan->components[i].rank, i + 1);
    assert_true(edge_between(from, "b00000")->back);
    check_gates("s", "b00000");
}

/* --- Placement --- */

static void the_tasks_of_a_component_spread_evenly_and_first_tasks_stay_together(void **state) {
    (void)state;
    spout("s", 1);
    bolt("b", 4);
    bolt("c", 7);
    edge("s", "b");
    edge("b", "c");
    for (uint32_t executors = 1; executors <= 9; executors++) {
        make(executors);
        assert_int_equal(plan->executor_count, executors);
        for (uint32_t t = 1; t <= plan->task_count; t++) {
            const gx_plan_task *task = &plan->tasks[t];
            uint32_t count = plan->components[task->component].task_count;
            assert_int_equal(task->executor, task->index * executors / count);
        }
        gx_plan_free(plan);
        plan = NULL;
    }
}

static void each_spout_begins_at_an_executor_of_its_own_with_what_it_reaches_first(void **state) {
    (void)state;
    spout("a", 1);
    spout("b", 1);
    spout("c", 1);
    bolt("x", 1);
    bolt("y", 2);
    bolt("z", 1);
    edge("a", "x");
    edge("c", "x"); /* where a and c meet */
    edge("b", "z");
    edge("z", "y");
    set(NULL, "topology.acker.executors", gale_i64(1)); /* ackers are of none */
    for (uint32_t executors = 1; executors <= 3; executors++) {
        make(executors);
        static const char *const names[] = { "a", "x", "b", "z", "y", "c" };
        static const uint32_t pipelines[] = { 0, 0, 1, 1, 1, 2 };
        for (int i = 0; i < 6; i++) {
            const gx_plan_component *c = named(names[i]);
            assert_int_equal(c->pipeline, pipelines[i]);
            assert_int_equal(plan->tasks[c->first_task].executor, c->pipeline % executors);
        }
        assert_int_equal(plan->tasks[named("y")->first_task + 1].executor, (executors / 2 + 1) % executors);
        assert_int_equal(plan->tasks[plan->first_acker].executor, 0);
        gx_plan_free(plan);
        plan = NULL;
    }
}

static void a_component_may_say_its_executor(void **state) {
    (void)state;
    spout("s", 2);
    bolt("b", 3);
    edge("s", "b");
    set("b", "gale.executor", gale_i64(1));
    make(2);
    for (uint16_t t = 0; t < 3; t++) assert_int_equal(plan->tasks[named("b")->first_task + t].executor, 1);
    assert_int_equal(plan->tasks[named("s")->first_task].executor, 0);
    assert_int_equal(plan->tasks[named("s")->first_task + 1].executor, 1);
}

static void an_executor_that_does_not_exist_is_an_error_that_says_which_exist(void **state) {
    (void)state;
    spout("s", 1);
    bolt("b", 1);
    edge("s", "b");
    set("b", "gale.executor", gale_i64(2));
    gale_error e = GALE_ERROR_INIT;
    assert_int_equal(gx_plan_new(&heap, topology, 2, false, &plan, &e), GALE_CONFIG);
    assert_null(plan);
    assert_string_equal(e.text, "component 'b': gale.executor is 2, but there are 2 executors (0 to 1)");
    assert_int_equal(gx_heap_reserved(&heap), 0);
    assert_int_equal(gx_plan_new(&heap, topology, 2, false, &plan, NULL), GALE_CONFIG);
    make(3);
}

/* --- Configuration --- */

static void tick_period_and_pending_bound_come_from_the_overlaid_configuration(void **state) {
    (void)state;
    spout("s", 1);
    spout("t", 1);
    bolt("b", 1);
    bolt("c", 1);
    edge("s", "b");
    edge("t", "c");
    set(NULL, "topology.tick.tuple.freq.secs", gale_i64(3));
    set("c", "topology.tick.tuple.freq.secs", gale_f64(0.25));
    set(NULL, "topology.max.spout.pending", gale_i64(100));
    set("t", "topology.max.spout.pending", gale_i64(7));
    make(1);
    assert_int_equal(named("b")->tick_period, 3 * GALE_SECOND);
    assert_int_equal(named("c")->tick_period, GALE_SECOND / 4);
    assert_int_equal(named("s")->tick_period, 0);
    assert_int_equal(named("s")->max_pending, 100);
    assert_int_equal(named("t")->max_pending, 7);
    assert_int_equal(gale_config_i64(named("t")->config, "topology.max.spout.pending", 0), 7);
}

static void what_is_not_configured_has_no_ticks_and_no_bound(void **state) {
    (void)state;
    spout("s", 1);
    bolt("b", 1);
    edge("s", "b");
    set(NULL, "topology.max.spout.pending", gale_i64(0));
    make(1);
    assert_int_equal(named("b")->tick_period, 0);
    assert_int_equal(named("s")->max_pending, UINT64_MAX);
}

static void the_shortest_and_longest_times_stay_within_64_bits(void **state) {
    (void)state;
    spout("s", 1);
    bolt("b", 1);
    edge("s", "b");
    set(NULL, "topology.message.timeout.secs", gale_f64(9e9));
    set(NULL, "topology.tick.tuple.freq.secs", gale_f64(1e-9));
    make(1);
    assert_int_equal(plan->timeout, INT64_C(9000000000000000000));
    assert_int_equal(named("b")->tick_period, 1);
}

static void acking_and_timeouts_can_be_turned_off(void **state) {
    (void)state;
    spout("s", 1);
    set(NULL, "topology.message.timeout.secs", gale_f64(1.5));
    make(1);
    assert_int_equal(plan->timeout, 1500 * GALE_MILLISECOND);
    gx_plan_free(plan);
    plan = NULL;
    set(NULL, "topology.enable.message.timeouts", gale_bool(false));
    set(NULL, "topology.acker.executors", gale_i64(0));
    make(1);
    assert_int_equal(plan->timeout, 0);
    assert_false(plan->acking);
}

/* --- Faults --- */

static void the_allocation_that_fails_leaves_nothing_behind(void **state) {
    (void)state;
    spout("s", 2);
    bolt("a", 2);
    bolt("b", 1);
    joined("s", "a", NULL, gale_fields("a, b"));
    edge("a", "b");
    joined("b", "a", "side", gale_shuffle());
    set("a", "topology.tick.tuple.freq.secs", gale_i64(1));
    long n = 0;
    do {
        gale_error e = GALE_ERROR_INIT;
        fail_call(++n);
        int code = gx_plan_new(&heap, topology, 2, false, &plan, &e);
        bool failed = has_failed;
        fail_call(0);
        assert_int_equal(code, failed ? GALE_NO_MEMORY : GALE_OK);
        if (failed) {
            assert_null(plan);
            assert_int_equal(gx_heap_reserved(&heap), 0);
            assert_int_equal(e.code, GALE_NO_MEMORY);
            assert_string_equal(e.text, "no memory for the plan of 'planned'");
        }
    } while (!plan);
    assert_true(n > 20);
    check_ranks();
}

#define PLAN_TEST(name) cmocka_unit_test_setup_teardown(name, fresh, done)

int main(void) {
    gx_plan_free(NULL);
    const struct CMUnitTest tests[] = {
        PLAN_TEST(one_spout_alone_is_task_one),
        PLAN_TEST(tasks_are_numbered_in_byte_order_of_names),
        PLAN_TEST(the_number_of_tasks_comes_from_the_configuration),
        PLAN_TEST(as_many_tasks_as_there_may_be_are_planned),
        PLAN_TEST(every_stream_lists_its_consumers_with_grouping_and_field_indices),
        PLAN_TEST(an_edge_has_what_its_grouping_needs),
        PLAN_TEST(shuffle_is_load_aware_unless_the_configuration_says_otherwise),
        PLAN_TEST(a_component_knows_its_inputs_for_looking_up_fields),
        PLAN_TEST(feeding_follows_the_edges_between_executors),
        PLAN_TEST(a_pipeline_has_no_back_edge_and_is_gated_by_what_it_feeds),
        PLAN_TEST(an_edge_that_drops_gates_nobody_and_has_counters_for_each_task),
        PLAN_TEST(a_self_loop_is_a_back_edge_that_gates_the_spouts_above_and_not_itself),
        PLAN_TEST(a_cycle_of_two_has_one_back_edge_where_the_walk_closes_it),
        PLAN_TEST(a_spout_far_above_a_cycle_is_held_by_it_and_one_beside_it_is_not),
        PLAN_TEST(a_cycle_that_no_spout_reaches_is_planned_too),
        PLAN_TEST(every_small_graph_has_ranks_that_prove_its_gates_free_of_cycles),
        PLAN_TEST(a_long_chain_is_planned),
        PLAN_TEST(the_tasks_of_a_component_spread_evenly_and_first_tasks_stay_together),
        PLAN_TEST(each_spout_begins_at_an_executor_of_its_own_with_what_it_reaches_first),
        PLAN_TEST(a_component_may_say_its_executor),
        PLAN_TEST(an_executor_that_does_not_exist_is_an_error_that_says_which_exist),
        PLAN_TEST(tick_period_and_pending_bound_come_from_the_overlaid_configuration),
        PLAN_TEST(what_is_not_configured_has_no_ticks_and_no_bound),
        PLAN_TEST(the_shortest_and_longest_times_stay_within_64_bits),
        PLAN_TEST(acking_and_timeouts_can_be_turned_off),
        PLAN_TEST(the_allocation_that_fails_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
