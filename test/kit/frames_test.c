#include "harness/fake_collector.h"
#include "kit/frames.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { MAX = 16 };

typedef struct fixture {
    fake_collector fake;
    gx_heap heap;
    gx_frames_rule rule;
    gx_frames frames;
    gx_buf out; /* each record in brackets; one that is not whole has a star */
} fixture;

static int setup(void **state) {
    fixture *f = test_calloc(1, sizeof *f);
    fake_init(&f->fake);
    gx_heap_init(&f->heap, &f->fake.allocator);
    gx_frames_init(&f->frames, &f->heap, &f->rule);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    gx_frames_fini(&f->frames);
    assert_int_equal(gx_heap_reserved(&f->heap), 0);
    gx_buf_fini(&f->out);
    fake_fini(&f->fake);
    test_free(f);
    return 0;
}

static void use(fixture *f, gx_frames_kind kind, bool drops) {
    f->rule = (gx_frames_rule){ .kind = kind, .drops = drops, .max = MAX };
    gx_frames_fini(&f->frames);
    gx_frames_init(&f->frames, &f->heap, &f->rule);
    gx_buf_reset(&f->out);
}

static void note(fixture *f, gx_frame frame) {
    gx_buf_add_byte(&f->out, '[');
    gx_buf_add(&f->out, frame.bytes.data, frame.bytes.size);
    gx_buf_add_text(&f->out, frame.whole ? "]" : "*]");
}

static int take(fixture *f, const char *bytes, size_t size) {
    gale_str piece = { bytes, size };
    gx_frame frame;
    int rc;
    while ((rc = gx_frames_next(&f->frames, &piece, &frame)) > 0) note(f, frame);
    return rc;
}

static void end(fixture *f, gx_frames_ending ending) {
    gx_frame frame;
    if (gx_frames_end(&f->frames, ending, &frame)) note(f, frame);
}

/* What comes of a stream, in pieces of `step` bytes. */
static const char *cut(fixture *f, gx_frames_kind kind, bool drops, gale_str stream, size_t step,
                       gx_frames_ending ending) {
    use(f, kind, drops);
    for (size_t at = 0; at < stream.size; at += step)
        assert_int_equal(take(f, stream.data + at, stream.size - at < step ? stream.size - at : step), 0);
    end(f, ending);
    return gx_buf_text(&f->out);
}

/* The same however it is cut to pieces. */
static void expect(fixture *f, gx_frames_kind kind, bool drops, gale_str stream, const char *records) {
    for (size_t step = 1; step <= stream.size + 1; step++)
        assert_string_equal(cut(f, kind, drops, stream, step, GX_FRAMES_CLOSED), records);
    assert_int_equal(f->frames.cut_off, 0);
}

/* The same of a stream whose end cuts a record off; nothing of that is kept. */
static void expect_cut_off(fixture *f, gx_frames_kind kind, gx_frames_ending ending, gale_str stream,
                           const char *records) {
    for (size_t step = 1; step <= stream.size + 1; step++) {
        assert_string_equal(cut(f, kind, false, stream, step, ending), records);
        assert_int_equal(f->frames.cut_off, 1);
        assert_int_equal(gx_frames_held(&f->frames), 0);
    }
}

#define STREAM(text) ((gale_str){ (text), sizeof(text) - 1 })

static void nothing_gives_nothing(void **state) {
    fixture *f = *state;
    for (int kind = GX_FRAMES_LINES; kind <= GX_FRAMES_SYSLOG; kind++) expect(f, kind, false, STREAM(""), "");
}

static void lines_end_with_a_newline_or_with_a_return_and_a_newline(void **state) {
    fixture *f = *state;
    expect(f, GX_FRAMES_LINES, false, STREAM("a\nbc\r\n\n\r\nd\re\n"), "[a][bc][][][d\re]");
}

static void the_last_line_may_lack_its_end(void **state) {
    fixture *f = *state;
    expect(f, GX_FRAMES_LINES, false, STREAM("a\nbc"), "[a][bc]");
    expect(f, GX_FRAMES_LINES, false, STREAM("a\r"), "[a]");
}

