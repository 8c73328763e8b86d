#include "base/os/lock.h"

#include "harness/cm.h"
#include "harness/faulty_disk.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[] = "/tmp/gale-lock-test-XXXXXX";
static char path[60], name[70];

static int make_directory(void **state) {
    (void)state;
    if (!mkdtemp(directory)) return -1;
    snprintf(path, sizeof path, "%s/state", directory);
    snprintf(name, sizeof name, "%s.lock", path);
    return 0;
}

static int remove_directory(void **state) {
    (void)state;
    return rmdir(directory);
}

static void refuse(int code, const char *text) {
    gale_error error = GALE_ERROR_INIT;
    gx_lock lock = { .fd = 77 };
    assert_int_equal(gx_lock_take(&lock, path, &error), code);
    assert_string_equal(error.text, text);
    assert_false(lock.held);
    assert_int_equal(lock.fd, 77);
}

/* A process that holds the lock; it has it when this returns. */
static pid_t start_holder(void) {
    int ends[2];
    char byte = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        gx_lock lock = { 0 };
        byte = gx_lock_take(&lock, path, NULL) == 0;
        if (write(ends[1], &byte, 1) != 1) _exit(1);
        for (;;) pause();
    }
    assert_true(child > 0);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    assert_int_equal(byte, 1);
    close(ends[0]);
    close(ends[1]);
    return child;
}

static void end_holder(pid_t child) {
    int status;
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
}

static void a_lock_is_taken_released_and_taken_again(void **state) {
    (void)state;
    gx_lock lock = { 0 };
    struct stat found;
    gx_lock_release(&lock, path); /* not held: nothing */
    for (int i = 0; i < 3; i++) {
        assert_int_equal(gx_lock_take(&lock, path, NULL), GALE_OK);
        assert_true(lock.held);
        assert_int_equal(stat(name, &found), 0);
        assert_int_equal(found.st_mode & 0777, 0600);
        gx_lock_release(&lock, path);
        assert_false(lock.held);
        assert_int_equal(access(name, F_OK), -1);
    }
}

static void a_second_one_in_the_process_is_refused(void **state) {
    (void)state;
    gx_lock lock = { 0 };
    char text[200];
    assert_int_equal(gx_lock_take(&lock, path, NULL), GALE_OK);
    snprintf(text, sizeof text, "'%s' is in use by this process already, which holds '%s'", path, name);
    refuse(GALE_STATE, text);
    gx_lock_release(&lock, path);
}

static void the_process_that_has_it_is_named(void **state) {
    (void)state;
    char text[200];
    pid_t child = start_holder();
    snprintf(text, sizeof text, "'%s' is in use by process %ld, which holds '%s'", path, (long)child, name);
    refuse(GALE_STATE, text);
    end_holder(child);
    unlink(name);
}

static void what_a_killed_process_held_is_free(void **state) {
    (void)state;
    gx_lock lock = { 0 };
    char pid[24] = "", wanted[24];
    end_holder(start_holder());
    assert_int_equal(access(name, F_OK), 0);
    assert_int_equal(gx_lock_take(&lock, path, NULL), GALE_OK);
    FILE *file = fopen(name, "r");
    assert_non_null(file);
    assert_non_null(fgets(pid, sizeof pid, file));
    fclose(file);
    snprintf(wanted, sizeof wanted, "%ld\n", (long)getpid());
    assert_string_equal(pid, wanted);
    gx_lock_release(&lock, path);
}

static void the_file_may_be_replaced_meanwhile(void **state) {
    (void)state;
    gx_lock lock = { 0 };
    char text[200];
    assert_int_equal(gx_lock_take(&lock, path, NULL), GALE_OK);
    assert_int_equal(gx_file_replace(path, "x", 1, NULL), GALE_OK);
    snprintf(text, sizeof text, "'%s' is in use by this process already, which holds '%s'", path, name);
    refuse(GALE_STATE, text);
    gx_lock_release(&lock, path);
    unlink(path);
}

