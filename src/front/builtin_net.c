#include "front/builtin.h"
#include "front/long_rows.h"
#include "front/table.h"

#include <gale/file.h>
#include <gale/net.h>

#define LISTEN_ROW(fallback, more)                                                                                     \
    GX_ROW(TEXT, "listen", fallback, "where to listen, host:port, or :port for all addresses of the machine" more,     \
           .example = "127.0.0.1:5140")
#define CONNECT_ROW                                                                                                    \
    GX_ROW(TEXT, "connect", "", "connect to host:port instead, and again whenever that has ended",                     \
           .example = "log.example.org:5140")
#define EMIT_ROW                                                                                                       \
    GX_ROW(FIELDS, "emit", "line",                                                                                     \
           "the fields that go out: line, peer (who sent it), number (from 1), received (seconds since 1970)",         \
           .roles = GX_PARAM_OUTPUT, .example = "[line, peer]")
#define MEMORY_ROW                                                                                                     \
    GX_ROW(BYTES, "memory", "64 MiB", "about how many bytes of records may be open at once, and of half ones again",   \
           GX_RANGE(1, INT64_MAX))
#define ATTEMPTS_ROW                                                                                                   \
    GX_ROW(                                                                                                            \
        WHOLE, "maxAttempts", "3",                                                                                     \
        "how often a record is tried before it is reported and given up; topology.replay.attempts says it where that " \
        "or a file of dead letters is configured",                                                                     \
        GX_RANGE(1, UINT32_MAX))
#define STREAM_ROWS                                                                                                    \
    GX_ROW(WHOLE, "maxConnections", "1024", "how many a task has open; others wait until one ends",                    \
           GX_RANGE(1, 1000000), .unit = "connections"),                                                               \
        GX_ROW(SECONDS, "idleTimeout", "0", "connections that are silent for so long are closed; 0: never",            \
               GX_RANGE(0, 1000000), .example = "10m"),                                                                \
        GX_ROW(WHOLE, "connections", "0", "the input ends when so many have come and ended; of one task; 0: never",    \
               GX_RANGE(0, INT64_MAX), .unit = "connections")
#define BUFFER_ROW                                                                                                     \
    GX_ROW(BYTES, "receiveBuffer", "0",                                                                                \
           "what the system may hold of datagrams that were not read (SO_RCVBUF); 0: its own choice",                  \
           GX_RANGE(0, 1073741823), .example = "4 MiB")
#define FRAMING_ROW                                                                                                    \
    GX_ROW(                                                                                                            \
        WORD, "framing", "lines",                                                                                      \
        "where a record ends: 'lines'; 'nul': at a NUL; 'octets': LEN SP record (RFC 6587); 'auto': each record is "   \
        "looked at: LEN SP < is counted, anything else is a line",                                                     \
        .words = "lines nul octets auto")

/* What all of them may be given. */
static gale_net_spout_options options_of(const gx_args *args, int32_t transport) {
    return (gale_net_spout_options){ .size = sizeof(gale_net_spout_options),
                                     .transport = transport,
                                     .emit = gx_args_text(args, "emit"),
                                     .longest = (uint64_t)gx_args_whole(args, "longest"),
                                     .drop_long = gx_args_is(args, "tooLong", "drop"),
                                     .memory = (uint64_t)gx_args_whole(args, "memory"),
                                     .max_attempts = (uint32_t)gx_args_whole(args, "maxAttempts") };
}

static int32_t framing_of(const gx_args *args) {
    if (gx_args_is(args, "framing", "nul")) return GALE_NET_NUL;
    if (gx_args_is(args, "framing", "octets")) return GALE_NET_OCTETS;
    if (gx_args_is(args, "framing", "auto")) return GALE_NET_COUNTED_OR_LINES;
    return gx_args_is(args, "framing", "datagram") ? GALE_NET_AS_IT_COMES : GALE_NET_LINES;
}

