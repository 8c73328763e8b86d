#include "base/os/process.h"

#include "base/os/child.h"
#include "base/os/pipe.h"
#include "harness/cm.h"
#include "harness/counting_allocator.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_MS = 120000 }; /* nothing that is waited for takes so long */

/* --- What the tests share -------------------------------------------------------------------------------------------- */

static size_t open_fds(void) {
    DIR *folder = opendir("/proc/self/fd");
    size_t count = 0;
    assert_non_null(folder);
    while (readdir(folder)) count++;
    closedir(folder);
    return count;
}

static size_t fds_before;

static int set_up(void **state) {
    (void)state;
    fds_before = open_fds();
    return 0;
}

/* Nothing is open that was not before, and no child is left, not even a zombie. */
static int tear_down(void **state) {
    (void)state;
    gx_child_use(NULL);
    assert_int_equal(open_fds(), fds_before);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    return 0;
}

static void await_readable(int fd) {
    struct pollfd one = { .fd = fd, .events = POLLIN };
    assert_int_equal(poll(&one, 1, PATIENCE_MS), 1);
}

static void await_end(gx_process *process) {
    while (!gx_process_ended(process)) {
        struct pollfd one = { .fd = process->pidfd, .events = POLLIN };
        assert_true(poll(&one, 1, process->pidfd < 0 ? 5 : PATIENCE_MS) >= 0);
    }
}

/* All that it writes until it closes that; the end is closed. */
static const char *read_all(int fd) {
    static char text[20000];
    size_t size = 0;
    int64_t got;
    for (;;) {
        await_readable(fd);
        got = gx_pipe_read(fd, text + size, sizeof text - 1 - size);
        if (got == 0) break;
        assert_true(got > 0);
        size += (size_t)got;
    }
    text[size] = 0;
    close(fd);
    return text;
}

static void start(gx_process *process, const gx_process_options *options) {
    gale_error error = GALE_ERROR_INIT;
    int rc = gx_process_start(process, NULL, options, &error);
    if (rc < 0) print_error("%s\n", error.text);
    assert_int_equal(rc, 0);
}

/* Runs it to its end; what it wrote. */
static const char *output_of(gx_process_options options, const char *words) {
    gx_process process;
    gx_process_fd out = { .at = 1, .kind = GX_PROCESS_WRITES };
    char how[GX_PROCESS_WORDS];
    options.fds = &out;
    options.fd_count = 1;
    start(&process, &options);
    const char *text = read_all(out.fd);
    await_end(&process);
    assert_string_equal(gx_process_words(&process, how), words);
    gx_process_fini(&process);
    return text;
}

static const char *output(const char *command) {
    return output_of((gx_process_options){ .command = command }, "ended with exit status 0");
}

static void ends_so(const char *command, const char *words, bool succeeded) {
    gx_process process;
    char how[GX_PROCESS_WORDS];
    start(&process, &(gx_process_options){ .command = command });
    await_end(&process);
    assert_string_equal(gx_process_words(&process, how), words);
    assert_int_equal(gx_process_succeeded(&process), succeeded);
    assert_false(gx_process_signal(&process, SIGTERM));
    gx_process_fini(&process);
}

static void refused(const gx_process_options *options, int code, const char *text) {
    gx_process process;
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gx_process_start(&process, NULL, options, &error), code);
    if (!strstr(error.text, text)) print_error("'%s' lacks '%s'\n", error.text, text);
    assert_non_null(strstr(error.text, text));
    assert_int_equal(process.pid, 0);
    assert_int_equal(process.guard, 0);
    assert_int_equal(gx_process_start(&process, NULL, options, NULL), code);
    gx_process_fini(&process);
}

/* --- What is run, and how ------------------------------------------------------------------------------------------- */

