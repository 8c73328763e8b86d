/* Tuples to lines of files: gale_file_sink_bolt. Lines gather in buffers that are written when they are full and in each
 * `flush`, whose success acks their tuples. After a write has failed nothing more is written and nothing acked: the run
 * is stopped, which is what the spouts hear of everything that is open. */
#include "base/log.h"
#include "base/os/folder.h"
#include "connect/file/header.h"
#include "connect/file/lines.h"
#include "connect/file/made.h"
#include "connect/file/meddled.h"
#include "connect/file/only.h"
#include "connect/file/sink_options.h"
#include "connect/file/template.h"
#include "kit/define.h"

#include <gale/file.h>
#include <inttypes.h>
#include <stdlib.h>

enum { FULL = 64 << 10 };

static const char who[] = "file sink";
static const int64_t look_pause = 50 * GALE_MILLISECOND; /* of a file that is written to all the time */

typedef struct sink {
    gx_instance instance;
    gale_collector *out;
    gx_outputs outputs;
    gx_outputs_file *only; /* when all tuples go to one file */
    gx_template path;
    gx_field_places places; /* of the fields that the path names */
    gx_buf name;            /* of a tuple's file */
    gx_lines lines;
    gx_buf header; /* the first line of each file; empty: none */
    gx_rotation rotation;
    bool rotates;
    gale_clock wall;
    uint64_t seed; /* of the map of names */
    bool append;
    bool overwrite;
    bool sync;
    bool restored;    /* a checkpoint has had it */
    bool gathers;     /* to the standard output, which others write to as well: each line goes there at once */
    bool keeps;       /* in `made`, what its files are to a durable run */
    int broken;       /* the code of what failed */
    gale_error error; /* of the call that finds a tuple's file: too large to be made for each */
    gx_made made;
} sink;

/* --- Writing ------------------------------------------------------------------------------------------------------ */

/* Of a pipe nobody expects more than its reader wanted. */
static int give_up(sink *bolt, int rc, gale_error *error) {
    bolt->broken = rc;
    if (rc != GALE_CLOSED_PIPE && rc != GALE_EXISTS)
        gale_error_add(error, "it is incomplete: what it lacks was not acked, but for what came from a finish");
    gale_stop(bolt->out, rc, error->text);
    return rc;
}

static void tell_how(const sink *bolt, const gx_file_output *output, bool goes_on, gx_file_torn torn) {
    const gale_context *context = bolt->instance.context;
    if (goes_on)
        gale_log(context->logger, GALE_LOG_INFO, context->component, "%s: goes on behind %" PRId64 " bytes",
                 output->path, output->size);
    if (torn.size)
        gale_log(context->logger, GALE_LOG_WARN, context->component,
                 "%s: the last line had no end, as of a run that was killed: %s (%" PRId64 " bytes)", output->path,
                 torn.cut ? "it was cut" : "it was given one", torn.size);
}

/* A durable run goes on with files that a checkpoint has. Any other file is foreign to it: the state folder may be new, or
 * another run's. */
static gx_file_begin choose_how(const sink *bolt, bool goes_on) {
    if (goes_on) return GX_FILE_GO_ON;
    if (bolt->append) return GX_FILE_BEHIND;
    return bolt->overwrite ? GX_FILE_ANEW : GX_FILE_EMPTY;
}

/* The folder was mistyped more often than it is new. */
static void add_state_hint(const gale_context *context, gale_error *error) {
    if (context->durable && error->code == GALE_EXISTS)
        gale_error_add(error, "no checkpoint of this run has written it; if another state folder belongs to it, give "
                              "that one");
}

static int64_t now(const sink *bolt) {
    return bolt->wall.now(bolt->wall.user);
}

/* What a durable run cannot promise. */
static void tell_of_stream(const sink *bolt, const gx_outputs_file *file) {
    const gale_context *context = bolt->instance.context;
    if (!context->durable || file->output.regular) return;
    gale_log(context->logger, GALE_LOG_WARN, context->component,
             "%s: is no regular file and cannot be cut back: after a crash, lines that were written since the last "
             "checkpoint come again",
             strcmp(file->path, "-") == 0 ? "standard output" : file->path);
}

