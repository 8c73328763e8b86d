/* What a Postgres spout was given in a file. Threads: frozen once made. Owner: who makes them frees them. */
#ifndef GALE_CONNECT_POSTGRES_SPOUT_SETTINGS_H
#define GALE_CONNECT_POSTGRES_SPOUT_SETTINGS_H

#include "connect/postgres/row.h"
#include "connect/postgres/settings.h"

typedef struct pg_spout_settings {
    pg_settings postgres;
    pg_row row;
    gale_output output;
    char *slot, *publication;
    sql_text tables; /* "a", "b": those of a publication that is missing; empty: none */
    bool snapshot;
    int64_t confirm_every; /* ns */
    uint64_t memory;
    uint32_t attempts;
} pg_spout_settings;

/* As pg_sink_settings_make. */
int pg_spout_settings_make(pg_spout_settings *settings, const gale_args *args, gale_error *error);
void pg_spout_settings_free(void *settings);

#endif
