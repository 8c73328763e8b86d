/* Stores that are only read, copied, kept while somebody has them open, and removed. */
#include "store/rig.h"

#include "harness/faulty_disk.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static rig at, copy;
static char aside[RIG_PATH + 40];

static int setup(void **state) {
    (void)state;
    rig_begin(&at, "keep");
    rig_begin(&copy, "keep-copy");
    snprintf(aside, sizeof aside, "%s/mine", at.folder);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    rig_end(&copy);
    rig_end(&at);
    return 0;
}

static int look(rig *with, const char *topology) {
    gale_store_options options = GALE_STORE_OPTIONS_INIT;
    options.folder = with->folder;
    options.topology = topology;
    options.read_only = true;
    with->error = (gale_error)GALE_ERROR_INIT;
    return gale_store_open(&options, &with->store, &with->error);
}

/* As a killed process leaves it: the log holds what the database needs. */
static void leave_dirty(bool sync) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        rig_open_well(&at);
        rig_put(&at, "a", "one");
        rig_commit(&at);
        rig_put(&at, "b", "two");
        at.store.commit(at.store.self, sync ? GALE_STORE_SYNC : 0, NULL, NULL);
        _exit(0);
    }
    int status = 1;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

static void assert_same(const rig_image *a, const rig_image *b) {
    for (int i = 0; i < RIG_FILES; i++) {
        assert_int_equal(a->sizes[i], b->sizes[i]);
        assert_int_equal(a->bytes[i] == NULL, b->bytes[i] == NULL);
        if (a->bytes[i]) assert_memory_equal(a->bytes[i], b->bytes[i], a->sizes[i]);
    }
}

static void read_without_a_change(void) {
    rig_image before, after;
    rig_image_take(&at, &before);
    assert_int_equal(look(&at, NULL), 0);
    assert_string_equal(rig_pairs(&at, "", NULL), "a=one b=two");
    assert_string_equal(rig_get(&at, "b"), "two");
    gale_store_about about = { .size = sizeof about };
    assert_int_equal(at.store.about(at.store.self, &about, NULL), 0);
    assert_string_equal(about.topology, "words");
    assert_int_equal(about.format, 1);
    assert_int_equal(rig_put(&at, "c", "three"), GALE_STATE);
    assert_non_null(strstr(at.error.text, "was opened to be read alone"));
    assert_int_equal(at.store.commit(at.store.self, GALE_STORE_SYNC, NULL, NULL), GALE_STATE);
    assert_int_equal(at.store.tidy(at.store.self, NULL), GALE_STATE);
    rig_close(&at);
    rig_image_take(&at, &after);
    assert_same(&before, &after);
    rig_image_free(&before);
    rig_image_free(&after);
}

static void what_a_killed_process_left_is_read_and_not_a_byte_is_changed(void **state) {
    (void)state;
    leave_dirty(true);
    read_without_a_change();
}

static void so_is_what_it_had_not_synced(void **state) {
    (void)state;
    leave_dirty(false);
    read_without_a_change();
}

static void and_what_was_closed_well(void **state) {
    (void)state;
    leave_dirty(true);
    rig_open_well(&at);
    rig_close(&at);
    read_without_a_change();
}

static void a_log_that_counts_no_more_is_not_read(void **state) {
    (void)state;
    char log[RIG_PATH + 40];
    rig_open_well(&at);
    rig_put(&at, "a", "one");
    rig_commit(&at);
    rig_put(&at, "b", "two");
    rig_commit(&at);
    rig_close(&at);
    snprintf(log, sizeof log, "%s/data-wal", at.folder);
    FILE *file = fopen(log, "w");
    assert_non_null(file);
    for (int i = 0; i < 9000; i++) fputc(i & 255, file);
    fclose(file);
    read_without_a_change();
    unlink(log);
    read_without_a_change();
}