/* What a spout says of going on is of no matter to a sink that a checkpoint has had. */
static int begin_file(sink *bolt, gx_outputs_file *file, gx_file_torn *torn, gale_error *error) {
    bool goes_on = gale_resumed(bolt->out) && !bolt->restored;
    gx_file_begin how = choose_how(bolt, goes_on);
    int rc = bolt->only ? 0 : gx_folder_make_way(file->path, bolt->keeps, error);
    if (rc < 0) return rc;
    rc = bolt->keeps ? gx_made_begin(&bolt->made, file, how, torn, error)
                     : gx_file_output_begin(&file->output, file->again ? GX_FILE_AGAIN : how, torn, error);
    if (rc == 0 && file->output.regular) tell_how(bolt, &file->output, goes_on && !file->again, *torn);
    return rc;
}

/* Everything is open by now, so it is known whether the run is the rest of an earlier one. What this one has closed, it goes
 * on with. */
static int begin(sink *bolt, gx_outputs_file *file) {
    gale_error error = GALE_ERROR_INIT;
    gx_file_torn torn;
    int rc = begin_file(bolt, file, &torn, &error);
    if (rc < 0) add_state_hint(bolt->instance.context, &error);
    if (rc < 0) return give_up(bolt, rc, &error);
    if (!bolt->only && !file->output.regular) tell_of_stream(bolt, file);
    if (bolt->rotation.every && !(bolt->keeps && file->again))
        file->period = gx_rotation_period(&bolt->rotation, file->output.size ? file->output.modified : now(bolt));
    return 0;
}

/* --- Files that somebody else has changed --- */

/* A successor that was asked for by SIGHUP takes what comes from then on; one that cannot be opened then is done without. */
static int change(sink *bolt, gx_outputs_file *file, bool needed) {
    const gale_context *context = bolt->instance.context;
    gale_error error = GALE_ERROR_INIT;
    int rc = bolt->only ? 0 : gx_folder_make_way(file->path, false, &error);
    if (rc == 0) rc = gx_outputs_open_successor(file, &error);
    if (rc < 0 && needed) return give_up(bolt, rc, &error);
    if (!needed) gx_rotation_tell_change(context, file->path, rc < 0 ? &error : NULL);
    if (rc < 0) return 0;
    rc = needed ? 0 : gx_outputs_write(file, file->lines.size, &error);
    if (rc == 0) rc = gx_outputs_change(file, bolt->sync, &error);
    return rc < 0 ? give_up(bolt, rc, &error) : 0;
}

/* 1: its path was opened anew. */
static int look_at(sink *bolt, gx_outputs_file *file, bool renamed) {
    gale_error error = GALE_ERROR_INIT;
    int rc = gx_meddled_look(bolt->instance.context, file, renamed, &error);
    if (rc < 0) return give_up(bolt, rc, &error);
    if (rc == 0) return 0;
    rc = change(bolt, file, true);
    return rc < 0 ? rc : 1;
}

/* Before lines are written to it, so that none goes where nobody finds it. A durable run looks with each checkpoint. */
static void look_before(sink *bolt, gx_outputs_file *file) {
    const gale_context *context = bolt->instance.context;
    if (context->durable || bolt->broken) return;
    int64_t time = gale_context_now(context);
    if (time - file->looked < look_pause) return;
    file->looked = time;
    (void)look_at(bolt, file, false);
}

/* What was removed meanwhile is logged, and not made anew for no line. */
static int look_at_end(sink *bolt) {
    const gale_context *context = bolt->instance.context;
    gale_error error = GALE_ERROR_INIT;
    if (context->durable || bolt->broken) return bolt->broken;
    for (gx_outputs_file *file = bolt->outputs.newest; file; file = file->older) {
        int rc = gx_meddled_look(context, file, false, &error);
        if (rc < 0) return give_up(bolt, rc, &error);
    }
    return 0;
}

/* --- Lines that have gathered --- */

static int write_all(sink *bolt, bool sync) {
    gale_error error = GALE_ERROR_INIT;
    for (gx_outputs_file *file = bolt->outputs.listed; file; file = file->next) look_before(bolt, file);
    if (bolt->broken) return bolt->broken;
    int rc = gx_outputs_flush(&bolt->outputs, sync, &error);
    return rc < 0 ? give_up(bolt, rc, &error) : 0;
}

