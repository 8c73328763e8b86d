#include "connect/postgres/once.h"

#include "connect/postgres/batch.h"
#include "connect/postgres/session.h"
#include "sink/sink.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER = 24 };

typedef struct pg_once {
    const pg_sink_settings *given;
    char id[SINK_ID_MAX];
    pg_session session;
    bool ready; /* its tables are made */
    pg_batch batch;
    uint64_t refused;        /* rows of this epoch */
    char first[PG_SAID_MAX]; /* why the first of them is */
    /* Statements. */
    sql_text make_markers, make_refused, begin_marker, lock_marker, write_marker, forget_marker, keep_refused;
} pg_once;

/* --- Statements --------------------------------------------------------------------------------------------------------- */

static void print(sql_text *to, const char *before, const char *name, const char *behind) {
    sql_text_print(to, "%s", before);
    pg_text_name(to, (gale_str){ name, strlen(name) });
    sql_text_print(to, "%s", behind);
    (void)sql_text_string(to);
}

static bool write_statements(pg_once *o) {
    const char *markers = o->given->markers, *refused = o->given->refused;
    print(&o->make_markers, "CREATE TABLE IF NOT EXISTS ", markers,
          " (id text, run numeric(20), epoch bigint NOT NULL, rows bigint NOT NULL, at timestamptz NOT NULL DEFAULT "
          "now(), "
          "PRIMARY KEY (id, run))");
    print(&o->begin_marker, "INSERT INTO ", markers,
          " (id, run, epoch, rows) VALUES ($1, $2, 0, 0) ON CONFLICT DO NOTHING");
    print(&o->lock_marker, "SELECT epoch, rows FROM ", markers, " WHERE id = $1 AND run = $2 FOR UPDATE");
    print(&o->write_marker, "UPDATE ", markers, " SET epoch = $3, rows = $4, at = now() WHERE id = $1 AND run = $2");
    print(&o->forget_marker, "DELETE FROM ", markers, " WHERE id = $1 AND run = $2");
    if (refused) {
        print(&o->make_refused, "CREATE TABLE IF NOT EXISTS ", refused,
              " (at timestamptz NOT NULL DEFAULT now(), target text NOT NULL, why text NOT NULL, line text NOT NULL)");
        print(&o->keep_refused, "INSERT INTO ", refused, " (target, why, line) VALUES ($1, $2, $3)");
    }
    return !o->make_markers.failed && !o->begin_marker.failed && !o->lock_marker.failed && !o->write_marker.failed &&
           !o->forget_marker.failed && !o->make_refused.failed && !o->keep_refused.failed;
}

/* --- It ----------------------------------------------------------------------------------------------------------------- */

void *pg_once_new(const void *given_, const char *id) {
    const pg_sink_settings *given = given_;
    pg_once *o = calloc(1, sizeof *o);
    if (!o) return NULL;
    o->given = given;
    o->session.given = &given->postgres;
    snprintf(o->id, sizeof o->id, "%s", id);
    if (write_statements(o)) return o;
    pg_once_free(o);
    return NULL;
}

void pg_once_free(void *once) {
    pg_once *o = once;
    if (!o) return;
    pg_session_end(&o->session);
    pg_batch_free(&o->batch);
    sql_text_free(&o->make_markers);
    sql_text_free(&o->make_refused);
    sql_text_free(&o->begin_marker);
    sql_text_free(&o->lock_marker);
    sql_text_free(&o->write_marker);
    sql_text_free(&o->forget_marker);
    sql_text_free(&o->keep_refused);
    free(o);
}

void pg_once_values(const pg_table *table, const sql_text *row, gale_value values[PG_ONCE_VALUES]) {
    values[0] = gale_i64((int64_t)table->shape);
    values[1] = gale_bytes(row->data, row->size);
}

/* --- What goes wrong ----------------------------------------------------------------------------------------------------- */

/* The next attempt has another connection: what this one began is then undone, or was done, and the marker says which. */
static void end_session(pg_once *o) {
    pg_session_end(&o->session);
    o->ready = false;
}

static int not_now(pg_once *o, gale_error *error) {
    end_session(o);
    return gale_error_set(error, GALE_AGAIN, "%s: %s", o->given->postgres.where, o->session.why);
}

static int refuse(pg_once *o, const char *why, gale_error *error) {
    end_session(o);
    return gale_error_set(error, GALE_COMPONENT,
                          "%s: a row is refused (a table in the property `refused` takes such): %s",
                          o->given->postgres.where, why);
}

