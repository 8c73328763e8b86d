#include "ds/window_agenda.h"

#include "base/assert.h"

#include <string.h>

#define TAG GX_TAG_OTHER

void gx_agenda_fini(gx_agenda *agenda) {
    gx_free(agenda->heap, TAG, agenda->times, agenda->capacity * sizeof *agenda->times);
    *agenda = (gx_agenda){ .heap = agenda->heap };
}

bool gx_agenda_reserve(gx_agenda *agenda) {
    if (agenda->from + agenda->count < agenda->capacity) return true;
    if (agenda->from > agenda->count) {
        memmove(agenda->times, agenda->times + agenda->from, agenda->count * sizeof *agenda->times);
        agenda->from = 0;
        return true;
    }
    return gx_grow(agenda->heap, TAG, (void **)&agenda->times, &agenda->capacity, agenda->from + agenda->count + 1,
                   sizeof *agenda->times);
}

/* The place of the first time that is not before `due`. */
static size_t place_of(const gx_agenda *agenda, int64_t due) {
    size_t low = agenda->from, high = agenda->from + agenda->count;
    if (agenda->count && agenda->times[high - 1].due < due) return high;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (agenda->times[middle].due < due)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static gx_agenda_time *time_at(gx_agenda *agenda, int64_t due) {
    size_t place = place_of(agenda, due), end = agenda->from + agenda->count;
    gx_agenda_time *time = agenda->times + place;
    if (place < end && time->due == due) return time;
    GX_CHECK(end < agenda->capacity);
    memmove(time + 1, time, (end - place) * sizeof *time);
    *time = (gx_agenda_time){ .due = due };
    agenda->count++;
    return time;
}

void gx_agenda_put(gx_agenda *agenda, gx_agenda_item *item, int64_t due) {
    gx_agenda_time *time = time_at(agenda, due);
    *item = (gx_agenda_item){ time->last, NULL, due };
    if (time->last)
        time->last->behind = item;
    else
        time->first = item;
    time->last = item;
}

void gx_agenda_take(gx_agenda *agenda, gx_agenda_item *item) {
    gx_agenda_time *time = agenda->times + place_of(agenda, item->due);
    GX_CHECK(time->due == item->due);
    if (item->before)
        item->before->behind = item->behind;
    else
        time->first = item->behind;
    if (item->behind)
        item->behind->before = item->before;
    else
        time->last = item->before;
}

gx_agenda_item *gx_agenda_first(gx_agenda *agenda) {
    for (; agenda->count && !agenda->times[agenda->from].first; agenda->count--) agenda->from++;
    if (agenda->count) return agenda->times[agenda->from].first;
    agenda->from = 0;
    return NULL;
}

gx_agenda_item *gx_agenda_after(const gx_agenda *agenda, int64_t due) {
    size_t i = due == INT64_MAX ? agenda->from + agenda->count : place_of(agenda, due + 1);
    for (; i < agenda->from + agenda->count; i++)
        if (agenda->times[i].first) return agenda->times[i].first;
    return NULL;
}

gx_agenda_item *gx_agenda_next(const gx_agenda *agenda, const gx_agenda_item *item) {
    return item->behind ? item->behind : gx_agenda_after(agenda, item->due);
}

const char *gx_agenda_flaw(const gx_agenda *agenda) {
    if (agenda->from + agenda->count > agenda->capacity) return "there are more times than room";
    for (size_t i = agenda->from; i < agenda->from + agenda->count; i++) {
        const gx_agenda_time *time = &agenda->times[i];
        const gx_agenda_item *before = NULL;
        if (i > agenda->from && time[-1].due >= time->due) return "times are not in order";
        for (const gx_agenda_item *item = time->first; item; before = item, item = item->behind) {
            if (item->before != before) return "an item does not name the one before it";
            if (item->due != time->due) return "an item is in the list of another time";
        }
        if (time->last != before) return "a list does not name its last item";
    }
    return NULL;
}
