#include "trees/ledger.h"

#include "harness/cm.h"
#include "harness/counting_allocator.h"

#include <pthread.h>

#define GENERATION_LAST ((1u << GX_LEDGER_GENERATION_BITS) - 1)

typedef struct fixture {
    counting_allocator counting;
    gx_heap heap;
    gx_ledger ledger;
    gx_random random;
} fixture;

/* What expires is late at once: nobody is asked. */
static uint32_t sweep(gx_ledger *ledger, int64_t now) {
    uint32_t seen = gx_ledger_sweep(ledger, now);
    for (size_t k = 0; k < ledger->expiring_count; k++) gx_ledger_expire(ledger, ledger->expiring[k], 0, "");
    ledger->expiring_count = 0;
    return seen;
}

static void setup(fixture *f, int64_t timeout) {
    memset(f, 0, sizeof *f);
    gale_allocator handle = counting_handle(&f->counting);
    gx_heap_init(&f->heap, &handle);
    f->random = gx_random_new(11, 12);
    gx_ledger_init(&f->ledger, &f->heap, 3, timeout, gx_random_new(1, 2));
}

/* In the middle of an answer. */
static void teardown_early(fixture *f) {
    gx_ledger_fini(&f->ledger);
    assert_int_equal(f->counting.blocks, 0);
    assert_int_equal(gx_heap_reserved(&f->heap), 0);
}

static void teardown(fixture *f) {
    assert_null(gx_ledger_flaw(&f->ledger));
    teardown_early(f);
}

static uint64_t open_at(fixture *f, uint64_t message_id, int64_t now) {
    uint64_t root = 0;
    assert_int_equal(gx_ledger_open(&f->ledger, 5, message_id, now, &root), GALE_OK);
    return root;
}

/* A tree with one edge. */
static uint64_t begin(fixture *f, uint64_t message_id, int64_t now, uint64_t *ret_edge) {
    uint64_t root = open_at(f, message_id, now);
    *ret_edge = gx_random_id(&f->random);
    gx_ledger_begin(&f->ledger, root, *ret_edge);
    return root;
}

static gx_answer answer(fixture *f, int64_t now) {
    gx_answer got;
    assert_true(gx_ledger_next_answer(&f->ledger, now, &got));
    return got;
}

static void no_answer(fixture *f) {
    gx_answer got;
    assert_false(gx_ledger_next_answer(&f->ledger, 0, &got));
}

/* The next answer is this one; gives the entry back. */
static void hear(fixture *f, uint64_t message_id, int state) {
    gx_answer got = answer(f, 0);
    assert_int_equal(got.message_id, message_id);
    assert_int_equal(got.state, state);
    gx_ledger_answered(&f->ledger, &got, 0);
}

/* The next tree to be opened has this generation. Returns its slot. */
static uint64_t set_generation(fixture *f, uint64_t generation) {
    gx_ledger_cancel(&f->ledger, open_at(f, 0, 0));
    uint64_t *root = &f->ledger.free[f->ledger.free_count - 1];
    *root = f->ledger.number | generation << GX_LEDGER_SLOT_BITS | gx_ledger_slot(*root);
    return gx_ledger_slot(*root);
}

static bool adds_up(const gx_tree_counters *c) {
    return c->trees == c->acked + c->failed + c->timed_out + c->stopped + c->open;
}

/* --- One tree --- */

static void a_new_ledger_holds_nothing_and_is_never_due(void **state) {
    (void)state;
    fixture f;
    setup(&f, GALE_SECOND);
    no_answer(&f);
    assert_int_equal(gx_ledger_due(&f.ledger), INT64_MAX);
    assert_int_equal(sweep(&f.ledger, 1000 * GALE_SECOND), 0);
    gx_ledger_stop(&f.ledger);
    no_answer(&f);
    gx_tree_counters counters = gx_ledger_read(&f.ledger);
    assert_int_equal(counters.trees, 0);
    teardown(&f);
}

static void a_root_names_ledger_generation_and_slot_and_is_never_zero(void **state) {
    (void)state;
    fixture f;
    setup(&f, 0);
    uint64_t first = open_at(&f, 1, 0), second = open_at(&f, 2, 0);
    assert_int_equal(first >> (GX_LEDGER_SLOT_BITS + GX_LEDGER_GENERATION_BITS), 3);
    assert_int_equal(second >> (GX_LEDGER_SLOT_BITS + GX_LEDGER_GENERATION_BITS), 3);
    assert_int_not_equal(first & 0xffffff, second & 0xffffff);
    teardown(&f);
}

static void a_tree_without_edges_is_acked_at_once(void **state) {
    (void)state;
    fixture f;
    setup(&f, 0);
    uint64_t root = open_at(&f, 8, 0);
    no_answer(&f);
    gx_ledger_begin(&f.ledger, root, 0);
    hear(&f, 8, GX_TREE_ACKED);
    assert_int_equal(gx_ledger_counters(&f.ledger).acked, 1);
    assert_int_equal(gx_ledger_counters(&f.ledger).open, 0);
    teardown(&f);
}

static void an_ack_of_the_only_edge_completes_and_tells_who_what_and_how_long(void **state) {
    (void)state;
    fixture f;
    setup(&f, 0);
    uint64_t edge, root = begin(&f, 77, 1000, &edge);
    no_answer(&f);
    gx_ledger_ack(&f.ledger, root, edge);
    gx_answer got = answer(&f, 1500);
    assert_int_equal(got.message_id, 77);
    assert_int_equal(got.task, 5);
    assert_int_equal(got.state, GX_TREE_ACKED);
    assert_int_equal(got.latency, 500);
    assert_null(got.note);
    gx_ledger_answered(&f.ledger, &got, 1500);
    no_answer(&f);
    teardown(&f);
}

