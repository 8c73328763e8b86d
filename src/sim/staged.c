#include "sim/staged.h"

#include "base/buf.h"
#include "base/nearest.h"
#include "base/str.h"

#include <stdlib.h>

typedef struct staging {
    gx_staged *staged;
    const gale_topology *topology;
    const gale_test_options *options;
    gale_error *error;
    bool *gone;   /* by component */
    bool *handed; /* by bolt that stands in: the topology has it */
} staging;

static int no_memory(const staging *s) {
    return gale_error_set(s->error, GALE_NO_MEMORY, "no memory for a test of '%s'", s->topology->name);
}

/* --- Names -------------------------------------------------------------------------------------------------------- */

static uint32_t index_of(const gale_topology *topology, const char *name) {
    uint32_t i = 0;
    while (i < topology->component_count && strcmp(topology->components[i]->name, name) != 0) i++;
    return i;
}

static int find(const staging *s, const char *name, uint32_t *ret_index) {
    if (!name) return gale_error_set(s->error, GALE_INVALID, "a component of the options has no name");
    *ret_index = index_of(s->topology, name);
    if (*ret_index < s->topology->component_count) return GALE_OK;
    gx_nearest nearest = gx_nearest_to(gx_str(name));
    char hint[100];
    for (uint32_t i = 0; i < s->topology->component_count; i++)
        gx_nearest_offer(&nearest, gx_str(s->topology->components[i]->name));
    return gale_error_set(s->error, GALE_NOT_FOUND, "'%s' has no component '%s'%s", s->topology->name, name,
                          gx_nearest_hint(&nearest, hint, sizeof hint));
}

/* The first of them, or how many there are. */
static size_t stand_in_for(const staging *s, const gx_component *c) {
    size_t i = 0;
    while (i < s->options->stand_in_count && strcmp(s->options->stand_ins[i].component, c->name) != 0) i++;
    return i;
}

static bool is_kept(const staging *s, const gx_component *c) {
    for (size_t i = 0; i < s->options->kept_count; i++)
        if (strcmp(s->options->kept[i], c->name) == 0) return true;
    return false;
}

static bool has_edges(const staging *s, const char *from) {
    for (size_t i = 0; i < s->options->edge_count; i++)
        if (strcmp(s->options->edges[i].from, from) == 0) return true;
    return false;
}

static bool has_edge(const staging *s, const char *from, const char *to) {
    for (size_t i = 0; i < s->options->edge_count; i++)
        if (strcmp(s->options->edges[i].from, from) == 0 && strcmp(s->options->edges[i].to, to) == 0) return true;
    return false;
}

static bool takes_from(const gx_component *to, const char *from) {
    for (uint32_t i = 0; i < to->input_count; i++)
        if (strcmp(to->inputs[i].source, from) == 0) return true;
    return false;
}

static int check_edge(const staging *s, const gale_test_edge *edge) {
    uint32_t from, to;
    int rc = find(s, edge->from, &from);
    if (rc == GALE_OK) rc = find(s, edge->to, &to);
    if (rc < 0 || takes_from(s->topology->components[to], edge->from)) return rc;
    return gale_error_set(s->error, GALE_INVALID, "'%s' takes nothing from '%s'", edge->to, edge->from);
}

static int check_stand_in(const staging *s, const gale_test_stand_in *stand_in) {
    uint32_t at;
    int rc = find(s, stand_in->component, &at);
    if (rc < 0 || !s->topology->components[at]->is_spout) return rc;
    return gale_error_set(s->error, GALE_INVALID, "a bolt cannot stand in for '%s', which is a spout: feed it",
                          stand_in->component);
}

static int check_kept(const staging *s, const char *kept) {
    uint32_t at;
    int rc = find(s, kept, &at);
    if (rc < 0 || s->topology->components[at]->is_spout) return rc;
    return gale_error_set(s->error, GALE_INVALID, "'%s' is a bolt, and bolts are kept anyway", kept);
}

static int check_options(const staging *s) {
    const gale_test_options *o = s->options;
    int rc = GALE_OK;
    for (size_t i = 0; i < o->stand_in_count && rc == GALE_OK; i++) rc = check_stand_in(s, &o->stand_ins[i]);
    for (size_t i = 0; i < o->edge_count && rc == GALE_OK; i++) rc = check_edge(s, &o->edges[i]);
    for (size_t i = 0; i < o->kept_count && rc == GALE_OK; i++) rc = check_kept(s, o->kept[i]);
    return rc;
}

/* --- What is fed, and what is left out ---------------------------------------------------------------------------- */

static int make_fed(const staging *s, gx_feed *feed) {
    gx_staged *staged = s->staged;
    staged->component_count = s->topology->component_count;
    if (!(staged->fed = calloc(staged->component_count + 1, sizeof *staged->fed))) return no_memory(s);
    for (uint32_t i = 0; i < staged->component_count; i++) {
        const gx_component *c = s->topology->components[i];
        if (!has_edges(s, c->name) && (!c->is_spout || is_kept(s, c))) continue;
        if (!(staged->fed[i] = calloc(1, sizeof **staged->fed))) return no_memory(s);
        *staged->fed[i] = (gx_fed){ .feed = feed, .built = c };
    }
    return GALE_OK;
}

