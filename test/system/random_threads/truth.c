#include "system/random_threads/truth.h"

#include <gale/clock.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* --- What does not hold --- */

static const rt_plan *spoken_of;
static const char *program_name = "random_threads";

void rt_truth_speaks_of(const rt_plan *plan, const char *program) {
    spoken_of = plan;
    program_name = program;
}

void rt_truth_say_again(void) {
    if (!spoken_of) return;
    rt_plan_print(spoken_of, stderr);
    fprintf(stderr, "again: %s --seed %llu --repeat 100\n", program_name, (unsigned long long)spoken_of->seed);
    fflush(stderr);
}

_Noreturn void rt_violated(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    flockfile(stderr); /* the first says it all: others wait here for the end */
    fprintf(stderr, "seed %llu does not hold: ", (unsigned long long)spoken_of->seed);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    rt_truth_say_again();
    abort();
}

/* --- The whole --- */

bool rt_truth_init(rt_truth *truth) {
    memset(truth, 0, sizeof *truth);
    truth->trees = calloc(RT_TREES_MAX, sizeof *truth->trees);
    truth->copies = calloc(RT_TASKS_MAX, sizeof *truth->copies);
    truth->order = calloc(RT_TASKS_MAX, sizeof *truth->order);
    return truth->trees && truth->copies && truth->order;
}

void rt_truth_fini(rt_truth *truth) {
    free(truth->trees);
    free(truth->copies);
    free(truth->order);
}

static uint32_t causes_of(const rt_plan *plan) {
    uint32_t causes = rt_reason_bit(GALE_REASON_TIMEOUT); /* its age is looked at */
    if (plan->deadline) causes |= rt_reason_bit(GALE_REASON_DEADLINE);
    if (plan->queue_limit) causes |= rt_reason_bit(GALE_REASON_OVERFLOW);
    if (plan->memory_one) causes |= rt_reason_bit(GALE_REASON_NO_MEMORY) | rt_reason_bit(GALE_REASON_FAILED);
    if (rt_plan_stops_itself(plan)) causes |= rt_reason_bit(GALE_REASON_STOPPED);
    return causes;
}

void rt_truth_begin(rt_truth *truth, const rt_plan *plan) {
    uint32_t used = atomic_load(&truth->tree_count);
    memset(truth->trees, 0, used * sizeof *truth->trees);
    for (uint32_t i = 0; i < RT_TASKS_MAX; i++) memset(truth->copies[i], 0, used);
    memset(truth->order, 0, RT_TASKS_MAX * sizeof *truth->order);
    rt_truth next = { .plan = plan, .trees = truth->trees, .copies = truth->copies, .order = truth->order };
    memcpy(truth, &next, sizeof next);
    atomic_store(&truth->causes, causes_of(plan));
    atomic_store(&truth->lanes, RT_TASKS_MAX);
    for (uint32_t i = 0; i < RT_TASKS_MAX; i++) atomic_store(&truth->lane_task[i], i);
}

/* --- Trees --- */

/* Which a run lives to see where a sanitizer and other work leave it little of the machine. */
#define TIMEOUT_DEFAULT (30 * GALE_SECOND)

uint32_t rt_tree_new(rt_truth *truth, uint32_t task, bool remote, int64_t born) {
    uint32_t number = atomic_load_explicit(&truth->tree_count, memory_order_relaxed);
    do {
        if (number >= RT_TREES_MAX) return RT_ROOT_NONE;
    } while (!atomic_compare_exchange_weak(&truth->tree_count, &number, number + 1));
    rt_tree *tree = &truth->trees[number];
    tree->task = task;
    tree->remote = remote;
    tree->born = born;
    return number;
}

void rt_tree_asked(rt_truth *truth, uint32_t number, int rc) {
    rt_tree *tree = &truth->trees[number];
    atomic_store(&tree->state, rc >= 0 ? RT_ACCEPTED : RT_REFUSED);
    if (rc >= 0)
        atomic_fetch_add(&truth->accepted, 1);
    else if (atomic_load(&tree->answers))
        rt_violated("an emit of task %u was refused (%s), but its tree %u was answered", tree->task,
                    gale_error_name(rc), number);
}

static bool is_exact(const rt_truth *truth, const rt_tree *tree) {
    const rt_plan *plan = truth->plan;
    return plan->ackers != 0 && !rt_plan_replays(plan) && !plan->memory_one && !rt_plan_drops(plan) &&
           !atomic_load(&tree->loose);
}

