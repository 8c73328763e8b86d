/* The records of a disk buffer: a folder of segment files, appended to at one end, read (connect/spool/reader.h) and let go at the other.
 *
 *     add -> out --write--> last segment --sync--> safe: may be read and is acked --answered--> whole segments are removed
 *
 *     position <= what the reader is at <= safe <= written <= next              (numbers of records)
 *     bytes = the sum of the segments' sizes <= limit
 *
 * What:    a record that is added waits in `out`, until that is written, in one call for many. What is written is safe when the disk has it
 *          (gx_spool_log_sync), or at once where somebody else sees to that (`at_once`: a durable run's checkpoint does). What
 *          was just written is read from the system's cache of the file, so that an edge that is not behind costs one
 *          sequential write and nothing but memory to read.
 *          A file's name is the number of its first record: 00000000000000000042.spool.
 * Threads: who adds and writes is one; who syncs, forgets and reads may be others: the monitor guards what they share.
 * Owner:   memory comes from a heap. The folder belongs to one process, by a lock beside it.
 * Limits:  a record has at most GX_SPOOL_BODY_MAX bytes, and `limit` must hold it.
 */
#ifndef GX_CONNECT_SPOOL_LOG_H
#define GX_CONNECT_SPOOL_LOG_H

#include "base/buf.h"
#include "base/os/file.h"
#include "base/os/lock.h"
#include "base/os/thread.h"
#include "connect/spool/mark.h"
#include "connect/spool/record.h"

enum { GX_SPOOL_BATCH = 256 << 10, GX_SPOOL_NAME = 32 };
#define GX_SPOOL_LIMIT_LEAST INT64_C(65536)

typedef struct gx_spool_segment {
    uint64_t first; /* the number of its first record */
    int64_t size;   /* bytes that are written */
    int64_t safe;   /* of these, that may be read */
    int fd;         /* while it is written to, or the disk does not have all of it; else -1 */
} gx_spool_segment;

/* Something that does not end the work is told: a sentence. */
typedef void gx_spool_tell_fn(void *user, const char *text);

typedef struct gx_spool_log {
    gx_heap *heap;
    const char *path; /* of the folder */
    uint32_t task, tasks;
    gx_lock lock;
    gx_monitor monitor; /* guards what follows, but for the adder's own */
    gx_spool_segment *segments;
    size_t capacity, count;
    uint64_t written, safe, position;
    uint64_t marked; /* the position that the disk has */
    int64_t bytes;
    bool at_once;
    bool unnamed; /* a file was made whose name the disk does not have yet */
    /* The adder's own. */
    uint64_t next;
    int64_t limit, segment_size;
    gx_buf out;
    bool full;   /* the last write failed since the disk had no room */
    bool sealed; /* the last segment ends in damage: nothing is written behind that */
    bool broken; /* what a failed write left could not be taken back: nothing more is written */
    /* Of who forgets. */
    gx_spool_mark mark;
} gx_spool_log;

/* How many bytes it may take: at least GX_SPOOL_LIMIT_LEAST. Before the first is added. */
void gx_spool_log_limit(gx_spool_log *log, int64_t limit);

/* Adds a record; `*ret_number` is its number. GALE_AGAIN: there is no room within the limit; GALE_TOO_LARGE: it is larger than that;
 * GALE_IO and `full`: the disk has no room; GALE_IO, GALE_NO_MEMORY. All is as it was then. */
int gx_spool_log_add(gx_spool_log *log, const void *body, size_t size, uint64_t *ret_number, gale_error *error);

/* Writes what waits in `out`, all or nothing. As above. */
int gx_spool_log_write(gx_spool_log *log, gale_error *error);

/* Waits until the disk has all that is written: from then on it is safe. After an error it may be called again, but nothing is known of
 * what was written before: who calls gives up. */
int gx_spool_log_sync(gx_spool_log *log, gale_error *error);

/* Would gx_spool_log_sync do something, and gx_spool_log_forget remove a segment? With the monitor held. */
bool gx_spool_log_is_behind(const gx_spool_log *log);
bool gx_spool_log_can_forget(const gx_spool_log *log);

/* How many bytes are written, and may not be read yet. With the monitor held. */
int64_t gx_spool_log_unsafe(const gx_spool_log *log);

/* All records below `position` are answered. True: gx_spool_log_forget has something to do now, and had not before, or gives room. */
bool gx_spool_log_answered(gx_spool_log *log, uint64_t position);

/* Writes down what is answered, and removes the segments that nobody needs any more. GALE_IO. */
int gx_spool_log_forget(gx_spool_log *log, gale_error *error);

/* How many records wait: they are written, and not answered. */
uint64_t gx_spool_log_waiting(gx_spool_log *log);

/* How many bytes of the disk it takes. */
int64_t gx_spool_log_bytes(gx_spool_log *log);

/* --- For those who read and open it --- */

/* Takes a segment into the list, behind those that are there. False when memory is out. */
bool gx_spool_log_push(gx_spool_log *log, gx_spool_segment segment);

/* The path of the file that has the position. GALE_TOO_LARGE. */
int gx_spool_log_mark_name(const gx_spool_log *log, char name[GX_FILE_NAME_SIZE], gale_error *error);

/* The place in the list of the last segment that begins at or before `number`, or of the first one; SIZE_MAX when there is none. With
 * the monitor held. */
size_t gx_spool_log_find(const gx_spool_log *log, uint64_t number);

/* The path of a segment. GALE_TOO_LARGE. */
int gx_spool_log_name(const gx_spool_log *log, uint64_t first, char name[GX_FILE_NAME_SIZE], gale_error *error);

#endif