static void a_failure_carries_reason_task_and_text_and_later_acks_are_stale(void **state) {
    (void)state;
    fixture f;
    setup(&f, 0);
    uint64_t edge, root = begin(&f, 4, 0, &edge);
    gx_ledger_fail(&f.ledger, root, GALE_REASON_USER + 5, 9, "cannot read line 3");
    gx_ledger_ack(&f.ledger, root, edge);
    gx_ledger_fail(&f.ledger, root, GALE_REASON_FAILED, 1, "too late");
    assert_int_equal(f.ledger.counters.stale, 2);
    gx_answer got = answer(&f, 0);
    assert_int_equal(got.state, GX_TREE_FAILED);
    assert_int_equal(got.message_id, 4);
    assert_non_null(got.note);
    assert_int_equal(got.note->reason, GALE_REASON_USER + 5);
    assert_int_equal(got.note->task, 9);
    assert_string_equal(got.note->text, "cannot read line 3");
    gx_ledger_answered(&f.ledger, &got, 0);
    no_answer(&f);
    assert_int_equal(f.ledger.counters.failed, 1);
    assert_int_equal(gx_ledger_counters(&f.ledger).acked, 0);
    teardown(&f);
}

static void a_failures_text_may_be_missing_and_is_cut_to_its_limit(void **state) {
    (void)state;
    fixture f;
    setup(&f, 0);
    uint64_t edge;
    gx_ledger_fail(&f.ledger, begin(&f, 1, 0, &edge), 0, 1, NULL);
    char text[GALE_FAILURE_TEXT + 50];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = 0;
    gx_ledger_fail(&f.ledger, begin(&f, 2, 0, &edge), 0, 1, text);
    gx_answer got = answer(&f, 0);
    assert_string_equal(got.note->text, "");
    gx_ledger_answered(&f.ledger, &got, 0);
    got = answer(&f, 0);
    assert_int_equal(strlen(got.note->text), GALE_FAILURE_TEXT);
    teardown_early(&f); /* with an answer that was not given back */
}

static void a_tree_whose_source_is_lost_has_failed_whatever_comes_later(void **state) {
    (void)state;
    fixture f;
    setup(&f, GALE_SECOND);
    uint64_t edge, root = begin(&f, 4, 0, &edge), other_edge, other = begin(&f, 5, 0, &other_edge);
    gx_ledger_lose(&f.ledger, root);
    gx_ledger_ack(&f.ledger, root, edge);
    gx_ledger_fail(&f.ledger, root, GALE_REASON_REJECTED, 1, "too late");
    assert_int_equal(f.ledger.counters.stale, 2);
    gx_answer got = answer(&f, 0);
    assert_int_equal(got.state, GX_TREE_LOST);
    assert_int_equal(got.message_id, 4);
    assert_null(got.note);
    gx_ledger_answered(&f.ledger, &got, 0);
    no_answer(&f);
    assert_int_equal(gx_ledger_counters(&f.ledger).failed, 1);
    assert_int_equal(gx_ledger_counters(&f.ledger).open, 1);
    assert_null(gx_ledger_flaw(&f.ledger));
    gx_ledger_ack(&f.ledger, other, other_edge);
    hear(&f, 5, GX_TREE_ACKED);
    teardown(&f);
}

static void notes_are_used_again(void **state) {
    (void)state;
    fixture f;
    setup(&f, 0);
    uint64_t edge;
    for (uint64_t i = 0; i < 100; i++) {
        gx_ledger_fail(&f.ledger, begin(&f, i, 0, &edge), 0, 1, "a");
        gx_ledger_fail(&f.ledger, begin(&f, i, 0, &edge), 0, 1, "b");
        size_t calls = f.counting.calls;
        if (i) assert_int_equal(calls, 4 + 2); /* the four arrays, two notes */
        hear(&f, i, GX_TREE_FAILED);
        hear(&f, i, GX_TREE_FAILED);
    }
    teardown(&f);
}

static void a_cancelled_tree_was_never_there(void **state) {
    (void)state;
    fixture f;
    setup(&f, 100);
    uint64_t root = open_at(&f, 1, 0);
    gx_ledger_cancel(&f.ledger, root);
    assert_int_equal(gx_ledger_counters(&f.ledger).trees, 0);
    assert_int_equal(gx_ledger_counters(&f.ledger).open, 0);
    gx_ledger_ack(&f.ledger, root, 5);
    assert_int_equal(f.ledger.counters.stale, 1);
    sweep(&f.ledger, 1000);
    gx_ledger_stop(&f.ledger);
    no_answer(&f);
    teardown(&f);
}

static void updates_for_slots_and_generations_that_do_not_exist_are_stale_and_harmless(void **state) {
    (void)state;
    fixture f;
    setup(&f, 0);
    uint64_t number = (uint64_t)3 << 52;
    gx_ledger_ack(&f.ledger, number, 1); /* no slot yet */
    uint64_t edge, root = begin(&f, 1, 0, &edge);
    gx_ledger_ack(&f.ledger, number | 0xffffff, edge);
    gx_ledger_ack(&f.ledger, root ^ (UINT64_C(1) << GX_LEDGER_SLOT_BITS), edge);
    gx_ledger_ack(&f.ledger, root ^ (UINT64_C(1) << 51), edge);
    gx_ledger_ack(&f.ledger, root ^ 1, edge); /* a free slot */
    gx_ledger_fail(&f.ledger, root ^ 1, 0, 0, NULL);
    assert_int_equal(f.ledger.counters.stale, 6);
    no_answer(&f);
    gx_ledger_ack(&f.ledger, root, edge);
    hear(&f, 1, GX_TREE_ACKED);
    gx_ledger_ack(&f.ledger, root, edge);
    assert_int_equal(f.ledger.counters.stale, 7);
    teardown(&f);
}

static void a_reused_slot_has_another_generation(void **state) {
    (void)state;
    fixture f;
    setup(&f, 0);
    uint64_t edge, old = begin(&f, 1, 0, &edge);
    gx_ledger_ack(&f.ledger, old, edge);
    uint64_t late = edge;
    hear(&f, 1, GX_TREE_ACKED);
    uint64_t root = begin(&f, 2, 0, &edge);
    assert_int_equal(root & 0xffffff, old & 0xffffff);
    assert_int_not_equal(root, old);
    gx_ledger_ack(&f.ledger, old, late);
    gx_ledger_fail(&f.ledger, old, 0, 0, NULL);
    no_answer(&f);
    gx_ledger_ack(&f.ledger, root, edge);
    hear(&f, 2, GX_TREE_ACKED);
    teardown(&f);
}

/* --- Answers --- */

