/* Turns: what is open is in no queue, what is closed is in one, and what holds for the rows of a batch was settled when
 * that was opened. Most tests take the place of a task's function between two steps. */
#include "engine/turn.h"

#include "engine/drop.h"
#include "engine/tick.h"
#include "harness/counting_allocator.h"
#include "runtime/rig.h"
#include "runtime/runtime.h"
#include "runtime/step.h"
#include "runtime/whole.h"

#include <string.h>

enum { ROW = 32, LIMIT = 4096 }; /* a row of two numbers, without roots */

static rig_spout spout;
static rig_bolt a, b, c;

typedef struct fixture {
    rig r;
    gx_executor *ex;
    gx_task *a, *b, *c; /* the first two feed the third */
} fixture;

static gx_task *task_of(const rig *r, const char *component) {
    return r->runtime->shared.tasks[rig_task_number(r, component, 0)];
}

/* Sees each emitter's numbers grow. */
static int64_t last_of[64];

static int take_in_order(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    if (gale_tuple_is_tick(tuple)) return 0;
    int64_t number = gale_tuple_value(tuple, 0).as.i64, *last = &last_of[gale_tuple_task(tuple)];
    assert_true(number > *last);
    *last = number;
    return rig_take(bolt, tuple, out);
}

static void build(rig *r, gale_grouping grouping) {
    memset(&spout, 0, sizeof spout);
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    memset(&c, 0, sizeof c);
    for (size_t i = 0; i < sizeof last_of / sizeof *last_of; i++) last_of[i] = -1;
    a.on = b.on = rig_pass;
    c.on = take_in_order;
    rig_init(r);
    gale_topology_add_spout(r->topology, "spout", rig_spout_of(&spout), 1);
    gale_topology_add_bolt(r->topology, "a", rig_simple(&a), 1);
    gale_topology_add_bolt(r->topology, "b", rig_simple(&b), 1);
    gale_topology_add_bolt(r->topology, "c", rig_simple(&c), 1);
    gale_topology_subscribe(r->topology, "a", "spout", NULL, gale_shuffle());
    gale_topology_subscribe(r->topology, "b", "spout", NULL, gale_shuffle());
    gale_topology_subscribe(r->topology, "c", "a", NULL, grouping);
    gale_topology_subscribe(r->topology, "c", "b", NULL, gale_shuffle());
    gale_topology_subscribe(r->topology, "c", "b", "side", gale_shuffle());
}

static void make_with(fixture *f, gale_runtime_options options) {
    rig_make_with(&f->r, options);
    rig_settle(&f->r);
    f->a = task_of(&f->r, "a");
    f->b = task_of(&f->r, "b");
    f->c = task_of(&f->r, "c");
    f->ex = f->a->executor;
}

static void setup_with(fixture *f, gale_grouping grouping, uint64_t limit) {
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    memset(f, 0, sizeof *f);
    options.executors = 1;
    options.queue_limit = limit;
    build(&f->r, grouping);
    make_with(f, options);
}

static void setup(fixture *f) {
    setup_with(f, gale_shuffle(), 0);
}

/* Everything is run: as many rows as are said have come to the last bolt, and all batches are home. */
static void finish(fixture *f, uint64_t rows) {
    rig_settle(&f->r);
    assert_int_equal(c.seen, rows);
    assert_null(gx_whole_flaw(f->ex));
    assert_null(gx_whole_batches_flaw(&f->r.runtime->shared));
    assert_int_equal(gx_load_relaxed(&f->ex->batches.used), gx_batches_returning(&f->ex->batches));
    rig_fini(&f->r);
}

static int64_t next_number;

/* Writes a row where there is room for one. */
static void write_row(fixture *f) {
    gx_open *open = &f->ex->open[f->c->id];
    const gale_value values[] = { gale_i64(next_number), gale_i64(next_number) };
    next_number++;
    gale_head head = { ROW, 0, 0, 0 };
    assert_int_equal(gx_row_length(0, (size_t)gx_body_measure(values, 2), false), ROW);
    assert_true(gx_turn_has_room(open, open->batch->lane, ROW));
    memcpy(open->at, &head, sizeof head);
    gx_body_encode(values, 2, gx_row_tail((const gale_head *)open->at));
    gx_turn_written(f->ex, f->c, ROW, 0);
}

