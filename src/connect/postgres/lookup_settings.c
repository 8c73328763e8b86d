#include "connect/postgres/lookup_settings.h"

#include "connect/postgres/text.h"

#include <stdlib.h>

static const sql_dialect dialect = { pg_next_name, pg_text_name, '$' };

int pg_lookup_settings_make(pg_lookup_settings *made, const gale_args *args, gale_error *error) {
    int rc = pg_settings_make(&made->postgres, args, error);
    if (rc == 0) rc = sql_lookup_read_keys(&made->lookup, gale_args_text(args, "key"), "key", &dialect, error);
    return rc < 0 ? rc : sql_lookup_settings_make(&made->lookup, args, &dialect, error);
}

void pg_lookup_settings_free(void *settings) {
    pg_lookup_settings *made = settings;
    pg_settings_free(&made->postgres);
    sql_lookup_settings_free(&made->lookup);
    free(made);
}
