/* Sockets: addresses, streams and datagrams. None of them waits, but for gx_address_find and gx_socket_connect_first.
 *
 * What:    every descriptor that is made here is non-blocking and closed by an exec. What would wait says GALE_AGAIN. Interrupted
 *          calls are resumed. TCP connections whose other machine has vanished end within two minutes, unless they have something to send: then
 *          the system has its own time (net.ipv4.tcp_retries2).
 * Threads: any. Owner: descriptors are the caller's, to close with gx_socket_close.
 * Errors:  GALE_IO with a report, where there is an `error`, else with errno. */
#ifndef GX_BASE_OS_SOCKET_H
#define GX_BASE_OS_SOCKET_H

#include "base/port.h"

#include <gale/error.h>

/* Long enough for "[address%interface]:port", and for the path of a UNIX socket. */
enum { GX_ADDRESS_TEXT = 128, GX_ADDRESSES = 8 };

typedef struct gx_address {
    uint32_t size; /* 0: none */
    alignas(8) unsigned char bytes[128];
} gx_address;

typedef struct gx_addresses {
    gx_address list[GX_ADDRESSES];
    uint32_t count;
} gx_addresses;

typedef enum gx_socket_kind { GX_SOCKET_STREAM, GX_SOCKET_DATAGRAM } gx_socket_kind;

/* "host:port": a name, an IPv4 address, an IPv6 address in brackets; with `listens` also ":port" and "*:port", all of the machine's.
 * Checks the form alone: GALE_INVALID. */
int gx_address_check(const char *text, bool listens, gale_error *error);

/* The same, and looks names up, which may take as long as the system's resolver does. At most GX_ADDRESSES. GALE_INVALID,
 * GALE_IO. */
int gx_address_find(const char *text, bool listens, gx_socket_kind kind, gx_addresses *ret_found, gale_error *error);

/* A path. GALE_INVALID: the system has no such long ones. */
int gx_address_path(const char *path, gx_address *ret_address, gale_error *error);

/* "127.0.0.1:514", "[::1]:514", a path, or "" where there is none; what is no graphic character is a '?'. Returns its size. */
size_t gx_address_text(const gx_address *address, char to[GX_ADDRESS_TEXT]);

/* Binds, and listens if it is a stream. `shared`: others that say so may have the same port, and the system divides what comes.
 * A path where a socket is that nobody listens at is taken over; anything else there is refused. */
int gx_socket_listen(const gx_address *address, gx_socket_kind kind, bool shared, int *ret_fd, gale_error *error);

/* The same at the first of several where that can be; the error is of the last. All of the machine's are one for both families of addresses, if it has both. */
int gx_socket_listen_first(const gx_addresses *addresses, gx_socket_kind kind, bool shared, int *ret_fd,
                           gx_address *ret_bound, gale_error *error);

/* Closes one that listened, and removes the path that it was bound to, unless another one listens there by now. */
void gx_socket_end(int fd, const gx_address *address);

/* Begins to connect: 0 when it is done, GALE_AGAIN when the descriptor will be writable, GALE_IO and errno; then there is none. */
int gx_socket_connect(const gx_address *address, gx_socket_kind kind, int *ret_fd);

/* Connects a stream to the first of several where that can be, each within so long (ns): 0 and which it is, or GALE_IO and errno. */
int gx_socket_connect_first(const gx_addresses *addresses, int64_t within, uint32_t *ret_index, int *ret_fd);

/* What became of it, or what else went wrong: an errno, or 0; it is forgotten. */
int gx_socket_error(int fd);

/* GALE_AGAIN: nobody waits. Of others, errno says whether it is about that connection or the system: gx_socket_is_full. */
int gx_socket_accept(int fd, int *ret_fd, gx_address *ret_peer);

/* Is it for want of descriptors or memory that errno says no? */
bool gx_socket_is_full(int error_number);

void gx_socket_close(int fd);

/* How many bytes; 0 at the end of a stream. GALE_AGAIN. */
int64_t gx_socket_read(int fd, void *bytes, size_t size);

/* How many bytes were taken; of a datagram, all. GALE_AGAIN. */
int64_t gx_socket_write(int fd, const void *bytes, size_t size);

/* The address that a socket is bound to. */
bool gx_socket_name(int fd, gx_address *ret_address);

/* Asks for a buffer of so many bytes for what was received and not read, and says how many the system gave. */
int64_t gx_socket_receive_buffer(int fd, int64_t size);

/* How many datagrams the system has thrown away for want of room since the socket was made; it counts on from 0 after 2^32.
 * False: it does not say. */
bool gx_socket_drops(int fd, uint32_t *ret_drops);

/* How many bytes of a stream the other machine has not taken; -1: the system does not say. */
int64_t gx_socket_unsent(int fd);

/* --- Datagrams, many at once --- */

enum { GX_DATAGRAMS = 32 };

typedef struct gx_datagram {
    char *data; /* the caller's, `room` bytes */
    size_t size;
    bool cut; /* it had more */
    gx_address peer;
} gx_datagram;

/* Those that wait, at most `count`, each in its place: how many. GALE_AGAIN: none. */
int gx_socket_take(int fd, gx_datagram *list, uint32_t count, size_t room);

#endif
