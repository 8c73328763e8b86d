/* The ledger: which of an executor's spout tuples are not answered yet.
 *
 * What:    Storm's acker (org.apache.storm.daemon.Acker) without a table. A tree's root id *is* the place of its entry:
 *
 *              root = ledger 12 bits | generation 28 bits | slot 24 bits
 *
 *          An entry holds the XOR of all edge ids created and consumed so far; at zero the tree is done. The same
 *          entry is the spout's pending entry. An update is an array access; a stale one (the generation does not
 *          match) is dropped and counted. Slots come in segments that never move.
 *
 *          Why a partial sum is safe. Every edge id is XORed twice: by the unit that creates it (the spout's emit, or
 *          the ack of the tuple that it was anchored to) and by the unit that consumes it (the ack of the tuple on
 *          that edge). Units are never split, the spout's unit is in the entry before anything can be acked, and ids
 *          are random. So a set of units that contains the spout's and sums to zero contains, but for odds of 2^-64,
 *          for every edge that it creates the unit that consumes it: by induction from the root that is the whole tree.
 *
 *              free --open--> open --xor is 0--> acked -----+
 *                ^             |---fail---------> failed ---+
 *                |             |---reject-------> rejected -+--> answered to the spout --> free
 *                |             |---stop---------> stopped --+                         \--> resting (generation wrapped)
 *                |             +-too old-> expiring -> late +                               |
 *                +---------------------- after two timeouts -------------------------------+
 *
 *          Where replay is configured, a failed or late tree may wait instead of being answered, as open as before,
 *          and be opened again under another root.
 *
 *          An expiring tree is as open as before, while the executors are asked where it is (engine/inquest.h): an ack
 *          or a failure that comes meanwhile wins.
 * Expiry:  a sweep of all entries begins every eighth of the timeout T, a bounded slice a step. An entry expires when
 *          it is older than T as the sweep passes: at an age in (T, 1.125 T + the sweep's own time]. The inquest takes
 *          T / 10 at the most; so a tree is answered `timeout` at an age in (T, 1.25 T], while steps are made at least
 *          every T / 50. A reset notes the number of the sweep: the tree's T begins anew, and it expires at the ninth
 *          sweep after that one, again in that range. In progress mode every ack is a reset, and a tree expires at
 *          the ceiling whatever was acked.
 * Threads: one, the executor's; gx_ledger_read from any.
 * Limits:  2^24 open trees: then gx_ledger_open says GALE_AGAIN, and the spouts are held.
 */
#ifndef GX_ENGINE_LEDGER_H
#define GX_ENGINE_LEDGER_H

#include "base/alloc.h"
#include "base/mutant.h"
#include "base/random.h"
#include "ds/histogram.h"
#include "engine/counters.h"

#include <gale/component.h>

enum {
    GX_LEDGER_SLOT_BITS = 24,
    GX_LEDGER_GENERATION_BITS = 28,
    GX_LEDGERS_MAX = 4095, /* the number 4095 marks something else in an ack ring, see settle.h */
    GX_LEDGER_SEGMENT_BITS = 12,
    GX_LEDGER_SEGMENT = 1 << GX_LEDGER_SEGMENT_BITS,
    GX_LEDGER_SEGMENTS = 1 << (GX_LEDGER_SLOT_BITS - GX_LEDGER_SEGMENT_BITS),
    GX_LEDGER_SWEEP_SLICE = 16384,
};

typedef enum gx_tree_state {
    GX_TREE_FREE,
    GX_TREE_OPEN,
    GX_TREE_EXPIRING,
    GX_TREE_ACKED,
    GX_TREE_FAILED,
    GX_TREE_REJECTED,
    GX_TREE_LATE,
    GX_TREE_STOPPED,
    GX_TREE_RESTING,
    GX_TREE_WAITING, /* to be emitted again; see engine/retention.h */
} gx_tree_state;

typedef struct gx_failure_note {
    struct gx_failure_note *next;
    int32_t reason;
    uint32_t task;
    char text[GALE_FAILURE_TEXT + 1];
} gx_failure_note;

typedef struct gx_tree {
    union {
        uint64_t xor_; /* open: edges created and consumed */
        uint64_t next; /* else: the next slot of the list that it is in, plus 1 */
    };
    uint64_t message_id;
    union {
        int64_t start;         /* open, acked: ns of the emit; resting: ns of the wrap; waiting: ns of its end */
        gx_failure_note *note; /* failed, rejected, late: reason and place, or NULL when there was no memory to note
                                  them */
    };
    uint32_t generation;
    uint16_t task;
    uint8_t state;   /* gx_tree_state */
    uint8_t touched; /* the number of the sweep in whose time its timeout began anew; 0: never */
} gx_tree;

