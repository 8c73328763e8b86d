#include "base/os/disk.h"

#include "base/atomic.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

static int system_open(const char *path, int flags, mode_t mode) {
    return open(path, flags, mode);
}

static int system_lock(int fd) {
    return flock(fd, LOCK_EX | LOCK_NB);
}

const gx_disk gx_disk_system = {
    .open = system_open,
    .close = close,
    .read = read,
    .pread = pread,
    .write = write,
    .seek = lseek,
    .truncate = ftruncate,
    .sync = fsync,
    .about = fstat,
    .about_path = stat,
    .about_link = lstat,
    .read_link = readlink,
    .lock = system_lock,
    .rename = rename,
    .unlink = unlink,
    .sync_data = fdatasync,
    .make_folder = mkdir,
};

static _Atomic(const gx_disk *) used = &gx_disk_system;

const gx_disk *gx_disk_now(void) {
    return gx_load_acquire(&used); /* A1 */
}

/* R1: the table is filled before it is used. */
void gx_disk_use(const gx_disk *disk) {
    gx_store_release(&used, disk ? disk : &gx_disk_system); /* R1 */
}
