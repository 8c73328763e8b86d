#include "connect/kafka/from.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A number that is smaller is an offset in the wrong place: as a time it would be in the year of 1973. */
static const int64_t least_time_ms = 100000000000;

static int refuse(const char *text, gale_error *error) {
    return gale_error_set(error, GALE_INVALID,
                          "from: '%s' is neither earliest nor latest, nor a time (2026-11-01T00:00:00Z), nor an age "
                          "(-1h), nor offsets ({topic: {0: 123}})",
                          text);
}

/* --- In a file ------------------------------------------------------------------------------------------------------- */

static int read_text(kafka_from *from, const char *text, gale_error *error) {
    if (strcasecmp(text, "earliest") == 0) return from->kind = KAFKA_EARLIEST, 0;
    if (strcasecmp(text, "latest") == 0) return from->kind = KAFKA_LATEST, 0;
    from->kind = KAFKA_TIME;
    return kafka_moment_read(text, &from->moment) ? 0 : refuse(text, error);
}

static int read_number(kafka_from *from, int64_t number, gale_error *error) {
    char text[32];
    from->kind = KAFKA_TIME;
    from->moment.ms = number;
    snprintf(text, sizeof text, "%" PRId64, number);
    return number >= least_time_ms ? 0 : refuse(text, error);
}

static bool copy_key(gale_str key, char *text, size_t size) {
    if (!key.size || key.size >= size) return false;
    memcpy(text, key.data, key.size);
    text[key.size] = '\0';
    return true;
}

static int read_offset(kafka_from *from, const char *topic, gale_str key, const gale_value *offset, gale_error *error) {
    char text[16], *end;
    bool is = copy_key(key, text, sizeof text);
    long partition = is ? strtol(text, &end, 10) : -1;
    if (!is || *end || partition < 0 || partition > INT32_MAX)
        return gale_error_set(error, GALE_INVALID, "from: %s: a partition is a number from 0 on", topic);
    if (offset->type != GALE_TYPE_I64 || offset->as.i64 < 0)
        return gale_error_set(error, GALE_INVALID, "from: %s: the offset of partition %ld is a number from 0 on", topic,
                              partition);
    rd_kafka_topic_partition_list_add(from->offsets, topic, (int32_t)partition)->offset = offset->as.i64;
    return 0;
}

static int read_topic(kafka_from *from, gale_str key, const gale_value *of_it, gale_error *error) {
    char topic[250];
    gale_str partition;
    gale_value offset;
    int rc = 0;
    if (!copy_key(key, topic, sizeof topic))
        return gale_error_set(error, GALE_INVALID, "from: a topic's name has 1 to 249 bytes");
    if (of_it->type != GALE_TYPE_MAP)
        return gale_error_set(error, GALE_INVALID, "from: %s: partitions and their offsets are a map, {0: 123}", topic);
    for (size_t i = 0; rc == 0 && gale_map_at(of_it, i, &partition, &offset); i++)
        rc = read_offset(from, topic, partition, &offset, error);
    return rc;
}

static int read_offsets(kafka_from *from, const gale_value *map, gale_error *error) {
    gale_str topic;
    gale_value of_it;
    int rc = 0;
    from->kind = KAFKA_OFFSETS;
    from->offsets = rd_kafka_topic_partition_list_new((int)map->size);
    for (size_t i = 0; rc == 0 && gale_map_at(map, i, &topic, &of_it); i++) rc = read_topic(from, topic, &of_it, error);
    return rc;
}

int kafka_from_read(kafka_from *from, gale_value value, bool always, gale_error *error) {
    *from = (kafka_from){ .always = always };
    switch (value.type) {
    case GALE_TYPE_STRING: return read_text(from, value.as.string, error);
    case GALE_TYPE_I64: return read_number(from, value.as.i64, error);
    case GALE_TYPE_MAP: return read_offsets(from, &value, error);
    default: return refuse("that", error);
    }
}

void kafka_from_free(kafka_from *from) {
    if (from->offsets) rd_kafka_topic_partition_list_destroy(from->offsets);
    *from = (kafka_from){ .offsets = NULL };
}

