#include "harness/fake_collector.h"

#include "base/random.h"
#include "kit/cut.h"

#include <gale/kit.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct fixture {
    fake_collector fake;
    gale_bolt bolt;
    void *self;
} fixture;

static void begin(fixture *f, gale_split_options options) {
    options.size = sizeof options;
    fake_init(&f->fake);
    assert_int_equal(gale_split_bolt(&options, &f->bolt, NULL), 0);
    assert_int_equal(fake_prepare(&f->fake, &f->bolt, &f->self), 0);
}

static void end(fixture *f) {
    fake_cleanup(&f->bolt, f->self);
    fake_fini(&f->fake);
}

static int execute(fixture *f, gale_value value) {
    fake_forget(&f->fake);
    return f->bolt.ops->execute(f->self, fake_tuple(&f->fake, &value, 1), &f->fake.collector);
}

static void expect(fixture *f, const char *line, const char *emitted) {
    assert_int_equal(execute(f, gale_text(line)), 0);
    assert_string_equal(fake_text(&f->fake.emitted), emitted);
}

static void lines_are_cut_at_every_kind_of_white_space(void **state) {
    (void)state;
    fixture f;
    begin(&f, (gale_split_options){ 0 });
    expect(&f, "", "");
    expect(&f, " \t\n\v\f\r", "");
    expect(&f, "one", "[\"one\"]\n");
    expect(&f, "\ta  B\vc\fd\re\nf ", "[\"a\"]\n[\"B\"]\n[\"c\"]\n[\"d\"]\n[\"e\"]\n[\"f\"]\n");
    expect(&f, "a\xc2\xa0z", "[\"a\xc2\xa0z\"]\n"); /* a no-break blank is none of ASCII's */
    end(&f);
}

static void a_named_field_is_split(void **state) {
    (void)state;
    fixture f;
    begin(&f, (gale_split_options){ .field = "text" });
    fake_source(&f.fake, "source", "id, text");
    const gale_value values[] = { gale_i64(7), gale_text("a b") };
    assert_int_equal(f.bolt.ops->execute(f.self, fake_tuple(&f.fake, values, 2), &f.fake.collector), 0);
    assert_string_equal(fake_text(&f.fake.emitted), "[\"a\"]\n[\"b\"]\n");
    end(&f);
    begin(&f, (gale_split_options){ .field = "id" });
    fake_source(&f.fake, "source", "id, text");
    assert_int_equal(f.bolt.ops->execute(f.self, fake_tuple(&f.fake, values, 2), &f.fake.collector), GALE_TYPE);
    end(&f);
}

static void a_word_that_is_not_utf8_comes_out_as_bytes(void **state) {
    (void)state;
    fixture f;
    begin(&f, (gale_split_options){ 0 });
    assert_int_equal(execute(&f, gale_bytes("ok \xff\xfe \xc3\xa4 a\0b", 12)), 0);
    assert_string_equal(fake_text(&f.fake.emitted),
                        "[\"ok\"]\n[{\"base64\":\"//4=\"}]\n[\"\xc3\xa4\"]\n[\"a\\u0000b\"]\n");
    end(&f);
}

static void white_space_is_what_is_said_to_be_byte_by_byte(void **state) {
    (void)state;
    gx_random random = gx_random_new(5, 1);
    for (int round = 0; round < 20000; round++) {
        uint8_t text[64];
        for (size_t i = 0; i < 64; i++)
            text[i] = (uint8_t)(round < 256 ? (uint32_t)round : gx_random_below(&random, round % 2 ? 256 : 40));
        size_t size = round < 256 ? 64 : gx_random_below(&random, 65);
        uint64_t naive = 0;
        for (size_t i = 0; i < size; i++) naive |= (uint64_t)gx_character_class_is_space(text[i]) << i;
        assert_true(gx_character_class_spaces((const char *)text, size) == naive);
        for (size_t i = 0; i + 8 <= size; i += 8)
            assert_int_equal(gx_character_class_spaces_8(gx_load64(text + i)), naive >> i & 0xff);
    }
}

/* One byte at a time. */
static bool naive_next(gale_str *rest, gale_str *ret_word) {
    while (rest->size && gx_character_class_is_space((unsigned char)rest->data[0])) rest->data++, rest->size--;
    *ret_word = (gale_str){ rest->data, 0 };
    while (rest->size && !gx_character_class_is_space((unsigned char)rest->data[0]))
        rest->data++, rest->size--, ret_word->size++;
    return ret_word->size > 0;
}

/* Words of all lengths, at all places, among bytes that are nearly white, across blocks of 64; in memory of exactly their
 * size, so that a sanitizer sees any step outside. */
static void words_are_those_of_a_walk_byte_by_byte(void **state) {
    (void)state;
    static const char alphabet[] = "abc\x01\x1f\x21\x80\xff\x85\xa0 \t\r\0";
    gx_random random = gx_random_new(5, 1);
    for (int round = 0; round < 40000; round++) {
        uint32_t letters = round % 3 == 0 ? 10 : round % 3 == 1 ? 11 : (uint32_t)sizeof alphabet;
        size_t size = gx_random_below(&random, 300);
        char *text = malloc(size ? size : 1);
        for (size_t i = 0; i < size; i++) text[i] = alphabet[gx_random_below(&random, letters)];
        gx_cut cut = gx_cut_begin((gale_str){ text, size });
        gale_str rest = { text, size }, naive, word;
        while (naive_next(&rest, &naive)) {
            assert_true(gx_cut_next(&cut, &word));
            assert_ptr_equal(word.data, naive.data);
            assert_int_equal(word.size, naive.size);
        }
        assert_false(gx_cut_next(&cut, &word));
        assert_false(gx_cut_next(&cut, &word));
        free(text);
    }
    gx_cut none = gx_cut_begin((gale_str){ NULL, 0 });
    gale_str word;
    assert_false(gx_cut_next(&none, &word));
}

