#include "topology/builder.h"

#include "base/nearest.h"
#include "base/options.h"
#include "base/str.h"
#include "topology/config.h"
#include "topology/names.h"

#include <stdio.h>
#include <stdlib.h>

#define END_OF(type, field) (offsetof(type, field) + sizeof(((type *)0)->field))

static const char default_stream[] = "default";

enum { HINT = 160, SETTINGS_MAX = 65535 };

/* --- Small things ------------------------------------------------------------------------------------------------- */

static int no_memory(gale_error *error) {
    return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
}

static const char *kind_of(const gx_component *component) {
    return component->is_spout ? "spout" : "bolt";
}

/* Text that may come from anywhere, for an error. */
static const char *shown(const char *text) {
    return text ? text : "";
}

/* One more item at the end of an array that is kept exactly as large as it must be. */
static void *grown(void *array, uint32_t count, size_t size) {
    return realloc(array, ((size_t)count + 1) * size);
}

gx_component *gx_topology_find(const gale_topology *topology, const char *name) {
    for (uint32_t i = 0; name && i < topology->component_count; i++)
        if (strcmp(topology->components[i]->name, name) == 0) return topology->components[i];
    return NULL;
}

int gx_topology_set_class(gale_topology *topology, const char *name, const char *class_name) {
    gx_component *component = gx_topology_find(topology, name);
    char *copy = gx_name_copy(gx_str(class_name));
    if (!copy) return GALE_NO_MEMORY;
    free(component->class_name);
    component->class_name = copy;
    return GALE_OK;
}

int gx_component_stream(const gx_component *component, const char *name) {
    for (uint32_t i = 0; i < component->output_count; i++)
        if (strcmp(component->outputs[i].name, name ? name : default_stream) == 0) return (int)i;
    bool letters = component->is_spout && name && strcmp(name, GX_DEAD_LETTER_STREAM) == 0;
    return letters ? (int)component->output_count : -1;
}

int gx_output_field(const gx_output *output, const char *name) {
    for (uint32_t i = 0; i < output->field_count; i++)
        if (strcmp(output->fields[i], name) == 0) return (int)i;
    return -1;
}

const gx_component *gx_topology_system(void) {
    static char name[] = GX_SYSTEM_COMPONENT, stream[] = "__tick", field[] = "rate_secs";
    static char *fields[] = { field };
    static gx_output outputs[] = { { stream, fields, 1 } };
    static const gx_component system = { .name = name, .outputs = outputs, .output_count = 1 };
    return &system;
}

static bool is_system(const char *name) {
    return name && strcmp(name, GX_SYSTEM_COMPONENT) == 0;
}

/* As Storm reads it: the component's own key, else the topology's. */
static int64_t own_or_topology(const gale_topology *topology, const gx_component *component, const char *key,
                               int64_t fallback) {
    int64_t general = gale_config_i64(topology->config, key, fallback);
    return gale_config_i64(component->config, key, general);
}

uint32_t gx_component_tasks(const gale_topology *topology, const gx_component *component) {
    int64_t tasks = own_or_topology(topology, component, "topology.tasks", component->parallelism);
    int64_t most = own_or_topology(topology, component, "topology.max.task.parallelism", UINT32_MAX);
    return (uint32_t)(tasks < most ? tasks : most);
}

/* --- Hints -------------------------------------------------------------------------------------------------------- */

static const char *component_hint(const gale_topology *topology, const char *wanted, char *out) {
    gx_nearest nearest = gx_nearest_to(gx_str(shown(wanted)));
    for (uint32_t i = 0; i < topology->component_count; i++)
        gx_nearest_offer(&nearest, gx_str(topology->components[i]->name));
    return gx_nearest_hint(&nearest, out, HINT);
}

static const char *field_hint(const gx_output *output, const char *wanted, char *out) {
    gx_nearest nearest = gx_nearest_to(gx_str(wanted));
    for (uint32_t i = 0; i < output->field_count; i++) gx_nearest_offer(&nearest, gx_str(output->fields[i]));
    return gx_nearest_hint(&nearest, out, HINT);
}

