/* No more than so many a second: gale_rate_limit_bolt.
 *
 * A token bucket, kept as one moment (the generic cell rate algorithm of ATM, ITU-T I.371): when it would be full
 * again. A tuple passes when that is not farther ahead than the bucket is deep, and puts it off by one token. A moment
 * that is past says what no moment says, a full bucket: so keys whose moment is past are forgotten, and nothing is lost
 * by it. */
#include "kit/fields.h"
#include "kit/rotation.h"

#include <gale/kit.h>
#include <gale/state.h>
#include <stdlib.h>

enum { STREAM_ON, STREAM_OVER, STREAMS, BUCKETS = 3 };

static const char who[] = "rate limit bolt";

#define RATE_MAX 1e6    /* a token of at least a microsecond: rounding it to nanoseconds changes little */
#define SECONDS_MAX 1e9 /* that an empty bucket takes: in nanoseconds it fits an int64 with room to spare */
#define KEYS_DEFAULT 100000

typedef struct settings {
    gx_fields fields, key;
    double rate;
    int64_t token, depth; /* ns: what a tuple takes, and how far ahead the moment may be before it */
    uint64_t keys_max;
    bool to_stream;
    gale_output outputs[STREAMS];
} settings;

typedef struct limiter {
    gx_instance instance;
    const settings *given;
    int64_t full_at;         /* without a key */
    gale_rotating_map *keys; /* key -> when it is full */
    gx_rotation rotation;
    gx_buf key;
    uint64_t dropped, forgotten;
    gx_field_places places, key_places;
    gale_value values[GX_FIELDS_MAX];
} limiter;

static void tell(const limiter *bolt) {
    const gale_context *context = bolt->instance.context;
    if (bolt->dropped)
        gale_log(context->logger, GALE_LOG_WARN, context->component, "%llu tuple%s above %g a second, and dropped",
                 (unsigned long long)bolt->dropped, bolt->dropped == 1 ? " was" : "s were", bolt->given->rate);
    if (bolt->forgotten)
        gale_log(context->logger, GALE_LOG_WARN, context->component,
                 "keys were forgotten %llu time%s, for there were more than %llu; each of them began anew",
                 (unsigned long long)bolt->forgotten, gx_plural(bolt->forgotten),
                 (unsigned long long)bolt->given->keys_max);
}

static void bolt_cleanup(void *self) {
    limiter *bolt = self;
    tell(bolt);
    gale_rotating_map_free(bolt->keys);
    gx_buf_fini(&bolt->key);
    gx_define_instance_free(bolt);
}

static int open_keys(limiter *bolt, const gale_context *context) {
    gale_rotating_map_options options = GALE_ROTATING_MAP_OPTIONS_INIT;
    options.buckets = BUCKETS;
    options.key_type = GALE_KEY_BYTES;
    options.value_size = sizeof(int64_t);
    options.seed = gale_context_random(context) | 1; /* 0 would ask the machine */
    options.allocator = context->allocator;
    bolt->rotation = gx_rotation_new(bolt->given->depth + bolt->given->token, BUCKETS, gale_context_now(context));
    return gale_rotating_map_new(&options, &bolt->keys, NULL);
}

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)out;
    limiter *bolt = gx_define_instance(context, sizeof *bolt);
    if (!bolt) return GALE_NO_MEMORY;
    bolt->given = user;
    bolt->key = (gx_buf)GX_BUF_INIT(&bolt->instance.heap);
    bolt->full_at = INT64_MIN;
    int rc = bolt->given->key.count ? open_keys(bolt, context) : GALE_OK;
    if (rc < 0) {
        bolt_cleanup(bolt);
        return rc;
    }
    *ret_self = bolt;
    return GALE_OK;
}

/* Room for one more key: those that were not seen for the longest time go, though their buckets may not be full. */
static void make_room(limiter *bolt) {
    for (int i = 0; i < BUCKETS && gale_rotating_map_size(bolt->keys) >= bolt->given->keys_max; i++) {
        size_t before = gale_rotating_map_size(bolt->keys);
        (void)gale_rotating_map_rotate(bolt->keys, NULL, NULL);
        bolt->forgotten += gale_rotating_map_size(bolt->keys) < before;
    }
}