static void write_full(sink *bolt, gx_outputs_file *file) {
    gale_error error = GALE_ERROR_INIT;
    look_before(bolt, file);
    int rc = bolt->broken ? 0 : gx_outputs_write(file, file->lines.size, &error);
    if (rc < 0) (void)give_up(bolt, rc, &error);
}

/* Without an error's text a line; with it, the same error comes again. */
GX_INLINE void gather(sink *bolt, gx_outputs_file *file) {
    if (GX_UNLIKELY(gx_outputs_write(file, file->lines.size, NULL) < 0)) write_full(bolt, file);
}

static int bolt_flush(void *self, gale_collector *out) {
    sink *bolt = self;
    (void)out;
    return write_all(bolt, bolt->sync);
}

/* A file without lines has its header all the same. */
static void write_header(sink *bolt) {
    gale_error error = GALE_ERROR_INIT;
    int rc = bolt->broken ? 0 : gx_outputs_write_header(bolt->only, &error);
    if (rc == 0) rc = gx_file_output_flush(&bolt->only->output, &error);
    if (rc < 0) (void)give_up(bolt, rc, &error);
}

static int bolt_finish(void *self, gale_collector *out) {
    sink *bolt = self;
    if (bolt->only && !bolt->only->output.begun) (void)begin(bolt, bolt->only);
    if (bolt->only) write_header(bolt);
    int rc = bolt_flush(bolt, out);
    return rc < 0 ? rc : look_at_end(bolt);
}

/* --- Files that are full --- */

/* Lines that are not written go along, but for the first `size` bytes. In a durable run old ones go when a checkpoint lasts. */
static void turn(sink *bolt, gx_outputs_file *file, size_t size) {
    const gale_context *context = bolt->instance.context;
    gale_error error = GALE_ERROR_INIT;
    uint64_t keep = bolt->rotation.keep;
    if (!context->durable && look_at(bolt, file, true)) return;
    int rc = gx_outputs_write(file, size, &error);
    if (rc == 0) rc = gx_rotation_turn(file, bolt->sync || context->durable, &error);
    if (rc == 0 && keep && !context->durable && file->next_number > keep + 1)
        rc = gx_rotation_forget(file->path, file->next_number - keep - 1, &error);
    if (rc < 0) (void)give_up(bolt, rc, &error);
}

/* A clock that was set back begins no file. */
static void turn_if_old(sink *bolt, gx_outputs_file *file) {
    if (!bolt->rotation.every || !file->output.regular) return;
    int64_t period = gx_rotation_period(&bolt->rotation, now(bolt));
    if (period <= file->period) return;
    file->period = period;
    if (gx_file_output_plain(&file->output) || file->lines.size) turn(bolt, file, file->lines.size);
}

/* `before` bytes of lines were there before the last one. */
static void turn_if_full(sink *bolt, gx_outputs_file *file, size_t before) {
    if (!bolt->rotation.bytes || !file->output.regular) return;
    uint64_t plain = (uint64_t)gx_file_output_plain(&file->output);
    uint64_t head = plain ? 0 : bolt->header.size; /* it is written with the first lines */
    uint64_t had = plain + before, has = plain + head + file->lines.size;
    if (has > bolt->rotation.bytes && had) turn(bolt, file, before);
}

/* --- Files that somebody has renamed --- */

/* A durable run's checkpoints have a part in it. Its files with names that vary are known to them by those: none is ever opened anew. */
static int reopen(sink *bolt, gx_outputs_file *file, gale_error *error) {
    const gale_context *context = bolt->instance.context;
    if (!file->output.regular || !file->output.begun) return 0;
    int rc = gx_file_swap_is_due(file->output.fd, file->path, error);
    if (rc <= 0) return rc;
    if (!context->durable) return change(bolt, file, false);
    if (bolt->keeps)
        gale_log(context->logger, GALE_LOG_WARN, context->component,
                 "%s: was renamed, and is written to all the same: in a durable run, files that tuples name are not "
                 "opened anew",
                 file->path);
    else
        file->swap.asked = true;
    return 0;
}

