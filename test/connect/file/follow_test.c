/* A file spout that follows: files that grow, are renamed, cut, removed and made anew, while it looks and while it does not. */
#include "following.h"

/* --- One file --- */

static void what_is_appended_is_read_and_waited_for_by_a_descriptor_alone(void **state) {
    fixture *f = *state;
    append(f, "in.log", "a\nb\n");
    begin(f);
    expect(f, "a b ");
    assert_int_equal(f->said, GALE_NEXT_READABLE);
    assert_true(f->wait.until == 0 && f->wait.fd >= 0 && !is_told(f));
    append(f, "in.log", "c\n");
    assert_true(is_told(f));
    expect(f, "c ");
    assert_int_equal(f->said, GALE_NEXT_READABLE);
    assert_false(is_told(f));
}

static void half_a_line_waits_for_its_end(void **state) {
    fixture *f = *state;
    f->options.emit = "line, number, offset";
    append(f, "in.log", "a\nhal");
    begin(f);
    expect(f, "a@1:0 ");
    append(f, "in.log", "f\r");
    expect(f, "");
    append(f, "in.log", "\nx");
    expect(f, "half@2:2 ");
}

static void a_file_that_is_not_there_yet_is_waited_for(void **state) {
    fixture *f = *state;
    begin(f);
    expect(f, "");
    assert_true(f->said == GALE_NEXT_READABLE && f->wait.until == 0);
    append(f, "other", "x\n");
    append(f, "in.log", "a\n");
    assert_true(is_told(f));
    expect(f, "a ");
}

static void a_renamed_file_is_read_to_its_end_and_then_its_successor(void **state) {
    fixture *f = *state;
    f->options.emit = "line, number, offset";
    append(f, "in.log", "a\n");
    begin(f);
    expect(f, "a@1:0 ");
    append(f, "in.log", "b\n");
    rotate(f, "in.log", "in.log.1");
    append(f, "in.log", "new\n");
    append(f, "in.log.1", "c\n");
    expect(f, "b@2:2 c@3:4 new@1:0 ");
    append(f, "in.log.1", "late\nrest");
    append(f, "in.log", "newer\n");
    expect(f, "late@4:6 newer@2:4 ");
}

static void a_renamed_file_is_left_when_it_was_quiet_for_long_and_has_a_successor(void **state) {
    fixture *f = *state;
    f->options.rotate_wait = 2;
    append(f, "in.log", "a\nrest");
    begin(f);
    expect(f, "a ");
    rotate(f, "in.log", "in.log.1");
    expect(f, "");
    pass(f, 10 * GALE_SECOND);
    expect(f, "");
    assert_true(f->wait.until == 0); /* its writer has not opened another yet */
    append(f, "in.log", "");
    expect(f, "rest "); /* quiet since it was renamed */
    append(f, "in.log.1", " that is lost\n");
    expect(f, "");
    assert_int_equal(f->said, GALE_NEXT_READABLE);
    assert_true(f->wait.until == 0);
}

static void what_comes_to_a_renamed_file_keeps_it(void **state) {
    fixture *f = *state;
    f->options.rotate_wait = 2;
    append(f, "in.log", "a\n");
    begin(f);
    expect(f, "a ");
    rotate(f, "in.log", "in.log.1");
    append(f, "in.log", "");
    expect(f, "");
    assert_true(f->wait.until == gale_context_now(&f->fake.context) + 2 * GALE_SECOND);
    pass(f, GALE_SECOND);
    append(f, "in.log.1", "b\n");
    expect(f, "b ");
    pass(f, GALE_SECOND);
    append(f, "in.log.1", "c\n");
    expect(f, "c ");
    pass(f, 2 * GALE_SECOND);
    expect(f, "");
    append(f, "in.log.1", "d\n");
    expect(f, "");
}

