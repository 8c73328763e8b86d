/* What a sink was given and the broker has not confirmed, in order, and by the tags that a channel counts.
 *
 *      waits --a checkpoint lasts--> ready --published--> out --confirmed--> gone
 *                                      ^---a pause-- again <--refused--'
 *                                      '-----the connection is lost----'
 *
 * Threads: the task's. Owner: rmq_flight_free. Limits: as many as the sink's dispatch holds. */
#ifndef GALE_CONNECT_RABBITMQ_FLIGHT_H
#define GALE_CONNECT_RABBITMQ_FLIGHT_H

#include "connect/rabbitmq/message.h"

typedef enum rmq_flying_state { RMQ_WAITS, RMQ_READY, RMQ_OUT, RMQ_AGAIN } rmq_flying_state;

typedef struct rmq_flying {
    struct rmq_flying *before, *behind;
    uint64_t id; /* the dispatch's */
    rmq_name name;
    uint64_t checkpoint; /* which has it, and it waits for; 0: none */
    size_t bytes;
    char *returned; /* why it came back; NULL: it did not */
    rmq_flying_state state;
} rmq_flying;

typedef struct rmq_flight {
    rmq_flying *first, *last;
    rmq_flying *at;     /* before it nothing is ready */
    rmq_flying **ring;  /* what is out, from tag `low` on; NULL: it is out no more */
    size_t capacity;    /* a power of two, or 0 */
    uint64_t low, high; /* tags: the oldest in the ring, and the next */
    size_t count;
    size_t waiting, waiting_bytes;
} rmq_flight;

void rmq_flight_init(rmq_flight *flight);
void rmq_flight_free(rmq_flight *flight);

/* At the end. NULL: memory is out. */
rmq_flying *rmq_flight_add(rmq_flight *flight, rmq_name name, size_t bytes, bool waits);

/* The one of that id; NULL. */
rmq_flying *rmq_flight_find(const rmq_flight *flight, uint64_t id);

/* It is none any more. */
void rmq_flight_remove(rmq_flight *flight, rmq_flying *one);

/* The oldest that is ready and has nothing before it that waits. NULL: none. */
rmq_flying *rmq_flight_next(rmq_flight *flight);

/* It is published: the channel's next tag is its own. GALE_NO_MEMORY: it is as it was. */
int rmq_flight_out(rmq_flight *flight, rmq_flying *one);

/* What is out under a tag, or up to it. It is out no more, and may be removed in the call. */
typedef void rmq_flight_fn(void *user, rmq_flying *one);
void rmq_flight_confirm(rmq_flight *flight, uint64_t tag, bool multiple, rmq_flight_fn *each, void *user);

/* The connection is lost: all that was out is ready again, and tags begin anew. */
void rmq_flight_lose(rmq_flight *flight);

/* What was refused is ready again. */
void rmq_flight_again(rmq_flight *flight);

/* What waits is in that checkpoint now; those that are in one up to it wait no more (UINT64_MAX: none waits). */
void rmq_flight_save(rmq_flight *flight, uint64_t checkpoint);
void rmq_flight_kept(rmq_flight *flight, uint64_t checkpoint);

#endif
