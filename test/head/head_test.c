#include "head/head.h"

#include "harness/cm.h"

#include <stdio.h>
#include <string.h>

/* Reads a head in place, as libmicrohttpd 0.9.75 does: ends of lines and colons become NULs, and a line that begins
 * with a space is copied to elsewhere. */
static const char *refusal(const char *text, bool in_place) {
    static char bytes[4096], elsewhere[4096];
    head_check check;
    snprintf(bytes, sizeof bytes, "%s", text);
    size_t size = strlen(bytes);
    char *rest = bytes, *line = strsep(&rest, "\n"), *method = strsep(&line, " "), *target = strsep(&line, " "),
         *protocol = line;
    protocol[strcspn(protocol, "\r")] = '\0';
    head_begin(&check, method, target, protocol, in_place);
    while ((line = strsep(&rest, "\n")) && *line != '\r' && *line) {
        line[strcspn(line, "\r")] = '\0';
        char *value = line, *name = strsep(&value, ":");
        assert_non_null(value);
        value += strspn(value, " \t");
        bool folds = rest && (*rest == ' ' || *rest == '\t');
        if (folds) snprintf(elsewhere, sizeof elsewhere, "%s%s", value, strsep(&rest, "\n") + 1);
        head_line(&check, name, folds ? elsewhere : value);
    }
    return head_end(&check, size);
}

#define GOOD "POST /e HTTP/1.1\r\nHost: x\r\n"

static void a_head_that_all_read_alike_is_taken(void **state) {
    (void)state;
    static const char *const heads[] = { GOOD "\r\n", GOOD "Content-Length: 2\r\n\r\n",
                                         GOOD "Transfer-Encoding: Chunked\r\n\r\n",
                                         GOOD "X:y\r\nZ:  \t a b \r\nE:\r\nF: \r\n\r\n", "GET / HTTP/1.0\r\n\r\n" };
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        for (int in_place = 0; in_place < 2; in_place++) assert_null(refusal(heads[i], in_place));
}

static void a_head_that_two_read_in_two_ways_is_refused(void **state) {
    (void)state;
    static const char *const heads[] = {
        GOOD "Host: x\r\n\r\n",
        GOOD "Content-Length: 2\r\ncontent-length: 2\r\n\r\n",
        GOOD "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n",
        GOOD "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n",
        GOOD "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
        GOOD "Transfer-Encoding: gzip, chunked\r\n\r\n",
        "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST http://x/e HTTP/1.1\r\nHost: x\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
        GOOD "Content-Length : 2\r\n\r\n",
        GOOD " X: a\r\n\r\n",
        GOOD ": x\r\n\r\n",
        GOOD "X: a\x01z\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        for (int in_place = 0; in_place < 2; in_place++) assert_non_null(refusal(heads[i], in_place));
}

static void lines_that_end_otherwise_are_found_by_where_they_lie(void **state) {
    (void)state;
    static const char *const heads[] = {
        "POST /e HTTP/1.1\nHost: x\n\n",
        "POST /e HTTP/1.1\nHost: x\r\n\r\n",
        GOOD "X: y\nZ: z\r\n\r\n",
        GOOD "X: y\n\r\n",
        GOOD "X: y\r\n\n",
        GOOD "X: a\r\n b\r\n\r\n",
        GOOD "Content-Length: 1\r\n\t0\r\n\r\n",
        GOOD "X: a\r\n b\r\nY: z\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) assert_non_null(refusal(heads[i], true));
}

static void only_the_version_that_was_looked_at_is_taken_to_read_in_place(void **state) {
    (void)state;
    assert_true(head_is_read_in_place("0.9.75"));
    assert_false(head_is_read_in_place("1.0.1"));
    assert_false(head_is_read_in_place(NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_that_all_read_alike_is_taken),
        cmocka_unit_test(a_head_that_two_read_in_two_ways_is_refused),
        cmocka_unit_test(lines_that_end_otherwise_are_found_by_where_they_lie),
        cmocka_unit_test(only_the_version_that_was_looked_at_is_taken_to_read_in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
