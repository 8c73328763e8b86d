/* Tuples to messages of a JetStream stream: gale.bolt.NatsSink. A tuple is held until the stream has its message; in a durable run messages go out with
 * checkpoints. */
#include "sink/sink.h"
#include "connect/nats/answer.h"
#include "connect/nats/flight.h"
#include "connect/nats/link.h"
#include "connect/nats/nats.h"
#include "connect/nats/once.h"
#include "connect/nats/setup.h"

#include <gale/state.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TICK (GALE_SECOND / 4)

/* A definition's block. */
typedef struct settings {
    nats_settings nats; /* first */
    nats_fields fields;
    uint64_t memory, most;
    int64_t timeout, finish_wait;
} settings;

typedef struct sink {
    sink_task task; /* first */
    const settings *given;
    nats_link link; /* this and all below is of a run that is not durable */
    nats_flight flight;
    uint64_t life,
        numbers; /* a message's id is LIFE-NUMBER: however often this process sends it, the stream has it once */
    uint64_t answers;
    int64_t heard;    /* when, the last of them, or the beginning of a connection */
    int64_t again_at; /* when all is sent again; 0: it is not */
    gale_backoff backoff;
    gale_watch tick;
    bool waits; /* some are not out, as one that is has no answer (gale_dispatch_may_send) */
} sink;

static int64_t now(const sink *s) {
    return gale_context_now(s->task.context);
}

/* --- Out ------------------------------------------------------------------------------------------------------------------------------ */

static nats_post *make_post(sink *s, const nats_message *m, const nats_sent *sent) {
    char reply[NATS_NAME_MAX + 20], id[NATS_ID_MAX];
    const char *inbox = nats_wire_inbox(s->link.wire);
    (void)nats_number_write(reply, inbox, strlen(inbox), sent->id);
    if (!nats_message_has_headers(&s->given->fields, m))
        return nats_post_plain(m->subject, reply, m->payload.data, m->payload.size, sent->id);
    size_t size = nats_number_write(id, "", 0, s->life);
    id[size++] = '-';
    (void)nats_number_write(id + size, "", 0, sent->number);
    natsMsg *msg = nats_message_new(&s->given->fields, m, reply, id);
    nats_post *post = msg ? nats_post_message(msg, sent->id) : NULL;
    if (!post) natsMsg_Destroy(msg);
    return post;
}

static int send(sink *s, const nats_message *m, nats_sent *sent) {
    nats_post *post = make_post(s, m, sent);
    if (!post) return GALE_NO_MEMORY;
    nats_wire_post(s->link.wire, post);
    sent->out = true;
    gale_dispatch_sent(s->task.dispatch, sent->id);
    return 0;
}

static bool may_send(const sink *s) {
    return s->link.up && gale_dispatch_may_send(s->task.dispatch);
}

static void send_one(sink *s, nats_sent *sent, const gale_tuple *tuple) {
    nats_message m;
    char why[GALE_FAILURE_TEXT];
    sent->at = now(s);
    sent->answers = s->answers;
    if (nats_message_form(&s->given->fields, tuple, &m, why, sizeof why) < 0)
        (void)gale_dispatch_fail(s->task.dispatch, sent->id, GALE_REASON_REJECTED, why);
    else if (send(s, &m, sent) < 0)
        s->again_at = now(s) + GALE_SECOND;
}

/* What is not out, in order. Mostly all of it is; else (gale_dispatch_may_send) the next one is soon found. */
static void send_more(sink *s) {
    for (size_t i = s->flight.at; may_send(s) && i < s->flight.count; i++) {
        nats_sent *sent = &s->flight.list[i];
        const gale_tuple *tuple = sent->out ? NULL : gale_dispatch_tuple(s->task.dispatch, sent->id);
        if (tuple) send_one(s, sent, tuple);
    }
    s->waits = !may_send(s);
    nats_wire_flush(s->link.wire);
}

