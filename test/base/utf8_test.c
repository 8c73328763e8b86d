#include "base/utf8.h"

#include "harness/cm.h"

#include <stdlib.h>
#include <string.h>

/* The definition, slowly: decode, then check the number and that it was not written longer than needed. */
static bool valid_by_definition(const unsigned char *text, size_t size) {
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    for (size_t at = 0; at < size;) {
        unsigned char c = text[at];
        size_t n = c < 0x80 ? 1 : (c & 0xe0) == 0xc0 ? 2 : (c & 0xf0) == 0xe0 ? 3 : (c & 0xf8) == 0xf0 ? 4 : 0;
        if (n == 0 || size - at < n) return false;
        uint32_t number = n == 1 ? c : c & (0x7fu >> n);
        for (size_t i = 1; i < n; i++) {
            if ((text[at + i] & 0xc0) != 0x80) return false;
            number = number << 6 | (text[at + i] & 0x3f);
        }
        if (number < least[n] || number > 0x10ffff || (number >= 0xd800 && number <= 0xdfff)) return false;
        at += n;
    }
    return true;
}

static void nothing_is_valid(void **state) {
    (void)state;
    assert_true(gx_utf8_valid(NULL, 0));
    assert_true(gx_utf8_valid("", 0));
    assert_true(gx_utf8_valid("\0", 1));
}

static void all_sequences_of_one_to_three_bytes_are_judged_as_defined(void **state) {
    (void)state;
    for (uint32_t n = 0; n < 1u << 24; n++) {
        unsigned char text[3] = { (unsigned char)(n >> 16), (unsigned char)(n >> 8), (unsigned char)n };
        size_t size = n < 1u << 8 ? 1 : n < 1u << 16 ? 2 : 3;
        if (gx_utf8_valid((char *)text + 3 - size, size) != valid_by_definition(text + 3 - size, size))
            fail_msg("%06x", n);
    }
}

static void four_byte_sequences_at_every_border_are_judged_as_defined(void **state) {
    (void)state;
    static const unsigned char borders[] = { 0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff };
    enum { N = sizeof borders };
    for (unsigned lead = 0xe0; lead <= 0xff; lead++) {
        for (unsigned i = 0; i < N * N * N; i++) {
            unsigned char text[4] = { (unsigned char)lead, borders[i % N], borders[i / N % N], borders[i / N / N] };
            assert_int_equal(gx_utf8_valid((char *)text, 4), valid_by_definition(text, 4));
        }
    }
}

/* Every text of letters and characters of two to four bytes, cut off or spoilt at every place. */
static void the_valid_part_ends_where_a_character_is_malformed_or_cut_off(void **state) {
    (void)state;
    static const char *const characters[] = { "a", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x8c\x80", "abcdefgh" };
    for (size_t ascii = 0; ascii < 80; ascii++)
        for (size_t c = 0; c < 5; c++) {
            char text[100];
            size_t size = strlen(characters[c]);
            memset(text, 'x', sizeof text);
            memcpy(text + ascii, characters[c], size);
            assert_int_equal(gx_utf8_prefix(text, ascii + size), ascii + size);
            for (size_t cut = 1; cut < size && c < 4; cut++) assert_int_equal(gx_utf8_prefix(text, ascii + cut), ascii);
            text[ascii + size] = (char)0xff;
            assert_int_equal(gx_utf8_prefix(text, sizeof text), ascii + size);
        }
    assert_int_equal(gx_utf8_prefix(NULL, 0), 0);
}

static void a_bad_byte_is_found_at_every_place_of_a_long_text(void **state) {
    (void)state;
    char text[70];
    for (size_t size = 1; size <= sizeof text; size++) {
        memset(text, 'a', size);
        assert_true(gx_utf8_valid(text, size));
        for (size_t at = 0; at < size; at++) {
            text[at] = (char)0xff;
            assert_false(gx_utf8_valid(text, size));
            text[at] = 'a';
        }
    }
}

static void a_character_cut_at_the_end_is_refused_without_reading_on(void **state) {
    (void)state;
    static const char whole[] = "aaaaaaaaa\xf0\x9f\x8c\xaa";
    for (size_t size = 10; size <= 13; size++) {
        char *exact = malloc(size); /* the address sanitizer sees a byte too many */
        assert_non_null(exact);
        memcpy(exact, whole, size);
        assert_int_equal(gx_utf8_valid(exact, size), size == 13);
        free(exact);
    }
}

static void a_copy_is_cut_between_characters(void **state) {
    (void)state;
    char out[6];
    gx_utf8_copy(out, sizeof out, "abcdef");
    assert_string_equal(out, "abcde");
    gx_utf8_copy(out, sizeof out, "abc\u65e5d"); /* three bytes from the fourth on */
    assert_string_equal(out, "abc");
    gx_utf8_copy(out, sizeof out, NULL);
    assert_string_equal(out, "");
    gx_utf8_copy(out, sizeof out, "ab");
    assert_string_equal(out, "ab");
}

static void every_character_is_written_as_it_is_read(void **state) {
    (void)state;
    char text[4];
    for (uint32_t code = 0; code <= 0x10ffff; code++) {
        if (code >= 0xd800 && code < 0xe000) continue;
        size_t size = gx_utf8_put(text, code);
        assert_int_equal(gx_utf8_step(text, size), size);
        uint32_t read = (unsigned char)text[0] & (size == 1 ? 0x7f : 0x7f >> size);
        for (size_t i = 1; i < size; i++) read = read << 6 | ((unsigned char)text[i] & 0x3f);
        assert_int_equal(read, code);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_is_cut_between_characters),
        cmocka_unit_test(nothing_is_valid),
        cmocka_unit_test(all_sequences_of_one_to_three_bytes_are_judged_as_defined),
        cmocka_unit_test(four_byte_sequences_at_every_border_are_judged_as_defined),
        cmocka_unit_test(the_valid_part_ends_where_a_character_is_malformed_or_cut_off),
        cmocka_unit_test(a_bad_byte_is_found_at_every_place_of_a_long_text),
        cmocka_unit_test(a_character_cut_at_the_end_is_refused_without_reading_on),
        cmocka_unit_test(every_character_is_written_as_it_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
