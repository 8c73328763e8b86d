/* What stands in the segments of a disk buffer, as bytes. Pure: no file is touched here.
 *
 *     segment:  head | record | record | ...
 *     head:     "galespl1" | u64 number of the first record | u32 task | u32 tasks | u64 sum
 *     record:   u64 number | u64 sum of the body | u32 size of the body | u32 sum of these | body
 *
 * What:    numbers go up by one from record to record and from segment to segment. A body is that of a tuple (gale/tuple.h), whose
 *          size is a multiple of 8: so all begins at a multiple of 8, and behind bytes that are damaged the next record can be
 *          found again. Heads have a sum of their own: a body that is damaged costs one record and no search.
 *          Numbers are little-endian, as everywhere in a body; sums are XXH3.
 * Threads: any. Owner: what is found is borrowed from the bytes.
 */
#ifndef GX_CONNECT_SPOOL_RECORD_H
#define GX_CONNECT_SPOOL_RECORD_H

#include "base/port.h"

#include <gale/error.h>

enum { GX_SPOOL_HEAD = 24, GX_SPOOL_SEGMENT_HEAD = 32, GX_SPOOL_BODY_LEAST = 8 };
#define GX_SPOOL_BODY_MAX ((size_t)256 << 20)

typedef struct gx_spool_record {
    uint64_t number;
    const void *body; /* NULL while it is not all there */
    size_t size;      /* of the body; 0: not known yet */
} gx_spool_record;

typedef enum gx_spool_found {
    GX_SPOOL_WHOLE,
    GX_SPOOL_SHORT,   /* the bytes end within it: within its head, or, where `size` is set, within its body */
    GX_SPOOL_NO_HEAD, /* no record begins here */
    GX_SPOOL_NO_BODY  /* one does, and its body is not what was written; `body` is NULL */
} gx_spool_found;

/* Writes the head of a record whose body is `size` bytes. */
void gx_spool_head_write(void *at, uint64_t number, const void *body, size_t size);

/* What begins at these bytes, which lie at a multiple of 8. */
gx_spool_found gx_spool_look(const void *bytes, size_t have, gx_spool_record *ret_record);

typedef struct gx_spool_segment_head {
    uint64_t first;
    uint32_t task, tasks; /* of the component that wrote it */
} gx_spool_segment_head;

void gx_spool_segment_head_write(void *at, const gx_spool_segment_head *head);
bool gx_spool_segment_head_read(const void *bytes, size_t have, gx_spool_segment_head *ret_head);

#endif
