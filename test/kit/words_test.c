#include "harness/fake_collector.h"

#include <gale/kit.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void a_word_comes_every_tenth_of_a_second_first_after_one(void **state) {
    (void)state;
    fake_collector fake;
    fake_init(&fake);
    gale_spout spout;
    void *self;
    assert_int_equal(gale_word_spout(true, &spout, NULL), 0);
    assert_int_equal(spout.setting_count, 0);
    assert_int_equal(fake_open(&fake, &spout, &self), 0);
    gale_wait wait = { 0, -1 };
    assert_int_equal(spout.ops->next(self, &fake.collector, &wait), GALE_NEXT_UNTIL);
    assert_int_equal(wait.until, 100 * GALE_MILLISECOND);
    for (int i = 0; i < 20; i++) {
        gale_manual_clock_advance(fake.clock, 100 * GALE_MILLISECOND);
        assert_int_equal(spout.ops->next(self, &fake.collector, &wait), GALE_NEXT_EMITTED);
        assert_int_equal(spout.ops->next(self, &fake.collector, &wait), GALE_NEXT_UNTIL);
    }
    gale_manual_clock_advance(fake.clock, GALE_SECOND); /* no catching up */
    assert_int_equal(spout.ops->next(self, &fake.collector, &wait), GALE_NEXT_EMITTED);
    assert_int_equal(spout.ops->next(self, &fake.collector, &wait), GALE_NEXT_UNTIL);
    assert_int_equal(fake.emissions, 21);
    fake_close(&spout, self);
    fake_fini(&fake);
}

static void all_five_words_come_about_as_often(void **state) {
    (void)state;
    fake_collector fake;
    fake_init(&fake);
    gale_spout spout;
    void *self;
    assert_int_equal(gale_word_spout(true, &spout, NULL), 0);
    assert_int_equal(fake_open(&fake, &spout, &self), 0);
    gale_wait wait;
    for (int i = 0; i < 5000; i++) {
        gale_manual_clock_advance(fake.clock, 100 * GALE_MILLISECOND);
        assert_int_equal(spout.ops->next(self, &fake.collector, &wait), GALE_NEXT_EMITTED);
    }
    static const char *const words[] = { "nathan", "mike", "jackson", "golda", "bertels" };
    for (int i = 0; i < 5; i++) {
        int count = 0;
        for (const char *at = fake_text(&fake.emitted); (at = strstr(at, words[i])) != NULL; at++) count++;
        assert_in_range(count, 850, 1150);
    }
    fake_close(&spout, self);
    fake_fini(&fake);
}

static void not_distributed_asks_for_one_task(void **state) {
    (void)state;
    gale_spout spout;
    assert_int_equal(gale_word_spout(false, &spout, NULL), 0);
    assert_int_equal(spout.setting_count, 1);
    assert_string_equal(spout.settings[0].key, "topology.max.task.parallelism");
    assert_int_equal(spout.settings[0].value.as.i64, 1);
}

static void an_emit_that_fails_is_tried_again(void **state) {
    (void)state;
    fake_collector fake;
    fake_init(&fake);
    gale_spout spout;
    void *self;
    assert_int_equal(gale_word_spout(true, &spout, NULL), 0);
    fake.fail_at = 1;
    assert_int_equal(fake_open(&fake, &spout, &self), GALE_NO_MEMORY);
    assert_int_equal(fake_open(&fake, &spout, &self), 0);
    gale_manual_clock_advance(fake.clock, 100 * GALE_MILLISECOND);
    fake.emit_error = GALE_NO_MEMORY;
    gale_wait wait;
    assert_int_equal(spout.ops->next(self, &fake.collector, &wait), GALE_NO_MEMORY);
    fake.emit_error = 0;
    assert_int_equal(spout.ops->next(self, &fake.collector, &wait), GALE_NEXT_EMITTED);
    fake_close(&spout, self);
    fake_fini(&fake);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_word_comes_every_tenth_of_a_second_first_after_one),
        cmocka_unit_test(all_five_words_come_about_as_often),
        cmocka_unit_test(not_distributed_asks_for_one_task),
        cmocka_unit_test(an_emit_that_fails_is_tried_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