/* Defaults are told only where they mean something. */
static void take_streams(const gx_args *args, gale_net_spout_options *options) {
    if (!options->connect || gx_args_given(args, "maxConnections"))
        options->max_connections = (uint32_t)gx_args_whole(args, "maxConnections");
    options->idle_timeout = gx_args_number(args, "idleTimeout");
    options->connections = (uint64_t)gx_args_whole(args, "connections");
}

/* --- Tcp --- */

static const gx_param tcp_params[] = {
    LISTEN_ROW("", "; port 0 is any, which the log tells"),
    CONNECT_ROW,
    FRAMING_ROW,
    EMIT_ROW,
    GX_LONGEST_ROW("1 MiB"),
    GX_LONG_ROW,
    STREAM_ROWS,
    MEMORY_ROW,
    ATTEMPTS_ROW,
};

static int make_tcp(const gx_args *args, gale_spout *ret, gale_error *error) {
    gale_net_spout_options options = options_of(args, GALE_NET_TCP);
    options.listen = gx_args_text(args, "listen");
    options.connect = gx_args_text(args, "connect");
    options.framing = framing_of(args);
    take_streams(args, &options);
    return gale_net_spout(&options, ret, error);
}

/* --- Udp --- */

static const gx_param udp_params[] = {
    LISTEN_ROW(NULL, "; port 0 is any, which the log tells"),
    GX_ROW(WORD, "framing", "datagram", "what a record is: a 'datagram', or parts of it: 'lines', or what a 'nul' ends",
           .words = "datagram lines nul"),
    EMIT_ROW,
    GX_LONGEST_ROW("64 KiB"),
    GX_LONG_ROW,
    BUFFER_ROW,
    MEMORY_ROW,
    ATTEMPTS_ROW,
};

static int make_udp(const gx_args *args, gale_spout *ret, gale_error *error) {
    gale_net_spout_options options = options_of(args, GALE_NET_UDP);
    options.listen = gx_args_text(args, "listen");
    options.framing = framing_of(args);
    options.receive_buffer = (uint64_t)gx_args_whole(args, "receiveBuffer");
    return gale_net_spout(&options, ret, error);
}

/* --- Unix --- */

static const gx_param unix_params[] = {
    GX_ROW(TEXT, "path", NULL, "the socket to listen at, which is made, and removed at the end",
           .example = "/run/app/log.sock"),
    GX_ROW(BOOL, "datagram", "false", "it takes datagrams, each a record, instead of connections"),
    FRAMING_ROW,
    EMIT_ROW,
    GX_LONGEST_ROW("1 MiB"),
    GX_LONG_ROW,
    STREAM_ROWS,
    MEMORY_ROW,
    ATTEMPTS_ROW,
};

static int make_unix(const gx_args *args, gale_spout *ret, gale_error *error) {
    bool datagram = gx_args_flag(args, "datagram");
    gale_net_spout_options options = options_of(args, datagram ? GALE_NET_UNIX_DATAGRAM : GALE_NET_UNIX);
    options.listen = gx_args_text(args, "path");
    if (!datagram || gx_args_given(args, "framing")) options.framing = framing_of(args);
    if (!datagram || gx_args_given(args, "maxConnections") || gx_args_given(args, "connections") ||
        gx_args_given(args, "idleTimeout"))
        take_streams(args, &options);
    if (datagram && !gx_args_given(args, "longest")) options.longest = 0;
    return gale_net_spout(&options, ret, error);
}

/* --- Syslog --- */

