/* What a store does for who uses it. */
#include "store/rig.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static rig at;

static int setup(void **state) {
    (void)state;
    rig_begin(&at, "store");
    return 0;
}

static int teardown(void **state) {
    (void)state;
    rig_end(&at);
    return 0;
}

static uint64_t commit_of(void) {
    gale_store_about about = { .size = sizeof about };
    assert_int_equal(at.store.about(at.store.self, &about, NULL), 0);
    return about.commit;
}

static void again(void) {
    rig_close(&at);
    rig_open_well(&at);
}

static void a_new_store_has_nothing_and_no_commit(void **state) {
    (void)state;
    rig_open_well(&at);
    assert_string_equal(rig_get(&at, "a"), "-");
    assert_string_equal(rig_pairs(&at, "", NULL), "");
    assert_int_equal(commit_of(), 0);
    again();
    assert_string_equal(rig_pairs(&at, "", NULL), "");
    rig_close(&at);
}

static void what_was_committed_is_there_when_it_is_opened_again(void **state) {
    (void)state;
    rig_open_well(&at);
    rig_put(&at, "a", "one");
    assert_int_equal(rig_commit(&at), 1);
    assert_string_equal(rig_get(&at, "a"), "one");
    again();
    assert_string_equal(rig_get(&at, "a"), "one");
    assert_int_equal(commit_of(), 1);
    rig_put(&at, "b", "two");
    rig_put(&at, "a", "three");
    assert_int_equal(rig_commit(&at), 2);
    again();
    assert_string_equal(rig_pairs(&at, "", NULL), "a=three b=two");
    assert_int_equal(commit_of(), 2);
    rig_close(&at);
}

static void what_is_not_committed_is_seen_by_nobody_and_forgotten(void **state) {
    (void)state;
    rig_open_well(&at);
    rig_put(&at, "a", "1");
    assert_string_equal(rig_get(&at, "a"), "-");
    at.store.abandon(at.store.self);
    rig_put(&at, "b", "2");
    rig_commit(&at);
    assert_string_equal(rig_pairs(&at, "", NULL), "b=2");
    rig_put(&at, "c", "3");
    again();
    assert_string_equal(rig_pairs(&at, "", NULL), "b=2");
    rig_close(&at);
}

static void the_later_change_of_a_key_counts(void **state) {
    (void)state;
    rig_open_well(&at);
    rig_put(&at, "a", "1");
    rig_put(&at, "b", "1");
    rig_remove(&at, "a");
    rig_put(&at, "b", "2");
    rig_remove(&at, "c");
    rig_remove(&at, "d");
    rig_put(&at, "d", "4");
    rig_commit(&at);
    assert_string_equal(rig_pairs(&at, "", NULL), "b=2 d=4");
    rig_close(&at);
}

static void what_is_removed_is_gone_and_what_is_not_there_may_be(void **state) {
    (void)state;
    rig_open_well(&at);
    rig_put(&at, "a", "1");
    rig_put(&at, "b", "2");
    rig_commit(&at);
    rig_remove(&at, "a");
    rig_remove(&at, "never");
    rig_commit(&at);
    again();
    assert_string_equal(rig_pairs(&at, "", NULL), "b=2");
    rig_close(&at);
}

static void a_commit_of_nothing_has_a_number(void **state) {
    (void)state;
    rig_open_well(&at);
    assert_int_equal(rig_commit(&at), 1);
    assert_int_equal(rig_commit(&at), 2);
    again();
    assert_int_equal(commit_of(), 2);
    rig_close(&at);
}

