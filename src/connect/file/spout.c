/* Lines to tuples: gale_file_spout. Message ids are the slots of kit/retry. */
#include "base/str.h"
#include "connect/file/blocks.h"
#include "connect/file/follow.h"
#include "connect/file/position.h"
#include "connect/file/reader.h"
#include "connect/file/resume.h"
#include "connect/file/rounds.h"
#include "connect/file/row.h"
#include "connect/file/sent.h"
#include "connect/file/settings.h"
#include "connect/file/told.h"
#include "kit/define.h"
#include "kit/pace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { BYTES_AT_ONCE = 16 << 10 /* of lines in a call of `next`, but for the last of them */ };

/* What earlier tasks had, while they are restored: another number of them. */
typedef struct parts {
    gx_file_saved *list;
    uint32_t count, room; /* tasks that there were */
} parts;

typedef struct spout {
    gx_instance instance;
    gale_collector *out;
    gx_file_reader reader;
    gx_file_blocks blocks;
    gx_file_rule rule;
    gx_file_told told;
    gx_file_resume resume;
    gx_file_sent sent;
    gx_file_rounds rounds; /* what other numbers of tasks had read */
    parts parts;
    gx_pace pace;
    gx_file_row row; /* a copy: the definition may have gone */
    char *path;
    size_t path_size;
    gx_buf asked; /* what the run was told to read */
    bool repeat;
    bool missing; /* there was no file, and no `restore` has found it under another name */
    bool ended;
    bool found;        /* a line of this task since the file began */
    gale_error error;  /* of the call that reads a line: too large to be made for each */
    gale_error damage; /* what ended the reading before the end of the file; the run ends with it */
} spout;

/* Everything before the oldest line that waits for its answer has been acked or given up; a line that waits to be
 * emitted again counts as waiting. After a write has failed nothing more is kept. */
static void write_state(spout *lines) {
    gx_file_resume *resume = &lines->resume;
    const gx_retry_slot *oldest = gx_retry_oldest(&lines->sent.own);
    int64_t offset = oldest ? oldest->place : gx_file_reader_next_at(&lines->reader);
    uint64_t number = oldest ? oldest->number : gx_file_reader_number(&lines->reader) + 1;
    uint64_t before = number ? number - 1 : 0; /* where lines have no numbers */
    gale_error error = GALE_ERROR_INIT;
    int rc = gx_file_reader_check(&lines->reader, &error);
    if (rc == 0) rc = gx_file_resume_write(resume, offset, before, &error);
    resume->due = gale_context_now(lines->instance.context) + resume->interval;
    if (rc == 0) return;
    gale_stop(lines->out, rc, error.text);
    gx_file_resume_fini(resume);
}

/* After an answer, and at the end of the file. When nothing is left to answer it does not wait for its time. */
static void keep_state(spout *lines) {
    if (GX_LIKELY(!lines->resume.path)) return;
    bool complete = lines->ended && !gx_retry_oldest(&lines->sent.own);
    if (complete || gale_context_now(lines->instance.context) >= lines->resume.due) write_state(lines);
}

static void free_parts(spout *lines) {
    gx_free(&lines->instance.heap, GX_TAG_OTHER, lines->parts.list, lines->parts.room * sizeof *lines->parts.list);
    lines->parts = (parts){ NULL, 0, 0 };
}

static void free_spout(spout *lines) {
    gx_file_rounds_fini(&lines->rounds);
    free_parts(lines);
    gx_file_resume_fini(&lines->resume);
    gx_file_reader_close(&lines->reader);
    gx_file_sent_fini(&lines->sent);
    gx_free(&lines->instance.heap, GX_TAG_OTHER, lines->path, lines->path_size);
    gx_buf_fini(&lines->asked);
    gx_define_instance_free(lines);
}

static void spout_close(void *self) {
    spout *lines = self;
    if (lines->damage.code) gale_stop(lines->out, lines->damage.code, lines->damage.text);
    if (lines->resume.path) write_state(lines);
    gx_file_resume_end(&lines->resume);
    free_spout(lines);
}

static bool keep_asked(spout *lines, gale_str path) {
    lines->asked = (gx_buf)GX_BUF_INIT(&lines->instance.heap);
    gx_buf_add(&lines->asked, path.data, path.size);
    return gx_buf_text(&lines->asked);
}

