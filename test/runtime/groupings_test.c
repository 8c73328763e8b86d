/* Every grouping in whole topologies: three emitting tasks, 1, 2 and 7 target tasks, stepped on 1, 2 and 5
 * executors. */
#include "runtime/rig.h"

#include "base/random.h"
#include "tuple/hash.h"

#include <string.h>

enum { SOURCES = 3, TARGETS_MAX = 7, TUPLES = 420, KEYS = 30 };

static const uint32_t target_counts[] = { 1, 2, TARGETS_MAX };

/* --- What is emitted, and where it came to ------------------------------------------------------------------------ */

typedef struct source {
    const gale_context *context;
    uint32_t index;
    uint32_t emitted, acked, failed;
} source;

typedef int (*emit_function)(source *s, gale_collector *out, const gale_value *values, size_t count);

static source sources[SOURCES];
static emit_function emit_one;
static uint8_t got[SOURCES][TUPLES][TARGETS_MAX];   /* times, at each task of "c" */
static uint8_t other[SOURCES][TUPLES][TARGETS_MAX]; /* the same of "d" */

static int emit_by_grouping(source *s, gale_collector *out, const gale_value *values, size_t count) {
    return gale_emit_tracked(out, 0, values, count, s->emitted);
}

static int64_t key_of(uint32_t number) {
    return number % KEYS * (number % 2); /* half of them have one key */
}

static int source_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)user, (void)out;
    source *s = &sources[context->task_index];
    *s = (source){ .context = context, .index = context->task_index };
    *ret_self = s;
    return 0;
}

static int source_next(void *self, gale_collector *out, gale_wait *wait) {
    (void)wait;
    source *s = self;
    if (s->emitted == TUPLES) return GALE_NEXT_DONE;
    gale_value values[] = { gale_i64(s->index), gale_i64(s->emitted), gale_i64(key_of(s->emitted)) };
    int rc = emit_one(s, out, values, 3);
    if (rc < 0) return rc;
    s->emitted++;
    return GALE_NEXT_EMITTED;
}

static void source_ack(void *self, uint64_t id) {
    (void)id;
    ((source *)self)->acked++;
}

static void source_fail(void *self, uint64_t id, const gale_failure *failure) {
    (void)id, (void)failure;
    ((source *)self)->failed++;
}

static gale_spout source_spout(void) {
    static const gale_spout_ops ops = { .size = sizeof ops,
                                        .name = "source",
                                        .open = source_open,
                                        .next = source_next,
                                        .ack = source_ack,
                                        .fail = source_fail };
    static const gale_output outputs[] = { { NULL, "source, number, key" }, { "side", "source, number, key" } };
    return (gale_spout){ .size = sizeof(gale_spout), .ops = &ops, .outputs = outputs, .output_count = 2 };
}

typedef struct target {
    uint8_t (*seen)[TUPLES][TARGETS_MAX];
    uint32_t index;
} target;

static int target_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    static target targets[2][TARGETS_MAX];
    (void)out;
    target *t = &targets[user == other][context->task_index];
    *t = (target){ user, context->task_index };
    *ret_self = t;
    return 0;
}

static int target_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    (void)out;
    target *t = self;
    t->seen[gale_tuple_value(tuple, 0).as.i64][gale_tuple_value(tuple, 1).as.i64][t->index]++;
    return 0;
}

static gale_bolt target_bolt(void *seen) {
    static const gale_bolt_ops ops = {
        .size = sizeof ops, .name = "target", .prepare = target_prepare, .execute = target_execute
    };
    return (gale_bolt){ .size = sizeof(gale_bolt), .ops = &ops, .user = seen };
}

static void begin(rig *r, emit_function emit) {
    memset(got, 0, sizeof got);
    memset(other, 0, sizeof other);
    emit_one = emit;
    rig_init(r);
    gale_topology_add_spout(r->topology, "s", source_spout(), SOURCES);
}

static void add(rig *r, const char *name, uint32_t tasks, const char *stream, gale_grouping grouping) {
    gale_topology_add_bolt(r->topology, name, target_bolt(name[0] == 'c' ? got : other), tasks);
    assert_int_equal(gale_topology_subscribe(r->topology, name, "s", stream, grouping), 0);
}

