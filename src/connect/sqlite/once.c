#include "connect/sqlite/once.h"

#include "connect/sqlite/write.h"
#include "sink/sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE                                                                                                       \
    (GALE_SECOND) /* what is locked for longer is asked for again: an end of the run does not wait for it */

enum { MARKER = 2 }; /* columns of a marker that are asked for */

typedef struct lite_once {
    const lite_sink_settings *given;
    char id[SINK_ID_MAX];
    lite_write write;
    sql_text row;             /* one that is refused, as JSON */
    uint64_t refused;         /* rows of this epoch */
    char first[LITE_WHY_MAX]; /* why the first of them is */
    /* Statements. */
    sql_text make, read_marker, write_marker, forget_marker, keep_refused;
} lite_once;

/* --- Statements --------------------------------------------------------------------------------------------------------- */

static void print(sql_text *to, const char *before, const char *name, const char *behind) {
    sql_text_print(to, "%s", before);
    lite_text_defined(to, (gale_str){ name, strlen(name) });
    sql_text_print(to, "%s", behind);
}

static bool write_statements(lite_once *o) {
    const char *markers = o->given->markers, *refused = o->given->refused;
    print(&o->make, "CREATE TABLE IF NOT EXISTS ", markers,
          " (id TEXT NOT NULL, run INTEGER NOT NULL, epoch INTEGER NOT NULL, rows INTEGER NOT NULL, at REAL NOT NULL, "
          "PRIMARY KEY (id, run))");
    print(&o->read_marker, "SELECT epoch, rows FROM ", markers, " WHERE id = ?1 AND run = ?2");
    print(&o->write_marker, "INSERT OR REPLACE INTO ", markers,
          " (id, run, epoch, rows, at) VALUES (?1, ?2, ?3, ?4, (julianday('now') - 2440587.5) * 86400)");
    print(&o->forget_marker, "DELETE FROM ", markers, " WHERE id = ?1 AND run = ?2");
    if (refused) {
        print(&o->make, "; CREATE TABLE IF NOT EXISTS ", refused,
              " (at REAL NOT NULL, target TEXT NOT NULL, why TEXT NOT NULL, line TEXT NOT NULL)");
        print(&o->keep_refused, "INSERT INTO ", refused,
              " (at, target, why, line) VALUES ((julianday('now') - 2440587.5) * 86400, ?1, ?2, ?3)");
        if (!sql_text_string(&o->keep_refused)) return false;
    }
    return sql_text_string(&o->make) && sql_text_string(&o->read_marker) && sql_text_string(&o->write_marker) &&
           sql_text_string(&o->forget_marker);
}

/* --- It ----------------------------------------------------------------------------------------------------------------- */

void *lite_once_new(const void *given_, const char *id) {
    const lite_sink_settings *given = given_;
    lite_once *o = calloc(1, sizeof *o);
    if (!o) return NULL;
    o->given = given;
    o->write.table = &given->table;
    o->write.base.given = &given->sqlite;
    o->write.base.creates = given->creates;
    o->write.base.patience = PATIENCE;
    snprintf(o->id, sizeof o->id, "%s", id);
    if (write_statements(o)) return o;
    lite_once_free(o);
    return NULL;
}

void lite_once_free(void *once) {
    lite_once *o = once;
    if (!o) return;
    lite_write_end(&o->write);
    sql_text_free(&o->row);
    sql_text_free(&o->make);
    sql_text_free(&o->read_marker);
    sql_text_free(&o->write_marker);
    sql_text_free(&o->forget_marker);
    sql_text_free(&o->keep_refused);
    free(o);
}

/* --- What goes wrong ----------------------------------------------------------------------------------------------------- */

/* The next attempt begins anew: what this one began is undone. */
static int not_now(lite_once *o, gale_error *error) {
    lite_write_end(&o->write);
    return gale_error_set(error, GALE_AGAIN, "%s: %s", o->given->sqlite.where, o->write.base.why);
}

static int refuse(lite_once *o, gale_error *error) {
    lite_write_end(&o->write);
    return gale_error_set(error, GALE_COMPONENT,
                          "%s: a row is refused (a table in the property `refused` takes such): %s",
                          o->given->sqlite.where, o->write.base.why);
}

/* --- Statements of its own ------------------------------------------------------------------------------------------------ */

/* Runs one with these values; `ret_marker` (may be NULL) is the epoch and the rows of a marker, where there is one. False: `why`. */
static bool ask(lite_once *o, const char *text, const gale_value *values, int count, int64_t *ret_marker) {
    sqlite3_stmt *statement = lite_base_prepare(&o->write.base, text);
    if (!statement) return false;
    int rc = SQLITE_OK;
    for (int i = 0; rc == SQLITE_OK && i < count; i++) rc = lite_bind(statement, i + 1, &values[i]);
    if (rc == SQLITE_OK) rc = sqlite3_step(statement);
    for (int i = 0; rc == SQLITE_ROW && ret_marker && i < MARKER; i++)
        ret_marker[i] = sqlite3_column_int64(statement, i);
    bool well = rc == SQLITE_ROW || rc == SQLITE_DONE;
    if (!well) lite_base_note(&o->write.base);
    (void)sqlite3_finalize(statement);
    return well;
}

