#include "runtime/checkpoint.h"

#include "base/assert.h"
#include "base/log.h"
#include "base/mutant.h"
#include "base/os/entropy.h"
#include "base/os/time.h"
#include "engine/cut.h"

static bool runs(int32_t phase) {
    return phase == GALE_PHASE_RUNNING || phase == GALE_PHASE_DRAINING || phase == GALE_PHASE_FINISHING;
}

static int64_t now_of(const gx_checkpoint *c) {
    return c->shared->executors[0]->now;
}

/* --- Life --- */

int gx_checkpoint_init(gx_checkpoint *c, gx_shared *shared, const gale_store *store, int64_t interval,
                       gx_adopt_words words, gale_error *error) {
    c->shared = shared;
    c->store = *store;
    c->interval = interval;
    c->head = (gx_changes)GX_CHANGES_INIT(&shared->heap);
    c->has_monitor = gx_monitor_init(&c->monitor);
    if (!c->has_monitor) return gale_error_set(error, GALE_NO_MEMORY, "the system refuses a mutex");
    shared->cut.seed = gx_os_entropy();
    c->times = gx_alloc(&shared->heap, GX_TAG_OTHER, sizeof *c->times);
    if (!c->times) return gale_error_set(error, GALE_NO_MEMORY, "no memory for the figures of checkpoints");
    int rc = gx_restore_begin(&c->restore, shared, &c->store, words, error);
    if (rc < 0) return rc;
    c->is = c->restore.head.image;
    c->stats.number = c->is.number;
    c->stats.resumed = c->is.number;
    c->stats.time = c->is.time;
    c->stats.wall = c->is.wall;
    c->stats.complete = c->is.complete;
    c->stats.dropped = c->restore.dropped;
    c->stats.again = c->restore.again;
    gx_keepers_init(&c->keepers, shared, &c->monitor, c->is.number);
    return GALE_OK;
}

static void drop_image(gx_checkpoint *c) {
    for (uint32_t i = 0; c->shared->executors && i < c->shared->executor_count; i++) {
        gx_executor *ex = c->shared->executors[i];
        if (!ex) continue;
        gx_pledges_drop(&ex->cut.pledges);
        gx_changes_reset(&ex->cut.changes);
    }
    gx_changes_reset(&c->head);
}

void gx_checkpoint_fini(gx_checkpoint *c) {
    if (!c->shared) return;
    drop_image(c);
    gx_keepers_fini(&c->keepers);
    gx_restore_end(&c->restore);
    gx_restore_fini(&c->restore);
    gx_changes_fini(&c->head);
    gx_free(&c->shared->heap, GX_TAG_OTHER, c->times, sizeof *c->times);
    if (c->has_monitor) gx_monitor_fini(&c->monitor);
}

/* --- The cut --- */

static bool is_ready(const gx_shown *shown, const void *what) {
    return shown->cut == *(const uint64_t *)what;
}

static bool move(gx_checkpoint *c, uint64_t word, gx_cut_stage stage) {
    if (!gx_cut_move(c->shared, word, stage)) return false;
    c->word = gx_cut_word(c->shared);
    c->seen.true_of_all = false;
    return true;
}

/* Bolts finish once: a run that goes on from the middle of that would have them finish again. What has finished is cut at
 * once, whatever the clock says. */
static bool is_finishing(const gx_checkpoint *c) {
    return gx_phase(c->shared) == GALE_PHASE_FINISHING && !c->ends;
}

static bool is_time(const gx_checkpoint *c) {
    if (is_finishing(c)) return false;
    if (gx_load_acquire(&((gx_checkpoint *)c)->image) != GX_IMAGE_IDLE) return false; /* A5 */
    bool soon = gx_load_relaxed(&c->shared->cut.soon) || gx_load_relaxed(&((gx_checkpoint *)c)->wishes);
    return c->ends || soon || now_of(c) >= c->due;
}

