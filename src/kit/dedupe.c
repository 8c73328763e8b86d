/* A tuple passes when its key is new: gale_dedupe_bolt. What it has seen lies in a rotating map, which forgets by the
 * clock of the task.
 *
 * A spout that replays a failed tuple sends what looks like a duplicate. Two things keep it from being swallowed. If
 * the tuple fails here, because it could not be emitted, its key is forgotten at once. If it fails further down, nobody
 * tells a bolt, in Storm or here: only the tuple itself can say that it is the one that passed before. That is what
 * `identity` is for: the map keeps a hash of it, and the tuple that was let through is let through again. */
#include "base/hash.h"
#include "kit/fields.h"
#include "kit/rotation.h"

#include <gale/kit.h>
#include <stdlib.h>

static const char who[] = "dedupe";

#define HORIZON_DEFAULT 600.0
#define HORIZON_MAX 1e9 /* seconds: in nanoseconds it fits an int64 with room to spare */

typedef struct settings {
    gx_fields key;
    gx_fields output;
    gx_fields identity; /* count 0: none */
    int64_t horizon;    /* ns */
    uint32_t buckets;
    bool exact;
    gale_output stream;
    gale_setting tick;
} settings;

typedef struct dedupe {
    gx_instance instance;
    const settings *given;
    gale_rotating_map *seen; /* key -> hash of the identity of the one that passed */
    gx_rotation rotation;
    gx_buf key;
    uint64_t seed; /* of fingerprints */
    bool restored;
    gx_field_places key_places, output_places, identity_places;
    gale_value values[GX_FIELDS_MAX];
} dedupe;

static void bolt_cleanup(void *self) {
    dedupe *bolt = self;
    gale_rotating_map_free(bolt->seen);
    gx_buf_fini(&bolt->key);
    gx_define_instance_free(bolt);
}

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)out;
    const settings *given = user;
    dedupe *bolt = gx_define_instance(context, sizeof *bolt);
    if (!bolt) return GALE_NO_MEMORY;
    gale_rotating_map_options options = GALE_ROTATING_MAP_OPTIONS_INIT;
    options.buckets = given->buckets;
    options.key_type = GALE_KEY_BYTES;
    options.value_size = given->identity.count ? sizeof(uint64_t) : 0;
    options.seed = gale_context_random(context) | 1; /* 0 would ask the machine */
    options.allocator = context->allocator;
    bolt->given = given;
    bolt->seed = gale_context_random(context);
    bolt->key = (gx_buf)GX_BUF_INIT(&bolt->instance.heap);
    bolt->rotation = gx_rotation_new(given->horizon, given->buckets, gale_context_now(context));
    int rc = gale_rotating_map_new(&options, &bolt->seen, NULL);
    if (rc < 0) {
        bolt_cleanup(bolt);
        return rc;
    }
    *ret_self = bolt;
    return 0;
}

/* The canonical bytes of some fields, borrowed until the next call. */
static int pack(dedupe *bolt, const gx_fields *fields, gx_field_places *places, const gale_tuple *tuple,
                gale_collector *out) {
    gx_buf_reset(&bolt->key);
    int rc = gx_fields_take(fields, places, who, tuple, out, bolt->values);
    return rc < 0 ? rc : gx_fields_pack(bolt->values, fields->count, &bolt->key);
}

static int identity_of(dedupe *bolt, const gale_tuple *tuple, gale_collector *out, uint64_t *ret_hash) {
    if (!bolt->given->identity.count) return 0;
    int rc = pack(bolt, &bolt->given->identity, &bolt->identity_places, tuple, out);
    if (rc >= 0) *ret_hash = gx_hash_bytes(bolt->key.data, bolt->key.size, 0); /* the same in every task */
    return rc;
}

/* What the map knows the tuple by: the key itself, or its fingerprint. */
static gale_str map_key(const dedupe *bolt, XXH128_canonical_t *print) {
    if (bolt->given->exact) return (gale_str){ bolt->key.data, bolt->key.size };
    XXH128_canonicalFromHash(print, XXH3_128bits_withSeed(bolt->key.data, bolt->key.size, bolt->seed));
    return (gale_str){ (const char *)print->digest, sizeof print->digest };
}

static int pass_on(dedupe *bolt, const gale_tuple *tuple, gale_collector *out) {
    const gx_fields *output = &bolt->given->output;
    int rc = gx_fields_take(output, &bolt->output_places, who, tuple, out, bolt->values);
    if (rc >= 0) rc = gale_emit(out, 0, bolt->values, output->count);
    return rc < 0 ? rc : 0;
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    dedupe *bolt = self;
    uint64_t identity = 0;
    XXH128_canonical_t print;
    gx_rotation_turn(&bolt->rotation, bolt->seen, bolt->given->buckets, gale_context_now(bolt->instance.context));
    if (gale_tuple_is_tick(tuple)) return 0;
    int rc = identity_of(bolt, tuple, out, &identity);
    if (rc >= 0) rc = pack(bolt, &bolt->given->key, &bolt->key_places, tuple, out);
    if (rc < 0) return rc;
    gale_str key = map_key(bolt, &print);
    void *passed = NULL;
    int made = gale_rotating_map_put_if_absent_bytes(bolt->seen, key.data, key.size,
                                                     bolt->given->identity.count ? &identity : NULL, &passed);
    if (made < 0) return made;
    if (!made) {
        bool again = bolt->given->identity.count && memcmp(passed, &identity, sizeof identity) == 0;
        return again ? pass_on(bolt, tuple, out) : 0;
    }
    rc = pass_on(bolt, tuple, out);
    if (rc < 0) (void)gale_rotating_map_remove_bytes(bolt->seen, key.data, key.size, NULL);
    return rc;
}