static void its_end_is_told_in_words(void **state) {
    (void)state;
    ends_so("exit 0", "ended with exit status 0", true);
    ends_so("exit 3", "ended with exit status 3", false);
    ends_so("kill -KILL $$", "was killed by signal 9 (Killed)", false);
    ends_so("kill -TERM $$", "was killed by signal 15 (Terminated)", false);
    gx_process none = GX_PROCESS_NONE;
    char how[GX_PROCESS_WORDS];
    assert_string_equal(gx_process_words(&none, how), "was not started");
    assert_true(gx_process_ended(&none));
    assert_false(gx_process_succeeded(&none));
    gx_process_fini(&none);
    gx_process_fini(&none);
}

static void words_are_given_as_they_are(void **state) {
    (void)state;
    const char *words[] = { "printf", "<%s>", "a b", "$HOME", "", "'", NULL };
    assert_string_equal(output_of((gx_process_options){ .words = words }, "ended with exit status 0"),
                        "<a b><$HOME><><'>");
    assert_string_equal(output("printf '<%s>' \"a b\" $((1 + 2)) | tr a c"), "<c b><3>");
}

static void the_environment_is_the_parents_with_changes(void **state) {
    (void)state;
    const char *changes[] = { "GALE_A=1", "GALE_B=two words", "GALE_GONE", "GALE_A=last", "GALE_NEVER", NULL };
    setenv("GALE_GONE", "here", 1);
    setenv("GALE_KEPT", "kept", 1);
    setenv("GALE_B", "old", 1);
    gx_process_options options = { .command = "echo $GALE_A,$GALE_B,${GALE_GONE-gone},$GALE_KEPT; env | grep -c GALE_A",
                                   .environment = changes };
    assert_string_equal(output_of(options, "ended with exit status 0"), "last,two words,gone,kept\n1\n");
    assert_string_equal(getenv("GALE_B"), "old");
    unsetenv("GALE_GONE");
    unsetenv("GALE_KEPT");
    unsetenv("GALE_B");
}

