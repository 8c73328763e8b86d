/* How far `gale simulate` has come, as its record keeps it:
 *
 *     gale simulate record 1
 *     what 0123456789abcdef        a hash of what is simulated, and how
 *     done 1 5000 0                seeds from, to, and how many of them failed
 *     failed 17 what was wrong
 *
 * Threads: any; nothing is kept here. */
#ifndef GX_CLI_PROGRESS_H
#define GX_CLI_PROGRESS_H

#include "base/buf.h"

#include <gale/error.h>

/* Reads a record of `what` and moves `*next`, a seed, past those that are done. GALE_INVALID with "PATH: line N: ..."
 * for anything else than such a record; then `*next` is as it was. */
int gx_progress_parse(const char *path, gale_str text, uint64_t what, uint64_t *next, gale_error *error);

/* The two lines that a record begins with, and one line of each kind. A text has one line: it is cut at its end. */
void gx_progress_begin(gx_buf *out, uint64_t what);
void gx_progress_done(gx_buf *out, uint64_t from, uint64_t to, uint64_t failures);
void gx_progress_failed(gx_buf *out, uint64_t seed, const char *text);

#endif
