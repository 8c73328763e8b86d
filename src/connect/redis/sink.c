/* Tuples to commands of Redis's: gale.bolt.RedisSink. A tuple is held until the server has answered its command; in a durable run commands go out with
 * checkpoints. */
#include "connect/redis/once.h"
#include "connect/redis/redis.h"
#include "connect/redis/writer.h"

#include <gale/state.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct sink {
    const redis_sink_settings *given;
    const gale_context *context;
    bool once;
    redis_writer writer; /* of these two pairs it has one */
    gale_dispatch *dispatch;
    gale_epochs *epochs;
    redis_text command, scratch;
} sink;

/* --- As it is: held until the server has answered ------------------------------------------------------------------------ */

static void be_taken(void *user, uint64_t id, const redis_reply *reply) {
    (void)reply;
    (void)gale_dispatch_ack(((sink *)user)->dispatch, id);
}

static void be_refused(void *user, uint64_t id, const char *why) {
    (void)gale_dispatch_fail(((sink *)user)->dispatch, id, GALE_REASON_REJECTED, why);
}

static const redis_writer_ops writer_ops = { be_taken, be_refused };

static int begin(sink *s, gale_collector *out, gale_error *error) {
    gale_dispatch_options options = GALE_DISPATCH_OPTIONS_INIT;
    const redis_task task = { .context = s->context, .out = out, .most = s->given->memory };
    options.memory = s->given->memory;
    int rc = gale_dispatch_new(s->context, out, &options, &s->dispatch, error);
    if (rc < 0) return rc;
    return redis_writer_open(&s->writer, &s->given->redis, &task, s->given->window, &writer_ops, s, error);
}

static int take(sink *s, const gale_tuple *tuple) {
    uint64_t id;
    int rc = gale_dispatch_hold(s->dispatch, tuple, s->command.size + sizeof(redis_written), &id);
    if (rc < 0) return rc;
    rc = redis_writer_add(&s->writer, id, s->command.data, s->command.size);
    if (rc < 0) (void)gale_dispatch_fail(s->dispatch, id, GALE_REASON_NO_MEMORY, gale_error_text(rc));
    return 0;
}

/* --- Once: with checkpoints -------------------------------------------------------------------------------------------- */

static int begin_once(sink *s, gale_collector *out, gale_error *error) {
    gale_epochs_options options = GALE_EPOCHS_OPTIONS_INIT;
    char id[REDIS_ONCE_ID_MAX];
    snprintf(id, sizeof id, "%s/%s/%" PRIu32, s->context->topology, s->context->component, s->context->task_index);
    options.memory = s->given->memory;
    options.commit = redis_once_commit;
    options.drop = redis_once_free;
    options.user = redis_once_new(s->given, id);
    if (!options.user) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    int rc = gale_epochs_new(s->context, out, &options, &s->epochs, error);
    if (rc < 0) redis_once_free(options.user);
    return rc;
}

/* Its answer reaches the outside with the checkpoint that has the command. */
static int take_once(sink *s, gale_handle handle, gale_collector *out) {
    gale_value row = gale_bytes(s->command.data, s->command.size);
    int rc = gale_epochs_take(s->epochs, &row, 1);
    return rc < 0 ? rc : gale_ack(out, handle);
}

/* --- A task ------------------------------------------------------------------------------------------------------------ */

static void bolt_cleanup(void *self) {
    sink *s = self;
    redis_writer_close(&s->writer);
    gale_dispatch_free(s->dispatch);
    gale_epochs_free(s->epochs);
    redis_text_free(&s->command);
    redis_text_free(&s->scratch);
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
    return s->once ? take_once(s, handle, out) : take(s, tuple);
}

static int bolt_flush(void *self, gale_collector *out) {
    sink *s = self;
    (void)out;
    if (!s->once) redis_writer_flush(&s->writer);
    return 0;
}

static void drive(void *self) {
    redis_writer_drive(&((sink *)self)->writer, 50);
}

static int bolt_finish(void *self, gale_collector *out) {
    const sink *s = self;
    (void)out;
    if (s->once) return 0;
    return gale_dispatch_finish(s->dispatch, s->given->finish_wait, s->given->redis.wire.where, "answered", drive,
                                self);
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
    .name = "redis sink",
    .kind = GALE_BOLT_MANUAL,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .flush = bolt_flush,
    .finish = bolt_finish,
    .cleanup = bolt_cleanup,
    .durable = &durable,
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
