#include "connect/file/state.h"

#include "harness/cm.h"

static const gx_file_state some = { 2049, 131, UINT64_C(0xfeedbeef), 1, 4, 123456, 789 };

static gale_str text_of(const gx_file_state *state, char text[GX_FILE_STATE_TEXT]) {
    return gx_file_state_format(state, text);
}

static bool equal(const gx_file_state *a, const gx_file_state *b) {
    return a->device == b->device && a->inode == b->inode && a->content == b->content && a->task == b->task &&
           a->tasks == b->tasks && a->offset == b->offset && a->lines == b->lines;
}

static void refuse(const char *text, int code, const char *message) {
    gx_file_state state = some;
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gx_file_state_parse("s", gx_str(text), &state, &error), code);
    assert_string_equal(error.text, message);
    assert_true(equal(&state, &some)); /* untouched */
}

#define DAMAGED(what) "state file 's' is damaged: " what "; remove it to read from the beginning"

static void what_is_written_is_read(void **state) {
    (void)state;
    const gx_file_state cases[] = {
        some,
        { 0, 0, 0, 0, 1, 0, 0 },
        { UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT32_MAX - 1, UINT32_MAX, INT64_MAX, INT64_MAX },
    };
    for (size_t i = 0; i < 3; i++) {
        char text[GX_FILE_STATE_TEXT];
        gx_file_state read;
        assert_int_equal(gx_file_state_parse("s", text_of(&cases[i], text), &read, NULL), 0);
        assert_true(equal(&cases[i], &read));
    }
}

/* Files of today must be read by every later release. */
static void the_text_is_a_promise(void **state) {
    (void)state;
    char text[GX_FILE_STATE_TEXT];
    assert_string_equal(text_of(&some, text).data,
                        "gale-file-state 1 2049 131 00000000feedbeef 1 4 123456 789 57f0cf1fdd75075b\n");
}

static void damage_is_told(void **state) {
    (void)state;
    refuse("", GALE_SYNTAX, DAMAGED("it does not begin with 'gale-file-state'"));
    refuse("gale-file-stat 1", GALE_SYNTAX, DAMAGED("it does not begin with 'gale-file-state'"));
    refuse("gale-file-state", GALE_SYNTAX, DAMAGED("its version is no number"));
    refuse("gale-file-state one", GALE_SYNTAX, DAMAGED("its version is no number"));
    refuse("gale-file-state 1 2 3", GALE_SYNTAX, DAMAGED("a field is missing or out of range"));
    refuse("gale-file-state 1 2 3 4 4 4 5 5 6\n", GALE_SYNTAX, DAMAGED("a field is missing or out of range"));
    refuse("gale-file-state 1 2 3 4 0 1 5 6 7\n", GALE_SYNTAX, DAMAGED("a field is missing or out of range"));
    refuse("gale-file-state 1 2 3 4 0 1 9223372036854775808 6 7\n", GALE_SYNTAX,
           DAMAGED("a field is missing or out of range"));
    refuse("gale-file-state 1 2 3 4 0 1 99 6 7\n", GALE_SYNTAX, DAMAGED("its checksum does not fit"));
}

static void a_version_of_the_future_is_told(void **state) {
    (void)state;
    refuse("gale-file-state 2 {}\n", GALE_UNSUPPORTED,
           "state file 's' is of version 2; gale " GALE_VERSION_TEXT " knows version 1");
}

static void every_cut_and_every_changed_byte_is_noticed(void **state) {
    (void)state;
    char text[GX_FILE_STATE_TEXT];
    gale_str whole = text_of(&some, text);
    gx_file_state read;
    for (size_t size = 0; size < whole.size; size++) {
        assert_true(gx_file_state_parse("s", (gale_str){ text, size }, &read, NULL) < 0);
    }
    text[whole.size] = 'x';
    assert_int_equal(gx_file_state_parse("s", (gale_str){ text, whole.size + 1 }, &read, NULL), GALE_SYNTAX);
    for (size_t i = 0; i < whole.size; i++) {
        char before = text[i];
        for (int c = 0; c < 256; c++) {
            text[i] = (char)c;
            assert_int_equal(gx_file_state_parse("s", whole, &read, NULL) == 0, (char)c == before);
        }
        text[i] = before;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(the_text_is_a_promise),
        cmocka_unit_test(damage_is_told),
        cmocka_unit_test(a_version_of_the_future_is_told),
        cmocka_unit_test(every_cut_and_every_changed_byte_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
