/* Who is let in. */
#include "serve/access.h"

#include "harness/cm.h"

#include <stdio.h>

#define TOKEN "0123456789abcdef0123"

/* A request that is not changed by what is left out. */
typedef struct row {
    const char *what;
    unsigned status;
    bool changes;
    const char *host, *authorization, *query, *cookie, *origin, *site, *type, *guard;
} row;

static unsigned judge(const gx_access *rules, const row *r) {
    gx_access_request request = { .changes = r->changes,
                                  .host = gx_str(r->host),
                                  .origin = gx_str(r->origin),
                                  .fetch_site = gx_str(r->site),
                                  .cookie = gx_str(r->cookie),
                                  .authorization = gx_str(r->authorization),
                                  .content_type = gx_str(r->type),
                                  .guard = gx_str(r->guard),
                                  .query_token = gx_str(r->query) };
    gx_access_verdict verdict = gx_access_judge(rules, &request);
    assert_int_equal(verdict.status == 0, verdict.why == NULL);
    return verdict.status;
}

static void judge_all(const gx_access *rules, const row *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        unsigned status = judge(rules, &rows[i]);
        if (status != rows[i].status) fail_msg("%s: %u and not %u", rows[i].what, status, rows[i].status);
    }
}

static const char own[] = "127.0.0.1:8080";

static void a_token_is_asked_for(void **state) {
    (void)state;
    const gx_access rules = { gx_str(TOKEN), true, "gale_token_8080" };
    const row rows[] = {
        { "nothing", 401, false, own, 0, 0, 0, 0, 0, 0, 0 },
        { "bearer", 0, false, own, "Bearer " TOKEN, 0, 0, 0, 0, 0, 0 },
        { "bearer in small letters, with spaces", 0, false, own, "bearer   " TOKEN " ", 0, 0, 0, 0, 0, 0 },
        { "query", 0, false, own, 0, TOKEN, 0, 0, 0, 0, 0 },
        { "cookie", 0, false, own, 0, 0, "a=b; gale_token_8080=" TOKEN "; c=d", 0, 0, 0, 0 },
        { "another run's cookie", 401, false, own, 0, 0, "gale_token_8081=" TOKEN, 0, 0, 0, 0 },
        { "basic, of any user", 0, false, own, "Basic Z2FsZTowMTIzNDU2Nzg5YWJjZGVmMDEyMw==", 0, 0, 0, 0, 0, 0 },
        { "basic, of nobody", 0, false, own, "basic OjAxMjM0NTY3ODlhYmNkZWYwMTIz", 0, 0, 0, 0, 0, 0 },
        { "basic, another password", 401, false, own, "Basic Z2FsZTp4", 0, 0, 0, 0, 0, 0 },
        { "basic, no password", 401, false, own, "Basic Z2FsZQ==", 0, 0, 0, 0, 0, 0 },
        { "basic that is no base64", 401, false, own, "Basic " TOKEN "!", 0, 0, 0, 0, 0, 0 },
        { "a wrong one", 401, false, own, "Bearer 0123456789abcdef0124", 0, 0, 0, 0, 0, 0 },
        { "its beginning", 401, false, own, "Bearer 0123456789abcdef", 0, 0, 0, 0, 0, 0 },
        { "it and more", 401, false, own, "Bearer " TOKEN "0", 0, 0, 0, 0, 0, 0 },
        { "it twice", 401, false, own, "Bearer " TOKEN TOKEN, 0, 0, 0, 0, 0, 0 },
        { "an empty one", 401, false, own, "Bearer ", "", "gale_token_8080=", 0, 0, 0, 0 },
    };
    judge_all(&rules, rows, sizeof rows / sizeof *rows);
}

static void on_loopback_the_host_is_this_machines_own(void **state) {
    (void)state;
    static const char *const good[] = { "127.0.0.1",   "127.0.0.1:8080", "127.8.9.10:1", "localhost",
                                        "LocalHost:9", "[::1]",          "[::1]:8080" };
    static const char *const bad[] = { "gale.evil.example",
                                       "gale.evil.example:8080",
                                       "localhost.evil.example",
                                       "127.0.0.1.evil",
                                       "127.0.0.1:",
                                       "127.0.0.1:x",
                                       "127.0.0.1:99999",
                                       "128.0.0.1",
                                       "127.0.0",
                                       "127.0.0.256",
                                       "0.0.0.0",
                                       "[::2]",
                                       "::1",
                                       "[::1",
                                       "127.0.0.1:80:80",
                                       "localhost:80@evil",
                                       " " };
    const gx_access rules = { gx_str(TOKEN), true, "c" }, far = { gx_str(TOKEN), false, "c" };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        row r = { good[i], 0, false, good[i], 0, TOKEN, 0, 0, 0, 0, 0 };
        judge_all(&rules, &r, 1);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        row r = { bad[i], 421, false, bad[i], 0, TOKEN, 0, 0, 0, 0, 0 };
        judge_all(&rules, &r, 1);
        r.status = 0;
        judge_all(&far, &r, 1);
    }
}

