#include "connect/postgres/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gale_str str_of(const char *text) {
    return (gale_str){ text, strlen(text) };
}

/* --- Columns ---------------------------------------------------------------------------------------------------------- */

static pg_column *column_of(pg_table *table, gale_str name) {
    for (size_t i = 0; i < table->count; i++)
        if (strlen(table->columns[i].name) == name.size && memcmp(table->columns[i].name, name.data, name.size) == 0)
            return &table->columns[i];
    return NULL;
}

static int add_column(pg_table *table, gale_str field, gale_error *error) {
    if (table->count == PG_COLUMNS_MAX)
        return gale_error_set(error, GALE_INVALID, "fields: a table has at most %d columns", PG_COLUMNS_MAX);
    pg_column *column = &table->columns[table->count++];
    column->field = strndup(field.data, field.size);
    column->name = strndup(field.data, field.size);
    return column->field && column->name ? 0 : gale_error_set(error, GALE_NO_MEMORY, "out of memory");
}

/* Those that are named, or all that come in. */
static int read_fields(pg_table *table, const gale_args *args, gale_error *error) {
    const char *fields = gale_args_text(args, "fields");
    gale_input input = GALE_INPUT_INIT;
    gale_str field;
    int rc = 0;
    if (!fields && gale_args_input(args, 0, &input)) fields = input.fields;
    if (!fields)
        return gale_error_set(error, GALE_FIELDS, "fields: what comes in is not known: they must be named here");
    while (rc == 0 && pg_next_name(&fields, &field)) rc = add_column(table, field, error);
    if (rc < 0 || table->count) return rc;
    return gale_error_set(error, GALE_INVALID, "fields: it names none");
}

/* Their names in the table, where these are others. */
static int read_names(pg_table *table, const gale_args *args, gale_error *error) {
    gale_value list = gale_args_value(args, "columns");
    if (list.type != GALE_TYPE_LIST) return 0;
    if (list.size != table->count)
        return gale_error_set(error, GALE_INVALID, "columns: %u are named, and there are %zu fields", list.size,
                              table->count);
    for (size_t i = 0; i < table->count; i++) {
        gale_value name = gale_list_at(&list, i);
        free(table->columns[i].name);
        table->columns[i].name = strndup(name.as.string, name.size);
        if (!table->columns[i].name) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    }
    return 0;
}

static int no_column(const char *parameter, gale_str name, gale_error *error) {
    return gale_error_set(error, GALE_INVALID, "%s: %.*s is none of the columns that are written", parameter,
                          (int)name.size, name.data);
}

static int mark_keys(pg_table *table, const gale_args *args, gale_error *error) {
    gale_value list = gale_args_value(args, "key");
    for (size_t i = 0; list.type == GALE_TYPE_LIST && i < list.size; i++) {
        gale_value name = gale_list_at(&list, i);
        pg_column *column = column_of(table, (gale_str){ name.as.string, name.size });
        if (!column) return no_column("key", (gale_str){ name.as.string, name.size }, error);
        column->is_key = table->keyed = true;
    }
    return 0;
}

/* "minute s": cuts the unit off. How many there are in a second; 0: it is none. */
static int64_t cut_unit(gale_str *name) {
    static const struct {
        const char *name;
        int64_t in_second;
    } units[] = { { " s", 1 }, { " ms", 1000 }, { " us", 1000000 }, { " ns", 1000000000 } };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t size = strlen(units[i].name);
        if (name->size <= size || memcmp(name->data + name->size - size, units[i].name, size) != 0) continue;
        name->size -= size;
        return units[i].in_second;
    }
    return 0;
}

static int mark_times(pg_table *table, const gale_args *args, gale_error *error) {
    gale_value list = gale_args_value(args, "times");
    for (size_t i = 0; list.type == GALE_TYPE_LIST && i < list.size; i++) {
        gale_value text = gale_list_at(&list, i);
        gale_str name = { text.as.string, text.size };
        int64_t unit = cut_unit(&name);
        if (!unit)
            return gale_error_set(error, GALE_INVALID,
                                  "times: %.*s has no unit: s, ms, us or ns since 1970, as in '%.*s s'", (int)name.size,
                                  name.data, (int)name.size, name.data);
        pg_column *column = column_of(table, name);
        if (!column) return no_column("times", name, error);
        column->unit = unit;
    }
    return 0;
}

/* --- Statements ------------------------------------------------------------------------------------------------------- */

/* "a", "b": of all, of the keys, or `form` with the name for both %s of each that is no key. */
static void list_columns(const pg_table *table, sql_text *to, bool keys_only) {
    bool first = true;
    for (size_t i = 0; i < table->count; i++) {
        if (keys_only && !table->columns[i].is_key) continue;
        sql_text_print(to, first ? "" : ", ");
        pg_text_name(to, str_of(table->columns[i].name));
        first = false;
    }
}

static bool has_others(const pg_table *table) {
    for (size_t i = 0; i < table->count; i++)
        if (!table->columns[i].is_key) return true;
    return false;
}

