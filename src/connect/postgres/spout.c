/* Changes of PostgreSQL tables to tuples: gale.spout.Postgres. */
#include "connect/postgres/postgres.h"
#include "connect/postgres/replica.h"

#include <gale/state.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAME = 120 };

typedef struct spout {
    pg_replica replica;
    const pg_spout_settings *given;
    gale_intake *intake;
    gale_collector *out;
    bool filled; /* `values` are of the next event: memory was out for it */
    pg_row_values values;
} spout;

/* --- A task -------------------------------------------------------------------------------------------------------------- */

static void spout_close(void *self) {
    spout *s = self;
    if (s->replica.given) pg_replica_close(&s->replica);
    gale_intake_free(s->intake);
    free(s);
}

static void answered(void *user, const gale_answered *answered) {
    pg_replica_answer(&((spout *)user)->replica, answered->place);
}

static void name_row(void *user, const gale_answered *answered, char *to, size_t size) {
    const spout *s = user;
    pg_row_name(&s->given->row, answered->values, answered->count, to, size);
}

/* One task reads a slot; the others have nothing to do. */
static int begin(spout *s, const gale_context *context, gale_error *error) {
    gale_intake_options options = GALE_INTAKE_OPTIONS_INIT;
    options.what = "change";
    options.memory = s->given->memory;
    options.attempts = s->given->attempts;
    options.emits = pg_row_count(&s->given->row);
    options.answered = answered;
    options.name = name_row;
    options.user = s;
    int rc = gale_intake_new(context, s->out, &options, &s->intake, error);
    if (rc < 0 || context->task_index) return rc;
    return pg_replica_open(&s->replica, s->given, context, s->out, error);
}

static int spout_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    gale_error error = GALE_ERROR_INIT;
    spout *s = calloc(1, sizeof *s);
    if (!s) return GALE_NO_MEMORY;
    s->given = user;
    s->out = out;
    int rc = begin(s, context, &error);
    if (rc < 0) {
        gale_report(out, error.text);
        spout_close(s);
        return rc;
    }
    gale_remember(out);
    *ret_self = s;
    return 0;
}

/* An event that can be no tuple: it is told, and done. */
static void refuse(spout *s, int64_t place, int rc) {
    char text[GALE_FAILURE_TEXT], name[NAME];
    pg_row_name(&s->given->row, s->values.list, pg_row_count(&s->given->row) + PG_ROW_KEPT, name, sizeof name);
    snprintf(text, sizeof text, "%s can be no tuple, and is left out: %s", name, gale_error_text(rc));
    gale_report(s->out, text);
    pg_places_done(&s->replica.places, place);
}

/* One event: 0 when there was one, 1 when there is none; GALE_NO_MEMORY leaves it where it is. */
static int take(spout *s) {
    pg_event event;
    int64_t place;
    if (!pg_replica_next(&s->replica, &event, &place)) return 1;
    if (!s->filled) pg_row_fill(&s->given->row, &event, &s->values);
    pg_row_keep(&s->given->row, &event, &s->values);
    int rc = gale_intake_take(s->intake, s->values.list, pg_row_count(&s->given->row) + PG_ROW_KEPT, 0, place);
    s->filled = rc == GALE_NO_MEMORY;
    if (s->filled) return rc;
    if (rc < 0) refuse(s, place, rc);
    pg_replica_pass(&s->replica);
    return 0;
}

static int spout_next(void *self, gale_collector *out, gale_wait *wait) {
    spout *s = self;
    int rc = 0;
    (void)out;
    if (!s->replica.given) return GALE_NEXT_DONE;
    if (s->replica.over) return GALE_NEXT_WATCHED;
    while (rc == 0 && gale_intake_wants(s->intake)) rc = take(s);
    if (rc < 0) return rc;
    pg_replica_pause(&s->replica, !gale_intake_wants(s->intake));
    return gale_intake_next(s->intake, wait);
}

static void spout_ack_batch(void *self, const uint64_t *message_ids, size_t count) {
    gale_intake_ack(((spout *)self)->intake, message_ids, count);
}

static void spout_fail(void *self, uint64_t message_id, const gale_failure *failure) {
    gale_intake_fail(((spout *)self)->intake, message_id, failure);
}

/* --- Checkpoints --------------------------------------------------------------------------------------------------------- */

static int spout_save(void *self, gale_saver *to) {
    spout *s = self;
    if (!s->replica.given) return 0;
    int rc = pg_replica_save(&s->replica, to);
    return rc < 0 ? rc : gale_intake_save(s->intake, to);
}

static void again(void *user, uint32_t source, int64_t place) {
    (void)source;
    pg_places_again(&((spout *)user)->replica.places, place);
}

static int spout_restore(void *self, gale_saved *from, gale_collector *out) {
    spout *s = self;
    if (!s->replica.given) return 0;
    int rc = pg_replica_restore(&s->replica, from);
    if (rc == GALE_DAMAGED) gale_report(out, "postgres: what was saved of the spout is no place in a stream");
    if (rc < 0) return rc;
    rc = gale_intake_restore(s->intake, from, again, s);
    if (rc == 0) pg_places_restored(&s->replica.places);
    return rc;
}

static void spout_committed(void *self, uint64_t checkpoint) {
    spout *s = self;
    gale_intake_committed(s->intake, checkpoint);
    if (s->replica.given) pg_places_committed(&s->replica.places, checkpoint);
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
    .name = "postgres spout",
    .open = spout_open,
    .next = spout_next,
    .ack_batch = spout_ack_batch,
    .fail = spout_fail,
    .close = spout_close,
    .durable = &durable,
};

int pg_make_spout(void *user, const gale_args *args, gale_spout *ret_spout, gale_error *error) {
    pg_spout_settings *made = calloc(1, sizeof *made);
    (void)user;
    if (!made) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    int rc = pg_spout_settings_make(made, args, error);
    if (rc < 0) {
        pg_spout_settings_free(made);
        return rc;
    }
    *ret_spout = (gale_spout){ .size = sizeof *ret_spout,
                               .ops = &ops,
                               .user = made,
                               .free_user = pg_spout_settings_free,
                               .outputs = &made->output,
                               .output_count = 1 };
    return 0;
}
