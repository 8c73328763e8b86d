#include "connect/nats/answer.h"

#include <gale/json.h>
#include <stdio.h>
#include <string.h>

enum { ACCOUNT_FULL = 10002 }; /* has the code of what one asks wrongly, and is over when there is room */

/* {"stream":"S", "seq":1} is what nearly all are: told without a parser. Nothing but a yes has a sequence that is not 0. */
static bool is_plain_yes(const char *bytes, size_t size) {
    static const char begin[] = "{\"stream\":\"", key[] = "\"seq\":";
    const char *at = bytes + strlen(begin), *end = bytes + size;
    if (size < strlen(begin) || memcmp(bytes, begin, strlen(begin)) != 0) return false;
    while (at < end && *at != '"' && *at != '\\') at++;
    if (end - at < 2 || at[0] != '"' || at[1] != ',') return false;
    for (at += 2; at < end && *at == ' ';) at++;
    if ((size_t)(end - at) <= strlen(key) || memcmp(at, key, strlen(key)) != 0) return false;
    at += strlen(key);
    if (*at < '1' || *at > '9') return false;
    while (at < end && *at >= '0' && *at <= '9') at++;
    return at + 1 == end && *at == '}';
}

static int64_t number_at(gale_str json, const char *path) {
    gale_str found;
    int64_t number;
    return gale_json_get(json, path, &found) && gale_json_whole(found, &number) ? number : 0;
}

static nats_answer judge(gale_str error, char *why, size_t size) {
    char words[200] = "it is refused";
    gale_str found;
    int64_t code = number_at(error, "code"), exact = number_at(error, "err_code");
    if (gale_json_get(error, "description", &found)) (void)gale_json_text(found, words, sizeof words);
    snprintf(why, size, "%s (%lld)", words, (long long)(exact ? exact : code));
    return code >= 400 && code < 500 && exact != ACCOUNT_FULL ? NATS_NEVER : NATS_NOT_NOW;
}

nats_answer nats_answer_read(const char *bytes, size_t size, char *why, size_t why_size) {
    gale_str root, error;
    if (is_plain_yes(bytes, size)) return NATS_HAS_IT;
    bool is_json = size && gale_json_check((gale_str){ bytes, size }, &root, NULL) == 0;
    if (is_json && gale_json_get(root, "error", &error) && gale_json_kind_of(error) == GALE_JSON_OBJECT)
        return judge(error, why, why_size);
    if (is_json && number_at(root, "seq") > 0) return NATS_HAS_IT;
    snprintf(why, why_size, "what answers is no stream");
    return NATS_NOT_NOW;
}
