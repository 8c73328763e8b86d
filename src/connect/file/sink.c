/* Tuples to lines of a file: gale_file_sink_bolt. Lines gather in a buffer that is written when it is full and in each
 * `flush`, whose success acks their tuples. After a write has failed nothing more is written and nothing acked: the run
 * is stopped, which is what the spouts hear of everything that is open. */
#include "base/json.h"
#include "base/log.h"
#include "connect/file/output.h"
#include "kit/define.h"
#include "tuple/json.h"
#include "tuple/value.h"

#include <gale/file.h>
#include <inttypes.h>
#include <stdlib.h>

enum { FULL = 64 << 10 };

/* The user block: the options, with the path copied behind them. */
typedef struct settings {
    gale_file_sink_options options;
    char path[];
} settings;

typedef struct sink {
    gx_instance instance;
    gale_collector *out;
    gx_file_output output;
    gx_buf path;
    gx_buf lines;
    int32_t format;
    bool append;
    bool sync;
    bool unsynced; /* lines were written since the last time */
    int broken;    /* the code of what failed */
} sink;

/* --- Writing ------------------------------------------------------------------------------------------------------ */

/* Of a pipe nobody expects more than its reader wanted. */
static int give_up(sink *bolt, int rc, gale_error *error) {
    bolt->broken = rc;
    gx_buf_reset(&bolt->lines);
    if (rc != GALE_CLOSED_PIPE)
        gale_error_add(error, "it is incomplete: what it lacks was not acked, but for what came from a finish");
    gale_stop(bolt->out, rc, error->text);
    return rc;
}

static void tell_how(const sink *bolt, bool goes_on, gx_file_torn torn) {
    const gale_context *context = bolt->instance.context;
    const char *path = bolt->path.data;
    if (goes_on)
        gale_log(context->logger, GALE_LOG_INFO, context->component, "%s: goes on behind %" PRId64 " bytes", path,
                 bolt->output.size);
    if (torn.size)
        gale_log(context->logger, GALE_LOG_WARN, context->component,
                 "%s: the last line had no end, as of a run that was killed: %s (%" PRId64 " bytes)", path,
                 torn.cut ? "it was cut" : "it was given one", torn.size);
}

/* Everything is open by now, so it is known whether the run is the rest of an earlier one. */
static int begin(sink *bolt) {
    gale_error error = GALE_ERROR_INIT;
    gx_file_torn torn;
    bool goes_on = gale_resumed(bolt->out);
    gx_file_begin how = goes_on ? GX_FILE_GO_ON : bolt->append ? GX_FILE_BEHIND : GX_FILE_ANEW;
    int rc = gx_file_output_begin(&bolt->output, how, &torn, &error);
    if (rc < 0) return give_up(bolt, rc, &error);
    if (bolt->output.regular) tell_how(bolt, goes_on, torn);
    return 0;
}

static int write_lines(sink *bolt) {
    if (bolt->broken) return bolt->broken;
    if (!bolt->lines.size) return 0;
    gale_error error = GALE_ERROR_INIT;
    int rc = gx_file_output_write(&bolt->output, (gale_str){ bolt->lines.data, bolt->lines.size }, &error);
    if (rc < 0) return give_up(bolt, rc, &error);
    gx_buf_reset(&bolt->lines);
    bolt->unsynced = true;
    return 0;
}

static int bolt_flush(void *self, gale_collector *out) {
    sink *bolt = self;
    gale_error error = GALE_ERROR_INIT;
    (void)out;
    int rc = write_lines(bolt);
    if (rc < 0 || !bolt->sync || !bolt->unsynced) return rc;
    rc = gx_file_output_sync(&bolt->output, &error);
    if (rc < 0) return give_up(bolt, rc, &error);
    bolt->unsynced = false;
    return 0;
}

static int bolt_finish(void *self, gale_collector *out) {
    sink *bolt = self;
    if (!bolt->output.begun) (void)begin(bolt);
    return bolt_flush(bolt, out);
}

