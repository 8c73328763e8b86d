/* What a publication's changes look like on the wire: PostgreSQL's plugin pgoutput, version 1 of its protocol ("Logical Replication Message Formats").
 *
 *      Begin --> (Relation, Type, Insert, Update, Delete, Truncate, Origin, Message)* --> Commit
 *
 * What:    one message at a time. A relation is described before its first change, and again when it has changed: what was said last counts.
 * Trust:   none: each length is checked against the message. What is not as it should be is an error in words, and the stream is to end.
 * Owner:   pg_output_free. Texts of a change lie in the message. */
#ifndef GALE_CONNECT_POSTGRES_PGOUTPUT_H
#define GALE_CONNECT_POSTGRES_PGOUTPUT_H

#include <gale/error.h>
#include <stdbool.h>

enum { PG_RELATIONS_MAX = 10000, PG_CELLS_MAX = 1664 };

typedef struct pg_attribute {
    char *name;
    uint32_t type;    /* of pg_type */
    bool is_identity; /* it is of the columns that name a row: the key's, or all (REPLICA IDENTITY FULL) */
} pg_attribute;

typedef struct pg_relation {
    uint32_t id;
    char *schema, *name;
    pg_attribute *attributes;
    size_t count;
} pg_relation;

/* The value of a column: `text` with a NUL behind it, which may be written over; NULL: null. `is_unsent`: the server
 * does not say it, as it is large and unchanged, or not of the identity of the row that was there before. */
typedef struct pg_cell {
    char *text;
    size_t size;
    bool is_unsent;
} pg_cell;

typedef enum pg_change_kind {
    PG_CHANGE_NONE, /* nothing that anybody wants to know */
    PG_CHANGE_BEGIN,
    PG_CHANGE_COMMIT,
    PG_CHANGE_INSERT,
    PG_CHANGE_UPDATE,
    PG_CHANGE_DELETE,
    PG_CHANGE_TRUNCATE,
} pg_change_kind;

/* Borrowed until the next message is read. */
typedef struct pg_change {
    pg_change_kind kind;
    uint64_t lsn;                  /* Begin: of the commit; Commit: the end of the transaction */
    int64_t time;                  /* Begin: of the commit, milliseconds since 1970 */
    uint32_t xid;                  /* Begin */
    const pg_relation *relation;   /* Insert, Update, Delete */
    const pg_cell *now, *before;   /* as many as the relation's attributes; NULL: not told */
    const pg_relation **truncated; /* Truncate */
    size_t truncated_count;
} pg_change;

typedef struct pg_output {
    pg_relation *relations;
    size_t count, room;
    pg_cell *cells; /* of two rows */
    const pg_relation **truncated;
} pg_output;

/* GALE_NO_MEMORY. */
int pg_output_init(pg_output *output);
void pg_output_free(pg_output *output);

/* Forgets all relations: another stream begins. */
void pg_output_begin(pg_output *output);

/* Reads a message, behind which a NUL stands. GALE_DAMAGED with a sentence; GALE_TOO_LARGE; GALE_NO_MEMORY. */
int pg_output_read(pg_output *output, char *message, size_t size, pg_change *ret_change, gale_error *error);

#endif
