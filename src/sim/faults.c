#include "sim/faults.h"

#include "base/nearest.h"
#include "base/number.h"

#include <stdlib.h>
#include <string.h>

const char *gx_fault_name(int fault) {
    static const char *const names[] = { "slow", "hold",  "fail", "forget", "twice", "reset", "stall",
                                         "late", "alloc", "open", "disk",   "stop",  "later" };
    static_assert(sizeof names / sizeof *names == GX_FAULT_COUNT, "every fault has a name");
    return names[fault];
}

/* --- Odds --- */

static int find(gale_str name, gale_error *error) {
    gx_nearest nearest = gx_nearest_to(name);
    char hint[100];
    for (int i = 0; i < GX_FAULT_COUNT; i++) {
        if (gx_str_is(name, gx_fault_name(i))) return i;
        gx_nearest_offer(&nearest, gx_str(gx_fault_name(i)));
    }
    return gale_error_set(error, GALE_NOT_FOUND, "unknown fault '%.*s'%s", GX_STR(name),
                          gx_nearest_hint(&nearest, hint, sizeof hint));
}

static int parse_odds(gale_str name, gale_str value, uint32_t *ret_odds, gale_error *error) {
    double odds;
    if (!gx_number_read(value, &odds) || !(odds >= 0 && odds <= 1))
        return gale_error_set(error, GALE_INVALID, "fault '%.*s' has odds from 0 to 1, not '%.*s'", GX_STR(name),
                              GX_STR(value));
    *ret_odds = odds >= 1 ? UINT32_MAX : (uint32_t)(odds * 4294967296.0);
    return GALE_OK;
}

int gx_faults_parse(const char *text, gx_faults *faults, gale_error *error) {
    gx_faults made = *faults;
    gale_str rest = gx_str(text), piece;
    while (gx_str_next(&rest, ',', &piece)) {
        const char *equals = piece.size ? memchr(piece.data, '=', piece.size) : NULL;
        if (!equals)
            return gale_error_set(error, GALE_INVALID, "faults are written slow=0.01,fail=0.1; '%.*s' has no '='",
                                  GX_STR(piece));
        gale_str name = { piece.data, (size_t)(equals - piece.data) };
        gale_str value = { equals + 1, piece.size - name.size - 1 };
        int fault = find(name, error);
        if (fault < 0) return fault;
        int rc = parse_odds(name, value, &made.odds[fault], error);
        if (rc < 0) return rc;
    }
    *faults = made;
    return GALE_OK;
}

/* One in how many runs has it. What ends a run at once is rare. */
static uint32_t rarity(int fault) {
    switch (fault) {
    case GX_FAULT_ALLOC: return 8;
    case GX_FAULT_OPEN:
    case GX_FAULT_STOP: return 24;
    default: return 2;
    }
}

static uint32_t draw_odds(gx_random *random, int fault) {
    uint32_t scale = gx_random_below(random, 8); /* 1/2000 to 1/16 */
    switch (fault) {
    case GX_FAULT_LATER:
    case GX_FAULT_LATE: scale += 3; break;            /* to 1/2: most publications are one among many */
    case GX_FAULT_OPEN: scale = scale / 2 + 4; break; /* a task opens once */
    case GX_FAULT_DISK: scale += 2; break;            /* a run has few calls */
    case GX_FAULT_STOP: scale /= 4; break;            /* one in thousands of calls */
    default: break;
    }
    return (UINT32_MAX / 2000) << scale;
}

gx_faults gx_faults_draw(gx_random *random) {
    gx_faults faults = { { 0 } };
    gx_random apart = gx_random_new(random->state, GX_FAULT_LATER); /* seeds draw what they drew without it */
    for (int i = 0; i < GX_FAULT_COUNT; i++) {
        gx_random *from = i == GX_FAULT_LATER ? &apart : random;
        if (gx_random_below(from, rarity(i)) == 0) faults.odds[i] = draw_odds(from, i);
    }
    return faults;
}

