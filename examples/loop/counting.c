#include "counting.h"

#include <stdio.h>
#include <string.h>

static int sleep_or_pass(void *self, const gale_tuple *tuple, gale_collector *out) {
    gale_value word = gale_tuple_value(tuple, 0);
    gale_handle held;
    (void)self;
    if (word.size == 5 && memcmp(word.as.string, "sleep", 5) == 0)
        return gale_tuple_hold(out, gale_tuple_handle(tuple), &held);
    int rc = gale_emit(out, 0, &word, 1);
    return rc < 0 ? rc : gale_ack(out, gale_tuple_handle(tuple));
}

static gale_bolt sleeper_bolt(void) {
    static const gale_bolt_ops ops = {
        .size = sizeof ops, .name = "sleeper", .kind = GALE_BOLT_MANUAL, .execute = sleep_or_pass
    };
    static const gale_output outputs[] = { { NULL, "word" } };
    return (gale_bolt){ .size = sizeof(gale_bolt), .ops = &ops, .outputs = outputs, .output_count = 1 };
}

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
    gale_topology_add_bolt(topology, "sleeper", sleeper_bolt(), 1);
    gale_topology_add_bolt(topology, "count", count, 1);
    gale_topology_add_bolt(topology, "print", print, 1);
    gale_topology_subscribe(topology, "split", "lines", NULL, gale_shuffle());
    gale_topology_subscribe(topology, "sleeper", "split", NULL, gale_shuffle());
    gale_topology_subscribe(topology, "count", "sleeper", NULL, gale_fields("word"));
    gale_topology_subscribe(topology, "print", "count", NULL, gale_global());

    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = 1;
    options.until_drained = true;
    options.inline_blocking = true; /* what prints may keep the loop waiting */
    if (gale_runtime_new(topology, &options, &runtime, &error) < 0) fprintf(stderr, "%s\n", error.text);
    gale_topology_free(topology); /* the runtime refers to it */
    return runtime;
}
