/* Secrets are not shown. */
#include "serve/redact.h"

#include "base/secret.h"
#include "topology/config.h"

#include "harness/cm.h"

#include <stdio.h>
#include <string.h>

static void assert_shown(const char *key, gale_value value, const char *expected) {
    gx_buf out = GX_BUF_INIT(NULL);
    gx_json json = gx_json_to(&out);
    gx_redact_value(&json, gx_str(key), &value);
    assert_string_equal(gx_buf_text(&out), expected);
    gx_buf_fini(&out);
}

static void keys_that_are_called_after_secrets_are(void **state) {
    (void)state;
    static const char *const secret[] = { "password",    "db.password", "PASSWORD",      "dbPassword",
                                          "smtp_passwd", "a.secret",    "client-secret", "api_key",
                                          "apiKey",      "API-KEY",     "token",         "auth.token.file",
                                          "credentials", "private.key", "pwd",           "Authorization",
                                          "auth.key",    "hmac_key" };
    static const char *const open[] = {
        "topology.debug", "key", "keys", "path", "pass", "word", "topology.message.timeout.secs", ""
    };
    for (size_t i = 0; i < sizeof secret / sizeof *secret; i++) assert_true(gx_secret_is_named(gx_str(secret[i])));
    for (size_t i = 0; i < sizeof open / sizeof *open; i++) assert_false(gx_secret_is_named(gx_str(open[i])));
}

static void where_a_secret_is_read_from_is_none(void **state) {
    (void)state;
    static const char *const places[] = { "passwordFrom", "token_file", "privateKeyPath", "auth.token.file" };
    static const char *const secret[] = { "password", "from.password", "token.file.secret" };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) assert_false(gx_secret_is_key(gx_str(places[i])));
    for (size_t i = 0; i < sizeof secret / sizeof *secret; i++) assert_true(gx_secret_is_key(gx_str(secret[i])));
}

static void what_stands_behind_them_is_three_stars_whatever_it_is(void **state) {
    (void)state;
    const gale_value items[] = { gale_text("hunter2"), gale_i64(7) };
    const gale_value pairs[] = { gale_text("user"), gale_text("me"), gale_text("password"), gale_text("hunter2") };
    assert_shown("db.password", gale_text("hunter2"), "\"***\"");
    assert_shown("db.password", gale_i64(1234), "\"***\"");
    assert_shown("db.passwords", gale_list(items, 2), "\"***\"");
    assert_shown("db", gale_list(items, 2), "[\"hunter2\",7]");
    assert_shown("db", gale_map(pairs, 2), "{\"user\":\"me\",\"password\":\"***\"}");
    const gale_value list[] = { gale_map(pairs, 2) };
    assert_shown("dbs", gale_list(list, 1), "[{\"user\":\"me\",\"password\":\"***\"}]");
}

static void the_password_in_a_url_is_not_shown(void **state) {
    (void)state;
    assert_shown("url", gale_text("redis://me:hunter2@host:6379/0"), "\"redis://me:***@host:6379/0\"");
    assert_shown("url", gale_text("redis://me:a@b@host"), "\"redis://me:***@host\"");
    assert_shown("url", gale_text("redis://me@host/a:b@c"), "\"redis://me@host/a:b@c\"");
    assert_shown("url", gale_text("http://host:80/x"), "\"http://host:80/x\"");
    assert_shown("url", gale_text("http://h/?a=1&token=x&b=2"), "\"http://h/?a=1&token=***&b=2\"");
    assert_shown("header", gale_text("Authorization: Bearer x"), "\"Authorization: ***\"");
    assert_shown("url", gale_text("http://"), "\"http://\"");
    assert_shown("url", gale_text(""), "\"\"");
}

static void assert_masked(const char *text, const char *expected) {
    char copy[200];
    snprintf(copy, sizeof copy, "%s", text);
    gx_secret_mask(copy);
    assert_string_equal(copy, expected);
}

static void what_follows_a_name_that_speaks_of_one_is_masked_in_any_text(void **state) {
    (void)state;
    assert_masked("http://h/p?token=abcd&n=1&password=x%20y", "http://h/p?token=***&n=1&password=***");
    assert_masked("host=h password=hunter2 user=me", "host=h password=*** user=me");
    assert_masked("with password = \"a b, c\" and n = 1", "with password = \"***\" and n = 1");
    assert_masked("-c db.password=hunter2", "-c db.password=***");
    assert_masked("auth.key='k', key='v'", "auth.key='*', key='v'");
    assert_masked("Authorization: Basic dXNlcjpwYXNz\r\nHost: h", "Authorization: ***\r\nHost: h");
    assert_masked("\"authorization\": \"Bearer x y\"", "\"authorization\": \"***\"");
    assert_masked("sends Bearer eyJhbGci.eyJzdWI", "sends Bearer ***");
    assert_masked("token=ab", "token=**");
    assert_masked("redis://a:b1234@x redis://c:d1234@y", "redis://a:***@x redis://c:***@y");
}

static void what_speaks_of_none_stays_as_it_is(void **state) {
    (void)state;
    static const char *const texts[] = { "",
                                         "=",
                                         ":",
                                         "://",
                                         "://:@",
                                         " ",
                                         "token",
                                         "token=",
                                         "password = ",
                                         "unexpected token: ')'",
                                         "where token == \"x\"",
                                         "password: must be text",
                                         "a basic understanding",
                                         "bearer of news",
                                         "key=value",
                                         "http://h:80/a@b:c",
                                         "n ~= 1 and t != 2" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) assert_masked(texts[i], texts[i]);
}

/* And no longer. */
static void any_text_can_be_masked(void **state) {
    (void)state;
    static const char letters[] = "ab=:/@\"' token=basic Bearer ://.-&\n\xc3";
    uint32_t drawn = 1;
    for (int i = 0; i < 20000; i++) {
        char text[60];
        size_t size = (drawn = drawn * 1664525 + 1013904223) >> 26;
        if (size >= sizeof text) size = sizeof text - 1;
        for (size_t at = 0; at < size; at++)
            text[at] = letters[((drawn = drawn * 1664525 + 1013904223) >> 16) % (sizeof letters - 1)];
        text[size] = '\0';
        gx_secret_mask(text);
        assert_true(strlen(text) <= size);
    }
}

static void all_of_a_configuration(void **state) {
    (void)state;
    gale_config *config = gale_config_new();
    gale_config_set(config, "a", gale_i64(1), NULL);
    gale_config_set(config, "my.secret", gale_text("x"), NULL);
    gale_config_set(config, "host", gale_text("of the environment"), NULL);
    gx_config_hide(config, gx_str("host"));
    gx_config_hide(config, gx_str("none"));
    assert_false(gx_config_hides(config, gx_str("a")));
    gx_buf out = GX_BUF_INIT(NULL);
    gx_json json = gx_json_to(&out);
    gx_redact_config(&json, config);
    assert_string_equal(gx_buf_text(&out), "{\"a\":1,\"my.secret\":\"***\",\"host\":\"***\"}");
    gx_buf_fini(&out);
    gale_config_free(config);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_that_are_called_after_secrets_are),
        cmocka_unit_test(where_a_secret_is_read_from_is_none),
        cmocka_unit_test(what_stands_behind_them_is_three_stars_whatever_it_is),
        cmocka_unit_test(the_password_in_a_url_is_not_shown),
        cmocka_unit_test(what_follows_a_name_that_speaks_of_one_is_masked_in_any_text),
        cmocka_unit_test(what_speaks_of_none_stays_as_it_is),
        cmocka_unit_test(any_text_can_be_masked),
        cmocka_unit_test(all_of_a_configuration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