static void keys_and_values_are_any_bytes(void **state) {
    (void)state;
    char found[8] = "";
    size_t size = 99;
    rig_open_well(&at);
    assert_int_equal(at.store.put(at.store.self, "\0", 1, "\0\xff\0", 3, NULL), 0);
    assert_int_equal(at.store.put(at.store.self, "\0\0", 2, "", 0, NULL), 0);
    assert_int_equal(at.store.put(at.store.self, "\xff\xfe", 2, NULL, 0, NULL), 0);
    rig_commit(&at);
    again();
    assert_int_equal(at.store.get(at.store.self, "\0", 1, found, sizeof found, &size, NULL), 0);
    assert_int_equal(size, 3);
    assert_memory_equal(found, "\0\xff\0", 3);
    assert_int_equal(at.store.get(at.store.self, "\0\0", 2, found, sizeof found, &size, NULL), 0);
    assert_int_equal(size, 0);
    assert_int_equal(at.store.get(at.store.self, "\xff\xfe", 2, NULL, 0, &size, NULL), 0);
    rig_close(&at);
}

static void a_value_that_does_not_fit_says_how_large_it_is(void **state) {
    (void)state;
    char found[10] = "as it was";
    size_t size = 0;
    rig_open_well(&at);
    rig_put(&at, "a", "12345");
    rig_commit(&at);
    assert_int_equal(at.store.get(at.store.self, "a", 1, found, 4, &size, NULL), GALE_TOO_LARGE);
    assert_int_equal(size, 5);
    assert_memory_equal(found, "as it w", 7);
    assert_int_equal(at.store.get(at.store.self, "a", 1, found, 5, &size, NULL), 0);
    rig_close(&at);
}

static void large_keys_and_values_come_back(void **state) {
    (void)state;
    enum { LARGE = 3000000 };
    char *value = malloc(LARGE), *found = malloc(LARGE), key[GALE_STORE_KEY_MAX + 1];
    size_t size = 0;
    for (size_t i = 0; i < LARGE; i++) value[i] = (char)(i * 2654435761u >> 13);
    memset(key, 'k', sizeof key);
    rig_open_well(&at);
    for (int i = 0; i < 5; i++) { /* more than is gathered at once */
        key[0] = (char)('a' + i);
        assert_int_equal(at.store.put(at.store.self, key, GALE_STORE_KEY_MAX, value, LARGE - (size_t)i, NULL), 0);
    }
    rig_commit(&at);
    again();
    for (int i = 0; i < 5; i++) {
        key[0] = (char)('a' + i);
        assert_int_equal(at.store.get(at.store.self, key, GALE_STORE_KEY_MAX, found, LARGE, &size, NULL), 0);
        assert_int_equal(size, LARGE - i);
        assert_memory_equal(found, value, size);
    }
    rig_close(&at);
    free(value);
    free(found);
}

static void what_is_out_of_bounds_is_refused_and_takes_the_batch_along(void **state) {
    (void)state;
    char key[GALE_STORE_KEY_MAX + 1];
    size_t size;
    memset(key, 'k', sizeof key);
    rig_open_well(&at);
    assert_int_equal(at.store.get(at.store.self, "", 0, NULL, 0, &size, NULL), GALE_INVALID);
    assert_int_equal(at.store.get(at.store.self, "a", 1, NULL, 0, NULL, NULL), GALE_INVALID);
    assert_int_equal(at.store.put(at.store.self, NULL, 1, "", 0, NULL), GALE_INVALID);
    rig_put(&at, "a", "1");
    assert_int_equal(at.store.put(at.store.self, key, sizeof key, "", 0, &at.error), GALE_TOO_LARGE);
    assert_string_equal(at.error.text, "a key of 4097 bytes, at most 4096 allowed");
    rig_put(&at, "b", "2");
    assert_int_equal(at.store.put(at.store.self, "c", 1, "", (size_t)GALE_STORE_VALUE_MAX + 1, NULL), GALE_TOO_LARGE);
    rig_put(&at, "d", "4");
    rig_commit(&at);
    assert_string_equal(rig_pairs(&at, "", NULL), "d=4");
    assert_int_equal(at.store.commit(at.store.self, 2, NULL, NULL), GALE_UNSUPPORTED);
    rig_close(&at);
}

