/* A thread of a task's own that does what may wait for the disk or for another's lock, one piece of work after the other, so that no executor waits.
 *
 *      free --lite_hand_give--> works --the thread--> done --bell, watch: told on the task's thread--> free
 *
 * What:    the bell is an eventfd, which the task's executor watches.
 * Threads: `work` is called on the thread, all else on the task's. What `work` touches is the thread's from give until told.
 * Owner:   lite_hand_close, which waits for the thread: `stop` asks it to be quick. Signals are blocked in it. */
#ifndef GALE_CONNECT_SQLITE_HAND_H
#define GALE_CONNECT_SQLITE_HAND_H

#include <gale/watch.h>
#include <pthread.h>
#include <stdatomic.h>

typedef struct lite_hand_ops {
    void (*work)(void *user);
    void (*told)(void *user);
} lite_hand_ops;

typedef enum lite_hand_state { LITE_HAND_FREE, LITE_HAND_WORKS, LITE_HAND_DONE, LITE_HAND_ENDS } lite_hand_state;

typedef struct lite_hand {
    const lite_hand_ops *ops;
    void *user;
    gale_collector *out;
    gale_watch watch;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t given;
    lite_hand_state state; /* under the lock */
    atomic_bool stop;
    int bell;  /* an eventfd */
    bool runs; /* there is a thread */
} lite_hand;

/* `always`: it is told of also while the task may not run. Zero is one that was never opened. What gale_watch_new says; GALE_IO, with a sentence. */
int lite_hand_open(lite_hand *hand, bool always, gale_collector *out, const lite_hand_ops *ops, void *user,
                   gale_error *error);
void lite_hand_close(lite_hand *hand);

/* Is there nothing that it works on, or that was not told? One that is closed is not. */
bool lite_hand_is_free(lite_hand *hand);

/* Only to one that is free. */
void lite_hand_give(lite_hand *hand);

/* For `finish` and `close`, where no watch is told: waits for news, so many milliseconds at the most, and tells of it. */
void lite_hand_drive(lite_hand *hand, int milliseconds);

#endif
