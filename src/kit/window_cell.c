#include "kit/window_cell.h"

#include "base/bits.h"

static const gx_window_kind *const kinds[] = {
    [GX_WINDOW_COUNT] = &gx_window_counts,
    [GX_WINDOW_SUM] = &gx_window_sums,
    [GX_WINDOW_AVG] = &gx_window_sums,
    [GX_WINDOW_MIN] = &gx_window_least,
    [GX_WINDOW_MAX] = &gx_window_largest,
    [GX_WINDOW_FIRST] = &gx_window_first,
    [GX_WINDOW_LAST] = &gx_window_last,
    [GX_WINDOW_DISTINCT] = &gx_window_different,
    [GX_WINDOW_PERCENTILE] = &gx_window_percentiles,
    [GX_WINDOW_TOP] = &gx_window_tops,
};

static bool is_same(const gx_window_cell *cell, const gx_window_kind *kind, const gx_window_call *call) {
    return cell->kind == kind && cell->field == call->field && cell->weighted == call->weighted &&
           cell->weight == call->weight;
}

static uint32_t cell_for(gx_window_plan *plan, const gx_window_call *call, uint32_t exact, uint32_t counters) {
    const gx_window_kind *kind = kinds[call->function];
    for (uint32_t i = 0; i < plan->cell_count; i++)
        if (is_same(&plan->cells[i], kind, call)) return i;
    plan->cells[plan->cell_count] = (gx_window_cell){
        .kind = kind,
        .has_field = call->has_field,
        .weighted = call->weighted,
        .field = call->field,
        .weight = call->weight,
        .pane_at = plan->pane_size,
        .total_at = plan->total_size,
        .limit = call->function == GX_WINDOW_TOP ? counters : exact,
    };
    plan->pane_size += kind->pane_size;
    plan->total_size += (uint32_t)gx_align_up(kind->total_size, 16);
    plan->saved += kind->saved;
    plan->is_combined |= kind->append != NULL;
    return plan->cell_count++;
}

void gx_window_plan_make(gx_window_plan *plan, const gx_window_spec *spec, uint32_t exact, uint32_t counters) {
    *plan = (gx_window_plan){ .pane_size = sizeof(gx_window_pane), .total_size = sizeof(gx_window_total) };
    for (uint32_t i = 0; i < spec->count; i++) {
        const gx_window_call *call = &spec->calls[i];
        bool tuples = call->function == GX_WINDOW_COUNT && !call->has_field;
        plan->cell_of[i] = tuples ? UINT8_MAX : (uint8_t)cell_for(plan, call, exact, counters);
    }
}