static void iteration_is_in_the_order_of_bytes_below_a_prefix_and_behind_a_key(void **state) {
    (void)state;
    rig_open_well(&at);
    const char *keys[] = { "b", "a", "ab", "abc", "aa", "b\xff", "c", "b\x01" };
    for (size_t i = 0; i < 8; i++) rig_put(&at, keys[i], "");
    rig_commit(&at);
    assert_string_equal(rig_pairs(&at, "", NULL), "a= aa= ab= abc= b= b\x01= b\xff= c=");
    assert_string_equal(rig_pairs(&at, "a", NULL), "a= aa= ab= abc=");
    assert_string_equal(rig_pairs(&at, "ab", NULL), "ab= abc=");
    assert_string_equal(rig_pairs(&at, "b\xff", NULL), "b\xff=");
    assert_string_equal(rig_pairs(&at, "bb", NULL), "");
    assert_string_equal(rig_pairs(&at, "a", "a"), "aa= ab= abc=");
    assert_string_equal(rig_pairs(&at, "a", "ab"), "abc=");
    assert_string_equal(rig_pairs(&at, "a", "aba"), "abc=");
    assert_string_equal(rig_pairs(&at, "ab", "a"), "ab= abc=");
    assert_string_equal(rig_pairs(&at, "a", "b"), "");
    assert_string_equal(rig_pairs(&at, "", "b"), "b\x01= b\xff= c=");
    rig_close(&at);
}

static int third(void *user, const void *key, size_t key_size, const void *value, size_t value_size) {
    (void)key, (void)key_size, (void)value, (void)value_size;
    return ++*(int *)user == 3 ? 77 : 0;
}

static void iteration_ends_when_it_is_told_to(void **state) {
    (void)state;
    int seen = 0;
    rig_open_well(&at);
    for (char key[2] = "a"; key[0] < 'k'; key[0]++) rig_put(&at, key, "");
    rig_commit(&at);
    assert_int_equal(at.store.iterate(at.store.self, "", 0, NULL, 0, third, &seen, NULL), 77);
    assert_int_equal(seen, 3);
    assert_string_equal(rig_pairs(&at, "i", NULL), "i="); /* and the next one is whole */
    rig_close(&at);
}

static void *commit_more(void *user) {
    (void)user;
    rig_put(&at, "b", "changed");
    rig_put(&at, "z", "new");
    rig_remove(&at, "c");
    rig_commit(&at);
    return NULL;
}

typedef struct seen {
    char text[200];
    bool committed;
} seen;

/* Another thread commits while this one iterates. */
static int commit_beside(void *user, const void *key, size_t key_size, const void *value, size_t value_size) {
    seen *to = user;
    pthread_t other;
    strncat(to->text, key, key_size);
    strncat(to->text, value, value_size);
    if (!to->committed && pthread_create(&other, NULL, commit_more, NULL) == 0) pthread_join(other, NULL);
    to->committed = true;
    return 0;
}

static void iteration_is_of_one_commit_whatever_is_committed_meanwhile(void **state) {
    (void)state;
    seen to = { "", false };
    rig_open_well(&at);
    rig_put(&at, "a", "1");
    rig_put(&at, "b", "2");
    rig_put(&at, "c", "3");
    rig_commit(&at);
    assert_int_equal(at.store.iterate(at.store.self, "", 0, NULL, 0, commit_beside, &to, NULL), 0);
    assert_string_equal(to.text, "a1b2c3");
    assert_string_equal(rig_pairs(&at, "", NULL), "a=1 b=changed z=new");
    rig_close(&at);
}

/* --- Threads ------------------------------------------------------------------------------------------------------ */

static atomic_bool over;
static atomic_int wrong;

typedef struct one_number {
    char text[32];
    int count;
} one_number;

