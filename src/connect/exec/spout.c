/* A command's output as records: gale_exec_spout. It is read in `next` alone, so that a child that is faster than the topology waits in its
 * write; what it says beside that is read whatever the task may do (connect/exec/said.h). Message ids are the slots of kit/retry. */
#include "base/encoding.h"
#include "base/os/pipe.h"
#include "base/str.h"
#include "base/utf8.h"
#include "connect/exec/child.h"
#include "connect/exec/row.h"
#include "kit/frames.h"
#include "kit/pace.h"
#include "kit/recall.h"
#include "kit/retry.h"

#include <errno.h>
#include <gale/watch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PIECE = 64 << 10, PIECES_A_CALL = 4, RECORD_MAX = 1 << 20 };

static const char who[] = "exec spout";

/* A definition's block. */
typedef struct settings {
    gx_exec_settings exec; /* first */
    gx_frames_rule rule;
    uint32_t max_attempts;
    gx_exec_row row;
    gale_output output;
} settings;

/* What the task is at. */
typedef enum phase {
    READS,   /* the child runs, or its output is not read to its end */
    LINGERS, /* its output is at its end, and it runs still */
    WAITS,   /* to be started, at `due` */
    FAILED,  /* to stop the run */
    DONE
} phase;

typedef struct spout {
    gx_instance instance;
    const settings *given;
    gale_collector *out;
    gx_exec_child child;
    gx_retry retry;
    gx_pace pace;
    gx_frames frames;
    gale_str piece; /* what is left of `room` */
    char *room;
    int fd; /* the child's output; -1: at its end */
    phase phase;
    int64_t due;      /* WAITS: when; LINGERS: when it has to be urged */
    uint64_t number;  /* of the last record */
    uint64_t cut_off; /* records that commands were killed within */
    gale_str record;  /* that waits for memory, or is the last one */
    bool has_record;
} spout;

/* --- The child ------------------------------------------------------------------------------------------------------- */

static void shut(spout *s) {
    if (s->fd >= 0) close(s->fd);
    s->fd = -1;
}

/* `next` is asked behind a watch that was told, and finds that it has ended. */
static void child_ended(void *user) {
    (void)user;
}

static int begin_child(spout *s) {
    gx_process_fd pipe = { .at = 1, .kind = GX_PROCESS_WRITES, .fd = -1 };
    int rc = gx_exec_child_begin(&s->child, &pipe);
    if (rc < 0) {
        if (pipe.fd >= 0) close(pipe.fd);
        return rc;
    }
    s->fd = pipe.fd;
    s->phase = READS;
    return 0;
}

/* A stop would take along what is on its way: it comes behind the last answer. */
static int stop_run(spout *s) {
    gale_error error = GALE_ERROR_INIT;
    s->phase = FAILED;
    if (gx_retry_oldest(&s->retry)) return GALE_NEXT_WATCHED;
    (void)gx_exec_child_words(&s->child, GALE_COMPONENT, &error);
    s->phase = DONE;
    gale_stop(s->out, error.code, error.text);
    return GALE_NEXT_DONE;
}

/* The child has ended, or could not begin, and all that it wrote was taken. That one did not end well that was told to end is no failure
 * of its own. */
static int settle(spout *s, gale_wait *wait) {
    bool told = s->child.process.told && s->given->exec.run.restart != GALE_EXEC_ALWAYS;
    if (!told && gx_exec_child_again(&s->child, &s->due)) {
        s->phase = WAITS;
        wait->until = s->due;
        return GALE_NEXT_UNTIL;
    }
    wait->until = 0;
    if (!told && !gx_exec_child_succeeded(&s->child)) return stop_run(s);
    s->phase = DONE;
    return GALE_NEXT_DONE;
}

static int start_again(spout *s, gale_wait *wait) {
    if (gale_context_now(s->instance.context) < s->due) {
        wait->until = s->due;
        return GALE_NEXT_UNTIL;
    }
    return begin_child(s) < 0 ? settle(s, wait) : GALE_NEXT_NOTHING;
}

