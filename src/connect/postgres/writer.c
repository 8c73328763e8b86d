#include "connect/postgres/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Out -------------------------------------------------------------------------------------------------------------- */

static void ask(pg_writer *w, pg_writer_state state, const char *query) {
    w->state = state;
    w->failed = w->refused = false;
    if (!PQsendQuery(w->link.conn, query)) {
        pg_link_fail(&w->link, PQerrorMessage(w->link.conn));
        return;
    }
    pg_link_expect(&w->link, true);
    pg_link_flush(&w->link);
}

static void swap(pg_writer *w) {
    pg_batch empty = w->out;
    pg_batch_clear(&empty);
    w->out = w->filling;
    w->filling = empty;
    w->since = 0;
    pg_batch_begin(&w->out, w->given->rows);
}

static bool is_due(const pg_writer *w) {
    return w->filling.count >= w->given->rows || !w->given->linger ||
           gale_context_now(w->link.context) >= w->since + w->given->linger;
}

/* What is left of what was out goes first. */
static void send_next(pg_writer *w) {
    gale_str text;
    if (w->state != PG_WRITER_IDLE) return;
    if (!pg_batch_part(&w->out, &text)) {
        if (!w->filling.count) return;
        if (!is_due(w)) {
            (void)gale_watch_set(w->link.out, w->timer, 0, w->since + w->given->linger);
            return;
        }
        swap(w);
    }
    ask(w, PG_WRITER_ASKED, w->query);
}

static void copy_rows(pg_writer *w) {
    gale_str text = { NULL, 0 };
    (void)pg_batch_part(&w->out, &text);
    w->state = PG_WRITER_COPIED;
    for (size_t i = 0; i < w->out.part; i++) w->ops->sent(w->user, w->out.rows[w->out.next + i].id);
    enum { AT_ONCE = 1 << 20 };
    bool sent = true;
    for (size_t at = 0; sent && at < text.size; at += AT_ONCE)
        sent = PQputCopyData(w->link.conn, text.data + at,
                             text.size - at < AT_ONCE ? (int)(text.size - at) : AT_ONCE) == 1;
    if (!sent || PQputCopyEnd(w->link.conn, NULL) != 1)
        pg_link_fail(&w->link, PQerrorMessage(w->link.conn));
    else
        pg_link_flush(&w->link);
}

/* --- What became of it ------------------------------------------------------------------------------------------------ */

static void be_taken(pg_writer *w) {
    size_t first, count;
    pg_batch_taken(&w->out, &first, &count);
    pg_link_well(&w->link);
    for (size_t i = 0; i < count; i++) w->ops->taken(w->user, w->out.rows[first + i].id);
}

static void be_refused(pg_writer *w) {
    size_t index;
    if (pg_batch_refused(&w->out, &index)) w->ops->refused(w->user, w->out.rows[index].id, w->why);
}

static void end_query(pg_writer *w) {
    pg_link_expect(&w->link, false);
    if (w->failed) {
        pg_link_fail(&w->link, w->why);
        return;
    }
    bool was_copy = w->state == PG_WRITER_COPIED || w->state == PG_WRITER_ASKED;
    w->state = PG_WRITER_IDLE;
    if (w->refused)
        be_refused(w);
    else if (was_copy)
        be_taken(w);
    send_next(w);
}

static void note(pg_writer *w, const PGresult *result) {
    switch (PQresultStatus(result)) {
    case PGRES_COPY_IN: copy_rows(w); return;
    case PGRES_COMMAND_OK: return;
    default: pg_said_result(result, w->why); break;
    }
    w->link.ended = PQstatus(w->link.conn) == CONNECTION_BAD && !PQresultErrorField(result, PG_DIAG_SQLSTATE);
    bool of_rows = w->state == PG_WRITER_COPIED && pg_said_refuses_row(result);
    w->refused = w->refused || of_rows;
    w->failed = w->failed || !of_rows;
}

static bool is_waiting(const pg_writer *w) {
    return w->state != PG_WRITER_AWAY && w->state != PG_WRITER_IDLE;
}

