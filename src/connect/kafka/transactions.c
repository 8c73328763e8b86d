#include "connect/kafka/transactions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Markers are in the first partition, however many their topic has. */
enum { MARKERS = 0 };

enum { WAIT_MS = 10000, LOOK_MS = 100, REASON = 256, NAME = 250, KEY = KAFKA_ID_MAX + 22 };

struct kafka_transactions {
    const kafka_settings *given;
    const kafka_fields *fields;
    const char *topic;
    char markers[NAME], id[KAFKA_ID_MAX];
    rd_kafka_t *rk;       /* NULL: none */
    uint64_t run, number; /* the marker of this run; 0: there is none */
};

kafka_transactions *kafka_transactions_new(const kafka_settings *given, const kafka_fields *fields, const char *topic,
                                           const char *markers, const char *id) {
    kafka_transactions *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->given = given;
    t->fields = fields;
    t->topic = topic;
    snprintf(t->markers, sizeof t->markers, "%s", markers);
    snprintf(t->id, sizeof t->id, "%s", id);
    return t;
}

static void end_producer(kafka_transactions *t) {
    if (!t->rk) return;
    (void)rd_kafka_purge(t->rk, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    rd_kafka_destroy(t->rk);
    t->rk = NULL;
}

void kafka_transactions_free(void *transactions) {
    kafka_transactions *t = transactions;
    if (!t) return;
    end_producer(t);
    free(t);
}

/* --- What goes wrong ------------------------------------------------------------------------------------------------ */

static bool is_fenced(rd_kafka_resp_err_t err) {
    return err == RD_KAFKA_RESP_ERR__FENCED || err == RD_KAFKA_RESP_ERR_PRODUCER_FENCED ||
           err == RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH;
}

/* The producer is made anew for the next attempt: what it left is then aborted or was committed, and the marker says which. */
static int not_now(kafka_transactions *t, const char *what, rd_kafka_resp_err_t err, gale_error *error) {
    char why[REASON];
    rd_kafka_resp_err_t fatal = t->rk ? rd_kafka_fatal_error(t->rk, why, sizeof why) : RD_KAFKA_RESP_ERR_NO_ERROR;
    end_producer(t);
    if (is_fenced(err) || is_fenced(fatal))
        return gale_error_set(error, GALE_STATE, "kafka %s: another run has taken the place of this one (%s)",
                              t->given->brokers, t->id);
    return gale_error_set(error, GALE_AGAIN, "kafka %s: %s: %s", t->given->brokers, what, rd_kafka_err2str(err));
}

static int judge(kafka_transactions *t, const char *what, rd_kafka_error_t *failed, gale_error *error) {
    if (!failed) return 0;
    rd_kafka_resp_err_t err = rd_kafka_error_code(failed);
    rd_kafka_error_destroy(failed);
    return not_now(t, what, err, error);
}

/* --- The marker ----------------------------------------------------------------------------------------------------- */

/* Its key: each run has one of its own. */
static size_t name_marker(const kafka_transactions *t, uint64_t run, char key[KEY]) {
    return (size_t)snprintf(key, KEY, "%s/%" PRIu64, t->id, run);
}

static void take_marker(kafka_transactions *t, const rd_kafka_message_t *message) {
    char text[64], key[KEY];
    size_t size = name_marker(t, t->run, key);
    uint64_t number;
    if (message->key_len != size || memcmp(message->key, key, size) != 0) return;
    snprintf(text, sizeof text, "%.*s", (int)message->len, (const char *)message->payload);
    if (sscanf(text, "%" SCNu64, &number) == 1) t->number = number;
}

/* All there is, from the beginning. */
static rd_kafka_resp_err_t read_all(kafka_transactions *t, rd_kafka_t *consumer) {
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, t->markers, MARKERS)->offset = RD_KAFKA_OFFSET_BEGINNING;
    rd_kafka_resp_err_t err = rd_kafka_assign(consumer, list);
    rd_kafka_topic_partition_list_destroy(list);
    int quiet = 0;
    while (!err) {
        rd_kafka_message_t *message = rd_kafka_consumer_poll(consumer, LOOK_MS);
        quiet = message ? 0 : quiet + LOOK_MS;
        if (message && !message->err) take_marker(t, message);
        if (message) err = message->err;
        if (message) rd_kafka_message_destroy(message);
        if (quiet >= WAIT_MS) err = RD_KAFKA_RESP_ERR__TIMED_OUT;
    }
    return err == RD_KAFKA_RESP_ERR__PARTITION_EOF ? RD_KAFKA_RESP_ERR_NO_ERROR : err;
}

