/* Sequences of a stream, as ranges: which of its messages a durable run has taken.
 * Threads: the task's. Owner: nats_ranges_free. Limits: NATS_RANGES_MAX; one that was read without holes is one range. */
#ifndef GALE_CONNECT_NATS_RANGES_H
#define GALE_CONNECT_NATS_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NATS_RANGES_MAX = 1 << 20 };

typedef struct nats_range {
    int64_t first, last; /* both in it */
} nats_range;

/* In order; none touches the next. Zero is empty. */
typedef struct nats_ranges {
    nats_range *list;
    size_t count, capacity;
} nats_ranges;

void nats_ranges_free(nats_ranges *ranges);
bool nats_ranges_have(const nats_ranges *ranges, int64_t sequence);

/* All of them, `first` to `last`, are in it; none, when first > last. GALE_NO_MEMORY, GALE_TOO_LARGE: nothing was changed. */
int nats_ranges_add(nats_ranges *ranges, int64_t first, int64_t last);

/* It is in it no more. The same. */
int nats_ranges_remove(nats_ranges *ranges, int64_t sequence);

/* Takes what was saved. GALE_DAMAGED: these are no ranges in order; GALE_NO_MEMORY. */
int nats_ranges_load(nats_ranges *ranges, const void *bytes, size_t size);

#endif
