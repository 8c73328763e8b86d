#include "cli/summary.h"

#include "base/json.h"
#include "base/os/time.h"
#include "base/str.h"
#include "cli/figures.h"

#include <stdlib.h>

#define COUNT(n) gx_figure_count((n), (char[GX_FIGURE_SIZE]){ 0 })
#define TIME(n) gx_figure_time((double)(n), (char[GX_FIGURE_SIZE]){ 0 })
#define BYTES(n) gx_figure_bytes((n), (char[GX_FIGURE_SIZE]){ 0 })
#define RATE(n, t) gx_figure_rate((n), (t), (char[GX_FIGURE_SIZE]){ 0 })

/* --- Gathering ---------------------------------------------------------------------------------------------------- */

static gx_summary_row *row_of(gx_summary *summary, const gale_task_stats *task) {
    for (size_t i = summary->row_count; i > 0; i--)
        if (strcmp(summary->rows[i - 1].component, task->component) == 0) return &summary->rows[i - 1];
    gx_summary_row *row = &summary->rows[summary->row_count++];
    *row = (gx_summary_row){ .component = task->component, .spout = task->spout };
    return row;
}

static void add_task(gx_summary_row *row, const gale_task_stats *task) {
    row->tasks++;
    row->executed += task->executed;
    row->emitted += task->emitted;
    row->transferred += task->transferred;
    row->acked += task->acked;
    uint64_t outcomes[GX_OUTCOMES];
    gx_outcomes_of_task(task, outcomes);
    for (size_t i = 0; i < GX_OUTCOMES; i++) row->outcomes[i] += outcomes[i];
    row->errors += task->errors;
    row->execute_samples += task->execute_samples;
    row->execute_nanoseconds += task->execute_nanoseconds;
    row->expired += task->expired;
    row->shed += task->shed;
    row->held += task->held_nanoseconds;
    row->pending_time += task->pending_nanoseconds;
    row->pending_limit = task->pending_limit;
    if (task->held_mostly_nanoseconds <= row->held_by_time) return;
    row->held_by = task->held_mostly_by;
    row->held_by_time = task->held_mostly_nanoseconds;
}

static bool same_input(const gx_summary_drop *a, const gx_summary_drop *b) {
    return strcmp(a->from, b->from) == 0 && strcmp(a->stream, b->stream) == 0 && strcmp(a->to, b->to) == 0;
}

/* Tasks of a component follow each other, each with the same inputs. */
static bool add_drop(gx_summary *summary, const gx_summary_drop *drop) {
    for (size_t i = 0; i < summary->drop_count; i++)
        if (same_input(&summary->drops[i], drop)) return summary->drops[i].count += drop->count, true;
    gx_summary_drop *drops = realloc(summary->drops, (summary->drop_count + 1) * sizeof *drops);
    if (!drops) return false;
    summary->drops = drops;
    drops[summary->drop_count++] = *drop;
    return true;
}

static bool add_drops(gx_summary *summary, const gale_runtime *runtime, const gale_task_stats *task) {
    gx_summary_drop drop = { .to = task->component };
    int32_t policy;
    for (uint32_t i = 0;
         gale_runtime_input_stats(runtime, task->task, i, &drop.from, &drop.stream, &policy, &drop.count); i++) {
        drop.policy = gale_drop_name(policy);
        if (policy != GALE_DROP_NOTHING && !add_drop(summary, &drop)) return false;
    }
    return true;
}

/* A task's place in its component: tasks of one stand together. */
static uint32_t index_of(const gale_runtime *runtime, const gale_task_stats *task) {
    uint32_t index = 0;
    gale_task_stats before = { .size = sizeof before };
    while (index + 1 < task->task && gale_runtime_task_stats(runtime, task->task - index - 1, &before) &&
           strcmp(before.component, task->component) == 0)
        index++;
    return index;
}

static void name_holder(const gale_runtime *runtime, gx_summary_row *row) {
    gale_task_stats holder = { .size = sizeof holder };
    if (!row->held_by || !gale_runtime_task_stats(runtime, row->held_by, &holder)) return;
    row->held_by_component = holder.component;
    row->held_by_queue = holder.queued_bytes_max;
    row->held_by_index = index_of(runtime, &holder);
}

