#include "topology/file_end.h"

#include "base/atomic.h"
#include "base/os/fate.h"
#include "base/os/lock.h"
#include "base/os/place.h"
#include "base/str.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct gx_file_end {
    gx_atomic32 holders;
    int fd;
    int reading;       /* the same file, to read; -1: it cannot be */
    bool named;        /* the disk has its name; the committer's thread */
    int64_t saved;     /* the size that was saved last */
    const char *asked; /* what the run was told to write, whatever the file is called now; behind the path */
    char path[];
};

/* --- Held by the task and by pledges ------------------------------------------------------------------------------ */

/* A descriptor to read what `fd` writes; -1: that is not allowed, or another file has the name by now. */
static int open_reading(int fd, const char *path, int *ret_reading, gale_error *error) {
    gx_file_about written, found;
    gale_error why = GALE_ERROR_INIT;
    *ret_reading = -1;
    int reading, rc = gx_file_open(path, &reading, NULL, &why);
    if (rc < 0) return errno == EACCES || errno == ENOENT ? GALE_OK : gale_error_set(error, rc, "%s", why.text);
    rc = gx_file_about_open(fd, path, &written, error);
    if (rc == GALE_OK) rc = gx_file_about_open(reading, path, &found, error);
    if (rc == GALE_OK && written.inode == found.inode && written.device == found.device)
        *ret_reading = reading;
    else
        gx_file_close(reading);
    return rc;
}

static int make(int fd, const char *path, const char *asked, gx_file_end **ret_end, gale_error *error) {
    size_t size = strlen(path) + 1, asked_size = strlen(asked) + 1;
    if (size > GX_FILE_PATH_MAX || asked_size > GX_FILE_PATH_MAX)
        return gale_error_set(error, GALE_TOO_LARGE, "'%.100s...': the path is too long", path);
    gx_file_end *end = malloc(sizeof *end + size + asked_size);
    if (!end) return gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", path);
    *end = (gx_file_end){ .holders = 1, .fd = fd };
    memcpy(end->path, path, size);
    end->asked = memcpy(end->path + size, asked, asked_size);
    int rc = open_reading(fd, path, &end->reading, error);
    if (rc < 0)
        free(end);
    else
        *ret_end = end;
    return rc;
}

int gx_file_end_make(int fd, const char *path, gx_file_end **ret_end, gale_error *error) {
    return make(fd, path, path, ret_end, error);
}

int gx_file_end_fd(const gx_file_end *end) {
    return end->fd;
}

const char *gx_file_end_path(const gx_file_end *end) {
    return end->path;
}

/* The last holder closes what all of them have used. */
int gx_file_end_close(gx_file_end *end, gale_error *error) {
    if (!end || gx_sub_acq_rel(&end->holders, 1) != 1) return GALE_OK;
    if (end->reading >= 0) gx_file_close(end->reading);
    int rc = gx_file_close_written(end->fd, end->path, error);
    free(end);
    return rc;
}

/* --- Saving ------------------------------------------------------------------------------------------------------- */

/* A file that somebody has renamed is written to on, and may be found by its inode. */
static int check_fate(const gx_file_end *end, int64_t least, gx_file_about *ret_about, gale_error *error) {
    int fate = gx_fate_of(end->fd, end->path, least, ret_about, error);
    if (fate <= GX_FATE_RENAMED) return fate < 0 ? fate : GALE_OK;
    gale_error why = GALE_ERROR_INIT;
    int rc = gx_fate_refuse((gx_fate)fate, end->path, ret_about, least, &why);
    return gale_error_set(
        error, rc,
        "%s; the run ends, since nothing that it writes from now on could be gone on with: put the file "
        "back and start again, or begin anew with another state folder",
        why.text);
}

