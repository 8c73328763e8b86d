/* Notices of changes to folders and files, by a descriptor that becomes readable.
 *
 * What:    a folder tells which names came, went or mean something else now; a file, that it was written, cut, or has
 *          another number of names, whatever it is called. Notices say that something may be new, and to whom; what is new
 *          is for the one who looks then. So it is right to look first and to wait behind that, and an overflow
 *          (GX_WATCH_LOST) says: look at everything.
 * Threads: one at a time. Owner: the caller.
 * Limits:  the numbers of watches and of their descriptors that the system allows a user: the report names them. A file system of another
 *          machine tells nothing of what others write there (gx_watch_reaches). */
#ifndef GX_BASE_OS_WATCH_H
#define GX_BASE_OS_WATCH_H

#include "base/port.h"

#include <gale/error.h>

typedef struct gx_watch {
    int fd; /* readable when there are notices; -1: none */
} gx_watch;

typedef enum gx_watch_what {
    GX_WATCH_NAME,  /* in a folder: `name` came, went, or is another file */
    GX_WATCH_BYTES, /* of a file */
    GX_WATCH_ENDED, /* what was watched is gone, and nothing more will be told of it */
    GX_WATCH_LOST,  /* too much at once: anything may have changed; `id` and `name` are none */
} gx_watch_what;

/* GALE_IO: the system has no more of them, or another reason. */
int gx_watch_open(gx_watch *watch, gale_error *error);
void gx_watch_close(gx_watch *watch);

/* The id of what is watched from now on (not negative; the same again for the same file, of which both is told then), or GALE_IO;
 * GALE_NOT_FOUND, with no report, for a folder that is not there. A file is watched by its descriptor, which may be closed then. */
int gx_watch_folder(gx_watch *watch, const char *path, gale_error *error);

/* The same of a folder or a symbolic link itself: GX_WATCH_BYTES when it is renamed, removed or changed for another one; nothing of the
 * names in it. GALE_NOT_FOUND, with no report, when nothing is there. */
int gx_watch_self(gx_watch *watch, const char *path, gale_error *error);
int gx_watch_file(gx_watch *watch, int fd, const char *path, gale_error *error);
void gx_watch_forget(gx_watch *watch, int id);

/* Hands out all that waits; without waiting. */
typedef void gx_watch_fn(void *user, int id, gx_watch_what what, const char *name);
void gx_watch_take(gx_watch *watch, gx_watch_fn *each, void *user);

/* Are all changes to the files at `path` told here? Not on file systems that other machines write to. */
bool gx_watch_reaches(const char *path);

/* The system calls, for tests that let them fail. To be set while no watch is open; NULL: the system's. */
typedef struct gx_watch_calls {
    int (*open)(int flags);
    int (*add)(int fd, const char *path, uint32_t mask);
} gx_watch_calls;
void gx_watch_use(const gx_watch_calls *calls);

#endif
