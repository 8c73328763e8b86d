/* Texts, each the KEY=VALUE of a -c, laid over a topology. */
#include "fuzz.h"

#include "base/str.h"
#include "front/builtin.h"
#include "front/flux.h"

enum { TEXTS_MAX = 16 };

static const char file[] = "name: fuzz\n"
                           "config: {topology.max.spout.pending: 100, a.b: c}\n"
                           "spouts: [{id: words, className: gale.spout.Words, config: {gale.rate: 5}}]\n"
                           "bolts: [{id: count, className: gale.bolt.Count, parallelism: 2},\n"
                           "        {id: count.all, className: gale.bolt.Count}]\n"
                           "streams: [{from: words, to: count, grouping: {type: FIELDS, args: [word]}},\n"
                           "          {from: count, to: count.all, grouping: {type: SHUFFLE}}]\n";

/* What was set can be read, and its key is known, in the file, or a daemon's. */
static void look_up(const gale_topology *topology, const char *text) {
    gale_config *one = gale_config_new();
    gale_str key;
    gale_value value, set;
    expect(one && gale_config_set_text(one, text, NULL) >= 0);
    if (gale_config_at(one, 0, &key, &value)) gale_config_get(gale_topology_config(topology), key.data, &set);
    gale_config_free(one);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input in = { data, size };
    char *texts = fuzz_text(&in);
    const char *assignments[TEXTS_MAX];
    gx_flux_options options = { .assignments = assignments };
    for (size_t at = 0; at < size && options.assignment_count < TEXTS_MAX; at += strlen(texts + at) + 1)
        assignments[options.assignment_count++] = texts + at;
    gale_topology *topology = NULL;
    gale_error error = GALE_ERROR_INIT;
    int rc = gx_flux_parse("fuzz.yaml", gx_str(file), gx_registry_builtin(), &options, &topology, &error);
    expect((rc < 0) == (error.length > 0) && (rc < 0) == (topology == NULL));
    expect(size || rc >= 0);
    for (size_t i = 0; rc >= 0 && i < options.assignment_count; i++) look_up(topology, assignments[i]);
    gale_topology_free(topology);
    free(texts);
    return 0;
}
