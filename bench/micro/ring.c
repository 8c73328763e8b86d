/* Entries of 64 bytes through a ring, published and released once in 64: on one thread, and from one to another. */
#include "ds/ring.h"
#include "base/os/cpu.h"
#include "base/os/thread.h"
#include "micro/micro.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CAPACITY = 1 << 16, ENTRY = 64, BATCH = 64, BATCHES = 20000 };

typedef struct bench {
    gx_ring_producer producer;
    gx_ring_consumer consumer;
} bench;

/* Fills entries until there is no room, or BATCH are made. */
static uint64_t put(gx_ring_producer *p, uint64_t most) {
    uint64_t made = 0;
    for (; made < most; made++) {
        unsigned char *entry = gx_ring_claim(p, ENTRY);
        if (!entry) break;
        memset(entry, (int)made, ENTRY);
        gx_store32(entry, ENTRY);
    }
    gx_ring_publish(p);
    return made;
}

static uint64_t take(gx_ring_consumer *c) {
    uint64_t taken = 0, sum = 0;
    gx_ring_refresh(c);
    for (const unsigned char *entry; taken < BATCH && (entry = gx_ring_peek(c)); taken++) {
        sum += entry[ENTRY - 1];
        gx_ring_advance(c, ENTRY);
    }
    gx_ring_release(c);
    bench_micro_sink += sum;
    return taken;
}

static void here(void *self) {
    bench *b = self;
    for (int i = 0; i < BATCHES; i++) {
        put(&b->producer, BATCH);
        take(&b->consumer);
    }
}

static void *consume(void *self) {
    bench *b = self;
    for (uint64_t left = (uint64_t)BATCH * BATCHES; left;) {
        uint64_t taken = take(&b->consumer);
        if (!taken) gx_os_cpu_relax();
        left -= taken;
    }
    return NULL;
}

static void across(void *self) {
    bench *b = self;
    gx_thread thread;
    if (!gx_thread_start(&thread, "consumer", consume, b)) exit(1);
    for (uint64_t left = (uint64_t)BATCH * BATCHES; left;) {
        uint64_t made = put(&b->producer, left < BATCH ? left : BATCH);
        if (!made) gx_os_cpu_relax();
        left -= made;
    }
    gx_thread_join(&thread, -1);
}

void bench_micro_ring(void) {
    static bench b;
    gx_heap heap;
    gx_heap_init(&heap, NULL);
    gx_ring *ring = gx_ring_new(&heap, CAPACITY);
    if (!ring) exit(1);
    b = (bench){ gx_ring_produce(ring), gx_ring_consume(ring) };
    bench_micro_tell("ring hop, one thread", bench_micro_time(here, &b, (uint64_t)BATCH * BATCHES));
    bench_micro_tell("ring hop, two threads", bench_micro_time(across, &b, (uint64_t)BATCH * BATCHES));
    gx_ring_free(&heap, ring);
}
