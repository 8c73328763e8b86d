/* What a spout of sockets was told: its options, checked and copied.
 * Threads: frozen once made. Owner: who makes them frees them with gx_define_free. */
#ifndef GX_CONNECT_NET_SETTINGS_H
#define GX_CONNECT_NET_SETTINGS_H

#include "connect/net/row.h"
#include "kit/frames.h"

#include <gale/net.h>

/* How long each address of a server has that the run does not begin without. */
#define GX_NET_REQUIRED_WAIT (10 * GALE_SECOND)

enum { GX_NET_LONGEST = 64 << 20 };

/* The user block of the spout's definition, with the address copied behind it. */
typedef struct gx_net_settings {
    gale_net_spout_options options; /* whose texts are NULL */
    gx_frames_rule rule;
    bool whole; /* each datagram is one record */
    int32_t ahead;
    int64_t idle; /* ns; 0: never */
    gx_net_row row;
    gale_output output; /* its fields are the row's */
    char address[];     /* to listen at, or to connect to */
} gx_net_settings;

GX_INLINE bool gx_net_is_stream(int32_t transport) {
    return transport == GALE_NET_TCP || transport == GALE_NET_UNIX;
}

GX_INLINE bool gx_net_is_path(int32_t transport) {
    return transport == GALE_NET_UNIX || transport == GALE_NET_UNIX_DATAGRAM;
}

/* GALE_INVALID, with a sentence; GALE_NO_MEMORY. */
int gx_net_settings_make(const gale_net_spout_options *given, gx_net_settings **ret_settings, gale_error *error);

#endif
