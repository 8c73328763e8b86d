/* Stands before every C file of the build `mutate` (-include): which mutation is switched on, which were come by. */
#ifndef GX_MUTATION_H
#define GX_MUTATION_H

enum { GX_MUTATIONS_MAX = 4096 };

extern int gx_mutation_on;
extern char gx_mutation_reached[GX_MUTATIONS_MAX];

static inline int gx_mutation(int number) {
    __atomic_store_n(&gx_mutation_reached[number], 1, __ATOMIC_RELAXED);
    return gx_mutation_on == number;
}

#endif
