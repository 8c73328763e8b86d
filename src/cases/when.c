#include "cases/when.h"

#include "base/nearest.h"
#include "base/str.h"

/* --- The inputs --------------------------------------------------------------------------------------------------- */

typedef struct inputs {
    const gale_topology *topology;
    const gx_component *bolt;
} inputs;

static bool gets_ticks(const inputs *all) {
    static const char key[] = "topology.tick.tuple.freq.secs";
    return gale_config_f64(all->bolt->config, key, gale_config_f64(all->topology->config, key, 0)) > 0;
}

static uint32_t count_of(const inputs *all) {
    return all->bolt->input_count + gets_ticks(all);
}

/* The stream of input i; ticks are the last one. */
static const gx_output *input_at(const inputs *all, uint32_t i) {
    if (i == all->bolt->input_count) return &gx_topology_system()->outputs[0];
    const gx_subscription *input = &all->bolt->inputs[i];
    const gx_component *source = gx_topology_find(all->topology, input->source);
    int stream = source ? gx_component_stream(source, input->stream) : -1;
    return stream < 0 ? NULL : &source->outputs[stream];
}

/* --- What fits ---------------------------------------------------------------------------------------------------- */

/* The first key that is no field of the stream. */
static const gx_yaml *stranger_of(const gx_output *stream, const gx_yaml *map) {
    for (const gx_yaml *key = map->as.first; key; key = key->next->next)
        if (gx_output_field(stream, key->text.data) < 0) return key;
    return NULL;
}

static bool fits(const gx_output *stream, const gx_yaml *node) {
    return node->type == GALE_TYPE_MAP ? !stranger_of(stream, node) : node->count == stream->field_count;
}

/* --- What is said of the rest ------------------------------------------------------------------------------------- */

/* "word, count" */
static void list_fields(const gx_output *stream, gx_buf *out) {
    for (uint32_t i = 0; i < stream->field_count; i++) gx_buf_format(out, "%s%s", i ? ", " : "", stream->fields[i]);
}

static int wrong_count(const gx_yaml_doc *doc, const inputs *all, const gx_yaml *node, gale_error *error) {
    gx_buf takes = GX_BUF_INIT(NULL);
    for (uint32_t i = 0; i < count_of(all); i++) {
        const gx_output *stream = input_at(all, i);
        if (!stream) continue;
        gx_buf_format(&takes, "%s%u field%s: ", takes.size ? "; or " : "", stream->field_count,
                      gx_plural(stream->field_count));
        list_fields(stream, &takes);
    }
    const char *known = gx_buf_text(&takes);
    int rc = gx_yaml_error(doc, node, error, GALE_FIELDS, "%u value%s, and '%s' is given %s", node->count,
                           gx_plural(node->count), all->bolt->name, known && *known ? known : "nothing");
    gx_buf_fini(&takes);
    return rc;
}

static bool is_known(const inputs *all, const gx_yaml *key, gx_nearest *nearest) {
    for (uint32_t i = 0; i < count_of(all); i++) {
        const gx_output *stream = input_at(all, i);
        if (stream && gx_output_field(stream, key->text.data) >= 0) return true;
        for (uint32_t j = 0; stream && j < stream->field_count; j++)
            gx_nearest_offer(nearest, gx_str(stream->fields[j]));
    }
    return false;
}

static int wrong_names(const gx_yaml_doc *doc, const inputs *all, const gx_yaml *node, gale_error *error) {
    char hint[GX_HINT_SIZE];
    for (const gx_yaml *key = node->as.first; key; key = key->next->next) {
        gx_nearest nearest = gx_nearest_to(key->text);
        if (is_known(all, key, &nearest)) continue;
        return gx_yaml_error(doc, key, error, GALE_NOT_FOUND, "'%s' is given no field '%.*s'%s", all->bolt->name,
                             GX_STR(key->text), gx_nearest_hint(&nearest, hint, sizeof hint));
    }
    return gx_yaml_error(doc, node, error, GALE_FIELDS, "no input of '%s' has all of these fields", all->bolt->name);
}

int gx_when_check(const gx_yaml_doc *doc, const gale_topology *topology, const gx_component *bolt, const gx_yaml *node,
                  gale_error *error) {
    const inputs all = { topology, bolt };
    for (uint32_t i = 0; i < count_of(&all); i++) {
        const gx_output *stream = input_at(&all, i);
        if (stream && fits(stream, node)) return 0;
    }
    return node->type == GALE_TYPE_MAP ? wrong_names(doc, &all, node, error) : wrong_count(doc, &all, node, error);
}
