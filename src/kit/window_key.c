#include "kit/window_key.h"

#include "base/assert.h"
#include "base/bits.h"

#include <string.h>

#define TAG GX_TAG_OTHER

/* --- What is combined ------------------------------------------------------------------------------------------------- */

static void append_pane(const void *user, void *to, const void *from) {
    const gx_window_panes *panes = user;
    for (uint32_t i = 0; i < panes->plan->cell_count; i++) {
        const gx_window_cell *cell = &panes->plan->cells[i];
        if (!cell->kind->append) continue;
        cell->kind->append(panes->heap, (char *)to + cell->pane_at, (const char *)from + cell->pane_at);
    }
}

static void drop_pane(const void *user, void *pane) {
    const gx_window_panes *panes = user;
    for (uint32_t i = 0; i < panes->plan->cell_count; i++) {
        const gx_window_cell *cell = &panes->plan->cells[i];
        if (cell->kind->drop) cell->kind->drop(panes->heap, (char *)pane + cell->pane_at);
    }
}

int gx_window_panes_init(gx_window_panes *panes, gx_heap *heap, const gx_window_plan *plan, const gx_window_spec *spec,
                         gx_window_shape shape) {
    *panes = (gx_window_panes){ .heap = heap, .plan = plan, .spec = spec, .shape = shape };
    bool combines = plan->is_combined && !gx_window_tumbles(&shape);
    panes->how = (gx_window_combine){ combines ? append_pane : NULL, drop_pane, panes, plan->pane_size };
    for (uint32_t i = 0; i < plan->cell_count; i++)
        panes->works[i] = (gx_window_work){ .cell = &plan->cells[i], .heap = heap, .scratch = GX_BUF_INIT(heap) };
    for (uint32_t i = 0; i < spec->count; i++) panes->rows[i] = (gx_buf)GX_BUF_INIT(heap);
    panes->sum = gx_alloc(heap, TAG, plan->pane_size);
    return panes->sum ? GALE_OK : GALE_NO_MEMORY;
}

void gx_window_panes_fini(gx_window_panes *panes) {
    if (!panes->plan) return;
    for (uint32_t i = 0; i < panes->plan->cell_count; i++) gx_buf_fini(&panes->works[i].scratch);
    for (uint32_t i = 0; i < panes->spec->count; i++) gx_buf_fini(&panes->rows[i]);
    gx_free(panes->heap, TAG, panes->sum, panes->plan->pane_size);
    panes->sum = NULL;
}

/* --- A key ------------------------------------------------------------------------------------------------------------ */

enum { TOTAL_AT = (sizeof(gx_window_key) + 15) & ~15 };

static gx_window_total *total_of(gx_window_key *key) {
    return (gx_window_total *)(void *)((char *)key + TOTAL_AT);
}

gx_window_key *gx_window_key_new(const gx_window_panes *panes) {
    return gx_alloc(panes->heap, TAG, TOTAL_AT + panes->plan->total_size);
}

static gx_window_work *work_at(gx_window_panes *panes, gx_window_key *key, void *pane, uint32_t cell) {
    gx_window_work *work = &panes->works[cell];
    gx_window_work_at(work, pane, total_of(key));
    return work;
}

/* What it points to alone. */
static void forget_pane(gx_window_panes *panes, gx_window_key *key, void *pane) {
    for (uint32_t i = 0; i < panes->plan->cell_count; i++) {
        const gx_window_kind *kind = panes->plan->cells[i].kind;
        if (kind->forget) kind->forget(work_at(panes, key, pane, i));
    }
}

void gx_window_key_free(gx_window_panes *panes, gx_window_key *key) {
    if (!key) return;
    for (uint32_t i = 0; i < gx_window_queue_count(&key->queue); i++) {
        void *pane = gx_window_queue_at(&key->queue, &panes->how, i);
        forget_pane(panes, key, pane);
        drop_pane(panes, pane);
    }
    for (uint32_t i = 0; i < panes->plan->cell_count; i++) {
        const gx_window_kind *kind = panes->plan->cells[i].kind;
        if (kind->end) kind->end(work_at(panes, key, panes->sum, i));
    }
    gx_window_queue_fini(&key->queue, &panes->how, panes->heap);
    gx_free(panes->heap, TAG, key, TOTAL_AT + panes->plan->total_size);
}

gx_window_pane *gx_window_key_pane(const gx_window_panes *panes, gx_window_key *key, int64_t start) {
    gx_window_pane *pane = gx_window_queue_find(&key->queue, &panes->how, start);
    return GX_LIKELY(pane != NULL) ? pane : gx_window_queue_make(&key->queue, &panes->how, panes->heap, start);
}

void gx_window_key_unmake(gx_window_panes *panes, gx_window_key *key, gx_window_pane *pane) {
    forget_pane(panes, key, pane); /* room was made in it */
    gx_window_queue_unmake(&key->queue, &panes->how, pane->start);
}

/* --- A tuple ---------------------------------------------------------------------------------------------------------- */

