#include "store/connection.h"

#include <stdio.h>
#include <string.h>

static const char *const texts[GX_STATEMENT_COUNT] = {
    [GX_STATEMENT_GET] = "SELECT value FROM pairs WHERE key=?",
    [GX_STATEMENT_FROM] = "SELECT key,value FROM pairs WHERE key>=? ORDER BY key",
    [GX_STATEMENT_AFTER] = "SELECT key,value FROM pairs WHERE key>? ORDER BY key",
    [GX_STATEMENT_NUMBER] = "SELECT number FROM commits",
    [GX_STATEMENT_PUT] = "INSERT INTO pairs VALUES(?,?) ON CONFLICT(key) DO UPDATE SET value=excluded.value",
    [GX_STATEMENT_REMOVE] = "DELETE FROM pairs WHERE key=?",
    [GX_STATEMENT_SET_NUMBER] = "UPDATE commits SET number=?",
    [GX_STATEMENT_BEGIN] = "BEGIN",
    [GX_STATEMENT_COMMIT] = "COMMIT",
};

/* --- What went wrong ---------------------------------------------------------------------------------------------- */

static int code_of(int rc, bool damaged) {
    switch (rc & 255) {
    case SQLITE_NOMEM: return GALE_NO_MEMORY;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_SCHEMA:
    case SQLITE_ERROR: return GALE_DAMAGED;
    default: return rc == SQLITE_IOERR_NOMEM ? GALE_NO_MEMORY : damaged ? GALE_DAMAGED : GALE_IO;
    }
}

static int refuse(const gx_connection *at, int rc, gale_error *error) {
    bool damaged = false;
    const char *trouble = gx_vfs_trouble(&damaged);
    int code = code_of(rc, damaged);
    if (trouble[0] && code != GALE_NO_MEMORY)
        return gale_error_set(error, damaged ? GALE_DAMAGED : code, "%s", trouble);
    const char *why = at->db ? sqlite3_errmsg(at->db) : sqlite3_errstr(rc);
    if (code == GALE_DAMAGED) return gale_error_set(error, code, "'%s' is damaged: %s", at->path, why);
    return gale_error_set(error, code, "'%s': %s", at->path, why);
}

/* --- Opening ------------------------------------------------------------------------------------------------------ */

