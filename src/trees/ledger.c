#include "trees/ledger.h"

#include "base/assert.h"
#include "base/bits.h"
#include "base/seqlock.h"
#include "base/utf8.h"

#define GENERATION_MASK ((1u << GX_LEDGER_GENERATION_BITS) - 1)

void gx_ledger_init(gx_ledger *ledger, gx_heap *heap, uint32_t number, int64_t timeout, gx_random random) {
    memset(ledger, 0, sizeof *ledger);
    GX_ASSERT(number >= 1 && number < GX_LEDGERS_MAX);
    ledger->heap = heap;
    ledger->number = (uint64_t)number << GX_LEDGER_SHIFT;
    ledger->timeout = timeout;
    ledger->sweep = 1;
    ledger->sweep_due = timeout ? timeout / 8 : INT64_MAX;
    ledger->random = random;
}

/* What holds: `old` is 0 where a slot is free, and what has ended keeps its state until it is that. */
gx_tree_state gx_ledger_state(const gx_ledger *ledger, uint64_t slot) {
    const gx_tree *tree = gx_ledger_at(ledger, slot);
    gx_tree_state state = gx_ledger_mark(ledger, slot)->state;
    if (gx_tree_is_open(tree)) return state;
    if (!tree->old) return GX_TREE_FREE;
    return state <= GX_TREE_EXPIRING ? GX_TREE_ACKED : state;
}

static bool has_note(const gx_ledger *ledger, uint64_t slot) {
    gx_tree_state state = gx_ledger_state(ledger, slot);
    return state >= GX_TREE_FAILED && state <= GX_TREE_LATE && gx_ledger_at(ledger, slot)->note;
}

/* For another tree's failure. */
static void keep_note(gx_ledger *ledger, uint64_t slot) {
    if (!has_note(ledger, slot)) return;
    gx_failure_note *note = gx_ledger_at(ledger, slot)->note;
    note->next = ledger->notes;
    ledger->notes = note;
}

static void free_notes(gx_ledger *ledger) {
    while (ledger->notes) {
        gx_failure_note *note = ledger->notes;
        ledger->notes = note->next;
        gx_free(ledger->heap, GX_TAG_LEDGER, note, sizeof *note);
    }
}

/* --- Slots --- */

/* Where the pointers of the four arrays are, and the size of an item of each. */
static void *array_at(gx_ledger *ledger, size_t i, size_t *ret_size) {
    static const size_t sizes[] = { sizeof *ledger->trees, sizeof *ledger->marks, sizeof *ledger->free,
                                    sizeof *ledger->ended };
    void *const arrays[] = { &ledger->trees, &ledger->marks, &ledger->free, &ledger->ended };
    *ret_size = sizes[i];
    return arrays[i];
}

void gx_ledger_fini(gx_ledger *ledger) {
    for (uint32_t slot = 0; slot < ledger->slots; slot++) keep_note(ledger, slot);
    free_notes(ledger);
    for (size_t i = 0; i < sizeof ledger->room / sizeof *ledger->room; i++) {
        size_t size;
        void *array;
        memcpy(&array, array_at(ledger, i, &size), sizeof array); /* of any type: not to be read as a void pointer */
        gx_free(ledger->heap, GX_TAG_LEDGER, array, ledger->room[i] * size);
    }
    gx_free(ledger->heap, GX_TAG_LEDGER, ledger->expiring, ledger->expiring_capacity * sizeof *ledger->expiring);
    memset(ledger, 0, sizeof *ledger);
}

/* What is in the queue lies at positions modulo the capacity, which doubles. */
static void unfold_queue(gx_ledger *ledger, uint32_t capacity) {
    for (uint64_t at = ledger->ended_head; at != ledger->ended_tail; at++)
        ledger->ended[at & (capacity - 1)] = ledger->ended[at & (ledger->capacity - 1)];
}

