#include "connect/rabbitmq/worker.h"

#include <amqp_framing.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    STACK = 16 << 20, /* librabbitmq reads tables within tables by recursion, as deep as a frame has room for */
    FRAMES = 1000,    /* so many are read between two looks at the orders */
    ENOUGH = 100,     /* so many news are passed on at once */
    GOODBYE_MS =
        900, /* then the connection is cut: a run that has ended gives its tasks two seconds to close, all together */
    WAIT_MS = 5 * 1000 /* without heartbeats */
};

/* So long news wait for others, behind those that were passed on last: a task wakes for all of them, and the broker's next are read by one call. */
#define GATHER (2 * GALE_MILLISECOND)

struct rmq_worker {
    const rmq_settings *given;
    const rmq_worker_ops *ops;
    void *user;
    char name[200];
    int wake, bell; /* eventfds */
    pthread_t thread;
    bool runs;
    struct {
        pthread_mutex_t lock;
        pthread_cond_t ended;
        rmq_chain orders, news;
        int socket; /* -1: none */
        bool stop, over;
    } shared;
    struct {
        rmq_session session;
        rmq_chain news; /* not told yet */
        size_t count;   /* of them */
        size_t enough;  /* of them are passed on at once */
        int64_t passed; /* when some were, last */
        uint32_t number;
        size_t turn;                /* which address is next */
        const rmq_address *address; /* the last one that was tried */
        bool up;
    } own;
};

/* --- Both sides ------------------------------------------------------------------------------------------------------- */

static void ring(int bell) {
    static const uint64_t one = 1;
    ssize_t put = write(bell, &one, sizeof one);
    (void)put; /* it rings already */
}

static void silence(int bell) {
    uint64_t rung;
    ssize_t got = read(bell, &rung, sizeof rung);
    (void)got; /* it was silent already */
}

int rmq_worker_bell(const rmq_worker *w) {
    return w->bell;
}

void rmq_worker_give(rmq_worker *w, rmq_chain *orders) {
    if (!orders->first) return;
    pthread_mutex_lock(&w->shared.lock);
    bool first = !w->shared.orders.first;
    rmq_chain_move(orders, &w->shared.orders);
    pthread_mutex_unlock(&w->shared.lock);
    if (first) ring(w->wake);
}

void rmq_worker_take(rmq_worker *w, rmq_chain *news) {
    silence(w->bell);
    pthread_mutex_lock(&w->shared.lock);
    rmq_chain_move(&w->shared.news, news);
    pthread_mutex_unlock(&w->shared.lock);
}

/* --- Its own: news ---------------------------------------------------------------------------------------------------- */

uint32_t rmq_worker_session(const rmq_worker *w) {
    return w->own.number;
}

bool rmq_worker_tell(rmq_worker *w, rmq_session *session, rmq_note *news) {
    if (!news) return rmq_session_fail(session, AMQP_STATUS_NO_MEMORY);
    rmq_chain_add(&w->own.news, news);
    w->own.count++;
    return true;
}

void rmq_worker_enough(rmq_worker *w, size_t news) {
    w->own.enough = news < ENOUGH ? news : ENOUGH;
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * GALE_SECOND + time.tv_nsec;
}

/* How long what is not told yet waits for more. */
static int64_t pause_of(const rmq_worker *w) {
    if (!w->own.news.first || w->own.count >= w->own.enough) return 0;
    int64_t left = w->own.passed + GATHER - now();
    return left > 0 ? left : 0;
}

static void pass_news(rmq_worker *w) {
    if (!w->own.news.first || pause_of(w)) return;
    w->own.count = 0;
    w->own.passed = now();
    pthread_mutex_lock(&w->shared.lock);
    bool first = !w->shared.news.first;
    rmq_chain_move(&w->own.news, &w->shared.news);
    pthread_mutex_unlock(&w->shared.lock);
    if (first) ring(w->bell);
}

/* A task that is not told would wait for ever. */
static void say(rmq_worker *w, rmq_kind kind, const char *text) {
    rmq_note *note;
    while (!(note = rmq_note_say(kind, w->own.number, text))) (void)poll(NULL, 0, 100);
    rmq_chain_add(&w->own.news, note);
    w->own.count = w->own.enough;
}

/* --- Its own: the connection ------------------------------------------------------------------------------------------ */

static void show_socket(rmq_worker *w, int socket) {
    pthread_mutex_lock(&w->shared.lock);
    w->shared.socket = socket;
    pthread_mutex_unlock(&w->shared.lock);
}

static bool open_session(rmq_worker *w, const rmq_address *address, const char *password) {
    rmq_session *session = &w->own.session;
    if (!rmq_session_open(session, address, password, w->name)) return false;
    show_socket(w, amqp_get_sockfd(session->state));
    return w->ops->begin(w->user, w, session);
}

