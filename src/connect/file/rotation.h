/* Files that are full or of another day: they get a number, and another file begins under the name.
 *
 *      access.log --full--> access.log.000001, then access.log.000002, and so on
 *
 * What:    a number is never used twice, so that such a name means the same file for ever, and a run that goes back to a
 *          checkpoint knows by the number alone which files were made since. Six digits at least: they sort, and are no task's
 *          ending. An ending .gz stays the last.
 * Threads: one at a time; the functions that take a path any. Owner: values.
 */
#ifndef GX_CONNECT_FILE_ROTATION_H
#define GX_CONNECT_FILE_ROTATION_H

#include "base/os/file.h"
#include "connect/file/outputs.h"

#include <gale/component.h>

typedef struct gx_rotation {
    uint64_t bytes; /* that a file has at most, unless one line has more; 0: any number */
    int64_t every;  /* nanoseconds, of which whole multiples since 1970 begin files; 0: never */
    uint64_t keep;  /* so many that have a number; 0: all */
} gx_rotation;

GX_INLINE bool gx_rotation_is_on(const gx_rotation *rotation) {
    return rotation->bytes || rotation->every;
}

/* Which multiple `now` is in. */
GX_INLINE int64_t gx_rotation_period(const gx_rotation *rotation, int64_t now) {
    return now / rotation->every - (now % rotation->every < 0);
}

/* The last number that is not kept where `next` is the next one; 0: all are. */
GX_INLINE uint64_t gx_rotation_last_forgotten(const gx_rotation *rotation, uint64_t next) {
    return rotation->keep && next > rotation->keep + 1 ? next - rotation->keep - 1 : 0;
}

/* "path.000007". GALE_TOO_LARGE. */
int gx_rotation_name(const char *path, uint64_t number, char name[GX_FILE_NAME_SIZE], gale_error *error);

/* The highest number beside a file; 0: none. GALE_IO. */
int gx_rotation_last(const char *path, uint64_t *ret_number, gale_error *error);

/* Removes those numbered up to `number`, of which that one goes last. GALE_IO. */
int gx_rotation_forget(const char *path, uint64_t number, gale_error *error);

/* The same after it may have been broken off: there is something to be done if that one is there, and nobody looks at the folder
 * if it is not. */
int gx_rotation_forget_rest(const char *path, uint64_t number, gale_error *error);

/* Removes those from `number` on; there may be no folder for them. GALE_IO. */
int gx_rotation_remove(const char *path, uint64_t number, gale_error *error);

/* Makes it as it was when `next` was the number of the next: later files go, and the one that has this number gets its name
 * back. May be done again after it was broken off. `*ret_undone` says whether there was anything. GALE_STATE: another run has the file;
 * GALE_IO. */
int gx_rotation_undo(const char *path, uint64_t next, bool *ret_undone, gale_error *error);

/* The number that the file gets next: it is looked for once. */
int gx_rotation_next(gx_outputs_file *file, uint64_t *ret_next, gale_error *error);

/* Says in the log that the file is changed, or (`why`) that it is not. */
void gx_rotation_tell_change(const gale_context *context, const char *path, const gale_error *why);

/* Gives the file a number, and opens another one under its name. `sync`: the disk has the lines before, and the
 * number before the name is another file's. What is not written yet
 * stays for the new one. */
int gx_rotation_turn(gx_outputs_file *file, bool sync, gale_error *error);

#endif
