#include "engine/acks_settle.h"

#include "base/assert.h"
#include "base/mutant.h"
#include "base/utf8.h"

#include <string.h>

#define NOTICE_MARK ((uint64_t)GX_LEDGERS_MAX << GX_LEDGER_SHIFT)

/* Ledger numbers are the executors' plus 1, so that no root is 0. */
static gx_ack_outlet *to_ledger(gx_settle *settle, uint64_t root) {
    GX_CHECK(root >> GX_LEDGER_SHIFT >= 1 && root >> GX_LEDGER_SHIFT < GX_LEDGERS_MAX);
    return &settle->outlets[(root >> GX_LEDGER_SHIFT) - 1];
}

static gx_ack_outlet *to_keeper(gx_settle *settle, uint64_t root) {
    if (GX_LIKELY(!settle->plan)) return to_ledger(settle, root);
    return &settle->outlets[settle->plan->tasks[gx_plan_acker(settle->plan, root)].executor];
}

void gx_settle_send(gx_settle *settle, uint64_t root, uint64_t edges) {
    if (edges == 0) return;
    gx_ack_outlet *outlet = to_keeper(settle, root);
    if (GX_LIKELY(gx_ack_outlet_put(outlet, root, edges))) return;
    if (!gx_ack_outlet_send(outlet, settle->heap, root, edges)) settle->lost++;
}

void gx_settle_displace(gx_settle *settle, uint64_t root, uint64_t edges) {
    GX_CHECK(root != 0 && root != settle->last_root);
    uint64_t last = settle->last_root, sum = settle->last_xor;
    settle->last_root = root;
    settle->last_xor = edges;
    size_t place = gx_settle_place(last);
    gx_settle_slot *slot = &settle->table[place];
    if (slot->root == last) {
        slot->xor_ ^= sum;
        return;
    }
    uint64_t out_root = slot->root, out_sum = slot->xor_;
    *slot = (gx_settle_slot){ last, sum };
    if (GX_UNLIKELY(!out_root)) {
        settle->filled++;
        settle->marks[place / 64] |= UINT64_C(1) << place % 64;
    } else if (!GX_MUTANT(eviction_dropped)) {
        gx_settle_send(settle, out_root, out_sum);
    }
}

static gx_block *text_block(gx_settle *settle, const char *text) {
    if (!text || !*text) return NULL;
    gx_block *block = gx_block_take(settle->blocks, GALE_FAILURE_TEXT + 1);
    if (!block) return NULL;
    gx_utf8_copy((char *)block->bytes, GALE_FAILURE_TEXT + 1, text);
    return block;
}

static bool has_text(int kind) {
    return kind == GX_NOTICE_FAIL || kind == GX_NOTICE_FAILED;
}

static bool has_two_items(int kind) {
    return has_text(kind) || kind == GX_NOTICE_BEGIN;
}

void gx_settle_notify(gx_settle *settle, const gx_notice *notice, const char *text) {
    GX_CHECK(notice->root != 0);
    GX_CHECK(notice->kind > GX_NOTICE_ACK);
    gx_ack_outlet *outlet = notice->kind >= GX_NOTICE_DONE ? to_ledger(settle, notice->root)
                                                           : to_keeper(settle, notice->root);
    uint64_t what = NOTICE_MARK | (uint64_t)notice->kind << 48 | (uint64_t)(notice->task & 0xffff) << 32 |
                    (uint32_t)notice->reason;
    gx_block *block = has_text(notice->kind) ? text_block(settle, text) : NULL;
    uint64_t second = has_text(notice->kind) ? (uintptr_t)block : notice->edges;
    /* Half a notice must not be sent. */
    if (gx_ack_outlet_ensure(outlet, settle->heap, 2) && gx_ack_outlet_send(outlet, settle->heap, what, notice->root) &&
        (!has_two_items(notice->kind) || gx_ack_outlet_send(outlet, settle->heap, second, 0)))
        return;
    settle->lost++;
    if (block) gx_block_release(block, settle->blocks);
}

void gx_settle_flush(gx_settle *settle) {
    if (settle->last_root) gx_settle_send(settle, settle->last_root, settle->last_xor);
    settle->last_root = 0;
    for (size_t i = 0; settle->filled && i < GX_SETTLE_SLOTS / 64; i++) {
        for (; settle->marks[i]; settle->marks[i] &= settle->marks[i] - 1) {
            gx_settle_slot *slot = &settle->table[i * 64 + (size_t)__builtin_ctzll(settle->marks[i])];
            gx_settle_send(settle, slot->root, slot->xor_);
            slot->root = 0;
            settle->filled--;
        }
    }
}

static void open_notice(const uint64_t item[2], gx_notice *notice) {
    *notice = (gx_notice){ .kind = (int)(item[0] >> 48) & 15,
                           .root = item[1],
                           .reason = (int32_t)(uint32_t)item[0],
                           .task = (uint32_t)(item[0] >> 32) & 0xffff };
}

bool gx_settle_receive(uint64_t half[2], const uint64_t item[2], gx_notice *ret_notice) {
    GX_CHECK(half[0] || item[0]);
    if (half[0]) {
        open_notice(half, ret_notice);
        if (has_text(ret_notice->kind))
            ret_notice->text = (gx_block *)(uintptr_t)item[0];
        else
            ret_notice->edges = item[0];
        half[0] = 0;
        return true;
    }
    if (GX_LIKELY(item[0] >> GX_LEDGER_SHIFT != GX_LEDGERS_MAX)) {
        *ret_notice = (gx_notice){ .kind = GX_NOTICE_ACK, .root = item[0], .edges = item[1] };
        return true;
    }
    open_notice(item, ret_notice);
    if (!has_two_items(ret_notice->kind)) return true;
    memcpy(half, item, 16);
    return false;
}

void gx_settle_apply(gx_ledger *ledger, const gx_notice *notice) {
    switch (notice->kind) {
    case GX_NOTICE_ACK: gx_ledger_ack(ledger, notice->root, notice->edges); break;
    case GX_NOTICE_FAIL:
    case GX_NOTICE_FAILED:
        gx_ledger_fail(ledger, notice->root, notice->reason, notice->task, gx_notice_text(notice));
        break;
    case GX_NOTICE_RESET:
    case GX_NOTICE_RENEW: gx_ledger_reset(ledger, notice->root); break;
    case GX_NOTICE_DONE: gx_ledger_done(ledger, notice->root); break;
    default: GX_ASSERT(!"a notice for acker tasks"); break;
    }
}
