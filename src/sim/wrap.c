#include "sim/wrap.h"

#include "sim/bolt.h"
#include "sim/listener.h"
#include "sim/spout.h"

#include <string.h>

typedef struct lists {
    gx_buf *texts; /* fields of each output */
    gale_output *outputs;
    gale_setting *settings;
    size_t setting_count, setting_room;
} lists;

static void join(gx_buf *out, char *const *names, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) gx_buf_format(out, "%s%s", i ? ", " : "", names[i]);
}

/* The component's outputs, each with the number of the emission behind its fields, unless it is in one of them. */
static bool list_outputs(gx_sim *sim, const gx_component *c, lists *l) {
    l->texts = gx_alloc_array(&sim->heap, GX_TAG_OTHER, c->output_count, sizeof *l->texts);
    l->outputs = gx_alloc_array(&sim->heap, GX_TAG_OTHER, c->output_count, sizeof *l->outputs);
    if (!l->texts || !l->outputs) return false;
    for (uint32_t i = 0; i < c->output_count; i++) {
        l->texts[i] = (gx_buf)GX_BUF_INIT(&sim->heap);
        join(&l->texts[i], c->outputs[i].fields, c->outputs[i].field_count);
        if (!gx_sim_number_is_folded(&c->outputs[i]))
            gx_buf_format(&l->texts[i], "%s%s", c->outputs[i].field_count ? ", " : "", GX_SIM_NUMBER);
        const char *fields = gx_buf_text(&l->texts[i]);
        if (!fields) return false;
        l->outputs[i] = (gale_output){ c->outputs[i].name, fields };
    }
    return true;
}

/* A simulated run writes no files but those of the simulated disk. */
static bool is_left_out(gale_str key, const gale_value *value) {
    if (!gx_str_is(key, "topology.dead_letters.file")) return false;
    return value->type != GALE_TYPE_STRING || strncmp(value->as.string, GX_SIM_DISK "/", sizeof GX_SIM_DISK) != 0;
}

static bool list_settings(gx_sim *sim, const gx_component *c, lists *l) {
    l->setting_room = gale_config_size(c->config);
    l->settings = gx_alloc_array(&sim->heap, GX_TAG_OTHER, l->setting_room, sizeof *l->settings);
    for (size_t i = 0; l->settings && i < l->setting_room; i++) {
        gale_str key;
        gale_value value;
        gale_config_at(c->config, i, &key, &value);
        if (!is_left_out(key, &value)) l->settings[l->setting_count++] = (gale_setting){ key.data, value };
    }
    return l->settings != NULL;
}

static void free_array(gx_sim *sim, void *array, size_t count, size_t size) {
    gx_free(&sim->heap, GX_TAG_OTHER, array, count ? count * size : 1);
}

static void free_lists(gx_sim *sim, const gx_component *c, lists *l) {
    for (uint32_t i = 0; l->texts && i < c->output_count; i++) gx_buf_fini(&l->texts[i]);
    if (l->texts) free_array(sim, l->texts, c->output_count, sizeof *l->texts);
    if (l->outputs) free_array(sim, l->outputs, c->output_count, sizeof *l->outputs);
    if (l->settings) free_array(sim, l->settings, l->setting_room, sizeof *l->settings);
}

static int add(gx_sim *sim, const gx_component *c, gx_sim_component *wrapping, const lists *l) {
    if (c->is_spout) {
        gale_spout spout = gx_sim_spout(wrapping);
        spout.outputs = l->outputs;
        spout.output_count = c->output_count;
        spout.settings = l->settings;
        spout.setting_count = l->setting_count;
        return gale_topology_add_spout(sim->wrapped, c->name, spout, c->parallelism);
    }
    gale_bolt bolt = gx_sim_bolt(wrapping);
    bolt.outputs = l->outputs;
    bolt.output_count = c->output_count;
    bolt.settings = l->settings;
    bolt.setting_count = l->setting_count;
    return gale_topology_add_bolt(sim->wrapped, c->name, bolt, c->parallelism);
}

static uint64_t folded_streams(const gx_component *c) {
    uint64_t folded = 0;
    for (uint32_t i = 0; i < c->output_count && i < 64; i++)
        folded |= (uint64_t)gx_sim_number_is_folded(&c->outputs[i]) << i;
    return folded;
}

