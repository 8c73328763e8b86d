#include "connect/spool/owner.h"

#include "base/os/file.h"

#include <stdio.h>
#include <string.h>

static const char words[] =
    "A durable run of gale (--state) has this disk buffer: its checkpoints say which records are in "
    "it. A run without a state is refused as long as this file is here.\n";

/* How many bytes of a task's folder name the buffer's: "path/0". */
static int size_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path) : 0;
}

static int name_mark(const char *path, char name[GX_FILE_NAME_SIZE], gale_error *error) {
    int size = size_of(path);
    if (strlen(path) > GX_FILE_PATH_MAX)
        return gale_error_set(error, GALE_TOO_LARGE, "'%.100s...': a path that is too long", path);
    snprintf(name, GX_FILE_NAME_SIZE, "%.*s%sdurable", size, path, size ? "/" : "");
    return GALE_OK;
}

int gx_spool_owner_check(const char *path, gale_error *error) {
    char name[GX_FILE_NAME_SIZE];
    gx_file_about about;
    int rc = name_mark(path, name, error);
    if (rc == GALE_OK) rc = gx_file_about_path(name, &about, error);
    if (rc < 0) return rc == GALE_NOT_FOUND ? GALE_OK : rc;
    return gale_error_set(
        error, GALE_STATE,
        "disk buffer '%s': durable runs have it, and would cut off what this one adds: give it --state "
        "or another path (--set), or remove '%s' where no state needs it",
        path, name);
}

int gx_spool_owner_mark(const char *path, gale_error *error) {
    char name[GX_FILE_NAME_SIZE];
    gx_file_about about;
    int rc = name_mark(path, name, error);
    if (rc == GALE_OK) rc = gx_file_about_path(name, &about, error);
    return rc == GALE_NOT_FOUND ? gx_file_replace(name, words, sizeof words - 1, error) : rc;
}