static bool copy_path(spout *lines, gale_str path) {
    lines->path = gx_alloc(&lines->instance.heap, GX_TAG_OTHER, path.size + 1);
    if (!lines->path) return false;
    lines->path_size = path.size + 1;
    memcpy(lines->path, path.data, path.size);
    return true;
}

/* A pipe has no blocks: the first task reads it. */
static int check_kind(spout *lines, gale_error *error) {
    if (lines->reader.regular) return 0;
    const char *name = strcmp(lines->path, "-") == 0 ? "standard input" : lines->path;
    lines->told.block = 0;
    return lines->repeat ? gale_error_set(error, GALE_INVALID, "%s: only a regular file can be read repeatedly", name)
                         : 0;
}

/* A run that goes on may find it under the name that it was given since. */
static bool may_be_renamed(const spout *lines) {
    gx_file_about about;
    return lines->instance.context->resumes && strcmp(lines->path, "-") != 0 &&
           gx_file_about_path(lines->path, &about, NULL) == GALE_NOT_FOUND;
}

/* What the user of a durable run is to know of what was given. */
static void tell_of_checkpoints(const spout *lines, const gx_file_settings *given) {
    const gale_context *context = lines->instance.context;
    if (!lines->missing && !lines->reader.regular)
        gale_log(
            context->logger, GALE_LOG_WARN, context->component,
            "%s: is no regular file: what it has given cannot be read again, and the run cannot go on after a crash",
            strcmp(lines->path, "-") == 0 ? "standard input" : lines->path);
    if (given->options.state)
        gale_log(context->logger, GALE_LOG_INFO, context->component,
                 "%s: the state file '%s' is neither read nor written: checkpoints have the position", lines->path,
                 given->options.state);
}

/* Several tasks that read blocks have not counted lines. Where numbers are needed, those before the place are counted now, from
 * the beginning of the file on. */
static int recount(spout *lines, uint32_t tasks, gale_error *error) {
    gx_file_reader *reader = &lines->reader;
    gale_str line;
    if (tasks == 1 || !reader->regular) return GALE_OK;
    reader->uncounted = !lines->blocks.counts;
    if (reader->uncounted) return GALE_OK;
    int64_t place = gx_file_reader_next_at(reader);
    int rc = 1;
    gx_file_reader_rewind(reader);
    lines->told.before = place;
    while ((rc > 0 || rc == GALE_AGAIN) && gx_file_reader_next_at(reader) < place)
        rc = gx_file_reader_next(reader, &line, error);
    return rc < 0 ? rc : GALE_OK;
}

/* What this task opens. To open a named pipe waits for a writer, who may come and go while the first task reads: the others,
 * which read nothing of a pipe, open nothing of it. */
static const char *name_to_open(const spout *lines) {
    gx_file_about about;
    if (lines->instance.context->task_index == 0) return lines->path;
    bool is_pipe = gx_file_about_path(lines->path, &about, NULL) == GALE_OK && !about.regular;
    return is_pipe ? "/dev/null" : lines->path;
}

static int open_reader(spout *lines, const gx_file_settings *given, gale_error *error) {
    gx_file_reader reader = { .fd = -1 };
    lines->missing = may_be_renamed(lines);
    const char *name = name_to_open(lines);
    int rc = lines->missing ? 0 : gx_file_reader_open(&reader, &lines->instance.heap, name, &lines->rule, error);
    if (rc < 0) return rc;
    lines->reader = reader;
    if (!lines->missing) rc = check_kind(lines, error);
    if (rc == 0 && lines->instance.context->durable) tell_of_checkpoints(lines, given);
    if (rc < 0 || lines->instance.context->durable || !given->options.state) return rc;
    rc = gx_file_resume_open(&lines->resume, &lines->instance.heap, given->options.state, given->state_interval,
                             lines->instance.context, &lines->reader, error);
    return rc == 0 && lines->resume.found ? recount(lines, lines->instance.context->task_count, error) : rc;
}