static void list_updates(const pg_table *table, sql_text *to) {
    bool first = true;
    for (size_t i = 0; i < table->count; i++) {
        if (table->columns[i].is_key) continue;
        sql_text_print(to, first ? "" : ", ");
        pg_text_name(to, str_of(table->columns[i].name));
        sql_text_print(to, " = EXCLUDED.");
        pg_text_name(to, str_of(table->columns[i].name));
        first = false;
    }
}

/* Takes the text. */
static int keep(sql_text *text, char **ret, gale_error *error) {
    if (!sql_text_string(text)) {
        sql_text_free(text);
        return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    }
    *ret = text->data;
    return 0;
}

static int write_copy(pg_table *table, gale_str target, gale_error *error) {
    sql_text text = { .data = NULL };
    sql_text_print(&text, "COPY ");
    if (table->keyed)
        sql_text_print(&text, "gale_batch");
    else
        pg_text_name(&text, target);
    sql_text_print(&text, " (");
    list_columns(table, &text, false);
    sql_text_print(&text, table->keyed ? ", gale_row) FROM STDIN" : ") FROM STDIN");
    return keep(&text, &table->copy, error);
}

static int write_stage(pg_table *table, gale_str target, gale_error *error) {
    sql_text text = { .data = NULL };
    sql_text_print(&text, "CREATE TEMP TABLE gale_batch ON COMMIT DELETE ROWS AS SELECT ");
    list_columns(table, &text, false);
    sql_text_print(&text, ", 0::bigint AS gale_row FROM ");
    pg_text_name(&text, target);
    sql_text_print(&text, " WITH NO DATA");
    return keep(&text, &table->stage, error);
}

static int write_merge(pg_table *table, gale_str target, bool stays, gale_error *error) {
    sql_text text = { .data = NULL };
    sql_text_print(&text, "INSERT INTO ");
    pg_text_name(&text, target);
    sql_text_print(&text, " (");
    list_columns(table, &text, false);
    sql_text_print(&text, ") SELECT DISTINCT ON (");
    list_columns(table, &text, true);
    sql_text_print(&text, ") ");
    list_columns(table, &text, false);
    sql_text_print(&text, " FROM gale_batch ORDER BY ");
    list_columns(table, &text, true);
    sql_text_print(&text, stays ? ", gale_row ON CONFLICT (" : ", gale_row DESC ON CONFLICT (");
    list_columns(table, &text, true);
    sql_text_print(&text, stays || !has_others(table) ? ") DO NOTHING" : ") DO UPDATE SET ");
    if (!stays) list_updates(table, &text);
    return keep(&text, &table->merge, error);
}

static int write_statements(pg_table *table, const gale_args *args, gale_error *error) {
    gale_str target = str_of(gale_args_text(args, "table"));
    const char *conflict = gale_args_text(args, "onConflict");
    int rc = write_copy(table, target, error);
    if (rc < 0 || !table->keyed) return rc;
    rc = write_stage(table, target, error);
    return rc < 0 ? rc : write_merge(table, target, strcmp(conflict, "ignore") == 0, error);
}

/* --- It --------------------------------------------------------------------------------------------------------------- */

int pg_table_make(pg_table *table, const gale_args *args, gale_error *error) {
    *table = (pg_table){ .columns = calloc(PG_COLUMNS_MAX, sizeof *table->columns) };
    if (!table->columns) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    int rc = read_fields(table, args, error);
    if (rc == 0) rc = read_names(table, args, error);
    if (rc == 0) rc = mark_keys(table, args, error);
    if (rc == 0) rc = mark_times(table, args, error);
    if (rc == 0) rc = write_statements(table, args, error);
    if (rc < 0) return rc;
    gale_value copy = gale_text(table->copy);
    table->shape = gale_value_hash(&copy);
    return 0;
}

void pg_table_free(pg_table *table) {
    for (size_t i = 0; i < table->count; i++) {
        free(table->columns[i].field);
        free(table->columns[i].name);
    }
    free(table->columns);
    free(table->stage);
    free(table->copy);
    free(table->merge);
}

static const char *add_field(const pg_column *column, const gale_tuple *tuple, sql_text *to) {
    gale_value value;
    if (!gale_tuple_get(tuple, column->field, &value)) return "is not there";
    if (column->is_key && value.type == GALE_TYPE_NULL) return "is null, and is a key";
    return pg_text_copy_value(to, &value, column->unit);
}

int pg_table_row(const pg_table *table, const gale_tuple *tuple, uint64_t number, sql_text *to, char *why,
                 size_t size) {
    size_t before = to->size;
    for (size_t i = 0; i < table->count; i++) {
        if (i) sql_text_add(to, "\t", 1);
        const char *wrong = add_field(&table->columns[i], tuple, to);
        if (!wrong) continue;
        to->size = before;
        snprintf(why, size, "field %s %s", table->columns[i].field, wrong);
        return GALE_INVALID;
    }
    if (table->keyed) sql_text_print(to, "\t%" PRIu64, number);
    sql_text_add(to, "\n", 1);
    if (!to->failed) return 0;
    to->size = before;
    to->failed = false;
    return GALE_NO_MEMORY;
}
