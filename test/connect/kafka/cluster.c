/* A Kafka cluster in a process, librdkafka's mock, for the tests of the connector; or, where its argument is host:port and no number of brokers, a client
 * of a real one. It says where the brokers are, and does what its input's lines say, each answered by lines, the last of which is "ok" or "error WHY".
 *
 *      topic NAME PARTITIONS
 *      produce TOPIC FIRST COUNT            messages "message N", keyed "key N%10", with a header n: N, timestamp 1000 + N
 *      tombstone TOPIC KEY
 *      put TOPIC [DIGITS]                   a message of these bytes, in hexadecimal digits, without a key
 *      read TOPIC                           all of it: PARTITION OFFSET KEY VALUE HEADERS, "-" for none
 *      hex TOPIC                            the same in hexadecimal digits: KEY VALUE and the first header
 *      committed GROUP TOPIC                PARTITION OFFSET, for each partition that has one
 *
 *   and of the mock alone:
 *
 *      down BROKER, up BROKER               from 1
 *      slow BROKER MS
 *      refuse API CODE COUNT                the next COUNT requests of a kind are answered with an error
 *      wrong TOPIC CODE                     whoever asks for the topic gets an error; 0: no more
 */
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAIT_MS = 20000, NAME = 256, LINE = 32 << 10 };

typedef struct cluster {
    rd_kafka_t *rk; /* what it runs in, and produces */
    rd_kafka_mock_cluster_t *mock;
    char brokers[1024];
    int failed; /* deliveries */
} cluster;

static void say_error(const char *why) {
    printf("error %s\n", why);
}

static void say(rd_kafka_resp_err_t err) {
    if (err)
        say_error(rd_kafka_err2str(err));
    else
        puts("ok");
}

static void hear_delivery(rd_kafka_t *rk, const rd_kafka_message_t *message, void *user) {
    cluster *c = user;
    (void)rk;
    if (message->err) c->failed++;
}

static void set(rd_kafka_conf_t *conf, const char *name, const char *value) {
    char why[200];
    if (rd_kafka_conf_set(conf, name, value, why, sizeof why) != RD_KAFKA_CONF_OK) {
        fprintf(stderr, "%s\n", why);
        exit(1);
    }
}

static rd_kafka_t *client(cluster *c, rd_kafka_type_t type, const char *group) {
    char why[200];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    set(conf, "bootstrap.servers", *c->brokers ? c->brokers : "127.0.0.1:1");
    set(conf, "log_level", "0");
    if (group) set(conf, "group.id", group);
    if (type == RD_KAFKA_CONSUMER) set(conf, "enable.partition.eof", "true");
    if (type == RD_KAFKA_PRODUCER) set(conf, "partitioner", "murmur2_random");
    rd_kafka_conf_set_opaque(conf, c);
    if (type == RD_KAFKA_PRODUCER) rd_kafka_conf_set_dr_msg_cb(conf, hear_delivery);
    rd_kafka_t *rk = rd_kafka_new(type, conf, why, sizeof why);
    if (!rk) {
        fprintf(stderr, "%s\n", why);
        exit(1);
    }
    return rk;
}

static rd_kafka_resp_err_t produce_one(rd_kafka_t *rk, const char *topic, long long n) {
    char key[32], value[64], header[32];
    int key_size = snprintf(key, sizeof key, "key %lld", n % 10);
    int value_size = snprintf(value, sizeof value, "message %lld", n);
    snprintf(header, sizeof header, "%lld", n);
    return rd_kafka_producev(rk, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                             RD_KAFKA_V_KEY(key, (size_t)key_size), RD_KAFKA_V_VALUE(value, (size_t)value_size),
                             RD_KAFKA_V_HEADER("n", header, strlen(header)), RD_KAFKA_V_TIMESTAMP(1000 + n),
                             RD_KAFKA_V_END);
}

static void end_producer(cluster *c, rd_kafka_t *rk, rd_kafka_resp_err_t err) {
    if (!err) err = rd_kafka_flush(rk, WAIT_MS);
    rd_kafka_destroy(rk);
    if (!err && c->failed)
        say_error("a message was not delivered");
    else
        say(err);
}

static void produce(cluster *c, const char *topic, long long first, long long count) {
    rd_kafka_t *rk = client(c, RD_KAFKA_PRODUCER, NULL);
    rd_kafka_resp_err_t err = RD_KAFKA_RESP_ERR_NO_ERROR;
    c->failed = 0;
    for (long long n = first; !err && n < first + count; n++) {
        while ((err = produce_one(rk, topic, n)) == RD_KAFKA_RESP_ERR__QUEUE_FULL) rd_kafka_poll(rk, 100);
        rd_kafka_poll(rk, 0);
    }
    end_producer(c, rk, err);
}

