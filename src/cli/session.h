/* How the program runs a topology: what the command line says of it, how it speaks, and its exit codes. cli/service.h runs it.
 *
 * What:    SIGINT and SIGTERM drain the runtime within `end_within` (a durable one makes a checkpoint, and stops), and so does SIGHUP when the
 *          terminal has gone; a second SIGINT or SIGTERM stops it at once. A second SIGHUP does not: who closes a terminal may send
 *          several. Whoever asks at a door ends it as these two do. Of a service (`reopens`) another SIGHUP opens logs, sinks and dead letters again.
 */
#ifndef GX_CLI_SESSION_H
#define GX_CLI_SESSION_H

#include "cli/change.h"
#include "cli/event_log.h"
#include "cli/manager.h"
#include "cli/terminal.h"
#include "serve/server.h"

#include <gale/runtime.h>

typedef enum gx_exit {
    GX_EXIT_OK = 0,
    GX_EXIT_FAILED = 1,  /* something failed for good */
    GX_EXIT_USAGE = 2,   /* usage or topology */
    GX_EXIT_IO = 3,      /* input or output */
    GX_EXIT_SIGNAL = 128 /* and the signal's number: it cut the run short */
} gx_exit;

/* What makes the topologies that a run is changed to. On the main thread. */
typedef struct gx_reloader {
    void *user;
    /* Reads and checks the file again, with what is asked for; `*ret_adopt`: what the new one takes that has changed. What is wrong, in
     * words. */
    int (*load)(void *user, const gx_change *change, gale_topology **ret_topology, gx_words *ret_adopt,
                gale_error *error);
    void (*settle)(void *user, gx_change *change, const gale_logger *logger); /* it runs */
} gx_reloader;

typedef struct gx_session {
    gx_terminal *terminal; /* for log lines, errors, the summary */
    const char *log_level; /* NULL: warn */
    uint32_t executors;    /* 0: as many as there are cores */
    uint64_t seed;         /* 0: from the machine's entropy */
    bool until_drained;    /* it was to end with its input: an end by a signal before that is no success */
    bool keep_running;     /* it does not end when its spouts are done */
    bool exit_by_signal;   /* an exit code of GX_EXIT_SIGNAL and more for every run that a signal ended */
    bool quiet;            /* no live figures, no summary */
    bool no_live;          /* no live figures: something else writes to the same screen */
    bool skipped;          /* some of what was to be run could not be read: the exit code is not GX_EXIT_OK */
    bool json;             /* a summary as JSON to `json_fd` */
    int json_fd;
    const gale_store *store;                            /* of a durable run, or NULL */
    gx_words adopt;                                     /* what it takes that has changed */
    const char *state;                                  /* its folder */
    uint64_t end_within;                                /* seconds from a signal to the end; 0: 10 */
    int64_t drain_after;                                /* nanoseconds from the start; 0: never */
    int64_t period;                                     /* of on_tick */
    int64_t figures_every;                              /* nanoseconds between lines of figures in the log; 0: none */
    bool reopens;                                       /* SIGHUP opens files again, unless the terminal has gone */
    void (*on_tick)(void *user, gale_runtime *runtime); /* also at once after the start, and before the summary */
    void *user;
    gx_manager *manager;     /* of services, or NULL */
    gx_reloader reloader;    /* of what is changed while it runs; .load NULL: it is never changed */
    gx_event_log *events;    /* open, or NULL; written while it runs and at the end */
    gx_server_options serve; /* what is served meanwhile */
} gx_session;

/* Reads `log_level`. GALE_INVALID with the nearest name. */
int gx_session_logger(const gx_session *session, gale_logger *ret_logger, gale_error *error);

/* Who is served may ask for the log's level, and change it. */
void gx_session_log_deeds(gx_session *session);

/* Prints "gale: text" and returns `exit_code`. */
int gx_session_refuse(gx_terminal *terminal, const gale_error *error, int exit_code);

/* The exit code for what goes wrong before anything runs: the topology's or the caller's fault, but for input, output
 * and memory. */
int gx_session_exit(int code);

/* Prints `out` to the standard output, frees it, and returns the exit code: what cannot be written is said to `errors`.
 */
int gx_session_print(gx_terminal *errors, gx_buf *out);

/* Says "cannot write to standard output: why", and returns GX_EXIT_IO. `why`: an errno. Where a signal came while its
 * reader did not read, says nothing, and returns GX_EXIT_SIGNAL and its number. */
int gx_session_unwritten(gx_terminal *errors, int why);

/* Is it an error of input or output? */
bool gx_session_is_io(int code);

#endif
