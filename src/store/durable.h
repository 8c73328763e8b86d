/* A store that is open, and the order in which its files change, on which everything that it promises rests:
 *
 *   a commit        its frames go to the log; the log is synced; then the mark is written: "commit N needs F frames"
 *   tidying up      the mark says that the log is needed; its pages are copied to the database, which is synced; then
 *                   the mark is written: "not needed"; only then may the log begin anew
 *
 * So at every moment either the database is whole, or the mark says that it needs the log, and how much of it.
 * Threads: the committer's. */
#ifndef GX_STORE_DURABLE_H
#define GX_STORE_DURABLE_H

#include "base/os/fate.h"
#include "base/os/lock.h"
#include "store/changes.h"
#include "store/connection.h"
#include "store/mark.h"

enum { GX_STORE_WHY = 300 };

/* The names of its files. */
#define GX_STORE_HEAD "gale-store"
#define GX_STORE_MARK "commit"
#define GX_STORE_DATA "data"
#define GX_STORE_LOG "data-wal"

typedef struct gx_store {
    gx_heap heap;
    char folder[GX_FILE_NAME_SIZE];
    char head[GX_FILE_NAME_SIZE], mark_path[GX_FILE_NAME_SIZE], data[GX_FILE_NAME_SIZE], log[GX_FILE_NAME_SIZE];
    gx_lock lock;
    gx_vfs vfs;
    gx_connection writer;
    gx_store_changes changes; /* not yet given to SQLite */
    bool begun;               /* something was given */
    gx_mark_file mark_file;
    gx_mark mark;           /* as it stands there */
    gx_file_about seen[3];  /* data, log and head when they were looked at last; inode 0: not yet */
    uint64_t number;        /* of the last commit, synced or not */
    uint64_t frames;        /* in the log */
    gx_atomic64 synced;     /* the number of the last that was */
    char why[GX_STORE_WHY]; /* it is closed for writing; "" when not */
    bool read_only;
    char topology[GX_MARK_NAME]; /* whose it is */
    uint64_t cache_bytes, log_bytes;
    pthread_mutex_t mutex; /* of what follows */
    gx_connection *idle;
} gx_store;

/* Says that the last commit is synced and that the log is needed, or not. The store is closed for writing when it
 * fails. */
int gx_durable_mark(gx_store *store, bool needed, gale_error *error);

/* Copies the log into the database. */
int gx_durable_copy(gx_store *store, gale_error *error);

/* Closes it for writing, for the reason in `error` (may be NULL). Returns `rc`. */
int gx_durable_break(gx_store *store, int rc, const gale_error *error);

/* GALE_STATE when it is. */
int gx_durable_check(const gx_store *store, gale_error *error);

/* Are all of its files there still, under their names, and none cut? What is committed to others does not last. GALE_IO with a
 * sentence: the store is closed for writing. */
int gx_durable_look(gx_store *store, gale_error *error);

#endif
