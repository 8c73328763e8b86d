#include "engine/router.h"
#include "tuple/row.h"

#include "harness/cm.h"
#include "harness/counting_allocator.h"
#include "tuple/row.h"

#include <stdio.h>

enum { EDGES_MAX = 8, TARGETS_MAX = 64 };

/* Executors of tasks in tests that place them: task % EXECUTORS. */
enum { EXECUTORS = 3 };

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
        const uint16_t *order = f.routes.routes[0].all.tasks;
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
        assert_int_equal(targets[0], f.routes.routes[0].all.tasks[k % 2]);
        for (uint16_t t = 0; t < 3; t++) assert_int_equal(targets[1 + t], 3 + t);
        assert_int_equal(targets[4], f.routes.routes[2].all.tasks[k % 7]);
        assert_int_equal(targets[5], 13 + gx_hash_below(gx_value_hash(&value), 4));
        assert_int_equal(targets[6], 17);
    }
    teardown(&f);
}

/* --- Who is near, and who is congested ---------------------------------------------------------------------------- */

typedef struct site {
    gx_plan plan;
    gx_plan_task tasks[TARGETS_MAX];
    gx_plan_component consumer;
    gx_flow flow;
    _Atomic(uint8_t) congested[TARGETS_MAX];
    gx_effort efforts[EXECUTORS];
    uint64_t waiting;
} site;

/* Task `task` emits; others stand round about. */
static void place(fixture *f, site *at, bool load_aware, uint16_t task) {
    memset(at, 0, sizeof *at);
    for (uint16_t t = 0; t < TARGETS_MAX; t++) at->tasks[t].executor = t % EXECUTORS;
    at->plan.tasks = at->tasks;
    at->plan.components = &at->consumer;
    at->plan.load_aware = load_aware;
    at->flow.congested = at->congested;
    at->flow.efforts = at->efforts;
    for (int i = 0; i < EXECUTORS; i++) at->efforts[i].waiting = &at->waiting;
    gx_router_place(&f->routes, &at->plan, &at->flow, task, 0);
}

/* What edges a stream has, and whether its consumers drop. */
typedef struct plainness {
    gale_grouping_kind groupings[2];
    uint32_t edges;
    uint16_t task_count; /* of each consumer */
    bool drops, plain, spread;
    uint16_t sole;
} plainness;

static void check_plainness(const plainness *c) {
    gx_plan_edge edges[] = { edge_of(c->groupings[0], 4, c->task_count), edge_of(c->groupings[1], 4, c->task_count) };
    fixture f;
    site at;
    setup(&f, edges, c->edges);
    place(&f, &at, false, 3);
    at.consumer.drop_count = c->drops;
    gx_router_place(&f.routes, &at.plan, &at.flow, 3, 5);
    assert_int_equal(f.routes.plain, c->plain);
    assert_int_equal(f.routes.laned, c->drops);
    assert_int_equal(gx_route_is_spread(&f.routes), c->spread);
    assert_int_equal(gx_router_sole(&f.routes), c->sole);
    const gale_head head = { .stream = 5 };
    assert_memory_equal(&f.routes.head, &head, sizeof head);
    teardown(&f);
}

static void tuples_are_plain_when_nobody_but_groupings_of_gales_own_choose(void **state) {
    (void)state;
    static const plainness cases[] = {
        { { GALE_GROUPING_SHUFFLE }, 1, 1, .plain = true, .sole = 4 },
        { { GALE_GROUPING_FIELDS }, 1, 1, .plain = true, .sole = 4 },
        { { GALE_GROUPING_SHUFFLE }, 1, 1, .drops = true, .plain = true, .sole = 4 },
        { { GALE_GROUPING_SHUFFLE }, 1, 2, .plain = true },
        { { GALE_GROUPING_SHUFFLE, GALE_GROUPING_ALL }, 2, 2, .plain = true, .spread = true },
        { { GALE_GROUPING_SHUFFLE, GALE_GROUPING_SHUFFLE }, 2, 1, .plain = true, .spread = true },
        { { GALE_GROUPING_ALL }, 1, 2, .plain = true, .spread = true },
        { { GALE_GROUPING_SHUFFLE, GALE_GROUPING_DIRECT }, 2, 1, .spread = true },
        { { GALE_GROUPING_SHUFFLE }, 0, 1, .spread = true },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) check_plainness(&cases[i]);
}