static size_t begin(gx_checkpoint *c, uint64_t word) {
    int64_t now = now_of(c);
    bool waits = c->starts || c->ends || c->tries >= GX_CHECKPOINT_TRIES;
    if (!c->tries) c->began = now;
    c->held_since = now;
    c->wished = gx_load_relaxed(&c->wishes);
    gx_store_relaxed(&c->shared->cut.until, (uint64_t)(waits ? INT64_MAX : now + GX_CHECKPOINT_PATIENCE));
    return move(c, word, c->starts ? GX_CUT_STOP : GX_CUT_HOLD);
}

/* What has finished before is not run again. */
void gx_checkpoint_open(gx_checkpoint *c) {
    if (!c || c->shared->cut.complete) return;
    c->starts = true;
    begin(c, gx_cut_word(c->shared));
}

/* Another executor saw that it took too long. */
static size_t was_put_off(gx_checkpoint *c) {
    c->word = 0;
    c->tries++;
    c->due = now_of(c) + c->interval / 8;
    gx_monitor_lock(&c->monitor);
    c->stats.put_off++;
    gx_monitor_unlock(&c->monitor);
    return 1;
}

static size_t hold(gx_checkpoint *c, uint64_t word) {
    uint64_t work;
    bool dry = gx_shown_by_all(c->shared, is_ready, &word, &work);
    return dry || now_of(c) > c->held_since + GX_CHECKPOINT_DRY ? move(c, word, GX_CUT_STOP) : 0;
}

/* Who is in a call that is waited for. */
static void tell_who(gx_checkpoint *c) {
    enum { SOON = 600 * 1000 * 1000 };
    gx_shared *shared = c->shared;
    if (c->told || now_of(c) < c->held_since + SOON) return;
    c->told = true;
    for (uint32_t i = 0; i < shared->executor_count; i++) {
        const gx_task *task = gx_load_relaxed(&shared->executors[i]->in_call_seen);
        if (!task || i == 0) continue;
        gale_log(&shared->logger, GALE_LOG_WARN, "checkpoint",
                 "waits for '%s' (task %u), which is in a call; all others wait with it", task->context.component,
                 task->id);
        return;
    }
    gale_log(&shared->logger, GALE_LOG_WARN, "checkpoint", "waits for what is on its way; spouts are held for %.1f s",
             (double)(now_of(c) - c->held_since) / 1e9);
}

static size_t stop(gx_checkpoint *c, uint64_t word) {
    if (!gx_shown_twice(&c->seen, c->shared, is_ready, &word)) {
        tell_who(c);
        return 0;
    }
    gx_store_relaxed(&c->shared->cut.saved, 0);
    gx_store_relaxed(&c->shared->cut.soon, 0); /* all that was wished for so far is in it */
    gx_store_relaxed(&c->shared->cut.number, gx_load_relaxed(&c->shared->cut.lasting) + 1);
    return move(c, word, GX_CUT_SAVE);
}

/* The first that could not save. */
static int check_saved(gx_checkpoint *c, gale_error *error) {
    for (uint32_t i = 0; i < c->shared->executor_count; i++) {
        const gx_executor *ex = c->shared->executors[i];
        if (ex->cut.rc >= 0) continue;
        const gx_task *task = ex->cut.failed;
        gale_error_set(error, ex->cut.rc, "%s", task && task->reported ? task->report : gale_error_text(ex->cut.rc));
        if (task)
            gale_error_add(error, "%s '%s' (task %u) could not save", task->is_spout ? "spout" : "bolt",
                           task->context.component, task->id);
        return gale_error_add(error, "the checkpoint could not be made; the run can go on from the one before");
    }
    return GALE_OK;
}

static uint64_t bytes_of(const gx_checkpoint *c) {
    uint64_t bytes = c->head.bytes.size;
    for (uint32_t i = 0; i < c->shared->executor_count; i++) bytes += c->shared->executors[i]->cut.changes.bytes.size;
    return bytes;
}