/* A new name is synced after the bytes that it names. */
static int prepare(void *pledge, gale_error *error) {
    gx_file_end *end = pledge;
    int rc = gx_file_sync(end->fd, end->path, error);
    if (rc == GALE_OK && !end->named) rc = gx_file_sync_name(end->path, error);
    if (rc == GALE_OK) end->named = true;
    gx_file_about about;
    return rc == GALE_OK ? check_fate(end, end->saved, &about, error) : rc;
}

static void drop(void *pledge) {
    (void)gx_file_end_close(pledge, NULL);
}

static const gale_pledge_ops pledge_ops = { .size = sizeof pledge_ops, .prepare = prepare, .drop = drop };

/* Path, path as it was told, device, inode, size, has it a content?, its hash. */
int gx_file_end_values(gx_file_end *end, int64_t size, gale_value values[GX_FILE_END_VALUES], gale_error *error) {
    gx_file_about about;
    uint64_t content = 0;
    int rc = check_fate(end, size > end->saved ? size : end->saved, &about, error);
    if (rc == GALE_OK && end->reading >= 0) rc = gx_place_content(end->reading, size, end->path, &content, error);
    if (rc < 0) return rc;
    values[0] = gale_bytes(end->path, strlen(end->path));
    values[1] = gale_bytes(end->asked, strlen(end->asked));
    values[2] = gale_i64((int64_t)about.device);
    values[GX_FILE_END_INODE] = gale_i64((int64_t)about.inode);
    values[GX_FILE_END_SIZE] = gale_i64(size);
    values[5] = gale_bool(end->reading >= 0);
    values[6] = gale_i64((int64_t)content);
    end->saved = size;
    return GALE_OK;
}

/* And when it was made. */
enum { SAVED = GX_FILE_END_VALUES + 1 };

int gx_file_end_save(gx_file_end *end, int64_t size, gale_saver *to, gale_error *error) {
    gale_value values[SAVED];
    int rc = gx_file_end_values(end, size, values, error);
    if (rc < 0) return rc;
    values[GX_FILE_END_VALUES] = gale_i64(gx_file_born(end->fd, end->path));
    rc = gale_save(to, values, SAVED);
    if (rc < 0) return gale_error_set(error, rc, "%s: %s", end->path, gale_error_text(rc));
    gx_add_relaxed(&end->holders, 1);
    rc = gale_save_pledge(to, &pledge_ops, end);
    return rc < 0 ? gale_error_set(error, rc, "%s: %s", end->path, gale_error_text(rc)) : GALE_OK;
}

/* --- Going on ----------------------------------------------------------------------------------------------------- */

typedef struct saved_end {
    char path[GX_FILE_NAME_SIZE]; /* as it was called then */
    bool renamed; /* the run is told another path than then: the file that it names is meant, and no other */
    uint64_t checkpoint, inode, content;
    int64_t size, born; /* 0: that is not known */
    bool has_content;
} saved_end;

static bool is_record(const gale_value *values, size_t count) {
    if (count == SAVED && values[GX_FILE_END_VALUES].type != GALE_TYPE_I64) return false;
    return (count == GX_FILE_END_VALUES || count == SAVED) && values[0].type == GALE_TYPE_BYTES &&
           values[1].type == GALE_TYPE_BYTES && values[2].type == GALE_TYPE_I64 &&
           values[GX_FILE_END_INODE].type == GALE_TYPE_I64 && values[GX_FILE_END_SIZE].type == GALE_TYPE_I64 &&
           values[5].type == GALE_TYPE_BOOL && values[6].type == GALE_TYPE_I64 && values[0].size <= GX_FILE_PATH_MAX &&
           values[GX_FILE_END_SIZE].as.i64 >= 0;
}

