/* The disk: the system calls that base/os/file is made of, in a table. A test puts calls in their place that fail when
 * it says so, the simulator a disk in memory.
 *
 * What:    each entry behaves as the system call of its name: -1 and errno when it fails. Another disk hands on to
 *          gx_disk_system what is not its own: paths that it does not serve, descriptors that it has not opened (its
 *          own ones begin above GX_DISK_OWN, where the system's never are).
 * Threads: the calls come from any; gx_disk_use while nothing is open. */
#ifndef GX_BASE_OS_DISK_H
#define GX_BASE_OS_DISK_H

#include "base/port.h"

#include <sys/stat.h>
#include <sys/types.h>

enum { GX_DISK_OWN = 1 << 24 };

typedef struct gx_disk {
    int (*open)(const char *path, int flags, mode_t mode);
    int (*close)(int fd);
    ssize_t (*read)(int fd, void *bytes, size_t size);
    ssize_t (*pread)(int fd, void *bytes, size_t size, off_t offset);
    ssize_t (*write)(int fd, const void *bytes, size_t size);
    off_t (*seek)(int fd, off_t offset, int whence);
    int (*truncate)(int fd, off_t size);
    int (*sync)(int fd);
    int (*about)(int fd, struct stat *ret_about);
    int (*about_path)(const char *path, struct stat *ret_about);
    int (*about_link)(const char *path, struct stat *ret_about); /* of a link itself: lstat */
    ssize_t (*read_link)(const char *path, char *target, size_t size);
    int (*lock)(int fd); /* flock: for this descriptor alone, without waiting */
    int (*rename)(const char *from, const char *to);
    int (*unlink)(const char *path);
    int (*sync_data)(int fd); /* fdatasync: what was written, and what reading it needs; not when it was */
    int (*make_folder)(const char *path, mode_t mode);
} gx_disk;

/* The system's own calls. */
extern const gx_disk gx_disk_system;

/* The disk in use. */
const gx_disk *gx_disk_now(void);

/* Uses another from now on, which must outlive its use. NULL: the system's. */
void gx_disk_use(const gx_disk *disk);

#endif
