/* gale/tuple.h: reading a tuple.
 *
 * What:    a tuple is delivered as a row: a head and a body. The head belongs to the hop (on which stream, which trees it
 *          is part of); the body is immutable, position-free, little-endian, and the same bytes everywhere:
 *
 *              u32 count | count tag bytes | zeros up to a multiple of 8 | count slots of 8 bytes | variable part
 *
 *          A slot holds a scalar in place, or u32 offset (from the body's first byte) and u32 size. Strings and bytes
 *          are followed by a NUL that is not counted; lists and maps are bodies themselves (a map's count is twice its
 *          entries: key, value, key, value, sorted by key), 8-aligned. The variable part holds the strings and bytes
 *          one after another, zeros up to a multiple of 8, then the lists and maps: nothing else, in the values' order.
 * Owner:   a tuple and everything read from it are borrowed until `execute` returns, or the next one is taken from a
 *          batch; gale_tuple_hold (gale/component.h)
 *          keeps one longer.
 * Threads: a tuple belongs to the thread of the task that was given it.
 * Misuse:  the inline functions are hot and assert only: `tuple`, `body`. The others check.
 */
#ifndef GALE_TUPLE_H
#define GALE_TUPLE_H

#include <gale/value.h>

#include <string.h>

GALE_BEGIN

/* Names one delivery of a tuple to one task: 16 bits task, 24 bits index, 24 bits generation. 0 is no tuple. A handle
 * whose tuple is settled is recognised: using it is an error without effect, never a crash. */
typedef uint64_t gale_handle;

typedef struct gale_body {
    uint32_t count;
    uint8_t tags[4]; /* `count` of them */
} gale_body;

/* The engine's part of a row; see src/tuple/row.h. */
struct gale_head;

/* The names of what tasks emit; see src/tuple/schema.h. */
struct gale_schema;

/* A view of one delivered tuple. Use the functions below; the fields are here so that they can be inline. */
typedef struct gale_tuple {
    const gale_body *body;
    const struct gale_head *head;
    const struct gale_schema *schema;
    gale_handle handle;
    uint32_t source; /* the task that emitted it; 0: the system */
    uint32_t stream; /* of that task's component, counted as it declares them */
} gale_tuple;

/* How many values a body has. Reads bytes: a body that was packed into a key may lie at any address. */
GALE_INLINE uint32_t gale_body_count(const gale_body *body) {
    uint32_t count;
    GALE_ASSERT(body);
    memcpy(&count, body, sizeof count);
    return count;
}

/* Its slots, eight bytes a value. */
GALE_INLINE const uint8_t *gale_body_slots(const gale_body *body) {
    return (const uint8_t *)body + ((4u + (size_t)gale_body_count(body) + 7u) & ~(size_t)7u);
}

/* Value `index` of a body; the null value when there is none. */
GALE_INLINE gale_value gale_body_value(const gale_body *body, size_t index) {
    gale_value v = { GALE_TYPE_NULL, 0, 0, 0, { 0 } };
    if (index >= gale_body_count(body)) return v;
    v.type = ((const uint8_t *)body)[4 + index];
    const uint8_t *slot = gale_body_slots(body) + 8 * index;
    if (v.type < GALE_TYPE_STRING) {
        memcpy(&v.as, slot, 8);
        return v;
    }
    uint32_t place[2];
    memcpy(place, slot, 8);
    v.as.string = (const char *)body + place[0];
    v.size = place[1];
    if (v.type >= GALE_TYPE_LIST) {
        v.encoded = 1;
        v.size = gale_body_count(v.as.body) >> (v.type == GALE_TYPE_MAP);
    }
    return v;
}

/* How many values the tuple has. */
GALE_INLINE size_t gale_tuple_size(const gale_tuple *tuple) {
    GALE_ASSERT(tuple);
    return tuple->body->count;
}

/* Value `index`, in the order of the stream's fields; the null value when there is none. Constant time. */
GALE_INLINE gale_value gale_tuple_value(const gale_tuple *tuple, size_t index) {
    GALE_ASSERT(tuple);
    return gale_body_value(tuple->body, index);
}

/* The handle to acknowledge, fail, hold or anchor with. */
GALE_INLINE gale_handle gale_tuple_handle(const gale_tuple *tuple) {
    GALE_ASSERT(tuple);
    return tuple->handle;
}

/* The value of the field `name` of the tuple's stream. False when the stream has no such field. `ret_value` may be
 * NULL. Looks the name up: in a bolt that runs often, ask once in prepare (gale_context_field) and use the index. */
GALE_API bool gale_tuple_get(const gale_tuple *tuple, const char *name, gale_value *ret_value);

/* Who sent it: component, task (0 is the system) and stream. Storage of the runtime; "" and 0 for NULL. */
GALE_API const char *gale_tuple_component(const gale_tuple *tuple);
GALE_API uint32_t gale_tuple_task(const gale_tuple *tuple);
GALE_API const char *gale_tuple_stream(const gale_tuple *tuple);

/* The name of field `index` of the tuple's stream, or NULL. */
GALE_API const char *gale_tuple_field(const gale_tuple *tuple, size_t index);

/* Is it a tick (component "__system", stream "__tick", one value: the period in seconds)? */
GALE_API bool gale_tuple_is_tick(const gale_tuple *tuple);

GALE_END

#endif
