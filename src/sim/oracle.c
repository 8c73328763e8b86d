#include "sim/oracle.h"

#include "base/hash.h"
#include "tuple/value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int gx_oracle_init(gx_oracle *oracle, gx_heap *heap) {
    memset(oracle, 0, sizeof *oracle);
    oracle->heap = heap;
    oracle->key = (gx_buf)GX_BUF_INIT(heap);
    oracle->keys = gx_bytes_map_new(heap, sizeof(uint64_t), 1);
    return oracle->keys ? GALE_OK : GALE_NO_MEMORY;
}

static void free_pairs(gx_oracle *oracle) {
    for (size_t i = 0; i < oracle->pair_capacity; i++)
        gx_free(oracle->heap, GX_TAG_OTHER, oracle->pairs[i].emissions, oracle->pairs[i].capacity * sizeof(uint32_t));
    gx_free(oracle->heap, GX_TAG_OTHER, oracle->pairs, oracle->pair_capacity * sizeof *oracle->pairs);
    oracle->pairs = NULL;
    oracle->pair_capacity = 0;
}

void gx_oracle_fini(gx_oracle *oracle) {
    gx_heap *heap = oracle->heap;
    if (!heap) return;
    free_pairs(oracle);
    gx_free(heap, GX_TAG_OTHER, oracle->emissions, oracle->emission_capacity * sizeof *oracle->emissions);
    gx_free(heap, GX_TAG_OTHER, oracle->tree_list, oracle->tree_list_capacity * sizeof *oracle->tree_list);
    gx_free(heap, GX_TAG_OTHER, oracle->trees, oracle->tree_capacity * sizeof *oracle->trees);
    gx_free(heap, GX_TAG_OTHER, oracle->open_trees, oracle->open_capacity * sizeof *oracle->open_trees);
    gx_free(heap, GX_TAG_OTHER, oracle->counts, oracle->count_capacity * sizeof *oracle->counts);
    gx_bytes_map_free(oracle->keys);
    gx_buf_fini(&oracle->key);
    memset(oracle, 0, sizeof *oracle);
}

int gx_oracle_begin(gx_oracle *oracle, const gx_plan *plan) {
    if (plan->task_count > GX_ORACLE_TASKS_MAX) return GALE_TOO_LARGE;
    size_t side = plan->task_count + 1u;
    if (!gx_grow(oracle->heap, GX_TAG_OTHER, &oracle->pairs, &oracle->pair_capacity, side * side,
                 sizeof *oracle->pairs) ||
        !gx_grow(oracle->heap, GX_TAG_OTHER, &oracle->counts, &oracle->count_capacity, side, sizeof *oracle->counts))
        return GALE_NO_MEMORY;
    for (size_t i = 0; i < side * side; i++) oracle->pairs[i].head = oracle->pairs[i].count = 0;
    memset(oracle->counts, 0, side * sizeof *oracle->counts);
    gx_bytes_map_clear(oracle->keys);
    oracle->plan = plan;
    oracle->tasks = plan->task_count;
    oracle->emission_count = oracle->tree_list_count = oracle->tree_count = oracle->open_count = 0;
    oracle->scarce = oracle->late = oracle->lossy = oracle->ending = oracle->dead = false;
    oracle->round = oracle->jam = oracle->lost = oracle->trace = 0;
    oracle->acked = oracle->failed = oracle->timed_out = oracle->rejected = oracle->stopped = 0;
    oracle->deliveries = oracle->executed = 0;
    oracle->messages = oracle->letters = oracle->repeats = 0;
    oracle->problem[0] = 0;
    return GALE_OK;
}

void gx_oracle_violated(gx_oracle *oracle, const char *format, ...) {
    if (!gx_oracle_holds(oracle) || oracle->dead) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(oracle->problem, sizeof oracle->problem, format, arguments);
    va_end(arguments);
}

void gx_oracle_trace(gx_oracle *oracle, uint64_t what) {
    oracle->trace = gx_hash_mix(oracle->trace, what);
}

