#include "connect/rabbitmq/address.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { PORT = 5672, TLS_PORT = 5671 };

static int refuse(gale_error *error, const char *why) {
    return gale_error_set(error, GALE_INVALID, "url: %s", why);
}

/* Behind the scheme; NULL: it has neither. */
static const char *read_scheme(const char *text, bool *ret_tls) {
    *ret_tls = strncasecmp(text, "amqps://", 8) == 0;
    if (*ret_tls) return text + 8;
    return strncasecmp(text, "amqp://", 7) == 0 ? text + 7 : NULL;
}

static bool copy(char to[RMQ_NAME], const char *data, size_t size) {
    if (!size || size >= RMQ_NAME) return false;
    memcpy(to, data, size);
    to[size] = '\0';
    return true;
}

static bool read_port(const char *at, const char *end, uint16_t *port) {
    unsigned number = 0;
    if (at == end) return true;
    if (*at++ != ':' || at == end || end - at > 5) return false;
    for (; at < end; at++) {
        if (*at < '0' || *at > '9') return false;
        number = number * 10 + (unsigned)(*at - '0');
    }
    *port = (uint16_t)number;
    return number > 0 && number <= UINT16_MAX;
}

/* A host, or an address of IPv6 in brackets, and perhaps a port. */
static bool read_host(const char *at, size_t size, rmq_address *address) {
    const char *end = at + size, *closing = *at == '[' ? memchr(at, ']', size) : NULL;
    size_t host = closing ? (size_t)(closing - at) - 1 : 0;
    if (*at == '[') return closing && copy(address->host, at + 1, host) && read_port(closing + 1, end, &address->port);
    while (host < size && at[host] != ':') host++;
    return copy(address->host, at, host) && read_port(at + host, end, &address->port);
}

static int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* One letter, perhaps encoded (%2F); false: it is encoded wrongly. */
static bool read_letter(const char **at, char *ret_letter) {
    if (**at != '%') {
        *ret_letter = *(*at)++;
        return true;
    }
    int high = digit_of((*at)[1]), low = high < 0 ? -1 : digit_of((*at)[2]);
    if (low < 0) return false;
    *ret_letter = (char)(high * 16 + low);
    *at += 3;
    return *ret_letter != '\0';
}

static bool read_vhost(const char *at, char to[RMQ_NAME]) {
    size_t size = 0;
    for (; *at; size++)
        if (size + 1 >= RMQ_NAME || *at == '/' || *at == '?' || *at == '#' || !read_letter(&at, &to[size]))
            return false;
    to[size] = '\0';
    if (!size) strcpy(to, "/");
    return true;
}

int rmq_address_read(const char *text, rmq_address *ret_address, gale_error *error) {
    rmq_address address = { .port = PORT };
    const char *at = read_scheme(text, &address.tls);
    if (!at) return refuse(error, "it begins with amqp:// or amqps://");
    if (address.tls) address.port = TLS_PORT;
    size_t size = strcspn(at, "/?#");
    if (memchr(at, '@', size)) return refuse(error, "it has no user and no password: user and passwordFrom say them");
    if (!size || !read_host(at, size, &address)) return refuse(error, "a broker is host, or host:port");
    at += size;
    if (!read_vhost(*at == '/' ? at + 1 : at, address.vhost))
        return refuse(error, "behind the host stands a virtual host alone, with what is no letter of it encoded: %2F");
    *ret_address = address;
    return 0;
}
