#include "ds/rotating_map.h"

#include "base/random.h"
#include "harness/counting_allocator.h"

#include <gale/error.h>
#include <stdio.h>

#include "harness/cm.h"

typedef struct fixture {
    counting_allocator counting;
    gale_allocator handle;
    gx_heap heap;
    gx_rotating_map *map;
} fixture;

static void setup_with(fixture *f, uint32_t buckets, size_t value_size, uint64_t seed) {
    memset(f, 0, sizeof *f);
    f->handle = counting_handle(&f->counting);
    gx_heap_init(&f->heap, &f->handle);
    assert_int_equal(gx_rotating_map_new(&f->heap, buckets, value_size, seed, &f->map), GALE_OK);
}

static void teardown(fixture *f) {
    gx_rotating_map_free(f->map);
    assert_int_equal(f->counting.blocks, 0);
    assert_int_equal(gx_heap_reserved(&f->heap), 0);
}

static void put(fixture *f, uint64_t key, uint64_t value) {
    uint64_t *at = gx_rotating_map_put(f->map, key, NULL);
    assert_non_null(at);
    *at = value;
}

static void count(void *user, uint64_t key, void *value) {
    (void)key, (void)value;
    ++*(size_t *)user;
}

static void an_empty_map_holds_nothing(void **state) {
    (void)state;
    fixture f;
    setup_with(&f, 2, 8, 1);
    gx_rotating_cursor cursor = { 0 };
    uint64_t key = 7;
    size_t dead = 0;
    assert_int_equal(gx_rotating_map_size(f.map), 0);
    assert_null(gx_rotating_map_get(f.map, 0));
    assert_false(gx_rotating_map_contains(f.map, UINT64_MAX));
    assert_false(gx_rotating_map_remove(f.map, 0, NULL));
    assert_null(gx_rotating_map_next(f.map, &cursor, &key));
    assert_null(gx_rotating_map_next(f.map, &cursor, &key));
    assert_int_equal(key, 7);
    for (int i = 0; i < 10; i++) assert_int_equal(gx_rotating_map_rotate(f.map, count, &dead), 0);
    assert_int_equal(dead, 0);
    teardown(&f);
    gx_rotating_map_free(NULL);
}

static void too_few_buckets_and_too_large_values_are_refused(void **state) {
    (void)state;
    gx_heap heap;
    gx_heap_init(&heap, NULL);
    gx_rotating_map *map = (gx_rotating_map *)&heap;
    const uint32_t wrong[] = { 0, 1, GX_ROTATING_BUCKETS_MAX + 1, UINT32_MAX };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(gx_rotating_map_new(&heap, wrong[i], 8, 0, &map), GALE_INVALID);
    assert_int_equal(gx_rotating_map_new(&heap, 3, GX_ROTATING_VALUE_MAX + 1, 0, &map), GALE_INVALID);
    assert_int_equal(gx_rotating_map_new(&heap, 3, SIZE_MAX, 0, &map), GALE_INVALID);
    assert_ptr_equal(map, &heap);
    assert_int_equal(gx_heap_reserved(&heap), 0);
}

static void a_new_value_is_zeroed_and_stays_when_put_again(void **state) {
    (void)state;
    fixture f;
    setup_with(&f, 3, 20, 1);
    static const char zeros[24];
    char removed[20] = { 0 };
    bool made = false;
    char *value = gx_rotating_map_put(f.map, 0, &made);
    assert_true(made);
    assert_int_equal((uintptr_t)value % 8, 0);
    assert_memory_equal(value, zeros, 20);
    memset(value, 7, 20);
    assert_ptr_equal(gx_rotating_map_put(f.map, 0, &made), value);
    assert_false(made);
    assert_ptr_equal(gx_rotating_map_get(f.map, 0), value);
    assert_true(gx_rotating_map_remove(f.map, 0, removed));
    assert_int_equal(removed[0] + removed[19], 14);
    assert_false(gx_rotating_map_remove(f.map, 0, removed));
    assert_memory_equal(gx_rotating_map_put(f.map, 0, NULL), zeros, 20);
    teardown(&f);
}

