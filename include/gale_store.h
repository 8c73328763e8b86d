/* gale_store.h: gale's own store of durable runs, a folder with a SQLite database whose every byte is covered by a
 * checksum. In libgale-store, which needs libgale and SQLite.
 *
 * What:    gale_store_open fills a table of <gale/store.h>. What a folder is, and what is done when something is wrong
 *          with it, stands in docs/semantics/store.md.
 * Threads: any. One process, and in it one store, has a folder at a time.
 */
#ifndef GALE_STORE_FOLDER_H
#define GALE_STORE_FOLDER_H

#include <gale/alloc.h>
#include <gale/store.h>

GALE_BEGIN

enum { GALE_STORE_NAME_MAX = 1000 };

typedef struct gale_store_options {
    size_t size;
    const char *folder;   /* whose parent is there */
    const char *topology; /* whose state it is: up to GALE_STORE_NAME_MAX bytes, none of them a control character. NULL,
                             with `read_only` or without `create`: whosever it is */
    bool create;          /* a folder that is not there, or is empty, becomes one; else GALE_NOT_FOUND */
    uint64_t cache_bytes; /* for pages in memory, about; 0: 64 MiB */
    uint64_t log_bytes;   /* commit tidies up when the log is twice as long; 0: 64 MiB */
    const gale_allocator *allocator; /* for what is gale's own; SQLite takes its memory from the C library */
    bool read_only; /* not a byte of its files is changed: what a crash has left to be tidied up stays so. Commits are
                       refused (GALE_STATE). The folder is locked all the same. Not with `create` */
} gale_store_options;

#define GALE_STORE_OPTIONS_INIT                                                                                        \
    { sizeof(gale_store_options), 0, 0, false, 0, 0, 0, false }

/* Opens the store in a folder. When it returns, the disk has what is found in it. GALE_NOT_FOUND: none is there;
 * GALE_STATE: in use by another process, which is named, or another topology's; GALE_UNSUPPORTED: of a format that this
 * version does not know; GALE_DAMAGED: a file is missing, damaged, or holds less than was committed; GALE_EXISTS: there
 * are files, but no store; GALE_IO, GALE_NO_MEMORY, GALE_INVALID. Nothing is changed then, and nothing is begun anew:
 * to do that, remove the folder. */
GALE_API int gale_store_open(const gale_store_options *options, gale_store *ret_store, gale_error *error);

/* Copies the store in the folder `from`, which nobody has open (GALE_STATE: who has), to the folder `to`, which is not there
 * or is empty (GALE_EXISTS). The copy comes whole and durable or not at all, whatever happens meanwhile: it is made in
 * `to`.part, which then takes the name. GALE_NOT_FOUND: there is no store in `from`; GALE_IO, GALE_TOO_LARGE. */
GALE_API int gale_store_copy(const char *from, const char *to, gale_error *error);

/* The same, also when a process (this one, too) has `from` open: then that one is asked to, by a file in the folder, and
 * makes the copy when it tidies up after its next commit, which it is not kept from going on from. `waits` is called
 * between looks, 20 times a second, and says whether to go on waiting; false: GALE_STOPPED, and nothing is asked any more.
 * When the other process closes the store meanwhile, the copy is made here. What the other one could not do is reported as
 * it said it. Not from a callback of the store. */
GALE_API int gale_store_keep(const char *from, const char *to, bool (*waits)(void *user), void *user,
                             gale_error *error);

/* Removes the store in a folder that nobody has open (GALE_STATE: who has), whatever it holds, damaged or not: its files,
 * and nothing else; the folder stays. When it is interrupted, a new store can be made there. GALE_NOT_FOUND: none is
 * there; GALE_IO. */
GALE_API int gale_store_remove(const char *folder, gale_error *error);

GALE_END

#endif
