#include "connect/file/header.h"

#include "base/str.h"

static bool same_fields(const gx_schema_stream *a, const gx_schema_stream *b) {
    bool same = a->field_count == b->field_count;
    for (uint32_t i = 0; same && i < a->field_count; i++) same = strcmp(a->fields[i], b->fields[i]) == 0;
    return same;
}

/* All lines have the columns of the first input. */
static int check_inputs(const gx_lines *lines, const struct gale_inputs *inputs, gale_error *error) {
    for (uint32_t i = 1; i < inputs->count; i++)
        if (!same_fields(inputs->inputs[0].stream, inputs->inputs[i].stream))
            return gale_error_set(error, GALE_INVALID,
                                  "%s: header: what comes from '%s' and from '%s' has different fields; `fields` says "
                                  "which ones all lines have",
                                  lines->who, inputs->inputs[0].component, inputs->inputs[i].component);
    return 0;
}

int gx_header_make(const gx_lines *lines, const struct gale_inputs *inputs, gx_buf *out, gale_error *error) {
    uint32_t chosen = lines->fields.count;
    int rc = !chosen && inputs ? check_inputs(lines, inputs, error) : 0;
    if (rc < 0 || (!chosen && !(inputs && inputs->count))) return rc;
    const gx_schema_stream *all = chosen ? NULL : inputs->inputs[0].stream;
    for (uint32_t i = 0; i < (chosen ? chosen : all->field_count); i++)
        gx_lines_column(lines, i, chosen ? gx_fields_name(&lines->fields, i) : gx_str(all->fields[i]), out);
    gx_buf_add_byte(out, '\n');
    return out->failed ? GALE_NO_MEMORY : 0;
}
