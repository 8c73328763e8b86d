#include "serve/access.h"

#include "base/base64.h"

#include <strings.h>

bool gx_access_same(gale_str secret, gale_str given) {
    volatile unsigned char differ = secret.size != given.size;
    for (size_t i = 0; i < given.size; i++) {
        unsigned char own = secret.size ? (unsigned char)secret.data[i % secret.size] : 0;
        differ = (unsigned char)(differ | (own ^ (unsigned char)given.data[i]));
    }
    return secret.size > 0 && differ == 0;
}

gale_str gx_access_cookie(gale_str header, const char *name) {
    gale_str pair;
    while (gx_str_next(&header, ';', &pair)) {
        gale_str rest = pair, own;
        if (gx_str_next(&rest, '=', &own) && gx_str_is(own, name)) return gx_str_trim(rest);
    }
    return (gale_str){ NULL, 0 };
}

/* --- The Host ----------------------------------------------------------------------------------------------------- */

static bool is_port(gale_str text) {
    uint64_t number;
    return gx_str_number(text, 10, 65535, &number);
}

static bool is_word(gale_str text, const char *word) {
    return text.size == strlen(word) && strncasecmp(text.data, word, text.size) == 0;
}

/* 127.x.y.z */
static bool is_loopback_v4(gale_str host) {
    gale_str part;
    uint64_t number;
    for (unsigned i = 0; i < 4; i++) {
        if (!gx_str_next(&host, '.', &part) || !gx_str_number(part, 10, 255, &number)) return false;
        if (i == 0 && number != 127) return false;
    }
    return !host.data;
}

bool gx_access_is_loopback_host(gale_str host) {
    gale_str name = host;
    const char *colon = host.size ? memrchr(host.data, ':', host.size) : NULL;
    bool in_brackets = colon && host.data[host.size - 1] == ']';
    if (colon && !in_brackets) {
        name.size = (size_t)(colon - host.data);
        if (!is_port((gale_str){ colon + 1, host.size - name.size - 1 })) return false;
    }
    return is_word(name, "localhost") || is_word(name, "[::1]") || is_loopback_v4(name);
}

/* --- The token ---------------------------------------------------------------------------------------------------- */

/* What stands behind the scheme ("Bearer "). */
static gale_str behind(gale_str authorization, const char *scheme) {
    size_t size = strlen(scheme);
    if (authorization.size < size || strncasecmp(authorization.data, scheme, size) != 0) return (gale_str){ NULL, 0 };
    return gx_str_trim((gale_str){ authorization.data + size, authorization.size - size });
}

/* The password of "Basic", whoever the user is. */
static bool is_basic(const gx_access *rules, gale_str authorization) {
    unsigned char pair[GX_ACCESS_BASIC / 4 * 3];
    gale_str coded = behind(authorization, "Basic ");
    int64_t size = coded.size && coded.size <= GX_ACCESS_BASIC ? gx_base64_decode(coded, pair) : -1;
    const unsigned char *colon = size > 0 ? memchr(pair, ':', (size_t)size) : NULL;
    if (!colon) return false;
    return gx_access_same(rules->token, (gale_str){ (const char *)colon + 1, (size_t)(pair + size - colon) - 1 });
}

static gx_access_by known_by(const gx_access *rules, const gx_access_request *request) {
    if (!rules->token.size) return GX_ACCESS_BY_DOOR;
    if (gx_access_same(rules->token, behind(request->authorization, "Bearer "))) return GX_ACCESS_BY_BEARER;
    if (is_basic(rules, request->authorization)) return GX_ACCESS_BY_BEARER;
    if (gx_access_same(rules->token, request->query_token)) return GX_ACCESS_BY_QUERY;
    if (gx_access_same(rules->token, gx_access_cookie(request->cookie, rules->cookie))) return GX_ACCESS_BY_COOKIE;
    return GX_ACCESS_BY_NOBODY;
}

/* --- Where it comes from ------------------------------------------------------------------------------------------ */

/* "http://127.0.0.1:8080" is of Host "127.0.0.1:8080". */
static bool is_own_origin(gale_str origin, gale_str host) {
    const char *end = origin.size > 3 ? memmem(origin.data, origin.size, "://", 3) : NULL;
    if (!end || !host.size) return false;
    size_t scheme = (size_t)(end - origin.data) + 3;
    gale_str own = { origin.data + scheme, origin.size - scheme };
    return own.size == host.size && strncasecmp(own.data, host.data, own.size) == 0;
}

static bool is_json(gale_str type) {
    gale_str first;
    return gx_str_next(&type, ';', &first) && is_word(first, "application/json");
}

static bool has_token(const gx_access *rules, const gx_access_request *request) {
    return request->authorization.size || request->query_token.size ||
           gx_access_cookie(request->cookie, rules->cookie).size;
}

static const char *unknown(const gx_access *rules, const gx_access_request *request) {
    if (!has_token(rules, request))
        return "a token is needed: the one in the address that gale run has printed, as ?token= or as "
               "Authorization: Bearer";
    return "this token is not the run's: the right one is in the address that gale run printed when it began (each "
           "start has another), or in its --listen-token-file; the run's socket, which gale ps --json lists, needs "
           "none";
}

static const char *foreign(const gx_access_request *request, gx_access_by by) {
    gale_str site = request->fetch_site;
    if (site.size && !gx_str_is(site, "same-origin") && !gx_str_is(site, "none"))
        return "refused: the browser says that another site asks for it (Sec-Fetch-Site)";
    if (request->origin.size && !is_own_origin(request->origin, request->host))
        return "refused: another site asks for it (Origin)";
    if (by == GX_ACCESS_BY_COOKIE && !is_json(request->content_type) && !request->guard.size)
        return "refused: with a cookie, send the header Content-Type: application/json or X-Gale: 1, which no form can";
    return NULL;
}

/* --- The verdict -------------------------------------------------------------------------------------------------- */

static gx_access_verdict verdict(unsigned status, const char *why, gx_access_by by) {
    return (gx_access_verdict){ status, why, by };
}

gx_access_verdict gx_access_judge(const gx_access *rules, const gx_access_request *request) {
    gx_access_by by = known_by(rules, request);
    if (rules->loopback && request->host.size && !gx_access_is_loopback_host(request->host))
        return verdict(421, "the Host is none of this machine's own: ask for 127.0.0.1 or localhost",
                       GX_ACCESS_BY_NOBODY);
    if (by == GX_ACCESS_BY_NOBODY) return verdict(401, unknown(rules, request), by);
    const char *why = request->changes && by != GX_ACCESS_BY_DOOR ? foreign(request, by) : NULL;
    return why ? verdict(403, why, by) : verdict(0, NULL, by);
}
