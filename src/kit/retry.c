#include "kit/retry.h"

#include "base/bits.h"
#include "kit/define.h"

#define NONE UINT32_MAX
enum { SMALLEST = 64 };

void gx_retry_init(gx_retry *retry, gx_heap *heap, gale_collector *out, uint32_t max_attempts) {
    *retry = (gx_retry){ .heap = heap,
                         .out = out,
                         .free_first = NONE,
                         .queue_first = NONE,
                         .queue_last = NONE,
                         .oldest = NONE,
                         .newest = NONE,
                         .max_attempts = max_attempts ? max_attempts : GX_RETRY_ATTEMPTS };
}

void gx_retry_fini(gx_retry *retry) {
    for (uint32_t i = 0; i < retry->used; i++) {
        gx_free(retry->heap, GX_TAG_OTHER, retry->slots[i].data, retry->slots[i].capacity);
    }
    gx_free(retry->heap, GX_TAG_OTHER, retry->slots, retry->capacity * sizeof *retry->slots);
    retry->slots = NULL;
    retry->oldest = retry->newest = NONE;
    retry->used = 0;
    retry->capacity = 0;
}

static void push_free(gx_retry *retry, uint32_t id) {
    gx_retry_slot *slot = &retry->slots[id];
    slot->state = GX_RETRY_FREE;
    slot->next = retry->free_first;
    retry->free_first = id;
}

static void link_newest(gx_retry *retry, uint32_t id) {
    gx_retry_slot *slot = &retry->slots[id];
    slot->older = retry->newest;
    slot->newer = NONE;
    *(retry->newest == NONE ? &retry->oldest : &retry->slots[retry->newest].newer) = id;
    retry->newest = id;
}

static void unlink_slot(gx_retry *retry, const gx_retry_slot *slot) {
    *(slot->older == NONE ? &retry->oldest : &retry->slots[slot->older].newer) = slot->newer;
    *(slot->newer == NONE ? &retry->newest : &retry->slots[slot->newer].older) = slot->older;
}

static void free_slot(gx_retry *retry, uint32_t id) {
    gx_retry_slot *slot = &retry->slots[id];
    unlink_slot(retry, slot);
    if (slot->capacity > GX_RETRY_KEEP) {
        gx_free(retry->heap, GX_TAG_OTHER, slot->data, slot->capacity);
        slot->data = NULL;
        slot->capacity = 0;
    }
    push_free(retry, id);
}

/* Puts a slot into the list of free ones unless there is one. */
static bool have_free(gx_retry *retry) {
    if (GX_LIKELY(retry->free_first != NONE)) return true;
    if (retry->used == NONE - 1) return false;
    if (!gx_grow(retry->heap, GX_TAG_OTHER, (void **)&retry->slots, &retry->capacity, (size_t)retry->used + 1,
                 sizeof *retry->slots)) {
        return false;
    }
    retry->slots[retry->used] = (gx_retry_slot){ 0 };
    push_free(retry, retry->used++);
    return true;
}

static bool fit(gx_retry *retry, gx_retry_slot *slot, size_t size) {
    if (GX_LIKELY(size <= slot->capacity && slot->data)) return true;
    /* What the buffer held is over: nothing needs to be moved. A large one is made to measure. */
    size_t capacity = size <= SMALLEST ? SMALLEST : size <= GX_RETRY_KEEP ? gx_power_above(size) : size;
    char *data = gx_alloc(retry->heap, GX_TAG_OTHER, capacity);
    if (!data) return false;
    gx_free(retry->heap, GX_TAG_OTHER, slot->data, slot->capacity);
    slot->data = data;
    slot->capacity = capacity;
    return true;
}

int gx_retry_add(gx_retry *retry, gale_str line, bool is_text, uint64_t number, uint32_t *ret_id) {
    if (line.size > UINT32_MAX) return GALE_TOO_LARGE;
    if (!have_free(retry)) return GALE_NO_MEMORY;
    uint32_t id = retry->free_first;
    gx_retry_slot *slot = &retry->slots[id];
    if (!fit(retry, slot, line.size)) return GALE_NO_MEMORY;
    retry->free_first = slot->next;
    if (line.size) memcpy(slot->data, line.data, line.size);
    slot->size = (uint32_t)line.size;
    slot->number = number;
    slot->place = 0;
    slot->attempts = 0;
    slot->state = GX_RETRY_TAKEN;
    slot->is_text = is_text;
    link_newest(retry, id);
    *ret_id = id;
    return 0;
}

