/* Folders in which a byte was flipped, a file was cut, removed, or put back to an older one: opening and reading
 * everything gives exactly what was committed, or is refused in words that name a file. Read in a child, since nobody
 * knows what a library does with what it is given.
 *
 *   test_store_damage [STRIDE]    only every STRIDE-th place; 1, the whole, takes a minute */
#include "store/rig.h"

#include "harness/faulty_disk.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SAMPLES = 60, LAST = 30 };

typedef enum outcome { EXACT, REFUSED, WRONG, SILENT, OUTCOMES } outcome;

static rig at;
static int stride = 1;
static uint64_t seed = 20261122;
static int came[OUTCOMES], of_file[RIG_FILES][OUTCOMES];
static unsigned weight;
static uint64_t least; /* the commit that must be there; later ones may */
static char *said;     /* by the child; shared */

static int setup(void **state) {
    (void)state;
    rig_begin(&at, "damage");
    memset(came, 0, sizeof came);
    memset(of_file, 0, sizeof of_file);
    least = LAST;
    weight = 1;
    return 0;
}

static int teardown(void **state) {
    (void)state;
    rig_end(&at);
    return 0;
}

static uint64_t draw(void) {
    uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    return z ^ (z >> 31);
}

/* --- Folders ------------------------------------------------------------------------------------------------------ */

typedef void life(void);

/* What a child leaves that lives so and is killed. */
static void leave(life *lives, rig_image *ret_image) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        faulty_disk_use((faulty_plan){ .folder = at.folder });
        lives();
        raise(SIGKILL);
    }
    waitpid(child, &status, 0);
    if (!WIFSIGNALED(status)) fail_msg("the life ended by itself");
    rig_image_take(&at, ret_image);
}

static void commits(uint64_t from, uint64_t to) {
    for (uint64_t n = from; n <= to; n++) {
        if (rig_model_change(&at, n, weight) != 0) _exit(1);
        rig_commit(&at);
    }
}

static void closed(void) {
    rig_open_well(&at);
    commits(1, LAST);
    rig_close(&at);
}

static void killed_with_a_log(void) {
    rig_open_well(&at);
    commits(1, 12);
    rig_close(&at);
    rig_open_well(&at);
    commits(13, LAST);
}

/* Tidied up, so that the log is there and nobody needs it. */
static void killed_after_tidying(void) {
    at.log_bytes = 1 << 18; /* of about 400,000 bytes, all copied by the last call */
    rig_open_well(&at);
    commits(1, LAST);
    if (at.store.tidy(at.store.self, NULL) != 0) _exit(1);
}

/* The log begins anew over an old one that was longer. */
static void killed_in_a_second_log(void) {
    rig_open_well(&at);
    commits(1, 25);
    rig_close(&at);
    rig_open_well(&at);
    commits(26, 27);
    rig_close(&at);
    at.log_bytes = 100000;
    rig_open_well(&at);
    commits(28, LAST);
}

/* --- Looking at one ----------------------------------------------------------------------------------------------- */

static int refused_well(int rc) {
    bool named = strstr(at.error.text, at.folder) != NULL;
    snprintf(said, 1000, "%d %.900s", rc, at.error.text);
    return named && (rc == GALE_DAMAGED || rc == GALE_UNSUPPORTED) ? REFUSED : SILENT;
}

static int look(void) {
    gale_store_about about = { .size = sizeof about };
    alarm(60);
    faulty_disk_use((faulty_plan){ .folder = at.folder });
    int rc = rig_open(&at, "words", true);
    if (rc < 0) return refused_well(rc);
    at.store.about(at.store.self, &about, NULL);
    snprintf(said, 1000, "commit %llu", (unsigned long long)about.commit);
    if (about.commit < least || about.commit > LAST) return WRONG;
    rc = rig_model_check(&at, about.commit, weight);
    if (rc < 0) return refused_well(rc);
    return rc == 0 ? EXACT : WRONG;
}

static outcome look_in_child(void) {
    int status = 0;
    said[0] = 0;
    pid_t child = fork();
    if (child == 0) _exit(look());
    waitpid(child, &status, 0);
    if (!WIFEXITED(status)) fail_msg("it was ended by signal %d", WTERMSIG(status));
    return (outcome)WEXITSTATUS(status);
}

static outcome outcome_of(const rig_image *image, const char *what, int file, size_t where) {
    rig_image_put(&at, image);
    outcome is = look_in_child();
    came[is]++;
    of_file[file][is]++;
    if (is >= WRONG) fail_msg("%s %s at %zu: outcome %d, '%s'", rig_files[file], what, where, is, said);
    return is;
}

/* Every place in small files; in others the first bytes, and samples. */
static bool is_sampled(size_t i, size_t size) {
    if (draw() % (unsigned)stride) return false;
    return size <= 600 || i < 40 || draw() % size < SAMPLES;
}

