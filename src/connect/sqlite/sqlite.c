/* The connector sqlite: gale.bolt.SqliteSink, gale.bolt.SqliteLetters, gale.bolt.SqliteLookup and gale.spout.SqliteRows, by libsqlite3. docs/connectors/sqlite.md. */
#include "connect/sqlite/sqlite.h"

#define PATH_ROW GALE_PARAM_MORE("path", GALE_PARAM_TEXT, NULL, "the database file", 0, 0, 0, NULL, NULL, "shop.db")
#define TIMEOUT_ROW                                                                                                    \
    GALE_PARAM_MORE("timeout", GALE_PARAM_SECONDS, "5",                                                                \
                    "how long a lock of somebody else's is waited for at once, before it is told and tried again",     \
                    GALE_PARAM_ABOVE, 0, 60, NULL, NULL, "10s")
/* Of sinks. */
#define JOURNAL_ROW                                                                                                    \
    GALE_PARAM_MORE("journal", GALE_PARAM_WORD, "keep",                                                                \
                    "the file's journal: wal has readers and the writer not wait for each other; keep: as it is", 0,   \
                    0, 0, "keep wal delete", NULL, NULL)
#define SYNC_ROW                                                                                                       \
    GALE_PARAM_MORE("sync", GALE_PARAM_WORD, "full",                                                                   \
                    "what outlives a loss of power: full is what was confirmed; normal and off are faster", 0, 0, 0,   \
                    "full normal off", NULL, NULL)
#define BATCH_ROW                                                                                                      \
    GALE_PARAM_MORE("batch", GALE_PARAM_WHOLE, "10000", "so many rows are written together at the most", 0, 1,         \
                    1000000, NULL, "rows", NULL)
#define LINGER_ROW                                                                                                     \
    GALE_PARAM_MORE("linger", GALE_PARAM_SECONDS, "0", "so long a row waits for others, while none are written", 0, 0, \
                    3600, NULL, NULL, "100ms")
#define MARKERS_ROW                                                                                                    \
    GALE_PARAM_MORE("markers", GALE_PARAM_TEXT, "gale_markers",                                                        \
                    "in a durable run: the table that says what is in, which is made when it is missing", 0, 0, 0,     \
                    NULL, NULL, NULL)
#define MEMORY_ROW(what) GALE_PARAM_MORE("memory", GALE_PARAM_BYTES, "16 MiB", what, 0, 1, 1 << 30, NULL, NULL, NULL)
#define FINISH_ROW                                                                                                     \
    GALE_PARAM_MORE("finishWait", GALE_PARAM_SECONDS, "60",                                                            \
                    "at the end: how long nothing may go on before it gives up", 0, 0, 86400, NULL, NULL, NULL)

static const gale_param sink_params[] = {
    PATH_ROW,
    GALE_PARAM_MORE("table", GALE_PARAM_TEXT, "", "where the rows go; or a statement says it", 0, 0, 0, NULL, NULL,
                    "orders"),
    GALE_PARAM_MORE("statement", GALE_PARAM_TEXT, "",
                    "instead of a table: what is done with each tuple, whose parameters are named as its fields", 0, 0,
                    0, NULL, NULL, "update stock set n = n - :sold where item = :item"),
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
    GALE_PARAM_MORE("create", GALE_PARAM_BOOL, "false",
                    "a file or a table that is missing is made, of these columns and the key", 0, 0, 0, NULL, NULL,
                    NULL),
    JOURNAL_ROW,
    SYNC_ROW,
    BATCH_ROW,
    LINGER_ROW,
    MARKERS_ROW,
    GALE_PARAM_MORE("refused", GALE_PARAM_TEXT, "",
                    "in a durable run: a table for rows that are refused, which is made when it is missing; not given: "
                    "such a row ends the run",
                    0, 0, 0, NULL, NULL, "gale_refused"),
    MEMORY_ROW("so many bytes are on their way at once, about"),
    TIMEOUT_ROW,
    FINISH_ROW,
};

static const gale_param letters_params[] = {
    PATH_ROW,
    GALE_PARAM_MORE("table", GALE_PARAM_TEXT, "letters", "where they go; what is missing is made", 0, 0, 0, NULL, NULL,
                    NULL),
    JOURNAL_ROW,
    SYNC_ROW,
    BATCH_ROW,
    LINGER_ROW,
    MARKERS_ROW,
    MEMORY_ROW("so many bytes are on their way at once, about"),
    TIMEOUT_ROW,
    FINISH_ROW,
};

