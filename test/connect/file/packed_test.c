/* A sink whose files are packed with gzip: what of them can be unpacked, whatever ends the run. */
#include "harness/fake_collector.h"
#include "harness/fake_saver.h"
#include "harness/faulty_disk.h"

#include <errno.h>
#include <gale_gzip.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "harness/cm.h"

enum { ROOM = 3 << 20 };

typedef struct fixture {
    fake_collector fake;
    gale_bolt bolt;
    void *self;
    char folder[40], path[200];
    gale_file_sink_options options; /* of the next one that begins */
    char *read, *raw;
} fixture;

static int setup(void **state) {
    fixture *f = test_calloc(1, sizeof *f);
    fake_init(&f->fake);
    fake_source(&f->fake, "parser", "host, text");
    snprintf(f->folder, sizeof f->folder, "/tmp/gale_packed_XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    f->options = (gale_file_sink_options){ .size = sizeof f->options, .fields = "text", .codec = gale_gzip() };
    f->read = test_malloc(ROOM);
    f->raw = test_malloc(ROOM);
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
    test_free(f->read);
    test_free(f->raw);
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

static const char *place(const fixture *f, const char *name) {
    static char path[300];
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    return path;
}

/* What can be unpacked; `ret_whole` (may be NULL): does it end as it must? */
static const char *unpack(fixture *f, const char *name, bool *ret_whole) {
    gzFile file = gzopen(place(f, name), "rb");
    int wrong = 0;
    if (!file) return "none";
    int size = gzread(file, f->read, ROOM - 1);
    gzerror(file, &wrong);
    if (ret_whole) *ret_whole = size >= 0 && wrong == Z_OK;
    f->read[size < 0 ? 0 : size] = 0;
    gzclose(file);
    return f->read;
}

/* All of it, and it ends as it must. */
static const char *content(fixture *f, const char *name) {
    bool whole = true;
    const char *text = unpack(f, name, &whole);
    if (!whole) fail_msg("%s is not whole", name);
    return text;
}

static size_t take_raw(fixture *f, const char *name) {
    FILE *file = fopen(place(f, name), "rb");
    assert_non_null(file);
    size_t size = fread(f->raw, 1, ROOM, file);
    fclose(file);
    return size;
}

static void put_raw(fixture *f, const char *name, const void *bytes, size_t size) {
    FILE *file = fopen(place(f, name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static void what_was_written_can_be_unpacked_at_once(void **state) {
    fixture *f = *state;
    bool whole;
    begin(f, "out");
    assert_int_equal(execute(f, "", "a"), 0);
    assert_int_equal(execute(f, "", "b"), 0);
    assert_int_equal(flush(f), 0);
    assert_string_equal(unpack(f, "out.gz", &whole), "a\nb\n");
    assert_false(whole);
    assert_int_equal(execute(f, "", "c"), 0);
    assert_int_equal(flush(f), 0);
    assert_string_equal(unpack(f, "out.gz", NULL), "a\nb\nc\n");
    stop(f);
    assert_string_equal(content(f, "out.gz"), "a\nb\nc\n");
    f->options.append = true;
    begin(f, "out.gz"); /* which has its ending */
    assert_int_equal(execute(f, "", "d"), 0);
    stop(f);
    assert_string_equal(content(f, "out.gz"), "a\nb\nc\nd\n");
}

/* Of a file that was cut anywhere: what the next run makes of it. */
static void whatever_a_killed_run_has_left_is_gone_on_with(void **state) {
    fixture *f = *state;
    enum { BATCHES = 5 };
    size_t sizes[BATCHES + 1] = { 0 };
    const char *lines[BATCHES + 1] = { "", "first\n", "first\nsecond\nthird\n" };
    static char long_lines[2][40000];
    begin(f, "out");
    for (int batch = 0; batch < BATCHES; batch++) {
        if (batch == 0) assert_int_equal(execute(f, "", "first"), 0);
        if (batch == 1) assert_int_equal(execute(f, "", "second"), 0), assert_int_equal(execute(f, "", "third"), 0);
        for (int i = 0; batch > 1 && i < 100; i++) {
            char text[40];
            snprintf(text, sizeof text, "%d of %d", i * 7919, batch);
            assert_int_equal(execute(f, "", text), 0);
        }
        assert_int_equal(flush(f), 0);
        if (batch > 1 && batch < 4) {
            snprintf(long_lines[batch - 2], sizeof long_lines[0], "%s", unpack(f, "out.gz", NULL));
            lines[batch + 1] = long_lines[batch - 2];
        }
        sizes[batch + 1] = take_raw(f, "out.gz");
    }
    stop(f);
    f->options.append = true;
    static char raw[40000];
    size_t size = take_raw(f, "out.gz");
    memcpy(raw, f->raw, size);
    static char all[40000];
    snprintf(all, sizeof all, "%s", content(f, "out.gz"));
    for (size_t cut = 0; cut <= size; cut++) {
        put_raw(f, "out.gz", raw, cut);
        begin(f, "out");
        assert_int_equal(execute(f, "", "next"), 0);
        stop(f);
        const char *text = content(f, "out.gz");
        size_t length = strlen(text);
        assert_true(length >= 5 && strcmp(text + length - 5, "next\n") == 0);
        assert_memory_equal(text, all, length - 5);
        assert_true(length == 5 || text[length - 6] == '\n');
        for (int batch = 1; batch < BATCHES && sizes[batch] <= cut; batch++)
            if (length - 5 < strlen(lines[batch]))
                fail_msg("cut at %zu, %d batches were acked: '%s'", cut, batch, text);
    }
}

static void cut_at(const fixture *f, const char *name, size_t size) {
    assert_int_equal(truncate(place(f, name), (off_t)size), 0);
    gale_manual_clock_advance(f->fake.clock, GALE_SECOND);
}

/* What stands behind a cut is a member of its own, with a head. */
static void a_file_that_somebody_cuts_anywhere_while_it_is_written_to_is_whole_and_has_what_comes(void **state) {
    static const char header[] = "text\n", all[] = "text\nfirst\nsecond\n", last[] = "next\nand on\n";
    fixture *f = *state;
    size_t size = 1;
    f->options.header = f->options.overwrite = true;
    f->options.format = GALE_FILE_CSV;
    for (size_t cut = 0; cut < size; cut++) {
        begin(f, "out");
        assert_int_equal(execute(f, "", "first"), 0);
        assert_int_equal(flush(f), 0);
        assert_int_equal(execute(f, "", "second"), 0);
        assert_int_equal(flush(f), 0);
        size = take_raw(f, "out.gz");
        cut_at(f, "out.gz", cut);
        assert_int_equal(execute(f, "", "next"), 0);
        assert_int_equal(flush(f), 0);
        assert_int_equal(execute(f, "", "and on"), 0);
        stop(f);
        const char *text = content(f, "out.gz");
        size_t length = strlen(text), kept = length - strlen(last);
        assert_string_equal(text + kept, last);
        assert_true(kept >= strlen(header) && text[kept - 1] == '\n');
        assert_memory_equal(text, all, kept);
        assert_non_null(strstr(fake_text(&f->fake.logged), "was cut by somebody"));
        fake_forget(&f->fake);
    }
    assert_true(size > 20);
}

static void a_file_that_somebody_cuts_while_it_is_closed_is_whole_too(void **state) {
    fixture *f = *state;
    f->options.max_open = 1;
    begin(f, "{host}");
    assert_int_equal(execute(f, "a", "first"), 0);
    assert_int_equal(execute(f, "b", "other"), 0);
    assert_int_equal(flush(f), 0);
    cut_at(f, "a.gz", take_raw(f, "a.gz") - 3);
    assert_int_equal(execute(f, "a", "next"), 0);
    stop(f);
    assert_string_equal(content(f, "a.gz"), "first\nnext\n");
}

static void what_packs_well_is_found_to_its_last_line(void **state) {
    fixture *f = *state;
    static char line[100001];
    memset(line, 'x', sizeof line - 1);
    begin(f, "out");
    for (int i = 0; i < 10; i++) assert_int_equal(execute(f, "", line), 0);
    assert_int_equal(flush(f), 0);
    size_t size = take_raw(f, "out.gz"); /* and then it is killed */
    assert_true(size < 10000);
    stop(f);
    put_raw(f, "out.gz", f->raw, size);
    f->options.append = true;
    begin(f, "out");
    assert_int_equal(execute(f, "", "next"), 0);
    stop(f);
    assert_int_equal(strlen(content(f, "out.gz")), 10 * sizeof line + 5);
}

static void what_is_not_packed_or_damaged_is_refused_and_left_alone(void **state) {
    fixture *f = *state;
    f->options.append = true;
    put_raw(f, "out.gz", "plain\n", 6);
    begin(f, "out");
    assert_int_equal(execute(f, "", "a"), 0);
    assert_int_equal(f->fake.stop_code, GALE_INVALID);
    assert_non_null(strstr(f->fake.stop_text, "holds something that is not packed (.gz), or damaged"));
    stop(f);
    assert_int_equal(take_raw(f, "out.gz"), 6);
    empty(f);
    f->fake.stop_code = 0;
    begin(f, "out");
    assert_int_equal(execute(f, "", "a"), 0);
    stop(f);
    size_t size = take_raw(f, "out.gz");
    f->raw[size - 6] ^= 1; /* in the sum */
    put_raw(f, "out.gz", f->raw, size);
    begin(f, "out");
    assert_int_equal(execute(f, "", "a"), 0);
    assert_int_equal(f->fake.stop_code, GALE_INVALID);
    stop(f);
    assert_int_equal(take_raw(f, "out.gz"), size);
}

static void files_are_full_by_what_their_lines_take_unpacked(void **state) {
    fixture *f = *state;
    f->options.rotate_bytes = 6;
    f->options.append = true;
    begin(f, "out");
    for (int i = 0; i < 4; i++) assert_int_equal(execute(f, "", "a"), 0);
    stop(f);
    assert_string_equal(content(f, "out.000001.gz"), "a\na\na\n");
    assert_string_equal(content(f, "out.gz"), "a\n");
    begin(f, "out"); /* what is there counts */
    for (int i = 0; i < 3; i++) assert_int_equal(execute(f, "", "b"), 0);
    stop(f);
    assert_string_equal(content(f, "out.000002.gz"), "a\nb\nb\n");
    assert_string_equal(content(f, "out.gz"), "b\n");
}

static void files_that_are_closed_and_opened_again_are_packed_on(void **state) {
    fixture *f = *state;
    f->options.max_open = 1;
    f->options.rotate_bytes = 20;
    begin(f, "{host}");
    for (int i = 0; i < 21; i++) assert_int_equal(execute(f, i % 2 ? "x" : "y", i % 2 ? "1" : "2"), 0);
    stop(f);
    assert_string_equal(content(f, "x.gz"), "1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n");
    assert_string_equal(content(f, "y.000001.gz"), "2\n2\n2\n2\n2\n2\n2\n2\n2\n2\n");
    assert_string_equal(content(f, "y.gz"), "2\n");
}

static void a_run_goes_back_to_its_checkpoint(void **state) {
    fixture *f = *state;
    fake_saver saver;
    fake_saver_init(&saver, &f->fake);
    f->options.rotate_bytes = 8;
    f->fake.context.durable = true;
    begin(f, "out");
    for (int i = 0; i < 6; i++) assert_int_equal(execute(f, "", "a"), 0);
    assert_int_equal(fake_save(&saver, f->bolt.ops->durable, f->self), 0);
    assert_string_equal(content(f, "out.gz"), "a\na\n"); /* a member ends with it */
    for (int i = 0; i < 9; i++) assert_int_equal(execute(f, "", "b"), 0);
    assert_int_equal(flush(f), 0);
    assert_string_equal(content(f, "out.000003.gz"), "b\nb\nb\nb\n");
    fake_drop_pledges(&saver);
    stop(f);
    f->fake.context.resumes = true;
    begin(f, "out");
    assert_int_equal(fake_restore(&saver, f->bolt.ops->durable, f->self), 0);
    assert_string_equal(content(f, "out.gz"), "a\na\n");
    for (int i = 0; i < 3; i++) assert_int_equal(execute(f, "", "c"), 0);
    stop(f);
    assert_string_equal(content(f, "out.000001.gz"), "a\na\na\na\n");
    assert_string_equal(content(f, "out.000002.gz"), "a\na\nc\nc\n");
    assert_string_equal(content(f, "out.gz"), "c\n");
    assert_string_equal(content(f, "out.000003.gz"), "none");
    fake_saver_fini(&saver);
}

static void whatever_call_fails_what_was_acked_can_be_unpacked(void **state) {
    fixture *f = *state;
    static const faulty_plan plans[] = {
        { "/tmp/gale_packed_", FAULTY_ONCE, EIO, 0 },
        { "/tmp/gale_packed_", FAULTY_SHORT, 0, 0 },
        { "/tmp/gale_packed_", FAULTY_FULL, 0, 0 },
        { "/tmp/gale_packed_", FAULTY_DEAD, 0, 0 },
    };
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        faulty_plan plan = plans[i];
        for (bool hit = true; hit;) {
            char text[40], expected[200] = "";
            int acked = 0;
            plan.at++;
            f->fake.stop_code = 0;
            empty(f);
            faulty_disk_use(plan);
            bool prepared = prepare(f, "out") == 0;
            for (int batch = 0; prepared && batch < 5 && acked == batch; batch++) {
                snprintf(text, sizeof text, "%d", batch);
                assert_int_equal(execute(f, "", text), 0);
                if (flush(f) == 0) strcat(strcat(expected, text), "\n"), acked++;
            }
            if (prepared)
                stop(f);
            else
                f->bolt.free_user(f->bolt.user), f->bolt.free_user = NULL;
            hit = faulty_disk_calls() >= plan.at;
            faulty_disk_end();
            assert_true(acked == 5 || f->fake.stop_code < 0 || !prepared);
            const char *is = unpack(f, "out.gz", NULL);
            if (acked && strncmp(is, expected, strlen(expected)) != 0) fail_msg("'%s' is not '%s'", is, expected);
        }
        assert_true(plan.at > 8);
    }
}

static void *no_packer(void) {
    return NULL;
}

static void misuse_is_refused_and_a_packer_that_has_no_memory_stops_the_run(void **state) {
    fixture *f = *state;
    gale_error error = GALE_ERROR_INIT;
    gale_file_codec codec = *gale_gzip();
    gale_file_sink_options options = { .size = sizeof options, .path = "-", .codec = gale_gzip() };
    assert_int_equal(gale_file_sink_bolt(&options, &f->bolt, &error), GALE_INVALID);
    assert_string_equal(error.text, "file sink: the standard output cannot be packed");
    codec.mend = NULL;
    options.path = "a";
    options.codec = &codec;
    assert_int_equal(gale_file_sink_bolt(&options, &f->bolt, &error), GALE_INVALID);
    assert_string_equal(error.text, "file sink: options.codec is not whole");
    codec.mend = gale_gzip()->mend;
    codec.open = no_packer;
    f->options.codec = &codec;
    begin(f, "out");
    assert_int_equal(execute(f, "", "a"), 0);
    assert_int_equal(flush(f), GALE_NO_MEMORY);
    assert_int_equal(f->fake.stop_code, GALE_NO_MEMORY);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(what_was_written_can_be_unpacked_at_once),
        CASE(whatever_a_killed_run_has_left_is_gone_on_with),
        CASE(a_file_that_somebody_cuts_anywhere_while_it_is_written_to_is_whole_and_has_what_comes),
        CASE(a_file_that_somebody_cuts_while_it_is_closed_is_whole_too),
        CASE(what_packs_well_is_found_to_its_last_line),
        CASE(what_is_not_packed_or_damaged_is_refused_and_left_alone),
        CASE(files_are_full_by_what_their_lines_take_unpacked),
        CASE(files_that_are_closed_and_opened_again_are_packed_on),
        CASE(a_run_goes_back_to_its_checkpoint),
        CASE(whatever_call_fails_what_was_acked_can_be_unpacked),
        CASE(misuse_is_refused_and_a_packer_that_has_no_memory_stops_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
