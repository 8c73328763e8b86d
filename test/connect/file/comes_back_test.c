/* A file spout that follows: names that come back to a file that they led to before. Links, renames and hard links go to and fro, the run is killed
 * and goes on, and each line of each file is read once. */
#include "following.h"

#include "base/random.h"

static const int64_t wait = 6 * GALE_SECOND; /* more than rotateWait */

static void swap_link(fixture *f, const char *name, const char *target) {
    assert_int_equal(symlink(target, in(f, "new.link")), 0);
    rotate(f, "new.link", name);
}

/* What is read of it, until it is over. */
static void leave(fixture *f, const char *wanted) {
    expect(f, wanted);
    pass(f, wait);
    expect(f, "");
}

static void a_link_that_comes_back_to_a_file_reads_on_in_it(void **state) {
    fixture *f = *state;
    append(f, "r1", "1\n");
    append(f, "r2", "3\n");
    swap_link(f, "in.log", "r1");
    begin(f);
    expect(f, "1 ");
    swap_link(f, "in.log", "r2");
    leave(f, "3 ");
    swap_link(f, "in.log", "r1");
    leave(f, "");
    append(f, "r1", "2\n");
    assert_true(is_told(f));
    leave(f, "2 ");
    append(f, "r2", "4\n"); /* while no name leads to it */
    expect(f, "");
    swap_link(f, "in.log", "r2");
    leave(f, "4 ");
}

static void a_name_that_comes_back_by_renames_reads_on_in_its_file(void **state) {
    fixture *f = *state;
    append(f, "in.log", "1\n");
    begin(f);
    expect(f, "1 ");
    rotate(f, "in.log", "aside");
    append(f, "in.log", "3\n");
    leave(f, "3 ");
    rotate(f, "in.log", "other");
    rotate(f, "aside", "in.log");
    leave(f, "");
    append(f, "in.log", "2\n");
    assert_true(is_told(f));
    expect(f, "2 ");
}

static void a_file_that_comes_back_behind_half_a_line_has_that_line_once(void **state) {
    fixture *f = *state;
    f->options.emit = "line, number, offset";
    append(f, "r1", "1\nhalf");
    append(f, "r2", "");
    swap_link(f, "in.log", "r1");
    begin(f);
    expect(f, "1@1:0 ");
    swap_link(f, "in.log", "r2");
    expect(f, "");
    pass(f, wait);
    expect(f, "half@2:2 ");
    append(f, "r1", "\n3\n");
    swap_link(f, "in.log", "r1");
    expect(f, "3@3:7 ");
}

static void a_file_that_was_cut_before_it_comes_back_is_read_from_its_beginning(void **state) {
    fixture *f = *state;
    append(f, "r1", "1\n2\n");
    append(f, "r2", "3\n");
    swap_link(f, "in.log", "r1");
    begin(f);
    expect(f, "1 2 ");
    swap_link(f, "in.log", "r2");
    leave(f, "3 ");
    cut(f, "r1");
    append(f, "r1", "4\n");
    swap_link(f, "in.log", "r1");
    expect(f, "4 ");
}

/* --- A model of all of it --- */

enum { FILES = 5, LINES = 400 };

typedef struct world {
    fixture *f;
    gx_random random;
    int linked;           /* that the name leads to; -1: none */
    uint32_t count;       /* of lines that were written */
    uint8_t times[LINES]; /* that each was read */
    char log[4000];       /* of what was done */
} world;

static uint32_t draw(world *w, uint32_t n) {
    return gx_random_below(&w->random, n);
}

static void did(world *w, const char *what, int number) {
    size_t used = strlen(w->log);
    snprintf(w->log + used, sizeof w->log - used, "%s %d; ", what, number);
}

static void take(world *w) {
    const char *at = lines(w->f);
    for (char *end; *at; at = end + 1) {
        unsigned long line = strtoul(at, &end, 10);
        assert_true(end > at && *end == ' ' && line < LINES);
        w->times[line]++;
    }
}

static const char *file_of(world *w, int file) {
    static char name[16];
    snprintf(name, sizeof name, "r%d", file);
    (void)w;
    return name;
}

static void write_one(world *w, int file) {
    char line[32];
    if (w->count == LINES) return;
    snprintf(line, sizeof line, "%u\n", w->count++);
    append(w->f, file_of(w, file), line);
    did(w, "write", file);
}

/* By a link, or as another name of the file itself. */
static void lead_to(world *w, int file) {
    if (draw(w, 2))
        swap_link(w->f, "in.log", file_of(w, file));
    else if (w->linked != file) {
        assert_int_equal(link(in(w->f, file_of(w, file)), in(w->f, "new.link")), 0);
        rotate(w->f, "new.link", "in.log");
    }
    w->linked = file;
    did(w, "lead to", file);
}

/* All of it was read, and another file takes its place, and its inode perhaps. */
static void make_anew(world *w, int file) {
    lead_to(w, file);
    take(w);
    lead_to(w, (file + 1) % FILES);
    take(w);
    pass(w->f, wait);
    take(w);
    assert_int_equal(unlink(in(w->f, file_of(w, file))), 0);
    append(w->f, file_of(w, file), "");
    did(w, "make anew", file);
}

static void remove_name(world *w) {
    if (w->linked < 0) return;
    assert_int_equal(unlink(in(w->f, "in.log")), 0);
    w->linked = -1;
    did(w, "remove", 0);
}

static void kill_run(world *w) {
    save(w->f);
    die(w->f);
    did(w, "kill", 0);
    for (int more = (int)draw(w, 3); more; more--) lead_to(w, (int)draw(w, FILES));
    write_one(w, (int)draw(w, FILES));
    resume(w->f);
}

static void step(world *w) {
    int file = (int)draw(w, FILES);
    switch (draw(w, 10)) {
    case 0: pass(w->f, wait); break;
    case 1: kill_run(w); break;
    case 2: make_anew(w, file); break;
    case 3: remove_name(w); break;
    case 4:
    case 5:
    case 6: lead_to(w, file); break;
    default: write_one(w, file); break;
    }
    if (draw(w, 3)) take(w);
}

static void play(fixture *f, uint64_t seed) {
    world w = { .f = f, .random = gx_random_new(seed, 0), .linked = -1 };
    for (int i = 0; i < FILES; i++) append(f, file_of(&w, i), "");
    begin(f);
    for (int i = 0; i < 60; i++) step(&w);
    for (int i = 0; i < FILES; i++) {
        write_one(&w, i);
        lead_to(&w, i);
        take(&w);
    }
    for (uint32_t i = 0; i < w.count; i++)
        if (w.times[i] != 1)
            fail_msg("seed %llu: line %u was read %u times: %s", (unsigned long long)seed, i, w.times[i], w.log);
    end(f);
    empty_folder(f->folder);
}

static void each_line_is_read_once_whatever_the_name_led_to(void **state) {
    fixture *f = *state;
    f->fake.context.durable = true;
    for (uint64_t seed = 1; seed <= 25; seed++) {
        f->fake.context.resumes = false;
        play(f, seed);
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(a_link_that_comes_back_to_a_file_reads_on_in_it),
        CASE(a_name_that_comes_back_by_renames_reads_on_in_its_file),
        CASE(a_file_that_comes_back_behind_half_a_line_has_that_line_once),
        CASE(a_file_that_was_cut_before_it_comes_back_is_read_from_its_beginning),
        CASE(each_line_is_read_once_whatever_the_name_led_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
