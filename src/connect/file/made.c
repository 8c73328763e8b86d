#include "connect/file/made.h"

#include "base/hash.h"
#include "base/log.h"
#include "base/os/folder.h"
#include "base/os/lock.h"
#include "base/os/place.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdlib.h>

/* Of a file that has changed, until the checkpoint: the disk is to have it, and up to which number full ones go. */
typedef struct due {
    uint64_t inode;
    uint64_t forget; /* 0: none goes */
} due;

/* What the state has of a file: its end without the two paths, which are the key, and these. */
enum { PATHS = 2, NEXT = GX_FILE_END_VALUES, PERIOD, PLAIN, VALUES };

/* The first record of what is saved: a sink with one file has another one. */
static const char kind[] = "files";

/* --- Beginning and end --- */

static void add_harmless(gx_buf *to, const char *name) {
    for (size_t i = 0; name[i] && i < 100; i++) {
        char c = name[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
        gx_buf_add_byte(to, letter ? c : '_');
    }
}

/* The list's name is its own among all sinks that write into that folder. */
static void name_list(gx_made *made, gale_str path, size_t fixed, const char *more) {
    const gale_context *context = made->context;
    gx_buf *name = &made->list_path;
    uint64_t hash = gx_hash_bytes(path.data, path.size, context->task_index);
    hash = gx_hash_bytes(context->topology, strlen(context->topology), hash);
    hash = gx_hash_bytes(context->component, strlen(context->component), hash);
    hash = gx_hash_bytes(more, strlen(more), hash);
    const char *slash = fixed ? memrchr(path.data, '/', fixed) : NULL;
    gx_buf_add(name, path.data, slash ? (size_t)(slash + 1 - path.data) : 0);
    gx_buf_add_text(name, ".gale-");
    add_harmless(name, context->component);
    gx_buf_format(name, "-%" PRIu32 "-%016" PRIx64, context->task_index, hash);
}

int gx_made_open(gx_made *made, gale_collector *out, gale_str path, size_t fixed, const char *more, gale_error *error) {
    gale_state_options options = GALE_STATE_OPTIONS_INIT;
    options.name = "files";
    name_list(made, path, fixed, more);
    made->due = gx_bytes_map_new(made->heap, sizeof(due), made->seed);
    if (!made->due || !gx_buf_text(&made->list_path)) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    return gale_state_open(out, &options, &made->state);
}

void gx_made_fini(gx_made *made) {
    gx_made_list_fini(&made->list);
    if (made->due) gx_bytes_map_free(made->due);
    gx_buf_fini(&made->list_path);
}

/* --- What is known of a file --- */

static gale_value key_of(const char *path) {
    size_t size = strlen(path);
    return gx_utf8_valid(path, size) ? gale_string(path, size) : gale_bytes(path, size);
}

static int refuse_state(int rc, const char *path, gale_error *error) {
    return gale_error_set(error, rc, "%s: what is saved of it: %s", path, gale_error_text(rc));
}

/* A list that the state had. False: no sink has put it there. */
static bool take_values(const gale_value *list, const char *path, gale_value values[VALUES]) {
    if (list->type != GALE_TYPE_LIST || list->size != VALUES - PATHS) return false;
    for (size_t i = PATHS; i < VALUES; i++) values[i] = gale_list_at(list, i - PATHS);
    for (size_t i = NEXT; i < VALUES; i++)
        if (values[i].type != GALE_TYPE_I64) return false;
    values[0] = values[1] = gale_bytes(path, strlen(path));
    return values[GX_FILE_END_INODE].type == GALE_TYPE_I64 && values[GX_FILE_END_SIZE].type == GALE_TYPE_I64 &&
           values[NEXT].as.i64 >= 0 && values[PLAIN].as.i64 >= 0;
}

static int put_values(const gx_made *made, const char *path, const gale_value values[VALUES], gale_error *error) {
    gale_value key = key_of(path), list = gale_list(values + PATHS, VALUES - PATHS);
    int rc = gale_state_put(made->state, &key, &list);
    return rc < 0 ? refuse_state(rc, path, error) : 0;
}

static int recall(const gx_made *made, gx_outputs_file *file, bool *ret_known, gale_error *error) {
    gale_value key = key_of(file->path), list, values[VALUES];
    int rc = gale_state_get(made->state, &key, &list);
    *ret_known = rc == 0;
    if (rc == GALE_NOT_FOUND) return 0;
    if (rc == 0 && !take_values(&list, file->path, values)) rc = GALE_DAMAGED;
    if (rc < 0) return refuse_state(rc, file->path, error);
    file->next_number = file->forgotten = (uint64_t)values[NEXT].as.i64;
    file->period = values[PERIOD].as.i64;
    file->output.plain = values[PLAIN].as.i64;
    return 0;
}

/* --- Beginning a file --- */

static int list_file(gx_made *made, const gx_outputs_file *file, int64_t size, gale_error *error) {
    const gx_made_line line = { gx_str(file->path), size, file->next_number };
    return gx_made_list_add(&made->list, &line, error);
}

/* What is done to one that is there before its line is written is done to nothing of ours: its end is mended, or it is emptied as it
 * was asked for. */
static int begin_new(gx_made *made, gx_outputs_file *file, bool there, gx_file_begin how, gx_file_torn *ret_torn,
                     gale_error *error) {
    uint64_t next;
    file->output.plain = 0;
    int rc = gx_rotation_is_on(made->rotation) ? gx_rotation_next(file, &next, error) : 0;
    if (rc == 0 && !there) rc = list_file(made, file, -1, error);
    if (rc == 0) rc = gx_file_output_begin(&file->output, how, ret_torn, error);
    if (rc == 0 && there && file->output.regular) rc = list_file(made, file, file->output.size, error);
    return rc;
}

int gx_made_begin(gx_made *made, gx_outputs_file *file, gx_file_begin how, gx_file_torn *ret_torn, gale_error *error) {
    gx_file_about about;
    bool known = false;
    int rc = recall(made, file, &known, error);
    if (rc == 0) rc = gx_file_about_path(file->path, &about, error);
    if (rc < 0 && rc != GALE_NOT_FOUND) return rc;
    bool there = rc == 0;
    file->again = known && there;
    file->changed = true;
    return file->again ? gx_file_output_begin(&file->output, GX_FILE_AGAIN, ret_torn, error)
                       : begin_new(made, file, there, how, ret_torn, error);
}

/* --- What a checkpoint does --- */

/* Its end goes into the state. */
static int keep(gx_made *made, gx_outputs_file *file, gale_error *error) {
    gale_value values[VALUES];
    uint64_t next = file->next_number;
    int rc = gx_rotation_is_on(made->rotation) ? gx_rotation_next(file, &next, error) : 0;
    if (rc == 0) rc = gx_file_output_values(&file->output, values, error);
    if (rc < 0) return rc;
    values[NEXT] = gale_i64((int64_t)next);
    values[PERIOD] = gale_i64(file->period);
    values[PLAIN] = gale_i64(file->output.codec ? file->output.plain : 0);
    due *d = gx_bytes_map_put(made->due, gx_str(file->path), NULL);
    if (!d) return gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", file->path);
    rc = put_values(made, file->path, values, error);
    if (rc < 0) return rc;
    d->inode = (uint64_t)values[GX_FILE_END_INODE].as.i64;
    if (next != file->forgotten) d->forget = gx_rotation_last_forgotten(made->rotation, next);
    file->forgotten = next;
    file->changed = false;
    return 0;
}

static bool is_to_be_kept(const gx_outputs_file *file) {
    return file->changed && file->output.begun && file->output.regular;
}

int gx_made_closing(void *user, gx_outputs_file *file, gale_error *error) {
    return is_to_be_kept(file) ? keep(user, file, error) : 0;
}

/* --- The pledge --- */

typedef struct duty {
    due due;
    size_t path; /* in `paths` */
} duty;

typedef struct duties {
    size_t count;
    const char *paths; /* behind the list */
    duty list[];
} duties;

/* By its name: a descriptor that was kept for this would keep its lock. One that is not there any more was taken away by somebody. */
static int sync_file(const char *path, uint64_t inode, gale_error *error) {
    gx_file_about about;
    char beside[GX_FILE_NAME_SIZE];
    int fd, rc = gx_file_about_path(path, &about, error);
    if (rc < 0 && rc != GALE_NOT_FOUND) return rc;
    bool own = rc == 0 && about.inode == inode;
    if (!own && gx_place_beside(path, inode, beside) > 0) path = beside;
    else if (rc == GALE_NOT_FOUND) return 0;
    rc = gx_file_create(path, true, &fd, error);
    if (rc < 0) return rc;
    rc = gx_file_sync(fd, path, error);
    gx_file_close(fd);
    return rc;
}

static size_t folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash + 1 - path) : 0;
}

