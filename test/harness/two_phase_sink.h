/* A sink that writes to a database in two phases, as one for a broker or a database would: what it is given between two
 * checkpoints is a transaction, prepared by its pledge, committed when the checkpoint lasts, and settled by `restore` when a
 * crash came between. The database outlives runs; its calls fail when a test says so.
 * Threads: the database any; the sink its task's. Owner: the test; the database lives longer than every sink. */
#ifndef GALE_TEST_TWO_PHASE_SINK_H
#define GALE_TEST_TWO_PHASE_SINK_H

#include <gale/state.h>
#include <pthread.h>

enum { DATABASE_ROWS = 10000 };

typedef enum database_step {
    DATABASE_NEVER,
    DATABASE_BEFORE_PREPARE, /* the call fails, and has done nothing */
    DATABASE_AFTER_PREPARE,  /* it has done it, and its answer was lost */
    DATABASE_BEFORE_COMMIT,
    DATABASE_AFTER_COMMIT,
    DATABASE_STEPS,
} database_step;

typedef struct database_transaction {
    struct database_transaction *next;
    uint64_t id;
    uint32_t owner; /* the task */
    bool prepared, committed;
    size_t count, capacity;
    int64_t *rows;
} database_transaction;

typedef struct database {
    pthread_mutex_t mutex;
    database_transaction *all; /* prepared and committed ones */
    uint64_t last_id;
    uint32_t rows[DATABASE_ROWS]; /* how often each number was committed */
    database_step fails;          /* where the next failure is... */
    uint64_t after;               /* ...after so many such calls */
    uint64_t failures;
    uint64_t prepares, commits, recovered, undone; /* the last two: by restores */
} database;

void database_init(database *db);
void database_fini(database *db);

/* The `after`-th such call from now on fails, once. */
void database_fail(database *db, database_step step, uint64_t after);

/* Prepared, and neither committed nor undone. */
uint64_t database_in_doubt(database *db);

/* A bolt that writes the first value of its tuples, a number below DATABASE_ROWS, to `db`. */
gale_bolt two_phase_sink(database *db);

#endif
