#include "cli/client.h"

#include "base/os/socket.h"
#include "base/os/time.h"
#include "base/str.h"
#include "cli/reply_head.h"
#include "cli/signals.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

enum { SLICE = 50 /* ms: so long until a signal is seen */, ATTEMPTS = 100 };

typedef struct asking {
    const char *path;
    int fd;
    int64_t until; /* 0: it may take as long as it does */
    gale_error *error;
} asking;

static int broken(const asking *a, const char *what) {
    int why = errno;
    return gale_error_set(a->error, GALE_IO, "cannot %s '%s': %s", what, a->path, strerror(why));
}

/* Without a descriptor, a while. */
static int wait_for(const asking *a, short events) {
    struct pollfd one = { .fd = a->fd, .events = events };
    do {
        if (poll(&one, 1, SLICE) > 0) return 0;
        if (gx_signals_asked()) return gale_error_set(a->error, GALE_STOPPED, "interrupted");
        if (a->until && gx_os_monotonic() > a->until)
            return gale_error_set(a->error, GALE_TIMED_OUT, "'%s' does not answer", a->path);
    } while (a->fd >= 0);
    return 0;
}

static int nobody(const asking *a) {
    if (errno != ECONNREFUSED && errno != ENOENT && errno != ENOTSOCK) return broken(a, "reach");
    return gale_error_set(a->error, GALE_NOT_FOUND, "nobody listens at '%s'", a->path);
}

/* A socket that has no room for one more who connects says so at once: then it is asked again. */
static int reach(asking *a) {
    gx_address address;
    int rc = gx_address_path(a->path, &address, a->error);
    while (rc >= 0) {
        rc = gx_socket_connect(&address, GX_SOCKET_STREAM, &a->fd);
        if (rc >= 0) return 0;
        a->fd = -1;
        if (errno != EAGAIN) return nobody(a);
        rc = wait_for(a, 0);
    }
    return rc;
}

static int send_all(const asking *a, const gx_buf *request) {
    for (size_t sent = 0; sent < request->size;) {
        int64_t taken = gx_socket_write(a->fd, request->data + sent, request->size - sent);
        if (taken == GALE_AGAIN) {
            int rc = wait_for(a, POLLOUT);
            if (rc < 0) return rc;
        } else if (taken < 0) {
            return errno == EPIPE ? 0 : broken(a, "ask"); /* it may have answered before it closed */
        } else {
            sent += (size_t)taken;
        }
    }
    return 0;
}

/* What there is, behind what was read before: how many bytes; 0: the end. */
static int64_t receive(asking *a, gx_buf *bytes) {
    for (;;) {
        if (gx_signals_asked()) return gale_error_set(a->error, GALE_STOPPED, "interrupted");
        if (!gx_buf_reserve(bytes, 65536)) return gale_error_set(a->error, GALE_NO_MEMORY, "out of memory");
        int64_t taken = gx_socket_read(a->fd, bytes->data + bytes->size, 65536);
        if (taken != GALE_AGAIN && taken < 0) return errno == ECONNRESET ? 0 : broken(a, "read from");
        if (taken >= 0) {
            bytes->size += (size_t)taken;
            return bytes->size > GX_CLIENT_MOST
                       ? gale_error_set(a->error, GALE_TOO_LARGE, "'%s' answers with more than %d bytes", a->path,
                                        GX_CLIENT_MOST)
                       : taken;
        }
        int rc = wait_for(a, POLLIN);
        if (rc < 0) return rc;
    }
}

static int receive_all(asking *a, gx_buf *bytes) {
    int64_t taken;
    while ((taken = receive(a, bytes)) > 0) a->until = gx_os_monotonic() + GX_CLIENT_PATIENCE;
    return (int)taken;
}

static int understand(const asking *a, gx_client_reply *reply) {
    gx_reply_head head;
    gale_str bytes = { reply->bytes.data, reply->bytes.size };
    int rc = gx_reply_head_read(bytes, &head);
    if (rc != 1) return gale_error_set(a->error, GALE_INVALID, "'%s' does not answer by HTTP", a->path);
    size_t size = bytes.size - head.size;
    if (head.has_length && head.length > size)
        return gale_error_set(a->error, GALE_INVALID, "the answer of '%s' is cut off", a->path);
    reply->status = head.status;
    reply->body = (gale_str){ bytes.data + head.size, head.has_length ? (size_t)head.length : size };
    return 0;
}

static void write_request(const char *method, const char *target, const char *body, gx_buf *request) {
    gx_buf_format(request, "%s %s HTTP/1.0\r\nHost: localhost\r\n", method, target);
    if (body) gx_buf_format(request, "Content-Type: application/json\r\nContent-Length: %zu\r\n", strlen(body));
    gx_buf_add_text(request, "\r\n");
    if (body) gx_buf_add_text(request, body);
}

static int ask_once(asking *a, const gx_buf *request, gx_buf *bytes) {
    a->until = gx_os_monotonic() + GX_CLIENT_PATIENCE;
    gx_buf_reset(bytes);
    int rc = reach(a);
    if (rc >= 0) rc = send_all(a, request);
    if (rc >= 0) rc = receive_all(a, bytes);
    if (a->fd >= 0) gx_socket_close(a->fd);
    a->fd = -1;
    return rc;
}

