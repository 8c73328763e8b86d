/* Named groups of a pattern to fields: gale_regex_bolt. */
#include "base/nearest.h"
#include "kit/parsed.h"
#include "script/matcher.h"
#include "script/steps.h"

#include <gale/state.h>
#include <gale_script.h>
#include <stdlib.h>

enum { NO_COLUMN = UINT16_MAX };

typedef struct settings {
    gx_parsed_settings parsed;
    gx_pattern *pattern;
    uint16_t column[GX_STEPS_GROUPS + 1]; /* of each group */
} settings;

typedef struct parser {
    gx_parsed parsed;
    gx_matcher *matcher;
} parser;

static const settings *given_to(const parser *bolt) {
    return (const settings *)(const void *)bolt->parsed.given;
}

static void bolt_cleanup(void *self) {
    parser *bolt = self;
    gx_matcher_free(bolt->matcher);
    gx_parsed_instance_free(bolt);
}

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)out;
    const settings *given = user;
    parser *bolt = gx_parsed_instance(context, sizeof *bolt, &given->parsed);
    if (!bolt) return GALE_NO_MEMORY;
    bolt->matcher = gx_matcher_new(&bolt->parsed.instance.heap, given->pattern);
    if (!bolt->matcher) {
        bolt_cleanup(bolt);
        return GALE_NO_MEMORY;
    }
    *ret_self = bolt;
    return GALE_OK;
}

/* Of several groups with a name, the last that took part. */
static bool set_columns(parser *bolt) {
    const settings *given = given_to(bolt);
    gx_parsed_none(&bolt->parsed, 0);
    for (uint32_t group = 1; group <= gx_pattern_groups(given->pattern); group++) {
        gale_str piece = gx_matcher_group(bolt->matcher, group);
        if (!piece.data || given->column[group] == NO_COLUMN) continue;
        if (!gx_parsed_set(&bolt->parsed, given->column[group], piece)) return false;
    }
    return true;
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    parser *bolt = self;
    gale_str text;
    if (gale_tuple_is_tick(tuple)) return 0;
    int rc = gx_parsed_take(&bolt->parsed, tuple, out, &text);
    if (rc <= 0) return rc;
    rc = gx_matcher_find(bolt->matcher, text, bolt->parsed.is_text);
    if (rc == GALE_NO_MEMORY) return rc;
    if (rc < 0) return gx_parsed_refuse(&bolt->parsed, "the pattern takes too many steps, or too much memory", out);
    if (rc == 0) return gx_parsed_refuse(&bolt->parsed, "the pattern is not found in it", out);
    return set_columns(bolt) ? gx_parsed_emit(&bolt->parsed, out)
                             : gx_parsed_refuse(&bolt->parsed, bolt->parsed.problem, out);
}

static const gale_bolt_ops ops = {
    .size = sizeof(gale_bolt_ops),
    .name = "regex bolt",
    .kind = GALE_BOLT_SIMPLE,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .cleanup = bolt_cleanup,
    .durable = &gale_stateless,
};

/* --- The definition --- */

static void free_settings(void *user) {
    settings *made = user;
    gx_pattern_free(made->pattern);
    free(made);
}

static int no_group(const settings *made, gale_str name, gale_error *error) {
    gx_nearest nearest = gx_nearest_to(name);
    char hint[100];
    for (uint32_t group = 1; group <= gx_pattern_groups(made->pattern); group++)
        gx_nearest_offer(&nearest, gx_pattern_name(made->pattern, group));
    return gale_error_set(error, GALE_INVALID, "regex bolt: fields: the pattern has no group '%.*s'%s", GX_STR(name),
                          gx_nearest_hint(&nearest, hint, sizeof hint));
}

/* Which group leads to which column. */
static int join_groups(settings *made, gale_error *error) {
    for (uint32_t group = 0; group <= GX_STEPS_GROUPS; group++) made->column[group] = NO_COLUMN;
    for (uint32_t i = 0; i < made->parsed.count; i++) {
        gale_str name = gx_parsed_name(&made->parsed, i);
        bool there = false;
        for (uint32_t group = 1; group <= gx_pattern_groups(made->pattern); group++) {
            if (!gx_str_equal(gx_pattern_name(made->pattern, group), name)) continue;
            made->column[group] = (uint16_t)i;
            there = true;
        }
        if (!there) return no_group(made, name, error);
    }
    return GALE_OK;
}

static bool is_listed(const gx_pattern *pattern, uint32_t group) {
    for (uint32_t i = 1; i < group; i++)
        if (gx_str_equal(gx_pattern_name(pattern, i), gx_pattern_name(pattern, group))) return true;
    return false;
}

/* The names of all groups, each once. */
static void list_groups(const gx_pattern *pattern, gx_buf *names) {
    for (uint32_t group = 1; group <= gx_pattern_groups(pattern); group++) {
        gale_str name = gx_pattern_name(pattern, group);
        if (!name.size || is_listed(pattern, group)) continue;
        gx_buf_format(names, "%s%.*s", names->size ? ", " : "", GX_STR(name));
    }
}

static int read_fields(settings *made, const gale_regex_options *given, gale_error *error) {
    gx_buf names = GX_BUF_INIT(NULL);
    gx_parsed_options parsed = { .field = given->field, .fields = given->fields, .keep = given->keep };
    if (!given->fields || !*given->fields) {
        list_groups(made->pattern, &names);
        parsed.fields = gx_buf_text(&names);
    }
    int rc = !parsed.fields ? gale_error_set(error, GALE_NO_MEMORY, "regex bolt: out of memory")
             : !*parsed.fields
                 ? gale_error_set(error, GALE_INVALID, "regex bolt: no group of the pattern has a name: (?<name>...)")
                 : gx_parsed_settings_read(&made->parsed, &parsed, error);
    gx_buf_fini(&names);
    return rc < 0 ? rc : join_groups(made, error);
}

static int read_options(const gale_regex_options *options, settings *made, gale_error *error) {
    gale_regex_options given;
    int rc = gx_options_take(&given, sizeof given, options, "regex bolt: options", error);
    if (rc >= 0 && (!given.pattern || !*given.pattern))
        rc = gale_error_set(error, GALE_INVALID, "regex bolt: pattern is not given");
    if (rc >= 0) rc = gx_pattern_new(given.pattern, "regex bolt: pattern", &made->pattern, error);
    made->parsed.who = "regex bolt";
    made->parsed.what = "text of this pattern";
    return rc < 0 ? rc : read_fields(made, &given, error);
}

int gale_regex_bolt(const gale_regex_options *options, gale_bolt *ret_bolt, gale_error *error) {
    if (!ret_bolt) return gx_define_nowhere("regex bolt", error);
    settings *made = calloc(1, sizeof *made);
    if (!made) return gale_error_set(error, GALE_NO_MEMORY, "regex bolt: out of memory");
    int rc = read_options(options, made, error);
    if (rc < 0) {
        free_settings(made);
        return rc;
    }
    *ret_bolt = gx_parsed_define(&ops, &made->parsed);
    ret_bolt->free_user = free_settings;
    return GALE_OK;
}
