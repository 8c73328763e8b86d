#include "runtime/locate.h"

#include "base/os/time.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    WAIT_MAX = 100 * GALE_MILLISECOND,
    WAITS_A_TIMEOUT = 10,
    LOOK_AGAIN = 1 * GALE_MILLISECOND,
};

/* --- Finds --- */

static uint64_t find_word(gale_place kind, uint32_t task, int64_t milliseconds) {
    uint64_t most = (UINT64_C(1) << 40) - 1, ms = milliseconds < 0 ? 0 : (uint64_t)milliseconds;
    return (uint64_t)kind << 56 | (uint64_t)task << 40 | (ms < most ? ms : most);
}

static gale_place find_kind(uint64_t word) {
    return (gale_place)(word >> 56);
}

static uint32_t find_task(uint64_t word) {
    return (uint32_t)(word >> 40) & 0xffff;
}

static int64_t find_milliseconds(uint64_t word) {
    return (int64_t)(word & ((UINT64_C(1) << 40) - 1));
}

static void merge(gx_locate_entry *entry, uint64_t word) {
    uint64_t seen = gx_load_relaxed(&entry->found);
    while (seen < word && !gx_cas_release(&entry->found, &seen, word)) {
    }
}

static int by_root(const void *a, const void *b) {
    uint64_t x = ((const gx_locate_entry *)a)->root, y = ((const gx_locate_entry *)b)->root;
    return x < y ? -1 : x > y;
}

static gx_locate_entry *find_entry(gx_locate_query *query, uint64_t root) {
    uint32_t low = 0, high = query->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (query->entries[middle].root < root)
            low = middle + 1;
        else
            high = middle;
    }
    return low < query->count && query->entries[low].root == root ? &query->entries[low] : NULL;
}

/* --- Answering --- */

static void look_at(gx_locate_query *query, const gale_head *head, uint16_t task, gale_place kind) {
    gx_roots roots = gx_row_roots(head);
    for (uint64_t i = 0; i < roots.count; i++) {
        gx_locate_entry *entry = find_entry(query, roots.pairs[i].root);
        if (entry) merge(entry, find_word(kind, task, 0));
    }
}

static void look_into_batch(gx_locate_query *query, const gx_batch *batch, gale_place kind) {
    for (const gale_head *head = gx_batch_front(batch); head; head = gx_batch_next(batch, head))
        look_at(query, head, batch->target, kind);
}

static void look_into_list(gx_locate_query *query, const gx_batch_list *list, gale_place kind) {
    const gx_batch *batch = list->head;
    for (uint64_t i = 0; i < list->count; i++, batch = batch->next) look_into_batch(query, batch, kind);
}

/* A copy of the consumer reads on without taking anything. */
static void look_into_ring(gx_locate_query *query, const gx_inlet *inlet) {
    gx_batch_consumer reader = inlet->data;
    const gx_batch *batch;
    if (!reader.ring || !gx_batch_ring_refresh(&reader)) return;
    while ((batch = gx_batch_ring_peek(&reader)) != NULL) {
        look_into_batch(query, batch, GALE_PLACE_QUEUED);
        gx_batch_ring_advance(&reader);
    }
}

static void look_at_task(gx_locate_query *query, const gx_task *task) {
    look_into_list(query, &task->parked, GALE_PLACE_PARKED);
    for (uint32_t i = 0; task->lanes && i < task->lanes->count; i++)
        look_into_list(query, &task->lanes->list[i].list, GALE_PLACE_PARKED);
    for (uint32_t i = 0; i < task->held.made; i++)
        if (task->held.slots[i].copy)
            look_at(query, gx_held_tuple(&task->held.slots[i])->head, task->id, GALE_PLACE_HELD);
    for (size_t i = 0; i < task->owed.root_count; i++) {
        gx_locate_entry *entry = find_entry(query, task->owed.roots[i].root);
        if (entry) merge(entry, find_word(GALE_PLACE_HELD, task->id, 0));
    }
}

static void look_at_forgotten(gx_locate_query *query, const gx_forgotten *forgotten) {
    for (uint32_t i = 0; forgotten->map && i < query->count; i++) {
        uint16_t task = gx_forgotten_by(forgotten, query->entries[i].root);
        if (task) merge(&query->entries[i], find_word(GALE_PLACE_FORGOTTEN, task, 0));
    }
}