/* In order, whatever was sent of them before: what the stream has it knows by its id. */
static void send_all_again(sink *s) {
    s->again_at = 0;
    nats_wire_clear(s->link.wire);
    s->heard = now(s);
    for (size_t i = s->flight.at; i < s->flight.count; i++) s->flight.list[i].out = false;
    send_more(s);
}

/* --- Answers -------------------------------------------------------------------------------------------------------------------------- */

static void be_not_now(sink *s, const char *why) {
    nats_link_unwell(&s->link, s->given->fields.stream, why);
    if (!s->again_at) s->again_at = now(s) + gale_backoff_next(&s->backoff, s->task.context);
}

static void be_taken(sink *s, uint64_t id) {
    s->answers++;
    s->backoff.tries = 0;
    if (!s->again_at) nats_link_well(&s->link);
    (void)gale_dispatch_ack(s->task.dispatch, id);
}

static void hear_answer(void *user, natsMsg *msg) {
    sink *s = user;
    char why[NATS_WORDS];
    uint64_t id = strtoull(natsMsg_GetSubject(msg) + strlen(nats_wire_inbox(s->link.wire)), NULL, 16);
    nats_answer answer = nats_answer_read(natsMsg_GetData(msg), (size_t)natsMsg_GetDataLength(msg), why, sizeof why);
    nats_spent_add(&s->link.spent, msg);
    s->heard = s->link.heard_at;
    if (!gale_dispatch_tuple(s->task.dispatch, id)) return; /* it was answered before */
    switch (answer) {
    case NATS_HAS_IT: be_taken(s, id); break;
    case NATS_NEVER: (void)gale_dispatch_fail(s->task.dispatch, id, GALE_REASON_REJECTED, why); break;
    case NATS_NOT_NOW: be_not_now(s, why); break;
    }
    if (s->waits) send_more(s);
}

/* Of which message it is not said: all that have no answer go out again. */
static void be_nobody(void *user) {
    sink *s = user;
    s->heard = s->link.heard_at;
    if (nats_flight_oldest(&s->flight, s->task.dispatch))
        be_not_now(s, "no stream takes the subject, or JetStream is not there");
}

static void be_refused(void *user, const nats_refusal *refusal) {
    sink *s = user;
    (void)gale_dispatch_fail(s->task.dispatch, refusal->id, GALE_REASON_REJECTED, natsStatus_GetText(refusal->status));
    if (s->waits) send_more(s);
}

static void be_up(void *user, const nats_about *about) {
    (void)about;
    send_all_again(user);
}

static void be_down(void *user, bool counts, const char *why) {
    sink *s = user;
    nats_wire_clear(s->link.wire);
    (void)gale_dispatch_lost(s->task.dispatch, counts, why);
}

static void be_looked(void *user, const nats_about *about) {
    (void)user, (void)about;
}

static const nats_link_ops link_ops = { be_up, be_down, be_looked, hear_answer, be_refused, be_nobody };

/* --- Time ----------------------------------------------------------------------------------------------------------------------------- */

/* Nothing was answered for long, or one was left out while so many others were answered that each before it must have been. */
static bool is_late(sink *s) {
    const nats_sent *oldest = nats_flight_oldest(&s->flight, s->task.dispatch);
    int64_t since = now(s) - s->given->timeout;
    if (!oldest || oldest->at > since) return false;
    return s->heard <= since || s->answers - oldest->answers > 2 * s->given->most;
}

static void look_after(sink *s) {
    if (!s->link.up) return;
    if (s->again_at && now(s) >= s->again_at)
        send_all_again(s);
    else if (!s->again_at && is_late(s))
        nats_wire_lose(s->link.wire, "what was sent is not confirmed in time");
}

static int hear_tick(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    sink *s = user;
    (void)events;
    look_after(s);
    return gale_watch_set(out, watch, 0, now(s) + TICK);
}

/* --- A task --------------------------------------------------------------------------------------------------------------------------- */

static void bolt_cleanup(void *self) {
    sink *s = self;
    if (s->tick) (void)gale_watch_free(s->link.out, s->tick);
    if (!s->task.once) nats_link_close(&s->link);
    sink_task_close(&s->task);
    nats_flight_free(&s->flight);
    free(s);
}

