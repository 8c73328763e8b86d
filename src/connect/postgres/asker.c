#include "connect/postgres/asker.h"

enum { AT_ONCE = 256 }; /* are out at the most */

static void send_more(pg_asker *a) {
    bool some = false;
    for (; a->ready && a->unsent && a->out < AT_ONCE; a->unsent = a->unsent->next, a->out++) {
        int sent = PQsendQueryPrepared(a->link.conn, "ask", a->parameters, a->unsent->values, NULL, NULL, 0);
        if (!sent || !PQpipelineSync(a->link.conn)) {
            pg_link_fail(&a->link, PQerrorMessage(a->link.conn));
            return;
        }
        some = true;
    }
    if (!some) return;
    if (!a->link.expects) pg_link_expect(&a->link, true);
    pg_link_flush(&a->link);
}

static void begin(void *user) {
    pg_asker *a = user;
    bool sent = PQenterPipelineMode(a->link.conn) &&
                PQsendPrepare(a->link.conn, "ask", a->statement, a->parameters, NULL) && PQpipelineSync(a->link.conn);
    if (!sent) {
        pg_link_fail(&a->link, PQerrorMessage(a->link.conn));
        return;
    }
    pg_link_expect(&a->link, true);
    pg_link_flush(&a->link);
}

static void lose(void *user) {
    pg_asker *a = user;
    a->ready = false;
    a->unsent = a->first;
    a->out = 0;
}

static pg_question *take_first(pg_asker *a) {
    pg_question *q = a->first;
    if (!q || q == a->unsent) return NULL;
    a->first = q->next;
    if (!a->first) a->last = &a->first;
    a->out--;
    return q;
}

/* One that says why not, and is of the question alone: 22 and the like. All else is of the server, and comes again. */
static void hear_no(pg_asker *a, const PGresult *result) {
    char why[PG_SAID_MAX];
    pg_said_result(result, why);
    if (!a->ready || !pg_said_refuses_row(result)) {
        pg_link_fail(&a->link, why);
        return;
    }
    pg_question *q = take_first(a);
    if (q) a->ops->answered(a->user, q, NULL, why);
}

static void hear_rows(pg_asker *a, PGresult *result) {
    pg_question *q = take_first(a);
    pg_link_well(&a->link);
    if (q) a->ops->answered(a->user, q, result, NULL);
}

/* The statement is there. */
static void be_ready(pg_asker *a) {
    a->ready = true;
    a->unsent = a->first;
    pg_link_well(&a->link);
}

static void hear_result(pg_asker *a, PGresult *result) {
    switch (PQresultStatus(result)) {
    case PGRES_TUPLES_OK: hear_rows(a, result); break;
    case PGRES_COMMAND_OK:
        if (!a->ready)
            be_ready(a);
        else
            hear_rows(a, result);
        break;
    case PGRES_PIPELINE_SYNC: break;
    default: hear_no(a, result);
    }
}

static void hear(void *user) {
    pg_asker *a = user;
    bool ended = false; /* two in a row that are none: nothing more is there */
    while (a->link.state == PG_UP && !PQisBusy(a->link.conn)) {
        PGresult *result = PQgetResult(a->link.conn);
        if (!result && ended) break;
        ended = !result;
        if (result) hear_result(a, result);
        PQclear(result);
    }
    if (a->link.state != PG_UP) return;
    if (a->ready && a->first == a->unsent) pg_link_expect(&a->link, false);
    send_more(a);
}

static const pg_link_ops link_ops = { begin, hear, lose };

void pg_asker_ask(pg_asker *a, pg_question *question) {
    question->next = NULL;
    *a->last = question;
    a->last = &question->next;
    if (!a->unsent) a->unsent = question;
    send_more(a);
}

int pg_asker_open(pg_asker *a, const pg_settings *given, const char *statement, int parameters,
                  const gale_context *context, gale_collector *out, const pg_asker_ops *ops, void *user,
                  gale_error *error) {
    *a = (pg_asker){ .ops = ops, .user = user, .statement = statement, .parameters = parameters };
    a->last = &a->first;
    return pg_link_open(&a->link, given, false, false, context, out, &link_ops, a, error);
}

void pg_asker_close(pg_asker *a) {
    a->first = a->unsent = NULL;
    pg_link_close(&a->link);
}
