/* Rows that go out together, and what of them is to be sent next: all that is left, or less of it while the server refuses some.
 *
 *      all --refused--> the first half --refused--> its first half ... one row --refused--> that row is what it refuses
 *       ^                    '---taken---> what comes next, twice as much ------------------------'
 *
 * Owner: pg_batch_free. */
#ifndef GALE_CONNECT_POSTGRES_BATCH_H
#define GALE_CONNECT_POSTGRES_BATCH_H

#include "connect/postgres/text.h"

typedef struct pg_batch_row {
    size_t end; /* of its text */
    uint64_t id;
} pg_batch_row;

typedef struct pg_batch {
    sql_text text;
    pg_batch_row *rows;
    size_t count, room;
    size_t next, part; /* rows [next, next + part) are to be sent */
    size_t most;       /* of a part; 0: all */
} pg_batch;

void pg_batch_free(pg_batch *batch);

/* No rows; its memory stays. */
void pg_batch_clear(pg_batch *batch);

/* What was appended to its text since the last row is a row. GALE_NO_MEMORY: it is not, and the text is gone. */
int pg_batch_add(pg_batch *batch, uint64_t id);

/* All of it is to be sent next, or its first `most` rows. */
void pg_batch_begin(pg_batch *batch, size_t most);

/* What is to be sent next. False: nothing is left. */
bool pg_batch_part(const pg_batch *batch, gale_str *ret_text);

/* That was taken; `count` rows from `first` on. */
void pg_batch_taken(pg_batch *batch, size_t *ret_first, size_t *ret_count);

/* That was refused. True: it was one row, `*ret_index`, and what comes behind it is next; false: less of it is. */
bool pg_batch_refused(pg_batch *batch, size_t *ret_index);

/* The text of a row. */
gale_str pg_batch_row_text(const pg_batch *batch, size_t index);

#endif