static void a_file_that_is_removed_and_made_anew_is_another_one(void **state) {
    fixture *f = *state;
    f->options.emit = "line, number, offset";
    append(f, "in.log", "a\nrest");
    begin(f);
    expect(f, "a@1:0 ");
    assert_int_equal(unlink(f->path), 0);
    append(f, "in.log", "b\n");
    expect(f, "b@1:0 ");
    pass(f, 5 * GALE_SECOND);
    expect(f, "rest@2:2 ");
    for (int i = 0; i < 30; i++) { /* inodes are used again */
        assert_int_equal(unlink(f->path), 0);
        append(f, "in.log", "c\n");
        pass(f, 5 * GALE_SECOND);
        expect(f, "c@1:0 ");
        pass(f, 5 * GALE_SECOND);
        expect(f, "");
    }
}

static void files_that_were_rotated_away_before_they_were_seen_are_read(void **state) {
    fixture *f = *state;
    append(f, "in.log", "a\n");
    begin(f);
    expect(f, "a ");
    for (int i = 0; i < 3; i++) {
        append(f, "in.log", "b\n");
        rotate(f, "in.log", "in.log.1");
        append(f, "in.log", "c\n");
        rotate(f, "in.log.1", "in.log.2");
        rotate(f, "in.log", "in.log.1");
        append(f, "in.log", "d\n");
        rotate(f, "in.log.2", "in.log.3");
        rotate(f, "in.log.1", "in.log.2");
        rotate(f, "in.log", "in.log-20261122");
        append(f, "in.log.gz", "none of them\n");
        append(f, "in.log", "e\n");
        expect(f, "b c d e ");
        if (i == 1) pass(f, 10 * GALE_SECOND);
        expect(f, "");
    }
}

static void a_copy_of_a_file_is_none_that_was_missed(void **state) {
    fixture *f = *state;
    for (int i = 0; i < 2100; i++) append(f, "in.log", "a\n");
    begin(f);
    assert_int_equal(strlen(lines(f)), 4200);
    for (int i = 0; i < 2100; i++) append(f, "in.log.9", "a\n");
    append(f, "in.log.9", "b\n");
    append(f, "in.log", "b\n");
    rotate(f, "in.log", "in.log.1");
    append(f, "in.log", "c\n");
    expect(f, "b c ");
}

static void one_that_was_missed_may_begin_as_the_others_do(void **state) {
    fixture *f = *state;
    append(f, "in.log", "heading\n");
    begin(f);
    expect(f, "heading ");
    append(f, "in.log", "a\n");
    rotate(f, "in.log", "in.log.2");
    append(f, "in.log", "heading\nb\n");
    rotate(f, "in.log", "in.log.1");
    append(f, "in.log", "heading\nc\n");
    expect(f, "a heading b heading c ");
}

static void a_file_that_was_cut_is_read_from_its_beginning(void **state) {
    fixture *f = *state;
    f->options.emit = "line, number, offset";
    append(f, "in.log", "a\nb\n");
    begin(f);
    expect(f, "a@1:0 b@2:2 ");
    cut(f, "in.log");
    append(f, "in.log", "c\n");
    expect(f, "c@1:0 ");
    expect_logged(f, "%s: was truncated to 2 bytes, behind byte 4: is read from its beginning; ", f->path);
    append(f, "in.log", "d\n");
    expect(f, "d@2:2 ");
}

static void what_is_there_may_be_passed_over(void **state) {
    fixture *f = *state;
    f->options.from_end = true;
    f->options.emit = "line, number, offset";
    append(f, "in.log", "a\nb\nhal");
    begin(f);
    expect(f, "");
    append(f, "in.log", "f\n");
    expect(f, "half@3:4 ");
    rotate(f, "in.log", "in.log.1");
    append(f, "in.log", "c\n");
    expect(f, "c@1:0 ");
}

static void what_cannot_be_followed_is_refused(void **state) {
    fixture *f = *state;
    const char *fifo = in(f, "fifo");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    f->options.path = fifo;
    assert_int_equal(try_begin(f), GALE_INVALID);
    f->options.path = "/tmp/gale_no_such_folder/in.log";
    assert_int_equal(try_begin(f), GALE_IO);
    f->options.path = "/tmp/*/in.log";
    assert_int_equal(try_begin(f), GALE_INVALID);
    snprintf(f->message, sizeof f->message,
             "%s: only regular files can be followed\n"
             "/tmp/gale_no_such_folder/in.log: there is no folder '/tmp/gale_no_such_folder' to wait for files in\n"
             "/tmp/*/in.log: only the last part of a path may be a pattern, not a folder\n",
             fifo);
    assert_string_equal(fake_text(&f->fake.reports), f->message);
}

