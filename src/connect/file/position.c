#include "connect/file/position.h"

#include "base/os/place.h"
#include "base/str.h"
#include "kit/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Path, path as it was told, inode, offset, content, lines before it, task, tasks, is it a regular file?, was all read?, found, tag. */
static const char shape[] = "yyiiiiiioooi", followed_shape[] = "ynnnn";

int gx_file_position_save(const gx_file_position *position, const gx_file_reader *reader, const gale_context *context,
                          uint32_t tag, gale_saver *to, gale_error *error) {
    gx_file_about about = { 0 };
    uint64_t content = 0;
    int64_t offset = reader->regular ? gx_file_reader_next_at(reader) : 0;
    int rc = reader->regular ? gx_file_about_open(reader->fd, reader->path, &about, error) : GALE_OK;
    if (rc == GALE_OK && reader->regular) rc = gx_place_content(reader->fd, offset, reader->path, &content, error);
    if (rc < 0) return rc;
    const gale_value values[] = { gale_bytes(reader->path, strlen(reader->path)),
                                  gale_bytes(position->asked, strlen(position->asked)),
                                  gale_i64((int64_t)about.inode),
                                  gale_i64(offset),
                                  gale_i64((int64_t)content),
                                  gale_i64((int64_t)reader->number),
                                  gale_i64(context->task_index),
                                  gale_i64(context->task_count),
                                  gale_bool(reader->regular),
                                  gale_bool(position->at_end),
                                  gale_bool(position->found),
                                  gale_i64(tag) };
    rc = gale_save(to, values, sizeof values / sizeof *values);
    return rc < 0 ? gale_error_set(error, rc, "%s: %s", reader->path, gale_error_text(rc)) : GALE_OK;
}

bool gx_file_position_tell(const gale_value *values, size_t count, gx_buf *out) {
    if (count < sizeof shape - 1) return false;
    for (size_t i = 0; shape[i]; i++) {
        uint8_t type = shape[i] == 'y' ? GALE_TYPE_BYTES : shape[i] == 'i' ? GALE_TYPE_I64 : GALE_TYPE_BOOL;
        if (values[i].type != type) return false;
    }
    gx_buf_format(out, "%.*s, ", (int)values[0].size, (const char *)values[0].as.bytes);
    if (values[7].as.i64 == 1) gx_buf_format(out, "line %" PRId64 ", ", values[5].as.i64 + 1);
    gx_buf_format(out, "byte %" PRId64 "%s", values[3].as.i64, values[9].as.boolean ? ", its end" : "");
    return true;
}

/* --- What was saved ----------------------------------------------------------------------------------------------- */

static int refuse_kind(const gale_saved *from, bool follows, const char *path, gale_error *error) {
    return gale_error_set(error, GALE_STATE,
                          "%s: the spout %s when checkpoint %" PRIu64
                          " was saved, and %s now; give it `follow: %s` again",
                          path, follows ? "did not follow its file" : "followed its files", gale_saved_checkpoint(from),
                          follows ? "does" : "does not", follows ? "false" : "true");
}

int gx_file_first_record(gale_saved *from, bool follows, const char *path, const gale_value **ret_values,
                         gale_error *error) {
    const gale_value *v;
    size_t count;
    int rc = gale_saved_next(from, &v, &count);
    if (rc < 0) return rc;
    if (rc > 0 && gx_record_has(v, count, follows ? shape : followed_shape))
        return refuse_kind(from, follows, path, error);
    if (rc == 0 || !gx_record_has(v, count, follows ? followed_shape : shape)) return GALE_DAMAGED;
    *ret_values = v;
    return GALE_OK;
}

