#include "sim/source.h"

#include "sim/spread.h"

#include <stdlib.h>

static int open_source(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    gx_sim_instance *self = gx_sim_instance_new(user, context, out);
    if (!self) return GALE_NO_MEMORY;
    *ret_self = self;
    return GALE_OK;
}

static gx_sim_charge draw_root(gx_sim_instance *self) {
    return (gx_sim_charge){ gx_sim_below(self, GX_SIM_KEYS), 1 + gx_sim_below(self, self->nature->most), 0 };
}

static uint32_t draw_stream(gx_sim_instance *self) {
    return gx_sim_below(self, self->shape.streams);
}

/* Some in one call. */
static int emit_roots(gx_sim_instance *self, uint32_t stream) {
    gx_sim_charge charges[GX_SIM_AT_ONCE_MAX];
    uint32_t count = 1 + gx_sim_below(self, GX_SIM_AT_ONCE_MAX);
    for (uint32_t i = 0; i < count; i++) charges[i] = draw_root(self);
    return gx_sim_emit_many(self, stream, charges, count, GX_SIM_ROOT);
}

int gx_sim_source_next(void *self_, gale_collector *out, gale_wait *wait) {
    gx_sim_instance *self = self_;
    uint32_t drawn = gx_sim_below(self, 32);
    (void)gale_pending(out);
    if (drawn == 0) {
        wait->until = gale_context_now(self->context) + gx_sim_below(self, 1000000);
        return GALE_NEXT_UNTIL;
    }
    if (drawn == 1) return GALE_NEXT_NOTHING;
    gx_sim_charge t = draw_root(self);
    uint32_t stream = draw_stream(self);
    if (drawn == 2) {
        t.energy = 0;
        int rc = gx_sim_emit(self, stream, t, GX_SIM_BOUND); /* not tracked */
        return rc < 0 ? rc : GALE_NEXT_EMITTED;
    }
    bool many = self->nature->rarities.many && drawn < 16 && !(self->nature->direct >> stream & 1);
    int rc = many ? emit_roots(self, stream) : gx_sim_emit(self, stream, t, GX_SIM_ROOT);
    return rc < 0 ? rc : GALE_NEXT_EMITTED;
}

gale_spout gx_sim_source(uint32_t energy, uint32_t direct) {
    static const gale_spout_ops ops = {
        .size = sizeof ops, .name = "source", .open = open_source, .next = gx_sim_source_next, .close = free
    };
    return (gale_spout){
        .size = sizeof(gale_spout), .ops = &ops, .user = gx_sim_nature_new(0, energy, direct), .free_user = free
    };
}

/* --- Eager --- */

/* In one call of `n`. What comes of it is for the engine to say, and for the simulator to judge. */
static void maybe_emit(gx_sim_instance *self, uint32_t n) {
    if (gx_sim_below(self, n) == 0) (void)gx_sim_emit(self, draw_stream(self), draw_root(self), GX_SIM_ROOT);
}

static int open_eagerly(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    int rc = open_source(user, context, out, ret_self);
    if (rc == GALE_OK && context->task % 2) gale_resume(out);
    if (rc == GALE_OK) maybe_emit(*ret_self, 2);
    return rc;
}

static void activate(void *self) {
    maybe_emit(self, 2);
}

static void deactivate(void *self) {
    maybe_emit(self, 2);
}

static void hear_ack(void *self, uint64_t message_id) {
    (void)message_id;
    maybe_emit(self, 16);
}

/* The first of many may emit, too: the others are not open any more either. */
static void hear_acks(void *self, const uint64_t *message_ids, size_t count) {
    for (size_t i = 0; i < count; i++) hear_ack(self, message_ids[i]);
}

static void hear_fail(void *self, uint64_t message_id, const gale_failure *failure) {
    (void)message_id, (void)failure;
    maybe_emit(self, 2);
}

static void close_eagerly(void *self) {
    maybe_emit(self, 2);
    free(self);
}

/* Some of its trees, by the luck of their numbers. */
static bool is_lost(void *user, uint64_t message_id) {
    uint64_t mixed = (message_id + *(uint32_t *)user) * UINT64_C(0x9e3779b97f4a7c15);
    return mixed >> 62 == 0;
}

static int next_eagerly(void *self_, gale_collector *out, gale_wait *wait) {
    gx_sim_instance *self = self_;
    uint32_t drawn = gx_sim_below(self, 256);
    if (drawn < 4 && gale_source_lost(out, drawn ? is_lost : NULL, &drawn) < 0) return GALE_COMPONENT;
    return gx_sim_source_next(self, out, wait);
}

/* By whether it is told of acks one by one, or at once. */
#define EAGER(ack_, ack_batch_)                                                                                        \
    {                                                                                                                  \
        .size = sizeof(gale_spout_ops), .name = "eager", .open = open_eagerly, .activate = activate,                   \
        .next = next_eagerly, .ack = (ack_), .fail = hear_fail, .deactivate = deactivate, .close = close_eagerly,      \
        .ack_batch = (ack_batch_)                                                                                      \
    }

gale_spout gx_sim_eager_source(uint32_t energy, uint32_t direct) {
    static const gale_spout_ops tables[2] = { EAGER(hear_ack, NULL), EAGER(NULL, hear_acks) };
    gale_spout spout = gx_sim_source(energy, direct);
    spout.ops = &tables[energy % 2];
    return spout;
}
