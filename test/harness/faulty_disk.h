/* A disk for tests (base/os/disk.h): the system's, of which the n-th call fails that opens, reads, writes, closes,
 * moves or looks at one folder or what lies below it. A test runs the thing under test with n = 1, 2, 3, ... until no call
 * was left to fail, and looks each time at what came of it.
 * Threads: any while it is in use. Nothing is forced to the real disk: fsync is counted, and does nothing. */
#ifndef TEST_HARNESS_FAULTY_DISK_H
#define TEST_HARNESS_FAULTY_DISK_H

#include "base/atomic.h"

typedef enum faulty_kind {
    FAULTY_ONCE,  /* the n-th call fails with `error`; a close closes all the same */
    FAULTY_SHORT, /* the n-th call, if it reads or writes, does half of it, and says so */
    FAULTY_FULL,  /* from the n-th call on there is no room: the first write takes half, then ENOSPC */
    FAULTY_DEAD,  /* as if the process died in the n-th call: half of a write, and nothing more reaches the disk */
} faulty_kind;

typedef struct faulty_plan {
    const char *folder; /* as it is written in paths */
    faulty_kind kind;
    int error;   /* FAULTY_ONCE */
    uint64_t at; /* n, from 1; 0: nothing fails */
} faulty_plan;

/* Uses it from now on; calls are counted from 1 again. */
void faulty_disk_use(faulty_plan plan);

/* The system's disk again. Returns how many calls failed or were short, which is 0 when n was larger than the number of
 * calls. */
uint64_t faulty_disk_end(void);

/* How many calls were counted since faulty_disk_use: there is no n-th call, when n is larger. */
uint64_t faulty_disk_calls(void);

/* How many files were renamed since then before the disk was waited for: a loss of power could leave the name, and
 * nothing in it. */
uint64_t faulty_disk_hasty(void);

/* Of the call that failed first since faulty_disk_use: its name ("close_written" for the close of what was written to),
 * and the path of its file. "" when none did. */
const char *faulty_disk_hit(void);
const char *faulty_disk_hit_path(void);

/* Watches a path from now on (borrowed; NULL: none): was the file open when the first call failed? */
void faulty_disk_watch(const char *path);
bool faulty_disk_watched(void);

#endif
