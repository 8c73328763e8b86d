/* Batches of rows to a file, at least once, one after the other by a thread of the task's own:
 *
 *      rows --> filling --it is full, or old, and nothing is out--> out: one transaction --taken--> acked
 *                                                                    ^--- not now: again, after a pause ---'
 *
 * What:    while a batch is out the next one fills: the slower the disk, the larger it is. Order is kept. A row that is refused is told to `refused`, and the others go in.
 * Health:  from the first "not now" on the task is not well, in words, until a batch is in.
 * Threads: the task's. Owner: lite_writer_close ends it. */
#ifndef GALE_CONNECT_SQLITE_WRITER_H
#define GALE_CONNECT_SQLITE_WRITER_H

#include "connect/sqlite/hand.h"
#include "connect/sqlite/sink_settings.h"
#include "connect/sqlite/write.h"

#include <gale/connect.h>

/* What becomes of rows, by their ids. */
typedef struct lite_writer_ops {
    void (*taken)(void *user, uint64_t id);
    void (*refused)(void *user, uint64_t id, const char *why);
} lite_writer_ops;

typedef struct lite_writer {
    const lite_sink_settings *given;
    const gale_context *context;
    gale_collector *out_to;
    const lite_writer_ops *ops;
    void *user;
    lite_hand hand;
    lite_rows filling;
    lite_rows out;    /* the hand's, while it is not free */
    lite_write write; /* the hand's */
    bool failed;      /* the hand's, and what it tells: not now */
    int64_t since;    /* the first row of `filling` came */
    int64_t again;    /* not before then; 0: at once */
    bool looks;       /* whether rows could be written, before there are some */
    bool unwell, drains;
    gale_backoff backoff;
    gale_watch timer;
} lite_writer;

int lite_writer_open(lite_writer *writer, const lite_sink_settings *given, const gale_context *context,
                     gale_collector *out, const lite_writer_ops *ops, void *user, gale_error *error);
void lite_writer_close(lite_writer *writer);

/* Takes a row. `hold` is called when it can be taken, and says its id, or an error, which is returned then. GALE_NO_MEMORY: it is not taken. */
typedef int lite_writer_hold_fn(void *user, size_t size, uint64_t *ret_id);
int lite_writer_take(lite_writer *writer, const gale_value *values, lite_writer_hold_fn *hold, void *hold_user);

/* Rows that wait for others go as soon as nothing is written, though `linger` has not passed. */
void lite_writer_hurry(lite_writer *writer);

/* At the end: no row waits for others. */
void lite_writer_drain(lite_writer *writer);

/* What is not in by now is refused, for this; it takes no rows any more. */
void lite_writer_give_up(lite_writer *writer, const char *why);

#endif
