/* Lines of a web server's log to fields: gale_access_log_bolt. */
#include "base/options.h"
#include "kit/log_line.h"
#include "kit/parsed.h"

#include <gale/kit.h>
#include <gale/state.h>
#include <stdlib.h>

static const char who[] = "access log bolt";
static const char columns[] =
    "host, user, time int, request, status int, bytes int, referer, agent, method, path, query, "
    "protocol";

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)out;
    *ret_self = gx_parsed_instance(context, sizeof(gx_parsed), user);
    return *ret_self ? 0 : GALE_NO_MEMORY;
}

static void set_all(gx_parsed *bolt, const gx_log_line *line) {
    bool text = bolt->is_text;
    gale_value *value = bolt->columns;
    *value++ = gx_scalar_text(line->host, text);
    *value++ = gx_scalar_text(line->user, text);
    *value++ = gale_i64(line->time);
    *value++ = gx_scalar_text(line->request, text);
    *value++ = gale_i64(line->status);
    *value++ = gale_i64(line->bytes);
    *value++ = gx_scalar_text(line->referer, text);
    *value++ = gx_scalar_text(line->agent, text);
    *value++ = gx_scalar_text(line->method, text);
    *value++ = gx_scalar_text(line->path, text);
    *value++ = gx_scalar_text(line->query, text);
    *value = gx_scalar_text(line->protocol, text);
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    gx_parsed *bolt = self;
    gale_str text;
    gx_log_line line;
    const char *problem;
    if (gale_tuple_is_tick(tuple)) return 0;
    int rc = gx_parsed_take(bolt, tuple, out, &text);
    if (rc <= 0) return rc;
    if (gx_log_line_parse(text, &line, &problem) < 0) return gx_parsed_refuse(bolt, problem, out);
    set_all(bolt, &line);
    return gx_parsed_emit(bolt, out);
}

static const gale_bolt_ops ops = {
    .size = sizeof(gale_bolt_ops),
    .name = "access log bolt",
    .kind = GALE_BOLT_SIMPLE,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .cleanup = gx_parsed_instance_free,
    .durable = &gale_stateless,
};

static int read_options(const gale_access_log_options *options, gx_parsed_settings *made, gale_error *error) {
    gale_access_log_options given = { .size = sizeof given };
    int rc = options ? gx_options_take(&given, sizeof given, options, "access log bolt: options", error) : GALE_OK;
    if (rc < 0) return rc;
    made->who = who;
    made->what = "line of an access log";
    const gx_parsed_options parsed = { .field = given.field, .fields = columns, .keep = given.keep };
    return gx_parsed_settings_read(made, &parsed, error);
}

int gale_access_log_bolt(const gale_access_log_options *options, gale_bolt *ret_bolt, gale_error *error) {
    if (!ret_bolt) return gx_define_nowhere(who, error);
    gx_parsed_settings *made = calloc(1, sizeof *made);
    if (!made) return gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", who);
    int rc = read_options(options, made, error);
    if (rc < 0)
        free(made);
    else
        *ret_bolt = gx_parsed_define(&ops, made);
    return rc;
}
