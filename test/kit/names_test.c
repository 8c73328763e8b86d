#include <gale/connect.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const char *const known[] = { "value", "key", "time", NULL };

static void refused(const char *text, const char *words) {
    gale_names names;
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gale_names_read("emit", text, "a message", known, &names, &error), GALE_INVALID);
    assert_string_equal(error.text, words);
}

static void names_are_places_in_the_order_in_which_they_stand(void **state) {
    gale_names names;
    (void)state;
    assert_int_equal(gale_names_read("emit", " time, value,key ", "a message", known, &names, NULL), 0);
    assert_int_equal(names.count, 3);
    assert_int_equal(names.places[0], 2);
    assert_int_equal(names.places[1], 0);
    assert_int_equal(names.places[2], 1);
    assert_string_equal(names.text, "time, value, key");
}

static void what_is_unknown_or_twice_or_nothing_is_refused_in_words(void **state) {
    (void)state;
    refused("key, kye", "emit: a message has no 'kye': it has value, key and time");
    refused("key, time, key", "emit: key stands twice");
    refused("", "emit: it names nothing");
    refused(" , ", "emit: it names nothing");
    refused(NULL, "emit: it names nothing");
}

static void misuse_is_refused(void **state) {
    gale_names names;
    (void)state;
    assert_int_equal(gale_names_read(NULL, "a", "a message", known, &names, NULL), GALE_INVALID);
    assert_int_equal(gale_names_read("emit", "a", NULL, known, &names, NULL), GALE_INVALID);
    assert_int_equal(gale_names_read("emit", "a", "a message", NULL, &names, NULL), GALE_INVALID);
    assert_int_equal(gale_names_read("emit", "a", "a message", known, NULL, NULL), GALE_INVALID);
}

static void a_text_is_one_where_it_is_utf_8(void **state) {
    (void)state;
    assert_int_equal(gale_text_or_bytes("\xc3\xbc", 2).type, GALE_TYPE_STRING);
    assert_int_equal(gale_text_or_bytes("\xc3", 1).type, GALE_TYPE_BYTES);
    assert_int_equal(gale_text_or_bytes(NULL, 5).type, GALE_TYPE_NULL);
    assert_int_equal(gale_text_or_bytes("", 0).size, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_places_in_the_order_in_which_they_stand),
        cmocka_unit_test(what_is_unknown_or_twice_or_nothing_is_refused_in_words),
        cmocka_unit_test(misuse_is_refused),
        cmocka_unit_test(a_text_is_one_where_it_is_utf_8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