/* One that its task has left. */
static void leave(rmq_worker *w) {
    show_socket(w, -1);
    rmq_session_close(&w->own.session);
    w->ops->lose(w->user);
    w->own.up = false;
}

static void go_down(rmq_worker *w) {
    const rmq_address *address = w->own.address;
    char why[RMQ_WORDS];
    bool away = w->own.session.away;
    rmq_words(why, "%.80s:%u: %.300s", address->host, (unsigned)address->port, w->own.session.why);
    leave(w);
    say(w, RMQ_DOWN, why);
    w->own.news.last->away = away;
}

static void connect_now(rmq_worker *w, const rmq_note *order) {
    leave(w);
    w->own.address = &w->given->addresses[w->own.turn++ % w->given->address_count];
    w->own.number = order->session;
    w->own.up = open_session(w, w->own.address, order->text);
    if (w->own.up)
        say(w, RMQ_UP, "");
    else
        go_down(w);
}

static bool is_method(const amqp_frame_t *frame, amqp_method_number_t id) {
    return frame->frame_type == AMQP_FRAME_METHOD && frame->payload.method.id == id;
}

/* The node ends or an administrator has ended it; the exchange is not there; the user may not write to it. */
static bool is_no_message(uint16_t code) {
    return code == AMQP_CONNECTION_FORCED || code == AMQP_NOT_FOUND || code == AMQP_ACCESS_REFUSED;
}

/* What is of the connection or its channel. False: it is over. */
static bool hear_frame(rmq_worker *w, const amqp_frame_t *frame) {
    rmq_session *session = &w->own.session;
    const void *decoded = frame->frame_type == AMQP_FRAME_METHOD ? frame->payload.method.decoded : NULL;
    if (is_method(frame, AMQP_CONNECTION_CLOSE_METHOD)) {
        const amqp_connection_close_t *closed = decoded;
        rmq_words_closed(session->why, closed->reply_code, closed->reply_text);
        session->away = is_no_message(closed->reply_code);
        const amqp_connection_close_ok_t ok = { 0 };
        (void)amqp_send_method(session->state, 0, AMQP_CONNECTION_CLOSE_OK_METHOD, (void *)&ok);
        return false;
    }
    if (is_method(frame, AMQP_CHANNEL_CLOSE_METHOD)) {
        const amqp_channel_close_t *closed = decoded;
        rmq_words_closed(session->why, closed->reply_code, closed->reply_text);
        session->away = is_no_message(closed->reply_code);
        return false;
    }
    if (is_method(frame, AMQP_BASIC_CANCEL_METHOD)) {
        rmq_words(session->why, "the broker gives nothing of the queue any more: it was deleted, or has no leader");
        return false;
    }
    if (is_method(frame, AMQP_CONNECTION_BLOCKED_METHOD)) {
        const amqp_connection_blocked_t *blocked = decoded;
        char why[RMQ_WORDS];
        rmq_words(why, "the broker takes nothing now: %.*s",
                  (int)(blocked->reason.len < 100 ? blocked->reason.len : 100),
                  blocked->reason.len ? (char *)blocked->reason.bytes : "");
        say(w, RMQ_BLOCKED, why);
        return true;
    }
    if (is_method(frame, AMQP_CONNECTION_UNBLOCKED_METHOD)) {
        say(w, RMQ_BLOCKED, "");
        return true;
    }
    return frame->frame_type == AMQP_FRAME_HEARTBEAT || w->ops->hear(w->user, w, session, frame);
}

/* Whether there is perhaps more to be read. */
static bool read_frames(rmq_worker *w) {
    amqp_frame_t frame;
    for (int i = 0; i < FRAMES; i++) {
        int rc = rmq_session_frame(&w->own.session, &frame);
        if (rc == 0) return false;
        if (rc < 0 || !hear_frame(w, &frame)) {
            go_down(w);
            return false;
        }
    }
    return true;
}

/* --- Its own: orders -------------------------------------------------------------------------------------------------- */

static void carry_out(rmq_worker *w, const rmq_note *order) {
    if (order->kind == RMQ_CONNECT)
        connect_now(w, order);
    else if (w->own.up && order->session == w->own.number && !w->ops->carry_out(w->user, w, &w->own.session, order))
        go_down(w);
}

static void carry_out_all(rmq_worker *w, rmq_chain *orders) {
    for (rmq_note *order; (order = rmq_chain_take(orders));) {
        carry_out(w, order);
        rmq_note_free(order);
    }
    if (w->own.up && !rmq_session_flush(&w->own.session)) go_down(w);
}

/* False: it is to end, and there are none. */
static bool take_orders(rmq_worker *w, rmq_chain *orders) {
    silence(w->wake);
    pthread_mutex_lock(&w->shared.lock);
    rmq_chain_move(&w->shared.orders, orders);
    bool stop = w->shared.stop;
    pthread_mutex_unlock(&w->shared.lock);
    return orders->first || !stop;
}

