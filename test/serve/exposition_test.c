/* Metrics as text. */
#include "serve/exposition.h"

#include "harness/cm.h"

#include <math.h>

static const gx_family counter = { "gale_a", GX_FAMILY_COUNTER, "", "Counts." };
static const gx_family seconds = { "gale_b_seconds", GX_FAMILY_COUNTER, "seconds", "Time." };
static const gx_family gauge = { "gale_c", GX_FAMILY_GAUGE, "", "Is \"a\"\\b\n." };

static void write(gx_buf *out, bool open) {
    gx_exposition to = { .out = out, .open = open };
    const gx_label labels[] = { { "component", "a\"b\\c\nd" }, { "task", "7" }, { 0 } };
    gx_exposition_family(&to, &counter);
    gx_exposition_count(&to, "", labels, UINT64_MAX);
    gx_exposition_family(&to, &seconds);
    gx_exposition_number(&to, "", NULL, 0.25);
    gx_exposition_family(&to, &gauge);
    gx_exposition_number(&to, "", NULL, (double)NAN);
    gx_exposition_number(&to, "", NULL, (double)INFINITY);
    gx_exposition_number(&to, "", NULL, (double)-INFINITY);
    gx_exposition_end(&to);
}

static void as_prometheus_reads_them(void **state) {
    (void)state;
    gx_buf out = GX_BUF_INIT(NULL);
    write(&out, false);
    assert_string_equal(gx_buf_text(&out),
                        "# HELP gale_a_total Counts.\n# TYPE gale_a_total counter\n"
                        "gale_a_total{component=\"a\\\"b\\\\c\\nd\",task=\"7\"} 18446744073709551615\n"
                        "# HELP gale_b_seconds_total Time.\n# TYPE gale_b_seconds_total counter\n"
                        "gale_b_seconds_total 0.25\n"
                        "# HELP gale_c Is \"a\"\\\\b\\n.\n# TYPE gale_c gauge\ngale_c NaN\ngale_c +Inf\ngale_c -Inf\n");
    gx_buf_fini(&out);
}

static void as_openmetrics_says(void **state) {
    (void)state;
    gx_buf out = GX_BUF_INIT(NULL);
    write(&out, true);
    assert_string_equal(
        gx_buf_text(&out),
        "# HELP gale_a Counts.\n# TYPE gale_a counter\n"
        "gale_a_total{component=\"a\\\"b\\\\c\\nd\",task=\"7\"} 18446744073709551615\n"
        "# HELP gale_b_seconds Time.\n# TYPE gale_b_seconds counter\n# UNIT gale_b_seconds seconds\n"
        "gale_b_seconds_total 0.25\n"
        "# HELP gale_c Is \\\"a\\\"\\\\b\\n.\n# TYPE gale_c gauge\ngale_c NaN\ngale_c +Inf\ngale_c -Inf\n# EOF\n");
    gx_buf_fini(&out);
}

static void who_asks_says_which(void **state) {
    (void)state;
    assert_true(gx_exposition_is_open(gx_str("application/openmetrics-text;version=1.0.0,text/plain;q=0.5")));
    assert_false(gx_exposition_is_open(gx_str("text/plain;version=0.0.4")));
    assert_false(gx_exposition_is_open(gx_str("*/*")));
    assert_false(gx_exposition_is_open((gale_str){ NULL, 0 }));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_prometheus_reads_them),
        cmocka_unit_test(as_openmetrics_says),
        cmocka_unit_test(who_asks_says_which),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