static void a_program_is_looked_for_in_the_childs_path(void **state) {
    (void)state;
    char folder[] = "/tmp/gale-process-XXXXXX", file[60], path[90];
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/only-here", folder);
    snprintf(path, sizeof path, "PATH=/nowhere::%s:/bin", folder);
    FILE *script = fopen(file, "w");
    fputs("#!/bin/sh\necho found $1\n", script);
    fclose(script);
    const char *words[] = { "only-here", "it", NULL }, *changes[] = { path, NULL }, *none[] = { "PATH", NULL };
    gx_process_options options = { .words = words, .environment = changes };
    refused(&options, GALE_IO, "cannot run 'only-here': Permission denied");
    assert_int_equal(chmod(file, 0700), 0);
    assert_string_equal(output_of(options, "ended with exit status 0"), "found it\n");
    options.environment = none; /* the usual places */
    refused(&options, GALE_NOT_FOUND, "cannot run 'only-here': there is no such program in PATH");
    options.folder = folder;
    words[0] = "./only-here";
    assert_string_equal(output_of(options, "ended with exit status 0"), "found it\n");
    assert_int_equal(truncate(file, 0), 0);
    refused(&options, GALE_IO, "is no program of this machine (a script begins with #!)");
    assert_int_equal(unlink(file), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void what_keeps_it_from_running_is_told_at_once(void **state) {
    (void)state;
    const char *missing[] = { "/no/such/program", NULL }, *folder[] = { "/tmp", NULL }, *ls[] = { "ls", NULL };
    refused(&(gx_process_options){ .words = missing }, GALE_NOT_FOUND,
            "cannot run '/no/such/program': there is no such program, or not what its first line names");
    refused(&(gx_process_options){ .words = folder }, GALE_IO, "cannot run '/tmp': Permission denied");
    refused(&(gx_process_options){ .words = ls, .folder = "/no/such/folder" }, GALE_NOT_FOUND,
            "cannot run 'ls' in the folder '/no/such/folder': No such file or directory");
    refused(&(gx_process_options){ .command = "true", .folder = "/dev/null" }, GALE_NOT_FOUND,
            "cannot run '/bin/sh' in the folder '/dev/null': Not a directory");
}

static void misuse_is_refused(void **state) {
    (void)state;
    const char *ls[] = { "ls", NULL }, *empty[] = { "", NULL }, *none[] = { NULL };
    gx_process_fd fds[GX_PROCESS_FDS + 1];
    for (int i = 0; i <= GX_PROCESS_FDS; i++) fds[i] = (gx_process_fd){ .at = i, .kind = GX_PROCESS_WRITES };
    refused(&(gx_process_options){ .words = NULL }, GALE_INVALID,
            "is made of a program's words, or of a shell's command");
    refused(&(gx_process_options){ .words = none }, GALE_INVALID, "is made of");
    refused(&(gx_process_options){ .words = empty }, GALE_INVALID, "is made of");
    refused(&(gx_process_options){ .words = ls, .command = "ls" }, GALE_INVALID, "is made of");
    refused(&(gx_process_options){ .words = ls, .fds = fds, .fd_count = GX_PROCESS_FDS + 1 }, GALE_INVALID,
            "at most 16");
    fds[1].at = 0;
    refused(&(gx_process_options){ .words = ls, .fds = fds, .fd_count = 2 }, GALE_INVALID,
            "descriptor 0 is given twice");
    fds[0].at = GX_PROCESS_AT_MAX + 1;
    refused(&(gx_process_options){ .words = ls, .fds = fds, .fd_count = 1 }, GALE_INVALID, "none that it can have");
    fds[0].at = -1;
    refused(&(gx_process_options){ .words = ls, .fds = fds, .fd_count = 1 }, GALE_INVALID, "none that it can have");
    fds[0] = (gx_process_fd){ .at = 0, .kind = GX_PROCESS_KINDS };
    refused(&(gx_process_options){ .words = ls, .fds = fds, .fd_count = 1 }, GALE_INVALID, "none that it can have");
    fds[0] = (gx_process_fd){ .at = 0, .kind = GX_PROCESS_GIVEN, .fd = 1000 };
    refused(&(gx_process_options){ .words = ls, .fds = fds, .fd_count = 1 }, GALE_INVALID,
            "is to be 1000, which is not open");
}

/* --- Descriptors ----------------------------------------------------------------------------------------------------- */

static int refuse_close_range(gx_child_call call) {
    return call == GX_CHILD_CLOSE_RANGE ? ENOSYS : 0;
}

/* Of the shell itself, which opens none for it. */
static const char list_fds[] =
    "n=0; while [ $n -lt 300 ]; do [ -e /proc/$$/fd/$n ] && printf \"$n \"; n=$((n + 1)); done";

static void it_has_the_descriptors_that_it_is_given_and_no_others(void **state) {
    (void)state;
    int extra[3], moved[3];
    for (int i = 0; i < 3; i++) {
        extra[i] = open("/dev/zero", O_RDONLY); /* without O_CLOEXEC */
        moved[i] = fcntl(extra[i], F_DUPFD, 3 + 40 * i);
    }
    gx_process_fd fds[] = { { .at = 7, .kind = GX_PROCESS_GIVEN, .fd = extra[0] },
                            { .at = 1, .kind = GX_PROCESS_WRITES },
                            { .at = 200, .kind = GX_PROCESS_READS } };
    for (int i = 0; i < 2; i++) {
        gx_process process;
        gx_child_use(i ? refuse_close_range : NULL);
        start(&process, &(gx_process_options){ .command = list_fds, .fds = fds, .fd_count = 3 });
        assert_true(fcntl(fds[1].fd, F_GETFL) & O_NONBLOCK);
        assert_true(fcntl(fds[1].fd, F_GETFD) & FD_CLOEXEC);
        assert_true(fcntl(fds[2].fd, F_GETFL) & O_NONBLOCK);
        assert_string_equal(read_all(fds[1].fd), "0 1 2 7 200 ");
        close(fds[2].fd);
        await_end(&process);
        gx_process_fini(&process);
    }
    for (int i = 0; i < 3; i++) close(extra[i]), close(moved[i]);
}

static void what_nothing_is_said_of_is_empty(void **state) {
    (void)state;
    assert_string_equal(output("cat; readlink /proc/$$/fd/0 /proc/$$/fd/2"), "/dev/null\n/dev/null\n");
}

static void pipes_and_sockets_stand_at_the_numbers_that_are_asked_for(void **state) {
    (void)state;
    gx_process_fd fds[] = { { .at = 5, .kind = GX_PROCESS_TALKS },
                            { .at = 3, .kind = GX_PROCESS_READS },
                            { .at = 4, .kind = GX_PROCESS_WRITES } };
    gx_process process;
    char text[20] = "";
    start(&process, &(gx_process_options){
                        .command = "read a <&3; read b <&5; echo $a >&5; echo $b >&4", .fds = fds, .fd_count = 3 });
    assert_int_equal(gx_pipe_write(fds[1].fd, "by pipe\n", 8), 8);
    assert_int_equal(send(fds[0].fd, "by socket\n", 10, MSG_NOSIGNAL), 10);
    await_readable(fds[0].fd);
    assert_int_equal(recv(fds[0].fd, text, sizeof text, 0), 8);
    assert_string_equal(text, "by pipe\n");
    assert_string_equal(read_all(fds[2].fd), "by socket\n");
    await_end(&process);
    close(fds[0].fd);
    close(fds[1].fd);
    gx_process_fini(&process);
}

/* --- Signals --------------------------------------------------------------------------------------------------------- */

static void signals_are_as_they_are_by_default(void **state) {
    (void)state;
    sigset_t some, before;
    sigemptyset(&some);
    sigaddset(&some, SIGTERM);
    sigaddset(&some, SIGUSR1);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &some, &before), 0);
    void (*pipe_before)(int) = signal(SIGPIPE, SIG_IGN);
    void (*int_before)(int) = signal(SIGINT, SIG_IGN);
    const char *words[] = { "grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status", NULL };
    const char *text = output_of((gx_process_options){ .words = words }, "ended with exit status 0");
    signal(SIGPIPE, pipe_before);
    signal(SIGINT, int_before);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
    assert_string_equal(text, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

static void it_is_in_a_group_of_its_own_that_ends_with_it(void **state) {
    (void)state;
    gx_process process;
    gx_process_fd fds[] = { { .at = 1, .kind = GX_PROCESS_WRITES }, { .at = 3, .kind = GX_PROCESS_WRITES } };
    start(&process, &(gx_process_options){ .command = "sleep 1000 & echo $$", .fds = fds, .fd_count = 2 });
    assert_int_equal(getpgid(process.guard), process.guard);
    assert_int_not_equal(process.guard, getpgrp());
    await_end(&process);
    assert_true(gx_process_succeeded(&process));
    assert_int_equal(atoi(read_all(fds[0].fd)), process.pid);
    assert_string_equal(read_all(fds[1].fd), ""); /* the sleeper had it, too: it is gone, or this would wait */
    gx_process_fini(&process);
}

static void await_word(int fd, const char *word) {
    char text[20] = "";
    await_readable(fd);
    assert_true(gx_pipe_read(fd, text, sizeof text - 1) > 0);
    assert_string_equal(text, word);
}

static void start_deaf(gx_process *process, gx_process_fd *out) {
    *out = (gx_process_fd){ .at = 1, .kind = GX_PROCESS_WRITES };
    start(process,
          &(gx_process_options){ .command = "trap 'echo heard' TERM; echo ready; while :; do sleep 1000 & wait; done",
                                 .fds = out,
                                 .fd_count = 1 });
    await_word(out->fd, "ready\n");
}

static void who_ignores_that_it_is_to_end_is_killed(void **state) {
    (void)state;
    gx_process process;
    gx_process_fd out;
    char how[GX_PROCESS_WORDS];
    start_deaf(&process, &out);
    assert_int_equal(gx_process_end(&process, 1000, 500), 1500);
    await_word(out.fd, "heard\n");
    assert_int_equal(gx_process_end(&process, 1499, 500), 1500);
    assert_false(gx_process_ended(&process));
    assert_string_equal(gx_process_words(&process, how), "runs");
    (void)gx_process_end(&process, 1500, 500);
    await_end(&process);
    assert_int_equal(gx_process_end(&process, 1501, 500), INT64_MAX);
    assert_string_equal(gx_process_words(&process, how), "was killed by signal 9 (Killed)");
    close(out.fd);
    gx_process_fini(&process);
}

static void one_that_a_signal_has_ended_is_known_from_one_that_exits(void **state) {
    static const char *const commands[] = { "exit 0", "exit 137", "kill -KILL $$" };
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        gx_process process;
        start(&process, &(gx_process_options){ .command = commands[i] });
        await_end(&process);
        assert_int_equal(gx_process_killed(&process), i == 2);
        gx_process_fini(&process);
    }
}

static void an_end_that_is_waited_for_has_bounds(void **state) {
    (void)state;
    gx_process process;
    gx_process_fd out, in = { .at = 0, .kind = GX_PROCESS_READS };
    char how[GX_PROCESS_WORDS];
    start_deaf(&process, &out);
    gx_process_end_within(&process, GALE_MILLISECOND, GALE_MILLISECOND);
    assert_string_equal(gx_process_words(&process, how), "was killed by signal 9 (Killed)");
    close(out.fd);
    gx_process_fini(&process);

    start(&process, &(gx_process_options){ .command = "exec sleep 1000" });
    gx_process_end_within(&process, 0, INT64_MAX);
    assert_string_equal(gx_process_words(&process, how), "was killed by signal 15 (Terminated)");
    gx_process_fini(&process);

    start(&process, &(gx_process_options){ .command = "cat; exit 4", .fds = &in, .fd_count = 1 });
    close(in.fd);
    gx_process_end_within(&process, INT64_MAX, INT64_MAX);
    assert_string_equal(gx_process_words(&process, how), "ended with exit status 4");
    gx_process_end_within(&process, INT64_MAX, INT64_MAX);
    gx_process_fini(&process);
}

static void one_that_is_stopped_ends_too(void **state) {
    (void)state;
    gx_process process;
    char how[GX_PROCESS_WORDS];
    start(&process, &(gx_process_options){ .command = "exec sleep 1000" });
    assert_true(gx_process_signal(&process, SIGSTOP));
    gx_process_end_within(&process, 0, INT64_MAX);
    assert_string_equal(gx_process_words(&process, how), "was killed by signal 15 (Terminated)");
    gx_process_fini(&process);
}

static void one_that_runs_is_killed_when_it_is_given_back(void **state) {
    (void)state;
    gx_process process;
    gx_process_fd out;
    start_deaf(&process, &out);
    gx_process_fini(&process);
    assert_true(process.ended);
    close(out.fd);
}

static void a_status_that_somebody_took_is_not_known(void **state) {
    (void)state;
    gx_process process;
    char how[GX_PROCESS_WORDS];
    start(&process, &(gx_process_options){ .command = "exit 0" });
    assert_int_equal(waitpid(process.pid, NULL, 0), process.pid);
    assert_true(gx_process_ended(&process));
    assert_false(gx_process_succeeded(&process));
    assert_string_equal(gx_process_words(&process, how), "ended, and somebody else in this process took its status");
    gx_process_fini(&process);
}

/* --- Death with the parent ------------------------------------------------------------------------------------------- */

/* A parent that makes a child of it, says so, and waits to be killed. Descriptor 9 is held by the child and all its own. */
static _Noreturn void be_parent(const gx_process_options *given, int held, int ready) {
    gx_process process;
    gx_process_options options = *given;
    gx_process_fd fds[] = { { .at = 9, .kind = GX_PROCESS_GIVEN, .fd = held }, { .at = 1, .kind = GX_PROCESS_WRITES } };
    options.fds = fds;
    options.fd_count = 2;
    if (gx_process_start(&process, NULL, &options, NULL) < 0) _exit(1);
    char text[10];
    struct pollfd one = { .fd = fds[1].fd, .events = POLLIN };
    if (poll(&one, 1, PATIENCE_MS) != 1 || read(fds[1].fd, text, sizeof text) <= 0) _exit(1);
    close(held);
    if (write(ready, "r", 1) != 1) _exit(1);
    for (;;) pause();
}

/* All that was left comes to this process, to be waited for. */
static void nothing_outlives(const gx_process_options *options) {
    int held[2], ready[2], status;
    assert_int_equal(pipe2(held, O_CLOEXEC), 0);
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    pid_t parent = fork();
    if (parent == 0) be_parent(options, held[1], ready[1]);
    close(held[1]);
    close(ready[1]);
    await_readable(ready[0]);
    char byte = 0;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    assert_int_equal(kill(parent, SIGKILL), 0);
    assert_string_equal(read_all(held[0]), ""); /* nobody has it any more */
    while (waitpid(-1, &status, 0) > 0) assert_true(WIFSIGNALED(status));
    assert_int_equal(errno, ECHILD);
}

static const char *const sleeper[] = { "sh", "-c", "echo ready; trap '' TERM HUP INT; sleep 1000", NULL };

static void no_child_outlives_a_parent_that_is_killed(void **state) {
    (void)state;
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
    for (int i = 0; i < 20; i++) {
        nothing_outlives(&(gx_process_options){ .words = sleeper });
        nothing_outlives(&(gx_process_options){
            .command =
                "{ (trap '' TERM HUP; echo ready >&8; sleep 1000) | (sleep 1000; cat) | tee /dev/null; } 8>&1" });
        nothing_outlives(
            &(gx_process_options){ .command = "(trap '' HUP; sleep 1000 | cat) & echo ready; sleep 1000" });
    }
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0), 0);
}

