#include "trees/held.h"

#include "base/random.h"
#include "harness/cm.h"
#include "harness/counting_allocator.h"

enum { TASK = 7 };

typedef struct fixture {
    counting_allocator counting;
    gx_heap heap;
    gx_blocks blocks;
    gx_held held;
    alignas(16) unsigned char record[GX_ROW_MAX];
    gale_tuple tuple;
} fixture;

static void setup(fixture *f) {
    memset(f, 0, sizeof *f);
    gale_allocator handle = counting_handle(&f->counting);
    gx_heap_init(&f->heap, &handle);
    gx_blocks_init(&f->blocks, &f->heap);
}

static void teardown(fixture *f) {
    assert_null(gx_held_flaw(&f->held));
    assert_null(gx_blocks_flaw(&f->blocks));
    gx_held_fini(&f->held, &f->heap, &f->blocks);
    assert_int_equal(gx_load_relaxed(&f->blocks.used_bytes), 0);
    gx_blocks_fini(&f->blocks);
    assert_int_equal(f->counting.blocks, 0);
}

/* A record with one root and the value `number` in place. */
static const gale_tuple *tuple_of(fixture *f, int64_t number) {
    gale_value value = gale_i64(number);
    size_t size = (size_t)gx_body_measure(&value, 1);
    gale_head *head = (gale_head *)f->record;
    memset(f->record, 0, sizeof f->record);
    *head = (gale_head){ gx_row_length(1, size, false), 1, 1, 0 };
    gx_row_roots(head).pairs[0] = (gx_root){ 100 + (uint64_t)number, 200 + (uint64_t)number };
    gx_body_encode(&value, 1, gx_row_tail(head));
    f->tuple = (gale_tuple){ gx_row_body(head), head, NULL, gx_handle(TASK, GX_HELD_CURRENT, 1), 2, 0 };
    return &f->tuple;
}

static gale_handle add(fixture *f, int64_t number, uint64_t ack, uint32_t *ret_index) {
    assert_int_equal(gx_held_add(&f->held, &f->heap, &f->blocks, TASK, tuple_of(f, number), ack, ret_index), GALE_OK);
    return gx_held_tuple(&f->held.slots[*ret_index])->handle;
}

static void check(fixture *f, gale_handle handle, int64_t number, uint64_t ack) {
    gx_held_slot *slot = gx_held_find(&f->held, handle);
    assert_non_null(slot);
    assert_int_equal(slot->ack, ack);
    assert_false(slot->failed);
    const gale_tuple *tuple = gx_held_tuple(slot);
    assert_int_equal(tuple->handle, handle);
    assert_int_equal(gale_tuple_size(tuple), 1);
    assert_int_equal(gale_tuple_value(tuple, 0).as.i64, number);
    assert_int_equal(tuple->source, 2);
    gx_roots roots = gx_row_roots(tuple->head);
    assert_int_equal(roots.count, 1);
    assert_int_equal(roots.pairs[0].root, 100 + number);
    assert_int_equal(roots.pairs[0].edge, 200 + number);
}

static void an_empty_table_knows_no_handle(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    assert_null(gx_held_find(&f.held, 0));
    assert_null(gx_held_find(&f.held, gx_handle(TASK, 0, 0)));
    assert_null(gx_held_find(&f.held, gx_handle(TASK, GX_HELD_CURRENT, 1)));
    assert_null(gx_held_find(&f.held, UINT64_MAX));
    assert_int_equal(f.counting.calls, 0);
    teardown(&f);
}

static void a_handle_names_task_index_and_generation_and_is_never_zero(void **state) {
    (void)state;
    gale_handle h = gx_handle(0x1234, 0xabcdef, 0xff654321);
    assert_int_equal(gx_handle_task(h), 0x1234);
    assert_int_equal(gx_handle_index(h), 0xabcdef);
    assert_int_equal(h & 0xffffff, 0x654321);
    assert_int_not_equal(gx_handle(1, 0, 0), 0);
}

static void a_held_tuple_is_a_copy_that_outlives_its_record(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    uint32_t index = 99;
    gale_handle handle = add(&f, 42, 1000, &index);
    assert_int_equal(index, 0);
    assert_int_equal(gx_handle_task(handle), TASK);
    memset(f.record, 0xee, sizeof f.record);
    check(&f, handle, 42, 1000);
    assert_int_equal((uintptr_t)gx_held_tuple(&f.held.slots[0])->body % 8, 0);
    assert_int_equal(f.held.count, 1);
    gx_held_remove(&f.held, &f.blocks, index);
    assert_int_equal(f.held.count, 0);
    assert_null(gx_held_find(&f.held, handle));
    teardown(&f);
}

