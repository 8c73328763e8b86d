/* Records of CSV to fields: gale_csv_bolt. */
#include "kit/csv.h"
#include "kit/parsed.h"

#include <gale/kit.h>
#include <gale/state.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct settings {
    gx_parsed_settings parsed;
    gx_csv_format format;
    bool header, ragged;
} settings;

typedef struct parser {
    gx_parsed parsed;
    gx_buf unquoted;
} parser;

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)out;
    const settings *given = user;
    parser *bolt = gx_parsed_instance(context, sizeof *bolt, &given->parsed);
    if (!bolt) return GALE_NO_MEMORY;
    bolt->unquoted = (gx_buf)GX_BUF_INIT(&bolt->parsed.instance.heap);
    *ret_self = bolt;
    return GALE_OK;
}

static void bolt_cleanup(void *self) {
    parser *bolt = self;
    gx_buf_fini(&bolt->unquoted);
    gx_parsed_instance_free(bolt);
}

static const settings *given_to(const parser *bolt) {
    return (const settings *)(const void *)bolt->parsed.given;
}

/* Does the record have the names of the columns? */
static bool is_header(parser *bolt, gale_str record) {
    const gx_parsed_settings *given = bolt->parsed.given;
    gx_csv csv = gx_csv_begin(given_to(bolt)->format, record, &bolt->unquoted);
    gale_str column;
    uint32_t count = 0;
    for (; gx_csv_next(&csv, &column); count++)
        if (count == given->count || !gx_str_equal(column, gx_parsed_name(given, count))) return false;
    return count == given->count;
}

/* Says how many columns there are. */
static const char *wrong_count(parser *bolt, gx_csv *csv, uint32_t count) {
    gale_str column;
    while (gx_csv_next(csv, &column)) count++;
    if (csv->problem) return csv->problem;
    snprintf(bolt->parsed.problem, sizeof bolt->parsed.problem, "it has %u column%s, not %u", count, gx_plural(count),
             bolt->parsed.given->count);
    return bolt->parsed.problem;
}

/* Sets the columns; what is wrong with the record, or NULL. */
static const char *parse(parser *bolt, gale_str record) {
    const settings *given = given_to(bolt);
    gx_csv csv = gx_csv_begin(given->format, record, &bolt->unquoted);
    gale_str column;
    uint32_t count = 0;
    for (; count < given->parsed.count && gx_csv_next(&csv, &column); count++)
        if (!gx_parsed_set(&bolt->parsed, count, column)) return bolt->parsed.problem;
    if (given->ragged)
        gx_parsed_none(&bolt->parsed, count);
    else if (count < given->parsed.count || csv.rest.data)
        return wrong_count(bolt, &csv, count);
    return csv.problem;
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    parser *bolt = self;
    gale_str record;
    if (gale_tuple_is_tick(tuple)) return 0;
    int rc = gx_parsed_take(&bolt->parsed, tuple, out, &record);
    if (rc <= 0) return rc;
    if (given_to(bolt)->header && is_header(bolt, record)) return GALE_OK;
    const char *problem = parse(bolt, record);
    if (bolt->unquoted.failed) return GALE_NO_MEMORY;
    return problem ? gx_parsed_refuse(&bolt->parsed, problem, out) : gx_parsed_emit(&bolt->parsed, out);
}

static const gale_bolt_ops ops = {
    .size = sizeof(gale_bolt_ops),
    .name = "csv bolt",
    .kind = GALE_BOLT_SIMPLE,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .cleanup = bolt_cleanup,
    .durable = &gale_stateless,
};

static int read_options(const gale_csv_options *options, settings *made, gale_error *error) {
    gale_csv_options given;
    int rc = gx_options_take(&given, sizeof given, options, "csv bolt: options", error);
    if (rc < 0) return rc;
    made->parsed.who = "csv bolt";
    made->parsed.what = "CSV record of these fields";
    made->header = given.header;
    made->ragged = given.ragged;
    made->format.separator = gx_parsed_byte(given.separator, ',');
    made->format.quote = given.quote && !*given.quote ? 0 : gx_parsed_byte(given.quote, '"');
    rc = gx_csv_check(made->format, "csv bolt", error);
    const gx_parsed_options parsed = { .field = given.field, .fields = given.fields, .keep = given.keep };
    return rc < 0 ? rc : gx_parsed_settings_read(&made->parsed, &parsed, error);
}

int gale_csv_bolt(const gale_csv_options *options, gale_bolt *ret_bolt, gale_error *error) {
    if (!ret_bolt) return gx_define_nowhere("csv bolt", error);
    settings *made = calloc(1, sizeof *made);
    if (!made) return gale_error_set(error, GALE_NO_MEMORY, "csv bolt: out of memory");
    int rc = read_options(options, made, error);
    if (rc < 0)
        free(made);
    else
        *ret_bolt = gx_parsed_define(&ops, &made->parsed);
    return rc;
}