static void search(gx_executor *ex, gx_locate_query *query) {
    look_into_list(query, &ex->local, GALE_PLACE_QUEUED);
    for (uint32_t i = 0; i < ex->shared->executor_count; i++) {
        look_into_ring(query, &ex->inlets[i]);
        look_into_list(query, &ex->outlets[i].outbox, GALE_PLACE_QUEUED);
    }
    for (uint32_t i = 0; i < ex->task_count; i++) look_at_task(query, ex->tasks[i]);
    look_at_forgotten(query, &ex->forgotten);
}

/* Keeps the oldest trees, oldest first. */
static void insert_oldest(gx_locate_entry *mine, uint32_t *count, uint32_t room, const gx_locate_entry *tree) {
    uint32_t at = *count < room ? (*count)++ : room;
    if (at == room && (room == 0 || mine[room - 1].start <= tree->start)) return;
    if (at == room) at--;
    for (; at > 0 && mine[at - 1].start > tree->start; at--) memcpy(&mine[at], &mine[at - 1], sizeof *mine);
    memcpy(&mine[at], tree, sizeof *mine);
}

static void list_oldest(gx_executor *ex, gx_locate_query *query) {
    gx_locate_entry *mine = &query->entries[(size_t)ex->index * query->each];
    uint32_t count = 0;
    for (uint32_t slot = 0; ex->has_ledger && slot < ex->ledger.slots; slot++) {
        const gx_tree *tree = gx_ledger_at(&ex->ledger, slot);
        uint16_t spout = gx_ledger_mark(&ex->ledger, slot)->task;
        bool waits = gx_ledger_state(&ex->ledger, slot) == GX_TREE_WAITING;
        if (!gx_tree_is_open(tree) && !waits) continue;
        gx_locate_entry found = { .root = gx_ledger_root(&ex->ledger, slot),
                                  .found = waits ? find_word(GALE_PLACE_WAITING, spout, 0) : 0,
                                  .message_id = tree->message_id,
                                  .start = waits ? gx_retention_at(&ex->retention, slot)->first : tree->start,
                                  .spout = spout };
        insert_oldest(mine, &count, query->each, &found);
    }
}

static void answer(gx_executor *ex, gx_locate_query *query) {
    if (query->lists)
        list_oldest(ex, query);
    else
        search(ex, query);
}

static _Atomic(gx_locate_query *) *mailbox(const gx_shared *shared, uint32_t asker, uint32_t executor) {
    return &shared->mailboxes[(size_t)asker * shared->executor_count + executor];
}

static size_t answer_all(gx_executor *ex) {
    gx_shared *shared = ex->shared;
    uint32_t epoch = gx_load_acquire(&shared->query_epoch);
    if (GX_LIKELY(epoch == ex->query_seen)) return 0;
    size_t answered = 0;
    ex->query_seen = epoch;
    for (uint32_t asker = 0; asker <= shared->executor_count; asker++) {
        _Atomic(gx_locate_query *) *box = mailbox(shared, asker, ex->index);
        gx_locate_query *query = gx_load_acquire(box); /* A1 */
        if (!query) continue;
        gx_bell *bell = query->asker;
        answer(ex, query);
        gx_store_release(box, NULL);
        if (gx_sub_acq_rel(&query->missing, 1) == 1 && bell) gx_bell_ring(bell); /* R2; it may be freed now */
        answered++;
    }
    return answered;
}

/* --- Asking --- */

static gx_locate_query *make(gx_heap *heap, uint32_t count) {
    gx_locate_query *query = gx_alloc(heap, GX_TAG_LEDGER, sizeof *query + count * sizeof(gx_locate_entry));
    if (query) query->count = count;
    return query;
}

static void release(gx_heap *heap, gx_locate_query *query) {
    gx_free(heap, GX_TAG_LEDGER, query, sizeof *query + query->count * sizeof(gx_locate_entry));
}

/* Lays it into every mailbox of the row that is empty, `but` one's. */
static void lay(gx_shared *shared, gx_locate_query *query, uint32_t asker, uint32_t but) {
    gx_store_relaxed(&query->missing, 1); /* the asker's own, so that it is not whole before all have it */
    for (uint32_t i = 0; i < shared->executor_count; i++) {
        if (i == but || gx_load_acquire(mailbox(shared, asker, i))) continue;
        gx_add_relaxed(&query->missing, 1);
        gx_store_release(mailbox(shared, asker, i), query); /* R1 */
    }
    gx_add_release(&shared->query_epoch, 1);
    for (uint32_t i = 0; i < shared->executor_count; i++)
        if (i != but) gx_bell_ring(&shared->executors[i]->bell);
    gx_sub_acq_rel(&query->missing, 1);
}