/* Does the subscription stay? */
static bool stays(const staging *s, const gx_component *to, const gx_subscription *sub) {
    uint32_t from = index_of(s->topology, sub->source);
    if (from == s->topology->component_count || s->gone[from]) return false;
    return !has_edges(s, sub->source) || has_edge(s, sub->source, to->name);
}

static bool is_reached(const staging *s, uint32_t at) {
    const gx_component *c = s->topology->components[at];
    if (s->staged->fed[at] || c->is_spout || c->ticks) return true;
    for (uint32_t i = 0; i < c->input_count; i++)
        if (stays(s, c, &c->inputs[i])) return true;
    return false;
}

static void leave_out(const staging *s) {
    bool again = true;
    while (again) {
        again = false;
        for (uint32_t i = 0; i < s->topology->component_count; i++) {
            if (s->gone[i] || is_reached(s, i)) continue;
            s->gone[i] = again = true;
        }
    }
}

/* --- Building ----------------------------------------------------------------------------------------------------- */

/* What a definition is given, in arrays of its own. */
typedef struct lists {
    gale_output *outputs;
    gx_buf *texts; /* fields of each */
    gale_setting *settings;
    size_t setting_count;
    uint32_t output_count;
} lists;

static void join(gx_buf *out, char *const *names, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) gx_buf_format(out, "%s%s", i ? ", " : "", names[i]);
}

static void free_lists(lists *l) {
    for (uint32_t i = 0; l->texts && i < l->output_count; i++) gx_buf_fini(&l->texts[i]);
    free(l->texts);
    free(l->outputs);
    free(l->settings);
}

static bool list_outputs(const gx_component *c, lists *l) {
    l->output_count = c->output_count;
    l->texts = calloc(c->output_count + 1u, sizeof *l->texts);
    l->outputs = calloc(c->output_count + 1u, sizeof *l->outputs);
    for (uint32_t i = 0; l->texts && l->outputs && i < c->output_count; i++) {
        join(&l->texts[i], c->outputs[i].fields, c->outputs[i].field_count);
        const char *fields = gx_buf_text(&l->texts[i]);
        if (!fields) return false;
        l->outputs[i] = (gale_output){ c->outputs[i].name, fields };
    }
    return l->texts && l->outputs;
}

/* A fed component has one task, whatever it had. What is a bolt's own says nothing to the spout in its place. */
static bool is_passed_on(const gx_component *c, bool fed, gale_str key) {
    return !fed || (c->is_spout && !gx_str_is(key, "topology.tasks"));
}

static bool list_settings(const gx_component *c, bool fed, lists *l) {
    size_t count = gale_config_size(c->config);
    if (!(l->settings = calloc(count + 1, sizeof *l->settings))) return false;
    for (size_t i = 0; i < count; i++) {
        gale_str key;
        gale_value value;
        gale_config_at(c->config, i, &key, &value);
        if (is_passed_on(c, fed, key)) l->settings[l->setting_count++] = (gale_setting){ key.data, value };
    }
    return true;
}

static gale_spout with_spout(gale_spout spout, const lists *l) {
    spout.outputs = l->outputs;
    spout.output_count = l->output_count;
    spout.settings = l->settings;
    spout.setting_count = l->setting_count;
    return spout;
}

/* Its own settings go over those of the bolt that it stands for: the later one counts. */
static int add_stand_in(const staging *s, const gx_component *c, size_t which, const lists *l) {
    gale_bolt bolt = s->options->stand_ins[which].bolt;
    const gale_setting *own = bolt.settings;
    size_t own_count = own ? bolt.setting_count : 0;
    s->handed[which] = true;
    if (!bolt.output_count) bolt.outputs = l->outputs, bolt.output_count = l->output_count;
    bolt.settings = l->settings;
    bolt.setting_count = l->setting_count;
    int rc = gale_topology_add_bolt(s->staged->topology, c->name, bolt, c->parallelism);
    for (size_t i = 0; i < own_count && rc >= 0; i++)
        rc = gale_topology_set(s->staged->topology, c->name, own[i].key, own[i].value);
    return rc;
}

static int add_with(const staging *s, uint32_t at, const lists *l) {
    const gx_component *c = s->topology->components[at];
    gale_topology *to = s->staged->topology;
    size_t stand_in = stand_in_for(s, c);
    gale_spout_ops spout = c->spout;
    gale_bolt_ops bolt = c->bolt;
    spout.size = sizeof spout;
    bolt.size = sizeof bolt;
    if (s->staged->fed[at])
        return gale_topology_add_spout(to, c->name, with_spout(gx_fed_spout(s->staged->fed[at]), l), 1);
    if (c->is_spout) {
        gale_spout kept = { .size = sizeof kept, .ops = &spout, .user = c->user };
        return gale_topology_add_spout(to, c->name, with_spout(kept, l), c->parallelism);
    }
    if (stand_in < s->options->stand_in_count) return add_stand_in(s, c, stand_in, l);
    gale_bolt kept = { .size = sizeof kept,
                       .ops = &bolt,
                       .user = c->user,
                       .outputs = l->outputs,
                       .output_count = l->output_count,
                       .settings = l->settings,
                       .setting_count = l->setting_count };
    return gale_topology_add_bolt(to, c->name, kept, c->parallelism);
}

