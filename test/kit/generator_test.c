#include "harness/fake_collector.h"
#include "kit/vocabulary.h"

#include <gale/kit.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <stdlib.h>

static void run(fake_collector *fake, uint64_t seed, uint64_t lines) {
    gale_generator_options options = {
        .size = sizeof options, .lines = lines, .words = 5, .vocabulary = 100, .seed = seed
    };
    gale_spout spout;
    void *self;
    assert_int_equal(gale_generator_spout(&options, &spout, NULL), 0);
    assert_int_equal(fake_open(fake, &spout, &self), 0);
    gale_wait wait;
    fake_forget(fake);
    while (spout.ops->next(self, &fake->collector, &wait) == GALE_NEXT_EMITTED) {
        spout.ops->ack(self, fake->last_message);
    }
    fake_close(&spout, self);
}

static void the_same_seed_and_task_make_the_same_lines(void **state) {
    (void)state;
    fake_collector fake;
    fake_init(&fake);
    run(&fake, 7, 20);
    assert_int_equal(fake.emissions, 20);
    char *first = strdup(fake_text(&fake.emitted));
    run(&fake, 7, 20);
    assert_string_equal(fake_text(&fake.emitted), first);
    run(&fake, 8, 20);
    assert_string_not_equal(fake_text(&fake.emitted), first);
    fake.context.task_index = 1;
    run(&fake, 7, 20);
    assert_string_not_equal(fake_text(&fake.emitted), first);
    free(first);
    fake_fini(&fake);
}

static void a_line_that_fails_comes_again_after_done(void **state) {
    (void)state;
    fake_collector fake;
    fake_init(&fake);
    gale_generator_options options = { .size = sizeof options, .lines = 1, .max_attempts = 2 };
    gale_spout spout;
    void *self;
    assert_int_equal(gale_generator_spout(&options, &spout, NULL), 0);
    assert_int_equal(fake_open(&fake, &spout, &self), 0);
    gale_wait wait;
    gale_failure failure = { sizeof failure, GALE_REASON_TIMEOUT, 0, NULL, "", 1, false };
    for (int i = 0; i < 2; i++) {
        assert_int_equal(spout.ops->next(self, &fake.collector, &wait), GALE_NEXT_EMITTED);
        assert_int_equal(spout.ops->next(self, &fake.collector, &wait), GALE_NEXT_DONE);
        (spout.ops->fail)(self, fake.last_message, &failure);
    }
    assert_int_equal(spout.ops->next(self, &fake.collector, &wait), GALE_NEXT_DONE);
    assert_string_equal(fake_text(&fake.reports), "line 1 given up after 2 attempts: timeout\n");
    fake_close(&spout, self);
    fake_fini(&fake);
}

static void a_rate_is_obeyed(void **state) {
    (void)state;
    fake_collector fake;
    fake_init(&fake);
    fake_set_rate(&fake, 10);
    gale_spout spout;
    void *self;
    assert_int_equal(gale_generator_spout(NULL, &spout, NULL), 0);
    assert_int_equal(fake_open(&fake, &spout, &self), 0);
    gale_wait wait;
    assert_int_equal(spout.ops->next(self, &fake.collector, &wait), GALE_NEXT_EMITTED);
    assert_int_equal(spout.ops->next(self, &fake.collector, &wait), GALE_NEXT_UNTIL);
    assert_int_equal(wait.until, 100 * GALE_MILLISECOND);
    fake_close(&spout, self);
    fake_fini(&fake);
}

static void numbers_out_of_range_are_refused(void **state) {
    (void)state;
    gale_spout spout = { 0 };
    gale_error error = GALE_ERROR_INIT;
    gale_generator_options options = { .size = sizeof options, .vocabulary = 1 << 21 };
    assert_int_equal(gale_generator_spout(&options, &spout, &error), GALE_INVALID);
    assert_string_equal(error.text, "generator spout: vocabulary is 2097152, at most 1048576");
    options = (gale_generator_options){ .size = sizeof options, .words = UINT32_MAX };
    assert_int_equal(gale_generator_spout(&options, &spout, &error), GALE_INVALID);
    options.size = 0;
    assert_int_equal(gale_generator_spout(&options, &spout, &error), GALE_INVALID);
    assert_null(spout.ops);
}

