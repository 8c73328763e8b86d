#include "connect/http/book.h"

#include <stdlib.h>
#include <string.h>

static size_t bucket_of_number(int64_t number) {
    return (size_t)number % HTTP_BOOK_BUCKETS;
}

static size_t bucket_of_key(const char *key) {
    gale_value value = gale_text(key);
    return (size_t)(gale_value_hash(&value) % HTTP_BOOK_BUCKETS);
}

/* --- In and out ------------------------------------------------------------------------------------------------------- */

static void free_taken(http_taken *taken) {
    free(taken->text);
    free(taken->key);
    free(taken);
}

static void take_out_of_numbers(http_book *book, const http_taken *taken) {
    http_taken **at = &book->numbers[bucket_of_number(taken->number)];
    while (*at && *at != taken) at = &(*at)->by_number;
    if (*at) *at = taken->by_number;
}

static void take_out_of_keys(http_book *book, const http_taken *taken) {
    if (!taken->key) return;
    http_taken **at = &book->keys[bucket_of_key(taken->key)];
    while (*at && *at != taken) at = &(*at)->by_key;
    if (*at) *at = taken->by_key;
}

static void forget_oldest(http_book *book) {
    http_taken *taken = book->oldest;
    book->oldest = taken->newer;
    *(taken->newer ? &taken->newer->older : &book->newest) = NULL;
    book->kept--;
    take_out_of_keys(book, taken);
    free_taken(taken);
}

static void keep(http_book *book, http_taken *taken, int64_t now) {
    taken->answered = now;
    taken->older = book->newest;
    *(book->newest ? &book->newest->newer : &book->oldest) = taken;
    book->newest = taken;
    book->kept++;
    while (book->kept > HTTP_KEYS_MAX) forget_oldest(book);
}

http_taken *http_book_add(http_book *book, int64_t number, const char *key, uint64_t print, uint64_t cost) {
    http_taken *taken = calloc(1, sizeof *taken);
    if (taken && key) taken->key = strdup(key);
    if (!taken || (key && !taken->key)) {
        free(taken);
        return NULL;
    }
    taken->number = number;
    taken->print = print;
    taken->cost = cost;
    book->cost += cost;
    http_taken **first = &book->numbers[bucket_of_number(number)];
    taken->by_number = *first;
    *first = taken;
    if (!key) return taken;
    first = &book->keys[bucket_of_key(key)];
    taken->by_key = *first;
    *first = taken;
    return taken;
}

void http_book_answer(http_book *book, http_taken *taken, int64_t now) {
    book->cost -= taken->cost;
    take_out_of_numbers(book, taken);
    if (taken->key && taken->status != 503) {
        keep(book, taken, now);
        return;
    }
    take_out_of_keys(book, taken);
    free_taken(taken);
}

void http_book_forget(http_book *book, int64_t until) {
    while (book->oldest && book->oldest->answered < until) forget_oldest(book);
}

void http_book_fini(http_book *book) {
    while (book->oldest) forget_oldest(book);
    for (size_t i = 0; i < HTTP_BOOK_BUCKETS; i++) {
        while (book->numbers[i]) {
            http_taken *taken = book->numbers[i];
            book->numbers[i] = taken->by_number;
            free_taken(taken);
        }
    }
}

/* --- Looking ---------------------------------------------------------------------------------------------------------- */

http_taken *http_book_number(const http_book *book, int64_t number) {
    http_taken *taken = book->numbers[bucket_of_number(number)];
    while (taken && taken->number != number) taken = taken->by_number;
    return taken;
}

http_taken *http_book_key(const http_book *book, const char *key) {
    http_taken *taken = book->keys[bucket_of_key(key)];
    while (taken && strcmp(taken->key, key) != 0) taken = taken->by_key;
    return taken;
}

int http_book_each(http_book *book, http_book_each_fn *each, void *user) {
    int rc = 0;
    http_taken *next = book->oldest;
    while (rc >= 0 && next) {
        http_taken *taken = next;
        next = taken->newer;
        rc = each(user, taken);
    }
    for (size_t i = 0; rc >= 0 && i < HTTP_BOOK_BUCKETS; i++) {
        next = book->numbers[i];
        while (rc >= 0 && next) {
            http_taken *taken = next;
            next = taken->by_number;
            rc = each(user, taken);
        }
    }
    return rc < 0 ? rc : 0;
}

/* --- Answers ---------------------------------------------------------------------------------------------------------- */

void http_taken_fail(http_taken *taken, unsigned status, const char *text) {
    if (taken->status >= status) return;
    taken->status = status;
    free(taken->text);
    taken->text = text && *text ? strdup(text) : NULL;
}

void http_taken_reply(const http_taken *taken, http_reply *reply) {
    const char *text = taken->status == 503 ? "it was not done" : "it was rejected";
    http_reply_set(reply, taken->status ? taken->status : 200, !taken->status ? "" : taken->text ? taken->text : text);
    reply->tuples = taken->rows;
}