static void a_byte_order_mark_at_the_beginning_is_skipped(void **state) {
    fixture *f = *state;
    expect(f, GX_FRAMES_LINES, false,
           STREAM("\xef\xbb\xbf"
                  "a\n\xef\xbb\xbf"
                  "b\n"),
           "[a][\xef\xbb\xbf"
           "b]");
    expect(f, GX_FRAMES_LINES, false,
           STREAM("\xef\xbb\xbf"
                  "a"),
           "[a]");
    expect(f, GX_FRAMES_SYSLOG, false,
           STREAM("\xef\xbb\xbf"
                  "<13>a\n"),
           "[<13>a]");
    expect(f, GX_FRAMES_NUL, false,
           STREAM("\xef\xbb\xbf"
                  "a\0"),
           "[\xef\xbb\xbf"
           "a]");
}

static void a_stream_that_is_packed_has_no_records(void **state) {
    fixture *f = *state;
    static const char packed[] = "\x1f\x8b\x08\n\n";
    for (size_t cut_at = 1; cut_at < sizeof packed; cut_at++) {
        use(f, GX_FRAMES_LINES, false);
        int rc = take(f, packed, cut_at);
        if (rc == 0) rc = take(f, packed + cut_at, sizeof packed - 1 - cut_at);
        assert_int_equal(rc, GALE_UNSUPPORTED);
        assert_string_equal(f->frames.foreign, "gzip data");
        end(f, GX_FRAMES_BROKEN);
        assert_string_equal(gx_buf_text(&f->out), "");
    }
    use(f, GX_FRAMES_LINES, false);
    assert_int_equal(take(f, packed, 3), 0);
    end(f, GX_FRAMES_CLOSED);
    assert_string_equal(f->frames.foreign, "gzip data");
    assert_string_equal(gx_buf_text(&f->out), "");
}

static void a_nul_ends_a_record_that_has_newlines_in_it(void **state) {
    fixture *f = *state;
    expect(f, GX_FRAMES_NUL, false, STREAM("a\nb\0\0c\r\0"), "[a\nb][][c\r]");
}

static void what_is_counted_may_have_anything_in_it(void **state) {
    fixture *f = *state;
    expect(f, GX_FRAMES_OCTETS, false, STREAM("1 a4 b\nc\n10 0123456789"), "[a][b\nc\n][0123456789]");
}

static void what_the_end_cuts_off_is_no_record(void **state) {
    fixture *f = *state;
    for (gx_frames_ending ending = GX_FRAMES_BROKEN; ending <= GX_FRAMES_CLOSED; ending++) {
        expect_cut_off(f, GX_FRAMES_OCTETS, ending, STREAM("1 a4 bc"), "[a]");
        expect_cut_off(f, GX_FRAMES_OCTETS, ending, STREAM("1 a4 "), "[a]");
        expect_cut_off(f, GX_FRAMES_OCTETS, ending, STREAM("1 a44"), "[a]");
        expect_cut_off(f, GX_FRAMES_SYSLOG, ending, STREAM("20 <13>abc\n"), "");
        expect_cut_off(f, GX_FRAMES_SYSLOG, ending, STREAM("a\n4 <"), "[a]");
        expect_cut_off(f, GX_FRAMES_NUL, ending, STREAM("a\0b"), "[a]");
    }
}

static void a_last_line_is_one_only_where_the_end_is_in_order(void **state) {
    fixture *f = *state;
    expect(f, GX_FRAMES_LINES, false, STREAM("a\nbc"), "[a][bc]");
    expect_cut_off(f, GX_FRAMES_LINES, GX_FRAMES_BROKEN, STREAM("a\nbc"), "[a]");
    expect_cut_off(f, GX_FRAMES_LINES, GX_FRAMES_BROKEN, STREAM("a\n0123456789abcdef\r"), "[a]");
    expect_cut_off(f, GX_FRAMES_SYSLOG, GX_FRAMES_BROKEN, STREAM("<1>a\n<1>b"), "[<1>a]");
    expect_cut_off(f, GX_FRAMES_SYSLOG, GX_FRAMES_BROKEN, STREAM("a\n12"), "[a]");
    expect_cut_off(f, GX_FRAMES_SYSLOG, GX_FRAMES_BROKEN, STREAM("a\n12 "), "[a]");
}

