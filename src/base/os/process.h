/* Child processes: a program, the descriptors that it is given and nothing else of its parent's, its end in words.
 *
 * What:    gx_process_start runs a program in a group of its own: with these descriptors and no others (the first three are /dev/null where
 *          nothing is said), this folder, these changes to the environment, signals as they are by default and none blocked. When
 *          it returns, the program runs; what kept it from that is told in words.
 *
 *              start --> runs --its end, told by pidfd--> gx_process_ended: the status
 *                          |                                  ^
 *                          +--gx_process_end: SIGTERM to the group --> a while --> SIGKILL
 *
 * Its end: a child's group ends with it: what it has left in the background is killed. And all of it ends with the parent, however that
 *          does, kill -9 included: a guard (a sleeping /bin/sh) is the first of the group. It waits for the end of a pipe that the parent alone
 *          has the other end of, and kills the group then. So it does not matter which thread has made the child, and
 *          children of the child go, too, as those of a pipeline. Where there is no /bin/sh, the child itself is told to die with its parent
 *          (PR_SET_PDEATHSIG): its own children are not, it dies already when the *thread* that made it ends, and a program that
 *          changes its user is not told. Out of reach is, in any case, what leaves the group (setsid, a daemon).
 * Threads: one at a time. Nothing blocks but gx_process_start, until the program runs, and gx_process_end_within.
 * Owner:   the caller; gx_process_fini gives back all, and kills what runs still. The parent's ends of pipes are the caller's, to close.
 * Limits:  GX_PROCESS_FDS descriptors. A process that ignores SIGCHLD or waits for all children takes the status away: it is not known then. Where the parent was forked and
 *          its copy goes on without exec, the guard waits for the end of both. A kernel before 5.3 has no pidfd (-1): then gx_process_ended is to be asked now and then (GX_PROCESS_LOOK).
 */
#ifndef GX_BASE_OS_PROCESS_H
#define GX_BASE_OS_PROCESS_H

#include "base/alloc.h"

#include <gale/clock.h>
#include <gale/error.h>
#include <sys/types.h>

enum { GX_PROCESS_FDS = 16, GX_PROCESS_AT_MAX = 255, GX_PROCESS_WORDS = 80 };
#define GX_PROCESS_LOOK (50 * GALE_MILLISECOND)

typedef enum gx_process_kind {
    GX_PROCESS_GIVEN,  /* `fd`, as it is */
    GX_PROCESS_READS,  /* a pipe that the child reads */
    GX_PROCESS_WRITES, /* a pipe that the child writes */
    GX_PROCESS_TALKS,  /* a socket that the child reads and writes */
    GX_PROCESS_KINDS,
} gx_process_kind;

typedef struct gx_process_fd {
    int at; /* the child's number of it */
    int32_t kind;
    int fd; /* GX_PROCESS_GIVEN: to give; else the parent's end is put here: not blocking, closed by exec */
} gx_process_fd;

typedef struct gx_process_options {
    const char *const *words; /* the program, looked for in the child's PATH, and its arguments; ended by NULL */
    const char *command;      /* or a text for /bin/sh -c */
    const char *const
        *environment;   /* "NAME=value", or "NAME": without it; over the parent's; ended by NULL; may be NULL */
    const char *folder; /* NULL: the parent's */
    gx_process_fd *fds; /* each `at` once, in any order */
    size_t fd_count;
} gx_process_options;

typedef struct gx_process {
    pid_t pid;   /* 0: none */
    pid_t guard; /* whose group it is; 0: none */
    int pidfd;   /* readable when it has ended; -1: the kernel has none */
    int life;    /* the guard waits for its end */
    bool ended;
    bool known; /* `status` is what the system said */
    bool told;  /* to end */
    int status;
    int64_t kill_at;
} gx_process;

#define GX_PROCESS_NONE                                                                                                \
    { .pid = 0, .pidfd = -1, .life = -1 }

/* GALE_INVALID (options that make no sense, a descriptor that is not open), GALE_NOT_FOUND (no such program or folder), GALE_IO (it may
 * not be run, or the system has no more of something), GALE_NO_MEMORY: nothing runs then, and nothing is open. `heap` is for while it lasts. */
int gx_process_start(gx_process *process, gx_heap *heap, const gx_process_options *options, gale_error *error);

/* Has it ended? Then its group has as well, and its status is there. Without waiting. `pidfd` stays open, as it may be watched. */
bool gx_process_ended(gx_process *process);

/* Of one that has ended: did it so with exit status 0? */
bool gx_process_succeeded(const gx_process *process);

/* The same: was it a signal that ended it? */
bool gx_process_killed(const gx_process *process);

/* "ended with exit status 3", "was killed by signal 9 (Killed)". Returns `to`. */
const char *gx_process_words(const gx_process *process, char to[GX_PROCESS_WORDS]);

/* To all of its group. False when it has ended. */
bool gx_process_signal(gx_process *process, int number);

/* It is to end: SIGTERM to the group now, SIGKILL when `patience` (ns) is over. To be called again, at the time that is returned at the
 * latest (of the clock that `now` is of), until it has ended: INT64_MAX then. */
int64_t gx_process_end(gx_process *process, int64_t now, int64_t patience);

/* The same, and waits for it: at most `leisure` (ns) for it to end by itself, then `patience` until it is killed. */
void gx_process_end_within(gx_process *process, int64_t leisure, int64_t patience);

/* Kills what runs still, and waits for that. Also of one that has not started (GX_PROCESS_NONE). */
void gx_process_fini(gx_process *process);

#endif
