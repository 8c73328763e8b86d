/* Secrets are not shown. */
#include "serve/redact.h"

#include "base/secret.h"
#include "topology/config.h"

#include "harness/cm.h"

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
                                          "credentials", "private.key", "pwd",           "Authorization" };
    static const char *const open[] = {
        "topology.debug", "key", "keys", "path", "pass", "word", "topology.message.timeout.secs", ""
    };
    for (size_t i = 0; i < sizeof secret / sizeof *secret; i++) assert_true(gx_secret_is_named(gx_str(secret[i])));
    for (size_t i = 0; i < sizeof open / sizeof *open; i++) assert_false(gx_secret_is_named(gx_str(open[i])));
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
    assert_shown("url", gale_text("http://"), "\"http://\"");
    assert_shown("url", gale_text(""), "\"\"");
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
        cmocka_unit_test(what_stands_behind_them_is_three_stars_whatever_it_is),
        cmocka_unit_test(the_password_in_a_url_is_not_shown),
        cmocka_unit_test(all_of_a_configuration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