static void who_only_reads_makes_nothing_and_asks_for_whose_it_is_if_he_likes(void **state) {
    (void)state;
    assert_int_equal(look(&at, NULL), GALE_NOT_FOUND);
    assert_int_equal(access(at.folder, F_OK), -1);
    rig_open_well(&at);
    rig_close(&at);
    assert_int_equal(look(&at, "others"), GALE_STATE);
    gale_store_options options = GALE_STORE_OPTIONS_INIT;
    options.folder = at.folder;
    options.create = options.read_only = true;
    assert_int_equal(gale_store_open(&options, &at.store, NULL), GALE_INVALID);
    options.read_only = false;
    assert_int_equal(gale_store_open(&options, &at.store, NULL), GALE_INVALID); /* to make one, a name is needed */
}

static void damage_is_told_to_who_only_reads_too(void **state) {
    (void)state;
    leave_dirty(true);
    rig_image image;
    rig_image_take(&at, &image);
    image.bytes[3][image.sizes[3] - 1] ^= 1;
    rig_image_put(&at, &image);
    assert_int_equal(look(&at, NULL), GALE_DAMAGED);
    assert_non_null(strstr(at.error.text, "data-wal' is damaged"));
    rig_image_free(&image);
}

/* --- Copies --- */

static void assert_copy(const char *pairs) {
    assert_int_equal(look(&copy, "words"), 0);
    assert_string_equal(rig_pairs(&copy, "", NULL), pairs);
    rig_close(&copy);
}

static void a_copy_has_what_it_is_of(void **state) {
    (void)state;
    leave_dirty(true);
    assert_int_equal(gale_store_copy(at.folder, copy.folder, NULL), 0);
    assert_copy("a=one b=two");
    assert_int_equal(gale_store_copy(at.folder, copy.folder, &at.error), GALE_EXISTS);
    rig_open_well(&at);
    assert_int_equal(gale_store_copy(at.folder, "/no/such", NULL), GALE_STATE);
    rig_close(&at);
    assert_int_equal(gale_store_copy("/no/such", copy.folder, NULL), GALE_NOT_FOUND);
    assert_int_equal(gale_store_copy(NULL, copy.folder, NULL), GALE_INVALID);
}

typedef struct asking {
    pthread_t thread;
    atomic_int patience; /* looks */
    int rc;
    gale_error error;
} asking;

static bool waits(void *user) {
    asking *a = user;
    return atomic_fetch_sub(&a->patience, 1) > 0;
}

static void *ask_body(void *user) {
    asking *a = user;
    a->error = (gale_error)GALE_ERROR_INIT;
    a->rc = gale_store_keep(at.folder, copy.folder, waits, a, &a->error);
    return NULL;
}

static void ask(asking *a, int patience) {
    atomic_init(&a->patience, patience);
    assert_int_equal(pthread_create(&a->thread, NULL, ask_body, a), 0);
}

static bool is_asked(void) {
    gale_store_about about = { .size = sizeof about };
    assert_int_equal(at.store.about(at.store.self, &about, NULL), 0);
    return about.asked;
}

static void await_question(void) {
    while (!is_asked()) usleep(1000);
}

static void who_has_a_store_open_makes_the_copy_behind_its_next_commit(void **state) {
    (void)state;
    asking a;
    rig_open_well(&at);
    rig_put(&at, "a", "one");
    rig_commit(&at);
    assert_false(is_asked());
    ask(&a, 1000000);
    await_question();
    rig_put(&at, "b", "two");
    at.store.tidy(at.store.self, NULL); /* not in the middle of a batch */
    assert_true(is_asked());
    rig_commit(&at);
    assert_int_equal(at.store.tidy(at.store.self, NULL), 0);
    pthread_join(a.thread, NULL);
    assert_int_equal(a.rc, 0);
    assert_false(is_asked());
    rig_put(&at, "c", "three");
    rig_commit(&at);
    rig_close(&at);
    assert_copy("a=one b=two");
}