static void read_hold(const gale_runtime *runtime, const gale_task_stats *spout, gx_reading *reading) {
    gale_task_stats holder = { .size = sizeof holder };
    if (reading->held || !spout->held_by || !gale_runtime_task_stats(runtime, spout->held_by, &holder)) return;
    reading->held = spout->component;
    reading->held_by = holder.component;
    reading->held_by_index = index_of(runtime, &holder);
}

static void read_health(gale_runtime *runtime, gx_reading *reading) {
    gale_unwell first = { .size = sizeof first };
    int count = gale_runtime_unwell(runtime, &first, 1);
    reading->unwell_count = count > 0 ? (uint32_t)count : 0;
    reading->unwell = count > 0 ? first.component : NULL;
}

void gx_summary_read(gale_runtime *runtime, gx_reading *ret_reading) {
    gx_reading reading = { .run = { .size = sizeof reading.run }, .done = true };
    gale_runtime_stats(runtime, &reading.run);
    reading.checkpoint.size = sizeof reading.checkpoint;
    reading.durable = gale_runtime_checkpoint_stats(runtime, &reading.checkpoint);
    for (uint32_t i = 1; i <= gale_runtime_task_count(runtime); i++) {
        gale_task_stats task = { .size = sizeof task };
        if (!gale_runtime_task_stats(runtime, i, &task) || !task.spout) continue;
        reading.emitted += task.emitted;
        if (!task.done) reading.done = false;
        read_hold(runtime, &task, &reading);
    }
    read_health(runtime, &reading);
    *ret_reading = reading;
}

/* The two are counted in different places, so that a reading while the run goes on may find the trees ahead. */
static uint64_t untracked(const gx_reading *reading) {
    uint64_t tracked = reading->run.trees + reading->run.replayed;
    return reading->emitted > tracked ? reading->emitted - tracked : 0;
}

bool gx_summary_gather(const gale_topology *topology, gale_runtime *runtime, gx_summary *ret_summary) {
    uint32_t tasks = gale_runtime_task_count(runtime);
    gx_summary summary = { .topology = gale_topology_name(topology), .runtime = runtime };
    summary.rows = calloc(tasks ? tasks : 1, sizeof *summary.rows);
    if (!summary.rows) return false;
    gx_summary_read(runtime, &summary.total);
    bool whole = gx_noted_read(runtime, &summary.noted);
    for (uint32_t i = 1; i <= tasks; i++) {
        gale_task_stats task = { .size = sizeof task };
        if (!gale_runtime_task_stats(runtime, i, &task)) continue;
        add_task(row_of(&summary, &task), &task);
        whole &= add_drops(&summary, runtime, &task);
    }
    for (size_t i = 0; i < summary.row_count; i++) name_holder(runtime, &summary.rows[i]);
    if (!whole) {
        gx_summary_fini(&summary);
        return false;
    }
    *ret_summary = summary;
    return true;
}

void gx_summary_fini(gx_summary *summary) {
    free(summary->rows);
    free(summary->drops);
    gx_noted_free(&summary->noted);
    summary->rows = NULL;
    summary->drops = NULL;
    summary->noted = (gx_noted){ 0 };
}

/* Inputs; 0 for a spout, whose trees some bolt has rejected. */
static uint64_t rejected_by(const gx_summary_row *row) {
    return row->spout ? 0 : row->outcomes[gx_outcome_of(GALE_REASON_REJECTED)];
}

void gx_summary_carry(const gx_summary *summary, gx_carried *carried) {
    const gale_run_stats *run = &summary->total.run;
    carried->changes++;
    carried->acked += run->acked;
    uint64_t outcomes[GX_OUTCOMES];
    gx_outcomes_of_run(run, outcomes);
    for (size_t i = 0; i < GX_OUTCOMES; i++) carried->outcomes[i] += outcomes[i];
    carried->replayed += run->replayed;
    carried->given_up += run->given_up;
    carried->dead_letters += run->dead_letters;
    carried->dead_letters_lost += run->dead_letters_lost;
    carried->lost |= gale_runtime_lost(summary->runtime);
}

