/* SplitMix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014), with a gamma of its own for
 * each stream. One stream never gives the same number twice in 2^64, but for the ids of tuple trees, which are mixed
 * otherwise (gx_random_id). Both mixings multiply, so that they are not linear over XOR: ids need that (with a linear
 * generator such as xorshift, 65 successive ids can cancel). docs/semantics/acking.md has the odds. */
#ifndef GX_BASE_RANDOM_H
#define GX_BASE_RANDOM_H

#include "base/port.h"

typedef struct gx_random {
    uint64_t state;
    uint64_t gamma; /* odd */
} gx_random;

/* Stream `stream` of `seed`: streams of one seed are told apart by state and by gamma. */
gx_random gx_random_new(uint64_t seed, uint64_t stream);

GX_INLINE uint64_t gx_random_mix(uint64_t z) {
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

GX_INLINE uint64_t gx_random_next(gx_random *random) {
    random->state += random->gamma;
    return gx_random_mix(random->state);
}

/* Uniform in 0 .. n - 1 up to 2^-32 of bias; n is not 0. */
GX_INLINE uint32_t gx_random_below(gx_random *random, uint32_t n) {
    return (uint32_t)(((gx_random_next(random) >> 32) * n) >> 32);
}

/* The mixing of wyrand (Wang Yi, wyhash, 2019): one multiplication whose halves are folded; not linear over XOR either,
 * and not one to one: a number that comes has two states at least, three on the average. */
GX_INLINE uint64_t gx_random_fold(uint64_t z) {
    unsigned __int128 product = (unsigned __int128)z * (z ^ UINT64_C(0xe7037ed1a0b428db));
    return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

/* An edge id, which is drawn for each delivery: never zero. */
GX_INLINE uint64_t gx_random_id(gx_random *random) {
    uint64_t id = gx_random_fold(random->state += random->gamma);
    return id + (id == 0);
}

#endif
