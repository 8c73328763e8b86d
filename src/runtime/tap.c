/* Taps, as the application sees them; the event log is one a component. */
#include "engine/taps.h"

#include "base/options.h"
#include "runtime/runtime.h"

#include <math.h>
#include <string.h>

#define INTERVAL_MAX (INT64_C(1) << 61) /* ns */

/* -1: it has none of this name. */
static int64_t find_stream(const gx_plan_component *component, const char *name) {
    for (uint32_t i = 0; i < component->stream_count; i++)
        if (strcmp(component->schema.streams[i].name, name) == 0) return i;
    return -1;
}

static int take_place(const gx_plan *plan, const gale_tap_options *options, gx_tap *tap, gale_error *error) {
    if (!options->component) return gale_error_set(error, GALE_INVALID, "a tap needs a component");
    int component = gx_runtime_component(plan, options->component);
    if (component < 0) return gale_error_set(error, GALE_NOT_FOUND, "there is no component '%s'", options->component);
    const gx_plan_component *of = &plan->components[component];
    int64_t stream = options->stream ? find_stream(of, options->stream) : GX_TAP_ANY_STREAM;
    if (stream < 0)
        return gale_error_set(error, GALE_NOT_FOUND, "'%s' has no stream '%s'", options->component, options->stream);
    tap->component = (uint16_t)component;
    tap->stream = (uint32_t)stream;
    return GALE_OK;
}

static bool set_rate(gx_tap *tap, double per_second) {
    if (!(per_second >= 0) || isinf(per_second)) return false;
    double interval = per_second > 0 ? (double)GALE_SECOND / per_second : 0;
    tap->interval = interval < (double)INTERVAL_MAX ? (int64_t)interval : INTERVAL_MAX;
    return true;
}

static bool set_share(gx_tap *tap, double percent) {
    if (!(percent >= 0 && percent <= 100)) return false;
    tap->below = percent >= 100 ? UINT64_MAX : (uint64_t)(percent / 100 * 18446744073709551615.0);
    return true;
}

int gale_runtime_tap(gale_runtime *runtime, const gale_tap_options *options, gale_tap *ret_tap, gale_error *error) {
    gale_tap_options wanted;
    if (!gx_runtime_is(runtime)) return gale_error_set(error, GALE_INVALID, "there is no runtime");
    if (!options || !ret_tap)
        return gale_error_set(error, GALE_INVALID, "a tap needs options, and a place for its name");
    int rc = gx_options_take(&wanted, sizeof wanted, options, "tap: options", error);
    if (rc < 0) return rc;
    if (!wanted.on_event) return gale_error_set(error, GALE_INVALID, "a tap needs a function, on_event");
    gx_tap tap = { .on_event = wanted.on_event, .free_user = wanted.free_user, .user = wanted.user };
    rc = take_place(runtime->plan, &wanted, &tap, error);
    if (rc < 0) return rc;
    if (!set_rate(&tap, wanted.per_second))
        return gale_error_set(error, GALE_INVALID, "%g tuples a second are no rate", wanted.per_second);
    if (!set_share(&tap, wanted.percent == 0 ? 100 : wanted.percent))
        return gale_error_set(error, GALE_INVALID, "%g percent are no share", wanted.percent);
    rc = gx_taps_add(&runtime->shared, &tap, ret_tap);
    return rc < 0 ? gale_error_set(error, rc, "no memory for a tap") : rc;
}

int gale_runtime_tap_end(gale_runtime *runtime, gale_tap tap) {
    if (!gx_runtime_is(runtime)) return GALE_INVALID;
    return gx_taps_end(&runtime->shared, tap);
}

/* In place of the one before, which ends first: no tuple is logged twice. */
static void log_by(gale_runtime *runtime, int component, gale_tap tap) {
    gale_tap before = gx_exchange_relaxed(&runtime->logged[component], tap);
    if (before) (void)gx_taps_end(&runtime->shared, before);
}

int gale_runtime_log_events(gale_runtime *runtime, const char *component, double percent,
                            void (*on_event)(void *user, const gale_event *event), void *user) {
    if (!gx_runtime_is(runtime) || !component) return GALE_INVALID;
    int index = gx_runtime_component(runtime->plan, component);
    if (index < 0) return GALE_NOT_FOUND;
    gx_tap tap = { .component = (uint16_t)index, .stream = GX_TAP_ANY_STREAM, .on_event = on_event, .user = user };
    if (!set_share(&tap, percent) || (percent > 0 && !on_event)) return GALE_INVALID;
    log_by(runtime, index, 0);
    if (!(percent > 0)) return GALE_OK;
    gale_tap made;
    int rc = gx_taps_add(&runtime->shared, &tap, &made);
    if (rc == GALE_OK) log_by(runtime, index, made);
    return rc;
}
