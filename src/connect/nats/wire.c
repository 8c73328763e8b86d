#include "connect/nats/wire.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { END_MS = 3000, CALLBACKS_END_S = 20 };

struct nats_wire {
    const nats_settings *given;
    nats_setup_fn *setup;
    const void *user;
    int bell;
    char *inbox; /* "_INBOX.abc." */
    pthread_t thread;
    bool running;
    natsConnection *nc; /* the thread's; NULL: there is none */
    natsSubscription *sub;
    nats_posts fresh; /* the task's, until it flushes */

    pthread_mutex_t lock; /* of these */
    pthread_cond_t wake;  /* the thread */
    nats_posts ready;
    bool connect, look, lost, deaf, stop;
    char why[NATS_WORDS]; /* it is lost */
    int callbacks;        /* of cnats' that may still come */

    pthread_mutex_t news_lock; /* of these; it is taken within no other one, and none within it */
    nats_news news;
    bool rung;
};

/* --- News, under their lock ------------------------------------------------------------------------------------------------ */

static void ring(nats_wire *wire) {
    static const uint64_t one = 1;
    if (wire->rung) return;
    ssize_t wrote = write(wire->bell, &one, sizeof one);
    wire->rung = wrote == (ssize_t)sizeof one;
}

/* cnats' own begin with where it was: "(conn.c:1905): ". */
static void set_words(char to[NATS_WORDS], const char *words) {
    const char *behind = *words == '(' ? strstr(words, "): ") : NULL;
    if (behind) words = behind + 3;
    size_t size = strnlen(words, NATS_WORDS - 1);
    memcpy(to, words, size);
    to[size] = '\0';
}

static bool grow(void **list, size_t *capacity, size_t size) {
    size_t wider = *capacity ? 2 * *capacity : 256;
    void *made = realloc(*list, wider * size);
    if (!made) return false;
    *list = made;
    *capacity = wider;
    return true;
}

static bool keep_message(nats_news *news, natsMsg *msg) {
    size_t size = (size_t)natsMsg_GetDataLength(msg);
    if (news->count >= NATS_WIRE_MAX || news->bytes + size > NATS_WIRE_BYTES) return false;
    if (news->count == news->capacity && !grow((void **)&news->messages, &news->capacity, sizeof(natsMsg *)))
        return false;
    news->messages[news->count++] = msg;
    news->bytes += size;
    return true;
}

/* Without memory it stays without an answer, and is sent again when that is late. */
static void keep_refusal(nats_news *news, uint64_t id, natsStatus status) {
    if (news->refusal_count == news->refusal_capacity &&
        !grow((void **)&news->refusals, &news->refusal_capacity, sizeof(nats_refusal)))
        return;
    news->refusals[news->refusal_count++] = (nats_refusal){ id, status };
}

/* --- What cnats' threads say ----------------------------------------------------------------------------------------------- */

static void hear_message(natsConnection *nc, natsSubscription *sub, natsMsg *msg, void *closure) {
    nats_wire *wire = closure;
    (void)nc, (void)sub;
    pthread_mutex_lock(&wire->news_lock);
    bool kept = keep_message(&wire->news, msg);
    if (!kept) wire->news.dropped++;
    ring(wire);
    pthread_mutex_unlock(&wire->news_lock);
    if (!kept) natsMsg_Destroy(msg);
}

static void end_callbacks(void *closure) {
    nats_wire *wire = closure;
    pthread_mutex_lock(&wire->lock);
    wire->callbacks--;
    pthread_cond_broadcast(&wire->wake);
    pthread_mutex_unlock(&wire->lock);
}

static void hear_closed(natsConnection *nc, void *closure) {
    nats_wire *wire = closure;
    const char *words = NULL;
    natsStatus status = natsConnection_GetLastError(nc, &words);
    if (!words || !*words) words = status == NATS_OK ? "the connection is closed" : natsStatus_GetText(status);
    pthread_mutex_lock(&wire->lock);
    if (!wire->lost) set_words(wire->why, words);
    wire->lost = true;
    wire->callbacks--;
    pthread_cond_broadcast(&wire->wake);
    pthread_mutex_unlock(&wire->lock);
}

