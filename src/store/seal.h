/* Text of ours, sealed by a line with a checksum of all that stands before it; and small files of it.
 * Threads: any. Files are written by gx_file_replace: the whole file, or what was there. */
#ifndef GX_STORE_SEAL_H
#define GX_STORE_SEAL_H

#include "base/port.h"

#include <gale/error.h>

enum { GX_SEAL_SIZE = 17, GX_SEAL_TEXT = 2000 }; /* sixteen digits and the end of the line */

/* Puts the seal of the first `size` bytes behind them. */
void gx_seal_put(char *text, size_t size);

/* Do the last GX_SEAL_SIZE bytes seal those before them? */
bool gx_seal_fits(const char *bytes, size_t size);

/* Makes `path` hold `text` (less than GX_SEAL_TEXT - GX_SEAL_SIZE bytes) and its seal, durably. */
int gx_seal_write(const char *path, const char *text, gale_error *error);

/* Reads it back, without the seal. GALE_NOT_FOUND, with no report, when there is none; GALE_DAMAGED when the seal does
 * not fit, or it is no regular file. */
int gx_seal_read(const char *path, char ret_text[GX_SEAL_TEXT], gale_error *error);

#endif
