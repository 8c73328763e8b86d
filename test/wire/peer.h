/* A server of tests: one thread that takes one connection and does with it as it is told, by TCP at a free port of 127.0.0.1 or at a path, with TLS
 * or without, and certificates that are made for it. Threads: the test's, and its own. Owner: peer_end. */
#ifndef GALE_TEST_WIRE_PEER_H
#define GALE_TEST_WIRE_PEER_H

#include <openssl/ssl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct peer peer;

/* What it does with the connection; it is closed behind that. */
typedef void peer_fn(peer *p);

struct peer {
    peer_fn *act;
    int listens, fd, port;
    const char *path; /* NULL: TCP */
    SSL_CTX *tls;     /* NULL: without */
    SSL *ssl;
    pthread_t thread;
    bool waited;
    char *got; /* what peer_read_all read */
    size_t got_size;
    bool slow;  /* it waits until this is false before it reads */
    bool shook; /* the handshake went well */
};

/* Certificates of an authority and of two hosts, as files in a folder: ca.pem, HOST.pem, HOST.key, and HOST.locked, which has a passphrase. */
void peer_make_certificates(const char *folder, const char *host, const char *other);

/* Of a server, by these files; `asks`: clients need a certificate of the authority's. */
SSL_CTX *peer_tls(const char *folder, const char *host, bool asks);

void peer_begin(peer *p, peer_fn *act);

/* Until `act` is through, or nobody comes any more: then `got` can be looked at. Perhaps called before peer_end. */
void peer_wait(peer *p);
void peer_end(peer *p);

/* For `act`: until the end, or an error, into `got`; all of it; bytes that are not read. */
void peer_read_all(peer *p);
bool peer_write(peer *p, const void *bytes, size_t size);
void peer_echo(peer *p);

#endif
