#include "base/os/process.h"

#include "base/os/child.h"
#include "base/os/child_text.h"
#include "base/os/time.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434 /* on all machines of Linux that have it */
#endif

static const gx_process nothing = GX_PROCESS_NONE;

static void shut(int *fd) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

/* --- Descriptors ----------------------------------------------------------------------------------------------------- */

/* What a start has open until the child runs. */
typedef struct start {
    const gx_process_options *options;
    gx_child_fd child[GX_PROCESS_FDS + 3];
    size_t count;
    int above;
    int report[2];
} start;

static int refuse(gale_error *error, const char *what) {
    return gale_error_set(error, errno == ENOMEM ? GALE_NO_MEMORY : GALE_IO, "a child process cannot have %s: %s", what,
                          strerror(errno));
}

static const gx_process_fd *find(const gx_process_options *options, int at) {
    for (size_t i = 0; i < options->fd_count; i++)
        if (options->fds[i].at == at) return &options->fds[i];
    return NULL;
}

static int check_fd(const gx_process_options *options, size_t i, gale_error *error) {
    const gx_process_fd *fd = &options->fds[i];
    if (fd->kind < 0 || fd->kind >= GX_PROCESS_KINDS || fd->at < 0 || fd->at > GX_PROCESS_AT_MAX)
        return gale_error_set(error, GALE_INVALID,
                              "a child process: descriptor %d of kind %d is none that it can have (0 to %d)", fd->at,
                              fd->kind, GX_PROCESS_AT_MAX);
    if (find(options, fd->at) != fd)
        return gale_error_set(error, GALE_INVALID, "a child process: descriptor %d is given twice", fd->at);
    if (fd->kind == GX_PROCESS_GIVEN && fcntl(fd->fd, F_GETFD) < 0)
        return gale_error_set(error, GALE_INVALID, "a child process: its descriptor %d is to be %d, which is not open",
                              fd->at, fd->fd);
    return 0;
}

static int check(const gx_process_options *options, gale_error *error) {
    bool has_words = options->words && options->words[0] && *options->words[0];
    if (has_words == (options->command != NULL))
        return gale_error_set(error, GALE_INVALID,
                              "a child process is made of a program's words, or of a shell's command");
    if (options->fd_count > GX_PROCESS_FDS)
        return gale_error_set(error, GALE_INVALID, "a child process is given %zu descriptors, at most %d",
                              options->fd_count, GX_PROCESS_FDS);
    for (size_t i = 0; i < options->fd_count; i++) {
        int rc = check_fd(options, i, error);
        if (rc < 0) return rc;
    }
    return 0;
}

/* A copy that is in no number's way. */
static int move_up(int fd, int above) {
    return gx_child_fails(GX_CHILD_MOVE) ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, above);
}

/* The child's end moves up, and what it was is closed. */
static int add(start *s, int fd, int at, bool close_it, gale_error *error) {
    int moved = move_up(fd, s->above), code = errno;
    if (close_it) close(fd);
    errno = code;
    if (moved < 0) return refuse(error, "a descriptor");
    s->child[s->count++] = (gx_child_fd){ moved, at };
    return 0;
}

static int add_null(start *s, int at, gale_error *error) {
    int fd = gx_child_fails(GX_CHILD_OPEN) ? -1 : open("/dev/null", O_RDWR | O_CLOEXEC);
    return fd < 0 ? refuse(error, "/dev/null") : add(s, fd, at, true, error);
}

static int make_ends(const gx_process_fd *fd, int ends[2]) {
    if (fd->kind == GX_PROCESS_TALKS)
        return gx_child_fails(GX_CHILD_PAIR) ? -1 : socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
    return gx_child_fails(GX_CHILD_PIPE) ? -1 : pipe2(ends, O_CLOEXEC);
}