/* What was told, and not answered, may have been the end of who heard it: then nobody listens in a moment. */
static int look_again(asking *a, int otherwise) {
    int rc = 0;
    for (int i = 0; rc >= 0 && i < ATTEMPTS; i++) {
        rc = reach(a);
        if (a->fd >= 0) gx_socket_close(a->fd);
        a->fd = -1;
        if (rc >= 0) rc = wait_for(a, 0);
    }
    return rc < 0 ? rc : otherwise;
}

/* Who is about to end, or is being changed, says that it is to be asked again (503), or closes what it has not answered. */
static int ask(asking *a, const gx_buf *request, bool again, gx_client_reply *reply) {
    for (int i = 1;; i++) {
        int rc = ask_once(a, request, &reply->bytes);
        bool silent = rc >= 0 && !reply->bytes.size, last = !again || i == ATTEMPTS;
        if (rc >= 0 && (!silent || last)) rc = understand(a, reply);
        if (!again && silent) return look_again(a, rc);
        if (last || rc < 0 || (!silent && reply->status != 503)) return rc;
        rc = wait_for(a, 0);
        if (rc < 0) return rc;
    }
}

int gx_client_ask(const char *path, const char *method, const char *target, const char *body,
                  gx_client_reply *ret_reply, gale_error *error) {
    gx_buf request = GX_BUF_INIT(NULL);
    asking a = { path, -1, gx_os_monotonic() + GX_CLIENT_PATIENCE, error };
    *ret_reply = (gx_client_reply){ .bytes = GX_BUF_INIT(NULL) };
    write_request(method, target, body, &request);
    int rc = request.failed ? gale_error_set(error, GALE_NO_MEMORY, "out of memory") : 0;
    if (rc >= 0) rc = ask(&a, &request, !body, ret_reply);
    gx_buf_fini(&request);
    return rc;
}

/* --- Line by line ---------------------------------------------------------------------------------------------------- */

/* Hands on the lines that are whole, and keeps the rest. False: no more are wanted. */
static bool take_lines(gx_buf *bytes, gx_client_line *take, void *user) {
    size_t from = 0;
    bool wanted = true;
    for (const char *end; wanted && (end = memchr(bytes->data + from, '\n', bytes->size - from));) {
        gale_str line = { bytes->data + from, (size_t)(end - bytes->data) - from };
        from += line.size + 1;
        wanted = take(user, line);
    }
    bytes->size -= from;
    memmove(bytes->data, bytes->data + from, bytes->size);
    return wanted;
}

/* The head is taken off. 1: what follows are lines; 0: it is a refusal, or was read whole. */
static int receive_head(asking *a, gx_client_reply *reply, gale_error *error) {
    gx_reply_head head = { .status = 0 };
    int64_t taken = 1;
    int rc = 0;
    while (rc == 0 && taken > 0) {
        taken = receive(a, &reply->bytes);
        if (taken < 0) return (int)taken;
        rc = gx_reply_head_read((gale_str){ reply->bytes.data, reply->bytes.size }, &head);
    }
    if (rc == 1 && head.status < 400) {
        reply->status = head.status;
        reply->bytes.size -= head.size;
        memmove(reply->bytes.data, reply->bytes.data + head.size, reply->bytes.size);
        return 1;
    }
    if (rc < 0) return gale_error_set(error, GALE_INVALID, "'%s' does not answer by HTTP", a->path);
    if (!reply->bytes.size) return gale_error_set(error, GALE_STOPPED, "'%s' has gone before it answered", a->path);
    rc = receive_all(a, &reply->bytes);
    return rc < 0 ? rc : understand(a, reply);
}

static int follow(asking *a, const gx_buf *request, gx_client_line *take, void *user, gx_client_reply *reply) {
    int rc = reach(a);
    if (rc >= 0) rc = send_all(a, request);
    if (rc >= 0) rc = receive_head(a, reply, a->error);
    if (rc <= 0) return rc;
    a->until = 0;
    int64_t taken = 1;
    while (take_lines(&reply->bytes, take, user) && (taken = receive(a, &reply->bytes)) > 0) continue;
    return taken < 0 ? (int)taken : 0;
}

int gx_client_follow(const char *path, const char *target, gx_client_line *take, void *user, gx_client_reply *ret_reply,
                     gale_error *error) {
    gx_buf request = GX_BUF_INIT(NULL);
    asking a = { path, -1, gx_os_monotonic() + GX_CLIENT_PATIENCE, error };
    *ret_reply = (gx_client_reply){ .bytes = GX_BUF_INIT(NULL) };
    write_request("GET", target, NULL, &request);
    int rc = request.failed ? gale_error_set(error, GALE_NO_MEMORY, "out of memory") : 0;
    if (rc >= 0) rc = follow(&a, &request, take, user, ret_reply);
    if (a.fd >= 0) gx_socket_close(a.fd);
    gx_buf_fini(&request);
    return rc;
}

void gx_client_reply_fini(gx_client_reply *reply) {
    gx_buf_fini(&reply->bytes);
}
