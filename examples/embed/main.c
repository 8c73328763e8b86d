/* Word count inside a program: a spout and two bolts of gale's, and one bolt of our own (words.c). Reads the standard input.
 *
 *      example_embed < README.md
 */
#include "words.h"

#include <gale/gale.h>
#include <stdio.h>

int main(void) {
    gale_file_spout_options input = { .size = sizeof input, .path = "-" };
    gale_bolt count_bolt, print_bolt;
    gale_spout lines;
    gale_error error = GALE_ERROR_INIT;
    if (gale_file_spout(&input, &lines, &error) < 0 ||
        gale_count_bolt(GALE_COUNT_EMIT_FINISH, &count_bolt, &error) < 0 ||
        gale_printer_bolt(1, &print_bolt, &error) < 0)
        return fprintf(stderr, "%s\n", error.text), 1;

    /* The first error sticks, so that one look at the end is enough. */
    gale_topology *topology = gale_topology_new("word-count");
    gale_topology_add_spout(topology, "lines", lines, 1);
    gale_topology_add_bolt(topology, "split", words_bolt(), 1);
    gale_topology_add_bolt(topology, "count", count_bolt, 2);
    gale_topology_add_bolt(topology, "print", print_bolt, 1);
    gale_topology_subscribe(topology, "split", "lines", NULL, gale_shuffle());
    gale_topology_subscribe(topology, "count", "split", NULL, gale_fields("word"));
    gale_topology_subscribe(topology, "print", "count", NULL, gale_global());

    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.until_drained = true;
    gale_runtime *runtime = NULL;
    int code = gale_runtime_new(topology, &options, &runtime, &error);
    if (code >= 0) code = gale_runtime_run(runtime, &error);
    if (code < 0) fprintf(stderr, "%s\n", error.text);
    gale_runtime_free(runtime, -1, NULL);
    gale_topology_free(topology);
    return code < 0;
}
