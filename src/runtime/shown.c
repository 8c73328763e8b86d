#include "runtime/shown.h"

#include "base/seqlock.h"

static bool read_one(const gx_executor *ex, gx_shown *ret_shown) {
    uint64_t words[sizeof *ret_shown / 8];
    if (!gx_seqlock_read(&ex->shown_version, ex->shown, words, sizeof words / 8)) return false;
    memcpy(ret_shown, words, sizeof words);
    return true;
}

bool gx_shown_by_all(gx_shared *shared, gx_shown_is *is, const void *what, uint64_t *ret_work) {
    uint64_t on_the_way = 0;
    *ret_work = 0;
    for (uint32_t i = 0; i < shared->executor_count; i++) {
        gx_shown shown;
        if (!read_one(shared->executors[i], &shown) || !is(&shown, what)) return false;
        on_the_way += shown.sent - shown.received;
        *ret_work += shown.work;
    }
    return on_the_way == 0;
}

bool gx_shown_twice(gx_shown_before *before, gx_shared *shared, gx_shown_is *is, const void *what) {
    uint64_t work;
    bool now = gx_shown_by_all(shared, is, what, &work);
    bool twice = now && before->true_of_all && before->work == work;
    *before = (gx_shown_before){ now, work };
    return twice;
}
