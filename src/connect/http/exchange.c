#include "connect/http/exchange.h"

#include "connect/http/parse.h"

#include <gale/clock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t take(char *data, size_t one, size_t size, void *user) {
    http_exchange *x = user;
    size_t room = x->keep - x->answer.size;
    (void)one;
    x->got += size;
    x->too_long = x->got > x->most;
    http_buffer_add(&x->answer, data, size < room ? size : room);
    return x->too_long || x->answer.failed ? 0 : size;
}

http_exchange *http_exchange_new(void *owner, size_t keep, uint64_t most) {
    http_exchange *x = calloc(1, sizeof *x);
    CURL *easy = x ? curl_easy_init() : NULL;
    if (!easy) {
        free(x);
        return NULL;
    }
    *x = (http_exchange){ .easy = easy, .owner = owner, .keep = keep, .most = most };
    curl_easy_setopt(easy, CURLOPT_PRIVATE, x);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, x->error);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, x);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "gale");
    return x;
}

void http_exchange_free(http_exchange *x) {
    if (!x) return;
    curl_easy_cleanup(x->easy);
    curl_slist_free_all(x->headers);
    http_buffer_fini(&x->answer);
    free(x);
}

http_exchange *http_exchange_of(CURL *easy) {
    char *x = NULL;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &x);
    return (http_exchange *)(void *)x;
}

long http_exchange_status(const http_exchange *x) {
    long status = 0;
    curl_easy_getinfo(x->easy, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

const char *http_exchange_header(const http_exchange *x, const char *name) {
    struct curl_header *header;
    bool is = curl_easy_header(x->easy, name, 0, CURLH_HEADER, -1, &header) == CURLHE_OK;
    return is ? header->value : NULL;
}

int64_t http_exchange_retry_after(const http_exchange *x) {
    enum { HOUR = 3600 };
    gale_clock wall = gale_clock_wall();
    const char *text = http_exchange_header(x, "Retry-After");
    int64_t now = wall.now(wall.user) / GALE_SECOND;
    int64_t seconds = text ? http_retry_after((gale_str){ text, strlen(text) }, now) : -1;
    return seconds < 0 ? -1 : (seconds < HOUR ? seconds : HOUR) * GALE_SECOND;
}

bool http_exchange_is_answered(const http_exchange *x, CURLcode code) {
    return http_exchange_status(x) >= 200 && (code == CURLE_OK || (code == CURLE_WRITE_ERROR && x->too_long));
}

/* In one line; what is not UTF-8 is not shown. */
static void make_line(char *text) {
    char *to = text;
    for (const char *at = text; *at; at++)
        if ((unsigned char)*at > ' ')
            *to++ = *at;
        else if (to > text && to[-1] != ' ')
            *to++ = ' ';
    while (to > text && to[-1] == ' ') to--;
    *to = '\0';
    for (size_t cut = 0; cut < 4 && to > text && !gale_utf8_valid(text, strlen(text)); cut++) *--to = '\0';
    for (to = text; !gale_utf8_valid(text, strlen(text)) && *to; to++)
        if ((unsigned char)*to >= 0x80) *to = '?';
}

void http_exchange_words(const http_exchange *x, CURLcode code, const http_secrets *secrets, char words[HTTP_WORDS]) {
    long status = http_exchange_status(x);
    if (x->answer.size) http_secrets_hide(secrets, x->answer.data); /* before any is cut */
    if (http_exchange_is_answered(x, code))
        snprintf(words, HTTP_WORDS, "%ld%s%.120s", status, x->answer.size ? ": " : "",
                 x->answer.size ? x->answer.data : "");
    else
        snprintf(words, HTTP_WORDS, "%.150s", *x->error ? x->error : curl_easy_strerror(code));
    http_secrets_hide(secrets, words);
    make_line(words);
}
