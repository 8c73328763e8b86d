/* A task's connection: it is there, or is tried again, and says how it is.
 *
 *      away --connect--> connecting --up--> there --down--> away, until a pause is over that grows
 *
 * Threads: the task's. Owner: nats_link_close ends it. */
#ifndef GALE_CONNECT_NATS_LINK_H
#define GALE_CONNECT_NATS_LINK_H

#include "connect/nats/spent.h"
#include "connect/nats/wire.h"

#include <gale/connect.h>
#include <gale/watch.h>

/* What its user hears of. All must be there. */
typedef struct nats_link_ops {
    void (*up)(void *user, const nats_about *about);
    void (*down)(void *user, bool counts, const char *why); /* `counts` as of gale_dispatch_lost */
    void (*looked)(void *user, const nats_about *about);
    void (*message)(void *user, natsMsg *msg); /* takes it */
    void (*refused)(void *user, const nats_refusal *refusal);
    void (*nobody)(void *user); /* something was sent that nobody there takes */
} nats_link_ops;

typedef struct nats_link {
    const nats_settings *given;
    const gale_context *context;
    gale_collector *out;
    const nats_link_ops *ops;
    void *user;
    nats_wire *wire;
    nats_news news;
    nats_spent spent; /* its user's, too */
    gale_watch watch;
    gale_backoff backoff;
    int64_t retry_at; /* 0: nothing is to be tried */
    int64_t heard_at; /* when the news that are being heard were */
    bool held;        /* the library */
    bool up, unwell;
    bool lame; /* its server ends soon, and until then nothing makes it well */
} nats_link;

/* Begins to connect. `setup` is given `settings`. What was made is closed by nats_link_close, also after an error. */
int nats_link_open(nats_link *link, const nats_settings *given, nats_setup_fn *setup, const void *settings,
                   const gale_context *context, gale_collector *out, const nats_link_ops *ops, void *user,
                   gale_error *error);
/* Whoever took messages has destroyed them before. */
void nats_link_close(nats_link *link);

/* Says that it is not well: `about` (a stream; NULL: nothing) and why; and that it is. */
void nats_link_unwell(nats_link *link, const char *about, const char *why);
void nats_link_well(nats_link *link);

/* Where no watch is told, at the end of a run: news of so many milliseconds. */
void nats_link_drive(nats_link *link, int wait_ms);

#endif
