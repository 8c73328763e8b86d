#include "engine/replay.h"

#include "base/assert.h"
#include "base/log.h"
#include "base/mutant.h"
#include "engine/dead_letter.h"
#include "engine/emit.h"

enum { BURST = 256 }; /* a spout task and step */

/* --- Dead letters --- */

static void lose(gx_executor *ex, const gx_task *task, uint64_t message_id, const char *why) {
    ex->ledger.counters.dead_letters_lost++;
    if (gx_log_wanted(task->context.logger, GALE_LOG_ERROR))
        gale_log(task->context.logger, GALE_LOG_ERROR, task->context.component, "dead letter of message %llu lost: %s",
                 (unsigned long long)message_id, why);
}

static int post(gx_task *task, const gx_dead_letter *letter) {
    GX_CHECK(task->is_spout);
    gale_value values[GX_DEAD_LETTER_FIELDS];
    gx_origin from = { .letter = true };
    gx_dead_letter_values(letter, values);
    const gx_emission e = { .stream = task->stream_count,
                            .values = values,
                            .count = GX_DEAD_LETTER_FIELDS,
                            .message_id = &letter->message_id };
    int rc = gx_emit_tree(task, &e, &from);
    return rc < 0 ? rc : GALE_OK;
}

/* Is it where it was asked to be? False when it is not in the file, or nobody can take it any more: then it is not given
 * up. */
static bool bury(gx_executor *ex, gx_task *task, const gx_answer *answer, const gx_retained *kept,
                 const gale_failure *failure) {
    bool posted = task->streams[task->stream_count].count > 0, filed = ex->shared->plan->dead_letters_file.size > 0;
    bool over = gx_phase(ex->shared) >= GALE_PHASE_CLOSING;
    if (!posted && !filed) return true;
    const gx_dead_letter letter = { .component = task->context.component,
                                    .stream = task->plan->schema.streams[kept->stream].name,
                                    .message_id = answer->message_id,
                                    .tuple = (const gale_body *)kept->body->bytes,
                                    .failure = failure,
                                    .attempts = kept->attempts };
    bool safe = filed ? gx_dead_letters_write(ex->shared, &letter) || GX_MUTANT(letter_lost) : !over;
    if (!safe) return false;
    ex->ledger.counters.dead_letters++;
    if (!posted) return true;
    int rc = over ? GALE_STOPPED : post(task, &letter);
    if (GX_MUTANT(letter_twice)) (void)post(task, &letter);
    if (rc < 0) lose(ex, task, answer->message_id, gale_error_text(rc));
    return true;
}

void gx_replay_letter(gx_task *task, const gx_emission *emission) {
    gx_origin from = { .letter = true };
    int rc = gx_emit_tree(task, emission, &from);
    if (rc < 0) lose(task->executor, task, *emission->message_id, gale_error_text(rc));
}

/* --- Answers --- */

static bool may_try_again(const gx_executor *ex, const gx_task *task, const gx_answer *answer,
                          const gx_retained *kept) {
    return (answer->state == GX_TREE_FAILED || answer->state == GX_TREE_LATE) &&
           kept->attempts < task->plan->attempts + GX_MUTANT(attempt_too_many) &&
           gx_phase(ex->shared) < GALE_PHASE_CLOSING;
}

/* A letter's tuple that was delivered again, and has failed. What the end of the run stops is where it was: among the letters. */
static void bury_again(gx_executor *ex, gx_task *task, const gx_answer *answer, const gx_retained *kept,
                       const gale_failure *failure) {
    if (answer->state == GX_TREE_STOPPED) return;
    gx_executor_count_failure(ex, failure);
    if (bury(ex, task, answer, kept, failure))
        ex->ledger.counters.given_up++;
    else
        lose(ex, task, answer->message_id, failure->text);
}

/* The last answer to a dead letter, which nobody waits for. */
static void end_letter(gx_executor *ex, gx_task *task, const gx_answer *answer, const gx_retained *kept,
                       const gale_failure *failure) {
    GX_CHECK(answer->slot < ex->ledger.slots);
    bool again = kept->stream < task->stream_count;
    if (answer->state == GX_TREE_ACKED)
        gx_histogram_add(task->latencies->of[GALE_LATENCY_COMPLETE], answer->latency);
    else if (again)
        bury_again(ex, task, answer, kept, failure);
    else
        lose(ex, task, answer->message_id, failure->text);
    gx_retention_drop(&ex->retention, answer->slot);
    gx_ledger_answered(&ex->ledger, answer, ex->now);
}

