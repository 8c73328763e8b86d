#include "runtime/rig.h"

#include <stdio.h>
#include <string.h>

static void note(char *log, char what) {
    size_t size = log ? strlen(log) : RIG_LOG_MAX;
    if (size + 1 < RIG_LOG_MAX) log[size] = what;
}

/* --- Spout --- */

static int spout_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    rig_spout *s = user;
    (void)out;
    note(s->log, 'o');
    s->context = context;
    *ret_self = s;
    return s->open_returns;
}

static void spout_activate(void *self) {
    note(((rig_spout *)self)->log, 'a');
}

static void spout_deactivate(void *self) {
    note(((rig_spout *)self)->log, 'd');
}

static void spout_close(void *self) {
    note(((rig_spout *)self)->log, 'c');
}

static int emit_number(rig_spout *s, gale_collector *out, uint64_t number) {
    gale_value values[] = { gale_i64((int64_t)number), gale_i64(s->keys ? (int64_t)(number % s->keys) : 0) };
    s->emitted_at[number % RIG_TUPLES_MAX] = gale_context_now(s->context);
    int rc = s->untracked ? gale_emit(out, 0, values, 2) : gale_emit_tracked(out, 0, values, 2, number);
    if (gale_pending(out) > s->pending_max) s->pending_max = gale_pending(out);
    return rc;
}

static int spout_next(void *self, gale_collector *out, gale_wait *wait) {
    rig_spout *s = self;
    (void)wait;
    if (s->next_fails > 0) {
        s->next_fails--;
        gale_report(out, "not yet");
        return GALE_IO;
    }
    if (s->lose_at && s->emitted == s->lose_at) {
        s->lose_at = 0;
        s->lost = gale_source_lost(out, s->is_lost, s);
    }
    int rc;
    if (s->requeued < s->queued) {
        rc = emit_number(s, out, s->queue[s->requeued % RIG_TUPLES_MAX]);
        if (rc >= 0) s->requeued++;
    } else if (s->emitted < s->to_emit) {
        rc = emit_number(s, out, s->emitted);
        if (rc >= 0) s->emitted++;
    } else {
        return GALE_NEXT_DONE;
    }
    return rc < 0 ? rc : GALE_NEXT_EMITTED;
}

static void spout_ack(void *self, uint64_t id) {
    rig_spout *s = self;
    s->acks++;
    s->acked[id % RIG_TUPLES_MAX]++;
    s->answered_at[id % RIG_TUPLES_MAX] = gale_context_now(s->context);
}

static void spout_ack_batch(void *self, const uint64_t *ids, size_t count) {
    rig_spout *s = self;
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) spout_ack(s, ids[i]);
    s->batches++;
    if (count > s->batch_most) s->batch_most = count;
}

static void spout_fail(void *self, uint64_t id, const gale_failure *failure) {
    rig_spout *s = self;
    s->fails++;
    s->finals += failure->final;
    s->failed[id % RIG_TUPLES_MAX]++;
    s->answered_at[id % RIG_TUPLES_MAX] = gale_context_now(s->context);
    s->last_failure = *failure;
    snprintf(s->last_text, sizeof s->last_text, "%s", failure->text);
    snprintf(s->last_component, sizeof s->last_component, "%s", failure->component ? failure->component : "");
    if (s->again) s->queue[s->queued++ % RIG_TUPLES_MAX] = id;
}

#define SPOUT_OPS(ack_, ack_batch_)                                                                                    \
    {                                                                                                                  \
        .size = sizeof(gale_spout_ops), .name = "rig", .open = spout_open, .activate = spout_activate,                 \
        .next = spout_next, .ack = (ack_), .fail = spout_fail, .deactivate = spout_deactivate, .close = spout_close,   \
        .ack_batch = (ack_batch_)                                                                                      \
    }

gale_spout rig_spout_of(rig_spout *spout) {
    static const gale_spout_ops tables[2] = { SPOUT_OPS(spout_ack, NULL), SPOUT_OPS(NULL, spout_ack_batch) };
    static const gale_output outputs[] = { { NULL, "number, key" } };
    return (gale_spout){
        .size = sizeof(gale_spout), .ops = &tables[spout->at_once], .user = spout, .outputs = outputs, .output_count = 1
    };
}

/* --- Bolts --- */

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    rig_bolt *b = user;
    (void)out, (void)context;
    note(b->log, b->name);
    note(b->log, 'p');
    *ret_self = b;
    return b->prepare_returns;
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    rig_bolt *b = self;
    return b->on(b, tuple, out);
}

static int bolt_batch(void *self, gale_batch *tuples, gale_collector *out) {
    rig_bolt *b = self;
    return b->on_batch(b, tuples, out);
}

static int bolt_finish(void *self, gale_collector *out) {
    rig_bolt *b = self;
    note(b->log, b->name);
    note(b->log, 'f');
    return b->on_finish ? b->on_finish(b, out) : 0;
}

static int bolt_drain(void *self, gale_collector *out) {
    rig_bolt *b = self;
    return b->on_drain ? b->on_drain(b, out) : 0;
}

static int bolt_flush(void *self, gale_collector *out) {
    rig_bolt *b = self;
    return b->on_flush(b, out);
}

static void bolt_cleanup(void *self) {
    rig_bolt *b = self;
    note(b->log, b->name);
    note(b->log, 'c');
}

static gale_bolt bolt_of(rig_bolt *bolt, const gale_bolt_ops *ops) {
    static const gale_output outputs[] = { { NULL, "number, key" }, { "side", "number" } };
    return (gale_bolt){ .size = sizeof(gale_bolt), .ops = ops, .user = bolt, .outputs = outputs, .output_count = 2 };
}

