/* Metrics as text, in either of two forms: Prometheus' (0.0.4) and OpenMetrics (1.0.0).
 *
 * What:    a family has a name, a kind, a unit and a sentence; then come its samples, each with labels. The forms differ in how a counter's family is
 *          called, in units, and in the last line.
 * Threads: one at a time. Owner: the buffer is the caller's.
 */
#ifndef GX_SERVE_EXPOSITION_H
#define GX_SERVE_EXPOSITION_H

#include "base/buf.h"
#include "base/str.h"

typedef enum gx_family_kind { GX_FAMILY_COUNTER, GX_FAMILY_GAUGE, GX_FAMILY_HISTOGRAM } gx_family_kind;

typedef struct gx_family {
    const char *name; /* with its unit, without "_total" */
    gx_family_kind kind;
    const char *unit; /* that the name ends with, or "" */
    const char *help;
} gx_family;

typedef struct gx_label {
    const char *name, *value; /* NULL: not there, and none behind it */
} gx_label;

typedef struct gx_exposition {
    gx_buf *out;
    bool open;          /* OpenMetrics */
    const char *family; /* of the samples that follow */
    gx_family_kind kind;
} gx_exposition;

void gx_exposition_family(gx_exposition *to, const gx_family *family);

/* `ending` is "" but for a histogram's: "_bucket", "_sum", "_count". A counter's "_total" is put by itself. */
void gx_exposition_count(gx_exposition *to, const char *ending, const gx_label *labels, uint64_t value);
void gx_exposition_number(gx_exposition *to, const char *ending, const gx_label *labels, double value);

void gx_exposition_end(gx_exposition *to);

/* Does an Accept header prefer OpenMetrics? */
bool gx_exposition_is_open(gale_str accept);
const char *gx_exposition_type(bool open);

/* "counter" */
const char *gx_family_kind_name(gx_family_kind kind);

#endif
