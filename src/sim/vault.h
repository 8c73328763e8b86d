/* A store (gale/store.h) in memory that outlives the process: what was committed is there in the next life, all of a commit
 * or nothing; what was only put is not. A dead process changes nothing more.
 * Threads: one. Owner: memory is the C library's. */
#ifndef GX_SIM_VAULT_H
#define GX_SIM_VAULT_H

#include "sim/death.h"

#include <gale/store.h>

typedef struct gx_vault_pair {
    gx_buf key, value;
    bool gone; /* of a batch: it is removed */
} gx_vault_pair;

/* In the order of the keys. */
typedef struct gx_vault_pairs {
    gx_vault_pair *list;
    size_t count, capacity;
} gx_vault_pairs;

typedef struct gx_vault {
    gx_heap heap;
    gx_death *death;
    gx_vault_pairs now, batch;
    uint64_t commits;
} gx_vault;

void gx_vault_init(gx_vault *vault, gx_death *death);
void gx_vault_fini(gx_vault *vault);

/* Its table, for one life. What the life before had not committed is forgotten. */
gale_store gx_vault_open(gx_vault *vault);

#endif
