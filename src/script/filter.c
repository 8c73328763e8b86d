/* Tuples of which an expression is true: gale_filter_bolt. */
#include "script/shaper.h"

#include <gale/state.h>

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    gale_value is;
    if (gale_tuple_is_tick(tuple)) return 0;
    int rc = gx_shaper_take(self, tuple, out);
    if (rc >= 0) rc = gx_shaper_run(self, 0, out, &is);
    return rc < 0 || !gx_expression_is_true(&is) ? rc : gx_shaper_emit(self, 0, tuple, out, NULL, 0);
}

static const gale_bolt_ops ops = {
    .size = sizeof(gale_bolt_ops),
    .name = "filter bolt",
    .kind = GALE_BOLT_SIMPLE,
    .prepare = gx_shaper_prepare,
    .execute = bolt_execute,
    .cleanup = gx_shaper_cleanup,
    .durable = &gale_stateless,
};

static int make(gx_shaper_settings *settings, const void *options, gale_error *error) {
    const gale_filter_options *given = options;
    int rc = gx_shaper_add(settings, "where", "", given->where, error);
    gx_shaper_pass(settings);
    return rc < 0 ? rc : gx_shaper_output(settings, NULL, given->fields, error);
}

int gale_filter_bolt(const gale_filter_options *options, gale_bolt *ret_bolt, gale_error *error) {
    static const gx_shaper_kind kind = GX_SHAPER_KIND("filter", gale_filter_options, &ops, make);
    return gx_shaper_bolt(&kind, options, ret_bolt, error);
}
