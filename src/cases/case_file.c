#include "cases/case_file.h"

#include "cases/vacuous.h"
#include "cases/when.h"

#include "base/os/file.h"
#include "base/str.h"
#include "front/arguments.h"
#include "front/assign.h"
#include "front/flux.h"
#include "front/units.h"
#include "sim/faults.h"
#include "topology/builder.h"

#include <gale_test.h>
#include <stdio.h>
#include <stdlib.h>

#define FILE_KEYS "topology set config properties environment cases"
#define CASE_KEYS "name seed seeds executors faults set mock steps"
#define MOCK_KEYS "id answers"
#define ANSWER_KEYS "when emit stream fail reject after"

typedef struct reading {
    gx_case_file *file;
    gx_yaml_doc *doc;
    gale_error *error;
} reading;

/* --- Helpers ------------------------------------------------------------------------------------------------------ */

static int keep(const reading *r, int rc) {
    return gx_yaml_keep(r->doc, rc, r->error);
}

static int no_memory(const reading *r) {
    return gale_error_set(r->error, GALE_NO_MEMORY, "%s: out of memory", gx_yaml_name(r->doc));
}

static void *take(const reading *r, size_t count, size_t size) {
    return gx_yaml_take(r->doc, (count + 1) * size);
}

/* A text that may be left out. */
static int maybe_text(const reading *r, const gx_yaml *map, const char *what, const char *key, const gx_yaml **ret) {
    return gx_yaml_get(map, key) ? gx_shape_text(r->doc, map, what, key, ret, r->error) : 0;
}

static int maybe_flag(const reading *r, const gx_yaml *map, const char *key, bool *ret) {
    const gx_yaml *node = gx_yaml_get(map, key);
    if (!node) return 0;
    if (node->type != GALE_TYPE_BOOL)
        return gx_yaml_error(r->doc, node, r->error, GALE_TYPE, "'%s' must be true or false, not %s", key,
                             gx_yaml_type_text(node));
    *ret = node->as.boolean;
    return 0;
}

/* Texts of a list; more than those that are in `*list` already. */
static int read_texts(const reading *r, const gx_yaml *map, const char *what, const char *key, const char ***list,
                      size_t *count) {
    const gx_yaml *node;
    int rc = gx_shape_list(r->doc, map, what, key, &node, r->error);
    if (rc < 0 || !node) return rc;
    const char **grown = take(r, *count + node->count, sizeof *grown);
    if (!grown) return no_memory(r);
    if (*count) memcpy(grown, *list, *count * sizeof *grown);
    *list = grown;
    for (const gx_yaml *item = node->as.first; item && rc == 0; item = item->next) {
        bool wrong = !gx_yaml_is_scalar(item) || !memchr(item->text.data ? item->text.data : "", '=', item->text.size);
        if (wrong)
            rc = keep(r, gx_yaml_error(r->doc, item, r->error, GALE_TYPE, "'%s' wants texts with a '=' in them", key));
        else
            (*list)[(*count)++] = item->text.data;
    }
    return rc;
}

/* Seconds, or a duration. */
static int read_time(const reading *r, const gx_yaml *node, int64_t *ret_nanoseconds) {
    double seconds;
    bool read = gx_yaml_is_scalar(node) && gx_duration_read(node->text, &seconds);
    if (!read)
        return gx_yaml_error(r->doc, node, r->error, GALE_TYPE, "a duration is wanted (250ms, 10s, 1h30m), not %s",
                             gx_yaml_is_scalar(node) ? node->text.data : gx_yaml_type_text(node));
    if (!(seconds >= 0 && seconds <= 1e9))
        return gx_yaml_error(r->doc, node, r->error, GALE_INVALID, "a duration is from 0 to 1e9 seconds");
    *ret_nanoseconds = (int64_t)(seconds * 1e9 + 0.5);
    return 0;
}

/* --- The topology ------------------------------------------------------------------------------------------------- */

/* `name` beside the file of cases, unless it begins at the root. */
static int beside(const reading *r, const gx_yaml *node, gale_str name, char *path, size_t room) {
    const char *own = gx_yaml_name(r->doc), *slash = strrchr(own, '/');
    size_t folder = slash && (!name.size || name.data[0] != '/') ? (size_t)(slash - own) + 1 : 0;
    if (folder + name.size >= room)
        return gx_yaml_error(r->doc, node, r->error, GALE_TOO_LARGE, "the path is longer than %zu bytes", room - 1);
    memcpy(path, own, folder);
    memcpy(path + folder, name.data, name.size);
    path[folder + name.size] = 0;
    return 0;
}

/* NAME.yaml for NAME.test.yaml. */
static int default_path(const reading *r, char *path, size_t room) {
    static const char ending[] = ".test.yaml";
    gale_str own = gx_str(gx_yaml_name(r->doc));
    size_t end = sizeof ending - 1;
    bool named = own.size > end && memcmp(own.data + own.size - end, ending, end) == 0;
    if (!named || own.size >= room)
        return gx_yaml_error(r->doc, NULL, r->error, GALE_TOPOLOGY,
                             "there is no 'topology', and the file is not called NAME.test.yaml, beside NAME.yaml");
    snprintf(path, room, "%.*s.yaml", (int)(own.size - end), own.data);
    return 0;
}

