/* Tuples to sockets: gale_net_sink_bolt. */
#include "connect/net/sink_settings.h"
#include "connect/net/tcp_sink.h"
#include "connect/net/udp_sink.h"

int gale_net_sink_bolt(const gale_net_sink_options *options, gale_bolt *ret_bolt, gale_error *error) {
    if (!ret_bolt) return gx_define_nowhere("net sink", error);
    gale_net_sink_options given;
    gx_net_sink_settings *made;
    int rc = gx_options_take(&given, sizeof given, options, "net sink: options", error);
    if (rc == 0) rc = gx_net_sink_settings_make(&given, &made, error);
    if (rc < 0) return rc;
    bool datagrams = made->options.transport == GALE_NET_UDP;
    *ret_bolt = gx_define_bolt(datagrams ? &gx_net_udp_sink : &gx_net_tcp_sink, made, NULL, 0);
    return 0;
}
