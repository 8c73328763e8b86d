/* A connection to a server in a task: made, kept, made again when it is lost, and never waited for.
 *
 *      off --its time--> connecting --made--> up --lost, silent, failed--> off, for a pause that grows
 *                             '------- refused ----------------------------^
 *
 * What:    who has one is told when it is up, when something has come (and asks libpq for it), and when it is lost. What is expected and does
 *          not come within the settings' timeout is a loss: a server may hang.
 * Health:  from the first loss on the task is not well, in words, until pg_link_well.
 * Blocks:  to find a host by its name is all that libpq waits for.
 * Threads: the task's. Owner: pg_link_close ends it. */
#ifndef GALE_CONNECT_POSTGRES_LINK_H
#define GALE_CONNECT_POSTGRES_LINK_H

#include "connect/postgres/said.h"
#include "connect/postgres/settings.h"

#include <gale/connect.h>
#include <gale/watch.h>

typedef struct pg_link pg_link;

/* `lost` may be NULL. In all of them pg_link_fail may be called. */
typedef struct pg_link_ops {
    void (*up)(void *user);
    void (*heard)(void *user);
    void (*lost)(void *user);
} pg_link_ops;

typedef enum pg_link_state { PG_OFF, PG_CONNECTING, PG_UP } pg_link_state;

struct pg_link {
    const pg_settings *given;
    const gale_context *context;
    gale_collector *out;
    const pg_link_ops *ops;
    void *user;
    bool replicates, always, expects, paused;
    PGconn *conn; /* NULL: it is off */
    pg_link_state state;
    int32_t events; /* those of the socket's watch */
    int64_t at;     /* off: connects; else: what is expected is late; 0: nothing is */
    gale_watch socket, timer;
    gale_backoff backoff;
    bool unwell;
    bool ended; /* the last loss: the server hung up, without a word; else it is silent, or says why */
    char why[GALE_FAILURE_TEXT];
};

/* `always`: its watches are told also while the task may not run. What gale_watch_new says, with a report. */
int pg_link_open(pg_link *link, const pg_settings *given, bool replicates, bool always, const gale_context *context,
                 gale_collector *out, const pg_link_ops *ops, void *user, gale_error *error);
void pg_link_close(pg_link *link);

/* Sends what libpq has not sent yet, as far as it goes; the rest when the socket takes it. */
void pg_link_flush(pg_link *link);

/* Something is expected from now on, or (false) nothing is. */
void pg_link_expect(pg_link *link, bool something);

/* Nothing is read meanwhile: who has it is full. Nothing is late then either. */
void pg_link_pause(pg_link *link, bool paused);

/* It is given up, for this, and made again after a pause. */
void pg_link_fail(pg_link *link, const char *why);

/* It does what it is for: pauses begin anew. */
void pg_link_well(pg_link *link);

/* It is up, and cannot do what it is for. */
void pg_link_unwell(pg_link *link, const char *why);

/* For `finish`, where no watch is told: waits for news, at most so many milliseconds, and tells of it. */
void pg_link_drive(pg_link *link, int milliseconds);

#endif
