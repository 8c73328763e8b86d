/* Words of the standard input, counted: what an application builds against the installed libgale. C99, and C++17 as well. */
#include <gale/gale.h>
#include <stdio.h>

static int add(gale_topology *topology, gale_error *error) {
    gale_spout lines;
    gale_bolt split, count, printer;
    static gale_file_spout_options from; /* zero: defaults */
    static gale_file_sink_options to;
    from.size = sizeof from;
    from.path = "-";
    to.size = sizeof to;
    to.path = "-";
    if (gale_file_spout(&from, &lines, error) < 0 || gale_split_bolt(NULL, &split, error) < 0 ||
        gale_count_bolt(GALE_COUNT_EMIT_FINISH, &count, error) < 0 || gale_file_sink_bolt(&to, &printer, error) < 0)
        return -1;
    gale_topology_add_spout(topology, "lines", lines, 1);
    gale_topology_add_bolt(topology, "split", split, 1);
    gale_topology_add_bolt(topology, "count", count, 1);
    gale_topology_add_bolt(topology, "printer", printer, 1);
    gale_topology_subscribe(topology, "split", "lines", NULL, gale_shuffle());
    gale_topology_subscribe(topology, "count", "split", NULL, gale_fields("word"));
    return gale_topology_subscribe(topology, "printer", "count", NULL, gale_global());
}

int main(void) {
    gale_error error = GALE_ERROR_INIT;
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    gale_runtime *runtime = NULL;
    gale_topology *topology = gale_topology_new("hello");
    int code = add(topology, &error);
    options.until_drained = true;
    if (code >= 0) code = gale_runtime_new(topology, &options, &runtime, &error);
    if (code >= 0) code = gale_runtime_run(runtime, &error);
    if (code < 0) fprintf(stderr, "%s\n", error.text);
    gale_runtime_free(runtime, -1, NULL);
    gale_topology_free(topology);
    return code < 0;
}
