#include "base/os/child.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436 /* on all machines of Linux that have it */
#endif
enum { CLOSE_ON_EXEC = 4 }; /* CLOSE_RANGE_CLOEXEC */

static gx_child_fault_fn *faulty;

void gx_child_use(gx_child_fault_fn *fault) {
    faulty = fault;
}

bool gx_child_fails(gx_child_call call) {
    int code = GX_LIKELY(!faulty) ? 0 : faulty(call);
    if (code) errno = code;
    return code != 0;
}

/* --- In the child: calls of the system alone, and nothing is written but its own stack ------------------------------- */

static _Noreturn void give_up(const gx_child_plan *plan, gx_child_step step) {
    gx_child_refusal refusal = { step, errno };
    while (write(plan->report, &refusal, sizeof refusal) < 0 && errno == EINTR) {
    }
    _exit(127);
}

/* Which were ignored would be still behind exec; which had a function would run it here. Those that cannot be set stay. */
static void reset_signals(bool deaf) {
    struct sigaction action = { .sa_handler = deaf ? SIG_IGN : SIG_DFL };
    struct sigaction standard = { .sa_handler = SIG_DFL };
    for (int number = 1; number <= SIGRTMAX; number++)
        (void)sigaction(number, number == SIGCHLD ? &standard : &action, NULL);
}

/* Behind this the parent's end is the child's: it was told to die with it, or is in a group that somebody watches over. Who has
 * another parent by now was late. */
static void join(const gx_child_plan *plan) {
    if (setpgid(0, plan->group) < 0) give_up(plan, GX_CHILD_GROUP);
    if (plan->dies) (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != plan->parent) _exit(127);
}

static void shut(int fd) {
    int flags = fcntl(fd, F_GETFD);
    if (flags >= 0) (void)fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
}

static bool shut_range(unsigned first, unsigned last) {
    if (gx_child_fails(GX_CHILD_CLOSE_RANGE)) return false;
    return syscall(SYS_close_range, first, last, (unsigned)CLOSE_ON_EXEC) == 0;
}

/* A directory's entry, as the system gives it. */
typedef struct entry {
    uint64_t inode;
    int64_t offset;
    uint16_t length;
    uint8_t type;
    char name[];
} entry;

static int number_of(const char *name) {
    int number = 0;
    if (*name < '0' || *name > '9') return -1;
    for (; *name >= '0' && *name <= '9' && number < 100000000; name++) number = number * 10 + (*name - '0');
    return number;
}

/* Those that /proc says are open. */
static bool shut_listed(int first) {
    alignas(entry) char room[2048];
    int folder = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    long got;
    if (folder < 0) return false;
    while ((got = syscall(SYS_getdents64, folder, room, sizeof room)) > 0)
        for (long at = 0; at < got;) {
            const entry *one = (const entry *)(const void *)(room + at);
            int fd = number_of(one->name);
            if (fd >= first) shut(fd);
            at += one->length;
        }
    return close(folder) == 0 && got == 0;
}

/* Closed by exec, so that what was refused can be told until then. Where the kernel has no close_range with that flag (before 5.11)
 * they are walked. */
static void shut_from(const gx_child_plan *plan) {
    enum { WALKED = 65536 };
    if (shut_range((unsigned)plan->above, ~0U) || shut_listed(plan->above)) return;
    for (int fd = plan->above; fd < WALKED; fd++) shut(fd);
}

static void take_fds(const gx_child_plan *plan) {
    size_t next = 0;
    for (int at = 0; at < plan->above; at++) {
        if (next == plan->fd_count || plan->fds[next].at != at)
            shut(at);
        else if (dup2(plan->fds[next++].from, at) < 0)
            give_up(plan, GX_CHILD_FDS);
    }
    shut_from(plan);
}

/* What may not be run says so before what is not there. */
static _Noreturn void run_program(const gx_child_plan *plan) {
    int worst = ENOENT;
    for (char *const *path = plan->programs; *path; path++) {
        if (!gx_child_fails(GX_CHILD_PROGRAM_RUNS)) execve(*path, plan->arguments, plan->environment);
        if (errno != ENOENT && errno != ENOTDIR && worst == ENOENT) worst = errno;
    }
    errno = worst;
    give_up(plan, GX_CHILD_PROGRAM);
}

static _Noreturn void be_child(const gx_child_plan *plan) {
    sigset_t none;
    sigemptyset(&none);
    reset_signals(plan->deaf);
    join(plan);
    take_fds(plan);
    if (plan->folder && chdir(plan->folder) < 0) give_up(plan, GX_CHILD_FOLDER);
    (void)pthread_sigmask(SIG_SETMASK, &none, NULL);
    run_program(plan);
}

/* --- In the parent --------------------------------------------------------------------------------------------------- */

/* Nothing of this function's is touched by the child, which never returns to it. */
static GX_NOINLINE pid_t split(const gx_child_plan *plan) {
    pid_t pid = vfork();
    if (pid == 0) be_child(plan);
    return pid;
}

pid_t gx_child_begin(const gx_child_plan *plan) {
    sigset_t all, before;
    if (gx_child_fails(GX_CHILD_BEGIN)) return -1;
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = split(plan);
    int code = errno;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = code;
    return pid;
}
