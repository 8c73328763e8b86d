#include "tuple/value.h"

#include "harness/cm.h"
#include "tuple/body.h"

#include <math.h>

static int order(gale_value a, gale_value b) {
    int one = gale_value_compare(&a, &b), other = gale_value_compare(&b, &a);
    assert_int_equal((one > 0) - (one < 0), (other < 0) - (other > 0));
    assert_int_equal(one == 0, gale_value_equal(&a, &b));
    return (one > 0) - (one < 0);
}

static void every_type_has_a_name(void **state) {
    (void)state;
    assert_string_equal(gale_type_name(GALE_TYPE_NULL), "null");
    assert_string_equal(gale_type_name(GALE_TYPE_I64), "i64");
    assert_string_equal(gale_type_name(GALE_TYPE_MAP), "map");
    assert_string_equal(gale_type_name(GALE_TYPE_COUNT), "unknown");
    assert_string_equal(gale_type_name(-1), "unknown");
}

static void text_of_null_is_empty(void **state) {
    (void)state;
    assert_int_equal(gale_text(NULL).size, 0);
    assert_int_equal(gale_text("abc").size, 3);
}

static void values_order_by_type_then_by_content(void **state) {
    (void)state;
    const gale_value in_order[] = {
        gale_null(),        gale_bool(false),  gale_bool(true),     gale_i64(INT64_MIN), gale_i64(-1),
        gale_i64(1),        gale_i64(2),       gale_f64(-INFINITY), gale_f64(-0.5),      gale_f64(1.0),
        gale_f64(INFINITY), gale_f64(NAN),     gale_text(""),       gale_text("a"),      gale_text("aa"),
        gale_text("b"),     gale_bytes("", 0), gale_bytes("a", 1),
    };
    size_t count = sizeof in_order / sizeof in_order[0];
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) assert_int_equal(order(in_order[i], in_order[j]), i < j ? -1 : i > j);
}

static void every_nan_is_one_nan_and_zero_has_no_sign(void **state) {
    (void)state;
    assert_int_equal(order(gale_f64(NAN), gale_f64(-NAN)), 0);
    assert_int_equal(order(gale_f64(0.0), gale_f64(-0.0)), 0);
    assert_int_equal(order(gale_i64(1), gale_f64(1)), -1);
}

static void lists_compare_item_by_item_then_by_length(void **state) {
    (void)state;
    gale_value a[] = { gale_i64(1), gale_i64(2) }, b[] = { gale_i64(1), gale_i64(3) };
    assert_int_equal(order(gale_list(a, 2), gale_list(b, 2)), -1);
    assert_int_equal(order(gale_list(a, 1), gale_list(a, 2)), -1);
    assert_int_equal(order(gale_list(b, 1), gale_list(a, 1)), 0);
    assert_int_equal(order(gale_list(NULL, 0), gale_list(a, 1)), -1);
}

static void maps_compare_by_sorted_entries_however_they_were_built(void **state) {
    (void)state;
    gale_value up[] = { gale_text("a"), gale_i64(1), gale_text("b"), gale_i64(2), gale_text("c"), gale_i64(3) };
    gale_value mixed[] = { gale_text("c"), gale_i64(3), gale_text("a"), gale_i64(1), gale_text("b"), gale_i64(2) };
    gale_value other[] = { gale_text("b"), gale_i64(2), gale_text("c"), gale_i64(4), gale_text("a"), gale_i64(1) };
    assert_int_equal(order(gale_map(up, 3), gale_map(mixed, 3)), 0);
    assert_int_equal(order(gale_map(mixed, 3), gale_map(other, 3)), -1);
    assert_int_equal(order(gale_map(up, 2), gale_map(mixed, 3)), -1);
    gale_value map = gale_map(mixed, 3);
    gale_value_owned *owned = gale_value_copy(&map);
    assert_non_null(owned);
    assert_int_equal(order(gale_value_owned_view(owned), map), 0);
    gale_value_owned_free(owned);
}

static void an_item_beyond_the_end_is_null(void **state) {
    (void)state;
    gale_value items[] = { gale_i64(7) };
    gale_value list = gale_list(items, 1), number = gale_i64(1);
    assert_int_equal(gale_list_at(&list, 0).as.i64, 7);
    assert_int_equal(gale_list_at(&list, 1).type, GALE_TYPE_NULL);
    assert_int_equal(gale_list_at(&number, 0).type, GALE_TYPE_NULL);
}