/* What a client of the committer's has: nobody looks into its queues. */
static rd_kafka_t *make_client(const kafka_settings *given, rd_kafka_type_t type, const kafka_property *properties,
                               gale_error *error) {
    char why[REASON];
    rd_kafka_conf_t *conf = kafka_settings_conf(given, error);
    if (!conf) return NULL;
    for (; properties->name; properties++)
        (void)rd_kafka_conf_set(conf, properties->name, properties->text, why, sizeof why);
    (void)rd_kafka_conf_set(conf, "statistics.interval.ms", "0", why, sizeof why);
    (void)rd_kafka_conf_set(conf, "log.queue", "false", why, sizeof why);
    rd_kafka_conf_set_log_cb(conf, NULL);
    rd_kafka_t *rk = rd_kafka_new(type, conf, why, sizeof why);
    if (rk) return rk;
    rd_kafka_conf_destroy(conf);
    (void)gale_error_set(error, GALE_INVALID, "kafka: %s", why);
    return NULL;
}

/* A consumer makes no topic by asking for it. */
static bool is_missing(const kafka_transactions *t, rd_kafka_t *consumer) {
    const struct rd_kafka_metadata *about;
    rd_kafka_topic_t *topic = rd_kafka_topic_new(consumer, t->markers, NULL);
    if (!topic) return false;
    bool missing = false;
    if (!rd_kafka_metadata(consumer, 0, topic, &about, WAIT_MS)) {
        missing = about->topic_cnt == 1 && about->topics[0].err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
        rd_kafka_metadata_destroy(about);
    }
    rd_kafka_topic_destroy(topic);
    return missing;
}

/* What goes wrong is told when it is read. */
static void make_markers(kafka_transactions *t) {
    char why[REASON];
    rd_kafka_NewTopic_t *topic = rd_kafka_NewTopic_new(t->markers, 1, -1, why, sizeof why);
    if (!topic) return;
    rd_kafka_queue_t *queue = rd_kafka_queue_new(t->rk);
    (void)rd_kafka_NewTopic_set_config(topic, "cleanup.policy", "compact");
    rd_kafka_CreateTopics(t->rk, &topic, 1, NULL, queue);
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, WAIT_MS);
    if (event) rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(queue);
    rd_kafka_NewTopic_destroy(topic);
}

