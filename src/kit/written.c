#include "kit/written.h"

#include "tuple/json.h"

void gx_written_text(gx_buf *to, const gale_value *value) {
    gx_json json = gx_json_to(to);
    switch (value->type) {
    case GALE_TYPE_NULL: break;
    case GALE_TYPE_STRING:
    case GALE_TYPE_BYTES: gx_buf_add(to, value->as.string, value->size); break;
    case GALE_TYPE_F64: gx_buf_add_f64(to, value->as.f64); break;
    default: gx_json_value(&json, value); break;
    }
}

void gx_written_json(gx_buf *to, const gx_fields *fields, const gale_value *values) {
    gx_json json = gx_json_to(to);
    gx_json_open(&json, '{');
    for (uint32_t i = 0; i < fields->count; i++) {
        gx_json_key(&json, gx_fields_name(fields, i));
        gx_json_value(&json, &values[i]);
    }
    gx_json_close(&json, '}');
}
