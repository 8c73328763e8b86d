#include "ds/bytes_map.h"

#include "base/hash.h"
#include "base/random.h"
#include "harness/cm.h"
#include "harness/counting_allocator.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct fixture {
    counting_allocator counting;
    gx_heap heap;
    gx_bytes_map *map;
} fixture;

enum { SEED = 42 };

static void setup_with(fixture *f, size_t value_size) {
    *f = (fixture){ 0 };
    gale_allocator handle = counting_handle(&f->counting);
    gx_heap_init(&f->heap, &handle);
    f->map = gx_bytes_map_new(&f->heap, value_size, SEED);
    assert_non_null(f->map);
}

static void teardown(fixture *f) {
    assert_null(gx_bytes_map_flaw(f->map));
    gx_bytes_map_free(f->map);
    assert_int_equal(f->counting.blocks, 0);
    assert_int_equal(gx_heap_reserved(&f->heap), 0);
}

static gale_str numbered(char *text, unsigned n) {
    return (gale_str){ text, (size_t)sprintf(text, "key-%u", n) };
}

static void an_empty_map_holds_nothing(void **state) {
    (void)state;
    fixture f;
    setup_with(&f, 8);
    assert_int_equal(gx_bytes_map_size(f.map), 0);
    assert_null(gx_bytes_map_get(f.map, gx_str("a")));
    assert_false(gx_bytes_map_remove(f.map, gx_str("a")));
    gx_bytes_map_clear(f.map);
    teardown(&f);
    gx_bytes_map_free(NULL);
}

static void nearly_every_key_that_is_fetched_is_found_by_its_tag(void **state) {
    (void)state;
    fixture f;
    char text[32];
    unsigned found = 0;
    setup_with(&f, 8);
    assert_null(gx_bytes_map_fetched(f.map, gx_bytes_map_fetch(f.map, gx_str("a"))));
    for (unsigned n = 0; n < 10000; n++) assert_non_null(gx_bytes_map_put(f.map, numbered(text, n), NULL));
    for (unsigned n = 0; n < 20000; n++) {
        gale_str key = numbered(text, n);
        uint32_t tag = gx_bytes_map_fetch(f.map, key);
        assert_int_equal(tag, gx_bytes_map_tag(f.map, key));
        const void *value = gx_bytes_map_fetched(f.map, tag);
        found += value && value == gx_bytes_map_get(f.map, key);
    }
    assert_in_range(found, 9000, 10000);
    teardown(&f);
}

static void a_new_value_is_zeroed_and_stays(void **state) {
    (void)state;
    fixture f;
    setup_with(&f, 24);
    bool made = false;
    char *value = gx_bytes_map_put(f.map, gx_str("a"), &made);
    static const char zeros[24];
    assert_true(made);
    assert_int_equal((uintptr_t)value % 8, 0);
    assert_memory_equal(value, zeros, sizeof zeros);
    memset(value, 7, 24);
    assert_ptr_equal(gx_bytes_map_put(f.map, gx_str("a"), &made), value);
    assert_false(made);
    assert_ptr_equal(gx_bytes_map_get(f.map, gx_str("a")), value);
    assert_int_equal(gx_bytes_map_size(f.map), 1);
    assert_true(gx_bytes_map_remove(f.map, gx_str("a")));
    assert_memory_equal(gx_bytes_map_put(f.map, gx_str("a"), NULL), zeros, sizeof zeros);
    teardown(&f);
}

static void a_map_without_values_is_a_set(void **state) {
    (void)state;
    fixture f;
    setup_with(&f, 0);
    char text[32];
    for (unsigned i = 0; i < 100; i++) assert_non_null(gx_bytes_map_put(f.map, numbered(text, i), NULL));
    for (unsigned i = 0; i < 200; i++) assert_int_equal(gx_bytes_map_get(f.map, numbered(text, i)) != NULL, i < 100);
    teardown(&f);
}

static void keys_of_every_size_and_with_any_byte_are_told_apart(void **state) {
    (void)state;
    fixture f;
    setup_with(&f, 8);
    char key[301];
    memset(key, 0, sizeof key);
    for (size_t size = 0; size <= 300; size++) {
        bool made = false;
        *(uint64_t *)gx_bytes_map_put(f.map, (gale_str){ size ? key : NULL, size }, &made) = size;
        assert_true(made);
        for (size_t at = 0; at < size; at++) { /* one byte differs: another key */
            key[at] = 1;
            assert_null(gx_bytes_map_get(f.map, (gale_str){ key, size }));
            key[at] = 0;
        }
    }
    for (size_t size = 0; size <= 300; size++)
        assert_int_equal(*(uint64_t *)gx_bytes_map_get(f.map, (gale_str){ key, size }), size);
    teardown(&f);
}

