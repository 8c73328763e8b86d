/* A disk that fails at the n-th call, is full from then on, or is dead; memory that runs out. */
#include "store/rig.h"

#include "harness/counting_allocator.h"
#include "harness/faulty_disk.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { COMMITS = 6 };

static rig at;
static uint64_t committed; /* told as synced */

static int setup(void **state) {
    (void)state;
    rig_begin(&at, "faults");
    at.log_bytes = 1; /* each commit tidies up */
    return 0;
}

static int teardown(void **state) {
    (void)state;
    rig_end(&at);
    return 0;
}

static void must_say_why(int rc) {
    if (!at.error.text[0] || !strstr(at.error.text, at.folder))
        fail_msg("%d without a sentence: '%s'", rc, at.error.text);
}

/* Commits until one fails; afterwards the store must take nothing more, or go on from where it was. */
static int commit_some(void) {
    uint64_t number = committed;
    for (int i = 0; i < COMMITS; i++) {
        at.error = (gale_error)GALE_ERROR_INIT;
        int rc = rig_model_change(&at, number + 1, 1);
        if (rc == 0) rc = at.store.commit(at.store.self, GALE_STORE_SYNC, &number, &at.error);
        if (rc < 0) return rc;
        committed = number;
    }
    at.error = (gale_error)GALE_ERROR_INIT;
    return at.store.tidy(at.store.self, &at.error);
}

/* Opens, commits, closes. Returns the first failure. */
static int a_run(void) {
    int rc = rig_open(&at, "words", true);
    if (rc < 0) {
        must_say_why(rc);
        return rc;
    }
    rc = commit_some();
    if (rc < 0) must_say_why(rc);
    rig_close(&at);
    return rc;
}

/* On a disk that is well again: everything that was told is there, and at most one commit more. */
static void look_and_go_on(uint64_t n) {
    gale_store_about about = { .size = sizeof about };
    at.error = (gale_error)GALE_ERROR_INIT;
    if (rig_open(&at, "words", true) < 0) fail_msg("after a fault in call %lu: %s", (unsigned long)n, at.error.text);
    assert_int_equal(at.store.about(at.store.self, &about, NULL), 0);
    assert_in_range(about.commit, committed, committed + 1);
    int rc = rig_model_check(&at, about.commit, 1);
    if (rc)
        fail_msg("after a fault in call %lu, commit %lu: %d %s", (unsigned long)n, (unsigned long)about.commit, rc,
                 at.error.text);
    committed = about.commit;
    rig_close(&at);
}

/* With `anew`, each run makes its store; else it goes on with the one of the run before. */
static void no_fault_loses_a_commit(faulty_kind kind, int error, bool anew) {
    unsigned failed = 0;
    committed = 0;
    for (uint64_t n = 1;; n++) {
        if (anew) rig_end(&at);
        if (anew) committed = 0;
        faulty_disk_use((faulty_plan){ at.folder, kind, error, n });
        int rc = a_run();
        bool hit = faulty_disk_end() > 0;
        failed += rc < 0;
        if (rc < 0 && !hit) fail_msg("failed without a fault: %d %s", rc, at.error.text);
        faulty_disk_use((faulty_plan){ .folder = at.folder });
        look_and_go_on(n);
        faulty_disk_end();
        if (!hit) break;
        assert_in_range(n, 1, 2000);
    }
    assert_true(failed > 10);
}

static void one_call_that_fails_loses_no_commit(void **state) {
    (void)state;
    no_fault_loses_a_commit(FAULTY_ONCE, EIO, true);
    rig_end(&at);
    no_fault_loses_a_commit(FAULTY_ONCE, EIO, false);
}

static void a_disk_that_is_full_for_a_moment_loses_no_commit(void **state) {
    (void)state;
    no_fault_loses_a_commit(FAULTY_ONCE, ENOSPC, false);
}

static void a_disk_that_is_full_from_then_on_loses_no_commit(void **state) {
    (void)state;
    no_fault_loses_a_commit(FAULTY_FULL, 0, true);
    rig_end(&at);
    no_fault_loses_a_commit(FAULTY_FULL, 0, false);
}

static void a_process_that_dies_in_a_call_loses_no_commit(void **state) {
    (void)state;
    no_fault_loses_a_commit(FAULTY_DEAD, 0, true);
    rig_end(&at);
    no_fault_loses_a_commit(FAULTY_DEAD, 0, false);
}