static int read_marker(kafka_transactions *t, uint64_t run, gale_error *error) {
    static const kafka_property properties[] = {
        { "group.id", "gale-markers" },
        { "isolation.level", "read_committed" },
        { "enable.partition.eof", "true" },
        { "enable.auto.commit", "false" },
        { NULL, NULL },
    };
    rd_kafka_t *consumer = make_client(t->given, RD_KAFKA_CONSUMER, properties, error);
    if (!consumer) return error->code;
    (void)rd_kafka_poll_set_consumer(consumer);
    t->run = run;
    t->number = 0;
    if (is_missing(t, consumer)) make_markers(t);
    rd_kafka_resp_err_t err = read_all(t, consumer);
    rd_kafka_destroy_flags(consumer, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    if (err) t->run = 0;
    return err ? not_now(t, t->markers, err, error) : 0;
}

/* --- The producer --------------------------------------------------------------------------------------------------- */

static int begin_producer(kafka_transactions *t, uint64_t run, gale_error *error) {
    const kafka_property properties[] = {
        { "transactional.id", t->id },         { "enable.idempotence", "true" },
        { "message.timeout.ms", "30000" }, /* of a transaction; it is sent again as a whole */
        { "transaction.timeout.ms", "60000" }, { NULL, NULL },
    };
    if (t->rk) return t->run == run ? 0 : read_marker(t, run, error);
    t->rk = make_client(t->given, RD_KAFKA_PRODUCER, properties, error);
    if (!t->rk) return error->code;
    int rc = judge(t, "transactions cannot begin", rd_kafka_init_transactions(t->rk, WAIT_MS), error);
    return rc < 0 ? rc : read_marker(t, run, error);
}

/* As fast as librdkafka's queue takes them. */
static rd_kafka_resp_err_t produce(kafka_transactions *t, const kafka_message *message, const kafka_fields *fields,
                                   const char *topic, int32_t partition) {
    rd_kafka_resp_err_t err;
    while ((err = kafka_message_produce(fields, message, t->rk, topic, partition, NULL)) ==
           RD_KAFKA_RESP_ERR__QUEUE_FULL)
        (void)rd_kafka_poll(t->rk, LOOK_MS);
    return err;
}

static int produce_rows(kafka_transactions *t, gale_epoch *epoch, gale_error *error) {
    const gale_value *values;
    size_t count;
    int rc;
    while ((rc = gale_epoch_next(epoch, &values, &count)) > 0) {
        kafka_message message;
        if (!kafka_message_from(t->fields, values, count, &message))
            return gale_error_set(error, GALE_DAMAGED, "kafka: the headers of the sink are not those that were saved");
        rd_kafka_resp_err_t err = produce(t, &message, t->fields, t->topic, RD_KAFKA_PARTITION_UA);
        if (err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE)
            return gale_error_set(error, GALE_TOO_LARGE, "kafka %s: %s", t->topic, rd_kafka_err2str(err));
        if (err) return not_now(t, t->topic, err, error);
    }
    return rc;
}

static int put_marker(kafka_transactions *t, uint64_t run, kafka_bytes value, gale_error *error) {
    static const kafka_fields none = { .key = NULL };
    char key[KEY];
    size_t size = name_marker(t, run, key);
    kafka_message message = { .key = { .data = key, .size = size }, .value = value };
    rd_kafka_resp_err_t err = produce(t, &message, &none, t->markers, MARKERS);
    return err ? not_now(t, t->markers, err, error) : 0;
}

static int produce_marker(kafka_transactions *t, const gale_epoch *epoch, gale_error *error) {
    char text[64];
    int length = snprintf(text, sizeof text, "%" PRIu64, gale_epoch_number(epoch));
    return put_marker(t, gale_epoch_run(epoch), (kafka_bytes){ .data = text, .size = (size_t)length }, error);
}

/* A tombstone, for the topic is compacted. */
static int forget_marker(kafka_transactions *t, const gale_epoch *epoch, gale_error *error) {
    uint64_t run = gale_epoch_forgets(epoch);
    return run ? put_marker(t, run, (kafka_bytes){ .data = NULL }, error) : 0;
}

int kafka_transactions_commit(void *transactions, gale_epoch *epoch, gale_error *error) {
    kafka_transactions *t = transactions;
    int rc = begin_producer(t, gale_epoch_run(epoch), error);
    if (rc < 0 || t->number >= gale_epoch_number(epoch)) return rc;
    rc = judge(t, "a transaction cannot begin", rd_kafka_begin_transaction(t->rk), error);
    if (rc == 0) rc = produce_rows(t, epoch, error);
    if (rc == 0) rc = produce_marker(t, epoch, error);
    if (rc == 0) rc = forget_marker(t, epoch, error);
    if (rc == 0) rc = judge(t, "a transaction is not committed", rd_kafka_commit_transaction(t->rk, WAIT_MS), error);
    if (rc < 0) return rc;
    t->number = gale_epoch_number(epoch);
    return 0;
}

int kafka_transactions_look(void *transactions, gale_error *error) {
    kafka_transactions *t = transactions;
    return begin_producer(t, t->run, error);
}
