#include "connect/postgres/replica.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* Of a slot that only lasts as long as its connection. */
static const char snapshot_slot[] = "_snapshot";

/* Between PostgreSQL's 2000 and 1970. */
static const int64_t EPOCH_US = INT64_C(946684800000000);

/* --- What is asked ------------------------------------------------------------------------------------------------------- */

static void ask(pg_replica *r, pg_replica_stage stage, sql_text *query) {
    const char *text = sql_text_string(query);
    r->stage = stage;
    r->asked_wrong = false;
    bool sent = text && PQsendQuery(r->link.conn, text);
    sql_text_free(query);
    if (!sent) {
        pg_link_fail(&r->link, text ? PQerrorMessage(r->link.conn) : "out of memory");
        return;
    }
    pg_link_expect(&r->link, true);
    pg_link_flush(&r->link);
}

/* What settings say is letters of names, and needs nothing in a literal; a publication may have more. */
static void look(pg_replica *r) {
    sql_text query = { .data = NULL };
    char *publication = PQescapeLiteral(r->link.conn, r->given->publication, strlen(r->given->publication));
    if (publication)
        sql_text_print(&query,
                       "SELECT (SELECT confirmed_flush_lsn FROM pg_replication_slots WHERE slot_name = '%s'), "
                       "(SELECT count(*) FROM pg_publication WHERE pubname = %s)",
                       r->given->slot, publication);
    PQfreemem(publication);
    ask(r, PG_REPLICA_LOOKS, &query);
}

static void publish(pg_replica *r) {
    sql_text query = { .data = NULL };
    sql_text_print(&query, "CREATE PUBLICATION ");
    pg_text_name(&query, (gale_str){ r->given->publication, strlen(r->given->publication) });
    sql_text_print(&query, " FOR TABLE %s", r->given->tables.data);
    ask(r, PG_REPLICA_PUBLISHES, &query);
}

static void make_slot(pg_replica *r) {
    sql_text query = { .data = NULL };
    if (r->given->snapshot)
        sql_text_print(&query, "CREATE_REPLICATION_SLOT %s%s TEMPORARY LOGICAL pgoutput EXPORT_SNAPSHOT",
                       r->given->slot, snapshot_slot);
    else
        sql_text_print(&query, "CREATE_REPLICATION_SLOT %s LOGICAL pgoutput NOEXPORT_SNAPSHOT", r->given->slot);
    ask(r, PG_REPLICA_MAKES, &query);
}

static void keep_slot(pg_replica *r) {
    sql_text query = { .data = NULL };
    sql_text_print(&query, "SELECT pg_copy_logical_replication_slot('%s%s', '%s', false)", r->given->slot,
                   snapshot_slot, r->given->slot);
    ask(r, PG_REPLICA_KEEPS, &query);
}

/* The name of a publication is an identifier in a literal. */
static void start(pg_replica *r) {
    sql_text query = { .data = NULL }, name = { .data = NULL };
    pg_text_name(&name, (gale_str){ r->given->publication, strlen(r->given->publication) });
    const char *text = sql_text_string(&name);
    char *literal = text ? PQescapeLiteral(r->link.conn, text, strlen(text)) : NULL;
    if (literal)
        sql_text_print(&query, "START_REPLICATION SLOT %s LOGICAL 0/0 (proto_version '1', publication_names %s)",
                       r->given->slot, literal);
    PQfreemem(literal);
    sql_text_free(&name);
    pg_output_begin(&r->output);
    r->commit = r->skip = 0;
    ask(r, PG_REPLICA_STARTS, &query);
}

/* --- What is answered ---------------------------------------------------------------------------------------------------- */

static void stop(pg_replica *r, const char *why) {
    char text[400];
    snprintf(text, sizeof text, "%s: %s", r->given->postgres.where, why);
    r->over = true;
    pg_link_expect(&r->link, false);
    gale_stop(r->out, GALE_STATE, text);
}

/* What was confirmed beyond what the checkpoint has will not come again. */
static bool can_go_on(pg_replica *r, const char *confirmed) {
    uint64_t lsn;
    if (!r->goes_on) return true;
    if (!confirmed || !pg_lsn_read(confirmed, &lsn))
        stop(r, "the slot that the state goes on from is gone, and changes with it: begin anew, which reads all rows "
                "again");
    else if (lsn > r->places.end && lsn > r->places.lasting)
        stop(r, "the slot was confirmed beyond what the state has: changes between the two are lost to it");
    return !r->over;
}

