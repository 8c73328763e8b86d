/* Tuples to commands of Redis's: gale.bolt.RedisSink. A tuple is held until the server has answered its command; in a durable run commands go out with
 * checkpoints. */
#include "sink/sink.h"
#include "connect/redis/once.h"
#include "connect/redis/redis.h"
#include "connect/redis/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct sink {
    sink_task task; /* first */
    const redis_sink_settings *given;
    redis_writer writer; /* as it is */
    redis_text command, scratch;
} sink;

/* --- As it is: held until the server has answered ------------------------------------------------------------------------ */

static void be_taken(void *user, uint64_t id, const redis_reply *reply) {
    (void)reply;
    sink_be_taken(user, id);
}

static const redis_writer_ops writer_ops = { be_taken, sink_be_refused, sink_may_send, sink_be_sent, sink_be_lost };

static int begin(sink *s, gale_collector *out, gale_error *error) {
    const redis_task task = { .context = s->task.context, .out = out, .most = s->given->memory };
    return redis_writer_open(&s->writer, &s->given->redis, &task, s->given->window, &writer_ops, s, error);
}

static int take(sink *s, const gale_tuple *tuple) {
    uint64_t id;
    int rc = gale_dispatch_hold(s->task.dispatch, tuple, s->command.size + sizeof(redis_written), &id);
    if (rc < 0) return rc;
    rc = redis_writer_add(&s->writer, id, s->command.data, s->command.size);
    if (rc < 0) (void)gale_dispatch_fail(s->task.dispatch, id, GALE_REASON_NO_MEMORY, gale_error_text(rc));
    return 0;
}

/* --- Once: with checkpoints -------------------------------------------------------------------------------------------- */

static const sink_once once = { redis_once_new, redis_once_free, redis_once_commit, redis_once_look };

static int take_once(sink *s, const gale_tuple *tuple, gale_collector *out) {
    gale_value row = gale_bytes(s->command.data, s->command.size);
    return sink_take_once(&s->task, tuple, out, &row, 1);
}

/* --- A task ------------------------------------------------------------------------------------------------------------ */

static void bolt_cleanup(void *self) {
    sink *s = self;
    redis_writer_close(&s->writer);
    sink_task_close(&s->task);
    redis_text_free(&s->command);
    redis_text_free(&s->scratch);
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

static int write_command(sink *s, const gale_tuple *tuple, char *why, size_t size) {
    s->command.size = 0;
    int rc = redis_command_write(&s->given->command, tuple, &s->scratch, &s->command, why, size);
    if (rc < 0 || s->command.size <= s->given->memory) return rc;
    snprintf(why, size, "its command has %zu bytes, and `memory` is %" PRIu64, s->command.size, s->given->memory);
    return GALE_INVALID;
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    sink *s = self;
    char why[GALE_FAILURE_TEXT];
    gale_handle handle = gale_tuple_handle(tuple);
    if (gale_tuple_is_tick(tuple)) return gale_ack(out, handle);
    int rc = write_command(s, tuple, why, sizeof why);
    if (rc == GALE_INVALID) return gale_reject(out, handle, why);
    if (rc < 0) return rc;
    return s->task.once ? take_once(s, tuple, out) : take(s, tuple);
}

static int bolt_flush(void *self, gale_collector *out) {
    sink *s = self;
    (void)out;
    if (!s->task.once) redis_writer_flush(&s->writer);
    return 0;
}

static void drive(void *self) {
    redis_writer_drive(&((sink *)self)->writer, 50);
}

static int bolt_finish(void *self, gale_collector *out) {
    sink *s = self;
    (void)out;
    return sink_finish(&s->task, s->given->finish_wait, s->given->redis.wire.where, "answered", drive);
}

static const gale_bolt_ops ops = {
    .size = sizeof ops,
    .name = "redis sink",
    .kind = GALE_BOLT_MANUAL,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .flush = bolt_flush,
    .finish = bolt_finish,
    .cleanup = bolt_cleanup,
    .durable = &sink_durable,
};

int redis_make_sink(void *user, const gale_args *args, gale_bolt *ret_bolt, gale_error *error) {
    redis_sink_settings *made = calloc(1, sizeof *made);
    (void)user;
    if (!made) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    int rc = redis_sink_settings_make(made, args, error);
    if (rc < 0) {
        redis_sink_settings_free(made);
        return rc;
    }
    *ret_bolt = (gale_bolt){
        .size = sizeof *ret_bolt, .ops = &ops, .user = made, .free_user = redis_sink_settings_free
    };
    return 0;
}
