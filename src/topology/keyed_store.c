#include "topology/keyed_store.h"

#include "tuple/body.h"
#include "tuple/hash.h"
#include "tuple/key.h"

#include <gale/state.h>
#include <string.h>

enum { EXPIRY = 8, SCOPE = 4, PIECE_BYTES = 256 << 10, FIRST_ROOM = 256 };

/* --- Keys --- */

static size_t prefix_size(const char *kept, const char *state) {
    return 1 + strlen(kept) + 1 + strlen(state) + 1 + SCOPE;
}

size_t gx_keyed_key_max(const char *kept, const char *state) {
    return prefix_size(kept, state) + GALE_STATE_KEY_MAX;
}

/* As fields grouping hashes them. False: there are not so many. */
static bool hash_of(const gale_value *key, uint32_t route, uint64_t *ret_hash) {
    if (key->type != GALE_TYPE_LIST) {
        *ret_hash = gx_value_hash(key);
        return route <= 1;
    }
    uint32_t count = route ? route : key->size;
    *ret_hash = 0;
    for (uint32_t i = 0; i < count && i < key->size; i++) {
        gale_value part = gale_list_at(key, i);
        uint64_t hash = gx_value_hash(&part);
        *ret_hash = i ? gx_hash_mix(*ret_hash, hash) : hash;
    }
    return count && count <= key->size;
}

uint32_t gx_keyed_scope(const gx_keyed_names *names, gale_str key) {
    uint64_t hash = 0;
    if (!names->by_key) return names->task_index + 1;
    gale_value value = gx_key_value(key);
    bool own = hash_of(&value, names->route, &hash) && gx_hash_below(hash, names->task_count) == names->task_index;
    return own ? 0 : names->task_index + 1;
}

gale_str gx_keyed_store_key(gx_keyed_names *names, uint32_t scope, gale_str key) {
    const char bytes[SCOPE] = { (char)(scope >> 24), (char)(scope >> 16), (char)(scope >> 8), (char)scope };
    gx_buf *to = &names->key;
    gx_buf_reset(to);
    gx_buf_add_byte(to, 'k');
    gx_buf_add(to, names->kept, strlen(names->kept) + 1);
    gx_buf_add(to, names->state, strlen(names->state) + 1);
    gx_buf_add(to, bytes, sizeof bytes);
    gx_buf_add(to, key.data, key.size);
    return to->failed ? (gale_str){ NULL, 0 } : (gale_str){ to->data, to->size };
}

gale_str gx_keyed_key_behind(const gx_keyed_names *names, gale_str store_key) {
    size_t prefix = prefix_size(names->kept, names->state);
    return (gale_str){ store_key.data + prefix, store_key.size - prefix };
}

/* --- Values --- */

void gx_keyed_value_put(gx_changes *to, gale_str key, const gx_packed *packed, int64_t expiry) {
    gx_changes_begin(to, key);
    gx_buf_add(&to->bytes, &expiry, sizeof expiry);
    if (packed->type >= GALE_TYPE_STRING) {
        gx_buf_add(&to->bytes, packed->body.data, packed->body.size);
    } else {
        const uint64_t body[2] = { 1 | (uint64_t)packed->type << 32, packed->bits };
        gx_buf_add(&to->bytes, body, sizeof body);
    }
    gx_changes_end(to);
}

bool gx_keyed_value_read(gale_str bytes, gx_packed *ret_packed, int64_t *ret_expiry) {
    if (bytes.size < EXPIRY || !gx_body_valid(bytes.data + EXPIRY, bytes.size - EXPIRY)) return false;
    const gale_body *body = (const gale_body *)(bytes.data + EXPIRY);
    if (gale_body_count(body) != 1) return false;
    gale_value value = gale_body_value(body, 0);
    memcpy(ret_expiry, bytes.data, sizeof *ret_expiry);
    *ret_packed = (gx_packed){ .type = value.type };
    if (value.type >= GALE_TYPE_STRING)
        ret_packed->body = (gale_str){ bytes.data + EXPIRY, bytes.size - EXPIRY };
    else
        ret_packed->bits = gx_load64(bytes.data + EXPIRY + 8);
    return *ret_expiry >= 0;
}

