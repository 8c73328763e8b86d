/* gale_runtime_set: checks what is wanted, and tells the executors. */
#include "base/nearest.h"
#include "base/str.h"
#include "runtime/runtime.h"

#include <string.h>

enum { HINT = 160 };

typedef int setter(const gx_plan_component *of, const gale_value *value, gx_tuned *tuned, gale_error *error);

static int refuse_bolt(const gx_plan_component *of, const char *key, gale_error *error) {
    return gale_error_set(error, GALE_STATE, "'%s' is a bolt: %s is of spouts", of->built->name, key);
}

static int set_pending(const gx_plan_component *of, const gale_value *value, gx_tuned *tuned, gale_error *error) {
    if (!of->built->is_spout) return refuse_bolt(of, "topology.max.spout.pending", error);
    if (value->type != GALE_TYPE_I64 || value->as.i64 < 0)
        return gale_error_set(error, GALE_INVALID,
                              "topology.max.spout.pending must be a whole number from 0 (no bound) on");
    tuned->max_pending = value->as.i64 ? (uint64_t)value->as.i64 : UINT64_MAX;
    return 0;
}

static int set_rate(const gx_plan_component *of, const gale_value *value, gx_tuned *tuned, gale_error *error) {
    double rate = value->type == GALE_TYPE_I64   ? (double)value->as.i64
                  : value->type == GALE_TYPE_F64 ? value->as.f64
                                                 : -1;
    if (!of->built->is_spout) return refuse_bolt(of, "gale.rate", error);
    if (!(rate >= 0))
        return gale_error_set(error, GALE_INVALID, "gale.rate must be a number from 0 (no bound) on, tuples a second");
    tuned->rate = rate;
    return 0;
}

static int set_drop(const gx_plan_component *of, const gale_value *value, gx_tuned *tuned, gale_error *error) {
    gale_str word = value->type == GALE_TYPE_STRING ? (gale_str){ value->as.string, value->size } : gx_str("");
    if (!of->drop_count)
        return gale_error_set(error, GALE_STATE,
                              "no input of '%s' drops: each holds who feeds it. `drop: oldest` or `drop: newest` in a "
                              "stream's grouping makes one that does",
                              of->built->name);
    for (int32_t drop = GALE_DROP_OLDEST; drop < GALE_DROP_COUNT; drop++)
        if (gx_str_is(word, gale_drop_name(drop))) return tuned->drop = (uint8_t)drop, 0;
    return gale_error_set(error, GALE_INVALID,
                          "drop must be oldest or newest: an input that drops never holds who feeds it");
}

static const struct {
    const char *key;
    setter *set;
} settings[] = {
    { "topology.max.spout.pending", set_pending },
    { "gale.rate", set_rate },
    { "drop", set_drop },
};

enum { SETTINGS = sizeof settings / sizeof *settings };

static setter *find_setter(const char *key, gale_error *error) {
    char hint[HINT];
    gx_nearest nearest = gx_nearest_to(gx_str(key));
    for (size_t i = 0; i < SETTINGS; i++) {
        gx_nearest_offer(&nearest, gx_str(settings[i].key));
        if (strcmp(settings[i].key, key) == 0) return settings[i].set;
    }
    gale_error_set(
        error, GALE_UNSUPPORTED,
        "'%.100s' cannot be set while a topology runs%s (topology.max.spout.pending, gale.rate and drop can)", key,
        gx_nearest_hint(&nearest, hint, sizeof hint));
    return NULL;
}

static int refuse_component(const gx_plan *plan, const char *name, gale_error *error) {
    char hint[HINT];
    gx_nearest nearest = gx_nearest_to(gx_str(name));
    for (uint32_t i = 0; i < plan->component_count; i++)
        gx_nearest_offer(&nearest, gx_str(plan->components[i].built->name));
    return gale_error_set(error, GALE_NOT_FOUND, "there is no component '%.100s'%s", name,
                          gx_nearest_hint(&nearest, hint, sizeof hint));
}

int gale_runtime_set(gale_runtime *runtime, const char *component, const char *key, const gale_value *value,
                     gale_error *error) {
    if (!gx_runtime_is(runtime) || !component || !key || !value)
        return gale_error_set(error, GALE_INVALID, "a runtime, a component, a key and a value are needed");
    gx_shared *shared = &runtime->shared;
    int index = gx_runtime_component(runtime->plan, component);
    if (index < 0) return refuse_component(runtime->plan, component, error);
    setter *set = find_setter(key, error);
    if (!set) return GALE_UNSUPPORTED;
    gx_monitor_lock(&shared->monitor);
    int rc = set(&runtime->plan->components[index], value, &shared->tuned[index], error);
    if (rc == 0) gx_add_relaxed(&shared->tune_version, 1);
    gx_monitor_unlock(&shared->monitor);
    if (rc == 0) gx_executors_wake(shared);
    return rc;
}
