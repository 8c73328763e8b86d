#include "base/os/place.h"

#include "base/hash.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

static int hash_sample(int fd, int64_t from, size_t size, const char *path, uint64_t *hash, gale_error *error) {
    char sample[GX_PLACE_SAMPLE];
    int64_t have = gx_file_read_all_at(fd, sample, size, from, path, error);
    if (have < 0) return (int)have;
    *hash = gx_hash_bytes(sample, (size_t)have, *hash); /* shorter than it was: another content */
    return GALE_OK;
}

int gx_place_content(int fd, int64_t offset, const char *path, uint64_t *ret_hash, gale_error *error) {
    size_t size = offset < GX_PLACE_SAMPLE ? (size_t)offset : GX_PLACE_SAMPLE;
    uint64_t hash = 0;
    int rc = hash_sample(fd, 0, size, path, &hash, error);
    if (rc == GALE_OK) rc = hash_sample(fd, offset - (int64_t)size, size, path, &hash, error);
    if (rc == GALE_OK) *ret_hash = hash;
    return rc;
}

static bool is_file(const char *path, uint64_t inode) {
    gx_file_about about;
    return gx_file_about_path(path, &about, NULL) == GALE_OK && about.regular && about.inode == inode;
}

/* The entry of that inode whose name is not `own`. */
static bool look(DIR *folder, const char *before, int before_size, const char *own, uint64_t inode, char *name) {
    for (const struct dirent *one; (one = readdir(folder));) {
        if (one->d_ino != inode || strcmp(one->d_name, own) == 0) continue;
        int size = snprintf(name, GX_FILE_NAME_SIZE, "%.*s%s", before_size, before, one->d_name);
        if (size < GX_FILE_NAME_SIZE && is_file(name, inode)) return true;
    }
    return false;
}

int gx_place_beside(const char *path, uint64_t inode, char name[GX_FILE_NAME_SIZE]) {
    const char *slash = strrchr(path, '/');
    int before = slash ? (int)(slash + 1 - path) : 0;
    if (before > GX_FILE_PATH_MAX) return 0;
    snprintf(name, GX_FILE_NAME_SIZE, "%.*s", before ? before : 1, before ? path : ".");
    DIR *folder = opendir(name);
    if (!folder) return 0;
    bool found = look(folder, path, before, path + before, inode, name);
    closedir(folder);
    return found;
}