static void the_lock_of_another_is_not_removed(void **state) {
    (void)state;
    gx_lock lock = { 0 };
    assert_int_equal(gx_lock_take(&lock, path, NULL), GALE_OK);
    unlink(name); /* somebody did */
    pid_t child = start_holder();
    gx_lock_release(&lock, path);
    assert_int_equal(access(name, F_OK), 0);
    end_holder(child);
    unlink(name);
}

static void what_is_no_regular_file_is_refused_at_once(void **state) {
    (void)state;
    char text[200], other[60];
    snprintf(other, sizeof other, "%s/other", directory);
    assert_int_equal(symlink(other, name), 0);
    snprintf(text, sizeof text, "cannot lock '%s': it is a symbolic link", name);
    refuse(GALE_IO, text);
    assert_int_equal(access(other, F_OK), -1);
    unlink(name);
    alarm(60);
    assert_int_equal(mkfifo(name, 0600), 0);
    snprintf(text, sizeof text, "cannot lock '%s': it is no regular file", name);
    refuse(GALE_IO, text);
    unlink(name);
    alarm(0);
    assert_int_equal(mkdir(name, 0700), 0);
    snprintf(text, sizeof text, "cannot lock '%s': Is a directory", name);
    refuse(GALE_IO, text);
    rmdir(name);
}

static void a_path_that_cannot_be_used_is_refused(void **state) {
    (void)state;
    gx_lock lock = { 0 };
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gx_lock_take(&lock, "/no/such/folder/x", &error), GALE_IO);
    assert_string_equal(error.text, "cannot lock '/no/such/folder/x.lock': No such file or directory");
    char *long_path = calloc(1, GX_FILE_PATH_MAX + 2);
    assert_non_null(long_path);
    memset(long_path, 'x', GX_FILE_PATH_MAX + 1);
    assert_int_equal(gx_lock_take(&lock, long_path, NULL), GALE_TOO_LARGE);
    free(long_path);
    assert_false(lock.held);
}

/* Whatever fails, a lock that is held excludes and one that is not is free. */
static void every_failing_call_is_survived(void **state) {
    (void)state;
    static const faulty_plan plans[] = { { directory, FAULTY_ONCE, EIO, 0 },
                                         { directory, FAULTY_ONCE, EINTR, 0 },
                                         { directory, FAULTY_FULL, 0, 0 },
                                         { directory, FAULTY_DEAD, 0, 0 } };
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        faulty_plan plan = plans[i];
        for (bool hit = true; hit;) {
            plan.at++;
            gx_lock lock = { 0 }, second = { 0 };
            gale_error error = GALE_ERROR_INIT;
            faulty_disk_use(plan);
            int rc = gx_lock_take(&lock, path, &error);
            hit = faulty_disk_end() > 0;
            assert_true(rc == GALE_OK || strstr(error.text, name));
            assert_int_equal(lock.held, rc == GALE_OK);
            assert_int_equal(gx_lock_take(&second, path, NULL), lock.held ? GALE_STATE : GALE_OK);
            gx_lock_release(&lock, path);
            gx_lock_release(&second, path);
            assert_int_equal(access(name, F_OK), -1);
        }
        assert_true(plan.at > 3);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lock_is_taken_released_and_taken_again),
        cmocka_unit_test(a_second_one_in_the_process_is_refused),
        cmocka_unit_test(the_process_that_has_it_is_named),
        cmocka_unit_test(what_a_killed_process_held_is_free),
        cmocka_unit_test(the_file_may_be_replaced_meanwhile),
        cmocka_unit_test(the_lock_of_another_is_not_removed),
        cmocka_unit_test(what_is_no_regular_file_is_refused_at_once),
        cmocka_unit_test(a_path_that_cannot_be_used_is_refused),
        cmocka_unit_test(every_failing_call_is_survived),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