/* Runs until all is answered. */
static void run(rig *r, uint32_t executors) {
    rig_make(r, executors);
    rig_settle(r);
    for (int s = 0; s < SOURCES; s++) {
        assert_int_equal(sources[s].emitted, TUPLES);
        assert_int_equal(sources[s].acked, TUPLES);
        assert_int_equal(sources[s].failed, 0);
    }
}

static void run_one(void **state, gale_grouping grouping, uint32_t tasks, bool exactly_even, emit_function emit) {
    rig r;
    begin(&r, emit);
    add(&r, "c", tasks, NULL, grouping);
    gale_topology_set(r.topology, NULL, "topology.disable.loadaware.messaging", gale_bool(exactly_even));
    run(&r, *(uint32_t *)*state);
    rig_fini(&r);
}

/* The one task that a tuple came to, once. */
static uint32_t only_target(uint32_t s, uint32_t number) {
    uint32_t at = TARGETS_MAX, times = 0;
    for (uint32_t t = 0; t < TARGETS_MAX; t++) {
        times += got[s][number][t];
        if (got[s][number][t]) at = t;
    }
    assert_int_equal(times, 1);
    return at;
}

/* By default task i of n stands on executor i * executors / n. */
static bool is_near(void **state, uint32_t s, uint32_t t, uint32_t tasks) {
    uint32_t executors = *(uint32_t *)*state;
    return s * executors / SOURCES == t * executors / tasks;
}

/* --- The rules ---------------------------------------------------------------------------------------------------- */

/* Each of a source's targets once in every round. `near_only`: those on its executor, if there are any. */
static void expect_rounds(void **state, uint32_t tasks, bool near_only) {
    for (uint32_t s = 0; s < SOURCES; s++) {
        bool allowed[TARGETS_MAX] = { false };
        uint32_t count = 0;
        for (uint32_t t = 0; t < tasks; t++) count += allowed[t] = near_only && is_near(state, s, t, tasks);
        for (uint32_t t = 0; !count && t < tasks; t++) allowed[t] = true;
        if (!count) count = tasks;
        for (uint32_t k = 0; k < TUPLES; k++) {
            assert_true(allowed[only_target(s, k)]);
            if (k >= count) assert_int_equal(only_target(s, k), only_target(s, k - count));
            for (uint32_t back = 1; back < count && back <= k; back++)
                assert_true(only_target(s, k) != only_target(s, k - back));
        }
    }
}

static void shuffle_takes_turns_evenly_when_load_awareness_is_off(void **state) {
    for (int i = 0; i < 3; i++) {
        run_one(state, gale_shuffle(), target_counts[i], true, emit_by_grouping);
        expect_rounds(state, target_counts[i], false);
    }
}

static void shuffle_stays_on_the_executor_while_nothing_there_is_congested(void **state) {
    for (int i = 0; i < 3; i++) {
        run_one(state, gale_shuffle(), target_counts[i], false, emit_by_grouping);
        expect_rounds(state, target_counts[i], true);
    }
}

static void local_or_shuffle_stays_on_the_executor_that_has_a_target(void **state) {
    for (int i = 0; i < 6; i++) {
        run_one(state, gale_local_or_shuffle(), target_counts[i / 2], i % 2, emit_by_grouping);
        expect_rounds(state, target_counts[i / 2], true);
    }
}

static void fields_send_a_key_to_one_task_whoever_emits_it(void **state) {
    for (int i = 0; i < 3; i++) {
        run_one(state, gale_fields("key"), target_counts[i], false, emit_by_grouping);
        for (uint32_t s = 0; s < SOURCES; s++)
            for (uint32_t k = 0; k < TUPLES; k++) {
                gale_value key = gale_i64(key_of(k));
                assert_int_equal(only_target(s, k), gx_hash_below(gx_value_hash(&key), target_counts[i]));
            }
    }
}

static void all_reaches_every_task_once(void **state) {
    for (int i = 0; i < 3; i++) {
        run_one(state, gale_all(), target_counts[i], false, emit_by_grouping);
        for (uint32_t s = 0; s < SOURCES; s++)
            for (uint32_t k = 0; k < TUPLES; k++)
                for (uint32_t t = 0; t < TARGETS_MAX; t++) assert_int_equal(got[s][k][t], t < target_counts[i]);
    }
}

