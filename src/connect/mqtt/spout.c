/* Messages of a broker's to tuples, and their ends to its answers: gale.spout.Mqtt. */
#include "connect/mqtt/filter.h"
#include "connect/mqtt/letters.h"
#include "connect/mqtt/mqtt.h"
#include "connect/mqtt/row.h"
#include "connect/mqtt/settled.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 160 };

/* A definition's block. */
typedef struct settings {
    mqtt_settings mqtt; /* first */
    mqtt_row row;
    mqtt_subscription *filters;
    size_t filter_count;
    gale_output output;
    char *dead_letters;
    uint64_t memory;
    uint32_t attempts;
    bool skips_retained;
} settings;

typedef struct spout {
    mqtt_link link;
    const settings *given;
    gale_intake *intake;
    mqtt_letters letters;
    wire_health health; /* of the link, and of the letters' */
    mqtt_settled settled;
    mqtt_values values;
    bool wished; /* for a checkpoint */
} spout;

/* --- Names ------------------------------------------------------------------------------------------------------------ */

/* As the broker's log has it. One of QoS 0 has no id of a packet. */
static void write_name(gale_str topic, int64_t place, char *to, size_t size) {
    char packet[32] = "";
    if (place) snprintf(packet, sizeof packet, ", packet %u", (unsigned)(uint16_t)place);
    snprintf(to, size, "message of %.*s%s", topic.size < 100 ? (int)topic.size : 100, topic.data, packet);
}

static void name_row(void *user, const gale_answered *answered, char *to, size_t size) {
    const spout *s = user;
    write_name(mqtt_row_topic(&s->given->row, answered->values, answered->count), answered->place, to, size);
}

static void say(spout *s, const gale_answered *answered, const char *what) {
    char text[GALE_FAILURE_TEXT + NAME], name[NAME];
    name_row(s, answered, name, sizeof name);
    snprintf(text, sizeof text, "%s %s", name, what);
    gale_report(s->link.out, text);
}

/* --- Answers ---------------------------------------------------------------------------------------------------------- */

static void wish(spout *s) {
    bool waits = mqtt_inbound_waits(&s->link.session.in) || s->settled.count > s->settled.cut;
    if (!waits || s->wished) return;
    s->wished = true;
    gale_wish_checkpoint(s->link.out);
}

/* It is done, and was not acked: in a durable run that is to last, too. */
static void settle(void *user, int64_t place) {
    spout *s = user;
    if (!s->link.context->durable)
        mqtt_session_answer(&s->link.session, place);
    else if (place && !mqtt_settled_add(&s->settled, place))
        gale_report(s->link.out, "memory is out for the answer of a message: the broker will send it again");
    wish(s);
    mqtt_link_go(&s->link);
}

static void give_up(spout *s, const gale_answered *answered) {
    mqtt_message message;
    bool is_kept = mqtt_row_letter(&s->given->row, answered->values, answered->count, &message);
    if (!s->letters.topic) {
        settle(s, answered->place);
        return;
    }
    if (!is_kept || mqtt_letters_add(&s->letters, &message, answered->place, answered->failure) < 0)
        say(s, answered, "has no dead letter: the broker will send it again");
}

static void answered(void *user, const gale_answered *answered) {
    spout *s = user;
    if (answered->failure)
        give_up(s, answered);
    else
        mqtt_session_answer(&s->link.session, answered->place);
}

/* --- Messages --------------------------------------------------------------------------------------------------------- */

static void refuse(spout *s, const mqtt_packet *publish, int64_t place, int rc) {
    char text[GALE_FAILURE_TEXT + NAME], name[NAME];
    write_name(publish->message.topic, place, name, sizeof name);
    snprintf(text, sizeof text, "%s can be no tuple, and is left out: %s", name, gale_error_text(rc));
    gale_report(s->link.out, text);
}

static int hear_message(void *user, const mqtt_packet *publish, int64_t place) {
    spout *s = user;
    if (publish->message.retain && s->given->skips_retained) {
        mqtt_session_answer(&s->link.session, place);
        return 0;
    }
    int rc = mqtt_row_values(&s->given->row, publish, &s->values);
    if (rc == 0) rc = gale_intake_take(s->intake, s->values.list, s->values.count, 0, place);
    if (rc == GALE_NO_MEMORY) return rc;
    if (rc < 0) {
        refuse(s, publish, place, rc);
        settle(s, place);
    }
    return 0;
}

/* A broker of version 5 knows how many may be out; mosquitto 2.0 sends more all the same when a client is back, and then they wait in its socket. */
static bool wants(void *user) {
    const spout *s = user;
    bool has_room = s->link.session.in.open < s->link.identity.receive_max;
    return has_room && mqtt_letters_want(&s->letters) && gale_intake_wants(s->intake);
}

