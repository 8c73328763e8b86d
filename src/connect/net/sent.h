/* Records on their way: what a spout of sockets has received and not heard of, and the tuples that are made of it.
 *
 * What:    a slot of kit/retry has the record's bytes, behind them who sent it, and in its place when it came, so that what
 *          comes again is what it was, in a durable run too.
 * Threads: one at a time. Owner: memory comes from a gx_heap; the settings are borrowed. */
#ifndef GX_CONNECT_NET_SENT_H
#define GX_CONNECT_NET_SENT_H

#include "base/buf.h"
#include "connect/net/settings.h"
#include "kit/retry.h"

/* One that was received. */
typedef struct gx_net_record {
    gale_str bytes;
    const char *peer; /* fewer than 128 bytes of ASCII */
    int64_t received; /* ns since 1970 */
} gx_net_record;

typedef struct gx_net_sent {
    gx_retry retry;
    const gx_net_settings *given;
    uint64_t number;  /* of the record that was received last, from 1 */
    uint64_t other;   /* messages that are of neither RFC */
    gx_buf slot;      /* of which one is made */
    gx_buf plain;     /* values of structured data without their backslashes */
    gale_value *data; /* what is made of it; NULL: none was yet */
} gx_net_sent;

void gx_net_sent_init(gx_net_sent *sent, gx_heap *heap, gale_collector *out, const gx_net_settings *given);
void gx_net_sent_fini(gx_net_sent *sent);

/* As gx_retry_add. */
int gx_net_sent_add(gx_net_sent *sent, const gx_net_record *record, uint32_t *ret_id);

/* As gx_retry_emit. */
int gx_net_sent_emit(gx_net_sent *sent, gale_collector *out, uint32_t id);

#endif