static void congest(site *at, uint16_t task, bool congested) {
    gx_flow_mark(&at->flow, task, congested);
}

/* The next `count` targets are `tasks`, each as often as the others, in turns. */
static void takes_turns(fixture *f, const uint16_t *tasks, uint32_t count) {
    uint32_t seen[TARGETS_MAX] = { 0 };
    for (uint32_t k = 0; k < 12 * count; k++) {
        seen[target(f, NULL)]++;
        uint32_t others = 0;
        for (uint32_t t = 0; t < TARGETS_MAX; t++) others += seen[t];
        for (uint32_t t = 0; t < count; t++) {
            assert_in_range(seen[tasks[t]], (k + 1) / count, k / count + 1);
            others -= seen[tasks[t]];
        }
        assert_int_equal(others, 0);
    }
}

static void shuffle_with_load_awareness_off_ignores_place_and_congestion(void **state) {
    (void)state;
    static const uint16_t all[] = { 10, 11, 12, 13, 14, 15, 16 };
    gx_plan_edge edge = edge_of(GALE_GROUPING_SHUFFLE, 10, 7);
    fixture f;
    site at;
    setup(&f, &edge, 1);
    place(&f, &at, false, 9);
    congest(&at, 12, true);
    takes_turns(&f, all, 7);
    teardown(&f);
}

static void shuffle_takes_near_targets_then_free_ones_then_all(void **state) {
    (void)state;
    static const uint16_t all[] = { 10, 11, 12, 13, 14, 15, 16 }, near[] = { 12, 15 }, one[] = { 15 };
    static const uint16_t free[] = { 10, 11, 13, 14, 16 }, only[] = { 13 };
    gx_plan_edge edge = edge_of(GALE_GROUPING_SHUFFLE, 10, 7);
    fixture f;
    site at;
    setup(&f, &edge, 1);
    place(&f, &at, true, 9);
    takes_turns(&f, near, 2);
    congest(&at, 12, true);
    takes_turns(&f, one, 1);
    congest(&at, 15, true);
    takes_turns(&f, free, 5);
    for (uint16_t t = 10; t < 17; t++) congest(&at, t, t != 13);
    takes_turns(&f, only, 1);
    congest(&at, 13, true);
    takes_turns(&f, all, 7);
    congest(&at, 12, false);
    congest(&at, 15, false);
    takes_turns(&f, near, 2);
    teardown(&f);
}

static void heavy_work_that_waits_is_shared_by_all_that_are_free(void **state) {
    (void)state;
    static const uint16_t all[] = { 10, 11, 12, 13, 14, 15, 16 }, near[] = { 12, 15 };
    static const uint16_t free[] = { 10, 12, 13, 14, 15, 16 };
    gx_plan_edge edge = edge_of(GALE_GROUPING_SHUFFLE, 10, 7);
    fixture f;
    site at;
    setup(&f, &edge, 1);
    place(&f, &at, true, 9);
    at.waiting = 64;
    takes_turns(&f, near, 2);
    at.efforts[1].heavy = true; /* another executor's */
    takes_turns(&f, near, 2);
    at.efforts[0].heavy = true;
    takes_turns(&f, all, 7);
    congest(&at, 11, true);
    takes_turns(&f, free, 6);
    at.waiting = 0; /* one tuple alone stays */
    takes_turns(&f, near, 2);
    at.waiting = 64;
    at.efforts[0].heavy = false;
    takes_turns(&f, near, 2);
    teardown(&f);
}