static void hear_confirmed(void *user, uint64_t tag, const char *why) {
    (void)user, (void)tag, (void)why; /* it sends none */
}

static void hear_noted(void *user, const char *words) {
    spout *s = user;
    char text[GALE_FAILURE_TEXT];
    snprintf(text, sizeof text, "%s: %s", s->given->mqtt.wire.where, words);
    gale_report(s->link.out, text);
}

static const mqtt_link_ops link_ops = {
    .session = { .message = hear_message, .confirmed = hear_confirmed, .noted = hear_noted }, .wants = wants
};

/* --- A task ----------------------------------------------------------------------------------------------------------- */

static void spout_close(void *self) {
    spout *s = self;
    mqtt_letters_close(&s->letters);
    mqtt_link_close(&s->link);
    gale_intake_free(s->intake);
    mqtt_settled_free(&s->settled);
    free(s);
}

/* Each task would have all messages. */
static int check_tasks(const settings *given, const gale_context *context, gale_error *error) {
    for (size_t i = 0; context->task_count > 1 && i < given->filter_count; i++)
        if (!mqtt_filter_is_shared(given->filters[i].filter))
            return gale_error_set(
                error, GALE_INVALID, "topics: each of %u tasks would have all messages: $share/GROUP/%.*s shares them",
                context->task_count, (int)given->filters[i].filter.size, given->filters[i].filter.data);
    return 0;
}

static int begin(spout *s, const gale_context *context, gale_collector *out, gale_error *error) {
    const mqtt_role role = { .client = "", .health = &s->health, .who = 0 };
    gale_intake_options options = GALE_INTAKE_OPTIONS_INIT;
    options.memory = s->given->memory;
    options.attempts = s->given->attempts;
    options.emits = mqtt_row_count(&s->given->row);
    options.answered = answered;
    options.name = name_row;
    options.soon = true; /* the broker counts what has no answer */
    options.user = s;
    int rc = check_tasks(s->given, context, error);
    if (rc == 0) rc = gale_intake_new(context, out, &options, &s->intake, error);
    if (rc == 0)
        rc = mqtt_letters_open(&s->letters, &s->given->mqtt, s->given->dead_letters, &s->health, context, out, settle,
                               s, error);
    if (rc < 0) return rc;
    return mqtt_link_open(&s->link, &s->given->mqtt, &s->given->mqtt.identity, &role, context, out, &link_ops, s,
                          error);
}

static int spout_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    gale_error error = GALE_ERROR_INIT;
    spout *s = calloc(1, sizeof *s);
    if (!s) return GALE_NO_MEMORY;
    s->given = user;
    int rc = begin(s, context, out, &error);
    if (rc < 0) {
        gale_report(out, error.text);
        spout_close(s);
        return rc;
    }
    *ret_self = s;
    return 0;
}

static int spout_next(void *self, gale_collector *out, gale_wait *wait) {
    spout *s = self;
    (void)out;
    mqtt_link_hear(&s->link);
    wish(s);
    return gale_intake_next(s->intake, wait);
}

static void spout_ack_batch(void *self, const uint64_t *message_ids, size_t count) {
    spout *s = self;
    gale_intake_ack(s->intake, message_ids, count);
    mqtt_link_go(&s->link);
}

static void spout_fail(void *self, uint64_t message_id, const gale_failure *failure) {
    spout *s = self;
    gale_intake_fail(s->intake, message_id, failure);
    mqtt_link_go(&s->link);
}

/* --- Checkpoints: ids, letters, rows ---------------------------------------------------------------------------------- */

static int spout_save(void *self, gale_saver *to) {
    spout *s = self;
    int rc = mqtt_inbound_save(&s->link.session.in, to);
    if (rc == 0) rc = mqtt_letters_save(&s->letters, to);
    mqtt_settled_cut(&s->settled, gale_save_checkpoint(to));
    s->wished = false;
    return rc < 0 ? rc : gale_intake_save(s->intake, to);
}

static void reopen(void *user, int64_t place) {
    spout *s = user;
    mqtt_inbound_reopen(&s->link.session.in, place);
}

static void reopen_row(void *user, uint32_t source, int64_t place) {
    (void)source;
    reopen(user, place);
}

static int spout_restore(void *self, gale_saved *from, gale_collector *out) {
    spout *s = self;
    int rc = mqtt_inbound_restore(&s->link.session.in, from);
    if (rc == 0) rc = mqtt_letters_restore(&s->letters, from, reopen, s);
    if (rc == GALE_DAMAGED) gale_report(out, "mqtt: what was saved of the spout is damaged");
    if (rc == GALE_STATE)
        gale_report(out, "mqtt: there are dead letters that are not written yet: deadLetters must say where to");
    if (rc == 0) rc = gale_intake_restore(s->intake, from, reopen_row, s);
    if (rc == 0) mqtt_inbound_conclude(&s->link.session.in);
    s->link.session.was_up = true;
    return rc;
}

