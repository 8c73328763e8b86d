/* Tuples to messages: gale.bolt.RabbitMQSink. A tuple is held until the broker has confirmed its message. */
#include "connect/rabbitmq/sink.h"

#include "connect/rabbitmq/rabbitmq.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Out -------------------------------------------------------------------------------------------------------------- */

static void order(rmq_sink *s, rmq_flying *one, rmq_message *m) {
    if (rmq_flight_out(&s->flight, one) == 0) {
        gale_dispatch_sent(s->dispatch, one->id);
        rmq_link_order(&s->link, &m->note);
        return;
    }
    rmq_note_free(&m->note);
    rmq_link_order(&s->link, NULL);
}

static void fail(rmq_sink *s, rmq_flying *one, int32_t reason, const char *words) {
    (void)gale_dispatch_fail(s->dispatch, one->id, reason, words);
    rmq_flight_remove(&s->flight, one);
}

/* False: memory is out, and the connection is made anew. */
static bool publish(rmq_sink *s, rmq_flying *one) {
    char why[GALE_FAILURE_TEXT];
    rmq_message *m;
    const gale_tuple *tuple = gale_dispatch_tuple(s->dispatch, one->id);
    int rc = tuple ? rmq_message_form(&s->given->fields, tuple, one->name, &m, why, sizeof why) : GALE_INVALID;
    if (rc == GALE_NO_MEMORY)
        rmq_link_order(&s->link, NULL);
    else if (rc < 0)
        fail(s, one, GALE_REASON_REJECTED, tuple ? why : "its tuple is none any more");
    else
        order(s, one, m);
    return rc != GALE_NO_MEMORY;
}

/* In a durable run with `once`, when half of what may be there waits for a checkpoint, one is asked for. */
static void wish(rmq_sink *s) {
    bool enough = s->flight.waiting_bytes >= s->given->memory / 2 || s->flight.waiting >= s->given->most / 2;
    if (s->wished || !s->flight.waiting || !enough) return;
    s->wished = true;
    gale_wish_checkpoint(s->out);
}

static bool may_publish(const rmq_sink *s) {
    return s->link.up && gale_dispatch_may_send(s->dispatch);
}

void rmq_sink_go_on(rmq_sink *s) {
    rmq_flying *one;
    while (may_publish(s) && (one = rmq_flight_next(&s->flight)) && publish(s, one)) continue;
    rmq_link_flush(&s->link);
    wish(s);
}

/* --- Answers ---------------------------------------------------------------------------------------------------------- */

static void confirmed(void *user, rmq_flying *one) {
    rmq_sink *s = user;
    if (one->returned) {
        fail(s, one, GALE_REASON_REJECTED, one->returned);
        return;
    }
    (void)gale_dispatch_ack(s->dispatch, one->id);
    rmq_flight_remove(&s->flight, one);
}

static void refused(void *user, rmq_flying *one) {
    rmq_sink *s = user;
    one->state = RMQ_AGAIN;
    free(one->returned);
    one->returned = NULL;
    if (s->again_at) return;
    s->again_at = gale_context_now(s->context) + gale_backoff_next(&s->backoff, s->context);
    (void)gale_watch_set(s->out, s->again, 0, s->again_at);
    rmq_link_unwell(&s->link, "the broker refuses messages (nack): they are sent again");
}

static void hear_confirm(rmq_sink *s, const rmq_note *note) {
    rmq_flight_confirm(&s->flight, note->tag, note->multiple, note->refused ? refused : confirmed, s);
    rmq_sink_go_on(s);
    if (note->refused || s->again_at) return;
    s->backoff = (gale_backoff){ 0 };
    rmq_link_well(&s->link);
}

static bool is_it(const rmq_sink *s, const rmq_flying *one, const rmq_delivery *back) {
    char id[RMQ_NAME];
    const gale_tuple *tuple = gale_dispatch_tuple(s->dispatch, one->id);
    if (!tuple || !rmq_message_id(&s->given->fields, tuple, one->name, id)) return false;
    return strcmp(back->id.data, id) == 0;
}

/* They come back in the order in which they were sent: of several of one name the first that has not. */
static rmq_flying *find_returned(const rmq_sink *s, const rmq_delivery *back) {
    rmq_flying *one = s->flight.first;
    while (one && (one->state != RMQ_OUT || one->returned || !is_it(s, one, back))) one = one->behind;
    return one;
}

/* Its confirmation comes behind it. */
static void hear_return(rmq_sink *s, const rmq_delivery *back) {
    char words[GALE_FAILURE_TEXT];
    rmq_flying *one = back->id.data ? find_returned(s, back) : NULL;
    snprintf(words, sizeof words, "rabbitmq: no queue takes it: %.60s (exchange '%.40s', routing key '%.60s')",
             back->note.text, back->exchange.data ? back->exchange.data : "", back->key.data ? back->key.data : "");
    if (one) one->returned = strdup(words);
    if (!one || !one->returned) gale_report(s->out, words);
}

static void hear_news(void *user, rmq_note *note) {
    rmq_sink *s = user;
    if (note->kind == RMQ_CONFIRM) hear_confirm(s, note);
    if (note->kind == RMQ_RETURN) hear_return(s, (const rmq_delivery *)note);
    rmq_note_free(note);
}

static void be_up(void *user) {
    rmq_sink_go_on(user);
}

static void be_down(void *user, bool counts, const char *why) {
    rmq_sink *s = user;
    uint64_t rejected = gale_dispatch_lost(s->dispatch, counts, why);
    rmq_flight_lose(&s->flight);
    if (counts && s->flight.count) s->link.backoff = (gale_backoff){ 0 }; /* it is there */
    if (rejected) rmq_flight_remove(&s->flight, rmq_flight_find(&s->flight, rejected));
    s->again_at = 0;
}

