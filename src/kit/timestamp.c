/* Texts and numbers to times: gale_timestamp_bolt. */
#include "base/nearest.h"
#include "kit/bad.h"
#include "kit/calendar.h"
#include "kit/fields.h"
#include "kit/moment.h"

#include <gale/kit.h>
#include <gale/state.h>
#include <stdio.h>
#include <stdlib.h>

enum { STREAM_ON, STREAM_BAD, STREAMS, PATTERN = 256 };

static const char who[] = "timestamp bolt";

typedef enum kind { ISO8601, EPOCH, EPOCH_MS, BY_PATTERN } kind;

/* Formats that have names. */
typedef struct named {
    const char *name;
    int32_t kind;
    const char *pattern;
    const char *problem;
} named;

static const named formats[] = {
    { "iso8601", ISO8601, NULL, "it is no time like 2026-11-22T19:00:05.25+01:00" },
    { "epoch", EPOCH, NULL, "it is no number of seconds since 1970 within the years 0 to 9999" },
    { "epoch_ms", EPOCH_MS, NULL, "it is no number of milliseconds since 1970 within the years 0 to 9999" },
    { "clf", BY_PATTERN, "%d/%b/%Y:%H:%M:%S %z", "it is no time like 10/Oct/2000:13:55:36 -0700" },
    { "syslog", BY_PATTERN, "%b %e %H:%M:%S", "it is no time like Oct 11 22:14:15" },
};

typedef struct settings {
    gx_fields fields;
    uint32_t field, as, width;
    int32_t kind, unit;
    bool has_year;
    gx_moment_base base;
    char pattern[PATTERN], problem[PATTERN + 40], names[2 * GX_FIELDS_TEXT + 2];
    gale_output outputs[STREAMS];
} settings;

typedef struct stamper {
    gx_instance instance;
    const settings *given;
    gx_field_places places;
    gx_bad bad;
    gale_value values[GX_FIELDS_MAX + 1];
} stamper;

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)out;
    stamper *bolt = gx_define_instance(context, sizeof *bolt);
    if (!bolt) return GALE_NO_MEMORY;
    bolt->given = user;
    bolt->bad.what = "time";
    *ret_self = bolt;
    return GALE_OK;
}

static void bolt_cleanup(void *self) {
    const stamper *bolt = self;
    gx_bad_tell(&bolt->bad, bolt->instance.context);
    gx_define_instance_free(self);
}

/* --- Texts --- */

/* Without a year, it is the one that brings the time nearest to now: at the turn of the year the one before or after. */
static bool by_pattern(const stamper *bolt, gale_str text, gx_moment *ret) {
    const settings *given = bolt->given;
    gale_str pattern = gx_str(given->pattern);
    gx_moment_base base = given->base;
    if (given->has_year) return gx_moment_parse(text, pattern, &base, ret);
    gx_moment now = { .second = gx_calendar_now(bolt->instance.context) }, moment;
    int64_t year = gx_moment_date(&now).year, best = INT64_MAX;
    for (base.year = year - 1; base.year <= year + 1; base.year++) {
        if (!gx_moment_parse(text, pattern, &base, &moment)) continue;
        int64_t apart = llabs(moment.second - now.second);
        if (apart >= best) continue;
        best = apart;
        *ret = moment;
    }
    return best < INT64_MAX;
}

static bool read_text(const stamper *bolt, gale_str text, gx_moment *ret) {
    switch (bolt->given->kind) {
    case EPOCH: return gx_moment_of_digits(text, 1, ret);
    case EPOCH_MS: return gx_moment_of_digits(text, 1000, ret);
    case ISO8601: return gx_moment_read(text, &bolt->given->base, ret);
    default: return by_pattern(bolt, text, ret);
    }
}

/* --- A tuple --- */

static bool is_number(const gale_value *value) {
    return value->type == GALE_TYPE_I64 || value->type == GALE_TYPE_F64;
}

static bool counts(const settings *given) {
    return given->kind == EPOCH || given->kind == EPOCH_MS;
}

