/* The application's threads that work for components: they emit through the remotes of spouts, answer what bolts have
 * handed out, and write into the pipes that spouts read. */
#include "system/random_threads/run.h"

#include <sched.h>
#include <time.h>
#include <unistd.h>

static uint32_t below(rt_thread *thread, uint32_t n) {
    return gx_random_below(&thread->random, n);
}

static void rest(rt_thread *thread, uint32_t microseconds) {
    struct timespec pause = { 0, (long)below(thread, microseconds + 1) * 1000 };
    nanosleep(&pause, NULL);
}

static bool is_over(const rt_thread *thread) {
    return atomic_load(&thread->run->over);
}

/* --- Remotes --- */

/* One of those that are open, of a spout or of a bolt; NULL: there is none yet. */
static rt_remote *pick_remote(rt_thread *thread, bool spouts) {
    rt_run *run = thread->run;
    rt_remote *picked = NULL;
    uint32_t seen = 0;
    pthread_mutex_lock(&run->lock);
    for (uint32_t i = 0; i < run->remote_count; i++) {
        bool of_spout = run->plan.parts[run->remotes[i]->part].habit == RT_SOURCE;
        if (of_spout == spouts && below(thread, ++seen) == 0) picked = run->remotes[i];
    }
    pthread_mutex_unlock(&run->lock);
    return picked;
}

/* The word of a new tuple through this remote; false: there are too many lanes. */
static bool begin_word(rt_thread *thread, rt_remote *remote, uint32_t *seq, rt_word *word) {
    uint32_t *lane = &remote->lanes[thread->number];
    if (!*lane) *lane = rt_lane_new(&thread->run->truth, remote->task);
    if (!*lane) return false;
    word->lane = *lane;
    word->seq = (*seq)++;
    return true;
}

static void check_put(const rt_thread *thread, const char *what, int rc) {
    if (rc == GALE_OK || rc == GALE_AGAIN || rc == GALE_STOPPED) return;
    (void)thread;
    rt_violated("a remote says %s to %s", gale_error_name(rc), what);
}

static void count_put(rt_thread *thread, const rt_remote *remote) {
    atomic_fetch_add_explicit(&thread->run->counts[remote->task].remote, 1, memory_order_relaxed);
}

/* --- Emitting for spouts --- */

/* A stream that is taken directly cannot be emitted to from here: the spout hears that it failed. */
static void set_causes(rt_thread *thread, const rt_remote *remote, uint32_t stream, uint32_t tree, bool misfit) {
    rt_run *run = thread->run;
    rt_truth *truth = &run->truth;
    bool direct = rt_plan_has_grouping(&run->plan, remote->part, stream, GALE_GROUPING_DIRECT);
    rt_tree_loosen(truth, tree); /* nobody tells how many tasks it goes to */
    if (misfit || direct || rt_stream_may_fail(run, remote->part, stream))
        rt_tree_may_fail(truth, tree, GALE_REASON_FAILED);
}

static int emit_tracked(rt_thread *thread, rt_remote *remote, uint32_t *seq) {
    rt_run *run = thread->run;
    const rt_part *part = &run->plan.parts[remote->part];
    uint32_t stream = below(thread, part->stream_count);
    bool misfit = below(thread, 100) == 0;
    rt_word word = { .energy = 1 + below(thread, part->energy), .key = below(thread, RT_KEYS) };
    rt_values made;
    if (!begin_word(thread, remote, seq, &word)) return GALE_STOPPED;
    word.root = rt_tree_new(&run->truth, remote->task, true, atomic_load(remote->told));
    if (word.root == RT_ROOT_NONE) return GALE_STOPPED;
    set_causes(thread, remote, stream, word.root, misfit);
    rt_values_make(&made, &run->plan, part->streams[stream].shape, word, gx_random_next(&thread->random));
    if (misfit) made.values[1] = gale_null();
    int rc = gale_remote_emit_tracked(remote->face, stream, made.values, misfit ? 2 : made.count, word.root);
    rt_tree_asked(&run->truth, word.root, rc);
    if (rc == GALE_OK) count_put(thread, remote);
    return rc;
}

static int emit_untracked(rt_thread *thread, rt_remote *remote, uint32_t *seq) {
    rt_run *run = thread->run;
    const rt_part *part = &run->plan.parts[remote->part];
    uint32_t stream = below(thread, part->stream_count);
    rt_word word = { .root = RT_ROOT_NONE, .energy = 2, .key = below(thread, RT_KEYS) };
    rt_values made;
    if (!begin_word(thread, remote, seq, &word)) return GALE_STOPPED;
    rt_values_make(&made, &run->plan, part->streams[stream].shape, word, gx_random_next(&thread->random));
    int rc = gale_remote_emit(remote->face, stream, made.values, made.count, NULL, 0);
    if (rc == GALE_OK) count_put(thread, remote);
    return rc;
}