static int must_be_same(void *user, const void *key, size_t key_size, const void *value, size_t value_size) {
    one_number *is = user;
    (void)key, (void)key_size;
    if (is->count++ == 0) snprintf(is->text, sizeof is->text, "%.*s", (int)value_size, (const char *)value);
    return strlen(is->text) != value_size || memcmp(is->text, value, value_size) != 0;
}

static void *read_on(void *user) {
    unsigned long last = 0;
    (void)user;
    while (!over) {
        one_number is = { "", 0 };
        char value[32] = "";
        size_t size = 0;
        if (at.store.iterate(at.store.self, "s", 1, NULL, 0, must_be_same, &is, NULL) != 0 || is.count != 20) wrong++;
        if (at.store.get(at.store.self, "s07", 3, value, sizeof value - 1, &size, NULL) != 0) wrong++;
        if (strtoul(value, NULL, 10) < last) wrong++;
        last = strtoul(value, NULL, 10);
    }
    return NULL;
}

static void put_same(unsigned number) {
    char key[16], value[32];
    snprintf(value, sizeof value, "%u", number);
    for (int k = 0; k < 20; k++) {
        snprintf(key, sizeof key, "s%02d", k);
        rig_put(&at, key, value);
    }
    rig_commit(&at);
}

static void threads_read_whole_commits_while_others_are_made(void **state) {
    (void)state;
    pthread_t readers[4];
    over = false;
    wrong = 0;
    at.log_bytes = 100000; /* tidied up again and again */
    rig_open_well(&at);
    put_same(1);
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&readers[i], NULL, read_on, NULL), 0);
    for (unsigned n = 2; n < 200; n++) {
        put_same(n);
        assert_int_equal(at.store.tidy(at.store.self, NULL), 0);
    }
    over = true;
    for (int i = 0; i < 4; i++) pthread_join(readers[i], NULL);
    assert_int_equal(wrong, 0);
    rig_close(&at);
}

/* --- Sizes -------------------------------------------------------------------------------------------------------- */

static void contents_may_be_many_times_the_memory(void **state) {
    (void)state;
    at.cache_bytes = 65536;
    rig_open_well(&at);
    for (uint64_t n = 1; n <= 60; n++) {
        assert_int_equal(rig_model_change(&at, n, 50), 0);
        rig_commit(&at);
    }
    gale_store_about about = { .size = sizeof about };
    assert_int_equal(at.store.about(at.store.self, &about, NULL), 0);
    assert_true(about.disk_bytes > 4 * at.cache_bytes);
    assert_int_equal(rig_model_check(&at, 60, 50), 0);
    again();
    assert_int_equal(rig_model_check(&at, 60, 50), 0);
    rig_close(&at);
}

static void the_log_does_not_grow_beyond_its_bound(void **state) {
    (void)state;
    char path[RIG_PATH + 40];
    struct stat about;
    at.log_bytes = 100000;
    rig_open_well(&at);
    snprintf(path, sizeof path, "%s/data-wal", at.folder);
    for (uint64_t n = 1; n <= 300; n++) {
        assert_int_equal(rig_model_change(&at, n, 1), 0);
        rig_commit(&at);
    }
    assert_int_equal(stat(path, &about), 0);
    assert_in_range(about.st_size, 1, 400000);
    assert_int_equal(rig_model_check(&at, 300, 1), 0);
    rig_close(&at);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_size, 0);
}

/* --- Who may open it ---------------------------------------------------------------------------------------------- */

static void expect_refusal(const char *topology, bool create, int code, const char *format, ...) GALE_PRINTF(4, 5);

static void expect_refusal(const char *topology, bool create, int code, const char *format, ...) {
    char expected[900];
    va_list list;
    va_start(list, format);
    vsnprintf(expected, sizeof expected, format, list);
    va_end(list);
    assert_int_equal(rig_open(&at, topology, create), code);
    assert_string_equal(at.error.text, expected);
}

