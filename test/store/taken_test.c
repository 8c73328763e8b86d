/* Somebody else removes, renames, replaces or cuts the files of a store, or its folder, while it is open: the next commit says so, and
 * nothing that is committed later counts; what was committed before is there when all is put back. */
#include "store/rig.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef enum deed { REMOVED, RENAMED, REPLACED, CUT, DEEDS } deed;
enum { WHOLE = RIG_FILES, LOCK, TARGETS };

static rig at;
static char path[RIG_PATH + 40], aside[RIG_PATH + 80];

static int setup(void **state) {
    (void)state;
    rig_begin(&at, "taken");
    return 0;
}

static int teardown(void **state) {
    (void)state;
    rig_end(&at);
    return 0;
}

static void name(int target) {
    const char *file = target == LOCK ? "gale-store.lock" : target == WHOLE ? "" : rig_files[target];
    snprintf(path, sizeof path, "%s%s%s", at.folder, *file ? "/" : "", file);
    snprintf(aside, sizeof aside, "%s.aside", path);
}

static void copy(const char *from, const char *to) {
    char command[4096];
    snprintf(command, sizeof command, "cp -a '%s' '%s'", from, to);
    assert_int_equal(system(command), 0);
}

static void do_it(deed what) {
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    copy(path, aside); /* to be put back */
    if (what == CUT) {
        assert_int_equal(truncate(path, about.st_size / 3), 0);
        return;
    }
    char gone[sizeof aside + 8];
    snprintf(gone, sizeof gone, "%s.gone", aside);
    assert_int_equal(rename(path, gone), 0);
    if (what == REPLACED) copy(aside, path);
    char command[4096];
    snprintf(command, sizeof command, "rm -rf '%s'", gone);
    if (what != RENAMED) assert_int_equal(system(command), 0);
}

static void put_back(void) {
    char command[4096];
    snprintf(command, sizeof command, "rm -rf '%s' '%s.gone' && mv '%s' '%s'", path, aside, aside, path);
    assert_int_equal(system(command), 0);
}

static int try_commit(const char *value) {
    at.error = (gale_error)GALE_ERROR_INIT;
    int rc = rig_put(&at, "key", value);
    return rc < 0 ? rc : at.store.commit(at.store.self, GALE_STORE_SYNC, NULL, &at.error);
}

static void expect_noticed(int target, deed what) {
    rig_open_well(&at);
    rig_put(&at, "key", "first");
    rig_commit(&at);
    rig_put(&at, "other", "second");
    rig_commit(&at);
    name(target);
    do_it(what);
    if (try_commit("lost") != GALE_IO) fail_msg("%s: deed %d was not noticed: %s", path, what, at.error.text);
    if (!strstr(at.error.text, "by somebody")) fail_msg("%s: deed %d: %s", path, what, at.error.text);
    assert_non_null(strstr(at.error.text, "put the folder back and start again"));
    assert_int_equal(try_commit("lost"), GALE_STATE);
    rig_close(&at);
    put_back();
    rig_open_well(&at);
    assert_string_equal(rig_get(&at, "other"), "second");
    assert_string_equal(rig_get(&at, "key"), "first");
    rig_close(&at);
}

static void whatever_is_done_to_its_files_the_next_commit_says_so(void **state) {
    (void)state;
    for (int target = 0; target < TARGETS; target++)
        for (int what = 0; what < DEEDS; what++) {
            bool head = target < RIG_FILES && strcmp(rig_files[target], "gale-store") == 0;
            if ((target >= WHOLE && what == CUT) || head)
                continue; /* a lock may be empty; a head is read at the start alone */
            expect_noticed(target, (deed)what);
            rig_end(&at);
            rig_begin(&at, "taken");
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(whatever_is_done_to_its_files_the_next_commit_says_so, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
