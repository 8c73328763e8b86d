/* An application that reads a topology file and runs it, with libgale-front and libgale. What is wrong stands on the standard error.
 *
 *      embedder FILE.yaml [PLUGIN...]
 */
#include <gale/gale.h>
#include <gale_front.h>
#include <stdio.h>

int main(int argc, char **argv) {
    gale_error error = GALE_ERROR_INIT;
    gale_topology_file_options from = GALE_TOPOLOGY_FILE_OPTIONS_INIT;
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    gale_topology *topology = NULL;
    gale_runtime *runtime = NULL;
    from.plugins = (const char *const *)argv + 2;
    from.plugin_count = argc > 2 ? (size_t)argc - 2 : 0;
    options.until_drained = true;
    options.executors = 1;
    int code = gale_topology_from_file(argv[1], &from, &topology, &error);
    if (code >= 0) code = gale_runtime_new(topology, &options, &runtime, &error);
    if (code >= 0) code = gale_runtime_run(runtime, &error);
    if (code < 0) fprintf(stderr, "%s\n", error.text);
    if (runtime && gale_runtime_free(runtime, -1, NULL) < 0) code = -1;
    gale_topology_free(topology);
    return code < 0;
}
