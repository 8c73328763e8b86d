/* Connections of a task: a socket that listens, or one that connects and does so again, and the records that come by them.
 *
 * What:    a connection that has something is listed; its turn is a piece of at most GX_NET_PIECE bytes, of which all records are
 *          handed out before the next one is read. So one buffer serves all of them, nobody is read who cannot be emitted, and
 *          none waits for longer than a turn of each other. Between two records a connection owns no memory of its own
 *          (kit/frames.h).
 *
 *              listens --accept--> open --told--> listed --its turn--> read --all is used up--> open, or listed again
 *              dials --connected--> open                                 '--ended--> the last line --> closed
 *                ^------- a pause, 0.1 s to 30 s, doubled ------------------------------------------------'
 *
 * Threads: the task's. Owner: gx_net_streams_close gives all back. */
#ifndef GX_CONNECT_NET_STREAMS_H
#define GX_CONNECT_NET_STREAMS_H

#include "base/os/socket.h"
#include "connect/net/sent.h"

#include <gale/watch.h>

enum { GX_NET_PIECE = 16 << 10 };

typedef struct gx_connection gx_connection;

typedef struct gx_connection_list {
    gx_connection *first, *last;
} gx_connection_list;

typedef struct gx_net_streams {
    const gx_net_settings *given;
    const gale_context *context;
    gale_collector *out;
    gx_heap *heap;
    gx_addresses addresses; /* to connect to, or to listen at */
    gx_address bound;       /* where it listens */
    const char *name;       /* of it in the log: as it was given, or where it listens */
    char at[GX_ADDRESS_TEXT];
    int fd;           /* listens; -1: not any more, or never */
    gale_watch watch; /* of that, or of the time to dial again */
    gx_connection *all;
    gx_connection_list listed;
    uint64_t count, begun;
    gx_connection *current; /* whose piece it is */
    char *buffer;           /* GX_NET_PIECE bytes */
    gale_str piece;
    int64_t received; /* ns since 1970 */
    uint64_t held;    /* bytes of half records */
    /* Dialing. */
    uint32_t next_address;
    int64_t pause;
    /* What is told at most once in a while, and at the end. */
    int64_t told_at;
    uint64_t too_long, cut_off, broken, reset, idle, over; /* over `memory` */
} gx_net_streams;

/* Listens, or begins to dial. An error has its report. */
int gx_net_streams_open(gx_net_streams *streams, const gx_net_settings *given, const gale_context *context,
                        gale_collector *out, gx_heap *heap, gale_error *error);
void gx_net_streams_close(gx_net_streams *streams);

/* 1 and the next record, borrowed until the next call; 0: nothing before a watch is told; GALE_AGAIN: ask again. GALE_NO_MEMORY. */
int gx_net_streams_next(gx_net_streams *streams, gx_net_record *ret_record);

/* The same of the piece that was read alone; 0 at its end. */
int gx_net_streams_rest(gx_net_streams *streams, gx_net_record *ret_record);

/* All connections that were asked for have ended. */
bool gx_net_streams_ended(const gx_net_streams *streams);

#endif
