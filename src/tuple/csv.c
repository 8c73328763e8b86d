#include "tuple/csv.h"

#include "base/str.h"
#include "tuple/json.h"
#include "tuple/value.h"

static bool needs_quotes(gale_str text) {
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        if (c == ',' || c == '"' || c == '\n' || c == '\r') return true;
    }
    return !text.size;
}

static void add_quoted(gx_buf *out, gale_str text) {
    gx_buf_add_byte(out, '"');
    while (text.size) {
        const char *quote = memchr(text.data, '"', text.size);
        size_t size = quote ? (size_t)(quote - text.data) + 1 : text.size;
        gx_buf_add(out, text.data, size);
        if (quote) gx_buf_add_byte(out, '"');
        text.data += size;
        text.size -= size;
    }
    gx_buf_add_byte(out, '"');
}

static void add_text(gx_buf *out, gale_str text) {
    if (needs_quotes(text))
        add_quoted(out, text);
    else
        gx_buf_add(out, text.data, text.size);
}

static void add_json(gx_buf *out, const gale_value *value) {
    gx_buf text = GX_BUF_INIT(out->heap);
    gx_json json = gx_json_to(&text);
    gx_json_value(&json, value);
    out->failed |= text.failed;
    if (!text.failed) add_text(out, (gale_str){ text.data, text.size });
    gx_buf_fini(&text);
}

void gx_csv_value(gx_buf *out, const gale_value *value) {
    gx_json json = gx_json_to(out);
    switch (value->type) {
    case GALE_TYPE_NULL: break;
    case GALE_TYPE_STRING:
    case GALE_TYPE_BYTES: add_text(out, gx_value_str(value)); break;
    case GALE_TYPE_LIST:
    case GALE_TYPE_MAP: add_json(out, value); break;
    case GALE_TYPE_F64: gx_buf_add_f64(out, value->as.f64); break;
    default: gx_json_value(&json, value); break; /* a whole number, true or false */
    }
}
