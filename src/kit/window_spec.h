/* What a window tells, read from text: "count, sum(bytes) as bytes, percentile(ms, 0.99), top(path, 10)".
 *
 *     list:  one | one, list           one:   call | call as NAME
 *     call:  count | WORD(FIELD) | percentile(FIELD, 0 to 1) | top(FIELD, 1 to 1000) | top(FIELD, 1 to 1000, FIELD)
 *
 * Words are count, sum, avg, min, max, first, last, distinct, percentile, top. A name that is not given is the function's and
 * the field's: sum_bytes, percentile_ms; count alone is "count". Names and fields are whatever has no blank, comma or
 * parenthesis.
 *
 * Threads: any. Owner: holds its text, and may be copied with =. Limits: GX_WINDOW_AGGREGATES calls, and those of gx_fields. */
#ifndef GX_KIT_WINDOW_SPEC_H
#define GX_KIT_WINDOW_SPEC_H

#include "kit/fields.h"

enum { GX_WINDOW_AGGREGATES = 32, GX_WINDOW_NAMES = 2048, GX_WINDOW_TOP_MAX = 1000, GX_WINDOW_PARTS = 1000000000 };
enum { GX_WINDOW_FIELDS_TEXT = GX_FIELDS_TEXT + GX_WINDOW_NAMES + 2 * GX_WINDOW_AGGREGATES + 20 };

typedef enum gx_window_function {
    GX_WINDOW_COUNT, /* of tuples, or of those whose field is not null */
    GX_WINDOW_SUM,
    GX_WINDOW_AVG,
    GX_WINDOW_MIN,
    GX_WINDOW_MAX,
    GX_WINDOW_FIRST,
    GX_WINDOW_LAST,
    GX_WINDOW_DISTINCT,
    GX_WINDOW_PERCENTILE,
    GX_WINDOW_TOP,
} gx_window_function;

typedef struct gx_window_call {
    uint8_t function;
    bool has_field;
    bool weighted;      /* top: by the sum of another field, not by the number of tuples */
    uint16_t field;     /* in `fields` */
    uint16_t weight;    /* the other field */
    uint32_t parameter; /* of percentile, parts of GX_WINDOW_PARTS; of top, how many */
    uint16_t name_at, name_size;
} gx_window_call;

typedef struct gx_window_spec {
    gx_window_call calls[GX_WINDOW_AGGREGATES];
    uint32_t count;
    gx_fields fields; /* that they look at, each once; perhaps none */
    char names[GX_WINDOW_NAMES];
} gx_window_spec;

/* `taken` are names that others of the row's fields have, "host, start, end". GALE_INVALID with the column and, where there
 * is one, the nearest word: the spec is untouched. */
int gx_window_spec_parse(const char *text, const char *taken, const char *what, gx_window_spec *ret_spec,
                         gale_error *error);

/* What a window's row has, by its key ("host, path"; NULL or "": none) and its aggregates: `ret_row` is
 * "host, path, start, end, count". As gx_fields_parse and gx_window_spec_parse. */
int gx_window_row_of(const char *key, const char *aggregates, gx_fields *ret_key, gx_window_spec *ret_spec,
                     char ret_row[GX_WINDOW_FIELDS_TEXT], gale_error *error);

/* Does it take numbers alone: sum, avg, min, max, percentile? */
bool gx_window_function_counts(uint8_t function);

/* "sum", for errors. */
const char *gx_window_function_name(uint8_t function);

GX_INLINE gale_str gx_window_call_name(const gx_window_spec *spec, uint32_t call) {
    return (gale_str){ spec->names + spec->calls[call].name_at, spec->calls[call].name_size };
}

/* "p99" of other systems is "percentile(x, 0.99)" here, which is written to `out`. False: the name is not of that kind. */
bool gx_window_percentile_meant(gale_str name, char *out, size_t size);

#endif
