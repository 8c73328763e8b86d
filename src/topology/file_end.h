/* The end of a file that a durable run writes: sinks and dead letters. What stands before the end belongs to a checkpoint;
 * what stands behind it, after a crash, was written since and is cut off again.
 *
 *     made --> written to by its task --> save (a record, and a pledge) --> ... --> closed by the task
 *                                            on the committer's thread: the file is synced, and its name
 *
 * Threads: one, but for the pledges. The descriptor is open until the task and all pledges have let go of it.
 * Owner:   memory is malloc's, because pledges may outlive their task. */
#ifndef GX_TOPOLOGY_FILE_END_H
#define GX_TOPOLOGY_FILE_END_H

#include <gale/error.h>
#include <gale/state.h>

typedef struct gx_file_end gx_file_end;

/* Takes `fd`, a regular file that is open for appending, over. `path` is copied, and has at most GX_FILE_PATH_MAX bytes:
 * GALE_TOO_LARGE; GALE_NO_MEMORY, GALE_IO: the caller has it still. A file that cannot be read is known by its inode
 * alone. */
int gx_file_end_make(int fd, const char *path, gx_file_end **ret_end, gale_error *error);

int gx_file_end_fd(const gx_file_end *end);
const char *gx_file_end_path(const gx_file_end *end);

/* Closes it, when no pledge has it any more; else the last of them does. NULL is allowed. */
int gx_file_end_close(gx_file_end *end, gale_error *error);

/* Saves one record, that its end is behind `size` bytes, and pledges that these will be on the disk. */
int gx_file_end_save(gx_file_end *end, int64_t size, gale_saver *to, gale_error *error);

/* The values of that record, for who keeps them elsewhere, and syncs the file. Borrowed from the end. */
enum { GX_FILE_END_INODE = 3, GX_FILE_END_SIZE = 4, GX_FILE_END_VALUES = 7 };
int gx_file_end_values(gx_file_end *end, int64_t size, gale_value values[GX_FILE_END_VALUES], gale_error *error);

/* What became of the file since the checkpoint. */
typedef struct gx_file_end_found {
    int64_t size;   /* its end */
    int64_t cut;    /* bytes behind it that were cut off */
    bool elsewhere; /* it was renamed: gx_file_end_path says to what */
    bool copied;    /* another file with what it held */
} gx_file_end_found;

/* Takes that record, opens the file at `path`, or beside it when it was renamed, locks it, and cuts it back to its end. A
 * file that is gone is made anew when nothing of it is missing. GALE_INVALID, with a sentence: it is shorter, another one,
 * or gone; GALE_DAMAGED: no such record; GALE_STATE: another run has it; GALE_IO, GALE_NO_MEMORY: nothing was cut. */
int gx_file_end_restore(gale_saved *from, const char *path, gx_file_end **ret_end, gx_file_end_found *ret_found,
                        gale_error *error);

/* The two halves of that: finds, locks and checks the file that such values of a checkpoint are of, and cuts it. */
int gx_file_end_find(const gale_value *values, size_t count, uint64_t checkpoint, const char *path,
                     gx_file_end **ret_end, gx_file_end_found *ret_found, gale_error *error);
int gx_file_end_cut(const gx_file_end *end, const gx_file_end_found *found, gale_error *error);

#endif
