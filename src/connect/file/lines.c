#include "connect/file/lines.h"

#include "kit/written.h"
#include "tuple/csv.h"
#include "tuple/json.h"
#include "tuple/tsv.h"

#include <gale/file.h>

static void add_value(int32_t format, gx_buf *out, const gale_value *value) {
    switch (format) {
    case GALE_FILE_CSV: gx_csv_value(out, value); break;
    case GALE_FILE_TEXT: gx_written_text(out, value); break;
    default: gx_tsv_value(out, value); break;
    }
}

static char separator(int32_t format) {
    return format == GALE_FILE_CSV ? ',' : '\t';
}

/* What most sinks write. */
static void add_tsv(gx_buf *out, const gale_tuple *tuple) {
    size_t count = gale_tuple_size(tuple);
    for (size_t i = 0; i < count; i++) {
        gale_value value = gale_tuple_value(tuple, i);
        if (i > 0) gx_buf_add_byte(out, '\t');
        gx_tsv_value(out, &value);
    }
}

static void add_all(int32_t format, gx_buf *out, const gale_tuple *tuple) {
    size_t count = format == GALE_FILE_TEXT ? 1 : gale_tuple_size(tuple);
    for (size_t i = 0; i < count; i++) {
        gale_value value = gale_tuple_value(tuple, i);
        if (i > 0) gx_buf_add_byte(out, separator(format));
        add_value(format, out, &value);
    }
}

static void add_row(const gx_lines *lines, gx_buf *out) {
    for (uint32_t i = 0; i < lines->fields.count; i++) {
        if (i > 0) gx_buf_add_byte(out, separator(lines->format));
        add_value(lines->format, out, &lines->row[i]);
    }
}

static int add_chosen(gx_lines *lines, const gale_tuple *tuple, gale_collector *out, gx_buf *to) {
    int rc = gx_fields_take(&lines->fields, &lines->places, lines->who, tuple, out, lines->row);
    if (rc < 0) return rc;
    if (lines->format == GALE_FILE_JSON)
        gx_written_json(to, &lines->fields, lines->row);
    else
        add_row(lines, to);
    return 0;
}

static int add_whole(const gx_lines *lines, const gale_tuple *tuple, gale_collector *out, gx_buf *to) {
    if (lines->format == GALE_FILE_JSON) {
        gx_json json = gx_json_to(to);
        gx_json_tuple_values(&json, tuple);
        return 0;
    }
    if (!gale_tuple_size(tuple) && lines->format == GALE_FILE_TEXT) return gx_define_need(out, lines->who, tuple, 1);
    add_all(lines->format, to, tuple);
    return 0;
}

int gx_lines_add(gx_lines *lines, const gale_tuple *tuple, gale_collector *out, gx_buf *to) {
    size_t before = to->size;
    int rc = 0;
    if (GX_LIKELY(lines->format == GALE_FILE_TSV && !lines->fields.count))
        add_tsv(to, tuple);
    else
        rc = lines->fields.count ? add_chosen(lines, tuple, out, to) : add_whole(lines, tuple, out, to);
    if (GX_UNLIKELY(rc < 0)) return rc;
    gx_buf_add_byte(to, '\n');
    if (GX_LIKELY(!to->failed)) return 0;
    to->failed = false; /* the lines of other tuples stay */
    to->size = before;
    return GALE_NO_MEMORY;
}

void gx_lines_column(const gx_lines *lines, uint32_t index, gale_str text, gx_buf *to) {
    gale_value value = gale_string(text.data, text.size);
    if (index > 0) gx_buf_add_byte(to, separator(lines->format));
    add_value(lines->format, to, &value);
}
