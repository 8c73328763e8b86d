#include "tuple/body.h"

#include "base/random.h"
#include "harness/cm.h"
#include "tuple/value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Into memory of exactly the measured size, filled with rubbish, so that the sanitizer sees any step outside and the
 * comparison any byte that was not written. */
static gale_body *encoded(const gale_value *values, size_t count, size_t *ret_size) {
    int64_t size = gx_body_measure(values, count);
    assert_true(size > 0 && size % 8 == 0);
    void *at = malloc((size_t)size);
    memset(at, 0xa5, (size_t)size);
    gx_body_encode(values, count, at);
    *ret_size = (size_t)size;
    return at;
}

static void bodies_equal(const gale_value *a, size_t a_count, const gale_value *b, size_t b_count) {
    size_t a_size, b_size;
    gale_body *x = encoded(a, a_count, &a_size), *y = encoded(b, b_count, &b_size);
    assert_int_equal(a_size, b_size);
    assert_memory_equal(x, y, a_size);
    free(x);
    free(y);
}

static void a_body_of_nothing_takes_eight_bytes(void **state) {
    (void)state;
    size_t size;
    gale_body *body = encoded(NULL, 0, &size);
    assert_int_equal(size, 8);
    assert_memory_equal(body, "\0\0\0\0\0\0\0\0", 8);
    assert_int_equal(gale_body_value(body, 0).type, GALE_TYPE_NULL);
    free(body);
}

static void a_string_of_fifteen_bytes_takes_thirty_two(void **state) {
    (void)state;
    gale_value value = gale_text("fifteen letters");
    assert_int_equal(value.size, 15);
    assert_int_equal(gx_body_measure(&value, 1), 32);
    value = gale_text("sixteen letters!");
    assert_int_equal(gx_body_measure(&value, 1), 40);
}

static void the_bytes_of_a_body_are_fixed(void **state) {
    (void)state;
    gale_value list[] = { gale_bool(true) };
    gale_value values[] = { gale_i64(-2), gale_text("hi"), gale_list(list, 1), gale_f64(1.0), gale_bytes("\0", 1) };
    static const uint8_t golden[] = {
        5,    0,    0,    0,    2,    4,    6,    3,    5,   0,   0, 0, 0, 0, 0,    0,    /* count, tags, zeros */
        0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 56,  0,   0, 0, 2, 0, 0,    0,    /* -2, "hi" */
        64,   0,    0,    0,    16,   0,    0,    0,    0,   0,   0, 0, 0, 0, 0xf0, 0x3f, /* list, 1.0 */
        59,   0,    0,    0,    1,    0,    0,    0,    'h', 'i', 0, 0, 0, 0, 0,    0,    /* bytes; the text, zeros */
        1,    0,    0,    0,    1,    0,    0,    0,    1,   0,   0, 0, 0, 0, 0,    0,    /* the list */
    };
    size_t size;
    gale_body *body = encoded(values, 5, &size);
    assert_int_equal(size, sizeof golden);
    assert_memory_equal(body, golden, sizeof golden);
    free(body);
}

static void nan_and_zero_are_canonical(void **state) {
    (void)state;
    uint64_t odd_nan = UINT64_C(0xfff8000000000123);
    gale_value a[] = { gale_f64(NAN), gale_f64(0.0) }, b[] = { gale_f64(0), gale_f64(-0.0) };
    memcpy(&b[0].as.f64, &odd_nan, 8);
    bodies_equal(a, 2, b, 2);
}

static void a_null_has_an_empty_slot_whatever_it_was(void **state) {
    (void)state;
    gale_value a = gale_null(), b = gale_i64(77);
    b.type = GALE_TYPE_NULL;
    bodies_equal(&a, 1, &b, 1);
}

enum { MANY = 3000 };

/* `count` entries in a shuffled order; keys[i] says which. */
static gale_value *shuffled_map(uint32_t count, char (*keys)[12], gx_random *random) {
    gale_value *pairs = malloc((2 * (size_t)count + 1) * sizeof *pairs);
    uint32_t *numbers = malloc((count + 1) * sizeof *numbers);
    for (uint32_t i = 0; i < count; i++) numbers[i] = i;
    for (uint32_t i = count; i > 1; i--) {
        uint32_t j = gx_random_below(random, i), swap = numbers[i - 1];
        numbers[i - 1] = numbers[j];
        numbers[j] = swap;
    }
    for (uint32_t i = 0; i < count; i++) {
        snprintf(keys[i], sizeof keys[i], "key%05u", numbers[i]);
        pairs[2 * i] = gale_text(keys[i]);
        pairs[2 * i + 1] = gale_i64(numbers[i]);
    }
    free(numbers);
    return pairs;
}