enum { TWINS_AMONG = 300000 }; /* about ten pairs of them have the same 32 bits of hash */

typedef struct tagged {
    uint32_t tag;
    unsigned number;
} tagged;

static int by_tag(const void *a, const void *b) {
    const tagged *one = a, *two = b;
    return (one->tag > two->tag) - (one->tag < two->tag);
}

/* Too long to lie beside its value. */
static gale_str long_numbered(char *text, unsigned n) {
    return (gale_str){ text, (size_t)sprintf(text, "a key of more than 16 bytes-%u", n) };
}

typedef gale_str spell(char *text, unsigned n);

/* Two numbers whose keys look alike to a map that compares only what its index keeps of a hash. */
static void find_twins(const gx_bytes_map *map, spell *key, unsigned *ret_one, unsigned *ret_two) {
    tagged *all = malloc(TWINS_AMONG * sizeof *all);
    assert_non_null(all);
    char text[64];
    for (unsigned i = 0; i < TWINS_AMONG; i++) all[i] = (tagged){ gx_bytes_map_tag(map, key(text, i)), i };
    qsort(all, TWINS_AMONG, sizeof *all, by_tag);
    size_t at = 1;
    while (at < TWINS_AMONG && all[at].tag != all[at - 1].tag) at++;
    assert_true(at < TWINS_AMONG);
    *ret_one = all[at - 1].number;
    *ret_two = all[at].number;
    free(all);
}

static void twins_are_told_apart(spell *key) {
    fixture f;
    setup_with(&f, 8);
    unsigned one, two;
    char text[64];
    find_twins(f.map, key, &one, &two);
    *(uint64_t *)gx_bytes_map_put(f.map, key(text, one), NULL) = 1;
    assert_null(gx_bytes_map_get(f.map, key(text, two)));
    assert_false(gx_bytes_map_remove(f.map, key(text, two)));
    *(uint64_t *)gx_bytes_map_put(f.map, key(text, two), NULL) = 2;
    assert_int_equal(*(uint64_t *)gx_bytes_map_get(f.map, key(text, one)), 1);
    assert_int_equal(*(uint64_t *)gx_bytes_map_get(f.map, key(text, two)), 2);
    assert_true(gx_bytes_map_remove(f.map, key(text, one)));
    assert_int_equal(*(uint64_t *)gx_bytes_map_get(f.map, key(text, two)), 2);
    teardown(&f);
}

static void keys_of_the_same_hash_are_told_apart(void **state) {
    (void)state;
    twins_are_told_apart(numbered);
    twins_are_told_apart(long_numbered);
}

/* How many of a thousand keys have a tag of their own: `chosen` in one half, the other half counts up. */
static size_t tags_of_halves(uint64_t seed, uint64_t chosen, int half) {
    enum { TRIED = 1000 };
    tagged all[TRIED];
    gx_heap heap;
    gx_heap_init(&heap, NULL);
    gx_bytes_map *map = gx_bytes_map_new(&heap, 8, seed);
    for (unsigned i = 0; i < TRIED; i++) {
        uint64_t halves[2] = { half ? i : chosen, half ? chosen : i };
        all[i] = (tagged){ gx_bytes_map_tag(map, (gale_str){ (const char *)halves, sizeof halves }), i };
    }
    gx_bytes_map_free(map);
    qsort(all, TRIED, sizeof *all, by_tag);
    size_t tags = 1;
    for (unsigned i = 1; i < TRIED; i++) tags += all[i].tag != all[i - 1].tag;
    return tags;
}

/* A product with a factor of 0 is 0, whatever the other is: were one factor not keyed, whoever knows its constant could
 * choose as many keys as he likes that all have one hash, under any seed. */
