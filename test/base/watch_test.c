#include "base/os/watch.h"

#include "harness/cm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct fixture {
    gx_watch watch;
    char folder[40], path[60], other[60];
    int folder_id, file_id;
    char told[400];
} fixture;

static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    snprintf(f->folder, sizeof f->folder, "/tmp/gale_watch_XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->path, sizeof f->path, "%s/file", f->folder);
    snprintf(f->other, sizeof f->other, "%s/other", f->folder);
    assert_int_equal(gx_watch_open(&f->watch, NULL), GALE_OK);
    f->folder_id = gx_watch_folder(&f->watch, f->folder, NULL);
    assert_true(f->folder_id >= 0);
    f->file_id = -1;
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    gx_watch_close(&f->watch);
    gx_watch_use(NULL);
    unlink(f->path);
    unlink(f->other);
    rmdir(f->folder);
    free(f);
    return 0;
}

/* "folder/NAME ", "file:bytes ", "file:ended " */
static void note(void *user, int id, gx_watch_what what, const char *name) {
    static const char *const words[] = { "name", "bytes", "ended", "lost" };
    fixture *f = user;
    size_t at = strlen(f->told);
    if (what == GX_WATCH_NAME)
        snprintf(f->told + at, sizeof f->told - at, "%s/%s ", id == f->folder_id ? "folder" : "?", name);
    else if (id == f->file_id)
        snprintf(f->told + at, sizeof f->told - at, "file:%s ", words[what]);
}

static const char *told(fixture *f) {
    f->told[0] = 0;
    gx_watch_take(&f->watch, note, f);
    return f->told;
}

static int make(fixture *f, const char *path) {
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    assert_true(fd >= 0);
    f->file_id = gx_watch_file(&f->watch, fd, path, NULL);
    assert_true(f->file_id >= 0);
    return fd;
}

static void a_folder_tells_of_names(void **state) {
    fixture *f = *state;
    assert_string_equal(told(f), "");
    close(make(f, f->path));
    assert_string_equal(told(f), "folder/file ");
    assert_int_equal(rename(f->path, f->other), 0);
    assert_string_equal(told(f), "folder/file folder/other file:bytes ");
    assert_string_equal(told(f), "");
}

static void a_file_tells_of_bytes_whatever_it_is_called(void **state) {
    fixture *f = *state;
    int fd = make(f, f->path);
    assert_int_equal(rename(f->path, f->other), 0);
    told(f);
    assert_int_equal(write(fd, "x", 1), 1);
    assert_string_equal(told(f), "file:bytes ");
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_string_equal(told(f), "file:bytes ");
    gx_watch_forget(&f->watch, f->file_id);
    told(f);
    assert_int_equal(write(fd, "x", 1), 1);
    assert_string_equal(told(f), "");
    close(fd);
}

static void the_end_of_a_file_is_told(void **state) {
    fixture *f = *state;
    int fd = make(f, f->path);
    told(f);
    assert_int_equal(unlink(f->path), 0);
    assert_non_null(strstr(told(f), "file:bytes ")); /* it has no name left, and is open still */
    assert_non_null(strstr(f->told, "folder/file "));
    close(fd);
    assert_non_null(strstr(told(f), "file:ended "));
}

static int refuse_add(int fd, const char *path, uint32_t mask) {
    (void)fd, (void)path, (void)mask;
    errno = ENOSPC;
    return -1;
}

static int refuse_open(int flags) {
    (void)flags;
    errno = EMFILE;
    return -1;
}

static void what_limits_it_is_named(void **state) {
    fixture *f = *state;
    static const gx_watch_calls none = { refuse_open, refuse_add };
    gale_error error = GALE_ERROR_INIT;
    gx_watch watch;
    gx_watch_use(&none);
    assert_int_equal(gx_watch_open(&watch, &error), GALE_IO);
    assert_non_null(strstr(error.text, "fs.inotify.max_user_instances"));
    assert_int_equal(gx_watch_folder(&f->watch, f->folder, &error), GALE_IO);
    assert_non_null(strstr(error.text, "fs.inotify.max_user_watches"));
    gx_watch_use(NULL);
    assert_int_equal(gx_watch_folder(&f->watch, "/tmp/gale_no_such_folder", &error), GALE_NOT_FOUND);
    assert_int_equal(gx_watch_self(&f->watch, "/tmp/gale_no_such_folder", &error), GALE_NOT_FOUND);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(a_folder_tells_of_names),
        CASE(a_file_tells_of_bytes_whatever_it_is_called),
        CASE(the_end_of_a_file_is_told),
        CASE(what_limits_it_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
