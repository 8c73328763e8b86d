/* gale/json.h: JSON as text, for components that speak it: answers of servers, documents, values that are sent.
 *
 * What:    a value of JSON is the piece of text where it stands, a `gale_str`. Nothing is made of it: members and
 *          items are found by looking, and what nobody asks for is skipped.
 *
 *              gale_json_check(answer, &json, &error)              it is JSON (RFC 8259)
 *              gale_json_get(json, "error.code", &code)            a member of a member
 *              gale_json_whole(code, &number)
 *
 *              for (gale_json_item item = GALE_JSON_FIRST(json); gale_json_next(&item);) ... item.value
 *
 * Threads: any. Owner: texts are borrowed, and point into the one that was given.
 * Limits:  512 lists and objects inside each other, for gale_json_check; gale_json_next has none.
 * Misuse:  text that was not checked finds what looks like values in it, and never what is outside of it.
 */
#ifndef GALE_JSON_H
#define GALE_JSON_H

#include <gale/value.h>

GALE_BEGIN

typedef enum gale_json_kind {
    GALE_JSON_NONE, /* no value */
    GALE_JSON_NULL,
    GALE_JSON_BOOL,
    GALE_JSON_NUMBER,
    GALE_JSON_STRING,
    GALE_JSON_LIST,
    GALE_JSON_OBJECT
} gale_json_kind;

/* The text is one value of JSON, with nothing but blanks around it: `*ret_json` (may be NULL). GALE_SYNTAX, with
 * "line:column: what". The text must be UTF-8. A half of a surrogate pair in a string is for the reader of that string to
 * refuse. */
GALE_API int gale_json_check(gale_str text, gale_str *ret_json, gale_error *error);

/* By its first character. */
GALE_API gale_json_kind gale_json_kind_of(gale_str json);

/* One item of a list, or one member of an object. */
typedef struct gale_json_item {
    gale_str name;  /* of a member: a string of JSON, quotation marks and all; empty in a list */
    gale_str value; /* as it stands there */
    size_t index;   /* from 0 */
    gale_str rest;  /* where the next one begins */
    bool broken;    /* the text ends, or goes on as no list and no object does */
} gale_json_item;

/* Before the first one. */
#define GALE_JSON_FIRST(json_)                                                                                         \
    { { NULL, 0 }, { NULL, 0 }, SIZE_MAX, (json_), false }

/* Steps to the next one. False: there are no more, or the value has none. Only brackets, quotation marks and commas
 * are looked at, so that a wrong item does not hide its neighbours. */
GALE_API bool gale_json_next(gale_json_item *item);

/* The value at a path of names, "data.events", each of at most 255 bytes; of a name that comes twice, the last one.
 * False: there is none. */
GALE_API bool gale_json_get(gale_str json, const char *path, gale_str *ret_value);

/* It is a string, and says this. */
GALE_API bool gale_json_is(gale_str json, const char *text);

/* Writes what a string says, or any other value as it stands there, and a NUL; cut at a whole character where `room` is
 * too small (json.size + 1 bytes are enough). Returns how many bytes that are without the NUL; -1, and an empty text: half of a
 * surrogate pair, or no memory. */
GALE_API int64_t gale_json_text(gale_str json, char *to, size_t room);

/* It is a whole number that fits 64 bits. */
GALE_API bool gale_json_whole(gale_str json, int64_t *ret_number);

/* It is a number that is not larger than any double: the nearest one. */
GALE_API bool gale_json_number(gale_str json, double *ret_number);

/* Appends a value as gale.bolt.Format writes it, and a NUL that is not counted, to memory of malloc's that grows:
 * `*size` of `*room` bytes are used. Bytes are {"base64": "..."}, NaN and infinities null. False: memory is out, or it
 * is no valid value; what was there is unchanged. */
GALE_API bool gale_json_append(const gale_value *value, char **data, size_t *size, size_t *room);

GALE_END
#endif