/* All of it was acked, and all of it was executed. */
static void check_acked(const rt_truth *truth, uint32_t number) {
    const rt_tree *tree = &truth->trees[number];
    unsigned sent = atomic_load(&tree->sent), executed = atomic_load(&tree->executed), done = atomic_load(&tree->done);
    if (is_exact(truth, tree) && (sent != executed || sent != done))
        rt_violated("tree %u of task %u is acked: %u deliveries, %u executed, %u acked", number, tree->task, sent,
                    executed, done);
}

/* What components fail tuples for. */
static uint32_t of_components(void) {
    return rt_reason_bit(GALE_REASON_FAILED) | rt_reason_bit(GALE_REASON_REJECTED) |
           rt_reason_bit(GALE_REASON_CHILD_EXITED) | rt_reason_bit(GALE_REASON_USER);
}

static void check_failed(const rt_truth *truth, uint32_t number, const gale_failure *failure, int64_t now) {
    const rt_tree *tree = &truth->trees[number];
    const rt_plan *plan = truth->plan;
    uint32_t allowed = atomic_load(&tree->causes) | atomic_load(&truth->causes);
    if (atomic_load(&tree->joined)) allowed |= of_components();
    if (!(allowed & rt_reason_bit(failure->reason)))
        rt_violated("tree %u of task %u failed for no reason of its own: %s at '%s' (%s)", number, tree->task,
                    gale_reason_name(failure->reason), failure->component ? failure->component : "-", failure->text);
    int64_t timeout = plan->timeout ? plan->timeout : TIMEOUT_DEFAULT;
    if (failure->reason == GALE_REASON_TIMEOUT && now - tree->born < timeout)
        rt_violated("tree %u of task %u timed out after %lld of %lld ns", number, tree->task,
                    (long long)(now - tree->born), (long long)timeout);
    if (failure->attempts > (uint32_t)plan->attempts || (!failure->attempts && !tree->remote))
        rt_violated("tree %u of task %u failed after %u attempts of %lld", number, tree->task, failure->attempts,
                    (long long)plan->attempts);
}

void rt_tree_answered(rt_truth *truth, uint32_t number, uint32_t task, const gale_failure *failure, int64_t now) {
    if (number >= atomic_load(&truth->tree_count)) rt_violated("task %u heard of message %u, of nobody", task, number);
    rt_tree *tree = &truth->trees[number];
    const char *how = failure ? gale_reason_name(failure->reason) : "acked";
    if (tree->task != task) rt_violated("task %u heard of tree %u of task %u (%s)", task, number, tree->task, how);
    if (atomic_fetch_add(&tree->answers, 1))
        rt_violated("tree %u of task %u was answered again: %s", number, task, how);
    unsigned state = atomic_load(&tree->state);
    if (state != RT_ACCEPTED && !(tree->remote && state == RT_ASKED))
        rt_violated("tree %u of task %u was answered (%s), but was %s", number, task, how,
                    state == RT_REFUSED ? "refused" : "not yet accepted");
    if (failure) {
        check_failed(truth, number, failure, now);
    } else {
        atomic_store(&tree->acked, 1);
        check_acked(truth, number);
    }
    atomic_fetch_add_explicit(&truth->answered, 1, memory_order_relaxed);
}

void rt_tree_buried(rt_truth *truth, uint32_t number, const char *reason) {
    if (number >= atomic_load(&truth->tree_count)) rt_violated("a dead letter of message %u, of nobody", number);
    rt_tree *tree = &truth->trees[number];
    unsigned before = atomic_fetch_add(&tree->letters, 1), tasks = 0;
    for (uint32_t i = 0; i < truth->plan->part_count; i++)
        if (truth->plan->parts[i].habit == RT_BURY) tasks = truth->plan->parts[i].tasks;
    if (before >= (unsigned)truth->plan->attempts * tasks)
        rt_violated("tree %u of task %u is a dead letter (%s) for the %u. time", number, tree->task, reason,
                    before + 1);
}

uint32_t rt_trees_unanswered(const rt_truth *truth, uint32_t task, uint32_t *ret_first) {
    uint32_t count = 0, trees = atomic_load(&truth->tree_count);
    for (uint32_t i = 0; i < trees; i++) {
        const rt_tree *tree = &truth->trees[i];
        if (atomic_load(&tree->state) != RT_ACCEPTED || atomic_load(&tree->answers)) continue;
        if (task && tree->task != task) continue; /* read last: before, another thread may be writing it */
        if (count++ == 0) *ret_first = i;
    }
    return count;
}