static_assert(sizeof(gx_tree) == 32, "an open tree takes 32 bytes");

typedef struct gx_tree_list {
    uint64_t head; /* slot plus 1; 0: none */
    gx_tree *last; /* of a list that is not empty */
} gx_tree_list;

typedef struct gx_ledger {
    gx_heap *heap;
    uint64_t number; /* of the ledger, shifted to its place in a root */
    int64_t timeout; /* ns; 0: never */
    int64_t ceiling; /* ns; of the age in progress mode */
    bool progress;   /* an ack begins the timeout anew */
    uint64_t free;   /* slot plus 1; last in, first out */
    gx_tree_list answers;
    gx_tree_list resting;
    uint32_t slots;   /* made so far */
    gx_random random; /* first generations */
    gx_failure_note *notes;
    gx_tree_counters counters;

    uint64_t *expiring; /* roots, in the order of the sweep; for the next inquest */
    size_t expiring_count, expiring_capacity;

    uint8_t sweep; /* the number of the last one begun: 1 to 255 and round */
    int64_t sweep_due;
    uint32_t sweep_at;
    uint32_t sweep_end;   /* slots in this pass; 0: no pass */
    int64_t sweep_before; /* entries begun before this are too old */

    gx_tree **segments; /* [GX_LEDGER_SEGMENTS] */
    gx_histogram *complete;
    gx_atomic64 version; /* of what is published: base/seqlock.h */
    gx_atomic64 published[sizeof(gx_tree_counters) / 8];
} gx_ledger;

/* What a spout is told. */
typedef struct gx_answer {
    uint64_t slot;
    uint64_t message_id;
    uint16_t task;
    uint8_t state;
    int64_t latency; /* acked */
    const gx_failure_note *note;
    uint32_t attempts; /* how often it was emitted */
    bool final;        /* failed, and the engine has tried as often as it may */
} gx_answer;

/* `number` is from 1, so that no root is 0. GALE_NO_MEMORY. */
int gx_ledger_init(gx_ledger *ledger, gx_heap *heap, uint32_t number, int64_t timeout, gx_random random);
void gx_ledger_fini(gx_ledger *ledger);

/* Slow path of opening: makes a segment or wakes a rested slot. GALE_AGAIN, GALE_NO_MEMORY. */
int gx_ledger_more(gx_ledger *ledger, int64_t now);

GX_INLINE gx_tree *gx_ledger_at(const gx_ledger *ledger, uint64_t slot) {
    return &ledger->segments[slot >> GX_LEDGER_SEGMENT_BITS][slot & (GX_LEDGER_SEGMENT - 1)];
}

GX_INLINE void gx_ledger_append_tree(gx_tree_list *list, gx_tree *tree, uint64_t slot) {
    tree->next = 0;
    if (GX_LIKELY(list->head))
        list->last->next = slot + 1;
    else
        list->head = slot + 1;
    list->last = tree;
}

/* Appends a slot to a list, whose tree is in no other. */
GX_INLINE void gx_ledger_append(gx_ledger *ledger, gx_tree_list *list, uint64_t slot) {
    gx_ledger_append_tree(list, gx_ledger_at(ledger, slot), slot);
}

/* The oldest of a list that is not empty. */
GX_INLINE uint64_t gx_ledger_take_first(gx_ledger *ledger, gx_tree_list *list) {
    uint64_t slot = list->head - 1;
    list->head = gx_ledger_at(ledger, slot)->next;
    return slot;
}

/* Puts a tree that is not open any more in the queue of answers. */
void gx_ledger_answer(gx_ledger *ledger, uint64_t slot, uint8_t state);

/* The same for one that is complete: the most frequent end. */
GX_INLINE void gx_ledger_complete(gx_ledger *ledger, gx_tree *tree, uint64_t slot) {
    tree->state = GX_TREE_ACKED;
    ledger->counters.open--;
    ledger->counters.acked++;
    gx_ledger_append_tree(&ledger->answers, tree, slot);
}

GX_INLINE uint64_t gx_ledger_root(const gx_ledger *ledger, const gx_tree *tree, uint64_t slot) {
    return ledger->number | (uint64_t)tree->generation << GX_LEDGER_SLOT_BITS | slot;
}