static void a_map_is_read_by_place_and_by_key(void **state) {
    (void)state;
    gale_value pairs[] = { gale_text("z"), gale_i64(26), gale_text("a"), gale_i64(1), gale_text("m"), gale_i64(13) };
    gale_value map = gale_map(pairs, 3), value = gale_null();
    gale_value_owned *owned = gale_value_copy(&map);
    gale_value encoded = gale_value_owned_view(owned);
    const gale_value *both[] = { &map, &encoded };
    for (int i = 0; i < 2; i++) {
        assert_true(gale_map_get(both[i], gx_str("z"), &value));
        assert_int_equal(value.as.i64, 26);
        assert_true(gale_map_get(both[i], gx_str("a"), &value));
        assert_int_equal(value.as.i64, 1);
        assert_true(gale_map_get(both[i], gx_str("m"), &value));
        assert_false(gale_map_get(both[i], gx_str("zz"), &value));
        assert_false(gale_map_get(both[i], gx_str(""), &value));
        assert_int_equal(value.as.i64, 13);
    }
    gale_str key = gx_str("untouched");
    assert_true(gale_map_at(&encoded, 0, &key, &value));
    assert_true(gx_str_is(key, "a"));
    assert_false(gale_map_at(&encoded, 3, &key, &value));
    assert_true(gx_str_is(key, "a"));
    assert_false(gale_map_at(&value, 0, &key, &value));
    assert_false(gale_map_get(&value, key, &value));
    gale_value_owned_free(owned);
}

static void a_copy_outlives_what_it_was_made_from(void **state) {
    (void)state;
    char text[] = "short-lived";
    gale_value items[] = { gale_string(text, 5), gale_bytes(text, 11), gale_null(), gale_f64(1.5) };
    gale_value list = gale_list(items, 4);
    gale_value_owned *owned = gale_value_copy(&list);
    memset(text, 'x', sizeof text);
    items[3] = gale_null();
    gale_value view = gale_value_owned_view(owned);
    assert_int_equal(view.size, 4);
    assert_string_equal(gale_list_at(&view, 0).as.string, "short");
    assert_memory_equal(gale_list_at(&view, 1).as.bytes, "short-lived", 11);
    assert_true(gale_list_at(&view, 3).as.f64 == 1.5);
    gale_value_owned_free(owned);
    gale_value_owned_free(NULL);
}

static void what_is_not_valid_is_not_copied(void **state) {
    (void)state;
    gale_value twice[] = { gale_text("a"), gale_null(), gale_text("a"), gale_null() };
    gale_value number_key[] = { gale_i64(1), gale_null() };
    gale_value a = gale_map(twice, 2), b = gale_map(number_key, 1), c = gale_null();
    c.type = GALE_TYPE_COUNT;
    assert_null(gale_value_copy(&a));
    assert_null(gale_value_copy(&b));
    assert_null(gale_value_copy(&c));
    /* and may be looked at without harm */
    gale_value value;
    assert_int_equal(gale_value_compare(&a, &a), 0);
    (void)gale_value_compare(&a, &b);
    (void)gale_value_hash(&b);
    (void)gale_map_get(&b, gx_str("k"), &value);
}

static void a_list_that_holds_itself_is_survived(void **state) {
    (void)state;
    gale_value loop[1] = { gale_null() };
    loop[0] = gale_list(loop, 1);
    assert_null(gale_value_copy(&loop[0]));
    assert_int_equal(gale_value_compare(&loop[0], &loop[0]), 0);
    (void)gale_value_hash(&loop[0]);
}

static void a_packed_value_reads_back_from_any_address(void **state) {
    (void)state;
    gale_value inner[] = { gale_text("deep"), gale_i64(-5) };
    gale_value pairs[] = { gale_text("k2"), gale_list(inner, 2), gale_text("k1"), gale_f64(2.5) };
    gale_value map = gale_map(pairs, 2);
    gx_buf out = GX_BUF_INIT(NULL);
    gx_buf_add(&out, "odd", 3);
    assert_int_equal(gx_value_pack(&map, &out), 0);
    gale_value back = gx_value_unpack((gale_str){ out.data + 3, out.size - 3 });
    assert_true(gale_value_equal(&back, &map));
    assert_int_equal(gale_value_hash(&back), gale_value_hash(&map));
    gx_buf_fini(&out);
}

