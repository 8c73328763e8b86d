#include "engine/watches.h"

#include "base/options.h"
#include "engine/turn.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { AT_ONCE = 256 }; /* calls a step */

/* --- What a collector has ----------------------------------------------------------------------------------------- */

static gx_watches *watches_of(const gx_task *task) {
    return &task->executor->watches;
}

static gx_watched *find(const gx_task *task, gale_watch watch) {
    gx_watched *slot = gx_watches_find(watches_of(task), watch);
    return slot && slot->task == task ? slot : NULL;
}

static int refuse(gx_task *task, int fd) {
    char text[160];
    int why = errno;
    if (why == EEXIST) return GALE_EXISTS;
    if (why == EPERM) return GALE_UNSUPPORTED;
    if (why == ENOMEM) return GALE_NO_MEMORY;
    snprintf(text, sizeof text, "descriptor %d cannot be watched: %s%s", fd, strerror(why),
             why == ENOSPC ? " (fs.epoll.max_user_watches)" : "");
    gx_task_report(task, text);
    return GALE_IO;
}

static int misuse(gx_task *task, int rc) {
    if (rc < 0) gx_count(&task->counters.misused, 1);
    return rc;
}

static bool may_want(int fd, int32_t events) {
    return (events & ~GX_WATCH_ASKED) == 0 && (fd >= 0 || events == 0);
}

/* A slot that was taken; it is given back when the system refuses. */
static int begin(gx_task *task, gx_watched *slot, const gale_watch_options *options) {
    gx_watches *w = watches_of(task);
    slot->call = options->call;
    slot->user = options->user;
    slot->fd = options->fd;
    slot->always = options->always;
    slot->wanted = (uint8_t)options->events;
    if (gx_watches_arm(w, slot) < 0) {
        int rc = refuse(task, slot->fd);
        gx_watches_give(w, slot);
        return rc;
    }
    gx_watches_set_time(w, slot, options->at);
    return GALE_OK;
}

static int make(gx_task *task, const gale_watch_options *options, gale_watch *ret_watch) {
    gx_watches *w = watches_of(task);
    gale_error error = GALE_ERROR_INIT;
    if (w->count >= GALE_WATCHES_MAX) return GALE_TOO_LARGE;
    int rc = options->fd >= 0 ? gx_watches_open(w, &error) : GALE_OK;
    if (rc < 0) {
        gx_task_report(task, error.text);
        return rc;
    }
    gx_watched *slot = gx_watches_take(w, task);
    if (!slot) return GALE_NO_MEMORY;
    rc = begin(task, slot, options);
    if (rc == GALE_OK) *ret_watch = gx_watch_name(w, slot);
    return rc;
}

int gx_watches_new(gale_collector *out, const gale_watch_options *options, gale_watch *ret_watch) {
    gx_task *task = (gx_task *)out;
    gale_error error = GALE_ERROR_INIT;
    gale_watch_options taken;
    if (gx_executor_is_elsewhere(task)) return GALE_THREAD;
    if (!options || !ret_watch) return misuse(task, GALE_INVALID);
    int rc = gx_options_take(&taken, sizeof taken, options, "watch: options", &error);
    if (rc < 0) gx_task_report(task, error.text);
    if (rc == GALE_OK && (!taken.call || taken.fd < -1 || !may_want(taken.fd, taken.events))) rc = GALE_INVALID;
    return misuse(task, rc < 0 ? rc : make(task, &taken, ret_watch));
}

/* What was asked for no more is not told. */
static void want(gx_watches *w, gx_watched *slot, int32_t events, int64_t at) {
    slot->wanted = (uint8_t)events;
    slot->happened &= (uint8_t)(events | GALE_WATCH_HANGUP);
    if (!(slot->happened & GX_WATCH_ASKED)) slot->happened = 0;
    if (!slot->happened) gx_watches_unlist(w, slot);
    gx_watches_set_time(w, slot, at);
}

/* What waits to be told is armed again when it was. */
static int wait_for(gx_task *task, gx_watched *slot, int32_t events, int64_t at) {
    gx_watches *w = watches_of(task);
    want(w, slot, slot->fd >= 0 ? events : 0, at);
    if (slot->fd < 0) return events ? GALE_NOT_FOUND : GALE_OK;
    if (slot->happened || gx_watches_arm(w, slot) == 0) return GALE_OK;
    if (errno == ENOMEM || errno == ENOSPC) return refuse(task, slot->fd);
    gx_watches_lose(w, slot);
    return GALE_NOT_FOUND;
}

int gx_watches_set(gale_collector *out, gale_watch watch, int32_t events, int64_t at) {
    gx_task *task = (gx_task *)out;
    if (gx_executor_is_elsewhere(task)) return GALE_THREAD;
    gx_watched *slot = find(task, watch);
    if (!slot) return misuse(task, GALE_NOT_FOUND);
    if (events & ~GX_WATCH_ASKED) return misuse(task, GALE_INVALID);
    return misuse(task, wait_for(task, slot, events, at));
}

