/* Tuples to lines of a file: gale_file_sink_bolt. Lines gather in a buffer that is written out by the tick of each
 * second, when it is full, in finish and in cleanup; with `sync` also by each tuple, before it is acked. After a write
 * has failed nothing more is written, and tuples fail. */
#include "base/json.h"
#include "base/os/file.h"
#include "base/str.h"
#include "kit/define.h"
#include "tuple/json.h"
#include "tuple/value.h"

#include <gale/file.h>
#include <limits.h>
#include <stdlib.h>

enum { FULL = 64 << 10, FLUSH_SECONDS = 1 };

/* The user block: the settings and options, with the path copied behind them. */
typedef struct settings {
    gale_setting tick;
    gale_file_sink_options options;
    char path[];
} settings;

typedef struct sink {
    gx_instance instance;
    gale_collector *out;
    gx_buf path;
    gx_buf lines;
    int32_t format;
    int fd;
    bool sync;
    bool shared; /* with other tasks */
    int broken;  /* the code of the write that failed */
} sink;

/* Tasks on several threads may share the standard output: pieces of whole lines, small enough for a pipe to take each
 * at once, keep their lines apart. A line longer than that may still be torn. */
static int write_shared(const sink *bolt, gale_error *error) {
    const char *at = bolt->lines.data, *end = at + bolt->lines.size;
    while (at < end) {
        size_t left = (size_t)(end - at), size = left;
        if (left > PIPE_BUF) {
            const char *newline = memrchr(at, '\n', PIPE_BUF);
            if (!newline) newline = memchr(at + PIPE_BUF, '\n', left - PIPE_BUF);
            size = (size_t)(newline + 1 - at); /* the last byte of all is a newline */
        }
        int rc = gx_file_write(bolt->fd, at, size, bolt->path.data, error);
        if (rc < 0) return rc;
        at += size;
    }
    return 0;
}

static int flush(sink *bolt, gale_collector *out) {
    if (bolt->broken) return bolt->broken;
    if (!bolt->lines.size) return 0;
    gale_error error = GALE_ERROR_INIT;
    int rc = bolt->shared ? write_shared(bolt, &error)
                          : gx_file_write(bolt->fd, bolt->lines.data, bolt->lines.size, bolt->path.data, &error);
    gx_buf_reset(&bolt->lines);
    if (rc >= 0) return 0;
    bolt->broken = rc;
    gale_stop(out, rc, error.text);
    return rc;
}

static void bolt_cleanup(void *self) {
    sink *bolt = self;
    if (bolt->fd >= 0) {
        flush(bolt, bolt->out);
        gx_file_close(bolt->fd);
    }
    gx_buf_fini(&bolt->path);
    gx_buf_fini(&bolt->lines);
    gx_define_instance_free(bolt);
}

/* Each task has a file of its own, but for the standard output. */
static bool name_path(sink *bolt, gale_str path) {
    gx_buf_add(&bolt->path, path.data, path.size);
    uint32_t index = bolt->instance.context->task_index;
    bolt->shared = bolt->instance.context->task_count > 1 && gx_str_is(path, "-");
    if (index > 0 && !bolt->shared) gx_buf_format(&bolt->path, ".%u", index);
    return gx_buf_text(&bolt->path) != NULL;
}

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    const settings *given = user;
    sink *bolt = gx_define_instance(context, sizeof *bolt);
    if (!bolt) return GALE_NO_MEMORY;
    bolt->fd = -1;
    bolt->out = out;
    bolt->format = given->options.format;
    bolt->sync = given->options.sync;
    bolt->path = bolt->lines = (gx_buf)GX_BUF_INIT(&bolt->instance.heap);
    gale_error error = GALE_ERROR_INIT;
    int rc = GALE_NO_MEMORY;
    if (name_path(bolt, gale_config_text(context->config, "gale.output", gx_str(given->path)))) {
        rc = gx_file_create(bolt->path.data, given->options.append, &bolt->fd, &error);
    }
    if (rc < 0) {
        if (error.length) gale_report(out, error.text);
        bolt_cleanup(bolt);
        return rc;
    }
    *ret_self = bolt;
    return 0;
}

