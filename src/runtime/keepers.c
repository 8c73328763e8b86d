#include "runtime/keepers.h"

#include "base/log.h"
#include "base/os/time.h"

void gx_keepers_init(gx_keepers *keepers, gx_shared *shared, gx_monitor *monitor, uint64_t number) {
    *keepers = (gx_keepers){ .shared = shared, .monitor = monitor, .number = number };
}

void gx_keepers_fini(gx_keepers *keepers) {
    while (keepers->first) {
        gx_keeper *k = keepers->first;
        keepers->first = k->next;
        gx_keeper_free(k);
    }
}

/* --- Given --- */

/* NULL: no memory. All of a component's pledges have its name at the same place. */
static gx_keeper *keeper_of(gx_keepers *keepers, const char *component) {
    gx_keeper **at = &keepers->first;
    while (*at && (*at)->component != component) at = &(*at)->next;
    if (*at) return *at;
    gx_keeper *made = gx_keeper_new(keepers->shared, keepers->monitor, component, keepers->number);
    gx_monitor_lock(keepers->monitor);
    *at = made;
    gx_monitor_unlock(keepers->monitor);
    return made;
}

static bool expect(gx_keepers *keepers, const gx_pledge *pledge) {
    gx_keeper *k = keeper_of(keepers, pledge->component);
    if (!k) return false;
    gx_pledges *coming = &k->coming;
    return gx_grow(coming->heap, GX_TAG_OTHER, &coming->list, &coming->capacity, ++k->expected, sizeof *coming->list);
}

int gx_keepers_room(gx_keepers *keepers, gale_error *error) {
    const gx_shared *shared = keepers->shared;
    bool room = true;
    for (gx_keeper *k = keepers->first; k; k = k->next) k->expected = 0;
    for (uint32_t i = 0; i < shared->executor_count; i++) {
        const gx_pledges *pledges = &shared->executors[i]->cut.pledges;
        for (size_t j = 0; room && j < pledges->count; j++)
            room = !gx_pledge_is_owed(&pledges->list[j]) || expect(keepers, &pledges->list[j]);
    }
    return room ? GALE_OK : gale_error_set(error, GALE_NO_MEMORY, "no memory for what a checkpoint promises");
}

/* What is owed goes to its keepers; the others stay. */
static void hand_over(gx_keepers *keepers, gx_pledges *pledges) {
    size_t left = 0;
    for (size_t i = 0; i < pledges->count; i++) {
        const gx_pledge *pledge = &pledges->list[i];
        gx_keeper *k = gx_pledge_is_owed(pledge) ? keeper_of(keepers, pledge->component) : NULL;
        if (k)
            k->coming.list[k->coming.count++] = *pledge;
        else
            pledges->list[left++] = *pledge;
    }
    pledges->count = left;
}

static int start_owing(gx_keepers *keepers, gale_error *error) {
    for (gx_keeper *k = keepers->first; k; k = k->next) {
        if (k->thread.started || !k->is_given || gx_keeper_start(k)) continue;
        return gale_error_set(error, GALE_NO_MEMORY, "the system refuses the thread that commits for '%s'",
                              k->component);
    }
    return GALE_OK;
}

int gx_keepers_give(gx_keepers *keepers, uint64_t number, gale_error *error) {
    for (uint32_t i = 0; i < keepers->shared->executor_count; i++)
        hand_over(keepers, &keepers->shared->executors[i]->cut.pledges);
    gx_monitor_lock(keepers->monitor);
    for (gx_keeper *k = keepers->first; k; k = k->next) gx_keeper_give(k, number);
    gx_monitor_notify(keepers->monitor);
    gx_monitor_unlock(keepers->monitor);
    for (gx_keeper *k = keepers->first; k; k = k->next) gx_pledges_drop(&k->coming);
    keepers->number = number;
    return keepers->threaded ? start_owing(keepers, error) : GALE_OK;
}

/* --- Kept --- */

int gx_keepers_try(gx_keepers *keepers, gale_error *error) {
    int rc = GALE_OK;
    for (gx_keeper *k = keepers->first; rc == GALE_OK && k; k = k->next) rc = gx_keeper_try(k, error);
    return rc;
}

void gx_keepers_tell_left(gx_keepers *keepers) {
    for (gx_keeper *k = keepers->first; k; k = k->next) {
        gx_monitor_lock(keepers->monitor);
        gx_keeper_state state = k->state;
        gx_monitor_unlock(keepers->monitor);
        if (state.kept < state.given)
            gale_log(&keepers->shared->logger, GALE_LOG_WARN, "checkpoint",
                     "the run stops; one that goes on from checkpoint %llu commits what '%s' owes: %s",
                     (unsigned long long)state.given, k->component, state.away ? state.why.text : "it does not answer");
    }
}

/* --- Questions --- */

bool gx_keepers_kept(const gx_keepers *keepers, uint64_t number) {
    bool kept = true;
    for (const gx_keeper *k = keepers->first; kept && k; k = k->next) kept = k->state.kept >= number;
    return kept;
}

static bool was_asked(const gx_keeper_state *state, uint64_t number) {
    return state->kept >= number || state->tried >= number || state->away;
}

bool gx_keepers_asked(const gx_keepers *keepers, uint64_t number, bool behind) {
    bool asked = true;
    for (const gx_keeper *k = keepers->first; asked && k; k = k->next)
        asked = was_asked(&k->state, number) || (behind && k->state.was_owing);
    return asked;
}

bool gx_keepers_failed(const gx_keepers *keepers) {
    bool failed = false;
    for (const gx_keeper *k = keepers->first; !failed && k; k = k->next) failed = k->state.failed < 0;
    return failed;
}

int64_t gx_keepers_owed(const gx_keepers *keepers) {
    int64_t now = keepers->shared->clock.now(keepers->shared->clock.user), since = now;
    for (const gx_keeper *k = keepers->first; k; k = k->next)
        if (gx_keeper_owes(k) && k->owed_since < since) since = k->owed_since;
    return now - since;
}

int64_t gx_keepers_due(const gx_keepers *keepers) {
    int64_t due = INT64_MAX;
    for (const gx_keeper *k = keepers->first; k; k = k->next)
        if (gx_keeper_owes(k) && k->due < due) due = k->due;
    return due;
}

/* --- The threads' end --- */

const char *gx_keepers_join(gx_keepers *keepers, int64_t nanoseconds) {
    int64_t until = gx_os_deadline(nanoseconds);
    const char *still = NULL;
    for (gx_keeper *k = keepers->first; k; k = k->next) gx_keeper_quit(k);
    for (gx_keeper *k = keepers->first; k; k = k->next) {
        int64_t left = nanoseconds < 0 ? -1 : until - gx_os_monotonic();
        if (!gx_keeper_join(k, nanoseconds >= 0 && left < 0 ? 0 : left) && !still) still = k->component;
    }
    return still;
}