static gx_batch *open_one(fixture *f) {
    assert_int_equal(gx_turn_open(f->ex, f->c, NULL, ROW), GALE_OK);
    return f->ex->open[f->c->id].batch;
}

/* Fills what is open to its last row. Returns how many those were. */
static uint64_t fill(fixture *f) {
    uint64_t rows = 0;
    for (; gx_turn_has_room(&f->ex->open[f->c->id], 0, ROW); rows++) write_row(f);
    return rows;
}

static uint64_t used(const fixture *f) {
    return gx_load_relaxed(&f->ex->batches.used);
}

/* --- Opening and closing --- */

static void what_is_opened_counts_whole_and_waits_nowhere_until_the_turn_ends(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    gx_turn_begin(f.ex, f.a);
    const gx_batch *batch = open_one(&f);
    assert_int_equal(batch->source, f.a->id);
    assert_int_equal(batch->target, f.c->id);
    assert_int_equal(batch->lane, 0);
    uint64_t weight = gx_batch_weight(batch);
    assert_int_equal(f.c->queued, weight);
    assert_int_equal(f.ex->local_bytes, weight);
    write_row(&f);
    write_row(&f);
    assert_int_equal(f.c->queued, weight);
    assert_int_equal(f.ex->local.count, 0);
    gx_turn_end(f.ex);
    assert_int_equal(f.ex->local.count, 1);
    assert_ptr_equal(f.ex->local.head, batch);
    assert_int_equal(gx_batch_rows(batch), 2);
    assert_int_equal(batch->used, 2 * ROW);
    assert_int_equal(f.c->queued, weight);
    assert_null(gx_whole_flaw(f.ex));
    assert_null(gx_whole_batches_flaw(&f.r.runtime->shared));
    finish(&f, 2);
}

static void a_batch_without_rows_goes_back_and_counts_no_more(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    gx_turn_begin(f.ex, f.a);
    open_one(&f);
    assert_true(used(&f) > 0);
    gx_turn_end(f.ex);
    assert_int_equal(used(&f), 0);
    assert_int_equal(f.c->queued, 0);
    assert_int_equal(f.ex->local_bytes, 0);
    assert_int_equal(f.ex->local.count, 0);
    assert_null(gx_whole_flaw(f.ex));
    finish(&f, 0);
}

static void a_turn_may_end_without_anything_and_twice(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    gx_turn_end(f.ex);
    gx_turn_begin(f.ex, f.a);
    gx_turn_close(f.ex);
    gx_turn_close(f.ex);
    gx_turn_end(f.ex);
    gx_turn_end(f.ex);
    assert_int_equal(used(&f), 0);
    finish(&f, 0);
}

/* As others ask what an executor is in: from the begin of a turn to its end, and since when. */
static void whose_turn_it_is_can_be_seen(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    gale_manual_clock_advance(f.r.clock, 7 * GALE_SECOND);
    gx_executor_tell_time(f.ex);
    gx_turn_begin(f.ex, f.a);
    assert_ptr_equal(gx_load_relaxed(&f.ex->in_call_seen), f.a);
    assert_int_equal(gx_load_relaxed(&f.ex->in_call_since), f.ex->now);
    gx_turn_begin(f.ex, f.b);
    assert_ptr_equal(gx_load_relaxed(&f.ex->in_call_seen), f.b);
    gx_turn_end(f.ex);
    assert_null(gx_load_relaxed(&f.ex->in_call_seen));
    finish(&f, 0);
}

static void a_full_batch_waits_before_the_one_that_is_opened_behind_it(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    gx_turn_begin(f.ex, f.a);
    uint64_t rows = 0;
    const gx_batch *batches[5];
    for (uint64_t i = 0; i < 5; i++) {
        assert_int_equal(f.ex->local.count, i ? i - 1 : 0);
        batches[i] = open_one(&f);
        assert_int_equal(f.ex->local.count, i);
        rows += fill(&f);
        assert_true(batches[i]->room - (uint32_t)(f.ex->open[f.c->id].at - batches[i]->bytes) < ROW);
    }
    gx_turn_end(f.ex);
    const gx_batch *at = f.ex->local.head;
    for (int i = 0; i < 5; i++, at = at->next) assert_ptr_equal(at, batches[i]);
    finish(&f, rows);
}

