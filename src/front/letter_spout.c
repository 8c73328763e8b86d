#include "front/letter_spout.h"

#include "base/nearest.h"
#include "base/str.h"
#include "topology/builder.h"

#include <stdio.h>
#include <stdlib.h>

/* What the tasks of one spout share. */
typedef struct source {
    const gx_dead_letter_file *letters;
    const gx_component *component;
} source;

typedef struct letter_spout {
    const source *source;
    gale_collector *out;
    uint32_t task_index, task_count;
    size_t next;  /* of all letters */
    uint64_t own; /* letters of this spout before that one */
    gale_value values[];
} letter_spout;

/* --- The spout --- */

static bool is_of(const gx_kept_letter *letter, const gx_component *component) {
    return gx_str_is(letter->component, component->name);
}

static int letter_stream(const gx_kept_letter *letter, const gx_component *component) {
    for (uint32_t i = 0; i < component->output_count; i++)
        if (gx_str_is(letter->stream, component->outputs[i].name)) return (int)i;
    return -1;
}

static uint32_t most_fields(const gx_component *component) {
    uint32_t most = 1;
    for (uint32_t i = 0; i < component->output_count; i++)
        if (component->outputs[i].field_count > most) most = component->outputs[i].field_count;
    return most;
}

static int spout_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    const source *from = user;
    letter_spout *spout = calloc(1, sizeof *spout + most_fields(from->component) * sizeof(gale_value));
    if (!spout) return GALE_NO_MEMORY;
    spout->source = from;
    spout->out = out;
    spout->task_index = context->task_index;
    spout->task_count = context->task_count;
    out->ops->resume(
        out); /* what is emitted again belongs to the results of the run that failed it; no place is kept */
    *ret_self = spout;
    return 0;
}

static void spout_close(void *self) {
    free(self);
}

static void report(letter_spout *spout, const gx_kept_letter *letter, const char *reason, const char *text) {
    char line[500];
    snprintf(line, sizeof line, "%s:%u: the letter failed again: %s%s%s", spout->source->letters->name, letter->number,
             reason, *text ? ": " : "", text);
    gale_report(spout->out, line);
}

/* Moves on to the next letter of this task. */
static const gx_kept_letter *find_next(letter_spout *spout) {
    const gx_dead_letter_file *letters = spout->source->letters;
    for (; spout->next < letters->count; spout->next++) {
        if (!is_of(&letters->items[spout->next], spout->source->component)) continue;
        if (spout->own % spout->task_count == spout->task_index) return &letters->items[spout->next];
        spout->own++;
    }
    return NULL;
}

static int spout_next(void *self, gale_collector *out, gale_wait *wait) {
    letter_spout *spout = self;
    (void)wait;
    const gx_kept_letter *letter = find_next(spout);
    if (!letter) return GALE_NEXT_DONE;
    gale_value tuple = gale_value_owned_view(letter->tuple);
    for (uint32_t i = 0; i < tuple.size; i++) spout->values[i] = gale_list_at(&tuple, i);
    uint32_t stream = (uint32_t)letter_stream(letter, spout->source->component);
    int rc = gale_emit_tracked(out, stream, spout->values, tuple.size, spout->next);
    if (rc == GALE_AGAIN) return GALE_NEXT_NOTHING;
    if (rc == GALE_NO_MEMORY || rc == GALE_STOPPED) return rc;
    if (rc < 0) report(spout, letter, gale_error_name(rc), gale_error_text(rc));
    spout->next++;
    spout->own++;
    return rc < 0 ? rc : GALE_NEXT_EMITTED;
}

static void spout_fail(void *self, uint64_t message_id, const gale_failure *failure) {
    letter_spout *spout = self;
    if (failure->reason == GALE_REASON_STOPPED) return; /* it is still in the file that it came from */
    report(spout, &spout->source->letters->items[message_id], gale_reason_name(failure->reason), failure->text);
}

static const gale_spout_ops ops = {
    .size = sizeof(gale_spout_ops),
    .name = "letter spout",
    .open = spout_open,
    .next = spout_next,
    .fail = spout_fail,
    .close = spout_close,
};