static void heavy_work_stays_where_local_or_shuffle_keeps_it(void **state) {
    (void)state;
    static const uint16_t near[] = { 12, 15 };
    gx_plan_edge edge = edge_of(GALE_GROUPING_LOCAL_OR_SHUFFLE, 10, 7);
    fixture f;
    site at;
    setup(&f, &edge, 1);
    place(&f, &at, true, 9);
    at.waiting = 64;
    at.efforts[0].heavy = true;
    takes_turns(&f, near, 2);
    teardown(&f);
}

static void shuffle_without_near_targets_takes_all_that_are_free(void **state) {
    (void)state;
    static const uint16_t both[] = { 10, 11 }, one[] = { 11 };
    gx_plan_edge edge = edge_of(GALE_GROUPING_SHUFFLE, 10, 2);
    fixture f;
    site at;
    setup(&f, &edge, 1);
    place(&f, &at, true, 9); /* executor 0 has neither */
    takes_turns(&f, both, 2);
    congest(&at, 10, true);
    takes_turns(&f, one, 1);
    congest(&at, 11, true);
    takes_turns(&f, both, 2);
    teardown(&f);
}

static void local_or_shuffle_never_leaves_the_executor_that_has_a_target(void **state) {
    (void)state;
    static const uint16_t all[] = { 10, 11 }, near[] = { 12, 15 }, one[] = { 15 };
    for (int load_aware = 0; load_aware < 2; load_aware++) {
        gx_plan_edge edge = edge_of(GALE_GROUPING_LOCAL_OR_SHUFFLE, 10, 7);
        gx_plan_edge none_near = edge_of(GALE_GROUPING_LOCAL_OR_SHUFFLE, 10, 2);
        fixture f;
        site at;
        setup(&f, &edge, 1);
        place(&f, &at, load_aware, 9);
        takes_turns(&f, near, 2);
        congest(&at, 12, true);
        takes_turns(&f, load_aware ? one : near, load_aware ? 1 : 2);
        congest(&at, 15, true);
        takes_turns(&f, near, 2);
        teardown(&f);
        setup(&f, &none_near, 1);
        place(&f, &at, load_aware, 9);
        takes_turns(&f, all, 2);
        teardown(&f);
    }
}

/* --- None, partial key, direct ------------------------------------------------------------------------------------ */

static void none_draws_anew_for_every_tuple(void **state) {
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        uint16_t n = target_counts[i];
        gx_plan_edge edge = edge_of(GALE_GROUPING_NONE, 10, n);
        fixture f;
        setup(&f, &edge, 1);
        gx_random same = f.random;
        uint32_t seen[7] = { 0 }, pairs[7][7] = { 0 }, before = 0;
        for (int k = 0; k < 49000; k++) {
            uint32_t to = target(&f, NULL) - 10u;
            assert_in_range(to, 0, n - 1);
            assert_int_equal(to, n == 1 ? 0 : gx_random_below(&same, n));
            seen[to]++;
            if (k) pairs[before][to]++;
            before = to;
        }
        for (uint32_t t = 0; t < n; t++) assert_in_range(seen[t], 49000 / n * 95 / 100, 49000 / n * 105 / 100);
        for (uint32_t a = 0; n == 7 && a < 7; a++) /* unlike round robin, which never comes back at once */
            for (uint32_t b = 0; b < 7; b++) assert_in_range(pairs[a][b], 840, 1160);
        teardown(&f);
    }
}

