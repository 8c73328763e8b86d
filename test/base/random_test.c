#include "base/random.h"

#include "base/os/entropy.h"

#include "harness/cm.h"

static void a_seed_and_a_stream_repeat(void **state) {
    (void)state;
    gx_random a = gx_random_new(7, 3), b = gx_random_new(7, 3);
    for (int i = 0; i < 100; i++) assert_true(gx_random_next(&a) == gx_random_next(&b));
}

static void streams_and_seeds_differ(void **state) {
    (void)state;
    uint64_t first[64];
    for (uint64_t i = 0; i < 64; i++) {
        gx_random random = gx_random_new(i / 8, i % 8);
        assert_int_equal(random.gamma & 1, 1);
        first[i] = gx_random_next(&random);
        for (uint64_t j = 0; j < i; j++) assert_true(first[j] != first[i]);
    }
}

static void numbers_below_n_reach_all_and_only_those(void **state) {
    (void)state;
    gx_random random = gx_random_new(1, 1);
    for (uint32_t n = 1; n < 20; n++) {
        uint32_t seen = 0;
        for (int i = 0; i < 2000; i++) {
            uint32_t x = gx_random_below(&random, n);
            assert_true(x < n);
            seen |= UINT32_C(1) << x;
        }
        assert_int_equal(seen, (UINT32_C(1) << n) - 1);
    }
}

static void numbers_below_n_are_even(void **state) {
    (void)state;
    gx_random random = gx_random_new(2, 9);
    int counts[10] = { 0 };
    for (int i = 0; i < 100000; i++) counts[gx_random_below(&random, 10)]++;
    for (int i = 0; i < 10; i++) assert_in_range(counts[i], 9500, 10500);
}

static void an_id_is_never_zero(void **state) {
    (void)state;
    gx_random random = { 0 - UINT64_C(5), 5 }; /* the next state is 0, whose mix is 0 */
    assert_true(gx_random_mix(0) == 0);
    assert_true(gx_random_id(&random) != 0);
}

/* Which of 65 ids XOR to zero, as a bit set (65 vectors of 64 bits always have such a choice). Bit 64 is `ret_last`. */
static uint64_t find_cancelling(const uint64_t ids[65], bool *ret_last) {
    struct {
        uint64_t value, members;
        bool last;
    } basis[64] = { 0 };
    for (int i = 0; i < 65; i++) {
        uint64_t value = ids[i], members = i < 64 ? UINT64_C(1) << i : 0;
        bool last = i == 64;
        for (int bit = 63; bit >= 0 && value; bit--) {
            if (!(value >> bit & 1)) continue;
            if (!basis[bit].value) {
                basis[bit].value = value;
                basis[bit].members = members;
                basis[bit].last = last;
                break;
            }
            value ^= basis[bit].value;
            members ^= basis[bit].members;
            last ^= basis[bit].last;
        }
        if (value) continue;
        *ret_last = last;
        return members;
    }
    return 0;
}

static uint64_t combine(const uint64_t ids[65], uint64_t members, bool last) {
    uint64_t sum = last ? ids[64] : 0;
    for (int i = 0; i < 64; i++)
        if (members >> i & 1) sum ^= ids[i];
    return sum;
}

/* With a generator that is linear over XOR, the combination of successive ids that cancels at one place of the sequence
 * cancels at every place. */
static void no_combination_of_successive_ids_cancels_everywhere(void **state) {
    (void)state;
    gx_random random = gx_random_new(11, 0);
    uint64_t ids[65 + 100];
    for (size_t i = 0; i < 165; i++) ids[i] = gx_random_id(&random);
    bool last = false;
    uint64_t members = find_cancelling(ids, &last);
    assert_true(members != 0 || last);
    assert_true(combine(ids, members, last) == 0);
    for (size_t i = 1; i <= 100; i++) assert_true(combine(ids + i, members, last) != 0);
}

static void a_secret_is_never_the_same(void **state) {
    unsigned char one[24] = { 0 }, two[24] = { 0 };
    (void)state;
    assert_true(gx_os_secret(one, sizeof one) && gx_os_secret(two, sizeof two));
    assert_memory_not_equal(one, two, sizeof one);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_seed_and_a_stream_repeat),
        cmocka_unit_test(streams_and_seeds_differ),
        cmocka_unit_test(numbers_below_n_reach_all_and_only_those),
        cmocka_unit_test(numbers_below_n_are_even),
        cmocka_unit_test(an_id_is_never_zero),
        cmocka_unit_test(no_combination_of_successive_ids_cancels_everywhere),
        cmocka_unit_test(a_secret_is_never_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