static void options_that_contradict_each_other_are_refused(void **state) {
    (void)state;
    static const struct {
        gale_file_spout_options options;
        const char *message;
    } cases[] = {
        { { .path = "a", .follow = true, .repeat = true },
          "file spout: follow and repeat exclude each other: what is followed has no end to begin again at" },
        { { .path = "-", .follow = true }, "file spout: the standard input is read as it comes; leave `follow` out" },
        { { .path = "a", .follow = true, .state = "s" },
          "file spout: `state` has the place in one file; what is followed is kept by a durable run "
          "(topology.state.dir, "
          "gale run --state)" },
        { { .path = "a", .from_end = true }, "file spout: from: end needs `follow`" },
        { { .path = "a", .rotate_wait = 1 }, "file spout: rotateWait needs `follow`" },
        { { .path = "a", .max_open = 1 }, "file spout: maxOpen needs `follow`" },
        { { .path = "a", .follow = true, .rotate_wait = -1 },
          "file spout: rotate_wait is -1, must be 0 to 1000000 seconds" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gale_file_spout_options options = cases[i].options;
        gale_error error = GALE_ERROR_INIT;
        gale_spout spout;
        options.size = sizeof options;
        assert_int_equal(gale_file_spout(&options, &spout, &error), GALE_INVALID);
        assert_string_equal(error.text, cases[i].message);
    }
}

/* --- Many files --- */

static void use_pattern(fixture *f) {
    snprintf(f->path, sizeof f->path, "%s/*.log", f->folder);
}

static void files_of_a_pattern_come_and_go(void **state) {
    fixture *f = *state;
    append(f, "a.log", "a1\n");
    append(f, ".hidden.log", "none\n");
    append(f, "a.txt", "none\n");
    assert_int_equal(mkdir(in(f, "folder.log"), 0700), 0);
    use_pattern(f);
    begin(f);
    expect(f, "a1 ");
    append(f, "b.log", "b1\n");
    append(f, "a.log", "a2\n");
    expect(f, "b1 a2 ");
    rotate(f, "b.log", "c.log"); /* the same file, under another name that is meant */
    append(f, "c.log", "b2\n");
    expect(f, "b2 ");
    rotate(f, "a.log", "a.txt");
    append(f, "a.txt", "a3\n");
    append(f, "a.log", "new\n");
    expect(f, "a3 new ");
    assert_int_equal(unlink(in(f, "c.log")), 0);
    expect(f, "");
    assert_int_equal(rmdir(in(f, "folder.log")), 0);
    assert_int_equal(unlink(in(f, ".hidden.log")), 0);
}

static void a_file_with_much_to_read_does_not_hold_up_the_others(void **state) {
    fixture *f = *state;
    for (int i = 0; i < 1000; i++) append(f, "a.log", "a\n");
    append(f, "b.log", "b\n");
    use_pattern(f);
    begin(f);
    const char *text = lines(f);
    assert_int_equal(strlen(text), 2002);
    assert_true(strchr(text, 'b') - text <= 2 * 256);
}

static void only_so_many_are_open_at_once(void **state) {
    fixture *f = *state;
    f->options.max_open = 2;
    f->options.emit = "line, number, offset";
    char name[20], wanted[400] = "";
    for (int i = 0; i < 9; i++) {
        snprintf(name, sizeof name, "%d.log", i);
        append(f, name, "x\n");
        strcat(wanted, "x@1:0 ");
    }
    use_pattern(f);
    begin(f);
    expect(f, wanted);
    expect_logged(f, "2 files are open at once (maxOpen); those that are quiet are closed meanwhile\n");
    for (int i = 0; i < 9; i++) {
        snprintf(name, sizeof name, "%d.log", i);
        append(f, name, "y\n");
        expect(f, "y@2:2 ");
    }
    rotate(f, "3.log", "3.old"); /* not open: it is found by its inode */
    append(f, "3.old", "z\n");
    expect(f, "z@3:4 ");
    rotate(f, "4.log", "4.old");
    append(f, "4.old", "z\n");
    append(f, "4.log", "new\n");
    expect(f, "z@3:4 "); /* both that are open were renamed, and may get more */
    pass(f, 5 * GALE_SECOND);
    expect(f, "new@1:0 ");
    assert_int_equal(unlink(in(f, "5.log")), 0);
    append(f, "5.log", "n\n"); /* perhaps with the same inode */
    expect(f, "n@1:0 ");
}

static void tasks_divide_the_files_among_them(void **state) {
    fixture *f = *state;
    char name[20], all[400] = "";
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "%c.log", 'a' + i);
        append(f, name, (char[]){ (char)('a' + i), '\n', 0 });
    }
    use_pattern(f);
    f->fake.context.task_count = 3;
    for (uint32_t task = 0; task < 3; task++) {
        f->fake.context.task_index = task;
        begin(f);
        strcat(all, lines(f));
        end(f);
    }
    assert_int_equal(strlen(all), 40);
    for (int i = 0; i < 20; i++) assert_non_null(strchr(all, 'a' + i));
}