static void tombstone(cluster *c, const char *topic, const char *key) {
    rd_kafka_t *rk = client(c, RD_KAFKA_PRODUCER, NULL);
    c->failed = 0;
    rd_kafka_resp_err_t err = rd_kafka_producev(rk, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                                                RD_KAFKA_V_KEY(key, strlen(key)), RD_KAFKA_V_END);
    end_producer(c, rk, err);
}

static void put(cluster *c, const char *topic, const char *digits) {
    char bytes[LINE];
    size_t size = 0;
    unsigned byte;
    for (; sscanf(digits, "%2x", &byte) == 1; digits += 2) bytes[size++] = (char)byte;
    rd_kafka_t *rk = client(c, RD_KAFKA_PRODUCER, NULL);
    c->failed = 0;
    rd_kafka_resp_err_t err = rd_kafka_producev(rk, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                                                RD_KAFKA_V_VALUE(bytes, size), RD_KAFKA_V_END);
    end_producer(c, rk, err);
}

static rd_kafka_topic_partition_list_t *partitions_of(rd_kafka_t *rk, const char *topic, int64_t offset) {
    const struct rd_kafka_metadata *about;
    rd_kafka_topic_t *one = rd_kafka_topic_new(rk, topic, NULL);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(4);
    if (rd_kafka_metadata(rk, 0, one, &about, WAIT_MS) == RD_KAFKA_RESP_ERR_NO_ERROR) {
        for (int i = 0; about->topic_cnt && i < about->topics[0].partition_cnt; i++)
            rd_kafka_topic_partition_list_add(list, topic, about->topics[0].partitions[i].id)->offset = offset;
        rd_kafka_metadata_destroy(about);
    }
    rd_kafka_topic_destroy(one);
    return list;
}

static void print_text(const void *data, size_t size) {
    printf(" %.*s", data ? (int)size : 1, data ? (const char *)data : "-");
}

static void print_message(const rd_kafka_message_t *message) {
    rd_kafka_headers_t *headers;
    const char *name;
    const void *data;
    size_t size;
    printf("%d\t%lld\t", message->partition, (long long)message->offset);
    print_text(message->key, message->key_len);
    putchar('\t');
    print_text(message->payload, message->len);
    printf("\t%lld\t", (long long)rd_kafka_message_timestamp(message, NULL));
    if (rd_kafka_message_headers(message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR)
        for (size_t i = 0; !rd_kafka_header_get_all(headers, i, &name, &data, &size); i++)
            printf("%s%s=%.*s", i ? "," : "", name, (int)size, (const char *)data);
    putchar('\n');
}

static void print_hex(const void *data, size_t size, char end) {
    for (size_t i = 0; i < size; i++) printf("%02x", ((const unsigned char *)data)[i]);
    putchar(end);
}

static void print_bytes(const rd_kafka_message_t *message) {
    rd_kafka_headers_t *headers;
    const char *name;
    const void *data = NULL;
    size_t size = 0;
    if (rd_kafka_message_headers(message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR)
        (void)rd_kafka_header_get_all(headers, 0, &name, &data, &size);
    print_hex(message->key, message->key_len, '\t');
    print_hex(message->payload, message->len, '\t');
    print_hex(data, size, '\n');
}

static void read_all(cluster *c, const char *topic, void (*print)(const rd_kafka_message_t *message)) {
    rd_kafka_t *rk = client(c, RD_KAFKA_CONSUMER, "reader of the tests");
    rd_kafka_topic_partition_list_t *list = partitions_of(rk, topic, 0);
    rd_kafka_resp_err_t err = rd_kafka_assign(rk, list);
    for (int ended = 0; !err && ended < list->cnt;) {
        rd_kafka_message_t *message = rd_kafka_consumer_poll(rk, WAIT_MS);
        if (!message)
            err = RD_KAFKA_RESP_ERR__TIMED_OUT;
        else if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF)
            ended++;
        else if (message->err)
            err = message->err;
        else
            print(message);
        if (message) rd_kafka_message_destroy(message);
    }
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_consumer_close(rk);
    rd_kafka_destroy(rk);
    say(err);
}

static void tell_committed(cluster *c, const char *group, const char *topic) {
    rd_kafka_t *rk = client(c, RD_KAFKA_CONSUMER, group);
    rd_kafka_topic_partition_list_t *list = partitions_of(rk, topic, RD_KAFKA_OFFSET_INVALID);
    rd_kafka_resp_err_t err = rd_kafka_committed(rk, list, WAIT_MS);
    for (int i = 0; !err && i < list->cnt; i++)
        if (list->elems[i].offset >= 0)
            printf("%d\t%lld\n", list->elems[i].partition, (long long)list->elems[i].offset);
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_destroy(rk);
    say(err);
}

static rd_kafka_resp_err_t made_topic(rd_kafka_event_t *event) {
    size_t count;
    const rd_kafka_CreateTopics_result_t *result = event ? rd_kafka_event_CreateTopics_result(event) : NULL;
    const rd_kafka_topic_result_t **topics = result ? rd_kafka_CreateTopics_result_topics(result, &count) : NULL;
    if (!event) return RD_KAFKA_RESP_ERR__TIMED_OUT;
    return topics && count ? rd_kafka_topic_result_error(topics[0]) : rd_kafka_event_error(event);
}

static void make_topic(cluster *c, const char *name, int partitions) {
    char why[200];
    if (c->mock) {
        say(rd_kafka_mock_topic_create(c->mock, name, partitions, 1));
        return;
    }
    rd_kafka_t *rk = client(c, RD_KAFKA_PRODUCER, NULL);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(rk);
    rd_kafka_NewTopic_t *topic = rd_kafka_NewTopic_new(name, partitions, 1, why, sizeof why);
    rd_kafka_CreateTopics(rk, &topic, 1, NULL, queue);
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, WAIT_MS);
    say(made_topic(event));
    if (event) rd_kafka_event_destroy(event);
    rd_kafka_NewTopic_destroy(topic);
    rd_kafka_queue_destroy(queue);
    rd_kafka_destroy(rk);
}