static bool grow(gx_ledger *ledger) {
    uint32_t capacity = ledger->capacity ? 2 * ledger->capacity : GX_LEDGER_MADE_AT_ONCE;
    for (size_t i = 0; i < sizeof ledger->room / sizeof *ledger->room; i++) {
        size_t size;
        void *array = array_at(ledger, i, &size);
        if (!gx_grow(ledger->heap, GX_TAG_LEDGER, array, &ledger->room[i], capacity, size)) return false;
    }
    unfold_queue(ledger, capacity);
    ledger->capacity = capacity;
    return true;
}

/* The lowest slot is on top of the stack. */
static void make_slots(gx_ledger *ledger) {
    uint32_t first = ledger->slots;
    for (uint32_t slot = first + GX_LEDGER_MADE_AT_ONCE; slot-- > first;) {
        uint64_t generation = gx_random_next(&ledger->random) & GENERATION_MASK;
        *gx_ledger_at(ledger, slot) = (gx_tree){ 0 };
        *gx_ledger_mark(ledger, slot) = (gx_tree_mark){ 0 };
        ledger->free[ledger->free_count++] = ledger->number | generation << GX_LEDGER_SLOT_BITS | slot;
    }
    ledger->slots = first + GX_LEDGER_MADE_AT_ONCE;
    ledger->kept = ledger->elsewhere ? 0 : ledger->slots;
}

int64_t gx_ledger_rest(const gx_ledger *ledger) {
    int64_t late = ledger->timeout ? ledger->timeout : 30 * GALE_SECOND;
    return late < INT64_MAX / 2 ? 2 * late : INT64_MAX;
}

/* A slot whose generation came round may be used again when no late answer to its old trees can be on its way any
 * more. */
static bool wake_rested(gx_ledger *ledger, int64_t now) {
    if (!ledger->resting.head) return false;
    if (now - gx_ledger_at(ledger, ledger->resting.head - 1)->start < gx_ledger_rest(ledger)) return false;
    uint64_t slot = gx_ledger_take_first(ledger, &ledger->resting);
    *gx_ledger_at(ledger, slot) = (gx_tree){ 0 };
    ledger->resting_count--;
    ledger->free[ledger->free_count++] = ledger->number | slot;
    return true;
}

int gx_ledger_more(gx_ledger *ledger, int64_t now) {
    if (wake_rested(ledger, now)) return GALE_OK;
    if (ledger->slots == GX_LEDGER_SLOTS_MAX) return GALE_AGAIN;
    if (ledger->slots == ledger->capacity && !grow(ledger)) return GALE_NO_MEMORY;
    make_slots(ledger);
    return GALE_OK;
}

void gx_ledger_let_rest(gx_ledger *ledger, uint64_t slot, int64_t now) {
    GX_CHECK(slot < ledger->slots);
    gx_ledger_mark(ledger, slot)->state = GX_TREE_RESTING;
    gx_ledger_at(ledger, slot)->start = now;
    ledger->resting_count++;
    gx_ledger_append(ledger, &ledger->resting, slot);
}

void gx_ledger_cancel(gx_ledger *ledger, uint64_t root) {
    GX_CHECK(gx_ledger_peek(ledger, root) != NULL);
    *gx_ledger_at(ledger, gx_ledger_slot(root)) = (gx_tree){ 0 };
    ledger->free[ledger->free_count++] = root;
}

/* --- Answers --- */

/* How many ended so, of those that were not acked. */
static uint64_t *count_of(gx_tree_counters *c, uint8_t state) {
    switch (state) {
    case GX_TREE_FAILED:
    case GX_TREE_LOST: return &c->failed;
    case GX_TREE_REJECTED: return &c->rejected;
    case GX_TREE_LATE: return &c->timed_out;
    default: return &c->stopped;
    }
}

