/* A sink whose files are full after some bytes, or when an hour is over. */
#include "connect/file/rotation.h"

#include "harness/fake_collector.h"
#include "harness/fake_saver.h"
#include "harness/faulty_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <gale/file.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/cm.h"

typedef struct fixture {
    fake_collector fake;
    gale_bolt bolt;
    void *self;
    gale_manual_clock *clock;
    gale_clock handle;
    char folder[40], path[200];
    gale_file_sink_options options; /* of the next one that begins */
    char read[10000];
} fixture;

static int setup(void **state) {
    fixture *f = test_calloc(1, sizeof *f);
    fake_init(&f->fake);
    fake_source(&f->fake, "parser", "host, text");
    snprintf(f->folder, sizeof f->folder, "/tmp/gale_turns_XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    f->clock = gale_manual_clock_new(7 * 3600 * GALE_SECOND);
    f->handle = gale_manual_clock_handle(f->clock);
    f->options = (gale_file_sink_options){ .size = sizeof f->options, .fields = "text", .clock = &f->handle };
    *state = f;
    return 0;
}

static void empty(const fixture *f) {
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s/*", f->folder);
    assert_int_equal(system(command), 0);
}

static int teardown(void **state) {
    fixture *f = *state;
    fake_cleanup(&f->bolt, f->self);
    empty(f);
    assert_int_equal(rmdir(f->folder), 0);
    gale_manual_clock_free(f->clock);
    fake_fini(&f->fake);
    test_free(f);
    return 0;
}

static void begin(fixture *f, const char *path) {
    gale_error error = GALE_ERROR_INIT;
    snprintf(f->path, sizeof f->path, "%s/%s", f->folder, path);
    f->options.path = f->path;
    if (gale_file_sink_bolt(&f->options, &f->bolt, &error) < 0) fail_msg("%s", error.text);
    if (fake_prepare(&f->fake, &f->bolt, &f->self) < 0) fail_msg("%s", fake_text(&f->fake.reports));
}

static int execute(fixture *f, const char *host, const char *text) {
    const gale_value values[] = { gale_text(host), gale_text(text) };
    return f->bolt.ops->execute(f->self, fake_tuple(&f->fake, values, 2), &f->fake.collector);
}

static int flush(fixture *f) {
    return f->bolt.ops->flush(f->self, &f->fake.collector);
}

static void stop(fixture *f) {
    fake_cleanup(&f->bolt, f->self);
    f->self = NULL;
    f->bolt.free_user = NULL;
}

static const char *place(fixture *f, const char *name) {
    static char path[300];
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    return path;
}

/* What a file below the folder holds, or "none". */
static const char *content(fixture *f, const char *name) {
    FILE *file = fopen(place(f, name), "rb");
    if (!file) return "none";
    f->read[fread(f->read, 1, sizeof f->read - 1, file)] = 0;
    fclose(file);
    return f->read;
}

static void put(fixture *f, const char *name, const char *text) {
    FILE *file = fopen(place(f, name), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* --- By size --- */

static void a_file_that_would_be_too_large_gets_a_number(void **state) {
    fixture *f = *state;
    f->options.rotate_bytes = 6;
    begin(f, "out");
    static const char *const lines[] = { "a", "bb", "c", "dddd", "eeeee", "ffffff", "g" };
    for (int i = 0; i < 7; i++) {
        assert_int_equal(execute(f, "", lines[i]), 0);
        if (i % 2) assert_int_equal(flush(f), 0); /* which changes nothing */
    }
    assert_int_equal(flush(f), 0);
    assert_string_equal(content(f, "out.000001"), "a\nbb\n");
    assert_string_equal(content(f, "out.000002"), "c\n");
    assert_string_equal(content(f, "out.000003"), "dddd\n");
    assert_string_equal(content(f, "out.000004"), "eeeee\n");  /* just full */
    assert_string_equal(content(f, "out.000005"), "ffffff\n"); /* too long, and alone */
    assert_string_equal(content(f, "out"), "g\n");
    assert_string_equal(content(f, "out.000006"), "none");
}

static void numbers_go_on_where_an_earlier_run_came_to(void **state) {
    fixture *f = *state;
    f->options.rotate_bytes = 2;
    f->options.append = true;
    put(f, "out.000041", "");
    put(f, "out.1000000", ""); /* seven digits, when there are so many */
    put(f, "out.0000043", ""); /* these are none */
    put(f, "out.000044x", "");
    put(f, "out.44", "");
    put(f, "other.000099", "");
    begin(f, "out");
    assert_int_equal(execute(f, "", "a"), 0);
    assert_int_equal(execute(f, "", "b"), 0);
    stop(f);
    assert_string_equal(content(f, "out.1000001"), "a\n");
    begin(f, "out");
    assert_int_equal(execute(f, "", "c"), 0); /* what the file holds counts */
    stop(f);
    assert_string_equal(content(f, "out.1000002"), "b\n");
    assert_string_equal(content(f, "out"), "c\n");
}

static void a_packed_name_keeps_its_ending(void **state) {
    fixture *f = *state;
    char name[GX_FILE_NAME_SIZE], path[GX_FILE_PATH_MAX];
    gale_error error = GALE_ERROR_INIT;
    uint64_t last;
    assert_int_equal(gx_rotation_name("a/b.gz", 7, name, NULL), 0);
    assert_string_equal(name, "a/b.000007.gz");
    put(f, "b.000012.gz", "");
    put(f, "b.000013", "");
    snprintf(path, sizeof path, "%s", place(f, "b.gz"));
    assert_int_equal(gx_rotation_last(path, &last, NULL), 0);
    assert_int_equal(last, 12);
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = 0;
    assert_int_equal(gx_rotation_name(path, 1, name, &error), GALE_TOO_LARGE);
}

static void only_the_last_ones_are_kept(void **state) {
    fixture *f = *state;
    f->options.rotate_bytes = 2;
    f->options.keep = 2;
    put(f, "out.000003", "of an earlier run\n");
    put(f, "out.000004", "of an earlier run\n");
    begin(f, "out");
    assert_int_equal(execute(f, "", "a"), 0);
    assert_int_equal(execute(f, "", "b"), 0);
    assert_string_equal(content(f, "out.000003"), "none");
    assert_string_equal(content(f, "out.000004"), "of an earlier run\n");
    for (int i = 0; i < 5; i++) assert_int_equal(execute(f, "", "c"), 0);
    assert_int_equal(flush(f), 0);
    assert_string_equal(content(f, "out.000008"), "none");
    assert_string_equal(content(f, "out.000009"), "c\n");
    assert_string_equal(content(f, "out.000010"), "c\n");
}

static void every_file_that_tuples_name_is_rotated(void **state) {
    fixture *f = *state;
    f->options.rotate_bytes = 4;
    f->options.max_open = 1;
    f->fake.context.task_index = 1;
    begin(f, "{host}");
    for (int i = 0; i < 9; i++) assert_int_equal(execute(f, i % 2 ? "x" : "y", i % 2 ? "1" : "2"), 0);
    assert_int_equal(flush(f), 0);
    assert_string_equal(content(f, "x.1.000001"), "1\n1\n");
    assert_string_equal(content(f, "x.1"), "1\n1\n");
    assert_string_equal(content(f, "y.1.000001"), "2\n2\n");
    assert_string_equal(content(f, "y.1.000002"), "2\n2\n");
    assert_string_equal(content(f, "y.1"), "2\n");
}

/* --- By time --- */

static void another_hour_begins_another_file(void **state) {
    fixture *f = *state;
    f->options.rotate_every = 3600;
    begin(f, "out");
    assert_int_equal(execute(f, "", "7h"), 0);
    gale_manual_clock_advance(f->clock, 3600 * GALE_SECOND - 1);
    assert_int_equal(execute(f, "", "nearly 8h"), 0);
    gale_manual_clock_advance(f->clock, 1);
    assert_int_equal(execute(f, "", "8h"), 0);
    gale_manual_clock_advance(f->clock, 5 * 3600 * GALE_SECOND); /* hours without a line have no file */
    assert_int_equal(execute(f, "", "13h"), 0);
    assert_int_equal(flush(f), 0);
    assert_string_equal(content(f, "out.000001"), "7h\nnearly 8h\n");
    assert_string_equal(content(f, "out.000002"), "8h\n");
    assert_string_equal(content(f, "out"), "13h\n");
}

static void what_an_earlier_run_wrote_in_another_hour_has_a_file_of_its_own(void **state) {
    fixture *f = *state;
    f->options.rotate_every = 3600;
    f->options.append = true;
    f->options.clock = NULL; /* the machine's, by which files are dated */
    const struct timespec old[] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };
    put(f, "out", "old\n");
    assert_int_equal(utimensat(AT_FDCWD, place(f, "out"), old, 0), 0);
    begin(f, "out");
    assert_int_equal(execute(f, "", "new"), 0);
    stop(f);
    assert_string_equal(content(f, "out.000001"), "old\n");
    assert_string_equal(content(f, "out"), "new\n");
}

/* --- Misuse and faults --- */

static void options_are_checked(void **state) {
    fixture *f = *state;
    static const struct {
        gale_file_sink_options options;
        const char *text;
    } wrong[] = {
        { { .path = "a", .rotate_every = -1 }, "file sink: rotate_every is -1 seconds, must be 0 or in 0.001 to 1e9" },
        { { .path = "a", .rotate_every = 1e10 },
          "file sink: rotate_every is 1e+10 seconds, must be 0 or in 0.001 to 1e9" },
        { { .path = "a", .rotate_bytes = UINT64_MAX },
          "file sink: rotate_bytes is 18446744073709551615, at most 9223372036854775807" },
        { { .path = "a", .keep = 3 },
          "file sink: keep says how many full files stay, and none ever is: give rotate_bytes "
          "(rotateBytes) or rotate_every (rotateEvery)" },
        { { .path = "-", .rotate_bytes = 3 }, "file sink: the standard output cannot be rotated" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        gale_error error = GALE_ERROR_INIT;
        gale_file_sink_options options = wrong[i].options;
        options.size = sizeof options;
        assert_int_equal(gale_file_sink_bolt(&options, &f->bolt, &error), GALE_INVALID);
        assert_string_equal(error.text, wrong[i].text);
    }
}

enum { BATCHES = 6, EACH = 5 };

static int write_batch(fixture *f, int batch) {
    for (int i = 0; i < EACH; i++) {
        char text[40];
        snprintf(text, sizeof text, "%d.%d", batch, i);
        assert_int_equal(execute(f, "", text), 0);
    }
    return flush(f);
}

/* All lines in the order of the numbers, from number 1 on. */
static const char *all_lines(fixture *f, char all[10000]) {
    char name[40] = "out.000001";
    all[0] = 0;
    for (int i = 2; strcmp(content(f, name), "none") != 0; i++) {
        strcat(all, f->read);
        snprintf(name, sizeof name, "out.%06d", i);
    }
    if (strcmp(content(f, "out"), "none") != 0) strcat(all, f->read);
    return all;
}

static void whatever_call_fails_what_was_acked_is_there_in_its_order(void **state) {
    fixture *f = *state;
    static const faulty_plan plans[] = {
        { "/tmp/gale_turns_", FAULTY_ONCE, EIO, 0 },   { "/tmp/gale_turns_", FAULTY_SHORT, 0, 0 },
        { "/tmp/gale_turns_", FAULTY_ONCE, EINTR, 0 }, { "/tmp/gale_turns_", FAULTY_FULL, 0, 0 },
        { "/tmp/gale_turns_", FAULTY_DEAD, 0, 0 },
    };
    f->options.rotate_bytes = 30;
    for (size_t i = 0; i < 2 * (sizeof plans / sizeof *plans); i++) {
        faulty_plan plan = plans[i / 2];
        f->options.sync = i % 2;
        for (bool hit = true; hit;) {
            char all[10000], expected[2000] = "";
            int acked = 0;
            plan.at++;
            f->fake.stop_code = 0;
            empty(f);
            faulty_disk_use(plan);
            snprintf(f->path, sizeof f->path, "%s/out", f->folder);
            f->options.path = f->path;
            assert_int_equal(gale_file_sink_bolt(&f->options, &f->bolt, NULL), 0);
            bool prepared = fake_prepare(&f->fake, &f->bolt, &f->self) == 0;
            while (prepared && acked < BATCHES && write_batch(f, acked) == 0) acked++;
            if (prepared)
                stop(f);
            else
                f->bolt.free_user(f->bolt.user), f->bolt.free_user = NULL;
            hit = faulty_disk_calls() >= plan.at;
            faulty_disk_end();
            assert_true(acked == BATCHES || f->fake.stop_code < 0 || !prepared);
            for (int n = 0; n < acked * EACH; n++)
                snprintf(expected + strlen(expected), 30, "%d.%d\n", n / EACH, n % EACH);
            if (strncmp(all_lines(f, all), expected, strlen(expected)) != 0)
                fail_msg("'%s' is not '%s'", all, expected);
        }
        assert_true(plan.at > 20);
    }
}

/* --- Checkpoints --- */

static void five_files(fixture *f) {
    static const char *const names[] = { "out.000001", "out.000002", "out.000003", "out.000004", "out" };
    for (int i = 0; i < 5; i++) {
        char text[40];
        snprintf(text, sizeof text, "%d", i + 1);
        put(f, names[i], text);
    }
}

static void what_was_begun_since_a_checkpoint_is_undone(void **state) {
    fixture *f = *state;
    bool undone;
    five_files(f);
    char path[300];
    snprintf(path, sizeof path, "%s", place(f, "out"));
    assert_int_equal(gx_rotation_undo(path, 5, &undone, NULL), 0);
    assert_false(undone); /* nothing was */
    assert_string_equal(content(f, "out"), "5");
    assert_int_equal(gx_rotation_undo(path, 3, &undone, NULL), 0);
    assert_true(undone);
    assert_string_equal(content(f, "out"), "3");
    assert_string_equal(content(f, "out.000002"), "2");
    assert_string_equal(content(f, "out.000003"), "none");
    assert_string_equal(content(f, "out.000004"), "none");
    assert_int_equal(gx_rotation_undo(path, 3, &undone, NULL), 0);
    assert_false(undone);
    assert_string_equal(content(f, "out"), "3");
}

static void an_undoing_that_was_broken_off_is_done_again(void **state) {
    fixture *f = *state;
    for (int kind = 0; kind < 2; kind++) {
        faulty_plan plan = { "/tmp/gale_turns_", kind ? FAULTY_DEAD : FAULTY_ONCE, EIO, 0 };
        for (bool hit = true; hit;) {
            char path[300];
            bool undone;
            gale_error error = GALE_ERROR_INIT;
            plan.at++;
            empty(f);
            five_files(f);
            snprintf(path, sizeof path, "%s", place(f, "out"));
            faulty_disk_use(plan);
            int rc = gx_rotation_undo(path, 2, &undone, &error);
            hit = faulty_disk_calls() >= plan.at;
            faulty_disk_end();
            assert_true((rc < 0) == (error.length > 0));
            assert_int_equal(gx_rotation_undo(path, 2, &undone, NULL), 0);
            assert_string_equal(content(f, "out"), "2");
            assert_string_equal(content(f, "out.000001"), "1");
            assert_string_equal(content(f, "out.000002"), "none");
            assert_string_equal(content(f, "out.000003"), "none");
            assert_string_equal(content(f, "out.000004"), "none");
        }
        assert_true(plan.at > 6);
    }
}

static void what_another_run_has_is_not_undone(void **state) {
    fixture *f = *state;
    bool undone;
    gale_error error = GALE_ERROR_INIT;
    char path[300];
    five_files(f);
    snprintf(path, sizeof path, "%s", place(f, "out"));
    int fd = open(path, O_WRONLY);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_int_equal(gx_rotation_undo(path, 2, &undone, &error), GALE_STATE);
    close(fd);
    assert_string_equal(content(f, "out.000004"), "4");
}

static void files_that_are_not_kept_go_when_a_checkpoint_lasts(void **state) {
    fixture *f = *state;
    fake_saver saver;
    fake_saver_init(&saver, &f->fake);
    f->options.rotate_bytes = 2;
    f->options.keep = 1;
    f->fake.context.durable = true;
    begin(f, "out");
    for (int i = 0; i < 4; i++) assert_int_equal(execute(f, "", (const char *[]){ "a", "b", "c", "d" }[i]), 0);
    assert_int_equal(fake_save(&saver, f->bolt.ops->durable, f->self), 0);
    assert_string_equal(content(f, "out.000001"), "a\n");
    assert_int_equal(fake_prepare_pledges(&saver), 0);
    assert_string_equal(content(f, "out.000001"), "a\n");
    assert_int_equal(fake_commit_pledges(&saver), 0);
    assert_string_equal(content(f, "out.000001"), "none");
    assert_string_equal(content(f, "out.000002"), "none");
    assert_string_equal(content(f, "out.000003"), "c\n");
    stop(f);
    fake_drop_pledges(&saver);
    f->fake.context.resumes = true;
    begin(f, "out");
    assert_int_equal(fake_restore(&saver, f->bolt.ops->durable, f->self), 0);
    assert_int_equal(execute(f, "", "e"), 0);
    assert_int_equal(flush(f), 0);
    assert_string_equal(content(f, "out.000003"), "c\n"); /* until the next one lasts */
    assert_string_equal(content(f, "out.000004"), "d\n");
    assert_string_equal(content(f, "out"), "e\n");
    stop(f);
    fake_saver_fini(&saver);
}

static void a_checkpoint_of_a_sink_that_did_not_rotate_is_gone_on_with(void **state) {
    fixture *f = *state;
    fake_saver saver;
    fake_saver_init(&saver, &f->fake);
    f->fake.context.durable = true;
    begin(f, "out");
    assert_int_equal(execute(f, "", "a"), 0);
    assert_int_equal(fake_save(&saver, f->bolt.ops->durable, f->self), 0);
    stop(f);
    fake_drop_pledges(&saver);
    f->options.rotate_bytes = 4;
    f->fake.context.resumes = true;
    begin(f, "out");
    assert_int_equal(fake_restore(&saver, f->bolt.ops->durable, f->self), 0);
    assert_int_equal(execute(f, "", "b"), 0);
    assert_int_equal(execute(f, "", "c"), 0);
    stop(f);
    assert_string_equal(content(f, "out.000001"), "a\nb\n");
    assert_string_equal(content(f, "out"), "c\n");
    fake_saver_fini(&saver);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(a_file_that_would_be_too_large_gets_a_number),
        CASE(numbers_go_on_where_an_earlier_run_came_to),
        CASE(a_packed_name_keeps_its_ending),
        CASE(only_the_last_ones_are_kept),
        CASE(every_file_that_tuples_name_is_rotated),
        CASE(another_hour_begins_another_file),
        CASE(what_an_earlier_run_wrote_in_another_hour_has_a_file_of_its_own),
        CASE(options_are_checked),
        CASE(whatever_call_fails_what_was_acked_is_there_in_its_order),
        CASE(what_was_begun_since_a_checkpoint_is_undone),
        CASE(an_undoing_that_was_broken_off_is_done_again),
        CASE(what_another_run_has_is_not_undone),
        CASE(files_that_are_not_kept_go_when_a_checkpoint_lasts),
        CASE(a_checkpoint_of_a_sink_that_did_not_rotate_is_gone_on_with),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