static bool is_whole(const gx_locate_query *query) {
    return gx_load_acquire(&((gx_locate_query *)query)->missing) == 0; /* A2 */
}

/* --- What is said of executors that did not answer --- */

typedef struct stuck {
    uint32_t executor;
    uint32_t task; /* 0: none is stuck */
    int64_t milliseconds;
} stuck;

static void look_at_call(gx_shared *shared, gx_locate_query *query, uint32_t i, stuck *longest) {
    gx_executor *ex = shared->executors[i];
    const gx_task *task = gx_load_relaxed(&ex->in_call_seen);
    if (!task) return;
    int64_t since = (int64_t)gx_load_relaxed(&ex->in_call_since);
    int64_t ms = (shared->clock.now(shared->clock.user) - since) / GALE_MILLISECOND;
    gx_locate_entry *entry = find_entry(query, gx_load_relaxed(&ex->cursor.root));
    if (entry) merge(entry, find_word(GALE_PLACE_EXECUTING, task->id, ms));
    if (!longest->task || ms > longest->milliseconds) *longest = (stuck){ i, task->id, ms };
}

static stuck look_at_stuck(gx_shared *shared, gx_locate_query *query, uint32_t asker) {
    stuck longest = { 0 };
    for (uint32_t i = 0; i < shared->executor_count; i++)
        if (gx_load_acquire(mailbox(shared, asker, i))) look_at_call(shared, query, i, &longest);
    return longest;
}

/* --- Words --- */

static const char *name_of(const gx_shared *shared, uint32_t task) {
    return shared->tasks[task]->context.component;
}

/* A task that is congested and keeps `task` from running, or 0. */
static uint32_t blocker_of(const gx_shared *shared, uint32_t task) {
    const gx_plan_task *planned = &shared->plan->tasks[task];
    for (uint32_t i = 0; i < planned->gate_count; i++)
        if (gx_load_relaxed(&shared->flow.congested[planned->gates[i]])) return planned->gates[i];
    return 0;
}

static void say_parked(const gx_shared *shared, uint32_t task, char *text, size_t size) {
    uint32_t blocker = blocker_of(shared, task);
    if (blocker)
        snprintf(text, size, "waits for '%s' (task %u), which may not run while '%s' (task %u) is congested",
                 name_of(shared, task), task, name_of(shared, blocker), blocker);
    else
        snprintf(text, size, "waits for '%s' (task %u), in its parked list", name_of(shared, task), task);
}

static void say(const gx_shared *shared, uint64_t found, const stuck *s, char *text, size_t size) {
    uint32_t task = find_task(found);
    double seconds = (double)find_milliseconds(found) / 1e3;
    switch (find_kind(found)) {
    case GALE_PLACE_QUEUED:
        snprintf(text, size, "waits for '%s' (task %u), in its queue", name_of(shared, task), task);
        break;
    case GALE_PLACE_PARKED: say_parked(shared, task, text, size); break;
    case GALE_PLACE_FORGOTTEN:
        snprintf(text, size, "forgotten by '%s' (task %u): execute returned without answering or holding it",
                 name_of(shared, task), task);
        break;
    case GALE_PLACE_HELD: snprintf(text, size, "held by '%s' (task %u)", name_of(shared, task), task); break;
    case GALE_PLACE_WAITING:
        snprintf(text, size, "waits to be emitted again for '%s' (task %u)", name_of(shared, task), task);
        break;
    case GALE_PLACE_EXECUTING:
        snprintf(text, size, "in execution by '%s' (task %u) for %.1f s", name_of(shared, task), task, seconds);
        break;
    default:
        if (s->task)
            snprintf(text, size, "not found; executor %u did not answer: in a call of '%s' (task %u) for %.1f s",
                     s->executor, name_of(shared, s->task), s->task, (double)s->milliseconds / 1e3);
        else
            snprintf(text, size, "not found in any queue, nor held: an answer is on its way, or was lost");
    }
}

/* --- The executor's own: trees that expire --- */

