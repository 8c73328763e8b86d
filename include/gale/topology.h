/* gale/topology.h: what runs.
 *
 * What:    a builder for topologies: spouts, bolts, streams between them. It checks what Storm checks, and more; each
 *          error names the component, stream or field, and the nearest name that exists.
 * Threads: one thread at a time while it is built; once a runtime has been made of it, it does not change and may be
 *          read by all.
 * Owner:   the topology copies what it is given, except `user` of a component, which it frees at its own end.
 * Errors:  the first error sticks. Every later call returns it again, and so do gale_topology_check and
 *          gale_runtime_new: a program may build without looking and check once.
 * Limits:  GALE_TASKS_MAX tasks; names are free of control characters, and do not begin with "__".
 */
#ifndef GALE_TOPOLOGY_H
#define GALE_TOPOLOGY_H

#include <gale/component.h>

GALE_BEGIN

enum { GALE_TASKS_MAX = 32767, GALE_STREAMS_MAX = 65535 };

typedef struct gale_topology gale_topology;

typedef enum gale_grouping_kind {
    GALE_GROUPING_SHUFFLE, /* evenly, round robin over a shuffled list */
    GALE_GROUPING_FIELDS,  /* equal values of these fields go to the same task */
    GALE_GROUPING_ALL,     /* every task gets every tuple */
    GALE_GROUPING_GLOBAL,  /* the task with the lowest id gets all */
    GALE_GROUPING_COUNT
} gale_grouping_kind;

/* How a bolt's tasks share a stream. `fields` is for GALE_GROUPING_FIELDS: names separated by commas. Copied. */
typedef struct gale_grouping {
    size_t size;
    int32_t kind;
    const char *fields;
} gale_grouping;

static inline gale_grouping gale_grouping_of(int32_t kind, const char *fields) {
    gale_grouping g = { sizeof g, kind, fields };
    return g;
}
static inline gale_grouping gale_shuffle(void) {
    return gale_grouping_of(GALE_GROUPING_SHUFFLE, NULL);
}
static inline gale_grouping gale_fields(const char *names) {
    return gale_grouping_of(GALE_GROUPING_FIELDS, names);
}
static inline gale_grouping gale_all(void) {
    return gale_grouping_of(GALE_GROUPING_ALL, NULL);
}
static inline gale_grouping gale_global(void) {
    return gale_grouping_of(GALE_GROUPING_GLOBAL, NULL);
}

/* "fields" for GALE_GROUPING_FIELDS. Static storage. */
GALE_API const char *gale_grouping_name(int32_t kind);

/* An empty topology. `name` as Storm allows it: not empty, none of / . : \. NULL when memory is out; a bad name is the
 * first error. */
GALE_API GALE_MUST_USE gale_topology *gale_topology_new(const char *name);
GALE_API void gale_topology_free(gale_topology *topology);

/* Adds a component with `parallelism` tasks (at least 1). */
GALE_API int gale_topology_add_spout(gale_topology *topology, const char *name, gale_spout spout, uint32_t parallelism);
GALE_API int gale_topology_add_bolt(gale_topology *topology, const char *name, gale_bolt bolt, uint32_t parallelism);

/* `bolt` (added already) receives `stream` (NULL: "default") of `source`, which may be added later. Subscribing to the
 * same stream again replaces the grouping, as in Storm. */
GALE_API int gale_topology_subscribe(gale_topology *topology, const char *bolt, const char *source, const char *stream,
                                     gale_grouping grouping);

/* A key of the topology's configuration (`component` NULL) or of one component's. Returns as gale_config_set does: 1
 * says that the key has no effect here. */
GALE_API int gale_topology_set(gale_topology *topology, const char *component, const char *key, gale_value value);

/* Is it whole and sound? Reports the first error there was, or what the whole shows: unknown components, streams and
 * fields, no spout, too many tasks. */
GALE_API int gale_topology_check(gale_topology *topology, gale_error *error);

GALE_API const char *gale_topology_name(const gale_topology *topology);
GALE_API const gale_config *gale_topology_config(const gale_topology *topology);

GALE_END

#endif