GX_INLINE uint64_t gx_ledger_slot(uint64_t root) {
    return root & ((UINT64_C(1) << GX_LEDGER_SLOT_BITS) - 1);
}

/* Is there a slot for a tree that begins now? GALE_AGAIN, GALE_NO_MEMORY. */
GX_INLINE int gx_ledger_has_room(gx_ledger *ledger, int64_t now) {
    return GX_LIKELY(ledger->free) ? GALE_OK : gx_ledger_more(ledger, now);
}

/* Opens a tree for `task`, when there is room, with the XOR of the edges that its emit created, if they are known.
 * Returns its root. */
GX_INLINE uint64_t gx_ledger_take(gx_ledger *ledger, uint16_t task, uint64_t message_id, int64_t now, uint64_t edges) {
    uint64_t slot = ledger->free - 1;
    gx_tree *tree = gx_ledger_at(ledger, slot);
    ledger->free = tree->next;
    tree->xor_ = edges;
    tree->message_id = message_id;
    tree->start = now;
    tree->task = task;
    tree->state = GX_TREE_OPEN;
    tree->touched = 0;
    ledger->counters.trees++;
    ledger->counters.open++;
    return gx_ledger_root(ledger, tree, slot);
}

/* The same. The caller emits and then calls gx_ledger_begin with the XOR of the edges, or gx_ledger_cancel. */
GX_INLINE int gx_ledger_open(gx_ledger *ledger, uint16_t task, uint64_t message_id, int64_t now, uint64_t *ret_root) {
    int rc = gx_ledger_has_room(ledger, now);
    if (GX_LIKELY(rc == GALE_OK)) *ret_root = gx_ledger_take(ledger, task, message_id, now, 0);
    return rc;
}

/* The spout's own unit: all edges that its emit created. With none, the tree is done at once. */
GX_INLINE void gx_ledger_begin(gx_ledger *ledger, uint64_t root, uint64_t edges) {
    uint64_t slot = root & ((UINT64_C(1) << GX_LEDGER_SLOT_BITS) - 1);
    gx_tree *tree = gx_ledger_at(ledger, slot);
    tree->xor_ = edges;
    if (GX_UNLIKELY(edges == 0)) gx_ledger_complete(ledger, tree, slot);
}

void gx_ledger_cancel(gx_ledger *ledger, uint64_t root);

/* Not answered yet. */
GX_INLINE bool gx_tree_is_open(const gx_tree *tree) {
    return (uint8_t)(tree->state - GX_TREE_OPEN) <= GX_TREE_EXPIRING - GX_TREE_OPEN;
}

/* The entry of an open tree, or NULL when the root is stale. */
GX_INLINE gx_tree *gx_ledger_peek(const gx_ledger *ledger, uint64_t root, uint64_t *ret_slot) {
    uint64_t slot = root & ((UINT64_C(1) << GX_LEDGER_SLOT_BITS) - 1);
    uint32_t generation = (uint32_t)(root >> GX_LEDGER_SLOT_BITS) & ((1u << GX_LEDGER_GENERATION_BITS) - 1);
    *ret_slot = slot;
    if (GX_LIKELY(slot < ledger->slots)) {
        gx_tree *tree = gx_ledger_at(ledger, slot);
        bool same = tree->generation == generation || GX_MUTANT(generation_ignored);
        if (GX_LIKELY(gx_tree_is_open(tree) && same)) return tree;
    }
    return NULL;
}

/* The same for an answer: a stale one is counted. */
GX_INLINE gx_tree *gx_ledger_find(gx_ledger *ledger, uint64_t root, uint64_t *ret_slot) {
    gx_tree *tree = gx_ledger_peek(ledger, root, ret_slot);
    if (GX_UNLIKELY(!tree)) ledger->counters.stale++;
    return tree;
}

/* Its timeout begins anew. */
GX_INLINE void gx_ledger_touch(const gx_ledger *ledger, gx_tree *tree) {
    tree->touched = ledger->sweep;
    tree->state = GX_TREE_OPEN; /* it may be expiring */
}

/* One or more acks of tuples of this tree. */
GX_INLINE void gx_ledger_ack(gx_ledger *ledger, uint64_t root, uint64_t edges) {
    uint64_t slot;
    gx_tree *tree = gx_ledger_find(ledger, root, &slot);
    if (GX_UNLIKELY(!tree)) return;
    tree->xor_ ^= edges;
    if (tree->xor_ == 0)
        gx_ledger_complete(ledger, tree, slot);
    else if (GX_UNLIKELY(ledger->progress))
        gx_ledger_touch(ledger, tree);
}