/* It is given up when its attempts are used up, or none can help, and its letter is safe. Failed at the very end, with
 * attempts left or a letter that could not be kept, it is as unanswered as what was stopped. */
static void end_failed(gx_executor *ex, gx_task *task, gx_answer *answer, const gx_retained *kept,
                       const gale_failure *failure) {
    GX_CHECK(answer->state != GX_TREE_ACKED && answer->state != GX_TREE_STOPPED);
    GX_CHECK(!kept->letter);
    bool over = answer->state == GX_TREE_REJECTED || kept->attempts >= task->plan->attempts;
    answer->final = over && bury(ex, task, answer, kept, failure);
    if (answer->final)
        ex->ledger.counters.given_up++;
    else
        gx_ledger_unanswered(&ex->ledger, answer);
}

bool gx_replay_takes(gx_executor *ex, gx_task *task, gx_answer *answer, const gale_failure *failure) {
    gx_retained *kept = gx_retention_at(&ex->retention, answer->slot);
    if (!kept) return false;
    if (may_try_again(ex, task, answer, kept)) {
        gx_retention_wait(&ex->retention, answer, ex->now);
        return true;
    }
    answer->attempts = kept->attempts;
    if (answer->state == GX_TREE_ACKED) answer->latency = ex->now - kept->first;
    if (kept->letter) {
        end_letter(ex, task, answer, kept, failure);
        return true;
    }
    if (answer->state != GX_TREE_ACKED && answer->state < GX_TREE_LOST) end_failed(ex, task, answer, kept, failure);
    gx_retention_drop(&ex->retention, answer->slot);
    return false;
}

/* --- Emitting again --- */

static void emit_again(gx_executor *ex, gx_task *task, uint64_t slot) {
    gx_retained *kept = gx_retention_at(&ex->retention, slot);
    GX_CHECK(kept != NULL && kept->attempts > 0);
    uint64_t message_id = gx_ledger_at(&ex->ledger, slot)->message_id;
    const gale_body *body = (const gale_body *)kept->body->bytes;
    gx_origin from = { .letter = kept->letter };
    gx_emission e = gx_emission_of(kept->stream, body, gx_body_size(body));
    e.direct = kept->direct;
    e.message_id = &message_id;
    e.block = kept->body;
    from.begun = gx_ledger_reopen(&ex->ledger, slot, ex->now);
    kept->attempts++;
    int rc = gx_emit(task, &e, &from);
    if (GX_LIKELY(rc >= 0)) {
        ex->ledger.counters.replayed++;
        gx_emit_begun(task, &from);
        return;
    }
    gx_ledger_fail(&ex->ledger, from.begun, rc == GALE_NO_MEMORY ? GALE_REASON_NO_MEMORY : GALE_REASON_FAILED, task->id,
                   gale_error_text(rc));
}

/* What has waited for long enough goes behind the rest of its spout task's: one that is held holds no other up. */
static void sort_by_task(gx_executor *ex) {
    uint64_t slot;
    while (gx_retention_next(&ex->retention, ex->now, &slot)) {
        gx_task *task = ex->shared->tasks[gx_ledger_mark(&ex->ledger, slot)->task];
        GX_CHECK(task->executor == ex && task->is_spout);
        gx_ledger_append(&ex->ledger, &task->spout.replays, slot);
    }
}

static size_t run_task(gx_executor *ex, gx_task *task) {
    size_t emitted = 0;
    for (; task->spout.replays.head && emitted < BURST; emitted++) {
        gx_executor_check_gates(ex);
        if (ex->gated[task->component]) break;
        emit_again(ex, task, gx_ledger_take_first(&ex->ledger, &task->spout.replays));
    }
    return emitted;
}

size_t gx_replay_run(gx_executor *ex) {
    if (GX_LIKELY(!ex->retention.segments)) return 0;
    size_t emitted = 0;
    sort_by_task(ex);
    for (uint32_t i = 0; i < ex->spout_count; i++) emitted += run_task(ex, ex->spouts[i]);
    gx_turn_end(ex);
    return emitted;
}

int64_t gx_replay_due(const gx_executor *ex) {
    if (GX_LIKELY(!ex->retention.segments)) return INT64_MAX;
    for (uint32_t i = 0; i < ex->spout_count; i++)
        if (ex->spouts[i]->spout.replays.head && !ex->gated[ex->spouts[i]->component]) return ex->now;
    return gx_retention_due(&ex->retention);
}
