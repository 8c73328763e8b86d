#include "front/clocks.h"

#include "base/str.h"
#include "front/spread.h"

static const char watermark[] = "watermark";

/* The field of the tuples' own time that it goes by; NULL: it goes by none. */
static const char *time_of(const gx_vertex *v) {
    const char *field = gx_args_text_with(v->args, GX_PARAM_TIME);
    return field && *field ? field : NULL;
}

/* Whose watermarks the bolt hears: `source`'s, or anybody's (NULL); NULL: nobody's. */
static const char *teller_of(const gx_component *bolt, const char *source) {
    for (uint32_t i = 0; i < bolt->input_count; i++)
        if (strcmp(bolt->inputs[i].stream, watermark) == 0 && (!source || strcmp(bolt->inputs[i].source, source) == 0))
            return bolt->inputs[i].source;
    return NULL;
}

/* --- What windows hear -------------------------------------------------------------------------------------------- */

static int check_order(const gx_loading *l, const gx_vertex *v, const gx_component *bolt, const char *teller) {
    for (uint32_t i = 0; i < bolt->input_count; i++) {
        const char *source = bolt->inputs[i].source;
        if (gx_class_is_apart(v->class_, bolt->inputs[i].stream) || teller_of(bolt, source)) continue;
        return gx_yaml_error(
            l->doc, v->id, l->error, GALE_TOPOLOGY,
            "'%s' takes tuples from '%s' and the watermark from '%s': the watermark overtakes what is on its "
            "way through '%s', which then fails; take tuples straight from '%s', and do before it what "
            "'%s' does",
            bolt->name, source, teller, source, teller, source);
    }
    return 0;
}

static int look_at_window(const gx_loading *l, const gx_vertex *v, const gx_component *bolt) {
    const char *field = time_of(v);
    const char *teller = teller_of(bolt, NULL);
    if (!gx_class_is_apart(v->class_, watermark) || !field) return 0;
    if (teller) return check_order(l, v, bolt, teller);
    gx_yaml_warn(l->doc, v->id, l->options->logger,
                 "'%s' goes by the tuples' own time ('%s') and hears no watermark: it tells nothing before the input "
                 "ends; the stream `watermark` of a gale.bolt.EventTime (grouping ALL) tells it",
                 bolt->name, field);
    return 0;
}

/* --- What clocks are told ----------------------------------------------------------------------------------------- */

static int look_at_clock(const gx_loading *l, const gx_vertex *v, const gx_component *bolt) {
    if (!time_of(v) || v->class_->apart) return 0;
    uint32_t tasks = gx_component_tasks(l->topology, bolt);
    if (tasks > 1)
        return gx_yaml_error(l->doc, v->id, l->error, GALE_TOPOLOGY,
                             "%u tasks of '%s' would each see a part of the times; it must be one", tasks, bolt->name);
    const gx_component *before = NULL;
    int rc = gx_spread_before(l, bolt, &before);
    if (before)
        gx_yaml_warn(l->doc, v->id, l->options->logger,
                     "'%s' decides by the order of tuples what is late, and they come through %u tasks of '%s', in an "
                     "order that depends on how these run; one task keeps the order",
                     bolt->name, gx_component_tasks(l->topology, before), before->name);
    return rc;
}

/* --- What keeps keys apart ---------------------------------------------------------------------------------------- */

static bool is_shuffled(const gx_subscription *input) {
    return input->grouping == GALE_GROUPING_SHUFFLE || input->grouping == GALE_GROUPING_LOCAL_OR_SHUFFLE;
}

static void look_at_keys(const gx_loading *l, const gx_vertex *v, const gx_component *bolt) {
    uint32_t tasks = gx_component_tasks(l->topology, bolt);
    if (tasks < 2 || !gx_args_with(v->args, GX_PARAM_KEY)) return;
    for (uint32_t i = 0; i < bolt->input_count; i++) {
        if (!is_shuffled(&bolt->inputs[i])) continue;
        gx_yaml_warn(
            l->doc, v->id, l->options->logger,
            "'%s' has %u tasks and takes what comes from '%s' by shuffle: what is equal comes to several of them, and "
            "each knows a part of it; a grouping by fields brings it to one",
            bolt->name, tasks, bolt->inputs[i].source);
        return;
    }
}

/* --- What joins lines ------------------------------------------------------------------------------------------------- */

static const char *shuffled_from(const gx_component *bolt) {
    for (uint32_t i = 0; i < bolt->input_count; i++)
        if (is_shuffled(&bolt->inputs[i])) return bolt->inputs[i].source;
    return NULL;
}

/* Lines that belong together must come to one task, in their order. */
static int look_at_lines(const gx_loading *l, const gx_vertex *v, const gx_component *bolt) {
    const gx_component *before = NULL;
    const char *shuffled = shuffled_from(bolt);
    uint32_t tasks = gx_component_tasks(l->topology, bolt);
    if (!v->class_->joins || !v->class_->joins(v->args)) return 0;
    if (tasks > 1 && shuffled) {
        gx_yaml_warn(l->doc, v->id, l->options->logger,
                     "'%s' joins lines, has %u tasks and takes what comes from '%s' by shuffle: lines that belong "
                     "together come to several of them; one task, or a grouping by fields, keeps them together",
                     bolt->name, tasks, shuffled);
        return 0;
    }
    int rc = gx_spread_before(l, bolt, &before);
    if (before)
        gx_yaml_warn(
            l->doc, v->id, l->options->logger,
            "'%s' joins lines that follow each other, and they come through %u tasks of '%s', in an order that "
            "depends on how these run; one task keeps the order",
            bolt->name, gx_component_tasks(l->topology, before), before->name);
    return rc;
}

int gx_clocks_check(const gx_loading *l) {
    int rc = 0;
    for (size_t i = l->spout_count; i < l->vertex_count && rc == 0; i++) {
        const gx_vertex *v = &l->vertices[i];
        const gx_component *bolt = v->whole ? gx_topology_find(l->topology, v->id->text.data) : NULL;
        if (!bolt) continue;
        look_at_keys(l, v, bolt);
        rc = gx_loading_keep(l, look_at_window(l, v, bolt));
        if (rc == 0) rc = look_at_lines(l, v, bolt);
        if (rc == 0) rc = gx_loading_keep(l, look_at_clock(l, v, bolt));
    }
    return rc;
}
