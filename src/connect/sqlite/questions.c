#include "connect/sqlite/questions.h"

#include "connect/sqlite/parameters.h"
#include "connect/sqlite/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void lite_question_free(lite_question *question) {
    if (!question) return;
    gale_value_owned_free(question->key);
    gale_value_owned_free(question->rows);
    sql_waiting_free(&question->waiting);
    free(question);
}

static void close_statement(lite_asking *a) {
    (void)sqlite3_finalize(a->statement);
    a->statement = NULL;
    lite_base_close(&a->base);
}

void lite_asking_end(lite_asking *a) {
    close_statement(a);
    free(a->cells);
    a->cells = NULL;
    a->room = 0;
}

/* --- The statement ------------------------------------------------------------------------------------------------------ */

/* The key's value of a parameter: `?2` is the second, `:user` the field of that name. */
static size_t key_of(const lite_asking *a, int index) {
    const char *parameter = sqlite3_bind_parameter_name(a->statement, index);
    if (!parameter || *parameter == '?') return (size_t)index - 1;
    gale_str name = lite_parameter_name((gale_str){ parameter, strlen(parameter) });
    size_t key = 0;
    while (key < a->given->lookup.key_count && (strlen(a->given->lookup.keys[key]) != name.size ||
                                                memcmp(a->given->lookup.keys[key], name.data, name.size) != 0))
        key++;
    return key;
}

static bool say_unfit(lite_asking *a, const char *what) {
    snprintf(a->base.why, sizeof a->base.why, "the query %s", what);
    return false;
}

static bool fits(lite_asking *a) {
    int columns = sqlite3_column_count(a->statement);
    if (columns != (int)a->given->lookup.add_count) {
        snprintf(a->base.why, sizeof a->base.why, "the query has %d columns, and add names %zu", columns,
                 a->given->lookup.add_count);
        return false;
    }
    for (int i = 1; i <= sqlite3_bind_parameter_count(a->statement); i++)
        if (key_of(a, i) >= a->given->lookup.key_count) return say_unfit(a, "has more parameters than key names");
    return sqlite3_stmt_readonly(a->statement) || say_unfit(a, "writes, which a lookup does not");
}

static bool begin(lite_asking *a) {
    if (lite_base_is_moved(&a->base)) close_statement(a);
    if (!lite_base_open(&a->base)) return false;
    if (!a->statement) a->statement = lite_base_prepare(&a->base, a->given->lookup.statement);
    return a->statement && fits(a);
}

static int bind_key(lite_asking *a, const gale_value *key) {
    int rc = SQLITE_OK;
    for (int i = 1; rc == SQLITE_OK && i <= sqlite3_bind_parameter_count(a->statement); i++) {
        gale_value value = gale_list_at(key, key_of(a, i));
        rc = lite_bind(a->statement, i, &value);
    }
    return rc;
}

/* --- A question --------------------------------------------------------------------------------------------------------- */

static bool have_room(lite_asking *a, size_t wanted) {
    size_t room = a->room ? a->room : 64;
    while (room < wanted) room *= 2;
    if (room == a->room) return true;
    gale_value *cells = realloc(a->cells, room * sizeof *cells);
    if (!cells) return false;
    a->cells = cells;
    a->room = room;
    return true;
}

/* A row is copied at once: what SQLite lends goes with its next step. The row's list takes `cells[rows]`. */
static bool keep_row(lite_asking *a, gale_value_owned **kept) {
    gale_value row[SQL_FIELDS_MAX];
    for (size_t i = 0; i < a->given->lookup.add_count; i++) row[i] = lite_column_value(a->statement, (int)i);
    gale_value list = gale_list(row, a->given->lookup.add_count);
    *kept = gale_value_copy(&list);
    return *kept;
}

typedef struct row_list {
    gale_value_owned **rows;
    size_t count, room;
} row_list;

static bool list_room(row_list *list) {
    if (list->count < list->room) return true;
    size_t room = list->room ? 2 * list->room : 4;
    gale_value_owned **rows = realloc(list->rows, room * sizeof *rows);
    if (!rows) return false;
    list->rows = rows;
    list->room = room;
    return true;
}

static int read_rows(lite_asking *a, row_list *list) {
    int rc;
    while ((rc = sqlite3_step(a->statement)) == SQLITE_ROW && list->count <= LITE_ROWS_MAX) {
        if (!list_room(list) || !keep_row(a, &list->rows[list->count])) return SQLITE_NOMEM;
        list->count++;
    }
    return rc == SQLITE_ROW ? SQLITE_DONE : rc;
}

/* All of its rows as one value. */
static bool gather(lite_asking *a, const row_list *list, lite_question *q) {
    if (!have_room(a, list->count + 1)) return false;
    for (size_t i = 0; i < list->count; i++) a->cells[i] = gale_value_owned_view(list->rows[i]);
    gale_value all = gale_list(a->cells, list->count);
    q->rows = gale_value_copy(&all);
    return q->rows;
}

static void free_rows(row_list *list) {
    for (size_t i = 0; i < list->count; i++) gale_value_owned_free(list->rows[i]);
    free(list->rows);
}

/* What a function does not take, as malformed JSON, is of the question alone. */
static bool is_of_question(lite_asking *a, int rc) {
    int primary = rc & 0xff;
    if (primary == SQLITE_ERROR) return lite_base_still_takes(&a->base, a->given->lookup.statement);
    return primary == SQLITE_TOOBIG || primary == SQLITE_MISMATCH;
}

/* False: not now. */
static bool finish(lite_asking *a, lite_question *q, int rc, const row_list *list) {
    if (rc == SQLITE_DONE && list->count > LITE_ROWS_MAX) {
        snprintf(q->why, sizeof q->why, "its key has more than %d rows", LITE_ROWS_MAX);
        return true;
    }
    if (rc == SQLITE_DONE && gather(a, list, q)) return true;
    if (rc == SQLITE_DONE || rc == SQLITE_NOMEM)
        snprintf(a->base.why, sizeof a->base.why, "out of memory");
    else
        lite_base_note(&a->base);
    if (!is_of_question(a, rc)) return false;
    memcpy(q->why, a->base.why, sizeof q->why);
    return true;
}

static bool ask_one(lite_asking *a, lite_question *q) {
    row_list list = { .rows = NULL };
    gale_value key = gale_value_owned_view(q->key);
    int rc = bind_key(a, &key);
    if (rc == SQLITE_OK) rc = read_rows(a, &list);
    bool well = finish(a, q, rc, &list);
    free_rows(&list);
    (void)sqlite3_reset(a->statement);
    return well;
}

/* In one transaction, which looks at the file's lock once. A statement that fits no more is found when it is prepared anew. */
bool lite_ask(lite_asking *a, lite_question *first) {
    bool well = begin(a) && lite_base_run(&a->base, "BEGIN");
    for (lite_question *q = first; well && q; q = q->next)
        if (!q->rows && !*q->why) well = ask_one(a, q);
    if (well) well = lite_base_run(&a->base, "COMMIT");
    if (!well) close_statement(a);
    return well;
}