/* "default, errors", as far as it fits. */
static const char *stream_list(const gx_component *component, char *out) {
    size_t at = 0;
    strcpy(out, "no stream");
    for (uint32_t i = 0; i < component->output_count; i++) {
        size_t size = strlen(component->outputs[i].name);
        if (at + size + 8 > HINT) {
            strcpy(out + at, at ? ", ..." : "...");
            break;
        }
        if (i) memcpy(out + at, ", ", 2), at += 2;
        memcpy(out + at, component->outputs[i].name, size + 1);
        at += size;
    }
    return out;
}

/* --- Life --------------------------------------------------------------------------------------------------------- */

static void output_fini(gx_output *output) {
    free(output->name);
    gx_names_free(output->fields, output->field_count);
}

static void subscription_fini(gx_subscription *subscription) {
    free(subscription->source);
    free(subscription->stream);
    if (subscription->free_user) subscription->free_user(subscription->user);
    gx_names_free(subscription->fields, subscription->field_count);
}

static void component_free(gx_component *component) {
    if (!component) return;
    if (component->free_user) component->free_user(component->user);
    for (uint32_t i = 0; component->outputs && i <= component->output_count; i++) output_fini(&component->outputs[i]);
    for (uint32_t i = 0; i < component->input_count; i++) subscription_fini(&component->inputs[i]);
    if (component->ticks) subscription_fini(component->ticks);
    free(component->ticks);
    free(component->outputs);
    free(component->inputs);
    free(component->name);
    free(component->class_name);
    gale_config_free(component->config);
    free(component);
}

gale_topology *gale_topology_new(const char *name) {
    gale_topology *topology = calloc(1, sizeof *topology);
    if (!topology) return NULL;
    topology->error = (gale_error)GALE_ERROR_INIT;
    gx_mark_begin(&topology->mark, GX_KIND_TOPOLOGY);
    gx_topology_ref(topology);
    topology->name = gx_name_copy(gx_str(shown(name)));
    topology->config = gale_config_new();
    if (!topology->name || !topology->config) {
        gale_topology_free(topology);
        return NULL;
    }
    (void)gx_name_check_topology(topology->name, &topology->error);
    return topology;
}

static void hook_free(gx_hook *hook) {
    if (hook->hook.free_user) hook->hook.free_user(hook->hook.user);
    free(hook->component);
}

static void promise_free(gx_promise *promise) {
    subscription_fini(&promise->subscription);
    free(promise->bolt);
}

static void gap_free(gx_gap *gap) {
    free(gap->component);
    free(gap->place);
}

void gx_topology_ref(gale_topology *topology) {
    gx_add_relaxed(&topology->refs, 1);
}

void gx_topology_unref(gale_topology *topology) {
    if (gx_sub_acq_rel(&topology->refs, 1) != 1) return; /* R1, A1: the last sees what the others did */
    for (uint32_t i = topology->component_count; i-- > 0;) component_free(topology->components[i]);
    free(topology->components);
    for (uint32_t i = 0; i < topology->hook_count; i++) hook_free(&topology->hooks[i]);
    free(topology->hooks);
    for (uint32_t i = 0; i < topology->promise_count; i++) promise_free(&topology->promises[i]);
    free(topology->promises);
    for (uint32_t i = 0; i < topology->gap_count; i++) gap_free(&topology->gaps[i]);
    free(topology->gaps);
    gale_config_free(topology->config);
    free(topology->name);
    free(topology);
}

static bool is_topology(const gale_topology *topology) {
    return gx_mark_is(topology, GX_KIND_TOPOLOGY);
}

void gale_topology_free(gale_topology *topology) {
    if (!is_topology(topology)) return;
    gx_mark_end(&topology->mark);
    gx_topology_unref(topology);
}

const char *gale_topology_name(const gale_topology *topology) {
    return is_topology(topology) ? topology->name : "";
}

const gale_config *gale_topology_config(const gale_topology *topology) {
    return is_topology(topology) ? topology->config : NULL;
}

/* May it be changed? The first error sticks; that a runtime uses it is said to who tries, and not noted. */
static int check_changeable(gale_topology *topology) {
    if (!is_topology(topology)) return GALE_INVALID;
    if (gx_load_relaxed(&topology->refs) > 1) return GALE_STATE;
    return topology->error.code < 0 ? topology->error.code : GALE_OK;
}

/* --- Adding a component ------------------------------------------------------------------------------------------- */

