#include "connect/file/follow.h"

#include "base/str.h"
#include "connect/file/kept.h"
#include "connect/file/settings.h"
#include "kit/define.h"
#include "kit/pace.h"

enum { OVERS_MAX = 8 };

typedef struct spout {
    gx_instance instance;
    gale_collector *out;
    gx_file_row row; /* a copy: the definition may have gone */
    gx_buf path;
    gx_file_followed files;
    gx_file_sent sent;
    gx_pace pace;
    uint32_t last_tag; /* of earlier tasks, when there was another number of them */
    bool other_tasks;
    bool ended;       /* by an error */
    gale_error error; /* of the call that reads a line: too large to be made for each */
} spout;

static void free_spout(spout *lines) {
    gx_file_sent_fini(&lines->sent);
    gx_file_followed_fini(&lines->files);
    gx_buf_fini(&lines->path);
    gx_define_instance_free(lines);
}

static void spout_close(void *self) {
    free_spout(self);
}

static int open_files(spout *lines, const gx_file_settings *given, gale_error *error) {
    const gale_context *context = lines->instance.context;
    gale_str path = gale_config_text(context->config, "gale.input", gx_str(given->paths));
    gx_buf_add(&lines->path, path.data, path.size);
    const char *text = gx_buf_text(&lines->path);
    if (!text) return GALE_NO_MEMORY;
    gx_file_follow_options options = { .from_end = given->options.from_end,
                                       .numbered = given->row.numbered,
                                       .max_open = given->options.max_open ? given->options.max_open : GX_FILE_MAX_OPEN,
                                       .rotate_wait = given->rotate_wait,
                                       .rule = given->rule };
    return gx_file_followed_init(&lines->files, &lines->instance.heap, text, context, options, error);
}

static int spout_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    const gx_file_settings *given = user;
    spout *lines = gx_define_instance(context, sizeof *lines);
    if (!lines) return GALE_NO_MEMORY;
    lines->out = out;
    lines->error = (gale_error)GALE_ERROR_INIT;
    lines->row = given->row;
    lines->path = (gx_buf)GX_BUF_INIT(&lines->instance.heap);
    gx_file_sent_init(&lines->sent, &lines->instance.heap, out, given->options.max_attempts);
    if (context->durable) gx_file_sent_use_tag(&lines->sent, context->task_index);
    gx_pace_init(&lines->pace, context);
    gale_error error = GALE_ERROR_INIT;
    int rc = open_files(lines, given, &error);
    if (rc < 0) {
        if (error.length) gale_report(out, error.text);
        free_spout(lines);
        return rc;
    }
    *ret_self = lines;
    return 0;
}

/* --- Lines -------------------------------------------------------------------------------------------------------- */

static int stop(spout *lines, gale_collector *out, int rc, const gale_error *error) {
    gale_stop(out, rc, error->text);
    lines->ended = true;
    return GALE_NEXT_DONE;
}

/* What `next` is to return when there is no line. */
static int wait_for_more(spout *lines, int64_t until, gale_wait *wait) {
    if (lines->files.overs >= OVERS_MAX) (void)gx_file_kept_sweep(&lines->files, &lines->sent);
    wait->fd = lines->files.watch.fd;
    wait->until = until == INT64_MAX ? 0 : until;
    return wait->fd < 0 ? GALE_NEXT_UNTIL : GALE_NEXT_READABLE;
}

/* Reads on into a slot: 0, or what `next` is to return if it is not. */
static int take_line(spout *lines, gale_collector *out, gale_wait *wait, uint32_t *ret_id, int *ret_next) {
    gale_error *error = &lines->error;
    gx_file_tail *tail = NULL;
    gale_str line;
    int64_t until = INT64_MAX;
    int rc = gx_file_followed_next(&lines->files, &tail, &line, &until, error);
    if (rc > 0) {
        gx_file_reader *reader = &tail->reader;
        rc = gx_retry_add(&lines->sent.own, line, gx_file_reader_is_text(reader), reader->number, ret_id);
        if (rc == 0) {
            gx_retry_slot *slot = &lines->sent.own.slots[*ret_id];
            slot->place = gx_file_reader_last_at(reader);
            slot->source = tail->id;
            lines->sent.memory_tries = 0;
            return 0;
        }
        gx_file_reader_unread(reader);
    } else if (rc == 0) {
        *ret_next = wait_for_more(lines, until, wait);
        return 1;
    }
    if (rc == GALE_AGAIN) {
        *ret_next = GALE_NEXT_NOTHING; /* there is much to pass by */
        return 1;
    }
    if (rc == GALE_NO_MEMORY && gx_file_sent_may_wait(&lines->sent)) {
        *ret_next = GALE_NO_MEMORY; /* the engine backs off and asks again */
        return 1;
    }
    if (rc == GALE_NO_MEMORY) gale_error_set(error, rc, "%s: the next line does not fit into memory", lines->path.data);
    *ret_next = stop(lines, out, rc, error);
    return 1;
}

