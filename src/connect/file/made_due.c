#include "connect/file/made_due.h"

#include "base/os/folder.h"
#include "base/os/place.h"
#include "connect/file/rotation.h"

#include <stdlib.h>

typedef struct duty {
    gx_made_due due;
    size_t path; /* in `paths` */
} duty;

typedef struct duties {
    size_t count;
    const char *paths; /* behind the list */
    duty list[];
} duties;

/* By its name: a descriptor that was kept for this would keep its lock. One that is not there any more was taken away by somebody. */
static int sync_file(const char *path, uint64_t inode, gale_error *error) {
    gx_file_about about;
    char beside[GX_FILE_NAME_SIZE];
    int fd, rc = gx_file_about_path(path, &about, error);
    if (rc < 0 && rc != GALE_NOT_FOUND) return rc;
    bool own = rc == 0 && about.inode == inode;
    if (!own && gx_place_beside(path, inode, beside) > 0)
        path = beside;
    else if (rc == GALE_NOT_FOUND)
        return 0;
    rc = gx_file_create(path, true, &fd, error);
    if (rc < 0) return rc;
    rc = gx_file_sync(fd, path, error);
    gx_file_close(fd);
    return rc;
}

int gx_made_sync_name(const char *path, gale_error *error) {
    int rc = gx_folder_look_beside(path, error);
    return rc == GALE_NOT_FOUND ? 0 : rc < 0 ? rc : gx_file_sync_name(path, error);
}

static size_t folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash + 1 - path) : 0;
}

/* A name is synced after the bytes that it names; those of a folder that follow one another, in one go. */
static int prepare_duties(void *pledge, gale_error *error) {
    const duties *d = pledge;
    const char *before = NULL;
    int rc = 0;
    for (size_t i = 0; i < d->count && rc == 0; i++)
        rc = sync_file(d->paths + d->list[i].path, d->list[i].due.inode, error);
    for (size_t i = 0; i < d->count && rc == 0; i++) {
        const char *path = d->paths + d->list[i].path;
        size_t size = folder_of(path);
        bool same = before && folder_of(before) == size && memcmp(before, path, size) == 0;
        if (!same) rc = gx_made_sync_name(path, error);
        before = path;
    }
    return rc;
}

static int commit_duties(void *pledge, gale_error *error) {
    const duties *d = pledge;
    int rc = 0;
    for (size_t i = 0; i < d->count && rc == 0; i++)
        rc = gx_rotation_forget(d->paths + d->list[i].path, d->list[i].due.forget, error);
    return rc;
}

static const gale_pledge_ops duty_ops = {
    .size = sizeof duty_ops, .prepare = prepare_duties, .commit = commit_duties, .drop = free
};

static duties *take_duties(const gx_bytes_map *all) {
    size_t count = gx_bytes_map_size(all), bytes = 0, at = 0;
    gale_str path;
    for (size_t i = 0; i < count; i++) {
        gx_bytes_map_at(all, i, &path);
        bytes += path.size + 1;
    }
    duties *made = malloc(sizeof *made + count * sizeof *made->list + bytes);
    if (!made) return NULL;
    char *paths = (char *)(made->list + count);
    *made = (duties){ .count = count, .paths = paths };
    for (size_t i = 0; i < count; i++) {
        const gx_made_due *what = gx_bytes_map_at(all, i, &path);
        made->list[i] = (duty){ *what, at };
        memcpy(paths + at, path.data, path.size);
        paths[at + path.size] = 0;
        at += path.size + 1;
    }
    return made;
}

int gx_made_pledge(gx_bytes_map *due, gale_saver *to, gale_error *error) {
    if (!gx_bytes_map_size(due)) return 0;
    duties *list = take_duties(due);
    int rc = list ? gale_save_pledge(to, &duty_ops, list) : GALE_NO_MEMORY;
    if (rc < 0) return gale_error_set(error, rc, "%s", gale_error_text(rc));
    gx_bytes_map_clear(due);
    return 0;
}
