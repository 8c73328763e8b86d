#include "engine/ledger.h"

#include "base/assert.h"
#include "base/bits.h"
#include "base/seqlock.h"
#include "base/utf8.h"

#define GENERATION_MASK ((1u << GX_LEDGER_GENERATION_BITS) - 1)

int gx_ledger_init(gx_ledger *ledger, gx_heap *heap, uint32_t number, int64_t timeout, gx_random random) {
    memset(ledger, 0, sizeof *ledger);
    GX_ASSERT(number >= 1 && number < GX_LEDGERS_MAX);
    ledger->heap = heap;
    ledger->number = (uint64_t)number << (GX_LEDGER_SLOT_BITS + GX_LEDGER_GENERATION_BITS);
    ledger->timeout = timeout;
    ledger->sweep = 1;
    ledger->sweep_due = timeout ? timeout / 8 : INT64_MAX;
    ledger->random = random;
    ledger->segments = gx_alloc_array(heap, GX_TAG_LEDGER, GX_LEDGER_SEGMENTS, sizeof *ledger->segments);
    ledger->complete = gx_alloc(heap, GX_TAG_LEDGER, sizeof *ledger->complete);
    return ledger->segments && ledger->complete ? GALE_OK : GALE_NO_MEMORY;
}

static bool has_note(const gx_tree *tree) {
    return tree->state >= GX_TREE_FAILED && tree->state <= GX_TREE_LATE && tree->note;
}

static void free_notes(gx_ledger *ledger) {
    while (ledger->notes) {
        gx_failure_note *note = ledger->notes;
        ledger->notes = note->next;
        gx_free(ledger->heap, GX_TAG_LEDGER, note, sizeof *note);
    }
}

void gx_ledger_fini(gx_ledger *ledger) {
    for (uint32_t slot = 0; slot < ledger->slots; slot++) {
        gx_tree *tree = gx_ledger_at(ledger, slot);
        if (!has_note(tree)) continue;
        tree->note->next = ledger->notes;
        ledger->notes = tree->note;
    }
    free_notes(ledger);
    for (uint32_t s = 0; ledger->segments && s < GX_LEDGER_SEGMENTS && ledger->segments[s]; s++)
        gx_free(ledger->heap, GX_TAG_LEDGER, ledger->segments[s], GX_LEDGER_SEGMENT * sizeof(gx_tree));
    gx_free(ledger->heap, GX_TAG_LEDGER, ledger->segments, GX_LEDGER_SEGMENTS * sizeof *ledger->segments);
    gx_free(ledger->heap, GX_TAG_LEDGER, ledger->complete, sizeof *ledger->complete);
    gx_free(ledger->heap, GX_TAG_LEDGER, ledger->expiring, ledger->expiring_capacity * sizeof *ledger->expiring);
    memset(ledger, 0, sizeof *ledger);
}

static void put_free(gx_ledger *ledger, uint64_t slot) {
    gx_tree *tree = gx_ledger_at(ledger, slot);
    tree->state = GX_TREE_FREE;
    tree->next = ledger->free;
    ledger->free = slot + 1;
}

int64_t gx_ledger_rest(const gx_ledger *ledger) {
    int64_t late = ledger->timeout ? ledger->timeout : 30 * GALE_SECOND;
    return late < INT64_MAX / 2 ? 2 * late : INT64_MAX;
}

/* A slot whose generation came round may be used again when no late answer to its old trees can be on its way any
 * more. */
static bool wake_rested(gx_ledger *ledger, int64_t now) {
    if (!ledger->resting.head) return false;
    gx_tree *tree = gx_ledger_at(ledger, ledger->resting.head - 1);
    if (now - tree->start < gx_ledger_rest(ledger)) return false;
    put_free(ledger, gx_ledger_take_first(ledger, &ledger->resting));
    return true;
}

int gx_ledger_more(gx_ledger *ledger, int64_t now) {
    if (wake_rested(ledger, now)) return GALE_OK;
    uint32_t segment = ledger->slots >> GX_LEDGER_SEGMENT_BITS;
    if (segment == GX_LEDGER_SEGMENTS) return GALE_AGAIN;
    gx_tree *trees = gx_alloc_array(ledger->heap, GX_TAG_LEDGER, GX_LEDGER_SEGMENT, sizeof *trees);
    if (!trees) return GALE_NO_MEMORY;
    ledger->segments[segment] = trees;
    ledger->slots += GX_LEDGER_SEGMENT;
    for (uint32_t i = GX_LEDGER_SEGMENT; i-- > 0;) {
        trees[i].generation = (uint32_t)gx_random_next(&ledger->random) & GENERATION_MASK;
        put_free(ledger, (uint64_t)segment * GX_LEDGER_SEGMENT + i);
    }
    return GALE_OK;
}

