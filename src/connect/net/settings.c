#include "connect/net/settings.h"

#include "base/os/socket.h"
#include "base/str.h"
#include "kit/moment.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MANY = 1024, LINE = 1 << 20, DATAGRAM = 64 << 10, MEMORY = 64 << 20, SECONDS_MAX = 1000000 };

static int check_words(const gale_net_spout_options *given, gale_error *error) {
    if (given->transport < GALE_NET_TCP || given->transport > GALE_NET_UNIX_DATAGRAM)
        return gale_error_set(error, GALE_INVALID, "net spout: transport is %d, which is none", given->transport);
    if (given->framing < GALE_NET_AS_IT_COMES || given->framing > GALE_NET_COUNTED_OR_LINES)
        return gale_error_set(error, GALE_INVALID, "net spout: framing is %d, which is none", given->framing);
    if (!gx_net_is_stream(given->transport) && given->framing > GALE_NET_NUL)
        return gale_error_set(error, GALE_INVALID,
                              "net spout: a datagram has its size: framing is for streams, but for "
                              "lines and nul");
    return 0;
}

/* What is for streams, and what is for datagrams. */
static int check_kind(const gale_net_spout_options *given, gale_error *error) {
    bool stream = gx_net_is_stream(given->transport);
    const char *lone = given->connect           ? "connect"
                       : given->max_connections ? "max_connections (maxConnections)"
                       : given->idle_timeout    ? "idle_timeout (idleTimeout)"
                       : given->connections     ? "connections"
                                                : NULL;
    if (!stream && lone)
        return gale_error_set(error, GALE_INVALID, "net spout: %s is for streams, not for datagrams", lone);
    if (stream && given->receive_buffer)
        return gale_error_set(error, GALE_INVALID,
                              "net spout: receive_buffer (receiveBuffer) is for datagrams, not for streams");
    if (given->connect && given->max_connections)
        return gale_error_set(error, GALE_INVALID,
                              "net spout: who connects has one connection: leave max_connections (maxConnections) out");
    if (given->zone && !given->syslog) return gale_error_set(error, GALE_INVALID, "net spout: zone is for syslog");
    return 0;
}

static int check_address(const gale_net_spout_options *given, gale_error *error) {
    const char *address = given->connect ? given->connect : given->listen;
    gx_address path;
    if (!address || (given->connect && given->listen))
        return gale_error_set(error, GALE_INVALID, "net spout: one of listen and connect says where");
    return gx_net_is_path(given->transport) ? gx_address_path(address, &path, error)
                                            : gx_address_check(address, !given->connect, error);
}

static int check_numbers(const gale_net_spout_options *given, gale_error *error) {
    if (given->longest > GX_NET_LONGEST)
        return gale_error_set(error, GALE_INVALID, "net spout: longest is %" PRIu64 " bytes, at most %d",
                              given->longest, GX_NET_LONGEST);
    if (!(given->idle_timeout >= 0 && given->idle_timeout <= SECONDS_MAX))
        return gale_error_set(error, GALE_INVALID, "net spout: idle_timeout is %g, must be 0 to %d seconds",
                              given->idle_timeout, SECONDS_MAX);
    if (given->receive_buffer > INT32_MAX / 2)
        return gale_error_set(error, GALE_INVALID, "net spout: receive_buffer is %" PRIu64 " bytes, at most %d",
                              given->receive_buffer, INT32_MAX / 2);
    return 0;
}

static int32_t kind_of(const gale_net_spout_options *given) {
    switch (given->framing) {
    case GALE_NET_NUL: return GX_FRAMES_NUL;
    case GALE_NET_OCTETS: return GX_FRAMES_OCTETS;
    case GALE_NET_COUNTED_OR_LINES: return GX_FRAMES_SYSLOG;
    case GALE_NET_AS_IT_COMES: return given->syslog ? GX_FRAMES_SYSLOG : GX_FRAMES_LINES;
    default: return GX_FRAMES_LINES;
    }
}

static void fill(gx_net_settings *made) {
    gale_net_spout_options *o = &made->options;
    bool stream = gx_net_is_stream(o->transport);
    o->listen = o->emit = o->zone = NULL;
    if (!o->max_connections) o->max_connections = MANY;
    if (!o->memory) o->memory = MEMORY;
    if (!o->longest) o->longest = stream ? LINE : DATAGRAM;
    made->whole = !stream && o->framing == GALE_NET_AS_IT_COMES;
    made->rule = (gx_frames_rule){ .kind = kind_of(o), .drops = o->drop_long, .max = (size_t)o->longest };
    made->idle = (int64_t)(o->idle_timeout * GALE_SECOND);
    made->output = (gale_output){ NULL, made->row.fields };
}

int gx_net_settings_make(const gale_net_spout_options *given, gx_net_settings **ret_settings, gale_error *error) {
    gx_net_row row;
    int32_t ahead = 0;
    int rc = check_words(given, error);
    if (rc == 0) rc = check_kind(given, error);
    if (rc == 0) rc = check_address(given, error);
    if (rc == 0) rc = check_numbers(given, error);
    if (rc == 0 && given->zone && !gx_moment_zone(gx_str(given->zone), &ahead))
        rc = gale_error_set(error, GALE_INVALID, "net spout: zone is '%s', must be like +02:00", given->zone);
    if (rc == 0) rc = gx_net_row_parse(given->emit, given->syslog, &row, error);
    if (rc < 0) return rc;
    const char *address = given->connect ? given->connect : given->listen;
    size_t size = strlen(address) + 1;
    gx_net_settings *made = malloc(sizeof *made + size);
    if (!made) return gale_error_set(error, GALE_NO_MEMORY, "net spout: out of memory");
    *made = (gx_net_settings){ .options = *given, .ahead = ahead, .row = row };
    memcpy(made->address, address, size);
    if (given->connect) made->options.connect = made->address;
    fill(made);
    *ret_settings = made;
    return 0;
}
