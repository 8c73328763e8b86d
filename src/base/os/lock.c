#include "base/os/lock.h"

#include "base/os/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int refuse(const char *name, gale_error *error) {
    if (errno == ELOOP) return gale_error_set(error, GALE_IO, "cannot lock '%s': it is a symbolic link", name);
    return gale_error_set(error, GALE_IO, "cannot lock '%s': %s", name, strerror(errno));
}

static int open_file(const char *name, int *ret_fd, gale_error *error) {
    int fd;
    do fd = gx_disk_now()->open(name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    while (fd < 0 && errno == EINTR);
    if (fd < 0) return refuse(name, error);
    struct stat found;
    int rc = GALE_OK;
    if (gx_disk_now()->about(fd, &found) != 0)
        rc = refuse(name, error);
    else if (!S_ISREG(found.st_mode))
        rc = gale_error_set(error, GALE_IO, "cannot lock '%s': it is no regular file", name);
    if (rc < 0)
        gx_disk_now()->close(fd);
    else
        *ret_fd = fd;
    return rc;
}

/* The process that says so in the file; 0 when it has not yet. */
static long holder(int fd) {
    char text[24] = "";
    ssize_t got = gx_disk_now()->pread(fd, text, sizeof text - 1, 0);
    return got > 0 ? strtol(text, NULL, 10) : 0;
}

static int say_who(int fd, const char *path, const char *name, gale_error *error) {
    long pid = holder(fd);
    if (pid <= 0) return gale_error_set(error, GALE_STATE, "'%s' is in use: another process holds '%s'", path, name);
    if (pid == (long)getpid())
        return gale_error_set(error, GALE_STATE, "'%s' is in use by this process already, which holds '%s'", path,
                              name);
    return gale_error_set(error, GALE_STATE, "'%s' is in use by process %ld, which holds '%s'", path, pid, name);
}

/* Is the file that is open the one of that name? Who released the lock before has removed it. 1, 0, or -1 and errno. */
static int is_there(int fd, const char *name) {
    struct stat open_one, named;
    if (gx_disk_now()->about(fd, &open_one) != 0) return -1;
    if (gx_disk_now()->about_link(name, &named) != 0) return errno == ENOENT ? 0 : -1;
    return open_one.st_dev == named.st_dev && open_one.st_ino == named.st_ino;
}

/* For whoever is refused. On a full disk the file stays empty, and locks all the same. */
static void write_pid(int fd) {
    char text[24];
    int size = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    bool written = gx_disk_now()->truncate(fd, 0) == 0 && gx_disk_now()->write(fd, text, (size_t)size) == size;
    (void)written;
}

static int lock(int fd) {
    int failed;
    do failed = gx_disk_now()->lock(fd);
    while (failed && errno == EINTR);
    return failed;
}

int gx_lock_open(int fd, const char *path, gale_error *error) {
    if (lock(fd) == 0) return GALE_OK;
    return errno == EWOULDBLOCK ? gale_error_set(error, GALE_STATE, "'%s' is in use by another run", path)
                                : refuse(path, error);
}

/* 1: it is ours; 0: whoever had it has removed the file meanwhile. */
static int try_lock(int fd, const char *path, const char *name, gale_error *error) {
    if (lock(fd) != 0) return errno == EWOULDBLOCK ? say_who(fd, path, name, error) : refuse(name, error);
    int there = is_there(fd, name);
    return there < 0 ? refuse(name, error) : there;
}

int gx_lock_take(gx_lock *lock, const char *path, gale_error *error) {
    char name[GX_FILE_NAME_SIZE];
    int rc = gx_file_beside(path, ".lock", name, error);
    while (rc == 0) {
        int fd = -1;
        rc = open_file(name, &fd, error);
        if (rc < 0) return rc;
        rc = try_lock(fd, path, name, error);
        if (rc > 0) {
            write_pid(fd);
            *lock = (gx_lock){ fd, true };
            return GALE_OK;
        }
        gx_disk_now()->close(fd);
    }
    return rc;
}

void gx_lock_release(gx_lock *lock, const char *path) {
    char name[GX_FILE_NAME_SIZE];
    if (!lock->held) return;
    bool ours = gx_file_beside(path, ".lock", name, NULL) == GALE_OK && is_there(lock->fd, name) > 0;
    if (ours) gx_disk_now()->unlink(name);
    gx_disk_now()->close(lock->fd);
    lock->held = false;
}
