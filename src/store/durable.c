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
