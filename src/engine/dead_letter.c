#include "engine/dead_letter.h"

#include "base/buf.h"
#include "base/log.h"
#include "base/os/lock.h"
#include "base/str.h"
#include "engine/letter_tail.h"
#include "topology/file_end.h"
#include "topology/saver.h"
#include "tuple/json.h"

#include <inttypes.h>

typedef struct gx_dead_letters {
    int fd;
    gx_file_end *end; /* in a durable run, from the first checkpoint on: has the descriptor */
    bool broken;      /* a write failed: nothing more is written */
    gx_buf path;
    gx_buf line;
} gx_dead_letters;

/* The list that a body is. */
static gale_value list_of(const gale_body *body) {
    gale_value list = gale_list(NULL, gale_body_count(body));
    list.encoded = 1;
    list.as.body = body;
    return list;
}

void gx_dead_letter_values(const gx_dead_letter *letter, gale_value values[GX_DEAD_LETTER_FIELDS]) {
    const gale_failure *failure = letter->failure;
    values[0] = gale_text(letter->component);
    values[1] = gale_text(letter->stream);
    values[2] = gale_i64((int64_t)letter->message_id);
    values[3] = list_of(letter->tuple);
    values[4] = gale_text(gale_reason_name(failure->reason));
    values[5] = gale_text(failure->text);
    values[6] = failure->component ? gale_text(failure->component) : gale_null();
    values[7] = gale_i64(failure->task);
    values[8] = gale_i64(letter->attempts);
}

/* Item by item: as one value, the list would be a level deeper than its items may be. */
static void add_tuple(gx_json *json, const gale_value *list) {
    gx_json_open(json, '[');
    for (size_t i = 0; i < list->size; i++) {
        gale_value item = gale_list_at(list, i);
        gx_json_value(json, &item);
    }
    gx_json_close(json, ']');
}

static void add_line(gx_buf *out, const gx_dead_letter *letter) {
    gale_str rest = gx_str(GX_DEAD_LETTER_STREAM_FIELDS), name;
    gale_value values[GX_DEAD_LETTER_FIELDS];
    gx_json json = gx_json_to(out);
    gx_dead_letter_values(letter, values);
    gx_json_open(&json, '{');
    for (size_t i = 0; gx_str_next(&rest, ',', &name); i++) {
        gx_json_key(&json, name);
        if (values[i].type == GALE_TYPE_LIST)
            add_tuple(&json, &values[i]);
        else
            gx_json_value(&json, &values[i]);
    }
    gx_json_close(&json, '}');
    gx_buf_add_byte(out, '\n');
}

/* --- The file --- */

/* With the monitor's lock. The first error is the one that the run ends with. */
static void note_fatal(gx_shared *shared, const gale_error *error) {
    if (shared->fatal.code) return;
    shared->fatal = *error;
    gale_error_add(&shared->fatal, "dead letters cannot be kept (topology.dead_letters.file)");
}

static void free_letters(gx_shared *shared, gx_dead_letters *letters) {
    gx_buf_fini(&letters->path);
    gx_buf_fini(&letters->line);
    gx_free(&shared->heap, GX_TAG_OTHER, letters, sizeof *letters);
}

static void tell_mended(const gx_shared *shared, const char *path, int mended) {
    if (mended == GX_LETTER_TAIL_WHOLE || !gx_log_wanted(&shared->logger, GALE_LOG_WARN)) return;
    gale_log(&shared->logger, GALE_LOG_WARN, NULL,
             mended == GX_LETTER_TAIL_CUT
                 ? "%s: half a dead letter stood at its end, of a run that died, and was cut off"
                 : "%s: the last line had no newline, and has one now",
             path);
}

/* A file has one run that appends to it: another's letter would stand behind half of one, or be cut off with it. Returns
 * what gx_letter_tail_mend does. */
static int take_over(int fd, const char *path, gale_error *error) {
    gx_file_about about;
    int rc = gx_file_about_open(fd, path, &about, error);
    if (rc == GALE_OK && about.regular) rc = gx_lock_open(fd, path, error);
    return rc < 0 ? rc : gx_letter_tail_mend(fd, path, error);
}

/* What stands behind the end that it had in the checkpoint was written since, and is written again. */
static int go_on(gx_shared *shared, gx_dead_letters *letters, const char *path, gale_saved *from, gale_error *error) {
    gx_file_end_found found;
    int rc = gx_file_end_restore(from, path, &letters->end, &found, error);
    if (rc < 0) return rc;
    letters->fd = gx_file_end_fd(letters->end);
    if (found.elsewhere)
        gale_log(&shared->logger, GALE_LOG_WARN, NULL, "%s: was renamed to '%s' since, and dead letters go on there",
                 path, gx_file_end_path(letters->end));
    if (found.cut && gx_log_wanted(&shared->logger, GALE_LOG_INFO))
        gale_log(&shared->logger, GALE_LOG_INFO, NULL,
                 "%s: %" PRId64 " bytes of dead letters were written since the checkpoint, and were cut off", path,
                 found.cut);
    return GALE_OK;
}

