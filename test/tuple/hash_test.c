#include "tuple/hash.h"

#include "harness/cm.h"
#include "tuple/value.h"

#include <math.h>

static uint64_t of(gale_value value) {
    assert_int_equal(gale_value_hash(&value), gx_value_hash(&value));
    if (gx_flat_is_brief(&value)) assert_int_equal(gale_value_hash(&value), gx_hash_brief(&value));
    return gale_value_hash(&value);
}

/* Version 2. Who changes one of these sends keys to other tasks than the last release did. */
static void the_hashes_of_version_2_are_fixed(void **state) {
    (void)state;
    gale_value list[] = { gale_i64(1), gale_text("a") };
    gale_value map[] = { gale_text("k"), gale_i64(1), gale_text("j"), gale_null() };
    gale_value values[] = { gale_text("word"), gale_i64(7), gale_null() };
    static const uint16_t indices[] = { 1, 0 };
    assert_int_equal(of(gale_null()), UINT64_C(0x93a1b5cb634ef5b9));
    assert_int_equal(of(gale_bool(true)), UINT64_C(0x2360a608aa57dac7));
    assert_int_equal(of(gale_i64(-1)), UINT64_C(0x9a3b1fb4fe7dafab));
    assert_int_equal(of(gale_f64(1.5)), UINT64_C(0x732ad3700a31d69e));
    assert_int_equal(of(gale_text("")), UINT64_C(0x79c29f70669a2e6d));
    assert_int_equal(of(gale_text("nathan")), UINT64_C(0xd581f9696861c051));
    assert_int_equal(of(gale_bytes("nathan", 6)), UINT64_C(0x9a2e90cc9e7a967b));
    assert_int_equal(of(gale_text("sixteen bytes ok")), UINT64_C(0xd415254dfbaf822b));
    assert_int_equal(of(gale_text("seventeen bytes k")), UINT64_C(0xcd9a478f9275f8bd));
    assert_int_equal(of(gale_list(list, 2)), UINT64_C(0xa6ae6440f1ee5d5f));
    assert_int_equal(of(gale_map(map, 2)), UINT64_C(0xa651494971bf8486));
    assert_int_equal(gx_values_hash(values, indices, 2), UINT64_C(0xdcf9aa8e1f23063f));
}

static void equal_values_hash_alike(void **state) {
    (void)state;
    gale_value one[] = { gale_text("a"), gale_i64(1), gale_text("b"), gale_i64(2) };
    gale_value other[] = { gale_text("b"), gale_i64(2), gale_text("a"), gale_i64(1) };
    assert_int_equal(of(gale_f64(0.0)), of(gale_f64(-0.0)));
    assert_int_equal(of(gale_f64(NAN)), of(gale_f64(-NAN)));
    assert_int_equal(of(gale_map(one, 2)), of(gale_map(other, 2)));
}

static void values_of_different_types_hash_differently(void **state) {
    (void)state;
    gale_value empty[] = { gale_list(NULL, 0), gale_map(NULL, 0), gale_null(),   gale_bool(false),
                           gale_i64(0),        gale_f64(0),       gale_text(""), gale_bytes("", 0) };
    for (size_t i = 0; i < 8; i++)
        for (size_t j = 0; j < i; j++) assert_true(of(empty[i]) != of(empty[j]));
}

static void the_order_of_fields_and_of_items_counts(void **state) {
    (void)state;
    gale_value ab[] = { gale_i64(1), gale_i64(2) }, ba[] = { gale_i64(2), gale_i64(1) };
    static const uint16_t forward[] = { 0, 1 }, backward[] = { 1, 0 };
    assert_true(of(gale_list(ab, 2)) != of(gale_list(ba, 2)));
    assert_true(gx_values_hash(ab, forward, 2) != gx_values_hash(ab, backward, 2));
    assert_int_equal(gx_values_hash(ab, forward, 2), gx_values_hash(ba, backward, 2));
    assert_int_equal(gx_values_hash(ab, backward, 1), of(gale_i64(2)));
    assert_int_equal(gx_values_hash(ab, forward, 0), 0);
}

