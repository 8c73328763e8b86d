/* What a measured program is told: the protocol between the driver (bench/run.py) and everything that it measures. The
 * flows, the limits and the peers all take the same options; README.md describes them. */
#ifndef BENCH_HARNESS_ARGUMENTS_H
#define BENCH_HARNESS_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct bench_arguments {
    const char *flow;
    bool acks;
    uint32_t executors;
    double seconds; /* a trial */
    double warm;    /* before the first one */
    uint32_t trials;
    uint32_t pending; /* trees open at the most; 0: the program's best setting */
    double rate;      /* trees a second, paced from the intended time; 0: as fast as it goes */
    uint32_t keys;    /* different keys of keyed-count */
    uint32_t tasks;   /* of the measured bolt; 0: as many as the flow thinks best */
    uint32_t spouts;  /* tasks of the spout; 0: as many as the flow thinks best */
    bool spread;      /* the flow's last bolt is put on the last executor; else the engine places everything */
    const char *with; /* what the topology has beside the flow, by name; NULL: nothing */
    uint64_t trees;   /* not 0: run so many on this thread, untimed, for counting instructions */
} bench_arguments;

enum { BENCH_EXECUTORS_MAX = 8, BENCH_TASKS_MAX = 64, BENCH_KEYS_MAX = 10000000 };

/* Ends the program with status 2 and a sentence when the arguments make no sense. */
bench_arguments bench_arguments_read(int argc, char **argv);

/* Ends the program with status 3: it has no such flow, or not with these settings. */
_Noreturn void bench_arguments_lack(const bench_arguments *arguments, const char *program);

/* Is every tree's latency wanted? */
static inline bool bench_arguments_timed(const bench_arguments *arguments) {
    return arguments->acks && (arguments->rate > 0 || arguments->pending == 1);
}

#endif
