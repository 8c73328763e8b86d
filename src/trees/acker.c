#include "trees/acker.h"

#include "base/assert.h"
#include "base/mutant.h"

#include <gale/clock.h>
#include <gale/error.h>

enum { BUCKETS = 3 };

#define PERIOD_WITHOUT_TIMEOUT (30 * GALE_SECOND)

typedef struct record {
    uint64_t xor_;
    bool begun; /* the init was here */
    bool failed;
} record;

int gx_acker_init(gx_acker *acker, gx_heap *heap, int64_t timeout, uint64_t seed) {
    GX_CHECK(timeout >= 0);
    *acker = (gx_acker){ .period = timeout ? timeout : PERIOD_WITHOUT_TIMEOUT, .keeps = !timeout };
    acker->due = acker->period; /* the runtime's clock begins about 0 */
    return gx_rotating_map_new(heap, BUCKETS, sizeof(record), seed, &acker->map);
}

void gx_acker_fini(gx_acker *acker) {
    gx_rotating_map_free(acker->map);
    acker->map = NULL;
}

static int settled(gx_acker *acker, uint64_t root, const record *r) {
    GX_CHECK(root != 0);
    if (!r->begun || (r->xor_ != 0 && !r->failed)) return GX_ACKER_WAITS;
    bool done = !r->failed;
    gx_rotating_map_remove(acker->map, root, NULL);
    return done ? GX_ACKER_DONE : GX_ACKER_WAITS;
}

int gx_acker_begin(gx_acker *acker, uint64_t root, uint64_t edges) {
    GX_CHECK(root != 0);
    record *r = gx_rotating_map_put_if_absent(acker->map, root, NULL);
    if (!r) return GALE_NO_MEMORY;
    r->xor_ ^= edges;
    r->begun = true;
    return settled(acker, root, r);
}

int gx_acker_ack(gx_acker *acker, uint64_t root, uint64_t edges) {
    if (GX_MUTANT(early_ack_forgotten) && !gx_rotating_map_get(acker->map, root)) return GX_ACKER_WAITS;
    record *r = acker->progress ? gx_rotating_map_put(acker->map, root, NULL)
                                : gx_rotating_map_put_if_absent(acker->map, root, NULL);
    if (!r) return GALE_NO_MEMORY;
    r->xor_ ^= edges;
    bool renews = acker->progress && r->begun && !r->failed;
    int verdict = settled(acker, root, r);
    return verdict == GX_ACKER_WAITS && renews ? GX_ACKER_RENEWS : verdict;
}

int gx_acker_fail(gx_acker *acker, uint64_t root) {
    record *r = gx_rotating_map_put(acker->map, root, NULL);
    if (!r) return GALE_NO_MEMORY;
    r->failed = true;
    return settled(acker, root, r);
}

int gx_acker_reset(gx_acker *acker, uint64_t root) {
    const record *r = gx_rotating_map_put(acker->map, root, NULL);
    if (!r) return GALE_NO_MEMORY;
    return r->begun ? GX_ACKER_RENEWS : GX_ACKER_WAITS;
}

static void keep(void *user, uint64_t root, void *value) {
    gx_acker *acker = user;
    const record *dead = value;
    if (!dead->begun) return;
    record *r = gx_rotating_map_put(acker->map, root, NULL);
    if (r) *r = *dead; /* without memory the tree stays open until the run ends, and is then answered `stopped` */
}

bool gx_acker_tick(gx_acker *acker, int64_t now) {
    if (now < acker->due) return false;
    acker->due = now + acker->period;
    gx_rotating_map_rotate(acker->map, acker->keeps ? keep : NULL, acker);
    return true;
}

size_t gx_acker_size(const gx_acker *acker) {
    return gx_rotating_map_size(acker->map);
}

void gx_acker_each(const gx_acker *acker,
                   void (*each)(void *user, uint64_t root, uint64_t edges, bool begun, bool failed), void *user) {
    gale_rotating_map_cursor cursor = { 0 };
    gale_rotating_map_entry entry;
    while (gale_rotating_map_next(acker->map, &cursor, &entry)) {
        const record *r = entry.value;
        each(user, entry.key, r->xor_, r->begun, r->failed);
    }
}

int gx_acker_restore(gx_acker *acker, uint64_t root, uint64_t edges, bool begun, bool failed) {
    GX_CHECK(!gx_rotating_map_get(acker->map, root));
    record *r = gx_rotating_map_put(acker->map, root, NULL);
    if (!r) return GALE_NO_MEMORY;
    *r = (record){ edges, begun, failed };
    return GALE_OK;
}
