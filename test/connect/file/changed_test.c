/* A file spout that follows files which somebody cuts, writes again, replaces in place or leaves holes in, between two looks and while
 * no run was there. */
#include "following.h"

#include "base/random.h"

static void write_at(fixture *f, const char *name, const char *text, off_t at, bool cuts) {
    int fd = open(in(f, name), O_WRONLY | (cuts ? O_TRUNC : 0));
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, text, strlen(text), at), strlen(text));
    close(fd);
}

static void expect_warned(fixture *f, const char *what) {
    char wanted[200];
    snprintf(wanted, sizeof wanted, "%s: %s", f->path, what);
    expect_logged(f, "%s", wanted);
    fake_forget(&f->fake);
}

static void a_file_that_was_cut_and_has_outgrown_its_old_place_is_read_from_its_beginning(void **state) {
    fixture *f = *state;
    f->options.emit = "line, number, offset";
    append(f, "in.log", "old 1\nold 2\n");
    begin(f);
    expect(f, "old 1@1:0 old 2@2:6 ");
    write_at(f, "in.log", "new 1\nnew 2\nnew 3\nnew 4\n", 0, true);
    expect(f, "new 1@1:0 new 2@2:6 new 3@3:12 new 4@4:18 ");
    expect_warned(f, "was cut and written again, or replaced in place: what lies before byte 12 is not what was read");
    append(f, "in.log", "new 5\n");
    expect(f, "new 5@5:24 ");
}

static void half_a_line_of_what_was_cut_is_no_part_of_what_comes(void **state) {
    fixture *f = *state;
    append(f, "in.log", "old 1\nhal");
    begin(f);
    expect(f, "old 1 ");
    write_at(f, "in.log", "new 1\nnew 2\nnew 3\n", 0, true);
    expect(f, "new 1 new 2 new 3 ");
}

static void a_file_that_was_replaced_in_place_with_the_same_size_is_read_again(void **state) {
    fixture *f = *state;
    append(f, "in.log", "old 1\nold 2\n");
    begin(f);
    expect(f, "old 1 old 2 ");
    write_at(f, "in.log", "new 1\nnew 2\n", 0, true);
    expect(f, "new 1 new 2 ");
    expect_warned(f, "was cut and written again, or replaced in place");
}

/* A long log of which only the beginning differs, and one of which only the end does. */
static void either_end_of_what_was_read_tells(void **state) {
    fixture *f = *state;
    for (int end = 0; end < 2; end++) {
        for (int i = 0; i < 2000; i++) append(f, "in.log", "the same line\n");
        begin(f);
        assert_int_equal(strlen(lines(f)), 2000 * 14);
        write_at(f, "in.log", "THE", end ? 1999 * 14 : 0, false);
        append(f, "in.log", "last\n");
        assert_int_equal(strlen(lines(f)), 2000 * 14 + 5);
        expect_warned(f, "was cut and written again, or replaced in place");
        fake_close(&f->spout, f->self);
        f->self = NULL;
        unlink(f->path);
    }
}

/* A writer that does not append goes on where it was, behind a hole of as many NULs as were cut off. */
static void a_hole_that_a_writer_leaves_behind_a_cut_is_passed_over(void **state) {
    fixture *f = *state;
    f->options.emit = "line, number, offset";
    for (int seen = 0; seen < 2; seen++) {
        append(f, "in.log", "old 1\nold 2\n");
        begin(f);
        expect(f, "old 1@1:0 old 2@2:6 ");
        cut(f, "in.log");
        if (seen) expect(f, "");
        write_at(f, "in.log", "new 1\n", 12, false);
        expect(f, "new 1@1:12 ");
        snprintf(f->message, sizeof f->message, "%s:1: 12 bytes from byte 0 on are skipped: a hole of NULs", f->path);
        assert_non_null(strstr(fake_text(&f->fake.logged), f->message));
        fake_forget(&f->fake);
        fake_close(&f->spout, f->self);
        f->self = NULL;
        unlink(f->path);
    }
}

static void a_hole_of_a_million_nuls_is_passed_over_by_a_run_that_has_seen_nothing_else(void **state) {
    fixture *f = *state;
    f->options.longest = 100;
    append(f, "in.log", "");
    write_at(f, "in.log", "new 1\nnew 2\n", 1000000, false);
    begin(f);
    expect(f, "new 1 new 2 ");
    expect_logged(f, "%s:1: ", f->path);
}

static void nuls_in_lines_are_a_part_of_them(void **state) {
    fixture *f = *state;
    append(f, "in.log", "");
    int fd = open(f->path, O_WRONLY);
    assert_int_equal(write(fd, "a\0b\n\0\n\nend\n", 11), 11);
    close(fd);
    begin(f);
    expect(f, "a   end "); /* each as far as its first NUL */
    assert_string_equal(fake_text(&f->fake.logged), "");
}

/* Neither the place nor the lines that are open belong to what the file holds now. */
static void a_checkpoint_that_was_made_after_a_change_that_nobody_had_seen_goes_on_right(void **state) {
    fixture *f = *state;
    f->fake.context.durable = true;
    append(f, "in.log", "old 1\nold 2\n");
    begin(f);
    expect(f, "old 1 old 2 ");
    write_at(f, "in.log", "new 1\nnew 2\nnew 3\n", 0, true);
    save(f);
    die(f);
    resume(f);
    expect(f, "new 1 new 2 new 3 ");
    expect_logged(f, "%s: the saved position, byte 12, belongs to another file than the one that has its inode ",
                  f->path);
}