static int bolt_reopen(void *self, gale_collector *out) {
    sink *bolt = self;
    gale_error error = GALE_ERROR_INIT;
    int first = 0;
    for (gx_outputs_file *file = bolt->outputs.newest; file && !bolt->broken; file = file->older) {
        int rc = reopen(bolt, file, &error);
        if (rc < 0 && first == 0) first = rc;
        if (rc < 0 && error.length) gale_report(out, error.text);
    }
    return bolt->broken ? 0 : first;
}

/* --- Which file --- */

static void add_ending(sink *bolt) {
    const char *ending = bolt->outputs.codec ? bolt->outputs.codec->ending : "";
    size_t size = strlen(ending), has = bolt->name.size;
    if (has <= size || memcmp(bolt->name.data + has - size, ending, size) != 0) gx_buf_add_text(&bolt->name, ending);
}

static int refuse_long(gale_collector *out) {
    gale_error error = GALE_ERROR_INIT;
    gale_error_set(&error, GALE_TOO_LARGE, "%s: its path has more than %d bytes, which no checkpoint can keep", who,
                   GX_MADE_PATH_MAX);
    gale_report(out, error.text);
    return error.code;
}

/* A name that stands for the standard output is none that a value can make. */
static int name_file(sink *bolt, const gale_tuple *tuple, gale_collector *out) {
    const gale_context *context = bolt->instance.context;
    gale_value values[GX_FIELDS_MAX];
    uint32_t wrong = 0;
    int rc = gx_fields_take(&bolt->path.fields, &bolt->places, who, tuple, out, values);
    if (rc < 0) return rc;
    int64_t moment = bolt->path.has_now ? now(bolt) : 0;
    gx_buf_reset(&bolt->name);
    rc = gx_template_write(&bolt->path, values, moment, context->task_index, &bolt->name, &wrong);
    if (rc == GALE_TYPE)
        return gx_define_wrong_type(out, who, tuple, bolt->places.at[wrong],
                                    "seconds since 1970, in the years 0 to 9999");
    if (rc == 0 && bolt->name.size == 1 && bolt->name.data[0] == '-') {
        gx_buf_reset(&bolt->name);
        gx_buf_add_text(&bolt->name, "./-");
    }
    if (context->task_index && !bolt->path.has_task) gx_buf_format(&bolt->name, ".%u", context->task_index);
    add_ending(bolt);
    if (bolt->keeps && bolt->name.size > GX_MADE_PATH_MAX) return refuse_long(out);
    return bolt->name.failed ? GALE_NO_MEMORY : rc;
}

/* That a file cannot be closed to make room for another stops the run. */
static int find_file(sink *bolt, const gale_tuple *tuple, gale_collector *out, gx_outputs_file **ret_file) {
    gx_outputs_file *other;
    int rc = name_file(bolt, tuple, out);
    if (rc < 0) return rc;
    gale_str name = { bolt->name.data, bolt->name.size };
    rc = gx_outputs_find(&bolt->outputs, name, bolt->seed, bolt->sync, ret_file, &other, &bolt->error);
    if (rc < 0 && other) (void)give_up(bolt, rc, &bolt->error);
    return rc;
}

/* --- A task's life ------------------------------------------------------------------------------------------------ */

static void free_sink(sink *bolt) {
    gx_outputs_fini(&bolt->outputs);
    if (bolt->keeps) gx_made_fini(&bolt->made);
    gx_buf_fini(&bolt->name);
    gx_buf_fini(&bolt->header);
    gx_define_instance_free(bolt);
}

/* What an orderly end has left is written in `finish`; after a stop there may be more. */
static void bolt_cleanup(void *self) {
    sink *bolt = self;
    gale_error error = GALE_ERROR_INIT;
    (void)write_all(bolt, false);
    int rc = gx_outputs_close(&bolt->outputs, &error);
    if (rc < 0 && !bolt->broken) give_up(bolt, rc, &error);
    free_sink(bolt);
}

