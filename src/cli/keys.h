/* Keys, as they are pressed, where the standard input is a terminal and this process may read it.
 *
 * Threads: the main one. Owner: gx_keys_end makes the terminal what it was; also to be called when nothing was begun.
 */
#ifndef GX_CLI_KEYS_H
#define GX_CLI_KEYS_H

#include "base/port.h"

typedef enum gx_key { GX_KEY_NONE, GX_KEY_QUIT, GX_KEY_UP, GX_KEY_DOWN, GX_KEY_OTHER } gx_key;

void gx_keys_begin(void);
void gx_keys_end(void);

/* Waits until a key is pressed, or for `nanoseconds`; also ends when a signal asks for an end, within 50 ms. */
gx_key gx_keys_wait(int64_t nanoseconds, int *ret_signal);

/* The first key of these bytes: "q", "\x1b[A". */
gx_key gx_keys_read(const char *bytes, size_t size);

#endif
