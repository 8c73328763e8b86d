#include "kit/pace.h"

void gx_pace_init(gx_pace *pace, const gale_context *context) {
    *pace = (gx_pace){ .context = context, .due = INT64_MIN };
    gx_pace_change(pace);
}

void gx_pace_change(gx_pace *pace) {
    double rate = pace->rate = pace->context->rate;
    pace->step = pace->step_fraction = 0;
    if (pace->due > gale_context_now(pace->context)) pace->due = gale_context_now(pace->context);
    if (!(rate > 0) || rate > 1e9) return;
    double distance = 1e9 / rate;
    if (distance > 1e15) distance = 1e15; /* twelve days */
    pace->step = (uint64_t)distance;
    pace->step_fraction = (uint32_t)((distance - (double)pace->step) * 4294967296.0);
}

bool gx_pace_wait(gx_pace *pace, int64_t *ret_until) {
    int64_t now = gale_context_now(pace->context);
    if (pace->due == INT64_MIN) pace->due = now;
    if (pace->due < now - GX_PACE_BACKLOG) pace->due = now - GX_PACE_BACKLOG;
    if (now >= pace->due) return true;
    *ret_until = pace->due;
    return false;
}

void gx_pace_step(gx_pace *pace) {
    if (pace->due == INT64_MIN) return;
    uint64_t fraction = (uint64_t)pace->fraction + pace->step_fraction;
    pace->fraction = (uint32_t)fraction;
    pace->due += (int64_t)(pace->step + (fraction >> 32));
}
