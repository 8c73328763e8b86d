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
    const head_target place = head_look_at_target(target);
    head_begin(&check, method, &place, protocol, in_place);
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
        GOOD "Idempotency-Key: a\r\nidempotency-key: a\r\n\r\n",
        "POST /e#x HTTP/1.1\r\nHost: x\r\n\r\n",
        "POST /e\tx HTTP/1.1\r\nHost: x\r\n\r\n",
        "POST  /e HTTP/1.1\r\nHost: x\r\n\r\n",
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

/* The first line in place, with a NUL between what is known of the target and the protocol. */
static void a_nul_in_a_target_is_found_by_where_the_protocol_lies(void **state) {
    (void)state;
    const char line[] = "GET\0/e\0/admin\0HTTP/1.1", *protocol = line + sizeof line - sizeof "HTTP/1.1";
    const head_target place = head_look_at_target(line + 4);
    head_check check;
    head_begin(&check, line, &place, protocol, true);
    assert_non_null(check.why);
}

/* `text` is what was read to the beginning of a body; its last word is the first byte of a chunk. */
static const char *chunk(const char *text) {
    return head_chunk(text, strrchr(text, '|'));
}

static void the_line_of_a_chunk_is_its_size_and_extensions_between_two_ends_of_lines(void **state) {
    (void)state;
    static const char *const taken[] = {
        "|", "5\r\n|", "\r\n5\r\n|", "aB9;x=\"y\"\r\n|", "0000000000000001\r\n|", "5\r\nhello\r\n5\r\n|"
    };
    static const char *const refused[] = { "5\n|",
                                           "\n|",
                                           "5;x\n|",
                                           "\r\n|",
                                           "\n5\r\n|",
                                           "a\n5\r\n|",
                                           "5;\rx\r\n|",
                                           "5 \r\n|",
                                           "0x5\r\n|",
                                           "+5\r\n|",
                                           " 5\r\n|",
                                           "5\r|",
                                           "00000000000000001\r\n|" };
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) assert_null(chunk(taken[i]));
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) assert_non_null(chunk(refused[i]));
    assert_null(head_chunk(taken[1], taken[1]));
}

/* Why a trailer of one name is refused that lies behind a head of that one, and a body. */
static const char *refused_trailer(const char *name) {
    char bytes[64];
    head_check check;
    int size = snprintf(bytes, sizeof bytes, "Host%cx%c0%c%s%c1", 0, 0, 0, name, 0);
    head_begin_trailer(&check, bytes + 7);
    head_line(&check, bytes, bytes + 5);
    head_line(&check, bytes + 9, bytes + size - 1);
    return check.why;
}

static void a_trailer_that_says_how_long_the_body_is_is_refused_and_a_repeated_head_is_not(void **state) {
    (void)state;
    static const char *const names[] = { "Content-Length", "transfer-encoding", "Host", "a b", "" };
    assert_null(refused_trailer("X-Sum"));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) assert_non_null(refused_trailer(names[i]));
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
        cmocka_unit_test(a_nul_in_a_target_is_found_by_where_the_protocol_lies),
        cmocka_unit_test(the_line_of_a_chunk_is_its_size_and_extensions_between_two_ends_of_lines),
        cmocka_unit_test(a_trailer_that_says_how_long_the_body_is_is_refused_and_a_repeated_head_is_not),
        cmocka_unit_test(only_the_version_that_was_looked_at_is_taken_to_read_in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
