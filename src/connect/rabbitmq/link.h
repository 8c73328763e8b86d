/* A task's side of its connection: connects, again after pauses that grow, says how it is, and passes on what is heard.
 *
 *      (due) --CONNECT--> trying --UP--> up --DOWN--> (due, after a pause)
 *                            '----DOWN-------------------^
 *
 * What:    each connection is a session with a number of its own: what is ordered for one is never done in another.
 * Threads: the task's. Owner: rmq_link_close ends it, and the thread behind it. */
#ifndef GALE_CONNECT_RABBITMQ_LINK_H
#define GALE_CONNECT_RABBITMQ_LINK_H

#include "connect/rabbitmq/worker.h"

#include <gale/connect.h>
#include <gale/watch.h>

typedef struct rmq_link_ops {
    void (*up)(void *user);
    /* One that was up; `session` is still its number; `counts` as of gale_dispatch_lost. */
    void (*down)(void *user, bool counts, const char *why);
    void (*news)(void *user, rmq_note *note); /* its own from then on */
} rmq_link_ops;

typedef struct rmq_link {
    const rmq_settings *given;
    const gale_context *context;
    gale_collector *out;
    const rmq_link_ops *ops;
    void *user;
    rmq_worker *worker;
    rmq_chain orders; /* not handed over yet */
    gale_watch bell, timer;
    gale_backoff backoff;
    int64_t due;   /* when it connects; 0: not by itself */
    int64_t since; /* it is up */
    uint32_t session;
    bool up, unwell;
} rmq_link;

/* Begins to connect when the run begins. `worker_user` is the thread's. What rmq_worker_start and gale_watch_new say; rmq_link_close is to be called
 * then, too. */
int rmq_link_open(rmq_link *link, const rmq_settings *given, const rmq_link_ops *ops, void *user,
                  const rmq_worker_ops *worker_ops, void *worker_user, const gale_context *context, gale_collector *out,
                  gale_error *error);
void rmq_link_close(rmq_link *link);

/* Of the session that is up; NULL, which is memory that is out, ends it: what was not ordered comes again. Handed over by rmq_link_flush. */
void rmq_link_order(rmq_link *link, rmq_note *order);
void rmq_link_flush(rmq_link *link);

/* It is over, for this; another one is made after a pause. */
void rmq_link_fail(rmq_link *link, const char *why);

/* Where watches are told nothing, as in `finish`: waits for news for up to so long, and does what is due. */
void rmq_link_wait(rmq_link *link, int ms);

void rmq_link_unwell(rmq_link *link, const char *why);
void rmq_link_well(rmq_link *link);

#endif