static void global_reaches_the_lowest_task(void **state) {
    for (int i = 0; i < 3; i++) {
        run_one(state, gale_global(), target_counts[i], false, emit_by_grouping);
        for (uint32_t s = 0; s < SOURCES; s++)
            for (uint32_t k = 0; k < TUPLES; k++) assert_int_equal(only_target(s, k), 0);
    }
}

static void none_draws_each_target_alone(void **state) {
    for (int i = 0; i < 3; i++) {
        uint32_t n = target_counts[i], repeated = 0, alike = 0, seen[TARGETS_MAX] = { 0 };
        run_one(state, gale_none(), n, false, emit_by_grouping);
        for (uint32_t s = 0; s < SOURCES; s++)
            for (uint32_t k = 0; k < TUPLES; k++) {
                uint32_t t = only_target(s, k);
                assert_in_range(t, 0, n - 1);
                seen[t]++;
                repeated += k && t == only_target(s, k - 1); /* round robin never does that */
                alike += t == only_target((s + 1) % SOURCES, k);
            }
        uint32_t all = SOURCES * TUPLES;
        for (uint32_t t = 0; t < n; t++) assert_in_range(seen[t], all / n * 3 / 4, all / n * 5 / 4);
        assert_in_range(repeated, (all / n - SOURCES) * 3 / 4, all / n * 5 / 4);
        if (n > 1) assert_in_range(alike, all / n * 3 / 4, all / n * 5 / 4); /* each task has its own generator */
    }
}

static void partial_key_splits_a_key_over_two_tasks_by_what_the_emitter_used(void **state) {
    for (int i = 0; i < 6; i++) {
        uint32_t n = target_counts[i / 2];
        run_one(state, gale_partial_key(i % 2 ? "key" : "key, source"), n, false, emit_by_grouping);
        for (uint32_t s = 0; s < SOURCES; s++) {
            uint32_t used[TARGETS_MAX] = { 0 };
            for (uint32_t k = 0; k < TUPLES; k++) {
                static const uint16_t fields[] = { 2, 0 };
                gale_value values[] = { gale_i64(s), gale_i64(k), gale_i64(key_of(k)) };
                uint32_t first, second;
                gx_hash_pair(gx_values_hash(values, fields, i % 2 ? 1 : 2), n, &first, &second);
                uint32_t expected = used[second] < used[first] ? second : first;
                used[expected]++;
                assert_int_equal(only_target(s, k), expected);
            }
        }
    }
}

static void partial_key_without_names_goes_by_the_first_field(void **state) {
    run_one(state, gale_partial_key(NULL), TARGETS_MAX, false, emit_by_grouping);
    for (uint32_t s = 0; s < SOURCES; s++) {
        gale_value key = gale_i64(s);
        uint32_t first, second;
        gx_hash_pair(gx_value_hash(&key), TARGETS_MAX, &first, &second);
        for (uint32_t k = 0; k < TUPLES; k++) assert_int_equal(only_target(s, k), k % 2 ? second : first);
    }
}

/* --- Direct ------------------------------------------------------------------------------------------------------- */

static uint32_t direct_tasks; /* "c" has tasks 1 to direct_tasks, "d" the next one, "s" those behind it */

static int emit_to_chosen(source *s, gale_collector *out, const gale_value *values, size_t count) {
    uint32_t to = 1 + (s->emitted * 3 + s->index) % direct_tasks;
    assert_int_equal(gale_emit_tracked(out, 0, values, count, s->emitted), GALE_STATE);
    assert_int_equal(gale_emit(out, 0, values, count), GALE_STATE);
    for (uint32_t wrong = 0; wrong < 70000; wrong += wrong < 20 ? 1 : 9999)
        if (wrong == 0 || wrong > direct_tasks)
            assert_int_equal(gale_emit_direct_tracked(out, wrong, 0, values, count, s->emitted), GALE_NOT_FOUND);
    assert_int_equal(gale_emit_direct(out, to, 0, values, count - 1), GALE_FIELDS);
    assert_int_equal(gale_emit_direct(out, to, 2, values, count), GALE_NOT_FOUND);
    assert_int_equal(gale_emit_direct(out, to, 1, values, count), GALE_NOT_FOUND); /* nobody takes it directly */
    return gale_emit_direct_tracked(out, to, 0, values, count, s->emitted);
}