/* One that has closed its output and lives on has time to end, and is ended then: nothing more can come of it. */
static void urge_if_due(spout *s) {
    const gale_context *context = s->instance.context;
    if (!s->child.runs || gale_context_now(context) < s->due) return;
    if (!s->child.process.told)
        gale_log(context->logger, GALE_LOG_WARN, context->component,
                 "command '%s' has closed its output and does not end: it is told to", s->given->exec.name);
    s->due = gx_exec_child_urge(&s->child);
}

/* --- Its output ------------------------------------------------------------------------------------------------------ */

static void tell_long(spout *s) {
    const gale_context *context = s->instance.context;
    uint64_t count = s->frames.too_long;
    if (!count) return;
    gale_log(context->logger, GALE_LOG_WARN, context->component,
             "command '%s': %" PRIu64 " record%s of more than %zu bytes, which %s %s", s->given->exec.name, count,
             gx_plural(count), s->given->rule.max, count == 1 ? "was" : "were",
             s->given->rule.drops ? "dropped" : "cut");
    s->frames.too_long = 0;
}

/* 1: some has come; 0: no more will; GALE_AGAIN: none now. What an ended child's group has left is in the pipe. */
static int read_piece(spout *s) {
    int64_t got = s->fd < 0 ? 0 : gx_pipe_read(s->fd, s->room, PIECE);
    if (got > 0) s->piece = (gale_str){ s->room, (size_t)got };
    if (got > 0) return 1;
    if (got < 0 && errno == EAGAIN && s->child.runs) return GALE_AGAIN;
    shut(s);
    return 0;
}

/* What stands behind the last end of a record is one, too, unless a signal cut it off that was not ours: how it has ended says so. False:
 * there is none. */
static bool take_rest(spout *s) {
    const gale_context *context = s->instance.context;
    bool cut = gx_process_killed(&s->child.process) && !s->child.process.told;
    gx_frame frame;
    s->has_record = gx_frames_end(&s->frames, cut ? GX_FRAMES_BROKEN : GX_FRAMES_WHOLE, &frame);
    if (s->has_record) s->record = frame.bytes;
    if (s->frames.cut_off)
        gale_log(context->logger, GALE_LOG_WARN, context->component,
                 "command '%s' was killed within a record, which is dropped: %" PRIu64 " so far", s->given->exec.name,
                 s->cut_off += s->frames.cut_off);
    s->frames.cut_off = 0;
    tell_long(s);
    return s->has_record;
}

/* The run ends, as a command would do the same again. */
static int refuse_output(spout *s) {
    char text[GALE_FAILURE_TEXT];
    snprintf(text, sizeof text, "command '%.60s': its output is %s: %s", s->given->exec.name, s->frames.foreign,
             gx_encoding_advice(s->frames.foreign));
    s->phase = DONE;
    gale_stop(s->out, GALE_UNSUPPORTED, text);
    return GALE_NEXT_DONE;
}

/* The output is at its end, and when the command is, too, so is all, but for a last record. */
static int linger(spout *s, gale_wait *wait) {
    urge_if_due(s);
    wait->until = s->due;
    if (s->child.runs) return GALE_NEXT_WATCHED;
    if (take_rest(s)) return GALE_NEXT_NOTHING;
    return s->frames.foreign ? refuse_output(s) : settle(s, wait);
}

static void begin_to_linger(spout *s) {
    s->phase = LINGERS;
    s->due = gale_context_now(s->instance.context) + s->given->exec.stop_wait;
}

/* The next record: 1; 0: there will be none; GALE_AGAIN: none now; GALE_NO_MEMORY. An endless one is read for so long at once. */
static int read_record(spout *s, gx_frame *ret_frame) {
    for (int pieces = 0;; pieces++) {
        int rc = gx_frames_next(&s->frames, &s->piece, ret_frame);
        if (rc != 0) return rc;
        if (pieces == PIECES_A_CALL) return GALE_AGAIN;
        rc = read_piece(s);
        if (rc == 0) begin_to_linger(s);
        if (rc <= 0) return rc;
    }
}

