/* Messages of Kafka's to tuples: gale.spout.Kafka. */
#include "connect/kafka/consumer.h"
#include "connect/kafka/identity.h"
#include "connect/kafka/kafka.h"
#include "connect/kafka/letters.h"
#include "connect/kafka/row.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A definition's block. */
typedef struct settings {
    kafka_settings kafka; /* first */
    kafka_reading reading;
    kafka_row row;
    gale_output output;
    char *dead_letters; /* a topic, or NULL */
    uint64_t memory;
    uint32_t attempts;
    bool until_end;
} settings;

typedef struct spout {
    kafka_consumer consumer;
    const settings *given;
    kafka_reading reading; /* as given; the member is perhaps the run's */
    gale_intake *intake;
    kafka_letters letters;
    kafka_values values;
    bool durable;
    bool stuck; /* memory was out for the message that is of this: it is begun, and not taken */
    uint32_t stuck_source;
    int64_t stuck_place;
} spout;

/* --- A task ---------------------------------------------------------------------------------------------------------- */

static void spout_close(void *self) {
    spout *s = self;
    kafka_letters_finish(&s->letters);
    kafka_consumer_close(&s->consumer);
    kafka_letters_close(&s->letters);
    gale_intake_free(s->intake);
    free(s);
}

static void written(void *user, uint32_t source, int64_t place) {
    spout *s = user;
    kafka_consumer_answer(&s->consumer, source, place);
}

/* What memory is out for comes again with the next run: it has no answer. */
static void say_no_memory(spout *s, int64_t place) {
    char text[GALE_FAILURE_TEXT];
    snprintf(text, sizeof text, "memory is out for the dead letter of the message at offset %" PRId64, place);
    gale_report(s->consumer.client.out, text);
}

/* Of a partition that is somebody else's now, whoever has it reads it again. */
static void write_letter(spout *s, const gale_answered *answered) {
    const gale_value *key, *value, *headers;
    const kafka_part *part = kafka_parts_at(&s->consumer.parts, answered->source);
    if (!part) return;
    const kafka_origin origin = { part->topic, part->partition, answered->source, answered->place };
    kafka_row_letter(&s->given->row, answered->values, answered->count, &key, &value, &headers);
    int rc = kafka_letters_add(&s->letters, &origin, key, value, headers, answered->failure);
    if (rc < 0) say_no_memory(s, answered->place);
}

static void answered(void *user, const gale_answered *answered) {
    spout *s = user;
    if (answered->failure && s->letters.topic)
        write_letter(s, answered);
    else
        kafka_consumer_answer(&s->consumer, answered->source, answered->place);
}

/* One whose partition is somebody else's now has no name any more but its offset. */
static void name_row(void *user, const gale_answered *answered, char *to, size_t size) {
    const spout *s = user;
    const kafka_part *part = kafka_parts_at(&s->consumer.parts, answered->source);
    if (part)
        snprintf(to, size, "message %" PRId64 " of %.120s[%" PRId32 "]", answered->place, part->topic, part->partition);
}

static void lost(void *user, uint32_t source) {
    spout *s = user;
    gale_intake_drop(s->intake, source);
}

/* Its own, or else the run's (gale run --member). */
static int take_member(spout *s, const gale_context *context, gale_error *error) {
    s->reading = s->given->reading;
    return s->reading.member.count ? 0 : kafka_member_of(context, &s->reading.member, error);
}

static int begin(spout *s, const gale_context *context, gale_collector *out, gale_error *error) {
    gale_intake_options options = GALE_INTAKE_OPTIONS_INIT;
    options.memory = s->given->memory;
    options.attempts = s->given->attempts;
    options.emits = s->given->row.count;
    options.answered = answered;
    options.name = name_row;
    options.user = s;
    s->consumer.lost = lost;
    s->consumer.user = s;
    int rc = take_member(s, context, error);
    if (rc == 0) rc = kafka_consumer_open(&s->consumer, &s->given->kafka, &s->reading, context, out, error);
    s->letters.written = written;
    s->letters.user = s;
    if (rc == 0) rc = kafka_letters_open(&s->letters, &s->given->kafka, s->given->dead_letters, context, out, error);
    return rc < 0 ? rc : gale_intake_new(context, out, &options, &s->intake, error);
}

