/* storm-starter's RollingCountAggBolt: gale_rolling_count_agg_bolt. What several counters say of the same object, one
 * after the other, becomes one sum: of the last count of each.
 *
 * `counts` holds the last count of each object and counter unless it is 0; `sums` each object that has one. So an
 * object whose counts are all 0 takes no room. */
#include "base/buf.h"
#include "ds/bytes_map.h"
#include "kit/recall.h"
#include "tuple/key.h"

#include <gale/kit.h>

static const char who[] = "rolling count agg";

typedef struct sum {
    uint64_t total;   /* wraps around, as Java's long does */
    uint64_t sources; /* counters whose last count is not 0 */
} sum;

typedef struct agg {
    gx_instance instance;
    gx_bytes_map *counts; /* object and task, int64_t */
    gx_bytes_map *sums;   /* object, sum */
    gx_buf key;
} agg;

static void bolt_cleanup(void *self) {
    agg *bolt = self;
    gx_bytes_map_free(bolt->counts);
    gx_bytes_map_free(bolt->sums);
    gx_buf_fini(&bolt->key);
    gx_define_instance_free(bolt);
}

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)user, (void)out;
    agg *bolt = gx_define_instance(context, sizeof *bolt);
    if (!bolt) return GALE_NO_MEMORY;
    gx_heap *heap = &bolt->instance.heap;
    bolt->key = (gx_buf)GX_BUF_INIT(heap);
    bolt->sums = NULL;
    bolt->counts = gx_bytes_map_new(heap, sizeof(int64_t), gale_context_random(context));
    if (bolt->counts) bolt->sums = gx_bytes_map_new(heap, sizeof(sum), gale_context_random(context));
    if (!bolt->sums) {
        bolt_cleanup(bolt);
        return GALE_NO_MEMORY;
    }
    *ret_self = bolt;
    return 0;
}

/* The object's key, and the same with the task behind them: which counter said it of which object. */
static int keys_of(agg *bolt, const gale_value *object, uint32_t task, gale_str *ret_object, gale_str *ret_source) {
    int rc = gx_key_make(object, &bolt->key, ret_object);
    if (rc < 0) return rc;
    bolt->key.size = ret_object->size;
    gx_buf_add(&bolt->key, &task, sizeof task);
    if (bolt->key.failed) return GALE_NO_MEMORY;
    ret_object->data = bolt->key.data;
    *ret_source = (gale_str){ bolt->key.data, bolt->key.size };
    return 0;
}

static sum replace(const sum *old, int64_t last, int64_t count) {
    return (sum){ old->total - (uint64_t)last + (uint64_t)count, old->sources - (last != 0) + (count != 0) };
}

/* Nothing is remembered of what was not told: a tuple that fails comes again. */
static int take(agg *bolt, const gale_tuple *tuple, int64_t count, gale_collector *out) {
    gale_str object, source;
    gale_value named = gale_tuple_value(tuple, 0);
    int rc = keys_of(bolt, &named, gale_tuple_task(tuple), &object, &source);
    if (rc < 0) return rc;
    sum *all = gx_bytes_map_put(bolt->sums, object, NULL);
    int64_t *last = all ? gx_bytes_map_put(bolt->counts, source, NULL) : NULL;
    rc = GALE_NO_MEMORY;
    if (last) {
        sum now = replace(all, *last, count);
        gale_value values[2] = { gale_tuple_value(tuple, 0), gale_i64((int64_t)now.total) };
        rc = gale_emit_unanchored(out, 0, values, 2);
        if (rc >= 0) *all = now, *last = count;
        if (*last == 0) gx_bytes_map_remove(bolt->counts, source);
    }
    if (all && all->sources == 0) gx_bytes_map_remove(bolt->sums, object);
    return rc < 0 ? rc : 0;
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    if (gale_tuple_is_tick(tuple)) return 0;
    if (gale_tuple_size(tuple) < 2) return gx_define_need(out, who, tuple, 2);
    gale_value count = gale_tuple_value(tuple, 1);
    if (count.type != GALE_TYPE_I64) return gx_define_wrong_type(out, who, tuple, 1, "i64");
    return take(self, tuple, count.as.i64, out);
}

/* --- What lasts: the last count of each object and counter ----------------------------------------------------------- */

static int bolt_save(void *self, gale_saver *to) {
    const agg *bolt = self;
    int rc = 0;
    for (size_t i = 0; rc >= 0 && i < gx_bytes_map_size(bolt->counts); i++) {
        gale_str source;
        const int64_t *count = gx_bytes_map_at(bolt->counts, i, &source);
        uint32_t task;
        size_t size = source.size - sizeof task;
        memcpy(&task, source.data + size, sizeof task);
        const gale_value record[3] = { gx_key_value((gale_str){ source.data, size }), gale_i64(task),
                                       gale_i64(*count) };
        rc = gale_save(to, record, 3);
    }
    return rc;
}

static int bring_back(agg *bolt, const gale_value *object, uint32_t task, int64_t count) {
    gale_str key, source;
    int rc = keys_of(bolt, object, task, &key, &source);
    if (rc < 0) return rc;
    sum *all = gx_bytes_map_put(bolt->sums, key, NULL);
    int64_t *last = all ? gx_bytes_map_put(bolt->counts, source, NULL) : NULL;
    if (!last) return GALE_NO_MEMORY;
    *all = replace(all, *last, count);
    *last = count;
    return 0;
}

static int bolt_restore(void *self, gale_saved *from, gale_collector *out) {
    agg *bolt = self;
    gx_recall recall = { from, out, who, bolt->instance.context, 0 };
    const gale_value *v;
    int rc;
    while ((rc = gx_recall_next(&recall, "?ni", &v)) > 0) {
        if (v[1].as.i64 > UINT16_MAX || v[2].as.i64 == 0) return gx_recall_refuse(&recall, "has a count that is none");
        if (gx_recall_owns(&recall, &v[0], 1)) rc = bring_back(bolt, &v[0], (uint32_t)v[1].as.i64, v[2].as.i64);
        if (rc < 0) return rc;
    }
    return rc;
}

static const gale_durable_ops durable = {
    .size = sizeof(gale_durable_ops),
    .version = 1,
    .flags = GALE_DURABLE_PARTS,
    .save = bolt_save,
    .restore = bolt_restore,
};

static const gale_bolt_ops ops = {
    .size = sizeof(gale_bolt_ops),
    .name = "rolling count agg bolt",
    .kind = GALE_BOLT_SIMPLE,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .cleanup = bolt_cleanup,
    .durable = &durable,
};

int gale_rolling_count_agg_bolt(gale_bolt *ret_bolt, gale_error *error) {
    static const gale_output outputs[] = { { NULL, "obj, count" } };
    if (!ret_bolt) return gx_define_nowhere("rolling count agg bolt", error);
    *ret_bolt = gx_define_bolt(&ops, NULL, outputs, 1);
    return 0;
}