/* A folder that somebody took away has no names to be lost. */
static int sync_name(const char *path, gale_error *error) {
    char folder[GX_FILE_NAME_SIZE] = ".";
    size_t size = folder_of(path);
    if (size) memcpy(folder, path, size);
    if (size) folder[size] = 0;
    int rc = gx_folder_look(folder, error);
    return rc == GALE_NOT_FOUND ? 0 : rc < 0 ? rc : gx_file_sync_name(path, error);
}

/* A name is synced after the bytes that it names; those of a folder that follow one another, in one go. */
static int prepare_duties(void *pledge, gale_error *error) {
    const duties *d = pledge;
    const char *before = NULL;
    int rc = 0;
    for (size_t i = 0; i < d->count && rc == 0; i++)
        rc = sync_file(d->paths + d->list[i].path, d->list[i].due.inode, error);
    for (size_t i = 0; i < d->count && rc == 0; i++) {
        const char *path = d->paths + d->list[i].path;
        size_t size = folder_of(path);
        bool same = before && folder_of(before) == size && memcmp(before, path, size) == 0;
        if (!same) rc = sync_name(path, error);
        before = path;
    }
    return rc;
}

static int commit_duties(void *pledge, gale_error *error) {
    const duties *d = pledge;
    int rc = 0;
    for (size_t i = 0; i < d->count && rc == 0; i++)
        rc = gx_rotation_forget(d->paths + d->list[i].path, d->list[i].due.forget, error);
    return rc;
}

