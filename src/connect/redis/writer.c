#include "connect/redis/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 64 };

/* --- Out ------------------------------------------------------------------------------------------------------------------ */

static const redis_written *at(const redis_writer *w, size_t index) {
    return &w->queue[(w->first + index) & (w->room - 1)];
}

static bool may_send(const redis_writer *w) {
    return !w->ops->may_send || w->ops->may_send(w->user);
}

static void send_more(redis_writer *w) {
    while (w->link.ready && w->sent < w->count && w->sent < w->window && may_send(w)) {
        size_t size = at(w, w->sent)->size;
        int rc = redis_link_ask(&w->link, wire_unsent_rest(&w->bytes).data + w->sent_size, size, 1);
        if (rc == GALE_NO_MEMORY) redis_link_fail(&w->link, gale_error_text(rc));
        if (rc < 0) return;
        if (w->ops->sent) w->ops->sent(w->user, at(w, w->sent)->id);
        w->sent++;
        w->sent_size += size;
    }
}

void redis_writer_flush(redis_writer *w) {
    send_more(w);
    redis_link_flush(&w->link);
}

static bool make_room(redis_writer *w) {
    if (w->count < w->room) return true;
    size_t room = w->room ? 2 * w->room : FIRST_ROOM;
    redis_written *queue = malloc(room * sizeof *queue);
    if (!queue) return false;
    for (size_t i = 0; i < w->count; i++) queue[i] = *at(w, i);
    free(w->queue);
    w->queue = queue;
    w->first = 0;
    w->room = room;
    return true;
}

int redis_writer_add(redis_writer *w, uint64_t id, const void *command, size_t size) {
    if (!make_room(w)) return GALE_NO_MEMORY;
    int rc = wire_unsent_add(&w->bytes, command, size);
    if (rc < 0) return rc;
    w->queue[(w->first + w->count) & (w->room - 1)] = (redis_written){ id, size };
    w->count++;
    return 0;
}

/* --- What became of it ---------------------------------------------------------------------------------------------------- */

static redis_written pass(redis_writer *w) {
    redis_written written = *at(w, 0);
    wire_unsent_took(&w->bytes, written.size);
    w->first = (w->first + 1) & (w->room - 1);
    w->count--;
    w->sent--;
    w->sent_size -= written.size;
    return written;
}

static void settle(redis_writer *w, const redis_reply *reply) {
    bool refused = redis_reply_refuses(reply);
    if (reply->kind == REDIS_WRONG && !refused) {
        redis_link_refuse(&w->link, reply);
        return;
    }
    uint64_t id = pass(w).id;
    redis_link_well(&w->link);
    if (refused)
        w->ops->refused(w->user, id, reply->text.data);
    else
        w->ops->taken(w->user, id, reply);
}

static void hear(void *user) {
    redis_writer *w = user;
    const redis_reply *reply;
    while ((reply = redis_link_reply(&w->link))) settle(w, reply);
    send_more(w);
}

static void begin(void *user) {
    redis_writer *w = user;
    if (!w->count) redis_link_well(&w->link);
    send_more(w);
}

/* What is on its way goes again; one that was alone may be given up, and is the first then. */
static void lose(void *user) {
    redis_writer *w = user;
    bool counts = w->link.wire.ended && !w->link.refused;
    if (w->ops->lost && w->ops->lost(w->user, counts, w->link.wire.why)) (void)pass(w);
    w->sent = w->sent_size = 0;
}

static const redis_link_ops of_link = { begin, hear, begin, lose };

void redis_writer_drive(redis_writer *w, int milliseconds) {
    redis_writer_flush(w);
    wire_drive(&w->link.wire, milliseconds);
}

/* --- It --------------------------------------------------------------------------------------------------------------------- */

int redis_writer_open(redis_writer *w, const redis_settings *given, const redis_task *task, size_t window,
                      const redis_writer_ops *ops, void *user, gale_error *error) {
    w->ops = ops;
    w->user = user;
    w->window = window;
    w->bytes.most = SIZE_MAX / 2;
    return redis_link_open(&w->link, given, task, &of_link, w, error);
}

void redis_writer_close(redis_writer *w) {
    redis_link_close(&w->link);
    wire_unsent_free(&w->bytes);
    free(w->queue);
}
