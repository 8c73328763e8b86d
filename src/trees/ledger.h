/* The ledger: which of an executor's spout tuples are not answered yet.
 *
 * What:    Storm's acker (org.apache.storm.daemon.Acker) without a table. A tree's root id *is* the place of its entry:
 *
 *              root = ledger 12 bits | generation 28 bits | slot 24 bits
 *
 *          An entry holds the XOR of all edge ids created and consumed so far; at zero the tree is done. The same
 *          entry is the spout's pending entry. An update is an array access and one comparison: a tree is open when its
 *          entry holds its root, and whatever ends it (an ack, a failure, a timeout, a stop) takes the root away in the
 *          same store, so that nothing is answered twice; any other root is stale: dropped, and counted. What is not looked
 *          at by an update lies beside: task, state, sweep. Free slots are a stack of the roots that they are to have next;
 *          ended ones are a queue, in the order of their ends, each slot in it once, until the spout was told.
 *          All four are arrays that double; entries move then, so that no place of one outlives an emit.
 *
 *          Why a partial sum is safe. Every edge id is XORed twice: by the unit that creates it (the spout's emit, or
 *          the ack of the tuple that it was anchored to) and by the unit that consumes it (the ack of the tuple on
 *          that edge). Units are never split, the spout's unit is in the entry before anything can be acked, and ids
 *          are random. So a set of units that contains the spout's and sums to zero contains, but for odds of 2^-64,
 *          for every edge that it creates the unit that consumes it: by induction from the root that is the whole tree.
 *
 *              free --open--> open --xor is 0--> acked -----+
 *                ^             |---fail---------> failed ---+
 *                |             |---lose---------> lost -----+
 *                |             |---reject-------> rejected -+--> answered to the spout --> free
 *                |             |---stop---------> stopped --+                         \--> resting (generation wrapped)
 *                |             +-too old-> expiring -> late +                               |
 *                +---------------------- after two timeouts -------------------------------+
 *
 *          Where replay is configured, a failed or late tree may wait instead of being answered, as open as before,
 *          and be opened again under another root.
 *
 *          An expiring tree is as open as before, while the executors are asked where it is (runtime/locate.h): an ack
 *          or a failure that comes meanwhile wins.
 * Expiry:  a sweep of all entries begins every eighth of the timeout T, a bounded slice a step. An entry expires when
 *          it is older than T as the sweep passes: at an age in (T, 1.125 T + the sweep's own time]. The query takes
 *          T / 10 at the most; so a tree is answered `timeout` at an age in (T, 1.25 T], while steps are made at least
 *          every T / 50. A reset notes the number of the sweep: the tree's T begins anew, and it expires at the ninth
 *          sweep after that one, again in that range. In progress mode every ack is a reset, and a tree expires at
 *          the ceiling whatever was acked.
 * Threads: one, the executor's; gx_ledger_read from any.
 * Limits:  2^24 open trees: then gx_ledger_open says GALE_AGAIN, and the spouts are held. 48 bytes a slot.
 */
#ifndef GX_TREES_LEDGER_H
#define GX_TREES_LEDGER_H

#include "base/alloc.h"
#include "base/assert.h"
#include "base/bits.h"
#include "base/mutant.h"
#include "base/random.h"
#include "trees/counters.h"

#include <gale/component.h>

enum {
    GX_LEDGER_SLOT_BITS = 24,
    GX_LEDGER_GENERATION_BITS = 28,
    GX_LEDGER_SHIFT = GX_LEDGER_SLOT_BITS +
                      GX_LEDGER_GENERATION_BITS, /* of a root: what is above is the ledger's number */
    GX_LEDGERS_MAX = 4095,         /* the number 4095 marks something else in an ack ring, see acks_settle.h */
    GX_LEDGER_MADE_AT_ONCE = 4096, /* slots */
    GX_LEDGER_SLOTS_MAX = 1 << GX_LEDGER_SLOT_BITS,
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
    GX_TREE_LOST,
    GX_TREE_STOPPED,
    GX_TREE_RESTING,
    GX_TREE_WAITING, /* to be emitted again; see trees/retention.h */
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
        uint64_t old;  /* else: the root that it had, or waiting: will have; 0: free */
    };
    union {
        uint64_t root; /* open: its root, whose uppermost bits are never 0 */
        uint64_t next; /* else: the next slot of the list that it is in, plus 1 */
    };
    uint64_t message_id;
    union {
        int64_t start;         /* open, acked: ns of the emit; resting: ns of the wrap; waiting: ns of its end */
        gx_failure_note *note; /* failed, rejected, late: reason and place, or NULL when there was no memory to note
                                  them */
    };
} gx_tree;

