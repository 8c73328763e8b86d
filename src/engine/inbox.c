#include "engine/inbox.h"

#include "base/assert.h"
#include "base/bits.h"
#include "base/utf8.h"

#include <stdlib.h>

static_assert(sizeof(gx_command) % 8 == 0, "what follows a command is aligned");

gx_inbox *gx_inbox_new(gx_bell *bell) {
    gx_inbox *inbox = calloc(1, sizeof *inbox);
    if (!inbox) return NULL;
    if (!gx_monitor_init(&inbox->lock)) {
        free(inbox);
        return NULL;
    }
    inbox->bell = bell;
    gx_store_relaxed(&inbox->refs, 1);
    return inbox;
}

void gx_inbox_ref(gx_inbox *inbox) {
    GX_CHECK(gx_load_relaxed(&inbox->refs) > 0);
    gx_add_relaxed(&inbox->refs, 1);
}

void gx_inbox_release(gx_inbox *inbox) {
    if (!inbox || gx_sub_acq_rel(&inbox->refs, 1) != 1) return;
    for (int i = 0; i < GX_INBOX_COUNT; i++) {
        gx_buf_fini(&inbox->queues[i].incoming);
        gx_buf_fini(&inbox->queues[i].working);
    }
    gx_monitor_fini(&inbox->lock);
    free(inbox);
}

/* Whether a queue takes `length` more bytes for a task; under the lock. */
static int admit(gx_inbox *inbox, gx_inbox_name name, size_t length, gx_atomic64 *held) {
    GX_CHECK(name < GX_INBOX_COUNT);
    GX_CHECK(length % 8 == 0);
    const gx_inbox_queue *queue = &inbox->queues[name];
    if (inbox->closed & 1u << name) return GALE_STOPPED;
    if (inbox->closed && gx_load_relaxed(held) == 0) return GALE_AGAIN;
    if (queue->incoming.size && queue->incoming.size + length > GALE_REMOTE_INBOX) return GALE_AGAIN;
    return gx_buf_reserve(&inbox->queues[name].incoming, length) ? GALE_OK : GALE_NO_MEMORY;
}

static int64_t size_of(const gx_command_content *what) {
    if (what->text) return GALE_FAILURE_TEXT + 1;
    if (what->body) return (int64_t)what->body_size;
    return what->values ? gx_body_measure(what->values, what->count) : 0;
}

static void write_content(const gx_command_content *what, void *at, uint32_t size) {
    memset((char *)at + size / 8 * 8, 0, gx_align_up(size, 8) - size / 8 * 8);
    if (what->text)
        gx_utf8_copy(at, size, what->text);
    else if (what->body)
        memcpy(at, what->body, size);
    else if (size)
        gx_body_encode(what->values, what->count, at);
}

static void append(gx_inbox *inbox, gx_inbox_name name, const gx_command *head, const gx_command_content *what) {
    GX_CHECK(head->length % 8 == 0);
    gx_buf *incoming = &inbox->queues[name].incoming;
    gx_command *command = (gx_command *)(incoming->data + incoming->size);
    *command = *head;
    if (head->anchor_count) memcpy(command + 1, what->anchors, head->anchor_count * sizeof *what->anchors);
    write_content(what, (void *)(uintptr_t)gx_command_body(command), head->body_size);
    incoming->size += head->length;
    gx_store_relaxed(&inbox->waiting, gx_load_relaxed(&inbox->waiting) | 1u << name);
    gx_bell_ring(inbox->bell);
}

int gx_inbox_put(gx_inbox *inbox, gx_inbox_name queue, gx_command head, const gx_command_content *what,
                 gx_atomic64 *held) {
    int64_t size = size_of(what);
    if (size < 0) return (int)size;
    size_t length = sizeof head + head.anchor_count * sizeof *what->anchors + gx_align_up((size_t)size, 8);
    if (length > GX_BODY_MAX) return GALE_TOO_LARGE;
    head.length = (uint32_t)length;
    head.body_size = (uint32_t)size;
    gx_monitor_lock(&inbox->lock);
    int rc = admit(inbox, queue, length, held);
    if (rc == GALE_NO_MEMORY) inbox->queues[queue].incoming.failed = false;
    if (rc == GALE_OK) append(inbox, queue, &head, what);
    gx_monitor_unlock(&inbox->lock);
    return rc;
}

