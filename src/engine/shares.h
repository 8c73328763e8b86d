/* What an executor's time goes to: busy, waiting for something to do, or held: it has nothing to do because a spout of
 * it may not emit.
 *
 * What:    time from the begin of one step to the begin of the next is of one kind, by what the step did; steps tell the time
 *          anyway. What a step does is known at its end: until then its time counts for nobody, but for a reader
 *          who sees a bolt in call, which is work.
 * Threads: the executor's; gx_shares_read and _told any. What is read is of one moment; but a reader tells the time after it
 *          has read, and a step that begins meanwhile has told it before: what readers were told is the least from then on,
 *          so that no figure ever falls. */
#ifndef GX_ENGINE_SHARES_H
#define GX_ENGINE_SHARES_H

#include "base/seqlock.h"

typedef enum gx_share { GX_SHARE_BUSY, GX_SHARE_WAITING, GX_SHARE_HELD, GX_SHARE_NONE, GX_SHARES } gx_share;

typedef struct gx_shares_view {
    uint64_t spent[GX_SHARES]; /* ns, but for the step that began last; NONE: before the first one and after the end */
    int64_t since;             /* ns; its begin */
    uint64_t kind;             /* gx_share; BUSY: it may not be over */
} gx_shares_view;

enum { GX_SHARES_WORDS = sizeof(gx_shares_view) / 8 };

typedef struct gx_shares {
    gx_shares_view view;
    gx_atomic64 version; /* of what is published: base/seqlock.h */
    gx_atomic64 published[GX_SHARES_WORDS];
    gx_atomic64 told[GX_SHARE_NONE]; /* readers were told so much */
} gx_shares;

void gx_shares_init(gx_shares *shares);

/* A step begins. */
void gx_shares_begin(gx_shares *shares, int64_t now);

/* It ends, and was of this kind. */
void gx_shares_end(gx_shares *shares, gx_share kind);

/* What was published last. False: it is being written, and is to be read again. */
bool gx_shares_read(const gx_shares *shares, gx_shares_view *ret_view);

/* A reader is about to tell so much of a kind: returns that, or what was told before, if that was more. */
uint64_t gx_shares_told(gx_shares *shares, gx_share kind, uint64_t nanoseconds);

#endif