/* --- What lasts: the seed of fingerprints, then the map -------------------------------------------------------------- */

static size_t value_size(const dedupe *bolt) {
    return bolt->given->identity.count ? sizeof(uint64_t) : 0;
}

static int bolt_save(void *self, gale_saver *to) {
    const dedupe *bolt = self;
    const gale_value head[2] = { gale_bool(bolt->given->exact), gale_i64((int64_t)bolt->seed) };
    int rc = gale_save(to, head, 2);
    return rc < 0 ? rc : gx_rotation_save(&bolt->rotation, bolt->seen, value_size(bolt), to);
}

/* A fingerprint does not tell what it is of. */
static int restore_head(dedupe *bolt, gx_recall *recall) {
    const gale_value *v;
    int rc = gx_recall_one(recall, "oi", &v);
    if (rc < 0) return rc;
    if (v[0].as.boolean != bolt->given->exact) {
        gx_define_report(recall->out, "%s: what was saved are %s, it keeps %s now", who,
                         bolt->given->exact ? "fingerprints" : "keys", bolt->given->exact ? "keys" : "fingerprints");
        return GALE_STATE;
    }
    if (!bolt->given->exact && !gx_recall_is_same(recall)) {
        gx_define_report(recall->out, "%s: fingerprints cannot be divided among another number of tasks", who);
        return GALE_STATE;
    }
    bolt->seed = (uint64_t)v[1].as.i64;
    return GALE_OK;
}

static bool owns(void *user, const gx_recall *recall, gale_str key) {
    dedupe *bolt = user;
    return gx_rotation_owns_packed(recall, key, 0, bolt->given->key.count, &bolt->key);
}

static int bolt_restore(void *self, gale_saved *from, gale_collector *out) {
    dedupe *bolt = self;
    gx_recall recall = { from, out, who, bolt->instance.context, 0 };
    int rc = restore_head(bolt, &recall);
    if (rc >= 0)
        rc = gx_rotation_restore(&bolt->rotation, bolt->seen, value_size(bolt), &recall, !bolt->restored, owns, bolt);
    bolt->restored = true;
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
    .name = "dedupe bolt",
    .kind = GALE_BOLT_SIMPLE,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .cleanup = bolt_cleanup,
    .durable = &durable,
};

static int check(const gale_dedupe_options *given, gale_error *error) {
    if (!(given->horizon_seconds > 0 && given->horizon_seconds <= HORIZON_MAX))
        return gale_error_set(error, GALE_INVALID, "dedupe bolt: horizon_seconds is %g, must be above 0 and at most %g",
                              given->horizon_seconds, HORIZON_MAX);
    if (given->buckets < 2 || given->buckets > GALE_ROTATING_MAP_BUCKETS_MAX)
        return gale_error_set(error, GALE_INVALID, "dedupe bolt: buckets is %u, must be 2 to %d", given->buckets,
                              GALE_ROTATING_MAP_BUCKETS_MAX);
    if (given->keep != GALE_DEDUPE_EXACT && given->keep != GALE_DEDUPE_FINGERPRINT)
        return gale_error_set(error, GALE_INVALID,
                              "dedupe bolt: keep is %d, which is neither exact (%d) nor fingerprint (%d)", given->keep,
                              GALE_DEDUPE_EXACT, GALE_DEDUPE_FINGERPRINT);
    return 0;
}

/* The map must be turned when no tuple comes, too, or its memory would not go back. */
static gale_setting tick_of(const settings *made) {
    int64_t seconds = gx_rotation_new(made->horizon, made->buckets, 0).period / GALE_SECOND;
    return gx_define_tick(seconds < 1 ? 1 : seconds > INT32_MAX ? INT32_MAX : seconds);
}

int gale_dedupe_bolt(const gale_dedupe_options *options, gale_bolt *ret_bolt, gale_error *error) {
    if (!ret_bolt) return gx_define_nowhere("dedupe bolt", error);
    gale_dedupe_options given;
    settings made = { .horizon = 0 };
    int rc = gx_options_take(&given, sizeof given, options, "dedupe bolt: options", error);
    if (rc < 0) return rc;
    if (given.horizon_seconds == 0) given.horizon_seconds = HORIZON_DEFAULT;
    if (!given.buckets) given.buckets = GALE_ROTATING_MAP_BUCKETS;
    rc = check(&given, error);
    if (rc >= 0) rc = gx_fields_parse(given.key, "dedupe bolt: key", &made.key, error);
    if (rc >= 0)
        rc = gx_fields_parse(given.output ? given.output : given.key, "dedupe bolt: output", &made.output, error);
    if (rc >= 0 && given.identity) rc = gx_fields_parse(given.identity, "dedupe bolt: identity", &made.identity, error);
    if (rc < 0) return rc;
    made.horizon = (int64_t)(given.horizon_seconds * (double)GALE_SECOND);
    if (made.horizon < 1) made.horizon = 1;
    made.buckets = given.buckets;
    made.exact = given.keep == GALE_DEDUPE_EXACT;
    made.tick = tick_of(&made);
    settings *user = gx_define_user(&made, sizeof made, "dedupe bolt", error);
    if (!user) return GALE_NO_MEMORY;
    user->stream = (gale_output){ NULL, user->output.text };
    gale_bolt bolt = gx_define_bolt(&ops, user, &user->stream, 1);
    bolt.settings = &user->tick;
    bolt.setting_count = 1;
    *ret_bolt = bolt;
    return 0;
}
