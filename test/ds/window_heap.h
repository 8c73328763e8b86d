/* What the tests of the windows' structures share: a heap that counts, and looks at the end that all came back. */
#ifndef TEST_DS_WINDOW_HEAP_H
#define TEST_DS_WINDOW_HEAP_H

#include "base/random.h"
#include "harness/cm.h"
#include "harness/counting_allocator.h"

static gx_heap heap;
static counting_allocator counting;

static int setup(void **state) {
    (void)state;
    counting = (counting_allocator){ 0 };
    gale_allocator handle = counting_handle(&counting);
    gx_heap_init(&heap, &handle);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    return counting.blocks == 0 ? 0 : -1;
}

/* The n-th allocation from now on fails, and it alone; 0: none does. */
static inline void fail_at(size_t n) {
    counting.fail_at = n ? counting.calls + n : 0;
}

#endif