static void a_slot_that_is_used_again_does_not_answer_to_its_old_handle(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    uint32_t index;
    gale_handle first = add(&f, 1, 0, &index);
    f.held.slots[index].failed = true;
    gx_held_remove(&f.held, &f.blocks, index);
    gale_handle second = add(&f, 2, 5, &index);
    assert_int_equal(gx_handle_index(first), gx_handle_index(second));
    assert_int_not_equal(first, second);
    assert_null(gx_held_find(&f.held, first));
    check(&f, second, 2, 5);
    teardown(&f);
}

static void generations_wrap_at_24_bits(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    uint32_t index;
    add(&f, 1, 0, &index);
    gx_held_remove(&f.held, &f.blocks, index);
    f.held.slots[0].generation = 0xffffff;
    gale_handle last = add(&f, 2, 0, &index);
    check(&f, last, 2, 0);
    gx_held_remove(&f.held, &f.blocks, index);
    gale_handle wrapped = add(&f, 3, 0, &index);
    assert_int_equal(wrapped & 0xffffff, 0);
    check(&f, wrapped, 3, 0);
    assert_null(gx_held_find(&f.held, last));
    teardown(&f);
}

static void many_tuples_are_held_at_once_and_none_moves(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    enum { MANY = 1000 };
    gale_handle handles[MANY];
    const gale_tuple *places[MANY];
    for (uint32_t i = 0; i < MANY; i++) {
        uint32_t index;
        handles[i] = add(&f, i, i, &index);
        assert_int_equal(index, i);
        places[i] = gx_held_tuple(&f.held.slots[index]);
    }
    for (uint32_t i = 0; i < MANY; i++) {
        check(&f, handles[i], i, i);
        assert_ptr_equal(gx_held_tuple(gx_held_find(&f.held, handles[i])), places[i]);
    }
    for (uint32_t i = 0; i < MANY; i += 2) gx_held_remove(&f.held, &f.blocks, i);
    assert_int_equal(f.held.count, MANY / 2);
    for (uint32_t i = 0; i < MANY; i++) assert_int_equal(gx_held_find(&f.held, handles[i]) != NULL, i % 2);
    size_t calls = f.counting.calls;
    for (uint32_t i = 0; i < MANY / 2; i++) {
        uint32_t index;
        add(&f, i, i, &index);
        assert_true(index < MANY);
    }
    assert_int_equal(f.counting.calls, calls); /* what was high water is not allocated again */
    teardown(&f);                              /* with all that is still held */
}

static void blocks_that_the_record_names_live_as_long_as_the_copy(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    gx_block *roots = gx_block_take(&f.blocks, 5000), *body = gx_block_take(&f.blocks, 5000);
    gx_root_block *pairs = (gx_root_block *)roots->bytes;
    pairs->count = 300;
    for (uint64_t i = 0; i < 300; i++) pairs->pairs[i] = (gx_root){ i, i + 1 };
    char text[4000];
    memset(text, 'z', sizeof text);
    gale_value value = gale_string(text, sizeof text);
    size_t size = (size_t)gx_body_measure(&value, 1);
    gx_body_encode(&value, 1, body->bytes);
    gale_head *head = (gale_head *)f.record;
    *head = (gale_head){ gx_row_length(300, size, false), 0, GX_ROOTS_IN_BLOCK, GX_ROW_BODY_IN_BLOCK };
    memcpy(head + 1, &roots, sizeof roots);
    memcpy(gx_row_tail(head), &body, sizeof body);
    gx_store64(gx_row_tail(head) + 8, size);
    gale_tuple tuple = { gx_row_body(head), head, NULL, 0, 2, 0 };
    uint32_t index;
    assert_int_equal(gx_held_add(&f.held, &f.heap, &f.blocks, TASK, &tuple, 0, &index), GALE_OK);
    gx_row_release(head, &f.blocks); /* the queue's own */
    const gale_tuple *kept = gx_held_tuple(&f.held.slots[index]);
    assert_int_equal(gx_row_roots(kept->head).count, 300);
    assert_int_equal(gx_row_roots(kept->head).pairs[299].edge, 300);
    assert_int_equal(gale_tuple_value(kept, 0).size, sizeof text);
    assert_memory_equal(gale_tuple_value(kept, 0).as.string, text, sizeof text);
    gx_held_remove(&f.held, &f.blocks, index);
    assert_int_equal(gx_load_relaxed(&f.blocks.used_bytes), 0);
    teardown(&f);
}

