/* `gale run --state` on a disk that fails: the n-th call fails, is short, finds no room from then on, or the process dies in
 * it, for every n: of a first run, and of one that goes on from the state of a run that died.
 *
 * What:    a run that a fault met ends with exit code 3 and says which file and why, or it has done all; in either case
 *          the next run, on a disk that is well, ends with the exact result: each line copied once, each count what plain
 *          counting gives, each bad line one dead letter.
 * Usage:   durable_faults [STRIDE [LINES]]: every STRIDE-th n (default 1), with so many lines (default 24). */
#include "durable_rig.h"

#include "cli/session.h"
#include "harness/faulty_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HANGS = 60, DESCRIPTORS = 64 };

typedef struct fault {
    faulty_kind kind;
    int error;
    const char *name;
} fault;

static const fault faults[] = {
    { FAULTY_ONCE, EIO, "EIO" },           { FAULTY_ONCE, ENOSPC, "ENOSPC" }, { FAULTY_SHORT, 0, "a short call" },
    { FAULTY_FULL, 0, "full from there" }, { FAULTY_DEAD, 0, "dead" },
};

enum { FAULTS = sizeof faults / sizeof *faults };

static struct {
    const char *which; /* which run the fault is in */
    const fault *fault;
    uint64_t at;
    uint64_t runs, refused, dead;
} now;

static void wrong(const durable_run *run, const char *what) {
    fprintf(stderr, "%s, %s at call %llu (%s of '%s'), exit code %d: %s\n%s", now.which, now.fault->name,
            (unsigned long long)now.at, faulty_disk_hit(), faulty_disk_hit_path(), run->code, what, run->said);
    exit(1);
}

static int count_descriptors(void) {
    int count = 0;
    for (int fd = 0; fd < DESCRIPTORS; fd++) count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void run_job(durable_run *ret_run) {
    int before = count_descriptors();
    alarm(HANGS);
    durable_rig_run(true, ret_run);
    alarm(0);
    if (count_descriptors() != before) wrong(ret_run, "descriptors were left open");
}

/* --- The run that meets the fault --- */

static bool ends_with(const char *text, const char *end) {
    size_t size = strlen(text), tail = strlen(end);
    return size >= tail && strcmp(text + size - tail, end) == 0;
}

/* Calls that nothing depends on: a lock says its process's number for people; a file that was read is closed, and one that
 * got a number, which the disk has by then, may be closed by a pledge, which has nobody to tell; what a store
 * does when it is closed, behind the last checkpoint, the next opening does again. */
static bool may_be_ignored(void) {
    const char *name = faulty_disk_hit(), *path = faulty_disk_hit_path();
    bool looked = strcmp(name, "about_path") == 0 || strcmp(name, "read_link") == 0;
    bool of_state = strstr(path, "/state/") != NULL && !faulty_disk_watched();
    bool turned = strcmp(name, "close_written") == 0 && ends_with(path, "/out");
    return looked || of_state || turned || strcmp(name, "close") == 0 || ends_with(path, ".lock");
}

static bool must_tell(void) {
    return now.fault->kind == FAULTY_ONCE && !may_be_ignored();
}

static void check_told(const durable_run *run) {
    now.refused++;
    if (!strstr(run->said, "gale: ")) wrong(run, "it has failed, and does not say why");
    if (!strstr(run->said, durable_rig_data())) wrong(run, "it has failed, and names no file");
    const char *why = now.fault->kind == FAULTY_DEAD   ? ""
                      : now.fault->kind == FAULTY_FULL ? strerror(ENOSPC)
                                                       : strerror(now.fault->error);
    if (!strstr(run->said, why)) wrong(run, "it has failed, and does not say what the system said");
}

static void check(const durable_run *run, bool hit) {
    const char *flaw = run->code == GX_EXIT_FAILED ? durable_rig_flaw() : NULL;
    if (run->code != GX_EXIT_FAILED && run->code != GX_EXIT_IO) wrong(run, "this exit code is neither 1 nor 3");
    if (flaw) wrong(run, flaw);
    if (run->code == GX_EXIT_IO && (!hit || now.fault->kind == FAULTY_SHORT))
        wrong(run, "it has failed, and nothing was wrong");
    if (run->code == GX_EXIT_IO) check_told(run);
    if (hit && run->code != GX_EXIT_IO && must_tell()) wrong(run, "a call has failed, and it does not say so");
}

/* Only the process that is dead leaves a lock's file. */
static void check_next(const durable_run *run) {
    if (run->code != GX_EXIT_OK && run->code != GX_EXIT_FAILED) wrong(run, "the next run has failed");
    const char *flaw = durable_rig_flaw();
    if (flaw) wrong(run, flaw);
}

/* --- Every call --- */

/* False when there was no n-th call. */
static bool run_twice(const durable_image *from) {
    static durable_run run;
    durable_image_put(from);
    faulty_disk_use((faulty_plan){ durable_rig_data(), now.fault->kind, now.fault->error, now.at });
    run_job(&run);
    uint64_t calls = faulty_disk_calls();
    check(&run, faulty_disk_end() > 0);
    run_job(&run);
    check_next(&run);
    now.runs++;
    return now.at <= calls;
}

static void each_call(const char *which, const durable_image *from, uint64_t stride) {
    uint64_t calls = 0;
    now.which = which;
    now.runs = now.refused = 0;
    for (int i = 0; i < FAULTS; i++) {
        now.fault = &faults[i];
        for (now.at = 1 + (uint64_t)i % stride; run_twice(from); now.at += stride) calls = now.at;
    }
    printf("%-12s %llu runs, each gone on with, %llu told of the fault; about %llu calls\n", which,
           (unsigned long long)now.runs, (unsigned long long)now.refused, (unsigned long long)calls);
    if (now.refused < now.runs / 4) exit(1);
}

int main(int argc, char **argv) {
    long stride = argc > 1 ? strtol(argv[1], NULL, 10) : 1, lines = argc > 2 ? strtol(argv[2], NULL, 10) : 24;
    static char sink[400];
    durable_image died;
    if (stride < 1 || lines < 20 || lines > DURABLE_LINES_MAX) return 2;
    durable_rig_begin((int)lines);
    snprintf(sink, sizeof sink, "%s", durable_rig_path("out"));
    faulty_disk_watch(sink);
    each_call("a first run", NULL, (uint64_t)stride);
    durable_rig_die(NULL, &died);
    each_call("a next run", &died, (uint64_t)stride);
    durable_image_free(&died);
    durable_rig_end();
    return 0;
}
