#include "engine/sim_truth.h"

#include "base/hash.h"
#include "tuple/value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int gx_truth_init(gx_truth *truth, gx_heap *heap) {
    memset(truth, 0, sizeof *truth);
    truth->heap = heap;
    truth->key = (gx_buf)GX_BUF_INIT(heap);
    truth->keys = gx_bytes_map_new(heap, sizeof(uint64_t), 1);
    return truth->keys ? GALE_OK : GALE_NO_MEMORY;
}

static void free_pairs(gx_truth *truth) {
    for (size_t i = 0; i < truth->pair_capacity; i++)
        gx_free(truth->heap, GX_TAG_OTHER, truth->pairs[i].emissions, truth->pairs[i].capacity * sizeof(uint32_t));
    gx_free(truth->heap, GX_TAG_OTHER, truth->pairs, truth->pair_capacity * sizeof *truth->pairs);
    truth->pairs = NULL;
    truth->pair_capacity = 0;
}

void gx_truth_fini(gx_truth *truth) {
    gx_heap *heap = truth->heap;
    if (!heap) return;
    free_pairs(truth);
    gx_free(heap, GX_TAG_OTHER, truth->emissions, truth->emission_capacity * sizeof *truth->emissions);
    gx_free(heap, GX_TAG_OTHER, truth->tree_list, truth->tree_list_capacity * sizeof *truth->tree_list);
    gx_free(heap, GX_TAG_OTHER, truth->trees, truth->tree_capacity * sizeof *truth->trees);
    gx_free(heap, GX_TAG_OTHER, truth->open_trees, truth->open_capacity * sizeof *truth->open_trees);
    gx_free(heap, GX_TAG_OTHER, truth->counts, truth->count_capacity * sizeof *truth->counts);
    gx_bytes_map_free(truth->keys);
    gx_buf_fini(&truth->key);
    memset(truth, 0, sizeof *truth);
}

int gx_truth_begin(gx_truth *truth, const gx_plan *plan) {
    if (plan->task_count > GX_TRUTH_TASKS_MAX) return GALE_TOO_LARGE;
    size_t side = plan->task_count + 1u;
    if (!gx_grow(truth->heap, GX_TAG_OTHER, &truth->pairs, &truth->pair_capacity, side * side, sizeof *truth->pairs) ||
        !gx_grow(truth->heap, GX_TAG_OTHER, &truth->counts, &truth->count_capacity, side, sizeof *truth->counts))
        return GALE_NO_MEMORY;
    for (size_t i = 0; i < side * side; i++) truth->pairs[i].head = truth->pairs[i].count = 0;
    memset(truth->counts, 0, side * sizeof *truth->counts);
    gx_bytes_map_clear(truth->keys);
    truth->plan = plan;
    truth->tasks = plan->task_count;
    truth->emission_count = truth->tree_list_count = truth->tree_count = truth->open_count = 0;
    truth->scarce = truth->late = truth->lossy = truth->ending = truth->dead = false;
    truth->round = truth->jam = truth->lost = truth->trace = 0;
    truth->acked = truth->failed = truth->timed_out = truth->rejected = truth->stopped = 0;
    truth->deliveries = truth->executed = 0;
    truth->messages = truth->letters = truth->repeats = 0;
    truth->problem[0] = 0;
    return GALE_OK;
}

void gx_truth_violated(gx_truth *truth, const char *format, ...) {
    if (!gx_truth_holds(truth) || truth->dead) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(truth->problem, sizeof truth->problem, format, arguments);
    va_end(arguments);
}

void gx_truth_trace(gx_truth *truth, uint64_t what) {
    truth->trace = gx_hash_mix(truth->trace, what);
}

static const char *name_of(const gx_truth *truth, uint32_t task) {
    if (task < 1 || task > truth->tasks) return "nobody";
    return truth->plan->schema.components[task]->name;
}

/* --- Trees --- */

/* One that is not among the open trees, or UINT32_MAX when memory is out. */
static uint32_t add_tree(gx_truth *truth, uint16_t task, int64_t now) {
    uint32_t n = truth->tree_count;
    if (!gx_grow(truth->heap, GX_TAG_OTHER, &truth->trees, &truth->tree_capacity, n + 1u, sizeof *truth->trees))
        return UINT32_MAX;
    truth->trees[n] = (gx_sim_tree){ .begun = now, .task = task, .first = n, .latest = n, .attempt = 1 };
    return truth->tree_count++;
}

