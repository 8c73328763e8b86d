#include "ds/batch.h"

enum { ALL_FREE = (1 << GX_BATCH_PARTS) - 1 };

static_assert(sizeof(gx_batch) == 64, "the head of a batch takes a line");
static_assert(GX_BATCH_SMALL % 64 == 0, "a batch begins with a line");

void gx_batches_init(gx_batches *pool, gx_heap *heap, uint32_t most) {
    memset(pool, 0, sizeof *pool);
    pool->heap = heap;
    pool->most = most;
}

void gx_batches_fini(gx_batches *pool) {
    while (pool->pages) {
        gx_page *page = pool->pages;
        pool->pages = page->next;
        gx_free_apart(pool->heap, GX_TAG_QUEUE, page, sizeof *page);
    }
}

/* --- Pages --- */

static void link_split(gx_batches *pool, gx_page *page) {
    page->before = NULL;
    page->behind = pool->split;
    if (pool->split) pool->split->before = page;
    pool->split = page;
}

static void unlink_split(gx_batches *pool, gx_page *page) {
    if (page->behind) page->behind->before = page->before;
    if (page->before)
        page->before->behind = page->behind;
    else
        pool->split = page->behind;
}

static void keep_large(gx_batches *pool, gx_page *page) {
    gx_batch *batch = (gx_batch *)page->parts[0];
    batch->page = page;
    batch->parts = GX_BATCH_PARTS;
    batch->next = pool->large;
    pool->large = batch;
}

static void keep(gx_batches *pool, gx_batch *batch) {
    gx_page *page = batch->page;
    GX_CHECK(page->home == pool);
    gx_count(&pool->used, 0 - (uint64_t)batch->parts * GX_BATCH_SMALL);
    if (batch->parts == GX_BATCH_PARTS) {
        GX_CHECK(!page->free);
        keep_large(pool, page);
        return;
    }
    uint32_t part = 1u << (uint32_t)((unsigned char *)batch - page->parts[0]) / GX_BATCH_SMALL;
    GX_CHECK(!(page->free & part));
    if (!page->free) link_split(pool, page);
    page->free |= part;
    if (page->free != ALL_FREE) return;
    unlink_split(pool, page);
    page->free = 0;
    keep_large(pool, page);
}

static void collect_returned(gx_batches *pool) {
    gx_batch *batch = gx_exchange_acquire(&pool->returned, NULL); /* A1 */
    while (batch) {
        gx_batch *next = batch->next;
        keep(pool, batch);
        batch = next;
    }
}

static gx_batch *take_large(gx_batches *pool) {
    gx_batch *batch = pool->large;
    if (GX_LIKELY(batch != NULL)) {
        pool->large = batch->next;
        return batch;
    }
    gx_page *page = gx_alloc_apart(pool->heap, GX_TAG_QUEUE, sizeof *page);
    if (!page) return NULL;
    page->home = pool;
    page->next = pool->pages;
    pool->pages = page;
    keep_large(pool, page);
    return take_large(pool);
}

static gx_batch *take_small(gx_batches *pool) {
    if (!pool->split) {
        gx_batch *whole = take_large(pool);
        if (!whole) return NULL;
        whole->page->free = ALL_FREE;
        link_split(pool, whole->page);
    }
    gx_page *page = pool->split;
    uint32_t part = (uint32_t)__builtin_ctz(page->free);
    page->free &= ~(1u << part);
    if (!page->free) unlink_split(pool, page);
    gx_batch *batch = (gx_batch *)page->parts[part];
    batch->page = page;
    batch->parts = 1;
    return batch;
}

/* --- Batches --- */

gx_batch *gx_batch_take(gx_batches *pool, bool large, uint32_t length) {
    GX_CHECK(length <= GX_BATCH_ROOM);
    large |= length > GX_BATCH_ROOM_SMALL;
    if (GX_UNLIKELY(!pool->large && (large || !pool->split))) collect_returned(pool);
    gx_batch *batch = large ? take_large(pool) : take_small(pool);
    if (GX_UNLIKELY(!batch)) return NULL;
    uint32_t room = gx_batch_space(batch);
    if (GX_UNLIKELY(pool->most) && room > pool->most) room = pool->most;
    batch->room = room;
    batch->used = batch->read = 0;
    batch->blocks = 0;
    batch->lane = 0;
    gx_count(&pool->used, (uint64_t)batch->parts * GX_BATCH_SMALL);
    return batch;
}

