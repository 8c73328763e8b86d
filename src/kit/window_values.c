/* Cells that keep a value: the first, the last. By the time that tuples carry where windows go by it, else by when they came;
 * of one time the first and the last that came. Text, lists and maps lie in blocks that panes share, because combined panes
 * name the values of others. */
#include "kit/window_cell.h"
#include "tuple/key.h"

typedef struct block {
    uint32_t owners;
    uint32_t size;
    char key[]; /* tuple/key.h */
} block;

typedef struct value_cell {
    int64_t time;
    union {
        int64_t bits;
        block *block;
    } as;
    uint64_t type; /* GALE_TYPE_NULL: none */
} value_cell;

static bool is_block(uint64_t type) {
    return type >= GALE_TYPE_STRING;
}

static void give_back(gx_heap *heap, block *b) {
    if (!--b->owners) gx_free(heap, GX_TAG_OTHER, b, sizeof *b + b->size);
}

static void value_drop(gx_heap *heap, void *pane) {
    value_cell *cell = pane;
    if (is_block(cell->type)) give_back(heap, cell->as.block);
    *cell = (value_cell){ .type = GALE_TYPE_NULL };
}

static int make_block(gx_window_work *work, const gale_value *value) {
    gale_str key;
    int rc = gx_key_of(value, &work->scratch, &key);
    if (rc < 0) return rc;
    block *made = gx_alloc(work->heap, GX_TAG_OTHER, sizeof *made + key.size);
    if (!made) return GALE_NO_MEMORY;
    made->owners = 1;
    made->size = (uint32_t)key.size;
    memcpy(made->key, key.data, key.size);
    work->block = made;
    return GALE_OK;
}

static bool is_wanted_first(const gx_window_work *work) {
    const value_cell *cell = work->pane;
    return !cell->type || work->time < cell->time;
}

static bool is_wanted_last(const gx_window_work *work) {
    const value_cell *cell = work->pane;
    return !cell->type || work->time >= cell->time;
}

static int first_ready(gx_window_work *work, const gale_value *value) {
    return is_block(value->type) && is_wanted_first(work) ? make_block(work, value) : GALE_OK;
}

static int last_ready(gx_window_work *work, const gale_value *value) {
    return is_block(value->type) && is_wanted_last(work) ? make_block(work, value) : GALE_OK;
}

static void value_unready(gx_window_work *work) {
    if (work->block) give_back(work->heap, work->block);
    work->block = NULL;
}

static void set(gx_window_work *work, const gale_value *value) {
    value_cell *cell = work->pane;
    value_drop(work->heap, cell);
    cell->time = work->time;
    cell->type = value->type;
    if (is_block(value->type))
        cell->as.block = work->block;
    else
        memcpy(&cell->as.bits, &value->as, sizeof cell->as.bits);
    work->block = NULL;
}

static void first_take(gx_window_work *work, const gale_value *value) {
    if (is_wanted_first(work)) set(work, value);
}

static void last_take(gx_window_work *work, const gale_value *value) {
    if (is_wanted_last(work)) set(work, value);
}

static void share(value_cell *to, const value_cell *from) {
    *to = *from;
    if (is_block(to->type)) to->as.block->owners++;
}

static void first_append(gx_heap *heap, void *to, const void *from) {
    (void)heap;
    if (!((value_cell *)to)->type) share(to, from);
}

static void last_append(gx_heap *heap, void *to, const void *from) {
    if (!((const value_cell *)from)->type) return;
    value_drop(heap, to);
    share(to, from);
}

static gale_value value_of(const value_cell *cell) {
    if (is_block(cell->type)) return gx_key_value((gale_str){ cell->as.block->key, cell->as.block->size });
    gale_value value = gale_null();
    value.type = (uint8_t)cell->type;
    memcpy(&value.as, &cell->as.bits, sizeof cell->as.bits);
    return value;
}

static int value_tell(gx_window_work *work, const gx_window_call *call, gale_value *ret_value) {
    (void)call;
    *ret_value = value_of(work->pane);
    return GALE_OK;
}

static int value_save(gx_window_work *work, gale_value *values) {
    const value_cell *cell = work->pane;
    values[0] = gale_i64(cell->time);
    values[1] = value_of(cell);
    return GALE_OK;
}

static int value_load(gx_window_work *work, const gale_value *values) {
    if (values[0].type != GALE_TYPE_I64) return GALE_DAMAGED;
    if (values[1].type == GALE_TYPE_NULL) return GALE_OK;
    int rc = is_block(values[1].type) ? make_block(work, &values[1]) : GALE_OK;
    if (rc < 0) return rc;
    work->time = values[0].as.i64;
    set(work, &values[1]);
    return GALE_OK;
}

const gx_window_kind gx_window_first = {
    .pane_size = sizeof(value_cell),
    .saved = 2,
    .ready = first_ready,
    .unready = value_unready,
    .take = first_take,
    .append = first_append,
    .drop = value_drop,
    .tell = value_tell,
    .save = value_save,
    .load = value_load,
};

const gx_window_kind gx_window_last = {
    .pane_size = sizeof(value_cell),
    .saved = 2,
    .ready = last_ready,
    .unready = value_unready,
    .take = last_take,
    .append = last_append,
    .drop = value_drop,
    .tell = value_tell,
    .save = value_save,
    .load = value_load,
};
