/* Chosen fields of a tuple: a list of names, "host, agent", that a component's options give, and their places in the
 * streams that come in. They are looked for when a tuple of another stream than the last one comes, first where they were.
 * Threads: a list is frozen; places belong to their task. Owner: a list holds its text and may be copied with = to
 * where it stays. Limits: GX_FIELDS_MAX names, GX_FIELDS_TEXT bytes. */
#ifndef GX_KIT_FIELDS_H
#define GX_KIT_FIELDS_H

#include "kit/define.h"
#include "tuple/key.h"
#include "tuple/schema.h"

enum { GX_FIELDS_MAX = 32, GX_FIELDS_TEXT = 1024 };

typedef struct gx_fields {
    uint32_t count;
    struct {
        uint16_t at, size;
    } names[GX_FIELDS_MAX];
    char text[GX_FIELDS_TEXT]; /* as it was given */
} gx_fields;

typedef struct gx_field_places {
    const void *of; /* gx_tuple_fields of the stream that they are of; NULL: of none */
    uint32_t at[GX_FIELDS_MAX];
} gx_field_places;

/* The name at `index`, borrowed from the list. */
GX_INLINE gale_str gx_fields_name(const gx_fields *fields, uint32_t index) {
    return (gale_str){ fields->text + fields->names[index].at, fields->names[index].size };
}

/* `what` is how errors call the list, "dedupe bolt: key". GALE_INVALID: no name, an empty one, one that comes twice, or
 * beyond a limit; the list is untouched. */
int gx_fields_parse(const char *text, const char *what, gx_fields *ret_fields, gale_error *error);

/* The place of a name in the list; -1: it has none, with a report that the list called `what` has no such field, and the nearest. */
int32_t gx_fields_place(const gx_fields *fields, const char *what, gale_str name, gale_error *error);

/* The places of the fields in the tuple's stream. GALE_FIELDS with a report when it has no such field. */
GX_COLD int gx_fields_search(const gx_fields *fields, gx_field_places *places, const char *who, const gale_tuple *tuple,
                             gale_collector *out);

GX_INLINE int gx_fields_find(const gx_fields *fields, gx_field_places *places, const char *who, const gale_tuple *tuple,
                             gale_collector *out) {
    const void *of = gx_tuple_fields(tuple);
    return GX_LIKELY(of && places->of == of) ? GALE_OK : gx_fields_search(fields, places, who, tuple, out);
}

/* The values of the fields, in the list's order, borrowed from the tuple. GALE_FIELDS with a report when the tuple's
 * stream has no such field: `ret_values` then hold nothing of use. `places` begins zeroed. */
int gx_fields_take(const gx_fields *fields, gx_field_places *places, const char *who, const gale_tuple *tuple,
                   gale_collector *out, gale_value *ret_values);

/* What counters are told to count: `text` names one field, or is NULL or "" for the first value (an empty list). Errors
 * as gx_fields_parse. */
int gx_fields_parse_one(const char *text, const char *what, gx_fields *ret_fields, gale_error *error);

/* As gx_fields_key, for a list that names a field. */
int gx_fields_named_key(const gx_fields *fields, gx_field_places *places, const char *who, const gale_tuple *tuple,
                        gale_collector *out, gx_buf *scratch, gale_str *ret_key);

/* The key (tuple/key.h) of what such a list names: borrowed from the tuple or made in `scratch`. Then the value itself is
 * at `places->at[0]`. GALE_FIELDS with a report when the tuple has none, else what gx_key_of returns. */
GX_INLINE int gx_fields_key(const gx_fields *fields, gx_field_places *places, const char *who, const gale_tuple *tuple,
                            gale_collector *out, gx_buf *scratch, gale_str *ret_key) {
    if (GX_UNLIKELY(fields->count)) return gx_fields_named_key(fields, places, who, tuple, out, scratch, ret_key);
    if (gale_tuple_size(tuple) < 1) return gx_define_need(out, who, tuple, 1);
    gale_value first = gale_tuple_value(tuple, 0);
    return gx_key_of(&first, scratch, ret_key);
}

/* The key of the first value, if that is text. */
GX_INLINE bool gx_fields_first_text(const gale_tuple *tuple, gale_str *ret_key) {
    const gale_body *body = tuple->body;
    uint32_t place[2];
    if (GX_UNLIKELY(body->tags[0] != GALE_TYPE_STRING)) return false;
    memcpy(place, gale_body_slots(body), sizeof place);
    *ret_key = (gale_str){ (const char *)body + place[0], (size_t)place[1] + 1 };
    return true;
}

/* Such a list's key, if it is the first value and text, as most are: borrowed from the tuple, which then is no tick, since
 * a tick's value is a number. False: who asks looks for a tick, and asks gx_fields_key. */
GX_INLINE bool gx_fields_text_key(const gx_fields *fields, const gale_tuple *tuple, gale_str *ret_key) {
    return GX_LIKELY(!fields->count) && gx_fields_first_text(tuple, ret_key);
}

/* Appends the canonical bytes of such values together to `key`. What gx_value_pack returns. */
int gx_fields_pack(const gale_value *values, uint32_t count, gx_buf *key);

#endif