static void a_copy_is_made_here_when_the_other_one_closes(void **state) {
    (void)state;
    asking a;
    rig_open_well(&at);
    rig_put(&at, "a", "one");
    rig_commit(&at);
    ask(&a, 1000000);
    await_question();
    rig_close(&at);
    pthread_join(a.thread, NULL);
    assert_int_equal(a.rc, 0);
    assert_copy("a=one");
}

static void who_does_not_wait_any_more_has_asked_for_nothing(void **state) {
    (void)state;
    asking a;
    rig_open_well(&at);
    rig_put(&at, "a", "one");
    rig_commit(&at);
    ask(&a, 2);
    pthread_join(a.thread, NULL);
    assert_int_equal(a.rc, GALE_STOPPED);
    assert_non_null(strstr(a.error.text, "is in use by this process"));
    assert_non_null(strstr(a.error.text, "has not made the copy"));
    assert_false(is_asked());
    assert_int_equal(at.store.tidy(at.store.self, NULL), 0);
    assert_int_equal(access(copy.folder, F_OK), -1);
    rig_close(&at);
}

static void what_a_killed_one_has_asked_for_is_not_done(void **state) {
    (void)state;
    char path[RIG_PATH + 40];
    rig_open_well(&at);
    snprintf(path, sizeof path, "%s/gale-store.keep.0123456789abcdef", at.folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "keep\n%s\n", copy.folder);
    fclose(file);
    assert_true(is_asked());
    assert_int_equal(at.store.tidy(at.store.self, NULL), 0);
    assert_false(is_asked());
    assert_int_equal(access(copy.folder, F_OK), -1);
    rig_close(&at);
}

static void a_copy_that_cannot_be_made_is_told_to_who_asked_and_the_store_goes_on(void **state) {
    (void)state;
    asking a;
    rig_open_well(&at);
    rig_put(&at, "a", "one");
    rig_commit(&at);
    ask(&a, 1000000);
    await_question();
    assert_int_equal(mkdir(copy.folder, 0700), 0);
    char mine[RIG_PATH + 40];
    snprintf(mine, sizeof mine, "%s/mine", copy.folder);
    fclose(fopen(mine, "w"));
    assert_int_equal(at.store.tidy(at.store.self, NULL), 0);
    pthread_join(a.thread, NULL);
    assert_int_equal(a.rc, GALE_EXISTS);
    assert_non_null(strstr(a.error.text, "is there already, with 'mine' in it"));
    rig_put(&at, "b", "two");
    rig_commit(&at);
    assert_string_equal(rig_pairs(&at, "", NULL), "a=one b=two");
    rig_close(&at);
}

/* On a disk that fails in the n-th call, or is dead or full from it on: a whole copy, or none. The copy is in the folder
 * itself, which is where the disk fails. */
static void no_fault_leaves_a_part(faulty_kind kind, int error) {
    snprintf(copy.folder, sizeof copy.folder, "%.*s/kept", RIG_PATH - 10, at.folder);
    char part[RIG_PATH + 10];
    snprintf(part, sizeof part, "%s.part", copy.folder);
    leave_dirty(true);
    for (uint64_t n = 1;; n++) {
        faulty_disk_use((faulty_plan){ at.folder, kind, error, n });
        int rc = gale_store_copy(at.folder, copy.folder, NULL);
        uint64_t failed = faulty_disk_end();
        bool there = access(copy.folder, F_OK) == 0;
        if (there) assert_copy("a=one b=two");
        if (rc == 0) assert_true(there);
        rig_end(&copy);
        if (!failed) break;
    }
    assert_int_equal(gale_store_copy(at.folder, copy.folder, NULL), 0); /* whatever was left is in nobody's way */
    assert_copy("a=one b=two");
    assert_int_equal(access(part, F_OK), -1);
    rig_end(&copy);
}

static void no_fault_of_the_disk_leaves_a_part_of_a_copy(void **state) {
    (void)state;
    no_fault_leaves_a_part(FAULTY_ONCE, EIO);
    no_fault_leaves_a_part(FAULTY_FULL, ENOSPC);
    no_fault_leaves_a_part(FAULTY_DEAD, 0);
}