static void what_changes_something_is_refused_to_other_sites(void **state) {
    (void)state;
    const gx_access rules = { gx_str(TOKEN), true, "c" };
    const char *cookie = "c=" TOKEN, *bearer = "Bearer " TOKEN;
    const row rows[] = {
        { "a command", 0, true, own, bearer, 0, 0, 0, 0, 0, 0 },
        { "the page", 0, true, own, 0, 0, cookie, "http://127.0.0.1:8080", "same-origin", "application/json", 0 },
        { "the page, with our header", 0, true, own, 0, 0, cookie, "http://127.0.0.1:8080", 0, 0, "1" },
        { "JSON with its letters", 0, true, own, 0, 0, cookie, 0, "none", "application/json; charset=utf-8", 0 },
        { "a form with the cookie", 403, true, own, 0, 0, cookie, 0, 0, "application/x-www-form-urlencoded", 0 },
        { "text with the cookie", 403, true, own, 0, 0, cookie, 0, 0, "text/plain", 0 },
        { "nothing with the cookie", 403, true, own, 0, 0, cookie, 0, 0, 0, 0 },
        { "another origin", 403, true, own, 0, 0, cookie, "http://evil.example", 0, "application/json", 0 },
        { "another port", 403, true, own, bearer, 0, 0, "http://127.0.0.1:80801", 0, 0, 0 },
        { "an origin that hides", 403, true, own, bearer, 0, 0, "null", 0, 0, 0 },
        { "another site", 403, true, own, bearer, 0, 0, 0, "cross-site", 0, 0 },
        { "a neighbour of it", 403, true, own, bearer, 0, 0, 0, "same-site", 0, 0 },
        { "a question of another site", 0, false, own, bearer, 0, 0, "http://evil.example", "cross-site", 0, 0 },
        { "without a token all the same", 401, true, own, 0, 0, 0, 0, 0, "application/json", "1" },
    };
    judge_all(&rules, rows, sizeof rows / sizeof *rows);
}

static const char *why_not(const char *authorization, const char *query, const char *cookie) {
    const gx_access rules = { gx_str(TOKEN), true, "gale_token_8080" };
    gx_access_request request = { .host = gx_str(own),
                                  .authorization = gx_str(authorization),
                                  .query_token = gx_str(query),
                                  .cookie = gx_str(cookie) };
    return gx_access_judge(&rules, &request).why;
}

static void who_brings_a_wrong_one_is_told_where_the_right_one_is(void **state) {
    (void)state;
    static const char wrong[] = "this token is not the run's: the right one is in the address";
    assert_non_null(strstr(why_not("", "", ""), "a token is needed"));
    assert_non_null(strstr(why_not("Bearer x", "", ""), wrong));
    assert_non_null(strstr(why_not("", "x", ""), wrong));
    assert_non_null(strstr(why_not("", "", "gale_token_8080=x"), wrong));
    assert_non_null(strstr(why_not("", "", "gale_token_8081=x"), "a token is needed"));
}

static void a_door_without_a_token_lets_in_who_reaches_it(void **state) {
    (void)state;
    const gx_access rules = { { NULL, 0 }, false, NULL };
    const row rows[] = {
        { "nothing", 0, false, 0, 0, 0, 0, 0, 0, 0, 0 },
        { "a change", 0, true, "gale", 0, 0, 0, 0, 0, 0, 0 },
        { "any token", 0, true, "gale", "Bearer x", 0, 0, 0, 0, 0, 0 },
    };
    judge_all(&rules, rows, sizeof rows / sizeof *rows);
    assert_false(gx_access_same((gale_str){ NULL, 0 }, (gale_str){ NULL, 0 }));
}

static void cookies_are_found_by_their_whole_name(void **state) {
    (void)state;
    assert_true(gx_str_is(gx_access_cookie(gx_str("a=1;b=2 ; c=3"), "b"), "2"));
    assert_true(gx_str_is(gx_access_cookie(gx_str("a=1=2"), "a"), "1=2"));
    assert_int_equal(gx_access_cookie(gx_str("ab=1; xa=2"), "a").size, 0);
    assert_int_equal(gx_access_cookie(gx_str(""), "a").size, 0);
    assert_int_equal(gx_access_cookie(gx_str(";;=;a"), "a").size, 0);
    assert_int_equal(gx_access_cookie((gale_str){ NULL, 0 }, "a").size, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_is_asked_for),
        cmocka_unit_test(on_loopback_the_host_is_this_machines_own),
        cmocka_unit_test(what_changes_something_is_refused_to_other_sites),
        cmocka_unit_test(who_brings_a_wrong_one_is_told_where_the_right_one_is),
        cmocka_unit_test(a_door_without_a_token_lets_in_who_reaches_it),
        cmocka_unit_test(cookies_are_found_by_their_whole_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
