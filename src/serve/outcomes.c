#include "serve/outcomes.h"

#include <assert.h>
#include <string.h>

enum { FAILED, TIMED_OUT, REJECTED, STOPPED };

const gx_outcome gx_outcomes[GX_OUTCOMES] = {
    [FAILED] = { "failed", "failed", "FAILED" },
    [TIMED_OUT] = { "timed_out", "timed out", "TIMED OUT" },
    [REJECTED] = { "rejected", "rejected", "REJECTED" },
    [STOPPED] = { "stopped", "stopped", "STOPPED" },
};

size_t gx_outcome_of(int32_t reason) {
    static const size_t columns[] = {
        [GALE_REASON_FAILED] = FAILED,    [GALE_REASON_REJECTED] = REJECTED,   [GALE_REASON_TIMEOUT] = TIMED_OUT,
        [GALE_REASON_DEADLINE] = FAILED,  [GALE_REASON_OVERFLOW] = FAILED,     [GALE_REASON_STOPPED] = STOPPED,
        [GALE_REASON_NO_MEMORY] = FAILED, [GALE_REASON_CHILD_EXITED] = FAILED, [GALE_REASON_SOURCE_LOST] = FAILED,
    };
    static_assert(sizeof columns / sizeof *columns == GALE_REASON_COUNT, "a column for every reason");
    return reason >= 0 && reason < GALE_REASON_COUNT ? columns[reason] : FAILED;
}

void gx_outcomes_of_run(const gale_run_stats *run, uint64_t ret_counts[GX_OUTCOMES]) {
    const uint64_t counts[GX_OUTCOMES] = { run->failed, run->timed_out, run->rejected, run->stopped };
    memcpy(ret_counts, counts, sizeof counts);
}

void gx_outcomes_of_task(const gale_task_stats *task, uint64_t ret_counts[GX_OUTCOMES]) {
    const uint64_t counts[GX_OUTCOMES] = { task->failed, task->timed_out, task->rejected, task->stopped };
    memcpy(ret_counts, counts, sizeof counts);
}

uint64_t gx_outcomes_sum(const uint64_t counts[GX_OUTCOMES]) {
    uint64_t sum = 0;
    for (size_t i = 0; i < GX_OUTCOMES; i++) sum += counts[i];
    return sum;
}
