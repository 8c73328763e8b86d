#include <gale_store.h>

#include "base/options.h"
#include "store/keep.h"
#include "store/opening.h"

#include <stdio.h>
#include <string.h>

enum { APPLY_BYTES = 8 << 20, READERS = 16, SOME_MEMORY = 64 << 20 };

/* --- Reading: each call borrows a connection ---------------------------------------------------------------------- */

static int add_reader(gx_store *store, gx_connection **ret_reader, gale_error *error) {
    gx_connection *made = gx_alloc(&store->heap, GX_TAG_OTHER, sizeof *made);
    if (!made) return gale_error_set(error, GALE_NO_MEMORY, "no memory to read the store '%s'", store->folder);
    int rc = gx_connection_open(made, &store->vfs, store->data, store->cache_bytes / 2 / READERS, error);
    if (rc == GALE_OK) rc = gx_connection_prepare(made, false, error);
    if (rc < 0) {
        gx_connection_close(made);
        gx_free(&store->heap, GX_TAG_OTHER, made, sizeof *made);
        return rc;
    }
    *ret_reader = made;
    return GALE_OK;
}

static int borrow(gx_store *store, gx_connection **ret_reader, gale_error *error) {
    pthread_mutex_lock(&store->mutex);
    gx_connection *found = store->idle;
    if (found) store->idle = found->next;
    pthread_mutex_unlock(&store->mutex);
    *ret_reader = found;
    return found ? GALE_OK : add_reader(store, ret_reader, error);
}

static void give_back(gx_store *store, gx_connection *reader) {
    pthread_mutex_lock(&store->mutex);
    reader->next = store->idle;
    store->idle = reader;
    pthread_mutex_unlock(&store->mutex);
}

static int check_key(const void *key, size_t size, gale_error *error) {
    if (!key || !size) return gale_error_set(error, GALE_INVALID, "a store's key has at least one byte");
    if (size > GALE_STORE_KEY_MAX)
        return gale_error_set(error, GALE_TOO_LARGE, "a key of %zu bytes, at most %d allowed", size,
                              GALE_STORE_KEY_MAX);
    return GALE_OK;
}

static int store_get(void *self, const void *key, size_t key_size, void *value, size_t room, size_t *ret_size,
                     gale_error *error) {
    gx_connection *reader = NULL;
    int rc = check_key(key, key_size, error);
    if (rc == GALE_OK && (!ret_size || (!value && room)))
        rc = gale_error_set(error, GALE_INVALID, "get: no place for the value or its size");
    if (rc == GALE_OK) rc = borrow(self, &reader, error);
    if (rc < 0) return rc;
    rc = gx_connection_get(reader, (gale_str){ key, key_size }, value, room, ret_size, error);
    give_back(self, reader);
    return rc;
}

static int store_iterate(void *self, const void *prefix, size_t prefix_size, const void *after, size_t after_size,
                         gale_store_each *each, void *user, gale_error *error) {
    gx_connection *reader = NULL;
    gale_str behind = { after, after_size };
    if (!each || (!prefix && prefix_size))
        return gale_error_set(error, GALE_INVALID, "iterate: no function, or no prefix");
    int rc = borrow(self, &reader, error);
    if (rc < 0) return rc;
    rc = gx_connection_iterate(reader, (gale_str){ prefix ? prefix : "", prefix_size }, after ? &behind : NULL, each,
                               user, error);
    give_back(self, reader);
    return rc;
}

/* --- Writing ------------------------------------------------------------------------------------------------------ */

static void store_abandon(void *self) {
    gx_store *store = self;
    gx_store_changes_clear(&store->changes);
    gx_connection_abandon(&store->writer);
    store->begun = false;
}

static int apply_one(gx_store *store, const gx_change *change, gale_error *error) {
    gale_str key = gx_change_key(&store->changes, change);
    if (change->removes) return gx_connection_remove(&store->writer, key, error);
    return gx_connection_put(&store->writer, key, gx_change_value(&store->changes, change), error);
}

/* Gives what was gathered to SQLite, in one transaction with what was given before. */
static int apply(gx_store *store, gale_error *error) {
    int rc = GALE_OK;
    if (!store->begun) rc = gx_connection_begin(&store->writer, error);
    store->begun = rc == GALE_OK;
    gx_store_changes_sort(&store->changes);
    for (size_t i = 0; i < store->changes.count && rc == GALE_OK; i++)
        rc = apply_one(store, &store->changes.list[i], error);
    gx_store_changes_clear(&store->changes);
    return rc;
}

