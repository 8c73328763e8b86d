#include "engine/taps.h"

#include "base/os/time.h"
#include "engine/short.h"

/* Who taps what, by executors. */
typedef struct gx_tap_set {
    struct gx_tap_set *next; /* the one before */
    uint64_t epoch;
    size_t count;
    gx_tapped list[];
} gx_tap_set;

/* --- Sets: under the monitor's lock --- */

static size_t size_of(size_t count) {
    return sizeof(gx_tap_set) + count * sizeof(gx_tapped);
}

static bool has_it(const gx_shared *shared, const gx_tap *tap, uint32_t executor) {
    return shared->plan->components[tap->component].executors[executor];
}

/* By executors, so that each has a part of it. */
static size_t fill(const gx_shared *shared, gx_tapped *list) {
    size_t count = 0;
    for (uint32_t i = 0; i < shared->executor_count; i++)
        for (gx_tap *tap = shared->taps.live; tap; tap = tap->next) {
            if (!has_it(shared, tap, i)) continue;
            if (list) list[count] = (gx_tapped){ .tap = tap, .executor = (uint16_t)i };
            count++;
        }
    return count;
}

/* The set of what lives now is the newest. False: no memory, and it is as it was. */
static bool renew(gx_shared *shared) {
    size_t count = fill(shared, NULL);
    gx_tap_set *set = gx_alloc(&shared->heap, GX_TAG_OTHER, size_of(count));
    if (!set) return false;
    set->epoch = gx_load_relaxed(&shared->taps.epoch) + 1;
    set->count = fill(shared, set->list);
    set->next = shared->taps.sets;
    shared->taps.sets = set;
    for (gx_tap *tap = shared->taps.ended; tap; tap = tap->next)
        if (tap->epoch == UINT64_MAX) tap->epoch = set->epoch;
    gx_store_relaxed(&shared->taps.epoch, set->epoch);
    return true;
}

/* Those that no executor has any more: all but the newest that are older than any executor's. */
static void free_sets(gx_shared *shared, uint64_t oldest) {
    gx_tap_set *newest = shared->taps.sets;
    gx_tap_set **at = newest ? &newest->next : &shared->taps.sets;
    while (*at) {
        gx_tap_set *set = *at;
        if (set->epoch >= oldest) {
            at = &set->next;
            continue;
        }
        *at = set->next;
        gx_free(&shared->heap, GX_TAG_OTHER, set, size_of(set->count));
    }
}

/* Taken out of the list of those that have ended. */
static gx_tap *take_unseen(gx_shared *shared, uint64_t oldest) {
    gx_tap *unseen = NULL, **at = &shared->taps.ended;
    while (*at) {
        gx_tap *tap = *at;
        if (tap->epoch > oldest) {
            at = &tap->next;
            continue;
        }
        *at = tap->next;
        tap->next = unseen;
        unseen = tap;
    }
    return unseen;
}

static gx_tap *reclaim(gx_shared *shared) {
    uint64_t oldest = UINT64_MAX;
    for (uint32_t i = 0; i < shared->executor_count; i++)
        if (shared->executors[i]->tap_epoch < oldest) oldest = shared->executors[i]->tap_epoch;
    free_sets(shared, oldest);
    return take_unseen(shared, oldest);
}

/* --- Without it --- */

static void free_taps(gx_shared *shared, gx_tap *tap) {
    while (tap) {
        gx_tap *next = tap->next;
        if (tap->free_user) tap->free_user(tap->user);
        gx_free(&shared->heap, GX_TAG_OTHER, tap, sizeof *tap);
        tap = next;
    }
}

int gx_taps_add(gx_shared *shared, const gx_tap *tap, gale_tap *ret_tap) {
    gx_tap *made = gx_alloc(&shared->heap, GX_TAG_OTHER, sizeof *made);
    if (!made) return GALE_NO_MEMORY;
    gx_monitor_lock(&shared->monitor);
    *made = *tap;
    made->name = ++shared->taps.names;
    made->epoch = UINT64_MAX;
    made->next = shared->taps.live;
    shared->taps.live = made;
    *ret_tap = made->name;
    bool renewed = renew(shared);
    if (!renewed) shared->taps.live = made->next;
    gx_monitor_unlock(&shared->monitor);
    if (renewed) gx_executors_wake(shared);
    if (!renewed) gx_free(&shared->heap, GX_TAG_OTHER, made, sizeof *made);
    return renewed ? GALE_OK : GALE_NO_MEMORY;
}

/* Without memory for a set without it, it stays in that of now, and shows nothing. */
int gx_taps_end(gx_shared *shared, gale_tap name) {
    gx_monitor_lock(&shared->monitor);
    gx_tap **at = &shared->taps.live;
    while (*at && (*at)->name != name) at = &(*at)->next;
    gx_tap *tap = *at, *unseen = NULL;
    if (tap) {
        *at = tap->next;
        tap->next = shared->taps.ended;
        shared->taps.ended = tap;
        gx_store_relaxed(&tap->ended, 1);
        renew(shared);
        unseen = reclaim(shared);
    }
    gx_monitor_unlock(&shared->monitor);
    if (tap) gx_executors_wake(shared);
    free_taps(shared, unseen);
    return tap ? GALE_OK : GALE_NOT_FOUND;
}