gx_batch *gx_batch_copy(gx_batches *pool, const gx_batch *batch) {
    uint32_t length = batch->used - batch->read;
    gx_batch *copy = gx_batch_take(pool, false, length);
    if (!copy) return NULL;
    copy->blocks = batch->blocks;
    copy->source = batch->source;
    copy->target = batch->target;
    copy->lane = batch->lane;
    copy->used = length;
    memcpy(copy->bytes, batch->bytes + batch->read, length);
    return copy;
}

void gx_batch_give(gx_batches *pool, gx_batch *batch) {
    keep(pool, batch);
}

void gx_batches_return(gx_batches *pool, gx_batch *first, gx_batch *last) {
    gx_batch *top = gx_load_relaxed(&pool->returned);
    do last->next = top;
    while (!gx_cas_release(&pool->returned, &top, first)); /* R1 */
}

uint32_t gx_batch_rows(const gx_batch *batch) {
    uint32_t count = 0;
    for (const void *row = gx_batch_front(batch); row; row = gx_batch_next(batch, row)) count++;
    return count;
}

/* --- Flaws --- */

const char *gx_batch_flaw(const gx_batch *batch) {
    if (batch->used > gx_batch_space(batch) || batch->read > batch->used) return "a batch has more rows than room";
    for (const void *row = gx_batch_front(batch); row; row = gx_batch_next(batch, row)) {
        uint32_t length = gx_load32(row), at = (uint32_t)((const unsigned char *)row - batch->bytes);
        if (length < 8 || length % 8 || length > batch->used - at) return "a row is of a length that none can have";
    }
    return NULL;
}

const char *gx_batch_list_flaw(const gx_batch_list *list) {
    uint64_t count = 0, weight = 0;
    for (const gx_batch *batch = list->head; batch; batch = batch->next) {
        const char *flaw = gx_batch_flaw(batch);
        if (flaw) return flaw;
        if (batch->read == batch->used) return "a batch waits, and has no rows";
        if (!batch->next && batch != list->tail) return "a list does not end with its last batch";
        weight += gx_batch_weight(batch);
        if (++count > list->count) return "a list has more batches than it says";
    }
    if (count != list->count) return "a list has fewer batches than it says";
    return weight == list->weight ? NULL : "a list's batches do not weigh what it says";
}

uint64_t gx_batches_returning(const gx_batches *pool) {
    uint64_t bytes = 0;
    const gx_batch *batch = gx_load_acquire(&((gx_batches *)pool)->returned);
    for (; batch; batch = batch->next) bytes += (uint64_t)batch->parts * GX_BATCH_SMALL;
    return bytes;
}

/* Every page is whole and free, or split with free parts, or wholly in use. */
const char *gx_batches_flaw(const gx_batches *pool) {
    uint64_t pages = 0, idle = 0, split = 0;
    for (const gx_page *page = pool->pages; page; page = page->next) {
        pages++;
        idle += (uint64_t)__builtin_popcount(page->free);
        split += page->free != 0;
        if (page->free > ALL_FREE || page->home != pool) return "a page is not as pages are";
    }
    for (const gx_page *page = pool->split; page; page = page->behind)
        if (!page->free || split-- == 0) return "a page without free parts is among those that have some";
    if (split) return "a page with free parts is not to be found";
    for (const gx_batch *batch = pool->large; batch; batch = batch->next) {
        idle += GX_BATCH_PARTS;
        if (batch->page->free || idle > pages * GX_BATCH_PARTS) return "a batch is free twice";
    }
    uint64_t used = gx_load_relaxed(&((gx_batches *)pool)->used) / GX_BATCH_SMALL;
    return idle + used == pages * GX_BATCH_PARTS ? NULL : "a batch is neither free nor in use";
}