/* The turn goes on after its batches were closed, as before a slow call. */
static void what_is_closed_in_the_middle_is_not_joined_any_more(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    gx_turn_begin(f.ex, f.a);
    const gx_batch *first = open_one(&f);
    write_row(&f);
    gx_turn_close(f.ex);
    assert_int_equal(f.ex->local.count, 1);
    assert_false(gx_turn_has_room(&f.ex->open[f.c->id], 0, ROW));
    assert_ptr_equal(f.ex->turn, f.a);
    assert_ptr_not_equal(open_one(&f), first);
    write_row(&f);
    assert_int_equal(first->used, ROW);
    gx_turn_end(f.ex);
    finish(&f, 2);
}

static void a_row_has_room_where_one_may_begin_and_all_of_it_fits(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    gx_turn_begin(f.ex, f.a);
    gx_open *open = &f.ex->open[f.c->id];
    assert_false(gx_turn_has_room(open, 0, 8)); /* there is none */
    gx_batch *batch = open_one(&f);
    assert_true(gx_turn_has_room(open, 0, gx_batch_space(batch)));
    assert_false(gx_turn_has_room(open, 0, gx_batch_space(batch) + 8));
    assert_false(gx_turn_has_room(open, 1, 8));
    write_row(&f);
    assert_true(gx_turn_has_room(open, 0, gx_batch_space(batch) - ROW));
    assert_false(gx_turn_has_room(open, 0, gx_batch_space(batch) - ROW + 8));
    batch->room = ROW; /* loads are small: the rows of one are over */
    assert_false(gx_turn_has_room(open, 0, 8));
    batch->room = gx_batch_space(batch);
    gx_turn_end(f.ex);
    finish(&f, 1);
}

/* Blocks that rows name count from when the row is written until it was run. */
static void blocks_count_with_their_batch(void **state) {
    (void)state;
    static char text[5000];
    const gale_value values[] = { gale_i64(0), gale_string(text, sizeof text) };
    fixture f;
    setup(&f);
    gx_turn_begin(f.ex, f.a);
    assert_int_equal(gale_emit(&f.a->out, 0, values, 2), 1);
    const gx_batch *batch = f.ex->open[f.c->id].batch;
    assert_true(batch->blocks >= sizeof text);
    assert_int_equal(f.c->queued, gx_batch_weight(batch));
    assert_int_equal(f.ex->local_bytes, gx_batch_weight(batch));
    gx_turn_end(f.ex);
    assert_null(gx_whole_flaw(f.ex));
    next_number = 1;
    finish(&f, 1);
}

/* --- Sizes --- */

/* One turn with so many rows; returns how the batch that it began with was. */
static bool begins_large(fixture *f, uint64_t rows, uint64_t *total) {
    gx_turn_begin(f->ex, f->a);
    bool large = open_one(f)->parts > 1;
    for (; rows; rows--, ++*total) {
        if (!gx_turn_has_room(&f->ex->open[f->c->id], 0, ROW)) open_one(f);
        write_row(f);
    }
    gx_turn_end(f->ex);
    rig_settle(&f->r);
    return large;
}

static void who_was_given_much_gets_a_large_batch_next_time_and_who_was_given_little_a_small_one(void **state) {
    (void)state;
    enum { FEW = GX_BATCH_ROOM_SMALL / ROW };
    fixture f;
    uint64_t rows = 0;
    setup(&f);
    assert_false(begins_large(&f, 1, &rows));
    assert_false(begins_large(&f, FEW, &rows)); /* as many as fit: it was not filled by one more */
    assert_false(begins_large(&f, FEW + 1, &rows));
    assert_true(begins_large(&f, FEW + 1, &rows));
    assert_true(begins_large(&f, FEW, &rows));
    assert_false(begins_large(&f, 1, &rows));
    finish(&f, rows);
}

static void in_one_turn_the_second_batch_is_large(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    gx_turn_begin(f.ex, f.a);
    assert_int_equal(open_one(&f)->parts, 1);
    uint64_t rows = fill(&f);
    assert_int_equal(open_one(&f)->parts, GX_BATCH_PARTS);
    rows += fill(&f);
    assert_int_equal(open_one(&f)->parts, GX_BATCH_PARTS);
    gx_turn_end(f.ex);
    finish(&f, rows);
}

