/* A set of descriptors to wait for: epoll.
 *
 * What:    each descriptor is waited for once: what was told of it is not told again before it is set anew. So nobody who
 *          may not read yet is told for ever that there is something to read. A hang-up or an error is told with whatever
 *          was asked for. The set itself is readable when there is something to take.
 * Threads: one at a time. Owner: the caller.
 * Limits:  the system's numbers of descriptors and of what a user may wait for (fs.epoll.max_user_watches). */
#ifndef GX_BASE_OS_POLL_H
#define GX_BASE_OS_POLL_H

#include "base/port.h"

enum { GX_POLL_READ = 1, GX_POLL_WRITE = 2, GX_POLL_HANGUP = 8 };

typedef struct gx_poll_news {
    uint64_t id;
    int32_t events; /* GX_POLL_READ | ... */
} gx_poll_news;

/* The system calls, or what a test or the simulator puts in their place: descriptors that are none of the system's. */
typedef struct gx_poll_calls {
    int (*open)(void);                                        /* a set, or -1 and errno */
    int (*add)(int set, int fd, int32_t events, uint64_t id); /* 0, or -1 and errno: EEXIST, EPERM, EBADF, ... */
    int (*again)(int set, int fd, int32_t events,
                 uint64_t id); /* of one that was added: ENOENT, EBADF when it was closed */
    int (*forget)(int set, int fd);
    int (*take)(int set, gx_poll_news *news, int room); /* without waiting: how many, or -1 and errno */
    void (*close)(int set);
    int64_t (*due)(
        int set); /* when there is something to take, on the runtime's clock, if nothing else happens; INT64_MAX: never.
                                NULL: the system's, which wakes who waits */
} gx_poll_calls;

extern const gx_poll_calls gx_poll_system;

/* Those in use; NULL: the system's. To be set while no set is open. */
const gx_poll_calls *gx_poll_now(void);
void gx_poll_use(const gx_poll_calls *calls);

#endif
