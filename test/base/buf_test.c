#include "base/buf.h"

#include "harness/cm.h"
#include "harness/counting_allocator.h"

#include <inttypes.h>
#include <stdio.h>

static void an_empty_buffer_is_an_empty_text(void **state) {
    (void)state;
    gx_buf buf = GX_BUF_INIT(NULL);
    assert_string_equal(gx_buf_text(&buf), "");
    assert_int_equal(buf.size, 0);
    gx_buf_fini(&buf);
    gx_buf_fini(&buf);
}

static void appends_follow_each_other(void **state) {
    (void)state;
    gx_buf buf = GX_BUF_INIT(NULL);
    gx_buf_add(&buf, "ab", 2);
    gx_buf_add_byte(&buf, 'c');
    gx_buf_add_text(&buf, "de");
    gx_buf_format(&buf, "%d-%s", 7, "f");
    gx_buf_add(&buf, NULL, 0);
    assert_string_equal(gx_buf_text(&buf), "abcde7-f");
    assert_int_equal(buf.size, 8);
    gx_buf_reset(&buf);
    assert_string_equal(gx_buf_text(&buf), "");
    gx_buf_fini(&buf);
}

static void numbers_are_decimal_digits(void **state) {
    (void)state;
    static const int64_t numbers[] = { 0, 9, 10, -1, -10, 1234567890, INT64_MAX, INT64_MIN };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char wanted[50];
        gx_buf buf = GX_BUF_INIT(NULL);
        gx_buf_add_i64(&buf, numbers[i]);
        gx_buf_add_byte(&buf, ' ');
        gx_buf_add_u64(&buf, (uint64_t)numbers[i]);
        snprintf(wanted, sizeof wanted, "%" PRId64 " %" PRIu64, numbers[i], (uint64_t)numbers[i]);
        assert_string_equal(gx_buf_text(&buf), wanted);
        gx_buf_fini(&buf);
    }
}

static void growth_across_every_size_keeps_the_bytes(void **state) {
    (void)state;
    gx_buf buf = GX_BUF_INIT(NULL);
    for (int i = 0; i < 5000; i++) {
        gx_buf_add_byte(&buf, (char)('a' + i % 26));
        assert_int_equal(strlen(gx_buf_text(&buf)), i + 1);
    }
    for (int i = 0; i < 5000; i++) assert_int_equal(buf.data[i], 'a' + i % 26);
    gx_buf_fini(&buf);
}

static void a_format_longer_than_the_room_is_written_whole(void **state) {
    (void)state;
    gx_buf buf = GX_BUF_INIT(NULL);
    gx_buf_format(&buf, "%0500d|", 7);
    assert_int_equal(buf.size, 501);
    assert_int_equal(buf.data[499], '7');
    assert_int_equal(buf.data[500], '|');
    gx_buf_fini(&buf);
}

static void a_size_that_overflows_fails_and_sticks(void **state) {
    (void)state;
    gx_buf buf = GX_BUF_INIT(NULL);
    gx_buf_add_text(&buf, "x");
    assert_false(gx_buf_reserve(&buf, SIZE_MAX));
    gx_buf_add_text(&buf, "y");
    assert_true(buf.failed);
    assert_int_equal(buf.size, 1);
    assert_null(gx_buf_text(&buf));
    gx_buf_reset(&buf);
    assert_string_equal(gx_buf_text(&buf), "");
    gx_buf_fini(&buf);
}

static bool fill(counting_allocator *counting) {
    gale_allocator handle = counting_handle(counting);
    gx_heap heap;
    gx_heap_init(&heap, &handle);
    gx_buf buf = GX_BUF_INIT(&heap);
    for (int i = 0; i < 100; i++) gx_buf_format(&buf, "line %d;", i);
    const char *text = gx_buf_text(&buf);
    if (text) assert_int_equal(strlen(text), buf.size);
    gx_buf_fini(&buf);
    assert_int_equal(counting->blocks, 0);
    assert_int_equal(gx_heap_reserved(&heap), 0);
    return text != NULL;
}

static void any_failing_allocation_is_seen_at_the_end(void **state) {
    (void)state;
    counting_allocator all = { 0 };
    assert_true(fill(&all));
    assert_true(all.calls > 2);
    for (size_t n = 1; n <= all.calls; n++) assert_false(fill(&(counting_allocator){ .fail_at = n }));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_buffer_is_an_empty_text),
        cmocka_unit_test(appends_follow_each_other),
        cmocka_unit_test(numbers_are_decimal_digits),
        cmocka_unit_test(growth_across_every_size_keeps_the_bytes),
        cmocka_unit_test(a_format_longer_than_the_room_is_written_whole),
        cmocka_unit_test(a_size_that_overflows_fails_and_sticks),
        cmocka_unit_test(any_failing_allocation_is_seen_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