/* --- Marks and limits --- */

/* Opens while `queued` is below: what is opened last is above by less than its own weight. */
static void small_batches_lead_up_to_the_mark_and_one_above_it_congests(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    gx_turn_begin(f.ex, f.a);
    uint64_t high = f.ex->queue_high, rows = 0;
    bool was_large = false;
    f.ex->run_end = (const unsigned char *)&f; /* any place */
    while (f.c->queued <= high) {
        uint64_t before = f.c->queued;
        assert_false(f.c->congested);
        assert_false(gx_load_relaxed(&f.r.runtime->shared.flow.congested[f.c->id]));
        const gx_batch *batch = open_one(&f);
        was_large |= batch->parts > 1;
        if (before + GX_BATCH_LARGE > high) assert_int_equal(batch->parts, 1);
        write_row(&f);
        rows++;
    }
    assert_true(was_large);
    assert_true(f.c->queued <= high + GX_BATCH_SMALL);
    assert_true(f.c->congested);
    assert_null(f.ex->run_end); /* who emits is to look */
    gx_turn_end(f.ex);
    finish(&f, rows);
    assert_int_equal(rows, (uint64_t)c.seen);
}

static void at_the_limit_there_is_no_room_and_a_refusal_opens_nothing(void **state) {
    (void)state;
    fixture f;
    setup_with(&f, gale_shuffle(), LIMIT);
    gx_turn_begin(f.ex, f.a);
    uint64_t rows = 0, batches = 0;
    while (f.c->queued <= LIMIT) {
        assert_int_equal(open_one(&f)->parts, 1); /* the limit is near */
        rows += fill(&f);
        batches++;
    }
    assert_int_equal(batches, LIMIT / GX_BATCH_SMALL + 1);
    uint64_t queued = f.c->queued, bytes = used(&f);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(gx_turn_open(f.ex, f.c, NULL, ROW), GX_TURN_FULL);
        assert_null(f.ex->open[f.c->id].batch);
        assert_false(gx_turn_has_room(&f.ex->open[f.c->id], 0, 8));
        assert_int_equal(f.c->queued, queued);
        assert_int_equal(used(&f), bytes);
        assert_int_equal(f.ex->local.count, batches); /* what was open is closed */
    }
    gx_turn_end(f.ex);
    finish(&f, rows);
}

static void without_memory_nothing_is_opened_and_what_was_open_is_closed(void **state) {
    (void)state;
    fixture f;
    counting_allocator counting = { 0 };
    gale_allocator allocator = counting_handle(&counting);
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    memset(&f, 0, sizeof f);
    options.executors = 1;
    options.allocator = &allocator;
    build(&f.r, gale_shuffle());
    make_with(&f, options);
    uint64_t rows = 0, refused = 0;
    gx_turn_begin(f.ex, f.a);
    for (size_t n = 1; n <= 4; n++) {
        counting.fail_at = counting.calls + 1;
        while (f.ex->open[f.c->id].batch || rows == 0) {
            uint64_t queued = f.c->queued, bytes = used(&f);
            int rc = gx_turn_open(f.ex, f.c, NULL, ROW);
            if (rc == GALE_NO_MEMORY) {
                assert_null(f.ex->open[f.c->id].batch);
                assert_int_equal(f.c->queued, queued);
                assert_int_equal(used(&f), bytes);
                refused++;
                break;
            }
            assert_int_equal(rc, GALE_OK);
            write_row(&f);
            rows++;
        }
        open_one(&f); /* there is memory again */
        write_row(&f);
        rows++;
    }
    assert_int_equal(refused, 4);
    gx_turn_end(f.ex);
    assert_null(gx_whole_flaw(f.ex));
    finish(&f, rows);
    assert_int_equal(counting.blocks, 0);
}

