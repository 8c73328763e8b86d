#include "engine/watch_set.h"

#include "base/os/poll.h"

#include <errno.h>
#include <string.h>

enum { NEWS = 64 };

static_assert(GALE_WATCH_READ == (int)GX_POLL_READ && GALE_WATCH_WRITE == (int)GX_POLL_WRITE &&
                  GALE_WATCH_HANGUP == (int)GX_POLL_HANGUP,
              "events go through as they are");

/* --- Lists -------------------------------------------------------------------------------------------------------- */

void gx_watches_push(gx_watches *w, gx_watch_list *list, gx_watched *slot) {
    uint32_t place = gx_watch_place(w, slot);
    slot->in = list;
    slot->before = list->last;
    slot->behind = 0;
    if (list->last)
        w->slots[list->last - 1].behind = place;
    else
        list->first = place;
    list->last = place;
}

void gx_watches_unlist(gx_watches *w, gx_watched *slot) {
    gx_watch_list *list = slot->in;
    if (!list) return;
    if (slot->before)
        w->slots[slot->before - 1].behind = slot->behind;
    else
        list->first = slot->behind;
    if (slot->behind)
        w->slots[slot->behind - 1].before = slot->before;
    else
        list->last = slot->before;
    slot->in = NULL;
}

/* --- Their life --------------------------------------------------------------------------------------------------- */

void gx_watches_init(gx_watches *watches, gx_heap *heap) {
    *watches = (gx_watches){ .timers = GX_TIMERS_INIT(heap), .set = -1 };
}

void gx_watches_fini(gx_watches *watches) {
    if (watches->set >= 0) gx_poll_now()->close(watches->set);
    gx_free(watches->timers.heap, GX_TAG_OTHER, watches->slots, watches->capacity * sizeof *watches->slots);
    gx_timers_fini(&watches->timers);
    if (watches->owners) gx_bytes_map_free(watches->owners);
    watches->owners = NULL;
    watches->set = -1;
}

int gx_watches_open(gx_watches *watches, gale_error *error) {
    if (watches->set < 0) watches->set = gx_poll_now()->open();
    if (watches->set >= 0) return GALE_OK;
    return gale_error_set(error, GALE_IO, "the system gives no set of descriptors: %s", strerror(errno));
}

gx_watched *gx_watches_find(const gx_watches *w, gale_watch name) {
    uint32_t place = (uint32_t)name;
    gx_watched *slot = place && place <= w->used ? &w->slots[place - 1] : NULL;
    return slot && slot->task && slot->generation == (uint32_t)(name >> 32) ? slot : NULL;
}

gx_watched *gx_watches_take(gx_watches *w, struct gx_task *task) {
    uint32_t place = w->free.first;
    if (place) {
        gx_watches_unlist(w, &w->slots[place - 1]);
    } else {
        gx_heap *heap = w->timers.heap;
        if (!gx_timers_reserve(&w->timers, w->used + 1) ||
            !gx_grow(heap, GX_TAG_OTHER, &w->slots, &w->capacity, w->used + 1, sizeof *w->slots))
            return NULL;
        place = ++w->used;
    }
    gx_watched *slot = &w->slots[place - 1];
    *slot = (gx_watched){ .task = task, .generation = slot->generation + 1, .fd = -1 };
    w->count++;
    return slot;
}

void gx_watches_give(gx_watches *w, gx_watched *slot) {
    gx_watches_unlist(w, slot);
    gx_watches_disarm(w, slot);
    gx_watches_set_time(w, slot, 0);
    slot->task = NULL;
    gx_watches_push(w, &w->free, slot);
    w->count--;
}

void gx_watches_set_time(gx_watches *w, gx_watched *slot, int64_t at) {
    gx_timers_set(&w->timers, gx_watch_place(w, slot) - 1, at ? at : INT64_MAX);
}

/* --- Descriptors -------------------------------------------------------------------------------------------------- */

static gale_str key_of(const int *fd) {
    return (gale_str){ (const char *)fd, sizeof *fd };
}