static void a_map_without_values_is_a_set(void **state) {
    (void)state;
    fixture f;
    setup_with(&f, 2, 0, 3);
    for (uint64_t key = 0; key < 1000; key++) assert_non_null(gx_rotating_map_put(f.map, key << 40, NULL));
    for (uint64_t key = 0; key < 2000; key++) assert_int_equal(gx_rotating_map_contains(f.map, key << 40), key < 1000);
    assert_int_equal(gx_rotating_map_size(f.map), 1000);
    teardown(&f);
}

/* T <= age <= T*n/(n-1): with T = n-1 rotations it dies in the n-th, whatever else is done but a put. */
static void what_nobody_puts_again_dies_in_the_nth_rotation(void **state) {
    (void)state;
    for (uint32_t n = 2; n <= GX_ROTATING_BUCKETS_MAX; n += n < 17 ? 1 : 59) {
        fixture f;
        setup_with(&f, n, 8, n);
        put(&f, 42, 1);
        for (uint32_t i = 1; i < n; i++) {
            assert_int_equal(gx_rotating_map_rotate(f.map, NULL, NULL), 0);
            assert_non_null(gx_rotating_map_get(f.map, 42)); /* does not renew */
            bool made = true;
            assert_non_null(gx_rotating_map_put_if_absent(f.map, 42, &made)); /* nor does this */
            assert_false(made);
        }
        size_t dead = 0;
        assert_int_equal(gx_rotating_map_rotate(f.map, count, &dead), 1);
        assert_int_equal(dead, 1);
        assert_false(gx_rotating_map_contains(f.map, 42));
        assert_int_equal(gx_rotating_map_size(f.map), 0);
        teardown(&f);
    }
}

static void a_put_renews(void **state) {
    (void)state;
    fixture f;
    setup_with(&f, 3, 8, 1);
    put(&f, 1, 10);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(gx_rotating_map_rotate(f.map, NULL, NULL), 0);
        assert_int_equal(gx_rotating_map_rotate(f.map, NULL, NULL), 0);
        put(&f, 1, 10);
    }
    assert_int_equal(gx_rotating_map_rotate(f.map, NULL, NULL), 0);
    assert_int_equal(gx_rotating_map_rotate(f.map, NULL, NULL), 0);
    assert_int_equal(gx_rotating_map_rotate(f.map, NULL, NULL), 1);
    teardown(&f);
}

/* --- From inside the callback --- */

typedef struct inside {
    fixture *f;
    uint32_t others; /* keys to put for each dead one */
    uint64_t seen;
    size_t calls;
} inside;

static void put_the_dead_again(void *user, uint64_t key, void *value) {
    inside *in = user;
    assert_int_equal(*(uint64_t *)value, key * 3);
    assert_false(gx_rotating_map_contains(in->f->map, key));
    put(in->f, key, key * 3);
    assert_int_equal(*(uint64_t *)value, key * 3);
    in->seen += key;
    in->calls++;
}

static void what_the_callback_puts_again_lives_on_in_the_new_bucket(void **state) {
    (void)state;
    fixture f;
    setup_with(&f, 4, 8, 9);
    for (uint64_t key = 1; key <= 5000; key++) put(&f, key, key * 3);
    for (int life = 0; life < 3; life++) {
        inside in = { .f = &f };
        for (int i = 0; i < 3; i++) assert_int_equal(gx_rotating_map_rotate(f.map, put_the_dead_again, &in), 0);
        assert_int_equal(gx_rotating_map_rotate(f.map, put_the_dead_again, &in), 5000);
        assert_int_equal(in.calls, 5000);
        assert_int_equal(in.seen, 5000 * 5001 / 2);
        assert_int_equal(gx_rotating_map_size(f.map), 5000);
    }
    teardown(&f);
}

static void put_many(void *user, uint64_t key, void *value) {
    inside *in = user;
    assert_int_equal(*(uint64_t *)value, key);
    for (uint32_t i = 1; i <= in->others; i++) put(in->f, key + ((uint64_t)i << 32), key);
    in->seen += key;
    in->calls++;
}

