/* What a source of Redis's was given and Redis has not been told the end of: entries of a stream, elements of a list, each by its bytes.
 *
 *      OPEN --acked (in a durable run: in a checkpoint)--> ANSWERED --told, and it has said so--> gone, or, while a list of what is open is under way, TOLD until that
 *        '--given up, with dead letters--> LETTER --written--> ANSWERED                            is through
 *
 * What:    a place names one, never 0, and never another one for long (a number of its own goes along). Bytes may be there more than once, as elements of a
 *          list may; what is there is matched with what the server has by `mark` and `is_marked`, each once a round.
 * Threads: one. Owner: redis_book_free. */
#ifndef GALE_CONNECT_REDIS_BOOK_H
#define GALE_CONNECT_REDIS_BOOK_H

#include <gale/state.h>

typedef enum redis_open { REDIS_FREE, REDIS_OPEN, REDIS_ANSWERED, REDIS_LETTER, REDIS_TOLD } redis_open;

typedef struct redis_page {
    redis_open state;
    uint32_t source, number;
    uint32_t next; /* of its chain, or of the free ones; UINT32_MAX: none */
    uint32_t round;
    int64_t with; /* its owner's: another place; 0: none */
    uint64_t hash;
    size_t size;
    char *bytes;
} redis_page;

typedef struct redis_book {
    redis_page *pages;
    uint32_t room, first_free, round;
    uint32_t *chains; /* as many as pages, a power of two */
    size_t count;
} redis_book;

void redis_book_free(redis_book *book);

/* Another one, OPEN. GALE_NO_MEMORY. */
int redis_book_add(redis_book *book, uint32_t source, gale_str bytes, int64_t *ret_place);

/* NULL: it is gone. */
redis_page *redis_book_at(const redis_book *book, int64_t place);
void redis_book_remove(redis_book *book, int64_t place);

/* Is one with these bytes there? */
bool redis_book_has(const redis_book *book, uint32_t source, gale_str bytes);

/* A round begins; the next one with these bytes that was not marked in it is marked. False: there is none. */
void redis_book_begin_round(redis_book *book);
bool redis_book_mark(redis_book *book, uint32_t source, gale_str bytes);

/* Each that is in a state; may remove the one that it is told of. */
typedef void redis_book_fn(void *user, int64_t place, const redis_page *page);
void redis_book_each(redis_book *book, redis_open state, redis_book_fn *each, void *user);

/* In `save` and `restore`: those that are OPEN or ANSWERED, and are ANSWERED when they are back, until somebody knows better: redis_book_at. What gale_save says;
 * GALE_DAMAGED. */
int redis_book_save(const redis_book *book, gale_saver *to);
int redis_book_restore(redis_book *book, gale_saved *from);

#endif