/* Into a slot, 0; the record waits where there is no memory for it. */
static int take_record(spout *s, uint32_t *ret_id) {
    gx_frame frame;
    if (!s->has_record) {
        int rc = read_record(s, &frame);
        if (rc <= 0) return rc < 0 ? rc : GALE_NOT_FOUND;
        s->record = frame.bytes;
        s->has_record = true;
    }
    bool is_text = gx_utf8_valid(s->record.data, s->record.size);
    int rc = gx_retry_add(&s->retry, s->record, is_text, s->number + 1, ret_id);
    if (rc < 0) return rc;
    s->number++;
    s->has_record = false;
    gx_exec_child_works(&s->child);
    return 0;
}

/* --- What the engine calls ------------------------------------------------------------------------------------------- */

static int spout_emit(spout *s, uint32_t id) {
    const gx_retry_slot *slot = &s->retry.slots[id];
    gale_value values[GX_EXEC_PARTS];
    const gx_exec_row *row = &s->given->row;
    for (uint32_t i = 0; i < row->count; i++)
        values[i] = row->parts[i] == GX_EXEC_LINE ? gx_retry_line(slot) : gale_i64((int64_t)slot->number);
    int next = gx_retry_emit_row(&s->retry, s->out, id, values, row->count);
    if (next == GALE_NEXT_EMITTED) gx_pace_step(&s->pace);
    return next;
}

/* Nothing to emit, as far as `rc` says it. */
static int wait_for_more(spout *s, int rc, gale_wait *wait) {
    if (rc == GALE_NOT_FOUND) return linger(s, wait);
    if (rc != GALE_AGAIN) return rc;
    wait->until = 0;
    wait->fd = s->fd;
    return GALE_NEXT_READABLE;
}

static int spout_next(void *self, gale_collector *out, gale_wait *wait) {
    spout *s = self;
    uint32_t id;
    (void)out;
    bool again = gx_retry_waiting(&s->retry);
    if (!again && s->phase == DONE) return GALE_NEXT_DONE;
    if (!again && s->phase == WAITS) return start_again(s, wait);
    wait->until = 0;
    if (!again && s->phase == FAILED) return stop_run(s);
    if (!again && s->phase == LINGERS && !s->has_record) return linger(s, wait);
    if (!gx_pace_ready(&s->pace, &wait->until)) return GALE_NEXT_UNTIL;
    if (!gx_retry_take(&s->retry, &id)) {
        int rc = take_record(s, &id);
        if (rc == GALE_UNSUPPORTED) return refuse_output(s);
        if (rc < 0) return wait_for_more(s, rc, wait);
    }
    return spout_emit(s, id);
}

static void spout_ack(void *self, uint64_t message_id) {
    spout *s = self;
    gx_retry_ack(&s->retry, message_id);
    if (s->phase == FAILED) (void)stop_run(s);
}

static void spout_fail(void *self, uint64_t message_id, const gale_failure *failure) {
    spout *s = self;
    gx_retry_fail(&s->retry, message_id, failure);
    if (s->phase == FAILED) (void)stop_run(s);
}

/* --- A task's life --------------------------------------------------------------------------------------------------- */

static void free_spout(spout *s) {
    shut(s);
    gx_exec_child_fini(&s->child);
    gx_frames_fini(&s->frames);
    gx_retry_fini(&s->retry);
    gx_free(&s->instance.heap, GX_TAG_OTHER, s->room, PIECE);
    gx_define_instance_free(s);
}

/* One that writes still is told by the closed pipe, too. */
static void spout_close(void *self) {
    spout *s = self;
    shut(s);
    (void)gx_exec_child_end(&s->child, s->given->exec.stop_wait);
    tell_long(s);
    free_spout(s);
}

static void tell_of_checkpoints(const spout *s) {
    const gale_context *context = s->instance.context;
    if (!context->durable) return;
    gale_log(context->logger, GALE_LOG_WARN, context->component,
             "command '%s': what it has written cannot be read again: after a crash, what was read since the last "
             "checkpoint is lost, unless the command says it again",
             s->given->exec.name);
}

/* A run that goes on may have come to the command's end: it starts none before that is known. */
static int open_child(spout *s) {
    if (!s->instance.context->resumes) return begin_child(s);
    s->phase = WAITS;
    s->due = INT64_MIN;
    return 0;
}

