/* What both sinks of sockets share: tuples that are held until their records were taken, the engine that is told to wait meanwhile, and what a durable
 * run keeps of them.
 * Threads: the task's. Owner: gx_net_held_fini gives all back; tuples that are held then are the engine's. */
#ifndef GX_CONNECT_NET_HELD_H
#define GX_CONNECT_NET_HELD_H

#include "connect/net/sink_settings.h"
#include "kit/outgoing.h"
#include "kit/renewal.h"

#include <gale/state.h>

typedef struct gx_net_held {
    const gale_context *context;
    gale_collector *out;
    gx_net_former former;
    gx_outgoing records;
    gx_renewal renewal;
    uint64_t max_bytes;
    bool full; /* as the engine was told */
    bool down; /* as it was told */
} gx_net_held;

void gx_net_held_init(gx_net_held *held, const gx_net_sink_settings *given, gx_heap *heap, const gale_context *context,
                      gale_collector *out);
void gx_net_held_fini(gx_net_held *held);

/* Forms the record of the tuple in execution, and holds it. What `execute` returns. */
int gx_net_held_add(gx_net_held *held, const gale_tuple *tuple);

/* So many bytes of all were taken: acks the tuples of what they are. True when there were some. */
bool gx_net_held_take(gx_net_held *held, uint64_t taken);

/* Fails the oldest, or all. */
void gx_net_held_fail_first(gx_net_held *held, int32_t reason, const char *why);

/* The connection has ended, for `why`, when the other machine had taken so many bytes of all; 0: it was not the other machine that ended it. What was not
 * taken goes out again; a record in which so many connections ended (gale.sink.losses) is rejected. */
void gx_net_held_lose(gx_net_held *held, uint64_t taken, const char *why);

/* What keeps it from sending (gale_health); `why` NULL: nothing does. */
void gx_net_held_tell(gx_net_held *held, const char *why);

int gx_net_held_save(const gx_net_held *held, gale_saver *to);
int gx_net_held_restore(gx_net_held *held, gale_saved *from);

#endif