/* --- Text --------------------------------------------------------------------------------------------------------- */

enum { TASKS, EXECUTED, EMITTED, ACKED, OUTCOME, EXECUTE = OUTCOME + GX_OUTCOMES, COLUMNS };

static const char *header(int column) {
    static const char *const before[OUTCOME] = { "tasks", "executed", "emitted", "acked" };
    if (column == EXECUTE) return "execute";
    return column < OUTCOME ? before[column] : gx_outcomes[column - OUTCOME].title;
}

static const char *dash_or_count(bool dash, uint64_t count, char out[GX_FIGURE_SIZE]) {
    if (!dash) return gx_figure_count(count, out);
    return strcpy(out, "-");
}

static const char *cell(const gx_summary_row *row, int column, char out[GX_FIGURE_SIZE]) {
    switch (column) {
    case TASKS: return gx_figure_count(row->tasks, out);
    case EXECUTED: return dash_or_count(row->spout, row->executed, out);
    case EMITTED: return gx_figure_count(row->emitted, out);
    case ACKED: return gx_figure_count(row->acked, out);
    case EXECUTE: break;
    default: return gx_figure_count(row->outcomes[column - OUTCOME], out);
    }
    if (row->spout || !row->execute_samples) return dash_or_count(true, 0, out);
    return gx_figure_time((double)row->execute_nanoseconds / (double)row->execute_samples, out);
}

/* 0 for a column that says nothing: it is left out. */
static int width_of(const gx_summary *summary, int column) {
    char text[GX_FIGURE_SIZE];
    int width = (int)strlen(header(column));
    bool says = false;
    for (size_t i = 0; i < summary->row_count; i++) {
        int own = (int)strlen(cell(&summary->rows[i], column, text));
        if (strcmp(text, "0") != 0 && strcmp(text, "-") != 0) says = true;
        if (own > width) width = own;
    }
    return says ? width : 0;
}

static void text_table(const gx_summary *summary, gx_buf *out) {
    int first = (int)strlen("component"), widths[COLUMNS];
    for (size_t i = 0; i < summary->row_count; i++) {
        int own = (int)strlen(summary->rows[i].component);
        if (own > first) first = own;
    }
    gx_buf_format(out, "%-*s", first, "component");
    for (int c = 0; c < COLUMNS; c++)
        if ((widths[c] = width_of(summary, c)) > 0) gx_buf_format(out, "  %*s", widths[c], header(c));
    gx_buf_add_text(out, "\n");
    for (size_t i = 0; i < summary->row_count; i++) {
        char text[GX_FIGURE_SIZE];
        gx_buf_format(out, "%-*s", first, summary->rows[i].component);
        for (int c = 0; c < COLUMNS; c++)
            if (widths[c]) gx_buf_format(out, "  %*s", widths[c], cell(&summary->rows[i], c, text));
        gx_buf_add_text(out, "\n");
    }
}

/* What is of no tree, no spout hears of. */
static void text_rejected(const gx_summary *summary, gx_buf *out) {
    for (size_t i = 0; i < summary->row_count && !summary->total.run.rejected; i++) {
        const gx_summary_row *row = &summary->rows[i];
        if (rejected_by(row))
            gx_buf_format(out, "%s rejected by %s, of no tree\n", COUNT(rejected_by(row)), row->component);
    }
}

static void text_trees(const gx_reading *total, gx_buf *out) {
    const gale_run_stats *run = &total->run;
    uint64_t outcomes[GX_OUTCOMES];
    gx_outcomes_of_run(run, outcomes);
    gx_buf_format(out, "%s tree%s: %s acked", COUNT(run->trees), gx_plural(run->trees), COUNT(run->acked));
    for (size_t i = 0; i < GX_OUTCOMES; i++)
        if (outcomes[i] || i != gx_outcome_of(GALE_REASON_REJECTED))
            gx_buf_format(out, ", %s %s", COUNT(outcomes[i]), gx_outcomes[i].title);
    gx_buf_format(out, ", %s open\n", COUNT(run->open));
    if (run->replayed || run->given_up)
        gx_buf_format(out, "%s emitted again, %s given up, dead letters: %s", COUNT(run->replayed),
                      COUNT(run->given_up), COUNT(run->dead_letters));
    if (run->dead_letters_lost) gx_buf_format(out, ", of which %s are lost", COUNT(run->dead_letters_lost));
    if (run->replayed || run->given_up) gx_buf_add_text(out, "\n");
    if (untracked(total))
        gx_buf_format(out, "%s more tuple%s, not tracked, emitted by spouts\n", COUNT(untracked(total)),
                      gx_plural(untracked(total)));
    if (run->acked)
        gx_buf_format(out, "complete latency p50 %s, p99 %s, max %s\n", TIME(run->complete_p50),
                      TIME(run->complete_p99), TIME(run->complete_max));
}

