#include "connect/nats/open.h"

#include <stdlib.h>

/* Eight that follow each other are neighbours: they come, and are answered, one behind the other. */
static size_t place_of(const nats_open *open, int64_t sequence) {
    uint64_t eight = ((uint64_t)sequence >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 20;
    return (eight << 3 | ((uint64_t)sequence & 7)) & (open->capacity - 1);
}

void nats_open_free(nats_open *open) {
    for (size_t i = 0; i < open->capacity; i++) free(open->rows[i].post);
    free(open->rows);
    *open = (nats_open){ .rows = NULL };
}

nats_open_row *nats_open_find(const nats_open *open, int64_t sequence) {
    if (!open->capacity) return NULL;
    size_t mask = open->capacity - 1;
    for (size_t at = place_of(open, sequence); open->rows[at].sequence; at = (at + 1) & mask)
        if (open->rows[at].sequence == sequence) return &open->rows[at];
    return NULL;
}

static nats_open_row *put(nats_open *open, const nats_open_row *row) {
    size_t mask = open->capacity - 1, at = place_of(open, row->sequence);
    while (open->rows[at].sequence) at = (at + 1) & mask;
    open->rows[at] = *row;
    open->count++;
    return &open->rows[at];
}

static bool grow(nats_open *open) {
    if (open->capacity && 2 * (open->count + 1) <= open->capacity) return true;
    nats_open wider = { .capacity = open->capacity ? 2 * open->capacity : 64 };
    wider.rows = calloc(wider.capacity, sizeof *wider.rows);
    if (!wider.rows) return false;
    for (size_t i = 0; i < open->capacity; i++)
        if (open->rows[i].sequence) (void)put(&wider, &open->rows[i]);
    free(open->rows);
    *open = wider;
    return true;
}

nats_open_row *nats_open_add(nats_open *open, int64_t sequence) {
    const nats_open_row row = { .sequence = sequence };
    return grow(open) ? put(open, &row) : NULL;
}

/* Those behind it that would be looked for past its place move up. */
void nats_open_remove(nats_open *open, int64_t sequence) {
    nats_open_row *row = nats_open_find(open, sequence);
    if (!row) return;
    size_t mask = open->capacity - 1, hole = (size_t)(row - open->rows);
    for (size_t at = (hole + 1) & mask; open->rows[at].sequence; at = (at + 1) & mask) {
        size_t home = place_of(open, open->rows[at].sequence);
        if (((at - home) & mask) < ((at - hole) & mask)) continue;
        open->rows[hole] = open->rows[at];
        hole = at;
    }
    open->rows[hole] = (nats_open_row){ .sequence = 0 };
    open->count--;
}