/* The stream that messages are expected in is there. */
static int find_stream(const void *user, natsConnection *nc, nats_about *about, gale_error *error) {
    const settings *given = user;
    jsCtx *js = NULL;
    jsOptions options;
    (void)jsOptions_Init(&options);
    options.Wait = given->nats.timeout;
    natsStatus status = natsConnection_JetStream(&js, nc, &options);
    if (status != NATS_OK) return nats_setup_say(error, "stream", given->fields.stream, status);
    int rc = nats_setup_stream(js, given->fields.stream, &about->stream_made, error);
    jsCtx_Destroy(js);
    return rc;
}

static int begin_tick(sink *s, gale_collector *out, gale_error *error) {
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    options.at = now(s) + TICK;
    options.always = true;
    options.call = hear_tick;
    options.user = s;
    int rc = gale_watch_new(out, &options, &s->tick);
    return rc < 0 ? gale_error_set(error, rc, "nats: its timer cannot be made: %s", gale_error_text(rc)) : 0;
}

static void *make_once(const void *given_, const char *id) {
    const settings *given = given_;
    (void)id; /* messages have one that is drawn */
    return nats_once_new(&given->nats, &given->fields);
}

static const sink_once once = { make_once, nats_once_free, nats_once_commit, nats_once_look };

static int begin(sink *s, gale_collector *out, gale_error *error) {
    /* Not the context's: a run with the same seed must not have the same ids. */
    if (getentropy(&s->life, sizeof s->life) != 0) return gale_error_set(error, GALE_IO, "nats: no random number");
    int rc = nats_link_open(&s->link, &s->given->nats, s->given->fields.stream ? find_stream : NULL, s->given,
                            s->task.context, out, &link_ops, s, error);
    return rc < 0 ? rc : begin_tick(s, out, error);
}

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    gale_error error = GALE_ERROR_INIT;
    sink *s = calloc(1, sizeof *s);
    if (!s) return GALE_NO_MEMORY;
    s->given = user;
    int rc = sink_task_open(&s->task, context, out, s->given->memory, s->given->most, &once, s->given, &error);
    if (rc == 0 && !s->task.once) rc = begin(s, out, &error);
    if (rc < 0) {
        gale_report(out, error.text);
        bolt_cleanup(s);
        return rc;
    }
    *ret_self = s;
    return 0;
}

static int take(sink *s, const gale_tuple *tuple, const nats_message *m, gale_collector *out) {
    gale_value values[NATS_MESSAGE_VALUES];
    return sink_take_once(&s->task, tuple, out, values, nats_message_values(&s->given->fields, m, values));
}

/* What cannot be sent now goes with all others when there is a connection. */
static int hold(sink *s, const gale_tuple *tuple, const nats_message *m) {
    nats_sent sent = { .number = s->numbers + 1, .at = now(s), .answers = s->answers };
    int rc = gale_dispatch_hold(s->task.dispatch, tuple, nats_message_size(&s->given->fields, m), &sent.id);
    if (rc < 0) return rc;
    s->numbers++;
    if (gale_dispatch_count(s->task.dispatch) == 1) s->heard = sent.at;
    bool goes = s->link.up && !s->waits && gale_dispatch_may_send(s->task.dispatch);
    rc = goes ? send(s, m, &sent) : 0;
    if (rc == 0) rc = nats_flight_add(&s->flight, s->task.dispatch, sent);
    s->waits = s->waits || (rc == 0 && s->link.up && !goes);
    return rc < 0 ? gale_dispatch_fail(s->task.dispatch, sent.id, GALE_REASON_NO_MEMORY, gale_error_text(rc)) : 0;
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    sink *s = self;
    nats_message m;
    char why[GALE_FAILURE_TEXT];
    if (gale_tuple_is_tick(tuple)) return gale_ack(out, gale_tuple_handle(tuple));
    if (nats_message_form(&s->given->fields, tuple, &m, why, sizeof why) < 0)
        return gale_reject(out, gale_tuple_handle(tuple), why);
    return s->task.once ? take(s, tuple, &m, out) : hold(s, tuple, &m);
}