static int take(gale_saved *from, const char *path, gx_file_saved *ret_saved, gale_error *error) {
    const gale_value *v;
    int rc = gx_file_first_record(from, false, path, &v, error);
    if (rc < 0) return rc;
    gale_str asked = { v[1].as.bytes, v[1].size };
    v++; /* the numbers */
    bool valid = v[2].as.i64 >= 0 && v[4].as.i64 >= 0 && v[5].as.i64 >= 0 && v[5].as.i64 < v[6].as.i64 &&
                 v[6].as.i64 <= UINT16_MAX && v[10].as.i64 >= 0 && v[10].as.i64 <= UINT32_MAX;
    if (!valid) return GALE_DAMAGED;
    *ret_saved = (gx_file_saved){ .checkpoint = gale_saved_checkpoint(from),
                                  .inode = (uint64_t)v[1].as.i64,
                                  .offset = v[2].as.i64,
                                  .content = (uint64_t)v[3].as.i64,
                                  .lines = (uint64_t)v[4].as.i64,
                                  .task = (uint32_t)v[5].as.i64,
                                  .tasks = (uint32_t)v[6].as.i64,
                                  .tag = (uint32_t)v[10].as.i64,
                                  .regular = v[7].as.boolean,
                                  .at_end = v[8].as.boolean,
                                  .found = v[9].as.boolean,
                                  .is_end = gale_saved_is_end(from),
                                  .renamed = !gx_str_is(asked, path) };
    snprintf(ret_saved->asked, sizeof ret_saved->asked, "%.*s", GX_STR(asked));
    return GALE_OK;
}

int gx_file_position_take(gale_saved *from, const char *path, gx_file_saved *ret_saved, gale_error *error) {
    int rc = take(from, path, ret_saved, error);
    return rc < 0 && !error->length
               ? gale_error_set(error, rc, "%s: what was saved of the position: %s", path, gale_error_text(rc))
               : rc;
}

#define ANEW "or begin anew with another state folder"

/* Where nothing was read, any input can be gone on with. */
static int check_pipe(const gx_file_saved *saved, const char *path, gale_error *error) {
    if (!saved->lines && !saved->at_end) return GALE_OK;
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    return gale_error_set(error, GALE_INVALID,
                          "%s: checkpoint %" PRIu64 " stands behind line %" PRIu64
                          ", and what a pipe has given cannot be read again; read from a file, " ANEW,
                          name, saved->checkpoint, saved->lines);
}

/* --- Which file it is --------------------------------------------------------------------------------------------- */

static int refuse_gone(const gx_file_saved *saved, const char *path, gale_error *error) {
    return gale_error_set(error, GALE_INVALID,
                          "%s: checkpoint %" PRIu64 " stands at byte %" PRId64
                          ", and there is no such file, nor one beside it of its inode %" PRIu64 "; put it back, " ANEW,
                          path, saved->checkpoint, saved->offset, saved->inode);
}

static int refuse_other(const gx_file_saved *saved, const char *path, gale_error *error) {
    if (saved->renamed)
        return gale_error_set(error, GALE_INVALID,
                              "%s: is not the file that checkpoint %" PRIu64
                              " has read, which was '%s': what lies before byte "
                              "%" PRId64 " differs; keep that path, " ANEW,
                              path, saved->checkpoint, saved->asked, saved->offset);
    return gale_error_set(error, GALE_INVALID,
                          "%s: is not the file that checkpoint %" PRIu64 " has read: what lies before byte %" PRId64
                          " differs, and no file beside it has that one's inode %" PRIu64 "; put it back, " ANEW,
                          path, saved->checkpoint, saved->offset, saved->inode);
}

static int refuse_changed(const gx_file_saved *saved, const char *path, gale_error *error) {
    return gale_error_set(error, GALE_INVALID,
                          "%s: was changed since checkpoint %" PRIu64 ": what lies before byte %" PRId64
                          " differs; put the file back, " ANEW,
                          path, saved->checkpoint, saved->offset);
}

static int refuse_short(const gx_file_saved *saved, const gx_file_about *about, const char *path, gale_error *error) {
    return gale_error_set(error, GALE_INVALID,
                          "%s: has %" PRId64 " bytes, but checkpoint %" PRIu64 " stands at byte %" PRId64
                          ": the file was truncated; put it back, " ANEW,
                          path, about->size, saved->checkpoint, saved->offset);
}

