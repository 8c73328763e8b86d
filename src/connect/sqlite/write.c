#include "connect/sqlite/write.h"

#include "connect/sqlite/parameters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Open and closed -------------------------------------------------------------------------------------------------- */

void lite_write_end(lite_write *write) {
    (void)sqlite3_finalize(write->insert);
    write->insert = NULL;
    lite_base_close(&write->base);
}

/* The column of a parameter: `?3` is the third, `:id` the one whose field is id. -1: none. */
static int column_of(const lite_table *table, const char *parameter, int index) {
    if (!parameter || *parameter == '?') return index <= (int)table->count ? index - 1 : -1;
    gale_str name = lite_parameter_name((gale_str){ parameter, strlen(parameter) });
    for (size_t i = 0; i < table->count; i++)
        if (strlen(table->columns[i].field) == name.size && memcmp(table->columns[i].field, name.data, name.size) == 0)
            return (int)i;
    return -1;
}

static bool order_parameters(lite_write *write) {
    write->parameters = sqlite3_bind_parameter_count(write->insert);
    for (int i = 0; i < write->parameters; i++) {
        const char *name = sqlite3_bind_parameter_name(write->insert, i + 1);
        int column = i < LITE_COLUMNS_MAX ? column_of(write->table, name, i + 1) : -1;
        if (column < 0) {
            snprintf(write->base.why, sizeof write->base.why, "the statement's parameter %s is no field",
                     name ? name : "?");
            return false;
        }
        write->order[i] = column;
    }
    return true;
}

/* What is missing is made in the transaction that has the first rows. */
static bool prepare(lite_write *write) {
    lite_base *base = &write->base;
    if (write->insert) return true;
    if (write->table->make && !lite_base_run(base, write->table->make)) return false;
    write->insert = lite_base_prepare(base, write->table->insert);
    return write->insert && order_parameters(write);
}

bool lite_write_begin(lite_write *write) {
    lite_base *base = &write->base;
    if (lite_base_is_moved(base)) lite_write_end(write);
    if (lite_base_open(base) && lite_base_run(base, "BEGIN IMMEDIATE") && prepare(write)) return true;
    lite_write_end(write);
    return false;
}

bool lite_write_look(lite_write *write) {
    bool may = lite_write_begin(write);
    if (may) lite_write_undo(write);
    return may;
}

/* --- A row ------------------------------------------------------------------------------------------------------------ */

static int bind_row(lite_write *write, const lite_row_source *row) {
    int rc = SQLITE_OK;
    for (int i = 0; rc == SQLITE_OK && i < write->parameters; i++) {
        gale_value value = row->value(row->user, (size_t)write->order[i]);
        rc = lite_bind(write->insert, i + 1, &value);
    }
    return rc;
}