static void note_cut(gx_checkpoint *c, int64_t now) {
    gx_monitor_lock(&c->monitor);
    c->stats.held = c->starts ? 0 : now - c->held_since;
    if (c->stats.held > c->stats.held_max) c->stats.held_max = c->stats.held;
    if (!c->starts) gx_histogram_add(&c->times->held, c->stats.held);
    c->stats.bytes = bytes_of(c);
    if (c->stats.bytes > c->stats.bytes_max) c->stats.bytes_max = c->stats.bytes;
    gx_store_release(&c->image, GX_IMAGE_CUT); /* R5 */
    gx_monitor_notify(&c->monitor);
    gx_monitor_unlock(&c->monitor);
}

/* Nothing runs until it lasts: at the start, so that nothing can be left that no checkpoint knows; and before the run is
 * suspended, so that nothing is written behind it that would come again. */
static bool stays(const gx_checkpoint *c) {
    return c->starts || (c->wished & GX_CHECKPOINT_THEN_STOP);
}

/* Of a run that is suspended the end opens the gates: gx_checkpoint_step sees it closing. */
static size_t await_lasting(gx_checkpoint *c, uint64_t word) {
    if (!c->starts) return 0;
    if (gx_load_acquire(&c->shared->cut.lasting) != c->is.number) return 0; /* A4 */
    c->starts = false;
    return gx_cut_move(c->shared, word, GX_CUT_NONE);
}

static size_t finish(gx_checkpoint *c, uint64_t word) {
    gx_shared *shared = c->shared;
    if (gx_load_acquire(&shared->cut.saved) < shared->executor_count) return 0; /* A3 */
    gale_error error = GALE_ERROR_INIT;
    int64_t now = shared->clock.now(shared->clock.user);
    c->is = (gx_image){ gx_load_relaxed(&shared->cut.number), now, gx_os_wall(), c->ends };
    gx_changes_reset(&c->head);
    gx_image_write(&c->is, shared->plan, shared->cut.kept, &c->head);
    c->word = 0;
    c->tries = 0;
    c->told = false;
    c->due = c->began + c->interval > now ? c->began + c->interval : now + c->interval / 4;
    int rc = check_saved(c, &error);
    if (rc < 0)
        gx_executors_fail(c->shared, &error);
    else
        note_cut(c, now);
    return rc == GALE_OK && stays(c) ? 1 : gx_cut_move(shared, word, GX_CUT_NONE);
}

static size_t cancel(gx_checkpoint *c, uint64_t word) {
    c->word = 0;
    return gx_cut_stage_of(word) != GX_CUT_NONE && gx_cut_move(c->shared, word, GX_CUT_NONE);
}

size_t gx_checkpoint_step(gx_checkpoint *c) {
    if (GX_LIKELY(!c)) return 0;
    uint64_t word = gx_cut_word(c->shared);
    if (!runs(gx_phase(c->shared))) return cancel(c, word);
    if (is_finishing(c) && gx_cut_stage_of(word) != GX_CUT_SAVE)
        return cancel(c, word);                                             /* what is saved already was before */
    if (GX_UNLIKELY(c->restore.parts != NULL)) gx_restore_end(&c->restore); /* all are open */
    switch (gx_cut_stage_of(word)) {
    case GX_CUT_HOLD: return hold(c, word);
    case GX_CUT_STOP: return stop(c, word);
    case GX_CUT_SAVE: return stays(c) && !c->word ? await_lasting(c, word) : finish(c, word);
    default: return c->word ? was_put_off(c) : is_time(c) ? begin(c, word) : 0;
    }
}

int64_t gx_checkpoint_pause(const gx_checkpoint *c) {
    enum { SOON = GALE_MILLISECOND / 4 };
    if (!c || !runs(gx_phase(c->shared))) return -1;
    if (c->word) return SOON;
    if (gx_load_acquire(&((gx_checkpoint *)c)->image) != GX_IMAGE_IDLE) return -1; /* whoever commits rings */
    if (is_finishing(c)) return -1;
    if (c->starts || is_time(c)) return 0;
    return c->due - now_of(c);
}

