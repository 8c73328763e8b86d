#include "topology/file_swap.h"

#include "base/os/file.h"
#include "base/os/lock.h"
#include "base/os/place.h"

#include <string.h>

int gx_file_swap_is_due(int fd, const char *path, gale_error *error) {
    gx_file_about open, there;
    if (strcmp(path, "-") == 0) return 0;
    int rc = gx_file_about_open(fd, path, &open, error);
    if (rc < 0 || !open.regular) return rc;
    rc = gx_file_about_path(path, &there, error);
    if (rc == GALE_NOT_FOUND) return 1;
    return rc < 0 ? rc : there.inode != open.inode || there.device != open.device;
}

int gx_file_swap_announce(gx_file_swap *swap, int fd, const char *path, gale_error *error) {
    gx_file_about next;
    int rc = gx_file_about_open(fd, path, &next, error);
    if (rc < 0) return rc;
    swap->announced = true;
    swap->size = next.size;
    swap->inode = (int64_t)next.inode;
    swap->born = gx_file_born(fd, path);
    return 0;
}

static int cut(const char *path, int64_t size, gale_error *error) {
    int fd, rc = gx_file_create(path, true, &fd, error);
    if (rc < 0) return rc;
    rc = gx_lock_open(fd, path, error);
    if (rc == 0) rc = gx_file_cut(fd, size, path, error);
    if (rc == 0) rc = gx_file_sync(fd, path, error);
    gx_file_close(fd);
    return rc;
}

/* 1: it is what has the name; 0: it is not. */
static int is_at(const gx_file_swap *announced, const char *name, gx_file_about *ret_there, gale_error *error) {
    int rc = gx_file_about_path(name, ret_there, error);
    if (rc < 0) return rc == GALE_NOT_FOUND ? 0 : rc;
    return ret_there->regular && ret_there->inode == (uint64_t)announced->inode &&
           gx_file_born(-1, name) == announced->born;
}

/* It may have been renamed again; then it is known by when it was made. */
int gx_file_swap_undo(const gx_file_swap *announced, const char *path, int64_t *ret_cut, gale_error *error) {
    char name[GX_FILE_NAME_SIZE];
    gx_file_about there;
    *ret_cut = 0;
    int rc = is_at(announced, path, &there, error);
    if (rc == 0 && announced->born && gx_place_beside(path, (uint64_t)announced->inode, name) > 0) {
        path = name;
        rc = is_at(announced, path, &there, error);
    }
    if (rc <= 0 || there.size <= announced->size) return rc;
    *ret_cut = there.size - announced->size;
    rc = cut(path, announced->size, error);
    return rc < 0 ? rc : 1;
}