static int spout_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    const gx_file_settings *given = user;
    spout *lines = gx_define_instance(context, sizeof *lines);
    if (!lines) return GALE_NO_MEMORY;
    lines->out = out;
    lines->error = (gale_error)GALE_ERROR_INIT;
    lines->row = given->row;
    lines->told = (gx_file_told){ .context = context, .block = context->task_count > 1 ? given->block : 0 };
    lines->blocks = gx_file_blocks_of(given->block, context->task_index, context->task_count, given->row.numbered);
    lines->rule = given->rule;
    lines->rule.tell = gx_file_told_tell;
    lines->rule.user = &lines->told;
    lines->repeat = given->options.repeat;
    lines->rounds.heap = &lines->instance.heap;
    lines->rounds.block = given->block;
    gx_file_sent_init(&lines->sent, &lines->instance.heap, out, given->options.max_attempts);
    if (context->durable) gx_file_sent_use_tag(&lines->sent, context->task_index);
    gx_pace_init(&lines->pace, context);
    gale_error error = GALE_ERROR_INIT;
    gale_str path = gale_config_text(context->config, "gale.input", gx_str(given->paths));
    int rc = keep_asked(lines, path) && copy_path(lines, path) ? open_reader(lines, given, &error) : GALE_NO_MEMORY;
    if (rc < 0) {
        if (error.length) gale_report(out, error.text);
        free_spout(lines);
        return rc;
    }
    if (lines->resume.path) gale_remember(out);
    if (lines->resume.found) gale_resume(out);
    *ret_self = lines;
    return 0;
}

/* The next line that is this task's. As gx_file_reader_next. */
static int read_line(spout *lines, gale_str *ret_line, gale_error *error) {
    gx_file_reader *reader = &lines->reader;
    for (;;) {
        int rc = gx_file_blocks_next(&lines->blocks, reader, ret_line, error);
        bool was_read = rc > 0 && GX_UNLIKELY(lines->rounds.count) &&
                        gx_file_rounds_have(&lines->rounds, gx_file_reader_last_at(reader));
        if (was_read) continue;
        if (rc > 0) lines->found = true;
        if (GX_LIKELY(rc != 0) || !lines->repeat || !lines->found) return rc;
        lines->found = false; /* a file that was emptied meanwhile ends the reading */
        gx_file_rounds_fini(&lines->rounds);
        gx_file_reader_rewind(reader);
    }
}

/* Without memory for the next line: what `next` is to return. When there is none for long, the run ends before that line, which is
 * the first of the next one. */
static int wait_for_memory(spout *lines, gale_collector *out) {
    gale_error error = GALE_ERROR_INIT;
    char name[GX_FILE_SENT_NAME];
    if (gx_file_sent_may_wait(&lines->sent)) return GALE_NO_MEMORY;
    uint64_t number = gx_file_reader_number(&lines->reader);
    gx_file_sent_name(number + !lines->reader.uncounted, gx_file_reader_next_at(&lines->reader), name);
    gale_error_set(&error, GALE_NO_MEMORY, "%s: %s does not fit into memory", lines->path, name);
    gale_stop(out, GALE_NO_MEMORY, error.text);
    lines->ended = true;
    return GALE_NEXT_DONE;
}

/* Nobody has found the file. */
static int refuse_missing(spout *lines, gale_collector *out) {
    gale_error error = GALE_ERROR_INIT;
    gale_error_set(&error, GALE_IO, "cannot open '%s': there is no such file", lines->path);
    gale_stop(out, GALE_IO, error.text);
    lines->ended = true;
    return GALE_NEXT_DONE;
}

/* The file was cut or changed while it was read. What was read of it goes on to its end, and then the run ends with an error; a
 * durable one ends at once, because no checkpoint may say that the file was read. Nothing more is kept of the place. */
static int end_damaged(spout *lines, gale_collector *out, const gale_error *error) {
    const gale_context *context = lines->instance.context;
    gx_file_resume_fini(&lines->resume);
    lines->ended = true;
    if (context->durable) {
        gale_stop(out, error->code, error->text);
    } else {
        lines->damage = *error;
        gale_log(context->logger, GALE_LOG_WARN, context->component, "%s", error->text);
    }
    return GALE_NEXT_DONE;
}

/* A pipe has nothing now; a file has much to pass by. */
static int wait_for_bytes(const spout *lines, gale_wait *wait) {
    if (lines->reader.regular) return GALE_NEXT_NOTHING;
    wait->fd = lines->reader.fd;
    return GALE_NEXT_READABLE;
}

