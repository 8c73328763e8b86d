#include "base/random.h"

gx_random gx_random_new(uint64_t seed, uint64_t stream) {
    gx_random maker = { seed, UINT64_C(0x9e3779b97f4a7c15) };
    for (uint64_t i = 0; i < 2; i++) maker.state = gx_random_next(&maker) ^ stream;
    gx_random made = { gx_random_next(&maker), gx_random_next(&maker) | 1 };
    /* A gamma with few changes between bits mixes badly; the paper's remedy. */
    if (__builtin_popcountll(made.gamma ^ (made.gamma >> 1)) < 24) made.gamma ^= UINT64_C(0xaaaaaaaaaaaaaaaa);
    return made;
}
