#include "ds/rotating_map.h"

#include "base/random.h"
#include "harness/counting_allocator.h"

#include <stdio.h>

#include "harness/cm.h"

typedef struct fixture {
    counting_allocator counting;
    gale_allocator handle;
    gale_rotating_map *map;
} fixture;

static int make(const gale_allocator *allocator, uint32_t buckets, size_t value_size, uint64_t seed,
                gale_rotating_map **ret_map) {
    gale_rotating_map_options options = GALE_ROTATING_MAP_OPTIONS_INIT;
    options.allocator = allocator;
    options.buckets = buckets;
    options.value_size = value_size;
    options.seed = seed;
    return gale_rotating_map_new(&options, ret_map, NULL);
}

/* The place of the value, made when it was not there; NULL when memory is out. */
static void *open_put(gale_rotating_map *map, uint64_t key, bool *ret_made) {
    void *value = NULL;
    int rc = gale_rotating_map_put(map, key, NULL, &value);
    if (rc >= 0 && ret_made) *ret_made = rc == 1;
    if (rc < 0) assert_int_equal(rc, GALE_NO_MEMORY);
    return value;
}

static void *open_if_absent(gale_rotating_map *map, uint64_t key, bool *ret_made) {
    void *value = NULL;
    int rc = gale_rotating_map_put_if_absent(map, key, NULL, &value);
    if (rc >= 0 && ret_made) *ret_made = rc == 1;
    return value;
}

static void *next(const gale_rotating_map *map, gale_rotating_map_cursor *cursor, uint64_t *ret_key) {
    gale_rotating_map_entry entry;
    if (!gale_rotating_map_next(map, cursor, &entry)) return NULL;
    *ret_key = entry.key;
    return entry.value;
}

static void setup_with(fixture *f, uint32_t buckets, size_t value_size, uint64_t seed) {
    memset(f, 0, sizeof *f);
    f->handle = counting_handle(&f->counting);
    assert_int_equal(make(&f->handle, buckets, value_size, seed, &f->map), GALE_OK);
}

static void teardown(fixture *f) {
    assert_null(gx_rotating_map_flaw(f->map));
    gale_rotating_map_free(f->map);
    assert_int_equal(f->counting.blocks, 0);
}

static void put(fixture *f, uint64_t key, uint64_t value) {
    assert_true(gale_rotating_map_put(f->map, key, &value, NULL) >= 0);
}

static void count(void *user, const gale_rotating_map_entry *dead) {
    (void)dead;
    ++*(size_t *)user;
}

static void an_empty_map_holds_nothing(void **state) {
    (void)state;
    fixture f;
    setup_with(&f, 2, 8, 1);
    gale_rotating_map_cursor cursor = { { 0 } };
    uint64_t key = 7;
    size_t dead = 0;
    assert_int_equal(gale_rotating_map_size(f.map), 0);
    assert_null(gale_rotating_map_get(f.map, 0));
    assert_false(gale_rotating_map_contains(f.map, UINT64_MAX));
    assert_false(gale_rotating_map_remove(f.map, 0, NULL));
    assert_null(next(f.map, &cursor, &key));
    assert_null(next(f.map, &cursor, &key));
    assert_int_equal(key, 7);
    for (int i = 0; i < 10; i++) assert_int_equal(gale_rotating_map_rotate(f.map, count, &dead), 0);
    assert_int_equal(dead, 0);
    teardown(&f);
    gale_rotating_map_free(NULL);
}

