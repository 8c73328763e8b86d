#include "connect/file/rounds.h"

#include "connect/file/blocks.h"
#include "kit/record.h"

#include <string.h>

void gx_file_rounds_fini(gx_file_rounds *rounds) {
    for (size_t i = 0; i < rounds->count; i++)
        gx_free(rounds->heap, GX_TAG_OTHER, rounds->list[i].places, rounds->list[i].tasks * sizeof(int64_t));
    gx_free(rounds->heap, GX_TAG_OTHER, rounds->list, rounds->capacity * sizeof *rounds->list);
    *rounds = (gx_file_rounds){ .heap = rounds->heap, .block = rounds->block };
}

static bool has_name(const gx_file_rounds *rounds, uint64_t name) {
    for (size_t i = 0; i < rounds->count; i++)
        if (rounds->list[i].name == name) return true;
    return false;
}

int gx_file_rounds_add(gx_file_rounds *rounds, uint64_t name, const void *places, uint32_t tasks) {
    if (has_name(rounds, name)) return GALE_OK;
    gx_file_round made = { name, NULL, 0, tasks };
    if (!gx_grow(rounds->heap, GX_TAG_OTHER, (void **)&rounds->list, &rounds->capacity, rounds->count + 1,
                 sizeof *rounds->list))
        return GALE_NO_MEMORY;
    made.places = gx_alloc_array(rounds->heap, GX_TAG_OTHER, tasks, sizeof *made.places);
    if (!made.places) return GALE_NO_MEMORY;
    memcpy(made.places, places, tasks * sizeof *made.places);
    for (uint32_t t = 0; t < tasks; t++)
        if (made.places[t] > made.most) made.most = made.places[t];
    rounds->list[rounds->count++] = made;
    return GALE_OK;
}

static void end_round(gx_file_rounds *rounds, size_t index) {
    gx_file_round *round = &rounds->list[index];
    gx_free(rounds->heap, GX_TAG_OTHER, round->places, round->tasks * sizeof *round->places);
    *round = rounds->list[--rounds->count];
}

bool gx_file_rounds_have(gx_file_rounds *rounds, int64_t place) {
    for (size_t i = 0; i < rounds->count;) {
        const gx_file_round *round = &rounds->list[i];
        if (place < round->places[gx_file_blocks_owner(rounds->block, place, round->tasks)]) return true;
        if (place >= round->most)
            end_round(rounds, i);
        else
            i++;
    }
    return false;
}

/* How many; each: its name and its places. */
static const char head_shape[] = "n", round_shape[] = "iy";

int gx_file_rounds_save(const gx_file_rounds *rounds, gale_saver *to) {
    const gale_value head = gale_i64((int64_t)rounds->count);
    int rc = gale_save(to, &head, 1);
    for (size_t i = 0; rc == GALE_OK && i < rounds->count; i++) {
        const gx_file_round *round = &rounds->list[i];
        const gale_value values[] = { gale_i64((int64_t)round->name),
                                      gale_bytes(round->places, round->tasks * sizeof *round->places) };
        rc = gale_save(to, values, 2);
    }
    return rc;
}

static int take_one(gx_file_rounds *rounds, gale_saved *from) {
    const gale_value *values;
    int rc = gx_record_need(from, round_shape, &values);
    if (rc < 0) return rc;
    size_t size = values[1].size;
    if (!size || size % sizeof(int64_t)) return GALE_DAMAGED;
    return gx_file_rounds_add(rounds, (uint64_t)values[0].as.i64, values[1].as.bytes,
                              (uint32_t)(size / sizeof(int64_t)));
}

int gx_file_rounds_take(gx_file_rounds *rounds, gale_saved *from) {
    const gale_value *head;
    int rc = gx_record_need(from, head_shape, &head);
    for (int64_t count = rc == GALE_OK ? head->as.i64 : 0; rc == GALE_OK && count > 0; count--)
        rc = take_one(rounds, from);
    return rc;
}
