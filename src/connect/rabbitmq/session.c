#include "connect/rabbitmq/session.h"

#include <amqp_framing.h>
#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

/* librabbitmq looks for none by itself. */
static const char system_ca[] = "/etc/ssl/certs/ca-certificates.crt";

enum { RELEASE = 8 }; /* so many frames have the memory of librabbitmq that goes at once */

static struct timeval time_of(int64_t ms) {
    return (struct timeval){ .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };
}

bool rmq_session_fail(rmq_session *session, int status) {
    session->away = status == AMQP_STATUS_HEARTBEAT_TIMEOUT || status == AMQP_STATUS_TIMEOUT ||
                    status == AMQP_STATUS_NO_MEMORY;
    rmq_words_status(session->why, status);
    return false;
}

bool rmq_session_answered(rmq_session *session) {
    amqp_rpc_reply_t reply = amqp_get_rpc_reply(session->state);
    if (reply.reply_type == AMQP_RESPONSE_NORMAL) return true;
    rmq_words_of(session->why, &reply);
    return false;
}

/* --- Open ------------------------------------------------------------------------------------------------------------- */

static bool say_file(rmq_session *session, const char *parameter, const char *path) {
    rmq_words(session->why, "%s: %s cannot be read as PEM", parameter, path);
    return false;
}

static amqp_socket_t *make_tls(rmq_session *session) {
    const rmq_settings *given = session->given;
    const char *ca = given->ca ? given->ca : system_ca;
    amqp_socket_t *socket = amqp_ssl_socket_new(session->state);
    if (!socket) return NULL;
    amqp_ssl_socket_set_verify_peer(socket, true);
    amqp_ssl_socket_set_verify_hostname(socket, true);
    (void)amqp_ssl_socket_set_ssl_versions(socket, AMQP_TLSv1_2, AMQP_TLSvLATEST);
    if (amqp_ssl_socket_set_cacert(socket, ca) != AMQP_STATUS_OK) return say_file(session, "ca", ca), NULL;
    if (given->certificate &&
        amqp_ssl_socket_set_key(socket, given->certificate, given->certificate_key) != AMQP_STATUS_OK)
        return say_file(session, "certificate", given->certificate), NULL;
    return socket;
}

static bool connect_to(rmq_session *session, const rmq_address *address) {
    struct timeval wait = time_of(session->given->timeout_ms);
    rmq_words(session->why, "out of memory");
    amqp_socket_t *socket = address->tls ? make_tls(session) : amqp_tcp_socket_new(session->state);
    if (!socket) return false;
    session->tls = address->tls;
    int status = amqp_socket_open_noblock(socket, address->host, address->port, &wait);
    if (status == AMQP_STATUS_SOCKET_ERROR) /* librabbitmq keeps the system's word for it to itself */
        rmq_words(session->why, "cannot connect: nobody listens there, or it cannot be reached");
    else if (status != AMQP_STATUS_OK)
        (void)rmq_session_fail(session, status);
    return status == AMQP_STATUS_OK;
}

static bool log_in(rmq_session *session, const rmq_address *address, const char *password, const char *name) {
    amqp_table_entry_t entry = { .key = amqp_cstring_bytes("connection_name"),
                                 .value = { .kind = AMQP_FIELD_KIND_UTF8, .value.bytes = amqp_cstring_bytes(name) } };
    const amqp_table_t properties = { .num_entries = 1, .entries = &entry };
    amqp_rpc_reply_t reply = amqp_login_with_properties(session->state, address->vhost, 0, RMQ_FRAME_MAX,
                                                        session->given->heartbeat, &properties, AMQP_SASL_METHOD_PLAIN,
                                                        rmq_settings_user(session->given), password);
    if (reply.reply_type == AMQP_RESPONSE_NORMAL) return true;
    rmq_words_of(session->why, &reply);
    return false;
}

static bool open_channel(rmq_session *session) {
    (void)amqp_channel_open(session->state, RMQ_CHANNEL);
    return rmq_session_answered(session);
}

bool rmq_session_open(rmq_session *session, const rmq_address *address, const char *password, const char *name) {
    struct timeval wait = time_of(session->given->timeout_ms);
    session->state = amqp_new_connection();
    if (!session->state) return rmq_session_fail(session, AMQP_STATUS_NO_MEMORY);
    (void)amqp_set_handshake_timeout(session->state, &wait);
    (void)amqp_set_rpc_timeout(session->state, &wait);
    if (!connect_to(session, address) || !log_in(session, address, password, name)) return false;
    session->out.largest = (size_t)amqp_get_frame_max(session->state);
    return open_channel(session);
}

void rmq_session_goodbye(rmq_session *session) {
    struct timeval wait = time_of(1000);
    (void)amqp_set_rpc_timeout(session->state, &wait);
    (void)amqp_connection_close(session->state, AMQP_REPLY_SUCCESS);
}

void rmq_session_close(rmq_session *session) {
    if (session->state) (void)amqp_destroy_connection(session->state);
    session->state = NULL;
    rmq_frames_free(&session->out);
}

/* --- Out -------------------------------------------------------------------------------------------------------------- */

bool rmq_session_flush(rmq_session *session) {
    if (!session->out.used) return true;
    int silence_ms = 2 * 1000 * session->given->heartbeat;
    int status = rmq_frames_write(&session->out, amqp_get_sockfd(session->state), silence_ms);
    return status == AMQP_STATUS_OK || rmq_session_fail(session, status);
}

static bool gather(rmq_session *session, amqp_basic_publish_t *method, amqp_basic_properties_t *properties,
                   amqp_bytes_t body) {
    return !session->tls && rmq_frames_add(&session->out, RMQ_CHANNEL, method, properties, body);
}

bool rmq_session_publish(rmq_session *session, amqp_basic_publish_t *method, amqp_basic_properties_t *properties,
                         amqp_bytes_t body) {
    if (gather(session, method, properties, body)) return true;
    if (!rmq_session_flush(session)) return false;
    if (gather(session, method, properties, body)) return true;
    int status = amqp_basic_publish(session->state, RMQ_CHANNEL, method->exchange, method->routing_key,
                                    method->mandatory, method->immediate, properties, body);
    return status == AMQP_STATUS_OK || rmq_session_fail(session, status);
}

/* --- Frames ----------------------------------------------------------------------------------------------------------- */

int rmq_session_frame(rmq_session *session, amqp_frame_t *ret_frame) {
    struct timeval none = { 0 };
    if (session->frames++ % RELEASE == 0) amqp_maybe_release_buffers(session->state);
    int status = amqp_simple_wait_frame_noblock(session->state, ret_frame, &none);
    if (status == AMQP_STATUS_OK) return 1;
    if (status == AMQP_STATUS_TIMEOUT) return 0;
    (void)rmq_session_fail(session, status);
    return -1;
}
