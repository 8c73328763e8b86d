/* Reads the records of a disk buffer in order (connect/spool/log.h), wherever it is damaged.
 *
 * What:    behind bytes that are no record the next one is looked for, at each multiple of 8, by a head whose sum fits and whose number
 *          can be right; what lies between is told once, with file, offset and how many records are missing, by their numbers. So is a body that
 *          is damaged, a segment that is shorter than it was, and one that is gone. The rest goes on.
 * Threads: one at a time. Owner: memory comes from the log's heap; a record is good until the next call.
 * Limits:  a piece of 256 KiB is read at once, and what the largest record takes.
 */
#ifndef GX_CONNECT_SPOOL_READER_H
#define GX_CONNECT_SPOOL_READER_H

#include "connect/spool/log.h"

typedef struct gx_spool_reader {
    gx_spool_log *log;
    gx_spool_tell_fn *tell; /* NULL: nothing is told */
    void *user;
    uint64_t from;    /* what is below is passed over, and its damage is not told */
    uint64_t number;  /* of the record that comes next */
    uint64_t segment; /* the number of the open one's first record; 0: none */
    int fd;           /* -1: it is gone */
    int64_t size;     /* that may be read of it */
    uint64_t behind;  /* the number of what comes behind that; 0: not known */
    bool over;        /* and it comes in another segment */
    bool headed;      /* its head is passed */
    bool cut;         /* the file has not as much as there was written */
    int64_t offset;   /* in the file, of the first of `bytes` */
    char *bytes;
    size_t capacity, have, at;
    int64_t bad;   /* where what is no record begins; -1: nowhere */
    bool zeros;    /* and it was nothing but zeros so far */
    uint64_t lost; /* records that could not be read, so far */
} gx_spool_reader;

/* Begins at the record `from`, or behind it where that is not there any more. */
void gx_spool_reader_init(gx_spool_reader *reader, gx_spool_log *log, uint64_t from, gx_spool_tell_fn *tell,
                          void *user);
void gx_spool_reader_fini(gx_spool_reader *reader);

/* The next record: 1; 0 when there is none now; GALE_IO when the disk does not give it, and it may be tried again; GALE_NO_MEMORY. */
int gx_spool_reader_next(gx_spool_reader *reader, gx_spool_record *ret_record, gale_error *error);

/* Reads one segment of `size` bytes, of which nothing more is known, up to the record `last` at the most. 0: `number` is that of the
 * record that comes next, and `*ret_end` is where it would begin. Is what stands there a record that was not written to its end, rather
 * than damage? */
int gx_spool_reader_find_end(gx_spool_reader *reader, uint64_t first, int64_t size, uint64_t last, int64_t *ret_end,
                             bool *ret_torn, gale_error *error);

#endif
