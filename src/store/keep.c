#include "store/keep.h"

#include "base/os/disk.h"
#include "base/os/entropy.h"
#include "base/os/folder.h"
#include "base/os/time.h"

#include <errno.h>
#include <gale_store.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char asked[] = GX_STORE_HEAD ".keep.";

/* What makes it a store comes last, and goes last. */
static const char *const files[] = { GX_STORE_DATA, GX_STORE_LOG, GX_STORE_MARK, GX_STORE_HEAD, NULL };

/* What was killed while it wrote one leaves (gx_file_replace); a head's own is gone when another one was written. */
static const char *const unfinished[] = { GX_STORE_MARK ".new", NULL };

static int join(const char *folder, const char *name, char ret_path[GX_FILE_NAME_SIZE], gale_error *error) {
    if (strlen(folder) + strlen(name) + 32 > GX_FILE_PATH_MAX)
        return gale_error_set(error, GALE_TOO_LARGE, "the path of the folder '%.100s...' is too long", folder);
    snprintf(ret_path, GX_FILE_NAME_SIZE, "%.*s/%s", GX_FILE_PATH_MAX, folder, name);
    return GALE_OK;
}

/* --- Who is asked ------------------------------------------------------------------------------------------------- */

/* Not its lock, and not what is being written. */
static bool is_request(const char *name) {
    const char *number = name + sizeof asked - 1;
    return *number && !strchr(number, '.');
}

static int find_one(void *user, const char *name) {
    (void)user;
    return is_request(name);
}

bool gx_keep_is_asked(const gx_store *store) {
    return gx_folder_each(store->folder, asked, find_one, NULL, NULL) > 0;
}

static void answer(const char *path, int rc, const gale_error *why) {
    char text[GALE_ERROR_TEXT + 40];
    if (rc == GALE_OK) {
        (void)gx_disk_now()->unlink(path);
        return;
    }
    int size = snprintf(text, sizeof text, "failed %d\n%s", rc, why->length ? why->text : gale_error_text(rc));
    if (gx_file_replace(path, text, (size_t)size, NULL) < 0) (void)gx_disk_now()->unlink(path);
}

/* The folder that it names, in `text`, or NULL. */
static const char *folder_in(char *text) {
    char *folder = strncmp(text, "keep\n", 5) == 0 ? text + 5 : NULL, *end = folder ? strchr(folder, '\n') : NULL;
    if (!end || end == folder || end[1]) return NULL;
    *end = 0;
    return folder;
}

static int serve_one(void *user, const char *name) {
    const gx_store *store = user;
    char path[GX_FILE_NAME_SIZE], *text = NULL;
    gale_error error = GALE_ERROR_INIT;
    gx_lock lock = { .held = false };
    size_t size;
    if (!is_request(name) || join(store->folder, name, path, NULL) < 0) return 0;
    if (gx_lock_take(&lock, path, NULL) != GALE_STATE) { /* who asked has gone */
        (void)gx_disk_now()->unlink(path);
        gx_lock_release(&lock, path);
        return 0;
    }
    if (gx_file_read_own(path, 2 * GX_FILE_PATH_MAX, &text, &size, NULL) < 0) return 0;
    const char *to = folder_in(text);
    if (to) answer(path, gx_folder_copy(store->folder, to, files, &error), &error);
    free(text);
    return 0;
}

void gx_keep_serve(const gx_store *store) {
    (void)gx_folder_each(store->folder, asked, serve_one, (void *)store, NULL);
}

/* --- Who asks ----------------------------------------------------------------------------------------------------- */

static int check_there(const char *head, const char *folder, gale_error *error) {
    gx_file_about about;
    int rc = gx_file_about_path(head, &about, error);
    return rc == GALE_NOT_FOUND ? gale_error_set(error, rc, "there is no store in '%s'", folder) : rc;
}

/* GALE_STATE: another process has it. */
static int copy_locked(const char *from, const char *head, const char *to, gale_error *error) {
    gx_lock lock = { .held = false };
    int rc = gx_lock_take(&lock, head, error);
    if (rc < 0) return rc;
    rc = gx_folder_copy(from, to, files, error);
    gx_lock_release(&lock, head);
    return rc == GALE_STATE ? GALE_IO : rc;
}

int gale_store_copy(const char *from, const char *to, gale_error *error) {
    char head[GX_FILE_NAME_SIZE];
    if (!from || !*from || !to || !*to) return gale_error_set(error, GALE_INVALID, "gale_store_copy: no folder");
    int rc = join(from, GX_STORE_HEAD, head, error);
    if (rc == GALE_OK) rc = check_there(head, from, error);
    return rc == GALE_OK ? copy_locked(from, head, to, error) : rc;
}

/* The other process has another working folder, perhaps. */
static int make_absolute(const char *path, char ret_path[GX_FILE_NAME_SIZE], gale_error *error) {
    char here[GX_FILE_PATH_MAX];
    if (strchr(path, '\n')) return gale_error_set(error, GALE_INVALID, "the name of a folder has one line");
    bool whole = *path == '/';
    if (!whole && !getcwd(here, sizeof here))
        return gale_error_set(error, GALE_IO, "cannot tell the working folder: %s", strerror(errno));
    int size = snprintf(ret_path, GX_FILE_NAME_SIZE, "%s%s%s", whole ? "" : here, whole ? "" : "/", path);
    if (size + 32 <= GX_FILE_PATH_MAX) return GALE_OK;
    return gale_error_set(error, GALE_TOO_LARGE, "the path of the folder '%.100s...' is too long", path);
}

