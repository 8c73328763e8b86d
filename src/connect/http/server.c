#include "connect/http/server.h"

#include "connect/http/json.h"
#include "connect/http/unpack.h"
#include "head/head.h"

#include <gale/metric.h>

#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

/* A connection, as its socket context. The list is in the order in which they were made, or answered last. */
typedef struct line {
    struct line *older, *newer;
    int fd;
    int64_t since; /* when it was made, or answered last */
    bool held;
    bool admitted;       /* its head was taken, and its body comes */
    bool evicted;        /* another has its place */
    http_request *begun; /* owned: libmicrohttpd forgets it when the connection ends before its head was looked at */
} line;

struct http_server {
    http_server_options options;
    const gale_context *context;
    gale_collector *out;
    struct MHD_Daemon *daemon;
    line *oldest, *newest;
    uint32_t count, most, held, replying;
    uint32_t requests;         /* that live, also of connections that have gone */
    uint32_t looking;          /* of those held: how many libmicrohttpd calls again */
    bool called;               /* a run comes at once */
    struct MHD_Response *well; /* the last one of 200; NULL: there was none */
    uint32_t well_tuples;
    uint64_t reading;
    gale_watch watch;
    int64_t looked;
    gale_metric *connections_now, *requests_now; /* NULL: there is no memory for them */
};

struct http_request {
    http_server *server;
    struct MHD_Connection *connection;
    http_request *next;
    char *target;
    http_buffer body;
    const char *method;
    head_target place;  /* of the target as it came */
    const char *chunks; /* where a body in chunks begins that is read leniently; NULL: it is not */
    uint32_t looks;     /* how often it was looked at for its answer */
    bool begun, refused, closes, held, suspended, answered, gone;
    http_codings codings; /* of its body */
    http_reply reply;
};

void http_reply_set(http_reply *reply, unsigned status, const char *text) {
    size_t size = strnlen(text, sizeof reply->text - 1);
    reply->status = status;
    reply->tuples = 0;
    memcpy(reply->text, text, size);
    reply->text[size] = '\0';
}

