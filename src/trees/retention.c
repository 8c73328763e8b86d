#include "trees/retention.h"

#include "base/assert.h"
#include "base/mutant.h"
#include "tuple/body.h"

/* How long a level waits. */
static int64_t wait_of(const gx_retention *retention, uint32_t level) {
    return level >= retention->last_level ? retention->most : retention->initial << level;
}

static uint32_t count_levels(int64_t initial, int64_t most) {
    uint32_t level = 0;
    while (initial > 0 && initial < most - initial) { /* doubled it is still below */
        initial *= 2;
        level++;
    }
    return initial > 0 && initial < most ? level + 1 : level;
}

int gx_retention_init(gx_retention *retention, gx_ledger *ledger, gx_blocks *blocks, const gx_plan *plan) {
    *retention = (gx_retention){ .ledger = ledger, .blocks = blocks };
    if (!plan->retains) return GALE_OK;
    retention->initial = plan->replay_initial;
    retention->most = plan->replay_initial ? plan->replay_most : 0;
    retention->last_level = count_levels(retention->initial, retention->most);
    GX_ASSERT(retention->last_level < GX_RETENTION_LEVELS);
    retention->segments = gx_alloc_array(ledger->heap, GX_TAG_LEDGER, GX_RETENTION_SEGMENTS,
                                         sizeof *retention->segments);
    return retention->segments ? GALE_OK : GALE_NO_MEMORY;
}

void gx_retention_fini(gx_retention *retention) {
    if (!retention->segments) return;
    gx_heap *heap = retention->ledger->heap;
    for (uint32_t s = 0; s < GX_RETENTION_SEGMENTS; s++) {
        if (!retention->segments[s]) continue;
        for (uint64_t i = 0; i < GX_RETENTION_SEGMENT; i++) gx_retention_drop(retention, s * GX_RETENTION_SEGMENT + i);
        gx_free(heap, GX_TAG_LEDGER, retention->segments[s], GX_RETENTION_SEGMENT * sizeof(gx_retained));
    }
    gx_free(heap, GX_TAG_LEDGER, retention->segments, GX_RETENTION_SEGMENTS * sizeof *retention->segments);
    retention->segments = NULL;
}

static gx_retained *make_place(gx_retention *retention, uint64_t slot) {
    gx_retained **segment = &retention->segments[slot >> GX_RETENTION_SEGMENT_BITS];
    if (!*segment)
        *segment = gx_alloc_array(retention->ledger->heap, GX_TAG_LEDGER, GX_RETENTION_SEGMENT, sizeof **segment);
    return *segment ? &(*segment)[slot & (GX_RETENTION_SEGMENT - 1)] : NULL;
}

gx_retained *gx_retention_place(gx_retention *retention, uint64_t root, size_t size) {
    GX_CHECK(retention->segments != NULL);
    GX_CHECK(gx_ledger_slot(root) < retention->ledger->slots);
    gx_retained *kept = make_place(retention, gx_ledger_slot(root));
    gx_block *body = kept ? gx_block_take(retention->blocks, size) : NULL;
    if (GX_UNLIKELY(!body)) return NULL;
    retention->ledger->counters.retained_bytes += gx_block_size(body);
    GX_ASSERT(!kept->body);
    kept->body = body;
    return kept;
}

/* NULL when memory is out; its body is to be written. */
static gx_block *place(gx_retention *retention, uint64_t root, gx_retained what, size_t size) {
    gx_retained *kept = gx_retention_place(retention, root, size);
    if (!kept) return NULL;
    what.body = kept->body;
    *kept = what;
    return what.body;
}

int gx_retention_keep(gx_retention *retention, uint64_t root, gx_retained what, const gale_value *values,
                      size_t count) {
    int64_t size = gx_body_measure(values, count);
    if (size < 0) return (int)size;
    gx_block *body = place(retention, root, what, (size_t)size);
    if (!body) return GALE_NO_MEMORY;
    gx_body_encode(values, count, body->bytes);
    return GALE_OK;
}

