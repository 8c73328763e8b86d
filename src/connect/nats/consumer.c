#include "connect/nats/consumer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPIRES (2 * GALE_SECOND) /* a request */
#define LATE (2 * GALE_SECOND)    /* its end may come so much later */
#define PAUSE GALE_SECOND
#define END_LOOK (GALE_SECOND / 20)

static int64_t now(const nats_consumer *c) {
    return gale_context_now(c->link.context);
}

static const char *next_name(const nats_reading *r, char *to, size_t size) {
    snprintf(to, size, "$JS.API.CONSUMER.MSG.NEXT.%s.%s", r->stream, r->consumer);
    return to;
}

/* --- Asking --------------------------------------------------------------------------------------------------------------- */

static void pause_asking(nats_consumer *c, const char *why) {
    nats_link_unwell(&c->link, c->reading->consumer, why);
    c->paused_until = now(c) + PAUSE;
}

static void request(nats_consumer *c, int64_t count, int64_t bytes) {
    char subject[2 * NATS_NAME_MAX + 40], reply[NATS_NAME_MAX], body[160];
    nats_pull *pull = nats_pulls_begin(&c->pulls, count, bytes, now(c) + EXPIRES + LATE);
    if (!pull) return;
    snprintf(reply, sizeof reply, "%s%" PRIu64, nats_wire_inbox(c->link.wire), pull->number);
    int size = snprintf(body, sizeof body, "{\"batch\":%" PRId64 ",\"expires\":%" PRId64 ",\"max_bytes\":%" PRId64 "}",
                        count, (int64_t)EXPIRES, bytes);
    natsMsg *msg = NULL;
    nats_post *post = NULL;
    if (natsMsg_Create(&msg, next_name(c->reading, subject, sizeof subject), reply, body, size) == NATS_OK)
        post = nats_post_message(msg, 0);
    if (post) {
        nats_wire_post(c->link.wire, post);
        return;
    }
    natsMsg_Destroy(msg);
    nats_pull_end(pull);
}

/* Half of the bytes is for what is queued and asked for, the other half the intake's. */
static bool have_bytes(const nats_consumer *c) {
    int64_t quarter = c->reading->memory / 4;
    return c->queued_bytes + nats_pulls_bytes(&c->pulls) + quarter <= 2 * quarter;
}

static void ask(nats_consumer *c) {
    int64_t at = now(c);
    if (!c->link.up || c->over || c->at_end || at < c->paused_until) return;
    nats_pulls_expire(&c->pulls, at);
    int64_t left = nats_pulls_left(&c->pulls), room = c->flight - (int64_t)c->open.count - left;
    int64_t batch = c->reading->batch < c->flight ? c->reading->batch : c->flight;
    bool worth = room >= (batch + 1) / 2 || (left == 0 && room > 0);
    if (worth && have_bytes(c)) request(c, room < batch ? room : batch, c->reading->memory / 4);
    bool full = c->durable && room <= 0 && left == 0 && c->at == c->count;
    if (full && !c->wished) gale_wish_checkpoint(c->link.out);
    c->wished = c->wished || full;
}

void nats_consumer_ask(nats_consumer *c) {
    ask(c);
    nats_wire_flush(c->link.wire);
}

/* --- Answers -------------------------------------------------------------------------------------------------------------- */

static void send(nats_consumer *c, nats_post *post, const char *body) {
    memcpy(post->body, body, strlen(body) + 1);
    nats_wire_post(c->link.wire, post);
}

static void answer(nats_consumer *c, int64_t sequence, const char *body) {
    nats_open_row *row = nats_open_find(&c->open, sequence);
    if (!row) return;
    nats_post *post = row->post;
    if (row->ends) c->ending--;
    nats_open_remove(&c->open, sequence);
    if (post) send(c, post, body);
}

int64_t nats_consumer_delivered(const nats_consumer *c, int64_t sequence) {
    const nats_open_row *row = nats_open_find(&c->open, sequence);
    return row ? row->delivered : 0;
}

void nats_consumer_ack(nats_consumer *c, int64_t sequence) {
    answer(c, sequence, "+ACK");
}

static void end_of_holes(nats_consumer *c, int rc) {
    char text[2 * NATS_WORDS];
    if (rc == 0 || c->over) return;
    snprintf(text, sizeof text, "%s: what was read of %s cannot be kept (%s): does somebody else read consumer %s?",
             c->link.given->where, c->reading->stream, gale_error_text(rc), c->reading->consumer);
    c->over = true;
    gale_stop(c->link.out, rc, text);
}