/* --- Where notices cannot be had --- */

static int refuse_open(int flags) {
    (void)flags;
    errno = EMFILE;
    return -1;
}

static int refuse_add(int fd, const char *path, uint32_t mask) {
    (void)fd, (void)path, (void)mask;
    errno = ENOSPC;
    return -1;
}

static void look_once_a_second(fixture *f) {
    append(f, "in.log", "a\n");
    begin(f);
    expect(f, "a ");
    int64_t due = gale_context_now(&f->fake.context) + GALE_SECOND;
    assert_true(f->wait.until == due);
    append(f, "in.log", "b\n");
    expect(f, "");
    pass(f, GALE_SECOND);
    expect(f, "b ");
    rotate(f, "in.log", "in.log.1");
    append(f, "in.log.1", "c\n");
    append(f, "in.log", "d\n");
    pass(f, GALE_SECOND);
    expect(f, "c d ");
}

static void without_notices_all_is_looked_at_once_a_second(void **state) {
    fixture *f = *state;
    static const gx_watch_calls none = { refuse_open, refuse_add };
    gx_watch_use(&none);
    look_once_a_second(f);
    assert_int_equal(f->said, GALE_NEXT_UNTIL);
    expect_logged(f,
                  "cannot be told of changes to files: Too many open files (fs.inotify.max_user_instances, or this "
                  "process's descriptors); '%s' is looked at once a second instead\n",
                  f->path);
}

static void without_watches_all_is_looked_at_once_a_second(void **state) {
    fixture *f = *state;
    static const gx_watch_calls few = { inotify_init1, refuse_add };
    gx_watch_use(&few);
    look_once_a_second(f);
    assert_int_equal(f->said, GALE_NEXT_READABLE);
    expect_logged(
        f,
        "cannot be told of changes to '%s': No space left on device (fs.inotify.max_user_watches); '%s' is looked "
        "at once a second instead\n",
        f->folder, f->path);
}

/* The queue of notices is full before they are read. */
static void lost_notices_make_it_look_at_everything(void **state) {
    fixture *f = *state;
    append(f, "in.log", "a\n");
    begin(f);
    expect(f, "a ");
    FILE *limit = fopen("/proc/sys/fs/inotify/max_queued_events", "r");
    int most = 16384;
    if (limit) {
        assert_int_equal(fscanf(limit, "%d", &most), 1);
        fclose(limit);
    }
    for (int i = 0; i <= most / 2; i++) { /* two notices each */
        append(f, "in.log.x", "");
        assert_int_equal(unlink(in(f, "in.log.x")), 0);
    }
    append(f, "in.log", "b\n");
    rotate(f, "in.log", "in.log.1");
    append(f, "in.log", "c\n");
    expect(f, "b c ");
}

/* --- Over crashes --- */