typedef struct request {
    char path[GX_FILE_NAME_SIZE];
    gx_lock lock; /* says that he who asks still waits */
} request;

static int ask(request *made, const char *from, const char *to, gale_error *error) {
    char name[64], whole[GX_FILE_NAME_SIZE], text[GX_FILE_NAME_SIZE + 16];
    snprintf(name, sizeof name, "%s%016" PRIx64, asked, gx_os_entropy());
    *made = (request){ .lock = { .held = false } };
    int rc = make_absolute(to, whole, error);
    if (rc == GALE_OK) rc = join(from, name, made->path, error);
    if (rc == GALE_OK) rc = gx_lock_take(&made->lock, made->path, error);
    if (rc < 0) return rc;
    int size = snprintf(text, sizeof text, "keep\n%s\n", whole);
    rc = gx_file_replace(made->path, text, (size_t)size, error);
    if (rc < 0) gx_lock_release(&made->lock, made->path);
    return rc;
}

static void withdraw(request *made) {
    (void)gx_disk_now()->unlink(made->path);
    gx_lock_release(&made->lock, made->path);
}

/* What the other process has answered: GALE_AGAIN, nothing yet. */
static int read_answer(const request *made, const char *to, gale_error *error) {
    char *text = NULL, *why;
    size_t size;
    int rc = gx_file_read_own(made->path, 2 * GX_FILE_PATH_MAX, &text, &size, error);
    if (rc == GALE_NOT_FOUND) {
        rc = gx_folder_look(to, error);
        return rc == GALE_NOT_FOUND ? gale_error_set(error, GALE_IO, "'%s' was made, and is gone", to) : rc;
    }
    if (rc < 0) return rc;
    rc = GALE_AGAIN;
    if (strncmp(text, "failed ", 7) == 0) {
        long code = strtol(text + 7, &why, 10);
        rc = gale_error_set(error, code < 0 ? (int)code : GALE_IO, "%s", *why == '\n' ? why + 1 : "it has failed");
    }
    free(text);
    return rc;
}

int gale_store_keep(const char *from, const char *to, bool (*waits)(void *user), void *user, gale_error *error) {
    static const struct timespec pause = { 0, 50 * 1000 * 1000 };
    char head[GX_FILE_NAME_SIZE];
    gale_error who = GALE_ERROR_INIT;
    request made;
    int rc = gale_store_copy(from, to, &who);
    if (rc != GALE_STATE) return rc < 0 ? gale_error_set(error, rc, "%s", who.text) : rc;
    rc = gx_folder_check_free(to, error);
    if (rc == GALE_OK) rc = join(from, GX_STORE_HEAD, head, error);
    if (rc == GALE_OK) rc = ask(&made, from, to, error);
    if (rc < 0) return rc;
    while ((rc = read_answer(&made, to, error)) == GALE_AGAIN) {
        rc = copy_locked(from, head, to, &who);
        if (rc == GALE_EXISTS) rc = GALE_OK; /* it was made, and who made it died before he said so */
        if (rc != GALE_STATE) break;
        if (waits && !waits(user)) {
            rc = gale_error_set(error, GALE_STOPPED, "%s, and has not made the copy '%s'", who.text, to);
            break;
        }
        nanosleep(&pause, NULL);
    }
    withdraw(&made);
    if (rc < 0 && error && error->code == 0) gale_error_set(error, rc, "%s", who.text);
    return rc;
}

/* --- Removing ----------------------------------------------------------------------------------------------------- */

/* What killed ones have asked for. */
static int remove_request(void *user, const char *name) {
    char path[GX_FILE_NAME_SIZE];
    if (join(user, name, path, NULL) == GALE_OK) (void)gx_disk_now()->unlink(path);
    return 0;
}

/* First of all it becomes one that is still being made, in which nothing counts. */
static int remove_locked(const char *folder, const char *path, gale_error *error) {
    gx_head head = { .made = true, .topology = "removed" };
    (void)gx_head_read(path, &head, NULL);
    head.made = false;
    int rc = gx_head_write(path, &head, error);
    if (rc == GALE_OK) rc = gx_folder_each(folder, asked, remove_request, (void *)folder, error);
    if (rc == GALE_OK) rc = gx_folder_remove_files(folder, unfinished, error);
    if (rc == GALE_OK) rc = gx_folder_remove_files(folder, files, error);
    return rc == GALE_OK ? gx_file_sync_name(path, error) : rc;
}

int gale_store_remove(const char *folder, gale_error *error) {
    char path[GX_FILE_NAME_SIZE];
    gx_lock lock = { .held = false };
    if (!folder || !*folder) return gale_error_set(error, GALE_INVALID, "gale_store_remove: no folder");
    int rc = join(folder, GX_STORE_HEAD, path, error);
    if (rc == GALE_OK) rc = check_there(path, folder, error);
    if (rc == GALE_OK) rc = gx_lock_take(&lock, path, error);
    if (rc < 0) return rc;
    rc = remove_locked(folder, path, error);
    gx_lock_release(&lock, path);
    return rc;
}
