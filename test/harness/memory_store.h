/* A gale_store in memory, for tests of what stands upon one: a sorted array of pairs, a batch that nobody sees before its
 * commit, and calls that fail. Threads: as gale/store.h says; a walk goes over a copy, so that commits go on meanwhile.
 * Owner: the test; memory_store_fini checks nothing and frees all. A store that was closed may be opened again: what was
 * committed is still there, as on a disk. */
#ifndef TEST_HARNESS_MEMORY_STORE_H
#define TEST_HARNESS_MEMORY_STORE_H

#include <gale/store.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct memory_pair {
    char *key, *value; /* `value` NULL in a batch: it is removed */
    size_t key_size, value_size;
} memory_pair;

typedef struct memory_pairs {
    memory_pair *list;
    size_t count, capacity;
} memory_pairs;

typedef struct memory_store {
    pthread_mutex_t mutex;
    memory_pairs now, batch;
    uint64_t commits;
    bool dead; /* a commit failed: GALE_STATE for every change until it is opened again */
    bool open;

    uint64_t calls; /* of everything but abandon and close */
    uint64_t gets, walks, puts, removes, tidies;
    uint64_t fail_at; /* the call, counted from 1, that fails; 0: none */
    bool fail_on;     /* and all after it */
    bool fail_late;   /* a commit that fails has been written */
    int fail_code;    /* 0: GALE_IO */
} memory_store;

/* --- Pairs --- */

static inline int memory_compare(const memory_pair *pair, const void *key, size_t size) {
    size_t least = pair->key_size < size ? pair->key_size : size;
    int order = least ? memcmp(pair->key, key, least) : 0;
    return order ? order : (pair->key_size > size) - (pair->key_size < size);
}