static int emit(const spout *lines, gx_retry *retry, gale_collector *out, uint32_t id) {
    if (GX_LIKELY(lines->row.line_alone)) return gx_retry_emit(retry, out, id);
    const gx_file_tail *tail = gx_file_followed_at(&lines->files, retry->slots[id].source);
    return gx_file_row_emit(&lines->row, retry, out, id, gx_str(tail ? tail->name : lines->path.data));
}

/* Tags of the tasks of now are above those of all earlier ones. */
static void join_parts(spout *lines) {
    gx_file_sent_use_tag(&lines->sent, lines->last_tag + 1 + lines->instance.context->task_index);
    lines->other_tasks = false;
}

static int spout_next(void *self, gale_collector *out, gale_wait *wait) {
    spout *lines = self;
    gx_retry *retry = gx_file_sent_waiting(&lines->sent);
    if (lines->ended && !retry) return GALE_NEXT_DONE;
    if (!gx_pace_ready(&lines->pace, &wait->until)) return GALE_NEXT_UNTIL;
    if (GX_UNLIKELY(lines->other_tasks)) join_parts(lines);
    uint32_t id = 0;
    int next;
    if (retry)
        (void)gx_retry_take(retry, &id);
    else if (take_line(lines, out, wait, &id, &next))
        return next;
    next = emit(lines, retry ? retry : &lines->sent.own, out, id);
    if (next == GALE_NEXT_EMITTED) gx_pace_step(&lines->pace);
    return next;
}

static void spout_ack(void *self, uint64_t message_id) {
    spout *lines = self;
    gx_file_sent_ack(&lines->sent, message_id);
}

static void spout_fail(void *self, uint64_t message_id, const gale_failure *failure) {
    spout *lines = self;
    gx_file_sent_fail(&lines->sent, message_id, failure);
}

/* --- Checkpoints -------------------------------------------------------------------------------------------------- */

static int spout_save(void *self, gale_saver *to) {
    spout *lines = self;
    gale_error error = GALE_ERROR_INIT;
    if (lines->other_tasks) join_parts(lines);
    int rc = gx_file_followed_begin(&lines->files, &error);
    if (rc == 0) rc = gx_file_kept_save(&lines->files, &lines->sent, to, &error);
    if (rc < 0 && error.length) gale_report(lines->out, error.text);
    return rc;
}

static int spout_restore(void *self, gale_saved *from, gale_collector *out) {
    spout *lines = self;
    gale_error error = GALE_ERROR_INIT;
    uint32_t tag = 0;
    bool other = false;
    int rc = gx_file_kept_restore(&lines->files, &lines->sent, from, &tag, &other, &error);
    if (rc < 0) {
        gale_report(out, error.text);
        return rc;
    }
    if (!other) gx_file_sent_use_tag(&lines->sent, tag);
    if (tag > lines->last_tag) lines->last_tag = tag;
    lines->other_tasks = other;
    return 0;
}

static const gale_durable_ops durable = {
    .size = sizeof(gale_durable_ops),
    .version = 1,
    .flags = GALE_DURABLE_SHARED,
    .save = spout_save,
    .restore = spout_restore,
};

const gale_spout_ops gx_file_follow_ops = {
    .size = sizeof(gale_spout_ops),
    .name = "file spout",
    .open = spout_open,
    .next = spout_next,
    .ack = spout_ack,
    .fail = spout_fail,
    .close = spout_close,
    .durable = &durable,
};
