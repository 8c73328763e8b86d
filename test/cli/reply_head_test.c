#include "cli/reply_head.h"

#include "base/str.h"
#include "harness/cm.h"

#include <gale/error.h>
#include <stdlib.h>

static gx_reply_head head;

static int read_text(const char *text) {
    return gx_reply_head_read(gx_str(text), &head);
}

static void a_head_says_its_status_and_where_the_body_begins(void **state) {
    (void)state;
    const char *text = "HTTP/1.1 404 Not Found\r\nDate: today\r\ncontent-LENGTH:  12 \r\n\r\nbody";
    assert_int_equal(read_text(text), 1);
    assert_int_equal(head.status, 404);
    assert_string_equal(text + head.size, "body");
    assert_true(head.has_length);
    assert_int_equal(head.length, 12);
}

static void the_least_head_has_no_words_and_no_fields(void **state) {
    (void)state;
    assert_int_equal(read_text("HTTP/1.0 200\r\n\r\n"), 1);
    assert_int_equal(head.status, 200);
    assert_false(head.has_length);
}

static void less_than_a_head_needs_more(void **state) {
    (void)state;
    const char *text = "HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 3\r\n\r\n";
    for (size_t size = 0; size < strlen(text); size++)
        assert_int_equal(gx_reply_head_read((gale_str){ text, size }, &head), 0);
    assert_int_equal(read_text(text), 1);
}

static void what_is_no_head_is_refused(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "\r\n",
        "hello\r\n",
        "HTTP/2.0 200 OK\r\n\r\n",
        "HTTP/1.2 200 OK\r\n\r\n",
        "HTTP/1.1 2x0 OK\r\n\r\n",
        "HTTP/1.1 099 OK\r\n\r\n",
        "HTTP/1.1 600 OK\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 200 OK\n\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\n: no name\r\n\r\n",
        "HTTP/1.1 200 OK\r\nName : value\r\n\r\n",
        "HTTP/1.1 200 OK\r\n folded: line\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: \x01\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(read_text(wrong[i]), GALE_INVALID);
    }
}

static void a_head_that_does_not_end_is_too_large(void **state) {
    (void)state;
    size_t size = GX_REPLY_HEAD_MAX + 100;
    char *text = malloc(size + 1);
    memset(text, 'a', size);
    memcpy(text, "HTTP/1.1 200 OK\r\nA: ", 20);
    assert_int_equal(gx_reply_head_read((gale_str){ text, size }, &head), GALE_TOO_LARGE);
    assert_int_equal(gx_reply_head_read((gale_str){ text, GX_REPLY_HEAD_MAX - 1 }, &head), 0);
    memcpy(text + GX_REPLY_HEAD_MAX - 4, "\r\n\r\n", 4);
    assert_int_equal(gx_reply_head_read((gale_str){ text, size }, &head), 1);
    assert_int_equal(head.size, GX_REPLY_HEAD_MAX);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_says_its_status_and_where_the_body_begins),
        cmocka_unit_test(the_least_head_has_no_words_and_no_fields),
        cmocka_unit_test(less_than_a_head_needs_more),
        cmocka_unit_test(what_is_no_head_is_refused),
        cmocka_unit_test(a_head_that_does_not_end_is_too_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