/* A spout and a bolt have the same form but for their table. */
typedef struct definition {
    const gale_spout_ops *spout;
    const gale_bolt_ops *bolt;
    const gale_output *outputs;
    size_t output_count;
    const gale_setting *settings;
    size_t setting_count;
    size_t size;
    size_t size_needed;
} definition;

/* What a caller built for an older gale offers; what its structure does not have is zero. */
static void copy_known(void *to, size_t to_size, const void *from, size_t from_size) {
    memcpy(to, from, from_size < to_size ? from_size : to_size);
}

/* Of a structure that is handed over by value: what a later version has behind the end that is known here is not seen. */
static bool is_size(size_t size, size_t needed) {
    return size >= needed && size <= GX_OPTIONS_SIZE_MAX;
}

static int check_definition(const gx_component *component, const definition *def, gale_error *error) {
    bool filled = is_size(def->size, def->size_needed) && (component->is_spout ? !!def->spout : !!def->bolt);
    if (!filled || (def->output_count && !def->outputs) || (def->setting_count && !def->settings))
        return gale_error_set(error, GALE_TOPOLOGY,
                              "%s '%s' is not filled in: its size, its ops or an array is missing", kind_of(component),
                              component->name);
    if (def->setting_count > SETTINGS_MAX)
        return gale_error_set(error, GALE_TOPOLOGY, "%s '%s' has %zu settings, at most %d", kind_of(component),
                              component->name, def->setting_count, SETTINGS_MAX);
    return GALE_OK;
}

/* What it saves and nobody could give back would be found out at the first restart. One that has keyed state may put into it
 * in `save` what it has gathered. */
static int take_durable(gx_component *component, const gale_durable_ops **durable, gale_error *error) {
    char what[HINT];
    if (!*durable) return GALE_OK;
    snprintf(what, sizeof what, "%s '%.100s': ops.durable", kind_of(component), component->name);
    int rc = gx_options_take(&component->durable, sizeof component->durable, *durable, what, error);
    *durable = &component->durable;
    bool gives_back = component->durable.restore || component->durable.flags & GALE_DURABLE_KEYED;
    if (rc < 0 || !component->durable.save || gives_back) return rc;
    return gale_error_set(error, GALE_TOPOLOGY, "%s has 'save' and no 'restore'", what);
}

/* Tables begin with their size; one that ends before what is necessary is as good as none. */
static int take_table(gx_component *component, const definition *def, gale_error *error) {
    const char *name = component->name;
    char what[HINT];
    snprintf(what, sizeof what, "%s '%.100s': ops", kind_of(component), name);
    if (component->is_spout) {
        int rc = gx_options_take(&component->spout, sizeof component->spout, def->spout, what, error);
        if (rc < 0) return rc;
        if (component->spout.next) return take_durable(component, &component->spout.durable, error);
        return gale_error_set(error, GALE_TOPOLOGY, "spout '%s' has no function 'next'", name);
    }
    int rc = gx_options_take(&component->bolt, sizeof component->bolt, def->bolt, what, error);
    if (rc < 0) return rc;
    if (!component->bolt.execute && !component->bolt.execute_batch)
        return gale_error_set(error, GALE_TOPOLOGY, "bolt '%s' has no function 'execute' or 'execute_batch'", name);
    if (component->bolt.kind == GALE_BOLT_SIMPLE || component->bolt.kind == GALE_BOLT_MANUAL)
        return take_durable(component, &component->bolt.durable, error);
    return gale_error_set(error, GALE_TOPOLOGY, "bolt '%s' has the unknown kind %d", name, (int)component->bolt.kind);
}

static int take_output(const char *name, const char *fields, gx_output *ret_output, gale_error *error) {
    gx_output output = { NULL, NULL, 0 };
    int code = gx_names_split("field", fields, &output.fields, &output.field_count, error);
    if (code < 0) return gale_error_add(error, "in stream '%s'", name);
    output.name = gx_name_copy(gx_str(name));
    if (!output.name) {
        output_fini(&output);
        return no_memory(error);
    }
    *ret_output = output;
    return 0;
}

