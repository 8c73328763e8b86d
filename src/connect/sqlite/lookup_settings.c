#include "connect/sqlite/lookup_settings.h"

#include "connect/sqlite/parameters.h"

#include <stdlib.h>
#include <string.h>

static int no_memory(gale_error *error) {
    return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
}

static gale_str str_of(const char *text) {
    return (gale_str){ text, strlen(text) };
}

/* --- Names ------------------------------------------------------------------------------------------------------------ */

static int read_names(const char *text, const char *parameter, char **list, size_t room, size_t *count,
                      gale_error *error) {
    gale_str name;
    while (lite_next_name(&text, &name)) {
        if (*count == room) return gale_error_set(error, GALE_INVALID, "%s: there are at most %zu", parameter, room);
        list[*count] = strndup(name.data, name.size);
        if (!list[*count]) return no_memory(error);
        ++*count;
    }
    return 0;
}

static void add_name(lite_text *to, const char *name, size_t size) {
    if (to->size) lite_text_add(to, ", ", 2);
    lite_text_add(to, name, size);
}

/* Those that are named; or, of a query, its parameters. */
static int read_keys(lite_lookup_settings *made, const gale_args *args, gale_error *error) {
    const char *key = gale_args_text(args, "key"), *query = gale_args_text(args, "query");
    lite_text names = { .data = NULL };
    gale_str parameter;
    if (key) return read_names(key, "key", made->keys, LITE_LOOKUP_KEYS_MAX, &made->key_count, error);
    while (query && lite_parameter_next(&query, &parameter)) {
        gale_str name = lite_parameter_name(parameter);
        if (name.size) add_name(&names, name.data, name.size);
    }
    const char *text = lite_text_string(&names);
    int rc = text ? read_names(text, "query", made->keys, LITE_LOOKUP_KEYS_MAX, &made->key_count, error)
                  : no_memory(error);
    lite_text_free(&names);
    if (rc < 0 || made->key_count) return rc;
    return gale_error_set(error, GALE_INVALID,
                          "key: it names the fields that say which row; or a query does, as in :user");
}

/* Is each parameter of the query one of the key's fields? */
static int check_query(const lite_lookup_settings *made, const char *query, gale_error *error) {
    gale_str parameter;
    while (query && lite_parameter_next(&query, &parameter)) {
        gale_str name = lite_parameter_name(parameter);
        bool is_there = !name.size;
        for (size_t i = 0; !is_there && i < made->key_count; i++)
            is_there = strlen(made->keys[i]) == name.size && memcmp(made->keys[i], name.data, name.size) == 0;
        if (!is_there)
            return gale_error_set(error, GALE_INVALID, "query: %.*s is no field of key", (int)parameter.size,
                                  parameter.data);
    }
    return 0;
}

