#include "store/durable.h"

#include "base/os/file.h"

#include <stdio.h>
#include <string.h>

int gx_durable_break(gx_store *store, int rc, const gale_error *error) {
    if (!store->why[0])
        snprintf(store->why, sizeof store->why, "%.*s", GX_STORE_WHY - 1, error ? error->text : gale_error_text(rc));
    return rc;
}

int gx_durable_check(const gx_store *store, gale_error *error) {
    if (store->read_only)
        return gale_error_set(error, GALE_STATE, "the store '%s' was opened to be read alone", store->folder);
    if (!store->why[0]) return GALE_OK;
    return gale_error_set(error, GALE_STATE, "the store '%s' takes nothing more, since it has failed: %s",
                          store->folder, store->why);
}

int gx_durable_mark(gx_store *store, bool needed, gale_error *error) {
    gale_error here = GALE_ERROR_INIT;
    gx_mark mark = { store->mark.identity, store->number, gx_load_relaxed(&store->vfs.salt), store->frames, needed };
    int rc = gx_mark_put(&store->mark_file, &mark, &here);
    if (rc < 0) {
        if (error) gale_error_set(error, rc, "%s", here.text);
        return gx_durable_break(store, rc, &here);
    }
    store->mark = mark;
    gx_store_relaxed(&store->synced, store->number);
    return GALE_OK;
}

/* One that is not open here: known by its inode since it was seen first. */
static int look_at(const char *path, gx_file_about *seen, int64_t least, gale_error *error) {
    gx_file_about now = { 0 };
    int rc = gx_file_about_path(path, &now, error);
    if (rc < 0 && rc != GALE_NOT_FOUND) return rc;
    bool there = rc == GALE_OK, same = there && now.inode == seen->inode && now.device == seen->device;
    if ((seen->inode && !same) || (!there && least))
        return gx_fate_refuse(there ? GX_FATE_RENAMED : GX_FATE_REMOVED, path, &now, least, error);
    if (now.size < least) return gx_fate_refuse(GX_FATE_CUT, path, &now, least, error);
    *seen = now;
    return GALE_OK;
}

static int look(gx_store *store, gale_error *error) {
    char lock[GX_FILE_NAME_SIZE];
    int64_t frames = store->frames ? GX_LOG_HEAD + (int64_t)store->frames * GX_LOG_FRAME : 0;
    int rc = gx_file_beside(store->head, ".lock", lock, error);
    if (rc == GALE_OK) rc = gx_fate_check(store->lock.fd, lock, 0, error);
    if (rc == GALE_OK) rc = gx_mark_check(&store->mark_file, error);
    if (rc == GALE_OK)
        rc = look_at(store->head, &store->seen[2], store->seen[2].inode ? store->seen[2].size : 1, error);
    if (rc == GALE_OK) rc = look_at(store->data, &store->seen[0], store->seen[0].size, error);
    return rc == GALE_OK ? look_at(store->log, &store->seen[1], frames, error) : rc;
}

int gx_durable_look(gx_store *store, gale_error *error) {
    gale_error why = GALE_ERROR_INIT;
    int rc = look(store, &why);
    if (rc == GALE_OK) return rc;
    gale_error_add(
        &why,
        "the state in '%s' is not what was committed any more, and nothing that is committed from now on would "
        "last; put the folder back and start again, or begin anew with another one",
        store->folder);
    if (error) *error = why;
    return gx_durable_break(store, rc, &why);
}

/* Commits that were not synced. */
static int catch_up(gx_store *store, gale_error *error) {
    int fd = -1;
    if (store->mark.needed && store->mark.commit == store->number) return GALE_OK;
    int rc = gx_file_open(store->log, &fd, NULL, error);
    if (rc < 0) return rc;
    rc = gx_file_sync_data(fd, store->log, error);
    gx_file_close(fd);
    return rc == GALE_OK ? gx_durable_mark(store, true, error) : gx_durable_break(store, rc, error);
}

int gx_durable_copy(gx_store *store, gale_error *error) {
    bool all = false;
    if (!store->frames) return GALE_OK;
    int rc = catch_up(store, error);
    if (rc == GALE_OK) rc = gx_connection_checkpoint(&store->writer, false, &all, error);
    if (rc < 0 || !all) return rc;
    rc = gx_durable_mark(store, false, error);
    if (rc == GALE_OK) store->frames = 0;
    return rc;
}