/* Statements that have results (RETURNING, SELECT) are done when these are. */
static int step_row(lite_write *write) {
    int rc;
    while ((rc = sqlite3_step(write->insert)) == SQLITE_ROW) continue;
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static bool is_of_row(lite_write *write, int rc) {
    switch (rc & 0xff) {
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG: return true;
    case SQLITE_ERROR: return lite_base_still_takes(&write->base, write->table->insert);
    default: return false;
    }
}

lite_written lite_write_row(lite_write *write, const lite_row_source *row) {
    lite_base *base = &write->base;
    int rc = bind_row(write, row);
    if (rc == SQLITE_OK) rc = step_row(write);
    if (rc != SQLITE_OK) lite_base_note(base);
    (void)sqlite3_reset(write->insert);
    bool over = sqlite3_get_autocommit(base->db);
    if (rc != SQLITE_OK) return !is_of_row(write, rc) ? LITE_NOT_NOW : over ? LITE_ALL_REFUSED : LITE_REFUSED;
    if (!over) return LITE_WRITTEN;
    snprintf(base->why, sizeof base->why, "the statement ends the transaction that it is in");
    return LITE_NOT_NOW;
}

lite_written lite_write_commit(lite_write *write) {
    if (lite_base_run(&write->base, "COMMIT")) return LITE_WRITTEN;
    return (sqlite3_errcode(write->base.db) & 0xff) == SQLITE_CONSTRAINT ? LITE_ALL_REFUSED : LITE_NOT_NOW;
}

void lite_write_undo(lite_write *write) {
    if (!sqlite3_get_autocommit(write->base.db)) (void)sqlite3_exec(write->base.db, "ROLLBACK", NULL, NULL, NULL);
}

/* --- All of them ------------------------------------------------------------------------------------------------------ */

typedef struct place {
    const lite_rows *rows;
    size_t row;
} place;

static gale_value value_at(const void *user, size_t column) {
    const place *at = user;
    return lite_rows_value(at->rows, at->row, column);
}

static lite_written write_one(lite_write *write, lite_rows *rows, size_t row) {
    const place at = { rows, row };
    const lite_row_source source = { value_at, &at };
    lite_written written = lite_write_row(write, &source);
    if (written == LITE_REFUSED) lite_rows_refuse(rows, row, write->base.why);
    return written;
}

/* Rows [first, end), of one transaction. */
typedef struct part {
    lite_rows *rows;
    size_t first, end;
} part;

static void be_taken(const part *p) {
    for (size_t i = p->first; i < p->end; i++)
        if (p->rows->rows[i].state == LITE_ROW_OPEN) p->rows->rows[i].state = LITE_ROW_TAKEN;
}

static void reopen_rows(const part *p) {
    for (size_t i = p->first; i < p->end; i++) {
        free(p->rows->rows[i].why);
        p->rows->rows[i] = (lite_row){ .id = p->rows->rows[i].id };
    }
}

static lite_written write_together(lite_write *write, const part *p) {
    lite_written written = LITE_WRITTEN;
    if (!lite_write_begin(write)) return LITE_NOT_NOW;
    for (size_t i = p->first; i < p->end && (written == LITE_WRITTEN || written == LITE_REFUSED); i++)
        written = write_one(write, p->rows, i);
    if (written == LITE_WRITTEN || written == LITE_REFUSED) written = lite_write_commit(write);
    if (written == LITE_WRITTEN)
        be_taken(p);
    else
        reopen_rows(p);
    return written;
}

static bool write_alone(lite_write *write, lite_rows *rows, size_t row) {
    if (!lite_write_begin(write)) return false;
    lite_written written = write_one(write, rows, row);
    if (written == LITE_WRITTEN) written = lite_write_commit(write);
    if (written == LITE_WRITTEN) rows->rows[row].state = LITE_ROW_TAKEN;
    if (written == LITE_ALL_REFUSED) lite_rows_refuse(rows, row, write->base.why);
    if (written != LITE_NOT_NOW) lite_write_undo(write);
    return written != LITE_NOT_NOW;
}

/* A part that was begun row by row goes on so: what is taken is in. */
static bool is_begun(const part *p) {
    for (size_t i = p->first; i < p->end; i++)
        if (p->rows->rows[i].state != LITE_ROW_OPEN) return true;
    return false;
}

static bool write_part(lite_write *write, const part *p) {
    if (!is_begun(p)) {
        lite_written written = write_together(write, p);
        if (written != LITE_ALL_REFUSED) return written == LITE_WRITTEN;
        lite_write_undo(write);
    }
    bool well = true;
    for (size_t i = p->first; well && i < p->end; i++)
        if (p->rows->rows[i].state == LITE_ROW_OPEN) well = write_alone(write, p->rows, i);
    return well;
}

bool lite_write_rows(lite_write *write, lite_rows *rows, size_t most) {
    bool well = true;
    while (well && rows->done < rows->count) {
        size_t left = rows->count - rows->done;
        const part next = { rows, rows->done, rows->done + (left < most ? left : most) };
        well = write_part(write, &next);
        if (well) rows->done = next.end;
    }
    if (!well) lite_write_end(write);
    return well;
}
