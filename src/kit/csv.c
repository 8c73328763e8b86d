#include "kit/csv.h"

#include "base/encoding.h"

#include <gale/error.h>

bool gx_csv_record(gx_csv_format format, gale_str *rest, gale_str *ret_record) {
    if (!rest->size) return false;
    bool quoted = false;
    size_t size = 0;
    for (; size < rest->size && (quoted || rest->data[size] != '\n'); size++)
        quoted ^= format.quote && rest->data[size] == format.quote;
    size_t whole = size + (size < rest->size);
    *ret_record = gx_encoding_line((gale_str){ rest->data, whole });
    size = whole;
    *rest = (gale_str){ rest->data + size, rest->size - size };
    return true;
}

gx_csv gx_csv_begin(gx_csv_format format, gale_str record, gx_buf *scratch) {
    static const char nothing[] = "";
    gx_buf_reset(scratch);
    gale_str rest = { record.data ? record.data : nothing, record.size };
    return (gx_csv){ .format = format, .scratch = scratch, .rest = rest };
}

static bool wrong(gx_csv *csv, const char *problem) {
    csv->problem = problem;
    return false;
}

/* Behind a column of `size` bytes there is a separator, or the end. */
static void leave(gx_csv *csv, size_t size) {
    gale_str rest = csv->rest;
    csv->rest = size < rest.size ? (gale_str){ rest.data + size + 1, rest.size - size - 1 } : (gale_str){ NULL, 0 };
}

static bool plain(gx_csv *csv, gale_str *ret_column) {
    gale_str rest = csv->rest;
    const char *end = rest.size ? memchr(rest.data, csv->format.separator, rest.size) : NULL;
    size_t size = end ? (size_t)(end - rest.data) : rest.size;
    if (csv->format.quote && size && memchr(rest.data, csv->format.quote, size))
        return wrong(csv, "there is a quote in a column that does not begin with one");
    *ret_column = (gale_str){ rest.data, size };
    leave(csv, size);
    return true;
}

/* Copies what is inside quotes, of which two stand for one. What is copied of a record has room once, for it does not
 * grow. */
static bool unquote(gx_csv *csv, gale_str inside, gale_str *ret_column) {
    gx_buf *scratch = csv->scratch;
    size_t begin = scratch->size;
    if (!gx_buf_reserve(scratch, csv->rest.size + 1)) return false;
    for (size_t i = 0; i < inside.size; i++) {
        gx_buf_add_byte(scratch, inside.data[i]);
        i += inside.data[i] == csv->format.quote;
    }
    *ret_column = (gale_str){ scratch->data + begin, scratch->size - begin };
    return true;
}

static bool quoted(gx_csv *csv, gale_str *ret_column) {
    gale_str rest = csv->rest;
    const char quote = csv->format.quote;
    bool doubled = false;
    for (size_t i = 1; i < rest.size; i++) {
        if (rest.data[i] != quote) continue;
        if (i + 1 < rest.size && rest.data[i + 1] == quote) {
            doubled = true;
            i++;
            continue;
        }
        if (i + 1 < rest.size && rest.data[i + 1] != csv->format.separator)
            return wrong(csv, "something follows a closing quote at once");
        *ret_column = (gale_str){ rest.data + 1, i - 1 };
        if (doubled && !unquote(csv, *ret_column, ret_column)) return false;
        leave(csv, i + 1);
        return true;
    }
    return wrong(csv, "a quote is not closed");
}

bool gx_csv_next(gx_csv *csv, gale_str *ret_column) {
    gale_str rest = csv->rest;
    if (!rest.data || csv->problem) return false;
    bool is_quoted = csv->format.quote && rest.size && rest.data[0] == csv->format.quote;
    return is_quoted ? quoted(csv, ret_column) : plain(csv, ret_column);
}

/* Behind the quote that ends a column. */
static bool ends_column(gx_csv_format format, gale_str line, size_t at) {
    return at == line.size || line.data[at] == format.separator;
}

/* How much of the line is inside the quotes, and the quote that ends them; SIZE_MAX: they are not closed in it. */
static size_t quoted_size(gx_csv_format format, gale_str line, size_t at) {
    for (; at < line.size; at++) {
        if (line.data[at] != format.quote) continue;
        if (at + 1 == line.size || line.data[at + 1] != format.quote) return at + 1;
        at++;
    }
    return SIZE_MAX;
}

/* Where the column without quotes that begins at `at` ends; SIZE_MAX: it has a quote. */
static size_t plain_size(gx_csv_format format, gale_str line, size_t at) {
    for (; at < line.size && line.data[at] != format.separator; at++)
        if (line.data[at] == format.quote) return SIZE_MAX;
    return at;
}

gx_csv_line gx_csv_look(gx_csv_format format, gale_str line, bool open) {
    if (!format.quote) return GX_CSV_WHOLE;
    for (size_t at = 0;; at++) {
        bool quoted = open || (at < line.size && line.data[at] == format.quote);
        size_t end = quoted ? quoted_size(format, line, at + !open) : plain_size(format, line, at);
        if (end == SIZE_MAX) return quoted ? GX_CSV_OPEN : GX_CSV_BROKEN;
        if (!ends_column(format, line, end)) return GX_CSV_BROKEN;
        if (end == line.size) return GX_CSV_WHOLE;
        open = false;
        at = end;
    }
}

static bool is_free(char byte) {
    return byte > 0 && byte != '\n' && byte != '\r';
}

int gx_csv_check(gx_csv_format format, const char *who, gale_error *error) {
    if (!is_free(format.separator))
        return gale_error_set(error, GALE_INVALID, "%s: separator must be one character of ASCII, and no end of a line",
                              who);
    if (format.quote && !is_free(format.quote))
        return gale_error_set(error, GALE_INVALID, "%s: quote must be one character of ASCII, and no end of a line",
                              who);
    if (format.quote == format.separator)
        return gale_error_set(error, GALE_INVALID, "%s: quote and separator are the same, '%c'", who, format.quote);
    return GALE_OK;
}
