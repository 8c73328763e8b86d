/* What a PostgresLookup was given in a file. Threads: frozen once made. Owner: who makes them frees them. */
#ifndef GALE_CONNECT_POSTGRES_LOOKUP_SETTINGS_H
#define GALE_CONNECT_POSTGRES_LOOKUP_SETTINGS_H

#include "connect/postgres/settings.h"
#include "connect/postgres/text.h"

enum { PG_LOOKUP_KEYS_MAX = 16, PG_LOOKUP_FIELDS_MAX = 128 };

typedef enum pg_missing { PG_MISSING_NULL, PG_MISSING_DROP, PG_MISSING_FAIL, PG_MISSING_STREAM } pg_missing;

typedef struct pg_lookup_settings {
    pg_settings postgres;
    char *keys[PG_LOOKUP_KEYS_MAX]; /* fields */
    size_t key_count;
    char *fields[PG_LOOKUP_FIELDS_MAX]; /* that are passed on */
    size_t field_count, add_count;
    char *statement;
    pg_text all, passed; /* the fields that go out, "a, b", and to the stream `missing` */
    gale_output outputs[2];
    pg_missing missing;
    double cache_for;
    size_t cache_rows;
    uint64_t memory;
    int64_t finish_wait;
} pg_lookup_settings;

/* As pg_sink_settings_make. */
int pg_lookup_settings_make(pg_lookup_settings *settings, const gale_args *args, gale_error *error);
void pg_lookup_settings_free(void *settings);

#endif
