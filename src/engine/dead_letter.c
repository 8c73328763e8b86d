#include "engine/dead_letter.h"

#include "base/buf.h"
#include "base/log.h"
#include "base/os/fate.h"
#include "base/os/lock.h"
#include "base/os/time.h"
#include "base/str.h"
#include "engine/letter_tail.h"
#include "topology/file_end.h"
#include "topology/file_swap.h"
#include "topology/saver.h"
#include "tuple/json.h"

#include <gale/clock.h>
#include <inttypes.h>

typedef struct gx_dead_letters {
    int fd;
    gx_file_end *end; /* in a durable run, from the first checkpoint on: has the descriptor */
    int next;         /* open, when the file was renamed and is to be changed for this one; -1 */
    gx_file_swap swap;
    int64_t size; /* that the file has at least, outside of durable runs */
    bool broken;  /* a write failed: nothing more is written */
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
    gx_json_key(&json, gx_str("time"));
    gx_json_f64(&json, (double)(gx_os_wall() / GALE_MILLISECOND) / 1000);
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

static void tell_cut(const gx_shared *shared, const char *path, int64_t cut) {
    if (cut && gx_log_wanted(&shared->logger, GALE_LOG_INFO))
        gale_log(&shared->logger, GALE_LOG_INFO, NULL,
                 "%s: %" PRId64 " bytes of dead letters were written since the checkpoint, and were cut off", path,
                 cut);
}

/* The same of the file that had the path since the other one was renamed. */
static int undo_swap(gx_shared *shared, gx_dead_letters *letters, const char *path, gale_error *error) {
    int64_t cut;
    if (!letters->swap.announced) return GALE_OK;
    int rc = gx_file_swap_undo(&letters->swap, path, &cut, error);
    if (rc == 0)
        gale_log(&shared->logger, GALE_LOG_WARN, NULL,
                 "%s: the file that took the place of a renamed one is gone: dead letters that it was given come again",
                 path);
    tell_cut(shared, path, cut);
    return rc < 0 ? rc : GALE_OK;
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
    tell_cut(shared, path, found.cut);
    return undo_swap(shared, letters, path, error);
}

/* What the first record has: is there a file?, and perhaps size, inode and birth of the one that had its path. */
enum { HEAD_MAX = 4 };

static bool is_head(const gale_value *values, size_t count) {
    if ((count != 1 && count != HEAD_MAX) || values[0].type != GALE_TYPE_BOOL) return false;
    for (size_t i = 1; i < count; i++)
        if (values[i].type != GALE_TYPE_I64) return false;
    return count == 1 || values[1].as.i64 >= 0;
}

/* 1: the file is open; 0: the checkpoint has none. */
static int restore(gx_shared *shared, gx_dead_letters *letters, const char *path, gale_error *error) {
    const gale_value *values;
    size_t count;
    gale_saved from = { .records = shared->cut.letters,
                        .heap = &shared->heap,
                        .checkpoint = gx_load_relaxed(&shared->cut.lasting) };
    int rc = gale_saved_next(&from, &values, &count);
    if (rc > 0 && !is_head(values, count))
        rc = gale_error_set(error, GALE_DAMAGED, "what the checkpoint has of dead letters does not hold");
    if (rc > 0 && count == HEAD_MAX)
        letters->swap = (gx_file_swap){ true, true, values[1].as.i64, values[2].as.i64, values[3].as.i64 };
    if (rc > 0) rc = values[0].as.boolean;
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
    letters->size = 0;
    letters->broken = false;
    letters->swap = (gx_file_swap)GX_FILE_SWAP_INIT;
    letters->next = -1;
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

/* --- Log rotation --- */

static int open_path(gx_shared *shared, const char *path, int *ret_fd, gale_error *error) {
    int rc = gx_file_create(path, true, ret_fd, error);
    if (rc < 0) return rc;
    int mended = take_over(*ret_fd, path, error);
    if (mended < 0) gx_file_close(*ret_fd);
    if (mended >= 0) tell_mended(shared, path, mended);
    return mended;
}

/* 1: the path is open; 0: it is that of the open file, or cannot be opened, which is told: letters go on where they went. */
static int open_next(gx_shared *shared, gx_dead_letters *letters, gale_error *error) {
    const char *path = letters->path.data;
    gale_error why = GALE_ERROR_INIT;
    int fd, rc = letters->broken ? 0 : gx_file_swap_is_due(letters->fd, path, error);
    letters->swap = (gx_file_swap)GX_FILE_SWAP_INIT;
    if (rc <= 0) return rc;
    if (open_path(shared, path, &fd, &why) < 0) {
        gale_log(&shared->logger, GALE_LOG_ERROR, NULL, "%s; dead letters go on where they went", why.text);
        return 0;
    }
    letters->next = fd;
    letters->swap.asked = true;
    return 1;
}

static int change_file(gx_dead_letters *letters, gale_error *error) {
    int rc = letters->end ? gx_file_sync(letters->fd, letters->path.data, error) : GALE_OK;
    if (rc == GALE_OK) rc = close_file(letters, error);
    if (rc < 0) return rc;
    letters->fd = letters->next;
    letters->next = -1;
    letters->end = NULL;
    letters->swap = (gx_file_swap)GX_FILE_SWAP_INIT;
    return GALE_OK;
}

/* What somebody else has done to it is logged. A gx_fate, or GALE_IO. In a durable run the checkpoint refuses. */
static int look_at_fate(const gx_shared *shared, gx_dead_letters *letters, gale_error *error) {
    const char *path = letters->path.data;
    gx_file_about about = { .size = 0 };
    if (shared->cut.store || letters->broken) return GX_FATE_HERE;
    int fate = gx_fate_of(letters->fd, path, letters->size, &about, error);
    if (fate == GX_FATE_CUT)
        gale_log(&shared->logger, GALE_LOG_WARN, NULL,
                 "%s: was cut by somebody to %" PRId64 " bytes while it is written to, of %" PRId64
                 ": dead letters that it held are gone",
                 path, about.size, letters->size);
    if (fate >= GX_FATE_REMOVED)
        gale_log(&shared->logger, GALE_LOG_WARN, NULL,
                 "%s: was %s by somebody while it is written to: the dead letters that it held are gone", path,
                 fate == GX_FATE_REMOVED ? "removed" : "replaced with another file");
    if (fate >= 0) letters->size = about.size;
    return fate;
}

/* Before a letter is written: one that goes where nobody can find it is lost, and so is one behind half of another. */
static int mend_fate(gx_shared *shared, gx_dead_letters *letters, gale_error *error) {
    const char *path = letters->path.data;
    int fate = look_at_fate(shared, letters, error);
    if (fate != GX_FATE_CUT && fate < GX_FATE_REMOVED) return fate < 0 ? fate : GALE_OK;
    letters->size = 0;
    if (fate == GX_FATE_CUT) {
        int mended = gx_letter_tail_mend(letters->fd, path, error);
        if (mended >= 0) tell_mended(shared, path, mended);
        return mended < 0 ? mended : GALE_OK;
    }
    int rc = open_path(shared, path, &letters->next, error);
    return rc < 0 ? rc : change_file(letters, error);
}

/* In a durable run, that is up to the checkpoints. */
static int reopen(gx_shared *shared, gx_dead_letters *letters, gale_error *error) {
    letters->swap.asked = true;
    if (shared->cut.store) return GALE_OK;
    int rc = open_next(shared, letters, error);
    return rc > 0 ? change_file(letters, error) : rc;
}

void gx_dead_letters_reopen(gx_shared *shared) {
    gale_error error = GALE_ERROR_INIT;
    gx_monitor_lock(&shared->monitor);
    gx_dead_letters *letters = shared->dead_letters;
    int rc = letters ? reopen(shared, letters, &error) : GALE_OK;
    if (rc < 0) note_fatal(shared, &error);
    gx_monitor_unlock(&shared->monitor);
    if (rc < 0) gx_executors_close(shared);
}

/* --- Letters --- */

static int write_line(gx_shared *shared, gx_dead_letters *letters, const gx_dead_letter *letter, gale_error *error) {
    int rc = mend_fate(shared, letters, error);
    if (rc < 0) return rc;
    gx_buf_reset(&letters->line);
    add_line(&letters->line, letter);
    if (letters->line.failed) return gale_error_set(error, GALE_NO_MEMORY, "no memory for the line of a dead letter");
    rc = gx_file_append(letters->fd, letters->line.data, letters->line.size, letters->path.data, error);
    if (rc == GALE_OK) letters->size += (int64_t)letters->line.size;
    return rc;
}

bool gx_dead_letters_write(gx_shared *shared, const gx_dead_letter *letter) {
    gale_error error = GALE_ERROR_INIT;
    gx_monitor_lock(&shared->monitor);
    gx_dead_letters *letters = shared->dead_letters;
    bool broken = !letters || letters->broken;
    int code = broken ? GALE_IO : write_line(shared, letters, letter, &error);
    if (code < 0 && !broken) {
        letters->broken = true;
        note_fatal(shared, &error);
    }
    gx_monitor_unlock(&shared->monitor);
    if (code < 0) gx_executors_close(shared);
    return code >= 0;
}

void gx_dead_letters_close(gx_shared *shared) {
    gale_error error = GALE_ERROR_INIT;
    gx_monitor_lock(&shared->monitor);
    gx_dead_letters *letters = shared->dead_letters;
    shared->dead_letters = NULL;
    if (letters && letters->next >= 0) gx_file_close(letters->next); /* nothing was written to it */
    int fate = letters ? look_at_fate(shared, letters, &error) : GX_FATE_HERE;
    int rc = letters ? close_file(letters, &error) : GALE_OK;
    if (fate < 0 || rc < 0) note_fatal(shared, &error);
    if (letters) free_letters(shared, letters);
    gx_monitor_unlock(&shared->monitor);
}

/* --- Checkpoints --- */

static int save_end(gx_dead_letters *letters, const gx_file_about *about, gale_saver *to, gale_error *error) {
    int rc = letters->end ? GALE_OK : gx_file_end_make(letters->fd, letters->path.data, &letters->end, error);
    return rc < 0 ? rc : gx_file_end_save(letters->end, about->size, to, error);
}

/* What was renamed is changed for the file that has its path, when the checkpoint before was told of that. */
static int follow_path(gx_shared *shared, gx_dead_letters *letters, gale_error *error) {
    if (!letters->swap.asked) return GALE_OK;
    if (letters->next >= 0) return change_file(letters, error);
    int rc = open_next(shared, letters, error);
    return rc > 0 ? gx_file_swap_announce(&letters->swap, letters->next, letters->path.data, error) : rc;
}

/* What is no regular file cannot be cut back. */
static int save(gx_shared *shared, gx_dead_letters *letters, gale_saver *to, gale_error *error) {
    gx_file_about about = { .regular = false };
    if (letters && letters->broken) return gale_error_set(error, GALE_IO, "dead letters could not be written");
    int rc = letters ? follow_path(shared, letters, error) : GALE_OK;
    if (rc == GALE_OK && letters) rc = gx_file_about_open(letters->fd, letters->path.data, &about, error);
    const gx_file_swap swap = letters ? letters->swap : (gx_file_swap)GX_FILE_SWAP_INIT;
    const gale_value head[HEAD_MAX] = { gale_bool(about.regular), gale_i64(swap.size), gale_i64(swap.inode),
                                        gale_i64(swap.born) };
    if (rc == GALE_OK) rc = gale_save(to, head, swap.announced ? HEAD_MAX : 1);
    return rc < 0 || !about.regular ? rc : save_end(letters, &about, to, error);
}

int gx_dead_letters_save(gx_shared *shared, gale_saver *to) {
    gale_error error = GALE_ERROR_INIT;
    gx_monitor_lock(&shared->monitor);
    int rc = save(shared, shared->dead_letters, to, &error);
    if (rc < 0 && !error.code) gale_error_set(&error, rc, "%s", gale_error_text(rc));
    if (rc < 0) note_fatal(shared, &error);
    gx_monitor_unlock(&shared->monitor);
    return rc;
}
