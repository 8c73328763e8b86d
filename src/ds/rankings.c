#include "ds/rankings.h"

#include "base/assert.h"

/* The object's bytes, then the payload's, in one block that the entry's place keeps for whatever comes next: in the
 * steady state nothing is allocated. */
typedef struct ranked {
    int64_t count;
    char *block;
    size_t capacity;
    size_t object_size;
    size_t payload_size;
} ranked;

/* Behind the `size` ranked entries lie spare ones, which may own blocks. */
struct gx_rankings {
    ranked *entries;
    size_t capacity;
    size_t size;
    int64_t top_n;
    gx_rankings_compare compare;
    gx_heap *heap;
};

int gx_rankings_new(gx_heap *heap, int64_t top_n, gx_rankings_compare compare, gx_rankings **ret_rankings,
                    gale_error *error) {
    if (top_n < 1)
        return gale_error_set(error, GALE_INVALID, "rankings need at least 1 place, not %lld", (long long)top_n);
    gx_rankings *rankings = gx_alloc(heap, GX_TAG_OTHER, sizeof *rankings);
    if (!rankings) return gale_error_set(error, GALE_NO_MEMORY, "no memory for rankings");
    rankings->heap = heap;
    rankings->top_n = top_n;
    rankings->compare = compare;
    *ret_rankings = rankings;
    return GALE_OK;
}

void gx_rankings_free(gx_rankings *rankings) {
    if (!rankings) return;
    gx_heap *heap = rankings->heap;
    for (size_t i = 0; i < rankings->capacity; i++)
        gx_free(heap, GX_TAG_OTHER, rankings->entries[i].block, rankings->entries[i].capacity);
    gx_free(heap, GX_TAG_OTHER, rankings->entries, rankings->capacity * sizeof *rankings->entries);
    gx_free(heap, GX_TAG_OTHER, rankings, sizeof *rankings);
}

static gale_str object_of(const ranked *entry) {
    return (gale_str){ entry->block, entry->object_size };
}

static gale_str payload_of(const ranked *entry) {
    return (gale_str){ entry->block ? entry->block + entry->object_size : NULL, entry->payload_size };
}

/* Negative when (count, object) ranks before `entry`. Objects that `compare` holds for equal although their bytes
 * differ are told apart by their bytes, so that the order never depends on who came first. */
static int rank(const gx_rankings *rankings, int64_t count, gale_str object, const ranked *entry) {
    if (count != entry->count) return count > entry->count ? -1 : 1;
    int order = rankings->compare(object, object_of(entry));
    return order ? order : gx_str_compare(object, object_of(entry));
}

/* The place of the entry with these bytes, or `size`. */
static size_t find(const gx_rankings *rankings, gale_str object) {
    size_t at = 0;
    while (at < rankings->size && !gx_str_equal(object_of(&rankings->entries[at]), object)) at++;
    return at;
}

/* Writes a spare entry, which stays as it was when memory is out. */
static bool fill(gx_heap *heap, ranked *spare, int64_t count, gale_str object, gale_str payload) {
    if (object.size > SIZE_MAX / 4 || payload.size > SIZE_MAX / 4) return false;
    void *block = spare->block;
    if (!gx_grow(heap, GX_TAG_OTHER, &block, &spare->capacity, object.size + payload.size, 1)) return false;
    spare->block = block;
    if (object.size) memcpy(spare->block, object.data, object.size);
    if (payload.size) memcpy(spare->block + object.size, payload.data, payload.size);
    spare->count = count;
    spare->object_size = object.size;
    spare->payload_size = payload.size;
    return true;
}

static void swap(ranked *a, ranked *b) {
    ranked kept = *a;
    *a = *b;
    *b = kept;
}

/* Moves the one entry that may be out of order, at `at`, to its place. */
static void settle(gx_rankings *rankings, size_t at) {
    ranked *entries = rankings->entries;
    ranked moving = entries[at];
    for (; at > 0 && rank(rankings, moving.count, object_of(&moving), &entries[at - 1]) < 0; at--)
        entries[at] = entries[at - 1];
    for (; at + 1 < rankings->size && rank(rankings, moving.count, object_of(&moving), &entries[at + 1]) > 0; at++)
        entries[at] = entries[at + 1];
    entries[at] = moving;
}

static bool is_full(const gx_rankings *rankings) {
    return (int64_t)rankings->size >= rankings->top_n;
}

/* Would a new entry go again at once? */
static bool stays_out(const gx_rankings *rankings, int64_t count, gale_str object) {
    return is_full(rankings) && rank(rankings, count, object, &rankings->entries[rankings->size - 1]) > 0;
}

int gx_rankings_update(gx_rankings *rankings, gale_str object, int64_t count, gale_str payload) {
    if (count < 0) return GALE_INVALID;
    size_t at = find(rankings, object);
    bool known = at < rankings->size;
    if (!known && stays_out(rankings, count, object)) return GALE_OK;
    void *entries = rankings->entries;
    if (!gx_grow(rankings->heap, GX_TAG_OTHER, &entries, &rankings->capacity, rankings->size + 1, sizeof(ranked)))
        return GALE_NO_MEMORY;
    rankings->entries = entries;
    ranked *spare = &rankings->entries[rankings->size];
    if (!fill(rankings->heap, spare, count, object, payload)) return GALE_NO_MEMORY;
    bool evict = !known && is_full(rankings);
    if (known)
        swap(&rankings->entries[at], spare);
    else
        rankings->size++;
    settle(rankings, at);
    if (evict) rankings->size--;
    return GALE_OK;
}

/* Counts fall from first to last and are never negative: zeros are at the end. */
void gx_rankings_prune_zeros(gx_rankings *rankings) {
    while (rankings->size > 0 && rankings->entries[rankings->size - 1].count == 0) rankings->size--;
}

size_t gx_rankings_size(const gx_rankings *rankings) {
    return rankings->size;
}

int64_t gx_rankings_top_n(const gx_rankings *rankings) {
    return rankings->top_n;
}

int64_t gx_rankings_at(const gx_rankings *rankings, size_t index, gale_str *ret_object, gale_str *ret_payload) {
    GX_CHECK(index < rankings->size);
    const ranked *entry = &rankings->entries[index];
    if (ret_object) *ret_object = object_of(entry);
    if (ret_payload) *ret_payload = payload_of(entry);
    return entry->count;
}