static void queue_last(gx_retry *retry, uint32_t id) {
    retry->slots[id].state = GX_RETRY_QUEUED;
    retry->slots[id].next = NONE;
    if (retry->queue_last == NONE) {
        retry->queue_first = id;
    } else {
        retry->slots[retry->queue_last].next = id;
    }
    retry->queue_last = id;
}

static void queue_first(gx_retry *retry, uint32_t id) {
    retry->slots[id].state = GX_RETRY_QUEUED;
    retry->slots[id].next = retry->queue_first;
    retry->queue_first = id;
    if (retry->queue_last == NONE) retry->queue_last = id;
}

bool gx_retry_take(gx_retry *retry, uint32_t *ret_id) {
    uint32_t id = retry->queue_first;
    if (id == NONE) return false;
    retry->queue_first = retry->slots[id].next;
    if (retry->queue_first == NONE) retry->queue_last = NONE;
    retry->slots[id].state = GX_RETRY_TAKEN;
    *ret_id = id;
    return true;
}

static void give_up(gx_retry *retry, uint32_t id, int32_t reason, const char *text, const char *component) {
    const gx_retry_slot *slot = &retry->slots[id];
    bool said = text && *text;
    gx_define_report(retry->out, "line %llu given up after %u attempt%s: %s%s%s%s%s%s",
                     (unsigned long long)slot->number, (unsigned)slot->attempts, slot->attempts == 1 ? "" : "s",
                     gale_reason_name(reason), said ? ": " : "", said ? text : "", component ? " (" : "",
                     component ? component : "", component ? ")" : "");
    retry->given_up++;
    free_slot(retry, id);
}

static void settle_failed(gx_retry *retry, uint32_t id, const gale_failure *failure) {
    /* A stop says nothing about the line: it stays what it is, unanswered. */
    bool over = failure->final || failure->reason == GALE_REASON_REJECTED ||
                retry->slots[id].attempts >= retry->max_attempts;
    if (!over || failure->reason == GALE_REASON_STOPPED) {
        queue_last(retry, id);
    } else {
        give_up(retry, id, failure->reason, failure->text, failure->component);
    }
}

int gx_retry_emit(gx_retry *retry, gale_collector *out, uint32_t id) {
    gx_retry_slot *slot = &retry->slots[id];
    gale_value line = slot->is_text ? gale_string(slot->data, slot->size) : gale_bytes(slot->data, slot->size);
    int rc = gale_emit_tracked(out, 0, &line, 1, id);
    if (GX_LIKELY(rc >= 0)) {
        slot->attempts++;
        slot->state = GX_RETRY_OPEN;
        return GALE_NEXT_EMITTED;
    }
    if (rc == GALE_AGAIN || rc == GALE_NO_MEMORY || rc == GALE_STOPPED) {
        queue_first(retry, id);
        return rc == GALE_AGAIN ? GALE_NEXT_NOTHING : rc;
    }
    slot->attempts++;
    gale_failure failure = { .size = sizeof failure, .reason = GALE_REASON_FAILED, .text = gale_error_text(rc) };
    settle_failed(retry, id, &failure);
    return rc;
}

static bool is_open(const gx_retry *retry, uint64_t id) {
    return id < retry->used && retry->slots[id].state == GX_RETRY_OPEN;
}

void gx_retry_ack(gx_retry *retry, uint64_t id) {
    if (GX_LIKELY(is_open(retry, id))) free_slot(retry, (uint32_t)id);
}

void gx_retry_fail(gx_retry *retry, uint64_t id, const gale_failure *failure) {
    if (!is_open(retry, id)) return;
    /* What the engine emitted again under the same id was an attempt, too. */
    if (failure->attempts > 1) retry->slots[id].attempts += failure->attempts - 1;
    settle_failed(retry, (uint32_t)id, failure);
}
