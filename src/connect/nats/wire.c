#include "connect/nats/wire.h"

#include "connect/nats/pump.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum {
    END_MS = 3000,
    CALLBACKS_END_S = 20,
    PART_BYTES = 64 << 10, /* published until it is written */
    PART_MESSAGES = 256    /* taken until they are news */
};

struct nats_wire {
    const nats_settings *given;
    nats_setup_fn *setup;
    const void *user;
    int bell, wake; /* the task's, the thread's */
    char *inbox;    /* "_INBOX.abc." */
    pthread_t thread;
    bool running;
    nats_pump pump;     /* the thread's */
    nats_post *sending; /* the thread's: the next that goes out */
    nats_posts fresh;   /* the task's, until it flushes */

    pthread_mutex_t lock; /* of these */
    pthread_cond_t ended; /* a callback has */
    nats_posts ready;
    bool connect, look, lost, deaf, stop;
    bool hung_up;         /* the server, and so it is lost */
    bool asleep;          /* the thread is, or falls asleep: it is to be woken */
    char why[NATS_WORDS]; /* it is lost */
    int callbacks;        /* of cnats' that may still come */

    pthread_mutex_t news_lock; /* of these; it is taken within no other one, and none within it */
    nats_news news;
    bool rung;
};

static void ring(int bell) {
    static const uint64_t one = 1;
    ssize_t wrote = write(bell, &one, sizeof one);
    (void)wrote; /* one that is full has rung */
}

/* --- News ------------------------------------------------------------------------------------------------------------------- */

/* There are some, under their lock, which this ends. */
static void unlock_news(nats_wire *wire) {
    bool first = !wire->rung;
    wire->rung = true;
    pthread_mutex_unlock(&wire->news_lock);
    if (first) ring(wire->bell);
}

static void tell(nats_wire *wire, bool *what) {
    pthread_mutex_lock(&wire->news_lock);
    *what = true;
    unlock_news(wire);
}

static void tell_refusal(nats_wire *wire, uint64_t id, natsStatus status) {
    pthread_mutex_lock(&wire->news_lock);
    nats_news_refusal(&wire->news, id, status);
    unlock_news(wire);
}

static void tell_messages(nats_wire *wire, natsMsg **messages, size_t count) {
    pthread_mutex_lock(&wire->news_lock);
    for (size_t i = 0; i < count; i++) nats_news_message(&wire->news, messages[i]);
    unlock_news(wire);
}

static void tell_down(nats_wire *wire, const char *words) {
    pthread_mutex_lock(&wire->lock);
    wire->lost = wire->connect = wire->look = false;
    bool hung_up = wire->hung_up;
    wire->hung_up = false;
    pthread_mutex_unlock(&wire->lock);
    pthread_mutex_lock(&wire->news_lock);
    wire->news.down = true;
    wire->news.hung_up = hung_up;
    wire->news.up = wire->news.looked = wire->news.lame = false;
    nats_words_set(wire->news.words, words);
    unlock_news(wire);
}

/* --- Waking ----------------------------------------------------------------------------------------------------------------- */

/* Under the lock, which this ends: there is something for the thread to do. */
static void unlock_and_wake(nats_wire *wire) {
    bool asleep = wire->asleep;
    wire->asleep = false;
    pthread_mutex_unlock(&wire->lock);
    if (asleep) ring(wire->wake);
}

static void ask(nats_wire *wire, bool *what) {
    pthread_mutex_lock(&wire->lock);
    *what = true;
    unlock_and_wake(wire);
}

static void lose(nats_wire *wire, bool hung_up, const char *why) {
    pthread_mutex_lock(&wire->lock);
    if (!wire->lost) {
        nats_words_set(wire->why, why);
        wire->hung_up = hung_up;
    }
    wire->lost = true;
    unlock_and_wake(wire);
}

void nats_wire_lose(nats_wire *wire, const char *why) {
    lose(wire, false, why);
}

/* --- What cnats' thread says ------------------------------------------------------------------------------------------------ */

static const char *last_words(natsConnection *nc, natsStatus otherwise) {
    const char *words = NULL;
    natsStatus status = natsConnection_GetLastError(nc, &words);
    if (words && *words) return words;
    return status != NATS_OK ? natsStatus_GetText(status) : natsStatus_GetText(otherwise);
}

static void hear_closed(natsConnection *nc, void *closure) {
    nats_wire *wire = closure;
    const char *words;
    natsStatus status = natsConnection_GetLastError(nc, &words);
    lose(wire, status != NATS_STALE_CONNECTION && status != NATS_TIMEOUT, last_words(nc, NATS_CONNECTION_CLOSED));
    pthread_mutex_lock(&wire->lock);
    wire->callbacks--;
    pthread_cond_broadcast(&wire->ended);
    pthread_mutex_unlock(&wire->lock);
}