static void wrong_options_are_refused_by_name(void **state) {
    (void)state;
    const struct {
        gale_rotating_map_options options;
        const char *names;
    } wrong[] = {
        { { .size = sizeof(gale_rotating_map_options), .buckets = 1 }, "buckets" },
        { { .size = sizeof(gale_rotating_map_options), .buckets = GALE_ROTATING_MAP_BUCKETS_MAX + 1 }, "buckets" },
        { { .size = sizeof(gale_rotating_map_options), .buckets = UINT32_MAX }, "buckets" },
        { { .size = sizeof(gale_rotating_map_options), .key_type = 2 }, "key_type" },
        { { .size = sizeof(gale_rotating_map_options), .key_type = -1 }, "key_type" },
        { { .size = sizeof(gale_rotating_map_options), .value_size = GALE_ROTATING_MAP_VALUE_MAX + 1 }, "value_size" },
        { { .size = sizeof(gale_rotating_map_options), .value_size = SIZE_MAX }, "value_size" },
        { { .size = 0 }, "size" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        gale_error error = GALE_ERROR_INIT;
        gale_rotating_map *map = (gale_rotating_map *)&error;
        assert_int_equal(gale_rotating_map_new(&wrong[i].options, &map, &error), GALE_INVALID);
        assert_non_null(strstr(error.text, wrong[i].names));
        assert_ptr_equal(map, &error);
    }
    assert_int_equal(gale_rotating_map_new(NULL, NULL, NULL), GALE_INVALID);
}

static void an_option_from_the_future_is_refused(void **state) {
    (void)state;
    struct {
        gale_rotating_map_options options;
        uint64_t unknown;
    } given = { GALE_ROTATING_MAP_OPTIONS_INIT, 0 };
    given.options.size = sizeof given;
    gale_rotating_map *map = NULL;
    assert_int_equal(gale_rotating_map_new(&given.options, &map, NULL), GALE_OK);
    gale_rotating_map_free(map);
    given.unknown = 1;
    assert_int_equal(gale_rotating_map_new(&given.options, &map, NULL), GALE_UNSUPPORTED);
}

static void without_options_there_are_three_buckets_and_no_values(void **state) {
    (void)state;
    gale_rotating_map *map = NULL;
    assert_int_equal(gale_rotating_map_new(NULL, &map, NULL), GALE_OK);
    assert_int_equal(gale_rotating_map_put(map, 7, NULL, NULL), 1);
    assert_int_equal(gale_rotating_map_put(map, 7, NULL, NULL), 0);
    for (int i = 0; i < GALE_ROTATING_MAP_BUCKETS - 1; i++)
        assert_int_equal(gale_rotating_map_rotate(map, NULL, NULL), 0);
    assert_int_equal(gale_rotating_map_rotate(map, NULL, NULL), 1);
    gale_rotating_map_free(map);
}

/* No map, no key, and a key of the other kind. */
static void misuse_is_an_error_and_changes_nothing(void **state) {
    (void)state;
    gale_rotating_map_options options = GALE_ROTATING_MAP_OPTIONS_INIT;
    gale_rotating_map *numbers = NULL, *bytes = NULL;
    gale_rotating_map_entry entry;
    gale_rotating_map_cursor cursor = { { 0 } };
    static char large[GALE_ROTATING_MAP_KEY_MAX + 1];
    assert_int_equal(gale_rotating_map_new(&options, &numbers, NULL), GALE_OK);
    options.key_type = GALE_KEY_BYTES;
    assert_int_equal(gale_rotating_map_new(&options, &bytes, NULL), GALE_OK);
    assert_int_equal(gale_rotating_map_put(NULL, 1, NULL, NULL), GALE_INVALID);
    assert_int_equal(gale_rotating_map_put_if_absent(NULL, 1, NULL, NULL), GALE_INVALID);
    assert_null(gale_rotating_map_get(NULL, 1));
    assert_false(gale_rotating_map_remove(NULL, 1, NULL));
    assert_int_equal(gale_rotating_map_put_bytes(NULL, "k", 1, NULL, NULL), GALE_INVALID);
    assert_int_equal(gale_rotating_map_rotate(NULL, NULL, NULL), GALE_INVALID);
    assert_int_equal(gale_rotating_map_rotate_begin(NULL), GALE_INVALID);
    assert_int_equal(gale_rotating_map_reserve(NULL, 1), GALE_INVALID);
    assert_int_equal(gale_rotating_map_size(NULL) + gale_rotating_map_memory(NULL), 0);
    assert_false(gale_rotating_map_next(NULL, &cursor, &entry));
    assert_false(gale_rotating_map_next_dead(NULL, &entry));
    assert_int_equal(gale_rotating_map_put(bytes, 1, NULL, NULL), GALE_TYPE);
    assert_int_equal(gale_rotating_map_put_if_absent(bytes, 1, NULL, NULL), GALE_TYPE);
    assert_null(gale_rotating_map_get(bytes, 1));
    assert_false(gale_rotating_map_remove(bytes, 1, NULL));
    assert_int_equal(gale_rotating_map_put_bytes(numbers, "k", 1, NULL, NULL), GALE_TYPE);
    assert_null(gale_rotating_map_get_bytes(numbers, "k", 1));
    assert_false(gale_rotating_map_remove_bytes(numbers, "k", 1, NULL));
    assert_int_equal(gale_rotating_map_put_bytes(bytes, NULL, 1, NULL, NULL), GALE_INVALID);
    assert_int_equal(gale_rotating_map_put_bytes(bytes, large, sizeof large, NULL, NULL), GALE_TOO_LARGE);
    assert_int_equal(gale_rotating_map_put_if_absent_bytes(bytes, large, sizeof large, NULL, NULL), GALE_TOO_LARGE);
    assert_false(gale_rotating_map_contains_bytes(bytes, large, sizeof large));
    assert_int_equal(gale_rotating_map_size(bytes) + gale_rotating_map_size(numbers), 0);
    assert_int_equal(gale_rotating_map_put_bytes(bytes, large, sizeof large - 1, NULL, NULL), 1);
    assert_int_equal(gale_rotating_map_put_bytes(bytes, NULL, 0, NULL, NULL), 1);
    assert_true(gale_rotating_map_contains_bytes(bytes, "", 0));
    gale_rotating_map_free(numbers);
    gale_rotating_map_free(bytes);
}

static void a_new_value_is_zeroed_and_stays_when_put_again(void **state) {
    (void)state;
    fixture f;
    setup_with(&f, 3, 20, 1);
    static const char zeros[24];
    char removed[20] = { 0 };
    bool made = false;
    char *value = open_put(f.map, 0, &made);
    assert_true(made);
    assert_int_equal((uintptr_t)value % 8, 0);
    assert_memory_equal(value, zeros, 20);
    memset(value, 7, 20);
    assert_ptr_equal(open_put(f.map, 0, &made), value);
    assert_false(made);
    assert_ptr_equal(gale_rotating_map_get(f.map, 0), value);
    assert_true(gale_rotating_map_remove(f.map, 0, removed));
    assert_int_equal(removed[0] + removed[19], 14);
    assert_false(gale_rotating_map_remove(f.map, 0, removed));
    assert_memory_equal(open_put(f.map, 0, NULL), zeros, 20);
    teardown(&f);
}

typedef void *put_function(gx_rotating_map *map, uint64_t key, bool *ret_made);

static void the_short_puts_say_whether_they_made_the_value(void **state) {
    (void)state;
    put_function *const puts[] = { gx_rotating_map_put, gx_rotating_map_put_if_absent };
    for (uint64_t i = 0; i < 2; i++) {
        fixture f;
        setup_with(&f, 3, 8, 1);
        bool made = false;
        void *value = puts[i](f.map, 7, &made);
        assert_true(made);
        assert_ptr_equal(puts[i](f.map, 7, &made), value);
        assert_false(made);
        assert_ptr_equal(puts[i](f.map, 7, NULL), value);
        teardown(&f);
    }
}

static void a_map_without_values_is_a_set(void **state) {
    (void)state;
    fixture f;
    setup_with(&f, 2, 0, 3);
    for (uint64_t key = 0; key < 1000; key++) assert_non_null(open_put(f.map, key << 40, NULL));
    for (uint64_t key = 0; key < 2000; key++)
        assert_int_equal(gale_rotating_map_contains(f.map, key << 40), key < 1000);
    assert_int_equal(gale_rotating_map_size(f.map), 1000);
    teardown(&f);
}

/* T <= age <= T*n/(n-1): with T = n-1 rotations it dies in the n-th, whatever else is done but a put. */
static void what_nobody_puts_again_dies_in_the_nth_rotation(void **state) {
    (void)state;
    for (uint32_t n = 2; n <= GALE_ROTATING_MAP_BUCKETS_MAX; n += n < 17 ? 1 : 59) {
        fixture f;
        setup_with(&f, n, 8, n);
        put(&f, 42, 1);
        for (uint32_t i = 1; i < n; i++) {
            assert_int_equal(gale_rotating_map_rotate(f.map, NULL, NULL), 0);
            assert_non_null(gale_rotating_map_get(f.map, 42)); /* does not renew */
            bool made = true;
            assert_non_null(open_if_absent(f.map, 42, &made)); /* nor does this */
            assert_false(made);
        }
        size_t dead = 0;
        assert_int_equal(gale_rotating_map_rotate(f.map, count, &dead), 1);
        assert_int_equal(dead, 1);
        assert_false(gale_rotating_map_contains(f.map, 42));
        assert_int_equal(gale_rotating_map_size(f.map), 0);
        teardown(&f);
    }
}

static void a_put_renews(void **state) {
    (void)state;
    fixture f;
    setup_with(&f, 3, 8, 1);
    put(&f, 1, 10);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(gale_rotating_map_rotate(f.map, NULL, NULL), 0);
        assert_int_equal(gale_rotating_map_rotate(f.map, NULL, NULL), 0);
        put(&f, 1, 10);
    }
    assert_int_equal(gale_rotating_map_rotate(f.map, NULL, NULL), 0);
    assert_int_equal(gale_rotating_map_rotate(f.map, NULL, NULL), 0);
    assert_int_equal(gale_rotating_map_rotate(f.map, NULL, NULL), 1);
    teardown(&f);
}

