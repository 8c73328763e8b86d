#include "sim/death.h"

static const char *const names[] = { "none",    "step",     "hold", "stop",   "save",      "cut",     "saving",
                                     "prepare", "prepared", "put",  "commit", "committed", "keep",    "kept",
                                     "tidy",    "told",     "read", "open",   "restore",   "restored" };
static_assert(sizeof names / sizeof *names == GX_PLACE_COUNT, "every place has a name");

void gx_death_plan(gx_death *death, gx_place place, uint64_t at) {
    death->place = place;
    death->at = at;
    death->seen = 0;
    death->dead = false;
}

bool gx_death_comes(gx_death *death, gx_place place) {
    if (death->dead) return true;
    if (death->meanwhile && place >= GX_PLACE_PREPARE && place <= GX_PLACE_TIDY) death->meanwhile(death->user);
    if (death->dead) return true;
    death->passed[place]++;
    if (place != death->place || ++death->seen != death->at) return false;
    death->deaths[place]++;
    return death->dead = true;
}

void gx_death_print(const gx_death *death, gx_buf *out) {
    gx_buf_format(out, "%-12s %12s %12s\n", "place", "passed", "died there");
    for (int i = GX_PLACE_STEP; i < GX_PLACE_COUNT; i++)
        gx_buf_format(out, "%-12s %12llu %12llu\n", names[i], (unsigned long long)death->passed[i],
                      (unsigned long long)death->deaths[i]);
}
