/* gale/net.h: records from sockets, and tuples to them.
 *
 * What:    a spout that listens at a TCP port, a UDP port or a UNIX socket, or connects to a TCP port, and emits what comes:
 *          lines, other records, syslog messages; and a bolt that sends tuples to a TCP or UDP port. Built on gale/component.h and
 *          gale/watch.h alone: one executor holds ten thousand connections, and no thread waits for one.
 * Threads: any thread for the functions here.
 * Owner:   arguments are copied. A definition that is not added must be given back: d.free_user(d.user).
 * Misuse:  every function checks, as in gale/kit.h.
 * Limits:  stand beside the options; what reaches one is logged.
 */
#ifndef GALE_NET_H
#define GALE_NET_H

#include <gale/component.h>

GALE_BEGIN

typedef enum gale_net_transport {
    GALE_NET_TCP,
    GALE_NET_UDP,
    GALE_NET_UNIX,         /* a stream: SOCK_STREAM */
    GALE_NET_UNIX_DATAGRAM /* SOCK_DGRAM, as /dev/log is */
} gale_net_transport;

/* Where a record ends. */
typedef enum gale_net_framing {
    GALE_NET_AS_IT_COMES, /* of a stream, GALE_NET_LINES, and of syslog GALE_NET_COUNTED_OR_LINES; of datagrams, each is one */
    GALE_NET_LINES, /* "\n" or "\r\n"; of datagrams, these and GALE_NET_NUL make several of one, each at most `longest` */
    GALE_NET_NUL,
    GALE_NET_OCTETS,          /* "LEN SP record" (RFC 6587, octet counting); what is none ends the connection */
    GALE_NET_COUNTED_OR_LINES /* each record that begins as "LEN SP <" is counted, any other is a line */
} gale_net_framing;

/* Emits what comes in by sockets, tracked. Output: (line): a string, or bytes where it is not UTF-8. With `emit`, also peer
 * (who sent it, "127.0.0.1:40312", "" where he has no name), number (from 1, of the task), received (seconds since 1970 with a fraction; of a test's
 * clock, what that says). They are the same when a record comes again. A record that fails is emitted again, until it has been tried `max_attempts` times; then
 * it is reported and given up. Obeys `gale.rate` (records a second and task).
 *
 * With `syslog`, each record is a message of RFC 5424, of RFC 3164, or, if it is neither, a message of user and notice:
 * none is refused. Output: (facility, severity, time, host, app, procid, msgid, data, message), of which `emit` chooses; beside them
 * facilityName, severityName, structured (data as it stands), raw (the record), peer, number, received. What a message does not say is
 * null, but for `time`, which is when it was received then. `data` is a map of maps: of the elements' ids, and the names and values
 * of their parameters, lists where a name comes twice; at most GALE_NET_PARAMETERS of them.
 *
 * Several tasks listen at one port (SO_REUSEPORT): the system gives each connection, and all datagrams of a sender, to one of them.
 * With one task a port that another process has is refused. A UNIX socket, a port 0 and `connect` have one task. Names are looked
 * up once, when the task opens, which takes as long as the system's resolver does. Where a UNIX socket is that nobody listens
 * at, it is taken over; it is removed at the end.
 *
 * What is received is never lost while the process lives: a stream is read only as far as it can be emitted, so that its senders wait; of
 * datagrams the system throws away what its buffer has no room for, which is counted (SO_MEMINFO), logged once a second while it grows, and
 * told at the end. Open at once are at most topology.max.spout.pending records and about `memory` bytes; half records that connections wait
 * for the rest of may have as many bytes, then the one that needs more is closed. Connections are read in turns of 16 KiB.
 *
 * A durable run keeps what was received and not answered in each checkpoint; after a crash, what was received since the last one is
 * lost, since nobody sends it again. After an orderly stop nothing is but half records.
 *
 * A record that the end of its connection cuts off is not emitted, but counted and logged: of counted and NUL-ended ones, however that
 * ended; a last line without its "\n" is emitted where the other side has closed in order (FIN), and dropped after a reset, a
 * timeout, or when it is closed here. Of a datagram in parts the last need not have its end. */
