#include "engine/sim_habits.h"

#include "engine/task.h"

#include <stdlib.h>
#include <string.h>

enum { KEYS = 23, HOPS_MAX = 12, JOIN_MAX = 3, ROOTS_MAX = 4, LOAD_MAX = 200 };

/* What a component of the topology is; shared by its tasks. */
typedef struct nature {
    gx_sim_habit habit;
    uint32_t most; /* a source: energy of a root; a bolt: how many it emits */
    uint32_t direct;
} nature;

typedef struct instance {
    const nature *nature;
    const gale_context *context;
    const gx_plan_component *plan; /* who receives what */
    uint64_t emitted;
    gale_handle waiting[JOIN_MAX];
    uint32_t waiting_count;
    int64_t energy; /* of those that wait */
} instance;

typedef struct tuple {
    int64_t key, energy, hops;
} tuple;

static uint32_t below(instance *self, uint32_t n) {
    return (uint32_t)((gale_context_random(self->context) >> 32) * n >> 32);
}

static void *make_nature(nature what) {
    nature *made = malloc(sizeof *made);
    if (made) *made = what;
    return made;
}

static int make_instance(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    instance *self = calloc(1, sizeof *self);
    (void)out;
    if (!self) return GALE_NO_MEMORY;
    self->nature = user;
    self->context = context;
    self->plan = ((const gx_task *)context->engine)->plan;
    *ret_self = self;
    return GALE_OK;
}

/* --- Emitting --- */

/* How many tasks a tuple on this stream goes to, at the most. */
static uint32_t fan_of(const instance *self, uint32_t stream) {
    uint32_t fan = 0;
    for (uint32_t e = 0; e < self->plan->streams[stream].edge_count; e++) {
        const gx_plan_edge *edge = &self->plan->streams[stream].edges[e];
        fan += edge->grouping == GALE_GROUPING_ALL || edge->grouping == GALE_GROUPING_CUSTOM ? edge->task_count : 1u;
    }
    return fan ? fan : 1;
}

/* A task of a direct consumer, or one that is none of them when there is none. */
static uint32_t draw_direct(instance *self, uint32_t stream) {
    for (uint32_t e = 0; e < self->plan->streams[stream].edge_count; e++) {
        const gx_plan_edge *edge = &self->plan->streams[stream].edges[e];
        if (edge->grouping == GALE_GROUPING_DIRECT) return edge->first_task + below(self, edge->task_count);
    }
    return 0;
}

typedef enum binding { BOUND, LOOSE, JOINED, ROOT } binding;

static int emit_direct(instance *self, gale_collector *out, uint32_t stream, const gale_value *values, size_t count,
                       binding how) {
    uint32_t to = draw_direct(self, stream);
    if (!to) return 0; /* nobody takes it */
    switch (how) {
    case ROOT: return gale_emit_direct_tracked(out, to, stream, values, count, self->emitted);
    case JOINED: return gale_emit_direct_anchored(out, to, stream, values, count, self->waiting, self->waiting_count);
    case LOOSE: return gale_emit_direct_anchored(out, to, stream, values, count, NULL, 0);
    default: return gale_emit_direct(out, to, stream, values, count);
    }
}

static int emit_grouped(instance *self, gale_collector *out, uint32_t stream, const gale_value *values, size_t count,
                        binding how) {
    switch (how) {
    case ROOT: return gale_emit_tracked(out, stream, values, count, self->emitted);
    case JOINED: return gale_emit_anchored(out, stream, values, count, self->waiting, self->waiting_count);
    case LOOSE: return gale_emit_unanchored(out, stream, values, count);
    default: return gale_emit(out, stream, values, count);
    }
}

/* Mostly small; now and then a body that lies in a block of its own. */
static size_t draw_load(instance *self) {
    uint32_t drawn = below(self, 64);
    return drawn == 0 ? 2100 + below(self, 3000) : drawn < 16 ? below(self, LOAD_MAX) : 0;
}