static void answer(gx_ledger *ledger, uint64_t slot, uint8_t state) {
    GX_CHECK(slot < ledger->slots && state >= GX_TREE_FAILED && state <= GX_TREE_STOPPED);
    gx_tree *tree = gx_ledger_at(ledger, slot);
    if (!gx_tree_is_open(tree)) tree->root = tree->old; /* it waits */
    gx_ledger_mark(ledger, slot)->state = state;
    ledger->not_acked++;
    ++*count_of(&ledger->counters, state);
    gx_ledger_end(ledger, tree, slot);
}

static gx_failure_note *take_note(gx_ledger *ledger) {
    gx_failure_note *note = ledger->notes;
    if (!note) return gx_alloc(ledger->heap, GX_TAG_LEDGER, sizeof *note);
    ledger->notes = note->next;
    return note;
}

static void answer_noted(gx_ledger *ledger, uint64_t root, uint8_t state, gx_failure_note what, const char *text) {
    uint64_t slot = gx_ledger_slot(root);
    gx_failure_note *note = take_note(ledger);
    if (note) {
        note->reason = what.reason;
        note->task = what.task;
        gx_utf8_copy(note->text, sizeof note->text, text);
    }
    gx_ledger_at(ledger, slot)->note = note;
    answer(ledger, slot, state);
}

void gx_ledger_fail(gx_ledger *ledger, uint64_t root, int32_t reason, uint32_t task, const char *text) {
    if (!gx_ledger_find(ledger, root)) return;
    bool rejected = reason == GALE_REASON_REJECTED && !GX_MUTANT(reject_is_failure);
    bool late = reason == GALE_REASON_TIMEOUT; /* a bolt says so, as of what it waited for */
    uint8_t state = rejected ? GX_TREE_REJECTED : late ? GX_TREE_LATE : GX_TREE_FAILED;
    answer_noted(ledger, root, state, (gx_failure_note){ .reason = reason, .task = task }, text);
}

void gx_ledger_lose(gx_ledger *ledger, uint64_t root) {
    GX_CHECK(gx_ledger_peek(ledger, root) != NULL);
    answer(ledger, gx_ledger_slot(root), GX_TREE_LOST);
}

void gx_ledger_done(gx_ledger *ledger, uint64_t root) {
    gx_tree *tree = gx_ledger_find(ledger, root);
    if (tree) gx_ledger_end(ledger, tree, gx_ledger_slot(root));
}

void gx_ledger_reset(gx_ledger *ledger, uint64_t root) {
    uint64_t slot = gx_ledger_slot(root);
    bool found = gx_ledger_find(ledger, root) != NULL;
    if (GX_MUTANT(reset_revives) && !found && slot < ledger->slots && gx_ledger_state(ledger, slot) == GX_TREE_FAILED) {
        gx_ledger_at(ledger, slot)->root = root;
        found = true;
    }
    if (found) gx_ledger_touch(ledger, slot);
}

/* --- Expiry --- */

enum { SWEEPS = 255, SWEEPS_A_TIMEOUT = 8 };

static void begin_sweep(gx_ledger *ledger, int64_t now) {
    ledger->sweep = (uint8_t)(ledger->sweep % SWEEPS + 1);
    ledger->sweep_due = now + ledger->timeout / 8;
    ledger->sweep_before = now - ledger->timeout;
    ledger->sweep_at = 0;
    ledger->sweep_end = gx_ledger_open_trees(ledger) ? ledger->slots : 0;
}

/* More than T after a moment in the time of sweep k, whose end is the beginning of sweep k + 1, is when sweep k + 9 has
 * begun. Numbers come round after 31 T, when no tree is so old. */
static bool is_late(const gx_ledger *ledger, const gx_tree *tree, const gx_tree_mark *mark) {
    if (tree->start >= ledger->sweep_before) return false;
    if (GX_LIKELY(!mark->touched)) return true;
    if (ledger->progress && tree->start < ledger->sweep_before + ledger->timeout - ledger->ceiling) return true;
    return (ledger->sweep + SWEEPS - mark->touched) % SWEEPS > SWEEPS_A_TIMEOUT;
}