void *rt_emitter(void *user) {
    rt_thread *thread = user;
    uint32_t seq = 0;
    for (uint32_t emitted = 0; emitted < thread->run->plan.emits && !is_over(thread);) {
        rt_remote *remote = pick_remote(thread, true);
        int rc = GALE_AGAIN;
        if (remote) {
            bool tracked = below(thread, 16) != 0;
            rc = tracked ? emit_tracked(thread, remote, &seq) : emit_untracked(thread, remote, &seq);
            check_put(thread, "an emit", rc);
        }
        if (rc == GALE_OK) emitted++;
        if (rc == GALE_STOPPED && below(thread, 4) == 0) break;
        if (rc != GALE_OK || below(thread, 8) == 0) rest(thread, 300);
    }
    return NULL;
}

/* --- Answering for bolts --- */

static bool take_handed(rt_thread *thread, rt_handed *ret_handed) {
    rt_run *run = thread->run;
    pthread_mutex_lock(&run->lock);
    bool any = run->handed_count > 0;
    if (any) { /* any of them, so that answers come out of order */
        uint32_t at = below(thread, run->handed_count);
        *ret_handed = run->handed[at];
        run->handed[at] = run->handed[--run->handed_count];
    }
    pthread_mutex_unlock(&run->lock);
    return any;
}

/* Until it is taken, or the run has ended. */
static int insist(rt_thread *thread, const rt_handed *handed, bool ack, int32_t reason) {
    int rc;
    do {
        rc = ack ? gale_remote_ack(handed->remote->face, handed->handle)
                 : gale_remote_fail(handed->remote->face, handed->handle, reason, "drawn to fail elsewhere");
        check_put(thread, "an answer", rc);
        if (rc == GALE_AGAIN) sched_yield();
    } while (rc == GALE_AGAIN);
    if (rc == GALE_OK) count_put(thread, handed->remote);
    return rc;
}

static void emit_from(rt_thread *thread, const rt_handed *handed, uint32_t *seq) {
    rt_run *run = thread->run;
    const rt_part *part = &run->plan.parts[handed->remote->part];
    uint32_t stream = below(thread, part->stream_count);
    rt_word word = handed->word;
    rt_values made;
    if (word.energy < 2 || word.hops >= RT_HOPS_MAX || part->streams[stream].direct) return;
    word.hops++;
    word.energy = (word.energy - 1) / (1 + 2 * part->tasks);
    if (!begin_word(thread, handed->remote, seq, &word)) return;
    rt_tree_loosen(&run->truth, word.root);
    if (rt_stream_may_fail(run, handed->remote->part, stream))
        rt_tree_may_fail(&run->truth, word.root, GALE_REASON_FAILED);
    rt_values_make(&made, &run->plan, part->streams[stream].shape, word, gx_random_next(&thread->random));
    int rc = gale_remote_emit(handed->remote->face, stream, made.values, made.count, &handed->handle, 1);
    check_put(thread, "an anchored emit", rc);
    if (rc == GALE_OK) count_put(thread, handed->remote);
}

static void answer(rt_thread *thread, const rt_handed *handed, uint32_t *seq) {
    rt_truth *truth = &thread->run->truth;
    bool fails = below(thread, 12) == 0;
    int32_t reason = below(thread, 2) ? GALE_REASON_FAILED : GALE_REASON_REJECTED;
    for (uint32_t i = below(thread, 3); i > 0; i--) emit_from(thread, handed, seq);
    if (fails)
        rt_tree_may_fail(truth, handed->word.root, reason);
    else
        rt_tree_done(truth, handed->word.root);
    if (insist(thread, handed, !fails, reason) == GALE_OK && fails) rt_tree_must_fail(truth, handed->word.root);
    if (below(thread, 32)) return;
    check_put(thread, "a second ack", gale_remote_ack(handed->remote->face, handed->handle)); /* without effect */
}

/* Answers until the end: what it did not would keep a drain from ending. */
void *rt_hand(void *user) {
    rt_thread *thread = user;
    uint32_t seq = 0;
    rt_handed handed;
    while (!is_over(thread)) {
        if (take_handed(thread, &handed))
            answer(thread, &handed, &seq);
        else
            rest(thread, 300);
    }
    return NULL;
}

/* --- Pipes --- */

/* Some more bytes; the end when all are written. Returns how many are open. */
static uint32_t feed(rt_thread *thread) {
    rt_run *run = thread->run;
    char bytes[64] = { 0 };
    uint32_t open = 0;
    pthread_mutex_lock(&run->lock);
    for (uint32_t i = 0; i < run->feed_count; i++) {
        rt_feed *f = &run->feeds[i];
        if (f->fd < 0) continue;
        uint32_t want = 1 + below(thread, sizeof bytes);
        ssize_t wrote = write(f->fd, bytes, want < f->left ? want : f->left);
        if (wrote > 0) f->left -= (uint32_t)wrote;
        if (f->left == 0 || is_over(thread)) {
            close(f->fd);
            f->fd = -1;
        } else {
            open++;
        }
    }
    pthread_mutex_unlock(&run->lock);
    return open;
}

void *rt_feeder(void *user) {
    rt_thread *thread = user;
    while (feed(thread) || !is_over(thread)) rest(thread, 500);
    return NULL;
}