int gx_watches_free(gale_collector *out, gale_watch watch) {
    gx_task *task = (gx_task *)out;
    if (gx_executor_is_elsewhere(task)) return GALE_THREAD;
    gx_watched *slot = find(task, watch);
    if (!slot) return misuse(task, GALE_NOT_FOUND);
    gx_watches_give(watches_of(task), slot);
    return GALE_OK;
}

void gx_watches_forget(gx_task *task) {
    gx_watches *w = watches_of(task);
    for (uint32_t i = 0; w->count && i < w->used; i++)
        if (w->slots[i].task == task) gx_watches_give(w, &w->slots[i]);
    task->spout.readable = 0;
}

/* --- A spout that waits for a descriptor -------------------------------------------------------------------------- */

static gx_watched *own_slot(gx_task *task) {
    gx_watches *w = watches_of(task);
    if (task->spout.readable) return &w->slots[task->spout.readable - 1];
    gx_watched *slot = gx_watches_open(w, NULL) == GALE_OK ? gx_watches_take(w, task) : NULL;
    if (slot) task->spout.readable = gx_watch_place(w, slot);
    return slot;
}

bool gx_watches_await(gx_task *task, int fd) {
    gx_watched *slot = own_slot(task);
    if (!slot) return false;
    slot->fd = fd;
    slot->wanted = GALE_WATCH_READ;
    return gx_watches_arm(watches_of(task), slot) == 0;
}

void gx_watches_let_go(gx_task *task) {
    gx_watches *w = watches_of(task);
    gx_watched *slot = &w->slots[task->spout.readable - 1];
    gx_watches_unlist(w, slot);
    gx_watches_disarm(w, slot);
    slot->happened = 0;
}

/* --- Being told --------------------------------------------------------------------------------------------------- */

static bool may_be_told(gx_executor *ex, const gx_task *task) {
    gx_executor_check_gates(ex);
    if (ex->gated[task->component]) return false;
    return !task->is_spout || (task->spout.active && task->spout.pending < task->spout.max_pending);
}

static void keep(gx_watches *w, gx_watched *slot) {
    w->some_kept = true;
    gx_watches_push(w, &slot->task->kept, slot);
}

static void release(gx_watches *w, gx_task *task) {
    for (uint32_t place; (place = task->kept.first) != 0;) {
        gx_watches_unlist(w, &w->slots[place - 1]);
        gx_watches_push(w, &w->listed, &w->slots[place - 1]);
    }
}

/* Those of tasks that may run again are listed again. */
static void release_kept(gx_executor *ex) {
    if (GX_LIKELY(!ex->watches.some_kept)) return;
    ex->watches.some_kept = false;
    for (uint32_t i = 0; i < ex->task_count; i++) {
        gx_task *task = ex->tasks[i];
        if (task->kept.first && may_be_told(ex, task)) release(&ex->watches, task);
        if (task->kept.first) ex->watches.some_kept = true;
    }
}

static void call(gx_executor *ex, gx_task *task, const gx_watched *slot, int32_t events) {
    task->reported = false;
    task->stirred = true;
    gx_turn_begin(ex, task);
    int rc = slot->call(slot->user, &task->out, gx_watch_name(&ex->watches, slot), events);
    if (rc < 0 && !task->reported) gx_task_report(task, gale_error_text(rc));
    gx_turn_end(ex);
}

/* It was done, and may have more since. That it is not quiet any more is shown before its function can tell anybody. */
static void ask_again(gx_executor *ex, gx_task *task) {
    gx_task_set_done(task, false);
    gx_executor_not_quiet(ex);
}

/* Its function may free it, and make others, so that slots move. */
static void tell(gx_executor *ex, gx_watched *slot) {
    gx_watches *w = &ex->watches;
    gx_task *task = slot->task;
    gale_watch name = gx_watch_name(w, slot);
    int32_t events = slot->happened;
    slot->happened = 0;
    if (task->is_spout) task->spout.not_before = 0;
    if (!slot->call) return; /* armed when `next` says so */
    if (task->is_spout && task->spout.done) ask_again(ex, task);
    call(ex, task, slot, events);
    slot = gx_watches_find(w, name);
    if (!slot || slot->fd < 0 || slot->armed || slot->happened) return;
    if (gx_watches_arm(w, slot) < 0) gx_watches_lose(w, slot);
}

size_t gx_watches_run_some(gx_executor *ex) {
    gx_watches *w = &ex->watches;
    size_t told = 0;
    gx_watches_take_news(w, ex->now, ex->idle);
    release_kept(ex);
    for (uint32_t place; told < AT_ONCE && (place = w->listed.first) != 0;) {
        gx_watched *slot = &w->slots[place - 1];
        gx_watches_unlist(w, slot);
        if (!slot->always && slot->call && !may_be_told(ex, slot->task)) {
            keep(w, slot);
        } else {
            tell(ex, slot);
            told++;
        }
    }
    return told;
}