const char *kafka_from_reset(const kafka_from *from) {
    return from->kind == KAFKA_LATEST ? "latest" : "earliest";
}

bool kafka_from_asks(const kafka_from *from) {
    return from->always || from->kind == KAFKA_TIME || from->kind == KAFKA_OFFSETS;
}

/* --- At the brokers -------------------------------------------------------------------------------------------------- */

static int not_now(const char *what, rd_kafka_resp_err_t err, gale_error *error) {
    return gale_error_set(error, GALE_AGAIN, "kafka: %s: %s", what, rd_kafka_err2str(err));
}

static void set_all(rd_kafka_topic_partition_list_t *list, int64_t offset) {
    for (int i = 0; i < list->cnt; i++) list->elems[i].offset = offset;
}

/* What the group was told; a negative one: nothing. */
static int ask_group(rd_kafka_t *rk, rd_kafka_topic_partition_list_t *list, int wait_ms, gale_error *error) {
    static const char what[] = "what the group was told is not known";
    rd_kafka_resp_err_t err = rd_kafka_committed(rk, list, wait_ms);
    for (int i = 0; !err && i < list->cnt; i++) err = list->elems[i].err;
    return err ? not_now(what, err, error) : 0;
}

/* Into `list`, the offsets of those of which it has none. */
static int ask_times(rd_kafka_t *rk, rd_kafka_topic_partition_list_t *list, int64_t time, int wait_ms,
                     gale_error *error) {
    static const char what[] = "which offsets a time has is not known";
    rd_kafka_topic_partition_list_t *asked = rd_kafka_topic_partition_list_new(list->cnt);
    for (int i = 0; i < list->cnt; i++) {
        const rd_kafka_topic_partition_t *one = &list->elems[i];
        if (one->offset < 0) rd_kafka_topic_partition_list_add(asked, one->topic, one->partition)->offset = time;
    }
    rd_kafka_resp_err_t err = asked->cnt ? rd_kafka_offsets_for_times(rk, asked, wait_ms) : RD_KAFKA_RESP_ERR_NO_ERROR;
    for (int i = 0; !err && i < asked->cnt; i++) {
        const rd_kafka_topic_partition_t *one = &asked->elems[i];
        err = one->err;
        rd_kafka_topic_partition_list_find(list, one->topic, one->partition)->offset = one->offset;
    }
    rd_kafka_topic_partition_list_destroy(asked);
    return err ? not_now(what, err, error) : 0;
}

static void set_named(const kafka_from *from, rd_kafka_topic_partition_list_t *list) {
    for (int i = 0; i < list->cnt; i++) {
        rd_kafka_topic_partition_t *one = &list->elems[i];
        if (one->offset >= 0) continue;
        const rd_kafka_topic_partition_t *named = rd_kafka_topic_partition_list_find(from->offsets, one->topic,
                                                                                     one->partition);
        one->offset = named ? named->offset : RD_KAFKA_OFFSET_BEGINNING;
    }
}

int kafka_from_place(const kafka_from *from, rd_kafka_t *rk, rd_kafka_topic_partition_list_t *list, int64_t now,
                     int wait_ms, gale_error *error) {
    if (!kafka_from_asks(from)) return set_all(list, RD_KAFKA_OFFSET_STORED), 0;
    set_all(list, RD_KAFKA_OFFSET_INVALID);
    int rc = from->always ? 0 : ask_group(rk, list, wait_ms, error);
    if (rc < 0) return rc;
    switch (from->kind) {
    case KAFKA_EARLIEST: set_all(list, RD_KAFKA_OFFSET_BEGINNING); return 0;
    case KAFKA_LATEST: set_all(list, RD_KAFKA_OFFSET_END); return 0;
    case KAFKA_OFFSETS: set_named(from, list); return 0;
    default: break;
    }
    int64_t time = from->moment.ago ? now - from->moment.ms : from->moment.ms;
    return ask_times(rk, list, time < 0 ? 0 : time, wait_ms, error);
}