/* --- From inside the callback --- */

typedef struct inside {
    fixture *f;
    uint32_t others; /* keys to put for each dead one */
    uint64_t seen;
    size_t calls;
} inside;

static void put_the_dead_again(void *user, const gale_rotating_map_entry *dead) {
    inside *in = user;
    uint64_t key = dead->key;
    const uint64_t *value = dead->value;
    assert_int_equal(*value, key * 3);
    assert_false(gale_rotating_map_contains(in->f->map, key));
    put(in->f, key, key * 3);
    assert_int_equal(*value, key * 3);
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
        for (int i = 0; i < 3; i++) assert_int_equal(gale_rotating_map_rotate(f.map, put_the_dead_again, &in), 0);
        assert_int_equal(gale_rotating_map_rotate(f.map, put_the_dead_again, &in), 5000);
        assert_int_equal(in.calls, 5000);
        assert_int_equal(in.seen, 5000 * 5001 / 2);
        assert_int_equal(gale_rotating_map_size(f.map), 5000);
    }
    teardown(&f);
}

static void put_many(void *user, const gale_rotating_map_entry *dead) {
    inside *in = user;
    uint64_t key = dead->key;
    const uint64_t *value = dead->value;
    assert_int_equal(*value, key);
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
        assert_int_equal(gale_rotating_map_rotate(f.map, put_many, &in), 0);
        assert_int_equal(gale_rotating_map_rotate(f.map, put_many, &in), keys);
        assert_int_equal(in.calls, keys);
        assert_int_equal(in.seen, keys * (keys + 1) / 2);
        assert_int_equal(gale_rotating_map_size(f.map), keys * 7);
        for (uint64_t key = 1; key <= keys; key++)
            for (uint64_t i = 0; i <= 8; i++)
                assert_int_equal(gale_rotating_map_contains(f.map, key + (i << 32)), i > 0 && i < 8);
        teardown(&f);
    }
}