void nats_consumer_nak(nats_consumer *c, int64_t sequence, int64_t delay) {
    char body[NATS_BODY_MAX];
    snprintf(body, sizeof body, "-NAK {\"delay\": %" PRId64 "}", delay);
    if (c->durable) end_of_holes(c, nats_ranges_remove(&c->taken, sequence));
    if (!c->over) answer(c, sequence, delay ? body : "-NAK");
}

void nats_consumer_term(nats_consumer *c, int64_t sequence) {
    nats_open_row *row = nats_open_find(&c->open, sequence);
    if (!row) return;
    if (!c->durable) {
        answer(c, sequence, "+TERM");
        return;
    }
    row->ends = NATS_OPEN_NEXT;
    c->ending++;
}

/* --- Messages ------------------------------------------------------------------------------------------------------------- */

static bool have_queue_room(nats_consumer *c) {
    if (c->at == c->count) c->at = c->count = 0;
    if (c->count < c->capacity) return true;
    if (c->at > c->capacity / 2) {
        memmove(c->queue, c->queue + c->at, (c->count - c->at) * sizeof *c->queue);
        c->count -= c->at;
        c->at = 0;
        return true;
    }
    size_t capacity = c->capacity ? 2 * c->capacity : 256;
    nats_queued *queue = realloc(c->queue, capacity * sizeof *queue);
    if (!queue) return false;
    c->queue = queue;
    c->capacity = capacity;
    return true;
}

/* What lies between two first deliveries, when none is missing in between, never comes. */
static void follow_chain(nats_consumer *c, const nats_place *place) {
    bool unbroken = c->last_number && place->number == c->last_number + 1;
    c->last_number = place->number;
    if (!unbroken) c->top = 0;
    if (place->delivered != 1) return;
    if (c->top && place->sequence > c->top)
        end_of_holes(c, nats_ranges_add(&c->taken, c->top + 1, place->sequence - 1));
    c->top = place->sequence;
}

/* It was delivered before: the answer goes to where it came from last. */
static void refresh(nats_consumer *c, nats_open_row *row, const nats_place *place, nats_post *post) {
    nats_post_free(row->post);
    row->post = post;
    row->delivered = place->delivered;
    row->told = c->link.heard_at;
}

static bool is_done(const nats_consumer *c, int64_t sequence) {
    return c->durable && nats_ranges_have(&c->taken, sequence);
}

/* True: the queue has the message. What memory is out for comes again, as it has no answer. */
static bool deliver(nats_consumer *c, natsMsg *msg, const nats_place *place) {
    nats_post *post = nats_post_new(natsMsg_GetReply(msg), NULL);
    if (!post) return false;
    nats_open_row *row = nats_open_find(&c->open, place->sequence);
    if (row) {
        refresh(c, row, place, post);
        return false;
    }
    if (is_done(c, place->sequence)) {
        send(c, post, "+ACK");
        return false;
    }
    row = have_queue_room(c) ? nats_open_add(&c->open, place->sequence) : NULL;
    if (!row) {
        nats_post_free(post);
        return false;
    }
    refresh(c, row, place, post);
    c->queue[c->count++] = (nats_queued){ msg, *place };
    c->queued_bytes += natsMsg_GetDataLength(msg);
    return true;
}

static nats_pull *pull_of(nats_consumer *c, natsMsg *msg) {
    const char *subject = natsMsg_GetSubject(msg), *inbox = nats_wire_inbox(c->link.wire);
    size_t size = strlen(inbox);
    if (strncmp(subject, inbox, size) != 0) return NULL;
    uint64_t number = strtoull(subject + size, NULL, 10);
    return number ? nats_pulls_find(&c->pulls, number) : NULL;
}

/* The end of a request, in the server's words. */
static void hear_end(nats_consumer *c, nats_pull *pull, int code, const char *words) {
    bool none = pull && pull->left == pull->asked, too_large = strstr(words, "Exceeds MaxBytes") != NULL;
    if (pull) nats_pull_end(pull);
    if (code == 404 || code == 408) return;
    if (too_large && none && c->open.count == 0)
        pause_asking(c, "the next message is larger than a quarter of `memory`");
    if (too_large) return;
    if (strstr(words, "Deleted"))
        nats_wire_lose(c->link.wire, words);
    else if (!strstr(words, "Shutdown") && !strstr(words, "Leadership"))
        pause_asking(c, words);
}

static void hear_status(nats_consumer *c, natsMsg *msg) {
    const char *status = NULL, *words = NULL;
    if (natsMsgHeader_Get(msg, "Status", &status) != NATS_OK) return;
    int code = atoi(status);
    if (code < 200) return; /* it is there */
    if (natsMsgHeader_Get(msg, "Description", &words) != NATS_OK || !words) words = status;
    hear_end(c, pull_of(c, msg), code, words);
}

