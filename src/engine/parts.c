#include "engine/parts.h"

#include "base/mutant.h"

#include <stdio.h>

static uint64_t emitted_by(gx_task *task) {
    uint64_t emitted = 0;
    for (uint32_t i = 0; i < task->stream_count; i++) emitted += gx_stream_emitted(&task->streams[i].counters);
    return emitted;
}

int gx_parts_again(gx_task *task) {
    gx_parts *parts = &task->parts;
    uint64_t emitted = emitted_by(task);
    parts->barren = emitted == parts->emitted ? parts->barren + 1 : 0;
    parts->emitted = emitted;
    if (GX_LIKELY(parts->barren < GALE_PARTS_BARREN)) return GALE_OK;
    parts->barren = 0;
    char text[GALE_FAILURE_TEXT];
    snprintf(text, sizeof text, "GALE_MORE was returned %d times in a row, and nothing was emitted", GALE_PARTS_BARREN);
    gx_task_report(task, text);
    return GALE_COMPONENT;
}

int gx_parts_refuse(gx_task *task) {
    gx_count(&task->counters.misused, 1);
    gx_task_report(task, "GALE_MORE was returned without a tuple that can come again: what was left is not emitted");
    return GALE_OK;
}

/* What was emitted so far belongs to the row from now on. */
static void add_edges(gx_cursor *cursor) {
    if (GX_MUTANT(part_edges_lost)) return;
    gx_roots roots = gx_row_roots(cursor->tuple.head);
    for (uint64_t i = 0; i < roots.count; i++) roots.pairs[i].edge ^= cursor->ack;
}

bool gx_parts_keep(gx_executor *ex, gx_task *task, int *rc) {
    gx_cursor *cursor = &ex->cursor;
    bool open = *rc == GALE_MORE && gx_cursor_is_open(cursor);
    *rc = open ? gx_parts_again(task) : gx_parts_refuse(task);
    if (!open || *rc < 0) return false;
    add_edges(cursor);
    gx_cursor_leave(cursor, GX_CURSOR_NONE);
    task->more = true;
    ex->run_end = NULL;
    return true;
}

bool gx_parts_full(gale_collector *out) {
    gx_executor *ex = ((gx_task *)out)->executor;
    if (GX_UNLIKELY(gx_executor_gates_changed(ex))) ex->run_end = NULL; /* a closing run executes no other row */
    return ++ex->part_rows >= GALE_PART_ROWS || !ex->run_end;
}