static void partial_key_takes_the_less_used_of_a_keys_two_tasks(void **state) {
    (void)state;
    static const uint16_t field[] = { 1 };
    for (size_t i = 0; i < 3; i++) {
        uint16_t n = target_counts[i];
        gx_plan_edge edge = by_fields(20, n, field, 1);
        edge.grouping = GALE_GROUPING_PARTIAL_KEY;
        fixture f;
        setup(&f, &edge, 1);
        uint64_t used[7] = { 0 };
        for (int k = 0; k < 7000; k++) {
            gale_value values[] = { gale_i64(k), gale_i64(k % 3 ? 0 : k) }; /* two of three have the same key */
            uint32_t first = 0, second = 0;
            gx_hash_pair(gx_value_hash(&values[1]), n, &first, &second);
            uint32_t expected = used[second] < used[first] ? second : first;
            used[expected]++;
            assert_int_equal(target(&f, values), 20 + expected);
        }
        uint64_t most = 0;
        for (uint16_t t = 0; t < n; t++) most = used[t] > most ? used[t] : most;
        assert_in_range(most, 7000 / n, n == 7 ? 2 * 7000 / 5 : 7000 / n + 100);
        teardown(&f);
    }
}

static void a_direct_consumer_gets_what_is_sent_to_it_and_nothing_else(void **state) {
    (void)state;
    gx_plan_edge edges[] = { edge_of(GALE_GROUPING_DIRECT, 5, 3), edge_of(GALE_GROUPING_ALL, 20, 2),
                             edge_of(GALE_GROUPING_DIRECT, 8, 1) };
    fixture f;
    setup(&f, edges, 3);
    uint16_t targets[TARGETS_MAX];
    assert_true(f.routes.direct);
    assert_int_equal(f.routes.fanout, 2);
    assert_int_equal(gx_router_targets(&f.routes, NULL, targets), 2);
    for (uint32_t task = 0; task < 70000; task++)
        assert_int_equal(gx_router_direct(&f.routes, task), task >= 5 && task <= 8 ? GALE_OK : GALE_NOT_FOUND);
    assert_int_equal(gx_router_direct(&f.routes, UINT32_MAX), GALE_NOT_FOUND);
    teardown(&f);
    setup(&f, edges + 1, 1);
    assert_false(f.routes.direct);
    assert_int_equal(gx_router_direct(&f.routes, 20), GALE_NOT_FOUND);
    teardown(&f);
    setup(&f, NULL, 0);
    assert_int_equal(gx_router_direct(&f.routes, 1), GALE_NOT_FOUND);
    teardown(&f);
}

/* --- Custom ------------------------------------------------------------------------------------------------------- */

typedef struct script {
    int returns; /* of choose */
    uint32_t indices[TARGETS_MAX];
    int prepare_returns;
    uint32_t prepared, released;
    gale_targets targets; /* as prepare was given them */
    uint64_t drawn;
} script;

static int script_prepare(void *user, const gale_targets *targets, void **ret_self) {
    script *s = user;
    s->prepared++;
    s->targets = *targets;
    s->drawn = gale_targets_random(targets);
    *ret_self = s;
    return s->prepare_returns;
}

static int script_choose(void *self, const gale_targets *targets, const gale_value *values, size_t count,
                         uint32_t *ret_indices) {
    script *s = self;
    assert_int_equal(count, 3);
    assert_int_equal(values[0].as.i64, 7);
    memcpy(ret_indices, s->indices, targets->task_count * sizeof *ret_indices);
    return s->returns;
}

static void script_release(void *self) {
    ((script *)self)->released++;
}

static gx_subscription scripted(script *s) {
    static char source[] = "words", stream[] = "default";
    return (gx_subscription){
        .source = source,
        .stream = stream,
        .grouping = GALE_GROUPING_CUSTOM,
        .custom = { sizeof(gale_custom_ops), "script", script_prepare, script_choose, script_release },
        .user = s,
    };
}

static gx_plan_edge by_choice(uint16_t first_task, uint16_t task_count, const gx_subscription *subscription) {
    gx_plan_edge edge = edge_of(GALE_GROUPING_CUSTOM, first_task, task_count);
    edge.subscription = subscription;
    edge.consumer = "count";
    return edge;
}

static const gale_value seven[] = { { .type = GALE_TYPE_I64, .as.i64 = 7 }, { 0 }, { 0 } };

