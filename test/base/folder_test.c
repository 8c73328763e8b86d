/* Folders. */
#include "base/os/folder.h"

#include "harness/cm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[300];

static int setup(void **state) {
    const char *base = getenv("TMPDIR");
    (void)state;
    snprintf(path, sizeof path, "%s/gale-folder-%ld", base ? base : "/tmp", (long)getpid());
    return 0;
}

static void put_file(const char *name) {
    char file[400];
    snprintf(file, sizeof file, "%s/%s", path, name);
    FILE *made = fopen(file, "w");
    assert_non_null(made);
    fclose(made);
}

static int teardown(void **state) {
    char file[400];
    (void)state;
    for (const char *name = "a\0b\0"; *name; name += 2) {
        snprintf(file, sizeof file, "%s/%s", path, name);
        unlink(file);
    }
    rmdir(path);
    unlink(path);
    return 0;
}

static void a_folder_is_made_once_and_found(void **state) {
    gale_error error = GALE_ERROR_INIT;
    struct stat about;
    (void)state;
    assert_int_equal(gx_folder_look(path, &error), GALE_NOT_FOUND);
    assert_string_equal(error.text, "");
    assert_int_equal(gx_folder_make(path, &error), 0);
    assert_int_equal(gx_folder_look(path, &error), 0);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0700);
    assert_int_equal(gx_folder_make(path, &error), GALE_EXISTS);
    assert_non_null(strstr(error.text, path));
}

static void the_way_to_a_file_is_made_as_far_as_it_is_not_there(void **state) {
    gale_error error = GALE_ERROR_INIT;
    struct stat about;
    char file[400], command[500];
    (void)state;
    for (int lasting = 0; lasting < 2; lasting++) {
        snprintf(file, sizeof file, "%s/x//y/z/file", path);
        for (int again = 0; again < 2; again++) assert_int_equal(gx_folder_make_way(file, lasting, &error), 0);
        assert_int_equal(stat(file, &about), -1); /* not the file itself */
        *strrchr(file, '/') = 0;
        assert_int_equal(stat(file, &about), 0);
        assert_true(S_ISDIR(about.st_mode));
        snprintf(command, sizeof command, "rm -r %s", path);
        assert_int_equal(system(command), 0);
    }
    assert_int_equal(gx_folder_make_way("file", true, &error), 0);
    assert_int_equal(gx_folder_make_way("/file", true, &error), 0);
    assert_int_equal(gx_folder_make_way("/dev/null/x/file", true, &error), GALE_IO);
    assert_non_null(strstr(error.text, "/dev/null"));
}

static void a_folder_without_a_parent_is_refused_by_name(void **state) {
    gale_error error = GALE_ERROR_INIT;
    char deep[400];
    (void)state;
    snprintf(deep, sizeof deep, "%s/b", path);
    assert_int_equal(gx_folder_make(deep, &error), GALE_IO);
    assert_non_null(strstr(error.text, deep));
}

static void a_path_may_end_with_slashes_or_have_none(void **state) {
    char slashes[400];
    (void)state;
    snprintf(slashes, sizeof slashes, "%s//", path);
    assert_int_equal(gx_folder_make(slashes, NULL), 0);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(chdir("/tmp"), 0);
    assert_int_equal(gx_folder_make(strrchr(path, '/') + 1, NULL), 0);
    rmdir(strrchr(path, '/') + 1);
}

static void a_file_is_no_folder(void **state) {
    gale_error error = GALE_ERROR_INIT;
    (void)state;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    assert_int_equal(gx_folder_look(path, &error), GALE_IO);
    assert_non_null(strstr(error.text, "is no folder"));
}

static void what_is_not_known_in_a_folder_is_named(void **state) {
    static const char *const known[] = { "a", NULL };
    char name[256] = "?";
    (void)state;
    assert_int_equal(gx_folder_stranger(path, known, name, NULL), GALE_IO);
    assert_int_equal(gx_folder_make(path, NULL), 0);
    assert_int_equal(gx_folder_stranger(path, known, name, NULL), 0);
    assert_string_equal(name, "");
    put_file("a");
    assert_int_equal(gx_folder_stranger(path, known, name, NULL), 0);
    assert_string_equal(name, "");
    put_file("b");
    assert_int_equal(gx_folder_stranger(path, known, name, NULL), 0);
    assert_string_equal(name, "b");
}

static void put_bytes(const char *name, const char *bytes) {
    char file[400];
    snprintf(file, sizeof file, "%s/%s", path, name);
    FILE *made = fopen(file, "w");
    assert_non_null(made);
    fputs(bytes, made);
    fclose(made);
}

/* What it has, or NULL; removes it. */
static const char *take(const char *folder, const char *name, char text[20000]) {
    char file[400];
    snprintf(file, sizeof file, "%s/%s", folder, name);
    FILE *made = fopen(file, "r");
    if (!made) return NULL;
    text[fread(text, 1, 19999, made)] = 0;
    fclose(made);
    unlink(file);
    return text;
}

