#include "tuple/flat.h"

#include "base/random.h"
#include "harness/cm.h"
#include "tuple/body.h"

#include <math.h>
#include <stdlib.h>

enum { ROOM = 1024, VALUES_MAX = 80 };

/* Writes into memory of exactly `room` bytes, filled with rubbish, so that the sanitizer sees any step outside. */
static size_t write_into(size_t room, const gale_value *values, size_t count, uint8_t **ret_at) {
    uint8_t *at = malloc(room);
    memset(at, 0xa5, room);
    *ret_at = at;
    return gx_flat_write(values, count, at, room);
}

/* What is written is what tuple/body.c would have encoded, to the byte; or nothing, where there is not room. */
static void written_as_encoded(const gale_value *values, size_t count, size_t room) {
    int64_t measured = gx_body_measure(values, count);
    assert_true(measured > 0);
    uint8_t *at, *encoded = malloc((size_t)measured);
    size_t size = write_into(room, values, count, &at);
    gx_body_encode(values, count, encoded);
    if (size) {
        assert_int_equal(size, measured);
        assert_memory_equal(at, encoded, size);
    } else {
        assert_true((size_t)measured + 24 > room || count > room / 16);
    }
    free(encoded);
    free(at);
}

static void nothing_takes_eight_bytes(void **state) {
    (void)state;
    written_as_encoded(NULL, 0, ROOM);
}

static void one_text_of_every_length_is_written_as_encoded(void **state) {
    (void)state;
    char text[ROOM + 1];
    for (size_t i = 0; i <= ROOM; i++) text[i] = (char)('a' + i % 26);
    for (size_t size = 0; size <= ROOM; size++) {
        char *exact = malloc(size ? size : 1); /* no byte behind it may be read */
        memcpy(exact, text, size);
        gale_value values[] = { gale_string(exact, size), gale_bytes(exact, size) };
        for (size_t room = 8; room <= ROOM; room = room < 64 ? room + 8 : room * 2) {
            if (room >= 48) written_as_encoded(values, 1, room);
            if (room >= 64) written_as_encoded(values, 2, room);
        }
        free(exact);
    }
}

static void scalars_are_canonical(void **state) {
    (void)state;
    gale_value values[] = { gale_i64(INT64_MIN), gale_bool(true), gale_null(),   gale_f64(-0.0),
                            gale_f64(NAN),       gale_f64(-NAN),  gale_f64(0.1), gale_i64(7) };
    for (size_t count = 1; count <= 8; count++) written_as_encoded(values, count, ROOM);
    for (size_t i = 0; i < 8; i++) written_as_encoded(&values[i], 1, ROOM);
}

static void lists_maps_and_text_without_bytes_are_refused(void **state) {
    (void)state;
    gale_value inner = gale_i64(1);
    gale_value missing = gale_string("x", 1);
    missing.as.string = NULL;
    gale_value refused[] = { gale_list(&inner, 1), gale_map(NULL, 0), missing };
    for (int i = 0; i < 3; i++) {
        gale_value two[] = { gale_i64(1), refused[i] };
        uint8_t *at;
        assert_int_equal(write_into(ROOM, &refused[i], 1, &at), 0);
        free(at);
        assert_int_equal(write_into(ROOM, two, 2, &at), 0);
        free(at);
    }
}

static void more_values_than_there_is_room_for_are_refused(void **state) {
    (void)state;
    gale_value values[VALUES_MAX];
    for (int i = 0; i < VALUES_MAX; i++) values[i] = gale_i64(i);
    for (size_t count = 1; count <= VALUES_MAX; count++)
        for (size_t room = 64; room <= ROOM; room *= 2) written_as_encoded(values, count, room);
}

static void random_values_are_written_as_encoded(void **state) {
    (void)state;
    gx_random random = gx_random_new(5, 5);
    char text[200];
    memset(text, 'x', sizeof text);
    for (int round = 0; round < 20000; round++) {
        gale_value values[6];
        size_t count = gx_random_below(&random, 7);
        for (size_t i = 0; i < count; i++) {
            uint32_t kind = gx_random_below(&random, 4);
            values[i] = kind == 0   ? gale_i64((int64_t)gx_random_next(&random))
                        : kind == 1 ? gale_f64((double)gx_random_below(&random, 1000) / 3)
                                    : gale_string(text, gx_random_below(&random, sizeof text));
        }
        written_as_encoded(values, count, round % 2 ? ROOM : 256);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_takes_eight_bytes),
        cmocka_unit_test(one_text_of_every_length_is_written_as_encoded),
        cmocka_unit_test(scalars_are_canonical),
        cmocka_unit_test(lists_maps_and_text_without_bytes_are_refused),
        cmocka_unit_test(more_values_than_there_is_room_for_are_refused),
        cmocka_unit_test(random_values_are_written_as_encoded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
