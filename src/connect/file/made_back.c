#include "base/log.h"
#include "base/os/lock.h"
#include "base/os/place.h"
#include "connect/file/made.h"
#include "tuple/value.h"

#include <inttypes.h>

/* --- Files that were made since --- */

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

/* What it was before the sink wrote to it was perhaps not kept, or taken away. */
static int refuse_other(const char *path, const gx_made_line *line, gale_error *error) {
    return gale_error_set(error, GALE_INVALID,
                          "'%s' is not the file that was there before the run wrote to it, whose inode was %" PRIu64
                          ": put that one back, or take this one away",
                          path, line->inode);
}

static int undo_one(const char *path, const gx_made_line *line, gale_error *error) {
    gx_file_about about;
    int rc = gx_file_about_path(path, &about, error);
    if (rc < 0) return rc == GALE_NOT_FOUND ? 0 : rc;
    if (!about.regular) return 0; /* it was never written to */
    if (line->size >= 0 && about.inode != line->inode) return refuse_other(path, line, error);
    return line->size < about.size ? cut_or_remove(path, line->size, error) : 0;
}

/* In each call as far as an earlier one has not come, which may have removed it without the disk's knowing; its folder was perhaps
 * never made. Of one that was not there, full ones go whatever has become of the first. */
static int undo_file(const char *path, const gx_made_line *line, gale_error *error) {
    bool turned;
    int rc = 0;
    if (line->next)
        rc = line->size < 0 ? gx_rotation_remove(path, line->next, error)
                            : gx_rotation_undo(path, line->next, &turned, error);
    if (rc == 0) rc = undo_one(path, line, error);
    return rc < 0 ? rc : gx_made_sync_name(path, error);
}

static int undo_line(void *user, const gx_made_line *line, gale_error *error) {
    back *b = user;
    b->undone++;
    int rc = take_path(b, line->path);
    return rc < 0 ? rc : undo_file(b->path.data, line, error);
}

/* --- Files that are known --- */

static void tell(const back *b, const char *path, const char *what) {
    const gale_context *context = b->made->context;
    gale_log(context->logger, GALE_LOG_WARN, context->component, "%s: %s since, and begins anew if it gets lines again",
             path, what);
}

/* From now on it is as though the sink had never written to it. */
static int let_go(const back *b, const char *path, const char *what, bool *ret_stays) {
    gale_value key = gx_made_key(path);
    *ret_stays = false;
    tell(b, path, what);
    int rc = gale_state_remove(b->made->state, &key);
    return rc < 0 ? gx_made_refuse(rc, path, b->error) : 0;
}

static int cut_known(back *b, const char *path, const gale_value *values, bool *ret_stays) {
    gx_file_end_found found;
    gx_file_end *end = NULL;
    int rc = gx_file_end_find(values, GX_FILE_END_VALUES, b->checkpoint, path, &end, &found, b->error);
    if (rc < 0) return rc;
    rc = gx_file_end_cut(end, &found, b->error);
    bool elsewhere = found.elsewhere;
    (void)gx_file_end_close(end, NULL);
    b->cut += found.cut > 0;
    return rc == 0 && elsewhere ? let_go(b, path, "was renamed", ret_stays) : rc;
}

/* One whose inode and length are those of the checkpoint has nothing to be undone, and is not opened. */
static int bring_back(back *b, const char *path, const gale_value *values, bool *ret_stays) {
    gx_file_about about;
    char name[GX_FILE_NAME_SIZE];
    uint64_t inode = (uint64_t)values[GX_FILE_END_INODE].as.i64, next = (uint64_t)values[GX_MADE_NEXT].as.i64;
    int64_t size = values[GX_FILE_END_SIZE].as.i64;
    bool turned;
    int rc = next ? gx_rotation_undo(path, next, &turned, b->error) : 0;
    if (rc == 0) rc = gx_rotation_forget_rest(path, gx_rotation_last_forgotten(b->made->rotation, next), b->error);
    if (rc == 0) rc = gx_file_about_path(path, &about, b->error);
    if (rc < 0 && rc != GALE_NOT_FOUND) return rc;
    if (rc == GALE_NOT_FOUND && !(size && gx_place_beside(path, inode, name)))
        return let_go(b, path, "was removed", ret_stays);
    if (rc == 0 && about.regular && about.inode == inode && about.size == size) return 0;
    return cut_known(b, path, values, ret_stays);
}

/* A file that was not rotated so far: which numbers are given since is to be known from now on. */
static int number_from_now_on(const back *b, const char *path, gale_value values[GX_MADE_VALUES]) {
    uint64_t last = 0;
    if (values[GX_MADE_NEXT].as.i64 || !gx_rotation_is_on(b->made->rotation)) return 0;
    int rc = gx_rotation_last(path, &last, b->error);
    if (rc < 0) return rc;
    values[GX_MADE_NEXT] = gale_i64((int64_t)last + 1);
    return gx_made_put(b->made->state, path, values, b->error);
}

static bool is_path(const gale_value *key) {
    if (key->type != GALE_TYPE_STRING && key->type != GALE_TYPE_BYTES) return false;
    gale_str path = gx_value_str(key);
    return path.size && path.size <= GX_MADE_PATH_MAX && !memchr(path.data, 0, path.size);
}

static int each_known(void *user, const gale_value *key, const gale_value *value) {
    back *b = user;
    gale_value values[GX_MADE_VALUES];
    bool is = is_path(key), stays = true;
    int rc = take_path(b, is ? gx_value_str(key) : gx_str("a key of the state"));
    if (rc < 0) return rc;
    b->known++;
    if (!is || !gx_made_take(value, b->path.data, values)) return gx_made_refuse(GALE_DAMAGED, b->path.data, b->error);
    rc = bring_back(b, b->path.data, values, &stays);
    return rc == 0 && stays ? number_from_now_on(b, b->path.data, values) : rc;
}

/* --- All of it --- */

static int check_kind(gale_saved *from, const char *path, gale_error *error) {
    const gale_value *values;
    size_t count;
    int rc = gale_saved_next(from, &values, &count);
    if (rc == 1 && gx_file_output_is_many(values, count)) return 0;
    if (rc < 0 || rc == 0 || values[0].type != GALE_TYPE_BOOL)
        return gx_made_refuse(rc < 0 ? rc : GALE_DAMAGED, path, error);
    return gale_error_set(error, GALE_INVALID,
                          "checkpoint %" PRIu64
                          " has written to one file, and this run is to write to as many as its tuples name; keep the "
                          "path, or begin anew with another state folder",
                          gale_saved_checkpoint(from));
}

static void tell_back(const back *b) {
    const gale_context *context = b->made->context;
    gale_log(context->logger, GALE_LOG_INFO, context->component,
             "goes on with %" PRIu64 " files, of which %" PRIu64 " were cut back to the checkpoint; %" PRIu64
             " that were begun since are undone",
             b->known, b->cut, b->undone);
}

static int go_back(back *b) {
    gx_made *made = b->made;
    int rc = gx_made_list_undo(&made->list, undo_line, b, b->error);
    if (rc == 0) rc = gale_state_each(made->state, each_known, b);
    if (rc < 0 && !b->error->length) gx_made_refuse(rc, "files", b->error);
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
