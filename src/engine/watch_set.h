/* What an executor's watches wait for: descriptors in one set, times in one heap.
 *
 * What:    a watch has a place, and a name that no other one ever has. What happens to it puts it into a list.
 *          Its descriptor is told of once (base/os/poll.h), and again when it was armed anew.
 * Threads: the executor's. Owner: the executor; gx_watches_fini gives all back. Places stay, slots move when one is made. */
#ifndef GX_ENGINE_WATCH_SET_H
#define GX_ENGINE_WATCH_SET_H

#include "ds/bytes_map.h"
#include "ds/timers.h"

#include <gale/watch.h>

struct gx_task;

enum { GX_WATCHES_LOOK = 50 * 1000 }; /* ns */

enum { GX_WATCH_ASKED = GALE_WATCH_READ | GALE_WATCH_WRITE };

/* Of watches, by their place plus 1; 0: none. */
typedef struct gx_watch_list {
    uint32_t first, last;
} gx_watch_list;

typedef struct gx_watched {
    struct gx_task *task; /* NULL: it is free */
    gale_watch_fn *call;  /* NULL: a spout's own */
    void *user;
    gx_watch_list *in; /* NULL: none */
    uint32_t before, behind;
    uint32_t generation;
    int fd;         /* -1: none, or closed */
    uint8_t wanted; /* GALE_WATCH_READ, GALE_WATCH_WRITE */
    uint8_t happened;
    bool added; /* to the set */
    bool armed; /* and it has not told */
    bool always;
} gx_watched;

typedef struct gx_watches {
    gx_watched *slots;
    size_t capacity;
    uint32_t used;  /* slots that were taken once */
    uint32_t count; /* that are now */
    uint32_t armed;
    bool some_kept; /* by tasks that may not run */
    gx_watch_list free;
    gx_watch_list listed;
    gx_timers timers;
    gx_bytes_map *owners; /* by descriptor: the place of the watch that has it in the set; made with the first */
    int set;              /* -1: not open */
    int64_t look_due;
} gx_watches;

void gx_watches_init(gx_watches *watches, gx_heap *heap);
void gx_watches_fini(gx_watches *watches);

/* Opens the set, unless it is open. GALE_IO. */
int gx_watches_open(gx_watches *watches, gale_error *error);

/* A free one becomes `task`'s; NULL: memory is out. */
gx_watched *gx_watches_take(gx_watches *watches, struct gx_task *task);
void gx_watches_give(gx_watches *watches, gx_watched *slot);

/* Its place, from 1, and its name. */
GX_INLINE uint32_t gx_watch_place(const gx_watches *watches, const gx_watched *slot) {
    return (uint32_t)(slot - watches->slots) + 1;
}

GX_INLINE gale_watch gx_watch_name(const gx_watches *watches, const gx_watched *slot) {
    return (gale_watch)slot->generation << 32 | gx_watch_place(watches, slot);
}

/* NULL when there is none. */
gx_watched *gx_watches_find(const gx_watches *watches, gale_watch name);

void gx_watches_push(gx_watches *watches, gx_watch_list *list, gx_watched *slot);
void gx_watches_unlist(gx_watches *watches, gx_watched *slot);

/* Its time; 0: none. */
void gx_watches_set_time(gx_watches *watches, gx_watched *slot, int64_t at);

/* Waits for what it wants of its descriptor, or for nothing. -1 and errno: ENOENT and EBADF when that was closed. */
int gx_watches_arm(gx_watches *watches, gx_watched *slot);

/* It leaves the set; and the same where its descriptor was closed, so that whatever has the number now is another's. */
void gx_watches_disarm(gx_watches *watches, gx_watched *slot);
void gx_watches_lose(gx_watches *watches, gx_watched *slot);

/* Lists what has happened by now. Descriptors are looked at if `looks`, or if it is time to. */
void gx_watches_take_news(gx_watches *watches, int64_t now, bool looks);

/* By the clock alone. */
int64_t gx_watches_due(const gx_watches *watches, int64_t now);

#endif
