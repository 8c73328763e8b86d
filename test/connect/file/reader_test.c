#include "connect/file/reader.h"

#include "base/buf.h"
#include "base/random.h"
#include "base/str.h"
#include "base/utf8.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/gale_reader_XXXXXX";
static gx_heap heap;
static gx_file_rule rule;
static gx_buf told; /* "long NUMBER at PLACE; hole before NUMBER at PLACE of BYTES; " */

static void tell(void *user, const gx_file_reader *reader, gx_file_odd what, uint64_t number, int64_t at,
                 int64_t bytes) {
    (void)reader;
    if (what == GX_FILE_LONG)
        gx_buf_format(user, "long %d at %d; ", (int)number, (int)at);
    else
        gx_buf_format(user, "hole before %d at %d of %d; ", (int)number, (int)at, (int)bytes);
}

static void expect_told(const char *wanted) {
    const char *text = gx_buf_text(&told);
    assert_string_equal(text ? text : "", wanted);
    gx_buf_reset(&told);
}

static int setup(void **state) {
    (void)state;
    rule = (gx_file_rule){ GALE_LINE_MAX, false, tell, &told };
    told = (gx_buf)GX_BUF_INIT(NULL);
    snprintf(path, sizeof path, "/tmp/gale_reader_XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    gx_heap_init(&heap, NULL);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    unlink(path);
    gx_buf_fini(&told);
    assert_int_equal(gx_heap_reserved(&heap), 0);
    return 0;
}

static void write_file(const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static void open_reader(gx_file_reader *reader) {
    assert_int_equal(gx_file_reader_open(reader, &heap, path, &rule, NULL), 0);
}

static void expect_line(gx_file_reader *reader, const char *wanted, size_t size) {
    gale_str line;
    assert_int_equal(gx_file_reader_next(reader, &line, NULL), 1);
    assert_int_equal(line.size, size);
    assert_memory_equal(line.data, wanted, size);
}

static void expect_end(gx_file_reader *reader) {
    gale_str line;
    assert_int_equal(gx_file_reader_next(reader, &line, NULL), 0);
    assert_int_equal(gx_file_reader_next(reader, &line, NULL), 0);
}

static void an_empty_file_has_no_lines(void **state) {
    (void)state;
    gx_file_reader reader;
    open_reader(&reader);
    expect_end(&reader);
    assert_int_equal(reader.number, 0);
    gx_file_reader_close(&reader);
    gx_file_reader_close(&reader);
}

static void line_ends_are_cut_and_nothing_else_is(void **state) {
    (void)state;
    static const char text[] = "one\n\ntwo\r\n\r\n\r\r\nx\0y\xff\n\tlast\r";
    write_file(text, sizeof text - 1);
    gx_file_reader reader;
    open_reader(&reader);
    expect_line(&reader, "one", 3);
    expect_line(&reader, "", 0);
    expect_line(&reader, "two", 3);
    expect_line(&reader, "", 0);
    expect_line(&reader, "\r", 1);
    expect_line(&reader, "x\0y\xff", 4);
    expect_line(&reader, "\tlast", 5); /* half an end at the end is one */
    assert_int_equal(reader.number, 7);
    expect_end(&reader);
    gx_file_reader_close(&reader);
}

static void a_byte_order_mark_is_skipped_once(void **state) {
    (void)state;
    static const char text[] = "\xef\xbb\xbf\xef\xbb\xbf"
                               "a\n\xef\xbb\xbf"
                               "b\n";
    write_file(text, sizeof text - 1);
    gx_file_reader reader;
    open_reader(&reader);
    for (int round = 0; round < 2; round++) {
        expect_line(&reader,
                    "\xef\xbb\xbf"
                    "a",
                    4);
        assert_int_equal(gx_file_reader_last_at(&reader), 3);
        gx_file_reader_unread(&reader);
        expect_line(&reader,
                    "\xef\xbb\xbf"
                    "a",
                    4);
        expect_line(&reader,
                    "\xef\xbb\xbf"
                    "b",
                    4);
        expect_end(&reader);
        gx_file_reader_rewind(&reader);
    }
    gx_file_reader_close(&reader);
    write_file("\xef\xbb\xbf", 3);
    open_reader(&reader);
    expect_end(&reader);
    gx_file_reader_close(&reader);
}

static void what_is_packed_has_no_lines(void **state) {
    (void)state;
    gx_file_reader reader;
    gale_str line;
    gale_error error = GALE_ERROR_INIT;
    write_file("\x1f\x8b\x08\n\n", 5);
    open_reader(&reader);
    assert_int_equal(gx_file_reader_next(&reader, &line, &error), GALE_UNSUPPORTED);
    assert_non_null(strstr(error.text, ": this is gzip data: unpack it first"));
    gx_file_reader_close(&reader);
}

static void a_line_is_given_back(void **state) {
    (void)state;
    write_file("a\nb\n", 4);
    gx_file_reader reader;
    open_reader(&reader);
    expect_line(&reader, "a", 1);
    gx_file_reader_unread(&reader);
    expect_line(&reader, "a", 1);
    assert_int_equal(reader.number, 1);
    expect_line(&reader, "b", 1);
    gx_file_reader_rewind(&reader);
    expect_line(&reader, "a", 1);
    gx_file_reader_close(&reader);
}

static void places_of_lines_are_known_and_gone_to(void **state) {
    (void)state;
    write_file("a\r\nbb\nlast", 10);
    gx_file_reader reader;
    open_reader(&reader);
    assert_int_equal(gx_file_reader_next_at(&reader), 0);
    expect_line(&reader, "a", 1);
    assert_int_equal(gx_file_reader_last_at(&reader), 0);
    assert_int_equal(gx_file_reader_next_at(&reader), 3);
    expect_line(&reader, "bb", 2);
    assert_int_equal(gx_file_reader_last_at(&reader), 3);
    gx_file_reader_unread(&reader);
    assert_int_equal(gx_file_reader_next_at(&reader), 3);
    expect_line(&reader, "bb", 2);
    expect_line(&reader, "last", 4);
    assert_int_equal(gx_file_reader_last_at(&reader), 6);
    expect_end(&reader);
    assert_int_equal(gx_file_reader_next_at(&reader), 10);
    gx_file_reader_seek(&reader, 3, 1);
    expect_line(&reader, "bb", 2);
    assert_int_equal(reader.number, 2);
    gx_file_reader_seek(&reader, 10, 3);
    expect_end(&reader);
    gx_file_reader_close(&reader);
}

static void lines_of_every_length_around_the_buffer_come_whole(void **state) {
    (void)state;
    enum { FROM = (64 << 10) - 3, TO = (64 << 10) + 3 };
    char *text = malloc((size_t)TO * 8);
    for (int crlf = 0; crlf < 2; crlf++) {
        size_t size = 0;
        for (size_t length = FROM; length <= TO; length++) {
            memset(text + size, 'a' + (int)(length % 26), length);
            size += length;
            if (crlf) text[size++] = '\r';
            text[size++] = '\n';
        }
        write_file(text, size);
        gx_file_reader reader;
        open_reader(&reader);
        for (size_t length = FROM; length <= TO; length++) {
            gale_str line;
            assert_int_equal(gx_file_reader_next(&reader, &line, NULL), 1);
            assert_int_equal(line.size, length);
            assert_int_equal(line.data[0], 'a' + (int)(length % 26));
            assert_int_equal(line.data[length - 1], 'a' + (int)(length % 26));
        }
        expect_end(&reader);
        gx_file_reader_close(&reader);
    }
    free(text);
}

static void lines_are_text_as_their_bytes_say(gx_file_reader *reader, gx_random *random, size_t *ret_texts) {
    gale_str line;
    gale_error error = GALE_ERROR_INIT;
    while (gx_file_reader_next(reader, &line, &error) == 1) {
        if (gx_random_below(random, 8) == 0) continue; /* of another task */
        bool is_text = gx_utf8_valid(line.data, line.size);
        assert_int_equal(gx_file_reader_is_text(reader), is_text);
        *ret_texts += is_text;
        if (gx_random_below(random, 8)) continue;
        gx_file_reader_unread(reader);
        assert_int_equal(gx_file_reader_next(reader, &line, &error), 1);
        assert_int_equal(gx_file_reader_is_text(reader), is_text);
    }
}

/* Characters of one to four bytes, so that the border of what is read at once falls into each of them, and among them
 * some bytes that are none: `bad` of 1000. */
static void write_characters(gx_random *random, uint32_t bad) {
    static const char *const characters[] = { "a", " ", "\n", "\r\n", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x8c\x80" };
    static const char *const none[] = {
        "\xff", "\x80", "\xc3", "\xe2\x82", "\xf0\x9f\x8c", "\xc0\x80", "\xed\xa0\x80"
    };
    enum { SIZE = 300000, COUNT = 7 };
    char *text = malloc(SIZE + 8);
    size_t size = 0;
    while (size < SIZE) {
        bool is_bad = gx_random_below(random, 1000) < bad;
        gale_str next = gx_str((is_bad ? none : characters)[gx_random_below(random, COUNT)]);
        memcpy(text + size, next.data, next.size);
        size += next.size;
    }
    write_file(text, size);
    free(text);
}

static void lines_that_are_utf8_are_known_wherever_what_was_read_ends(void **state) {
    (void)state;
    static const uint32_t bad[] = { 0, 1, 30, 500 };
    gx_random random = gx_random_new(11, 1);
    for (int round = 0; round < 24; round++) {
        size_t texts = 0;
        write_characters(&random, bad[round % 4]);
        gx_file_reader reader;
        open_reader(&reader);
        lines_are_text_as_their_bytes_say(&reader, &random, &texts);
        assert_true(texts > 1000);
        gx_file_reader_rewind(&reader);
        lines_are_text_as_their_bytes_say(&reader, &random, &texts);
        gx_file_reader_close(&reader);
    }
}

static void a_character_that_is_cut_off_by_a_newline_or_the_end_spoils_its_own_line_alone(void **state) {
    (void)state;
    static const char text[] = "\xc3\xa4\n\xc3\n\xa4\nok\n\xe2\x82\nok\n\xe2\x82";
    static const bool is_text[] = { true, false, false, true, false, true, false };
    write_file(text, sizeof text - 1);
    gx_file_reader reader;
    open_reader(&reader);
    for (size_t i = 0; i < sizeof is_text; i++) {
        gale_str line;
        assert_int_equal(gx_file_reader_next(&reader, &line, NULL), 1);
        assert_int_equal(gx_file_reader_is_text(&reader), is_text[i]);
    }
    gx_file_reader_seek(&reader, 0, 0);
    expect_line(&reader, "\xc3\xa4", 2);
    assert_true(gx_file_reader_is_text(&reader));
    gx_file_reader_close(&reader);
}

/* Lines that are too long -------------------------------------------------------------------------------------------- */

/* "a", then `size` bytes of "y" and an end, then "b"; whole, or cut to the rule's length, or dropped. */
static void expect_long(size_t size, const char *end, bool is_long) {
    char *text = malloc(size + 16), number[40];
    size_t end_size = strlen(end);
    memcpy(text, "a\n", 2);
    memset(text + 2, 'y', size);
    memcpy(text + 2 + size, end, end_size);
    memcpy(text + 2 + size + end_size, "b\n", end_size ? 2 : 0);
    write_file(text, 2 + size + end_size + (end_size ? 2 : 0));
    gx_file_reader reader;
    open_reader(&reader);
    expect_line(&reader, "a", 1);
    if (!is_long || !rule.drops) {
        expect_line(&reader, text + 2, is_long ? rule.longest : size);
        assert_int_equal(gx_file_reader_last_at(&reader), 2);
        assert_true(gx_file_reader_is_text(&reader));
        gx_file_reader_unread(&reader);
        assert_int_equal(gx_file_reader_next_at(&reader), 2);
        gx_buf_reset(&told);
        expect_line(&reader, text + 2, is_long ? rule.longest : size);
    }
    if (end_size) {
        expect_line(&reader, "b", 1);
        assert_int_equal(gx_file_reader_last_at(&reader), 2 + size + end_size);
        assert_int_equal(reader.number, 3);
    }
    expect_end(&reader);
    assert_int_equal(gx_file_reader_next_at(&reader), 2 + size + end_size + (end_size ? 2 : 0));
    snprintf(number, sizeof number, "long 2 at 2; ");
    expect_told(is_long ? number : "");
    assert_true(gx_heap_reserved(&heap) <= rule.longest + (300 << 10));
    gx_file_reader_close(&reader);
    free(text);
}

static void a_line_of_the_greatest_length_comes_whole_and_a_longer_one_is_cut_or_dropped(void **state) {
    (void)state;
    static const size_t lengths[] = { 1, 2, 10, 65534, 65535, 65536, 65537, 200000, 3 << 20 };
    static const char *const ends[] = { "\n", "\r\n", "" };
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (size_t e = 0; e < 6; e++) {
            rule.longest = lengths[i];
            rule.drops = e >= 3;
            expect_long(lengths[i], ends[e % 3], false);
            expect_long(lengths[i] + 1, ends[e % 3], true);
            expect_long(lengths[i] + 2, ends[e % 3], true);
            expect_long(lengths[i] + 70000, ends[e % 3], true);
        }
}

/* Also one that does not fit into what is passed by in one call. */
static void much_that_is_passed_by_takes_several_calls_and_little_memory(void **state) {
    (void)state;
    enum { SIZE = 40 << 20 };
    char *text = malloc(SIZE);
    memset(text, 'y', SIZE);
    memcpy(text + SIZE - 3, "\nb\n", 3);
    write_file(text, SIZE);
    free(text);
    rule.longest = 1000;
    gx_file_reader reader;
    gale_str line;
    int rc, again = 0;
    open_reader(&reader);
    while ((rc = gx_file_reader_next(&reader, &line, NULL)) == GALE_AGAIN) {
        assert_int_equal(gx_file_reader_next_at(&reader), 0); /* whoever goes on from there reads it again */
        again++;
    }
    assert_true(rc == 1 && again >= 2 && line.size == 1000);
    assert_true(gx_heap_reserved(&heap) < 300 << 10);
    expect_line(&reader, "b", 1);
    expect_told("long 1 at 0; ");
    gx_file_reader_close(&reader);
}

static void a_text_is_cut_between_characters_and_bytes_are_cut_anywhere(void **state) {
    (void)state;
    static const char text[] = "ab\xe2\x82\xac yz\nab\xff\x82\xac yz\nab\xe2\x82\xac yz\n";
    write_file(text, sizeof text - 1);
    gx_file_reader reader;
    rule.longest = 4;
    open_reader(&reader);
    expect_line(&reader, "ab", 2);
    assert_true(gx_file_reader_is_text(&reader));
    expect_line(&reader, "ab\xff\x82", 4);
    assert_false(gx_file_reader_is_text(&reader));
    expect_line(&reader, "ab", 2);
    gx_file_reader_close(&reader);
}

/* Half of a line that is too long waits for its end as any other does. */
static void a_long_line_that_grows_is_handed_out_once_with_its_end(void **state) {
    (void)state;
    gx_file_reader reader;
    gale_str line;
    rule.longest = 5;
    write_file("123456789", 9);
    open_reader(&reader);
    reader.growing = true;
    assert_int_equal(gx_file_reader_next(&reader, &line, NULL), 0);
    assert_int_equal(gx_file_reader_next_at(&reader), 0);
    write_file("123456789abc", 12);
    assert_int_equal(gx_file_reader_next(&reader, &line, NULL), 0);
    write_file("123456789abc\nx\n", 15);
    expect_line(&reader, "12345", 5);
    expect_line(&reader, "x", 1);
    assert_int_equal(gx_file_reader_last_at(&reader), 13);
    gx_file_reader_close(&reader);
}

/* Holes -------------------------------------------------------------------------------------------------------------- */

static void write_holed(const char *before, size_t nuls, const char *after) {
    int fd = open(path, O_WRONLY | O_TRUNC);
    size_t first = strlen(before), second = strlen(after);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, before, first), first);
    assert_int_equal(ftruncate(fd, (off_t)(first + nuls)), 0);
    assert_int_equal(pwrite(fd, after, second, (off_t)(first + nuls)), second);
    close(fd);
}

static void holes_are_passed_by_with_the_half_line_before_them_wherever_they_lie(void **state) {
    (void)state;
    static const size_t sizes[] = { 512, 65536 - 2, 65536, 65536 * 3 + 17, 5 << 20 };
    static const size_t lengths[] = { 100, GALE_LINE_MAX };
    char wanted[100];
    for (size_t i = 0; i < 10; i++) {
        size_t size = sizes[i % 5];
        gx_file_reader reader;
        rule.longest = lengths[i / 5];
        write_holed("a\n", size, "b\nc\n");
        open_reader(&reader);
        expect_line(&reader, "a", 1);
        expect_line(&reader, "b", 1);
        assert_int_equal(gx_file_reader_last_at(&reader), 2 + size);
        expect_line(&reader, "c", 1);
        assert_int_equal(reader.number, 3);
        expect_end(&reader);
        gx_file_reader_close(&reader);
        assert_non_null(strstr(gx_buf_text(&told), "hole before 2 at 2 of "));
        gx_buf_reset(&told);
        write_holed("a\nhalf", size, "b\n");
        open_reader(&reader);
        expect_line(&reader, "a", 1);
        expect_line(&reader, "b", 1);
        expect_end(&reader);
        gx_file_reader_close(&reader);
        snprintf(wanted, sizeof wanted, "hole before 2 at 2 of ");
        assert_non_null(strstr(gx_buf_text(&told), wanted));
        gx_buf_reset(&told);
    }
}

static void fewer_nuls_are_text_but_behind_a_cut(void **state) {
    (void)state;
    gx_file_reader reader;
    gale_str line;
    for (int cut = 0; cut < 2; cut++) {
        write_holed("", 511, "b\n");
        open_reader(&reader);
        reader.in_hole = cut;
        assert_int_equal(gx_file_reader_next(&reader, &line, NULL), 1);
        assert_int_equal(line.size, cut ? 1 : 512);
        expect_told(cut ? "hole before 1 at 0 of 511; " : "");
        gx_file_reader_close(&reader);
    }
    write_file("x\0\0y\n\0\n", 7);
    open_reader(&reader);
    reader.in_hole = true;
    expect_line(&reader, "x\0\0y", 4); /* what begins with text is behind the hole */
    expect_line(&reader, "\0", 1);
    gx_file_reader_close(&reader);
}

/* Files that somebody changes ---------------------------------------------------------------------------------------- */

static char *make_lines(char letter, size_t count, size_t *ret_size) {
    char *text = malloc(count * 12 + 1);
    *ret_size = 0;
    for (size_t i = 0; i < count; i++) *ret_size += (size_t)sprintf(text + *ret_size, "%c %09zu\n", letter, i);
    return text;
}

/* Reads `lines` lines of a file, then `change` is done to it: the next ones that were not read already end with a refusal. */
static void expect_noticed(size_t lines, void (*change)(size_t size), const char *says) {
    size_t size, count = 0;
    char *text = make_lines('a', 40000, &size);
    gx_file_reader reader;
    gale_str line;
    gale_error error = GALE_ERROR_INIT;
    write_file(text, size);
    open_reader(&reader);
    while (count < lines && gx_file_reader_next(&reader, &line, NULL) == 1) count++;
    change(size);
    int rc;
    while ((rc = gx_file_reader_next(&reader, &line, &error)) == 1) {
        assert_int_equal(line.size, 11);
        assert_int_equal(line.data[0], 'a'); /* it was read before */
    }
    assert_int_equal(rc, GALE_DAMAGED);
    assert_non_null(strstr(error.text, says));
    gx_file_reader_close(&reader);
    free(text);
}

static void cut_it(size_t size) {
    (void)size;
    assert_int_equal(truncate(path, 1000), 0);
}

static void write_again(size_t size) {
    char *text = make_lines('b', 60000, &size);
    write_file(text, size);
    free(text);
}

static void replace_in_place(size_t size) {
    char *text = make_lines('b', 40000, &size);
    write_file(text, size);
    free(text);
}

static void punch(size_t size) {
    (void)size;
    char nuls[GX_FILE_GUARD] = { 0 };
    int fd = open(path, O_WRONLY);
    assert_int_equal(pwrite(fd, nuls, sizeof nuls, 0), sizeof nuls);
    close(fd);
}

static void a_file_that_is_cut_or_changed_while_it_is_read_is_refused_without_half_a_line(void **state) {
    (void)state;
    static const size_t lines[] = { 1, 100, 7000, 20000, 40000 };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        expect_noticed(lines[i], cut_it, "was cut to 1000 bytes while it was read");
        expect_noticed(lines[i], write_again, "was changed before byte");
        expect_noticed(lines[i], replace_in_place, "was changed before byte");
        expect_noticed(lines[i], punch, "was changed before byte");
    }
}