static bool is_readable(const settings *given, const gale_value *value) {
    bool text = value->type == GALE_TYPE_STRING || value->type == GALE_TYPE_BYTES;
    return text || value->type == GALE_TYPE_NULL || (counts(given) && is_number(value));
}

static bool read_value(const stamper *bolt, const gale_value *value, gx_moment *ret) {
    int32_t parts = bolt->given->kind == EPOCH_MS ? 1000 : 1;
    if (value->type == GALE_TYPE_NULL) return false;
    if (value->type == GALE_TYPE_I64) return gx_moment_of_whole(value->as.i64, parts, ret);
    if (value->type == GALE_TYPE_F64) return gx_moment_of_float(value->as.f64, parts, ret);
    return read_text(bolt, (gale_str){ value->as.string, value->size }, ret);
}

/* In the unit that was asked for; false: that many nanoseconds have no room. */
static bool to_number(const gx_moment *moment, int32_t unit, int64_t *ret_number) {
    switch (unit) {
    case GALE_TIMESTAMP_MS: *ret_number = moment->second * 1000 + moment->nano / 1000000; return true;
    case GALE_TIMESTAMP_NS:
        if (moment->second < INT64_MIN / GALE_SECOND + 1 || moment->second > INT64_MAX / GALE_SECOND - 1) return false;
        *ret_number = moment->second * GALE_SECOND + moment->nano;
        return true;
    default: *ret_number = moment->second; return true;
    }
}

/* What is wrong with the value, or NULL. */
static const char *read_stamp(const stamper *bolt, const gale_value *value, int64_t *ret_number) {
    gx_moment moment = { .second = 0 };
    if (!read_value(bolt, value, &moment)) return bolt->given->problem;
    if (!to_number(&moment, bolt->given->unit, ret_number))
        return "nanoseconds are counted in the years 1678 to 2261 only";
    return NULL;
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    stamper *bolt = self;
    const settings *given = bolt->given;
    int64_t number;
    if (gale_tuple_is_tick(tuple)) return 0;
    int rc = gx_fields_take(&given->fields, &bolt->places, who, tuple, out, bolt->values);
    if (rc < 0) return rc;
    gale_value value = bolt->values[given->field];
    if (!is_readable(given, &value))
        return gx_define_wrong_type(out, who, tuple, bolt->places.at[given->field],
                                    counts(given) ? "a number, string or bytes" : "string or bytes");
    const char *problem = read_stamp(bolt, &value, &number);
    if (problem) return gx_bad_emit(&bolt->bad, bolt->instance.context, out, STREAM_BAD, tuple, &value, problem);
    bolt->values[given->as] = gale_i64(number);
    rc = gale_emit(out, STREAM_ON, bolt->values, given->width);
    return rc < 0 ? rc : GALE_OK;
}

static const gale_bolt_ops ops = {
    .size = sizeof(gale_bolt_ops),
    .name = "timestamp bolt",
    .kind = GALE_BOLT_SIMPLE,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .cleanup = bolt_cleanup,
    .durable = &gale_stateless,
};

/* --- Options --- */

static int no_format(const char *format, gale_error *error) {
    gx_nearest nearest = gx_nearest_to(gx_str(format));
    char hint[100];
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) gx_nearest_offer(&nearest, gx_str(formats[i].name));
    return gale_error_set(error, GALE_INVALID,
                          "%s: format '%s' is none of iso8601, epoch, epoch_ms, clf, syslog, nor has it a '%%'%s", who,
                          format, gx_nearest_hint(&nearest, hint, sizeof hint));
}

static int set_pattern(settings *made, const char *pattern, gale_error *error) {
    int flaw = gx_moment_flaw(gx_str(pattern));
    if (strlen(pattern) >= sizeof made->pattern)
        return gale_error_set(error, GALE_INVALID, "%s: format has more than %d bytes", who, PATTERN - 1);
    if (flaw < 0) return gale_error_set(error, GALE_INVALID, "%s: format '%s' ends with a '%%'", who, pattern);
    if (flaw)
        return gale_error_set(error, GALE_INVALID, "%s: format '%s' has a '%%%c', which is none of %s", who, pattern,
                              flaw > ' ' && flaw < 127 ? flaw : '?',
                              "%Y %y %m %d %e %j %H %I %p %M %S %f %L %b %B %a %A %z %Z %s %F %T %%");
    if (gx_moment_is_ambiguous(gx_str(pattern)))
        return gale_error_set(error, GALE_INVALID,
                              "%s: format '%s': nothing separates the digits of %%s, %%f or %%L from those behind them",
                              who, pattern);
    memcpy(made->pattern, pattern, strlen(pattern));
    for (const char *at = pattern; (at = strchr(at, '%')); at += 2) made->has_year |= strchr("YyFs", at[1]) != NULL;
    return GALE_OK;
}

