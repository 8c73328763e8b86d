/* The fate of a file that is open and written to: whether somebody else has removed, renamed, replaced or cut it meanwhile. The
 * system goes on taking what is written to a file that no name leads to any more, and says nothing.
 * Threads: any. */
#ifndef GX_BASE_OS_FATE_H
#define GX_BASE_OS_FATE_H

#include "base/os/file.h"

typedef enum gx_fate {
    GX_FATE_HERE,
    GX_FATE_RENAMED, /* its path is another file's, or nobody's, and it has another name */
    GX_FATE_CUT,     /* it has fewer bytes than it had */
    GX_FATE_REMOVED, /* it has no name: nobody can find it when it is closed */
    GX_FATE_REPLACED /* the same, and its path is another file's (`sed -i`, `mv`) */
} gx_fate;

/* Of a regular file with `least` bytes at least that was opened at `path`; others are GX_FATE_HERE. `ret_about` (may be NULL): what it is.
 * A gx_fate, or GALE_IO. */
int gx_fate_of(int fd, const char *path, int64_t least, gx_file_about *ret_about, gale_error *error);

/* For a file that nobody else has business with: GALE_OK, or GALE_IO with a sentence that says what was done to it. */
int gx_fate_check(int fd, const char *path, int64_t least, gale_error *error);

/* That sentence, of any fate but GX_FATE_HERE: "'p' was removed while it is open". Returns GALE_IO. */
int gx_fate_refuse(gx_fate fate, const char *path, const gx_file_about *about, int64_t least, gale_error *error);

#endif
