/* Cells of numbers: how many are not null, sums, the least, the largest.
 *
 * Sums of i64 are exact, in 96 bits a pane and 128 a window. Sums of f64 carry what each addition rounds off along
 * (Neumaier: Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen, ZAMM 54, 1974), and nothing is ever
 * subtracted from them: what was told of n numbers is off by at most 2^-53 of itself and n^2 2^-106 of the sum of their sizes,
 * however long the window has been sliding. NaN makes NaN as long as it is in the window, infinities as additions do. */
#include "kit/window_cell.h"

/* --- How many are not null ------------------------------------------------------------------------------------------- */

static int ready_any(gx_window_work *work, const gale_value *value) {
    (void)work, (void)value;
    return GALE_OK;
}

static void count_take(gx_window_work *work, const gale_value *value) {
    (void)value;
    ++*(uint64_t *)work->pane;
}

static bool count_enter(gx_window_work *work) {
    *(uint64_t *)work->total += *(const uint64_t *)work->pane;
    return true;
}

static void count_leave(gx_window_work *work) {
    *(uint64_t *)work->total -= *(const uint64_t *)work->pane;
}

static int count_tell(gx_window_work *work, const gx_window_call *call, gale_value *ret_value) {
    (void)call;
    *ret_value = gale_i64(*(const int64_t *)work->total);
    return GALE_OK;
}

static int count_save(gx_window_work *work, gale_value *values) {
    values[0] = gale_i64(*(const int64_t *)work->pane);
    return GALE_OK;
}

static int count_load(gx_window_work *work, const gale_value *values) {
    if (values[0].type != GALE_TYPE_I64) return GALE_DAMAGED;
    if (values[0].as.i64 < 0 || values[0].as.i64 > GX_WINDOW_PANE_TUPLES) return GALE_DAMAGED;
    *(int64_t *)work->pane = values[0].as.i64;
    return GALE_OK;
}

const gx_window_kind gx_window_counts = {
    .pane_size = sizeof(uint64_t),
    .total_size = sizeof(uint64_t),
    .saved = 1,
    .ready = ready_any,
    .take = count_take,
    .enter = count_enter,
    .leave = count_leave,
    .tell = count_tell,
    .save = count_save,
    .load = count_load,
};

/* --- Sums ------------------------------------------------------------------------------------------------------------ */

#define HAS_F64 (UINT32_C(1) << 31)
#define COUNT_MASK (HAS_F64 - 1)

/* `sum` and `rest` are combined. */
typedef struct sum_cell {
    uint64_t low; /* of the whole numbers' sum, 96 bits */
    int32_t high;
    uint32_t count; /* of numbers; HAS_F64: some are f64 */
    double sum, rest;
} sum_cell;

typedef struct sum_total {
    __int128 whole;
    uint64_t count;
    uint64_t f64_panes;
} sum_total;

static __int128 whole_of(const sum_cell *cell) {
    return (__int128)cell->high * ((__int128)1 << 64) + (__int128)cell->low;
}

static void set_whole(sum_cell *cell, __int128 whole) {
    cell->low = (uint64_t)whole;
    cell->high = (int32_t)(whole >> 64);
}

static void add_f64(sum_cell *cell, double number) {
    double sum = cell->sum + number;
    bool larger = __builtin_fabs(cell->sum) >= __builtin_fabs(number);
    cell->rest += larger ? (cell->sum - sum) + number : (number - sum) + cell->sum;
    cell->sum = sum;
}

/* All of it, rounded once. */
static double f64_of(const sum_cell *cell, __int128 whole) {
    sum_cell sum = *cell;
    double most = (double)whole;
    add_f64(&sum, most);
    add_f64(&sum, (double)(whole - (__int128)most));
    return __builtin_isfinite(sum.sum) ? sum.sum + sum.rest : sum.sum;
}

