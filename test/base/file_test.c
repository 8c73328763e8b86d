#include "base/os/file.h"

#include "base/os/thread.h"
#include "harness/cm.h"
#include "harness/faulty_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/gale-file-test-XXXXXX";

static int make_directory(void **state) {
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state) {
    (void)state;
    return rmdir(directory);
}

static const char *path_of(const char *name) {
    static char path[100];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static void put(const char *path, bool append, const char *text) {
    int fd = -1;
    assert_int_equal(gx_file_create(path, append, &fd, NULL), GALE_OK);
    assert_int_equal(gx_file_write(fd, text, strlen(text), path, NULL), GALE_OK);
    gx_file_close(fd);
}

static void check_content(const char *path, const char *text) {
    char *bytes = NULL;
    size_t size = 0;
    assert_int_equal(gx_file_read_all(path, 1 << 20, &bytes, &size, NULL), GALE_OK);
    assert_int_equal(size, strlen(text));
    assert_string_equal(bytes, text);
    free(bytes);
}

static void what_is_written_is_read(void **state) {
    (void)state;
    const char *path = path_of("a");
    put(path, false, "");
    check_content(path, "");
    put(path, false, "one");
    put(path, true, "two");
    check_content(path, "onetwo");
    put(path, false, "3");
    check_content(path, "3");
    unlink(path);
}

static void reading_at_a_place_leaves_the_position(void **state) {
    (void)state;
    const char *path = path_of("b");
    put(path, false, "0123456789");
    int fd;
    bool seekable = false;
    char bytes[4];
    assert_int_equal(gx_file_open(path, &fd, &seekable, NULL), GALE_OK);
    assert_true(seekable);
    assert_int_equal(gx_file_read_at(fd, bytes, 4, 6, path, NULL), 4);
    assert_memory_equal(bytes, "6789", 4);
    assert_int_equal(gx_file_read_at(fd, bytes, 4, 8, path, NULL), 2);
    assert_int_equal(gx_file_read_at(fd, bytes, 4, 10, path, NULL), 0);
    assert_int_equal(gx_file_read(fd, bytes, 3, path, NULL), 3);
    assert_memory_equal(bytes, "012", 3);
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gx_file_read_at(fd, bytes, 4, -1, path, &error), GALE_IO);
    assert_non_null(strstr(error.text, "cannot read '"));
    gx_file_close(fd);
    unlink(path);
}

static void a_missing_file_is_named_and_nothing_is_touched(void **state) {
    (void)state;
    gale_error error = GALE_ERROR_INIT;
    int fd = -77;
    bool seekable = true;
    assert_int_equal(gx_file_open("no/such.txt", &fd, &seekable, &error), GALE_IO);
    assert_string_equal(error.text, "cannot open 'no/such.txt': No such file or directory");
    assert_int_equal(gx_file_create("no/such.txt", false, &fd, &error), GALE_IO);
    assert_string_equal(error.text, "cannot open 'no/such.txt' for writing: No such file or directory");
    assert_int_equal(gx_file_open("", &fd, &seekable, &error), GALE_IO);
    char *bytes = NULL;
    size_t size = 5;
    assert_int_equal(gx_file_read_all("no/such.txt", 10, &bytes, &size, NULL), GALE_IO);
    assert_int_equal(fd, -77);
    assert_true(seekable);
    assert_null(bytes);
    assert_int_equal(size, 5);
}

static void a_directory_is_refused_both_ways(void **state) {
    (void)state;
    gale_error error = GALE_ERROR_INIT;
    char expected[100];
    snprintf(expected, sizeof expected, "'%s' is a directory", directory);
    int fd = -77;
    assert_int_equal(gx_file_open(directory, &fd, NULL, &error), GALE_IO);
    assert_string_equal(error.text, expected);
    assert_int_equal(gx_file_create(directory, false, &fd, &error), GALE_IO);
    assert_string_equal(error.text, expected);
    assert_int_equal(gx_file_create(directory, true, &fd, &error), GALE_IO);
    assert_int_equal(fd, -77);
}

static void a_file_may_be_as_large_as_the_limit_and_no_larger(void **state) {
    (void)state;
    const char *path = path_of("c");
    gale_error error = GALE_ERROR_INIT;
    char *bytes = NULL;
    size_t size = 0;
    put(path, false, "0123456789");
    assert_int_equal(gx_file_read_all(path, 10, &bytes, &size, &error), GALE_OK);
    assert_int_equal(size, 10);
    free(bytes);
    bytes = NULL;
    assert_int_equal(gx_file_read_all(path, 9, &bytes, &size, &error), GALE_TOO_LARGE);
    assert_non_null(strstr(error.text, "is larger than 9 bytes"));
    assert_null(bytes);
    assert_int_equal(gx_file_read_all("/dev/zero", 100000, &bytes, &size, &error), GALE_TOO_LARGE);
    assert_null(bytes);
    unlink(path);
}