/* Without memory for the list it is found by the next sweep. */
static void set_expiring(gx_ledger *ledger, uint64_t slot) {
    if (!gx_grow(ledger->heap, GX_TAG_LEDGER, &ledger->expiring, &ledger->expiring_capacity, ledger->expiring_count + 1,
                 sizeof *ledger->expiring))
        return;
    gx_ledger_mark(ledger, slot)->state = GX_TREE_EXPIRING;
    ledger->expiring[ledger->expiring_count++] = gx_ledger_at(ledger, slot)->root;
}

static void look_at(gx_ledger *ledger, uint64_t slot) {
    const gx_tree *tree = gx_ledger_at(ledger, slot);
    const gx_tree_mark *mark = gx_ledger_mark(ledger, slot);
    if (gx_tree_is_open(tree) && mark->state == GX_TREE_OPEN && is_late(ledger, tree, mark)) set_expiring(ledger, slot);
}

uint32_t gx_ledger_sweep(gx_ledger *ledger, int64_t now) {
    if (!ledger->sweep_end) {
        if (now < ledger->sweep_due) return 0;
        begin_sweep(ledger, now);
    }
    uint32_t from = ledger->sweep_at, to = ledger->sweep_end;
    GX_CHECK(from <= to && to <= ledger->slots);
    if (to - from > GX_LEDGER_SWEEP_SLICE) to = from + GX_LEDGER_SWEEP_SLICE;
    for (uint32_t slot = from; slot < to; slot++) look_at(ledger, slot);
    ledger->sweep_at = to;
    if (to == ledger->sweep_end) ledger->sweep_end = 0;
    return to - from;
}

void gx_ledger_expire(gx_ledger *ledger, uint64_t root, uint32_t task, const char *text) {
    const gx_tree *tree = gx_ledger_peek(ledger, root);
    if (!tree || gx_ledger_mark(ledger, gx_ledger_slot(root))->state != GX_TREE_EXPIRING) return;
    answer_noted(ledger, root, GX_TREE_LATE, (gx_failure_note){ .reason = GALE_REASON_TIMEOUT, .task = task }, text);
}

int64_t gx_ledger_due(const gx_ledger *ledger) {
    if (ledger->sweep_end) return 0;
    return gx_ledger_open_trees(ledger) ? ledger->sweep_due : INT64_MAX;
}

/* --- Telling --- */

void gx_ledger_stop(gx_ledger *ledger) {
    for (uint32_t slot = 0; slot < ledger->slots && gx_ledger_open_trees(ledger); slot++)
        if (gx_tree_is_open(gx_ledger_at(ledger, slot)) || gx_ledger_state(ledger, slot) == GX_TREE_WAITING)
            answer(ledger, slot, GX_TREE_STOPPED);
}

/* In a loop that leaves the ledger's figures in registers. */
gx_complete gx_ledger_take_complete(gx_ledger *ledger, int64_t now, uint64_t *message_ids, uint32_t *slots,
                                    size_t room) {
    enum { TASK_AND_STATE = 0xffffff };
    gx_tree *trees = ledger->trees;
    const gx_tree_mark *marks = ledger->marks;
    const uint32_t *ended = ledger->ended;
    uint64_t mask = ledger->capacity - 1, head = ledger->ended_head;
    uint64_t *next_free = ledger->free + ledger->free_count;
    uint64_t most = ledger->ended_tail - head < room ? ledger->ended_tail - head : room;
    if (!most) return (gx_complete){ 0 };
    uint64_t first = ended[head & mask];
    uint32_t alike = gx_load32(&marks[first]) & TASK_AND_STATE;
    gx_complete found = { message_ids, 0, trees[first].start, marks[first].task };
    if (marks[first].state > GX_TREE_EXPIRING) return found;
    for (; found.count < most; found.count++) {
        uint32_t slot = ended[(head + found.count) & mask];
        gx_tree *tree = &trees[slot];
        if ((gx_load32(&marks[slot]) & TASK_AND_STATE) != alike || tree->start != found.start) break;
        message_ids[found.count] = tree->message_id;
        slots[found.count] = slot;
        uint64_t next = gx_ledger_after(tree->old);
        if (GX_UNLIKELY(gx_ledger_wraps(tree->old, next))) break;
        tree->old = 0;
        *next_free++ = next;
    }
    ledger->free_count += (uint32_t)found.count;
    ledger->ended_head = head + found.count;
    if (found.count) return found;
    found.count = 1; /* its generation wraps */
    ledger->ended_head++;
    gx_ledger_free(ledger, first, now);
    return found;
}

