#include "cli/state_move.h"

#include "base/os/folder.h"
#include "cli/state_folder.h"
#include "ds/changes.h"
#include "engine/cut.h"
#include "front/exact_json.h"
#include "front/saved_lines.h"
#include "topology/keyed_store.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PIECE = 256 << 10 };

/* --- Out ---------------------------------------------------------------------------------------------------------- */

typedef struct writing {
    gx_buf out;
    int fd;
    const char *path;
} writing;

static int write_out(writing *w, gale_error *error) {
    if (w->out.failed) return gale_error_set(error, GALE_NO_MEMORY, "no memory for a line of the export");
    const char *name = strcmp(w->path, "-") == 0 ? "standard output" : w->path;
    int rc = gx_file_write(w->fd, w->out.data, w->out.size, name, error);
    gx_buf_reset(&w->out);
    return rc;
}

static int export_pair(void *user, const gx_saved_pair *pair, gale_error *error) {
    writing *w = user;
    int rc = gx_saved_lines_add(pair, &w->out, error);
    return rc == GALE_OK && w->out.size >= PIECE ? write_out(w, error) : rc;
}

static int export_head(void *user, const gx_saved_pair *pair, gale_error *error) {
    return pair->kind == GX_SAVED_HEAD ? export_pair(user, pair, error) : GALE_OK;
}

static int export_other(void *user, const gx_saved_pair *pair, gale_error *error) {
    return pair->kind == GX_SAVED_HEAD ? GALE_OK : export_pair(user, pair, error);
}

static int write_all(const gale_store *store, writing *w, gale_error *error) {
    static const char head[] = { GX_CUT_HEAD };
    int rc = gx_saved_each(store, (gale_str){ head, 1 }, export_head, w, error);
    if (rc == GALE_OK) rc = gx_saved_each(store, (gale_str){ "", 0 }, export_other, w, error);
    if (rc == GALE_OK) gx_saved_lines_end(&w->out);
    return rc == GALE_OK ? write_out(w, error) : rc;
}

int gx_state_export(const gale_store *store, const char *folder, const char *path, gale_error *error) {
    gx_saved_head head;
    writing w = { GX_BUF_INIT(NULL), -1, path };
    int rc = gx_saved_head_read(store, &head, error);
    if (rc == GALE_NOT_FOUND) return gale_error_set(error, rc, "there is no checkpoint in '%s' yet", folder);
    if (rc < 0) return rc;
    gx_saved_head_fini(&head);
    rc = gx_file_create(path, false, &w.fd, error);
    if (rc < 0) return rc;
    rc = write_all(store, &w, error);
    int closed = gx_file_close_written(w.fd, path, rc == GALE_OK ? error : NULL);
    gx_buf_fini(&w.out);
    return rc == GALE_OK ? closed : rc;
}

/* --- Keys --------------------------------------------------------------------------------------------------------- */

typedef struct keys {
    uint64_t limit, count;
    bool json;
    gx_buf *out;
} keys;

static int add_key(void *user, const gx_saved_pair *pair, gale_error *error) {
    keys *k = user;
    if (k->limit && k->count >= k->limit) return 1;
    k->count++;
    if (k->json) return gx_saved_lines_add(pair, k->out, error);
    gx_buf_add_text(k->out, pair->state);
    gx_buf_add_byte(k->out, '\t');
    gx_json key = gx_json_to(k->out);
    gx_exact_json(&key, &pair->key);
    gx_buf_add_byte(k->out, '\t');
    gx_json value = gx_json_to(k->out);
    gx_exact_json(&value, &pair->value);
    gx_buf_add_byte(k->out, '\n');
    return GALE_OK;
}

static void prefix_of(char kind, const char *component, gx_buf *to) {
    gx_buf_reset(to);
    gx_buf_add_byte(to, kind);
    gx_buf_add(to, component, strlen(component) + 1);
}

