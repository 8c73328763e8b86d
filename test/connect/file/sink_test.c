#include "harness/fake_collector.h"
#include "harness/faulty_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <gale/file.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct fixture {
    fake_collector fake;
    gale_bolt bolt;
    void *self;
    char path[40];
    bool overwrite; /* for those that begin from here on */
    char read[200000];
} fixture;

static int setup(void **state) {
    fixture *f = test_calloc(1, sizeof *f);
    fake_init(&f->fake);
    fake_source(&f->fake, "counter", "word, count");
    snprintf(f->path, sizeof f->path, "/tmp/gale_sink_XXXXXX");
    int fd = mkstemp(f->path);
    assert_true(fd >= 0);
    close(fd);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    fake_cleanup(&f->bolt, f->self);
    unlink(f->path);
    fake_fini(&f->fake);
    test_free(f);
    return 0;
}

static void begin(fixture *f, int32_t format, bool append) {
    gale_file_sink_options options = { .size = sizeof options,
                                       .path = f->path,
                                       .format = format,
                                       .append = append,
                                       .overwrite = f->overwrite && !append };
    assert_int_equal(gale_file_sink_bolt(&options, &f->bolt, NULL), 0);
    assert_int_equal(fake_prepare(&f->fake, &f->bolt, &f->self), 0);
}