static void hear_message(void *user, natsMsg *msg) {
    nats_consumer *c = user;
    nats_place place;
    bool kept = false;
    if (nats_place_read(natsMsg_GetReply(msg), &place)) {
        nats_pulls_take(&c->pulls);
        if (c->durable) follow_chain(c, &place);
        kept = !c->over && deliver(c, msg, &place);
        (void)gale_metric_note(c->pending, (double)place.pending);
        if (c->link.unwell && !c->paused_until) nats_link_well(&c->link);
    } else {
        hear_status(c, msg);
    }
    if (!kept) nats_spent_add(&c->link.spent, msg);
}

const nats_queued *nats_consumer_peek(const nats_consumer *c) {
    return c->at < c->count && !c->over ? &c->queue[c->at] : NULL;
}

void nats_consumer_pass(nats_consumer *c) {
    nats_queued *one = &c->queue[c->at++];
    c->queued_bytes -= natsMsg_GetDataLength(one->msg);
    if (c->durable) end_of_holes(c, nats_ranges_add(&c->taken, one->place.sequence, one->place.sequence));
    nats_spent_add(&c->link.spent, one->msg);
}

/* --- The connection ------------------------------------------------------------------------------------------------------- */

static void check_stream(nats_consumer *c, int64_t made) {
    char text[2 * NATS_WORDS];
    if (!c->durable || !made || !c->stream_made || made == c->stream_made || c->over) {
        if (made) c->stream_made = made;
        return;
    }
    snprintf(text, sizeof text,
             "%s: stream %s was made anew since the checkpoint: what is done of it is not known (gale state reset "
             "begins anew)",
             c->link.given->where, c->reading->stream);
    c->over = true;
    gale_stop(c->link.out, GALE_STATE, text);
}

static void be_up(void *user, const nats_about *about) {
    nats_consumer *c = user;
    check_stream(c, about->stream_made);
    c->flight = c->reading->in_flight;
    if (about->max_ack_pending > 0 && about->max_ack_pending < c->flight) c->flight = about->max_ack_pending;
    if (about->ack_wait > 0) c->ack_wait = about->ack_wait;
    if (c->durable && !c->over) end_of_holes(c, nats_ranges_add(&c->taken, 1, about->acked_to));
    c->last_number = c->top = c->paused_until = 0;
    nats_consumer_ask(c);
}

static void be_down(void *user, bool counts, const char *why) {
    (void)counts, (void)why;
    nats_consumer *c = user;
    nats_pulls_clear(&c->pulls);
    c->looking = false;
}

static void be_looked(void *user, const nats_about *about) {
    nats_consumer *c = user;
    c->looking = false;
    c->at_end = about->pending == 0 && about->ack_pending == 0 && c->open.count == 0;
}

static void be_nobody(void *user) {
    nats_wire_lose(((nats_consumer *)user)->link.wire, "the consumer does not answer: it, or its stream, is not there");
}

static void be_refused(void *user, const nats_refusal *refusal) {
    nats_wire_lose(((nats_consumer *)user)->link.wire, natsStatus_GetText(refusal->status));
}

static const nats_link_ops link_ops = { be_up, be_down, be_looked, hear_message, be_refused, be_nobody };

/* --- Time ----------------------------------------------------------------------------------------------------------------- */