static const char *name_of(const gx_oracle *oracle, uint32_t task) {
    if (task < 1 || task > oracle->tasks) return "nobody";
    return oracle->plan->schema.components[task]->name;
}

/* --- Trees --- */

/* One that is not among the open trees, or UINT32_MAX when memory is out. */
static uint32_t add_tree(gx_oracle *oracle, uint16_t task, int64_t now) {
    uint32_t n = oracle->tree_count;
    if (!gx_grow(oracle->heap, GX_TAG_OTHER, &oracle->trees, &oracle->tree_capacity, n + 1u, sizeof *oracle->trees))
        return UINT32_MAX;
    oracle->trees[n] = (gx_sim_tree){ .begun = now, .task = task, .first = n, .latest = n, .attempt = 1 };
    return oracle->tree_count++;
}

int gx_oracle_open(gx_oracle *oracle, uint16_t task, uint64_t message_id, int64_t now, uint32_t *ret_tree) {
    if (!gx_grow(oracle->heap, GX_TAG_OTHER, &oracle->open_trees, &oracle->open_capacity, oracle->open_count + 1u,
                 sizeof *oracle->open_trees))
        return GALE_NO_MEMORY;
    uint32_t n = add_tree(oracle, task, now);
    if (n == UINT32_MAX) return GALE_NO_MEMORY;
    oracle->trees[n].message_id = message_id;
    oracle->trees[n].at = oracle->open_count;
    oracle->open_trees[oracle->open_count++] = n;
    oracle->messages++;
    *ret_tree = n;
    return GALE_OK;
}

static void close_tree(gx_oracle *oracle, gx_sim_tree *tree) {
    uint32_t last = oracle->open_trees[--oracle->open_count];
    oracle->open_trees[tree->at] = last;
    oracle->trees[last].at = tree->at;
    tree->answered = true;
}

/* The trees of an emission. */
static gx_sim_tree *tree_at(gx_oracle *oracle, const gx_sim_emission *e, uint32_t i) {
    return &oracle->trees[oracle->tree_list[e->first_tree + i]];
}

/* --- Emitting --- */

static int by_number(const void *a, const void *b) {
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static bool add_trees(gx_oracle *oracle, const uint32_t *numbers, uint32_t count) {
    if (!gx_grow(oracle->heap, GX_TAG_OTHER, &oracle->tree_list, &oracle->tree_list_capacity,
                 oracle->tree_list_count + count, sizeof *oracle->tree_list))
        return false;
    if (count) memcpy(&oracle->tree_list[oracle->tree_list_count], numbers, count * sizeof *numbers);
    oracle->tree_list_count += count;
    return true;
}

static bool add_anchor(gx_oracle *oracle, const gx_sim_delivery *anchor) {
    const gx_sim_emission *e = &oracle->emissions[anchor->emission];
    uint32_t first = e->first_tree, count = e->tree_count;
    if (!gx_grow(oracle->heap, GX_TAG_OTHER, &oracle->tree_list, &oracle->tree_list_capacity,
                 oracle->tree_list_count + count, sizeof *oracle->tree_list))
        return false;
    return add_trees(oracle, &oracle->tree_list[first], count);
}

/* Each tree once, however many anchors belong to it. */
static void unite(gx_oracle *oracle, uint32_t first) {
    uint32_t *list = &oracle->tree_list[first], count = oracle->tree_list_count - first, kept = 0;
    if (count) qsort(list, count, sizeof *list, by_number);
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || list[i] != list[kept - 1]) list[kept++] = list[i];
    oracle->tree_list_count = first + kept;
}

