#include "cli/summary.h"

#include "base/json.h"
#include "base/str.h"
#include "cli/figures.h"

#include <stdlib.h>

#define COUNT(n) gx_figure_count((n), (char[GX_FIGURE_SIZE]){ 0 })
#define TIME(n) gx_figure_time((double)(n), (char[GX_FIGURE_SIZE]){ 0 })
#define RATE(n, t) gx_figure_rate((n), (t), (char[GX_FIGURE_SIZE]){ 0 })

/* --- Gathering ------------------------------------------------------------------------------------------------------
 */

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
    row->failed += task->failed;
    row->timed_out += task->timed_out;
    row->errors += task->errors;
    row->execute_samples += task->execute_samples;
    row->execute_nanoseconds += task->execute_nanoseconds;
}

bool gx_summary_gather(const gale_topology *topology, const gale_runtime *runtime, gx_summary *ret_summary) {
    uint32_t tasks = gale_runtime_task_count(runtime);
    gx_summary summary = { .run = { .size = sizeof summary.run }, .topology = gale_topology_name(topology) };
    summary.rows = calloc(tasks ? tasks : 1, sizeof *summary.rows);
    if (!summary.rows) return false;
    gale_runtime_stats(runtime, &summary.run);
    for (uint32_t i = 1; i <= tasks; i++) {
        gale_task_stats task = { .size = sizeof task };
        if (gale_runtime_task_stats(runtime, i, &task)) add_task(row_of(&summary, &task), &task);
    }
    *ret_summary = summary;
    return true;
}

void gx_summary_fini(gx_summary *summary) {
    free(summary->rows);
    summary->rows = NULL;
}

bool gx_summary_lost(const gx_summary *summary) {
    for (size_t i = 0; i < summary->row_count; i++) {
        const gx_summary_row *row = &summary->rows[i];
        if (row->spout ? row->errors : summary->run.trees == 0 && row->failed) return true;
    }
    return false;
}

/* --- Text -----------------------------------------------------------------------------------------------------------
 */

static void text_row(const gx_summary_row *row, int width, gx_buf *out) {
    char latency[GX_FIGURE_SIZE] = "-";
    if (row->execute_samples) gx_figure_time((double)row->execute_nanoseconds / (double)row->execute_samples, latency);
    gx_buf_format(out, "%-*s %5u %15s %15s %15s %9s %9s %9s\n", width, row->component, row->tasks,
                  row->spout ? "-" : COUNT(row->executed), COUNT(row->emitted), COUNT(row->acked), COUNT(row->failed),
                  row->spout ? COUNT(row->timed_out) : "-", row->spout ? "-" : latency);
}

static void text_run(const gx_summary *summary, gx_buf *out) {
    const gale_run_stats *run = &summary->run;
    gx_buf_format(out, "%s trees: %s acked, %s failed, %s timed out, %s stopped, %s open\n", COUNT(run->trees),
                  COUNT(run->acked), COUNT(run->failed), COUNT(run->timed_out), COUNT(run->stopped), COUNT(run->open));
    if (run->acked)
        gx_buf_format(out, "complete latency p50 %s, p99 %s, max %s\n", TIME(run->complete_p50),
                      TIME(run->complete_p99), TIME(run->complete_max));
    gx_buf_format(out, "%.2f s: %s trees/s, %s tuples/s\n", (double)run->elapsed / 1e9, RATE(run->trees, run->elapsed),
                  RATE(run->executed, run->elapsed));
}

void gx_summary_text(const gx_summary *summary, gx_buf *out) {
    int width = (int)strlen("component");
    for (size_t i = 0; i < summary->row_count; i++) {
        int own = (int)strlen(summary->rows[i].component);
        if (own > width) width = own;
    }
    gx_buf_format(out, "%-*s %5s %15s %15s %15s %9s %9s %9s\n", width, "component", "tasks", "executed", "emitted",
                  "acked", "failed", "timed out", "execute");
    for (size_t i = 0; i < summary->row_count; i++) text_row(&summary->rows[i], width, out);
    text_run(summary, out);
}

