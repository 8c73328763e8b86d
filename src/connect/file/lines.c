#include "connect/file/lines.h"

#include "base/json.h"
#include "kit/written.h"
#include "tuple/csv.h"
#include "tuple/json.h"
#include "tuple/value.h"

#include <gale/file.h>

/* How many bytes from `at` on are no control characters below 14, as far as eight at once can tell. */
static size_t skip_plain(gale_str text, size_t at) {
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t eight;
    for (; at + sizeof eight <= text.size; at += sizeof eight) {
        memcpy(&eight, text.data + at, sizeof eight);
        if ((eight - ones * 14) & ~eight & (ones << 7)) break;
    }
    return at;
}

static void add_escaped(gx_buf *out, gale_str text) {
    size_t done = 0;
    for (size_t i = skip_plain(text, 0); i < text.size; i++) {
        char c = text.data[i];
        char letter = c == '\t' ? 't' : c == '\n' ? 'n' : c == '\r' ? 'r' : 0;
        if (GX_LIKELY(!letter)) continue;
        gx_buf_add(out, text.data + done, i - done);
        gx_buf_add_byte(out, '\\');
        gx_buf_add_byte(out, letter);
        done = i + 1;
        i = skip_plain(text, done) - 1;
    }
    if (text.size > done) gx_buf_add(out, text.data + done, text.size - done);
}

/* Numbers, lists and maps as in JSON, strings and bytes as they are but for the escapes; null is \N, which no string is
 * (PostgreSQL's COPY reads it so). */
GX_INLINE void add_tsv_value(gx_buf *out, const gale_value *value) {
    gx_json json = gx_json_to(out);
    switch (value->type) {
    case GALE_TYPE_I64: gx_buf_add_i64(out, value->as.i64); break;
    case GALE_TYPE_NULL: gx_buf_add_text(out, "\\N"); break;
    case GALE_TYPE_STRING:
    case GALE_TYPE_BYTES: add_escaped(out, gx_value_str(value)); break;
    default: gx_json_value(&json, value); break;
    }
}

static void add_value(int32_t format, gx_buf *out, const gale_value *value) {
    switch (format) {
    case GALE_FILE_CSV: gx_csv_value(out, value); break;
    case GALE_FILE_TEXT: gx_written_text(out, value); break;
    default: add_tsv_value(out, value); break;
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
        add_tsv_value(out, &value);
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
