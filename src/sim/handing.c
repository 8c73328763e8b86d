#include "sim/handing.h"

#include "sim/source.h"
#include "tuple/row.h"

#include <stdlib.h>

enum { ROOTS_MAX = 4 };

static int begin(void *user, const gale_context *context, gale_collector *out, bool is_spout, void **ret_self) {
    gx_sim_nature *nature = user;
    gx_sim_instance *self = gx_sim_instance_new(nature, context, out);
    if (!self) return GALE_NO_MEMORY;
    self->seat = gx_sim_crowd_hire(nature->crowd, self, is_spout);
    if (!self->seat) {
        free(self);
        return GALE_NO_MEMORY;
    }
    *ret_self = self;
    return GALE_OK;
}

/* --- Spouts --- */

static int open_fed(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    return begin(user, context, out, true, ret_self);
}

/* While its thread has something, it has little. */
static int next_fed(void *self_, gale_collector *out, gale_wait *wait) {
    gx_sim_instance *self = self_;
    uint32_t drawn = gx_sim_below(self, 8);
    if (self->seat->left == 0 || drawn == 0) return gx_sim_source_next(self, out, wait);
    if (drawn > 4) return GALE_NEXT_NOTHING;
    wait->until = gale_context_now(self->context) + gx_sim_below(self, 1000000);
    return GALE_NEXT_UNTIL;
}

gale_spout gx_sim_fed_source(gx_sim_crowd *crowd, uint32_t energy, uint32_t direct) {
    static const gale_spout_ops ops = {
        .size = sizeof ops, .name = "fed", .open = open_fed, .next = next_fed, .close = free
    };
    gx_sim_nature *nature = gx_sim_nature_new(0, energy, direct);
    if (nature) nature->crowd = crowd;
    return (gale_spout){ .size = sizeof(gale_spout), .ops = &ops, .user = nature, .free_user = free };
}

/* --- Bolts --- */

static int prepare_hander(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    return begin(user, context, out, false, ret_self);
}

static int hand_over(void *self_, const gale_tuple *input, gale_collector *out) {
    gx_sim_instance *self = self_;
    gale_handle handle = gale_tuple_handle(input), held;
    if (gale_tuple_is_tick(input)) return 0;
    if (gx_row_roots(input->head).count > ROOTS_MAX || gx_sim_below(self, 4) == 0) return gale_ack(out, handle);
    if (gale_tuple_hold(out, handle, &held) < 0) return gale_fail(out, handle, GALE_REASON_NO_MEMORY, "cannot hold");
    return gx_sim_seat_hand(self->seat, held, gx_sim_read(input)) ? 0 : gale_ack(out, held);
}

gale_bolt gx_sim_hander(gx_sim_crowd *crowd, uint32_t fan, uint32_t direct) {
    static const gale_bolt_ops ops = { .size = sizeof ops,
                                       .name = "hand",
                                       .kind = GALE_BOLT_MANUAL,
                                       .prepare = prepare_hander,
                                       .execute = hand_over,
                                       .cleanup = free };
    gx_sim_nature *nature = gx_sim_nature_new(0, fan, direct);
    if (nature) nature->crowd = crowd;
    return (gale_bolt){ .size = sizeof(gale_bolt), .ops = &ops, .user = nature, .free_user = free };
}
