/* Tuples to rows of a PostgreSQL table: gale.bolt.PostgresSink. A tuple is held until the server has its row; in a durable run rows go out with
 * checkpoints. */
#include "connect/postgres/once.h"
#include "connect/postgres/postgres.h"
#include "connect/postgres/writer.h"

#include <gale/state.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct sink {
    const pg_sink_settings *given;
    const gale_context *context;
    bool once;
    pg_writer writer; /* of these two pairs it has one */
    gale_dispatch *dispatch;
    gale_epochs *epochs;
    sql_text row;
    uint64_t number;
} sink;

/* --- As it is: held until the server has it ---------------------------------------------------------------------------- */

static void be_taken(void *user, uint64_t id) {
    (void)gale_dispatch_ack(((sink *)user)->dispatch, id);
}

static void be_refused(void *user, uint64_t id, const char *why) {
    (void)gale_dispatch_fail(((sink *)user)->dispatch, id, GALE_REASON_REJECTED, why);
}

static const pg_writer_ops writer_ops = { be_taken, be_refused };

static int hold(void *user, const gale_tuple *tuple, size_t size, uint64_t *ret_id) {
    return gale_dispatch_hold(((sink *)user)->dispatch, tuple, size + sizeof(pg_batch_row), ret_id);
}

static int begin(sink *s, gale_collector *out, gale_error *error) {
    gale_dispatch_options options = GALE_DISPATCH_OPTIONS_INIT;
    options.memory = s->given->memory;
    int rc = gale_dispatch_new(s->context, out, &options, &s->dispatch, error);
    return rc < 0 ? rc : pg_writer_open(&s->writer, s->given, s->context, out, &writer_ops, s, error);
}

/* --- Once: with checkpoints -------------------------------------------------------------------------------------------- */

static int begin_once(sink *s, gale_collector *out, gale_error *error) {
    gale_epochs_options options = GALE_EPOCHS_OPTIONS_INIT;
    char id[PG_ONCE_ID_MAX];
    snprintf(id, sizeof id, "%s/%s/%" PRIu32, s->context->topology, s->context->component, s->context->task_index);
    options.memory = s->given->memory;
    options.commit = pg_once_commit;
    options.drop = pg_once_free;
    options.user = pg_once_new(s->given, id);
    if (!options.user) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    int rc = gale_epochs_new(s->context, out, &options, &s->epochs, error);
    if (rc < 0) pg_once_free(options.user);
    return rc;
}

/* Its answer reaches the outside with the checkpoint that has the row. */
static int take_once(sink *s, const gale_tuple *tuple, char *why, size_t size) {
    s->row.size = 0;
    int rc = pg_table_row(&s->given->table, tuple, s->number, &s->row, why, size);
    if (rc < 0) return rc;
    gale_value values[PG_ONCE_VALUES];
    pg_once_values(&s->given->table, &s->row, values);
    rc = gale_epochs_take(s->epochs, values, PG_ONCE_VALUES);
    if (rc == 0) s->number++;
    return rc;
}

/* --- A task ------------------------------------------------------------------------------------------------------------ */

static void bolt_cleanup(void *self) {
    sink *s = self;
    pg_writer_close(&s->writer);
    gale_dispatch_free(s->dispatch);
    gale_epochs_free(s->epochs);
    sql_text_free(&s->row);
    free(s);
}

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    gale_error error = GALE_ERROR_INIT;
    sink *s = calloc(1, sizeof *s);
    if (!s) return GALE_NO_MEMORY;
    s->given = user;
    s->context = context;
    s->once = context->durable;
    int rc = s->once ? begin_once(s, out, &error) : begin(s, out, &error);
    if (rc < 0) {
        gale_report(out, error.text);
        bolt_cleanup(s);
        return rc;
    }
    *ret_self = s;
    return 0;
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    sink *s = self;
    char why[GALE_FAILURE_TEXT];
    gale_handle handle = gale_tuple_handle(tuple);
    if (gale_tuple_is_tick(tuple)) return gale_ack(out, handle);
    int rc = s->once ? take_once(s, tuple, why, sizeof why) : pg_writer_take(&s->writer, tuple, hold, why, sizeof why);
    if (rc == GALE_INVALID) return gale_reject(out, handle, why);
    return rc == 0 && s->once ? gale_ack(out, handle) : rc;
}

static void drive(void *self) {
    pg_writer_drive(&((sink *)self)->writer, 50);
}

static int bolt_finish(void *self, gale_collector *out) {
    const sink *s = self;
    (void)out;
    if (s->once) return 0;
    return gale_dispatch_finish(s->dispatch, s->given->finish_wait, s->given->postgres.where, "confirmed", drive, self);
}

/* --- Checkpoints ------------------------------------------------------------------------------------------------------- */

static int bolt_save(void *self, gale_saver *to) {
    return gale_epochs_save(((sink *)self)->epochs, to);
}

static int bolt_restore(void *self, gale_saved *from, gale_collector *out) {
    (void)out;
    return gale_epochs_restore(((sink *)self)->epochs, from);
}

static void bolt_committed(void *self, uint64_t checkpoint) {
    gale_epochs_committed(((sink *)self)->epochs, checkpoint);
}

static const gale_durable_ops durable = {
    .size = sizeof durable,
    .version = 1,
    .flags = GALE_DURABLE_OUTSIDE,
    .save = bolt_save,
    .restore = bolt_restore,
    .committed = bolt_committed,
};

static const gale_bolt_ops ops = {
    .size = sizeof ops,
    .name = "postgres sink",
    .kind = GALE_BOLT_MANUAL,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .finish = bolt_finish,
    .cleanup = bolt_cleanup,
    .durable = &durable,
};

int pg_make_sink(void *user, const gale_args *args, gale_bolt *ret_bolt, gale_error *error) {
    pg_sink_settings *made = calloc(1, sizeof *made);
    (void)user;
    if (!made) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    int rc = pg_sink_settings_make(made, args, error);
    if (rc < 0) {
        pg_sink_settings_free(made);
        return rc;
    }
    *ret_bolt = (gale_bolt){ .size = sizeof *ret_bolt, .ops = &ops, .user = made, .free_user = pg_sink_settings_free };
    return 0;
}