static int find_topology(const reading *r, const gx_yaml *root) {
    const gx_yaml *named = NULL;
    gx_case_file *file = r->file;
    int rc = maybe_text(r, root, "a file of cases", "topology", &named);
    if (rc == 0)
        rc = named ? beside(r, named, named->text, file->path, sizeof file->path)
                   : default_path(r, file->path, sizeof file->path);
    gx_file_about about;
    if (rc < 0 || gx_file_about_path(file->path, &about, NULL) == 0) return rc;
    return gx_yaml_error(r->doc, named, r->error, GALE_NOT_FOUND, "there is no topology '%s'", file->path);
}

static int read_properties(const reading *r, const gx_yaml *root) {
    const gx_yaml *named = NULL;
    char path[GX_CASE_PATH];
    gale_error inner = GALE_ERROR_INIT;
    int rc = maybe_text(r, root, "a file of cases", "properties", &named);
    if (rc < 0 || !named) return rc;
    rc = beside(r, named, named->text, path, sizeof path);
    if (rc == 0 && gx_properties_load(path, &r->file->properties, &inner) < 0)
        rc = gx_yaml_error_at(r->doc, named, r->error, &inner);
    r->file->has_properties = rc == 0;
    return rc;
}

static gx_flux_options flux_of(const gx_case_file *file, const gx_case *of) {
    return (gx_flux_options){ .assignments = file->assignments,
                              .assignment_count = file->assignment_count,
                              .sets = of ? of->sets : file->sets,
                              .set_count = of ? of->set_count : file->set_count,
                              .variables = &file->variables,
                              .plugins = file->plugins,
                              .dry = true };
}

/* What is wrong with it is told with its own places. */
static int load_topology(const reading *r, const gx_yaml *root, gx_problems *problems) {
    gx_case_file *file = r->file;
    if (file->topology) return 0;
    int rc = keep(r, find_topology(r, root));
    if (rc == 0) rc = keep(r, read_properties(r, root));
    if (rc < 0 || gx_yaml_kept(r->doc)) return rc;
    file->variables.properties = file->has_properties ? &file->properties : NULL;
    gx_flux_options flux = flux_of(file, NULL);
    flux.problems = problems;
    rc = gx_flux_load(file->path, file->registry, &flux, &file->topology, r->error);
    return rc == GALE_NO_MEMORY ? rc : keep(r, r->error->code);
}

int gx_case_file_topology(const gx_case_file *file, const gx_case *of, const char *folder, gale_topology **ret_topology,
                          gale_error *error) {
    gx_flux_options flux = flux_of(file, of);
    flux.below = folder;
    return gx_flux_load(file->path, file->registry, &flux, ret_topology, error);
}

/* --- Names of the topology ---------------------------------------------------------------------------------------- */

static const gx_component *find_component(const reading *r, const gx_yaml *id) {
    return r->file->topology ? gx_topology_find(r->file->topology, id->text.data) : NULL;
}

static int unknown_component(const reading *r, const gx_yaml *id) {
    char hint[GX_HINT_SIZE];
    gx_buf names = GX_BUF_INIT(NULL);
    const gale_topology *t = r->file->topology;
    for (uint32_t i = 0; i < t->component_count; i++) gx_buf_format(&names, "%s ", t->components[i]->name);
    const char *known = gx_buf_text(&names);
    int rc = gx_yaml_error(r->doc, id, r->error, GALE_NOT_FOUND, "the topology has no component '%.*s'%s",
                           GX_STR(id->text), gx_shape_hint(id->text, known ? known : "", hint));
    gx_buf_fini(&names);
    return rc;
}

static int unknown_stream(const reading *r, const gx_yaml *place, const gx_component *c, const char *stream) {
    char hint[GX_HINT_SIZE];
    gx_buf names = GX_BUF_INIT(NULL);
    for (uint32_t i = 0; i < c->output_count; i++) gx_buf_format(&names, "%s ", c->outputs[i].name);
    const char *known = gx_buf_text(&names);
    int rc = gx_yaml_error(r->doc, place, r->error, GALE_NOT_FOUND, "'%s' has no stream '%s'%s", c->name, stream,
                           gx_shape_hint(gx_str(stream), known ? known : "", hint));
    gx_buf_fini(&names);
    return rc;
}

/* `place`: where the stream is named, or else the component. */
static int find_output(const reading *r, const gx_yaml *place, const gx_component *c, const char *stream,
                       const gx_output **ret_output) {
    int index = gx_component_stream(c, stream);
    if (index < 0 || (uint32_t)index >= c->output_count) return unknown_stream(r, place, c, stream);
    *ret_output = &c->outputs[index];
    return 0;
}