void gx_ledger_cancel(gx_ledger *ledger, uint64_t root) {
    GX_CHECK(gx_tree_is_open(gx_ledger_at(ledger, gx_ledger_slot(root))));
    GX_CHECK(ledger->counters.open > 0);
    put_free(ledger, root & ((UINT64_C(1) << GX_LEDGER_SLOT_BITS) - 1));
    ledger->counters.trees--;
    ledger->counters.open--;
}

void gx_ledger_answer(gx_ledger *ledger, uint64_t slot, uint8_t state) {
    GX_CHECK(slot < ledger->slots);
    GX_CHECK(state >= GX_TREE_ACKED && state <= GX_TREE_STOPPED);
    GX_CHECK(ledger->counters.open > 0);
    gx_tree *tree = gx_ledger_at(ledger, slot);
    tree->state = state;
    gx_ledger_append(ledger, &ledger->answers, slot);
    ledger->counters.open--;
    switch (state) {
    case GX_TREE_ACKED: ledger->counters.acked++; break;
    case GX_TREE_FAILED: ledger->counters.failed++; break;
    case GX_TREE_REJECTED: ledger->counters.rejected++; break;
    case GX_TREE_LATE: ledger->counters.timed_out++; break;
    default: ledger->counters.stopped++; break;
    }
}

static gx_failure_note *take_note(gx_ledger *ledger) {
    gx_failure_note *note = ledger->notes;
    if (!note) return gx_alloc(ledger->heap, GX_TAG_LEDGER, sizeof *note);
    ledger->notes = note->next;
    return note;
}

static void answer_noted(gx_ledger *ledger, uint64_t slot, uint8_t state, gx_failure_note what, const char *text) {
    GX_CHECK(slot < ledger->slots);
    gx_failure_note *note = take_note(ledger);
    if (note) {
        note->reason = what.reason;
        note->task = what.task;
        gx_utf8_copy(note->text, sizeof note->text, text);
    }
    gx_ledger_at(ledger, slot)->note = note;
    gx_ledger_answer(ledger, slot, state);
}

void gx_ledger_fail(gx_ledger *ledger, uint64_t root, int32_t reason, uint32_t task, const char *text) {
    uint64_t slot;
    if (!gx_ledger_find(ledger, root, &slot)) return;
    bool rejected = reason == GALE_REASON_REJECTED && !GX_MUTANT(reject_is_failure);
    uint8_t state = rejected ? GX_TREE_REJECTED : GX_TREE_FAILED;
    answer_noted(ledger, slot, state, (gx_failure_note){ .reason = reason, .task = task }, text);
}

void gx_ledger_done(gx_ledger *ledger, uint64_t root) {
    uint64_t slot;
    if (gx_ledger_find(ledger, root, &slot)) gx_ledger_answer(ledger, slot, GX_TREE_ACKED);
}

void gx_ledger_reset(gx_ledger *ledger, uint64_t root) {
    uint64_t slot;
    gx_tree *tree = gx_ledger_find(ledger, root, &slot);
    bool failed = slot < ledger->slots && gx_ledger_at(ledger, slot)->state == GX_TREE_FAILED;
    if (failed && GX_MUTANT(reset_revives)) tree = gx_ledger_at(ledger, slot);
    if (tree) gx_ledger_touch(ledger, tree);
}

/* --- Expiry --- */

enum { SWEEPS = 255, SWEEPS_A_TIMEOUT = 8 };

static void begin_sweep(gx_ledger *ledger, int64_t now) {
    ledger->sweep = (uint8_t)(ledger->sweep % SWEEPS + 1);
    ledger->sweep_due = now + ledger->timeout / 8;
    ledger->sweep_before = now - ledger->timeout;
    ledger->sweep_at = 0;
    ledger->sweep_end = ledger->counters.open ? ledger->slots : 0;
}

/* More than T after a moment in the time of sweep k, whose end is the beginning of sweep k + 1, is when sweep k + 9 has
 * begun. Numbers come round after 31 T, when no tree is so old. */
static bool is_late(const gx_ledger *ledger, const gx_tree *tree) {
    if (tree->start >= ledger->sweep_before) return false;
    if (GX_LIKELY(!tree->touched)) return true;
    if (ledger->progress && tree->start < ledger->sweep_before + ledger->timeout - ledger->ceiling) return true;
    return (ledger->sweep + SWEEPS - tree->touched) % SWEEPS > SWEEPS_A_TIMEOUT;
}

