#include "engine/chunks.h"

#include "harness/cm.h"
#include "harness/counting_allocator.h"
#include "topology/saver.h"

enum { SEED = 7, RECORD = 1000, MANY = 500 }; /* MANY records are some pieces */

static struct {
    counting_allocator counting;
    gale_allocator allocator;
    gx_heap heap;
    gx_buf records, prefix;
    gx_changes changes;
    gx_chunks chunks;
} f;

static int setup(void **state) {
    (void)state;
    memset(&f, 0, sizeof f);
    f.allocator = counting_handle(&f.counting);
    gx_heap_init(&f.heap, &f.allocator);
    f.records = (gx_buf)GX_BUF_INIT(&f.heap);
    f.prefix = (gx_buf)GX_BUF_INIT(&f.heap);
    f.changes = (gx_changes)GX_CHANGES_INIT(&f.heap);
    gx_buf_add(&f.prefix, "t", 1);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    gx_chunks_fini(&f.chunks, &f.heap);
    gx_changes_fini(&f.changes);
    gx_buf_fini(&f.prefix);
    gx_buf_fini(&f.records);
    assert_int_equal(f.counting.blocks, 0);
    return 0;
}

static void add(size_t records, char letter) {
    char text[RECORD];
    memset(text, letter, sizeof text);
    gale_value value = gale_bytes(text, sizeof text);
    for (size_t i = 0; i < records; i++) assert_int_equal(gx_record_add(&f.records, &value, 1), 0);
}

/* A checkpoint. Returns how many pieces it writes; `*ret_removes` how many go. */
static size_t put(size_t *ret_removes) {
    gx_change change;
    size_t at = 0, puts = 0, removes = 0;
    gx_changes_reset(&f.changes);
    f.prefix.size = 1;
    gale_str records = { f.records.data, f.records.size };
    assert_int_equal(gx_chunks_put(&f.chunks, &f.prefix, records, SEED, &f.changes), 0);
    while (gx_changes_next(&f.changes, &at, &change)) {
        assert_int_equal(change.key.size, 5);
        assert_true(change.remove || gx_records_are_whole(change.value));
        removes += change.remove;
        puts += !change.remove;
    }
    if (ret_removes) *ret_removes = removes;
    return puts;
}

static void nothing_is_no_piece(void **state) {
    (void)state;
    assert_int_equal(put(NULL), 0);
    assert_int_equal(f.chunks.count, 0);
}

static void pieces_are_cut_between_records_and_are_together_what_was_saved(void **state) {
    (void)state;
    add(MANY, 'a');
    size_t pieces = put(NULL), at = 0, bytes = 0, number = 0;
    gx_change change;
    assert_int_equal(pieces, f.records.size / GX_CHUNK + 1);
    while (gx_changes_next(&f.changes, &at, &change)) {
        assert_int_equal(((const unsigned char *)change.key.data)[4], number++);
        assert_memory_equal(change.value.data, f.records.data + bytes, change.value.size);
        bytes += change.value.size;
    }
    assert_int_equal(bytes, f.records.size);
}

static void what_is_as_before_is_not_written_again(void **state) {
    (void)state;
    add(MANY, 'a');
    assert_true(put(NULL) > 3);
    assert_int_equal(put(NULL), 0);
}

static void what_grows_at_its_end_writes_its_end(void **state) {
    (void)state;
    add(MANY, 'a');
    (void)put(NULL);
    add(1, 'b');
    assert_int_equal(put(NULL), 1);
    add(MANY, 'b');
    assert_true(put(NULL) >= MANY * RECORD / GX_CHUNK);
}

static void what_changes_in_the_middle_writes_one_piece(void **state) {
    (void)state;
    add(MANY, 'a');
    (void)put(NULL);
    f.records.data[MANY / 2 * (f.records.size / MANY) + RECORD / 2] ^= 1; /* a letter of the middle one */
    assert_int_equal(put(NULL), 1);
}

static void pieces_that_are_there_no_more_go(void **state) {
    (void)state;
    size_t removes;
    add(MANY, 'a');
    size_t before = put(NULL);
    f.records.size = 0;
    add(1, 'a');
    assert_int_equal(put(&removes), 1);
    assert_int_equal(removes, before - 1);
    f.records.size = 0;
    assert_int_equal(put(&removes), 0);
    assert_int_equal(removes, 1);
    add(MANY, 'a');
    assert_int_equal(put(&removes), before);
    assert_int_equal(removes, 0);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    add(MANY, 'a');
    gale_str records = { f.records.data, f.records.size };
    bool failed = true;
    for (uint64_t n = 1; failed; n++) {
        gx_chunks_fini(&f.chunks, &f.heap);
        gx_changes_fini(&f.changes);
        f.changes = (gx_changes)GX_CHANGES_INIT(&f.heap);
        f.prefix.size = 1;
        f.counting.fail_at = f.counting.calls + n;
        int rc = gx_chunks_put(&f.chunks, &f.prefix, records, SEED, &f.changes);
        failed = f.counting.calls >= f.counting.fail_at;
        f.counting.fail_at = 0;
        assert_int_equal(rc < 0 || f.changes.bytes.failed || f.prefix.failed, failed);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_is_no_piece, setup, teardown),
        cmocka_unit_test_setup_teardown(pieces_are_cut_between_records_and_are_together_what_was_saved, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_is_as_before_is_not_written_again, setup, teardown),
        cmocka_unit_test_setup_teardown(what_grows_at_its_end_writes_its_end, setup, teardown),
        cmocka_unit_test_setup_teardown(what_changes_in_the_middle_writes_one_piece, setup, teardown),
        cmocka_unit_test_setup_teardown(pieces_that_are_there_no_more_go, setup, teardown),
        cmocka_unit_test_setup_teardown(every_allocation_may_fail, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
