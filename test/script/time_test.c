/* Moments: what the library answers, beyond the examples of docs/reference/expressions.md. */
#include "script/rig.h"

static void moments_are_read(void **state) {
    RIG_EXPECT_ALL(
        { "time.parse('1970-01-01')", "0" }, { "time.parse('1970-01-01T00:01')", "60" },
        { "time.parse('1970-01-01 00:00:01Z')", "1" }, { "time.parse('1970-01-01T00:00:01.5z')", "1.5" },
        { "time.parse('1970-01-01T00:00:01,25-00:30')", "1801.25" },
        { "time.parse('1970-01-01T00:00:00+0100')", "-3600" }, { "time.parse('1970-01-01T00:00:00+01')", "-3600" },
        { "time.parse('2000-02-29')", "951782400" }, { "time.parse('1900-02-29')", "null" },
        { "time.parse('2026-04-31')", "null" }, { "time.parse('2026-13-01')", "null" },
        { "time.parse('2026-01-01T24:00:00')", "null" }, { "time.parse('2016-12-31T23:59:60Z')", "1483228800" },
        { "time.parse('2026-01-01T00:00:00.')", "null" }, { "time.parse('2026-01-01T00:00:00+24:00')", "null" },
        { "time.parse('2026-01-01T00:00:00+01:')", "null" }, { "time.parse('2026-01-01x')", "null" },
        { "time.parse('26-01-01')", "null" }, { "time.parse('')", "null" },
        { "time.parse('0000-01-01')", "-62167219200" }, { "time.parse('0000-01-01T00:00:00+00:01')", "null" },
        { "time.parse('9999-12-31T23:59:59Z')", "253402300799" },
        { "time.parse('1970-01-01T00:00:00.1234567899')", "0.123456" });
}

static void formats_are_read(void **state) {
    RIG_EXPECT_ALL({ "time.parse('12/31/69 11:59 pm', '%m/%d/%y %I:%M %p')", "-60" },
                   { "time.parse('12 am 68', '%I %p %y')", "3092601600" },
                   { "time.parse('Jan  5 10:00:00', '%b %e %H:%M:%S')", "381600" },
                   { "time.parse('sunday 1 MARCH 2026', '%A %d %B %Y')", "1772323200" },
                   { "time.parse('2026-060', '%Y-%j')", "1772323200" }, { "time.parse('2026-366', '%Y-%j')", "null" },
                   { "time.parse('1700000000.250', '%s.%L')", "1700000000.25" }, { "time.parse('-1', '%s')", "-1" },
                   { "time.parse('10:00:00 GMT', '%T %Z')", "36000" },
                   { "time.parse('10:00:00 CET', '%T %Z')", "null" },
                   { "time.parse('1970-01-02 +02:00', '%F %z')", "79200" }, { "time.parse('100%', '%H0%%')", "36000" },
                   { "time.parse('1 ', '%d')", "null" }, { "time.parse('x', '%d')", "null" },
                   { "time.parse('13 am', '%I %p')", "null" }, { "time.parse('', '')", "0" },
                   { "time.parse('1', '%Q')", "here:1: the format has '%Q', which is none of %Y %y %m %d %e %j %H %I "
                                              "%p %M %S %f %L %b %B %a %A %z %Z %s %F %T %%" },
                   { "time.parse('1', 'a%')", "here:1: the format ends with '%'" });
}

static void moments_are_written(void **state) {
    RIG_EXPECT_ALL(
        { "time.format(0)", "\"1970-01-01T00:00:00Z\"" }, { "time.format(-1)", "\"1969-12-31T23:59:59Z\"" },
        { "time.format(-0.5)", "\"1969-12-31T23:59:59.5Z\"" }, { "time.format(now())", "\"2023-11-14T22:13:20.5Z\"" },
        { "time.format(0.9999999)", "\"1970-01-01T00:00:01Z\"" },
        { "time.format(1.000001)", "\"1970-01-01T00:00:01.000001Z\"" },
        { "time.format(1e9, '%Y %y %m %d %e %j %H %I %p %M %S %f %L %b %B %a %A %z %Z %s %F %T %%')",
          "\"2001 01 09 09  9 252 01 01 AM 46 40 000000 000 Sep September Sun Sunday +0000 UTC 1000000000 2001-09-09 "
          "01:46:40 %\"" },
        { "time.format(43200, '%I%p')", "\"12PM\"" }, { "time.format(0, '')", "\"\"" },
        { "time.format(-62167219200)", "\"0000-01-01T00:00:00Z\"" },
        { "time.format(253402300799)", "\"9999-12-31T23:59:59Z\"" },
        { "time.format(253402300800)", "here:1: bad argument #1 to 'format' (is outside of the years 0 to 9999)" },
        { "time.format(0/0)", "here:1: bad argument #1 to 'format' (is outside of the years 0 to 9999)" },
        { "time.format(math.huge)", "here:1: bad argument #1 to 'format' (is outside of the years 0 to 9999)" },
        { "time.format(math.mininteger)", "here:1: bad argument #1 to 'format' (is outside of the years 0 to 9999)" },
        { "time.format('x')", "here:1: bad argument #1 to 'format' (number expected, got string)" },
        { "time.format(0, '%Q%')", "here:1: the format has '%Q', which is none of %Y %y %m %d %e %j %H %I %p %M %S %f "
                                   "%L %b %B %a %A %z %Z %s %F %T %%" });
}

static void every_day_is_read_as_it_was_written(void **state) {
    RIG_EXPECT_ALL({ "for s = -62167219200, 253402300799, 86400 * 1997 do local t = s + 12345 "
                     "if time.parse(time.format(t)) ~= t then return t end "
                     "if time.parse(time.format(t, '%Y %j %T'), '%Y %j %T') ~= t then return t end end return 'all'",
                     "\"all\"" });
}

static void moments_have_dates_and_steps(void **state) {
    RIG_EXPECT_ALL(
        { "time.date(-1)",
          "{\"day\":31,\"hour\":23,\"min\":59,\"month\":12,\"sec\":59,\"wday\":4,\"yday\":365,\"year\":1969}" },
        { "time.date(951868799).yday", "60" }, { "time.date(951868799).wday", "3" }, { "time.floor(119, 60)", "60" },
        { "time.floor(-1, 60)", "-60" }, { "time.floor(120, 60)", "120" }, { "time.floor(1.75, 0.5)", "1.5" },
        { "time.floor(119.5, 60)", "60.0" },
        { "time.floor(1, 0)", "here:1: bad argument #2 to 'floor' (is not above 0)" },
        { "time.floor(1, 0/0)", "here:1: bad argument #2 to 'floor' (is not above 0)" },
        { "time.floor(math.mininteger, 3)", "here:1: bad argument #1 to 'floor' (is too small)" },
        { "now()", "1700000000.5" });
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_are_read),
        cmocka_unit_test(formats_are_read),
        cmocka_unit_test(moments_are_written),
        cmocka_unit_test(every_day_is_read_as_it_was_written),
        cmocka_unit_test(moments_have_dates_and_steps),
    };
    return cmocka_run_group_tests(tests, rig_set_up, rig_tear_down);
}
