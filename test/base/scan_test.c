#include "base/scan.h"

#include "base/random.h"
#include "harness/cm.h"

/* Sixteen bytes at a time and one at a time end at the same place, wherever the text begins and ends. */
static void vectors_and_bytes_agree(void **state) {
    (void)state;
    gx_random random = gx_random_new(3, 1);
    static const char ends[] = { '"', '\\', 0, 0x1f, 0x20, 0x21, 0x7f, (char)0x80, (char)0xc2, (char)0xff, '\n' };
    for (int round = 0; round < 20000; round++) {
        char text[80];
        size_t from = gx_random_below(&random, 17), size = gx_random_below(&random, 60);
        memset(text, 'a', sizeof text);
        for (uint64_t i = gx_random_below(&random, 3); i > 0; i--)
            text[gx_random_below(&random, sizeof text)] = ends[gx_random_below(&random, sizeof ends)];
        for (int what = GX_SCAN_READ; what <= GX_SCAN_WRITE; what++)
            assert_ptr_equal(gx_scan(text + from, text + from + size, (gx_scan_for)what),
                             gx_scan_plainly(text + from, text + from + size, (gx_scan_for)what));
    }
}

static void every_byte_is_plain_or_is_not(void **state) {
    (void)state;
    for (unsigned c = 0; c < 256; c++) {
        char text[16];
        memset(text, 'a', sizeof text);
        text[7] = (char)c;
        bool ends = c < 0x20 || c == '"' || c == '\\';
        assert_ptr_equal(gx_scan(text, text + 16, GX_SCAN_READ), ends ? text + 7 : text + 16);
        ends = ends || c == 0x7f || c == 0xc2;
        assert_ptr_equal(gx_scan(text, text + 16, GX_SCAN_WRITE), ends ? text + 7 : text + 16);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_and_bytes_agree),
        cmocka_unit_test(every_byte_is_plain_or_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
