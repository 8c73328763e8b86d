#include "harness/faulty_disk.h"

#include "base/os/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { FDS = 1024, PATH = 200 };

static struct {
    faulty_plan plan;
    gx_atomic64 calls;
    gx_atomic64 faults;
    gx_atomic32 filled; /* FAULTY_FULL: a write took the rest */
    const char *hit;
    char hit_path[PATH];
    gx_atomic32 mine[FDS];    /* descriptors of files below the folder */
    gx_atomic32 written[FDS]; /* of these, what something was written to */
    gx_atomic32 loose[FDS];   /* and that since the last sync; also when it was closed */
    gx_atomic64 hasty;        /* renamed so */
    const char *watched;      /* a path, or NULL */
    bool watched_was_open;    /* when the first call failed */
    char paths[FDS][PATH];    /* theirs */
} at;

/* Of paths, and of what was hit: a descriptor goes from thread to thread by a number alone. */
static pthread_mutex_t names = PTHREAD_MUTEX_INITIALIZER;

static bool is_below(const char *path) {
    return strncmp(path, at.plan.folder, strlen(at.plan.folder)) == 0;
}

static bool is_mine(int fd) {
    return fd >= 0 && fd < FDS && gx_load_relaxed(&at.mine[fd]);
}

/* Which call is this: before the n-th, the n-th, or one after it? */
typedef enum turn { BEFORE, NOW, AFTER } turn;

static turn count(void) {
    uint64_t number = gx_add_relaxed(&at.calls, 1) + 1;
    if (!at.plan.at || number < at.plan.at) return BEFORE;
    return number == at.plan.at ? NOW : AFTER;
}

static void hit(const char *name, const char *path) {
    if (gx_add_relaxed(&at.faults, 1) > 0) return;
    pthread_mutex_lock(&names);
    at.hit = name;
    snprintf(at.hit_path, sizeof at.hit_path, "%s", path);
    for (int fd = 0; at.watched && fd < FDS; fd++)
        at.watched_was_open |= gx_load_relaxed(&at.mine[fd]) && strcmp(at.paths[fd], at.watched) == 0;
    pthread_mutex_unlock(&names);
}

/* The calls that move no bytes: must this one fail? `makes`: it needs room. */
static bool fails(const char *name, const char *path, bool makes) {
    turn now = count();
    bool bad = false;
    switch (at.plan.kind) {
    case FAULTY_ONCE: bad = now == NOW; break;
    case FAULTY_SHORT: break;
    case FAULTY_FULL: bad = now != BEFORE && makes; break;
    case FAULTY_DEAD: bad = now != BEFORE; break;
    }
    if (!bad) return false;
    hit(name, path);
    errno = at.plan.kind == FAULTY_ONCE ? at.plan.error : at.plan.kind == FAULTY_FULL ? ENOSPC : EIO;
    return true;
}

/* How much of a transfer is done: all, half, or nothing and errno. */
static ssize_t share(const char *name, int fd, size_t size, bool writes) {
    if (!is_mine(fd)) return (ssize_t)size;
    turn now = count();
    bool half = false, bad = false;
    switch (at.plan.kind) {
    case FAULTY_ONCE: bad = now == NOW; break;
    case FAULTY_SHORT: half = now == NOW && size > 1; break;
    case FAULTY_FULL:
        if (!writes || now == BEFORE) break;
        bad = gx_exchange_relaxed(&at.filled, 1) != 0;
        half = !bad;
        break;
    case FAULTY_DEAD:
        half = writes && now == NOW;
        bad = !half && now != BEFORE;
        break;
    }
    if (bad || half) hit(name, at.paths[fd]);
    if (bad) errno = at.plan.kind == FAULTY_ONCE ? at.plan.error : at.plan.kind == FAULTY_FULL ? ENOSPC : EIO;
    return bad ? -1 : half ? (ssize_t)((size + 1) / 2) : (ssize_t)size;
}

static int faulty_open(const char *path, int flags, mode_t mode) {
    bool mine = is_below(path);
    if (mine && fails("open", path, (flags & O_CREAT) != 0)) return -1;
    int fd = gx_disk_system.open(path, flags, mode);
    if (fd < 0 || fd >= FDS) return fd;
    pthread_mutex_lock(&names);
    snprintf(at.paths[fd], sizeof at.paths[fd], "%s", path);
    pthread_mutex_unlock(&names);
    gx_store_relaxed(&at.mine[fd], mine);
    gx_store_relaxed(&at.written[fd], 0);
    gx_store_relaxed(&at.loose[fd], 0);
    return fd;
}

static int faulty_close(int fd) {
    const char *name = is_mine(fd) && gx_load_relaxed(&at.written[fd]) ? "close_written" : "close";
    bool bad = is_mine(fd) && fails(name, at.paths[fd], false);
    int error = errno;
    if (fd >= 0 && fd < FDS) gx_store_relaxed(&at.mine[fd], 0);
    int rc = gx_disk_system.close(fd);
    if (!bad) return rc;
    errno = error;
    return -1;
}

static ssize_t faulty_read(int fd, void *bytes, size_t size) {
    ssize_t part = share("read", fd, size, false);
    return part < 0 ? -1 : gx_disk_system.read(fd, bytes, (size_t)part);
}

