/* Datagrams of a task: a socket that many of them are taken from at once, and what the system has thrown away.
 *
 * What:    a record is a datagram, or a part of one: then there is room for each datagram that UDP has, and of a larger one, which
 *          a UNIX socket may have, what is over is lost, with the part that it begins in. What the system threw away, for want of room in the socket's buffer, it counts;
 *          that is asked for once a second while something comes, and at the end, together with what nobody read.
 * Threads: the task's. Owner: gx_net_datagrams_close gives all back. */
#ifndef GX_CONNECT_NET_DATAGRAMS_H
#define GX_CONNECT_NET_DATAGRAMS_H

#include "base/os/socket.h"
#include "connect/net/sent.h"

#include <gale/watch.h>

typedef struct gx_net_datagrams {
    const gx_net_settings *given;
    const gale_context *context;
    gale_collector *out;
    gx_heap *heap;
    gx_address bound;
    const char *name; /* of it in the log: as it was given, or where it listens */
    char at[GX_ADDRESS_TEXT];
    int fd;
    gale_watch watch;
    char *buffer; /* room for GX_DATAGRAMS */
    size_t room;  /* for each */
    gx_datagram list[GX_DATAGRAMS];
    uint32_t next, count; /* of them */
    gx_frames frames;
    gale_str piece; /* what is left of the datagram before `next` */
    bool in_piece;
    bool is_cut; /* the datagram was larger than the room */
    char peer[GX_ADDRESS_TEXT];
    gx_address peer_of; /* whose text that is */
    int64_t received;   /* ns since 1970 */
    int64_t buffer_got;
    uint32_t drops; /* by the system's count, as it was last */
    bool counts;    /* it has one */
    int64_t look_at;
    uint64_t taken, lost, cut, larger; /* than the room, in parts */
    uint64_t foreign;                  /* that were not text */
} gx_net_datagrams;

/* An error has its report. */
int gx_net_datagrams_open(gx_net_datagrams *datagrams, const gx_net_settings *given, const gale_context *context,
                          gale_collector *out, gx_heap *heap, gale_error *error);
void gx_net_datagrams_close(gx_net_datagrams *datagrams);

/* 1 and the next record, borrowed until the next call; 0: nothing before the watch is told. GALE_NO_MEMORY. */
int gx_net_datagrams_next(gx_net_datagrams *datagrams, gx_net_record *ret_record);

/* The same of what was taken alone; 0 at its end. */
int gx_net_datagrams_rest(gx_net_datagrams *datagrams, gx_net_record *ret_record);

#endif
