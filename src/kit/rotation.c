#include "kit/rotation.h"

#include "ds/rotating_map.h"
#include "kit/fields.h"
#include "tuple/body.h"

int gx_rotation_save(const gx_rotation *rotation, const gale_rotating_map *map, size_t value_size, gale_saver *to) {
    const gale_value head[3] = { gale_i64(rotation->period), gale_i64(rotation->due),
                                 gale_i64((int64_t)gale_rotating_map_size(map)) };
    gale_rotating_map_cursor cursor = { { 0 } };
    gale_rotating_map_entry entry;
    int rc = gale_save(to, head, 3);
    while (rc >= 0 && gale_rotating_map_next(map, &cursor, &entry)) {
        const gale_value record[3] = { gale_bytes(entry.bytes, entry.bytes_size),
                                       gale_i64(gx_rotating_map_age(map, entry.bytes, entry.bytes_size)),
                                       gale_bytes(entry.value, value_size) };
        rc = gale_save(to, record, 3);
    }
    return rc;
}

static bool is_rotation(int64_t period, int64_t due) {
    static const int64_t most = INT64_MAX / 4;
    return period < most && due > -most && due < most;
}

static int restore_head(gx_rotation *rotation, gx_recall *recall, bool first, int64_t *ret_entries) {
    const gale_value *v;
    int rc = gx_recall_one(recall, "nin", &v);
    if (rc < 0) return rc;
    gx_rotation was = { v[0].as.i64, v[1].as.i64 };
    if (!is_rotation(was.period, was.due)) return gx_recall_refuse(recall, "has a time that is none");
    if (first && (!rotation->period || rotation->period == was.period)) *rotation = was;
    *ret_entries = v[2].as.i64;
    return GALE_OK;
}

int gx_rotation_restore(gx_rotation *rotation, gale_rotating_map *map, size_t value_size, gx_recall *recall, bool first,
                        gx_rotation_owns_fn *owns, void *user) {
    int64_t left = 0;
    int rc = restore_head(rotation, recall, first, &left);
    for (; rc >= 0 && left > 0; left--) {
        const gale_value *v;
        rc = gx_recall_one(recall, "yny", &v);
        if (rc < 0) break;
        if (v[2].size != value_size) return gx_recall_refuse(recall, "has a value of another size");
        if (v[0].size > GALE_ROTATING_MAP_KEY_MAX) return gx_recall_refuse(recall, "has a key that is too large");
        if (!owns(user, recall, (gale_str){ v[0].as.bytes, v[0].size })) continue;
        uint32_t age = v[1].as.i64 > UINT32_MAX ? UINT32_MAX : (uint32_t)v[1].as.i64;
        rc = gx_rotating_map_put_aged(map, v[0].as.bytes, v[0].size, value_size ? v[2].as.bytes : NULL, age);
    }
    return rc < 0 ? rc : GALE_OK;
}

bool gx_rotation_owns_packed(const gx_recall *recall, gale_str key, size_t skip, uint32_t count, gx_buf *scratch) {
    if (gx_recall_is_same(recall)) return true;
    gale_value values[GX_FIELDS_MAX];
    gx_buf_reset(scratch);
    if (key.size < skip) return false;
    gx_buf_add(scratch, key.data + skip, key.size - skip);
    if (scratch->failed || !gx_body_valid(scratch->data, scratch->size)) return false;
    values[0] = gx_value_unpack((gale_str){ scratch->data, scratch->size });
    if (count == 1) return gx_recall_owns(recall, values, 1);
    gale_value all = values[0];
    if (all.type != GALE_TYPE_LIST || all.size != count) return false;
    for (uint32_t i = 0; i < count; i++) values[i] = gale_list_at(&all, i);
    return gx_recall_owns(recall, values, count);
}
