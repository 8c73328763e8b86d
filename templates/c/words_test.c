/* The bolt of words.c under test: no threads, no files, no waiting. */
#include "words.h"

#include <gale_test.h>
#include <stdio.h>
#include <stdlib.h>

static void check(const char *wrong) {
    if (!wrong) return;
    fprintf(stderr, "%s\n", wrong);
    exit(1);
}

static gale_test *test_of_words(void) {
    const gale_test_input lines = { "lines", NULL, "line" };
    gale_error error = GALE_ERROR_INIT;
    gale_test *test = NULL;
    if (gale_test_new_for_bolt(words_bolt(), &lines, 1, NULL, &test, &error) < 0) check(error.text);
    return test;
}

static void feed(gale_test *test, const char *line) {
    gale_value value = gale_text(line);
    gale_error error = GALE_ERROR_INIT;
    if (gale_test_feed(test, "lines", NULL, &value, 1, &error) < 0) check(error.text);
}

static void words_come_in_small_letters_without_what_is_between_them(void) {
    const gale_value words[] = { gale_text("the"), gale_text("cow"), gale_text("s"), gale_text("moon") };
    gale_test *test = test_of_words();
    feed(test, "The cow's MOON!");
    check(gale_test_differs(test, "bolt", NULL, GALE_TEST_IN_ORDER, words, 1, 4));
    check(gale_test_not_acked(test));
    gale_test_free(test);
}

static void a_line_without_words_is_acked(void) {
    gale_test *test = test_of_words();
    feed(test, "12 + 30 = 42");
    feed(test, "");
    check(gale_test_differs(test, "bolt", NULL, GALE_TEST_IN_ORDER, NULL, 0, 0));
    check(gale_test_not_acked(test));
    gale_test_free(test);
}

int main(void) {
    words_come_in_small_letters_without_what_is_between_them();
    a_line_without_words_is_acked();
    puts("the bolt does what it should");
    return 0;
}
