#include "connect/file/rotation.h"

#include "base/os/fate.h"
#include "base/os/folder.h"
#include "base/os/lock.h"

#include <inttypes.h>
#include <stdio.h>

enum { DIGITS = 6, DIGITS_MAX = 18 };

static const char packed[] = ".gz";

/* What stands before the number, and behind it. */
static size_t split(const char *path, const char **ret_ending) {
    size_t size = strlen(path), ending = sizeof packed - 1;
    bool is_packed = size > ending && strcmp(path + size - ending, packed) == 0;
    *ret_ending = is_packed ? packed : "";
    return is_packed ? size - ending : size;
}

int gx_rotation_name(const char *path, uint64_t number, char name[GX_FILE_NAME_SIZE], gale_error *error) {
    const char *ending;
    size_t stem = split(path, &ending);
    int size = snprintf(name, GX_FILE_NAME_SIZE, "%.*s.%0*" PRIu64 "%s", (int)stem, path, DIGITS, number, ending);
    if (size <= GX_FILE_PATH_MAX) return 0;
    return gale_error_set(error, GALE_TOO_LARGE, "'%.100s...': the path is too long", path);
}

/* --- Those that are there --- */

typedef struct walk {
    const char *path, *ending;
    size_t before, stem; /* bytes of the folder, with its '/', and of the name before the number */
    uint64_t from, to;   /* these are removed */
    uint64_t last, removed;
    gale_error *error;
} walk;

/* 0: it is none. */
static uint64_t number_of(const walk *w, const char *name) {
    gale_str rest = gx_str(name + w->stem + 1);
    size_t ending = strlen(w->ending), digits = rest.size - ending;
    uint64_t number;
    if (rest.size < ending + DIGITS || digits > DIGITS_MAX || strcmp(rest.data + digits, w->ending) != 0) return 0;
    if (digits > DIGITS && rest.data[0] == '0') return 0;
    return gx_str_number((gale_str){ rest.data, digits }, 10, UINT64_MAX, &number) ? number : 0;
}

static int visit(void *user, const char *name) {
    walk *w = user;
    char path[GX_FILE_NAME_SIZE];
    uint64_t number = number_of(w, name);
    if (!number) return 0;
    if (number > w->last) w->last = number;
    if (number < w->from || number > w->to) return 0;
    int rc = gx_rotation_name(w->path, number, path, w->error);
    w->removed++;
    return rc < 0 ? rc : gx_file_remove(path, w->error);
}

static int go_through(walk *w, gale_error *error) {
    char folder[GX_FILE_NAME_SIZE], prefix[GX_FILE_NAME_SIZE];
    const char *slash = strrchr(w->path, '/');
    size_t stem = split(w->path, &w->ending);
    if (strlen(w->path) > GX_FILE_PATH_MAX) return gale_error_set(error, GALE_TOO_LARGE, "the path is too long");
    w->before = slash ? (size_t)(slash + 1 - w->path) : 0;
    w->stem = stem > w->before ? stem - w->before : 0;
    w->error = error;
    snprintf(folder, sizeof folder, "%.*s", w->before ? (int)w->before : 1, w->before ? w->path : ".");
    snprintf(prefix, sizeof prefix, "%.*s.", (int)w->stem, w->path + w->before);
    return gx_folder_each(folder, prefix, visit, w, error);
}

int gx_rotation_last(const char *path, uint64_t *ret_number, gale_error *error) {
    walk w = { .path = path, .from = 1 };
    int rc = go_through(&w, error);
    if (rc == 0) *ret_number = w.last;
    return rc;
}

/* The last one goes last. */
int gx_rotation_forget(const char *path, uint64_t number, gale_error *error) {
    char name[GX_FILE_NAME_SIZE];
    walk w = { .path = path, .from = 1, .to = number - 1 };
    if (!number) return 0;
    int rc = gx_rotation_name(path, number, name, error);
    if (rc == 0) rc = go_through(&w, error);
    if (rc == 0 && w.removed) rc = gx_file_sync_name(path, error);
    return rc < 0 ? rc : gx_file_remove(name, error);
}

int gx_rotation_forget_rest(const char *path, uint64_t number, gale_error *error) {
    char name[GX_FILE_NAME_SIZE];
    gx_file_about about;
    if (!number) return 0;
    int rc = gx_rotation_name(path, number, name, error);
    if (rc == 0) rc = gx_file_about_path(name, &about, error);
    return rc < 0 ? rc == GALE_NOT_FOUND ? 0 : rc : gx_rotation_forget(path, number, error);
}