static void answers_come_in_the_order_in_which_trees_were_answered(void **state) {
    (void)state;
    fixture f;
    setup(&f, 0);
    uint64_t edges[6], roots[6];
    for (uint64_t i = 0; i < 6; i++) roots[i] = begin(&f, i, 0, &edges[i]);
    gx_ledger_ack(&f.ledger, roots[3], edges[3]);
    gx_ledger_fail(&f.ledger, roots[0], GALE_REASON_FAILED, 2, "no");
    gx_ledger_ack(&f.ledger, roots[5], edges[5]);
    hear(&f, 3, GX_TREE_ACKED);
    gx_ledger_ack(&f.ledger, roots[1], edges[1]);
    gx_ledger_fail(&f.ledger, roots[4], GALE_REASON_FAILED, 2, "no");
    hear(&f, 0, GX_TREE_FAILED);
    hear(&f, 5, GX_TREE_ACKED);
    hear(&f, 1, GX_TREE_ACKED);
    hear(&f, 4, GX_TREE_FAILED);
    no_answer(&f);
    gx_ledger_ack(&f.ledger, roots[2], edges[2]);
    hear(&f, 2, GX_TREE_ACKED);
    no_answer(&f);
    teardown(&f);
}

static void a_stop_answers_every_open_tree_and_only_those(void **state) {
    (void)state;
    fixture f;
    setup(&f, 0);
    uint64_t edges[5000], roots[5000];
    for (uint64_t i = 0; i < 5000; i++) roots[i] = begin(&f, i, 0, &edges[i]);
    for (uint64_t i = 0; i < 5000; i += 2) gx_ledger_ack(&f.ledger, roots[i], edges[i]);
    gx_ledger_stop(&f.ledger);
    bool heard[5000] = { false };
    for (int i = 0; i < 5000; i++) {
        gx_answer got = answer(&f, 0);
        assert_false(heard[got.message_id]);
        heard[got.message_id] = true;
        assert_int_equal(got.state, got.message_id % 2 ? GX_TREE_STOPPED : GX_TREE_ACKED);
        gx_ledger_answered(&f.ledger, &got, 0);
    }
    no_answer(&f);
    assert_int_equal(f.ledger.counters.stopped, 2500);
    assert_int_equal(gx_ledger_counters(&f.ledger).acked, 2500);
    assert_int_equal(gx_ledger_counters(&f.ledger).open, 0);
    gx_ledger_ack(&f.ledger, roots[1], edges[1]);
    no_answer(&f);
    teardown(&f);
}

/* --- Trees whose tuple is emitted again --- */

/* Sweeps have 255 numbers: the one that a reset left behind must not be taken for a reset of today. */
static void a_tree_that_is_opened_again_is_as_old_as_that_whatever_had_touched_it(void **state) {
    (void)state;
    enum { T = 800, EIGHTH = T / 8, SWEEPS = 255 };
    for (int waited = 0; waited <= SWEEPS + 9; waited++) {
        fixture f;
        setup(&f, T);
        int64_t now = EIGHTH;
        uint64_t edge, root = begin(&f, 1, 0, &edge);
        sweep(&f.ledger, now);
        gx_ledger_reset(&f.ledger, root);
        gx_ledger_fail(&f.ledger, root, GALE_REASON_FAILED, 2, "");
        gx_answer failed = answer(&f, now);
        gx_ledger_defer(&f.ledger, &failed, now);
        for (int i = 0; i < waited; i++) sweep(&f.ledger, now += EIGHTH);
        root = gx_ledger_reopen(&f.ledger, failed.slot, now);
        gx_ledger_begin(&f.ledger, root, edge);
        for (int i = 0; i < 8; i++) sweep(&f.ledger, now += EIGHTH);
        no_answer(&f);
        sweep(&f.ledger, now += EIGHTH);
        hear(&f, 1, GX_TREE_LATE);
        teardown(&f);
    }
}

/* --- Bounds --- */

static void a_slot_whose_generation_wraps_rests_for_two_timeouts(void **state) {
    (void)state;
    fixture f;
    setup(&f, 100);
    uint64_t slot = set_generation(&f, GENERATION_LAST);
    uint64_t edge, root = begin(&f, 1, 0, &edge);
    assert_int_equal(root & 0xffffff, slot);
    gx_ledger_ack(&f.ledger, root, edge);
    gx_answer got = answer(&f, 50);
    gx_ledger_answered(&f.ledger, &got, 50);
    gx_ledger_ack(&f.ledger, root, edge);
    assert_int_equal(f.ledger.counters.stale, 1);
    /* All others are taken, and this one is not among them. */
    for (int i = 1; i < GX_LEDGER_MADE_AT_ONCE; i++) assert_int_not_equal(begin(&f, 2, 50, &edge) & 0xffffff, slot);
    assert_int_equal(f.ledger.slots, GX_LEDGER_MADE_AT_ONCE);
    assert_int_equal(f.ledger.free_count, 0);
    assert_true((begin(&f, 3, 249, &edge) & 0xffffff) >= GX_LEDGER_MADE_AT_ONCE);
    while (f.ledger.free_count) begin(&f, 4, 249, &edge);
    uint64_t woken = begin(&f, 5, 250, &edge);
    assert_int_equal(woken & 0xffffff, slot);
    assert_int_equal((woken >> GX_LEDGER_SLOT_BITS) & GENERATION_LAST, 0);
    gx_ledger_ack(&f.ledger, woken, edge);
    hear(&f, 5, GX_TREE_ACKED);
    woken = begin(&f, 6, 250, &edge);
    assert_int_equal(woken & 0xffffff, slot);
    assert_int_equal((woken >> GX_LEDGER_SLOT_BITS) & GENERATION_LAST, 1);
    teardown(&f);
}

/* --- Many at once --- */

/* The next complete trees, as a spout is told of them: they are the ones from `first` on. */
static gx_complete take(fixture *f, size_t room, uint64_t first, size_t count) {
    uint64_t message_ids[100];
    uint32_t slots[100];
    assert_true(room <= 100);
    gx_complete found = gx_ledger_take_complete(&f->ledger, 50, message_ids, slots, room);
    assert_int_equal(found.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(found.message_ids[i], first + i);
        assert_int_equal(gx_ledger_at(&f->ledger, slots[i])->message_id, first + i);
        assert_int_equal(gx_ledger_at(&f->ledger, slots[i])->root, 0);
    }
    return found;
}