static void direct_reaches_the_task_that_the_emitter_names(void **state) {
    for (int i = 0; i < 3; i++) {
        rig r;
        begin(&r, emit_to_chosen);
        direct_tasks = target_counts[i];
        add(&r, "c", direct_tasks, NULL, gale_direct());
        add(&r, "d", 1, NULL, gale_shuffle()); /* a consumer of the same stream that is not direct gets nothing */
        run(&r, *(uint32_t *)*state);
        for (uint32_t s = 0; s < SOURCES; s++)
            for (uint32_t k = 0; k < TUPLES; k++) {
                assert_int_equal(only_target(s, k), (k * 3 + s) % direct_tasks);
                assert_int_equal(other[s][k][0], 0);
            }
        rig_fini(&r);
    }
}

/* --- Custom ------------------------------------------------------------------------------------------------------- */

typedef struct chooser {
    uint32_t source_task;
    uint32_t calls;
} chooser;

static chooser choosers[SOURCES];
static uint32_t prepared, released, users_freed;

static int chooser_prepare(void *user, const gale_targets *targets, void **ret_self) {
    assert_ptr_equal(user, &users_freed);
    assert_string_equal(targets->source, "s");
    assert_string_equal(targets->stream, "default");
    assert_string_equal(targets->consumer, "c");
    assert_true(prepared < SOURCES);
    choosers[prepared] = (chooser){ .source_task = targets->source_task };
    *ret_self = &choosers[prepared++];
    return 0;
}

/* Tuple k goes to k % (n + 1) tasks, beginning with task k. */
static int chooser_choose(void *self, const gale_targets *targets, const gale_value *values, size_t count,
                          uint32_t *ret_indices) {
    chooser *c = self;
    assert_int_equal(count, 3);
    assert_int_equal(c->source_task, targets->source_task);
    assert_int_equal(values[1].as.i64, c->calls); /* an instance sees one emitter's tuples, in order */
    uint32_t k = c->calls++, chosen = k % (targets->task_count + 1);
    for (uint32_t i = 0; i < chosen; i++) ret_indices[i] = (k + i) % targets->task_count;
    return (int)chosen;
}

static void chooser_release(void *self) {
    assert_int_equal(((chooser *)self)->calls, TUPLES);
    released++;
}

static void user_freed(void *user) {
    ++*(uint32_t *)user;
}

static void custom_reaches_the_tasks_that_its_function_chooses(void **state) {
    static const gale_custom_ops ops = { sizeof ops, "chooser", chooser_prepare, chooser_choose, chooser_release };
    for (int i = 0; i < 3; i++) {
        uint32_t n = target_counts[i];
        prepared = released = users_freed = 0;
        run_one(state, gale_custom(&ops, &users_freed, user_freed), n, false, emit_by_grouping);
        for (uint32_t s = 0; s < SOURCES; s++)
            for (uint32_t k = 0; k < TUPLES; k++)
                for (uint32_t t = 0; t < n; t++) assert_int_equal(got[s][k][t], (t + n - k % n) % n < k % (n + 1));
        assert_int_equal(prepared, SOURCES);
        assert_int_equal(released, SOURCES);
        assert_int_equal(users_freed, 1);
    }
}

static int choose_wrongly(void *self, const gale_targets *targets, const gale_value *values, size_t count,
                          uint32_t *ret_indices) {
    (void)self, (void)values, (void)count;
    ret_indices[0] = targets->task_count; /* one too far */
    return 1;
}

static int emit_in_vain(source *s, gale_collector *out, const gale_value *values, size_t count) {
    assert_int_equal(gale_emit_tracked(out, 0, values, count, s->emitted), GALE_INVALID);
    assert_int_equal(gale_pending(out), 0);
    s->acked++; /* nobody else will */
    return 0;
}

/* Text without bytes. Who hashed it would crash. */
static int emit_what_is_no_value(source *s, gale_collector *out, const gale_value *values, size_t count) {
    gale_value broken[3];
    assert_int_equal(count, 3);
    memcpy(broken, values, sizeof broken);
    broken[2] = (gale_value){ .type = GALE_TYPE_STRING, .size = 5 };
    assert_int_equal(gale_emit_tracked(out, 0, broken, count, s->emitted), GALE_INVALID);
    assert_int_equal(gale_emit(out, 0, broken, count), GALE_INVALID);
    assert_int_equal(gale_pending(out), 0);
    s->acked++; /* nobody else will */
    return 0;
}

