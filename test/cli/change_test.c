#include "cli/change.h"

#include "harness/cm.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static gx_wish wish_of(const char *set) {
    gx_wish wish = { .sets = { .count = 0 } };
    if (set) wish.sets.items[wish.sets.count++] = set;
    return wish;
}

static gx_changing look(gx_change *change) {
    gx_changing now;
    gx_change_look(change, &now);
    return now;
}

static void one_is_carried_out_at_a_time(void **state) {
    (void)state;
    gx_change change;
    gale_error error = GALE_ERROR_INIT;
    const gx_wish wish = wish_of("count.parallelism=8");
    gx_change_init(&change);
    assert_false(gx_change_take(&change));
    assert_int_equal(look(&change).state, GX_CHANGING_NONE);
    assert_int_equal(gx_change_ask(&change, &wish, &error), 0);
    assert_int_equal(gx_change_ask(&change, &wish, &error), GALE_AGAIN);
    assert_true(gx_change_take(&change));
    assert_false(gx_change_take(&change));
    assert_int_equal(change.sets.count, 1);
    assert_string_equal(change.sets.items[0], "count.parallelism=8");
    assert_int_equal(gx_change_ask(&change, &wish, &error), GALE_AGAIN);
    gx_change_tell(&change, GX_CHANGING_REFUSED, "no", 0);
    assert_string_equal(look(&change).text, "no");
    assert_int_equal(gx_change_ask(&change, &wish, &error), 0);
    assert_int_equal(look(&change).number, 2);
    assert_string_equal(look(&change).text, "");
    gx_change_fini(&change);
}

static void what_is_laid_stays_so_while_another_one_is_asked_for_and_its_secrets_are_not_kept(void **state) {
    (void)state;
    gx_change change;
    gale_error error = GALE_ERROR_INIT;
    const gx_wish wish = wish_of("count.parallelism=8");
    gx_change_init(&change);
    assert_string_equal(look(&change).laid, "");
    gx_change_laid(&change, "-c db.password=hunter2 --set count.parallelism=8");
    assert_int_equal(gx_change_ask(&change, &wish, &error), 0);
    assert_null(strstr(look(&change).laid, "hunter2"));
    assert_non_null(strstr(look(&change).laid, "--set count.parallelism=8"));
    gx_change_laid(&change, NULL);
    assert_string_equal(look(&change).laid, "");
    gx_change_fini(&change);
}

/* Whatever was asked before it, and however often it is asked. */
static void the_end_goes_before_a_change(void **state) {
    (void)state;
    gx_change change;
    gale_error error = GALE_ERROR_INIT;
    const gx_wish wish = wish_of("count.parallelism=8");
    gx_change_init(&change);
    assert_int_equal(gx_change_ending(&change), GX_ENDING_NONE);
    assert_int_equal(gx_change_ask(&change, &wish, &error), 0);
    gx_change_end(&change, GX_ENDING_IN_ORDER);
    assert_int_equal(look(&change).state, GX_CHANGING_REFUSED);
    assert_false(gx_change_take(&change));
    assert_int_equal(gx_change_ask(&change, &wish, &error), GALE_AGAIN);
    gx_change_end(&change, GX_ENDING_NOW);
    gx_change_end(&change, GX_ENDING_IN_ORDER);
    assert_int_equal(gx_change_ending(&change), GX_ENDING_NOW);
    gx_change_fini(&change);
}

static void a_change_that_is_on_its_way_is_refused_by_who_carries_it_out(void **state) {
    (void)state;
    gx_change change;
    gale_error error = GALE_ERROR_INIT;
    const gx_wish wish = wish_of(NULL);
    gx_change_init(&change);
    assert_int_equal(gx_change_ask(&change, &wish, &error), 0);
    assert_true(gx_change_take(&change));
    gx_change_begun(&change, GX_BEGUN_WITH_NONE);
    gx_change_end(&change, GX_ENDING_IN_ORDER);
    assert_int_equal(look(&change).state, GX_CHANGING_CHECKING);
    gx_change_tell(&change, GX_CHANGING_REFUSED, "no", 0);
    assert_int_equal(look(&change).begun, GX_BEGUN_WITH_NONE);
    assert_int_equal(gx_change_ask(&change, &wish, &error), GALE_AGAIN);
    gx_change_fini(&change);
}

