#include "tuple/key.h"

#include "base/random.h"
#include "harness/cm.h"
#include "harness/counting_allocator.h"
#include "tuple/body.h"

#include <math.h>
#include <stdlib.h>

static const gale_value *all(size_t *ret_count) {
    static gale_value items[2], pairs[2], values[24];
    items[0] = gale_i64(1), items[1] = gale_text("a");
    pairs[0] = gale_text("k"), pairs[1] = gale_null();
    size_t n = 0;
    values[n++] = gale_null();
    values[n++] = gale_bool(false);
    values[n++] = gale_bool(true);
    values[n++] = gale_i64(0);
    values[n++] = gale_i64(INT64_MIN);
    values[n++] = gale_f64(0.0);
    values[n++] = gale_f64(NAN);
    values[n++] = gale_text("");
    values[n++] = gale_string("\0", 1);
    values[n++] = gale_string("a\0", 2);
    values[n++] = gale_text("a");
    values[n++] = gale_text("a word of more than sixteen bytes");
    values[n++] = gale_bytes("", 0);
    values[n++] = gale_bytes("a", 1);
    values[n++] = gale_bytes("a\0\6", 3);
    values[n++] = gale_bytes("\0\0\0\0\0\0\0\0", 8); /* what a number is */
    values[n++] = gale_list(NULL, 0);
    values[n++] = gale_list(items, 2);
    values[n++] = gale_map(NULL, 0);
    values[n++] = gale_map(pairs, 1);
    *ret_count = n;
    return values;
}

static void keys_are_equal_when_their_values_are(void **state) {
    (void)state;
    size_t count;
    const gale_value *values = all(&count);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            gx_buf a = GX_BUF_INIT(NULL), b = GX_BUF_INIT(NULL);
            assert_int_equal(gx_key_add(&values[i], &a), 0);
            assert_int_equal(gx_key_add(&values[j], &b), 0);
            assert_int_equal(gx_str_equal((gale_str){ a.data, a.size }, (gale_str){ b.data, b.size }), i == j);
            gx_buf_fini(&a), gx_buf_fini(&b);
        }
    gx_buf zero = GX_BUF_INIT(NULL), negative = GX_BUF_INIT(NULL);
    gale_value minus = gale_f64(-0.0), plus = gale_f64(0.0);
    assert_int_equal(gx_key_add(&minus, &negative), 0);
    assert_int_equal(gx_key_add(&plus, &zero), 0);
    assert_true(gx_str_equal((gale_str){ zero.data, zero.size }, (gale_str){ negative.data, negative.size }));
    gx_buf_fini(&zero), gx_buf_fini(&negative);
}

/* Also behind something else, as where an object and a task are one key. */
static void a_value_can_be_read_from_its_key(void **state) {
    (void)state;
    size_t count;
    const gale_value *values = all(&count);
    for (size_t i = 0; i < count; i++) {
        gx_buf key = GX_BUF_INIT(NULL);
        gx_buf_add(&key, "12345678", 8);
        assert_int_equal(gx_key_add(&values[i], &key), 0);
        gale_value back = gx_key_value((gale_str){ key.data + 8, key.size - 8 });
        assert_true(gale_value_equal(&back, &values[i]));
        gx_buf_fini(&key);
    }
}

/* Whether it is borrowed from a body or made. */
static void the_key_of_what_lies_in_a_body_is_the_same(void **state) {
    (void)state;
    size_t count;
    const gale_value *values = all(&count);
    for (size_t i = 0; i < count; i++) {
        gale_value two[] = { values[i], gale_text("behind it") };
        gale_body *body = malloc((size_t)gx_body_measure(two, 2));
        gx_body_encode(two, 2, body);
        gx_buf made = GX_BUF_INIT(NULL), scratch = GX_BUF_INIT(NULL);
        gx_buf_add(&scratch, "old", 3);
        gale_value first = gale_body_value(body, 0);
        gale_str key;
        assert_int_equal(gx_key_of(&first, &scratch, &key), 0);
        assert_int_equal(gx_key_add(&values[i], &made), 0);
        assert_true(gx_str_equal(key, (gale_str){ made.data, made.size }));
        gx_buf_fini(&made), gx_buf_fini(&scratch);
        free(body);
    }
}

static void most_words_and_all_numbers_have_short_keys(void **state) {
    (void)state;
    gale_value word = gale_text("fifteen letters"), number = gale_i64(INT64_MAX);
    gx_buf key = GX_BUF_INIT(NULL);
    assert_int_equal(gx_key_add(&word, &key), 0);
    assert_int_equal(key.size, 16);
    gx_buf_reset(&key);
    assert_int_equal(gx_key_add(&number, &key), 0);
    assert_int_equal(key.size, 9);
    gx_buf_fini(&key);
}