static void look_at(pg_replica *r, PGresult *result) {
    const char *confirmed = PQgetisnull(result, 0, 0) ? NULL : PQgetvalue(result, 0, 0);
    bool is_published = *PQgetvalue(result, 0, 1) != '0';
    char why[PG_SAID_MAX];
    if (!can_go_on(r, confirmed)) return;
    if (is_published) {
        r->after = confirmed ? PG_REPLICA_STARTS : PG_REPLICA_MAKES;
        return;
    }
    r->after = PG_REPLICA_PUBLISHES;
    if (r->given->tables.size) return;
    snprintf(why, sizeof why, "there is no publication %.100s, and tables names none to make it of",
             r->given->publication);
    snprintf(r->why, sizeof r->why, "%s", why);
    r->asked_wrong = true;
}

static void begin_snapshot(pg_replica *r, PGresult *result) {
    gale_error error = GALE_ERROR_INIT;
    r->after = r->given->snapshot ? PG_REPLICA_READS : PG_REPLICA_STARTS;
    if (!r->given->snapshot) return;
    int rc = pg_snapshot_open(&r->snapshot, r->given, PQgetvalue(result, 0, 2), r->context, r->out, &error);
    r->has_snapshot = true;
    if (rc == 0) return;
    snprintf(r->why, sizeof r->why, "%.*s", (int)sizeof r->why - 1, error.text);
    r->asked_wrong = true;
}

static void note_rows(pg_replica *r, PGresult *result) {
    switch (r->stage) {
    case PG_REPLICA_LOOKS: look_at(r, result); break;
    case PG_REPLICA_MAKES: begin_snapshot(r, result); break;
    default: break;
    }
}

static void note(pg_replica *r, PGresult *result) {
    switch (PQresultStatus(result)) {
    case PGRES_TUPLES_OK: note_rows(r, result); return;
    case PGRES_COMMAND_OK: return;
    case PGRES_COPY_BOTH:
        r->stage = PG_REPLICA_STREAMS;
        r->goes_on = r->context->durable;
        pg_link_well(&r->link);
        return;
    default: break;
    }
    pg_said_result(result, r->why);
    r->asked_wrong = true;
}

/* What was asked is answered: what comes next is asked. */
static void go_on(pg_replica *r) {
    if (r->asked_wrong) {
        pg_link_fail(&r->link, r->why);
        return;
    }
    switch (r->stage == PG_REPLICA_LOOKS || r->stage == PG_REPLICA_MAKES ? r->after : PG_REPLICA_AWAY) {
    case PG_REPLICA_PUBLISHES: publish(r); return;
    case PG_REPLICA_MAKES: make_slot(r); return;
    case PG_REPLICA_READS:
        r->stage = PG_REPLICA_READS;
        pg_link_expect(&r->link, false);
        return;
    case PG_REPLICA_STARTS: start(r); return;
    default: break;
    }
    if (r->stage == PG_REPLICA_PUBLISHES)
        look(r);
    else if (r->stage == PG_REPLICA_KEEPS)
        start(r);
}

static void hear_answers(pg_replica *r) {
    while (r->link.state == PG_UP && r->stage != PG_REPLICA_STREAMS && r->stage != PG_REPLICA_READS && !r->over &&
           !PQisBusy(r->link.conn)) {
        PGresult *result = PQgetResult(r->link.conn);
        if (result)
            note(r, result);
        else
            go_on(r);
        PQclear(result);
    }
}

static void begin(void *user) {
    look(user);
}

static void drop_message(pg_replica *r) {
    PQfreemem(r->message);
    r->message = NULL;
    r->change.kind = PG_CHANGE_NONE;
}

static void end_snapshot(pg_replica *r) {
    if (r->has_snapshot) pg_snapshot_close(&r->snapshot);
    r->has_snapshot = false;
}

static void lose(void *user) {
    pg_replica *r = user;
    drop_message(r);
    end_snapshot(r);
    r->stage = PG_REPLICA_AWAY;
}

/* Changes are asked for when they are wanted: until then no more of them are read. */
static void hear(void *user) {
    pg_replica *r = user;
    hear_answers(r);
    if (r->stage == PG_REPLICA_STREAMS) pg_link_pause(&r->link, true);
}

static const pg_link_ops link_ops = { begin, hear, lose };

/* --- What the server is told ------------------------------------------------------------------------------------------- */

static void write_number(char *to, uint64_t number) {
    for (int i = 0; i < 8; i++) to[i] = (char)(number >> (56 - 8 * i));
}