/* Without memory for the list it is found by the next sweep. */
static void set_expiring(gx_ledger *ledger, gx_tree *tree, uint64_t slot) {
    GX_CHECK(tree->state == GX_TREE_OPEN);
    if (!gx_grow(ledger->heap, GX_TAG_LEDGER, &ledger->expiring, &ledger->expiring_capacity, ledger->expiring_count + 1,
                 sizeof *ledger->expiring))
        return;
    tree->state = GX_TREE_EXPIRING;
    ledger->expiring[ledger->expiring_count++] = gx_ledger_root(ledger, tree, slot);
}

uint32_t gx_ledger_sweep(gx_ledger *ledger, int64_t now) {
    if (!ledger->sweep_end) {
        if (now < ledger->sweep_due) return 0;
        begin_sweep(ledger, now);
    }
    uint32_t from = ledger->sweep_at, to = ledger->sweep_end;
    GX_CHECK(from <= to && to <= ledger->slots);
    if (to - from > GX_LEDGER_SWEEP_SLICE) to = from + GX_LEDGER_SWEEP_SLICE;
    for (uint32_t slot = from; slot < to; slot++) {
        gx_tree *tree = gx_ledger_at(ledger, slot);
        if (tree->state == GX_TREE_OPEN && is_late(ledger, tree)) set_expiring(ledger, tree, slot);
    }
    ledger->sweep_at = to;
    if (to == ledger->sweep_end) ledger->sweep_end = 0;
    return to - from;
}

void gx_ledger_expire(gx_ledger *ledger, uint64_t root, uint32_t task, const char *text) {
    uint64_t slot;
    const gx_tree *tree = gx_ledger_peek(ledger, root, &slot);
    if (!tree || tree->state != GX_TREE_EXPIRING) return;
    answer_noted(ledger, slot, GX_TREE_LATE, (gx_failure_note){ .reason = GALE_REASON_TIMEOUT, .task = task }, text);
}

int64_t gx_ledger_due(const gx_ledger *ledger) {
    if (ledger->sweep_end) return 0;
    return ledger->counters.open ? ledger->sweep_due : INT64_MAX;
}

void gx_ledger_stop(gx_ledger *ledger) {
    for (uint32_t slot = 0; slot < ledger->slots && ledger->counters.open; slot++)
        if (gx_tree_is_open(gx_ledger_at(ledger, slot)) || gx_ledger_at(ledger, slot)->state == GX_TREE_WAITING)
            gx_ledger_answer(ledger, slot, GX_TREE_STOPPED);
}

bool gx_ledger_next_answer(gx_ledger *ledger, int64_t now, gx_answer *ret_answer) {
    if (!ledger->answers.head) return false;
    uint64_t slot = gx_ledger_take_first(ledger, &ledger->answers);
    const gx_tree *tree = gx_ledger_at(ledger, slot);
    GX_CHECK(tree->state >= GX_TREE_ACKED && tree->state <= GX_TREE_STOPPED);
    *ret_answer = (gx_answer){
        .slot = slot, .message_id = tree->message_id, .task = tree->task, .state = tree->state, .attempts = 1
    };
    if (tree->state == GX_TREE_ACKED) {
        ret_answer->latency = now - tree->start;
    } else if (has_note(tree)) {
        ret_answer->note = tree->note;
    }
    return true;
}

static void take_back(gx_tree_counters *c, uint8_t state) {
    GX_ASSERT(state == GX_TREE_FAILED || state == GX_TREE_REJECTED || state == GX_TREE_LATE);
    (*(state == GX_TREE_LATE ? &c->timed_out : state == GX_TREE_REJECTED ? &c->rejected : &c->failed))--;
}

void gx_ledger_unanswered(gx_ledger *ledger, gx_answer *answer) {
    GX_CHECK(answer->slot < ledger->slots);
    take_back(&ledger->counters, answer->state);
    ledger->counters.stopped++;
    answer->state = GX_TREE_STOPPED;
    answer->note = NULL; /* the entry keeps it until it is free */
}

/* The tree's root is over. False when its generation wrapped. */
static bool renew(gx_ledger *ledger, gx_tree *tree) {
    if (has_note(tree)) {
        tree->note->next = ledger->notes;
        ledger->notes = tree->note;
    }
    tree->generation = (tree->generation + 1) & GENERATION_MASK;
    return tree->generation != 0;
}

