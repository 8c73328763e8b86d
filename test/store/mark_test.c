/* The two small files of a store. */
#include "store/mark.h"

#include "harness/cm.h"
#include "harness/faulty_disk.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[300];

static int setup(void **state) {
    const char *base = getenv("TMPDIR");
    (void)state;
    if (!base && access("/dev/shm", W_OK) == 0) base = "/dev/shm";
    snprintf(path, sizeof path, "%s/gale-mark-%ld", base ? base : "/tmp", (long)getpid());
    faulty_disk_use((faulty_plan){ .folder = path }); /* syncs are counted, and cost nothing */
    return 0;
}

static int teardown(void **state) {
    (void)state;
    faulty_disk_end();
    unlink(path);
    return 0;
}

static const gx_mark first = { UINT64_C(0xfeedbeef), 7, UINT64_C(0x1234567890abcdef), 99, true };

static bool equal(const gx_mark *a, const gx_mark *b) {
    return a->identity == b->identity && a->commit == b->commit && a->salt == b->salt && a->frames == b->frames &&
           a->needed == b->needed;
}

static size_t bytes_of(char bytes[4096]) {
    int fd = open(path, O_RDONLY);
    ssize_t size = read(fd, bytes, 4096);
    close(fd);
    return (size_t)size;
}

static void set_bytes(const char *bytes, size_t size) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(fd, bytes, size), (ssize_t)size);
    close(fd);
}

/* Marks of commits 8 .. last, each written over the one before the last. */
static void make_marks(uint64_t last) {
    gx_mark_file file;
    gx_mark mark = first;
    assert_int_equal(gx_mark_make(&file, path, &mark, NULL), 0);
    while (mark.commit < last) {
        mark.commit++;
        assert_int_equal(gx_mark_put(&file, &mark, NULL), 0);
    }
    gx_mark_close(&file);
}

static int commit_found(uint64_t *ret_commit, gale_error *error) {
    gx_mark_file file;
    gx_mark mark = { 0 };
    int rc = gx_mark_open(&file, path, true, &mark, error);
    gx_mark_close(&file);
    *ret_commit = mark.commit;
    return rc;
}

static void the_last_mark_that_was_put_is_found(void **state) {
    (void)state;
    gx_mark_file file;
    gx_mark mark = { 0 };
    make_marks(7);
    assert_int_equal(gx_mark_open(&file, path, true, &mark, NULL), 0);
    assert_true(equal(&mark, &first));
    gx_mark_close(&file);
    for (uint64_t last = 8; last < 12; last++) {
        uint64_t commit = 0;
        make_marks(last);
        assert_int_equal(commit_found(&commit, NULL), 0);
        assert_int_equal(commit, last);
    }
}

/* Every byte of the file, in both directions of the turn: what is found is the last mark or the one before. */
static void one_flipped_byte_leaves_the_last_mark_or_the_one_before(void **state) {
    (void)state;
    char bytes[4096];
    int before = 0;
    for (uint64_t last = 20; last < 22; last++) {
        make_marks(last);
        size_t size = bytes_of(bytes);
        for (size_t i = 0; i < size * 8; i++) {
            uint64_t commit = 0;
            bytes[i / 8] ^= (char)(1 << i % 8);
            set_bytes(bytes, size);
            bytes[i / 8] ^= (char)(1 << i % 8);
            assert_int_equal(commit_found(&commit, NULL), 0);
            assert_in_range(commit, last - 1, last);
            before += commit == last - 1;
        }
    }
    assert_in_range(before, 1, 2 * 256 * 8);
}

static void a_file_that_was_cut_keeps_what_is_whole_or_is_refused(void **state) {
    (void)state;
    char bytes[4096];
    make_marks(20);
    size_t size = bytes_of(bytes);
    for (size_t cut = 0; cut < size; cut++) {
        gale_error error = GALE_ERROR_INIT;
        uint64_t commit = 0;
        set_bytes(bytes, cut);
        int rc = commit_found(&commit, &error);
        assert_int_equal(rc, cut < size / 2 ? GALE_DAMAGED : 0);
        if (rc == 0) assert_in_range(commit, 19, 20);
        if (rc < 0) assert_non_null(strstr(error.text, path));
    }
}

