/* The spouts: they emit what is drawn, from a pipe or out of nothing, and check all that they hear. */
#include "system/random_threads/run.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* --- Life --- */

/* The reading end is the task's, the writing end a thread's of the application. */
static bool open_pipe(rt_task *task) {
    rt_run *run = task->run;
    int ends[2];
    if (pipe2(ends, O_NONBLOCK | O_CLOEXEC) < 0) return false;
    pthread_mutex_lock(&run->lock);
    run->feeds[run->feed_count++] = (rt_feed){ ends[1], task->part->to_emit };
    pthread_mutex_unlock(&run->lock);
    task->fd = (uint32_t)ends[0];
    task->fd_open = true;
    return true;
}

static int open_spout(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    rt_task *task;
    int rc = rt_task_new(user, context, out, &task);
    if (rc < 0) return rc;
    rt_enter(task, "open");
    if (task->part->piped && !open_pipe(task)) rt_violated("there are no more pipes");
    if (task->part->talkative) (void)rt_send_tree(task);
    rt_leave(task);
    *ret_self = task;
    return GALE_OK;
}

static void activate(void *self) {
    rt_task *task = self;
    rt_enter(task, "activate");
    if (task->active) rt_violated("task %u was activated while it was active", task->id);
    task->active = true;
    if (task->part->talkative) (void)rt_send_tree(task);
    rt_leave(task);
}

static void deactivate(void *self) {
    rt_task *task = self;
    rt_enter(task, "deactivate");
    if (!task->active) rt_violated("task %u was deactivated while it was not active", task->id);
    task->active = false;
    if (task->part->talkative) (void)rt_send_tree(task);
    rt_leave(task);
}

/* Everything was answered before, and nothing more is taken. */
static void close_spout(void *self) {
    rt_task *task = self;
    rt_enter(task, "close");
    uint32_t first, unanswered = rt_trees_unanswered(&task->run->truth, task->id, &first);
    if (task->active) rt_violated("task %u is closed while it is active", task->id);
    if (unanswered)
        rt_violated("task %u is closed, but %u of its trees are not answered, the first is %u", task->id, unanswered,
                    first);
    task->closing = true;
    if (task->part->talkative && rt_send_tree(task) >= 0) rt_violated("task %u could emit from close", task->id);
    if (task->fd_open) close((int)task->fd);
    rt_leave(task);
    rt_task_free(task);
}

/* --- Emitting --- */

static void check_pending(const rt_task *task) {
    const rt_plan *plan = &task->run->plan;
    uint64_t pending = gale_pending(task->out);
    if (!task->remote && pending != task->open)
        rt_violated("task %u has %u trees open, and %llu pending", task->id, task->open, (unsigned long long)pending);
    if (plan->pending && pending >= (uint64_t)plan->pending)
        rt_violated("task %u was asked for more with %llu trees pending of %lld", task->id, (unsigned long long)pending,
                    (long long)plan->pending);
}

/* A byte of the pipe for each tuple. Returns what next is to return instead, or EMITTED. */
static int take_byte(rt_task *task, gale_wait *wait) {
    char byte;
    ssize_t got = read((int)task->fd, &byte, 1);
    if (got == 1) return GALE_NEXT_EMITTED;
    if (got == 0) {
        task->ended = true;
        return GALE_NEXT_DONE;
    }
    wait->fd = (int32_t)task->fd;
    return GALE_NEXT_READABLE;
}

static void emit_untracked(rt_task *task) {
    rt_word word = { .root = RT_ROOT_NONE, .energy = 3, .key = rt_task_below(task, RT_KEYS) };
    rt_send what = { .how = RT_UNTRACKED, .word = word };
    (void)rt_send_to(task, rt_task_below(task, task->part->stream_count), what);
}

static int emit_some(rt_task *task) {
    if (rt_task_below(task, 16) == 0) emit_untracked(task);
    uint32_t count = rt_task_below(task, 8) ? 1 : 1 + rt_task_below(task, 4);
    for (uint32_t i = 0; i < count; i++) {
        if (task->again)
            task->again--;
        else
            task->emitted++;
        (void)rt_send_tree(task);
    }
    return GALE_NEXT_EMITTED;
}