void rt_trees_check(const rt_truth *truth) {
    uint32_t first, unanswered = rt_trees_unanswered(truth, 0, &first);
    if (unanswered)
        rt_violated("%u trees were accepted and never answered, the first is %u of task %u%s", unanswered, first,
                    truth->trees[first].task, truth->trees[first].remote ? " (of a remote)" : "");
    bool binding = truth->plan->ackers != 0 && !rt_plan_replays(truth->plan);
    for (uint32_t i = 0; i < atomic_load(&truth->tree_count); i++) {
        const rt_tree *tree = &truth->trees[i];
        if (atomic_load(&tree->state) == RT_REFUSED && atomic_load(&tree->answers))
            rt_violated("tree %u of task %u was refused and answered", i, tree->task);
        if (binding && atomic_load(&tree->acked) && atomic_load(&tree->must_fail))
            rt_violated("tree %u of task %u is acked, but a tuple of it failed", i, tree->task);
        if (atomic_load(&tree->letters) && atomic_load(&tree->acked))
            rt_violated("tree %u of task %u is acked, and a dead letter", i, tree->task);
    }
}

/* --- Deliveries --- */

uint32_t rt_lane_new(rt_truth *truth, uint32_t task) {
    uint32_t lane = atomic_fetch_add(&truth->lanes, 1);
    if (lane >= RT_LANES) return 0;
    atomic_store(&truth->lane_task[lane], task);
    return lane;
}

/* Emitted by the engine, perhaps again: each attempt at most once to each task. */
static void check_attempt(rt_truth *truth, rt_word w, uint32_t task) {
    if (++truth->copies[task][w.root] > truth->plan->attempts)
        rt_violated("tree %u came to task %u more often than there are attempts", w.root, task);
}

static void check_order(rt_truth *truth, rt_word w, uint32_t task) {
    uint32_t *last = &truth->order[task][w.lane];
    if (w.seq < *last)
        rt_violated("task %u executed tuple %u of lane %u (task %u) behind tuple %u: %s", task, w.seq, w.lane,
                    atomic_load(&truth->lane_task[w.lane]), *last - 1, w.seq + 1 == *last ? "twice" : "out of order");
    *last = w.seq + 1;
}

/* Equal keys go to one task, or to one of two. */
static void check_key(rt_truth *truth, rt_word w, uint32_t part, uint32_t input, uint32_t task, uint32_t most) {
    for (uint32_t i = 0; i < most; i++) {
        unsigned owner = 0;
        atomic_uint *place = &truth->owners[part][input][w.key][i];
        if (atomic_compare_exchange_strong(place, &owner, task + 1) || owner == task + 1) return;
    }
    rt_violated("key %u of '%s' came to more tasks than its grouping allows, now to task %u", w.key,
                truth->plan->parts[part].name, task);
}

static void check_grouping(rt_truth *truth, rt_word w, uint32_t part, uint32_t input, uint32_t task, uint32_t index) {
    const rt_input *by = &truth->plan->parts[part].inputs[input];
    if (by->grouping == GALE_GROUPING_GLOBAL && index != 0)
        rt_violated("task %u, which is not the first, got a tuple by global grouping", task);
    if (by->grouping == GALE_GROUPING_DIRECT && w.key != index)
        rt_violated("task %u got a tuple that was for number %u of '%s'", task, w.key, truth->plan->parts[part].name);
    if (!by->by_key) return;
    if (by->grouping == GALE_GROUPING_FIELDS) check_key(truth, w, part, input, task, 1);
    if (by->grouping == GALE_GROUPING_PARTIAL_KEY) check_key(truth, w, part, input, task, 2);
}

void rt_received(rt_truth *truth, rt_word w, uint32_t source, uint32_t task, uint32_t index, uint32_t part,
                 uint32_t input) {
    if (atomic_load_explicit(&truth->lane_task[w.lane], memory_order_relaxed) != source)
        rt_violated("task %u got a tuple of task %u that is of lane %u", task, source, w.lane);
    bool again = rt_plan_replays(truth->plan) && w.hops == 0 && w.root != RT_ROOT_NONE;
    if (again)
        check_attempt(truth, w, task);
    else
        check_order(truth, w, task);
    check_grouping(truth, w, part, input, task, index);
    atomic_fetch_add_explicit(&truth->executed, 1, memory_order_relaxed);
    if (w.root != RT_ROOT_NONE) atomic_fetch_add_explicit(&truth->trees[w.root].executed, 1, memory_order_relaxed);
}
