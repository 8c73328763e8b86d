#include "cli/log_alike.h"

#include "base/hash.h"

#include <ctype.h>
#include <string.h>

static bool is_word(char c) {
    return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* Where the quotes end that begin here; NULL: it is an apostrophe. */
static const char *end_of_quotes(const char *text, const char *at) {
    if (at > text && is_word(at[-1])) return NULL;
    const char *end = strchr(at + 1, '\'');
    while (end && is_word(end[1])) end = strchr(end + 1, '\'');
    return end;
}

/* Of a value as JSON, in double quotes. One that was cut has none at its end: it is all that follows. */
static const char *end_of_text(const char *at) {
    const char *end = at + 1;
    while (end[0] && end[1] && *end != '"') end += *end == '\\' ? 2 : 1;
    return *end ? end : end - 1;
}

static const char *end_of_value(const char *text, const char *at) {
    if (*at == '\'') return end_of_quotes(text, at);
    return *at == '"' ? end_of_text(at) : NULL;
}

uint64_t gx_log_alike_shape(int32_t level, const char *component, const char *text) {
    uint64_t hash = gx_hash_bytes(component ? component : "", component ? strlen(component) : 0, (uint64_t)level);
    const char *at = text;
    while (*at) {
        const char *end = end_of_value(text, at);
        bool digit = isdigit((unsigned char)*at);
        hash = gx_hash_mix(hash, digit ? '0' : (unsigned char)*at);
        at = end ? end + 1 : at + 1;
        while (digit && isdigit((unsigned char)*at)) at++;
    }
    return hash ? hash : 1;
}

gx_log_kind *gx_log_alike_find(gx_log_alike *alike, uint64_t shape) {
    gx_log_kind *oldest = alike->kinds;
    for (gx_log_kind *k = alike->kinds; k < alike->kinds + GX_LOG_ALIKE_KINDS; k++) {
        if (k->shape == shape) return k;
        if (k->since < oldest->since) oldest = k;
    }
    return oldest;
}

void gx_log_kind_begin(gx_log_kind *kind, uint64_t shape, int64_t now) {
    bool goes_on = kind->shape == shape && kind->many;
    kind->shape = shape;
    kind->since = now;
    kind->shown = goes_on ? GX_LOG_ALIKE_SHOWN - 1 : 0;
    kind->many = false;
    kind->more = 0;
}

bool gx_log_kind_waits(gx_log_kind *kind, const gx_buf *body) {
    if (kind->shown < GX_LOG_ALIKE_SHOWN) {
        kind->shown++;
        return false;
    }
    kind->many = true;
    kind->more++;
    gx_buf_reset(&kind->last);
    gx_buf_add(&kind->last, body->data, body->size);
    return true;
}

void gx_log_alike_fini(gx_log_alike *alike) {
    for (size_t i = 0; i < GX_LOG_ALIKE_KINDS; i++) gx_buf_fini(&alike->kinds[i].last);
}
