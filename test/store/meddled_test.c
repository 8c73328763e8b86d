/* Stores whose files somebody else cuts, removes, renames or replaces between two commits: the next commit says so and names the folder, and
 * no later run finds less than was told as committed, unless it refuses. */
#include "store/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static rig at;
static uint64_t committed; /* told as synced */

static int setup(void **state) {
    (void)state;
    rig_begin(&at, "meddled");
    return 0;
}

static int teardown(void **state) {
    (void)state;
    rig_end(&at);
    return 0;
}

/* --- What somebody does --- */

static const char *path_of(const char *name) {
    static char path[RIG_PATH + 40];
    snprintf(path, sizeof path, "%s/%s", at.folder, name);
    return path;
}

static const char *other_of(const char *name) {
    static char path[RIG_PATH + 40];
    snprintf(path, sizeof path, "%s/../%s.other", at.folder, name);
    return path;
}

static bool cut_half(const char *name) {
    struct stat about;
    return stat(path_of(name), &about) == 0 && about.st_size > 0 && truncate(path_of(name), about.st_size / 2) == 0;
}

static bool cut_all(const char *name) {
    struct stat about;
    return stat(path_of(name), &about) == 0 && about.st_size > 0 && truncate(path_of(name), 0) == 0;
}

static bool remove_it(const char *name) {
    return unlink(path_of(name)) == 0;
}

static bool move_it(const char *name) {
    return rename(path_of(name), other_of(name)) == 0;
}

/* Another file with the same bytes, as a backup that is put back. */
static bool copy_it(const char *name) {
    char command[3 * RIG_PATH];
    snprintf(command, sizeof command, "cp -p %s %s 2>/dev/null", path_of(name), other_of(name));
    if (system(command) != 0) return false;
    return rename(other_of(name), path_of(name)) == 0;
}

static bool replace_it(const char *name) {
    if (access(path_of(name), F_OK) != 0) return false;
    FILE *file = fopen(other_of(name), "wb");
    assert_non_null(file);
    fclose(file);
    return rename(other_of(name), path_of(name)) == 0;
}

static bool (*const deeds[])(const char *name) = { cut_half, cut_all, remove_it, move_it, copy_it, replace_it };

/* --- What must hold --- */

static int commit_next(void) {
    uint64_t number = committed;
    at.error = (gale_error)GALE_ERROR_INIT;
    int rc = rig_model_change(&at, number + 1, 1);
    if (rc == 0) rc = at.store.commit(at.store.self, GALE_STORE_SYNC, &number, &at.error);
    if (rc == 0) committed = number;
    return rc;
}

static void must_say_why(int rc, size_t deed, const char *name) {
    if (!strstr(at.error.text, at.folder))
        fail_msg("deed %zu to '%s': %d without a sentence: '%s'", deed, name, rc, at.error.text);
}

static void look(size_t deed, const char *name) {
    gale_store_about about = { .size = sizeof about };
    at.error = (gale_error)GALE_ERROR_INIT;
    int rc = rig_open(&at, "words", false);
    if (rc < 0) {
        must_say_why(rc, deed, name);
        return;
    }
    assert_int_equal(at.store.about(at.store.self, &about, NULL), 0);
    rc = rig_model_check(&at, about.commit, 1);
    if (rc == 1 || (rc == 0 && about.commit < committed))
        fail_msg("deed %zu to '%s': commit %d was told, and %d is found: %d", deed, name, (int)committed,
                 (int)about.commit, rc);
    rig_close(&at);
}

/* A log whose frames are all in the data counts for nothing. */
static bool may_be_empty(size_t deed, const char *name) {
    bool cuts = deeds[deed] == cut_half || deeds[deed] == cut_all;
    return cuts && at.log_bytes == 1 && strcmp(name, "data-wal") == 0;
}

static void meddle(size_t deed, const char *name, int before, unsigned *failed) {
    committed = 0;
    rig_open_well(&at);
    for (int i = 0; i < before; i++) assert_int_equal(commit_next(), 0);
    bool done = deeds[deed](name);
    int rc = commit_next();
    if (rc == 0) rc = commit_next();
    if (rc < 0) must_say_why(rc, deed, name);
    *failed += rc < 0;
    if (rc == 0 && done && !may_be_empty(deed, name)) fail_msg("deed %zu to '%s': nobody has noticed", deed, name);
    if (rc < 0 && !done) fail_msg("nothing was done to '%s': %s", name, at.error.text);
    rig_close(&at);
    look(deed, name);
    unlink(other_of(name));
    rig_end(&at);
}

static void whatever_is_done_to_a_file_no_commit_is_lost_silently(void **state) {
    (void)state;
    unsigned failed = 0;
    for (int file = 0; file < RIG_FILES; file++)
        for (size_t deed = 0; deed < sizeof deeds / sizeof *deeds; deed++)
            for (int before = 1; before < 6; before += 2)
                for (int tidies = 0; tidies < 2; tidies++) {
                    at.log_bytes = tidies; /* 1: each commit tidies up */
                    meddle(deed, rig_files[file], before, &failed);
                }
    assert_true(failed > 50);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(whatever_is_done_to_a_file_no_commit_is_lost_silently, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