static void custom_sends_to_the_chosen_tasks_in_their_order(void **state) {
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        uint16_t n = target_counts[i], targets[TARGETS_MAX];
        script s = { 0 };
        gx_subscription subscription = scripted(&s);
        gx_plan_edge edges[] = { edge_of(GALE_GROUPING_GLOBAL, 3, 2), by_choice(10, n, &subscription) };
        fixture f;
        setup(&f, edges, 2);
        assert_int_equal(f.routes.fanout, 1 + n);
        for (int count = 0; count <= n; count++) {
            s.returns = count;
            for (int t = 0; t < count; t++) s.indices[t] = (uint32_t)(n - 1 - t);
            assert_int_equal(gx_router_targets(&f.routes, seven, targets), 1 + count);
            assert_int_equal(targets[0], 3);
            for (int t = 0; t < count; t++) assert_int_equal(targets[1 + t], 10 + n - 1 - t);
        }
        teardown(&f);
        assert_int_equal(s.prepared, 1);
        assert_int_equal(s.released, 1);
    }
}

static void custom_is_told_between_whom_it_chooses(void **state) {
    (void)state;
    script s = { 0 };
    gx_subscription subscription = scripted(&s);
    gx_plan_edge edge = by_choice(10, 7, &subscription);
    fixture f;
    site at;
    setup(&f, &edge, 1);
    place(&f, &at, true, 9);
    gx_random same = f.random;
    assert_int_equal(s.prepared, 0); /* a task that emits nothing needs no instance */
    assert_int_equal(gx_router_targets(&f.routes, seven, (uint16_t[7]){ 0 }), 0);
    assert_int_equal(s.targets.size, sizeof s.targets);
    assert_string_equal(s.targets.source, "words");
    assert_string_equal(s.targets.stream, "default");
    assert_string_equal(s.targets.consumer, "count");
    assert_int_equal(s.targets.source_task, 9);
    assert_int_equal(s.targets.first_task, 10);
    assert_int_equal(s.targets.task_count, 7);
    assert_int_equal(s.drawn, gx_random_next(&same));
    teardown(&f);
}

static void a_choice_that_is_not_valid_fails_the_emit_and_the_next_one_is_looked_at_anew(void **state) {
    (void)state;
    static const struct {
        int returns;
        uint32_t indices[3];
        int expected;
    } cases[] = { { 1, { 3 }, GALE_INVALID },       { 2, { 0, 0 }, GALE_INVALID },
                  { 3, { 2, 1, 2 }, GALE_INVALID }, { 3, { 0, 1, UINT32_MAX }, GALE_INVALID },
                  { 4, { 0, 1, 2 }, GALE_INVALID }, { INT32_MAX, { 0 }, GALE_INVALID },
                  { GALE_IO, { 0 }, GALE_IO },      { -1000, { 0 }, -1000 },
                  { GALE_AGAIN, { 0 }, GALE_AGAIN } };
    script s = { 0 };
    gx_subscription subscription = scripted(&s);
    gx_plan_edge edge = by_choice(10, 3, &subscription);
    fixture f;
    setup(&f, &edge, 1);
    uint16_t targets[3];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        s.returns = cases[i].returns;
        memcpy(s.indices, cases[i].indices, sizeof cases[i].indices);
        assert_int_equal(gx_router_targets(&f.routes, seven, targets), cases[i].expected);
        s.returns = 3;
        for (uint32_t t = 0; t < 3; t++) s.indices[t] = t;
        assert_int_equal(gx_router_targets(&f.routes, seven, targets), 3);
    }
    teardown(&f);
}

