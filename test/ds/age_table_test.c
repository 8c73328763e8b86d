#include "ds/age_table.h"

#include "harness/cm.h"
#include "harness/counting_allocator.h"

#include <gale/error.h>

enum { STRIDE = 16, AGE = 1 };

typedef struct fixture {
    counting_allocator counting;
    gx_heap heap;
    gx_age_table table;
} fixture;

static void setup(fixture *f) {
    memset(f, 0, sizeof *f);
    gale_allocator handle = counting_handle(&f->counting);
    gx_heap_init(&f->heap, &handle);
    assert_int_equal(gx_age_table_init(&f->table, &f->heap, STRIDE, 0), GALE_OK);
}

static void teardown(fixture *f) {
    gx_age_table_fini(&f->table);
    assert_int_equal(f->counting.blocks, 0);
}

static void add(gx_age_table *table, uint64_t word) {
    uint64_t hash = gx_age_table_hash(table, word);
    gx_place at;
    assert_true(gx_age_table_claim(table, gx_age_table_home(table, hash), hash, AGE, &at));
    memcpy(at.entry, &word, sizeof word);
}

static bool holds(const gx_age_table *table, uint64_t word) {
    uint64_t hash = gx_age_table_hash(table, word);
    gx_place at;
    return gx_segment_search(gx_age_table_home(table, hash).segment, word, hash, GX_AGE_NONE, NULL, NULL, &at);
}

/* The next word whose hash begins with so many zeros. */
static uint64_t next_alike(const gx_age_table *table, uint64_t word, unsigned zeros) {
    do word++;
    while (gx_age_table_hash(table, word) >> (64 - zeros));
    return word;
}

/* Or whoever chooses keys so could make it as large as he likes. */
static void keys_whose_hashes_begin_alike_do_not_make_a_large_directory(void **state) {
    (void)state;
    enum { KEYS = 12000, ZEROS = 11 }; /* enough for a segment to be full again and again */
    fixture f;
    setup(&f);
    uint64_t word = 0;
    for (int i = 0; i < KEYS; i++) {
        word = next_alike(&f.table, word, ZEROS);
        add(&f.table, word);
        assert_true((size_t)1 << f.table.bits <= 2 + f.table.slots / 32);
    }
    word = 0;
    for (int i = 0; i < KEYS; i++) {
        word = next_alike(&f.table, word, ZEROS);
        assert_true(holds(&f.table, word));
    }
    teardown(&f);
}

static void the_directory_grows_with_keys_whose_hashes_differ(void **state) {
    (void)state;
    enum { KEYS = 100000 };
    fixture f;
    setup(&f);
    for (uint64_t word = 1; word <= KEYS; word++) add(&f.table, word);
    assert_true(f.table.bits >= 5); /* some 3000 entries a segment */
    assert_true(f.table.slots < 2 * KEYS);
    for (uint64_t word = 1; word <= KEYS; word++) assert_true(holds(&f.table, word));
    assert_false(holds(&f.table, KEYS + 1));
    teardown(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_whose_hashes_begin_alike_do_not_make_a_large_directory),
        cmocka_unit_test(the_directory_grows_with_keys_whose_hashes_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
