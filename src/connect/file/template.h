/* A path with places in it for what each tuple says:
 *
 *      out/{host}/{time:%Y-%m-%d}.log
 *
 *      {name}             the value of a field, made harmless
 *      {name:%Y-%m-%d}    the moment that a field has as seconds since 1970, in UTC (kit/moment.h)
 *      {now:%Y-%m-%d}     the wall clock, in UTC
 *      {task}             the number of the task within its component, from 0
 *      {{  }}             braces
 *
 * What:    a value never leads elsewhere: it is part of one name between slashes, is no "." or "..", and is not hidden. In it
 *          '/', '%', control characters and a dot at its beginning are written as %2F and so on; an empty one is %empty, null is
 *          %null; what is longer than its part of the name is cut, and ends with %~ and a hash of the whole. So different
 *          values have different names, unless they are long and their hashes are equal.
 * Threads: one that is made is constant; any thread.
 * Owner:   a value; copied with =.
 * Limits:  GX_TEMPLATE_PARTS parts, GX_FIELDS_MAX fields, paths of GX_FILE_PATH_MAX bytes whatever the values are, and names
 *          that leave room for an ending of GX_TEMPLATE_ENDING bytes.
 */
#ifndef GX_CONNECT_FILE_TEMPLATE_H
#define GX_CONNECT_FILE_TEMPLATE_H

#include "base/os/file.h"
#include "kit/fields.h"

enum { GX_TEMPLATE_PARTS = 64, GX_TEMPLATE_ENDING = 32 };

typedef enum gx_template_kind {
    GX_TEMPLATE_TEXT,
    GX_TEMPLATE_VALUE,
    GX_TEMPLATE_TIME, /* of a field */
    GX_TEMPLATE_NOW,
    GX_TEMPLATE_TASK,
} gx_template_kind;

typedef struct gx_template_part {
    int32_t kind;
    uint16_t at, size; /* in `text`: what stands there, or a format of time */
    uint16_t field;    /* which of `fields` */
    uint16_t limit;    /* bytes that a value may take */
} gx_template_part;

typedef struct gx_template {
    uint32_t count;
    bool varies; /* not each tuple has the same path */
    bool has_now;
    bool has_task;
    gx_template_part parts[GX_TEMPLATE_PARTS];
    gx_fields fields; /* that it names; none: count is 0 */
    size_t used;
    char text[GX_FILE_NAME_SIZE];
} gx_template;

/* `what` is how errors call the text, "file sink: path". GALE_INVALID, with the place in the text: it is untouched then. */
int gx_template_parse(gale_str text, const char *what, gx_template *ret_template, gale_error *error);

/* Appends the path. `values` are those of its fields, `now` is in nanoseconds since 1970. GALE_TYPE: `*ret_wrong` is the field whose value is
 * no moment in the years 0 to 9999; GALE_NO_MEMORY. */
int gx_template_write(const gx_template *template_, const gale_value *values, int64_t now, uint32_t task, gx_buf *path,
                      uint32_t *ret_wrong);

#endif
