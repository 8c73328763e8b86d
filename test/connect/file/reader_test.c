#include "connect/file/reader.h"

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

static int setup(void **state) {
    (void)state;
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
    assert_int_equal(gx_file_reader_open(reader, &heap, path, NULL), 0);
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

/* Lines 1 and 2 short, then NULs of a sparse file, `size` long, then `end`. */
static void write_sparse(size_t size, const char *end) {
    int fd = open(path, O_WRONLY | O_TRUNC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "a\nb\n", 4), 4);
    size_t end_size = strlen(end);
    assert_int_equal(ftruncate(fd, (off_t)(4 + size)), 0);
    if (end_size) assert_int_equal(pwrite(fd, end, end_size, (off_t)(4 + size)), end_size);
    close(fd);
}

static void expect_sparse(size_t size, const char *end, int wanted) {
    write_sparse(size, end);
    gx_file_reader reader;
    open_reader(&reader);
    expect_line(&reader, "a", 1);
    expect_line(&reader, "b", 1);
    gale_str line;
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gx_file_reader_next(&reader, &line, &error), wanted);
    if (wanted > 0) {
        assert_int_equal(line.size, size);
    } else {
        char text[100];
        snprintf(text, sizeof text, "%s:3: line is longer than 64 MiB", path);
        assert_string_equal(error.text, text);
        assert_int_equal(gx_file_reader_next(&reader, &line, NULL), wanted); /* it stays so */
    }
    gx_file_reader_close(&reader);
}

static void the_longest_line_comes_and_a_longer_one_is_refused_with_its_number(void **state) {
    (void)state;
    expect_sparse(10 << 20, "\nx", 1);
    expect_sparse(GALE_LINE_MAX, "", 1);
    expect_sparse(GALE_LINE_MAX, "\n", 1);
    expect_sparse(GALE_LINE_MAX, "\r\n", 1);
    expect_sparse(GALE_LINE_MAX + 1, "", GALE_TOO_LARGE);
    expect_sparse(GALE_LINE_MAX + 1, "\n", GALE_TOO_LARGE);
    expect_sparse(GALE_LINE_MAX + 1, "\r\n", GALE_TOO_LARGE);
    expect_sparse(GALE_LINE_MAX * 2, "\n", GALE_TOO_LARGE);
}

static void what_cannot_be_opened_is_named(void **state) {
    (void)state;
    gx_file_reader reader = { .fd = 77 };
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gx_file_reader_open(&reader, &heap, "/no/such/file", &error), GALE_IO);
    assert_non_null(strstr(error.text, "/no/such/file"));
    assert_int_equal(gx_file_reader_open(&reader, &heap, "/tmp", &error), GALE_IO);
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
    assert_int_equal(gx_file_reader_open(&reader, &heap, link, NULL), 0);
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
        CASE(the_longest_line_comes_and_a_longer_one_is_refused_with_its_number),
        CASE(what_cannot_be_opened_is_named),
        CASE(a_pipe_without_bytes_says_again_and_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