static void what_is_appended_to_a_file_is_no_change(void **state) {
    (void)state;
    char text[3000], line[40];
    size_t size = 0;
    gx_file_reader reader;
    write_file("", 0);
    open_reader(&reader);
    reader.growing = true;
    for (int i = 0; i < 200; i++) {
        int more = snprintf(line, sizeof line, "%0*d", 1 + i % 13, i);
        memcpy(text + size, line, (size_t)more);
        text[size + (size_t)more] = '\n';
        size += (size_t)more + 1;
        write_file(text, size);
        expect_line(&reader, line, (size_t)more);
        if (i % 50 == 49) gx_file_reader_seek(&reader, (int64_t)size, (uint64_t)i + 1);
    }
    assert_int_equal(gx_file_reader_check(&reader, NULL), 0);
    gx_file_reader_close(&reader);
}

static void what_cannot_be_opened_is_named(void **state) {
    (void)state;
    gx_file_reader reader = { .fd = 77 };
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gx_file_reader_open(&reader, &heap, "/no/such/file", &rule, &error), GALE_IO);
    assert_non_null(strstr(error.text, "/no/such/file"));
    assert_int_equal(gx_file_reader_open(&reader, &heap, "/tmp", &rule, &error), GALE_IO);
    assert_string_equal(error.text, "'/tmp' is a directory");
    assert_int_equal(reader.fd, 77);
}