/* Reads on into a slot: 0, or what `next` is to return if it is not. */
static int take_line(spout *lines, gale_collector *out, gale_wait *wait, uint32_t *ret_id, int *ret_next) {
    gale_str line;
    int rc = read_line(lines, &line, &lines->error);
    if (GX_LIKELY(rc > 0)) {
        rc = gx_retry_add(&lines->sent.own, line, gx_file_reader_is_text(&lines->reader),
                          gx_file_reader_number(&lines->reader), ret_id);
        if (rc == 0) {
            lines->sent.own.slots[*ret_id].place = gx_file_reader_last_at(&lines->reader);
            lines->sent.memory_tries = 0;
            return 0;
        }
        gx_file_reader_unread(&lines->reader);
    }
    if (rc == GALE_AGAIN) {
        *ret_next = wait_for_bytes(lines, wait);
    } else if (rc == GALE_NO_MEMORY) {
        *ret_next = wait_for_memory(lines, out);
    } else if (rc == GALE_DAMAGED) {
        *ret_next = end_damaged(lines, out, &lines->error);
    } else {
        if (rc < 0) gale_stop(out, rc, lines->error.text);
        lines->ended = true;
        keep_state(lines);
        *ret_next = GALE_NEXT_DONE;
    }
    return 1;
}

static int emit(const spout *lines, gx_retry *retry, gale_collector *out, uint32_t id) {
    if (GX_LIKELY(lines->row.line_alone)) return gx_retry_emit(retry, out, id);
    return gx_file_row_emit(&lines->row, retry, out, id, (gale_str){ lines->asked.data, lines->asked.size });
}

/* How many lines go out in a call. */
static uint32_t many_of(const spout *lines, gale_collector *out) {
    if (!lines->row.line_alone || gx_pace_any(&lines->pace)) return 1;
    uint64_t room = gale_room(out);
    return room < GX_RETRY_MANY ? (uint32_t)room : GX_RETRY_MANY;
}

/* Lines that come for the first time. If there is no further one, the next call says why. */
static int next_lines(spout *lines, gale_collector *out, gale_wait *wait) {
    gx_retry *retry = &lines->sent.own;
    uint32_t ids[GX_RETRY_MANY], count = 0, most = many_of(lines, out);
    size_t bytes = 0;
    int next = GALE_NEXT_NOTHING;
    while (count < most && bytes < BYTES_AT_ONCE && !take_line(lines, out, wait, &ids[count], &next))
        bytes += retry->slots[ids[count++]].size;
    if (count > 1) return gx_retry_emit_many(retry, out, ids, count);
    if (count) next = emit(lines, retry, out, ids[0]);
    if (count && next == GALE_NEXT_EMITTED) gx_pace_step(&lines->pace);
    return next;
}

static int spout_next(void *self, gale_collector *out, gale_wait *wait) {
    spout *lines = self;
    gx_retry *retry = gx_file_sent_waiting(&lines->sent);
    if (lines->ended && !retry) return GALE_NEXT_DONE;
    if (GX_UNLIKELY(lines->missing)) return refuse_missing(lines, out);
    if (!gx_pace_ready(&lines->pace, &wait->until)) return GALE_NEXT_UNTIL;
    if (GX_LIKELY(!retry)) return next_lines(lines, out, wait);
    uint32_t id = 0;
    (void)gx_retry_take(retry, &id);
    int next = emit(lines, retry, out, id);
    if (next == GALE_NEXT_EMITTED) gx_pace_step(&lines->pace);
    return next;
}

static void spout_ack(void *self, uint64_t message_id) {
    spout *lines = self;
    gx_file_sent_ack(&lines->sent, message_id);
    keep_state(lines);
}

static void spout_fail(void *self, uint64_t message_id, const gale_failure *failure) {
    spout *lines = self;
    gx_file_sent_fail(&lines->sent, message_id, failure);
    keep_state(lines);
}

/* --- Checkpoints --- */

