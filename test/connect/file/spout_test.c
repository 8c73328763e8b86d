#include "connect/file/settings.h"
#include "harness/fake_collector.h"

#include <fcntl.h>
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
    char path[40];
} fixture;

static int setup(void **state) {
    fixture *f = test_calloc(1, sizeof *f);
    fake_init(&f->fake);
    snprintf(f->path, sizeof f->path, "/tmp/gale_spout_XXXXXX");
    int fd = mkstemp(f->path);
    assert_true(fd >= 0);
    close(fd);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    fake_close(&f->spout, f->self);
    unlink(f->path);
    fake_fini(&f->fake);
    test_free(f);
    return 0;
}

static void write_file(fixture *f, const char *text) {
    FILE *file = fopen(f->path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void define(fixture *f, const char *path, uint32_t max_attempts, bool repeat) {
    gale_file_spout_options options = {
        .size = sizeof options, .path = path, .max_attempts = max_attempts, .repeat = repeat
    };
    assert_int_equal(gale_file_spout(&options, &f->spout, NULL), 0);
    ((gx_file_settings *)f->spout.user)->block = 2; /* bytes: so tasks take lines of one letter in turn */
}

static void begin(fixture *f, const char *text) {
    write_file(f, text);
    define(f, f->path, 0, false);
    assert_int_equal(fake_open(&f->fake, &f->spout, &f->self), 0);
}

static int next(fixture *f) {
    return f->spout.ops->next(f->self, &f->fake.collector, &f->wait);
}

static void answer_failed(fixture *f, uint64_t id) {
    gale_failure failure = { sizeof failure, GALE_REASON_TIMEOUT, 4, "split", "", 1, false };
    (f->spout.ops->fail)(f->self, id, &failure);
}

static void read_all(fixture *f) {
    int rc;
    while ((rc = next(f)) == GALE_NEXT_EMITTED) f->spout.ops->ack(f->self, f->fake.last_message);
    assert_int_equal(rc, GALE_NEXT_DONE);
}

static void every_line_is_emitted_tracked_then_done(void **state) {
    fixture *f = *state;
    begin(f, "a\n\nb\r\nlast");
    for (int i = 0; i < 4; i++) assert_int_equal(next(f), GALE_NEXT_EMITTED);
    assert_int_equal(next(f), GALE_NEXT_DONE);
    assert_string_equal(fake_text(&f->fake.emitted), "[\"a\"] #0\n[\"\"] #1\n[\"b\"] #2\n[\"last\"] #3\n");
}

static void an_empty_file_is_done_at_once(void **state) {
    fixture *f = *state;
    begin(f, "");
    assert_int_equal(next(f), GALE_NEXT_DONE);
    assert_int_equal(next(f), GALE_NEXT_DONE);
    assert_int_equal(f->fake.stop_code, 0);
}

static void a_line_comes_with_its_place_where_that_is_asked_for(void **state) {
    fixture *f = *state;
    char wanted[300];
    write_file(f, "a\r\n\nlast");
    gale_file_spout_options options = { .size = sizeof options, .path = f->path, .emit = "number, line,file, offset" };
    assert_int_equal(gale_file_spout(&options, &f->spout, NULL), 0);
    assert_string_equal(f->spout.outputs[0].fields, "number, line, file, offset");
    assert_int_equal(fake_open(&f->fake, &f->spout, &f->self), 0);
    for (int i = 0; i < 3; i++) assert_int_equal(next(f), GALE_NEXT_EMITTED);
    answer_failed(f, 1);
    assert_int_equal(next(f), GALE_NEXT_EMITTED);
    snprintf(wanted, sizeof wanted,
             "[1,\"a\",\"%s\",0] #0\n[2,\"\",\"%s\",3] #1\n[3,\"last\",\"%s\",4] #2\n[2,\"\",\"%s\",3] #1\n", f->path,
             f->path, f->path, f->path);
    assert_string_equal(fake_text(&f->fake.emitted), wanted);
}

static void fields_that_a_line_does_not_have_are_refused(void **state) {
    fixture *f = *state;
    static const struct {
        const char *emit, *message;
    } cases[] = {
        { "line, ofset", "file spout: emit has 'ofset', may have line, offset, number, file; did you mean 'offset'?" },
        { "line,,file", "file spout: emit has '', may have line, offset, number, file" },
        { "file, line, file", "file spout: emit has 'file' twice" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gale_error error = GALE_ERROR_INIT;
        gale_file_spout_options options = { .size = sizeof options, .path = f->path, .emit = cases[i].emit };
        assert_int_equal(gale_file_spout(&options, &f->spout, &error), GALE_INVALID);
        assert_string_equal(error.text, cases[i].message);
    }
    begin(f, "");
}

static void what_is_not_utf8_is_bytes(void **state) {
    fixture *f = *state;
    begin(f, "\xc3\xa4\n\xff\n");
    read_all(f);
    assert_string_equal(fake_text(&f->fake.emitted), "[\"\xc3\xa4\"] #0\n[{\"base64\":\"/w==\"}] #0\n");
}

static void a_failed_line_comes_again_before_new_ones_and_after_done(void **state) {
    fixture *f = *state;
    begin(f, "a\nb\nc\n");
    assert_int_equal(next(f), GALE_NEXT_EMITTED);
    assert_int_equal(next(f), GALE_NEXT_EMITTED);
    answer_failed(f, 0);
    assert_int_equal(next(f), GALE_NEXT_EMITTED);
    assert_int_equal(next(f), GALE_NEXT_EMITTED);
    assert_int_equal(next(f), GALE_NEXT_DONE);
    answer_failed(f, 0);
    assert_int_equal(next(f), GALE_NEXT_EMITTED);
    assert_int_equal(next(f), GALE_NEXT_DONE);
    assert_string_equal(fake_text(&f->fake.emitted), "[\"a\"] #0\n[\"b\"] #1\n[\"a\"] #0\n[\"c\"] #2\n[\"a\"] #0\n");
    answer_failed(f, 0);
    assert_int_equal(next(f), GALE_NEXT_DONE);
    assert_string_equal(fake_text(&f->fake.reports), "line 1 given up after 3 attempts: timeout (split)\n");
}

static void tasks_share_the_lines_of_a_file(void **state) {
    fixture *f = *state;
    static const char *const wanted[] = { "[\"1\"] #0\n[\"4\"] #0\n", "[\"2\"] #0\n[\"5\"] #0\n", "[\"3\"] #0\n" };
    write_file(f, "1\n2\n3\n4\n5\n");
    f->fake.context.task_count = 3;
    for (uint32_t i = 0; i < 3; i++) {
        f->fake.context.task_index = i;
        define(f, f->path, 0, false);
        assert_int_equal(fake_open(&f->fake, &f->spout, &f->self), 0);
        fake_forget(&f->fake);
        read_all(f);
        assert_string_equal(fake_text(&f->fake.emitted), wanted[i]);
        fake_close(&f->spout, f->self);
    }
    f->self = NULL;
    f->spout.free_user = NULL;
}

static void a_pipe_is_read_by_the_first_task(void **state) {
    fixture *f = *state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    assert_int_equal(write(ends[1], "1\n2\n3\n", 6), 6);
    close(ends[1]);
    f->fake.context.task_count = 2;
    for (uint32_t i = 2; i-- > 0;) { /* the second comes first, and takes nothing */
        f->fake.context.task_index = i;
        define(f, path, 0, false);
        assert_int_equal(fake_open(&f->fake, &f->spout, &f->self), 0);
        fake_forget(&f->fake);
        read_all(f);
        assert_string_equal(fake_text(&f->fake.emitted), i ? "" : "[\"1\"] #0\n[\"2\"] #0\n[\"3\"] #0\n");
        fake_close(&f->spout, f->self);
    }
    f->self = NULL;
    f->spout.free_user = NULL;
    close(ends[0]);
}

/* A task that opened it, too, would wait for another writer, and the run would not end. */
static void a_named_pipe_is_opened_by_the_first_task_alone(void **state) {
    fixture *f = *state;
    unlink(f->path);
    assert_int_equal(mkfifo(f->path, 0600), 0);
    f->fake.context.task_count = 2;
    f->fake.context.task_index = 1;
    define(f, f->path, 0, false);
    assert_int_equal(fake_open(&f->fake, &f->spout, &f->self), 0);
    assert_int_equal(open(f->path, O_WRONLY | O_NONBLOCK), -1); /* nobody reads it */
    assert_int_equal(next(f), GALE_NEXT_DONE);
}

/* --- Many a call -------------------------------------------------------------------------------------------------- */

static void lines_go_out_many_a_call_as_there_is_room(void **state) {
    fixture *f = *state;
    begin(f, "a\nb\nc\nd\ne\n");
    f->fake.room = 3;
    assert_int_equal(next(f), GALE_NEXT_EMITTED);
    assert_string_equal(fake_text(&f->fake.emitted), "[\"a\"] #0\n[\"b\"] #1\n[\"c\"] #2\n");
    answer_failed(f, 1);
    assert_int_equal(next(f), GALE_NEXT_EMITTED); /* what failed goes out before new ones */
    assert_int_equal(next(f), GALE_NEXT_EMITTED);
    assert_int_equal(next(f), GALE_NEXT_DONE);
    assert_string_equal(fake_text(&f->fake.emitted), "[\"a\"] #0\n[\"b\"] #1\n[\"c\"] #2\n[\"b\"] #1\n"
                                                     "[\"d\"] #3\n[\"e\"] #4\n");
}

static void one_line_a_call_goes_out_where_there_is_a_rate(void **state) {
    fixture *f = *state;
    f->fake.context.rate = 1;
    begin(f, "a\nb\nc\n");
    f->fake.room = 3;
    assert_int_equal(next(f), GALE_NEXT_EMITTED);
    assert_string_equal(fake_text(&f->fake.emitted), "[\"a\"] #0\n");
}

static void long_lines_make_a_call_short(void **state) {
    fixture *f = *state;
    char text[60001];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    for (size_t i = 9999; i < sizeof text - 1; i += 10000) text[i] = '\n';
    begin(f, text);
    f->fake.room = 64;
    for (int left = 3; left; left--) assert_int_equal(next(f), GALE_NEXT_EMITTED);
    assert_int_equal(next(f), GALE_NEXT_DONE);
}

static void what_is_refused_among_many_is_the_next(void **state) {
    fixture *f = *state;
    begin(f, "a\nb\nc\nd\n");
    f->fake.room = 4;
    f->fake.emit_error = GALE_AGAIN;
    f->fake.emits_before = 1;
    assert_int_equal(next(f), GALE_NEXT_EMITTED);
    assert_string_equal(fake_text(&f->fake.emitted), "[\"a\"] #0\n");
    assert_int_equal(next(f), GALE_NEXT_NOTHING);
    f->fake.emit_error = 0;
    while (next(f) == GALE_NEXT_EMITTED) continue;
    assert_string_equal(fake_text(&f->fake.emitted), "[\"a\"] #0\n[\"b\"] #1\n[\"c\"] #2\n[\"d\"] #3\n");
}

static void only_a_file_is_repeated(void **state) {
    fixture *f = *state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    define(f, path, 0, true);
    assert_int_equal(fake_open(&f->fake, &f->spout, &f->self), GALE_INVALID);
    assert_non_null(strstr(fake_text(&f->fake.reports), "only a regular file can be read repeatedly"));
    close(ends[0]);
    close(ends[1]);
}

static void a_repeated_file_begins_again(void **state) {
    fixture *f = *state;
    write_file(f, "a\nb");
    define(f, f->path, 0, true);
    assert_int_equal(fake_open(&f->fake, &f->spout, &f->self), 0);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(next(f), GALE_NEXT_EMITTED);
        f->spout.ops->ack(f->self, f->fake.last_message);
    }
    assert_string_equal(fake_text(&f->fake.emitted), "[\"a\"] #0\n[\"b\"] #0\n[\"a\"] #0\n[\"b\"] #0\n[\"a\"] #0\n");
    assert_int_equal(truncate(f->path, 0), 0);
    read_all(f); /* it ends, and does not spin */
}

static void a_repeated_file_without_lines_is_done(void **state) {
    fixture *f = *state;
    define(f, f->path, 0, true);
    assert_int_equal(fake_open(&f->fake, &f->spout, &f->self), 0);
    assert_int_equal(next(f), GALE_NEXT_DONE);
}

static void a_pipe_without_bytes_is_waited_for(void **state) {
    fixture *f = *state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    define(f, path, 0, false);
    assert_int_equal(fake_open(&f->fake, &f->spout, &f->self), 0);
    assert_int_equal(next(f), GALE_NEXT_READABLE);
    assert_true(f->wait.fd >= 0);
    assert_int_equal(write(ends[1], "a\n", 2), 2);
    assert_int_equal(next(f), GALE_NEXT_EMITTED);
    assert_int_equal(next(f), GALE_NEXT_READABLE);
    answer_failed(f, 0); /* a failed line does not wait for bytes */
    assert_int_equal(next(f), GALE_NEXT_EMITTED);
    close(ends[1]);
    assert_int_equal(next(f), GALE_NEXT_DONE);
    close(ends[0]);
}

static void a_line_too_long_is_cut_or_dropped_with_its_number_in_the_log_and_its_neighbours_come(void **state) {
    fixture *f = *state;
    char wanted[200];
    gale_file_spout_options options = { .size = sizeof options, .path = f->path, .longest = 8 };
    for (int drop = 0; drop < 2; drop++) {
        write_file(f, "a\n12345678\n123456789\nb");
        options.drop_long = drop;
        assert_int_equal(gale_file_spout(&options, &f->spout, NULL), 0);
        assert_int_equal(fake_open(&f->fake, &f->spout, &f->self), 0);
        for (int left = drop ? 3 : 4; left; left--) assert_int_equal(next(f), GALE_NEXT_EMITTED);
        assert_int_equal(next(f), GALE_NEXT_DONE);
        assert_string_equal(fake_text(&f->fake.emitted),
                            drop ? "[\"a\"] #0\n[\"12345678\"] #1\n[\"b\"] #2\n"
                                 : "[\"a\"] #0\n[\"12345678\"] #1\n[\"12345678\"] #2\n[\"b\"] #3\n");
        snprintf(wanted, sizeof wanted, "%s:3: the line has more than 8 bytes (longest), and is %s\n", f->path,
                 drop ? "dropped" : "cut");
        assert_string_equal(fake_text(&f->fake.logged), wanted);
        fake_forget(&f->fake);
        fake_close(&f->spout, f->self);
        f->self = NULL;
        f->spout.free_user = NULL;
    }
    options.longest = GALE_LINE_MAX + 1;
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gale_file_spout(&options, &f->spout, &error), GALE_INVALID);
    assert_string_equal(error.text, "file spout: longest is 67108865 bytes, at most 67108864");
}

/* What was read goes on, and no half line; then the run ends with an error, which is in the log at once. */
static void a_file_that_is_cut_while_it_is_read_ends_the_run_with_an_error(void **state) {
    fixture *f = *state;
    char text[100000], *to = text;
    for (int i = 0; i < 9000; i++) to += sprintf(to, "%010d\n", i);
    write_file(f, text);
    define(f, f->path, 0, false);
    assert_int_equal(fake_open(&f->fake, &f->spout, &f->self), 0);
    assert_int_equal(next(f), GALE_NEXT_EMITTED);
    assert_int_equal(truncate(f->path, 100), 0);
    while (next(f) == GALE_NEXT_EMITTED) {
    }
    assert_non_null(strstr(fake_text(&f->fake.logged), "was cut to 100 bytes while it was read"));
    assert_int_equal(f->fake.stop_code, 0);
    int lines = 0; /* all of them whole */
    for (const char *at = fake_text(&f->fake.emitted); *at; at = strchr(at, '\n') + 1, lines++)
        assert_int_equal(strcspn(at + 2, "\""), 10);
    assert_true(lines > 5000 && lines < 9000);
    fake_close(&f->spout, f->self);
    f->self = NULL;
    f->spout.free_user = NULL;
    assert_int_equal(f->fake.stop_code, GALE_DAMAGED);
    assert_non_null(strstr(f->fake.stop_text, "was cut to 100 bytes while it was read"));
}

static void a_line_of_ten_megabytes_comes_whole(void **state) {
    fixture *f = *state;
    char *line = malloc(10000001);
    memset(line, 'x', 10000000);
    line[10000000] = 0;
    begin(f, line);
    free(line);
    assert_int_equal(next(f), GALE_NEXT_EMITTED);
    assert_int_equal(f->fake.emitted.size, 10000000 + strlen("[\"\"] #0\n"));
}

static void what_cannot_be_opened_is_reported_by_name(void **state) {
    fixture *f = *state;
    define(f, "/tmp", 0, false);
    assert_int_equal(fake_open(&f->fake, &f->spout, &f->self), GALE_IO);
    assert_string_equal(fake_text(&f->fake.reports), "'/tmp' is a directory\n");
    f->spout.free_user(f->spout.user);
    fake_forget(&f->fake);
    define(f, "/no/such/file", 0, false);
    assert_int_equal(fake_open(&f->fake, &f->spout, &f->self), GALE_IO);
    assert_non_null(strstr(fake_text(&f->fake.reports), "'/no/such/file'"));
}

static void configuration_replaces_the_path_and_sets_the_pace(void **state) {
    fixture *f = *state;
    write_file(f, "a\nb\n");
    define(f, "/no/such/file", 0, false);
    assert_true(gale_config_set(f->fake.config, "gale.input", gale_text(f->path), NULL) >= 0);
    fake_set_rate(&f->fake, 1);
    assert_int_equal(fake_open(&f->fake, &f->spout, &f->self), 0);
    assert_int_equal(next(f), GALE_NEXT_EMITTED);
    assert_int_equal(next(f), GALE_NEXT_UNTIL);
    assert_int_equal(f->wait.until, GALE_SECOND);
    gale_manual_clock_advance(f->fake.clock, GALE_SECOND);
    assert_int_equal(next(f), GALE_NEXT_EMITTED);
}

static void arguments_are_checked(void **state) {
    fixture *f = *state;
    gale_error error = GALE_ERROR_INIT;
    gale_file_spout_options options = { .size = sizeof options };
    assert_int_equal(gale_file_spout(&options, &f->spout, &error), GALE_INVALID);
    assert_string_equal(error.text, "file spout: options.path is not set; \"-\" is the standard input");
    options.path = "";
    assert_int_equal(gale_file_spout(&options, &f->spout, NULL), GALE_INVALID);
    assert_int_equal(gale_file_spout(NULL, &f->spout, NULL), GALE_INVALID);
    options = (gale_file_spout_options){ .path = "x" };
    assert_int_equal(gale_file_spout(&options, &f->spout, NULL), GALE_INVALID);
    assert_null(f->spout.ops);
}

static void every_failing_allocation_is_survived_and_no_line_is_lost(void **state) {
    fixture *f = *state;
    write_file(f, "a\nb\nc\n");
    for (uint64_t n = 1; n < 12; n++) {
        int rc;
        define(f, f->path, 0, false);
        fake_forget(&f->fake);
        f->fake.fail_at = f->fake.allocations + n;
        if (fake_open(&f->fake, &f->spout, &f->self) < 0) {
            assert_int_equal(fake_open(&f->fake, &f->spout, &f->self), 0);
        }
        while ((rc = next(f)) != GALE_NEXT_DONE) assert_true(rc == GALE_NEXT_EMITTED || rc == GALE_NO_MEMORY);
        assert_string_equal(fake_text(&f->fake.emitted), "[\"a\"] #0\n[\"b\"] #1\n[\"c\"] #2\n");
        assert_int_equal(f->fake.stop_code, 0);
        fake_close(&f->spout, f->self);
    }
    f->self = NULL;
    f->spout.free_user = NULL;
}

static void a_line_that_never_fits_into_memory_ends_the_run_before_it(void **state) {
    fixture *f = *state;
    int rc = 0, tries = 0;
    write_file(f, "a\nb\n");
    define(f, f->path, 0, false);
    assert_int_equal(fake_open(&f->fake, &f->spout, &f->self), 0);
    do {
        f->fake.fail_at = f->fake.allocations + 1;
        rc = next(f);
        assert_true(++tries < 100);
    } while (rc == GALE_NO_MEMORY);
    assert_int_equal(rc, GALE_NEXT_DONE);
    assert_true(tries > 2);
    assert_int_equal(f->fake.stop_code, GALE_NO_MEMORY);
    assert_non_null(strstr(f->fake.stop_text, ": line 1 does not fit into memory"));
    assert_string_equal(fake_text(&f->fake.emitted), "");
}

static void the_steady_state_allocates_nothing(void **state) {
    fixture *f = *state;
    write_file(f, "some line\nand another one\nof which the file has three\n");
    define(f, f->path, 0, true);
    assert_int_equal(fake_open(&f->fake, &f->spout, &f->self), 0);
    uint64_t before = 0;
    for (int i = 0; i < 300; i++) {
        if (i == 100) before = f->fake.allocations;
        assert_int_equal(next(f), GALE_NEXT_EMITTED);
        f->spout.ops->ack(f->self, f->fake.last_message);
    }
    assert_int_equal(f->fake.allocations, before);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(every_line_is_emitted_tracked_then_done),
        CASE(an_empty_file_is_done_at_once),
        CASE(a_line_comes_with_its_place_where_that_is_asked_for),
        CASE(fields_that_a_line_does_not_have_are_refused),
        CASE(what_is_not_utf8_is_bytes),
        CASE(a_failed_line_comes_again_before_new_ones_and_after_done),
        CASE(tasks_share_the_lines_of_a_file),
        CASE(a_pipe_is_read_by_the_first_task),
        CASE(a_named_pipe_is_opened_by_the_first_task_alone),
        CASE(lines_go_out_many_a_call_as_there_is_room),
        CASE(one_line_a_call_goes_out_where_there_is_a_rate),
        CASE(long_lines_make_a_call_short),
        CASE(what_is_refused_among_many_is_the_next),
        CASE(only_a_file_is_repeated),
        CASE(a_repeated_file_begins_again),
        CASE(a_repeated_file_without_lines_is_done),
        CASE(a_pipe_without_bytes_is_waited_for),
        CASE(a_line_too_long_is_cut_or_dropped_with_its_number_in_the_log_and_its_neighbours_come),
        CASE(a_file_that_is_cut_while_it_is_read_ends_the_run_with_an_error),
        CASE(a_line_of_ten_megabytes_comes_whole),
        CASE(what_cannot_be_opened_is_reported_by_name),
        CASE(configuration_replaces_the_path_and_sets_the_pace),
        CASE(arguments_are_checked),
        CASE(every_failing_allocation_is_survived_and_no_line_is_lost),
        CASE(a_line_that_never_fits_into_memory_ends_the_run_before_it),
        CASE(the_steady_state_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
