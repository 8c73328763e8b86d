#include "connect/nats/answer.h"

#include <jansson.h>
#include <stdbool.h>
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

static nats_answer judge(const json_t *error, char *why, size_t size) {
    const char *words = json_string_value(json_object_get(error, "description"));
    json_int_t code = json_integer_value(json_object_get(error, "code"));
    json_int_t exact = json_integer_value(json_object_get(error, "err_code"));
    snprintf(why, size, "%s (%lld)", words ? words : "it is refused", (long long)(exact ? exact : code));
    return code >= 400 && code < 500 && exact != ACCOUNT_FULL ? NATS_NEVER : NATS_NOT_NOW;
}

nats_answer nats_answer_read(const char *bytes, size_t size, char *why, size_t why_size) {
    if (is_plain_yes(bytes, size)) return NATS_HAS_IT;
    json_t *root = size ? json_loadb(bytes, size, 0, NULL) : NULL;
    const json_t *error = json_object_get(root, "error");
    nats_answer answer = NATS_NOT_NOW;
    if (json_is_object(error))
        answer = judge(error, why, why_size);
    else if (json_integer_value(json_object_get(root, "seq")) > 0)
        answer = NATS_HAS_IT;
    else
        snprintf(why, why_size, "what answers is no stream");
    json_decref(root);
    return answer;
}
