#include "ds/timers.h"

#include "base/assert.h"

void gx_timers_fini(gx_timers *timers) {
    gx_free(timers->heap, GX_TAG_OTHER, timers->list, timers->capacity * sizeof *timers->list);
    gx_free(timers->heap, GX_TAG_OTHER, timers->places, timers->place_capacity * sizeof *timers->places);
    *timers = (gx_timers)GX_TIMERS_INIT(timers->heap);
}

bool gx_timers_reserve(gx_timers *timers, uint32_t numbers) {
    return gx_grow(timers->heap, GX_TAG_OTHER, &timers->list, &timers->capacity, numbers, sizeof *timers->list) &&
           gx_grow(timers->heap, GX_TAG_OTHER, &timers->places, &timers->place_capacity, numbers,
                   sizeof *timers->places);
}

static bool is_before(gx_timer a, gx_timer b) {
    return a.at != b.at ? a.at < b.at : a.number < b.number;
}

static void put(gx_timers *timers, uint32_t place, gx_timer timer) {
    timers->list[place] = timer;
    timers->places[timer.number] = place + 1;
}

/* Where `timer` belongs at `place` or above it. */
static void rise(gx_timers *timers, uint32_t place, gx_timer timer) {
    while (place > 0 && is_before(timer, timers->list[(place - 1) / 2])) {
        put(timers, place, timers->list[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    put(timers, place, timer);
}

/* The same, or below. */
static void settle(gx_timers *timers, uint32_t place, gx_timer timer) {
    for (uint32_t child; (child = 2 * place + 1) < timers->count; place = child) {
        if (child + 1 < timers->count && is_before(timers->list[child + 1], timers->list[child])) child++;
        if (!is_before(timers->list[child], timer)) break;
        put(timers, place, timers->list[child]);
    }
    rise(timers, place, timer);
}

static void take_out(gx_timers *timers, uint32_t place) {
    timers->places[timers->list[place].number] = 0;
    gx_timer last = timers->list[--timers->count];
    if (place < timers->count) settle(timers, place, last);
}

void gx_timers_set(gx_timers *timers, uint32_t number, int64_t at) {
    GX_CHECK(number < timers->place_capacity);
    uint32_t place = timers->places[number];
    if (at == INT64_MAX) {
        if (place) take_out(timers, place - 1);
    } else {
        settle(timers, place ? place - 1 : timers->count++, (gx_timer){ at, number });
    }
}

bool gx_timers_take(gx_timers *timers, int64_t now, uint32_t *ret_number) {
    if (gx_timers_first(timers) > now) return false;
    if (!timers->count) return false; /* now is INT64_MAX */
    *ret_number = timers->list[0].number;
    take_out(timers, 0);
    return true;
}