/* The open file is the one that was read, or holds what that one held. */
static int check(const gx_file_saved *saved, const gx_file_reader *reader, gx_file_position *position,
                 gale_error *error) {
    gx_file_about about;
    uint64_t content = 0;
    int rc = gx_file_about_open(reader->fd, reader->path, &about, error);
    if (rc < 0) return rc;
    bool same = about.inode == saved->inode;
    position->copied = !same;
    if (about.size < saved->offset)
        return same ? refuse_short(saved, &about, reader->path, error) : refuse_other(saved, reader->path, error);
    rc = gx_place_content(reader->fd, saved->offset, reader->path, &content, error);
    if (rc < 0 || content == saved->content) return rc;
    return (same ? refuse_changed : refuse_other)(saved, reader->path, error);
}

/* Opens what the file is called now, unless that is open. */
static int find(const gx_file_saved *saved, gx_file_reader *reader, gx_heap *heap, const char *path,
                const gx_file_rule *rule, gx_file_position *position, gale_error *error) {
    gx_file_about about;
    bool is_open = reader->path != NULL;
    int rc = is_open ? gx_file_about_open(reader->fd, path, &about, error) : GALE_OK;
    if (rc < 0 || (is_open && about.inode == saved->inode)) return rc;
    if (is_open && saved->renamed) return GALE_OK;
    position->elsewhere = !saved->renamed && gx_place_beside(path, saved->inode, position->name) > 0;
    if (!position->elsewhere) return is_open ? GALE_OK : refuse_gone(saved, path, error);
    gx_file_reader_close(reader);
    return gx_file_reader_open(reader, heap, position->name, rule, error);
}

/* --- Going on ----------------------------------------------------------------------------------------------------- */

/* What had been read to its end and is longer now is read on, but not by a run that had come to its own end. */
static int look_behind(const gx_file_saved *saved, const gx_file_reader *reader, gx_file_position *position,
                       gale_error *error) {
    gx_file_about about;
    if (!saved->at_end) return GALE_OK;
    int rc = gx_file_about_open(reader->fd, reader->path, &about, error);
    if (rc < 0) return rc;
    position->grown = about.size - gx_file_reader_next_at(reader);
    position->at_end = position->grown == 0;
    if (position->at_end || !saved->is_end) return GALE_OK;
    return gale_error_set(error, GALE_INVALID,
                          "%s: has grown by %" PRId64 " bytes since the run came to its end with checkpoint %" PRIu64
                          ": its results are finished without them; begin anew with another state folder",
                          reader->path, position->grown, saved->checkpoint);
}

static int go_to(const gx_file_saved *saved, gx_file_reader *reader, gx_file_position *position, gale_error *error) {
    int64_t offset = saved->offset;
    int rc = gx_file_reader_behind_end(reader, &offset, error);
    if (rc < 0) return rc;
    gx_file_reader_seek(reader, offset, saved->lines);
    return look_behind(saved, reader, position, error);
}

int gx_file_position_check(const gx_file_saved *saved, const gx_file_reader *reader, gale_error *error) {
    gx_file_position position = { .at_end = false };
    return saved->regular && reader->regular ? check(saved, reader, &position, error) : GALE_OK;
}

int gx_file_position_restore(gx_file_reader *reader, gx_heap *heap, const char *path, const gx_file_rule *rule,
                             const gx_file_saved *saved, gx_file_position *ret_position, gale_error *error) {
    *ret_position = (gx_file_position){ .found = saved->found };
    if (!saved->regular || (reader->path && !reader->regular)) return check_pipe(saved, path, error);
    int rc = find(saved, reader, heap, path, rule, ret_position, error);
    if (rc == GALE_OK) rc = check(saved, reader, ret_position, error);
    return rc == GALE_OK ? go_to(saved, reader, ret_position, error) : rc;
}