int gx_truth_open(gx_truth *truth, uint16_t task, uint64_t message_id, int64_t now, uint32_t *ret_tree) {
    if (!gx_grow(truth->heap, GX_TAG_OTHER, &truth->open_trees, &truth->open_capacity, truth->open_count + 1u,
                 sizeof *truth->open_trees))
        return GALE_NO_MEMORY;
    uint32_t n = add_tree(truth, task, now);
    if (n == UINT32_MAX) return GALE_NO_MEMORY;
    truth->trees[n].message_id = message_id;
    truth->trees[n].at = truth->open_count;
    truth->open_trees[truth->open_count++] = n;
    truth->messages++;
    *ret_tree = n;
    return GALE_OK;
}

static void close_tree(gx_truth *truth, gx_sim_tree *tree) {
    uint32_t last = truth->open_trees[--truth->open_count];
    truth->open_trees[tree->at] = last;
    truth->trees[last].at = tree->at;
    tree->answered = true;
}

/* The trees of an emission. */
static gx_sim_tree *tree_at(gx_truth *truth, const gx_sim_emission *e, uint32_t i) {
    return &truth->trees[truth->tree_list[e->first_tree + i]];
}

/* --- Emitting --- */

static int by_number(const void *a, const void *b) {
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static bool add_trees(gx_truth *truth, const uint32_t *numbers, uint32_t count) {
    if (!gx_grow(truth->heap, GX_TAG_OTHER, &truth->tree_list, &truth->tree_list_capacity,
                 truth->tree_list_count + count, sizeof *truth->tree_list))
        return false;
    if (count) memcpy(&truth->tree_list[truth->tree_list_count], numbers, count * sizeof *numbers);
    truth->tree_list_count += count;
    return true;
}

static bool add_anchor(gx_truth *truth, const gx_sim_delivery *anchor) {
    const gx_sim_emission *e = &truth->emissions[anchor->emission];
    uint32_t first = e->first_tree, count = e->tree_count;
    if (!gx_grow(truth->heap, GX_TAG_OTHER, &truth->tree_list, &truth->tree_list_capacity,
                 truth->tree_list_count + count, sizeof *truth->tree_list))
        return false;
    return add_trees(truth, &truth->tree_list[first], count);
}

/* Each tree once, however many anchors belong to it. */
static void unite(gx_truth *truth, uint32_t first) {
    uint32_t *list = &truth->tree_list[first], count = truth->tree_list_count - first, kept = 0;
    qsort(list, count, sizeof *list, by_number);
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || list[i] != list[kept - 1]) list[kept++] = list[i];
    truth->tree_list_count = first + kept;
}

int gx_truth_announce(gx_truth *truth, uint16_t task, uint16_t stream, uint32_t tree, gx_sim_delivery *const *anchors,
                      size_t anchor_count, uint32_t *ret_emission) {
    uint32_t first = truth->tree_list_count;
    if (!truth->plan->acking) tree = UINT32_MAX; /* it is complete at once: nothing belongs to it */
    bool whole = gx_grow(truth->heap, GX_TAG_OTHER, &truth->emissions, &truth->emission_capacity,
                         truth->emission_count + 1u, sizeof *truth->emissions);
    if (tree != UINT32_MAX) whole = whole && add_trees(truth, &tree, 1);
    for (size_t i = 0; i < anchor_count; i++) whole = whole && add_anchor(truth, anchors[i]);
    if (!whole) return GALE_NO_MEMORY;
    if (anchor_count > 1) unite(truth, first);
    truth->emissions[truth->emission_count] = (gx_sim_emission){ first,  truth->tree_list_count - first, task,
                                                                 stream, truth->emission_count,          0 };
    *ret_emission = truth->emission_count++;
    return GALE_OK;
}

void gx_truth_cancel(gx_truth *truth, uint32_t emission, uint32_t tree) {
    truth->tree_list_count = truth->emissions[emission].first_tree;
    truth->emission_count = emission;
    if (tree == UINT32_MAX) return;
    close_tree(truth, &truth->trees[tree]);
    truth->tree_count = tree;
    truth->messages--;
}

/* --- Emitting again --- */

static const gx_plan_component *component_of(const gx_truth *truth, uint16_t task) {
    return &truth->plan->components[truth->plan->tasks[task].component];
}