static void hear_lame(natsConnection *nc, void *closure) {
    nats_wire *wire = closure;
    (void)nc;
    tell(wire, &wire->news.lame);
}

/* What it says of a subscription that is too slow, or may not be, shows in what does not come. */
static void hear_error(natsConnection *nc, natsSubscription *sub, natsStatus status, void *closure) {
    (void)nc, (void)sub, (void)status, (void)closure;
}

/* --- Connecting --------------------------------------------------------------------------------------------------------------- */

static int say(gale_error *error, natsStatus status) {
    natsStatus last;
    const char *words = nats_GetLastError(&last);
    if (!words || !*words || last != status) words = natsStatus_GetText(status);
    return gale_error_set(error, GALE_AGAIN, "%s", words);
}

static natsStatus set_callbacks(nats_wire *wire, natsOptions *options) {
    natsStatus status = natsOptions_SetClosedCB(options, hear_closed, wire);
    if (status == NATS_OK) status = natsOptions_SetLameDuckModeCB(options, hear_lame, wire);
    return status == NATS_OK ? natsOptions_SetErrorHandler(options, hear_error, wire) : status;
}

static int open_pump(nats_wire *wire, gale_error *error) {
    char subject[NATS_NAME_MAX];
    natsOptions *options = nats_settings_options(wire->given, error);
    if (!options) return GALE_AGAIN;
    snprintf(subject, sizeof subject, "%s*", wire->inbox);
    natsStatus status = set_callbacks(wire, options);
    if (status == NATS_OK) status = nats_pump_open(&wire->pump, options, subject);
    natsOptions_Destroy(options);
    pthread_mutex_lock(&wire->lock);
    wire->callbacks += wire->pump.nc != NULL; /* the closing one */
    pthread_mutex_unlock(&wire->lock);
    return status == NATS_OK ? 0 : say(error, status);
}

/* Until none of its callbacks can come any more. One that never does (a bug of the library's) must not find this memory freed: false. */
static bool wait_for_callbacks(nats_wire *wire) {
    struct timespec end;
    (void)clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += CALLBACKS_END_S;
    pthread_mutex_lock(&wire->lock);
    int rc = 0;
    while (wire->callbacks && rc == 0) rc = pthread_cond_timedwait(&wire->ended, &wire->lock, &end);
    bool over = wire->callbacks == 0;
    pthread_mutex_unlock(&wire->lock);
    return over;
}

static bool hang_up(nats_wire *wire) {
    nats_pump_close(&wire->pump);
    nats_ReleaseThreadMemory();
    return wait_for_callbacks(wire);
}

/* A thread of cnats' reads the answers: it, too, is at its end when this is. */
static int ask_setup(nats_wire *wire, nats_about *about, gale_error *error) {
    natsConnection *nc = NULL;
    natsOptions *options = nats_settings_options(wire->given, error);
    if (!options) return GALE_AGAIN;
    natsStatus status = natsOptions_UseOldRequestStyle(options, true);
    if (status == NATS_OK) status = natsConnection_Connect(&nc, options);
    natsOptions_Destroy(options);
    if (status != NATS_OK) return say(error, status);
    int rc = wire->setup(wire->user, nc, about, error);
    natsConnection_Destroy(nc);
    return rc;
}

static int set_up(nats_wire *wire, gale_error *error) {
    nats_about about = { .stream_made = 0 };
    int rc = wire->setup ? ask_setup(wire, &about, error) : 0;
    if (rc < 0) return rc;
    pthread_mutex_lock(&wire->news_lock);
    wire->news.about = about;
    pthread_mutex_unlock(&wire->news_lock);
    return 0;
}

static void connect_now(nats_wire *wire) {
    gale_error error = GALE_ERROR_INIT;
    pthread_mutex_lock(&wire->lock);
    wire->lost = false;
    pthread_mutex_unlock(&wire->lock);
    int rc = set_up(wire, &error);
    if (rc == 0) rc = open_pump(wire, &error);
    if (rc == 0) {
        tell(wire, &wire->news.up);
        return;
    }
    if (wire->pump.nc) (void)hang_up(wire);
    tell_down(wire, *error.text ? error.text : gale_error_text(rc));
}

/* What was not sent is the first again. */
static void put_back(nats_wire *wire) {
    nats_posts left = { wire->sending, wire->sending };
    if (!left.first) return;
    while (left.last->next) left.last = left.last->next;
    wire->sending = NULL;
    pthread_mutex_lock(&wire->lock);
    nats_posts_append(&left, &wire->ready);
    wire->ready = left;
    pthread_mutex_unlock(&wire->lock);
}

