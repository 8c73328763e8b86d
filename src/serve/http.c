#include "serve/http.h"

#include "base/os/thread.h"
#include "base/os/time.h"
#include "head/head.h"
#include "serve/mhd.h"

#include <gale/clock.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FLOW_BLOCK = 16384 };

/* A connection, as its socket context. */
typedef struct line {
    struct gx_http *http; /* NULL: nobody's */
    int fd;
    int64_t since;          /* when it was made, or answered last */
    bool admitted;          /* its head has come, and is of who may ask */
    bool answering;         /* its request has come whole */
    bool flows;             /* its answer has no end */
    bool evicted;           /* another has its place */
    gx_http_request *begun; /* owned: libmicrohttpd forgets it when the connection ends before its head was looked at */
} line;

struct gx_http {
    const gx_mhd *mhd;
    struct MHD_Daemon *daemon;
    gx_http_admits_fn *admits;
    gx_http_fn *serve;
    void *user;
    gale_logger logger;
    gx_monitor monitor; /* of what follows: libmicrohttpd's thread, and who sweeps */
    line lines[GX_HTTP_CONNECTIONS + GX_HTTP_SPARE];
    gx_http_live live;
};

struct gx_http_request {
    gx_http *http;
    struct MHD_Connection *connection;
    const char *method;
    head_target place;   /* of the target as it came */
    const char *refusal; /* why the target cannot be read */
    const char *chunks;  /* where a body in chunks begins that is read leniently; NULL: it is not */
    const char *misread; /* why its body can be read in two ways */
    bool closes, begun, admitted, held, answered, too_large, flows;
    size_t answer_size; /* part of http->live.unread */
    gx_buf body;
    gx_http_reply reply;
    gx_target target;
};

/* --- What everybody is told ---------------------------------------------------------------------------------------- */

/* Nothing but what this program itself brought may run, load, be framed or be sent anywhere. */
static const char *const headers[][2] = {
    { "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
      "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'" },
    { "X-Content-Type-Options", "nosniff" },
    { "X-Frame-Options", "DENY" },
    { "Referrer-Policy", "no-referrer" },
    { "Cross-Origin-Opener-Policy", "same-origin" },
    { "Cross-Origin-Resource-Policy", "same-origin" },
};

static void add_headers(const gx_http *http, struct MHD_Response *response, const gx_http_reply *reply) {
    const struct {
        const char *name, *value;
    } own[] = { { "Content-Type", reply->type ? reply->type : "text/plain; charset=utf-8" },
                { "Cache-Control", reply->lasts ? "private, max-age=3600" : "no-store" },
                { "Location", reply->location },
                { "Allow", reply->allow },
                { "Set-Cookie", *reply->cookie ? reply->cookie : NULL },
                { "WWW-Authenticate", reply->status == 401 ? "Bearer" : NULL } };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        http->mhd->add_response_header(response, headers[i][0], headers[i][1]);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (own[i].value) http->mhd->add_response_header(response, own[i].name, own[i].value);
}

/* --- Answers ------------------------------------------------------------------------------------------------------- */

/* Takes `size` of what may wait to be read. */
static bool take_room(gx_http_request *request, size_t size) {
    gx_http *http = request->http;
    gx_monitor_lock(&http->monitor);
    bool fits = size <= GX_HTTP_ANSWERS - http->live.unread;
    if (fits) http->live.unread += size;
    gx_monitor_unlock(&http->monitor);
    if (fits) request->answer_size = size;
    return fits;
}

static enum MHD_Result queue(gx_http_request *request, const gx_http_reply *reply, char *bytes, size_t size,
                             enum MHD_ResponseMemoryMode mode) {
    const gx_mhd *mhd = request->http->mhd;
    struct MHD_Response *response = mhd->create_response_from_buffer(size, bytes, mode);
    if (!response) {
        if (mode == MHD_RESPMEM_MUST_FREE) free(bytes);
        return MHD_NO;
    }
    add_headers(request->http, response, reply);
    if (request->closes) request->http->mhd->add_response_header(response, "Connection", "close");
    enum MHD_Result result = mhd->queue_response(request->connection, reply->status, response);
    mhd->destroy_response(response);
    return result;
}

