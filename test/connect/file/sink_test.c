#include "harness/fake_collector.h"

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
    gale_file_sink_options options = { .size = sizeof options, .path = f->path, .format = format, .append = append };
    assert_int_equal(gale_file_sink_bolt(&options, &f->bolt, NULL), 0);
    assert_int_equal(fake_prepare(&f->fake, &f->bolt, &f->self), 0);
}

static int execute(fixture *f, gale_value value) {
    const gale_value values[] = { value, gale_i64(3) };
    return f->bolt.ops->execute(f->self, fake_tuple(&f->fake, values, 2), &f->fake.collector);
}

static int tick(fixture *f) {
    return f->bolt.ops->execute(f->self, fake_tick(&f->fake, 1), &f->fake.collector);
}

static const char *content(fixture *f, const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    f->read[fread(f->read, 1, sizeof f->read - 1, file)] = 0;
    fclose(file);
    return f->read;
}

static void lines_are_written_by_the_tick_and_not_before(void **state) {
    fixture *f = *state;
    begin(f, GALE_FILE_TSV, false);
    assert_string_equal(f->bolt.settings[0].key, "topology.tick.tuple.freq.secs");
    assert_int_equal(f->bolt.settings[0].value.as.i64, 1);
    assert_int_equal(execute(f, gale_text("a")), 0);
    assert_string_equal(content(f, f->path), "");
    assert_int_equal(tick(f), 0);
    assert_string_equal(content(f, f->path), "a\t3\n");
    assert_int_equal(tick(f), 0);
    assert_int_equal(execute(f, gale_text("b")), 0);
    assert_int_equal(f->bolt.ops->finish(f->self, &f->fake.collector), 0);
    assert_string_equal(content(f, f->path), "a\t3\nb\t3\n");
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
    assert_int_equal(tick(f), 0);
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
    assert_int_equal(tick(f), 0);
    assert_string_equal(content(f, f->path), "a\\tb\\nc\\rd\\e\t3\n\t3\n\\N\t3\ntrue\t3\n0.5\t3\n\xff\\t\t3\n"
                                             "[1,\"x\"]\t3\n");
}

static void json_lines_carry_the_fields(void **state) {
    fixture *f = *state;
    begin(f, GALE_FILE_JSON, false);
    assert_int_equal(execute(f, gale_text("a\n")), 0);
    assert_int_equal(tick(f), 0);
    assert_string_equal(content(f, f->path), "{\"word\":\"a\\n\",\"count\":3}\n");
}

static void a_file_is_replaced_or_appended_to(void **state) {
    fixture *f = *state;
    for (int round = 0; round < 3; round++) {
        begin(f, GALE_FILE_TSV, round == 1);
        assert_int_equal(execute(f, gale_text("a")), 0);
        fake_cleanup(&f->bolt, f->self);
        assert_string_equal(content(f, f->path), round == 1 ? "a\t3\na\t3\n" : "a\t3\n");
    }
    f->self = NULL;
    f->bolt.free_user = NULL;
}

static void other_tasks_write_beside_it(void **state) {
    fixture *f = *state;
    f->fake.context.task_index = 2;
    begin(f, GALE_FILE_TSV, false);
    assert_int_equal(execute(f, gale_text("a")), 0);
    assert_int_equal(tick(f), 0);
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
    int rc = tick(f);
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
    assert_int_equal(tick(f), 0);
    assert_string_equal(content(f, f->path), "a\t3\n");
}

static void what_cannot_be_created_is_reported_by_name(void **state) {
    fixture *f = *state;
    gale_file_sink_options options = { .size = sizeof options, .path = "/no/such/place" };
    assert_int_equal(gale_file_sink_bolt(&options, &f->bolt, NULL), 0);
    assert_int_equal(fake_prepare(&f->fake, &f->bolt, &f->self), GALE_IO);
    assert_non_null(strstr(fake_text(&f->fake.reports), "'/no/such/place'"));
}

static void a_full_disk_stops_the_run_and_fails_what_follows(void **state) {
    fixture *f = *state;
    if (access("/dev/full", W_OK) != 0) skip();
    gale_file_sink_options options = { .size = sizeof options, .path = "/dev/full" };
    assert_int_equal(gale_file_sink_bolt(&options, &f->bolt, NULL), 0);
    assert_int_equal(fake_prepare(&f->fake, &f->bolt, &f->self), 0);
    assert_int_equal(execute(f, gale_text("a")), 0);
    assert_int_equal(tick(f), GALE_IO);
    assert_int_equal(f->fake.stop_code, GALE_IO);
    assert_non_null(strstr(f->fake.stop_text, "/dev/full"));
    assert_int_equal(execute(f, gale_text("b")), GALE_IO);
    assert_int_equal(f->bolt.ops->finish(f->self, &f->fake.collector), GALE_IO);
}

