/* What the program writes for people: lines that stay, and below them a live block that is redrawn in place.
 *
 * What:    one terminal stands before one descriptor. Lines that come while a block is shown are written above it. When
 *          the descriptor is no terminal there is no live block: gx_terminal_live does nothing. Whatever text says (a
 *          path, a value of a topology file, a message of a component), a person reads it: what could steer a terminal
 *          is written out (base/visible.h) by the functions here, on every descriptor but a standard output that is no
 *          terminal, where what is printed may be meant for another program.
 * Threads: any; a mutex keeps lines whole. A reader that does not read holds up all of them, until an end is asked for
 *          (cli/signals.h): then what it does not take is dropped.
 * Limits:  a live block is cut at the width of the window, and at its height: what scrolled out at the top could not be
 *          drawn over again. The window is asked for its size each time.
 */
#ifndef GX_CLI_TERMINAL_H
#define GX_CLI_TERMINAL_H

#include "base/atomic.h"
#include "cli/log_lines.h"

#include <pthread.h>

typedef struct gx_terminal {
    int fd;
    bool is_tty;
    bool utf8;    /* does the environment say so? */
    bool visible; /* is what could steer a terminal written out? */
    pthread_mutex_t mutex;
    gx_buf live;  /* what is shown, line ends included */
    int broken;   /* the errno of the newest write that failed, or 0; ETIMEDOUT: its reader did not read at the end */
    bool stalled; /* that was so: it is not waited for any more */
    gx_log_lines log;
    gx_atomic32 log_level; /* what is below this gale_log_level is dropped */
} gx_terminal;

void gx_terminal_init(gx_terminal *terminal, int fd);
void gx_terminal_fini(gx_terminal *terminal);

/* Writes `text` (lines with their ends), above the live block. False when a write has failed; `broken` says why. */
bool gx_terminal_print(gx_terminal *terminal, const char *text);

/* The same in a colour ("31" is red; NULL: none), on a terminal alone, and only where NO_COLOR does not ask for none. */
bool gx_terminal_print_in(gx_terminal *terminal, const char *text, const char *colour);

/* How wide it is; 80 where that is not known. */
size_t gx_terminal_columns(const gx_terminal *terminal);

/* How many lines a live block may have. */
size_t gx_terminal_room(const gx_terminal *terminal);

/* Shows `text` (lines with their ends) in place of the live block before; "" takes it away. */
void gx_terminal_live(gx_terminal *terminal, const char *text);

/* The same, of text in which all that others wrote was made visible already; marks paint what stands between them, where the
 * terminal has colours and NO_COLOR does not ask for none. Marks take no room. */
#define GX_MARK_BOLD "\001"
#define GX_MARK_DIM "\002"
#define GX_MARK_RED "\003"
#define GX_MARK_YELLOW "\004"
#define GX_MARK_GREEN "\005"
#define GX_MARK_REVERSE "\006"
#define GX_MARK_END "\016"
void gx_terminal_live_marked(gx_terminal *terminal, const char *text);

/* What is shown stays, and what comes is written below it. */
void gx_terminal_leave(gx_terminal *terminal);

/* Log lines (cli/log_lines.h) go to `terminal`, above the live block, or to the file that its log was given. The first call says what the
 * terminal's level is; loggers hand on all lines, and those below its level are dropped here, so that it can be changed while they are in use. */
gale_logger gx_terminal_logger(gx_terminal *terminal, int32_t level);
int32_t gx_terminal_log_level(const gx_terminal *terminal);
void gx_terminal_set_log_level(gx_terminal *terminal, int32_t level);

/* What the program itself says: "gale: text", its further lines indented. A log that is JSON, or has a file, has it, too. */
void gx_terminal_say(gx_terminal *terminal, int32_t level, const char *text);

/* Lines for people who look at this end, as they are, and one entry of such a log. */
void gx_terminal_tell(gx_terminal *terminal, int32_t level, const char *lines);

/* False: what is written there is JSON, and nothing else. */
bool gx_terminal_is_for_people(const gx_terminal *terminal);

/* Is there a log that is read by something else than eyes on this terminal? */
bool gx_terminal_log_is_apart(const gx_terminal *terminal);

/* From now on the log goes to this file (NULL: stays), as JSON or as text; before any other thread logs. GALE_IO. */
int gx_terminal_log_to(gx_terminal *terminal, const char *path, bool json, gale_error *error);

/* Opens its file again: another one may have its name. GALE_IO: lines go where they went. */
int gx_terminal_log_reopen(gx_terminal *terminal, gale_error *error);

/* Repeats the last log line with how often it came again, if it did. */
void gx_terminal_flush(gx_terminal *terminal);

#endif
