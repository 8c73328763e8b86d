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
                    "columns of dates and times whose fields are numbers since 1970, each with its unit: s, ms, us, ns",
                    0, 0, 0, NULL, NULL, "[minute s, at ms]"),
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

static const gale_param lookup_params[] = {
    CONNECTION_ROW,
    PASSWORD_ROW,
    GALE_PARAM_MORE("table", GALE_PARAM_TEXT, "", "where it is looked up; or a query says it", 0, 0, 0, NULL, NULL,
                    "users"),
    GALE_PARAM_MORE("key", GALE_PARAM_FIELDS, NULL, "fields that say which row", GALE_PARAM_INPUT, 0, 0, NULL, NULL,
                    "[user]"),
    GALE_PARAM_MORE("add", GALE_PARAM_LIST, NULL, "columns that become fields; each perhaps with `as NAME`", 0, 0, 0,
                    NULL, NULL, "[city, country as land]"),
    GALE_PARAM_MORE("by", GALE_PARAM_LIST, "",
                    "the table's columns of the key, in its order; none: they have its names", 0, 0, 0, NULL, NULL,
                    "[user_id]"),
    GALE_PARAM_MORE("query", GALE_PARAM_TEXT, "",
                    "instead of a table: a statement, whose parameters are the key's fields, and its columns `add`", 0,
                    0, 0, NULL, NULL, "select sum(total) from orders where customer = $1"),
    GALE_PARAM_MORE("fields", GALE_PARAM_FIELDS, "", "the fields that are passed on; none: all that come in",
                    GALE_PARAM_INPUT, 0, 0, NULL, NULL, "[path, user]"),
    GALE_PARAM_MORE("missing", GALE_PARAM_WORD, "null",
                    "where there is no row: the columns are null, the tuple is dropped, fails, or goes to the stream "
                    "`missing`",
                    0, 0, 0, "null drop fail stream", NULL, NULL),
    GALE_PARAM_MORE("cacheFor", GALE_PARAM_SECONDS, "60",
                    "how long what was found, or was not, is taken for true; 0: not at all", 0, 0, 86400, NULL, NULL,
                    "5m"),
    GALE_PARAM_MORE("cacheKeys", GALE_PARAM_WHOLE, "100000", "of so many keys, in a task", 0, 1, 1 << 30, NULL, "keys",
                    NULL),
    GALE_PARAM_MORE("memory", GALE_PARAM_BYTES, "16 MiB", "so many bytes wait for answers at once, about", 0, 1,
                    1 << 30, NULL, NULL, NULL),
    TIMEOUT_ROW,
    GALE_PARAM_MORE("finishWait", GALE_PARAM_SECONDS, "60",
                    "at the end: how long nothing may be answered before it gives up", 0, 0, 86400, NULL, NULL, NULL),
};

static const gale_param spout_params[] = {
    CONNECTION_ROW,
    PASSWORD_ROW,
    GALE_PARAM_MORE("slot", GALE_PARAM_TEXT, NULL,
                    "the replication slot that has what was not answered yet; it is made when it is missing", 0, 0, 0,
                    NULL, NULL, "gale_orders"),
    GALE_PARAM_MORE("publication", GALE_PARAM_TEXT, "", "which tables; not given: it is called as the slot is", 0, 0, 0,
                    NULL, NULL, "orders"),
    GALE_PARAM_MORE("tables", GALE_PARAM_LIST, "", "a publication that is missing is made of these", 0, 0, 0, NULL,
                    NULL, "[orders, sales.returns]"),
    GALE_PARAM_MORE("snapshot", GALE_PARAM_BOOL, "true",
                    "the rows that are there already come first, when the slot is made", 0, 0, 0, NULL, NULL, NULL),
    GALE_PARAM_MORE(
        "emit", GALE_PARAM_FIELDS, "op, table, row",
        "the fields that go out: op (insert, update, delete, truncate, snapshot), schema, table, row (a map), "
        "old (a map, of deletes and where the server tells), lsn, time (milliseconds since 1970), xid",
        GALE_PARAM_OUTPUT, 0, 0, NULL, NULL, "[op, row]"),
    GALE_PARAM_MORE("columns", GALE_PARAM_LIST, "", "columns that are fields, too, behind those", GALE_PARAM_OUTPUT, 0,
                    0, NULL, NULL, "[id, total]"),
    GALE_PARAM_MORE("confirmEvery", GALE_PARAM_SECONDS, "1", "so often the server is told how far changes are answered",
                    GALE_PARAM_ABOVE, 0, 20, NULL, NULL, NULL),
    GALE_PARAM_MORE("memory", GALE_PARAM_BYTES, "64 MiB", "how many bytes of changes may be open at once, about", 0, 1,
                    INT64_MAX, NULL, NULL, NULL),
    GALE_PARAM_MORE("maxAttempts", GALE_PARAM_WHOLE, "3",
                    "how often a change is tried before it is reported and given up", 0, 1, UINT32_MAX, NULL, NULL,
                    NULL),
    TIMEOUT_ROW,
};

static const gale_param listen_params[] = {
    CONNECTION_ROW,
    PASSWORD_ROW,
    GALE_PARAM_MORE("channels", GALE_PARAM_LIST, NULL, "what is listened to", 0, 0, 0, NULL, NULL, "[orders]"),
    GALE_PARAM_MORE("emit", GALE_PARAM_FIELDS, "payload", "the fields that go out: payload, channel, pid",
                    GALE_PARAM_OUTPUT, 0, 0, NULL, NULL, "[channel, payload]"),
    GALE_PARAM_MORE("memory", GALE_PARAM_BYTES, "64 MiB", "how many bytes of notifications may be open at once, about",
                    0, 1, INT64_MAX, NULL, NULL, NULL),
    GALE_PARAM_MORE("maxAttempts", GALE_PARAM_WHOLE, "3",
                    "how often a notification is tried before it is reported and given up", 0, 1, UINT32_MAX, NULL,
                    NULL, NULL),
    TIMEOUT_ROW,
};

static const gale_class classes[] = {
    { "gale.spout.PostgresListen", GALE_CLASS_SPOUT, 0, "emits notifications of PostgreSQL (NOTIFY)",
      GALE_TABLE(listen_params), NULL, NULL, "gale.rate", pg_make_listen, NULL, NULL,
      "payload string bytes, channel string, pid int" },
    { "gale.spout.Postgres", GALE_CLASS_SPOUT, 0, "emits changes of PostgreSQL tables, tracked, as they are committed",
      GALE_TABLE(spout_params), NULL, NULL, "gale.rate", pg_make_spout, NULL, NULL,
      "op string, schema string, table string, row map, old map, time int, xid int" },
    GALE_BOLT_CLASS("gale.bolt.PostgresLookup", "adds fields from a PostgreSQL table, or a query, by a key",
                    lookup_params, NULL, pg_make_lookup),
    GALE_BOLT_CLASS("gale.bolt.PostgresSink",
                    "writes each tuple as a row of a PostgreSQL table, and acks it when the server has it", sink_params,
                    NULL, pg_make_sink),
};

static const gale_plugin plugin = GALE_PLUGIN_INIT("postgres", "1.0", "gale.", "Apache-2.0",
                                                   "reads and writes PostgreSQL tables", classes);

GALE_PLUGIN_ENTRY {
    return &plugin;
}
