#include "tuple/row.h"

#include "ds/batch.h"
#include "harness/cm.h"
#include "harness/counting_allocator.h"

typedef struct fixture {
    counting_allocator counting;
    gx_heap heap;
    gx_blocks blocks;
    alignas(16) unsigned char row[GX_ROW_MAX];
    gx_block *root_block, *body_block;
} fixture;

static void setup(fixture *f) {
    memset(f, 0, sizeof *f);
    gale_allocator handle = counting_handle(&f->counting);
    gx_heap_init(&f->heap, &handle);
    gx_blocks_init(&f->blocks, &f->heap);
}

static void teardown(fixture *f) {
    assert_int_equal(gx_load_relaxed(&f->blocks.used_bytes), 0);
    gx_blocks_fini(&f->blocks);
    assert_int_equal(f->counting.blocks, 0);
}

static gx_root pair_of(uint64_t i) {
    return (gx_root){ 1000 + i, 77 * (i + 1) };
}

static void write_pair(unsigned char *at, uint64_t i) {
    gx_store64(at, pair_of(i).root);
    gx_store64(at + 8, pair_of(i).edge);
}

/* --- A row, written to the letter of tuple/row.h --- */

static unsigned char *write_roots(fixture *f, uint64_t count) {
    gale_head *head = (gale_head *)f->row;
    unsigned char *at = f->row + 8;
    if (count <= GX_ROOTS_INLINE) {
        head->roots = (uint8_t)count;
        for (uint64_t i = 0; i < count; i++) write_pair(at + 16 * i, i);
        return at + 16 * count;
    }
    head->roots = 255;
    f->root_block = gx_block_take(&f->blocks, 16 + 16 * count);
    assert_non_null(f->root_block);
    gx_store64(f->root_block->bytes, count);
    for (uint64_t i = 0; i < count; i++) write_pair(f->root_block->bytes + 16 + 16 * i, i);
    memcpy(at, &f->root_block, 8);
    return at + 8;
}

static unsigned char *write_body(fixture *f, unsigned char *at, const gale_value *value, size_t size) {
    gale_head *head = (gale_head *)f->row;
    if (size <= 2048) {
        gx_body_encode(value, 1, at);
        return at + size;
    }
    head->flags |= 2;
    f->body_block = gx_block_take(&f->blocks, size);
    assert_non_null(f->body_block);
    gx_body_encode(value, 1, f->body_block->bytes);
    memcpy(at, &f->body_block, 8);
    gx_store64(at + 8, size);
    return at + 16;
}

static const gale_head *write_row(fixture *f, uint64_t roots, int64_t deadline, const gale_value *value, size_t size) {
    gale_head *head = (gale_head *)f->row;
    *head = (gale_head){ .stream = 9 };
    unsigned char *at = write_roots(f, roots);
    if (deadline) {
        head->flags |= 1;
        memcpy(at, &deadline, 8);
        at += 8;
    }
    at = write_body(f, at, value, size);
    head->length = (uint32_t)(at - f->row);
    return head;
}

/* --- What is read of it --- */

static void check_roots(const gale_head *head, uint64_t count) {
    gx_roots roots = gx_row_roots(head);
    assert_int_equal(roots.count, count);
    for (uint64_t i = 0; i < count; i++) {
        assert_int_equal(roots.pairs[i].root, pair_of(i).root);
        assert_int_equal(roots.pairs[i].edge, pair_of(i).edge);
    }
    assert_int_equal(gx_row_root(head), count ? pair_of(0).root : 0);
}

static void check_body(const gale_head *head, const gale_value *value) {
    const gale_tuple tuple = { gx_row_body(head), head, NULL, 0, 1, 0 };
    gale_value got = gale_tuple_value(&tuple, 0);
    assert_int_equal(gale_tuple_size(&tuple), 1);
    assert_int_equal(got.type, GALE_TYPE_STRING);
    assert_int_equal(got.size, value->size);
    assert_memory_equal(got.as.string, value->as.string, value->size);
}