static void complete_trees_are_taken_as_far_as_they_are_alike(void **state) {
    (void)state;
    static const struct {
        uint16_t task;
        int64_t start;
    } kinds[] = { { 5, 10 }, { 5, 11 }, { 6, 11 } };
    fixture f;
    uint64_t roots[30], edge = 77;
    setup(&f, 100);
    take(&f, 10, 0, 0); /* none is there */
    for (uint64_t i = 0; i < 30; i++) {
        int rc = gx_ledger_open(&f.ledger, kinds[i / 10].task, 1000 + i, kinds[i / 10].start, &roots[i]);
        assert_int_equal(rc, GALE_OK);
        gx_ledger_begin(&f.ledger, roots[i], edge);
    }
    take(&f, 10, 0, 0); /* none is complete */
    for (int i = 0; i < 30; i++) gx_ledger_ack(&f.ledger, roots[i], edge);
    uint32_t free_count = f.ledger.free_count;
    for (int i = 0; i < 3; i++) {
        gx_complete found = take(&f, 100, 1000 + 10 * (uint64_t)i, 10);
        assert_int_equal(found.task, kinds[i].task);
        assert_int_equal(found.start, kinds[i].start);
        assert_int_equal(f.ledger.free_count, free_count + 10 * (uint32_t)(i + 1));
    }
    take(&f, 100, 0, 0);
    for (int i = 0; i < 30; i++) gx_ledger_ack(&f.ledger, roots[i], edge);
    assert_int_equal(f.ledger.counters.stale, 30); /* their slots are free */
    teardown(&f);
}

static void no_more_complete_trees_are_taken_than_there_is_room_for_and_none_behind_another_answer(void **state) {
    (void)state;
    fixture f;
    uint64_t edges[20], roots[20];
    setup(&f, 100);
    for (uint64_t i = 0; i < 20; i++) roots[i] = begin(&f, i, 0, &edges[i]);
    for (int i = 0; i < 12; i++) gx_ledger_ack(&f.ledger, roots[i], edges[i]);
    gx_ledger_fail(&f.ledger, roots[12], GALE_REASON_USER, 1, "");
    for (int i = 13; i < 20; i++) gx_ledger_ack(&f.ledger, roots[i], edges[i]);
    take(&f, 0, 0, 0);
    take(&f, 5, 0, 5);
    take(&f, 5, 5, 5);
    take(&f, 5, 10, 2);
    take(&f, 5, 0, 0);
    hear(&f, 12, GX_TREE_FAILED);
    take(&f, 100, 13, 7);
    no_answer(&f);
    teardown(&f);
}

/* Slots are free as soon as their trees are taken, and may be in use again before the next are. */
static void trees_are_taken_and_opened_by_turns_around_the_whole_queue(void **state) {
    (void)state;
    enum { OPEN = 300, TURNS = 200 };
    fixture f;
    static uint64_t edges[OPEN], roots[OPEN];
    setup(&f, 0);
    uint64_t opened = 0, taken = 0;
    for (; opened < OPEN; opened++) roots[opened] = begin(&f, opened, 0, &edges[opened]);
    for (uint64_t turn = 0; turn < TURNS; turn++) {
        uint64_t many = 1 + turn % 90;
        for (uint64_t i = 0; i < many; i++)
            gx_ledger_ack(&f.ledger, roots[(taken + i) % OPEN], edges[(taken + i) % OPEN]);
        take(&f, 100, taken, many);
        taken += many;
        for (; opened < taken + OPEN; opened++) roots[opened % OPEN] = begin(&f, opened, 0, &edges[opened % OPEN]);
        assert_null(gx_ledger_flaw(&f.ledger));
    }
    teardown(&f);
}

static void the_slot_of_a_tree_that_is_taken_rests_as_well(void **state) {
    (void)state;
    fixture f;
    setup(&f, 100);
    set_generation(&f, GENERATION_LAST - 1);
    for (int i = 0; i < 2; i++) {
        uint64_t edge, root = begin(&f, 1, 0, &edge);
        assert_int_equal((root >> GX_LEDGER_SLOT_BITS) & GENERATION_LAST, GENERATION_LAST - 1 + i);
        gx_ledger_ack(&f.ledger, root, edge);
        take(&f, 100, 1, 1);
    }
    uint64_t edge;
    while (f.ledger.free_count) begin(&f, 2, 50, &edge);
    assert_true((begin(&f, 3, 249, &edge) & 0xffffff) >= GX_LEDGER_MADE_AT_ONCE);
    while (f.ledger.free_count) begin(&f, 4, 249, &edge);
    uint64_t woken = begin(&f, 5, 250, &edge);
    assert_true((woken & 0xffffff) < GX_LEDGER_MADE_AT_ONCE);
    assert_int_equal((woken >> GX_LEDGER_SLOT_BITS) & GENERATION_LAST, 0);
    teardown(&f);
}

/* Of ten slots the fourth has its last generation: its tree is told, and its slot rests. */
static void a_generation_that_wraps_ends_a_run_of_trees_and_none_is_lost(void **state) {
    (void)state;
    fixture f;
    uint64_t edges[10], roots[10];
    setup(&f, 100);
    for (uint64_t i = 0; i < 10; i++) {
        if (i == 3) set_generation(&f, GENERATION_LAST);
        roots[i] = begin(&f, i, 0, &edges[i]);
    }
    for (int i = 0; i < 10; i++) gx_ledger_ack(&f.ledger, roots[i], edges[i]);
    uint32_t free_count = f.ledger.free_count;
    take(&f, 100, 0, 3);
    take(&f, 100, 3, 1);
    take(&f, 100, 4, 6);
    no_answer(&f);
    assert_int_equal(f.ledger.free_count, free_count + 9);
    assert_int_equal(gx_ledger_state(&f.ledger, gx_ledger_slot(roots[3])), GX_TREE_RESTING);
    teardown(&f);
}

