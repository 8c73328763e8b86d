/* Lines of a file that were read by another number of tasks than there are now.
 *
 * What:    line n is task (n - 1) modulo their number's. When that number changes, each earlier task had read its lines up to
 *          a line of its own: a round. Those of now begin behind what all had read, and pass over what some had. A round is
 *          over when its last line is behind; until then it is saved, since the number may change once more.
 * Threads: one at a time. Owner: memory comes from a gx_heap. */
#ifndef GX_CONNECT_FILE_ROUNDS_H
#define GX_CONNECT_FILE_ROUNDS_H

#include "base/alloc.h"

#include <gale/state.h>

typedef struct gx_file_round {
    uint64_t name;   /* the same in all tasks, and of no other round */
    uint64_t *lines; /* by task: the number of the last line that it had passed */
    uint64_t most;   /* of them */
    uint32_t tasks;
} gx_file_round;

typedef struct gx_file_rounds {
    gx_heap *heap;
    gx_file_round *list;
    size_t count, capacity;
} gx_file_rounds;

void gx_file_rounds_fini(gx_file_rounds *rounds);

/* Copies the lines, as many uint64_t as tasks; one whose name is there is left out. GALE_NO_MEMORY. */
int gx_file_rounds_add(gx_file_rounds *rounds, uint64_t name, const void *lines, uint32_t tasks);

/* Was line `number` read then? They are asked for in their order: rounds that are over go. */
bool gx_file_rounds_have(gx_file_rounds *rounds, uint64_t number);

/* As records behind those that were saved before, and back: what gale_save says; GALE_DAMAGED, GALE_NO_MEMORY. What is taken is
 * added. */
int gx_file_rounds_save(const gx_file_rounds *rounds, gale_saver *to);
int gx_file_rounds_take(gx_file_rounds *rounds, gale_saved *from);

#endif
