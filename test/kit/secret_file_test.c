#include "base/port.h"

#include <gale/connect.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/gale-secret-XXXXXX";

static void write_file(const char *bytes, size_t size) {
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static void expect(const char *bytes, size_t size, const char *secret) {
    gale_error error = GALE_ERROR_INIT;
    write_file(bytes, size);
    char *read = gale_secret_read("passwordFrom", path, &error);
    if (secret)
        assert_string_equal(read, secret);
    else
        assert_null(read);
    assert_int_equal(error.code, secret ? 0 : GALE_INVALID);
    if (!secret) assert_int_equal(strncmp(error.text, "passwordFrom: /tmp/", 19), 0);
    gale_secret_free(read);
}

static void it_is_what_the_file_has_without_the_ends_of_lines(void **state) {
    (void)state;
    expect("", 0, "");
    expect("a b\n", 4, "a b");
    expect("a\nb\r\n\n", 6, "a\nb");
}

static void what_can_be_none_is_refused(void **state) {
    static char large[GALE_SECRET_MAX + 1];
    (void)state;
    expect("a\0b", 3, NULL);
    memset(large, 'a', sizeof large);
    expect(large, sizeof large, NULL);
    gale_error error = GALE_ERROR_INIT;
    assert_null(gale_secret_read("passwordFrom", "/tmp/no-such-folder/secret", &error));
    assert_non_null(strstr(error.text, "/tmp/no-such-folder/secret"));
    assert_null(gale_secret_read(NULL, NULL, NULL));
    gale_secret_free(NULL);
}

static void the_largest_fits(void **state) {
    static char large[GALE_SECRET_MAX + 1];
    (void)state;
    memset(large, 'a', GALE_SECRET_MAX);
    expect(large, GALE_SECRET_MAX, large);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_what_the_file_has_without_the_ends_of_lines),
        cmocka_unit_test(what_can_be_none_is_refused),
        cmocka_unit_test(the_largest_fits),
    };
    int fd = mkstemp(path);
    if (fd < 0) return 1;
    close(fd);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
