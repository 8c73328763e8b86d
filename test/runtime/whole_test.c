/* Walks over everything that an executor has: a topology that is well has no flaw at any step, and each lie is found. */
#include "runtime/rig.h"

#include "runtime/runtime.h"
#include "runtime/whole.h"

static rig_spout spout;
static rig_bolt a, c;

static gx_executor *executor(const rig *r, uint32_t index) {
    return r->runtime->shared.executors[index];
}

static gx_task *task(const rig *r, const char *component) {
    return r->runtime->shared.tasks[rig_task_number(r, component, 0)];
}

static void expect_whole(const rig *r) {
    for (uint32_t i = 0; i < gale_runtime_executor_count(r->runtime); i++) {
        const char *flaw = gx_whole_flaw(executor(r, i));
        if (flaw) fail_msg("executor %u: %s", i, flaw);
    }
    const char *flaw = gx_whole_batches_flaw(&r->runtime->shared);
    if (flaw) fail_msg("%s", flaw);
}

static int hold_some(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    if (gale_tuple_is_tick(tuple)) {
        while (bolt->held_count) gale_ack(out, bolt->held[--bolt->held_count]);
        return 0;
    }
    switch (bolt->seen++ % 4) {
    case 0: return gale_tuple_hold(out, gale_tuple_handle(tuple), &bolt->held[bolt->held_count++]);
    case 1: return gale_fail(out, gale_tuple_handle(tuple), GALE_REASON_USER, "no luck");
    case 2: return 0; /* forgotten */
    default: return gale_ack(out, gale_tuple_handle(tuple));
    }
}

static void build(rig *r, uint64_t to_emit) {
    memset(&spout, 0, sizeof spout);
    memset(&a, 0, sizeof a);
    memset(&c, 0, sizeof c);
    spout.to_emit = to_emit;
    a.on = rig_twice;
    c.on = hold_some;
    rig_init(r);
    gale_topology_add_spout(r->topology, "spout", rig_spout_of(&spout), 1);
    gale_topology_add_bolt(r->topology, "a", rig_simple(&a), 2);
    gale_topology_add_bolt(r->topology, "c", rig_manual(&c), 1);
    gale_topology_subscribe(r->topology, "a", "spout", NULL, gale_shuffle());
    gale_topology_subscribe(r->topology, "c", "a", NULL, gale_shuffle());
    gale_topology_set(r->topology, "c", "topology.tick.tuple.freq.secs", gale_i64(1));
    gale_topology_set(r->topology, NULL, "topology.message.timeout.secs", gale_i64(3));
    gale_topology_set(r->topology, NULL, "topology.max.spout.pending", gale_i64(100));
    gale_topology_set(r->topology, NULL, "topology.replay.attempts", gale_i64(2));
    gale_topology_set(r->topology, NULL, "gale.executor", gale_i64(0));
}

static void a_topology_that_is_well_has_no_flaw_after_any_step(void **state) {
    (void)state;
    for (uint32_t executors = 1; executors <= 3; executors++) {
        rig r;
        build(&r, 500);
        if (executors > 1) gale_topology_set(r.topology, "c", "gale.executor", gale_i64(executors - 1));
        rig_make(&r, executors);
        for (int i = 0; i < 2000; i++) {
            gale_runtime_step(r.runtime);
            if (i % 3 == 0) gale_manual_clock_advance(r.clock, 50 * GALE_MILLISECOND);
            expect_whole(&r);
        }
        assert_int_equal(spout.acks + spout.fails, 500);
        rig_fini(&r);
    }
}

/* A lie, until it is taken back. */
#define EXPECT_FLAW(r, lie, truth, words)                                                                              \
    do {                                                                                                               \
        expect_whole(r);                                                                                               \
        lie;                                                                                                           \
        const char *flaw = gx_whole_flaw(executor(r, 0));                                                              \
        if (!flaw || strcmp(flaw, words) != 0) fail_msg("'%s', not '%s'", flaw ? flaw : "", words);                    \
        truth;                                                                                                         \
    } while (0)

