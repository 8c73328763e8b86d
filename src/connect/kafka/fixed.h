/* The partitions of a task in a durable run, and of a process that is a member by its number. They are fixed, partition by partition, as what was read of
 * them is in the task's checkpoints: no group divides them, and where the checkpoint is goes before what the group was told.
 *
 *      opened --listed--> (restored) --first `next`--> begun: assigned
 *
 * What:    partition P of each topic is read by task P modulo their number, counted through all members. Where nothing was saved of a partition it begins where the group was told
 *          last, or else where `from` says.
 *          A topic that was deleted and made again is known by its last message, which is another one (connect/kafka/identity.h), or by a position
 *          behind its end. That, and a position before the first message, is logged, and the partition is read from where `from` says for offsets that
 *          are not there.
 *          Rows that were open at a checkpoint are in it (gale_intake_save); a partition is read on behind the last message that was taken.
 * Threads: the task's. */
#ifndef GALE_CONNECT_KAFKA_FIXED_H
#define GALE_CONNECT_KAFKA_FIXED_H

#include "connect/kafka/letters.h"
#include "connect/kafka/parts.h"
#include "connect/kafka/reading.h"

#define KAFKA_FIXED_WAIT_MS 3000 /* for each answer, when it opens */

enum { KAFKA_MEMBERS_MAX = 10000 };

/* Of "2/3", which is 1 of 3; NULL: not given. GALE_INVALID with a sentence. */
int kafka_member_parse(const char *text, kafka_member *member, gale_error *error);

/* Of the run (gale.member); no member where it says nothing. */
int kafka_member_of(const gale_context *context, kafka_member *member, gale_error *error);

typedef struct kafka_fixed {
    rd_kafka_topic_partition_list_t *mine;
    bool begun;
} kafka_fixed;

/* Are they fixed? */
bool kafka_fixed_is(const kafka_reading *reading, const gale_context *context);

/* Asks for the partitions of the topics, and where they begin. GALE_AGAIN with a sentence: not now; GALE_INVALID: a pattern. */
int kafka_fixed_open(kafka_fixed *fixed, rd_kafka_t *rk, const kafka_reading *reading, const gale_context *context,
                     gale_error *error);
void kafka_fixed_close(kafka_fixed *fixed);

/* From here on messages come. */
int kafka_fixed_begin(kafka_fixed *fixed, rd_kafka_t *rk, rd_kafka_queue_t *queue, const kafka_reading *reading,
                      kafka_parts *parts, gale_error *error);

/* What is in a checkpoint. */
typedef struct kafka_saves {
    kafka_parts *parts;
    kafka_letters *letters;
    gale_intake *intake;
    rd_kafka_t *rk;
    rd_kafka_queue_t *queue;
    gale_collector *out;
} kafka_saves;

/* In `save` and `restore`: the partitions with what was read of them, the dead letters, then the intake. GALE_DAMAGED with a report; GALE_STATE with one: the
 * run had come to its end, and there is more to read now, or there are dead letters, and no topic for them. */
int kafka_fixed_save(const kafka_saves *saves, gale_saver *to);
int kafka_fixed_restore(const kafka_saves *saves, gale_saved *from);

#endif