static void the_allocation_that_fails_changes_nothing(void **state) {
    (void)state;
    for (size_t n = 1; n <= 40; n++) {
        fixture f;
        setup(&f);
        f.counting.fail_at = n;
        bool failed = false;
        gale_handle handles[20];
        for (uint32_t i = 0; i < 20; i++) {
            uint32_t index = 99, made = f.held.made;
            uint64_t used = gx_load_relaxed(&f.blocks.used_bytes);
            if (gx_held_add(&f.held, &f.heap, &f.blocks, TASK, tuple_of(&f, i), i, &index) < 0) {
                failed = true;
                assert_int_equal(index, 99);
                assert_int_equal(f.held.count, i);
                assert_int_equal(f.held.made, made);
                assert_int_equal(gx_load_relaxed(&f.blocks.used_bytes), used);
                add(&f, i, i, &index);
            }
            handles[i] = gx_held_tuple(&f.held.slots[index])->handle;
        }
        assert_int_equal(failed, n <= f.counting.calls);
        for (uint32_t i = 0; i < 20; i++) check(&f, handles[i], i, i);
        teardown(&f);
    }
}

static void a_full_table_says_no_memory_and_gives_the_copy_back(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    uint32_t index = 99;
    f.held.made = GX_HELD_CURRENT; /* as if all were held: they would take 512 MB */
    assert_int_equal(gx_held_add(&f.held, &f.heap, &f.blocks, TASK, tuple_of(&f, 1), 0, &index), GALE_NO_MEMORY);
    f.held.made = 0;
    assert_int_equal(index, 99);
    assert_int_equal(gx_load_relaxed(&f.blocks.used_bytes), 0);
    teardown(&f);
}

static void random_use_agrees_with_a_plain_array(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    enum { MANY = 50 };
    struct {
        gale_handle handle;
        int64_t number;
    } live[MANY];
    gale_handle dead[64]; /* the last that were removed */
    memset(dead, 0xff, sizeof dead);
    uint32_t count = 0;
    gx_random random = gx_random_new(1, 1);
    for (int64_t i = 0; i < 20000; i++) {
        uint32_t index, at = count ? gx_random_below(&random, count) : 0;
        if (count < MANY && gx_random_below(&random, 2)) {
            live[count].number = i;
            live[count++].handle = add(&f, i, (uint64_t)i, &index);
        } else if (count) {
            check(&f, live[at].handle, live[at].number, (uint64_t)live[at].number);
            gx_held_remove(&f.held, &f.blocks, gx_handle_index(live[at].handle));
            dead[i % 64] = live[at].handle;
            live[at] = live[--count];
        }
        assert_null(gx_held_find(&f.held, dead[gx_random_below(&random, 64)]));
        assert_int_equal(f.held.count, count);
    }
    teardown(&f);
}

static void what_does_not_hold_is_said(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    uint32_t index[3];
    for (int i = 0; i < 3; i++) add(&f, i, 0, &index[i]);
    gx_held_remove(&f.held, &f.blocks, index[1]);
    assert_null(gx_held_flaw(&f.held));
    f.held.count++;
    assert_string_equal(gx_held_flaw(&f.held), "there are not as many tuples held as is said");
    f.held.count--;
    uint32_t list = f.held.free;
    f.held.free = 0;
    assert_string_equal(gx_held_flaw(&f.held), "a held slot is neither free nor in use");
    f.held.free = index[0] + 1;
    assert_string_equal(gx_held_flaw(&f.held), "a held slot is free and in use");
    f.held.free = list;
    teardown(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_table_knows_no_handle),
        cmocka_unit_test(a_handle_names_task_index_and_generation_and_is_never_zero),
        cmocka_unit_test(a_held_tuple_is_a_copy_that_outlives_its_record),
        cmocka_unit_test(a_slot_that_is_used_again_does_not_answer_to_its_old_handle),
        cmocka_unit_test(generations_wrap_at_24_bits),
        cmocka_unit_test(many_tuples_are_held_at_once_and_none_moves),
        cmocka_unit_test(blocks_that_the_record_names_live_as_long_as_the_copy),
        cmocka_unit_test(the_allocation_that_fails_changes_nothing),
        cmocka_unit_test(a_full_table_says_no_memory_and_gives_the_copy_back),
        cmocka_unit_test(random_use_agrees_with_a_plain_array),
        cmocka_unit_test(what_does_not_hold_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
