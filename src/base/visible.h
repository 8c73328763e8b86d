/* Text that others wrote (a path, a value of a file, a word of the input), made fit to be read on a terminal.
 *
 * What:    what could move the cursor, recolour, answer for the user or change the order of what is read is written out:
 *          control characters (Unicode's Cc: C0, DEL and C1), the characters that turn the direction of text (U+202A to
 *          U+202E, U+2066 to U+2069) and the separators of lines and paragraphs as \u009b, bytes that are no UTF-8 as
 *          \x9b. In a string of JSON the first form means what it replaces.
 * Threads: any. A terminal is taken to read UTF-8.
 */
#ifndef GX_BASE_VISIBLE_H
#define GX_BASE_VISIBLE_H

#include "base/buf.h"

/* The size of the first character of `text` (at least one byte of it); `ret_shows`: may it be shown as it is? */
size_t gx_visible_step(const char *text, size_t size, bool *ret_shows);

/* How many columns of a terminal the first character takes: 2 for those of East Asia and for pictures, else 1. Characters
 * that lie over others count too: what is measured may be narrower, and is never wider. */
size_t gx_visible_columns(const char *text, size_t size);

/* Appends `text`; the characters of `kept` (ASCII; "" for none, "\n" for lines) stay as they are. */
void gx_visible_add(gx_buf *out, gale_str text, const char *kept);

/* The same into `to`, which has `room` bytes (at least 1), cut between characters and ended by NUL. `text` NULL: "".
 * Returns `to`. */
const char *gx_visible_copy(char *to, size_t room, const char *text);

#endif
