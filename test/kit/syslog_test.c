/* The table of docs/api/net.md has whole messages (test/cli/net_test.py); here is what it does not say. */
#include "kit/syslog.h"

#include <stdio.h>

#include "harness/cm.h"

static const int64_t now = 1795410000; /* 2026-11-23 05:00:00 */

static gx_syslog read(const char *text) {
    gx_syslog m;
    gx_syslog_read(gx_str(text), now, 0, &m);
    return m;
}

static void expect(gale_str piece, const char *text) {
    if (text && !gx_str_is(piece, text)) fail_msg("'%.*s' is not '%s'", GX_STR(piece), text);
    if (!text) assert_null(piece.data);
}

/* Neither of the RFCs': its message is all of the text, or what is behind the PRI. */
static void expect_none(const char *text, const char *message) {
    gx_syslog m = read(text);
    assert_int_equal(m.form, GX_SYSLOG_NONE);
    assert_false(m.has_time);
    expect(m.host, NULL);
    expect(m.app, NULL);
    expect(m.data, NULL);
    expect(m.message, message);
}

static void what_has_no_pri_is_a_message_of_user_and_notice(void **state) {
    (void)state;
    static const char *const texts[] = { "",       "a",     "<",     "<>m",   "<1", "<1234>m",
                                         "<192>m", "<-1>m", "<+1>m", "< 1>m", "1 m" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        expect_none(texts[i], texts[i]);
        assert_int_equal(read(texts[i]).facility, 1);
        assert_int_equal(read(texts[i]).severity, 5);
    }
}

static void a_pri_is_a_facility_and_a_severity(void **state) {
    (void)state;
    for (int pri = 0; pri <= 191; pri++) {
        char text[16];
        snprintf(text, sizeof text, "<%d>m", pri);
        gx_syslog m = read(text);
        assert_int_equal(m.facility, pri / 8);
        assert_int_equal(m.severity, pri % 8);
        expect(m.message, "m");
        assert_non_null(gx_syslog_facility_name(m.facility));
        assert_non_null(gx_syslog_severity_name(m.severity));
    }
    assert_string_equal(gx_syslog_facility_name(10), "authpriv");
    assert_string_equal(gx_syslog_facility_name(23), "local7");
    assert_string_equal(gx_syslog_severity_name(7), "debug");
}

static void what_says_that_it_is_5424_and_is_not_keeps_its_pri(void **state) {
    (void)state;
    static const char *const heads[] = { "1 ",
                                         "1 2026-11-23T05:00:00Z",
                                         "1 2026-11-23T05:00:00Z h a p m",
                                         "1 2026-11-23T05:00:00Z h a p m x",
                                         "1 2026-11-23T05:00:00Z h  a p m -",
                                         "1 2026-13-23T05:00:00Z h a p m -",
                                         "1 2026-11-23T05:00:00Z h a p m -x",
                                         "1 2026-11-23T05:00:00Z h a p m [",
                                         "1 2026-11-23T05:00:00Z h a p m [a",
                                         "1 2026-11-23T05:00:00Z h a p m []",
                                         "1 2026-11-23T05:00:00Z h a p m [a b]",
                                         "1 2026-11-23T05:00:00Z h a p m [a b=c]",
                                         "1 2026-11-23T05:00:00Z h a p m [a b=\"c]",
                                         "1 2026-11-23T05:00:00Z h a p m [a b=\"c\\\"]",
                                         "1 2026-11-23T05:00:00Z h a p m [a b=\"c\"]x",
                                         "1 2026-11-23T05:00:00Z h a p m [a =\"c\"]" };
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        char text[100];
        snprintf(text, sizeof text, "<34>%s", heads[i]);
        expect_none(text, heads[i]);
        assert_int_equal(read(text).facility, 4);
        assert_int_equal(read(text).severity, 2);
    }
}