static_assert(sizeof(gx_tree) == 32, "an open tree takes 32 bytes, and 16 beside");

typedef struct gx_tree_mark {
    uint16_t task;
    uint8_t state;   /* gx_tree_state; what a tree had when it was acked, and what a free slot had last, stays */
    uint8_t touched; /* the number of the sweep in whose time its timeout began anew; 0: never */
} gx_tree_mark;

static_assert(offsetof(gx_tree_mark, state) == 2 && sizeof(gx_tree_mark) == 4, "a mark is one word");

typedef struct gx_tree_list {
    uint64_t head; /* slot plus 1; 0: none */
    uint64_t last; /* of a list that is not empty */
} gx_tree_list;

typedef struct gx_ledger {
    gx_heap *heap;
    uint64_t number; /* of the ledger, shifted to its place in a root */
    int64_t timeout; /* ns; 0: never */
    int64_t ceiling; /* ns; of the age in progress mode */
    bool progress;   /* an ack begins the timeout anew */

    gx_tree *trees;
    gx_tree_mark *marks;
    uint64_t *free;  /* a stack of roots */
    uint32_t *ended; /* a queue of slots: positions modulo the capacity */
    uint32_t free_count;
    uint32_t slots;    /* made so far */
    uint32_t kept;     /* the same, where their sums are kept here, not at acker tasks; else 0 */
    bool elsewhere;    /* at acker tasks */
    uint32_t capacity; /* a power of two */
    uint64_t ended_head, ended_tail;
    size_t room[4]; /* of the four arrays, which may have grown apart */

    uint64_t not_acked; /* of those that ever ended */
    gx_tree_list resting;
    uint32_t resting_count;
    uint32_t told_count; /* out of the queue, and not back yet: at most the one that its spout is being told of */
    gx_random random;    /* first generations */
    gx_failure_note *notes;
    gx_tree_counters counters; /* but `trees`, `acked` and `open`, which follow from the above: gx_ledger_counters */

    uint64_t *expiring; /* roots, in the order of the sweep; for the next query */
    size_t expiring_count, expiring_capacity;

    uint8_t sweep; /* the number of the last one begun: 1 to 255 and round */
    int64_t sweep_due;
    uint32_t sweep_at;
    uint32_t sweep_end;   /* slots in this pass; 0: no pass */
    int64_t sweep_before; /* entries begun before this are too old */

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
void gx_ledger_init(gx_ledger *ledger, gx_heap *heap, uint32_t number, int64_t timeout, gx_random random);
void gx_ledger_fini(gx_ledger *ledger);

/* Slow path of opening: makes slots or wakes a rested one. GALE_AGAIN, GALE_NO_MEMORY. */
int gx_ledger_more(gx_ledger *ledger, int64_t now);

/* A mark of a tree whose timeout was not begun anew. */
GX_INLINE uint32_t gx_ledger_mark_word(uint16_t task, gx_tree_state state) {
    return task | (uint32_t)state << 16;
}

/* Its place is good until the next tree is opened. */
GX_INLINE gx_tree *gx_ledger_at(const gx_ledger *ledger, uint64_t slot) {
    return &ledger->trees[slot];
}

GX_INLINE gx_tree_mark *gx_ledger_mark(const gx_ledger *ledger, uint64_t slot) {
    return &ledger->marks[slot];
}

GX_INLINE uint64_t gx_ledger_slot(uint64_t root) {
    return root & (GX_LEDGER_SLOTS_MAX - 1);
}

/* Not answered yet. */
GX_INLINE bool gx_tree_is_open(const gx_tree *tree) {
    return tree->root > GX_LEDGER_SLOTS_MAX;
}

gx_tree_state gx_ledger_state(const gx_ledger *ledger, uint64_t slot);

/* The root of a tree that is open or waits. */
GX_INLINE uint64_t gx_ledger_root(const gx_ledger *ledger, uint64_t slot) {
    const gx_tree *tree = gx_ledger_at(ledger, slot);
    return gx_tree_is_open(tree) ? tree->root : tree->old;
}

/* Appends a slot, whose tree is not open, to a list, and to no other. */
GX_INLINE void gx_ledger_append(gx_ledger *ledger, gx_tree_list *list, uint64_t slot) {
    ledger->trees[slot].next = 0;
    if (list->head)
        ledger->trees[list->last].next = slot + 1;
    else
        list->head = slot + 1;
    list->last = slot;
}

/* The oldest of a list that is not empty. */
GX_INLINE uint64_t gx_ledger_take_first(gx_ledger *ledger, gx_tree_list *list) {
    uint64_t slot = list->head - 1;
    list->head = gx_ledger_at(ledger, slot)->next;
    return slot;
}

/* Trees of which a spout is to be told. */
GX_INLINE bool gx_ledger_has_answers(const gx_ledger *ledger) {
    return ledger->ended_head != ledger->ended_tail;
}

/* How many trees are open, those that wait to be emitted again among them. */
GX_INLINE uint64_t gx_ledger_open_trees(const gx_ledger *ledger) {
    return ledger->slots - ledger->free_count - ledger->resting_count - ledger->told_count -
           (ledger->ended_tail - ledger->ended_head);
}

/* All figures, of now. */
gx_tree_counters gx_ledger_counters(const gx_ledger *ledger);

/* The tree is over: its root goes, and it is in the queue of answers. */
GX_INLINE void gx_ledger_end(gx_ledger *ledger, gx_tree *tree, uint64_t slot) {
    tree->old = tree->root;
    tree->root = 0;
    ledger->ended[ledger->ended_tail++ & (ledger->capacity - 1)] = (uint32_t)slot;
}

/* Is there a slot for a tree that begins now? GALE_AGAIN, GALE_NO_MEMORY. */
GX_INLINE int gx_ledger_has_room(gx_ledger *ledger, int64_t now) {
    return GX_LIKELY(ledger->free_count) ? GALE_OK : gx_ledger_more(ledger, now);
}

/* The root of the tree that is opened next, when there is room. */
GX_INLINE uint64_t gx_ledger_next_root(const gx_ledger *ledger) {
    return ledger->free[ledger->free_count - 1];
}

/* Opens the tree that has the next root for `task`, with the XOR of the edges that its emit created, if they are known. */
GX_INLINE void gx_ledger_take(gx_ledger *ledger, uint64_t root, uint16_t task, uint64_t message_id, int64_t now,
                              uint64_t edges) {
    uint64_t slot = gx_ledger_slot(root);
    GX_CHECK(root == gx_ledger_next_root(ledger));
    ledger->free_count--;
    *gx_ledger_at(ledger, slot) = (gx_tree){ { edges }, { root }, message_id, { now } };
    gx_store32(gx_ledger_mark(ledger, slot), gx_ledger_mark_word(task, GX_TREE_OPEN));
}

/* The same. The caller emits and then calls gx_ledger_begin with the XOR of the edges, or gx_ledger_cancel. */
GX_INLINE int gx_ledger_open(gx_ledger *ledger, uint16_t task, uint64_t message_id, int64_t now, uint64_t *ret_root) {
    int rc = gx_ledger_has_room(ledger, now);
    if (GX_UNLIKELY(rc != GALE_OK)) return rc;
    *ret_root = gx_ledger_next_root(ledger);
    gx_ledger_take(ledger, *ret_root, task, message_id, now, 0);
    return rc;
}

/* The spout's own unit: all edges that its emit created. With none, the tree is done at once. */
GX_INLINE void gx_ledger_begin(gx_ledger *ledger, uint64_t root, uint64_t edges) {
    gx_tree *tree = gx_ledger_at(ledger, gx_ledger_slot(root));
    tree->xor_ = edges;
    if (GX_UNLIKELY(edges == 0)) gx_ledger_end(ledger, tree, gx_ledger_slot(root));
}

void gx_ledger_cancel(gx_ledger *ledger, uint64_t root);

/* The entry of an open tree, or NULL when the root is stale. */
GX_INLINE gx_tree *gx_ledger_peek(const gx_ledger *ledger, uint64_t root) {
    uint64_t slot = gx_ledger_slot(root);
    GX_CHECK(root >> GX_LEDGER_SHIFT); /* or it would be that of what is not open */
    if (GX_UNLIKELY(slot >= ledger->slots)) return NULL;
    gx_tree *tree = gx_ledger_at(ledger, slot);
    bool same = tree->root == root || (GX_MUTANT(generation_ignored) && gx_tree_is_open(tree));
    return GX_LIKELY(same) ? tree : NULL;
}

/* The same for an answer: a stale one is counted. */
GX_INLINE gx_tree *gx_ledger_find(gx_ledger *ledger, uint64_t root) {
    gx_tree *tree = gx_ledger_peek(ledger, root);
    if (GX_UNLIKELY(!tree)) ledger->counters.stale++;
    return tree;
}

/* Its timeout begins anew. */
GX_INLINE void gx_ledger_touch(const gx_ledger *ledger, uint64_t slot) {
    gx_tree_mark *mark = gx_ledger_mark(ledger, slot);
    mark->touched = ledger->sweep;
    mark->state = GX_TREE_OPEN; /* it may be expiring */
}

GX_INLINE void gx_ledger_add(gx_ledger *ledger, gx_tree *tree, uint64_t slot, uint64_t edges) {
    tree->xor_ ^= edges;
    if (tree->xor_ == 0)
        gx_ledger_end(ledger, tree, slot);
    else if (GX_UNLIKELY(ledger->progress))
        gx_ledger_touch(ledger, slot);
}

/* One or more acks of tuples of this tree. */
GX_INLINE void gx_ledger_ack(gx_ledger *ledger, uint64_t root, uint64_t edges) {
    gx_tree *tree = gx_ledger_find(ledger, root);
    if (GX_LIKELY(tree != NULL)) gx_ledger_add(ledger, tree, gx_ledger_slot(root), edges);
}

/* The same for a root that may be another ledger's, or be kept at an acker task: false, and nothing was done, when it is
 * that, or stale. An entry that holds the root says that it is neither. */
GX_INLINE bool gx_ledger_ack_kept(gx_ledger *ledger, uint64_t root, uint64_t edges) {
    uint64_t slot = gx_ledger_slot(root);
    if (GX_UNLIKELY(slot >= ledger->kept)) return false;
    gx_tree *tree = gx_ledger_at(ledger, slot);
    if (GX_UNLIKELY(tree->root != root)) return false;
    gx_ledger_add(ledger, tree, slot, edges);
    return true;
}

/* An acker task says that the tree is complete. */
void gx_ledger_done(gx_ledger *ledger, uint64_t root);

/* The tree's timeout begins anew. */
void gx_ledger_reset(gx_ledger *ledger, uint64_t root);

/* A tuple of this tree failed, on `task`, for `reason`, of which GALE_REASON_REJECTED is an outcome of its own. The
 * first answer wins. */
void gx_ledger_fail(gx_ledger *ledger, uint64_t root, int32_t reason, uint32_t task, const char *text);

/* The source of an open tree is lost. */
void gx_ledger_lose(gx_ledger *ledger, uint64_t root);

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

/* Complete trees of one spout that were begun at one time, one behind the other among the answers. */
typedef struct gx_complete {
    uint64_t *message_ids;
    size_t count;
    int64_t start;
    uint16_t task;
} gx_complete;

/* The next answers, as far as they are alike and at most `room`; none when the next one is no complete tree. Their slots,
 * which are written to `slots`, are free: the spout is told from what is returned. The latency is the caller's to add. */
gx_complete gx_ledger_take_complete(gx_ledger *ledger, int64_t now, uint64_t *message_ids, uint32_t *slots,
                                    size_t room);

/* Slow path: the slot's generation wrapped. */
void gx_ledger_let_rest(gx_ledger *ledger, uint64_t slot, int64_t now);

/* The root that a slot's next tree has; it has wrapped when it is another ledger's. */
GX_INLINE uint64_t gx_ledger_after(uint64_t root) {
    return root + (UINT64_C(1) << GX_LEDGER_SLOT_BITS);
}

GX_INLINE bool gx_ledger_wraps(uint64_t root, uint64_t next) {
    return (root ^ next) >> GX_LEDGER_SHIFT != 0;
}

/* The slot of a tree that has ended, and is in no list, is free for a tree with its next root. */
GX_INLINE void gx_ledger_free(gx_ledger *ledger, uint64_t slot, int64_t now) {
    gx_tree *tree = gx_ledger_at(ledger, slot);
    uint64_t next = gx_ledger_after(tree->old);
    if (GX_UNLIKELY(gx_ledger_wraps(tree->old, next))) {
        gx_ledger_let_rest(ledger, slot, now);
        return;
    }
    tree->old = 0;
    ledger->free[ledger->free_count++] = next;
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