static int execute(fixture *f, gale_value value) {
    const gale_value values[] = { value, gale_i64(3) };
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

static void put(const char *path, const char *mode, const char *text) {
    FILE *file = fopen(path, mode);
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static const char *content(fixture *f, const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    f->read[fread(f->read, 1, sizeof f->read - 1, file)] = 0;
    fclose(file);
    return f->read;
}

static void lines_are_written_by_a_flush_which_answers_their_tuples(void **state) {
    fixture *f = *state;
    begin(f, GALE_FILE_TSV, false);
    assert_int_equal(f->bolt.ops->kind, GALE_BOLT_SIMPLE);
    assert_int_equal(f->bolt.setting_count, 0); /* nothing waits for a tick */
    assert_int_equal(execute(f, gale_text("a")), 0);
    assert_string_equal(content(f, f->path), "");
    assert_int_equal(flush(f), 0);
    assert_string_equal(content(f, f->path), "a\t3\n");
    assert_int_equal(flush(f), 0);
    assert_int_equal(execute(f, gale_text("b")), 0);
    assert_int_equal(f->bolt.ops->finish(f->self, &f->fake.collector), 0);
    assert_string_equal(content(f, f->path), "a\t3\nb\t3\n");
    assert_int_equal(f->fake.acks, 0); /* the engine acks, when a flush has succeeded */
}

static void a_tick_is_no_line(void **state) {
    fixture *f = *state;
    begin(f, GALE_FILE_TSV, false);
    assert_int_equal(f->bolt.ops->execute(f->self, fake_tick(&f->fake, 1), &f->fake.collector), 0);
    assert_int_equal(flush(f), 0);
    assert_string_equal(content(f, f->path), "");
}

static void cleanup_writes_what_is_left(void **state) {
    fixture *f = *state;
    begin(f, GALE_FILE_TSV, false);
    assert_int_equal(execute(f, gale_text("a")), 0);
    f->bolt.ops->cleanup(f->self);
    f->self = NULL;
    assert_string_equal(content(f, f->path), "a\t3\n");
}

static void a_full_buffer_is_written(void **state) {
    fixture *f = *state;
    begin(f, GALE_FILE_TSV, false);
    for (int i = 0; i < 20000; i++) assert_int_equal(execute(f, gale_text("word")), 0);
    size_t size = strlen(content(f, f->path));
    assert_in_range(size, 65536, 20000 * 7 - 1);
    assert_int_equal(flush(f), 0);
    assert_int_equal(strlen(content(f, f->path)), 20000 * 7);
    uint64_t before = f->fake.allocations;
    for (int i = 0; i < 20000; i++) assert_int_equal(execute(f, gale_text("word")), 0);
    assert_int_equal(f->fake.allocations, before);
}

static void every_type_has_its_text_and_what_would_break_a_line_is_escaped(void **state) {
    fixture *f = *state;
    begin(f, GALE_FILE_TSV, false);
    gale_value items[] = { gale_i64(1), gale_text("x") };
    const gale_value values[] = {
        gale_text("a\tb\nc\rd\\e"), gale_text(""),      gale_null(), gale_bool(true), gale_f64(0.5),
        gale_bytes("\xff\t", 2),    gale_list(items, 2)
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) assert_int_equal(execute(f, values[i]), 0);
    assert_int_equal(flush(f), 0);
    assert_string_equal(content(f, f->path), "a\\tb\\nc\\rd\\\\e\t3\n\t3\n\\N\t3\ntrue\t3\n0.5\t3\n\xff\\t\t3\n"
                                             "[1,\"x\"]\t3\n");
}

static void json_lines_carry_the_fields(void **state) {
    fixture *f = *state;
    begin(f, GALE_FILE_JSON, false);
    assert_int_equal(execute(f, gale_text("a\n")), 0);
    assert_int_equal(flush(f), 0);
    assert_string_equal(content(f, f->path), "{\"word\":\"a\\n\",\"count\":3}\n");
}

/* --- Beginning ---------------------------------------------------------------------------------------------------- */

static void what_the_file_holds_stays_until_there_is_a_line_or_the_end(void **state) {
    fixture *f = *state;
    f->overwrite = true;
    put(f->path, "w", "from before\n");
    begin(f, GALE_FILE_TSV, false);
    assert_string_equal(content(f, f->path), "from before\n");
    stop(f); /* the run could not start */
    assert_string_equal(content(f, f->path), "from before\n");
    begin(f, GALE_FILE_TSV, false);
    assert_int_equal(f->bolt.ops->finish(f->self, &f->fake.collector), 0);
    assert_string_equal(content(f, f->path), "");
    put(f->path, "w", "from before\n");
    stop(f);
    begin(f, GALE_FILE_TSV, false);
    assert_int_equal(execute(f, gale_text("a")), 0);
    assert_int_equal(flush(f), 0);
    assert_string_equal(content(f, f->path), "a\t3\n");
}

static void a_file_that_holds_something_is_not_replaced_unless_that_is_asked_for(void **state) {
    fixture *f = *state;
    char text[200];
    put(f->path, "w", "from before\n");
    for (int at_end = 0; at_end < 2; at_end++) {
        f->fake.stop_code = 0;
        begin(f, GALE_FILE_TSV, false);
        if (at_end)
            assert_int_equal(f->bolt.ops->finish(f->self, &f->fake.collector), GALE_EXISTS);
        else
            assert_int_equal(execute(f, gale_text("a")), 0); /* open when the run ends */
        assert_int_equal(flush(f), GALE_EXISTS);
        assert_int_equal(f->fake.stop_code, GALE_EXISTS);
        snprintf(
            text, sizeof text,
            "'%s' holds 12 bytes, which the run would replace; give `overwrite: true` (gale run --overwrite) to have "
            "that, `append: true` to write behind them, or another path",
            f->path);
        assert_string_equal(f->fake.stop_text, text);
        stop(f);
        assert_string_equal(content(f, f->path), "from before\n");
    }
    put(f->path, "w", ""); /* an empty one has nothing to lose */
    f->fake.stop_code = 0;
    begin(f, GALE_FILE_TSV, false);
    assert_int_equal(execute(f, gale_text("a")), 0);
    assert_int_equal(flush(f), 0);
}

static void a_run_that_goes_on_keeps_what_the_one_before_wrote(void **state) {
    fixture *f = *state;
    put(f->path, "w", "a\t1\n");
    begin(f, GALE_FILE_TSV, false);
    f->fake.resumed = true; /* a spout may say so after this one was prepared */
    assert_int_equal(execute(f, gale_text("b")), 0);
    assert_int_equal(flush(f), 0);
    assert_string_equal(content(f, f->path), "a\t1\nb\t3\n");
    char wanted[100];
    snprintf(wanted, sizeof wanted, "%s: goes on behind 4 bytes\n", f->path);
    assert_string_equal(fake_text(&f->fake.logged), wanted);
}

/* What a run leaves that was killed in the middle of a write. */
static void a_line_that_was_torn_is_cut_by_the_run_that_goes_on(void **state) {
    fixture *f = *state;
    put(f->path, "w", "a\t1\nb\t12");
    begin(f, GALE_FILE_TSV, true);
    f->fake.resumed = true;
    assert_int_equal(execute(f, gale_text("b")), 0);
    assert_int_equal(flush(f), 0);
    assert_string_equal(content(f, f->path), "a\t1\nb\t3\n");
    assert_non_null(strstr(fake_text(&f->fake.logged),
                           ": the last line had no end, as of a run that was killed: it was cut (4 bytes)\n"));
}

static void a_line_without_an_end_is_ended_where_nobody_would_write_it_again(void **state) {
    fixture *f = *state;
    static const char *const befores[] = { "a\t1\nb\t1", "header" };
    static const char *const afters[] = { "a\t1\nb\t1\nb\t3\n", "header\nb\t3\n" };
    for (int i = 0; i < 2; i++) {
        put(f->path, "w", befores[i]);
        f->fake.resumed = i == 1; /* without a whole line before it, it is none of a run's */
        begin(f, GALE_FILE_TSV, true);
        assert_int_equal(execute(f, gale_text("b")), 0);
        assert_int_equal(flush(f), 0);
        assert_string_equal(content(f, f->path), afters[i]);
        assert_non_null(strstr(fake_text(&f->fake.logged), "it was given one"));
        fake_forget(&f->fake);
        stop(f);
    }
}

static const char state_text[] = "gale-file-state 1 1 1 0000000000000000 0 1 0 0 0000000000000000\n";

static void a_state_of_a_file_spout_is_not_written_to(void **state) {
    fixture *f = *state;
    char wanted[200];
    put(f->path, "w", state_text);
    gale_file_sink_options options = { .size = sizeof options, .path = f->path };
    assert_int_equal(gale_file_sink_bolt(&options, &f->bolt, NULL), 0);
    assert_int_equal(fake_prepare(&f->fake, &f->bolt, &f->self), GALE_INVALID);
    snprintf(wanted, sizeof wanted, "'%s' is the state of a file spout, and would be written to\n", f->path);
    assert_string_equal(fake_text(&f->fake.reports), wanted);
    assert_string_equal(content(f, f->path), state_text);
}

static void nor_one_that_took_the_place_of_the_file_meanwhile(void **state) {
    fixture *f = *state;
    char other[50];
    snprintf(other, sizeof other, "%s.new", f->path);
    begin(f, GALE_FILE_TSV, false);
    put(other, "w", state_text);
    assert_int_equal(rename(other, f->path), 0);
    assert_int_equal(execute(f, gale_text("a")), 0);
    assert_int_equal(f->fake.stop_code, GALE_INVALID);
    assert_non_null(strstr(f->fake.stop_text, "is the state of a file spout"));
    assert_int_equal(flush(f), GALE_INVALID);
    assert_string_equal(content(f, f->path), state_text);
}

static void a_file_that_was_moved_before_the_first_line_is_made_anew(void **state) {
    fixture *f = *state;
    char other[50];
    snprintf(other, sizeof other, "%s.1", f->path);
    begin(f, GALE_FILE_TSV, false);
    assert_int_equal(rename(f->path, other), 0);
    assert_int_equal(execute(f, gale_text("a")), 0);
    assert_int_equal(flush(f), 0);
    assert_string_equal(content(f, f->path), "a\t3\n");
    unlink(other);
}

static void a_file_is_replaced_or_appended_to(void **state) {
    fixture *f = *state;
    f->overwrite = true;
    for (int round = 0; round < 3; round++) {
        begin(f, GALE_FILE_TSV, round == 1);
        assert_int_equal(execute(f, gale_text("a")), 0);
        fake_cleanup(&f->bolt, f->self);
        assert_string_equal(content(f, f->path), round == 1 ? "a\t3\na\t3\n" : "a\t3\n");
    }
    f->self = NULL;
    f->bolt.free_user = NULL;
}

static void a_file_has_one_sink_at_a_time(void **state) {
    fixture *f = *state;
    gale_file_sink_options options = { .size = sizeof options, .path = f->path, .append = true };
    gale_bolt second;
    void *self;
    char message[120];
    begin(f, GALE_FILE_TSV, true);
    assert_int_equal(gale_file_sink_bolt(&options, &second, NULL), 0);
    for (int lines = 0; lines < 2; lines++) { /* also when the first has begun, and opened it again */
        assert_int_equal(fake_prepare(&f->fake, &second, &self), GALE_STATE);
        snprintf(message, sizeof message, "'%s' is in use by another run", f->path);
        assert_non_null(strstr(fake_text(&f->fake.reports), message));
        assert_int_equal(execute(f, gale_text("a")), 0);
        assert_int_equal(flush(f), 0);
    }
    stop(f);
    assert_int_equal(fake_prepare(&f->fake, &second, &self), 0);
    fake_cleanup(&second, self);
    assert_string_equal(content(f, f->path), "a\t3\na\t3\n");
}

static void other_tasks_write_beside_it(void **state) {
    fixture *f = *state;
    f->fake.context.task_index = 2;
    begin(f, GALE_FILE_TSV, false);
    assert_int_equal(execute(f, gale_text("a")), 0);
    assert_int_equal(flush(f), 0);
    char path[50];
    snprintf(path, sizeof path, "%s.2", f->path);
    assert_string_equal(content(f, path), "a\t3\n");
    assert_string_equal(content(f, f->path), "");
    unlink(path);
}

static void tasks_share_the_standard_output_in_whole_lines(void **state) {
    fixture *f = *state;
    f->fake.context.task_count = 2;
    f->fake.context.task_index = 1;
    gale_file_sink_options options = { .size = sizeof options, .path = "-" };
    assert_int_equal(gale_file_sink_bolt(&options, &f->bolt, NULL), 0);
    assert_int_equal(fake_prepare(&f->fake, &f->bolt, &f->self), 0);
    static const size_t sizes[] = { 1, 4092, 4093, 4094, 4095, 9000, 1 };
    static char text[9000];
    memset(text, 'x', sizeof text);
    size_t wanted = 0;
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(execute(f, gale_string(text, sizes[i])), 0);
        wanted += sizes[i] + 3;
    }
    fflush(stdout);
    int kept = dup(1), file = open(f->path, O_WRONLY);
    dup2(file, 1);
    int rc = flush(f);
    dup2(kept, 1);
    close(kept);
    close(file);
    assert_int_equal(rc, 0);
    assert_int_equal(strlen(content(f, f->path)), wanted);
    const char *at = f->read;
    for (size_t i = 0; i < 7; i++, at = strchr(at, '\n') + 1) assert_int_equal(strcspn(at, "\n"), sizes[i] + 2);
}

static void configuration_replaces_the_path(void **state) {
    fixture *f = *state;
    assert_true(gale_config_set(f->fake.config, "gale.output", gale_text(f->path), NULL) >= 0);
    gale_file_sink_options options = { .size = sizeof options, .path = "/no/such/place" };
    assert_int_equal(gale_file_sink_bolt(&options, &f->bolt, NULL), 0);
    assert_int_equal(fake_prepare(&f->fake, &f->bolt, &f->self), 0);
    assert_int_equal(execute(f, gale_text("a")), 0);
    assert_int_equal(flush(f), 0);
    assert_string_equal(content(f, f->path), "a\t3\n");
}

static void what_cannot_be_created_is_reported_by_name(void **state) {
    fixture *f = *state;
    gale_file_sink_options options = { .size = sizeof options, .path = "/no/such/place" };
    assert_int_equal(gale_file_sink_bolt(&options, &f->bolt, NULL), 0);
    assert_int_equal(fake_prepare(&f->fake, &f->bolt, &f->self), GALE_IO);
    assert_non_null(strstr(fake_text(&f->fake.reports), "'/no/such/place'"));
}

/* Where every write fails. */
static bool begin_full(fixture *f, bool sync) {
    if (access("/dev/full", W_OK) != 0) return false;
    gale_file_sink_options options = { .size = sizeof options, .path = "/dev/full", .sync = sync };
    assert_int_equal(gale_file_sink_bolt(&options, &f->bolt, NULL), 0);
    assert_int_equal(fake_prepare(&f->fake, &f->bolt, &f->self), 0);
    return true;
}

static void a_full_disk_stops_the_run_and_nothing_more_is_acked(void **state) {
    fixture *f = *state;
    if (!begin_full(f, false)) skip();
    assert_int_equal(execute(f, gale_text("a")), 0);
    assert_int_equal(flush(f), GALE_IO);
    assert_int_equal(f->fake.stop_code, GALE_IO);
    assert_string_equal(f->fake.stop_text,
                        "cannot write '/dev/full': No space left on device\n"
                        "it is incomplete: what it lacks was not acked, but for what came from a finish");
    assert_int_equal(execute(f, gale_text("b")), 0); /* not failed, which would count as an attempt */
    assert_int_equal(flush(f), GALE_IO);
    assert_int_equal(f->bolt.ops->finish(f->self, &f->fake.collector), GALE_IO);
}

static void a_full_buffer_that_cannot_be_written_fails_the_next_flush(void **state) {
    fixture *f = *state;
    if (!begin_full(f, false)) skip();
    for (int i = 0; i < 20000; i++) assert_int_equal(execute(f, gale_text("word")), 0);
    assert_int_equal(f->fake.stop_code, GALE_IO);
    assert_int_equal(flush(f), GALE_IO);
}

static void a_write_that_fails_in_cleanup_is_told_too(void **state) {
    fixture *f = *state;
    if (!begin_full(f, false)) skip();
    assert_int_equal(execute(f, gale_text("a")), 0);
    f->bolt.ops->cleanup(f->self);
    f->self = NULL;
    assert_int_equal(f->fake.stop_code, GALE_IO);
}

/* --- Faults ------------------------------------------------------------------------------------------------------- */

static bool are_whole_lines(const char *text, const char *line) {
    while (*text) {
        size_t size = strlen(line);
        if (strncmp(text, line, size) != 0) return false;
        text += size;
    }
    return true;
}

/* Three batches of 100 lines while the n-th call fails. Returns how many of them the engine would have acked;
 * false in `ret_hit` when there was no n-th call. */
static int write_under(fixture *f, faulty_plan plan, bool sync, bool *ret_hit) {
    gale_file_sink_options options = { .size = sizeof options, .path = f->path, .sync = sync, .overwrite = true };
    int acked = 0;
    faulty_disk_use(plan);
    assert_int_equal(gale_file_sink_bolt(&options, &f->bolt, NULL), 0);
    if (fake_prepare(&f->fake, &f->bolt, &f->self) == 0) {
        for (int batch = 0; batch < 3; batch++) {
            for (int i = 0; i < 100; i++) assert_int_equal(execute(f, gale_text("word")), 0);
            acked += flush(f) == 0;
        }
        f->bolt.ops->cleanup(f->self);
    }
    *ret_hit = faulty_disk_calls() >= plan.at;
    faulty_disk_end();
    f->self = NULL;
    f->bolt.free_user(f->bolt.user);
    f->bolt.free_user = NULL;
    return acked;
}

static void whatever_call_fails_what_was_acked_is_in_the_file_and_no_line_is_torn(void **state) {
    fixture *f = *state;
    static const faulty_plan plans[] = {
        { "/tmp/gale_sink_", FAULTY_ONCE, EIO, 0 }, { "/tmp/gale_sink_", FAULTY_ONCE, EINTR, 0 },
        { "/tmp/gale_sink_", FAULTY_SHORT, 0, 0 },  { "/tmp/gale_sink_", FAULTY_FULL, 0, 0 },
        { "/tmp/gale_sink_", FAULTY_DEAD, 0, 0 },
    };
    for (size_t i = 0; i < 2 * (sizeof plans / sizeof *plans); i++) {
        faulty_plan plan = plans[i / 2];
        uint64_t unharmed = 0;
        for (bool hit = true; hit;) {
            plan.at++;
            put(f->path, "w", "of an earlier run\n");
            f->fake.stop_code = 0;
            int acked = write_under(f, plan, i % 2, &hit);
            const char *text = content(f, f->path);
            bool begun = strncmp(text, "of an", 5) != 0;
            if (acked == 3) unharmed++;
            assert_true(begun || acked == 0);
            assert_true(!begun || strlen(text) >= (size_t)acked * 700);
            assert_true(!begun || plan.kind == FAULTY_DEAD || are_whole_lines(text, "word\t3\n"));
            assert_true(acked == 3 || f->fake.stop_code < 0 || !begun);
        }
        assert_true(plan.at > 6 && unharmed > 0);
    }
}

static void whatever_call_fails_nothing_is_written_behind_half_a_line(void **state) {
    fixture *f = *state;
    static const int errors[] = { EIO, EMFILE, EINTR };
    f->fake.resumed = true;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        faulty_plan plan = { "/tmp/gale_sink_", FAULTY_ONCE, errors[i], 0 };
        for (bool hit = true; hit;) {
            plan.at++;
            put(f->path, "w", "a\t1\nb\t12");
            write_under(f, plan, false, &hit);
            const char *text = content(f, f->path);
            assert_memory_equal(text, "a\t1\n", 4);
            assert_true(strcmp(text + 4, "b\t12") == 0 || are_whole_lines(text + 4, "word\t3\n"));
        }
        assert_true(plan.at > 8);
    }
}

