/* What bench/store asks of a store, in a table, so that several can be compared. Each function returns 0, or a negative
 * number and a sentence in `why`. */
#ifndef BENCH_STORE_BACKEND_H
#define BENCH_STORE_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BACKEND_WHY = 300, BACKEND_KEY = 16, BACKEND_VALUE_MAX = 256 };

typedef struct backend_pair {
    unsigned char key[BACKEND_KEY];
    unsigned char value[BACKEND_VALUE_MAX];
} backend_pair;

typedef struct backend {
    const char *name;
    int (*open)(const char *folder, size_t cache, void **ret_store, char *why);
    /* All of them and the number, at once; synced. */
    int (*commit)(void *store, const backend_pair *pairs, size_t count, size_t value_size, uint64_t number, char *why);
    /* The size of the value, 0 when there is none. */
    int (*get)(void *store, const void *key, size_t key_size, void *value, size_t room, char *why);
    /* Calls `each` for everything that begins with `prefix`, in order. Returns how many there were. */
    int64_t (*scan)(void *store, const void *prefix, size_t prefix_size,
                    void (*each)(void *user, const void *key, size_t key_size, const void *value, size_t size),
                    void *user, char *why);
    void (*close)(void *store);
    int (*tidy)(void *store, char *why); /* NULL: it does that itself, when it likes */
} backend;

extern const backend backend_rocksdb;
extern const backend backend_sqlite;
extern const backend backend_gale;

#endif
