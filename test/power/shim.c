/* Writes down what a process does to regular files and folders, for test/power: LD_PRELOAD. Each call is made by the
 * system and then noted, by device and inode, so that a name that is given to another file later does not matter.
 *
 *   POWER_LOG      the file that records are appended to
 *   POWER_SHELF    a folder on the device in question: each file that comes to be gets another name there, its inode's
 *                  number, so that it can be had again
 *   POWER_SYNC_MS  how long a sync takes (0): nothing is forced to a real disk, and meanwhile others may write
 *
 * What is not seen: files that are mapped, stdio inside of libc, system calls made by hand. test/power/recording.py
 * looks whether what was noted explains the folder, and refuses a recording that does not.
 * Threads: calls that change something are made one after the other, so that the order of the records is theirs.
 * Processes: children are noted, too; between processes the order of overlapping calls is not known. */
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { PATH = 4096, LOG_FD = 900 };

static pthread_mutex_t one_by_one = PTHREAD_MUTEX_INITIALIZER;
static int log_fd = -1, shelf = -1;
static dev_t device;
static long sync_ms;

static void give_up(const char *what) {
    char text[300];
    int size = snprintf(text, sizeof text, "power shim: %s: %s\n", what, strerror(errno));
    syscall(SYS_write, 2, text, (size_t)size);
    abort();
}

static int keep(const char *name, int flags) {
    const char *path = getenv(name);
    int low = path ? (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0600) : -1;
    int high = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, LOG_FD);
    if (high < 0) give_up(name);
    syscall(SYS_close, low);
    return high;
}

__attribute__((constructor)) static void begin(void) {
    struct stat about;
    const char *ms = getenv("POWER_SYNC_MS");
    log_fd = keep("POWER_LOG", O_WRONLY | O_APPEND | O_CREAT);
    shelf = keep("POWER_SHELF", O_PATH | O_DIRECTORY);
    if (fstat(shelf, &about) != 0) give_up("POWER_SHELF");
    device = about.st_dev;
    sync_ms = ms ? atol(ms) : 0;
}

/* --- Records ------------------------------------------------------------------------------------------------------ */

static void note(record head, const char *name, const char *other_name, const void *data) {
    int why = errno;
    struct iovec parts[4] = { { &head, sizeof head },
                              { (void *)name, head.name_size = name ? (uint32_t)strlen(name) : 0 },
                              { (void *)other_name,
                                head.other_name_size = other_name ? (uint32_t)strlen(other_name) : 0 },
                              { (void *)data, head.data_size } };
    head.size = (uint32_t)sizeof head + head.name_size + head.other_name_size + head.data_size;
    if (syscall(SYS_writev, log_fd, parts, 4) != (long)head.size) give_up("POWER_LOG");
    errno = why;
}

static void note_bytes(record_kind kind, uint64_t file, int64_t offset, const void *bytes, size_t size) {
    note((record){ .kind = kind, .file = file, .offset = offset, .data_size = (uint32_t)size }, NULL, NULL, bytes);
}

static void note_file(record_kind kind, uint64_t file, int64_t offset) {
    note_bytes(kind, file, offset, NULL, 0);
}

/* --- Which file --------------------------------------------------------------------------------------------------- */

/* A regular file (or a folder, where that is asked for) on the device in question. */
static bool is_ours(int fd, bool folders, struct stat *about) {
    int why = errno;
    bool ours = log_fd >= 0 && fd != log_fd && fstat(fd, about) == 0 && about->st_dev == device &&
                (S_ISREG(about->st_mode) || (folders && S_ISDIR(about->st_mode)));
    errno = why;
    return ours;
}

/* A name in a folder. */
typedef struct place {
    uint64_t folder;
    char name[PATH];
    bool ours;
} place;