static void check_row(uint64_t roots, int64_t deadline, size_t text_size) {
    static char text[100000];
    const gale_value value = gale_string(text, text_size);
    size_t size = (size_t)gx_body_measure(&value, 1);
    bool in_block = size > GX_BODY_INLINE;
    fixture f;
    setup(&f);
    const gale_head *head = write_row(&f, roots, deadline, &value, size);
    assert_int_equal(head->length % 8, 0);
    assert_true(head->length <= GX_ROW_MAX);
    assert_int_equal(gx_row_length(roots, size, deadline != 0), head->length);
    check_roots(head, roots);
    check_body(head, &value);
    assert_int_equal(gx_row_deadline(head), deadline);
    assert_int_equal(gx_row_kind(head) == GX_ROW_BARE, roots == 1 && !deadline && !in_block);
    assert_int_not_equal(gx_row_kind(head), GX_ROW_NO_KIND);
    assert_int_equal(gx_row_block_bytes(head), in_block ? size : 0);
    assert_int_equal(gx_row_names_blocks(head), in_block || roots > GX_ROOTS_INLINE);
    gx_row_release(head, &f.blocks);
    teardown(&f);
}

static void every_shape_is_read_as_it_was_written(void **state) {
    (void)state;
    static const uint64_t roots[] = { 0, 1, 2, GX_ROOTS_INLINE, GX_ROOTS_INLINE + 1, 254, 255, 256, 5000 };
    static const int64_t deadlines[] = { 0, 1, INT64_MAX };
    static const size_t sizes[] = { 0, 1, 23, 24, 2000, 2030, 2031, 2032, 5000, 100000 };
    for (size_t r = 0; r < sizeof roots / sizeof *roots; r++)
        for (size_t d = 0; d < sizeof deadlines / sizeof *deadlines; d++)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) check_row(roots[r], deadlines[d], sizes[s]);
}

static void the_longest_row_is_as_long_as_is_said_and_fits_into_a_batch(void **state) {
    (void)state;
    assert_int_equal(gx_row_length(GX_ROOTS_INLINE, GX_BODY_INLINE, true), GX_ROW_MAX);
    assert_true((int)GX_ROW_MAX <= (int)GX_BATCH_ROOM);
    assert_int_equal(gx_row_length(GX_ROOTS_INLINE + 1, GX_BODY_INLINE + 8, true), 8 + 8 + 8 + 16);
    assert_true((int)GX_ROW_SHORT <= (int)GX_BATCH_ROOM_SMALL);
}

static void one_root_and_a_text_of_23_bytes_take_a_line(void **state) {
    (void)state;
    const gale_value value = gale_string("12345678901234567890123", 23);
    assert_int_equal(gx_row_length(1, (size_t)gx_body_measure(&value, 1), false), 64);
}

/* Many tuples name one body: it is there until the last of them is released. */
static void rows_that_share_a_body_release_it_once_each(void **state) {
    (void)state;
    static char text[5000];
    const gale_value value = gale_string(text, sizeof text);
    fixture f;
    setup(&f);
    const gale_head *head = write_row(&f, 1, 0, &value, (size_t)gx_body_measure(&value, 1));
    gx_block_ref(f.body_block, 2);
    for (int i = 0; i < 3; i++) {
        assert_true(gx_load_relaxed(&f.blocks.used_bytes) > 0);
        check_body(head, &value);
        gx_row_release(head, &f.blocks);
    }
    teardown(&f);
}

static void each_count_of_roots_with_each_flags_is_a_kind_of_its_own(void **state) {
    (void)state;
    static bool seen[65536];
    for (unsigned roots = 0; roots <= 255; roots++)
        for (unsigned flags = 0; flags < 256; flags++) {
            const gale_head head = { .length = 8, .stream = 3, .roots = (uint8_t)roots, .flags = (uint8_t)flags };
            uint16_t kind = gx_row_kind(&head);
            assert_false(seen[kind]);
            seen[kind] = true;
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_is_read_as_it_was_written),
        cmocka_unit_test(the_longest_row_is_as_long_as_is_said_and_fits_into_a_batch),
        cmocka_unit_test(one_root_and_a_text_of_23_bytes_take_a_line),
        cmocka_unit_test(rows_that_share_a_body_release_it_once_each),
        cmocka_unit_test(each_count_of_roots_with_each_flags_is_a_kind_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