static const gale_pledge_ops duty_ops = {
    .size = sizeof duty_ops, .prepare = prepare_duties, .commit = commit_duties, .drop = free
};

static duties *take_duties(const gx_bytes_map *all) {
    size_t count = gx_bytes_map_size(all), bytes = 0, at = 0;
    gale_str path;
    for (size_t i = 0; i < count; i++) {
        gx_bytes_map_at(all, i, &path);
        bytes += path.size + 1;
    }
    duties *made = malloc(sizeof *made + count * sizeof *made->list + bytes);
    if (!made) return NULL;
    char *paths = (char *)(made->list + count);
    *made = (duties){ .count = count, .paths = paths };
    for (size_t i = 0; i < count; i++) {
        const due *what = gx_bytes_map_at(all, i, &path);
        made->list[i] = (duty){ *what, at };
        memcpy(paths + at, path.data, path.size);
        paths[at + path.size] = 0;
        at += path.size + 1;
    }
    return made;
}

static int pledge_duties(gx_made *made, gale_saver *to, gale_error *error) {
    if (!gx_bytes_map_size(made->due)) return 0;
    duties *list = take_duties(made->due);
    int rc = list ? gale_save_pledge(to, &duty_ops, list) : GALE_NO_MEMORY;
    if (rc < 0) return gale_error_set(error, rc, "%s", gale_error_text(rc));
    gx_bytes_map_clear(made->due);
    return 0;
}

/* --- Saving --- */

static int keep_open(gx_made *made, const gx_outputs *outputs, gale_error *error) {
    int rc = 0;
    for (gx_outputs_file *file = outputs->newest; file && rc == 0; file = file->older) {
        if (is_to_be_kept(file)) rc = keep(made, file, error);
    }
    return rc;
}

