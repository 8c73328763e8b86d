/* What every tuple carries, in one number: who made it and which of its it is, the tree that it belongs to, and how
 * much may still come of it. So a stream of one value tells its receiver all that is to be checked. */
#ifndef TEST_RANDOM_THREADS_WORD_H
#define TEST_RANDOM_THREADS_WORD_H

#include <stdint.h>

/* A lane is who emits in order: a task (its number), or one thread's use of one remote. */
enum { RT_LANE_BITS = 9, RT_SEQ_BITS = 20, RT_ROOT_BITS = 16, RT_HOPS_BITS = 4, RT_ENERGY_BITS = 7, RT_KEY_BITS = 5 };
enum { RT_LANES = 1 << RT_LANE_BITS, RT_ROOT_NONE = (1 << RT_ROOT_BITS) - 1, RT_HOPS_MAX = (1 << RT_HOPS_BITS) - 1 };

typedef struct rt_word {
    uint32_t lane, seq;
    uint32_t root; /* RT_ROOT_NONE: of no tree that is known */
    uint32_t hops, energy, key;
} rt_word;

static inline int64_t rt_word_pack(rt_word w) {
    uint64_t bits = w.lane;
    bits = bits << RT_SEQ_BITS | w.seq;
    bits = bits << RT_ROOT_BITS | w.root;
    bits = bits << RT_HOPS_BITS | w.hops;
    bits = bits << RT_ENERGY_BITS | w.energy;
    return (int64_t)(bits << RT_KEY_BITS | w.key);
}

static inline uint32_t rt_word_take(uint64_t *bits, int count) {
    uint32_t field = (uint32_t)(*bits & ((UINT64_C(1) << count) - 1));
    *bits >>= count;
    return field;
}

static inline rt_word rt_word_unpack(int64_t packed) {
    uint64_t bits = (uint64_t)packed;
    rt_word w;
    w.key = rt_word_take(&bits, RT_KEY_BITS);
    w.energy = rt_word_take(&bits, RT_ENERGY_BITS);
    w.hops = rt_word_take(&bits, RT_HOPS_BITS);
    w.root = rt_word_take(&bits, RT_ROOT_BITS);
    w.seq = rt_word_take(&bits, RT_SEQ_BITS);
    w.lane = rt_word_take(&bits, RT_LANE_BITS);
    return w;
}

#endif