/* --- Reading --- */

static int damaged(const gx_keyed_names *names, const char *what, gale_error *error) {
    (void)names;
    return gale_error_set(error, GALE_DAMAGED, "the store has a %s that none was written as", what);
}

static int named(const gx_keyed_names *names, int rc, gale_error *error) {
    if (error->code == 0) gale_error_set(error, rc, "%s", gale_error_text(rc));
    gale_error_add(error, "keyed state '%s' of '%s' could not be read", names->state, names->component);
    return rc;
}

/* Room for so many bytes. */
static bool has_room(gx_buf *buf, size_t size) {
    gx_buf_reset(buf);
    return gx_buf_reserve(buf, size);
}

static int get(gx_keyed_names *names, gale_str key, gale_error *error) {
    const gale_store *store = names->store;
    size_t size = FIRST_ROOM;
    for (;;) {
        if (!has_room(&names->value, size)) return GALE_NO_MEMORY;
        size_t room = names->value.capacity - 1;
        int rc = store->get(store->self, key.data, key.size, names->value.data, room, &size, error);
        if (rc == GALE_OK) names->value.size = size;
        if (rc != GALE_TOO_LARGE) return rc;
        if (size <= room || size > GALE_STORE_VALUE_MAX) return damaged(names, "size of a value", error);
    }
}

int gx_keyed_load(gx_keyed_names *names, gale_str key, gx_packed *ret_packed, int64_t *ret_expiry, gale_error *error) {
    gale_str at = gx_keyed_store_key(names, gx_keyed_scope(names, key), key);
    if (!at.data) return GALE_NO_MEMORY;
    int rc = get(names, at, error);
    if (rc == GALE_NOT_FOUND || rc == GALE_NO_MEMORY) return rc;
    if (rc == GALE_OK &&
        !gx_keyed_value_read((gale_str){ names->value.data, names->value.size }, ret_packed, ret_expiry))
        rc = damaged(names, "value", error);
    return rc < 0 ? named(names, rc, error) : GALE_OK;
}

static int take(void *user, const void *key, size_t key_size, const void *value, size_t value_size) {
    gx_changes *piece = user;
    gx_changes_put(piece, (gale_str){ key, key_size }, (gale_str){ value, value_size });
    if (piece->bytes.failed) return GALE_NO_MEMORY;
    return piece->count >= GX_KEYED_PIECE || piece->bytes.size >= PIECE_BYTES;
}

int gx_keyed_read_piece(gx_keyed_names *names, uint32_t scope, const gx_buf *after, gx_changes *piece,
                        gale_error *error) {
    const gale_store *store = names->store;
    gale_str prefix = gx_keyed_store_key(names, scope, (gale_str){ "", 0 });
    if (!prefix.data) return GALE_NO_MEMORY;
    gx_changes_reset(piece);
    int rc = store->iterate(store->self, prefix.data, prefix.size, after ? after->data : NULL, after ? after->size : 0,
                            take, piece, error);
    gx_change change;
    for (size_t at = 0; rc >= 0 && gx_changes_next(piece, &at, &change);) {
        if (change.key.size <= prefix.size || change.key.size > GALE_STORE_KEY_MAX) rc = damaged(names, "key", error);
    }
    return rc < 0 && rc != GALE_NO_MEMORY ? named(names, rc, error) : rc;
}

/* --- By task ------------------------------------------------------------------------------------------------------ */

static int take_first(void *user, const void *key, size_t key_size, const void *value, size_t value_size) {
    gx_buf *to = user;
    (void)value, (void)value_size;
    gx_buf_reset(to);
    gx_buf_add(to, key, key_size);
    return to->failed ? GALE_NO_MEMORY : 1;
}

/* The name of the state and the scope behind a prefix: 1 when the scope is a task's; 0, and the key becomes one behind all of
 * scope 0. */
