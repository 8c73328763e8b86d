#include "sim/outside.h"

#include <string.h>

void gx_outside_init(gx_outside *outside) {
    *outside = (gx_outside){ .count = 0 };
    gx_heap_init(&outside->heap, NULL);
}

void gx_outside_fini(gx_outside *outside) {
    for (size_t i = 0; i < outside->count; i++) gx_buf_fini(&outside->parts[i].effects);
    gx_free(&outside->heap, GX_TAG_OTHER, outside->parts, outside->capacity * sizeof *outside->parts);
}

gx_part *gx_outside_find(const gx_outside *outside, uint32_t component, uint32_t task, uint64_t checkpoint) {
    for (size_t i = 0; i < outside->count; i++) {
        gx_part *part = &outside->parts[i];
        if (part->component == component && part->task == task && part->checkpoint == checkpoint) return part;
    }
    return NULL;
}

static gx_part *make(gx_outside *outside, uint32_t component, uint32_t task, uint64_t checkpoint) {
    if (!gx_grow(&outside->heap, GX_TAG_OTHER, &outside->parts, &outside->capacity, outside->count + 1,
                 sizeof *outside->parts))
        return NULL;
    gx_part *part = &outside->parts[outside->count++];
    *part = (gx_part){ component, task, checkpoint, false, GX_BUF_INIT(NULL) };
    return part;
}

int gx_outside_prepare(gx_outside *outside, uint32_t component, uint32_t task, uint64_t checkpoint,
                       const gx_buf *effects) {
    gx_part *part = gx_outside_find(outside, component, task, checkpoint);
    if (part && part->committed) return GALE_EXISTS;
    if (!part) part = make(outside, component, task, checkpoint);
    if (!part) return GALE_NO_MEMORY;
    gx_buf_reset(&part->effects);
    gx_buf_add(&part->effects, effects->data, effects->size);
    return part->effects.failed ? GALE_NO_MEMORY : GALE_OK;
}

void gx_outside_undo(gx_outside *outside, uint32_t component, uint32_t task) {
    for (size_t i = outside->count; i-- > 0;) {
        gx_part *part = &outside->parts[i];
        if (part->component != component || part->task != task || part->committed) continue;
        gx_buf_fini(&part->effects);
        *part = outside->parts[--outside->count];
    }
}

gx_part *gx_outside_file(gx_outside *outside, uint32_t component, uint32_t task) {
    gx_part *file = gx_outside_find(outside, component, task, 0);
    if (!file) file = make(outside, component, task, 0);
    if (file) file->committed = true;
    return file;
}
