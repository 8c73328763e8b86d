#include "engine/shares.h"

#include <string.h>

static void publish(gx_shares *shares) {
    uint64_t words[GX_SHARES_WORDS];
    memcpy(words, &shares->view, sizeof words);
    gx_seqlock_publish(&shares->version, shares->published, words, GX_SHARES_WORDS);
}

void gx_shares_init(gx_shares *shares) {
    shares->view.kind = GX_SHARE_NONE;
    publish(shares);
}

void gx_shares_begin(gx_shares *shares, int64_t now) {
    gx_shares_view *view = &shares->view;
    if (GX_LIKELY(now > view->since)) view->spent[view->kind] += (uint64_t)(now - view->since);
    view->since = now;
    view->kind = GX_SHARE_BUSY;
    publish(shares);
}

void gx_shares_end(gx_shares *shares, gx_share kind) {
    shares->view.kind = kind;
    if (kind != GX_SHARE_BUSY) publish(shares);
}

bool gx_shares_read(const gx_shares *shares, gx_shares_view *ret_view) {
    uint64_t words[GX_SHARES_WORDS];
    bool read = gx_seqlock_read(&shares->version, shares->published, words, GX_SHARES_WORDS);
    if (read) memcpy(ret_view, words, sizeof words);
    return read;
}

uint64_t gx_shares_told(gx_shares *shares, gx_share kind, uint64_t nanoseconds) {
    uint64_t before = gx_load_relaxed(&shares->told[kind]);
    while (before < nanoseconds && !gx_cas_relaxed(&shares->told[kind], &before, nanoseconds)) {
    }
    return before < nanoseconds ? nanoseconds : before;
}