/* "'count'" in the document's memory. */
static gx_row_fields fields_of(const reading *r, const gx_component *c, const gx_output *output) {
    size_t size = strlen(c->name) + 3;
    char *what = gx_yaml_take(r->doc, size);
    if (what) snprintf(what, size, "'%s'", c->name);
    return (gx_row_fields){ (const char *const *)output->fields, output->field_count, what ? what : "it" };
}

static bool takes_from(const gx_component *to, const char *from) {
    for (uint32_t i = 0; i < to->input_count; i++)
        if (strcmp(to->inputs[i].source, from) == 0) return true;
    return false;
}

/* --- Steps -------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *word, *keys;
    int32_t order;
} kinds[] = {
    [GX_STEP_FEED] = { "feed", "feed stream to tuples lines", 0 },
    [GX_STEP_ADVANCE] = { "advance", "advance", 0 },
    [GX_STEP_FINISH] = { "finish", "finish", 0 },
    [GX_STEP_EXPECT] = { "expect", "expect stream tuples order count tolerance", GALE_TEST_IN_ORDER },
    [GX_STEP_ACKED] = { "acked", "acked tuples order count tolerance", GALE_TEST_ANY_ORDER },
    [GX_STEP_FAILED] = { "failed", "failed tuples order count tolerance", GALE_TEST_ANY_ORDER },
    [GX_STEP_OPEN] = { "open", "open tuples order count tolerance", GALE_TEST_ANY_ORDER },
    [GX_STEP_LETTERS] = { "dead_letters", "dead_letters tuples order count tolerance", GALE_TEST_ANY_ORDER },
    [GX_STEP_REPORTS] = { "reports", "reports texts order count", GALE_TEST_CONTAINS },
    [GX_STEP_LOGS] = { "logs", "logs texts order count", GALE_TEST_CONTAINS },
    [GX_STEP_FILE] = { "file", "file lines order count", GALE_TEST_IN_ORDER },
    [GX_STEP_STOPPED] = { "stopped", "stopped", 0 },
};
static_assert(sizeof kinds / sizeof *kinds == GX_STEP_KIND_COUNT, "every kind of step has its words");

static const char step_words[] = "feed advance finish expect acked failed open dead_letters reports logs file stopped";

static const char *const failure_names[] = { "tuple", "reason", "text", "at", "attempts" };
static const gx_row_fields failure_fields = { failure_names, 5, "what failed" };
static const char *const text_names[] = { "text" };
static const gx_row_fields text_fields = { text_names, 1, "a text" };
static const char *const line_names[] = { "line" };
static const gx_row_fields line_fields = { line_names, 1, "a line" };

/* The first word that says what the step does, wherever it stands. */
static int find_kind(const reading *r, const gx_yaml *node, int32_t *ret_kind) {
    char hint[GX_HINT_SIZE];
    int32_t found = -1;
    if (node->type != GALE_TYPE_MAP) return gx_shape_map(r->doc, node, "a step", step_words, r->error);
    for (int32_t i = 0; i < GX_STEP_KIND_COUNT; i++) {
        if (!gx_yaml_get(node, kinds[i].word)) continue;
        if (found >= 0)
            return gx_yaml_error(r->doc, node, r->error, GALE_INVALID,
                                 "a step does one thing; this one has '%s' and '%s'", kinds[found].word, kinds[i].word);
        found = i;
    }
    *ret_kind = found;
    if (found >= 0) return 0;
    const gx_yaml *first = node->as.first;
    return gx_yaml_error(r->doc, first ? first : node, r->error, GALE_INVALID,
                         "'%s' is nothing that a step does%s (%s)", first ? first->text.data : "",
                         first ? gx_shape_hint(first->text, step_words, hint) : "", step_words);
}

static int read_order(const reading *r, gx_step *step) {
    static const char *const words[] = { "exact", "any", "contains" };
    const gx_yaml *node = gx_yaml_get(step->node, "order");
    char hint[GX_HINT_SIZE];
    step->order = kinds[step->kind].order;
    if (!node) return 0;
    for (int32_t i = 0; i < GALE_TEST_ORDER_COUNT; i++)
        if (gx_yaml_is_scalar(node) && gx_str_is(node->text, words[i])) return step->order = i, 0;
    return gx_yaml_error(r->doc, node, r->error, GALE_INVALID, "'order' is exact, any or contains, not %s%s",
                         gx_yaml_is_scalar(node) ? node->text.data : gx_yaml_type_text(node),
                         gx_yaml_is_scalar(node) ? gx_shape_hint(node->text, "exact any contains", hint) : "");
}

static int read_count(const reading *r, gx_step *step) {
    const gx_yaml *node = gx_yaml_get(step->node, "count");
    bool answers = step->kind == GX_STEP_ACKED || step->kind == GX_STEP_FAILED || step->kind == GX_STEP_OPEN;
    step->count = -1;
    if (node && answers && gx_yaml_is_scalar(node) && gx_str_is(node->text, "all")) return step->all = true, 0;
    return gx_shape_number(r->doc, step->node, "a step", "count", 0, INT64_MAX, -1, &step->count, r->error);
}

