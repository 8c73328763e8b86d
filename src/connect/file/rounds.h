/* Lines of a file that were read by another number of tasks than there are now.
 *
 * What:    each task has blocks of its own (connect/file/blocks.h). When the number of tasks changes, each earlier one had read
 *          its lines up to a place: a round. Those of now begin behind what all had read, and pass over what some had. A round
 *          is over when its last place is behind; until then it is saved, since the number may change once more.
 * Threads: one at a time. Owner: memory comes from a gx_heap. */
#ifndef GX_CONNECT_FILE_ROUNDS_H
#define GX_CONNECT_FILE_ROUNDS_H

#include "base/alloc.h"

#include <gale/state.h>

typedef struct gx_file_round {
    uint64_t name;   /* the same in all tasks, and of no other round */
    int64_t *places; /* by task: its lines that begin before that place had been read */
    int64_t most;    /* of them */
    uint32_t tasks;
} gx_file_round;

typedef struct gx_file_rounds {
    gx_heap *heap;
    int64_t block; /* bytes, as gx_file_blocks has it */
    gx_file_round *list;
    size_t count, capacity;
} gx_file_rounds;

void gx_file_rounds_fini(gx_file_rounds *rounds);

/* Copies the places, as many int64_t as tasks; one whose name is there is left out. GALE_NO_MEMORY. */
int gx_file_rounds_add(gx_file_rounds *rounds, uint64_t name, const void *places, uint32_t tasks);

/* Was the line that begins at `place` read then? They are asked for in their order: rounds that are over go. */
bool gx_file_rounds_have(gx_file_rounds *rounds, int64_t place);

/* As records behind those that were saved before, and back: what gale_save says; GALE_DAMAGED, GALE_NO_MEMORY. What is taken is
 * added. */
int gx_file_rounds_save(const gx_file_rounds *rounds, gale_saver *to);
int gx_file_rounds_take(gx_file_rounds *rounds, gale_saved *from);

#endif