/* An acker task says that the tree is complete. */
void gx_ledger_done(gx_ledger *ledger, uint64_t root);

/* The tree's timeout begins anew. */
void gx_ledger_reset(gx_ledger *ledger, uint64_t root);

/* A tuple of this tree failed, on `task`, for `reason`, of which GALE_REASON_REJECTED is an outcome of its own. The
 * first answer wins. */
void gx_ledger_fail(gx_ledger *ledger, uint64_t root, int32_t reason, uint32_t task, const char *text);

/* Goes on sweeping, or begins: what is too old is expiring from then on, and in the list of those. Returns how many
 * entries were looked at. */
uint32_t gx_ledger_sweep(gx_ledger *ledger, int64_t now);

/* What was expiring is late, unless it was answered or touched since; `task` and `text` say where it was. */
void gx_ledger_expire(gx_ledger *ledger, uint64_t root, uint32_t task, const char *text);

/* When the sweep next has something to do; INT64_MAX: never. */
int64_t gx_ledger_due(const gx_ledger *ledger);

/* Answers every open tree with `stopped`, also those that wait: the lists that they are in are void then. */
void gx_ledger_stop(gx_ledger *ledger);

/* The next answer for a spout, oldest first; false when there is none. After the spout has been told, the entry goes
 * back with gx_ledger_answered: `now` is for the rest of slots whose generation wraps. */
bool gx_ledger_next_answer(gx_ledger *ledger, int64_t now, gx_answer *ret_answer);

/* In between: a failed, late or rejected tree is answered as one that was stopped. */
void gx_ledger_unanswered(gx_ledger *ledger, gx_answer *answer);
void gx_ledger_answered(gx_ledger *ledger, const gx_answer *answer, int64_t now);

/* The tree that the next answer is about and its slot, or NULL. One that is complete may be answered in place, without
 * gx_ledger_next_answer's copy: gx_ledger_unlist takes it off the list, then the spout is told, and gx_ledger_forget
 * frees the entry. The latency is the caller's to add. */
GX_INLINE gx_tree *gx_ledger_first_answer(const gx_ledger *ledger, uint64_t *ret_slot) {
    if (!ledger->answers.head) return NULL;
    *ret_slot = ledger->answers.head - 1;
    return gx_ledger_at(ledger, *ret_slot);
}

GX_INLINE void gx_ledger_unlist(gx_ledger *ledger, const gx_tree *first) {
    ledger->answers.head = first->next;
}

/* Slow path: the slot's generation wrapped. */
void gx_ledger_let_rest(gx_ledger *ledger, uint64_t slot, int64_t now);

GX_INLINE void gx_ledger_forget(gx_ledger *ledger, gx_tree *tree, uint64_t slot, int64_t now) {
    tree->generation = (tree->generation + 1) & ((1u << GX_LEDGER_GENERATION_BITS) - 1);
    if (GX_UNLIKELY(tree->generation == 0)) {
        gx_ledger_let_rest(ledger, slot, now);
        return;
    }
    tree->state = GX_TREE_FREE;
    tree->next = ledger->free;
    ledger->free = slot + 1;
}

/* --- Trees whose tuple is emitted again (engine/replay.h) --- */

/* In place of gx_ledger_answered: the failed tree counts as open again and waits, until `until`; all that is still said
 * about it is stale. False when its generation wrapped: then it must wait for as long as gx_ledger_rest says. */
bool gx_ledger_defer(gx_ledger *ledger, const gx_answer *answer, int64_t until);

/* A tree that waits is open from `now` on, as after gx_ledger_open. Returns its root. */
uint64_t gx_ledger_reopen(gx_ledger *ledger, uint64_t slot, int64_t now);

/* How long a slot whose generation wrapped is not used, in ns. */
int64_t gx_ledger_rest(const gx_ledger *ledger);

/* Lets other threads see the counters, all of the same moment. */
void gx_ledger_publish(gx_ledger *ledger);
gx_tree_counters gx_ledger_read(const gx_ledger *ledger);

/* What of the ledger does not hold between two steps, in words, or NULL. */
const char *gx_ledger_flaw(const gx_ledger *ledger);

#endif
