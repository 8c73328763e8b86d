/* The signals that the program waits for: SIGINT and SIGTERM ask for an end. So does SIGHUP when its terminal has gone; else it asks a
 * service to open its files again.
 *
 * What:    SIGHUP stays ignored where it was (nohup). SIGPIPE and SIGXFSZ are ignored: a closed pipe is an error of who writes, and so is a
 *          file at its limit. A terminal is one of the standard descriptors, or the one that controls the process.
 * Threads: the main thread; gx_signals_prepare before any other is started.
 */
#ifndef GX_CLI_SIGNALS_H
#define GX_CLI_SIGNALS_H

#include "base/port.h"

/* Blocks the signals that are waited for, and looks for a terminal. */
void gx_signals_prepare(void);

/* The signal that has asked for an end since the last call, or 0. */
int gx_signals_asked(void);

/* The same for a service: a SIGHUP while its terminal is there, or where there never was one, is told by `ret_reopen`. */
int gx_signals_asked_of_service(bool *ret_reopen);

#endif