gx_sim_rarities gx_sim_rarities_draw(gx_random random) {
    gx_sim_rarities drawn = { .listens = gx_random_below(&random, 5) == 0,
                              .hoards = gx_random_below(&random, 8) == 0,
                              .seconds = gx_random_below(&random, 12) == 0 };
    drawn.scarce = gx_random_below(&random, drawn.hoards ? 3 : 16) == 0;
    drawn.timeless = gx_random_below(&random, 16) == 0;
    drawn.many = gx_random_below(&random, 4) == 0;
    return drawn;
}

/* --- Coverage --- */

int gx_coverage_init(gx_coverage *coverage, gx_heap *heap) {
    coverage->places = gx_bytes_map_new(heap, GX_FAULT_COUNT * sizeof(uint64_t), 2);
    return coverage->places ? GALE_OK : GALE_NO_MEMORY;
}

void gx_coverage_fini(gx_coverage *coverage) {
    gx_bytes_map_free(coverage->places);
    coverage->places = NULL;
}

void gx_coverage_count(gx_coverage *coverage, const char *place, int fault) {
    uint64_t *counts = gx_bytes_map_put(coverage->places, gx_str(place), NULL);
    if (counts) counts[fault]++;
}

/* The first place in order of names that is above `*name`. */
static const uint64_t *next_place(const gx_coverage *coverage, gale_str *name) {
    const uint64_t *best = NULL;
    gale_str best_name = { NULL, 0 };
    for (size_t i = 0; i < gx_bytes_map_size(coverage->places); i++) {
        gale_str key;
        const uint64_t *counts = gx_bytes_map_at(coverage->places, i, &key);
        if (name->data && gx_str_compare(key, *name) <= 0) continue;
        if (best && gx_str_compare(key, best_name) >= 0) continue;
        best = counts;
        best_name = key;
    }
    *name = best_name;
    return best;
}

void gx_coverage_print(const gx_coverage *coverage, gx_buf *out) {
    if (gx_bytes_map_size(coverage->places) == 0) return;
    gx_buf_format(out, "%-20s", "faults at");
    for (int i = 0; i < GX_FAULT_COUNT; i++) gx_buf_format(out, " %9s", gx_fault_name(i));
    gx_buf_add_text(out, "\n");
    gale_str name = { NULL, 0 };
    const uint64_t *counts;
    while ((counts = next_place(coverage, &name)) != NULL) {
        gx_buf_format(out, "%-20.*s", GX_STR(name));
        for (int i = 0; i < GX_FAULT_COUNT; i++) gx_buf_format(out, " %9llu", (unsigned long long)counts[i]);
        gx_buf_add_text(out, "\n");
    }
}

/* --- Memory --- */

static bool refuses(gx_sim_memory *memory) {
    memory->calls++;
    bool refused = memory->calls == memory->fail_at ||
                   (memory->armed && gx_fault_strikes(&memory->random, memory->odds));
    memory->failed += refused;
    return refused;
}

static void *take(void *user, size_t size) {
    gx_sim_memory *memory = user;
    void *block = refuses(memory) ? NULL : malloc(size);
    if (!block) return NULL;
    memory->blocks++;
    memory->bytes += size;
    return block;
}

static void *resize(void *user, void *block, size_t old_size, size_t new_size) {
    gx_sim_memory *memory = user;
    void *made = refuses(memory) ? NULL : realloc(block, new_size);
    if (made) memory->bytes += new_size - old_size;
    return made;
}

static void give(void *user, void *block, size_t size) {
    gx_sim_memory *memory = user;
    memory->blocks--;
    memory->bytes -= size;
    free(block);
}

gale_allocator gx_sim_memory_handle(gx_sim_memory *memory) {
    return (gale_allocator){ sizeof(gale_allocator), take, resize, give, memory };
}
