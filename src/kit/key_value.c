/* Pairs of keys and values (logfmt) to fields: gale_key_value_bolt. */
#include "kit/logfmt.h"
#include "kit/parsed.h"

#include <gale/kit.h>
#include <gale/state.h>
#include <stdlib.h>

enum { REST_MAX = 512 };

typedef struct settings {
    gx_parsed_settings parsed;
    gx_logfmt_format format;
} settings;

typedef struct parser {
    gx_parsed parsed;
    gx_logfmt_format format;
    gx_buf unescaped;
    uint32_t rest_count;
    gale_value rest[2 * REST_MAX]; /* key, value, key, value */
} parser;

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)out;
    const settings *given = user;
    parser *bolt = gx_parsed_instance(context, sizeof *bolt, &given->parsed);
    if (!bolt) return GALE_NO_MEMORY;
    bolt->format = given->format;
    bolt->unescaped = (gx_buf)GX_BUF_INIT(&bolt->parsed.instance.heap);
    *ret_self = bolt;
    return GALE_OK;
}

static void bolt_cleanup(void *self) {
    parser *bolt = self;
    gx_buf_fini(&bolt->unescaped);
    gx_parsed_instance_free(bolt);
}

/* The column of a key, or the number of columns. Keys come mostly in the columns' order: it is looked for from `from`
 * on. */
static uint32_t column_of(const gx_parsed_settings *given, gale_str key, uint32_t from) {
    for (uint32_t i = from; i < given->count; i++)
        if (gx_str_equal(key, gx_parsed_name(given, i))) return i;
    for (uint32_t i = 0; i < from; i++)
        if (gx_str_equal(key, gx_parsed_name(given, i))) return i;
    return given->count;
}

/* Adds a pair that has no column; the last of equal keys stays. What is wrong with it, or NULL. */
static const char *add_rest(parser *bolt, gale_str key, gale_str value) {
    gale_value name = gx_scalar_text(key, bolt->parsed.is_text), *pairs = bolt->rest;
    uint32_t at = 0;
    if (!bolt->parsed.given->has_more) return NULL;
    if (name.type != GALE_TYPE_STRING) return "a key is not UTF-8";
    while (at < bolt->rest_count && !gale_value_equal(&pairs[2 * at], &name)) at++;
    if (at == REST_MAX) return "it has more than 512 other keys";
    pairs[2 * at] = name;
    pairs[2 * at + 1] = gx_scalar_text(value, bolt->parsed.is_text);
    if (at == bolt->rest_count) bolt->rest_count++;
    return NULL;
}

/* Sets the columns; what is wrong with the text, or NULL. */
static const char *parse(parser *bolt, gale_str text) {
    const gx_parsed_settings *given = bolt->parsed.given;
    gx_logfmt logfmt = gx_logfmt_begin(bolt->format, text, &bolt->unescaped);
    gale_str key, value;
    const char *problem = NULL;
    uint32_t next = 0;
    gx_parsed_none(&bolt->parsed, 0);
    bolt->rest_count = 0;
    while (!problem && gx_logfmt_next(&logfmt, &key, &value)) {
        uint32_t column = column_of(given, key, next);
        if (!value.data) value = gx_str("true");
        if (column == given->count)
            problem = add_rest(bolt, key, value);
        else if (!gx_parsed_set(&bolt->parsed, column, value))
            problem = bolt->parsed.problem;
        else
            next = column + 1;
    }
    if (given->has_more) gx_parsed_set_more(&bolt->parsed, gale_map(bolt->rest, bolt->rest_count));
    return problem ? problem : logfmt.problem;
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    parser *bolt = self;
    gale_str text;
    if (gale_tuple_is_tick(tuple)) return 0;
    int rc = gx_parsed_take(&bolt->parsed, tuple, out, &text);
    if (rc <= 0) return rc;
    const char *problem = parse(bolt, text);
    if (bolt->unescaped.failed) return GALE_NO_MEMORY;
    return problem ? gx_parsed_refuse(&bolt->parsed, problem, out) : gx_parsed_emit(&bolt->parsed, out);
}

static const gale_bolt_ops ops = {
    .size = sizeof(gale_bolt_ops),
    .name = "key value bolt",
    .kind = GALE_BOLT_SIMPLE,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .cleanup = bolt_cleanup,
    .durable = &gale_stateless,
};

static int read_options(const gale_key_value_options *options, settings *made, gale_error *error) {
    gale_key_value_options given;
    int rc = gx_options_take(&given, sizeof given, options, "key value bolt: options", error);
    if (rc < 0) return rc;
    made->parsed.who = "key value bolt";
    made->parsed.what = "line of these keys and values";
    made->format.separator = gx_parsed_byte(given.separator, ' ');
    made->format.assign = gx_parsed_byte(given.assign, '=');
    rc = gx_logfmt_check(made->format, "key value bolt", error);
    if (!given.rest && (!given.fields || !*given.fields)) given.rest = "rest";
    const gx_parsed_options parsed = {
        .field = given.field, .fields = given.fields, .keep = given.keep, .more = given.rest
    };
    return rc < 0 ? rc : gx_parsed_settings_read(&made->parsed, &parsed, error);
}

int gale_key_value_bolt(const gale_key_value_options *options, gale_bolt *ret_bolt, gale_error *error) {
    if (!ret_bolt) return gx_define_nowhere("key value bolt", error);
    settings *made = calloc(1, sizeof *made);
    if (!made) return gale_error_set(error, GALE_NO_MEMORY, "key value bolt: out of memory");
    int rc = read_options(options, made, error);
    if (rc < 0)
        free(made);
    else
        *ret_bolt = gx_parsed_define(&ops, &made->parsed);
    return rc;
}
