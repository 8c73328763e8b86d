#include "tuple/arena.h"

enum { BLOCK = 4096 - 64 };

struct gx_arena_block {
    gx_arena_block *next;
    size_t size;
};

static void free_blocks(gx_arena *arena, gx_arena_block *block) {
    while (block) {
        gx_arena_block *next = block->next;
        gx_free(arena->heap, GX_TAG_OTHER, block, sizeof *block + block->size);
        block = next;
    }
}

void gx_arena_reset(gx_arena *arena) {
    if (!arena->blocks) return;
    free_blocks(arena, arena->blocks->next);
    arena->blocks->next = NULL;
    arena->bytes = arena->blocks->size;
    arena->used = 0;
}

void gx_arena_fini(gx_arena *arena) {
    free_blocks(arena, arena->blocks);
    *arena = (gx_arena){ .heap = arena->heap };
}

gale_value *gx_arena_take(gx_arena *arena, size_t count, size_t most) {
    size_t size = count * sizeof(gale_value);
    if (!arena->blocks || arena->room - arena->used < size) {
        size_t room = size > BLOCK ? size : BLOCK;
        if (arena->bytes + room > most + BLOCK) return NULL;
        gx_arena_block *block = gx_alloc(arena->heap, GX_TAG_OTHER, sizeof *block + room);
        if (!block) return NULL;
        block->next = arena->blocks;
        block->size = room;
        arena->blocks = block;
        arena->bytes += room;
        arena->room = room;
        arena->used = 0;
    }
    gale_value *values = (gale_value *)((char *)(arena->blocks + 1) + arena->used);
    arena->used += size;
    return values;
}
