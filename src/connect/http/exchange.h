/* One request and its answer, of which no more is kept than is asked for.
 * Threads: the task's. Owner: http_exchange_free. */
#ifndef GALE_CONNECT_HTTP_EXCHANGE_H
#define GALE_CONNECT_HTTP_EXCHANGE_H

#include "connect/http/access.h"

enum { HTTP_WORDS = 160 };

typedef struct http_exchange {
    CURL *easy;
    struct curl_slist *headers;
    http_buffer answer; /* its first `keep` bytes */
    size_t keep;
    uint64_t most, got; /* a longer answer is cut off */
    bool too_long;
    char error[CURL_ERROR_SIZE];
    void *owner;
} http_exchange;

/* NULL when memory is out. */
http_exchange *http_exchange_new(void *owner, size_t keep, uint64_t most);
void http_exchange_free(http_exchange *exchange);
http_exchange *http_exchange_of(CURL *easy);

/* 0: there was no answer. */
long http_exchange_status(const http_exchange *exchange);

/* A header of the answer; NULL. Good until it is freed. */
const char *http_exchange_header(const http_exchange *exchange, const char *name);

/* Nanoseconds that the server wants to be left alone for, an hour at the most; -1: it says nothing. */
int64_t http_exchange_retry_after(const http_exchange *exchange);

/* What went wrong, in one line, without secrets: "503: too busy", "Connection refused". */
void http_exchange_words(const http_exchange *exchange, CURLcode code, const http_secrets *secrets,
                         char words[HTTP_WORDS]);

/* Has an answer come, as a whole? One that was too long has, too. */
bool http_exchange_is_answered(const http_exchange *exchange, CURLcode code);

#endif
