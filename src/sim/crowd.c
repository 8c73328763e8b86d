#include "sim/crowd.h"

#include <string.h>

enum { SPOUT_TUPLES = 40, BOLT_TUPLES = 4 };

void gx_sim_crowd_begin(gx_sim_crowd *crowd, gx_heap *heap, gx_random random) {
    crowd->heap = heap;
    crowd->random = random;
    crowd->count = 0;
}

static uint32_t below(gx_sim_crowd *crowd, uint32_t n) {
    return gx_random_below(&crowd->random, n);
}

gx_sim_seat *gx_sim_crowd_hire(gx_sim_crowd *crowd, const gx_sim_instance *self, bool is_spout) {
    if (!gx_grow(crowd->heap, GX_TAG_OTHER, &crowd->seats, &crowd->capacity, crowd->count + 1u, sizeof *crowd->seats))
        return NULL;
    gx_sim_seat *seat = gx_alloc(crowd->heap, GX_TAG_OTHER, sizeof *seat);
    if (!seat) return NULL;
    *seat = (gx_sim_seat){ .crowd = crowd, .is_spout = is_spout, .shape = self->shape, .most = self->nature->most };
    seat->left = 1 + below(crowd, is_spout ? SPOUT_TUPLES : BOLT_TUPLES);
    if (gale_remote_open(self->out, &seat->remote) < 0) {
        gx_free(crowd->heap, GX_TAG_OTHER, seat, sizeof *seat);
        return NULL;
    }
    crowd->seats[crowd->count++] = seat;
    return seat;
}

bool gx_sim_seat_hand(gx_sim_seat *seat, gale_handle held, gx_sim_charge charge) {
    if (!seat->remote || seat->hand_count == GX_SIM_HANDS_MAX) return false;
    seat->hands[seat->hand_count++] = (gx_sim_hand){ held, charge };
    return true;
}

/* --- What a thread does --- */

/* The runtime takes nothing more: there is nothing left to do. */
static void take(gx_sim_seat *seat, int rc) {
    if (rc != GALE_STOPPED) return;
    seat->left = 0;
    seat->hand_count = 0;
}

/* Of its own: a spout's root, mostly tracked; or a bolt's tuple that is anchored to nothing. */
static void emit_own(gx_sim_seat *seat) {
    gx_sim_crowd *crowd = seat->crowd;
    gale_value values[GX_SIM_VALUES_MAX];
    gx_sim_text text;
    gx_sim_charge t = { below(crowd, GX_SIM_KEYS), 1, 0 };
    bool tracked = seat->is_spout && below(crowd, 8);
    if (tracked) t.energy += below(crowd, seat->most);
    uint32_t stream = below(crowd, seat->shape.streams);
    size_t count = gx_sim_values(&seat->shape, stream, t, gx_random_next(&crowd->random), values, &text);
    int rc = tracked ? gale_remote_emit_tracked(seat->remote, stream, values, count, seat->emitted)
                     : gale_remote_emit(seat->remote, stream, values, count, NULL, 0);
    seat->emitted += rc == GALE_OK;
    seat->left -= rc != GALE_STOPPED && seat->left; /* one that is not taken now is not wanted later */
    take(seat, rc);
}

/* Anchored to the first that was handed over, or to the first two. */
static void emit_anchored(gx_sim_seat *seat) {
    gx_sim_crowd *crowd = seat->crowd;
    gale_value values[GX_SIM_VALUES_MAX];
    gx_sim_text text;
    gx_sim_charge *from = &seat->hands[0].charge;
    gale_handle anchors[2] = { seat->hands[0].handle, seat->hands[seat->hand_count > 1].handle };
    uint32_t stream = below(crowd, seat->shape.streams);
    from->energy /= 2;
    gx_sim_charge t = { from->key, from->energy, from->hops + 1 };
    size_t count = gx_sim_values(&seat->shape, stream, t, gx_random_next(&crowd->random), values, &text);
    take(seat, gale_remote_emit(seat->remote, stream, values, count, anchors, 1 + below(crowd, 2)));
}

static void answer(gx_sim_seat *seat) {
    gx_sim_crowd *crowd = seat->crowd;
    gale_handle held = seat->hands[0].handle;
    uint32_t drawn = below(crowd, 16);
    int rc = drawn ? gale_remote_ack(seat->remote, held)
                   : gale_remote_fail(seat->remote, held, GALE_REASON_USER + 9, "no luck elsewhere");
    if (rc == GALE_OK) {
        memmove(seat->hands, seat->hands + 1, --seat->hand_count * sizeof *seat->hands);
        if (drawn == 1) rc = gale_remote_ack(seat->remote, held); /* a second time: nothing may come of it */
    }
    take(seat, rc);
}

static void work(gx_sim_seat *seat) {
    gx_sim_crowd *crowd = seat->crowd;
    const gx_sim_charge *first = &seat->hands[0].charge;
    bool spends = seat->hand_count && seat->shape.streams && first->energy > 1 && first->hops < GX_SIM_HOPS_MAX / 2;
    if (spends && below(crowd, 2))
        emit_anchored(seat);
    else if (seat->hand_count && below(crowd, 8))
        answer(seat);
    else if (seat->left && seat->shape.streams)
        emit_own(seat);
}

/* Before the end. */
static void leave(gx_sim_seat *seat) {
    gale_remote_close(seat->remote);
    seat->remote = NULL;
}

static bool has_work(const gx_sim_seat *seat) {
    return seat->remote && (seat->hand_count || (seat->left && seat->shape.streams));
}

bool gx_sim_crowd_act(gx_sim_crowd *crowd) {
    gx_sim_seat *seat = crowd->seats[below(crowd, crowd->count)];
    bool works = has_work(seat);
    if (works)
        work(seat);
    else if (seat->remote && below(crowd, 64) == 0)
        leave(seat);
    return works;
}

bool gx_sim_crowd_hurry(gx_sim_crowd *crowd) {
    bool any = false;
    for (uint32_t i = 0; i < crowd->count; i++) {
        if (!has_work(crowd->seats[i])) continue;
        work(crowd->seats[i]);
        any = true;
    }
    return any;
}

void gx_sim_crowd_end(gx_sim_crowd *crowd) {
    for (uint32_t i = 0; i < crowd->count; i++) {
        gx_sim_seat *seat = crowd->seats[i];
        if (seat->remote && seat->shape.streams) emit_own(seat);
        if (seat->remote && !seat->is_spout) (void)gale_remote_ack(seat->remote, 0);
        gale_remote_close(seat->remote);
        gx_free(crowd->heap, GX_TAG_OTHER, seat, sizeof *seat);
    }
    crowd->count = 0;
    if (crowd->heap) gx_free(crowd->heap, GX_TAG_OTHER, crowd->seats, crowd->capacity * sizeof *crowd->seats);
    crowd->seats = NULL;
    crowd->capacity = 0;
}