/* In percent of the run, over all of the component's tasks. */
static double share(const gx_summary *summary, const gx_summary_row *row, uint64_t nanoseconds) {
    double whole = (double)summary->total.run.elapsed * row->tasks;
    double percent = whole > 0 ? 100 * (double)nanoseconds / whole : 0;
    return percent < 100 ? percent : 100;
}

static void text_holds(const gx_summary *summary, const gx_summary_row *row, gx_buf *out) {
    double held = share(summary, row, row->held), waited = share(summary, row, row->pending_time);
    if (held >= 0.5 && row->held_by_component) {
        gx_buf_format(out, "%s held %.0f %% of the time by %s[%u], ", row->component, held, row->held_by_component,
                      row->held_by_index);
        if (row->held_by_queue)
            gx_buf_format(out, "queue %s\n", BYTES(row->held_by_queue));
        else /* it is busy in long calls, and reads nothing meanwhile */
            gx_buf_add_text(out, "which did not read its ring\n");
    }
    if (waited >= 0.5)
        gx_buf_format(out, "%s waited %.0f %% of the time for answers: %s of %s pending\n", row->component, waited,
                      COUNT(row->pending_limit), COUNT(row->pending_limit));
}

/* What was held, and what was not executed. */
static void text_flow(const gx_summary *summary, gx_buf *out) {
    for (size_t i = 0; i < summary->row_count; i++) {
        const gx_summary_row *row = &summary->rows[i];
        text_holds(summary, row, out);
        if (row->expired)
            gx_buf_format(out, "%s over their deadline at %s, not executed\n", COUNT(row->expired), row->component);
        if (row->shed)
            gx_buf_format(out, "%s of no tree lost at the full queue of %s\n", COUNT(row->shed), row->component);
    }
    for (size_t i = 0; i < summary->drop_count; i++) {
        const gx_summary_drop *drop = &summary->drops[i];
        bool named = strcmp(drop->stream, "default") != 0;
        if (drop->count)
            gx_buf_format(out, "dropped %s of %s%s%s -> %s (%s)\n", COUNT(drop->count), drop->from, named ? "." : "",
                          named ? drop->stream : "", drop->to, drop->policy);
    }
}

static int64_t age_of(const gale_checkpoint_stats *c) {
    int64_t age = gx_os_wall() - c->wall;
    return age > 0 ? age : 0;
}

static void text_checkpoints(const gale_checkpoint_stats *c, gx_buf *out) {
    if (c->resumed) gx_buf_format(out, "resumed from checkpoint %llu\n", (unsigned long long)c->resumed);
    if (c->dropped)
        gx_buf_format(out, "%s tuple%s of components that are there no more were dropped\n", COUNT(c->dropped),
                      gx_plural(c->dropped));
    if (c->again)
        gx_buf_format(out, "%s tree%s began again: who held the tuples does not save that\n", COUNT(c->again),
                      gx_plural(c->again));
    gx_buf_format(out, "%s checkpoint%s", COUNT(c->count), gx_plural(c->count));
    if (c->put_off) gx_buf_format(out, ", %s put off", COUNT(c->put_off));
    if (c->count)
        gx_buf_format(out, "; the last, %llu: %s old, %s, %s to make it last, spouts held for %s",
                      (unsigned long long)c->number, TIME(age_of(c)), BYTES(c->bytes), TIME(c->took), TIME(c->held));
    if (c->owed) gx_buf_format(out, "; sinks have not committed all for %s", TIME(c->owed));
    gx_buf_add_text(out, "\n");
    if (c->count < 2) return;
    gx_buf_format(out, "spouts held p50 %s, p99 %s, max %s; to last p50 %s, p99 %s, max %s; at most %s\n",
                  TIME(c->held_p50), TIME(c->held_p99), TIME(c->held_max), TIME(c->took_p50), TIME(c->took_p99),
                  TIME(c->took_max), BYTES(c->bytes_max));
}

