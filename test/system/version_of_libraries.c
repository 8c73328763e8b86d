/* libgale-front and libgale-sim beside a libgale of another version: this program's gale_version stands in for that one's. */
#include <gale/gale.h>
#include <gale_front.h>
#include <gale_sim.h>
#include <stdio.h>
#include <string.h>

GALE_API const char *gale_version(void) {
    return "9.8.7";
}

static int refused(const char *library, int rc, const gale_error *error) {
    bool right = rc == GALE_UNSUPPORTED && strstr(error->text, library) && strstr(error->text, "9.8.7") &&
                 strstr(error->text, GALE_VERSION_TEXT);
    printf("%s: %d: %s\n", library, rc, error->text);
    return right ? 0 : 1;
}

int main(void) {
    gale_error front = GALE_ERROR_INIT, sim = GALE_ERROR_INIT;
    gale_topology *topology = NULL;
    gale_simulate_options options = GALE_SIMULATE_OPTIONS_INIT;
    gale_simulate_result result = GALE_SIMULATE_RESULT_INIT;
    int rc = gale_topology_from_file("any.yaml", NULL, &topology, &front);
    int failed = refused("libgale-front", rc, &front);
    return failed + refused("libgale-sim", gale_simulate(&options, &result, &sim), &sim);
}