static void who_knows_the_constants_cannot_choose_keys_that_collide(void **state) {
    (void)state;
    const uint64_t known[] = {
        0, UINT64_MAX, GX_HASH_PUBLIC.low, GX_HASH_PUBLIC.high, GX_HASH_PUBLIC.last, UINT64_C(0x589965cc75374cc3)
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (uint64_t seed = 0; seed < 4; seed++)
            for (int half = 0; half < 2; half++) assert_in_range(tags_of_halves(seed, known[i], half), 995, 1000);
}

static void keys_that_collide_under_one_seed_do_not_under_others(void **state) {
    (void)state;
    fixture f;
    setup_with(&f, 8);
    char one_text[64], two_text[64];
    unsigned one, two, alike = 0;
    find_twins(f.map, numbered, &one, &two);
    for (uint64_t seed = 0; seed < 100; seed++) {
        gx_bytes_map *map = gx_bytes_map_new(&f.heap, 8, seed);
        gale_str a = numbered(one_text, one), b = numbered(two_text, two);
        alike += seed != SEED && gx_bytes_map_tag(map, a) == gx_bytes_map_tag(map, b);
        gx_bytes_map_free(map);
    }
    assert_int_equal(alike, 0);
    teardown(&f);
}

/* What most keys are takes one place beside the value, and none in the arena. */
static void a_short_key_takes_no_memory_beside_its_entry(void **state) {
    (void)state;
    fixture f;
    setup_with(&f, 8);
    char key[17] = "0123456789abcdef";
    assert_non_null(gx_bytes_map_put(f.map, (gale_str){ key, 15 }, NULL));
    size_t calls = f.counting.calls;
    assert_non_null(gx_bytes_map_put(f.map, (gale_str){ key, 16 }, NULL));
    assert_int_equal(f.counting.calls, calls);
    assert_non_null(gx_bytes_map_put(f.map, (gale_str){ key, 17 }, NULL)); /* the arena's first */
    assert_int_equal(f.counting.calls, calls + 1);
    teardown(&f);
}

static void entries_lie_in_the_order_of_insertion(void **state) {
    (void)state;
    fixture f;
    setup_with(&f, 8);
    char text[32];
    for (unsigned i = 0; i < 1000; i++) *(uint64_t *)gx_bytes_map_put(f.map, numbered(text, i), NULL) = i;
    for (unsigned i = 0; i < 1000; i++) {
        gale_str key;
        assert_int_equal(*(uint64_t *)gx_bytes_map_at(f.map, i, &key), i);
        assert_true(gx_str_equal(key, numbered(text, i)));
    }
    teardown(&f);
}

static void the_last_entry_takes_the_place_of_a_removed_one(void **state) {
    (void)state;
    fixture f;
    setup_with(&f, 8);
    char text[32];
    for (unsigned i = 0; i < 5; i++) *(uint64_t *)gx_bytes_map_put(f.map, numbered(text, i), NULL) = i;
    assert_true(gx_bytes_map_remove(f.map, numbered(text, 1)));
    static const uint64_t order[] = { 0, 4, 2, 3 };
    assert_int_equal(gx_bytes_map_size(f.map), 4);
    for (size_t i = 0; i < 4; i++) assert_int_equal(*(uint64_t *)gx_bytes_map_at(f.map, i, NULL), order[i]);
    assert_int_equal(*(uint64_t *)gx_bytes_map_get(f.map, numbered(text, 4)), 4);
    teardown(&f);
}

static void walking_backwards_may_remove(void **state) {
    (void)state;
    fixture f;
    setup_with(&f, 8);
    char text[32];
    for (unsigned i = 0; i < 1000; i++) *(uint64_t *)gx_bytes_map_put(f.map, numbered(text, i), NULL) = i;
    for (size_t i = 1000; i-- > 0;)
        if (*(uint64_t *)gx_bytes_map_at(f.map, i, NULL) % 3 == 0) gx_bytes_map_remove_at(f.map, i);
    assert_int_equal(gx_bytes_map_size(f.map), 666);
    for (unsigned i = 0; i < 1000; i++)
        assert_int_equal(gx_bytes_map_get(f.map, numbered(text, i)) != NULL, i % 3 != 0);
    teardown(&f);
}

static void a_cleared_map_is_empty_and_allocates_nothing_to_fill_again(void **state) {
    (void)state;
    fixture f;
    setup_with(&f, 8);
    char text[32];
    size_t calls = 0;
    for (int round = 0; round < 3; round++) {
        for (unsigned i = 0; i < 500; i++) {
            uint64_t *value = gx_bytes_map_put(f.map, numbered(text, i), NULL);
            assert_int_equal(*value, 0);
            *value = 1;
        }
        if (round == 0) calls = f.counting.calls;
        gx_bytes_map_clear(f.map);
        assert_int_equal(gx_bytes_map_size(f.map), 0);
        assert_null(gx_bytes_map_get(f.map, numbered(text, 7)));
    }
    assert_int_equal(f.counting.calls, calls);
    teardown(&f);
}

/* A window over a stream of words that never come back: what is dead must not pile up. */
static void forget_as_much_as_is_learnt(spell *key) {
    fixture f;
    setup_with(&f, 8);
    char text[64];
    size_t calls = 0;
    for (unsigned i = 0; i < 50000; i++) {
        assert_non_null(gx_bytes_map_put(f.map, key(text, 100000 + i), NULL));
        if (i >= 100) assert_true(gx_bytes_map_remove(f.map, key(text, 100000 + i - 100)));
        if (i == 1000) calls = f.counting.calls;
    }
    assert_int_equal(f.counting.calls, calls);
    assert_true(f.counting.bytes < 64 * 1024);
    teardown(&f);
}

static void a_map_that_forgets_as_much_as_it_learns_stops_allocating(void **state) {
    (void)state;
    forget_as_much_as_is_learnt(numbered);
    forget_as_much_as_is_learnt(long_numbered);
}

enum { MODEL_KEYS = 700 };

typedef struct model {
    bool there[MODEL_KEYS];
    uint64_t value[MODEL_KEYS];
    size_t size;
} model;

/* Keys of 0 to about 40 bytes, all different. */
static gale_str model_key(char *text, unsigned n) {
    if (n == 0) return (gale_str){ NULL, 0 };
    int size = sprintf(text, "%u", n);
    memset(text + size, '.', n % 37);
    return (gale_str){ text, (size_t)size + n % 37 };
}

static void step(fixture *f, model *m, unsigned n, uint64_t what) {
    char text[64];
    gale_str key = model_key(text, n);
    if (what < 5) {
        bool made = false;
        uint64_t *value = gx_bytes_map_put(f->map, key, &made);
        assert_int_equal(made, !m->there[n]);
        assert_int_equal(*value, m->there[n] ? m->value[n] : 0);
        m->size += made;
        m->there[n] = true;
        m->value[n] = *value = what * 1000 + n;
    } else if (what < 8) {
        assert_int_equal(gx_bytes_map_remove(f->map, key), m->there[n]);
        m->size -= m->there[n];
        m->there[n] = false;
    } else {
        const uint64_t *value = gx_bytes_map_get(f->map, key);
        assert_int_equal(value != NULL, m->there[n]);
        if (value) assert_int_equal(*value, m->value[n]);
    }
    assert_int_equal(gx_bytes_map_size(f->map), m->size);
}

static void compare(const fixture *f, const model *m) {
    char text[64];
    for (unsigned n = 0; n < MODEL_KEYS; n++) {
        const uint64_t *value = gx_bytes_map_get(f->map, model_key(text, n));
        assert_int_equal(value != NULL, m->there[n]);
        if (value) assert_int_equal(*value, m->value[n]);
    }
    for (size_t i = 0; i < gx_bytes_map_size(f->map); i++) {
        gale_str key;
        const void *value = gx_bytes_map_at(f->map, i, &key);
        assert_ptr_equal(gx_bytes_map_get(f->map, key), value);
    }
}

static void random_operations_agree_with_a_naive_model(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 8; seed++) {
        fixture f;
        setup_with(&f, 8);
        model m = { 0 };
        gx_random random = gx_random_new(seed, 0);
        unsigned keys = 3u << seed; /* few keys: many collisions of fate; many keys: many of place */
        if (keys > MODEL_KEYS) keys = MODEL_KEYS;
        for (int i = 0; i < 20000; i++) {
            step(&f, &m, gx_random_below(&random, keys), gx_random_below(&random, 10));
            if (i % 2000 == 0) compare(&f, &m);
        }
        compare(&f, &m);
        teardown(&f);
    }
}