/* 1: the file is open; 0: the checkpoint has none. */
static int restore(gx_shared *shared, gx_dead_letters *letters, const char *path, gale_error *error) {
    const gale_value *has_file;
    size_t count;
    gale_saved from = { .records = shared->cut.letters,
                        .heap = &shared->heap,
                        .checkpoint = gx_load_relaxed(&shared->cut.lasting) };
    int rc = gale_saved_next(&from, &has_file, &count);
    if (rc > 0 && (count != 1 || has_file->type != GALE_TYPE_BOOL))
        rc = gale_error_set(error, GALE_DAMAGED, "what the checkpoint has of dead letters does not hold");
    if (rc > 0) rc = has_file->as.boolean;
    if (rc > 0 && go_on(shared, letters, path, &from, error) < 0) rc = error->code;
    gx_saved_fini(&from);
    return rc;
}

static int open_file(gx_shared *shared, gx_dead_letters *letters, gale_error *error) {
    const char *path = gx_buf_text(&letters->path);
    if (!path) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    int restored = restore(shared, letters, path, error);
    if (restored != 0) return restored < 0 ? restored : GALE_OK;
    int code = gx_file_create(path, true, &letters->fd, error);
    if (code < 0) return code;
    int mended = take_over(letters->fd, path, error);
    if (mended < 0) {
        gx_file_close(letters->fd);
        return mended;
    }
    tell_mended(shared, path, mended);
    return GALE_OK;
}

static int make(gx_shared *shared, gale_str path, gale_error *error) {
    gx_dead_letters *letters = gx_alloc(&shared->heap, GX_TAG_OTHER, sizeof *letters);
    if (!letters) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    letters->path = letters->line = (gx_buf)GX_BUF_INIT(&shared->heap);
    letters->end = NULL;
    letters->broken = false;
    gx_buf_add(&letters->path, path.data, path.size);
    int code = open_file(shared, letters, error);
    if (code < 0) {
        free_letters(shared, letters);
        return code;
    }
    shared->dead_letters = letters;
    return GALE_OK;
}

int gx_dead_letters_open(gx_shared *shared) {
    gale_error error = GALE_ERROR_INIT;
    gale_str path = shared->plan->dead_letters_file;
    if (!path.size) return GALE_OK;
    gx_monitor_lock(&shared->monitor);
    int rc = shared->dead_letters ? GALE_OK : make(shared, path, &error);
    if (rc < 0) note_fatal(shared, &error);
    gx_monitor_unlock(&shared->monitor);
    if (rc < 0) gx_executors_close(shared);
    return rc;
}

static int close_file(gx_dead_letters *letters, gale_error *error) {
    return letters->end ? gx_file_end_close(letters->end, error)
                        : gx_file_close_written(letters->fd, letters->path.data, error);
}

void gx_dead_letters_close(gx_shared *shared) {
    gale_error error = GALE_ERROR_INIT;
    gx_monitor_lock(&shared->monitor);
    gx_dead_letters *letters = shared->dead_letters;
    shared->dead_letters = NULL;
    if (letters && close_file(letters, &error) < 0) note_fatal(shared, &error);
    if (letters) free_letters(shared, letters);
    gx_monitor_unlock(&shared->monitor);
}

static int write_line(gx_dead_letters *letters, const gx_dead_letter *letter, gale_error *error) {
    gx_buf_reset(&letters->line);
    add_line(&letters->line, letter);
    if (letters->line.failed) return gale_error_set(error, GALE_NO_MEMORY, "no memory for the line of a dead letter");
    return gx_file_append(letters->fd, letters->line.data, letters->line.size, letters->path.data, error);
}

bool gx_dead_letters_write(gx_shared *shared, const gx_dead_letter *letter) {
    gale_error error = GALE_ERROR_INIT;
    gx_monitor_lock(&shared->monitor);
    gx_dead_letters *letters = shared->dead_letters;
    bool broken = !letters || letters->broken;
    int code = broken ? GALE_IO : write_line(letters, letter, &error);
    if (code < 0 && !broken) {
        letters->broken = true;
        note_fatal(shared, &error);
    }
    gx_monitor_unlock(&shared->monitor);
    if (code < 0) gx_executors_close(shared);
    return code >= 0;
}

/* --- Checkpoints --- */

static int save_end(gx_dead_letters *letters, const gx_file_about *about, gale_saver *to, gale_error *error) {
    int rc = letters->end ? GALE_OK : gx_file_end_make(letters->fd, letters->path.data, &letters->end, error);
    return rc < 0 ? rc : gx_file_end_save(letters->end, about->size, to, error);
}

/* What is no regular file cannot be cut back. */
static int save(gx_dead_letters *letters, gale_saver *to, gale_error *error) {
    gx_file_about about = { .regular = false };
    if (letters && letters->broken) return gale_error_set(error, GALE_IO, "dead letters could not be written");
    int rc = letters ? gx_file_about_open(letters->fd, letters->path.data, &about, error) : GALE_OK;
    const gale_value has_file = gale_bool(about.regular);
    if (rc == GALE_OK) rc = gale_save(to, &has_file, 1);
    return rc < 0 || !about.regular ? rc : save_end(letters, &about, to, error);
}

int gx_dead_letters_save(gx_shared *shared, gale_saver *to) {
    gale_error error = GALE_ERROR_INIT;
    gx_monitor_lock(&shared->monitor);
    int rc = save(shared->dead_letters, to, &error);
    if (rc < 0 && !error.code) gale_error_set(&error, rc, "%s", gale_error_text(rc));
    if (rc < 0) note_fatal(shared, &error);
    gx_monitor_unlock(&shared->monitor);
    return rc;
}
