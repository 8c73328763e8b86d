#include "sim/component_models.h"

#include "sim/spread.h"
#include "tuple/row.h"

#include <stdlib.h>

enum {
    JOIN_MAX = 3,
    KEEP_MAX = 8,
    ROOTS_MAX = 4,
    WRONG = 64,
    LAST_MORE = 40,
    LOOSELY = 32,
    LOOSE_MOST = 4,
    PARTS_MAX = 4
};

static_assert((int)KEEP_MAX <= (int)GX_SIM_WAITING_MAX, "there is room for what waits");

static int prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    gx_sim_instance *self = gx_sim_instance_new(user, context, out);
    if (!self) return GALE_NO_MEMORY;
    *ret_self = self;
    return GALE_OK;
}

/* --- At once --- */

static int pass(void *self, const gale_tuple *input, gale_collector *out) {
    (void)out;
    return gale_tuple_is_tick(input) ? 0 : gx_sim_spread(self, gx_sim_read(input), GX_SIM_BOUND, false);
}

/* The same by some calls, each of which spends a part of its energy; a tick has nothing to spend. */
static int pass_in_parts(void *self_, const gale_tuple *input, gale_collector *out) {
    gx_sim_instance *self = self_;
    (void)out;
    if (!self->parts) self->parts = self->parts_all = 1 + gx_sim_below(self, PARTS_MAX);
    self->parts--;
    if (gale_tuple_is_tick(input)) return self->parts ? GALE_MORE : 0;
    gx_sim_charge t = gx_sim_read(input);
    t.energy = (t.energy + self->parts) / self->parts_all;
    int rc = gx_sim_spread(self, t, GX_SIM_BOUND, false);
    if (rc < 0) self->parts = 0;
    return rc < 0 ? rc : self->parts ? GALE_MORE : 0;
}

static int work(void *self, const gale_tuple *input, gale_collector *out) {
    if (gale_tuple_is_tick(input)) return 0;
    int rc = gx_sim_spread(self, gx_sim_read(input), GX_SIM_BOUND, false);
    return rc < 0 ? gale_fail(out, gale_tuple_handle(input), GALE_REASON_FAILED, "could not emit")
                  : gale_ack(out, gale_tuple_handle(input));
}

/* Ignores that an emit failed: its input's ack must then count as a fail. */
static int work_blindly(void *self, const gale_tuple *input, gale_collector *out) {
    if (gale_tuple_is_tick(input)) return 0;
    if (gx_sim_below(self, WRONG) == 0) gx_sim_emit_wrongly(self);
    (void)gx_sim_spread(self, gx_sim_read(input), GX_SIM_BOUND, false);
    return gale_ack(out, gale_tuple_handle(input));
}

static int loose(void *self, const gale_tuple *input, gale_collector *out) {
    if (gale_tuple_is_tick(input)) return 0;
    gale_handle handle = gale_tuple_handle(input);
    uint32_t drawn = gx_sim_below(self, 256);
    if (drawn == 0) return 0; /* forgotten */
    (void)gale_resumed(out);
    int rc = gx_sim_spread(self, gx_sim_read(input), GX_SIM_BOUND, true);
    if (rc < 0 || drawn == 1) return gale_fail(out, handle, GALE_REASON_USER + 7, "no luck");
    if (drawn == 2) return GALE_COMPONENT;
    return gale_ack(out, handle);
}

static int bury(void *self, const gale_tuple *input, gale_collector *out) {
    (void)out;
    if (gale_tuple_is_tick(input)) return 0;
    uint64_t message_id = (uint64_t)gale_tuple_value(input, 2).as.i64;
    return gx_sim_spread(self, (gx_sim_charge){ (int64_t)(message_id % GX_SIM_KEYS), 3, 0 }, GX_SIM_BOUND, false);
}

/* --- Later --- */