static void a_reader_that_has_gone_is_told_as_that(void **state) {
    fixture *f = *state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[1]);
    gale_file_sink_options options = { .size = sizeof options, .path = path };
    assert_int_equal(gale_file_sink_bolt(&options, &f->bolt, NULL), 0);
    assert_int_equal(fake_prepare(&f->fake, &f->bolt, &f->self), 0);
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(execute(f, gale_text("a")), 0);
    assert_int_equal(flush(f), GALE_CLOSED_PIPE);
    assert_int_equal(f->fake.stop_code, GALE_CLOSED_PIPE);
}

/* --- Files that somebody else changes --- */

static const char *read_it(const char *path) {
    static char text[300];
    FILE *file = fopen(path, "rb");
    if (!file) return "none";
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return text;
}

/* "a" is written, `deed` is done, and then "b" is. */
static void meddle(fixture *f, void (*deed)(fixture *f), const char *then, const char *said) {
    char wanted[300];
    f->overwrite = true;
    begin(f, GALE_FILE_TSV, false);
    execute(f, gale_text("a"));
    assert_int_equal(flush(f), 0);
    deed(f);
    gale_manual_clock_advance(f->fake.clock, 2 * GALE_SECOND);
    execute(f, gale_text("b"));
    assert_int_equal(flush(f), 0);
    execute(f, gale_text("c"));
    assert_int_equal(f->bolt.ops->finish(f->self, &f->fake.collector), 0);
    assert_string_equal(read_it(f->path), then);
    snprintf(wanted, sizeof wanted, "%s: %s", f->path, said);
    if (!strstr(fake_text(&f->fake.logged), wanted)) assert_string_equal(fake_text(&f->fake.logged), wanted);
    stop(f);
    fake_forget(&f->fake);
}

