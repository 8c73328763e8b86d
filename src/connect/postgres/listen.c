/* Notifications of PostgreSQL (NOTIFY) to tuples: gale.spout.PostgresListen. The server keeps none for who is away, and knows no answers: what comes while there is no
 * connection is lost, which is told when there is one again. */
#include "connect/postgres/link.h"
#include "connect/postgres/postgres.h"
#include "connect/postgres/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS_MAX = 3 };
enum { PAYLOAD, CHANNEL, PID };
static const char *const names[] = { "payload", "channel", "pid", NULL };

/* A definition's block. */
typedef struct settings {
    pg_settings postgres;
    sql_text query; /* LISTEN "a"; LISTEN "b" */
    gale_names emit;
    gale_output output;
    uint64_t memory;
    uint32_t attempts;
} settings;

typedef struct listener {
    pg_link link;
    const settings *given;
    gale_intake *intake;
    PGnotify *next; /* that memory was out for */
    bool listens, failed, was_away;
    char why[PG_SAID_MAX];
} listener;

/* --- The connection ------------------------------------------------------------------------------------------------------ */

static void begin(void *user) {
    listener *l = user;
    l->failed = false;
    if (!PQsendQuery(l->link.conn, l->given->query.data)) {
        pg_link_fail(&l->link, PQerrorMessage(l->link.conn));
        return;
    }
    pg_link_expect(&l->link, true);
    pg_link_flush(&l->link);
}

static void be_there(listener *l) {
    pg_link_expect(&l->link, false);
    if (l->failed) {
        pg_link_fail(&l->link, l->why);
        return;
    }
    l->listens = true;
    if (l->was_away)
        gale_log(l->link.context->logger, GALE_LOG_WARN, l->link.context->component,
                 "%s: notifications of the time without a connection are lost", l->given->postgres.where);
    pg_link_well(&l->link);
}

/* Notifications are asked for when they are wanted: until then no more are read. */
static void hear(void *user) {
    listener *l = user;
    while (!l->listens && l->link.state == PG_UP && !PQisBusy(l->link.conn)) {
        PGresult *result = PQgetResult(l->link.conn);
        if (!result) {
            be_there(l);
        } else if (PQresultStatus(result) != PGRES_COMMAND_OK) {
            l->failed = true;
            pg_said_result(result, l->why);
        }
        PQclear(result);
    }
    if (l->listens) pg_link_pause(&l->link, true);
}

static void lose(void *user) {
    listener *l = user;
    l->was_away = l->was_away || l->listens;
    l->listens = false;
}

static const pg_link_ops link_ops = { begin, hear, lose };

/* --- A task -------------------------------------------------------------------------------------------------------------- */

static void spout_close(void *self) {
    listener *l = self;
    PQfreemem(l->next);
    pg_link_close(&l->link);
    gale_intake_free(l->intake);
    free(l);
}

static int open_intake(listener *l, const gale_context *context, gale_collector *out, gale_error *error) {
    gale_intake_options options = GALE_INTAKE_OPTIONS_INIT;
    options.what = "notification";
    options.memory = l->given->memory;
    options.attempts = l->given->attempts;
    int rc = gale_intake_new(context, out, &options, &l->intake, error);
    if (rc < 0 || context->task_index) return rc;
    return pg_link_open(&l->link, &l->given->postgres, false, true, context, out, &link_ops, l, error);
}

static int spout_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    gale_error error = GALE_ERROR_INIT;
    listener *l = calloc(1, sizeof *l);
    if (!l) return GALE_NO_MEMORY;
    l->given = user;
    int rc = open_intake(l, context, out, &error);
    if (rc < 0) {
        gale_report(out, error.text);
        spout_close(l);
        return rc;
    }
    *ret_self = l;
    return 0;
}

static gale_value value_of(const PGnotify *note, int32_t field) {
    switch (field) {
    case PAYLOAD: return gale_text_or_bytes(note->extra, strlen(note->extra));
    case CHANNEL: return gale_text_or_bytes(note->relname, strlen(note->relname));
    default: return gale_i64(note->be_pid);
    }
}

