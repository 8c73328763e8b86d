/* The end of a dead-letter file that a run goes on with. A process that died may have left the beginning of a letter
 * there, without the end of its line: what is appended next would be part of that line, and lost with it.
 * Threads: one at a time. */
#ifndef GX_ENGINE_LETTER_TAIL_H
#define GX_ENGINE_LETTER_TAIL_H

#include "base/port.h"

#include <gale/error.h>

typedef enum gx_letter_tail {
    GX_LETTER_TAIL_WHOLE, /* nothing is to be done */
    GX_LETTER_TAIL_CUT,   /* the beginning of a letter was cut off: its tuple was not answered, and comes again */
    GX_LETTER_TAIL_ENDED, /* something else, which may be a letter of another hand: it has a newline behind it now */
} gx_letter_tail;

/* Mends the end of the file at `path`, which is open for appending as `fd`; what is no regular file is left as it is.
 * Returns which of the three, or GALE_IO. */
int gx_letter_tail_mend(int fd, const char *path, gale_error *error);

#endif