static enum MHD_Result refuse(gx_http_request *request, unsigned status, const char *sentence) {
    char text[200];
    int size = snprintf(text, sizeof text, "{\"error\":\"%s\"}\n", sentence);
    const gx_http_reply reply = { .status = status, .type = "application/json" };
    return queue(request, &reply, text, (size_t)size, MHD_RESPMEM_MUST_COPY);
}

/* --- Answers without an end -------------------------------------------------------------------------------------------- */

static void suspend(void *user) {
    const gx_http_request *request = user;
    request->http->mhd->suspend_connection(request->connection);
}

static void resume(void *user) {
    const gx_http_request *request = user;
    request->http->mhd->resume_connection(request->connection);
}

static ssize_t read_flow(void *user, uint64_t position, char *to, size_t room) {
    const gx_http_request *request = user;
    int64_t size = gx_outflow_take(request->reply.flow, to, room);
    (void)position;
    return size < 0 ? MHD_CONTENT_READER_END_OF_STREAM : (ssize_t)size;
}

static line *line_of(gx_http *http, struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = http->mhd->get_connection_info(connection,
                                                                          MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/* From here on time runs only while there is something to read. */
static void begin_flow(gx_http_request *request) {
    gx_http *http = request->http;
    line *own = line_of(http, request->connection);
    const gx_outflow_sleep sleep = { suspend, resume, request };
    gx_outflow_begin(request->reply.flow, &sleep);
    http->mhd->set_connection_option(request->connection, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned)GX_HTTP_PATIENCE);
    gx_monitor_lock(&http->monitor);
    http->live.streams++;
    if (own) own->flows = true;
    gx_monitor_unlock(&http->monitor);
    request->flows = true;
}

static enum MHD_Result send_flow(gx_http_request *request) {
    const gx_mhd *mhd = request->http->mhd;
    struct MHD_Response *response = mhd->create_response_from_callback(MHD_SIZE_UNKNOWN, FLOW_BLOCK, read_flow, request,
                                                                       NULL);
    if (!response) return MHD_NO;
    begin_flow(request);
    add_headers(request->http, response, &request->reply);
    mhd->add_response_header(response, "Connection", "close");
    enum MHD_Result result = mhd->queue_response(request->connection, request->reply.status, response);
    mhd->destroy_response(response);
    return result;
}

/* --- Answering --------------------------------------------------------------------------------------------------------- */

static enum MHD_Result send_reply(gx_http_request *request) {
    gx_http_reply *reply = &request->reply;
    if (reply->flow) return send_flow(request);
    if (reply->body.failed || !take_room(request, reply->body.size))
        return refuse(request, 503, "there is no memory for the answer: too many are not read");
    char *bytes = reply->body.data;
    size_t size = reply->body.size;
    reply->body = (gx_buf)GX_BUF_INIT(NULL); /* the response frees it */
    return queue(request, reply, bytes, size, bytes ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
}

void gx_http_hold(gx_http_request *request) {
    request->held = true;
    request->http->mhd->suspend_connection(request->connection);
}

void gx_http_answer(gx_http_request *request, gx_http_reply *reply) {
    request->reply = *reply;
    request->answered = true;
    request->http->mhd->resume_connection(request->connection);
}

/* How far the connection's request has come: who is to make room for others is found by it. */
static void set_stage(gx_http_request *request, bool answering) {
    line *own = line_of(request->http, request->connection);
    gx_monitor_lock(&request->http->monitor);
    if (own) own->admitted = request->admitted, own->answering = answering;
    gx_monitor_unlock(&request->http->monitor);
}

/* What follows on this connection may be meant otherwise than it is read. */
static enum MHD_Result refuse_reading(gx_http_request *request, unsigned status, const char *why) {
    char text[100];
    snprintf(text, sizeof text, "the request %s", why);
    request->closes = true;
    return refuse(request, status, text);
}

static enum MHD_Result look_at_line(void *user, enum MHD_ValueKind kind, const char *name, const char *value) {
    (void)kind;
    head_line(user, name, value);
    return MHD_YES;
}

static void look_at_trailer(gx_http_request *request) {
    head_check check;
    if (!request->chunks) return;
    head_begin_trailer(&check, request->chunks);
    (void)request->http->mhd->get_connection_values(request->connection, MHD_FOOTER_KIND, look_at_line, &check);
    if (!request->misread) request->misread = check.why;
}

static enum MHD_Result serve(gx_http_request *request) {
    gx_http *http = request->http;
    if (request->answered) return send_reply(request);
    if (request->held) return MHD_YES;
    look_at_trailer(request);
    if (request->misread) return refuse_reading(request, 400, request->misread);
    set_stage(request, true);
    if (request->too_large) return refuse(request, 413, "the body is too large: 64 KiB at the most");
    gx_http_reply reply = { .status = 200, .body = GX_BUF_INIT(NULL) };
    if (!http->serve(http->user, request, &reply)) return MHD_YES;
    request->reply = reply;
    return send_reply(request);
}

/* --- Requests ------------------------------------------------------------------------------------------------------ */

/* Called with the target as it came, before it is taken to pieces. Until the connection goes or libmicrohttpd says
 * that the request has ended, which it does only behind the first call of `handle`, the connection owns it. */
static void *begin(void *user, const char *uri, struct MHD_Connection *connection) {
    gx_http *http = user;
    line *own = line_of(http, connection);
    gx_http_request *request = own && !own->begun ? calloc(1, sizeof *request) : NULL;
    if (!request) return NULL;
    request->http = http;
    request->connection = connection;
    request->place = head_look_at_target(uri);
    if (!gx_target_read(gx_str(uri), &request->target, &request->refusal)) request->target.segment_count = 0;
    gx_monitor_lock(&http->monitor);
    own->begun = request;
    http->live.requests++;
    gx_monitor_unlock(&http->monitor);
    return request;
}

/* With the lock held. Who waits for the end of all streams is woken. */
static void free_request(gx_http *http, line *own) {
    gx_http_request *request = own->begun;
    if (!request) return;
    own->begun = NULL;
    http->live.requests--;
    http->live.unread -= request->answer_size;
    if (request->flows) http->live.streams--;
    gx_monitor_notify(&http->monitor);
    gx_buf_fini(&request->body);
    gx_buf_fini(&request->reply.body);
    free(request);
}

static enum MHD_Result refuse_target(gx_http_request *request) {
    char text[100];
    snprintf(text, sizeof text, "what is asked for %s", request->refusal);
    return refuse(request, 400, text);
}

/* Can it be read in one way only? */
static head_check check_head(const gx_http_request *request, const char *method, const char *protocol) {
    const gx_mhd *mhd = request->http->mhd;
    const union MHD_ConnectionInfo *info = mhd->get_connection_info(request->connection,
                                                                    MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    head_check check;
    head_begin(&check, method, &request->place, protocol, head_is_read_in_place(mhd->get_version()));
    (void)mhd->get_connection_values(request->connection, MHD_HEADER_KIND, look_at_line, &check);
    (void)head_end(&check, info ? info->header_size : 0);
    return check;
}

static enum MHD_Result look_at_head(gx_http_request *request, const char *method, const char *protocol) {
    uint64_t length;
    gale_str text = gx_http_header(request, "Content-Length");
    const head_check check = check_head(request, method, protocol);
    request->begun = true;
    request->method = method;
    if (check.why) return refuse_reading(request, check.too_large ? 431 : 400, check.why);
    request->chunks = head_chunks(&check);
    request->closes = request->chunks;
    if (request->refusal) return refuse_target(request);
    request->admitted = request->http->admits(request->http->user, request);
    set_stage(request, false);
    if (text.data && gx_str_number(text, 10, UINT64_MAX, &length) && length > GX_HTTP_BODY)
        return refuse(request, 413, "the body is too large: 64 KiB at the most");
    return MHD_YES;
}

/* Of who is not admitted it is thrown away: the request is refused when it has come whole. */
static void take_body(gx_http_request *request, const char *data, size_t size) {
    if (request->chunks && !request->misread) request->misread = head_chunk(request->chunks, data);
    if (!request->admitted) return;
    request->too_large |= size > GX_HTTP_BODY - request->body.size;
    if (!request->too_large) gx_buf_add(&request->body, data, size);
    request->too_large |= request->body.failed;
}

static enum MHD_Result handle(void *user, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *data, size_t *data_size, void **own) {
    gx_http_request *request = *own;
    (void)user, (void)connection, (void)url;
    if (!request) return MHD_NO; /* no memory: the connection is closed */
    if (!request->begun) return look_at_head(request, method, version);
    if (!*data_size) return serve(request);
    take_body(request, data, *data_size);
    *data_size = 0;
    return MHD_YES;
}

static void end(void *user, struct MHD_Connection *connection, void **context, enum MHD_RequestTerminationCode code) {
    gx_http *http = user;
    gx_http_request *request = *context;
    line *own = line_of(http, connection);
    (void)code;
    *context = NULL;
    if (request) gx_outflow_leave(request->reply.flow);
    if (!own) return;
    gx_monitor_lock(&http->monitor);
    free_request(http, own);
    own->since = gx_os_monotonic();
    own->admitted = own->answering = own->flows = false;
    gx_monitor_unlock(&http->monitor);
}

const char *gx_http_method(const gx_http_request *request) {
    return request->method;
}

const gx_target *gx_http_target(const gx_http_request *request) {
    return &request->target;
}

gale_str gx_http_body(const gx_http_request *request) {
    return (gale_str){ request->body.data, request->body.size };
}

gale_str gx_http_header(const gx_http_request *request, const char *name) {
    return gx_str(request->http->mhd->lookup_connection_value(request->connection, MHD_HEADER_KIND, name));
}

/* --- Connections --------------------------------------------------------------------------------------------------- */

static line *free_line(gx_http *http) {
    for (uint32_t i = 0; i < GX_HTTP_CONNECTIONS + GX_HTTP_SPARE; i++)
        if (!http->lines[i].http) return &http->lines[i];
    return NULL;
}

static bool makes_room(const line *one, bool admitted) {
    return one->http && one->fd >= 0 && !one->answering && !one->flows && !one->evicted && one->admitted == admitted;
}

static line *oldest(gx_http *http, bool admitted) {
    line *found = NULL;
    for (uint32_t i = 0; i < GX_HTTP_CONNECTIONS + GX_HTTP_SPARE; i++) {
        line *one = &http->lines[i];
        if (makes_room(one, admitted) && (!found || one->since < found->since)) found = one;
    }
    return found;
}

/* Who has not asked yet goes first, then who still sends a body. So a crowd of half heads keeps nobody out for longer
 * than a head takes to come. */
static void make_room(gx_http *http) {
    line *one = oldest(http, false);
    if (!one) one = oldest(http, true);
    if (!one) return;
    one->evicted = true;
    shutdown(one->fd, SHUT_RDWR);
}

static void come(gx_http *http, struct MHD_Connection *connection, void **context) {
    const union MHD_ConnectionInfo *info = http->mhd->get_connection_info(connection,
                                                                          MHD_CONNECTION_INFO_CONNECTION_FD);
    if (http->live.connections >= GX_HTTP_CONNECTIONS) make_room(http);
    line *own = free_line(http);
    *context = own;
    http->live.connections++;
    if (own) *own = (line){ .http = http, .fd = info ? info->connect_fd : -1, .since = gx_os_monotonic() };
}

static void go(gx_http *http, void **context) {
    line *own = *context;
    http->live.connections--;
    if (own) free_request(http, own);
    if (own) own->http = NULL;
    *context = NULL;
}

static void notice(void *user, struct MHD_Connection *connection, void **context,
                   enum MHD_ConnectionNotificationCode code) {
    gx_http *http = user;
    gx_monitor_lock(&http->monitor);
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        come(http, connection, context);
    else
        go(http, context);
    gx_monitor_unlock(&http->monitor);
}

static bool is_over(const line *one, int64_t now) {
    return one->http && one->fd >= 0 && !one->flows && now - one->since > GX_HTTP_PATIENCE * GALE_SECOND;
}

/* libmicrohttpd closes the descriptor after it has told that the connection goes, which waits for the lock. */
void gx_http_sweep(gx_http *http, int64_t now) {
    gx_monitor_lock(&http->monitor);
    for (uint32_t i = 0; i < GX_HTTP_CONNECTIONS + GX_HTTP_SPARE; i++)
        if (is_over(&http->lines[i], now)) shutdown(http->lines[i].fd, SHUT_RDWR);
    gx_monitor_unlock(&http->monitor);
}

gx_http_live gx_http_count(gx_http *http) {
    gx_monitor_lock(&http->monitor);
    gx_http_live live = http->live;
    gx_monitor_unlock(&http->monitor);
    return live;
}

/* --- The door ------------------------------------------------------------------------------------------------------ */

GALE_PRINTF(2, 0) static void say(void *user, const char *format, va_list arguments) {
    const gx_http *http = user;
    char text[400];
    vsnprintf(text, sizeof text, format, arguments);
    text[strcspn(text, "\n")] = 0;
    gale_log(&http->logger, GALE_LOG_DEBUG, NULL, "http: %s", text);
}

/* It closes the descriptor that it is given. */
static struct MHD_Daemon *start(gx_http *http, const gx_http_options *options, int fd) {
    /* Its epoll is edge-triggered, and forgets an end that came with the bytes before it, until silence ends it: poll sees
     * all, and for so few connections costs as little. */
    unsigned flags = MHD_USE_POLL_INTERNAL_THREAD | MHD_USE_ITC | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
    if (options->certificate) flags |= MHD_USE_TLS;
    struct MHD_OptionItem tls[] = {
        { options->certificate ? MHD_OPTION_HTTPS_MEM_CERT : MHD_OPTION_END, 0,
          (void *)(uintptr_t)options->certificate },
        { options->certificate ? MHD_OPTION_HTTPS_MEM_KEY : MHD_OPTION_END, 0, (void *)(uintptr_t)options->key },
        { MHD_OPTION_END, 0, NULL },
    };
    return http->mhd->start_daemon(
        flags, 0, NULL, NULL, handle, http, MHD_OPTION_EXTERNAL_LOGGER, say, http, MHD_OPTION_LISTEN_SOCKET, fd,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)(GX_HTTP_CONNECTIONS + GX_HTTP_SPARE),
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, options->local ? 0U : (unsigned)GX_HTTP_BY_ADDRESS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)GX_HTTP_MEMORY, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)GX_HTTP_SILENCE, MHD_OPTION_URI_LOG_CALLBACK, begin, http, MHD_OPTION_NOTIFY_COMPLETED, end, http,
        MHD_OPTION_NOTIFY_CONNECTION, notice, http, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_SIGPIPE_HANDLED_BY_APP,
        1, MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
}

/* A start that fails closes the descriptor or leaves it, as it comes; by then the number may be another's. */
static void close_if_left(int fd, int same) {
    struct stat a, b;
    if (fstat(fd, &a) == 0 && fstat(same, &b) == 0 && a.st_ino == b.st_ino && a.st_dev == b.st_dev) close(fd);
}

static int open_daemon(gx_http *http, const gx_http_options *options, gale_error *error) {
    if (options->certificate && http->mhd->is_feature_supported(MHD_FEATURE_TLS) != MHD_YES)
        return gale_error_set(error, GALE_UNSUPPORTED, "this machine's libmicrohttpd has no TLS");
    int fd = fcntl(options->fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0) return gale_error_set(error, GALE_IO, "out of descriptors");
    http->daemon = start(http, options, fd);
    if (http->daemon) return 0;
    close_if_left(fd, options->fd);
    if (options->certificate)
        return gale_error_set(error, GALE_INVALID,
                              "the certificate and its key are not taken: are they PEM, and of each other?");
    return gale_error_set(error, GALE_IO, "libmicrohttpd does not start");
}

int gx_http_open(const gx_http_options *options, gx_http **ret_http, gale_error *error) {
    gx_http *http = calloc(1, sizeof *http);
    if (!http || !gx_monitor_init(&http->monitor)) {
        free(http);
        return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    }
    http->admits = options->admits;
    http->serve = options->serve;
    http->user = options->user;
    if (options->logger) http->logger = *options->logger;
    int rc = gx_mhd_load(&http->mhd, error);
    if (rc >= 0) rc = open_daemon(http, options, error);
    if (rc >= 0) return *ret_http = http, 0;
    gx_http_close(http, 0);
    return rc;
}

void gx_http_wait(gx_http *http, int64_t until) {
    int64_t left;
    gx_monitor_lock(&http->monitor);
    while (http->live.streams && (left = until - gx_os_monotonic()) > 0) gx_monitor_wait(&http->monitor, left);
    gx_monitor_unlock(&http->monitor);
}

void gx_http_close(gx_http *http, int64_t until) {
    if (!http) return;
    if (http->daemon) gx_http_wait(http, until);
    if (http->daemon) http->mhd->stop_daemon(http->daemon);
    gx_monitor_fini(&http->monitor);
    free(http);
}