/* 0 when there was one, 1 when there is none. */
static int take(listener *l) {
    gale_value values[FIELDS_MAX];
    if (!l->next && l->listens) l->next = PQnotifies(l->link.conn);
    if (!l->next) return 1;
    for (size_t i = 0; i < l->given->emit.count; i++) values[i] = value_of(l->next, l->given->emit.places[i]);
    int rc = gale_intake_take(l->intake, values, l->given->emit.count, 0, 0);
    if (rc < 0) return rc;
    PQfreemem(l->next);
    l->next = NULL;
    return 0;
}

static int spout_next(void *self, gale_collector *out, gale_wait *wait) {
    listener *l = self;
    int rc = 0;
    (void)out;
    if (!l->link.given) return GALE_NEXT_DONE;
    while (rc == 0 && gale_intake_wants(l->intake)) rc = take(l);
    if (rc < 0) return rc;
    if (l->listens) pg_link_pause(&l->link, !gale_intake_wants(l->intake));
    return gale_intake_next(l->intake, wait);
}

static void spout_ack_batch(void *self, const uint64_t *message_ids, size_t count) {
    gale_intake_ack(((listener *)self)->intake, message_ids, count);
}

static void spout_fail(void *self, uint64_t message_id, const gale_failure *failure) {
    gale_intake_fail(((listener *)self)->intake, message_id, failure);
}

/* --- Checkpoints: what has no answer yet goes along ------------------------------------------------------------------------ */

static int spout_save(void *self, gale_saver *to) {
    return gale_intake_save(((listener *)self)->intake, to);
}

static int spout_restore(void *self, gale_saved *from, gale_collector *out) {
    (void)out;
    return gale_intake_restore(((listener *)self)->intake, from, NULL, NULL);
}

static void spout_committed(void *self, uint64_t checkpoint) {
    gale_intake_committed(((listener *)self)->intake, checkpoint);
}

static const gale_durable_ops durable = {
    .size = sizeof durable,
    .version = 1,
    .save = spout_save,
    .restore = spout_restore,
    .committed = spout_committed,
};

static const gale_spout_ops ops = {
    .size = sizeof ops,
    .name = "postgres listener",
    .open = spout_open,
    .next = spout_next,
    .ack_batch = spout_ack_batch,
    .fail = spout_fail,
    .close = spout_close,
    .durable = &durable,
};

/* --- A definition ---------------------------------------------------------------------------------------------------------- */

static int read_channels(settings *made, const gale_args *args, gale_error *error) {
    gale_value list = gale_args_value(args, "channels");
    for (size_t i = 0; i < list.size; i++) {
        gale_value name = gale_list_at(&list, i);
        sql_text_print(&made->query, i ? "; LISTEN " : "LISTEN ");
        pg_text_name(&made->query, (gale_str){ name.as.string, name.size });
    }
    if (!list.size) return gale_error_set(error, GALE_INVALID, "channels: it names none");
    return sql_text_string(&made->query) ? 0 : gale_error_set(error, GALE_NO_MEMORY, "out of memory");
}

static void free_settings(void *user) {
    settings *made = user;
    pg_settings_free(&made->postgres);
    sql_text_free(&made->query);
    free(made);
}

static int fill(settings *made, const gale_args *args, gale_error *error) {
    int rc = pg_settings_make(&made->postgres, args, error);
    if (rc == 0)
        rc = gale_names_read("emit", gale_args_text(args, "emit"), "a notification", names, &made->emit, error);
    if (rc == 0) rc = read_channels(made, args, error);
    made->output = (gale_output){ NULL, made->emit.text };
    made->memory = (uint64_t)gale_args_whole(args, "memory");
    made->attempts = (uint32_t)gale_args_whole(args, "maxAttempts");
    return rc;
}

int pg_make_listen(void *user, const gale_args *args, gale_spout *ret_spout, gale_error *error) {
    settings *made = calloc(1, sizeof *made);
    (void)user;
    if (!made) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    int rc = fill(made, args, error);
    if (rc < 0) {
        free_settings(made);
        return rc;
    }
    *ret_spout = (gale_spout){ .size = sizeof *ret_spout,
                               .ops = &ops,
                               .user = made,
                               .free_user = free_settings,
                               .outputs = &made->output,
                               .output_count = 1 };
    return 0;
}
