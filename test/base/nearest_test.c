#include "base/nearest.h"

#include "base/str.h"
#include "harness/cm.h"

#include <stdio.h>

/* In the middle of long words, where so many edits are near. */
static size_t distance_of(const char *wanted, const char *candidate) {
    char a[64], b[64];
    snprintf(a, sizeof a, "0123456789%s0123456789", wanted);
    snprintf(b, sizeof b, "0123456789%s0123456789", candidate);
    gx_nearest nearest = gx_nearest_to(gx_str(a));
    gx_nearest_offer(&nearest, gx_str(b));
    return nearest.distance;
}

static void an_edit_is_a_change_an_insertion_a_removal_or_a_swap(void **state) {
    (void)state;
    assert_int_equal(distance_of("bolt", "bolt"), 0);
    assert_int_equal(distance_of("bolt", "boltx"), 1);
    assert_int_equal(distance_of("bolt", "olt"), 1);
    assert_int_equal(distance_of("bolt", "belt"), 1);
    assert_int_equal(distance_of("bolt", "botl"), 1);
    assert_int_equal(distance_of("obtl", "bolt"), 2);
    assert_int_equal(distance_of("kitten", "sitting"), 3);
    assert_int_equal(distance_of("ca", "abc"), 3); /* optimal string alignment: no edit inside a swap */
    assert_int_equal(distance_of("aab", "ab"), 1);
}

static void the_nearest_of_several_is_the_word(void **state) {
    (void)state;
    gx_nearest nearest = gx_nearest_to(gx_str("paralellism"));
    gx_nearest_offer(&nearest, gx_str("parameters"));
    gx_nearest_offer(&nearest, gx_str("parallelism"));
    gx_nearest_offer(&nearest, gx_str("id"));
    assert_true(gx_str_is(gx_nearest_word(&nearest), "parallelism"));
}

static void of_equally_near_words_the_first_offered_wins(void **state) {
    (void)state;
    gx_nearest nearest = gx_nearest_to(gx_str("cat"));
    gx_nearest_offer(&nearest, gx_str("car"));
    gx_nearest_offer(&nearest, gx_str("can"));
    assert_true(gx_str_is(gx_nearest_word(&nearest), "car"));
}

static void without_candidates_there_is_no_word(void **state) {
    (void)state;
    gx_nearest nearest = gx_nearest_to(gx_str("x"));
    assert_int_equal(gx_nearest_word(&nearest).size, 0);
    gx_nearest_offer(&nearest, (gale_str){ NULL, 0 });
    assert_int_equal(gx_nearest_word(&nearest).size, 0);
}

static void nothing_is_near_to_nothing(void **state) {
    (void)state;
    gx_nearest nearest = gx_nearest_to((gale_str){ NULL, 0 });
    gx_nearest_offer(&nearest, gx_str("a"));
    assert_int_equal(gx_nearest_word(&nearest).size, 0);
}

static bool is_near(const char *wanted, const char *candidate) {
    gx_nearest nearest = gx_nearest_to(gx_str(wanted));
    gx_nearest_offer(&nearest, gx_str(candidate));
    return gx_nearest_word(&nearest).size > 0;
}

static void far_words_are_not_meant(void **state) {
    (void)state;
    assert_true(is_near("boltt", "bolt"));
    assert_false(is_near("xolty", "bolt"));
    assert_true(is_near("abcdef", "abcdxy"));
    assert_false(is_near("abcdef", "abcxyz"));
    assert_true(is_near("abcdefghijklmnopqrstuvwx", "abcdefghijklmnopqrst0123"));
    assert_false(is_near("abcdefghijklmnopqrstuvwx", "abcdefghijklmnopqrs01234"));
}

static void a_third_of_a_names_own_part_may_differ(void **state) {
    (void)state;
    assert_false(is_near("gale.bolt.Tcp", "gale.bolt.Map"));
    assert_false(is_near("gale.spout.Mqtt", "gale.spout.File"));
    assert_false(is_near("gale.bolt.Redis", "gale.bolt.Regex"));
    assert_false(is_near("gale.bolt.Tcp", "gale.spout.Tcp"));
    assert_true(is_near("gale.bolt.Splt", "gale.bolt.Split"));
    assert_true(is_near("gael.bolt.Split", "gale.bolt.Split"));
    assert_true(is_near("gale.bolts.Split", "gale.bolt.Split"));
    assert_true(is_near("topology.max.spout.pendng", "topology.max.spout.pending"));
    assert_false(is_near("gale.", "gale.rate"));
    assert_false(is_near(".", ".."));
}