/* The guard is the one that ignores signals. */
static int miss_shell(gx_child_call call) {
    struct sigaction now;
    if (call != GX_CHILD_PROGRAM_RUNS) return 0;
    return sigaction(SIGTERM, NULL, &now) == 0 && now.sa_handler == SIG_IGN ? ENOENT : 0;
}

static void without_a_shell_the_child_itself_dies_with_its_parent(void **state) {
    (void)state;
    gx_process process;
    const char *sleep[] = { "sleep", "1000", NULL }, *echo[] = { "echo", "ready", NULL };
    gx_child_use(miss_shell);
    assert_string_equal(output_of((gx_process_options){ .words = echo }, "ended with exit status 0"), "ready\n");
    start(&process, &(gx_process_options){ .words = sleep });
    assert_int_equal(process.guard, 0);
    gx_process_end_within(&process, 0, INT64_MAX);
    gx_process_fini(&process);
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
    const char *alone[] = { "sh", "-c", "echo ready; exec sleep 1000", NULL };
    for (int i = 0; i < 20; i++) nothing_outlives(&(gx_process_options){ .words = alone });
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0), 0);
    refused(&(gx_process_options){ .command = "true" }, GALE_NOT_FOUND,
            "cannot run '/bin/sh': there is no such program");
}

/* --- Faults ---------------------------------------------------------------------------------------------------------- */

