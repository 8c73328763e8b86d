#include "base/os/socket.h"

#include "base/os/time.h"
#include "base/str.h"

#include <errno.h>
#include <gale/clock.h>
#include <linux/sock_diag.h>
#include <linux/sockios.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 4096, HOST_SIZE = 256, PORT_SIZE = 6 };

static_assert(sizeof(struct sockaddr_storage) <= sizeof((gx_address *)NULL)->bytes, "an address has room");

static struct sockaddr *sockaddr_of(const gx_address *address) {
    return (struct sockaddr *)(uintptr_t)address->bytes;
}

static int family_of(const gx_address *address) {
    return address->size < sizeof(sa_family_t) ? AF_UNSPEC : sockaddr_of(address)->sa_family;
}

/* --- Addresses ---------------------------------------------------------------------------------------------------- */

typedef struct split {
    char host[HOST_SIZE], port[PORT_SIZE];
} split;

static bool split_text(gale_str text, split *s) {
    bool brackets = text.size && text.data[0] == '[';
    const char *end = text.size ? memrchr(text.data, ':', text.size) : NULL;
    if (!end) return false;
    gale_str host = { text.data, (size_t)(end - text.data) };
    gale_str port = { end + 1, text.size - host.size - 1 };
    uint64_t number;
    if (brackets && (host.size < 3 || host.data[host.size - 1] != ']')) return false;
    if (brackets) host = (gale_str){ host.data + 1, host.size - 2 };
    if (!brackets && memchr(host.data, ':', host.size)) return false;
    if (port.size >= sizeof s->port || host.size >= sizeof s->host || !gx_str_number(port, 10, 65535, &number))
        return false;
    snprintf(s->host, sizeof s->host, "%.*s", GX_STR(host));
    snprintf(s->port, sizeof s->port, "%.*s", GX_STR(port));
    return true;
}

static int check(const char *text, bool listens, split *s, gale_error *error) {
    if (!split_text(gx_str(text), s))
        return gale_error_set(error, GALE_INVALID,
                              "'%s' is no address: host:port, with an IPv6 address in brackets, [::1]:514", text);
    bool any = !*s->host || strcmp(s->host, "*") == 0;
    if (any) s->host[0] = 0;
    if (any && !listens) return gale_error_set(error, GALE_INVALID, "'%s' has no host to connect to", text);
    if (!listens && strtoul(s->port, NULL, 10) == 0)
        return gale_error_set(error, GALE_INVALID, "'%s': no one can be connected to at port 0", text);
    return 0;
}

int gx_address_check(const char *text, bool listens, gale_error *error) {
    split s;
    return check(text, listens, &s, error);
}

/* Those of a family, or all. */
static void add_addresses(gx_addresses *found, const struct addrinfo *list, int family) {
    for (const struct addrinfo *one = list; one && found->count < GX_ADDRESSES; one = one->ai_next) {
        gx_address *to = &found->list[found->count];
        if ((family != AF_UNSPEC && one->ai_family != family) || one->ai_addrlen > sizeof to->bytes) continue;
        to->size = one->ai_addrlen;
        memcpy(to->bytes, one->ai_addr, one->ai_addrlen);
        found->count++;
    }
}

int gx_address_find(const char *text, bool listens, gx_socket_kind kind, gx_addresses *ret_found, gale_error *error) {
    split s;
    struct addrinfo *list = NULL;
    struct addrinfo hints = { .ai_flags = AI_NUMERICSERV | (listens ? AI_PASSIVE : AI_ADDRCONFIG),
                              .ai_socktype = kind == GX_SOCKET_STREAM ? SOCK_STREAM : SOCK_DGRAM };
    int rc = check(text, listens, &s, error);
    if (rc < 0) return rc;
    rc = getaddrinfo(*s.host ? s.host : NULL, s.port, &hints, &list);
    if (rc != 0 && strcmp(s.host, "localhost") == 0) { /* RFC 6761: also where no /etc/hosts says so */
        hints.ai_flags &= ~AI_PASSIVE;
        rc = getaddrinfo(NULL, s.port, &hints, &list);
    }
    if (rc != 0)
        return gale_error_set(error, GALE_IO, "cannot find '%s': %s", text,
                              rc == EAI_SYSTEM ? strerror(errno) : gai_strerror(rc));
    ret_found->count = 0;
    if (!*s.host) add_addresses(ret_found, list, AF_INET6);
    add_addresses(ret_found, list, *s.host ? AF_UNSPEC : AF_INET);
    freeaddrinfo(list);
    return ret_found->count ? 0 : gale_error_set(error, GALE_IO, "'%s' has no address", text);
}

