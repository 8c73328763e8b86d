#include "harness/fake_collector.h"
#include "kit/log_line.h"

#include <gale/kit.h>
#include <stdlib.h>

#include "harness/cm.h"

enum { LATE = 100 };

/* What is read off the lines as they come. */
typedef struct facts {
    uint64_t lines, bad, twice, late, error;
    int64_t first, newest, most_behind;
    char kept[1024];
} facts;

static void look(void *user, const gale_value *values, size_t count) {
    facts *seen = user;
    gx_log_line line;
    const char *problem;
    gale_str text = { values[0].as.string, values[0].size };
    seen->error += count != 1 || values[0].type != GALE_TYPE_STRING || text.size >= sizeof seen->kept;
    seen->twice += seen->lines && gx_str_is(text, seen->kept);
    memcpy(seen->kept, text.data, text.size);
    seen->kept[text.size] = 0;
    seen->lines++;
    if (gx_log_line_parse(text, &line, &problem) < 0) {
        seen->bad++;
        return;
    }
    if (seen->lines == 1) seen->first = line.time;
    if (seen->lines == 1 || line.time > seen->newest) seen->newest = line.time;
    int64_t behind = seen->newest - line.time;
    seen->late += behind > 1;
    if (behind > seen->most_behind) seen->most_behind = behind;
}

static gale_access_log_spout_options options_of(uint64_t seed, uint64_t lines) {
    return (gale_access_log_spout_options){ .size = sizeof(gale_access_log_spout_options),
                                            .lines = lines,
                                            .visitors = 50,
                                            .lines_a_minute = 120,
                                            .late_seconds = LATE,
                                            .seed = seed };
}

static void run(fake_collector *fake, uint64_t seed, uint64_t lines) {
    gale_access_log_spout_options options = options_of(seed, lines);
    gale_spout spout;
    void *self;
    gale_wait wait;
    assert_int_equal(gale_access_log_spout(&options, &spout, NULL), 0);
    assert_int_equal(fake_open(fake, &spout, &self), 0);
    fake_forget(fake);
    while (spout.ops->next(self, &fake->collector, &wait) == GALE_NEXT_EMITTED)
        spout.ops->ack(self, fake->last_message);
    fake_close(&spout, self);
}

static void the_log_has_what_it_promises(void **state) {
    (void)state;
    fake_collector fake;
    facts seen = { 0 };
    fake_init(&fake);
    fake.on_emit = look;
    fake.on_emit_user = &seen;
    run(&fake, 1, 20000);
    assert_int_equal(seen.error, 0);
    assert_int_equal(seen.lines, 20000);
    assert_in_range(seen.bad, 5, 60);
    assert_in_range(seen.twice, 100, 320);
    assert_in_range(seen.late, 250, 550);
    assert_in_range(seen.most_behind, LATE - 20, LATE + 1);
    assert_int_equal(seen.first, 1767225600);
    assert_in_range(seen.newest - seen.first, 9990, 10000); /* 20000 lines at two a second */
    fake_fini(&fake);
}

static void the_same_seed_and_task_make_the_same_lines(void **state) {
    (void)state;
    fake_collector fake;
    fake_init(&fake);
    run(&fake, 7, 200);
    assert_int_equal(fake.emissions, 200);
    char *first = strdup(fake_text(&fake.emitted));
    run(&fake, 7, 200);
    assert_string_equal(fake_text(&fake.emitted), first);
    run(&fake, 8, 200);
    assert_string_not_equal(fake_text(&fake.emitted), first);
    fake.context.task_index = 1;
    run(&fake, 7, 200);
    assert_string_not_equal(fake_text(&fake.emitted), first);
    free(first);
    fake_fini(&fake);
}

static void every_failing_allocation_is_survived_and_no_line_is_lost(void **state) {
    (void)state;
    fake_collector fake;
    fake_init(&fake);
    run(&fake, 3, 300);
    char *wanted = strdup(fake_text(&fake.emitted));
    gale_access_log_spout_options options = options_of(3, 300);
    for (uint64_t n = 1; n < 12; n++) {
        gale_spout spout;
        void *self;
        gale_wait wait;
        int rc;
        assert_int_equal(gale_access_log_spout(&options, &spout, NULL), 0);
        fake_forget(&fake);
        fake.fail_at = fake.allocations + n;
        if (fake_open(&fake, &spout, &self) < 0) assert_int_equal(fake_open(&fake, &spout, &self), 0);
        while ((rc = spout.ops->next(self, &fake.collector, &wait)) != GALE_NEXT_DONE) {
            if (rc == GALE_NEXT_EMITTED)
                spout.ops->ack(self, fake.last_message);
            else
                assert_int_equal(rc, GALE_NO_MEMORY);
        }
        assert_string_equal(fake_text(&fake.emitted), wanted);
        fake_close(&spout, self);
    }
    free(wanted);
    fake_fini(&fake);
}

static void a_line_that_fails_comes_again_and_the_rate_is_obeyed(void **state) {
    (void)state;
    fake_collector fake;
    fake_init(&fake);
    fake_set_rate(&fake, 10);
    gale_access_log_spout_options options = options_of(1, 1);
    options.max_attempts = 2;
    gale_spout spout;
    void *self;
    gale_wait wait;
    gale_failure failure = { .size = sizeof failure, .reason = GALE_REASON_TIMEOUT, .text = "" };
    assert_int_equal(gale_access_log_spout(&options, &spout, NULL), 0);
    assert_int_equal(fake_open(&fake, &spout, &self), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(spout.ops->next(self, &fake.collector, &wait), GALE_NEXT_EMITTED);
        (spout.ops->fail)(self, fake.last_message, &failure);
        if (i == 0) assert_int_equal(spout.ops->next(self, &fake.collector, &wait), GALE_NEXT_UNTIL);
        assert_int_equal(wait.until, 100 * GALE_MILLISECOND);
        gale_manual_clock_advance(fake.clock, 100 * GALE_MILLISECOND);
    }
    assert_int_equal(spout.ops->next(self, &fake.collector, &wait), GALE_NEXT_DONE);
    assert_string_equal(fake_text(&fake.reports), "line 1 given up after 2 attempts: timeout\n");
    fake_close(&spout, self);
    fake_fini(&fake);
}

static void numbers_out_of_range_are_refused(void **state) {
    (void)state;
    gale_spout spout = { 0 };
    gale_error error = GALE_ERROR_INIT;
    gale_access_log_spout_options options = options_of(1, 1);
    options.visitors = (1 << 20) + 1;
    assert_int_equal(gale_access_log_spout(&options, &spout, &error), GALE_INVALID);
    assert_string_equal(error.text, "access log spout: visitors is 1048577, at most 1048576");
    options = options_of(1, 1);
    options.late_seconds = 1000001;
    assert_int_equal(gale_access_log_spout(&options, &spout, &error), GALE_INVALID);
    options = options_of(1, 1);
    options.start = -1;
    assert_int_equal(gale_access_log_spout(&options, &spout, &error), GALE_INVALID);
    assert_string_equal(error.text, "access log spout: start is -1, must be 2000000 to 4102444800");
    options.size = 0;
    assert_int_equal(gale_access_log_spout(&options, &spout, &error), GALE_INVALID);
    assert_null(spout.ops);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_log_has_what_it_promises),
        cmocka_unit_test(the_same_seed_and_task_make_the_same_lines),
        cmocka_unit_test(every_failing_allocation_is_survived_and_no_line_is_lost),
        cmocka_unit_test(a_line_that_fails_comes_again_and_the_rate_is_obeyed),
        cmocka_unit_test(numbers_out_of_range_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
