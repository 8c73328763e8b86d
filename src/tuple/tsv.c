#include "tuple/tsv.h"

#include "base/json.h"
#include "tuple/json.h"
#include "tuple/value.h"

static const uint64_t ones = UINT64_C(0x0101010101010101);

/* The high bit of each byte that is below `bound` (at most 128), and perhaps of bytes above one that is. */
static uint64_t below(uint64_t eight, uint64_t bound) {
    return (eight - ones * bound) & ~eight & (ones << 7);
}

/* How many bytes from `at` on are neither backslashes nor control characters below 14, as far as eight at once can
 * tell. */
static size_t skip_plain(gale_str text, size_t at) {
    uint64_t eight;
    for (; at + sizeof eight <= text.size; at += sizeof eight) {
        memcpy(&eight, text.data + at, sizeof eight);
        if (below(eight, 14) | below(eight ^ (ones * '\\'), 1)) break;
    }
    return at;
}

static char letter_of(char c) {
    return c == '\t' ? 't' : c == '\n' ? 'n' : c == '\r' ? 'r' : c == '\\' ? '\\' : 0;
}

static void add_escaped(gx_buf *out, gale_str text) {
    size_t done = 0;
    for (size_t i = skip_plain(text, 0); i < text.size; i++) {
        char letter = letter_of(text.data[i]);
        if (GX_LIKELY(!letter)) continue;
        gx_buf_add(out, text.data + done, i - done);
        gx_buf_add_byte(out, '\\');
        gx_buf_add_byte(out, letter);
        done = i + 1;
        i = skip_plain(text, done) - 1;
    }
    if (text.size > done) gx_buf_add(out, text.data + done, text.size - done);
}

/* JSON of lists and maps has backslashes of its own, which are escaped as any others. */
static void add_json(gx_buf *out, const gale_value *value) {
    gx_buf text = GX_BUF_INIT(NULL);
    gx_json json = gx_json_to(&text);
    gx_json_value(&json, value);
    if (text.failed)
        out->failed = true;
    else
        add_escaped(out, (gale_str){ text.data, text.size });
    gx_buf_fini(&text);
}

void gx_tsv_value(gx_buf *out, const gale_value *value) {
    gx_json json = gx_json_to(out);
    switch (value->type) {
    case GALE_TYPE_I64: gx_buf_add_i64(out, value->as.i64); break;
    case GALE_TYPE_F64: gx_buf_add_f64(out, value->as.f64); break;
    case GALE_TYPE_NULL: gx_buf_add_text(out, "\\N"); break;
    case GALE_TYPE_STRING:
    case GALE_TYPE_BYTES: add_escaped(out, gx_value_str(value)); break;
    case GALE_TYPE_LIST:
    case GALE_TYPE_MAP: add_json(out, value); break;
    default: gx_json_value(&json, value); break;
    }
}
