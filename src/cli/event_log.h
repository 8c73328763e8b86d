/* The event log of a run: sampled tuples of some components, as JSON lines in a file.
 *
 * What:    a line a tuple, as it is emitted:
 *          {"time":"2026-01-02T03:04:05.678901234Z","component":"split","task":3,"stream":"default","values":["a"]}
 *          and "id" before the values when it is a spout's, with a message id. Tuples are formatted on the threads that
 *          emit them and gather in one buffer, under one mutex: lines never mix. The buffer is written when it is full,
 *          when gx_event_log_flush asks, and at the end.
 *          When a write fails the log ends there, behind a whole line, and the run goes on: its results do not depend on
 *          who watches.
 * Threads: events come from any; the rest belongs to the main thread.
 * Owner:   words and path are borrowed for the whole life.
 */
#ifndef GX_CLI_EVENT_LOG_H
#define GX_CLI_EVENT_LOG_H

#include "base/buf.h"
#include "cli/options.h"

#include <gale/runtime.h>
#include <pthread.h>

typedef struct gx_event_log {
    const gx_words *wanted; /* "COMPONENT" or "COMPONENT=PERCENT" */
    const char *path;
    int fd;
    gale_logger logger;
    pthread_mutex_t mutex;
    gx_buf lines;
    gale_error broken; /* the first write that failed */
    bool told;         /* that it is broken */
} gx_event_log;

/* Checks the words against the topology, then opens the file behind what it holds already ("-" is the standard output).
 * Warns of a component that has no outputs. GALE_INVALID, GALE_NOT_FOUND, GALE_IO: then nothing is open. */
int gx_event_log_open(gx_event_log *log, const gx_words *wanted, const char *path, const gale_topology *topology,
                      const gale_logger *logger, gale_error *error);

/* Begins, before the runtime is started; also with another topology than it was opened for, and its runtime. GALE_NOT_FOUND: that lacks
 * a component; GALE_NO_MEMORY. */
int gx_event_log_attach(gx_event_log *log, const gale_topology *topology, gale_runtime *runtime, gale_error *error);

/* Writes what has gathered. Returns the first error that there ever was. True in `ret_news` when that was not returned
 * before: then `error` says it. */
int gx_event_log_flush(gx_event_log *log, bool *ret_news, gale_error *error);

/* Opens the file again by its name, behind what gathered before: another one may have it by now. GALE_IO: events go where they went. */
int gx_event_log_reopen(gx_event_log *log, gale_error *error);

/* Frees, when no event can come any more. GALE_IO: not all that was written has arrived. */
int gx_event_log_close(gx_event_log *log, gale_error *error);

#endif
