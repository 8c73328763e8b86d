/* The partitions that a consumer has: how far each was read and answered.
 *
 *        gained --> read --> leaving: no more of it is read --> lost
 *
 * What:    a name of one (a source, gale/connect.h) is its slot and how often that was used, so that answers to what an earlier owner was given
 *          name nothing.
 * Threads: the task's. Limits: KAFKA_PARTS_MAX at a time. */
#ifndef GALE_CONNECT_KAFKA_PARTS_H
#define GALE_CONNECT_KAFKA_PARTS_H

#include <gale/connect.h>
#include <librdkafka/rdkafka.h>

enum { KAFKA_PARTS_MAX = 1 << 16 };

/* Is the saved position of this topic (connect/kafka/identity.h)? */
typedef enum kafka_identity { KAFKA_IS_UNKNOWN, KAFKA_IS_SAME, KAFKA_IS_OTHER } kafka_identity;

typedef struct kafka_part {
    char *topic; /* NULL: the slot is free */
    int32_t partition;
    uint32_t uses;
    gale_positions *positions;
    int64_t told; /* what the group was told last: where it goes on; -1: nothing */
    int64_t next; /* of it, to be given to the spout; -1: not known yet */
    int64_t last; /* message that was taken, -1: none; and its hash: of a durable run */
    uint64_t hash;
    kafka_identity identity;
    bool leaving;
    bool at_end; /* all that there is was read */
} kafka_part;

typedef struct kafka_parts {
    const gale_context *context;
    kafka_part *list;
    size_t count;
    size_t last; /* the one that was found last */
} kafka_parts;

void kafka_parts_init(kafka_parts *parts, const gale_context *context);
void kafka_parts_free(kafka_parts *parts);

/* GALE_NO_MEMORY, GALE_TOO_LARGE. One that it has stays as it is. */
int kafka_parts_gain(kafka_parts *parts, const char *topic, int32_t partition);
void kafka_part_lose(kafka_part *part);

/* NULL: it has none of that name. */
kafka_part *kafka_parts_find(kafka_parts *parts, const char *topic, int32_t partition);
kafka_part *kafka_parts_at(const kafka_parts *parts, uint32_t source);
uint32_t kafka_parts_source(const kafka_parts *parts, const kafka_part *part);

/* All that is to be told: of those that leave alone, or of all. NULL: nothing. The caller destroys it. They count as told. */
rd_kafka_topic_partition_list_t *kafka_parts_tell(kafka_parts *parts, bool leaving);

/* How many messages they have that were not given to the spout, as far as is known. */
int64_t kafka_parts_lag(const kafka_parts *parts, rd_kafka_t *rk);

/* Is there anything to be told? */
bool kafka_parts_have_news(const kafka_parts *parts);

/* Are there rows of those that leave that wait for their answers? */
bool kafka_parts_leave_something(const kafka_parts *parts);

/* It has some, and all of them were read to their end. */
bool kafka_parts_at_end(const kafka_parts *parts);

#endif
