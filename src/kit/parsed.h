/* What all parsers share: a field that has a text, columns that are made of it, and the stream "bad" for texts that are
 * none.
 *
 * What:    a parser's settings name the field that has the text (none: the first), the columns with their types ("host, status
 *          int, ms float"; kit/scalar.h), and fields of the input that go out before them (`keep`). For each tuple it takes the
 *          text, sets every column, and emits; or refuses the text, which then goes to "bad", anchored like the rest.
 *
 *              int rc = gx_parsed_take(&bolt->parsed, tuple, out, &text);
 *              ... gx_parsed_set(&bolt->parsed, column, piece), or gx_parsed_none
 *              return good ? gx_parsed_emit(&bolt->parsed, out) : gx_parsed_refuse(&bolt->parsed, problem, out);
 *
 * Threads: settings are frozen; the rest belongs to its task.
 * Owner:   settings are (or begin) a block of calloc that the definition frees. Values borrow from the tuple and from
 *          what the parser sets.
 * Limits:  GX_PARSED_COLUMNS columns, GX_PARSED_TEXT bytes of names; GX_FIELDS_MAX fields before them. */
#ifndef GX_KIT_PARSED_H
#define GX_KIT_PARSED_H

#include "kit/bad.h"
#include "kit/fields.h"
#include "kit/scalar.h"

enum { GX_PARSED_STREAM, GX_PARSED_BAD, GX_PARSED_STREAMS };
enum { GX_PARSED_COLUMNS = 256, GX_PARSED_TEXT = 8192, GX_PARSED_PROBLEM = 240 };

/* What a parser is told by whoever makes it; NULL or "" for what is not given. */
typedef struct gx_parsed_options {
    const char *field;       /* one name */
    const char *fields;      /* "host, status int" */
    const char *keep;        /* "offset" */
    const char *more;        /* one name: a column behind the others that the parser fills by itself... */
    const char *more_option; /* ...and how the option that gives it is called; NULL: "rest" */
} gx_parsed_options;

typedef struct gx_parsed_column {
    uint16_t at, size; /* of the name, in the settings' text */
    int32_t type;      /* gx_scalar_type */
} gx_parsed_column;

/* A parser's settings begin with it. */
typedef struct gx_parsed_settings {
    const char *who;  /* "csv bolt" */
    const char *what; /* what a bad text is none of: "csv record" */
    gx_fields field;  /* empty: the first */
    gx_fields keep;
    uint32_t count;
    bool has_more;
    gx_parsed_column columns[GX_PARSED_COLUMNS + 1]; /* and that of `more` */
    uint32_t text_size;
    char text[GX_PARSED_TEXT]; /* the names that go out, as a list */
    gale_output outputs[GX_PARSED_STREAMS];
} gx_parsed_settings;

/* Reads the options into settings that begin zeroed, `who` and `what` set. GALE_INVALID with the name of the option. */
int gx_parsed_settings_read(gx_parsed_settings *settings, const gx_parsed_options *given, gale_error *error);

/* A column's name, borrowed. */
GX_INLINE gale_str gx_parsed_name(const gx_parsed_settings *settings, uint32_t column) {
    return (gale_str){ settings->text + settings->columns[column].at, settings->columns[column].size };
}

/* What an option that is one character says, `fallback` where it is not given; an end of a line, which no format takes,
 * where it is something else. */
GX_INLINE char gx_parsed_byte(const char *text, char fallback) {
    if (!text) return fallback;
    return strlen(text) == 1 ? text[0] : '\n';
}

/* The definition, which owns the settings. `ops` is static. */
gale_bolt gx_parsed_define(const gale_bolt_ops *ops, gx_parsed_settings *settings);

/* A parser's instance begins with it. */
typedef struct gx_parsed {
    gx_instance instance;
    const gx_parsed_settings *given;
    gx_field_places field_place, keep_places;
    gx_bad bad;
    gale_value line;
    const gale_tuple *tuple;    /* that the line came in, while it is executed; NULL: it was gathered of several */
    bool is_text;               /* the line is UTF-8 */
    const gale_handle *anchors; /* what is emitted is anchored to these held tuples... */
    size_t anchor_count;        /* ...or, if there are none, to the tuple in execution */
    gale_value *columns;        /* in `values`, behind what is kept */
    gale_value values[GX_FIELDS_MAX + GX_PARSED_COLUMNS + 1];
    char problem[GX_PARSED_PROBLEM];
} gx_parsed;

/* A zeroed instance of `size` bytes that begins with a gx_parsed; NULL when memory is out. */
void *gx_parsed_instance(const gale_context *context, size_t size, const gx_parsed_settings *settings);

/* Tells of what was bad, and frees it. */
void gx_parsed_instance_free(void *instance);

/* The text of the tuple, which is not a tick, without a byte order mark at its beginning and without the one end of
 * a line
 * behind it: 1. 0: it is packed or of another encoding and was emitted to "bad", so that nothing is left to do.
 * GALE_FIELDS,
 * GALE_TYPE with a report; what an emit says. */
int gx_parsed_take(gx_parsed *parsed, const gale_tuple *tuple, gale_collector *out, gale_str *ret_text);

/* Sets a column from a piece of the text, or one made of it, whose bytes stay until the emit. False when it is not of the
 * column's type: then `parsed->problem` says so. */
bool gx_parsed_set(gx_parsed *parsed, uint32_t column, gale_str piece);

/* Sets columns from `column` on to null. */
void gx_parsed_none(gx_parsed *parsed, uint32_t column);

/* Sets the value of the column `more`. */
void gx_parsed_set_more(gx_parsed *parsed, gale_value value);

/* Puts a text that was made of several lines, and stays until the emit, in the place of the line. */
void gx_parsed_put(gx_parsed *parsed, gale_str text);

/* Emits the columns; 0, or an error. */
int gx_parsed_emit(gx_parsed *parsed, gale_collector *out);

/* Emits the line to "bad", with the problem; 0, or an error. */
int gx_parsed_refuse(gx_parsed *parsed, const char *problem, gale_collector *out);

#endif
