/* Tuples to messages of Kafka's: gale.bolt.KafkaSink. A tuple is held until the brokers have its message. */
#include "connect/kafka/client.h"
#include "connect/kafka/kafka.h"

#include <gale/connect.h>
#include <gale/state.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER = 40, HEADERS_MAX = 32 };

/* A definition's block. */
typedef struct settings {
    kafka_settings kafka;                  /* first */
    char *topic, *key, *value, *timestamp; /* names of fields but for the topic; NULL: not given */
    char *headers[HEADERS_MAX];
    size_t header_count;
    uint64_t memory;
    int64_t finish_wait;
} settings;

typedef struct sink {
    kafka_client client; /* first */
    const settings *given;
    gale_dispatch *dispatch;
} sink;

/* What a field is in a message: NULL is none. */
typedef struct bytes {
    const void *data;
    size_t size;
    char number[NUMBER];
} bytes;

typedef struct message {
    bytes key, value;
    int64_t time; /* 0: now */
    bytes headers[HEADERS_MAX];
} message;

/* --- A tuple's message ----------------------------------------------------------------------------------------------- */

/* The fewest digits that say the same. */
static void write_number(bytes *to, double number) {
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(to->number, sizeof to->number, "%.*g", digits, number);
        if (strtod(to->number, NULL) == number) break;
    }
}

static bool form_field(const gale_value *value, bytes *to) {
    *to = (bytes){ .data = NULL };
    switch (value->type) {
    case GALE_TYPE_NULL: return true;
    case GALE_TYPE_STRING:
    case GALE_TYPE_BYTES:
        to->data = value->size ? value->as.bytes : (const void *)"";
        to->size = value->size;
        return true;
    case GALE_TYPE_BOOL: snprintf(to->number, sizeof to->number, "%s", value->as.boolean ? "true" : "false"); break;
    case GALE_TYPE_I64: snprintf(to->number, sizeof to->number, "%" PRId64, value->as.i64); break;
    case GALE_TYPE_F64: write_number(to, value->as.f64); break;
    default: return false;
    }
    to->data = to->number;
    to->size = strlen(to->number);
    return true;
}

static int refuse(char *why, size_t size, const char *name, const char *what) {
    snprintf(why, size, "field %s %s", name, what);
    return GALE_INVALID;
}

static int form_named(const gale_tuple *tuple, const char *name, bytes *to, char *why, size_t size) {
    gale_value value;
    *to = (bytes){ .data = NULL };
    if (!name) return 0;
    if (!gale_tuple_get(tuple, name, &value)) return refuse(why, size, name, "is not there");
    return form_field(&value, to)
               ? 0
               : refuse(why, size, name, "is a list or a map: a text is made of it before, as by gale.bolt.Format");
}

/* The field that is the value: the one that is named, or the first that is not the key. */
static const char *value_name(const settings *given, const gale_tuple *tuple) {
    if (given->value) return given->value;
    const char *first = gale_tuple_field(tuple, 0);
    bool is_key = first && given->key && strcmp(first, given->key) == 0;
    return is_key ? gale_tuple_field(tuple, 1) : first;
}

static int form_time(const gale_tuple *tuple, const char *name, int64_t *ret_time, char *why, size_t size) {
    gale_value value;
    *ret_time = 0;
    if (!name) return 0;
    if (!gale_tuple_get(tuple, name, &value)) return refuse(why, size, name, "is not there");
    if (value.type == GALE_TYPE_NULL) return 0;
    if (value.type != GALE_TYPE_I64 || value.as.i64 < 0)
        return refuse(why, size, name, "is no time: milliseconds since 1970");
    *ret_time = value.as.i64;
    return 0;
}

/* Borrowed from the tuple. GALE_INVALID with a sentence. */
static int form(const settings *given, const gale_tuple *tuple, message *m, char *why, size_t size) {
    const char *name = value_name(given, tuple);
    if (!name) return refuse(why, size, "value", "is not there");
    int rc = form_named(tuple, given->key, &m->key, why, size);
    if (rc == 0) rc = form_named(tuple, name, &m->value, why, size);
    if (rc == 0) rc = form_time(tuple, given->timestamp, &m->time, why, size);
    for (size_t i = 0; rc == 0 && i < given->header_count; i++)
        rc = form_named(tuple, given->headers[i], &m->headers[i], why, size);
    return rc;
}

