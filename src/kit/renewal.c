#include "kit/renewal.h"

void gx_renewal_init(gx_renewal *renewal, gx_renewal_fn *renew, const void *held, const gale_context *context,
                     gale_collector *out) {
    double seconds = gale_config_f64(context->config, "topology.message.timeout.secs", 30);
    *renewal = (gx_renewal){
        .out = out, .context = context, .renew = renew, .held = held, .every = (int64_t)(seconds / 3 * 1e9)
    };
}

static int64_t next(const gx_renewal *renewal) {
    return gale_context_now(renewal->context) + renewal->every;
}

static int renew(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    gx_renewal *renewal = user;
    (void)events;
    renewal->armed = renewal->renew(renewal->held, out);
    return renewal->armed ? gale_watch_set(out, watch, 0, next(renewal)) : 0;
}

int gx_renewal_note(gx_renewal *renewal) {
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    if (renewal->armed) return 0;
    options.at = next(renewal);
    options.always = true;
    options.call = renew;
    options.user = renewal;
    int rc = renewal->timer ? gale_watch_set(renewal->out, renewal->timer, 0, options.at)
                            : gale_watch_new(renewal->out, &options, &renewal->timer);
    renewal->armed = rc == 0;
    return rc;
}

void gx_renewal_end(gx_renewal *renewal) {
    if (renewal->timer) (void)gale_watch_free(renewal->out, renewal->timer);
    renewal->timer = 0;
    renewal->armed = false;
}
