/* Messages of a queue to tuples, and their ends to answers: gale.spout.RabbitMQ.
 *
 *      delivery --> stash --> intake --acked----------------------> ack, one of all up to it where that can be
 *                                |-----failed for the last time---> reject: to the dead-letter exchange
 *                                '-----failed, `retry: queue`-----> reject with requeue
 *
 * A session that is over has no answers any more: its broker gives those messages again. */
#include "connect/rabbitmq/link.h"
#include "connect/rabbitmq/rabbitmq.h"
#include "connect/rabbitmq/reader.h"
#include "connect/rabbitmq/spout_settings.h"
#include "connect/rabbitmq/tags.h"

#include <gale/metric.h>
#include <gale/state.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_OFTEN (GALE_SECOND / 5) /* with untilEmpty */
#define LOOK_SELDOM (5 * GALE_SECOND)

#define GATHER                                                                                                         \
    (5 * GALE_MILLISECOND) /* so long an answer waits for others, which cost the broker as much together as it alone */

enum { KEPT = 2, NAME = 260, SHOWN = 80 }; /* values of a row that do not go out */
enum { QUIET = 2 };                        /* so often in a row the queue is to be empty */

typedef struct spout {
    rmq_link link;
    const rmq_spout_settings *given;
    const gale_context *context;
    gale_collector *out;
    gale_intake *intake;
    rmq_reader reader; /* its thread's */
    rmq_chain stash;   /* deliveries that were not taken yet */
    size_t stashed;
    rmq_tags tags;
    gale_watch look, gathered; /* timers */
    bool gathers;
    gale_metric *ready;
    uint32_t empty; /* so often in a row there was nothing */
    uint32_t *dropped;
    size_t dropped_count;
    uint64_t dropped_rows;
} spout;

/* --- Answers ---------------------------------------------------------------------------------------------------------- */

static void order(spout *s, rmq_kind kind, uint64_t tag, bool flag) {
    rmq_note *note = rmq_note_new(kind, 0, sizeof *note, 0);
    if (note) {
        note->tag = tag;
        note->multiple = kind == RMQ_ACK && flag;
        note->requeue = kind == RMQ_REJECT && flag;
    }
    rmq_link_order(&s->link, note);
}

static void order_ack(void *user, uint64_t tag, bool multiple) {
    order(user, RMQ_ACK, tag, multiple);
}

static void flush(spout *s) {
    s->gathers = false;
    rmq_tags_flush(&s->tags, order_ack, s);
    rmq_link_flush(&s->link);
}

/* What is done may be answered: soon, or now where it is an eighth of what the broker gives. */
static void gather(spout *s) {
    if (s->tags.done > s->given->prefetch / 8) {
        flush(s);
    } else if (s->tags.done && !s->gathers) {
        s->gathers = true;
        (void)gale_watch_set(s->out, s->gathered, 0, gale_context_now(s->context) + GATHER);
    }
}

static int hear_gathered(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    (void)out, (void)watch, (void)events;
    flush(user);
    return 0;
}

/* Behind what a row emits: how often its message was given. */
static int64_t attempt_of(const gale_answered *answered) {
    return answered->count ? answered->values[answered->count - 1].as.i64 : INT64_MAX;
}

static bool goes_back(const spout *s, const gale_answered *answered) {
    const gale_failure *failure = answered->failure;
    bool over = failure->final || failure->reason == GALE_REASON_REJECTED;
    return !over && attempt_of(answered) < s->given->attempts;
}

/* Before that: its id as a text, or, where it has none, the routing key as bytes. */
static gale_value label_of(const rmq_delivery *d) {
    return d->id.size ? gale_string(d->id.data, d->id.size) : gale_bytes(d->key.size ? d->key.data : "", d->key.size);
}

/* As a person finds it: RabbitMQ itself gives messages no name. */
static void write_name(const spout *s, const gale_value *label, char *to, size_t size) {
    const char *queue = s->given->declare.queue;
    int shown = label->size < SHOWN ? (int)label->size : SHOWN;
    if (label->type == GALE_TYPE_STRING)
        snprintf(to, size, "message %.*s of %.80s", shown, label->as.string, queue);
    else
        snprintf(to, size, "message of %.80s, without an id, of the routing key '%.*s'", queue, shown,
                 (const char *)label->as.bytes);
}

static void name_row(void *user, const gale_answered *answered, char *to, size_t size) {
    if (answered->count >= KEPT) write_name(user, &answered->values[answered->count - KEPT], to, size);
}

