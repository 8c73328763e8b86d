/* The requests that were taken: until they are answered, and those that have a key for a while longer.
 *
 *      add --> open --all its rows have answers--> answered --+--> forgotten: it has no key, or what it was told may change
 *                                                            '--> kept, until its time is over or HTTP_KEYS_MAX are younger
 *
 * What:    a request is found by its number, which no other has had, while it is open; by its key as long as it is here.
 * Threads: the task's. Owner: the book; what is found is good until it is forgotten. */
#ifndef GALE_CONNECT_HTTP_BOOK_H
#define GALE_CONNECT_HTTP_BOOK_H

#include "connect/http/server.h"

enum { HTTP_KEYS_MAX = 100000, HTTP_KEY_MAX = 255, HTTP_BOOK_BUCKETS = 1 << 15 };

typedef struct http_taken {
    struct http_taken *by_number, *by_key; /* the next of a bucket */
    struct http_taken *older, *newer;      /* of those that are kept */
    int64_t number;
    uint64_t print; /* of what was asked for: another one has another, nearly always */
    uint64_t cost;  /* bytes */
    uint32_t rows, open;
    unsigned status;  /* 0: nothing has failed */
    int64_t answered; /* the context's clock, of one that is kept */
    char *text;       /* why it failed; NULL: nothing to say */
    char *key;        /* NULL: it has none */
    http_request *waiting;
} http_taken;

typedef struct http_book {
    http_taken *numbers[HTTP_BOOK_BUCKETS], *keys[HTTP_BOOK_BUCKETS];
    http_taken *oldest, *newest; /* that are kept */
    size_t kept;
    uint64_t cost; /* of those that are open */
} http_book;

void http_book_fini(http_book *book);

/* An open one; `key` is copied. NULL: memory is out. */
http_taken *http_book_add(http_book *book, int64_t number, const char *key, uint64_t print, uint64_t cost);

/* NULL: there is none. */
http_taken *http_book_number(const http_book *book, int64_t number);
http_taken *http_book_key(const http_book *book, const char *key);

/* A row of it has failed for this: what is worst is what it is told. 503 is worse than 422: trying again may help. */
void http_taken_fail(http_taken *taken, unsigned status, const char *text);

/* What a request is told that waits for it. */
void http_taken_reply(const http_taken *taken, http_reply *reply);

/* It has its answer, and nobody waits for it any more. */
void http_book_answer(http_book *book, http_taken *taken, int64_t now);

/* Forgets those that were answered before `until`. */
void http_book_forget(http_book *book, int64_t until);

/* Each one, those that are kept from the oldest on, then those that are open. A negative code of `each` ends it. */
typedef int http_book_each_fn(void *user, http_taken *taken);
int http_book_each(http_book *book, http_book_each_fn *each, void *user);

#endif
