/* The thread that has a task's connection: librabbitmq blocks, and a task may not.
 *
 *      task --orders--> wake --> thread: librabbitmq --news--> bell --watch--> task
 *
 * What:    it connects when it is ordered to, carries out what it is ordered, reads what the broker says, sends heartbeats, and waits for nothing else. When a
 *          connection is over, it says so and waits for the next order to connect; orders of the one before are dropped.
 * Threads: rmq_worker_start, _give, _take and _end: the task's; the functions of rmq_worker_ops, and what they may call: its own.
 * Owner:   the task, which ends it. Limits: what it keeps is what its task has ordered, and what the broker may send: `prefetch` deliveries, and answers. */
#ifndef GALE_CONNECT_RABBITMQ_WORKER_H
#define GALE_CONNECT_RABBITMQ_WORKER_H

#include "connect/rabbitmq/note.h"
#include "connect/rabbitmq/session.h"

typedef struct rmq_worker rmq_worker;

/* All on its thread; false: the connection is over, and session->why says why. */
typedef struct rmq_worker_ops {
    bool (*begin)(void *user, rmq_worker *worker, rmq_session *session);
    bool (*carry_out)(void *user, rmq_worker *worker, rmq_session *session, const rmq_note *order);
    bool (*hear)(void *user, rmq_worker *worker, rmq_session *session, const amqp_frame_t *frame);
    void (*lose)(void *user); /* it is over, or none came about */
} rmq_worker_ops;

/* GALE_NO_MEMORY, GALE_IO with a sentence. `name` is kept; the rest lives longer. */
int rmq_worker_start(const rmq_settings *given, const char *name, const rmq_worker_ops *ops, void *user,
                     rmq_worker **ret_worker, gale_error *error);

/* Carries out what was ordered, says goodbye, and ends; after a second it is made to. NULL is nothing. */
void rmq_worker_end(rmq_worker *worker);

/* Readable when there may be news; what makes it silent is rmq_worker_take. */
int rmq_worker_bell(const rmq_worker *worker);

/* The chain's orders are the worker's from then on; the news the chain's. */
void rmq_worker_give(rmq_worker *worker, rmq_chain *orders);
void rmq_worker_take(rmq_worker *worker, rmq_chain *news);

/* For its ops: of the session that is. A note that is NULL is memory that is out: false. */
uint32_t rmq_worker_session(const rmq_worker *worker);
void rmq_worker_enough(rmq_worker *worker,
                       size_t news); /* so many are passed on at once; fewer wait a moment for others */
bool rmq_worker_tell(rmq_worker *worker, rmq_session *session, rmq_note *news);

#endif
