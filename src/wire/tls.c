#include "wire/tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <gale/connect.h>
#include <gale/watch.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct wire_tls {
    SSL_CTX *context;
    SSL *ssl;
    const wire_settings *settings;
};

/* --- The socket, for OpenSSL: as its own one, without SIGPIPE ------------------------------------------------------------- */

static BIO_METHOD *socket_method;
static pthread_once_t socket_once = PTHREAD_ONCE_INIT;

static int fd_of(BIO *bio) {
    return (int)(intptr_t)BIO_get_data(bio);
}

static bool would_wait(void) {
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

static int socket_read(BIO *bio, char *to, int size) {
    ssize_t got = recv(fd_of(bio), to, (size_t)size, 0);
    BIO_clear_retry_flags(bio);
    if (got < 0 && would_wait()) BIO_set_retry_read(bio);
    return (int)got;
}

static int socket_write(BIO *bio, const char *bytes, int size) {
    ssize_t took = send(fd_of(bio), bytes, (size_t)size, MSG_NOSIGNAL);
    BIO_clear_retry_flags(bio);
    if (took < 0 && would_wait()) BIO_set_retry_write(bio);
    return (int)took;
}

static long socket_control(BIO *bio, int command, long number, void *pointer) {
    (void)bio, (void)number, (void)pointer;
    return command == BIO_CTRL_FLUSH || command == BIO_CTRL_DUP;
}

static int socket_create(BIO *bio) {
    BIO_set_init(bio, 1);
    return 1;
}

static void make_method(void) {
    BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "gale wire");
    if (!method) return;
    (void)BIO_meth_set_read(method, socket_read);
    (void)BIO_meth_set_write(method, socket_write);
    (void)BIO_meth_set_ctrl(method, socket_control);
    (void)BIO_meth_set_create(method, socket_create);
    socket_method = method;
}

static BIO *socket_bio(int fd) {
    (void)pthread_once(&socket_once, make_method);
    BIO *bio = socket_method ? BIO_new(socket_method) : NULL;
    if (bio) BIO_set_data(bio, (void *)(intptr_t)fd);
    return bio;
}

/* --- Words ------------------------------------------------------------------------------------------------------------ */

/* The first that OpenSSL noted since its list was cleared. */
static const char *reason(void) {
    const char *text = ERR_reason_error_string(ERR_peek_error());
    return text ? text : "it does not say why";
}

static bool fail_file(const char *parameter, const char *path, char why[WIRE_WHY_MAX]) {
    snprintf(why, WIRE_WHY_MAX, "%s: %s cannot be used: %s", parameter, path, reason());
    return false;
}

static void say_verified(const wire_tls *tls, long result, char why[WIRE_WHY_MAX]) {
    if (result == X509_V_ERR_HOSTNAME_MISMATCH || result == X509_V_ERR_IP_ADDRESS_MISMATCH)
        snprintf(why, WIRE_WHY_MAX, "TLS: the server's certificate is not for '%s'", tls->settings->host);
    else
        snprintf(why, WIRE_WHY_MAX, "TLS: the server's certificate is not trusted: %s",
                 X509_verify_cert_error_string(result));
}

/* Why it is over. `errno` is that of the call. */
static int fail(const wire_tls *tls, int what, int system_error, char why[WIRE_WHY_MAX]) {
    long verified = SSL_get_verify_result(tls->ssl);
    unsigned long first = ERR_peek_error();
    if (what == SSL_ERROR_ZERO_RETURN)
        snprintf(why, WIRE_WHY_MAX, "the server closed the connection");
    else if (tls->settings->verify && verified != X509_V_OK)
        say_verified(tls, verified, why);
    else if (what == SSL_ERROR_SYSCALL && system_error)
        snprintf(why, WIRE_WHY_MAX, "the connection is lost: %s", strerror(system_error));
    else if (what == SSL_ERROR_SYSCALL || ERR_GET_REASON(first) == SSL_R_UNEXPECTED_EOF_WHILE_READING)
        snprintf(why, WIRE_WHY_MAX, "the connection was cut off");
    else
        snprintf(why, WIRE_WHY_MAX, "TLS: %s", reason());
    return GALE_IO;
}

/* What became of a call of OpenSSL's that returned `rc`, which is not well. */
static int settle(wire_tls *tls, int rc, int32_t *ret_wants, char why[WIRE_WHY_MAX]) {
    int system_error = errno, what = SSL_get_error(tls->ssl, rc);
    if (what == SSL_ERROR_WANT_READ || what == SSL_ERROR_WANT_WRITE) {
        *ret_wants = what == SSL_ERROR_WANT_READ ? GALE_WATCH_READ : GALE_WATCH_WRITE;
        return GALE_AGAIN;
    }
    return fail(tls, what, system_error, why);
}

/* --- Files ------------------------------------------------------------------------------------------------------------ */

/* A key with a passphrase is refused: OpenSSL would ask whoever sits at the terminal. */
static int no_passphrase(char *to, int size, int writes, void *user) {
    (void)to, (void)size, (void)writes, (void)user;
    return -1;
}