static void open_lines_keep_their_places_over_a_crash(void **state) {
    fixture *f = *state;
    f->options.emit = "line, number, offset";
    f->fake.context.durable = true;
    append(f, "in.log", "a\nb\n");
    begin(f);
    save(f); /* the first one comes before the first line */
    f->silent = true;
    expect(f, "a@1:0 b@2:2 ");
    f->spout.ops->ack(f->self, 0);
    rotate(f, "in.log", "in.log.1");
    append(f, "in.log", "c\n");
    expect(f, "c@1:0 ");
    save(f);
    die(f);
    append(f, "in.log", "d\n");
    resume(f);
    expect(f, "d@2:2 ");
    gale_failure failure = { sizeof failure, GALE_REASON_FAILED, 3, "count", "", 1, false };
    (f->spout.ops->fail)(f->self, 1, &failure);
    (f->spout.ops->fail)(f->self, 0, &failure);
    expect(f, "b@2:2 c@1:0 ");
}

static void a_rotation_while_nobody_looks_loses_nothing(void **state) {
    fixture *f = *state;
    f->fake.context.durable = true;
    append(f, "in.log", "a\nhal");
    begin(f);
    expect(f, "a ");
    save(f);
    die(f);
    append(f, "in.log", "f\n");
    rotate(f, "in.log", "in.log.1");
    append(f, "in.log", "b\n");
    resume(f);
    expect(f, "half b ");
    append(f, "in.log.1", "late\n");
    expect(f, "late ");
    save(f);
    die(f);
    append(f, "in.log.1", "later\n");
    rotate(f, "in.log.1", "in.log.3");
    rotate(f, "in.log", "in.log.2");
    append(f, "in.log", "between\n");
    rotate(f, "in.log", "in.log.1");
    append(f, "in.log", "c\n");
    resume(f);
    expect(f, "later between c ");
    expect(f, "");
}

/* Inodes are used again: a file that was removed and one that was made and rotated away since may have the same. */
static void the_inode_of_a_removed_file_hides_no_other(void **state) {
    fixture *f = *state;
    f->fake.context.durable = true;
    snprintf(f->path, sizeof f->path, "%s/*.log", f->folder);
    for (int i = 0; i < 8; i++) append(f, (char[]){ (char)('a' + i), '.', 'l', 'o', 'g', 0 }, "x\n");
    append(f, "z.log", "1\n");
    begin(f);
    expect(f, "x x x x x x x x 1 ");
    save(f);
    die(f);
    for (int i = 0; i < 8; i++) assert_int_equal(unlink(in(f, (char[]){ (char)('a' + i), '.', 'l', 'o', 'g', 0 })), 0);
    rotate(f, "z.log", "z.log.1");
    for (int i = 2; i < 10; i++) {
        append(f, "z.log", (char[]){ (char)('0' + i), '\n', 0 });
        rotate(f, "z.log", in(f, (char[]){ 'z', '.', 'l', 'o', 'g', '.', (char)('0' + i), 0 }) + strlen(f->folder) + 1);
    }
    append(f, "z.log", "end\n");
    resume(f);
    expect(f, "2 3 4 5 6 7 8 9 end ");
}

/* What was read to its end is not read again, whatever it is called, and what was made since is. */
static void many_rotations_and_crashes_give_each_line_once(void **state) {
    fixture *f = *state;
    char line[20], name[20], wanted[4000] = "", all[4000] = "";
    f->fake.context.durable = true;
    f->options.rotate_wait = 1;
    begin(f);
    save(f);
    for (int i = 0; i < 100; i++) {
        snprintf(line, sizeof line, "%d\n", i);
        append(f, "in.log", line);
        snprintf(line, sizeof line, "%d ", i);
        strcat(wanted, line);
        if (i % 2 == 0) strcat(all, lines(f));
        if (i % 7 == 0) pass(f, GALE_SECOND);
        if (i % 3 == 0) {
            for (int k = 4; k > 0; k--) { /* the oldest is removed, so that its inode is used again */
                char to[20];
                snprintf(name, sizeof name, k > 1 ? "in.log.%d" : "in.log", k - 1);
                snprintf(to, sizeof to, "in.log.%d", k);
                if (access(in(f, name), F_OK) == 0) rotate(f, name, to);
            }
        }
        if (i % 5 == 0) {
            strcat(all, lines(f));
            save(f);
            die(f);
            resume(f);
        }
    }
    strcat(all, lines(f));
    assert_string_equal(all, wanted);
}

