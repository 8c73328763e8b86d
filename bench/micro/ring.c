/* Rows of 64 bytes, 64 to a batch, through a ring of batches and home to their pool: on one thread, and from one to
 * another. */
#include "base/os/cpu.h"
#include "base/os/thread.h"
#include "ds/batch_ring.h"
#include "micro/micro.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CAPACITY = 1 << 16, ROW = 64, ROWS = 64, BATCHES = 20000 };

typedef struct bench {
    gx_batches pool;
    gx_batch_producer producer;
    gx_batch_consumer consumer;
} bench;

/* A batch that is full; false when there is no room for it. */
static bool put(bench *b) {
    if (!gx_batch_ring_has_room(&b->producer, sizeof(gx_batch) + GX_BATCH_ROOM)) return false;
    gx_batch *batch = gx_batch_take(&b->pool, true, ROWS * ROW);
    if (!batch) exit(1);
    for (unsigned char *row = batch->bytes; batch->used < ROWS * ROW; row += ROW, batch->used += ROW) {
        memset(row, (int)batch->used, ROW);
        gx_store32(row, ROW);
    }
    gx_batch_ring_put(&b->producer, batch);
    return gx_batch_ring_publish(&b->producer);
}

/* The next batch, read; NULL: there is none. */
static gx_batch *take(gx_batch_consumer *c) {
    uint64_t sum = 0;
    gx_batch_ring_refresh(c);
    gx_batch *batch = gx_batch_ring_peek(c);
    if (!batch) return NULL;
    for (const unsigned char *row = gx_batch_front(batch); row; row = gx_batch_next(batch, row)) sum += row[ROW - 1];
    gx_batch_ring_advance(c);
    gx_batch_ring_release(c);
    bench_micro_sink += sum;
    return batch;
}

static void here(void *self) {
    bench *b = self;
    for (int i = 0; i < BATCHES; i++) {
        put(b);
        gx_batch_give(&b->pool, take(&b->consumer));
    }
}

static void *consume(void *self) {
    bench *b = self;
    for (int left = BATCHES; left;) {
        gx_batch *batch = take(&b->consumer);
        if (batch)
            gx_batches_return(&b->pool, batch, batch), left--;
        else
            gx_os_cpu_relax();
    }
    return NULL;
}

static void across(void *self) {
    bench *b = self;
    gx_thread thread;
    if (!gx_thread_start(&thread, "consumer", consume, b)) exit(1);
    for (int left = BATCHES; left;) {
        if (put(b))
            left--;
        else
            gx_os_cpu_relax();
    }
    gx_thread_join(&thread, -1);
}

void bench_micro_ring(void) {
    static bench b;
    gx_heap heap;
    gx_heap_init(&heap, NULL);
    gx_batch_ring *ring = gx_batch_ring_new(&heap, CAPACITY);
    if (!ring) exit(1);
    b = (bench){ .producer.ring = ring, .consumer.ring = ring };
    gx_batches_init(&b.pool, &heap, 0);
    bench_micro_tell("ring hop, one thread", bench_micro_time(here, &b, (uint64_t)ROWS * BATCHES));
    bench_micro_tell("ring hop, two threads", bench_micro_time(across, &b, (uint64_t)ROWS * BATCHES));
    gx_batches_fini(&b.pool);
    gx_batch_ring_free(&heap, ring);
}
