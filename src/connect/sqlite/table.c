#include "connect/sqlite/table.h"

#include "connect/sqlite/parameters.h"

#include <gale/clock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gale_str str_of(const char *text) {
    return (gale_str){ text, strlen(text) };
}

static int no_memory(gale_error *error) {
    return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
}

/* --- Columns ---------------------------------------------------------------------------------------------------------- */

static lite_column *column_of(lite_table *table, gale_str name) {
    for (size_t i = 0; i < table->count; i++)
        if (strlen(table->columns[i].name) == name.size && memcmp(table->columns[i].name, name.data, name.size) == 0)
            return &table->columns[i];
    return NULL;
}

static int add_column(lite_table *table, gale_str field, gale_error *error) {
    if (table->count == LITE_COLUMNS_MAX)
        return gale_error_set(error, GALE_INVALID, "fields: a row has at most %d columns", LITE_COLUMNS_MAX);
    lite_column *column = &table->columns[table->count++];
    column->field = strndup(field.data, field.size);
    column->name = strndup(field.data, field.size);
    return column->field && column->name ? 0 : no_memory(error);
}

/* Those that are named, or all that come in. */
static int read_fields(lite_table *table, const gale_args *args, gale_error *error) {
    const char *fields = gale_args_text(args, "fields");
    gale_input input = GALE_INPUT_INIT;
    gale_str field;
    int rc = 0;
    if (!fields && gale_args_input(args, 0, &input)) fields = input.fields;
    if (!fields)
        return gale_error_set(error, GALE_FIELDS, "fields: what comes in is not known: they must be named here");
    while (rc == 0 && lite_next_name(&fields, &field)) rc = add_column(table, field, error);
    if (rc < 0 || table->count) return rc;
    return gale_error_set(error, GALE_INVALID, "fields: it names none");
}

/* Their names in the table, where these are others. */
static int read_names(lite_table *table, const gale_args *args, gale_error *error) {
    gale_value list = gale_args_value(args, "columns");
    if (list.type != GALE_TYPE_LIST) return 0;
    if (list.size != table->count)
        return gale_error_set(error, GALE_INVALID, "columns: %u are named, and there are %zu fields", list.size,
                              table->count);
    for (size_t i = 0; i < table->count; i++) {
        gale_value name = gale_list_at(&list, i);
        free(table->columns[i].name);
        table->columns[i].name = strndup(name.as.string, name.size);
        if (!table->columns[i].name) return no_memory(error);
    }
    return 0;
}

static int mark_keys(lite_table *table, const gale_args *args, gale_error *error) {
    gale_value list = gale_args_value(args, "key");
    for (size_t i = 0; list.type == GALE_TYPE_LIST && i < list.size; i++) {
        gale_value name = gale_list_at(&list, i);
        lite_column *column = column_of(table, (gale_str){ name.as.string, name.size });
        if (!column)
            return gale_error_set(error, GALE_INVALID, "key: %.*s is none of the columns that are written",
                                  (int)name.size, name.as.string);
        column->is_key = table->keyed = true;
    }
    return 0;
}

/* --- Statements ------------------------------------------------------------------------------------------------------- */

typedef void name_fn(sql_text *text, gale_str name);

static void list_columns(const lite_table *table, sql_text *to, bool keys_only, name_fn *name) {
    bool first = true;
    for (size_t i = 0; i < table->count; i++) {
        if (keys_only && !table->columns[i].is_key) continue;
        if (!first) sql_text_print(to, ", ");
        name(to, str_of(table->columns[i].name));
        first = false;
    }
}

/* What becomes of a row whose key is there. */
static void write_conflict(const lite_table *table, sql_text *to, bool stays) {
    bool first = true;
    sql_text_print(to, " ON CONFLICT (");
    list_columns(table, to, true, lite_text_name);
    sql_text_print(to, ") DO ");
    for (size_t i = 0; !stays && i < table->count; i++) {
        if (table->columns[i].is_key) continue;
        sql_text_print(to, first ? "UPDATE SET " : ", ");
        lite_text_name(to, str_of(table->columns[i].name));
        sql_text_print(to, " = excluded.");
        lite_text_name(to, str_of(table->columns[i].name));
        first = false;
    }
    if (first) sql_text_print(to, "NOTHING");
}