/* --- Removing --- */

static void a_store_is_removed_and_nothing_else(void **state) {
    (void)state;
    assert_int_equal(gale_store_remove(at.folder, NULL), GALE_NOT_FOUND);
    leave_dirty(true);
    fclose(fopen(aside, "w"));
    char request[RIG_PATH + 40];
    snprintf(request, sizeof request, "%s/gale-store.keep.0123456789abcdef", at.folder);
    fclose(fopen(request, "w"));
    rig_open_well(&at);
    assert_int_equal(gale_store_remove(at.folder, NULL), GALE_STATE);
    assert_string_equal(rig_pairs(&at, "", NULL), "a=one b=two");
    rig_close(&at);
    assert_int_equal(gale_store_remove(at.folder, NULL), 0);
    assert_int_equal(access(aside, F_OK), 0);
    assert_int_equal(unlink(aside), 0);
    assert_int_equal(rmdir(at.folder), 0); /* it is empty */
}

static void one_whose_removal_was_interrupted_is_gone_or_as_it_was(void **state) {
    (void)state;
    unsigned gone = 0, same = 0;
    for (uint64_t n = 1;; n++) {
        rig_end(&at);
        leave_dirty(true);
        faulty_disk_use((faulty_plan){ at.folder, FAULTY_DEAD, 0, n });
        (void)gale_store_remove(at.folder, NULL);
        uint64_t failed = faulty_disk_end();
        rig_open_well(&at);
        const char *pairs = rig_pairs(&at, "", NULL);
        if (strcmp(pairs, "") == 0)
            gone++;
        else if (strcmp(pairs, "a=one b=two") == 0)
            same++;
        else
            fail_msg("dead in call %lu: %s", (unsigned long)n, pairs);
        rig_close(&at);
        if (!failed) break;
    }
    assert_true(gone > 1 && same > 1);
}

static void nothing_is_left_of_one_whose_making_was_interrupted(void **state) {
    (void)state;
    unsigned removed = 0;
    for (uint64_t n = 1;; n++) {
        rig_end(&at);
        rig_begin(&at, "keep");
        faulty_disk_use((faulty_plan){ at.folder, FAULTY_DEAD, 0, n });
        if (rig_open(&at, "words", true) == 0) rig_close(&at);
        uint64_t failed = faulty_disk_end();
        int rc = gale_store_remove(at.folder, NULL);
        if (rc == GALE_OK && rmdir(at.folder) < 0) fail_msg("dead in call %lu: it is not empty", (unsigned long)n);
        if (rc == GALE_OK) removed++;
        rig_open_well(&at);
        rig_close(&at);
        if (!failed) break;
    }
    assert_true(removed > 10);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(what_a_killed_process_left_is_read_and_not_a_byte_is_changed),
        CASE(so_is_what_it_had_not_synced),
        CASE(and_what_was_closed_well),
        CASE(a_log_that_counts_no_more_is_not_read),
        CASE(who_only_reads_makes_nothing_and_asks_for_whose_it_is_if_he_likes),
        CASE(damage_is_told_to_who_only_reads_too),
        CASE(a_copy_has_what_it_is_of),
        CASE(who_has_a_store_open_makes_the_copy_behind_its_next_commit),
        CASE(a_copy_is_made_here_when_the_other_one_closes),
        CASE(who_does_not_wait_any_more_has_asked_for_nothing),
        CASE(what_a_killed_one_has_asked_for_is_not_done),
        CASE(a_copy_that_cannot_be_made_is_told_to_who_asked_and_the_store_goes_on),
        CASE(no_fault_of_the_disk_leaves_a_part_of_a_copy),
        CASE(a_store_is_removed_and_nothing_else),
        CASE(one_whose_removal_was_interrupted_is_gone_or_as_it_was),
        CASE(nothing_is_left_of_one_whose_making_was_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
