/* Messages of a JetStream consumer to tuples: gale.spout.Nats. */
#include "connect/nats/consumer.h"
#include "connect/nats/nats.h"
#include "connect/nats/row.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A definition's block. */
typedef struct settings {
    nats_reading reading; /* first */
    nats_row row;
    gale_output output;
    uint32_t attempts;
} settings;

typedef struct spout {
    nats_consumer consumer;
    const settings *given;
    const gale_context *context;
    gale_collector *out;
    gale_intake *intake;
    bool reads; /* in a durable run one task does */
    nats_row_values values;
} spout;

/* --- Answers ----------------------------------------------------------------------------------------------------------------- */

static void say_end(spout *s, int64_t sequence, int64_t delivered, const char *why) {
    char text[NATS_WORDS];
    snprintf(text, sizeof text, "message %" PRId64 " of %s ends after %" PRId64 " %s (+TERM): %s", sequence,
             s->given->reading.stream, delivered, delivered == 1 ? "delivery" : "deliveries", why);
    gale_report(s->out, text);
}

/* The pause that follows so many deliveries. */
static int64_t pause_after(const spout *s, int64_t delivered) {
    gale_backoff backoff = { .tries = (uint32_t)(delivered < 32 ? delivered - 1 : 31) };
    return gale_backoff_next(&backoff, s->context);
}

/* The intake tries nothing again: the server does, as often as it may be delivered. */
static void give_up(spout *s, int64_t sequence, const gale_failure *failure) {
    int64_t delivered = nats_consumer_delivered(&s->consumer, sequence);
    if (delivered < 1) delivered = 1; /* of a run before */
    bool over = failure->final || failure->reason == GALE_REASON_REJECTED || delivered >= s->given->attempts;
    if (over) {
        char why[NATS_WORDS];
        snprintf(why, sizeof why, "%s%s%.150s%s%.60s%s", gale_reason_name(failure->reason), *failure->text ? ": " : "",
                 failure->text, failure->component ? " (" : "", failure->component ? failure->component : "",
                 failure->component ? ")" : "");
        say_end(s, sequence, delivered, why);
        nats_consumer_term(&s->consumer, sequence);
    } else {
        nats_consumer_nak(&s->consumer, sequence, pause_after(s, delivered));
    }
}

static bool give_back(void *user, const gale_answered *answered) {
    give_up(user, answered->place, answered->failure);
    return true;
}

static void answered(void *user, const gale_answered *answered) {
    spout *s = user;
    nats_consumer_ack(&s->consumer, answered->place);
}

/* --- A task ------------------------------------------------------------------------------------------------------------------ */

static void spout_close(void *self) {
    spout *s = self;
    if (s->reads) nats_consumer_close(&s->consumer);
    gale_intake_free(s->intake);
    free(s);
}

static int begin(spout *s, gale_error *error) {
    gale_intake_options options = GALE_INTAKE_OPTIONS_INIT;
    options.what = "delivery";
    options.memory = (uint64_t)s->given->reading.memory / 2;
    options.attempts = 1;
    options.waiting = (uint64_t)s->given->reading.in_flight / 2 + 1;
    options.answered = answered;
    options.give_back = give_back;
    options.user = s;
    int rc = gale_intake_new(s->context, s->out, &options, &s->intake, error);
    s->reads = rc == 0 && !(s->context->durable && s->context->task_index);
    return s->reads ? nats_consumer_open(&s->consumer, &s->given->reading, s->context, s->out, error) : rc;
}

static int spout_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    gale_error error = GALE_ERROR_INIT;
    spout *s = calloc(1, sizeof *s);
    if (!s) return GALE_NO_MEMORY;
    s->given = user;
    s->context = context;
    s->out = out;
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

/* A message that can be no tuple: it is told, and ends. */
static void refuse(spout *s, const nats_place *place, int rc) {
    say_end(s, place->sequence, place->delivered, gale_error_text(rc));
    nats_consumer_term(&s->consumer, place->sequence);
}

/* One message: 0 when there was one, 1 when there is none; GALE_NO_MEMORY leaves it where it is. */
static int take(spout *s) {
    const nats_queued *one = nats_consumer_peek(&s->consumer);
    if (!one) return 1;
    const nats_place place = one->place;
    int rc = nats_row_fill(&s->given->row, one->msg, &place, &s->values);
    if (rc == 0) rc = gale_intake_take(s->intake, s->values.list, s->given->row.count, 0, place.sequence);
    if (rc == GALE_NO_MEMORY) return rc;
    nats_consumer_pass(&s->consumer);
    if (rc < 0) refuse(s, &place, rc);
    return 0;
}

static int spout_next(void *self, gale_collector *out, gale_wait *wait) {
    spout *s = self;
    int rc = 0;
    (void)out;
    if (!s->reads) return GALE_NEXT_DONE;
    while (rc == 0 && gale_intake_wants(s->intake)) rc = take(s);
    if (rc < 0) return rc;
    if (!nats_consumer_peek(&s->consumer)) nats_consumer_ask(&s->consumer);
    int next = gale_intake_next(s->intake, wait);
    return next == GALE_NEXT_WATCHED && s->consumer.at_end ? GALE_NEXT_DONE : next;
}

static void spout_ack_batch(void *self, const uint64_t *message_ids, size_t count) {
    spout *s = self;
    gale_intake_ack(s->intake, message_ids, count);
    if (s->reads) nats_consumer_ask(&s->consumer);
}