int gx_oracle_announce(gx_oracle *oracle, uint16_t task, uint16_t stream, uint32_t tree,
                       gx_sim_delivery *const *anchors, size_t anchor_count, uint32_t *ret_emission) {
    uint32_t first = oracle->tree_list_count;
    if (!oracle->plan->acking) tree = UINT32_MAX; /* it is complete at once: nothing belongs to it */
    bool whole = gx_grow(oracle->heap, GX_TAG_OTHER, &oracle->emissions, &oracle->emission_capacity,
                         oracle->emission_count + 1u, sizeof *oracle->emissions);
    if (tree != UINT32_MAX) whole = whole && add_trees(oracle, &tree, 1);
    for (size_t i = 0; i < anchor_count; i++) whole = whole && add_anchor(oracle, anchors[i]);
    if (!whole) return GALE_NO_MEMORY;
    if (anchor_count > 1) unite(oracle, first);
    oracle->emissions[oracle->emission_count] = (gx_sim_emission){ first,  oracle->tree_list_count - first, task,
                                                                   stream, oracle->emission_count,          0 };
    *ret_emission = oracle->emission_count++;
    return GALE_OK;
}

void gx_oracle_cancel(gx_oracle *oracle, uint32_t emission, uint32_t tree) {
    oracle->tree_list_count = oracle->emissions[emission].first_tree;
    oracle->emission_count = emission;
    if (tree == UINT32_MAX) return;
    close_tree(oracle, &oracle->trees[tree]);
    oracle->tree_count = tree;
    oracle->messages--;
}

/* --- Emitting again --- */

static const gx_plan_component *component_of(const gx_oracle *oracle, uint16_t task) {
    return &oracle->plan->components[oracle->plan->tasks[task].component];
}

static uint16_t cause(int32_t reason) {
    return (uint16_t)(1u << (reason >= 0 && reason < GALE_REASON_COUNT ? reason : GALE_REASON_COUNT));
}

static bool is_aged(const gx_oracle *oracle, const gx_sim_tree *tree, int64_t now) {
    return oracle->plan->timeout && now - tree->begun > oracle->plan->timeout;
}

/* Can the attempt have failed? What is dropped on its way shows only in figures. */
static bool may_have_failed(const gx_oracle *oracle, const gx_sim_tree *tree, int64_t now) {
    return tree->causes || tree->unclear || oracle->scarce || is_aged(oracle, tree, now) ||
           (oracle->lossy && tree->open);
}

/* Before an attempt after this one. */
static int64_t backoff_after(const gx_oracle *oracle, uint32_t attempt) {
    int64_t wait = oracle->plan->replay_initial, most = wait ? oracle->plan->replay_most : 0;
    while (--attempt && wait < most) wait *= 2;
    return wait < most ? wait : most;
}

static void check_repeat(gx_oracle *oracle, const gx_sim_tree *last, uint32_t attempt, int64_t now) {
    const gx_sim_tree *message = &oracle->trees[last->first];
    uint32_t most = component_of(oracle, last->task)->attempts;
    int64_t failed_by = now - backoff_after(oracle, last->attempt); /* it did, or the back-off was too short */
    const char *wrong = NULL;
    if (message->answered) wrong = "after its spout was told";
    if (attempt > most) wrong = "more often than topology.replay.attempts";
    if (attempt <= last->attempt || (attempt != last->attempt + 1 && !oracle->scarce)) wrong = "out of turn";
    if (!may_have_failed(oracle, last, failed_by)) wrong = "without having failed";
    if (last->causes == cause(GALE_REASON_REJECTED) && !oracle->scarce && !oracle->lossy &&
        !is_aged(oracle, last, failed_by))
        wrong = "after it was rejected";
    if (failed_by < last->begun) wrong = "before its back-off was over";
    if (wrong)
        gx_oracle_violated(oracle, "tree %u of task %u was emitted again %s, in attempt %u of %u", last->first,
                           last->task, wrong, attempt, most);
}

/* An emission of one tree. */
static bool announce_one(gx_oracle *oracle, uint32_t tree, uint16_t stream, uint64_t root, uint32_t *ret_emission) {
    if (tree == UINT32_MAX ||
        gx_oracle_announce(oracle, oracle->trees[tree].task, stream, tree, NULL, 0, ret_emission) < 0) {
        gx_oracle_violated(oracle, "the simulator has no memory");
        return false;
    }
    oracle->emissions[*ret_emission].root = root;
    return true;
}

