#include "topology/file_swap.h"

#include "harness/cm.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct place {
    char folder[30], path[60], old[60], older[60];
    int fd; /* of what was at the path */
} place;

static int make(const char *path, const char *text) {
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    return fd;
}

static int64_t size_of(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 ? about.st_size : -1;
}

static int setup(void **state) {
    place *p = calloc(1, sizeof *p);
    strcpy(p->folder, "/tmp/gale-swap-XXXXXX");
    if (!p || !mkdtemp(p->folder)) return -1;
    snprintf(p->path, sizeof p->path, "%s/out", p->folder);
    snprintf(p->old, sizeof p->old, "%s/out.1", p->folder);
    snprintf(p->older, sizeof p->older, "%s/out.2", p->folder);
    p->fd = make(p->path, "old\n");
    *state = p;
    return 0;
}

static int teardown(void **state) {
    place *p = *state;
    close(p->fd);
    unlink(p->path), unlink(p->old), unlink(p->older), rmdir(p->folder);
    free(p);
    return 0;
}

/* The file was renamed, and another one is at the path, of which a checkpoint is told; then it gets a line. */
static gx_file_swap swapped(place *p) {
    gx_file_swap swap = GX_FILE_SWAP_INIT;
    assert_int_equal(rename(p->path, p->old), 0);
    int next = make(p->path, "head\n");
    assert_int_equal(gx_file_swap_announce(&swap, next, p->path, NULL), 0);
    assert_int_equal(write(next, "since\n", 6), 6);
    close(next);
    return swap;
}

static void a_path_is_due_when_another_file_has_it_or_none(void **state) {
    place *p = *state;
    assert_int_equal(gx_file_swap_is_due(p->fd, p->path, NULL), 0);
    assert_int_equal(rename(p->path, p->old), 0);
    assert_int_equal(gx_file_swap_is_due(p->fd, p->path, NULL), 1);
    close(make(p->path, ""));
    assert_int_equal(gx_file_swap_is_due(p->fd, p->path, NULL), 1);
    assert_int_equal(rename(p->old, p->path), 0);
    assert_int_equal(gx_file_swap_is_due(p->fd, p->path, NULL), 0);
}

static void what_nobody_can_rename_is_never_due(void **state) {
    place *p = *state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(gx_file_swap_is_due(ends[1], "/no/such/file", NULL), 0);
    assert_int_equal(gx_file_swap_is_due(p->fd, "-", NULL), 0);
    close(ends[0]), close(ends[1]);
}

static void what_was_written_since_is_cut_off(void **state) {
    place *p = *state;
    gx_file_swap swap = swapped(p);
    int64_t cut;
    assert_int_equal(gx_file_swap_undo(&swap, p->path, &cut, NULL), 1);
    assert_int_equal(cut, 6);
    assert_int_equal(size_of(p->path), 5);
    assert_int_equal(size_of(p->old), 4);
    assert_int_equal(gx_file_swap_undo(&swap, p->path, &cut, NULL), 1);
    assert_int_equal(cut, 0);
}

static void a_file_that_was_renamed_again_is_found_by_its_birth(void **state) {
    place *p = *state;
    gx_file_swap swap = swapped(p);
    int64_t cut;
    if (!swap.born) skip(); /* the file system does not say */
    assert_int_equal(rename(p->path, p->older), 0);
    close(make(p->path, "another's\n"));
    assert_int_equal(gx_file_swap_undo(&swap, p->path, &cut, NULL), 1);
    assert_int_equal(cut, 6);
    assert_int_equal(size_of(p->older), 5);
    assert_int_equal(size_of(p->path), 10);
}

static void another_file_is_left_alone(void **state) {
    place *p = *state;
    gx_file_swap swap = swapped(p);
    int64_t cut;
    int kept = open(p->path, O_RDONLY); /* so that its inode is used for no other one */
    assert_int_equal(unlink(p->path), 0);
    assert_int_equal(gx_file_swap_undo(&swap, p->path, &cut, NULL), 0);
    close(make(p->path, "another's file\n"));
    assert_int_equal(gx_file_swap_undo(&swap, p->path, &cut, NULL), 0);
    assert_int_equal(size_of(p->path), 15);
    close(kept);
    struct stat about;
    assert_int_equal(stat(p->path, &about), 0);
    swap.inode = (int64_t)about.st_ino; /* used again */
    assert_int_equal(gx_file_swap_undo(&swap, p->path, &cut, NULL), swap.born ? 0 : 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_path_is_due_when_another_file_has_it_or_none, setup, teardown),
        cmocka_unit_test_setup_teardown(what_nobody_can_rename_is_never_due, setup, teardown),
        cmocka_unit_test_setup_teardown(what_was_written_since_is_cut_off, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_that_was_renamed_again_is_found_by_its_birth, setup, teardown),
        cmocka_unit_test_setup_teardown(another_file_is_left_alone, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
