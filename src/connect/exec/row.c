#include "connect/exec/row.h"

#include "base/nearest.h"
#include "base/str.h"

#include <stdio.h>

static const char *const names[GX_EXEC_PARTS] = { "line", "number" };

static int refuse(gale_str word, gale_error *error) {
    gx_nearest nearest = gx_nearest_to(word);
    char hint[80];
    for (int i = 0; i < GX_EXEC_PARTS; i++) gx_nearest_offer(&nearest, gx_str(names[i]));
    return gale_error_set(error, GALE_INVALID, "exec spout: emit has '%.*s', may have line, number%s", GX_STR(word),
                          gx_nearest_hint(&nearest, hint, sizeof hint));
}

static int add(gx_exec_row *row, gale_str word, gale_error *error) {
    uint8_t found = 0;
    while (found < GX_EXEC_PARTS && !gx_str_is(word, names[found])) found++;
    if (found == GX_EXEC_PARTS) return refuse(word, error);
    for (uint32_t i = 0; i < row->count; i++)
        if (row->parts[i] == found)
            return gale_error_set(error, GALE_INVALID, "exec spout: emit has '%s' twice", names[found]);
    size_t at = strlen(row->fields);
    snprintf(row->fields + at, sizeof row->fields - at, "%s%s", row->count ? ", " : "", names[found]);
    row->parts[row->count++] = found;
    return GALE_OK;
}

int gx_exec_row_parse(const char *text, gx_exec_row *ret_row, gale_error *error) {
    gx_exec_row row = { .count = 0 };
    gale_str rest = gx_str(text && *text ? text : "line"), word;
    while (gx_str_next(&rest, ',', &word)) {
        int rc = add(&row, word, error);
        if (rc < 0) return rc;
    }
    *ret_row = row;
    return GALE_OK;
}