static size_t size_of(const settings *given, const message *m) {
    size_t size = m->key.size + m->value.size + 64;
    for (size_t i = 0; i < given->header_count; i++) size += m->headers[i].size + 16;
    return size;
}

/* --- Out ------------------------------------------------------------------------------------------------------------- */

/* librdkafka's from then on, when it is sent. NULL: there are none. */
static rd_kafka_headers_t *headers_of(const settings *given, const message *m) {
    rd_kafka_headers_t *headers = given->header_count ? rd_kafka_headers_new(given->header_count) : NULL;
    for (size_t i = 0; i < given->header_count; i++)
        if (m->headers[i].data)
            (void)rd_kafka_header_add(headers, given->headers[i], -1, m->headers[i].data, (ssize_t)m->headers[i].size);
    return headers;
}

static rd_kafka_resp_err_t produce(sink *s, const message *m, uint64_t id) {
    rd_kafka_headers_t *headers = headers_of(s->given, m);
    rd_kafka_vu_t parts[] = {
        { .vtype = RD_KAFKA_VTYPE_TOPIC, .u.cstr = s->given->topic },
        { .vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY },
        { .vtype = RD_KAFKA_VTYPE_KEY, .u.mem = { (void *)m->key.data, m->key.size } },
        { .vtype = RD_KAFKA_VTYPE_VALUE, .u.mem = { (void *)m->value.data, m->value.size } },
        { .vtype = RD_KAFKA_VTYPE_TIMESTAMP, .u.i64 = m->time },
        { .vtype = RD_KAFKA_VTYPE_OPAQUE, .u.ptr = (void *)(uintptr_t)id },
        { .vtype = RD_KAFKA_VTYPE_HEADERS, .u.headers = headers },
    };
    rd_kafka_error_t *error = rd_kafka_produceva(s->client.rk, parts, sizeof parts / sizeof *parts - (headers ? 0 : 1));
    rd_kafka_resp_err_t err = error ? rd_kafka_error_code(error) : RD_KAFKA_RESP_ERR_NO_ERROR;
    if (error) rd_kafka_error_destroy(error);
    if (err && headers) rd_kafka_headers_destroy(headers);
    return err;
}

/* What no further attempt would change. */
static bool is_for_good(rd_kafka_resp_err_t err) {
    return err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE || err == RD_KAFKA_RESP_ERR_INVALID_MSG ||
           err == RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE || err == RD_KAFKA_RESP_ERR_INVALID_RECORD ||
           err == RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP;
}

