#include "connect/sqlite/reading.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 1000, BYTES = 1 << 20 }; /* at once */

/* --- Answered rows ------------------------------------------------------------------------------------------------------ */

void lite_answered_clear(lite_answered_list *answered) {
    for (size_t i = 0; i < answered->count; i++) free(answered->list[i].words);
    answered->count = 0;
}

void lite_answered_free(lite_answered_list *answered) {
    lite_answered_clear(answered);
    free(answered->list);
    *answered = (lite_answered_list){ .list = NULL };
}

int lite_answered_add(lite_answered_list *answered, int64_t place, const char *words) {
    if (answered->count == answered->room) {
        size_t room = answered->room ? 2 * answered->room : 64;
        lite_answered *list = realloc(answered->list, room * sizeof *list);
        if (!list) return GALE_NO_MEMORY;
        answered->list = list;
        answered->room = room;
    }
    char *copy = words ? strdup(words) : NULL;
    if (words && !copy) return GALE_NO_MEMORY;
    answered->list[answered->count++] = (lite_answered){ place, copy };
    return 0;
}

/* --- Open and closed -------------------------------------------------------------------------------------------------- */

static void close_statements(lite_reading *r) {
    (void)sqlite3_finalize(r->select);
    (void)sqlite3_finalize(r->answer);
    r->select = r->answer = NULL;
    lite_base_close(&r->base);
}

void lite_reading_end(lite_reading *r) {
    close_statements(r);
    lite_answered_free(&r->answered);
    lite_rows_free(&r->rows);
}

/* A durable run that goes on deletes once more what its checkpoint has as answered. */
static bool check_numbers(lite_reading *r) {
    const char *table = r->given->numbered;
    int own = 0;
    if (!r->durable || !table) return true;
    if (sqlite3_table_column_metadata(r->base.db, NULL, table, "rowid", NULL, NULL, NULL, NULL, &own) != SQLITE_OK ||
        own)
        return true; /* what else is wrong with it, reading says */
    snprintf(
        r->base.why, sizeof r->base.why,
        "table %.28s needs AUTOINCREMENT for delete in a durable run, or its numbers come again: add it, or use mark",
        table);
    return false;
}

bool lite_reading_may(lite_reading *r) {
    r->base.patience = 1; /* an executor waits for no lock */
    bool may = !lite_base_open(&r->base) || check_numbers(r);
    lite_base_close(&r->base);
    r->base.patience = 0;
    return may;
}

static bool begin(lite_reading *r) {
    if (lite_base_is_moved(&r->base)) close_statements(r);
    if (!lite_base_open(&r->base) || !check_numbers(r)) return false;
    if (!lite_base_run(&r->base, r->answered.count ? "BEGIN IMMEDIATE" : "BEGIN")) return false;
    if (!r->select) r->select = lite_base_prepare(&r->base, r->given->select);
    if (!r->answer && r->given->answer) r->answer = lite_base_prepare(&r->base, r->given->answer);
    return r->select && (r->answer || !r->given->answer);
}

/* --- Answered rows ---------------------------------------------------------------------------------------------------- */

static bool answer_one(lite_reading *r, const lite_answered *answered) {
    gale_value words = gale_text(answered->words ? answered->words : "done");
    int rc = sqlite3_bind_int64(r->answer, 1, answered->place);
    if (rc == SQLITE_OK && r->given->after == LITE_MARK) rc = lite_bind(r->answer, 2, &words);
    if (rc == SQLITE_OK) rc = sqlite3_step(r->answer);
    if (rc != SQLITE_DONE) lite_base_note(&r->base);
    (void)sqlite3_reset(r->answer);
    return rc == SQLITE_DONE;
}

static bool answer_all(lite_reading *r) {
    bool well = true;
    for (size_t i = 0; well && i < r->answered.count; i++) well = answer_one(r, &r->answered.list[i]);
    return well;
}

/* --- Rows ------------------------------------------------------------------------------------------------------------- */

static bool say_memory(lite_reading *r) {
    snprintf(r->base.why, sizeof r->base.why, "out of memory");
    return false;
}

/* Places are whole numbers, each once: what stands twice would be passed over when a run goes on behind it. */
static bool take_place(lite_reading *r, int64_t last, int64_t *ret_place) {
    bool whole = sqlite3_column_type(r->select, 0) == SQLITE_INTEGER;
    *ret_place = sqlite3_column_int64(r->select, 0);
    if (whole && *ret_place > last) return true;
    if (whole)
        snprintf(r->base.why, sizeof r->base.why, "%" PRId64 " stands twice in the column that orders the rows (by)",
                 *ret_place);
    else
        snprintf(r->base.why, sizeof r->base.why, "the column that orders the rows (by) has what is no whole number");
    return false;
}

static bool take_row(lite_reading *r, int64_t place) {
    gale_value values[GALE_INTAKE_VALUES_MAX];
    size_t size;
    for (size_t i = 0; i < r->given->count; i++) values[i] = lite_column_value(r->select, (int)i + 1);
    if (lite_rows_add(&r->rows, values, &size) < 0) return say_memory(r);
    r->rows.rows[r->rows.count - 1].id = (uint64_t)place;
    return true;
}

static bool read_rows(lite_reading *r) {
    int64_t last = r->behind;
    int rc = SQLITE_ROW;
    bool well = sqlite3_bind_int64(r->select, 1, r->behind) == SQLITE_OK &&
                sqlite3_bind_int(r->select, 2, ROWS) == SQLITE_OK;
    while (well && r->rows.bytes.size < BYTES && (rc = sqlite3_step(r->select)) == SQLITE_ROW)
        well = take_place(r, last, &last) && take_row(r, last);
    if (well && rc != SQLITE_ROW && rc != SQLITE_DONE) {
        lite_base_note(&r->base);
        well = false;
    }
    r->at_end = rc == SQLITE_DONE && r->rows.count < ROWS;
    (void)sqlite3_reset(r->select);
    return well;
}

bool lite_read(lite_reading *r) {
    lite_rows_clear(&r->rows);
    bool well = begin(r) && answer_all(r) && (!r->wants || read_rows(r)) && lite_base_run(&r->base, "COMMIT");
    if (!well) {
        lite_rows_clear(&r->rows);
        close_statements(r);
    }
    return well;
}