static int spout_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    gale_error error = GALE_ERROR_INIT;
    spout *s = calloc(1, sizeof *s);
    if (!s) return GALE_NO_MEMORY;
    s->given = user;
    s->durable = context->durable;
    int rc = begin(s, context, out, &error);
    if (rc < 0) {
        gale_report(out, error.text);
        spout_close(s);
        return rc;
    }
    gale_remember(out);
    *ret_self = s;
    return 0;
}

/* A message that can be no tuple: it is told, and done. */
static void refuse(spout *s, const rd_kafka_message_t *message, const kafka_part *part, uint32_t source, int rc) {
    char text[GALE_FAILURE_TEXT];
    const gale_failure failure = { .size = sizeof failure, .reason = GALE_REASON_REJECTED, .text = text };
    snprintf(text, sizeof text, "message %" PRId64 " of %s[%" PRId32 "] can be no tuple, and is left out: %s",
             message->offset, part->topic, part->partition, gale_error_text(rc));
    gale_report(s->consumer.client.out, text);
    if (!s->letters.topic)
        (void)gale_positions_done(part->positions, message->offset);
    else if (kafka_letters_add_message(&s->letters, source, message, &failure) < 0)
        say_no_memory(s, message->offset);
}

/* Is it the first time that it comes? One that memory was out for is begun already. */
static int begin_message(spout *s, const rd_kafka_message_t *message, const kafka_part *part, uint32_t source) {
    bool again = s->stuck && s->stuck_source == source && s->stuck_place == message->offset;
    return again ? 0 : gale_positions_begin(part->positions, message->offset);
}

/* One message: 0 when there was one, 1 when there is none; an error leaves it where it is. */
static int take(spout *s) {
    kafka_part *part;
    const rd_kafka_message_t *message = kafka_consumer_peek(&s->consumer, &part);
    if (!message) return 1;
    uint32_t source = kafka_parts_source(&s->consumer.parts, part);
    int rc = begin_message(s, message, part, source);
    if (rc == GALE_NO_MEMORY) return rc;
    if (rc == 0) {
        rc = kafka_row_values(&s->given->row, message, &s->values);
        if (rc == 0) rc = gale_intake_take(s->intake, s->values.list, s->given->row.kept, source, message->offset);
        s->stuck = rc == GALE_NO_MEMORY;
        s->stuck_source = source;
        s->stuck_place = message->offset;
        if (s->stuck) return rc;
        if (rc < 0) refuse(s, message, part, source, rc);
    }
    part->next = message->offset + 1;
    if (s->durable) kafka_identity_note(part, message);
    kafka_consumer_pass(&s->consumer);
    return 0;
}

static int spout_next(void *self, gale_collector *out, gale_wait *wait) {
    spout *s = self;
    int rc = 0;
    (void)out;
    if (s->consumer.client.over) return GALE_NEXT_WATCHED;
    rc = kafka_consumer_begin(&s->consumer);
    while (rc == 0 && kafka_letters_want(&s->letters) && gale_intake_wants(s->intake)) rc = take(s);
    if (rc < 0) return rc;
    int next = gale_intake_next(s->intake, wait);
    bool over = next == GALE_NEXT_WATCHED && s->given->until_end && !s->letters.count &&
                kafka_consumer_at_end(&s->consumer);
    return over ? GALE_NEXT_DONE : next;
}

static void spout_ack_batch(void *self, const uint64_t *message_ids, size_t count) {
    spout *s = self;
    gale_intake_ack(s->intake, message_ids, count);
}

static void spout_fail(void *self, uint64_t message_id, const gale_failure *failure) {
    spout *s = self;
    gale_intake_fail(s->intake, message_id, failure);
}

/* --- Checkpoints ------------------------------------------------------------------------------------------------------ */

static kafka_saves saves_of(spout *s) {
    const kafka_client *client = &s->consumer.client;
    return (kafka_saves){ &s->consumer.parts, &s->letters, s->intake, client->rk, client->queue, client->out };
}

static int spout_save(void *self, gale_saver *to) {
    const kafka_saves saves = saves_of(self);
    return kafka_fixed_save(&saves, to);
}

static int spout_restore(void *self, gale_saved *from, gale_collector *out) {
    const kafka_saves saves = saves_of(self);
    (void)out;
    return kafka_fixed_restore(&saves, from);
}

