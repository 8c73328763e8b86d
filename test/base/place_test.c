/* Places in files that were renamed, copied or changed. */
#include "base/os/place.h"

#include "harness/cm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[60], path[100], other[100];

static void put(const char *where, const char *bytes, size_t size) {
    FILE *file = fopen(where, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static uint64_t inode_of(const char *where) {
    gx_file_about about;
    assert_int_equal(gx_file_about_path(where, &about, NULL), GALE_OK);
    return about.inode;
}

static uint64_t content_of(const char *where, int64_t offset) {
    int fd;
    uint64_t hash = 0;
    assert_int_equal(gx_file_open(where, &fd, NULL, NULL), GALE_OK);
    assert_int_equal(gx_place_content(fd, offset, where, &hash, NULL), GALE_OK);
    gx_file_close(fd);
    return hash;
}

static int setup(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/gale_place_XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/log", folder);
    snprintf(other, sizeof other, "%s/log.1", folder);
    put(path, "a\n", 2);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    unlink(path);
    unlink(other);
    rmdir(other);
    rmdir(folder);
    return 0;
}

static void a_file_that_was_renamed_is_found_by_its_inode(void **state) {
    (void)state;
    char name[GX_FILE_NAME_SIZE];
    uint64_t inode = inode_of(path);
    assert_int_equal(gx_place_beside(path, inode, name), 0); /* itself is not beside itself */
    assert_int_equal(rename(path, other), 0);
    assert_int_equal(gx_place_beside(path, inode, name), 1);
    assert_string_equal(name, other);
    put(path, "b\n", 2);
    assert_int_equal(gx_place_beside(path, inode, name), 1);
    assert_string_equal(name, other);
    assert_int_equal(gx_place_beside(path, inode + 1000000, name), 0);
}

static void a_path_without_a_folder_is_of_the_current_one(void **state) {
    (void)state;
    char name[GX_FILE_NAME_SIZE], before[GX_FILE_NAME_SIZE];
    uint64_t inode = inode_of(path);
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(rename(path, other), 0);
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(gx_place_beside("log", inode, name), 1);
    assert_string_equal(name, "log.1");
    assert_int_equal(chdir(before), 0);
}

static void a_folder_is_no_such_file_and_one_that_is_not_there_has_none(void **state) {
    (void)state;
    char name[GX_FILE_NAME_SIZE];
    assert_int_equal(mkdir(other, 0700), 0);
    assert_int_equal(gx_place_beside(path, inode_of(other), name), 0);
    assert_int_equal(gx_place_beside("/no/such/folder/log", 7, name), 0);
}

/* Bytes in the middle are not looked at. */
static void content_is_the_first_bytes_and_the_last_before_the_place(void **state) {
    (void)state;
    enum { SIZE = 3 * GX_PLACE_SAMPLE };
    static char bytes[SIZE + 1];
    memset(bytes, 'x', SIZE);
    put(path, bytes, SIZE);
    uint64_t whole = content_of(path, SIZE);
    static const struct {
        size_t at;
        bool same;
    } changes[] = { { 0, false },
                    { GX_PLACE_SAMPLE - 1, false },
                    { GX_PLACE_SAMPLE, true },
                    { SIZE - GX_PLACE_SAMPLE - 1, true },
                    { SIZE - GX_PLACE_SAMPLE, false },
                    { SIZE - 1, false },
                    { SIZE, true } };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        memset(bytes, 'x', SIZE);
        bytes[changes[i].at] = 'y';
        put(path, bytes, changes[i].at == SIZE ? SIZE + 1 : SIZE);
        assert_int_equal(content_of(path, SIZE) == whole, changes[i].same);
    }
    put(path, bytes, SIZE - 1); /* one byte is missing */
    assert_int_not_equal(content_of(path, SIZE), whole);
    uint64_t nothing = content_of(path, 0);
    put(path, "z", 1);
    assert_int_equal(content_of(path, 0), nothing); /* of nothing, all are the same */
}

static void a_file_that_cannot_be_read_is_told(void **state) {
    (void)state;
    gale_error error = GALE_ERROR_INIT;
    uint64_t hash = 7;
    assert_int_equal(gx_place_content(-1, 10, "log", &hash, &error), GALE_IO);
    assert_string_equal(error.text, "cannot read 'log': Bad file descriptor");
    assert_int_equal(hash, 7);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(a_file_that_was_renamed_is_found_by_its_inode),
        CASE(a_path_without_a_folder_is_of_the_current_one),
        CASE(a_folder_is_no_such_file_and_one_that_is_not_there_has_none),
        CASE(content_is_the_first_bytes_and_the_last_before_the_place),
        CASE(a_file_that_cannot_be_read_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
