#include "connect/mqtt/settled.h"

#include <stdlib.h>
#include <string.h>

void mqtt_settled_free(mqtt_settled *settled) {
    free(settled->places);
    settled->places = NULL;
}

bool mqtt_settled_add(mqtt_settled *settled, int64_t place) {
    if (settled->count == settled->capacity) {
        size_t capacity = settled->capacity ? 2 * settled->capacity : 64;
        int64_t *places = realloc(settled->places, capacity * sizeof *places);
        if (!places) return false;
        settled->places = places;
        settled->capacity = capacity;
    }
    settled->places[settled->count++] = place;
    return true;
}

void mqtt_settled_cut(mqtt_settled *settled, uint64_t checkpoint) {
    settled->cut = settled->count;
    settled->checkpoint = checkpoint;
}

size_t mqtt_settled_lasting(const mqtt_settled *settled, uint64_t checkpoint) {
    return checkpoint >= settled->checkpoint ? settled->cut : 0;
}

void mqtt_settled_forget(mqtt_settled *settled, size_t count) {
    settled->count -= count;
    settled->cut -= count;
    if (settled->count) memmove(settled->places, settled->places + count, settled->count * sizeof *settled->places);
}
