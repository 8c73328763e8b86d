#include "sim/spread.h"

#include "engine/task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOAD_SMALL = 200,
    LOAD_REFUSED = 1 << 30,
    LOAD_LARGE = 2100, /* lies in a block of its own */
    KEY_BITS = 5,
    HOPS_BITS = 4,
    ENERGY_MAX = 0xffff,
    WRONG = 64
};

gx_sim_nature *gx_sim_nature_new(int model, uint32_t most, uint32_t direct) {
    gx_sim_nature *made = malloc(sizeof *made);
    if (made) *made = (gx_sim_nature){ .model = model, .most = most, .direct = direct };
    return made;
}

static uint32_t fan_of(const gx_plan_stream *stream) {
    uint32_t fan = 0;
    for (uint32_t e = 0; e < stream->edge_count; e++) {
        const gx_plan_edge *edge = &stream->edges[e];
        fan += edge->grouping == GALE_GROUPING_ALL || edge->grouping == GALE_GROUPING_CUSTOM ? edge->task_count : 1u;
    }
    return fan ? fan : 1;
}

static gx_sim_shape shape_of(const gx_plan_component *plan) {
    gx_sim_shape shape = { .streams = plan->built->output_count };
    if (shape.streams > GX_SIM_STREAMS_MAX) shape.streams = GX_SIM_STREAMS_MAX;
    for (uint32_t i = 0; i < shape.streams; i++) {
        shape.fan[i] = fan_of(&plan->streams[i]);
        shape.folded[i] = plan->streams[i].field_count == 1;
    }
    return shape;
}

gx_sim_instance *gx_sim_instance_new(const gx_sim_nature *nature, const gale_context *context, gale_collector *out) {
    gx_sim_instance *self = calloc(1, sizeof *self);
    if (!self) return NULL;
    self->nature = nature;
    self->context = context;
    self->out = out;
    self->plan = ((const gx_task *)context->engine)->plan;
    self->shape = shape_of(self->plan);
    return self;
}

uint32_t gx_sim_below(const gx_sim_instance *self, uint32_t n) {
    return (uint32_t)((gale_context_random(self->context) >> 32) * n >> 32);
}

/* --- Tuples --- */

static gx_sim_charge read_token(gale_value token) {
    int64_t packed = token.type == GALE_TYPE_I64 ? token.as.i64 : strtoll((const char *)token.as.bytes, NULL, 10);
    return (gx_sim_charge){ packed & ((1 << KEY_BITS) - 1), packed >> (KEY_BITS + HOPS_BITS),
                            packed >> KEY_BITS & ((1 << HOPS_BITS) - 1) };
}

gx_sim_charge gx_sim_read(const gale_tuple *tuple) {
    if (gale_tuple_size(tuple) == 1) return read_token(gale_tuple_value(tuple, 0));
    return (gx_sim_charge){ gale_tuple_value(tuple, 0).as.i64, gale_tuple_value(tuple, 1).as.i64,
                            gale_tuple_value(tuple, 2).as.i64 };
}

/* Mostly small; now and then a body that needs a large batch, or lies in a block of its own. */
static size_t draw_load(uint64_t random) {
    uint32_t drawn = random >> 58, more = random >> 32 & 0xfff;
    if (drawn == 0) return LOAD_LARGE + more % 3000;
    if (drawn == 1) return LOAD_SMALL + more % (LOAD_LARGE - LOAD_SMALL);
    return drawn < 16 ? more % LOAD_SMALL : 0;
}

/* A number, or a text that begins with it. */
static gale_value make_token(gx_sim_charge t, uint64_t random, gx_sim_text *text) {
    int64_t energy = t.energy < ENERGY_MAX ? t.energy : ENERGY_MAX;
    int64_t packed = t.key | t.hops << KEY_BITS | energy << (KEY_BITS + HOPS_BITS);
    if (random & 1) return gale_i64(packed);
    size_t load = draw_load(random);
    size_t size = (size_t)snprintf(text->bytes, sizeof text->bytes, "%lld", (long long)packed);
    if (load < size) return gale_string(text->bytes, size);
    memset(text->bytes + size, '.', load - size);
    return gale_string(text->bytes, load);
}

size_t gx_sim_values(const gx_sim_shape *shape, uint32_t stream, gx_sim_charge t, uint64_t random,
                     gale_value values[GX_SIM_VALUES_MAX], gx_sim_text *text) {
    static const char load[GX_SIM_LOAD_MAX];
    t.energy /= shape->fan[stream];
    if (shape->folded[stream]) {
        values[0] = make_token(t, random, text);
        return 1;
    }
    values[0] = gale_i64(t.key);
    values[1] = gale_i64(t.energy);
    values[2] = gale_i64(t.hops);
    values[3] = gale_bytes(load, draw_load(random));
    return GX_SIM_VALUES_MAX;
}

/* --- Emitting --- */

/* A task of a direct consumer, or 0 when there is none. */
static uint32_t draw_direct(const gx_sim_instance *self, uint32_t stream) {
    for (uint32_t e = 0; e < self->plan->streams[stream].edge_count; e++) {
        const gx_plan_edge *edge = &self->plan->streams[stream].edges[e];
        if (edge->grouping == GALE_GROUPING_DIRECT) return edge->first_task + gx_sim_below(self, edge->task_count);
    }
    return 0;
}

