/* Output buffer of whole lines for a descriptor that several writers share.
 *
 * What:    a writer adds lines, which are written together when its buffer is full and when it is flushed. One lock a
 *          descriptor keeps the lines of several writers apart, whatever their size. Lines that wait are not overtaken
 *          by messages of the same thread (gx_gathered_flush_thread), and are written when the process crashes.
 * Threads: one at a time for each writer; gx_gathered_flush_thread and gx_gathered_crash may be called from any.
 * Owner:   the buffer is the heap's, the descriptor is the caller's. A writer does not move in memory while it is open.
 * Limits:  GX_GATHERED_SIZE bytes wait; a longer line is written at once. Descriptors whose numbers are equal modulo
 *          GX_GATHERED_LOCKS share a lock. */
#ifndef GX_BASE_OS_GATHERED_H
#define GX_BASE_OS_GATHERED_H

#include "base/alloc.h"
#include "base/str.h"

enum { GX_GATHERED_SIZE = 64 << 10, GX_GATHERED_LOCKS = 64 };

typedef struct gx_gathered {
    gx_heap *heap;
    char *bytes; /* NULL: it is not open */
    gx_atomic64 size;
    gx_atomic64 thread; /* that added the first of them */
    int fd;
    const char *name; /* in errors, borrowed */
    struct gx_gathered *next, *previous;
} gx_gathered;

/* GALE_NO_MEMORY: it is not open. */
int gx_gathered_open(gx_gathered *gathered, gx_heap *heap, int fd, const char *name);

/* What waits is lost: flush before. Nothing where it is not open. */
void gx_gathered_close(gx_gathered *gathered);

/* Adds whole lines, with their ends. GALE_CLOSED_PIPE, GALE_IO: they were not added. */
int gx_gathered_add(gx_gathered *gathered, gale_str lines, gale_error *error);

/* Writes what waits. The same errors: it waits still. */
int gx_gathered_flush(gx_gathered *gathered, gale_error *error);

/* Writes what this thread has added anywhere, before it writes a message elsewhere. An error is left to the next flush. */
void gx_gathered_flush_thread(void);

/* Writes what all writers have, for the handler of a signal that ends the process: calls what a handler may, waits for
 * a lock at most 0.1 s, and lets nobody write afterwards. */
void gx_gathered_crash(void);

#endif
