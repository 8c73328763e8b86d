#include "tuple/flat.h"

size_t gx_flat_write_several(const gale_value *restrict values, size_t count, uint8_t *restrict at, size_t room) {
    if (GX_UNLIKELY(count > room / 16 || room < 64)) return 0;
    uint8_t *slots = at + gx_align_up(4 + count, 8);
    size_t text = gx_flat_head(count);
    size_t most = room - 16;  /* where the text may end: a NUL and the padding follow, and what is copied too much */
    gx_store64(slots - 8, 0); /* padding behind the tags */
    gx_store32(at, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        const gale_value v = values[i];
        at[4 + i] = v.type;
        if (v.type < GALE_TYPE_STRING) {
            gx_store64(slots + 8 * i, gx_flat_scalar(&v));
            continue;
        }
        if (GX_UNLIKELY(!gx_flat_is_valid(&v) || text > most || v.size > most - text)) return 0;
        gx_store64(slots + 8 * i, (uint64_t)v.size << 32 | text);
        gx_short_text_copy(at + text, v.as.bytes, v.size);
        at[text + v.size] = 0;
        text += (size_t)v.size + 1;
    }
    gx_store64(at + text, 0); /* padding behind the text */
    return gx_align_up(text, 8);
}