/* What has no value, or no weight. */
static bool is_left_out(const gx_window_cell *cell, const gale_value *values) {
    if (values[cell->field].type == GALE_TYPE_NULL) return true;
    if (GX_LIKELY(!cell->weighted)) return false;
    const gale_value *weight = &values[cell->weight];
    return weight->type == GALE_TYPE_NULL || (weight->type == GALE_TYPE_I64 && !weight->as.i64);
}

static int weigh(gx_window_work *work, const gale_value *values) {
    work->more = 1;
    if (GX_LIKELY(!work->cell->weighted)) return GALE_OK;
    const gale_value *weight = &values[work->cell->weight];
    if (weight->type != GALE_TYPE_I64 || weight->as.i64 < 0) return GALE_TYPE;
    work->more = (uint64_t)weight->as.i64;
    return GALE_OK;
}

static int make_ready(gx_window_work *work, const gale_value *values, int64_t time) {
    work->time = time;
    int rc = weigh(work, values);
    if (rc < 0) return rc;
    rc = work->cell->kind->ready(work, &values[work->cell->field]);
    if (rc < 0 && work->cell->kind->unready) work->cell->kind->unready(work);
    return rc;
}

static void unready(gx_window_panes *panes, const gale_value *values, uint32_t cells) {
    for (uint32_t i = 0; i < cells; i++) {
        const gx_window_cell *cell = &panes->plan->cells[i];
        if (!cell->kind->unready || is_left_out(cell, values)) continue;
        cell->kind->unready(&panes->works[i]);
    }
}

int gx_window_key_take(gx_window_panes *panes, gx_window_key *key, gx_window_pane *pane, const gale_value *values,
                       int64_t time) {
    uint32_t count = panes->plan->cell_count;
    if (GX_UNLIKELY(pane->tuples == GX_WINDOW_PANE_TUPLES)) return GALE_TOO_LARGE;
    for (uint32_t i = 0; i < count; i++) {
        gx_window_work *work = work_at(panes, key, pane, i);
        if (is_left_out(work->cell, values)) continue;
        int rc = make_ready(work, values, time);
        if (GX_LIKELY(rc >= 0)) continue;
        panes->wrong = i;
        unready(panes, values, i);
        return rc;
    }
    for (uint32_t i = 0; i < count; i++) {
        const gx_window_cell *cell = &panes->plan->cells[i];
        if (!is_left_out(cell, values)) cell->kind->take(&panes->works[i], &values[cell->field]);
    }
    pane->tuples++;
    return GALE_OK;
}

/* --- What panes are together ------------------------------------------------------------------------------------------ */

/* Out of the total, as far as its first cells are in. */
static void leave(gx_window_panes *panes, gx_window_key *key, gx_window_pane *pane, uint32_t cells) {
    for (uint32_t i = 0; i < cells; i++) {
        const gx_window_kind *kind = panes->plan->cells[i].kind;
        if (kind->leave) kind->leave(work_at(panes, key, pane, i));
    }
}

static int enter(gx_window_panes *panes, gx_window_key *key, gx_window_pane *pane) {
    for (uint32_t i = 0; i < panes->plan->cell_count; i++) {
        const gx_window_kind *kind = panes->plan->cells[i].kind;
        if (!kind->enter || kind->enter(work_at(panes, key, pane, i))) continue;
        leave(panes, key, pane, i);
        return GALE_NO_MEMORY;
    }
    total_of(key)->tuples += pane->tuples;
    return GALE_OK;
}

static int close_one(gx_window_panes *panes, gx_window_key *key, gx_window_pane *pane) {
    int rc = panes->hooks.close ? panes->hooks.close(panes->hooks.user, key, pane) : GALE_OK;
    if (rc < 0) return rc;
    for (uint32_t i = 0; i < panes->plan->cell_count; i++) {
        const gx_window_kind *kind = panes->plan->cells[i].kind;
        if (kind->close) kind->close(work_at(panes, key, pane, i));
    }
    rc = enter(panes, key, pane);
    if (rc >= 0) gx_window_queue_close(&key->queue, &panes->how);
    return rc;
}

int gx_window_key_close(gx_window_panes *panes, gx_window_key *key, int64_t end) {
    int rc = GALE_OK;
    while (rc >= 0) {
        uint32_t closed = gx_window_queue_closed(&key->queue);
        if (closed == gx_window_queue_count(&key->queue)) return rc;
        gx_window_pane *pane = gx_window_queue_at(&key->queue, &panes->how, closed);
        if (pane->start >= end) return rc;
        rc = close_one(panes, key, pane);
    }
    return rc;
}

static void refit(gx_window_panes *panes, gx_window_key *key) {
    for (uint32_t i = 0; i < panes->plan->cell_count; i++) {
        const gx_window_kind *kind = panes->plan->cells[i].kind;
        if (kind->refit) kind->refit(work_at(panes, key, panes->sum, i), &key->queue, &panes->how);
    }
}

static int drop_one(gx_window_panes *panes, gx_window_key *key, gx_window_pane *pane) {
    int rc = panes->hooks.drop ? panes->hooks.drop(panes->hooks.user, key, pane->start) : GALE_OK;
    if (rc < 0) return rc;
    leave(panes, key, pane, panes->plan->cell_count);
    total_of(key)->tuples -= pane->tuples;
    forget_pane(panes, key, pane);
    gx_window_queue_drop(&key->queue, &panes->how, panes->heap);
    return rc;
}