enum { GALE_NET_PARAMETERS = 256 };
typedef struct gale_net_spout_options {
    size_t size;
    int32_t transport;
    int32_t framing;
    const char
        *listen; /* "host:port", ":port", "[::1]:port"; port 0: any, which the log tells. Of UNIX sockets a path */
    const char
        *connect;   /* TCP and GALE_NET_UNIX: connect to it instead, and again when it ends, after 0.1 to 30 seconds */
    bool syslog;    /* records are syslog messages */
    bool drop_long; /* longer records are dropped, else cut to `longest`; counted either way */
    uint64_t longest;      /* bytes of a record, at most 64 MiB; 0: 1 MiB, of datagrams 65536 */
    const char *emit;      /* the output's fields; NULL: as above */
    const char *zone;      /* syslog: "+02:00", how far clocks that say no zone are ahead of UTC; NULL: they are UTC */
    uint32_t max_attempts; /* 0: 3 */
    uint32_t max_connections; /* of a task; further ones wait in the system's backlog; 0: 1024 */
    uint64_t memory;          /* bytes; 0: 64 MiB */
    double idle_timeout;      /* seconds without a byte after which a connection is closed; 0: never */
    uint64_t connections;     /* the input ends when so many have come and ended; of one task alone; 0: never */
    uint64_t receive_buffer;  /* bytes, of datagrams (SO_RCVBUF); what was given is logged; 0: the system's own */
} gale_net_spout_options;
GALE_API GALE_MUST_USE int gale_net_spout(const gale_net_spout_options *options, gale_spout *ret_spout,
                                          gale_error *error);

/* Sends each tuple as a record, in order. `format` is a gale_file_format (gale/file.h) and says how its values become a line, `framing` what stands
 * around that. A tuple that this cannot carry is rejected, in words: of GALE_NET_LINES one with an end of line in it (of CSV and TEXT), of GALE_NET_NUL one with
 * a NUL; GALE_NET_OCTETS carries all.
 *
 * By TCP a tuple is held until the other machine has taken its bytes, which the system tells (SIOCOUTQ) and which is as far as can be
 * seen: what a server does with them it does not say. While the server is down, and when the connection ends, it is connected to again
 * after 0.1 to 30 seconds, and what was not taken is sent again in order, a record of which a part was taken from its beginning: at
 * least once. Meanwhile it is not well (gale_health). A server that closes its side is taken for gone; what it says is passed over.
 *
 * By UDP a record, or with `datagram` as many as fit into so many bytes, are one datagram; its tuples are acked when the system has
 * taken it, and nobody knows whether it arrived. A datagram that is too large for the system fails, in words. That nobody listens there, which
 * the other machine may say, makes it not well.
 *
 * While `max_bytes` wait, those who feed the sink are held back (gale_congest): what waits is bounded by that and what was in its
 * queue. What is held does not time out, however long a server is away: its trees' timeouts begin anew again and again, and a drain
 * waits for it. When the sink is finished then, what it
 * holds is sent as long as something of it is taken within each `finish_wait`; then the run ends with GALE_IO, in words. Names are looked up once, when the task is prepared, again later where they cannot be found. In a durable run what is held is part of each checkpoint, and is sent again by a
 * run that goes on: at least once. */
typedef struct gale_net_sink_options {
    size_t size;
    int32_t transport;   /* GALE_NET_TCP or GALE_NET_UDP */
    const char *connect; /* "host:port" */
    int32_t framing; /* GALE_NET_LINES, GALE_NET_NUL, GALE_NET_OCTETS; GALE_NET_AS_IT_COMES: lines, by UDP nothing */
    int32_t format;
    const char *fields; /* what is sent, in this order: "path, count"; NULL or "": all, of text the first */
    uint64_t max_bytes; /* 0: 1 MiB */
    uint32_t datagram;  /* UDP: bytes; 0: one record each */
    double finish_wait; /* seconds; 0: 10 */
} gale_net_sink_options;
GALE_API GALE_MUST_USE int gale_net_sink_bolt(const gale_net_sink_options *options, gale_bolt *ret_bolt,
                                              gale_error *error);

GALE_END

#endif