int gx_made_save(gx_made *made, const gx_outputs *outputs, gale_saver *to, gale_error *error) {
    const gale_value record = gale_text(kind);
    int rc = made->list.end ? 0 : gx_made_list_begin(&made->list, gx_buf_text(&made->list_path), made->seed, error);
    if (rc == 0) rc = keep_open(made, outputs, error);
    if (rc == 0) rc = pledge_duties(made, to, error);
    if (rc < 0) return rc;
    rc = gale_save(to, &record, 1);
    return rc < 0 ? rc : gx_made_list_save(&made->list, to, error);
}

/* --- Going back: files that were made since --- */

typedef struct back {
    gx_made *made;
    uint64_t checkpoint;
    gx_buf path; /* of the file in hand */
    uint64_t undone, known, cut;
    gale_error *error;
} back;

static int take_path(back *b, gale_str path) {
    gx_buf_reset(&b->path);
    gx_buf_add(&b->path, path.data, path.size);
    return gx_buf_text(&b->path) ? 0 : gale_error_set(b->error, GALE_NO_MEMORY, "out of memory");
}

static int cut_or_remove(const char *path, int64_t size, gale_error *error) {
    int fd, rc = gx_file_create(path, true, &fd, error);
    if (rc < 0) return rc;
    rc = gx_lock_open(fd, path, error);
    if (rc == 0) rc = size < 0 ? gx_file_remove(path, error) : gx_file_cut(fd, size, path, error);
    if (rc == 0 && size >= 0) rc = gx_file_sync(fd, path, error);
    gx_file_close(fd);
    return rc;
}

/* In each call as far as an earlier one has not come, which may have removed it without the disk's knowing; its folder was perhaps
 * never made. What is no regular file was never written to. */
static int undo_file(const char *path, const gx_made_line *line, gale_error *error) {
    gx_file_about about;
    bool turned;
    int rc = line->next ? gx_rotation_undo(path, line->next, &turned, error) : 0;
    if (rc == 0) rc = gx_file_about_path(path, &about, error);
    if (rc == 0 && about.regular && line->size < about.size) rc = cut_or_remove(path, line->size, error);
    return rc < 0 && rc != GALE_NOT_FOUND ? rc : sync_name(path, error);
}

static int undo_line(void *user, const gx_made_line *line, gale_error *error) {
    back *b = user;
    b->undone++;
    int rc = take_path(b, line->path);
    return rc < 0 ? rc : undo_file(b->path.data, line, error);
}

/* --- Going back: files that are known --- */

static void tell(const back *b, const char *path, const char *what) {
    const gale_context *context = b->made->context;
    gale_log(context->logger, GALE_LOG_WARN, context->component, "%s: %s since, and begins anew if it gets lines again",
             path, what);
}

/* From now on it is as though the sink had never written to it. */
static int let_go(back *b, const char *path, const char *what) {
    gale_value key = key_of(path);
    tell(b, path, what);
    int rc = gale_state_remove(b->made->state, &key);
    return rc < 0 ? refuse_state(rc, path, b->error) : 0;
}

static int cut_known(back *b, const char *path, const gale_value *values) {
    gx_file_end_found found;
    gx_file_end *end = NULL;
    int rc = gx_file_end_find(values, GX_FILE_END_VALUES, b->checkpoint, path, &end, &found, b->error);
    if (rc < 0) return rc;
    rc = gx_file_end_cut(end, &found, b->error);
    bool elsewhere = found.elsewhere;
    (void)gx_file_end_close(end, NULL);
    b->cut += found.cut > 0;
    return rc == 0 && elsewhere ? let_go(b, path, "was renamed") : rc;
}

