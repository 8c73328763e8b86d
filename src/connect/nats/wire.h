/* A connection of cnats behind one descriptor: a thread that may wait does what waits, and what comes is put into one queue.
 *
 *      the task --posts--> queue --thread, its pump--> server
 *         ^--watch-- bell <--(first of some)-- news <--'
 *
 *      away --connect--> set up --all is there--> up --lost--> away: the bell says so
 *
 * What:    each connection has one inbox, INBOX.*, whose last level is the sender's: the number of a request for messages, of a publication. cnats does not
 *          reconnect by itself: it would send what waited behind what is lost. Posts that were not sent stay in the queue, in order, until there is a
 *          connection, or nats_wire_clear. A setup, whose questions wait for their answers, has a connection of its own for as long as it takes.
 * Threads: the functions below are the task's; a nats_setup_fn is called on the wire's thread. Owner: nats_wire_free.
 * Limits:  posts are bounded by who posts, messages by what was asked for, and by the news. */
#ifndef GALE_CONNECT_NATS_WIRE_H
#define GALE_CONNECT_NATS_WIRE_H

#include "connect/nats/news.h"
#include "connect/nats/post.h"
#include "connect/nats/settings.h"

/* Whatever is to be there before anything is sent, asked for on the wire's thread. GALE_AGAIN with words: it is tried again. May be called again
 * (nats_wire_look). */
typedef int nats_setup_fn(const void *user, natsConnection *nc, nats_about *about, gale_error *error);

typedef struct nats_wire nats_wire;

/* `given` and `user` live longer; without a setup nothing is asked for. NULL with a sentence. */
nats_wire *nats_wire_new(const nats_settings *given, nats_setup_fn *setup, const void *user, gale_error *error);

/* What is queued is sent, if there is a connection, and its end is waited for. */
void nats_wire_free(nats_wire *wire);

/* Rings when there is news. */
int nats_wire_bell(const nats_wire *wire);

/* What its inbox begins with, "_INBOX.abc."; without a wildcard. */
const char *nats_wire_inbox(const nats_wire *wire);

void nats_wire_connect(nats_wire *wire);               /* news: up, or down with words */
void nats_wire_look(nats_wire *wire);                  /* the setup is asked for once more; news: looked */
void nats_wire_lose(nats_wire *wire, const char *why); /* the connection is ended; news: down */
void nats_wire_post(nats_wire *wire, nats_post *post); /* takes it; it goes out with the next nats_wire_flush */
void nats_wire_flush(nats_wire *wire);
void nats_wire_clear(nats_wire *wire); /* posts that were not sent are dropped */
void nats_wire_deaf(nats_wire *wire);  /* before what is not sent yet: nothing comes any more */

/* All there is, into `news`, whose arrays are the wire's then; the bell is silent. Begins with a zero; nats_news_fini at the end. */
void nats_wire_hear(nats_wire *wire, nats_news *news);

#endif
