/* A sink whose path varies, in a durable run: whatever ends it, what the run that goes on leaves are the files of one that
 * did not end. */
#include "base/random.h"
#include "harness/fake_saver.h"
#include "harness/faulty_disk.h"
#include "harness/memory_store.h"

#include <dirent.h>
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
    fake_saver saver;
    memory_store disk;
    gale_store store;
    gx_buf lasting; /* the records of the checkpoint that lasts */
    bool lasts;
    int line, saved; /* the next of the input; and what it was at the checkpoint */
    gale_bolt bolt;
    void *self;
    gale_manual_clock *clock;
    gale_clock handle;
    char folder[40], path[500];
    gale_file_sink_options options; /* of the next one that begins */
    char read[100000];
} fixture;

static const faulty_plan calm = { "/tmp/gale_made_", FAULTY_ONCE, 0, 0 };

static int setup(void **state) {
    fixture *f = test_calloc(1, sizeof *f);
    fake_init(&f->fake);
    fake_saver_init(&f->saver, &f->fake);
    fake_source(&f->fake, "parser", "host, text");
    memory_store_init(&f->disk);
    f->store = memory_store_open(&f->disk);
    f->lasting = (gx_buf)GX_BUF_INIT(NULL);
    f->fake.store = &f->store;
    f->fake.context.durable = true;
    snprintf(f->folder, sizeof f->folder, "/tmp/gale_made_XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    f->clock = gale_manual_clock_new(0);
    f->handle = gale_manual_clock_handle(f->clock);
    f->options = (gale_file_sink_options){ .size = sizeof f->options, .fields = "text", .clock = &f->handle };
    faulty_disk_use(calm); /* which is not waited for */
    *state = f;
    return 0;
}

static void empty(const fixture *f) {
    char command[200];
    snprintf(command, sizeof command, "rm -rf %s/* %s/.gale*", f->folder, f->folder);
    assert_int_equal(system(command), 0);
}

/* The process ends; what it had not written of its lines it may have written. */
static void die(fixture *f) {
    fake_cleanup(&f->bolt, f->self);
    f->self = NULL;
    f->bolt.free_user = NULL;
    fake_drop_pledges(&f->saver);
    fake_end_states(&f->fake);
    f->store.abandon(f->store.self);
    f->fake.stop_code = 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    die(f);
    faulty_disk_end();
    empty(f);
    assert_int_equal(rmdir(f->folder), 0);
    f->store.close(f->store.self);
    memory_store_fini(&f->disk);
    gx_buf_fini(&f->lasting);
    gale_manual_clock_free(f->clock);
    fake_saver_fini(&f->saver);
    fake_fini(&f->fake);
    test_free(f);
    return 0;
}

/* --- Lives --- */

/* What a checkpoint has goes into the store, without a word of the disk. */
static int make_last(fixture *f) {
    gx_changes changes = GX_CHANGES_INIT(&f->fake.heap);
    gx_change change;
    uint64_t number = f->saver.checkpoint;
    int cut = f->fake.keyed.about.heap ? gx_keyed_cut(&f->fake.keyed, number, &changes) : 0;
    if (cut < 0) gx_changes_reset(&changes);
    for (size_t at = 0; gx_changes_next(&changes, &at, &change);) {
        int rc = change.remove ? f->store.remove(f->store.self, change.key.data, change.key.size, NULL)
                               : f->store.put(f->store.self, change.key.data, change.key.size, change.value.data,
                                              change.value.size, NULL);
        assert_int_equal(rc, 0);
    }
    gx_changes_fini(&changes);
    if (cut < 0) return cut;
    assert_int_equal(f->store.commit(f->store.self, GALE_STORE_SYNC, NULL, NULL), 0);
    gx_keyed_committed(&f->fake.keyed, number);
    gx_buf_reset(&f->lasting);
    gx_buf_add(&f->lasting, f->saver.records.data, f->saver.records.size);
    f->lasts = true;
    f->saved = f->line;
    return 0;
}

static int checkpoint(fixture *f) {
    int rc = fake_save(&f->saver, f->bolt.ops->durable, f->self);
    if (rc == 0) rc = fake_prepare_pledges(&f->saver);
    if (rc == 0) rc = make_last(f);
    return rc < 0 ? rc : fake_commit_pledges(&f->saver);
}

static int prepare(fixture *f, const char *path) {
    gale_error error = GALE_ERROR_INIT;
    snprintf(f->path, sizeof f->path, "%s/%s", f->folder, path);
    f->options.path = f->path;
    fake_forget(&f->fake);
    f->fake.context.resumes = f->lasts;
    if (gale_file_sink_bolt(&f->options, &f->bolt, &error) < 0) fail_msg("%s", error.text);
    int rc = fake_prepare(&f->fake, &f->bolt, &f->self);
    if (rc < 0) f->bolt.free_user(f->bolt.user), f->bolt.free_user = NULL, f->self = NULL;
    return rc;
}

/* As a runtime does it: what lasts is given back, and the first checkpoint is made before anything else. */
static int live(fixture *f, const char *path) {
    int rc = prepare(f, path);
    if (rc == 0 && f->lasts) {
        gx_buf_reset(&f->saver.records);
        gx_buf_add(&f->saver.records, f->lasting.data, f->lasting.size);
        rc = fake_restore(&f->saver, f->bolt.ops->durable, f->self);
    }
    return rc < 0 ? rc : checkpoint(f);
}

static void begin(fixture *f, const char *path) {
    if (live(f, path) < 0) fail_msg("%s", fake_text(&f->fake.reports));
}

static int execute(fixture *f, const char *host, const char *text) {
    const gale_value values[] = { gale_text(host), gale_text(text) };
    return f->bolt.ops->execute(f->self, fake_tuple(&f->fake, values, 2), &f->fake.collector);
}

static int flush(fixture *f) {
    return f->bolt.ops->flush(f->self, &f->fake.collector);
}

static void write_line(fixture *f, const char *host, const char *text) {
    assert_int_equal(execute(f, host, text), 0);
    if (f->fake.stop_code) fail_msg("%s", f->fake.stop_text);
}

/* --- Files --- */

static const char *place(const fixture *f, const char *name) {
    static char path[600];
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

static void put(const fixture *f, const char *name, const char *mode, const char *text) {
    FILE *file = fopen(place(f, name), mode);
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* What a command says of the folder. */
static const char *tell(fixture *f, const char *command) {
    char line[400];
    snprintf(line, sizeof line, "cd %s && %s", f->folder, command);
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    f->read[fread(f->read, 1, sizeof f->read - 1, pipe)] = 0;
    assert_int_equal(pclose(pipe), 0);
    return f->read;
}

static int is_seen(const struct dirent *one) {
    return one->d_name[0] != '.';
}

/* Appends what is in a folder: each file's name and content. */
static void add_folder(fixture *f, char *text, const char *folder) {
    struct dirent **names;
    int count = scandir(place(f, folder), &names, is_seen, alphasort);
    for (int i = 0; i < count; i++) {
        char name[300];
        struct stat about;
        snprintf(name, sizeof name, "%s%s%s", folder, *folder ? "/" : "", names[i]->d_name);
        assert_int_equal(stat(place(f, name), &about), 0);
        if (S_ISDIR(about.st_mode))
            add_folder(f, text, name);
        else if (S_ISREG(about.st_mode))
            sprintf(text + strlen(text), "%s: %s;", name, content(f, name));
        free(names[i]);
    }
    free(names);
}

/* All files but the list, with what they hold. */
static const char *all(fixture *f) {
    static char text[sizeof f->read];
    text[0] = 0;
    add_folder(f, text, "");
    return text;
}

static const char *list_name(fixture *f) {
    static char name[200];
    snprintf(name, sizeof name, "%s", tell(f, "find . -name '.gale*' -printf %P"));
    return name;
}

static const char *logged(fixture *f) {
    return fake_text(&f->fake.logged);
}

static void expect_in(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("'%s' is not in '%s'", part, text);
}

/* --- Going back --- */

static void what_was_made_since_the_checkpoint_is_removed_and_what_was_written_is_cut(void **state) {
    fixture *f = *state;
    begin(f, "out/{host}/log");
    write_line(f, "a", "1");
    write_line(f, "b", "1");
    assert_int_equal(checkpoint(f), 0);
    write_line(f, "a", "2");
    write_line(f, "c", "1");
    assert_int_equal(flush(f), 0);
    die(f);
    assert_string_equal(content(f, "out/a/log"), "1\n2\n");
    assert_string_equal(content(f, "out/c/log"), "1\n");
    begin(f, "out/{host}/log");
    expect_in(logged(f),
              "goes on with 2 files, of which 1 were cut back to the checkpoint; 1 that were begun since are undone");
    assert_string_equal(all(f), "out/a/log: 1\n;out/b/log: 1\n;");
    write_line(f, "c", "2");
    write_line(f, "a", "3");
    assert_int_equal(flush(f), 0);
    assert_string_equal(content(f, "out/a/log"), "1\n3\n");
    assert_string_equal(content(f, "out/c/log"), "2\n");
}

static void a_run_that_wrote_nothing_goes_on_with_nothing(void **state) {
    fixture *f = *state;
    begin(f, "{host}");
    die(f);
    begin(f, "{host}");
    expect_in(logged(f), "goes on with 0 files");
    assert_string_equal(all(f), "");
}

static void a_run_that_began_before_its_first_line_leaves_none(void **state) {
    fixture *f = *state;
    begin(f, "{host}");
    write_line(f, "a", "1");
    die(f);
    assert_string_equal(content(f, "a"), "1\n");
    begin(f, "{host}");
    assert_string_equal(all(f), "");
}

static void the_list_has_a_line_for_each_file_and_no_more(void **state) {
    fixture *f = *state;
    f->options.max_open = 1;
    begin(f, "{host}");
    for (int i = 0; i < 30; i++) write_line(f, i % 2 ? "a" : "b", "1");
    die(f);
    begin(f, "{host}");
    for (int i = 0; i < 30; i++) write_line(f, i % 2 ? "a" : "b", "1");
    assert_int_equal(checkpoint(f), 0);
    for (int i = 0; i < 30; i++) write_line(f, i % 2 ? "a" : "b", "1");
    assert_int_equal(flush(f), 0);
    assert_string_equal(tell(f, "cat .gale* | wc -l"), "3\n"); /* and its head */
}

static void one_that_was_there_is_cut_to_what_it_had(void **state) {
    fixture *f = *state;
    f->options.append = true;
    put(f, "a", "w", "from before\n");
    put(f, "b", "w", "half a li");
    begin(f, "{host}");
    write_line(f, "a", "1");
    write_line(f, "b", "1");
    die(f);
    assert_string_equal(content(f, "a"), "from before\n1\n");
    begin(f, "{host}");
    assert_string_equal(content(f, "a"), "from before\n");
    assert_string_equal(content(f, "b"), "half a li\n");
    write_line(f, "b", "2");
    assert_int_equal(checkpoint(f), 0);
    die(f);
    begin(f, "{host}");
    assert_string_equal(content(f, "b"), "half a li\n2\n");
}

static void what_another_run_left_is_replaced_only_on_request(void **state) {
    fixture *f = *state;
    put(f, "a", "w", "from before\n");
    begin(f, "{host}");
    assert_int_equal(execute(f, "a", "1"), 0);
    assert_int_equal(f->fake.stop_code, GALE_EXISTS);
    expect_in(f->fake.stop_text, "another state folder");
    assert_string_equal(content(f, "a"), "from before\n");
    die(f);
    f->options.overwrite = true;
    begin(f, "{host}");
    write_line(f, "a", "1");
    assert_int_equal(checkpoint(f), 0);
    write_line(f, "a", "2");
    die(f);
    put(f, "b", "w", "from outside\n");
    begin(f, "{host}");
    assert_string_equal(content(f, "b"), "from outside\n");
    write_line(f, "b", "1"); /* as in a run that went on */
    assert_int_equal(flush(f), 0);
    assert_string_equal(content(f, "a"), "1\n");
    assert_string_equal(content(f, "b"), "1\n");
}

static void full_files_that_were_begun_since_are_undone(void **state) {
    fixture *f = *state;
    f->options.rotate_bytes = 4;
    put(f, "b.000007", "w", "of another run\n");
    begin(f, "{host}");
    for (int i = 0; i < 5; i++) write_line(f, "a", "1");
    assert_int_equal(checkpoint(f), 0);
    char before[1000];
    snprintf(before, sizeof before, "%s", all(f));
    for (int i = 0; i < 9; i++) write_line(f, i % 2 ? "a" : "b", "2");
    assert_int_equal(flush(f), 0);
    assert_string_equal(content(f, "b.000009"), "2\n2\n");
    die(f);
    begin(f, "{host}");
    assert_string_equal(all(f), before);
}

static void a_sink_that_rotates_from_now_on_undoes_that_as_well(void **state) {
    fixture *f = *state;
    begin(f, "{host}");
    write_line(f, "a", "1");
    assert_int_equal(checkpoint(f), 0);
    die(f);
    f->options.rotate_bytes = 2;
    begin(f, "{host}");
    write_line(f, "a", "2");
    write_line(f, "a", "3");
    assert_int_equal(flush(f), 0);
    assert_string_equal(content(f, "a.000002"), "2\n");
    die(f);
    begin(f, "{host}");
    assert_string_equal(all(f), "a: 1\n;");
}

static void the_time_of_a_file_is_that_of_its_lines(void **state) {
    fixture *f = *state;
    f->options.rotate_every = 3600;
    f->options.max_open = 1;
    begin(f, "{host}");
    write_line(f, "a", "0h");
    write_line(f, "b", "0h");
    assert_int_equal(checkpoint(f), 0);
    die(f);
    gale_manual_clock_advance(f->clock, 3600 * GALE_SECOND);
    begin(f, "{host}");
    write_line(f, "a", "1h");
    assert_int_equal(flush(f), 0);
    assert_string_equal(content(f, "a.000001"), "0h\n");
    assert_string_equal(content(f, "a"), "1h\n");
}

static void full_files_of_a_new_one_go_whatever_of_them_was_not_kept(void **state) {
    fixture *f = *state;
    f->options.rotate_bytes = 2;
    begin(f, "{host}");
    for (int i = 0; i < 4; i++) write_line(f, "a", "1");
    assert_int_equal(flush(f), 0);
    die(f);
    assert_int_equal(unlink(place(f, "a.000001")), 0); /* as a later checkpoint's keep does it */
    begin(f, "{host}");
    assert_string_equal(all(f), "");
}

static void one_whose_beginning_was_not_kept_is_refused(void **state) {
    fixture *f = *state;
    f->options.rotate_bytes = 2;
    f->options.append = true;
    put(f, "a", "w", "0\n");
    begin(f, "{host}");
    for (int i = 0; i < 4; i++) write_line(f, "a", "1");
    assert_int_equal(flush(f), 0);
    die(f);
    assert_int_equal(unlink(place(f, "a.000001")), 0);
    assert_int_equal(live(f, "{host}"), GALE_INVALID);
    expect_in(fake_text(&f->fake.reports), "/a' is not the file that was there before the run wrote to it");
    assert_string_equal(content(f, "a"), "1\n");
}

static void a_sink_that_rotates_from_now_on_may_lack_a_folder(void **state) {
    fixture *f = *state;
    begin(f, "{host}/log");
    write_line(f, "a", "1");
    assert_int_equal(checkpoint(f), 0);
    write_line(f, "b", "1");
    die(f);
    tell(f, "rm -r a b");
    f->options.rotate_bytes = 2;
    begin(f, "{host}/log");
    expect_in(logged(f), "/a/log: was removed since");
    write_line(f, "a", "2");
    assert_int_equal(flush(f), 0);
    assert_string_equal(content(f, "a/log"), "2\n");
}

/* --- What somebody did meanwhile --- */

static void checkpoint_of_two(fixture *f) {
    begin(f, "{host}");
    write_line(f, "a", "one");
    write_line(f, "b", "one");
    assert_int_equal(checkpoint(f), 0);
    write_line(f, "a", "two");
    die(f);
}

static void one_that_was_removed_is_told_and_begins_anew(void **state) {
    fixture *f = *state;
    checkpoint_of_two(f);
    assert_int_equal(unlink(place(f, "b")), 0);
    begin(f, "{host}");
    expect_in(logged(f), "/b: was removed since, and begins anew if it gets lines again");
    assert_string_equal(all(f), "a: one\n;");
    die(f);
    begin(f, "{host}");
    assert_null(strstr(logged(f), "was removed"));
    write_line(f, "b", "new");
    die(f);
    begin(f, "{host}"); /* and is undone as a new one */
    assert_string_equal(all(f), "a: one\n;");
}

static void numbers_of_one_that_was_removed_stay(void **state) {
    fixture *f = *state;
    f->options.rotate_bytes = 2;
    begin(f, "{host}");
    for (int i = 0; i < 3; i++) write_line(f, "a", "1");
    assert_int_equal(checkpoint(f), 0);
    write_line(f, "a", "2");
    die(f);
    assert_int_equal(unlink(place(f, "a")), 0);
    assert_int_equal(unlink(place(f, "a.000003")), 0);
    begin(f, "{host}");
    write_line(f, "a", "3");
    die(f);
    begin(f, "{host}");
    assert_string_equal(all(f), "a.000001: 1\n;a.000002: 1\n;");
}

static void one_that_was_renamed_is_cut_there_and_begins_anew(void **state) {
    fixture *f = *state;
    char old[600];
    checkpoint_of_two(f);
    snprintf(old, sizeof old, "%s", place(f, "a.old"));
    assert_int_equal(rename(place(f, "a"), old), 0);
    begin(f, "{host}");
    expect_in(logged(f), "/a: was renamed since, and begins anew");
    write_line(f, "a", "new");
    assert_int_equal(flush(f), 0);
    assert_string_equal(content(f, "a.old"), "one\n");
    assert_string_equal(content(f, "a"), "new\n");
}

static void one_that_was_removed_while_it_was_closed_begins_anew_and_is_undone(void **state) {
    fixture *f = *state;
    f->options.max_open = 1;
    begin(f, "{host}");
    write_line(f, "a", "1");
    write_line(f, "b", "1");
    assert_int_equal(checkpoint(f), 0);
    assert_int_equal(unlink(place(f, "a")), 0);
    write_line(f, "a", "2");
    assert_int_equal(flush(f), 0);
    die(f);
    begin(f, "{host}");
    expect_in(logged(f), "/a: was removed since");
    assert_string_equal(all(f), "b: 1\n;");
}

static void one_that_is_shorter_or_another_is_refused(void **state) {
    fixture *f = *state;
    checkpoint_of_two(f);
    assert_int_equal(truncate(place(f, "a"), 2), 0);
    assert_int_equal(live(f, "{host}"), GALE_INVALID);
    expect_in(fake_text(&f->fake.reports), "/a' has 2 bytes, and checkpoint 2 has written 4: the rest is lost");
    die(f);
    put(f, "a", "w", "own\ntwo\n");
    assert_int_equal(live(f, "{host}"), GALE_INVALID);
    expect_in(fake_text(&f->fake.reports), "/a' was changed since checkpoint 2");
    die(f);
    put(f, "new", "w", "one\nand a copy");
    char new[600];
    snprintf(new, sizeof new, "%s", place(f, "new"));
    assert_int_equal(rename(new, place(f, "a")), 0);
    begin(f, "{host}"); /* whose beginning is the same */
    assert_string_equal(content(f, "a"), "one\n");
}

static void one_that_another_run_has_is_refused(void **state) {
    fixture *f = *state;
    checkpoint_of_two(f);
    int fd = open(place(f, "a"), O_RDONLY);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_int_equal(live(f, "{host}"), GALE_STATE);
    expect_in(fake_text(&f->fake.reports), "/a' is in use by another run");
    close(fd);
}

static void a_pipe_is_told_of_and_let_be(void **state) {
    fixture *f = *state;
    assert_int_equal(mkfifo(place(f, "a"), 0600), 0);
    int fd = open(place(f, "a"), O_RDWR);
    begin(f, "{host}");
    write_line(f, "a", "1");
    expect_in(logged(f), "is no regular file and cannot be cut back");
    assert_int_equal(checkpoint(f), 0);
    die(f);
    begin(f, "{host}");
    expect_in(logged(f), "goes on with 0 files");
    close(fd);
}

/* --- The list --- */

static void a_torn_last_line_is_one_whose_file_was_not_touched(void **state) {
    fixture *f = *state;
    checkpoint_of_two(f);
    put(f, "c", "w", "from outside\n");
    const char *name = list_name(f);
    put(f, name, "a", "- 0 0 1 c");
    begin(f, "{host}");
    assert_string_equal(all(f), "a: one\n;b: one\n;c: from outside\n;");
    assert_string_equal(tell(f, "grep -c . .gale*"), "3\n");
}

static void damage_behind_the_checkpoint_is_told_with_its_place(void **state) {
    fixture *f = *state;
    begin(f, "{host}");
    write_line(f, "a", "1");
    write_line(f, "b", "1");
    assert_int_equal(flush(f), 0);
    die(f);
    FILE *list = fopen(place(f, list_name(f)), "r+");
    assert_non_null(list);
    assert_int_equal(fseek(list, 29, SEEK_SET), 0); /* the first line's mark */
    fputc('7', list);
    fclose(list);
    assert_int_equal(live(f, "{host}"), GALE_DAMAGED);
    expect_in(fake_text(&f->fake.reports),
              "is damaged at byte 30: a line does not hold, and there are others behind it");
    assert_string_equal(content(f, "a"), "1\n");
    assert_string_equal(content(f, "b"), "1\n");
}

static void a_list_that_is_gone_or_changed_is_refused(void **state) {
    fixture *f = *state;
    checkpoint_of_two(f);
    char name[600], away[300];
    snprintf(name, sizeof name, "%s", place(f, list_name(f)));
    snprintf(away, sizeof away, "%s/../gale_made_away_%d", f->folder, (int)getpid());
    assert_int_equal(rename(name, away), 0);
    assert_int_equal(live(f, "{host}"), GALE_INVALID);
    expect_in(fake_text(&f->fake.reports), "there is no such file");
    expect_in(fake_text(&f->fake.reports), "there the sink lists the files that it has made");
    die(f);
    assert_int_equal(rename(away, name), 0);
    FILE *list = fopen(name, "r+");
    fputc('x', list);
    fclose(list);
    assert_int_equal(live(f, "{host}"), GALE_INVALID);
    expect_in(fake_text(&f->fake.reports), "was changed since checkpoint 2");
}

static void a_run_that_begins_anew_replaces_the_list_and_removes_no_file(void **state) {
    fixture *f = *state;
    checkpoint_of_two(f);
    f->lasts = false;
    f->options.overwrite = true;
    memory_clear(&f->disk.now);
    begin(f, "{host}");
    assert_string_equal(content(f, "a"), "one\ntwo\n");
    assert_string_equal(tell(f, "grep -c . .gale*"), "1\n");
    write_line(f, "a", "3");
    assert_int_equal(flush(f), 0);
    assert_string_equal(content(f, "a"), "3\n");
}

static void what_is_no_list_is_not_written_over(void **state) {
    fixture *f = *state;
    char name[200];
    begin(f, "{host}");
    snprintf(name, sizeof name, "%s", list_name(f));
    die(f);
    f->lasts = false;
    put(f, name, "w", "a letter to my mother");
    assert_int_equal(live(f, "{host}"), GALE_EXISTS);
    expect_in(fake_text(&f->fake.reports), "holds something else: move it away");
    assert_string_equal(content(f, name), "a letter to my mother");
}

static void sinks_and_tasks_have_lists_of_their_own(void **state) {
    fixture *f = *state;
    begin(f, "{host}");
    die(f);
    f->fake.context.task_index = 1;
    for (int i = 0; i < 4; i++) {
        f->lasts = false;
        if (i == 2) f->fake.context.component = "other one";
        if (i == 3) f->fake.context.topology = "another";
        begin(f, i == 1 ? "x{host}" : "{host}");
        die(f);
    }
    assert_string_equal(tell(f, "ls .gale* | wc -l"), "5\n");
    assert_string_equal(tell(f, "ls .gale-other_one-1-* | wc -l"), "2\n");
}

static void another_path_is_refused(void **state) {
    fixture *f = *state;
    checkpoint_of_two(f);
    assert_int_equal(live(f, "one"), GALE_INVALID);
    expect_in(
        fake_text(&f->fake.reports),
        "checkpoint 2 has written to as many files as its tuples named, and this run is to write to one; keep the "
        "path, or begin anew with another state folder");
    die(f);
    assert_int_equal(live(f, "x/{host}"), GALE_INVALID);
    expect_in(fake_text(&f->fake.reports), "keep the old path");
    die(f);
    f->lasts = false;
    begin(f, "one");
    die(f);
    assert_int_equal(live(f, "{host}"), GALE_INVALID);
    expect_in(fake_text(&f->fake.reports),
              "has written to one file, and this run is to write to as many as its tuples");
}

static void records_of_another_component_are_refused(void **state) {
    fixture *f = *state;
    const gale_value texts[] = { gale_text("x"), gale_text("files") };
    checkpoint_of_two(f);
    for (int i = 0; i < 3; i++) {
        gx_buf_reset(&f->lasting);
        if (i) assert_int_equal(gx_record_add(&f->lasting, &texts[i - 1], 1), 0);
        assert_int_equal(live(f, "{host}"), GALE_DAMAGED);
        assert_string_equal(content(f, "a"), "one\ntwo\n");
        die(f);
    }
}

static void what_the_state_has_is_not_trusted(void **state) {
    fixture *f = *state;
    const gale_value i = gale_i64(1), flag = gale_bool(true), minus = gale_i64(-1), text = gale_text("x");
    const gale_value wrong[][8] = {
        { i, i, minus, flag, i, i, i, i }, { i, i, i, i, i, i, i, i },        { i, text, i, flag, i, i, i, i },
        { i, i, i, flag, i, minus, i, i }, { i, i, i, flag, i, i, i, minus }, { text, i, i, flag, i, i, i, i },
    };
    const gale_value keys[] = { gale_string("a\0b", 3), gale_i64(7), gale_text("") };
    for (int n = 0; n < 10; n++) {
        f->lasts = false;
        memory_clear(&f->disk.now);
        empty(f);
        begin(f, "{host}");
        char name[600];
        snprintf(name, sizeof name, "%s", place(f, "a"));
        put(f, "a", "w", "one\n");
        gale_value key = n >= 6 && n < 9 ? keys[n - 6] : gale_text(name);
        gale_value list = gale_list(wrong[n < 6 ? n : 0], n == 9 ? 3 : 8);
        assert_int_equal(gale_state_put((gale_state *)f->fake.keyed.first, &key, &list), 0);
        assert_int_equal(checkpoint(f), 0);
        die(f);
        assert_int_equal(live(f, "{host}"), GALE_DAMAGED);
        assert_string_equal(content(f, "a"), "one\n");
        die(f);
    }
}

static void a_path_that_no_checkpoint_can_keep_fails_its_tuple(void **state) {
    fixture *f = *state;
    char host[101], path[400] = "";
    memset(host, 'x', 100);
    host[100] = 0;
    for (int i = 0; i < 30; i++) strcat(path, i ? "/{host}" : "{host}");
    begin(f, path);
    assert_int_equal(execute(f, host, "1"), GALE_TOO_LARGE);
    expect_in(fake_text(&f->fake.reports),
              "file sink: its path has more than 2000 bytes, which no checkpoint can keep");
    write_line(f, "a", "1");
    assert_int_equal(f->fake.stop_code, 0);
}

/* --- Any end --- */

enum { LINES = 120, HOSTS = 5 };

static const char *host_of(int line) {
    return ((const char *[HOSTS]){ "a", "b", "c/d", "e", "f" })[(line / 20 + line * line) % HOSTS];
}

/* The next line of the input. 0, or what it ended with. */
static int feed(fixture *f) {
    char text[40];
    int line = f->line++;
    snprintf(text, sizeof text, "line %d", line);
    gale_manual_clock_advance(f->clock, 10 * GALE_MILLISECOND);
    int rc = execute(f, host_of(line), text);
    if (rc == 0 && line % 7 == 0) rc = flush(f);
    return rc < 0 ? rc : f->fake.stop_code;
}

static void begin_empty(fixture *f) {
    empty(f);
    f->lasts = false;
    f->line = f->saved = 0;
    memory_clear(&f->disk.now);
    put(f, "a", "w", "from before\n");
}

/* Pledges stay a while, as their time is not the task's. True: it came to the end of the input. */
static bool live_a_while(fixture *f, const char *path, gx_random *random, uint32_t odds) {
    bool pledged = false;
    f->line = f->saved;
    begin(f, path);
    while (f->line < LINES && gx_random_below(random, odds)) {
        if (!pledged && gx_random_below(random, 6) == 0) {
            assert_int_equal(fake_save(&f->saver, f->bolt.ops->durable, f->self), 0);
            assert_int_equal(fake_prepare_pledges(&f->saver), 0);
            assert_int_equal(make_last(f), 0);
            pledged = true;
        } else if (pledged && gx_random_below(random, 3) == 0) {
            assert_int_equal(fake_commit_pledges(&f->saver), 0);
            fake_drop_pledges(&f->saver);
            pledged = false;
        }
        assert_int_equal(feed(f), 0);
    }
    bool over = f->line == LINES;
    if (over && pledged) assert_int_equal(fake_commit_pledges(&f->saver), 0);
    if (over) assert_int_equal(checkpoint(f), 0);
    die(f);
    return over;
}

static void run_with_ends(fixture *f, const char *path, gx_random *random) {
    uint32_t odds = 2 + gx_random_below(random, 40);
    while (!live_a_while(f, path, random, odds)) {
    }
}

static void whatever_ends_it_its_files_are_those_of_a_run_that_did_not_end(void **state) {
    fixture *f = *state;
    static char expected[sizeof f->read];
    for (int kind = 0; kind < 12; kind++) {
        f->options.max_open = (uint32_t[]){ 1, 2, 10 }[kind % 3];
        f->options.rotate_bytes = kind % 2 ? 30 : 0;
        f->options.keep = kind % 4 == 3 ? 2 : 0;
        f->options.append = kind >= 6;
        f->options.overwrite = kind < 6;
        for (uint64_t seed = 0; seed < 8; seed++) {
            gx_random random = gx_random_new(seed, 0);
            begin_empty(f);
            if (seed)
                run_with_ends(f, "{host}", &random);
            else
                assert_true(live_a_while(f, "{host}", &random, UINT32_MAX));
            if (seed)
                assert_string_equal(all(f), expected);
            else
                strcpy(expected, all(f));
        }
    }
}

/* How often each line is in some file. */
static void expect_each_once(fixture *f) {
    int seen[LINES] = { 0 };
    for (const char *at = all(f); (at = strstr(at, "line ")); at++) {
        int number = atoi(at + 5);
        assert_in_range(number, 0, LINES - 1);
        seen[number]++;
    }
    for (int i = 0; i < LINES; i++)
        if (seen[i] != 1) fail_msg("line %d came %d times", i, seen[i]);
}

static void a_path_by_the_clock_that_is_not_made_again_leaves_nothing(void **state) {
    fixture *f = *state;
    for (uint64_t seed = 0; seed < 15; seed++) {
        gx_random random = gx_random_new(seed, 1);
        begin_empty(f);
        assert_int_equal(unlink(place(f, "a")), 0);
        f->options.max_open = 1 + (uint32_t)(seed % 3);
        f->options.rotate_bytes = seed % 2 ? 20 : 0;
        run_with_ends(f, seed % 5 ? "{now:%S-%L}" : "{now:%S}/{host}.{now:%L}", &random);
        expect_each_once(f);
    }
}

/* --- Faults --- */

/* A life that goes as far as it can. True: to the end of the input. */
static bool live_through(fixture *f) {
    f->line = f->saved;
    bool lives = live(f, "{host}") == 0;
    while (lives && f->line < LINES / 2) {
        lives = feed(f) == 0;
        if (lives && f->line % 25 == 0) lives = checkpoint(f) == 0;
    }
    lives = lives && checkpoint(f) == 0;
    die(f);
    return lives;
}

static void whatever_call_of_the_disk_fails_the_next_life_goes_on(void **state) {
    fixture *f = *state;
    static char expected[sizeof f->read];
    static const faulty_plan plans[] = {
        { "/tmp/gale_made_", FAULTY_ONCE, EIO, 0 },
        { "/tmp/gale_made_", FAULTY_SHORT, 0, 0 },
        { "/tmp/gale_made_", FAULTY_FULL, 0, 0 },
        { "/tmp/gale_made_", FAULTY_DEAD, 0, 0 },
    };
    f->options = (gale_file_sink_options){ sizeof f->options, .fields = "text", .append = true, .max_open = 2 };
    f->options.rotate_bytes = 40;
    f->options.keep = 1;
    begin_empty(f);
    assert_true(live_through(f));
    strcpy(expected, all(f));
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        faulty_plan plan = plans[i];
        int ended = 0;
        for (bool hit = true; hit;) {
            plan.at += plan.at < 120 ? 1 : 13;
            begin_empty(f);
            faulty_disk_use(plan);
            bool lives = live_through(f);
            hit = faulty_disk_calls() >= plan.at;
            faulty_disk_use(calm);
            ended += !lives;
            if (!lives) { /* it ends once more, perhaps while it goes back */
                faulty_disk_use((faulty_plan){ plan.folder, plan.kind, plan.error, 1 + plan.at % 40 });
                lives = live_through(f);
                faulty_disk_use(calm);
            }
            if (!lives && !live_through(f)) fail_msg("%s", fake_text(&f->fake.reports));
            assert_string_equal(all(f), expected);
        }
        assert_true(plan.kind == FAULTY_SHORT || ended > 30);
    }
}

static void whatever_allocation_fails_the_next_life_goes_on(void **state) {
    fixture *f = *state;
    static char expected[sizeof f->read];
    f->options.max_open = 2;
    f->options.overwrite = true;
    begin_empty(f);
    assert_true(live_through(f));
    strcpy(expected, all(f));
    for (uint64_t n = 1; n < 80; n++) {
        begin_empty(f);
        f->fake.fail_at = f->fake.allocations + n;
        bool lives = live_through(f);
        f->fake.fail_at = 0;
        for (int more = 0; !lives && more < 2; more++) lives = live_through(f);
        assert_true(lives);
        assert_string_equal(all(f), expected);
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(what_was_made_since_the_checkpoint_is_removed_and_what_was_written_is_cut),
        CASE(a_run_that_wrote_nothing_goes_on_with_nothing),
        CASE(a_run_that_began_before_its_first_line_leaves_none),
        CASE(the_list_has_a_line_for_each_file_and_no_more),
        CASE(one_that_was_there_is_cut_to_what_it_had),
        CASE(what_another_run_left_is_replaced_only_on_request),
        CASE(full_files_that_were_begun_since_are_undone),
        CASE(a_sink_that_rotates_from_now_on_undoes_that_as_well),
        CASE(full_files_of_a_new_one_go_whatever_of_them_was_not_kept),
        CASE(one_whose_beginning_was_not_kept_is_refused),
        CASE(a_sink_that_rotates_from_now_on_may_lack_a_folder),
        CASE(the_time_of_a_file_is_that_of_its_lines),
        CASE(one_that_was_removed_is_told_and_begins_anew),
        CASE(numbers_of_one_that_was_removed_stay),
        CASE(one_that_was_renamed_is_cut_there_and_begins_anew),
        CASE(one_that_was_removed_while_it_was_closed_begins_anew_and_is_undone),
        CASE(one_that_is_shorter_or_another_is_refused),
        CASE(one_that_another_run_has_is_refused),
        CASE(a_pipe_is_told_of_and_let_be),
        CASE(a_torn_last_line_is_one_whose_file_was_not_touched),
        CASE(damage_behind_the_checkpoint_is_told_with_its_place),
        CASE(a_list_that_is_gone_or_changed_is_refused),
        CASE(a_run_that_begins_anew_replaces_the_list_and_removes_no_file),
        CASE(what_is_no_list_is_not_written_over),
        CASE(sinks_and_tasks_have_lists_of_their_own),
        CASE(another_path_is_refused),
        CASE(records_of_another_component_are_refused),
        CASE(what_the_state_has_is_not_trusted),
        CASE(a_path_that_no_checkpoint_can_keep_fails_its_tuple),
        CASE(whatever_ends_it_its_files_are_those_of_a_run_that_did_not_end),
        CASE(a_path_by_the_clock_that_is_not_made_again_leaves_nothing),
        CASE(whatever_call_of_the_disk_fails_the_next_life_goes_on),
        CASE(whatever_allocation_fails_the_next_life_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