static int take(const gale_value *values, size_t count, uint64_t checkpoint, const char *path, saved_end *ret_saved) {
    if (!is_record(values, count)) return GALE_DAMAGED;
    gale_str asked = { values[1].as.bytes, values[1].size };
    *ret_saved = (saved_end){ .checkpoint = checkpoint,
                              .inode = (uint64_t)values[GX_FILE_END_INODE].as.i64,
                              .content = (uint64_t)values[6].as.i64,
                              .size = values[GX_FILE_END_SIZE].as.i64,
                              .born = count == SAVED ? values[GX_FILE_END_VALUES].as.i64 : 0,
                              .has_content = values[5].as.boolean,
                              .renamed = !gx_str_is(asked, path) };
    if (values[0].size) memcpy(ret_saved->path, values[0].as.bytes, values[0].size);
    return GALE_OK;
}

#define ANEW "or begin anew with another state folder"

static int refuse_gone(const saved_end *saved, const char *path, gale_error *error) {
    if (strcmp(saved->path, path) != 0)
        return gale_error_set(error, GALE_INVALID,
                              "'%s': checkpoint %" PRIu64 " has written %" PRId64
                              " bytes to '%s', and this is not that "
                              "file; rename it, keep the old path, " ANEW,
                              path, saved->checkpoint, saved->size, saved->path);
    return gale_error_set(error, GALE_INVALID,
                          "'%s': checkpoint %" PRIu64 " has written %" PRId64
                          " bytes of it, and there is no such file, "
                          "nor one beside it of its inode %" PRIu64 "; put it back, " ANEW,
                          path, saved->checkpoint, saved->size, saved->inode);
}

static int refuse_other(const saved_end *saved, const gx_file_about *about, const char *path, gale_error *error) {
    if (strcmp(saved->path, path) != 0) return refuse_gone(saved, path, error);
    return gale_error_set(error, GALE_INVALID,
                          "'%s' is not the file that checkpoint %" PRIu64 " has written: its inode is %" PRIu64
                          ", not %" PRIu64
                          ", which is not beside it, and what it holds differs; put that one back, " ANEW,
                          path, saved->checkpoint, about->inode, saved->inode);
}

static int refuse_short(const saved_end *saved, const gx_file_about *about, const char *path, gale_error *error) {
    return gale_error_set(error, GALE_INVALID,
                          "'%s' has %" PRId64 " bytes, and checkpoint %" PRIu64 " has written %" PRId64
                          ": the rest is lost; put the file back, " ANEW,
                          path, about->size, saved->checkpoint, saved->size);
}

static int refuse_changed(const saved_end *saved, const char *path, gale_error *error) {
    return gale_error_set(error, GALE_INVALID,
                          "'%s' was changed since checkpoint %" PRIu64 ": what stands before byte %" PRId64
                          " is not what was written; put the file back, " ANEW,
                          path, saved->checkpoint, saved->size);
}

/* Is there what the checkpoint has written? 1, 0, or an error. */
static int has_content(const saved_end *saved, int fd, const char *path, gale_error *error) {
    uint64_t content = 0;
    int reading, rc = open_reading(fd, path, &reading, error);
    if (rc < 0) return rc;
    if (reading < 0) return gale_error_set(error, GALE_IO, "'%s' cannot be read, to see whether it was changed", path);
    rc = gx_place_content(reading, saved->size, path, &content, error);
    gx_file_close(reading);
    return rc < 0 ? rc : content == saved->content;
}

/* What is open is the file, whose inode is its own; or another one, which may be a copy. */
static int check(const saved_end *saved, int fd, const char *path, gx_file_end_found *found, gale_error *error) {
    gx_file_about about;
    int rc = gx_file_about_open(fd, path, &about, error);
    if (rc < 0) return rc;
    bool same = about.inode == saved->inode;
    found->cut = about.size - saved->size;
    found->copied = !same;
    /* Of a new file nothing is missing where nothing was written; one that holds something is somebody's. */
    if (!same && (!saved->size || !saved->has_content))
        return saved->size || about.size ? refuse_other(saved, &about, path, error) : GALE_OK;
    if (about.size < saved->size) return (same ? refuse_short : refuse_other)(saved, &about, path, error);
    if (!saved->has_content) return GALE_OK;
    rc = has_content(saved, fd, path, error);
    if (rc != 0) return rc < 0 ? rc : GALE_OK;
    return same ? refuse_changed(saved, path, error) : refuse_other(saved, &about, path, error);
}