static void look_around(void *user, const gale_rotating_map_entry *dead) {
    inside *in = user;
    uint64_t key = dead->key;
    const uint64_t *value = dead->value;
    assert_int_equal(*value, key);
    uint64_t seen = 0, other;
    gale_rotating_map_cursor cursor = { { 0 } };
    while (next(in->f->map, &cursor, &other)) seen += other;
    assert_int_equal(seen, 1000);
    assert_int_equal(gale_rotating_map_size(in->f->map), 1);
    for (uint64_t k = 1; k <= 100; k++) assert_false(gale_rotating_map_remove(in->f->map, k, NULL));
    assert_int_equal(gale_rotating_map_rotate(in->f->map, NULL, NULL), GALE_STATE);
    assert_int_equal(gale_rotating_map_rotate_begin(in->f->map), GALE_STATE);
    gale_rotating_map_entry entry;
    assert_false(gale_rotating_map_next_dead(in->f->map, &entry));
    in->seen += key;
    in->calls++;
}

static void the_dead_are_gone_before_the_first_callback_and_nothing_rotates_inside(void **state) {
    (void)state;
    fixture f;
    setup_with(&f, 2, 8, 2);
    for (uint64_t key = 1; key <= 100; key++) put(&f, key, key);
    gale_rotating_map_rotate(f.map, NULL, NULL);
    put(&f, 1000, 0);
    inside in = { .f = &f };
    assert_int_equal(gale_rotating_map_rotate(f.map, look_around, &in), 100);
    assert_int_equal(in.calls, 100);
    assert_int_equal(in.seen, 5050);
    assert_int_equal(gale_rotating_map_rotate(f.map, NULL, NULL), 1);
    teardown(&f);
}

static void the_dead_may_be_taken_one_by_one_while_the_map_is_used(void **state) {
    (void)state;
    fixture f;
    setup_with(&f, 2, 8, 5);
    for (uint64_t key = 1; key <= 4000; key++) put(&f, key, key);
    assert_int_equal(gale_rotating_map_rotate_begin(f.map), 0); /* nothing died: it is over */
    assert_int_equal(gale_rotating_map_rotate_begin(f.map), 4000);
    assert_int_equal(gale_rotating_map_rotate_begin(f.map), GALE_STATE);
    assert_int_equal(gale_rotating_map_rotate(f.map, NULL, NULL), GALE_STATE);
    assert_int_equal(gale_rotating_map_size(f.map), 0);
    gale_rotating_map_entry dead;
    uint64_t seen = 0, calls = 0;
    while (gale_rotating_map_next_dead(f.map, &dead)) {
        assert_int_equal(*(uint64_t *)dead.value, dead.key);
        seen += dead.key;
        calls++;
        assert_false(gale_rotating_map_contains(f.map, calls));            /* dead, taken or not */
        assert_false(gale_rotating_map_remove(f.map, 4001 - calls, NULL)); /* never both expired and removed */
        put(&f, calls + 100000, 7);                                        /* the map grows meanwhile */
    }
    assert_int_equal(calls, 4000);
    assert_int_equal(seen, 4000 * 4001 / 2);
    assert_int_equal(gale_rotating_map_size(f.map), 4000);
    assert_int_equal(gale_rotating_map_rotate(f.map, NULL, NULL), 0);
    assert_int_equal(gale_rotating_map_rotate_begin(f.map), 4000);
    teardown(&f); /* with dead that nobody took */
}

