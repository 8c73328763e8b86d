#include "base/os/file.h"

#include "base/os/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static bool is_standard(const char *path) {
    return strcmp(path, "-") == 0;
}

/* How a path is called in a message. */
static const char *called(const char *path, const char *standard) {
    return is_standard(path) ? standard : path;
}

static int refuse_directory(const char *path, gale_error *error) {
    return gale_error_set(error, GALE_IO, "'%s' is a directory", path);
}

static int open_again(const char *path, int flags, mode_t mode) {
    int fd;
    do fd = gx_disk_now()->open(path, flags | O_CLOEXEC, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* Looks at what was opened: a directory is refused here, because reading it would fail only later. */
static int look(int fd, const char *path, bool *ret_seekable, gale_error *error) {
    struct stat about;
    if (gx_disk_now()->about(fd, &about) != 0)
        return gale_error_set(error, GALE_IO, "cannot open '%s': %s", called(path, "standard input"), strerror(errno));
    if (S_ISDIR(about.st_mode)) return refuse_directory(called(path, "standard input"), error);
    if (ret_seekable) *ret_seekable = S_ISREG(about.st_mode);
    return GALE_OK;
}

int gx_file_open(const char *path, int *ret_fd, bool *ret_seekable, gale_error *error) {
    int fd = is_standard(path) ? STDIN_FILENO : open_again(path, O_RDONLY, 0), why = errno;
    if (fd < 0) {
        gale_error_set(error, GALE_IO, "cannot open '%s': %s", path, strerror(why));
        errno = why;
        return GALE_IO;
    }
    int failed = look(fd, path, ret_seekable, error);
    if (failed)
        gx_file_close(fd);
    else
        *ret_fd = fd;
    return failed;
}

static int refuse_create(const char *path, gale_error *error) {
    if (errno == EISDIR) return refuse_directory(path, error);
    return gale_error_set(error, GALE_IO, "cannot open '%s' for writing: %s", path, strerror(errno));
}

int gx_file_create(const char *path, bool append, int *ret_fd, gale_error *error) {
    if (is_standard(path)) {
        *ret_fd = STDOUT_FILENO;
        return GALE_OK;
    }
    int fd = open_again(path, O_WRONLY | O_CREAT | (append ? O_APPEND : O_TRUNC), 0666);
    if (fd < 0) return refuse_create(path, error);
    *ret_fd = fd;
    return GALE_OK;
}

void gx_file_close(int fd) {
    if (fd > STDERR_FILENO) gx_disk_now()->close(fd);
}

/* After a call that failed: may it be repeated? A descriptor that somebody else made non-blocking (terminals are
 * shared) is waited for, so that callers need not care. */
static bool resume(int fd, short events) {
    if (errno == EINTR) return true;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return false;
    struct pollfd one = { .fd = fd, .events = events };
    return poll(&one, 1, -1) >= 0 || errno == EINTR;
}

static int refuse_read(const char *path, gale_error *error) {
    return gale_error_set(error, GALE_IO, "cannot read '%s': %s", called(path, "standard input"), strerror(errno));
}

static size_t at_once(size_t size) {
    return size < ((size_t)1 << 30) ? size
                                    : (size_t)1 << 30; /* more than about 2 GiB a call is refused by some systems */
}

int64_t gx_file_read(int fd, void *bytes, size_t size, const char *path, gale_error *error) {
    ssize_t got;
    do got = gx_disk_now()->read(fd, bytes, at_once(size));
    while (got < 0 && resume(fd, POLLIN));
    return got >= 0 ? got : refuse_read(path, error);
}

int64_t gx_file_read_at(int fd, void *bytes, size_t size, int64_t offset, const char *path, gale_error *error) {
    ssize_t got;
    do got = gx_disk_now()->pread(fd, bytes, at_once(size), offset);
    while (got < 0 && resume(fd, POLLIN));
    return got >= 0 ? got : refuse_read(path, error);
}

static int refuse_write(const char *path, gale_error *error) {
    const char *name = called(path, "standard output");
    if (errno == EPIPE) return gale_error_set(error, GALE_CLOSED_PIPE, "cannot write '%s': its reader has gone", name);
    return gale_error_set(error, GALE_IO, "cannot write '%s': %s", name, strerror(errno));
}

/* Counts in `*put` what was written. */
static int write_on(int fd, const char *bytes, size_t size, size_t *put, const char *path, gale_error *error) {
    while (*put < size) {
        ssize_t more = gx_disk_now()->write(fd, bytes + *put, at_once(size - *put));
        if (more == 0) errno = ENOSPC; /* what takes nothing, and does not say why, would be asked for ever */
        if (more == 0 || (more < 0 && !resume(fd, POLLOUT))) return refuse_write(path, error);
        if (more > 0) *put += (size_t)more;
    }
    return GALE_OK;
}

int gx_file_write(int fd, const void *bytes, size_t size, const char *path, gale_error *error) {
    size_t put = 0;
    return write_on(fd, bytes, size, &put, path, error);
}

size_t gx_file_write_now(int fd, const void *bytes, size_t size) {
    ssize_t put = -1;
#ifdef RWF_NOWAIT
    struct iovec piece = { (void *)(uintptr_t)bytes, size };
    put = pwritev2(fd, &piece, 1, -1, RWF_NOWAIT);
#else
    (void)fd, (void)bytes, (void)size;
#endif
    return put > 0 ? (size_t)put : 0;
}

int gx_file_close_written(int fd, const char *path, gale_error *error) {
    if (fd <= STDERR_FILENO || gx_disk_now()->close(fd) == 0 || errno == EINTR) return GALE_OK; /* closed in any case */
    return refuse_write(path, error);
}

int gx_file_cut(int fd, int64_t size, const char *path, gale_error *error) {
    int rc;
    do rc = gx_disk_now()->truncate(fd, size);
    while (rc != 0 && errno == EINTR);
    return rc == 0 ? GALE_OK : refuse_write(path, error);
}

/* Takes back the last `size` bytes that were written. They are not the end any more when another process has written
 * behind them. */
static void take_back(int fd, size_t size) {
    struct stat about;
    off_t end = gx_disk_now()->seek(fd, 0, SEEK_CUR);
    if (!size || end < (off_t)size || gx_disk_now()->about(fd, &about) != 0) return;
    if (S_ISREG(about.st_mode) && about.st_size == end) (void)gx_file_cut(fd, end - (off_t)size, "", NULL);
}

int gx_file_append(int fd, const void *bytes, size_t size, const char *path, gale_error *error) {
    size_t put = 0;
    int rc = write_on(fd, bytes, size, &put, path, error);
    if (rc < 0) take_back(fd, put);
    return rc;
}

int64_t gx_file_read_all_at(int fd, char *bytes, size_t size, int64_t offset, const char *path, gale_error *error) {
    size_t have = 0;
    while (have < size) {
        int64_t got = gx_file_read_at(fd, bytes + have, size - have, offset + (int64_t)have, path, error);
        if (got < 0) return got;
        if (got == 0) break;
        have += (size_t)got;
    }
    return (int64_t)have;
}

int64_t gx_file_last_line(int fd, int64_t size, const char *path, gale_error *error) {
    char bytes[4096];
    for (int64_t end = size; end > 0;) {
        int64_t begin = end > (int64_t)sizeof bytes ? end - (int64_t)sizeof bytes : 0;
        int64_t got = gx_file_read_all_at(fd, bytes, (size_t)(end - begin), begin, path, error);
        if (got < 0) return got;
        const char *newline = got ? memrchr(bytes, '\n', (size_t)got) : NULL;
        if (newline) return begin + (newline - bytes) + 1;
        end = begin;
    }
    return 0;
}

int64_t gx_file_offset(int fd) {
    return gx_disk_now()->seek(fd, 0, SEEK_CUR);
}

static gx_file_about about_of(const struct stat *found) {
    return (gx_file_about){ .device = found->st_dev,
                            .inode = found->st_ino,
                            .size = found->st_size,
                            .regular = S_ISREG(found->st_mode),
                            .names = found->st_nlink,
                            .modified = found->st_mtim.tv_sec * INT64_C(1000000000) + found->st_mtim.tv_nsec };
}

static int refuse_look(const char *path, gale_error *error) {
    return gale_error_set(error, GALE_IO, "cannot look at '%s': %s", path, strerror(errno));
}

int gx_file_about_open(int fd, const char *path, gx_file_about *ret_about, gale_error *error) {
    struct stat found;
    if (gx_disk_now()->about(fd, &found) != 0) return refuse_look(called(path, "standard input"), error);
    *ret_about = about_of(&found);
    return GALE_OK;
}

int gx_file_about_path(const char *path, gx_file_about *ret_about, gale_error *error) {
    struct stat found;
    if (gx_disk_now()->about_path(path, &found) != 0)
        return errno == ENOENT ? GALE_NOT_FOUND : refuse_look(path, error);
    *ret_about = about_of(&found);
    return GALE_OK;
}

int64_t gx_file_born(int fd, const char *path) {
    struct statx found;
    int rc = fd >= 0 ? statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &found)
                     : statx(AT_FDCWD, path, 0, STATX_BTIME, &found);
    if (rc != 0 || !(found.stx_mask & STATX_BTIME)) return 0;
    return found.stx_btime.tv_sec * INT64_C(1000000000) + found.stx_btime.tv_nsec;
}

bool gx_file_link(const char *path, char ret_target[GX_FILE_NAME_SIZE]) {
    ssize_t size = gx_disk_now()->read_link(path, ret_target, GX_FILE_NAME_SIZE);
    if (size < 0 || size == GX_FILE_NAME_SIZE) return false;
    ret_target[size] = 0;
    return true;
}

int gx_file_rename(const char *from, const char *to, gale_error *error) {
    if (gx_disk_now()->rename(from, to) == 0) return GALE_OK;
    return gale_error_set(error, GALE_IO, "cannot rename '%s' to '%s': %s", from, to, strerror(errno));
}

int gx_file_remove(const char *path, gale_error *error) {
    if (gx_disk_now()->unlink(path) == 0 || errno == ENOENT) return GALE_OK;
    return gale_error_set(error, GALE_IO, "cannot remove '%s': %s", path, strerror(errno));
}

static int sync_fd(int fd) {
    int rc;
    do rc = gx_disk_now()->sync(fd);
    while (rc != 0 && errno == EINTR);
    return rc;
}

int gx_file_sync(int fd, const char *path, gale_error *error) {
    if (sync_fd(fd) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP) return GALE_OK;
    return refuse_write(path, error);
}

int gx_file_sync_data(int fd, const char *path, gale_error *error) {
    int rc;
    do rc = gx_disk_now()->sync_data(fd);
    while (rc != 0 && errno == EINTR);
    if (rc == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP) return GALE_OK;
    return refuse_write(path, error);
}

/* --- Files that belong to a run ----------------------------------------------------------------------------------- */

static const char *kind_name(mode_t mode) {
    if (S_ISLNK(mode)) return "a symbolic link";
    if (S_ISDIR(mode)) return "a directory";
    if (S_ISFIFO(mode)) return "a pipe";
    if (S_ISSOCK(mode)) return "a socket";
    return "a device";
}

int gx_file_beside(const char *path, const char *ending, char name[GX_FILE_NAME_SIZE], gale_error *error) {
    size_t size = strlen(path);
    if (size > GX_FILE_PATH_MAX)
        return gale_error_set(error, GALE_TOO_LARGE, "'%.100s...': a path of %zu bytes, at most %d allowed", path, size,
                              GX_FILE_PATH_MAX);
    snprintf(name, GX_FILE_NAME_SIZE, "%s%s", path, ending);
    return GALE_OK;
}

/* A regular file in the way is what a run left that was killed. Anything else was put there by somebody. */
static int remove_left(const char *path, gale_error *error) {
    struct stat found;
    if (gx_disk_now()->about_link(path, &found) != 0) return errno == ENOENT ? GALE_OK : refuse_look(path, error);
    if (!S_ISREG(found.st_mode))
        return gale_error_set(error, GALE_IO, "'%s' is in the way: it is %s; remove it", path,
                              kind_name(found.st_mode));
    return gx_disk_now()->unlink(path) == 0 || errno == ENOENT ? GALE_OK : refuse_write(path, error);
}

/* A file that was not there, and that nobody else may read. */
static int create_new(const char *path, int *ret_fd, gale_error *error) {
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
    int fd = open_again(path, flags, 0600);
    if (fd < 0 && errno == EEXIST) {
        int rc = remove_left(path, error);
        if (rc < 0) return rc;
        fd = open_again(path, flags, 0600);
    }
    if (fd < 0) return refuse_create(path, error);
    *ret_fd = fd;
    return GALE_OK;
}

/* Nothing is left of it when it fails. */
static int write_synced(const char *path, const void *bytes, size_t size, gale_error *error) {
    int fd = -1;
    int rc = create_new(path, &fd, error);
    if (rc < 0) return rc;
    rc = gx_file_write(fd, bytes, size, path, error);
    if (rc == GALE_OK && sync_fd(fd) != 0) rc = refuse_write(path, error);
    gx_file_close(fd);
    if (rc < 0) gx_disk_now()->unlink(path);
    return rc;
}

/* A file system that cannot do that for folders says EINVAL, and has done what it can. */
int gx_file_sync_name(const char *path, gale_error *error) {
    char folder[GX_FILE_PATH_MAX + 1] = ".";
    const char *slash = strrchr(path, '/');
    if (slash) {
        size_t size = slash == path ? 1 : (size_t)(slash - path);
        memcpy(folder, path, size);
        folder[size] = 0;
    }
    int fd = open_again(folder, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0) return refuse_write(path, error);
    int rc = sync_fd(fd) == 0 || errno == EINVAL ? GALE_OK : refuse_write(path, error);
    gx_file_close(fd);
    return rc;
}

int gx_file_replace(const char *path, const void *bytes, size_t size, gale_error *error) {
    char new_path[GX_FILE_NAME_SIZE];
    int rc = gx_file_beside(path, ".new", new_path, error);
    if (rc == GALE_OK) rc = write_synced(new_path, bytes, size, error);
    if (rc < 0) return rc;
    if (gx_disk_now()->rename(new_path, path) != 0) {
        rc = refuse_write(path, error);
        gx_disk_now()->unlink(new_path);
        return rc;
    }
    return gx_file_sync_name(path, error);
}

/* Reads to the end of `fd` into `*bytes`, which grows; what it holds is the caller's in every case. */
static int64_t read_to_end(int fd, const char *path, size_t limit, char **bytes, gale_error *error) {
    size_t size = 0, capacity = 0;
    for (;;) {
        if (size + 1 >= capacity) {
            size_t grown = capacity ? capacity * 2 : 4096;
            char *block = realloc(*bytes, grown);
            if (!block)
                return gale_error_set(error, GALE_NO_MEMORY, "no memory to read '%s'", called(path, "standard input"));
            *bytes = block;
            capacity = grown;
        }
        int64_t got = gx_file_read(fd, *bytes + size, capacity - size - 1, path, error);
        if (got < 0) return got;
        if (got == 0) break;
        size += (size_t)got;
        if (size > limit)
            return gale_error_set(error, GALE_TOO_LARGE, "'%s' is larger than %zu bytes",
                                  called(path, "standard input"), limit);
    }
    (*bytes)[size] = 0;
    return (int64_t)size;
}

/* Takes `fd`. */
static int read_whole(int fd, const char *path, size_t limit, char **ret_bytes, size_t *ret_size, gale_error *error) {
    char *bytes = NULL;
    int64_t size = read_to_end(fd, path, limit, &bytes, error);
    gx_file_close(fd);
    if (size < 0) {
        free(bytes);
        return (int)size;
    }
    *ret_bytes = bytes;
    *ret_size = (size_t)size;
    return GALE_OK;
}

int gx_file_read_all(const char *path, size_t limit, char **ret_bytes, size_t *ret_size, gale_error *error) {
    int fd;
    int failed = gx_file_open(path, &fd, NULL, error);
    return failed ? failed : read_whole(fd, path, limit, ret_bytes, ret_size, error);
}

int gx_file_read_own(const char *path, size_t limit, char **ret_bytes, size_t *ret_size, gale_error *error) {
    struct stat found = { .st_mode = S_IFLNK };
    int fd = open_again(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0), rc;
    if (fd < 0 && errno == ENOENT) return GALE_NOT_FOUND;
    if (fd < 0 && errno != ELOOP) return gale_error_set(error, GALE_IO, "cannot open '%s': %s", path, strerror(errno));
    if (fd >= 0 && gx_disk_now()->about(fd, &found) != 0)
        rc = refuse_look(path, error);
    else if (S_ISREG(found.st_mode))
        return read_whole(fd, path, limit, ret_bytes, ret_size, error);
    else
        rc = gale_error_set(error, GALE_INVALID, "'%s' must be a regular file, and is %s", path,
                            kind_name(found.st_mode));
    if (fd >= 0) gx_file_close(fd);
    return rc;
}