bool gx_checkpoint_is_over(gx_checkpoint *c) {
    if (!c) return true;
    if (c->ends) return c->is.complete && gx_load_acquire(&c->shared->cut.lasting) == c->is.number; /* A4 */
    c->ends = true;
    return false;
}

/* --- The commit --- */

static int put_all(gx_checkpoint *c, const gx_changes *changes, gale_error *error) {
    gx_change change;
    size_t at = 0;
    int rc = GALE_OK;
    while (rc >= 0 && gx_changes_next(changes, &at, &change))
        rc = change.remove ? c->store.remove(c->store.self, change.key.data, change.key.size, error)
                           : c->store.put(c->store.self, change.key.data, change.key.size, change.value.data,
                                          change.value.size, error);
    return rc;
}

static int prepare_pledges(gx_checkpoint *c, gale_error *error) {
    int rc = GALE_OK;
    for (uint32_t i = 0; rc == GALE_OK && i < c->shared->executor_count; i++)
        rc = gx_pledges_prepare(&c->shared->executors[i]->cut.pledges, error);
    return rc;
}

static int commit_pledges(gx_checkpoint *c, gale_error *error) {
    int rc = GALE_OK;
    for (uint32_t i = 0; rc == GALE_OK && i < c->shared->executor_count; i++)
        rc = gx_pledges_commit(&c->shared->executors[i]->cut.pledges, error);
    return rc;
}

static int commit_store(gx_checkpoint *c, gale_error *error) {
    uint64_t number;
    int rc = put_all(c, &c->restore.stale, error);
    if (rc >= 0 && !c->forgotten) rc = gx_adopted_forget(&c->restore.adopted, &c->store, error);
    for (uint32_t i = 0; rc >= 0 && i < c->shared->executor_count; i++)
        rc = put_all(c, &c->shared->executors[i]->cut.changes, error);
    if (rc >= 0) rc = put_all(c, &c->head, error);
    if (rc >= 0) rc = c->store.commit(c->store.self, GALE_STORE_SYNC, &number, error);
    if (rc < 0) c->store.abandon(c->store.self);
    return rc < 0 ? rc : GALE_OK;
}

static int make_last(gx_checkpoint *c, gale_error *error) {
    int rc = gx_keepers_room(&c->keepers, error);
    if (rc == GALE_OK) rc = prepare_pledges(c, error);
    if (rc == GALE_OK) rc = commit_store(c, error);
    if (rc == GALE_OK) rc = commit_pledges(c, error);
    return rc;
}

/* Is it the one behind which the run stops, whatever is owed? That of the end is when somebody wishes it. */
static bool stops(const gx_checkpoint *c) {
    uint32_t wishes = c->is.complete ? gx_load_relaxed(&((gx_checkpoint *)c)->wishes) : c->wished;
    return wishes & GX_CHECKPOINT_THEN_STOP;
}

/* With the lock held: was enough of what it promises kept, or asked for? */
static bool may_be_told(const gx_checkpoint *c) {
    const gx_keepers *keepers = &c->keepers;
    bool is_over = gx_keepers_failed(keepers) || c->quits || !runs(gx_phase(c->shared));
    if (is_over || gx_keepers_kept(keepers, c->is.number)) return true;
    bool ends = c->is.complete && !stops(c) && !GX_MUTANT(late_end);
    return !ends && (gx_keepers_asked(keepers, c->is.number, !stops(c)) ||
                     gx_os_monotonic() - c->commits_since > GX_CHECKPOINT_LATE);
}