static void of_all_that_there_was_the_last_record_is_one(void **state) {
    fixture *f = *state;
    assert_string_equal(cut(f, GX_FRAMES_NUL, false, STREAM("a\0b"), 1, GX_FRAMES_WHOLE), "[a][b]");
    assert_string_equal(cut(f, GX_FRAMES_LINES, false, STREAM("a\nb"), 1, GX_FRAMES_WHOLE), "[a][b]");
    assert_int_equal(f->frames.cut_off, 0);
    expect_cut_off(f, GX_FRAMES_OCTETS, GX_FRAMES_WHOLE, STREAM("1 a2 b"), "[a]");
}

static void an_end_between_two_records_cuts_nothing_off(void **state) {
    fixture *f = *state;
    static const struct {
        gx_frames_kind kind;
        gale_str stream;
    } cases[] = { { GX_FRAMES_LINES, STREAM("a\nb\n") },
                  { GX_FRAMES_LINES, STREAM("0123456789abcdefgh") }, /* cut already */
                  { GX_FRAMES_NUL, STREAM("a\0") },
                  { GX_FRAMES_OCTETS, STREAM("1 a2 bc") },
                  { GX_FRAMES_OCTETS, STREAM("20 0123456789abcdefg") },
                  { GX_FRAMES_SYSLOG, STREAM("3 <1>a\n") } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t step = 1; step <= cases[i].stream.size; step++) {
            (void)cut(f, cases[i].kind, false, cases[i].stream, step, GX_FRAMES_BROKEN);
            assert_int_equal(f->frames.cut_off, 0);
        }
}

static void what_is_no_size_breaks_a_counted_stream(void **state) {
    fixture *f = *state;
    const char *const streams[] = { "x", " ", "0 ", "01 a", "1x", "-1 a", "12345678901 ", "<34>1 " };
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        use(f, GX_FRAMES_OCTETS, false);
        assert_int_equal(take(f, streams[i], strlen(streams[i])), GALE_DAMAGED);
    }
}

static void syslog_is_counted_or_in_lines_record_by_record(void **state) {
    fixture *f = *state;
    expect(f, GX_FRAMES_SYSLOG, false, STREAM("5 <1>ab<2>c\n6 <3>d\ne\n\n\r\n<4>f\r\n4 <5>g"),
           "[<1>ab][<2>c][<3>d\ne][<4>f][<5>g]");
}

static void a_line_of_syslog_may_begin_with_a_number(void **state) {
    fixture *f = *state;
    expect(f, GX_FRAMES_SYSLOG, false, STREAM("12 monkeys\n2026-11\n7\n8 \n12345678901\n9"),
           "[12 monkeys][2026-11][7][8 ][12345678901][9]");
}

static void a_record_has_as_many_bytes_as_it_may(void **state) {
    fixture *f = *state;
    expect(f, GX_FRAMES_LINES, false, STREAM("0123456789abcdef\n"), "[0123456789abcdef]");
    expect(f, GX_FRAMES_LINES, false, STREAM("0123456789abcdef\r\n"), "[0123456789abcdef]");
    expect(f, GX_FRAMES_LINES, false, STREAM("0123456789abcdef"), "[0123456789abcdef]");
    expect(f, GX_FRAMES_NUL, false, STREAM("0123456789abcdef\0"), "[0123456789abcdef]");
    expect(f, GX_FRAMES_OCTETS, false, STREAM("16 0123456789abcdef"), "[0123456789abcdef]");
    expect(f, GX_FRAMES_SYSLOG, false, STREAM("16 <123456789abcdef"), "[<123456789abcdef]");
    assert_int_equal(f->frames.too_long, 0);
}

