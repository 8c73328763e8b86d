/* Settling acks where they happen: for trees whose ledger lies on another executor, XORs are combined before they
 * travel.
 *
 * What:    a register for the last root, then a small direct-mapped table; what a newer root displaces is sent, and
 *          every step sends the rest. Ten words of one line, counted on another core, make one update instead of
 *          eleven. Sums may be cut anywhere between units (see the proof in engine/ledger.h).
 *          An item is {root, xor}. A failure is two items: {4095 << 52 | task << 32 | reason, root}, {text block, 0}.
 *          A sum of zero says nothing and is not sent.
 * Threads: the executor's own.
 */
#ifndef GX_ENGINE_SETTLE_H
#define GX_ENGINE_SETTLE_H

#include "ds/block.h"
#include "engine/ledger.h"
#include "engine/outlet.h"

enum { GX_SETTLE_SLOTS = 64, GX_LEDGER_SHIFT = 52 };

typedef struct gx_settle {
    uint64_t last_root, last_xor;
    uint32_t filled; /* slots of the table in use */
    struct {
        uint64_t root, xor_; /* root 0: empty */
    } table[GX_SETTLE_SLOTS];
    gx_outlet *outlets; /* by the owner's executor */
    gx_chunks *chunks;
    gx_blocks *blocks;
    uint64_t lost; /* updates that found no memory: their trees time out */
} gx_settle;

/* Sends one update to its owner. */
void gx_settle_send(gx_settle *settle, uint64_t root, uint64_t edges);

/* Moves the last root into the table. */
void gx_settle_displace(gx_settle *settle);

/* An ack for a tree of another executor's ledger. */
GX_INLINE void gx_settle_ack(gx_settle *settle, uint64_t root, uint64_t edges) {
    if (settle->last_root == root) {
        settle->last_xor ^= edges;
        return;
    }
    if (settle->last_root) gx_settle_displace(settle);
    settle->last_root = root;
    settle->last_xor = edges;
}

/* A failure, at once. */
void gx_settle_fail(gx_settle *settle, uint64_t root, int32_t reason, uint32_t task, const char *text);

/* Sends everything. */
void gx_settle_flush(gx_settle *settle);

GX_INLINE bool gx_settle_is_empty(const gx_settle *settle) {
    return settle->last_root == 0 && settle->filled == 0;
}

/* The receiving side: one item for `ledger`. `half` (two words, zero at first) keeps the first half of a failure. */
void gx_settle_receive(gx_ledger *ledger, uint64_t half[2], const uint64_t item[2], gx_blocks *here);

#endif