bool gx_ledger_next_answer(gx_ledger *ledger, int64_t now, gx_answer *ret_answer) {
    if (!gx_ledger_has_answers(ledger)) return false;
    uint64_t slot = ledger->ended[ledger->ended_head++ & (ledger->capacity - 1)];
    const gx_tree *tree = gx_ledger_at(ledger, slot);
    gx_tree_state state = gx_ledger_state(ledger, slot);
    GX_CHECK(state >= GX_TREE_ACKED && state <= GX_TREE_STOPPED);
    *ret_answer = (gx_answer){ .slot = slot,
                               .message_id = tree->message_id,
                               .task = gx_ledger_mark(ledger, slot)->task,
                               .state = (uint8_t)state,
                               .attempts = 1 };
    if (state == GX_TREE_ACKED) ret_answer->latency = now - tree->start;
    if (has_note(ledger, slot)) ret_answer->note = tree->note;
    ledger->told_count++;
    return true;
}

static void take_back(gx_ledger *ledger, uint8_t state) {
    GX_ASSERT(state == GX_TREE_FAILED || state == GX_TREE_REJECTED || state == GX_TREE_LATE);
    --*count_of(&ledger->counters, state);
}

void gx_ledger_unanswered(gx_ledger *ledger, gx_answer *answer) {
    GX_CHECK(answer->slot < ledger->slots);
    take_back(ledger, answer->state);
    ledger->counters.stopped++;
    answer->state = GX_TREE_STOPPED;
    answer->note = NULL; /* the entry keeps it until it is free */
}

void gx_ledger_answered(gx_ledger *ledger, const gx_answer *answer, int64_t now) {
    keep_note(ledger, answer->slot);
    ledger->told_count--;
    gx_ledger_free(ledger, answer->slot, now);
}

/* --- Waiting --- */

bool gx_ledger_defer(gx_ledger *ledger, const gx_answer *answer, int64_t until) {
    GX_ASSERT(answer->state == GX_TREE_FAILED || answer->state == GX_TREE_LATE);
    gx_tree *tree = gx_ledger_at(ledger, answer->slot);
    uint64_t next = tree->old + (UINT64_C(1) << GX_LEDGER_SLOT_BITS);
    bool fresh = next >> GX_LEDGER_SHIFT == tree->old >> GX_LEDGER_SHIFT;
    take_back(ledger, answer->state);
    keep_note(ledger, answer->slot);
    ledger->told_count--;
    tree->old = fresh ? next : ledger->number | answer->slot;
    tree->start = until;
    gx_ledger_mark(ledger, answer->slot)->state = GX_TREE_WAITING;
    return fresh;
}

uint64_t gx_ledger_reopen(gx_ledger *ledger, uint64_t slot, int64_t now) {
    gx_tree *tree = gx_ledger_at(ledger, slot);
    gx_tree_mark *mark = gx_ledger_mark(ledger, slot);
    GX_ASSERT(gx_ledger_state(ledger, slot) == GX_TREE_WAITING);
    tree->root = tree->old;
    tree->xor_ = 0;
    tree->start = now;
    *mark = (gx_tree_mark){ mark->task, GX_TREE_OPEN, 0 };
    return tree->root;
}

/* --- Figures --- */

