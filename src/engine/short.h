/* The short way of an emit, which most take: scalars and text that fit where the next row goes, no root or one, targets
 * that are chosen by a grouping of gale's own. It is engine/emit.h's with everything left out that is known not to be; what
 * is in its way (nothing open, a body that does not fit, what somebody wants to see) is said no to, and engine/emit.h
 * takes over.
 *
 * What:    the body is written where it will lie, behind room for head, root and deadline, before anything is counted or
 *          drawn: one pass over the values. Then nothing can fail. More targets are given copies. A brief body for a task
 *          that is the only target ever takes no function call.
 * Threads: the executor's own. */
#ifndef GX_ENGINE_SHORT_H
#define GX_ENGINE_SHORT_H

#include "engine/turn.h"
#include "tuple/flat.h"

/* A row that goes out. */
typedef struct gx_short {
    gx_stream_routes *routes;
    uint64_t root;
    uint32_t roots;   /* 0 or 1 */
    int64_t deadline; /* 0: none */
} gx_short;

/* The task's streams go the short way, or not, from now on: at the begin, and when taps (engine/taps.h) begin or end to look. */
void gx_short_choose(gx_task *task, bool tapped);

GX_INLINE void gx_short_head(unsigned char *at, const gx_short *s, size_t length) {
    uint64_t flags = s->deadline ? GX_ROW_DEADLINE : 0;
    gx_store64(at, length | s->routes->head | (uint64_t)s->roots << 48 | flags << 56);
}

/* What stands before the body. */
GX_INLINE size_t gx_short_before(const gx_short *s) {
    return sizeof(gale_head) + s->roots * sizeof(gx_root) + (s->deadline ? sizeof s->deadline : 0);
}

/* The body is written: with this head, it is a row of the open batch. Returns where that lies. */
GX_INLINE unsigned char *gx_short_end(gx_open *open, const gx_short *s, size_t length) {
    unsigned char *at = open->at;
    gx_short_head(at, s, length);
    open->at = at + length;
    return at;
}

/* Its only root. Returns the edge, which is drawn. */
GX_INLINE uint64_t gx_short_root(gx_executor *ex, unsigned char *at, uint64_t root) {
    gx_root *pair = (gx_root *)(at + sizeof(gale_head));
    pair->root = root;
    return pair->edge = gx_draw_edge(ex);
}

/* All that stands before the body. Returns the edge, 0: none. */
GX_INLINE uint64_t gx_short_commit(gx_executor *ex, gx_open *open, const gx_short *s, size_t length) {
    unsigned char *at = gx_short_end(open, s, length);
    if (GX_UNLIKELY(s->deadline))
        memcpy(at + gx_short_before(s) - sizeof s->deadline, &s->deadline, sizeof s->deadline);
    return s->roots ? gx_short_root(ex, at, s->root) : 0;
}

/* A row with one root, and a deadline if `dated`, whose body is brief (tuple/flat.h), where a short row has room; `head`
 * is the routes'. Returns the edge. */
GX_INLINE uint64_t gx_short_write_brief(gx_executor *ex, gx_open *open, uint64_t head, const gale_value *value,
                                        uint64_t root, int64_t deadline, bool dated) {
    enum { BARE = sizeof(gale_head) + sizeof(gx_root) };
    static_assert(GX_ROW_SHORT >= BARE + 8 + GX_FLAT_BRIEF, "a brief body has room in a short row");
    unsigned char *at = open->at;
    size_t before = dated ? BARE + 8 : BARE, length = before + gx_flat_write_brief(value, at + before);
    uint64_t flags = dated ? GX_ROW_DEADLINE : 0;
    gx_store64(at, length | head | UINT64_C(1) << 48 | flags << 56);
    if (dated) gx_store64(at + BARE, (uint64_t)deadline);
    open->at = at + length;
    return gx_short_root(ex, at, root);
}

/* To all that the groupings choose. Returns how many, with the sum of the edges; 0: this is not for the short way, and
 * nothing was done, but `*ret_chosen` targets may be in the scratch. The routes are plain, and the values as many as their
 * fields. */
uint32_t gx_short_send(gx_task *task, const gx_short *s, const gale_value *values, size_t count, uint64_t *ret_edges,
                       uint32_t *ret_chosen);

#endif
