/* What the program writes for people: lines that stay, and below them a live block that is redrawn in place.
 *
 * What:    one terminal stands before one descriptor. Lines that come while a block is shown are written above it. When
 *          the descriptor is no terminal there is no live block: gx_terminal_live does nothing. Whatever text says (a
 *          path, a value of a topology file, a message of a component), a person reads it: what could steer a terminal
 *          is written out (base/visible.h) by the functions here, on every descriptor but a standard output that is no
 *          terminal, where what is printed may be meant for another program.
 * Threads: any; a mutex keeps lines whole.
 * Limits:  a live block is cut at the width of the window, and at its height: what scrolled out at the top could not be
 *          drawn over again. The window is asked for its size each time.
 */
#ifndef GX_CLI_TERMINAL_H
#define GX_CLI_TERMINAL_H

#include "base/buf.h"

#include <gale/log.h>
#include <pthread.h>

typedef struct gx_terminal {
    int fd;
    bool is_tty;
    bool utf8;    /* does the environment say so? */
    bool visible; /* is what could steer a terminal written out? */
    pthread_mutex_t mutex;
    gx_buf live;     /* what is shown, line ends included */
    int broken;      /* the errno of the first write that failed, or 0 */
    gx_buf last_log; /* what was logged last, without its time */
    int64_t last_log_time;
    uint64_t repeats; /* how often it came again since */
} gx_terminal;

void gx_terminal_init(gx_terminal *terminal, int fd);
void gx_terminal_fini(gx_terminal *terminal);

/* Writes `text` (lines with their ends), above the live block. False when a write has failed; `broken` says why. */
bool gx_terminal_print(gx_terminal *terminal, const char *text);

/* The same in a colour ("31" is red; NULL: none), on a terminal alone, and only where NO_COLOR does not ask for none. */
bool gx_terminal_print_in(gx_terminal *terminal, const char *text, const char *colour);

/* How many lines a live block may have. */
size_t gx_terminal_room(const gx_terminal *terminal);

/* Shows `text` (lines with their ends) in place of the live block before; "" takes it away. */
void gx_terminal_live(gx_terminal *terminal, const char *text);

/* Log lines "12:03:04.123 WARN component: text", to `terminal`. A line that comes again within a second is only
 * counted; before the next one, and at the end, it is repeated once with "(3 times more)". */
gale_logger gx_terminal_logger(gx_terminal *terminal, int32_t level);

/* Repeats the last log line with how often it came again, if it did. */
void gx_terminal_flush(gx_terminal *terminal);

#endif
