#include "front/passing.h"

#include "base/str.h"

#include <stdio.h>

static bool is_in(const char *fields, gale_str name) {
    gale_str rest = gx_str(fields), field;
    while (gx_str_next(&rest, ',', &field))
        if (gx_str_equal(field, name)) return true;
    return false;
}

static bool all_have(const gx_args *args, gale_str name) {
    for (size_t i = 1; i < args->input_count; i++)
        if (!args->inputs[i].fields || !is_in(args->inputs[i].fields, name)) return false;
    return true;
}

int gx_passing_fields(const gx_args *args, char room[GX_PASSING_TEXT], const char **ret_fields, gale_error *error) {
    const char *first = args->input_count ? args->inputs[0].fields : NULL;
    size_t size = 0;
    *ret_fields = gx_args_text(args, "fields");
    if (*ret_fields && **ret_fields) return GALE_OK;
    gale_str rest = gx_str(first), field;
    while (gx_str_next(&rest, ',', &field)) {
        if (!field.size || !all_have(args, field)) continue;
        if (size + field.size + 3 > GX_PASSING_TEXT)
            return gale_error_set(error, GALE_TOO_LARGE, "fields: there are too many; name those that are used");
        size += (size_t)snprintf(room + size, GX_PASSING_TEXT - size, "%s%.*s", size ? ", " : "", GX_STR(field));
    }
    *ret_fields = room;
    return size ? GALE_OK
                : gale_error_set(error, GALE_FIELDS,
                                 "fields: it is not known what comes in, or the inputs have none in "
                                 "common; name those that are used");
}
