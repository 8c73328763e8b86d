/* Settling acks where they happen: for trees that are kept on another executor, XORs are combined before they travel.
 * A tree's keeper is its ledger or, where there are acker tasks, one of those.
 *
 * What:    a register for the last root, then a small direct-mapped table; what a newer root displaces is sent, and
 *          every step sends the rest. Ten words of one line, counted on another core, make one update instead of
 *          eleven. Sums may be cut anywhere between units (see the proof in trees/ledger.h).
 *          An item is {root, xor}, or a notice that begins with the ledger number 4095, which no root has:
 *          {4095 << 52 | kind << 48 | task << 32 | reason, root}, and for some kinds a second item {word, 0}.
 *          A sum of zero says nothing and is not sent.
 * Threads: the executor's own.
 */
#ifndef GX_ENGINE_ACKS_SETTLE_H
#define GX_ENGINE_ACKS_SETTLE_H

#include "ds/block.h"
#include "engine/outlet.h"
#include "topology/plan.h"
#include "trees/ledger.h"

/* As many as a spout begins in a turn: where each tree has tuples in several batches of that turn, which are run one after
 * the other, the tree is still there when the next batch comes to it. */
enum { GX_SETTLE_SLOTS = 256 };

typedef enum gx_notice_kind {
    GX_NOTICE_ACK,   /* edges; to the keeper */
    GX_NOTICE_FAIL,  /* reason, task, text; to the keeper */
    GX_NOTICE_RESET, /* the tree's timeout begins again; to the keeper */
    GX_NOTICE_BEGIN, /* edges, the spout's own; to an acker task, as the rest are from one to a ledger */
    GX_NOTICE_DONE,
    GX_NOTICE_FAILED, /* reason, task, text */
    GX_NOTICE_RENEW,
} gx_notice_kind;

typedef struct gx_notice {
    int kind; /* gx_notice_kind */
    uint64_t root;
    uint64_t edges;
    int32_t reason;
    uint32_t task;
    gx_block *text; /* or NULL; the receiver releases it */
} gx_notice;

typedef struct gx_settle_slot {
    uint64_t root, xor_; /* root 0: empty */
} gx_settle_slot;

typedef struct gx_settle {
    uint64_t last_root, last_xor;
    uint32_t filled;                      /* slots of the table in use */
    uint64_t marks[GX_SETTLE_SLOTS / 64]; /* a bit for each of those */
    gx_settle_slot table[GX_SETTLE_SLOTS];
    gx_ack_outlet *outlets; /* by executor */
    const gx_plan *plan;    /* where acker tasks are; NULL: there are none */
    gx_heap *heap;
    gx_blocks *blocks;
    uint64_t lost; /* updates that found no memory: their trees time out */
} gx_settle;

/* Sends one update to its keeper. */
void gx_settle_send(gx_settle *settle, uint64_t root, uint64_t edges);

/* Where a root belongs in the table: trees begun one after the other, and those of other ledgers, have places beside
 * each other. */
GX_INLINE size_t gx_settle_place(uint64_t root) {
    return (root + (root >> GX_LEDGER_SHIFT) * 23) % GX_SETTLE_SLOTS;
}

/* Another root is the last one; the one that was goes into the table. */
void gx_settle_displace(gx_settle *settle, uint64_t root, uint64_t edges);

/* An ack for a tree that is kept on another executor. */
GX_INLINE void gx_settle_ack(gx_settle *settle, uint64_t root, uint64_t edges) {
    if (settle->last_root == root) {
        settle->last_xor ^= edges;
        return;
    }
    if (GX_LIKELY(settle->last_root)) {
        gx_settle_displace(settle, root, edges);
        return;
    }
    settle->last_root = root;
    settle->last_xor = edges;
}

/* A notice, at once. `text` (may be NULL) is copied; `notice->text` does not count. */
void gx_settle_notify(gx_settle *settle, const gx_notice *notice, const char *text);

/* Sends everything. */
void gx_settle_flush(gx_settle *settle);

GX_INLINE bool gx_settle_is_empty(const gx_settle *settle) {
    return settle->last_root == 0 && settle->filled == 0;
}

/* The receiving side, item by item: true when one made a notice whole. `half` (two words, zero at first) keeps the first
 * item of two. */
bool gx_settle_receive(uint64_t half[2], const uint64_t item[2], gx_notice *ret_notice);

GX_INLINE const char *gx_notice_text(const gx_notice *notice) {
    return notice->text ? (const char *)notice->text->bytes : NULL;
}

/* What a notice says to a ledger. */
void gx_settle_apply(gx_ledger *ledger, const gx_notice *notice);

#endif
