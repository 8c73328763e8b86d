#include "base/os/watch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/vfs.h>
#include <unistd.h>

static const uint32_t folder_mask = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF |
                                    IN_MOVE_SELF | IN_ONLYDIR;

static const uint32_t self_mask = IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_DONT_FOLLOW;

/* The number of names is one of the attributes: the last one's end is told so, while the file is open still. */
static const uint32_t file_mask = IN_MODIFY | IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF;

static const gx_watch_calls system_calls = { inotify_init1, inotify_add_watch };
static const gx_watch_calls *calls = &system_calls;

void gx_watch_use(const gx_watch_calls *given) {
    calls = given ? given : &system_calls;
}

int gx_watch_open(gx_watch *watch, gale_error *error) {
    watch->fd = calls->open(IN_NONBLOCK | IN_CLOEXEC);
    if (watch->fd >= 0) return GALE_OK;
    return gale_error_set(error, GALE_IO, "cannot be told of changes to files: %s%s", strerror(errno),
                          errno == EMFILE ? " (fs.inotify.max_user_instances, or this process's descriptors)" : "");
}

void gx_watch_close(gx_watch *watch) {
    if (watch->fd >= 0) close(watch->fd);
    watch->fd = -1;
}

static int add(const gx_watch *watch, const char *at, uint32_t mask, const char *path, gale_error *error) {
    int id = calls->add(watch->fd, at, mask);
    if (id >= 0) return id;
    return gale_error_set(error, GALE_IO, "cannot be told of changes to '%s': %s%s", path, strerror(errno),
                          errno == ENOSPC ? " (fs.inotify.max_user_watches)" : "");
}

static int add_there(const gx_watch *watch, const char *path, uint32_t mask, gale_error *error) {
    gale_error why = GALE_ERROR_INIT;
    int id = add(watch, path, mask | IN_MASK_ADD, path, &why);
    if (id < 0 && (errno == ENOENT || errno == ENOTDIR)) return GALE_NOT_FOUND;
    return id >= 0 ? id : gale_error_set(error, id, "%s", why.text);
}

int gx_watch_folder(gx_watch *watch, const char *path, gale_error *error) {
    return add_there(watch, path, folder_mask, error);
}

int gx_watch_self(gx_watch *watch, const char *path, gale_error *error) {
    return add_there(watch, path, self_mask, error);
}

/* By what /proc has of the descriptor, so that it is this very file; by its name where that is not there. */
int gx_watch_file(gx_watch *watch, int fd, const char *path, gale_error *error) {
    char own[40];
    snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
    int id = calls->add(watch->fd, own, file_mask);
    return id >= 0 ? id : add(watch, path, file_mask, path, error);
}

void gx_watch_forget(gx_watch *watch, int id) {
    if (watch->fd >= 0 && id >= 0) (void)inotify_rm_watch(watch->fd, id);
}

static void hand_out(const struct inotify_event *event, gx_watch_fn *each, void *user) {
    if (event->mask & IN_Q_OVERFLOW)
        each(user, -1, GX_WATCH_LOST, "");
    else if (event->mask & (IN_IGNORED | IN_UNMOUNT))
        each(user, event->wd, GX_WATCH_ENDED, "");
    else
        each(user, event->wd, event->len ? GX_WATCH_NAME : GX_WATCH_BYTES, event->len ? event->name : "");
}

void gx_watch_take(gx_watch *watch, gx_watch_fn *each, void *user) {
    union {
        struct inotify_event first;
        char bytes[4096];
    } read_;
    ssize_t got;
    while (watch->fd >= 0 &&
           ((got = read(watch->fd, read_.bytes, sizeof read_.bytes)) > 0 || (got < 0 && errno == EINTR)))
        for (ssize_t at = 0; at < got;) {
            struct inotify_event event;
            memcpy(&event, read_.bytes + at, sizeof event);
            hand_out((const struct inotify_event *)(const void *)(read_.bytes + at), each, user);
            at += (ssize_t)(sizeof event + event.len);
        }
}

/* NFS, SMB in its forms, CIFS, AFS, Ceph, Lustre, 9p, FUSE, OCFS2, GFS2, VirtualBox's. */
bool gx_watch_reaches(const char *path) {
    static const uint32_t remote[] = { 0x6969,     0x517b,     0xfe534d42, 0xff534d42, 0x5346414f, 0x00c36400,
                                       0x0bd00bd0, 0x01021997, 0x65735546, 0x7461636f, 0x01161970, 0x786f4256 };
    struct statfs about;
    if (statfs(path, &about) != 0) return true;
    for (size_t i = 0; i < sizeof remote / sizeof *remote; i++)
        if ((uint32_t)about.f_type == remote[i]) return false;
    return true;
}