/* --- Lines -------------------------------------------------------------------------------------------------------- */

static void add_escaped(gx_buf *out, gale_str text) {
    size_t done = 0;
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        char letter = c == '\t' ? 't' : c == '\n' ? 'n' : c == '\r' ? 'r' : 0;
        if (GX_LIKELY(!letter)) continue;
        gx_buf_add(out, text.data + done, i - done);
        gx_buf_add_byte(out, '\\');
        gx_buf_add_byte(out, letter);
        done = i + 1;
    }
    if (text.size > done) gx_buf_add(out, text.data + done, text.size - done);
}

/* Numbers, lists and maps as in JSON, strings and bytes as they are but for the escapes; null is \N, which no string is
 * (PostgreSQL's COPY reads it so). */
static void add_tsv_value(gx_buf *out, const gale_value *value) {
    gx_json json = gx_json_to(out);
    switch (value->type) {
    case GALE_TYPE_NULL: gx_buf_add_text(out, "\\N"); break;
    case GALE_TYPE_STRING:
    case GALE_TYPE_BYTES: add_escaped(out, gx_value_str(value)); break;
    default: gx_json_value(&json, value); break;
    }
}

static void add_tsv(gx_buf *out, const gale_tuple *tuple) {
    for (size_t i = 0; i < gale_tuple_size(tuple); i++) {
        gale_value value = gale_tuple_value(tuple, i);
        if (i > 0) gx_buf_add_byte(out, '\t');
        add_tsv_value(out, &value);
    }
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    sink *bolt = self;
    if (gale_tuple_is_tick(tuple)) return flush(bolt, out);
    if (bolt->broken) return bolt->broken;
    size_t before = bolt->lines.size;
    if (bolt->format == GALE_FILE_JSON) {
        gx_json json = gx_json_to(&bolt->lines);
        gx_json_tuple_values(&json, tuple);
    } else {
        add_tsv(&bolt->lines, tuple);
    }
    gx_buf_add_byte(&bolt->lines, '\n');
    if (bolt->lines.failed) { /* the lines of acked tuples stay */
        bolt->lines.failed = false;
        bolt->lines.size = before;
        return GALE_NO_MEMORY;
    }
    return bolt->sync || bolt->lines.size >= FULL ? flush(bolt, out) : 0;
}

static int bolt_finish(void *self, gale_collector *out) {
    return flush(self, out);
}

static const gale_bolt_ops ops = {
    .size = sizeof(gale_bolt_ops),
    .name = "file sink bolt",
    .kind = GALE_BOLT_SIMPLE,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .finish = bolt_finish,
    .cleanup = bolt_cleanup,
};

static int check(const gale_file_sink_options *given, gale_error *error) {
    if (!given->path || !*given->path) {
        return gale_error_set(error, GALE_INVALID, "file sink: options.path is not set; \"-\" is the standard output");
    }
    if (given->format != GALE_FILE_TSV && given->format != GALE_FILE_JSON) {
        return gale_error_set(error, GALE_INVALID, "file sink: format is %d, which is neither TSV (%d) nor JSON (%d)",
                              given->format, GALE_FILE_TSV, GALE_FILE_JSON);
    }
    return 0;
}

int gale_file_sink_bolt(const gale_file_sink_options *options, gale_bolt *ret_bolt, gale_error *error) {
    gale_file_sink_options given;
    int rc = gx_options_take(&given, sizeof given, options, "file sink: options", error);
    if (rc == 0) rc = check(&given, error);
    if (rc < 0) return rc;
    size_t path_size = strlen(given.path) + 1;
    settings *user = malloc(sizeof *user + path_size);
    if (!user) return gale_error_set(error, GALE_NO_MEMORY, "file sink: out of memory");
    user->tick = gx_define_tick(FLUSH_SECONDS);
    user->options = given;
    user->options.path = NULL;
    memcpy(user->path, given.path, path_size);
    *ret_bolt = gx_define_bolt(&ops, user, NULL, 0);
    ret_bolt->settings = &user->tick;
    ret_bolt->setting_count = 1;
    return 0;
}
