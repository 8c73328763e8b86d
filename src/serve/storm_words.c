#include "serve/storm_words.h"

#include "serve/member.h"

#include <ctype.h>
#include <stdio.h>

const char *gx_storm_uptime(int64_t seconds, char to[GX_STORM_WORD]) {
    static const struct {
        int64_t size;
        char unit;
    } units[] = { { 86400, 'd' }, { 3600, 'h' }, { 60, 'm' }, { 1, 's' } };
    int used = 0;
    to[0] = 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (!used && seconds < units[i].size) continue;
        used += snprintf(to + used, GX_STORM_WORD - (size_t)used, "%s%lld%c", used ? " " : "",
                         (long long)(seconds / units[i].size), units[i].unit);
        seconds %= units[i].size;
    }
    return to;
}

const char *gx_storm_window_hint(uint32_t seconds, char to[GX_STORM_WORD]) {
    if (seconds) return gx_storm_uptime(seconds, to);
    snprintf(to, GX_STORM_WORD, "All time");
    return to;
}

const char *gx_storm_window(uint32_t seconds, char to[GX_STORM_WORD]) {
    snprintf(to, GX_STORM_WORD, seconds ? "%u" : ":all-time", seconds);
    return to;
}

void gx_storm_decimal(gx_json *json, const char *key, double value) {
    char text[GX_STORM_WORD];
    snprintf(text, sizeof text, "%.3f", value);
    gx_member_text(json, key, text);
}

static void text_member(gx_json *json, const char *key, gx_buf *text) {
    gx_json_key(json, gx_str(key));
    gx_json_string(json, (gale_str){ text->data, text->failed ? 0 : text->size });
    gx_buf_fini(text);
}

void gx_storm_encoded(gx_json *json, const char *key, const char *text) {
    gx_buf out = GX_BUF_INIT(NULL);
    for (; *text; text++) {
        if (isalnum((unsigned char)*text) || strchr("-_.*", *text))
            gx_buf_add_byte(&out, *text);
        else if (*text == ' ')
            gx_buf_add_byte(&out, '+');
        else
            gx_buf_format(&out, "%%%02X", (unsigned)(unsigned char)*text);
    }
    text_member(json, key, &out);
}

void gx_storm_sanitized(gx_json *json, const char *key, const char *stream) {
    gx_buf out = GX_BUF_INIT(NULL);
    if (!isalpha((unsigned char)*stream)) gx_buf_add_text(&out, "_s");
    for (; *stream; stream++)
        gx_buf_add_byte(&out, isalpha((unsigned char)*stream) || strchr("_-:.", *stream) ? *stream : '_');
    text_member(json, key, &out);
}