static bool load_key(wire_tls *tls, char why[WIRE_WHY_MAX]) {
    const char *path = tls->settings->certificate_key;
    gale_error error = GALE_ERROR_INIT;
    char *text = gale_secret_read("certificateKey", path, &error);
    if (!text) {
        snprintf(why, WIRE_WHY_MAX, "%.*s", WIRE_WHY_MAX - 1, error.text);
        return false;
    }
    BIO *bio = BIO_new_mem_buf(text, -1);
    EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL) : NULL;
    bool used = key && SSL_CTX_use_PrivateKey(tls->context, key) == 1;
    EVP_PKEY_free(key);
    BIO_free(bio);
    gale_secret_free(text);
    return used || fail_file("certificateKey", path, why);
}

static bool load_files(wire_tls *tls, char why[WIRE_WHY_MAX]) {
    const wire_settings *settings = tls->settings;
    if (settings->ca && SSL_CTX_load_verify_file(tls->context, settings->ca) != 1)
        return fail_file("ca", settings->ca, why);
    if (!settings->ca) (void)SSL_CTX_set_default_verify_paths(tls->context);
    if (!settings->certificate) return true;
    if (SSL_CTX_use_certificate_chain_file(tls->context, settings->certificate) != 1)
        return fail_file("certificate", settings->certificate, why);
    return load_key(tls, why);
}

/* --- It --------------------------------------------------------------------------------------------------------------- */

static bool is_address(const char *host) {
    unsigned char bytes[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, host, bytes) == 1 || inet_pton(AF_INET6, host, bytes) == 1;
}

/* Whom it has to be; a name is told to the server, too. */
static bool expect_host(wire_tls *tls) {
    const char *host = tls->settings->host;
    if (is_address(host)) return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls->ssl), host) == 1;
    SSL_set_hostflags(tls->ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set_tlsext_host_name(tls->ssl, host) == 1 && SSL_set1_host(tls->ssl, host) == 1;
}

static bool make_context(wire_tls *tls, char why[WIRE_WHY_MAX]) {
    tls->context = SSL_CTX_new(TLS_client_method());
    if (!tls->context) {
        snprintf(why, WIRE_WHY_MAX, "TLS: %s", reason());
        return false;
    }
    (void)SSL_CTX_set_min_proto_version(tls->context, TLS1_2_VERSION);
    (void)SSL_CTX_set_options(tls->context, SSL_OP_NO_RENEGOTIATION);
    (void)SSL_CTX_set_mode(tls->context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_default_passwd_cb(tls->context, no_passphrase);
    SSL_CTX_set_verify(tls->context, tls->settings->verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, NULL);
    return load_files(tls, why);
}

static bool make_session(wire_tls *tls, int fd, char why[WIRE_WHY_MAX]) {
    tls->ssl = SSL_new(tls->context);
    BIO *bio = tls->ssl ? socket_bio(fd) : NULL;
    if (bio) SSL_set_bio(tls->ssl, bio, bio);
    if (bio && expect_host(tls)) {
        SSL_set_connect_state(tls->ssl);
        return true;
    }
    snprintf(why, WIRE_WHY_MAX, "TLS: %s", reason());
    return false;
}

wire_tls *wire_tls_begin(const wire_settings *settings, int fd, char why[WIRE_WHY_MAX]) {
    wire_tls *tls = calloc(1, sizeof *tls);
    if (!tls) {
        snprintf(why, WIRE_WHY_MAX, "out of memory");
        return NULL;
    }
    tls->settings = settings;
    ERR_clear_error();
    bool made = make_context(tls, why) && make_session(tls, fd, why);
    ERR_clear_error();
    if (made) return tls;
    wire_tls_end(tls, false);
    return NULL;
}

int wire_tls_shake(wire_tls *tls, int32_t *ret_wants, char why[WIRE_WHY_MAX]) {
    ERR_clear_error();
    errno = 0;
    int rc = SSL_do_handshake(tls->ssl);
    return rc == 1 ? 0 : settle(tls, rc, ret_wants, why);
}

int64_t wire_tls_read(wire_tls *tls, void *to, size_t size, int32_t *ret_wants, char why[WIRE_WHY_MAX]) {
    ERR_clear_error();
    errno = 0;
    int got = SSL_read(tls->ssl, to, size < INT_MAX ? (int)size : INT_MAX);
    return got > 0 ? got : settle(tls, got, ret_wants, why);
}

int64_t wire_tls_write(wire_tls *tls, const void *bytes, size_t size, int32_t *ret_wants, char why[WIRE_WHY_MAX]) {
    ERR_clear_error();
    errno = 0;
    int took = SSL_write(tls->ssl, bytes, size < INT_MAX ? (int)size : INT_MAX);
    return took > 0 ? took : settle(tls, took, ret_wants, why);
}

bool wire_tls_has_more(const wire_tls *tls) {
    return SSL_pending(tls->ssl) > 0;
}

void wire_tls_end(wire_tls *tls, bool orderly) {
    if (!tls) return;
    ERR_clear_error();
    if (orderly) (void)SSL_shutdown(tls->ssl);
    ERR_clear_error();
    SSL_free(tls->ssl);
    SSL_CTX_free(tls->context);
    free(tls);
}
