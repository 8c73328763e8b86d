#include "connect/rabbitmq/arena.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 480, ALIGN = 16 }; /* with what stands before it: what malloc has at hand at once */

struct rmq_block {
    rmq_block *next;
    size_t used, size;
    _Alignas(ALIGN) char data[];
};

static rmq_block *add_block(rmq_arena *arena, size_t size) {
    if (size < BLOCK) size = BLOCK;
    rmq_block *block = malloc(sizeof *block + size);
    if (!block) return NULL;
    block->next = arena->blocks;
    block->used = 0;
    block->size = size;
    arena->blocks = block;
    return block;
}

void *rmq_arena_take(rmq_arena *arena, size_t size) {
    size_t whole = (size + ALIGN) / ALIGN * ALIGN;
    rmq_block *block = arena->blocks;
    if (size > arena->left || whole > arena->left) return NULL;
    if (!block || block->size - block->used < whole) block = add_block(arena, whole);
    if (!block) arena->starved = true;
    if (!block) return NULL;
    void *taken = block->data + block->used;
    block->used += whole;
    arena->left -= whole;
    return taken;
}

bool rmq_arena_copy(rmq_arena *arena, const void *data, size_t size, gale_str *ret_copy) {
    char *copy = rmq_arena_take(arena, size + 1);
    if (!copy) return false;
    if (size) memcpy(copy, data, size);
    copy[size] = '\0';
    *ret_copy = (gale_str){ copy, size };
    return true;
}

void rmq_arena_free(rmq_arena *arena) {
    while (arena->blocks) {
        rmq_block *block = arena->blocks;
        arena->blocks = block->next;
        free(block);
    }
}
