/* Events that are not whole yet, each under its key: the handles of its lines, which the engine holds. They stand in the order
 * in which something came last, so that those that have waited longest are found at once.
 * Threads: the task's. Owner: memory comes from the heap; tuples are the engine's. */
#ifndef GX_KIT_OPEN_EVENTS_H
#define GX_KIT_OPEN_EVENTS_H

#include "ds/bytes_map.h"

#include "kit/recall.h"

typedef struct gx_open_event {
    struct gx_open_event *before, *behind; /* by `last` */
    size_t entry;                          /* in the map */
    int64_t last;                          /* when a line came; of the runtime's clock */
    int64_t renewed;                       /* when the timeouts of its trees began anew, or its first line came */
    size_t bytes;                          /* of the lines, with what separates them */
    uint32_t count;
    size_t capacity;
    gale_handle *lines;
} gx_open_event;

typedef struct gx_open_events {
    gx_heap *heap;
    gx_bytes_map *keys; /* to pointers to events */
    gx_open_event *first, *last;
    gx_open_event *spare; /* may be NULL */
} gx_open_events;

/* False when memory is out. */
bool gx_open_events_init(gx_open_events *events, gx_heap *heap, uint64_t seed);
void gx_open_events_fini(gx_open_events *events);

size_t gx_open_events_count(const gx_open_events *events);

/* The event of a key, or NULL. */
gx_open_event *gx_open_events_find(const gx_open_events *events, gale_str key);

/* Makes that of a key which has none, with room for a line; it stands behind all others. NULL when memory is out. */
gx_open_event *gx_open_events_make(gx_open_events *events, gale_str key, int64_t now);

/* Makes room for a line more; false when memory is out. */
bool gx_open_event_reserve(gx_open_events *events, gx_open_event *event);

/* Adds a line, for which there is room. `bytes` with the separator. The event then stands behind all others. */
void gx_open_event_add(gx_open_events *events, gx_open_event *event, gale_handle line, size_t bytes, int64_t now);

void gx_open_events_forget(gx_open_events *events, gx_open_event *event);

/* Lines that wait for others are not tuples that got lost: the timeouts of their trees begin anew, once `after` ns
 * have passed. */
void gx_open_events_renew(const gx_open_events *events, int64_t now, int64_t after, gale_collector *out);

/* A record of each event, in their order: when its last line came, when its timeouts began anew, and the handles of
 * its lines. */
int gx_open_events_save(const gx_open_events *events, gale_saver *to);

/* Reads such records. `key_of` says the key of a line that is held, GALE_OK, or an error. What is not held any more
 * began again. */
typedef int gx_open_line_fn(void *user, const gale_tuple *line, gale_collector *out, gale_str *ret_key,
                            size_t *ret_bytes);
int gx_open_events_restore(gx_open_events *events, gx_recall *recall, gx_open_line_fn *key_of, void *user);

#endif
