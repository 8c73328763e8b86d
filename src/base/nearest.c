#include "base/nearest.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>

/* FAR edits are never meant; longer words are compared only in the middle, where they differ. Fewer letters than BEGINNING begin
 * too much. */
enum { FAR = 5, MIDDLE = 128, BEGINNING = 3 };

gx_nearest gx_nearest_to(gale_str wanted) {
    return (gx_nearest){ wanted, { NULL, 0 }, SIZE_MAX };
}

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

static bool begins_with(gale_str word, gale_str beginning) {
    if (word.size < beginning.size) return false;
    for (size_t i = 0; i < beginning.size; i++)
        if (lower(word.data[i]) != lower(beginning.data[i])) return false;
    return true;
}

/* Leaves what is between the parts of two dotted names that are the same: gale.bolt.Tcp is no nearer to gale.bolt.Map than Tcp to
 * Map. */
static void strip_parts(gale_str *a, gale_str *b) {
    size_t same = 0, parts = 0;
    for (; same < a->size && same < b->size && a->data[same] == b->data[same]; same++)
        if (a->data[same] == '.') parts = same + 1;
    a->data += parts, a->size -= parts, b->data += parts, b->size -= parts;
    for (same = parts = 0; same < a->size && same < b->size; same++) {
        char last = a->data[a->size - 1 - same];
        if (last != b->data[b->size - 1 - same]) break;
        if (last == '.') parts = same + 1;
    }
    a->size -= parts, b->size -= parts;
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

/* Is the rest of the word, or of a name's last part, only left out? */
static bool is_begun(gale_str wanted, gale_str candidate) {
    return wanted.size >= BEGINNING && begins_with(candidate, wanted) &&
           !memchr(candidate.data + wanted.size, '.', candidate.size - wanted.size);
}

/* How far a candidate is: by edits, or behind all such as it begins with what is wanted. SIZE_MAX: it is not meant. */
static size_t judge(gale_str wanted, gale_str candidate) {
    if (!wanted.size || !candidate.size) return SIZE_MAX;
    if (wanted.size == candidate.size && begins_with(candidate, wanted)) return 0;
    strip_parts(&wanted, &candidate);
    size_t longer = wanted.size > candidate.size ? wanted.size : candidate.size;
    size_t limit = least(longer / 3 ? longer / 3 : 1, FAR - 1), edits = distance(wanted, candidate);
    if (edits <= limit && edits < longer) return edits;
    return is_begun(wanted, candidate) ? FAR + candidate.size - wanted.size : SIZE_MAX;
}

void gx_nearest_offer(gx_nearest *nearest, gale_str candidate) {
    size_t d = judge(nearest->wanted, candidate);
    if (d >= nearest->distance) return;
    nearest->distance = d;
    nearest->best = candidate;
}

gale_str gx_nearest_word(const gx_nearest *nearest) {
    return nearest->best;
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