static int read_tolerance(const reading *r, const gx_step *step, double *ret_within) {
    const gx_yaml *node = gx_yaml_get(step->node, "tolerance");
    *ret_within = 0;
    return node ? gx_within_read(r->doc, node, "tolerance", ret_within, r->error) : 0;
}

/* Where each row stands, for messages. */
static int note_places(const reading *r, const gx_yaml *list, gx_step *step) {
    size_t at = 0;
    if (!(step->from = take(r, list->count, sizeof *step->from))) return no_memory(r);
    for (const gx_yaml *item = list->as.first; item; item = item->next) step->from[at++] = item;
    return 0;
}

static int read_wanted(const reading *r, const char *key, const gx_row_fields *fields, gx_step *step) {
    const gx_yaml *list = gx_yaml_get(step->node, key);
    double within;
    int rc = read_tolerance(r, step, &within);
    if (rc == 0 && list && strcmp(key, "tuples") != 0) rc = gx_lines_read(r->doc, list, &list, r->error);
    if (rc < 0 || !list) return rc;
    rc = gx_rows_wanted(r->doc, &r->file->takers, list, fields, within, &step->rows, r->error);
    return rc == 0 ? note_places(r, list, step) : rc;
}

/* --- What is fed -------------------------------------------------------------------------------------------------- */

static const gx_yaml *stream_place(const gx_step *step) {
    const gx_yaml *stream = gx_yaml_get(step->node, "stream");
    return stream ? stream : step->id;
}

static int check_target(const reading *r, const gx_step *step, const gx_component *from) {
    const gx_component *to = find_component(r, step->to);
    if (!to) return unknown_component(r, step->to);
    if (takes_from(to, from->name)) return 0;
    return gx_yaml_error(r->doc, step->to, r->error, GALE_INVALID, "'%s' takes nothing from '%s'", to->name,
                         from->name);
}

static int read_feed(const reading *r, gx_step *step) {
    const gx_component *c = find_component(r, step->id);
    const gx_yaml *tuples = gx_yaml_get(step->node, "tuples"), *lines = gx_yaml_get(step->node, "lines");
    const gx_output *output;
    if (!c) return unknown_component(r, step->id);
    int rc = maybe_text(r, step->node, "a step", "to", &step->to);
    if (rc == 0 && step->to) rc = check_target(r, step, c);
    if (rc == 0 && !step->to && !c->is_spout)
        rc = gx_yaml_error(r->doc, step->id, r->error, GALE_INVALID,
                           "'%s' is a bolt: what is fed in its place goes straight to one that takes from it (to:)",
                           c->name);
    if (rc == 0) rc = find_output(r, stream_place(step), c, step->stream, &output);
    if (rc < 0) return rc;
    if ((tuples != NULL) == (lines != NULL))
        return gx_yaml_error(r->doc, step->node, r->error, GALE_INVALID, "'feed' wants either 'tuples' or 'lines'");
    gx_row_fields fields = fields_of(r, c, output);
    if (lines && fields.count != 1)
        return gx_yaml_error(r->doc, lines, r->error, GALE_FIELDS,
                             "lines are for one field, and %s has %u: give tuples", fields.what, fields.count);
    if (lines) rc = gx_lines_read(r->doc, lines, &tuples, r->error);
    return rc < 0 ? rc : gx_rows_to_feed(r->doc, tuples, &fields, &step->rows, r->error);
}

/* --- What is expected --------------------------------------------------------------------------------------------- */

static int says_nothing(const reading *r, const gx_step *step, const char *key) {
    if (step->rows.wanted || step->count >= 0 || step->all || gx_yaml_get(step->node, key)) return 0;
    return gx_yaml_error(r->doc, step->node, r->error, GALE_INVALID, "'%s' says nothing: give '%s' or 'count'",
                         kinds[step->kind].word, key);
}

static int read_expect(const reading *r, gx_step *step) {
    const gx_component *c = find_component(r, step->id);
    const gx_output *output;
    if (!c) return unknown_component(r, step->id);
    int rc = find_output(r, stream_place(step), c, step->stream, &output);
    if (rc < 0) return rc;
    gx_row_fields fields = fields_of(r, c, output);
    step->of_spout = c->is_spout;
    rc = read_wanted(r, "tuples", &fields, step);
    return rc < 0 ? rc : says_nothing(r, step, "tuples");
}