static int look_at_scope(gx_buf *key, size_t prefix, gale_error *error) {
    const char *name = key->data + prefix, *end = memchr(name, 0, key->size - prefix);
    size_t scope = end ? (size_t)(end - key->data) + 1 : 0;
    if (!end || key->size < scope + SCOPE)
        return gale_error_set(error, GALE_DAMAGED, "the store has a key that none was written as");
    if (memcmp(key->data + scope, "\0\0\0", SCOPE) != 0) return 1;
    key->size = scope + SCOPE;
    for (size_t i = 0; i <= GALE_STATE_KEY_MAX; i++) gx_buf_add_byte(key, '\xff');
    return key->failed ? GALE_NO_MEMORY : 0;
}

/* Of all states of a component. */
static gx_buf prefix_of(gx_heap *heap, const char *kept) {
    gx_buf prefix = GX_BUF_INIT(heap);
    gx_buf_add_byte(&prefix, 'k');
    gx_buf_add(&prefix, kept, strlen(kept) + 1);
    return prefix;
}

/* One look into the store a state, and one more. */
int gx_keyed_is_by_task(gx_heap *heap, const gale_store *store, const char *kept, gale_error *error) {
    gx_buf prefix = prefix_of(heap, kept), key = GX_BUF_INIT(heap);
    int rc = prefix.failed ? GALE_NO_MEMORY : 1;
    bool by_task = false;
    while (rc == 1 && !by_task) {
        rc = store->iterate(store->self, prefix.data, prefix.size, key.size ? key.data : NULL, key.size, take_first,
                            &key, error);
        int found = rc == 1 ? look_at_scope(&key, prefix.size, error) : 0;
        if (found < 0) rc = found;
        by_task = found > 0;
    }
    gx_buf_fini(&prefix);
    gx_buf_fini(&key);
    return rc < 0 ? rc : by_task;
}

int gx_keyed_is_any(gx_heap *heap, const gale_store *store, const char *kept, gale_error *error) {
    gx_buf prefix = prefix_of(heap, kept), key = GX_BUF_INIT(heap);
    int rc = prefix.failed ? GALE_NO_MEMORY
                           : store->iterate(store->self, prefix.data, prefix.size, NULL, 0, take_first, &key, error);
    gx_buf_fini(&prefix);
    gx_buf_fini(&key);
    return rc;
}

static int take_key(void *user, const void *key, size_t key_size, const void *value, size_t value_size) {
    gx_changes *piece = user;
    (void)value, (void)value_size;
    gx_changes_remove(piece, (gale_str){ key, key_size });
    if (piece->bytes.failed) return GALE_NO_MEMORY;
    return piece->bytes.size >= PIECE_BYTES;
}

/* 1: there may be more, behind `after`. */
static int remove_piece(const gale_store *store, const gx_buf *prefix, gx_buf *after, gx_changes *piece,
                        gale_error *error) {
    gx_change change;
    gx_changes_reset(piece);
    int more = store->iterate(store->self, prefix->data, prefix->size, after->size ? after->data : NULL, after->size,
                              take_key, piece, error);
    for (size_t at = 0; more >= 0 && gx_changes_next(piece, &at, &change);) {
        int rc = store->remove(store->self, change.key.data, change.key.size, error);
        gx_buf_reset(after);
        gx_buf_add(after, change.key.data, change.key.size);
        if (rc < 0 || after->failed) return rc < 0 ? rc : GALE_NO_MEMORY;
    }
    return more;
}

int gx_keyed_remove_all(gx_heap *heap, const gale_store *store, const char *kept, gale_error *error) {
    gx_buf prefix = prefix_of(heap, kept), after = GX_BUF_INIT(heap);
    gx_changes piece = GX_CHANGES_INIT(heap);
    int more = prefix.failed ? GALE_NO_MEMORY : 1;
    while (more > 0) more = remove_piece(store, &prefix, &after, &piece, error);
    gx_changes_fini(&piece);
    gx_buf_fini(&prefix);
    gx_buf_fini(&after);
    return more;
}