/* Emits anchored to all that wait, and answers them. */
static int answer_all(gx_sim_instance *self) {
    gx_sim_charge t = { (int64_t)gx_sim_below(self, GX_SIM_KEYS), self->energy, GX_SIM_HOPS_MAX / 2 };
    int rc = self->waiting_count ? gx_sim_spread(self, t, GX_SIM_JOINED, false) : 0;
    for (uint32_t i = 0; i < self->waiting_count; i++) {
        if (rc < 0)
            gale_fail(self->out, self->waiting[i], GALE_REASON_FAILED, "could not emit");
        else
            gale_ack(self->out, self->waiting[i]);
    }
    self->waiting_count = 0;
    self->energy = 0;
    return 0;
}

/* Holds it. What belongs to many trees is joined with more by those who hoard: others would hold ever more. */
static int wait_for_more(gx_sim_instance *self, const gale_tuple *input) {
    gx_sim_charge t = gx_sim_read(input);
    gale_handle handle = gale_tuple_handle(input), held;
    bool many = gx_row_roots(input->head).count > ROOTS_MAX && !self->nature->rarities.hoards;
    if (many || t.hops > GX_SIM_HOPS_MAX / 2) return gale_ack(self->out, handle);
    if (gale_tuple_hold(self->out, handle, &held) < 0)
        return gale_fail(self->out, handle, GALE_REASON_NO_MEMORY, "cannot hold");
    const gale_tuple *kept = gale_held(self->out, held);
    if (!kept || gx_sim_read(kept).key != t.key)
        return gale_fail(self->out, held, GALE_REASON_USER, "held another tuple");
    self->waiting[self->waiting_count++] = held;
    self->energy += t.energy - 1;
    return 0;
}

static int join(void *self_, const gale_tuple *input, gale_collector *out) {
    gx_sim_instance *self = self_;
    (void)out;
    if (gale_tuple_is_tick(input)) return answer_all(self);
    int rc = wait_for_more(self, input);
    return self->waiting_count == JOIN_MAX || gx_sim_below(self, 3) == 0 ? answer_all(self) : rc;
}

static int keep(void *self_, const gale_tuple *input, gale_collector *out) {
    gx_sim_instance *self = self_;
    if (gale_tuple_is_tick(input)) return answer_all(self);
    uint32_t most = self->nature->rarities.hoards ? GX_SIM_WAITING_MAX : KEEP_MAX, before = self->waiting_count;
    if (before >= most) return gale_ack(out, gale_tuple_handle(input));
    int rc = wait_for_more(self, input);
    if (!self->nature->rarities.hoards || self->waiting_count == before) return rc;
    gx_sim_charge t = gx_sim_read(input); /* it is held, and still in execution */
    (void)gx_sim_spread(self, (gx_sim_charge){ t.key, 2, t.hops }, GX_SIM_BOUND, false);
    return rc;
}

/* At the end of a step, sometimes: what waits longer is held. */
static int join_now(void *self, gale_collector *out) {
    (void)out;
    return gx_sim_below(self, 2) ? answer_all(self) : 0;
}

static int gather_now(void *self_, gale_collector *out) {
    gx_sim_instance *self = self_;
    (void)out;
    return gx_sim_below(self, self->nature->rarities.scarce ? 2 : 16) ? 0 : GALE_COMPONENT;
}

/* --- At the end --- */

static int finish_joined(void *self, gale_collector *out) {
    (void)out;
    return answer_all(self);
}

/* Nothing is in execution: what it emits is bound to nothing. Who hears it must still execute it. */
static int finish_last(void *self, gale_collector *out) {
    (void)out;
    int64_t key = gx_sim_below(self, GX_SIM_KEYS), energy = 3 + gx_sim_below(self, LAST_MORE);
    (void)gx_sim_spread(self, (gx_sim_charge){ key, energy, 0 }, GX_SIM_BOUND, false);
    return gx_sim_below(self, PARTS_MAX) ? 0 : GALE_MORE;
}

/* Too late for all of it. */
static void clean_up_late(void *self_) {
    gx_sim_instance *self = self_;
    if (self->waiting_count && gx_sim_below(self, 2)) (void)gale_ack(self->out, self->waiting[0]);
    (void)gx_sim_spread(self, (gx_sim_charge){ 0, 2, 0 }, self->waiting_count ? GX_SIM_JOINED : GX_SIM_BOUND, false);
    free(self);
}