/* Takes the text. */
static int keep(sql_text *text, char **ret, gale_error *error) {
    if (!sql_text_string(text)) {
        sql_text_free(text);
        return no_memory(error);
    }
    *ret = text->data;
    return 0;
}

static int write_insert(lite_table *table, bool stays, gale_error *error) {
    sql_text text = { .data = NULL };
    sql_text_print(&text, "INSERT INTO ");
    lite_text_name(&text, str_of(table->target));
    sql_text_print(&text, " (");
    list_columns(table, &text, false, lite_text_name);
    sql_text_print(&text, ") VALUES (");
    for (size_t i = 0; i < table->count; i++) sql_text_print(&text, i ? ", ?%zu" : "?%zu", i + 1);
    sql_text_print(&text, ")");
    if (table->keyed) write_conflict(table, &text, stays);
    return keep(&text, &table->insert, error);
}

/* Columns without types: they keep what they are given as what it is. */
static int write_make(lite_table *table, gale_error *error) {
    sql_text text = { .data = NULL };
    sql_text_print(&text, "CREATE TABLE IF NOT EXISTS ");
    lite_text_defined(&text, str_of(table->target));
    sql_text_print(&text, " (");
    list_columns(table, &text, false, lite_text_defined);
    if (table->keyed) {
        sql_text_print(&text, ", PRIMARY KEY (");
        list_columns(table, &text, true, lite_text_defined);
        sql_text_print(&text, ")");
    }
    sql_text_print(&text, ")");
    return keep(&text, &table->make, error);
}

static int be_table(lite_table *table, const gale_args *args, gale_error *error) {
    int rc = lite_copy(&table->target, args, "table", error);
    if (rc == 0) rc = read_fields(table, args, error);
    if (rc == 0) rc = read_names(table, args, error);
    if (rc == 0) rc = mark_keys(table, args, error);
    if (rc == 0) rc = write_insert(table, strcmp(gale_args_text(args, "onConflict"), "ignore") == 0, error);
    return rc == 0 && gale_args_flag(args, "create") ? write_make(table, error) : rc;
}

/* --- A statement of the user's ---------------------------------------------------------------------------------------- */

static int read_parameters(lite_table *table, const char *statement, gale_error *error) {
    gale_str parameter;
    int rc = 0;
    while (rc == 0 && lite_parameter_next(&statement, &parameter)) {
        gale_str name = lite_parameter_name(parameter);
        if (!name.size)
            return gale_error_set(error, GALE_INVALID,
                                  "statement: %.*s has no name: parameters are named by fields, as in :id",
                                  (int)parameter.size, parameter.data);
        if (!column_of(table, name)) rc = add_column(table, name, error);
    }
    if (rc < 0 || table->count) return rc;
    return gale_error_set(error, GALE_INVALID, "statement: it has no parameter that a field could be, as in :id");
}

/* Is what a parameter asks for among what comes in, where that is known? */
static int check_parameters(const lite_table *table, const gale_args *args, gale_error *error) {
    gale_input input = GALE_INPUT_INIT;
    if (!gale_args_input(args, 0, &input) || !input.fields) return 0;
    for (size_t i = 0; i < table->count; i++) {
        const char *at = input.fields;
        gale_str field;
        bool is_there = false;
        while (!is_there && lite_next_name(&at, &field))
            is_there = strlen(table->columns[i].field) == field.size &&
                       memcmp(table->columns[i].field, field.data, field.size) == 0;
        if (!is_there)
            return gale_error_set(error, GALE_INVALID, "statement: :%s is no field of what comes in: %s",
                                  table->columns[i].field, input.fields);
    }
    return 0;
}

