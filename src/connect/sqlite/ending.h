/* The end of a bolt that holds tuples: what has no answer is waited for while its executor goes on, so that a stop finds nobody in a call, and is given up
 * once nothing was answered for `patience`.
 *
 *      finish --nothing is held--> over
 *         '-- waits --all are answered--> over
 *                '------ nothing for so long --> reported, give_up
 *
 * Threads: the task's. Owner: the task; nothing is to be freed. */
#ifndef GALE_CONNECT_SQLITE_ENDING_H
#define GALE_CONNECT_SQLITE_ENDING_H

#include <gale/connect.h>
#include <gale/watch.h>

/* Answers all that are held, with these words for those that could not be. */
typedef void lite_give_up_fn(void *user, const char *why);

typedef struct lite_ending {
    const gale_context *context;
    gale_collector *out;
    const gale_dispatch *dispatch;
    const char *name, *what; /* "sqlite shop.db", "written" */
    int64_t patience, moved;
    uint64_t left;
    lite_give_up_fn *give_up;
    void *user;
} lite_ending;

/* In `finish`, with all but `moved` and `left` set. What gale_watch_new says. */
int lite_ending_begin(lite_ending *ending);

#endif
