#include "sql/lookup_settings.h"

#include <stdlib.h>
#include <string.h>

static int no_memory(gale_error *error) {
    return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
}

static gale_str str_of(const char *text) {
    return (gale_str){ text, strlen(text) };
}

/* --- Names ------------------------------------------------------------------------------------------------------------ */

static int read_names(const char *text, const char *parameter, const sql_dialect *dialect, char **list, size_t room,
                      size_t *count, gale_error *error) {
    gale_str name;
    while (dialect->next_name(&text, &name)) {
        if (*count == room) return gale_error_set(error, GALE_INVALID, "%s: there are at most %zu", parameter, room);
        list[*count] = strndup(name.data, name.size);
        if (!list[*count]) return no_memory(error);
        ++*count;
    }
    return 0;
}

int sql_lookup_read_keys(sql_lookup_settings *made, const char *text, const char *parameter, const sql_dialect *dialect,
                         gale_error *error) {
    return read_names(text, parameter, dialect, made->keys, SQL_KEYS_MAX, &made->key_count, error);
}

/* Those that are named, or all that come in. */
static int read_fields(sql_lookup_settings *made, const gale_args *args, const sql_dialect *dialect,
                       gale_error *error) {
    const char *fields = gale_args_text(args, "fields");
    gale_input input = GALE_INPUT_INIT;
    if (!fields && gale_args_input(args, 0, &input)) fields = input.fields;
    if (!fields)
        return gale_error_set(error, GALE_FIELDS, "fields: what comes in is not known: they must be named here");
    return read_names(fields, "fields", dialect, made->fields, SQL_FIELDS_MAX, &made->field_count, error);
}

static void add_name(sql_text *to, const char *name, size_t size) {
    if (to->size) sql_text_add(to, ", ", 2);
    sql_text_add(to, name, size);
}

/* "country as land": the column, and the field. */
static void cut_as(gale_str text, gale_str *ret_column, gale_str *ret_field) {
    size_t at = 0;
    while (at + 4 <= text.size && memcmp(text.data + at, " as ", 4) != 0) at++;
    *ret_column = *ret_field = text;
    if (at + 4 > text.size) return;
    ret_column->size = at;
    *ret_field = (gale_str){ text.data + at + 4, text.size - at - 4 };
}

/* Fields that go out, and (in `columns`) the columns that they are. */
static int read_added(sql_lookup_settings *made, const gale_args *args, const sql_dialect *dialect, sql_text *columns,
                      gale_error *error) {
    gale_value list = gale_args_value(args, "add");
    for (size_t i = 0; i < list.size; i++) {
        gale_value one = gale_list_at(&list, i);
        gale_str column, field;
        cut_as((gale_str){ one.as.string, one.size }, &column, &field);
        if (!column.size || !field.size) return gale_error_set(error, GALE_INVALID, "add: a name is empty");
        add_name(&made->all, field.data, field.size);
        if (i) sql_text_add(columns, ", ", 2);
        dialect->add_name(columns, column);
    }
    made->add_count = list.size;
    if (made->add_count && made->add_count <= SQL_FIELDS_MAX) return 0;
    return gale_error_set(error, GALE_INVALID, "add: it names 1 to %d columns", SQL_FIELDS_MAX);
}

/* --- The statement ---------------------------------------------------------------------------------------------------- */

static gale_str column_of_key(const sql_lookup_settings *made, const gale_value *by, size_t index) {
    if (by->type != GALE_TYPE_LIST) return str_of(made->keys[index]);
    gale_value name = gale_list_at(by, index);
    return (gale_str){ name.as.string, name.size };
}

static int write_select(sql_lookup_settings *made, const gale_args *args, const sql_text *columns,
                        const sql_dialect *dialect, sql_text *to, gale_error *error) {
    gale_value by = gale_args_value(args, "by");
    if (by.type == GALE_TYPE_LIST && by.size != made->key_count)
        return gale_error_set(error, GALE_INVALID, "by: %u columns are named, and the key has %zu fields", by.size,
                              made->key_count);
    sql_text_print(to, "SELECT ");
    sql_text_add(to, columns->data, columns->size);
    sql_text_print(to, " FROM ");
    dialect->add_name(to, str_of(gale_args_text(args, "table")));
    for (size_t i = 0; i < made->key_count; i++) {
        sql_text_print(to, i ? " AND " : " WHERE ");
        dialect->add_name(to, column_of_key(made, &by, i));
        sql_text_print(to, " = %c%zu", dialect->parameter, i + 1);
    }
    return 0;
}

static int write_statement(sql_lookup_settings *made, const gale_args *args, const sql_text *columns,
                           const sql_dialect *dialect, gale_error *error) {
    const char *query = gale_args_text(args, "query");
    sql_text text = { .data = NULL };
    if (!query == !gale_args_text(args, "table"))
        return gale_error_set(error, GALE_INVALID, "table: it is one of the two: a table, or a query");
    if (query) sql_text_add(&text, query, strlen(query));
    int rc = query ? 0 : write_select(made, args, columns, dialect, &text, error);
    if (rc == 0 && !sql_text_string(&text)) rc = no_memory(error);
    if (rc < 0)
        sql_text_free(&text);
    else
        made->statement = text.data;
    return rc;
}

/* --- All of it -------------------------------------------------------------------------------------------------------- */

static sql_missing missing_of(const char *word) {
    if (strcmp(word, "drop") == 0) return SQL_MISSING_DROP;
    if (strcmp(word, "fail") == 0) return SQL_MISSING_FAIL;
    return strcmp(word, "stream") == 0 ? SQL_MISSING_STREAM : SQL_MISSING_NULL;
}

static int name_outputs(sql_lookup_settings *made, gale_error *error) {
    const char *all = sql_text_string(&made->all), *passed = sql_text_string(&made->passed);
    if (!all || !passed) return no_memory(error);
    made->outputs[0] = (gale_output){ NULL, all };
    made->outputs[1] = (gale_output){ "missing", passed };
    return 0;
}

/* They go out first, and alone where there is no row. */
static void name_passed(sql_lookup_settings *made) {
    for (size_t i = 0; i < made->field_count; i++) {
        add_name(&made->all, made->fields[i], strlen(made->fields[i]));
        add_name(&made->passed, made->fields[i], strlen(made->fields[i]));
    }
}

int sql_lookup_settings_make(sql_lookup_settings *made, const gale_args *args, const sql_dialect *dialect,
                             gale_error *error) {
    sql_text columns = { .data = NULL };
    int rc = read_fields(made, args, dialect, error);
    if (rc == 0) name_passed(made);
    if (rc == 0) rc = read_added(made, args, dialect, &columns, error);
    if (rc == 0) rc = write_statement(made, args, &columns, dialect, error);
    if (rc == 0) rc = name_outputs(made, error);
    made->missing = missing_of(gale_args_text(args, "missing"));
    made->output_count = made->missing == SQL_MISSING_STREAM ? 2 : 1;
    made->cache_for = gale_args_number(args, "cacheFor");
    made->cache_rows = (size_t)gale_args_whole(args, "cacheKeys");
    made->memory = (uint64_t)gale_args_whole(args, "memory");
    made->finish_wait = (int64_t)(gale_args_number(args, "finishWait") * 1e9);
    sql_text_free(&columns);
    return rc;
}

void sql_lookup_settings_free(sql_lookup_settings *made) {
    for (size_t i = 0; i < made->key_count; i++) free(made->keys[i]);
    for (size_t i = 0; i < made->field_count; i++) free(made->fields[i]);
    free(made->statement);
    sql_text_free(&made->all);
    sql_text_free(&made->passed);
}