gx_tree_counters gx_ledger_counters(const gx_ledger *ledger) {
    gx_tree_counters c = ledger->counters;
    c.acked = ledger->ended_tail - ledger->not_acked;
    c.open = gx_ledger_open_trees(ledger);
    c.trees = c.acked + c.failed + c.timed_out + c.rejected + c.stopped + c.open;
    return c;
}

void gx_ledger_publish(gx_ledger *ledger) {
    uint64_t words[sizeof(gx_tree_counters) / 8];
    const gx_tree_counters now = gx_ledger_counters(ledger);
    memcpy(words, &now, sizeof words);
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
    for (uint32_t slot = 0; slot < ledger->slots; slot++) states[gx_ledger_state(ledger, slot)]++;
}

/* The stack is as long as there are free slots, and each of its roots is that of one. */
static const char *free_flaw(const gx_ledger *ledger, uint64_t idle) {
    if (idle != ledger->free_count) return "a free slot is not in the stack of those, or in it twice";
    for (uint32_t i = 0; i < ledger->free_count; i++) {
        uint64_t slot = gx_ledger_slot(ledger->free[i]);
        bool mine = ledger->free[i] >> GX_LEDGER_SHIFT == ledger->number >> GX_LEDGER_SHIFT;
        if (!mine || slot >= ledger->slots || gx_ledger_state(ledger, slot) != GX_TREE_FREE)
            return "a root in the stack of free ones is not that of a free slot";
    }
    return NULL;
}

static const char *queue_flaw(const gx_ledger *ledger, uint64_t ended) {
    if (ended != ledger->ended_tail - ledger->ended_head + ledger->told_count)
        return "an answer is not in the queue of those, or in it twice";
    for (uint64_t at = ledger->ended_head; at != ledger->ended_tail; at++) {
        uint64_t slot = ledger->ended[at & (ledger->capacity - 1)];
        gx_tree_state state = slot < ledger->slots ? gx_ledger_state(ledger, slot) : GX_TREE_FREE;
        if (state < GX_TREE_ACKED || state > GX_TREE_STOPPED) return "what is in the queue of answers is none";
    }
    return NULL;
}

static const char *resting_flaw(const gx_ledger *ledger, uint64_t resting) {
    uint64_t length = 0;
    for (uint64_t at = ledger->resting.head; at; at = gx_ledger_at(ledger, at - 1)->next) {
        if (at > ledger->slots || length++ > ledger->slots || gx_ledger_state(ledger, at - 1) != GX_TREE_RESTING)
            return "what does not rest is in the list of slots that do";
    }
    return length == resting && length == ledger->resting_count ? NULL
                                                                : "a slot that rests is not in the list of those";
}

/* An open tree's root names its slot. */
static const char *open_flaw(const gx_ledger *ledger) {
    for (uint32_t slot = 0; slot < ledger->slots; slot++) {
        const gx_tree *tree = gx_ledger_at(ledger, slot);
        bool named = gx_ledger_slot(tree->root) == slot &&
                     tree->root >> GX_LEDGER_SHIFT == ledger->number >> GX_LEDGER_SHIFT;
        if (gx_tree_is_open(tree) && !named) return "an open tree's root is not that of its slot";
    }
    return NULL;
}

const char *gx_ledger_flaw(const gx_ledger *ledger) {
    uint64_t states[GX_TREE_WAITING + 1] = { 0 }, answered = 0;
    count_states(ledger, states);
    for (int state = GX_TREE_ACKED; state <= GX_TREE_STOPPED; state++) answered += states[state];
    if (states[GX_TREE_OPEN] + states[GX_TREE_EXPIRING] + states[GX_TREE_WAITING] != gx_ledger_open_trees(ledger))
        return "there are not as many open trees as is said";
    const char *flaw = free_flaw(ledger, states[GX_TREE_FREE]);
    if (!flaw) flaw = queue_flaw(ledger, answered);
    if (!flaw) flaw = resting_flaw(ledger, states[GX_TREE_RESTING]);
    return flaw ? flaw : open_flaw(ledger);
}
