/* How often each value came: gale_count_bolt, gale_field_count_bolt. A value is known by its key. */
#include "base/buf.h"
#include "ds/bytes_map.h"
#include "kit/fields.h"

#include <gale/kit.h>

static const char who[] = "count";

typedef struct settings {
    int32_t emit;
    gx_fields field; /* empty: the first */
} settings;

typedef struct count_bolt {
    gx_instance instance;
    const settings *given;
    gx_bytes_map *counts;
    gx_buf key;
    gx_field_places places;
} count_bolt;

static void bolt_cleanup(void *self) {
    count_bolt *bolt = self;
    gx_bytes_map_free(bolt->counts);
    gx_buf_fini(&bolt->key);
    gx_define_instance_free(bolt);
}

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)out;
    count_bolt *bolt = gx_define_instance(context, sizeof *bolt);
    if (!bolt) return GALE_NO_MEMORY;
    bolt->given = user;
    bolt->key = (gx_buf)GX_BUF_INIT(&bolt->instance.heap);
    bolt->counts = gx_bytes_map_new(&bolt->instance.heap, sizeof(int64_t), gale_context_random(context));
    if (!bolt->counts) {
        bolt_cleanup(bolt);
        return GALE_NO_MEMORY;
    }
    *ret_self = bolt;
    return 0;
}

/* A tuple that fails comes again: what was not told must not have been counted. */
GX_NOINLINE static int tell(count_bolt *bolt, gale_str key, int64_t *count, const gale_tuple *tuple,
                            gale_collector *out) {
    const gale_value values[2] = { gale_tuple_value(tuple, bolt->places.at[0]), gale_i64(*count) };
    int rc = gale_emit(out, 0, values, 2);
    if (rc >= 0) return 0;
    if (--*count == 0) gx_bytes_map_remove(bolt->counts, key);
    return rc;
}

GX_INLINE int count_key(count_bolt *bolt, gale_str key, const gale_tuple *tuple, gale_collector *out) {
    int64_t *count = gx_bytes_map_put(bolt->counts, key, NULL);
    if (!count) return GALE_NO_MEMORY;
    ++*count;
    return bolt->given->emit == GALE_COUNT_EMIT_FINISH ? 0 : tell(bolt, key, count, tuple, out);
}

GX_UNPROTECTED static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    count_bolt *bolt = self;
    gale_str key;
    if (GX_LIKELY(gx_fields_text_key(&bolt->given->field, tuple, &key))) return count_key(bolt, key, tuple, out);
    if (gale_tuple_is_tick(tuple)) return 0;
    int rc = gx_fields_key(&bolt->given->field, &bolt->places, who, tuple, out, &bolt->key, &key);
    return rc < 0 ? rc : count_key(bolt, key, tuple, out);
}

static int bolt_finish(void *self, gale_collector *out) {
    count_bolt *bolt = self;
    if (bolt->given->emit != GALE_COUNT_EMIT_FINISH) return 0;
    for (size_t i = 0; i < gx_bytes_map_size(bolt->counts); i++) {
        gale_str key;
        const int64_t *count = gx_bytes_map_at(bolt->counts, i, &key);
        gale_value values[2] = { gx_key_value(key), gale_i64(*count) };
        int rc = gale_emit(out, 0, values, 2);
        if (rc < 0) return rc;
    }
    return 0;
}

static const gale_bolt_ops ops = {
    .size = sizeof(gale_bolt_ops),
    .name = "count bolt",
    .kind = GALE_BOLT_SIMPLE,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .finish = bolt_finish,
    .cleanup = bolt_cleanup,
};

int gale_field_count_bolt(const char *field, int32_t emit, gale_bolt *ret_bolt, gale_error *error) {
    static const gale_output outputs[] = { { NULL, "word, count" } };
    if (!ret_bolt) return gx_define_nowhere("count bolt", error);
    if (emit != GALE_COUNT_EMIT_EACH && emit != GALE_COUNT_EMIT_FINISH) {
        return gale_error_set(error, GALE_INVALID, "count bolt: emit is %d, which is neither each (%d) nor finish (%d)",
                              emit, GALE_COUNT_EMIT_EACH, GALE_COUNT_EMIT_FINISH);
    }
    settings given = { .emit = emit };
    int rc = gx_fields_parse_one(field, "count bolt: field", &given.field, error);
    if (rc < 0) return rc;
    void *user = gx_define_user(&given, sizeof given, "count bolt", error);
    if (!user) return GALE_NO_MEMORY;
    *ret_bolt = gx_define_bolt(&ops, user, outputs, 1);
    return 0;
}

int gale_count_bolt(int32_t emit, gale_bolt *ret_bolt, gale_error *error) {
    return gale_field_count_bolt(NULL, emit, ret_bolt, error);
}
