#include "sim/vault.h"

#include <string.h>

/* --- Pairs --- */

static int compare(const gx_buf *key, const void *bytes, size_t size) {
    size_t least = key->size < size ? key->size : size;
    int order = least ? memcmp(key->data, bytes, least) : 0;
    return order ? order : (key->size > size) - (key->size < size);
}

/* The first that is not below. */
static size_t find(const gx_vault_pairs *pairs, const void *key, size_t size, bool *ret_is) {
    size_t low = 0, high = pairs->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(&pairs->list[middle].key, key, size) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *ret_is = low < pairs->count && compare(&pairs->list[low].key, key, size) == 0;
    return low;
}

static void free_pair(gx_vault_pair *pair) {
    gx_buf_fini(&pair->key);
    gx_buf_fini(&pair->value);
}

static void clear(gx_vault_pairs *pairs) {
    for (size_t i = 0; i < pairs->count; i++) free_pair(&pairs->list[i]);
    pairs->count = 0;
}

static void take_out(gx_vault_pairs *pairs, size_t at) {
    free_pair(&pairs->list[at]);
    pairs->count--;
    memmove(&pairs->list[at], &pairs->list[at + 1], (pairs->count - at) * sizeof *pairs->list);
}

static int set(gx_heap *heap, gx_vault_pairs *pairs, gale_str key, gale_str value, bool gone) {
    bool is;
    size_t at = find(pairs, key.data, key.size, &is);
    if (!is && !gx_grow(heap, GX_TAG_OTHER, &pairs->list, &pairs->capacity, pairs->count + 1, sizeof *pairs->list))
        return GALE_NO_MEMORY;
    gx_vault_pair made = { GX_BUF_INIT(NULL), GX_BUF_INIT(NULL), gone };
    gx_buf_add(&made.key, key.data, key.size);
    gx_buf_add(&made.value, value.data, value.size);
    if (is) {
        free_pair(&pairs->list[at]);
    } else {
        memmove(&pairs->list[at + 1], &pairs->list[at], (pairs->count - at) * sizeof *pairs->list);
        pairs->count++;
    }
    pairs->list[at] = made;
    return made.key.failed || made.value.failed ? GALE_NO_MEMORY : GALE_OK;
}

/* --- The store --- */

static int die(gale_error *error) {
    return error ? gale_error_set(error, GALE_IO, "the process has died") : GALE_IO;
}

static int vault_get(void *self, const void *key, size_t key_size, void *value, size_t room, size_t *ret_size,
                     gale_error *error) {
    gx_vault *vault = self;
    bool is;
    if (gx_death_comes(vault->death, GX_PLACE_READ)) return die(error);
    size_t at = find(&vault->now, key, key_size, &is);
    if (!is) return GALE_NOT_FOUND;
    const gx_buf *found = &vault->now.list[at].value;
    *ret_size = found->size;
    if (found->size > room) return GALE_TOO_LARGE;
    if (found->size) memcpy(value, found->data, found->size);
    return GALE_OK;
}

static int vault_iterate(void *self, const void *prefix, size_t prefix_size, const void *after, size_t after_size,
                         gale_store_each *each, void *user, gale_error *error) {
    gx_vault *vault = self;
    int rc = GALE_OK;
    for (size_t i = 0; rc == GALE_OK && i < vault->now.count; i++) {
        const gx_vault_pair *pair = &vault->now.list[i];
        if (pair->key.size < prefix_size || (prefix_size && memcmp(pair->key.data, prefix, prefix_size) != 0)) continue;
        if (after && compare(&pair->key, after, after_size) <= 0) continue;
        if (gx_death_comes(vault->death, GX_PLACE_READ)) return die(error);
        rc = each(user, pair->key.data, pair->key.size, pair->value.data ? pair->value.data : "", pair->value.size);
    }
    return rc;
}

static int change(gx_vault *vault, gale_str key, gale_str value, bool gone, gale_error *error) {
    if (gx_death_comes(vault->death, GX_PLACE_PUT)) return die(error);
    if (key.size == 0 || key.size > GALE_STORE_KEY_MAX) return GALE_INVALID;
    return set(&vault->heap, &vault->batch, key, value, gone);
}

static int vault_put(void *self, const void *key, size_t key_size, const void *value, size_t value_size,
                     gale_error *error) {
    return change(self, (gale_str){ key, key_size }, (gale_str){ value, value_size }, false, error);
}

static int vault_remove(void *self, const void *key, size_t key_size, gale_error *error) {
    return change(self, (gale_str){ key, key_size }, (gale_str){ NULL, 0 }, true, error);
}

static int apply(gx_vault *vault) {
    int rc = GALE_OK;
    for (size_t i = 0; rc == GALE_OK && i < vault->batch.count; i++) {
        const gx_vault_pair *pair = &vault->batch.list[i];
        bool is;
        size_t at = find(&vault->now, pair->key.data, pair->key.size, &is);
        if (!pair->gone)
            rc = set(&vault->heap, &vault->now, (gale_str){ pair->key.data, pair->key.size },
                     (gale_str){ pair->value.data, pair->value.size }, false);
        else if (is)
            take_out(&vault->now, at);
    }
    clear(&vault->batch);
    vault->commits++;
    return rc;
}

static int vault_commit(void *self, uint32_t flags, uint64_t *ret_number, gale_error *error) {
    gx_vault *vault = self;
    (void)flags;
    if (gx_death_comes(vault->death, GX_PLACE_COMMIT)) return die(error);
    int rc = apply(vault);
    if (ret_number) *ret_number = vault->commits;
    if (rc == GALE_OK && gx_death_comes(vault->death, GX_PLACE_COMMITTED)) return die(error);
    return rc;
}

static void vault_abandon(void *self) {
    clear(&((gx_vault *)self)->batch);
}

static int vault_tidy(void *self, gale_error *error) {
    return gx_death_comes(((gx_vault *)self)->death, GX_PLACE_TIDY) ? die(error) : GALE_OK;
}

static int vault_about(void *self, gale_store_about *ret_about, gale_error *error) {
    (void)error;
    ret_about->commit = ((gx_vault *)self)->commits;
    ret_about->disk_bytes = 0;
    return GALE_OK;
}

void gx_vault_init(gx_vault *vault, gx_death *death) {
    *vault = (gx_vault){ .death = death };
    gx_heap_init(&vault->heap, NULL);
}

void gx_vault_fini(gx_vault *vault) {
    clear(&vault->now);
    clear(&vault->batch);
    gx_free(&vault->heap, GX_TAG_OTHER, vault->now.list, vault->now.capacity * sizeof *vault->now.list);
    gx_free(&vault->heap, GX_TAG_OTHER, vault->batch.list, vault->batch.capacity * sizeof *vault->batch.list);
}

gale_store gx_vault_open(gx_vault *vault) {
    clear(&vault->batch);
    return (gale_store){ sizeof(gale_store), vault,         vault_get,  vault_iterate, vault_put,    vault_remove,
                         vault_commit,       vault_abandon, vault_tidy, vault_about,   vault_abandon };
}