static void a_longer_one_is_cut_and_counted_and_the_next_is_whole(void **state) {
    fixture *f = *state;
    expect(f, GX_FRAMES_LINES, false, STREAM("0123456789abcdefg\nx\n"), "[0123456789abcdef*][x]");
    expect(f, GX_FRAMES_LINES, false, STREAM("0123456789abcdefg\r\nx\n"), "[0123456789abcdef*][x]");
    expect(f, GX_FRAMES_LINES, false, STREAM("0123456789abcdef\r\rx\ny"), "[0123456789abcdef*][y]");
    expect(f, GX_FRAMES_LINES, false, STREAM("0123456789abcdef\r"), "[0123456789abcdef]");
    expect(f, GX_FRAMES_NUL, false, STREAM("0123456789abcdef\r\0x\0"), "[0123456789abcdef*][x]");
    expect(f, GX_FRAMES_OCTETS, false, STREAM("20 0123456789abcdefghij1 x"), "[0123456789abcdef*][x]");
    expect(f, GX_FRAMES_SYSLOG, false, STREAM("20 <123456789abcdefghij<x\n"), "[<123456789abcdef*][<x]");
    assert_int_equal(f->frames.too_long, 1);
}

static void or_it_is_dropped(void **state) {
    fixture *f = *state;
    expect(f, GX_FRAMES_LINES, true, STREAM("0123456789abcdefg\nx\n0123456789abcdef0123"), "[x]");
    assert_int_equal(f->frames.too_long, 2);
    expect(f, GX_FRAMES_NUL, true, STREAM("0123456789abcdefg\0x\0"), "[x]");
    expect(f, GX_FRAMES_OCTETS, true, STREAM("17 0123456789abcdefg1 x"), "[x]");
    expect(f, GX_FRAMES_LINES, true, STREAM("0123456789abcdefg\r"), "");
    assert_int_equal(f->frames.too_long, 1);
}

static void a_bound_below_the_digits_of_a_size_holds_too(void **state) {
    fixture *f = *state;
    f->rule.max = 1;
    use(f, GX_FRAMES_SYSLOG, false);
    f->rule.max = 1;
    assert_int_equal(take(f, "1234567 xyz\na\n12345678901\nb\n", 28), 0);
    assert_string_equal(gx_buf_text(&f->out), "[1*][a][1*][b]");
}

static void an_endless_line_takes_no_more_memory_than_the_bound(void **state) {
    fixture *f = *state;
    static char bytes[1000];
    memset(bytes, 'x', sizeof bytes);
    for (int drops = 0; drops < 2; drops++) {
        use(f, GX_FRAMES_LINES, drops);
        for (int i = 0; i < 1000; i++) {
            assert_int_equal(take(f, bytes, sizeof bytes), 0);
            assert_true(gx_heap_reserved(&f->heap) <= 64);
        }
        assert_int_equal(f->frames.too_long, 1);
        assert_string_equal(gx_buf_text(&f->out), drops ? "" : "[xxxxxxxxxxxxxxxx*]");
    }
}

static void a_huge_size_that_is_announced_takes_no_memory(void **state) {
    fixture *f = *state;
    use(f, GX_FRAMES_OCTETS, false);
    f->rule.max = (size_t)1 << 30;
    assert_int_equal(take(f, "9999999999 abc", 14), 0);
    assert_true(gx_heap_reserved(&f->heap) <= 64);
}

static void between_two_records_a_stream_owns_nothing(void **state) {
    fixture *f = *state;
    use(f, GX_FRAMES_LINES, false);
    f->rule.max = 1000;
    for (int i = 0; i < 100; i++) assert_int_equal(take(f, "x", 1), 0);
    assert_true(gx_frames_held(&f->frames) >= 100);
    assert_int_equal(take(f, "\n", 1), 0);
    assert_int_equal(take(f, "", 0), 0);
    assert_int_equal(gx_frames_held(&f->frames), 0);
    assert_int_equal(gx_heap_reserved(&f->heap), 0);
}

static void what_comes_whole_is_not_copied(void **state) {
    fixture *f = *state;
    use(f, GX_FRAMES_LINES, false);
    uint64_t before = f->fake.allocations;
    for (int i = 0; i < 100; i++) assert_int_equal(take(f, "a\nb\nc\r\n", 7), 0);
    assert_int_equal(f->fake.allocations, before);
}

