#include "connect/sqlite/places.h"

#include <gale/error.h>
#include <stdlib.h>
#include <string.h>

void lite_places_free(lite_places *places) {
    free(places->list);
    *places = (lite_places){ .list = NULL };
}

static void move_down(lite_places *places) {
    if (!places->first) return;
    places->end -= places->first;
    memmove(places->list, places->list + places->first, places->end * sizeof *places->list);
    places->first = 0;
}

static bool have_room(lite_places *places) {
    if (places->first > places->end / 2) move_down(places);
    if (places->end < places->room) return true;
    size_t room = places->room ? 2 * places->room : 256;
    lite_place *list = realloc(places->list, room * sizeof *list);
    if (!list) return false;
    places->list = list;
    places->room = room;
    return true;
}

int lite_places_add(lite_places *places, int64_t place) {
    if (!have_room(places)) return GALE_NO_MEMORY;
    places->list[places->end++] = (lite_place){ place, false };
    places->count++;
    return 0;
}

static lite_place *find(lite_places *places, int64_t place) {
    size_t low = places->first, high = places->end;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (places->list[middle].place < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low < places->end && places->list[low].place == place ? &places->list[low] : NULL;
}

bool lite_places_done(lite_places *places, int64_t place) {
    lite_place *found = find(places, place);
    if (!found || found->done) return false;
    found->done = true;
    places->count--;
    while (places->first < places->end && places->list[places->first].done) places->first++;
    return true;
}
