#include "base/nearest.h"

#include "base/str.h"

#include <stdio.h>

/* FAR edits are never meant; longer words are compared only in the middle, where they differ. */
enum { FAR = 5, MIDDLE = 128 };

gx_nearest gx_nearest_to(gale_str wanted) {
    return (gx_nearest){ wanted, { NULL, 0 }, SIZE_MAX };
}

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

static bool equal_but_for_case(gale_str a, gale_str b) {
    if (a.size != b.size) return false;
    for (size_t i = 0; i < a.size; i++)
        if (lower(a.data[i]) != lower(b.data[i])) return false;
    return true;
}

/* Leaves the middle, where two words differ: what they begin and end with in common costs nothing. */
static void strip_common(gale_str *a, gale_str *b) {
    while (a->size && b->size && a->data[0] == b->data[0]) a->data++, a->size--, b->data++, b->size--;
    while (a->size && b->size && a->data[a->size - 1] == b->data[b->size - 1]) a->size--, b->size--;
}

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Row i of the table from the two rows above it: row[j] is the distance of i bytes of `a` and j of `b`. */
static void fill_row(size_t *row, const size_t *above, const size_t *above2, size_t i, gale_str a, gale_str b) {
    row[0] = i;
    for (size_t j = 1; j <= b.size; j++) {
        bool same = a.data[i - 1] == b.data[j - 1];
        size_t best = least(above[j - 1] + !same, least(above[j], row[j - 1]) + 1);
        if (i > 1 && j > 1 && a.data[i - 1] == b.data[j - 2] && a.data[i - 2] == b.data[j - 1])
            best = least(best, above2[j - 2] + 1);
        row[j] = best;
    }
}

static size_t distance(gale_str a, gale_str b) {
    strip_common(&a, &b);
    if (a.size == 0 || b.size == 0) return a.size + b.size;
    size_t gap = a.size > b.size ? a.size - b.size : b.size - a.size;
    if (gap >= FAR || b.size > MIDDLE) return a.size > b.size ? a.size : b.size;
    size_t rows[3][MIDDLE + 1];
    for (size_t j = 0; j <= b.size; j++) rows[0][j] = j;
    for (size_t i = 1; i <= a.size; i++) fill_row(rows[i % 3], rows[(i + 2) % 3], rows[(i + 1) % 3], i, a, b);
    return rows[a.size % 3][b.size];
}

void gx_nearest_offer(gx_nearest *nearest, gale_str candidate) {
    size_t d = equal_but_for_case(nearest->wanted, candidate) ? 0 : distance(nearest->wanted, candidate);
    if (d >= nearest->distance) return;
    nearest->distance = d;
    nearest->best = candidate;
}

gale_str gx_nearest_word(const gx_nearest *nearest) {
    size_t longer = nearest->wanted.size > nearest->best.size ? nearest->wanted.size : nearest->best.size;
    size_t limit = least(longer / 3 ? longer / 3 : 1, FAR - 1);
    bool near = nearest->wanted.size && nearest->best.size && nearest->distance <= limit;
    return near ? nearest->best : (gale_str){ NULL, 0 };
}

const char *gx_nearest_hint(const gx_nearest *nearest, char *out, size_t size) {
    if (size == 0) return "";
    gale_str word = gx_nearest_word(nearest);
    out[0] = 0;
    if (word.size == 0) return out;
    int needed = snprintf(out, size, "; did you mean '%.*s'?", GX_STR(word));
    if (needed < 0 || (size_t)needed >= size) out[0] = 0; /* half a hint misleads */
    return out;
}