/* A tuple alone stands for what failed with it. */
static int wrap_tuples(const reading *r, const gx_yaml *list, const gx_yaml **ret_list) {
    gx_yaml *wrapped = take(r, 1, sizeof *wrapped), *items = take(r, (size_t)list->count * 2, sizeof *items);
    if (!wrapped || !items) return no_memory(r);
    *wrapped = *list;
    wrapped->as.first = list->count ? items : NULL;
    size_t at = 0;
    for (const gx_yaml *item = list->as.first; item; item = item->next, at += 2) {
        gx_yaml *inner = &items[at + 1];
        items[at] = *item;
        items[at].next = item->next ? &items[at + 2] : NULL;
        if (item->type == GALE_TYPE_MAP) continue;
        gx_yaml *key = take(r, 1, sizeof *key);
        if (!key) return no_memory(r);
        *inner = *item;
        inner->next = NULL;
        *key = (gx_yaml){ .type = GALE_TYPE_STRING, .text = gx_str("tuple"), .file = item->file, .next = inner };
        items[at].type = GALE_TYPE_MAP;
        items[at].count = 1;
        items[at].as.first = key;
    }
    *ret_list = wrapped;
    return 0;
}

static int read_failures(const reading *r, gx_step *step) {
    const gx_yaml *list = gx_yaml_get(step->node, "tuples");
    double within;
    int rc = read_tolerance(r, step, &within);
    if (rc < 0 || !list) return rc;
    if (list->type != GALE_TYPE_LIST)
        return gx_yaml_error(r->doc, list, r->error, GALE_TYPE, "tuples are a list, not %s", gx_yaml_type_text(list));
    rc = wrap_tuples(r, list, &list);
    if (rc == 0) rc = gx_rows_wanted(r->doc, &r->file->takers, list, &failure_fields, within, &step->rows, r->error);
    return rc == 0 ? note_places(r, list, step) : rc;
}

/* Tuples of whatever stream: so many fields as the first one has, that all must have then. */
static int read_answers(const reading *r, gx_step *step) {
    const gx_component *c = find_component(r, step->id);
    if (!c) return unknown_component(r, step->id);
    if (step->kind == GX_STEP_FAILED || step->kind == GX_STEP_LETTERS) {
        int rc = read_failures(r, step);
        return rc == 0 && step->kind == GX_STEP_LETTERS ? says_nothing(r, step, "tuples") : rc;
    }
    if (!c->output_count)
        return gx_yaml_error(r->doc, step->id, r->error, GALE_INVALID, "'%s' emits nothing, and is not fed", c->name);
    gx_row_fields fields = fields_of(r, c, &c->outputs[0]);
    return read_wanted(r, "tuples", &fields, step);
}

static int read_texts_of(const reading *r, gx_step *step) {
    const gx_component *c = find_component(r, step->id);
    if (!c) return unknown_component(r, step->id);
    step->of_spout = c->is_spout;
    int rc = read_wanted(r, "texts", &text_fields, step);
    return rc < 0 ? rc : says_nothing(r, step, "texts");
}

static int read_file_step(const reading *r, gx_step *step) {
    int rc = read_wanted(r, "lines", &line_fields, step);
    return rc < 0 ? rc : says_nothing(r, step, "lines");
}

static int read_stopped(const reading *r, gx_step *step) {
    if (!(step->rows.wanted = take(r, 1, sizeof *step->rows.wanted))) return no_memory(r);
    step->rows.count = 1;
    return gx_wanted_row_read(r->doc, &r->file->takers, step->id, &text_fields, 0, step->rows.wanted, r->error);
}

static int read_advance(const reading *r, gx_step *step) {
    int rc = read_time(r, step->id, &step->nanoseconds);
    if (rc < 0 || step->nanoseconds) return rc;
    return gx_yaml_error(r->doc, step->id, r->error, GALE_INVALID,
                         "this lets no time pass: give more than 0, or leave the step out");
}

static int read_finish(const reading *r, const gx_step *step) {
    if (step->id->type == GALE_TYPE_BOOL && step->id->as.boolean) return 0;
    return gx_yaml_error(r->doc, step->id, r->error, GALE_INVALID, "'finish' is true, or left out");
}

static int read_as(const reading *r, gx_step *step) {
    switch (step->kind) {
    case GX_STEP_FEED: return read_feed(r, step);
    case GX_STEP_EXPECT: return read_expect(r, step);
    case GX_STEP_REPORTS:
    case GX_STEP_LOGS: return read_texts_of(r, step);
    case GX_STEP_FILE: return read_file_step(r, step);
    default: return read_answers(r, step);
    }
}

static int read_step(const reading *r, const gx_yaml *node, gx_step *step) {
    const gx_yaml *stream = NULL;
    *step = (gx_step){ .node = node, .count = -1 };
    int rc = find_kind(r, node, &step->kind);
    size_t kept = gx_yaml_kept(r->doc);
    if (rc == 0) rc = gx_shape_map(r->doc, node, "a step", kinds[step->kind].keys, r->error);
    if (rc < 0 || gx_yaml_kept(r->doc) != kept) return rc;
    step->id = gx_yaml_get(node, kinds[step->kind].word);
    if (step->kind == GX_STEP_ADVANCE) return read_advance(r, step);
    if (step->kind == GX_STEP_FINISH) return read_finish(r, step);
    if (step->kind == GX_STEP_STOPPED) return read_stopped(r, step);
    rc = gx_shape_text(r->doc, node, "a step", kinds[step->kind].word, &step->id, r->error);
    if (rc == 0) rc = maybe_text(r, node, "a step", "stream", &stream);
    step->stream = stream ? stream->text.data : "default";
    if (rc == 0) rc = read_order(r, step);
    if (rc == 0) rc = read_count(r, step);
    return rc < 0 ? rc : read_as(r, step);
}