int gx_address_path(const char *path, gx_address *ret_address, gale_error *error) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    size_t size = strlen(path);
    if (!size || size >= sizeof address.sun_path)
        return gale_error_set(error, GALE_INVALID, "'%s': the path of a UNIX socket has 1 to %zu bytes", path,
                              sizeof address.sun_path - 1);
    memcpy(address.sun_path, path, size);
    ret_address->size = (uint32_t)(offsetof(struct sockaddr_un, sun_path) + size + 1);
    memcpy(ret_address->bytes, &address, sizeof address);
    return 0;
}

/* A name without a file begins with a NUL, which is shown as a '@'. */
static size_t path_text(const gx_address *address, char *to) {
    const size_t before = offsetof(struct sockaddr_un, sun_path);
    const char *path = (const char *)address->bytes + before;
    size_t size = address->size > before ? address->size - before : 0;
    size_t used = size && !*path ? size : strnlen(path, size);
    if (used >= GX_ADDRESS_TEXT) used = GX_ADDRESS_TEXT - 1;
    for (size_t i = 0; i < used; i++) to[i] = path[i] > 32 && path[i] < 127 ? path[i] : path[i] || i ? '?' : '@';
    to[used] = 0;
    return used;
}

/* An IPv4 address of a socket that takes both. */
static bool is_mapped(const gx_address *address) {
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)address->bytes;
    return IN6_IS_ADDR_V4MAPPED(&six->sin6_addr);
}

static size_t mapped_text(const gx_address *address, char to[GX_ADDRESS_TEXT]) {
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)address->bytes;
    const uint8_t *four = &six->sin6_addr.s6_addr[12];
    return (size_t)snprintf(to, GX_ADDRESS_TEXT, "%u.%u.%u.%u:%u", four[0], four[1], four[2], four[3],
                            ntohs(six->sin6_port));
}