/* The first target is at its limit, and there is no memory for the other's batch. */
static void an_emit_that_finds_no_memory_has_shed_nothing(void **state) {
    (void)state;
    fixture f;
    counting_allocator counting = { 0 };
    gale_allocator allocator = counting_handle(&counting);
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    const gale_value values[2] = { gale_i64(1), gale_i64(2) };
    gx_batch_list held = { 0 };
    memset(&f, 0, sizeof f);
    options.executors = 1;
    options.queue_limit = LIMIT;
    options.allocator = &allocator;
    build(&f.r, gale_shuffle());
    make_with(&f, options);
    gx_task *emitter = task_of(&f.r, "spout");
    gx_turn_begin(f.ex, emitter);
    f.a->queued += 2 * LIMIT;
    assert_int_equal(gale_emit(&emitter->out, 0, values, 2), 1); /* to the other alone */
    gx_turn_end(f.ex);
    assert_int_equal(rig_task(&f.r, "a", 0).shed, 1);
    counting.fail_at = counting.calls + 1;
    counting.fail_after = true;
    for (gx_batch *batch; (batch = gx_batch_take(&f.ex->batches, false, ROW)) != NULL;)
        gx_batch_list_push(&held, batch);
    gx_turn_begin(f.ex, emitter);
    assert_int_equal(gale_emit(&emitter->out, 0, values, 2), GALE_NO_MEMORY);
    gx_turn_end(f.ex);
    assert_int_equal(rig_task(&f.r, "a", 0).shed, 1);
    while (held.count) gx_batch_give(&f.ex->batches, gx_batch_list_pop(&held));
    f.a->queued -= 2 * LIMIT;
    counting.fail_after = false;
    counting.fail_at = 0;
    rig_settle(&f.r);
    assert_int_equal(rig_task(&f.r, "b", 0).executed, 1);
    rig_fini(&f.r);
    assert_int_equal(counting.blocks, 0);
}

/* --- Drops --- */

static const gx_plan_drop *drop_of(const fixture *f) {
    assert_int_equal(f->c->plan->drop_count, 1);
    return &f->c->plan->drops[0];
}

static void rows_that_may_be_dropped_have_batches_of_their_own(void **state) {
    (void)state;
    fixture f;
    setup_with(&f, gale_drop_oldest(gale_shuffle()), 0);
    const gx_plan_drop *drop = drop_of(&f);
    gx_turn_begin(f.ex, f.a);
    assert_int_equal(gx_turn_open(f.ex, f.c, drop, ROW), GALE_OK);
    const gx_batch *dropping = f.ex->open[f.c->id].batch;
    assert_int_equal(dropping->lane, drop->lane);
    assert_int_equal(f.c->queued, 0); /* it holds nobody */
    assert_int_equal(f.c->lanes->weight, gx_batch_weight(dropping));
    assert_int_equal(f.ex->local_bytes, 0);
    assert_false(gx_turn_has_room(&f.ex->open[f.c->id], 0, ROW));
    write_row(&f);
    gx_batch *other = open_one(&f);
    assert_int_equal(f.c->queued, gx_batch_weight(other));
    assert_int_equal(f.c->lanes->waiting, 1); /* the one before is closed, and in its lane */
    write_row(&f);
    gx_turn_end(f.ex);
    assert_int_equal(f.ex->local.count, 0);
    assert_true(other->number > dropping->number);
    assert_null(gx_whole_flaw(f.ex));
    assert_null(gx_whole_batches_flaw(&f.r.runtime->shared));
    finish(&f, 2);
}

static void an_unused_batch_that_may_be_dropped_goes_back(void **state) {
    (void)state;
    fixture f;
    setup_with(&f, gale_drop_newest(gale_shuffle()), 0);
    gx_turn_begin(f.ex, f.a);
    assert_int_equal(gx_turn_open(f.ex, f.c, drop_of(&f), ROW), GALE_OK);
    gx_turn_end(f.ex);
    assert_int_equal(f.c->lanes->weight, 0);
    assert_int_equal(used(&f), 0);
    assert_null(gx_whole_flaw(f.ex));
    finish(&f, 0);
}

static uint64_t dropped(const fixture *f) {
    return gx_load_relaxed(&f->ex->dropped[drop_of(f)->first_slot + f->c->context.task_index]);
}