int gx_state_keys(const gale_store *store, const char *component, uint64_t limit, bool json, gx_buf *out,
                  gale_error *error) {
    gx_saved_head head;
    gx_buf prefix = GX_BUF_INIT(NULL);
    keys k = { limit, 0, json, out };
    int rc = gx_saved_head_read(store, &head, error);
    if (rc == GALE_NOT_FOUND) return gale_error_set(error, rc, "there is no checkpoint yet");
    if (rc < 0) return rc;
    const gx_saved_component *found = gx_saved_head_find(&head, component, error);
    if (!found) rc = GALE_NOT_FOUND;
    prefix_of(GX_CUT_KEYED, found ? found->kept : "", &prefix);
    if (rc == GALE_OK) rc = gx_saved_each(store, (gale_str){ prefix.data, prefix.size }, add_key, &k, error);
    gx_buf_fini(&prefix);
    gx_saved_head_fini(&head);
    return rc;
}

/* --- In ----------------------------------------------------------------------------------------------------------- */

typedef struct taking {
    gx_saved_import import;
    gx_buf line;
    char part[GX_FILE_NAME_SIZE]; /* what the folder is called until it is whole */
    gale_store store;
    bool open;
} taking;

static int put_pair(void *user, gale_str key, gale_str value, gale_error *error) {
    taking *t = user;
    if (!t->open) { /* the head, which says whose it is */
        int rc = gx_state_folder_make(t->part, t->import.head.topology, &t->store, error);
        if (rc < 0) return rc;
        t->open = true;
    }
    return t->store.put(t->store.self, key.data, key.size, value.data, value.size, error);
}

/* What is whole of `bytes` goes, line by line; the rest waits in `line`. */
static int take_bytes(taking *t, const char *bytes, size_t size, gale_error *error) {
    int rc = GALE_OK;
    while (rc == GALE_OK && size) {
        const char *end = memchr(bytes, '\n', size);
        size_t part = end ? (size_t)(end - bytes) : size;
        gx_buf_add(&t->line, bytes, part);
        if (t->line.failed) return gale_error_set(error, GALE_NO_MEMORY, "no memory for a line of the export");
        if (end) {
            rc = gx_saved_import_line(&t->import, (gale_str){ t->line.size ? t->line.data : "", t->line.size }, error);
            gx_buf_reset(&t->line);
            part++;
        }
        bytes += part;
        size -= part;
    }
    return rc;
}

static int take_file(taking *t, const char *path, gale_error *error) {
    static char bytes[64 << 10];
    int fd, rc = gx_file_open(path, &fd, NULL, error);
    if (rc < 0) return rc;
    int64_t got;
    while ((got = gx_file_read(fd, bytes, sizeof bytes, path, error)) > 0)
        if ((rc = take_bytes(t, bytes, (size_t)got, error)) < 0) break;
    gx_file_close(fd);
    if (rc == GALE_OK && got < 0) rc = (int)got;
    if (rc == GALE_OK && t->line.size) rc = take_bytes(t, "\n", 1, error);
    return rc == GALE_OK ? gx_saved_import_finish(&t->import, error) : rc;
}

static int count_one(void *user, const void *key, size_t key_size, const void *value, size_t value_size) {
    (void)key, (void)key_size, (void)value, (void)value_size;
    ++*(uint64_t *)user;
    return 0;
}

/* Two lines of one key, or records of one task that do not stand together, are none of an export. */
static int check_pairs(const taking *t, const char *path, gale_error *error) {
    uint64_t count = 0;
    int rc = t->store.iterate(t->store.self, "", 0, NULL, 0, count_one, &count, error);
    if (rc < 0 || count == t->import.pairs) return rc;
    return gale_error_set(error, GALE_INVALID,
                          "%s: %" PRIu64 " of its lines are of a key that another line is of, too, or of a task whose "
                          "records do not stand together",
                          path, t->import.pairs - count);
}

static void remove_part(const taking *t) {
    static const char *const none[] = { NULL };
    if (gx_state_folder_remove(t->part, NULL) == GALE_OK) (void)gx_folder_remove(t->part, none, NULL);
}

