#include "kit/record.h"

#include <string.h>

static bool fits(const gale_value *value, char letter) {
    switch (letter) {
    case 'i': return value->type == GALE_TYPE_I64;
    case 'n': return value->type == GALE_TYPE_I64 && value->as.i64 >= 0;
    case 'f': return value->type == GALE_TYPE_F64;
    case 'o': return value->type == GALE_TYPE_BOOL;
    case 's': return value->type == GALE_TYPE_STRING;
    case 'y': return value->type == GALE_TYPE_BYTES;
    case 'l': return value->type == GALE_TYPE_LIST;
    case 'm': return value->type == GALE_TYPE_MAP;
    default: return true;
    }
}

bool gx_record_has(const gale_value *values, size_t count, const char *shape) {
    if (count != strlen(shape)) return false;
    for (size_t i = 0; i < count; i++)
        if (!fits(&values[i], shape[i])) return false;
    return true;
}

int gx_record_take(gale_saved *from, const char *shape, const gale_value **ret_values) {
    const gale_value *values;
    size_t count;
    int rc = gale_saved_next(from, &values, &count);
    if (rc <= 0) return rc;
    if (!gx_record_has(values, count, shape)) return GALE_DAMAGED;
    *ret_values = values;
    return 1;
}

int gx_record_need(gale_saved *from, const char *shape, const gale_value **ret_values) {
    int rc = gx_record_take(from, shape, ret_values);
    return rc > 0 ? GALE_OK : rc < 0 ? rc : GALE_DAMAGED;
}
