/* Which changes were taken, which of them are answered, and up to where in its log the server may be told so.
 *
 *      transactions, in the order of their commits:
 *
 *      | answered, told | answered | rows open | whole | taken in part | the server has more
 *                       ^confirmed              ^taken  ^`part` rows of it
 *
 * What:    each row has a place, 1, 2, 3 ...; each transaction with rows notes the last of them and where it ends in the log. A connection that is made again
 *          sends what was not confirmed once more: whole transactions that were taken are passed over, and of one that was taken in part its first rows.
 *          In a durable run no more is confirmed than a checkpoint that lasts has taken: what goes on from it is not missed.
 * Threads: the task's. Owner: pg_places_close. */
#ifndef GALE_CONNECT_POSTGRES_PLACES_H
#define GALE_CONNECT_POSTGRES_PLACES_H

#include <gale/connect.h>

enum { PG_PLACES_SAVES = 32 };

/* A transaction with open rows. */
typedef struct pg_transaction {
    int64_t last; /* its last row */
    uint64_t end;
} pg_transaction;

typedef struct pg_places {
    gale_positions *positions;
    int64_t next;         /* of the next row */
    pg_transaction *list; /* [first, count) */
    size_t first, count, room;
    uint64_t commit, end;     /* of the last whole one that was taken; end: or what the server said of its log since */
    uint64_t open, open_rows; /* its commit, and how many of its rows were taken; 0: none is taken in part */
    uint64_t answered;        /* up to there all is */
    bool durable;
    uint64_t lasting; /* durable: up to there a checkpoint has taken all */
    struct {
        uint64_t checkpoint, end;
    } saves[PG_PLACES_SAVES];
    size_t save_count;
} pg_places;

int pg_places_open(pg_places *places, const gale_context *context);
void pg_places_close(pg_places *places);

/* A transaction begins: how many of its rows were taken already; UINT64_MAX: all. */
uint64_t pg_places_begin(pg_places *places, uint64_t commit);

/* Its next row is about to be taken: it is begun. GALE_NO_MEMORY. Then pg_places_taken, when it was; or pg_places_done, when it is to be nobody's. */
int pg_places_row(pg_places *places, int64_t *ret_place);
void pg_places_taken(pg_places *places);

/* All of it was taken. GALE_NO_MEMORY: as though it were not; to be called again. */
int pg_places_end(pg_places *places, uint64_t commit, uint64_t end);

/* The server has nothing up to there that was not taken. Not between begin and end. */
void pg_places_idle(pg_places *places, uint64_t end);

/* A row is answered. */
void pg_places_done(pg_places *places, int64_t place);

/* No row is open. */
bool pg_places_are_done(const pg_places *places);

/* Up to there it may be told; 0: nothing. */
uint64_t pg_places_confirmed(const pg_places *places);

/* Checkpoints; of the rows themselves an intake. pg_places_restore: GALE_DAMAGED. */
int pg_places_save(pg_places *places, gale_saver *to);
int pg_places_restore(pg_places *places, gale_saved *from);
void pg_places_committed(pg_places *places, uint64_t checkpoint);

/* A row that an intake has again, in their order; behind the last of them pg_places_restored. */
void pg_places_again(pg_places *places, int64_t place);
void pg_places_restored(pg_places *places);

#endif