static int run(gx_connection *at, const char *sql, gale_error *error) {
    int rc = sqlite3_exec(at->db, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? GALE_OK : refuse(at, rc, error);
}

static int note_frames(void *user, sqlite3 *db, const char *name, int frames) {
    (void)db, (void)name;
    ((gx_connection *)user)->frames = (uint64_t)frames;
    return SQLITE_OK;
}

/* Before the first statement that reads: each says something of how, and none of what is there. */
static int settle(gx_connection *at, size_t cache, gale_error *error) {
    char text[400];
    int reserved = GX_VFS_SUM;
    sqlite3_extended_result_codes(at->db, 1);
    sqlite3_file_control(at->db, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved);
    sqlite3_db_config(at->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_busy_timeout(at->db, 10000);
    snprintf(text, sizeof text,
             "PRAGMA page_size=%d;PRAGMA cache_size=-%zu;PRAGMA temp_store=MEMORY;PRAGMA mmap_size=0;"
             "PRAGMA synchronous=FULL;PRAGMA secure_delete=OFF;PRAGMA cell_size_check=ON;PRAGMA trusted_schema=OFF",
             GX_STORE_PAGE, cache / 1024 + 64);
    int rc = run(at, text, error);
    sqlite3_wal_hook(at->db, note_frames, at); /* instead of SQLite's own, which would tidy up when it likes */
    return rc;
}

int gx_connection_prepare(gx_connection *at, bool writes, gale_error *error) {
    int count = writes ? GX_STATEMENT_COUNT : GX_STATEMENT_READING, rc = SQLITE_OK;
    gx_vfs_forget();
    for (int i = 0; i < count && rc == SQLITE_OK; i++)
        rc = sqlite3_prepare_v3(at->db, texts[i], -1, SQLITE_PREPARE_PERSISTENT, &at->statements[i], NULL);
    return rc == SQLITE_OK ? GALE_OK : refuse(at, rc, error);
}

int gx_connection_make(gx_connection *at, gale_error *error) {
    gx_vfs_forget();
    return run(at,
               "PRAGMA journal_mode=MEMORY;PRAGMA journal_mode=WAL;BEGIN;"
               "CREATE TABLE pairs(key BLOB PRIMARY KEY NOT NULL,value BLOB NOT NULL) WITHOUT ROWID;"
               "CREATE TABLE commits(number INTEGER NOT NULL);INSERT INTO commits VALUES(0);COMMIT",
               error);
}

int gx_connection_open(gx_connection *at, gx_vfs *vfs, const char *path, size_t cache, gale_error *error) {
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    *at = (gx_connection){ .path = path };
    gx_vfs_forget();
    int rc = sqlite3_open_v2(path, &at->db, flags, vfs->name);
    rc = rc == SQLITE_OK ? settle(at, cache, error) : refuse(at, rc, error);
    if (rc < 0) gx_connection_close(at);
    return rc;
}

void gx_connection_close(gx_connection *at) {
    for (int i = 0; i < GX_STATEMENT_COUNT; i++) sqlite3_finalize(at->statements[i]);
    sqlite3_close(at->db);
    *at = (gx_connection){ .path = at->path };
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */

static void bind(sqlite3_stmt *statement, int at, gale_str bytes) {
    sqlite3_bind_blob64(statement, at, bytes.size ? bytes.data : "", bytes.size, SQLITE_STATIC);
}

static gale_str column(sqlite3_stmt *statement, int at) {
    const char *data = sqlite3_column_blob(statement, at);
    return (gale_str){ data ? data : "", (size_t)sqlite3_column_bytes(statement, at) };
}

int gx_connection_number(gx_connection *at, uint64_t *ret_number, gale_error *error) {
    sqlite3_stmt *statement = at->statements[GX_STATEMENT_NUMBER];
    gx_vfs_forget();
    int rc = sqlite3_step(statement), answer = GALE_OK;
    if (rc == SQLITE_ROW)
        *ret_number = (uint64_t)sqlite3_column_int64(statement, 0);
    else if (rc == SQLITE_DONE)
        answer = gale_error_set(error, GALE_DAMAGED, "'%s' is damaged: it has no commit", at->path);
    else
        answer = refuse(at, rc, error);
    sqlite3_reset(statement);
    return answer;
}

static int copy_out(gale_str found, void *value, size_t room, size_t *ret_size) {
    *ret_size = found.size;
    if (found.size > room) return GALE_TOO_LARGE;
    if (found.size) memcpy(value, found.data, found.size);
    return GALE_OK;
}

int gx_connection_get(gx_connection *at, gale_str key, void *value, size_t room, size_t *ret_size, gale_error *error) {
    sqlite3_stmt *statement = at->statements[GX_STATEMENT_GET];
    gx_vfs_forget();
    bind(statement, 1, key);
    int rc = sqlite3_step(statement), answer = GALE_NOT_FOUND;
    if (rc == SQLITE_ROW)
        answer = copy_out(column(statement, 0), value, room, ret_size);
    else if (rc != SQLITE_DONE)
        answer = refuse(at, rc, error);
    sqlite3_reset(statement);
    return answer;
}

static bool begins_with(gale_str key, gale_str prefix) {
    return key.size >= prefix.size && (!prefix.size || memcmp(key.data, prefix.data, prefix.size) == 0);
}

/* Is `a` behind `b`? */
static bool is_behind(gale_str a, gale_str b) {
    size_t shorter = a.size < b.size ? a.size : b.size;
    int order = shorter ? memcmp(a.data, b.data, shorter) : 0;
    return order ? order > 0 : a.size > b.size;
}

int gx_connection_iterate(gx_connection *at, gale_str prefix, const gale_str *after, gale_store_each *each, void *user,
                          gale_error *error) {
    bool behind = after && (is_behind(*after, prefix) || (after->size == prefix.size && begins_with(*after, prefix)));
    sqlite3_stmt *statement = at->statements[behind ? GX_STATEMENT_AFTER : GX_STATEMENT_FROM];
    int rc, answer = GALE_OK;
    gx_vfs_forget();
    bind(statement, 1, behind ? *after : prefix);
    while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
        gale_str key = column(statement, 0), value = column(statement, 1);
        if (begins_with(key, prefix)) answer = each(user, key.data, key.size, value.data, value.size);
        if (answer || !begins_with(key, prefix)) break;
    }
    if (rc != SQLITE_ROW && rc != SQLITE_DONE) answer = refuse(at, rc, error);
    sqlite3_reset(statement);
    return answer;
}

/* --- Writing ------------------------------------------------------------------------------------------------------ */

static int step(gx_connection *at, gx_statement which, gale_error *error) {
    sqlite3_stmt *statement = at->statements[which];
    int rc = sqlite3_step(statement);
    int answer = rc == SQLITE_DONE ? GALE_OK : refuse(at, rc, error);
    sqlite3_reset(statement);
    return answer;
}

int gx_connection_begin(gx_connection *at, gale_error *error) {
    gx_vfs_forget();
    return step(at, GX_STATEMENT_BEGIN, error);
}

int gx_connection_put(gx_connection *at, gale_str key, gale_str value, gale_error *error) {
    bind(at->statements[GX_STATEMENT_PUT], 1, key);
    bind(at->statements[GX_STATEMENT_PUT], 2, value);
    return step(at, GX_STATEMENT_PUT, error);
}

int gx_connection_remove(gx_connection *at, gale_str key, gale_error *error) {
    bind(at->statements[GX_STATEMENT_REMOVE], 1, key);
    return step(at, GX_STATEMENT_REMOVE, error);
}

int gx_connection_commit(gx_connection *at, uint64_t number, gale_error *error) {
    sqlite3_bind_int64(at->statements[GX_STATEMENT_SET_NUMBER], 1, (sqlite3_int64)number);
    int rc = step(at, GX_STATEMENT_SET_NUMBER, error);
    return rc == GALE_OK ? step(at, GX_STATEMENT_COMMIT, error) : rc;
}

void gx_connection_abandon(gx_connection *at) {
    if (at->db && !sqlite3_get_autocommit(at->db)) sqlite3_exec(at->db, "ROLLBACK", NULL, NULL, NULL);
}

int gx_connection_checkpoint(gx_connection *at, bool empty, bool *ret_all, gale_error *error) {
    int frames = 0, copied = 0;
    gx_vfs_forget();
    int rc = sqlite3_wal_checkpoint_v2(at->db, "main", empty ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE,
                                       &frames, &copied);
    *ret_all = rc == SQLITE_OK && copied == frames;
    return rc == SQLITE_OK || rc == SQLITE_BUSY ? GALE_OK : refuse(at, rc, error);
}