/* What is of a session that is over has no answer: its tag is another message's now. */
static bool is_of_now(const spout *s, const gale_answered *answered) {
    return s->link.up && answered->source == s->link.session;
}

static void reject(spout *s, const gale_answered *answered, bool requeue) {
    uint64_t tag;
    if (is_of_now(s, answered) && rmq_tags_take(&s->tags, (uint32_t)answered->place, &tag))
        order(s, RMQ_REJECT, tag, requeue);
}

static void answered(void *user, const gale_answered *answered) {
    spout *s = user;
    if (answered->failure)
        reject(s, answered, false);
    else if (is_of_now(s, answered))
        (void)rmq_tags_done(&s->tags, (uint32_t)answered->place);
}

static void say_over(spout *s, const gale_answered *answered) {
    char text[GALE_FAILURE_TEXT + NAME + 120], name[NAME] = "a message", given[64] = "given again";
    int64_t attempts = attempt_of(answered);
    name_row(s, answered, name, sizeof name);
    if (attempts < INT64_MAX)
        snprintf(given, sizeof given, "given %" PRId64 " time%s", attempts, attempts == 1 ? "" : "s");
    snprintf(text, sizeof text, "%s, %s, is rejected: %s%s%s", name, given, gale_reason_name(answered->failure->reason),
             *answered->failure->text ? ": " : "", answered->failure->text);
    gale_report(s->out, text);
}

/* With `retry: queue` the queue gives it again, or it has been given often enough. */
static bool give_back(void *user, const gale_answered *answered) {
    spout *s = user;
    if (!s->given->retries_at_queue) return false;
    bool back = goes_back(s, answered);
    if (!back) say_over(s, answered);
    reject(s, answered, back);
    return true;
}

/* --- The connection --------------------------------------------------------------------------------------------------- */

static void be_up(void *user) {
    spout *s = user;
    s->empty = 0;
    rmq_tags_clear(&s->tags);
    (void)gale_watch_set(s->out, s->look, 0, gale_context_now(s->context) + LOOK_OFTEN);
}

static void be_down(void *user, bool counts, const char *why) {
    (void)counts, (void)why;
    spout *s = user;
    rmq_chain_free(&s->stash);
    s->stashed = 0;
    if (s->tags.count)
        gale_log(
            s->context->logger, GALE_LOG_WARN, s->context->component,
            "rabbitmq: source lost: %zu messages had no answer when the connection went; the queue gives them again",
            s->tags.count);
    rmq_tags_clear(&s->tags);
    gale_intake_drop(s->intake, s->link.session);
}

static void note_depth(spout *s, uint64_t depth) {
    bool idle = !depth && !s->stash.first && !gale_intake_count(s->intake);
    s->empty = idle ? s->empty + 1 : 0;
    (void)gale_metric_note(s->ready, (double)depth);
}

/* `next` is asked behind it. */
static void stash(spout *s, rmq_note *delivery) {
    if (s->tags.count + s->stashed < s->given->prefetch) {
        rmq_chain_add(&s->stash, delivery);
        s->stashed++;
        return;
    }
    rmq_note_free(delivery);
    rmq_link_fail(&s->link, "the broker gives more messages than prefetch allows");
}

static void hear_news(void *user, rmq_note *note) {
    spout *s = user;
    if (note->kind == RMQ_DELIVERY) {
        stash(s, note);
        return;
    }
    if (note->kind == RMQ_DEPTH) note_depth(s, note->tag);
    rmq_note_free(note);
}

static const rmq_link_ops link_ops = { be_up, be_down, hear_news };

static int hear_look(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    spout *s = user;
    (void)events;
    if (s->link.up) order(s, RMQ_LOOK, 0, false);
    rmq_link_flush(&s->link);
    return gale_watch_set(out, watch, 0,
                          gale_context_now(s->context) + (s->given->until_empty ? LOOK_OFTEN : LOOK_SELDOM));
}

/* --- A task ----------------------------------------------------------------------------------------------------------- */

static void spout_close(void *self) {
    spout *s = self;
    if (s->link.worker) flush(s);
    rmq_link_close(&s->link);
    if (s->look) (void)gale_watch_free(s->out, s->look);
    if (s->gathered) (void)gale_watch_free(s->out, s->gathered);
    rmq_chain_free(&s->stash);
    rmq_assembly_drop(&s->reader.assembly);
    rmq_tags_free(&s->tags);
    gale_intake_free(s->intake);
    free(s->dropped);
    free(s);
}