static void flip_and_cut(rig_image *image) {
    assert_int_equal(outcome_of(image, "untouched", 0, 0), EXACT);
    for (int file = 0; file < RIG_FILES; file++)
        for (size_t i = 0, size = image->sizes[file]; i < size; i++) {
            if (!is_sampled(i, size)) continue;
            char bit = (char)(1 << draw() % 8);
            image->bytes[file][i] ^= bit;
            outcome_of(image, "flipped", file, i);
            image->bytes[file][i] ^= bit;
            image->sizes[file] = i;
            outcome_of(image, "cut", file, i);
            image->sizes[file] = size;
        }
    print_message("%d exact, %d refused\n", came[EXACT], came[REFUSED]);
}

static void damage_is_told(life *lives) {
    rig_image image;
    leave(lives, &image);
    flip_and_cut(&image);
    assert_true(came[REFUSED] > 300 / stride && came[EXACT] > 10);
    rig_image_free(&image);
}

static void damage_to_a_store_that_was_closed_is_told(void **state) {
    (void)state;
    damage_is_told(closed);
}

static void damage_to_a_store_that_needs_its_log_is_told(void **state) {
    (void)state;
    damage_is_told(killed_with_a_log);
}

static void damage_to_a_log_that_is_not_needed_does_not_matter(void **state) {
    (void)state;
    damage_is_told(killed_after_tidying);
    assert_int_equal(of_file[3][REFUSED], 0);
    assert_true(of_file[3][EXACT] > 100 / stride / 2);
}

static void damage_to_a_log_that_began_anew_is_told(void **state) {
    (void)state;
    damage_is_told(killed_in_a_second_log);
}

/* --- Half of the log in the database ------------------------------------------------------------------------------ */

static uint64_t dies_at; /* 0: not, but tells when it would begin to tidy up */
static bool lazily;

/* Lives in one process, since the disk must see each file opened. The last commits may be such as were not synced. */
static void dies_while_tidying(void) {
    faulty_disk_use((faulty_plan){ .folder = at.folder, .kind = FAULTY_DEAD, .at = dies_at });
    rig_open_well(&at);
    commits(1, LAST - 5); /* the tree has its shape: half of a later one fits to half of an earlier one */
    rig_close(&at);
    rig_open_well(&at);
    commits(LAST - 4, LAST - 3);
    for (uint64_t n = LAST - 2; n <= LAST; n++)
        if (rig_model_change(&at, n, weight) != 0 ||
            at.store.commit(at.store.self, lazily ? 0 : GALE_STORE_SYNC, NULL, NULL) != 0)
            _exit(1);
    if (!dies_at) snprintf(said, 1000, "%lu", (unsigned long)faulty_disk_calls());
    rig_close(&at); /* copies the log */
}

/* The log's begin above all: whoever takes that for its end has half of the database alone. */
static void damage_both(rig_image *image) {
    for (int i = 0; i < 24; i++) {
        int file = i % 4 ? 3 : 2;
        if (!image->sizes[file]) continue;
        size_t where = draw() % image->sizes[file], size = image->sizes[file];
        if (i % 2 && where > 16000) where %= 16000;
        image->bytes[file][where] ^= 1;
        outcome_of(image, "flipped", file, where);
        image->bytes[file][where] ^= 1;
        image->sizes[file] = where;
        outcome_of(image, "cut", file, where);
        image->sizes[file] = size;
    }
}

/* At each call that tidying up makes. */
static void a_store_that_died_while_tidying_up_is_whole_or_tells(void **state) {
    (void)state;
    rig_image image;
    weight = 8; /* several pages, which are copied one after the other */
    for (int lazy = 0; lazy < 2; lazy++) {
        lazily = lazy;
        dies_at = 0;
        rig_end(&at);
        leave(dies_while_tidying, &image);
        rig_image_free(&image);
        uint64_t begins = strtoul(said, NULL, 10);
        for (dies_at = begins + 1; dies_at < begins + 36; dies_at += (uint64_t)stride) {
            rig_end(&at);
            leave(dies_while_tidying, &image);
            least = LAST;
            assert_int_equal(outcome_of(&image, "untouched", 0, 0), EXACT);
            if (lazily) least = LAST - 3;
            damage_both(&image);
            rig_image_free(&image);
        }
    }
    print_message("%d exact, %d refused\n", came[EXACT], came[REFUSED]);
    assert_true(came[REFUSED] > 1500 / stride && came[EXACT] > 300 / stride);
}

/* --- Whole files -------------------------------------------------------------------------------------------------- */

static void remove_each(life *lives, bool log_matters) {
    rig_image image;
    leave(lives, &image);
    for (int file = 0; file < RIG_FILES; file++) {
        char *bytes = image.bytes[file];
        image.bytes[file] = NULL;
        outcome is = outcome_of(&image, "removed", file, 0);
        assert_int_equal(is, file < 3 || log_matters ? REFUSED : EXACT);
        image.bytes[file] = bytes;
    }
    rig_image_free(&image);
}

