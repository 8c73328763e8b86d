/* When a rotating map is to be rotated: every `period`, by whatever clock its owner reads. As long as the owner turns
 * it before each look into the map, an entry is found at every age up to (n - 1) periods and at none above n, however
 * seldom the owner comes by. Threads: one at a time. */
#ifndef GX_KIT_ROTATION_H
#define GX_KIT_ROTATION_H

#include "base/str.h"
#include "kit/recall.h"

#include <gale/rotating_map.h>

typedef struct gx_rotation {
    int64_t period; /* above 0 */
    int64_t due;    /* of the next rotation */
} gx_rotation;

/* The period by which n buckets keep an entry for at least `horizon`, which is above 0. */
static inline gx_rotation gx_rotation_new(int64_t horizon, uint32_t buckets, int64_t now) {
    int64_t period = (horizon - 1) / (int64_t)(buckets - 1) + 1;
    return (gx_rotation){ period, now + period };
}

/* Does what has fallen due. After n rotations in a row nothing is left, so that a long pause costs no more. */
static inline void gx_rotation_turn(gx_rotation *rotation, gale_rotating_map *map, uint32_t buckets, int64_t now) {
    if (now < rotation->due) return;
    int64_t turns = (now - rotation->due) / rotation->period + 1;
    rotation->due += turns * rotation->period;
    for (int64_t i = 0; i < turns && i < (int64_t)buckets; i++) (void)gale_rotating_map_rotate(map, NULL, NULL);
}

/* Saves a map whose keys are bytes, with when it is due, as so many records. */
int gx_rotation_save(const gx_rotation *rotation, const gale_rotating_map *map, size_t value_size, gale_saver *to);

/* Whose is a key of the map? */
typedef bool gx_rotation_owns_fn(void *user, const gx_recall *recall, gale_str key);

/* Brings it back: the keys that are this task's, as old as they were. `first`: no other part's was brought back before; then
 * what is due is what was, unless the period is another by now. GALE_DAMAGED with a report, GALE_NO_MEMORY. */
int gx_rotation_restore(gx_rotation *rotation, gale_rotating_map *map, size_t value_size, gx_recall *recall, bool first,
                        gx_rotation_owns_fn *owns, void *user);

/* Does a key of the map that is what gx_fields_pack makes of `count` values, behind `skip` bytes, belong to this task?
 * `scratch` is for the values. */
bool gx_rotation_owns_packed(const gx_recall *recall, gale_str key, size_t skip, uint32_t count, gx_buf *scratch);

#endif