static int be_statement(lite_table *table, const gale_args *args, gale_error *error) {
    static const char *const others[] = { "fields", "columns", "key", "create", "onConflict" };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (gale_args_given(args, others[i]))
            return gale_error_set(error, GALE_INVALID, "%s: it is of a table, and a statement says all by itself",
                                  others[i]);
    int rc = lite_copy(&table->insert, args, "statement", error);
    if (rc == 0) rc = lite_copy(&table->target, args, "statement", error);
    if (rc == 0) rc = read_parameters(table, table->insert, error);
    return rc < 0 ? rc : check_parameters(table, args, error);
}

/* --- Dead letters ----------------------------------------------------------------------------------------------------- */

static const struct {
    const char *field, *name;
    lite_source source;
} letter_columns[] = {
    { "", "time", LITE_NOW },
    { "", "topology", LITE_TOPOLOGY },
    { "component", "component", LITE_FIELD },
    { "stream", "stream", LITE_FIELD },
    { "message_id", "message_id", LITE_FIELD },
    { "tuple", "tuple", LITE_FIELD },
    { "reason", "reason", LITE_FIELD },
    { "text", "text", LITE_FIELD },
    { "place", "place", LITE_FIELD },
    { "task", "task", LITE_FIELD },
    { "attempts", "attempts", LITE_FIELD },
};

static void defined(sql_text *text, const char *name, const char *behind) {
    sql_text whole = { .data = NULL };
    sql_text_print(&whole, "%s%s", name, behind);
    lite_text_defined(text, (gale_str){ whole.data, whole.size });
    text->failed = text->failed || whole.failed;
    sql_text_free(&whole);
}

/* The view has each letter as a line of a file of dead letters (docs/semantics/replay.md). */
static int write_make_letters(lite_table *table, gale_error *error) {
    sql_text text = { .data = NULL };
    sql_text_print(&text, "CREATE TABLE IF NOT EXISTS ");
    defined(&text, table->target, "");
    sql_text_print(
        &text, " (id INTEGER PRIMARY KEY AUTOINCREMENT, time REAL NOT NULL, topology TEXT NOT NULL, component TEXT "
               "NOT NULL, stream TEXT NOT NULL, message_id INTEGER, tuple TEXT NOT NULL, reason TEXT NOT NULL, text "
               "TEXT NOT NULL, place TEXT, task INTEGER, attempts INTEGER NOT NULL, replayed TEXT);\n"
               "CREATE INDEX IF NOT EXISTS ");
    defined(&text, table->target, "_by_reason");
    sql_text_print(&text, " ON ");
    defined(&text, table->target, "");
    sql_text_print(&text, " (component, reason, time);\nCREATE VIEW IF NOT EXISTS ");
    defined(&text, table->target, "_lines");
    sql_text_print(&text,
                   " AS SELECT id, time, component, reason, replayed, json_object('component', component, 'stream', "
                   "stream, 'message_id', message_id, 'tuple', json(tuple), 'reason', reason, 'text', text, 'place', "
                   "place, 'task', task, 'attempts', attempts, 'time', time) AS line FROM ");
    defined(&text, table->target, "");
    return keep(&text, &table->make, error);
}

static int add_letter_column(lite_table *table, size_t index, gale_error *error) {
    int rc = add_column(table, str_of(letter_columns[index].name), error);
    if (rc < 0) return rc;
    lite_column *column = &table->columns[table->count - 1];
    free(column->field);
    column->source = letter_columns[index].source;
    column->field = strdup(letter_columns[index].field);
    return column->field ? 0 : no_memory(error);
}

/* --- It --------------------------------------------------------------------------------------------------------------- */

static int begin(lite_table *table, gale_error *error) {
    *table = (lite_table){ .columns = calloc(LITE_COLUMNS_MAX, sizeof *table->columns) };
    return table->columns ? 0 : no_memory(error);
}