/* --- Rows ----------------------------------------------------------------------------------------------------------------- */

static gale_value value_of(const void *user, size_t column) {
    return ((const gale_value *)user)[1 + column];
}

/* As an object of its columns. */
static const char *row_text(lite_once *o, const gale_value *values) {
    const lite_table *table = &o->given->table;
    o->row.size = 0;
    for (size_t i = 0; i < table->count; i++) {
        gale_value name = gale_text(table->columns[i].name);
        sql_text_print(&o->row, i ? "," : "{");
        lite_text_json(&o->row, &name);
        sql_text_print(&o->row, ":");
        lite_text_json(&o->row, &values[1 + i]);
    }
    sql_text_print(&o->row, "}");
    return sql_text_string(&o->row);
}

static bool keep_refused(lite_once *o, const gale_value *row, const char *given_why) {
    char why[LITE_WHY_MAX];
    snprintf(why, sizeof why, "%s", given_why);
    const char *line = row_text(o, row);
    if (!line) {
        o->row.failed = false;
        snprintf(o->write.base.why, sizeof o->write.base.why, "out of memory");
        return false;
    }
    if (!o->refused++) memcpy(o->first, why, sizeof o->first);
    const gale_value values[] = { gale_text(o->given->table.target), gale_text(why), gale_text(line) };
    return ask(o, o->keep_refused.data, values, 3, NULL);
}

/* The transaction is undone for a constraint that does not say of which row it is. */
static int be_declined(lite_once *o, gale_epoch *epoch, gale_error *error) {
    if (!o->given->refused || !gale_epoch_declined(epoch, o->write.base.why)) return refuse(o, error);
    return not_now(o, error);
}

static int write_row(lite_once *o, gale_epoch *epoch, const gale_value *values, size_t count, gale_error *error) {
    const lite_table *table = &o->given->table;
    bool fits = count == 1 + table->count && values[0].type == GALE_TYPE_I64 &&
                (uint64_t)values[0].as.i64 == table->shape;
    if (!fits)
        return gale_error_set(
            error, GALE_DAMAGED,
            "%s: rows that the last run kept were made for another table or statement than %s, or other "
            "columns: it goes on when `table`, `fields`, `columns`, `key` and `statement` are as they were",
            o->given->sqlite.where, table->target);
    const char *culprit = gale_epoch_culprit(epoch);
    if (culprit) return keep_refused(o, values, culprit) ? 0 : not_now(o, error);
    const lite_row_source row = { value_of, values };
    switch (lite_write_row(&o->write, &row)) {
    case LITE_WRITTEN: return 0;
    case LITE_NOT_NOW: return not_now(o, error);
    case LITE_REFUSED:
        if (!o->given->refused) return refuse(o, error);
        return keep_refused(o, values, o->write.base.why) ? 0 : not_now(o, error);
    default: return be_declined(o, epoch, error);
    }
}

/* --- An epoch ------------------------------------------------------------------------------------------------------------ */

static void log_refused(const lite_once *o, gale_epoch *epoch) {
    char place[GALE_FAILURE_TEXT];
    snprintf(place, sizeof place, "the table %s", o->given->refused ? o->given->refused : "");
    gale_epoch_refused(epoch, o->refused, place, o->first);
}

static int write_epoch(lite_once *o, gale_epoch *epoch, const gale_value *marker, gale_error *error) {
    const gale_value *values;
    size_t count;
    int rc;
    o->refused = 0;
    while ((rc = gale_epoch_next(epoch, &values, &count)) > 0) {
        rc = write_row(o, epoch, values, count, error);
        if (rc < 0) return rc;
    }
    if (rc < 0) return rc;
    const gale_value before[] = { marker[0], gale_i64((int64_t)gale_epoch_forgets(epoch)) };
    if (!ask(o, o->write_marker.data, marker, 4, NULL) || !ask(o, o->forget_marker.data, before, 2, NULL))
        return not_now(o, error);
    lite_written written = lite_write_commit(&o->write);
    if (written == LITE_WRITTEN) {
        log_refused(o, epoch);
        return 0;
    }
    return written == LITE_NOT_NOW ? not_now(o, error) : be_declined(o, epoch, error);
}

int lite_once_commit(void *once, gale_epoch *epoch, gale_error *error) {
    lite_once *o = once;
    int64_t there[MARKER] = { 0 };
    gale_value marker[] = { gale_text(o->id), gale_i64((int64_t)gale_epoch_run(epoch)),
                            gale_i64((int64_t)gale_epoch_number(epoch)), gale_i64(0) };
    if (!lite_write_begin(&o->write) || !lite_base_run(&o->write.base, o->make.data) ||
        !ask(o, o->read_marker.data, marker, 2, there))
        return not_now(o, error);
    if (!gale_epoch_begin(epoch, (uint64_t)there[0], (uint64_t)there[1])) {
        lite_write_undo(&o->write);
        return 0;
    }
    marker[3] = gale_i64((int64_t)gale_epoch_rows(epoch));
    int rc = write_epoch(o, epoch, marker, error);
    if (rc < 0) lite_write_end(&o->write);
    return rc;
}