/* --- Keys that are bytes --- */

static size_t text_key(char text[64], uint64_t number) {
    static const int widths[] = { 1, 15, 20, 21, 40 }; /* below, at and above what lies in the table */
    return (size_t)snprintf(text, 64, "%0*llu", widths[number % 5], (unsigned long long)number);
}

static void sum_texts(void *user, const gale_rotating_map_entry *dead) {
    char text[64];
    uint64_t number = *(uint64_t *)dead->value;
    assert_int_equal(dead->bytes_size, text_key(text, number));
    assert_memory_equal(dead->bytes, text, dead->bytes_size);
    *(uint64_t *)user += number;
}

static void short_and_long_byte_keys_live_and_die_as_numbers_do(void **state) {
    (void)state;
    counting_allocator counting = { 0 };
    gale_allocator handle = counting_handle(&counting);
    gale_rotating_map_options options = GALE_ROTATING_MAP_OPTIONS_INIT;
    options.allocator = &handle;
    options.key_type = GALE_KEY_BYTES;
    options.value_size = 8;
    options.buckets = 2;
    gale_rotating_map *map = NULL;
    char text[64];
    assert_int_equal(gale_rotating_map_new(&options, &map, NULL), GALE_OK);
    for (uint64_t i = 1; i <= 8000; i++) {
        size_t size = text_key(text, i);
        assert_int_equal(gale_rotating_map_put_bytes(map, text, size, &i, NULL), 1);
        assert_int_equal(gale_rotating_map_put_if_absent_bytes(map, text, size, NULL, NULL), 0);
        if (i == 4000) assert_int_equal(gale_rotating_map_rotate(map, NULL, NULL), 0);
    }
    assert_int_equal(gale_rotating_map_memory(map), counting.bytes);
    for (uint64_t i = 1; i <= 8000; i += 2) {
        uint64_t removed = 0;
        assert_int_equal(*(uint64_t *)gale_rotating_map_get_bytes(map, text, text_key(text, i)), i);
        assert_true(gale_rotating_map_remove_bytes(map, text, text_key(text, i), &removed));
        assert_int_equal(removed, i);
        assert_false(gale_rotating_map_contains_bytes(map, text, text_key(text, i)));
    }
    uint64_t sum = 0;
    gale_rotating_map_entry entry;
    gale_rotating_map_cursor cursor = { { 0 } };
    while (gale_rotating_map_next(map, &cursor, &entry)) sum_texts(&sum, &entry);
    assert_int_equal(sum, 4000 * 4001);
    sum = 0;
    assert_int_equal(gale_rotating_map_rotate(map, sum_texts, &sum), 2000);
    assert_int_equal(sum, 2000 * 2001);
    assert_int_equal(gale_rotating_map_size(map), 2000);
    gale_rotating_map_free(map);
    assert_int_equal(counting.blocks, 0);
}

static size_t bytes_with_failure_at(size_t n) {
    counting_allocator counting = { .fail_at = n };
    gale_allocator handle = counting_handle(&counting);
    gale_rotating_map_options options = GALE_ROTATING_MAP_OPTIONS_INIT;
    options.allocator = &handle;
    options.key_type = GALE_KEY_BYTES;
    gale_rotating_map *map = NULL;
    if (gale_rotating_map_new(&options, &map, NULL) == GALE_OK) {
        char text[64];
        for (uint64_t i = 1; i <= 60; i++) {
            size_t size = text_key(text, i);
            int rc = gale_rotating_map_put_bytes(map, text, size, NULL, NULL);
            if (rc < 0) {
                assert_int_equal(rc, GALE_NO_MEMORY);
                assert_int_equal(gale_rotating_map_size(map), i - 1);
                assert_false(gale_rotating_map_contains_bytes(map, text, size));
                rc = gale_rotating_map_put_bytes(map, text, size, NULL, NULL);
            }
            assert_int_equal(rc, 1);
        }
        gale_rotating_map_free(map);
    }
    assert_int_equal(counting.blocks, 0);
    return counting.calls;
}

