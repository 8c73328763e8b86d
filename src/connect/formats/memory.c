#include "connect/formats/memory.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 16 << 10, ALIGNMENT = 16, LIST_MIN = 4 };

struct fmt_piece {
    fmt_piece *next;
    size_t room;
    _Alignas(ALIGNMENT) char data[];
};

static bool add_piece(fmt_memory *memory, size_t size) {
    size_t room = size > PIECE ? size : PIECE;
    memory->too_much = room > FMT_MEMORY_MAX - memory->total;
    fmt_piece *piece = memory->too_much ? NULL : malloc(sizeof *piece + room);
    if (!piece) return false;
    *piece = (fmt_piece){ .next = memory->first, .room = room };
    memory->first = piece;
    memory->used = 0;
    memory->total += room;
    return true;
}

void *fmt_memory_take(fmt_memory *memory, size_t size) {
    if (size > FMT_MEMORY_MAX) {
        memory->too_much = true;
        return NULL;
    }
    size = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    bool fits = memory->first && size <= memory->first->room - memory->used;
    if (!fits && !add_piece(memory, size)) return NULL;
    void *taken = memory->first->data + memory->used;
    memory->used += size;
    return memset(taken, 0, size);
}

gale_str fmt_memory_copy(fmt_memory *memory, const void *data, size_t size) {
    char *copy = size < FMT_MEMORY_MAX ? fmt_memory_take(memory, size + 1) : NULL;
    if (copy && size) memcpy(copy, data, size);
    return (gale_str){ copy, size };
}

void *fmt_memory_grow(fmt_memory *memory, const void *items, size_t count, size_t size) {
    bool is_full = count == 0 || (count >= LIST_MIN && (count & (count - 1)) == 0);
    if (!is_full) return (void *)(uintptr_t)items;
    void *moved = fmt_memory_take(memory, (count ? 2 * count : LIST_MIN) * size);
    if (moved && count) memcpy(moved, items, count * size);
    return moved;
}

int fmt_memory_error(const fmt_memory *memory) {
    return memory->too_much ? GALE_TOO_LARGE : GALE_NO_MEMORY;
}

void fmt_memory_reset(fmt_memory *memory) {
    while (memory->first && memory->first->next) {
        fmt_piece *piece = memory->first;
        memory->first = piece->next;
        free(piece);
    }
    memory->used = 0;
    memory->too_much = false;
    memory->total = memory->first ? memory->first->room : 0;
}

void fmt_memory_free(fmt_memory *memory) {
    fmt_memory_reset(memory);
    free(memory->first);
    *memory = (fmt_memory){ .first = NULL };
}