static void a_prepare_that_fails_fails_the_emit_and_is_tried_again(void **state) {
    (void)state;
    script s = { .prepare_returns = GALE_IO };
    gx_subscription subscription = scripted(&s);
    gx_plan_edge edge = by_choice(10, 3, &subscription);
    fixture f;
    uint16_t targets[3];
    setup(&f, &edge, 1);
    assert_int_equal(gx_router_targets(&f.routes, seven, targets), GALE_IO);
    assert_int_equal(gx_router_targets(&f.routes, seven, targets), GALE_IO);
    teardown(&f);
    assert_int_equal(s.released, 0);
    setup(&f, &edge, 1);
    assert_int_equal(gx_router_targets(&f.routes, seven, targets), GALE_IO);
    s.prepare_returns = 0;
    assert_int_equal(gx_router_targets(&f.routes, seven, targets), 0);
    assert_int_equal(gx_router_targets(&f.routes, seven, targets), 0);
    assert_int_equal(s.prepared, 4);
    teardown(&f);
    assert_int_equal(s.released, 1);
}

static void without_prepare_the_instance_is_user_and_without_release_nothing_ends_it(void **state) {
    (void)state;
    script s = { .returns = 1, .indices = { 2 } };
    gx_subscription subscription = scripted(&s);
    subscription.custom.prepare = NULL;
    subscription.custom.release = NULL;
    gx_plan_edge edge = by_choice(10, 3, &subscription);
    fixture f;
    setup(&f, &edge, 1);
    assert_int_equal(target(&f, seven), 12);
    teardown(&f);
    assert_int_equal(s.released, 0);
}

static void the_allocation_that_fails_leaves_routes_that_can_be_ended(void **state) {
    (void)state;
    script s = { 0 };
    gx_subscription subscription = scripted(&s);
    gx_plan_edge edges[] = { edge_of(GALE_GROUPING_SHUFFLE, 1, 2), edge_of(GALE_GROUPING_ALL, 3, 3),
                             edge_of(GALE_GROUPING_LOCAL_OR_SHUFFLE, 6, 7), edge_of(GALE_GROUPING_PARTIAL_KEY, 13, 2),
                             by_choice(15, 7, &subscription) };
    size_t n = 1;
    for (int rc = GALE_NO_MEMORY; rc < 0; n++) {
        fixture f;
        prepare(&f, edges, 5);
        f.counting.fail_at = n;
        rc = gx_router_init(&f.routes, &f.plan, &f.heap, &f.random);
        assert_int_equal(rc, n <= 5 ? GALE_NO_MEMORY : GALE_OK);
        teardown(&f);
    }
    assert_int_equal(n, 7);
    assert_int_equal(s.released, 0);
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
        cmocka_unit_test(tuples_are_plain_when_nobody_but_groupings_of_gales_own_choose),
        cmocka_unit_test(shuffle_with_load_awareness_off_ignores_place_and_congestion),
        cmocka_unit_test(heavy_work_that_waits_is_shared_by_all_that_are_free),
        cmocka_unit_test(heavy_work_stays_where_local_or_shuffle_keeps_it),
        cmocka_unit_test(shuffle_takes_near_targets_then_free_ones_then_all),
        cmocka_unit_test(shuffle_without_near_targets_takes_all_that_are_free),
        cmocka_unit_test(local_or_shuffle_never_leaves_the_executor_that_has_a_target),
        cmocka_unit_test(none_draws_anew_for_every_tuple),
        cmocka_unit_test(partial_key_takes_the_less_used_of_a_keys_two_tasks),
        cmocka_unit_test(a_direct_consumer_gets_what_is_sent_to_it_and_nothing_else),
        cmocka_unit_test(custom_sends_to_the_chosen_tasks_in_their_order),
        cmocka_unit_test(custom_is_told_between_whom_it_chooses),
        cmocka_unit_test(a_choice_that_is_not_valid_fails_the_emit_and_the_next_one_is_looked_at_anew),
        cmocka_unit_test(a_prepare_that_fails_fails_the_emit_and_is_tried_again),
        cmocka_unit_test(without_prepare_the_instance_is_user_and_without_release_nothing_ends_it),
        cmocka_unit_test(the_allocation_that_fails_leaves_routes_that_can_be_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
