#include "sim/book.h"

#include <string.h>

int gx_book_begin(gx_book *book, gx_heap *heap, gx_oracle *oracle, uint32_t tasks) {
    book->heap = heap;
    book->oracle = oracle;
    book->count = book->waiting = 0;
    if (!gx_grow(heap, GX_TAG_OTHER, &book->queues, &book->queue_capacity, tasks + 1u, sizeof *book->queues))
        return GALE_NO_MEMORY;
    for (size_t i = 0; i < book->queue_capacity; i++) book->queues[i].head = book->queues[i].count = 0;
    return GALE_OK;
}

void gx_book_fini(gx_book *book) {
    if (!book->heap) return;
    for (size_t i = 0; i < book->queue_capacity; i++)
        gx_free(book->heap, GX_TAG_OTHER, book->queues[i].numbers, book->queues[i].capacity * sizeof(uint32_t));
    gx_free(book->heap, GX_TAG_OTHER, book->queues, book->queue_capacity * sizeof *book->queues);
    gx_free(book->heap, GX_TAG_OTHER, book->entries, book->capacity * sizeof *book->entries);
    memset(book, 0, sizeof *book);
}

void gx_book_taken(gx_book *book, uint16_t task, gx_command_kind kind, uint64_t id) {
    gx_book_queue *queue = &book->queues[task];
    if (!gx_grow(book->heap, GX_TAG_OTHER, &book->entries, &book->capacity, book->count + 1u, sizeof *book->entries) ||
        !gx_grow(book->heap, GX_TAG_OTHER, &queue->numbers, &queue->capacity, queue->count + 1u,
                 sizeof *queue->numbers)) {
        gx_oracle_violated(book->oracle, "the simulator has no memory");
        return;
    }
    book->entries[book->count] = (gx_book_entry){ id, task, (uint8_t)kind, GX_BOOK_WAITING };
    queue->numbers[queue->count++] = book->count++;
    book->waiting++;
}

uint32_t gx_book_carried_out(gx_book *book, uint16_t task, gx_command_kind kind, uint64_t id) {
    gx_book_queue *queue = &book->queues[task];
    bool answers = kind == GX_COMMAND_ACK || kind == GX_COMMAND_FAIL;
    uint32_t number = queue->head < queue->count ? queue->numbers[queue->head] : UINT32_MAX;
    if (number == UINT32_MAX || book->entries[number].kind != kind ||
        (answers ? book->entries[number].id : number) != id) {
        gx_oracle_violated(
            book->oracle, "task %u was commanded otherwise than by its remote: out of order, twice or by nobody", task);
        return UINT32_MAX;
    }
    book->entries[number].state = GX_BOOK_DONE;
    book->waiting--;
    if (++queue->head == queue->count) queue->head = queue->count = 0;
    gx_oracle_trace(book->oracle, (uint64_t)number << 16 | task);
    return number;
}

void gx_book_refused(gx_book *book, uint32_t number) {
    if (number != UINT32_MAX && book->entries[number].kind == GX_COMMAND_TRACKED)
        book->entries[number].state = GX_BOOK_REFUSED;
}

uint64_t gx_book_told(gx_book *book, uint16_t task, uint64_t id, const gale_failure *failure) {
    uint64_t number = id & ~GX_BOOK_ID;
    gx_book_entry *entry = number < book->count ? &book->entries[number] : NULL;
    bool stopped = failure && failure->reason == GALE_REASON_STOPPED;
    bool right = entry && entry->task == task && entry->kind == GX_COMMAND_TRACKED && failure &&
                 (entry->state == GX_BOOK_REFUSED || (entry->state == GX_BOOK_WAITING && stopped));
    if (!right) {
        gx_oracle_violated(book->oracle, "task %u was told of command %llu of its remote %s", task,
                           (unsigned long long)number,
                           entry && entry->state == GX_BOOK_TOLD ? "twice" : "for no cause");
        return 0;
    }
    if (entry->state == GX_BOOK_WAITING) book->waiting--;
    entry->state = GX_BOOK_TOLD;
    gx_oracle_trace(book->oracle, number << 8 | 3);
    return entry->id;
}

bool gx_book_waits(const gx_book *book, uint32_t task) {
    const gx_book_queue *queue = &book->queues[task];
    return queue->head < queue->count;
}

void gx_book_end(gx_book *book, bool drained) {
    for (uint32_t i = 0; i < book->count; i++) {
        const gx_book_entry *entry = &book->entries[i];
        bool untold = entry->state == GX_BOOK_REFUSED ||
                      (entry->state == GX_BOOK_WAITING && entry->kind == GX_COMMAND_TRACKED);
        if (untold)
            gx_oracle_violated(book->oracle, "the run is over, but task %u never heard of command %u of its remote",
                               entry->task, i);
        if (drained && entry->state == GX_BOOK_WAITING)
            gx_oracle_violated(book->oracle, "all is drained, but command %u of task %u's remote was not carried out",
                               i, entry->task);
    }
}
