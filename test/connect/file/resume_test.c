/* The file spout with a state file: where it goes on, and what it refuses. */
#include "connect/file/settings.h"
#include "connect/file/state.h"
#include "harness/fake_collector.h"

#include <gale/file.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct fixture {
    fake_collector fake;
    gale_spout spout;
    void *self;
    gale_wait wait;
    char folder[40];
    char path[60];
    char state[60];
    char read[20000];
} fixture;

static int setup(void **state) {
    fixture *f = test_calloc(1, sizeof *f);
    fake_init(&f->fake);
    snprintf(f->folder, sizeof f->folder, "/tmp/gale_resume_XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->path, sizeof f->path, "%s/input", f->folder);
    snprintf(f->state, sizeof f->state, "%s/state", f->folder);
    *state = f;
    return 0;
}

/* Nothing but these may be left. */
static int teardown(void **state) {
    fixture *f = *state;
    char second[70];
    if (f->self) f->spout.ops->close(f->self);
    unlink(f->path);
    unlink(f->state);
    snprintf(second, sizeof second, "%s.1", f->state);
    unlink(second);
    assert_int_equal(rmdir(f->folder), 0);
    fake_fini(&f->fake);
    test_free(f);
    return 0;
}

static void write_to(const char *path, const char *mode, const char *text) {
    FILE *file = fopen(path, mode);
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void write_file(fixture *f, const char *text) {
    write_to(f->path, "wb", text);
}

static const char *content(fixture *f, const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    f->read[fread(f->read, 1, sizeof f->read - 1, file)] = 0;
    fclose(file);
    return f->read;
}

static gx_file_state read_state(fixture *f) {
    gx_file_state state;
    assert_int_equal(gx_file_state_parse("s", gx_str(content(f, f->state)), &state, NULL), 0);
    return state;
}

static void expect_state(fixture *f, int64_t offset, uint64_t lines) {
    gx_file_state state = read_state(f);
    assert_int_equal(state.offset, offset);
    assert_int_equal(state.lines, lines);
}

/* The definition goes at once: an instance does not need it. */
static int try_open(fixture *f, double interval) {
    gale_file_spout_options options = {
        .size = sizeof options, .path = f->path, .state = f->state, .state_interval = interval
    };
    assert_int_equal(gale_file_spout(&options, &f->spout, NULL), 0);
    ((gx_file_settings *)f->spout.user)->block = 2; /* bytes: so tasks take lines of one letter in turn */
    fake_forget(&f->fake);
    int rc = fake_open(&f->fake, &f->spout, &f->self);
    f->spout.free_user(f->spout.user);
    f->spout.free_user = NULL;
    return rc;
}

static void start(fixture *f) {
    assert_int_equal(try_open(f, 0), 0);
}

static void stop(fixture *f) {
    f->spout.ops->close(f->self);
    f->self = NULL;
}

/* As if the process were killed: nothing is written. */
static void crash(fixture *f) {
    char kept[GX_FILE_STATE_TEXT];
    snprintf(kept, sizeof kept, "%s", content(f, f->state));
    stop(f);
    write_to(f->state, "wb", kept);
}

static int next(fixture *f) {
    return f->spout.ops->next(f->self, &f->fake.collector, &f->wait);
}

static uint64_t emit(fixture *f) {
    assert_int_equal(next(f), GALE_NEXT_EMITTED);
    return f->fake.last_message;
}

static void ack(fixture *f, uint64_t id) {
    f->spout.ops->ack(f->self, id);
}

static void answer_failed(fixture *f, uint64_t id, int32_t reason) {
    gale_failure failure = { sizeof failure, reason, 4, "split", "", 1, false };
    (f->spout.ops->fail)(f->self, id, &failure);
}

static void read_all(fixture *f) {
    int rc;
    while ((rc = next(f)) == GALE_NEXT_EMITTED) ack(f, f->fake.last_message);
    assert_int_equal(rc, GALE_NEXT_DONE);
}

static void expect_rest(fixture *f, const char *emitted) {
    read_all(f);
    assert_string_equal(fake_text(&f->fake.emitted), emitted);
}

static void refuse(fixture *f, int code, const char *format, ...) GALE_PRINTF(3, 4);
static void refuse(fixture *f, int code, const char *format, ...) {
    char before[GX_FILE_STATE_TEXT], wanted[600];
    snprintf(before, sizeof before, "%s", content(f, f->state));
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(wanted, sizeof wanted, format, arguments);
    va_end(arguments);
    assert_int_equal(try_open(f, 0), code);
    assert_string_equal(fake_text(&f->fake.reports), wanted);
    assert_string_equal(content(f, f->state), before);
}

/* --- Going on ----------------------------------------------------------------------------------------------------- */

static void a_new_state_begins_with_the_first_line(void **state) {
    fixture *f = *state;
    write_file(f, "a\nbb\nccc\n");
    start(f);
    expect_state(f, 0, 0);
    expect_rest(f, "[\"a\"] #0\n[\"bb\"] #0\n[\"ccc\"] #0\n");
}

static void a_stop_after_the_end_leaves_nothing_to_do(void **state) {
    fixture *f = *state;
    write_file(f, "a\nbb\nccc\n");
    start(f);
    read_all(f);
    expect_state(f, 9, 3); /* at once, not only when it closes */
    stop(f);
    start(f);
    assert_int_equal(next(f), GALE_NEXT_DONE);
    stop(f);
    expect_state(f, 9, 3);
}

static void what_is_not_answered_comes_again(void **state) {
    fixture *f = *state;
    write_file(f, "a\nbb\nccc\ndddd\n");
    start(f);
    uint64_t a = emit(f), b = emit(f), c = emit(f);
    ack(f, a);
    ack(f, c);
    answer_failed(f, b, GALE_REASON_STOPPED);
    stop(f);
    expect_state(f, 2, 1);
    start(f);
    expect_rest(f, "[\"bb\"] #0\n[\"ccc\"] #0\n[\"dddd\"] #0\n");
    char wanted[200];
    snprintf(wanted, sizeof wanted, "%s: goes on behind line 1\n", f->path);
    assert_string_equal(fake_text(&f->fake.logged), wanted);
}

/* Its results may be there, since they come before their answers. */
static void a_run_that_was_killed_before_the_first_answer_is_gone_on_with(void **state) {
    fixture *f = *state;
    write_file(f, "a\nbb\n");
    start(f);
    assert_false(f->fake.resumed);
    emit(f);
    crash(f);
    start(f);
    assert_true(f->fake.resumed);
    expect_rest(f, "[\"a\"] #0\n[\"bb\"] #0\n");
}

static void a_run_that_ends_in_order_without_an_answer_has_not_been(void **state) {
    fixture *f = *state;
    write_file(f, "a\nbb\n");
    start(f);
    answer_failed(f, emit(f), GALE_REASON_STOPPED);
    stop(f);
    assert_int_equal(access(f->state, F_OK), -1);
    start(f);
    assert_false(f->fake.resumed);
}

static void what_was_given_up_is_answered(void **state) {
    fixture *f = *state;
    write_file(f, "a\nbb\n");
    start(f);
    answer_failed(f, emit(f), GALE_REASON_REJECTED);
    emit(f);
    stop(f);
    expect_state(f, 2, 1);
}

static void a_line_that_waits_to_be_tried_again_holds_the_place(void **state) {
    fixture *f = *state;
    write_file(f, "a\nbb\nccc\n");
    start(f);
    answer_failed(f, emit(f), GALE_REASON_TIMEOUT);
    gale_manual_clock_advance(f->fake.clock, 5 * GALE_SECOND);
    uint64_t a = emit(f);
    ack(f, emit(f));
    expect_state(f, 0, 0);
    ack(f, a);
    gale_manual_clock_advance(f->fake.clock, 5 * GALE_SECOND);
    ack(f, emit(f));
    expect_state(f, 9, 3);
}

static void the_state_is_written_once_in_an_interval(void **state) {
    fixture *f = *state;
    write_file(f, "a\nb\nc\nd\ne\n");
    assert_int_equal(try_open(f, 0.5), 0);
    ack(f, emit(f));
    expect_state(f, 0, 0);
    gale_manual_clock_advance(f->fake.clock, GALE_SECOND / 2 - 1);
    ack(f, emit(f));
    expect_state(f, 0, 0);
    gale_manual_clock_advance(f->fake.clock, 1);
    ack(f, emit(f));
    expect_state(f, 6, 3);
    ack(f, emit(f));
    expect_state(f, 6, 3);
    crash(f);
    start(f);
    expect_rest(f, "[\"d\"] #0\n[\"e\"] #0\n");
}

static void a_file_that_has_grown_is_read_on(void **state) {
    fixture *f = *state;
    write_file(f, "a\r\nlast");
    start(f);
    read_all(f);
    stop(f);
    write_to(f->path, "ab", "\r\nb\nlast");
    start(f);
    expect_rest(f, "[\"b\"] #0\n[\"last\"] #0\n");
    stop(f);
    write_to(f->path, "ab", "\nc");
    start(f);
    expect_rest(f, "[\"c\"] #0\n");
    stop(f);
    write_to(f->path, "ab", "ontinued\n"); /* what is behind the place is a line of its own */
    start(f);
    expect_rest(f, "[\"ontinued\"] #0\n");
}

static void a_copy_is_gone_on_with_and_that_is_told(void **state) {
    fixture *f = *state;
    write_file(f, "a\nb\n");
    start(f);
    ack(f, emit(f));
    stop(f);
    char copy[70];
    snprintf(copy, sizeof copy, "%s.copy", f->path);
    write_to(copy, "wb", "a\nb\n");
    assert_int_equal(rename(copy, f->path), 0);
    start(f);
    char wanted[200];
    snprintf(wanted, sizeof wanted, "%s: goes on behind line 1; the file was moved or copied since\n", f->path);
    assert_string_equal(fake_text(&f->fake.logged), wanted);
    expect_rest(f, "[\"b\"] #0\n");
}

static void line_numbers_go_on(void **state) {
    fixture *f = *state;
    write_file(f, "a\nb\n");
    start(f);
    ack(f, emit(f));
    stop(f);
    start(f);
    answer_failed(f, emit(f), GALE_REASON_REJECTED);
    assert_string_equal(fake_text(&f->fake.reports), "line 2 given up after 1 attempt: rejected (split)\n");
}

static void every_task_keeps_a_state_of_its_own(void **state) {
    fixture *f = *state;
    static const char *const first[] = { "[\"1\"] #0\n", "[\"2\"] #0\n" };
    static const char *const rest[] = { "[\"3\"] #0\n[\"5\"] #0\n", "[\"4\"] #0\n[\"6\"] #0\n" };
    write_file(f, "1\n2\n3\n4\n5\n6\n");
    f->fake.context.task_count = 2;
    for (uint32_t i = 0; i < 2; i++) {
        f->fake.context.task_index = i;
        start(f);
        ack(f, emit(f));
        assert_string_equal(fake_text(&f->fake.emitted), first[i]);
        stop(f);
    }
    for (uint32_t i = 0; i < 2; i++) {
        f->fake.context.task_index = i;
        start(f);
        expect_rest(f, rest[i]);
        stop(f);
    }
}

/* --- What is refused ---------------------------------------------------------------------------------------------- */

static void another_number_of_tasks_is_refused(void **state) {
    fixture *f = *state;
    write_file(f, "1\n2\n");
    start(f);
    ack(f, emit(f));
    stop(f);
    f->fake.context.task_count = 4;
    refuse(f, GALE_INVALID,
           "state file '%s' was written by task 1 of 1, this is task 1 of 4: tasks have blocks of the file; keep the "
           "number of tasks, or remove the state files\n",
           f->state);
}

static void a_file_truncated_below_the_place_is_refused(void **state) {
    fixture *f = *state;
    write_file(f, "a\nb\nc\n");
    start(f);
    read_all(f);
    stop(f);
    assert_int_equal(truncate(f->path, 5), 0);
    refuse(f, GALE_INVALID,
           "%s: has 5 bytes, but state file '%s' goes on at byte 6: the file was truncated; remove the state file to "
           "read from the beginning\n",
           f->path, f->state);
}

static void expect_other(fixture *f, int64_t offset) {
    refuse(f, GALE_INVALID,
           "%s: is not the file that state file '%s' was written for: what lies before byte %lld differs; remove the "
           "state file to read from the beginning\n",
           f->path, f->state, (long long)offset);
}

static void another_file_is_refused(void **state) {
    fixture *f = *state;
    write_file(f, "a\nb\nc\n");
    start(f);
    read_all(f);
    stop(f);
    write_file(f, "a\nx\nc\nd\n");
    expect_other(f, 6);
}

static void a_long_file_is_known_by_both_ends_of_what_was_read(void **state) {
    fixture *f = *state;
    static char text[40001];
    for (int i = 0; i < 40000; i++) text[i] = (i + 1) % 10 ? 'x' : '\n';
    static const int changed[] = { 0, 4095, 40000 - 4096, 39998 };
    write_file(f, text);
    start(f);
    read_all(f);
    stop(f);
    for (int i = 0; i < 4; i++) {
        text[changed[i]] = 'y';
        write_file(f, text);
        expect_other(f, 40000);
        text[changed[i]] = 'x';
    }
    write_file(f, text);
    start(f);
    assert_int_equal(next(f), GALE_NEXT_DONE);
}

static void a_damaged_state_is_refused_and_left_alone(void **state) {
    fixture *f = *state;
    write_file(f, "a\n");
    write_to(f->state, "wb", "");
    refuse(f, GALE_SYNTAX,
           "state file '%s' is damaged: it does not begin with 'gale-file-state'; remove it to read from the "
           "beginning\n",
           f->state);
    unlink(f->state);
}

static void expect_input_is_safe(fixture *f, const char *written) {
    char wanted[300];
    assert_int_equal(try_open(f, 0), GALE_INVALID);
    snprintf(wanted, sizeof wanted, "%s: is read, and '%s' would be written to keep the place in it\n", f->path,
             written);
    assert_string_equal(fake_text(&f->fake.reports), wanted);
    assert_string_equal(content(f, f->path), "a\n");
}

static void a_state_that_would_take_the_inputs_place_is_refused(void **state) {
    fixture *f = *state;
    static const char *const endings[] = { "", ".new", ".lock" };
    char written[70];
    for (int i = 0; i < 3; i++) {
        snprintf(f->path, sizeof f->path, "%s/s%s", f->folder, endings[i]);
        snprintf(f->state, sizeof f->state, "%s/./s", f->folder);
        snprintf(written, sizeof written, "%s%s", f->state, endings[i]);
        write_file(f, "a\n");
        expect_input_is_safe(f, written);
        unlink(f->path);
    }
}

static void a_state_that_another_task_keeps_is_refused(void **state) {
    fixture *f = *state;
    char wanted[300];
    write_file(f, "a\nb\n");
    start(f);
    void *first = f->self;
    ack(f, emit(f));
    assert_int_equal(try_open(f, 0), GALE_STATE);
    snprintf(
        wanted, sizeof wanted,
        "'%s' is in use by this process already, which holds '%s.lock'\na state file belongs to one run at a time\n",
        f->state, f->state);
    assert_string_equal(fake_text(&f->fake.reports), wanted);
    f->self = first;
    stop(f);
    expect_state(f, 2, 1);
    start(f); /* whoever held it has let it go */
    expect_rest(f, "[\"b\"] #0\n");
}

static void a_state_that_is_a_link_is_refused_and_left_alone(void **state) {
    fixture *f = *state;
    char other[70], wanted[300];
    write_file(f, "a\n");
    snprintf(other, sizeof other, "%s/other", f->folder);
    write_to(other, "wb", "mine");
    assert_int_equal(symlink(other, f->state), 0);
    assert_int_equal(try_open(f, 0), GALE_INVALID);
    snprintf(wanted, sizeof wanted,
             "'%s' must be a regular file, and is a symbolic link\nit is named as the state of a file spout\n",
             f->state);
    assert_string_equal(fake_text(&f->fake.reports), wanted);
    assert_string_equal(content(f, other), "mine");
    unlink(other);
}

static void a_state_larger_than_one_can_be_is_refused(void **state) {
    fixture *f = *state;
    static char text[10001];
    memset(text, 'x', 10000);
    write_file(f, "a\n");
    write_to(f->state, "wb", text);
    assert_int_equal(try_open(f, 0), GALE_TOO_LARGE);
    assert_non_null(strstr(fake_text(&f->fake.reports), f->state));
}

static void a_state_that_is_no_file_is_refused(void **state) {
    fixture *f = *state;
    write_file(f, "a\n");
    assert_int_equal(mkfifo(f->state, 0600), 0);
    assert_int_equal(try_open(f, 0), GALE_INVALID);
    assert_non_null(strstr(fake_text(&f->fake.reports), "must be a regular file, and is a pipe"));
}

static void a_pipe_has_no_place(void **state) {
    fixture *f = *state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    snprintf(f->path, sizeof f->path, "/proc/self/fd/%d", ends[0]);
    assert_int_equal(try_open(f, 0), GALE_INVALID);
    assert_non_null(
        strstr(fake_text(&f->fake.reports), ": only a regular file can be gone on with; leave `state` out"));
    assert_int_equal(access(f->state, F_OK), -1);
    close(ends[0]);
    close(ends[1]);
}

static void a_folder_that_does_not_exist_is_told_at_the_start(void **state) {
    fixture *f = *state;
    write_file(f, "a\n");
    snprintf(f->state, sizeof f->state, "/no/such/folder/state");
    assert_int_equal(try_open(f, 0), GALE_IO);
    assert_non_null(strstr(fake_text(&f->fake.reports), "'/no/such/folder/state.lock'"));
}

static void a_state_that_cannot_be_written_later_stops_the_run_once(void **state) {
    fixture *f = *state;
    write_file(f, "a\nb\n");
    start(f);
    uint64_t a = emit(f);
    char in_the_way[70];
    snprintf(in_the_way, sizeof in_the_way, "%s.new", f->state);
    assert_int_equal(mkdir(in_the_way, 0700), 0);
    gale_manual_clock_advance(f->fake.clock, GALE_SECOND);
    ack(f, a);
    assert_int_equal(f->fake.stop_code, GALE_IO);
    assert_non_null(strstr(f->fake.stop_text, in_the_way));
    f->fake.stop_code = 0;
    stop(f);
    assert_int_equal(f->fake.stop_code, 0);
    expect_state(f, 0, 0);
    assert_int_equal(rmdir(in_the_way), 0);
}

static void refuse_options(gale_file_spout_options options, const char *message) {
    gale_spout spout = { .ops = NULL };
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gale_file_spout(&options, &spout, &error), GALE_INVALID);
    assert_string_equal(error.text, message);
    assert_null(spout.ops);
}

static void arguments_are_checked(void **state) {
    (void)state;
    gale_file_spout_options options = { .size = sizeof options, .path = "x", .state = "" };
    refuse_options(options, "file spout: state is \"\", must be the path of a file");
    options.state = "-";
    refuse_options(options, "file spout: state is \"-\", must be the path of a file");
    options.state = "s";
    options.repeat = true;
    refuse_options(options, "file spout: repeat and state exclude each other: what is read without end has no place to "
                            "go on from");
    options.repeat = false;
    options.state_interval = -1;
    refuse_options(options, "file spout: state_interval is -1, must be 0 to 1000000 seconds");
    options.state_interval = 1e300;
    refuse_options(options, "file spout: state_interval is 1e+300, must be 0 to 1000000 seconds");
    options.state_interval = strtod("nan", NULL);
    gale_spout spout;
    assert_int_equal(gale_file_spout(&options, &spout, NULL), GALE_INVALID);
}

static void every_failing_allocation_is_survived(void **state) {
    fixture *f = *state;
    write_file(f, "a\nb\n");
    for (uint64_t n = 1; n < 12; n++) {
        unlink(f->state);
        f->fake.fail_at = f->fake.allocations + n;
        if (try_open(f, 0) < 0) assert_int_equal(try_open(f, 0), 0);
        int rc;
        while ((rc = next(f)) != GALE_NEXT_DONE) {
            if (rc == GALE_NEXT_EMITTED) ack(f, f->fake.last_message);
        }
        stop(f);
        expect_state(f, 4, 2);
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(a_new_state_begins_with_the_first_line),
        CASE(a_stop_after_the_end_leaves_nothing_to_do),
        CASE(what_is_not_answered_comes_again),
        CASE(a_run_that_was_killed_before_the_first_answer_is_gone_on_with),
        CASE(a_run_that_ends_in_order_without_an_answer_has_not_been),
        CASE(what_was_given_up_is_answered),
        CASE(a_line_that_waits_to_be_tried_again_holds_the_place),
        CASE(the_state_is_written_once_in_an_interval),
        CASE(a_file_that_has_grown_is_read_on),
        CASE(a_copy_is_gone_on_with_and_that_is_told),
        CASE(line_numbers_go_on),
        CASE(every_task_keeps_a_state_of_its_own),
        CASE(another_number_of_tasks_is_refused),
        CASE(a_file_truncated_below_the_place_is_refused),
        CASE(another_file_is_refused),
        CASE(a_long_file_is_known_by_both_ends_of_what_was_read),
        CASE(a_damaged_state_is_refused_and_left_alone),
        CASE(a_state_larger_than_one_can_be_is_refused),
        CASE(a_state_that_would_take_the_inputs_place_is_refused),
        CASE(a_state_that_another_task_keeps_is_refused),
        CASE(a_state_that_is_a_link_is_refused_and_left_alone),
        CASE(a_state_that_is_no_file_is_refused),
        CASE(a_pipe_has_no_place),
        CASE(a_folder_that_does_not_exist_is_told_at_the_start),
        CASE(a_state_that_cannot_be_written_later_stops_the_run_once),
        CASE(arguments_are_checked),
        CASE(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