static int import_into(taking *t, const char *folder, const char *path, gale_error *error) {
    uint64_t number;
    remove_part(t); /* of one that was killed */
    int rc = take_file(t, path, error);
    if (rc == GALE_OK) rc = t->store.commit(t->store.self, GALE_STORE_SYNC, &number, error);
    if (rc == GALE_OK) rc = check_pairs(t, path, error);
    if (t->open) t->store.close(t->store.self);
    if (rc == GALE_OK) rc = gx_folder_rename(t->part, folder, error);
    if (rc < 0 && t->open) remove_part(t);
    return rc;
}

int gx_state_import(const char *folder, const char *path, uint64_t *ret_checkpoint, gale_error *error) {
    taking t = { .line = GX_BUF_INIT(NULL), .open = false };
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    size_t size = strlen(folder);
    while (size > 1 && folder[size - 1] == '/') size--;
    if (size + 64 > GX_FILE_PATH_MAX) return gale_error_set(error, GALE_TOO_LARGE, "the path is too long");
    snprintf(t.part, sizeof t.part, "%.*s.part", (int)size, folder);
    int rc = gx_folder_check_free(folder, error);
    if (rc == GALE_EXISTS)
        return gale_error_set(error, rc, "'%s' is not empty: an export is made a folder of its own", folder);
    if (rc < 0) return rc;
    gx_saved_import_begin(&t.import, name, put_pair, &t);
    rc = import_into(&t, folder, path, error);
    *ret_checkpoint = t.import.head.checkpoint;
    gx_saved_import_fini(&t.import);
    gx_buf_fini(&t.line);
    return rc;
}

/* --- Forgetting --------------------------------------------------------------------------------------------------- */

static int take_key(void *user, const void *key, size_t key_size, const void *value, size_t value_size) {
    gx_changes *found = user;
    (void)value, (void)value_size;
    gx_changes_remove(found, (gale_str){ key, key_size });
    return found->bytes.failed ? GALE_NO_MEMORY : 0;
}

/* What its tasks have saved: a few keys. */
static int forget_records(const gale_store *store, const gx_buf *prefix, gale_error *error) {
    gx_changes found = GX_CHANGES_INIT(NULL);
    gx_change change;
    int rc = store->iterate(store->self, prefix->data, prefix->size, NULL, 0, take_key, &found, error);
    for (size_t at = 0; rc == GALE_OK && gx_changes_next(&found, &at, &change);)
        rc = store->remove(store->self, change.key.data, change.key.size, error);
    gx_changes_fini(&found);
    return rc;
}

static int forget_one(const gale_store *store, const gx_saved_component *component, gx_buf *prefix, gale_error *error) {
    prefix_of(GX_CUT_TASKS, component->name, prefix);
    if (prefix->failed) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    int rc = forget_records(store, prefix, error);
    if (rc == GALE_OK) rc = gx_keyed_remove_all(NULL, store, component->kept, error);
    prefix_of(GX_CUT_ANEW, component->name, prefix);
    if (rc == GALE_OK && prefix->failed) rc = gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    return rc == GALE_OK ? store->put(store->self, prefix->data, prefix->size, "", 0, error) : rc;
}

int gx_state_forget(const gale_store *store, const gx_saved_head *head, const char *const *components, size_t count,
                    gale_error *error) {
    gx_buf prefix = GX_BUF_INIT(NULL);
    uint64_t number;
    int rc = GALE_OK;
    for (size_t i = 0; rc == GALE_OK && i < count; i++) {
        const gx_saved_component *found = gx_saved_head_find(head, components[i], error);
        rc = found ? forget_one(store, found, &prefix, error) : GALE_NOT_FOUND;
    }
    gx_buf_fini(&prefix);
    if (rc == GALE_OK) rc = store->commit(store->self, GALE_STORE_SYNC, &number, error);
    return rc;
}