static void words_that_have_nothing_in_common_are_not_near(void **state) {
    (void)state;
    assert_false(is_near("a", "b"));
    assert_false(is_near("count.a", "count.b"));
    assert_true(is_near("ab", "cb"));
    assert_true(is_near("xx", "x"));
}

static void the_beginning_of_a_word_is_near(void **state) {
    (void)state;
    assert_true(is_near("gale.bolt.Tcp", "gale.bolt.TcpSink"));
    assert_true(is_near("gale.bolt.tcp", "gale.bolt.TcpSink"));
    assert_true(is_near("par", "parallelism"));
    assert_false(is_near("pa", "parallelism"));
    assert_false(is_near("parallelisms", "par"));
    assert_false(is_near("topology", "topology.debug"));
}

static void edits_are_nearer_than_beginnings_and_of_these_the_shortest(void **state) {
    (void)state;
    gx_nearest nearest = gx_nearest_to(gx_str("line"));
    gx_nearest_offer(&nearest, gx_str("line_number"));
    assert_true(gx_str_is(gx_nearest_word(&nearest), "line_number"));
    gx_nearest_offer(&nearest, gx_str("line_ends"));
    assert_true(gx_str_is(gx_nearest_word(&nearest), "line_ends"));
    gx_nearest_offer(&nearest, gx_str("lnie"));
    assert_true(gx_str_is(gx_nearest_word(&nearest), "lnie"));
    gx_nearest_offer(&nearest, gx_str("line_end"));
    assert_true(gx_str_is(gx_nearest_word(&nearest), "lnie"));
}

static void another_case_is_near_however_long(void **state) {
    (void)state;
    assert_true(is_near("SHUFFLE", "shuffle"));
    assert_true(is_near("TOPOLOGY.MAX.SPOUT.PENDING", "topology.max.spout.pending"));
}

static void very_long_words_are_compared_where_they_differ(void **state) {
    (void)state;
    static char a[5001], b[5001], c[5001];
    memset(a, 'a', 5000);
    memset(b, 'a', 5000);
    memset(c, 'c', 5000);
    b[2500] = 'b';
    assert_true(is_near(a, b));
    assert_false(is_near(a, c));
    c[4000] = 0;
    assert_false(is_near(a, c));
}

static void the_hint_is_a_clause_or_nothing(void **state) {
    (void)state;
    char out[64];
    gx_nearest nearest = gx_nearest_to(gx_str("boltt"));
    assert_string_equal(gx_nearest_hint(&nearest, out, sizeof out), "");
    gx_nearest_offer(&nearest, gx_str("bolt"));
    assert_string_equal(gx_nearest_hint(&nearest, out, sizeof out), "; did you mean 'bolt'?");
    assert_string_equal(gx_nearest_hint(&nearest, out, 23), "; did you mean 'bolt'?");
    assert_string_equal(gx_nearest_hint(&nearest, out, 22), "");
    assert_string_equal(gx_nearest_hint(&nearest, out, 0), "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_edit_is_a_change_an_insertion_a_removal_or_a_swap),
        cmocka_unit_test(the_nearest_of_several_is_the_word),
        cmocka_unit_test(of_equally_near_words_the_first_offered_wins),
        cmocka_unit_test(without_candidates_there_is_no_word),
        cmocka_unit_test(nothing_is_near_to_nothing),
        cmocka_unit_test(far_words_are_not_meant),
        cmocka_unit_test(a_third_of_a_names_own_part_may_differ),
        cmocka_unit_test(words_that_have_nothing_in_common_are_not_near),
        cmocka_unit_test(the_beginning_of_a_word_is_near),
        cmocka_unit_test(edits_are_nearer_than_beginnings_and_of_these_the_shortest),
        cmocka_unit_test(another_case_is_near_however_long),
        cmocka_unit_test(very_long_words_are_compared_where_they_differ),
        cmocka_unit_test(the_hint_is_a_clause_or_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