/* --- Its own: the thread ---------------------------------------------------------------------------------------------- */

static int wait_ms(const rmq_worker *w) {
    if (!w->own.up) return -1;
    if (amqp_frames_enqueued(w->own.session.state) || amqp_data_in_buffer(w->own.session.state)) return 0;
    return w->given->heartbeat ? w->given->heartbeat * 1000 / 4 : WAIT_MS;
}

/* For orders, and for what the socket has; while news wait for others, those gather there. */
static void wait_for_news(rmq_worker *w) {
    struct pollfd list[2] = { { .fd = w->wake, .events = POLLIN }, { .fd = -1, .events = POLLIN } };
    if (w->own.news.first) {
        (void)poll(list, 1, (int)((pause_of(w) + GALE_MILLISECOND - 1) / GALE_MILLISECOND));
        return;
    }
    if (w->own.up) list[1].fd = amqp_get_sockfd(w->own.session.state);
    (void)poll(list, 2, wait_ms(w));
}

static void announce_end(rmq_worker *w) {
    pthread_mutex_lock(&w->shared.lock);
    w->shared.socket = -1;
    w->shared.over = true;
    pthread_cond_signal(&w->shared.ended);
    pthread_mutex_unlock(&w->shared.lock);
}

static void *run(void *user) {
    rmq_worker *w = user;
    rmq_chain orders = { .first = NULL };
    while (take_orders(w, &orders)) {
        carry_out_all(w, &orders);
        bool more = w->own.up && read_frames(w);
        pass_news(w);
        if (!more) wait_for_news(w);
    }
    if (w->own.up) rmq_session_goodbye(&w->own.session);
    announce_end(w); /* nobody cuts the descriptor from here on: it is another one's once it is closed */
    rmq_session_close(&w->own.session);
    w->ops->lose(w->user);
    return NULL;
}

/* --- The task's: start and end ---------------------------------------------------------------------------------------- */

static int start_thread(rmq_worker *w) {
    pthread_attr_t attributes;
    sigset_t all, before;
    sigfillset(&all);
    int rc = pthread_attr_init(&attributes);
    if (rc) return rc;
    rc = pthread_attr_setstacksize(&attributes, STACK);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the threads that know of them */
    if (!rc) rc = pthread_create(&w->thread, &attributes, run, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return rc;
}

static void init_shared(rmq_worker *w) {
    pthread_condattr_t attributes;
    pthread_mutex_init(&w->shared.lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&w->shared.ended, &attributes);
    pthread_condattr_destroy(&attributes);
    w->shared.socket = -1;
}

int rmq_worker_start(const rmq_settings *given, const char *name, const rmq_worker_ops *ops, void *user,
                     rmq_worker **ret_worker, gale_error *error) {
    rmq_worker *w = calloc(1, sizeof *w);
    if (!w) return rmq_no_memory(error);
    w->given = w->own.session.given = given;
    w->ops = ops;
    w->user = user;
    w->own.enough = ENOUGH;
    snprintf(w->name, sizeof w->name, "%s", name);
    init_shared(w);
    w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    w->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int rc = w->wake < 0 || w->bell < 0 ? errno : start_thread(w);
    if (rc) {
        (void)gale_error_set(error, GALE_IO, "rabbitmq: a thread cannot be made: %s", strerror(rc));
        rmq_worker_end(w);
        return GALE_IO;
    }
    w->runs = true;
    *ret_worker = w;
    return 0;
}

static void stop_thread(rmq_worker *w) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += GOODBYE_MS * (long)GALE_MILLISECOND;
    until.tv_sec += until.tv_nsec / (long)GALE_SECOND;
    until.tv_nsec %= (long)GALE_SECOND;
    pthread_mutex_lock(&w->shared.lock);
    w->shared.stop = true;
    ring(w->wake);
    int rc = 0;
    while (!w->shared.over && rc == 0) rc = pthread_cond_timedwait(&w->shared.ended, &w->shared.lock, &until);
    if (!w->shared.over && w->shared.socket >= 0) (void)shutdown(w->shared.socket, SHUT_RDWR);
    pthread_mutex_unlock(&w->shared.lock);
    pthread_join(w->thread, NULL);
}

void rmq_worker_end(rmq_worker *w) {
    if (!w) return;
    if (w->runs) stop_thread(w);
    rmq_chain_free(&w->shared.orders);
    rmq_chain_free(&w->shared.news);
    rmq_chain_free(&w->own.news);
    if (w->wake >= 0) close(w->wake);
    if (w->bell >= 0) close(w->bell);
    pthread_mutex_destroy(&w->shared.lock);
    pthread_cond_destroy(&w->shared.ended);
    free(w);
}
