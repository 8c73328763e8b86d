#include "runtime/reopen.h"

#include "engine/dead_letter.h"
#include "engine/turn.h"

static void tell(gx_executor *ex, gx_task *task) {
    const gale_bolt_ops *ops = &task->plan->built->bolt;
    if (task->is_spout || !task->open || !ops->reopen) return;
    task->reported = false;
    task->stirred = true;
    gx_turn_begin(ex, task);
    int rc = ops->reopen(task->self, &task->out);
    if (rc < 0 && !task->reported) gx_task_report(task, gale_error_text(rc));
    gx_turn_end(ex);
}

size_t gx_reopen_tell(gx_executor *ex, uint32_t asked) {
    ex->reopened = asked;
    for (uint32_t i = 0; i < ex->task_count; i++) tell(ex, ex->tasks[i]);
    if (ex->index == 0) gx_dead_letters_reopen(ex->shared);
    return 1;
}