static void spout_committed(void *self, uint64_t checkpoint) {
    spout *s = self;
    size_t lasting = mqtt_settled_lasting(&s->settled, checkpoint);
    gale_intake_committed(s->intake, checkpoint);
    for (size_t i = 0; i < lasting; i++) mqtt_session_answer(&s->link.session, s->settled.places[i]);
    mqtt_settled_forget(&s->settled, lasting);
    mqtt_inbound_committed(&s->link.session.in, checkpoint);
    wish(s);
    mqtt_link_go(&s->link);
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
    .name = "mqtt spout",
    .open = spout_open,
    .next = spout_next,
    .fail = spout_fail,
    .close = spout_close,
    .ack_batch = spout_ack_batch,
    .durable = &durable,
};

/* --- A definition ----------------------------------------------------------------------------------------------------- */

static void free_settings(void *user) {
    settings *made = user;
    for (size_t i = 0; i < made->filter_count; i++) free((char *)(uintptr_t)made->filters[i].filter.data);
    free(made->filters);
    mqtt_row_free(&made->row);
    mqtt_settings_free(&made->mqtt);
    free(made->dead_letters);
    free(made);
}

/* Retained messages come when a filter is new to the session, where the broker can tell (MQTT 5). */
static int read_filter(settings *made, const gale_value *value, uint8_t qos, gale_error *error) {
    gale_str text = { value->as.string, value->size };
    const char *wrong = value->type == GALE_TYPE_STRING ? mqtt_filter_wrong(text) : "it is no text";
    bool is_5 = made->mqtt.identity.version == MQTT_5;
    if (wrong) return gale_error_set(error, GALE_INVALID, "topics: '%.*s': %s", (int)text.size, text.data, wrong);
    char *copy = strndup(text.data, text.size);
    if (!copy) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    made->filters[made->filter_count++] = (mqtt_subscription){ .filter = { copy, text.size },
                                                               .qos = qos,
                                                               .retain_handling = (uint8_t)(!is_5 ? 0
                                                                                            : made->skips_retained
                                                                                                ? 2
                                                                                                : 1) };
    return 0;
}

static int read_filters(settings *made, const gale_args *args, gale_error *error) {
    gale_value list = gale_args_value(args, "topics");
    int rc = 0;
    if (!list.size) return gale_error_set(error, GALE_INVALID, "topics: it names none");
    if (list.size > MQTT_FILTERS_MAX)
        return gale_error_set(error, GALE_INVALID, "topics: there are at most %d", MQTT_FILTERS_MAX);
    made->filters = calloc(list.size, sizeof *made->filters);
    if (!made->filters) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    for (size_t i = 0; rc == 0 && i < list.size; i++) {
        gale_value one = gale_list_at(&list, i);
        rc = read_filter(made, &one, (uint8_t)gale_args_whole(args, "qos"), error);
    }
    return rc;
}

static int read_letters(settings *made, const gale_args *args, gale_error *error) {
    int rc = mqtt_copy_text(&made->dead_letters, args, "deadLetters", error);
    if (rc < 0 || !made->dead_letters) return rc;
    if (!mqtt_is_topic(mqtt_text(made->dead_letters)))
        return gale_error_set(error, GALE_INVALID, "deadLetters: it is a topic, without wildcards");
    made->row.keeps = true;
    return 0;
}

static int fill(settings *made, const gale_args *args, gale_error *error) {
    made->skips_retained = strcmp(gale_args_text(args, "retained"), "skip") == 0;
    made->memory = (uint64_t)gale_args_whole(args, "memory");
    made->attempts = (uint32_t)gale_args_whole(args, "maxAttempts");
    int rc = mqtt_settings_make(&made->mqtt, args, error);
    if (rc == 0) rc = read_filters(made, args, error);
    if (rc == 0) rc = mqtt_row_make(&made->row, gale_args_text(args, "emit"), gale_args_text(args, "levels"), error);
    if (rc == 0) rc = read_letters(made, args, error);
    mqtt_identity *identity = &made->mqtt.identity;
    identity->receive_max = (uint16_t)gale_args_whole(args, "inFlight");
    identity->filters = made->row.filters = made->filters;
    identity->filter_count = made->row.filter_count = made->filter_count;
    made->output = (gale_output){ NULL, made->row.text };
    return rc;
}

int mqtt_make_spout(void *user, const gale_args *args, gale_spout *ret_spout, gale_error *error) {
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