static uint16_t cause(int32_t reason) {
    return (uint16_t)(1u << (reason >= 0 && reason < GALE_REASON_COUNT ? reason : GALE_REASON_COUNT));
}

static bool is_aged(const gx_truth *truth, const gx_sim_tree *tree, int64_t now) {
    return truth->plan->timeout && now - tree->begun > truth->plan->timeout;
}

/* Can the attempt have failed? What is dropped on its way shows only in figures. */
static bool may_have_failed(const gx_truth *truth, const gx_sim_tree *tree, int64_t now) {
    return tree->causes || tree->unclear || truth->scarce || is_aged(truth, tree, now) || (truth->lossy && tree->open);
}

/* Before an attempt after this one. */
static int64_t backoff_after(const gx_truth *truth, uint32_t attempt) {
    int64_t wait = truth->plan->replay_initial, most = wait ? truth->plan->replay_most : 0;
    while (--attempt && wait < most) wait *= 2;
    return wait < most ? wait : most;
}

static void check_repeat(gx_truth *truth, const gx_sim_tree *last, uint32_t attempt, int64_t now) {
    const gx_sim_tree *message = &truth->trees[last->first];
    uint32_t most = component_of(truth, last->task)->attempts;
    int64_t failed_by = now - backoff_after(truth, last->attempt); /* it did, or the back-off was too short */
    const char *wrong = NULL;
    if (message->answered) wrong = "after its spout was told";
    if (attempt > most) wrong = "more often than topology.replay.attempts";
    if (attempt <= last->attempt || (attempt != last->attempt + 1 && !truth->scarce)) wrong = "out of turn";
    if (!may_have_failed(truth, last, failed_by)) wrong = "without having failed";
    if (last->causes == cause(GALE_REASON_REJECTED) && !truth->scarce && !truth->lossy &&
        !is_aged(truth, last, failed_by))
        wrong = "after it was rejected";
    if (failed_by < last->begun) wrong = "before its back-off was over";
    if (wrong)
        gx_truth_violated(truth, "tree %u of task %u was emitted again %s, in attempt %u of %u", last->first,
                          last->task, wrong, attempt, most);
}

/* An emission of one tree. */
static bool announce_one(gx_truth *truth, uint32_t tree, uint16_t stream, uint64_t root, uint32_t *ret_emission) {
    if (tree == UINT32_MAX ||
        gx_truth_announce(truth, truth->trees[tree].task, stream, tree, NULL, 0, ret_emission) < 0) {
        gx_truth_violated(truth, "the simulator has no memory");
        return false;
    }
    truth->emissions[*ret_emission].root = root;
    return true;
}

bool gx_truth_repeated(gx_truth *truth, uint64_t emission, uint32_t attempt, uint64_t root, int64_t now,
                       uint32_t *ret_emission) {
    if (emission >= truth->emission_count || truth->emissions[emission].tree_count != 1) {
        gx_truth_violated(truth, "the engine emitted tuple %llu again, which no spout did",
                          (unsigned long long)emission);
        return false;
    }
    gx_sim_emission e = truth->emissions[emission];
    uint32_t first = truth->trees[truth->tree_list[e.first_tree]].first;
    check_repeat(truth, &truth->trees[truth->trees[first].latest], attempt, now);
    uint32_t tree = add_tree(truth, e.task, now);
    if (!announce_one(truth, tree, e.stream, root, ret_emission)) return false;
    truth->trees[tree].first = first;
    truth->trees[tree].attempt = attempt;
    truth->trees[first].latest = tree;
    truth->emissions[*ret_emission].number = e.number;
    truth->repeats++;
    return true;
}

bool gx_truth_buried(gx_truth *truth, uint16_t task, uint16_t stream, uint64_t number, uint64_t root, int64_t now,
                     uint32_t *ret_emission) {
    const gx_sim_tree *dead = number < truth->tree_count ? &truth->trees[number] : NULL;
    if (!dead || dead->first != number || dead->task != task || dead->answered || dead->letter) {
        gx_truth_violated(truth, "tree %llu of task %u is a dead letter %s", (unsigned long long)number, task,
                          dead && dead->letter ? "twice" : "that it cannot be");
        return false;
    }
    uint32_t tree = add_tree(truth, task, now);
    if (!announce_one(truth, tree, stream, root, ret_emission)) return false;
    truth->trees[tree].is_letter = true;
    truth->trees[number].letter = *ret_emission + 1;
    truth->letters++;
    return true;
}

