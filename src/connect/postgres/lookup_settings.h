/* What a PostgresLookup was given in a file. Threads: frozen once made. Owner: who makes them frees them. */
#ifndef GALE_CONNECT_POSTGRES_LOOKUP_SETTINGS_H
#define GALE_CONNECT_POSTGRES_LOOKUP_SETTINGS_H

#include "connect/postgres/settings.h"
#include "sql/lookup_settings.h"

typedef struct pg_lookup_settings {
    pg_settings postgres;
    sql_lookup_settings lookup;
} pg_lookup_settings;

/* As pg_sink_settings_make. */
int pg_lookup_settings_make(pg_lookup_settings *settings, const gale_args *args, gale_error *error);
void pg_lookup_settings_free(void *settings);

#endif