/* --- Mocks -------------------------------------------------------------------------------------------------------- */

/* A map names the fields that it is about; a list is about all of them. */
static int read_when(const reading *r, const gx_component *c, const gx_yaml *node, gx_mock_answer *answer) {
    const char **names = take(r, node->count, sizeof *names);
    gx_wanted *wanted = take(r, node->count, sizeof *wanted);
    bool by_name = node->type == GALE_TYPE_MAP;
    int rc = names && wanted ? 0 : no_memory(r);
    uint32_t count = 0;
    if (rc == 0 && gx_yaml_is_scalar(node))
        return gx_yaml_error(r->doc, node, r->error, GALE_TYPE, "'when' is a tuple, not %s", gx_yaml_type_text(node));
    if (rc == 0) rc = gx_when_check(r->doc, r->file->topology, c, node, r->error);
    for (const gx_yaml *item = node->as.first; item && rc == 0; item = by_name ? item->next->next : item->next) {
        if (by_name) names[count] = item->text.data;
        rc = gx_wanted_read(r->doc, &r->file->takers, by_name ? item->next : item, 0, &wanted[count++], r->error);
    }
    answer->when = (gx_wanted_row){ wanted, count };
    answer->names = by_name ? names : NULL;
    return rc;
}

static int read_emits(const reading *r, const gx_component *c, gx_mock_answer *answer) {
    const gx_yaml *list = gx_yaml_get(answer->node, "emit"), *stream = NULL;
    int rc = maybe_text(r, answer->node, "an answer", "stream", &stream);
    if (rc < 0 || !list) return rc;
    const char *name = stream ? stream->text.data : "default";
    const gx_output *output;
    rc = find_output(r, stream ? stream : list, c, name, &output);
    if (rc < 0) return rc;
    answer->stream = (uint32_t)(output - c->outputs);
    gx_row_fields fields = fields_of(r, c, output);
    return gx_rows_to_feed(r->doc, list, &fields, &answer->emits, r->error);
}

static int read_answer(const reading *r, const gx_component *c, const gx_yaml *node, gx_mock_answer *answer) {
    const gx_yaml *fail = NULL, *reject = NULL;
    *answer = (gx_mock_answer){ .node = node };
    size_t kept = gx_yaml_kept(r->doc);
    int rc = gx_shape_map(r->doc, node, "an answer", ANSWER_KEYS, r->error);
    if (rc < 0 || gx_yaml_kept(r->doc) != kept) return rc;
    const gx_yaml *when = gx_yaml_get(node, "when"), *after = gx_yaml_get(node, "after");
    answer->any = !when;
    if (when) rc = read_when(r, c, when, answer);
    if (rc == 0) rc = maybe_text(r, node, "an answer", "fail", &fail);
    if (rc == 0) rc = maybe_text(r, node, "an answer", "reject", &reject);
    if (rc == 0 && after) rc = read_time(r, after, &answer->after);
    if (rc == 0) rc = read_emits(r, c, answer);
    if (rc == 0 && fail && reject)
        rc = gx_yaml_error(r->doc, node, r->error, GALE_INVALID, "an answer fails the tuple or rejects it, not both");
    answer->fail = fail ? fail->text.data : NULL;
    answer->reject = reject ? reject->text.data : NULL;
    return rc;
}

static int read_mock(const reading *r, const gx_yaml *node, gx_mock *mock) {
    const gx_yaml *answers;
    size_t kept = gx_yaml_kept(r->doc);
    int rc = gx_shape_map(r->doc, node, "a mock", MOCK_KEYS, r->error);
    if (rc < 0 || gx_yaml_kept(r->doc) != kept) return rc;
    rc = gx_shape_text(r->doc, node, "a mock", "id", &mock->id, r->error);
    if (rc == 0) rc = gx_shape_list(r->doc, node, "a mock", "answers", &answers, r->error);
    if (rc < 0) return rc;
    const gx_component *c = find_component(r, mock->id);
    if (!c) return unknown_component(r, mock->id);
    if (c->is_spout)
        return gx_yaml_error(r->doc, mock->id, r->error, GALE_INVALID, "'%s' is a spout: it is fed, not mocked",
                             c->name);
    if (!(mock->answers = take(r, answers ? answers->count : 0, sizeof *mock->answers))) return no_memory(r);
    for (const gx_yaml *item = answers ? answers->as.first : NULL; item && rc == 0; item = item->next)
        rc = keep(r, read_answer(r, c, item, &mock->answers[mock->count++]));
    return rc;
}

/* --- Cases -------------------------------------------------------------------------------------------------------- */

