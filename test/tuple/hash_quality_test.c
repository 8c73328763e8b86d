/* How good the hash behind fields grouping is, on keys as people have them: does every bit matter, and do tasks get equal
 * shares? */
#include "base/random.h"
#include "harness/cm.h"
#include "tuple/hash.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 40, KEYS = 20000 };

static uint64_t of(const char *text, size_t size) {
    gale_value value = gale_string(text, size);
    return gx_value_hash(&value);
}

/* How often each bit of the hash changes when bit `bit` of a text does; `shape` draws a byte. */
static void flip(gx_random *random, size_t size, size_t bit, bool digits, uint32_t *changed) {
    char text[LONGEST];
    for (size_t i = 0; i < size; i++)
        text[i] = (char)(digits ? '0' + gx_random_below(random, 10) : gx_random_below(random, 256));
    uint64_t before = of(text, size);
    text[bit / 8] = (char)(text[bit / 8] ^ 1 << bit % 8);
    uint64_t after = of(text, size);
    for (int i = 0; i < 64; i++) changed[i] += (before ^ after) >> i & 1;
}

/* Of few texts all come, again and again: their changes are not independent. */
static bool few(size_t size, bool digits) {
    return size < (digits ? 4 : 2);
}

static void every_bit_of_a_text_changes_every_bit_of_its_hash_half_of_the_times(void **state) {
    (void)state;
    enum { TIMES = 2000 };
    gx_random random = gx_random_new(1, 7);
    for (int digits = 0; digits < 2; digits++)
        for (size_t size = 2; size <= 20; size++)
            for (size_t bit = 0; bit < 8 * size; bit++) {
                uint32_t changed[64] = { 0 };
                for (int i = 0; i < TIMES; i++) flip(&random, size, bit, digits, changed);
                uint32_t off = few(size, digits) ? TIMES / 5 : TIMES / 16;
                for (int i = 0; i < 64; i++) assert_in_range(changed[i], TIMES / 2 - off, TIMES / 2 + off);
            }
}

static void the_size_of_a_text_changes_every_bit_of_its_hash_half_of_the_times(void **state) {
    (void)state;
    enum { TIMES = 2000 };
    gx_random random = gx_random_new(2, 7);
    for (size_t size = 0; size < 16; size++) { /* a text and a NUL more: nothing but the size differs */
        uint32_t changed[64] = { 0 };
        for (int i = 0; i < TIMES; i++) {
            char text[LONGEST] = { 0 };
            for (size_t k = 0; k < size; k++) text[k] = (char)gx_random_below(&random, 256);
            uint64_t both = of(text, size) ^ of(text, size + 1);
            for (int k = 0; k < 64; k++) changed[k] += both >> k & 1;
        }
        if (size < 2) continue;
        for (int k = 0; k < 64; k++) assert_in_range(changed[k], TIMES * 2 / 5, TIMES * 3 / 5);
    }
}

/* --- Keys as people have them --- */

typedef size_t spell(uint32_t i, char *to);

static size_t count_up(uint32_t i, char *to) {
    return (size_t)sprintf(to, "%u", i);
}

static size_t name_and_number(uint32_t i, char *to) {
    return (size_t)sprintf(to, "word%u", i);
}

static size_t long_prefix(uint32_t i, char *to) {
    return (size_t)sprintf(to, "customer-%06u", i);
}

static size_t beyond_16_bytes(uint32_t i, char *to) {
    return (size_t)sprintf(to, "customer-%06u/europe", i);
}

static size_t number_first(uint32_t i, char *to) {
    return (size_t)sprintf(to, "%u.example.org", i);
}

static size_t address(uint32_t i, char *to) {
    return (size_t)sprintf(to, "10.0.%u.%u", i / 250, i % 250);
}

/* Shared beginnings, all lengths: a, aa, aaa, ..., b, ba, baa ... */
static size_t ladder(uint32_t i, char *to) {
    size_t size = 1 + i % 16;
    memset(to, 'a', size);
    sprintf(to + size, "%X", i / 16);
    return size + strlen(to + size);
}

/* Two bytes of an odd number, and NULs before and behind. */
static size_t among_nuls(uint32_t i, char *to) {
    memset(to, 0, LONGEST);
    uint32_t before = i % 7, behind = i / 7 % 7, number = i / 7 * 2 + 1;
    to[before] = (char)number;
    to[before + 1] = (char)(number >> 8);
    return before + 2 + behind;
}

static size_t eight_bytes(uint32_t i, char *to) {
    uint64_t number = i;
    memcpy(to, &number, 8);
    return 8;
}

static size_t upper_bits(uint32_t i, char *to) {
    uint64_t number[2] = { 0, (uint64_t)i << 48 };
    memcpy(to, number, 16);
    return 16;
}

static size_t both_halves(uint32_t i, char *to) {
    uint64_t number[2] = { i, i };
    memcpy(to, number, 16);
    return 16;
}

static spell *const families[] = { count_up, name_and_number, long_prefix, beyond_16_bytes, number_first, address,
                                   ladder,   among_nuls,      eight_bytes, upper_bits,      both_halves };