static void the_map_may_grow_and_split_under_the_callback(void **state) {
    (void)state;
    for (uint64_t keys = 1; keys <= 10000; keys = keys * 5 + 3) {
        fixture f;
        setup_with(&f, 2, 8, keys);
        for (uint64_t key = 1; key <= keys; key++) put(&f, key, key);
        inside in = { .f = &f, .others = 7 };
        assert_int_equal(gx_rotating_map_rotate(f.map, put_many, &in), 0);
        assert_int_equal(gx_rotating_map_rotate(f.map, put_many, &in), keys);
        assert_int_equal(in.calls, keys);
        assert_int_equal(in.seen, keys * (keys + 1) / 2);
        assert_int_equal(gx_rotating_map_size(f.map), keys * 7);
        for (uint64_t key = 1; key <= keys; key++)
            for (uint64_t i = 0; i <= 8; i++)
                assert_int_equal(gx_rotating_map_contains(f.map, key + (i << 32)), i > 0 && i < 8);
        teardown(&f);
    }
}

static void look_around(void *user, uint64_t key, void *value) {
    inside *in = user;
    (void)value;
    uint64_t seen = 0, other;
    gx_rotating_cursor cursor = { 0 };
    while (gx_rotating_map_next(in->f->map, &cursor, &other)) seen += other;
    assert_int_equal(seen, 1000);
    assert_int_equal(gx_rotating_map_size(in->f->map), 1);
    for (uint64_t k = 1; k <= 100; k++) assert_false(gx_rotating_map_remove(in->f->map, k, NULL));
    assert_int_equal(gx_rotating_map_rotate(in->f->map, NULL, NULL), GALE_INVALID);
    in->seen += key;
    in->calls++;
}

static void the_dead_are_gone_before_the_first_callback_and_nothing_rotates_inside(void **state) {
    (void)state;
    fixture f;
    setup_with(&f, 2, 8, 2);
    for (uint64_t key = 1; key <= 100; key++) put(&f, key, key);
    gx_rotating_map_rotate(f.map, NULL, NULL);
    put(&f, 1000, 0);
    inside in = { .f = &f };
    assert_int_equal(gx_rotating_map_rotate(f.map, look_around, &in), 100);
    assert_int_equal(in.calls, 100);
    assert_int_equal(in.seen, 5050);
    assert_int_equal(gx_rotating_map_rotate(f.map, NULL, NULL), 1);
    teardown(&f);
}

/* --- Walking and memory --- */

static void a_walk_sees_each_entry_once_and_may_remove(void **state) {
    (void)state;
    fixture f;
    setup_with(&f, 3, 8, 4);
    enum { KEYS = 9000 };
    static uint8_t seen[KEYS];
    memset(seen, 0, sizeof seen);
    for (uint64_t key = 0; key < KEYS; key++) {
        put(&f, key, key + 1);
        if (key % 3000 == 2999) gx_rotating_map_rotate(f.map, NULL, NULL);
    }
    gx_rotating_cursor cursor = { 0 };
    uint64_t key;
    for (const uint64_t *value; (value = gx_rotating_map_next(f.map, &cursor, &key)) != NULL;) {
        assert_int_equal(*value, key + 1);
        seen[key]++;
        if (key % 2) assert_true(gx_rotating_map_remove(f.map, key, NULL));
    }
    size_t left = 0;
    for (uint64_t k = 0; k < KEYS; k++) {
        assert_int_equal(seen[k], k >= 3000); /* the first third died in the third rotation */
        left += gx_rotating_map_contains(f.map, k);
        assert_int_equal(gx_rotating_map_contains(f.map, k), seen[k] && k % 2 == 0);
    }
    assert_int_equal(left, gx_rotating_map_size(f.map));
    teardown(&f);
}