static int read_format(settings *made, const char *format, gale_error *error) {
    if (!format || !*format) format = formats[0].name;
    made->kind = BY_PATTERN;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(format, formats[i].name) != 0) continue;
        made->kind = formats[i].kind;
        snprintf(made->problem, sizeof made->problem, "%s", formats[i].problem);
        return formats[i].pattern ? set_pattern(made, formats[i].pattern, error) : GALE_OK;
    }
    if (!strchr(format, '%')) return no_format(format, error);
    snprintf(made->problem, sizeof made->problem, "it is no time as '%s' says", format);
    return set_pattern(made, format, error);
}

/* What goes out is what comes in, with the time where a field has its name already, else behind all. */
static int read_fields(settings *made, const gale_timestamp_options *given, gale_error *error) {
    gx_fields as;
    int rc = gx_fields_parse(given->fields, "timestamp bolt: fields", &made->fields, error);
    if (rc < 0) return rc;
    int32_t field = given->field && *given->field
                        ? gx_fields_place(&made->fields, "timestamp bolt: field", gx_str(given->field), error)
                        : 0;
    if (field < 0) return GALE_INVALID;
    rc = gx_fields_parse_one(given->as, "timestamp bolt: as", &as, error);
    if (rc < 0) return rc;
    made->field = (uint32_t)field;
    made->as = as.count ? 0 : made->field;
    while (as.count && made->as < made->fields.count &&
           !gx_str_equal(gx_fields_name(&made->fields, made->as), gx_fields_name(&as, 0)))
        made->as++;
    made->width = made->fields.count + (made->as == made->fields.count);
    snprintf(made->names, sizeof made->names, made->as == made->fields.count ? "%s, %s" : "%s", made->fields.text,
             as.text);
    return GALE_OK;
}

static int read_options(const gale_timestamp_options *options, settings *made, gale_error *error) {
    gale_timestamp_options given;
    int rc = gx_options_take(&given, sizeof given, options, "timestamp bolt: options", error);
    if (rc >= 0) rc = read_fields(made, &given, error);
    if (rc >= 0) rc = read_format(made, given.format, error);
    if (rc < 0) return rc;
    made->base = gx_moment_1970;
    if (given.zone && !gx_moment_zone(gx_str(given.zone), &made->base.ahead))
        return gale_error_set(error, GALE_INVALID, "%s: zone '%s' is not like +02:00, -0730 or Z", who, given.zone);
    if (given.unit < 0 || given.unit > GALE_TIMESTAMP_NS)
        return gale_error_set(error, GALE_INVALID, "%s: unit is %d, which is neither s (%d), ms (%d) nor ns (%d)", who,
                              given.unit, GALE_TIMESTAMP_S, GALE_TIMESTAMP_MS, GALE_TIMESTAMP_NS);
    made->unit = given.unit;
    return GALE_OK;
}

int gale_timestamp_bolt(const gale_timestamp_options *options, gale_bolt *ret_bolt, gale_error *error) {
    if (!ret_bolt) return gx_define_nowhere(who, error);
    settings *made = calloc(1, sizeof *made);
    if (!made) return gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", who);
    int rc = read_options(options, made, error);
    if (rc < 0) {
        free(made);
        return rc;
    }
    made->outputs[STREAM_ON] = (gale_output){ NULL, made->names };
    made->outputs[STREAM_BAD] = (gale_output){ GX_BAD_STREAM, GX_BAD_FIELDS };
    *ret_bolt = gx_define_bolt(&ops, made, made->outputs, STREAMS);
    return GALE_OK;
}
