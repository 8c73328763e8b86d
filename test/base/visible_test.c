#include "base/visible.h"

#include "base/str.h"
#include "base/utf8.h"
#include "harness/cm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect(gale_str text, const char *kept, const char *expected) {
    gx_buf out = GX_BUF_INIT(NULL);
    gx_visible_add(&out, text, kept);
    assert_string_equal(gx_buf_text(&out), expected);
    gx_buf_fini(&out);
}

/* UTF-8 of any number, surrogates included. */
static size_t encode(uint32_t n, char to[5]) {
    if (n < 0x80) return to[0] = (char)n, 1;
    if (n < 0x800) return (size_t)sprintf(to, "%c%c", (int)(0xc0 | n >> 6), (int)(0x80 | (n & 63)));
    if (n < 0x10000)
        return (size_t)sprintf(to, "%c%c%c", (int)(0xe0 | n >> 12), (int)(0x80 | (n >> 6 & 63)),
                               (int)(0x80 | (n & 63)));
    return (size_t)sprintf(to, "%c%c%c%c", (int)(0xf0 | n >> 18), (int)(0x80 | (n >> 12 & 63)),
                           (int)(0x80 | (n >> 6 & 63)), (int)(0x80 | (n & 63)));
}

static bool steers(uint32_t n) {
    bool control = n < 0x20 || (n >= 0x7f && n <= 0x9f);
    bool turns = (n >= 0x202a && n <= 0x202e) || (n >= 0x2066 && n <= 0x2069);
    return control || turns || n == 0x2028 || n == 0x2029;
}

static void of_all_characters_those_that_steer_are_written_out(void **state) {
    (void)state;
    char text[5], escape[8];
    for (uint32_t n = 0; n < 0x110000; n++) {
        if (n >= 0xd800 && n < 0xe000) continue;
        size_t size = encode(n, text);
        bool shows;
        assert_int_equal(gx_visible_step(text, size, &shows), size);
        if (shows == steers(n)) fail_msg("U+%04X", n);
        snprintf(escape, sizeof escape, "\\u%04x", n & 0xffff);
        if (!shows) expect((gale_str){ text, size }, "", escape);
    }
}

static void what_reads_well_stays(void **state) {
    (void)state;
    expect(gx_str("a\\b \"caf\u00e9\" \u65e5\u672c \U0001f32a"), "", "a\\b \"caf\u00e9\" \u65e5\u672c \U0001f32a");
    expect((gale_str){ NULL, 0 }, "", "");
}

static void only_what_is_kept_stays(void **state) {
    (void)state;
    expect(gx_str("a\n\tb\r"), "\n\t", "a\n\tb\\u000d");
    expect(gx_str("a\n\tb"), "\n", "a\n\\u0009b");
    expect(gx_str("a\n"), "", "a\\u000a");
    expect((gale_str){ "a\0b", 3 }, "\n", "a\\u0000b");
}

static void bytes_that_are_no_characters_are_written_out_one_by_one(void **state) {
    (void)state;
    expect(gx_str("caf\xe9"), "", "caf\\xe9");
    expect(gx_str("\x9b"
                  "2J"),
           "", "\\x9b2J");
    expect(gx_str("\xe2\x82"), "", "\\xe2\\x82");
    expect(gx_str("\xe2\x82z"), "", "\\xe2\\x82z");
    expect(gx_str("\xed\xa0\x80\xff"), "", "\\xed\\xa0\\x80\\xff");
}

/* Whatever comes in, what comes out is UTF-8 without anything that steers. */
static void nothing_that_steers_comes_out_of_any_three_bytes(void **state) {
    (void)state;
    static const unsigned char bytes[] = { 0x00, 0x1b, 0x41, 0x7f, 0x80, 0x81, 0x9b, 0xa6, 0xae,
                                           0xbf, 0xc2, 0xdb, 0xe0, 0xe2, 0xed, 0xef, 0xf0, 0xff };
    enum { N = sizeof bytes };
    for (unsigned i = 0; i < N * N * N; i++) {
        char text[3] = { (char)bytes[i % N], (char)bytes[i / N % N], (char)bytes[i / N / N] };
        gx_buf out = GX_BUF_INIT(NULL);
        gx_visible_add(&out, (gale_str){ text, 3 }, "");
        assert_true(gx_utf8_valid(out.data, out.size));
        for (size_t at = 0, step; at < out.size; at += step) {
            bool shows;
            step = gx_visible_step(out.data + at, out.size - at, &shows);
            assert_true(shows);
        }
        gx_buf_fini(&out);
    }
}

static void wide_characters_take_two_columns(void **state) {
    (void)state;
    static const char *const one[] = { "a", "\u00e9", "\u2588", "\u20ac", "\u0301", "\xff", "\ua4d0" };
    static const char *const two[] = { "\u65e5", "\uac00", "\uff21", "\u3042", "\U0001f32a", "\U00020000", "\u1100" };
    for (size_t i = 0; i < sizeof one / sizeof *one; i++)
        assert_int_equal(gx_visible_columns(one[i], strlen(one[i])), 1);
    for (size_t i = 0; i < sizeof two / sizeof *two; i++)
        assert_int_equal(gx_visible_columns(two[i], strlen(two[i])), 2);
}

static void a_copy_is_cut_between_what_it_shows(void **state) {
    (void)state;
    char out[8];
    assert_string_equal(gx_visible_copy(out, sizeof out, "abcdefgh"), "abcdefg");
    assert_string_equal(gx_visible_copy(out, sizeof out,
                                        "a\x1b"
                                        "b"),
                        "a\\u001b");
    assert_string_equal(gx_visible_copy(out, sizeof out, "ab\x1b"), "ab");
    assert_string_equal(gx_visible_copy(out, sizeof out, "abcde\u65e5"), "abcde");
    assert_string_equal(gx_visible_copy(out, 1, "a"), "");
    assert_string_equal(gx_visible_copy(out, sizeof out, NULL), "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_all_characters_those_that_steer_are_written_out),
        cmocka_unit_test(what_reads_well_stays),
        cmocka_unit_test(only_what_is_kept_stays),
        cmocka_unit_test(bytes_that_are_no_characters_are_written_out_one_by_one),
        cmocka_unit_test(nothing_that_steers_comes_out_of_any_three_bytes),
        cmocka_unit_test(wide_characters_take_two_columns),
        cmocka_unit_test(a_copy_is_cut_between_what_it_shows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
