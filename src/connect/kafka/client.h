/* A client of librdkafka in a task: its threads are hidden behind one descriptor, what it logs and how it is are passed on.
 *
 *      its threads --> queue --(first of some)--> bell --watch--> the task looks into the queue
 *
 * What:    `bell` is rung when something comes into the empty queue, and not before it was empty again: who is told takes all that
 *          is there.
 * Health:  librdkafka says when credentials are refused, often when it has no broker, and never when that is over: its statistics of every second
 *          are looked at for a broker that is up.
 * Threads: the task's. Owner: kafka_client_close ends it. */
#ifndef GALE_CONNECT_KAFKA_CLIENT_H
#define GALE_CONNECT_KAFKA_CLIENT_H

#include "connect/kafka/settings.h"

#include <gale/watch.h>

typedef struct kafka_client kafka_client;
typedef void kafka_statistics_fn(kafka_client *client, const char *json);

struct kafka_client {
    const kafka_settings *given;
    const gale_context *context;
    gale_collector *out;
    rd_kafka_t *rk;
    rd_kafka_queue_t *queue;
    int bell; /* an eventfd; -1: none */
    gale_watch watch;
    bool unwell;                     /* as it has told */
    bool busy;                       /* it has something to ask of a broker */
    bool quiet;                      /* what librdkafka says of settings that are of no use to it is not logged */
    bool over;                       /* it can do nothing any more */
    char last[GALE_FAILURE_TEXT];    /* what librdkafka said last of a connection that did not come about */
    kafka_statistics_fn *statistics; /* is given them, too; NULL, unless it is set */
};

/* Before kafka_client_open. The client is the opaque of all of librdkafka's callbacks: whoever has more of them begins with it. */
void kafka_client_init(kafka_client *client, const kafka_settings *given, const gale_context *context,
                       gale_collector *out);

/* Makes it of a configuration, which it takes in any case. `call` is told by the bell, also while the task may not run when `always`.
 * GALE_INVALID, GALE_IO with a sentence; kafka_client_close is to be called then, too. */
int kafka_client_open(kafka_client *client, rd_kafka_type_t type, rd_kafka_conf_t *conf, gale_watch_fn *call,
                      bool always, gale_error *error);

/* The bell has rung: it is silent from then on. First thing in `call`. */
void kafka_client_heard(kafka_client *client);

/* Says that it is not well: `about` (a topic; NULL: nothing) and why. */
void kafka_client_unwell(kafka_client *client, const char *about, const char *why);
void kafka_client_well(kafka_client *client);

void kafka_client_close(kafka_client *client);

#endif