/* Standby status update. The server answers, so that one that hangs is known. */
static void tell(pg_replica *r) {
    char status[34] = "r";
    struct timespec now;
    uint64_t confirmed = pg_places_confirmed(&r->places);
    clock_gettime(CLOCK_REALTIME, &now);
    write_number(status + 1, confirmed);
    write_number(status + 9, confirmed);
    write_number(status + 17, confirmed);
    write_number(status + 25, (uint64_t)((int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000 - EPOCH_US));
    status[33] = 1;
    if (PQputCopyData(r->link.conn, status, sizeof status) != 1) {
        pg_link_fail(&r->link, PQerrorMessage(r->link.conn));
        return;
    }
    r->told = confirmed;
    if (!r->link.expects) pg_link_expect(&r->link, true);
    pg_link_flush(&r->link);
}

static int hear_timer(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    pg_replica *r = user;
    (void)watch, (void)events;
    (void)gale_watch_set(out, r->timer, 0, gale_context_now(r->context) + r->given->confirm_every);
    if (r->link.state == PG_UP && r->stage == PG_REPLICA_STREAMS) tell(r);
    return 0;
}

/* --- The snapshot -------------------------------------------------------------------------------------------------------- */

/* All its rows are taken, and answered: from now on there is a slot. */
static void keep_snapshot(pg_replica *r) {
    if (!r->snapshot.over || !pg_places_are_done(&r->places)) return;
    end_snapshot(r);
    keep_slot(r);
}

static bool next_row(pg_replica *r, pg_event *ret_event) {
    if (pg_snapshot_next(&r->snapshot, ret_event)) return true;
    if (r->snapshot.lost) {
        char why[PG_SAID_MAX];
        snprintf(why, sizeof why, "%s", r->snapshot.why);
        pg_link_fail(&r->link, why);
    } else {
        keep_snapshot(r);
    }
    return false;
}

/* --- Changes ------------------------------------------------------------------------------------------------------------- */

static uint64_t read_number(const char *from) {
    uint64_t number = 0;
    for (int i = 0; i < 8; i++) number = number << 8 | (unsigned char)from[i];
    return number;
}

static void be_damaged(pg_replica *r, const char *why) {
    drop_message(r);
    pg_link_fail(&r->link, why);
}

static void read_change(pg_replica *r, int size) {
    enum { HEAD = 25 };
    gale_error error = GALE_ERROR_INIT;
    if (size < HEAD) {
        be_damaged(r, "the server's changes cannot be read: a message is too short");
        return;
    }
    int rc = pg_output_read(&r->output, r->message + HEAD, (size_t)(size - HEAD), &r->change, &error);
    r->truncated = 0;
    if (rc < 0) be_damaged(r, error.text);
}

/* The server has nothing more up to there, when no transaction is begun. */
static void read_keepalive(pg_replica *r, int size) {
    if (size >= 9 && !r->commit) pg_places_idle(&r->places, read_number(r->message + 1));
    drop_message(r);
}

static void end_stream(pg_replica *r) {
    char why[PG_SAID_MAX];
    PGresult *result = PQgetResult(r->link.conn);
    if (result)
        pg_said_result(result, why);
    else
        pg_said_connection(r->link.conn, why);
    PQclear(result);
    pg_link_fail(&r->link, *why ? why : "the server has ended the stream");
}

/* The next message, if it is there. */
static bool read_message(pg_replica *r) {
    int size = PQgetCopyData(r->link.conn, &r->message, 1);
    if (size == 0) return false;
    if (size < 0) {
        r->message = NULL;
        end_stream(r);
        return false;
    }
    if (*r->message == 'w')
        read_change(r, size);
    else if (*r->message == 'k')
        read_keepalive(r, size);
    else
        be_damaged(r, "the server's changes cannot be read: a message of no known kind");
    return r->link.state == PG_UP;
}

static void begin_transaction(pg_replica *r) {
    r->commit = r->change.lsn;
    r->time = r->change.time;
    r->xid = r->change.xid;
    r->skip = pg_places_begin(&r->places, r->commit);
    drop_message(r);
}

static void end_transaction(pg_replica *r) {
    if (r->commit && pg_places_end(&r->places, r->commit, r->change.lsn) < 0) return; /* again, when there is memory */
    r->commit = 0;
    drop_message(r);
}

static const char *op_of(pg_change_kind kind) {
    switch (kind) {
    case PG_CHANGE_INSERT: return "insert";
    case PG_CHANGE_UPDATE: return "update";
    case PG_CHANGE_DELETE: return "delete";
    default: return "truncate";
    }
}

/* Goes behind one row, of which a truncation has several. */
static void pass_row(pg_replica *r) {
    if (r->change.kind == PG_CHANGE_TRUNCATE && ++r->truncated < r->change.truncated_count) return;
    drop_message(r);
}

static bool next_change(pg_replica *r, pg_event *ret_event) {
    const pg_change *change = &r->change;
    bool truncates = change->kind == PG_CHANGE_TRUNCATE;
    if (truncates && !change->truncated_count) {
        drop_message(r);
        return false;
    }
    if (r->skip) {
        if (r->skip != UINT64_MAX) r->skip--;
        pass_row(r);
        return false;
    }
    *ret_event = (pg_event){ .op = op_of(change->kind),
                             .relation = truncates ? change->truncated[r->truncated] : change->relation,
                             .now = change->now,
                             .before = change->before,
                             .lsn = r->commit,
                             .time = r->time,
                             .xid = r->xid };
    return true;
}

static bool next_streamed(pg_replica *r, pg_event *ret_event) {
    while (r->link.state == PG_UP && (r->message || read_message(r))) {
        pg_change_kind kind = r->message ? r->change.kind : PG_CHANGE_NONE;
        if (kind == PG_CHANGE_BEGIN)
            begin_transaction(r);
        else if (kind == PG_CHANGE_COMMIT) {
            end_transaction(r);
            if (r->message) return false;
        } else if (kind == PG_CHANGE_NONE)
            drop_message(r);
        else if (!r->commit)
            be_damaged(r, "the server's changes cannot be read: a change of no transaction");
        else if (next_change(r, ret_event))
            return true;
    }
    return false;
}

bool pg_replica_next(pg_replica *r, pg_event *ret_event, int64_t *ret_place) {
    bool is = r->stage == PG_REPLICA_STREAMS ? next_streamed(r, ret_event)
                                             : r->stage == PG_REPLICA_READS && next_row(r, ret_event);
    return is && pg_places_row(&r->places, ret_place) == 0;
}

void pg_replica_pass(pg_replica *r) {
    pg_places_taken(&r->places);
    if (r->stage == PG_REPLICA_READS) {
        r->places.open_rows = 0; /* of no transaction */
        pg_snapshot_pass(&r->snapshot);
    } else {
        pass_row(r);
    }
}

void pg_replica_pause(pg_replica *r, bool paused) {
    if (r->stage == PG_REPLICA_STREAMS) pg_link_pause(&r->link, paused);
    if (r->has_snapshot) pg_link_pause(&r->snapshot.link, paused);
}

void pg_replica_answer(pg_replica *r, int64_t place) {
    pg_places_done(&r->places, place);
    if (r->stage == PG_REPLICA_READS) keep_snapshot(r);
}

/* --- Checkpoints --------------------------------------------------------------------------------------------------------- */

int pg_replica_save(pg_replica *r, gale_saver *to) {
    const gale_value streams = gale_bool(r->goes_on);
    int rc = gale_save(to, &streams, 1);
    return rc < 0 ? rc : pg_places_save(&r->places, to);
}

int pg_replica_restore(pg_replica *r, gale_saved *from) {
    const gale_value *head;
    size_t count;
    int rc = gale_saved_next(from, &head, &count);
    if (rc <= 0) return rc < 0 ? rc : GALE_DAMAGED;
    if (count != 1 || head[0].type != GALE_TYPE_BOOL) return GALE_DAMAGED;
    r->goes_on = head[0].as.boolean;
    return pg_places_restore(&r->places, from);
}

/* --- It ------------------------------------------------------------------------------------------------------------------ */

int pg_replica_open(pg_replica *r, const pg_spout_settings *given, const gale_context *context, gale_collector *out,
                    gale_error *error) {
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    *r = (pg_replica){ .given = given, .context = context, .out = out };
    int rc = pg_places_open(&r->places, context);
    if (rc == 0) rc = pg_output_init(&r->output);
    if (rc < 0) return gale_error_set(error, rc, "%s", gale_error_text(rc));
    options.at = gale_context_now(context) + given->confirm_every;
    options.always = true;
    options.call = hear_timer;
    options.user = r;
    rc = gale_watch_new(out, &options, &r->timer);
    if (rc < 0) return gale_error_set(error, rc, "%s: no timer: %s", given->postgres.where, gale_error_text(rc));
    return pg_link_open(&r->link, &given->postgres, true, true, context, out, &link_ops, r, error);
}

/* The last word, as far as it goes without waiting. */
void pg_replica_close(pg_replica *r) {
    if (r->link.state == PG_UP && r->stage == PG_REPLICA_STREAMS && pg_places_confirmed(&r->places) > r->told) tell(r);
    end_snapshot(r);
    pg_link_close(&r->link);
    drop_message(r);
    pg_output_free(&r->output);
    pg_places_close(&r->places);
}
