/* A hash table of entries that have an age, made of segments (ds/age_segment.h), so that it grows and shrinks by
 * pieces.
 *
 * What:    a directory of 2^bits doors; the leading bits of a hash choose one. A segment of depth d, whose hashes have
 *          d leading bits in common, stands behind 2^(bits - d) doors (extendible hashing: Fagin and others, 1979).
 *
 *              hash 0..  1..        00 01 10 11               a full segment grows by an eighth, up to 256 groups (some
 *                    |    |          |  |  \  /               3000 entries), and then splits in two
 *                   [a]  [b]   ->   [a][c] [b]
 *
 *          An entry is `stride` bytes: a word, whose mixture is its hash, then what the caller wants.
 * Threads: one at a time. Owner: memory comes from a gx_heap and goes back with gx_age_table_fini. A place is good
 *          until the next claim that returns another `moves`, or the next gx_age_table_fit.
 */
#ifndef GX_DS_AGE_TABLE_H
#define GX_DS_AGE_TABLE_H

#include "ds/age_segment.h"

typedef struct gx_door {
    gx_segment *segment;
    uint32_t groups; /* the segment's, here to save a search the wait for one line */
} gx_door;

typedef struct gx_age_table {
    gx_door *doors;
    uint64_t seed;
    uint32_t bits;  /* at least 1, so that a shift by 64 never comes up */
    uint32_t shift; /* 64 - bits */
    uint32_t stride;
    size_t group_bytes;
    uint64_t moves;  /* how often entries were moved */
    size_t slots;    /* of all segments */
    size_t reserved; /* entries to keep room for */
    gx_heap *heap;
} gx_age_table;

/* GALE_OK or GALE_NO_MEMORY; then there is nothing to end. */
int gx_age_table_init(gx_age_table *table, gx_heap *heap, uint32_t stride, uint64_t seed);
void gx_age_table_fini(gx_age_table *table);

/* A multiplication to 128 bits, folded (as in wyhash): every bit of the word reaches every bit that is used. */
GX_INLINE uint64_t gx_age_table_hash(const gx_age_table *table, uint64_t word) {
    unsigned __int128 product = (unsigned __int128)(word ^ table->seed) * UINT64_C(0x9fb21c651e98df25);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Where a search for a hash begins. */
typedef struct gx_home {
    gx_segment *segment;
    gx_group *group;
} gx_home;

GX_INLINE gx_home gx_age_table_home(const gx_age_table *table, uint64_t hash) {
    gx_door door = table->doors[hash >> table->shift];
    char *first = (char *)(door.segment + 1);
    return (gx_home){ door.segment, (gx_group *)(first + gx_segment_home(door.groups, hash) * table->group_bytes) };
}

/* Makes room for one more entry with this hash. False when memory is out: nothing changed. */
bool gx_age_table_make_room(gx_age_table *table, uint64_t hash);

/* Takes a slot for an entry that is not there. False when memory is out: nothing changed. */
static inline bool gx_age_table_claim(gx_age_table *table, gx_home home, uint64_t hash, uint8_t age, gx_place *ret_at) {
    if (GX_UNLIKELY(gx_segment_is_full(home.segment))) {
        if (!gx_age_table_make_room(table, hash)) return false;
        home = gx_age_table_home(table, hash);
    }
    *ret_at = gx_segment_claim(home.segment, home.group, hash, age);
    return true;
}

/* Keeps room for so many entries, from now on. False when memory is out: there is room for some of them. */
bool gx_age_table_reserve(gx_age_table *table, size_t entries);

/* Gives back the memory that the entries do not need; when memory for a smaller thing is out, the larger one stays. */
void gx_age_table_fit(gx_age_table *table);

/* Where the hashes of the segment after this one begin; 0 after the last. */
GX_INLINE uint64_t gx_age_table_after(const gx_segment *segment, uint64_t prefix) {
    return segment->depth ? prefix + (UINT64_C(1) << (64 - segment->depth)) : 0;
}

/* A walk begins with a cursor of zeros; see gale_rotating_map_next for what may happen on the way. */
typedef struct gx_age_cursor {
    uint64_t prefix; /* of the segment's hashes */
    uint64_t slot;   /* the next one to look at */
    uint64_t ended;
} gx_age_cursor;

/* The next entry that is not of the age `hidden`, or NULL. */
char *gx_age_table_next(const gx_age_table *table, gx_age_cursor *cursor, uint8_t hidden);

/* What of the table does not hold, in words, or NULL. Adds to `living` how many entries there are of each age. */
const char *gx_age_table_flaw(const gx_age_table *table, size_t living[GX_AGE_NONE + 1]);

#endif