static void the_memory_of_the_dead_goes_back(void **state) {
    (void)state;
    fixture f;
    setup_with(&f, 3, 8, 4);
    size_t small = f.counting.bytes;
    for (int round = 0; round < 3; round++) {
        for (uint64_t key = 0; key < 200000; key++) put(&f, key, key);
        assert_true(f.counting.bytes > 200000 * 16);
        for (int i = 0; i < 4; i++) gx_rotating_map_rotate(f.map, NULL, NULL);
        assert_int_equal(gx_rotating_map_size(f.map), 0);
        assert_int_equal(f.counting.bytes, small);
    }
    for (uint64_t key = 0; key < 200000; key++) put(&f, key, key);
    for (uint64_t key = 1000; key < 200000; key++) assert_true(gx_rotating_map_remove(f.map, key, NULL));
    gx_rotating_map_rotate(f.map, NULL, NULL);
    gx_rotating_map_rotate(f.map, NULL, NULL);
    assert_true(f.counting.bytes < 64 * 1024);
    for (uint64_t key = 0; key < 1000; key++) assert_int_equal(*(uint64_t *)gx_rotating_map_get(f.map, key), key);
    teardown(&f);
}

static void memory_stays_near_the_payload_at_every_size(void **state) {
    (void)state;
    fixture f;
    setup_with(&f, 3, 8, 11);
    for (uint64_t key = 1; key <= 1000000; key++) {
        put(&f, key, key);
        if (key >= 1000 && key % 997 == 0) assert_true(f.counting.bytes < 16 * key * 17 / 10 + 4096);
    }
    teardown(&f);
}

static void a_map_in_its_steady_state_allocates_nothing(void **state) {
    (void)state;
    fixture f;
    setup_with(&f, 3, 8, 4);
    size_t calls = 0;
    uint64_t key = 0;
    for (int period = 0; period < 60; period++) {
        for (int i = 0; i < 4000; i++) put(&f, key++, 0);
        gx_rotating_map_rotate(f.map, NULL, NULL);
        if (period == 40) calls = f.counting.calls;
    }
    assert_int_equal(f.counting.calls, calls);
    teardown(&f);
}

/* --- Against a naive model: a list of n plain maps, as Storm has it --- */

enum { MODEL_KEYS = 12000, MODEL_BUCKETS = 16 };

typedef struct model {
    bool there[MODEL_BUCKETS][MODEL_KEYS]; /* bucket 0 is the newest */
    uint64_t value[MODEL_BUCKETS][MODEL_KEYS];
    bool dead[MODEL_KEYS]; /* detached, not handed out yet */
    uint64_t dead_value[MODEL_KEYS];
    uint32_t buckets;
    size_t size;
    size_t dead_size;
    uint64_t stamp;
} model;

typedef struct pair {
    fixture *f;
    model *m;
    gx_random random;
    unsigned keys;
    uint64_t scramble;
} pair;

static const uint64_t *model_get(const model *m, unsigned k) {
    for (uint32_t b = 0; b < m->buckets; b++)
        if (m->there[b][k]) return &m->value[b][k];
    return NULL;
}

static bool model_remove(model *m, unsigned k) {
    for (uint32_t b = 0; b < m->buckets; b++) {
        if (!m->there[b][k]) continue;
        m->there[b][k] = false;
        m->size--;
        return true;
    }
    return false;
}

static void model_put(model *m, unsigned k, uint64_t value) {
    model_remove(m, k);
    m->there[0][k] = true;
    m->value[0][k] = value;
    m->size++;
}

static void model_rotate(model *m, unsigned keys) {
    uint32_t last = m->buckets - 1;
    memcpy(m->dead, m->there[last], keys * sizeof m->dead[0]);
    memcpy(m->dead_value, m->value[last], keys * sizeof m->dead_value[0]);
    for (uint32_t b = last; b > 0; b--) {
        memcpy(m->there[b], m->there[b - 1], keys * sizeof m->there[b][0]);
        memcpy(m->value[b], m->value[b - 1], keys * sizeof m->value[b][0]);
    }
    memset(m->there[0], 0, keys * sizeof m->there[0][0]);
    m->dead_size = 0;
    for (unsigned k = 0; k < keys; k++) m->dead_size += m->dead[k];
    m->size -= m->dead_size;
}