static void carry_out(cluster *c, const char *line) {
    char a[NAME], b[NAME];
    long long n, m;
    int k;
    if (sscanf(line, "topic %255s %d", a, &k) == 2) {
        make_topic(c, a, k);
    } else if (sscanf(line, "produce %255s %lld %lld", a, &n, &m) == 3) {
        produce(c, a, n, m);
    } else if (sscanf(line, "tombstone %255s %255s", a, b) == 2) {
        tombstone(c, a, b);
    } else if (sscanf(line, "put %255s %n", a, &k) == 1) {
        put(c, a, line + k);
    } else if (sscanf(line, "read %255s", a) == 1) {
        read_all(c, a, print_message);
    } else if (sscanf(line, "hex %255s", a) == 1) {
        read_all(c, a, print_bytes);
    } else if (sscanf(line, "committed %255s %255s", a, b) == 2) {
        tell_committed(c, a, b);
    } else if (!c->mock) {
        say_error("that is for the mock");
    } else if (sscanf(line, "down %d", &k) == 1) {
        say(rd_kafka_mock_broker_set_down(c->mock, k));
    } else if (sscanf(line, "up %d", &k) == 1) {
        say(rd_kafka_mock_broker_set_up(c->mock, k));
    } else if (sscanf(line, "slow %d %lld", &k, &n) == 2) {
        say(rd_kafka_mock_broker_set_rtt(c->mock, k, (int)n));
    } else if (sscanf(line, "refuse %lld %lld %d", &n, &m, &k) == 3) {
        for (; k > 0; k--) rd_kafka_mock_push_request_errors(c->mock, (int16_t)n, 1, (rd_kafka_resp_err_t)m);
        puts("ok");
    } else if (sscanf(line, "wrong %255s %d", a, &k) == 2) {
        rd_kafka_mock_topic_set_error(c->mock, a, (rd_kafka_resp_err_t)k);
        puts("ok");
    } else {
        say_error("what is that?");
    }
}

static bool begin_mock(cluster *c, const char *brokers) {
    c->rk = client(c, RD_KAFKA_PRODUCER, NULL);
    c->mock = rd_kafka_mock_cluster_new(c->rk, atoi(brokers));
    if (c->mock) snprintf(c->brokers, sizeof c->brokers, "%s", rd_kafka_mock_cluster_bootstraps(c->mock));
    return c->mock != NULL;
}

int main(int argc, char **argv) {
    cluster c = { .rk = NULL };
    char line[LINE];
    const char *brokers = argc > 1 ? argv[1] : "1";
    if (strchr(brokers, ':'))
        snprintf(c.brokers, sizeof c.brokers, "%s", brokers);
    else if (!begin_mock(&c, brokers))
        return 1;
    printf("%s\n", c.brokers);
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        carry_out(&c, line);
        fflush(stdout);
    }
    if (c.mock) rd_kafka_mock_cluster_destroy(c.mock);
    if (c.rk) rd_kafka_destroy(c.rk);
    return 0;
}