static int emit(instance *self, gale_collector *out, uint32_t stream, tuple t, binding how) {
    static const char load[5200];
    const gale_value values[] = { gale_i64(t.key), gale_i64(t.energy / fan_of(self, stream)), gale_i64(t.hops),
                                  gale_bytes(load, draw_load(self)) };
    bool direct = self->nature->direct >> stream & 1 && draw_direct(self, stream);
    int rc = direct ? emit_direct(self, out, stream, values, 4, how) : emit_grouped(self, out, stream, values, 4, how);
    if (rc >= 0) self->emitted++;
    return rc;
}

/* Spends the energy of a tuple on some more. */
static int spread(instance *self, gale_collector *out, tuple t, binding how) {
    if (t.energy <= 0 || t.hops >= HOPS_MAX) return 0;
    uint32_t count = 1 + below(self, self->nature->most);
    if (count > t.energy) count = (uint32_t)t.energy;
    for (uint32_t i = 0; i < count; i++) {
        tuple child = { below(self, 2) ? t.key : (int64_t)below(self, KEYS), (t.energy - 1) / count + 1, t.hops + 1 };
        binding drawn = how == BOUND && self->nature->habit == GX_SIM_LOOSE && below(self, 4) == 0 ? LOOSE : how;
        int rc = emit(self, out, below(self, self->plan->stream_count), child, drawn);
        if (rc < 0) return rc;
    }
    return 0;
}

/* --- Spouts --- */

static int source_next(void *self_, gale_collector *out, gale_wait *wait) {
    instance *self = self_;
    uint32_t drawn = below(self, 32);
    if (drawn == 0) {
        wait->until = gale_context_now(self->context) + below(self, 1000000);
        return GALE_NEXT_UNTIL;
    }
    if (drawn == 1) return GALE_NEXT_NOTHING;
    tuple t = { below(self, KEYS), 1 + below(self, self->nature->most), 0 };
    uint32_t stream = below(self, self->plan->stream_count);
    if (drawn == 2) {
        const gale_value values[] = { gale_i64(t.key), gale_i64(0), gale_i64(0), gale_null() };
        int rc = gale_emit(out, stream, values, 4); /* not tracked; a direct stream refuses it */
        return rc < 0 && rc != GALE_STATE ? rc : GALE_NEXT_EMITTED;
    }
    int rc = emit(self, out, stream, t, ROOT);
    return rc < 0 ? rc : GALE_NEXT_EMITTED;
}

gale_spout gx_sim_source(uint32_t energy, uint32_t direct) {
    static const gale_spout_ops ops = {
        sizeof ops, "source", make_instance, NULL, source_next, NULL, NULL, NULL, free
    };
    nature what = { GX_SIM_PASS, energy, direct };
    return (gale_spout){ .size = sizeof(gale_spout), .ops = &ops, .user = make_nature(what), .free_user = free };
}

/* --- Bolts --- */

static tuple read_tuple(const gale_tuple *tuple_) {
    return (tuple){ gale_tuple_value(tuple_, 0).as.i64, gale_tuple_value(tuple_, 1).as.i64,
                    gale_tuple_value(tuple_, 2).as.i64 };
}

static int pass(void *self_, const gale_tuple *input, gale_collector *out) {
    instance *self = self_;
    return gale_tuple_is_tick(input) ? 0 : spread(self, out, read_tuple(input), BOUND);
}

static int work(void *self_, const gale_tuple *input, gale_collector *out) {
    instance *self = self_;
    if (gale_tuple_is_tick(input)) return 0;
    int rc = spread(self, out, read_tuple(input), BOUND);
    return rc < 0 ? gale_fail(out, gale_tuple_handle(input), GALE_REASON_FAILED, "could not emit")
                  : gale_ack(out, gale_tuple_handle(input));
}

/* Ignores that an emit failed: its input's ack must then count as a fail. */
static int work_blindly(void *self_, const gale_tuple *input, gale_collector *out) {
    instance *self = self_;
    if (gale_tuple_is_tick(input)) return 0;
    (void)spread(self, out, read_tuple(input), BOUND);
    return gale_ack(out, gale_tuple_handle(input));
}

