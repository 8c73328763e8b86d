#include "connect/net/tally.h"

#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void what_has_not_happened_is_not_told(void **state) {
    const gx_net_tally none[] = { { 0, "record", "lost" }, { 0, "connection", "reset" } };
    char text[100] = "before";
    (void)state;
    assert_int_equal(gx_net_tally_text(none, 2, text, sizeof text), 0);
    assert_string_equal(text, "");
    assert_int_equal(gx_net_tally_text(NULL, 0, text, sizeof text), 0);
}

static void one_is_one_and_two_are_two(void **state) {
    const gx_net_tally list[] = {
        { 0, "record", "read" }, { 1, "record", "lost" }, { 0, "x", "y" }, { 2, "connection", "reset" }
    };
    char text[100];
    (void)state;
    size_t size = gx_net_tally_text(list, 4, text, sizeof text);
    assert_string_equal(text, "1 record was lost, 2 connections were reset");
    assert_int_equal(size, strlen(text));
}

static void it_ends_where_there_is_no_more_room(void **state) {
    const gx_net_tally list[] = { { UINT64_MAX, "record", "lost" }, { 2, "connection", "reset" } };
    static const char all[] = "18446744073709551615 records were lost, 2 connections were reset";
    (void)state;
    for (size_t room = 1; room <= sizeof all; room++) {
        char *text = test_malloc(room);
        size_t size = gx_net_tally_text(list, 2, text, room);
        assert_int_equal(size, strlen(text));
        assert_int_equal(size, room - 1);
        assert_memory_equal(text, all, size);
        test_free(text);
    }
    assert_int_equal(gx_net_tally_text(list, 2, NULL, 0), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_has_not_happened_is_not_told),
        cmocka_unit_test(one_is_one_and_two_are_two),
        cmocka_unit_test(it_ends_where_there_is_no_more_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