static void tell(nats_wire *wire, bool *what) {
    pthread_mutex_lock(&wire->news_lock);
    *what = true;
    ring(wire);
    pthread_mutex_unlock(&wire->news_lock);
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

/* --- The thread ------------------------------------------------------------------------------------------------------------ */

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

static void add_callbacks(nats_wire *wire, int count) {
    pthread_mutex_lock(&wire->lock);
    wire->callbacks += count;
    pthread_mutex_unlock(&wire->lock);
}

static natsStatus subscribe(nats_wire *wire) {
    char subject[NATS_NAME_MAX];
    snprintf(subject, sizeof subject, "%s*", wire->inbox);
    natsStatus status = natsConnection_Subscribe(&wire->sub, wire->nc, subject, hear_message, wire);
    if (status != NATS_OK) return status;
    add_callbacks(wire, 1);
    status = natsSubscription_SetPendingLimits(wire->sub, NATS_WIRE_MAX, -1);
    if (status == NATS_OK) status = natsSubscription_SetOnCompleteCB(wire->sub, end_callbacks, wire);
    if (status != NATS_OK) end_callbacks(wire);
    return status;
}

/* Until none of its callbacks can come any more. One that never does (a bug of the library's) must not find this memory freed: false. */
static bool wait_for_callbacks(nats_wire *wire) {
    struct timespec end;
    (void)clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += CALLBACKS_END_S;
    pthread_mutex_lock(&wire->lock);
    int rc = 0;
    while (wire->callbacks && rc == 0) rc = pthread_cond_timedwait(&wire->wake, &wire->lock, &end);
    bool over = wire->callbacks == 0;
    pthread_mutex_unlock(&wire->lock);
    return over;
}

static bool hang_up(nats_wire *wire) {
    natsSubscription_Destroy(wire->sub);
    natsConnection_Destroy(wire->nc);
    wire->sub = NULL;
    wire->nc = NULL;
    nats_ReleaseThreadMemory();
    return wait_for_callbacks(wire);
}

static int begin_connection(nats_wire *wire, gale_error *error) {
    natsOptions *options = nats_settings_options(wire->given, error);
    if (!options) return GALE_AGAIN;
    natsStatus status = set_callbacks(wire, options);
    if (status == NATS_OK) status = natsConnection_Connect(&wire->nc, options);
    natsOptions_Destroy(options);
    if (status != NATS_OK) {
        wire->nc = NULL;
        return say(error, status);
    }
    add_callbacks(wire, 1); /* the closing one */
    status = subscribe(wire);
    return status == NATS_OK ? 0 : say(error, status);
}

static int set_up(nats_wire *wire, gale_error *error) {
    nats_about about = { .stream_made = 0 };
    int rc = wire->setup(wire->user, wire->nc, &about, error);
    if (rc < 0) return rc;
    pthread_mutex_lock(&wire->news_lock);
    wire->news.about = about;
    pthread_mutex_unlock(&wire->news_lock);
    return 0;
}

static void tell_down(nats_wire *wire, const char *words) {
    pthread_mutex_lock(&wire->lock);
    wire->lost = wire->connect = wire->look = false;
    pthread_mutex_unlock(&wire->lock);
    pthread_mutex_lock(&wire->news_lock);
    wire->news.down = true;
    wire->news.up = wire->news.looked = wire->news.lame = false;
    set_words(wire->news.words, words);
    ring(wire);
    pthread_mutex_unlock(&wire->news_lock);
}

static void connect_now(nats_wire *wire) {
    gale_error error = GALE_ERROR_INIT;
    pthread_mutex_lock(&wire->lock);
    wire->lost = false;
    pthread_mutex_unlock(&wire->lock);
    int rc = begin_connection(wire, &error);
    if (rc == 0) rc = set_up(wire, &error);
    if (rc == 0) {
        tell(wire, &wire->news.up);
        return;
    }
    if (wire->nc) (void)hang_up(wire);
    tell_down(wire, *error.text ? error.text : gale_error_text(rc));
}

static void lose_now(nats_wire *wire) {
    char words[NATS_WORDS];
    pthread_mutex_lock(&wire->lock);
    set_words(words, wire->why);
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

static natsStatus send_one(nats_wire *wire, const nats_post *post) {
    const char *data = post->data ? post->data : post->body;
    int size = (int)(post->data ? post->size : strlen(post->body));
    if (post->msg) return natsConnection_PublishMsg(wire->nc, post->msg);
    return post->reply ? natsConnection_PublishRequest(wire->nc, post->subject, post->reply, data, size)
                       : natsConnection_Publish(wire->nc, post->subject, data, size);
}

static bool is_refused(const nats_post *post, natsStatus status) {
    return (post->msg || post->data) &&
           (status == NATS_MAX_PAYLOAD || status == NATS_INVALID_SUBJECT || status == NATS_NO_SERVER_SUPPORT);
}

/* What is left when the connection is lost is the first again. */
static void put_back(nats_wire *wire, nats_post *list) {
    nats_posts left = { list, list };
    while (left.last->next) left.last = left.last->next;
    pthread_mutex_lock(&wire->lock);
    nats_posts_append(&left, &wire->ready);
    wire->ready = left;
    pthread_mutex_unlock(&wire->lock);
}

static void send_all(nats_wire *wire, nats_post *list) {
    while (list) {
        natsStatus status = send_one(wire, list);
        bool refused = is_refused(list, status);
        if (status != NATS_OK && !refused) {
            nats_wire_lose(wire, natsStatus_GetText(status));
            put_back(wire, list);
            return;
        }
        if (refused) {
            pthread_mutex_lock(&wire->news_lock);
            keep_refusal(&wire->news, list->id, status);
            ring(wire);
            pthread_mutex_unlock(&wire->news_lock);
        }
        nats_post *next = list->next;
        nats_post_free(list);
        list = next;
    }
}

static nats_post *take_posts(nats_wire *wire) {
    nats_post *list = wire->ready.first;
    wire->ready = (nats_posts){ .first = NULL };
    return list;
}

typedef enum work { END, CONNECT, LOSE, DEAF, LOOK, SEND } work;

/* Waits for the next that is to be done. */
static work next_work(nats_wire *wire, nats_post **ret_posts) {
    *ret_posts = NULL;
    for (;;) {
        if (wire->lost && wire->nc) return LOSE;
        if (wire->nc && wire->deaf) {
            wire->deaf = false;
            return DEAF;
        }
        if (wire->nc && wire->ready.first) {
            *ret_posts = take_posts(wire);
            return SEND;
        }
        if (wire->stop) return END;
        if (wire->connect && !wire->nc) {
            wire->connect = false;
            return CONNECT;
        }
        if (wire->look && wire->nc) {
            wire->look = false;
            return LOOK;
        }
        pthread_cond_wait(&wire->wake, &wire->lock);
    }
}

static void *run(void *user) {
    nats_wire *wire = user;
    nats_post *list;
    for (;;) {
        pthread_mutex_lock(&wire->lock);
        work what = next_work(wire, &list);
        pthread_mutex_unlock(&wire->lock);
        if (what == END) break;
        if (what == CONNECT) connect_now(wire);
        if (what == LOSE) lose_now(wire);
        if (what == DEAF) (void)natsSubscription_Unsubscribe(wire->sub);
        if (what == LOOK) look_now(wire);
        if (what == SEND) send_all(wire, list);
    }
    if (wire->nc) (void)natsConnection_FlushTimeout(wire->nc, END_MS);
    return hang_up(wire) ? wire : NULL; /* NULL: one may still come */
}

/* --- The task's -------------------------------------------------------------------------------------------------------------- */

static int make_inbox(nats_wire *wire) {
    natsInbox *inbox = NULL;
    if (natsInbox_Create(&inbox) != NATS_OK) return GALE_NO_MEMORY;
    size_t size = strlen(inbox) + 2;
    wire->inbox = malloc(size);
    if (wire->inbox) snprintf(wire->inbox, size, "%s.", inbox);
    natsInbox_Destroy(inbox);
    return wire->inbox ? 0 : GALE_NO_MEMORY;
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
    pthread_mutex_init(&wire->lock, NULL);
    pthread_mutex_init(&wire->news_lock, NULL);
    pthread_cond_init(&wire->wake, NULL);
    wire->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int rc = wire->bell < 0 ? GALE_IO : make_inbox(wire);
    wire->running = rc == 0 && pthread_create(&wire->thread, NULL, run, wire) == 0;
    if (wire->running) return wire;
    (void)gale_error_set(error, rc < 0 ? rc : GALE_IO, "%s: its thread cannot begin: %s", given->where,
                         rc == GALE_NO_MEMORY ? "out of memory" : strerror(errno));
    nats_wire_free(wire);
    return NULL;
}

void nats_wire_free(nats_wire *wire) {
    if (!wire) return;
    nats_wire_flush(wire);
    pthread_mutex_lock(&wire->lock);
    wire->stop = true;
    pthread_cond_broadcast(&wire->wake);
    pthread_mutex_unlock(&wire->lock);
    void *over = wire;
    if (wire->running) pthread_join(wire->thread, &over);
    if (!over) return;
    nats_posts_free(wire->ready.first);
    nats_news_fini(&wire->news);
    if (wire->bell >= 0) close(wire->bell);
    pthread_mutex_destroy(&wire->lock);
    pthread_mutex_destroy(&wire->news_lock);
    pthread_cond_destroy(&wire->wake);
    free(wire->inbox);
    free(wire);
}

int nats_wire_bell(const nats_wire *wire) {
    return wire->bell;
}

const char *nats_wire_inbox(const nats_wire *wire) {
    return wire->inbox;
}

static void ask(nats_wire *wire, bool *what) {
    pthread_mutex_lock(&wire->lock);
    *what = true;
    pthread_cond_broadcast(&wire->wake);
    pthread_mutex_unlock(&wire->lock);
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

void nats_wire_lose(nats_wire *wire, const char *why) {
    pthread_mutex_lock(&wire->lock);
    if (!wire->lost) set_words(wire->why, why);
    wire->lost = true;
    pthread_cond_broadcast(&wire->wake);
    pthread_mutex_unlock(&wire->lock);
}

void nats_wire_post(nats_wire *wire, nats_post *post) {
    post->next = NULL;
    nats_posts one = { post, post };
    nats_posts_append(&wire->fresh, &one);
}

void nats_wire_flush(nats_wire *wire) {
    if (!wire->fresh.first) return;
    pthread_mutex_lock(&wire->lock);
    bool asleep = !wire->ready.first;
    nats_posts_append(&wire->ready, &wire->fresh);
    if (asleep) pthread_cond_broadcast(&wire->wake);
    pthread_mutex_unlock(&wire->lock);
}

void nats_wire_clear(nats_wire *wire) {
    nats_wire_flush(wire);
    pthread_mutex_lock(&wire->lock);
    nats_post *list = take_posts(wire);
    pthread_mutex_unlock(&wire->lock);
    nats_posts_free(list);
}

/* The arrays of the two change places, so that neither is made anew. */
void nats_wire_hear(nats_wire *wire, nats_news *news) {
    uint64_t rung;
    nats_news empty = { .messages = news->messages,
                        .capacity = news->capacity,
                        .refusals = news->refusals,
                        .refusal_capacity = news->refusal_capacity };
    pthread_mutex_lock(&wire->news_lock);
    *news = wire->news;
    wire->news = empty;
    wire->rung = false;
    ssize_t got = read(wire->bell, &rung, sizeof rung);
    pthread_mutex_unlock(&wire->news_lock);
    (void)got; /* it was silent already */
}

void nats_news_fini(nats_news *news) {
    for (size_t i = 0; i < news->count; i++) natsMsg_Destroy(news->messages[i]);
    free(news->messages);
    free(news->refusals);
    *news = (nats_news){ .messages = NULL };
}
