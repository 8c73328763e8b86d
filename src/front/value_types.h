/* Sets of types that a field's values may have, and the fields of a stream with theirs, as far as a topology file says
 * them.
 *
 * What:    a set has the bit GX_TYPES(GALE_TYPE_x) for each type that may come; null is left out, as any field may be
 *          null. All bits (GX_TYPES_ANY) say that nothing is known. Tables write sets as words: "int float", "string
 *          bytes", "any".
 * Threads: any. Owner: a stream's fields borrow their names; who makes a stream says where it is kept. */
#ifndef GX_FRONT_VALUE_TYPES_H
#define GX_FRONT_VALUE_TYPES_H

#include "base/str.h"

#include <gale/value.h>

#define GX_TYPES(type) (1u << (type))
#define GX_TYPES_NUMBER (GX_TYPES(GALE_TYPE_I64) | GX_TYPES(GALE_TYPE_F64))
#define GX_TYPES_TEXT (GX_TYPES(GALE_TYPE_STRING) | GX_TYPES(GALE_TYPE_BYTES))
#define GX_TYPES_ANY (((1u << GALE_TYPE_COUNT) - 1) & ~GX_TYPES(GALE_TYPE_NULL))

enum { GX_TYPES_WORDS = 96 };

/* Reads words with blanks between them. False: one of them is no type. */
bool gx_types_read(gale_str words, uint32_t *ret_types);

/* "an int or a float", for messages; in `room`. */
const char *gx_types_text(uint32_t types, char room[GX_TYPES_WORDS]);

/* Where a field of a stream got its type. */
typedef struct gx_typed_field {
    gale_str name;
    uint32_t types;
    const struct gx_yaml *place;   /* where the file says so; NULL: nowhere */
    const struct gx_vertex *giver; /* the component that gives it; NULL where nothing is known */
} gx_typed_field;

/* A stream of a component. */
typedef struct gx_typed_stream {
    const char *name;
    uint32_t count;
    gx_typed_field *fields;
} gx_typed_stream;

/* NULL where it has no such field, or is NULL itself. */
const gx_typed_field *gx_typed_find(const gx_typed_stream *stream, gale_str name);

/* Can nothing that comes in the field be one of `taken`? Never where nothing is known. */
GX_INLINE bool gx_types_exclude(uint32_t types, uint32_t taken) {
    return types && !(types & taken);
}

#endif