static int add(const staging *s, uint32_t at) {
    const gx_component *c = s->topology->components[at];
    lists l = { .output_count = 0 };
    bool made = list_outputs(c, &l) && list_settings(c, s->staged->fed[at] != NULL, &l);
    int rc = made ? add_with(s, at, &l) : no_memory(s);
    free_lists(&l);
    return rc;
}

static int subscribe(const staging *s, const gx_component *to, const gx_subscription *sub) {
    bool letters = strcmp(sub->stream, GX_DEAD_LETTER_STREAM) == 0;
    if (!stays(s, to, sub) || (strncmp(sub->stream, "__", 2) == 0 && !letters)) return GALE_OK;
    gx_buf fields = GX_BUF_INIT(NULL);
    join(&fields, sub->fields, sub->field_count);
    gale_grouping grouping = gale_grouping_of(sub->grouping, gx_buf_text(&fields));
    if (sub->grouping == GALE_GROUPING_CUSTOM) {
        gale_custom_ops ops = sub->custom;
        ops.size = sizeof ops;
        grouping = gale_custom(&ops, sub->user, NULL);
        grouping.drop = sub->drop;
        gx_buf_fini(&fields);
        return gale_topology_subscribe(s->staged->topology, to->name, sub->source, sub->stream, grouping);
    }
    grouping.drop = sub->drop;
    int rc = fields.failed ? no_memory(s)
                           : gale_topology_subscribe(s->staged->topology, to->name, sub->source, sub->stream, grouping);
    gx_buf_fini(&fields);
    return rc;
}

static int subscribe_all(const staging *s, uint32_t at) {
    const gx_component *c = s->topology->components[at];
    int rc = GALE_OK;
    for (uint32_t i = 0; i < c->input_count && rc >= 0; i++) rc = subscribe(s, c, &c->inputs[i]);
    if (rc >= 0 && c->ticks)
        rc = gale_topology_subscribe(s->staged->topology, c->name, GX_SYSTEM_COMPONENT, c->ticks->stream, gale_all());
    return rc;
}

static int build(const staging *s) {
    const gale_topology *from = s->topology;
    if (!(s->staged->topology = gale_topology_new(from->name))) return no_memory(s);
    int rc = GALE_OK;
    for (size_t i = 0; i < gale_config_size(from->config) && rc >= 0; i++) {
        gale_str key;
        gale_value value;
        gale_config_at(from->config, i, &key, &value);
        rc = gale_topology_set(s->staged->topology, NULL, key.data, value);
    }
    for (uint32_t i = 0; i < from->component_count && rc >= 0; i++)
        if (!s->gone[i]) rc = add(s, i);
    for (uint32_t i = 0; i < from->component_count && rc >= 0; i++)
        if (!s->gone[i] && !s->staged->fed[i]) rc = subscribe_all(s, i);
    if (rc == GALE_NO_MEMORY) return no_memory(s);
    rc = gale_topology_check(s->staged->topology, s->error);
    return rc < 0 ? rc : GALE_OK;
}

/* --- The whole ---------------------------------------------------------------------------------------------------- */

/* Those that were not handed on. */
static void free_stand_ins(const staging *s) {
    for (size_t i = 0; i < s->options->stand_in_count; i++) {
        const gale_bolt *bolt = &s->options->stand_ins[i].bolt;
        if ((!s->handed || !s->handed[i]) && bolt->free_user) bolt->free_user(bolt->user);
    }
}

int gx_staged_make(gx_staged *staged, const gale_topology *topology, const gale_test_options *options, gx_feed *feed,
                   gale_error *error) {
    staging s = { staged,
                  topology,
                  options,
                  error,
                  calloc(topology->component_count + 1u, sizeof *s.gone),
                  calloc(options->stand_in_count + 1, sizeof *s.handed) };
    int rc = s.gone && s.handed ? check_options(&s) : no_memory(&s);
    if (rc == GALE_OK) rc = make_fed(&s, feed);
    if (rc == GALE_OK) leave_out(&s);
    if (rc == GALE_OK) rc = build(&s);
    free_stand_ins(&s);
    free(s.gone);
    free(s.handed);
    return rc;
}

void gx_staged_fini(gx_staged *staged) {
    gale_topology_free(staged->topology);
    for (uint32_t i = 0; staged->fed && i < staged->component_count; i++) {
        if (staged->fed[i]) gx_fed_fini(staged->fed[i]);
        free(staged->fed[i]);
    }
    free(staged->fed);
}

gx_fed *gx_staged_fed(const gx_staged *staged, const char *name) {
    for (uint32_t i = 0; i < staged->component_count; i++)
        if (staged->fed[i] && strcmp(staged->fed[i]->built->name, name) == 0) return staged->fed[i];
    return NULL;
}