bool gx_oracle_repeated(gx_oracle *oracle, uint64_t emission, uint32_t attempt, uint64_t root, int64_t now,
                        uint32_t *ret_emission) {
    if (emission >= oracle->emission_count || oracle->emissions[emission].tree_count != 1) {
        gx_oracle_violated(oracle, "the engine emitted tuple %llu again, which no spout did",
                           (unsigned long long)emission);
        return false;
    }
    gx_sim_emission e = oracle->emissions[emission];
    uint32_t first = oracle->trees[oracle->tree_list[e.first_tree]].first;
    check_repeat(oracle, &oracle->trees[oracle->trees[first].latest], attempt, now);
    uint32_t tree = add_tree(oracle, e.task, now);
    if (!announce_one(oracle, tree, e.stream, root, ret_emission)) return false;
    oracle->trees[tree].first = first;
    oracle->trees[tree].attempt = attempt;
    oracle->trees[first].latest = tree;
    oracle->emissions[*ret_emission].number = e.number;
    oracle->repeats++;
    return true;
}

bool gx_oracle_buried(gx_oracle *oracle, uint16_t task, uint16_t stream, uint64_t number, uint64_t root, int64_t now,
                      uint32_t *ret_emission) {
    const gx_sim_tree *dead = number < oracle->tree_count ? &oracle->trees[number] : NULL;
    if (!dead || dead->first != number || dead->task != task || dead->answered || dead->letter) {
        gx_oracle_violated(oracle, "tree %llu of task %u is a dead letter %s", (unsigned long long)number, task,
                           dead && dead->letter ? "twice" : "that it cannot be");
        return false;
    }
    uint32_t tree = add_tree(oracle, task, now);
    if (!announce_one(oracle, tree, stream, root, ret_emission)) return false;
    oracle->trees[tree].is_letter = true;
    oracle->trees[number].letter = *ret_emission + 1;
    oracle->letters++;
    return true;
}

uint64_t gx_oracle_letter_number(const gx_oracle *oracle, uint64_t tree) {
    return tree < oracle->tree_count && oracle->trees[tree].letter ? oracle->trees[tree].letter - 1 : UINT64_MAX;
}

/* Which of them an emission that was not seen from its begin did not reach, is not known. */
static void note_unclear(gx_oracle *oracle, const gx_sim_emission *e, const uint16_t *targets, uint32_t count) {
    const gx_plan_stream *stream = &component_of(oracle, e->task)->streams[e->stream];
    for (uint32_t i = 0; i < stream->edge_count; i++)
        for (uint32_t t = 0; t < stream->edges[i].task_count; t++) {
            uint32_t task = stream->edges[i].first_task + t;
            bool reached = false;
            for (uint32_t k = 0; k < count; k++) reached |= targets[k] == task;
            oracle->counts[task].unclear += !reached;
        }
}

static bool push(gx_oracle *oracle, uint16_t source, uint16_t target, uint32_t emission) {
    gx_sim_pair *pair = &oracle->pairs[(size_t)source * (oracle->tasks + 1u) + target];
    if (pair->head && pair->head == pair->count) pair->head = pair->count = 0;
    if (!gx_grow(oracle->heap, GX_TAG_OTHER, &pair->emissions, &pair->capacity, pair->count + 1u, sizeof emission))
        return false;
    pair->emissions[pair->count++] = emission;
    return true;
}

/* Does it go to `target` by a subscription that may drop it? */
static bool is_loose(const gx_oracle *oracle, const gx_sim_emission *e, uint16_t target) {
    const gx_plan_component *c = &oracle->plan->components[oracle->plan->tasks[e->task].component];
    const gx_plan_stream *stream = &c->streams[e->stream];
    for (uint32_t i = 0; i < stream->edge_count; i++)
        if (gx_is_within(target, stream->edges[i].first_task, stream->edges[i].task_count))
            return stream->edges[i].drop != GALE_DROP_NOTHING;
    return false;
}