/* The first pair whose key is not below. */
static inline size_t memory_find(const memory_pairs *pairs, const void *key, size_t size, bool *ret_is) {
    size_t low = 0, high = pairs->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (memory_compare(&pairs->list[middle], key, size) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *ret_is = low < pairs->count && memory_compare(&pairs->list[low], key, size) == 0;
    return low;
}

static inline char *memory_copy(const void *bytes, size_t size) {
    char *made = (char *)malloc(size + 1);
    if (!made) abort();
    if (size) memcpy(made, bytes, size);
    made[size] = 0;
    return made;
}

static inline void memory_pair_free(memory_pair *pair) {
    free(pair->key);
    free(pair->value);
}

static inline void memory_clear(memory_pairs *pairs) {
    for (size_t i = 0; i < pairs->count; i++) memory_pair_free(&pairs->list[i]);
    pairs->count = 0;
}

static inline memory_pair *memory_insert(memory_pairs *pairs, size_t at) {
    if (pairs->count == pairs->capacity) {
        pairs->capacity = pairs->capacity ? pairs->capacity * 2 : 64;
        pairs->list = (memory_pair *)realloc(pairs->list, pairs->capacity * sizeof *pairs->list);
        if (!pairs->list) abort();
    }
    memmove(&pairs->list[at + 1], &pairs->list[at], (pairs->count - at) * sizeof *pairs->list);
    pairs->count++;
    return &pairs->list[at];
}

static inline void memory_take_out(memory_pairs *pairs, size_t at) {
    memory_pair_free(&pairs->list[at]);
    pairs->count--;
    memmove(&pairs->list[at], &pairs->list[at + 1], (pairs->count - at) * sizeof *pairs->list);
}

/* `value` NULL: a pair that says so. */
static inline void memory_set(memory_pairs *pairs, const void *key, size_t key_size, const void *value, size_t size) {
    bool is;
    size_t at = memory_find(pairs, key, key_size, &is);
    memory_pair made = { memory_copy(key, key_size), value ? memory_copy(value, size) : NULL, key_size, size };
    if (is)
        memory_pair_free(&pairs->list[at]);
    else
        memory_insert(pairs, at);
    pairs->list[at] = made;
}

/* --- The store --- */

static inline int memory_fails(memory_store *store, const char *what, gale_error *error) {
    store->calls++;
    bool now = store->fail_at && (store->calls == store->fail_at || (store->fail_on && store->calls > store->fail_at));
    if (!now) return GALE_OK;
    int rc = store->fail_code ? store->fail_code : GALE_IO;
    return error ? gale_error_set(error, rc, "the store in memory was told to fail: %s", what) : rc;
}

static inline int memory_end(memory_store *store, int rc) {
    pthread_mutex_unlock(&store->mutex);
    return rc;
}

static inline int memory_get(void *self, const void *key, size_t key_size, void *value, size_t room, size_t *ret_size,
                             gale_error *error) {
    memory_store *store = (memory_store *)self;
    bool is;
    pthread_mutex_lock(&store->mutex);
    store->gets++;
    int rc = memory_fails(store, "get", error);
    if (rc < 0) return memory_end(store, rc);
    size_t at = memory_find(&store->now, key, key_size, &is);
    if (!is) return memory_end(store, GALE_NOT_FOUND);
    *ret_size = store->now.list[at].value_size;
    if (*ret_size > room) return memory_end(store, GALE_TOO_LARGE);
    if (*ret_size) memcpy(value, store->now.list[at].value, *ret_size);
    return memory_end(store, GALE_OK);
}

static inline int memory_iterate(void *self, const void *prefix, size_t prefix_size, const void *after,
                                 size_t after_size, gale_store_each *each, void *user, gale_error *error) {
    memory_store *store = (memory_store *)self;
    memory_pairs copy = { NULL, 0, 0 };
    pthread_mutex_lock(&store->mutex);
    store->walks++;
    int rc = memory_fails(store, "iterate", error);
    for (size_t i = 0; rc == GALE_OK && i < store->now.count; i++) {
        const memory_pair *pair = &store->now.list[i];
        bool below = pair->key_size >= prefix_size && (!prefix_size || memcmp(pair->key, prefix, prefix_size) == 0);
        if (!below || (after && memory_compare(pair, after, after_size) <= 0)) continue;
        memory_set(&copy, pair->key, pair->key_size, pair->value, pair->value_size);
    }
    pthread_mutex_unlock(&store->mutex);
    for (size_t i = 0; rc == GALE_OK && i < copy.count; i++) {
        const memory_pair *pair = &copy.list[i];
        rc = each(user, pair->key, pair->key_size, pair->value, pair->value_size);
    }
    memory_clear(&copy);
    free(copy.list);
    return rc;
}

static inline int memory_change(memory_store *store, const void *key, size_t key_size, const void *value, size_t size,
                                const char *what, gale_error *error) {
    pthread_mutex_lock(&store->mutex);
    int rc = memory_fails(store, what, error);
    if (rc == GALE_OK && store->dead) rc = GALE_STATE;
    if (rc == GALE_OK && key_size == 0) rc = GALE_INVALID;
    if (rc == GALE_OK && (key_size > GALE_STORE_KEY_MAX || size > GALE_STORE_VALUE_MAX)) rc = GALE_TOO_LARGE;
    if (rc == GALE_OK)
        memory_set(&store->batch, key, key_size, value, size);
    else
        memory_clear(&store->batch);
    return memory_end(store, rc);
}

static inline int memory_put(void *self, const void *key, size_t key_size, const void *value, size_t value_size,
                             gale_error *error) {
    memory_store *store = (memory_store *)self;
    store->puts++;
    return memory_change(store, key, key_size, value ? value : "", value_size, "put", error);
}

static inline int memory_remove(void *self, const void *key, size_t key_size, gale_error *error) {
    memory_store *store = (memory_store *)self;
    store->removes++;
    return memory_change(store, key, key_size, NULL, 0, "remove", error);
}

static inline void memory_apply(memory_store *store) {
    for (size_t i = 0; i < store->batch.count; i++) {
        const memory_pair *pair = &store->batch.list[i];
        bool is;
        size_t at = memory_find(&store->now, pair->key, pair->key_size, &is);
        if (pair->value)
            memory_set(&store->now, pair->key, pair->key_size, pair->value, pair->value_size);
        else if (is)
            memory_take_out(&store->now, at);
    }
    store->commits++;
}

static inline int memory_commit(void *self, uint32_t flags, uint64_t *ret_number, gale_error *error) {
    memory_store *store = (memory_store *)self;
    (void)flags;
    pthread_mutex_lock(&store->mutex);
    int rc = store->dead ? GALE_STATE : memory_fails(store, "commit", error);
    if (rc == GALE_OK || (store->fail_late && !store->dead)) memory_apply(store);
    if (rc < 0) store->dead = true;
    memory_clear(&store->batch);
    if (rc == GALE_OK && ret_number) *ret_number = store->commits;
    return memory_end(store, rc);
}

static inline void memory_abandon(void *self) {
    memory_store *store = (memory_store *)self;
    pthread_mutex_lock(&store->mutex);
    memory_clear(&store->batch);
    pthread_mutex_unlock(&store->mutex);
}

static inline int memory_tidy(void *self, gale_error *error) {
    memory_store *store = (memory_store *)self;
    pthread_mutex_lock(&store->mutex);
    store->tidies++;
    return memory_end(store, memory_fails(store, "tidy", error));
}

static inline int memory_about(void *self, gale_store_about *ret_about, gale_error *error) {
    memory_store *store = (memory_store *)self;
    pthread_mutex_lock(&store->mutex);
    int rc = memory_fails(store, "about", error);
    if (rc == GALE_OK) {
        ret_about->commit = store->commits;
        ret_about->disk_bytes = 0;
        for (size_t i = 0; i < store->now.count; i++)
            ret_about->disk_bytes += store->now.list[i].key_size + store->now.list[i].value_size;
    }
    return memory_end(store, rc);
}

static inline void memory_close(void *self) {
    memory_abandon(self);
    ((memory_store *)self)->open = false;
}

static inline void memory_store_init(memory_store *store) {
    memset(store, 0, sizeof *store);
    if (pthread_mutex_init(&store->mutex, NULL) != 0) abort();
}

/* Its table; also after it was closed, or "crashed" (memory_close without the owner's knowing). */
static inline gale_store memory_store_open(memory_store *store) {
    gale_store table = { sizeof table,  store,          memory_get,  memory_iterate, memory_put,  memory_remove,
                         memory_commit, memory_abandon, memory_tidy, memory_about,   memory_close };
    memory_clear(&store->batch);
    store->dead = false;
    store->open = true;
    return table;
}

static inline void memory_store_fini(memory_store *store) {
    memory_clear(&store->now);
    memory_clear(&store->batch);
    free(store->now.list);
    free(store->batch.list);
    pthread_mutex_destroy(&store->mutex);
}

#endif
