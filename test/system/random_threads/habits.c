/* What bolts do with a tuple, each by its habit. */
#include "system/random_threads/run.h"

enum { JOIN_MOST = 3, HOPS_JOINED = 8 };

/* --- Answers --- */

static void expect(const rt_task *task, const char *what, int rc, int wanted) {
    if (rc != wanted)
        rt_violated("task %u: %s says %s, not %s", task->id, what, gale_error_name(rc), gale_error_name(wanted));
}

/* An emit that was anchored to it failed. */
static void mark(rt_task *task, rt_copy *c) {
    c->marked = true;
    rt_tree_may_fail(&task->run->truth, c->word.root, GALE_REASON_FAILED);
    rt_tree_must_fail(&task->run->truth, c->word.root);
}

static void ack(rt_task *task, const rt_copy *c) {
    if (!c->marked) rt_tree_done(&task->run->truth, c->word.root);
    expect(task, "an ack", gale_ack(task->out, c->handle), GALE_OK);
}

static void fail(rt_task *task, const rt_copy *c, int32_t reason) {
    rt_tree_may_fail(&task->run->truth, c->word.root, reason);
    rt_tree_must_fail(&task->run->truth, c->word.root);
    expect(task, "a fail", gale_fail(task->out, c->handle, reason, "drawn to fail"), GALE_OK);
}

static void fail_somehow(rt_task *task, const rt_copy *c) {
    static const int32_t reasons[] = { GALE_REASON_FAILED, GALE_REASON_REJECTED, GALE_REASON_CHILD_EXITED,
                                       GALE_REASON_USER + 7 };
    if (rt_task_below(task, 8) == 0)
        expect(task, "a fail for reason -7", gale_fail(task->out, c->handle, -7, NULL), GALE_INVALID);
    fail(task, c, reasons[rt_task_below(task, 4)]);
}

/* It has been answered: nothing can be done with it any more. */
static void misuse(rt_task *task, const rt_copy *c) {
    gale_handle held;
    expect(task, "a second ack", gale_ack(task->out, c->handle), GALE_SETTLED);
    expect(task, "a fail after an answer", gale_fail(task->out, c->handle, 0, NULL), GALE_SETTLED);
    expect(task, "a reset after an answer", gale_reset_timeout(task->out, c->handle), GALE_SETTLED);
    if (gale_tuple_hold(task->out, c->handle, &held) >= 0) rt_violated("task %u holds what is settled", task->id);
    rt_send what = { RT_ANCHORED, { .root = RT_ROOT_NONE }, &c->handle, 1, true };
    if (rt_task_below(task, 2)) what.how = RT_BOUND;
    (void)rt_send_to(task, rt_task_below(task, task->part->stream_count), what);
}

/* --- Emitting --- */

/* A tuple that comes of `from`, with a share of its energy. */
static rt_word child_of(rt_task *task, rt_word from, uint32_t stream, uint32_t count) {
    uint32_t fan = rt_plan_fan(&task->run->plan, task->number, stream), share = count * (fan ? fan : 1);
    return (rt_word){ .root = from.root,
                      .hops = from.hops + 1,
                      .energy = (from.energy - 1) / share,
                      .key = rt_task_below(task, 2) ? from.key : rt_task_below(task, RT_KEYS) };
}

/* Spends the energy of a tuple on some more. Returns the first error. */
static int spread(rt_task *task, rt_word from, rt_send what) {
    if (from.energy == 0 || from.hops >= RT_HOPS_MAX) return 0;
    uint32_t count = 1 + rt_task_below(task, task->part->fan);
    if (count > from.energy) count = from.energy;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t stream = rt_task_below(task, task->part->stream_count);
        rt_send one = what;
        one.word = child_of(task, from, stream, count);
        if (one.how == RT_BOUND && task->part->habit == RT_LOOSE && rt_task_below(task, 4) == 0)
            one.how = RT_UNANCHORED;
        if (one.how == RT_UNANCHORED || one.how == RT_UNTRACKED) one.word.root = RT_ROOT_NONE;
        int rc = rt_send_to(task, stream, one);
        if (rc < 0 && one.how != RT_UNANCHORED) return rc;
    }
    return 0;
}

/* Anchored to the tuple in execution, in one of two ways. */
static int spread_from(rt_task *task, rt_copy *c) {
    bool named = rt_task_below(task, 4) == 0;
    rt_send what = { named ? RT_ANCHORED : RT_BOUND, { 0 }, &c->handle, 1, false };
    int rc = spread(task, c->word, what);
    if (rc < 0) mark(task, c);
    return rc;
}

/* --- Held tuples --- */

static bool hold(rt_task *task, rt_copy *c) {
    gale_handle held;
    int rc = gale_tuple_hold(task->out, c->handle, &held);
    if (rc < 0) {
        if (rc != GALE_NO_MEMORY || !task->run->plan.memory_one)
            rt_violated("task %u cannot hold a tuple: %s", task->id, gale_error_name(rc));
        fail(task, c, GALE_REASON_NO_MEMORY);
        return false;
    }
    if (!gale_held(task->out, held)) rt_violated("task %u holds a tuple that is not there", task->id);
    c->handle = held;
    if (rt_task_below(task, 8) == 0) expect(task, "a reset", gale_reset_timeout(task->out, held), GALE_OK);
    return true;
}

