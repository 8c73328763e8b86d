/* What the compilers and machines that gale supports have in common. */
#ifndef GX_BASE_PORT_H
#define GX_BASE_PORT_H

#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GX_LIKELY(x) __builtin_expect(!!(x), 1)
#define GX_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define GX_COLD __attribute__((cold, noinline))
#define GX_NOINLINE __attribute__((noinline))
#define GX_INLINE static inline __attribute__((always_inline))

/* For functions that are called for every tuple, and whose local arrays are filled at constant places: the stack protector
 * (cmake/hardening.cmake) has nothing to find there, and would cost more than the rest of the call. */
#if defined(__has_attribute)
#if __has_attribute(no_stack_protector)
#define GX_UNPROTECTED __attribute__((no_stack_protector))
#endif
#endif
#ifndef GX_UNPROTECTED
#define GX_UNPROTECTED
#endif

/* Two lines: adjacent-line prefetchers pull pairs, so what two threads write lies this far apart. */
enum { GX_CACHE_LINE = 64, GX_APART = 128 };

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "records are little-endian in memory; a big-endian port needs accessors that swap"
#endif

#endif