/* Of nothing there is no content by which a file that took the inode over would be told from it. */
static bool is_it(const saved_end *saved, const char *name) {
    return saved->size || (saved->born && gx_file_born(-1, name) == saved->born);
}

/* The name that the file has now: its own, if it is that one or nothing else is found. */
static int find(const saved_end *saved, const char *path, char name[GX_FILE_NAME_SIZE], gx_file_end_found *found,
                gale_error *error) {
    gx_file_about about;
    if (strlen(path) > GX_FILE_PATH_MAX) return gale_error_set(error, GALE_TOO_LARGE, "the path is too long");
    int rc = gx_file_about_path(path, &about, error);
    if (rc < 0 && rc != GALE_NOT_FOUND) return rc;
    if (rc == GALE_OK && !about.regular)
        return gale_error_set(error, GALE_INVALID, "'%s' is no regular file; checkpoint %" PRIu64 " has written one",
                              path, saved->checkpoint);
    bool own = rc == GALE_OK && about.inode == saved->inode;
    found->elsewhere = !own && !saved->renamed && gx_place_beside(path, saved->inode, name) > 0 && is_it(saved, name);
    if (!found->elsewhere) memcpy(name, path, strlen(path) + 1);
    return rc == GALE_OK || found->elsewhere || !saved->size ? GALE_OK : refuse_gone(saved, path, error);
}

static int open_found(const saved_end *saved, int fd, const char *path, const char *asked, gx_file_end_found *found,
                      gx_file_end **ret_end, gale_error *error) {
    int rc = gx_lock_open(fd, path, error);
    if (rc == GALE_OK) rc = check(saved, fd, path, found, error);
    if (rc == GALE_OK) rc = make(fd, path, asked, ret_end, error);
    if (rc < 0) gx_file_close(fd);
    return rc;
}

static int refuse_record(int rc, const char *path, gale_error *error) {
    return gale_error_set(error, rc, "%s: what was saved of its end: %s", path, gale_error_text(rc));
}

int gx_file_end_find(const gale_value *values, size_t count, uint64_t checkpoint, const char *path,
                     gx_file_end **ret_end, gx_file_end_found *ret_found, gale_error *error) {
    saved_end saved;
    char name[GX_FILE_NAME_SIZE];
    gx_file_end_found found = { 0 };
    int fd;
    int rc = take(values, count, checkpoint, path, &saved);
    if (rc < 0) return refuse_record(rc, path, error);
    rc = find(&saved, path, name, &found, error);
    if (rc == GALE_OK) rc = gx_file_create(name, true, &fd, error);
    if (rc < 0) return rc;
    found.size = saved.size;
    rc = open_found(&saved, fd, name, path, &found, ret_end, error);
    if (rc == GALE_OK) *ret_found = found;
    return rc;
}

int gx_file_end_cut(const gx_file_end *end, const gx_file_end_found *found, gale_error *error) {
    if (found->cut == 0) return GALE_OK;
    int rc = gx_file_cut(end->fd, found->size, end->path, error);
    return rc < 0 ? rc : gx_file_sync(end->fd, end->path, error);
}

int gx_file_end_restore(gale_saved *from, const char *path, gx_file_end **ret_end, gx_file_end_found *ret_found,
                        gale_error *error) {
    const gale_value *values = NULL;
    size_t count = 0;
    int rc = gale_saved_next(from, &values, &count);
    if (rc < 0) return refuse_record(rc, path, error);
    rc = gx_file_end_find(values, rc ? count : 0, gale_saved_checkpoint(from), path, ret_end, ret_found, error);
    if (rc < 0) return rc;
    rc = gx_file_end_cut(*ret_end, ret_found, error);
    if (rc < 0) {
        (void)gx_file_end_close(*ret_end, NULL);
        *ret_end = NULL;
    }
    return rc;
}