static void a_key_that_is_no_value_is_refused_before_a_grouping_looks_at_it(void **state) {
    for (int consumers = 1; consumers <= 2; consumers++) {
        rig r;
        begin(&r, emit_what_is_no_value);
        add(&r, "c", 7, NULL, gale_fields("key"));
        if (consumers == 2) add(&r, "d", 2, NULL, gale_partial_key("key"));
        run(&r, *(uint32_t *)*state);
        assert_int_equal(rig_stats(&r)->trees, 0);
        rig_fini(&r);
    }
}

/* Among them the number that stands for "never plain" (engine/router.h). Nobody consumes the stream `side`. */
static int emit_far_too_many(source *s, gale_collector *out, const gale_value *values, size_t count) {
    static const size_t counts[] = { SIZE_MAX, SIZE_MAX - 1, UINT32_MAX, 0 };
    (void)count;
    for (uint32_t stream = 0; stream < 2; stream++)
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            assert_int_equal(gale_emit_tracked(out, stream, values, counts[i], s->emitted), GALE_FIELDS);
            assert_int_equal(gale_emit(out, stream, values, counts[i]), GALE_FIELDS);
        }
    assert_int_equal(gale_pending(out), 0);
    s->acked++; /* nobody else will */
    return 0;
}

static void as_many_values_as_there_are_numbers_are_refused_by_every_kind_of_stream(void **state) {
    static const gale_custom_ops ops = { .size = sizeof ops, .name = "wrong", .choose = choose_wrongly };
    const gale_grouping groupings[] = { gale_fields("key"),
                                        gale_all(),
                                        gale_direct(),
                                        gale_custom(&ops, NULL, NULL),
                                        gale_shuffle(),
                                        gale_global(),
                                        gale_drop_oldest(gale_none()) };
    for (size_t i = 0; i < 2 * sizeof groupings / sizeof groupings[0]; i++) {
        rig r;
        begin(&r, emit_far_too_many);
        add(&r, "c", 2, NULL, groupings[i / 2]);
        if (i % 2) gale_topology_add_hook(r.topology, "s", (gale_hook){ .size = sizeof(gale_hook) });
        run(&r, *(uint32_t *)*state);
        assert_int_equal(rig_stats(&r)->trees, 0);
        rig_fini(&r);
    }
}

static void an_emit_whose_choice_is_not_valid_goes_nowhere(void **state) {
    static const gale_custom_ops ops = { .size = sizeof ops, .name = "wrong", .choose = choose_wrongly };
    rig r;
    begin(&r, emit_in_vain);
    add(&r, "c", 2, NULL, gale_custom(&ops, NULL, NULL));
    add(&r, "d", 2, NULL, gale_all());
    run(&r, *(uint32_t *)*state);
    for (uint32_t s = 0; s < SOURCES; s++)
        for (uint32_t k = 0; k < TUPLES; k++)
            for (uint32_t t = 0; t < 2; t++) assert_int_equal(got[s][k][t] + other[s][k][t], 0);
    assert_int_equal(rig_stats(&r)->trees, 0);
    rig_fini(&r);
}

/* --- Together ----------------------------------------------------------------------------------------------------- */

static void several_consumers_of_one_stream_are_each_served_by_their_own_grouping(void **state) {
    rig r;
    begin(&r, emit_by_grouping);
    add(&r, "c", 7, NULL, gale_fields("key"));
    add(&r, "d", 2, NULL, gale_all());
    run(&r, *(uint32_t *)*state);
    for (uint32_t s = 0; s < SOURCES; s++)
        for (uint32_t k = 0; k < TUPLES; k++) {
            gale_value key = gale_i64(key_of(k));
            assert_int_equal(only_target(s, k), gx_hash_below(gx_value_hash(&key), 7));
            assert_int_equal(other[s][k][0], 1);
            assert_int_equal(other[s][k][1], 1);
        }
    rig_fini(&r);
}