static void any_failing_allocation_leaves_a_map_of_bytes_as_it_was(void **state) {
    (void)state;
    size_t calls = bytes_with_failure_at(0);
    assert_true(calls > 30);
    for (size_t n = 1; n <= calls; n++) bytes_with_failure_at(n);
}

/* --- Values that own something --- */

static void free_pointer(void *user, void *value) {
    ++*(int *)user;
    free(*(void **)value);
}

static void free_dead(void *user, const gale_rotating_map_entry *dead) {
    free_pointer(user, dead->value);
}

static void *put_pointer(gale_rotating_map *map, uint64_t key) {
    void *made = malloc(8);
    assert_true(gale_rotating_map_put(map, key, &made, NULL) >= 0);
    return made;
}

/* Leak and double free are the sanitizer's to find; the count is checked here. */
static void the_map_destroys_what_it_drops_and_nothing_that_it_hands_out(void **state) {
    (void)state;
    gale_rotating_map_options options = GALE_ROTATING_MAP_OPTIONS_INIT;
    int destroyed = 0, taken = 0;
    options.buckets = 2;
    options.value_size = sizeof(void *);
    options.destroy = free_pointer;
    options.user = &destroyed;
    gale_rotating_map *map = NULL;
    assert_int_equal(gale_rotating_map_new(&options, &map, NULL), GALE_OK);
    for (uint64_t key = 0; key < 10; key++) put_pointer(map, key);
    put_pointer(map, 0); /* the old one goes */
    assert_int_equal(destroyed, 1);
    void *kept = put_pointer(map, 1), *removed = NULL;
    assert_int_equal(destroyed, 2);
    assert_int_equal(gale_rotating_map_put(map, 1, NULL, NULL), 0); /* renews, and leaves the value */
    assert_ptr_equal(*(void **)gale_rotating_map_get(map, 1), kept);
    assert_true(gale_rotating_map_remove(map, 1, &removed)); /* handed out */
    assert_ptr_equal(removed, kept);
    free(removed);
    assert_true(gale_rotating_map_remove(map, 2, NULL));
    assert_int_equal(destroyed, 3);
    assert_int_equal(gale_rotating_map_rotate(map, free_dead, &taken), 0);
    put_pointer(map, 50);
    assert_int_equal(gale_rotating_map_rotate(map, free_dead, &taken), 8);
    assert_int_equal(taken, 8);
    assert_int_equal(destroyed, 3);
    put_pointer(map, 51);
    assert_int_equal(gale_rotating_map_rotate(map, NULL, NULL), 1);
    assert_int_equal(destroyed, 4);
    gale_rotating_map_free(map);
    assert_int_equal(destroyed, 5);
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
        if (key % 3000 == 2999) gale_rotating_map_rotate(f.map, NULL, NULL);
    }
    gale_rotating_map_cursor cursor = { { 0 } };
    uint64_t key;
    for (const uint64_t *value; (value = next(f.map, &cursor, &key)) != NULL;) {
        assert_int_equal(*value, key + 1);
        seen[key]++;
        if (key % 2) assert_true(gale_rotating_map_remove(f.map, key, NULL));
    }
    size_t left = 0;
    for (uint64_t k = 0; k < KEYS; k++) {
        assert_int_equal(seen[k], k >= 3000); /* the first third died in the third rotation */
        left += gale_rotating_map_contains(f.map, k);
        assert_int_equal(gale_rotating_map_contains(f.map, k), seen[k] && k % 2 == 0);
    }
    assert_int_equal(left, gale_rotating_map_size(f.map));
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
        for (int i = 0; i < 4; i++) gale_rotating_map_rotate(f.map, NULL, NULL);
        assert_int_equal(gale_rotating_map_size(f.map), 0);
        assert_int_equal(f.counting.bytes, small);
    }
    for (uint64_t key = 0; key < 200000; key++) put(&f, key, key);
    for (uint64_t key = 1000; key < 200000; key++) assert_true(gale_rotating_map_remove(f.map, key, NULL));
    gale_rotating_map_rotate(f.map, NULL, NULL);
    gale_rotating_map_rotate(f.map, NULL, NULL);
    assert_true(f.counting.bytes < 64 * 1024);
    for (uint64_t key = 0; key < 1000; key++) assert_int_equal(*(uint64_t *)gale_rotating_map_get(f.map, key), key);
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

