#include "connect/sqlite/ending.h"

#include <inttypes.h>
#include <stdio.h>

static int64_t now(const lite_ending *e) {
    return gale_context_now(e->context);
}

static int64_t next_look(const lite_ending *e) {
    int64_t pause = e->patience / 4;
    return now(e) + (pause < GALE_SECOND ? pause : GALE_SECOND);
}

static void give_up(const lite_ending *e) {
    char text[GALE_FAILURE_TEXT];
    snprintf(text, sizeof text, "%s: %" PRIu64 " tuple%s not %s within %g s (finishWait)", e->name, e->left,
             e->left == 1 ? " was" : "s were", e->what, (double)e->patience / 1e9);
    gale_report(e->out, text);
    e->give_up(e->user, text);
}

static int hear_timer(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    lite_ending *e = user;
    uint64_t left = gale_dispatch_count(e->dispatch);
    (void)events;
    if (!left) return 0;
    if (left < e->left) e->moved = now(e);
    e->left = left;
    if (now(e) - e->moved < e->patience) return gale_watch_set(out, watch, 0, next_look(e));
    give_up(e);
    return 0;
}

int lite_ending_begin(lite_ending *e) {
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    gale_watch timer;
    e->left = gale_dispatch_count(e->dispatch);
    e->moved = now(e);
    if (!e->left) return 0;
    options.at = next_look(e);
    options.always = true;
    options.call = hear_timer;
    options.user = e;
    return gale_watch_new(e->out, &options, &timer);
}
