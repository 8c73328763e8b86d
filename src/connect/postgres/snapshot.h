/* The rows that were there before the changes begin: all tables of a publication, as one snapshot has them.
 *
 *      off --up--> lists the tables --> reads one after the other, row by row --> over
 *                        '---------------- lost, refused --> lost: another snapshot is needed
 *
 * Threads: the task's. Owner: pg_snapshot_close. */
#ifndef GALE_CONNECT_POSTGRES_SNAPSHOT_H
#define GALE_CONNECT_POSTGRES_SNAPSHOT_H

#include "connect/postgres/link.h"
#include "connect/postgres/spout_settings.h"

typedef struct pg_snapshot {
    pg_link link;
    const pg_spout_settings *given;
    char name[80];
    PGresult *tables; /* schema, name, columns, filter, is it divided */
    int table;        /* that is read; -1: they are listed */
    PGresult *row;    /* that waits to be taken */
    pg_relation relation;
    pg_cell *cells;
    size_t room; /* of attributes and cells */
    bool over, lost;
    char why[PG_SAID_MAX]; /* lost: why */
} pg_snapshot;

/* `name`: as the server has exported it. */
int pg_snapshot_open(pg_snapshot *snapshot, const pg_spout_settings *given, const char *name,
                     const gale_context *context, gale_collector *out, gale_error *error);
void pg_snapshot_close(pg_snapshot *snapshot);

/* The row that is next: true; false: none is there now, or it is over, or lost. It stays next until pg_snapshot_pass. */
bool pg_snapshot_next(pg_snapshot *snapshot, pg_event *ret_event);
void pg_snapshot_pass(pg_snapshot *snapshot);

#endif