size_t gx_address_text(const gx_address *address, char to[GX_ADDRESS_TEXT]) {
    char host[INET6_ADDRSTRLEN + 20], port[PORT_SIZE];
    int family = family_of(address);
    to[0] = 0;
    if (family == AF_UNIX) return path_text(address, to);
    if (family == AF_INET6 && is_mapped(address)) return mapped_text(address, to);
    if (family == AF_UNSPEC || getnameinfo(sockaddr_of(address), address->size, host, sizeof host, port, sizeof port,
                                           NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return 0;
    return (size_t)snprintf(to, GX_ADDRESS_TEXT, family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}

/* --- Making them -------------------------------------------------------------------------------------------------- */

static int make(const gx_address *address, gx_socket_kind kind) {
    int type = kind == GX_SOCKET_STREAM ? SOCK_STREAM : SOCK_DGRAM;
    return socket(family_of(address), type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

static void set(int fd, int level, int option, int value) {
    (void)setsockopt(fd, level, option, &value, sizeof value);
}

static int refuse(const gx_address *address, const char *what, gale_error *error) {
    char text[GX_ADDRESS_TEXT];
    int why = errno;
    gx_address_text(address, text);
    gale_error_set(error, GALE_IO, "cannot %s %s: %s", what, text, strerror(why));
    errno = why;
    return GALE_IO;
}

/* A machine that has vanished says nothing: a connection that is silent for a minute is probed, three times. */
static void ask_whether_alive(int fd) {
    set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set(fd, IPPROTO_TCP, TCP_KEEPIDLE, 60);
    set(fd, IPPROTO_TCP, TCP_KEEPINTVL, 20);
    set(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
}

static const char *path_of(const gx_address *address) {
    return ((const struct sockaddr_un *)(const void *)address->bytes)->sun_path;
}

static bool is_in_the_way(const gx_address *address) {
    struct stat about;
    return family_of(address) == AF_UNIX && lstat(path_of(address), &about) == 0 && !S_ISSOCK(about.st_mode);
}

/* What a process that has gone left there. Who is there is not to notice the question, so it is asked by a datagram socket: a
 * stream's is of another kind (EPROTOTYPE), one of datagrams hears nothing of it, and where nobody is it is refused. */
static void remove_dead(const gx_address *address) {
    struct stat about;
    if (family_of(address) != AF_UNIX || lstat(path_of(address), &about) != 0 || !S_ISSOCK(about.st_mode)) return;
    int fd = make(address, GX_SOCKET_DATAGRAM);
    if (fd < 0) return;
    bool dead = connect(fd, sockaddr_of(address), address->size) != 0 && errno == ECONNREFUSED;
    close(fd);
    if (dead) (void)unlink(path_of(address));
}

static int bind_to(int fd, const gx_address *address, gx_socket_kind kind, bool shared) {
    if (family_of(address) != AF_UNIX && kind == GX_SOCKET_STREAM) set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    if (shared) set(fd, SOL_SOCKET, SO_REUSEPORT, 1);
    remove_dead(address);
    if (bind(fd, sockaddr_of(address), address->size) != 0) return -1;
    return kind == GX_SOCKET_STREAM ? listen(fd, BACKLOG) : 0;
}

static int refuse_file(const gx_address *address, gale_error *error) {
    char text[GX_ADDRESS_TEXT];
    gx_address_text(address, text);
    return gale_error_set(error, GALE_IO, "cannot listen at %s: it is a file that is there, and no socket", text);
}

int gx_socket_listen(const gx_address *address, gx_socket_kind kind, bool shared, int *ret_fd, gale_error *error) {
    int fd = make(address, kind);
    if (fd < 0) return refuse(address, "make a socket for", error);
    if (family_of(address) == AF_INET6) set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
    if (bind_to(fd, address, kind, shared) != 0) {
        int rc = errno == EADDRINUSE && is_in_the_way(address) ? refuse_file(address, error)
                                                               : refuse(address, "listen at", error);
        close(fd);
        return rc;
    }
    *ret_fd = fd;
    return 0;
}

int gx_socket_listen_first(const gx_addresses *addresses, gx_socket_kind kind, bool shared, int *ret_fd,
                           gx_address *ret_bound, gale_error *error) {
    int rc = GALE_INVALID;
    for (uint32_t i = 0; rc < 0 && i < addresses->count; i++) {
        rc = gx_socket_listen(&addresses->list[i], kind, shared, ret_fd, error);
        if (rc == 0) *ret_bound = addresses->list[i];
    }
    return rc;
}

/* Whoever listens there now is asked. */
void gx_socket_end(int fd, const gx_address *address) {
    gx_socket_close(fd);
    remove_dead(address);
}

int gx_socket_connect(const gx_address *address, gx_socket_kind kind, int *ret_fd) {
    int fd = make(address, kind);
    if (fd < 0) return GALE_IO;
    if (family_of(address) != AF_UNIX && kind == GX_SOCKET_STREAM) {
        set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
        ask_whether_alive(fd);
    }
    int rc = connect(fd, sockaddr_of(address), address->size);
    if (rc != 0 && errno != EINPROGRESS && errno != EINTR) {
        int why = errno;
        close(fd);
        errno = why;
        return GALE_IO;
    }
    *ret_fd = fd;
    return rc == 0 ? 0 : GALE_AGAIN;
}

int gx_socket_error(int fd) {
    int why = 0;
    socklen_t size = sizeof why;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &size) == 0 ? why : errno;
}

/* Until it is connected, for so long: 0, or an errno. */
static int await_connection(int fd, int64_t until) {
    for (;;) {
        int64_t left = until - gx_os_monotonic();
        struct pollfd one = { .fd = fd, .events = POLLOUT };
        int ready = left > 0 ? poll(&one, 1, (int)(left / GALE_MILLISECOND) + 1) : 0;
        if (ready > 0) return gx_socket_error(fd);
        if (ready == 0) return ETIMEDOUT;
        if (errno != EINTR) return errno;
    }
}

int gx_socket_connect_first(const gx_addresses *addresses, int64_t within, uint32_t *ret_index, int *ret_fd) {
    int why = EADDRNOTAVAIL;
    for (uint32_t i = 0; i < addresses->count; i++) {
        int rc = gx_socket_connect(&addresses->list[i], GX_SOCKET_STREAM, ret_fd);
        why = rc == 0 ? 0 : rc == GALE_AGAIN ? await_connection(*ret_fd, gx_os_monotonic() + within) : errno;
        *ret_index = i;
        if (why == 0) return 0;
        if (rc == GALE_AGAIN) gx_socket_close(*ret_fd);
    }
    *ret_fd = -1;
    errno = why;
    return GALE_IO;
}

int gx_socket_accept(int fd, int *ret_fd, gx_address *ret_peer) {
    int got;
    socklen_t size;
    do {
        size = sizeof ret_peer->bytes;
        got = accept4(fd, sockaddr_of(ret_peer), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK ? GALE_AGAIN : GALE_IO;
    ret_peer->size = size < sizeof ret_peer->bytes ? size : (uint32_t)sizeof ret_peer->bytes;
    if (family_of(ret_peer) == AF_INET || family_of(ret_peer) == AF_INET6) ask_whether_alive(got);
    *ret_fd = got;
    return 0;
}

bool gx_socket_is_full(int error_number) {
    return error_number == EMFILE || error_number == ENFILE || error_number == ENOBUFS || error_number == ENOMEM;
}

void gx_socket_close(int fd) {
    if (fd >= 0) (void)close(fd);
}

/* --- Reading and writing ------------------------------------------------------------------------------------------ */

static int64_t result(int64_t got) {
    if (got >= 0) return got;
    return errno == EAGAIN || errno == EWOULDBLOCK ? GALE_AGAIN : GALE_IO;
}

int64_t gx_socket_read(int fd, void *bytes, size_t size) {
    ssize_t got;
    do got = recv(fd, bytes, size, MSG_DONTWAIT);
    while (got < 0 && errno == EINTR);
    return result(got);
}

int64_t gx_socket_write(int fd, const void *bytes, size_t size) {
    ssize_t put;
    do put = send(fd, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (put < 0 && errno == EINTR);
    return result(put);
}

bool gx_socket_name(int fd, gx_address *ret_address) {
    socklen_t size = sizeof ret_address->bytes;
    if (getsockname(fd, sockaddr_of(ret_address), &size) != 0 || size > sizeof ret_address->bytes) return false;
    ret_address->size = size;
    return true;
}

/* The system doubles what it is asked for, to have room for its own, and says so. */
int64_t gx_socket_receive_buffer(int fd, int64_t size) {
    int got = 0;
    socklen_t got_size = sizeof got;
    if (size > 0) set(fd, SOL_SOCKET, SO_RCVBUF, size > INT32_MAX / 2 ? INT32_MAX / 2 : (int)size);
    return getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &got, &got_size) == 0 ? got / 2 : 0;
}

bool gx_socket_drops(int fd, uint32_t *ret_drops) {
    uint32_t about[SK_MEMINFO_VARS] = { 0 };
    socklen_t size = sizeof about;
    if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, about, &size) != 0) return false;
    if (size < (SK_MEMINFO_DROPS + 1) * sizeof about[0]) return false;
    *ret_drops = about[SK_MEMINFO_DROPS];
    return true;
}

int64_t gx_socket_unsent(int fd) {
    int bytes;
    return ioctl(fd, SIOCOUTQ, &bytes) == 0 ? bytes : -1;
}

int gx_socket_take(int fd, gx_datagram *list, uint32_t count, size_t room) {
    struct mmsghdr heads[GX_DATAGRAMS];
    struct iovec places[GX_DATAGRAMS];
    int got;
    if (count > GX_DATAGRAMS) count = GX_DATAGRAMS;
    for (uint32_t i = 0; i < count; i++) {
        places[i] = (struct iovec){ list[i].data, room };
        heads[i] = (struct mmsghdr){ .msg_hdr = { .msg_name = list[i].peer.bytes,
                                                  .msg_namelen = sizeof list[i].peer.bytes,
                                                  .msg_iov = &places[i],
                                                  .msg_iovlen = 1 } };
    }
    do got = recvmmsg(fd, heads, count, MSG_DONTWAIT, NULL);
    while (got < 0 && errno == EINTR);
    for (int i = 0; i < got; i++) {
        list[i].size = heads[i].msg_len;
        list[i].cut = heads[i].msg_hdr.msg_flags & MSG_TRUNC;
        list[i].peer.size = heads[i].msg_hdr.msg_namelen;
    }
    return (int)result(got);
}
