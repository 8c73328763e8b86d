/* A sink whose path names a file for each tuple; and what it writes of a tuple. */
#include "harness/fake_collector.h"
#include "harness/faulty_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <gale/file.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/cm.h"

typedef struct fixture {
    fake_collector fake;
    gale_bolt bolt;
    void *self;
    char folder[40], path[200];
    gale_file_sink_options options; /* of the next one that begins */
    char read[200000];
} fixture;

static int setup(void **state) {
    fixture *f = test_calloc(1, sizeof *f);
    fake_init(&f->fake);
    fake_source(&f->fake, "parser", "host, time, text");
    snprintf(f->folder, sizeof f->folder, "/tmp/gale_files_XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    f->options.size = sizeof f->options;
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
    fake_fini(&f->fake);
    test_free(f);
    return 0;
}

static int prepare(fixture *f, const char *path) {
    gale_error error = GALE_ERROR_INIT;
    snprintf(f->path, sizeof f->path, "%s/%s", f->folder, path);
    f->options.path = f->path;
    if (gale_file_sink_bolt(&f->options, &f->bolt, &error) < 0) fail_msg("%s", error.text);
    return fake_prepare(&f->fake, &f->bolt, &f->self);
}

static void begin(fixture *f, const char *path) {
    if (prepare(f, path) < 0) fail_msg("%s", fake_text(&f->fake.reports));
}

static int execute(fixture *f, gale_value host, gale_value time, const char *text) {
    const gale_value values[] = { host, time, gale_text(text) };
    return f->bolt.ops->execute(f->self, fake_tuple(&f->fake, values, 3), &f->fake.collector);
}

static int flush(fixture *f) {
    return f->bolt.ops->flush(f->self, &f->fake.collector);
}

static void stop(fixture *f) {
    fake_cleanup(&f->bolt, f->self);
    f->self = NULL;
    f->bolt.free_user = NULL;
}

/* What a file below the folder holds, or NULL. */
static const char *content(fixture *f, const char *name) {
    char path[300];
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    f->read[fread(f->read, 1, sizeof f->read - 1, file)] = 0;
    fclose(file);
    return f->read;
}

static void put(const fixture *f, const char *name, const char *text) {
    char path[300];
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int count_descriptors(void) {
    int count = 0;
    for (int fd = 0; fd < 200; fd++) count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* --- Which file --- */

static void each_tuple_goes_to_the_file_that_it_names_and_folders_are_made(void **state) {
    fixture *f = *state;
    f->options.fields = "text";
    begin(f, "a/{host}/{time:%Y/%m}.log");
    assert_int_equal(execute(f, gale_text("x"), gale_i64(0), "1"), 0);
    assert_int_equal(execute(f, gale_text("y"), gale_f64(31 * 86400 + 0.5), "2"), 0);
    assert_int_equal(execute(f, gale_text("x"), gale_i64(1), "3"), 0);
    assert_string_equal(content(f, "a/x/1970/01.log"), "");
    assert_int_equal(flush(f), 0);
    assert_string_equal(content(f, "a/x/1970/01.log"), "1\n3\n");
    assert_string_equal(content(f, "a/y/1970/02.log"), "2\n");
    assert_int_equal(execute(f, gale_text("y"), gale_i64(31 * 86400), "4"), 0);
    stop(f);
    assert_string_equal(content(f, "a/y/1970/02.log"), "2\n4\n");
}

static void no_value_leads_elsewhere(void **state) {
    fixture *f = *state;
    f->options.fields = "text";
    begin(f, "in/{host}");
    static const char *const values[][2] = {
        { "../out", "in/%2E.%2Fout" },           { "..", "in/%2E." },           { "", "in/%empty" },
        { "/etc/passwd", "in/%2Fetc%2Fpasswd" }, { ".hidden", "in/%2Ehidden" }, { "-", "in/-" },
    };
    enum { COUNT = sizeof values / sizeof *values };
    for (int i = 0; i < COUNT; i++) assert_int_equal(execute(f, gale_text(values[i][0]), gale_i64(0), values[i][0]), 0);
    assert_int_equal(flush(f), 0);
    char line[100];
    for (int i = 0; i < COUNT; i++) {
        snprintf(line, sizeof line, "%s\n", values[i][0]);
        assert_string_equal(content(f, values[i][1]), line);
    }
}

static void a_value_that_is_a_dash_is_not_the_standard_output(void **state) {
    fixture *f = *state;
    char before[500];
    f->options.fields = "text";
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(f->folder), 0);
    f->options.path = "{host}";
    assert_int_equal(gale_file_sink_bolt(&f->options, &f->bolt, NULL), 0);
    assert_int_equal(fake_prepare(&f->fake, &f->bolt, &f->self), 0);
    assert_int_equal(execute(f, gale_text("-"), gale_i64(0), "1"), 0);
    assert_int_equal(flush(f), 0);
    assert_int_equal(chdir(before), 0);
    assert_string_equal(content(f, "-"), "1\n");
}

static void now_is_the_clocks(void **state) {
    fixture *f = *state;
    gale_manual_clock *clock = gale_manual_clock_new(86399 * GALE_SECOND);
    gale_clock handle = gale_manual_clock_handle(clock);
    f->options.clock = &handle;
    f->options.fields = "text";
    begin(f, "{now:%F}");
    handle.now = NULL; /* it was copied */
    assert_int_equal(execute(f, gale_null(), gale_null(), "1"), 0);
    gale_manual_clock_advance(clock, GALE_SECOND);
    assert_int_equal(execute(f, gale_null(), gale_null(), "2"), 0);
    assert_int_equal(flush(f), 0);
    assert_string_equal(content(f, "1970-01-01"), "1\n");
    assert_string_equal(content(f, "1970-01-02"), "2\n");
    stop(f);
    gale_manual_clock_free(clock);
}

static void tasks_have_files_of_their_own(void **state) {
    fixture *f = *state;
    f->options.fields = "text";
    f->fake.context.task_index = 2;
    static const char *const paths[][2] = { { "{host}", "h.2" }, { "{task}.{host}", "2.h" }, { "of{task}", "of2" } };
    for (int i = 0; i < 3; i++) {
        begin(f, paths[i][0]);
        assert_int_equal(execute(f, gale_text("h"), gale_null(), "1"), 0);
        stop(f);
        assert_string_equal(content(f, paths[i][1]), "1\n");
    }
}

static void a_tuple_without_the_field_or_a_time_fails(void **state) {
    fixture *f = *state;
    begin(f, "{hots}");
    assert_int_equal(execute(f, gale_text("h"), gale_null(), "1"), GALE_FIELDS);
    assert_string_equal(fake_text(&f->fake.reports),
                        "file sink: component 'parser', stream 'default', has no field 'hots'; did you mean 'host'?\n");
    stop(f);
    fake_forget(&f->fake);
    begin(f, "{time:%F}");
    assert_int_equal(execute(f, gale_text("h"), gale_text("now"), "1"), GALE_TYPE);
    assert_string_equal(
        fake_text(&f->fake.reports),
        "file sink: field 'time' (value 1) of component 'parser' must be seconds since 1970, in the years 0 to "
        "9999, is string \"now\"\n");
    assert_int_equal(execute(f, gale_text("h"), gale_i64(0), "1"), 0);
    assert_int_equal(flush(f), 0);
    assert_int_equal(f->fake.stop_code, 0);
}

static void the_configurations_path_is_read_in_the_same_way(void **state) {
    fixture *f = *state;
    assert_true(gale_config_set(f->fake.config, "gale.output", gale_text("x{"), NULL) >= 0);
    assert_int_equal(prepare(f, "a"), GALE_INVALID);
    assert_string_equal(fake_text(&f->fake.reports), "file sink: path: '{' at byte 2 has no '}'; '{{' is a brace\n");
}

/* --- Beginning, and going on --- */

static void what_a_file_holds_is_asked_for_with_its_first_tuple(void **state) {
    fixture *f = *state;
    f->options.fields = "text";
    put(f, "b", "from before\n");
    begin(f, "{host}");
    assert_int_equal(execute(f, gale_text("a"), gale_null(), "1"), 0);
    assert_int_equal(flush(f), 0);
    assert_int_equal(execute(f, gale_text("b"), gale_null(), "2"), 0);
    assert_int_equal(f->fake.stop_code, GALE_EXISTS);
    assert_int_equal(flush(f), GALE_EXISTS);
    stop(f);
    assert_string_equal(content(f, "a"), "1\n");
    assert_string_equal(content(f, "b"), "from before\n");
    for (int append = 0; append < 2; append++) {
        f->fake.stop_code = 0;
        f->options.append = append;
        f->options.overwrite = !append;
        begin(f, "{host}");
        assert_int_equal(execute(f, gale_text("b"), gale_null(), "3"), 0);
        assert_int_equal(flush(f), 0);
        stop(f);
        assert_string_equal(content(f, "b"), append ? "3\n3\n" : "3\n");
    }
}

static void half_a_line_of_a_killed_run_is_cut_in_each_file(void **state) {
    fixture *f = *state;
    f->options.fields = "text";
    f->fake.resumed = true;
    put(f, "a", "1\n2");
    put(f, "b", "3\n4");
    begin(f, "{host}");
    assert_int_equal(execute(f, gale_text("a"), gale_null(), "5"), 0);
    assert_int_equal(execute(f, gale_text("b"), gale_null(), "6"), 0);
    assert_int_equal(flush(f), 0);
    assert_string_equal(content(f, "a"), "1\n5\n");
    assert_string_equal(content(f, "b"), "3\n6\n");
}

static void no_more_than_were_asked_for_are_open_and_none_is_begun_twice(void **state) {
    fixture *f = *state;
    int before = count_descriptors();
    f->options.fields = "text";
    f->options.overwrite = true;
    for (uint32_t most = 1; most < 5; most++) {
        f->options.max_open = most;
        empty(f);
        put(f, "h3", "from before\n");
        begin(f, "{host}");
        for (int i = 0; i < 100; i++) {
            char host[20], text[20];
            snprintf(host, sizeof host, "h%d", i * i % 7);
            snprintf(text, sizeof text, "%d", i);
            assert_int_equal(execute(f, gale_text(host), gale_null(), text), 0);
            assert_in_range(count_descriptors(), before, before + (int)most);
            if (i % 5 == 4) assert_int_equal(flush(f), 0);
        }
        stop(f);
        for (int h = 0; h < 7; h++) {
            char name[20], expected[2000] = "";
            snprintf(name, sizeof name, "h%d", h);
            for (int i = 0; i < 100; i++)
                if (i * i % 7 == h) snprintf(expected + strlen(expected), 30, "%d\n", i);
            const char *is = content(f, name);
            if (!is && *expected) fail_msg("%s is not there", name);
            if (is) assert_string_equal(is, *expected ? expected : "from before\n");
        }
    }
}

static void a_file_that_was_rotated_away_while_it_was_closed_is_made_anew(void **state) {
    fixture *f = *state;
    char from[100], to[100];
    f->options.fields = "text";
    f->options.max_open = 1;
    begin(f, "{host}");
    assert_int_equal(execute(f, gale_text("a"), gale_null(), "1"), 0);
    assert_int_equal(execute(f, gale_text("b"), gale_null(), "2"), 0);
    snprintf(from, sizeof from, "%s/a", f->folder);
    snprintf(to, sizeof to, "%s/a.old", f->folder);
    assert_int_equal(rename(from, to), 0);
    assert_int_equal(execute(f, gale_text("a"), gale_null(), "3"), 0);
    assert_int_equal(flush(f), 0);
    assert_string_equal(content(f, "a.old"), "1\n");
    assert_string_equal(content(f, "a"), "3\n");
}

/* --- Faults --- */

enum { HOSTS = 3, BATCHES = 4, EACH = 5 };

static int write_batch(fixture *f, int batch) {
    for (int i = 0; i < EACH; i++) {
        char text[40];
        snprintf(text, sizeof text, "%d.%d", batch, i);
        gale_value host = gale_text(((const char *[]){ "x/a", "b", "c" })[(batch + i) % HOSTS]);
        if (execute(f, host, gale_null(), text) < 0) return GALE_NO_MEMORY;
    }
    return flush(f);
}

/* Is each line of the first `acked` batches somewhere? */
static void expect_acked(fixture *f, int acked, bool whole) {
    char all[3000] = "\n", line[30];
    static const char *const names[] = { "x%2Fa", "b", "c" };
    for (int i = 0; i < HOSTS; i++) {
        const char *text = content(f, names[i]);
        if (text) snprintf(all + strlen(all), sizeof all - strlen(all), "%s\n", text);
        if (whole && text && *text) assert_int_equal(text[strlen(text) - 1], '\n');
    }
    for (int n = 0; n < acked * EACH; n++) {
        snprintf(line, sizeof line, "\n%d.%d\n", n / EACH, n % EACH);
        if (!strstr(all, line)) fail_msg("%d batches were acked, and '%s' is nowhere in '%s'", acked, line, all);
    }
}

static void whatever_call_fails_what_was_acked_is_in_its_file(void **state) {
    fixture *f = *state;
    static const faulty_plan plans[] = {
        { "/tmp/gale_files_", FAULTY_ONCE, EIO, 0 }, { "/tmp/gale_files_", FAULTY_ONCE, EINTR, 0 },
        { "/tmp/gale_files_", FAULTY_SHORT, 0, 0 },  { "/tmp/gale_files_", FAULTY_FULL, 0, 0 },
        { "/tmp/gale_files_", FAULTY_DEAD, 0, 0 },
    };
    f->options.fields = "text";
    f->options.max_open = 2;
    for (size_t i = 0; i < 2 * (sizeof plans / sizeof *plans); i++) {
        faulty_plan plan = plans[i / 2];
        int unharmed = 0;
        f->options.sync = i % 2;
        for (bool hit = true; hit;) {
            int acked = 0;
            plan.at++;
            f->fake.stop_code = 0;
            empty(f);
            faulty_disk_use(plan);
            begin(f, "{host}");
            while (acked < BATCHES && write_batch(f, acked) == 0) acked++;
            stop(f);
            hit = faulty_disk_calls() >= plan.at;
            faulty_disk_end();
            unharmed += acked == BATCHES;
            assert_true(acked == BATCHES || f->fake.stop_code < 0);
            expect_acked(f, acked, plan.kind != FAULTY_DEAD);
        }
        assert_true(plan.at > 30 && unharmed > 0);
    }
}

static void every_failing_allocation_is_survived(void **state) {
    fixture *f = *state;
    f->options.fields = "text";
    f->options.max_open = 2;
    for (uint64_t n = 1; n < 40; n++) {
        empty(f);
        gale_error error = GALE_ERROR_INIT;
        snprintf(f->path, sizeof f->path, "%s/{host}", f->folder);
        f->options.path = f->path;
        assert_int_equal(gale_file_sink_bolt(&f->options, &f->bolt, &error), 0);
        f->fake.fail_at = f->fake.allocations + n;
        if (fake_prepare(&f->fake, &f->bolt, &f->self) < 0)
            assert_int_equal(fake_prepare(&f->fake, &f->bolt, &f->self), 0);
        for (int i = 0; i < 30; i++) {
            char text[40];
            gale_value host = gale_text(((const char *[]){ "x/a", "b", "c" })[i * i % HOSTS]);
            snprintf(text, sizeof text, "%d.%d", i / EACH, i % EACH);
            if (execute(f, host, gale_null(), text) < 0) assert_int_equal(execute(f, host, gale_null(), text), 0);
        }
        assert_int_equal(flush(f), 0);
        stop(f);
        expect_acked(f, 30 / EACH, true);
    }
}

/* --- Lines --- */

static void expect_line(fixture *f, int32_t format, const char *fields, const char *expected) {
    f->options.format = format;
    f->options.fields = fields;
    f->options.overwrite = true;
    begin(f, "out");
    assert_int_equal(execute(f, gale_text("a,\tb"), gale_i64(5), "say \"no\""), 0);
    assert_int_equal(flush(f), 0);
    stop(f);
    assert_string_equal(content(f, "out"), expected);
}

static void fields_are_chosen_and_ordered(void **state) {
    fixture *f = *state;
    expect_line(f, GALE_FILE_TSV, "time, host", "5\ta,\\tb\n");
    expect_line(f, GALE_FILE_JSON, "time, host", "{\"time\":5,\"host\":\"a,\\tb\"}\n");
    expect_line(f, GALE_FILE_CSV, "text,host", "\"say \"\"no\"\"\",\"a,\tb\"\n");
    expect_line(f, GALE_FILE_TEXT, "text", "say \"no\"\n");
    expect_line(f, GALE_FILE_TSV, NULL, "a,\\tb\t5\tsay \"no\"\n");
    expect_line(f, GALE_FILE_CSV, "", "\"a,\tb\",5,\"say \"\"no\"\"\"\n");
    expect_line(f, GALE_FILE_TEXT, NULL, "a,\tb\n");
}

static void a_field_that_is_not_there_fails_its_tuple_alone(void **state) {
    fixture *f = *state;
    f->options.fields = "text, tiem";
    begin(f, "out");
    assert_int_equal(execute(f, gale_text("h"), gale_null(), "1"), GALE_FIELDS);
    assert_non_null(strstr(fake_text(&f->fake.reports), "has no field 'tiem'; did you mean 'time'?"));
    fake_source(&f->fake, "other", "text, tiem");
    const gale_value values[] = { gale_text("a"), gale_null() };
    assert_int_equal(f->bolt.ops->execute(f->self, fake_tuple(&f->fake, values, 2), &f->fake.collector), 0);
    assert_int_equal(flush(f), 0);
    assert_string_equal(content(f, "out"), "a\t\\N\n");
}

static void options_are_checked(void **state) {
    fixture *f = *state;
    static const gale_clock no_clock = { .size = sizeof no_clock };
    static const struct {
        gale_file_sink_options options;
        const char *text;
    } wrong[] = {
        { { .path = "{a" }, "file sink: path: '{' at byte 1 has no '}'; '{{' is a brace" },
        { { .path = "a", .fields = "b,,c" }, "file sink: fields has an empty name: 'b,,c'" },
        { { .path = "a", .fields = "b, c", .format = GALE_FILE_TEXT },
          "file sink: fields, of which format text writes one, names 2 fields, must name one: 'b, c'" },
        { { .path = "a", .max_open = 10001 }, "file sink: max_open is 10001, at most 10000" },
        { { .path = "a", .clock = &no_clock }, "file sink: options.clock has no function" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        gale_error error = GALE_ERROR_INIT;
        gale_file_sink_options options = wrong[i].options;
        options.size = sizeof options;
        assert_int_equal(gale_file_sink_bolt(&options, &f->bolt, &error), GALE_INVALID);
        assert_string_equal(error.text, wrong[i].text);
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(each_tuple_goes_to_the_file_that_it_names_and_folders_are_made),
        CASE(no_value_leads_elsewhere),
        CASE(a_value_that_is_a_dash_is_not_the_standard_output),
        CASE(now_is_the_clocks),
        CASE(tasks_have_files_of_their_own),
        CASE(a_tuple_without_the_field_or_a_time_fails),
        CASE(the_configurations_path_is_read_in_the_same_way),
        CASE(what_a_file_holds_is_asked_for_with_its_first_tuple),
        CASE(half_a_line_of_a_killed_run_is_cut_in_each_file),
        CASE(no_more_than_were_asked_for_are_open_and_none_is_begun_twice),
        CASE(a_file_that_was_rotated_away_while_it_was_closed_is_made_anew),
        CASE(whatever_call_fails_what_was_acked_is_in_its_file),
        CASE(every_failing_allocation_is_survived),
        CASE(fields_are_chosen_and_ordered),
        CASE(a_field_that_is_not_there_fails_its_tuple_alone),
        CASE(options_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
