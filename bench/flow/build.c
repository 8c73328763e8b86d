#include "flow/flow.h"

#include <stdio.h>
#include <stdlib.h>

uint32_t bench_flow_tasks(const bench_shared *shared) {
    const bench_arguments *a = shared->arguments;
    if (a->tasks) return a->tasks;
    return a->spread ? 1 : a->executors;
}

uint32_t bench_flow_spouts(const bench_shared *shared, uint32_t usual) {
    return shared->arguments->spouts ? shared->arguments->spouts : usual;
}

void bench_flow_spout(gale_topology *topology, const char *name, const gale_spout_ops *ops, bench_shared *shared,
                      const char *fields, uint32_t tasks) {
    gale_output output = { NULL, fields };
    gale_spout spout = { .size = sizeof spout, .ops = ops, .user = shared, .outputs = &output, .output_count = 1 };
    gale_topology_add_spout(topology, name, spout, tasks);
}

void bench_flow_bolt(gale_topology *topology, const char *name, int made, gale_bolt bolt, uint32_t tasks,
                     const char *from, gale_grouping grouping) {
    if (made < 0) {
        fprintf(stderr, "%s: %s\n", name, gale_error_text(made));
        exit(1);
    }
    gale_topology_add_bolt(topology, name, bolt, tasks);
    gale_topology_subscribe(topology, name, from, NULL, grouping);
}

gale_bolt bench_flow_own(const gale_bolt_ops *ops, bench_shared *shared, const gale_output *output) {
    return (gale_bolt){
        .size = sizeof(gale_bolt), .ops = ops, .user = shared, .outputs = output, .output_count = output ? 1 : 0
    };
}
