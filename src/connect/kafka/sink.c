/* Tuples to messages of Kafka's: gale.bolt.KafkaSink. A tuple is held until the brokers have its message. */
#include "connect/kafka/client.h"
#include "connect/kafka/fixed.h"
#include "connect/kafka/kafka.h"
#include "connect/kafka/transactions.h"

#include <gale/connect.h>
#include <gale/state.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A definition's block. */
typedef struct settings {
    kafka_settings kafka; /* first */
    kafka_fields fields;
    char *topic, *markers;
    size_t largest; /* a message, in bytes */
    uint64_t memory;
    int64_t finish_wait;
} settings;

typedef struct sink {
    kafka_client client; /* first */
    const settings *given;
    gale_dispatch *dispatch; /* of these two it has one */
    gale_epochs *epochs;
} sink;

/* --- Out ------------------------------------------------------------------------------------------------------------- */

static rd_kafka_resp_err_t produce(sink *s, const kafka_message *m, uint64_t id) {
    return kafka_message_produce(&s->given->fields, m, s->client.rk, s->given->topic, RD_KAFKA_PARTITION_UA,
                                 (void *)(uintptr_t)id);
}

static void fail(sink *s, uint64_t id, rd_kafka_resp_err_t err) {
    (void)gale_dispatch_fail(s->dispatch, id, kafka_message_is_refused(err) ? GALE_REASON_REJECTED : GALE_REASON_FAILED,
                             rd_kafka_err2str(err));
}

static void hear_delivery(rd_kafka_t *rk, const rd_kafka_message_t *sent, void *user) {
    sink *s = user;
    uint64_t id = (uintptr_t)sent->_private;
    (void)rk;
    if (!sent->err) {
        kafka_client_well(&s->client);
        (void)gale_dispatch_ack(s->dispatch, id);
        return;
    }
    if (!kafka_message_is_refused(sent->err))
        kafka_client_unwell(&s->client, s->given->topic, rd_kafka_err2str(sent->err));
    fail(s, id, sent->err);
}

static void hear_statistics(kafka_client *client, const char *json) {
    (void)json;
    client->busy = gale_dispatch_count(((sink *)client)->dispatch) > 0;
}

static int hear_bell(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    sink *s = user;
    (void)out, (void)watch, (void)events;
    kafka_client_heard(&s->client);
    while (rd_kafka_poll(s->client.rk, 0) > 0) {
    }
    return 0;
}

/* --- A task ---------------------------------------------------------------------------------------------------------- */

static void bolt_cleanup(void *self) {
    sink *s = self;
    if (s->client.rk) (void)rd_kafka_purge(s->client.rk, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    kafka_client_close(&s->client);
    gale_dispatch_free(s->dispatch);
    gale_epochs_free(s->epochs);
    free(s);
}

static int begin(sink *s, const gale_context *context, gale_collector *out, gale_error *error) {
    gale_dispatch_options options = GALE_DISPATCH_OPTIONS_INIT;
    options.memory = s->given->memory;
    int rc = gale_dispatch_new(context, out, &options, &s->dispatch, error);
    rd_kafka_conf_t *conf = rc == 0 ? kafka_settings_conf(&s->given->kafka, error) : NULL;
    if (!conf) return error->code;
    s->client.statistics = hear_statistics;
    rd_kafka_conf_set_dr_msg_cb(conf, hear_delivery);
    return kafka_client_open(&s->client, RD_KAFKA_PRODUCER, conf, hear_bell, true, error);
}

/* Members of one file (gale run --member) are writers of their own. */
static int name_writer(const gale_context *context, char id[KAFKA_ID_MAX], gale_error *error) {
    kafka_member member;
    char number[16] = "";
    int rc = kafka_member_of(context, &member, error);
    if (member.count > 1) snprintf(number, sizeof number, "%" PRIu32 "/", member.index + 1);
    snprintf(id, KAFKA_ID_MAX, "%s/%s%s/%" PRIu32, context->topology, number, context->component, context->task_index);
    return rc;
}

/* In a durable run: the epochs have no client of the task's. */
static int begin_epochs(sink *s, const gale_context *context, gale_collector *out, gale_error *error) {
    char id[KAFKA_ID_MAX];
    gale_epochs_options options = GALE_EPOCHS_OPTIONS_INIT;
    int rc = name_writer(context, id, error);
    if (rc < 0) return rc;
    options.memory = s->given->memory;
    options.commit = kafka_transactions_commit;
    options.look = kafka_transactions_look;
    options.drop = kafka_transactions_free;
    options.user = kafka_transactions_new(&s->given->kafka, &s->given->fields, s->given->topic, s->given->markers, id);
    if (!options.user) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    rc = gale_epochs_new(context, out, &options, &s->epochs, error);
    if (rc < 0) kafka_transactions_free(options.user);
    return rc;
}

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    gale_error error = GALE_ERROR_INIT;
    sink *s = calloc(1, sizeof *s);
    if (!s) return GALE_NO_MEMORY;
    s->given = user;
    kafka_client_init(&s->client, &s->given->kafka, context, out);
    bool once = context->durable && s->given->markers;
    int rc = once ? begin_epochs(s, context, out, &error) : begin(s, context, out, &error);
    if (rc < 0) {
        gale_report(out, error.text);
        bolt_cleanup(s);
        return rc;
    }
    *ret_self = s;
    return 0;
}