static void a_copy_has_the_files_that_are_named_and_there(void **state) {
    (void)state;
    static const char *const names[] = { "a", "b", "none", NULL };
    char to[320];
    static char text[20000], large[18001];
    gale_error error = GALE_ERROR_INIT;
    memset(large, 'x', 18000);
    snprintf(to, sizeof to, "%s.copy", path);
    assert_int_equal(gx_folder_make(path, NULL), GALE_OK);
    put_bytes("a", large);
    put_bytes("b", "last");
    put_bytes("c.lock", "123");
    assert_int_equal(gx_folder_copy(path, to, names, &error), GALE_OK);
    assert_int_equal(gx_folder_copy(path, to, names, &error), GALE_EXISTS);
    assert_string_equal(take(to, "a", text), large);
    assert_string_equal(take(to, "b", text), "last");
    assert_null(take(to, "c.lock", text));
    assert_int_equal(gx_folder_copy(path, to, names, NULL), GALE_OK); /* it is empty */
    assert_int_equal(gx_folder_remove(to, names, NULL), GALE_OK);
    assert_int_equal(gx_folder_look(to, NULL), GALE_NOT_FOUND);
    assert_string_equal(take(path, "c.lock", text), "123");
}

static void a_copy_that_was_not_finished_is_nowhere_and_in_nobodys_way(void **state) {
    (void)state;
    static const char *const names[] = { "a", "b", NULL };
    char to[320], part[330], text[20000];
    gale_error error = GALE_ERROR_INIT;
    snprintf(to, sizeof to, "%s.copy", path);
    snprintf(part, sizeof part, "%s.part", to);
    assert_int_equal(gx_folder_make(path, NULL), GALE_OK);
    put_bytes("a", "a");
    assert_int_equal(gx_folder_copy(path, part, names, NULL), GALE_OK); /* as a killed process leaves it */
    assert_int_equal(gx_folder_copy(path, to, names, NULL), GALE_OK);
    assert_int_equal(gx_folder_look(part, NULL), GALE_NOT_FOUND);
    assert_string_equal(take(to, "a", text), "a");
    assert_int_equal(gx_folder_make(part, NULL), GALE_OK);
    snprintf(path + strlen(path), sizeof path - strlen(path), ".copy.part");
    put_bytes("strange", "mine");
    *strrchr(path, '.') = 0, *strrchr(path, '.') = 0;
    assert_int_equal(gx_folder_copy(path, to, names, &error), GALE_EXISTS);
    assert_non_null(strstr(error.text, ".copy.part'"));
    assert_string_equal(take(part, "strange", text), "mine");
    assert_int_equal(rmdir(part), 0);
    assert_int_equal(rmdir(to), 0);
}

static int join_names(void *user, const char *name) {
    strcat(user, name);
    return strcmp(name, "p.stop") == 0 ? 7 : 0;
}

static void names_that_begin_alike_are_found(void **state) {
    (void)state;
    char names[100] = "";
    assert_int_equal(gx_folder_make(path, NULL), GALE_OK);
    put_bytes("p.one", "");
    put_bytes("q.one", "");
    assert_int_equal(gx_folder_each(path, "p.", join_names, names, NULL), 0);
    assert_string_equal(names, "p.one");
    put_bytes("p.stop", "");
    assert_int_equal(gx_folder_each(path, "p.s", join_names, names, NULL), 7);
    assert_int_equal(gx_folder_each("/no/such/folder", "", join_names, names, NULL), GALE_IO);
    for (const char *const *name = (const char *const[]){ "p.one", "q.one", "p.stop", NULL }; *name; name++) {
        char text[20000];
        assert_non_null(take(path, *name, text));
    }
}

static void a_folder_of_ones_own_is_nobody_elses(void **state) {
    gale_error error = GALE_ERROR_INIT;
    struct stat about;
    (void)state;
    assert_int_equal(gx_folder_make_own(path, &error), GALE_OK);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0700);
    assert_int_equal(gx_folder_make_own(path, &error), GALE_OK); /* it is there */
    assert_int_equal(chmod(path, 0750), 0);
    assert_int_equal(gx_folder_make_own(path, &error), GALE_INVALID);
    assert_non_null(strstr(error.text, "is not its owner's alone"));
    assert_int_equal(chmod(path, 0700), 0);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(symlink("/", path), 0); /* a link to one is none */
    assert_int_equal(gx_folder_make_own(path, &error), GALE_INVALID);
    assert_int_equal(unlink(path), 0);
    char below[400];
    snprintf(below, sizeof below, "%s/a", path);
    assert_int_equal(gx_folder_make_own(below, &error), GALE_IO);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(a_folder_is_made_once_and_found),
        CASE(the_way_to_a_file_is_made_as_far_as_it_is_not_there),
        CASE(a_folder_without_a_parent_is_refused_by_name),
        CASE(a_path_may_end_with_slashes_or_have_none),
        CASE(a_file_is_no_folder),
        CASE(what_is_not_known_in_a_folder_is_named),
        CASE(a_copy_has_the_files_that_are_named_and_there),
        CASE(a_copy_that_was_not_finished_is_nowhere_and_in_nobodys_way),
        CASE(names_that_begin_alike_are_found),
        CASE(a_folder_of_ones_own_is_nobody_elses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