static void a_store_that_is_not_there_is_made_only_when_asked_for(void **state) {
    (void)state;
    expect_refusal("words", false, GALE_NOT_FOUND, "there is no store in '%s'", at.folder);
    assert_int_equal(access(at.folder, F_OK), -1);
    assert_int_equal(mkdir(at.folder, 0700), 0);
    expect_refusal("words", false, GALE_NOT_FOUND, "there is no store in '%s'", at.folder);
    rig_open_well(&at);
    rig_close(&at);
    assert_int_equal(rig_open(&at, "words", false), 0);
    rig_close(&at);
}

static void write_file(const char *name, const char *text) {
    char path[RIG_PATH + 40];
    snprintf(path, sizeof path, "%s/%s", at.folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void a_folder_of_other_files_is_left_alone(void **state) {
    (void)state;
    assert_int_equal(mkdir(at.folder, 0700), 0);
    write_file("letters.txt", "dear");
    expect_refusal("words", true, GALE_EXISTS,
                   "'%s' has files ('letters.txt'), but no store: name an empty folder, or none", at.folder);
}

static void a_file_in_place_of_the_folder_is_refused(void **state) {
    (void)state;
    FILE *file = fopen(at.folder, "w");
    assert_non_null(file);
    fclose(file);
    expect_refusal("words", true, GALE_IO, "'%s' is no folder", at.folder);
    unlink(at.folder);
}

static void another_topologys_store_is_refused_with_both_names(void **state) {
    (void)state;
    rig_open_well(&at);
    rig_close(&at);
    expect_refusal("letters", true, GALE_STATE, "the store '%s' is of topology 'words', not of 'letters'", at.folder);
    rig_open_well(&at);
    rig_close(&at);
}

static void a_second_store_in_one_folder_is_refused_with_the_process_that_has_it(void **state) {
    (void)state;
    rig first = at;
    if (rig_open(&first, "words", true) < 0) fail_msg("%s", first.error.text);
    expect_refusal("words", true, GALE_STATE,
                   "'%s/gale-store' is in use by this process already, which holds '%s/gale-store.lock'", at.folder,
                   at.folder);
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        char expected[900];
        snprintf(expected, sizeof expected,
                 "'%s/gale-store' is in use by process %ld, which holds '%s/gale-store.lock'", at.folder, (long)parent,
                 at.folder);
        _exit(rig_open(&at, "words", true) == GALE_STATE && strcmp(at.error.text, expected) == 0 ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    rig_close(&first);
    rig_open_well(&at);
    rig_close(&at);
}

static void a_format_that_is_not_known_is_named(void **state) {
    (void)state;
    rig_open_well(&at);
    rig_close(&at);
    /* sealed by hand: XXH3 of what stands before */
    write_file("gale-store", "gale-store 2 made of something else\na9ce8cdf8c4c4ee5\n");
    int rc = rig_open(&at, "words", true);
    assert_true(rc == GALE_UNSUPPORTED || rc == GALE_DAMAGED);
}

static void options_are_looked_at(void **state) {
    (void)state;
    gale_store_options options = GALE_STORE_OPTIONS_INIT;
    gale_store store;
    assert_int_equal(gale_store_open(&options, NULL, NULL), GALE_INVALID);
    assert_int_equal(gale_store_open(NULL, &store, NULL), GALE_INVALID);
    assert_int_equal(gale_store_open(&options, &store, NULL), GALE_INVALID);
    options.folder = at.folder;
    options.create = true; /* one that is there may be opened whosever it is */
    assert_int_equal(gale_store_open(&options, &store, NULL), GALE_INVALID);
    options.topology = "a\nb";
    assert_int_equal(gale_store_open(&options, &store, NULL), GALE_INVALID);
    options.topology = "words";
    options.size = 0;
    assert_int_equal(gale_store_open(&options, &store, NULL), GALE_INVALID);
    assert_int_equal(access(at.folder, F_OK), -1);
}

/* --- Without a sync ----------------------------------------------------------------------------------------------- */

static void a_commit_that_is_not_synced_outlives_its_process_and_is_synced_by_the_next(void **state) {
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        rig_open_well(&at);
        rig_put(&at, "a", "1");
        rig_commit(&at);
        rig_put(&at, "b", "2");
        if (at.store.commit(at.store.self, 0, NULL, NULL) != 0 || commit_of() != 1) _exit(1);
        raise(SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status));
    rig_open_well(&at);
    assert_string_equal(rig_pairs(&at, "", NULL), "a=1 b=2");
    assert_int_equal(commit_of(), 2);
    rig_put(&at, "c", "3");
    assert_int_equal(at.store.commit(at.store.self, 0, NULL, NULL), 0);
    assert_int_equal(commit_of(), 2);
    assert_int_equal(rig_commit(&at), 4);
    assert_int_equal(commit_of(), 4);
    rig_close(&at);
}

/* Copies the log while somebody reads it, so that it cannot begin anew; commits; and dies. */
static int copy_commit_and_die(void *user, const void *key, size_t key_size, const void *value, size_t value_size) {
    (void)user, (void)key, (void)key_size, (void)value, (void)value_size;
    if (at.store.tidy(at.store.self, NULL) != 0) _exit(1);
    rig_put(&at, "b", "2");
    if (at.store.commit(at.store.self, 0, NULL, NULL) != 0) _exit(1);
    raise(SIGKILL);
    return 0;
}

static void a_commit_behind_a_log_that_was_copied_and_is_still_read_is_kept(void **state) {
    (void)state;
    at.log_bytes = 8000; /* the first commit does not tidy up by itself */
    pid_t child = fork();
    if (child == 0) {
        rig_open_well(&at);
        rig_put(&at, "a", "1");
        rig_commit(&at);
        at.store.iterate(at.store.self, "", 0, NULL, 0, copy_commit_and_die, NULL, NULL);
        _exit(2);
    }
    int status = 0;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status));
    rig_open_well(&at);
    assert_string_equal(rig_pairs(&at, "", NULL), "a=1 b=2");
    rig_close(&at);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(a_new_store_has_nothing_and_no_commit),
        CASE(what_was_committed_is_there_when_it_is_opened_again),
        CASE(what_is_not_committed_is_seen_by_nobody_and_forgotten),
        CASE(the_later_change_of_a_key_counts),
        CASE(what_is_removed_is_gone_and_what_is_not_there_may_be),
        CASE(a_commit_of_nothing_has_a_number),
        CASE(keys_and_values_are_any_bytes),
        CASE(a_value_that_does_not_fit_says_how_large_it_is),
        CASE(large_keys_and_values_come_back),
        CASE(what_is_out_of_bounds_is_refused_and_takes_the_batch_along),
        CASE(iteration_is_in_the_order_of_bytes_below_a_prefix_and_behind_a_key),
        CASE(iteration_ends_when_it_is_told_to),
        CASE(iteration_is_of_one_commit_whatever_is_committed_meanwhile),
        CASE(threads_read_whole_commits_while_others_are_made),
        CASE(contents_may_be_many_times_the_memory),
        CASE(the_log_does_not_grow_beyond_its_bound),
        CASE(a_store_that_is_not_there_is_made_only_when_asked_for),
        CASE(a_folder_of_other_files_is_left_alone),
        CASE(a_file_in_place_of_the_folder_is_refused),
        CASE(another_topologys_store_is_refused_with_both_names),
        CASE(a_second_store_in_one_folder_is_refused_with_the_process_that_has_it),
        CASE(a_format_that_is_not_known_is_named),
        CASE(options_are_looked_at),
        CASE(a_commit_that_is_not_synced_outlives_its_process_and_is_synced_by_the_next),
        CASE(a_commit_behind_a_log_that_was_copied_and_is_still_read_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