static void a_damaged_place_is_the_next_to_be_written_over(void **state) {
    (void)state;
    char bytes[4096];
    uint64_t commit = 0;
    gx_mark_file file;
    gx_mark mark;
    make_marks(21); /* in the second place */
    size_t size = bytes_of(bytes);
    assert_int_equal(commit_found(&commit, NULL), 0);
    for (int place = 0; place < 2; place++) {
        char copy[4096];
        memcpy(copy, bytes, size);
        copy[place * 256 + 3] ^= 1;
        set_bytes(copy, size);
        assert_int_equal(gx_mark_open(&file, path, true, &mark, NULL), 0);
        mark.commit = 30;
        assert_int_equal(gx_mark_put(&file, &mark, NULL), 0);
        gx_mark_close(&file);
        assert_int_equal(commit_found(&commit, NULL), 0);
        assert_int_equal(commit, 30);
    }
}

static void a_mark_that_is_missing_is_damage(void **state) {
    (void)state;
    gale_error error = GALE_ERROR_INIT;
    uint64_t commit = 0;
    char expected[400];
    assert_int_equal(commit_found(&commit, &error), GALE_DAMAGED);
    snprintf(expected, sizeof expected, "'%s' is missing", path);
    assert_string_equal(error.text, expected);
}

static void a_head_comes_back_and_is_refused_with_any_byte_flipped_or_cut_off(void **state) {
    (void)state;
    gx_head head = { 42, true, "words of mine" }, found = { 0 };
    char bytes[4096];
    assert_int_equal(gx_head_read(path, &found, NULL), GALE_NOT_FOUND);
    assert_int_equal(gx_head_write(path, &head, NULL), 0);
    assert_int_equal(gx_head_read(path, &found, NULL), 0);
    assert_int_equal(found.identity, 42);
    assert_true(found.made);
    assert_string_equal(found.topology, "words of mine");
    size_t size = bytes_of(bytes);
    for (size_t i = 0; i < size * 8; i++) {
        bytes[i / 8] ^= (char)(1 << i % 8);
        set_bytes(bytes, size);
        bytes[i / 8] ^= (char)(1 << i % 8);
        assert_int_equal(gx_head_read(path, &found, NULL), GALE_DAMAGED);
    }
    for (size_t cut = 0; cut < size; cut++) {
        set_bytes(bytes, cut);
        assert_int_equal(gx_head_read(path, &found, NULL), GALE_DAMAGED);
    }
}

static void a_head_of_another_format_says_which(void **state) {
    (void)state;
    gale_error error = GALE_ERROR_INIT;
    gx_head found;
    char expected[500];
    assert_int_equal(gx_seal_write(path, "gale-store 2 and whatever it has\n", NULL), 0);
    assert_int_equal(gx_head_read(path, &found, &error), GALE_UNSUPPORTED);
    snprintf(expected, sizeof expected,
             "'%s' says that the store is of format 2; gale " GALE_VERSION_TEXT " knows format 1", path);
    assert_string_equal(error.text, expected);
    assert_int_equal(gx_seal_write(path, "gale-store 1 made 0123456789abcdef\nwords\nmore\n", NULL), 0);
    assert_int_equal(gx_head_read(path, &found, &error), GALE_DAMAGED);
    assert_int_equal(gx_seal_write(path, "gale-store 1 hardly 0123456789abcdef\nwords\n", NULL), 0);
    assert_int_equal(gx_head_read(path, &found, &error), GALE_DAMAGED);
    assert_int_equal(gx_seal_write(path, "something\n", NULL), 0);
    assert_int_equal(gx_head_read(path, &found, &error), GALE_DAMAGED);
}

/* Files of today must be read by every later release. */
static void the_text_is_a_promise(void **state) {
    (void)state;
    char bytes[4096] = "";
    gx_head head = { UINT64_C(0x0123456789abcdef), true, "words" };
    assert_int_equal(gx_head_write(path, &head, NULL), 0);
    size_t size = bytes_of(bytes);
    bytes[size] = 0;
    assert_string_equal(bytes, "gale-store 1 made 0123456789abcdef\nwords\nedb60c567710c8c0\n");
    make_marks(7);
    size = bytes_of(bytes);
    assert_int_equal(size, 512);
    const char *begin = "gale-store-commit 1 00000000feedbeef 0 7 1234567890abcdef 99 log ";
    assert_memory_equal(bytes, begin, strlen(begin));
    assert_memory_equal(bytes + 239, "0a32cd4737e0f926\n", 17);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(the_last_mark_that_was_put_is_found),
        CASE(one_flipped_byte_leaves_the_last_mark_or_the_one_before),
        CASE(a_file_that_was_cut_keeps_what_is_whole_or_is_refused),
        CASE(a_damaged_place_is_the_next_to_be_written_over),
        CASE(a_mark_that_is_missing_is_damage),
        CASE(a_head_comes_back_and_is_refused_with_any_byte_flipped_or_cut_off),
        CASE(a_head_of_another_format_says_which),
        CASE(the_text_is_a_promise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