static int bolt_flush(void *self, gale_collector *out) {
    sink *s = self;
    (void)out;
    if (!s->task.once) nats_wire_flush(s->link.wire);
    return 0;
}

static void drive(void *user) {
    sink *s = user;
    nats_link_drive(&s->link, 50);
    look_after(s);
}

/* Until all is confirmed; nothing may stand still for longer than finishWait. */
static int bolt_finish(void *self, gale_collector *out) {
    sink *s = self;
    (void)out;
    return sink_finish(&s->task, s->given->finish_wait, s->given->nats.where, "confirmed", drive);
}

static const gale_bolt_ops ops = {
    .size = sizeof ops,
    .name = "nats sink",
    .kind = GALE_BOLT_MANUAL,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .flush = bolt_flush,
    .finish = bolt_finish,
    .cleanup = bolt_cleanup,
    .durable = &sink_durable,
};

/* --- A definition --------------------------------------------------------------------------------------------------------------------- */

static bool is_header_name(const gale_str *name) {
    for (size_t i = 0; i < name->size; i++)
        if ((unsigned char)name->data[i] <= ' ' || name->data[i] == ':' || (unsigned char)name->data[i] >= 0x7f)
            return false;
    return true;
}

static int read_headers(nats_fields *fields, const gale_args *args, gale_error *error) {
    const char *text = gale_args_text(args, "headers");
    gale_str name;
    while (nats_next_name(&text, &name)) {
        if (fields->header_count == NATS_SINK_HEADERS_MAX)
            return gale_error_set(error, GALE_INVALID, "headers: there are at most %d", NATS_SINK_HEADERS_MAX);
        if (!is_header_name(&name))
            return gale_error_set(error, GALE_INVALID, "headers: %.*s can be no name of a header", (int)name.size,
                                  name.data);
        char *copy = strndup(name.data, name.size);
        if (!copy) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
        fields->headers[fields->header_count++] = copy;
    }
    return 0;
}

static void free_settings(void *user) {
    settings *made = user;
    nats_settings_free(&made->nats);
    free(made->fields.subject);
    free(made->fields.payload);
    free(made->fields.id);
    free(made->fields.stream);
    for (size_t i = 0; i < made->fields.header_count; i++) free(made->fields.headers[i]);
    free(made);
}

static int fill(settings *made, const gale_args *args, gale_error *error) {
    int rc = nats_settings_make(&made->nats, args, error);
    if (rc == 0) rc = nats_copy(&made->fields.subject, args, "subject", error);
    if (rc == 0) rc = nats_copy(&made->fields.payload, args, "payload", error);
    if (rc == 0) rc = nats_copy(&made->fields.id, args, "id", error);
    if (rc == 0) rc = nats_copy(&made->fields.stream, args, "stream", error);
    if (rc == 0) rc = nats_subject_check(made->fields.subject, error);
    if (rc == 0) rc = nats_check_name("stream", made->fields.stream, error);
    if (rc == 0) rc = read_headers(&made->fields, args, error);
    made->fields.makes_ids = gale_args_flag(args, "makeIds");
    made->memory = (uint64_t)gale_args_whole(args, "memory");
    made->most = (uint64_t)gale_args_whole(args, "inFlight");
    made->timeout = made->nats.timeout * GALE_MILLISECOND;
    made->finish_wait = (int64_t)(gale_args_number(args, "finishWait") * 1e9);
    return rc;
}

int nats_make_sink(void *user, const gale_args *args, gale_bolt *ret_bolt, gale_error *error) {
    settings *made = calloc(1, sizeof *made);
    (void)user;
    if (!made) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    int rc = fill(made, args, error);
    if (rc < 0) {
        free_settings(made);
        return rc;
    }
    *ret_bolt = (gale_bolt){ .size = sizeof *ret_bolt, .ops = &ops, .user = made, .free_user = free_settings };
    return 0;
}