static bool has_more(const rt_task *task) {
    return task->again || (!task->ended && task->emitted < task->part->to_emit);
}

static int next_of(rt_task *task, gale_wait *wait) {
    uint32_t drawn = rt_task_below(task, 32);
    check_pending(task);
    if (rt_task_errs(task)) return GALE_IO;
    if (!has_more(task)) return GALE_NEXT_DONE;
    if (drawn == 0) {
        wait->until = rt_now(task->run) + rt_task_below(task, 1000000);
        return GALE_NEXT_UNTIL;
    }
    if (drawn == 1) return GALE_NEXT_NOTHING;
    if (task->fd_open && !task->again) {
        int rc = take_byte(task, wait);
        if (rc != GALE_NEXT_EMITTED) return rc;
    }
    return emit_some(task);
}

static int next(void *self, gale_collector *out, gale_wait *wait) {
    rt_task *task = self;
    if (out != task->out) rt_violated("task %u was given another's collector", task->id);
    rt_enter(task, "next");
    if (!task->active) rt_violated("task %u was asked for more while it was not active", task->id);
    rt_task_call(task);
    int rc = next_of(task, wait);
    rt_leave(task);
    return rc;
}

/* --- Answers --- */

static void hear(rt_task *task, uint64_t message_id, const gale_failure *failure) {
    bool was_tree = !failure || failure->attempts;
    rt_tree_answered(&task->run->truth, (uint32_t)message_id, task->id, failure, rt_now(task->run));
    if (was_tree && !task->run->truth.trees[message_id].remote) {
        if (!task->open) rt_violated("task %u heard of more trees than it has open", task->id);
        task->open--;
    }
    if (task->part->talkative && rt_task_below(task, 8) == 0) emit_untracked(task);
    if (task->part->talkative && rt_task_below(task, 16) == 0 && task->emitted < task->part->to_emit) {
        task->emitted++;
        (void)rt_send_tree(task);
    }
}

static void on_ack(void *self, uint64_t message_id) {
    rt_task *task = self;
    rt_enter(task, "ack");
    task->counts->acks++;
    hear(task, message_id, NULL);
    rt_leave(task);
}

static void check_failure(const rt_task *task, const gale_failure *failure) {
    const rt_plan *plan = &task->run->plan;
    if (!failure->text) rt_violated("task %u heard of a failure without a text", task->id);
    uint32_t part = failure->task < RT_TASKS_MAX ? task->run->part_of[failure->task] : 0;
    if (failure->task && part && strcmp(plan->parts[part - 1].name, failure->component) != 0)
        rt_violated("task %u heard of a failure at task %u, of '%s'", task->id, failure->task, failure->component);
}

static void on_fail(void *self, uint64_t message_id, const gale_failure *failure) {
    rt_task *task = self;
    rt_counts *counts = task->counts;
    rt_enter(task, "fail");
    check_failure(task, failure);
    bool user = failure->reason >= GALE_REASON_USER;
    if (!failure->attempts)
        counts->never_trees++;
    else
        counts->by_reason[user ? GALE_REASON_COUNT : failure->reason]++;
    if (failure->reason == GALE_REASON_TIMEOUT)
        counts->timeouts++;
    else if (failure->reason == GALE_REASON_REJECTED)
        counts->rejects++;
    else
        counts->fails++;
    if (task->part->retries && !failure->final && task->emitted < 2 * task->part->to_emit) {
        task->emitted++;
        task->again++;
    }
    hear(task, message_id, failure);
    rt_leave(task);
}

const gale_spout_ops rt_spout_ops = { .size = sizeof rt_spout_ops,
                                      .name = "random",
                                      .open = open_spout,
                                      .activate = activate,
                                      .next = next,
                                      .ack = on_ack,
                                      .fail = on_fail,
                                      .deactivate = deactivate,
                                      .close = close_spout };
