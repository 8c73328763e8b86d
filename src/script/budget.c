#include "script/budget.h"

#include "base/os/time.h"

#include <lua.h>
#include <string.h>

enum {
    ALLOCATION = 4,       /* units */
    ALLOCATED_UNIT = 64,  /* bytes */
    COLLECTED_UNIT = 32,  /* bytes */
    LOOKED_AT_UNIT = 512, /* bytes */
    COPIED_UNIT = 128,    /* slots */
    SLOT = 16             /* bytes */
};

/* --- Memory --- */

/* What Lua is given stands behind its own size, so that a block that shrinks may stay where it is: Lua wants that
 * never to fail. */
typedef struct gx_budget_block {
    _Alignas(16) size_t size; /* with this */
    bool is_stack;
} block;

static void note_stack(gx_budget *budget, block *stack, size_t size) {
    stack->is_stack = true;
    budget->stack = size / SLOT;
    if (budget->stack > budget->stack_most) budget->stack_most = budget->stack;
}

/* Lua moves its stack: it takes the new block, then it frees the old one. Newer releases resize the block. */
static void free_block(gx_budget *budget, block *old) {
    if (!old) return;
    if (budget->last == old) budget->last = NULL;
    block *moved = old->is_stack ? budget->last : NULL;
    if (moved) note_stack(budget, moved, moved->size - sizeof *moved);
    budget->used -= old->size;
    gx_free(budget->heap, GX_TAG_OTHER, old, old->size);
}

static bool may_take(gx_budget *budget, size_t size) {
    if (budget->most == SIZE_MAX) return true;
    return budget->left >= 0 && budget->used <= budget->most && size <= budget->most - budget->used;
}

static void note_size(gx_budget *budget, bool is_text, size_t size) {
    size_t *most = is_text ? &budget->longest : &budget->largest;
    if (size > *most) *most = size;
}

static block *take_block(gx_budget *budget, size_t size) {
    block *made = gx_alloc(budget->heap, GX_TAG_OTHER, sizeof *made + size);
    if (!made) return NULL;
    made->size = sizeof *made + size;
    budget->used += made->size;
    budget->left -= (int64_t)(ALLOCATION + size / ALLOCATED_UNIT);
    return made;
}

/* Lua tries a full collection when it gets nothing, then it raises its error. That collection is charged, since a
 * call that has nearly no room left may ask for one again and again. */
static void *refuse(gx_budget *budget, bool was_allowed) {
    if (was_allowed) budget->out = true;
    budget->left -= (int64_t)(budget->used / COLLECTED_UNIT);
    return NULL;
}

static void *resize(gx_budget *budget, block *old, size_t size) {
    size_t now = old->size - sizeof *old;
    bool is_stack = old->is_stack || (budget->finds_stack && size > now);
    if (size > now && !may_take(budget, size)) return refuse(budget, false);
    if (is_stack) note_stack(budget, old, size);
    if (size <= now && size >= now / 2) return old + 1;
    block *made = take_block(budget, size);
    if (!made) return size <= now ? old + 1 : refuse(budget, true);
    made->is_stack = is_stack;
    old->is_stack = false;
    note_size(budget, false, size);
    memcpy(made + 1, old + 1, now < size ? now : size);
    free_block(budget, old);
    return made + 1;
}

/* Without a block, `known` is the new object's type. */
void *gx_budget_allocate(void *user, void *at, size_t known, size_t size) {
    gx_budget *budget = user;
    block *old = at ? (block *)at - 1 : NULL;
    if (!size) {
        free_block(budget, old);
        return NULL;
    }
    if (old) return resize(budget, old, size);
    if (!may_take(budget, size)) return refuse(budget, false);
    block *made = take_block(budget, size);
    if (!made) return refuse(budget, true);
    made->is_stack = false;
    budget->last = known ? budget->last : made;
    if (budget->finds_stack && !known) note_stack(budget, made, size);
    note_size(budget, known == LUA_TSTRING, size);
    return made + 1;
}

/* --- Work --- */

void gx_budget_begin(gx_budget *budget) {
    budget->left = (int64_t)budget->work;
    budget->longest = budget->written;
    budget->largest = 0;
    budget->stack_most = budget->stack;
    budget->out = false;
    budget->looked_at = 0;
    budget->slow_cpu = -1;
}

bool gx_budget_charge(gx_budget *budget, uint64_t work) {
    if (work > INT64_MAX / 2) work = INT64_MAX / 2;
    budget->left = budget->left < 0 ? budget->left : budget->left - (int64_t)work;
    return budget->left >= 0 || budget->most == SIZE_MAX;
}

/* CPU time is read only when the count is late, as that is a system call. The first late look begins to measure. */
static void charge_cpu(gx_budget *budget) {
    int64_t cpu = gx_os_thread_cpu();
    if (budget->slow_cpu < 0) {
        budget->slow_cpu = cpu;
        budget->slow_left = budget->left;
        return;
    }
    int64_t counted = budget->slow_left - budget->left, took = (cpu - budget->slow_cpu) / GX_BUDGET_NANOSECONDS;
    if (took > counted) budget->left -= took - counted;
}

static void look_at_clock(gx_budget *budget) {
    int64_t now = gx_os_monotonic(), units = budget->looked_left - budget->left;
    bool late = budget->looked_at && (now - budget->looked_at) / GX_BUDGET_NANOSECONDS > units;
    if (late) charge_cpu(budget);
    budget->looked_at = now;
    budget->looked_left = budget->left;
}

bool gx_budget_charge_instructions(gx_budget *budget) {
    uint64_t price = 1 + budget->longest / LOOKED_AT_UNIT + budget->stack_most / COPIED_UNIT;
    budget->stack_most = budget->stack;
    (void)gx_budget_charge(budget, GX_BUDGET_INSTRUCTIONS * price);
    if (!budget->count_alone) look_at_clock(budget);
    return budget->left >= 0 || budget->most == SIZE_MAX;
}

uint64_t gx_budget_walk(const gx_budget *budget) {
    return 1 + budget->largest / ALLOCATED_UNIT;
}
