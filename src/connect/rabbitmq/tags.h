/* The deliveries of a session that have no answer at the broker yet, in their order: so that one ack is of all up to a tag, where all are done, and of one alone
 * elsewhere.
 *
 *      added --done--> (flush) acked
 *         '----taken--> answered otherwise
 *
 * Threads: the task's. Owner: rmq_tags_free. Limits: as many as the broker gives: `prefetch`. */
#ifndef GALE_CONNECT_RABBITMQ_TAGS_H
#define GALE_CONNECT_RABBITMQ_TAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rmq_tag {
    uint64_t tag;
    uint32_t before, behind; /* in the order of their tags; `behind` of those that are free, too */
    uint32_t next_done;
    uint8_t state;
} rmq_tag;

typedef struct rmq_tags {
    rmq_tag *list;
    size_t capacity, used;
    uint32_t free_first, first, last, done_first;
    size_t count;
    size_t done; /* so many of them are to be acked */
} rmq_tags;

void rmq_tags_init(rmq_tags *tags);
void rmq_tags_free(rmq_tags *tags);

/* None any more: they were of another session. */
void rmq_tags_clear(rmq_tags *tags);

/* A tag that is above all before it; `*ret_place` names it until it is answered. GALE_NO_MEMORY. */
int rmq_tags_add(rmq_tags *tags, uint64_t tag, uint32_t *ret_place);

/* It is to be acked. False: there is none, or it is done already. */
bool rmq_tags_done(rmq_tags *tags, uint32_t place);

/* Its tag, and it is none any more: it is answered otherwise, before the next flush. */
bool rmq_tags_take(rmq_tags *tags, uint32_t place, uint64_t *ret_tag);

/* Tells which are to be acked: `multiple`, all up to the tag. */
typedef void rmq_tags_fn(void *user, uint64_t tag, bool multiple);
void rmq_tags_flush(rmq_tags *tags, rmq_tags_fn *ack, void *user);

#endif