static void maps_of_any_size_are_sorted_by_key(void **state) {
    (void)state;
    static char keys[MANY][12];
    static const uint32_t sizes[] = { 0, 1, 2, 3, 15, 16, 17, 100, 511, 512, 513, 1024, 1025, MANY };
    gx_random random = gx_random_new(1, 1);
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        gale_value *pairs = shuffled_map(sizes[k], keys, &random);
        gale_value map = gale_map(pairs, sizes[k]);
        size_t size;
        gale_body *body = encoded(&map, 1, &size);
        gale_value back = gale_body_value(body, 0);
        assert_int_equal(back.size, sizes[k]);
        for (uint32_t i = 0; i < sizes[k]; i++) {
            gale_str key;
            gale_value value;
            assert_true(gale_map_at(&back, i, &key, &value));
            assert_int_equal(value.as.i64, i);
        }
        assert_true(gx_body_valid(body, size));
        free(body);
        free(pairs);
    }
}

static void a_key_that_comes_twice_is_found_in_maps_of_any_size(void **state) {
    (void)state;
    static char keys[MANY][12];
    static const uint32_t sizes[] = { 2, 3, 16, 17, 512, 513, 514, 1025, MANY };
    gx_random random = gx_random_new(2, 2);
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
        for (int trial = 0; trial < 20; trial++) {
            uint32_t n = sizes[k];
            gale_value *pairs = shuffled_map(n, keys, &random);
            gale_value map = gale_map(pairs, n);
            assert_true(gx_body_measure(&map, 1) > 0);
            uint32_t a = gx_random_below(&random, n), b = (a + 1 + gx_random_below(&random, n - 1)) % n;
            pairs[2 * (size_t)a] = pairs[2 * (size_t)b];
            assert_int_equal(gx_body_measure(&map, 1), GALE_INVALID);
            free(pairs);
        }
}

static void a_map_of_one_key_only_is_refused_whatever_its_size(void **state) {
    (void)state;
    static gale_value pairs[2 * MANY];
    for (size_t i = 0; i < MANY; i++) {
        pairs[2 * i] = gale_text("same");
        pairs[2 * i + 1] = gale_null();
    }
    gale_value map = gale_map(pairs, MANY);
    assert_int_equal(gx_body_measure(&map, 1), GALE_INVALID);
}

static void values_that_are_not_valid_are_refused(void **state) {
    (void)state;
    gale_value pair[] = { gale_i64(1), gale_i64(2) };
    gale_value map = gale_map(pair, 1), type = gale_null(), text = gale_string(NULL, 3), list = gale_list(NULL, 2);
    gale_value no_pairs = gale_map(NULL, 1);
    type.type = GALE_TYPE_COUNT;
    assert_int_equal(gx_body_measure(&map, 1), GALE_INVALID);
    assert_int_equal(gx_body_measure(&type, 1), GALE_INVALID);
    assert_int_equal(gx_body_measure(&text, 1), GALE_INVALID);
    assert_int_equal(gx_body_measure(&list, 1), GALE_INVALID);
    assert_int_equal(gx_body_measure(&no_pairs, 1), GALE_INVALID);
}

static void what_passes_a_gibibyte_is_too_large(void **state) {
    (void)state;
    gale_value half = gale_string("", (size_t)1 << 29), values[] = { half, half };
    gale_value whole = gale_string("", UINT32_MAX);
    gale_value list = gale_list(values, UINT32_MAX), map = gale_map(values, UINT32_MAX);
    assert_int_equal(gx_body_measure(&half, 1), ((int64_t)1 << 29) + 24);
    assert_int_equal(gx_body_measure(values, 2), GALE_TOO_LARGE);
    assert_int_equal(gx_body_measure(&whole, 1), GALE_TOO_LARGE);
    assert_int_equal(gx_body_measure(&list, 1), GALE_TOO_LARGE);
    assert_int_equal(gx_body_measure(&map, 1), GALE_TOO_LARGE);
    assert_int_equal(gx_body_measure(values, SIZE_MAX), GALE_TOO_LARGE);
}

/* A size that is cut to 32 bits could be small: a list of 2^32 items was an empty one. */
static void what_passes_32_bits_is_too_large_and_never_small(void **state) {
    (void)state;
    static const size_t sizes[] = { UINT32_MAX, (size_t)1 << 32, ((size_t)1 << 32) + 3, (size_t)1 << 63, SIZE_MAX };
    gale_value item = gale_i64(1);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const gale_value values[] = { gale_string("", sizes[i]), gale_bytes("", sizes[i]), gale_list(&item, sizes[i]),
                                      gale_map(&item, sizes[i]) };
        for (size_t k = 0; k < 4; k++) {
            assert_int_equal(values[k].size, UINT32_MAX);
            assert_int_equal(gx_body_measure(&values[k], 1), GALE_TOO_LARGE);
            assert_null(gale_value_copy(&values[k]));
        }
        assert_int_equal(gale_string("", sizes[i] & 3).size, sizes[i] & 3);
    }
}