/* Behind rows of the epoch: is one of them the cause? */
static int be_lost(pg_once *o, gale_epoch *epoch, gale_error *error) {
    if (!o->session.ended || gale_epoch_lost(epoch, o->session.why)) return not_now(o, error);
    end_session(o);
    return gale_error_set(error, GALE_COMPONENT, "%s: %s; its note in the table %s is not taken, either",
                          o->given->postgres.where, gale_epoch_culprit(epoch), o->given->refused);
}

/* A constraint that is checked at the end does not say of which row it is. */
static int be_declined(pg_once *o, gale_epoch *epoch, gale_error *error) {
    if (!o->session.refused) return be_lost(o, epoch, error);
    if (!o->given->refused || !gale_epoch_declined(epoch, o->session.why)) return refuse(o, o->session.why, error);
    return not_now(o, error);
}

/* --- An epoch ------------------------------------------------------------------------------------------------------------ */

/* Tables are asked for first: who may write to them need not be allowed to make them. */
static bool make_table(pg_once *o, const char *name, const sql_text *statement) {
    const char *const values[] = { name };
    PGresult *there = pg_session_ask(&o->session, "SELECT 1 WHERE to_regclass($1) IS NOT NULL", values, 1);
    bool missing = there && PQntuples(there) == 0;
    PQclear(there);
    return there && (!missing || pg_session_run(&o->session, statement->data, NULL, 0));
}

/* A lock that is not had is the end of an attempt before the wait for an answer is. */
static bool limit_locks(pg_once *o) {
    char statement[64];
    snprintf(statement, sizeof statement, "SET lock_timeout = %" PRId64, o->given->postgres.timeout / 2000000 + 1);
    return pg_session_run(&o->session, statement, NULL, 0);
}

static bool make_ready(pg_once *o) {
    const pg_table *table = &o->given->table;
    if (!pg_session_begin(&o->session)) return false;
    if (!o->ready)
        o->ready = limit_locks(o) && make_table(o, o->given->markers, &o->make_markers) &&
                   (!o->given->refused || make_table(o, o->given->refused, &o->make_refused)) &&
                   (!table->stage || pg_session_run(&o->session, table->stage, NULL, 0));
    return o->ready;
}

static bool begin(pg_once *o) {
    return make_ready(o) && pg_session_run(&o->session, "BEGIN", NULL, 0);
}

/* `*ret_left`: rows of the epoch are not there yet. False: why not. */
static bool lock_marker(pg_once *o, const char *const *marker, gale_epoch *epoch, bool *ret_left) {
    if (!pg_session_run(&o->session, o->begin_marker.data, marker, 2)) return false;
    PGresult *result = pg_session_ask(&o->session, o->lock_marker.data, marker, 2);
    bool is = result && PQntuples(result) == 1;
    if (is)
        *ret_left = gale_epoch_begin(epoch, strtoull(PQgetvalue(result, 0, 0), NULL, 10),
                                     strtoull(PQgetvalue(result, 0, 1), NULL, 10));
    if (result && !is) snprintf(o->session.why, sizeof o->session.why, "the marker of %s was deleted meanwhile", o->id);
    PQclear(result);
    return is;
}

static int load(pg_once *o, gale_epoch *epoch, gale_error *error) {
    const gale_value *values;
    size_t count;
    int rc;
    pg_batch_clear(&o->batch);
    while ((rc = gale_epoch_next(epoch, &values, &count)) > 0) {
        bool fits = count == PG_ONCE_VALUES && values[0].type == GALE_TYPE_I64 && values[1].type == GALE_TYPE_BYTES &&
                    (uint64_t)values[0].as.i64 == o->given->table.shape;
        if (!fits)
            return gale_error_set(
                error, GALE_DAMAGED,
                "%s: rows that the last run kept were made for other columns, keys, or another table than %s: "
                "it goes on when `table`, `fields`, `columns` and `key` are as they were",
                o->given->postgres.where, o->given->target);
        sql_text_add(&o->batch.text, values[1].as.bytes, values[1].size);
        if (o->batch.text.failed) {
            o->batch.text.failed = false;
            return GALE_NO_MEMORY;
        }
        rc = pg_batch_add(&o->batch, 0);
        if (rc < 0) return rc;
    }
    pg_batch_begin(&o->batch, 0);
    return rc;
}

static bool write_rows(pg_once *o, gale_str rows) {
    const pg_table *table = &o->given->table;
    if (!pg_session_copy(&o->session, table->copy, rows)) return false;
    return !table->merge || (pg_session_run(&o->session, table->merge, NULL, 0) &&
                             pg_session_run(&o->session, "DELETE FROM gale_batch", NULL, 0));
}