static void with_sync_a_line_is_written_before_its_ack(void **state) {
    fixture *f = *state;
    gale_file_sink_options options = { .size = sizeof options, .path = f->path, .sync = true };
    assert_int_equal(gale_file_sink_bolt(&options, &f->bolt, NULL), 0);
    assert_int_equal(fake_prepare(&f->fake, &f->bolt, &f->self), 0);
    assert_int_equal(execute(f, gale_text("a")), 0);
    assert_string_equal(content(f, f->path), "a\t3\n");
    assert_int_equal(execute(f, gale_text("b")), 0);
    assert_string_equal(content(f, f->path), "a\t3\nb\t3\n");
    assert_int_equal(tick(f), 0);
    assert_string_equal(content(f, f->path), "a\t3\nb\t3\n");
}

static void with_sync_a_line_that_cannot_be_written_is_not_acked(void **state) {
    fixture *f = *state;
    if (access("/dev/full", W_OK) != 0) skip();
    gale_file_sink_options options = { .size = sizeof options, .path = "/dev/full", .sync = true };
    assert_int_equal(gale_file_sink_bolt(&options, &f->bolt, NULL), 0);
    assert_int_equal(fake_prepare(&f->fake, &f->bolt, &f->self), 0);
    assert_int_equal(execute(f, gale_text("a")), GALE_IO);
    assert_int_equal(f->fake.stop_code, GALE_IO);
}

static void a_write_that_fails_in_cleanup_is_told_too(void **state) {
    fixture *f = *state;
    if (access("/dev/full", W_OK) != 0) skip();
    gale_file_sink_options options = { .size = sizeof options, .path = "/dev/full" };
    assert_int_equal(gale_file_sink_bolt(&options, &f->bolt, NULL), 0);
    assert_int_equal(fake_prepare(&f->fake, &f->bolt, &f->self), 0);
    assert_int_equal(execute(f, gale_text("a")), 0);
    f->bolt.ops->cleanup(f->self);
    f->self = NULL;
    assert_int_equal(f->fake.stop_code, GALE_IO);
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
    assert_int_equal(tick(f), GALE_CLOSED_PIPE);
    assert_int_equal(f->fake.stop_code, GALE_CLOSED_PIPE);
}

static void arguments_are_checked(void **state) {
    fixture *f = *state;
    gale_error error = GALE_ERROR_INIT;
    gale_file_sink_options options = { .size = sizeof options };
    assert_int_equal(gale_file_sink_bolt(&options, &f->bolt, &error), GALE_INVALID);
    assert_string_equal(error.text, "file sink: options.path is not set; \"-\" is the standard output");
    options.path = "x";
    options.format = 2;
    assert_int_equal(gale_file_sink_bolt(&options, &f->bolt, &error), GALE_INVALID);
    assert_string_equal(error.text, "file sink: format is 2, which is neither TSV (0) nor JSON (1)");
    assert_int_equal(gale_file_sink_bolt(NULL, &f->bolt, NULL), GALE_INVALID);
    assert_null(f->bolt.ops);
}

static void every_failing_allocation_is_survived_and_no_line_is_lost(void **state) {
    fixture *f = *state;
    for (uint64_t n = 1; n < 12; n++) {
        gale_file_sink_options options = { .size = sizeof options, .path = f->path };
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
        CASE(lines_are_written_by_the_tick_and_not_before),
        CASE(cleanup_writes_what_is_left),
        CASE(a_full_buffer_is_written),
        CASE(every_type_has_its_text_and_what_would_break_a_line_is_escaped),
        CASE(json_lines_carry_the_fields),
        CASE(a_file_is_replaced_or_appended_to),
        CASE(other_tasks_write_beside_it),
        CASE(tasks_share_the_standard_output_in_whole_lines),
        CASE(configuration_replaces_the_path),
        CASE(what_cannot_be_created_is_reported_by_name),
        CASE(a_full_disk_stops_the_run_and_fails_what_follows),
        CASE(with_sync_a_line_is_written_before_its_ack),
        CASE(with_sync_a_line_that_cannot_be_written_is_not_acked),
        CASE(a_write_that_fails_in_cleanup_is_told_too),
        CASE(a_reader_that_has_gone_is_told_as_that),
        CASE(arguments_are_checked),
        CASE(every_failing_allocation_is_survived_and_no_line_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