static void lists_nest_to_the_limit_and_no_further_built_or_encoded(void **state) {
    (void)state;
    gale_value nest[GALE_VALUE_DEPTH + 2];
    nest[0] = gale_i64(1);
    for (int i = 1; i <= GALE_VALUE_DEPTH + 1; i++) nest[i] = gale_list(&nest[i - 1], 1);
    assert_int_equal(gx_body_measure(&nest[GALE_VALUE_DEPTH + 1], 1), GALE_INVALID);
    size_t size;
    gale_body *body = encoded(&nest[GALE_VALUE_DEPTH], 1, &size);
    assert_true(gx_body_valid(body, size));
    gale_value deepest = gale_body_value(body, 0), deeper = gale_list(&deepest, 1);
    assert_int_equal(gx_body_measure(&deepest, 1), size);
    assert_int_equal(gx_body_measure(&deeper, 1), GALE_INVALID);
    free(body);
}

/* --- Random values ------------------------------------------------------------------------------------------------ */

typedef struct maker {
    gx_random random;
    gale_value values[4096];
    size_t count;
    char keys[4096][8];
    size_t key_count;
} maker;

static gale_value random_value(maker *m, int depth);

static gale_value random_text(maker *m) {
    static const char text[] = "the quick brown fox jumps over the lazy dog and then some";
    uint32_t size = gx_random_below(&m->random, 40);
    return gale_string(text + gx_random_below(&m->random, 10), size);
}

static gale_value random_list(maker *m, int depth, bool is_map) {
    size_t count = gx_random_below(&m->random, depth > 3 ? 3 : 24), width = is_map ? 2 : 1;
    if (m->count + count * width > 4096 || m->key_count + count > 4096) return gale_null();
    gale_value *items = &m->values[m->count];
    m->count += count * width;
    uint32_t step = 1 + 2 * gx_random_below(&m->random, 8);
    for (size_t i = 0; i < count; i++) {
        if (is_map) {
            char *key = m->keys[m->key_count++];
            snprintf(key, sizeof m->keys[0], "%x", (unsigned)(i * step % 32));
            items[2 * i] = gale_text(key);
        }
        items[i * width + width - 1] = random_value(m, depth + 1);
    }
    return is_map ? gale_map(items, count) : gale_list(items, count);
}

static gale_value random_value(maker *m, int depth) {
    switch (gx_random_below(&m->random, depth > 5 ? 6 : 8)) {
    case 0: return gale_null();
    case 1: return gale_bool(gx_random_next(&m->random) & 1);
    case 2: return gale_i64((int64_t)gx_random_next(&m->random));
    case 3: return gale_f64((double)gx_random_next(&m->random) / 7);
    case 4: return random_text(m);
    case 5: return gale_bytes("\xff\x00\xfe binary", gx_random_below(&m->random, 10));
    case 6: return random_list(m, depth, false);
    default: return random_list(m, depth, true);
    }
}

static void random_values_come_back_equal_and_encode_to_the_same_bytes(void **state) {
    (void)state;
    static maker m;
    for (uint64_t seed = 0; seed < 500; seed++) {
        m.random = gx_random_new(seed, 3);
        m.count = m.key_count = 0;
        gale_value values[6], back[6];
        size_t count = gx_random_below(&m.random, 7), size;
        for (size_t i = 0; i < count; i++) values[i] = random_value(&m, 0);
        gale_body *body = encoded(values, count, &size);
        assert_int_equal(gx_body_size(body), size);
        assert_true(gx_body_valid(body, size));
        for (size_t i = 0; i < count; i++) {
            back[i] = gale_body_value(body, i);
            assert_true(gale_value_equal(&values[i], &back[i]));
            assert_int_equal(gale_value_hash(&values[i]), gale_value_hash(&back[i]));
            if (back[i].type == GALE_TYPE_STRING) assert_int_equal(back[i].as.string[back[i].size], 0);
        }
        bodies_equal(values, count, back, count);
        free(body);
    }
}

/* Touches everything that a reader could. */
static uint64_t walk(const gale_body *body) {
    uint64_t sum = 0;
    for (size_t i = 0; i < body->count; i++) {
        gale_value v = gale_body_value(body, i);
        sum += gale_value_hash(&v);
        sum += (uint64_t)gale_value_compare(&v, &v);
    }
    return sum;
}

