/* One runtime of a session, from its start until it is closed: signals, figures, what is told to a service manager, and what is asked of
 * it.
 *
 *      gx_watching_start --> gx_watching_wait --closed--> gx_watching_conclude, or, where `next` is there, another one with that
 *
 * Threads: the main thread. Owner: runtime and session are borrowed; `next` is whoever takes it. */
#ifndef GX_CLI_WATCHING_H
#define GX_CLI_WATCHING_H

#include "cli/session.h"
#include "cli/summary.h"

typedef struct gx_watching {
    const gx_session *session;
    gx_change *change;         /* what is asked of the session */
    const gx_carried *carried; /* what its runtimes before this one have done */
    gale_runtime *runtime;
    gx_server *server; /* knows what hurts; or NULL */
    gale_logger logger;
    gx_reading before; /* at the last line that was shown, or told */
    gx_reading logged; /* at the last line of figures in the log */
    int64_t started;
    int64_t next_tick;
    int64_t next_figures;
    int64_t stop_at;      /* the drain's bound; INT64_MAX while there is no drain */
    int signal;           /* the first one, or what an end at a door is like, or 0 */
    bool complete;        /* the input had ended when it came */
    bool cut;             /* what was open when the drain began was not all finished */
    int64_t cut_at;       /* when what was open then was stopped; 0: it was not */
    bool at_once;         /* a second signal, a kill, or a signal while components open: nobody is waited for long */
    bool drained;         /* drain_after has been seen to */
    bool told;            /* that the input has ended */
    bool tells_open;      /* what a drain that was asked for finishes is yet to be said */
    int64_t next_request; /* when to look whether somebody asks for a checkpoint */
    gale_topology *next;  /* what is gone on with, once it is closed */
    int64_t change_asked; /* `next` was read then, and nothing is stopped for it yet; 0: it is, or there is none */
    gx_words adopt;       /* with that */
    int64_t still_since;  /* its spouts stand still for that since then */
} gx_watching;

/* So long after the first signal all is to be over, in nanoseconds. */
int64_t gx_watching_end_bound(const gx_session *session);

gx_watching gx_watching_of(const gx_session *session, const gale_logger *logger, gx_change *change,
                           const gx_carried *carried, gale_runtime *runtime);

/* Opens. Signals are heard meanwhile; who does not come back from opening is left behind, and the process ends. */
int gx_watching_start(gx_watching *r, gale_error *error);

/* GALE_TIMED_OUT: a stop has been ignored for a while by a component that is stuck. */
int gx_watching_wait(gx_watching *r, gale_error *error);

/* Says what has become of it, which `code` is of, and returns the exit code. */
int gx_watching_conclude(gx_watching *r, const gale_topology *topology, int code, const gale_error *error);

/* Frees the runtime (which has been waited for already when it is `stuck`). False: a component does not come back, and a thread still uses
 * the topology and the session's logger. */
bool gx_watching_let_go(gx_watching *r, bool stuck);

/* The same of a run that goes on, which waits for a system that is asked to commit and does not answer: it has a timeout. GALE_TIMED_OUT: a signal
 * came first. */
int gx_watching_let_go_on(gx_watching *r);

#endif