static void a_file_that_was_cut_while_nobody_looked_is_read_from_its_beginning(void **state) {
    fixture *f = *state;
    f->fake.context.durable = true;
    append(f, "in.log", "a\nb\n");
    begin(f);
    expect(f, "a b ");
    save(f);
    die(f);
    cut(f, "in.log");
    append(f, "in.log", "c\n");
    resume(f);
    expect(f, "c ");
    expect_logged(f, "%s: was truncated to 2 bytes, behind byte 4: ", f->path);
    save(f);
    die(f);
    cut(f, "in.log");
    append(f, "in.log", "longer than before\n");
    resume(f);
    expect(f, "longer than before ");
}

static void a_file_that_is_gone_is_told_of(void **state) {
    fixture *f = *state;
    f->fake.context.durable = true;
    append(f, "in.log", "a\nrest");
    begin(f);
    expect(f, "a ");
    save(f);
    die(f);
    append(f, "other", "keeps its inode\n");
    rotate(f, "other", "in.log");
    resume(f);
    expect(f, "keeps its inode ");
    expect_logged(f, "%s: the file that was read to byte 2 is gone; of what was known of it 4 bytes were not read\n",
                  f->path);
}

static void a_copy_is_gone_on_with(void **state) {
    fixture *f = *state;
    f->fake.context.durable = true;
    for (int i = 0; i < 2000; i++) append(f, "in.log", "abc\n");
    begin(f);
    assert_int_equal(strlen(lines(f)), 8000);
    save(f);
    die(f);
    for (int i = 0; i < 2000; i++) append(f, "copy", "abc\n");
    append(f, "copy", "d\n");
    rotate(f, "copy", "in.log");
    resume(f);
    expect(f, "d ");
    expect_logged(f, "%s: was moved or copied since; is gone on with behind byte 8000\n", f->path);
}

static void another_number_of_tasks_takes_the_files_over(void **state) {
    fixture *f = *state;
    char name[20], all[400] = "";
    fake_saver savers[3];
    f->fake.context.durable = f->silent = true;
    use_pattern(f);
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "%c.log", 'a' + i);
        append(f, name, "x\n");
    }
    f->fake.context.task_count = 3;
    for (uint32_t task = 0; task < 3; task++) {
        f->fake.context.task_index = task;
        begin(f);
        lines(f); /* all are open still */
        save(f);
        savers[task] = f->saver;
        fake_saver_init(&f->saver, &f->fake);
        end(f);
    }
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "%c.log", 'a' + i);
        append(f, name, (char[]){ (char)('a' + i), '\n', 0 });
    }
    f->fake.context.resumes = true;
    f->fake.context.task_count = 2;
    for (uint32_t task = 0; task < 2; task++) {
        f->fake.context.task_index = task;
        begin(f);
        for (int old = 0; old < 3; old++)
            assert_int_equal(fake_restore(&savers[old], f->spout.ops->durable, f->self), GALE_OK);
        strcat(all, lines(f));
        assert_true(!*all || f->fake.last_message >> 32 == 3 + task);
        gale_failure failure = { sizeof failure, GALE_REASON_FAILED, 3, "count", "", 1, false };
        (f->spout.ops->fail)(f->self, task, &failure); /* not of this task's: of tag 0 */
        (f->spout.ops->fail)(f->self, (uint64_t)task << 32, &failure);
        expect(f, "x ");
        end(f);
    }
    assert_int_equal(strlen(all), 40);
    for (int i = 0; i < 20; i++) assert_non_null(strchr(all, 'a' + i));
    for (int old = 0; old < 3; old++) fake_saver_fini(&savers[old]);
}

