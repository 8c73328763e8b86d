#include "kit/halves.h"

enum { LOSSES_OF_ALL = 2 };

/* The next part begins at `next`. */
static void go_on(gx_halves *halves, uint64_t next, uint64_t part) {
    uint64_t left = next < halves->count ? halves->count - next : 0;
    halves->next = halves->count - left;
    halves->part = part < left ? part : left;
    halves->losses = 0;
    halves->culprit = false;
}

void gx_halves_begin(gx_halves *halves, uint64_t count) {
    *halves = (gx_halves){ .count = count };
    go_on(halves, 0, count);
}

void gx_halves_reach(gx_halves *halves, uint64_t rows) {
    if (rows != halves->next) go_on(halves, rows, halves->part);
}

void gx_halves_taken(gx_halves *halves) {
    go_on(halves, halves->next + halves->part, halves->divided ? 2 * halves->part : halves->count);
}

static gx_halves_step divide(gx_halves *halves) {
    halves->divided = true;
    go_on(halves, halves->next, halves->part / 2);
    return GX_HALVES_AGAIN;
}

static gx_halves_step blame(gx_halves *halves) {
    if (halves->culprit) return GX_HALVES_SPENT;
    halves->culprit = true;
    halves->losses = 0;
    return GX_HALVES_CULPRIT;
}

gx_halves_step gx_halves_lost(gx_halves *halves, uint32_t most) {
    halves->losses++;
    if (halves->part > 1) return halves->divided || halves->losses >= LOSSES_OF_ALL ? divide(halves) : GX_HALVES_AGAIN;
    return halves->losses >= most ? blame(halves) : GX_HALVES_AGAIN;
}

gx_halves_step gx_halves_declined(gx_halves *halves) {
    return halves->part > 1 ? divide(halves) : blame(halves);
}
