/* A part of what comes: gale_sample_bolt. By chance, by counting, or by the hash of a key, which says the same in every
 * task and every run. */
#include "kit/fields.h"
#include "tuple/hash.h"

#include <gale/kit.h>
#include <gale/state.h>

static const char who[] = "sample bolt";

typedef struct settings {
    gx_fields fields, key;
    uint64_t limit; /* what a random number or a hash may be at most */
    uint64_t every; /* 0: by chance or by key */
    gale_output output;
} settings;

typedef struct sampler {
    gx_instance instance;
    const settings *given;
    uint64_t count;
    gx_field_places places, key_places;
    gale_value values[GX_FIELDS_MAX];
} sampler;

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)out;
    sampler *bolt = gx_define_instance(context, sizeof *bolt);
    if (!bolt) return GALE_NO_MEMORY;
    bolt->given = user;
    *ret_self = bolt;
    return GALE_OK;
}

/* A grouping by the same key leaves hashes of one range to a task; mixed once more, each task has its share of them. */
static int by_key(sampler *bolt, const gale_tuple *tuple, gale_collector *out, bool *ret_passes) {
    const settings *given = bolt->given;
    int rc = gx_fields_take(&given->key, &bolt->key_places, who, tuple, out, bolt->values);
    if (rc < 0) return rc;
    uint64_t hash = gx_values_hash_all(bolt->values, given->key.count);
    *ret_passes = gx_hash_mix(hash, UINT64_C(0x9e3779b97f4a7c15)) <= given->limit;
    return GALE_OK;
}

static int choose(sampler *bolt, const gale_tuple *tuple, gale_collector *out, bool *ret_passes) {
    const settings *given = bolt->given;
    if (given->key.count) return by_key(bolt, tuple, out, ret_passes);
    *ret_passes = given->every ? ++bolt->count % given->every == 0
                               : gale_context_random(bolt->instance.context) <= given->limit;
    return GALE_OK;
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    sampler *bolt = self;
    const settings *given = bolt->given;
    bool passes = false;
    if (gale_tuple_is_tick(tuple)) return 0;
    int rc = choose(bolt, tuple, out, &passes);
    if (rc < 0 || !passes) return rc;
    rc = gx_fields_take(&given->fields, &bolt->places, who, tuple, out, bolt->values);
    if (rc >= 0) rc = gale_emit(out, 0, bolt->values, given->fields.count);
    return rc < 0 ? rc : GALE_OK;
}

static const gale_bolt_ops ops = {
    .size = sizeof(gale_bolt_ops),
    .name = "sample bolt",
    .kind = GALE_BOLT_SIMPLE,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .cleanup = gx_define_instance_free,
    .durable = &gale_stateless,
};

static uint64_t limit_of(double share) {
    double numbers = share * 18446744073709551616.0;
    if (share >= 1) return UINT64_MAX;
    return numbers > 1 ? (uint64_t)numbers - 1 : 0;
}

static int read_share(settings *made, const gale_sample_options *given, gale_error *error) {
    bool shared = given->share != 0;
    if (shared == (given->every != 0))
        return gale_error_set(error, GALE_INVALID, "%s: %s; one of them says how many pass", who,
                              shared ? "both share and every are given" : "neither share nor every is given");
    if (shared && !(given->share > 0 && given->share <= 1))
        return gale_error_set(error, GALE_INVALID, "%s: share is %g, must be above 0 and at most 1", who, given->share);
    made->every = given->every;
    made->limit = limit_of(shared ? given->share : 1 / (double)given->every);
    return GALE_OK;
}

int gale_sample_bolt(const gale_sample_options *options, gale_bolt *ret_bolt, gale_error *error) {
    if (!ret_bolt) return gx_define_nowhere(who, error);
    gale_sample_options given;
    settings made = { .every = 0 };
    int rc = gx_options_take(&given, sizeof given, options, "sample bolt: options", error);
    if (rc >= 0) rc = gx_fields_parse(given.fields, "sample bolt: fields", &made.fields, error);
    if (rc >= 0 && given.key && *given.key) rc = gx_fields_parse(given.key, "sample bolt: key", &made.key, error);
    if (rc >= 0) rc = read_share(&made, &given, error);
    if (rc < 0) return rc;
    settings *user = gx_define_user(&made, sizeof made, who, error);
    if (!user) return GALE_NO_MEMORY;
    user->output = (gale_output){ NULL, user->fields.text };
    *ret_bolt = gx_define_bolt(&ops, user, &user->output, 1);
    return GALE_OK;
}