static int gather(gx_store *store, gale_str key, const gale_str *value, gale_error *error) {
    int rc = gx_durable_check(store, error);
    if (rc < 0) return rc;
    if (!gx_store_changes_add(&store->changes, key, value))
        rc = gale_error_set(error, GALE_NO_MEMORY, "no memory to gather changes for the store '%s'", store->folder);
    else if (store->changes.used > APPLY_BYTES)
        rc = apply(store, error);
    if (rc < 0) store_abandon(store);
    return rc;
}

static int store_put(void *self, const void *key, size_t key_size, const void *value, size_t value_size,
                     gale_error *error) {
    gale_str bytes = { value, value_size };
    int rc = check_key(key, key_size, error);
    if (rc == GALE_OK && !value && value_size) rc = gale_error_set(error, GALE_INVALID, "put: no value");
    if (rc == GALE_OK && value_size > GALE_STORE_VALUE_MAX)
        rc = gale_error_set(error, GALE_TOO_LARGE, "a value of %zu bytes, at most %d allowed", value_size,
                            GALE_STORE_VALUE_MAX);
    if (rc < 0) {
        store_abandon(self);
        return rc;
    }
    return gather(self, (gale_str){ key, key_size }, &bytes, error);
}

static int store_remove(void *self, const void *key, size_t key_size, gale_error *error) {
    int rc = check_key(key, key_size, error);
    if (rc < 0) {
        store_abandon(self);
        return rc;
    }
    return gather(self, (gale_str){ key, key_size }, NULL, error);
}

static int tidy(gx_store *store, uint64_t from, gale_error *error) {
    if (store->begun || store->frames * GX_LOG_FRAME < from) return GALE_OK;
    return gx_durable_copy(store, error);
}

static int store_tidy(void *self, gale_error *error) {
    gx_store *store = self;
    int rc = gx_durable_check(store, error);
    if (rc == GALE_OK) rc = tidy(store, store->log_bytes, error);
    if (rc == GALE_OK && !store->begun && !store->changes.count) gx_keep_serve(store);
    return rc;
}

/* From here on nobody knows what the disk has, until it is looked at again. */
static int commit_now(gx_store *store, bool sync, gale_error *error) {
    gale_error here = GALE_ERROR_INIT;
    gx_store_relaxed(&store->vfs.lazy, !sync);
    int rc = gx_connection_commit(&store->writer, store->number + 1, &here);
    gx_store_relaxed(&store->vfs.lazy, 0);
    if (rc < 0) {
        if (error) gale_error_set(error, rc, "%s", here.text);
        gx_durable_break(store, rc, &here);
        store_abandon(store);
        return rc;
    }
    store->begun = false;
    store->number++;
    store->frames = store->writer.frames;
    return sync ? gx_durable_mark(store, true, error) : GALE_OK;
}

static int store_commit(void *self, uint32_t flags, uint64_t *ret_number, gale_error *error) {
    gx_store *store = self;
    int rc = gx_durable_check(store, error);
    if (rc == GALE_OK && (flags & ~(uint32_t)GALE_STORE_SYNC))
        rc = gale_error_set(error, GALE_UNSUPPORTED, "commit: flags %#x are not known", flags);
    if (rc == GALE_OK) rc = gx_durable_look(store, error);
    if (rc == GALE_OK) rc = apply(store, error);
    if (rc < 0) {
        store_abandon(store);
        return rc;
    }
    rc = commit_now(store, (flags & GALE_STORE_SYNC) != 0, error);
    if (rc == GALE_OK) rc = gx_durable_look(store, error); /* what was taken away meanwhile */
    if (rc < 0) return rc;
    if (ret_number) *ret_number = store->number;
    /* It is committed: what cannot be tidied up now is told when somebody asks for it. */
    (void)tidy(store, 2 * store->log_bytes, NULL);
    return GALE_OK;
}

/* --- The whole ---------------------------------------------------------------------------------------------------- */

static int store_about(void *self, gale_store_about *ret_about, gale_error *error) {
    gx_store *store = self;
    gx_file_about data = { 0 }, log = { 0 };
    gale_store_about about = { .size = sizeof about,
                               .commit = gx_load_relaxed(&store->synced),
                               .topology = store->topology,
                               .format = GX_MARK_FORMAT,
                               .asked = gx_keep_is_asked(store) };
    if (!ret_about || ret_about->size < sizeof(size_t) || ret_about->size > GX_OPTIONS_SIZE_MAX)
        return gale_error_set(error, GALE_INVALID, "about: set size to the size of the structure");
    int rc = gx_file_about_path(store->data, &data, error);
    if (rc == GALE_OK) rc = gx_file_about_path(store->log, &log, error);
    if (rc < 0 && rc != GALE_NOT_FOUND) return rc;
    about.disk_bytes = (uint64_t)(data.size + log.size);
    about.size = ret_about->size;
    memcpy(ret_about, &about, about.size < sizeof about ? about.size : sizeof about);
    return GALE_OK;
}