static void conclude(gx_executor *ex) {
    gx_locate_query *query = ex->query;
    stuck s = look_at_stuck(ex->shared, query, ex->index);
    for (uint32_t i = 0; i < query->count; i++) {
        char text[GALE_FAILURE_TEXT + 1];
        uint64_t found = gx_load_acquire(&query->entries[i].found);
        uint32_t task = find_task(found);
        say(ex->shared, found, &s, text, sizeof text);
        gx_ledger_expire(&ex->ledger, query->entries[i].root, task ? task : s.task, text);
    }
    ex->query = NULL;
    query->next = ex->queries;
    ex->queries = query;
}

static void begin(gx_executor *ex) {
    gx_ledger *ledger = &ex->ledger;
    gx_locate_query *query = make(ex->heap, (uint32_t)ledger->expiring_count);
    for (size_t i = 0; i < ledger->expiring_count; i++) {
        if (query)
            query->entries[i].root = ledger->expiring[i];
        else
            gx_ledger_expire(ledger, ledger->expiring[i], 0, "no memory to ask where it was");
    }
    ledger->expiring_count = 0;
    if (!query) return;
    int64_t wait = ledger->timeout / WAITS_A_TIMEOUT;
    qsort(query->entries, query->count, sizeof *query->entries, by_root);
    query->asker = &ex->bell;
    query->due = ex->now + (wait < WAIT_MAX ? wait : WAIT_MAX);
    lay(ex->shared, query, ex->index, ex->index);
    search(ex, query);
    ex->query = query;
}

static void free_answered(gx_executor *ex) {
    gx_locate_query **at = &ex->queries;
    while (*at) {
        gx_locate_query *query = *at;
        if (is_whole(query)) {
            *at = query->next;
            release(ex->heap, query);
        } else {
            at = &query->next;
        }
    }
}

size_t gx_locate_run(gx_executor *ex) {
    size_t done = answer_all(ex);
    if (GX_UNLIKELY(ex->query && (is_whole(ex->query) || ex->now >= ex->query->due))) {
        conclude(ex);
        done++;
    }
    if (GX_UNLIKELY(ex->ledger.expiring_count && !ex->query && !ex->ledger.sweep_end)) {
        begin(ex);
        done++;
    }
    if (GX_UNLIKELY(ex->queries != NULL)) free_answered(ex);
    return done;
}

int64_t gx_locate_due(const gx_executor *ex) {
    if (ex->query) return is_whole(ex->query) ? 0 : ex->query->due;
    return ex->ledger.expiring_count && !ex->ledger.sweep_end ? 0 : INT64_MAX;
}

static void release_list(gx_heap *heap, gx_locate_query *list) {
    while (list) {
        gx_locate_query *next = list->next;
        release(heap, list);
        list = next;
    }
}

void gx_locate_fini(gx_shared *shared) {
    for (uint32_t i = 0; shared->executors && i < shared->executor_count; i++) {
        gx_executor *ex = shared->executors[i];
        if (!ex) continue;
        if (ex->query) release(ex->heap, ex->query);
        release_list(ex->heap, ex->queries);
        ex->query = ex->queries = NULL;
    }
    release_list(&shared->heap, shared->asked);
    shared->asked = NULL;
}

/* --- The application's --- */

/* How many executors with a ledger have not taken the last question of this row. */
static uint32_t silent(const gx_shared *shared, uint32_t row) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < shared->executor_count; i++)
        count += shared->executors[i]->has_ledger && gx_load_acquire(mailbox(shared, row, i)) != NULL;
    return count;
}

/* An executor that is still busy with what was asked before cannot be asked again. */
static void wait_for_room(gx_shared *shared, uint32_t row, int64_t until) {
    gx_monitor_lock(&shared->monitor);
    while (silent(shared, row) && gx_os_monotonic() < until && gx_phase(shared) < GALE_PHASE_CLOSING)
        gx_monitor_wait(&shared->monitor, LOOK_AGAIN);
    gx_monitor_unlock(&shared->monitor);
}

