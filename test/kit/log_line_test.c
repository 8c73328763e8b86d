#include "kit/log_line.h"

#include "kit/civil.h"

#include <gale/error.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness/cm.h"

#define HEAD "10.0.0.1 - mia [10/Oct/2000:13:55:36 -0700] "
#define REST "\"GET / HTTP/1.0\" 200 2326"

static gx_log_line parse(const char *text) {
    gx_log_line line;
    const char *problem = "none";
    if (gx_log_line_parse(gx_str(text), &line, &problem) < 0) fail_msg("%s: %s", text, problem);
    return line;
}

static void expect(gale_str piece, const char *text) {
    if (text)
        assert_true(gx_str_is(piece, text));
    else
        assert_null(piece.data);
}

static void a_common_line_is_read(void **state) {
    (void)state;
    gx_log_line line = parse("127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] \"GET /apache_pb.gif HTTP/1.0\" 200 2326");
    expect(line.host, "127.0.0.1");
    expect(line.user, "frank");
    expect(line.request, "GET /apache_pb.gif HTTP/1.0");
    expect(line.referer, NULL);
    expect(line.agent, NULL);
    assert_int_equal(line.time, 971211336);
    assert_int_equal(line.status, 200);
    assert_int_equal(line.bytes, 2326);
}

static void a_combined_line_is_read(void **state) {
    (void)state;
    gx_log_line line = parse(HEAD REST " \"http://a/b\" \"Mozilla/4.08 [en]\"");
    expect(line.referer, "http://a/b");
    expect(line.agent, "Mozilla/4.08 [en]");
}

static void dashes_are_nothing_and_no_bytes(void **state) {
    (void)state;
    gx_log_line line = parse("h - - [10/Oct/2000:13:55:36 +0000] \"-\" 408 - \"-\" \"-\"");
    expect(line.user, NULL);
    expect(line.request, NULL);
    expect(line.referer, NULL);
    expect(line.agent, NULL);
    assert_int_equal(line.bytes, 0);
}

static void an_empty_name_of_a_user_is_empty_as_apache_and_nginx_write_it(void **state) {
    (void)state;
    static const char *const users[] = { "\"\"", "" };
    for (size_t i = 0; i < sizeof users / sizeof *users; i++) {
        char text[100];
        snprintf(text, sizeof text, "h - %s [10/Oct/2000:13:55:36 +0000] \"-\" 408 -", users[i]);
        gx_log_line line = parse(text);
        expect(line.user, "");
        assert_non_null(line.user.data);
    }
}

static void escapes_stay_as_they_are(void **state) {
    (void)state;
    gx_log_line line = parse(
        "h - a b [10/Oct/2000:13:55:36 +0000] \"GET /\\\"x\\\\\" 200 1 \"\" \"a \\\"b\\\"\" more 7");
    expect(line.user, "a b");
    expect(line.request, "GET /\\\"x\\\\");
    expect(line.referer, "");
    expect(line.agent, "a \\\"b\\\"");
}

static void expect_request(const char *request, const char *method, const char *path, const char *query,
                           const char *protocol) {
    char text[200];
    snprintf(text, sizeof text, "%s\"%s\" 200 1", HEAD, request);
    gx_log_line line = parse(text);
    expect(line.method, method);
    expect(line.path, path);
    expect(line.query, query);
    expect(line.protocol, protocol);
}

static void a_request_has_its_parts(void **state) {
    (void)state;
    expect_request("GET / HTTP/1.0", "GET", "/", NULL, "HTTP/1.0");
    expect_request("POST /find?a=b&c=?d HTTP/2", "POST", "/find", "a=b&c=?d", "HTTP/2");
    expect_request("GET /find? HTTP/1.1", "GET", "/find", "", "HTTP/1.1");
    expect_request("GET /two words?x y HTTP/1.1", "GET", "/two words", "x y", "HTTP/1.1");
    expect_request("GET /old", "GET", "/old", NULL, NULL);
    expect_request("M-SEARCH * HTTP/1.1", "M-SEARCH", "*", NULL, "HTTP/1.1");
    expect_request("GET ?a HTTP/1.1", "GET", "", "a", "HTTP/1.1");
}

static void what_is_no_request_has_no_parts(void **state) {
    (void)state;
    static const char *const requests[] = { "-",
                                            "",
                                            "GET",
                                            "GET ",
                                            "\\x16\\x03\\x01",
                                            "get / HTTP/1.0",
                                            "GET HTTP/1.0 ",
                                            "GET / b",
                                            " / HTTP/1.0",
                                            "GET  HTTP/1.0",
                                            "GET / HTTP/" };
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) expect_request(requests[i], NULL, NULL, NULL, NULL);
}