static void a_pipe_without_bytes_says_again_and_goes_on(void **state) {
    (void)state;
    unlink(path);
    char link[sizeof path + 8];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    snprintf(link, sizeof link, "/proc/self/fd/%d", ends[0]);
    gx_file_reader reader;
    assert_int_equal(gx_file_reader_open(&reader, &heap, link, &rule, NULL), 0);
    gale_str line;
    assert_int_equal(gx_file_reader_next(&reader, &line, NULL), GALE_AGAIN);
    assert_int_equal(write(ends[1], "one\ntw", 6), 6);
    expect_line(&reader, "one", 3);
    assert_int_equal(gx_file_reader_next(&reader, &line, NULL), GALE_AGAIN);
    assert_int_equal(write(ends[1], "o\nthree", 7), 7);
    expect_line(&reader, "two", 3);
    assert_int_equal(gx_file_reader_next(&reader, &line, NULL), GALE_AGAIN);
    close(ends[1]);
    expect_line(&reader, "three", 5);
    expect_end(&reader);
    gx_file_reader_close(&reader);
    close(ends[0]);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(an_empty_file_has_no_lines),
        CASE(line_ends_are_cut_and_nothing_else_is),
        CASE(a_byte_order_mark_is_skipped_once),
        CASE(what_is_packed_has_no_lines),
        CASE(a_line_is_given_back),
        CASE(places_of_lines_are_known_and_gone_to),
        CASE(lines_of_every_length_around_the_buffer_come_whole),
        CASE(lines_that_are_utf8_are_known_wherever_what_was_read_ends),
        CASE(a_character_that_is_cut_off_by_a_newline_or_the_end_spoils_its_own_line_alone),
        CASE(a_line_of_the_greatest_length_comes_whole_and_a_longer_one_is_cut_or_dropped),
        CASE(much_that_is_passed_by_takes_several_calls_and_little_memory),
        CASE(a_text_is_cut_between_characters_and_bytes_are_cut_anywhere),
        CASE(a_long_line_that_grows_is_handed_out_once_with_its_end),
        CASE(holes_are_passed_by_with_the_half_line_before_them_wherever_they_lie),
        CASE(fewer_nuls_are_text_but_behind_a_cut),
        CASE(a_file_that_is_cut_or_changed_while_it_is_read_is_refused_without_half_a_line),
        CASE(what_is_appended_to_a_file_is_no_change),
        CASE(what_cannot_be_opened_is_named),
        CASE(a_pipe_without_bytes_says_again_and_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