static void what_is_reserved_is_room_that_stays(void **state) {
    (void)state;
    for (size_t entries = 1; entries <= 200000; entries = entries * 7 + 3) {
        fixture f;
        setup_with(&f, 3, 8, entries);
        assert_int_equal(gale_rotating_map_reserve(f.map, entries), GALE_OK);
        size_t reserved = f.counting.bytes, calls = f.counting.calls;
        assert_int_equal(gale_rotating_map_memory(f.map), reserved);
        for (uint64_t key = 0; key < entries; key++) put(&f, key, key);
        assert_int_equal(f.counting.calls, calls); /* nothing grew */
        for (int i = 0; i < 5; i++) gale_rotating_map_rotate(f.map, NULL, NULL);
        assert_int_equal(gale_rotating_map_size(f.map), 0);
        assert_int_equal(f.counting.bytes, reserved);
        assert_int_equal(gale_rotating_map_reserve(f.map, 0), GALE_OK);
        gale_rotating_map_rotate(f.map, NULL, NULL);
        assert_true(f.counting.bytes < 8192);
        teardown(&f);
    }
}

static void more_than_there_can_be_is_not_reserved(void **state) {
    (void)state;
    fixture f;
    setup_with(&f, 3, 8, 1);
    put(&f, 1, 10);
    size_t bytes = f.counting.bytes;
    assert_int_equal(gale_rotating_map_reserve(f.map, SIZE_MAX), GALE_NO_MEMORY);
    assert_int_equal(f.counting.bytes, bytes);
    assert_int_equal(*(uint64_t *)gale_rotating_map_get(f.map, 1), 10);
    teardown(&f);
}

static void ten_turnovers_take_no_more_memory_than_the_fill(void **state) {
    (void)state;
    fixture f;
    setup_with(&f, 3, 8, 12);
    enum { EACH = 30000 };
    uint64_t key = 0;
    for (int period = 0; period < 33; period++) {
        gale_rotating_map_rotate(f.map, NULL, NULL);
        for (int i = 0; i < EACH; i++, key++) put(&f, key, key);
        if (period >= 2) assert_true(f.counting.bytes < (size_t)3 * EACH * 16 * 17 / 10);
    }
    assert_int_equal(gale_rotating_map_size(f.map), 3 * EACH);
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
        gale_rotating_map_rotate(f.map, NULL, NULL);
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
        value = open_put(p->f->map, key, &made);
        assert_int_equal(made, known == NULL);
        assert_int_equal(*value, known ? *known : 0);
        *value = new_value(p->m, k);
        model_put(p->m, k, *value);
        break;
    case 3: /* put if absent */
        value = open_if_absent(p->f->map, key, &made);
        assert_int_equal(made, known == NULL);
        assert_int_equal(*value, known ? *known : 0);
        if (made) *value = new_value(p->m, k), model_put(p->m, k, *value);
        break;
    case 4: { /* remove */
        uint64_t removed = 0, expected = known ? *known : 0;
        assert_int_equal(gale_rotating_map_remove(p->f->map, key, &removed), known != NULL);
        assert_int_equal(removed, expected);
        model_remove(p->m, k);
        break;
    }
    default: /* get, and update in place */
        value = gale_rotating_map_get(p->f->map, key);
        assert_int_equal(value != NULL, known != NULL);
        if (!value) break;
        assert_int_equal(*value, *known);
        *value = new_value(p->m, k);
        *(uint64_t *)(uintptr_t)known = *value;
    }
    assert_int_equal(gale_rotating_map_size(p->f->map), p->m->size);
}

static void model_expired(void *user, const gale_rotating_map_entry *dead) {
    pair *p = user;
    uint64_t key = dead->key;
    const uint64_t *value = dead->value;
    uint64_t word = *value;
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
        const uint64_t *known = model_get(p->m, k), *value = gale_rotating_map_get(p->f->map, k * p->scramble);
        assert_int_equal(value != NULL, known != NULL);
        if (value) assert_int_equal(*value, *known);
    }
    gale_rotating_map_cursor cursor = { { 0 } };
    uint64_t key;
    size_t walked = 0;
    for (const void *value; (value = next(p->f->map, &cursor, &key)) != NULL; walked++)
        assert_ptr_equal(gale_rotating_map_get(p->f->map, key), value);
    assert_int_equal(walked, p->m->size);
}

static void rotate_both(pair *p) {
    model_rotate(p->m, p->keys);
    int64_t dead = (int64_t)p->m->dead_size;
    assert_int_equal(gale_rotating_map_rotate(p->f->map, model_expired, p), dead);
    assert_int_equal(p->m->dead_size, 0);
}

