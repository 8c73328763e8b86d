#include "cli/figures.h"

#include "base/str.h"

#include <inttypes.h>
#include <stdio.h>

const char *gx_figure_count(uint64_t count, char out[GX_FIGURE_SIZE]) {
    char plain[GX_FIGURE_SIZE];
    int digits = snprintf(plain, sizeof plain, "%" PRIu64, count), n = 0;
    for (int i = 0; i < digits; i++) {
        if (i > 0 && (digits - i) % 3 == 0) out[n++] = ',';
        out[n++] = plain[i];
    }
    out[n] = 0;
    return out;
}

const char *gx_figure_time(double nanoseconds, char out[GX_FIGURE_SIZE]) {
    static const char *const units[] = { "ns", "us", "ms", "s" };
    size_t unit = 0;
    while (nanoseconds >= 999.5 && unit < 3) nanoseconds /= 1000, unit++;
    int digits = unit == 0 || nanoseconds >= 99.95 ? 0 : nanoseconds >= 9.995 ? 1 : 2;
    snprintf(out, GX_FIGURE_SIZE, "%.*f %s", digits, nanoseconds, units[unit]);
    return out;
}

const char *gx_figure_bytes(uint64_t bytes, char out[GX_FIGURE_SIZE]) {
    static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
    double size = (double)bytes;
    size_t unit = 0;
    while (size >= 999.5 && unit < 4) size /= 1000, unit++;
    snprintf(out, GX_FIGURE_SIZE, "%.*f %s", unit == 0 || size >= 9.95 ? 0 : 1, size, units[unit]);
    return out;
}

const char *gx_figure_rate(uint64_t count, int64_t nanoseconds, char out[GX_FIGURE_SIZE]) {
    double rate = nanoseconds > 0 ? (double)count * 1e9 / (double)nanoseconds : 0;
    if (rate >= 10 || rate == 0) return gx_figure_count((uint64_t)(rate + 0.5), out);
    snprintf(out, GX_FIGURE_SIZE, "%.1f", rate);
    return out;
}

void gx_figure_count_member(gx_json *json, const char *key, uint64_t count) {
    gx_json_key(json, gx_str(key));
    gx_json_u64(json, count);
}

void gx_figure_seconds_member(gx_json *json, const char *key, int64_t nanoseconds) {
    gx_json_key(json, gx_str(key));
    gx_json_f64(json, (double)nanoseconds / 1e9);
}
