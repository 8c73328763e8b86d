#include "connect/kafka/identity.h"

#include "connect/kafka/moment.h"

enum { LOOK_MS = 100 };

/* Offset, time, key and value. */
static uint64_t hash_of(const rd_kafka_message_t *message) {
    rd_kafka_timestamp_type_t type;
    gale_value all[] = {
        gale_i64(message->offset),
        gale_i64(rd_kafka_message_timestamp(message, &type)),
        gale_bytes(message->key_len ? message->key : "", message->key_len),
        gale_bytes(message->len ? message->payload : "", message->len),
    };
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) hash = hash * 31 + gale_value_hash(&all[i]);
    return hash;
}

void kafka_identity_note(kafka_part *part, const rd_kafka_message_t *message) {
    part->last = message->offset;
    part->hash = hash_of(message);
}

static bool has_position(const kafka_part *part) {
    return part->topic && part->next >= 0 && part->last >= 0;
}

static rd_kafka_topic_partition_list_t *list_of(kafka_parts *parts) {
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)parts->count);
    for (size_t i = 0; i < parts->count; i++) {
        kafka_part *part = &parts->list[i];
        part->identity = KAFKA_IS_UNKNOWN;
        if (has_position(part))
            rd_kafka_topic_partition_list_add(list, part->topic, part->partition)->offset = part->last;
    }
    return list;
}

/* The first message of a partition is its answer: the list has those that have none yet. */
static void hear(kafka_parts *parts, rd_kafka_topic_partition_list_t *list, const rd_kafka_message_t *message) {
    if (!message->rkt ||
        !rd_kafka_topic_partition_list_del(list, rd_kafka_topic_name(message->rkt), message->partition))
        return;
    kafka_part *part = kafka_parts_find(parts, rd_kafka_topic_name(message->rkt), message->partition);
    if (!message->err && message->offset == part->last)
        part->identity = hash_of(message) == part->hash ? KAFKA_IS_SAME : KAFKA_IS_OTHER;
}

void kafka_identity_compare(kafka_parts *parts, rd_kafka_t *rk, rd_kafka_queue_t *queue, int wait_ms) {
    rd_kafka_topic_partition_list_t *list = list_of(parts);
    int64_t until = kafka_moment_now() + wait_ms;
    bool reads = list->cnt && !rd_kafka_assign(rk, list);
    while (reads && list->cnt && kafka_moment_now() < until) {
        rd_kafka_message_t *message = rd_kafka_consume_queue(queue, LOOK_MS);
        if (message) hear(parts, list, message);
        if (message) rd_kafka_message_destroy(message);
    }
    if (reads) (void)rd_kafka_assign(rk, NULL);
    rd_kafka_topic_partition_list_destroy(list);
}
