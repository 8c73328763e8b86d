/* Cells of many values: how many different ones, percentiles, the most frequent.
 *
 * The most frequent, or those with the largest sums of another field (n is the sum of all then): a pane counts each value exactly until it has twice as many as its limit k. Then the (k + 1)-th largest
 * count is taken from all, and what comes to nothing is dropped: so a count is never above the true one, and below it by at
 * most n / k after n tuples, because each time at least k counts lose as much. What panes say is added up, and so are their
 * errors: in a window of n tuples, those in panes with fewer values than that left out, a count is n / k too low at most.
 * Misra, Gries: Finding repeated elements (Science of Computer Programming 2, 1982), which keeps the same counts as Space-Saving
 * less its least one (Agarwal and others: Mergeable summaries, PODS 2012); in large steps as Anderson and others: A
 * high-performance algorithm for identifying frequent items in data streams (IMC 2017). */
#include "ds/bytes_map.h"
#include "ds/window_buckets.h"
#include "ds/window_distinct.h"
#include "kit/window_cell.h"
#include "tuple/key.h"

#include <stdlib.h>

/* --- How many different ones ----------------------------------------------------------------------------------------- */

static int different_ready(gx_window_work *work, const gale_value *value) {
    work->hash = gale_value_hash(value);
    return gx_distinct_reserve(work->pane, work->heap, work->hash, work->cell->limit) ? GALE_OK : GALE_NO_MEMORY;
}

static void different_take(gx_window_work *work, const gale_value *value) {
    (void)value;
    gx_distinct_add(work->pane, work->hash);
}

static void tally_close(gx_window_work *work) {
    gx_tally_trim(work->pane, work->heap);
}

static bool different_enter(gx_window_work *work) {
    return gx_distinct_enter(work->total, work->heap, work->pane, work->cell->limit);
}

static void different_leave(gx_window_work *work) {
    gx_distinct *total = work->total;
    gx_distinct_leave(total, work->pane);
    if (total->entries) return;
    gx_tally_fini(&total->tally, work->heap); /* it begins anew, exactly */
}

static void different_refit(gx_window_work *work, const gx_window_queue *queue, const gx_window_combine *how) {
    gx_distinct *total = work->total, made = { .entries = 0 };
    if (!gx_distinct_is_small(total, work->cell->limit)) return;
    for (uint32_t i = 0; i < gx_window_queue_closed(queue); i++) {
        const void *pane = (const char *)gx_window_queue_at(queue, how, i) + work->cell->pane_at;
        if (gx_distinct_enter(&made, work->heap, pane, work->cell->limit)) continue;
        gx_tally_fini(&made.tally, work->heap); /* it stays coarse, until the next pane leaves */
        return;
    }
    gx_tally_fini(&total->tally, work->heap);
    *total = made;
}

static void different_forget(gx_window_work *work) {
    gx_tally_fini(work->pane, work->heap);
}

static void different_end(gx_window_work *work) {
    gx_tally_fini(&((gx_distinct *)work->total)->tally, work->heap);
}

static int different_tell(gx_window_work *work, const gx_window_call *call, gale_value *ret_value) {
    (void)call;
    *ret_value = gale_i64((int64_t)gx_distinct_count(work->total));
    return GALE_OK;
}

/* A tally as bytes: number and count of each. */
enum { ENTRY = 12 };

static int tally_save(gx_window_work *work, gale_value *values) {
    const gx_tally *tally = work->pane;
    size_t at = 0;
    gx_buf_reset(&work->scratch);
    gx_buf_add(&work->scratch, &tally->coarse, 1);
    for (const gx_tally_slot *slot; (slot = gx_tally_next(tally, &at)) != NULL;) {
        uint32_t count = (uint32_t)slot->count;
        gx_buf_add(&work->scratch, &slot->id, sizeof slot->id);
        gx_buf_add(&work->scratch, &count, sizeof count);
    }
    values[0] = gale_bytes(work->scratch.data, work->scratch.size);
    return work->scratch.failed ? GALE_NO_MEMORY : GALE_OK;
}

