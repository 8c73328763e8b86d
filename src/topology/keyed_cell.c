#include "topology/keyed_cell.h"

#include "tuple/body.h"
#include "tuple/flat.h"

#define TAG GX_TAG_OTHER

/* An entry of the map with its share of the index. */
enum { CELL_COST = 24 + sizeof(gx_cell) + 16, LONG_KEY_HEAD = 8, BLOCK_STEP = 32 };

bool gx_cells_init(gx_cells *cells, gx_heap *heap, uint64_t seed, bool durable, uint64_t *used) {
    *cells = (gx_cells){ .heap = heap, .durable = durable, .used = used };
    cells->map = gx_bytes_map_new(heap, sizeof(gx_cell), seed);
    return cells->map != NULL;
}

static bool has_block(const gx_cell *cell) {
    return gx_is_within(cell->type, GALE_TYPE_STRING, GX_CELL_GONE - GALE_TYPE_STRING);
}

void gx_cells_fini(gx_cells *cells) {
    for (size_t i = 0; cells->map && i < gx_cells_count(cells); i++) {
        gx_cell *cell = gx_cells_at(cells, i, NULL);
        if (has_block(cell)) gx_free(cells->heap, TAG, cell->as.block, cell->room);
    }
    gx_bytes_map_free(cells->map);
    gx_free(cells->heap, TAG, cells->changed, cells->changed_capacity * sizeof *cells->changed);
    *cells = (gx_cells){ .heap = cells->heap };
}

/* Beside the block. */
static size_t cost_of(gale_str key) {
    return CELL_COST + (key.size > GX_SHORT_TEXT_MAX ? LONG_KEY_HEAD + gx_align_up(key.size, 8) : 0);
}

gx_cell *gx_cells_make(gx_cells *cells, gale_str key) {
    bool made;
    gx_cell *cell = gx_bytes_map_put(cells->map, key, &made);
    if (!cell || !made) return cell;
    cell->type = GX_CELL_GONE;
    if (!cells->durable) cell->flags = GX_CELL_CHANGED;
    *cells->used += cost_of(key);
    return cell;
}

static void free_block(gx_cells *cells, gx_cell *cell) {
    if (!has_block(cell)) return;
    gx_free(cells->heap, TAG, cell->as.block, cell->room);
    *cells->used -= cell->room;
    cell->room = 0;
}

/* A block for so many bytes; one that is not much larger stays. */
static bool fit(gx_cells *cells, gx_cell *cell, size_t size) {
    size_t room = gx_align_up(size, BLOCK_STEP);
    if (has_block(cell) && cell->room >= size && cell->room / 4 <= room) return true;
    char *block = gx_alloc(cells->heap, TAG, room);
    if (!block) return false;
    free_block(cells, cell);
    cell->as.block = block;
    cell->room = (uint32_t)room;
    *cells->used += room;
    return true;
}

int gx_cells_fill(gx_cells *cells, gx_cell *cell, const gx_packed *value, int64_t expiry) {
    bool block = value->type >= GALE_TYPE_STRING;
    if (block && !fit(cells, cell, value->body.size)) return GALE_NO_MEMORY;
    if (block) {
        memcpy(cell->as.block, value->body.data, value->body.size);
    } else {
        free_block(cells, cell);
        cell->as.bits = value->bits;
    }
    cell->type = value->type;
    cell->expiry = expiry;
    cell->flags &= (uint8_t)~GX_CELL_EXPIRES;
    if (expiry) cell->flags |= GX_CELL_EXPIRES;
    return GALE_OK;
}

static bool may_note(gx_cells *cells, const gx_cell *cell) {
    if (cell->flags & GX_CELL_CHANGED) return true;
    size_t needed = cells->changed_count + 1;
    return gx_grow(cells->heap, TAG, &cells->changed, &cells->changed_capacity, needed, sizeof *cells->changed);
}

static void note(gx_cells *cells, gx_cell *cell) {
    if (cell->flags & GX_CELL_CHANGED) return;
    cell->flags = (uint8_t)((cell->flags & GX_CELL_EXPIRES) | GX_CELL_CHANGED);
    cell->where = cells->changed_count;
    cells->changed[cells->changed_count++] = (uint32_t)gx_bytes_map_index(cells->map, cell);
}