/* Even numbers by grouping on the default stream, odd ones directly on the other. */
static int emit_to_both_streams(source *s, gale_collector *out, const gale_value *values, size_t count) {
    if (s->emitted % 2 == 0) return gale_emit_tracked(out, 0, values, count, s->emitted);
    return gale_emit_direct_tracked(out, 1 + s->emitted % 7, 1, values, count, s->emitted);
}

static void a_bolt_may_take_two_streams_each_by_a_grouping_of_its_own(void **state) {
    rig r;
    begin(&r, emit_to_both_streams);
    add(&r, "c", 7, NULL, gale_global());
    assert_int_equal(gale_topology_subscribe(r.topology, "c", "s", "side", gale_direct()), 0);
    run(&r, *(uint32_t *)*state);
    for (uint32_t s = 0; s < SOURCES; s++)
        for (uint32_t k = 0; k < TUPLES; k++) assert_int_equal(only_target(s, k), k % 2 ? k % 7 : 0);
    rig_fini(&r);
}

static void of_two_subscriptions_to_one_stream_the_last_one_counts(void **state) {
    rig r;
    begin(&r, emit_by_grouping);
    add(&r, "c", 7, NULL, gale_all());
    assert_int_equal(gale_topology_subscribe(r.topology, "c", "s", "default", gale_global()), 1);
    run(&r, *(uint32_t *)*state);
    for (uint32_t s = 0; s < SOURCES; s++)
        for (uint32_t k = 0; k < TUPLES; k++) assert_int_equal(only_target(s, k), 0);
    rig_fini(&r);
}

/* --- Golden ------------------------------------------------------------------------------------------------------- */

/* Where the keys 0 to 29 go by fields with 7 tasks. Another process, another machine, another run: the
 * same, in version 2 of the hash. Who changes one of these sends keys to other tasks than the last release did. */
static void fields_send_keys_where_they_always_did(void **state) {
    static const uint8_t golden[KEYS] = { 6, 5, 0, 2, 5, 3, 3, 6, 5, 4, 0, 3, 2, 6, 0,
                                          6, 6, 6, 4, 5, 3, 2, 3, 0, 0, 5, 1, 0, 1, 4 };
    run_one(state, gale_fields("key"), 7, false, emit_by_grouping);
    for (uint32_t k = 0; k < TUPLES; k++) assert_int_equal(only_target(0, k), golden[key_of(k)]);
}

#define ON_1_2_5(test)                                                                                                 \
    { #test " on 1", test, NULL, NULL, &one }, { #test " on 2", test, NULL, NULL, &two }, {                            \
#test " on 5", test, NULL, NULL, &five                                                                         \
    }

int main(void) {
    static uint32_t one = 1, two = 2, five = 5;
    const struct CMUnitTest tests[] = {
        ON_1_2_5(shuffle_takes_turns_evenly_when_load_awareness_is_off),
        ON_1_2_5(shuffle_stays_on_the_executor_while_nothing_there_is_congested),
        ON_1_2_5(local_or_shuffle_stays_on_the_executor_that_has_a_target),
        ON_1_2_5(fields_send_a_key_to_one_task_whoever_emits_it),
        ON_1_2_5(all_reaches_every_task_once),
        ON_1_2_5(global_reaches_the_lowest_task),
        ON_1_2_5(none_draws_each_target_alone),
        ON_1_2_5(partial_key_splits_a_key_over_two_tasks_by_what_the_emitter_used),
        ON_1_2_5(partial_key_without_names_goes_by_the_first_field),
        ON_1_2_5(direct_reaches_the_task_that_the_emitter_names),
        ON_1_2_5(custom_reaches_the_tasks_that_its_function_chooses),
        ON_1_2_5(a_key_that_is_no_value_is_refused_before_a_grouping_looks_at_it),
        ON_1_2_5(as_many_values_as_there_are_numbers_are_refused_by_every_kind_of_stream),
        ON_1_2_5(an_emit_whose_choice_is_not_valid_goes_nowhere),
        ON_1_2_5(several_consumers_of_one_stream_are_each_served_by_their_own_grouping),
        ON_1_2_5(a_bolt_may_take_two_streams_each_by_a_grouping_of_its_own),
        ON_1_2_5(of_two_subscriptions_to_one_stream_the_last_one_counts),
        ON_1_2_5(fields_send_keys_where_they_always_did),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
