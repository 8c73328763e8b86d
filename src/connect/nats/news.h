/* What a wire has to tell its task: messages, and how the connection is.
 * Threads: whose has it. Owner: nats_news_fini.
 * Limits:  from NATS_NEWS_MAX messages or NATS_NEWS_BYTES on what comes is dropped, counted, and comes again from the server. */
#ifndef GALE_CONNECT_NATS_NEWS_H
#define GALE_CONNECT_NATS_NEWS_H

#include <nats/nats.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NATS_NEWS_MAX = 1 << 20, NATS_NEWS_BYTES = 256 << 20, NATS_WORDS = 400 };

/* What a setup found; whose it is says what it means. */
typedef struct nats_about {
    int64_t stream_made; /* when, in nanoseconds since 1970 */
    int64_t ack_wait;    /* ns */
    int64_t max_ack_pending;
    int64_t acked_to; /* all up to this sequence has its answer */
    int64_t pending, ack_pending;
} nats_about;

/* A message that could not be sent, whatever one tries. */
typedef struct nats_refusal {
    uint64_t id;
    natsStatus status;
} nats_refusal;

typedef struct nats_news {
    natsMsg **messages; /* the reader destroys them */
    size_t count, capacity, bytes;
    nats_refusal *refusals;
    size_t refusal_count, refusal_capacity;
    nats_about about;       /* of the last setup */
    bool up, looked;        /* a setup is done */
    bool nobody;            /* something was sent that nobody there takes */
    bool down, lame;        /* a connection is lost, or did not come about; or its server says that it ends soon */
    bool hung_up;           /* of down: the server hung up; else it is silent */
    uint64_t dropped;       /* messages, since the last news */
    char words[NATS_WORDS]; /* of down */
} nats_news;

void nats_news_fini(nats_news *news);

/* Takes it. */
void nats_news_message(nats_news *news, natsMsg *msg);

/* Without memory it stays without an answer, and is sent again when that is late. */
void nats_news_refusal(nats_news *news, uint64_t id, natsStatus status);

/* All there is goes to `to`, whose arrays change places with it, so that neither is made anew. */
void nats_news_move(nats_news *news, nats_news *to);

/* cnats' own words begin with where it was, "(conn.c:1905): ", which is left out. */
void nats_words_set(char to[NATS_WORDS], const char *words);

#endif