static void a_large_file_is_read_whole(void **state) {
    (void)state;
    const char *path = path_of("d");
    static char text[100001];
    for (size_t i = 0; i < sizeof text - 1; i++) text[i] = (char)('a' + i % 23);
    put(path, false, text);
    check_content(path, text);
    text[4095] = 0; /* as large as the first block, and one less */
    put(path, false, text);
    check_content(path, text);
    text[4094] = 0;
    put(path, false, text);
    check_content(path, text);
    unlink(path);
}

static void replace(const char *path, const char *text) {
    assert_int_equal(gx_file_replace(path, text, strlen(text), NULL), GALE_OK);
    check_content(path, text);
    char new_path[120];
    snprintf(new_path, sizeof new_path, "%s.new", path);
    assert_int_equal(access(new_path, F_OK), -1);
}

static void a_file_is_replaced_as_a_whole(void **state) {
    (void)state;
    const char *path = path_of("a");
    replace(path, "one");
    replace(path, "");
    replace(path, "a longer one");
    unlink(path);
    assert_int_equal(chdir(directory), 0);
    replace("b", "in the folder of the process");
    unlink("b");
    assert_int_equal(chdir("/"), 0);
}

static void a_file_that_cannot_be_replaced_stays(void **state) {
    (void)state;
    gale_error error = GALE_ERROR_INIT;
    const char *path = path_of("a");
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(gx_file_replace(path, "x", 1, &error), GALE_IO);
    assert_non_null(strstr(error.text, path));
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(gx_file_replace("/no/such/folder/x", "x", 1, NULL), GALE_IO);
    char long_path[GX_FILE_PATH_MAX + 2];
    memset(long_path, 'x', sizeof long_path - 1);
    long_path[sizeof long_path - 1] = 0;
    assert_int_equal(gx_file_replace(long_path, "x", 1, &error), GALE_TOO_LARGE);
}

static const char *new_of(const char *path) {
    static char name[120];
    snprintf(name, sizeof name, "%s.new", path);
    return name;
}

static void what_a_killed_run_left_beside_it_is_replaced_too(void **state) {
    (void)state;
    const char *path = path_of("a");
    char other[100];
    snprintf(other, sizeof other, "%s/other", directory);
    put(new_of(path), false, "half of");
    replace(path, "whole");
    put(other, false, "mine");
    assert_int_equal(link(other, new_of(path)), 0);
    replace(path, "whole again");
    check_content(other, "mine");
    unlink(other);
    unlink(path);
}

static void refuse_replace(const char *path, const char *what) {
    gale_error error = GALE_ERROR_INIT;
    char wanted[200];
    snprintf(wanted, sizeof wanted, "'%s.new' is in the way: it is %s; remove it", path, what);
    assert_int_equal(gx_file_replace(path, "x", 1, &error), GALE_IO);
    assert_string_equal(error.text, wanted);
    assert_int_equal(access(path, F_OK), -1);
}

static void a_link_beside_it_is_not_followed_and_a_pipe_not_waited_for(void **state) {
    (void)state;
    const char *path = path_of("a");
    char other[100];
    snprintf(other, sizeof other, "%s/other", directory);
    put(other, false, "mine");
    assert_int_equal(symlink(other, new_of(path)), 0);
    refuse_replace(path, "a symbolic link");
    check_content(other, "mine");
    unlink(other);
    refuse_replace(path, "a symbolic link"); /* that leads nowhere */
    assert_int_equal(access(other, F_OK), -1);
    unlink(new_of(path));
    alarm(60);
    assert_int_equal(mkfifo(new_of(path), 0600), 0);
    refuse_replace(path, "a pipe");
    unlink(new_of(path));
    alarm(0);
    assert_int_equal(mkdir(new_of(path), 0700), 0);
    refuse_replace(path, "a directory");
    rmdir(new_of(path));
}

static void a_file_that_was_replaced_is_its_owners_alone(void **state) {
    (void)state;
    const char *path = path_of("a");
    mode_t before = umask(0);
    struct stat found;
    put(path, false, "everybody's");
    replace(path, "mine");
    assert_int_equal(stat(path, &found), 0);
    assert_int_equal(found.st_mode & 0777, 0600);
    umask(before);
    unlink(path);
}

static void refuse_own(const char *path, const char *what) {
    gale_error error = GALE_ERROR_INIT;
    char wanted[200], *bytes = NULL;
    size_t size = 0;
    snprintf(wanted, sizeof wanted, "'%s' must be a regular file, and is %s", path, what);
    assert_int_equal(gx_file_read_own(path, 10, &bytes, &size, &error), GALE_INVALID);
    assert_string_equal(error.text, wanted);
    assert_null(bytes);
}