enum { FAMILIES = sizeof families / sizeof *families };

static void hash_all(spell *family, uint64_t *hashes) {
    char text[LONGEST + 1];
    for (uint32_t i = 0; i < KEYS; i++) hashes[i] = of(text, family(i, text));
}

/* How many deviations the shares of `n` tasks are off: of chi squared, for what is random, one in a hundred million is
 * above six. */
static double deviations(const uint64_t *hashes, uint32_t n) {
    static uint32_t shares[1000];
    double square = 0, expected = (double)KEYS / n;
    memset(shares, 0, sizeof shares);
    for (uint32_t i = 0; i < KEYS; i++) shares[gx_hash_below(hashes[i], n)]++;
    for (uint32_t i = 0; i < n; i++) square += (shares[i] - expected) * (shares[i] - expected) / expected;
    return n > 1 ? (square - (n - 1)) / sqrt(2.0 * (n - 1)) : 0;
}

static void every_number_of_tasks_shares_keys_of_every_kind_evenly(void **state) {
    (void)state;
    static uint64_t hashes[KEYS];
    for (size_t f = 0; f < FAMILIES; f++) {
        hash_all(families[f], hashes);
        for (uint32_t n = 1; n <= 1000; n++)
            if (deviations(hashes, n) > 6) fail_msg("family %zu, %u tasks: %.1f", f, n, deviations(hashes, n));
    }
}

static void the_second_candidates_of_partial_key_are_shared_evenly_too(void **state) {
    (void)state;
    static uint64_t hashes[KEYS];
    for (size_t f = 0; f < FAMILIES; f++) {
        hash_all(families[f], hashes);
        for (uint32_t n = 2; n <= 64; n++) {
            uint32_t shares[64] = { 0 }, first, second;
            for (uint32_t i = 0; i < KEYS; i++) {
                gx_hash_pair(hashes[i], n, &first, &second);
                shares[second]++;
            }
            uint32_t fair = KEYS / n;
            for (uint32_t i = 0; i < n; i++) assert_in_range(shares[i], fair - fair / 3, fair + fair / 3);
        }
    }
}

static int by_size(const void *a, const void *b) {
    uint64_t one = *(const uint64_t *)a, two = *(const uint64_t *)b;
    return (one > two) - (one < two);
}

static uint32_t alike(uint64_t *hashes) {
    uint32_t found = 0;
    qsort(hashes, KEYS, sizeof *hashes, by_size);
    for (uint32_t i = 1; i < KEYS; i++) found += hashes[i] == hashes[i - 1];
    return found;
}

/* Of 20,000 random numbers of 32 bits 0.05 pairs are alike. */
static void no_two_keys_hash_alike_nor_do_their_upper_or_lower_halves(void **state) {
    (void)state;
    static uint64_t hashes[KEYS], halves[KEYS];
    for (size_t f = 0; f < FAMILIES; f++) {
        hash_all(families[f], hashes);
        for (uint32_t i = 0; i < KEYS; i++) halves[i] = hashes[i] >> 32;
        assert_in_range(alike(halves), 0, 2);
        for (uint32_t i = 0; i < KEYS; i++) halves[i] = (uint32_t)hashes[i];
        assert_in_range(alike(halves), 0, 2);
        assert_int_equal(alike(hashes), 0);
    }
}

static void texts_of_nothing_but_nuls_differ_by_their_size(void **state) {
    (void)state;
    char nuls[LONGEST] = { 0 };
    uint64_t hashes[LONGEST + 1];
    for (size_t size = 0; size <= LONGEST; size++) {
        hashes[size] = of(nuls, size);
        for (size_t i = 0; i < size; i++) assert_true(hashes[i] != hashes[size]);
    }
}

static void numbers_in_a_row_are_shared_evenly(void **state) {
    (void)state;
    static uint64_t hashes[KEYS];
    static const int shifts[] = { 0, 1, 8, 20, 32, 48 };
    for (size_t s = 0; s < sizeof shifts / sizeof *shifts; s++) {
        for (uint32_t i = 0; i < KEYS; i++) {
            gale_value number = gale_i64((int64_t)((uint64_t)i << shifts[s]));
            hashes[i] = gx_value_hash(&number);
        }
        for (uint32_t n = 1; n <= 1000; n++)
            if (deviations(hashes, n) > 6) fail_msg("shift %d, %u tasks: %.1f", shifts[s], n, deviations(hashes, n));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bit_of_a_text_changes_every_bit_of_its_hash_half_of_the_times),
        cmocka_unit_test(the_size_of_a_text_changes_every_bit_of_its_hash_half_of_the_times),
        cmocka_unit_test(every_number_of_tasks_shares_keys_of_every_kind_evenly),
        cmocka_unit_test(the_second_candidates_of_partial_key_are_shared_evenly_too),
        cmocka_unit_test(no_two_keys_hash_alike_nor_do_their_upper_or_lower_halves),
        cmocka_unit_test(texts_of_nothing_but_nuls_differ_by_their_size),
        cmocka_unit_test(numbers_in_a_row_are_shared_evenly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
