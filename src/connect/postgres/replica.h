/* Changes of a database, as they are committed: logical replication of a publication through a slot.
 *
 *      away --up--> looks --no publication--> publishes --.
 *                   |  ^----------------------------------'
 *                   |--no slot, no snapshot wanted--> makes the slot ----------------------------.
 *                   |--no slot--> makes a temporary one --> reads its snapshot --> keeps a copy --|
 *                   '--the slot is there--------------------------------------------> starts <---'
 *                                                                                        '--> streams
 *      lost, refused: away, and from there again; a snapshot that is read in part begins anew
 *
 * What:    the slot has the changes since the last one that was confirmed. It is made behind the snapshot, as a copy of the temporary one that the snapshot was made
 *          by: that the slot is there says that all rows of the snapshot were answered.
 * Threads: the task's. Owner: pg_replica_close. */
#ifndef GALE_CONNECT_POSTGRES_REPLICA_H
#define GALE_CONNECT_POSTGRES_REPLICA_H

#include "connect/postgres/places.h"
#include "connect/postgres/snapshot.h"

typedef enum pg_replica_stage {
    PG_REPLICA_AWAY,
    PG_REPLICA_LOOKS,
    PG_REPLICA_PUBLISHES,
    PG_REPLICA_MAKES,
    PG_REPLICA_READS,
    PG_REPLICA_KEEPS,
    PG_REPLICA_STARTS,
    PG_REPLICA_STREAMS,
} pg_replica_stage;

typedef struct pg_replica {
    pg_link link;
    const pg_spout_settings *given;
    const gale_context *context;
    gale_collector *out;
    pg_places places;
    pg_replica_stage stage;
    pg_replica_stage after; /* where the answer to what was asked leads */
    bool asked_wrong;       /* and it was refused, for `why` */
    char why[PG_SAID_MAX];
    pg_snapshot snapshot;
    bool has_snapshot; /* it is open */
    bool goes_on;      /* the run goes on from a checkpoint of a stream: the slot must be there */
    bool over;         /* it can do nothing any more, and has stopped the run */
    pg_output output;
    char *message; /* libpq's, that `change` lies in; NULL: none */
    pg_change change;
    size_t truncated;      /* how many tables of a truncation were taken */
    uint64_t commit, skip; /* of the transaction: its commit, and how many rows are to be passed over */
    int64_t time;
    uint32_t xid;
    uint64_t told; /* to the server */
    gale_watch timer;
} pg_replica;

int pg_replica_open(pg_replica *replica, const pg_spout_settings *given, const gale_context *context,
                    gale_collector *out, gale_error *error);
void pg_replica_close(pg_replica *replica);

/* The next event and its place, which is begun: true; it stays next until pg_replica_pass. False: none is there now. */
bool pg_replica_next(pg_replica *replica, pg_event *ret_event, int64_t *ret_place);
void pg_replica_pass(pg_replica *replica);

/* Who takes the events is full, or is not. */
void pg_replica_pause(pg_replica *replica, bool paused);

/* A row is answered. */
void pg_replica_answer(pg_replica *replica, int64_t place);

int pg_replica_save(pg_replica *replica, gale_saver *to);
int pg_replica_restore(pg_replica *replica, gale_saved *from);

#endif
