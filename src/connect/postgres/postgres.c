/* The connector postgres: gale.bolt.PostgresSink, gale.bolt.PostgresLookup, gale.spout.Postgres and gale.spout.PostgresListen, by libpq.
 * docs/connectors/postgres.md. */
#include "connect/postgres/postgres.h"

#define CONNECTION_ROW                                                                                                 \
    GALE_PARAM_MORE("connection", GALE_PARAM_TEXT, NULL,                                                               \
                    "where the database is, as libpq takes it, without a password: 'host=... dbname=...' or "          \
                    "postgresql://user@host/dbname",                                                                   \
                    0, 0, 0, NULL, NULL, "host=db1 dbname=shop user=gale sslmode=verify-full")
#define PASSWORD_ROW                                                                                                   \
    GALE_PARAM_MORE("passwordFrom", GALE_PARAM_TEXT, "", "a file with the password", GALE_PARAM_READS, 0, 0, NULL,     \
                    NULL, "/run/secrets/postgres")
#define TIMEOUT_ROW                                                                                                    \
    GALE_PARAM_MORE("timeout", GALE_PARAM_SECONDS, "30",                                                               \
                    "how long a server may be silent that is to answer, before the connection is made anew",           \
                    GALE_PARAM_ABOVE, 0, 3600, NULL, NULL, "10s")

static const gale_param sink_params[] = {
    CONNECTION_ROW,
    PASSWORD_ROW,
    GALE_PARAM_MORE("table", GALE_PARAM_TEXT, NULL, "where the rows go", 0, 0, 0, NULL, NULL, "sales.orders"),
    GALE_PARAM_MORE("fields", GALE_PARAM_FIELDS, "", "the fields that are written; not given: all that come in",
                    GALE_PARAM_INPUT, 0, 0, NULL, NULL, "[id, total]"),
    GALE_PARAM_MORE("columns", GALE_PARAM_LIST, "", "their columns, in the same order; not given: of the same names", 0,
                    0, 0, NULL, NULL, "[order_id, amount]"),
    GALE_PARAM_MORE("key", GALE_PARAM_LIST, "",
                    "columns that are unique in the table: a row whose key is there already replaces it", 0, 0, 0, NULL,
                    NULL, "[order_id]"),
    GALE_PARAM_MORE("onConflict", GALE_PARAM_WORD, "update",
                    "with a key: whether the new row replaces, or what is there stays", 0, 0, 0, "update ignore", NULL,
                    NULL),
    GALE_PARAM_MORE("times", GALE_PARAM_LIST, "",
                    "columns of dates and times: a whole number is milliseconds since 1970", 0, 0, 0, NULL, NULL,
                    "[at]"),
    GALE_PARAM_MORE("batch", GALE_PARAM_WHOLE, "10000", "so many rows go out together at the most", 0, 1, 1000000, NULL,
                    "rows", NULL),
    GALE_PARAM_MORE("linger", GALE_PARAM_SECONDS, "0", "so long a row waits for others, while nothing is out", 0, 0,
                    3600, NULL, NULL, "100ms"),
    GALE_PARAM_MORE("markers", GALE_PARAM_TEXT, "gale_markers",
                    "in a durable run: the table that says what is in, which is made when it is missing", 0, 0, 0, NULL,
                    NULL, "ops.gale_markers"),
    GALE_PARAM_MORE("refused", GALE_PARAM_TEXT, "",
                    "in a durable run: a table for rows that the server refuses, which is made when it is missing; not "
                    "given: such a row ends the run",
                    0, 0, 0, NULL, NULL, "gale_refused"),
    GALE_PARAM_MORE("memory", GALE_PARAM_BYTES, "16 MiB", "so many bytes are on their way at once, about", 0, 1,
                    1 << 30, NULL, NULL, NULL),
    TIMEOUT_ROW,
    GALE_PARAM_MORE("finishWait", GALE_PARAM_SECONDS, "60",
                    "at the end: how long nothing may be confirmed before it gives up", 0, 0, 86400, NULL, NULL, NULL),
};

static const gale_class classes[] = {
    GALE_BOLT_CLASS("gale.bolt.PostgresSink",
                    "writes each tuple as a row of a PostgreSQL table, and acks it when the server has it", sink_params,
                    NULL, pg_make_sink),
};

static const gale_plugin plugin = GALE_PLUGIN_INIT("postgres", "1.0", "gale.", "Apache-2.0",
                                                   "reads and writes PostgreSQL tables", classes);

GALE_PLUGIN_ENTRY {
    return &plugin;
}