static void lose_now(nats_wire *wire) {
    char words[NATS_WORDS];
    put_back(wire);
    pthread_mutex_lock(&wire->lock);
    nats_words_set(words, wire->why);
    pthread_mutex_unlock(&wire->lock);
    (void)hang_up(wire);
    tell_down(wire, words);
}

static void look_now(nats_wire *wire) {
    gale_error error = GALE_ERROR_INIT;
    if (set_up(wire, &error) == 0)
        tell(wire, &wire->news.looked);
    else
        nats_wire_lose(wire, error.text);
}

/* --- Sending ------------------------------------------------------------------------------------------------------------------ */

static natsStatus send_one(nats_wire *wire, const nats_post *post) {
    natsConnection *nc = wire->pump.nc;
    const char *data = post->data ? post->data : post->body;
    int size = (int)(post->data ? post->size : strlen(post->body));
    if (post->msg) return natsConnection_PublishMsg(nc, post->msg);
    return post->reply ? natsConnection_PublishRequest(nc, post->subject, post->reply, data, size)
                       : natsConnection_Publish(nc, post->subject, data, size);
}

static bool is_refused(const nats_post *post, natsStatus status) {
    return (post->msg || post->data) &&
           (status == NATS_MAX_PAYLOAD || status == NATS_INVALID_SUBJECT || status == NATS_NO_SERVER_SUPPORT);
}

static size_t size_of(const nats_post *post) {
    return sizeof *post + post->size + (post->msg ? (size_t)natsMsg_GetDataLength(post->msg) : 0);
}

/* As much as the socket takes; what is left goes on later. */
static void send_some(nats_wire *wire) {
    size_t size = 0;
    while (wire->sending && !(size >= PART_BYTES && nats_pump_is_clogged(&wire->pump))) {
        nats_post *post = wire->sending;
        natsStatus status = send_one(wire, post);
        bool refused = is_refused(post, status);
        if (status != NATS_OK && !refused) {
            nats_wire_lose(wire, last_words(wire->pump.nc, status));
            return;
        }
        if (refused) tell_refusal(wire, post->id, status);
        size += size_of(post);
        wire->sending = post->next;
        nats_post_free(post);
        if (size < PART_BYTES) continue;
        nats_pump_write(&wire->pump);
        if (!nats_pump_is_clogged(&wire->pump)) size = 0;
    }
    nats_pump_write(&wire->pump);
}

/* --- Reading ------------------------------------------------------------------------------------------------------------------ */

static void take_messages(nats_wire *wire) {
    natsMsg *part[PART_MESSAGES];
    size_t kept = 0;
    for (int left = nats_pump_count(&wire->pump); left > 0; left--) {
        natsStatus status = nats_pump_next(&wire->pump, &part[kept]);
        if (status == NATS_NO_RESPONDERS) tell(wire, &wire->news.nobody);
        kept += status == NATS_OK;
        if (kept < PART_MESSAGES && left > 1) continue;
        if (kept) tell_messages(wire, part, kept);
        kept = 0;
    }
}

/* --- The thread --------------------------------------------------------------------------------------------------------------- */

typedef enum work { NOTHING, END, CONNECT, LOSE, DEAF, LOOK, SEND } work;

static bool take_flag(bool *flag) {
    bool was = *flag;
    *flag = false;
    return was;
}

/* The next that is to be done, under the lock. */
static work choose(nats_wire *wire) {
    bool there = wire->pump.nc != NULL;
    if (there && wire->lost) return LOSE;
    if (there && take_flag(&wire->deaf)) return DEAF;
    if (there && (wire->sending || wire->ready.first)) {
        if (nats_pump_is_clogged(&wire->pump)) return NOTHING;
        if (!wire->sending) wire->sending = nats_posts_take(&wire->ready);
        return SEND;
    }
    if (wire->stop) return END;
    if (!there && take_flag(&wire->connect)) return CONNECT;
    return there && take_flag(&wire->look) ? LOOK : NOTHING;
}

static work next_work(nats_wire *wire) {
    pthread_mutex_lock(&wire->lock);
    work what = choose(wire);
    wire->asleep = what == NOTHING;
    pthread_mutex_unlock(&wire->lock);
    return what;
}

static void work_on(nats_wire *wire, work what) {
    if (what == CONNECT) connect_now(wire);
    if (what == LOSE) lose_now(wire);
    if (what == DEAF) (void)natsSubscription_Unsubscribe(wire->pump.sub);
    if (what == LOOK) look_now(wire);
    if (what == SEND) send_some(wire);
}

