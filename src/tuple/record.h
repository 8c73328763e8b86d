/* A record: one delivery of a tuple to one task, as it lies in a queue.
 *
 *     head, 16 bytes | deadline, 8 bytes (ns of the engine's clock), if GX_RECORD_DEADLINE
 *                    | roots: pairs of (root, edge), 16 bytes each; or, for GX_ROOTS_IN_BLOCK, a pointer to a block
 *                      that holds u64 count and the pairs
 *                    | body: in place; or, if GX_RECORD_BODY_IN_BLOCK, a pointer to a block
 *
 * The whole is a multiple of 8 bytes, at most GX_RECORD_MAX. One root and one string of up to 15 bytes make 64 bytes:
 * one cache line. Bodies above GX_BODY_INLINE bytes lie in a reference-counted block, shared by all destinations.
 * Pointers make a record local to its process; between processes only bodies travel.
 */
#ifndef GX_TUPLE_RECORD_H
#define GX_TUPLE_RECORD_H

#include "base/assert.h"
#include "ds/block.h"
#include "tuple/body.h"

enum {
    GX_RECORD_DEADLINE = 1,
    GX_RECORD_BODY_IN_BLOCK = 2,
};

enum {
    GX_ROOTS_INLINE = 254,
    GX_ROOTS_IN_BLOCK = 255,
    GX_BODY_INLINE = 2048,
};

typedef struct gale_head {
    uint32_t length; /* of the record in its queue */
    uint16_t target; /* task */
    uint16_t source; /* task; 0: the system */
    uint16_t stream; /* of the source's component */
    uint8_t roots;   /* pairs in place, or GX_ROOTS_IN_BLOCK */
    uint8_t flags;
    uint32_t body_size; /* bytes, wherever they are */
} gale_head;

enum { GX_RECORD_MAX = 16 + 8 + 16 * GX_ROOTS_INLINE + GX_BODY_INLINE };

static_assert(sizeof(gale_head) == 16, "a head is 16 bytes");
static_assert(GX_RECORD_MAX <= 8192, "a record fits a queue's entry");

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

GX_INLINE unsigned char *gx_record_after_head(const gale_head *head) {
    return (unsigned char *)(uintptr_t)(head + 1) + ((head->flags & GX_RECORD_DEADLINE) ? 8 : 0);
}

GX_INLINE void *gx_record_pointer(const void *at) {
    void *pointer;
    memcpy(&pointer, at, sizeof pointer);
    return pointer;
}

GX_INLINE gx_roots gx_record_roots(const gale_head *head) {
    unsigned char *at = gx_record_after_head(head);
    if (GX_LIKELY(head->roots != GX_ROOTS_IN_BLOCK)) return (gx_roots){ (gx_root *)at, head->roots };
    gx_root_block *block = (gx_root_block *)((gx_block *)gx_record_pointer(at))->bytes;
    return (gx_roots){ block->pairs, block->count };
}

/* Where the body, or the pointer to it, stands. */
GX_INLINE unsigned char *gx_record_tail(const gale_head *head) {
    return gx_record_after_head(head) + (head->roots == GX_ROOTS_IN_BLOCK ? 8u : 16u * head->roots);
}

GX_INLINE const gale_body *gx_record_body(const gale_head *head) {
    unsigned char *at = gx_record_tail(head);
    if (GX_LIKELY(!(head->flags & GX_RECORD_BODY_IN_BLOCK))) return (const gale_body *)at;
    return (const gale_body *)((gx_block *)gx_record_pointer(at))->bytes;
}

/* When the record is of no use any more, in ns; 0: it has no deadline. */
GX_INLINE int64_t gx_record_deadline(const gale_head *head) {
    int64_t deadline = 0;
    if (GX_UNLIKELY(head->flags & GX_RECORD_DEADLINE)) memcpy(&deadline, head + 1, sizeof deadline);
    return deadline;
}

/* Has it this many roots in place, and these flags? */
GX_INLINE bool gx_record_is(const gale_head *head, uint8_t roots, uint8_t flags) {
    const uint8_t wanted[2] = { roots, flags };
    static_assert(offsetof(gale_head, flags) == offsetof(gale_head, roots) + 1, "one comparison of both");
    return memcmp((const char *)head + offsetof(gale_head, roots), wanted, sizeof wanted) == 0;
}

/* What the record costs in flow control: its place and its share of blocks, which is all of them: a tuple that waits
 * for ten tasks holds ten of them back. */
GX_INLINE uint64_t gx_record_weight(const gale_head *head) {
    return head->length + ((head->flags & GX_RECORD_BODY_IN_BLOCK) ? head->body_size : 0u);
}

/* Gives back the blocks that the record names; its own bytes belong to the queue. `here` is the thread's pool. */
GX_INLINE void gx_record_release(const gale_head *head, gx_blocks *here) {
    if (GX_LIKELY(head->roots != GX_ROOTS_IN_BLOCK && !(head->flags & GX_RECORD_BODY_IN_BLOCK))) return;
    if (head->roots == GX_ROOTS_IN_BLOCK) gx_block_release(gx_record_pointer(gx_record_after_head(head)), here);
    if (head->flags & GX_RECORD_BODY_IN_BLOCK) gx_block_release(gx_record_pointer(gx_record_tail(head)), here);
}

/* The length of a record with so many roots, such a body, and perhaps a deadline. */
GX_INLINE uint32_t gx_record_length(uint64_t roots, size_t body_size, bool deadline) {
    uint32_t root_bytes = roots <= GX_ROOTS_INLINE ? (uint32_t)roots * 16 : 8;
    uint32_t body_bytes = body_size <= GX_BODY_INLINE ? (uint32_t)body_size : 8;
    return (uint32_t)sizeof(gale_head) + (deadline ? 8 : 0) + root_bytes + body_bytes;
}

#endif