static const gx_param syslog_params[] = {
    LISTEN_ROW(NULL, "; of unix transports a path"),
    GX_ROW(WORD, "transport", "udp",
           "how messages come: by 'udp', 'tcp' (counted or in lines, record by record), or a UNIX socket of 'unix' "
           "connections or 'unixgram' datagrams, as /dev/log is",
           .words = "udp tcp unix unixgram"),
    GX_ROW(FIELDS, "emit", "facility, severity, time, host, app, procid, msgid, data, message",
           "the fields that go out: these, and facilityName, severityName, structured (data as it stands), raw, peer, "
           "number, received",
           .roles = GX_PARAM_OUTPUT, .example = "[time, host, severityName, message]"),
    GX_ROW(TEXT, "zone", "", "how far clocks that say no zone are ahead of UTC; by default they are UTC",
           .example = "'+02:00'"),
    GX_ROW(BYTES, "longest", "", "how long a message may be; by default 1 MiB, of datagrams 64 KiB",
           GX_RANGE(1, 67108864), .example = "8 KiB"),
    GX_LONG_ROW,
    STREAM_ROWS,
    BUFFER_ROW,
    MEMORY_ROW,
    ATTEMPTS_ROW,
};

static int make_syslog(const gx_args *args, gale_spout *ret, gale_error *error) {
    static const char *const words[] = { "tcp", "udp", "unix", "unixgram" };
    int32_t transport = GALE_NET_TCP;
    while (transport < GALE_NET_UNIX_DATAGRAM && !gx_args_is(args, "transport", words[transport])) transport++;
    gale_net_spout_options options = options_of(args, transport);
    bool stream = transport == GALE_NET_TCP || transport == GALE_NET_UNIX;
    options.syslog = true;
    options.listen = gx_args_text(args, "listen");
    options.zone = gx_args_text(args, "zone");
    if (stream || gx_args_given(args, "maxConnections") || gx_args_given(args, "connections") ||
        gx_args_given(args, "idleTimeout"))
        take_streams(args, &options);
    options.receive_buffer = (uint64_t)gx_args_whole(args, "receiveBuffer");
    return gale_net_spout(&options, ret, error);
}

/* --- Sinks --- */

#define TO_ROW GX_ROW(TEXT, "connect", NULL, "host:port to send to", .example = "log.example.org:5140")
#define FORMAT_ROW                                                                                                     \
    GX_ROW(WORD, "format", "tsv",                                                                                      \
           "'tsv': values with tabs between them; 'json': an object; 'csv': as RFC 4180 has it; 'text': one value as " \
           "it is",                                                                                                    \
           .words = "tsv json csv text")
#define SENT_ROW                                                                                                       \
    GX_ROW(FIELDS, "fields", "", "what is sent, in this order; none: all, of format text the first",                   \
           .roles = GX_PARAM_INPUT, .example = "[path, count]")
#define WAITING_ROW                                                                                                    \
    GX_ROW(BYTES, "maxBytes", "1 MiB", "while so many bytes wait to be taken, those who feed it are held back",        \
           GX_RANGE(1, INT64_MAX))
#define FINISH_ROW                                                                                                     \
    GX_ROW(SECONDS, "finishWait", "10",                                                                                \
           "at the end, when no tuple waits for an answer any more, how long it may be that nothing is taken",         \
           .roles = GX_PARAM_ABOVE, GX_RANGE(0, 1000000))

static const gx_param tcp_sink_params[] = {
    TO_ROW,
    FORMAT_ROW,
    SENT_ROW,
    GX_ROW(WORD, "framing", "lines",
           "where a record ends: 'lines'; 'nul': at a NUL; 'octets': LEN SP record (RFC 6587)",
           .words = "lines nul octets"),
    WAITING_ROW,
    FINISH_ROW,
};

static const gx_param udp_sink_params[] = {
    TO_ROW,
    FORMAT_ROW,
    SENT_ROW,
    GX_ROW(BYTES, "datagram", "0",
           "as many records as fit into so many bytes are one datagram, in lines; 0: each is one", GX_RANGE(0, 65507),
           .example = "1400"),
    WAITING_ROW,
    FINISH_ROW,
};