static void find_place(int at, const char *path, place *to) {
    char parent[PATH];
    struct stat about;
    size_t end = strnlen(path, PATH - 1), from;
    while (end > 1 && path[end - 1] == '/') end--;
    for (from = end; from > 0 && path[from - 1] != '/';) from--;
    snprintf(to->name, sizeof to->name, "%.*s", (int)(end - from), path + from);
    snprintf(parent, sizeof parent, "%.*s", from ? (int)from : 1, from ? path : ".");
    int fd = (int)syscall(SYS_openat, at, parent, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    to->ours = fd >= 0 && fstat(fd, &about) == 0 && about.st_dev == device;
    to->folder = to->ours ? about.st_ino : 0;
    if (fd >= 0) syscall(SYS_close, fd);
}

static uint64_t inode_at(int at, const char *path) {
    struct stat about;
    return fstatat(at, path, &about, AT_SYMLINK_NOFOLLOW) == 0 ? about.st_ino : 0;
}

/* --- Opening ------------------------------------------------------------------------------------------------------ */

static void name_of(int fd, char name[40]) {
    snprintf(name, 40, "/proc/self/fd/%d", fd);
}

static void put_on_shelf(int fd, uint64_t inode) {
    char from[40], name[30];
    name_of(fd, from);
    snprintf(name, sizeof name, "%lu", (unsigned long)inode);
    if (syscall(SYS_linkat, AT_FDCWD, from, shelf, name, AT_SYMLINK_FOLLOW) != 0 && errno != EEXIST)
        give_up("POWER_SHELF");
}

/* Not by the path that was given, whose end may be a link. */
static void place_of_open(int fd, place *to) {
    char link[40], path[PATH];
    name_of(fd, link);
    long size = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
    if (size < 0) give_up(link);
    path[size] = 0;
    find_place(AT_FDCWD, path, to);
}

static void note_opened(int fd, int flags, bool was_there) {
    struct stat about;
    place to = { 0 };
    if (!is_ours(fd, false, &about)) return;
    record made = { .kind = RECORD_MAKE, .file = about.st_ino, .mode = about.st_mode };
    if ((flags & O_TMPFILE) == O_TMPFILE) {
        put_on_shelf(fd, about.st_ino);
        note(made, NULL, NULL, NULL);
    } else if (!was_there) {
        place_of_open(fd, &to);
        made.folder = to.folder;
        put_on_shelf(fd, about.st_ino);
        note(made, to.name, NULL, NULL);
    } else if (flags & O_TRUNC) {
        note_file(RECORD_CUT, about.st_ino, 0);
    }
}

static int open_noted(int at, const char *path, int flags, mode_t mode) {
    struct stat before;
    bool changes = (flags & (O_CREAT | O_TRUNC)) || (flags & O_TMPFILE) == O_TMPFILE;
    if (log_fd < 0 || !changes) return (int)syscall(SYS_openat, at, path, flags, mode);
    pthread_mutex_lock(&one_by_one);
    bool was_there = fstatat(at, path, &before, 0) == 0;
    if (was_there && !S_ISREG(before.st_mode) && !S_ISDIR(before.st_mode)) { /* a pipe may keep it waiting */
        pthread_mutex_unlock(&one_by_one);
        return (int)syscall(SYS_openat, at, path, flags, mode);
    }
    int fd = (int)syscall(SYS_openat, at, path, flags, mode), why = errno;
    if (fd >= 0) note_opened(fd, flags, was_there);
    pthread_mutex_unlock(&one_by_one);
    errno = why;
    return fd;
}

static mode_t mode_of(int flags, va_list list) {
    return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? (mode_t)va_arg(list, unsigned) : 0;
}

#define SHOWN __attribute__((visibility("default")))
#define ALSO(name) __attribute__((visibility("default"), alias(name)))

SHOWN int open(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    mode_t mode = mode_of(flags, list);
    va_end(list);
    return open_noted(AT_FDCWD, path, flags, mode);
}

SHOWN int openat(int at, const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    mode_t mode = mode_of(flags, list);
    va_end(list);
    return open_noted(at, path, flags, mode);
}

SHOWN int creat(const char *path, mode_t mode) {
    return open_noted(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

int open64(const char *path, int flags, ...) ALSO("open");
int openat64(int at, const char *path, int flags, ...) ALSO("openat");
int creat64(const char *path, mode_t mode) ALSO("creat");

/* What _FORTIFY_SOURCE makes of an open without a mode. */
int __open_2(const char *path, int flags);
int __openat_2(int at, const char *path, int flags);
int __open64_2(const char *path, int flags) ALSO("__open_2");
int __openat64_2(int at, const char *path, int flags) ALSO("__openat_2");

SHOWN int __open_2(const char *path, int flags) {
    return open_noted(AT_FDCWD, path, flags, 0);
}

SHOWN int __openat_2(int at, const char *path, int flags) {
    return open_noted(at, path, flags, 0);
}

/* --- Writing ------------------------------------------------------------------------------------------------------ */

/* What the program tells others is told when it begins to: whatever it promises must last by then. */
static void note_told(int fd, const struct iovec *parts, int count) {
    if (log_fd < 0 || fd != STDOUT_FILENO) return;
    for (int i = 0; i < count; i++)
        if (parts[i].iov_len) note_bytes(RECORD_TOLD, 0, 0, parts[i].iov_base, parts[i].iov_len);
}

static void note_written(int fd, uint64_t file, int64_t offset, const struct iovec *parts, int count, size_t done) {
    for (int i = 0; i < count && done > 0; i++) {
        size_t size = parts[i].iov_len < done ? parts[i].iov_len : done;
        note_bytes(RECORD_WRITE, file, offset, parts[i].iov_base, size);
        offset += (int64_t)size;
        done -= size;
    }
    if (fcntl(fd, F_GETFL) & (O_DSYNC | O_SYNC)) note_file(RECORD_SYNC, file, 0);
}

/* offset < 0: at the descriptor's own place. */
static ssize_t write_noted(int fd, const struct iovec *parts, int count, int64_t offset) {
    struct stat about;
    ssize_t done;
    bool ours = is_ours(fd, false, &about);
    if (!ours) note_told(fd, parts, count);
    if (ours) pthread_mutex_lock(&one_by_one);
    if (offset < 0)
        done = syscall(SYS_writev, fd, parts, count);
    else
        done = syscall(SYS_pwritev, fd, parts, count, (long)offset, 0L);
    int why = errno;
    if (ours && done > 0) {
        if (offset < 0 || (fcntl(fd, F_GETFL) & O_APPEND))
            offset = (offset < 0 ? (int64_t)lseek(fd, 0, SEEK_CUR) : (fstat(fd, &about), (int64_t)about.st_size)) -
                     done;
        note_written(fd, about.st_ino, offset, parts, count, (size_t)done);
    }
    if (ours) pthread_mutex_unlock(&one_by_one);
    errno = why;
    return done;
}

SHOWN ssize_t write(int fd, const void *bytes, size_t size) {
    return write_noted(fd, &(struct iovec){ (void *)bytes, size }, 1, -1);
}

SHOWN ssize_t writev(int fd, const struct iovec *parts, int count) {
    return write_noted(fd, parts, count, -1);
}

SHOWN ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset) {
    return write_noted(fd, &(struct iovec){ (void *)bytes, size }, 1, offset);
}

SHOWN ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
    return write_noted(fd, parts, count, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t offset) ALSO("pwrite");
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) ALSO("pwritev");

SHOWN int ftruncate(int fd, off_t size) {
    struct stat about;
    bool ours = is_ours(fd, false, &about);
    pthread_mutex_lock(&one_by_one);
    int rc = (int)syscall(SYS_ftruncate, fd, size);
    if (ours && rc == 0) note_file(RECORD_CUT, about.st_ino, size);
    pthread_mutex_unlock(&one_by_one);
    return rc;
}

SHOWN int truncate(const char *path, off_t size) {
    struct stat about;
    pthread_mutex_lock(&one_by_one);
    int rc = (int)syscall(SYS_truncate, path, size);
    if (rc == 0 && log_fd >= 0 && stat(path, &about) == 0 && about.st_dev == device)
        note_file(RECORD_CUT, about.st_ino, size);
    pthread_mutex_unlock(&one_by_one);
    return rc;
}

int ftruncate64(int fd, off64_t size) ALSO("ftruncate");
int truncate64(const char *path, off64_t size) ALSO("truncate");

SHOWN int fallocate(int fd, int mode, off_t offset, off_t size) {
    struct stat about;
    bool ours = is_ours(fd, false, &about);
    pthread_mutex_lock(&one_by_one);
    int rc = (int)syscall(SYS_fallocate, fd, mode, offset, size);
    if (ours && rc == 0 && mode == 0 && offset + size > about.st_size)
        note_file(RECORD_CUT, about.st_ino, offset + size);
    pthread_mutex_unlock(&one_by_one);
    return rc;
}

SHOWN int posix_fallocate(int fd, off_t offset, off_t size) {
    int before = errno, rc = fallocate(fd, 0, offset, size), why = errno;
    errno = before;
    return rc == 0 ? 0 : why;
}

int fallocate64(int fd, int mode, off64_t offset, off64_t size) ALSO("fallocate");
int posix_fallocate64(int fd, off64_t offset, off64_t size) ALSO("posix_fallocate");

/* --- Syncing ------------------------------------------------------------------------------------------------------ */

static void take_a_while(void) {
    struct timespec time = { sync_ms / 1000, sync_ms % 1000 * 1000000 };
    if (sync_ms > 0) nanosleep(&time, NULL);
}

static uint64_t begin_sync(uint64_t file) {
    static uint64_t number;
    pthread_mutex_lock(&one_by_one);
    uint64_t mine = ++number;
    note((record){ .kind = RECORD_SYNC_BEGINS, .file = file, .other = mine }, NULL, NULL, NULL);
    pthread_mutex_unlock(&one_by_one);
    return mine;
}

/* What was written before it began is there when it ends. 0: everything. */
static void sync_noted(uint64_t file) {
    uint64_t mine = begin_sync(file);
    take_a_while();
    pthread_mutex_lock(&one_by_one);
    note((record){ .kind = RECORD_SYNC, .file = file, .other = mine }, NULL, NULL, NULL);
    pthread_mutex_unlock(&one_by_one);
}

SHOWN int fsync(int fd) {
    struct stat about;
    if (!is_ours(fd, true, &about)) return (int)syscall(SYS_fsync, fd);
    sync_noted(about.st_ino);
    return 0;
}

int fdatasync(int fd) ALSO("fsync");

SHOWN void sync(void) {
    if (log_fd >= 0) sync_noted(0);
}

SHOWN int syncfs(int fd) {
    struct stat about;
    if (!is_ours(fd, true, &about)) return (int)syscall(SYS_syncfs, fd);
    sync_noted(0);
    return 0;
}

/* --- Names -------------------------------------------------------------------------------------------------------- */

static void note_name(record_kind kind, uint64_t file, const place *at, mode_t mode, const char *data) {
    record head = { .kind = kind, .file = file, .folder = at->folder, .mode = mode };
    head.data_size = data ? (uint32_t)strlen(data) : 0;
    if (at->ours) note(head, at->name, NULL, data);
}

SHOWN int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags) {
    place old = { 0 }, new = { 0 };
    if (log_fd < 0) return (int)syscall(SYS_renameat2, from_at, from, to_at, to, flags);
    pthread_mutex_lock(&one_by_one);
    uint64_t moved = inode_at(from_at, from), other = inode_at(to_at, to);
    find_place(from_at, from, &old);
    find_place(to_at, to, &new);
    int rc = (int)syscall(SYS_renameat2, from_at, from, to_at, to, flags);
    if (rc == 0 && moved != other && (old.ours || new.ours)) {
        record head = { .kind = RECORD_RENAME, .file = moved, .folder = old.folder, .other_folder = new.folder };
        head.other = flags & RENAME_EXCHANGE ? other : 0;
        note(head, old.name, new.name, NULL);
    }
    pthread_mutex_unlock(&one_by_one);
    return rc;
}

