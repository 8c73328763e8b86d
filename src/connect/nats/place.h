/* Where a message of a consumer was, as the subject that its answer goes to says:
 *
 *      $JS.ACK.STREAM.CONSUMER.DELIVERED.SEQUENCE.NUMBER.TIME.PENDING
 *      $JS.ACK.DOMAIN.ACCOUNT.STREAM.CONSUMER.DELIVERED.SEQUENCE.NUMBER.TIME.PENDING[.MORE]
 *
 * Threads: any. Owner: nothing is kept. */
#ifndef GALE_CONNECT_NATS_PLACE_H
#define GALE_CONNECT_NATS_PLACE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct nats_place {
    int64_t delivered; /* how often, from 1 */
    int64_t sequence;  /* in the stream, from 1 */
    int64_t number;    /* of the delivery, by the consumer, from 1 */
    int64_t time;      /* when it was stored, in nanoseconds since 1970 */
    int64_t pending;   /* how many more there are */
} nats_place;

/* False: it is no such subject. NULL is none. */
bool nats_place_read(const char *subject, nats_place *ret_place);

#endif
