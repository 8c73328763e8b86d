/* Tuples to rows of an SQLite file: gale.bolt.SqliteSink, and dead letters: gale.bolt.SqliteLetters. A tuple is held until its row is in; in a durable run rows go
 * out with checkpoints. */
#include "sink/sink.h"
#include "connect/sqlite/ending.h"
#include "connect/sqlite/once.h"
#include "connect/sqlite/sqlite.h"
#include "connect/sqlite/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct sink {
    sink_task task; /* first */
    const lite_sink_settings *given;
    lite_writer writer; /* as it is */
    lite_ending ending;
    sql_text scratch;
    gale_value values[1 + LITE_COLUMNS_MAX]; /* the shape, and a row */
} sink;

/* --- As it is: held until it is in -------------------------------------------------------------------------------------- */

static const lite_writer_ops writer_ops = { sink_be_taken, sink_be_refused };

typedef struct taking {
    sink *sink;
    const gale_tuple *tuple;
} taking;

static int hold(void *user, size_t size, uint64_t *ret_id) {
    const taking *t = user;
    return gale_dispatch_hold(t->sink->task.dispatch, t->tuple, size, ret_id);
}

static int begin(sink *s, gale_collector *out, gale_error *error) {
    return lite_writer_open(&s->writer, s->given, s->task.context, out, &writer_ops, s, error);
}

/* --- Once: with checkpoints -------------------------------------------------------------------------------------------- */

static const sink_once once = { lite_once_new, lite_once_free, lite_once_commit, NULL };

/* --- A task ------------------------------------------------------------------------------------------------------------ */

static void bolt_cleanup(void *self) {
    sink *s = self;
    lite_writer_close(&s->writer);
    sink_task_close(&s->task);
    sql_text_free(&s->scratch);
    free(s);
}

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    gale_error error = GALE_ERROR_INIT;
    sink *s = calloc(1, sizeof *s);
    if (!s) return GALE_NO_MEMORY;
    s->given = user;
    s->values[0] = gale_i64((int64_t)s->given->table.shape);
    const lite_base file = { .given = &s->given->sqlite, .creates = s->given->creates };
    int rc = lite_base_look(&file, &error);
    if (rc == 0) rc = sink_task_open(&s->task, context, out, s->given->memory, 0, &once, s->given, &error);
    if (rc == 0 && !s->task.once) rc = begin(s, out, &error);
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
    int rc = lite_table_row(table, s->task.context, tuple, &s->scratch, s->values + 1, why, sizeof why);
    if (rc == GALE_INVALID) return gale_reject(out, handle, why);
    if (rc < 0) return rc;
    if (!s->task.once) return lite_writer_take(&s->writer, s->values + 1, hold, &(taking){ s, tuple });
    return sink_take_once(&s->task, tuple, out, s->values, 1 + table->count);
}

static void give_up(void *self, const char *why) {
    lite_writer_give_up(&((sink *)self)->writer, why);
}

static int bolt_drain(void *self, gale_collector *out) {
    sink *s = self;
    (void)out;
    if (!s->task.once) lite_writer_hurry(&s->writer);
    return 0;
}

static int bolt_finish(void *self, gale_collector *out) {
    sink *s = self;
    if (s->task.once) return 0;
    s->ending = (lite_ending){ .context = s->task.context,
                               .out = out,
                               .dispatch = s->task.dispatch,
                               .name = s->given->sqlite.where,
                               .what = "written",
                               .patience = s->given->finish_wait,
                               .give_up = give_up,
                               .user = s };
    lite_writer_drain(&s->writer);
    return lite_ending_begin(&s->ending);
}

static const gale_bolt_ops ops = {
    .size = sizeof ops,
    .name = "sqlite sink",
    .kind = GALE_BOLT_MANUAL,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .finish = bolt_finish,
    .drain = bolt_drain,
    .cleanup = bolt_cleanup,
    .durable = &sink_durable,
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