static int add_output(gx_component *component, const gale_output *given, gale_error *error) {
    const char *name = given->stream ? given->stream : default_stream;
    int rc = gx_name_check("stream", name, error);
    if (rc < 0) return rc;
    if (gx_component_stream(component, name) >= 0)
        return gale_error_set(error, GALE_TOPOLOGY, "stream '%s' is declared twice", name);
    rc = take_output(name, given->fields, &component->outputs[component->output_count], error);
    if (rc == 0) component->output_count++;
    return rc;
}

static int add_outputs(gx_component *component, const definition *def, gale_error *error) {
    if (def->output_count > GALE_STREAMS_MAX)
        return gale_error_set(error, GALE_TOPOLOGY, "%zu streams, at most %d", def->output_count, GALE_STREAMS_MAX);
    component->outputs = calloc(def->output_count + 1, sizeof *component->outputs);
    if (!component->outputs) return no_memory(error);
    int rc = 0;
    for (size_t i = 0; i < def->output_count && rc >= 0; i++) rc = add_output(component, &def->outputs[i], error);
    if (rc < 0 || !component->is_spout) return rc;
    return take_output(GX_DEAD_LETTER_STREAM, GX_DEAD_LETTER_STREAM_FIELDS,
                       &component->outputs[component->output_count], error);
}

/* A key that Storm drops from a component's configuration has no effect. */
static int set_own(gx_component *component, const char *key, gale_value value, gale_error *error) {
    int effect = gale_config_set(component->config, key, value, error);
    const gx_key *known = effect < 0 ? NULL : gx_config_find(gx_str(key));
    return known && !known->component ? 1 : effect;
}

static int add_settings(gx_component *component, const definition *def, gale_error *error) {
    component->config = gale_config_new();
    if (!component->config) return no_memory(error);
    for (size_t i = 0; i < def->setting_count; i++) {
        int rc = set_own(component, def->settings[i].key, def->settings[i].value, error);
        if (rc < 0) return rc;
    }
    return 0;
}

static int fill_component(gx_component *component, const definition *def, gale_error *error) {
    int rc = check_definition(component, def, error);
    if (rc >= 0) rc = take_table(component, def, error);
    if (rc < 0) return rc;
    rc = add_outputs(component, def, error);
    if (rc >= 0) rc = add_settings(component, def, error);
    if (rc < 0) gale_error_add(error, "in %s '%s'", kind_of(component), component->name);
    return rc;
}

static int append_component(gale_topology *topology, gx_component *component, gale_error *error) {
    gx_component **components = grown(topology->components, topology->component_count, sizeof *components);
    if (!components) return no_memory(error);
    components[topology->component_count++] = component;
    topology->components = components;
    return 0;
}

static int check_new(const gale_topology *topology, const char *what, const char *name, uint32_t parallelism,
                     gale_error *error) {
    int rc = gx_name_check(what, name, error);
    if (rc < 0) return rc;
    const gx_component *other = gx_topology_find(topology, name);
    if (other) return gale_error_set(error, GALE_TOPOLOGY, "%s '%s' has the name of a %s", what, name, kind_of(other));
    if (parallelism == 0)
        return gale_error_set(error, GALE_TOPOLOGY, "%s '%s' has parallelism 0, at least 1 is needed", what, name);
    return 0;
}

/* Makes the component without its user pointer, which it owns only once it has been added. */
static int make_component(gale_topology *topology, const char *name, const definition *def, bool is_spout,
                          uint32_t parallelism, gx_component **ret_component) {
    gale_error *error = &topology->error;
    int code = check_new(topology, is_spout ? "spout" : "bolt", name, parallelism, error);
    if (code < 0) return code;
    gx_component *component = calloc(1, sizeof *component);
    if (!component) return no_memory(error);
    component->is_spout = is_spout;
    component->parallelism = parallelism;
    component->name = gx_name_copy(gx_str(name));
    code = component->name ? fill_component(component, def, error) : no_memory(error);
    if (code >= 0) code = append_component(topology, component, error);
    if (code < 0) {
        component_free(component);
        return code;
    }
    *ret_component = component;
    return 0;
}

static int add(gale_topology *topology, const char *name, const definition *def, bool is_spout, uint32_t parallelism,
               void *user, void (*free_user)(void *user)) {
    gx_component *component = NULL;
    int code = check_changeable(topology);
    if (code >= 0) code = make_component(topology, name, def, is_spout, parallelism, &component);
    if (code < 0) {
        if (free_user) free_user(user);
        return code;
    }
    component->user = user;
    component->free_user = free_user;
    return 0;
}