static void structured_data_is_taken_to_pieces(void **state) {
    (void)state;
    gx_syslog m = read("<34>1 - - - - - [a x=\"1\" y=\"\\\"]\\\\\\]\\n\"][b] tail");
    gale_str data = m.data, id, parameters, name, value;
    char plain[20];
    assert_int_equal(m.form, GX_SYSLOG_5424);
    expect(m.message, "tail");
    assert_true(gx_syslog_element(&data, &id, &parameters));
    expect(id, "a");
    assert_true(gx_syslog_parameter(&parameters, &name, &value));
    expect(name, "x");
    expect(value, "1");
    assert_true(gx_syslog_parameter(&parameters, &name, &value));
    expect(name, "y");
    expect((gale_str){ plain, gx_syslog_unescape(value, plain) }, "\"]\\]\\n");
    assert_false(gx_syslog_parameter(&parameters, &name, &value));
    assert_true(gx_syslog_element(&data, &id, &parameters));
    expect(id, "b");
    assert_false(gx_syslog_parameter(&parameters, &name, &value));
    assert_false(gx_syslog_element(&data, &id, &parameters));
}

static void a_message_may_be_empty_or_lack(void **state) {
    (void)state;
    expect(read("<34>1 - - - - - -").message, "");
    expect(read("<34>1 - - - - - - ").message, "");
    expect(read("<34>1 - - - - - -  m").message, " m");
    expect(read("<34>1 - - - - - - \xef\xbb\xbf").message, "");
}

static void ends_of_lines_and_nuls_at_the_end_are_no_part_of_it(void **state) {
    (void)state;
    gx_syslog m;
    expect(read("<34>m\r\n").message, "m");
    gx_syslog_read((gale_str){ "<34>m\n\0", 7 }, now, 0, &m);
    expect(m.message, "m");
}

typedef struct old {
    const char *text;
    int64_t time; /* 0: it has none */
    const char *host, *app, *procid, *message;
} old;

