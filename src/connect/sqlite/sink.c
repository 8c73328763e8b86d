/* Tuples to rows of an SQLite file: gale.bolt.SqliteSink, and dead letters: gale.bolt.SqliteLetters. A tuple is held until its row is in; in a durable run rows go
 * out with checkpoints. */
#include "connect/sqlite/once.h"
#include "connect/sqlite/sqlite.h"
#include "connect/sqlite/writer.h"

#include <gale/state.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct sink {
    const lite_sink_settings *given;
    const gale_context *context;
    bool once;
    lite_writer writer; /* of these two pairs it has one */
    gale_dispatch *dispatch;
    gale_epochs *epochs;
    sql_text scratch;
    gale_value values[1 + LITE_COLUMNS_MAX]; /* the shape, and a row */
} sink;

/* --- As it is: held until it is in -------------------------------------------------------------------------------------- */

static void be_taken(void *user, uint64_t id) {
    (void)gale_dispatch_ack(((sink *)user)->dispatch, id);
}

static void be_refused(void *user, uint64_t id, const char *why) {
    (void)gale_dispatch_fail(((sink *)user)->dispatch, id, GALE_REASON_REJECTED, why);
}

static const lite_writer_ops writer_ops = { be_taken, be_refused };

typedef struct taking {
    sink *sink;
    const gale_tuple *tuple;
} taking;

static int hold(void *user, size_t size, uint64_t *ret_id) {
    const taking *t = user;
    return gale_dispatch_hold(t->sink->dispatch, t->tuple, size, ret_id);
}

static int begin(sink *s, gale_collector *out, gale_error *error) {
    gale_dispatch_options options = GALE_DISPATCH_OPTIONS_INIT;
    options.memory = s->given->memory;
    int rc = gale_dispatch_new(s->context, out, &options, &s->dispatch, error);
    return rc < 0 ? rc : lite_writer_open(&s->writer, s->given, s->context, out, &writer_ops, s, error);
}

/* --- Once: with checkpoints -------------------------------------------------------------------------------------------- */

static int begin_once(sink *s, gale_collector *out, gale_error *error) {
    gale_epochs_options options = GALE_EPOCHS_OPTIONS_INIT;
    char id[LITE_ONCE_ID_MAX];
    snprintf(id, sizeof id, "%s/%s/%" PRIu32, s->context->topology, s->context->component, s->context->task_index);
    options.memory = s->given->memory;
    options.commit = lite_once_commit;
    options.drop = lite_once_free;
    options.user = lite_once_new(s->given, id);
    if (!options.user) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    int rc = gale_epochs_new(s->context, out, &options, &s->epochs, error);
    if (rc < 0) lite_once_free(options.user);
    return rc;
}

/* --- A task ------------------------------------------------------------------------------------------------------------ */

static void bolt_cleanup(void *self) {
    sink *s = self;
    lite_writer_close(&s->writer);
    gale_dispatch_free(s->dispatch);
    gale_epochs_free(s->epochs);
    sql_text_free(&s->scratch);
    free(s);
}

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    gale_error error = GALE_ERROR_INIT;
    sink *s = calloc(1, sizeof *s);
    if (!s) return GALE_NO_MEMORY;
    s->given = user;
    s->context = context;
    s->once = context->durable;
    s->values[0] = gale_i64((int64_t)s->given->table.shape);
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
    const lite_table *table = &s->given->table;
    gale_handle handle = gale_tuple_handle(tuple);
    if (gale_tuple_is_tick(tuple)) return gale_ack(out, handle);
    int rc = lite_table_row(table, s->context, tuple, &s->scratch, s->values + 1, why, sizeof why);
    if (rc == GALE_INVALID) return gale_reject(out, handle, why);
    if (rc < 0) return rc;
    if (!s->once) return lite_writer_take(&s->writer, s->values + 1, hold, &(taking){ s, tuple });
    rc = gale_epochs_take(s->epochs, s->values, 1 + table->count);
    return rc == 0 ? gale_ack(out, handle) : rc; /* which reaches the outside with the checkpoint that has the row */
}

static void drive(void *self) {
    lite_writer_drive(&((sink *)self)->writer, 50);
}

static int bolt_finish(void *self, gale_collector *out) {
    const sink *s = self;
    (void)out;
    return gale_dispatch_finish(s->dispatch, s->given->finish_wait, s->given->sqlite.where, "written", drive, self);
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
    .name = "sqlite sink",
    .kind = GALE_BOLT_MANUAL,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .finish = bolt_finish,
    .cleanup = bolt_cleanup,
    .durable = &durable,
};

static int make(bool letters, const gale_args *args, gale_bolt *ret_bolt, gale_error *error) {
    lite_sink_settings *made = calloc(1, sizeof *made);
    if (!made) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    int rc = lite_sink_settings_make(made, letters, args, error);
    if (rc < 0) {
        lite_sink_settings_free(made);
        return rc;
    }
    *ret_bolt = (gale_bolt){
        .size = sizeof *ret_bolt, .ops = &ops, .user = made, .free_user = lite_sink_settings_free
    };
    return 0;
}

int lite_make_sink(void *user, const gale_args *args, gale_bolt *ret_bolt, gale_error *error) {
    (void)user;
    return make(false, args, ret_bolt, error);
}

int lite_make_letters(void *user, const gale_args *args, gale_bolt *ret_bolt, gale_error *error) {
    (void)user;
    return make(true, args, ret_bolt, error);
}