static void hear(void *user) {
    pg_writer *w = user;
    while (w->link.state == PG_UP && is_waiting(w) && !PQisBusy(w->link.conn)) {
        PGresult *result = PQgetResult(w->link.conn);
        if (result)
            note(w, result);
        else
            end_query(w);
        bool copies = result && PQresultStatus(result) == PGRES_COPY_IN;
        PQclear(result);
        if (copies) break; /* nothing more comes before the rows are there */
    }
}

static void begin(void *user) {
    pg_writer *w = user;
    w->state = PG_WRITER_IDLE;
    if (w->given->table.stage)
        ask(w, PG_WRITER_STAGING, w->given->table.stage);
    else
        send_next(w);
}

/* What is out goes again: as a whole; or in halves, where the server hung up behind it; one row that it hung up behind often enough is out. */
static void lose(void *user) {
    pg_writer *w = user;
    bool counts = w->state == PG_WRITER_COPIED && w->link.ended;
    size_t index;
    uint64_t rejected = w->ops->lost(w->user, counts, w->link.why);
    if (rejected || (counts && w->out.part > 1)) (void)pg_batch_refused(&w->out, &index);
    if (counts) w->link.backoff = (gale_backoff){ 0 }; /* it is there */
    w->state = PG_WRITER_AWAY;
}

static const pg_link_ops link_ops = { begin, hear, lose };

static int hear_timer(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    (void)out, (void)watch, (void)events;
    send_next(user);
    return 0;
}

/* --- In --------------------------------------------------------------------------------------------------------------- */

int pg_writer_take(pg_writer *w, const gale_tuple *tuple, pg_writer_hold_fn *hold, char *why, size_t size) {
    pg_batch *batch = &w->filling;
    uint64_t id;
    size_t before = batch->text.size;
    int rc = pg_table_row(&w->given->table, tuple, w->number, &batch->text, why, size);
    if (rc < 0) return rc;
    rc = pg_batch_add(batch, 0);
    if (rc < 0) return rc;
    rc = hold(w->user, tuple, batch->text.size - before, &id);
    if (rc < 0) {
        batch->count--;
        batch->text.size = before;
        return rc;
    }
    batch->rows[batch->count - 1].id = id;
    w->number++;
    if (batch->count == 1) w->since = gale_context_now(w->link.context);
    if (batch->count == 1 || batch->count == w->given->rows) send_next(w);
    return 0;
}

void pg_writer_drive(pg_writer *w, int milliseconds) {
    w->since = INT64_MIN / 2;
    send_next(w);
    pg_link_drive(&w->link, milliseconds);
}

/* --- It --------------------------------------------------------------------------------------------------------------- */

static char *query_of(const pg_table *table) {
    sql_text text = { .data = NULL };
    sql_text_print(&text, "%s%s%s", table->copy, table->merge ? "; " : "", table->merge ? table->merge : "");
    if (sql_text_string(&text)) return text.data;
    sql_text_free(&text);
    return NULL;
}

void pg_writer_hurry(pg_writer *w) {
    if (!w->filling.count) return;
    w->since = gale_context_now(w->link.context) - w->given->linger;
    send_next(w);
}

int pg_writer_open(pg_writer *w, const pg_sink_settings *given, const gale_context *context, gale_collector *out,
                   const pg_writer_ops *ops, void *user, gale_error *error) {
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    *w = (pg_writer){ .given = given, .ops = ops, .user = user, .query = query_of(&given->table) };
    if (!w->query) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    options.always = true;
    options.call = hear_timer;
    options.user = w;
    int rc = gale_watch_new(out, &options, &w->timer);
    if (rc < 0) return gale_error_set(error, rc, "%s: no timer: %s", given->postgres.where, gale_error_text(rc));
    return pg_link_open(&w->link, &given->postgres, false, true, context, out, &link_ops, w, error);
}

void pg_writer_close(pg_writer *w) {
    pg_link_close(&w->link);
    pg_batch_free(&w->filling);
    pg_batch_free(&w->out);
    free(w->query);
}