static void a_file_of_ones_own_is_read_and_nothing_else_in_its_place(void **state) {
    (void)state;
    const char *path = path_of("a");
    char *bytes = NULL;
    size_t size = 0;
    assert_int_equal(gx_file_read_own(path, 10, &bytes, &size, NULL), GALE_NOT_FOUND);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    refuse_own(path, "a symbolic link");
    unlink(path);
    alarm(60);
    assert_int_equal(mkfifo(path, 0600), 0);
    refuse_own(path, "a pipe");
    unlink(path);
    alarm(0);
    refuse_own(directory, "a directory");
    refuse_own("/dev/zero", "a device");
    put(path, false, "0123456789");
    assert_int_equal(gx_file_read_own(path, 9, &bytes, &size, NULL), GALE_TOO_LARGE);
    assert_int_equal(gx_file_read_own(path, 10, &bytes, &size, NULL), GALE_OK);
    assert_int_equal(size, 10);
    assert_string_equal(bytes, "0123456789");
    free(bytes);
    unlink(path);
}

static void a_file_is_looked_at_open_and_by_name(void **state) {
    (void)state;
    const char *path = path_of("a");
    gx_file_about by_name = { .size = 77 }, open_one;
    assert_int_equal(gx_file_about_path(path, &by_name, NULL), GALE_NOT_FOUND);
    assert_int_equal(by_name.size, 77);
    put(path, false, "four");
    int fd = -1;
    assert_int_equal(gx_file_open(path, &fd, NULL, NULL), GALE_OK);
    assert_int_equal(gx_file_about_path(path, &by_name, NULL), GALE_OK);
    assert_int_equal(gx_file_about_open(fd, path, &open_one, NULL), GALE_OK);
    assert_true(by_name.regular && open_one.regular);
    assert_int_equal(by_name.size, 4);
    assert_int_equal(open_one.size, 4);
    assert_int_equal(by_name.inode, open_one.inode);
    assert_int_equal(by_name.device, open_one.device);
    gx_file_close(fd);
    unlink(path);
    assert_int_equal(gx_file_about_path("/dev/null", &by_name, NULL), GALE_OK);
    assert_false(by_name.regular);
    assert_int_equal(gx_file_about_open(-1, "x", &by_name, NULL), GALE_IO);
}

static void the_standard_streams_are_dashes_and_stay_open(void **state) {
    (void)state;
    int in = -1, out = -1;
    bool seekable;
    assert_int_equal(gx_file_open("-", &in, &seekable, NULL), GALE_OK);
    assert_int_equal(in, STDIN_FILENO);
    assert_int_equal(gx_file_create("-", false, &out, NULL), GALE_OK);
    assert_int_equal(out, STDOUT_FILENO);
    gx_file_close(out);
    gx_file_close(STDERR_FILENO);
    assert_true(fcntl(STDOUT_FILENO, F_GETFD) >= 0);
    assert_true(fcntl(STDERR_FILENO, F_GETFD) >= 0);
}

static void a_pipe_without_reader_is_told_apart(void **state) {
    (void)state;
    gale_error error = GALE_ERROR_INIT;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    assert_int_equal(gx_file_write(ends[1], "x", 1, "-", &error), GALE_CLOSED_PIPE);
    assert_string_equal(error.text, "cannot write 'standard output': its reader has gone");
    close(ends[1]);
    assert_int_equal(gx_file_write(ends[1], "x", 1, "gone", &error), GALE_IO);
    assert_string_equal(error.text, "cannot write 'gone': Bad file descriptor");
    assert_int_equal(gx_file_write(ends[1], NULL, 0, "gone", &error), GALE_OK);
}

enum { FLOOD = 1 << 20 };

static void *flood(void *user) {
    int fd = *(int *)user;
    char *bytes = calloc(1, FLOOD);
    int result = bytes ? gx_file_write(fd, bytes, FLOOD, "pipe", NULL) : GALE_NO_MEMORY;
    free(bytes);
    close(fd);
    return (void *)(intptr_t)result;
}

static void a_non_blocking_pipe_is_waited_for_at_both_ends(void **state) {
    (void)state;
    int ends[2];
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    gx_thread writer = { 0 };
    assert_true(gx_thread_start(&writer, "writer", flood, &ends[1]));
    static char bytes[5000];
    int64_t sum = 0, got;
    while ((got = gx_file_read(ends[0], bytes, sizeof bytes, "pipe", NULL)) > 0) sum += got;
    assert_int_equal(got, 0);
    assert_int_equal(sum, FLOOD);
    assert_true(gx_thread_join(&writer, -1));
    close(ends[0]);
}

