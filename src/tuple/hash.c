#include "tuple/hash.h"

#include "base/bits.h"
#include "tuple/value.h"

static uint64_t hash(const gale_value *value, int depth);

GX_INLINE uint64_t hash_text(const void *text, size_t size, uint8_t type) {
    if (GX_UNLIKELY(size > GX_SHORT_TEXT_MAX)) return gx_hash_bytes(text, size, type);
    return gx_hash_short(gx_short_text_load(text, size), gx_hash_what(size, type), GX_HASH_PUBLIC);
}

static uint64_t hash_list(const gale_value *list, int depth) {
    uint64_t h = gx_hash_scalar(list->size, GALE_TYPE_LIST);
    for (size_t i = 0; i < list->size; i++) {
        gale_value item = gale_list_at(list, i);
        h = gx_hash_mix(h, hash(&item, depth));
    }
    return h;
}

/* Entries are added up, so that a map that was built hashes as the sorted one does. */
static uint64_t hash_map(const gale_value *map, int depth) {
    uint64_t sum = 0;
    gale_str key;
    gale_value value;
    for (size_t i = 0; gale_map_at(map, i, &key, &value); i++)
        sum += gx_hash_mix(hash_text(key.data, key.size, GALE_TYPE_STRING), hash(&value, depth));
    return gx_hash_mix(gx_hash_scalar(map->size, GALE_TYPE_MAP), sum);
}

static uint64_t hash(const gale_value *value, int depth) {
    switch (value->type) {
    case GALE_TYPE_BOOL: return gx_hash_scalar(value->as.boolean, GALE_TYPE_BOOL);
    case GALE_TYPE_I64: return gx_hash_scalar((uint64_t)value->as.i64, GALE_TYPE_I64);
    case GALE_TYPE_F64: return gx_hash_scalar(gx_flat_scalar(value), GALE_TYPE_F64);
    case GALE_TYPE_STRING:
    case GALE_TYPE_BYTES: return hash_text(value->as.bytes, value->size, value->type);
    case GALE_TYPE_LIST: return depth < GALE_VALUE_DEPTH ? hash_list(value, depth + 1) : 0;
    case GALE_TYPE_MAP: return depth < GALE_VALUE_DEPTH ? hash_map(value, depth + 1) : 0;
    default: return gx_hash_scalar(0, GALE_TYPE_NULL);
    }
}

/* Most keys are text. */
GX_INLINE uint64_t hash_key(const gale_value *value) {
    if (GX_LIKELY(value->type == GALE_TYPE_STRING)) return hash_text(value->as.string, value->size, GALE_TYPE_STRING);
    return hash(value, 0);
}

uint64_t gx_value_hash(const gale_value *value) {
    return hash_key(value);
}

uint64_t gale_value_hash(const gale_value *value) {
    return hash(gx_value_sound(value), 0);
}

/* A single field, as most groupings have, costs no mixing. */
uint64_t gx_values_hash(const gale_value *values, const uint16_t *indices, size_t count) {
    if (count == 0) return 0;
    uint64_t h = hash_key(&values[indices[0]]);
    for (size_t i = 1; i < count; i++) h = gx_hash_mix(h, hash_key(&values[indices[i]]));
    return h;
}

uint64_t gx_values_hash_all(const gale_value *values, size_t count) {
    if (count == 0) return 0;
    uint64_t h = hash_key(&values[0]);
    for (size_t i = 1; i < count; i++) h = gx_hash_mix(h, hash_key(&values[i]));
    return h;
}