static void a_tree_is_acked_where_its_sums_are_kept_and_nowhere_else(void **state) {
    (void)state;
    fixture f;
    uint64_t edge;
    setup(&f, 100);
    uint64_t root = begin(&f, 1, 0, &edge), other = root ^ UINT64_C(1) << GX_LEDGER_SHIFT;
    assert_false(gx_ledger_ack_kept(&f.ledger, other, edge));                              /* another ledger's */
    assert_false(gx_ledger_ack_kept(&f.ledger, root + (1u << GX_LEDGER_SLOT_BITS), edge)); /* another generation */
    assert_false(gx_ledger_ack_kept(&f.ledger, root | 0xffffff, edge));                    /* no slot that there is */
    assert_true(gx_ledger_ack_kept(&f.ledger, root, edge));
    hear(&f, 1, GX_TREE_ACKED);
    assert_false(gx_ledger_ack_kept(&f.ledger, root, edge)); /* it is over */
    teardown(&f);
}

static void without_a_timeout_a_slot_rests_for_a_minute(void **state) {
    (void)state;
    fixture f;
    setup(&f, 0);
    set_generation(&f, GENERATION_LAST);
    uint64_t edge, root = begin(&f, 1, 0, &edge);
    gx_ledger_ack(&f.ledger, root, edge);
    hear(&f, 1, GX_TREE_ACKED);
    while (f.ledger.free_count) begin(&f, 2, 0, &edge);
    assert_int_not_equal(begin(&f, 3, 60 * GALE_SECOND - 1, &edge) & 0xffffff, root & 0xffffff);
    while (f.ledger.free_count) begin(&f, 2, 0, &edge);
    assert_int_equal(begin(&f, 3, 60 * GALE_SECOND, &edge) & 0xffffff, root & 0xffffff);
    teardown(&f);
}

static void with_the_longest_timeout_a_slot_rests_for_ever(void **state) {
    (void)state;
    fixture f;
    setup(&f, INT64_C(9000000000) * GALE_SECOND);
    assert_true(gx_ledger_rest(&f.ledger) == INT64_MAX);
    teardown(&f);
}

static void a_full_ledger_says_again_and_changes_nothing(void **state) {
    (void)state;
    fixture f;
    setup(&f, 0);
    f.ledger.slots = 1u << GX_LEDGER_SLOT_BITS; /* as if all had been made: they would take 800 MB */
    uint64_t root = 123;
    assert_int_equal(gx_ledger_open(&f.ledger, 1, 1, 0, &root), GALE_AGAIN);
    assert_int_equal(root, 123);
    f.ledger.slots = 0;
    assert_int_equal(gx_ledger_counters(&f.ledger).trees, 0);
    open_at(&f, 1, 0);
    teardown(&f);
}

static void a_ledger_that_grows_keeps_open_trees_and_answers_in_their_order(void **state) {
    (void)state;
    enum { TREES = 3 * GX_LEDGER_MADE_AT_ONCE + 1 };
    fixture f;
    setup(&f, 0);
    static uint64_t edges[TREES], roots[TREES];
    /* Those that end before it grows lie at the end of the queue, and go on at its beginning. */
    for (uint64_t i = 0; i < GX_LEDGER_MADE_AT_ONCE - 10; i++) {
        uint64_t edge, root = begin(&f, i, 0, &edge);
        gx_ledger_ack(&f.ledger, root, edge);
        hear(&f, i, GX_TREE_ACKED);
    }
    for (uint64_t i = 0; i < TREES; i++) {
        roots[i] = begin(&f, i, 0, &edges[i]);
        if (i < 100) gx_ledger_ack(&f.ledger, roots[i], edges[i]);
    }
    assert_int_equal(f.ledger.slots, 4 * GX_LEDGER_MADE_AT_ONCE);
    assert_int_equal(gx_ledger_counters(&f.ledger).open, TREES - 100);
    assert_null(gx_ledger_flaw(&f.ledger));
    for (uint64_t i = 100; i < TREES; i++) gx_ledger_ack(&f.ledger, roots[i], edges[i]);
    for (uint64_t i = 0; i < TREES; i++) hear(&f, i, GX_TREE_ACKED);
    no_answer(&f);
    teardown(&f);
}

static void the_allocation_that_fails_leaves_a_ledger_that_can_be_ended_and_used(void **state) {
    (void)state;
    fixture f;
    setup(&f, 0);
    uint64_t edge, root = 99;
    for (size_t array = 0; array < 4; array++) { /* one more is made each time */
        f.counting.fail_at = f.counting.calls + 1 + (array > 0);
        assert_int_equal(gx_ledger_open(&f.ledger, 1, 1, 0, &root), GALE_NO_MEMORY);
        assert_int_equal(root, 99);
        assert_int_equal(gx_ledger_counters(&f.ledger).trees, 0);
    }
    root = begin(&f, 1, 0, &edge);
    f.counting.fail_at = f.counting.calls + 1; /* a failure without memory for its text is a failure still */
    gx_ledger_fail(&f.ledger, root, GALE_REASON_FAILED, 3, "why");
    gx_answer got = answer(&f, 0);
    assert_int_equal(got.state, GX_TREE_FAILED);
    assert_null(got.note);
    gx_ledger_answered(&f.ledger, &got, 0);
    teardown(&f);
}

/* --- Expiry --- */

static void a_tree_expires_at_an_age_above_the_timeout_and_at_most_an_eighth_more(void **state) {
    (void)state;
    enum { T = 64000, STEP = T / 64, STEPS = 2000, TREES = 4 * STEPS };
    fixture f;
    setup(&f, T);
    static int64_t born[TREES];
    uint64_t made = 0, late = 0, acked = 0;
    for (int64_t now = 0; now < (int64_t)STEPS * STEP + 2 * T; now += STEP) {
        sweep(&f.ledger, now);
        gx_answer got;
        while (gx_ledger_next_answer(&f.ledger, now, &got)) {
            int64_t age = now - born[got.message_id];
            if (got.state == GX_TREE_LATE) {
                late++;
                assert_true(age > T);
                assert_true(age <= T + T / 8);
            } else {
                acked++;
            }
            gx_ledger_answered(&f.ledger, &got, now);
        }
        for (uint32_t i = now < (int64_t)STEPS * STEP ? gx_random_below(&f.random, 4) : 0; i > 0; i--) {
            born[made] = now;
            uint64_t edge, root = begin(&f, made++, now, &edge);
            if (made % 5 == 0) gx_ledger_ack(&f.ledger, root, edge);
        }
        gx_tree_counters counters = gx_ledger_counters(&f.ledger);
        assert_true(adds_up(&counters));
    }
    assert_int_equal(late + acked, made);
    assert_int_equal(acked, made / 5);
    assert_int_equal(f.ledger.counters.timed_out, late);
    assert_int_equal(gx_ledger_counters(&f.ledger).open, 0);
    teardown(&f);
}