static void mutated_bodies_are_refused_or_can_be_read(void **state) {
    (void)state;
    static maker m;
    uint64_t sum = 0;
    int accepted = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        m.random = gx_random_new(seed, 4);
        m.count = m.key_count = 0;
        gale_value values[4];
        size_t size;
        for (size_t i = 0; i < 4; i++) values[i] = random_value(&m, 0);
        gale_body *body = encoded(values, 4, &size);
        for (int trial = 0; trial < 50; trial++) {
            size_t cut = gx_random_below(&m.random, 4) ? size : gx_random_below(&m.random, (uint32_t)size);
            uint8_t *copy = malloc(cut + 1);
            memcpy(copy, body, cut);
            for (uint32_t n = gx_random_below(&m.random, 4); n-- > 0 && cut;)
                copy[gx_random_below(&m.random, (uint32_t)cut)] = (uint8_t)gx_random_next(&m.random);
            uint8_t *exact = malloc(cut ? cut : 1);
            memcpy(exact, copy, cut);
            if (gx_body_valid(exact, cut)) {
                sum += walk((const gale_body *)(void *)exact);
                accepted++;
            }
            free(exact);
            free(copy);
        }
        free(body);
    }
    assert_true(accepted > 1000);
    assert_true(sum != 1);
}

static void a_body_of_another_size_or_with_another_byte_of_padding_is_refused(void **state) {
    (void)state;
    gale_value values[] = { gale_text("abc"), gale_bool(true) };
    size_t size;
    uint8_t *body = (uint8_t *)encoded(values, 2, &size);
    assert_true(gx_body_valid(body, size));
    assert_false(gx_body_valid(body, size - 8));
    assert_false(gx_body_valid(body, 0));
    static const size_t places[] = { 7, 28, 16, 17, 21 };
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        body[places[i]] ^= 2;
        assert_false(gx_body_valid(body, size));
        body[places[i]] ^= 2;
    }
    body[24] = 0xff; /* no UTF-8 */
    assert_false(gx_body_valid(body, size));
    body[4] = GALE_TYPE_BYTES;
    assert_true(gx_body_valid(body, size));
    free(body);
}

/* Found by fuzzing: the key's tag says map, its offset leads far out of the body. */
static void a_map_whose_key_is_a_map_outside_the_body_is_not_valid(void **state) {
    (void)state;
    static const uint8_t found[] = {
        3, 0, 0, 0, 1, 0, 7, 0, 0, 0,    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,    0, 0, 0, 32, 0, 0, 0, 32, 0, 0, 0,
        2, 0, 0, 0, 7, 3, 0, 0, 0, 0x2a, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0xfe, 0, 0, 0, 0,  0, 0, 0, 0,  0, 0, 0,
    };
    alignas(8) uint8_t body[sizeof found];
    memcpy(body, found, sizeof found);
    assert_false(gx_body_valid(body, sizeof body));
}

static void what_was_saved_may_have_text_of_any_bytes_and_is_else_as_strict(void **state) {
    (void)state;
    gale_value list[] = { gale_string("\xff\xfe", 2) };
    gale_value values[] = { gale_string("\xc3", 1), gale_list(list, 1), gale_i64(1) };
    size_t size;
    gale_body *body = encoded(values, 3, &size);
    assert_false(gx_body_valid(body, size));
    assert_true(gx_body_fits(body, size));
    for (size_t cut = 0; cut < size; cut++) assert_false(gx_body_fits(body, cut));
    free(body);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_map_whose_key_is_a_map_outside_the_body_is_not_valid),
        cmocka_unit_test(a_body_of_nothing_takes_eight_bytes),
        cmocka_unit_test(a_string_of_fifteen_bytes_takes_thirty_two),
        cmocka_unit_test(the_bytes_of_a_body_are_fixed),
        cmocka_unit_test(nan_and_zero_are_canonical),
        cmocka_unit_test(a_null_has_an_empty_slot_whatever_it_was),
        cmocka_unit_test(maps_of_any_size_are_sorted_by_key),
        cmocka_unit_test(a_key_that_comes_twice_is_found_in_maps_of_any_size),
        cmocka_unit_test(a_map_of_one_key_only_is_refused_whatever_its_size),
        cmocka_unit_test(values_that_are_not_valid_are_refused),
        cmocka_unit_test(what_passes_a_gibibyte_is_too_large),
        cmocka_unit_test(what_passes_32_bits_is_too_large_and_never_small),
        cmocka_unit_test(lists_nest_to_the_limit_and_no_further_built_or_encoded),
        cmocka_unit_test(random_values_come_back_equal_and_encode_to_the_same_bytes),
        cmocka_unit_test(mutated_bodies_are_refused_or_can_be_read),
        cmocka_unit_test(a_body_of_another_size_or_with_another_byte_of_padding_is_refused),
        cmocka_unit_test(what_was_saved_may_have_text_of_any_bytes_and_is_else_as_strict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