/* Lays it, and waits until it is whole or the time is over. */
static void ask(gx_shared *shared, gx_locate_query *query, int64_t until, bool steps_by_caller) {
    uint32_t row = shared->executor_count;
    lay(shared, query, row, UINT32_MAX);
    for (uint32_t i = 0; steps_by_caller && i < shared->executor_count; i++) answer_all(shared->executors[i]);
    gx_monitor_lock(&shared->monitor);
    while (!is_whole(query) && gx_os_monotonic() < until && gx_phase(shared) < GALE_PHASE_CLOSING)
        gx_monitor_wait(&shared->monitor, LOOK_AGAIN);
    gx_monitor_unlock(&shared->monitor);
}

/* Frees it, or keeps it until the runtime ends when executors may still be looking at it. */
static void drop(gx_shared *shared, gx_locate_query *query) {
    if (is_whole(query)) {
        release(&shared->heap, query);
        return;
    }
    query->next = shared->asked;
    shared->asked = query;
}

static int by_start(const void *a, const void *b) {
    const gx_locate_entry *x = a, *y = b;
    if (!x->root || !y->root) return !x->root - !y->root;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* `ret_unheard`: executors that did not say what is open there. */
static gx_locate_query *list(gx_shared *shared, uint32_t room, int64_t until, bool steps_by_caller,
                             uint32_t *ret_unheard) {
    gx_locate_query *listed = make(&shared->heap, shared->executor_count * room);
    if (!listed) return NULL;
    listed->lists = true;
    listed->each = room;
    wait_for_room(shared, shared->executor_count, until);
    ask(shared, listed, until, steps_by_caller);
    gx_locate_query *chosen = make(&shared->heap, room);
    uint32_t count = 0;
    *ret_unheard = silent(shared, shared->executor_count);
    for (uint32_t i = 0; chosen && i < shared->executor_count; i++) {
        if (gx_load_acquire(mailbox(shared, shared->executor_count, i))) continue; /* it may be writing */
        for (uint32_t k = 0; k < room && listed->entries[i * room + k].root; k++)
            insert_oldest(chosen->entries, &count, room, &listed->entries[i * room + k]);
    }
    drop(shared, listed);
    return chosen;
}

static void tell(gx_shared *shared, const gx_locate_entry *entry, const stuck *s, gale_open_tree *tree) {
    uint64_t found = gx_load_acquire(&((gx_locate_entry *)entry)->found);
    uint32_t task = find_task(found);
    gale_open_tree told = { .size = sizeof told,
                            .spout = name_of(shared, entry->spout),
                            .spout_task = entry->spout,
                            .message_id = entry->message_id,
                            .age = shared->clock.now(shared->clock.user) - entry->start,
                            .place = find_kind(found),
                            .task = task,
                            .component = task ? name_of(shared, task) : NULL };
    say(shared, found, s, told.text, sizeof told.text);
    *tree = told;
}

/* A copy, by age. An executor that is late may still be merging. */
static gx_locate_entry *sorted_by_start(gx_locate_query *query, uint32_t room) {
    gx_locate_entry *sorted = malloc(room * sizeof *sorted);
    for (uint32_t i = 0; sorted && i < room; i++) {
        gx_locate_entry *from = &query->entries[i];
        sorted[i] = (gx_locate_entry){ .root = from->root,
                                       .found = gx_load_acquire(&from->found),
                                       .message_id = from->message_id,
                                       .start = from->start,
                                       .spout = from->spout };
    }
    if (sorted) qsort(sorted, room, sizeof *sorted, by_start);
    return sorted;
}

int gx_locate_open_trees(gx_shared *shared, gale_open_tree *trees, uint32_t room, int64_t until, bool steps_by_caller) {
    uint32_t expected = 0;
    if (!gx_cas_seq(&shared->asking, &expected, 1)) return GALE_AGAIN;
    int told = GALE_NO_MEMORY;
    uint32_t unheard = 0;
    gx_locate_query *query = list(shared, room, until, steps_by_caller, &unheard);
    if (query) {
        qsort(query->entries, query->count, sizeof *query->entries, by_root);
        ask(shared, query, until, steps_by_caller);
        stuck s = look_at_stuck(shared, query, shared->executor_count);
        gx_locate_entry *sorted = sorted_by_start(query, room);
        if (sorted) {
            for (told = 0; (uint32_t)told < room && sorted[told].root; told++)
                tell(shared, &sorted[told], &s, &trees[told]);
            if (told == 0 && unheard) told = GALE_AGAIN; /* nothing is known, which is not nothing */
        }
        free(sorted);
        drop(shared, query);
    }
    gx_store_release(&shared->asking, 0);
    return told;
}