static void spout_committed(void *self, uint64_t checkpoint) {
    spout *s = self;
    gale_intake_committed(s->intake, checkpoint);
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
    .name = "kafka spout",
    .open = spout_open,
    .next = spout_next,
    .ack_batch = spout_ack_batch,
    .fail = spout_fail,
    .close = spout_close,
    .durable = &durable,
};

/* --- A definition ---------------------------------------------------------------------------------------------------- */

static const kafka_property own[] = {
    { "group.id", "group says it" },
    { "auto.offset.reset", "from says it" },
    { "topic.auto.offset.reset", "from says it" },
    { "enable.auto.commit", "offsets are committed when their messages are answered, every commitEvery" },
    { "auto.commit.interval.ms", "offsets are committed when their messages are answered, every commitEvery" },
    { "enable.auto.offset.store", "offsets are committed when their messages are answered, every commitEvery" },
    { "enable.partition.eof", "the spout uses it" },
    { "statistics.interval.ms", "the spout uses it" },
    { "log.queue", "the spout uses it" },
    { NULL, NULL },
};

static const kafka_property defaults[] = { { NULL, NULL } };

static int set_own(settings *made, const gale_args *args, gale_error *error) {
    const kafka_property rows[] = {
        { "group.id", gale_args_text(args, "group") },
        { "auto.offset.reset", kafka_from_reset(&made->reading.from) },
        { "enable.auto.commit", "false" },
        { "enable.auto.offset.store", "false" },
        { "enable.partition.eof", "true" },
        { NULL, NULL },
    };
    return kafka_settings_set(&made->kafka, rows, error);
}

static int read_topics(settings *made, const gale_args *args, gale_error *error) {
    gale_value list = gale_args_value(args, "topics");
    made->reading.topics = rd_kafka_topic_partition_list_new((int)list.size);
    for (size_t i = 0; i < list.size; i++) {
        gale_value name = gale_list_at(&list, i);
        char text[256];
        if (!name.size || name.size >= sizeof text)
            return gale_error_set(error, GALE_INVALID, "topics: a name has 1 to 249 bytes");
        snprintf(text, sizeof text, "%.*s", (int)name.size, name.as.string);
        rd_kafka_topic_partition_list_add(made->reading.topics, text, RD_KAFKA_PARTITION_UA);
    }
    return list.size ? 0 : gale_error_set(error, GALE_INVALID, "topics: it names none");
}

static void free_settings(void *user) {
    settings *made = user;
    if (made->reading.topics) rd_kafka_topic_partition_list_destroy(made->reading.topics);
    kafka_from_free(&made->reading.from);
    kafka_settings_free(&made->kafka);
    free(made->dead_letters);
    free(made);
}

static int read_letters(settings *made, const gale_args *args, gale_error *error) {
    const char *topic = gale_args_text(args, "deadLetters");
    if (!topic) return 0;
    if (strlen(topic) > 249)
        return gale_error_set(error, GALE_INVALID, "deadLetters: a topic's name has at most 249 bytes");
    kafka_row_keep(&made->row);
    made->dead_letters = kafka_copy(topic, error);
    return made->dead_letters ? 0 : GALE_NO_MEMORY;
}

static int fill(settings *made, const gale_args *args, gale_error *error) {
    int rc = kafka_settings_make(&made->kafka, args, defaults, own, error);
    if (rc == 0)
        rc = kafka_from_read(&made->reading.from, gale_args_value(args, "from"), gale_args_flag(args, "fromAlways"),
                             error);
    if (rc == 0) rc = set_own(made, args, error);
    if (rc == 0) rc = read_topics(made, args, error);
    if (rc == 0) rc = kafka_member_parse(gale_args_text(args, "member"), &made->reading.member, error);
    if (rc == 0) rc = kafka_row_parse(gale_args_text(args, "emit"), &made->row, error);
    if (rc == 0) rc = read_letters(made, args, error);
    made->output = (gale_output){ NULL, made->row.names };
    made->memory = (uint64_t)gale_args_whole(args, "memory");
    made->attempts = (uint32_t)gale_args_whole(args, "maxAttempts");
    made->reading.commit_every = gale_args_number(args, "commitEvery");
    made->until_end = gale_args_flag(args, "untilEnd");
    return rc;
}

int kafka_make_spout(void *user, const gale_args *args, gale_spout *ret_spout, gale_error *error) {
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
