/* SQLite as it comes, in write-ahead mode, with a checksum of key and value beside each value. BENCH_PAGE is the size
 * of its pages. */
#include "backend.h"

#include "base/hash.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct store {
    sqlite3 *db;
    sqlite3_stmt *put, *get, *scan;
} store;

enum { SUM = 8, KEEP_FRAMES_BYTES = 64 << 20 };

static int refuse(store *here, char *why) {
    snprintf(why, BACKEND_WHY, "%s", here->db ? sqlite3_errmsg(here->db) : "no memory");
    return -1;
}

static uint64_t sum_of(const void *key, size_t key_size, const void *value, size_t size) {
    return gx_hash_bytes(value, size, gx_hash_bytes(key, key_size, 0));
}

static int open_store(const char *folder, size_t cache, void **ret_store, char *why) {
    store *here = calloc(1, sizeof *here);
    char path[4096], text[600];
    const char *page = getenv("BENCH_PAGE");
    snprintf(path, sizeof path, "%s/data", folder);
    if (sqlite3_open_v2(path, &here->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL) !=
        SQLITE_OK)
        return refuse(here, why);
    snprintf(text, sizeof text,
             "PRAGMA page_size=%d;PRAGMA locking_mode=EXCLUSIVE;PRAGMA journal_mode=WAL;PRAGMA synchronous=FULL;"
             "PRAGMA secure_delete=OFF;PRAGMA cell_size_check=ON;PRAGMA cache_size=-%zu;PRAGMA wal_autocheckpoint=%d;"
             "CREATE TABLE IF NOT EXISTS kv(k BLOB PRIMARY KEY,v BLOB NOT NULL) WITHOUT ROWID;",
             page ? atoi(page) : 4096, cache / 1024, KEEP_FRAMES_BYTES / (page ? atoi(page) : 4096));
    if (sqlite3_exec(here->db, text, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(here->db, "INSERT INTO kv VALUES(?,?) ON CONFLICT(k) DO UPDATE SET v=excluded.v", -1,
                           &here->put, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(here->db, "SELECT v FROM kv WHERE k=?", -1, &here->get, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(here->db, "SELECT k,v FROM kv WHERE k>=? ORDER BY k", -1, &here->scan, NULL) != SQLITE_OK)
        return refuse(here, why);
    *ret_store = here;
    return 0;
}

static int put(store *here, const void *key, size_t key_size, const void *value, size_t size) {
    unsigned char with_sum[BACKEND_VALUE_MAX + SUM];
    uint64_t sum = sum_of(key, key_size, value, size);
    memcpy(with_sum, value, size);
    memcpy(with_sum + size, &sum, SUM);
    sqlite3_bind_blob(here->put, 1, key, (int)key_size, SQLITE_STATIC);
    sqlite3_bind_blob(here->put, 2, with_sum, (int)size + SUM, SQLITE_STATIC);
    int rc = sqlite3_step(here->put);
    sqlite3_reset(here->put);
    return rc == SQLITE_DONE ? 0 : -1;
}

static int by_key(const void *a, const void *b) {
    return memcmp(*(const backend_pair *const *)a, *(const backend_pair *const *)b, BACKEND_KEY);
}

static int commit(void *of, const backend_pair *pairs, size_t count, size_t value_size, uint64_t number, char *why) {
    store *here = of;
    const backend_pair **sorted = malloc((count + 1) * sizeof *sorted);
    for (size_t i = 0; i < count; i++) sorted[i] = &pairs[i];
    qsort(sorted, count, sizeof *sorted, by_key);
    int rc = sqlite3_exec(here->db, "BEGIN", NULL, NULL, NULL);
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = put(here, sorted[i]->key, BACKEND_KEY, sorted[i]->value, value_size);
    free(sorted);
    if (rc == 0) rc = put(here, "\xff", 1, &number, sizeof number);
    if (rc == 0) rc = sqlite3_exec(here->db, "COMMIT", NULL, NULL, NULL);
    return rc == 0 ? 0 : refuse(here, why);
}

/* The size of the value in a column, or -1 when its checksum does not fit. */
static int checked(sqlite3_stmt *row, int column, const void *key, size_t key_size, const void **ret_value) {
    const unsigned char *value = sqlite3_column_blob(row, column);
    int size = sqlite3_column_bytes(row, column) - SUM;
    uint64_t sum;
    if (size < 0) return -1;
    memcpy(&sum, value + size, SUM);
    *ret_value = value;
    return sum == sum_of(key, key_size, value, (size_t)size) ? size : -1;
}

static int get(void *of, const void *key, size_t key_size, void *value, size_t room, char *why) {
    store *here = of;
    sqlite3_bind_blob(here->get, 1, key, (int)key_size, SQLITE_STATIC);
    int rc = sqlite3_step(here->get), size = 0;
    if (rc == SQLITE_ROW) {
        const void *found = NULL;
        size = checked(here->get, 0, key, key_size, &found);
        if (size < 0) snprintf(why, BACKEND_WHY, "a value's checksum does not fit");
        if (size > 0) memcpy(value, found, (size_t)size < room ? (size_t)size : room);
    } else if (rc != SQLITE_DONE) {
        size = refuse(here, why);
    }
    sqlite3_reset(here->get);
    return size;
}

static int64_t scan(void *of, const void *prefix, size_t prefix_size,
                    void (*each)(void *, const void *, size_t, const void *, size_t), void *user, char *why) {
    store *here = of;
    int64_t count = 0;
    int rc;
    sqlite3_bind_blob(here->scan, 1, prefix, (int)prefix_size, SQLITE_STATIC);
    while ((rc = sqlite3_step(here->scan)) == SQLITE_ROW) {
        const void *key = sqlite3_column_blob(here->scan, 0), *value = NULL;
        size_t key_size = (size_t)sqlite3_column_bytes(here->scan, 0);
        if (key_size < prefix_size || (prefix_size && memcmp(key, prefix, prefix_size) != 0)) break;
        int size = checked(here->scan, 1, key, key_size, &value);
        if (size < 0) {
            snprintf(why, BACKEND_WHY, "a value's checksum does not fit");
            count = -1;
            break;
        }
        each(user, key, key_size, value, (size_t)size);
        count++;
    }
    if (rc != SQLITE_DONE && rc != SQLITE_ROW) count = refuse(here, why);
    sqlite3_reset(here->scan);
    return count;
}

static void close_store(void *of) {
    store *here = of;
    sqlite3_finalize(here->put);
    sqlite3_finalize(here->get);
    sqlite3_finalize(here->scan);
    sqlite3_close(here->db);
    free(here);
}

const backend backend_sqlite = { "sqlite", open_store, commit, get, scan, close_store, NULL };
