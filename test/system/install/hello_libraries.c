/* The libraries beside libgale, as an application calls them: a topology from a text, with an expression; the simulator; a store. */
#include <gale/gale.h>
#include <gale_front.h>
#include <gale_gzip.h>
#include <gale_script.h>
#include <gale_sim.h>
#include <gale_store.h>
#include <stdio.h>
#include <string.h>

static const char text[] = "name: hello\n"
                           "spouts:\n"
                           "  - {id: words, className: gale.spout.Words}\n"
                           "bolts:\n"
                           "  - id: long\n"
                           "    className: gale.bolt.Filter\n"
                           "    properties: {fields: word, where: '#word > 3'}\n"
                           "streams:\n"
                           "  - {from: words, to: long, grouping: {type: SHUFFLE}}\n";

/* A name of gale's inner functions is anybody's. */
int gx_buf_add(void) {
    return 0;
}

int main(void) {
    gale_error error = GALE_ERROR_INIT;
    gale_topology *topology = NULL;
    gale_simulate_options options = GALE_SIMULATE_OPTIONS_INIT;
    gale_simulate_result result = GALE_SIMULATE_RESULT_INIT;
    gale_str source = { text, sizeof text - 1 };
    int code = gale_topology_from_text("hello.yaml", source, NULL, &topology, &error);
    options.topology = topology;
    options.runs = 3;
    if (code >= 0) code = gale_simulate(&options, &result, &error);
    if (code < 0) return fprintf(stderr, "%s\n", error.text), 1;
    printf("%d runs %s\n", (int)result.runs, result.holds ? "hold" : result.text);
    gale_topology_free(topology);
    return gale_store_remove("/nowhere/store", &error) != GALE_NOT_FOUND || !gale_gzip() || gx_buf_add();
}
