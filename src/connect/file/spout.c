/* Lines to tuples: gale_file_spout. Message ids are the slots of kit/retry. */
#include "base/str.h"
#include "connect/file/reader.h"
#include "connect/file/resume.h"
#include "kit/define.h"
#include "kit/pace.h"
#include "kit/retry.h"

#include <stdlib.h>

enum { INTERVAL_MAX = 1000000 };

/* The user block: the options, with the paths copied behind them. */
typedef struct settings {
    gale_file_spout_options options; /* `state` points into `paths` */
    int64_t state_interval;
    char paths[]; /* `path`, then `state` */
} settings;

typedef struct spout {
    gx_instance instance;
    gale_collector *out;
    gx_file_reader reader;
    gx_file_resume resume;
    gx_retry retry;
    gx_pace pace;
    char *path;
    size_t path_size;
    bool repeat;
    bool ended;
    bool found; /* a line of this task since the file began */
    uint32_t memory_tries;
} spout;

/* Everything before the oldest line that waits for its answer has been acked or given up; a line that waits to be
 * emitted again counts as waiting. After a write has failed nothing more is kept. */
static void write_state(spout *lines) {
    gx_file_resume *resume = &lines->resume;
    const gx_retry_slot *oldest = gx_retry_oldest(&lines->retry);
    int64_t offset = oldest ? oldest->place : gx_file_reader_next_at(&lines->reader);
    uint64_t before = oldest ? oldest->number - 1 : lines->reader.number;
    gale_error error = GALE_ERROR_INIT;
    int rc = gx_file_resume_write(resume, offset, before, &error);
    resume->due = gale_context_now(lines->instance.context) + resume->interval;
    if (rc == 0) return;
    gale_stop(lines->out, rc, error.text);
    gx_file_resume_fini(resume);
}

/* After an answer, and at the end of the file. When nothing is left to answer it does not wait for its time. */
static void keep_state(spout *lines) {
    if (GX_LIKELY(!lines->resume.path)) return;
    bool complete = lines->ended && !gx_retry_oldest(&lines->retry);
    if (complete || gale_context_now(lines->instance.context) >= lines->resume.due) write_state(lines);
}

static void free_spout(spout *lines) {
    gx_file_resume_fini(&lines->resume);
    gx_file_reader_close(&lines->reader);
    gx_retry_fini(&lines->retry);
    gx_free(&lines->instance.heap, GX_TAG_OTHER, lines->path, lines->path_size);
    gx_define_instance_free(lines);
}

static void spout_close(void *self) {
    spout *lines = self;
    if (lines->resume.path) write_state(lines);
    free_spout(lines);
}

static bool copy_path(spout *lines, gale_str path) {
    lines->path = gx_alloc(&lines->instance.heap, GX_TAG_OTHER, path.size + 1);
    if (!lines->path) return false;
    lines->path_size = path.size + 1;
    memcpy(lines->path, path.data, path.size);
    return true;
}

/* A pipe's bytes go to whoever reads first, and come once. */
static int check_kind(const spout *lines, gale_error *error) {
    if (lines->reader.regular) return 0;
    const char *name = strcmp(lines->path, "-") == 0 ? "standard input" : lines->path;
    if (lines->instance.context->task_count > 1) {
        return gale_error_set(error, GALE_INVALID, "%s: %u tasks cannot share what is not a regular file; use one task",
                              name, lines->instance.context->task_count);
    }
    if (lines->repeat) {
        return gale_error_set(error, GALE_INVALID, "%s: only a regular file can be read repeatedly", name);
    }
    return 0;
}

static int open_reader(spout *lines, const settings *given, gale_error *error) {
    gx_file_reader reader = { .fd = -1 };
    int rc = gx_file_reader_open(&reader, &lines->instance.heap, lines->path, error);
    if (rc < 0) return rc;
    lines->reader = reader;
    rc = check_kind(lines, error);
    if (rc < 0 || !given->options.state) return rc;
    return gx_file_resume_open(&lines->resume, &lines->instance.heap, given->options.state, given->state_interval,
                               lines->instance.context, &lines->reader, error);
}

static int spout_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    const settings *given = user;
    spout *lines = gx_define_instance(context, sizeof *lines);
    if (!lines) return GALE_NO_MEMORY;
    lines->out = out;
    lines->repeat = given->options.repeat;
    gx_retry_init(&lines->retry, &lines->instance.heap, out, given->options.max_attempts);
    gx_pace_init(&lines->pace, context);
    gale_error error = GALE_ERROR_INIT;
    gale_str path = gale_config_text(context->config, "gale.input", gx_str(given->paths));
    int rc = copy_path(lines, path) ? open_reader(lines, given, &error) : GALE_NO_MEMORY;
    if (rc < 0) {
        if (error.length) gale_report(out, error.text);
        free_spout(lines);
        return rc;
    }
    if (lines->resume.path && gx_file_reader_next_at(&lines->reader) > 0) gale_resume(out);
    *ret_self = lines;
    return 0;
}

/* The next line that is this task's. As gx_file_reader_next. */
static int read_line(spout *lines, gale_str *ret_line, gale_error *error) {
    const gale_context *context = lines->instance.context;
    for (;;) {
        int rc = gx_file_reader_next(&lines->reader, ret_line, error);
        if (rc > 0 && (lines->reader.number - 1) % context->task_count != context->task_index) continue;
        if (rc > 0) lines->found = true;
        if (rc != 0 || !lines->repeat || !lines->found) return rc;
        lines->found = false; /* a file that was emptied meanwhile ends the reading */
        gx_file_reader_rewind(&lines->reader);
    }
}