int gx_window_key_drop(gx_window_panes *panes, gx_window_key *key, int64_t start) {
    bool dropped = false;
    int rc = GALE_OK;
    while (rc >= 0 && gx_window_queue_closed(&key->queue)) {
        gx_window_pane *pane = gx_window_queue_at(&key->queue, &panes->how, 0);
        if (pane->start >= start) break;
        rc = drop_one(panes, key, pane);
        dropped |= rc >= 0;
    }
    if (dropped) refit(panes, key);
    return rc;
}

/* --- A row ------------------------------------------------------------------------------------------------------------ */

/* The open pane behind `before` others, if it begins before `end`. */
static gx_window_pane *open_pane(const gx_window_panes *panes, const gx_window_key *key, uint32_t before, int64_t end) {
    uint32_t place = gx_window_queue_closed(&key->queue) + before;
    if (place >= gx_window_queue_count(&key->queue)) return NULL;
    gx_window_pane *pane = gx_window_queue_at(&key->queue, &panes->how, place);
    return pane->start < end ? pane : NULL;
}

static int tell_calls(gx_window_panes *panes, gx_window_key *key, gale_value *values, uint32_t *ret_overflow) {
    for (uint32_t i = 0; i < panes->spec->count; i++) {
        uint8_t cell = panes->plan->cell_of[i];
        if (cell == UINT8_MAX) {
            values[i] = gale_i64((int64_t)total_of(key)->tuples);
            continue;
        }
        gx_window_work *work = work_at(panes, key, panes->sum, cell);
        work->rows = &panes->rows[i];
        int rc = work->cell->kind->tell(work, &panes->spec->calls[i], &values[i]);
        if (rc < 0) return rc;
        if (work->overflow) *ret_overflow = i;
        work->overflow = false;
    }
    return GALE_OK;
}

static void leave_open(gx_window_panes *panes, gx_window_key *key, uint32_t count, int64_t end) {
    for (uint32_t i = 0; i < count; i++) {
        gx_window_pane *pane = open_pane(panes, key, i, end);
        leave(panes, key, pane, panes->plan->cell_count);
        total_of(key)->tuples -= pane->tuples;
    }
    drop_pane(panes, panes->sum);
    memset(panes->sum, 0, panes->plan->pane_size);
}

/* Where panes are not combined in the queue, there is one at most. */
static void read_closed(gx_window_panes *panes, gx_window_key *key) {
    if (panes->how.append || !panes->plan->is_combined)
        gx_window_queue_read(&key->queue, &panes->how, panes->sum);
    else if (gx_window_queue_closed(&key->queue))
        append_pane(panes, panes->sum, gx_window_queue_at(&key->queue, &panes->how, 0));
}

int gx_window_key_tell(gx_window_panes *panes, gx_window_key *key, int64_t end, gale_value *values,
                       uint32_t *ret_overflow) {
    uint32_t entered = 0;
    int rc = GALE_OK;
    *ret_overflow = UINT32_MAX;
    read_closed(panes, key);
    for (gx_window_pane *pane; rc >= 0 && (pane = open_pane(panes, key, entered, end)) != NULL;) {
        rc = enter(panes, key, pane);
        if (rc < 0) break;
        append_pane(panes, panes->sum, pane);
        entered++;
    }
    if (rc >= 0) rc = tell_calls(panes, key, values, ret_overflow);
    if (rc < 0) leave_open(panes, key, entered, end);
    return rc;
}

void gx_window_key_done(gx_window_panes *panes, gx_window_key *key, int64_t end) {
    uint32_t entered = 0;
    while (open_pane(panes, key, entered, end)) entered++;
    leave_open(panes, key, entered, end);
}

/* --- What lasts -------------------------------------------------------------------------------------------------------- */

int gx_window_key_save(gx_window_panes *panes, gx_window_key *key, gx_window_pane *pane, gale_value *values) {
    int rc = GALE_OK;
    *values++ = gale_i64(pane->tuples);
    for (uint32_t i = 0; rc >= 0 && i < panes->plan->cell_count; i++) {
        gx_window_work *work = work_at(panes, key, pane, i);
        rc = work->cell->kind->save(work, values);
        values += work->cell->kind->saved;
    }
    return rc;
}

int gx_window_key_load(gx_window_panes *panes, gx_window_key *key, gx_window_pane *pane, const gale_value *values) {
    int rc = GALE_OK;
    if (values->type != GALE_TYPE_I64 || values->as.i64 < 1 || values->as.i64 > GX_WINDOW_PANE_TUPLES)
        return GALE_DAMAGED;
    pane->tuples = pane->saved = (uint32_t)values++->as.i64;
    for (uint32_t i = 0; rc >= 0 && i < panes->plan->cell_count; i++) {
        gx_window_work *work = work_at(panes, key, pane, i);
        rc = work->cell->kind->load(work, values);
        values += work->cell->kind->saved;
    }
    return rc;
}
