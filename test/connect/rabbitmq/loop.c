/* A plain loop on librabbitmq, beside which rates.py looks at gale: fills a queue with messages of 100 bytes, or reads one until it has had so many.
 *
 * usage: loop fill|read PORT QUEUE COUNT */
#include <amqp.h>
#include <amqp_tcp_socket.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PREFETCH = 1000, FLIGHT = 10000, BODY = 100 };

static void check(amqp_connection_state_t state, const char *what) {
    if (amqp_get_rpc_reply(state).reply_type == AMQP_RESPONSE_NORMAL) return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static amqp_connection_state_t open_connection(int port) {
    amqp_connection_state_t state = amqp_new_connection();
    amqp_socket_t *socket = amqp_tcp_socket_new(state);
    if (amqp_socket_open(socket, "127.0.0.1", port)) exit(1);
    if (amqp_login(state, "/", 0, 131072, 0, AMQP_SASL_METHOD_PLAIN, "guest", "guest").reply_type !=
        AMQP_RESPONSE_NORMAL)
        exit(1);
    amqp_channel_open(state, 1);
    check(state, "channel");
    return state;
}

/* How far the broker has confirmed. */
static uint64_t wait_for_confirm(amqp_connection_state_t state) {
    amqp_frame_t frame;
    do {
        amqp_maybe_release_buffers(state);
        if (amqp_simple_wait_frame(state, &frame)) exit(1);
    } while (frame.frame_type != AMQP_FRAME_METHOD || frame.payload.method.id != AMQP_BASIC_ACK_METHOD);
    return ((amqp_basic_ack_t *)frame.payload.method.decoded)->delivery_tag;
}

static void fill(amqp_connection_state_t state, const char *queue, uint64_t count) {
    char body[BODY + 1];
    uint64_t confirmed = 0;
    amqp_basic_properties_t properties = { ._flags = AMQP_BASIC_DELIVERY_MODE_FLAG, .delivery_mode = 2 };
    amqp_confirm_select(state, 1);
    check(state, "confirms");
    for (uint64_t i = 1; i <= count; i++) {
        snprintf(body, sizeof body, "%0*llu", BODY, (unsigned long long)i);
        if (amqp_basic_publish(state, 1, amqp_empty_bytes, amqp_cstring_bytes(queue), 1, 0, &properties,
                               (amqp_bytes_t){ BODY, body }))
            exit(1);
        while (i - confirmed >= FLIGHT) confirmed = wait_for_confirm(state);
    }
    while (confirmed < count) confirmed = wait_for_confirm(state);
}

/* Acks each hundredth, and all before it. */
static void read_all(amqp_connection_state_t state, const char *queue, uint64_t count) {
    amqp_basic_qos(state, 1, 0, PREFETCH, 0);
    check(state, "prefetch");
    amqp_basic_consume(state, 1, amqp_cstring_bytes(queue), amqp_empty_bytes, 0, 0, 0, amqp_empty_table);
    check(state, "queue");
    for (uint64_t i = 1; i <= count; i++) {
        amqp_envelope_t envelope;
        amqp_maybe_release_buffers(state);
        if (amqp_consume_message(state, &envelope, NULL, 0).reply_type != AMQP_RESPONSE_NORMAL) exit(1);
        if ((i % 100 == 0 || i == count) && amqp_basic_ack(state, 1, envelope.delivery_tag, 1)) exit(1);
        amqp_destroy_envelope(&envelope);
    }
}

int main(int count, char **words) {
    if (count != 5) return 2;
    amqp_connection_state_t state = open_connection(atoi(words[2]));
    (strcmp(words[1], "fill") == 0 ? fill : read_all)(state, words[3], strtoull(words[4], NULL, 10));
    amqp_connection_close(state, AMQP_REPLY_SUCCESS);
    amqp_destroy_connection(state);
    return 0;
}