int gx_rotation_remove(const char *path, uint64_t number, gale_error *error) {
    walk w = { .path = path, .from = number, .to = UINT64_MAX };
    int rc = gx_folder_look_beside(path, error);
    return rc < 0 ? rc == GALE_NOT_FOUND ? 0 : rc : go_through(&w, error);
}

/* --- Going back --- */

/* Who else has the file, renames it, too. */
static int lock(const char *path, int *ret_fd, gale_error *error) {
    gx_file_about about;
    *ret_fd = -1;
    int rc = gx_file_about_path(path, &about, error);
    if (rc < 0 || !about.regular) return rc == GALE_NOT_FOUND ? 0 : rc;
    rc = gx_file_create(path, true, ret_fd, error);
    return rc < 0 ? rc : gx_lock_open(*ret_fd, path, error);
}

/* The last ones go first: where it is broken off, the number that says where to begin is still there. */
static int go_back(const char *path, const char *name, uint64_t next, bool *ret_undone, gale_error *error) {
    walk w = { .path = path, .from = next + 1, .to = UINT64_MAX };
    int rc = go_through(&w, error);
    if (rc == 0) rc = gx_file_sync_name(path, error);
    if (rc == 0) rc = gx_file_rename(name, path, error);
    if (rc == 0) rc = gx_file_sync_name(path, error);
    *ret_undone = rc == 0;
    return rc;
}

int gx_rotation_undo(const char *path, uint64_t next, bool *ret_undone, gale_error *error) {
    char name[GX_FILE_NAME_SIZE];
    gx_file_about about;
    int fd;
    *ret_undone = false;
    int rc = gx_rotation_name(path, next, name, error);
    if (rc == 0) rc = gx_file_about_path(name, &about, error);
    if (rc < 0) return rc == GALE_NOT_FOUND ? 0 : rc;
    rc = lock(path, &fd, error);
    if (rc == 0) rc = go_back(path, name, next, ret_undone, error);
    if (fd >= 0) gx_file_close(fd);
    return rc;
}

/* --- Going on --- */

int gx_rotation_next(gx_outputs_file *file, uint64_t *ret_next, gale_error *error) {
    uint64_t last = 0;
    int rc = file->next_number ? 0 : gx_rotation_last(file->path, &last, error);
    if (rc < 0) return rc;
    if (!file->next_number) file->next_number = last + 1;
    *ret_next = file->next_number;
    return 0;
}

static int begin_next(gx_outputs_file *file, gale_error *error) {
    gx_file_torn torn;
    const gale_file_codec *codec = file->output.codec;
    int rc = gx_file_output_close(&file->output, error);
    if (rc < 0) return rc;
    gx_file_output_await(&file->output, file->path);
    file->output.codec = codec;
    return gx_file_output_begin(&file->output, GX_FILE_BEHIND, &torn, error);
}

void gx_rotation_tell_change(const gale_context *context, const char *path, const gale_error *why) {
    if (why)
        gale_log(context->logger, GALE_LOG_ERROR, context->component, "%s; lines go on where they went", why->text);
    else
        gale_log(context->logger, GALE_LOG_INFO, context->component, "%s: was renamed, and is opened anew", path);
}

int gx_rotation_turn(gx_outputs_file *file, bool sync, gale_error *error) {
    char name[GX_FILE_NAME_SIZE];
    gx_file_about about;
    uint64_t next;
    int rc = gx_fate_check(file->output.fd, file->output.path, 0, error);
    if (rc == 0) rc = gx_rotation_next(file, &next, error);
    if (rc == 0) rc = gx_rotation_name(file->path, next, name, error);
    if (rc == 0) rc = gx_file_output_end(&file->output, error);
    if (rc == 0 && sync) rc = gx_file_output_sync(&file->output, error);
    if (rc < 0) return rc;
    rc = gx_file_about_path(name, &about, error);
    if (rc != GALE_NOT_FOUND)
        return rc < 0 ? rc
                      : gale_error_set(error, GALE_EXISTS, "'%s' is to be renamed to '%s', which is there", file->path,
                                       name);
    rc = gx_file_rename(file->output.path, name, error);
    if (rc == 0 && sync) rc = gx_file_sync_name(name, error);
    if (rc < 0) return rc;
    file->next_number++;
    file->unsynced = false;
    file->changed = true;
    return begin_next(file, error);
}