static void without_a_timeout_nothing_expires(void **state) {
    (void)state;
    fixture f;
    setup(&f, 0);
    uint64_t edge;
    begin(&f, 1, 0, &edge);
    assert_int_equal(gx_ledger_due(&f.ledger), INT64_MAX);
    assert_int_equal(sweep(&f.ledger, INT64_MAX - 1), 0);
    no_answer(&f);
    teardown(&f);
}

static void a_late_ack_of_an_expired_tree_is_stale(void **state) {
    (void)state;
    fixture f;
    setup(&f, 800);
    uint64_t edge, root = begin(&f, 6, 0, &edge);
    sweep(&f.ledger, 800); /* exactly as old as the timeout: not yet */
    no_answer(&f);
    assert_int_equal(gx_ledger_due(&f.ledger), 900);
    assert_int_equal(sweep(&f.ledger, 899), 0);
    assert_int_not_equal(sweep(&f.ledger, 900), 0);
    gx_ledger_ack(&f.ledger, root, edge);
    assert_int_equal(f.ledger.counters.stale, 1);
    hear(&f, 6, GX_TREE_LATE);
    no_answer(&f);
    teardown(&f);
}

static void a_sweep_goes_on_slice_by_slice_with_the_bound_it_began_with(void **state) {
    (void)state;
    fixture f;
    setup(&f, 800);
    uint64_t edge;
    enum { TREES = 5 * GX_LEDGER_MADE_AT_ONCE };
    for (uint64_t i = 0; i < TREES; i++) begin(&f, i, 0, &edge);
    assert_int_equal(gx_ledger_due(&f.ledger), 100);
    assert_int_equal(sweep(&f.ledger, 801), GX_LEDGER_SWEEP_SLICE);
    assert_int_equal(gx_ledger_due(&f.ledger), 0);
    assert_int_equal(f.ledger.counters.timed_out, GX_LEDGER_SWEEP_SLICE);
    begin(&f, TREES, 801, &edge); /* in a slot that this pass does not know */
    assert_int_equal(sweep(&f.ledger, 2000), TREES - GX_LEDGER_SWEEP_SLICE);
    assert_int_equal(f.ledger.counters.timed_out, TREES);
    assert_int_equal(gx_ledger_counters(&f.ledger).open, 1);
    assert_int_equal(gx_ledger_due(&f.ledger), 901);
    gx_answer got;
    int count = 0;
    while (gx_ledger_next_answer(&f.ledger, 2000, &got)) {
        assert_int_equal(got.state, GX_TREE_LATE);
        gx_ledger_answered(&f.ledger, &got, 2000);
        count++;
    }
    assert_int_equal(count, TREES);
    teardown(&f);
}

/* --- Counters from another thread --- */

static void *read_counters(void *user) {
    gx_ledger *ledger = user;
    uint64_t wrong = 0, last = 0;
    for (;;) {
        gx_tree_counters counters = gx_ledger_read(ledger);
        wrong += !adds_up(&counters) || counters.trees < last;
        last = counters.trees;
        if (counters.stale == 1) return (void *)(uintptr_t)wrong;
    }
}

static void at_every_reading_trees_are_the_sum_of_their_outcomes(void **state) {
    (void)state;
    fixture f;
    setup(&f, 1000);
    pthread_t reader;
    assert_int_equal(pthread_create(&reader, NULL, read_counters, &f.ledger), 0);
    for (int64_t i = 0; i < 200000; i++) {
        uint64_t edge, root = begin(&f, (uint64_t)i, i, &edge);
        uint32_t dice = gx_random_below(&f.random, 8);
        if (dice == 0)
            gx_ledger_fail(&f.ledger, root, 0, 0, "x");
        else if (dice < 7)
            gx_ledger_ack(&f.ledger, root, edge);
        sweep(&f.ledger, i);
        gx_answer got;
        while (gx_ledger_next_answer(&f.ledger, i, &got)) gx_ledger_answered(&f.ledger, &got, i);
        gx_ledger_publish(&f.ledger);
    }
    gx_ledger_stop(&f.ledger);
    gx_ledger_ack(&f.ledger, f.ledger.number | 5, 1); /* stale: the end, for the reader */
    gx_ledger_publish(&f.ledger);
    void *wrong;
    pthread_join(reader, &wrong);
    assert_int_equal((uintptr_t)wrong, 0);
    gx_tree_counters counters = gx_ledger_read(&f.ledger);
    assert_int_equal(counters.trees, 200000);
    assert_int_equal(counters.open, 0);
    teardown(&f);
}

/* --- Every order and every cut of small trees ---
 *
 * A tree is the list of its units: which edges each creates and consumes, as a bit set over the edges; the spout's unit
 * is the first. What settling can send is any partition of the other units into sums, in any order: all of them are
 * tried, also those that causality forbids. The tree must be done with the last sum and not before. */

enum { UNITS_MAX = 6 };

typedef struct shape {
    const char *name;
    uint32_t edges, units; /* without the spout's */
    uint32_t spout;
    uint32_t unit[UNITS_MAX];
} shape;

static uint64_t xor_of(uint32_t set, const uint64_t *ids) {
    uint64_t sum = 0;
    for (uint32_t i = 0; set >> i; i++) sum ^= (set >> i & 1) ? ids[i] : 0;
    return sum;
}

/* Delivers the units with block[u] as the number of the sum that unit u is part of. */
static void deliver(fixture *f, const shape *s, const uint32_t *block, uint32_t blocks) {
    uint64_t ids[16];
    for (uint32_t i = 0; i < s->edges; i++) ids[i] = gx_random_id(&f->random);
    uint64_t root = open_at(f, 1, 0);
    gx_ledger_begin(&f->ledger, root, xor_of(s->spout, ids));
    for (uint32_t b = 0; b < blocks; b++) {
        no_answer(f);
        uint64_t sum = 0;
        for (uint32_t u = 0; u < s->units; u++) sum ^= block[u] == b ? xor_of(s->unit[u], ids) : 0;
        gx_ledger_ack(&f->ledger, root, sum);
    }
    hear(f, 1, GX_TREE_ACKED);
    no_answer(f);
}