int gale_topology_add_spout(gale_topology *topology, const char *name, gale_spout spout, uint32_t parallelism) {
    definition def = { spout.ops,      NULL,
                       spout.outputs,  spout.output_count,
                       spout.settings, spout.setting_count,
                       spout.size,     END_OF(gale_spout, setting_count) };
    return add(topology, name, &def, true, parallelism, spout.user, spout.free_user);
}

static int keep_promises(gale_topology *topology, gx_component *bolt);

int gale_topology_add_bolt(gale_topology *topology, const char *name, gale_bolt bolt, uint32_t parallelism) {
    definition def = { NULL,          bolt.ops,           bolt.outputs, bolt.output_count,
                       bolt.settings, bolt.setting_count, bolt.size,    END_OF(gale_bolt, setting_count) };
    int rc = add(topology, name, &def, false, parallelism, bolt.user, bolt.free_user);
    return rc < 0 ? rc : keep_promises(topology, gx_topology_find(topology, name));
}

/* --- Subscribing -------------------------------------------------------------------------------------------------- */

static int find_bolt(gale_topology *topology, const char *name, gx_component **ret_bolt) {
    char hint[HINT];
    gx_component *component = gx_topology_find(topology, name);
    if (!component)
        return gale_error_set(&topology->error, GALE_TOPOLOGY, "bolt '%s' does not exist%s", shown(name),
                              component_hint(topology, name, hint));
    if (component->is_spout)
        return gale_error_set(&topology->error, GALE_TOPOLOGY, "spout '%s' cannot subscribe to anything", name);
    *ret_bolt = component;
    return 0;
}

static int take_fields(gx_subscription *subscription, const gale_grouping *grouping, gale_error *error) {
    int rc = gx_names_split("field", grouping->fields, &subscription->fields, &subscription->field_count, error);
    if (rc < 0 || grouping->kind != GALE_GROUPING_FIELDS || subscription->field_count) return rc < 0 ? rc : 0;
    return gale_error_set(error, GALE_TOPOLOGY, "fields grouping names no field");
}

static int take_custom(gx_subscription *subscription, const gale_grouping *grouping, gale_error *error) {
    int rc = grouping->custom ? gx_options_take(&subscription->custom, sizeof subscription->custom, grouping->custom,
                                                "custom grouping: ops", error)
                              : GALE_OK;
    if (rc < 0 || subscription->custom.choose) return rc;
    return gale_error_set(error, GALE_TOPOLOGY, "custom grouping has no function 'choose'");
}

static int take_grouping(gx_subscription *subscription, const gale_grouping *grouping, gale_error *error) {
    if (!is_size(grouping->size, END_OF(gale_grouping, fields)) || grouping->kind < 0 ||
        grouping->kind >= GALE_GROUPING_COUNT)
        return gale_error_set(error, GALE_TOPOLOGY, "the grouping is not valid");
    if (grouping->drop < 0 || grouping->drop >= GALE_DROP_COUNT)
        return gale_error_set(error, GALE_TOPOLOGY, "there is no drop policy %d", (int)grouping->drop);
    subscription->grouping = grouping->kind;
    subscription->drop = grouping->drop;
    switch (grouping->kind) {
    case GALE_GROUPING_FIELDS:
    case GALE_GROUPING_PARTIAL_KEY: return take_fields(subscription, grouping, error);
    case GALE_GROUPING_CUSTOM: return take_custom(subscription, grouping, error);
    default: return 0;
    }
}

static int fill_subscription(gx_subscription *subscription, const char *source, const char *stream,
                             const gale_grouping *grouping, gale_error *error) {
    bool of_the_engine = is_system(source) || strcmp(stream, GX_DEAD_LETTER_STREAM) == 0;
    int rc = is_system(source) ? 0 : gx_name_check("component", source, error);
    if (rc >= 0 && !of_the_engine) rc = gx_name_check("stream", stream, error);
    if (rc >= 0) rc = take_grouping(subscription, grouping, error);
    if (rc < 0) return rc;
    subscription->source = gx_name_copy(gx_str(source));
    subscription->stream = gx_name_copy(gx_str(stream));
    return subscription->source && subscription->stream ? 0 : no_memory(error);
}