/* --- Faults --- */

static bool holds(const char *path, const char *text) {
    char *bytes = NULL;
    size_t size = 0;
    if (gx_file_read_all(path, 1 << 20, &bytes, &size, NULL) < 0) return false;
    bool same = size == strlen(text) && memcmp(bytes, text, size) == 0;
    free(bytes);
    return same;
}

/* Replaces "before" by "the next one" while the n-th call fails; true when there was one. */
static bool replace_under(faulty_plan plan, int *ret_code) {
    const char *path = path_of("a");
    put(path, false, "before");
    faulty_disk_use(plan);
    *ret_code = gx_file_replace(path, "the next one", 12, NULL);
    bool hit = faulty_disk_end() > 0;
    assert_true(holds(path, "the next one") || (*ret_code < 0 && holds(path, "before")));
    return hit;
}

static void any_call_may_fail_and_a_replaced_file_is_the_old_one_or_the_new(void **state) {
    (void)state;
    static const faulty_plan plans[] = {
        { directory, FAULTY_ONCE, EIO, 0 },
        { directory, FAULTY_ONCE, ENOSPC, 0 },
        { directory, FAULTY_FULL, 0, 0 },
        { directory, FAULTY_DEAD, 0, 0 },
    };
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
        faulty_plan plan = plans[i];
        int failures = 0, code;
        for (plan.at = 1; replace_under(plan, &code); plan.at++) failures += code < 0;
        assert_int_equal(code, GALE_OK);
        assert_true(failures >= 3); /* open, write, sync and rename at the least, or one write and what follows */
        assert_true(plan.at > 5);
    }
    unlink(path_of("a"));
    unlink(path_of("a.new"));
}

static void a_file_of_ones_own_that_cannot_be_looked_at_is_not_called_something_else(void **state) {
    (void)state;
    const char *path = path_of("a");
    put(path, false, "0123456789");
    int code = GALE_IO;
    for (uint64_t n = 1; code < 0; n++) {
        gale_error error = GALE_ERROR_INIT;
        char *bytes = NULL;
        size_t size = 0;
        faulty_disk_use((faulty_plan){ directory, FAULTY_ONCE, EIO, n });
        code = gx_file_read_own(path, 10, &bytes, &size, &error);
        if (faulty_disk_end() && strcmp(faulty_disk_hit(), "close") != 0) {
            assert_int_equal(code, GALE_IO);
            assert_non_null(strstr(error.text, strerror(EIO)));
        }
        free(bytes);
    }
    unlink(path);
}

static void a_call_that_is_interrupted_or_short_is_gone_on_with(void **state) {
    (void)state;
    static const faulty_plan plans[] = { { directory, FAULTY_ONCE, EINTR, 0 }, { directory, FAULTY_SHORT, 0, 0 } };
    for (size_t i = 0; i < 2; i++)
        for (uint64_t n = 1; n <= 5; n++) { /* open, write, sync, close; rename is never interrupted */
            faulty_plan plan = plans[i];
            int code;
            plan.at = n;
            replace_under(plan, &code);
            if (strcmp(faulty_disk_hit(), "rename") != 0) assert_int_equal(code, GALE_OK);
        }
    unlink(path_of("a"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(reading_at_a_place_leaves_the_position),
        cmocka_unit_test(a_missing_file_is_named_and_nothing_is_touched),
        cmocka_unit_test(a_directory_is_refused_both_ways),
        cmocka_unit_test(a_file_may_be_as_large_as_the_limit_and_no_larger),
        cmocka_unit_test(a_large_file_is_read_whole),
        cmocka_unit_test(a_file_is_replaced_as_a_whole),
        cmocka_unit_test(a_file_that_cannot_be_replaced_stays),
        cmocka_unit_test(what_a_killed_run_left_beside_it_is_replaced_too),
        cmocka_unit_test(a_link_beside_it_is_not_followed_and_a_pipe_not_waited_for),
        cmocka_unit_test(a_file_that_was_replaced_is_its_owners_alone),
        cmocka_unit_test(a_file_of_ones_own_is_read_and_nothing_else_in_its_place),
        cmocka_unit_test(a_file_is_looked_at_open_and_by_name),
        cmocka_unit_test(the_standard_streams_are_dashes_and_stay_open),
        cmocka_unit_test(a_pipe_without_reader_is_told_apart),
        cmocka_unit_test(a_non_blocking_pipe_is_waited_for_at_both_ends),
        cmocka_unit_test(any_call_may_fail_and_a_replaced_file_is_the_old_one_or_the_new),
        cmocka_unit_test(a_file_of_ones_own_that_cannot_be_looked_at_is_not_called_something_else),
        cmocka_unit_test(a_call_that_is_interrupted_or_short_is_gone_on_with),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