static int make_timer(spout *s, gale_watch_fn *call, gale_watch *ret_timer, gale_error *error) {
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    options.always = true;
    options.call = call;
    options.user = s;
    int rc = gale_watch_new(s->out, &options, ret_timer);
    return rc < 0 ? gale_error_set(error, rc, "rabbitmq: a timer cannot be made: %s", gale_error_text(rc)) : 0;
}

static int begin_timers(spout *s, gale_error *error) {
    gale_metric_options ready = GALE_METRIC_OPTIONS_INIT;
    ready.name = "rabbitmq_ready";
    ready.kind = GALE_METRIC_GAUGE;
    ready.help = "Messages of the queue that wait to be given to somebody";
    if (gale_metric_new(s->out, &ready, &s->ready) < 0) s->ready = NULL; /* without it all else goes on */
    int rc = make_timer(s, hear_look, &s->look, error);
    return rc < 0 ? rc : make_timer(s, hear_gathered, &s->gathered, error);
}

/* In a durable run, when half of what the broker may give waits for a checkpoint, that is enough. */
static int begin(spout *s, gale_error *error) {
    const rmq_spout_settings *given = s->given;
    gale_intake_options options = GALE_INTAKE_OPTIONS_INIT;
    options.memory = given->memory;
    options.attempts = given->retries_at_queue ? 1 : given->attempts;
    options.emits = given->row.emit.count;
    options.waiting = given->prefetch > 1 ? given->prefetch / 2 : 1;
    options.answered = answered;
    options.name = name_row;
    options.give_back = give_back;
    options.user = s;
    s->reader = (rmq_reader){ .declare = &given->declare, .prefetch = given->prefetch };
    s->reader.assembly.most = given->largest;
    s->reader.assembly.headers = given->row.headers;
    int rc = gale_intake_new(s->context, s->out, &options, &s->intake, error);
    if (rc == 0) rc = begin_timers(s, error);
    if (rc == 0)
        rc = rmq_link_open(&s->link, &given->broker, &link_ops, s, &rmq_reader_ops, &s->reader, s->context, s->out,
                           error);
    return rc;
}

static int spout_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    gale_error error = GALE_ERROR_INIT;
    spout *s = calloc(1, sizeof *s);
    if (!s) return GALE_NO_MEMORY;
    s->given = user;
    s->context = context;
    s->out = out;
    rmq_tags_init(&s->tags);
    int rc = begin(s, &error);
    if (rc < 0) {
        gale_report(out, error.text);
        spout_close(s);
        return rc;
    }
    gale_remember(out);
    *ret_self = s;
    return 0;
}

/* A message that can be no tuple: it is told, and goes to the dead letters. */
static void refuse(spout *s, const rmq_delivery *d, uint32_t place, const char *why) {
    char text[GALE_FAILURE_TEXT + NAME], name[NAME];
    uint64_t tag;
    const gale_value label = label_of(d);
    write_name(s, &label, name, sizeof name);
    snprintf(text, sizeof text, "%s can be no tuple, and is rejected: %.100s", name, why);
    gale_report(s->out, text);
    if (rmq_tags_take(&s->tags, place, &tag)) order(s, RMQ_REJECT, tag, false);
}

/* 0 when there was one, 1 when there is none; GALE_NO_MEMORY leaves it where it is. */
static int take(spout *s) {
    gale_value values[GALE_NAMES_MAX + KEPT];
    rmq_delivery *d = (rmq_delivery *)s->stash.first;
    uint32_t place, count = s->given->row.emit.count;
    uint64_t tag;
    if (!d) return 1;
    int rc = rmq_tags_add(&s->tags, d->note.tag, &place);
    if (rc < 0) return rc;
    rmq_row_values(&s->given->row, d, values);
    values[count] = label_of(d);
    values[count + 1] = gale_i64(rmq_row_attempt(d));
    /* A classic queue says that it was given before, and not how often: that is the last time. */
    if (d->count < 0 && d->redelivered) values[count + 1] = gale_i64(INT64_MAX);
    if (!d->note.text) rc = gale_intake_take(s->intake, values, count + KEPT, s->link.session, place);
    if (rc == GALE_NO_MEMORY) return rmq_tags_take(&s->tags, place, &tag), rc;
    if (rc < 0 || d->note.text) refuse(s, d, place, d->note.text ? d->note.text : gale_error_text(rc));
    rmq_note_free(rmq_chain_take(&s->stash));
    s->stashed--;
    return 0;
}

