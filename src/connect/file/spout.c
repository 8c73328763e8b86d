/* Lines to tuples: gale_file_spout. Message ids are the slots of kit/retry. */
#include "base/str.h"
#include "connect/file/reader.h"
#include "kit/define.h"
#include "kit/pace.h"
#include "kit/retry.h"

#include <stdlib.h>

/* The user block: the options, with the path copied behind them. */
typedef struct settings {
    gale_file_spout_options options;
    char path[];
} settings;

typedef struct spout {
    gx_instance instance;
    gx_file_reader reader;
    gx_retry retry;
    gx_pace pace;
    char *path;
    size_t path_size;
    bool repeat;
    bool ended;
    bool found; /* a line of this task since the file began */
} spout;

static void spout_close(void *self) {
    spout *lines = self;
    gx_file_reader_close(&lines->reader);
    gx_retry_fini(&lines->retry);
    gx_free(&lines->instance.heap, GX_TAG_OTHER, lines->path, lines->path_size);
    gx_define_instance_free(lines);
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

static int open_reader(spout *lines, gale_error *error) {
    gx_file_reader reader = { .fd = -1 };
    int rc = gx_file_reader_open(&reader, &lines->instance.heap, lines->path, error);
    if (rc < 0) return rc;
    lines->reader = reader;
    return check_kind(lines, error);
}

static int spout_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    const settings *given = user;
    spout *lines = gx_define_instance(context, sizeof *lines);
    if (!lines) return GALE_NO_MEMORY;
    lines->repeat = given->options.repeat;
    gx_retry_init(&lines->retry, &lines->instance.heap, out, given->options.max_attempts);
    gx_pace_init(&lines->pace, context);
    gale_error error = GALE_ERROR_INIT;
    gale_str path = gale_config_text(context->config, "gale.input", gx_str(given->path));
    int rc = copy_path(lines, path) ? open_reader(lines, &error) : GALE_NO_MEMORY;
    if (rc < 0) {
        if (error.length) gale_report(out, error.text);
        spout_close(lines);
        return rc;
    }
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

/* Reads on into a slot: 0, or what `next` is to return if it is not. */
static int take_line(spout *lines, gale_collector *out, gale_wait *wait, uint32_t *ret_id, int *ret_next) {
    gale_error error = GALE_ERROR_INIT;
    gale_str line;
    int rc = read_line(lines, &line, &error);
    if (rc > 0) {
        rc = gx_retry_add(&lines->retry, line, lines->reader.number, ret_id);
        if (rc == 0) return 0;
        gx_file_reader_unread(&lines->reader);
    }
    if (rc == GALE_AGAIN) {
        wait->fd = lines->reader.fd;
        *ret_next = GALE_NEXT_READABLE;
    } else if (rc == GALE_NO_MEMORY) {
        *ret_next = rc; /* nothing is lost: the engine backs off and asks again */
    } else {
        if (rc < 0) gale_stop(out, rc, error.text);
        lines->ended = true;
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
    gx_retry_ack(&((spout *)self)->retry, message_id);
}

static void spout_fail(void *self, uint64_t message_id, const gale_failure *failure) {
    gx_retry_fail(&((spout *)self)->retry, message_id, failure);
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

int gale_file_spout(const gale_file_spout_options *options, gale_spout *ret_spout, gale_error *error) {
    static const gale_output outputs[] = { { NULL, "line" } };
    gale_file_spout_options given;
    int rc = gx_define_options(&given, sizeof given, options, "file spout", error);
    if (rc < 0) return rc;
    if (!given.path || !*given.path) {
        return gale_error_set(error, GALE_INVALID, "file spout: options.path is not set; \"-\" is the standard input");
    }
    size_t path_size = strlen(given.path) + 1;
    settings *user = malloc(sizeof *user + path_size);
    if (!user) return gale_error_set(error, GALE_NO_MEMORY, "file spout: out of memory");
    user->options = given;
    user->options.path = NULL;
    memcpy(user->path, given.path, path_size);
    *ret_spout = gx_define_spout(&ops, user, outputs, 1);
    return 0;
}
