#include "runtime/keeper.h"

#include "base/log.h"
#include "base/mutant.h"
#include "base/str.h"

enum { LOOK = 50 * 1000 * 1000 }; /* ns */

static int64_t now_of(const gx_keeper *k) {
    return k->shared->clock.now(k->shared->clock.user);
}

/* --- Life --- */

static gx_pledges *lists_new(gx_shared *shared) {
    gx_pledges *lists = gx_alloc_array(&shared->heap, GX_TAG_OTHER, shared->executor_count, sizeof *lists);
    for (uint32_t i = 0; lists && i < shared->executor_count; i++)
        lists[i] = (gx_pledges){ .heap = shared->executors[i]->heap };
    return lists;
}

static void lists_free(gx_shared *shared, gx_pledges *lists) {
    for (uint32_t i = 0; lists && i < shared->executor_count; i++) gx_pledges_fini(&lists[i]);
    gx_free(&shared->heap, GX_TAG_OTHER, lists, shared->executor_count * sizeof *lists);
}

int gx_keeper_init(gx_keeper *k, gx_shared *shared, gx_monitor *monitor, gale_error *error) {
    k->shared = shared;
    k->monitor = monitor;
    k->given = lists_new(shared);
    k->held = lists_new(shared);
    if (k->given && k->held) return GALE_OK;
    return gale_error_set(error, GALE_NO_MEMORY, "no memory for what checkpoints promise");
}

void gx_keeper_fini(gx_keeper *k) {
    if (!k->shared) return;
    lists_free(k->shared, k->given);
    lists_free(k->shared, k->held);
}

/* --- Given --- */

static void swap(gx_pledges *a, gx_pledges *b) {
    gx_pledges other = *a;
    *a = *b;
    *b = other;
}

static bool are_owed(const gx_shared *shared) {
    bool owed = false;
    for (uint32_t i = 0; !owed && i < shared->executor_count; i++)
        owed = gx_pledges_are_owed(&shared->executors[i]->cut.pledges);
    return owed;
}

void gx_keeper_give(gx_keeper *k, uint64_t number) {
    bool owed = are_owed(k->shared);
    gx_monitor_lock(k->monitor);
    if (k->state.kept == k->state.given) k->owed_since = now_of(k);
    if (owed || k->state.kept < k->state.given) {
        for (uint32_t i = 0; i < k->shared->executor_count; i++)
            swap(&k->given[i], &k->shared->executors[i]->cut.pledges);
        k->is_given = true;
    } else {
        k->state.tried = k->state.kept = number;
    }
    k->state.given = number;
    gx_monitor_notify(k->monitor);
    gx_monitor_unlock(k->monitor);
}

bool gx_keeper_owes(gx_keeper *k) {
    gx_monitor_lock(k->monitor);
    bool owes = k->state.kept < k->state.given;
    gx_monitor_unlock(k->monitor);
    return owes;
}

int64_t gx_keeper_owed(gx_keeper *k) {
    gx_monitor_lock(k->monitor);
    int64_t owed = k->state.kept < k->state.given ? now_of(k) - k->owed_since : 0;
    gx_monitor_unlock(k->monitor);
    return owed;
}

/* --- Kept --- */

/* Is there something to do now? With the lock held. */
static bool is_due(const gx_keeper *k) {
    return !k->state.failed && k->state.kept < k->state.given && now_of(k) >= k->due;
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
    for (uint32_t i = 0; i < k->shared->executor_count; i++) gx_pledges_drop(&k->held[i]);
    gx_monitor_lock(k->monitor);
    for (uint32_t i = 0; i < k->shared->executor_count; i++) swap(&k->given[i], &k->held[i]);
    k->held_number = k->state.given;
    k->is_given = false;
    gx_monitor_unlock(k->monitor);
    return true;
}

/* Of each executor; the first words of "not now", or those of an error. */
static int commit_held(gx_keeper *k, gale_error *why) {
    int result = GALE_OK;
    for (uint32_t i = 0; i < k->shared->executor_count && (result == GALE_OK || result == GALE_AGAIN); i++) {
        gale_error own = GALE_ERROR_INIT;
        int rc = gx_pledges_keep(&k->held[i], &own);
        if (rc == GALE_AGAIN && GX_MUTANT(late_is_kept)) rc = GALE_OK;
        bool says_more = rc < 0 && (result == GALE_OK || rc != GALE_AGAIN);
        if (says_more) *why = own;
        if (says_more) result = rc;
        gx_pledges_drop_kept(&k->held[i]);
    }
    return result;
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
        gale_log(logger, GALE_LOG_INFO, "checkpoint", "what was asked again is committed, with checkpoint %llu",
                 (unsigned long long)state->kept);
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

int gx_keeper_try(gx_keeper *k, gale_error *error) {
    gale_error why = GALE_ERROR_INIT;
    if (!take(k)) return GALE_OK;
    int rc = commit_held(k, &why);
    if (rc < 0 && why.code == 0) gale_error_set(&why, rc, "%s", gale_error_text(rc));
    note(k, rc, &why);
    if (rc == GALE_OK || rc == GALE_AGAIN) return GALE_OK;
    gale_error_add(&why, "what checkpoint %llu promises could not be kept; the run can go on from it",
                   (unsigned long long)k->held_number);
    gx_executors_fail(k->shared, &why);
    if (error) *error = why;
    return rc;
}

/* --- The thread --- */

/* Until there is something to do. False: it is to end. */
static bool await(gx_keeper *k) {
    gx_monitor_lock(k->monitor);
    while (!k->quits && !is_due(k)) gx_monitor_wait(k->monitor, k->state.kept < k->state.given ? LOOK : -1);
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

bool gx_keeper_join(gx_keeper *k, int64_t nanoseconds) {
    gx_monitor_lock(k->monitor);
    k->quits = true;
    gx_monitor_notify(k->monitor);
    gx_monitor_unlock(k->monitor);
    return !k->thread.started || gx_thread_join(&k->thread, nanoseconds);
}
