#include "topology/saver.h"

#include "base/assert.h"
#include "base/bits.h"
#include "tuple/body.h"
#include "tuple/hash.h"

const gale_durable_ops gale_stateless = { .size = sizeof(gale_durable_ops), .flags = GALE_DURABLE_STATELESS };
const gale_durable_ops gale_keyed = { .size = sizeof(gale_durable_ops), .flags = GALE_DURABLE_KEYED };

/* --- Records --- */

int gx_record_add(gx_buf *records, const gale_value *values, size_t count) {
    GX_CHECK(records->failed || records->size % 8 == 0);
    int64_t size = gx_body_measure(values, count);
    if (size < 0) return (int)size;
    if (size > GALE_STATE_VALUE_MAX) return GALE_TOO_LARGE;
    if (records->failed || !gx_buf_reserve(records, (size_t)size + 8)) return GALE_NO_MEMORY;
    uint64_t head = (uint64_t)size;
    gx_buf_add(records, &head, sizeof head);
    gx_body_encode(values, count, records->data + records->size);
    records->size += (size_t)size;
    return GALE_OK;
}

static bool is_whole(gale_str bytes, size_t *ret_size) {
    uint64_t size;
    if (bytes.size < 8) return false;
    memcpy(&size, bytes.data, sizeof size);
    if (size > bytes.size - 8 || size > GALE_STATE_VALUE_MAX || size % 8) return false;
    *ret_size = (size_t)size;
    return gx_body_fits(bytes.data + 8, (size_t)size);
}

static gale_str behind(gale_str bytes, size_t size) {
    return (gale_str){ bytes.data + 8 + size, bytes.size - 8 - size };
}

bool gx_records_are_whole(gale_str bytes) {
    size_t size;
    while (bytes.size) {
        if (!is_whole(bytes, &size)) return false;
        bytes = behind(bytes, size);
    }
    return true;
}

bool gx_records_next(gale_str *records, const gale_body **ret_body) {
    if (!records->size) return false;
    *ret_body = (const gale_body *)(records->data + 8);
    *records = behind(*records, (size_t)gx_load64(records->data));
    return true;
}

/* --- Saving --- */

static int fail(gale_saver *to, int rc) {
    if (rc < 0 && !to->failed) to->failed = rc;
    return rc;
}

int gale_save(gale_saver *to, const gale_value *values, size_t count) {
    if (!to) return GALE_INVALID;
    if (!values && count) return fail(to, GALE_INVALID);
    return fail(to, gx_record_add(to->records, values, count));
}

uint64_t gale_save_checkpoint(const gale_saver *to) {
    return to ? to->checkpoint : 0;
}

/* --- Pledges --- */

#define HAS(ops, function)                                                                                             \
    ((ops)->size >= offsetof(gale_pledge_ops, function) + sizeof(ops)->function && (ops)->function)

int gale_save_pledge(gale_saver *to, const gale_pledge_ops *ops, void *pledge) {
    if (!ops || ops->size < sizeof ops->size) return to ? fail(to, GALE_INVALID) : GALE_INVALID;
    gx_pledges *all = to ? to->pledges : NULL;
    bool room = all && gx_grow(all->heap, GX_TAG_OTHER, &all->list, &all->capacity, all->count + 1, sizeof *all->list);
    if (room) {
        all->list[all->count++] = (gx_pledge){ ops, pledge, to->component, false };
        return GALE_OK;
    }
    if (HAS(ops, drop)) ops->drop(pledge);
    return to ? fail(to, all ? GALE_NO_MEMORY : GALE_UNSUPPORTED) : GALE_INVALID;
}

static int told(int rc, const gx_pledge *pledge, const char *what, gale_error *error) {
    if (rc >= 0) return GALE_OK;
    if (error && error->code == 0) gale_error_set(error, rc, "%s", gale_error_text(rc));
    if (error) gale_error_add(error, "'%s' could not %s its part of a checkpoint", pledge->component, what);
    return rc;
}

int gx_pledges_prepare(const gx_pledges *pledges, gale_error *error) {
    int rc = GALE_OK;
    for (size_t i = 0; rc == GALE_OK && i < pledges->count; i++) {
        const gx_pledge *pledge = &pledges->list[i];
        if (HAS(pledge->ops, prepare)) rc = told(pledge->ops->prepare(pledge->self, error), pledge, "prepare", error);
    }
    return rc;
}

static bool may_be_late(const gx_pledge *pledge) {
    return HAS(pledge->ops, commit) && HAS(pledge->ops, flags) && (pledge->ops->flags & GALE_PLEDGE_LATE);
}