int gx_cells_set(gx_cells *cells, gx_cell *cell, const gx_packed *value, int64_t expiry) {
    if (!may_note(cells, cell)) return GALE_NO_MEMORY;
    int rc = gx_cells_fill(cells, cell, value, expiry);
    if (rc == GALE_OK) note(cells, cell);
    return rc;
}

/* The last cell takes the place of this one; the list of changes has to know. */
static void take_out(gx_cells *cells, size_t number) {
    gale_str key;
    gx_cell *cell = gx_cells_at(cells, number, &key);
    const gx_cell *last = gx_cells_at(cells, gx_cells_count(cells) - 1, NULL);
    if (cells->durable && last->flags & GX_CELL_CHANGED) cells->changed[last->where] = (uint32_t)number;
    free_block(cells, cell);
    *cells->used -= cost_of(key);
    gx_bytes_map_remove_at(cells->map, number);
}

int gx_cells_forget(gx_cells *cells, gx_cell *cell) {
    if (!cells->durable) {
        take_out(cells, gx_bytes_map_index(cells->map, cell));
        return GALE_OK;
    }
    if (!may_note(cells, cell)) return GALE_NO_MEMORY;
    free_block(cells, cell);
    cell->type = GX_CELL_GONE;
    cell->flags &= (uint8_t)~GX_CELL_EXPIRES;
    note(cells, cell);
    return GALE_OK;
}

void gx_cells_drop(gx_cells *cells, size_t number) {
    GX_CHECK(!cells->durable || !(gx_cells_at(cells, number, NULL)->flags & GX_CELL_CHANGED));
    take_out(cells, number);
}

void gx_cells_cut(gx_cells *cells, uint64_t checkpoint) {
    for (size_t i = 0; i < cells->changed_count; i++) {
        gx_cell *cell = gx_cells_at(cells, cells->changed[i], NULL);
        cell->flags = (uint8_t)((cell->flags & GX_CELL_EXPIRES) | GX_CELL_USED);
        cell->where = checkpoint;
    }
    cells->changed_count = 0;
}

/* --- Values --- */

gx_packed gx_cell_packed(const gx_cell *cell) {
    if (!has_block(cell)) return (gx_packed){ .type = cell->type, .bits = cell->as.bits };
    return (gx_packed){ .type = cell->type, .body = { cell->as.block, gx_body_size((gale_body *)cell->as.block) } };
}

gale_value gx_packed_value(const gx_packed *packed) {
    if (packed->type >= GALE_TYPE_STRING) return gx_value_unpack(packed->body);
    gale_value value = { .type = packed->type };
    memcpy(&value.as, &packed->bits, sizeof packed->bits);
    return value;
}

int gx_packed_make(const gale_value *value, gx_buf *scratch, gx_packed *ret_packed) {
    *ret_packed = (gx_packed){ .type = value->type };
    if (value->type < GALE_TYPE_STRING) {
        ret_packed->bits = gx_flat_scalar(value);
        return GALE_OK;
    }
    gx_buf_reset(scratch);
    int rc = gx_value_pack(value, scratch);
    if (rc < 0) return rc;
    ret_packed->body = (gale_str){ scratch->data, scratch->size };
    return gx_body_valid(scratch->data, scratch->size) ? GALE_OK : GALE_INVALID;
}

/* --- Checks --- */

const char *gx_cells_flaw(const gx_cells *cells) {
    size_t changed = 0;
    for (size_t i = 0; i < gx_cells_count(cells); i++) {
        const gx_cell *cell = gx_cells_at(cells, i, NULL);
        if (!cells->durable || !(cell->flags & GX_CELL_CHANGED)) continue;
        changed++;
        if (cell->where >= cells->changed_count || cells->changed[cell->where] != i)
            return "a cell that changed is not where the list says";
    }
    if (changed != cells->changed_count) return "the list of changes is not as long as there are cells that changed";
    return gx_bytes_map_flaw(cells->map);
}