/* The same for the system's one stream. */
static int put_ticks(gx_component *bolt, const gx_subscription *subscription, gale_error *error) {
    bool replaces = bolt->ticks != NULL;
    if (!replaces && !(bolt->ticks = calloc(1, sizeof *bolt->ticks))) return no_memory(error);
    subscription_fini(bolt->ticks);
    *bolt->ticks = *subscription;
    return replaces;
}

/* Storm keeps one grouping for a stream: the last. Returns 1 when there was one. */
static int put_subscription(gx_component *bolt, const gx_subscription *subscription, gale_error *error) {
    for (uint32_t i = 0; i < bolt->input_count; i++) {
        gx_subscription *old = &bolt->inputs[i];
        if (strcmp(old->source, subscription->source) != 0 || strcmp(old->stream, subscription->stream) != 0) continue;
        subscription_fini(old);
        *old = *subscription;
        return 1;
    }
    gx_subscription *inputs = grown(bolt->inputs, bolt->input_count, sizeof *inputs);
    if (!inputs) return no_memory(error);
    inputs[bolt->input_count++] = *subscription;
    bolt->inputs = inputs;
    return 0;
}

static int put(gx_component *bolt, const gx_subscription *subscription, gale_error *error) {
    return is_system(subscription->source) ? put_ticks(bolt, subscription, error)
                                           : put_subscription(bolt, subscription, error);
}

static int promise(gale_topology *topology, const char *bolt, const gx_subscription *subscription) {
    gx_promise *promises = grown(topology->promises, topology->promise_count, sizeof *promises);
    if (promises) topology->promises = promises;
    char *name = promises ? gx_name_copy(gx_str(bolt)) : NULL;
    if (!name) return no_memory(&topology->error);
    promises[topology->promise_count++] = (gx_promise){ name, *subscription };
    return 0;
}

/* Gives a bolt that was added what was promised to it. */
static int keep_promises(gale_topology *topology, gx_component *bolt) {
    int rc = 0;
    for (uint32_t i = 0; i < topology->promise_count && rc >= 0;) {
        gx_promise *p = &topology->promises[i];
        if (strcmp(p->bolt, bolt->name) != 0) {
            i++;
            continue;
        }
        rc = put(bolt, &p->subscription, &topology->error);
        if (rc < 0) return rc;
        free(p->bolt);
        memmove(p, p + 1, (--topology->promise_count - i) * sizeof *p);
    }
    return 0;
}

static int subscribe(gale_topology *topology, const char *bolt, const char *source, const char *stream,
                     const gale_grouping *grouping, gx_subscription *subscription) {
    gx_component *component = NULL;
    int rc = check_changeable(topology);
    if (rc < 0) return rc;
    gale_error *error = &topology->error;
    bool later = topology->open && bolt && !gx_topology_find(topology, bolt);
    rc = later ? gx_name_check("component", bolt, error) : find_bolt(topology, bolt, &component);
    if (rc < 0) return rc;
    rc = fill_subscription(subscription, source, stream ? stream : default_stream, grouping, error);
    if (rc >= 0) rc = later ? promise(topology, bolt, subscription) : put(component, subscription, error);
    return rc < 0 ? gale_error_add(error, "in a subscription of bolt '%s' to '%s'", bolt, shown(source)) : rc;
}

int gale_topology_subscribe(gale_topology *topology, const char *bolt, const char *source, const char *stream,
                            gale_grouping grouping) {
    gale_grouping taken = { 0 };
    copy_known(&taken, sizeof taken, &grouping, grouping.size);
    gx_subscription subscription = { .user = taken.user, .free_user = taken.free_user };
    int rc = subscribe(topology, bolt, source, stream, &taken, &subscription);
    if (rc < 0) subscription_fini(&subscription);
    return rc;
}

/* --- Configuration ------------------------------------------------------------------------------------------------ */

int gale_topology_set(gale_topology *topology, const char *component, const char *key, gale_value value) {
    char hint[HINT];
    int rc = check_changeable(topology);
    if (rc < 0) return rc;
    gale_error *error = &topology->error;
    if (!component) return gale_config_set(topology->config, key, value, error);
    gx_component *found = gx_topology_find(topology, component);
    if (!found)
        return gale_error_set(error, GALE_TOPOLOGY, "key '%s' is set for component '%s', which does not exist%s",
                              shown(key), component, component_hint(topology, component, hint));
    int effect = set_own(found, key, value, error);
    if (effect < 0) gale_error_add(error, "in %s '%s'", kind_of(found), component);
    return effect;
}

