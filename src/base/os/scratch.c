#include "base/os/scratch.h"

#include "base/os/folder.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DESCRIPTORS = 16 };

int gx_scratch_make(const char *name, char ret_path[GX_SCRATCH_PATH], gale_error *error) {
    const char *root = getenv("TMPDIR");
    char path[GX_SCRATCH_PATH];
    int size = snprintf(path, sizeof path, "%s/%s-XXXXXX", root && *root ? root : "/tmp", name);
    if (size < 0 || (size_t)size >= sizeof path)
        return gale_error_set(error, GALE_TOO_LARGE, "TMPDIR is too long: '%.60s...'", root);
    if (!mkdtemp(path))
        return gale_error_set(error, GALE_IO, "cannot make a folder like '%s': %s", path, strerror(errno));
    memcpy(ret_path, path, sizeof path);
    return GALE_OK;
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where) {
    (void)about, (void)kind, (void)where;
    return remove(path);
}

int gx_scratch_remove(const char *path, gale_error *error) {
    if (nftw(path, remove_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS) == 0) return GALE_OK;
    return gale_error_set(error, GALE_IO, "cannot remove '%s': %s", path, strerror(errno));
}

bool gx_scratch_below(const char *folder, const char *path, char *out, size_t room) {
    size_t used = strlen(folder);
    if (used >= room) return false;
    memcpy(out, folder, used);
    while (*path) {
        size_t size = strcspn(path, "/");
        bool up = size == 2 && memcmp(path, "..", 2) == 0;
        if (used + size + 2 > room) return false;
        if (size) {
            out[used++] = '/';
            memcpy(out + used, up ? "up" : path, size);
            used += size;
        }
        path += size + (path[size] == '/');
    }
    out[used] = 0;
    return true;
}

int gx_scratch_lead(const char *folder, const char *path, char *out, size_t room, gale_error *error) {
    char way[GX_SCRATCH_PATH];
    if (!gx_scratch_below(folder, path, out, room))
        return gale_error_set(error, GALE_TOO_LARGE, "the path '%.60s...' is too long", path);
    size_t size = strcspn(out, "{");
    if (size >= sizeof way) return gale_error_set(error, GALE_TOO_LARGE, "the path '%.60s...' is too long", path);
    memcpy(way, out, size);
    way[size] = 0;
    return gx_folder_make_way(way, false, error);
}
