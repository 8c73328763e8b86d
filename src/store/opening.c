#include "store/opening.h"

#include "base/os/entropy.h"
#include "base/os/folder.h"

#include <stdio.h>
#include <string.h>

static int path_of(const gx_store *store, const char *name, char ret_path[GX_FILE_NAME_SIZE], gale_error *error) {
    if (strlen(store->folder) + 32 > GX_FILE_PATH_MAX)
        return gale_error_set(error, GALE_TOO_LARGE, "the path of the folder '%.100s...' is too long", store->folder);
    snprintf(ret_path, GX_FILE_NAME_SIZE, "%.*s/%s", GX_FILE_PATH_MAX - 32, store->folder, name);
    return GALE_OK;
}

static int name_files(gx_store *store, gale_error *error) {
    int rc = path_of(store, GX_STORE_HEAD, store->head, error);
    if (rc == GALE_OK) rc = path_of(store, GX_STORE_MARK, store->mark_path, error);
    if (rc == GALE_OK) rc = path_of(store, GX_STORE_DATA, store->data, error);
    return rc == GALE_OK ? path_of(store, GX_STORE_LOG, store->log, error) : rc;
}

/* --- A new one ---------------------------------------------------------------------------------------------------- */

static int remove_leftovers(const gx_store *store, gale_error *error) {
    static const char *const names[] = { GX_STORE_DATA, GX_STORE_LOG, GX_STORE_MARK, NULL };
    return gx_folder_remove_files(store->folder, names, error);
}

static int connect(gx_store *store, gale_error *error) {
    return gx_connection_open(&store->writer, &store->vfs, store->data, store->cache_bytes / 2, error);
}

static int fill(gx_store *store, gale_error *error) {
    bool all = false;
    int rc = connect(store, error);
    if (rc == GALE_OK) rc = gx_connection_make(&store->writer, error);
    if (rc == GALE_OK) rc = gx_connection_checkpoint(&store->writer, true, &all, error);
    if (rc == GALE_OK) rc = gx_mark_make(&store->mark_file, store->mark_path, &store->mark, error);
    return rc == GALE_OK ? gx_connection_prepare(&store->writer, true, error) : rc;
}

/* "making" stands in its head until everything is there, so that one that was not finished is known. */
static int make(gx_store *store, const char *topology, gale_error *error) {
    gx_head head = { .identity = gx_os_entropy() };
    snprintf(head.topology, sizeof head.topology, "%s", topology);
    snprintf(store->topology, sizeof store->topology, "%s", topology);
    store->mark.identity = head.identity;
    int rc = gx_head_write(store->head, &head, error);
    if (rc == GALE_OK) rc = remove_leftovers(store, error);
    if (rc == GALE_OK) rc = gx_vfs_init(&store->vfs, &store->heap, head.identity, error);
    if (rc == GALE_OK) rc = fill(store, error);
    head.made = true;
    return rc == GALE_OK ? gx_head_write(store->head, &head, error) : rc;
}

static int say_none(const gx_store *store, gale_error *error) {
    return gale_error_set(error, GALE_NOT_FOUND, "there is no store in '%s'", store->folder);
}

/* There is no head: is there anything else? */
static int make_in_empty(gx_store *store, const char *topology, bool create, gale_error *error) {
    static const char *const known[] = { "gale-store.lock", "gale-store.new", NULL };
    char name[256];
    int rc = gx_folder_stranger(store->folder, known, name, error);
    if (rc < 0) return rc;
    if (strcmp(name, GX_STORE_DATA) == 0 || strcmp(name, GX_STORE_LOG) == 0 || strcmp(name, GX_STORE_MARK) == 0)
        return gale_error_set(error, GALE_DAMAGED,
                              "the store '%s' is damaged: 'gale-store' is missing, and '%s' is there", store->folder,
                              name);
    if (name[0])
        return gale_error_set(error, GALE_EXISTS, "'%s' has files ('%s'), but no store: name an empty folder, or none",
                              store->folder, name);
    return create ? make(store, topology, error) : say_none(store, error);
}

/* --- One that is there -------------------------------------------------------------------------------------------- */

static int check_data(const gx_store *store, gale_error *error) {
    gx_file_about about = { 0 };
    int rc = gx_file_about_path(store->data, &about, error);
    if (rc == GALE_NOT_FOUND) return gale_error_set(error, GALE_DAMAGED, "'%s' is missing", store->data);
    if (rc == GALE_OK && (!about.regular || about.size < GX_STORE_PAGE))
        rc = gale_error_set(error, GALE_DAMAGED, "'%s' is damaged: it has %lld bytes", store->data,
                            (long long)about.size);
    return rc;
}