/* --- The whole ---------------------------------------------------------------------------------------------------- */

/* Storm looks for a grouping's fields in all streams of the source together, and finds out at run time. We look in the
 * stream that is subscribed to. */
static int check_fields(const gx_component *bolt, const gx_subscription *input, const gx_output *output,
                        gale_error *error) {
    char hint[HINT];
    for (uint32_t i = 0; i < input->field_count; i++) {
        const char *field = input->fields[i];
        if (gx_output_field(output, field) >= 0) continue;
        return gale_error_set(error, GALE_TOPOLOGY,
                              "%s grouping of bolt '%s' on '%s' names field '%s', which stream '%s' does not declare%s",
                              gale_grouping_name(input->grouping), bolt->name, input->source, field, output->name,
                              field_hint(output, field, hint));
    }
    if (input->grouping != GALE_GROUPING_PARTIAL_KEY || output->field_count) return 0;
    return gale_error_set(error, GALE_TOPOLOGY,
                          "partial_key grouping of bolt '%s' on '%s' needs a field, and stream '%s' has none",
                          bolt->name, input->source, output->name);
}

int gx_topology_note_gap(gale_topology *topology, const char *name, const char *place) {
    gx_gap *gaps = grown(topology->gaps, topology->gap_count, sizeof *gaps);
    if (!gaps) return GALE_NO_MEMORY;
    topology->gaps = gaps;
    gx_gap gap = { gx_name_copy(gx_str(name)), gx_name_copy(gx_str(place)) };
    if (!gap.component || !gap.place) return gap_free(&gap), GALE_NO_MEMORY;
    gaps[topology->gap_count++] = gap;
    return 0;
}

/* "FILE:LINE:COLUMN: " where a file names the component; else "". */
static const char *gap_of(const gale_topology *topology, const char *name, char room[HINT]) {
    room[0] = 0;
    for (uint32_t i = 0; i < topology->gap_count && !*room; i++)
        if (strcmp(topology->gaps[i].component, name) == 0) snprintf(room, HINT, "%s: ", topology->gaps[i].place);
    return room;
}

static int check_input(const gale_topology *topology, const gx_component *bolt, const gx_subscription *input,
                       gale_error *error) {
    char text[HINT], place[HINT];
    const gx_component *source = is_system(input->source) ? gx_topology_system()
                                                          : gx_topology_find(topology, input->source);
    if (!source)
        return gale_error_set(error, GALE_TOPOLOGY, "%sbolt '%s' subscribes to component '%s', which does not exist%s",
                              gap_of(topology, input->source, place), bolt->name, input->source,
                              component_hint(topology, input->source, text));
    int stream = gx_component_stream(source, input->stream);
    if (stream < 0)
        return gale_error_set(error, GALE_TOPOLOGY, "bolt '%s' subscribes to stream '%s' of '%s', which declares: %s",
                              bolt->name, input->stream, input->source, stream_list(source, text));
    return check_fields(bolt, input, &source->outputs[stream], error);
}

/* Ticks are asked for by a key; the subscription alone makes none, in Storm neither. */
static int check_ticks(const gale_topology *topology, const gx_component *bolt, gale_error *error) {
    static const char key[] = "topology.tick.tuple.freq.secs";
    if (!bolt->ticks) return 0;
    int rc = check_input(topology, bolt, bolt->ticks, error);
    if (rc < 0 || gale_config_f64(bolt->config, key, gale_config_f64(topology->config, key, 0)) > 0) return rc;
    return gale_error_set(
        error, GALE_TOPOLOGY,
        "bolt '%s' subscribes to the ticks of '%s', but would get none: %s is set neither for it nor for "
        "the topology",
        bolt->name, GX_SYSTEM_COMPONENT, key);
}

