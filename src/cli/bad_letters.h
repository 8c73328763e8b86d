/* Lines of a dead-letter file that are no letters: the first few are said with their places, all are counted.
 * Threads: one at a time. */
#ifndef GX_CLI_BAD_LETTERS_H
#define GX_CLI_BAD_LETTERS_H

#include "cli/terminal.h"
#include "front/dead_letter_file.h"

typedef struct gx_bad_letters {
    gx_terminal *errors;
    uint64_t count;
} gx_bad_letters;

void gx_bad_letters_tell(gx_bad_letters *bad, const gale_error *error);

/* For gx_dead_letter_file_load. */
gx_dead_letter_file_told gx_bad_letters_told(gx_bad_letters *bad);

/* Says how many lines of the file were skipped, if any. */
void gx_bad_letters_end(const gx_bad_letters *bad, const char *name);

#endif