static bool is_register(uint64_t id, uint32_t rank) {
    return id < GX_DISTINCT_REGISTERS && rank <= 53;
}

static int different_load(gx_window_work *work, const gale_value *values) {
    gx_tally *tally = work->pane;
    const char *from = values[0].as.bytes;
    if (values[0].type != GALE_TYPE_BYTES || values[0].size % ENTRY != 1 || (uint8_t)from[0] > 1) return GALE_DAMAGED;
    tally->coarse = (uint8_t)from[0];
    if (!gx_tally_reserve(tally, work->heap, values[0].size / ENTRY)) return GALE_NO_MEMORY;
    for (size_t i = 1; i < values[0].size; i += ENTRY) {
        uint64_t id;
        uint32_t count;
        memcpy(&id, from + i, sizeof id);
        memcpy(&count, from + i + sizeof id, sizeof count);
        if (!count || (tally->coarse ? !is_register(id, count) : count != 1)) return GALE_DAMAGED;
        *gx_tally_at(tally, id) = count;
    }
    return GALE_OK;
}

const gx_window_kind gx_window_different = {
    .pane_size = sizeof(gx_tally),
    .total_size = sizeof(gx_distinct),
    .saved = 1,
    .ready = different_ready,
    .take = different_take,
    .close = tally_close,
    .enter = different_enter,
    .leave = different_leave,
    .refit = different_refit,
    .forget = different_forget,
    .end = different_end,
    .tell = different_tell,
    .save = tally_save,
    .load = different_load,
};

/* --- Percentiles ------------------------------------------------------------------------------------------------------ */

static int percentiles_ready(gx_window_work *work, const gale_value *value) {
    if (!gx_window_is_number(value)) return GALE_TYPE;
    return gx_buckets_reserve(work->pane, work->heap) ? GALE_OK : GALE_NO_MEMORY;
}

static void percentiles_take(gx_window_work *work, const gale_value *value) {
    gx_buckets_add(work->pane, gx_bucket_of(gx_window_number(value)), 1);
}

static void percentiles_close(gx_window_work *work) {
    gx_buckets_trim(work->pane, work->heap);
}

static bool percentiles_enter(gx_window_work *work) {
    return gx_bucket_sums_enter(work->total, work->heap, work->pane);
}

static void percentiles_leave(gx_window_work *work) {
    gx_bucket_sums_leave(work->total, work->pane);
}

static void percentiles_forget(gx_window_work *work) {
    gx_buckets_fini(work->pane, work->heap);
}

static void percentiles_end(gx_window_work *work) {
    gx_bucket_sums_fini(work->total, work->heap);
}

/* The least number that so large a share of all is not above. */
static int percentiles_tell(gx_window_work *work, const gx_window_call *call, gale_value *ret_value) {
    const gx_bucket_sums *sums = work->total;
    *ret_value = gale_null();
    if (!sums->total) return GALE_OK;
    unsigned __int128 parts = (unsigned __int128)sums->total * call->parameter;
    uint64_t rank = (uint64_t)((parts + GX_WINDOW_PARTS - 1) / GX_WINDOW_PARTS);
    *ret_value = gale_f64(gx_bucket_sums_at(sums, rank ? rank : 1));
    return GALE_OK;
}

static int percentiles_save(gx_window_work *work, gale_value *values) {
    const gx_buckets *buckets = work->pane;
    values[0] = gale_bytes(buckets->items, buckets->used * sizeof *buckets->items);
    return GALE_OK;
}

