/* Bytes, read as a Flux file with the classes of the program. Components are made, but none is opened: no file is
 * touched. */
#include "fuzz.h"

#include "front/builtin.h"
#include "front/flux.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    gale_topology *topology = NULL;
    gale_error error = GALE_ERROR_INIT;
    int code = gx_flux_parse("fuzz.yaml", (gale_str){ (const char *)data, size }, gx_registry_builtin(), NULL,
                             &topology, &error);
    expect((code < 0) == (error.length > 0) && (code < 0) == (topology == NULL));
    gale_topology_free(topology);
    return 0;
}