static ssize_t faulty_pread(int fd, void *bytes, size_t size, off_t offset) {
    ssize_t part = share("pread", fd, size, false);
    return part < 0 ? -1 : gx_disk_system.pread(fd, bytes, (size_t)part, offset);
}

/* The write in which the process dies does not return what it did. */
static ssize_t faulty_write(int fd, const void *bytes, size_t size) {
    ssize_t part = share("write", fd, size, true);
    if (part < 0) return -1;
    if (is_mine(fd)) gx_store_relaxed(&at.written[fd], 1);
    if (is_mine(fd)) gx_store_relaxed(&at.loose[fd], 1);
    ssize_t put = gx_disk_system.write(fd, bytes, (size_t)part);
    if (at.plan.kind != FAULTY_DEAD || (size_t)part == size) return put;
    errno = EIO;
    return -1;
}

static off_t faulty_seek(int fd, off_t offset, int whence) {
    return gx_disk_system.seek(fd, offset, whence);
}

static int faulty_truncate(int fd, off_t size) {
    return is_mine(fd) && fails("truncate", at.paths[fd], false) ? -1 : gx_disk_system.truncate(fd, size);
}

static int faulty_sync(int fd) {
    if (!is_mine(fd)) return gx_disk_system.sync(fd);
    if (fails("sync", at.paths[fd], true)) return -1;
    gx_store_relaxed(&at.loose[fd], 0);
    return 0;
}

static int faulty_about(int fd, struct stat *ret_about) {
    return is_mine(fd) && fails("about", at.paths[fd], false) ? -1 : gx_disk_system.about(fd, ret_about);
}

static int faulty_about_path(const char *path, struct stat *ret_about) {
    return is_below(path) && fails("about_path", path, false) ? -1 : gx_disk_system.about_path(path, ret_about);
}

static int faulty_about_link(const char *path, struct stat *ret_about) {
    return is_below(path) && fails("about_link", path, false) ? -1 : gx_disk_system.about_link(path, ret_about);
}

static ssize_t faulty_read_link(const char *path, char *target, size_t size) {
    return is_below(path) && fails("read_link", path, false) ? -1 : gx_disk_system.read_link(path, target, size);
}

static int faulty_lock(int fd) {
    return is_mine(fd) && fails("lock", at.paths[fd], false) ? -1 : gx_disk_system.lock(fd);
}

/* A file takes a name for good: the disk must have what is in it. */
static void look_at_renamed(const char *from) {
    pthread_mutex_lock(&names);
    for (int fd = 0; fd < FDS; fd++)
        if (gx_load_relaxed(&at.loose[fd]) && strcmp(at.paths[fd], from) == 0) gx_add_relaxed(&at.hasty, 1);
    pthread_mutex_unlock(&names);
}

static int faulty_rename(const char *from, const char *to) {
    look_at_renamed(from);
    return is_below(to) && fails("rename", to, true) ? -1 : gx_disk_system.rename(from, to);
}

static int faulty_unlink(const char *path) {
    return is_below(path) && fails("unlink", path, false) ? -1 : gx_disk_system.unlink(path);
}

static int faulty_make_folder(const char *path, mode_t mode) {
    return is_below(path) && fails("make_folder", path, true) ? -1 : gx_disk_system.make_folder(path, mode);
}

static const gx_disk disk = {
    .open = faulty_open,
    .close = faulty_close,
    .read = faulty_read,
    .pread = faulty_pread,
    .write = faulty_write,
    .seek = faulty_seek,
    .truncate = faulty_truncate,
    .sync = faulty_sync,
    .about = faulty_about,
    .about_path = faulty_about_path,
    .about_link = faulty_about_link,
    .read_link = faulty_read_link,
    .lock = faulty_lock,
    .rename = faulty_rename,
    .unlink = faulty_unlink,
    .sync_data = faulty_sync,
    .make_folder = faulty_make_folder,
};

void faulty_disk_use(faulty_plan plan) {
    at.plan = plan;
    gx_store_relaxed(&at.calls, 0);
    gx_store_relaxed(&at.faults, 0);
    gx_store_relaxed(&at.filled, 0);
    at.hit = "";
    at.hit_path[0] = 0;
    at.watched_was_open = false;
    gx_store_relaxed(&at.hasty, 0);
    for (int fd = 0; fd < FDS; fd++) gx_store_relaxed(&at.mine[fd], 0);
    for (int fd = 0; fd < FDS; fd++) gx_store_relaxed(&at.loose[fd], 0);
    gx_disk_use(&disk);
}

void faulty_disk_watch(const char *path) {
    at.watched = path;
    at.watched_was_open = false;
}

bool faulty_disk_watched(void) {
    return at.watched_was_open;
}

uint64_t faulty_disk_end(void) {
    gx_disk_use(NULL);
    return gx_load_relaxed(&at.faults);
}

uint64_t faulty_disk_calls(void) {
    return gx_load_relaxed(&at.calls);
}

uint64_t faulty_disk_hasty(void) {
    return gx_load_relaxed(&at.hasty);
}

const char *faulty_disk_hit(void) {
    return at.hit;
}

const char *faulty_disk_hit_path(void) {
    return at.hit_path;
}