/* Where the moment of the tuple's key stands; it is young again. */
static int find_moment(limiter *bolt, const gale_tuple *tuple, gale_collector *out, int64_t now, int64_t **ret_moment) {
    const settings *given = bolt->given;
    void *place;
    *ret_moment = &bolt->full_at;
    if (!given->key.count) return GALE_OK;
    gx_rotation_turn(&bolt->rotation, bolt->keys, BUCKETS, now);
    gx_buf_reset(&bolt->key);
    int rc = gx_fields_take(&given->key, &bolt->key_places, who, tuple, out, bolt->values);
    if (rc >= 0) rc = gx_fields_pack(bolt->values, given->key.count, &bolt->key);
    if (rc < 0) return rc;
    if (!gale_rotating_map_contains_bytes(bolt->keys, bolt->key.data, bolt->key.size)) make_room(bolt);
    rc = gale_rotating_map_put_bytes(bolt->keys, bolt->key.data, bolt->key.size, NULL, &place);
    if (rc < 0) return rc;
    *ret_moment = place;
    if (rc > 0) **ret_moment = INT64_MIN;
    return GALE_OK;
}

static bool take_token(const settings *given, int64_t now, int64_t *moment) {
    int64_t full_at = *moment > now ? *moment : now;
    if (full_at - now > given->depth) return false;
    *moment = full_at + given->token;
    return true;
}

static int emit(limiter *bolt, bool passes, gale_collector *out) {
    int rc = passes || bolt->given->to_stream
                 ? gale_emit(out, passes ? STREAM_ON : STREAM_OVER, bolt->values, bolt->given->fields.count)
                 : 0;
    if (rc == 0 && !passes) bolt->dropped++;
    return rc < 0 ? rc : GALE_OK;
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    limiter *bolt = self;
    const settings *given = bolt->given;
    int64_t now = gale_context_now(bolt->instance.context), *moment;
    if (gale_tuple_is_tick(tuple)) return 0;
    int rc = find_moment(bolt, tuple, out, now, &moment);
    if (rc >= 0) rc = gx_fields_take(&given->fields, &bolt->places, who, tuple, out, bolt->values);
    return rc < 0 ? rc : emit(bolt, take_token(given, now, moment), out);
}

static const gale_bolt_ops ops = {
    .size = sizeof(gale_bolt_ops),
    .name = "rate limit bolt",
    .kind = GALE_BOLT_SIMPLE,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .cleanup = bolt_cleanup,
    .durable = &gale_stateless,
};

/* As many as come in a second, rounded up. */
static double burst_of(const gale_rate_limit_options *given) {
    if (given->burst) return (double)given->burst;
    double whole = given->rate > 0 && given->rate <= RATE_MAX ? (double)(int64_t)given->rate : 0;
    return whole + (whole < given->rate);
}

static int read_rate(settings *made, const gale_rate_limit_options *given, gale_error *error) {
    double burst = burst_of(given);
    if (!(given->rate > 0 && given->rate <= RATE_MAX))
        return gale_error_set(error, GALE_INVALID, "%s: rate is %g a second, must be above 0 and at most %g", who,
                              given->rate, RATE_MAX);
    if (burst / given->rate > SECONDS_MAX)
        return gale_error_set(error, GALE_INVALID, "%s: a burst of %g at %g a second takes more than %g seconds", who,
                              burst, given->rate, SECONDS_MAX);
    made->rate = given->rate;
    made->token = (int64_t)(1e9 / given->rate + 0.5);
    made->depth = (int64_t)((burst - 1) * (double)made->token);
    made->keys_max = given->max_keys ? given->max_keys : KEYS_DEFAULT;
    if (given->over != GALE_RATE_LIMIT_DROP && given->over != GALE_RATE_LIMIT_STREAM)
        return gale_error_set(error, GALE_INVALID, "%s: over is %d, which is neither drop (%d) nor stream (%d)", who,
                              given->over, GALE_RATE_LIMIT_DROP, GALE_RATE_LIMIT_STREAM);
    made->to_stream = given->over == GALE_RATE_LIMIT_STREAM;
    return GALE_OK;
}

int gale_rate_limit_bolt(const gale_rate_limit_options *options, gale_bolt *ret_bolt, gale_error *error) {
    if (!ret_bolt) return gx_define_nowhere(who, error);
    gale_rate_limit_options given;
    settings made = { .rate = 0 };
    int rc = gx_options_take(&given, sizeof given, options, "rate limit bolt: options", error);
    if (rc >= 0) rc = gx_fields_parse(given.fields, "rate limit bolt: fields", &made.fields, error);
    if (rc >= 0 && given.key && *given.key) rc = gx_fields_parse(given.key, "rate limit bolt: key", &made.key, error);
    if (rc >= 0) rc = read_rate(&made, &given, error);
    if (rc < 0) return rc;
    settings *user = gx_define_user(&made, sizeof made, who, error);
    if (!user) return GALE_NO_MEMORY;
    user->outputs[STREAM_ON] = (gale_output){ NULL, user->fields.text };
    user->outputs[STREAM_OVER] = (gale_output){ "over", user->fields.text };
    *ret_bolt = gx_define_bolt(&ops, user, user->outputs, user->to_stream ? STREAMS : 1);
    return GALE_OK;
}
