#include "connect/postgres/snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void be_lost(pg_snapshot *s, const char *why) {
    if (!s->lost) snprintf(s->why, sizeof s->why, "the snapshot: %.*s", PG_SAID_MAX - 20, why);
    s->lost = true;
}

static void send(pg_snapshot *s, sql_text *query, bool row_by_row) {
    const char *text = sql_text_string(query);
    if (!text)
        be_lost(s, "out of memory");
    else if (!PQsendQuery(s->link.conn, text) || (row_by_row && !PQsetSingleRowMode(s->link.conn)))
        be_lost(s, PQerrorMessage(s->link.conn));
    sql_text_free(query);
    if (s->lost) return;
    pg_link_expect(&s->link, true);
    pg_link_flush(&s->link);
}

/* Before version 15 a publication has all columns and rows of a table. */
static void list_tables(void *user) {
    pg_snapshot *s = user;
    sql_text query = { .data = NULL };
    bool picks = PQserverVersion(s->link.conn) >= 150000;
    s->table = -1;
    sql_text_print(
        &query,
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET TRANSACTION SNAPSHOT '%s'; "
        "SELECT schemaname, tablename, %s, (SELECT relkind = 'p' FROM pg_class WHERE oid = format('%%I.%%I', "
        "schemaname, tablename)::regclass) FROM pg_publication_tables WHERE pubname = '%s' ORDER BY 1, 2",
        s->name,
        picks ? "(SELECT string_agg(quote_ident(name), ', ') FROM unnest(attnames) name), rowfilter" : "'*', NULL",
        s->given->publication);
    send(s, &query, false);
}

static void read_table(pg_snapshot *s) {
    sql_text query = { .data = NULL };
    if (++s->table >= PQntuples(s->tables)) {
        s->over = true;
        pg_link_expect(&s->link, false);
        return;
    }
    const char *schema = PQgetvalue(s->tables, s->table, 0), *name = PQgetvalue(s->tables, s->table, 1);
    bool is_divided = *PQgetvalue(s->tables, s->table, 4) == 't'; /* its rows are its partitions' */
    sql_text_print(&query, "SELECT %s FROM %s", PQgetvalue(s->tables, s->table, 2), is_divided ? "" : "ONLY ");
    char *quoted_schema = PQescapeIdentifier(s->link.conn, schema, strlen(schema));
    char *quoted_name = PQescapeIdentifier(s->link.conn, name, strlen(name));
    if (quoted_schema && quoted_name) sql_text_print(&query, "%s.%s", quoted_schema, quoted_name);
    PQfreemem(quoted_schema);
    PQfreemem(quoted_name);
    if (!PQgetisnull(s->tables, s->table, 3)) sql_text_print(&query, " WHERE %s", PQgetvalue(s->tables, s->table, 3));
    send(s, &query, true);
}

static void lose(void *user) {
    pg_snapshot *s = user;
    if (!s->over) be_lost(s, "its connection is lost");
}

/* Rows are asked for when they are wanted. */
static void hear(void *user) {
    (void)user;
}

static const pg_link_ops link_ops = { list_tables, hear, lose };

/* --- Rows -------------------------------------------------------------------------------------------------------------- */

static void hear_tables(pg_snapshot *s, PGresult *result) {
    switch (PQresultStatus(result)) {
    case PGRES_COMMAND_OK: PQclear(result); return;
    case PGRES_TUPLES_OK:
        s->tables = result;
        if (PQntuples(result) == 0) be_lost(s, "the publication has no tables");
        return;
    default: {
        char why[PG_SAID_MAX];
        pg_said_result(result, why);
        be_lost(s, why);
        PQclear(result);
    }
    }
}

static void hear_row(pg_snapshot *s, PGresult *result) {
    char why[PG_SAID_MAX];
    switch (PQresultStatus(result)) {
    case PGRES_SINGLE_TUPLE: s->row = result; return;
    case PGRES_TUPLES_OK: break; /* the end of them */
    default: pg_said_result(result, why); be_lost(s, why);
    }
    PQclear(result);
}

/* Until there is a row, or nothing more. */
static void look(pg_snapshot *s) {
    while (s->link.state == PG_UP && !s->row && !s->lost && !s->over && !PQisBusy(s->link.conn)) {
        PGresult *result = PQgetResult(s->link.conn);
        if (!result)
            read_table(s);
        else if (s->tables)
            hear_row(s, result);
        else
            hear_tables(s, result);
    }
}

/* Tables have other columns, rows of one have not. */
static bool room_for(pg_snapshot *s, size_t count) {
    if (count < s->room) return true;
    free(s->relation.attributes);
    free(s->cells);
    s->relation.attributes = calloc(count + 1, sizeof *s->relation.attributes);
    s->cells = calloc(count + 1, sizeof *s->cells);
    s->room = s->relation.attributes && s->cells ? count + 1 : 0;
    return s->room > 0;
}

static bool fill_cells(pg_snapshot *s) {
    size_t count = (size_t)PQnfields(s->row);
    if (!room_for(s, count)) return false;
    s->relation.schema = PQgetvalue(s->tables, s->table, 0);
    s->relation.name = PQgetvalue(s->tables, s->table, 1);
    s->relation.count = count;
    for (int i = 0; i < (int)count; i++) {
        s->relation.attributes[i] = (pg_attribute){ PQfname(s->row, i), PQftype(s->row, i), false };
        s->cells[i] = (pg_cell){ .text = NULL };
        if (!PQgetisnull(s->row, 0, i))
            s->cells[i] = (pg_cell){ PQgetvalue(s->row, 0, i), (size_t)PQgetlength(s->row, 0, i), false };
    }
    return true;
}

bool pg_snapshot_next(pg_snapshot *s, pg_event *ret_event) {
    bool had = s->row != NULL;
    look(s);
    if (!s->row) return false;
    if (!had && !fill_cells(s)) {
        be_lost(s, "out of memory");
        return false;
    }
    *ret_event = (pg_event){ .op = "snapshot", .relation = &s->relation, .now = s->cells };
    return true;
}

void pg_snapshot_pass(pg_snapshot *s) {
    PQclear(s->row);
    s->row = NULL;
}

/* --- It ----------------------------------------------------------------------------------------------------------------- */

int pg_snapshot_open(pg_snapshot *s, const pg_spout_settings *given, const char *name, const gale_context *context,
                     gale_collector *out, gale_error *error) {
    *s = (pg_snapshot){ .given = given };
    snprintf(s->name, sizeof s->name, "%s", name);
    return pg_link_open(&s->link, &given->postgres, false, false, context, out, &link_ops, s, error);
}

void pg_snapshot_close(pg_snapshot *s) {
    s->over = true;
    pg_link_close(&s->link);
    PQclear(s->row);
    PQclear(s->tables);
    free(s->relation.attributes);
    free(s->cells);
    *s = (pg_snapshot){ .lost = false };
}
