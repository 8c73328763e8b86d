/* Names for what rows and batches carry as numbers: who emitted, on which stream, with which fields. Made by the plan,
 * read by the accessors of gale/tuple.h. Frozen; any thread reads. */
#ifndef GX_TUPLE_SCHEMA_H
#define GX_TUPLE_SCHEMA_H

#include "base/port.h"

#include <gale/tuple.h>

typedef struct gx_schema_stream {
    const char *name;
    const char *const *fields;
    uint32_t field_count;
} gx_schema_stream;

typedef struct gx_schema_component {
    const char *name;
    const gx_schema_stream *streams;
    uint32_t stream_count;
} gx_schema_component;

/* components[task]: the component of each task; [0] is "__system", whose stream 0 is "__tick" (period). */
typedef struct gale_schema {
    const gx_schema_component *const *components;
    uint32_t task_count; /* tasks are 1..task_count */
} gale_schema;

enum { GX_STREAM_TICK = 0 };

/* The names of the fields of its stream, for who wants to know whether it is the same stream as before; NULL: it has none. */
const void *gx_tuple_fields(const gale_tuple *tuple);

/* The "__system" component. Static storage. */
const gx_schema_component *gx_schema_system(void);

#endif
