#include "tuple/hash.h"

#include "harness/cm.h"
#include "tuple/value.h"

#include <math.h>

static uint64_t of(gale_value value) {
    assert_int_equal(gale_value_hash(&value), gx_value_hash(&value));
    return gale_value_hash(&value);
}

/* Version 1. Who changes one of these sends keys to other tasks than the last release did. */
static void the_hashes_of_version_1_are_fixed(void **state) {
    (void)state;
    gale_value list[] = { gale_i64(1), gale_text("a") };
    gale_value map[] = { gale_text("k"), gale_i64(1), gale_text("j"), gale_null() };
    gale_value values[] = { gale_text("word"), gale_i64(7), gale_null() };
    static const uint16_t indices[] = { 1, 0 };
    assert_int_equal(of(gale_null()), UINT64_C(0xc77b3abb6f87acd9));
    assert_int_equal(of(gale_bool(true)), UINT64_C(0x85671091eda75eb5));
    assert_int_equal(of(gale_i64(-1)), UINT64_C(0x69ac43b1fe168c79));
    assert_int_equal(of(gale_f64(1.5)), UINT64_C(0x70e946296b919ba9));
    assert_int_equal(of(gale_text("")), UINT64_C(0xc43113f04ee401de));
    assert_int_equal(of(gale_text("nathan")), UINT64_C(0x04f6d396f4c1329b));
    assert_int_equal(of(gale_bytes("nathan", 6)), UINT64_C(0xe5b6851ba0a7fa5a));
    assert_int_equal(of(gale_list(list, 2)), UINT64_C(0x1e1c7227f68def80));
    assert_int_equal(of(gale_map(map, 2)), UINT64_C(0x9a64f480c805a30d));
    assert_int_equal(gx_values_hash(values, indices, 2), UINT64_C(0x2e6cf3b0402537c9));
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

/* Where keys go in version 1, with 2, 7 and 100 tasks: fields grouping, and the second candidate of partial key. */
static void the_tasks_of_version_1_are_fixed(void **state) {
    (void)state;
    static const uint32_t counts[] = { 2, 7, 100 };
    const gale_value keys[] = { gale_text("nathan"),    gale_text("mike"), gale_text("jackson"), gale_text("golda"),
                                gale_text("bertels"),   gale_text(""),     gale_i64(0),          gale_i64(1),
                                gale_i64(-1),           gale_f64(1),       gale_bool(true),      gale_null(),
                                gale_bytes("nathan", 6) };
    static const uint8_t golden[][3][2] = {
        { { 0, 1 }, { 0, 3 }, { 1, 56 } },  { { 0, 1 }, { 1, 6 }, { 19, 92 } }, { { 0, 1 }, { 2, 5 }, { 33, 73 } },
        { { 1, 0 }, { 6, 4 }, { 86, 68 } }, { { 1, 0 }, { 6, 5 }, { 90, 84 } }, { { 1, 0 }, { 5, 4 }, { 76, 67 } },
        { { 0, 1 }, { 0, 6 }, { 7, 91 } },  { { 0, 1 }, { 1, 6 }, { 25, 90 } }, { { 0, 1 }, { 2, 0 }, { 41, 12 } },
        { { 0, 1 }, { 0, 6 }, { 4, 87 } },  { { 1, 0 }, { 3, 1 }, { 52, 19 } }, { { 1, 0 }, { 5, 3 }, { 77, 46 } },
        { { 1, 0 }, { 6, 0 }, { 89, 94 } },
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
        cmocka_unit_test(the_hashes_of_version_1_are_fixed),
        cmocka_unit_test(the_tasks_of_version_1_are_fixed),
        cmocka_unit_test(the_two_candidates_differ_and_every_pair_is_used),
        cmocka_unit_test(equal_values_hash_alike),
        cmocka_unit_test(values_of_different_types_hash_differently),
        cmocka_unit_test(the_order_of_fields_and_of_items_counts),
        cmocka_unit_test(small_numbers_spread_over_tasks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
