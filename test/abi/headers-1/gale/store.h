/* gale/store.h: where a durable run keeps its state, as a table of functions.
 *
 * What:    keys and values are bytes. Changes are gathered and then committed, all of them or none. gale's own store is
 *          a library of its own (<gale_store.h>), since it needs more than the C library; an application may hand in
 *          another.
 * Threads: get, iterate and about come from any threads, at the same time, also while a commit is under way. put,
 *          remove, commit, abandon and tidy come from one thread at a time, the committer's; close when no call is
 *          under way.
 * Owner:   who opened a store closes it. The table is a value and may be copied; all copies are one store.
 * Spaces:  there is one space of keys, in the order of their bytes (memcmp, then the shorter first). Who needs several
 *          begins its keys with a prefix that no other's has, and iterates over that.
 * Limits:  keys of 1 to GALE_STORE_KEY_MAX bytes, values of 0 to GALE_STORE_VALUE_MAX.
 * Errors:  GALE_DAMAGED: what is there is not what was written, or less than was committed; the report names the file.
 *          GALE_IO: the system refused; GALE_STATE: an earlier failure has closed the store for writing. No call ever
 *          answers with a value that was not committed, or with "not there" for a key that is: bytes are checked when
 *          they are read.
 * Misuse:  gale's own store checks what it is given: GALE_INVALID, GALE_TOO_LARGE; then the batch is gone.
 */
#ifndef GALE_STORE_H
#define GALE_STORE_H

#include <gale/error.h>

GALE_BEGIN

enum { GALE_STORE_KEY_MAX = 4096, GALE_STORE_VALUE_MAX = 1 << 28 };

/* Is given one pair, borrowed for the call. 0: go on; anything else ends the iteration and is what it returns. May not
 * call the committer's functions. */
typedef int gale_store_each(void *user, const void *key, size_t key_size, const void *value, size_t value_size);

/* What `commit` may be told. GALE_STORE_SYNC: when it returns, the disk has what was committed. Without it, a crash of
 * the process loses nothing, but a loss of power may lose this commit, with all later ones that are not synced, never
 * in part; the next synced commit makes it last. */
enum { GALE_STORE_SYNC = 1 };

typedef struct gale_store_about {
    size_t size;          /* set by the caller */
    uint64_t commit;      /* the number of the last commit that was synced, or was found at the opening; 0: none yet */
    uint64_t disk_bytes;  /* what its files take, about */
    const char *topology; /* whose state it is, as long as the store is open; NULL: it does not say */
    uint32_t format;      /* of its files; 0: it does not say */
    bool asked;           /* somebody asks for a copy of what the next commit makes (gale_store_keep): who makes
                             checkpoints may make one now */
} gale_store_about;

typedef struct gale_store {
    size_t size;
    void *self; /* what each function is given */

    /* Copies a value out. GALE_OK and its size; GALE_NOT_FOUND, without a report; GALE_TOO_LARGE, without a report,
     * when it is larger than `room`: nothing was copied then, and `ret_size` is the room that it needs. Sees the last
     * commit. */
    int (*get)(void *self, const void *key, size_t key_size, void *value, size_t room, size_t *ret_size,
               gale_error *error);

    /* Every pair whose key begins with `prefix` (of 0 bytes: all) and comes behind `after` (NULL: from the first on),
     * in order, as it is in one commit, whatever is committed meanwhile. Returns what `each` ended with, or 0. A long
     * iteration keeps the store from tidying up: make it in pieces, each after the last key of the one before. */
    int (*iterate)(void *self, const void *prefix, size_t prefix_size, const void *after, size_t after_size,
                   gale_store_each *each, void *user, gale_error *error);

    /* Gathers a change for the next commit; both are copied. The later of two changes of a key counts. Nobody sees it
     * before the commit. remove of what is not there is no error. After a failure the batch is gone, as by abandon. */
    int (*put)(void *self, const void *key, size_t key_size, const void *value, size_t value_size, gale_error *error);
    int (*remove)(void *self, const void *key, size_t key_size, gale_error *error);

    /* Makes what was gathered (which may be nothing) the contents, at once, and gives it the next number, which is in
     * the same batch. With GALE_STORE_SYNC it lasts from the return on. When it fails, the contents are those of the
     * commit before, or, if the failure came when everything was written, of this one: GALE_STATE for every change from
     * then on; open it again to see which, as after a crash. */
    int (*commit)(void *self, uint32_t flags, uint64_t *ret_number, gale_error *error);

    /* Forgets what was gathered. */
    void (*abandon)(void *self);

    /* Does the work that commits have put off; takes as long as some of them. To be called often, where nobody waits
     * for the committer: a commit that finds too much left does it itself. Changes no contents. */
    int (*tidy)(void *self, gale_error *error);

    /* What there is to tell about it. */
    int (*about)(void *self, gale_store_about *ret_about, gale_error *error);

    /* Gives up what was gathered and not committed, and frees everything. Loses nothing that was committed. */
    void (*close)(void *self);
} gale_store;

GALE_END

#endif
