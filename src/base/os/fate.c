#include "base/os/fate.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Whatever a file system says of the number of its names: what its path leads to has one. Where the path cannot be looked at, as by others
 * than its owner (EACCES), it counts as the file's. */
int gx_fate_of(int fd, const char *path, int64_t least, gx_file_about *ret_about, gale_error *error) {
    gx_file_about open, there = { 0 };
    gale_error why = GALE_ERROR_INIT;
    int rc = gx_file_about_open(fd, path, &open, error);
    if (rc < 0) return rc;
    if (ret_about) *ret_about = open;
    if (!open.regular || strcmp(path, "-") == 0) return GX_FATE_HERE;
    rc = gx_file_about_path(path, &there, &why);
    bool unknown = rc < 0 && rc != GALE_NOT_FOUND && errno == EACCES && open.names;
    if (rc < 0 && rc != GALE_NOT_FOUND && !unknown) return gale_error_set(error, rc, "%s", why.text);
    bool here = unknown || (rc == GALE_OK && there.inode == open.inode && there.device == open.device);
    if (!here && !open.names) return rc == GALE_OK ? GX_FATE_REPLACED : GX_FATE_REMOVED;
    if (open.size < least) return GX_FATE_CUT;
    return here ? GX_FATE_HERE : GX_FATE_RENAMED;
}

int gx_fate_refuse(gx_fate fate, const char *path, const gx_file_about *about, int64_t least, gale_error *error) {
    if (fate == GX_FATE_CUT)
        return gale_error_set(error, GALE_IO,
                              "'%s' was cut by somebody to %" PRId64 " bytes while it is open, of %" PRId64, path,
                              about->size, least);
    return gale_error_set(error, GALE_IO, "'%s' was %s by somebody while it is open", path,
                          fate == GX_FATE_REMOVED    ? "removed"
                          : fate == GX_FATE_REPLACED ? "replaced with another file"
                                                     : "renamed, moved or replaced");
}

int gx_fate_check(int fd, const char *path, int64_t least, gale_error *error) {
    gx_file_about about;
    int fate = gx_fate_of(fd, path, least, &about, error);
    return fate <= GX_FATE_HERE ? fate : gx_fate_refuse((gx_fate)fate, path, &about, least, error);
}