static int refuse_pidfd(gx_child_call call) {
    return call == GX_CHILD_PIDFD ? ENOSYS : 0;
}

static void without_pidfd_it_is_asked(void **state) {
    (void)state;
    gx_process process;
    gx_child_use(refuse_pidfd);
    start(&process, &(gx_process_options){ .command = "exit 5" });
    assert_int_equal(process.pidfd, -1);
    await_end(&process);
    gx_process_fini(&process);
    start(&process, &(gx_process_options){ .command = "exec sleep 1000" });
    gx_process_end_within(&process, GALE_MILLISECOND, INT64_MAX);
    assert_true(process.ended);
    gx_process_fini(&process);
}

static unsigned calls_left, calls_seen;

static int refuse_one(gx_child_call call) {
    if (call == GX_CHILD_CLOSE_RANGE || call == GX_CHILD_PIDFD || call == GX_CHILD_PROGRAM_RUNS) return 0;
    calls_seen++;
    return calls_left && --calls_left == 0 ? EMFILE : 0;
}

static void a_call_that_fails_leaves_nothing_behind(void **state) {
    (void)state;
    unsigned most = 0;
    for (unsigned n = 0; n <= most; n++) {
        gx_process process;
        gale_error error = GALE_ERROR_INIT;
        gx_process_fd fds[] = { { .at = 0, .kind = GX_PROCESS_READS },
                                { .at = 1, .kind = GX_PROCESS_WRITES },
                                { .at = 4, .kind = GX_PROCESS_TALKS } };
        calls_left = n;
        calls_seen = 0;
        gx_child_use(refuse_one);
        int rc = gx_process_start(&process, NULL, &(gx_process_options){ .command = "cat", .fds = fds, .fd_count = 3 },
                                  &error);
        gx_child_use(NULL);
        if (n == 0) most = calls_seen;
        assert_int_equal(rc, n ? GALE_IO : 0);
        assert_int_equal(error.length > 0, n > 0);
        for (int i = 0; i < 3; i++) {
            if (n) assert_int_equal(fds[i].fd, -1);
            if (!n) close(fds[i].fd);
        }
        gx_process_fini(&process);
        if (n) tear_down(state);
    }
    assert_true(most > 10);
}

