#include "engine/settle.h"

#include "base/utf8.h"

#include <string.h>

#define FAILURE_MARK ((uint64_t)GX_LEDGERS_MAX << GX_LEDGER_SHIFT)

/* Ledger numbers are the executors' plus 1, so that no root is 0. */
static gx_outlet *owner(gx_settle *settle, uint64_t root) {
    return &settle->outlets[(root >> GX_LEDGER_SHIFT) - 1];
}

void gx_settle_send(gx_settle *settle, uint64_t root, uint64_t edges) {
    if (edges == 0) return;
    gx_outlet *outlet = owner(settle, root);
    if (!gx_outlet_send_item(outlet, settle->chunks, root, edges)) settle->lost++;
}

void gx_settle_displace(gx_settle *settle) {
    uint64_t root = settle->last_root, edges = settle->last_xor;
    size_t at = gx_random_mix(root) % GX_SETTLE_SLOTS;
    settle->last_root = 0;
    if (settle->table[at].root == root) {
        settle->table[at].xor_ ^= edges;
        return;
    }
    if (settle->table[at].root)
        gx_settle_send(settle, settle->table[at].root, settle->table[at].xor_);
    else
        settle->filled++;
    settle->table[at].root = root;
    settle->table[at].xor_ = edges;
}

static gx_block *text_block(gx_settle *settle, const char *text) {
    if (!text || !*text) return NULL;
    gx_block *block = gx_block_take(settle->blocks, GALE_FAILURE_TEXT + 1);
    if (!block) return NULL;
    gx_utf8_copy((char *)block->bytes, GALE_FAILURE_TEXT + 1, text);
    return block;
}

void gx_settle_fail(gx_settle *settle, uint64_t root, int32_t reason, uint32_t task, const char *text) {
    gx_outlet *outlet = owner(settle, root);
    uint64_t what = FAILURE_MARK | (uint64_t)(task & 0xfffff) << 32 | (uint32_t)reason;
    gx_block *block = text_block(settle, text);
    /* Half a failure must not be sent: both items fit one new chunk. */
    if (gx_chunks_ensure(settle->chunks, 1) && gx_outlet_send_item(outlet, settle->chunks, what, root) &&
        gx_outlet_send_item(outlet, settle->chunks, (uintptr_t)block, 0))
        return;
    settle->lost++;
    if (block) gx_block_release(block, settle->blocks);
}

void gx_settle_flush(gx_settle *settle) {
    if (settle->last_root) {
        gx_settle_send(settle, settle->last_root, settle->last_xor);
        settle->last_root = 0;
    }
    for (size_t i = 0; settle->filled && i < GX_SETTLE_SLOTS; i++) {
        if (!settle->table[i].root) continue;
        gx_settle_send(settle, settle->table[i].root, settle->table[i].xor_);
        settle->table[i].root = 0;
        settle->filled--;
    }
}

static void receive_failure(gx_ledger *ledger, uint64_t half[2], uint64_t pointer, gx_blocks *here) {
    gx_block *block = (gx_block *)(uintptr_t)pointer;
    uint32_t task = (uint32_t)(half[0] >> 32) & 0xfffff;
    gx_ledger_fail(ledger, half[1], (int32_t)(uint32_t)half[0], task, block ? (const char *)block->bytes : NULL);
    if (block) gx_block_release(block, here);
    half[0] = 0;
}

void gx_settle_receive(gx_ledger *ledger, uint64_t half[2], const uint64_t item[2], gx_blocks *here) {
    if (half[0])
        receive_failure(ledger, half, item[0], here);
    else if (item[0] >> GX_LEDGER_SHIFT == GX_LEDGERS_MAX)
        memcpy(half, item, 16);
    else
        gx_ledger_ack(ledger, item[0], item[1]);
}