/* All maps of units to blocks that leave no block empty. */
static uint32_t try_all(fixture *f, const shape *s) {
    uint32_t total = 1, tried = 0;
    for (uint32_t u = 0; u < s->units; u++) total *= s->units;
    for (uint32_t code = 0; code < total; code++) {
        uint32_t block[UNITS_MAX], used = 0, blocks = 0, rest = code;
        for (uint32_t u = 0; u < s->units; u++, rest /= s->units) {
            block[u] = rest % s->units;
            used |= 1u << block[u];
        }
        while (used >> blocks & 1) blocks++;
        if (used != (1u << blocks) - 1) continue;
        deliver(f, s, block, blocks);
        tried++;
    }
    return tried;
}

static void every_small_tree_in_every_order_and_cut_is_done_exactly_at_its_last_sum(void **state) {
    (void)state;
    static const shape shapes[] = {
        { "one bolt", 1, 1, 1, { 1 } },
        { "chain of three", 3, 3, 1, { 1 | 2, 2 | 4, 4 } },
        { "fan-out of the spout", 2, 2, 1 | 2, { 1, 2 } },
        { "fan-out of two", 3, 3, 1, { 1 | 2 | 4, 2, 4 } },
        { "diamond, executed twice below", 5, 5, 1, { 1 | 2 | 4, 2 | 8, 4 | 16, 8, 16 } },
        { "diamond, joined: the last edge is anchored to both", 5, 4, 1, { 1 | 2 | 4, 2 | 8, 4 | 16, 8 | 16 } },
        { "chain of six", 6, 6, 1, { 1 | 2, 2 | 4, 4 | 8, 8 | 16, 16 | 32, 32 } },
    };
    static const uint32_t expected[] = { 1, 13, 3, 13, 541, 75, 4683 }; /* ordered partitions of 1, 3, 2, 3, 5, 4, 6 */
    fixture f;
    setup(&f, 0);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) assert_int_equal(try_all(&f, &shapes[i]), expected[i]);
    assert_int_equal(f.ledger.counters.stale, 0);
    assert_int_equal(gx_ledger_counters(&f.ledger).open, 0);
    teardown(&f);
}

/* --- Against a naive model: an array of open trees with the list of their outstanding edges --- */

enum { MODEL_TREES = 64, MODEL_EDGES = 32 };

typedef struct model_tree {
    uint64_t root, message_id;
    int64_t born;
    uint32_t count;
    uint64_t edges[MODEL_EDGES];
} model_tree;

typedef struct model {
    model_tree trees[MODEL_TREES];
    uint32_t open;
    struct {
        uint64_t message_id;
        int state;
    } expected[MODEL_TREES];
    uint32_t expected_count;
    uint64_t message_id;
    uint64_t acked, failed, stale, made;
    uint64_t old_roots[16];
} model;

static void model_close(model *m, uint32_t index, int state) {
    m->expected[m->expected_count].message_id = m->trees[index].message_id;
    m->expected[m->expected_count++].state = state;
    m->old_roots[m->message_id % 16] = m->trees[index].root;
    m->trees[index] = m->trees[--m->open];
    m->acked += state == GX_TREE_ACKED;
    m->failed += state == GX_TREE_FAILED;
}

static uint64_t model_grow(fixture *f, model_tree *tree, uint32_t edges) {
    uint64_t sum = 0;
    for (; edges > 0 && tree->count < MODEL_EDGES; edges--) {
        tree->edges[tree->count] = gx_random_id(&f->random);
        sum ^= tree->edges[tree->count++];
    }
    return sum;
}

static void model_open(fixture *f, model *m) {
    if (m->open + m->expected_count == MODEL_TREES) return;
    model_tree *tree = &m->trees[m->open++];
    *tree = (model_tree){ .message_id = ++m->message_id };
    tree->root = open_at(f, tree->message_id, 0);
    if (gx_random_below(&f->random, 8) == 0) {
        gx_ledger_cancel(&f->ledger, tree->root);
        m->open--;
        return;
    }
    m->made++;
    gx_ledger_begin(&f->ledger, tree->root, model_grow(f, tree, gx_random_below(&f->random, 4)));
    if (!tree->count) model_close(m, m->open - 1, GX_TREE_ACKED);
}

/* Consumes one to three edges in one sum; the tuple on the first has up to two children. */
static void model_ack(fixture *f, model *m, uint32_t index) {
    model_tree *tree = &m->trees[index];
    uint64_t sum = 0;
    for (uint32_t n = 1 + gx_random_below(&f->random, 3); n > 0 && tree->count; n--) {
        uint32_t at = gx_random_below(&f->random, tree->count);
        sum ^= tree->edges[at];
        tree->edges[at] = tree->edges[--tree->count];
    }
    sum ^= model_grow(f, tree, gx_random_below(&f->random, 3));
    gx_ledger_ack(&f->ledger, tree->root, sum);
    if (!tree->count) model_close(m, index, GX_TREE_ACKED);
}

static void model_hear(fixture *f, model *m) {
    gx_answer got;
    uint32_t i = 0;
    while (gx_ledger_next_answer(&f->ledger, 0, &got)) {
        assert_true(i < m->expected_count);
        assert_int_equal(got.message_id, m->expected[i].message_id);
        assert_int_equal(got.state, m->expected[i].state);
        if (got.state == GX_TREE_FAILED) assert_int_equal(got.note->reason, (int32_t)got.message_id);
        gx_ledger_answered(&f->ledger, &got, 0);
        i++;
    }
    assert_int_equal(i, m->expected_count);
    m->expected_count = 0;
}