static void rfc_3164_as_it_is_seen(void **state) {
    (void)state;
    const int64_t then = 1795410001; /* 2026-11-23 05:00:01 */
    const old table[] = {
        { "Nov 23 05:00:01 h a: m", then, "h", "a", NULL, "m" },
        { "Nov 23 05:00:01 h a[7]: m", then, "h", "a", "7", "m" },
        { "Nov 23 05:00:01 h a[7] m", then, "h", "a", "7", "m" },
        { "Nov 23 05:00:01 h a[]: m", then, "h", "a", NULL, "m" },
        { "Nov 23 05:00:01 h a[7: m", then, "h", NULL, NULL, "a[7: m" },
        { "Nov 23 05:00:01 h", then, "h", NULL, NULL, "" },
        { "Nov 23 05:00:01 a: m", then, NULL, "a", NULL, "m" },
        { "Nov 23 05:00:01 a:", then, NULL, "a", NULL, "" },
        { "Nov 23 05:00:01", then, NULL, NULL, NULL, "" },
        { "Nov 23 05:00:01 fe80::1 a: m", then, "fe80::1", "a", NULL, "m" },
        { "Nov 23 2026 05:00:01 h a: m", then, "h", "a", NULL, "m" },
        { "Nov 23 05:00:01 2026 h a: m", then, "h", "a", NULL, "m" },
        { "Nov 23 05:00:01 UTC 2026 h a: m", then, "h", "a", NULL, "m" },
        { "Nov 23 05:00:01 UTC h", then, "h", NULL, NULL, "" },
        { "Nov 23 05:00:01 UTC", then, NULL, NULL, NULL, "" },
        { "Nov 23 05:00:01 WEB h", then, "WEB", NULL, NULL, "h" },
        { "Nov 23 05:00:01 CRON: m", then, NULL, "CRON", NULL, "m" },
        { "Nov 23 05:00:01 CRON[7]: m", then, NULL, "CRON", "7", "m" },
        { "Nov 23 05:00:01 MAIL error code: 5", then, "MAIL", NULL, NULL, "error code: 5" },
        { "Nov 23 05:00:01 2001:db8::9 a: m", then, "2001:db8::9", "a", NULL, "m" },
        { "Nov 23 05:00:01 CET 2001:db8::9 a: m", then, "2001:db8::9", "a", NULL, "m" },
        { "Nov 23 05:00:01 dead:beef: m", then, NULL, "dead:beef", NULL, "m" },
        { "Nov 23 05:00:01 web1 dead:beef[7]: m", then, "web1", "dead:beef", "7", "m" },
        { "Nov 23 05:00:01 dead::beef a:b: m", then, "dead::beef", "a:b", NULL, "m" },
        { "Nov 23 05:00:01 web1 a:b m", then, "web1", NULL, NULL, "a:b m" },
        { "Nov 23 05:00:01 2001:: a: m", then, "2001::", "a", NULL, "m" },
        { "Nov 23 05:00:01 1234 a: m", then, "1234", "a", NULL, "m" },
        { "Nov 23 05:00:01 2024 votes were cast", then, "2024", NULL, NULL, "votes were cast" },
        { "Nov 23 05:00:01 2024", then, "2024", NULL, NULL, "" },
        { "Nov 23 05:00:01 9999 h a: m", then, "9999", NULL, NULL, "h a: m" },
        { "Nov 23 05:00:01 WEB 2024 votes were cast", then, "WEB", NULL, NULL, "2024 votes were cast" },
        { "Nov 23 06:00:01 +0100 h a: m", then, "h", "a", NULL, "m" },
        { "Nov 23 06:00:01 +01:00: %A-5-B: m", then, NULL, "%A-5-B", NULL, "m" },
        { "Nov 23 05:00:01.000 CET: %A-5-B: m", then, NULL, "%A-5-B", NULL, "m" },
        { "Nov 23 05:00:01 2026: %A-5-B: m", then, NULL, "%A-5-B", NULL, "m" },
        { "2026 Nov 23 05:00:01 UTC: %A-5-B: m", then, NULL, "%A-5-B", NULL, "m" },
        { "2026 Nov 23 05:00:01 h a: m", 0, NULL, NULL, NULL, "2026 Nov 23 05:00:01 h a: m" },
        { "45: Nov 23 05:00:01: %A-5-B: m", then, NULL, "%A-5-B", NULL, "m" },
        { "000045: *Nov 23 05:00:01.000: %A-5-B: m", then, NULL, "%A-5-B", NULL, "m" },
        { "45: rtr1: .Nov 23 05:00:01.000 UTC: %A-5-B: m", then, "rtr1", "%A-5-B", NULL, "m" },
        { ": 2026 Nov 23 05:00:01 UTC: %A-5-B: m", then, NULL, "%A-5-B", NULL, "m" },
        { "45: m", 0, NULL, NULL, NULL, "45: m" },
        { "*Nov 23 05:00: m", 0, NULL, NULL, NULL, "*Nov 23 05:00: m" },
        { "Nov 23 05:00:01: a: m", then, NULL, "a", NULL, "m" },
        { "2026-11-23T06:00:01+01:00 h a: m", then, "h", "a", NULL, "m" },
        { "Jan  1 00:00:00 h a: m", 1798761600, "h", "a", NULL, "m" }, /* of the year that comes */
        { "Jun  1 00:00:00 h a: m", 1780272000, "h", "a", NULL, "m" },
        { "Jun 1 00:00:00 h a: m", 1780272000, "h", "a", NULL, "m" },
        { "Feb 29 00:00:00 2024 h a: m", 1709164800, "h", "a", NULL, "m" },
        { "Feb 29 00:00:00 h a: m", 0, NULL, NULL, NULL, "Feb 29 00:00:00 h a: m" }, /* there is none that is near */
        { "Nov 23 25:00:01 h a: m", 0, NULL, NULL, NULL, "Nov 23 25:00:01 h a: m" },
        { "Nov 23 h a: m", 0, NULL, NULL, NULL, "Nov 23 h a: m" },
        { "Nov", 0, NULL, NULL, NULL, "Nov" },
        { "2026-11-23 h a: m", 0, NULL, NULL, NULL, "2026-11-23 h a: m" },
        { " Nov 23 05:00:01 h a: m", 0, NULL, NULL, NULL, " Nov 23 05:00:01 h a: m" },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char text[100];
        snprintf(text, sizeof text, "<34>%s", table[i].text);
        gx_syslog m = read(text);
        assert_int_equal(m.form, GX_SYSLOG_3164);
        assert_int_equal(m.has_time, table[i].time != 0);
        if (m.has_time) assert_int_equal(m.time.second, table[i].time);
        expect(m.host, table[i].host);
        expect(m.app, table[i].app);
        expect(m.procid, table[i].procid);
        expect(m.message, table[i].message);
    }
}