static void a_file_that_is_missing_is_named_and_nothing_begins_anew(void **state) {
    (void)state;
    remove_each(killed_with_a_log, true);
    rig_end(&at);
    remove_each(closed, false);
}

static void earlier(void) {
    rig_open_well(&at);
    commits(1, 20);
    rig_close(&at);
}

static void later(void) {
    rig_open_well(&at);
    commits(21, LAST);
    rig_close(&at);
}

static void replace_each(const rig_image *from, rig_image *image) {
    for (int file = 1; file < RIG_FILES; file++) {
        char *bytes = image->bytes[file];
        size_t size = image->sizes[file];
        bool same = from->sizes[file] == size && memcmp(from->bytes[file], bytes, size) == 0;
        image->bytes[file] = from->bytes[file];
        image->sizes[file] = from->sizes[file];
        outcome is = outcome_of(image, "put back", file, 0);
        if (file == 2) assert_int_equal(is, REFUSED); /* the database itself */
        if (same) assert_int_equal(is, EXACT);
        image->bytes[file] = bytes;
        image->sizes[file] = size;
    }
}

static void a_file_that_was_put_back_to_an_older_one_is_refused_or_does_not_matter(void **state) {
    (void)state;
    rig_image old, new;
    leave(earlier, &old);
    leave(later, &new);
    replace_each(&old, &new);
    rig_image_free(&old);
    rig_image_free(&new);
}

static void another_stores_file_is_refused_or_does_not_matter(void **state) {
    (void)state;
    rig_image other, mine;
    leave(closed, &other);
    rig_end(&at);
    leave(closed, &mine);
    replace_each(&other, &mine);
    rig_image_free(&other);
    rig_image_free(&mine);
}

/* The database and its log, of one moment, but older than what the mark says: the very case for which it is there. */
static void a_store_that_was_cut_back_to_an_older_commit_is_refused_with_both_numbers(void **state) {
    (void)state;
    rig_image old, new;
    char expected[900];
    leave(earlier, &old);
    leave(later, &new);
    for (int file = 2; file < RIG_FILES; file++) {
        char *bytes = new.bytes[file];
        new.bytes[file] = old.bytes[file];
        old.bytes[file] = bytes;
        new.sizes[file] = old.sizes[file];
    }
    assert_int_equal(outcome_of(&new, "put back", 2, 0), REFUSED);
    snprintf(expected, sizeof expected,
             "%d the store '%s' is at commit 20, but commit %d was made: '%s/data' was put back to an older one",
             GALE_DAMAGED, at.folder, LAST, at.folder);
    assert_string_equal(said, expected);
    rig_image_free(&old);
    rig_image_free(&new);
}

/* --- While it is open --------------------------------------------------------------------------------------------- */

static void a_byte_that_changes_while_the_store_is_open_is_told(void **state) {
    (void)state;
    unsigned told = 0;
    for (int i = 0; i < 60; i++) {
        char path[RIG_PATH + 40];
        const char *name = i % 2 ? "data" : "data-wal";
        rig_end(&at);
        rig_open_well(&at);
        commits(1, 25);
        if (i % 2) {
            rig_close(&at);
            rig_open_well(&at);
        }
        snprintf(path, sizeof path, "%s/%s", at.folder, name);
        FILE *file = fopen(path, "r+");
        fseek(file, 0, SEEK_END);
        long where = (long)(draw() % (uint64_t)ftell(file));
        fseek(file, where, SEEK_SET);
        int byte = fgetc(file);
        fseek(file, where, SEEK_SET);
        fputc(byte ^ 16, file);
        fclose(file);
        int rc = rig_model_check(&at, 25, 1);
        if (rc != 0 && rc != GALE_DAMAGED) fail_msg("%s flipped at %ld: %d %s", path, where, rc, at.error.text);
        if (rc) assert_non_null(strstr(at.error.text, path));
        told += rc != 0;
        rig_close(&at);
    }
    assert_true(told > 5);
}

int main(int count, char **words) {
    if (count > 1) stride = atoi(words[1]);
    if (stride < 1) return 2;
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(damage_to_a_store_that_was_closed_is_told),
        CASE(damage_to_a_store_that_needs_its_log_is_told),
        CASE(damage_to_a_log_that_is_not_needed_does_not_matter),
        CASE(damage_to_a_log_that_began_anew_is_told),
        CASE(a_store_that_died_while_tidying_up_is_whole_or_tells),
        CASE(a_file_that_is_missing_is_named_and_nothing_begins_anew),
        CASE(a_file_that_was_put_back_to_an_older_one_is_refused_or_does_not_matter),
        CASE(another_stores_file_is_refused_or_does_not_matter),
        CASE(a_store_that_was_cut_back_to_an_older_commit_is_refused_with_both_numbers),
        CASE(a_byte_that_changes_while_the_store_is_open_is_told),
    };
    said = mmap(NULL, 1000, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