static const gale_param lookup_params[] = {
    PATH_ROW,
    GALE_PARAM_MORE("table", GALE_PARAM_TEXT, "", "where it is looked up; or a query says it", 0, 0, 0, NULL, NULL,
                    "users"),
    GALE_PARAM_MORE("key", GALE_PARAM_FIELDS, "", "fields that say which row; not given: the query's parameters",
                    GALE_PARAM_INPUT, 0, 0, NULL, NULL, "[user]"),
    GALE_PARAM_MORE("add", GALE_PARAM_LIST, NULL, "columns that become fields; each perhaps with `as NAME`", 0, 0, 0,
                    NULL, NULL, "[city, country as land]"),
    GALE_PARAM_MORE("by", GALE_PARAM_LIST, "",
                    "the table's columns of the key, in its order; none: they have its names", 0, 0, 0, NULL, NULL,
                    "[user_id]"),
    GALE_PARAM_MORE("query", GALE_PARAM_TEXT, "",
                    "instead of a table: a statement, whose parameters are named as fields, and its columns `add`", 0,
                    0, 0, NULL, NULL, "select sum(total) from orders where customer = :user"),
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
    MEMORY_ROW("so many bytes wait for answers at once, about"),
    TIMEOUT_ROW,
    FINISH_ROW,
};

static const gale_param rows_params[] = {
    PATH_ROW,
    GALE_PARAM_MORE("table", GALE_PARAM_TEXT, "", "whose rows; or a query says it", 0, 0, 0, NULL, NULL, "letters"),
    GALE_PARAM_MORE("query", GALE_PARAM_TEXT, "", "instead of a table: a statement that selects", 0, 0, 0, NULL, NULL,
                    "select o.id, c.name from orders o join customers c on c.id = o.customer"),
    GALE_PARAM_MORE("columns", GALE_PARAM_LIST, NULL, "the columns that go out; each perhaps with `as NAME`",
                    GALE_PARAM_OUTPUT, 0, 0, NULL, NULL, "[id, total as amount]"),
    GALE_PARAM_MORE("by", GALE_PARAM_TEXT, "",
                    "the column that orders the rows, whole numbers that grow; not given: the table's rowid", 0, 0, 0,
                    NULL, NULL, "id"),
    GALE_PARAM_MORE("where", GALE_PARAM_TEXT, "", "of a table: which of its rows", 0, 0, 0, NULL, NULL,
                    "reason = 'timeout'"),
    GALE_PARAM_MORE("delete", GALE_PARAM_BOOL, "false", "a row of the table is deleted when it is answered", 0, 0, 0,
                    NULL, NULL, NULL),
    GALE_PARAM_MORE("mark", GALE_PARAM_TEXT, "",
                    "a column of the table that says what became of a row when it is answered; where it is not null, "
                    "the row is not read",
                    0, 0, 0, NULL, NULL, "replayed"),
    GALE_PARAM_MORE("follow", GALE_PARAM_BOOL, "false", "it waits for more rows at the end", 0, 0, 0, NULL, NULL, NULL),
    GALE_PARAM_MORE("every", GALE_PARAM_SECONDS, "1", "so often it looks for more", GALE_PARAM_ABOVE, 0, 86400, NULL,
                    NULL, "100ms"),
    GALE_PARAM_MORE("memory", GALE_PARAM_BYTES, "64 MiB", "how many bytes of rows may be open at once, about", 0, 1,
                    INT64_MAX, NULL, NULL, NULL),
    GALE_PARAM_MORE("maxAttempts", GALE_PARAM_WHOLE, "3", "how often a row is tried before it is reported and given up",
                    0, 1, UINT32_MAX, NULL, NULL, NULL),
    TIMEOUT_ROW,
};

static const gale_class classes[] = {
    { "gale.spout.SqliteRows", GALE_CLASS_SPOUT, 0, "emits the rows of an SQLite table or query in order, tracked",
      GALE_TABLE(rows_params), NULL, NULL, "gale.rate", lite_make_rows, NULL, NULL, NULL },
    GALE_BOLT_CLASS("gale.bolt.SqliteLetters",
                    "writes dead letters to a table of an SQLite file, which sqlite3 opens and SqliteRows reads",
                    letters_params, NULL, lite_make_letters),
    GALE_BOLT_CLASS("gale.bolt.SqliteLookup", "adds fields from an SQLite table, or a query, by a key", lookup_params,
                    NULL, lite_make_lookup),
    GALE_BOLT_CLASS("gale.bolt.SqliteSink", "writes each tuple as a row of an SQLite table, and acks it when it is in",
                    sink_params, NULL, lite_make_sink),
};

static const gale_plugin plugin = GALE_PLUGIN_INIT(
    "sqlite", "1.0", "gale.", "Apache-2.0", "reads and writes SQLite files, and keeps dead letters in one", classes);

GALE_PLUGIN_ENTRY {
    return &plugin;
}