static int ready_number(gx_window_work *work, const gale_value *value) {
    (void)work;
    return gx_window_is_number(value) ? GALE_OK : GALE_TYPE;
}

static void sum_take(gx_window_work *work, const gale_value *value) {
    sum_cell *cell = work->pane;
    cell->count++;
    if (GX_LIKELY(value->type == GALE_TYPE_I64)) {
        set_whole(cell, whole_of(cell) + value->as.i64);
        return;
    }
    cell->count |= HAS_F64;
    add_f64(cell, value->as.f64);
}

static void sum_append(gx_heap *heap, void *to, const void *from) {
    (void)heap;
    const sum_cell *more = from;
    sum_cell *cell = to;
    add_f64(cell, more->sum);
    cell->rest += more->rest;
}

static bool sum_enter(gx_window_work *work) {
    const sum_cell *cell = work->pane;
    sum_total *total = work->total;
    total->whole += whole_of(cell);
    total->count += cell->count & COUNT_MASK;
    total->f64_panes += (cell->count & HAS_F64) != 0;
    return true;
}

static void sum_leave(gx_window_work *work) {
    const sum_cell *cell = work->pane;
    sum_total *total = work->total;
    total->whole -= whole_of(cell);
    total->count -= cell->count & COUNT_MASK;
    total->f64_panes -= (cell->count & HAS_F64) != 0;
}

static int sum_tell(gx_window_work *work, const gx_window_call *call, gale_value *ret_value) {
    const sum_total *total = work->total;
    double number = (double)total->whole;
    *ret_value = gale_null();
    work->overflow = false;
    if (!total->count) return GALE_OK;
    if (total->f64_panes) number = f64_of(work->pane, total->whole);
    if (call->function == GX_WINDOW_AVG)
        *ret_value = gale_f64(number / (double)total->count);
    else if (total->f64_panes)
        *ret_value = gale_f64(number);
    else if (total->whole < INT64_MIN || total->whole > INT64_MAX)
        work->overflow = true;
    else
        *ret_value = gale_i64((int64_t)total->whole);
    return GALE_OK;
}

static int sum_save(gx_window_work *work, gale_value *values) {
    const sum_cell *cell = work->pane;
    values[0] = gale_i64((int64_t)cell->low);
    values[1] = gale_i64(cell->high);
    values[2] = gale_i64(cell->count);
    values[3] = gale_f64(cell->sum);
    values[4] = gale_f64(cell->rest);
    return GALE_OK;
}

static int sum_load(gx_window_work *work, const gale_value *values) {
    sum_cell *cell = work->pane;
    for (int i = 0; i < 5; i++)
        if (values[i].type != (i < 3 ? GALE_TYPE_I64 : GALE_TYPE_F64)) return GALE_DAMAGED;
    if (values[1].as.i64 < INT32_MIN || values[1].as.i64 > INT32_MAX || values[2].as.i64 < 0 ||
        values[2].as.i64 > UINT32_MAX)
        return GALE_DAMAGED;
    *cell = (sum_cell){ (uint64_t)values[0].as.i64, (int32_t)values[1].as.i64, (uint32_t)values[2].as.i64,
                        values[3].as.f64, values[4].as.f64 };
    return GALE_OK;
}

const gx_window_kind gx_window_sums = {
    .wanted = "a number (i64 or f64)",
    .pane_size = sizeof(sum_cell),
    .total_size = sizeof(sum_total),
    .saved = 5,
    .ready = ready_number,
    .take = sum_take,
    .append = sum_append,
    .enter = sum_enter,
    .leave = sum_leave,
    .tell = sum_tell,
    .save = sum_save,
    .load = sum_load,
};

/* --- The least and the largest, NaN above all others -------------------------------------------------------------------- */

typedef struct end_cell {
    union {
        int64_t i64;
        double f64;
    } as;
    uint64_t type; /* GALE_TYPE_NULL: none */
} end_cell;