static line *line_of(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static void take_out(http_server *server, line *one) {
    *(one->newer ? &one->newer->older : &server->newest) = one->older;
    *(one->older ? &one->older->newer : &server->oldest) = one->newer;
}

static void put_newest(http_server *server, line *one) {
    one->since = gale_context_now(server->context);
    one->older = server->newest;
    one->newer = NULL;
    *(one->older ? &one->older->newer : &server->oldest) = one;
    server->newest = one;
}

static void renew(http_server *server, line *one) {
    take_out(server, one);
    put_newest(server, one);
}

/* --- Answers ---------------------------------------------------------------------------------------------------------- */

static void add_headers(struct MHD_Response *response, unsigned status) {
    (void)MHD_add_response_header(response, "Content-Type", "application/json");
    if (status == 401) (void)MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
    if (status == 415) (void)MHD_add_response_header(response, "Accept-Encoding", HTTP_CODINGS);
    if (status == 405) (void)MHD_add_response_header(response, "Allow", "POST, PUT, PATCH");
    if (status == 503) (void)MHD_add_response_header(response, "Retry-After", "1");
}

/* The message may have bytes of the request in it. */
static void write_error(const char *message, http_buffer *to) {
    char text[sizeof((http_reply *)NULL)->text];
    size_t size = strlen(message);
    bool valid = gale_utf8_valid(message, size);
    for (size_t i = 0; i < size; i++) text[i] = (char)(valid || !((unsigned char)message[i] & 0x80) ? message[i] : '?');
    http_buffer_text(to, "{\"error\":");
    http_json_string(to, text, size);
    http_buffer_text(to, "}\n");
}

static struct MHD_Response *make_response(const http_reply *reply) {
    http_buffer json = { .data = NULL };
    if (reply->status < 300)
        http_buffer_format(&json, "{\"tuples\":%" PRIu32 "}\n", reply->tuples);
    else
        write_error(reply->text, &json);
    struct MHD_Response *response = NULL;
    if (!json.failed) response = MHD_create_response_from_buffer(json.size, json.data, MHD_RESPMEM_MUST_COPY);
    http_buffer_fini(&json);
    if (response) add_headers(response, reply->status);
    return response;
}

/* That all is well is said with what was said the last time, if it was of as many tuples. `alone`: it is to be changed.
 * NULL: memory is out. */
static struct MHD_Response *response_of(http_server *server, const http_reply *reply, bool alone) {
    if (reply->status != 200 || alone) return make_response(reply);
    if (!server->well || server->well_tuples != reply->tuples) {
        if (server->well) MHD_destroy_response(server->well);
        server->well = make_response(reply);
        server->well_tuples = reply->tuples;
    }
    return server->well;
}

static enum MHD_Result send_reply(http_request *request) {
    http_server *server = request->server;
    struct MHD_Response *response = response_of(server, &request->reply, request->closes);
    if (!response) return MHD_NO;
    if (request->closes) (void)MHD_add_response_header(response, "Connection", "close");
    enum MHD_Result result = MHD_queue_response(request->connection, request->reply.status, response);
    if (response != server->well) MHD_destroy_response(response);
    return result;
}

static void drop_body(http_request *request) {
    request->server->reading -= request->body.capacity;
    http_buffer_fini(&request->body);
}

static void free_request(http_request *request) {
    request->server->requests--;
    drop_body(request);
    free(request->target);
    free(request);
}

static void send_again(http_request *request) {
    http_server *server = request->server;
    int64_t now = gale_context_now(server->context);
    line *own = line_of(request->connection);
    request->answered = true;
    server->replying++;
    if (own) own->held = false;
    if (own) renew(server, own);
    if (request->suspended)
        MHD_resume_connection(request->connection);
    else
        server->looking--;
    /* Without a thread of its own nothing wakes it for that. */
    if (!server->called) (void)gale_watch_set(server->out, server->watch, GALE_WATCH_READ, now);
    server->called = true;
}

void http_server_answer(http_request *request, const http_reply *reply) {
    request->server->held--;
    request->reply = *reply;
    if (request->gone)
        free_request(request);
    else
        send_again(request);
}

/* Most answers are there a few turns of the executor later. To suspend a connection takes four calls of the system: out of the set, a bell, the bell's end, into
 * the set again; to be called for it in the next turn takes none. */
enum { LOOKS = 16 };

static void hold(http_request *request) {
    line *own = line_of(request->connection);
    request->held = true;
    if (own) own->held = true;
    request->server->held++;
    request->server->looking++;
}

/* Its answer is not there yet. */
static void look_again(http_request *request) {
    if (request->suspended || ++request->looks < LOOKS) return;
    request->suspended = true;
    request->server->looking--;
    MHD_suspend_connection(request->connection);
}

bool http_server_is_full(const http_server *server) {
    return server->held >= server->options.held_max;
}

uint64_t http_server_reading(const http_server *server) {
    return server->reading;
}

/* --- Bodies ----------------------------------------------------------------------------------------------------------- */

static void refuse(http_request *request, unsigned status, const char *text) {
    drop_body(request);
    request->refused = true;
    http_reply_set(&request->reply, status, text);
}

static void refuse_size(http_request *request) {
    char text[GALE_FAILURE_TEXT];
    snprintf(text, sizeof text, "the body is too large: %zu bytes at the most", request->server->options.body_max);
    refuse(request, 413, text);
}

static bool grow(http_buffer *body, http_server *server, size_t size) {
    if (size <= body->capacity) return true;
    size_t capacity = body->capacity ? 2 * body->capacity : 4096;
    if (capacity < size) capacity = size;
    uint64_t used = server->options.busy(server->options.user) + server->reading;
    char *data = used + capacity <= server->options.memory ? realloc(body->data, capacity) : NULL;
    if (!data) return false;
    server->reading += capacity - body->capacity;
    body->data = data;
    body->capacity = capacity;
    return true;
}

/* What follows on this connection may be meant otherwise than it is read. */
static void refuse_reading(http_request *request, unsigned status, const char *why) {
    char text[GALE_FAILURE_TEXT];
    snprintf(text, sizeof text, "the request %s", why);
    refuse(request, status, text);
    request->closes = true;
}

static void take_body(http_request *request, const char *data, size_t size) {
    http_buffer *body = &request->body;
    const char *why = request->chunks ? head_chunk(request->chunks, data) : NULL;
    if (request->refused) return;
    if (why) {
        refuse_reading(request, 400, why);
    } else if (size > request->server->options.body_max - body->size) {
        refuse_size(request);
    } else if (!grow(body, request->server, body->size + size)) {
        refuse(request, 503, "there is no memory for the body: too much waits already");
    } else {
        memcpy(body->data + body->size, data, size);
        body->size += size;
    }
}

static void refuse_packed(http_request *request, int rc, bool memory) {
    if (rc == GALE_DAMAGED)
        refuse(request, 400, "the body is not what its Content-Encoding says, or it is cut off");
    else if (rc == GALE_TOO_LARGE && !memory)
        refuse_size(request);
    else
        refuse(request, 503, "there is no memory for the body: too much waits already");
}

/* False: it is refused. */
static bool unpack(http_request *request) {
    http_server *server = request->server;
    uint64_t used = server->options.busy(server->options.user) + server->reading;
    uint64_t left = server->options.memory > used ? server->options.memory - used : 0;
    size_t most = server->options.body_max, packed = request->body.capacity;
    bool memory = left < most;
    int rc = http_unpack_body(&request->codings, memory ? (size_t)left : most, &request->body);
    server->reading += request->body.capacity;
    server->reading -= packed;
    if (rc < 0) refuse_packed(request, rc, memory);
    return rc == 0;
}

/* --- Requests --------------------------------------------------------------------------------------------------------- */

/* Called with the target as it came. Until the connection goes or libmicrohttpd says that the request has ended,
 * which it does only behind the first call of `handle`, the connection owns it. */
static void *begin(void *user, const char *uri, struct MHD_Connection *connection) {
    http_server *server = user;
    line *own = line_of(connection);
    http_request *request = own && !own->begun ? calloc(1, sizeof *request) : NULL;
    if (!request) return NULL;
    request->server = server;
    request->connection = connection;
    request->place = head_look_at_target(uri);
    request->target = strdup(uri ? uri : "");
    server->requests++;
    own->begun = request;
    if (request->target) return request;
    own->begun = NULL;
    free_request(request);
    return NULL;
}

typedef struct walk {
    http_header_fn *each;
    void *user;
} walk;

static enum MHD_Result tell_header(void *user, enum MHD_ValueKind kind, const char *name, const char *value) {
    const walk *w = user;
    (void)kind;
    w->each(w->user, name, value ? value : name + strlen(name));
    return MHD_YES;
}

static void walk_headers(const http_request *request, enum MHD_ValueKind kind, http_header_fn *each, void *user) {
    walk w = { each, user };
    (void)MHD_get_connection_values(request->connection, kind, tell_header, &w);
}

/* How much is to come; UINT64_MAX where the head does not say, and 0 where it says that nothing is. */
static uint64_t length_of(const http_request *request) {
    const char *length = http_request_header(request, "Content-Length");
    if (length) return strtoull(length, NULL, 10);
    return http_request_header(request, "Transfer-Encoding") ? UINT64_MAX : 0;
}

static enum MHD_Result take_coding(void *user, enum MHD_ValueKind kind, const char *name, const char *value) {
    http_request *request = user;
    char why[GALE_FAILURE_TEXT];
    (void)kind;
    if (request->refused || !value || strcasecmp(name, "Content-Encoding") != 0) return MHD_YES;
    if (http_codings_add(&request->codings, value, why, sizeof why) < 0) refuse(request, 415, why);
    return MHD_YES;
}

/* A body that cannot be read as it was packed is refused before it comes. */
static void look_at_codings(http_request *request) {
    (void)MHD_get_connection_values(request->connection, MHD_HEADER_KIND, take_coding, request);
}

static void look_at_line(void *user, const char *name, const char *value) {
    head_line(user, name, value);
}

/* Can it be read in one way only? */
static head_check check_head(const http_request *request, const char *method, const char *protocol) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(request->connection,
                                                                   MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    head_check check;
    head_begin(&check, method, &request->place, protocol, head_is_read_in_place(MHD_get_version()));
    http_request_headers(request, look_at_line, &check);
    (void)head_end(&check, info ? info->header_size : 0);
    return check;
}

static enum MHD_Result look_at_head(http_request *request, const char *method, const char *protocol) {
    const http_server_options *options = &request->server->options;
    const head_check check = check_head(request, method, protocol);
    uint64_t length = length_of(request);
    http_reply reply;
    request->begun = true;
    request->method = method;
    if (check.why) {
        refuse_reading(request, check.too_large ? 431 : 400, check.why);
        return send_reply(request);
    }
    request->chunks = head_chunks(&check);
    request->closes = request->chunks;
    if (!options->check(options->user, request, &reply)) {
        request->reply = reply;
        request->refused = true;
    } else if (length != UINT64_MAX && length > options->body_max) {
        refuse_size(request);
    } else {
        look_at_codings(request);
    }
    line *own = line_of(request->connection);
    if (own) own->admitted = !request->refused;
    bool at_once = request->refused && length > HTTP_DRAINED;
    return at_once ? send_reply(request) : MHD_YES;
}

static void look_at_trailer(http_request *request) {
    head_check check;
    if (!request->chunks) return;
    head_begin_trailer(&check, request->chunks);
    walk_headers(request, MHD_FOOTER_KIND, look_at_line, &check);
    if (check.why) refuse_reading(request, 400, check.why);
}

static enum MHD_Result serve(http_request *request) {
    const http_server_options *options = &request->server->options;
    http_reply reply;
    if (request->answered || request->refused) return send_reply(request);
    if (request->held) {
        look_again(request);
        return MHD_YES;
    }
    look_at_trailer(request);
    if (request->refused) return send_reply(request);
    if (!unpack(request)) return send_reply(request);
    bool held = options->take(options->user, request, &reply);
    drop_body(request);
    if (held) {
        hold(request);
        return MHD_YES;
    }
    request->reply = reply;
    return send_reply(request);
}

static enum MHD_Result handle(void *user, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *data, size_t *data_size, void **own) {
    http_request *request = *own;
    (void)user, (void)connection, (void)url;
    if (!request) return MHD_NO; /* no memory: the connection is closed */
    if (!request->begun) return look_at_head(request, method, version);
    if (!*data_size) return serve(request);
    take_body(request, data, *data_size);
    *data_size = 0;
    return MHD_YES;
}

static void end(void *user, struct MHD_Connection *connection, void **own, enum MHD_RequestTerminationCode code) {
    http_server *server = user;
    http_request *request = *own;
    line *own_line = line_of(connection);
    (void)code;
    if (own_line) own_line->begun = NULL, own_line->admitted = false;
    if (own_line) renew(server, own_line);
    if (!request) return;
    *own = NULL;
    drop_body(request);
    if (request->held && !request->answered) {
        request->gone = true; /* who holds it answers it still */
        if (!request->suspended) server->looking--;
        return;
    }
    if (request->answered) server->replying--;
    free_request(request);
}

const char *http_request_method(const http_request *request) {
    return request->method;
}

gale_str http_request_target(const http_request *request) {
    return (gale_str){ request->target, strlen(request->target) };
}

gale_str http_request_body(const http_request *request) {
    return (gale_str){ request->body.data ? request->body.data : "", request->body.size };
}

const char *http_request_header(const http_request *request, const char *name) {
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

void http_request_headers(const http_request *request, http_header_fn *each, void *user) {
    walk_headers(request, MHD_HEADER_KIND, each, user);
}

void http_request_remote(const http_request *request, char *to, size_t room) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(request->connection,
                                                                   MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *address = info ? info->client_addr : NULL;
    socklen_t size = address && address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                                               : sizeof(struct sockaddr_in);
    *to = '\0';
    if (address && getnameinfo(address, size, to, (socklen_t)room, NULL, 0, NI_NUMERICHOST) != 0) *to = '\0';
}

http_request *http_request_next(const http_request *request) {
    return request->next;
}

void http_request_put_before(http_request *request, http_request *next) {
    request->next = next;
}

/* --- Connections ------------------------------------------------------------------------------------------------------ */

/* Who has not asked yet goes first, then who still sends a body. So a crowd of half heads keeps nobody out for longer
 * than a head takes to come. */
static line *oldest(const http_server *server, bool admitted) {
    line *one = server->oldest;
    while (one && (one->held || one->evicted || one->fd < 0 || one->admitted != admitted)) one = one->newer;
    return one;
}

static void make_room(const http_server *server) {
    line *one = oldest(server, false);
    if (!one) one = oldest(server, true);
    if (!one) return;
    one->evicted = true;
    (void)shutdown(one->fd, SHUT_RDWR);
}

static void come(http_server *server, struct MHD_Connection *connection, void **context) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    line *own = calloc(1, sizeof *own);
    *context = own;
    if (server->count >= server->most) make_room(server);
    server->count++;
    if (!own) return; /* libmicrohttpd's own timeout has it still */
    *own = (line){ .fd = info ? info->connect_fd : -1 };
    put_newest(server, own);
}

static void go(http_server *server, void **context) {
    line *own = *context;
    server->count--;
    *context = NULL;
    if (!own) return;
    if (own->begun) free_request(own->begun);
    take_out(server, own);
    free(own);
}

static void notice(void *user, struct MHD_Connection *connection, void **context,
                   enum MHD_ConnectionNotificationCode code) {
    http_server *server = user;
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        come(server, connection, context);
    else
        go(server, context);
}

/* libmicrohttpd's epoll is edge-triggered, and forgets an end that came with the bytes before it. */
static bool has_ended(int fd) {
    char byte;
    return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* Who waits for an answer has time. */
static void sweep(const http_server *server) {
    int64_t now = gale_context_now(server->context), bound = server->options.timeout;
    for (const line *one = server->oldest; one; one = one->newer)
        if (!one->held && one->fd >= 0 && (now - one->since > bound || has_ended(one->fd)))
            (void)shutdown(one->fd, SHUT_RDWR);
}

/* --- Running ---------------------------------------------------------------------------------------------------------- */

enum { ROUNDS = 16 };

/* Once a second, while there is anything that may be over. */
static bool look_around(http_server *server, int64_t now) {
    if (now - server->looked < GALE_SECOND) return true;
    server->looked = now;
    sweep(server);
    return server->options.tick(server->options.user) || server->count;
}

/* All that can be done at once, but not for ever; then it waits for its descriptors, and for its next time: at once where requests are looked at, as their answers
 * come between two runs. Where connections were too many it listens again in the run behind the one that has closed some. */
static int run(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    http_server *server = user;
    MHD_UNSIGNED_LONG_LONG wait = 0;
    enum MHD_Result timed = MHD_YES;
    uint32_t before = server->count;
    (void)events;
    server->called = false;
    for (int i = 0; i < ROUNDS && timed == MHD_YES && wait == 0; i++) {
        if (MHD_run(server->daemon) != MHD_YES) return GALE_IO;
        timed = MHD_get_timeout(server->daemon, &wait);
        if (server->looking) break;
    }
    int64_t now = gale_context_now(server->context);
    (void)gale_metric_note(server->connections_now, server->count);
    (void)gale_metric_note(server->requests_now, server->requests);
    bool again = look_around(server, now) || before || server->count;
    int64_t soon = timed == MHD_YES && wait < 1000 ? (int64_t)wait * GALE_MILLISECOND : GALE_SECOND;
    return gale_watch_set(out, watch, GALE_WATCH_READ, again ? now + soon : 0);
}

static int watch(http_server *server, gale_error *error) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    options.always = true;
    options.user = server;
    options.fd = info ? info->epoll_fd : -1;
    options.events = GALE_WATCH_READ;
    options.call = run;
    int rc = info ? gale_watch_new(server->out, &options, &server->watch) : GALE_UNSUPPORTED;
    return rc < 0 ? gale_error_set(error, rc, "http: its connections cannot be watched: %s", gale_error_text(rc)) : 0;
}

static gale_metric *gauge(gale_collector *out, const char *name, const char *help) {
    gale_metric_options options = GALE_METRIC_OPTIONS_INIT;
    gale_metric *metric;
    options.name = name;
    options.kind = GALE_METRIC_GAUGE;
    options.help = help;
    return gale_metric_new(out, &options, &metric) < 0 ? NULL : metric;
}

/* --- Listening -------------------------------------------------------------------------------------------------------- */

static int listen_at(const struct addrinfo *where, const char *name, gale_error *error) {
    int on = 1, fd = socket(where->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return gale_error_set(error, GALE_IO, "listen: %s: %s", name, strerror(errno));
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, where->ai_addr, where->ai_addrlen) == 0 && listen(fd, SOMAXCONN) == 0) return fd;
    int rc = gale_error_set(error, GALE_IO, "listen: %s: %s", name, strerror(errno));
    close(fd);
    return rc;
}