/* --- Groupings --- */

static void check_key(gx_oracle *oracle, const gx_sim_emission *e, const gx_plan_edge *edge, const gale_value *values,
                      uint16_t target) {
    uint16_t names[] = { oracle->plan->tasks[e->task].component, e->stream, edge->component };
    gx_buf_reset(&oracle->key);
    gx_buf_add(&oracle->key, names, sizeof names);
    for (uint32_t i = 0; i < edge->field_count; i++)
        if (gx_value_pack(&values[edge->fields[i]], &oracle->key) < 0) return;
    bool made;
    uint64_t *task = gx_bytes_map_put(oracle->keys, (gale_str){ oracle->key.data, oracle->key.size }, &made);
    if (!task) return;
    if (made) *task = target;
    if (*task != target)
        gx_oracle_violated(oracle, "fields grouping of '%s' sent a key to task %u, and before to task %llu",
                           name_of(oracle, e->task), target, (unsigned long long)*task);
}

static bool has_near(const gx_oracle *oracle, const gx_plan_edge *edge, uint16_t executor) {
    for (uint32_t t = 0; t < edge->task_count; t++)
        if (oracle->plan->tasks[edge->first_task + t].executor == executor) return true;
    return false;
}

/* `count` of the targets are tasks of the edge's consumer, `target` is one of them. `complete`: nothing was dropped. */
static void check_edge(gx_oracle *oracle, const gx_sim_emission *e, const gx_plan_edge *edge, const gale_value *values,
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
        gx_oracle_violated(oracle, "%s grouping sent a tuple of '%s' to %u tasks of '%s', not %u",
                           gale_grouping_name(edge->grouping), name_of(oracle, e->task), count, edge->consumer, most);
    if (!count) return;
    if (edge->grouping == GALE_GROUPING_FIELDS) check_key(oracle, e, edge, values, target);
    if (edge->grouping == GALE_GROUPING_GLOBAL && target != edge->first_task)
        gx_oracle_violated(oracle, "global grouping chose task %u, not %u", target, edge->first_task);
    uint16_t here = oracle->plan->tasks[e->task].executor;
    if (edge->grouping == GALE_GROUPING_LOCAL_OR_SHUFFLE && oracle->plan->tasks[target].executor != here &&
        has_near(oracle, edge, here))
        gx_oracle_violated(oracle, "local_or_shuffle grouping of '%s' left its executor", name_of(oracle, e->task));
}

static void check_groupings(gx_oracle *oracle, const gx_sim_emission *e, const gale_value *values,
                            const uint16_t *targets, uint32_t count, bool complete) {
    const gx_plan_component *c = &oracle->plan->components[oracle->plan->tasks[e->task].component];
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
        check_edge(oracle, e, edge, values, mine, last, complete);
        accounted += mine;
    }
    if (accounted != count)
        gx_oracle_violated(oracle, "a tuple of '%s' went to %u tasks, of which %u subscribed to it",
                           name_of(oracle, e->task), count, accounted);
}

int gx_oracle_emitted(gx_oracle *oracle, uint32_t emission, const gale_value *values, const uint16_t *targets,
                      uint32_t count, uint32_t direct, int dropped) {
    gx_sim_emission e = oracle->emissions[emission];
    uint32_t loose = 0;
    for (uint32_t i = 0; i < count; i++) {
        loose += is_loose(oracle, &e, targets[i]);
        if (!push(oracle, e.task, targets[i], emission)) return GALE_NO_MEMORY;
        oracle->counts[targets[i]].delivered++;
    }
    oracle->counts[e.task].sent += count;
    oracle->deliveries += count;
    for (uint32_t i = 0; i < e.tree_count; i++) {
        gx_sim_tree *tree = tree_at(oracle, &e, i);
        tree->open += count;
        tree->loose += loose;
        if (dropped > 0) tree->causes |= 1u << GALE_REASON_OVERFLOW;
        if (dropped > 0) tree->failures += 2; /* where it failed is not to be told from here */
        tree->unclear |= dropped < 0;
        if (tree->open) tree->done_round = 0;
    }
    if (dropped < 0) note_unclear(oracle, &e, targets, count);
    if (direct && count && targets[0] != direct)
        gx_oracle_violated(oracle, "a direct emit to task %u went to task %u", direct, targets[0]);
    if (!direct) check_groupings(oracle, &e, values, targets, count, !dropped);
    gx_oracle_trace(oracle, (uint64_t)emission << 32 | (uint64_t)count << 16 | e.task);
    return GALE_OK;
}

