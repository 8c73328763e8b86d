#include "cli/keys.h"
#include "cli/look.h"
#include "cli/running.h"

#include "harness/cm.h"

#include <string.h>

static gx_running one;

static void a_sockets_name_has_a_name_and_a_number(void **state) {
    (void)state;
    assert_true(gx_running_read("word-count.4711.sock", &one));
    assert_string_equal(one.name, "word-count");
    assert_int_equal(one.pid, 4711);
    assert_true(gx_running_read("a.b c.1.sock", &one));
    assert_string_equal(one.name, "a.b c");
}

static void what_is_no_socket_of_ours_is_left_alone(void **state) {
    (void)state;
    static const char *const others[] = {
        "",          ".sock",     "x.sock",   ".1.sock", "x..sock",   "x.1.soc",   "x.1.sock2",          "x.1a.sock",
        "x.-1.sock", "x.01.sock", "x.0.sock", "x1.sock", "x. 1.sock", "4711.sock", "x.99999999999.sock",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) assert_false(gx_running_read(others[i], &one));
    char longer[400];
    memset(longer, 'a', sizeof longer);
    strcpy(longer + 300, ".1.sock");
    assert_false(gx_running_read(longer, &one));
}

static void keys_are_read(void **state) {
    (void)state;
    assert_int_equal(gx_keys_read("", 0), GX_KEY_NONE);
    assert_int_equal(gx_keys_read("q", 1), GX_KEY_QUIT);
    assert_int_equal(gx_keys_read("\x04", 1), GX_KEY_QUIT);
    assert_int_equal(gx_keys_read("\x1b[A", 3), GX_KEY_UP);
    assert_int_equal(gx_keys_read("\x1bOB", 3), GX_KEY_DOWN);
    assert_int_equal(gx_keys_read("j", 1), GX_KEY_DOWN);
    assert_int_equal(gx_keys_read("\x1b", 1), GX_KEY_OTHER);
    assert_int_equal(gx_keys_read("\x1b[C", 3), GX_KEY_OTHER);
}

static void durations_have_two_units(void **state) {
    (void)state;
    char text[64];
    assert_string_equal(gx_look_duration(-1, text, sizeof text), "0 s");
    assert_string_equal(gx_look_duration(59.9, text, sizeof text), "59 s");
    assert_string_equal(gx_look_duration(61, text, sizeof text), "1 min 01 s");
    assert_string_equal(gx_look_duration(3720, text, sizeof text), "1 h 02 min");
    assert_string_equal(gx_look_duration(90000, text, sizeof text), "1 d 01 h");
    assert_string_equal(gx_look_duration(1e300, text, sizeof text), "0 s");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sockets_name_has_a_name_and_a_number),
        cmocka_unit_test(what_is_no_socket_of_ours_is_left_alone),
        cmocka_unit_test(keys_are_read),
        cmocka_unit_test(durations_have_two_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