static int percentiles_load(gx_window_work *work, const gale_value *values) {
    uint32_t before = 0;
    const char *from = values[0].as.bytes;
    if (values[0].type != GALE_TYPE_BYTES || values[0].size % sizeof(gx_bucket)) return GALE_DAMAGED;
    for (size_t i = 0; i < values[0].size; i += sizeof(gx_bucket)) {
        gx_bucket bucket;
        memcpy(&bucket, from + i, sizeof bucket);
        bool sound = bucket.index < GX_BUCKET_LIMIT && (!i || bucket.index > before) && bucket.count &&
                     bucket.count <= GX_WINDOW_PANE_TUPLES;
        if (!sound) return GALE_DAMAGED;
        if (!gx_buckets_reserve(work->pane, work->heap)) return GALE_NO_MEMORY;
        gx_buckets_add(work->pane, bucket.index, bucket.count);
        before = bucket.index;
    }
    return GALE_OK;
}

const gx_window_kind gx_window_percentiles = {
    .wanted = "a number (i64 or f64)",
    .pane_size = sizeof(gx_buckets),
    .total_size = sizeof(gx_bucket_sums),
    .saved = 1,
    .ready = percentiles_ready,
    .take = percentiles_take,
    .close = percentiles_close,
    .enter = percentiles_enter,
    .leave = percentiles_leave,
    .forget = percentiles_forget,
    .end = percentiles_end,
    .tell = percentiles_tell,
    .save = percentiles_save,
    .load = percentiles_load,
};

/* --- The most frequent ------------------------------------------------------------------------------------------------ */

/* Under the hash of a value, of which the panes know no more. */
typedef struct known {
    uint64_t count; /* in the total */
    uint32_t panes; /* that count it */
    uint32_t size;
    char *key; /* tuple/key.h */
} known;

typedef struct top_total {
    gx_bytes_map *values; /* NULL: none yet */
} top_total;

static gale_str name_of(const uint64_t *hash) {
    return (gale_str){ (const char *)hash, sizeof *hash };
}

static known *find_known(const gx_window_work *work, uint64_t hash) {
    const top_total *total = work->total;
    return gx_bytes_map_get(total->values, name_of(&hash));
}

static void remove_known(gx_window_work *work, uint64_t hash) {
    const top_total *total = work->total;
    known *value = find_known(work, hash);
    gx_free(work->heap, GX_TAG_OTHER, value->key, value->size);
    gx_bytes_map_remove(total->values, name_of(&hash));
}

static int make_known(gx_window_work *work, const gale_value *value) {
    top_total *total = work->total;
    gale_str key;
    int rc = gx_key_of(value, &work->scratch, &key);
    if (rc < 0) return rc;
    if (!total->values) total->values = gx_bytes_map_new(work->heap, sizeof(known), 1);
    if (!total->values) return GALE_NO_MEMORY;
    if (gx_bytes_map_get(total->values, name_of(&work->hash))) return GALE_OK;
    char *copy = gx_alloc(work->heap, GX_TAG_OTHER, key.size);
    known *made = copy ? gx_bytes_map_put(total->values, name_of(&work->hash), NULL) : NULL;
    if (!made) {
        gx_free(work->heap, GX_TAG_OTHER, copy, key.size);
        return GALE_NO_MEMORY;
    }
    memcpy(copy, key.data, key.size);
    *made = (known){ .size = (uint32_t)key.size, .key = copy };
    return GALE_OK;
}

static void forget_one(gx_window_work *work, uint64_t hash) {
    known *value = find_known(work, hash);
    if (!--value->panes) remove_known(work, hash);
}