static void note_lasting(gx_checkpoint *c, int64_t took) {
    gx_shared *shared = c->shared;
    uint32_t wished = c->wished;
    gx_changes_reset(&c->restore.stale);
    c->forgotten = true;
    gx_store_release(&shared->cut.lasting, c->is.number); /* R4 */
    gx_monitor_lock(&c->monitor);
    c->stats.number = c->is.number;
    c->stats.count++;
    c->stats.time = c->is.time;
    c->stats.wall = c->is.wall;
    c->stats.complete = c->is.complete;
    c->stats.took = took;
    if (took > c->stats.took_max) c->stats.took_max = took;
    gx_histogram_add(&c->times->took, took);
    gx_store_release(&c->image, GX_IMAGE_IDLE); /* R5 */
    gx_monitor_notify(&c->monitor);
    gx_monitor_unlock(&c->monitor);
    gx_and_release(&c->wishes, ~wished);
    if (wished & GX_CHECKPOINT_THEN_STOP) gx_executors_close(shared);
    gx_executors_wake(shared);
}

static void set_image(gx_checkpoint *c, gx_image_state image) {
    gx_monitor_lock(&c->monitor);
    gx_store_release(&c->image, image);
    gx_monitor_notify(&c->monitor);
    gx_monitor_unlock(&c->monitor);
}

static int give(gx_checkpoint *c, gale_error *error) {
    int rc = gx_keepers_give(&c->keepers, c->is.number, error);
    if (rc == GALE_OK) return rc;
    return gale_error_add(error, "checkpoint %llu lasts, and the run can go on from it",
                          (unsigned long long)c->is.number);
}

static int report_lost(const gx_checkpoint *c, int rc, gale_error *error) {
    if (error->code == 0) gale_error_set(error, rc, "%s", gale_error_text(rc));
    gale_log(&c->shared->logger, GALE_LOG_ERROR, "checkpoint", "checkpoint %llu could not be made to last: %s",
             (unsigned long long)c->is.number, error->text);
    return gale_error_add(error, "checkpoint %llu could not be made to last; the run can go on from the one before",
                          (unsigned long long)c->is.number);
}

/* From the image to what the store has. */
static int store_image(gx_checkpoint *c, gale_error *error) {
    c->commits_since = gx_os_monotonic();
    int rc = make_last(c, error);
    rc = rc == GALE_OK ? give(c, error) : report_lost(c, rc, error);
    drop_image(c);
    if (rc < 0) gx_executors_fail(c->shared, error);
    set_image(c, rc < 0 ? GX_IMAGE_FAILED : GX_IMAGE_STORED);
    return rc;
}

static bool is_to_be_told(gx_checkpoint *c) {
    gx_monitor_lock(&c->monitor);
    bool is = gx_load_acquire(&c->image) == GX_IMAGE_STORED && may_be_told(c);
    gx_monitor_unlock(&c->monitor);
    return is;
}

/* It lasts. */
static int tell(gx_checkpoint *c, gale_error *error) {
    if (stops(c)) gx_keepers_tell_left(&c->keepers); /* to the run that goes on */
    note_lasting(c, gx_os_monotonic() - c->commits_since);
    int rc = c->store.tidy(c->store.self, error);
    if (rc < 0) gx_executors_fail(c->shared, error);
    return rc < 0 ? rc : 1;
}

int gx_checkpoint_commit(gx_checkpoint *c, gale_error *error) {
    gale_error own = GALE_ERROR_INIT;
    if (!error) error = &own;
    uint32_t cut = GX_IMAGE_CUT;
    int rc = GALE_OK;
    if (gx_cas_seq(&c->image, &cut, GX_IMAGE_COMMITTING)) rc = store_image(c, error); /* A5 */
    if (rc == GALE_OK && !c->keepers.threaded) rc = gx_keepers_try(&c->keepers, error);
    if (rc < 0) return rc;
    return is_to_be_told(c) ? tell(c, error) : 0;
}

/* --- The committer's thread --- */

/* With the lock held. Until the phase is looked at again, too, which notifies nobody. */
static void wait(gx_checkpoint *c) {
    enum { LOOK = 50 * 1000 * 1000 };
    gx_monitor_wait(&c->monitor, gx_load_acquire(&c->image) == GX_IMAGE_STORED ? LOOK : -1);
}

