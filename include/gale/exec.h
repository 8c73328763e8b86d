/* gale/exec.h: commands as sources and sinks: what one writes becomes tuples, tuples become what one reads.
 *
 * What:    a spout that runs a command and emits its output, record by record, and a bolt that runs one and writes tuples to its
 *          input as lines; built on gale/component.h and gale/watch.h. Each task runs its own.
 * Child:   it has its standard streams and no other descriptor, a process group of its own, signals as they are by default, the
 *          environment of this process with changes, and GALE_TASK (from 0) and GALE_TASKS in it. When it ends, what it has left in its
 *          group is killed; it and its group end with this process, however that ends. What leaves the group (setsid,
 *          a daemon) is out of reach. What it writes to its standard error is logged, and never holds it back.
 * Threads: any thread for the functions here. A task never waits for its child but at its end, within bounds.
 * Owner:   arguments are copied. A definition that is not added must be given back: d.free_user(d.user).
 * Misuse:  every function checks, as in gale/kit.h.
 * Limits:  a kernel without pidfd (before 5.3) is asked for the child's end every 50 ms. Where a component is driven by hand no
 *          descriptors are watched: GALE_UNSUPPORTED. A child keeps the machine's time: a test on virtual time has a mock in its place. */
#ifndef GALE_EXEC_H
#define GALE_EXEC_H

#include <gale/component.h>

GALE_BEGIN

/* When a child that has ended is started again. */
typedef enum gale_exec_restart {
    GALE_EXEC_NEVER,   /* one that failed stops the run, with its last words */
    GALE_EXEC_FAILURE, /* when it failed: was killed, or ended with another exit status than 0 */
    GALE_EXEC_ALWAYS,
} gale_exec_restart;

/* What becomes of its standard error. */
typedef enum gale_exec_errors {
    GALE_EXEC_LOG, /* its lines are logged as warnings: at most 1,000 bytes of each, and ten a second; what is left out is counted */
    GALE_EXEC_DROP, /* they are read, and the last one is kept to be told when it fails */
} gale_exec_errors;

/* What is run, and how. Of `command` and `words` one is given.
 *
 * A child that is started again waits `restart_wait` seconds before, twice as long after each one that failed in a row, up to
 * `restart_wait_max`, each time between half of it and all, by chance, so that not all of many come back at once. One that has run
 * for `restart_wait_max` begins anew. The `restart_max`th in a row that fails stops the run. */
typedef struct gale_exec_command {
    size_t size;
    const char *command;      /* a text for /bin/sh -c */
    const char *const *words; /* a program, looked for in PATH, and its arguments, without a shell; ended by NULL */
    const char *folder;       /* where it works; NULL: where this process does */
    const char *const *environment; /* "NAME=value", or "NAME", which it is not to have; ended by NULL; may be NULL */
    int32_t restart;                /* gale_exec_restart */
    double restart_wait;            /* seconds; 0: 1 */
    double restart_wait_max;        /* seconds; 0: 60 */
    uint32_t restart_max;           /* 0: no bound */
    int32_t errors;                 /* gale_exec_errors */
    double
        stop_wait; /* seconds that it has behind SIGTERM, before SIGKILL; and before that, where it has closed the pipe and lives on;
                         a sink's where the run is cut short at most 1; 0: 5 */
} gale_exec_command;

/* How the output is cut into records. */
typedef enum gale_exec_records {
    GALE_EXEC_LINES, /* without their ends, "\n" or "\r\n" */
    GALE_EXEC_NUL,   /* ended by a NUL, as find -print0 has them */
} gale_exec_records;