static int unblock(int fd) {
    int flags = gx_child_fails(GX_CHILD_BLOCKING) ? -1 : fcntl(fd, F_GETFL);
    return flags < 0 ? -1 : fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

static int add_pair(start *s, gx_process_fd *fd, gale_error *error) {
    int ends[2];
    if (make_ends(fd, ends) < 0) return refuse(error, fd->kind == GX_PROCESS_TALKS ? "a socket" : "a pipe");
    int own = fd->kind == GX_PROCESS_READS ? 1 : 0;
    int rc = unblock(ends[own]) < 0 ? refuse(error, "a pipe that does not block") : 0;
    if (rc == 0)
        rc = add(s, ends[1 - own], fd->at, true, error);
    else
        close(ends[1 - own]);
    if (rc == 0)
        fd->fd = ends[own];
    else
        close(ends[own]);
    return rc;
}

/* In the order of the child's numbers. */
static int add_all(start *s, gale_error *error) {
    int rc = 0;
    for (int at = 0; rc == 0 && at < s->above; at++) {
        gx_process_fd *fd = (gx_process_fd *)(uintptr_t)find(s->options, at);
        if (!fd)
            rc = at < 3 ? add_null(s, at, error) : 0;
        else
            rc = fd->kind == GX_PROCESS_GIVEN ? add(s, fd->fd, at, false, error) : add_pair(s, fd, error);
    }
    return rc;
}

static int add_report(start *s, gale_error *error) {
    if (gx_child_fails(GX_CHILD_PIPE) || pipe2(s->report, O_CLOEXEC) < 0) return refuse(error, "a pipe");
    int moved = move_up(s->report[1], s->above), code = errno;
    shut(&s->report[1]);
    s->report[1] = moved;
    errno = code;
    return moved < 0 ? refuse(error, "a descriptor") : 0;
}

static start start_of(const gx_process_options *options) {
    start s = { .options = options, .above = 3, .report = { -1, -1 } };
    for (size_t i = 0; i < options->fd_count; i++)
        if (options->fds[i].at >= s.above) s.above = options->fds[i].at + 1;
    return s;
}

/* The child's ends; and of a child that was not made, the parent's. */
static void end_start(start *s, bool made) {
    for (size_t i = 0; i < s->count; i++) close(s->child[i].from);
    for (size_t i = 0; !made && i < s->options->fd_count; i++) {
        gx_process_fd *fd = &s->options->fds[i];
        if (fd->kind != GX_PROCESS_GIVEN) shut(&fd->fd);
    }
    shut(&s->report[0]);
    shut(&s->report[1]);
}

/* --- Its birth ------------------------------------------------------------------------------------------------------- */

static int64_t read_refusal(int fd, gx_child_refusal *refusal) {
    ssize_t got;
    do got = read(fd, refusal, sizeof *refusal);
    while (got < 0 && errno == EINTR);
    return got;
}

static void reap(pid_t pid) {
    int status;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
}

/* How what was asked for is called in reports. */
static const char *name_of(const gx_process_options *options) {
    return options->command ? "/bin/sh" : options->words[0];
}

static int explain(const gx_process_options *options, const gx_child_refusal *refusal, gale_error *error) {
    int code = refusal->code;
    bool missing = code == ENOENT || code == ENOTDIR;
    const char *why = strerror(code), *program = name_of(options);
    switch (refusal->step) {
    case GX_CHILD_PROGRAM:
        if (code == ENOENT)
            return gale_error_set(error, GALE_NOT_FOUND, "cannot run '%s': there is no such program%s", program,
                                  strchr(program, '/') ? ", or not what its first line names" : " in PATH");
        if (code == ENOEXEC)
            return gale_error_set(
                error, GALE_IO, "cannot run '%s': it is no program of this machine (a script begins with #!)", program);
        return gale_error_set(error, code == ENOMEM ? GALE_NO_MEMORY : GALE_IO, "cannot run '%s': %s", program, why);
    case GX_CHILD_FOLDER:
        return gale_error_set(error, missing ? GALE_NOT_FOUND : GALE_IO, "cannot run '%s' in the folder '%s': %s",
                              program, options->folder, why);
    case GX_CHILD_GROUP:
        return gale_error_set(error, GALE_IO, "cannot run '%s' in a group of its own: %s", program, why);
    default: return gale_error_set(error, GALE_IO, "cannot give '%s' its descriptors: %s", program, why);
    }
}

/* Waits until the program runs, or it is told why not. */
static int await_program(start *s, pid_t pid, gale_error *error) {
    gx_child_refusal refusal = { GX_CHILD_NONE, 0 };
    shut(&s->report[1]);
    if (read_refusal(s->report[0], &refusal) != (int64_t)sizeof refusal) return 0;
    reap(pid);
    return explain(s->options, &refusal, error);
}

static int run(start *s, gx_child_plan *plan, pid_t *ret_pid, gale_error *error) {
    int rc = add_all(s, error);
    if (rc == 0) rc = add_report(s, error);
    if (rc < 0) return rc;
    plan->fds = s->child;
    plan->fd_count = s->count;
    plan->above = s->above;
    plan->report = s->report[1];
    plan->folder = s->options->folder;
    plan->parent = getpid();
    pid_t pid = gx_child_begin(plan);
    if (pid < 0)
        return gale_error_set(error, errno == ENOMEM ? GALE_NO_MEMORY : GALE_IO, "cannot run '%s': %s%s",
                              name_of(s->options), strerror(errno), errno == EAGAIN ? " (too many processes)" : "");
    rc = await_program(s, pid, error);
    if (rc == 0) *ret_pid = pid;
    return rc;
}

/* Runs it with what is laid out; the parent's ends are open when it runs. */
static int run_with(const gx_process_options *options, gx_child_plan *plan, pid_t *ret_pid, gale_error *error) {
    start s = start_of(options);
    int rc = run(&s, plan, ret_pid, error);
    end_start(&s, rc == 0);
    return rc;
}

/* --- The guard ------------------------------------------------------------------------------------------------------- */

static char sh_name[] = "sh", sh_path[] = "/bin/sh", sh_option[] = "-c";
static char guard_text[] = "read -r end; kill -KILL 0";

/* It has no memory of its parent's (a child that was only forked would keep all of it), hears no signal but SIGKILL, and holds no folder. */
static int start_guard(gx_process *process, gale_error *error) {
    char *arguments[] = { sh_name, sh_option, guard_text, NULL }, *programs[] = { sh_path, NULL }, *none[] = { NULL };
    gx_process_fd life = { .at = 0, .kind = GX_PROCESS_READS, .fd = -1 };
    gx_process_options options = { .command = guard_text, .folder = "/", .fds = &life, .fd_count = 1 };
    gx_child_plan plan = { .arguments = arguments, .environment = none, .programs = programs, .deaf = true };
    int rc = run_with(&options, &plan, &process->guard, error);
    if (rc == 0) process->life = life.fd;
    return rc;
}

static void end_guard(gx_process *process) {
    if (!process->guard) return;
    (void)kill(-process->guard, SIGKILL); /* the number is the group's until the guard was waited for */
    reap(process->guard);
    process->guard = 0;
    shut(&process->life);
}

/* --- Starting -------------------------------------------------------------------------------------------------------- */

static int open_pidfd(pid_t pid) {
    if (gx_child_fails(GX_CHILD_PIDFD)) return -1;
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    return fd;
}

static int start_child(gx_process *process, gx_heap *heap, const gx_process_options *options, gale_error *error) {
    gx_child_text text;
    gx_child_plan plan = { .group = process->guard, .dies = !process->guard };
    int rc = gx_child_text_init(&text, heap, options->words, options->command, options->environment);
    if (rc < 0) return gale_error_set(error, rc, "cannot run '%s': out of memory", name_of(options));
    plan.arguments = text.arguments;
    plan.environment = text.environment;
    plan.programs = text.programs;
    rc = run_with(options, &plan, &process->pid, error);
    gx_child_text_fini(&text);
    if (rc == 0) process->pidfd = open_pidfd(process->pid);
    return rc;
}

int gx_process_start(gx_process *process, gx_heap *heap, const gx_process_options *options, gale_error *error) {
    *process = nothing;
    int rc = check(options, error);
    if (rc < 0) return rc;
    for (size_t i = 0; i < options->fd_count; i++)
        if (options->fds[i].kind != GX_PROCESS_GIVEN) options->fds[i].fd = -1;
    rc = start_guard(process, error);
    if (rc == GALE_NOT_FOUND && !options->command) rc = 0; /* no /bin/sh */
    if (rc == 0) rc = start_child(process, heap, options, error);
    if (rc < 0) {
        end_guard(process);
        *process = nothing;
    }
    return rc;
}

/* --- Its end --------------------------------------------------------------------------------------------------------- */

static bool take_status(gx_process *process) {
    int status = 0;
    pid_t got;
    do got = waitpid(process->pid, &status, WNOHANG);
    while (got < 0 && errno == EINTR);
    if (got == 0) return false;
    process->status = status;
    process->known = got == process->pid;
    return true;
}

bool gx_process_ended(gx_process *process) {
    if (process->ended || !process->pid) return true;
    if (!take_status(process)) return false;
    process->ended = true;
    end_guard(process);
    return true;
}

bool gx_process_succeeded(const gx_process *process) {
    return process->ended && process->known && WIFEXITED(process->status) && WEXITSTATUS(process->status) == 0;
}

bool gx_process_killed(const gx_process *process) {
    return process->ended && process->known && WIFSIGNALED(process->status);
}

const char *gx_process_words(const gx_process *process, char to[GX_PROCESS_WORDS]) {
    int status = process->status;
    if (!process->pid)
        snprintf(to, GX_PROCESS_WORDS, "was not started");
    else if (!process->ended)
        snprintf(to, GX_PROCESS_WORDS, "runs");
    else if (!process->known)
        snprintf(to, GX_PROCESS_WORDS, "ended, and somebody else in this process took its status");
    else if (WIFEXITED(status))
        snprintf(to, GX_PROCESS_WORDS, "ended with exit status %d", WEXITSTATUS(status));
    else
        snprintf(to, GX_PROCESS_WORDS, "was killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    return to;
}

/* Its number stays its own until it was waited for. */
bool gx_process_signal(gx_process *process, int number) {
    if (gx_process_ended(process)) return false;
    pid_t whom = process->guard ? -process->guard : -process->pid;
    return kill(whom, number) == 0;
}

int64_t gx_process_end(gx_process *process, int64_t now, int64_t patience) {
    if (gx_process_ended(process)) return INT64_MAX;
    if (!process->told) {
        process->told = true;
        process->kill_at = patience > INT64_MAX - now ? INT64_MAX : now + patience;
        (void)gx_process_signal(process, SIGTERM);
        (void)gx_process_signal(process, SIGCONT); /* one that was stopped hears it now */
    }
    if (now < process->kill_at) return process->kill_at;
    (void)gx_process_signal(process, SIGKILL);
    return gx_process_ended(process) ? INT64_MAX : now + GX_PROCESS_LOOK;
}

/* Until it has ended, or so long. */
static bool await_end(gx_process *process, int64_t until) {
    while (!gx_process_ended(process)) {
        int64_t left = until - gx_os_monotonic();
        if (left <= 0) return false;
        struct pollfd one = { .fd = process->pidfd, .events = POLLIN };
        int64_t pause = process->pidfd >= 0 || left < GX_PROCESS_LOOK ? left : GX_PROCESS_LOOK;
        int64_t milliseconds = pause / GALE_MILLISECOND + 1;
        (void)poll(&one, 1, milliseconds < INT32_MAX ? (int)milliseconds : INT32_MAX);
    }
    return true;
}

static int64_t later(int64_t pause) {
    int64_t now = gx_os_monotonic();
    return pause > INT64_MAX - now ? INT64_MAX : now + pause;
}

void gx_process_end_within(gx_process *process, int64_t leisure, int64_t patience) {
    if (leisure > 0 && await_end(process, later(leisure))) return;
    if (!process->told) (void)gx_process_end(process, gx_os_monotonic(), patience);
    if (await_end(process, later(patience))) return;
    gx_process_fini(process);
}

/* What was killed and does not go hangs in the kernel, as in a file system that is gone: it is left to that. */
void gx_process_fini(gx_process *process) {
    enum { KILLED_SECONDS = 5 };
    if (process->pid && !gx_process_ended(process)) {
        (void)gx_process_signal(process, SIGKILL);
        (void)await_end(process, later(KILLED_SECONDS * GALE_SECOND));
    }
    end_guard(process);
    shut(&process->pidfd);
}