static void model_step(fixture *f, model *m) {
    uint32_t index = m->open ? gx_random_below(&f->random, m->open) : 0;
    uint32_t dice = gx_random_below(&f->random, 100);
    if (!m->open || dice < 20) {
        model_open(f, m);
    } else if (dice < 85) {
        model_ack(f, m, index);
    } else if (dice < 90) {
        gx_ledger_fail(&f->ledger, m->trees[index].root, (int32_t)m->trees[index].message_id, 1, "no");
        model_close(m, index, GX_TREE_FAILED);
    } else if (dice < 95) {
        uint64_t root = m->old_roots[gx_random_below(&f->random, 16)];
        if (!root) return;
        gx_ledger_ack(&f->ledger, root, gx_random_id(&f->random));
        m->stale++;
    } else {
        model_hear(f, m);
    }
}

static void random_work_agrees_with_a_naive_model(void **state) {
    (void)state;
    fixture f;
    setup(&f, 0);
    static model m;
    memset(&m, 0, sizeof m);
    for (int i = 0; i < 300000; i++) {
        model_step(&f, &m);
        gx_tree_counters c = gx_ledger_counters(&f.ledger);
        if (c.open != m.open || c.acked != m.acked || c.failed != m.failed || c.stale != m.stale || c.trees != m.made)
            fail_msg("the counters differ from the model's at step %d", i);
    }
    model_hear(&f, &m);
    assert_true(m.acked > 10000 && m.failed > 1000 && m.stale > 1000);
    teardown(&f);
}

/* --- Flaws --- */

static void what_does_not_hold_is_said(void **state) {
    (void)state;
    fixture f;
    setup(&f, 100);
    uint64_t edge, answered = begin(&f, 1, 0, &edge);
    uint64_t open = begin(&f, 2, 0, &edge);
    gx_ledger_fail(&f.ledger, answered, GALE_REASON_FAILED, 2, "no");
    assert_null(gx_ledger_flaw(&f.ledger));
    gx_ledger *l = &f.ledger;
    l->free_count--;
    assert_string_equal(gx_ledger_flaw(l), "there are not as many open trees as is said");
    l->resting_count++;
    assert_string_equal(gx_ledger_flaw(l), "a free slot is not in the stack of those, or in it twice");
    l->resting_count--, l->free_count++;
    uint64_t top = l->free[l->free_count - 1];
    l->free[l->free_count - 1] = answered;
    assert_string_equal(gx_ledger_flaw(l), "a root in the stack of free ones is not that of a free slot");
    l->free[l->free_count - 1] = top;
    l->ended_head++, l->resting_count++;
    assert_string_equal(gx_ledger_flaw(l), "an answer is not in the queue of those, or in it twice");
    l->ended_head--;
    l->ended[l->ended_head] = (uint32_t)gx_ledger_slot(top);
    l->resting_count--;
    assert_string_equal(gx_ledger_flaw(l), "what is in the queue of answers is none");
    l->ended[l->ended_head] = (uint32_t)gx_ledger_slot(answered);
    l->resting.head = gx_ledger_slot(top) + 1;
    assert_string_equal(gx_ledger_flaw(l), "what does not rest is in the list of slots that do");
    l->resting.head = 0;
    gx_ledger_at(l, gx_ledger_slot(open))->root++;
    assert_string_equal(gx_ledger_flaw(l), "an open tree's root is not that of its slot");
    gx_ledger_at(l, gx_ledger_slot(open))->root--;
    teardown(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_ledger_holds_nothing_and_is_never_due),
        cmocka_unit_test(a_root_names_ledger_generation_and_slot_and_is_never_zero),
        cmocka_unit_test(a_tree_without_edges_is_acked_at_once),
        cmocka_unit_test(an_ack_of_the_only_edge_completes_and_tells_who_what_and_how_long),
        cmocka_unit_test(a_failure_carries_reason_task_and_text_and_later_acks_are_stale),
        cmocka_unit_test(a_failures_text_may_be_missing_and_is_cut_to_its_limit),
        cmocka_unit_test(a_tree_whose_source_is_lost_has_failed_whatever_comes_later),
        cmocka_unit_test(notes_are_used_again),
        cmocka_unit_test(a_cancelled_tree_was_never_there),
        cmocka_unit_test(updates_for_slots_and_generations_that_do_not_exist_are_stale_and_harmless),
        cmocka_unit_test(a_reused_slot_has_another_generation),
        cmocka_unit_test(answers_come_in_the_order_in_which_trees_were_answered),
        cmocka_unit_test(a_stop_answers_every_open_tree_and_only_those),
        cmocka_unit_test(a_tree_that_is_opened_again_is_as_old_as_that_whatever_had_touched_it),
        cmocka_unit_test(a_slot_whose_generation_wraps_rests_for_two_timeouts),
        cmocka_unit_test(complete_trees_are_taken_as_far_as_they_are_alike),
        cmocka_unit_test(no_more_complete_trees_are_taken_than_there_is_room_for_and_none_behind_another_answer),
        cmocka_unit_test(trees_are_taken_and_opened_by_turns_around_the_whole_queue),
        cmocka_unit_test(the_slot_of_a_tree_that_is_taken_rests_as_well),
        cmocka_unit_test(a_generation_that_wraps_ends_a_run_of_trees_and_none_is_lost),
        cmocka_unit_test(a_tree_is_acked_where_its_sums_are_kept_and_nowhere_else),
        cmocka_unit_test(without_a_timeout_a_slot_rests_for_a_minute),
        cmocka_unit_test(with_the_longest_timeout_a_slot_rests_for_ever),
        cmocka_unit_test(a_full_ledger_says_again_and_changes_nothing),
        cmocka_unit_test(a_ledger_that_grows_keeps_open_trees_and_answers_in_their_order),
        cmocka_unit_test(the_allocation_that_fails_leaves_a_ledger_that_can_be_ended_and_used),
        cmocka_unit_test(a_tree_expires_at_an_age_above_the_timeout_and_at_most_an_eighth_more),
        cmocka_unit_test(without_a_timeout_nothing_expires),
        cmocka_unit_test(a_late_ack_of_an_expired_tree_is_stale),
        cmocka_unit_test(a_sweep_goes_on_slice_by_slice_with_the_bound_it_began_with),
        cmocka_unit_test(at_every_reading_trees_are_the_sum_of_their_outcomes),
        cmocka_unit_test(every_small_tree_in_every_order_and_cut_is_done_exactly_at_its_last_sum),
        cmocka_unit_test(random_work_agrees_with_a_naive_model),
        cmocka_unit_test(what_does_not_hold_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