/* --- Executing --- */

static bool is_it(const gx_sim_emission *e, uint64_t number, uint64_t root) {
    return e->number == number && (!e->root || e->root == root);
}

bool gx_oracle_received(gx_oracle *oracle, uint16_t source, uint16_t target, uint16_t stream, uint64_t number,
                        uint64_t root, gx_sim_delivery *ret_delivery) {
    gx_sim_pair *pair = &oracle->pairs[(size_t)source * (oracle->tasks + 1u) + target];
    uint32_t at = pair->head;
    while (at < pair->count && !is_it(&oracle->emissions[pair->emissions[at]], number, root)) at++;
    if (at == pair->count) {
        gx_oracle_violated(
            oracle, "task %u ('%s') was given tuple %llu of task %u ('%s') out of order, twice or from nowhere", target,
            name_of(oracle, target), (unsigned long long)number, source, name_of(oracle, source));
        return false;
    }
    uint32_t emission = pair->emissions[at];
    if (oracle->emissions[emission].stream != stream)
        gx_oracle_violated(oracle, "tuple %llu came to task %u on another stream than it was emitted to",
                           (unsigned long long)number, target);
    oracle->counts[target].received++;
    oracle->executed++;
    pair->head = at + 1; /* what was passed over was dropped at the limit: gx_oracle_rest counts it */
    const gx_sim_emission *e = &oracle->emissions[emission];
    for (uint32_t i = 0; i < e->tree_count; i++) tree_at(oracle, e, i)->loose -= is_loose(oracle, e, target);
    *ret_delivery = (gx_sim_delivery){ emission, oracle->emissions[emission].tree_count > 0, false };
    gx_oracle_trace(oracle, (uint64_t)emission << 16 | target);
    return true;
}

void gx_oracle_failed(gx_oracle *oracle, uint16_t task, const gx_sim_delivery *delivery, int32_t reason) {
    const gx_sim_emission *e = &oracle->emissions[delivery->emission];
    (*(reason == GALE_REASON_REJECTED ? &oracle->counts[task].rejected : &oracle->counts[task].failed))++;
    for (uint32_t i = 0; i < e->tree_count; i++) {
        gx_sim_tree *tree = tree_at(oracle, e, i);
        tree->causes |= cause(reason);
        tree->failures++;
        tree->failed_at = task;
    }
    gx_oracle_trace(oracle, (uint64_t)delivery->emission << 8 | 1);
}

void gx_oracle_acked(gx_oracle *oracle, uint16_t task, const gx_sim_delivery *delivery) {
    if (delivery->failed) {
        gx_oracle_failed(oracle, task, delivery, GALE_REASON_FAILED);
        return;
    }
    const gx_sim_emission *e = &oracle->emissions[delivery->emission];
    oracle->counts[task].acked++;
    for (uint32_t i = 0; i < e->tree_count; i++) {
        gx_sim_tree *tree = tree_at(oracle, e, i);
        if (--tree->open == 0) tree->done_round = oracle->round + 1;
    }
    gx_oracle_trace(oracle, (uint64_t)delivery->emission << 8 | 2);
}

void gx_oracle_kept(gx_oracle *oracle, const gx_sim_delivery *delivery, bool kept) {
    const gx_sim_emission *e = &oracle->emissions[delivery->emission];
    for (uint32_t i = 0; i < e->tree_count; i++) tree_at(oracle, e, i)->kept += kept ? 1u : UINT32_MAX;
}

