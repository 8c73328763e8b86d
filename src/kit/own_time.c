#include "kit/own_time.h"

#include "kit/define.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

int gx_own_time_of(const gale_value *seconds, int64_t *ret_ns) {
    const double most = (double)GX_OWN_TIME_SECONDS;
    if (seconds->type == GALE_TYPE_I64) {
        if (seconds->as.i64 < -GX_OWN_TIME_SECONDS || seconds->as.i64 > GX_OWN_TIME_SECONDS) return GALE_INVALID;
        *ret_ns = seconds->as.i64 * GALE_SECOND;
        return GALE_OK;
    }
    if (seconds->type != GALE_TYPE_F64) return GALE_TYPE;
    if (!(seconds->as.f64 >= -most && seconds->as.f64 <= most)) return GALE_INVALID;
    int64_t whole = (int64_t)seconds->as.f64;
    if ((double)whole > seconds->as.f64) whole--;
    *ret_ns = whole * GALE_SECOND + (int64_t)((seconds->as.f64 - (double)whole) * 1e9 + 0.5);
    return GALE_OK;
}

/* Most often milliseconds. */
static int refuse(const char *who, const gale_value *time, const gale_tuple *tuple, gale_collector *out) {
    bool whole = time->type == GALE_TYPE_I64;
    double number = whole ? (double)time->as.i64 : time->as.f64;
    char text[GALE_NUMBER_TEXT];
    if (whole)
        (void)snprintf(text, sizeof text, "%" PRId64, time->as.i64);
    else
        (void)gale_number_write(number, text);
    gx_define_report(
        out,
        "%s: the time %s of component '%s' is %s: event times are seconds since 1970; milliseconds "
        "become seconds by `format: epoch_ms` of gale.bolt.Timestamp, or by `time // 1000` in gale.bolt.Map",
        who, text, gale_tuple_component(tuple),
        isnan(number) ? "no number"
        : number > 0  ? "beyond the year 2115"
                      : "before the year 1824");
    return GALE_INVALID;
}

int gx_own_time_take(const gx_fields *field, gx_field_places *places, const char *who, const gale_tuple *tuple,
                     gale_collector *out, int64_t *ret_ns) {
    gale_value time;
    int rc = gx_fields_take(field, places, who, tuple, out, &time);
    if (GX_UNLIKELY(rc < 0)) return rc;
    rc = gx_own_time_of(&time, ret_ns);
    if (GX_LIKELY(rc == GALE_OK)) return rc;
    if (rc == GALE_INVALID) return refuse(who, &time, tuple, out);
    return gx_define_wrong_type(out, who, tuple, places->at[0], "i64 or f64, seconds since 1970");
}