static void run_model(uint64_t seed, uint32_t buckets, unsigned keys, uint64_t scramble, unsigned operations) {
    fixture f;
    setup_with(&f, buckets, 8, seed * 100000u + buckets * 1000u + keys);
    model *m = calloc(1, sizeof *m);
    m->buckets = buckets;
    pair p = { &f, m, gx_random_new(seed * 100000u + keys, buckets), keys, scramble };
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

/* GALE_MAPS_SEEDS=5 GALE_MAPS_SCALE=15: five seeds, a million operations each and for every n. */
static uint64_t from_environment(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void a_million_random_operations_agree_with_a_list_of_plain_maps(void **state) {
    (void)state;
    static const uint64_t scrambles[] = { 1, UINT64_C(1) << 40, UINT64_C(0x9e3779b97f4a7c15) };
    uint64_t seeds = from_environment("GALE_MAPS_SEEDS", 1);
    unsigned scale = (unsigned)from_environment("GALE_MAPS_SCALE", 1);
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        for (uint32_t buckets = 2; buckets <= MODEL_BUCKETS; buckets++) {
            uint64_t scramble = scrambles[buckets % 3];
            run_model(seed, buckets, 5, scramble, 4000 * scale);
            run_model(seed, buckets, 300, scramble, 20000 * scale);
            run_model(seed, buckets, MODEL_KEYS, scramble, 48000 * scale);
        }
    }
}

/* --- Failing allocations --- */

static size_t live_with_failure_at(size_t n) {
    counting_allocator counting = { .fail_at = n };
    gale_allocator handle = counting_handle(&counting);
    gale_rotating_map *map = NULL;
    int rc = make(&handle, 2, 8, 1, &map);
    if (rc < 0) {
        assert_int_equal(rc, GALE_NO_MEMORY);
        assert_null(map);
        assert_int_equal(counting.blocks, 0);
        return counting.calls;
    }
    for (uint64_t key = 0; key < 9000; key++) {
        bool made = false;
        uint64_t *value = open_put(map, key, &made);
        if (!value) {
            assert_false(made);
            assert_int_equal(gale_rotating_map_size(map), key);
            assert_false(gale_rotating_map_contains(map, key));
            value = open_put(map, key, &made);
        }
        assert_true(made);
        *value = key;
    }
    for (uint64_t key = 0; key < 9000; key++) assert_int_equal(*(uint64_t *)gale_rotating_map_get(map, key), key);
    for (uint64_t key = 100; key < 9000; key++) assert_true(gale_rotating_map_remove(map, key, NULL));
    for (int i = 0; i < 3; i++) { /* gives memory back, or not */
        for (uint64_t key = 0; key < 100; key++) assert_int_equal(*(uint64_t *)open_put(map, key, NULL), key);
        assert_int_equal(gale_rotating_map_rotate(map, NULL, NULL), 0);
        assert_int_equal(gale_rotating_map_size(map), 100);
    }
    assert_true(counting.bytes < 16 * 1024);
    gale_rotating_map_free(map);
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
        cmocka_unit_test(wrong_options_are_refused_by_name),
        cmocka_unit_test(an_option_from_the_future_is_refused),
        cmocka_unit_test(without_options_there_are_three_buckets_and_no_values),
        cmocka_unit_test(misuse_is_an_error_and_changes_nothing),
        cmocka_unit_test(a_new_value_is_zeroed_and_stays_when_put_again),
        cmocka_unit_test(the_short_puts_say_whether_they_made_the_value),
        cmocka_unit_test(a_map_without_values_is_a_set),
        cmocka_unit_test(what_nobody_puts_again_dies_in_the_nth_rotation),
        cmocka_unit_test(a_put_renews),
        cmocka_unit_test(what_the_callback_puts_again_lives_on_in_the_new_bucket),
        cmocka_unit_test(the_map_may_grow_and_split_under_the_callback),
        cmocka_unit_test(the_dead_are_gone_before_the_first_callback_and_nothing_rotates_inside),
        cmocka_unit_test(the_dead_may_be_taken_one_by_one_while_the_map_is_used),
        cmocka_unit_test(short_and_long_byte_keys_live_and_die_as_numbers_do),
        cmocka_unit_test(any_failing_allocation_leaves_a_map_of_bytes_as_it_was),
        cmocka_unit_test(the_map_destroys_what_it_drops_and_nothing_that_it_hands_out),
        cmocka_unit_test(a_walk_sees_each_entry_once_and_may_remove),
        cmocka_unit_test(the_memory_of_the_dead_goes_back),
        cmocka_unit_test(memory_stays_near_the_payload_at_every_size),
        cmocka_unit_test(what_is_reserved_is_room_that_stays),
        cmocka_unit_test(more_than_there_can_be_is_not_reserved),
        cmocka_unit_test(ten_turnovers_take_no_more_memory_than_the_fill),
        cmocka_unit_test(a_map_in_its_steady_state_allocates_nothing),
        cmocka_unit_test(a_million_random_operations_agree_with_a_list_of_plain_maps),
        cmocka_unit_test(any_failing_allocation_leaves_the_map_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