static void words_are_dressed_as_the_options_say(void **state) {
    (void)state;
    fixture f;
    begin(&f, (gale_split_options){
                  .lower_case = true, .letters_only = true, .min_letters = 2, .stop_words = " the AND\tof " });
    expect(&f, "The \"End\" (of) and AND -- x 12 \xc3\xa4\xc3\xb6! a1b",
           "[\"end\"]\n[\"\xc3\xa4\xc3\xb6\"]\n[\"a1b\"]\n");
    expect(&f, "\xe2\x80\x9cquoted\xe2\x80\x9d \xe2\x80\x94 \xe2\x80\xa2 \xf0\x9f\x99\x82 \xe8\xaa\x9e\xe8\xaa\x9e",
           "[\"quoted\"]\n[\"\xe8\xaa\x9e\xe8\xaa\x9e\"]\n");
    assert_int_equal(execute(&f, gale_bytes("!\xff\xfeX!", 5)), 0);
    assert_string_equal(fake_text(&f.fake.emitted), "[{\"base64\":\"//54\"}]\n");
    end(&f);
}

static void min_letters_counts_characters_not_bytes(void **state) {
    (void)state;
    fixture f;
    begin(&f, (gale_split_options){ .min_letters = 3 });
    expect(&f, "ab abc \xc3\xa4\xc3\xb6 \xc3\xa4\xc3\xb6\xc3\xbc", "[\"abc\"]\n[\"\xc3\xa4\xc3\xb6\xc3\xbc\"]\n");
    end(&f);
}

static void what_is_no_text_fails_with_component_field_and_type(void **state) {
    (void)state;
    fixture f;
    begin(&f, (gale_split_options){ 0 });
    fake_source(&f.fake, "lines", "line, number");
    assert_int_equal(execute(&f, gale_i64(5)), GALE_TYPE);
    assert_string_equal(fake_text(&f.fake.reports),
                        "split: field 'line' (value 0) of component 'lines' must be string or bytes, is i64 5\n");
    fake_forget(&f.fake);
    assert_int_equal(f.bolt.ops->execute(f.self, fake_tuple(&f.fake, NULL, 0), &f.fake.collector), GALE_FIELDS);
    assert_string_equal(fake_text(&f.fake.reports),
                        "split: a tuple of component 'lines', stream 'default', has 0 values, at least 1 needed\n");
    end(&f);
}

static void a_tick_is_no_line(void **state) {
    (void)state;
    fixture f;
    begin(&f, (gale_split_options){ 0 });
    assert_int_equal(f.bolt.ops->execute(f.self, fake_tick(&f.fake, 1), &f.fake.collector), 0);
    assert_int_equal(f.fake.emissions, 0);
    end(&f);
}

static void a_failing_emit_fails_the_line(void **state) {
    (void)state;
    fixture f;
    begin(&f, (gale_split_options){ 0 });
    f.fake.emit_error = GALE_NO_MEMORY;
    f.fake.emits_before = 1;
    assert_int_equal(execute(&f, gale_text("a b c")), GALE_NO_MEMORY);
    end(&f);
}

static void every_failing_allocation_is_survived(void **state) {
    (void)state;
    gale_split_options options = { .size = sizeof options, .lower_case = true, .stop_words = "a b c" };
    for (uint64_t n = 1; n < 12; n++) {
        fixture f;
        fake_init(&f.fake);
        assert_int_equal(gale_split_bolt(&options, &f.bolt, NULL), 0);
        f.fake.fail_at = n;
        int rc = fake_prepare(&f.fake, &f.bolt, &f.self);
        assert_true(rc == 0 || rc == GALE_NO_MEMORY);
        if (rc == 0) {
            rc = execute(&f, gale_text("A LONGER WORD THAN BEFORE"));
            assert_true(rc == 0 || rc == GALE_NO_MEMORY);
        }
        end(&f);
    }
}

static void options_of_no_size_are_refused(void **state) {
    (void)state;
    gale_split_options options = { 0 };
    gale_bolt bolt = { 0 };
    assert_int_equal(gale_split_bolt(&options, &bolt, NULL), GALE_INVALID);
    assert_null(bolt.ops);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_cut_at_every_kind_of_white_space),
        cmocka_unit_test(a_named_field_is_split),
        cmocka_unit_test(a_word_that_is_not_utf8_comes_out_as_bytes),
        cmocka_unit_test(white_space_is_what_is_said_to_be_byte_by_byte),
        cmocka_unit_test(words_are_those_of_a_walk_byte_by_byte),
        cmocka_unit_test(words_are_dressed_as_the_options_say),
        cmocka_unit_test(min_letters_counts_characters_not_bytes),
        cmocka_unit_test(what_is_no_text_fails_with_component_field_and_type),
        cmocka_unit_test(a_tick_is_no_line),
        cmocka_unit_test(a_failing_emit_fails_the_line),
        cmocka_unit_test(every_failing_allocation_is_survived),
        cmocka_unit_test(options_of_no_size_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