/* Each task has a file of its own, but for the standard output. */
static int open_only(sink *bolt, gale_error *error) {
    const gale_context *context = bolt->instance.context;
    uint32_t wrong;
    int rc = gx_template_write(&bolt->path, NULL, 0, context->task_index, &bolt->name, &wrong);
    bool shared = rc == 0 && bolt->name.size == 1 && bolt->name.data[0] == '-';
    if (context->task_index && !bolt->path.has_task && !shared) gx_buf_format(&bolt->name, ".%u", context->task_index);
    if (!shared) add_ending(bolt);
    if (bolt->name.failed) return GALE_NO_MEMORY;
    bolt->only = gx_outputs_add(&bolt->outputs, (gale_str){ bolt->name.data, bolt->name.size });
    if (!bolt->only) return GALE_NO_MEMORY;
    if (shared && context->task_count > 1 && bolt->outputs.header)
        return gale_error_set(error, GALE_INVALID,
                              "%s: header: the standard output of %u tasks has no first line; one task can have it",
                              who, context->task_count);
    bolt->gathers = shared;
    if (shared) return gx_file_output_open_standard(&bolt->only->output, &bolt->instance.heap, error);
    if (!context->resumes) return gx_file_output_open(&bolt->only->output, bolt->only->path, error);
    return 0; /* it may have another name by now */
}

/* Its files are known by their names, wherever one is closed. */
static int open_made(sink *bolt, gale_str path, gale_error *error) {
    const gale_context *context = bolt->instance.context;
    const gx_template_part *first = &bolt->path.parts[0];
    const gale_file_codec *codec = bolt->outputs.codec;
    bolt->made = (gx_made){ .context = context,
                            .rotation = &bolt->rotation,
                            .heap = &bolt->instance.heap,
                            .seed = bolt->seed ^ (uint64_t)now(bolt),
                            .list_path = GX_BUF_INIT(&bolt->instance.heap) };
    gx_made_list_init(&bolt->made.list, &bolt->instance.heap);
    bolt->keeps = true;
    bolt->outputs.closing = gx_made_closing;
    bolt->outputs.closing_user = &bolt->made;
    return gx_made_open(&bolt->made, bolt->out, path, first->kind == GX_TEMPLATE_TEXT ? first->size : 0,
                        codec ? codec->ending : "", error);
}

static int open_outputs(sink *bolt, const char *given, gale_error *error) {
    const gale_context *context = bolt->instance.context;
    gale_str path = gale_config_text(context->config, "gale.output", gx_str(given));
    int rc = gx_template_parse(path, "file sink: path", &bolt->path, error);
    if (rc < 0) return rc;
    if (!bolt->path.varies) return open_only(bolt, error);
    return context->durable ? open_made(bolt, path, error) : 0;
}

static void take_options(sink *bolt, const gx_sink_options *user) {
    const gale_context *context = bolt->instance.context;
    const gale_file_sink_options *options = &user->given;
    bolt->append = options->append || gale_config_bool(context->config, "gale.append", false);
    bolt->overwrite = options->overwrite || gale_config_bool(context->config, "gale.overwrite", false);
    bolt->sync = options->sync;
    bolt->wall = user->wall;
    bolt->rotation = (gx_rotation){ options->rotate_bytes, (int64_t)(options->rotate_every * 1e9), options->keep };
    bolt->rotates = gx_rotation_is_on(&bolt->rotation);
    bolt->lines.who = who;
    bolt->lines.format = options->format;
    bolt->lines.fields = user->fields;
    bolt->name = (gx_buf)GX_BUF_INIT(&bolt->instance.heap);
    bolt->header = (gx_buf)GX_BUF_INIT(&bolt->instance.heap);
    gx_outputs_init(&bolt->outputs, &bolt->instance.heap, options->max_open ? options->max_open : GX_SINK_OPEN);
    bolt->outputs.codec = options->codec;
}

static int make_header(sink *bolt, const gx_sink_options *options, gale_error *error) {
    if (!options->given.header) return 0;
    bolt->outputs.header = &bolt->header;
    return gx_header_make(&bolt->lines, bolt->instance.context->inputs, &bolt->header, error);
}

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    const gx_sink_options *given = user;
    sink *bolt = gx_define_instance(context, sizeof *bolt);
    if (!bolt) return GALE_NO_MEMORY;
    bolt->out = out;
    bolt->error = (gale_error)GALE_ERROR_INIT;
    bolt->seed = gale_context_random(context);
    take_options(bolt, given);
    gale_error error = GALE_ERROR_INIT;
    int rc = make_header(bolt, given, &error);
    if (rc == 0) rc = open_outputs(bolt, given->path, &error);
    if (rc < 0) {
        if (error.length) gale_report(out, error.text);
        free_sink(bolt);
        return rc;
    }
    if (bolt->only) tell_of_stream(bolt, bolt->only);
    *ret_self = bolt;
    return 0;
}