static void the_offset_is_applied(void **state) {
    (void)state;
    static const struct {
        const char *time;
        int64_t seconds;
    } cases[] = {
        { "01/Jan/1970:00:00:00 +0000", 0 },
        { "01/Jan/1970:00:00:00 +0100", -3600 },
        { "31/Dec/1969:23:59:59 -0001", 59 },
        { "29/Feb/2000:12:00:00 +0000", 951825600 },
        { "28/Feb/2100:23:59:60 +0000", 4107542400 }, /* a leap second, and no leap year */
        { "01/Jan/2026:05:30:00 +0530", 1767225600 },
        { "31/Dec/9999:23:59:59 +0000", INT64_C(253402300799) },
        { "01/Jan/0000:00:00:00 +0000", INT64_C(-62167219200) },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[100];
        snprintf(text, sizeof text, "h - - [%s] " REST, cases[i].time);
        assert_int_equal(parse(text).time, cases[i].seconds);
    }
}

static void what_is_no_line_is_told_with_its_part(void **state) {
    (void)state;
    static const struct {
        const char *text, *problem;
    } cases[] = {
        { "", "there is no host" },
        { "host", "there is no host" },
        { " - - ", "there is no host" },
        { "host -", "there is no identity" },
        { "host - ", "there is no user before a time in brackets" },
        { "host - -", "there is no user before a time in brackets" },
        { "host - - [", "the time is not [dd/Mon/yyyy:hh:mm:ss +hhmm]" },
        { "host - - [10/Oct/2000:13:55:36 -0700", "the time is not [dd/Mon/yyyy:hh:mm:ss +hhmm]" },
        { "host - - [10/oct/2000:13:55:36 -0700] " REST, "the time is not [dd/Mon/yyyy:hh:mm:ss +hhmm]" },
        { "host - - [00/Oct/2000:13:55:36 -0700] " REST, "the time is not [dd/Mon/yyyy:hh:mm:ss +hhmm]" },
        { "host - - [31/Apr/2000:13:55:36 -0700] " REST, "the time is not [dd/Mon/yyyy:hh:mm:ss +hhmm]" },
        { "host - - [29/Feb/1900:13:55:36 -0700] " REST, "the time is not [dd/Mon/yyyy:hh:mm:ss +hhmm]" },
        { "host - - [10/Oct/2000:24:55:36 -0700] " REST, "the time is not [dd/Mon/yyyy:hh:mm:ss +hhmm]" },
        { "host - - [10/Oct/2000:13:60:36 -0700] " REST, "the time is not [dd/Mon/yyyy:hh:mm:ss +hhmm]" },
        { "host - - [10/Oct/2000:13:55:61 -0700] " REST, "the time is not [dd/Mon/yyyy:hh:mm:ss +hhmm]" },
        { "host - - [10/Oct/2000:13:55:36 -2400] " REST, "the time is not [dd/Mon/yyyy:hh:mm:ss +hhmm]" },
        { "host - - [10/Oct/2000:13:55:36 -0760] " REST, "the time is not [dd/Mon/yyyy:hh:mm:ss +hhmm]" },
        { "host - - [10/Oct/2000:13:55:36 00700] " REST, "the time is not [dd/Mon/yyyy:hh:mm:ss +hhmm]" },
        { "host - - [1 /Oct/2000:13:55:36 -0700] " REST, "the time is not [dd/Mon/yyyy:hh:mm:ss +hhmm]" },
        { "host - - [10-Oct-2000 13:55:36 -0700] " REST, "the time is not [dd/Mon/yyyy:hh:mm:ss +hhmm]" },
        { HEAD "GET / 200 1", "the request is not in quotes" },
        { HEAD "\"GET /", "the request is not in quotes" },
        { HEAD "\"GET /\\", "the request is not in quotes" },
        { HEAD "\"GET /\\\" 200 1", "the request is not in quotes" },
        { HEAD "\"GET /\"", "the status is not of three digits" },
        { HEAD "\"GET /\" 20 1", "the status is not of three digits" },
        { HEAD "\"GET /\" 2x0 1", "the status is not of three digits" },
        { HEAD "\"GET /\" 200", "the status is not of three digits" },
        { HEAD "\"GET /\" 200 ", "the size is neither a number nor -" },
        { HEAD "\"GET /\" 200 12k", "the size is neither a number nor -" },
        { HEAD "\"GET /\" 200 9999999999999999999", "the size is neither a number nor -" },
        { HEAD REST " more", "the referer is not in quotes" },
        { HEAD REST " \"-\"", "the agent is not in quotes" },
        { HEAD REST " \"-\" \"cut", "the agent is not in quotes" },
        { HEAD REST " \"-\" \"a\"b", "something follows the agent at once" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gx_log_line line = { .time = -77 };
        const char *problem = "none";
        assert_int_equal(gx_log_line_parse(gx_str(cases[i].text), &line, &problem), GALE_INVALID);
        assert_string_equal(problem, cases[i].problem);
        assert_int_equal(line.time, -77);
    }
}

/* Each in memory of its own size, so that a sanitizer sees a byte too many. */
static void every_beginning_of_a_line_is_survived(void **state) {
    (void)state;
    static const char whole[] = HEAD REST " \"http://a/b\" \"an \\\"agent\\\"\" more";
    size_t whole_count = 0;
    for (size_t size = 0; size < sizeof whole; size++) {
        gx_log_line line;
        const char *problem = NULL;
        char *text = malloc(size ? size : 1);
        assert_non_null(text);
        memcpy(text, whole, size);
        whole_count += gx_log_line_parse((gale_str){ text, size }, &line, &problem) == 0;
        free(text);
    }
    assert_in_range(whole_count, 10, 20); /* it may end in the bytes, behind them, and behind the agent */
}

static void a_number_may_be_as_large_as_it_fits(void **state) {
    (void)state;
    assert_int_equal(parse(HEAD "\"x\" 200 900000000000000000").bytes, INT64_C(900000000000000000));
}

static void days_and_dates_agree_for_six_centuries(void **state) {
    (void)state;
    static const int32_t lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    int64_t day = gx_civil_days((gx_civil){ 1799, 12, 31 });
    for (int64_t year = 1800; year < 2400; year++) {
        bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
        for (int32_t month = 1; month <= 12; month++) {
            for (int32_t d = 1; d <= lengths[month - 1] + (month == 2 && leap); d++) {
                assert_int_equal(gx_civil_days((gx_civil){ year, month, d }), ++day);
                gx_civil back = gx_civil_of(day);
                assert_true(back.year == year && back.month == month && back.day == d);
            }
        }
    }
    assert_int_equal(gx_civil_days((gx_civil){ 1970, 1, 1 }), 0);
}

/* --- Words before the host ------------------------------------------------------------------------------------------ */

static const char *const fronts[] = {
    "",      "shop.example ", "shop.example:443 ",    "localhost ", "- ",
    "1234 ", "192.0.2.9, ",   "unknown, 192.0.2.9, ", "192.0.2.9,", "shop.example 192.0.2.9, "
};
static const char *const hosts[] = { "192.0.2.7", "2001:db8::7", "::1", "client.example.net", "web1" };
static const char *const idents[] = { "-", "root", "sshd-7" };
static const char *const users[] = { "-", "eve", "mia maria", "domain\\eve", "eve@example.net", "10" };
static const char *const behinds[] = { "", " -", " 192.0.2.8", " 2001:db8::8" };

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* A name in the host's place and a name as identity: nothing tells that they are one word further than they should
 * be. */
static bool looks_right(const char *front, const char *host, const char *ident) {
    bool named = (*host < '0' || *host > '9') && *host != ':';
    return named && strcmp(ident, "-") != 0 && !strchr(front, ',') && !strchr(front, ':');
}

static void look_at(const char *front, const char *host, const char *ident, const char *user, const char *behind) {
    char text[300];
    gx_log_line line;
    const char *problem = NULL;
    snprintf(text, sizeof text, "%s%s %s %s%s [10/Oct/2000:13:55:36 -0700] " REST, front, host, ident, user, behind);
    int rc = gx_log_line_parse(gx_str(text), &line, &problem);
    if (!*front && !*behind) {
        if (rc < 0) fail_msg("%s: %s", text, problem);
        expect(line.host, host);
        expect(line.user, strcmp(user, "-") == 0 ? NULL : user);
    } else if (rc >= 0 && (*behind || strcmp(user, "-") == 0 || !looks_right(front, host, ident))) {
        fail_msg("%s: host '%.*s', user '%.*s'", text, GX_STR(line.host), GX_STR(line.user));
    }
}

static void each_field_is_read_in_its_place_or_the_line_is_refused(void **state) {
    (void)state;
    for (size_t f = 0; f < COUNT(fronts); f++)
        for (size_t h = 0; h < COUNT(hosts); h++)
            for (size_t i = 0; i < COUNT(idents); i++)
                for (size_t u = 0; u < COUNT(users); u++)
                    for (size_t b = 0; b < COUNT(behinds); b++)
                        look_at(fronts[f], hosts[h], idents[i], users[u], behinds[b]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_field_is_read_in_its_place_or_the_line_is_refused),
        cmocka_unit_test(a_common_line_is_read),
        cmocka_unit_test(a_combined_line_is_read),
        cmocka_unit_test(dashes_are_nothing_and_no_bytes),
        cmocka_unit_test(an_empty_name_of_a_user_is_empty_as_apache_and_nginx_write_it),
        cmocka_unit_test(escapes_stay_as_they_are),
        cmocka_unit_test(a_request_has_its_parts),
        cmocka_unit_test(what_is_no_request_has_no_parts),
        cmocka_unit_test(the_offset_is_applied),
        cmocka_unit_test(what_is_no_line_is_told_with_its_part),
        cmocka_unit_test(every_beginning_of_a_line_is_survived),
        cmocka_unit_test(a_number_may_be_as_large_as_it_fits),
        cmocka_unit_test(days_and_dates_agree_for_six_centuries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