static void packed_values_compare_as_the_values_do(void **state) {
    (void)state;
    gale_value values[] = { gale_i64(-3), gale_i64(300), gale_text("ab"), gale_text("b") };
    gx_buf packed[4];
    for (int i = 0; i < 4; i++) {
        packed[i] = (gx_buf)GX_BUF_INIT(NULL);
        assert_int_equal(gx_value_pack(&values[i], &packed[i]), 0);
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            int got = gx_value_compare_packed((gale_str){ packed[i].data, packed[i].size },
                                              (gale_str){ packed[j].data, packed[j].size });
            assert_int_equal((got > 0) - (got < 0), (i > j) - (i < j));
        }
    for (int i = 0; i < 4; i++) gx_buf_fini(&packed[i]);
}

static void *no_alloc(void *user, size_t size) {
    (void)user;
    (void)size;
    return NULL;
}

static void a_pack_that_fails_leaves_the_buffer_as_it_was(void **state) {
    (void)state;
    gale_allocator none = *gale_allocator_default();
    none.alloc = no_alloc;
    gx_heap heap;
    gx_heap_init(&heap, &none);
    gx_buf out = GX_BUF_INIT(&heap);
    gale_value value = gale_i64(1), bad = gale_null();
    bad.type = 99;
    assert_int_equal(gx_value_pack(&value, &out), GALE_NO_MEMORY);
    assert_int_equal(gx_value_pack(&bad, &out), GALE_INVALID);
    assert_int_equal(out.size, 0);
    assert_false(out.failed);
    gx_buf_fini(&out);
}

static void what_has_a_size_but_no_place_is_null(void **state) {
    (void)state;
    gale_value null = gale_null(), nowhere = gale_string(NULL, 5), empty = gale_string(NULL, 0);
    gale_value inside = gale_list(&nowhere, 1), list = gale_list(NULL, 5), map = gale_map(NULL, 5);
    const gale_value *none[] = { NULL, &nowhere, &inside, &list, &map };
    for (size_t i = 0; i < 5; i++) {
        assert_true(gale_value_equal(none[i], &null));
        assert_int_equal(gale_value_compare(&empty, none[i]), 1);
        assert_true(gale_value_hash(none[i]) == gale_value_hash(&null));
        assert_null(gale_value_copy(none[i]));
    }
    assert_int_equal(gale_list_at(&list, 0).type, GALE_TYPE_NULL);
    assert_false(gale_map_at(&map, 0, NULL, NULL));
    assert_int_equal(gale_value_owned_view(NULL).type, GALE_TYPE_NULL);
    assert_false(gale_utf8_valid(NULL, 1));
    assert_true(gale_utf8_valid(NULL, 0));
}

static void what_is_not_wanted_of_a_map_may_be_null(void **state) {
    (void)state;
    gale_value pairs[] = { gale_text("a"), gale_i64(1) };
    gale_value map = gale_map(pairs, 1), value;
    gale_str key;
    assert_true(gale_map_at(&map, 0, &key, NULL));
    assert_true(gale_map_at(&map, 0, NULL, &value));
    assert_true(gale_map_get(&map, key, NULL));
    assert_false(gale_map_get(&map, (gale_str){ NULL, 1 }, NULL));
    assert_int_equal(value.as.i64, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_has_a_size_but_no_place_is_null),
        cmocka_unit_test(what_is_not_wanted_of_a_map_may_be_null),
        cmocka_unit_test(every_type_has_a_name),
        cmocka_unit_test(text_of_null_is_empty),
        cmocka_unit_test(values_order_by_type_then_by_content),
        cmocka_unit_test(every_nan_is_one_nan_and_zero_has_no_sign),
        cmocka_unit_test(lists_compare_item_by_item_then_by_length),
        cmocka_unit_test(maps_compare_by_sorted_entries_however_they_were_built),
        cmocka_unit_test(an_item_beyond_the_end_is_null),
        cmocka_unit_test(a_map_is_read_by_place_and_by_key),
        cmocka_unit_test(a_copy_outlives_what_it_was_made_from),
        cmocka_unit_test(what_is_not_valid_is_not_copied),
        cmocka_unit_test(a_list_that_holds_itself_is_survived),
        cmocka_unit_test(a_packed_value_reads_back_from_any_address),
        cmocka_unit_test(packed_values_compare_as_the_values_do),
        cmocka_unit_test(a_pack_that_fails_leaves_the_buffer_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