static int emit_direct(gx_sim_instance *self, uint32_t to, uint32_t stream, const gale_value *values, size_t count,
                       gx_sim_binding how) {
    gale_collector *out = self->out;
    switch (how) {
    case GX_SIM_ROOT: return gale_emit_direct_tracked(out, to, stream, values, count, self->emitted);
    case GX_SIM_JOINED:
        return gale_emit_direct_anchored(out, to, stream, values, count, self->waiting, self->waiting_count);
    case GX_SIM_UNBOUND: return gale_emit_direct_anchored(out, to, stream, values, count, NULL, 0);
    default: return gale_emit_direct(out, to, stream, values, count);
    }
}

static int emit_grouped(gx_sim_instance *self, uint32_t stream, const gale_value *values, size_t count,
                        gx_sim_binding how) {
    gale_collector *out = self->out;
    switch (how) {
    case GX_SIM_ROOT: return gale_emit_tracked(out, stream, values, count, self->emitted);
    case GX_SIM_JOINED: return gale_emit_anchored(out, stream, values, count, self->waiting, self->waiting_count);
    case GX_SIM_UNBOUND: return gale_emit_unanchored(out, stream, values, count);
    default: return gale_emit(out, stream, values, count);
    }
}

int gx_sim_emit(gx_sim_instance *self, uint32_t stream, gx_sim_charge t, gx_sim_binding how) {
    gale_value values[GX_SIM_VALUES_MAX];
    gx_sim_text text;
    size_t count = gx_sim_values(&self->shape, stream, t, gale_context_random(self->context), values, &text);
    uint32_t to = self->nature->direct >> stream & 1 ? draw_direct(self, stream) : 0;
    int rc = to ? emit_direct(self, to, stream, values, count, how) : emit_grouped(self, stream, values, count, how);
    if (rc >= 0) self->emitted++;
    return rc;
}

/* The others' turn comes when the one that was refused is left out. */
int gx_sim_emit_many(gx_sim_instance *self, uint32_t stream, const gx_sim_charge *charges, uint32_t count,
                     gx_sim_binding how) {
    gale_value values[GX_SIM_AT_ONCE_MAX * GX_SIM_VALUES_MAX];
    gx_sim_text texts[GX_SIM_AT_ONCE_MAX];
    uint64_t ids[GX_SIM_AT_ONCE_MAX];
    size_t fields = self->shape.folded[stream] ? 1 : GX_SIM_VALUES_MAX, done = 0;
    for (uint32_t i = 0; i < count; i++) {
        ids[i] = self->emitted + i;
        gx_sim_values(&self->shape, stream, charges[i], gale_context_random(self->context), &values[i * fields],
                      &texts[i]);
    }
    if (fields > 1 && gx_sim_below(self, WRONG) == 0) values[(count - 1) * fields].type = INT8_MAX;
    int rc = how == GX_SIM_ROOT ? gale_emit_many_tracked(self->out, stream, values, fields, count, ids, &done)
                                : gale_emit_many(self->out, stream, values, fields, count, &done);
    self->emitted += done;
    return rc;
}

void gx_sim_emit_wrongly(gx_sim_instance *self) {
    gale_value values[GX_SIM_VALUES_MAX];
    gx_sim_text text;
    uint32_t stream = gx_sim_below(self, self->shape.streams), drawn = gx_sim_below(self, 4);
    size_t count = gx_sim_values(&self->shape, stream, (gx_sim_charge){ 0, 1, 0 }, 0, values, &text);
    if (drawn == 0) stream = self->shape.streams;
    if (drawn == 1) count--;
    if (drawn == 2) values[count - 1].type = INT8_MAX;
    if (drawn == 3) values[count - 1].size = LOAD_REFUSED;
    if (drawn == 0 || !self->shape.folded[stream]) (void)gale_emit(self->out, stream, values, count);
}

/* To one stream. */
static int spread_at_once(gx_sim_instance *self, uint32_t stream, gx_sim_charge t, uint32_t count) {
    gx_sim_charge charges[GX_SIM_AT_ONCE_MAX];
    for (uint32_t i = 0; i < count; i++)
        charges[i] = (gx_sim_charge){ gx_sim_below(self, GX_SIM_KEYS), (t.energy - 1) / count + 1, t.hops + 1 };
    return gx_sim_emit_many(self, stream, charges, count, GX_SIM_BOUND);
}

int gx_sim_spread(gx_sim_instance *self, gx_sim_charge t, gx_sim_binding how, bool loose) {
    if (t.energy <= 0 || t.hops >= GX_SIM_HOPS_MAX) return 0;
    uint32_t count = 1 + gx_sim_below(self, self->nature->most);
    if (count > t.energy) count = (uint32_t)t.energy;
    if (self->nature->rarities.many && how == GX_SIM_BOUND && count <= GX_SIM_AT_ONCE_MAX && gx_sim_below(self, 2)) {
        uint32_t stream = gx_sim_below(self, self->shape.streams);
        if (!(self->nature->direct >> stream & 1)) return spread_at_once(self, stream, t, count);
    }
    for (uint32_t i = 0; i < count; i++) {
        gx_sim_charge child = { gx_sim_below(self, 2) ? t.key : (int64_t)gx_sim_below(self, GX_SIM_KEYS),
                                (t.energy - 1) / count + 1, t.hops + 1 };
        gx_sim_binding drawn = loose && gx_sim_below(self, 4) == 0 ? GX_SIM_UNBOUND : how;
        int rc = gx_sim_emit(self, gx_sim_below(self, self->shape.streams), child, drawn);
        if (rc < 0) return rc;
    }
    return 0;
}
