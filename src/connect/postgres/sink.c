/* Tuples to rows of a PostgreSQL table: gale.bolt.PostgresSink. A tuple is held until the server has its row; in a durable run rows go out with
 * checkpoints. */
#include "sink/sink.h"
#include "connect/postgres/once.h"
#include "connect/postgres/postgres.h"
#include "connect/postgres/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct sink {
    sink_task task; /* first */
    const pg_sink_settings *given;
    pg_writer writer; /* as it is */
    sql_text row;
    uint64_t number;
} sink;

/* --- As it is: held until the server has it ---------------------------------------------------------------------------- */

static const pg_writer_ops writer_ops = { sink_be_taken, sink_be_refused, sink_be_sent, sink_be_lost };

static int hold(void *user, const gale_tuple *tuple, size_t size, uint64_t *ret_id) {
    return gale_dispatch_hold(((sink *)user)->task.dispatch, tuple, size + sizeof(pg_batch_row), ret_id);
}

static int begin(sink *s, gale_collector *out, gale_error *error) {
    return pg_writer_open(&s->writer, s->given, s->task.context, out, &writer_ops, s, error);
}

/* --- Once: with checkpoints -------------------------------------------------------------------------------------------- */

static const sink_once once = { pg_once_new, pg_once_free, pg_once_commit, pg_once_look };

static int take_once(sink *s, const gale_tuple *tuple, gale_collector *out, char *why, size_t size) {
    s->row.size = 0;
    int rc = pg_table_row(&s->given->table, tuple, s->number, &s->row, why, size);
    if (rc < 0) return rc;
    gale_value values[PG_ONCE_VALUES];
    pg_once_values(&s->given->table, &s->row, values);
    rc = sink_take_once(&s->task, tuple, out, values, PG_ONCE_VALUES);
    if (rc == 0) s->number++;
    return rc;
}

/* --- A task ------------------------------------------------------------------------------------------------------------ */

static void bolt_cleanup(void *self) {
    sink *s = self;
    pg_writer_close(&s->writer);
    sink_task_close(&s->task);
    sql_text_free(&s->row);
    free(s);
}

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    gale_error error = GALE_ERROR_INIT;
    sink *s = calloc(1, sizeof *s);
    if (!s) return GALE_NO_MEMORY;
    s->given = user;
    int rc = sink_task_open(&s->task, context, out, s->given->memory, 0, &once, s->given, &error);
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
    gale_handle handle = gale_tuple_handle(tuple);
    if (gale_tuple_is_tick(tuple)) return gale_ack(out, handle);
    int rc = s->task.once ? take_once(s, tuple, out, why, sizeof why)
                          : pg_writer_take(&s->writer, tuple, hold, why, sizeof why);
    return rc == GALE_INVALID ? gale_reject(out, handle, why) : rc;
}

static void drive(void *self) {
    pg_writer_drive(&((sink *)self)->writer, 50);
}

static int bolt_drain(void *self, gale_collector *out) {
    sink *s = self;
    (void)out;
    if (!s->task.once) pg_writer_hurry(&s->writer);
    return 0;
}

static int bolt_finish(void *self, gale_collector *out) {
    sink *s = self;
    (void)out;
    return sink_finish(&s->task, s->given->finish_wait, s->given->postgres.where, "confirmed", drive);
}

static const gale_bolt_ops ops = {
    .size = sizeof ops,
    .name = "postgres sink",
    .kind = GALE_BOLT_MANUAL,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .finish = bolt_finish,
    .drain = bolt_drain,
    .cleanup = bolt_cleanup,
    .durable = &sink_durable,
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