uint64_t gx_truth_letter_number(const gx_truth *truth, uint64_t tree) {
    return tree < truth->tree_count && truth->trees[tree].letter ? truth->trees[tree].letter - 1 : UINT64_MAX;
}

/* Which of them an emission that was not seen from its begin did not reach, is not known. */
static void note_unclear(gx_truth *truth, const gx_sim_emission *e, const uint16_t *targets, uint32_t count) {
    const gx_plan_stream *stream = &component_of(truth, e->task)->streams[e->stream];
    for (uint32_t i = 0; i < stream->edge_count; i++)
        for (uint32_t t = 0; t < stream->edges[i].task_count; t++) {
            uint32_t task = stream->edges[i].first_task + t;
            bool reached = false;
            for (uint32_t k = 0; k < count; k++) reached |= targets[k] == task;
            truth->counts[task].unclear += !reached;
        }
}

static bool push(gx_truth *truth, uint16_t source, uint16_t target, uint32_t emission) {
    gx_sim_pair *pair = &truth->pairs[(size_t)source * (truth->tasks + 1u) + target];
    if (pair->head && pair->head == pair->count) pair->head = pair->count = 0;
    if (!gx_grow(truth->heap, GX_TAG_OTHER, &pair->emissions, &pair->capacity, pair->count + 1u, sizeof emission))
        return false;
    pair->emissions[pair->count++] = emission;
    return true;
}

/* Does it go to `target` by a subscription that may drop it? */
static bool is_loose(const gx_truth *truth, const gx_sim_emission *e, uint16_t target) {
    const gx_plan_component *c = &truth->plan->components[truth->plan->tasks[e->task].component];
    const gx_plan_stream *stream = &c->streams[e->stream];
    for (uint32_t i = 0; i < stream->edge_count; i++)
        if (gx_is_within(target, stream->edges[i].first_task, stream->edges[i].task_count))
            return stream->edges[i].drop != GALE_DROP_NOTHING;
    return false;
}

/* --- Groupings --- */

static void check_key(gx_truth *truth, const gx_sim_emission *e, const gx_plan_edge *edge, const gale_value *values,
                      uint16_t target) {
    uint16_t names[] = { truth->plan->tasks[e->task].component, e->stream, edge->component };
    gx_buf_reset(&truth->key);
    gx_buf_add(&truth->key, names, sizeof names);
    for (uint32_t i = 0; i < edge->field_count; i++)
        if (gx_value_pack(&values[edge->fields[i]], &truth->key) < 0) return;
    bool made;
    uint64_t *task = gx_bytes_map_put(truth->keys, (gale_str){ truth->key.data, truth->key.size }, &made);
    if (!task) return;
    if (made) *task = target;
    if (*task != target)
        gx_truth_violated(truth, "fields grouping of '%s' sent a key to task %u, and before to task %llu",
                          name_of(truth, e->task), target, (unsigned long long)*task);
}

static bool has_near(const gx_truth *truth, const gx_plan_edge *edge, uint16_t executor) {
    for (uint32_t t = 0; t < edge->task_count; t++)
        if (truth->plan->tasks[edge->first_task + t].executor == executor) return true;
    return false;
}

/* `count` of the targets are tasks of the edge's consumer, `target` is one of them. `complete`: nothing was dropped. */
static void check_edge(gx_truth *truth, const gx_sim_emission *e, const gx_plan_edge *edge, const gale_value *values,
                       uint32_t count, uint16_t target, bool complete) {
    uint32_t most = 1;
    bool exact = complete && edge->drop == GALE_DROP_NOTHING;
    switch (edge->grouping) {
    case GALE_GROUPING_ALL: most = edge->task_count; break;
    case GALE_GROUPING_CUSTOM:
        most = edge->task_count;
        exact = false;
        break;
    case GALE_GROUPING_DIRECT: most = 0; break;
    default: break;
    }
    if (count > most || (exact && count < most))
        gx_truth_violated(truth, "%s grouping sent a tuple of '%s' to %u tasks of '%s', not %u",
                          gale_grouping_name(edge->grouping), name_of(truth, e->task), count, edge->consumer, most);
    if (!count) return;
    if (edge->grouping == GALE_GROUPING_FIELDS) check_key(truth, e, edge, values, target);
    if (edge->grouping == GALE_GROUPING_GLOBAL && target != edge->first_task)
        gx_truth_violated(truth, "global grouping chose task %u, not %u", target, edge->first_task);
    uint16_t here = truth->plan->tasks[e->task].executor;
    if (edge->grouping == GALE_GROUPING_LOCAL_OR_SHUFFLE && truth->plan->tasks[target].executor != here &&
        has_near(truth, edge, here))
        gx_truth_violated(truth, "local_or_shuffle grouping of '%s' left its executor", name_of(truth, e->task));
}