/* Without memory for the next line: what `next` is to return. The answers of lines that are on their way give memory back, and so
 * may others; when nothing did for some seconds, the run ends before that line, which is the first of the next one. */
static int wait_for_memory(spout *lines, gale_collector *out) {
    enum { TRIES = 12 };
    gale_error error = GALE_ERROR_INIT;
    lines->memory_tries = gx_retry_oldest(&lines->retry) ? 0 : lines->memory_tries + 1;
    if (lines->memory_tries < TRIES) return GALE_NO_MEMORY; /* the engine backs off and asks again */
    gale_error_set(&error, GALE_NO_MEMORY, "%s: line %llu does not fit into memory", lines->path,
                   (unsigned long long)lines->reader.number + 1);
    gale_stop(out, GALE_NO_MEMORY, error.text);
    lines->ended = true;
    return GALE_NEXT_DONE;
}

/* Reads on into a slot: 0, or what `next` is to return if it is not. */
static int take_line(spout *lines, gale_collector *out, gale_wait *wait, uint32_t *ret_id, int *ret_next) {
    gale_error error = GALE_ERROR_INIT;
    gale_str line;
    int rc = read_line(lines, &line, &error);
    if (rc > 0) {
        rc = gx_retry_add(&lines->retry, line, gx_file_reader_is_text(&lines->reader), lines->reader.number, ret_id);
        if (rc == 0) {
            lines->retry.slots[*ret_id].place = gx_file_reader_last_at(&lines->reader);
            lines->memory_tries = 0;
            return 0;
        }
        gx_file_reader_unread(&lines->reader);
    }
    if (rc == GALE_AGAIN) {
        wait->fd = lines->reader.fd;
        *ret_next = GALE_NEXT_READABLE;
    } else if (rc == GALE_NO_MEMORY) {
        *ret_next = wait_for_memory(lines, out);
    } else {
        if (rc < 0) gale_stop(out, rc, error.text);
        lines->ended = true;
        keep_state(lines);
        *ret_next = GALE_NEXT_DONE;
    }
    return 1;
}

static int spout_next(void *self, gale_collector *out, gale_wait *wait) {
    spout *lines = self;
    if (lines->ended && !gx_retry_waiting(&lines->retry)) return GALE_NEXT_DONE;
    if (!gx_pace_ready(&lines->pace, &wait->until)) return GALE_NEXT_UNTIL;
    uint32_t id;
    int next;
    if (!gx_retry_take(&lines->retry, &id) && take_line(lines, out, wait, &id, &next)) return next;
    next = gx_retry_emit(&lines->retry, out, id);
    if (next == GALE_NEXT_EMITTED) gx_pace_step(&lines->pace);
    return next;
}

static void spout_ack(void *self, uint64_t message_id) {
    spout *lines = self;
    gx_retry_ack(&lines->retry, message_id);
    keep_state(lines);
}

static void spout_fail(void *self, uint64_t message_id, const gale_failure *failure) {
    spout *lines = self;
    gx_retry_fail(&lines->retry, message_id, failure);
    keep_state(lines);
}

static const gale_spout_ops ops = {
    .size = sizeof(gale_spout_ops),
    .name = "file spout",
    .open = spout_open,
    .next = spout_next,
    .ack = spout_ack,
    .fail = spout_fail,
    .close = spout_close,
};

static int check(const gale_file_spout_options *given, gale_error *error) {
    if (!given->path || !*given->path) {
        return gale_error_set(error, GALE_INVALID, "file spout: options.path is not set; \"-\" is the standard input");
    }
    if (!(given->state_interval >= 0 && given->state_interval <= INTERVAL_MAX)) {
        return gale_error_set(error, GALE_INVALID, "file spout: state_interval is %g, must be 0 to %d seconds",
                              given->state_interval, INTERVAL_MAX);
    }
    if (!given->state) return 0;
    if (!*given->state || strcmp(given->state, "-") == 0) {
        return gale_error_set(error, GALE_INVALID, "file spout: state is \"%s\", must be the path of a file",
                              given->state);
    }
    if (given->repeat) {
        return gale_error_set(error, GALE_INVALID,
                              "file spout: repeat and state exclude each other: what is read "
                              "without end has no place to go on from");
    }
    return 0;
}

static settings *copy_settings(const gale_file_spout_options *given) {
    size_t path_size = strlen(given->path) + 1, state_size = given->state ? strlen(given->state) + 1 : 0;
    settings *made = malloc(sizeof *made + path_size + state_size);
    if (!made) return NULL;
    made->options = *given;
    made->options.path = NULL;
    made->state_interval = given->state_interval > 0 ? (int64_t)(given->state_interval * GALE_SECOND) : GALE_SECOND;
    memcpy(made->paths, given->path, path_size);
    if (given->state) made->options.state = memcpy(made->paths + path_size, given->state, state_size);
    return made;
}

int gale_file_spout(const gale_file_spout_options *options, gale_spout *ret_spout, gale_error *error) {
    static const gale_output outputs[] = { { NULL, "line" } };
    if (!ret_spout) return gx_define_nowhere("file spout", error);
    gale_file_spout_options given;
    int rc = gx_options_take(&given, sizeof given, options, "file spout: options", error);
    if (rc == 0) rc = check(&given, error);
    if (rc < 0) return rc;
    settings *user = copy_settings(&given);
    if (!user) return gale_error_set(error, GALE_NO_MEMORY, "file spout: out of memory");
    *ret_spout = gx_define_spout(&ops, user, outputs, 1);
    return 0;
}