static int wrap_component(gx_sim *sim, const gx_component *c, gx_sim_component *wrapping) {
    lists l = { 0 };
    *wrapping = (gx_sim_component){ .sim = sim,
                                    .built = c,
                                    .generated = sim->generate && c->is_spout,
                                    .captured = sim->capture && !c->is_spout && c->output_count == 0,
                                    .folded = folded_streams(c) };
    int rc = list_outputs(sim, c, &l) && list_settings(sim, c, &l) ? add(sim, c, wrapping, &l) : GALE_NO_MEMORY;
    free_lists(sim, c, &l);
    return rc;
}

/* --- Subscriptions --- */

/* A custom grouping sees the values without the number. Its instance keeps the grouping that it stands for. */
typedef struct chooser {
    const gx_subscription *grouping;
    bool folded;
    void *self;
    gx_heap *heap;
} chooser;

static int chooser_prepare(void *user, const gale_targets *targets, void **ret_self) {
    const gx_sim_grouping *grouping = user;
    chooser *made = gx_alloc(&grouping->sim->heap, GX_TAG_OTHER, sizeof *made);
    if (!made) return GALE_NO_MEMORY;
    const gale_custom_ops *ops = &grouping->built->custom;
    *made = (chooser){ grouping->built, grouping->folded, grouping->built->user, &grouping->sim->heap };
    int rc = ops->prepare ? ops->prepare(grouping->built->user, targets, &made->self) : GALE_OK;
    if (rc < 0)
        gx_free(made->heap, GX_TAG_OTHER, made, sizeof *made);
    else
        *ret_self = made;
    return rc;
}

static int chooser_choose(void *self, const gale_targets *targets, const gale_value *values, size_t count,
                          uint32_t *ret_indices) {
    chooser *c = self;
    size_t hidden = gx_sim_is_letter(c->grouping->stream) || c->folded ? 0 : 1;
    gale_value token = c->folded ? gx_sim_number_unfold(values[0]) : gale_null();
    return c->grouping->custom.choose(c->self, targets, c->folded ? &token : values, count - hidden, ret_indices);
}

static void chooser_release(void *self) {
    chooser *c = self;
    if (c->grouping->custom.release) c->grouping->custom.release(c->self);
    gx_free(c->heap, GX_TAG_OTHER, c, sizeof *c);
}

static void free_grouping(void *user) {
    gx_sim_grouping *grouping = user;
    gx_free(&grouping->sim->heap, GX_TAG_OTHER, grouping, sizeof *grouping);
}

static bool is_folded(const gale_topology *topology, const gx_subscription *sub) {
    const gx_component *source = gx_topology_find(topology, sub->source);
    for (uint32_t i = 0; source && i < source->output_count; i++)
        if (strcmp(source->outputs[i].name, sub->stream) == 0) return gx_sim_number_is_folded(&source->outputs[i]);
    return false;
}

static int wrap_custom(gx_sim *sim, const gx_subscription *sub, bool folded, gale_grouping *ret_grouping) {
    static const gale_custom_ops ops = { sizeof ops, "sim", chooser_prepare, chooser_choose, chooser_release };
    gx_sim_grouping *grouping = gx_alloc(&sim->heap, GX_TAG_OTHER, sizeof *grouping);
    if (!grouping) return GALE_NO_MEMORY;
    *grouping = (gx_sim_grouping){ sim, sub, folded };
    *ret_grouping = gale_custom(&ops, grouping, free_grouping);
    return GALE_OK;
}

static bool is_repeated(const gale_topology *topology, const char *name) {
    static const char key[] = "topology.replay.attempts";
    const gx_component *c = gx_topology_find(topology, name);
    gale_value own;
    if (!c || !c->is_spout) return false;
    return gale_config_i64(gale_config_get(c->config, key, &own) ? c->config : topology->config, key, 1) > 1;
}

