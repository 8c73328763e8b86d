/* Bytes, read as a Flux file with the classes of the program: as a run reads it, and as a check does, which goes on behind
 * errors. What stands before a line of "%%" is its properties; behind a second one comes what --set says. Components are
 * made, but none is opened: no file is touched but what an include names, and what a check asks of paths. */
#include "fuzz.h"

#include "base/str.h"
#include "front/builtin.h"
#include "front/excerpt.h"
#include "front/flux.h"

#include <stdlib.h>

static const char mark[] = "\n%%\n";

/* What stands before the mark; the rest stays. All of it where there is none. */
static gale_str cut(gale_str *rest) {
    const char *at = rest->size ? memmem(rest->data, rest->size, mark, sizeof mark - 1) : NULL;
    gale_str piece = { rest->data, at ? (size_t)(at - rest->data) : rest->size };
    size_t used = at ? piece.size + sizeof mark - 1 : piece.size;
    *rest = (gale_str){ rest->data + used, rest->size - used };
    return piece;
}

static int load(gale_str text, const gx_flux_options *options) {
    gale_topology *topology = NULL;
    gale_error error = GALE_ERROR_INIT;
    int rc = gx_flux_parse("fuzz.yaml", text, gx_registry_builtin(), options, &topology, &error);
    expect((rc < 0) == (topology == NULL));
    if (!options->problems) expect((rc < 0) == (error.length > 0));
    gale_topology_free(topology);
    return rc;
}

/* A check finds an error where a run does. */
static void both(gale_str text, gx_flux_options options) {
    gx_problems *problems = gx_problems_new();
    if (!problems) return;
    int run = load(text, &options);
    options.problems = problems;
    int check = load(text, &options);
    expect((run < 0) == (check < 0) || run == GALE_NO_MEMORY || check == GALE_NO_MEMORY);
    expect((check < 0) == (problems->errors > 0) || check == GALE_NO_MEMORY);
    gx_problems_sort(problems);
    gx_problems_free(problems);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    gale_str rest = { (const char *)data, size }, first = cut(&rest);
    bool parted = rest.size > 0;
    gale_str text = parted ? cut(&rest) : first;
    gx_properties properties = { .count = 0 };
    bool read = parted && gx_properties_parse("fuzz.properties", first, &properties, NULL) == 0;
    char *set = rest.size ? strndup(rest.data, rest.size) : NULL;
    gx_variables variables = { read ? &properties : NULL, false };
    gx_flux_options options = {
        .sets = (const char *const *)&set, .set_count = set ? 1 : 0, .variables = &variables, .dry = true
    };
    both(text, options);
    gx_properties_fini(&properties);
    free(set);
    return 0;
}