static int spout_save(void *self, gale_saver *to) {
    spout *lines = self;
    gale_error error = GALE_ERROR_INIT;
    /* Who stopped for another reason has something to read still. */
    bool at_end = lines->ended && lines->reader.at_end && lines->reader.begin == lines->reader.end;
    gx_file_position position = { .at_end = at_end, .found = lines->found, .asked = lines->asked.data };
    int rc = lines->missing ? GALE_IO : gx_file_reader_check(&lines->reader, &error);
    if (rc == 0)
        rc = gx_file_position_save(&position, &lines->reader, lines->instance.context,
                                   gx_file_sent_tag(&lines->sent.own), to, &error);
    if (rc == 0) rc = gx_file_rounds_save(&lines->rounds, to);
    if (rc == 0) rc = gx_retry_save(&lines->sent.own, to);
    if (rc == 0) rc = gx_file_sent_save_inherited(&lines->sent, to, NULL, NULL);
    if (rc < 0 && error.length) gale_report(lines->out, error.text);
    return rc;
}

/* The name that the reader was opened with is the spout's from now on. */
static bool take_name(spout *lines, const char *name) {
    char *old = lines->path;
    size_t old_size = lines->path_size;
    if (!copy_path(lines, gx_str(name))) {
        lines->path = old;
        return false;
    }
    gx_free(&lines->instance.heap, GX_TAG_OTHER, old, old_size);
    lines->reader.path = lines->path;
    return true;
}

static void tell_position(const spout *lines, const gx_file_position *position, const char *was) {
    const gale_context *context = lines->instance.context;
    if (position->elsewhere)
        gale_log(context->logger, GALE_LOG_WARN, context->component,
                 "%s: was renamed to '%s' since, and is read on there; another file of the old name is not read", was,
                 position->name);
    if (position->grown > 0)
        gale_log(context->logger, GALE_LOG_INFO, context->component,
                 "%s: has grown by %" PRId64 " bytes since it was read to its end; they are read now", was,
                 position->grown);
    char place[GX_FILE_SENT_NAME];
    if (lines->reader.uncounted)
        snprintf(place, sizeof place, "at byte %" PRId64, gx_file_reader_next_at(&lines->reader));
    else
        snprintf(place, sizeof place, "behind line %" PRIu64, lines->reader.number);
    gale_log(context->logger, GALE_LOG_INFO, context->component, "%s: goes on %s%s", lines->reader.path, place,
             position->copied ? "; the file was copied since" : "");
}

static int restore_position(spout *lines, const gx_file_saved *saved, gale_error *error) {
    gx_file_position position;
    int rc = gx_file_position_restore(&lines->reader, &lines->instance.heap, lines->path, &lines->rule, saved,
                                      &position, error);
    if (rc == 0) rc = recount(lines, saved->tasks, error);
    if (rc == 0) tell_position(lines, &position, lines->path);
    bool named = rc == 0 && (!position.elsewhere || take_name(lines, position.name));
    if (!named && position.elsewhere) gx_file_reader_close(&lines->reader); /* its name was borrowed */
    if (!named) return rc < 0 ? rc : GALE_NO_MEMORY;
    lines->missing = false;
    lines->ended = position.at_end;
    lines->found = position.found;
    return 0;
}

static int refuse_lines(const spout *lines, int rc, gale_error *error) {
    return rc < 0 && !error->length
               ? gale_error_set(error, rc, "%s: what was saved of its lines: %s", lines->path, gale_error_text(rc))
               : rc;
}

/* --- As many tasks as there were --- */

static int restore_own(spout *lines, const gx_file_saved *saved, gale_saved *from, gale_error *error) {
    int rc = restore_position(lines, saved, error);
    gx_file_sent_use_tag(&lines->sent, saved->tag);
    if (rc == 0) rc = gx_file_rounds_take(&lines->rounds, from);
    if (rc == 0) rc = gx_retry_restore(&lines->sent.own, from);
    if (rc == 0) rc = gx_file_sent_take_inherited(&lines->sent, from, NULL, NULL);
    return rc;
}

/* --- Another number of them --- */

/* What all of them are told: who had read what. What task P had open goes to one of those of now. */
static int take_part(spout *lines, const gx_file_saved *saved, gale_saved *from) {
    const gale_context *context = lines->instance.context;
    gx_heap *heap = &lines->instance.heap;
    parts *of = &lines->parts;
    if (!of->list) of->list = gx_alloc_array(heap, GX_TAG_OTHER, saved->tasks, sizeof *of->list);
    if (!of->list) return GALE_NO_MEMORY;
    if (!of->room) of->room = saved->tasks;
    if (saved->task != of->count || saved->tasks != of->room) return GALE_DAMAGED;
    of->list[of->count++] = *saved;
    int rc = gx_file_rounds_take(&lines->rounds, from);
    if (rc < 0 || saved->task % context->task_count != context->task_index) return rc;
    rc = gx_file_sent_inherit(&lines->sent, saved->tag, from, NULL);
    return rc == 0 ? gx_file_sent_take_inherited(&lines->sent, from, NULL, NULL) : rc;
}