/* The rest of the summary is of the time since the last change. */
static void text_carried(const gx_carried *carried, gx_buf *out) {
    if (!carried || !carried->changes) return;
    gx_buf_format(out, "before %s change%s: %s acked, %s failed, %s replayed, %s given up, %s dead letters\n",
                  COUNT(carried->changes), carried->changes == 1 ? "" : "s", COUNT(carried->acked),
                  COUNT(gx_outcomes_sum(carried->outcomes)), COUNT(carried->replayed), COUNT(carried->given_up),
                  COUNT(carried->dead_letters));
}

void gx_summary_text(const gx_summary *summary, gx_buf *out) {
    const gx_reading *total = &summary->total;
    const gale_run_stats *run = &total->run;
    text_table(summary, out);
    if (run->trees)
        text_trees(total, out);
    else
        gx_buf_format(out, "no tracked tuples; %s emitted by spouts\n", COUNT(total->emitted));
    text_rejected(summary, out);
    text_flow(summary, out);
    text_carried(summary->carried, out);
    if (total->durable) text_checkpoints(&total->checkpoint, out);
    gx_buf_format(out, "%.2f s: ", (double)run->elapsed / 1e9);
    if (run->trees) gx_buf_format(out, "%s trees/s, ", RATE(run->trees, run->elapsed));
    gx_buf_format(out, "%s tuples/s\n", RATE(run->executed, run->elapsed));
}

static void line_spouts(const gx_reading *now, const gx_reading *before, gx_buf *out) {
    const gale_run_stats *run = &now->run;
    int64_t elapsed = run->elapsed - before->run.elapsed;
    if (run->trees == 0 && now->emitted)
        gx_buf_format(out, "%s emitted, none tracked  %s emitted/s", COUNT(now->emitted),
                      RATE(now->emitted - before->emitted, elapsed));
    else
        gx_buf_format(out, "%s trees  %s trees/s", COUNT(run->trees), RATE(run->trees - before->run.trees, elapsed));
}

