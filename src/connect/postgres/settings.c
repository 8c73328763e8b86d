#include "connect/postgres/settings.h"

#include <gale/connect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(gale_error *error) {
    return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
}

int pg_copy(char **to, const gale_args *args, const char *parameter, gale_error *error) {
    const char *text = gale_args_text(args, parameter);
    *to = text ? strdup(text) : NULL;
    return text && !*to ? no_memory(error) : 0;
}

bool pg_next_name(const char **at, gale_str *ret_name) {
    static const char between[] = ", ";
    if (!*at) return false;
    *at += strspn(*at, between);
    *ret_name = (gale_str){ *at, strcspn(*at, between) };
    *at += ret_name->size;
    return ret_name->size > 0;
}

/* --- The connection --------------------------------------------------------------------------------------------------- */

static const char *option_of(const PQconninfoOption *options, const char *keyword) {
    for (; options->keyword; options++)
        if (strcmp(options->keyword, keyword) == 0) return options->val;
    return NULL;
}

static const char *or_else(const char *text, const char *other) {
    return text && *text ? text : other;
}

static void name_place(pg_settings *settings, const PQconninfoOption *options) {
    const char *host = option_of(options, "host");
    if (!host) host = option_of(options, "hostaddr");
    snprintf(settings->where, sizeof settings->where, "postgres %s@%s:%s",
             or_else(option_of(options, "dbname"), or_else(option_of(options, "user"), "")),
             or_else(host, or_else(getenv("PGHOST"), "local")),
             or_else(option_of(options, "port"), or_else(getenv("PGPORT"), "5432")));
}

/* What libpq says of it may have a part of it. */
static int check_connection(pg_settings *settings, gale_error *error) {
    char *why = NULL;
    PQconninfoOption *options = PQconninfoParse(settings->connection, &why);
    PQfreemem(why);
    if (!options)
        return gale_error_set(error, GALE_INVALID,
                              "connection: it is neither 'host=... dbname=...' nor postgresql://host/dbname");
    name_place(settings, options);
    bool secret = option_of(options, "password") || option_of(options, "sslpassword");
    bool replicates = option_of(options, "replication");
    PQconninfoFree(options);
    if (secret)
        return gale_error_set(error, GALE_INVALID,
                              "connection: it has a password, which is read from a file: passwordFrom, or libpq's "
                              "own passfile");
    return replicates ? gale_error_set(error, GALE_INVALID, "connection: replication is set by the class alone") : 0;
}

int pg_settings_make(pg_settings *settings, const gale_args *args, gale_error *error) {
    *settings = (pg_settings){ .timeout = (int64_t)(gale_args_number(args, "timeout") * 1e9) };
    int rc = pg_copy(&settings->connection, args, "connection", error);
    if (rc == 0) rc = pg_copy(&settings->password_from, args, "passwordFrom", error);
    return rc < 0 ? rc : check_connection(settings, error);
}

void pg_settings_free(pg_settings *settings) {
    free(settings->connection);
    free(settings->password_from);
}

static void hear_nothing(void *user, const PGresult *result) {
    (void)user, (void)result;
}

PGconn *pg_settings_connect(const pg_settings *settings, bool replicates, gale_error *error) {
    const char *names[] = { "dbname", "fallback_application_name", "client_encoding", "password", "replication", NULL };
    char *password = NULL;
    if (settings->password_from && !(password = gale_secret_read("passwordFrom", settings->password_from, error)))
        return NULL;
    const char *values[] = { settings->connection, "gale", "UTF8", password, replicates ? "database" : NULL, NULL };
    PGconn *conn = PQconnectStartParams(names, values, 1);
    gale_secret_free(password);
    if (!conn) {
        (void)no_memory(error);
        return NULL;
    }
    PQsetNoticeReceiver(conn, hear_nothing, NULL);
    return conn;
}
