#include "engine/cut.h"

#include "base/assert.h"
#include "base/bits.h"
#include "engine/dead_letter.h"
#include "engine/rest.h"
#include "engine/spout.h"
#include "engine/state.h"
#include "engine/turn.h"
#include "engine/waiting.h"

bool gx_cut_move(gx_shared *shared, uint64_t from, gx_cut_stage stage) {
    uint64_t attempt = from / GX_CUT_STAGES + (stage == GX_CUT_HOLD);
    if (!gx_cas_seq(&shared->cut_stage, &from, attempt * GX_CUT_STAGES + (uint64_t)stage)) return false;
    gx_add_release(&shared->flow.epoch, 1); /* gates depend on the stage */
    gx_executors_wake(shared);
    return true;
}

/* --- Ready --- */

static bool owes_nothing(const gx_executor *ex) {
    for (uint32_t i = 0; ex->has_flushes && i < ex->task_count; i++) {
        const gx_task *task = ex->tasks[i];
        if (gx_task_flushes(task) && task->ran) return false;
        if (task->owed.tuples) return false;
    }
    return true;
}

/* Nothing that others are to receive, or spouts to be told, is left here. */
static bool is_still(const gx_executor *ex) {
    if (!gx_settle_is_empty(&ex->settle) || (ex->has_ledger && gx_ledger_has_answers(&ex->ledger))) return false;
    for (uint32_t i = 0; i < ex->shared->executor_count; i++)
        if (ex->outlets[i].outbox.count || gx_ack_outlet_waiting(&ex->ack_outlets[i])) return false;
    return owes_nothing(ex);
}

uint64_t gx_cut_ready(const gx_executor *ex) {
    gx_cut_stage stage = gx_cut_stage_of(ex->cut.seen);
    if (stage != GX_CUT_HOLD && stage != GX_CUT_STOP) return 0;
    if (!is_still(ex)) return 0;
    bool dry = ex->local.count == 0 && ex->parked_tasks == 0;
    return stage == GX_CUT_STOP || dry ? ex->cut.seen : 0;
}

/* --- Saving --- */

static void add_u32(char *to, uint32_t number) {
    for (int i = 0; i < 4; i++) to[i] = (char)(number >> (24 - 8 * i));
}

/* What is in `cut->records`, under keys of this kind: of a component, unless `name` is NULL, and its task or executor
 * `index`. */
static int put_records(gx_executor *ex, char kind, const char *name, uint32_t index, gx_chunks *chunks) {
    gx_cut_part *cut = &ex->cut;
    gx_buf prefix = GX_BUF_INIT(ex->heap);
    char number[4];
    add_u32(number, index);
    gx_buf_add_byte(&prefix, kind);
    if (name) gx_buf_add(&prefix, name, strlen(name) + 1);
    gx_buf_add(&prefix, number, sizeof number);
    gale_str records = { cut->records.data, cut->records.size };
    int rc = prefix.failed ? GALE_NO_MEMORY
                           : gx_chunks_put(chunks, &prefix, records, ex->shared->cut.seed, &cut->changes);
    gx_buf_fini(&prefix);
    return rc;
}

static int save_component(gx_executor *ex, gx_task *task, uint64_t checkpoint) {
    const gale_durable_ops *durable = gx_task_durable(task);
    gx_cut_part *cut = &ex->cut;
    if (!durable || !durable->save || (task->is_spout && GX_MUTANT(position_early))) return GALE_OK;
    gale_saver saver = { &cut->records, &cut->pledges, task->context.component, checkpoint, GALE_OK };
    gx_buf_reset(&cut->records);
    task->reported = false;
    gx_turn_begin(ex, task);
    int rc = durable->save(task->self, &saver);
    gx_turn_end(ex);
    if (rc >= 0) rc = saver.failed;
    if (rc < 0) return rc;
    return put_records(ex, GX_CUT_TASKS, task->context.component, task->context.task_index, &task->chunks);
}