/* "127.0.0.1:8080", with the port that the system chose. */
static void name_of(int fd, char *to, size_t size) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    char host[64] = "", port[8] = "";
    if (getsockname(fd, (struct sockaddr *)&address, &length) == 0)
        (void)getnameinfo((struct sockaddr *)&address, length, host, sizeof host, port, sizeof port,
                          NI_NUMERICHOST | NI_NUMERICSERV);
    snprintf(to, size, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

static int open_listener(const http_address *address, gale_error *error) {
    struct addrinfo *found, hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE };
    char port[8], name[HTTP_HOST_MAX + 16];
    snprintf(port, sizeof port, "%u", address->port);
    snprintf(name, sizeof name, "%s:%u", address->host, address->port);
    int rc = getaddrinfo(*address->host ? address->host : NULL, port, &hints, &found);
    if (rc != 0) return gale_error_set(error, GALE_IO, "listen: %s: %s", name, gai_strerror(rc));
    rc = listen_at(found, name, error);
    freeaddrinfo(found);
    return rc;
}

GALE_PRINTF(2, 0) static void say(void *user, const char *format, va_list arguments) {
    const http_server *server = user;
    char text[400];
    vsnprintf(text, sizeof text, format, arguments);
    text[strcspn(text, "\n")] = '\0';
    gale_log(server->context->logger, GALE_LOG_DEBUG, server->context->component, "http: %s", text);
}

