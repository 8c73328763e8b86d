/* The operations of gale_net_sink_bolt by transport; their `user` is a gx_net_sink_settings. */
#ifndef GX_CONNECT_NET_UDP_SINK_H
#define GX_CONNECT_NET_UDP_SINK_H

#include <gale/component.h>

extern const gale_bolt_ops gx_net_udp_sink;

#endif
