/* wire/settings.h: which server a file names, and how it is spoken to.
 *
 * What:    the parameters that the connectors on a wire share, their check, and the words that reports begin with. A connector puts
 *          WIRE_ROWS into the tables of its classes, and has them read by wire_settings_make.
 * Threads: frozen once made. Owner: who makes them frees them.
 * Errors:  a sentence that begins with the parameter, as of gale/plugin.h. */
#ifndef GALE_WIRE_SETTINGS_H
#define GALE_WIRE_SETTINGS_H

#include <gale/plugin.h>

enum { WIRE_WHERE_MAX = 160, WIRE_PORT_MAX = 6 };

typedef struct wire_settings {
    char *host; /* a name, or an address without brackets; NULL: it is a path */
    char port[WIRE_PORT_MAX];
    char *path; /* of a UNIX socket */
    bool tls;
    bool verify;                              /* the chain and the host's name */
    char *ca, *certificate, *certificate_key; /* files; NULL: none given */
    int64_t timeout;                          /* ns: for a connection, and for what is expected */
    char where[WIRE_WHERE_MAX];               /* "redis localhost:6379": what reports begin with */
} wire_settings;

/* Rows of a table of gale_param; `server` is the one that is meant without a word: "localhost:6379". */
#define WIRE_READS(name, text)                                                                                         \
    { name, GALE_PARAM_TEXT, GALE_PARAM_READS, "", text, 0, 0, NULL, NULL, NULL, NULL, NULL }
#define WIRE_ROWS(server)                                                                                              \
    GALE_PARAM_MORE("server", GALE_PARAM_TEXT, server, "host:port, or unix:/path", 0, 0, 0, NULL, NULL, server),       \
        GALE_PARAM("tls", GALE_PARAM_BOOL, "false", "the server is spoken to by TLS"),                                 \
        WIRE_READS("ca", "a file with certificates, in PEM, that vouch for the server; not given: the system's"),      \
        WIRE_READS("certificate", "a file with a certificate of gale's own, in PEM"),                                  \
        WIRE_READS("certificateKey", "a file with its key, in PEM, without a passphrase"),                             \
        GALE_PARAM("verify", GALE_PARAM_BOOL, "true",                                                                  \
                   "the server's certificate and its name are looked at; false is for tests"),                         \
        GALE_PARAM_MORE("timeout", GALE_PARAM_SECONDS, "10", "how long a connection, or an answer, may take",          \
                        GALE_PARAM_ABOVE, 0, 3600, NULL, NULL, NULL)

/* Reads the parameters of WIRE_ROWS. `what` begins the words of reports: "redis". A server without a port has `port`, or with TLS `tls_port`.
 * GALE_INVALID, GALE_NO_MEMORY; what was made is freed by wire_settings_free, also then. */
int wire_settings_make(wire_settings *settings, const gale_args *args, const char *what, uint16_t port,
                       uint16_t tls_port, gale_error *error);
void wire_settings_free(wire_settings *settings);

/* Reads a `server` alone into host, port, path. GALE_INVALID with a sentence that begins with "server:". */
int wire_settings_server(wire_settings *settings, const char *server, uint16_t port, gale_error *error);

#endif