static void each_lie_is_found(void **state) {
    (void)state;
    rig r;
    build(&r, 50);
    rig_make(&r, 1);
    rig_settle(&r);
    gx_executor *ex = executor(&r, 0);
    gx_task *spout_task = task(&r, "spout"), *holder = task(&r, "c");
    EXPECT_FLAW(&r, ex->cursor.state = GX_CURSOR_OPEN, ex->cursor.state = GX_CURSOR_NONE,
                "a tuple is in execution, and no step is made");
    EXPECT_FLAW(&r, gx_executor_call(ex, holder), gx_executor_call(ex, NULL), "a call goes on, and no step is made");
    EXPECT_FLAW(&r, ex->settle.last_root = 1, ex->settle.last_root = 0, "acks were combined, and not sent");
    EXPECT_FLAW(&r, holder->queued++, holder->queued--, "a task's queue is not as heavy as it says");
    EXPECT_FLAW(&r, holder->tick.waiting = true, holder->tick.waiting = false,
                "a tick waits that is not said to, or the other way round");
    EXPECT_FLAW(&r, holder->congested = true, holder->congested = false,
                "a task is congested for itself, and not for others");
    EXPECT_FLAW(&r, ex->parked_tasks++, ex->parked_tasks--,
                "tasks for which something waits are not as many as is said");
    EXPECT_FLAW(&r, gx_count(&ex->batches.used, GX_BATCH_SMALL),
                gx_count(&ex->batches.used, 0 - (uint64_t)GX_BATCH_SMALL), "a batch is neither free nor in use");
    EXPECT_FLAW(&r, ex->local_touched++, ex->local_touched--, "the local queue has not as many rows as it says");
    EXPECT_FLAW(&r, ex->local_bytes++, ex->local_bytes--, "the local queue is not as heavy as it says");
    EXPECT_FLAW(&r, ex->turn = holder, ex->turn = NULL, "a turn goes on, and no step is made");
    EXPECT_FLAW(&r, ex->open[holder->id].at++, ex->open[holder->id].at--, "a batch is open, and no step is made");
    EXPECT_FLAW(&r, holder->held.count++, holder->held.count--, "there are not as many tuples held as is said");
    EXPECT_FLAW(&r, gx_count(&holder->counters.held, 1), gx_count(&holder->counters.held, (uint64_t)-1),
                "the figure of held tuples is not theirs");
    EXPECT_FLAW(&r, spout_task->spout.pending++, spout_task->spout.pending--,
                "spouts have not as many trees pending as they say");
    EXPECT_FLAW(&r, ex->ledger.counters.retained_bytes++, ex->ledger.counters.retained_bytes--,
                "what is kept is not as large as is said");
    rig_fini(&r);
}

static const char *lost_batch_flaw(const rig *r) {
    return gx_whole_batches_flaw(&r->runtime->shared);
}

/* Each executor's own sums hold; only over all of them is a batch seen to be nowhere. */
static void a_batch_that_is_in_no_place_or_in_two_is_found(void **state) {
    (void)state;
    rig r;
    build(&r, 50);
    gale_topology_set(r.topology, "c", "gale.executor", gale_i64(1));
    rig_make(&r, 2);
    rig_settle(&r);
    gx_executor *ex = executor(&r, 0), *other = executor(&r, 1);
    assert_null(lost_batch_flaw(&r));
    gx_batch *batch = gx_batch_take(&ex->batches, false, 8);
    gx_store64(batch->bytes, 8);
    batch->used = 8;
    assert_null(gx_batches_flaw(&ex->batches));
    assert_string_equal(lost_batch_flaw(&r), "a batch is in no place, or in two");
    gx_batch_list_push(&other->local, batch);
    assert_null(lost_batch_flaw(&r));
    gx_batch_list twice = ex->local;
    ex->local = other->local;
    assert_string_equal(lost_batch_flaw(&r), "a batch is in no place, or in two");
    ex->local = twice;
    gx_batch_list_pop(&other->local);
    gx_batch_give(&ex->batches, batch);
    assert_null(lost_batch_flaw(&r));
    rig_fini(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_topology_that_is_well_has_no_flaw_after_any_step),
        cmocka_unit_test(each_lie_is_found),
        cmocka_unit_test(a_batch_that_is_in_no_place_or_in_two_is_found),
    };
    return rig_run_on_both_ledgers(tests);
}
