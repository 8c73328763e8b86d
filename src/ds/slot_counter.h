/* SlotBasedCounter of storm-starter: for each object, n counts, one a slot. An object is a byte string (the encoded
 * body of a value, which is canonical). Threads: one at a time. */
#ifndef GX_DS_SLOT_COUNTER_H
#define GX_DS_SLOT_COUNTER_H

#include "ds/bytes_map.h"

#include <gale/error.h>

typedef struct gx_slot_counter gx_slot_counter;

/* GALE_INVALID when slots < 1. */
int gx_slot_counter_new(gx_heap *heap, int64_t slots, uint64_t seed, gx_slot_counter **ret_counter, gale_error *error);
void gx_slot_counter_free(gx_slot_counter *counter);

/* GALE_INVALID for a slot out of range, GALE_NO_MEMORY. */
int gx_slot_counter_increment(gx_slot_counter *counter, gale_str object, int64_t slot);
int64_t gx_slot_counter_count(const gx_slot_counter *counter, gale_str object, int64_t slot); /* 0 if unknown */
int64_t gx_slot_counter_total(const gx_slot_counter *counter, gale_str object);

/* All tracked objects, totals of 0 included: 0 <= index < size. */
size_t gx_slot_counter_size(const gx_slot_counter *counter);
int64_t gx_slot_counter_at(const gx_slot_counter *counter, size_t index, gale_str *ret_object);

/* Borrowed, to be looked into alone. */
const gx_bytes_map *gx_slot_counter_map(const gx_slot_counter *counter);

int gx_slot_counter_wipe_slot(gx_slot_counter *counter, int64_t slot); /* objects stay tracked */
void gx_slot_counter_wipe_zeros(gx_slot_counter *counter);             /* drops objects whose total is 0 */

/* What a slot of tracked object `index` holds; and so many more in it, for an object that is tracked from then on if it
 * was not (also with none). As gx_slot_counter_increment. */
int64_t gx_slot_counter_slot_at(const gx_slot_counter *counter, size_t index, int64_t slot);
int gx_slot_counter_add(gx_slot_counter *counter, gale_str object, int64_t slot, int64_t count);

#endif
