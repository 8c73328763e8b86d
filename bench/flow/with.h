/* What a topology can have beside its flow, of which none may change what a tree costs by much: a deadline, a hook, the
 * event log, a tap, replay, an input that drops. Nothing of it happens here: nothing is late, fails or is dropped. */
#ifndef BENCH_FLOW_WITH_H
#define BENCH_FLOW_WITH_H

#include "flow/flow.h"

#include <gale/runtime.h>

typedef struct bench_with {
    const char *name;
    void (*build)(gale_topology *topology, uint64_t *seen);
    void (*begin)(gale_runtime *runtime, uint64_t *seen); /* NULL: nothing to be done */
    bool (*worked)(uint64_t seen, uint64_t trees);        /* was it there? NULL: the topology would have refused it */
    const char *settings;
} bench_with;

/* What the arguments ask for, or NULL. Ends the program when there is no such thing, or not beside this flow. */
const bench_with *bench_with_find(const bench_arguments *arguments);

#endif
