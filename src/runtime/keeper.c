#include "runtime/keeper.h"

#include "base/log.h"
#include "base/mutant.h"
#include "base/str.h"

enum { LOOK = 50 * 1000 * 1000 }; /* ns */

static int64_t now_of(const gx_keeper *k) {
    return k->shared->clock.now(k->shared->clock.user);
}

/* --- Life --- */

gx_keeper *gx_keeper_new(gx_shared *shared, gx_monitor *monitor, const char *component, uint64_t number) {
    gx_keeper *k = gx_alloc(&shared->heap, GX_TAG_OTHER, sizeof *k);
    if (!k) return NULL;
    k->shared = shared;
    k->monitor = monitor;
    k->component = component;
    k->coming = k->given = k->held = (gx_pledges){ .heap = &shared->heap };
    k->state.given = k->state.tried = k->state.kept = number;
    return k;
}

void gx_keeper_free(gx_keeper *k) {
    gx_pledges_fini(&k->coming);
    gx_pledges_fini(&k->given);
    gx_pledges_fini(&k->held);
    gx_free(&k->shared->heap, GX_TAG_OTHER, k, sizeof *k);
}

/* --- Given --- */

static void swap(gx_pledges *a, gx_pledges *b) {
    gx_pledges other = *a;
    *a = *b;
    *b = other;
}

/* For who says what an end waits for. With the lock held. */
static void show_owing(const gx_keeper *k) {
    gx_cut_shared *cut = &k->shared->cut;
    if (gx_keeper_owes(k))
        gx_store_relaxed(&cut->owing, k->component);
    else if (gx_load_relaxed(&cut->owing) == k->component)
        gx_store_relaxed(&cut->owing, NULL);
}

void gx_keeper_give(gx_keeper *k, uint64_t number) {
    k->state.was_owing = gx_keeper_owes(k);
    if (!k->state.was_owing) k->owed_since = now_of(k);
    if (k->coming.count || k->state.was_owing) {
        swap(&k->given, &k->coming);
        k->is_given = true;
    } else {
        k->state.tried = k->state.kept = number;
    }
    k->state.given = number;
    show_owing(k);
}

/* --- Kept --- */

/* Is there something to do now? With the lock held. */
static bool is_due(const gx_keeper *k) {
    return !k->state.failed && gx_keeper_owes(k) && now_of(k) >= k->due;
}

static bool has_new(gx_keeper *k, bool *ret_due) {
    gx_monitor_lock(k->monitor);
    bool new = k->is_given;
    *ret_due = is_due(k);
    gx_monitor_unlock(k->monitor);
    return new;
}

/* What was given takes the place of what is held. False: it is not time. */
static bool take(gx_keeper *k) {
    bool due;
    bool new = has_new(k, &due);
    if (!due || !new) return due;
    gx_pledges_drop(&k->held);
    gx_monitor_lock(k->monitor);
    swap(&k->given, &k->held);
    k->held_number = k->state.given;
    k->is_given = false;
    gx_monitor_unlock(k->monitor);
    return true;
}

static int commit_held(gx_keeper *k, gale_error *why) {
    int rc = gx_pledges_keep(&k->held, why);
    gx_pledges_drop_kept(&k->held);
    return rc == GALE_AGAIN && GX_MUTANT(late_is_kept) ? GALE_OK : rc;
}

/* Of several, as far as they fit. */
static void make_one_line(char *text, size_t room) {
    for (char *at = text; (at = strchr(at, '\n'));) {
        size_t rest = strlen(at);
        if (at + rest + 2 > text + room) rest--; /* the last letter */
        memmove(at + 2, at + 1, rest);
        memcpy(at, "; ", 2);
        text[room - 1] = '\0';
    }
}

/* Said at the first time, when pauses have grown to their longest, and when it is over. */
static void tell(const gx_keeper *k, const gx_keeper_state *state, int64_t pause, bool is_over) {
    const gale_logger *logger = &k->shared->logger;
    if (state->away && (pause == GX_KEEPER_PAUSE || pause == GX_KEEPER_PAUSE_MAX))
        gale_log(logger, GALE_LOG_WARN, "checkpoint", "not now, and asked again: %s", state->why.text);
    if (is_over)
        gale_log(logger, GALE_LOG_INFO, "checkpoint",
                 "what was asked again is committed, with checkpoint %llu: all of '%s'",
                 (unsigned long long)state->kept, k->component);
}

static int64_t grown(int64_t pause) {
    if (pause == 0) return GX_KEEPER_PAUSE;
    return pause < GX_KEEPER_PAUSE_MAX / 2 ? 2 * pause : GX_KEEPER_PAUSE_MAX;
}

static void note(gx_keeper *k, int rc, const gale_error *why) {
    gx_monitor_lock(k->monitor);
    gx_keeper_state *state = &k->state;
    state->away = rc == GALE_AGAIN;
    state->failed = rc < 0 && rc != GALE_AGAIN ? rc : 0;
    state->tried = k->held_number;
    if (rc == GALE_OK) state->kept = k->held_number;
    show_owing(k);
    if (rc < 0) state->why = *why;
    make_one_line(state->why.text, sizeof state->why.text);
    k->pause = rc == GALE_AGAIN ? grown(k->pause) : 0;
    k->due = k->pause ? now_of(k) + k->pause : 0;
    bool is_over = k->said && state->kept == state->given;
    k->said = (k->said || state->away) && !is_over;
    gx_keeper_state is = *state;
    int64_t pause = k->pause;
    gx_monitor_notify(k->monitor);
    gx_monitor_unlock(k->monitor);
    tell(k, &is, pause, is_over); /* a logger may ask for figures */
}

static void fail(gx_keeper *k, gale_error why, gale_error *error) {
    gale_error_add(&why, "what checkpoint %llu promises could not be kept; the run can go on from it",
                   (unsigned long long)k->held_number);
    gx_executors_fail(k->shared, &why);
    if (error) *error = why;
}

/* The run has failed before anybody sees that its end is not waited for any more. */
int gx_keeper_try(gx_keeper *k, gale_error *error) {
    gale_error why = GALE_ERROR_INIT;
    if (!take(k)) return GALE_OK;
    int rc = commit_held(k, &why);
    bool fails = rc < 0 && rc != GALE_AGAIN;
    if (rc < 0 && why.code == 0) gale_error_set(&why, rc, "%s", gale_error_text(rc));
    if (fails) fail(k, why, error);
    note(k, rc, &why);
    return fails ? rc : GALE_OK;
}

/* --- The thread --- */

/* Until there is something to do. False: it is to end. */
static bool await(gx_keeper *k) {
    gx_monitor_lock(k->monitor);
    while (!k->quits && !is_due(k)) gx_monitor_wait(k->monitor, gx_keeper_owes(k) ? LOOK : -1);
    bool goes_on = !k->quits;
    gx_monitor_unlock(k->monitor);
    return goes_on;
}

static void *body(void *user) {
    gx_keeper *k = user;
    while (await(k)) (void)gx_keeper_try(k, NULL);
    return NULL;
}

bool gx_keeper_start(gx_keeper *k) {
    return gx_thread_start(&k->thread, "gale-keep", body, k);
}

void gx_keeper_quit(gx_keeper *k) {
    gx_monitor_lock(k->monitor);
    k->quits = true;
    gx_monitor_notify(k->monitor);
    gx_monitor_unlock(k->monitor);
}

bool gx_keeper_join(gx_keeper *k, int64_t nanoseconds) {
    return !k->thread.started || gx_thread_join(&k->thread, nanoseconds);
}
