#include "wire/peer.h"

#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Also where NDEBUG is. */
static void must(bool is) {
    if (!is) abort();
}

/* --- Certificates ------------------------------------------------------------------------------------------------------- */

static void extend(X509 *certificate, int what, const char *value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, certificate, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, what, value);
    must(extension && X509_add_ext(certificate, extension, -1));
    X509_EXTENSION_free(extension);
}

static X509 *certify(EVP_PKEY *key, const char *name, X509 *by, EVP_PKEY *by_key) {
    static long serial = 1;
    X509 *made = X509_new();
    must(made && X509_set_version(made, 2));
    ASN1_INTEGER_set(X509_get_serialNumber(made), serial++);
    X509_gmtime_adj(X509_getm_notBefore(made), -3600);
    X509_gmtime_adj(X509_getm_notAfter(made), 86400);
    X509_set_pubkey(made, key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_ASC, (const unsigned char *)name, -1, -1, 0);
    X509_set_issuer_name(made, X509_get_subject_name(by ? by : made));
    char names[200];
    snprintf(names, sizeof names, "DNS:%s", name);
    extend(made, NID_basic_constraints, by ? "CA:FALSE" : "critical,CA:TRUE");
    if (by) extend(made, NID_subject_alt_name, names);
    must(X509_sign(made, by_key ? by_key : key, EVP_sha256()) > 0);
    return made;
}

static FILE *file_of(const char *folder, const char *name, const char *end, const char *how) {
    char path[400];
    snprintf(path, sizeof path, "%s/%s%s", folder, name, end);
    FILE *file = fopen(path, how);
    must(file);
    return file;
}

static void write_pair(const char *folder, const char *name, X509 *certificate, EVP_PKEY *key) {
    FILE *file = file_of(folder, name, ".pem", "w");
    must(PEM_write_X509(file, certificate));
    fclose(file);
    file = file_of(folder, name, ".key", "w");
    must(PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL));
    fclose(file);
    file = file_of(folder, name, ".locked", "w");
    must(PEM_write_PrivateKey(file, key, EVP_aes_128_cbc(), (const unsigned char *)"word", 4, NULL, NULL));
    fclose(file);
}

void peer_make_certificates(const char *folder, const char *host, const char *other) {
    const char *const hosts[] = { host, other };
    EVP_PKEY *ca_key = EVP_EC_gen("P-256");
    X509 *ca = certify(ca_key, "gale's tests", NULL, NULL);
    write_pair(folder, "ca", ca, ca_key);
    for (int i = 0; i < 2; i++) {
        EVP_PKEY *key = EVP_EC_gen("P-256");
        X509 *certificate = certify(key, hosts[i], ca, ca_key);
        write_pair(folder, hosts[i], certificate, key);
        X509_free(certificate);
        EVP_PKEY_free(key);
    }
    X509_free(ca);
    EVP_PKEY_free(ca_key);
}

SSL_CTX *peer_tls(const char *folder, const char *host, bool asks) {
    char path[400];
    SSL_CTX *tls = SSL_CTX_new(TLS_server_method());
    snprintf(path, sizeof path, "%s/%s.pem", folder, host);
    must(SSL_CTX_use_certificate_chain_file(tls, path) == 1);
    snprintf(path, sizeof path, "%s/%s.key", folder, host);
    must(SSL_CTX_use_PrivateKey_file(tls, path, SSL_FILETYPE_PEM) == 1);
    snprintf(path, sizeof path, "%s/ca.pem", folder);
    must(SSL_CTX_load_verify_file(tls, path) == 1);
    if (asks) SSL_CTX_set_verify(tls, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    return tls;
}

/* --- Bytes -------------------------------------------------------------------------------------------------------------- */

static ssize_t read_some(peer *p, void *to, size_t size) {
    return p->ssl ? SSL_read(p->ssl, to, (int)size) : recv(p->fd, to, size, 0);
}

bool peer_write(peer *p, const void *bytes, size_t size) {
    const char *at = bytes;
    for (ssize_t took; size; at += took, size -= (size_t)took) {
        took = p->ssl ? SSL_write(p->ssl, at, (int)size) : send(p->fd, at, size, MSG_NOSIGNAL);
        if (took <= 0) return false;
    }
    return true;
}

void peer_read_all(peer *p) {
    static char bytes[64 << 10];
    for (ssize_t got; (got = read_some(p, bytes, sizeof bytes)) > 0;) {
        p->got = realloc(p->got, p->got_size + (size_t)got);
        must(p->got);
        memcpy(p->got + p->got_size, bytes, (size_t)got);
        p->got_size += (size_t)got;
    }
}

void peer_echo(peer *p) {
    char bytes[4096];
    for (ssize_t got; (got = read_some(p, bytes, sizeof bytes)) > 0;)
        if (!peer_write(p, bytes, (size_t)got)) return;
}

/* --- The thread --------------------------------------------------------------------------------------------------------- */

/* OpenSSL writes as it likes; that of gale must not raise it, and is in another thread. */
static void hear_no_pipe(void) {
    sigset_t pipes;
    sigemptyset(&pipes);
    sigaddset(&pipes, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipes, NULL);
}

static void *run(void *user) {
    peer *p = user;
    hear_no_pipe();
    p->fd = accept(p->listens, NULL, NULL);
    if (p->fd < 0) return NULL;
    if (p->tls) {
        p->ssl = SSL_new(p->tls);
        SSL_set_fd(p->ssl, p->fd);
        p->shook = SSL_accept(p->ssl) == 1;
    }
    if (!p->tls || p->shook) p->act(p);
    if (p->shook) (void)SSL_shutdown(p->ssl);
    SSL_free(p->ssl);
    close(p->fd);
    return NULL;
}

static void listen_at_port(peer *p) {
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t size = sizeof address;
    p->listens = socket(AF_INET, SOCK_STREAM, 0);
    must(bind(p->listens, (struct sockaddr *)&address, size) == 0 && listen(p->listens, 1) == 0);
    must(getsockname(p->listens, (struct sockaddr *)&address, &size) == 0);
    p->port = ntohs(address.sin_port);
}

static void listen_at_path(peer *p) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    snprintf(address.sun_path, sizeof address.sun_path, "%s", p->path);
    p->listens = socket(AF_UNIX, SOCK_STREAM, 0);
    must(bind(p->listens, (struct sockaddr *)&address, sizeof address) == 0 && listen(p->listens, 1) == 0);
}

void peer_begin(peer *p, peer_fn *act) {
    p->act = act;
    if (p->path)
        listen_at_path(p);
    else
        listen_at_port(p);
    must(pthread_create(&p->thread, NULL, run, p) == 0);
}

void peer_wait(peer *p) {
    if (p->waited) return;
    shutdown(p->listens, SHUT_RDWR); /* wakes one that nobody came to */
    pthread_join(p->thread, NULL);
    p->waited = true;
}

void peer_end(peer *p) {
    peer_wait(p);
    close(p->listens);
    SSL_CTX_free(p->tls);
    free(p->got);
    if (p->path) unlink(p->path);
}