/* "fail=0.1", or {fail: 0.1}. */
static int read_faults(const reading *r, gx_case *c) {
    const gx_yaml *node = gx_yaml_get(c->node, "faults");
    gale_error inner = GALE_ERROR_INIT;
    gx_faults faults = { { 0 } };
    gx_buf text = GX_BUF_INIT(NULL);
    if (!node) return 0;
    if (node->type == GALE_TYPE_LIST)
        return gx_yaml_error(r->doc, node, r->error, GALE_TYPE, "'faults' is a text or a map, not a list");
    if (gx_yaml_is_scalar(node)) gx_buf_add(&text, node->text.data, node->text.size);
    for (const gx_yaml *key = gx_yaml_is_scalar(node) ? NULL : node->as.first; key; key = key->next->next)
        gx_buf_format(&text, "%s%.*s=%.*s", text.size ? "," : "", GX_STR(key->text), GX_STR(key->next->text));
    char *copy = gx_yaml_take(r->doc, text.size + 1);
    int rc = copy && !text.failed ? 0 : no_memory(r);
    if (rc == 0 && text.size) memcpy(copy, text.data, text.size);
    if (rc == 0 && gx_faults_parse(copy, &faults, &inner) < 0) rc = gx_yaml_error_at(r->doc, node, r->error, &inner);
    c->faults = copy;
    gx_buf_fini(&text);
    return rc;
}

/* Once a bolt is fed straight in the place of a component, all that is fed in that place is. */
static int check_edges(const reading *r, const gx_case *c, const gx_step *step) {
    for (size_t i = 0; i < c->step_count; i++) {
        const gx_step *other = &c->steps[i];
        if (other->kind != GX_STEP_FEED || !other->id || (other->to != NULL) == (step->to != NULL)) continue;
        if (!gx_str_equal(other->id->text, step->id->text)) continue;
        return gx_yaml_error(r->doc, step->id, r->error, GALE_INVALID,
                             "in this case '%.*s' is fed both as a whole and straight into a bolt (line %u)",
                             GX_STR(step->id->text), other->node->line);
    }
    return 0;
}

static int collect_edges(const reading *r, gx_case *c) {
    int rc = 0;
    if (!(c->edges = take(r, c->step_count, sizeof *c->edges))) return no_memory(r);
    for (size_t i = 0; i < c->step_count && rc == 0; i++) {
        const gx_step *step = &c->steps[i];
        if (step->kind != GX_STEP_FEED || !step->to || !step->id) continue;
        rc = keep(r, check_edges(r, c, step));
        c->edges[c->edge_count++] = (gale_test_edge){ step->id->text.data, step->to->text.data };
    }
    return rc;
}

static int read_steps(const reading *r, gx_case *c) {
    const gx_yaml *list;
    int rc = gx_shape_list(r->doc, c->node, "a case", "steps", &list, r->error);
    if (rc < 0) return rc;
    if (!list || !list->count)
        return gx_yaml_error(r->doc, list ? list : c->node, r->error, GALE_TOPOLOGY, "a case needs 'steps'");
    if (!(c->steps = take(r, list->count, sizeof *c->steps))) return no_memory(r);
    for (const gx_yaml *item = list->as.first; item && rc == 0; item = item->next)
        rc = keep(r, read_step(r, item, &c->steps[c->step_count++]));
    return rc < 0 ? rc : collect_edges(r, c);
}

static int read_mocks(const reading *r, gx_case *c) {
    const gx_yaml *list;
    int rc = gx_shape_list(r->doc, c->node, "a case", "mock", &list, r->error);
    if (rc < 0 || !list) return rc;
    if (!(c->mocks = take(r, list->count, sizeof *c->mocks))) return no_memory(r);
    for (const gx_yaml *item = list->as.first; item && rc == 0; item = item->next)
        rc = keep(r, read_mock(r, item, &c->mocks[c->mock_count++]));
    return rc;
}

static int read_numbers(const reading *r, gx_case *c) {
    int rc = gx_shape_number(r->doc, c->node, "a case", "seed", 1, INT64_MAX, 1, &c->seed, r->error);
    if (rc == 0) rc = gx_shape_number(r->doc, c->node, "a case", "seeds", 1, GX_CASE_SEEDS_MAX, 1, &c->seeds, r->error);
    if (rc < 0) return rc;
    return gx_shape_number(r->doc, c->node, "a case", "executors", 1, GALE_EXECUTORS_MAX, 0, &c->executors, r->error);
}

static int check_name(const reading *r, const gx_case *c) {
    for (const gx_case *other = r->file->cases; other < c; other++)
        if (other->name && c->name && gx_str_equal(other->name->text, c->name->text))
            return gx_yaml_error(r->doc, c->name, r->error, GALE_EXISTS, "there is a case '%.*s' already, at line %u",
                                 GX_STR(c->name->text), other->name->line);
    return 0;
}

