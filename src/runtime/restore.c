#include "runtime/restore.h"

#include "base/assert.h"
#include "base/bits.h"
#include "base/log.h"
#include "engine/cut.h"

static int no_memory(gale_error *error) {
    return gale_error_set(error, GALE_NO_MEMORY, "no memory for what the checkpoint has");
}

static uint32_t u32_at(const char *at) {
    const unsigned char *b = (const unsigned char *)at;
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* A whole value, into a buffer. GALE_NOT_FOUND: there is none. */
static int get(gx_restore *restore, char key, gx_buf *into, size_t *ret_size, gale_error *error) {
    size_t size = 0;
    int rc = restore->store->get(restore->store->self, &key, 1, NULL, 0, &size, error);
    if (rc == GALE_TOO_LARGE) {
        if (!gx_buf_reserve(into, size)) return no_memory(error);
        rc = restore->store->get(restore->store->self, &key, 1, into->data, size, &size, error);
    }
    if (rc == GALE_OK) *ret_size = size;
    return rc;
}

/* --- The head --- */

static int read_head(gx_restore *restore, gx_adopt_words words, gale_error *error) {
    gx_buf *piece = &restore->piece;
    size_t size = 0;
    int rc = get(restore, GX_CUT_HEAD, piece, &size, error);
    if (rc == GALE_NOT_FOUND) return GALE_OK;
    if (rc < 0) return rc;
    restore->found = true;
    rc = gx_image_read(&restore->head, &restore->shared->heap, (gale_str){ piece->data, size }, restore->shared->plan,
                       error);
    if (rc < 0) return rc;
    rc = gx_adopt(&restore->adopted, &restore->head, restore->shared, restore->store, words, error);
    restore->shared->cut.kept = restore->adopted.kept;
    return rc;
}

/* --- What was left --- */

/* A value of the store, checked, at a multiple of 8. */
static int take_piece(gx_restore *restore, const void *value, size_t size) {
    gx_buf_reset(&restore->piece);
    gx_buf_add(&restore->piece, value, size);
    if (restore->piece.failed) return no_memory(restore->error);
    if (gx_records_are_whole((gale_str){ restore->piece.data, size })) return GALE_OK;
    return gale_error_set(restore->error, GALE_DAMAGED, "a piece of the checkpoint does not hold");
}

static int take_rest(gx_restore *restore, const void *value, size_t size, bool trees) {
    int rc = take_piece(restore, value, size);
    if (rc < 0) return rc;
    return gx_rest_back_take(&restore->back, (gale_str){ restore->piece.data, size }, trees, restore->error);
}

static int each_tree(void *user, const void *key, size_t key_size, const void *value, size_t size) {
    gx_restore *restore = user;
    gx_changes_remove(&restore->stale, (gale_str){ key, key_size });
    return take_rest(restore, value, size, true);
}

static int each_other(void *user, const void *key, size_t key_size, const void *value, size_t size) {
    (void)key, (void)key_size;
    return take_rest(user, value, size, false);
}

static int each_key_of(gx_restore *restore, char prefix, gale_store_each *each, gale_error *error) {
    int rc = restore->store->iterate(restore->store->self, &prefix, 1, NULL, 0, each, restore, error);
    return rc < 0 && error->code == 0 ? gale_error_set(error, rc, "%s", gale_error_text(rc)) : rc;
}

/* What was on its way and does not arrive is never passed over in silence. */
static void tell_lost(const gx_restore *restore) {
    const gale_logger *logger = &restore->shared->logger;
    if (restore->dropped && gx_log_wanted(logger, GALE_LOG_WARN))
        gale_log(logger, GALE_LOG_WARN, "checkpoint",
                 "%llu tuples were on their way to what is there no more, or has changed, and are dropped",
                 (unsigned long long)restore->dropped);
    if (restore->again && gx_log_wanted(logger, GALE_LOG_WARN))
        gale_log(logger, GALE_LOG_WARN, "checkpoint", "%llu open tuples of spouts begin again",
                 (unsigned long long)restore->again);
}

static int bring_back(gx_restore *restore, gale_error *error) {
    restore->back = (gx_rest_back){ .shared = restore->shared,
                                    .components = restore->head.components,
                                    .component_count = restore->head.count };
    if (gx_rest_back_begin(&restore->back) < 0) return no_memory(error);
    int rc = each_key_of(restore, GX_CUT_REST, each_tree, error);
    if (rc >= 0) rc = each_key_of(restore, GX_CUT_REST, each_other, error);
    gx_rest_back_finish(&restore->back);
    gx_rest_back_end(&restore->back);
    restore->dropped = restore->back.dropped;
    restore->again = restore->back.again;
    if (rc >= 0) tell_lost(restore);
    return rc;
}

/* For gx_dead_letters_open. */
static int bring_letters_back(gx_restore *restore, gale_error *error) {
    size_t size = 0;
    int rc = get(restore, GX_CUT_LETTERS, &restore->letters, &size, error);
    if (rc == GALE_NOT_FOUND) return GALE_OK;
    if (rc < 0) return rc;
    gale_str records = { restore->letters.data, size };
    if (!gx_records_are_whole(records))
        return gale_error_set(error, GALE_DAMAGED, "what the checkpoint has of dead letters does not hold");
    restore->shared->cut.letters = records;
    return GALE_OK;
}

/* --- What tasks saved --- */

static int32_t component_named(const gx_restore *restore, const char *name) {
    for (uint32_t i = 0; i < restore->head.count; i++)
        if (strcmp(restore->head.components[i].name, name) == 0) return (int32_t)i;
    return -1;
}

static gx_restore_part *part_for(gx_restore *restore, uint32_t component, uint32_t index) {
    gx_restore_part *last = restore->last;
    if (last && last->component == component && last->index == index) return last;
    gx_restore_part *made = gx_alloc(&restore->shared->heap, GX_TAG_OTHER, sizeof *made);
    if (!made) return NULL;
    *made = (gx_restore_part){ NULL, component, index, 0, GX_BUF_INIT(&restore->shared->heap) };
    if (last)
        last->next = made;
    else
        restore->parts = made;
    return restore->last = made;
}

/* The key: t COMPONENT 0 index piece. */
static int each_part(void *user, const void *key, size_t key_size, const void *value, size_t size) {
    gx_restore *restore = user;
    const char *name = (const char *)key + 1, *end = key_size > 10 ? (const char *)key + key_size - 9 : NULL;
    int32_t component = end && !*end && strlen(name) == (size_t)(end - name) ? component_named(restore, name) : -1;
    if (component < 0) return gale_error_set(restore->error, GALE_DAMAGED, "a key of the checkpoint does not hold");
    gx_changes_remove(&restore->stale, (gale_str){ key, key_size });
    int rc = take_piece(restore, value, size);
    if (rc < 0) return rc;
    gx_restore_part *part = part_for(restore, (uint32_t)component, u32_at(end + 1));
    if (!part) return no_memory(restore->error);
    if (part->chunks++ != u32_at(end + 5))
        return gale_error_set(restore->error, GALE_DAMAGED, "a piece of what '%s' saved is missing", name);
    gx_buf_add(&part->records, value, size);
    return part->records.failed ? no_memory(restore->error) : GALE_OK;
}

/* What a component saved as a whole cannot be divided by anybody but itself. */
static int check_part(const gx_restore *restore, const gx_restore_part *part, gale_error *error) {
    const gx_rest_component *then = &restore->head.components[part->component];
    if (then->now < 0) return GALE_OK;
    const gx_plan_component *now = &restore->shared->plan->components[then->now];
    const gale_durable_ops *durable = gx_image_durable(now);
    if (part->records.size && !restore->adopted.all && !(durable && durable->restore))
        return gale_error_set(error, GALE_STATE,
                              "'%s' has saved something, and does not say any more how it goes on with that; "
                              "--state-adopt goes on without it",
                              then->name);
    if (now->task_count == then->tasks) return GALE_OK;
    if (durable && durable->flags & (GALE_DURABLE_PARTS | GALE_DURABLE_SHARED)) return GALE_OK;
    return gale_error_set(error, GALE_STATE,
                          "'%s' had %u tasks and has %u now, and what it saved cannot be divided otherwise; start it "
                          "with %u",
                          then->name, then->tasks, now->task_count, then->tasks);
}

static int check_parts(const gx_restore *restore, gale_error *error) {
    int rc = GALE_OK;
    for (const gx_restore_part *part = restore->parts; part && rc == GALE_OK; part = part->next)
        rc = check_part(restore, part, error);
    return rc;
}

/* What it had saved was removed: the log says so at the start, and the next checkpoint no more. The key: n COMPONENT 0. */
static int each_anew(void *user, const void *key, size_t key_size, const void *value, size_t size) {
    gx_restore *restore = user;
    const char *name = (const char *)key + 1;
    (void)value, (void)size;
    if (key_size < 3 || name[key_size - 2] || strlen(name) != key_size - 2)
        return gale_error_set(restore->error, GALE_DAMAGED, "a key of the checkpoint does not hold");
    gx_changes_remove(&restore->stale, (gale_str){ key, key_size });
    int32_t component = component_named(restore, name);
    if (component < 0) return GALE_OK;
    restore->head.components[component].anew = true;
    gale_log(&restore->shared->logger, GALE_LOG_WARN, name,
             "begins anew: what it had saved was removed from the state");
    return GALE_OK;
}

/* Nor can keyed state whose keys do not lead to tasks. */
static int check_keyed(const gx_restore *restore, gale_error *error) {
    const gx_plan *plan = restore->shared->plan;
    for (uint32_t i = 0; i < restore->head.count; i++) {
        const gx_rest_component *then = &restore->head.components[i];
        uint32_t tasks = then->now < 0 ? then->tasks : plan->components[then->now].task_count;
        if (tasks == then->tasks) continue;
        int rc = gx_keyed_is_by_task(&restore->shared->heap, restore->store, restore->head.about[i].kept, error);
        if (rc < 0) return rc;
        if (rc > 0)
            return gale_error_set(error, GALE_STATE,
                                  "'%s' had %u tasks and has %u now, and has keyed state whose keys do not say which "
                                  "task it is of; start it with %u",
                                  then->name, then->tasks, tasks, then->tasks);
    }
    return GALE_OK;
}

static void tell_start(const gx_restore *restore) {
    gx_shared *shared = restore->shared;
    uint64_t number = restore->head.image.number;
    shared->cut.clock_offset = restore->head.image.time - shared->cut.clock.now(shared->cut.clock.user);
    gx_store_relaxed(&shared->cut.number, number);
    gx_store_relaxed(&shared->cut.lasting, number);
    for (uint32_t i = 0; i < shared->executor_count; i++) {
        gx_executor *ex = shared->executors[i];
        ex->cut.told = number;
        if (GX_MUTANT(edges_again)) continue;
        ex->random = gx_random_new(gx_random_mix(shared->seed ^ gx_random_mix(number)), i); /* no edge comes twice */
    }
}

int gx_restore_begin(gx_restore *restore, gx_shared *shared, const gale_store *store, gx_adopt_words words,
                     gale_error *error) {
    gale_error own = GALE_ERROR_INIT;
    if (!error) error = &own;
    *restore = (gx_restore){
        .shared = shared,
        .store = store,
        .stale = GX_CHANGES_INIT(&shared->heap),
        .piece = GX_BUF_INIT(&shared->heap),
        .letters = GX_BUF_INIT(&shared->heap),
        .head = { .heap = &shared->heap, .texts = GX_BUF_INIT(&shared->heap), .bytes = GX_BUF_INIT(&shared->heap) },
        .error = error
    };
    int rc = read_head(restore, words, error);
    if (rc < 0 || !restore->found) return rc;
    tell_start(restore);
    rc = each_key_of(restore, GX_CUT_TASKS, each_part, error);
    if (rc >= 0) rc = each_key_of(restore, GX_CUT_ANEW, each_anew, error);
    if (rc >= 0) rc = check_parts(restore, error);
    if (rc >= 0) rc = check_keyed(restore, error);
    if (rc >= 0) rc = bring_back(restore, error);
    if (rc >= 0) rc = bring_letters_back(restore, error);
    if (rc >= 0 && restore->stale.bytes.failed) rc = no_memory(error);
    restore->error = NULL;
    return rc;
}

void gx_restore_end(gx_restore *restore) {
    if (!restore->shared) return;
    while (restore->parts) {
        gx_restore_part *part = restore->parts;
        restore->parts = part->next;
        gx_buf_fini(&part->records);
        gx_free(&restore->shared->heap, GX_TAG_OTHER, part, sizeof *part);
    }
    restore->last = NULL;
    gx_buf_fini(&restore->piece);
    gx_buf_fini(&restore->letters);
    restore->shared->cut.letters = (gale_str){ NULL, 0 };
    gx_adopt_head_end(&restore->head);
    gx_image_end(&restore->head);
}

void gx_restore_fini(gx_restore *restore) {
    if (!restore->shared) return;
    gx_changes_fini(&restore->stale);
    restore->shared->cut.kept = NULL;
    gx_adopted_fini(&restore->adopted);
}

/* --- A task --- */

/* Brings records to the version that the component has now, one version after the other. */
static int migrate(const gx_task *task, uint32_t version, gx_buf *records, gale_saved *from, gale_error *error) {
    const gale_durable_ops *durable = gx_task_durable(task);
    const char *name = task->context.component;
    for (; version < durable->version; version++) {
        if (!durable->migrate)
            return gale_error_set(error, GALE_UNSUPPORTED,
                                  "what '%s' has saved is of version %u, it is %u now, and it cannot migrate", name,
                                  version, durable->version);
        gx_buf next = GX_BUF_INIT(records->heap);
        gale_saver to = { &next, NULL, name, from->checkpoint, GALE_OK };
        int rc = durable->migrate(task->plan->built->user, version, from, &to);
        if (rc >= 0) rc = to.failed;
        gx_buf_fini(records);
        *records = next;
        from->records = (gale_str){ next.data, next.size };
        if (rc < 0)
            return gale_error_set(error, rc, "what '%s' has saved could not be brought from version %u to %u: %s", name,
                                  version, version + 1, gale_error_text(rc));
    }
    return GALE_OK;
}

/* Do its parts follow keys to other tasks? */
static bool divides(const gx_rest_component *then, const gx_task *task) {
    return then->regrouped && gx_task_durable(task)->flags & GALE_DURABLE_PARTS;
}

static int give(const gx_restore *restore, gx_task *task, const gx_restore_part *part, gale_error *error) {
    const gx_rest_component *then = &restore->head.components[part->component];
    gx_heap *heap = &restore->shared->heap;
    gx_buf records = GX_BUF_INIT(heap);
    gx_buf_add(&records, part->records.data, part->records.size);
    if (records.failed) return no_memory(error);
    gale_saved from = { .records = { records.data, records.size },
                        .heap = heap,
                        .checkpoint = restore->head.image.number,
                        .part = part->index,
                        .parts = then->tasks,
                        .task_index = task->context.task_index,
                        .task_count = task->context.task_count,
                        .by_key = gx_plan_is_by_key(restore->shared->plan, task->component),
                        .regrouped = divides(then, task),
                        .complete = restore->head.image.complete };
    int rc = migrate(task, restore->head.about[part->component].version, &records, &from, error);
    if (rc >= 0) {
        rc = gx_task_durable(task)->restore(task->self, &from, &task->out);
        if (rc < 0) gale_error_set(error, rc, "%s", task->reported ? task->report : gale_error_text(rc));
    }
    gx_saved_fini(&from);
    gx_buf_fini(&records);
    return rc < 0 ? rc : GALE_OK;
}

/* With as many tasks as there were, each is given its own part; with others, or where keys lead elsewhere now, all are given all and take what is theirs by
 * their keys, or, where no key leads to a task, each part goes to one. */
static bool is_given(const gx_restore *restore, const gx_task *task, const gx_restore_part *part) {
    const gx_rest_component *then = &restore->head.components[part->component];
    uint32_t index = task->context.task_index, count = task->context.task_count;
    if (then->now != task->component) return false;
    if (then->tasks == count && !divides(then, task)) return part->index == index;
    bool all = gx_task_durable(task)->flags & GALE_DURABLE_SHARED ||
               gx_plan_is_by_key(restore->shared->plan, task->component);
    return all || part->index % count == index;
}

int gx_restore_task(const gx_restore *restore, gx_task *task, gale_error *error) {
    const gale_durable_ops *durable = gx_task_durable(task);
    if (!restore->found || !durable || !durable->restore) return GALE_OK;
    int rc = GALE_OK;
    for (const gx_restore_part *part = restore->parts; part && rc == GALE_OK; part = part->next) {
        if (is_given(restore, task, part)) rc = give(restore, task, part, error);
    }
    return rc;
}