static void the_newest_are_refused_above_the_mark(void **state) {
    (void)state;
    fixture f;
    setup_with(&f, gale_drop_newest(gale_shuffle()), 0);
    const gx_plan_drop *drop = drop_of(&f);
    uint64_t high = f.ex->queue_high, rows = 0;
    gx_turn_begin(f.ex, f.a);
    while (f.c->lanes->weight <= high) {
        assert_int_equal(gx_turn_open(f.ex, f.c, drop, ROW), GALE_OK);
        write_row(&f);
        rows++;
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(gx_turn_open(f.ex, f.c, drop, ROW), GX_TURN_DROPPED);
        assert_null(f.ex->open[f.c->id].batch);
    }
    assert_int_equal(dropped(&f), 0); /* who emits counts it */
    open_one(&f);                     /* by the other input there is room */
    write_row(&f);
    assert_true(f.c->lanes->weight <= high + GX_BATCH_LARGE);
    gx_turn_end(f.ex);
    finish(&f, rows + 1);
}

static void the_oldest_make_room_and_what_is_open_stays(void **state) {
    (void)state;
    fixture f;
    setup_with(&f, gale_drop_oldest(gale_shuffle()), 0);
    const gx_plan_drop *drop = drop_of(&f);
    uint64_t high = f.ex->queue_high, rows = 0;
    gx_turn_begin(f.ex, f.a);
    for (; dropped(&f) < 10; rows++) {
        assert_true(rows < 10000);
        assert_int_equal(gx_turn_open(f.ex, f.c, drop, ROW), GALE_OK);
        write_row(&f);
        assert_true(f.c->lanes->weight <= high + GX_BATCH_LARGE);
    }
    gx_turn_end(f.ex);
    assert_null(gx_whole_flaw(f.ex));
    finish(&f, rows - dropped(&f));
}

/* --- Elsewhere --- */

static void what_is_for_another_executor_counts_there_and_goes_out_at_the_end(void **state) {
    (void)state;
    fixture f;
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    memset(&f, 0, sizeof f);
    options.executors = 2;
    build(&f.r, gale_shuffle());
    gale_topology_set(f.r.topology, NULL, "gale.executor", gale_i64(0));
    gale_topology_set(f.r.topology, "c", "gale.executor", gale_i64(1));
    make_with(&f, options);
    gx_outlet *outlet = &f.ex->outlets[1];
    uint64_t sent = outlet->sent;
    gx_turn_begin(f.ex, f.a);
    open_one(&f);
    write_row(&f);
    assert_int_equal(f.c->queued + f.ex->local_bytes, 0);
    assert_int_equal(outlet->sent, sent);
    gx_turn_close(f.ex);
    assert_int_equal(outlet->sent, sent + 1);
    assert_true(outlet->ring.published != outlet->ring.tail);
    open_one(&f);
    write_row(&f);
    gx_turn_publish(f.ex);
    assert_int_equal(outlet->sent, sent + 2);
    assert_true(outlet->ring.published == outlet->ring.tail);
    open_one(&f); /* and none that is not used */
    gx_turn_end(f.ex);
    assert_int_equal(outlet->sent, sent + 2);
    assert_null(gx_whole_batches_flaw(&f.r.runtime->shared));
    finish(&f, 2);
}

static uint64_t shown_quiet(gx_executor *ex) {
    uint64_t words[sizeof(gx_shown) / 8];
    gx_shown shown;
    for (size_t i = 0; i < sizeof words / 8; i++) words[i] = gx_load_relaxed(&ex->shown[i]);
    memcpy(&shown, words, sizeof shown);
    return shown.quiet;
}

/* Two executors, of which the control wants to know whether they are quiet, and they are. */
static void setup_apart(fixture *f) {
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    memset(f, 0, sizeof *f);
    options.executors = 2;
    build(&f->r, gale_shuffle());
    gale_topology_set(f->r.topology, NULL, "gale.executor", gale_i64(0));
    gale_topology_set(f->r.topology, "c", "gale.executor", gale_i64(1));
    make_with(f, options);
    f->r.runtime->shared.until_drained = true;
    gx_step(f->ex);
    assert_int_equal(shown_quiet(f->ex), GALE_PHASE_RUNNING);
    gx_step(f->ex);
    assert_int_equal(shown_quiet(f->ex), GALE_PHASE_RUNNING); /* nothing went out */
}

