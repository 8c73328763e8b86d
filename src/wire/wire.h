/* wire/wire.h: a connection to a server, by TCP or a UNIX socket, with TLS or without, that is kept and never waited for.
 *
 * What:    the socket of connectors whose protocol has a parser but no socket, or none that can be watched. It is connected, watched (gale/watch.h),
 *          written to through a buffer with an end, and connected again when it is lost:
 *
 *                            ,------ none is found --------------------------------------------.
 *                            |                ,- refused, late: the next address -.            |
 *                            |                v                                   |  the last  v
 *      off --its time--> finding --found--> connecting ---------------------------'----------> off, for a pause that grows
 *       ^                                     '-made--> shaking (TLS) --done--> up --lost, late, wire_fail--^
 *       |                                                 '--refused, late----------------------^
 *       '--- without a task (below): until wire_again
 *
 *          Who has one is told `up`, `heard` when there is something to read, `room` when it was full and is not any more, and `lost` of one that was
 *          up. What is expected (wire_expect) and does not come within the settings' timeout is a loss: a server may hang. The timeout is also that of
 *          connecting, of all addresses together; each may take its part of what is left.
 * Task:    with one (context and collector), its watches make everything go on by itself. In `finish`, where no watch is told, wire_drive does.
 *          Without one (`out` is NULL), for a thread that may wait: wire_drive alone makes it go on, health is nobody's, and a loss is not mended
 *          by itself.
 * Writing: wire_write takes all bytes or none. They go out when 64 KiB are together, behind every callback of `ops`, and by wire_flush: who writes
 *          elsewhere than in a callback flushes when he is done. What a loss finds unsent is gone: it is the connector's to say again.
 * Health:  from the first loss on the task is not well, in words that begin with the settings' `where`, until wire_well. No word of an
 *          error is a secret's. A task that has several says with `health` which this one is: else one would hide the other.
 * Blocks:  nothing waits for the network. The system's resolver does, and has a thread of its own (wire/finding.h); files of TLS are read when it
 *          begins, as quickly as their disk is.
 * Threads: one at a time: the task's. Owner: wire_close, in no callback of `ops`; `given` lives longer.
 * Limits:  WIRE_ADDRESSES of a name are tried; `most` bytes are unsent. */
#ifndef GALE_WIRE_WIRE_H
#define GALE_WIRE_WIRE_H

#include "wire/health.h"
#include "wire/tls.h"
#include "wire/unsent.h"

#include <gale/connect.h>
#include <gale/watch.h>

typedef struct wire wire;

/* Each may be NULL but `heard`. In all of them wire_fail may be called; then `lost` is, before it returns. */
typedef struct wire_ops {
    void (*up)(void *user);
    void (*heard)(void *user); /* is to call wire_read, at least once; what it leaves is told again */
    void (*room)(void *user);  /* wire_write said GALE_AGAIN, and half of the room is free now */
    void (*lost)(void *user);  /* wire.why says why; nothing can be read any more */
} wire_ops;

typedef enum wire_state { WIRE_OFF, WIRE_FINDING, WIRE_CONNECTING, WIRE_SHAKING, WIRE_UP } wire_state;

typedef struct wire_options {
    const wire_settings *given;
    const gale_context *context; /* NULL: without a task */
    gale_collector *out;         /* the same */
    bool always;                 /* its watches are told also while the task may not run */
    wire_health *health;         /* NULL: the task has no other connection */
    unsigned who;                /* in `health` */
    const char *what;            /* what `where` has behind it there: ", dead letters"; NULL: nothing */
    size_t most;                 /* bytes that are unsent; 0: 1 MiB */
    const wire_ops *ops;
    void *user;
} wire_options;

struct wire {
    wire_options options;
    wire_state state;
    char why[WIRE_WHY_MAX]; /* of the last loss */
    bool
        ended; /* the last loss: the server ended the connection, or was wrong; else it is away: silent, or the network is down */
    bool unwell;

    /* Of the connection that there is. */
    wire_finding *finding;
    wire_addresses addresses;
    size_t next_address;
    int fd; /* -1: none */
    wire_tls *tls;
    wire_unsent unsent;
    int32_t read_wants, write_wants; /* what the socket has to be for these to go on */
    bool expects, paused, was_full;

    /* When it goes on. */
    gale_watch watch, timer; /* of `fd`, or of what is being found; of `at` */
    int32_t events;          /* those of `watch` */
    int64_t at;              /* its time; 0: none */
    int64_t until;           /* of connecting, with all addresses */
    bool again;              /* TLS has more: `at` is now */
    gale_backoff backoff;
};

/* With a task it connects by itself, soon; without one wire_again is the first call. What gale_watch_new says, with a report: it is closed then. */
int wire_open(wire *w, const wire_options *options, gale_error *error);

/* TLS says goodbye; what is unsent is not sent any more (wire_unsent_size, wire_drive). Nobody is told. Does nothing to one that is zero. */
void wire_close(wire *w);

/* Connects now, if it is off: without a task; or before its pause is over. */
void wire_again(wire *w);

/* Takes all bytes, or none: GALE_AGAIN, it is full, and `room` will tell; GALE_TOO_LARGE, it never takes so many; GALE_STATE, it is not up;
 * GALE_NO_MEMORY. */
int wire_write(wire *w, const void *bytes, size_t size);

/* Sends what goes without waiting; the rest by itself. */
void wire_flush(wire *w);

/* How many bytes were taken and are not sent. */
size_t wire_unsent_size(const wire *w);

/* Reads at most `size` bytes (not 0): how many; 0: none are there now; GALE_STATE: it is not up, or was lost just now, and `lost` has been told. */
int64_t wire_read(wire *w, void *to, size_t size);

/* Something is expected from now on, or (false) nothing is. What comes has the time begin anew. */
void wire_expect(wire *w, bool something);

/* Nothing is heard meanwhile: who has it is full, and so the server will be. Nothing is late then either. */
void wire_pause(wire *w, bool paused);

/* It is given up, for this, and made again after a pause. */
void wire_fail(wire *w, const char *why);

/* It does what it is for: pauses begin anew, and the task is well. */
void wire_well(wire *w);

/* It cannot do what it is for, up or not. */
void wire_unwell(wire *w, const char *why);

/* Waits for news, at most so many milliseconds, and goes on with what there is. */
void wire_drive(wire *w, int milliseconds);

#endif