void gx_taps_fini(gx_shared *shared) {
    free_taps(shared, shared->taps.live);
    free_taps(shared, shared->taps.ended);
    shared->taps.live = shared->taps.ended = NULL;
    while (shared->taps.sets) {
        gx_tap_set *set = shared->taps.sets;
        shared->taps.sets = set->next;
        gx_free(&shared->heap, GX_TAG_OTHER, set, size_of(set->count));
    }
}

/* --- An executor --- */

static bool is_tapped(const gx_executor *ex, const gx_task *task) {
    for (uint32_t i = 0; i < ex->tapped_count; i++)
        if (ex->tapped[i].armed && ex->tapped[i].tap->component == task->component) return true;
    return false;
}

/* Emits are shown, or take the shortest way again. */
static void choose(gx_executor *ex, uint16_t component) {
    for (uint32_t i = 0; i < ex->task_count; i++) {
        gx_task *task = ex->tasks[i];
        if (task->component == component && task->tapped != is_tapped(ex, task)) gx_short_choose(task, !task->tapped);
    }
}

static void set_armed(gx_executor *ex, gx_tapped *tapped, bool armed) {
    if (tapped->armed == armed) return;
    tapped->armed = armed;
    choose(ex, tapped->tap->component);
}

static void take_set(gx_executor *ex, uint64_t epoch) {
    gx_tap_set *set = epoch == UINT64_MAX ? NULL : ex->shared->taps.sets;
    size_t first = 0, end = 0;
    while (set && first < set->count && set->list[first].executor != ex->index) first++;
    for (end = first; set && end < set->count && set->list[end].executor == ex->index;) end++;
    ex->tapped = set ? &set->list[first] : NULL;
    ex->tapped_count = (uint32_t)(end - first);
    ex->tap_epoch = set ? set->epoch : epoch;
}

static void take(gx_executor *ex, uint64_t epoch) {
    gx_shared *shared = ex->shared;
    for (uint32_t i = 0; i < ex->tapped_count; i++) set_armed(ex, &ex->tapped[i], false);
    gx_monitor_lock(&shared->monitor);
    take_set(ex, epoch);
    gx_tap *unseen = reclaim(shared);
    gx_monitor_unlock(&shared->monitor);
    free_taps(shared, unseen);
}

void gx_taps_take(gx_executor *ex) {
    take(ex, 0);
}

void gx_taps_leave(gx_executor *ex) {
    take(ex, UINT64_MAX);
}

void gx_taps_arm(gx_executor *ex) {
    for (uint32_t i = 0; i < ex->tapped_count; i++) {
        gx_tapped *tapped = &ex->tapped[i];
        if (!tapped->armed && (uint64_t)ex->now >= gx_load_relaxed(&tapped->tap->due)) set_armed(ex, tapped, true);
    }
}

/* Is the next event this one? Another executor may have been the first. */
static bool takes_turn(gx_executor *ex, gx_tapped *tapped) {
    gx_tap *tap = tapped->tap;
    if (!tap->interval) return true;
    uint64_t due = gx_load_relaxed(&tap->due), now = (uint64_t)ex->now;
    set_armed(ex, tapped, false);
    return now >= due && gx_cas_relaxed(&tap->due, &due, now + (uint64_t)tap->interval);
}

static bool wants(gx_task *task, const gx_tapped *tapped, uint32_t stream) {
    const gx_tap *tap = tapped->tap;
    if (!tapped->armed || tap->component != task->component || gx_load_relaxed(&((gx_tap *)tap)->ended)) return false;
    if (tap->stream != GX_TAP_ANY_STREAM && tap->stream != stream) return false;
    return tap->below == UINT64_MAX || gx_random_next(&task->random) < tap->below;
}

static void show_to(const gx_tap *tap, const gx_task *task, uint32_t stream, const gale_value *values, size_t count,
                    const uint64_t *message_id) {
    const gale_event event = { .size = sizeof event,
                               .when = gx_os_wall(),
                               .component = task->context.component,
                               .stream = task->plan->schema.streams[stream].name,
                               .task = task->id,
                               .tracked = message_id != NULL,
                               .message_id = message_id ? *message_id : 0,
                               .values = values,
                               .count = count };
    tap->on_event(tap->user, &event);
}

void gx_taps_show(gx_task *task, uint32_t stream, const gale_value *values, size_t count, const uint64_t *message_id) {
    gx_executor *ex = task->executor;
    for (uint32_t i = 0; i < ex->tapped_count; i++) {
        gx_tapped *tapped = &ex->tapped[i];
        if (wants(task, tapped, stream) && takes_turn(ex, tapped))
            show_to(tapped->tap, task, stream, values, count, message_id);
    }
}