/* Puts 300 keys with the n-th allocation failing; each failed put must leave the map as it was. */
static size_t put_with_failure_at(size_t n) {
    counting_allocator counting = { .fail_at = n };
    gale_allocator handle = counting_handle(&counting);
    gx_heap heap;
    gx_heap_init(&heap, &handle);
    gx_bytes_map *map = gx_bytes_map_new(&heap, 8, 1);
    char text[64];
    for (unsigned i = 0; map && i < 300; i++) {
        bool made = false;
        uint64_t *value = gx_bytes_map_put(map, model_key(text, i), &made);
        if (!value) {
            assert_false(made);
            assert_int_equal(gx_bytes_map_size(map), i);
            assert_null(gx_bytes_map_get(map, model_key(text, i)));
            if (i) assert_int_equal(*(uint64_t *)gx_bytes_map_get(map, model_key(text, i - 1)), i - 1);
            value = gx_bytes_map_put(map, model_key(text, i), NULL);
        }
        *value = i;
    }
    for (unsigned i = 0; map && i < 300; i++)
        assert_int_equal(*(uint64_t *)gx_bytes_map_get(map, model_key(text, i)), i);
    gx_bytes_map_free(map);
    assert_int_equal(counting.blocks, 0);
    return counting.calls;
}

static void any_failing_allocation_leaves_the_map_as_it_was(void **state) {
    (void)state;
    size_t calls = put_with_failure_at(0);
    assert_true(calls > 10);
    for (size_t n = 1; n <= calls; n++) put_with_failure_at(n);
}