/* --- A task's life ------------------------------------------------------------------------------------------------ */

static void free_sink(sink *bolt) {
    gx_buf_fini(&bolt->path);
    gx_buf_fini(&bolt->lines);
    gx_define_instance_free(bolt);
}

/* What an orderly end has left is written in `finish`; after a stop there may be more. */
static void bolt_cleanup(void *self) {
    sink *bolt = self;
    gale_error error = GALE_ERROR_INIT;
    write_lines(bolt);
    int rc = gx_file_output_close(&bolt->output, &error);
    if (rc < 0 && !bolt->broken) give_up(bolt, rc, &error);
    free_sink(bolt);
}

/* Each task has a file of its own, but for the standard output. */
static int open_output(sink *bolt, gale_str path, gale_error *error) {
    uint32_t index = bolt->instance.context->task_index;
    bool shared = gx_str_is(path, "-");
    gx_buf_add(&bolt->path, path.data, path.size);
    if (index > 0 && !shared) gx_buf_format(&bolt->path, ".%u", index);
    if (!gx_buf_text(&bolt->path)) return GALE_NO_MEMORY;
    return gx_file_output_open(&bolt->output, bolt->path.data, shared && bolt->instance.context->task_count > 1, error);
}

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    const settings *given = user;
    sink *bolt = gx_define_instance(context, sizeof *bolt);
    if (!bolt) return GALE_NO_MEMORY;
    bolt->out = out;
    bolt->format = given->options.format;
    bolt->append = given->options.append;
    bolt->sync = given->options.sync;
    bolt->path = bolt->lines = (gx_buf)GX_BUF_INIT(&bolt->instance.heap);
    gale_error error = GALE_ERROR_INIT;
    int rc = open_output(bolt, gale_config_text(context->config, "gale.output", gx_str(given->path)), &error);
    if (rc < 0) {
        if (error.length) gale_report(out, error.text);
        free_sink(bolt);
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

static int add_line(sink *bolt, const gale_tuple *tuple) {
    size_t before = bolt->lines.size;
    if (bolt->format == GALE_FILE_JSON) {
        gx_json json = gx_json_to(&bolt->lines);
        gx_json_tuple_values(&json, tuple);
    } else {
        add_tsv(&bolt->lines, tuple);
    }
    gx_buf_add_byte(&bolt->lines, '\n');
    if (GX_LIKELY(!bolt->lines.failed)) return 0;
    bolt->lines.failed = false; /* the lines of other tuples stay */
    bolt->lines.size = before;
    return GALE_NO_MEMORY;
}

/* What comes after a failure is not failed with it: it is open when the run ends. */
static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    sink *bolt = self;
    (void)out;
    if (GX_UNLIKELY(gale_tuple_is_tick(tuple))) return 0;
    if (GX_UNLIKELY(!bolt->output.begun)) (void)begin(bolt);
    if (GX_UNLIKELY(bolt->broken)) return 0;
    int rc = add_line(bolt, tuple);
    if (GX_UNLIKELY(bolt->lines.size >= FULL)) (void)write_lines(bolt);
    return rc;
}

static const gale_bolt_ops ops = {
    .size = sizeof(gale_bolt_ops),
    .name = "file sink bolt",
    .kind = GALE_BOLT_SIMPLE,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .flush = bolt_flush,
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
    if (!ret_bolt) return gx_define_nowhere("file sink", error);
    gale_file_sink_options given;
    int rc = gx_options_take(&given, sizeof given, options, "file sink: options", error);
    if (rc == 0) rc = check(&given, error);
    if (rc < 0) return rc;
    size_t path_size = strlen(given.path) + 1;
    settings *user = malloc(sizeof *user + path_size);
    if (!user) return gale_error_set(error, GALE_NO_MEMORY, "file sink: out of memory");
    user->options = given;
    user->options.path = NULL;
    memcpy(user->path, given.path, path_size);
    *ret_bolt = gx_define_bolt(&ops, user, NULL, 0);
    return 0;
}