static void remove_it(fixture *f) {
    unlink(f->path);
}

/* As `sed -i` does it. */
static void replace_it(fixture *f) {
    char other[60];
    snprintf(other, sizeof other, "%s.other", f->path);
    int fd = open(other, O_WRONLY | O_CREAT, 0644);
    assert_int_equal(write(fd, "new\n", 4), 4);
    close(fd);
    assert_int_equal(rename(other, f->path), 0);
}

static void empty_it(fixture *f) {
    assert_int_equal(truncate(f->path, 0), 0);
}

static void cut_it(fixture *f) {
    assert_int_equal(truncate(f->path, 1), 0);
}

static void append_to_it(fixture *f) {
    int fd = open(f->path, O_WRONLY | O_APPEND);
    assert_int_equal(write(fd, "x\n", 2), 2);
    close(fd);
}

static void rename_it(fixture *f) {
    char other[60];
    snprintf(other, sizeof other, "%s.moved", f->path);
    assert_int_equal(rename(f->path, other), 0);
    unlink(other); /* but for a link, which keeps it */
}

static void rename_kept(fixture *f) {
    char kept[60];
    snprintf(kept, sizeof kept, "%s.kept", f->path);
    assert_int_equal(link(f->path, kept), 0);
    rename_it(f);
}