static void small_numbers_spread_over_tasks(void **state) {
    (void)state;
    uint32_t counts[8] = { 0 };
    for (int64_t i = 0; i < 8000; i++) counts[gx_hash_below(of(gale_i64(i)), 8)]++;
    for (int i = 0; i < 8; i++) assert_in_range(counts[i], 800, 1200);
}

/* Where keys go in version 2, with 2, 7 and 100 tasks: fields grouping, and the second candidate of partial key. */
static void the_tasks_of_version_2_are_fixed(void **state) {
    (void)state;
    static const uint32_t counts[] = { 2, 7, 100 };
    const gale_value keys[] = { gale_text("nathan"),    gale_text("mike"), gale_text("jackson"), gale_text("golda"),
                                gale_text("bertels"),   gale_text(""),     gale_i64(0),          gale_i64(1),
                                gale_i64(-1),           gale_f64(1),       gale_bool(true),      gale_null(),
                                gale_bytes("nathan", 6) };
    static const uint8_t golden[][3][2] = {
        { { 1, 0 }, { 5, 6 }, { 83, 84 } }, { { 1, 0 }, { 4, 3 }, { 58, 50 } }, { { 1, 0 }, { 5, 0 }, { 82, 1 } },
        { { 1, 0 }, { 4, 1 }, { 57, 20 } }, { { 1, 0 }, { 5, 4 }, { 76, 68 } }, { { 0, 1 }, { 3, 5 }, { 47, 75 } },
        { { 1, 0 }, { 6, 0 }, { 92, 3 } },  { { 1, 0 }, { 5, 6 }, { 75, 92 } }, { { 1, 0 }, { 4, 0 }, { 60, 8 } },
        { { 0, 1 }, { 0, 1 }, { 12, 9 } },  { { 0, 1 }, { 0, 1 }, { 13, 14 } }, { { 1, 0 }, { 4, 5 }, { 57, 84 } },
        { { 1, 0 }, { 4, 5 }, { 60, 73 } },
    };
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
        for (size_t i = 0; i < 3; i++) {
            uint32_t first, second;
            gx_hash_pair(of(keys[k]), counts[i], &first, &second);
            assert_int_equal(gx_hash_below(of(keys[k]), counts[i]), golden[k][i][0]);
            assert_int_equal(first, golden[k][i][0]);
            assert_int_equal(second, golden[k][i][1]);
        }
}

static void the_two_candidates_differ_and_every_pair_is_used(void **state) {
    (void)state;
    uint32_t first, second, pairs[7][7] = { { 0 } };
    for (int64_t i = 0; i < 42000; i++) {
        uint64_t hash = of(gale_i64(i));
        gx_hash_pair(hash, 1, &first, &second);
        assert_int_equal(first + second, 0);
        gx_hash_pair(hash, 2, &first, &second);
        assert_int_equal(first + second, 1);
        gx_hash_pair(hash, 7, &first, &second);
        pairs[first][second]++;
    }
    for (uint32_t a = 0; a < 7; a++) /* one in 49; the next task also stands in for the same one */
        for (uint32_t b = 0; b < 7; b++) {
            uint32_t expected = a == b ? 0 : b == (a + 1) % 7 ? 2 * 42000 / 49 : 42000 / 49;
            assert_in_range(pairs[a][b], expected * 4 / 5, expected * 6 / 5);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hashes_of_version_2_are_fixed),
        cmocka_unit_test(the_tasks_of_version_2_are_fixed),
        cmocka_unit_test(the_two_candidates_differ_and_every_pair_is_used),
        cmocka_unit_test(equal_values_hash_alike),
        cmocka_unit_test(values_of_different_types_hash_differently),
        cmocka_unit_test(the_order_of_fields_and_of_items_counts),
        cmocka_unit_test(small_numbers_spread_over_tasks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