static struct MHD_Daemon *start(http_server *server, int fd) {
    const http_server_options *given = &server->options;
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
    if (given->certificate) flags |= MHD_USE_TLS;
    unsigned seconds = (unsigned)(given->timeout / GALE_SECOND) + 1;
    struct MHD_OptionItem tls[] = {
        { given->certificate ? MHD_OPTION_HTTPS_MEM_CERT : MHD_OPTION_END, 0, (void *)(uintptr_t)given->certificate },
        { given->certificate ? MHD_OPTION_HTTPS_MEM_KEY : MHD_OPTION_END, 0, (void *)(uintptr_t)given->key },
        { MHD_OPTION_END, 0, NULL },
    };
    return MHD_start_daemon(flags, 0, NULL, NULL, handle, server, MHD_OPTION_EXTERNAL_LOGGER, say, server,
                            MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
                            (unsigned)server->most + HTTP_SPARE_CONNECTIONS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                            (size_t)HTTP_CONNECTION_MEMORY, MHD_OPTION_CONNECTION_TIMEOUT, seconds,
                            MHD_OPTION_URI_LOG_CALLBACK, begin, server, MHD_OPTION_NOTIFY_COMPLETED, end, server,
                            MHD_OPTION_NOTIFY_CONNECTION, notice, server, MHD_OPTION_STRICT_FOR_CLIENT, 1,
                            MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
}

static int open_daemon(http_server *server, gale_error *error) {
    const http_server_options *given = &server->options;
    char name[96];
    if (given->certificate && MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES)
        return gale_error_set(error, GALE_UNSUPPORTED, "certificate: this machine's libmicrohttpd has no TLS");
    int fd = open_listener(given->address, error);
    if (fd < 0) return fd;
    name_of(fd, name, sizeof name);
    server->daemon = start(server, fd);
    if (!server->daemon && given->certificate)
        return gale_error_set(error, GALE_INVALID,
                              "certificate: it is not taken with its key: are they PEM, and of each other?");
    if (!server->daemon) return gale_error_set(error, GALE_IO, "http: libmicrohttpd does not start");
    gale_log(server->context->logger, GALE_LOG_INFO, server->context->component, "listens at %s", name);
    return 0;
}

int http_server_new(const http_server_options *options, const gale_context *context, gale_collector *out,
                    http_server **ret_server, gale_error *error) {
    http_server *server = calloc(1, sizeof *server);
    if (!server) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    server->options = *options;
    server->context = context;
    server->out = out;
    server->most = options->held_max + HTTP_IDLE_CONNECTIONS;
    server->connections_now = gauge(out, "http_connections", "Connections that are open");
    server->requests_now = gauge(out, "http_requests", "Requests that are being read, or wait for their answers");
    int rc = open_daemon(server, error);
    if (rc == 0) rc = watch(server, error);
    if (rc < 0) {
        http_server_free(server);
        return rc;
    }
    *ret_server = server;
    return 0;
}

void http_server_free(http_server *server) {
    if (!server) return;
    for (int i = 0; server->daemon && i < 64 * ROUNDS && server->replying; i++) (void)MHD_run(server->daemon);
    if (server->watch) (void)gale_watch_free(server->out, server->watch);
    if (server->daemon) MHD_stop_daemon(server->daemon);
    if (server->well) MHD_destroy_response(server->well);
    free(server);
}