/* The next opening finds nothing to do. */
static void leave_tidy(gx_store *store) {
    bool all = false;
    store_abandon(store);
    if (store->read_only || store->why[0] || gx_durable_copy(store, NULL) < 0 || store->mark.needed) return;
    if (gx_connection_checkpoint(&store->writer, true, &all, NULL) < 0) return;
    (void)gx_durable_mark(store, false, NULL); /* in its other place, too: neither speaks of a log now */
}

static void undo(gx_store *store) {
    gx_heap heap = store->heap;
    gx_opening_undo(store);
    gx_store_changes_fini(&store->changes);
    pthread_mutex_destroy(&store->mutex);
    gx_free(&heap, GX_TAG_OTHER, store, sizeof *store);
}

static void store_close(void *self) {
    gx_store *store = self;
    leave_tidy(store);
    undo(store);
}

static int check_options(const gale_store_options *options, gale_error *error) {
    if (!options->folder || !options->folder[0] || strlen(options->folder) > GX_FILE_PATH_MAX)
        return gale_error_set(error, GALE_INVALID, "store options: a folder is needed, of at most %d bytes",
                              GX_FILE_PATH_MAX);
    size_t size = options->topology ? strlen(options->topology) : 0;
    if (options->create && options->read_only)
        return gale_error_set(error, GALE_INVALID, "store options: what is made is not only read");
    if (!options->topology && !options->create) return GALE_OK;
    if (!size || size > GALE_STORE_NAME_MAX)
        return gale_error_set(error, GALE_INVALID, "store options: a topology's name of 1 to %d bytes is needed",
                              GALE_STORE_NAME_MAX);
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)options->topology[i] < ' ')
            return gale_error_set(error, GALE_INVALID, "store options: the topology's name has a control character");
    return GALE_OK;
}

static gx_store *new_store(const gale_store_options *options, const gale_allocator *allocator) {
    gx_heap heap;
    gx_heap_init(&heap, allocator);
    gx_store *store = gx_alloc(&heap, GX_TAG_OTHER, sizeof *store);
    if (!store) return NULL;
    store->heap = heap;
    store->mark_file = GX_MARK_FILE_NONE;
    snprintf(store->folder, sizeof store->folder, "%s", options->folder);
    store->read_only = options->read_only;
    store->cache_bytes = options->cache_bytes ? options->cache_bytes : SOME_MEMORY;
    store->log_bytes = options->log_bytes ? options->log_bytes : SOME_MEMORY;
    gx_store_changes_init(&store->changes, &store->heap);
    pthread_mutex_init(&store->mutex, NULL);
    return store;
}

static const gale_store table = {
    .size = sizeof table,
    .get = store_get,
    .iterate = store_iterate,
    .put = store_put,
    .remove = store_remove,
    .commit = store_commit,
    .abandon = store_abandon,
    .tidy = store_tidy,
    .about = store_about,
    .close = store_close,
};

int gale_store_open(const gale_store_options *options, gale_store *ret_store, gale_error *error) {
    gale_store_options taken;
    gale_allocator allocator;
    if (!ret_store) return gale_error_set(error, GALE_INVALID, "gale_store_open: no place for the store");
    int rc = gx_options_take(&taken, sizeof taken, options, "store options", error);
    if (rc == GALE_OK) rc = check_options(&taken, error);
    if (rc == GALE_OK) rc = gx_allocator_take(&allocator, taken.allocator, "store options: allocator", error);
    if (rc == GALE_OK && !sqlite3_threadsafe())
        rc = gale_error_set(error, GALE_UNSUPPORTED, "SQLite was built for one thread");
    if (rc < 0) return rc;
    gx_store *store = new_store(&taken, &allocator);
    if (!store) return gale_error_set(error, GALE_NO_MEMORY, "no memory for a store");
    rc = gx_opening_open(store, taken.topology, taken.create, error);
    if (rc < 0) {
        undo(store);
        return rc;
    }
    *ret_store = table;
    ret_store->self = store;
    return GALE_OK;
}
