/* Tuples that are one request, from the first one on until the last has its answer, and the lanes that they go in.
 *
 *      lane: open (gathers) --full, or its time--> closed, in order --a request is free--> on its way --answer--> gone
 *
 * What:    with a key there are HTTP_LANES of them, a tuple's is that of its key, and a lane has one request on its way: what has one key goes in
 *          order. Without one there is one lane, and its requests go as they can.
 * Name:    a batch is called by the life that it began in (a number that is drawn when a task begins) and a number. Name and
 *          tuples are saved: sent again, by whichever process, it is the same request.
 * Threads: the task's. */
#ifndef GALE_CONNECT_HTTP_BATCH_H
#define GALE_CONNECT_HTTP_BATCH_H

#include "connect/http/document.h"
#include "connect/http/exchange.h"
#include "connect/http/template.h"

#include <gale/connect.h>

enum { HTTP_LANES = 64 };

typedef struct http_item {
    uint64_t id;     /* of the dispatch; 0: it has its answer */
    uint64_t order;  /* in which it came */
    size_t at, size; /* in the body */
} http_item;

typedef struct http_batch http_batch;
struct http_batch {
    http_batch *next, **back; /* among all */
    http_batch *behind;       /* in its lane */
    http_item *items;
    size_t count, capacity;
    http_buffer body; /* the items' documents */
    uint64_t life, number;
    uint32_t part;       /* of what was too large as a whole: 1; its halves 2 and 3, theirs 4 to 7 */
    uint64_t checkpoint; /* that it waits for; 0: none */
    uint32_t lane;
    bool closed, wished; /* wished: a checkpoint was asked for, which closes it */
    bool kept;           /* a checkpoint that lasts has it, as far as that is asked for */
    int64_t since, until;
    uint32_t attempts;
    bool hung;        /* a connection ended behind it */
    uint64_t answers; /* that the server had given to others when a connection ended behind this one, last */
    gale_backoff backoff;
    http_exchange *exchange; /* while it is asked */
    http_buffer sent;        /* what is sent, where that is not the body as it is */
};

typedef struct http_lane {
    http_batch *open, *first, *last;
    bool busy;
} http_lane;

typedef struct http_batches {
    http_lane lanes[HTTP_LANES];
    uint32_t lane_count;
    http_batch *all;
    uint64_t life, number, order;
    size_t turn;
} http_batches;

void http_batches_init(http_batches *batches, bool keyed, uint64_t life);
void http_batches_fini(http_batches *batches);

/* The lane of a tuple whose key has this hash. */
uint32_t http_batches_lane(const http_batches *batches, uint64_t hash);

/* The batch that gathers there, a new one where there is none; NULL: no memory. */
http_batch *http_batches_open(http_batches *batches, uint32_t lane, int64_t now);

/* A batch of an earlier life, closed, without its tuples. NULL: no memory. */
http_batch *http_batches_recall(http_batches *batches, uint32_t lane, uint64_t life, uint64_t number, uint32_t part);

/* Its document is in the body from `at` on. GALE_NO_MEMORY: it is cut off. */
int http_batch_add(http_batches *batches, http_batch *batch, uint64_t id, size_t at);

void http_batches_close(http_batches *batches, http_batch *batch);

/* The next that may go, which is then in no lane but keeps its lane busy where there is a key; NULL. */
http_batch *http_batches_take(http_batches *batches);
void http_batches_free(http_batches *batches, http_batch *batch);

/* Its second half is a batch of its own, the next of its lane; halves have names that tell of the whole's, whenever it is halved. False: it has one
 * tuple, or was halved too often, or there is no memory. */
bool http_batches_halve(http_batches *batches, http_batch *batch);

/* How many of its tuples have no answer. Those that have leave, with their documents. */
void http_batch_shrink(http_batch *batch);

void http_batch_name(const http_batch *batch, char name[HTTP_REQUEST_NAME]);

/* What is sent of it. GALE_NO_MEMORY. */
int http_batch_form(http_batch *batch, http_format format, gale_str *ret_body);

#endif
