#include "base/os/library.h"

#include "harness/cm.h"

static void says(const char *said, int code, const char *sentence) {
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gx_library_explain("/p/x.so", said, &error), code);
    assert_string_equal(error.text, sentence);
    assert_int_equal(gx_library_explain("/p/x.so", said, NULL), code);
}

static void what_the_loader_says_becomes_a_sentence_that_says_what_to_do(void **state) {
    (void)state;
    says("libscales.so.2: cannot open shared object file: No such file or directory", GALE_NOT_FOUND,
         "'/p/x.so' needs libscales.so.2, which is not there: install it");
    says("Error loading shared library libscales.so.2: No such file or directory (needed by /p/x.so)", GALE_NOT_FOUND,
         "'/p/x.so' needs libscales.so.2, which is not there: install it");
    says("/p/x.so: undefined symbol: gale_emit_twice", GALE_INVALID,
         "'/p/x.so' calls gale_emit_twice, which this program does not show: link it with the shared libgale, or with "
         "all "
         "of the static one and -rdynamic");
    says("/p/x.so: undefined symbol: scale, version S_2", GALE_INVALID,
         "'/p/x.so' calls scale, which nothing has that it is linked with: link it with what does");
    says("/lib/libc.so.6: version `GLIBC_2.99' not found (required by /p/x.so)", GALE_INVALID,
         "'/p/x.so' is built for a newer system, which has GLIBC_2.99: build it on this one");
    says("/p/x.so: cannot open shared object file: Permission denied", GALE_INVALID,
         "'/p/x.so' cannot be loaded: /p/x.so: cannot open shared object file: Permission denied");
    says("", GALE_INVALID, "'/p/x.so' cannot be loaded: ");
}

static void what_is_not_there_is_not_looked_at(void **state) {
    (void)state;
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gx_library_look("/no/such.so", &error), GALE_NOT_FOUND);
    assert_string_equal(error.text, "'/no/such.so' is not there");
    assert_int_equal(gx_library_look("/dev/null/x.so", &error), GALE_NOT_FOUND);
    assert_int_equal(gx_library_look("/dev/null", &error), GALE_INVALID);
    assert_string_equal(error.text, "'/dev/null' is no file");
    assert_int_equal(gx_library_look("/dev/null", NULL), GALE_INVALID);
}

static void a_program_is_loaded_by_nobody(void **state) {
    (void)state;
    void *library = NULL;
    gale_error error = GALE_ERROR_INIT;
    if (!gx_library_can()) {
        assert_int_equal(gx_library_load("/proc/self/exe", &library, &error), GALE_UNSUPPORTED);
        assert_string_equal(error.text, "'/proc/self/exe' cannot be loaded: this gale is linked statically, and has no "
                                        "loader; use one that is not");
        assert_null(gx_library_function(NULL, "main"));
        return;
    }
    assert_int_equal(gx_library_load("/proc/self/exe", &library, &error), GALE_INVALID);
    assert_null(library);
    assert_memory_equal(error.text, "'/proc/self/exe' cannot be loaded: ", 35);
}

static void a_name_without_a_slash_is_looked_for_where_the_system_has_its_own(void **state) {
    (void)state;
    void *library = NULL;
    gale_error error = GALE_ERROR_INIT;
    if (!gx_library_can()) return;
    assert_int_equal(gx_library_load("libm.so.6", &library, &error), 0);
    assert_non_null(gx_library_function(library, "cos"));
    assert_null(gx_library_function(library, "gale_is_not_in_it"));
    assert_true(gx_library_load("libgale-is-not-there.so.0", &library, &error) < 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_loader_says_becomes_a_sentence_that_says_what_to_do),
        cmocka_unit_test(what_is_not_there_is_not_looked_at),
        cmocka_unit_test(a_program_is_loaded_by_nobody),
        cmocka_unit_test(a_name_without_a_slash_is_looked_for_where_the_system_has_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