static int commit(gx_pledge *pledge, gale_error *error) {
    int rc = HAS(pledge->ops, commit) ? told(pledge->ops->commit(pledge->self, error), pledge, "commit", error) : 0;
    pledge->kept = rc == GALE_OK;
    return rc;
}

int gx_pledges_commit(gx_pledges *pledges, gale_error *error) {
    int rc = GALE_OK;
    for (size_t i = 0; rc == GALE_OK && i < pledges->count; i++)
        if (!may_be_late(&pledges->list[i])) rc = commit(&pledges->list[i], error);
    return rc;
}

bool gx_pledge_is_owed(const gx_pledge *pledge) {
    return may_be_late(pledge) && !pledge->kept;
}

int gx_pledges_keep(gx_pledges *pledges, gale_error *error) {
    int rc = GALE_OK;
    for (size_t i = 0; rc == GALE_OK && i < pledges->count; i++)
        if (gx_pledge_is_owed(&pledges->list[i])) rc = commit(&pledges->list[i], error);
    return rc;
}

static void drop(const gx_pledge *pledge) {
    if (HAS(pledge->ops, drop)) pledge->ops->drop(pledge->self);
}

void gx_pledges_drop_kept(gx_pledges *pledges) {
    size_t left = 0;
    for (size_t i = 0; i < pledges->count; i++) {
        if (pledges->list[i].kept)
            drop(&pledges->list[i]);
        else
            pledges->list[left++] = pledges->list[i];
    }
    pledges->count = left;
}

void gx_pledges_drop(gx_pledges *pledges) {
    for (size_t i = 0; i < pledges->count; i++) drop(&pledges->list[i]);
    pledges->count = 0;
}

void gx_pledges_fini(gx_pledges *pledges) {
    gx_pledges_drop(pledges);
    gx_free(pledges->heap, GX_TAG_OTHER, pledges->list, pledges->capacity * sizeof *pledges->list);
    *pledges = (gx_pledges){ .heap = pledges->heap };
}

#undef HAS

/* --- A checkpoint before its time --- */

void gale_wish_checkpoint(gale_collector *out) {
    if (!out) return;
    bool has = out->ops->size >= offsetof(gale_collector_ops, wish_checkpoint) + sizeof out->ops->wish_checkpoint;
    if (has && out->ops->wish_checkpoint) out->ops->wish_checkpoint(out);
}

/* --- What was saved --- */

int gale_saved_next(gale_saved *from, const gale_value **ret_values, size_t *ret_count) {
    if (!from || !ret_values || !ret_count) return GALE_INVALID;
    gale_str rest = from->records;
    const gale_body *body;
    if (!gx_records_next(&rest, &body)) return 0;
    size_t count = gale_body_count(body);
    if (!gx_grow(from->heap, GX_TAG_OTHER, &from->values, &from->capacity, count + 1, sizeof *from->values))
        return GALE_NO_MEMORY;
    for (size_t i = 0; i < count; i++) from->values[i] = gale_body_value(body, i);
    from->records = rest;
    *ret_values = from->values;
    *ret_count = count;
    return 1;
}

uint64_t gale_saved_checkpoint(const gale_saved *from) {
    return from ? from->checkpoint : 0;
}

bool gale_saved_is_end(const gale_saved *from) {
    return from && from->complete;
}

uint32_t gale_saved_part(const gale_saved *from, uint32_t *ret_parts) {
    if (ret_parts) *ret_parts = from ? from->parts : 0;
    return from ? from->part : 0;
}

bool gale_saved_is_mine(const gale_saved *from) {
    return from && from->parts == from->task_count && !from->regrouped;
}

uint32_t gx_saved_owner(const gale_value *key, size_t count, uint32_t tasks) {
    return gx_hash_below(gx_values_hash_all(key, count), tasks);
}

bool gale_saved_is_own(const gale_saved *from, const gale_value *key, size_t count) {
    if (!from || !from->by_key || (!key && count)) return true;
    return gx_saved_owner(key, count, from->task_count) == from->task_index;
}

void gx_saved_fini(gale_saved *saved) {
    gx_free(saved->heap, GX_TAG_OTHER, saved->values, saved->capacity * sizeof *saved->values);
    saved->values = NULL;
    saved->capacity = 0;
}

/* --- Keyed state --- */

int gale_state_open(gale_collector *out, const gale_state_options *options, gale_state **ret_state) {
    if (!out || !ret_state) return GALE_INVALID;
    bool has = out->ops->size >= offsetof(gale_collector_ops, state) + sizeof out->ops->state && out->ops->state;
    return has ? out->ops->state(out, options, ret_state) : GALE_UNSUPPORTED;
}
