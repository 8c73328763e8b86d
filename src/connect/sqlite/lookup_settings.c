#include "connect/sqlite/lookup_settings.h"

#include "connect/sqlite/parameters.h"
#include "connect/sqlite/text.h"

#include <stdlib.h>
#include <string.h>

static const sql_dialect dialect = { lite_next_name, lite_text_name, '?' };

/* Those that are named; or, of a query, its parameters. */
static int read_keys(lite_lookup_settings *made, const gale_args *args, gale_error *error) {
    const char *key = gale_args_text(args, "key"), *query = gale_args_text(args, "query");
    sql_text names = { .data = NULL };
    gale_str parameter;
    if (key) return sql_lookup_read_keys(&made->lookup, key, "key", &dialect, error);
    while (query && lite_parameter_next(&query, &parameter)) {
        gale_str name = lite_parameter_name(parameter);
        if (!name.size) continue;
        if (names.size) sql_text_put(&names, ", ");
        sql_text_add(&names, name.data, name.size);
    }
    const char *text = sql_text_string(&names);
    int rc = text ? sql_lookup_read_keys(&made->lookup, text, "query", &dialect, error)
                  : gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    sql_text_free(&names);
    if (rc < 0 || made->lookup.key_count) return rc;
    return gale_error_set(error, GALE_INVALID,
                          "key: it names the fields that say which row; or a query does, as in :user");
}

/* Is each parameter of the query one of the key's fields? */
static int check_query(const lite_lookup_settings *made, const char *query, gale_error *error) {
    gale_str parameter;
    while (query && lite_parameter_next(&query, &parameter)) {
        gale_str name = lite_parameter_name(parameter);
        bool is_there = !name.size;
        for (size_t i = 0; !is_there && i < made->lookup.key_count; i++)
            is_there = strlen(made->lookup.keys[i]) == name.size &&
                       memcmp(made->lookup.keys[i], name.data, name.size) == 0;
        if (!is_there)
            return gale_error_set(error, GALE_INVALID, "query: %.*s is no field of key", (int)parameter.size,
                                  parameter.data);
    }
    return 0;
}

int lite_lookup_settings_make(lite_lookup_settings *made, const gale_args *args, gale_error *error) {
    int rc = lite_settings_make(&made->sqlite, false, args, error);
    if (rc == 0) rc = read_keys(made, args, error);
    if (rc == 0) rc = check_query(made, gale_args_text(args, "query"), error);
    return rc < 0 ? rc : sql_lookup_settings_make(&made->lookup, args, &dialect, error);
}

void lite_lookup_settings_free(void *settings) {
    lite_lookup_settings *made = settings;
    lite_settings_free(&made->sqlite);
    sql_lookup_settings_free(&made->lookup);
    free(made);
}
