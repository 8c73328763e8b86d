#include "base/encoding.h"

#include "harness/cm.h"

#include <gale/error.h>

#define BYTES(text) ((gale_str){ (text), sizeof(text) - 1 })

static const struct {
    gale_str head;
    const char *name, *message;
} foreign[] = {
    { BYTES("\x1f\x8b\x08\x00"), "gzip data", "f: this is gzip data: unpack it first" },
    { BYTES("\x28\xb5\x2f\xfd\x24"), "zstd data", "f: this is zstd data: unpack it first" },
    { BYTES("\xfd"
            "7zXZ\0\0"),
      "xz data", "f: this is xz data: unpack it first" },
    { BYTES("BZh91AY&SY"), "bzip2 data", "f: this is bzip2 data: unpack it first" },
    { BYTES("BZh1\x17\x72\x45\x38\x50\x90"), "bzip2 data", "f: this is bzip2 data: unpack it first" },
    { BYTES("PK\x03\x04"), "a zip archive", "f: this is a zip archive: unpack it first" },
    { BYTES("PK\x05\x06"), "a zip archive", "f: this is a zip archive: unpack it first" },
    { BYTES("\x04\x22\x4d\x18"), "lz4 data", "f: this is lz4 data: unpack it first" },
    { BYTES("\xff\x06\0\0sNaPpY"), "snappy data", "f: this is snappy data: unpack it first" },
    { BYTES("\xff\xfe"
            "a\0"),
      "UTF-16 text", "f: this is UTF-16 text: convert it to UTF-8 first" },
    { BYTES("\xfe\xff\0a"), "UTF-16 text", "f: this is UTF-16 text: convert it to UTF-8 first" },
    { BYTES("\xff\xfe\0\0"), "UTF-32 text", "f: this is UTF-32 text: convert it to UTF-8 first" },
    { BYTES("\0\0\xfe\xff"), "UTF-32 text", "f: this is UTF-32 text: convert it to UTF-8 first" },
};

static void bytes_of_another_encoding_are_refused_by_name(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        gale_error error = GALE_ERROR_INIT;
        gale_str bytes = foreign[i].head;
        assert_string_equal(gx_encoding_foreign(bytes), foreign[i].name);
        assert_int_equal(gx_encoding_read("f", &bytes, &error), GALE_SYNTAX);
        assert_string_equal(error.text, foreign[i].message);
        assert_ptr_equal(bytes.data, foreign[i].head.data);
    }
}

static void text_that_begins_as_half_of_them_is_text(void **state) {
    (void)state;
    static const gale_str texts[] = { BYTES(""),           BYTES("\x1f"), BYTES("(b"),      BYTES("BZh9 is a name"),
                                      BYTES("BZh01AY&SY"), BYTES("PK"),   BYTES("PK\x03"),  BYTES("\xff"),
                                      BYTES("\xef\xbb"),   BYTES("a"),    BYTES("\0\0\xfe") };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        gale_str text = texts[i];
        assert_null(gx_encoding_foreign(text));
        assert_int_equal(gx_encoding_read("f", &text, NULL), GALE_OK);
        assert_true(gx_str_equal(text, texts[i]));
    }
}

static void one_byte_order_mark_is_skipped(void **state) {
    (void)state;
    assert_true(gx_str_is(gx_encoding_text(BYTES("\xef\xbb\xbf"
                                                 "a")),
                          "a"));
    assert_true(gx_str_is(gx_encoding_text(BYTES("\xef\xbb\xbf\xef\xbb\xbf")), "\xef\xbb\xbf"));
    assert_true(gx_str_is(gx_encoding_text(BYTES("\xef\xbb\xbf")), ""));
    gale_str text = BYTES("\xef\xbb\xbf"
                          "x=1");
    assert_int_equal(gx_encoding_read("f", &text, NULL), GALE_OK);
    assert_true(gx_str_is(text, "x=1"));
}

static void one_end_of_a_line_is_dropped(void **state) {
    (void)state;
    static const char *const lines[][2] = { { "a\n", "a" },     { "a\r\n", "a" },   { "a\r", "a" },    { "a", "a" },
                                            { "a\n\n", "a\n" }, { "\n", "" },       { "\r\n", "" },    { "\r", "" },
                                            { "", "" },         { "a\n\r", "a\n" }, { "a\nb", "a\nb" } };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_true(gx_str_is(gx_encoding_line(gx_str(lines[i][0])), lines[i][1]));
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(bytes_of_another_encoding_are_refused_by_name),
                                        cmocka_unit_test(text_that_begins_as_half_of_them_is_text),
                                        cmocka_unit_test(one_byte_order_mark_is_skipped),
                                        cmocka_unit_test(one_end_of_a_line_is_dropped) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