static void what_somebody_does_to_its_file_is_said_and_mended(void **state) {
    fixture *f = *state;
    meddle(f, remove_it, "b\t3\nc\t3\n",
           "was removed by somebody while it is written to: the 4 bytes that it held are gone; what comes goes to a "
           "new one");
    meddle(f, replace_it, "new\nb\t3\nc\t3\n",
           "was replaced with another file by somebody while it is written to: the 4 bytes that it held are gone; "
           "lines go "
           "behind what that one holds");
    meddle(f, empty_it, "b\t3\nc\t3\n",
           "was cut by somebody to 0 bytes while it is written to: 4 bytes that were written before are gone");
    meddle(f, cut_it, "a\nb\t3\nc\t3\n",
           "was cut by somebody to 1 bytes while it is written to: 3 bytes that were written before are gone");
    meddle(f, append_to_it, "a\t3\nx\nb\t3\nc\t3\n",
           "somebody else has written to it; its 2 bytes more stay where they are");
    meddle(f, rename_kept, "none", "was renamed, moved or replaced by somebody, and is written to on; SIGHUP opens");
    char kept[60];
    snprintf(kept, sizeof kept, "%s.kept", f->path);
    assert_string_equal(read_it(kept), "a\t3\nb\t3\nc\t3\n");
    unlink(kept);
}