/* Those that are named, or all that come in. */
static int read_fields(lite_lookup_settings *made, const gale_args *args, gale_error *error) {
    const char *fields = gale_args_text(args, "fields");
    gale_input input = GALE_INPUT_INIT;
    if (!fields && gale_args_input(args, 0, &input)) fields = input.fields;
    if (!fields)
        return gale_error_set(error, GALE_FIELDS, "fields: what comes in is not known: they must be named here");
    return read_names(fields, "fields", made->fields, LITE_LOOKUP_FIELDS_MAX, &made->field_count, error);
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
static int read_added(lite_lookup_settings *made, const gale_args *args, lite_text *columns, gale_error *error) {
    gale_value list = gale_args_value(args, "add");
    for (size_t i = 0; i < list.size; i++) {
        gale_value one = gale_list_at(&list, i);
        gale_str column, field;
        cut_as((gale_str){ one.as.string, one.size }, &column, &field);
        if (!column.size || !field.size) return gale_error_set(error, GALE_INVALID, "add: a name is empty");
        add_name(&made->all, field.data, field.size);
        if (i) lite_text_add(columns, ", ", 2);
        lite_text_name(columns, column);
    }
    made->add_count = list.size;
    if (made->add_count && made->add_count <= LITE_LOOKUP_FIELDS_MAX) return 0;
    return gale_error_set(error, GALE_INVALID, "add: it names 1 to %d columns", LITE_LOOKUP_FIELDS_MAX);
}

/* --- The statement ---------------------------------------------------------------------------------------------------- */

static gale_str column_of_key(const lite_lookup_settings *made, const gale_value *by, size_t index) {
    if (by->type != GALE_TYPE_LIST) return str_of(made->keys[index]);
    gale_value name = gale_list_at(by, index);
    return (gale_str){ name.as.string, name.size };
}

static int write_select(lite_lookup_settings *made, const gale_args *args, const lite_text *columns, lite_text *to,
                        gale_error *error) {
    gale_value by = gale_args_value(args, "by");
    if (by.type == GALE_TYPE_LIST && by.size != made->key_count)
        return gale_error_set(error, GALE_INVALID, "by: %u columns are named, and the key has %zu fields", by.size,
                              made->key_count);
    lite_text_print(to, "SELECT ");
    lite_text_add(to, columns->data, columns->size);
    lite_text_print(to, " FROM ");
    lite_text_name(to, str_of(gale_args_text(args, "table")));
    for (size_t i = 0; i < made->key_count; i++) {
        lite_text_print(to, i ? " AND " : " WHERE ");
        lite_text_name(to, column_of_key(made, &by, i));
        lite_text_print(to, " = ?%zu", i + 1);
    }
    return 0;
}

static int write_statement(lite_lookup_settings *made, const gale_args *args, const lite_text *columns,
                           gale_error *error) {
    const char *query = gale_args_text(args, "query");
    lite_text text = { .data = NULL };
    if (!query == !gale_args_text(args, "table"))
        return gale_error_set(error, GALE_INVALID, "table: it is one of the two: a table, or a query");
    if (query) lite_text_add(&text, query, strlen(query));
    int rc = query ? 0 : write_select(made, args, columns, &text, error);
    if (rc == 0 && !lite_text_string(&text)) rc = no_memory(error);
    if (rc < 0)
        lite_text_free(&text);
    else
        made->statement = text.data;
    return rc;
}

/* --- All of it -------------------------------------------------------------------------------------------------------- */

static lite_missing missing_of(const char *word) {
    if (strcmp(word, "drop") == 0) return LITE_MISSING_DROP;
    if (strcmp(word, "fail") == 0) return LITE_MISSING_FAIL;
    return strcmp(word, "stream") == 0 ? LITE_MISSING_STREAM : LITE_MISSING_NULL;
}

static int name_outputs(lite_lookup_settings *made, gale_error *error) {
    const char *all = lite_text_string(&made->all), *passed = lite_text_string(&made->passed);
    if (!all || !passed) return no_memory(error);
    made->outputs[0] = (gale_output){ NULL, all };
    made->outputs[1] = (gale_output){ "missing", passed };
    return 0;
}

int lite_lookup_settings_make(lite_lookup_settings *made, const gale_args *args, gale_error *error) {
    lite_text columns = { .data = NULL };
    int rc = lite_settings_make(&made->sqlite, false, args, error);
    if (rc == 0) rc = read_keys(made, args, error);
    if (rc == 0) rc = check_query(made, gale_args_text(args, "query"), error);
    if (rc == 0) rc = read_fields(made, args, error);
    for (size_t i = 0; rc == 0 && i < made->field_count; i++) {
        add_name(&made->all, made->fields[i], strlen(made->fields[i]));
        add_name(&made->passed, made->fields[i], strlen(made->fields[i]));
    }
    if (rc == 0) rc = read_added(made, args, &columns, error);
    if (rc == 0) rc = write_statement(made, args, &columns, error);
    if (rc == 0) rc = name_outputs(made, error);
    made->missing = missing_of(gale_args_text(args, "missing"));
    made->cache_for = gale_args_number(args, "cacheFor");
    made->cache_rows = (size_t)gale_args_whole(args, "cacheKeys");
    made->memory = (uint64_t)gale_args_whole(args, "memory");
    made->finish_wait = (int64_t)(gale_args_number(args, "finishWait") * 1e9);
    lite_text_free(&columns);
    return rc;
}

void lite_lookup_settings_free(void *settings) {
    lite_lookup_settings *made = settings;
    lite_settings_free(&made->sqlite);
    for (size_t i = 0; i < made->key_count; i++) free(made->keys[i]);
    for (size_t i = 0; i < made->field_count; i++) free(made->fields[i]);
    free(made->statement);
    lite_text_free(&made->all);
    lite_text_free(&made->passed);
    free(made);
}
