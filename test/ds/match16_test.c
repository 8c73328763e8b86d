#include "ds/match16.h"

#include "base/random.h"

#include "harness/cm.h"

static uint32_t naive(const uint8_t *bytes, uint8_t value) {
    uint32_t mask = 0;
    for (unsigned i = 0; i < 16; i++) mask |= (uint32_t)(bytes[i] == value) << i;
    return mask;
}

static void check(const uint8_t *bytes, uint8_t value) {
    assert_int_equal(gx_match16(bytes, value), naive(bytes, value));
    assert_int_equal(gx_match16_plain(bytes, value), naive(bytes, value));
}

static void every_byte_is_found_at_every_place(void **state) {
    (void)state;
    uint8_t bytes[16];
    for (unsigned value = 0; value < 256; value++) {
        for (unsigned at = 0; at < 16; at++) {
            memset(bytes, (int)(value ^ 1), sizeof bytes); /* differs in the lowest bit: a borrow would show */
            bytes[at] = (uint8_t)value;
            check(bytes, (uint8_t)value);
            memset(bytes, (int)(value ^ 0x80), sizeof bytes);
            bytes[at] = (uint8_t)value;
            check(bytes, (uint8_t)value);
        }
    }
}

static void random_bytes_are_told_as_one_by_one(void **state) {
    (void)state;
    gx_random random = gx_random_new(1, 0);
    uint8_t bytes[16];
    for (int i = 0; i < 100000; i++) {
        unsigned range = 1u + gx_random_below(&random, 256);
        for (unsigned k = 0; k < 16; k++) bytes[k] = (uint8_t)gx_random_below(&random, range);
        check(bytes, (uint8_t)gx_random_below(&random, range));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_is_found_at_every_place),
        cmocka_unit_test(random_bytes_are_told_as_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