static int check_component(const gale_topology *topology, const gx_component *component, gale_error *error) {
    char place[HINT];
    if (component->is_spout) return 0;
    if (component->input_count == 0 && !component->ticks)
        return gale_error_set(error, GALE_TOPOLOGY, "%sbolt '%s' has no input: no stream leads to it",
                              gap_of(topology, component->name, place), component->name);
    int rc = check_ticks(topology, component, error);
    for (uint32_t i = 0; i < component->input_count && rc >= 0; i++)
        rc = check_input(topology, component, &component->inputs[i], error);
    return rc;
}

static int check_counts(const gale_topology *topology, gale_error *error) {
    uint64_t tasks = 0;
    bool spout = false;
    for (uint32_t i = 0; i < topology->component_count; i++) {
        tasks += gx_component_tasks(topology, topology->components[i]);
        spout |= topology->components[i]->is_spout;
    }
    if (!spout) return gale_error_set(error, GALE_TOPOLOGY, "topology '%s' has no spout", topology->name);
    tasks += (uint64_t)gale_config_i64(topology->config, "topology.acker.executors", 0);
    if (tasks <= GALE_TASKS_MAX) return 0;
    return gale_error_set(error, GALE_TOPOLOGY, "topology '%s' has %llu tasks, at most %d", topology->name,
                          (unsigned long long)tasks, GALE_TASKS_MAX);
}

/* The report that stuck is the caller's to read. */
static int give_error(const gale_topology *topology, gale_error *error) {
    if (!error) return topology->error.code;
    size_t size = error->size;
    *error = topology->error;
    error->size = size;
    return error->code;
}

static int check_hooks(const gale_topology *topology, gale_error *error) {
    char hint[HINT];
    for (uint32_t i = 0; i < topology->hook_count; i++) {
        const char *name = topology->hooks[i].component;
        if (name && !gx_topology_find(topology, name))
            return gale_error_set(error, GALE_TOPOLOGY, "a hook is for component '%s', which does not exist%s", name,
                                  component_hint(topology, name, hint));
    }
    return 0;
}

static int check_promises(const gale_topology *topology, gale_error *error) {
    char hint[HINT], place[HINT];
    if (!topology->promise_count) return 0;
    const gx_promise *p = &topology->promises[0];
    const gx_component *spout = gx_topology_find(topology, p->bolt);
    const char *at = gap_of(topology, p->bolt, place);
    if (spout)
        return gale_error_set(error, GALE_TOPOLOGY, "%s'%s' is a spout; the stream from '%s' leads to a bolt", at,
                              p->bolt, p->subscription.source);
    return gale_error_set(error, GALE_TOPOLOGY, "%sa stream of '%s' leads to bolt '%s', which does not exist%s", at,
                          p->subscription.source, p->bolt, component_hint(topology, p->bolt, hint));
}

/* What the whole shows does not stick: what is missing can still be added. */
int gale_topology_check(gale_topology *topology, gale_error *error) {
    if (!is_topology(topology)) return gale_error_set(error, GALE_INVALID, "there is no topology to check");
    if (topology->error.code < 0) return give_error(topology, error);
    int rc = 0;
    for (uint32_t i = 0; i < topology->component_count && rc >= 0; i++)
        rc = check_component(topology, topology->components[i], error);
    if (rc >= 0) rc = check_promises(topology, error);
    if (rc >= 0) rc = check_hooks(topology, error);
    return rc < 0 ? rc : check_counts(topology, error);
}

/* --- Hooks -------------------------------------------------------------------------------------------------------- */

static int take_hook(gale_topology *topology, const char *component, gx_hook *made) {
    int rc = check_changeable(topology);
    if (rc < 0) return rc;
    gale_error *error = &topology->error;
    if (!is_size(made->hook.size, END_OF(gale_hook, free_user)))
        return gale_error_set(error, GALE_TOPOLOGY, "a hook is not filled in: its size is missing");
    if (component && !(made->component = strdup(component))) return no_memory(error);
    gx_hook *hooks = grown(topology->hooks, topology->hook_count, sizeof *hooks);
    if (!hooks) return no_memory(error);
    topology->hooks = hooks;
    topology->hooks[topology->hook_count++] = *made;
    return GALE_OK;
}

int gale_topology_add_hook(gale_topology *topology, const char *component, gale_hook given) {
    gx_hook made = { .hook = { 0 } };
    copy_known(&made.hook, sizeof made.hook, &given, given.size);
    int rc = take_hook(topology, component, &made);
    if (rc < 0) hook_free(&made);
    return rc;
}