static void arguments_are_checked(void **state) {
    fixture *f = *state;
    gale_error error = GALE_ERROR_INIT;
    gale_file_sink_options options = { .size = sizeof options };
    assert_int_equal(gale_file_sink_bolt(&options, &f->bolt, &error), GALE_INVALID);
    assert_string_equal(error.text, "file sink: options.path is not set; \"-\" is the standard output");
    options.path = "x";
    options.format = 4;
    assert_int_equal(gale_file_sink_bolt(&options, &f->bolt, &error), GALE_INVALID);
    assert_string_equal(error.text, "file sink: format is 4, which is none of TSV (0), JSON (1), CSV (2) and TEXT (3)");
    options.format = GALE_FILE_TSV;
    options.append = options.overwrite = true;
    assert_int_equal(gale_file_sink_bolt(&options, &f->bolt, &error), GALE_INVALID);
    assert_string_equal(error.text,
                        "file sink: append and overwrite exclude each other: what the file holds stays or goes");
    assert_int_equal(gale_file_sink_bolt(NULL, &f->bolt, NULL), GALE_INVALID);
    assert_null(f->bolt.ops);
}

static void every_failing_allocation_is_survived_and_no_line_is_lost(void **state) {
    fixture *f = *state;
    for (uint64_t n = 1; n < 12; n++) {
        gale_file_sink_options options = { .size = sizeof options, .path = f->path, .overwrite = true };
        assert_int_equal(gale_file_sink_bolt(&options, &f->bolt, NULL), 0);
        f->fake.fail_at = f->fake.allocations + n;
        if (fake_prepare(&f->fake, &f->bolt, &f->self) < 0) {
            assert_int_equal(fake_prepare(&f->fake, &f->bolt, &f->self), 0);
        }
        for (int i = 0; i < 100; i++) {
            if (execute(f, gale_text("a")) < 0) assert_int_equal(execute(f, gale_text("a")), 0);
        }
        fake_cleanup(&f->bolt, f->self);
        assert_int_equal(strlen(content(f, f->path)), 400);
    }
    f->self = NULL;
    f->bolt.free_user = NULL;
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        CASE(lines_are_written_by_a_flush_which_answers_their_tuples),
        CASE(a_tick_is_no_line),
        CASE(cleanup_writes_what_is_left),
        CASE(a_full_buffer_is_written),
        CASE(every_type_has_its_text_and_what_would_break_a_line_is_escaped),
        CASE(json_lines_carry_the_fields),
        CASE(what_the_file_holds_stays_until_there_is_a_line_or_the_end),
        CASE(a_file_that_holds_something_is_not_replaced_unless_that_is_asked_for),
        CASE(a_run_that_goes_on_keeps_what_the_one_before_wrote),
        CASE(a_line_that_was_torn_is_cut_by_the_run_that_goes_on),
        CASE(a_line_without_an_end_is_ended_where_nobody_would_write_it_again),
        CASE(a_state_of_a_file_spout_is_not_written_to),
        CASE(nor_one_that_took_the_place_of_the_file_meanwhile),
        CASE(a_file_that_was_moved_before_the_first_line_is_made_anew),
        CASE(a_file_is_replaced_or_appended_to),
        CASE(a_file_has_one_sink_at_a_time),
        CASE(other_tasks_write_beside_it),
        CASE(tasks_share_the_standard_output_in_whole_lines),
        CASE(configuration_replaces_the_path),
        CASE(what_cannot_be_created_is_reported_by_name),
        CASE(a_full_disk_stops_the_run_and_nothing_more_is_acked),
        CASE(a_full_buffer_that_cannot_be_written_fails_the_next_flush),
        CASE(a_write_that_fails_in_cleanup_is_told_too),
        CASE(whatever_call_fails_what_was_acked_is_in_the_file_and_no_line_is_torn),
        CASE(whatever_call_fails_nothing_is_written_behind_half_a_line),
        CASE(a_reader_that_has_gone_is_told_as_that),
        CASE(what_somebody_does_to_its_file_is_said_and_mended),
        CASE(arguments_are_checked),
        CASE(every_failing_allocation_is_survived_and_no_line_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