static int descending(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

/* The (limit + 1)-th largest count. */
static int median(gx_window_work *work, uint64_t *ret_count) {
    const gx_tally *tally = work->pane;
    size_t at = 0;
    gx_buf_reset(&work->scratch);
    for (const gx_tally_slot *slot; (slot = gx_tally_next(tally, &at)) != NULL;)
        gx_buf_add(&work->scratch, &slot->count, sizeof slot->count);
    if (work->scratch.failed) return GALE_NO_MEMORY;
    uint64_t *counts = (uint64_t *)(void *)work->scratch.data;
    qsort(counts, tally->used, sizeof *counts, descending);
    *ret_count = counts[work->cell->limit];
    return GALE_OK;
}

static int thin_out(gx_window_work *work) {
    gx_tally made = { 0 };
    gx_tally *tally = work->pane;
    uint64_t less;
    size_t at = 0;
    int rc = median(work, &less);
    if (rc >= 0 && !gx_tally_reserve(&made, work->heap, 2 * (size_t)work->cell->limit)) rc = GALE_NO_MEMORY;
    if (rc < 0) return rc;
    for (const gx_tally_slot *slot; (slot = gx_tally_next(tally, &at)) != NULL;) {
        if (slot->count > less)
            *gx_tally_at(&made, slot->id) = slot->count - less;
        else
            forget_one(work, slot->id);
    }
    gx_tally_fini(tally, work->heap);
    *tally = made;
    return GALE_OK;
}

static int tops_ready(gx_window_work *work, const gale_value *value) {
    gx_tally *tally = work->pane;
    work->hash = gale_value_hash(value);
    if (gx_tally_get(tally, work->hash)) return GALE_OK;
    int rc = tally->used >= 2 * work->cell->limit ? thin_out(work) : GALE_OK;
    if (rc >= 0 && !gx_tally_reserve(tally, work->heap, 1)) rc = GALE_NO_MEMORY;
    return rc < 0 ? rc : make_known(work, value);
}

static void tops_unready(gx_window_work *work) {
    const top_total *total = work->total;
    if (!total->values) return;
    const known *value = find_known(work, work->hash);
    if (value && !value->panes) remove_known(work, work->hash);
}

/* No window comes near so much: its panes can be added up. */
#define COUNT_MAX (UINT64_C(1) << 56)

static void count_value(gx_window_work *work, uint64_t hash, uint64_t more) {
    uint64_t *count = gx_tally_at(work->pane, hash);
    if (!*count) find_known(work, hash)->panes++;
    *count = more < COUNT_MAX - *count ? *count + more : COUNT_MAX;
}

static void tops_take(gx_window_work *work, const gale_value *value) {
    (void)value;
    count_value(work, work->hash, work->more);
}

static bool tops_enter(gx_window_work *work) {
    size_t at = 0;
    for (const gx_tally_slot *slot; (slot = gx_tally_next(work->pane, &at)) != NULL;)
        find_known(work, slot->id)->count += slot->count;
    return true;
}

static void tops_leave(gx_window_work *work) {
    size_t at = 0;
    for (const gx_tally_slot *slot; (slot = gx_tally_next(work->pane, &at)) != NULL;)
        find_known(work, slot->id)->count -= slot->count;
}

static void tops_forget(gx_window_work *work) {
    size_t at = 0;
    for (const gx_tally_slot *slot; (slot = gx_tally_next(work->pane, &at)) != NULL;) forget_one(work, slot->id);
    gx_tally_fini(work->pane, work->heap);
}

static void tops_end(gx_window_work *work) {
    top_total *total = work->total;
    gx_bytes_map_free(total->values);
    total->values = NULL;
}

static gale_value value_of(const known *value) {
    return gx_key_value((gale_str){ value->key, value->size });
}

/* The more frequent first; of equally frequent ones the lesser. */
static bool ranks_before(const known *a, const known *b) {
    if (a->count != b->count) return a->count > b->count;
    gale_value x = value_of(a), y = value_of(b);
    return gale_value_compare(&x, &y) < 0;
}

/* Sorts the best into `best`, which has room for `most`. Returns how many there are. */
static uint32_t choose(const gx_bytes_map *values, const known **best, uint32_t most) {
    uint32_t count = 0;
    for (size_t i = 0; i < gx_bytes_map_size(values); i++) {
        const known *value = gx_bytes_map_at(values, i, NULL);
        if (!value->count || (count == most && !ranks_before(value, best[count - 1]))) continue;
        uint32_t place = count < most ? count++ : count - 1;
        for (; place && ranks_before(value, best[place - 1]); place--) best[place] = best[place - 1];
        best[place] = value;
    }
    return count;
}

/* A list of lists [value, count]. */
static int tops_tell(gx_window_work *work, const gx_window_call *call, gale_value *ret_value) {
    const top_total *total = work->total;
    uint32_t most = call->parameter, count = 0;
    gx_buf_reset(&work->scratch);
    gx_buf_reset(work->rows);
    *ret_value = gale_list(NULL, 0);
    if (!total->values) return GALE_OK;
    if (!gx_buf_reserve(&work->scratch, most * sizeof(known *)) ||
        !gx_buf_reserve(work->rows, 3 * most * sizeof(gale_value)))
        return GALE_NO_MEMORY;
    const known **best = (const known **)(void *)work->scratch.data;
    gale_value *rows = (gale_value *)(void *)work->rows->data, *pairs = rows + most;
    count = choose(total->values, best, most);
    for (uint32_t i = 0; i < count; i++) {
        pairs[2 * i] = value_of(best[i]);
        pairs[2 * i + 1] = gale_i64((int64_t)best[i]->count);
        rows[i] = gale_list(pairs + 2 * i, 2);
    }
    *ret_value = gale_list(rows, count);
    return GALE_OK;
}

/* value, count, value, count */
static int tops_save(gx_window_work *work, gale_value *values) {
    const gx_tally *tally = work->pane;
    size_t at = 0;
    gx_buf_reset(&work->scratch);
    for (const gx_tally_slot *slot; (slot = gx_tally_next(tally, &at)) != NULL;) {
        gale_value pair[2] = { value_of(find_known(work, slot->id)), gale_i64((int64_t)slot->count) };
        gx_buf_add(&work->scratch, pair, sizeof pair);
    }
    values[0] = gale_list((const gale_value *)(void *)work->scratch.data, 2 * (size_t)tally->used);
    return work->scratch.failed ? GALE_NO_MEMORY : GALE_OK;
}

static int load_one(gx_window_work *work, const gale_value *value, const gale_value *count) {
    int64_t most = work->cell->weighted ? (int64_t)COUNT_MAX : GX_WINDOW_PANE_TUPLES;
    if (count->type != GALE_TYPE_I64 || count->as.i64 < 1 || count->as.i64 > most) return GALE_DAMAGED;
    work->hash = gale_value_hash(value);
    if (gx_tally_get(work->pane, work->hash)) return GALE_DAMAGED;
    if (!gx_tally_reserve(work->pane, work->heap, 1)) return GALE_NO_MEMORY;
    int rc = make_known(work, value);
    if (rc < 0) return rc;
    count_value(work, work->hash, (uint64_t)count->as.i64);
    return GALE_OK;
}

static int tops_load(gx_window_work *work, const gale_value *values) {
    int rc = values[0].type == GALE_TYPE_LIST && values[0].size % 2 == 0 ? GALE_OK : GALE_DAMAGED;
    for (uint32_t i = 0; rc >= 0 && i < values[0].size; i += 2) {
        gale_value value = gale_list_at(&values[0], i), count = gale_list_at(&values[0], i + 1);
        rc = load_one(work, &value, &count);
    }
    return rc;
}

const gx_window_kind gx_window_tops = {
    .pane_size = sizeof(gx_tally),
    .total_size = sizeof(top_total),
    .saved = 1,
    .ready = tops_ready,
    .unready = tops_unready,
    .take = tops_take,
    .close = tally_close,
    .enter = tops_enter,
    .leave = tops_leave,
    .forget = tops_forget,
    .end = tops_end,
    .tell = tops_tell,
    .save = tops_save,
    .load = tops_load,
};