static void fail(sink *s, uint64_t id, rd_kafka_resp_err_t err) {
    (void)gale_dispatch_fail(s->dispatch, id, is_for_good(err) ? GALE_REASON_REJECTED : GALE_REASON_FAILED,
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
    if (!is_for_good(sent->err)) kafka_client_unwell(&s->client, s->given->topic, rd_kafka_err2str(sent->err));
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

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    gale_error error = GALE_ERROR_INIT;
    sink *s = calloc(1, sizeof *s);
    if (!s) return GALE_NO_MEMORY;
    s->given = user;
    kafka_client_init(&s->client, &s->given->kafka, context, out);
    int rc = begin(s, context, out, &error);
    if (rc < 0) {
        gale_report(out, error.text);
        bolt_cleanup(s);
        return rc;
    }
    *ret_self = s;
    return 0;
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    sink *s = self;
    message m;
    char why[GALE_FAILURE_TEXT];
    uint64_t id;
    if (gale_tuple_is_tick(tuple)) return gale_ack(out, gale_tuple_handle(tuple));
    if (form(s->given, tuple, &m, why, sizeof why) < 0) return gale_reject(out, gale_tuple_handle(tuple), why);
    int rc = gale_dispatch_hold(s->dispatch, tuple, size_of(s->given, &m), &id);
    if (rc < 0) return rc;
    rd_kafka_resp_err_t err = produce(s, &m, id);
    if (err) fail(s, id, err);
    return 0;
}

/* Until all is confirmed; nothing may stand still for longer than finishWait. */
static int bolt_finish(void *self, gale_collector *out) {
    sink *s = self;
    const gale_context *context = s->client.context;
    int64_t until = gale_context_now(context) + s->given->finish_wait;
    uint64_t left = gale_dispatch_count(s->dispatch);
    while (left && gale_context_now(context) < until) {
        (void)rd_kafka_poll(s->client.rk, 50);
        uint64_t more = gale_dispatch_count(s->dispatch);
        if (more < left) until = gale_context_now(context) + s->given->finish_wait;
        left = more;
    }
    if (!left) return 0;
    char text[GALE_FAILURE_TEXT];
    snprintf(text, sizeof text, "kafka %s: %" PRIu64 " messages were not confirmed within %g s (finishWait)",
             s->given->kafka.brokers, left, (double)s->given->finish_wait / 1e9);
    gale_report(out, text);
    return GALE_IO;
}

/* --- Checkpoints: what was not confirmed is sent again ----------------------------------------------------------------- */

static int bolt_save(void *self, gale_saver *to) {
    return gale_dispatch_save(((sink *)self)->dispatch, to);
}

static int send_again(void *user, uint64_t id, const gale_tuple *tuple) {
    sink *s = user;
    message m;
    char why[GALE_FAILURE_TEXT];
    if (form(s->given, tuple, &m, why, sizeof why) < 0)
        return gale_dispatch_fail(s->dispatch, id, GALE_REASON_REJECTED, why);
    rd_kafka_resp_err_t err = produce(s, &m, id);
    if (err) fail(s, id, err);
    return 0;
}

static int bolt_restore(void *self, gale_saved *from, gale_collector *out) {
    (void)out;
    return gale_dispatch_restore(((sink *)self)->dispatch, from, send_again, self);
}

static const gale_durable_ops durable = {
    .size = sizeof durable,
    .version = 1,
    .flags = GALE_DURABLE_OUTSIDE,
    .save = bolt_save,
    .restore = bolt_restore,
};

static const gale_bolt_ops ops = {
    .size = sizeof ops,
    .name = "kafka sink",
    .kind = GALE_BOLT_MANUAL,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .finish = bolt_finish,
    .cleanup = bolt_cleanup,
    .durable = &durable,
};

/* --- A definition ---------------------------------------------------------------------------------------------------- */

static const kafka_property own[] = {
    { "statistics.interval.ms", "the sink uses it" },
    { "log.queue", "the sink uses it" },
    { "queue.buffering.max.messages", "memory bounds what is on its way" },
    { "queue.buffering.max.kbytes", "memory bounds what is on its way" },
    { "delivery.report.only.error", "each message is confirmed" },
    { "transactional.id", "the sink has no transactions" },
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
        if (made->header_count == HEADERS_MAX)
            return gale_error_set(error, GALE_INVALID, "headers: there are at most %d", HEADERS_MAX);
        char *copy = strndup(name.data, name.size);
        if (!copy) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
        made->headers[made->header_count++] = copy;
    }
    return 0;
}

static void free_settings(void *user) {
    settings *made = user;
    kafka_settings_free(&made->kafka);
    free(made->topic);
    free(made->key);
    free(made->value);
    free(made->timestamp);
    for (size_t i = 0; i < made->header_count; i++) free(made->headers[i]);
    free(made);
}

static int copy_text(char **to, const gale_args *args, const char *parameter, gale_error *error) {
    const char *text = gale_args_text(args, parameter);
    *to = kafka_copy(text, error);
    return text && !*to ? GALE_NO_MEMORY : 0;
}

static int fill(settings *made, const gale_args *args, gale_error *error) {
    int rc = kafka_settings_make(&made->kafka, args, defaults, own, error);
    if (rc == 0) rc = kafka_settings_set(&made->kafka, set_own, error);
    if (rc == 0) rc = copy_text(&made->topic, args, "topic", error);
    if (rc == 0) rc = copy_text(&made->key, args, "key", error);
    if (rc == 0) rc = copy_text(&made->value, args, "value", error);
    if (rc == 0) rc = copy_text(&made->timestamp, args, "timestamp", error);
    if (rc == 0) rc = read_headers(made, args, error);
    if (rc == 0 && strlen(made->topic) > 249)
        rc = gale_error_set(error, GALE_INVALID, "topic: a name has at most 249 bytes");
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
    *ret_bolt = (gale_bolt){ .size = sizeof *ret_bolt, .ops = &ops, .user = made, .free_user = free_settings };
    return 0;
}
