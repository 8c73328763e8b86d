/* What is due when: items in the order of their times, and at one time in the order in which they were put there. An item
 * costs the same to put in and take out however many there are; what is asked for is the earliest time alone.
 *
 * What:    a list an hour that something is due at, the times in an array that is sorted. Times mostly come in order, and are
 *          few beside the items: windows end together.
 * Threads: one at a time. Owner: items are their owner's, and lie still while they are in it; the rest comes from a
 *          gx_heap. */
#ifndef GX_DS_WINDOW_AGENDA_H
#define GX_DS_WINDOW_AGENDA_H

#include "base/alloc.h"

typedef struct gx_agenda_item {
    struct gx_agenda_item *before, *behind;
    int64_t due;
} gx_agenda_item;

typedef struct gx_agenda_time {
    int64_t due;
    gx_agenda_item *first, *last; /* NULL: all have gone */
} gx_agenda_time;

typedef struct gx_agenda {
    gx_heap *heap;
    gx_agenda_time *times;
    size_t from, count; /* times[from] to times[from + count - 1]; those before are over */
    size_t capacity;
} gx_agenda;

void gx_agenda_fini(gx_agenda *agenda);

/* Room for one more time: the next gx_agenda_put succeeds. False when memory is out. */
bool gx_agenda_reserve(gx_agenda *agenda);

/* Behind all that are due at that time. There must be room. */
void gx_agenda_put(gx_agenda *agenda, gx_agenda_item *item, int64_t due);

/* Takes one out that is in it. */
void gx_agenda_take(gx_agenda *agenda, gx_agenda_item *item);

/* The first of the earliest; NULL: nothing is due. */
gx_agenda_item *gx_agenda_first(gx_agenda *agenda);

/* The first of those that are due later than `due`; NULL. */
gx_agenda_item *gx_agenda_after(const gx_agenda *agenda, int64_t due);

/* The one behind it, at the same time or later: a walk that changes nothing. */
gx_agenda_item *gx_agenda_next(const gx_agenda *agenda, const gx_agenda_item *item);

/* What does not hold, in words, or NULL. */
const char *gx_agenda_flaw(const gx_agenda *agenda);

#endif