/* Its answer reaches the outside with the checkpoint that has the row. */
static int take(sink *s, const gale_tuple *tuple, const kafka_message *m, gale_collector *out) {
    gale_value values[KAFKA_MESSAGE_VALUES];
    if (kafka_message_size(&s->given->fields, m) > s->given->largest)
        return gale_reject(out, gale_tuple_handle(tuple), "the message is larger than message.max.bytes");
    int rc = gale_epochs_take(s->epochs, values, kafka_message_values(&s->given->fields, m, values));
    return rc < 0 ? rc : gale_ack(out, gale_tuple_handle(tuple));
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    sink *s = self;
    kafka_message m;
    char why[GALE_FAILURE_TEXT];
    uint64_t id;
    if (gale_tuple_is_tick(tuple)) return gale_ack(out, gale_tuple_handle(tuple));
    if (kafka_message_form(&s->given->fields, tuple, &m, why, sizeof why) < 0)
        return gale_reject(out, gale_tuple_handle(tuple), why);
    if (s->epochs) return take(s, tuple, &m, out);
    int rc = gale_dispatch_hold(s->dispatch, tuple, kafka_message_size(&s->given->fields, &m), &id);
    if (rc < 0) return rc;
    rd_kafka_resp_err_t err = produce(s, &m, id);
    if (err) fail(s, id, err);
    return 0;
}

static void drive(void *self) {
    (void)rd_kafka_poll(((sink *)self)->client.rk, 50);
}

/* librdkafka waits for no more messages (linger.ms) while it flushes; what it has a connection for then is on its
 * way. */
static int bolt_drain(void *self, gale_collector *out) {
    enum { FLUSH_MS = 20 };
    sink *s = self;
    (void)out;
    if (s->client.rk) (void)rd_kafka_flush(s->client.rk, FLUSH_MS);
    return 0;
}

static int bolt_finish(void *self, gale_collector *out) {
    const sink *s = self;
    char name[GALE_FAILURE_TEXT];
    (void)out;
    snprintf(name, sizeof name, "kafka %s", s->given->kafka.brokers);
    return gale_dispatch_finish(s->dispatch, s->given->finish_wait, name, "confirmed", drive, self);
}

/* --- Checkpoints: what was not confirmed is sent again, or all of it goes out with them ------------------------------ */

static int bolt_save(void *self, gale_saver *to) {
    sink *s = self;
    return s->epochs ? gale_epochs_save(s->epochs, to) : gale_dispatch_save(s->dispatch, to);
}

static int send_again(void *user, uint64_t id, const gale_tuple *tuple) {
    sink *s = user;
    kafka_message m;
    char why[GALE_FAILURE_TEXT];
    if (kafka_message_form(&s->given->fields, tuple, &m, why, sizeof why) < 0)
        return gale_dispatch_fail(s->dispatch, id, GALE_REASON_REJECTED, why);
    rd_kafka_resp_err_t err = produce(s, &m, id);
    if (err) fail(s, id, err);
    return 0;
}

static int bolt_restore(void *self, gale_saved *from, gale_collector *out) {
    sink *s = self;
    (void)out;
    return s->epochs ? gale_epochs_restore(s->epochs, from)
                     : gale_dispatch_restore(s->dispatch, from, send_again, self);
}

static void bolt_committed(void *self, uint64_t checkpoint) {
    gale_epochs_committed(((sink *)self)->epochs, checkpoint);
}

static const gale_durable_ops durable = {
    .size = sizeof durable,
    .version = 1,
    .flags = GALE_DURABLE_OUTSIDE,
    .save = bolt_save,
    .restore = bolt_restore,
};

/* With transactions it saves something else, which the other one must not take for its own. */
static const gale_durable_ops durable_once = {
    .size = sizeof durable_once,
    .version = 2,
    .save = bolt_save,
    .restore = bolt_restore,
    .committed = bolt_committed,
};