void gx_ledger_let_rest(gx_ledger *ledger, uint64_t slot, int64_t now) {
    GX_CHECK(slot < ledger->slots);
    gx_tree *tree = gx_ledger_at(ledger, slot);
    tree->state = GX_TREE_RESTING;
    tree->start = now;
    gx_ledger_append(ledger, &ledger->resting, slot);
}

void gx_ledger_answered(gx_ledger *ledger, const gx_answer *answer, int64_t now) {
    gx_tree *tree = gx_ledger_at(ledger, answer->slot);
    if (tree->state == GX_TREE_ACKED) gx_histogram_add(ledger->complete, answer->latency);
    if (GX_LIKELY(renew(ledger, tree))) {
        put_free(ledger, answer->slot);
        return;
    }
    gx_ledger_let_rest(ledger, answer->slot, now);
}

/* --- Waiting --- */

bool gx_ledger_defer(gx_ledger *ledger, const gx_answer *answer, int64_t until) {
    gx_tree *tree = gx_ledger_at(ledger, answer->slot);
    gx_tree_counters *c = &ledger->counters;
    GX_ASSERT(tree->state == GX_TREE_FAILED || tree->state == GX_TREE_LATE);
    take_back(c, tree->state);
    c->open++;
    bool fresh = renew(ledger, tree);
    tree->state = GX_TREE_WAITING;
    tree->start = until;
    return fresh;
}

uint64_t gx_ledger_reopen(gx_ledger *ledger, uint64_t slot, int64_t now) {
    gx_tree *tree = gx_ledger_at(ledger, slot);
    GX_ASSERT(tree->state == GX_TREE_WAITING);
    tree->xor_ = 0;
    tree->start = now;
    tree->state = GX_TREE_OPEN;
    tree->touched = 0;
    return ledger->number | (uint64_t)tree->generation << GX_LEDGER_SLOT_BITS | slot;
}

/* --- Figures --- */

void gx_ledger_publish(gx_ledger *ledger) {
    uint64_t words[sizeof(gx_tree_counters) / 8];
    memcpy(words, &ledger->counters, sizeof words);
    gx_seqlock_publish(&ledger->version, ledger->published, words, sizeof words / 8);
}

gx_tree_counters gx_ledger_read(const gx_ledger *ledger) {
    uint64_t words[sizeof(gx_tree_counters) / 8];
    while (!gx_seqlock_read(&ledger->version, ledger->published, words, sizeof words / 8)) {
    }
    gx_tree_counters counters;
    memcpy(&counters, words, sizeof counters);
    return counters;
}

/* --- Flaws --- */

/* How many trees are in each state. */
static void count_states(const gx_ledger *ledger, uint64_t states[GX_TREE_WAITING + 1]) {
    for (uint32_t slot = 0; slot < ledger->slots; slot++) states[gx_ledger_at(ledger, slot)->state]++;
}

/* How long a list is whose trees are all in states from `from` to `to`; UINT64_MAX: one is not, or it has no end. */
static uint64_t length_of(const gx_ledger *ledger, uint64_t head, gx_tree_state from, gx_tree_state to) {
    uint64_t length = 0;
    while (head) {
        if (head > ledger->slots || length++ > ledger->slots) return UINT64_MAX;
        const gx_tree *tree = gx_ledger_at(ledger, head - 1);
        if (tree->state < (uint8_t)from || tree->state > (uint8_t)to) return UINT64_MAX;
        head = tree->next;
    }
    return length;
}

const char *gx_ledger_flaw(const gx_ledger *ledger) {
    const gx_tree_counters *c = &ledger->counters;
    uint64_t states[GX_TREE_WAITING + 1] = { 0 }, answered = 0;
    count_states(ledger, states);
    for (int state = GX_TREE_ACKED; state <= GX_TREE_STOPPED; state++) answered += states[state];
    if (c->trees != c->acked + c->failed + c->timed_out + c->rejected + c->stopped + c->open)
        return "trees are not those that were answered and those that are open";
    if (states[GX_TREE_OPEN] + states[GX_TREE_EXPIRING] + states[GX_TREE_WAITING] != c->open)
        return "there are not as many open trees as is said";
    if (length_of(ledger, ledger->free, GX_TREE_FREE, GX_TREE_FREE) != states[GX_TREE_FREE])
        return "a free slot is not in the list of those, or in it twice";
    if (length_of(ledger, ledger->answers.head, GX_TREE_ACKED, GX_TREE_STOPPED) != answered)
        return "an answer is not in the list of those, or in it twice";
    if (length_of(ledger, ledger->resting.head, GX_TREE_RESTING, GX_TREE_RESTING) != states[GX_TREE_RESTING])
        return "a slot that rests is not in the list of those, or in it twice";
    return NULL;
}
