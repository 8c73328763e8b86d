#include "base/os/scratch.h"

#include "base/os/file.h"
#include "base/os/folder.h"
#include "harness/cm.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void below(const char *path, const char *wanted) {
    char out[64];
    assert_true(gx_scratch_below("/x", path, out, sizeof out));
    assert_string_equal(out, wanted);
}

static void a_path_stays_below_its_folder(void **state) {
    (void)state;
    below("a.tsv", "/x/a.tsv");
    below("/etc/passwd", "/x/etc/passwd");
    below("../../a", "/x/up/up/a");
    below("a//b/./c..", "/x/a/b/./c..");
    below("-", "/x/-");
    below("", "/x");
    below("/", "/x");
}

static void a_path_that_is_too_long_is_refused(void **state) {
    (void)state;
    char out[8];
    assert_true(gx_scratch_below("/x", "abcd", out, sizeof out));
    assert_string_equal(out, "/x/abcd");
    assert_false(gx_scratch_below("/x", "abcde", out, sizeof out));
    assert_false(gx_scratch_below("/abcdefgh", "", out, sizeof out));
}

static void a_folder_is_made_and_removed_with_all_that_is_in_it(void **state) {
    (void)state;
    char folder[GX_SCRATCH_PATH], path[GX_SCRATCH_PATH], other[GX_SCRATCH_PATH];
    assert_int_equal(gx_scratch_make("gale-scratch", folder, NULL), GALE_OK);
    assert_int_equal(gx_scratch_lead(folder, "a/b/c.tsv", path, sizeof path, NULL), GALE_OK);
    assert_int_equal(gx_file_replace(path, "x", 1, NULL), GALE_OK);
    assert_int_equal(gx_scratch_lead(folder, "logs/{host}/c.tsv", path, sizeof path, NULL), GALE_OK);
    assert_true(gx_scratch_below(folder, "logs", other, sizeof other));
    assert_int_equal(gx_folder_look(other, NULL), GALE_OK);
    assert_true(gx_scratch_below(folder, "logs/{host}", other, sizeof other));
    assert_int_equal(gx_folder_look(other, NULL), GALE_NOT_FOUND);
    assert_int_equal(gx_scratch_remove(folder, NULL), GALE_OK);
    assert_int_equal(gx_folder_look(folder, NULL), GALE_NOT_FOUND);
}

static void a_link_is_removed_and_not_followed(void **state) {
    (void)state;
    char folder[GX_SCRATCH_PATH], kept[GX_SCRATCH_PATH], link[GX_SCRATCH_PATH];
    assert_int_equal(gx_scratch_make("gale-scratch", folder, NULL), GALE_OK);
    assert_int_equal(gx_scratch_make("gale-kept", kept, NULL), GALE_OK);
    assert_true(gx_scratch_below(folder, "link", link, sizeof link));
    assert_int_equal(symlink(kept, link), 0);
    assert_int_equal(gx_scratch_remove(folder, NULL), GALE_OK);
    assert_int_equal(gx_folder_look(kept, NULL), GALE_OK);
    assert_int_equal(gx_scratch_remove(kept, NULL), GALE_OK);
}

static void a_folder_that_cannot_be_made_is_told(void **state) {
    (void)state;
    char folder[GX_SCRATCH_PATH];
    gale_error error = GALE_ERROR_INIT;
    const char *before = getenv("TMPDIR");
    char *copy = before ? strdup(before) : NULL;
    setenv("TMPDIR", "/none/such", 1);
    assert_int_equal(gx_scratch_make("gale-scratch", folder, &error), GALE_IO);
    assert_non_null(strstr(error.text, "/none/such/gale-scratch"));
    if (copy)
        setenv("TMPDIR", copy, 1);
    else
        unsetenv("TMPDIR");
    free(copy);
    assert_int_equal(gx_scratch_remove("/none/such", &error), GALE_IO);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_stays_below_its_folder),
        cmocka_unit_test(a_path_that_is_too_long_is_refused),
        cmocka_unit_test(a_folder_is_made_and_removed_with_all_that_is_in_it),
        cmocka_unit_test(a_link_is_removed_and_not_followed),
        cmocka_unit_test(a_folder_that_cannot_be_made_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
