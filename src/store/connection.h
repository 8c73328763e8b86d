/* One connection to the database, with the statements that a store needs. All SQL stands here.
 * Threads: one at a time a connection. Owner: the store's. */
#ifndef GX_STORE_CONNECTION_H
#define GX_STORE_CONNECTION_H

#include "store/vfs.h"

#include <gale/store.h>

typedef enum gx_statement {
    GX_STATEMENT_GET,
    GX_STATEMENT_FROM,  /* pairs from a key on */
    GX_STATEMENT_AFTER, /* pairs behind a key */
    GX_STATEMENT_NUMBER,
    GX_STATEMENT_READING, /* so many are a reader's */
    GX_STATEMENT_PUT = GX_STATEMENT_READING,
    GX_STATEMENT_REMOVE,
    GX_STATEMENT_SET_NUMBER,
    GX_STATEMENT_BEGIN,
    GX_STATEMENT_COMMIT,
    GX_STATEMENT_COUNT
} gx_statement;

typedef struct gx_connection {
    struct gx_connection *next; /* the store's list of idle ones */
    sqlite3 *db;
    sqlite3_stmt *statements[GX_STATEMENT_COUNT];
    const char *path;
    uint64_t frames; /* in the log, after this connection's last commit */
} gx_connection;

/* Opens the database at `path`, which must outlive it. */
int gx_connection_open(gx_connection *at, gx_vfs *vfs, const char *path, size_t cache, gale_error *error);
void gx_connection_close(gx_connection *at);

/* Fills an empty database. */
int gx_connection_make(gx_connection *at, gale_error *error);

/* Prepares the statements of readers, or all. Reads the log and the first pages; to be called before what follows. */
int gx_connection_prepare(gx_connection *at, bool writes, gale_error *error);

/* The number of the last commit. GALE_DAMAGED when there is none. */
int gx_connection_number(gx_connection *at, uint64_t *ret_number, gale_error *error);

/* As gale_store's. */
int gx_connection_get(gx_connection *at, gale_str key, void *value, size_t room, size_t *ret_size, gale_error *error);
int gx_connection_iterate(gx_connection *at, gale_str prefix, const gale_str *after, gale_store_each *each, void *user,
                          gale_error *error);

int gx_connection_begin(gx_connection *at, gale_error *error);
int gx_connection_put(gx_connection *at, gale_str key, gale_str value, gale_error *error);
int gx_connection_remove(gx_connection *at, gale_str key, gale_error *error);
int gx_connection_commit(gx_connection *at, uint64_t number, gale_error *error);
void gx_connection_abandon(gx_connection *at);

/* Copies the log's pages into the database, and waits for the disk. `ret_all`: was no frame kept back by who still
 * reads? `empty`: cuts the log to nothing, too. */
int gx_connection_checkpoint(gx_connection *at, bool empty, bool *ret_all, gale_error *error);

#endif
