/* The lines of a file that several tasks share by blocks. */
#include "connect/file/blocks.h"

#include "base/buf.h"
#include "base/random.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

enum { LINES_MAX = 4000, TASKS_MAX = 5 };

typedef struct read_line {
    int64_t place;
    uint64_t number;
    uint32_t size, sum;
} read_line;

typedef struct lines {
    read_line list[LINES_MAX];
    size_t count;
} lines;

static struct {
    char path[40];
    gx_heap heap;
    gx_file_rule rule;
    gx_buf text;
    gx_random random;
    lines whole, parts;
} s;

static int setup(void **state) {
    (void)state;
    memset(&s, 0, sizeof s);
    s.rule = (gx_file_rule){ .longest = GALE_LINE_MAX };
    s.text = (gx_buf)GX_BUF_INIT(NULL);
    snprintf(s.path, sizeof s.path, "/tmp/gale_blocks_XXXXXX");
    int fd = mkstemp(s.path);
    assert_true(fd >= 0);
    close(fd);
    gx_heap_init(&s.heap, NULL);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    unlink(s.path);
    gx_buf_fini(&s.text);
    assert_int_equal(gx_heap_reserved(&s.heap), 0);
    return 0;
}

static void write_file(const char *mode, const char *bytes, size_t size) {
    FILE *file = fopen(s.path, mode);
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static void add(lines *to, const gx_file_reader *reader, gale_str line) {
    assert_in_range(to->count, 0, LINES_MAX - 1);
    read_line made = { gx_file_reader_last_at(reader), gx_file_reader_number(reader), (uint32_t)line.size, 0 };
    for (size_t i = 0; i < line.size; i++) made.sum = made.sum * 31 + (unsigned char)line.data[i];
    to->list[to->count++] = made;
}

static void open_at(gx_file_reader *reader, int64_t place) {
    assert_int_equal(gx_file_reader_open(reader, &s.heap, s.path, &s.rule, NULL), 0);
    gx_file_reader_seek(reader, place, 0);
}

/* What one task reads. With `breaks`, it is closed and goes on from its place in between. */
static void read_task(gx_file_blocks blocks, bool breaks, lines *to) {
    const gx_file_blocks begun = blocks;
    gx_file_reader reader;
    gale_error error = GALE_ERROR_INIT;
    gale_str line;
    open_at(&reader, 0);
    for (int rc = 1; rc != 0;) {
        rc = gx_file_blocks_next(&blocks, &reader, &line, &error);
        if (rc < 0 && rc != GALE_AGAIN) fail_msg("%s", error.text);
        if (rc > 0) add(to, &reader, line);
        if (!breaks || gx_random_below(&s.random, 3)) continue;
        int64_t place = gx_file_reader_next_at(&reader);
        gx_file_reader_close(&reader);
        open_at(&reader, place);
        blocks = begun;
    }
    assert_int_equal(gx_file_reader_next_at(&reader), s.text.size); /* all have read to the end */
    gx_file_reader_close(&reader);
}

static int by_place(const void *a, const void *b) {
    const read_line *x = a, *y = b;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Every line has one task, whatever their number, and is what one task reads. */
static void expect_shared(int64_t block, uint32_t tasks, bool counts, bool breaks) {
    s.whole.count = s.parts.count = 0;
    read_task(gx_file_blocks_of(block, 0, 1, false), false, &s.whole);
    for (uint32_t task = 0; task < tasks; task++) {
        size_t from = s.parts.count;
        read_task(gx_file_blocks_of(block, task, tasks, counts), breaks, &s.parts);
        for (size_t i = from; i < s.parts.count; i++)
            assert_int_equal(gx_file_blocks_owner(block, s.parts.list[i].place, tasks), task);
    }
    qsort(s.parts.list, s.parts.count, sizeof *s.parts.list, by_place);
    assert_int_equal(s.parts.count, s.whole.count);
    for (size_t i = 0; i < s.parts.count; i++) {
        const read_line *one = &s.parts.list[i], *wanted = &s.whole.list[i];
        if (one->place != wanted->place || one->size != wanted->size || one->sum != wanted->sum)
            fail_msg("block %d, %u tasks, line %zu at %d: %u bytes, not %u at %d", (int)block, tasks, i + 1,
                     (int)one->place, one->size, wanted->size, (int)wanted->place);
        if (counts && !breaks) assert_int_equal(one->number, wanted->number);
    }
}

/* Short lines, empty ones, long ones, holes; ends of both kinds. */
static void make_text(int pieces) {
    gx_buf_reset(&s.text);
    for (int i = 0; i < pieces; i++) {
        uint32_t kind = gx_random_below(&s.random, 20), size = gx_random_below(&s.random, 40);
        if (kind == 0) size = gx_random_below(&s.random, 5000);
        for (uint32_t n = 0; n < size; n++) gx_buf_add_byte(&s.text, (char)('a' + gx_random_below(&s.random, 26)));
        if (kind == 1)
            for (uint32_t n = gx_random_below(&s.random, 1500); n; n--) gx_buf_add_byte(&s.text, 0);
        else
            gx_buf_add(&s.text, kind < 6 ? "\r\n" : "\n", kind < 6 ? 2 : 1);
    }
    if (gx_random_below(&s.random, 2)) gx_buf_add(&s.text, "no end", 6);
    write_file("wb", s.text.data, s.text.size);
}

static void every_line_has_one_task_wherever_blocks_end(void **state) {
    (void)state;
    static const int64_t blocks[] = { 1, 7, 512, 513, 600, 1000, 4096, 1 << 20 };
    size_t many = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        s.random = gx_random_new(seed, 0);
        make_text(seed % 5 ? 400 : (int)seed % 3);
        for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
            for (uint32_t tasks = 1; tasks <= TASKS_MAX; tasks++) {
                expect_shared(blocks[i], tasks, seed % 2, seed % 3 == 0);
                many += s.whole.count > 100;
            }
    }
    assert_true(many > 500);
}

static void a_task_reads_its_blocks_alone_and_its_lines_have_no_numbers(void **state) {
    (void)state;
    gx_file_blocks blocks = gx_file_blocks_of(1 << 20, 1, 2, false);
    gx_file_reader reader;
    gale_str line;
    for (int i = 0; i < 400000; i++) gx_buf_add(&s.text, "0123456789\n", 11);
    write_file("wb", s.text.data, s.text.size);
    open_at(&reader, 0);
    assert_int_equal(gx_file_blocks_next(&blocks, &reader, &line, NULL), 1);
    assert_int_equal(gx_file_reader_last_at(&reader), ((1 << 20) + 10) / 11 * 11);
    assert_int_equal(gx_file_reader_number(&reader), 0);
    uint64_t read = reader.number; /* since the seek: the end of a line or two */
    assert_true(read < 100);
    gx_file_reader_close(&reader);
}

static void all_tasks_refuse_what_is_not_text(void **state) {
    (void)state;
    gx_buf_add(&s.text, "\x1f\x8b\x08\x00", 4);
    for (int i = 0; i < 4000; i++) gx_buf_add(&s.text, "text\n", 5);
    write_file("wb", s.text.data, s.text.size);
    for (uint32_t task = 0; task < 3; task++) {
        gx_file_blocks blocks = gx_file_blocks_of(1000, task, 3, false);
        gx_file_reader reader;
        gale_error error = GALE_ERROR_INIT;
        gale_str line;
        open_at(&reader, 0);
        assert_int_equal(gx_file_blocks_next(&blocks, &reader, &line, &error), GALE_UNSUPPORTED);
        assert_non_null(strstr(error.text, "this is gzip data"));
        gx_file_reader_close(&reader);
    }
}

static void expect_damaged(const char *mode, const char *bytes, size_t size, off_t cut, const char *wanted) {
    gx_file_blocks blocks = gx_file_blocks_of(1 << 17, 0, 2, false);
    gx_file_reader reader;
    gale_error error = GALE_ERROR_INIT;
    gale_str line;
    int rc = 1;
    gx_buf_reset(&s.text);
    for (int i = 0; i < 200000; i++) gx_buf_add(&s.text, "abc\n", 4);
    write_file("wb", s.text.data, s.text.size);
    open_at(&reader, 0);
    assert_int_equal(gx_file_blocks_next(&blocks, &reader, &line, &error), 1);
    if (cut >= 0) assert_int_equal(truncate(s.path, cut), 0);
    if (bytes) write_file(mode, bytes, size);
    while (rc > 0 || rc == GALE_AGAIN) rc = gx_file_blocks_next(&blocks, &reader, &line, &error);
    assert_int_equal(rc, GALE_DAMAGED);
    if (!strstr(error.text, wanted)) fail_msg("%s", error.text);
    gx_file_reader_close(&reader);
}

static void a_file_that_is_cut_or_written_over_while_tasks_read_it_is_noticed(void **state) {
    (void)state;
    expect_damaged(NULL, NULL, 0, 300000, "was cut to 300000 bytes while it was read, of 800000 at least");
    expect_damaged(NULL, NULL, 0, 10, "was cut to 10 bytes");
    expect_damaged("r+b", "xyz\n", 4, -1, "was changed before byte");
}

static void what_is_appended_meanwhile_belongs_to_nobody(void **state) {
    (void)state;
    size_t count = 0;
    for (int i = 0; i < 1000; i++) gx_buf_add(&s.text, "abc\n", 4);
    write_file("wb", s.text.data, s.text.size);
    for (uint32_t task = 0; task < 3; task++) {
        gx_file_blocks blocks = gx_file_blocks_of(700, task, 3, false);
        gx_file_reader reader;
        gale_str line;
        write_file("wb", s.text.data, s.text.size);
        open_at(&reader, 0);
        write_file("ab", s.text.data, s.text.size);
        while (gx_file_blocks_next(&blocks, &reader, &line, NULL) > 0) count++;
        gx_file_reader_close(&reader);
    }
    assert_int_equal(count, 1000);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(every_line_has_one_task_wherever_blocks_end),
        CASE(a_task_reads_its_blocks_alone_and_its_lines_have_no_numbers),
        CASE(all_tasks_refuse_what_is_not_text),
        CASE(a_file_that_is_cut_or_written_over_while_tasks_read_it_is_noticed),
        CASE(what_is_appended_meanwhile_belongs_to_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