static int save_rest(gx_executor *ex) {
    gx_cut_part *cut = &ex->cut;
    gx_buf_reset(&cut->records);
    int rc = gx_rest_save(ex, &cut->records);
    return rc < 0 ? rc : put_records(ex, GX_CUT_REST, NULL, ex->index, &cut->rest_chunks);
}

/* One executor's, for all. */
static int save_letters(gx_executor *ex, uint64_t checkpoint) {
    static const char key = GX_CUT_LETTERS;
    gx_cut_part *cut = &ex->cut;
    gale_saver saver = { &cut->records, &cut->pledges, "dead letters", checkpoint, GALE_OK };
    gx_buf_reset(&cut->records);
    int rc = gx_dead_letters_save(ex->shared, &saver);
    if (rc < 0) return rc;
    gx_changes_put(&cut->changes, (gale_str){ &key, 1 }, (gale_str){ cut->records.data, cut->records.size });
    return GALE_OK;
}

static int save(gx_executor *ex) {
    gx_cut_part *cut = &ex->cut;
    uint64_t checkpoint = gx_load_relaxed(&ex->shared->cut.number);
    cut->failed = NULL;
    for (uint32_t i = 0; i < ex->task_count; i++) {
        gx_task *task = ex->tasks[i];
        if (!task->open) continue;
        int rc = save_component(ex, task, checkpoint);
        if (rc >= 0) rc = gx_state_cut(task, checkpoint, &cut->changes);
        cut->failed = task;
        if (rc < 0) return rc;
    }
    cut->failed = NULL;
    int rc = save_rest(ex);
    if (rc >= 0 && ex->index == 0) rc = save_letters(ex, checkpoint);
    return rc < 0 ? rc : cut->changes.bytes.failed ? GALE_NO_MEMORY : GALE_OK;
}

size_t gx_cut_run(gx_executor *ex) {
    uint64_t word = gx_cut_word(ex->shared);
    if (gx_cut_stage_of(word) != GX_CUT_SAVE || ex->cut.saved == word) return 0;
    gx_executor_tell_time(ex);
    ex->cut.saved = word;
    ex->cut.rc = save(ex);
    ex->work++;
    gx_add_release(&ex->shared->cut.saved, 1);     /* R3 */
    gx_bell_ring(&ex->shared->executors[0]->bell); /* the control waits there */
    return 1;
}

/* --- While the run goes on --- */

static void put_off(gx_executor *ex, uint64_t word) {
    gx_cut_stage stage = gx_cut_stage_of(word);
    if (stage != GX_CUT_HOLD && stage != GX_CUT_STOP) return;
    if (ex->now > (int64_t)gx_load_relaxed(&ex->shared->cut.until)) gx_cut_move(ex->shared, word, GX_CUT_NONE);
}

static size_t tell_lasting(gx_executor *ex, uint64_t checkpoint) {
    ex->cut.told = checkpoint;
    for (uint32_t i = 0; i < ex->task_count; i++) {
        gx_task *task = ex->tasks[i];
        task->wishes = false;
        gx_state_committed(task, checkpoint);
        const gale_durable_ops *durable = task->open ? gx_task_durable(task) : NULL;
        if (!durable || !durable->committed) continue;
        gx_turn_begin(ex, task);
        durable->committed(task->self, checkpoint);
        gx_turn_end(ex);
    }
    return 1;
}

size_t gx_cut_watch(gx_executor *ex) {
    uint64_t word = gx_cut_word(ex->shared);
    if (GX_UNLIKELY(gx_cut_stage_of(word) != GX_CUT_NONE)) put_off(ex, word);
    uint64_t lasting = gx_load_acquire(&ex->shared->cut.lasting); /* A4 */
    return GX_UNLIKELY(lasting != ex->cut.told) ? tell_lasting(ex, lasting) : 0;
}