void gx_oracle_forgotten(gx_oracle *oracle, uint16_t task, const gx_sim_delivery *delivery) {
    if (!delivery->tracked) return;
    oracle->counts[task].forgotten++;
    gx_oracle_kept(oracle, delivery, true);
}

void gx_oracle_lost(gx_oracle *oracle, uint64_t number) {
    gx_sim_tree *tree = &oracle->trees[oracle->trees[number].latest];
    tree->causes |= cause(GALE_REASON_SOURCE_LOST);
    gx_oracle_trace(oracle, number << 8 | 3);
}

/* --- Answers --- */

static void check_acked(gx_oracle *oracle, uint64_t number, const gx_sim_tree *tree) {
    oracle->acked++;
    if (!oracle->plan->acking) return;
    if (tree->open > tree->loose)
        gx_oracle_violated(oracle, "tree %llu of task %u was acked with %u deliveries open", (unsigned long long)number,
                           tree->task, tree->open);
    if (tree->causes)
        gx_oracle_violated(oracle, "tree %llu of task %u was acked, but something of it had failed",
                           (unsigned long long)number, tree->task);
}

/* Acker tasks forget what they have not heard of for two timeouts, and the tree then waits for its own. */
static bool is_forgotten(const gx_oracle *oracle, const gx_sim_tree *tree, int64_t now) {
    return oracle->plan->acker_count && now - tree->begun > 2 * oracle->plan->timeout;
}

static void check_timeout(gx_oracle *oracle, uint64_t number, const gx_sim_tree *tree, int64_t now) {
    oracle->timed_out++;
    if (now - tree->begun <= oracle->plan->timeout)
        gx_oracle_violated(oracle, "tree %llu of task %u timed out at an age of %lld ns, below the timeout of %lld",
                           (unsigned long long)number, tree->task, (long long)(now - tree->begun),
                           (long long)oracle->plan->timeout);
    uint64_t patience = oracle->late ? GX_ORACLE_PATIENCE_LATE : GX_ORACLE_PATIENCE;
    uint64_t since = oracle->jam > tree->done_round ? oracle->jam : tree->done_round;
    bool complete = tree->open == 0 && !tree->causes && oracle->round > since + patience;
    if (complete && !oracle->lost && !is_forgotten(oracle, tree, now))
        gx_oracle_violated(oracle, "tree %llu of task %u timed out, but every delivery of it was acked long before",
                           (unsigned long long)number, tree->task);
}

static void check_failed(gx_oracle *oracle, uint64_t number, const gx_sim_tree *tree, const gale_failure *failure) {
    (*(failure->reason == GALE_REASON_REJECTED ? &oracle->rejected : &oracle->failed))++;
    bool explained = (tree->causes & cause(failure->reason)) != 0;
    bool dropped = failure->reason == GALE_REASON_OVERFLOW || failure->reason == GALE_REASON_DEADLINE;
    if (dropped && (tree->open || tree->unclear)) explained = true;         /* the figures tell, when nothing moves */
    bool unnoted = failure->reason == GALE_REASON_FAILED && !failure->task; /* no memory for reason and place */
    if (oracle->scarce && (tree->causes || unnoted || failure->reason == GALE_REASON_NO_MEMORY)) explained = true;
    if (!explained)
        gx_oracle_violated(oracle, "tree %llu of task %u failed for no cause: %s, %s (task %u)",
                           (unsigned long long)number, tree->task, gale_reason_name(failure->reason), failure->text,
                           failure->task);
    bool lost = failure->reason == GALE_REASON_SOURCE_LOST; /* it says nothing of a task */
    if (explained && tree->failures == 1 && !oracle->scarce && failure->task != tree->failed_at && !dropped && !lost)
        gx_oracle_violated(oracle, "tree %llu failed at task %u, but its spout was told %u", (unsigned long long)number,
                           tree->failed_at, failure->task);
}

