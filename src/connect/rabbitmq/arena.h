/* Memory that goes all at once: what belongs to one message.
 * Threads: one at a time. Owner: who has it calls rmq_arena_free. Limits: what it was given at the start. */
#ifndef GALE_CONNECT_RABBITMQ_ARENA_H
#define GALE_CONNECT_RABBITMQ_ARENA_H

#include <gale/value.h>

typedef struct rmq_block rmq_block;

typedef struct rmq_arena {
    rmq_block *blocks;
    size_t left;  /* so many bytes it may have still */
    bool starved; /* memory was out once */
} rmq_arena;

/* Aligned for anything, and not zero. NULL: memory is out, or it has had all that it may. */
void *rmq_arena_take(rmq_arena *arena, size_t size);
void rmq_arena_free(rmq_arena *arena);

/* A copy that lasts as long as the arena. False: as above. */
bool rmq_arena_copy(rmq_arena *arena, const void *data, size_t size, gale_str *ret_copy);

#endif