static void a_clock_that_says_no_zone_may_be_ahead(void **state) {
    (void)state;
    gx_syslog m;
    gx_syslog_read(gx_str("<34>Nov 23 07:00:00 h a: m"), now, 7200, &m);
    assert_int_equal(m.time.second, now);
    gx_syslog_read(gx_str("<34>2026-11-23T07:00:00 h a: m"), now, 7200, &m);
    assert_int_equal(m.time.second, now);
    gx_syslog_read(gx_str("<34>2026-11-23T05:00:00Z h a: m"), now, 7200, &m);
    assert_int_equal(m.time.second, now);
    gx_syslog_read(gx_str("<34>Nov 23 05:00:00 UTC h a: m"), now, 7200, &m);
    assert_int_equal(m.time.second, now);
    gx_syslog_read(gx_str("<34>Nov 23 07:00:00 CET h a: m"), now, 7200, &m);
    assert_int_equal(m.time.second, now);
}

/* --- Messages of all parts that may be there ------------------------------------------------------------------------- */

static const struct {
    const char *text;
    bool says_year;
} clocks[] = { { "Nov 23 05:00:01", false }, { "Nov 23 2026 05:00:01", true }, { "Nov 23 05:00:01.250", false } };

/* Behind the clock; `year`: it has one. */
static const struct {
    const char *text;
    bool year;
} behind_clock[] = { { "", false },       { " UTC", false },     { " CET", false },
                     { " +0000", false }, { " UTC 2026", true }, { " CST 2026", true },
                     { " Z", false },     { " 2026", true },     { " +00:00", false } };
static const char *const some_hosts[] = { NULL,   "web1", "10.0.0.99",     "2001:db8::9", "2600:1f18::1", "fe80::1",
                                          "1234", "CRON", "a.example.net", "::1",         "20260" };
static const struct {
    const char *text, *app, *procid;
} tags[] = { { "", NULL, NULL },
             { "su: ", "su", NULL },
             { "sshd[7]: ", "sshd", "7" },
             { "a/b[7] ", "a/b", "7" },
             { "%A-5-B: ", "%A-5-B", NULL } };
static const char *const messages[] = { "m", "votes were cast", "2024 votes", "x: y", "UTC", "" };

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* Without a tag, or without a host, the first words of the message would be one: that nobody can tell. */
static bool is_certain(const char *host, const char *tag, const char *message, bool year_alone) {
    if (*tag) return host || !year_alone;
    return host && !strchr(message, ':') && !year_alone;
}

static void look_at(size_t c, size_t b, size_t h, size_t g, size_t k) {
    const char *host = some_hosts[h];
    bool year_alone = strncmp(behind_clock[b].text, " 20", 3) == 0;
    char text[200];
    if ((clocks[c].says_year && behind_clock[b].year) || !is_certain(host, tags[g].text, messages[k], year_alone))
        return;
    snprintf(text, sizeof text, "<34>%s%s%s%s %s%s", clocks[c].text, behind_clock[b].text, host ? " " : "",
             host ? host : "", tags[g].text, messages[k]);
    gx_syslog m = read(text);
    if (!m.has_time || m.time.second != 1795410001) fail_msg("%s: time", text);
    bool same_host = host ? gx_str_is(m.host, host) : !m.host.data;
    bool same_app = tags[g].app ? gx_str_is(m.app, tags[g].app) : !m.app.data;
    if (!same_host || !same_app) fail_msg("%s: host '%.*s', app '%.*s'", text, GX_STR(m.host), GX_STR(m.app));
    expect(m.procid, tags[g].procid);
    expect(m.message, messages[k]);
}

static void all_parts_that_may_be_there_are_found_together(void **state) {
    (void)state;
    for (size_t c = 0; c < COUNT(clocks); c++)
        for (size_t b = 0; b < COUNT(behind_clock); b++)
            for (size_t h = 0; h < COUNT(some_hosts); h++)
                for (size_t g = 0; g < COUNT(tags); g++)
                    for (size_t k = 0; k < COUNT(messages); k++) look_at(c, b, h, g, k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_has_no_pri_is_a_message_of_user_and_notice),
        cmocka_unit_test(a_pri_is_a_facility_and_a_severity),
        cmocka_unit_test(what_says_that_it_is_5424_and_is_not_keeps_its_pri),
        cmocka_unit_test(structured_data_is_taken_to_pieces),
        cmocka_unit_test(a_message_may_be_empty_or_lack),
        cmocka_unit_test(ends_of_lines_and_nuls_at_the_end_are_no_part_of_it),
        cmocka_unit_test(rfc_3164_as_it_is_seen),
        cmocka_unit_test(a_clock_that_says_no_zone_may_be_ahead),
        cmocka_unit_test(all_parts_that_may_be_there_are_found_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
