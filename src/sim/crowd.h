/* Virtual threads of the application: a crowd that works for components by their remotes (gale/remote.h), between steps,
 * when the simulator says so. Each seat has one task's remote. For a spout its thread emits tuples, for a bolt it emits
 * and answers what the bolt holds and hands over. It goes on after the drain and after the end, until it is told so.
 * Threads: one. Owner: the crowd frees its seats; components borrow theirs. */
#ifndef GX_SIM_CROWD_H
#define GX_SIM_CROWD_H

#include "sim/spread.h"

#include <gale/remote.h>

enum { GX_SIM_HANDS_MAX = 8 };

/* A tuple that is handed over. */
typedef struct gx_sim_hand {
    gale_handle handle;
    gx_sim_charge charge;
} gx_sim_hand;

typedef struct gx_sim_seat {
    struct gx_sim_crowd *crowd;
    gale_remote *remote; /* NULL: closed */
    bool is_spout;
    gx_sim_shape shape;
    uint32_t most; /* energy of a root */
    uint32_t left; /* tuples that it is still to emit of its own */
    uint64_t emitted;
    gx_sim_hand hands[GX_SIM_HANDS_MAX];
    uint32_t hand_count;
} gx_sim_seat;

typedef struct gx_sim_crowd {
    gx_heap *heap;
    gx_random random;
    gx_sim_seat **seats;
    size_t capacity;
    uint32_t count;
} gx_sim_crowd;

/* Begins a run. */
void gx_sim_crowd_begin(gx_sim_crowd *crowd, gx_heap *heap, gx_random random);

/* A thread for the task of this instance, with a remote of its own. NULL: memory is out. */
gx_sim_seat *gx_sim_crowd_hire(gx_sim_crowd *crowd, const gx_sim_instance *self, bool is_spout);

/* Hands a held tuple over. False: its hands are full. */
bool gx_sim_seat_hand(gx_sim_seat *seat, gale_handle held, gx_sim_charge charge);

/* Some thread does something. False: it has nothing to do. */
bool gx_sim_crowd_act(gx_sim_crowd *crowd);

/* Each thread that still has something to do does it. False: none has. */
bool gx_sim_crowd_hurry(gx_sim_crowd *crowd);

/* The runtime is gone: each thread tries once more, and closes its remote. Frees all seats. */
void gx_sim_crowd_end(gx_sim_crowd *crowd);

#endif