static void a_value_too_large_for_memory_is_refused(void **state) {
    (void)state;
    gx_heap heap;
    gx_heap_init(&heap, NULL);
    assert_null(gx_bytes_map_new(&heap, SIZE_MAX, 0));
    assert_int_equal(gx_heap_reserved(&heap), 0);
}

static void text_is_found_by_the_key_that_ends_with_a_nul(void **state) {
    (void)state;
    gx_heap heap;
    gx_heap_init(&heap, NULL);
    gx_bytes_map *map = gx_bytes_map_new(&heap, 8, 1);
    static const char text[] = "abcdefghijklmnopqrst";
    for (size_t from = 0; from < 4; from++)
        for (size_t size = 0; size < 16; size++) {
            char key[16] = { 0 };
            memcpy(key, text + from, size);
            assert_true(size == 0 || gx_bytes_map_get_text(map, (gale_str){ text + from, size }) == NULL);
            void *value = gx_bytes_map_put(map, (gale_str){ key, size + 1 }, NULL);
            assert_ptr_equal(gx_bytes_map_get_text(map, (gale_str){ text + from, size }), value);
            gx_bytes_map_put(map, (gale_str){ key, size }, NULL); /* is another one */
        }
    for (size_t i = 0; i < gx_bytes_map_size(map); i++)
        assert_int_equal(gx_bytes_map_index(map, gx_bytes_map_at(map, i, NULL)), i);
    gx_bytes_map_free(map);
}

/* Keys that come to the same group, and fill it. */
static void text_is_found_beyond_its_group(void **state) {
    (void)state;
    gx_heap heap;
    gx_heap_init(&heap, NULL);
    gx_bytes_map *map = gx_bytes_map_new(&heap, 8, 1);
    for (unsigned i = 0; i < 5000; i++) {
        char key[16];
        gale_str text = { key, (size_t)snprintf(key, sizeof key, "%u", i) };
        *(uint64_t *)gx_bytes_map_put(map, (gale_str){ key, text.size + 1 }, NULL) = i;
    }
    for (unsigned i = 0; i < 6000; i++) {
        char key[16];
        gale_str text = { key, (size_t)snprintf(key, sizeof key, "%u", i) };
        const uint64_t *value = gx_bytes_map_get_text(map, text);
        assert_true(i < 5000 ? value && *value == i : !value);
    }
    gx_bytes_map_free(map);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_map_holds_nothing),
        cmocka_unit_test(nearly_every_key_that_is_fetched_is_found_by_its_tag),
        cmocka_unit_test(a_new_value_is_zeroed_and_stays),
        cmocka_unit_test(a_map_without_values_is_a_set),
        cmocka_unit_test(keys_of_every_size_and_with_any_byte_are_told_apart),
        cmocka_unit_test(keys_of_the_same_hash_are_told_apart),
        cmocka_unit_test(who_knows_the_constants_cannot_choose_keys_that_collide),
        cmocka_unit_test(keys_that_collide_under_one_seed_do_not_under_others),
        cmocka_unit_test(a_short_key_takes_no_memory_beside_its_entry),
        cmocka_unit_test(entries_lie_in_the_order_of_insertion),
        cmocka_unit_test(the_last_entry_takes_the_place_of_a_removed_one),
        cmocka_unit_test(walking_backwards_may_remove),
        cmocka_unit_test(a_cleared_map_is_empty_and_allocates_nothing_to_fill_again),
        cmocka_unit_test(a_map_that_forgets_as_much_as_it_learns_stops_allocating),
        cmocka_unit_test(random_operations_agree_with_a_naive_model),
        cmocka_unit_test(any_failing_allocation_leaves_the_map_as_it_was),
        cmocka_unit_test(a_value_too_large_for_memory_is_refused),
        cmocka_unit_test(text_is_found_by_the_key_that_ends_with_a_nul),
        cmocka_unit_test(text_is_found_beyond_its_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
