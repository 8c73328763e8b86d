#include "counting.h"

#include <stdio.h>

gale_runtime *counting_new(const int *fd) {
    gale_error error = GALE_ERROR_INIT;
    gale_bolt split, count, print;
    gale_runtime *runtime = NULL;
    if (gale_split_bolt(NULL, &split, &error) < 0 || gale_count_bolt(GALE_COUNT_EMIT_FINISH, &count, &error) < 0 ||
        gale_printer_bolt(1, &print, &error) < 0)
        return fprintf(stderr, "%s\n", error.text), NULL;

    gale_topology *topology = gale_topology_new("counting");
    gale_topology_add_spout(topology, "lines", lines_spout(fd), 1);
    gale_topology_add_bolt(topology, "split", split, 1);
    gale_topology_add_bolt(topology, "count", count, 1);
    gale_topology_add_bolt(topology, "print", print, 1);
    gale_topology_subscribe(topology, "split", "lines", NULL, gale_shuffle());
    gale_topology_subscribe(topology, "count", "split", NULL, gale_fields("word"));
    gale_topology_subscribe(topology, "print", "count", NULL, gale_global());

    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = 1;
    options.until_drained = true;
    options.inline_blocking = true; /* what prints may keep the loop waiting */
    if (gale_runtime_new(topology, &options, &runtime, &error) < 0) fprintf(stderr, "%s\n", error.text);
    gale_topology_free(topology); /* the runtime refers to it */
    return runtime;
}