/* --- The models --- */

#define OPS(name_, kind_, execute_, finish_, cleanup_, flush_, execute_batch_)                                         \
    {                                                                                                                  \
        .size = sizeof(gale_bolt_ops), .name = (name_), .kind = (kind_), .prepare = prepare, .execute = (execute_),    \
        .finish = (finish_), .cleanup = (cleanup_), .flush = (flush_), .execute_batch = (execute_batch_)               \
    }
#define MODEL(name, kind, execute, finish, cleanup, flush)                                                             \
    {                                                                                                                  \
        OPS(name, kind, execute, finish, cleanup, flush, NULL),                                                        \
            OPS(name, kind, execute, finish, cleanup, flush, take_many)                                                \
    }

static int take_many(void *self, gale_batch *tuples, gale_collector *out);

/* Of each, whether it takes many at once. */
static const gale_bolt_ops models[][2] = {
    MODEL("pass", GALE_BOLT_SIMPLE, pass, NULL, free, NULL),
    MODEL("parts", GALE_BOLT_SIMPLE, pass_in_parts, NULL, free, NULL),
    MODEL("work", GALE_BOLT_MANUAL, work, NULL, free, NULL),
    MODEL("work", GALE_BOLT_MANUAL, work_blindly, NULL, free, NULL),
    MODEL("join", GALE_BOLT_MANUAL, join, finish_joined, free, join_now),
    MODEL("gather", GALE_BOLT_SIMPLE, pass, NULL, free, gather_now),
    MODEL("loose", GALE_BOLT_MANUAL, loose, NULL, free, NULL),
    MODEL("keep", GALE_BOLT_MANUAL, keep, finish_joined, clean_up_late, NULL),
    MODEL("last", GALE_BOLT_SIMPLE, pass, finish_last, clean_up_late, NULL),
    MODEL("bury", GALE_BOLT_SIMPLE, bury, NULL, free, NULL),
};
static_assert(sizeof models / sizeof *models == GX_SIM_MODEL_COUNT, "every model has its tables");

/* Where nothing is in execution; a few times, since that has no end in a cycle. */
static void emit_loosely(gx_sim_instance *self) {
    const gx_sim_charge little = { 0, 2, GX_SIM_HOPS_MAX - 1 };
    if (self->loose == LOOSE_MOST || gx_sim_below(self, LOOSELY)) return;
    self->loose++;
    (void)gx_sim_spread(self, little, GX_SIM_BOUND, false);
}

/* Each as the model does; but it stops in the middle, and before the first where a hook hears what the engine does then.
 * It emits outside, and fails what it took last or, after NULL, nothing. */
static int take_many(void *self_, gale_batch *tuples, gale_collector *out) {
    gx_sim_instance *self = self_;
    const gale_tuple *tuple;
    int rc = 0;
    emit_loosely(self);
    if (self->nature->rarities.listens && gx_sim_below(self, 16) == 0)
        return gx_sim_below(self, 2) ? GALE_COMPONENT : 0;
    do {
        tuple = gale_batch_next(tuples);
        if (tuple) rc = models[self->nature->model][0].execute(self, tuple, out);
    } while (tuple && rc >= 0 && rc != GALE_MORE && gx_sim_below(self, 32));
    if (!tuple) emit_loosely(self);
    return !tuple && rc == GALE_MORE ? 0 : gx_sim_below(self, 64) ? rc : GALE_COMPONENT;
}

gale_bolt gx_sim_worker(gx_sim_model model, uint32_t fan, uint32_t direct, const gx_sim_rarities *rarities) {
    gx_sim_nature *nature = gx_sim_nature_new(model, fan, direct);
    if (nature && rarities) nature->rarities = *rarities;
    return (gale_bolt){
        .size = sizeof(gale_bolt), .ops = &models[model][rarities && rarities->many], .user = nature, .free_user = free
    };
}