static void *run(void *user) {
    nats_wire *wire = user;
    work what;
    while ((what = next_work(wire)) != END) {
        work_on(wire, what);
        if (!nats_pump_turn(&wire->pump, wire->wake, what == NOTHING ? -1 : 0))
            nats_wire_lose(wire, "the server does not answer");
        take_messages(wire);
    }
    if (wire->pump.nc) nats_pump_finish(&wire->pump, END_MS);
    return hang_up(wire) ? wire : NULL; /* NULL: one may still come */
}

/* --- The task's -------------------------------------------------------------------------------------------------------------- */

static int make_inbox(nats_wire *wire) {
    natsInbox *inbox = NULL;
    natsStatus status = natsInbox_Create(&inbox);
    if (status != NATS_OK) return status == NATS_NO_MEMORY ? GALE_NO_MEMORY : GALE_AGAIN;
    size_t size = strlen(inbox) + 2;
    wire->inbox = malloc(size);
    if (wire->inbox) snprintf(wire->inbox, size, "%s.", inbox);
    natsInbox_Destroy(inbox);
    return wire->inbox ? 0 : GALE_NO_MEMORY;
}

static int begin(nats_wire *wire) {
    wire->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    wire->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int rc = wire->bell < 0 || wire->wake < 0 ? GALE_IO : make_inbox(wire);
    if (rc < 0) return rc;
    wire->running = pthread_create(&wire->thread, NULL, run, wire) == 0;
    return wire->running ? 0 : GALE_IO;
}

nats_wire *nats_wire_new(const nats_settings *given, nats_setup_fn *setup, const void *user, gale_error *error) {
    nats_wire *wire = calloc(1, sizeof *wire);
    if (!wire) {
        (void)gale_error_set(error, GALE_NO_MEMORY, "out of memory");
        return NULL;
    }
    wire->given = given;
    wire->setup = setup;
    wire->user = user;
    wire->pump.fd = -1;
    pthread_mutex_init(&wire->lock, NULL);
    pthread_mutex_init(&wire->news_lock, NULL);
    pthread_cond_init(&wire->ended, NULL);
    int rc = begin(wire);
    if (rc == 0) return wire;
    (void)gale_error_set(error, rc, "%s: its thread cannot begin: %s", given->where,
                         rc == GALE_IO ? strerror(errno) : gale_error_text(rc));
    nats_wire_free(wire);
    return NULL;
}

void nats_wire_free(nats_wire *wire) {
    if (!wire) return;
    nats_wire_flush(wire);
    ask(wire, &wire->stop);
    void *over = wire;
    if (wire->running) pthread_join(wire->thread, &over);
    if (!over) return;
    nats_posts_free(wire->sending);
    nats_posts_free(wire->ready.first);
    nats_news_fini(&wire->news);
    if (wire->bell >= 0) close(wire->bell);
    if (wire->wake >= 0) close(wire->wake);
    pthread_mutex_destroy(&wire->lock);
    pthread_mutex_destroy(&wire->news_lock);
    pthread_cond_destroy(&wire->ended);
    free(wire->inbox);
    free(wire);
}

int nats_wire_bell(const nats_wire *wire) {
    return wire->bell;
}

const char *nats_wire_inbox(const nats_wire *wire) {
    return wire->inbox;
}

void nats_wire_connect(nats_wire *wire) {
    ask(wire, &wire->connect);
}

void nats_wire_look(nats_wire *wire) {
    ask(wire, &wire->look);
}

void nats_wire_deaf(nats_wire *wire) {
    ask(wire, &wire->deaf);
}

void nats_wire_post(nats_wire *wire, nats_post *post) {
    post->next = NULL;
    nats_posts one = { post, post };
    nats_posts_append(&wire->fresh, &one);
}

void nats_wire_flush(nats_wire *wire) {
    if (!wire->fresh.first) return;
    pthread_mutex_lock(&wire->lock);
    nats_posts_append(&wire->ready, &wire->fresh);
    unlock_and_wake(wire);
}

void nats_wire_clear(nats_wire *wire) {
    nats_wire_flush(wire);
    pthread_mutex_lock(&wire->lock);
    nats_post *list = nats_posts_take(&wire->ready);
    pthread_mutex_unlock(&wire->lock);
    nats_posts_free(list);
}

void nats_wire_hear(nats_wire *wire, nats_news *news) {
    uint64_t rung;
    pthread_mutex_lock(&wire->news_lock);
    nats_news_move(&wire->news, news);
    wire->rung = false;
    ssize_t got = read(wire->bell, &rung, sizeof rung);
    pthread_mutex_unlock(&wire->news_lock);
    (void)got; /* it was silent already */
}