/* Text is read from between other bytes, none of which may get into the key. */
static void a_brief_key_is_the_key(void **state) {
    (void)state;
    size_t count, brief = 0;
    const gale_value *values = all(&count);
    for (size_t i = 0; i < count + 2 * 20; i++) {
        char around[40], bytes[GX_KEY_BRIEF];
        gx_buf key = GX_BUF_INIT(NULL);
        size_t n = i - count;
        memset(around, 'x', sizeof around);
        gale_value text = n % 2 ? gale_bytes(around + 7, n / 2) : gale_string(around + 7, n / 2);
        const gale_value *value = i < count ? &values[i] : &text;
        memset(bytes, 'y', sizeof bytes);
        size_t size = gx_key_brief(value, bytes);
        assert_int_equal(gx_key_add(value, &key), 0);
        assert_int_equal(size, key.size <= GX_KEY_BRIEF && value->type <= GALE_TYPE_BYTES ? key.size : 0);
        if (size) assert_memory_equal(bytes, key.data, size);
        brief += size > 0;
        gx_buf_fini(&key);
    }
    assert_in_range(brief, 32, count + 40);
}

static void what_is_no_value_has_no_key(void **state) {
    (void)state;
    gale_value bad[] = { gale_string("x", 1), gale_bytes("x", 1), gale_null(), gale_list(NULL, 0) };
    bad[0].as.string = NULL;
    bad[1].as.bytes = NULL;
    bad[2].type = GALE_TYPE_COUNT;
    bad[3].size = 3;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        gx_buf out = GX_BUF_INIT(NULL);
        gx_buf_add(&out, "before", 6);
        assert_int_equal(gx_key_add(&bad[i], &out), GALE_INVALID);
        assert_int_equal(out.size, 6);
        gx_buf_fini(&out);
    }
}

static void without_memory_nothing_is_appended(void **state) {
    (void)state;
    size_t count;
    const gale_value *values = all(&count);
    for (size_t i = 0; i < count; i++)
        for (size_t n = 1; n <= 2; n++) {
            counting_allocator counting = { .fail_at = n };
            gale_allocator handle = counting_handle(&counting);
            gx_heap heap;
            gx_heap_init(&heap, &handle);
            gx_buf out = GX_BUF_INIT(&heap);
            int rc = gx_key_add(&values[i], &out);
            assert_true(rc == 0 || rc == GALE_NO_MEMORY);
            assert_true(n > 1 || rc == GALE_NO_MEMORY);
            if (rc < 0) assert_int_equal(out.size, 0);
            assert_false(out.failed);
            gx_buf_fini(&out);
        }
}

/* --- What comes from elsewhere --- */

static void what_was_written_is_valid_and_nothing_that_is_cut(void **state) {
    (void)state;
    size_t count;
    const gale_value *values = all(&count);
    for (size_t i = 0; i < count; i++) {
        gx_buf key = GX_BUF_INIT(NULL);
        assert_int_equal(gx_key_add(&values[i], &key), 0);
        assert_true(gx_key_is_valid((gale_str){ key.data, key.size }));
        for (size_t size = 0; size < key.size && values[i].type < GALE_TYPE_STRING; size++) {
            char last = key.data[size];
            key.data[size] = (char)(1 + values[i].type);
            assert_false(gx_key_is_valid((gale_str){ key.data, size + 1 }) && size + 1 < key.size);
            key.data[size] = last;
        }
        gx_buf_fini(&key);
    }
    assert_false(gx_key_is_valid((gale_str){ "", 0 }));
}

static void what_no_value_has_is_no_key(void **state) {
    (void)state;
    static const struct {
        char bytes[24];
        size_t size;
    } bad[] = {
        { "\2\0\0\0\0\0\0\0\2", 9 },                  /* neither true nor false */
        { "\1\0\0\0\0\0\0\0\1", 9 },                  /* a null with a value */
        { "\0\0\0\0\0\0\0\x80\4", 9 },                /* -0.0 */
        { "a\5", 2 },                                 /* a string with a type behind it */
        { "a\7", 2 },                                 /* no list */
        { "a\11", 2 },                                /* no type */
        { "\1\0\0\0\2\0\0\0\1\0\0\0\0\0\0\0\7", 17 }, /* a body, but of a number */
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        alignas(8) char bytes[24];
        memcpy(bytes, bad[i].bytes, sizeof bytes);
        if (gx_key_is_valid((gale_str){ bytes, bad[i].size })) fail_msg("%zu is taken for a key", i);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_equal_when_their_values_are),
        cmocka_unit_test(a_value_can_be_read_from_its_key),
        cmocka_unit_test(the_key_of_what_lies_in_a_body_is_the_same),
        cmocka_unit_test(most_words_and_all_numbers_have_short_keys),
        cmocka_unit_test(a_brief_key_is_the_key),
        cmocka_unit_test(what_is_no_value_has_no_key),
        cmocka_unit_test(without_memory_nothing_is_appended),
        cmocka_unit_test(what_was_written_is_valid_and_nothing_that_is_cut),
        cmocka_unit_test(what_no_value_has_is_no_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
