/* What a PostgresSink was given in a file. Threads: frozen once made. Owner: who makes them frees them. */
#ifndef GALE_CONNECT_POSTGRES_SINK_SETTINGS_H
#define GALE_CONNECT_POSTGRES_SINK_SETTINGS_H

#include "connect/postgres/table.h"

typedef struct pg_sink_settings {
    pg_settings postgres;
    pg_table table;
    char *target, *markers, *refused; /* refused: NULL, none */
    size_t rows;                      /* of a batch, at the most */
    int64_t linger, finish_wait;      /* ns */
    uint64_t memory;
} pg_sink_settings;

/* GALE_INVALID with a sentence that begins with the parameter; GALE_FIELDS, GALE_NO_MEMORY. What was made is freed by pg_sink_settings_free, also then. */
int pg_sink_settings_make(pg_sink_settings *settings, const gale_args *args, gale_error *error);
void pg_sink_settings_free(void *settings);

#endif