/* --- Checks --- */

typedef struct place {
    const gale_topology *topology;
    const gx_dead_letter_file *letters;
    const gx_kept_letter *letter;
    gale_error *error;
} place;

static int wrong_spout(const place *p) {
    gx_nearest nearest = gx_nearest_to(p->letter->component);
    char hint[160];
    for (uint32_t i = 0; i < p->topology->component_count; i++)
        if (p->topology->components[i]->is_spout) gx_nearest_offer(&nearest, gx_str(p->topology->components[i]->name));
    return gale_error_set(p->error, GALE_NOT_FOUND, "%s:%u: the topology has no spout '%.*s'%s", p->letters->name,
                          p->letter->number, GX_STR(p->letter->component),
                          gx_nearest_hint(&nearest, hint, sizeof hint));
}

static int wrong_stream(const place *p, const gx_component *spout) {
    gx_nearest nearest = gx_nearest_to(p->letter->stream);
    char hint[160];
    for (uint32_t i = 0; i < spout->output_count; i++) gx_nearest_offer(&nearest, gx_str(spout->outputs[i].name));
    return gale_error_set(p->error, GALE_NOT_FOUND, "%s:%u: spout '%s' has no stream '%.*s'%s", p->letters->name,
                          p->letter->number, spout->name, GX_STR(p->letter->stream),
                          gx_nearest_hint(&nearest, hint, sizeof hint));
}

/* Only the spout knew which task a tuple was for. */
static bool is_direct(const place *p, const gx_component *spout, const char *stream) {
    for (uint32_t c = 0; c < p->topology->component_count; c++) {
        const gx_component *bolt = p->topology->components[c];
        for (uint32_t i = 0; i < bolt->input_count; i++)
            if (bolt->inputs[i].grouping == GALE_GROUPING_DIRECT && strcmp(bolt->inputs[i].source, spout->name) == 0 &&
                strcmp(bolt->inputs[i].stream, stream) == 0)
                return true;
    }
    return false;
}

static const gx_component *find_spout(const place *p) {
    for (uint32_t i = 0; i < p->topology->component_count; i++)
        if (p->topology->components[i]->is_spout && is_of(p->letter, p->topology->components[i]))
            return p->topology->components[i];
    return NULL;
}

static int check(const place *p) {
    const gx_component *spout = find_spout(p);
    if (!spout) return wrong_spout(p);
    int stream = letter_stream(p->letter, spout);
    if (stream < 0) return wrong_stream(p, spout);
    const gx_output *output = &spout->outputs[stream];
    uint32_t count = gale_value_owned_view(p->letter->tuple).size;
    if (count != output->field_count)
        return gale_error_set(p->error, GALE_FIELDS,
                              "%s:%u: the tuple has %u value%s, and stream '%s' of '%s' has %u field%s",
                              p->letters->name, p->letter->number, count, gx_plural(count), output->name, spout->name,
                              output->field_count, gx_plural(output->field_count));
    if (!is_direct(p, spout, output->name)) return 0;
    return gale_error_set(p->error, GALE_UNSUPPORTED,
                          "%s:%u: stream '%s' of '%s' has a consumer with direct grouping, and the letter does not say "
                          "which task it was for",
                          p->letters->name, p->letter->number, output->name, spout->name);
}

/* --- Replacing --- */

static bool replace(gx_component *component, const gx_dead_letter_file *letters) {
    source *from = malloc(sizeof *from);
    if (!from) return false;
    *from = (source){ letters, component };
    if (component->free_user) component->free_user(component->user);
    component->spout = ops;
    component->user = from;
    component->free_user = free;
    return true;
}

int gx_letter_spouts(gale_topology *topology, const gx_dead_letter_file *letters, gale_error *error) {
    for (size_t i = 0; i < letters->count; i++) {
        const place p = { topology, letters, &letters->items[i], error };
        int code = check(&p);
        if (code < 0) return code;
    }
    for (uint32_t i = 0; i < topology->component_count; i++) {
        gx_component *component = topology->components[i];
        if (component->is_spout && !replace(component, letters))
            return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    }
    return 0;
}