/* All values are different, and tell their key. */
static uint64_t new_value(model *m, unsigned k) {
    return ++m->stamp * MODEL_KEYS + k;
}

static void one_operation(pair *p) {
    unsigned k = gx_random_below(&p->random, p->keys);
    uint64_t key = k * p->scramble;
    const uint64_t *known = model_get(p->m, k);
    uint64_t *value;
    bool made = false;
    switch (gx_random_below(&p->random, 8)) {
    case 0:
    case 1:
    case 2: /* put */
        value = gx_rotating_map_put(p->f->map, key, &made);
        assert_int_equal(made, known == NULL);
        assert_int_equal(*value, known ? *known : 0);
        *value = new_value(p->m, k);
        model_put(p->m, k, *value);
        break;
    case 3: /* put if absent */
        value = gx_rotating_map_put_if_absent(p->f->map, key, &made);
        assert_int_equal(made, known == NULL);
        assert_int_equal(*value, known ? *known : 0);
        if (made) *value = new_value(p->m, k), model_put(p->m, k, *value);
        break;
    case 4: { /* remove */
        uint64_t removed = 0, expected = known ? *known : 0;
        assert_int_equal(gx_rotating_map_remove(p->f->map, key, &removed), known != NULL);
        assert_int_equal(removed, expected);
        model_remove(p->m, k);
        break;
    }
    default: /* get, and update in place */
        value = gx_rotating_map_get(p->f->map, key);
        assert_int_equal(value != NULL, known != NULL);
        if (!value) break;
        assert_int_equal(*value, *known);
        *value = new_value(p->m, k);
        *(uint64_t *)(uintptr_t)known = *value;
    }
    assert_int_equal(gx_rotating_map_size(p->f->map), p->m->size);
}

static void model_expired(void *user, uint64_t key, void *value) {
    pair *p = user;
    uint64_t word = *(uint64_t *)value;
    unsigned k = (unsigned)(word % MODEL_KEYS);
    assert_int_equal(key, k * p->scramble);
    assert_true(p->m->dead[k] && p->m->dead_value[k] == word);
    p->m->dead[k] = false;
    p->m->dead_size--;
    if (gx_random_below(&p->random, 4) == 0)
        for (unsigned i = gx_random_below(&p->random, 4); i > 0; i--) one_operation(p);
}

static void compare(pair *p) {
    for (unsigned k = 0; k < p->keys; k++) {
        const uint64_t *known = model_get(p->m, k), *value = gx_rotating_map_get(p->f->map, k * p->scramble);
        assert_int_equal(value != NULL, known != NULL);
        if (value) assert_int_equal(*value, *known);
    }
    gx_rotating_cursor cursor = { 0 };
    uint64_t key;
    size_t walked = 0;
    for (const void *value; (value = gx_rotating_map_next(p->f->map, &cursor, &key)) != NULL; walked++)
        assert_ptr_equal(gx_rotating_map_get(p->f->map, key), value);
    assert_int_equal(walked, p->m->size);
}

static void rotate_both(pair *p) {
    model_rotate(p->m, p->keys);
    int64_t dead = (int64_t)p->m->dead_size;
    assert_int_equal(gx_rotating_map_rotate(p->f->map, model_expired, p), dead);
    assert_int_equal(p->m->dead_size, 0);
}

static void run_model(uint32_t buckets, unsigned keys, uint64_t scramble, unsigned operations) {
    fixture f;
    setup_with(&f, buckets, 8, buckets * 1000u + keys);
    model *m = calloc(1, sizeof *m);
    m->buckets = buckets;
    pair p = { &f, m, gx_random_new(keys, buckets), keys, scramble };
    unsigned every = keys / buckets + 5;
    for (unsigned i = 1; i <= operations; i++) {
        one_operation(&p);
        if (i % every == 0) rotate_both(&p);
        if (i % (operations / 4) == 0) compare(&p);
    }
    for (uint32_t i = 0; i <= buckets; i++) rotate_both(&p);
    compare(&p);
    free(m);
    teardown(&f);
}