static bool keep(rt_task *task, rt_copy *c) {
    if (!hold(task, c)) return false;
    task->kept[task->kept_count++] = *c;
    return true;
}

static void answer_kept(rt_task *task) {
    for (uint32_t i = 0; i < task->kept_count; i++) {
        if (rt_task_below(task, 16) == 0)
            fail_somehow(task, &task->kept[i]);
        else
            ack(task, &task->kept[i]);
    }
    task->kept_count = 0;
}

/* Emits anchored to all that are kept. What comes of it is of several trees: of the first its word tells. */
static void join_kept(rt_task *task) {
    gale_handle anchors[RT_KEPT_MAX + 1];
    rt_word word = { 0 };
    uint32_t count = task->kept_count, energy = 0;
    if (!count) return;
    for (uint32_t i = 0; i < count; i++) {
        anchors[i] = task->kept[i].handle;
        energy += task->kept[i].word.energy;
        rt_tree_join(&task->run->truth, task->kept[i].word.root);
    }
    anchors[count] = anchors[0]; /* the same twice is legal */
    word = task->kept[0].word;
    word.energy = energy < 100 ? energy : 100;
    rt_send what = { RT_ANCHORED, { 0 }, anchors, count + rt_task_below(task, 2), false };
    int rc = word.hops < HOPS_JOINED ? spread(task, word, what) : 0;
    for (uint32_t i = 0; i < count && rc < 0; i++) mark(task, &task->kept[i]);
    answer_kept(task);
}

/* --- Habits: what execute makes of a tuple --- */

static int pass(rt_task *task, rt_copy *c) {
    bool errs = rt_task_errs(task), early = rt_task_below(task, 2) == 0;
    int rc = errs && early ? GALE_COMPONENT : spread_from(task, c);
    if (errs) rc = GALE_COMPONENT;
    if (rc < 0) {
        mark(task, c);
        if (rt_task_below(task, 2)) gale_report(task->out, "drawn to err");
        return rc;
    }
    rt_tree_done(&task->run->truth, c->word.root);
    return 0;
}

static int work(rt_task *task, rt_copy *c) {
    int rc = spread_from(task, c);
    if (rt_task_errs(task) || (rc < 0 && task->part->habit != RT_BLIND))
        fail_somehow(task, c);
    else
        ack(task, c);
    return 0;
}

static int loose(rt_task *task, rt_copy *c) {
    uint32_t drawn = rt_task_below(task, 64);
    if (drawn == 0 && task->run->plan.timeout) return 0; /* forgotten */
    int rc = spread_from(task, c);
    if (drawn == 1) {
        mark(task, c);
        return GALE_COMPONENT; /* not answered: the engine fails it */
    }
    if (drawn == 2 || rc < 0)
        fail_somehow(task, c);
    else
        ack(task, c);
    if (drawn < 8) misuse(task, c);
    return 0;
}

static int join(rt_task *task, rt_copy *c) {
    (void)keep(task, c);
    if (task->kept_count == JOIN_MOST || (task->kept_count && rt_task_below(task, 3) == 0)) join_kept(task);
    return 0;
}

/* What is emitted after it is held is anchored to it, too. */
static int keep_for_later(rt_task *task, rt_copy *c) {
    bool late = rt_task_below(task, 4) == 0;
    if (task->kept_count == RT_KEPT_MAX) answer_kept(task);
    if (!late) (void)spread_from(task, c);
    bool kept = keep(task, c);
    rt_send what = { .how = RT_BOUND };
    if (kept && late && spread(task, c->word, what) < 0) mark(task, &task->kept[task->kept_count - 1]);
    return 0;
}

static int keep_window(rt_task *task, rt_copy *c) {
    if (task->kept_count == RT_KEPT_MAX) join_kept(task);
    (void)keep(task, c);
    return 0;
}

static int hand(rt_task *task, rt_copy *c) {
    rt_run *run = task->run;
    if (rt_task_below(task, 4) == 0) (void)spread_from(task, c);
    if (!task->remote || !hold(task, c)) {
        if (!task->remote) ack(task, c);
        return 0;
    }
    bool handed = false;
    pthread_mutex_lock(&run->lock);
    if (run->handed_count < RT_HANDED_MAX) {
        if (c->marked) rt_tree_may_fail(&run->truth, c->word.root, GALE_REASON_FAILED);
        run->handed[run->handed_count++] = (rt_handed){ task->remote, c->handle, c->word };
        handed = true;
    }
    pthread_mutex_unlock(&run->lock);
    if (!handed) ack(task, c);
    return 0;
}

int rt_habit_treat(rt_task *task, rt_copy *c) {
    switch (task->part->habit) {
    case RT_PASS: return pass(task, c);
    case RT_LOOSE: return loose(task, c);
    case RT_JOIN: return join(task, c);
    case RT_KEEP: return keep_for_later(task, c);
    case RT_WINDOW: return keep_window(task, c);
    case RT_HAND: return hand(task, c);
    default: return work(task, c);
    }
}

void rt_habit_tick(rt_task *task) {
    if (task->part->habit == RT_JOIN || task->part->habit == RT_WINDOW) join_kept(task);
    if (task->part->habit == RT_KEEP) answer_kept(task);
}

void rt_habit_finish(rt_task *task) {
    answer_kept(task);
}
