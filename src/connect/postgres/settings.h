/* What a class of PostgreSQL's was given in a file: checked, and as libpq wants it.
 * Threads: frozen once made. Owner: who makes them frees them. */
#ifndef GALE_CONNECT_POSTGRES_SETTINGS_H
#define GALE_CONNECT_POSTGRES_SETTINGS_H

#include <gale/plugin.h>
#include <libpq-fe.h>

typedef struct pg_settings {
    char *connection; /* as libpq takes it, without a password */
    char *password_from;
    int64_t timeout; /* ns: for a connection, and for an answer */
    char where[128]; /* "postgres db@host:5432": what reports begin with */
} pg_settings;

/* Of the parameters that all classes have. GALE_INVALID with a sentence that begins with the parameter; GALE_NO_MEMORY. What was made is freed by
 * pg_settings_free, also then. */
int pg_settings_make(pg_settings *settings, const gale_args *args, gale_error *error);
void pg_settings_free(pg_settings *settings);

/* Begins to connect, the password read from its file; `replicates`: as one that changes are streamed to. NULL with a sentence: a file cannot be read, memory
 * is out. Else a connection to ask PQstatus of, and to finish. */
PGconn *pg_settings_connect(const pg_settings *settings, bool replicates, gale_error *error);

/* A copy of a parameter's text; NULL where there is none. GALE_NO_MEMORY. */
int pg_copy(char **to, const gale_args *args, const char *parameter, gale_error *error);

/* The next of names with commas between them: `*at` goes behind it. False: there is none. */
bool pg_next_name(const char **at, gale_str *ret_name);

#endif