/* Emits the records of a command's output, tracked. Output: (line): a string, or bytes when it is not UTF-8. With `emit` also
 * number (from 1, over all that this task has run). A record that fails is emitted again, until it has been tried
 * `max_attempts` times; then it is reported and given up. What stands behind the last end of a record is one, too, but of a command that was killed by a signal:
 * then it is dropped, counted and logged. Obeys `gale.rate` (records a second and task).
 *
 * It reads while it may emit, and no further: a child that is faster than the topology waits in its write. When the child has ended
 * with exit status 0 and all was emitted, the spout is done, unless it is to be started again; a child that has failed and is not to be
 * started again stops the run (GALE_COMPONENT), in words. One that has closed its output has `stop_wait` to end by itself; then it is
 * ended, and taken for done. At the end of a run the child is told to end (SIGTERM to its group), and killed after `stop_wait`.
 * While the topology is deactivated it lives on, and waits when the pipe is full.
 *
 * In a durable run (gale/state.h) the records that are open are part of each checkpoint. What a command has written cannot be had again: a run
 * that goes on starts it anew, and what was read since the last checkpoint is lost, unless the command says it again. */
typedef struct gale_exec_spout_options {
    size_t size;
    const gale_exec_command *run;
    uint32_t max_attempts; /* 0: 3 */
    const char *emit;      /* the output's fields: "line, number", or one of them; NULL: "line" */
    int32_t records;       /* gale_exec_records */
    uint64_t
        max_record; /* bytes; a longer one is cut, or dropped, and counted; 0: 1 MiB, at most GALE_EXEC_RECORD_MAX */
    bool drop_long;
} gale_exec_spout_options;
#define GALE_EXEC_RECORD_MAX ((uint64_t)64 << 20)
GALE_API GALE_MUST_USE int gale_exec_spout(const gale_exec_spout_options *options, gale_spout *ret_spout,
                                           gale_error *error);

/* Writes each tuple as a line to a command's input, in order. A tuple is acked when the child has read its line: out of
 * the pipe, which is as far as can be seen. Until then it is held. So what is promised is at least once *into the child*: what it has read
 * and not done (its buffers have thousands of lines) is lost when it is killed. While `max_bytes` of lines wait, those who feed the sink are held
 * back (gale_congest): what waits is bounded by that and what was in its queue. What it holds does not time out: its trees'
 * timeouts begin anew again and again.
 *
 * A child that ends, or closes its input, before the input of the run does: with `restart` what it had not read is
 * written to the next one, in order, a line of which it had read a part from its beginning. Otherwise it fails
 * (GALE_REASON_CHILD_EXITED), and the run stops (GALE_COMPONENT), in words. SIGPIPE is raised for nobody.
 *
 * One that failed when it had read something, and is started again, is reported with its status and how many lines it had read: whether they
 * were done, it alone knew. The run goes on, and ends with GALE_COMPONENT.
 *
 * When everything has drained (no tuple waits for an answer any more: a child that does not read what spouts wait for holds that up), what waits is written, the
 * child's input is closed, and its end awaited: it has `finish_wait` from the last line that it has read. The log says once that it takes long. Then it is told to end, and killed after `stop_wait`. If it has not
 * ended with exit status 0, the run ends with GALE_COMPONENT, in words. Where the run ends otherwise, and is not durable, its input is closed; if it does
 * not end within half a second it is told to, and killed after `stop_wait`, at most a second, which the log says with how many lines it had read.
 *
 * In a durable run (gale/state.h) what is held is part of each checkpoint, and is written again by a run that goes on. One that is suspended waits for the
 * child's end as above. What the child has read and not done when both are killed is lost, which the log says at the start:
 * docs/api/exec.md tells how a command is made safe. */
typedef enum gale_exec_format {
    GALE_EXEC_TSV, /* as gale_file_format of gale/file.h has them */
    GALE_EXEC_JSON,
    GALE_EXEC_CSV,
    GALE_EXEC_TEXT,
} gale_exec_format;
typedef struct gale_exec_sink_options {
    size_t size;
    const gale_exec_command *run;
    int32_t format;     /* gale_exec_format */
    const char *fields; /* what is written, in this order: "path, count"; NULL or "": all, of TEXT the first */
    uint64_t max_bytes; /* of lines that wait; 0: 1 MiB */
    double finish_wait; /* seconds; 0: 60 */
} gale_exec_sink_options;
GALE_API GALE_MUST_USE int gale_exec_sink_bolt(const gale_exec_sink_options *options, gale_bolt *ret_bolt,
                                               gale_error *error);

GALE_END

#endif