static void calls_that_do_half_change_nothing(void **state) {
    (void)state;
    committed = 0;
    for (uint64_t n = 1;; n++) {
        faulty_disk_use((faulty_plan){ at.folder, FAULTY_SHORT, 0, n });
        assert_int_equal(a_run(), 0);
        bool over = faulty_disk_calls() < n;
        faulty_disk_end();
        if (over) break;
    }
    assert_true(committed > 100);
    look_and_go_on(0);
}

/* Opens on a disk that is full from the n-th call on. True when a commit has failed for it. */
static bool fails_in_a_commit(uint64_t n) {
    faulty_disk_use((faulty_plan){ at.folder, FAULTY_FULL, 0, n });
    if (rig_open(&at, "words", true) < 0) return false;
    if (commit_some() == GALE_IO && strstr(at.error.text, "/data-wal': No space left on device")) return true;
    rig_close(&at);
    return false;
}

static void after_a_commit_has_failed_nothing_more_is_taken_and_all_is_read(void **state) {
    (void)state;
    char expected[1500];
    for (uint64_t n = 1; committed = 0, !fails_in_a_commit(n); n++) {
        assert_in_range(n, 1, 1000);
        faulty_disk_end();
        rig_end(&at);
    }
    faulty_disk_end();
    snprintf(expected, sizeof expected, "the store '%s' takes nothing more, since it has failed: %s", at.folder,
             at.error.text);
    assert_int_equal(rig_put(&at, "a", "1"), GALE_STATE);
    assert_string_equal(at.error.text, expected);
    assert_int_equal(at.store.commit(at.store.self, 0, NULL, NULL), GALE_STATE);
    assert_int_equal(at.store.tidy(at.store.self, NULL), GALE_STATE);
    assert_int_equal(rig_model_check(&at, committed, 1), 0);
    rig_close(&at);
    look_and_go_on(0);
}

/* Each read of an empty cache fails in its turn. */
static void a_read_that_fails_says_so_and_the_next_one_does_not(void **state) {
    (void)state;
    unsigned failed = 0;
    committed = 0;
    rig_open_well(&at);
    assert_int_equal(commit_some(), 0);
    rig_close(&at);
    for (uint64_t n = 1;; n++) {
        faulty_disk_use((faulty_plan){ at.folder, FAULTY_ONCE, EIO, n });
        if (rig_open(&at, "words", true) < 0) continue;
        int rc = rig_model_check(&at, COMMITS, 1);
        assert_true(rc == 0 || rc == GALE_IO);
        if (rc < 0) must_say_why(rc);
        failed += rc < 0;
        if (rc < 0) assert_int_equal(rig_model_check(&at, COMMITS, 1), 0);
        rig_close(&at);
        if (faulty_disk_calls() < n) break;
    }
    faulty_disk_end();
    assert_true(failed > 3);
}

/* SQLite's own memory comes from the C library, and is not ours to fail. */
static void memory_that_runs_out_loses_no_commit(void **state) {
    (void)state;
    committed = 0;
    unsigned failed = 0;
    for (size_t n = 1;; n++) {
        counting_allocator counting = { .fail_at = n };
        gale_allocator handle = counting_handle(&counting);
        at.allocator = &handle;
        int rc = rig_open(&at, "words", true);
        if (rc == 0) {
            rc = commit_some();
            rig_close(&at);
        }
        at.allocator = NULL;
        assert_int_equal(counting.blocks, 0);
        assert_true(rc == 0 || rc == GALE_NO_MEMORY);
        failed += rc < 0;
        look_and_go_on(n);
        if (counting.calls < n) break;
    }
    assert_true(failed > 5);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(one_call_that_fails_loses_no_commit),
        CASE(a_disk_that_is_full_for_a_moment_loses_no_commit),
        CASE(a_disk_that_is_full_from_then_on_loses_no_commit),
        CASE(a_process_that_dies_in_a_call_loses_no_commit),
        CASE(calls_that_do_half_change_nothing),
        CASE(after_a_commit_has_failed_nothing_more_is_taken_and_all_is_read),
        CASE(a_read_that_fails_says_so_and_the_next_one_does_not),
        CASE(memory_that_runs_out_loses_no_commit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