/* Each part is read on its own: what is wrong with one need not hide what is wrong with the next. */
static int read_case(const reading *r, const gx_yaml *node, gx_case *c) {
    *c = (gx_case){ .node = node, .seed = 1, .seeds = 1, .sets = r->file->sets, .set_count = r->file->set_count };
    int rc = gx_shape_map(r->doc, node, "a case", CASE_KEYS, r->error);
    if (rc < 0 || node->type != GALE_TYPE_MAP) return rc;
    rc = keep(r, gx_shape_text(r->doc, node, "a case", "name", &c->name, r->error));
    if (rc == 0) rc = keep(r, check_name(r, c));
    if (rc == 0) rc = keep(r, read_numbers(r, c));
    if (rc == 0) rc = keep(r, read_faults(r, c));
    if (rc == 0) rc = keep(r, read_texts(r, node, "a case", "set", &c->sets, &c->set_count));
    if (rc == 0) rc = keep(r, read_mocks(r, c));
    return rc < 0 ? rc : keep(r, read_steps(r, c));
}

/* Only where nothing else is wrong: a step that could not be read may be what was lacking. */
static int check_vacuous(const reading *r) {
    int rc = 0;
    if (gx_yaml_kept(r->doc)) return 0;
    for (size_t i = 0; i < r->file->count && rc == 0; i++)
        rc = keep(r, gx_vacuous_check(r->doc, &r->file->cases[i], r->error));
    return rc;
}

static int read_cases(const reading *r, const gx_yaml *root) {
    const gx_yaml *list;
    gx_case_file *file = r->file;
    int rc = gx_shape_list(r->doc, root, "a file of cases", "cases", &list, r->error);
    if (rc < 0) return rc;
    if (!list || !list->count)
        return gx_yaml_error(r->doc, list ? list : root, r->error, GALE_TOPOLOGY, "a file of cases needs 'cases'");
    if (!(file->cases = take(r, list->count, sizeof *file->cases))) return no_memory(r);
    for (const gx_yaml *item = list->as.first; item && rc == 0; item = item->next)
        rc = keep(r, read_case(r, item, &file->cases[file->count++]));
    return rc < 0 ? rc : check_vacuous(r);
}

static int read_file(const reading *r, gx_problems *problems) {
    const gx_yaml *root = gx_yaml_root(r->doc);
    gx_case_file *file = r->file;
    if (!root) return keep(r, gx_yaml_error(r->doc, NULL, r->error, GALE_TOPOLOGY, "the file is empty"));
    int rc = keep(r, gx_shape_map(r->doc, root, "a file of cases", FILE_KEYS, r->error));
    if (rc < 0 || root->type != GALE_TYPE_MAP) return rc;
    rc = keep(r, read_texts(r, root, "a file of cases", "set", &file->sets, &file->set_count));
    if (rc == 0)
        rc = keep(r, read_texts(r, root, "a file of cases", "config", &file->assignments, &file->assignment_count));
    if (rc == 0) rc = keep(r, maybe_flag(r, root, "environment", &file->variables.environment));
    if (rc == 0) rc = load_topology(r, root, problems);
    if (rc < 0 || !file->topology) return rc;
    return keep(r, read_cases(r, root));
}

/* --- The whole ---------------------------------------------------------------------------------------------------- */

static int keep_report(gx_problems *problems, const char *name, int rc, gale_error *error) {
    gx_position place = { name, 0, 0 };
    const char *text = error->text;
    if (rc == GALE_NO_MEMORY || rc >= 0) return rc;
    gx_position_read(name, error->text, &place, &text);
    return gx_problems_add(problems, false, rc, place, text) ? 0 : rc;
}

static int read_doc(gx_case_file *file, const char *name, int rc, gx_yaml_doc *doc, gx_problems *problems,
                    gale_error *error) {
    if (rc < 0) return keep_report(problems, name, rc, error);
    file->doc = doc;
    gx_yaml_collect(doc, problems);
    const reading r = { file, doc, error };
    rc = read_file(&r, problems);
    return rc < 0 && rc != GALE_NO_MEMORY ? keep_report(problems, name, rc, error) : rc;
}

int gx_case_file_load(const char *name, const gx_registry *registry, struct gx_plugins *plugins, gx_problems *problems,
                      gx_case_file *file, gale_error *error) {
    gx_yaml_doc *doc = NULL;
    *file = (gx_case_file){ .registry = registry, .plugins = plugins };
    int rc = gx_yaml_load(name, &doc, error);
    return read_doc(file, name, rc, doc, problems, error);
}

int gx_case_file_parse(const char *name, gale_str text, const gx_registry *registry, gale_topology *topology,
                       gx_problems *problems, gx_case_file *file, gale_error *error) {
    gx_yaml_doc *doc = NULL;
    *file = (gx_case_file){ .registry = registry, .topology = topology };
    int rc = gx_yaml_parse(name, text, NULL, &doc, error);
    return read_doc(file, name, rc, doc, problems, error);
}

void gx_case_file_fini(gx_case_file *file) {
    gale_topology_free(file->topology);
    gx_takers_fini(&file->takers);
    if (file->has_properties) gx_properties_fini(&file->properties);
    gx_yaml_free(file->doc);
    *file = (gx_case_file){ .doc = NULL };
}