static int loose(void *self_, const gale_tuple *input, gale_collector *out) {
    instance *self = self_;
    if (gale_tuple_is_tick(input)) return 0;
    gale_handle handle = gale_tuple_handle(input);
    uint32_t drawn = below(self, 256);
    if (drawn == 0) return 0; /* forgotten */
    int rc = spread(self, out, read_tuple(input), BOUND);
    if (rc < 0 || drawn == 1) return gale_fail(out, handle, GALE_REASON_USER + 7, "no luck");
    if (drawn == 2) return GALE_COMPONENT;
    return gale_ack(out, handle);
}

static int bury(void *self_, const gale_tuple *input, gale_collector *out) {
    instance *self = self_;
    if (gale_tuple_is_tick(input)) return 0;
    uint64_t message_id = (uint64_t)gale_tuple_value(input, 2).as.i64;
    return spread(self, out, (tuple){ (int64_t)(message_id % KEYS), 3, 0 }, BOUND);
}

/* Emits anchored to all that wait, and answers them. */
static int join_all(instance *self, gale_collector *out) {
    tuple t = { (int64_t)below(self, KEYS), self->energy, HOPS_MAX / 2 };
    int rc = self->waiting_count ? spread(self, out, t, JOINED) : 0;
    for (uint32_t i = 0; i < self->waiting_count; i++) {
        if (rc < 0)
            gale_fail(out, self->waiting[i], GALE_REASON_FAILED, "could not emit");
        else
            gale_ack(out, self->waiting[i]);
    }
    self->waiting_count = 0;
    self->energy = 0;
    return 0;
}

static int join(void *self_, const gale_tuple *input, gale_collector *out) {
    instance *self = self_;
    if (gale_tuple_is_tick(input)) return join_all(self, out);
    tuple t = read_tuple(input);
    gale_handle handle = gale_tuple_handle(input);
    /* What belongs to many trees is not joined with more: a record must fit a small ring. */
    if (gx_record_roots(input->head).count > ROOTS_MAX || t.hops > HOPS_MAX / 2) return gale_ack(out, handle);
    gale_handle held;
    if (gale_tuple_hold(out, handle, &held) < 0) return gale_fail(out, handle, GALE_REASON_NO_MEMORY, "cannot hold");
    const gale_tuple *kept = gale_held(out, held);
    if (!kept || read_tuple(kept).key != t.key) return gale_fail(out, held, GALE_REASON_USER, "held another tuple");
    self->waiting[self->waiting_count++] = held;
    self->energy += t.energy - 1;
    return self->waiting_count == JOIN_MAX || below(self, 3) == 0 ? join_all(self, out) : 0;
}

/* At the end of a step, sometimes: what waits longer is held. */
static int join_now(void *self_, gale_collector *out) {
    instance *self = self_;
    return below(self, 2) ? join_all(self, out) : 0;
}

static int gather_now(void *self_, gale_collector *out) {
    instance *self = self_;
    (void)out;
    return below(self, 16) ? 0 : GALE_COMPONENT;
}

gale_bolt gx_sim_worker(gx_sim_habit habit, uint32_t fan, uint32_t direct) {
    static const gale_bolt_ops tables[] = {
        { sizeof *tables, "pass", GALE_BOLT_SIMPLE, make_instance, pass, NULL, free, NULL },
        { sizeof *tables, "pass", GALE_BOLT_SIMPLE, make_instance, pass, NULL, free, NULL },
        { sizeof *tables, "work", GALE_BOLT_MANUAL, make_instance, work, NULL, free, NULL },
        { sizeof *tables, "work", GALE_BOLT_MANUAL, make_instance, work_blindly, NULL, free, NULL },
        { sizeof *tables, "join", GALE_BOLT_MANUAL, make_instance, join, NULL, free, join_now },
        { sizeof *tables, "gather", GALE_BOLT_SIMPLE, make_instance, pass, NULL, free, gather_now },
        { sizeof *tables, "loose", GALE_BOLT_MANUAL, make_instance, loose, NULL, free, NULL },
        { sizeof *tables, "bury", GALE_BOLT_SIMPLE, make_instance, bury, NULL, free, NULL },
    };
    static_assert(sizeof tables / sizeof *tables == GX_SIM_HABIT_COUNT, "every habit has a table");
    nature what = { habit, fan, direct };
    return (
        gale_bolt){ .size = sizeof(gale_bolt), .ops = &tables[habit], .user = make_nature(what), .free_user = free };
}
