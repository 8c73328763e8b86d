#include "kit/retry.h"

#include "base/bits.h"
#include "base/utf8.h"
#include "kit/define.h"
#include "kit/record.h"

#include <stdio.h>

#define NONE UINT32_MAX
enum { SMALLEST = 64, NAME = 200 };

void gx_retry_init(gx_retry *retry, gx_heap *heap, gale_collector *out, uint32_t max_attempts) {
    *retry = (gx_retry){ .heap = heap,
                         .out = out,
                         .free_first = NONE,
                         .queue_first = NONE,
                         .queue_last = NONE,
                         .oldest = NONE,
                         .newest = NONE,
                         .max_attempts = max_attempts ? max_attempts : GX_RETRY_ATTEMPTS,
                         .what = "line" };
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
    retry->bytes += slot->size;
    retry->lines++;
    slot->older = retry->newest;
    slot->newer = NONE;
    *(retry->newest == NONE ? &retry->oldest : &retry->slots[retry->newest].newer) = id;
    retry->newest = id;
}

static void unlink_slot(gx_retry *retry, const gx_retry_slot *slot) {
    retry->bytes -= slot->size;
    retry->lines--;
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
    slot->source = 0;
    slot->state = GX_RETRY_TAKEN;
    slot->is_text = is_text;
    slot->dropped = false;
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

void gx_retry_queue(gx_retry *retry, uint32_t id) {
    queue_last(retry, id);
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

static void report_given_up(gx_retry *retry, const gx_retry_slot *slot, const gale_failure *failure) {
    const char *text = failure->text, *component = failure->component;
    bool said = text && *text;
    char name[NAME];
    snprintf(name, sizeof name, "%s %llu", retry->what, (unsigned long long)slot->number);
    if (retry->name_call) retry->name_call(retry->user, slot, name, sizeof name);
    gx_define_report(retry->out, "%s given up after %u attempt%s: %s%s%s%s%s%s", name, (unsigned)slot->attempts,
                     slot->attempts == 1 ? "" : "s", gale_reason_name(failure->reason), said ? ": " : "",
                     said ? text : "", component ? " (" : "", component ? component : "", component ? ")" : "");
}

static void give_up(gx_retry *retry, uint32_t id, const gale_failure *failure) {
    const gx_retry_slot *slot = &retry->slots[id];
    if (!retry->give_back_call || !retry->give_back_call(retry->user, slot, failure)) {
        report_given_up(retry, slot, failure);
        retry->given_up++;
        if (retry->given_up_call) retry->given_up_call(retry->user, slot, failure);
    }
    free_slot(retry, id);
}

static void settle_failed(gx_retry *retry, uint32_t id, const gale_failure *failure) {
    /* A stop says nothing about the line: it stays what it is, unanswered. */
    bool over = failure->final || failure->reason == GALE_REASON_REJECTED ||
                retry->slots[id].attempts >= retry->max_attempts;
    if (!over || failure->reason == GALE_REASON_STOPPED) {
        queue_last(retry, id);
    } else {
        give_up(retry, id, failure);
    }
}

/* What `next` returns for a line that the collector has refused. */
static GX_COLD int refused(gx_retry *retry, uint32_t id, int rc) {
    if (rc == GALE_AGAIN || rc == GALE_NO_MEMORY || rc == GALE_STOPPED) {
        queue_first(retry, id);
        return rc == GALE_AGAIN ? GALE_NEXT_NOTHING : rc;
    }
    retry->slots[id].attempts++;
    gale_failure failure = { .size = sizeof failure, .reason = GALE_REASON_FAILED, .text = gale_error_text(rc) };
    settle_failed(retry, id, &failure);
    return rc;
}

GX_INLINE void emitted(gx_retry *retry, uint32_t id) {
    retry->slots[id].attempts++;
    retry->slots[id].state = GX_RETRY_OPEN;
}

GX_INLINE int emit_row(gx_retry *retry, gale_collector *out, uint32_t id, const gale_value *values, size_t count) {
    int rc = gale_emit_tracked(out, 0, values, count, retry->tag | id);
    if (GX_UNLIKELY(rc < 0)) return refused(retry, id, rc);
    emitted(retry, id);
    return GALE_NEXT_EMITTED;
}

int gx_retry_emit_row(gx_retry *retry, gale_collector *out, uint32_t id, const gale_value *values, size_t count) {
    return emit_row(retry, out, id, values, count);
}

int gx_retry_emit(gx_retry *retry, gale_collector *out, uint32_t id) {
    gale_value line = gx_retry_line(&retry->slots[id]);
    return emit_row(retry, out, id, &line, 1);
}

int gx_retry_emit_many(gx_retry *retry, gale_collector *out, const uint32_t *ids, uint32_t count) {
    gale_value values[GX_RETRY_MANY];
    uint64_t message_ids[GX_RETRY_MANY];
    size_t done = 0;
    for (uint32_t i = 0; i < count; i++) {
        values[i] = gx_retry_line(&retry->slots[ids[i]]);
        message_ids[i] = retry->tag | ids[i];
    }
    int rc = gale_emit_many_tracked(out, 0, values, 1, count, message_ids, &done);
    for (size_t i = 0; i < done; i++) emitted(retry, ids[i]);
    if (GX_LIKELY(rc >= 0)) return GALE_NEXT_EMITTED;
    for (size_t i = count; --i > done;) queue_first(retry, ids[i]);
    int said = refused(retry, ids[done], rc);
    return done ? GALE_NEXT_EMITTED : said;
}

void gx_retry_ack(gx_retry *retry, uint64_t id) {
    if (GX_LIKELY(gx_retry_open_slot(retry, id) != NULL)) free_slot(retry, (uint32_t)(id ^ retry->tag));
}

void gx_retry_fail(gx_retry *retry, uint64_t id, const gale_failure *failure) {
    gx_retry_slot *slot = gx_retry_open_slot(retry, id);
    if (!slot) return;
    if (slot->dropped) {
        free_slot(retry, (uint32_t)(id ^ retry->tag));
        return;
    }
    /* What the engine emitted again under the same id was an attempt, too. */
    if (failure->attempts > 1) slot->attempts += failure->attempts - 1;
    settle_failed(retry, (uint32_t)(id ^ retry->tag), failure);
}

uint64_t gx_retry_drop(gx_retry *retry, uint32_t source) {
    uint32_t id = retry->queue_first;
    uint64_t open = 0;
    retry->queue_first = retry->queue_last = NONE;
    while (id != NONE) {
        uint32_t next = retry->slots[id].next;
        if (retry->slots[id].source == source)
            free_slot(retry, id);
        else
            queue_last(retry, id);
        id = next;
    }
    for (id = retry->oldest; id != NONE; id = retry->slots[id].newer) {
        if (retry->slots[id].source != source) continue;
        retry->slots[id].dropped = true;
        open++;
    }
    return open;
}

/* --- Beyond the process ------------------------------------------------------------------------------------------- */

/* A head (slots that are needed, lines, those in the queue, lines given up); each line from the oldest on, a long one in
 * pieces; the ids in the queue. */
static const char head_shape[] = "iiii", line_shape[] = "iiiiioy", piece_shape[] = "y", queued_shape[] = "i";
enum { PIECE = 16 << 20 };

/* The lines, and how many slots have room for them under their ids. */
static uint32_t count_lines(const gx_retry *retry, uint32_t *ret_slots) {
    uint32_t count = 0;
    *ret_slots = 0;
    for (uint32_t id = retry->oldest; id != NONE; id = retry->slots[id].newer) {
        count++;
        if (id >= *ret_slots) *ret_slots = id + 1;
    }
    return count;
}

static uint32_t count_queued(const gx_retry *retry) {
    uint32_t count = 0;
    for (uint32_t id = retry->queue_first; id != NONE; id = retry->slots[id].next) count++;
    return count;
}

static gale_value piece_of(const gx_retry_slot *slot, size_t at) {
    size_t left = slot->size - at;
    return gale_bytes(left ? slot->data + at : NULL, left < PIECE ? left : PIECE);
}

static int save_line(const gx_retry_slot *slot, uint32_t id, gale_saver *to) {
    const gale_value values[] = { gale_i64(id),         gale_i64((int64_t)slot->number), gale_i64(slot->place),
                                  gale_i64(slot->size), gale_i64(slot->attempts),        gale_bool(slot->is_text),
                                  piece_of(slot, 0) };
    int rc = gale_save(to, values, sizeof values / sizeof *values);
    for (size_t at = PIECE; rc == GALE_OK && at < slot->size; at += PIECE) {
        gale_value piece = piece_of(slot, at);
        rc = gale_save(to, &piece, 1);
    }
    return rc;
}

int gx_retry_save(const gx_retry *retry, gale_saver *to) {
    uint32_t slots, lines = count_lines(retry, &slots);
    const gale_value head[] = { gale_i64(slots), gale_i64(lines), gale_i64(count_queued(retry)),
                                gale_i64((int64_t)retry->given_up) };
    int rc = gale_save(to, head, sizeof head / sizeof *head);
    for (uint32_t id = retry->oldest; rc == GALE_OK && id != NONE; id = retry->slots[id].newer)
        rc = save_line(&retry->slots[id], id, to);
    for (uint32_t id = retry->queue_first; rc == GALE_OK && id != NONE; id = retry->slots[id].next) {
        gale_value queued = gale_i64(id);
        rc = gale_save(to, &queued, 1);
    }
    return rc;
}

/* Free slots, as many as there were. */
static int make_slots(gx_retry *retry, uint32_t used) {
    if (used &&
        !gx_grow(retry->heap, GX_TAG_OTHER, (void **)&retry->slots, &retry->capacity, used, sizeof *retry->slots))
        return GALE_NO_MEMORY;
    for (; retry->used < used; retry->used++) retry->slots[retry->used] = (gx_retry_slot){ .state = GX_RETRY_FREE };
    return GALE_OK;
}

/* What the rest of a line's record and the pieces behind it have. */
static int take_bytes(gx_retry_slot *slot, const gale_value *first, gale_saved *from) {
    const gale_value *piece = first;
    for (size_t at = 0;;) {
        size_t left = slot->size - at;
        if (piece->size != (left < PIECE ? left : PIECE)) return GALE_DAMAGED;
        if (piece->size) memcpy(slot->data + at, piece->as.bytes, piece->size);
        at += piece->size;
        if (at == slot->size) return GALE_OK;
        int rc = gx_record_need(from, piece_shape, &piece);
        if (rc < 0) return rc;
    }
}

static bool is_below(const gale_value *value, uint64_t limit) {
    return value->as.i64 >= 0 && (uint64_t)value->as.i64 < limit;
}

static int take_line(gx_retry *retry, gale_saved *from) {
    const gale_value *line;
    int rc = gx_record_need(from, line_shape, &line);
    if (rc < 0) return rc;
    bool valid = is_below(&line[0], retry->used) && is_below(&line[3], UINT32_MAX) && is_below(&line[4], UINT32_MAX);
    gx_retry_slot *slot = valid ? &retry->slots[line[0].as.i64] : NULL;
    /* A size that the first piece does not fit would be memory for nothing. */
    size_t size = valid ? (size_t)line[3].as.i64 : 0;
    if (!slot || slot->state != GX_RETRY_FREE || line[6].size != (size < PIECE ? size : PIECE)) return GALE_DAMAGED;
    if (!fit(retry, slot, size)) return GALE_NO_MEMORY;
    uint32_t id = (uint32_t)line[0].as.i64;
    slot->number = (uint64_t)line[1].as.i64;
    slot->place = line[2].as.i64;
    slot->size = (uint32_t)size;
    slot->attempts = (uint32_t)line[4].as.i64;
    slot->is_text = line[5].as.boolean;
    slot->state = GX_RETRY_OPEN;
    link_newest(retry, id);
    rc = take_bytes(slot, &line[6], from);
    if (rc < 0) return rc;
    return slot->is_text && !gx_utf8_valid(slot->data, slot->size) ? GALE_DAMAGED : GALE_OK;
}

static int take_queued(gx_retry *retry, gale_saved *from) {
    const gale_value *queued;
    int rc = gx_record_need(from, queued_shape, &queued);
    if (rc < 0) return rc;
    if (!gx_retry_open_slot(retry, retry->tag ^ (uint64_t)queued->as.i64)) return GALE_DAMAGED;
    queue_last(retry, (uint32_t)queued->as.i64);
    return GALE_OK;
}

int gx_retry_restore(gx_retry *retry, gale_saved *from) {
    const gale_value *head;
    int rc = gx_record_need(from, head_shape, &head);
    if (rc < 0) return rc;
    if (!is_below(&head[0], NONE) || !is_below(&head[1], (uint64_t)head[0].as.i64 + 1) ||
        !is_below(&head[2], (uint64_t)head[1].as.i64 + 1) || retry->used) {
        return GALE_DAMAGED;
    }
    int64_t lines = head[1].as.i64, queued = head[2].as.i64;
    retry->given_up = (uint64_t)head[3].as.i64;
    rc = make_slots(retry, (uint32_t)head[0].as.i64);
    while (rc == GALE_OK && lines-- > 0) rc = take_line(retry, from);
    while (rc == GALE_OK && queued-- > 0) rc = take_queued(retry, from);
    for (uint32_t id = retry->used; rc == GALE_OK && id-- > 0;)
        if (retry->slots[id].state == GX_RETRY_FREE) push_free(retry, id);
    return rc;
}

int gx_retry_recall(gx_retry *retry, const gx_recall *recall) {
    int rc = gx_retry_restore(retry, recall->from);
    return rc == GALE_DAMAGED ? gx_recall_refuse(recall, "is followed by lines that were not written so") : rc;
}
