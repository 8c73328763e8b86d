/* C11 atomics with the order in the name; no other order appears in gale, and no fence (the thread sanitizer does not
 * see fences). A pair of release and acquire carries a label, "R1" and "A1", and a sentence at the release. */
#ifndef GX_BASE_ATOMIC_H
#define GX_BASE_ATOMIC_H

#include "base/port.h"

#include <stdatomic.h>

typedef _Atomic(uint64_t) gx_atomic64;
typedef _Atomic(uint32_t) gx_atomic32;

#define gx_load_relaxed(at) atomic_load_explicit((at), memory_order_relaxed)
#define gx_load_acquire(at) atomic_load_explicit((at), memory_order_acquire)
#define gx_store_relaxed(at, v) atomic_store_explicit((at), (v), memory_order_relaxed)
#define gx_store_release(at, v) atomic_store_explicit((at), (v), memory_order_release)
#define gx_exchange_relaxed(at, v) atomic_exchange_explicit((at), (v), memory_order_relaxed)
#define gx_exchange_acquire(at, v) atomic_exchange_explicit((at), (v), memory_order_acquire)
#define gx_exchange_release(at, v) atomic_exchange_explicit((at), (v), memory_order_release)
#define gx_load_seq(at) atomic_load_explicit((at), memory_order_seq_cst)
#define gx_store_seq(at, v) atomic_store_explicit((at), (v), memory_order_seq_cst)
#define gx_add_relaxed(at, v) atomic_fetch_add_explicit((at), (v), memory_order_relaxed)
#define gx_add_release(at, v) atomic_fetch_add_explicit((at), (v), memory_order_release)
#define gx_or_release(at, v) atomic_fetch_or_explicit((at), (v), memory_order_release)
#define gx_and_release(at, v) atomic_fetch_and_explicit((at), (v), memory_order_release)
#define gx_sub_acq_rel(at, v) atomic_fetch_sub_explicit((at), (v), memory_order_acq_rel)
#define gx_cas_release(at, expected, v)                                                                                \
    atomic_compare_exchange_weak_explicit((at), (expected), (v), memory_order_release, memory_order_relaxed)
#define gx_cas_relaxed(at, expected, v)                                                                                \
    atomic_compare_exchange_strong_explicit((at), (expected), (v), memory_order_relaxed, memory_order_relaxed)
#define gx_cas_seq(at, expected, v)                                                                                    \
    atomic_compare_exchange_strong_explicit((at), (expected), (v), memory_order_seq_cst, memory_order_seq_cst)

/* A counter with one writer: a plain add, which others may read at any time. */
GX_INLINE void gx_count(gx_atomic64 *counter, uint64_t n) {
    gx_store_relaxed(counter, gx_load_relaxed(counter) + n);
}

GX_INLINE void gx_count_max(gx_atomic64 *counter, uint64_t n) {
    if (n > gx_load_relaxed(counter)) gx_store_relaxed(counter, n);
}

#endif
