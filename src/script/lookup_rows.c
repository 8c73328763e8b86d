#include "script/lookup_rows.h"

#include "tuple/value.h"

#include <stdio.h>

typedef struct row {
    uint64_t at, size; /* of its packed values */
    uint64_t number;
} row;

bool gx_lookup_rows_init(gx_lookup_rows *rows, gx_heap *heap, uint64_t seed) {
    *rows = (gx_lookup_rows){ .keys = gx_bytes_map_new(heap, sizeof(row), seed), .values = GX_BUF_INIT(heap) };
    return rows->keys;
}

void gx_lookup_rows_fini(gx_lookup_rows *rows) {
    gx_bytes_map_free(rows->keys);
    gx_buf_fini(&rows->values);
    rows->keys = NULL;
}

static bool add_part(gx_buf *key, const void *text, size_t size, bool alone) {
    uint32_t length = (uint32_t)size;
    if (!alone) gx_buf_add(key, (const char *)&length, sizeof length);
    gx_buf_add(key, text, size);
    return true;
}

static bool add_value(gx_buf *key, const gale_value *value, bool alone) {
    char number[24];
    switch (value->type) {
    case GALE_TYPE_STRING:
    case GALE_TYPE_BYTES: return add_part(key, value->as.string, value->size, alone);
    case GALE_TYPE_BOOL: return add_part(key, value->as.boolean ? "true" : "false", value->as.boolean ? 4 : 5, alone);
    case GALE_TYPE_I64:
        snprintf(number, sizeof number, "%lld", (long long)value->as.i64);
        return add_part(key, number, strlen(number), alone);
    default: return false;
    }
}

int gx_lookup_key(const gale_value *values, uint32_t count, gx_buf *key) {
    gx_buf_reset(key);
    for (uint32_t i = 0; i < count; i++)
        if (!add_value(key, &values[i], count == 1)) return GALE_TYPE;
    gx_buf_add_byte(key, 0); /* an empty one is a key, too */
    return key->failed ? GALE_NO_MEMORY : GALE_OK;
}

int gx_lookup_rows_add(gx_lookup_rows *rows, gale_str key, const gale_value *values, uint32_t count, uint64_t number,
                       uint64_t *ret_number) {
    size_t at = rows->values.size;
    gale_value list = gale_list(values, count);
    const row *known = gx_bytes_map_get(rows->keys, key);
    if (known) {
        *ret_number = known->number;
        return GALE_EXISTS;
    }
    int rc = gx_value_pack(&list, &rows->values);
    if (rc < 0) return rc;
    row *made = gx_bytes_map_put(rows->keys, key, NULL);
    if (!made) {
        rows->values.size = at;
        return GALE_NO_MEMORY;
    }
    *made = (row){ at, rows->values.size - at, number };
    return GALE_OK;
}

bool gx_lookup_rows_find(const gx_lookup_rows *rows, gale_str key, gale_value *ret_list) {
    const row *found = gx_bytes_map_get(rows->keys, key);
    if (!found) return false;
    *ret_list = gx_value_unpack((gale_str){ rows->values.data + found->at, found->size });
    return true;
}

size_t gx_lookup_rows_count(const gx_lookup_rows *rows) {
    return gx_bytes_map_size(rows->keys);
}