SHOWN int renameat(int from_at, const char *from, int to_at, const char *to) {
    return renameat2(from_at, from, to_at, to, 0);
}

SHOWN int rename(const char *from, const char *to) {
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0);
}

SHOWN int unlinkat(int at, const char *path, int flags) {
    place old = { 0 };
    if (log_fd < 0) return (int)syscall(SYS_unlinkat, at, path, flags);
    pthread_mutex_lock(&one_by_one);
    uint64_t file = inode_at(at, path);
    find_place(at, path, &old);
    int rc = (int)syscall(SYS_unlinkat, at, path, flags);
    if (rc == 0) note_name(RECORD_UNLINK, file, &old, 0, NULL);
    pthread_mutex_unlock(&one_by_one);
    return rc;
}

SHOWN int unlink(const char *path) {
    return unlinkat(AT_FDCWD, path, 0);
}

SHOWN int rmdir(const char *path) {
    return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

SHOWN int remove(const char *path) {
    int rc = unlinkat(AT_FDCWD, path, 0);
    return rc != 0 && errno == EISDIR ? unlinkat(AT_FDCWD, path, AT_REMOVEDIR) : rc;
}

SHOWN int mkdirat(int at, const char *path, mode_t mode) {
    place new = { 0 };
    if (log_fd < 0) return (int)syscall(SYS_mkdirat, at, path, mode);
    pthread_mutex_lock(&one_by_one);
    int rc = (int)syscall(SYS_mkdirat, at, path, mode);
    if (rc == 0) find_place(at, path, &new);
    if (rc == 0) note_name(RECORD_MAKE, inode_at(at, path), &new, S_IFDIR | mode, NULL);
    pthread_mutex_unlock(&one_by_one);
    return rc;
}

SHOWN int mkdir(const char *path, mode_t mode) {
    return mkdirat(AT_FDCWD, path, mode);
}

SHOWN int symlinkat(const char *target, int at, const char *path) {
    place new = { 0 };
    if (log_fd < 0) return (int)syscall(SYS_symlinkat, target, at, path);
    pthread_mutex_lock(&one_by_one);
    int rc = (int)syscall(SYS_symlinkat, target, at, path);
    if (rc == 0) find_place(at, path, &new);
    if (rc == 0) note_name(RECORD_MAKE, inode_at(at, path), &new, S_IFLNK | 0777, target);
    pthread_mutex_unlock(&one_by_one);
    return rc;
}

SHOWN int symlink(const char *target, const char *path) {
    return symlinkat(target, AT_FDCWD, path);
}

SHOWN int linkat(int from_at, const char *from, int to_at, const char *to, int flags) {
    place new = { 0 };
    if (log_fd < 0) return (int)syscall(SYS_linkat, from_at, from, to_at, to, flags);
    pthread_mutex_lock(&one_by_one);
    int rc = (int)syscall(SYS_linkat, from_at, from, to_at, to, flags);
    if (rc == 0) find_place(to_at, to, &new);
    if (rc == 0) note_name(RECORD_LINK, inode_at(to_at, to), &new, 0, NULL);
    pthread_mutex_unlock(&one_by_one);
    return rc;
}

SHOWN int link(const char *from, const char *to) {
    return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

/* --- What cannot be seen ------------------------------------------------------------------------------------------ */

SHOWN void *mmap(void *at, size_t size, int rights, int flags, int fd, off_t offset) {
    struct stat about;
    bool shared = (flags & MAP_TYPE) == MAP_SHARED || (flags & MAP_TYPE) == MAP_SHARED_VALIDATE;
    if (shared && (rights & PROT_WRITE) && is_ours(fd, false, &about)) note_file(RECORD_UNSEEN, about.st_ino, 0);
    return (void *)syscall(SYS_mmap, at, size, rights, flags, fd, offset);
}

void *mmap64(void *at, size_t size, int rights, int flags, int fd, off64_t offset) ALSO("mmap");
