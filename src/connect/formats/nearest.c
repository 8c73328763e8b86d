#include "connect/formats/nearest.h"

#include <ctype.h>
#include <stdio.h>

enum { LONGEST = 64 };

fmt_nearest fmt_nearest_to(gale_str wanted) {
    return (fmt_nearest){ .wanted = wanted, .distance = wanted.size / 3 + 2 };
}

static size_t least(size_t a, size_t b, size_t c) {
    size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* How many letters are to be changed, put in or left out; capitals are the same. */
static size_t distance_of(gale_str a, gale_str b) {
    size_t row[LONGEST + 1];
    for (size_t j = 0; j <= b.size; j++) row[j] = j;
    for (size_t i = 1; i <= a.size; i++) {
        size_t before = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.size; j++) {
            size_t above = row[j];
            bool same = tolower((unsigned char)a.data[i - 1]) == tolower((unsigned char)b.data[j - 1]);
            row[j] = least(above + 1, row[j - 1] + 1, before + !same);
            before = above;
        }
    }
    return row[b.size];
}

void fmt_nearest_offer(fmt_nearest *nearest, gale_str name) {
    if (name.size > LONGEST || nearest->wanted.size > LONGEST || !name.size) return;
    size_t distance = distance_of(nearest->wanted, name);
    if (distance >= nearest->distance || distance >= name.size) return;
    nearest->best = name;
    nearest->distance = distance;
}

const char *fmt_nearest_hint(const fmt_nearest *nearest, char out[FMT_HINT]) {
    out[0] = '\0';
    if (nearest->best.size)
        snprintf(out, FMT_HINT, "; did you mean '%.*s'?", (int)nearest->best.size, nearest->best.data);
    return out;
}

int fmt_unknown_name(fmt_problem *problem, gale_str who, const gale_value *map, fmt_name_at_fn *name_at,
                     const void *names, size_t count) {
    gale_value value;
    gale_str key;
    char hint[FMT_HINT];
    for (size_t i = 0; gale_map_at(map, i, &key, &value); i++) {
        fmt_nearest nearest = fmt_nearest_to(key);
        bool known = false;
        for (size_t j = 0; !known && j < count; j++) {
            gale_str name = name_at(names, j);
            known = fmt_same(name, key);
            fmt_nearest_offer(&nearest, name);
        }
        if (!known)
            return fmt_wrong(problem, "%.*s has no field '%.*s'%s", FMT_STR(who), (int)(key.size < 60 ? key.size : 60),
                             key.data, fmt_nearest_hint(&nearest, hint));
    }
    return fmt_wrong(problem, "%.*s: a name is there twice", FMT_STR(who));
}
