/* Dead letters: spout tuples that nothing will emit again, with why, where and how often they were tried.
 *
 * What:    one letter as values, for the stream `__dead_letter` that every spout has, and as a line of JSON, for the
 *          file that topology.dead_letters.file names:
 *
 *              {"component":"lines","stream":"default","message_id":7,"tuple":["..."],"reason":"failed","text":"...",
 *               "place":"split","task":3,"attempts":3,"time":1763899384.123}
 *
 *          and when that was, in seconds since 1970.
 *          A line is written whole, by one write, before the spout hears of it. A write that fails leaves nothing
 *          behind and stops the run, and its tuple is answered as what was stopped: it is not given up.
 * Threads: any; the file has one lock.
 * Owner:   the runtime owns the file. */
#ifndef GX_ENGINE_DEAD_LETTER_H
#define GX_ENGINE_DEAD_LETTER_H

#include "engine/executor.h"

#include <gale/state.h>

enum { GX_DEAD_LETTER_FIELDS = 9 };

typedef struct gx_dead_letter {
    const char *component;
    const char *stream;
    uint64_t message_id;
    const gale_body *tuple;
    const gale_failure *failure;
    uint32_t attempts;
} gx_dead_letter;

/* As the fields of the stream; borrowed from the letter. */
void gx_dead_letter_values(const gx_dead_letter *letter, gale_value values[GX_DEAD_LETTER_FIELDS]);

/* Opens the file that the plan names; does nothing when it names none or is open already. A run that goes on from a
 * checkpoint (shared->cut.letters) cuts it back to the end that it had then. GALE_IO, GALE_NO_MEMORY, and what
 * gx_file_end_restore says: the run is stopped. */
int gx_dead_letters_open(gx_shared *shared);

/* Its path is to be opened anew, where another file has it by now; in a durable run with a later checkpoint (topology/file_swap.h). What cannot
 * be opened is told, and letters go where they went. */
void gx_dead_letters_reopen(gx_shared *shared);

/* In the cut of a checkpoint, when nobody writes: the end of the file, with a pledge that what stands before it is on the
 * disk; or that there is none. GALE_IO, GALE_NO_MEMORY, GALE_TOO_LARGE: the run is to be stopped, and ends with why. */
int gx_dead_letters_save(gx_shared *shared, gale_saver *to);

/* When nobody writes any more. What fails then is the run's error, too. */
void gx_dead_letters_close(gx_shared *shared);

/* Writes it; false when it is not in the file, now or later. */
bool gx_dead_letters_write(gx_shared *shared, const gx_dead_letter *letter);

#endif