static void who_shows_others_something_is_not_quiet_any_more(void **state) {
    (void)state;
    fixture f;
    setup_apart(&f);
    gx_turn_begin(f.ex, f.a);
    open_one(&f);
    write_row(&f);
    gx_turn_close(f.ex);
    assert_int_equal(shown_quiet(f.ex), GALE_PHASE_RUNNING);
    gx_turn_publish(f.ex);
    assert_int_equal(shown_quiet(f.ex), 0);
    gx_turn_end(f.ex);
    f.r.runtime->shared.until_drained = false;
    finish(&f, 1);
}

static void a_part_of_a_ring_is_shown_before_the_turn_ends(void **state) {
    (void)state;
    fixture f;
    setup_apart(&f);
    gx_batch_producer *ring = &f.ex->outlets[1].ring;
    uint64_t published = ring->published, part = ring->ring->capacity / GX_TURN_SHOWN, rows = 0;
    gx_turn_begin(f.ex, f.a);
    while (ring->published == published) {
        assert_in_range(ring->tail - published, 0, part);
        assert_int_equal(shown_quiet(f.ex), GALE_PHASE_RUNNING);
        open_one(&f);
        while (gx_turn_has_room(&f.ex->open[f.c->id], 0, ROW)) {
            write_row(&f);
            rows++;
        }
        gx_turn_close(f.ex);
    }
    assert_int_equal(ring->published, ring->tail);
    assert_true(ring->tail - published >= part);
    assert_int_equal(shown_quiet(f.ex), 0);
    gx_turn_end(f.ex);
    f.r.runtime->shared.until_drained = false;
    finish(&f, rows);
}

/* --- Whose turn it is --- */

static void a_change_of_the_emitter_ends_a_turn(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    gx_turn_begin(f.ex, f.a);
    for (int i = 0; i < 6; i++) {
        const gx_task *emitter = i % 2 ? f.b : f.a;
        gx_turn_take(f.ex, emitter);
        assert_int_equal(f.ex->local.count, i);
        assert_int_equal(open_one(&f)->source, emitter->id);
        write_row(&f);
        gx_turn_take(f.ex, emitter); /* no change */
        write_row(&f);
        assert_int_equal(f.ex->local.count, i);
    }
    gx_turn_end(f.ex);
    assert_int_equal(f.ex->local.count, 6);
    finish(&f, 12);
}

static gale_collector *others;

/* Emits with its own collector and with another task's by turns, `user` times each. */
static int emit_by_turns(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    int64_t times = *(const int64_t *)bolt->user;
    (void)tuple;
    for (int64_t i = 0; i < 2 * times; i++) {
        const gale_value values[] = { gale_i64(i), gale_i64(i) };
        assert_int_equal(gale_emit(i % 2 ? others : out, 0, values, 2), 1);
    }
    return 0;
}

/* To either stream, of which one has a single value. */
static int emit_with_the_others_alone(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    int64_t times = *(const int64_t *)bolt->user;
    (void)tuple, (void)out;
    for (int64_t i = 0; i < times; i++) {
        const gale_value values[] = { gale_i64(i), gale_i64(i) };
        assert_int_equal(gale_emit(others, 0, values, 2), 1);
    }
    for (int64_t i = 0; i < times; i++) {
        const gale_value value = gale_i64(times + i);
        assert_int_equal(gale_emit(others, 1, &value, 1), 1);
    }
    return 0;
}

static uint64_t with_roots;

static int count_roots(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    with_roots += gx_row_roots(tuple->head).count;
    return take_in_order(bolt, tuple, out);
}

/* Runs one tuple of the spout through `on`, which knows the other bolt's collector. */
static void run_on(fixture *f, int64_t times, int (*on)(rig_bolt *, const gale_tuple *, gale_collector *)) {
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    memset(f, 0, sizeof *f);
    options.executors = 1;
    build(&f->r, gale_shuffle());
    a.on = on;
    a.user = &times;
    b.on = rig_take;
    c.on = count_roots;
    with_roots = 0;
    spout.to_emit = 1;
    rig_make_with(&f->r, options);
    others = &task_of(&f->r, "b")->out;
    rig_settle(&f->r);
    assert_int_equal(spout.acks, 1);
}