int gx_retention_keep_body(gx_retention *retention, uint64_t root, gx_retained what, const gale_body *body,
                           size_t size) {
    gx_block *kept = place(retention, root, what, size);
    if (!kept) return GALE_NO_MEMORY;
    memcpy(kept->bytes, body, size);
    return GALE_OK;
}

void gx_retention_drop(gx_retention *retention, uint64_t slot) {
    gx_retained *kept = gx_retention_at(retention, slot);
    if (kept) gx_retention_forget(retention, kept);
}

/* --- Waiting --- */

static uint32_t level_of(const gx_retention *retention, uint32_t attempts) {
    return attempts > retention->last_level ? retention->last_level : attempts ? attempts - 1 : 0;
}

int64_t gx_retention_backoff(const gx_retention *retention, uint32_t attempts) {
    return wait_of(retention, level_of(retention, attempts));
}

static int64_t later(int64_t now, int64_t wait) {
    return now > INT64_MAX - wait ? INT64_MAX : now + wait;
}

/* The list for wrapped generations has one length, too: what it holds need not be sorted. */
static int64_t resting_wait(const gx_retention *retention) {
    int64_t rest = gx_ledger_rest(retention->ledger);
    return rest > retention->most ? rest : retention->most;
}

void gx_retention_wait(gx_retention *retention, const gx_answer *answer, int64_t now) {
    GX_CHECK(gx_retention_at(retention, answer->slot) != NULL);
    gx_ledger *ledger = retention->ledger;
    uint32_t list = level_of(retention, gx_retention_at(retention, answer->slot)->attempts);
    if (!gx_ledger_defer(ledger, answer, later(now, wait_of(retention, list)))) {
        gx_ledger_at(ledger, answer->slot)->start = later(now, resting_wait(retention));
        list = GX_RETENTION_RESTING;
    }
    if (!GX_MUTANT(wait_forgotten)) gx_ledger_append(ledger, &retention->waiting[list], answer->slot);
}

static int64_t end_of_first(const gx_retention *retention, const gx_tree_list *list) {
    return list->head ? gx_ledger_at(retention->ledger, list->head - 1)->start : INT64_MAX;
}

bool gx_retention_next(gx_retention *retention, int64_t now, uint64_t *ret_slot) {
    for (uint32_t i = 0; i < GX_RETENTION_LISTS; i++) {
        gx_tree_list *list = &retention->waiting[i];
        if (!list->head || end_of_first(retention, list) > now) continue;
        *ret_slot = gx_ledger_take_first(retention->ledger, list);
        GX_CHECK(gx_ledger_state(retention->ledger, *ret_slot) == GX_TREE_WAITING);
        return true;
    }
    return false;
}

int64_t gx_retention_due(const gx_retention *retention) {
    int64_t due = INT64_MAX;
    for (uint32_t i = 0; i < GX_RETENTION_LISTS; i++) {
        int64_t end = end_of_first(retention, &retention->waiting[i]);
        if (end < due) due = end;
    }
    return due;
}

/* --- Flaws --- */

uint64_t gx_retention_waiting(const gx_retention *retention) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < GX_RETENTION_LISTS; i++)
        for (uint64_t at = retention->waiting[i].head; at; at = gx_ledger_at(retention->ledger, at - 1)->next) count++;
    return count;
}

/* What is kept belongs to a tree, and one that waits is kept; blocks are as large as is said. */
const char *gx_retention_flaw(const gx_retention *retention) {
    const gx_ledger *ledger = retention->ledger;
    uint64_t bytes = 0;
    for (uint32_t slot = 0; retention->segments && slot < ledger->slots; slot++) {
        const gx_retained *kept = gx_retention_at(retention, slot);
        gx_tree_state state = gx_ledger_state(ledger, slot);
        if (!kept && state == GX_TREE_WAITING) return "a tree waits to be emitted again, and nothing is kept of it";
        if (!kept) continue;
        bytes += gx_block_size(kept->body);
        if (state == GX_TREE_FREE || state == GX_TREE_RESTING) return "the tuple of no tree is kept";
    }
    return !retention->segments || bytes == ledger->counters.retained_bytes ? NULL
                                                                            : "what is kept is not as large as is said";
}