#define SINK_OPS(durable_)                                                                                             \
    {                                                                                                                  \
        .size = sizeof(gale_bolt_ops), .name = "kafka sink", .kind = GALE_BOLT_MANUAL, .prepare = bolt_prepare,        \
        .execute = bolt_execute, .finish = bolt_finish, .drain = bolt_drain, .cleanup = bolt_cleanup,                  \
        .durable = (durable_)                                                                                          \
    }
static const gale_bolt_ops ops = SINK_OPS(&durable), ops_once = SINK_OPS(&durable_once);

/* --- A definition ---------------------------------------------------------------------------------------------------- */

static const kafka_property own[] = {
    { "statistics.interval.ms", "the sink uses it" },
    { "log.queue", "the sink uses it" },
    { "queue.buffering.max.messages", "memory bounds what is on its way" },
    { "queue.buffering.max.kbytes", "memory bounds what is on its way" },
    { "delivery.report.only.error", "each message is confirmed" },
    { "transactional.id", "topology, member, component and task are its transactional id" },
    { NULL, NULL },
};

static const kafka_property set_own[] = {
    { "queue.buffering.max.messages", "10000000" },
    { "queue.buffering.max.kbytes", "2097151" },
    { NULL, NULL },
};

/* As Java's producer has it, and without an end to trying. */
static const kafka_property defaults[] = {
    { "enable.idempotence", "true" },
    { "partitioner", "murmur2_random" },
    { "message.timeout.ms", "0" },
    { NULL, NULL },
};

static int read_headers(settings *made, const gale_args *args, gale_error *error) {
    const char *text = gale_args_text(args, "headers");
    gale_str name;
    while (text && kafka_next_name(&text, &name)) {
        if (made->fields.header_count == KAFKA_SINK_HEADERS_MAX)
            return gale_error_set(error, GALE_INVALID, "headers: there are at most %d", KAFKA_SINK_HEADERS_MAX);
        char *copy = strndup(name.data, name.size);
        if (!copy) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
        made->fields.headers[made->fields.header_count++] = copy;
    }
    return 0;
}

static void free_settings(void *user) {
    settings *made = user;
    kafka_settings_free(&made->kafka);
    free(made->topic);
    free(made->markers);
    free(made->fields.key);
    free(made->fields.value);
    free(made->fields.timestamp);
    for (size_t i = 0; i < made->fields.header_count; i++) free(made->fields.headers[i]);
    free(made);
}

static int copy_text(char **to, const gale_args *args, const char *parameter, gale_error *error) {
    const char *text = gale_args_text(args, parameter);
    *to = kafka_copy(text, error);
    return text && !*to ? GALE_NO_MEMORY : 0;
}

/* librdkafka has a default. */
static size_t read_largest(const rd_kafka_conf_t *conf) {
    char text[32];
    size_t size = sizeof text;
    if (rd_kafka_conf_get(conf, "message.max.bytes", text, &size) != RD_KAFKA_CONF_OK) return SIZE_MAX;
    return (size_t)strtoull(text, NULL, 10);
}

static int fill(settings *made, const gale_args *args, gale_error *error) {
    int rc = kafka_settings_make(&made->kafka, args, defaults, own, error);
    if (rc == 0) rc = kafka_settings_set(&made->kafka, set_own, error);
    if (rc == 0) rc = copy_text(&made->topic, args, "topic", error);
    if (rc == 0) rc = copy_text(&made->markers, args, "markers", error);
    if (rc == 0) rc = copy_text(&made->fields.key, args, "key", error);
    if (rc == 0) rc = copy_text(&made->fields.value, args, "value", error);
    if (rc == 0) rc = copy_text(&made->fields.timestamp, args, "timestamp", error);
    if (rc == 0) rc = read_headers(made, args, error);
    if (rc == 0 && strlen(made->topic) > 249)
        rc = gale_error_set(error, GALE_INVALID, "topic: a name has at most 249 bytes");
    made->largest = read_largest(made->kafka.conf);
    made->memory = (uint64_t)gale_args_whole(args, "memory");
    made->finish_wait = (int64_t)(gale_args_number(args, "finishWait") * 1e9);
    return rc;
}

int kafka_make_sink(void *user, const gale_args *args, gale_bolt *ret_bolt, gale_error *error) {
    settings *made = calloc(1, sizeof *made);
    (void)user;
    if (!made) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    int rc = fill(made, args, error);
    if (rc < 0) {
        free_settings(made);
        return rc;
    }
    *ret_bolt = (gale_bolt){
        .size = sizeof *ret_bolt, .ops = made->markers ? &ops_once : &ops, .user = made, .free_user = free_settings
    };
    return 0;
}