static void a_million_random_operations_agree_with_a_list_of_plain_maps(void **state) {
    (void)state;
    static const uint64_t scrambles[] = { 1, UINT64_C(1) << 40, UINT64_C(0x9e3779b97f4a7c15) };
    for (uint32_t buckets = 2; buckets <= MODEL_BUCKETS; buckets++) {
        uint64_t scramble = scrambles[buckets % 3];
        run_model(buckets, 5, scramble, 4000);
        run_model(buckets, 300, scramble, 20000);
        run_model(buckets, MODEL_KEYS, scramble, 48000);
    }
}

/* --- Failing allocations --- */

static size_t live_with_failure_at(size_t n) {
    counting_allocator counting = { .fail_at = n };
    gale_allocator handle = counting_handle(&counting);
    gx_heap heap;
    gx_heap_init(&heap, &handle);
    gx_rotating_map *map = NULL;
    int rc = gx_rotating_map_new(&heap, 2, 8, 1, &map);
    if (rc < 0) {
        assert_int_equal(rc, GALE_NO_MEMORY);
        assert_null(map);
        assert_int_equal(counting.blocks, 0);
        return counting.calls;
    }
    for (uint64_t key = 0; key < 9000; key++) {
        bool made = false;
        uint64_t *value = gx_rotating_map_put(map, key, &made);
        if (!value) {
            assert_false(made);
            assert_int_equal(gx_rotating_map_size(map), key);
            assert_false(gx_rotating_map_contains(map, key));
            value = gx_rotating_map_put(map, key, &made);
        }
        assert_true(made);
        *value = key;
    }
    for (uint64_t key = 0; key < 9000; key++) assert_int_equal(*(uint64_t *)gx_rotating_map_get(map, key), key);
    for (uint64_t key = 100; key < 9000; key++) assert_true(gx_rotating_map_remove(map, key, NULL));
    for (int i = 0; i < 3; i++) { /* gives memory back, or not */
        for (uint64_t key = 0; key < 100; key++)
            assert_int_equal(*(uint64_t *)gx_rotating_map_put(map, key, NULL), key);
        assert_int_equal(gx_rotating_map_rotate(map, NULL, NULL), 0);
        assert_int_equal(gx_rotating_map_size(map), 100);
    }
    assert_true(counting.bytes < 16 * 1024);
    gx_rotating_map_free(map);
    assert_int_equal(counting.blocks, 0);
    return counting.calls;
}

static void any_failing_allocation_leaves_the_map_as_it_was(void **state) {
    (void)state;
    size_t calls = live_with_failure_at(0);
    assert_true(calls > 30);
    for (size_t n = 1; n <= calls; n++) live_with_failure_at(n);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_map_holds_nothing),
        cmocka_unit_test(too_few_buckets_and_too_large_values_are_refused),
        cmocka_unit_test(a_new_value_is_zeroed_and_stays_when_put_again),
        cmocka_unit_test(a_map_without_values_is_a_set),
        cmocka_unit_test(what_nobody_puts_again_dies_in_the_nth_rotation),
        cmocka_unit_test(a_put_renews),
        cmocka_unit_test(what_the_callback_puts_again_lives_on_in_the_new_bucket),
        cmocka_unit_test(the_map_may_grow_and_split_under_the_callback),
        cmocka_unit_test(the_dead_are_gone_before_the_first_callback_and_nothing_rotates_inside),
        cmocka_unit_test(a_walk_sees_each_entry_once_and_may_remove),
        cmocka_unit_test(the_memory_of_the_dead_goes_back),
        cmocka_unit_test(memory_stays_near_the_payload_at_every_size),
        cmocka_unit_test(a_map_in_its_steady_state_allocates_nothing),
        cmocka_unit_test(a_million_random_operations_agree_with_a_list_of_plain_maps),
        cmocka_unit_test(any_failing_allocation_leaves_the_map_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
