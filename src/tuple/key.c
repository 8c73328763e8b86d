#include "tuple/key.h"

#include "base/bits.h"
#include "tuple/body.h"
#include "tuple/flat.h"

enum { SCALAR = 8 };

static int add_bytes(const void *bytes, size_t size, uint8_t last, gx_buf *out) {
    bool had_failed = out->failed;
    if (!gx_buf_reserve(out, size + 1)) {
        out->failed = had_failed;
        return GALE_NO_MEMORY;
    }
    if (size) memcpy(out->data + out->size, bytes, size);
    out->data[out->size + size] = (char)last;
    out->size += size + 1;
    return 0;
}

static int add_packed(const gale_value *value, uint8_t last, gx_buf *out) {
    size_t before = out->size;
    int rc = gx_value_pack(value, out);
    if (rc >= 0) rc = add_bytes(NULL, 0, last, out);
    if (rc < 0) out->size = before;
    return rc;
}

int gx_key_add(const gale_value *value, gx_buf *out) {
    uint8_t last = value->type == GALE_TYPE_STRING ? 0 : (uint8_t)(1 + value->type);
    if (value->type >= GALE_TYPE_LIST) return add_packed(value, last, out);
    if (!gx_flat_is_valid(value)) return GALE_INVALID;
    if (gx_flat_is_text(value->type)) return add_bytes(value->as.bytes, value->size, last, out);
    uint64_t bits = gx_flat_scalar(value);
    return add_bytes(&bits, SCALAR, last, out);
}

int gx_key_make(const gale_value *value, gx_buf *scratch, gale_str *ret_key) {
    gx_buf_reset(scratch);
    if (GX_LIKELY(scratch->capacity >= GX_KEY_BRIEF)) scratch->size = gx_key_brief(value, scratch->data);
    int rc = GX_LIKELY(scratch->size) ? 0 : gx_key_add(value, scratch);
    if (rc >= 0) *ret_key = (gale_str){ scratch->data, scratch->size };
    return rc;
}

gale_value gx_key_value(gale_str key) {
    size_t size = key.size - 1;
    uint8_t last = (uint8_t)key.data[size];
    if (last == 0) return gale_string(key.data, size);
    if (last == 1 + GALE_TYPE_BYTES) return gale_bytes(key.data, size);
    if (last >= 1 + GALE_TYPE_LIST) return gx_value_unpack((gale_str){ key.data, size });
    gale_value value = gale_null();
    value.type = (uint8_t)(last - 1);
    if (size) memcpy(&value.as, key.data, SCALAR);
    return value;
}

static bool packed_is_valid(const char *bytes, size_t size, uint8_t type) {
    if (!gx_body_valid(bytes, size)) return false;
    const gale_body *body = (const gale_body *)bytes;
    return gale_body_count(body) == 1 && gale_body_value(body, 0).type == type;
}

bool gx_key_is_valid(gale_str key) {
    if (!key.size) return false;
    size_t size = key.size - 1;
    uint8_t last = (uint8_t)key.data[size], type = (uint8_t)(last - 1);
    if (last == 0) return true;
    if (type >= GALE_TYPE_COUNT || type == GALE_TYPE_STRING) return false;
    if (type == GALE_TYPE_BYTES) return true;
    if (type >= GALE_TYPE_LIST) return packed_is_valid(key.data, size, type);
    gale_value value = { .type = type };
    if (size != SCALAR || (type == GALE_TYPE_BOOL && gx_load64(key.data) > 1)) return false;
    memcpy(&value.as, key.data, SCALAR);
    return gx_flat_scalar(&value) == gx_load64(key.data);
}