static void spout_fail(void *self, uint64_t message_id, const gale_failure *failure) {
    spout *s = self;
    gale_intake_fail(s->intake, message_id, failure);
    if (s->reads) nats_consumer_ask(&s->consumer);
}

/* --- Checkpoints ------------------------------------------------------------------------------------------------------------- */

static int spout_save(void *self, gale_saver *to) {
    spout *s = self;
    if (!s->reads) return 0;
    int rc = nats_consumer_save(&s->consumer, to);
    return rc < 0 ? rc : gale_intake_save(s->intake, to);
}

static void again(void *user, uint32_t source, int64_t place) {
    (void)source;
    nats_consumer_again(&((spout *)user)->consumer, place);
}

static int spout_restore(void *self, gale_saved *from, gale_collector *out) {
    spout *s = self;
    (void)out;
    if (!s->reads) return 0;
    int rc = nats_consumer_restore(&s->consumer, from);
    return rc < 0 ? rc : gale_intake_restore(s->intake, from, again, s);
}

static void spout_committed(void *self, uint64_t checkpoint) {
    spout *s = self;
    gale_intake_committed(s->intake, checkpoint);
    if (s->reads) nats_consumer_committed(&s->consumer, checkpoint);
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
    .name = "nats spout",
    .open = spout_open,
    .next = spout_next,
    .ack_batch = spout_ack_batch,
    .fail = spout_fail,
    .close = spout_close,
    .durable = &durable,
};

/* --- A definition ------------------------------------------------------------------------------------------------------------- */

static void free_settings(void *user) {
    settings *made = user;
    nats_settings_free(&made->reading.nats);
    free(made->reading.stream);
    free(made->reading.consumer);
    free(made->reading.filter);
    free(made);
}

/* Where a consumer begins that is made. */
static int read_from(nats_reading *r, const gale_args *args, gale_error *error) {
    static const struct {
        const char *word;
        jsDeliverPolicy policy;
    } words[] = {
        { "first", js_DeliverAll },
        { "new", js_DeliverNew },
        { "last", js_DeliverLast },
        { "lastPerSubject", js_DeliverLastPerSubject },
    };
    gale_value from = gale_args_value(args, "from");
    if (from.type == GALE_TYPE_I64 && from.as.i64 > 0) {
        r->from = js_DeliverByStartSequence;
        r->from_sequence = (uint64_t)from.as.i64;
        return 0;
    }
    for (size_t i = 0; from.type == GALE_TYPE_STRING && i < sizeof words / sizeof *words; i++) {
        if (strlen(words[i].word) != from.size || memcmp(words[i].word, from.as.string, from.size) != 0) continue;
        r->from = words[i].policy;
        return 0;
    }
    return gale_error_set(error, GALE_INVALID,
                          "from: it is first, new, last, lastPerSubject, or a sequence of the stream, from 1");
}

static int check_filter(const char *subject, gale_error *error) {
    bool is = !subject || (*subject && !strpbrk(subject, " \t\r\n") && strlen(subject) < NATS_NAME_MAX);
    return is ? 0
              : gale_error_set(error, GALE_INVALID, "subject: it has 1 to %d letters, and no blank", NATS_NAME_MAX - 1);
}

static int read_reading(nats_reading *r, const gale_args *args, gale_error *error) {
    int rc = nats_settings_make(&r->nats, args, error);
    if (rc == 0) rc = nats_copy(&r->stream, args, "stream", error);
    if (rc == 0) rc = nats_copy(&r->consumer, args, "consumer", error);
    if (rc == 0) rc = nats_copy(&r->filter, args, "subject", error);
    if (rc == 0) rc = nats_check_name("stream", r->stream, error);
    if (rc == 0) rc = nats_check_name("consumer", r->consumer, error);
    if (rc == 0) rc = check_filter(r->filter, error);
    if (rc == 0) rc = read_from(r, args, error);
    r->create = gale_args_flag(args, "create");
    r->ack_wait = (int64_t)(gale_args_number(args, "ackWait") * 1e9);
    r->in_flight = gale_args_whole(args, "inFlight");
    r->batch = gale_args_whole(args, "batch");
    r->memory = gale_args_whole(args, "memory");
    r->until_end = gale_args_flag(args, "untilEnd");
    return rc;
}

static int fill(settings *made, const gale_args *args, gale_error *error) {
    int rc = read_reading(&made->reading, args, error);
    if (rc == 0)
        rc = nats_row_parse(gale_args_text(args, "emit"), gale_args_text(args, "levels"), made->reading.stream,
                            &made->row, error);
    made->attempts = (uint32_t)gale_args_whole(args, "maxAttempts");
    made->output = (gale_output){ NULL, made->row.names };
    return rc;
}

int nats_make_spout(void *user, const gale_args *args, gale_spout *ret_spout, gale_error *error) {
    settings *made = calloc(1, sizeof *made);
    (void)user;
    if (!made) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    int rc = fill(made, args, error);
    if (rc < 0) {
        free_settings(made);
        return rc;
    }
    *ret_spout = (gale_spout){ .size = sizeof *ret_spout,
                               .ops = &ops,
                               .user = made,
                               .free_user = free_settings,
                               .outputs = &made->output,
                               .output_count = 1 };
    return 0;
}