/* Where tuples are emitted again a spout hears of the end only, and what is given up is a dead letter. */
static void check_last_word(gx_oracle *oracle, uint64_t number, const gale_failure *failure) {
    const gx_sim_tree *tree = &oracle->trees[number];
    const gx_plan_component *c = component_of(oracle, tree->task);
    uint32_t attempt = oracle->trees[tree->latest].attempt;
    const char *wrong = NULL;
    if (!c->retains) return;
    bool stopped = failure && (failure->reason == GALE_REASON_STOPPED || failure->reason == GALE_REASON_SOURCE_LOST);
    bool given_up = failure && !stopped && failure->final;
    if (failure && !given_up && !oracle->ending && failure->reason != GALE_REASON_SOURCE_LOST)
        wrong = "that it failed, but not for good";
    if (given_up && failure->reason != GALE_REASON_REJECTED && failure->attempts < c->attempts)
        wrong = "that it failed for good, with attempts left";
    if (failure && (failure->attempts < attempt || (failure->attempts > attempt && !oracle->scarce)))
        wrong = "another number of attempts";
    bool posted = c->streams[c->stream_count - 1].edge_count > 0;
    if (posted && given_up && !tree->letter && !oracle->scarce && !oracle->ending)
        wrong = "that it failed for good, without a dead letter";
    if (tree->letter && !given_up) wrong = "otherwise than its dead letter";
    if (wrong)
        gx_oracle_violated(oracle, "of tree %llu, after %u of %u attempts, task %u was told %s",
                           (unsigned long long)number, attempt, c->attempts, tree->task, wrong);
}

const gx_sim_tree *gx_oracle_answered(gx_oracle *oracle, uint16_t task, uint64_t tree_number,
                                      const gale_failure *failure, int64_t now) {
    if (tree_number >= oracle->tree_count) {
        gx_oracle_violated(oracle, "task %u was told of tree %llu, which there is not", task,
                           (unsigned long long)tree_number);
        return NULL;
    }
    gx_sim_tree *tree = &oracle->trees[tree_number];
    if (tree->answered || tree->task != task || tree->first != tree_number || tree->is_letter) {
        gx_oracle_violated(oracle, "tree %llu of task %u was answered %s", (unsigned long long)tree_number, tree->task,
                           tree->answered ? "twice" : "to another task");
        return NULL;
    }
    close_tree(oracle, tree);
    gx_oracle_trace(oracle, tree_number << 8 | (failure ? (uint64_t)(uint32_t)failure->reason + 3 : 2));
    const gx_sim_tree *last = &oracle->trees[tree->latest];
    if (!failure)
        check_acked(oracle, tree_number, last);
    else if (failure->reason == GALE_REASON_TIMEOUT)
        check_timeout(oracle, tree_number, last, now);
    else if (failure->reason == GALE_REASON_STOPPED && oracle->ending)
        oracle->stopped++;
    else
        check_failed(oracle, tree_number, last, failure);
    check_last_word(oracle, tree_number, failure);
    return tree;
}

void gx_oracle_rest(gx_oracle *oracle, int64_t now) {
    uint64_t unexplained = 0;
    for (uint32_t i = 0; i < oracle->open_count; i++) {
        const gx_sim_tree *message = &oracle->trees[oracle->open_trees[i]], *tree = &oracle->trees[message->latest];
        if (message->waits_until && may_have_failed(oracle, tree, now)) continue;
        uint32_t solid = tree->open - tree->loose; /* what was not kept of the others was dropped */
        if (solid && solid == tree->kept && !tree->causes) continue;
        if (is_forgotten(oracle, tree, now)) continue;
        if (++unexplained <= oracle->lost) continue;
        gx_oracle_violated(oracle,
                           "nothing moves, but tree %u of task %u is open: %u deliveries not acked, %u of them kept, "
                           "%u failures",
                           oracle->open_trees[i], tree->task, tree->open, tree->kept, tree->failures);
        return;
    }
}