static int32_t format_of(const gx_args *args) {
    static const char *const words[] = { "tsv", "json", "csv", "text" };
    static const int32_t formats[] = { GALE_FILE_TSV, GALE_FILE_JSON, GALE_FILE_CSV, GALE_FILE_TEXT };
    size_t i = 0;
    while (i < 3 && !gx_args_is(args, "format", words[i])) i++;
    return formats[i];
}

static gale_net_sink_options sink_options_of(const gx_args *args, int32_t transport) {
    return (gale_net_sink_options){ .size = sizeof(gale_net_sink_options),
                                    .transport = transport,
                                    .connect = gx_args_text(args, "connect"),
                                    .format = format_of(args),
                                    .fields = gx_args_text(args, "fields"),
                                    .max_bytes = (uint64_t)gx_args_whole(args, "maxBytes"),
                                    .finish_wait = gx_args_number(args, "finishWait") };
}

static int make_tcp_sink(const gx_args *args, gale_bolt *ret, gale_error *error) {
    gale_net_sink_options options = sink_options_of(args, GALE_NET_TCP);
    options.framing = framing_of(args);
    return gale_net_sink_bolt(&options, ret, error);
}

static int make_udp_sink(const gx_args *args, gale_bolt *ret, gale_error *error) {
    gale_net_sink_options options = sink_options_of(args, GALE_NET_UDP);
    options.datagram = (uint32_t)gx_args_whole(args, "datagram");
    return gale_net_sink_bolt(&options, ret, error);
}

#define SENT_TYPES "peer string, number int, received float"

/* clang-format off */
static const gx_class classes[] = {
    { .name = "gale.spout.Tcp", .kind = GX_CLASS_SPOUT, GX_PARAMS(tcp_params), .keys = "gale.rate", .outputs = "line",
      .types = "line string bytes, " SENT_TYPES,
      .text = "emits the records that come by TCP connections, tracked", .make_spout = make_tcp },
    { .name = "gale.spout.Udp", .kind = GX_CLASS_SPOUT, GX_PARAMS(udp_params), .keys = "gale.rate", .outputs = "line",
      .types = "line string bytes, " SENT_TYPES,
      .text = "emits the datagrams that come to a UDP port, tracked, and tells how many were lost",
      .make_spout = make_udp },
    { .name = "gale.spout.Unix", .kind = GX_CLASS_SPOUT, GX_PARAMS(unix_params), .keys = "gale.rate", .outputs = "line",
      .types = "line string bytes, " SENT_TYPES,
      .text = "emits the records that come to a UNIX socket, tracked", .make_spout = make_unix },
    { .name = "gale.spout.Syslog", .kind = GX_CLASS_SPOUT, GX_PARAMS(syslog_params), .keys = "gale.rate",
      .outputs = "facility, severity, time, host, app, procid, msgid, data, message",
      .types = "facility int, severity int, time int float, host string bytes, app string bytes, "
               "procid string bytes, msgid string bytes, "
               "data map, message string bytes, facilityName string, severityName string, structured string bytes, raw string bytes, "
               SENT_TYPES,
      .text = "emits syslog messages of RFC 5424 and 3164, tracked", .make_spout = make_syslog },
};
static const gx_class sinks[] = {
    { .name = "gale.bolt.TcpSink", .kind = GX_CLASS_BOLT, GX_PARAMS(tcp_sink_params),
      .text = "sends each tuple to a TCP server, and acks it when that machine has taken it", .make_bolt = make_tcp_sink },
    { .name = "gale.bolt.UdpSink", .kind = GX_CLASS_BOLT, GX_PARAMS(udp_sink_params),
      .text = "sends tuples as UDP datagrams", .make_bolt = make_udp_sink },
};
/* clang-format on */

const gx_class_table gx_builtin_net = { classes, sizeof classes / sizeof *classes };
const gx_class_table gx_builtin_net_sinks = { sinks, sizeof sinks / sizeof *sinks };