/* One whose inode and length are those of the checkpoint has nothing to be undone, and is not opened. */
static int bring_back(back *b, const char *path, const gale_value *values) {
    gx_file_about about;
    char name[GX_FILE_NAME_SIZE];
    uint64_t inode = (uint64_t)values[GX_FILE_END_INODE].as.i64, next = (uint64_t)values[NEXT].as.i64;
    int64_t size = values[GX_FILE_END_SIZE].as.i64;
    bool turned;
    int rc = next ? gx_rotation_undo(path, next, &turned, b->error) : 0;
    if (rc == 0) rc = gx_rotation_forget_rest(path, gx_rotation_last_forgotten(b->made->rotation, next), b->error);
    if (rc == 0) rc = gx_file_about_path(path, &about, b->error);
    if (rc < 0 && rc != GALE_NOT_FOUND) return rc;
    if (rc == GALE_NOT_FOUND && !(size && gx_place_beside(path, inode, name))) return let_go(b, path, "was removed");
    if (rc == 0 && about.regular && about.inode == inode && about.size == size) return 0;
    return cut_known(b, path, values);
}

/* A file that was not rotated so far: which numbers are given since is to be known from now on. */
static int number_from_now_on(const back *b, const char *path, gale_value values[VALUES]) {
    uint64_t last = 0;
    if (values[NEXT].as.i64 || !gx_rotation_is_on(b->made->rotation)) return 0;
    int rc = gx_rotation_last(path, &last, b->error);
    if (rc < 0) return rc;
    values[NEXT] = gale_i64((int64_t)last + 1);
    return put_values(b->made, path, values, b->error);
}

static int each_known(void *user, const gale_value *key, const gale_value *value) {
    back *b = user;
    gale_value values[VALUES];
    bool is = key->type == GALE_TYPE_STRING || key->type == GALE_TYPE_BYTES;
    gale_str path = { is ? key->as.string : "", is ? key->size : 0 };
    int rc = take_path(b, path);
    if (rc < 0) return rc;
    b->known++;
    if (!is || !take_values(value, b->path.data, values)) return refuse_state(GALE_DAMAGED, b->path.data, b->error);
    rc = number_from_now_on(b, b->path.data, values);
    return rc < 0 ? rc : bring_back(b, b->path.data, values);
}

/* --- Going back --- */

static int check_kind(gale_saved *from, const char *path, gale_error *error) {
    const gale_value *values;
    size_t count;
    int rc = gale_saved_next(from, &values, &count);
    if (rc < 0) return refuse_state(rc, path, error);
    if (rc == 1 && count == 1 && values[0].type == GALE_TYPE_STRING && values[0].size == sizeof kind - 1 &&
        memcmp(values[0].as.string, kind, sizeof kind - 1) == 0)
        return 0;
    return gale_error_set(error, GALE_INVALID,
                          "checkpoint %" PRIu64
                          " has written to one file, and this run is to write to as many as its tuples name; keep the "
                          "path, or begin anew with another state folder",
                          gale_saved_checkpoint(from));
}

static void tell_back(const back *b) {
    const gale_context *context = b->made->context;
    gale_log(context->logger, GALE_LOG_INFO, context->component,
             "goes on with %" PRIu64 " files, of which %" PRIu64
             " were cut back to the checkpoint; %" PRIu64 " that were begun since are undone",
             b->known, b->cut, b->undone);
}

static int go_back(back *b) {
    gx_made *made = b->made;
    int rc = gx_made_list_undo(&made->list, undo_line, b, b->error);
    if (rc == 0) rc = gale_state_each(made->state, each_known, b);
    if (rc < 0 && !b->error->length) refuse_state(rc, "files", b->error);
    if (rc == 0) tell_back(b);
    return rc;
}

int gx_made_restore(gx_made *made, gale_saved *from, gale_error *error) {
    const char *path = gx_buf_text(&made->list_path);
    back b = { made, gale_saved_checkpoint(from), GX_BUF_INIT(made->heap), 0, 0, 0, error };
    int rc = check_kind(from, path, error);
    if (rc == 0) rc = gx_made_list_find(&made->list, path, from, error);
    if (rc == 0) rc = go_back(&b);
    gx_buf_fini(&b.path);
    return rc;
}