/* Those that take long: the server is not to think that they are lost. */
static void tell_progress(nats_consumer *c) {
    int64_t at = now(c), since = at - c->ack_wait / 4;
    for (size_t i = 0; i < c->open.capacity; i++) {
        nats_open_row *row = &c->open.rows[i];
        if (!row->sequence || !row->post || row->told > since) continue;
        nats_post *post = nats_post_new(row->post->subject, NULL);
        if (!post) return;
        row->told = at;
        send(c, post, "+WPI");
    }
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int hear_tick(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    nats_consumer *c = user;
    (void)events;
    bool ending = c->reading->until_end && !c->open.count && !c->at_end;
    if (c->link.up) tell_progress(c);
    if (c->link.up && ending && !c->looking) {
        c->looking = true;
        nats_wire_look(c->link.wire);
    }
    if (c->paused_until && now(c) >= c->paused_until) c->paused_until = 0;
    nats_consumer_ask(c);
    int64_t often = least(c->ack_wait / 4, GALE_SECOND / 4);
    if (c->reading->until_end) often = least(often, END_LOOK);
    return gale_watch_set(out, watch, 0, now(c) + (often > GALE_MILLISECOND ? often : GALE_MILLISECOND));
}

/* --- Checkpoints ------------------------------------------------------------------------------------------------------------ */

int nats_consumer_save(nats_consumer *c, gale_saver *to) {
    uint64_t checkpoint = gale_save_checkpoint(to);
    const gale_value row[] = { gale_i64(c->stream_made),
                               gale_bytes(c->taken.list, c->taken.count * sizeof *c->taken.list) };
    c->wished = false;
    for (size_t i = 0; c->ending && i < c->open.capacity; i++)
        if (c->open.rows[i].ends == NATS_OPEN_NEXT) c->open.rows[i].ends = checkpoint;
    return gale_save(to, row, 2);
}

int nats_consumer_restore(nats_consumer *c, gale_saved *from) {
    const gale_value *v;
    size_t count;
    int rc = gale_saved_next(from, &v, &count);
    if (rc < 0) return rc;
    bool is = rc == 1 && count == 2 && v[0].type == GALE_TYPE_I64 && v[1].type == GALE_TYPE_BYTES;
    rc = is ? nats_ranges_load(&c->taken, v[1].as.bytes, v[1].size) : GALE_DAMAGED;
    if (rc == GALE_DAMAGED) gale_report(c->link.out, "nats: what was saved of the spout is not what it has read");
    if (rc == 0) check_stream(c, v[0].as.i64);
    return rc;
}

/* Its post comes with its next delivery. */
void nats_consumer_again(nats_consumer *c, int64_t sequence) {
    if (!nats_open_find(&c->open, sequence)) (void)nats_open_add(&c->open, sequence);
}

void nats_consumer_committed(nats_consumer *c, uint64_t checkpoint) {
    bool again = c->ending > 0;
    while (again) {
        again = false;
        for (size_t i = 0; !again && i < c->open.capacity; i++) {
            const nats_open_row *row = &c->open.rows[i];
            again = row->sequence && row->ends && row->ends <= checkpoint;
            if (again) answer(c, row->sequence, "+TERM");
        }
    }
    nats_consumer_ask(c);
}

/* --- Life ------------------------------------------------------------------------------------------------------------------- */

/* Without it there is no figure to be seen, and all else goes on. */
static void begin_pending(nats_consumer *c) {
    gale_metric_options options = GALE_METRIC_OPTIONS_INIT;
    options.name = "nats_pending";
    options.kind = GALE_METRIC_GAUGE;
    options.help = "Messages of the consumer that were not delivered yet";
    if (gale_metric_new(c->link.out, &options, &c->pending) < 0) c->pending = NULL;
}

static int begin_tick(nats_consumer *c, gale_error *error) {
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    options.at = now(c) + END_LOOK;
    options.always = true;
    options.call = hear_tick;
    options.user = c;
    int rc = gale_watch_new(c->link.out, &options, &c->tick);
    return rc < 0 ? gale_error_set(error, rc, "nats: its timer cannot be made: %s", gale_error_text(rc)) : 0;
}

int nats_consumer_open(nats_consumer *c, const nats_reading *reading, const gale_context *context, gale_collector *out,
                       gale_error *error) {
    c->reading = reading;
    c->durable = context->durable;
    c->flight = reading->in_flight;
    c->ack_wait = reading->ack_wait;
    int rc = nats_link_open(&c->link, &reading->nats, nats_setup_consumer, reading, context, out, &link_ops, c, error);
    if (rc == 0) rc = begin_tick(c, error);
    if (rc == 0) begin_pending(c);
    return rc;
}

/* What has no answer goes back, so that it need not wait for ack_wait; in a durable run it is in the checkpoint. Not before the requests that are out are over:
 * servers (2.9) make one message ready for a request that nobody waits for any more, and then forget that it was given back. */
static void give_back(nats_consumer *c) {
    char body[NATS_BODY_MAX];
    snprintf(body, sizeof body, "-NAK {\"delay\": %" PRId64 "}", (int64_t)EXPIRES);
    bool at_once = nats_pulls_left(&c->pulls) == 0;
    nats_wire_deaf(c->link.wire);
    for (size_t i = 0; i < c->open.capacity; i++) {
        nats_post *post = c->open.rows[i].post;
        c->open.rows[i].post = NULL;
        if (post) send(c, post, at_once ? "-NAK" : body);
    }
}

void nats_consumer_close(nats_consumer *c) {
    if (c->link.wire && c->link.up && !c->durable) give_back(c);
    if (c->tick) (void)gale_watch_free(c->link.out, c->tick);
    for (; c->at < c->count; c->at++) natsMsg_Destroy(c->queue[c->at].msg);
    nats_link_close(&c->link);
    free(c->queue);
    nats_open_free(&c->open);
    nats_ranges_free(&c->taken);
}
