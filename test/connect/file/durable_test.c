/* The file spout and the file sink in a durable run: what they save, and what they go on with. */
#include "connect/file/settings.h"
#include "harness/fake_saver.h"
#include "harness/faulty_disk.h"

#include <errno.h>
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
    fake_saver saver;
    gale_spout spout;
    gale_bolt bolt;
    void *lines, *sink;
    bool append, overwrite, repeat;
    const char *emit;
    char folder[40], in[60], out[60], other[60];
    char read[4000];
    char message[900];
    int kept; /* keeps the inode of a file that was replaced from being used again */
} fixture;

static int setup(void **state) {
    fixture *f = test_calloc(1, sizeof *f);
    fake_init(&f->fake);
    fake_saver_init(&f->saver, &f->fake);
    fake_source(&f->fake, "counter", "word");
    f->fake.context.durable = true;
    snprintf(f->folder, sizeof f->folder, "/tmp/gale_durable_XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    f->kept = open(f->folder, O_RDONLY);
    snprintf(f->in, sizeof f->in, "%s/in.log", f->folder);
    snprintf(f->out, sizeof f->out, "%s/out.tsv", f->folder);
    snprintf(f->other, sizeof f->other, "%s/other", f->folder);
    *state = f;
    return 0;
}

/* The process ends without a word: what is in memory is lost, nothing is written. */
static void die(fixture *f) {
    if (f->lines) fake_close(&f->spout, f->lines);
    if (f->sink) fake_cleanup(&f->bolt, f->sink);
    f->lines = f->sink = NULL;
    f->fake.stop_code = 0;
    fake_forget(&f->fake);
}

static int teardown(void **state) {
    fixture *f = *state;
    die(f);
    close(f->kept);
    unlink(f->in);
    unlink(f->out);
    unlink(f->other);
    rmdir(f->folder);
    fake_saver_fini(&f->saver);
    fake_fini(&f->fake);
    test_free(f);
    return 0;
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

static const char *say(fixture *f, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(f->message, sizeof f->message, format, list);
    va_end(list);
    return f->message;
}

static uint64_t inode_of(const char *path) {
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    return about.st_ino;
}

/* Something else is where the file was, and has another inode. */
static void replace(const fixture *f, const char *path, const char *text) {
    put(f->other, "w", text);
    int old = open(path, O_RDONLY);
    assert_int_equal(dup2(old, f->kept), f->kept);
    close(old);
    assert_int_equal(rename(f->other, path), 0);
}

/* --- The spout --- */

static int open_lines(fixture *f, const char *path, const char *kept) {
    gale_file_spout_options options = {
        .size = sizeof options, .path = path, .state = kept, .repeat = f->repeat, .emit = f->emit
    };
    assert_int_equal(gale_file_spout(&options, &f->spout, NULL), 0);
    ((gx_file_settings *)f->spout.user)->block = 2; /* bytes: so tasks take lines of one letter in turn */
    int rc = fake_open(&f->fake, &f->spout, &f->lines);
    if (rc < 0) f->spout.free_user(f->spout.user);
    return rc;
}

static int next(fixture *f) {
    gale_wait wait = { 0, -1 };
    return f->spout.ops->next(f->lines, &f->fake.collector, &wait);
}

/* As many lines as there are asked for. */
static const char *emit(fixture *f, int count) {
    gx_buf_reset(&f->fake.emitted);
    while (count-- > 0) assert_int_equal(next(f), GALE_NEXT_EMITTED);
    return fake_text(&f->fake.emitted);
}

static void save_lines(fixture *f) {
    assert_int_equal(fake_save(&f->saver, f->spout.ops->durable, f->lines), GALE_OK);
}

/* The next process. */
static int resume_at(fixture *f, const char *path) {
    die(f);
    f->fake.context.resumes = true;
    int rc = open_lines(f, path, NULL);
    return rc < 0 ? rc : fake_restore(&f->saver, f->spout.ops->durable, f->lines);
}

static int resume(fixture *f) {
    return resume_at(f, f->in);
}

static void expect_refused(fixture *f, int rc, const char *message) {
    assert_int_equal(rc, GALE_INVALID);
    const char *text = fake_text(&f->fake.reports);
    assert_memory_equal(text, message, strlen(message));
    assert_string_equal(text + strlen(message), "\n");
}

static void fail_line(fixture *f, uint64_t id) {
    gale_failure failure = { sizeof failure, GALE_REASON_FAILED, 3, "count", "", 1, false };
    (f->spout.ops->fail)(f->lines, id, &failure);
}

static void a_spout_goes_on_with_the_next_line_and_has_the_open_ones_still(void **state) {
    fixture *f = *state;
    put(f->in, "w", "a\nb\nc\nd\n");
    assert_int_equal(open_lines(f, f->in, NULL), 0);
    assert_string_equal(emit(f, 3), "[\"a\"] #0\n[\"b\"] #1\n[\"c\"] #2\n");
    f->spout.ops->ack(f->lines, 0);
    fail_line(f, 2);
    save_lines(f);
    f->spout.ops->ack(f->lines, 1); /* after the checkpoint: it never was */
    emit(f, 2);
    assert_int_equal(resume(f), GALE_OK);
    assert_false(f->fake.resumed); /* that is not what a checkpoint is */
    assert_string_equal(emit(f, 2), "[\"c\"] #2\n[\"d\"] #0\n");
    assert_int_equal(next(f), GALE_NEXT_DONE);
    fail_line(f, 1); /* open in the checkpoint, and now told to have failed */
    assert_string_equal(emit(f, 1), "[\"b\"] #1\n");
    assert_string_equal(fake_text(&f->fake.logged), say(f, "%s: goes on behind line 3\n", f->in));
}

static void places_of_lines_are_the_same_after_the_restart(void **state) {
    fixture *f = *state;
    f->emit = "number, offset";
    put(f->in, "w", "a\nbb\nc\n");
    assert_int_equal(open_lines(f, f->in, NULL), 0);
    assert_string_equal(emit(f, 2), "[1,0] #0\n[2,2] #1\n");
    save_lines(f);
    assert_int_equal(resume(f), GALE_OK);
    fail_line(f, 1);
    assert_string_equal(emit(f, 2), "[2,2] #1\n[3,5] #2\n");
}

static void attempts_are_counted_over_the_restart(void **state) {
    fixture *f = *state;
    put(f->in, "w", "a\n");
    assert_int_equal(open_lines(f, f->in, NULL), 0);
    emit(f, 1);
    fail_line(f, 0);
    emit(f, 1);
    save_lines(f);
    assert_int_equal(resume(f), GALE_OK);
    fail_line(f, 0);
    emit(f, 1);
    fail_line(f, 0);
    assert_string_equal(fake_text(&f->fake.reports), "line 1 given up after 3 attempts: failed (count)\n");
}

static void a_file_that_grew_is_read_on(void **state) {
    fixture *f = *state;
    put(f->in, "w", "a\nb");
    assert_int_equal(open_lines(f, f->in, NULL), 0);
    emit(f, 2);
    assert_int_equal(next(f), GALE_NEXT_DONE);
    f->spout.ops->ack(f->lines, 0);
    f->spout.ops->ack(f->lines, 1);
    save_lines(f);
    assert_int_equal(resume(f), GALE_OK);
    assert_int_equal(next(f), GALE_NEXT_DONE);
    put(f->in, "a", "\nc\n"); /* the end of b came later */
    assert_int_equal(resume(f), GALE_OK);
    assert_string_equal(fake_text(&f->fake.logged),
                        say(f,
                            "%s: has grown by 2 bytes since it was read to its end; they are read now\n"
                            "%s: goes on behind line 2\n",
                            f->in, f->in));
    assert_string_equal(emit(f, 1), "[\"c\"] #0\n");
}

static void what_came_behind_the_end_of_a_run_that_had_ended_is_refused(void **state) {
    fixture *f = *state;
    put(f->in, "w", "a\n");
    assert_int_equal(open_lines(f, f->in, NULL), 0);
    emit(f, 1);
    assert_int_equal(next(f), GALE_NEXT_DONE);
    f->spout.ops->ack(f->lines, 0);
    save_lines(f);
    f->saver.is_end = true;
    assert_int_equal(resume(f), GALE_OK);
    put(f->in, "a", "more\n");
    expect_refused(f, resume(f),
                   say(f,
                       "%s: has grown by 5 bytes since the run came to its end with checkpoint 1: its results are "
                       "finished without them; begin anew with another state folder",
                       f->in));
}

static void a_file_that_was_rotated_is_found_by_its_inode(void **state) {
    fixture *f = *state;
    put(f->in, "w", "a\nb\nc\n");
    assert_int_equal(open_lines(f, f->in, NULL), 0);
    emit(f, 1);
    save_lines(f);
    assert_int_equal(rename(f->in, f->other), 0);
    put(f->in, "w", "z\nz\n"); /* the next file of that name */
    assert_int_equal(resume(f), GALE_OK);
    assert_string_equal(fake_text(&f->fake.logged),
                        say(f,
                            "%s: was renamed to '%s' since, and is read on there; another file of the old name is not "
                            "read\n%s: goes on behind line 1\n",
                            f->in, f->other, f->other));
    assert_string_equal(emit(f, 1), "[\"b\"] #1\n");
    save_lines(f); /* and again, from there */
    unlink(f->in);
    assert_int_equal(resume(f), GALE_OK);
    assert_string_equal(emit(f, 1), "[\"c\"] #2\n");
}

/* Who names another file means that one, and not the old one because that is beside it. */
static void another_input_is_refused_unless_it_is_the_same(void **state) {
    fixture *f = *state;
    put(f->in, "w", "a\nb\nc\n");
    assert_int_equal(open_lines(f, f->in, NULL), 0);
    emit(f, 2);
    save_lines(f);
    put(f->other, "w", "x\ny\nz\n");
    expect_refused(
        f, resume_at(f, f->other),
        say(f,
            "%s: is not the file that checkpoint 1 has read, which was '%s': what lies before byte 4 differs; "
            "keep that path, or begin anew with another state folder",
            f->other, f->in));
    put(f->other, "w", "a\nb\nc\nd\n"); /* a copy */
    assert_int_equal(resume_at(f, f->other), GALE_OK);
    assert_string_equal(emit(f, 2), "[\"c\"] #2\n[\"d\"] #3\n");
}

static void a_file_that_is_gone_is_refused_with_what_is_looked_for(void **state) {
    fixture *f = *state;
    put(f->in, "w", "a\nb\n");
    assert_int_equal(open_lines(f, f->in, NULL), 0);
    emit(f, 1);
    save_lines(f);
    uint64_t inode = inode_of(f->in);
    unlink(f->in);
    expect_refused(f, resume(f),
                   say(f,
                       "%s: checkpoint 1 stands at byte 2, and there is no such file, nor one beside it of its inode "
                       "%llu; put it back, or begin anew with another state folder",
                       f->in, (unsigned long long)inode));
    /* A task of which nothing was saved says so when it is to read. */
    die(f);
    assert_int_equal(open_lines(f, f->in, NULL), 0);
    assert_int_equal(next(f), GALE_NEXT_DONE);
    assert_int_equal(f->fake.stop_code, GALE_IO);
    assert_string_equal(f->fake.stop_text, say(f, "cannot open '%s': there is no such file", f->in));
}

static void a_file_that_was_truncated_changed_or_replaced_is_refused(void **state) {
    fixture *f = *state;
    put(f->in, "w", "a\nb\nc\n");
    assert_int_equal(open_lines(f, f->in, NULL), 0);
    emit(f, 2);
    save_lines(f);
    put(f->in, "w", "a\n");
    expect_refused(
        f, resume(f),
        say(f,
            "%s: has 2 bytes, but checkpoint 1 stands at byte 4: the file was truncated; put it back, or begin "
            "anew with another state folder",
            f->in));
    put(f->in, "w", "a\nX\nc\n");
    expect_refused(
        f, resume(f),
        say(f,
            "%s: was changed since checkpoint 1: what lies before byte 4 differs; put the file back, or begin "
            "anew with another state folder",
            f->in));
    uint64_t inode = inode_of(f->in);
    replace(f, f->in, "another file\n");
    expect_refused(f, resume(f),
                   say(f,
                       "%s: is not the file that checkpoint 1 has read: what lies before byte 4 differs, and no file "
                       "beside it has that one's inode %llu; put it back, or begin anew with another state folder",
                       f->in, (unsigned long long)inode));
    replace(f, f->in, "a\nb\nc\nd\n"); /* a copy is as good */
    assert_int_equal(resume(f), GALE_OK);
    assert_string_equal(fake_text(&f->fake.logged),
                        say(f, "%s: goes on behind line 2; the file was copied since\n", f->in));
    assert_string_equal(emit(f, 2), "[\"c\"] #2\n[\"d\"] #3\n");
}

static void what_a_pipe_has_given_is_not_gone_on_with(void **state) {
    fixture *f = *state;
    assert_int_equal(mkfifo(f->in, 0600), 0);
    int fd = open(f->in, O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(open_lines(f, f->in, NULL), 0);
    assert_string_equal(fake_text(&f->fake.logged),
                        say(f,
                            "%s: is no regular file: what it has given cannot be read again, and the run cannot go on "
                            "after a crash\n",
                            f->in));
    save_lines(f);
    assert_int_equal(resume(f), GALE_OK); /* nothing was read */
    assert_int_equal(write(fd, "a\nb\n", 4), 4);
    emit(f, 1);
    save_lines(f);
    expect_refused(
        f, resume(f),
        say(f,
            "%s: checkpoint 2 stands behind line 1, and what a pipe has given cannot be read again; read from "
            "a file, or begin anew with another state folder",
            f->in));
    close(fd);
}

static void two_tasks_go_on_with_what_one_had(void **state) {
    fixture *f = *state;
    put(f->in, "w", "a\nb\nc\nd\ne\nf\ng\n");
    assert_int_equal(open_lines(f, f->in, NULL), 0);
    emit(f, 3);
    f->spout.ops->ack(f->lines, 0);
    fail_line(f, 2);
    save_lines(f);
    f->fake.context.task_count = 2;
    assert_int_equal(resume(f), GALE_OK);
    assert_string_equal(
        fake_text(&f->fake.logged),
        say(f, "%s: goes on behind line 3\n%s: what 1 task had read behind that is passed over\n", f->in, f->in));
    /* What was open comes back to the first, under ids that its own lines do not have. */
    assert_string_equal(emit(f, 3), "[\"c\"] #2\n[\"e\"] #4294967296\n[\"g\"] #4294967297\n");
    assert_int_equal(next(f), GALE_NEXT_DONE);
    fail_line(f, 1);
    assert_string_equal(emit(f, 1), "[\"b\"] #1\n");
    f->fake.context.task_index = 1;
    assert_int_equal(resume(f), GALE_OK);
    assert_string_equal(emit(f, 2), "[\"d\"] #8589934592\n[\"f\"] #8589934593\n");
    assert_int_equal(next(f), GALE_NEXT_DONE);
    fail_line(f, 1); /* the other one's */
    assert_int_equal(next(f), GALE_NEXT_DONE);
}

static void what_two_tasks_inherited_is_saved_again(void **state) {
    fixture *f = *state;
    put(f->in, "w", "a\nb\nc\nd\n");
    assert_int_equal(open_lines(f, f->in, NULL), 0);
    emit(f, 2);
    save_lines(f);
    f->fake.context.task_count = 2;
    assert_int_equal(resume(f), GALE_OK);
    assert_string_equal(emit(f, 1), "[\"c\"] #4294967296\n");
    save_lines(f);
    assert_int_equal(resume(f), GALE_OK);
    assert_int_equal(next(f), GALE_NEXT_DONE);
    fail_line(f, 1);
    f->spout.ops->ack(f->lines, 0);
    f->spout.ops->ack(f->lines, 4294967296);
    assert_string_equal(emit(f, 1), "[\"b\"] #1\n");
    assert_int_equal(next(f), GALE_NEXT_DONE);
}

static void parts_that_are_missing_or_twice_are_refused(void **state) {
    fixture *f = *state;
    put(f->in, "w", "a\nb\nc\nd\n");
    f->fake.context.task_count = 3;
    f->fake.context.task_index = 1;
    assert_int_equal(open_lines(f, f->in, NULL), 0);
    emit(f, 1);
    save_lines(f);
    f->fake.context.task_count = 2;
    assert_int_equal(resume(f), GALE_DAMAGED); /* the second is no first */
}

static void the_state_file_is_neither_read_nor_written(void **state) {
    fixture *f = *state;
    put(f->in, "w", "a\n");
    put(f->other, "w", "no state at all\n");
    assert_int_equal(open_lines(f, f->in, f->other), 0);
    assert_string_equal(fake_text(&f->fake.logged),
                        say(f, "%s: the state file '%s' is neither read nor written: checkpoints have the position\n",
                            f->in, f->other));
    emit(f, 1);
    f->spout.ops->ack(f->lines, 0);
    die(f);
    assert_string_equal(content(f, f->other), "no state at all\n");
}

static void reading_without_end_goes_on_where_it_was(void **state) {
    fixture *f = *state;
    f->repeat = true;
    put(f->in, "w", "a\nb\n");
    assert_int_equal(open_lines(f, f->in, NULL), 0);
    emit(f, 3);
    save_lines(f);
    assert_int_equal(resume(f), GALE_OK);
    assert_string_equal(emit(f, 2), "[\"b\"] #3\n[\"a\"] #4\n");
}

/* --- The sink --- */

static int open_sink(fixture *f, const char *path) {
    gale_file_sink_options options = {
        .size = sizeof options, .path = path, .append = f->append, .overwrite = f->overwrite
    };
    assert_int_equal(gale_file_sink_bolt(&options, &f->bolt, NULL), 0);
    int rc = fake_prepare(&f->fake, &f->bolt, &f->sink);
    if (rc < 0) f->bolt.free_user(f->bolt.user);
    return rc;
}

static void write_line(fixture *f, const char *word) {
    const gale_value value = gale_text(word);
    assert_int_equal(f->bolt.ops->execute(f->sink, fake_tuple(&f->fake, &value, 1), &f->fake.collector), 0);
    assert_int_equal(f->bolt.ops->flush(f->sink, &f->fake.collector), 0);
}

/* A checkpoint that lasts. */
static void save_sink(fixture *f) {
    assert_int_equal(fake_save(&f->saver, f->bolt.ops->durable, f->sink), GALE_OK);
    assert_int_equal(fake_prepare_pledges(&f->saver), GALE_OK);
    assert_int_equal(fake_commit_pledges(&f->saver), GALE_OK);
    fake_drop_pledges(&f->saver);
}

static int resume_sink_at(fixture *f, const char *path) {
    die(f);
    f->fake.context.resumes = true;
    int rc = open_sink(f, path);
    return rc < 0 ? rc : fake_restore(&f->saver, f->bolt.ops->durable, f->sink);
}

static int resume_sink(fixture *f) {
    return resume_sink_at(f, f->out);
}

static void begin_sink(fixture *f) {
    assert_int_equal(open_sink(f, f->out), 0);
    write_line(f, "a");
    save_sink(f);
    write_line(f, "b");
}

static void a_sink_is_cut_back_to_where_the_checkpoint_was(void **state) {
    fixture *f = *state;
    begin_sink(f);
    die(f);
    put(f->out, "a", "half of a li");
    assert_int_equal(resume_sink(f), GALE_OK);
    assert_string_equal(content(f, f->out), "a\n");
    assert_string_equal(fake_text(&f->fake.logged),
                        say(f,
                            "%s: goes on behind 2 bytes\n%s: 14 bytes that were written since the checkpoint were cut "
                            "off\n",
                            f->out, f->out));
    write_line(f, "c");
    save_sink(f);
    assert_int_equal(resume_sink(f), GALE_OK);
    assert_string_equal(content(f, f->out), "a\nc\n");
}

/* Between the checkpoint before and this one, and between its save and its commit. */
static void a_checkpoint_refuses_a_file_that_somebody_has_removed_or_cut(void **state) {
    fixture *f = *state;
    f->overwrite = true;
    for (int i = 0; i < 4; i++) {
        bool removes = i & 1, late = i & 2;
        begin_sink(f);
        if (late) assert_int_equal(fake_save(&f->saver, f->bolt.ops->durable, f->sink), GALE_OK);
        assert_int_equal(removes ? unlink(f->out) : truncate(f->out, 1), 0);
        int rc = late ? fake_prepare_pledges(&f->saver) : fake_save(&f->saver, f->bolt.ops->durable, f->sink);
        assert_int_equal(rc, GALE_IO);
        const char *said = late ? f->saver.error.text : fake_text(&f->fake.reports);
        const char *wanted = removes ? say(f, "'%s' was removed by somebody while it is open; the run ends", f->out)
                                     : say(f, "'%s' was cut by somebody to 1 bytes while it is open, of 4", f->out);
        if (!strstr(said, wanted)) assert_string_equal(said, wanted);
        fake_drop_pledges(&f->saver);
        die(f);
        f->fake.context.resumes = false;
    }
}

static void what_somebody_else_has_written_stays_and_no_line_is_cut_off_for_it(void **state) {
    fixture *f = *state;
    begin_sink(f);
    put(f->out, "a", "theirs\n");
    write_line(f, "c");
    save_sink(f);
    assert_non_null(strstr(fake_text(&f->fake.logged), "somebody else has written to it; its 7 bytes more stay"));
    put(f->out, "a", "since");
    assert_int_equal(resume_sink(f), GALE_OK);
    assert_string_equal(content(f, f->out), "a\nb\ntheirs\nc\n");
}

static void a_new_state_replaces_nothing_that_another_run_has_written(void **state) {
    fixture *f = *state;
    put(f->out, "w", "from before\n");
    assert_int_equal(open_sink(f, f->out), 0);
    assert_int_equal(fake_save(&f->saver, f->bolt.ops->durable, f->sink), GALE_EXISTS);
    const char *said = f->fake.stop_text;
    assert_non_null(strstr(said, "overwrite: true"));
    assert_non_null(strstr(said, "append: true"));
    assert_non_null(strstr(said, "another state folder"));
    assert_string_equal(content(f, f->out), "from before\n");
}

static void a_sink_that_has_not_begun_is_begun_by_the_checkpoint(void **state) {
    fixture *f = *state;
    f->overwrite = true;
    put(f->out, "w", "from before\n");
    assert_int_equal(open_sink(f, f->out), 0);
    save_sink(f); /* at its end is nothing of this run */
    write_line(f, "a");
    assert_int_equal(resume_sink(f), GALE_OK);
    assert_string_equal(content(f, f->out), "");
    write_line(f, "b");
    assert_string_equal(content(f, f->out), "b\n");
}

static void what_stood_there_before_stays_where_that_is_asked_for(void **state) {
    fixture *f = *state;
    f->append = true;
    put(f->out, "w", "from before\n");
    begin_sink(f);
    assert_int_equal(resume_sink(f), GALE_OK);
    assert_string_equal(content(f, f->out), "from before\na\n");
}

static void a_resumed_spout_does_not_keep_what_the_checkpoint_lacks(void **state) {
    fixture *f = *state;
    begin_sink(f);
    f->fake.resumed = true; /* as a spout of another kind may say */
    assert_int_equal(resume_sink(f), GALE_OK);
    write_line(f, "c");
    assert_string_equal(content(f, f->out), "a\nc\n");
}

static void a_file_that_lacks_what_the_checkpoint_has_written_is_refused(void **state) {
    fixture *f = *state;
    begin_sink(f);
    die(f);
    put(f->out, "w", "a");
    expect_refused(
        f, resume_sink(f),
        say(f,
            "'%s' has 1 bytes, and checkpoint 1 has written 2: the rest is lost; put the file back, or begin "
            "anew with another state folder",
            f->out));
    put(f->out, "w", "x\nb\n");
    expect_refused(
        f, resume_sink(f),
        say(f,
            "'%s' was changed since checkpoint 1: what stands before byte 2 is not what was written; put the "
            "file back, or begin anew with another state folder",
            f->out));
    assert_string_equal(content(f, f->out), "x\nb\n");
}

static void another_file_of_the_name_is_refused_and_left_alone(void **state) {
    fixture *f = *state;
    begin_sink(f);
    die(f);
    uint64_t old = inode_of(f->out);
    replace(f, f->out, "somebody's\n");
    expect_refused(
        f, resume_sink(f),
        say(f,
            "'%s' is not the file that checkpoint 1 has written: its inode is %llu, not %llu, which is not "
            "beside it, and what it holds differs; put that one back, or begin anew with another state folder",
            f->out, (unsigned long long)inode_of(f->out), (unsigned long long)old));
    assert_string_equal(content(f, f->out), "somebody's\n");
    replace(f, f->out, "a\nb\n"); /* a copy is as good */
    assert_int_equal(resume_sink(f), GALE_OK);
    assert_string_equal(content(f, f->out), "a\n");
}

static void a_sink_that_was_renamed_is_gone_on_with_there(void **state) {
    fixture *f = *state;
    begin_sink(f);
    die(f);
    assert_int_equal(rename(f->out, f->other), 0);
    put(f->out, "w", "somebody's\n");
    assert_int_equal(resume_sink(f), GALE_OK);
    write_line(f, "c");
    assert_string_equal(content(f, f->other), "a\nc\n");
    assert_string_equal(content(f, f->out), "somebody's\n");
    save_sink(f);
    assert_int_equal(resume_sink(f), GALE_OK);
    assert_string_equal(content(f, f->other), "a\nc\n");
}

static void a_file_that_is_gone_is_made_anew_only_where_nothing_is_missing(void **state) {
    fixture *f = *state;
    assert_int_equal(open_sink(f, f->out), 0);
    save_sink(f);
    die(f);
    unlink(f->out);
    assert_int_equal(resume_sink(f), GALE_OK);
    write_line(f, "a");
    save_sink(f);
    uint64_t old = inode_of(f->out);
    die(f);
    unlink(f->out);
    expect_refused(
        f, resume_sink(f),
        say(f,
            "'%s': checkpoint 2 has written 2 bytes of it, and there is no such file, nor one beside it of its "
            "inode %llu; put it back, or begin anew with another state folder",
            f->out, (unsigned long long)old));
    assert_int_equal(access(f->out, F_OK), -1);
}

/* Nothing was written to it, and what stands there is somebody's. */
static void a_foreign_file_is_not_emptied_where_nothing_was_written(void **state) {
    fixture *f = *state;
    assert_int_equal(open_sink(f, f->out), 0);
    save_sink(f);
    die(f);
    replace(f, f->out, "somebody's\n");
    assert_int_equal(resume_sink(f), GALE_INVALID);
    assert_string_equal(content(f, f->out), "somebody's\n");
}

static void another_path_is_refused_with_both_names(void **state) {
    fixture *f = *state;
    begin_sink(f);
    char moved[80];
    snprintf(moved, sizeof moved, "%s/moved.tsv", f->folder);
    die(f);
    assert_int_equal(rename(f->out, moved), 0); /* moved, and the path with it */
    assert_int_equal(resume_sink_at(f, moved), GALE_OK);
    die(f);
    assert_int_equal(rename(moved, f->out), 0);
    expect_refused(
        f, resume_sink_at(f, moved), /* which is another than the run was told, and not that file */
        say(f,
            "'%s': checkpoint 1 has written 2 bytes to '%s', and this is not that file; rename it, keep the old "
            "path, or begin anew with another state folder",
            moved, f->out));
    assert_int_equal(access(moved, F_OK), -1);
    put(moved, "w", "somebody's\n");
    assert_int_equal(resume_sink_at(f, moved), GALE_INVALID);
    assert_string_equal(content(f, moved), "somebody's\n");
    unlink(moved);
    assert_string_equal(content(f, f->out), "a\n");
    expect_refused(f, resume_sink_at(f, "/tmp/gale_durable_none.tsv"),
                   say(f,
                       "'/tmp/gale_durable_none.tsv': checkpoint 1 has written 2 bytes to '%s', and this is not that "
                       "file; rename it, keep the old path, or begin anew with another state folder",
                       f->out));
    assert_int_equal(resume_sink_at(f, "-"), GALE_INVALID);
}

static void a_stream_is_said_to_repeat(void **state) {
    fixture *f = *state;
    assert_int_equal(open_sink(f, "/dev/null"), 0);
    assert_string_equal(fake_text(&f->fake.logged),
                        "/dev/null: is no regular file and cannot be cut back: after a crash, lines that were written "
                        "since the last checkpoint come again\n");
    write_line(f, "a");
    save_sink(f);
    assert_int_equal(resume_sink_at(f, "/dev/null"), GALE_OK);
    write_line(f, "b");
}

/* The task has ended, and another process has the file, before the committer comes to it. */
static void a_pledge_outlives_its_task(void **state) {
    fixture *f = *state;
    assert_int_equal(open_sink(f, f->out), 0);
    write_line(f, "a");
    assert_int_equal(fake_save(&f->saver, f->bolt.ops->durable, f->sink), GALE_OK);
    die(f);
    assert_int_equal(fake_prepare_pledges(&f->saver), GALE_OK);
    fake_drop_pledges(&f->saver);
    assert_int_equal(resume_sink(f), GALE_OK);
}

static void a_sink_that_is_broken_makes_no_checkpoint(void **state) {
    fixture *f = *state;
    if (access("/dev/full", W_OK) != 0) skip();
    assert_int_equal(open_sink(f, "/dev/full"), 0);
    const gale_value value = gale_text("a");
    assert_int_equal(f->bolt.ops->execute(f->sink, fake_tuple(&f->fake, &value, 1), &f->fake.collector), 0);
    assert_int_equal(fake_save(&f->saver, f->bolt.ops->durable, f->sink), GALE_IO);
}

/* --- Disks that fail --- */

/* The file has what was promised, whatever call fails, and the next attempt goes on. */
static void whatever_call_fails_a_restore_loses_nothing(void **state) {
    fixture *f = *state;
    begin_sink(f);
    die(f);
    uint64_t failed = 0;
    bool hit = true;
    for (uint64_t n = 1; hit; n++) {
        put(f->out, "a", "half");
        faulty_disk_use((faulty_plan){ "/tmp/gale_durable_", FAULTY_ONCE, EIO, n });
        int rc = resume_sink(f);
        if (rc < 0) assert_true(f->fake.reports.size > 0);
        die(f);
        hit = faulty_disk_end() > 0;
        failed += rc < 0;
        assert_memory_equal(content(f, f->out), "a\n", 2);
        assert_int_equal(resume_sink(f), GALE_OK);
        assert_string_equal(content(f, f->out), "a\n");
        die(f);
    }
    assert_true(failed > 5);
}

/* Nothing lasts that was not synced. */
static void a_sync_that_fails_keeps_the_checkpoint_from_being_made(void **state) {
    fixture *f = *state;
    bool synced = false;
    begin_sink(f);
    assert_int_equal(fake_save(&f->saver, f->bolt.ops->durable, f->sink), GALE_OK);
    for (uint64_t n = 1; !synced; n++) {
        assert_in_range(n, 1, 20);
        faulty_disk_use((faulty_plan){ "/tmp/gale_durable_", FAULTY_ONCE, EIO, n });
        int rc = fake_prepare_pledges(&f->saver);
        synced = faulty_disk_end() == 0;
        assert_int_equal(rc, synced ? GALE_OK : GALE_IO);
        if (!synced) assert_non_null(strstr(f->saver.error.text, "'subject' could not prepare its part"));
    }
    fake_drop_pledges(&f->saver);
}

/* --- Foreign records --- */

static void add_record(fixture *f, const gale_value *values, size_t count) {
    assert_int_equal(gx_record_add(&f->saver.records, values, count), GALE_OK);
}

static void records_of_another_component_are_refused(void **state) {
    fixture *f = *state;
    put(f->in, "w", "a\n");
    for (int i = 0; i < 5; i++) {
        const gale_value flag = gale_bool(true);
        const gale_value end[] = {
            gale_text("x"), gale_i64(0), gale_i64(0), gale_i64(-1), gale_bool(true), gale_i64(0)
        };
        gx_buf_reset(&f->saver.records);
        if (i == 1) add_record(f, end, 1);
        if (i >= 2) add_record(f, &flag, 1);
        if (i == 3) add_record(f, end, 6);
        if (i == 4) add_record(f, end, 3);
        assert_int_equal(resume(f), GALE_DAMAGED);
        assert_int_equal(resume_sink(f), GALE_DAMAGED);
        assert_true(f->fake.reports.size > 0);
    }
}

static void memory_that_runs_out_in_a_restore_is_told(void **state) {
    fixture *f = *state;
    put(f->in, "w", "a\nb\nc\n");
    assert_int_equal(open_lines(f, f->in, NULL), 0);
    emit(f, 2);
    save_lines(f);
    assert_int_equal(rename(f->in, f->other), 0);
    int rc = GALE_NO_MEMORY;
    for (uint64_t n = 1; rc == GALE_NO_MEMORY; n++) {
        assert_in_range(n, 1, 50);
        die(f);
        f->fake.context.resumes = true;
        assert_int_equal(open_lines(f, f->in, NULL), 0);
        f->fake.fail_at = f->fake.allocations + n;
        rc = fake_restore(&f->saver, f->spout.ops->durable, f->lines);
        f->fake.fail_at = 0;
    }
    assert_int_equal(rc, GALE_OK);
    assert_string_equal(emit(f, 1), "[\"c\"] #2\n");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(a_spout_goes_on_with_the_next_line_and_has_the_open_ones_still),
        CASE(places_of_lines_are_the_same_after_the_restart),
        CASE(attempts_are_counted_over_the_restart),
        CASE(a_file_that_grew_is_read_on),
        CASE(what_came_behind_the_end_of_a_run_that_had_ended_is_refused),
        CASE(a_file_that_was_rotated_is_found_by_its_inode),
        CASE(another_input_is_refused_unless_it_is_the_same),
        CASE(a_file_that_is_gone_is_refused_with_what_is_looked_for),
        CASE(a_file_that_was_truncated_changed_or_replaced_is_refused),
        CASE(what_a_pipe_has_given_is_not_gone_on_with),
        CASE(two_tasks_go_on_with_what_one_had),
        CASE(what_two_tasks_inherited_is_saved_again),
        CASE(parts_that_are_missing_or_twice_are_refused),
        CASE(the_state_file_is_neither_read_nor_written),
        CASE(reading_without_end_goes_on_where_it_was),
        CASE(a_sink_is_cut_back_to_where_the_checkpoint_was),
        CASE(a_checkpoint_refuses_a_file_that_somebody_has_removed_or_cut),
        CASE(what_somebody_else_has_written_stays_and_no_line_is_cut_off_for_it),
        CASE(a_new_state_replaces_nothing_that_another_run_has_written),
        CASE(a_sink_that_has_not_begun_is_begun_by_the_checkpoint),
        CASE(what_stood_there_before_stays_where_that_is_asked_for),
        CASE(a_resumed_spout_does_not_keep_what_the_checkpoint_lacks),
        CASE(a_file_that_lacks_what_the_checkpoint_has_written_is_refused),
        CASE(another_file_of_the_name_is_refused_and_left_alone),
        CASE(a_sink_that_was_renamed_is_gone_on_with_there),
        CASE(a_file_that_is_gone_is_made_anew_only_where_nothing_is_missing),
        CASE(a_foreign_file_is_not_emptied_where_nothing_was_written),
        CASE(another_path_is_refused_with_both_names),
        CASE(a_stream_is_said_to_repeat),
        CASE(a_pledge_outlives_its_task),
        CASE(a_sink_that_is_broken_makes_no_checkpoint),
        CASE(whatever_call_fails_a_restore_loses_nothing),
        CASE(a_sync_that_fails_keeps_the_checkpoint_from_being_made),
        CASE(records_of_another_component_are_refused),
        CASE(memory_that_runs_out_in_a_restore_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
