/* A row: one delivery of a tuple to one task, as it lies in a batch (ds/batch.h), which says from whom and for whom it is.
 *
 *     head, 8 bytes | roots: pairs of (root, edge), 16 bytes each; or, for GX_ROOTS_IN_BLOCK, a pointer to a block
 *                     that holds u64 count and the pairs
 *                   | deadline, 8 bytes (ns of the engine's clock), if GX_ROW_DEADLINE
 *                   | body: in place; or, if GX_ROW_BODY_IN_BLOCK, a pointer to a block and u64 its bytes
 *
 * The whole is a multiple of 8 bytes and lies in one batch. One root and one string of up to 23 bytes make 64 bytes: one
 * cache line. Bodies above GX_BODY_INLINE bytes lie in a reference-counted block, shared by all destinations, unless the
 * short way finds them room in a batch that is open (engine/short.h). Pointers make a row local to its process; between
 * processes only bodies travel.
 */
#ifndef GX_TUPLE_ROW_H
#define GX_TUPLE_ROW_H

#include "base/assert.h"
#include "base/bits.h"
#include "ds/block.h"
#include "tuple/body.h"

enum {
    GX_ROW_DEADLINE = 1,
    GX_ROW_BODY_IN_BLOCK = 2,
};

enum {
    GX_ROOTS_INLINE = 62,
    GX_ROOTS_IN_BLOCK = 255,
    GX_BODY_INLINE = 2048,
    GX_ROW_SHORT = 128, /* where a row may begin, one of this length has room */
};

typedef struct gale_head {
    uint32_t length; /* of the row in its batch */
    uint16_t stream; /* of the source's component */
    uint8_t roots;   /* pairs in place, or GX_ROOTS_IN_BLOCK */
    uint8_t flags;
} gale_head;

enum { GX_ROW_MAX = 8 + 16 * GX_ROOTS_INLINE + 8 + GX_BODY_INLINE };

static_assert(sizeof(gale_head) == 8, "a head is 8 bytes");

/* A tuple's part in one tree. */
typedef struct gx_root {
    uint64_t root;
    uint64_t edge;
} gx_root;

typedef struct gx_roots {
    gx_root *pairs;
    uint64_t count;
} gx_roots;

/* What a block of roots holds. */
typedef struct gx_root_block {
    uint64_t count;
    uint64_t reserved;
    gx_root pairs[];
} gx_root_block;

GX_INLINE void *gx_row_pointer(const void *at) {
    void *pointer;
    memcpy(&pointer, at, sizeof pointer);
    return pointer;
}

GX_INLINE gx_roots gx_row_roots(const gale_head *head) {
    unsigned char *at = (unsigned char *)(uintptr_t)(head + 1);
    if (GX_LIKELY(head->roots != GX_ROOTS_IN_BLOCK)) return (gx_roots){ (gx_root *)at, head->roots };
    gx_root_block *block = (gx_root_block *)((gx_block *)gx_row_pointer(at))->bytes;
    return (gx_roots){ block->pairs, block->count };
}

/* The first of its roots, or 0. */
GX_INLINE uint64_t gx_row_root(const gale_head *head) {
    gx_roots roots = gx_row_roots(head);
    return roots.count ? roots.pairs[0].root : 0;
}

/* Where what comes behind the roots stands: the deadline, or what it is then. */
GX_INLINE unsigned char *gx_row_behind_roots(const gale_head *head) {
    return (unsigned char *)(uintptr_t)(head + 1) + (head->roots == GX_ROOTS_IN_BLOCK ? 8u : 16u * head->roots);
}

/* Where the body, or the pointer to it, stands. */
GX_INLINE unsigned char *gx_row_tail(const gale_head *head) {
    return gx_row_behind_roots(head) + ((head->flags & GX_ROW_DEADLINE) ? 8 : 0);
}

GX_INLINE const gale_body *gx_row_body(const gale_head *head) {
    unsigned char *at = gx_row_tail(head);
    if (GX_LIKELY(!(head->flags & GX_ROW_BODY_IN_BLOCK))) return (const gale_body *)at;
    return (const gale_body *)((gx_block *)gx_row_pointer(at))->bytes;
}

/* When the row is of no use any more, in ns; 0: it has no deadline. */
GX_INLINE int64_t gx_row_deadline(const gale_head *head) {
    int64_t deadline = 0;
    if (GX_UNLIKELY(head->flags & GX_ROW_DEADLINE)) memcpy(&deadline, gx_row_behind_roots(head), sizeof deadline);
    return deadline;
}

/* How many roots, and which flags, as one number. */
typedef enum gx_row_shape {
    GX_ROW_ROOTLESS = 0,
    GX_ROW_BARE = 1,                         /* one root, no flags */
    GX_ROW_DATED = 1 | GX_ROW_DEADLINE << 8, /* the same with a deadline */
    GX_ROW_NO_KIND = GX_ROOTS_IN_BLOCK - 1,  /* what no row is */
} gx_row_shape;

/* A gx_row_shape, or another one. */
GX_INLINE uint16_t gx_row_kind(const gale_head *head) {
    uint16_t kind;
    static_assert(offsetof(gale_head, flags) == offsetof(gale_head, roots) + 1, "they are neighbours");
    memcpy(&kind, (const char *)head + offsetof(gale_head, roots), sizeof kind);
    return kind;
}

/* What its body costs in flow control beside the batch: all of a block, though it is shared: a tuple that waits for ten
 * tasks holds ten of them back. */
GX_INLINE uint64_t gx_row_block_bytes(const gale_head *head) {
    return GX_UNLIKELY(head->flags & GX_ROW_BODY_IN_BLOCK) ? gx_load64(gx_row_tail(head) + 8) : 0;
}

/* Has it all in its own bytes? */
GX_INLINE bool gx_row_names_blocks(const gale_head *head) {
    return head->roots == GX_ROOTS_IN_BLOCK || (head->flags & GX_ROW_BODY_IN_BLOCK);
}

/* Gives back the blocks that the row names; its own bytes belong to the batch. `here` is the thread's pool. */
GX_INLINE void gx_row_release(const gale_head *head, gx_blocks *here) {
    if (GX_LIKELY(!gx_row_names_blocks(head))) return;
    if (head->roots == GX_ROOTS_IN_BLOCK) gx_block_release(gx_row_pointer(head + 1), here);
    if (head->flags & GX_ROW_BODY_IN_BLOCK) gx_block_release(gx_row_pointer(gx_row_tail(head)), here);
}

/* The length of a row with so many roots, such a body, and perhaps a deadline. */
GX_INLINE uint32_t gx_row_length(uint64_t roots, size_t body_size, bool deadline) {
    uint32_t root_bytes = roots <= GX_ROOTS_INLINE ? (uint32_t)roots * 16 : 8;
    uint32_t body_bytes = body_size <= GX_BODY_INLINE ? (uint32_t)body_size : 16;
    return (uint32_t)sizeof(gale_head) + root_bytes + (deadline ? 8 : 0) + body_bytes;
}

#endif
