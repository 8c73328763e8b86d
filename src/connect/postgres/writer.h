/* Batches of rows to a table, at least once, one after the other on one connection of a task:
 *
 *      rows --> filling --it is full, or old, and nothing is out--> out: "COPY ...; INSERT ..." in one transaction --taken--> acked
 *                                                                    ^--- lost, refused: again, the whole or a part ---'
 *
 * What:    while a batch is out the next one fills: the slower the server, the larger it is. Order is kept. A batch that the server refuses for a row in it is
 *          sent in halves until it is known which: that row alone is told to `refused`.
 * Threads: the task's. Owner: pg_writer_close ends it. */
#ifndef GALE_CONNECT_POSTGRES_WRITER_H
#define GALE_CONNECT_POSTGRES_WRITER_H

#include "connect/postgres/batch.h"
#include "connect/postgres/link.h"
#include "connect/postgres/sink_settings.h"

/* What becomes of rows, by their ids. */
typedef struct pg_writer_ops {
    void (*taken)(void *user, uint64_t id);
    void (*refused)(void *user, uint64_t id, const char *why);
    /* gale_dispatch_sent and _lost: a row that ends each connection is found by halves, as one that the server refuses. */
    void (*sent)(void *user, uint64_t id);
    uint64_t (*lost)(void *user, bool counts, const char *why);
} pg_writer_ops;

typedef enum pg_writer_state {
    PG_WRITER_AWAY,    /* there is no connection */
    PG_WRITER_STAGING, /* the temporary table is made */
    PG_WRITER_IDLE,
    PG_WRITER_ASKED,  /* it was asked to copy */
    PG_WRITER_COPIED, /* the rows are out */
} pg_writer_state;

typedef struct pg_writer {
    pg_link link;
    const pg_sink_settings *given;
    const pg_writer_ops *ops;
    void *user;
    pg_writer_state state;
    pg_batch filling, out;
    uint64_t number;      /* of the next row */
    int64_t since;        /* the first row of `filling` came; 0: there is none */
    bool failed, refused; /* what the server has said of what is out: it goes again, or a row of it is refused */
    char why[PG_SAID_MAX];
    char *query; /* COPY, and what comes behind it */
    gale_watch timer;
} pg_writer;

int pg_writer_open(pg_writer *writer, const pg_sink_settings *given, const gale_context *context, gale_collector *out,
                   const pg_writer_ops *ops, void *user, gale_error *error);
void pg_writer_close(pg_writer *writer);

/* Takes the row of a tuple; `*ret_size` is its size. `hold` is called when it can be taken, and says its id, or an error, which is returned then. GALE_INVALID with a
 * sentence in `why`, GALE_NO_MEMORY: it is not taken. */
typedef int pg_writer_hold_fn(void *user, const gale_tuple *tuple, size_t size, uint64_t *ret_id);
int pg_writer_take(pg_writer *writer, const gale_tuple *tuple, pg_writer_hold_fn *hold, char *why, size_t size);

/* Rows that wait for others go as soon as nothing is out, though `linger` has not passed. */
void pg_writer_hurry(pg_writer *writer);

/* At the end: no row waits for others, and news are waited for, so many milliseconds at the most. */
void pg_writer_drive(pg_writer *writer, int milliseconds);

#endif