static int refuse_log(const gx_store *store, const gx_log *log, gale_error *error) {
    const gx_mark *mark = &store->mark;
    if (log->there && log->salt == mark->salt)
        return gale_error_set(error, GALE_DAMAGED,
                              "'%s' is damaged or was cut: commit %llu needs %llu frames of it, and %llu are whole",
                              store->log, (unsigned long long)mark->commit, (unsigned long long)mark->frames,
                              (unsigned long long)log->frames);
    return gale_error_set(error, GALE_DAMAGED,
                          "'%s' is damaged, missing or another's: commit %llu needs %llu frames of it", store->log,
                          (unsigned long long)mark->commit, (unsigned long long)mark->frames);
}

static int empty_file(const char *path, gale_error *error) {
    int fd = -1;
    int rc = gx_file_create(path, false, &fd, error);
    return rc == GALE_OK ? gx_file_close_written(fd, path, error) : rc;
}

/* Is the log what the mark says that the database needs? One that it does not need any more goes, with what may have
 * become of it. */
static int check_log(gx_store *store, gale_error *error) {
    gx_log log;
    int rc = gx_log_look(store->log, &store->vfs.sums, &log, error);
    if (rc < 0) return rc;
    bool same = log.there && log.salt == store->mark.salt, fewer = log.frames < store->mark.frames;
    if (store->mark.needed && (!same || fewer)) return refuse_log(store, &log, error);
    store->frames = log.frames;
    store->vfs.no_log = store->read_only && !log.there;
    gx_store_relaxed(&store->vfs.salt, log.salt);
    if (store->mark.needed || !same || log.frames > store->mark.frames) return GALE_OK;
    store->frames = 0;
    store->vfs.no_log = store->read_only;
    return log.size && !store->read_only ? empty_file(store->log, error) : GALE_OK;
}

static int check_number(gx_store *store, gale_error *error) {
    int rc = gx_connection_number(&store->writer, &store->number, error);
    if (rc < 0 || store->number >= store->mark.commit) return rc;
    return gale_error_set(
        error, GALE_DAMAGED,
        "the store '%s' is at commit %llu, but commit %llu was made: '%s' was put back to an older one", store->folder,
        (unsigned long long)store->number, (unsigned long long)store->mark.commit, store->data);
}

static int read_mark(gx_store *store, uint64_t identity, gale_error *error) {
    int rc = gx_mark_open(&store->mark_file, store->mark_path, !store->read_only, &store->mark, error);
    if (rc == GALE_OK && store->mark.identity != identity)
        rc = gale_error_set(error, GALE_DAMAGED, "'%s' is another store's", store->mark_path);
    return rc;
}

static int open_made(gx_store *store, const gx_head *head, const char *topology, gale_error *error) {
    if (topology && strcmp(head->topology, topology) != 0)
        return gale_error_set(error, GALE_STATE, "the store '%s' is of topology '%s', not of '%s'", store->folder,
                              head->topology, topology);
    int rc = read_mark(store, head->identity, error);
    if (rc == GALE_OK) rc = check_data(store, error);
    if (rc == GALE_OK) rc = gx_vfs_init(&store->vfs, &store->heap, head->identity, error);
    store->vfs.read_only = store->read_only;
    if (rc == GALE_OK) rc = check_log(store, error);
    if (rc == GALE_OK) rc = connect(store, error);
    if (rc == GALE_OK) rc = gx_connection_prepare(&store->writer, true, error);
    if (rc == GALE_OK) rc = check_number(store, error);
    if (rc == GALE_OK && !store->read_only) rc = gx_durable_copy(store, error);
    snprintf(store->topology, sizeof store->topology, "%s", head->topology);
    gx_store_relaxed(&store->synced, store->number);
    return rc;
}

/* --- The whole ---------------------------------------------------------------------------------------------------- */

static int find_folder(gx_store *store, bool create, gale_error *error) {
    int rc = gx_folder_look(store->folder, error);
    if (rc != GALE_NOT_FOUND) return rc;
    return create ? gx_folder_make(store->folder, error) : say_none(store, error);
}

int gx_opening_open(gx_store *store, const char *topology, bool create, gale_error *error) {
    gx_head head;
    int rc = name_files(store, error);
    if (rc == GALE_OK) rc = find_folder(store, create, error);
    if (rc == GALE_OK) rc = gx_lock_take(&store->lock, store->head, error);
    if (rc < 0) return rc;
    rc = gx_head_read(store->head, &head, error);
    if (rc == GALE_NOT_FOUND) return make_in_empty(store, topology, create, error);
    if (rc < 0) return rc;
    if (head.made) return open_made(store, &head, topology, error);
    return create ? make(store, topology, error) : say_none(store, error);
}

void gx_opening_undo(gx_store *store) {
    while (store->idle) {
        gx_connection *next = store->idle->next;
        gx_connection_close(store->idle);
        gx_free(&store->heap, GX_TAG_OTHER, store->idle, sizeof *store->idle);
        store->idle = next;
    }
    gx_connection_close(&store->writer);
    if (store->vfs.heap) gx_vfs_fini(&store->vfs);
    gx_mark_close(&store->mark_file);
    gx_lock_release(&store->lock, store->head);
}
