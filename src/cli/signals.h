/* The signals that end the program: SIGINT and SIGTERM, and SIGHUP when its terminal has gone. Otherwise SIGHUP asks a
 * service to open its files again.
 *
 *      ends at once:   signal --asked for within GX_SIGNALS_GRACE--> the command ends in order, within GX_SIGNALS_LEAVE
 *                             '--nobody asks, or that is over------> the guard ends it
 *      ends in order:  first signal --> the command's own bound; second signal --> as above
 *
 * What:    every signal is blocked, and taken by a thread of its own, the guard. Commands ask for it (gx_signals_asked)
 *          between two steps of what they do, and end in order. A command that does not ask, or does not come to its end,
 *          is ended by the guard, with exit code 128 + signal: whatever it hangs in, a signal ends it. A signal that
 *          comes within GX_SIGNALS_TWIN of one that nobody has asked for yet is part of it, as a terminal and a shell
 *          script may both send one.
 *          SIGHUP stays ignored where it was (nohup). SIGPIPE and SIGXFSZ are ignored: a closed pipe is an error of who
 *          writes, and so is a file at its limit. A terminal is one of the standard descriptors, or the one that
 *          controls the process.
 * Threads: the main thread; gx_signals_prepare before any other is started. gx_signals_ending: any.
 */
#ifndef GX_CLI_SIGNALS_H
#define GX_CLI_SIGNALS_H

#include "base/port.h"

#include <gale/clock.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { GX_SIGNALS_SLOW = 20 };
#else
enum { GX_SIGNALS_SLOW = 1 };
#endif
#define GX_SIGNALS_GRACE (GX_SIGNALS_SLOW * 900 * GALE_MILLISECOND)
#define GX_SIGNALS_LEAVE (GX_SIGNALS_SLOW * 3 * GALE_SECOND)
#define GX_SIGNALS_TWIN (100 * GALE_MILLISECOND)

/* Blocks the signals, looks for a terminal, and starts the guard. The command ends at once. */
void gx_signals_prepare(void);

/* From now on the first signal begins an end in order, which the command sees to, and the second one ends it at once.
 * A first one that nobody asks for within `bound` nanoseconds ends it, too. */
void gx_signals_drain(int64_t bound);

/* What ends in order has ended. The next signal ends the command at once. */
void gx_signals_drained(void);

/* The signal that has asked for an end since the last call, or 0. */
int gx_signals_asked(void);

/* The same for a service: a SIGHUP while its terminal is there, or where there never was one, is reported by
 * `ret_reopen`. */
int gx_signals_asked_of_service(bool *ret_reopen);

/* Called by the guard before it ends the program: what a terminal had before. Async with all else. */
void gx_signals_restore_by(void (*restore)(void));

/* The newest signal that has asked for an end since the start, or 0. From then on nobody waits for a reader that does
 * not read. */
int gx_signals_ending(void);

#endif