static void a_saved_position_of_a_file_that_was_written_again_is_told_of(void **state) {
    fixture *f = *state;
    f->fake.context.durable = true;
    append(f, "in.log", "old 1\nold 2\n");
    begin(f);
    expect(f, "old 1 old 2 ");
    save(f);
    die(f);
    write_at(f, "in.log", "new 1\nnew 2\nnew 3\n", 0, true);
    resume(f);
    expect(f, "new 1 new 2 new 3 ");
    expect_logged(f, "%s: the saved position, byte 12, belongs to another file than the one that has its inode ",
                  f->path);
}

static void long_lines_are_cut_at_durable_places(void **state) {
    fixture *f = *state;
    f->fake.context.durable = true;
    f->options.longest = 4;
    f->options.emit = "line, number, offset";
    append(f, "in.log", "a\n1234\n12345\nlonger");
    begin(f);
    expect(f, "a@1:0 1234@2:2 1234@3:7 ");
    expect_logged(f, "%s:3: the line has more than 4 bytes (longest), and is cut", f->path);
    save(f);
    die(f);
    append(f, "in.log", " still\nb\n");
    resume(f);
    expect(f, "long@4:13 b@5:26 ");
}

/* --- Whatever is done in which order --- */

enum { IDS = 4000, OPERATIONS = 60 };

/* Lines that say their own numbers; which of them were emitted, and which somebody took away before they were. */
typedef struct writer {
    fixture *f;
    gx_random random;
    int next, size; /* lines in the file that has the name */
    int rotated;
    uint8_t emitted[IDS];
    bool taken[IDS];
} writer;

static void put_lines(writer *w, int count, int flags, off_t at) {
    int fd = open(w->f->path, O_WRONLY | O_CREAT | flags, 0644);
    char line[16];
    assert_true(fd >= 0 && w->next + count < IDS);
    for (int i = 0; i < count; i++, at += 8) {
        snprintf(line, sizeof line, "%07d\n", w->next++);
        assert_int_equal(flags & O_APPEND ? write(fd, line, 8) : pwrite(fd, line, 8, at), 8);
    }
    close(fd);
}

static void take_away(writer *w) {
    for (int i = w->next - w->size; i < w->next; i++) w->taken[i] |= !w->emitted[i];
}

static void operate(writer *w) {
    char name[20];
    int more = 1 + (int)gx_random_below(&w->random, 12), what = (int)gx_random_below(&w->random, 7);
    switch (what) {
    case 0: /* renamed, and made anew */
        snprintf(name, sizeof name, "in.log.%d", ++w->rotated);
        rotate(w->f, "in.log", name);
        w->size = 0;
        put_lines(w, more, O_APPEND, 0);
        w->size = more;
        break;
    case 1: /* cut, and written again: less than there was, as much, or more */
        take_away(w);
        put_lines(w, more = 1 + (int)gx_random_below(&w->random, 2 * (uint32_t)w->size + 1), O_TRUNC, 0);
        w->size = more;
        break;
    case 2: /* cut under a writer that goes on where it was: the hole is as long as the file */
        take_away(w);
        put_lines(w, more, O_TRUNC, (off_t)w->size * 8);
        w->size = more;
        break;
    default: put_lines(w, more, O_APPEND, 0); w->size += more;
    }
}

static void take_lines(writer *w) {
    char *at = (char *)lines(w->f);
    for (char *end; *at; at = end + 1) {
        long number = strtol(at, &end, 10);
        if (end != at + 7 || *end != ' ' || number >= w->next) fail_msg("no line: %.20s", at);
        w->emitted[number]++;
    }
}

static void check_all(const writer *w, uint64_t seed) {
    bool lost = false;
    for (int i = 0; i < w->next; i++) {
        if (w->emitted[i] > 1) fail_msg("seed %d: line %d came %d times", (int)seed, i, w->emitted[i]);
        if (!w->emitted[i] && !w->taken[i]) fail_msg("seed %d: line %d of %d did not come", (int)seed, i, w->next);
        lost |= !w->emitted[i];
    }
    if (lost) assert_non_null(strstr(fake_text(&w->f->fake.logged), w->f->path));
}

static void each_line_comes_once_but_those_that_somebody_took_away_unread_and_the_log_says_so(void **state) {
    fixture *f = *state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        static writer w;
        w = (writer){ .f = f, .random = gx_random_new(seed, 3) };
        put_lines(&w, w.size = 5, O_APPEND, 0);
        begin(f);
        take_lines(&w); /* what was rotated before the first look is not looked for */
        for (int i = 0; i < OPERATIONS; i++) {
            if (gx_random_below(&w.random, 3)) take_lines(&w);
            operate(&w);
        }
        for (int i = 0; i < 3; i++) {
            take_lines(&w);
            pass(f, 10 * GALE_SECOND);
        }
        check_all(&w, seed);
        fake_close(&f->spout, f->self);
        f->self = NULL;
        fake_forget(&f->fake);
        empty_folder(f->folder);
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(a_file_that_was_cut_and_has_outgrown_its_old_place_is_read_from_its_beginning),
        CASE(half_a_line_of_what_was_cut_is_no_part_of_what_comes),
        CASE(a_file_that_was_replaced_in_place_with_the_same_size_is_read_again),
        CASE(either_end_of_what_was_read_tells),
        CASE(a_hole_that_a_writer_leaves_behind_a_cut_is_passed_over),
        CASE(a_hole_of_a_million_nuls_is_passed_over_by_a_run_that_has_seen_nothing_else),
        CASE(nuls_in_lines_are_a_part_of_them),
        CASE(a_checkpoint_that_was_made_after_a_change_that_nobody_had_seen_goes_on_right),
        CASE(a_saved_position_of_a_file_that_was_written_again_is_told_of),
        CASE(long_lines_are_cut_at_durable_places),
        CASE(each_line_comes_once_but_those_that_somebody_took_away_unread_and_the_log_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