static void two_tasks_that_emit_in_one_call_keep_their_orders(void **state) {
    (void)state;
    for (int64_t times = 1; times <= 200; times *= 5) {
        fixture f;
        run_on(&f, times, emit_by_turns);
        assert_int_equal(c.seen, 2 * times);
        assert_int_equal(last_of[task_of(&f.r, "a")->id], 2 * times - 2);
        assert_int_equal(last_of[task_of(&f.r, "b")->id], 2 * times - 1);
        assert_int_equal(with_roots, times); /* of those that the task emitted whose tuple it was */
        rig_fini(&f.r);
    }
}

/* The tuple in execution is not the other's: what it emits has no part in that tree, however often it does. */
static void what_a_task_emits_in_anothers_call_is_not_anchored(void **state) {
    (void)state;
    for (int64_t times = 1; times <= 3; times++) {
        fixture f;
        run_on(&f, times, emit_with_the_others_alone);
        assert_int_equal(c.seen, 2 * times);
        assert_int_equal(with_roots, 0);
        rig_fini(&f.r);
    }
}

static void a_tick_that_waits_does_not_count_in_the_queue_of_its_task(void **state) {
    (void)state;
    fixture f;
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    memset(&f, 0, sizeof f);
    options.executors = 1;
    build(&f.r, gale_shuffle());
    gale_topology_set(f.r.topology, "c", "topology.tick.tuple.freq.secs", gale_i64(1));
    make_with(&f, options);
    gale_manual_clock_advance(f.r.clock, GALE_SECOND);
    gx_executor_tell_time(f.ex);
    assert_int_equal(gx_tick_run(f.ex), 1);
    assert_true(f.c->tick.waiting);
    assert_int_equal(f.ex->local.count, 1);
    assert_int_equal(f.c->queued, 0);
    assert_null(gx_whole_flaw(f.ex));
    rig_settle(&f.r);
    assert_int_equal(rig_task(&f.r, "c", 0).ticks, 1);
    assert_int_equal(f.c->queued, 0);
    rig_fini(&f.r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_opened_counts_whole_and_waits_nowhere_until_the_turn_ends),
        cmocka_unit_test(a_batch_without_rows_goes_back_and_counts_no_more),
        cmocka_unit_test(a_turn_may_end_without_anything_and_twice),
        cmocka_unit_test(whose_turn_it_is_can_be_seen),
        cmocka_unit_test(a_full_batch_waits_before_the_one_that_is_opened_behind_it),
        cmocka_unit_test(what_is_closed_in_the_middle_is_not_joined_any_more),
        cmocka_unit_test(a_row_has_room_where_one_may_begin_and_all_of_it_fits),
        cmocka_unit_test(blocks_count_with_their_batch),
        cmocka_unit_test(who_was_given_much_gets_a_large_batch_next_time_and_who_was_given_little_a_small_one),
        cmocka_unit_test(in_one_turn_the_second_batch_is_large),
        cmocka_unit_test(small_batches_lead_up_to_the_mark_and_one_above_it_congests),
        cmocka_unit_test(at_the_limit_there_is_no_room_and_a_refusal_opens_nothing),
        cmocka_unit_test(without_memory_nothing_is_opened_and_what_was_open_is_closed),
        cmocka_unit_test(an_emit_that_finds_no_memory_has_shed_nothing),
        cmocka_unit_test(rows_that_may_be_dropped_have_batches_of_their_own),
        cmocka_unit_test(an_unused_batch_that_may_be_dropped_goes_back),
        cmocka_unit_test(the_newest_are_refused_above_the_mark),
        cmocka_unit_test(the_oldest_make_room_and_what_is_open_stays),
        cmocka_unit_test(what_is_for_another_executor_counts_there_and_goes_out_at_the_end),
        cmocka_unit_test(who_shows_others_something_is_not_quiet_any_more),
        cmocka_unit_test(a_part_of_a_ring_is_shown_before_the_turn_ends),
        cmocka_unit_test(a_change_of_the_emitter_ends_a_turn),
        cmocka_unit_test(two_tasks_that_emit_in_one_call_keep_their_orders),
        cmocka_unit_test(what_a_task_emits_in_anothers_call_is_not_anchored),
        cmocka_unit_test(a_tick_that_waits_does_not_count_in_the_queue_of_its_task),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