/* A whole number against one with a fraction, exactly. */
static int compare_mixed(int64_t whole, double number) {
    if (number != number || number >= 0x1p63) return -1;
    if (number < -0x1p63) return 1;
    int64_t part = (int64_t)number;
    if (whole != part) return whole < part ? -1 : 1;
    double rest = number - (double)part;
    return (rest < 0) - (rest > 0);
}

static int compare(const end_cell *a, const end_cell *b) {
    if (a->type == GALE_TYPE_I64 && b->type == GALE_TYPE_I64) return (a->as.i64 > b->as.i64) - (a->as.i64 < b->as.i64);
    if (a->type == GALE_TYPE_I64) return compare_mixed(a->as.i64, b->as.f64);
    if (b->type == GALE_TYPE_I64) return -compare_mixed(b->as.i64, a->as.f64);
    bool a_nan = a->as.f64 != a->as.f64, b_nan = b->as.f64 != b->as.f64;
    if (a_nan || b_nan) return a_nan - b_nan;
    return (a->as.f64 > b->as.f64) - (a->as.f64 < b->as.f64);
}

/* Of equal ones the earlier stays. */
static void keep_least(gx_heap *heap, void *to, const void *from) {
    (void)heap;
    end_cell *kept = to;
    const end_cell *other = from;
    if (!other->type) return;
    if (!kept->type || compare(other, kept) < 0) *kept = *other;
}

static void keep_largest(gx_heap *heap, void *to, const void *from) {
    (void)heap;
    end_cell *kept = to;
    const end_cell *other = from;
    if (!other->type) return;
    if (!kept->type || compare(other, kept) > 0) *kept = *other;
}

static end_cell end_of(const gale_value *value) {
    end_cell cell = { .type = value->type };
    if (value->type == GALE_TYPE_I64)
        cell.as.i64 = value->as.i64;
    else
        cell.as.f64 = value->as.f64;
    return cell;
}

static void least_take(gx_window_work *work, const gale_value *value) {
    end_cell cell = end_of(value);
    keep_least(work->heap, work->pane, &cell);
}

static void largest_take(gx_window_work *work, const gale_value *value) {
    end_cell cell = end_of(value);
    keep_largest(work->heap, work->pane, &cell);
}

static int end_save(gx_window_work *work, gale_value *values) {
    const end_cell *cell = work->pane;
    values[0] = cell->type == GALE_TYPE_I64   ? gale_i64(cell->as.i64)
                : cell->type == GALE_TYPE_F64 ? gale_f64(cell->as.f64)
                                              : gale_null();
    return GALE_OK;
}

static int end_tell(gx_window_work *work, const gx_window_call *call, gale_value *ret_value) {
    (void)call;
    return end_save(work, ret_value);
}

static void end_drop(gx_heap *heap, void *pane) {
    (void)heap;
    *(end_cell *)pane = (end_cell){ .type = GALE_TYPE_NULL };
}

static int end_load(gx_window_work *work, const gale_value *values) {
    if (values[0].type == GALE_TYPE_NULL) return GALE_OK;
    if (!gx_window_is_number(&values[0])) return GALE_DAMAGED;
    *(end_cell *)work->pane = end_of(&values[0]);
    return GALE_OK;
}

const gx_window_kind gx_window_least = {
    .wanted = "a number (i64 or f64)",
    .pane_size = sizeof(end_cell),
    .saved = 1,
    .ready = ready_number,
    .take = least_take,
    .append = keep_least,
    .drop = end_drop,
    .tell = end_tell,
    .save = end_save,
    .load = end_load,
};

const gx_window_kind gx_window_largest = {
    .wanted = "a number (i64 or f64)",
    .pane_size = sizeof(end_cell),
    .saved = 1,
    .ready = ready_number,
    .take = largest_take,
    .append = keep_largest,
    .drop = end_drop,
    .tell = end_tell,
    .save = end_save,
    .load = end_load,
};
