#include "connect/sqlite/hand.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* --- The thread ------------------------------------------------------------------------------------------------------- */

static bool wait_for_work(lite_hand *hand) {
    (void)pthread_mutex_lock(&hand->lock);
    while (hand->state != LITE_HAND_WORKS && hand->state != LITE_HAND_ENDS)
        (void)pthread_cond_wait(&hand->given, &hand->lock);
    bool works = hand->state == LITE_HAND_WORKS;
    (void)pthread_mutex_unlock(&hand->lock);
    return works;
}

static void ring(lite_hand *hand) {
    const uint64_t one = 1;
    (void)pthread_mutex_lock(&hand->lock);
    if (hand->state == LITE_HAND_WORKS) hand->state = LITE_HAND_DONE;
    (void)pthread_mutex_unlock(&hand->lock);
    (void)!write(hand->bell, &one, sizeof one);
}

static void *be_a_thread(void *user) {
    lite_hand *hand = user;
    while (wait_for_work(hand)) {
        hand->ops->work(hand->user);
        ring(hand);
    }
    return NULL;
}

/* --- The task --------------------------------------------------------------------------------------------------------- */

static lite_hand_state state_of(lite_hand *hand) {
    (void)pthread_mutex_lock(&hand->lock);
    lite_hand_state state = hand->state;
    (void)pthread_mutex_unlock(&hand->lock);
    return state;
}

static void set_state(lite_hand *hand, lite_hand_state state) {
    (void)pthread_mutex_lock(&hand->lock);
    hand->state = state;
    (void)pthread_cond_signal(&hand->given);
    (void)pthread_mutex_unlock(&hand->lock);
}

bool lite_hand_is_free(lite_hand *hand) {
    return hand->runs && state_of(hand) == LITE_HAND_FREE;
}

void lite_hand_give(lite_hand *hand) {
    set_state(hand, LITE_HAND_WORKS);
}

static void hear(lite_hand *hand) {
    uint64_t rung;
    (void)!read(hand->bell, &rung, sizeof rung);
    if (state_of(hand) != LITE_HAND_DONE) return;
    set_state(hand, LITE_HAND_FREE);
    hand->ops->told(hand->user);
}

static int hear_bell(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    (void)out, (void)watch, (void)events;
    hear(user);
    return 0;
}

void lite_hand_drive(lite_hand *hand, int milliseconds) {
    struct pollfd bell = { .fd = hand->bell, .events = POLLIN };
    if (poll(&bell, 1, milliseconds) > 0) hear(hand);
}

/* --- It --------------------------------------------------------------------------------------------------------------- */

/* Signals are the program's: none is taken by the thread. */
static int start(lite_hand *hand) {
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&hand->thread, NULL, be_a_thread, hand);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    hand->runs = !failed;
    return failed;
}

int lite_hand_open(lite_hand *hand, bool always, gale_collector *out, const lite_hand_ops *ops, void *user,
                   gale_error *error) {
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    *hand = (lite_hand){ .ops = ops, .user = user, .out = out, .bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
    if (hand->bell < 0) return gale_error_set(error, GALE_IO, "sqlite: eventfd: %s", strerror(errno));
    (void)pthread_mutex_init(&hand->lock, NULL);
    (void)pthread_cond_init(&hand->given, NULL);
    options.fd = hand->bell;
    options.events = GALE_WATCH_READ;
    options.always = always;
    options.call = hear_bell;
    options.user = hand;
    int rc = gale_watch_new(out, &options, &hand->watch);
    if (rc < 0) return gale_error_set(error, rc, "sqlite: it cannot be watched: %s", gale_error_text(rc));
    int failed = start(hand);
    return failed ? gale_error_set(error, GALE_IO, "sqlite: no thread: %s", strerror(failed)) : 0;
}

void lite_hand_close(lite_hand *hand) {
    if (!hand->ops || hand->bell < 0) return;
    atomic_store_explicit(&hand->stop, true, memory_order_relaxed);
    set_state(hand, LITE_HAND_ENDS);
    if (hand->runs) (void)pthread_join(hand->thread, NULL);
    if (hand->watch) (void)gale_watch_free(hand->out, hand->watch);
    (void)close(hand->bell);
    (void)pthread_mutex_destroy(&hand->lock);
    (void)pthread_cond_destroy(&hand->given);
    hand->ops = NULL;
    hand->runs = false;
}
