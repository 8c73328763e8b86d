#include "connect/kafka/parts.h"

#include <stdlib.h>
#include <string.h>

void kafka_parts_init(kafka_parts *parts, const gale_context *context) {
    *parts = (kafka_parts){ .context = context };
}

void kafka_part_lose(kafka_part *part) {
    free(part->topic);
    gale_positions_free(part->positions);
    *part = (kafka_part){ .uses = part->uses };
}

void kafka_parts_free(kafka_parts *parts) {
    for (size_t i = 0; i < parts->count; i++) kafka_part_lose(&parts->list[i]);
    free(parts->list);
    *parts = (kafka_parts){ .context = parts->context };
}

static bool is(const kafka_part *part, const char *topic, int32_t partition) {
    return part->topic && part->partition == partition && strcmp(part->topic, topic) == 0;
}

/* What is read comes many of a partition at a time. */
kafka_part *kafka_parts_find(kafka_parts *parts, const char *topic, int32_t partition) {
    if (parts->last < parts->count && is(&parts->list[parts->last], topic, partition)) return &parts->list[parts->last];
    for (size_t i = 0; i < parts->count; i++) {
        if (!is(&parts->list[i], topic, partition)) continue;
        parts->last = i;
        return &parts->list[i];
    }
    return NULL;
}

static kafka_part *free_slot(kafka_parts *parts) {
    for (size_t i = 0; i < parts->count; i++)
        if (!parts->list[i].topic) return &parts->list[i];
    kafka_part *list = realloc(parts->list, (parts->count + 1) * sizeof *list);
    if (!list) return NULL;
    parts->list = list;
    list[parts->count] = (kafka_part){ .uses = 0 };
    return &list[parts->count++];
}

int kafka_parts_gain(kafka_parts *parts, const char *topic, int32_t partition) {
    if (kafka_parts_find(parts, topic, partition)) return 0;
    kafka_part *part = free_slot(parts);
    if (!part) return GALE_NO_MEMORY;
    if (part - parts->list >= KAFKA_PARTS_MAX) return GALE_TOO_LARGE;
    char *name = strdup(topic);
    gale_positions *positions = gale_positions_new(parts->context);
    if (!name || !positions) {
        free(name);
        gale_positions_free(positions);
        return GALE_NO_MEMORY;
    }
    *part = (kafka_part){
        .topic = name,
        .partition = partition,
        .uses = part->uses + 1,
        .positions = positions,
        .told = -1,
        .next = -1,
        .last = -1,
    };
    return 0;
}

uint32_t kafka_parts_source(const kafka_parts *parts, const kafka_part *part) {
    return part->uses << 16 | (uint32_t)(part - parts->list);
}

kafka_part *kafka_parts_at(const kafka_parts *parts, uint32_t source) {
    uint32_t index = source & 0xffff;
    kafka_part *part = index < parts->count ? &parts->list[index] : NULL;
    return part && part->topic && kafka_parts_source(parts, part) == source ? part : NULL;
}

/* Where the group goes on with it, when that is news; -1. */
static int64_t news_of(const kafka_part *part, bool leaving) {
    int64_t place;
    if (!part->topic || (leaving && !part->leaving)) return -1;
    if (gale_positions_safe(part->positions, &place) < 0 || place + 1 == part->told) return -1;
    return place + 1;
}

int64_t kafka_parts_lag(const kafka_parts *parts, rd_kafka_t *rk) {
    int64_t lag = 0, low, high;
    for (size_t i = 0; i < parts->count; i++) {
        const kafka_part *part = &parts->list[i];
        if (!part->topic || part->next < 0) continue;
        rd_kafka_resp_err_t err = rd_kafka_get_watermark_offsets(rk, part->topic, part->partition, &low, &high);
        if (!err && high > part->next) lag += high - part->next;
    }
    return lag;
}

bool kafka_parts_have_news(const kafka_parts *parts) {
    for (size_t i = 0; i < parts->count; i++)
        if (news_of(&parts->list[i], false) >= 0) return true;
    return false;
}

rd_kafka_topic_partition_list_t *kafka_parts_tell(kafka_parts *parts, bool leaving) {
    rd_kafka_topic_partition_list_t *list = NULL;
    for (size_t i = 0; i < parts->count; i++) {
        kafka_part *part = &parts->list[i];
        int64_t next = news_of(part, leaving);
        if (next < 0) continue;
        if (!list) list = rd_kafka_topic_partition_list_new((int)(parts->count - i));
        rd_kafka_topic_partition_list_add(list, part->topic, part->partition)->offset = next;
        part->told = next;
    }
    return list;
}

bool kafka_parts_leave_something(const kafka_parts *parts) {
    for (size_t i = 0; i < parts->count; i++)
        if (parts->list[i].leaving && gale_positions_count(parts->list[i].positions)) return true;
    return false;
}

bool kafka_parts_at_end(const kafka_parts *parts) {
    bool some = false;
    for (size_t i = 0; i < parts->count; i++) {
        if (!parts->list[i].topic) continue;
        if (!parts->list[i].at_end) return false;
        some = true;
    }
    return some;
}