static void check_groupings(gx_truth *truth, const gx_sim_emission *e, const gale_value *values,
                            const uint16_t *targets, uint32_t count, bool complete) {
    const gx_plan_component *c = &truth->plan->components[truth->plan->tasks[e->task].component];
    const gx_plan_stream *stream = &c->streams[e->stream];
    uint32_t accounted = 0;
    for (uint32_t i = 0; i < stream->edge_count; i++) {
        const gx_plan_edge *edge = &stream->edges[i];
        uint32_t mine = 0;
        uint16_t last = 0;
        for (uint32_t t = 0; t < count; t++) {
            if (!gx_is_within(targets[t], edge->first_task, edge->task_count)) continue;
            mine++;
            last = targets[t];
        }
        check_edge(truth, e, edge, values, mine, last, complete);
        accounted += mine;
    }
    if (accounted != count)
        gx_truth_violated(truth, "a tuple of '%s' went to %u tasks, of which %u subscribed to it",
                          name_of(truth, e->task), count, accounted);
}

int gx_truth_emitted(gx_truth *truth, uint32_t emission, const gale_value *values, const uint16_t *targets,
                     uint32_t count, uint32_t direct, int dropped) {
    gx_sim_emission e = truth->emissions[emission];
    uint32_t loose = 0;
    for (uint32_t i = 0; i < count; i++) {
        loose += is_loose(truth, &e, targets[i]);
        if (!push(truth, e.task, targets[i], emission)) return GALE_NO_MEMORY;
        truth->counts[targets[i]].delivered++;
    }
    truth->counts[e.task].sent += count;
    truth->deliveries += count;
    for (uint32_t i = 0; i < e.tree_count; i++) {
        gx_sim_tree *tree = tree_at(truth, &e, i);
        tree->open += count;
        tree->loose += loose;
        if (dropped > 0) tree->causes |= 1u << GALE_REASON_OVERFLOW;
        if (dropped > 0) tree->failures += 2; /* where it failed is not to be told from here */
        tree->unclear |= dropped < 0;
        if (tree->open) tree->done_round = 0;
    }
    if (dropped < 0) note_unclear(truth, &e, targets, count);
    if (direct && count && targets[0] != direct)
        gx_truth_violated(truth, "a direct emit to task %u went to task %u", direct, targets[0]);
    if (!direct) check_groupings(truth, &e, values, targets, count, !dropped);
    gx_truth_trace(truth, (uint64_t)emission << 32 | (uint64_t)count << 16 | e.task);
    return GALE_OK;
}

/* --- Executing --- */

static bool is_it(const gx_sim_emission *e, uint64_t number, uint64_t root) {
    return e->number == number && (!e->root || e->root == root);
}

bool gx_truth_received(gx_truth *truth, uint16_t source, uint16_t target, uint16_t stream, uint64_t number,
                       uint64_t root, gx_sim_delivery *ret_delivery) {
    gx_sim_pair *pair = &truth->pairs[(size_t)source * (truth->tasks + 1u) + target];
    uint32_t at = pair->head;
    while (at < pair->count && !is_it(&truth->emissions[pair->emissions[at]], number, root)) at++;
    if (at == pair->count) {
        gx_truth_violated(truth,
                          "task %u ('%s') was given tuple %llu of task %u ('%s') out of order, twice or from nowhere",
                          target, name_of(truth, target), (unsigned long long)number, source, name_of(truth, source));
        return false;
    }
    uint32_t emission = pair->emissions[at];
    if (truth->emissions[emission].stream != stream)
        gx_truth_violated(truth, "tuple %llu came to task %u on another stream than it was emitted to",
                          (unsigned long long)number, target);
    truth->counts[target].received++;
    truth->executed++;
    pair->head = at + 1; /* what was passed over was dropped at the limit: gx_truth_rest counts it */
    const gx_sim_emission *e = &truth->emissions[emission];
    for (uint32_t i = 0; i < e->tree_count; i++) tree_at(truth, e, i)->loose -= is_loose(truth, e, target);
    *ret_delivery = (gx_sim_delivery){ emission, truth->emissions[emission].tree_count > 0, false };
    gx_truth_trace(truth, (uint64_t)emission << 16 | target);
    return true;
}