/* With the lock held: has the committer something to do? */
static bool has_work(const gx_checkpoint *c) {
    uint32_t image = gx_load_acquire(&((gx_checkpoint *)c)->image);
    return image == GX_IMAGE_CUT || (image == GX_IMAGE_STORED && may_be_told(c));
}

static bool await(gx_checkpoint *c) {
    gx_monitor_lock(&c->monitor);
    while (!has_work(c) && !c->quits) wait(c);
    bool more = has_work(c);
    gx_monitor_unlock(&c->monitor);
    return more;
}

static void *commit_body(void *user) {
    gx_checkpoint *c = user;
    while (await(c)) (void)gx_checkpoint_commit(c, NULL);
    return NULL;
}

bool gx_checkpoint_start(gx_checkpoint *c) {
    c->keepers.threaded = true;
    return gx_thread_start(&c->thread, "gale-commit", commit_body, c);
}

int gx_checkpoint_join(gx_checkpoint *c, int64_t nanoseconds, gale_error *error) {
    gx_monitor_lock(&c->monitor);
    c->quits = true;
    gx_monitor_notify(&c->monitor);
    gx_monitor_unlock(&c->monitor);
    if (c->thread.started && !gx_thread_join(&c->thread, nanoseconds))
        return gale_error_set(error, GALE_TIMED_OUT,
                              "the thread that commits checkpoints has not ended: it waits for the disk, or for a "
                              "server");
    const char *still = gx_keepers_join(&c->keepers, nanoseconds);
    if (!still) return GALE_OK;
    return gale_error_set(error, GALE_TIMED_OUT,
                          "'%s' is still asked to commit, and does not answer: what it owes is in the state, and the "
                          "run that goes on commits it",
                          still);
}

/* --- Wishes --- */

void gx_checkpoint_wish(gx_checkpoint *c, uint32_t wishes) {
    gx_or_release(&c->wishes, wishes);
    gx_bell_ring(&c->shared->executors[0]->bell);
}

static void read_quantiles(const gx_histogram *histogram, int64_t *ret_p50, int64_t *ret_p99) {
    gx_histogram_reading reading;
    memset(&reading, 0, sizeof reading);
    gx_histogram_read(histogram, &reading);
    *ret_p50 = gx_histogram_quantile(&reading, 0.50);
    *ret_p99 = gx_histogram_quantile(&reading, 0.99);
}

gale_checkpoint_stats gx_checkpoint_stats(gx_checkpoint *c) {
    gx_monitor_lock(&c->monitor);
    gale_checkpoint_stats stats = c->stats;
    stats.owed = gx_keepers_owed(&c->keepers);
    gx_monitor_unlock(&c->monitor);
    read_quantiles(&c->times->held, &stats.held_p50, &stats.held_p99);
    read_quantiles(&c->times->took, &stats.took_p50, &stats.took_p99);
    return stats;
}

int gx_checkpoint_wait(gx_checkpoint *c, uint64_t number, int64_t nanoseconds, uint64_t *ret_number) {
    enum { LOOK = 100 * 1000 * 1000 };
    int64_t until = gx_os_deadline(nanoseconds);
    uint64_t lasting;
    gx_monitor_lock(&c->monitor);
    for (;;) {
        lasting = gx_load_acquire(&c->shared->cut.lasting); /* A4 */
        int64_t left = nanoseconds < 0 ? LOOK : until - gx_os_monotonic();
        bool over = gx_load_acquire(&c->image) == GX_IMAGE_FAILED || gx_phase(c->shared) >= GALE_PHASE_CLOSED;
        if (lasting > number || left <= 0 || over) break;
        gx_monitor_wait(&c->monitor, left < LOOK ? left : LOOK);
    }
    bool failed = gx_load_acquire(&c->image) == GX_IMAGE_FAILED || gx_phase(c->shared) >= GALE_PHASE_CLOSED;
    gx_monitor_unlock(&c->monitor);
    *ret_number = lasting;
    return lasting > number ? GALE_OK : failed ? GALE_STOPPED : GALE_TIMED_OUT;
}
