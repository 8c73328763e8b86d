#include "connect/nats/ranges.h"

#include <gale/error.h>
#include <stdlib.h>
#include <string.h>

void nats_ranges_free(nats_ranges *ranges) {
    free(ranges->list);
    *ranges = (nats_ranges){ .list = NULL };
}

/* The first that does not end before `sequence`. */
static size_t find(const nats_ranges *ranges, int64_t sequence) {
    size_t low = 0, high = ranges->count;
    if (high && ranges->list[high - 1].last < sequence) return high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ranges->list[middle].last < sequence)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool nats_ranges_have(const nats_ranges *ranges, int64_t sequence) {
    size_t at = find(ranges, sequence);
    return at < ranges->count && ranges->list[at].first <= sequence;
}

static int make_room(nats_ranges *ranges) {
    if (ranges->count < ranges->capacity) return 0;
    if (ranges->count >= NATS_RANGES_MAX) return GALE_TOO_LARGE;
    size_t capacity = ranges->capacity ? 2 * ranges->capacity : 16;
    nats_range *list = realloc(ranges->list, capacity * sizeof *list);
    if (!list) return GALE_NO_MEMORY;
    ranges->list = list;
    ranges->capacity = capacity;
    return 0;
}

static int insert(nats_ranges *ranges, size_t at, nats_range range) {
    int rc = make_room(ranges);
    if (rc < 0) return rc;
    memmove(ranges->list + at + 1, ranges->list + at, (ranges->count - at) * sizeof *ranges->list);
    ranges->list[at] = range;
    ranges->count++;
    return 0;
}

static void cut_out(nats_ranges *ranges, size_t from, size_t to) {
    memmove(ranges->list + from, ranges->list + to, (ranges->count - to) * sizeof *ranges->list);
    ranges->count -= to - from;
}

int nats_ranges_add(nats_ranges *ranges, int64_t first, int64_t last) {
    if (first > last) return 0;
    size_t from = find(ranges, first - 1), to = from; /* `from` to `to` are those that it touches */
    while (to < ranges->count && ranges->list[to].first <= last + 1) to++;
    if (from == to) return insert(ranges, from, (nats_range){ first, last });
    nats_range *joined = &ranges->list[from];
    if (joined->first > first) joined->first = first;
    if (ranges->list[to - 1].last > last) last = ranges->list[to - 1].last;
    joined->last = last;
    cut_out(ranges, from + 1, to);
    return 0;
}

int nats_ranges_remove(nats_ranges *ranges, int64_t sequence) {
    size_t at = find(ranges, sequence);
    if (at == ranges->count || ranges->list[at].first > sequence) return 0;
    nats_range old = ranges->list[at];
    if (old.first < sequence && sequence < old.last) {
        int rc = insert(ranges, at, (nats_range){ old.first, sequence - 1 });
        if (rc == 0) ranges->list[at + 1].first = sequence + 1;
        return rc;
    }
    if (old.first == old.last)
        cut_out(ranges, at, at + 1);
    else if (old.first == sequence)
        ranges->list[at].first++;
    else
        ranges->list[at].last--;
    return 0;
}

int nats_ranges_load(nats_ranges *ranges, const void *bytes, size_t size) {
    nats_ranges made = { .count = size / sizeof(nats_range), .capacity = size / sizeof(nats_range) };
    if (size % sizeof(nats_range) || made.count > NATS_RANGES_MAX) return GALE_DAMAGED;
    made.list = malloc(size + 1);
    if (!made.list) return GALE_NO_MEMORY;
    if (size) memcpy(made.list, bytes, size);
    int64_t before = -1; /* the last of the one before; the next begins two behind it at least */
    for (size_t i = 0; i < made.count; i++) {
        const nats_range *one = &made.list[i];
        bool is = one->first > 0 && one->first <= one->last && one->last < INT64_MAX && one->first > before + 1;
        if (!is) {
            free(made.list);
            return GALE_DAMAGED;
        }
        before = one->last;
    }
    nats_ranges_free(ranges);
    *ranges = made;
    return 0;
}
