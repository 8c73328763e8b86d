#include "connect/sqlite/rows_settings.h"

#include "connect/sqlite/parameters.h"

#include <stdlib.h>
#include <string.h>

static gale_str str_of(const char *text) {
    return (gale_str){ text, strlen(text) };
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

/* --- Columns ---------------------------------------------------------------------------------------------------------- */

/* "total as amount": the column, and the field. */
static void cut_as(gale_str text, gale_str *ret_column, gale_str *ret_field) {
    size_t at = 0;
    while (at + 4 <= text.size && memcmp(text.data + at, " as ", 4) != 0) at++;
    *ret_column = *ret_field = text;
    if (at + 4 > text.size) return;
    ret_column->size = at;
    *ret_field = (gale_str){ text.data + at + 4, text.size - at - 4 };
}

static int read_columns(lite_rows_settings *made, const gale_args *args, sql_text *columns, gale_error *error) {
    gale_value list = gale_args_value(args, "columns");
    for (size_t i = 0; i < list.size; i++) {
        gale_value one = gale_list_at(&list, i);
        gale_str column, field;
        cut_as((gale_str){ one.as.string, one.size }, &column, &field);
        if (!column.size || !field.size) return gale_error_set(error, GALE_INVALID, "columns: a name is empty");
        if (i) sql_text_print(&made->fields, ", ");
        sql_text_add(&made->fields, field.data, field.size);
        sql_text_print(columns, ", ");
        lite_text_name(columns, column);
    }
    made->count = list.size;
    if (!made->count || made->count > GALE_INTAKE_VALUES_MAX)
        return gale_error_set(error, GALE_INVALID, "columns: it names 1 to %d columns", GALE_INTAKE_VALUES_MAX);
    if (!sql_text_string(&made->fields)) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    made->output = (gale_output){ NULL, made->fields.data };
    return 0;
}

/* --- Statements ------------------------------------------------------------------------------------------------------- */

static const char *order_of(const gale_args *args) {
    const char *by = gale_args_text(args, "by");
    return by ? by : "rowid";
}

static int write_select(lite_rows_settings *made, const gale_args *args, const sql_text *columns, gale_error *error) {
    const char *table = gale_args_text(args, "table"), *query = gale_args_text(args, "query");
    const char *where = gale_args_text(args, "where"), *mark = gale_args_text(args, "mark");
    gale_str by = str_of(order_of(args));
    sql_text text = { .data = NULL };
    sql_text_print(&text, "SELECT ");
    lite_text_name(&text, by);
    sql_text_add(&text, columns->data, columns->size);
    sql_text_print(&text, " FROM ");
    if (table)
        lite_text_name(&text, str_of(table));
    else
        sql_text_print(&text, "(%s\n)", query);
    sql_text_print(&text, " WHERE ");
    lite_text_name(&text, by);
    sql_text_print(&text, " > ?1");
    if (where) sql_text_print(&text, " AND (%s\n)", where);
    if (mark) {
        sql_text_print(&text, " AND ");
        lite_text_name(&text, str_of(mark));
        sql_text_print(&text, " IS NULL");
    }
    sql_text_print(&text, " ORDER BY ");
    lite_text_name(&text, by);
    sql_text_print(&text, " LIMIT ?2");
    return keep(&text, &made->select, error);
}

static int write_answer(lite_rows_settings *made, const gale_args *args, gale_error *error) {
    const char *table = gale_args_text(args, "table"), *mark = gale_args_text(args, "mark");
    sql_text text = { .data = NULL };
    if (made->after == LITE_KEEP) return 0;
    sql_text_print(&text, made->after == LITE_MARK ? "UPDATE " : "DELETE FROM ");
    lite_text_name(&text, str_of(table));
    if (made->after == LITE_MARK) {
        sql_text_print(&text, " SET ");
        lite_text_name(&text, str_of(mark));
        sql_text_print(&text, " = ?2");
    }
    sql_text_print(&text, " WHERE ");
    lite_text_name(&text, str_of(order_of(args)));
    sql_text_print(&text, " = ?1");
    return keep(&text, &made->answer, error);
}

/* Who names the column that orders the rows says that its numbers never come again. */
static int name_numbered(lite_rows_settings *made, const gale_args *args, gale_error *error) {
    if (made->after != LITE_DELETE || gale_args_text(args, "by")) return 0;
    return lite_copy(&made->numbered, args, "table", error);
}

/* Places in another table, or by another column, are others. */
static void name_origin(lite_rows_settings *made, const gale_args *args) {
    const char *table = gale_args_text(args, "table");
    const gale_value parts[] = { gale_text(table ? table : gale_args_text(args, "query")), gale_text(order_of(args)) };
    gale_value origin = gale_list(parts, 2);
    made->origin = gale_value_hash(&origin);
}

/* --- What goes together ------------------------------------------------------------------------------------------------ */

static int has_no_parameter(const char *name, const char *text, gale_error *error) {
    gale_str parameter;
    if (!text || !lite_parameter_next(&text, &parameter)) return 0;
    return gale_error_set(error, GALE_INVALID, "%s: %.*s is a parameter, and there is nothing that it could be", name,
                          (int)parameter.size, parameter.data);
}

static int check(lite_rows_settings *made, const gale_args *args, gale_error *error) {
    static const char *const of_tables[] = { "where", "mark" };
    const char *query = gale_args_text(args, "query");
    if (!query == !gale_args_text(args, "table"))
        return gale_error_set(error, GALE_INVALID, "table: it is one of the two: a table, or a query");
    for (size_t i = 0; query && i < sizeof of_tables / sizeof *of_tables; i++)
        if (gale_args_given(args, of_tables[i]))
            return gale_error_set(error, GALE_INVALID, "%s: it is of a table, not of a query", of_tables[i]);
    if (query && made->after == LITE_DELETE)
        return gale_error_set(error, GALE_INVALID, "delete: rows of a table can be deleted, not of a query");
    if (query && !gale_args_text(args, "by"))
        return gale_error_set(error, GALE_INVALID, "by: a query needs the column that orders its rows");
    if (gale_args_flag(args, "delete") && gale_args_text(args, "mark"))
        return gale_error_set(error, GALE_INVALID, "mark: it is one of the two: a row is marked, or deleted");
    int rc = has_no_parameter("query", query, error);
    return rc < 0 ? rc : has_no_parameter("where", gale_args_text(args, "where"), error);
}

int lite_rows_settings_make(lite_rows_settings *made, const gale_args *args, gale_error *error) {
    sql_text columns = { .data = NULL };
    made->after = gale_args_text(args, "mark") ? LITE_MARK : gale_args_flag(args, "delete") ? LITE_DELETE : LITE_KEEP;
    int rc = lite_settings_make(&made->sqlite, false, args, error);
    if (rc == 0) rc = check(made, args, error);
    if (rc == 0) rc = read_columns(made, args, &columns, error);
    if (rc == 0) rc = write_select(made, args, &columns, error);
    if (rc == 0) rc = write_answer(made, args, error);
    if (rc == 0) rc = name_numbered(made, args, error);
    if (rc == 0) name_origin(made, args);
    sql_text_free(&columns);
    made->follows = gale_args_flag(args, "follow");
    made->every = (int64_t)(gale_args_number(args, "every") * 1e9);
    made->memory = (uint64_t)gale_args_whole(args, "memory");
    made->attempts = (uint32_t)gale_args_whole(args, "maxAttempts");
    return rc;
}

void lite_rows_settings_free(void *settings) {
    lite_rows_settings *made = settings;
    lite_settings_free(&made->sqlite);
    sql_text_free(&made->fields);
    free(made->select);
    free(made->answer);
    free(made->numbered);
    free(made);
}
