#include "connect/file/row.h"

#include "base/nearest.h"
#include "base/utf8.h"

#include <stdio.h>

typedef enum part { LINE, OFFSET, NUMBER, NAME, PARTS } part;

static const char *const names[PARTS] = { "line", "offset", "number", "file" };

static int refuse(gale_str word, gale_error *error) {
    gx_nearest nearest = gx_nearest_to(word);
    char hint[80];
    for (int i = 0; i < PARTS; i++) gx_nearest_offer(&nearest, gx_str(names[i]));
    return gale_error_set(error, GALE_INVALID, "file spout: emit has '%.*s', may have line, offset, number, file%s",
                          GX_STR(word), gx_nearest_hint(&nearest, hint, sizeof hint));
}

static int add(gx_file_row *row, gale_str word, gale_error *error) {
    uint8_t found = 0;
    while (found < PARTS && !gx_str_is(word, names[found])) found++;
    if (found == PARTS) return refuse(word, error);
    for (uint32_t i = 0; i < row->count; i++)
        if (row->parts[i] == found)
            return gale_error_set(error, GALE_INVALID, "file spout: emit has '%s' twice", names[found]);
    size_t at = strlen(row->fields);
    snprintf(row->fields + at, sizeof row->fields - at, "%s%s", row->count ? ", " : "", names[found]);
    row->parts[row->count++] = found;
    row->numbered |= found == NUMBER;
    return GALE_OK;
}

int gx_file_row_parse(const char *text, gx_file_row *ret_row, gale_error *error) {
    gx_file_row row = { .count = 0 };
    gale_str rest = gx_str(text && *text ? text : "line");
    gale_str word;
    while (gx_str_next(&rest, ',', &word)) {
        int rc = add(&row, word, error);
        if (rc < 0) return rc;
    }
    row.line_alone = row.count == 1 && row.parts[0] == LINE;
    *ret_row = row;
    return GALE_OK;
}

static gale_value name_of(gale_str file) {
    return gx_utf8_valid(file.data, file.size) ? gale_string(file.data, file.size) : gale_bytes(file.data, file.size);
}

int gx_file_row_emit(const gx_file_row *row, gx_retry *retry, gale_collector *out, uint32_t id, gale_str file) {
    const gx_retry_slot *slot = &retry->slots[id];
    gale_value values[GX_FILE_ROW_MAX];
    for (uint32_t i = 0; i < row->count; i++) switch (row->parts[i]) {
        case LINE: values[i] = gx_retry_line(slot); break;
        case OFFSET: values[i] = gale_i64(slot->place); break;
        case NUMBER: values[i] = gale_i64((int64_t)slot->number); break;
        default: values[i] = name_of(file); break;
        }
    return gx_retry_emit_row(retry, out, id, values, row->count);
}