static void every_failing_allocation_is_survived_and_no_line_is_lost(void **state) {
    (void)state;
    fake_collector fake;
    fake_init(&fake);
    run(&fake, 3, 5);
    char *wanted = strdup(fake_text(&fake.emitted));
    gale_generator_options options = { .size = sizeof options, .lines = 5, .words = 5, .vocabulary = 100, .seed = 3 };
    for (uint64_t n = 1; n < 12; n++) {
        gale_spout spout;
        void *self;
        gale_wait wait;
        assert_int_equal(gale_generator_spout(&options, &spout, NULL), 0);
        fake_forget(&fake);
        fake.fail_at = fake.allocations + n;
        if (fake_open(&fake, &spout, &self) < 0) assert_int_equal(fake_open(&fake, &spout, &self), 0);
        int rc;
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

static void words_come_as_often_as_zipf_says(void **state) {
    (void)state;
    enum { WORDS = 1000, DRAWS = 1000000 };
    gx_heap heap;
    gx_heap_init(&heap, NULL);
    gx_vocabulary vocabulary;
    assert_int_equal(gx_vocabulary_init(&vocabulary, &heap, WORDS), 0);
    gx_random random = gx_random_new(5, 0);
    int counts[3] = { 0 };
    for (int i = 0; i < DRAWS; i++) {
        gale_str word = gx_vocabulary_draw(&vocabulary, &random);
        counts[0] += word.size == 2 && memcmp(word.data, "ba", 2) == 0;
        counts[1] += word.size == 2 && memcmp(word.data, "be", 2) == 0;
        counts[2] += word.size == 2 && memcmp(word.data, "zu", 2) == 0; /* word 99 */
    }
    double share = DRAWS / 7.4854709; /* the sum of 1 / i for i up to 1000 */
    assert_in_range(counts[0], (int)(share * 0.98), (int)(share * 1.02));
    assert_in_range(counts[1], (int)(share / 2 * 0.98), (int)(share / 2 * 1.02));
    assert_in_range(counts[2], (int)(share / 100 * 0.85), (int)(share / 100 * 1.15));
    gx_vocabulary_fini(&vocabulary);
    assert_int_equal(gx_heap_reserved(&heap), 0);
}

static void every_word_is_another_and_the_largest_vocabulary_fits(void **state) {
    (void)state;
    gx_heap heap;
    gx_heap_init(&heap, NULL);
    for (uint32_t count = 1; count <= 101; count += 100) {
        gx_vocabulary small;
        assert_int_equal(gx_vocabulary_init(&small, &heap, count), 0);
        gx_vocabulary_fini(&small);
    }
    gx_vocabulary vocabulary;
    assert_int_equal(gx_vocabulary_init(&vocabulary, &heap, GX_VOCABULARY_MAX), 0);
    assert_memory_equal(vocabulary.words[100].text, "baba", 4);
    for (uint32_t i = 0; i < GX_VOCABULARY_MAX; i++) {
        assert_in_range(vocabulary.words[i].size, 2, GX_VOCABULARY_LETTERS);
        assert_in_range(vocabulary.words[i].other, 0, GX_VOCABULARY_MAX - 1);
    }
    gx_vocabulary_fini(&vocabulary);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_seed_and_task_make_the_same_lines),
        cmocka_unit_test(a_line_that_fails_comes_again_after_done),
        cmocka_unit_test(a_rate_is_obeyed),
        cmocka_unit_test(numbers_out_of_range_are_refused),
        cmocka_unit_test(every_failing_allocation_is_survived_and_no_line_is_lost),
        cmocka_unit_test(words_come_as_often_as_zipf_says),
        cmocka_unit_test(every_word_is_another_and_the_largest_vocabulary_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
