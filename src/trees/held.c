#include "trees/held.h"

#include "base/assert.h"

typedef struct held_copy {
    gale_tuple tuple;
    alignas(16) unsigned char row[];
} held_copy;

/* The row with everything in place after it is copied; blocks that it names get one more reference. */
static gx_block *copy(gx_blocks *blocks, const gale_tuple *tuple) {
    const gale_head *head = tuple->head;
    GX_CHECK(head->length >= sizeof *head);
    gx_block *block = gx_block_take(blocks, sizeof(held_copy) + head->length);
    if (!block) return NULL;
    held_copy *kept = (held_copy *)block->bytes;
    memcpy(kept->row, head, head->length);
    gale_head *mine = (gale_head *)kept->row;
    if (mine->roots == GX_ROOTS_IN_BLOCK) gx_block_ref(gx_row_pointer(mine + 1), 1);
    if (mine->flags & GX_ROW_BODY_IN_BLOCK) gx_block_ref(gx_row_pointer(gx_row_tail(mine)), 1);
    kept->tuple = *tuple;
    kept->tuple.head = mine;
    kept->tuple.body = gx_row_body(mine);
    return block;
}

static bool take_slot(gx_held *held, gx_heap *heap, uint32_t *ret_index) {
    if (held->free) {
        *ret_index = held->free - 1;
        GX_CHECK(!held->slots[*ret_index].copy);
        held->free = held->slots[*ret_index].next_free;
        return true;
    }
    if (held->made == GX_HELD_CURRENT) return false;
    if (!gx_grow(heap, GX_TAG_OTHER, &held->slots, &held->capacity, held->made + 1u, sizeof *held->slots)) return false;
    *ret_index = held->made++;
    return true;
}

int gx_held_add(gx_held *held, gx_heap *heap, gx_blocks *blocks, uint16_t task, const gale_tuple *tuple, uint64_t ack,
                uint32_t *ret_index) {
    gx_block *block = copy(blocks, tuple);
    if (!block) return GALE_NO_MEMORY;
    uint32_t index;
    if (!take_slot(held, heap, &index)) {
        gx_row_release(((held_copy *)block->bytes)->tuple.head, blocks);
        gx_block_release(block, blocks);
        return GALE_NO_MEMORY;
    }
    gx_held_slot *slot = &held->slots[index];
    slot->copy = block;
    slot->ack = ack;
    slot->failed = false;
    slot->sample.weight = 0;
    ((held_copy *)block->bytes)->tuple.handle = gx_handle(task, index, slot->generation);
    held->count++;
    *ret_index = index;
    return GALE_OK;
}

gx_held_slot *gx_held_find(gx_held *held, gale_handle handle) {
    uint32_t index = gx_handle_index(handle);
    if (index >= held->made) return NULL;
    gx_held_slot *slot = &held->slots[index];
    if (!slot->copy || (slot->generation & 0xffffff) != (handle & 0xffffff)) return NULL;
    return slot;
}

const gale_tuple *gx_held_tuple(const gx_held_slot *slot) {
    return &((const held_copy *)slot->copy->bytes)->tuple;
}

void gx_held_remove(gx_held *held, gx_blocks *blocks, uint32_t index) {
    GX_CHECK(index < held->made && held->count > 0);
    gx_held_slot *slot = &held->slots[index];
    GX_ASSERT(slot->copy != NULL);
    gx_row_release(gx_held_tuple(slot)->head, blocks);
    gx_block_release(slot->copy, blocks);
    slot->copy = NULL;
    slot->generation++;
    slot->next_free = held->free;
    held->free = index + 1;
    held->count--;
}

void gx_held_fini(gx_held *held, gx_heap *heap, gx_blocks *blocks) {
    for (uint32_t i = 0; i < held->made; i++)
        if (held->slots[i].copy) gx_held_remove(held, blocks, i);
    gx_free(heap, GX_TAG_OTHER, held->slots, held->capacity * sizeof *held->slots);
    memset(held, 0, sizeof *held);
}

const char *gx_held_flaw(const gx_held *held) {
    uint32_t used = 0, idle = 0;
    for (uint32_t i = 0; i < held->made; i++) used += held->slots[i].copy != NULL;
    for (uint32_t at = held->free; at; at = held->slots[at - 1].next_free)
        if (at > held->made || held->slots[at - 1].copy || idle++ > held->made) return "a held slot is free and in use";
    if (used != held->count) return "there are not as many tuples held as is said";
    return used + idle == held->made ? NULL : "a held slot is neither free nor in use";
}

/* --- After a start --- */

int gx_held_restore_slots(gx_held *held, gx_heap *heap, const void *generations, size_t count) {
    if (held->made || count >= GX_HELD_CURRENT) return GALE_DAMAGED;
    if (!count) return GALE_OK;
    if (!gx_grow(heap, GX_TAG_OTHER, &held->slots, &held->capacity, count, sizeof *held->slots)) return GALE_NO_MEMORY;
    memset(held->slots, 0, count * sizeof *held->slots);
    for (size_t i = 0; i < count; i++)
        memcpy(&held->slots[i].generation, (const char *)generations + i * sizeof(uint32_t), sizeof(uint32_t));
    held->made = (uint32_t)count;
    return GALE_OK;
}

int gx_held_restore(gx_held *held, gx_blocks *blocks, gale_handle handle, const gale_tuple *tuple, uint64_t ack,
                    bool failed) {
    uint32_t index = gx_handle_index(handle);
    if (index >= held->made || held->slots[index].copy) return GALE_DAMAGED;
    if (gx_handle_generation(handle) != (held->slots[index].generation & 0xffffff)) return GALE_DAMAGED;
    gx_held_slot *slot = &held->slots[index];
    slot->copy = copy(blocks, tuple);
    if (!slot->copy) return GALE_NO_MEMORY;
    slot->ack = ack;
    slot->failed = failed;
    slot->sample.weight = 0;
    ((held_copy *)slot->copy->bytes)->tuple.handle = handle;
    held->count++;
    return GALE_OK;
}

void gx_held_restored(gx_held *held) {
    held->free = 0;
    for (uint32_t i = held->made; i-- > 0;) {
        if (held->slots[i].copy) continue;
        held->slots[i].next_free = held->free;
        held->free = i + 1;
    }
}