/* --- Checkpoints --- */

static gx_only only_of(sink *bolt) {
    return (gx_only){ bolt->instance.context, &bolt->rotation, bolt->only };
}

static int save(sink *bolt, gale_saver *to, gale_error *error) {
    const gx_only only = only_of(bolt);
    return bolt->only ? gx_only_save(&only, to, error) : gx_made_save(&bolt->made, &bolt->outputs, to, error);
}

/* What the file is to hold is decided by the first one, if no line has come before. */
static int bolt_save(void *self, gale_saver *to) {
    sink *bolt = self;
    gale_error error = GALE_ERROR_INIT;
    if (bolt->only && !bolt->only->output.begun) (void)begin(bolt, bolt->only);
    int rc = write_all(bolt, false);
    if (rc == 0) rc = save(bolt, to, &error);
    if (rc < 0 && error.length) gale_report(bolt->out, error.text);
    return rc;
}

static int restore(sink *bolt, gale_saved *from, gale_error *error) {
    const gx_only only = only_of(bolt);
    return bolt->only ? gx_only_restore(&only, from, error) : gx_made_restore(&bolt->made, from, error);
}

static int bolt_restore(void *self, gale_saved *from, gale_collector *out) {
    sink *bolt = self;
    gale_error error = GALE_ERROR_INIT;
    int rc = restore(bolt, from, &error);
    bolt->restored = true;
    if (bolt->only && !bolt->only->output.regular) bolt->only->header = NULL; /* an earlier run has written it */
    if (rc < 0 && error.length) gale_report(out, error.text);
    return rc;
}

static const gale_durable_ops durable = {
    .size = sizeof(gale_durable_ops),
    .version = 1,
    .flags = GALE_DURABLE_OUTSIDE,
    .save = bolt_save,
    .restore = bolt_restore,
};

/* --- Lines -------------------------------------------------------------------------------------------------------- */

static int add_turning(sink *bolt, gx_outputs_file *file, const gale_tuple *tuple, gale_collector *out) {
    turn_if_old(bolt, file);
    if (bolt->broken) return 0;
    size_t before = file->lines.size;
    int rc = gx_lines_add(&bolt->lines, tuple, out, &file->lines);
    gx_outputs_list(&bolt->outputs, file);
    if (rc == 0) turn_if_full(bolt, file, before);
    if (file->lines.size >= FULL && !bolt->broken) write_full(bolt, file);
    return rc;
}

/* What comes after a failure is not failed with it: it is open when the run ends. */
static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    sink *bolt = self;
    gx_outputs_file *file = bolt->only;
    if (GX_UNLIKELY(gale_tuple_is_tick(tuple)) || GX_UNLIKELY(bolt->broken)) return 0;
    int rc = GX_LIKELY(file != NULL) ? 0 : find_file(bolt, tuple, out, &file);
    if (GX_UNLIKELY(rc < 0)) return bolt->broken ? 0 : rc;
    if (GX_UNLIKELY(!file->output.begun)) (void)begin(bolt, file);
    if (GX_UNLIKELY(bolt->broken)) return 0;
    if (GX_UNLIKELY(bolt->rotates)) return add_turning(bolt, file, tuple, out);
    rc = gx_lines_add(&bolt->lines, tuple, out, &file->lines);
    gx_outputs_list(&bolt->outputs, file);
    if (bolt->gathers)
        gather(bolt, file);
    else if (GX_UNLIKELY(file->lines.size >= FULL))
        write_full(bolt, file);
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
    .durable = &durable,
    .reopen = bolt_reopen,
};

int gale_file_sink_bolt(const gale_file_sink_options *options, gale_bolt *ret_bolt, gale_error *error) {
    if (!ret_bolt) return gx_define_nowhere("file sink", error);
    gx_sink_options *made;
    int rc = gx_sink_options_make(options, &made, error);
    if (rc == 0) *ret_bolt = gx_define_bolt(&ops, made, NULL, 0);
    return rc;
}
