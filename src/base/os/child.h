/* A child process between its birth and its program: vfork, and what is done behind it before exec.
 *
 * What:    vfork and not fork: a fork copies the page tables of a process of many gigabytes, and makes each of its pages fault once more; a vfork costs the
 *          same for all. And not posix_spawn, which cannot look whether its parent lives still. The child borrows its parent's memory until it has a
 *          program, so all that it needs is laid out before (gx_child_plan), it calls nothing but the system, and no signal reaches
 *          it meanwhile: the thread that makes it blocks all of them.
 *          (The thread sanitizer makes a fork of it. Nothing here depends on which it is: errors come by a pipe.)
 * Threads: any. What other threads open meanwhile is not inherited: the child closes all that it was not given.
 * Owner:   the caller; the child's number is to be waited for.
 * Errors:  what the system refuses to the child is told to the parent before this returns.
 */
#ifndef GX_BASE_OS_CHILD_H
#define GX_BASE_OS_CHILD_H

#include "base/port.h"

#include <sys/types.h>

/* A descriptor of the parent's, and the number that the child has it under. */
typedef struct gx_child_fd {
    int from; /* above the numbers of all, so that none is in another's way */
    int at;
} gx_child_fd;

typedef struct gx_child_plan {
    char *const *arguments;
    char *const *environment;
    char *const *programs;  /* paths, tried one after the other; ended by NULL */
    const char *folder;     /* to work in; NULL: the parent's */
    const gx_child_fd *fds; /* `at` grows */
    size_t fd_count;
    int above;    /* all numbers of the plan are below, all of `from` and `report` are not */
    int report;   /* where the child tells what was refused; closed by exec */
    pid_t group;  /* to join; 0: one of its own */
    pid_t parent; /* who has to live still */
    bool deaf;    /* signals that can be ignored are */
    bool dies;    /* with the thread that makes it, where nobody watches over its group */
} gx_child_plan;

/* What can be refused to a child. */
typedef enum gx_child_step {
    GX_CHILD_NONE,
    GX_CHILD_GROUP,
    GX_CHILD_FDS,
    GX_CHILD_FOLDER,
    GX_CHILD_PROGRAM,
    GX_CHILD_STEPS,
} gx_child_step;

typedef struct gx_child_refusal {
    int32_t step; /* gx_child_step */
    int32_t code; /* errno */
} gx_child_refusal;

/* The child's number; -1 and errno when there is none. */
pid_t gx_child_begin(const gx_child_plan *plan);

/* The system calls that a test may let fail. */
typedef enum gx_child_call {
    GX_CHILD_PIPE,
    GX_CHILD_PAIR,
    GX_CHILD_OPEN,
    GX_CHILD_MOVE, /* a descriptor to another number */
    GX_CHILD_BLOCKING,
    GX_CHILD_BEGIN,
    GX_CHILD_CLOSE_RANGE,
    GX_CHILD_PIDFD,
    GX_CHILD_PROGRAM_RUNS, /* exec, in the child */
} gx_child_call;

/* Returns the errno with which the call is to fail, or 0. NULL: none fails. To be set while no child is made. */
typedef int gx_child_fault_fn(gx_child_call call);
void gx_child_use(gx_child_fault_fn *fault);

/* Is this call to fail? errno is set then. */
bool gx_child_fails(gx_child_call call);

#endif