static int end(lite_table *table, int rc) {
    if (rc < 0) return rc;
    gale_value insert = gale_text(table->insert);
    table->shape = gale_value_hash(&insert);
    return 0;
}

int lite_table_make(lite_table *table, const gale_args *args, gale_error *error) {
    bool is_statement = gale_args_given(args, "statement");
    int rc = begin(table, error);
    if (rc == 0 && is_statement == gale_args_given(args, "table"))
        rc = gale_error_set(error, GALE_INVALID, "table: it is one of the two: a table, or a statement");
    if (rc == 0) rc = is_statement ? be_statement(table, args, error) : be_table(table, args, error);
    return end(table, rc);
}

int lite_table_make_letters(lite_table *table, const gale_args *args, gale_error *error) {
    int rc = begin(table, error);
    if (rc == 0) rc = lite_copy(&table->target, args, "table", error);
    for (size_t i = 0; rc == 0 && i < sizeof letter_columns / sizeof *letter_columns; i++)
        rc = add_letter_column(table, i, error);
    if (rc == 0) rc = write_insert(table, false, error);
    if (rc == 0) rc = write_make_letters(table, error);
    return end(table, rc);
}

void lite_table_free(lite_table *table) {
    for (size_t i = 0; i < table->count; i++) {
        free(table->columns[i].field);
        free(table->columns[i].name);
    }
    free(table->columns);
    free(table->target);
    free(table->make);
    free(table->insert);
}

/* --- A row ------------------------------------------------------------------------------------------------------------ */

static double seconds_now(void) {
    gale_clock wall = gale_clock_wall();
    return (double)(wall.now(wall.user) / 1000000) / 1000;
}

static const char *value_of(const lite_column *column, const gale_context *context, const gale_tuple *tuple,
                            gale_value *ret_value) {
    if (column->source == LITE_NOW)
        *ret_value = gale_f64(seconds_now());
    else if (column->source == LITE_TOPOLOGY)
        *ret_value = gale_text(context->topology);
    else if (!gale_tuple_get(tuple, column->field, ret_value))
        return "is not there";
    return column->is_key && ret_value->type == GALE_TYPE_NULL ? "is null, and is a key" : NULL;
}

/* Lists and maps become JSON; where in `scratch` is told by their sizes alone until it has stopped growing. */
static bool write_json(const gale_value *values, size_t count, sql_text *scratch, size_t *ends) {
    scratch->size = 0;
    for (size_t i = 0; i < count; i++) {
        if (values[i].type == GALE_TYPE_LIST || values[i].type == GALE_TYPE_MAP) lite_text_json(scratch, &values[i]);
        ends[i] = scratch->size;
    }
    bool well = !scratch->failed;
    scratch->failed = false;
    return well;
}

static void take_json(gale_value *values, size_t count, const sql_text *scratch, const size_t *ends) {
    size_t from = 0;
    for (size_t i = 0; i < count; i++) {
        if (ends[i] > from) values[i] = gale_string(scratch->data + from, ends[i] - from);
        from = ends[i];
    }
}

int lite_table_row(const lite_table *table, const gale_context *context, const gale_tuple *tuple, sql_text *scratch,
                   gale_value *values, char *why, size_t size) {
    size_t ends[LITE_COLUMNS_MAX];
    bool nested = false;
    for (size_t i = 0; i < table->count; i++) {
        const char *wrong = value_of(&table->columns[i], context, tuple, &values[i]);
        nested = nested || (!wrong && (values[i].type == GALE_TYPE_LIST || values[i].type == GALE_TYPE_MAP));
        if (!wrong) continue;
        snprintf(why, size, "field %s %s", table->columns[i].field, wrong);
        return GALE_INVALID;
    }
    if (!nested) return 0;
    if (!write_json(values, table->count, scratch, ends)) return GALE_NO_MEMORY;
    take_json(values, table->count, scratch, ends);
    return 0;
}