static bool keep_refused(pg_once *o, gale_epoch *epoch, size_t index, const char *why) {
    gale_str row = pg_batch_row_text(&o->batch, index);
    gale_str line = gale_epoch_note(epoch, row.data, row.size - 1);
    const char *const values[] = { o->given->target, why, line.data };
    if (!o->refused++) snprintf(o->first, sizeof o->first, "%s", why);
    if (line.data) return pg_session_run(&o->session, o->keep_refused.data, values, 3);
    snprintf(o->session.why, sizeof o->session.why, "out of memory");
    return false;
}

/* With a place to return to, where a row may be refused and the others not. */
static bool write_part(pg_once *o, gale_epoch *epoch, gale_str rows) {
    size_t first, count, index;
    if (!pg_session_run(&o->session, "SAVEPOINT part", NULL, 0)) return false;
    if (write_rows(o, rows)) {
        pg_batch_taken(&o->batch, &first, &count);
        return pg_session_run(&o->session, "RELEASE SAVEPOINT part", NULL, 0);
    }
    if (!o->session.refused) return false;
    char why[PG_SAID_MAX];
    snprintf(why, sizeof why, "%s", o->session.why);
    if (!pg_session_run(&o->session, "ROLLBACK TO SAVEPOINT part", NULL, 0)) return false;
    return !pg_batch_refused(&o->batch, &index) || keep_refused(o, epoch, index, why);
}

static bool write_all(pg_once *o, gale_epoch *epoch) {
    gale_str rows;
    size_t first, count;
    if (gale_epoch_culprit(epoch)) return keep_refused(o, epoch, 0, gale_epoch_culprit(epoch));
    if (!o->given->refused) {
        if (!pg_batch_part(&o->batch, &rows) || !write_rows(o, rows)) return false;
        pg_batch_taken(&o->batch, &first, &count);
        return true;
    }
    while (pg_batch_part(&o->batch, &rows))
        if (!write_part(o, epoch, rows)) return false;
    return true;
}

static bool forget_marker(pg_once *o, const gale_epoch *epoch) {
    char run[NUMBER];
    const char *const marker[] = { o->id, run };
    snprintf(run, sizeof run, "%" PRIu64, gale_epoch_forgets(epoch));
    return !gale_epoch_forgets(epoch) || pg_session_run(&o->session, o->forget_marker.data, marker, 2);
}

static void log_refused(const pg_once *o, gale_epoch *epoch) {
    char place[GALE_FAILURE_TEXT];
    snprintf(place, sizeof place, "the table %s", o->given->refused ? o->given->refused : "");
    gale_epoch_refused(epoch, o->refused, place, o->first);
}

static int write_epoch(pg_once *o, gale_epoch *epoch, const char *const *marker, gale_error *error) {
    if (gale_epoch_culprit(epoch) && !o->given->refused) return refuse(o, gale_epoch_culprit(epoch), error);
    int rc = load(o, epoch, error);
    o->refused = 0;
    if (rc < 0) return rc;
    if (!write_all(o, epoch)) return o->session.refused ? refuse(o, o->session.why, error) : be_lost(o, epoch, error);
    if (!pg_session_run(&o->session, o->write_marker.data, marker, 4) || !forget_marker(o, epoch))
        return be_lost(o, epoch, error);
    if (!pg_session_run(&o->session, "COMMIT", NULL, 0)) return be_declined(o, epoch, error);
    log_refused(o, epoch);
    return 0;
}

int pg_once_commit(void *once, gale_epoch *epoch, gale_error *error) {
    pg_once *o = once;
    char run[NUMBER], number[NUMBER], rows[NUMBER];
    const char *const marker[] = { o->id, run, number, rows };
    bool left = false;
    snprintf(run, sizeof run, "%" PRIu64, gale_epoch_run(epoch));
    snprintf(number, sizeof number, "%" PRIu64, gale_epoch_number(epoch));
    if (!begin(o) || !lock_marker(o, marker, epoch, &left)) return not_now(o, error);
    if (!left) return pg_session_run(&o->session, "ROLLBACK", NULL, 0) ? 0 : not_now(o, error);
    snprintf(rows, sizeof rows, "%" PRIu64, gale_epoch_rows(epoch));
    int rc = write_epoch(o, epoch, marker, error);
    if (rc < 0) end_session(o);
    return rc;
}

int pg_once_look(void *once, gale_error *error) {
    pg_once *o = once;
    return make_ready(o) ? 0 : not_now(o, error);
}