static void what_was_not_saved_by_it_is_refused(void **state) {
    fixture *f = *state;
    f->fake.context.durable = true;
    append(f, "in.log", "a\n");
    f->options.follow = false;
    begin(f);
    save(f);
    die(f);
    f->options.follow = true;
    begin(f);
    assert_int_equal(fake_restore(&f->saver, f->spout.ops->durable, f->self), GALE_STATE);
    const char *said = fake_text(&f->fake.reports);
    assert_non_null(strstr(said, ": the spout did not follow its file when checkpoint "));
    assert_non_null(strstr(said, "; give it `follow: false` again\n"));
}

/* --- Without memory --- */

/* All that the others do, in short, with the n-th allocation failing: the run goes on later, or ends with a word; what it says
 * is right, and all memory comes back. */
static bool live_with(fixture *f, uint64_t fail_at) {
    char wanted[] = "a b c d e ", all[100] = "";
    f->fake.fail_at = fail_at ? f->fake.allocations + fail_at : 0;
    f->fake.context.resumes = false;
    bool begun = try_begin(f) == 0;
    if (begun) strcat(all, lines(f));
    for (int i = 0; begun && i < 20 && f->said == GALE_NO_MEMORY; i++) strcat(all, lines(f));
    rotate(f, "a.log", "a.old");
    append(f, "a.log", "d\n");
    append(f, "c.log", "e\n");
    for (int i = 0; begun && i < 3; i++) strcat(all, lines(f));
    bool failed = f->fake.fail_at && f->fake.allocations >= f->fake.fail_at;
    f->fake.fail_at = 0;
    if (begun && f->fake.stop_code == 0) {
        strcat(all, lines(f));
        for (const char *at = wanted; *at; at += 2) assert_non_null(strchr(all, *at));
        assert_int_equal(strlen(all), strlen(wanted));
    }
    end(f);
    empty_folder(f->folder);
    return failed;
}

static void an_allocation_that_fails_loses_nothing(void **state) {
    fixture *f = *state;
    use_pattern(f);
    for (uint64_t n = 1;; n++) {
        append(f, "a.log", "a\nb\n");
        append(f, "b.log", "c\n");
        f->fake.stop_code = 0;
        if (!live_with(f, n)) break;
        assert_true(n < 500);
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(what_is_appended_is_read_and_waited_for_by_a_descriptor_alone),
        CASE(half_a_line_waits_for_its_end),
        CASE(a_file_that_is_not_there_yet_is_waited_for),
        CASE(a_renamed_file_is_read_to_its_end_and_then_its_successor),
        CASE(a_renamed_file_is_left_when_it_was_quiet_for_long_and_has_a_successor),
        CASE(what_comes_to_a_renamed_file_keeps_it),
        CASE(a_file_that_is_removed_and_made_anew_is_another_one),
        CASE(files_that_were_rotated_away_before_they_were_seen_are_read),
        CASE(a_copy_of_a_file_is_none_that_was_missed),
        CASE(one_that_was_missed_may_begin_as_the_others_do),
        CASE(a_file_that_was_cut_is_read_from_its_beginning),
        CASE(what_is_there_may_be_passed_over),
        CASE(what_cannot_be_followed_is_refused),
        CASE(options_that_contradict_each_other_are_refused),
        CASE(files_of_a_pattern_come_and_go),
        CASE(a_file_with_much_to_read_does_not_hold_up_the_others),
        CASE(only_so_many_are_open_at_once),
        CASE(tasks_divide_the_files_among_them),
        CASE(without_notices_all_is_looked_at_once_a_second),
        CASE(without_watches_all_is_looked_at_once_a_second),
        CASE(lost_notices_make_it_look_at_everything),
        CASE(open_lines_keep_their_places_over_a_crash),
        CASE(a_rotation_while_nobody_looks_loses_nothing),
        CASE(the_inode_of_a_removed_file_hides_no_other),
        CASE(many_rotations_and_crashes_give_each_line_once),
        CASE(a_file_that_was_cut_while_nobody_looked_is_read_from_its_beginning),
        CASE(a_file_that_is_gone_is_told_of),
        CASE(a_copy_is_gone_on_with),
        CASE(another_number_of_tasks_takes_the_files_over),
        CASE(what_was_not_saved_by_it_is_refused),
        CASE(an_allocation_that_fails_loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