void gx_truth_failed(gx_truth *truth, uint16_t task, const gx_sim_delivery *delivery, int32_t reason) {
    const gx_sim_emission *e = &truth->emissions[delivery->emission];
    (*(reason == GALE_REASON_REJECTED ? &truth->counts[task].rejected : &truth->counts[task].failed))++;
    for (uint32_t i = 0; i < e->tree_count; i++) {
        gx_sim_tree *tree = tree_at(truth, e, i);
        tree->causes |= cause(reason);
        tree->failures++;
        tree->failed_at = task;
    }
    gx_truth_trace(truth, (uint64_t)delivery->emission << 8 | 1);
}

void gx_truth_acked(gx_truth *truth, uint16_t task, const gx_sim_delivery *delivery) {
    if (delivery->failed) {
        gx_truth_failed(truth, task, delivery, GALE_REASON_FAILED);
        return;
    }
    const gx_sim_emission *e = &truth->emissions[delivery->emission];
    truth->counts[task].acked++;
    for (uint32_t i = 0; i < e->tree_count; i++) {
        gx_sim_tree *tree = tree_at(truth, e, i);
        if (--tree->open == 0) tree->done_round = truth->round + 1;
    }
    gx_truth_trace(truth, (uint64_t)delivery->emission << 8 | 2);
}

void gx_truth_kept(gx_truth *truth, const gx_sim_delivery *delivery, bool kept) {
    const gx_sim_emission *e = &truth->emissions[delivery->emission];
    for (uint32_t i = 0; i < e->tree_count; i++) tree_at(truth, e, i)->kept += kept ? 1u : UINT32_MAX;
}

void gx_truth_forgotten(gx_truth *truth, uint16_t task, const gx_sim_delivery *delivery) {
    if (!delivery->tracked) return;
    truth->counts[task].forgotten++;
    gx_truth_kept(truth, delivery, true);
}

/* --- Answers --- */

static void check_acked(gx_truth *truth, uint64_t number, const gx_sim_tree *tree) {
    truth->acked++;
    if (!truth->plan->acking) return;
    if (tree->open > tree->loose)
        gx_truth_violated(truth, "tree %llu of task %u was acked with %u deliveries open", (unsigned long long)number,
                          tree->task, tree->open);
    if (tree->causes)
        gx_truth_violated(truth, "tree %llu of task %u was acked, but something of it had failed",
                          (unsigned long long)number, tree->task);
}

/* Acker tasks forget what they have not heard of for two timeouts, and the tree then waits for its own. */
static bool is_forgotten(const gx_truth *truth, const gx_sim_tree *tree, int64_t now) {
    return truth->plan->acker_count && now - tree->begun > 2 * truth->plan->timeout;
}

static void check_timeout(gx_truth *truth, uint64_t number, const gx_sim_tree *tree, int64_t now) {
    truth->timed_out++;
    if (now - tree->begun <= truth->plan->timeout)
        gx_truth_violated(truth, "tree %llu of task %u timed out at an age of %lld ns, below the timeout of %lld",
                          (unsigned long long)number, tree->task, (long long)(now - tree->begun),
                          (long long)truth->plan->timeout);
    uint64_t patience = truth->late ? GX_TRUTH_PATIENCE_LATE : GX_TRUTH_PATIENCE;
    uint64_t since = truth->jam > tree->done_round ? truth->jam : tree->done_round;
    bool complete = tree->open == 0 && !tree->causes && truth->round > since + patience;
    if (complete && !truth->lost && !is_forgotten(truth, tree, now))
        gx_truth_violated(truth, "tree %llu of task %u timed out, but every delivery of it was acked long before",
                          (unsigned long long)number, tree->task);
}

