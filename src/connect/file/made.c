#include "connect/file/made.h"

#include "base/hash.h"
#include "connect/file/meddled.h"

#include <inttypes.h>

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
    made->due = gx_bytes_map_new(made->heap, sizeof(gx_made_due), made->seed);
    if (!made->due || !gx_buf_text(&made->list_path)) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    return gale_state_open(out, &options, &made->state);
}

void gx_made_fini(gx_made *made) {
    gx_made_list_fini(&made->list);
    if (made->due) gx_bytes_map_free(made->due);
    gx_buf_fini(&made->list_path);
}

static int recall(const gx_made *made, gx_outputs_file *file, bool *ret_known, gale_error *error) {
    gale_value key = gx_made_key(file->path), list, values[GX_MADE_VALUES];
    int rc = gale_state_get(made->state, &key, &list);
    *ret_known = rc == 0;
    if (rc == GALE_NOT_FOUND) return 0;
    if (rc == 0 && !gx_made_take(&list, file->path, values)) rc = GALE_DAMAGED;
    if (rc < 0) return gx_made_refuse(rc, file->path, error);
    file->next_number = file->forgotten = (uint64_t)values[GX_MADE_NEXT].as.i64;
    file->period = values[GX_MADE_PERIOD].as.i64;
    file->output.plain = values[GX_MADE_PLAIN].as.i64;
    file->output.size = values[GX_FILE_END_SIZE].as.i64;
    return 0;
}

/* --- Beginning a file --- */

/* `fd`: the file, which was there; -1: it was not. */
static int list_file(gx_made *made, const gx_outputs_file *file, int fd, gale_error *error) {
    gx_made_line line = { gx_str(file->path), -1, 0, file->next_number };
    gx_file_about about;
    int rc = fd >= 0 ? gx_file_about_open(fd, file->path, &about, error) : 0;
    if (rc < 0) return rc;
    if (fd >= 0) line.size = file->output.size;
    if (fd >= 0) line.inode = about.inode;
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
    if (rc == 0 && there && file->output.regular) rc = list_file(made, file, file->output.fd, error);
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

/* --- Saving --- */

/* Its end goes into the state. */
static int keep(gx_made *made, gx_outputs_file *file, gale_error *error) {
    gale_value values[GX_MADE_VALUES];
    uint64_t next = file->next_number;
    int rc = gx_rotation_is_on(made->rotation) ? gx_rotation_next(file, &next, error) : 0;
    if (rc == 0) rc = gx_meddled_look(made->context, file, false, error);
    if (rc == 0) rc = gx_file_output_values(&file->output, values, error);
    if (rc < 0) return rc;
    values[GX_MADE_NEXT] = gale_i64((int64_t)next);
    values[GX_MADE_PERIOD] = gale_i64(file->period);
    values[GX_MADE_PLAIN] = gale_i64(file->output.codec ? file->output.plain : 0);
    gx_made_due *d = gx_bytes_map_put(made->due, gx_str(file->path), NULL);
    if (!d) return gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", file->path);
    rc = gx_made_put(made->state, file->path, values, error);
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

static int keep_open(gx_made *made, const gx_outputs *outputs, gale_error *error) {
    int rc = 0;
    for (gx_outputs_file *file = outputs->newest; file && rc == 0; file = file->older) {
        if (is_to_be_kept(file)) rc = keep(made, file, error);
    }
    return rc;
}

int gx_made_save(gx_made *made, const gx_outputs *outputs, gale_saver *to, gale_error *error) {
    const gale_value record = gale_text(GX_FILE_OUTPUTS);
    int rc = made->list.end ? 0 : gx_made_list_begin(&made->list, gx_buf_text(&made->list_path), made->seed, error);
    if (rc == 0) rc = keep_open(made, outputs, error);
    if (rc == 0) rc = gx_made_pledge(made->due, to, error);
    if (rc < 0) return rc;
    rc = gale_save(to, &record, 1);
    return rc < 0 ? rc : gx_made_list_save(&made->list, to, error);
}