static int subscribe(gx_sim *sim, const gale_topology *topology, const gx_component *bolt, const gx_subscription *sub) {
    bool letters = gx_sim_is_letter(sub->stream);
    if (strncmp(sub->stream, "__", 2) == 0 && !letters) return GALE_OK; /* the engine's own */
    gx_buf fields = GX_BUF_INIT(&sim->heap);
    join(&fields, sub->fields, sub->field_count);
    gale_grouping grouping = gale_grouping_of(sub->grouping, gx_buf_text(&fields));
    int rc = fields.failed ? GALE_NO_MEMORY : GALE_OK;
    if (rc == GALE_OK && sub->grouping == GALE_GROUPING_CUSTOM)
        rc = wrap_custom(sim, sub, is_folded(topology, sub), &grouping);
    /* How much an emit of the engine's own drops cannot be seen. */
    grouping.drop = letters || is_repeated(topology, sub->source) ? GALE_DROP_NOTHING : sub->drop;
    if (rc == GALE_OK) rc = gale_topology_subscribe(sim->wrapped, bolt->name, sub->source, sub->stream, grouping);
    gx_buf_fini(&fields);
    return rc < 0 ? rc : GALE_OK;
}

/* --- The whole --- */

static int copy_config(gx_sim *sim, const gale_config *config) {
    for (size_t i = 0; i < gale_config_size(config); i++) {
        gale_str key;
        gale_value value;
        gale_config_at(config, i, &key, &value);
        if (is_left_out(key, &value)) continue;
        int rc = gale_topology_set(sim->wrapped, NULL, key.data, value);
        if (rc < 0) return rc;
    }
    return GALE_OK;
}

/* Does the engine emit on its behalf? */
static bool is_watched(const gale_topology *topology, const gx_component *c) {
    bool watched = c->is_spout && is_repeated(topology, c->name);
    for (uint32_t i = 0; c->is_spout && i < topology->component_count; i++) {
        const gx_component *bolt = topology->components[i];
        for (uint32_t k = 0; k < bolt->input_count; k++)
            watched |= gx_sim_is_letter(bolt->inputs[k].stream) && strcmp(bolt->inputs[k].source, c->name) == 0;
    }
    return watched;
}

static int wrap(gx_sim *sim, const gale_topology *topology) {
    uint32_t count = topology->component_count;
    sim->wrapped = gale_topology_new(topology->name);
    if (!sim->wrapped ||
        !gx_grow(&sim->heap, GX_TAG_OTHER, &sim->components, &sim->component_capacity, count, sizeof *sim->components))
        return GALE_NO_MEMORY;
    int rc = copy_config(sim, topology->config);
    for (uint32_t i = 0; i < count && rc >= 0; i++)
        rc = wrap_component(sim, topology->components[i], &sim->components[i]);
    for (uint32_t i = 0; i < count && rc >= 0; i++)
        if (is_watched(topology, topology->components[i]))
            rc = gale_topology_add_hook(sim->wrapped, topology->components[i]->name,
                                        gx_sim_spout_hook(&sim->components[i]));
    for (uint32_t i = 0; i < count && rc >= 0 && sim->rarities.listens; i++)
        rc = gale_topology_add_hook(sim->wrapped, topology->components[i]->name,
                                    gx_sim_listener_hook(&sim->components[i]));
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < topology->components[i]->input_count && rc >= 0; k++)
            rc = subscribe(sim, topology, topology->components[i], &topology->components[i]->inputs[k]);
    for (uint32_t i = 0; i < count && rc >= 0; i++)
        if (topology->components[i]->ticks)
            rc = gale_topology_subscribe(sim->wrapped, topology->components[i]->name, GX_SYSTEM_COMPONENT,
                                         topology->components[i]->ticks->stream, gale_all());
    return rc;
}

int gx_sim_wrap(gx_sim *sim, const gale_topology *topology, gale_error *error) {
    int rc = wrap(sim, topology);
    if (rc >= 0) return gale_topology_check(sim->wrapped, error);
    if (sim->wrapped && gale_topology_check(sim->wrapped, error) == rc) return rc;
    return gale_error_set(error, rc, "no memory to simulate '%s'", topology->name);
}

void gx_sim_unwrap(gx_sim *sim) {
    gale_topology_free(sim->wrapped);
    gx_free(&sim->heap, GX_TAG_OTHER, sim->components, sim->component_capacity * sizeof *sim->components);
    sim->wrapped = NULL;
    sim->components = NULL;
    sim->component_capacity = 0;
}