static void words_of_each_kind_are_kept_apart(void **state) {
    (void)state;
    gx_change change;
    gale_error error = GALE_ERROR_INIT;
    gx_wish wish = wish_of("");
    wish.settings = (gx_wish_words){ { "a=1", "b=2" }, 2 };
    wish.adopt = (gx_wish_words){ { "*" }, 1 };
    gx_change_init(&change);
    assert_int_equal(gx_change_ask(&change, &wish, &error), 0);
    assert_true(gx_change_take(&change));
    assert_int_equal(change.settings.count, 2);
    assert_string_equal(change.settings.items[1], "b=2");
    assert_string_equal(change.sets.items[0], "");
    assert_string_equal(change.adopt.items[0], "*");
    gx_change_fini(&change);
}

static void a_later_word_takes_the_place_of_one_of_its_name(void **state) {
    (void)state;
    gx_change_words kept = { .items = NULL };
    gale_error error = GALE_ERROR_INIT;
    gx_words words = { { "count.parallelism=2", "sink.path=x" }, 2 };
    const gx_words more = { { "count.parallelism=8", "split.parallelism=3" }, 2 };
    for (int i = 0; i < 3; i++) assert_int_equal(gx_change_lay(&kept, &more, &words, &error), 0);
    assert_int_equal(words.count, 3);
    assert_string_equal(words.items[0], "count.parallelism=8");
    assert_string_equal(words.items[1], "sink.path=x");
    assert_string_equal(words.items[2], "split.parallelism=3");
    assert_int_equal(kept.count, 2);
    gx_change_words_free(&kept);
}

static void more_words_than_there_is_room_for_are_refused(void **state) {
    (void)state;
    gx_change_words kept = { .items = NULL };
    gale_error error = GALE_ERROR_INIT;
    gx_words words = { .count = 0 };
    char names[GX_WORDS_MAX][16];
    for (size_t i = 0; i < GX_WORDS_MAX; i++) {
        snprintf(names[i], sizeof names[i], "k%zu=1", i);
        const gx_words one = { { names[i] }, 1 };
        assert_int_equal(gx_change_lay(&kept, &one, &words, &error), 0);
    }
    const gx_words one = { { "another=1" }, 1 };
    assert_int_equal(gx_change_lay(&kept, &one, &words, &error), GALE_TOO_LARGE);
    assert_string_equal(error.text, "too many words at 'another=1': at most 64 of a kind");
    gx_change_words_free(&kept);
}

/* --- Threads --- */

enum { ASKED = 2000 };

static gx_change shared;
static atomic_int granted, over;

static void *ask_over_and_over(void *user) {
    const gx_wish wish = wish_of(user);
    while (granted < ASKED)
        if (gx_change_ask(&shared, &wish, NULL) == 0) granted++;
    over++;
    return NULL;
}

static void whatever_is_granted_is_taken_once(void **state) {
    (void)state;
    static char words[3][8] = { "a=1", "b=22", "c=333" };
    pthread_t threads[3];
    int taken = 0;
    gx_change_init(&shared);
    for (int i = 0; i < 3; i++) assert_int_equal(pthread_create(&threads[i], NULL, ask_over_and_over, words[i]), 0);
    while (over < 3 || look(&shared).state == GX_CHANGING_ASKED) {
        if (!gx_change_take(&shared)) continue;
        assert_int_equal(shared.sets.count, 1);
        assert_int_equal(shared.sets.items[0][1], '=');
        gx_change_tell(&shared, ++taken % 2 ? GX_CHANGING_DONE : GX_CHANGING_REFUSED, "told", 1);
    }
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    assert_int_equal(taken, granted);
    assert_int_equal(look(&shared).number, taken);
    gx_change_fini(&shared);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_is_carried_out_at_a_time),
        cmocka_unit_test(what_is_laid_stays_so_while_another_one_is_asked_for_and_its_secrets_are_not_kept),
        cmocka_unit_test(the_end_goes_before_a_change),
        cmocka_unit_test(a_change_that_is_on_its_way_is_refused_by_who_carries_it_out),
        cmocka_unit_test(words_of_each_kind_are_kept_apart),
        cmocka_unit_test(a_later_word_takes_the_place_of_one_of_its_name),
        cmocka_unit_test(more_words_than_there_is_room_for_are_refused),
        cmocka_unit_test(whatever_is_granted_is_taken_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