static int spout_next(void *self, gale_collector *out, gale_wait *wait) {
    spout *s = self;
    int rc = 0;
    (void)out;
    while (rc == 0 && gale_intake_wants(s->intake)) rc = take(s);
    rmq_link_flush(&s->link);
    if (rc < 0) return rc;
    int next = gale_intake_next(s->intake, wait);
    bool over = next == GALE_NEXT_WATCHED && s->given->until_empty && s->empty >= QUIET && !s->stash.first;
    return over ? GALE_NEXT_DONE : next;
}

static void spout_ack_batch(void *self, const uint64_t *message_ids, size_t count) {
    spout *s = self;
    gale_intake_ack(s->intake, message_ids, count);
    gather(s);
}

static void spout_fail(void *self, uint64_t message_id, const gale_failure *failure) {
    spout *s = self;
    gale_intake_fail(s->intake, message_id, failure);
    rmq_link_flush(&s->link);
}

/* --- Checkpoints ------------------------------------------------------------------------------------------------------ */

/* What was acked is told the broker when a checkpoint lasts that has it. Rows that are open are of a session that no run after this one has: they go on
 * there, and are nobody's; the broker gives their messages again. */
static int spout_save(void *self, gale_saver *to) {
    spout *s = self;
    const gale_value head = gale_i64(s->link.session);
    int rc = gale_save(to, &head, 1);
    return rc < 0 ? rc : gale_intake_save(s->intake, to);
}

/* Rows come in the order in which they were taken: so do their sessions. */
static void note_dropped(void *user, uint32_t source, int64_t place) {
    spout *s = user;
    (void)place;
    s->dropped_rows++;
    if (s->dropped_count && s->dropped[s->dropped_count - 1] == source) return;
    uint32_t *list = realloc(s->dropped, (s->dropped_count + 1) * sizeof *list);
    if (!list) return; /* it is emitted again, and has no answer all the same */
    s->dropped = list;
    list[s->dropped_count++] = source;
}

static int spout_restore(void *self, gale_saved *from, gale_collector *out) {
    spout *s = self;
    const gale_value *v;
    size_t count;
    int rc = gale_saved_next(from, &v, &count);
    if (rc < 0) return rc;
    if (rc == 0 || count != 1 || v[0].type != GALE_TYPE_I64 || v[0].as.i64 < 0 || v[0].as.i64 > UINT32_MAX) {
        gale_report(out, "rabbitmq spout: what was saved of it is damaged");
        return GALE_DAMAGED;
    }
    s->link.session = (uint32_t)v[0].as.i64;
    rc = gale_intake_restore(s->intake, from, note_dropped, s);
    if (rc == 0 && s->dropped_rows)
        gale_log(s->context->logger, GALE_LOG_WARN, s->context->component,
                 "rabbitmq: source lost: %" PRIu64
                 " messages had no answer when the run before ended; the queue gives them again",
                 s->dropped_rows);
    for (size_t i = 0; rc == 0 && i < s->dropped_count; i++) gale_intake_drop(s->intake, s->dropped[i]);
    return rc;
}

static void spout_committed(void *self, uint64_t checkpoint) {
    spout *s = self;
    gale_intake_committed(s->intake, checkpoint);
    flush(s);
}

static const gale_durable_ops durable = {
    .size = sizeof durable,
    .version = 1,
    .save = spout_save,
    .restore = spout_restore,
    .committed = spout_committed,
};

static const gale_spout_ops ops = {
    .size = sizeof ops,
    .name = "rabbitmq spout",
    .open = spout_open,
    .next = spout_next,
    .ack_batch = spout_ack_batch,
    .fail = spout_fail,
    .close = spout_close,
    .durable = &durable,
};

int rmq_make_spout(void *user, const gale_args *args, gale_spout *ret_spout, gale_error *error) {
    rmq_spout_settings *made = calloc(1, sizeof *made);
    (void)user;
    if (!made) return rmq_no_memory(error);
    int rc = rmq_spout_settings_make(made, args, error);
    if (rc < 0) {
        rmq_spout_settings_free(made);
        return rc;
    }
    *ret_spout = (gale_spout){ .size = sizeof *ret_spout,
                               .ops = &ops,
                               .user = made,
                               .free_user = rmq_spout_settings_free,
                               .outputs = &made->output,
                               .output_count = 1 };
    return 0;
}
