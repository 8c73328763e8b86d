/* What a SqliteLookup was given in a file. Threads: frozen once made. Owner: who makes them frees them. */
#ifndef GALE_CONNECT_SQLITE_LOOKUP_SETTINGS_H
#define GALE_CONNECT_SQLITE_LOOKUP_SETTINGS_H

#include "connect/sqlite/settings.h"
#include "sql/lookup_settings.h"

typedef struct lite_lookup_settings {
    lite_settings sqlite;
    sql_lookup_settings lookup;
} lite_lookup_settings;

/* As lite_sink_settings_make. */
int lite_lookup_settings_make(lite_lookup_settings *settings, const gale_args *args, gale_error *error);
void lite_lookup_settings_free(void *settings);

#endif