static void check_failed(gx_truth *truth, uint64_t number, const gx_sim_tree *tree, const gale_failure *failure) {
    (*(failure->reason == GALE_REASON_REJECTED ? &truth->rejected : &truth->failed))++;
    bool explained = (tree->causes & cause(failure->reason)) != 0;
    bool dropped = failure->reason == GALE_REASON_OVERFLOW || failure->reason == GALE_REASON_DEADLINE;
    if (dropped && (tree->open || tree->unclear)) explained = true;         /* the figures tell, when nothing moves */
    bool unnoted = failure->reason == GALE_REASON_FAILED && !failure->task; /* no memory for reason and place */
    if (truth->scarce && (tree->causes || unnoted || failure->reason == GALE_REASON_NO_MEMORY)) explained = true;
    if (!explained)
        gx_truth_violated(truth, "tree %llu of task %u failed for no cause: %s, %s (task %u)",
                          (unsigned long long)number, tree->task, gale_reason_name(failure->reason), failure->text,
                          failure->task);
    if (explained && tree->failures == 1 && !truth->scarce && failure->task != tree->failed_at && !dropped)
        gx_truth_violated(truth, "tree %llu failed at task %u, but its spout was told %u", (unsigned long long)number,
                          tree->failed_at, failure->task);
}

/* Where tuples are emitted again a spout hears of the end only, and what is given up is a dead letter. */
static void check_last_word(gx_truth *truth, uint64_t number, const gale_failure *failure) {
    const gx_sim_tree *tree = &truth->trees[number];
    const gx_plan_component *c = component_of(truth, tree->task);
    uint32_t attempt = truth->trees[tree->latest].attempt;
    const char *wrong = NULL;
    if (!c->retains) return;
    bool stopped = failure && failure->reason == GALE_REASON_STOPPED;
    bool given_up = failure && !stopped && failure->final;
    if (failure && !given_up && !truth->ending) wrong = "that it failed, but not for good";
    if (given_up && failure->reason != GALE_REASON_REJECTED && failure->attempts < c->attempts)
        wrong = "that it failed for good, with attempts left";
    if (failure && (failure->attempts < attempt || (failure->attempts > attempt && !truth->scarce)))
        wrong = "another number of attempts";
    bool posted = c->streams[c->stream_count - 1].edge_count > 0;
    if (posted && given_up && !tree->letter && !truth->scarce && !truth->ending)
        wrong = "that it failed for good, without a dead letter";
    if (tree->letter && !given_up) wrong = "otherwise than its dead letter";
    if (wrong)
        gx_truth_violated(truth, "of tree %llu, after %u of %u attempts, task %u was told %s",
                          (unsigned long long)number, attempt, c->attempts, tree->task, wrong);
}

const gx_sim_tree *gx_truth_answered(gx_truth *truth, uint16_t task, uint64_t tree_number, const gale_failure *failure,
                                     int64_t now) {
    if (tree_number >= truth->tree_count) {
        gx_truth_violated(truth, "task %u was told of tree %llu, which there is not", task,
                          (unsigned long long)tree_number);
        return NULL;
    }
    gx_sim_tree *tree = &truth->trees[tree_number];
    if (tree->answered || tree->task != task || tree->first != tree_number || tree->is_letter) {
        gx_truth_violated(truth, "tree %llu of task %u was answered %s", (unsigned long long)tree_number, tree->task,
                          tree->answered ? "twice" : "to another task");
        return NULL;
    }
    close_tree(truth, tree);
    gx_truth_trace(truth, tree_number << 8 | (failure ? (uint64_t)(uint32_t)failure->reason + 3 : 2));
    const gx_sim_tree *last = &truth->trees[tree->latest];
    if (!failure)
        check_acked(truth, tree_number, last);
    else if (failure->reason == GALE_REASON_TIMEOUT)
        check_timeout(truth, tree_number, last, now);
    else if (failure->reason == GALE_REASON_STOPPED && truth->ending)
        truth->stopped++;
    else
        check_failed(truth, tree_number, last, failure);
    check_last_word(truth, tree_number, failure);
    return tree;
}

void gx_truth_rest(gx_truth *truth, int64_t now) {
    uint64_t unexplained = 0;
    for (uint32_t i = 0; i < truth->open_count; i++) {
        const gx_sim_tree *message = &truth->trees[truth->open_trees[i]], *tree = &truth->trees[message->latest];
        if (message->waits_until && may_have_failed(truth, tree, now)) continue;
        uint32_t solid = tree->open - tree->loose; /* what was not kept of the others was dropped */
        if (solid && solid == tree->kept && !tree->causes) continue;
        if (is_forgotten(truth, tree, now)) continue;
        if (++unexplained <= truth->lost) continue;
        gx_truth_violated(truth,
                          "nothing moves, but tree %u of task %u is open: %u deliveries not acked, %u of them kept, "
                          "%u failures",
                          truth->open_trees[i], tree->task, tree->open, tree->kept, tree->failures);
        return;
    }
}