static const rmq_link_ops link_ops = { be_up, be_down, hear_news };

static void send_again(rmq_sink *s) {
    if (!s->again_at || s->again_at > gale_context_now(s->context)) return;
    s->again_at = 0;
    rmq_flight_again(&s->flight);
    rmq_sink_go_on(s);
}

static int hear_again(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    (void)out, (void)watch, (void)events;
    send_again(user);
    return 0;
}

/* --- A task ----------------------------------------------------------------------------------------------------------- */

static void bolt_cleanup(void *self) {
    rmq_sink *s = self;
    rmq_link_close(&s->link);
    if (s->again) (void)gale_watch_free(s->out, s->again);
    rmq_assembly_drop(&s->writer.assembly);
    rmq_flight_free(&s->flight);
    gale_dispatch_free(s->dispatch);
    free(s);
}

static int begin_again(rmq_sink *s, gale_error *error) {
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    options.always = true;
    options.call = hear_again;
    options.user = s;
    int rc = gale_watch_new(s->out, &options, &s->again);
    return rc < 0 ? gale_error_set(error, rc, "rabbitmq: a timer cannot be made: %s", gale_error_text(rc)) : 0;
}

static int begin(rmq_sink *s, gale_error *error) {
    gale_dispatch_options options = GALE_DISPATCH_OPTIONS_INIT;
    options.memory = s->given->memory;
    options.most = s->given->most;
    s->writer = (rmq_writer){ .declare = &s->given->declare };
    int rc = gale_dispatch_new(s->context, s->out, &options, &s->dispatch, error);
    if (rc == 0) rc = begin_again(s, error);
    if (rc < 0) return rc;
    return rmq_link_open(&s->link, &s->given->broker, &link_ops, s, &rmq_writer_ops, &s->writer, s->context, s->out,
                         error);
}

/* No other run's, also where a seed repeats what is random. */
static uint64_t draw_life(const gale_context *context) {
    gale_clock wall = gale_clock_wall();
    const gale_value now = gale_i64(wall.now(wall.user));
    return gale_context_random(context) ^ gale_value_hash(&now);
}

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    gale_error error = GALE_ERROR_INIT;
    rmq_sink *s = calloc(1, sizeof *s);
    if (!s) return GALE_NO_MEMORY;
    s->given = user;
    s->context = context;
    s->out = out;
    s->name = (rmq_name){ draw_life(context), 1 };
    rmq_flight_init(&s->flight);
    int rc = begin(s, &error);
    if (rc < 0) {
        gale_report(out, error.text);
        bolt_cleanup(s);
        return rc;
    }
    *ret_self = s;
    return 0;
}

/* --- Tuples ----------------------------------------------------------------------------------------------------------- */

/* In a durable run with `once` a message goes when a checkpoint that has its name lasts. */
static bool waits(const rmq_sink *s) {
    return s->given->once && s->context->durable && !s->ending;
}

static int hold(rmq_sink *s, const gale_tuple *tuple, const rmq_message *m, rmq_flying **ret_one) {
    rmq_flying *one = rmq_flight_add(&s->flight, s->name, 2 * m->size, waits(s));
    if (!one) return GALE_NO_MEMORY;
    int rc = gale_dispatch_hold(s->dispatch, tuple, one->bytes, &one->id);
    if (rc < 0) {
        rmq_flight_remove(&s->flight, one);
        return rc;
    }
    s->name.number++;
    *ret_one = one;
    return 0;
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    rmq_sink *s = self;
    char why[GALE_FAILURE_TEXT];
    rmq_message *m;
    rmq_flying *one;
    if (gale_tuple_is_tick(tuple)) return gale_ack(out, gale_tuple_handle(tuple));
    int rc = rmq_message_form(&s->given->fields, tuple, s->name, &m, why, sizeof why);
    if (rc == GALE_INVALID) return gale_reject(out, gale_tuple_handle(tuple), why);
    if (rc < 0) return rc;
    rc = hold(s, tuple, m, &one);
    if (rc == 0 && may_publish(s) && rmq_flight_next(&s->flight) == one)
        order(s, one, m);
    else
        rmq_note_free(&m->note); /* it is formed anew when its turn comes */
    return rc;
}

static int bolt_flush(void *self, gale_collector *out) {
    (void)out;
    rmq_sink_go_on(self);
    return 0;
}

static void drive(void *self) {
    rmq_sink *s = self;
    rmq_sink_go_on(s);
    rmq_link_wait(&s->link, 20);
    send_again(s);
}

static int bolt_finish(void *self, gale_collector *out) {
    rmq_sink *s = self;
    (void)out;
    s->ending = true;
    rmq_flight_kept(&s->flight, UINT64_MAX);
    return gale_dispatch_finish(s->dispatch, s->given->finish_wait, "rabbitmq", "confirmed", drive, s);
}

static const gale_bolt_ops ops = {
    .size = sizeof ops,
    .name = "rabbitmq sink",
    .kind = GALE_BOLT_MANUAL,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .finish = bolt_finish,
    .cleanup = bolt_cleanup,
    .flush = bolt_flush,
    .durable = &rmq_sink_durable,
};

int rmq_make_sink(void *user, const gale_args *args, gale_bolt *ret_bolt, gale_error *error) {
    rmq_sink_settings *made = calloc(1, sizeof *made);
    (void)user;
    if (!made) return rmq_no_memory(error);
    int rc = rmq_sink_settings_make(made, args, error);
    if (rc < 0) {
        rmq_sink_settings_free(made);
        return rc;
    }
    *ret_bolt = (gale_bolt){ .size = sizeof *ret_bolt, .ops = &ops, .user = made, .free_user = rmq_sink_settings_free };
    return 0;
}