void gx_summary_line(const gx_reading *now, const gx_reading *before, gx_buf *out) {
    const gale_run_stats *run = &now->run;
    gx_buf_format(out, "%4lld s  ", (long long)((run->elapsed + 50 * GALE_MILLISECOND) / GALE_SECOND));
    line_spouts(now, before, out);
    gx_buf_format(out, "  %s tuples/s", RATE(run->executed - before->run.executed, run->elapsed - before->run.elapsed));
    uint64_t outcomes[GX_OUTCOMES];
    gx_outcomes_of_run(run, outcomes);
    if (run->trees || !now->emitted)
        gx_buf_format(out, "  %s open  %s failed", COUNT(run->open), COUNT(gx_outcomes_sum(outcomes)));
    if (now->durable && now->checkpoint.number)
        gx_buf_format(out, "  checkpoint %llu, %s ago", (unsigned long long)now->checkpoint.number,
                      TIME(age_of(&now->checkpoint)));
    if (now->held) gx_buf_format(out, "  %s held by %s[%u]", now->held, now->held_by, now->held_by_index);
    if (now->unwell_count == 1) gx_buf_format(out, "  %s is unhealthy", now->unwell);
    if (now->unwell_count > 1)
        gx_buf_format(out, "  %s and %s more unhealthy", now->unwell, COUNT(now->unwell_count - 1));
    gx_buf_add_text(out, "\n");
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

static void rate_member(gx_json *json, const char *key, uint64_t count, int64_t nanoseconds) {
    gx_json_key(json, gx_str(key));
    gx_json_f64(json, nanoseconds > 0 ? (double)count * 1e9 / (double)nanoseconds : 0);
}

static void json_holds(const gx_summary_row *row, gx_json *json) {
    gx_figure_seconds_member(json, "held_seconds", (int64_t)row->held);
    gx_json_key(json, gx_str("held_mostly_by"));
    if (row->held_by_component) {
        gx_json_open(json, '{');
        gx_json_key(json, gx_str("component"));
        gx_json_string(json, gx_str(row->held_by_component));
        gx_figure_count_member(json, "index", row->held_by_index);
        gx_figure_count_member(json, "task", row->held_by);
        gx_figure_seconds_member(json, "seconds", (int64_t)row->held_by_time);
        gx_figure_count_member(json, "queue_bytes_max", row->held_by_queue);
        gx_json_close(json, '}');
    } else {
        gx_json_null(json);
    }
    gx_figure_seconds_member(json, "waited_for_answers_seconds", (int64_t)row->pending_time);
}

static void json_drop(const gx_summary_drop *drop, gx_json *json) {
    gx_json_open(json, '{');
    gx_json_key(json, gx_str("from"));
    gx_json_string(json, gx_str(drop->from));
    gx_json_key(json, gx_str("stream"));
    gx_json_string(json, gx_str(drop->stream));
    gx_json_key(json, gx_str("to"));
    gx_json_string(json, gx_str(drop->to));
    gx_json_key(json, gx_str("drop"));
    gx_json_string(json, gx_str(drop->policy));
    gx_figure_count_member(json, "count", drop->count);
    gx_json_close(json, '}');
}

static void outcome_members(const uint64_t counts[GX_OUTCOMES], gx_json *json) {
    for (size_t i = 0; i < GX_OUTCOMES; i++) gx_figure_count_member(json, gx_outcomes[i].key, counts[i]);
}

static void json_row(const gx_summary *summary, const gx_summary_row *row, gx_json *json) {
    gx_json_open(json, '{');
    gx_json_key(json, gx_str("component"));
    gx_json_string(json, gx_str(row->component));
    gx_json_key(json, gx_str("kind"));
    gx_json_string(json, gx_str(row->spout ? "spout" : "bolt"));
    gx_figure_count_member(json, "tasks", row->tasks);
    gx_figure_count_member(json, "executed", row->executed);
    gx_figure_count_member(json, "emitted", row->emitted);
    gx_figure_count_member(json, "transferred", row->transferred);
    gx_figure_count_member(json, "acked", row->acked);
    outcome_members(row->outcomes, json);
    gx_figure_count_member(json, "errors", row->errors);
    gx_figure_count_member(json, "expired", row->expired);
    gx_figure_count_member(json, "shed", row->shed);
    if (row->spout) json_holds(row, json);
    gx_json_key(json, gx_str("execute_seconds_mean"));
    if (row->execute_samples)
        gx_json_f64(json, (double)row->execute_nanoseconds / (double)row->execute_samples / 1e9);
    else
        gx_json_null(json);
    gx_json_key(json, gx_str("metrics"));
    gx_noted_json(json, &summary->noted, summary->runtime, row->component);
    gx_json_close(json, '}');
}

static void json_run(const gx_reading *total, gx_json *json) {
    const gale_run_stats *run = &total->run;
    uint64_t outcomes[GX_OUTCOMES];
    gx_outcomes_of_run(run, outcomes);
    gx_figure_count_member(json, "trees", run->trees);
    gx_figure_count_member(json, "untracked", untracked(total));
    gx_figure_count_member(json, "acked", run->acked);
    outcome_members(outcomes, json);
    gx_figure_count_member(json, "open", run->open);
    gx_figure_count_member(json, "replayed", run->replayed);
    gx_figure_count_member(json, "given_up", run->given_up);
    gx_figure_count_member(json, "dead_letters", run->dead_letters);
    gx_figure_count_member(json, "dead_letters_lost", run->dead_letters_lost);
    gx_figure_count_member(json, "executed", run->executed);
    gx_figure_seconds_member(json, "complete_seconds_p50", run->complete_p50);
    gx_figure_seconds_member(json, "complete_seconds_p99", run->complete_p99);
    gx_figure_seconds_member(json, "complete_seconds_max", run->complete_max);
    gx_figure_seconds_member(json, "seconds", run->elapsed);
    rate_member(json, "trees_per_second", run->trees, run->elapsed);
    rate_member(json, "tuples_per_second", run->executed, run->elapsed);
    gx_figure_count_member(json, "memory_reserved", run->memory_reserved);
    gx_figure_count_member(json, "allocations", run->allocations);
}

/* null: it was not changed. */
static void json_carried(const gx_carried *carried, gx_json *json) {
    gx_json_key(json, gx_str("before_changes"));
    if (!carried || !carried->changes) {
        gx_json_null(json);
        return;
    }
    gx_json_open(json, '{');
    gx_figure_count_member(json, "changes", carried->changes);
    gx_figure_count_member(json, "acked", carried->acked);
    outcome_members(carried->outcomes, json);
    gx_figure_count_member(json, "replayed", carried->replayed);
    gx_figure_count_member(json, "given_up", carried->given_up);
    gx_figure_count_member(json, "dead_letters", carried->dead_letters);
    gx_figure_count_member(json, "dead_letters_lost", carried->dead_letters_lost);
    gx_json_close(json, '}');
}

static void json_checkpoints(const gx_summary *summary, gx_json *json) {
    const gale_checkpoint_stats *c = &summary->total.checkpoint;
    gx_json_key(json, gx_str("checkpoints"));
    if (!summary->total.durable) {
        gx_json_null(json);
        return;
    }
    gx_json_open(json, '{');
    gx_figure_count_member(json, "made", c->count);
    gx_figure_count_member(json, "put_off", c->put_off);
    gx_figure_count_member(json, "last", c->number);
    gx_figure_count_member(json, "resumed_from", c->resumed);
    gx_figure_count_member(json, "dropped", c->dropped);
    gx_figure_count_member(json, "again", c->again);
    gx_json_key(json, gx_str("age_seconds"));
    if (c->number)
        gx_json_f64(json, (double)age_of(c) / 1e9);
    else
        gx_json_null(json);
    gx_figure_count_member(json, "bytes", c->bytes);
    gx_figure_count_member(json, "bytes_max", c->bytes_max);
    gx_figure_seconds_member(json, "seconds_to_last", c->took);
    gx_figure_seconds_member(json, "seconds_to_last_p50", c->took_p50);
    gx_figure_seconds_member(json, "seconds_to_last_p99", c->took_p99);
    gx_figure_seconds_member(json, "seconds_to_last_max", c->took_max);
    gx_figure_seconds_member(json, "held_seconds", c->held);
    gx_figure_seconds_member(json, "held_seconds_p50", c->held_p50);
    gx_figure_seconds_member(json, "held_seconds_p99", c->held_p99);
    gx_figure_seconds_member(json, "held_seconds_max", c->held_max);
    gx_figure_seconds_member(json, "owed_seconds", c->owed);
    gx_json_key(json, gx_str("complete"));
    gx_json_bool(json, c->complete);
    gx_json_close(json, '}');
}

void gx_summary_json(const gx_summary *summary, int exit_code, gx_buf *out) {
    gx_json json = gx_json_to(out);
    gx_json_open(&json, '{');
    gx_json_key(&json, gx_str("topology"));
    gx_json_string(&json, gx_str(summary->topology));
    gx_json_key(&json, gx_str("exit_code"));
    gx_json_i64(&json, exit_code);
    json_run(&summary->total, &json);
    json_carried(summary->carried, &json);
    gx_json_key(&json, gx_str("components"));
    gx_json_open(&json, '[');
    for (size_t i = 0; i < summary->row_count; i++) json_row(summary, &summary->rows[i], &json);
    gx_json_close(&json, ']');
    gx_json_key(&json, gx_str("dropped"));
    gx_json_open(&json, '[');
    for (size_t i = 0; i < summary->drop_count; i++) json_drop(&summary->drops[i], &json);
    gx_json_close(&json, ']');
    json_checkpoints(summary, &json);
    gx_json_close(&json, '}');
    gx_buf_add_byte(out, '\n');
}