static int spout_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    const settings *given = user;
    spout *s = gx_define_instance(context, sizeof *s);
    if (!s) return GALE_NO_MEMORY;
    s->given = given;
    s->out = out;
    s->fd = -1;
    gx_retry_init(&s->retry, &s->instance.heap, out, given->max_attempts);
    gx_pace_init(&s->pace, context);
    gx_frames_init(&s->frames, &s->instance.heap, &given->rule);
    s->room = gx_alloc(&s->instance.heap, GX_TAG_OTHER, PIECE);
    int rc = gx_exec_child_init(&s->child, &given->exec, &s->instance, out, child_ended, s);
    if (rc == 0 && !s->room) rc = GALE_NO_MEMORY;
    if (rc == 0) rc = open_child(s);
    if (rc < 0) {
        if (s->child.last.length) gale_report(out, s->child.last.text);
        free_spout(s);
        return rc;
    }
    tell_of_checkpoints(s);
    *ret_self = s;
    return 0;
}

/* --- What lasts: the records on their way, and whether the command has come to its end -------------------------------- */

static int spout_save(void *self, gale_saver *to) {
    const spout *s = self;
    const gale_value record[] = { gale_i64((int64_t)s->number), gale_bool(s->phase == DONE) };
    int rc = gale_save(to, record, 2);
    return rc < 0 ? rc : gx_retry_save(&s->retry, to);
}

static int spout_restore(void *self, gale_saved *from, gale_collector *out) {
    spout *s = self;
    gx_recall recall = { from, out, who, s->instance.context, 0 };
    const gale_value *v;
    int rc = gx_recall_one(&recall, "no", &v);
    if (rc < 0) return rc;
    s->number = (uint64_t)v[0].as.i64;
    if (v[1].as.boolean) s->phase = DONE;
    return gx_retry_recall(&s->retry, &recall);
}

static const gale_durable_ops durable = {
    .size = sizeof(gale_durable_ops),
    .version = 1,
    .save = spout_save,
    .restore = spout_restore,
};

static const gale_spout_ops ops = {
    .size = sizeof(gale_spout_ops),
    .name = "exec spout",
    .open = spout_open,
    .next = spout_next,
    .ack = spout_ack,
    .fail = spout_fail,
    .close = spout_close,
    .durable = &durable,
};

/* --- Its definition -------------------------------------------------------------------------------------------------- */

static int check(const gale_exec_spout_options *given, gx_exec_row *ret_row, gale_error *error) {
    if (given->records < GALE_EXEC_LINES || given->records > GALE_EXEC_NUL)
        return gale_error_set(error, GALE_INVALID, "%s: records is %d, which is none of LINES (%d) and NUL (%d)", who,
                              given->records, GALE_EXEC_LINES, GALE_EXEC_NUL);
    if (given->max_record > GALE_EXEC_RECORD_MAX)
        return gale_error_set(error, GALE_INVALID, "%s: max_record is %" PRIu64 " bytes, at most %" PRIu64, who,
                              given->max_record, GALE_EXEC_RECORD_MAX);
    return gx_exec_row_parse(given->emit, ret_row, error);
}

int gale_exec_spout(const gale_exec_spout_options *options, gale_spout *ret_spout, gale_error *error) {
    gale_exec_spout_options given;
    gx_exec_row row;
    settings *made;
    if (!ret_spout) return gx_define_nowhere(who, error);
    int rc = gx_options_take(&given, sizeof given, options, "exec spout: options", error);
    if (rc == 0) rc = check(&given, &row, error);
    if (rc == 0) rc = gx_exec_settings_make(given.run, who, sizeof *made, &made, error);
    if (rc < 0) return rc;
    made->rule = (gx_frames_rule){ .kind = given.records == GALE_EXEC_NUL ? GX_FRAMES_NUL : GX_FRAMES_LINES,
                                   .drops = given.drop_long,
                                   .max = given.max_record ? (size_t)given.max_record : RECORD_MAX };
    made->max_attempts = given.max_attempts;
    made->row = row;
    made->output = (gale_output){ NULL, made->row.fields };
    *ret_spout = gx_define_spout(&ops, made, &made->output, 1);
    return 0;
}