/* It is in the set no more. Another one may have its number by now. */
static void disown(gx_watches *w, gx_watched *slot) {
    const uint32_t *owner = slot->added ? gx_bytes_map_get(w->owners, key_of(&slot->fd)) : NULL;
    if (owner && *owner == gx_watch_place(w, slot)) gx_bytes_map_remove(w->owners, key_of(&slot->fd));
    w->armed -= slot->armed;
    slot->added = slot->armed = false;
}

void gx_watches_disarm(gx_watches *w, gx_watched *slot) {
    if (slot->added) (void)gx_poll_now()->forget(w->set, slot->fd);
    disown(w, slot);
}

void gx_watches_lose(gx_watches *w, gx_watched *slot) {
    disown(w, slot);
    slot->fd = -1;
    slot->wanted = 0;
}

/* The system knows a descriptor that it is given anew: the watch that had its number has lost its own. */
static int own(gx_watches *w, gx_watched *slot) {
    bool made;
    if (!w->owners) w->owners = gx_bytes_map_new(w->timers.heap, sizeof(uint32_t), 0);
    uint32_t *owner = w->owners ? gx_bytes_map_put(w->owners, key_of(&slot->fd), &made) : NULL;
    if (!owner) return errno = ENOMEM, -1;
    gx_watched *before = made ? NULL : &w->slots[*owner - 1];
    *owner = gx_watch_place(w, slot);
    if (before) gx_watches_lose(w, before);
    return 0;
}

static int add(gx_watches *w, gx_watched *slot) {
    const gx_poll_calls *calls = gx_poll_now();
    if (calls->add(w->set, slot->fd, slot->wanted, gx_watch_name(w, slot)) < 0) return -1;
    if (own(w, slot) < 0) return calls->forget(w->set, slot->fd), errno = ENOMEM, -1;
    slot->added = slot->armed = true;
    w->armed++;
    return 0;
}

int gx_watches_arm(gx_watches *w, gx_watched *slot) {
    if (!slot->wanted) {
        if (slot->armed) gx_watches_disarm(w, slot);
        return 0;
    }
    if (!slot->added) return add(w, slot);
    if (gx_poll_now()->again(w->set, slot->fd, slot->wanted, gx_watch_name(w, slot)) < 0) return -1;
    w->armed += !slot->armed;
    slot->armed = true;
    return 0;
}

/* --- News --------------------------------------------------------------------------------------------------------- */

static void happened(gx_watches *w, gx_watched *slot, int32_t events) {
    slot->happened |= (uint8_t)events;
    if (!slot->in) gx_watches_push(w, &w->listed, slot);
}

static void take_told(gx_watches *w, int64_t now) {
    gx_poll_news news[NEWS];
    int count = gx_poll_now()->take(w->set, news, NEWS);
    w->look_due = count > 0 ? 0 : now + GX_WATCHES_LOOK;
    for (int i = 0; i < count; i++) {
        gx_watched *slot = gx_watches_find(w, news[i].id);
        if (!slot) continue;
        w->armed -= slot->armed;
        slot->armed = false;
        int32_t events = news[i].events;
        if (!(events & slot->wanted)) events |= slot->wanted; /* a hang-up alone: whoever tries will see it */
        happened(w, slot, events & (slot->wanted | GALE_WATCH_HANGUP));
    }
}

void gx_watches_take_news(gx_watches *w, int64_t now, bool looks) {
    uint32_t number;
    if (w->armed && (looks || now >= w->look_due)) take_told(w, now);
    while (gx_timers_take(&w->timers, now, &number)) happened(w, &w->slots[number], GALE_WATCH_TIME);
}

int64_t gx_watches_due(const gx_watches *watches, int64_t now) {
    if (watches->listed.first) return now;
    int64_t due = gx_timers_first(&watches->timers);
    const gx_poll_calls *calls = gx_poll_now();
    int64_t known = calls->due && watches->set >= 0 ? calls->due(watches->set) : INT64_MAX;
    return known < due ? known : due;
}
