#include "kit/open_events.h"

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

void gx_open_events_renew(const gx_open_events *events, int64_t now, int64_t after, gale_collector *out) {
    for (gx_open_event *event = events->first; event; event = event->behind) {
        if (now - event->renewed < after) continue;
        for (uint32_t i = 0; i < event->count; i++) (void)gale_reset_timeout(out, event->lines[i]);
        event->renewed = now;
    }
}

/* --- What lasts --- */

static int save_event(const gx_open_events *events, const gx_open_event *event, gale_saver *to) {
    gale_value *lines = gx_alloc_array(events->heap, GX_TAG_OTHER, event->count, sizeof *lines);
    if (!lines) return GALE_NO_MEMORY;
    for (uint32_t i = 0; i < event->count; i++) lines[i] = gale_i64((int64_t)event->lines[i]);
    const gale_value record[3] = { gale_i64(event->last), gale_i64(event->renewed), gale_list(lines, event->count) };
    int rc = gale_save(to, record, 3);
    gx_free(events->heap, GX_TAG_OTHER, lines, event->count * sizeof *lines);
    return rc;
}

int gx_open_events_save(const gx_open_events *events, gale_saver *to) {
    int rc = GALE_OK;
    for (const gx_open_event *event = events->first; event && rc >= 0; event = event->behind)
        rc = save_event(events, event, to);
    return rc;
}

/* Its key is looked for in the line itself, since the file may name another one now. */
static int restore_line(gx_open_events *events, gx_recall *recall, gale_handle handle, const gale_value *times,
                        gx_open_line_fn *key_of, void *user) {
    const gale_tuple *line = gale_held(recall->out, handle);
    gale_str key;
    size_t bytes;
    if (!line) return GALE_OK;
    int rc = key_of(user, line, recall->out, &key, &bytes);
    if (rc < 0) return rc;
    gx_open_event *event = gx_open_events_find(events, key);
    if (!event) event = gx_open_events_make(events, key, times[1].as.i64);
    if (!event || !gx_open_event_reserve(events, event)) return GALE_NO_MEMORY;
    gx_open_event_add(events, event, handle, bytes, times[0].as.i64);
    return GALE_OK;
}

int gx_open_events_restore(gx_open_events *events, gx_recall *recall, gx_open_line_fn *key_of, void *user) {
    const gale_value *v;
    int rc;
    while ((rc = gx_recall_next(recall, "iil", &v)) > 0) {
        for (uint32_t i = 0; i < v[2].size && rc >= 0; i++) {
            gale_value line = gale_list_at(&v[2], i);
            if (line.type != GALE_TYPE_I64) return gx_recall_refuse(recall, "has a line that is not a number");
            rc = restore_line(events, recall, (gale_handle)line.as.i64, v, key_of, user);
        }
        if (rc < 0) return rc;
    }
    return rc;
}