static void running_out_of_memory_loses_no_byte(void **state) {
    fixture *f = *state;
    static const char *const streams[] = { "abc", "3 abc", "12 x" };
    static const gx_frames_kind kinds[] = { GX_FRAMES_LINES, GX_FRAMES_OCTETS, GX_FRAMES_SYSLOG };
    static const char *const records[] = { "[abc]", "[abc]", "[12 x]" };
    for (int i = 0; i < 3; i++) {
        use(f, kinds[i], false);
        for (const char *c = streams[i]; *c; c++) {
            gale_str piece = { c, 1 };
            gx_frame frame;
            f->fake.fail_at = f->fake.allocations + 1;
            int rc = gx_frames_next(&f->frames, &piece, &frame);
            f->fake.fail_at = 0;
            if (rc == GALE_NO_MEMORY) assert_int_equal(piece.size, 1);
            if (rc == GALE_NO_MEMORY) rc = gx_frames_next(&f->frames, &piece, &frame);
            if (rc > 0) note(f, frame);
            assert_true(rc >= 0 && piece.size == 0);
        }
        end(f, GX_FRAMES_CLOSED);
        assert_string_equal(gx_buf_text(&f->out), records[i]);
    }
}

static void a_stream_that_has_ended_may_be_followed_by_another(void **state) {
    fixture *f = *state;
    use(f, GX_FRAMES_OCTETS, false);
    assert_int_equal(take(f, "5 ab", 4), 0);
    end(f, GX_FRAMES_CLOSED);
    assert_int_equal(take(f, "1 c", 3), 0);
    assert_string_equal(gx_buf_text(&f->out), "[c]");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_gives_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(lines_end_with_a_newline_or_with_a_return_and_a_newline, setup, teardown),
        cmocka_unit_test_setup_teardown(the_last_line_may_lack_its_end, setup, teardown),
        cmocka_unit_test_setup_teardown(a_byte_order_mark_at_the_beginning_is_skipped, setup, teardown),
        cmocka_unit_test_setup_teardown(a_stream_that_is_packed_has_no_records, setup, teardown),
        cmocka_unit_test_setup_teardown(a_nul_ends_a_record_that_has_newlines_in_it, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_counted_may_have_anything_in_it, setup, teardown),
        cmocka_unit_test_setup_teardown(what_the_end_cuts_off_is_no_record, setup, teardown),
        cmocka_unit_test_setup_teardown(a_last_line_is_one_only_where_the_end_is_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(of_all_that_there_was_the_last_record_is_one, setup, teardown),
        cmocka_unit_test_setup_teardown(an_end_between_two_records_cuts_nothing_off, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_no_size_breaks_a_counted_stream, setup, teardown),
        cmocka_unit_test_setup_teardown(syslog_is_counted_or_in_lines_record_by_record, setup, teardown),
        cmocka_unit_test_setup_teardown(a_line_of_syslog_may_begin_with_a_number, setup, teardown),
        cmocka_unit_test_setup_teardown(a_record_has_as_many_bytes_as_it_may, setup, teardown),
        cmocka_unit_test_setup_teardown(a_longer_one_is_cut_and_counted_and_the_next_is_whole, setup, teardown),
        cmocka_unit_test_setup_teardown(or_it_is_dropped, setup, teardown),
        cmocka_unit_test_setup_teardown(a_bound_below_the_digits_of_a_size_holds_too, setup, teardown),
        cmocka_unit_test_setup_teardown(an_endless_line_takes_no_more_memory_than_the_bound, setup, teardown),
        cmocka_unit_test_setup_teardown(a_huge_size_that_is_announced_takes_no_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(between_two_records_a_stream_owns_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(what_comes_whole_is_not_copied, setup, teardown),
        cmocka_unit_test_setup_teardown(running_out_of_memory_loses_no_byte, setup, teardown),
        cmocka_unit_test_setup_teardown(a_stream_that_has_ended_may_be_followed_by_another, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
