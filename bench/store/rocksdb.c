/* RocksDB by its C API: paranoid checks, checksums verified on every read, a torn tail of the log tolerated. */
#include "backend.h"

#include <rocksdb/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct store {
    rocksdb_t *db;
    rocksdb_options_t *options;
    rocksdb_writeoptions_t *synced;
    rocksdb_readoptions_t *read;
} store;

static int refuse(char *error, char *why) {
    snprintf(why, BACKEND_WHY, "%s", error);
    rocksdb_free(error);
    return -1;
}

static rocksdb_options_t *options_of(size_t cache) {
    rocksdb_options_t *options = rocksdb_options_create();
    rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
    rocksdb_block_based_options_set_block_cache(table, rocksdb_cache_create_lru(cache));
    rocksdb_block_based_options_set_filter_policy(table, rocksdb_filterpolicy_create_bloom_full(10));
    rocksdb_block_based_options_set_cache_index_and_filter_blocks(table, 1);
    rocksdb_options_set_block_based_table_factory(options, table);
    rocksdb_options_set_create_if_missing(options, 1);
    rocksdb_options_set_paranoid_checks(options, 1);
    rocksdb_options_set_wal_recovery_mode(options, rocksdb_point_in_time_recovery);
    rocksdb_options_set_compression(options, rocksdb_no_compression);
    rocksdb_options_set_write_buffer_size(options, 16 << 20);
    return options;
}

static int open_store(const char *folder, size_t cache, void **ret_store, char *why) {
    store *made = calloc(1, sizeof *made);
    char *error = NULL;
    made->options = options_of(cache);
    made->db = rocksdb_open(made->options, folder, &error);
    if (error) return refuse(error, why);
    made->synced = rocksdb_writeoptions_create();
    rocksdb_writeoptions_set_sync(made->synced, 1);
    made->read = rocksdb_readoptions_create();
    rocksdb_readoptions_set_verify_checksums(made->read, 1);
    *ret_store = made;
    return 0;
}

static int commit(void *of, const backend_pair *pairs, size_t count, size_t value_size, uint64_t number, char *why) {
    store *here = of;
    rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
    char *error = NULL;
    for (size_t i = 0; i < count; i++)
        rocksdb_writebatch_put(batch, (const char *)pairs[i].key, BACKEND_KEY, (const char *)pairs[i].value,
                               value_size);
    rocksdb_writebatch_put(batch, "\xff", 1, (const char *)&number, sizeof number);
    rocksdb_write(here->db, here->synced, batch, &error);
    rocksdb_writebatch_destroy(batch);
    return error ? refuse(error, why) : 0;
}

static int get(void *of, const void *key, size_t key_size, void *value, size_t room, char *why) {
    store *here = of;
    size_t size = 0;
    char *error = NULL;
    char *found = rocksdb_get(here->db, here->read, key, key_size, &size, &error);
    if (error) return refuse(error, why);
    if (found) memcpy(value, found, size < room ? size : room);
    rocksdb_free(found);
    return (int)size;
}

static int64_t scan(void *of, const void *prefix, size_t prefix_size,
                    void (*each)(void *, const void *, size_t, const void *, size_t), void *user, char *why) {
    store *here = of;
    rocksdb_iterator_t *at = rocksdb_create_iterator(here->db, here->read);
    int64_t count = 0;
    for (rocksdb_iter_seek(at, prefix, prefix_size); rocksdb_iter_valid(at); rocksdb_iter_next(at), count++) {
        size_t key_size, size;
        const char *key = rocksdb_iter_key(at, &key_size), *value = rocksdb_iter_value(at, &size);
        if (key_size < prefix_size || memcmp(key, prefix, prefix_size) != 0) break;
        each(user, key, key_size, value, size);
    }
    char *error = NULL;
    rocksdb_iter_get_error(at, &error);
    rocksdb_iter_destroy(at);
    return error ? refuse(error, why) : count;
}

static void close_store(void *of) {
    store *here = of;
    rocksdb_close(here->db);
    rocksdb_readoptions_destroy(here->read);
    rocksdb_writeoptions_destroy(here->synced);
    rocksdb_options_destroy(here->options);
    free(here);
}

const backend backend_rocksdb = { "rocksdb", open_store, commit, get, scan, close_store, NULL };