void gx_summary_line(const gale_run_stats *now, const gale_run_stats *before, gx_buf *out) {
    gx_buf_format(out, "%4lld s  %s trees  %s trees/s  %s tuples/s  %s open  %s failed\n",
                  (long long)((now->elapsed + 50 * GALE_MILLISECOND) / GALE_SECOND), COUNT(now->trees),
                  RATE(now->trees - before->trees, now->elapsed - before->elapsed),
                  RATE(now->executed - before->executed, now->elapsed - before->elapsed), COUNT(now->open),
                  COUNT(now->failed + now->timed_out));
}

/* --- JSON -----------------------------------------------------------------------------------------------------------
 */

static void count_member(gx_json *json, const char *key, uint64_t count) {
    gx_json_key(json, gx_str(key));
    gx_json_u64(json, count);
}

static void seconds_member(gx_json *json, const char *key, int64_t nanoseconds) {
    gx_json_key(json, gx_str(key));
    gx_json_f64(json, (double)nanoseconds / 1e9);
}

static void rate_member(gx_json *json, const char *key, uint64_t count, int64_t nanoseconds) {
    gx_json_key(json, gx_str(key));
    gx_json_f64(json, nanoseconds > 0 ? (double)count * 1e9 / (double)nanoseconds : 0);
}

static void json_row(const gx_summary_row *row, gx_json *json) {
    gx_json_open(json, '{');
    gx_json_key(json, gx_str("component"));
    gx_json_string(json, gx_str(row->component));
    gx_json_key(json, gx_str("kind"));
    gx_json_string(json, gx_str(row->spout ? "spout" : "bolt"));
    count_member(json, "tasks", row->tasks);
    count_member(json, "executed", row->executed);
    count_member(json, "emitted", row->emitted);
    count_member(json, "transferred", row->transferred);
    count_member(json, "acked", row->acked);
    count_member(json, "failed", row->failed);
    count_member(json, "timed_out", row->timed_out);
    count_member(json, "errors", row->errors);
    gx_json_key(json, gx_str("execute_seconds_mean"));
    if (row->execute_samples)
        gx_json_f64(json, (double)row->execute_nanoseconds / (double)row->execute_samples / 1e9);
    else
        gx_json_null(json);
    gx_json_close(json, '}');
}

static void json_run(const gale_run_stats *run, gx_json *json) {
    count_member(json, "trees", run->trees);
    count_member(json, "acked", run->acked);
    count_member(json, "failed", run->failed);
    count_member(json, "timed_out", run->timed_out);
    count_member(json, "stopped", run->stopped);
    count_member(json, "open", run->open);
    count_member(json, "executed", run->executed);
    seconds_member(json, "complete_seconds_p50", run->complete_p50);
    seconds_member(json, "complete_seconds_p99", run->complete_p99);
    seconds_member(json, "complete_seconds_max", run->complete_max);
    seconds_member(json, "seconds", run->elapsed);
    rate_member(json, "trees_per_second", run->trees, run->elapsed);
    rate_member(json, "tuples_per_second", run->executed, run->elapsed);
    count_member(json, "memory_reserved", run->memory_reserved);
    count_member(json, "allocations", run->allocations);
}

void gx_summary_json(const gx_summary *summary, int exit_code, gx_buf *out) {
    gx_json json = gx_json_to(out);
    gx_json_open(&json, '{');
    gx_json_key(&json, gx_str("topology"));
    gx_json_string(&json, gx_str(summary->topology));
    gx_json_key(&json, gx_str("exit_code"));
    gx_json_i64(&json, exit_code);
    json_run(&summary->run, &json);
    gx_json_key(&json, gx_str("components"));
    gx_json_open(&json, '[');
    for (size_t i = 0; i < summary->row_count; i++) json_row(&summary->rows[i], &json);
    gx_json_close(&json, ']');
    gx_json_close(&json, '}');
    gx_buf_add_byte(out, '\n');
}
