/* A consumer of a group: messages to its spout, answers to the group.
 *
 * What:    what the group is told of a partition is where it goes on: behind the last message before the oldest that has no answer. It is
 *          told every so often, when a partition goes to somebody else, and at the end.
 *
 *          librdkafka asks for each change of the partitions (a rebalance), and waits until it is carried out, which happens between two
 *          looks into its queue:
 *
 *              gained:   asked --where it begins is known--> carried out
 *              lost:     asked --> leaving: no more is read of them --all are answered, or KAFKA_LEAVE is over--> telling
 *                              telling --the group has heard how far they are answered, or KAFKA_TELL is over--> carried out
 *
 *          With the cooperative protocol a consumer reads on while its group changes, and is not told. What it tells the group then comes too late, and
 *          librdkafka takes the refusal for the loss of all partitions: it is told right behind statistics by which the group is steady.
 *
 *          In a durable run, and where it is a member by its number, no group divides them: its partitions are fixed (connect/kafka/fixed.h), and the group is only told.
 *
 *          A spout that may not run (flow control) does not read; the consumer looks into the queue all the same, with its partitions
 *          paused, as the group throws out who does not (max.poll.interval.ms).
 * Threads: the task's. Owner: kafka_consumer_close ends it. */
#ifndef GALE_CONNECT_KAFKA_CONSUMER_H
#define GALE_CONNECT_KAFKA_CONSUMER_H

#include "connect/kafka/client.h"
#include "connect/kafka/fixed.h"
#include "connect/kafka/parts.h"
#include "connect/kafka/reading.h"

#include <gale/metric.h>

#define KAFKA_LEAVE (10 * GALE_SECOND)
#define KAFKA_TELL (5 * GALE_SECOND)
#define KAFKA_ALIVE (10 * GALE_SECOND)

enum { KAFKA_BATCH = 256, KAFKA_PLACE_WAIT_MS = 500 };

typedef enum kafka_phase { KAFKA_ASKED, KAFKA_LEAVING, KAFKA_TELLING } kafka_phase;

typedef struct kafka_change {
    struct kafka_change *next;
    rd_kafka_topic_partition_list_t *list;
    bool gains;
    kafka_phase phase;
    int64_t until; /* of leaving, or of telling; of one that gains: when brokers are asked again where it begins */
} kafka_change;

/* The rows of this source are somebody else's now. */
typedef void kafka_lost_fn(void *user, uint32_t source);

typedef struct kafka_consumer {
    kafka_client client; /* first */
    const kafka_reading *reading;
    kafka_parts parts;
    kafka_fixed fixed;                          /* of a durable run, which is no member of a group */
    rd_kafka_message_t *stash[2 * KAFKA_BATCH]; /* from `at` on: not given to the spout yet */
    size_t at, count;
    kafka_change *changes; /* that are to be carried out, in order */
    gale_watch tick;
    int64_t alive;  /* so often the queue is looked into at least */
    int64_t every;  /* so often the group is told */
    int64_t often;  /* it ticks */
    int64_t looked; /* into the queue, last */
    int64_t told;
    int64_t begun_ms; /* by the clock of the wall */
    gale_metric *lag;
    bool steady;      /* the group was not changing itself a moment ago */
    uint64_t telling; /* that were not confirmed */
    bool paused, closing;
    kafka_lost_fn *lost;
    void *user;
} kafka_consumer;

/* `reading` lives longer. `lost` and `user` are told of partitions that go. What was made is closed by kafka_consumer_close, also after an
 * error. */
int kafka_consumer_open(kafka_consumer *consumer, const kafka_settings *given, const kafka_reading *reading,
                        const gale_context *context, gale_collector *out, gale_error *error);
void kafka_consumer_close(kafka_consumer *consumer);

/* Before the first message of each `next`: a durable run's partitions are asked for when it runs. An error is reported. */
int kafka_consumer_begin(kafka_consumer *consumer);

/* The next message, and the partition that it is of; NULL: there is none now, the bell tells. It is the next until
 * kafka_consumer_pass. */
const rd_kafka_message_t *kafka_consumer_peek(kafka_consumer *consumer, kafka_part **ret_part);
void kafka_consumer_pass(kafka_consumer *consumer);

/* A row has its answer. */
void kafka_consumer_answer(kafka_consumer *consumer, uint32_t source, int64_t place);

/* All that its partitions have was read, and given to the spout. */
bool kafka_consumer_at_end(const kafka_consumer *consumer);

#endif