/* Where the one stands that is the furthest behind; and whether all are at the end. */
static gx_file_saved least_of(const parts *of, uint32_t *ret_tag) {
    gx_file_saved least = of->list[0];
    bool at_end = true, found = false;
    for (uint32_t i = 0; i < of->count; i++) {
        const gx_file_saved *one = &of->list[i];
        if (one->offset < least.offset) least = *one;
        if (one->tag > *ret_tag) *ret_tag = one->tag;
        at_end &= one->at_end;
        found |= one->found;
    }
    least.at_end = at_end;
    least.found = found;
    return least;
}

static int add_round(spout *lines, uint64_t name) {
    uint32_t count = lines->parts.count;
    int64_t *read = gx_alloc_array(&lines->instance.heap, GX_TAG_OTHER, count, sizeof *read);
    if (!read) return GALE_NO_MEMORY;
    for (uint32_t i = 0; i < count; i++) read[i] = lines->parts.list[i].offset;
    int rc = gx_file_rounds_add(&lines->rounds, name, read, count);
    gx_free(&lines->instance.heap, GX_TAG_OTHER, read, count * sizeof *read);
    return rc;
}

/* All have told. */
static int join_parts(spout *lines, gale_error *error) {
    const gale_context *context = lines->instance.context;
    uint32_t last_tag = 0;
    gx_file_saved least = least_of(&lines->parts, &last_tag);
    int rc = restore_position(lines, &least, error);
    for (uint32_t i = 0; rc == 0 && i < lines->parts.count; i++)
        rc = gx_file_position_check(&lines->parts.list[i], &lines->reader, error);
    if (rc == 0) rc = add_round(lines, last_tag + 1u);
    if (rc < 0) return rc;
    gx_file_sent_use_tag(&lines->sent, last_tag + 1 + context->task_index);
    gale_log(context->logger, GALE_LOG_INFO, context->component,
             "%s: what %u task%s had read behind that is passed over", lines->reader.path, lines->parts.count,
             lines->parts.count == 1 ? "" : "s");
    free_parts(lines);
    return 0;
}

static int spout_restore(void *self, gale_saved *from, gale_collector *out) {
    spout *lines = self;
    const gale_context *context = lines->instance.context;
    gx_file_saved saved;
    gale_error error = GALE_ERROR_INIT;
    int rc = gx_file_position_take(from, lines->asked.data, &saved, &error);
    if (rc == 0 && saved.tasks == context->task_count) {
        rc = refuse_lines(lines, restore_own(lines, &saved, from, &error), &error);
    } else if (rc == 0) {
        rc = refuse_lines(lines, take_part(lines, &saved, from), &error);
        if (rc == 0 && lines->parts.count == saved.tasks) rc = refuse_lines(lines, join_parts(lines, &error), &error);
    }
    if (rc < 0 && error.length) gale_report(out, error.text);
    return rc;
}

static const gale_durable_ops durable = {
    .size = sizeof(gale_durable_ops),
    .version = 1,
    .flags = GALE_DURABLE_SHARED,
    .save = spout_save,
    .restore = spout_restore,
};

static const gale_spout_ops ops = {
    .size = sizeof(gale_spout_ops),
    .name = "file spout",
    .open = spout_open,
    .next = spout_next,
    .ack = spout_ack,
    .fail = spout_fail,
    .close = spout_close,
    .durable = &durable,
};

int gale_file_spout(const gale_file_spout_options *options, gale_spout *ret_spout, gale_error *error) {
    if (!ret_spout) return gx_define_nowhere("file spout", error);
    gale_file_spout_options given;
    gx_file_settings *user;
    int rc = gx_options_take(&given, sizeof given, options, "file spout: options", error);
    if (rc == 0) rc = gx_file_settings_make(&given, &user, error);
    if (rc < 0) return rc;
    *ret_spout = gx_define_spout(user->options.follow ? &gx_file_follow_ops : &ops, user, &user->output, 1);
    return 0;
}
