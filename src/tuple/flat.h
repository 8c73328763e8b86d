/* Bodies without lists and maps, which most tuples have, written in one pass where they are to lie, if there is room. The
 * layout stands in gale/tuple.h; tuple/body.c measures and writes any. */
#ifndef GX_TUPLE_FLAT_H
#define GX_TUPLE_FLAT_H

#include "base/bits.h"
#include "base/port.h"
#include "base/short_text.h"

#include <gale/value.h>

GX_INLINE bool gx_flat_is_text(uint8_t type) {
    return type == GALE_TYPE_STRING || type == GALE_TYPE_BYTES;
}

/* A scalar, or text that is there. */
GX_INLINE bool gx_flat_is_valid(const gale_value *value) {
    return value->type < GALE_TYPE_STRING || (value->type <= GALE_TYPE_BYTES && (value->as.string || value->size == 0));
}

/* Tags and slots: where the text begins. */
GX_INLINE size_t gx_flat_head(size_t count) {
    return gx_align_up(4 + count, 8) + 8 * count;
}

/* The canonical bits of a scalar; null has none. */
GX_INLINE uint64_t gx_flat_scalar(const gale_value *value) {
    static const uint64_t canonical_nan = UINT64_C(0x7ff8000000000000);
    uint64_t bits;
    if (value->type == GALE_TYPE_I64) return (uint64_t)value->as.i64;
    if (value->type == GALE_TYPE_BOOL) return value->as.boolean ? 1 : 0;
    if (value->type != GALE_TYPE_F64 || value->as.f64 == 0) return 0;
    memcpy(&bits, &value->as.f64, sizeof bits);
    return value->as.f64 == value->as.f64 ? bits : canonical_nan;
}

/* The commonest bodies: one scalar, or a short text that may be read in one go. */
GX_INLINE bool gx_flat_is_brief(const gale_value *value) {
    if (value->type < GALE_TYPE_STRING) return true;
    return value->type <= GALE_TYPE_BYTES && value->size - 1u < GX_SHORT_TEXT_MAX &&
           gx_short_text_is_there(value->as.string);
}

enum { GX_FLAT_BRIEF = 48 }; /* bytes that writing one may touch */

/* Writes one, without a branch on its length. Count and tag are one word. */
GX_INLINE size_t gx_flat_write_brief(const gale_value *value, uint8_t *at) {
    const gale_value v = *value;
    gx_store64(at, 1 | (uint64_t)v.type << 32);
    if (v.type < GALE_TYPE_STRING) {
        gx_store64(at + 8, gx_flat_scalar(&v));
        return 16;
    }
    gx_store64(at + 8, (uint64_t)v.size << 32 | 16);
    memcpy(at + 16, gx_short_hidden(v.as.bytes), GX_SHORT_TEXT_MAX);
    gx_store64(at + 16 + v.size, 0); /* NUL and padding */
    return gx_align_up(17 + (size_t)v.size, 8);
}

/* A single value, as most tuples have. */
GX_INLINE size_t gx_flat_write_one(const gale_value *value, uint8_t *at, size_t room) {
    const gale_value v = *value;
    if (GX_LIKELY(gx_flat_is_brief(&v) && room >= GX_FLAT_BRIEF)) return gx_flat_write_brief(&v, at);
    if (GX_UNLIKELY(v.type < GALE_TYPE_STRING || !gx_flat_is_valid(&v) || v.size > room - 32)) return 0;
    gx_store64(at, 1 | (uint64_t)v.type << 32);
    gx_store64(at + 8, (uint64_t)v.size << 32 | 16);
    gx_short_text_copy(at + 16, v.as.bytes, v.size); /* 16 bytes of room are left */
    gx_store64(at + 16 + v.size, 0);                 /* NUL and padding */
    return gx_align_up(17 + (size_t)v.size, 8);
}

size_t gx_flat_write_several(const gale_value *restrict values, size_t count, uint8_t *restrict at, size_t room);

/* Measures and writes at once, to `at`, 8-aligned, where there is `room`, of which more may be written than the body
 * takes. Returns how many bytes that is; 0 when it is not flat, a value is not valid, or there is not room enough. */
GX_INLINE size_t gx_flat_write(const gale_value *values, size_t count, uint8_t *at, size_t room) {
    return GX_LIKELY(count == 1 && room >= GX_FLAT_BRIEF) ? gx_flat_write_one(values, at, room)
                                                          : gx_flat_write_several(values, count, at, room);
}

#endif
