/* What a bolt that looks up rows was given in a file, whatever the database. Threads: frozen once made. Owner: who makes them frees them. */
#ifndef GALE_SQL_LOOKUP_SETTINGS_H
#define GALE_SQL_LOOKUP_SETTINGS_H

#include "sql/text.h"

#include <gale/plugin.h>

enum { SQL_KEYS_MAX = 16, SQL_FIELDS_MAX = 128 };

/* What becomes of a tuple whose key has no row. */
typedef enum sql_missing { SQL_MISSING_NULL, SQL_MISSING_DROP, SQL_MISSING_FAIL, SQL_MISSING_STREAM } sql_missing;

/* How a database has it. */
typedef struct sql_dialect {
    bool (*next_name)(const char **at,
                      gale_str *ret_name); /* of a list of names with commas between them; false: there is none */
    void (*add_name)(sql_text *text, gale_str name); /* in quotes */
    char parameter;                                  /* the sign before its number */
} sql_dialect;

typedef struct sql_lookup_settings {
    char *keys[SQL_KEYS_MAX]; /* fields */
    size_t key_count;
    char *fields[SQL_FIELDS_MAX]; /* that are passed on */
    size_t field_count, add_count;
    char *statement;
    sql_text all, passed; /* the fields that go out, "a, b", and to the stream `missing` */
    gale_output outputs[2];
    size_t output_count;
    sql_missing missing;
    double cache_for;
    size_t cache_rows;
    uint64_t memory;
    int64_t finish_wait;
} sql_lookup_settings;

/* The names in `text`, a value of `parameter`, as its keys. */
int sql_lookup_read_keys(sql_lookup_settings *settings, const char *text, const char *parameter,
                         const sql_dialect *dialect, gale_error *error);

/* All the others, once the keys are read. What fails is to be freed too. */
int sql_lookup_settings_make(sql_lookup_settings *settings, const gale_args *args, const sql_dialect *dialect,
                             gale_error *error);
void sql_lookup_settings_free(sql_lookup_settings *settings);

#endif
