/* Files, with errors that name them. Every function that fails returns a negative gale_error_code and says what and
 * which in `error` (may be NULL). Interrupted calls are resumed. */
#ifndef GX_BASE_OS_FILE_H
#define GX_BASE_OS_FILE_H

#include "base/port.h"

#include <gale/error.h>

/* Opens for reading; "-" is the standard input (its own descriptor, not a copy). GALE_IO for what cannot be opened (errno
 * is then what it was for) and for a directory. `ret_seekable` (may be NULL): is it a regular file? */
int gx_file_open(const char *path, int *ret_fd, bool *ret_seekable, gale_error *error);

/* Opens for writing, made or emptied (or appended to); "-" is the standard output. */
int gx_file_create(const char *path, bool append, int *ret_fd, gale_error *error);

/* Closes; leaves the standard descriptors open. */
void gx_file_close(int fd);

/* The same for what was written, to a file system that may say only now that it has not kept it. */
int gx_file_close_written(int fd, const char *path, gale_error *error);

/* Reads up to `size` bytes; 0 at the end. */
int64_t gx_file_read(int fd, void *bytes, size_t size, const char *path, gale_error *error);

/* The same at a place, for regular files. */
int64_t gx_file_read_at(int fd, void *bytes, size_t size, int64_t offset, const char *path, gale_error *error);

/* The same until there are `size` bytes, or the end. */
int64_t gx_file_read_all_at(int fd, char *bytes, size_t size, int64_t offset, const char *path, gale_error *error);

/* Where the next gx_file_read of it begins; negative: it has no such place. */
int64_t gx_file_offset(int fd);

/* Writes all. GALE_CLOSED_PIPE when the reader has gone, else GALE_IO. A program must ignore SIGPIPE. */
int gx_file_write(int fd, const void *bytes, size_t size, const char *path, gale_error *error);

/* Writes what a pipe takes without being waited for: how many bytes; 0: nothing, or the system cannot say. */
size_t gx_file_write_now(int fd, const void *bytes, size_t size);

/* Writes all at the end of a file, or nothing: what a write that failed has left there is cut off again, if it is the
 * end of a regular file still. */
int gx_file_append(int fd, const void *bytes, size_t size, const char *path, gale_error *error);

/* Makes it `size` bytes long. */
int gx_file_cut(int fd, int64_t size, const char *path, gale_error *error);

/* Waits until the disk has what was written. Does nothing for pipes and the like, which have none. */
int gx_file_sync(int fd, const char *path, gale_error *error);

/* Waits until the disk has the name of a file that was made or renamed: what is synced without it may be found nowhere. The
 * path has at most GX_FILE_PATH_MAX bytes. */
int gx_file_sync_name(const char *path, gale_error *error);

/* The same as gx_file_sync for its bytes alone: the time of the last change may be lost. Where a file is written over, this spares most of
 * the wait. */
int gx_file_sync_data(int fd, const char *path, gale_error *error);

/* Where the last line begins of the `size` bytes that a regular file, open for reading, has: what stands behind the
 * last newline. Negative when it cannot be read. */
int64_t gx_file_last_line(int fd, int64_t size, const char *path, gale_error *error);

/* What a file is: device and inode name it as long as it exists. */
typedef struct gx_file_about {
    uint64_t device;
    uint64_t inode;
    int64_t size;
    int64_t modified; /* when it was written to last, in nanoseconds since 1970 */
    uint64_t names;   /* that it has: 0 for one that was removed, and is open still */
    bool regular;
} gx_file_about;

/* Of an open file, and of the one at `path` without opening it: GALE_NOT_FOUND, with no report, when there is none. */
int gx_file_about_open(int fd, const char *path, gx_file_about *ret_about, gale_error *error);
int gx_file_about_path(const char *path, gx_file_about *ret_about, gale_error *error);

/* When the open file, or the one at `path` (`fd` -1), was made, in nanoseconds since 1970: with its inode, which is used again, that
 * is no other's. 0: the file system does not say. */
int64_t gx_file_born(int fd, const char *path);

enum { GX_FILE_PATH_MAX = 4000, GX_FILE_NAME_SIZE = GX_FILE_PATH_MAX + 16 };

/* What stands in the symbolic link at `path`. False when none is there, or one that is longer. */
bool gx_file_link(const char *path, char ret_target[GX_FILE_NAME_SIZE]);

/* `path` with `ending` (at most 15 bytes) behind it. GALE_TOO_LARGE for a path of more than GX_FILE_PATH_MAX bytes. */
int gx_file_beside(const char *path, const char *ending, char name[GX_FILE_NAME_SIZE], gale_error *error);

/* Gives a file another name, which nobody has; and removes one, which need not be there. GALE_IO. */
int gx_file_rename(const char *from, const char *to, gale_error *error);
int gx_file_remove(const char *path, gale_error *error);

/* Makes `path` hold these bytes, durably, and all of them or what it held before, whatever happens meanwhile: they go
 * to `path`.new, which then takes its name. That one is made anew and for its owner alone; a regular file of its name is
 * taken for what a killed process left and goes, anything else there is refused: a link is not followed, a pipe not
 * waited for. One process at a time (base/os/lock.h). The path has at most GX_FILE_PATH_MAX bytes (GALE_TOO_LARGE). */
int gx_file_replace(const char *path, const void *bytes, size_t size, gale_error *error);

/* The whole file, with a NUL behind it, from malloc; at most `limit` bytes (GALE_TOO_LARGE). */
int gx_file_read_all(const char *path, size_t limit, char **ret_bytes, size_t *ret_size, gale_error *error);

/* The same of a file that gx_file_replace wrote. GALE_NOT_FOUND, with no report, when there is none; GALE_INVALID, at
 * once, when it is a link, a pipe or anything else that is no regular file. */
int gx_file_read_own(const char *path, size_t limit, char **ret_bytes, size_t *ret_size, gale_error *error);

#endif
