#include "runtime/ended_collector.h"

#include "engine/collector.h"
#include "engine/health.h"
#include "engine/remote.h"
#include "engine/watches.h"

#include <gale/metric.h>
#include <gale/state.h>

static int end_emit(gale_collector *out, uint32_t stream, const gale_value *values, size_t count) {
    (void)out, (void)stream, (void)values, (void)count;
    return GALE_STOPPED;
}

static int end_emit_anchored(gale_collector *out, uint32_t stream, const gale_value *values, size_t count,
                             const gale_handle *anchors, size_t anchor_count) {
    (void)anchors, (void)anchor_count;
    return end_emit(out, stream, values, count);
}

static int end_emit_tracked(gale_collector *out, uint32_t stream, const gale_value *values, size_t count,
                            uint64_t message_id) {
    (void)message_id;
    return end_emit(out, stream, values, count);
}

static int end_emit_direct(gale_collector *out, uint32_t to, uint32_t stream, const gale_value *values, size_t count) {
    (void)to;
    return end_emit(out, stream, values, count);
}

static int end_emit_direct_anchored(gale_collector *out, uint32_t to, uint32_t stream, const gale_value *values,
                                    size_t count, const gale_handle *anchors, size_t anchor_count) {
    (void)to;
    return end_emit_anchored(out, stream, values, count, anchors, anchor_count);
}

static int end_emit_direct_tracked(gale_collector *out, uint32_t to, uint32_t stream, const gale_value *values,
                                   size_t count, uint64_t message_id) {
    (void)to;
    return end_emit_tracked(out, stream, values, count, message_id);
}

static int end_answer(gale_collector *out, gale_handle handle) {
    (void)out, (void)handle;
    return GALE_STOPPED;
}

static int end_fail(gale_collector *out, gale_handle handle, int32_t reason, const char *text) {
    (void)reason, (void)text;
    return end_answer(out, handle);
}

static int end_hold(gale_collector *out, gale_handle handle, gale_handle *ret_held) {
    (void)ret_held;
    return end_answer(out, handle);
}

static int end_state(gale_collector *out, const gale_state_options *options, gale_state **ret_state) {
    (void)out, (void)options, (void)ret_state;
    return GALE_STATE;
}

static int end_watch_new(gale_collector *out, const gale_watch_options *options, gale_watch *ret_watch) {
    (void)out, (void)options, (void)ret_watch;
    return GALE_STOPPED;
}

static int end_watch_set(gale_collector *out, gale_watch watch, int32_t events, int64_t at) {
    (void)out, (void)watch, (void)events, (void)at;
    return GALE_STOPPED;
}

static int end_watch_free(gale_collector *out, gale_watch watch) {
    (void)out, (void)watch;
    return GALE_STOPPED;
}

static int end_congest(gale_collector *out, bool congested) {
    (void)out, (void)congested;
    return GALE_STOPPED;
}

static int end_metric_new(gale_collector *out, const gale_metric_options *options, gale_metric **ret_metric) {
    (void)out, (void)options, (void)ret_metric;
    return GALE_STOPPED;
}

/* --- What goes on: it concerns the task alone --- */

static const gale_tuple *end_held(gale_collector *out, gale_handle handle) {
    return gx_collector_ops()->held(out, handle);
}

static void end_report(gale_collector *out, const char *text) {
    gx_collector_ops()->report(out, text);
}

static uint64_t end_pending(gale_collector *out) {
    return gx_collector_ops()->pending(out);
}

static int64_t end_source_lost(gale_collector *out, gale_is_lost_fn *is_lost, void *user) {
    (void)out, (void)is_lost, (void)user;
    return GALE_STOPPED;
}

static void end_resume(gale_collector *out) {
    gx_collector_ops()->resume(out);
}

static void end_remember(gale_collector *out) {
    (void)out; /* nobody asks any more */
}

static bool end_resumed(gale_collector *out) {
    return gx_collector_ops()->resumed(out);
}

static void end_stop(gale_collector *out, int code, const char *text) {
    gx_collector_ops()->stop(out, code, text);
}

void gx_ended_collector_give(gx_task *task) {
    static const gale_collector_ops ended = {
        .size = sizeof ended,
        .emit = end_emit,
        .emit_anchored = end_emit_anchored,
        .emit_tracked = end_emit_tracked,
        .ack = end_answer,
        .fail = end_fail,
        .hold = end_hold,
        .held = end_held,
        .report = end_report,
        .pending = end_pending,
        .stop = end_stop,
        .remote = gx_remote_open,
        .emit_direct = end_emit_direct,
        .emit_direct_anchored = end_emit_direct_anchored,
        .emit_direct_tracked = end_emit_direct_tracked,
        .reset_timeout = end_answer,
        .resume = end_resume,
        .resumed = end_resumed,
        .remember = end_remember,
        .state = end_state,
        .watch_new = end_watch_new,
        .watch_set = end_watch_set,
        .watch_free = end_watch_free,
        .health = gx_health_tell,
        .congest = end_congest,
        .metric_new = end_metric_new,
        .wish_checkpoint = end_remember,
        .source_lost = end_source_lost,
    };
    task->out.ops = &ended;
}
