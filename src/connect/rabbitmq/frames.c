#include "connect/rabbitmq/frames.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

enum { HEAD = 7, TAIL = 1, END = 0xCE, CLASS_HEAD = 12 };

void rmq_frames_drop(rmq_frames *f) {
    f->used = 0;
}

void rmq_frames_free(rmq_frames *f) {
    free(f->data);
    *f = (rmq_frames){ .data = NULL };
}

/* --- In --------------------------------------------------------------------------------------------------------------- */

static void write_number(char *to, uint64_t number, size_t size) {
    for (size_t i = 0; i < size; i++) to[i] = (char)(unsigned char)(number >> 8 * (size - 1 - i));
}

/* What a frame that begins at `at` has room for, behind what it has `before`. */
static amqp_bytes_t room_at(const rmq_frames *f, size_t at, size_t before) {
    size_t most = RMQ_FRAMES_SIZE - at, whole = f->largest < most ? f->largest : most, taken = HEAD + before + TAIL;
    return whole > taken ? (amqp_bytes_t){ whole - taken, f->data + at + HEAD + before } : amqp_empty_bytes;
}

/* Around what lies there already: where the next one begins. */
static size_t close_frame(rmq_frames *f, size_t at, int type, amqp_channel_t channel, size_t size) {
    char *frame = f->data + at;
    frame[0] = (char)type;
    write_number(frame + 1, channel, 2);
    write_number(frame + 3, size, 4);
    frame[HEAD + size] = (char)END;
    return at + HEAD + size + TAIL;
}

/* 0: there is no room. */
static size_t add_method(rmq_frames *f, size_t at, amqp_channel_t channel, amqp_basic_publish_t *method) {
    amqp_bytes_t room = room_at(f, at, 4);
    int size = room.len ? amqp_encode_method(AMQP_BASIC_PUBLISH_METHOD, method, room) : -1;
    if (size < 0) return 0;
    write_number(f->data + at + HEAD, AMQP_BASIC_PUBLISH_METHOD, 4);
    return close_frame(f, at, AMQP_FRAME_METHOD, channel, 4 + (size_t)size);
}

static size_t add_header(rmq_frames *f, size_t at, amqp_channel_t channel, amqp_basic_properties_t *properties,
                         size_t body) {
    amqp_bytes_t room = room_at(f, at, CLASS_HEAD);
    int size = room.len ? amqp_encode_properties(AMQP_BASIC_CLASS, properties, room) : -1;
    if (size < 0) return 0;
    write_number(f->data + at + HEAD, AMQP_BASIC_CLASS, 2);
    write_number(f->data + at + HEAD + 2, 0, 2);
    write_number(f->data + at + HEAD + 4, body, 8);
    return close_frame(f, at, AMQP_FRAME_HEADER, channel, CLASS_HEAD + (size_t)size);
}

/* A body of nothing has no frame. */
static size_t add_body(rmq_frames *f, size_t at, amqp_channel_t channel, amqp_bytes_t body) {
    amqp_bytes_t room = room_at(f, at, 0);
    if (!body.len) return at;
    if (room.len < body.len) return 0;
    memcpy(room.bytes, body.bytes, body.len);
    return close_frame(f, at, AMQP_FRAME_BODY, channel, body.len);
}

bool rmq_frames_add(rmq_frames *f, amqp_channel_t channel, amqp_basic_publish_t *method,
                    amqp_basic_properties_t *properties, amqp_bytes_t body) {
    if (!f->data) f->data = malloc(RMQ_FRAMES_SIZE);
    if (!f->data) return false;
    size_t at = add_method(f, f->used, channel, method);
    if (at) at = add_header(f, at, channel, properties, body.len);
    if (at) at = add_body(f, at, channel, body);
    if (at) f->used = at;
    return at != 0;
}

/* --- Out -------------------------------------------------------------------------------------------------------------- */

static int readable(int socket) {
    int bytes = 0;
    return ioctl(socket, FIONREAD, &bytes) == 0 ? bytes : 0;
}

/* A broker that takes nothing, as where its memory is full, still gives signs of life: they wait to be read. */
static int wait_for_room(int socket, int silence_ms) {
    struct pollfd one = { .fd = socket, .events = POLLOUT };
    int before = readable(socket);
    for (;;) {
        int rc = poll(&one, 1, silence_ms ? silence_ms : -1);
        if (rc > 0) return AMQP_STATUS_OK;
        if (rc < 0 && errno != EINTR) return AMQP_STATUS_SOCKET_ERROR;
        int now = readable(socket);
        if (rc == 0 && now == before) return AMQP_STATUS_HEARTBEAT_TIMEOUT;
        before = now;
    }
}

int rmq_frames_write(rmq_frames *f, int socket, int silence_ms) {
    size_t at = 0;
    int rc = AMQP_STATUS_OK;
    while (rc == AMQP_STATUS_OK && at < f->used) {
        ssize_t sent = send(socket, f->data + at, f->used - at, MSG_NOSIGNAL);
        if (sent >= 0)
            at += (size_t)sent;
        else if (errno == EAGAIN)
            rc = wait_for_room(socket, silence_ms);
        else if (errno != EINTR)
            rc = AMQP_STATUS_SOCKET_ERROR;
    }
    rmq_frames_drop(f);
    return rc;
}
