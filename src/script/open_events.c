#include "script/open_events.h"

bool gx_open_events_init(gx_open_events *events, gx_heap *heap, uint64_t seed) {
    *events = (gx_open_events){ .heap = heap, .keys = gx_bytes_map_new(heap, sizeof(gx_open_event *), seed) };
    return events->keys;
}

static gx_open_event *at(const gx_open_events *events, size_t entry) {
    return *(gx_open_event **)gx_bytes_map_at(events->keys, entry, NULL);
}

static void free_event(gx_open_events *events, gx_open_event *event) {
    if (!event) return;
    gx_free(events->heap, GX_TAG_OTHER, event->lines, event->capacity * sizeof *event->lines);
    gx_free(events->heap, GX_TAG_OTHER, event, sizeof *event);
}

void gx_open_events_fini(gx_open_events *events) {
    for (size_t i = 0; events->keys && i < gx_bytes_map_size(events->keys); i++) free_event(events, at(events, i));
    free_event(events, events->spare);
    gx_bytes_map_free(events->keys);
}

size_t gx_open_events_count(const gx_open_events *events) {
    return gx_bytes_map_size(events->keys);
}

gx_open_event *gx_open_events_find(const gx_open_events *events, gale_str key) {
    gx_open_event **found = gx_bytes_map_get(events->keys, key);
    return found ? *found : NULL;
}

/* --- The order --- */

static void unlink_event(gx_open_events *events, gx_open_event *event) {
    *(event->before ? &event->before->behind : &events->first) = event->behind;
    *(event->behind ? &event->behind->before : &events->last) = event->before;
}

static void link_last(gx_open_events *events, gx_open_event *event) {
    event->before = events->last;
    event->behind = NULL;
    *(event->before ? &event->before->behind : &events->first) = event;
    events->last = event;
}

/* --- Coming and going --- */

static gx_open_event *take_spare(gx_open_events *events) {
    gx_open_event *made = events->spare;
    events->spare = NULL;
    if (!made) return gx_alloc(events->heap, GX_TAG_OTHER, sizeof *made);
    *made = (gx_open_event){ .capacity = made->capacity, .lines = made->lines };
    return made;
}

gx_open_event *gx_open_events_make(gx_open_events *events, gale_str key, int64_t now) {
    gx_open_event *made = take_spare(events);
    gx_open_event **place = made && gx_open_event_reserve(events, made) ? gx_bytes_map_put(events->keys, key, NULL)
                                                                        : NULL;
    if (!place) {
        free_event(events, made);
        return NULL;
    }
    *place = made;
    made->entry = gx_bytes_map_index(events->keys, place);
    made->last = made->renewed = now;
    link_last(events, made);
    return made;
}

bool gx_open_event_reserve(gx_open_events *events, gx_open_event *event) {
    return gx_grow(events->heap, GX_TAG_OTHER, &event->lines, &event->capacity, (size_t)event->count + 1,
                   sizeof *event->lines);
}

void gx_open_event_add(gx_open_events *events, gx_open_event *event, gale_handle line, size_t bytes, int64_t now) {
    event->lines[event->count++] = line;
    event->bytes += bytes;
    event->last = now;
    unlink_event(events, event);
    link_last(events, event);
}

/* The last entry of the map takes the place of one that goes. */
void gx_open_events_forget(gx_open_events *events, gx_open_event *event) {
    size_t entry = event->entry;
    unlink_event(events, event);
    gx_bytes_map_remove_at(events->keys, entry);
    if (entry < gx_bytes_map_size(events->keys)) at(events, entry)->entry = entry;
    free_event(events, events->spare);
    events->spare = event;
}