/* The queue's buffers change places when all that was taken is done. */
static void swap(gx_inbox *inbox, gx_inbox_name name) {
    GX_CHECK(inbox->queues[name].at == inbox->queues[name].working.size);
    gx_inbox_queue *queue = &inbox->queues[name];
    gx_monitor_lock(&inbox->lock);
    gx_buf done = queue->working;
    queue->working = queue->incoming;
    queue->incoming = done;
    gx_buf_reset(&queue->incoming);
    queue->at = 0;
    gx_store_relaxed(&inbox->waiting, gx_load_relaxed(&inbox->waiting) & ~(1u << name));
    gx_monitor_unlock(&inbox->lock);
}

const gx_command *gx_inbox_peek(gx_inbox *inbox, gx_inbox_name name) {
    gx_inbox_queue *queue = &inbox->queues[name];
    if (queue->at == queue->working.size) {
        if (!(gx_load_relaxed(&inbox->waiting) & 1u << name)) return NULL;
        swap(inbox, name);
    }
    return queue->at < queue->working.size ? (const gx_command *)(queue->working.data + queue->at) : NULL;
}

void gx_inbox_done(gx_inbox *inbox, gx_inbox_name name, const gx_command *command) {
    GX_CHECK(inbox->queues[name].at + command->length <= inbox->queues[name].working.size);
    inbox->queues[name].at += command->length;
}

static bool is_worked_off(const gx_inbox_queue *queue) {
    return queue->at == queue->working.size;
}

bool gx_inbox_has_news(gx_inbox *inbox) {
    uint32_t waiting = gx_load_relaxed(&inbox->waiting);
    for (int i = 0; waiting && i < GX_INBOX_COUNT; i++)
        if (waiting & 1u << i && is_worked_off(&inbox->queues[i])) return true;
    return false;
}

bool gx_inbox_is_empty(gx_inbox *inbox) {
    if (gx_load_relaxed(&inbox->waiting)) return false;
    for (int i = 0; i < GX_INBOX_COUNT; i++)
        if (!is_worked_off(&inbox->queues[i])) return false;
    return true;
}

void gx_inbox_close_queue(gx_inbox *inbox, gx_inbox_name queue) {
    if (inbox->closed & 1u << queue) return; /* who calls this is the only one that writes it */
    gx_monitor_lock(&inbox->lock);
    inbox->closed |= 1u << queue;
    gx_monitor_unlock(&inbox->lock);
}

void gx_inbox_close(gx_inbox *inbox) {
    gx_monitor_lock(&inbox->lock);
    inbox->closed = (1u << GX_INBOX_COUNT) - 1;
    inbox->bell = NULL;
    gx_monitor_unlock(&inbox->lock);
}

static void each_of(const gx_buf *bytes, size_t at, gx_inbox_name queue,
                    void (*each)(void *user, gx_inbox_name queue, const gx_command *command), void *user) {
    while (at < bytes->size) {
        const gx_command *command = (const gx_command *)(bytes->data + at);
        each(user, queue, command);
        at += command->length;
    }
}

void gx_inbox_each(gx_inbox *inbox, void (*each)(void *user, gx_inbox_name queue, const gx_command *command),
                   void *user) {
    for (int i = 0; i < GX_INBOX_COUNT; i++) {
        gx_inbox_queue *queue = &inbox->queues[i];
        each_of(&queue->working, queue->at, (gx_inbox_name)i, each, user);
        gx_monitor_lock(&inbox->lock);
        each_of(&queue->incoming, 0, (gx_inbox_name)i, each, user);
        gx_monitor_unlock(&inbox->lock);
    }
}
