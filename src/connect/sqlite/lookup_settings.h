/* What a SqliteLookup was given in a file. Threads: frozen once made. Owner: who makes them frees them. */
#ifndef GALE_CONNECT_SQLITE_LOOKUP_SETTINGS_H
#define GALE_CONNECT_SQLITE_LOOKUP_SETTINGS_H

#include "connect/sqlite/settings.h"
#include "connect/sqlite/text.h"

enum { LITE_LOOKUP_KEYS_MAX = 16, LITE_LOOKUP_FIELDS_MAX = 128 };

typedef enum lite_missing { LITE_MISSING_NULL, LITE_MISSING_DROP, LITE_MISSING_FAIL, LITE_MISSING_STREAM } lite_missing;

typedef struct lite_lookup_settings {
    lite_settings sqlite;
    char *keys[LITE_LOOKUP_KEYS_MAX]; /* fields */
    size_t key_count;
    char *fields[LITE_LOOKUP_FIELDS_MAX]; /* that are passed on */
    size_t field_count, add_count;
    char *statement;
    lite_text all, passed; /* the fields that go out, "a, b", and to the stream `missing` */
    gale_output outputs[2];
    lite_missing missing;
    double cache_for;
    size_t cache_rows;
    uint64_t memory;
    int64_t finish_wait;
} lite_lookup_settings;

/* As lite_sink_settings_make. */
int lite_lookup_settings_make(lite_lookup_settings *settings, const gale_args *args, gale_error *error);
void lite_lookup_settings_free(void *settings);

#endif