/* By whether it answers itself, whether it gathers, and whether it takes many at once. */
#define OPS_OF(kind_, flush_, execute_, execute_batch_)                                                                \
    {                                                                                                                  \
        .size = sizeof(gale_bolt_ops), .name = "rig", .kind = (kind_), .prepare = bolt_prepare, .execute = (execute_), \
        .finish = bolt_finish, .drain = bolt_drain, .cleanup = bolt_cleanup, .flush = (flush_),                        \
        .execute_batch = (execute_batch_)                                                                              \
    }
#define OPS(kind, flush)                                                                                               \
    { OPS_OF(kind, flush, bolt_execute, NULL), OPS_OF(kind, flush, NULL, bolt_batch) }
static const gale_bolt_ops tables[2][2][2] = {
    { OPS(GALE_BOLT_SIMPLE, NULL), OPS(GALE_BOLT_SIMPLE, bolt_flush) },
    { OPS(GALE_BOLT_MANUAL, NULL), OPS(GALE_BOLT_MANUAL, bolt_flush) },
};

gale_bolt rig_simple(rig_bolt *bolt) {
    return bolt_of(bolt, &tables[0][bolt->on_flush != NULL][bolt->on_batch != NULL]);
}

gale_bolt rig_manual(rig_bolt *bolt) {
    return bolt_of(bolt, &tables[1][bolt->on_flush != NULL][bolt->on_batch != NULL]);
}

int rig_pass(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)bolt;
    if (gale_tuple_is_tick(tuple)) return 0;
    gale_value values[] = { gale_tuple_value(tuple, 0), gale_tuple_value(tuple, 1) };
    int rc = gale_emit(out, 0, values, 2);
    return rc < 0 ? rc : 0;
}

int rig_take(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)out;
    if (gale_tuple_is_tick(tuple))
        bolt->ticks++;
    else
        bolt->seen++;
    return 0;
}

int rig_twice(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    int rc = rig_pass(bolt, tuple, out);
    return rc < 0 ? rc : rig_pass(bolt, tuple, out);
}

int rig_refuse(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)bolt, (void)tuple;
    gale_report(out, "no, thanks");
    return GALE_COMPONENT;
}

/* --- Runtime --- */

static uint32_t ackers;

void rig_use_ackers(uint32_t count) {
    ackers = count;
}

int rig_run_on_both(const struct CMUnitTest *tests, size_t count) {
    rig_use_ackers(0);
    int failed = _cmocka_run_group_tests("on ledgers", tests, count, NULL, NULL);
    rig_use_ackers(3);
    return failed + _cmocka_run_group_tests("on acker tasks", tests, count, NULL, NULL);
}

void rig_init(rig *r) {
    memset(r, 0, sizeof *r);
    r->topology = gale_topology_new("test");
    r->clock = gale_manual_clock_new(0);
    assert_non_null(r->topology);
    assert_non_null(r->clock);
    if (ackers) gale_topology_set(r->topology, NULL, "topology.acker.executors", gale_i64(ackers));
}

void rig_make_with(rig *r, gale_runtime_options options) {
    gale_error error = GALE_ERROR_INIT;
    gale_clock clock = gale_manual_clock_handle(r->clock);
    if (!options.clock) options.clock = &clock;
    if (!options.seed) options.seed = 1;
    int rc = gale_runtime_new(r->topology, &options, &r->runtime, &error);
    if (rc < 0) fail_msg("%s", error.text);
}

void rig_make(rig *r, uint32_t executors) {
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = executors;
    rig_make_with(r, options);
}

void rig_settle(rig *r) {
    for (int steps = 0; gale_runtime_step(r->runtime) > 0; steps++)
        if (steps > 1000000) fail_msg("the topology does not come to rest");
}

void rig_advance(rig *r, int64_t nanoseconds, int64_t grain) {
    for (int64_t done = 0; done < nanoseconds; done += grain) {
        gale_manual_clock_advance(r->clock, nanoseconds - done < grain ? nanoseconds - done : grain);
        rig_settle(r);
    }
}

void rig_drain(rig *r) {
    gale_runtime_drain(r->runtime);
    for (int steps = 0; steps < 100000; steps++)
        if (gale_runtime_step(r->runtime) == GALE_STOPPED) return;
    fail_msg("the topology does not drain");
}

const gale_run_stats *rig_stats(rig *r) {
    r->stats.size = sizeof r->stats;
    gale_runtime_stats(r->runtime, &r->stats);
    const gale_run_stats *s = &r->stats;
    assert_int_equal(s->trees, s->acked + s->failed + s->timed_out + s->rejected + s->stopped + s->open);
    return s;
}

gale_task_stats rig_task(const rig *r, const char *component, uint32_t index) {
    gale_task_stats stats = { .size = sizeof stats };
    for (uint32_t t = 1; gale_runtime_task_stats(r->runtime, t, &stats); t++) {
        if (strcmp(stats.component, component) == 0 && index-- == 0) return stats;
        stats.size = sizeof stats;
    }
    fail_msg("no such task of %s", component);
    return stats;
}

uint32_t rig_task_number(const rig *r, const char *component, uint32_t index) {
    return rig_task(r, component, index).task;
}

void rig_fini(rig *r) {
    gale_error error = GALE_ERROR_INIT;
    if (gale_runtime_free(r->runtime, 10 * GALE_SECOND, &error) < 0) fail_msg("%s", error.text);
    gale_topology_free(r->topology);
    gale_manual_clock_free(r->clock);
}