static void memory_that_is_out_is_told(void **state) {
    (void)state;
    counting_allocator counting = { 0 };
    gale_allocator handle = counting_handle(&counting);
    gx_heap heap;
    gx_process process;
    const char *words[] = { "true", NULL };
    gx_heap_init(&heap, &handle);
    int rc = GALE_NO_MEMORY;
    for (size_t n = 1; rc == GALE_NO_MEMORY; n++) {
        gale_error error = GALE_ERROR_INIT;
        counting.calls = 0;
        counting.fail_at = n;
        rc = gx_process_start(&process, &heap, &(gx_process_options){ .words = words }, &error);
        if (rc < 0) assert_string_equal(error.text, "cannot run 'true': out of memory");
        gx_process_fini(&process);
        assert_int_equal(counting.blocks, 0);
    }
    assert_int_equal(rc, 0);
}

static void a_thousand_children_leave_nothing_open(void **state) {
    (void)state;
    const char *words[] = { "true", NULL };
    for (int i = 0; i < 1000; i++) {
        gx_process process;
        gx_process_fd fds[] = { { .at = 0, .kind = GX_PROCESS_READS }, { .at = 1, .kind = GX_PROCESS_WRITES } };
        start(&process, &(gx_process_options){ .words = words, .fds = fds, .fd_count = 2 });
        await_end(&process);
        assert_true(gx_process_succeeded(&process));
        close(fds[0].fd);
        close(fds[1].fd);
        gx_process_fini(&process);
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(its_end_is_told_in_words),
        CASE(words_are_given_as_they_are),
        CASE(the_environment_is_the_parents_with_changes),
        CASE(a_program_is_looked_for_in_the_childs_path),
        CASE(what_keeps_it_from_running_is_told_at_once),
        CASE(misuse_is_refused),
        CASE(it_has_the_descriptors_that_it_is_given_and_no_others),
        CASE(what_nothing_is_said_of_is_empty),
        CASE(pipes_and_sockets_stand_at_the_numbers_that_are_asked_for),
        CASE(signals_are_as_they_are_by_default),
        CASE(it_is_in_a_group_of_its_own_that_ends_with_it),
        CASE(who_ignores_that_it_is_to_end_is_killed),
        CASE(one_that_a_signal_has_ended_is_known_from_one_that_exits),
        CASE(an_end_that_is_waited_for_has_bounds),
        CASE(one_that_is_stopped_ends_too),
        CASE(one_that_runs_is_killed_when_it_is_given_back),
        CASE(a_status_that_somebody_took_is_not_known),
        CASE(no_child_outlives_a_parent_that_is_killed),
        CASE(without_a_shell_the_child_itself_dies_with_its_parent),
        CASE(without_pidfd_it_is_asked),
        CASE(a_call_that_fails_leaves_nothing_behind),
        CASE(memory_that_is_out_is_told),
        CASE(a_thousand_children_leave_nothing_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
