/* How often each value came: gale_count_bolt, gale_field_count_bolt. A value is known by its key.
 *
 * The counts are keyed state. Those that have moved since the last checkpoint are here, in a map that is emptied into the
 * state when one is made: so a count that goes on costs a look into one map, and in a run that is not durable, where none
 * is ever made, nothing else happens. */
#include "base/buf.h"
#include "ds/bytes_map.h"
#include "kit/ahead.h"
#include "kit/fields.h"

#include <gale/kit.h>
#include <gale/state.h>

static const char who[] = "count";

enum { AHEAD = 2 }; /* rows: the index of the map, then the entry */

typedef struct settings {
    int32_t emit;
    gx_fields field; /* empty: the first */
} settings;

typedef struct count_bolt {
    gx_instance instance;
    const settings *given;
    gx_bytes_map *counts; /* that have moved */
    gale_state *kept;
    gx_buf key;
    gx_field_places places;
    gx_ahead ahead;
    bool other;  /* not the first value, or the rows ahead are looked at */
    size_t told; /* of those that have moved, by `finish` */
} count_bolt;

static void bolt_cleanup(void *self) {
    count_bolt *bolt = self;
    gx_bytes_map_free(bolt->counts);
    gx_buf_fini(&bolt->key);
    gx_define_instance_free(bolt);
}

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    count_bolt *bolt = gx_define_instance(context, sizeof *bolt);
    if (!bolt) return GALE_NO_MEMORY;
    bolt->given = user;
    bolt->other = bolt->given->field.count > 0;
    bolt->key = (gx_buf)GX_BUF_INIT(&bolt->instance.heap);
    bolt->counts = gx_bytes_map_new(&bolt->instance.heap, sizeof(int64_t), gale_context_random(context));
    int rc = bolt->counts ? gale_state_open(out, NULL, &bolt->kept) : GALE_NO_MEMORY;
    if (rc < 0) {
        bolt_cleanup(bolt);
        return rc;
    }
    *ret_self = bolt;
    return 0;
}

/* A count that has not moved yet goes on from what is kept. */
GX_NOINLINE static int fetch(const count_bolt *bolt, gale_str key, int64_t *count) {
    const gale_value value = gx_key_value(key);
    gale_value kept = gale_i64(0);
    int rc = gale_state_get(bolt->kept, &value, &kept);
    if (rc == GALE_OK && kept.type != GALE_TYPE_I64) rc = GALE_DAMAGED;
    if (rc == GALE_OK || rc == GALE_NOT_FOUND) {
        *count += kept.as.i64;
        return 0;
    }
    gx_bytes_map_remove(bolt->counts, key);
    return rc;
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
    if (GX_UNLIKELY(++*count == 1)) {
        gx_ahead_decide(&bolt->ahead, &bolt->instance.heap);
        bolt->other = bolt->ahead.on || bolt->given->field.count;
        int rc = fetch(bolt, key, count);
        if (rc < 0) return rc;
    }
    return bolt->given->emit == GALE_COUNT_EMIT_FINISH ? 0 : tell(bolt, key, count, tuple, out);
}

GX_NOINLINE static int execute_other(count_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    gale_str key;
    gx_ahead_step(&bolt->ahead, bolt->counts, out, bolt->places.at[0], AHEAD);
    if (GX_LIKELY(gx_fields_text_key(&bolt->given->field, tuple, &key))) return count_key(bolt, key, tuple, out);
    if (gale_tuple_is_tick(tuple)) return 0;
    int rc = gx_fields_key(&bolt->given->field, &bolt->places, who, tuple, out, &bolt->key, &key);
    return rc < 0 ? rc : count_key(bolt, key, tuple, out);
}

GX_UNPROTECTED static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    count_bolt *bolt = self;
    gale_str key;
    if (GX_UNLIKELY(bolt->other) || !gx_fields_first_text(tuple, &key)) return execute_other(bolt, tuple, out);
    return count_key(bolt, key, tuple, out);
}

typedef struct teller {
    count_bolt *bolt;
    gale_collector *out;
} teller;

/* What has not moved since the last checkpoint, in parts. */
static int tell_kept(void *user, const gale_value *key, const gale_value *count) {
    const teller *t = user;
    gale_str bytes;
    int rc = gx_key_make(key, &t->bolt->key, &bytes);
    if (rc < 0) return rc;
    if (gx_bytes_map_get(t->bolt->counts, bytes)) return 0;
    const gale_value values[2] = { *key, *count };
    rc = gale_emit(t->out, 0, values, 2);
    return rc < 0 ? rc : gale_part_is_full(t->out) ? GALE_MORE : 0;
}

static int bolt_finish(void *self, gale_collector *out) {
    count_bolt *bolt = self;
    teller t = { bolt, out };
    if (bolt->given->emit != GALE_COUNT_EMIT_FINISH) return 0;
    while (bolt->told < gx_bytes_map_size(bolt->counts)) {
        gale_str key;
        const int64_t *count = gx_bytes_map_at(bolt->counts, bolt->told, &key);
        gale_value values[2] = { gx_key_value(key), gale_i64(*count) };
        int rc = gale_emit(out, 0, values, 2);
        if (rc < 0) return rc;
        bolt->told++;
        if (gale_part_is_full(out)) return GALE_MORE;
    }
    return gale_state_each(bolt->kept, tell_kept, &t);
}

/* What has moved becomes state, which the engine saves. */
static int bolt_save(void *self, gale_saver *to) {
    count_bolt *bolt = self;
    (void)to;
    for (size_t i = 0; i < gx_bytes_map_size(bolt->counts); i++) {
        gale_str bytes;
        const int64_t *count = gx_bytes_map_at(bolt->counts, i, &bytes);
        const gale_value key = gx_key_value(bytes), value = gale_i64(*count);
        int rc = gale_state_put(bolt->kept, &key, &value);
        if (rc < 0) return rc;
    }
    gx_bytes_map_clear(bolt->counts);
    return 0;
}

static const gale_durable_ops durable = {
    .size = sizeof(gale_durable_ops),
    .version = 1,
    .flags = GALE_DURABLE_KEYED,
    .save = bolt_save,
};

static const gale_bolt_ops ops = {
    .size = sizeof(gale_bolt_ops),
    .name = "count bolt",
    .kind = GALE_BOLT_SIMPLE,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .finish = bolt_finish,
    .cleanup = bolt_cleanup,
    .durable = &durable,
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
