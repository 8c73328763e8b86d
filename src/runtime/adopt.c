#include "runtime/adopt.h"

#include "base/log.h"
#include "base/nearest.h"
#include "topology/keyed_store.h"

enum { NAMED_AGAIN = 32 }; /* bytes that make a name another one */

/* What is under way. */
typedef struct adopter {
    gx_adopted *made;
    gx_image_head *head;
    const gx_shared *shared;
    const gx_plan *plan;
    const gale_store *store;
    gx_adopt_words words;
    bool all; /* "*" is among them */
    gale_error *error;
} adopter;

static const gx_plan_component *now_of(const adopter *a, uint32_t component) {
    return &a->plan->components[component];
}

static bool is_spout(const gx_plan_component *component) {
    return component->built && component->built->is_spout;
}

/* The system's own come and go. */
static bool is_system(const char *name) {
    return name[0] == '_' && name[1] == '_';
}

static int no_memory(const adopter *a) {
    return gale_error_set(a->error, GALE_NO_MEMORY, "no memory for the head of the checkpoint");
}

static void tell(const adopter *a, gale_log_level level, const char *component, const char *text, const char *other) {
    if (gx_log_wanted(&a->shared->logger, level)) gale_log(&a->shared->logger, level, component, text, other);
}

/* --- Who is who --- */

static int32_t find_then(const adopter *a, gale_str name) {
    for (uint32_t i = 0; i < a->head->count; i++)
        if (gx_str_is(name, a->head->components[i].name)) return (int32_t)i;
    return -1;
}

static int32_t find_now(const adopter *a, gale_str name) {
    for (uint32_t c = 0; c < a->plan->component_count; c++)
        if (gx_str_is(name, now_of(a, c)->schema.name)) return (int32_t)c;
    return -1;
}

/* The component of then that this one was, or -1. */
static int32_t then_of(const adopter *a, uint32_t now) {
    for (uint32_t i = 0; i < a->head->count; i++)
        if (a->head->components[i].now == (int32_t)now) return (int32_t)i;
    return -1;
}

/* --- Words --- */

typedef struct renaming {
    gale_str old_name, new_name;
    int32_t then, now;
} renaming;

/* A name may have a '=', too: the first place where one side is known. */
static bool split(const adopter *a, const char *word, renaming *ret) {
    const char *first = strchr(word, '=');
    for (const char *at = first; at; at = strchr(at + 1, '=')) {
        renaming r = { { word, (size_t)(at - word) }, gx_str(at + 1), 0, 0 };
        r.then = find_then(a, r.old_name);
        r.now = find_now(a, r.new_name);
        if (at == first || (ret->then < 0 && ret->now < 0) || (r.then >= 0 && r.now >= 0)) *ret = r;
    }
    return first != NULL;
}

static int refuse_old(const adopter *a, const renaming *r) {
    char hint[200];
    gx_nearest nearest = gx_nearest_to(r->old_name);
    for (uint32_t i = 0; i < a->head->count; i++) gx_nearest_offer(&nearest, gx_str(a->head->components[i].name));
    return gale_error_set(a->error, GALE_INVALID, "--state-adopt %.*s=%.*s: the checkpoint has no component '%.*s'%s",
                          GX_STR(r->old_name), GX_STR(r->new_name), GX_STR(r->old_name),
                          gx_nearest_hint(&nearest, hint, sizeof hint));
}

static int refuse_new(const adopter *a, const renaming *r) {
    char hint[200];
    gx_nearest nearest = gx_nearest_to(r->new_name);
    for (uint32_t c = 0; c < a->plan->component_count; c++)
        gx_nearest_offer(&nearest, gx_str(now_of(a, c)->schema.name));
    return gale_error_set(a->error, GALE_INVALID, "--state-adopt %.*s=%.*s: the topology has no component '%.*s'%s",
                          GX_STR(r->old_name), GX_STR(r->new_name), GX_STR(r->new_name),
                          gx_nearest_hint(&nearest, hint, sizeof hint));
}

static int refuse_twice(const adopter *a, const renaming *r, gale_str name) {
    return gale_error_set(a->error, GALE_INVALID, "--state-adopt %.*s=%.*s: '%.*s' is named by another one already",
                          GX_STR(r->old_name), GX_STR(r->new_name), GX_STR(name));
}

static int refuse_kind(const adopter *a, const renaming *r) {
    bool spout = a->head->about[r->then].spout;
    return gale_error_set(a->error, GALE_INVALID, "--state-adopt %.*s=%.*s: '%.*s' was a %s, and '%.*s' is a %s",
                          GX_STR(r->old_name), GX_STR(r->new_name), GX_STR(r->old_name), spout ? "spout" : "bolt",
                          GX_STR(r->new_name), spout ? "bolt" : "spout");
}

/* The same command again, after a checkpoint of its run: what was to be done is done. */
static bool is_done(const adopter *a, const renaming *r) {
    return r->then < 0 && r->now >= 0 && find_then(a, r->new_name) >= 0 && find_now(a, r->old_name) < 0;
}

static int take_renaming(adopter *a, const char *word) {
    renaming r = { .then = -1, .now = -1 };
    if (!split(a, word, &r))
        return gale_error_set(a->error, GALE_INVALID, "--state-adopt '%s': it is no OLD=NEW, two names of a component",
                              word);
    if (r.now < 0) return refuse_new(a, &r);
    if (is_done(a, &r)) {
        gale_log(&a->shared->logger, GALE_LOG_INFO, "checkpoint",
                 "has '%.*s' by that name, and no '%.*s': nothing is left to adopt", GX_STR(r.new_name),
                 GX_STR(r.old_name));
        return GALE_OK;
    }
    if (r.then < 0) return refuse_old(a, &r);
    if (a->head->about[r.then].spout != is_spout(now_of(a, (uint32_t)r.now))) return refuse_kind(a, &r);
    if (a->head->components[r.then].now >= 0) return refuse_twice(a, &r, r.old_name);
    if (then_of(a, (uint32_t)r.now) >= 0) return refuse_twice(a, &r, r.new_name);
    a->head->components[r.then].now = r.now;
    return GALE_OK;
}

static int take_words(adopter *a) {
    int rc = GALE_OK;
    for (uint32_t i = 0; i < a->words.count && rc == GALE_OK; i++) {
        const char *word = a->words.list ? a->words.list[i] : NULL;
        if (!word)
            rc = gale_error_set(a->error, GALE_INVALID, "runtime: options.adopt[%u] is NULL", i);
        else if (strcmp(word, "*") == 0)
            a->all = true;
        else
            rc = take_renaming(a, word);
    }
    return rc;
}

/* --- Components --- */

static int refuse_both(const adopter *a, const char *name, uint32_t other) {
    return gale_error_set(a->error, GALE_INVALID,
                          "--state-adopt %s=%s: the checkpoint has a '%s' as well; say what that one is now, too",
                          a->head->components[other].name, name, name);
}

/* Those that no word named are what they are called. */
static int find_others(const adopter *a) {
    for (uint32_t i = 0; i < a->head->count; i++) {
        gx_rest_component *then = &a->head->components[i];
        int32_t now = then->now < 0 ? find_now(a, gx_str(then->name)) : -1;
        if (now < 0 || a->head->about[i].spout != is_spout(now_of(a, (uint32_t)now))) continue;
        int32_t taken = then_of(a, (uint32_t)now);
        if (taken >= 0) return refuse_both(a, then->name, (uint32_t)taken);
        then->now = now;
    }
    return GALE_OK;
}

/* The only one that is new, when the only one of its kind that is gone may be that; or NULL. */
static const char *new_name_of(const adopter *a, bool spout) {
    const char *found = NULL;
    uint32_t gone = 0, come = 0;
    for (uint32_t i = 0; i < a->head->count; i++)
        gone += a->head->components[i].now < 0 && a->head->about[i].spout == spout &&
                !is_system(a->head->components[i].name);
    for (uint32_t c = 0; c < a->plan->component_count; c++) {
        const char *name = now_of(a, c)->schema.name;
        if (then_of(a, c) >= 0 || is_spout(now_of(a, c)) != spout || is_system(name)) continue;
        found = name;
        come++;
    }
    return gone == 1 && come == 1 ? found : NULL;
}

static int refuse_gone(const adopter *a, uint32_t index) {
    const char *name = a->head->components[index].name;
    const char *other = new_name_of(a, a->head->about[index].spout);
    if (other)
        return gale_error_set(a->error, GALE_STATE,
                              "the topology has no '%s' any more, which the checkpoint has; if it is called '%s' now, "
                              "--state-adopt %s=%s gives that everything; --state-adopt alone goes on without it",
                              name, other, name, other);
    return gale_error_set(a->error, GALE_STATE,
                          "the topology has no '%s' any more, which the checkpoint has; --state-adopt goes on without "
                          "it, --state-adopt %s=NEW if it is called NEW now",
                          name, name);
}

static int look_at_components(const adopter *a) {
    for (uint32_t i = 0; i < a->head->count; i++) {
        const gx_rest_component *then = &a->head->components[i];
        if (then->now >= 0 || is_system(then->name)) continue;
        if (!a->all) return refuse_gone(a, i);
        tell(a, GALE_LOG_WARN, then->name, "is there no more: what it kept is dropped, and what was on its way to %s",
             "it has no place to go");
    }
    for (uint32_t c = 0; c < a->plan->component_count; c++) {
        const char *name = now_of(a, c)->schema.name;
        int32_t then = then_of(a, c);
        if (then < 0 && !is_system(name))
            tell(a, GALE_LOG_INFO, name, "is new since the checkpoint, and begins %s", "empty");
        if (then >= 0 && strcmp(a->head->components[then].name, name) != 0)
            tell(a, GALE_LOG_INFO, name, "has all that '%s' had in the checkpoint", a->head->components[then].name);
    }
    return GALE_OK;
}

/* What it has saved is newer than what it knows. */
static int look_at_version(const adopter *a, uint32_t index) {
    const gale_durable_ops *durable = gx_image_durable(now_of(a, (uint32_t)a->head->components[index].now));
    uint32_t version = a->head->about[index].version;
    if (!durable || version <= durable->version) return GALE_OK;
    return gale_error_set(a->error, GALE_UNSUPPORTED,
                          "what '%s' has saved is of version %u, newer than the %u that it knows",
                          a->head->components[index].name, version, durable->version);
}

/* --- Streams --- */

static bool is_text(const gale_value *list, size_t index, const char *text) {
    gale_value v = gale_list_at(list, index);
    return gx_str_is((gale_str){ v.as.string, v.size }, text);
}

static bool is_stream(const gale_value *row, const gx_schema_stream *stream) {
    if (row->size != stream->field_count + 1u || !is_text(row, 0, stream->name)) return false;
    for (uint32_t f = 0; f < stream->field_count; f++)
        if (!is_text(row, f + 1, stream->fields[f])) return false;
    return true;
}

static uint16_t find_stream(const gx_plan_component *component, const gale_value *row) {
    for (uint32_t s = 0; s < component->schema.stream_count; s++)
        if (is_stream(row, &component->schema.streams[s])) return (uint16_t)s;
    return GX_REST_NO_STREAM;
}

static void add_row(gx_buf *text, const gale_value *row, size_t from) {
    for (size_t i = from; i < row->size; i++) {
        gale_value v = gale_list_at(row, i);
        gx_buf_format(text, "%s%.*s", i > from ? ", " : "", (int)v.size, v.as.string);
    }
}

static int refuse_stream(const adopter *a, uint32_t index, const gale_value *row) {
    gx_buf text = GX_BUF_INIT(a->head->heap);
    gale_value name = gale_list_at(row, 0);
    add_row(&text, row, 1);
    const char *fields = gx_buf_text(&text);
    gale_error_set(a->error, GALE_STATE,
                   "'%s' had a stream '%.*s' with the fields (%s) at the checkpoint, and has none such now: what is on "
                   "its way by it would not fit; --state-adopt goes on without that",
                   a->head->components[index].name, (int)name.size, name.as.string, fields ? fields : "");
    gx_buf_fini(&text);
    return GALE_STATE;
}

static int look_at_streams(const adopter *a, uint32_t index) {
    gx_rest_component *then = &a->head->components[index];
    const gale_value *streams = &a->head->about[index].streams;
    const gx_plan_component *now = now_of(a, (uint32_t)then->now);
    then->streams = gx_alloc_array(a->head->heap, GX_TAG_OTHER, then->stream_count + 1u, sizeof *then->streams);
    if (!then->streams) return no_memory(a);
    for (uint32_t s = 0; s < then->stream_count; s++) {
        gale_value row = gale_list_at(streams, s);
        then->streams[s] = find_stream(now, &row);
        if (then->streams[s] == GX_REST_NO_STREAM && !a->all) return refuse_stream(a, index, &row);
    }
    return GALE_OK;
}

/* --- Inputs --- */

static bool is_edge(const gale_value *row, const gx_plan_edge *edge, const gx_schema_stream *stream) {
    if (row->size != edge->field_count + 3u || !is_text(row, 2, gale_grouping_name(edge->grouping))) return false;
    for (uint32_t f = 0; f < edge->field_count; f++)
        if (!is_text(row, f + 3, stream->fields[edge->fields[f]])) return false;
    return true;
}

/* The stream of then that a row of inputs names, or GX_REST_NO_STREAM. */
static uint16_t stream_then(const adopter *a, uint32_t source, const gale_value *row) {
    gale_value name = gale_list_at(row, 1);
    const gale_value *streams = &a->head->about[source].streams;
    for (uint32_t s = 0; s < streams->size; s++) {
        gale_value one = gale_list_at(streams, s), of = gale_list_at(&one, 0);
        if (gale_value_equal(&name, &of)) return (uint16_t)s;
    }
    return GX_REST_NO_STREAM;
}

static int32_t grouping_then(const gale_value *row) {
    for (int32_t g = 0; g < GALE_GROUPING_COUNT; g++)
        if (is_text(row, 2, gale_grouping_name(g))) return g;
    return GALE_GROUPING_CUSTOM;
}

/* Any task is as good. */
static bool is_free(int32_t grouping) {
    return grouping == GALE_GROUPING_SHUFFLE || grouping == GALE_GROUPING_NONE ||
           grouping == GALE_GROUPING_LOCAL_OR_SHUFFLE;
}

/* What it brings to a task is for that task, or also for others. */
static bool is_bound(int32_t grouping) {
    return grouping == GALE_GROUPING_ALL || grouping == GALE_GROUPING_DIRECT || grouping == GALE_GROUPING_CUSTOM;
}

/* The edge that the input is now: NULL: it is as it was, or is no more, and what is on its way arrives as it would have. */
static const gx_plan_edge *changed_edge(const adopter *a, const gale_value *row, uint32_t source, uint16_t stream,
                                        uint32_t target) {
    const gx_plan_component *from = now_of(a, (uint32_t)a->head->components[source].now);
    uint16_t now = a->head->components[source].streams[stream];
    const gx_plan_edge *found = NULL;
    if (now == GX_REST_NO_STREAM || now >= from->stream_count) return NULL;
    for (uint32_t e = 0; e < from->streams[now].edge_count; e++) {
        const gx_plan_edge *edge = &from->streams[now].edges[e];
        if (edge->component != target) continue;
        if (is_edge(row, edge, &from->schema.streams[now])) return NULL;
        found = edge;
    }
    return found && is_free(found->grouping) && is_free(grouping_then(row)) ? NULL : found;
}

static int refuse_grouping(const adopter *a, uint32_t index, const gale_value *row, const gx_plan_edge *edge) {
    gx_buf fields = GX_BUF_INIT(a->head->heap);
    gale_value source = gale_list_at(row, 0), grouping = gale_list_at(row, 2);
    add_row(&fields, row, 3);
    const char *text = gx_buf_text(&fields);
    gale_error_set(a->error, GALE_STATE,
                   "'%s' was fed by '%.*s' with %.*s grouping (%s) at the checkpoint, and is by %s grouping of other "
                   "tuples to other tasks now: take the grouping back; --state-adopt goes on all the same",
                   a->head->components[index].name, (int)source.size, source.as.string, (int)grouping.size,
                   grouping.as.string, text ? text : "", gale_grouping_name(edge->grouping));
    gx_buf_fini(&fields);
    return GALE_STATE;
}

/* Does it matter which of its tasks a tuple comes to? */
static bool keeps_something(const gx_plan_component *component) {
    const gale_durable_ops *durable = gx_image_durable(component);
    return durable && !(durable->flags & GALE_DURABLE_STATELESS);
}

static int look_at_input(const adopter *a, uint32_t index, const gale_value *row) {
    gx_rest_component *then = &a->head->components[index];
    gale_value name = gale_list_at(row, 0);
    int32_t source = find_then(a, (gale_str){ name.as.string, name.size });
    uint16_t stream = source < 0 ? GX_REST_NO_STREAM : stream_then(a, (uint32_t)source, row);
    if (stream == GX_REST_NO_STREAM)
        return gale_error_set(a->error, GALE_DAMAGED, "the head of the checkpoint does not hold");
    a->head->components[source].feeds = true;
    if (then->now < 0 || a->head->components[source].now < 0) return GALE_OK;
    const gx_plan_edge *edge = changed_edge(a, row, (uint32_t)source, stream, (uint32_t)then->now);
    if (!edge) return GALE_OK;
    bool again = is_bound(edge->grouping) || is_bound(grouping_then(row));
    if (!a->all && (again || keeps_something(now_of(a, (uint32_t)then->now))))
        return refuse_grouping(a, index, row, edge);
    then->regrouped = true;
    then->inputs[then->input_count++] = (gx_rest_input){ (uint32_t)source, stream, again };
    return GALE_OK;
}

static int look_at_inputs(const adopter *a, uint32_t index) {
    gx_rest_component *then = &a->head->components[index];
    const gale_value *inputs = &a->head->about[index].inputs;
    then->inputs = gx_alloc_array(a->head->heap, GX_TAG_OTHER, inputs->size + 1u, sizeof *then->inputs);
    int rc = then->inputs ? GALE_OK : no_memory(a);
    for (uint32_t i = 0; i < inputs->size && rc == GALE_OK; i++) {
        gale_value row = gale_list_at(inputs, i);
        rc = look_at_input(a, index, &row);
    }
    return rc;
}

/* Would a key lead to another task than the one that kept it? */
static bool keys_lead_elsewhere(const adopter *a, uint32_t index) {
    const gx_rest_component *then = &a->head->components[index];
    bool by_key = gx_plan_is_by_key(a->plan, (uint16_t)then->now), was = a->head->about[index].by_key;
    bool several = then->tasks > 1 || now_of(a, (uint32_t)then->now)->task_count > 1;
    return by_key != was || (by_key && then->regrouped && several);
}

/* Keyed state lies where the keys led to, and is not moved. */
static int look_at_keys(const adopter *a, uint32_t index) {
    if (!keys_lead_elsewhere(a, index)) return GALE_OK;
    int rc = gx_keyed_is_any(a->head->heap, a->store, a->head->about[index].kept, a->error);
    if (rc <= 0) return rc;
    return gale_error_set(
        a->error, GALE_STATE,
        "'%s' has keyed state, and its inputs are grouped otherwise than at the checkpoint: keys would "
        "lead to other tasks than those that keep them; take the grouping back, or begin anew with "
        "another state folder",
        a->head->components[index].name);
}

/* --- The names of keyed state --- */

static bool is_kept(const adopter *a, const char *name) {
    for (uint32_t i = 0; i < a->head->count; i++)
        if (strcmp(a->head->about[i].kept, name) == 0) return true;
    return false;
}

static const char *add_name(gx_buf *texts, const char *name) {
    const char *made = texts->data + texts->size;
    gx_buf_add(texts, name, strlen(name) + 1);
    return made;
}

/* The name of one that is new, while another one's state has its own. */
static const char *add_other_name(const adopter *a, const char *name) {
    gx_buf *texts = &a->made->texts;
    size_t at = texts->size;
    gx_buf_format(texts, "%s@%llu", name, (unsigned long long)a->head->image.number);
    gx_buf_add_byte(texts, '\0');
    return texts->data + at;
}

/* Room for all of them, so that none moves. */
static size_t bytes_of_names(const adopter *a) {
    size_t bytes = 0;
    for (uint32_t i = 0; i < a->head->count; i++) bytes += strlen(a->head->about[i].kept) + 1;
    for (uint32_t c = 0; c < a->plan->component_count; c++) bytes += strlen(now_of(a, c)->schema.name) + NAMED_AGAIN;
    return bytes;
}

static int name_all(const adopter *a) {
    gx_adopted *made = a->made;
    made->count = a->plan->component_count;
    made->all = a->all;
    made->kept = gx_alloc_array(made->heap, GX_TAG_OTHER, made->count, sizeof *made->kept);
    if (!made->kept || !gx_buf_reserve(&made->texts, bytes_of_names(a))) return no_memory(a);
    for (uint32_t c = 0; c < made->count; c++) {
        int32_t then = then_of(a, c);
        const char *name = now_of(a, c)->schema.name;
        made->kept[c] = then >= 0          ? add_name(&made->texts, a->head->about[then].kept)
                        : is_kept(a, name) ? add_other_name(a, name)
                                           : add_name(&made->texts, name);
    }
    made->gone = made->texts.size;
    for (uint32_t i = 0; i < a->head->count; i++)
        if (a->head->components[i].now < 0) add_name(&made->texts, a->head->about[i].kept);
    return GALE_OK;
}

/* --- All --- */

static int look_at_one(const adopter *a, uint32_t index) {
    if (a->head->components[index].now < 0) return GALE_OK;
    int rc = look_at_version(a, index);
    if (rc == GALE_OK) rc = look_at_keys(a, index);
    return rc;
}

static int look_at_all(adopter *a) {
    int rc = take_words(a);
    if (rc == GALE_OK) rc = find_others(a);
    if (rc == GALE_OK) rc = look_at_components(a);
    for (uint32_t i = 0; i < a->head->count && rc == GALE_OK; i++)
        if (a->head->components[i].now >= 0) rc = look_at_streams(a, i);
    for (uint32_t i = 0; i < a->head->count && rc == GALE_OK; i++) rc = look_at_inputs(a, i);
    for (uint32_t i = 0; i < a->head->count && rc == GALE_OK; i++) rc = look_at_one(a, i);
    return rc == GALE_OK ? name_all(a) : rc;
}

int gx_adopt(gx_adopted *made, gx_image_head *head, const gx_shared *shared, const gale_store *store,
             gx_adopt_words words, gale_error *error) {
    *made = (gx_adopted){ .heap = head->heap, .texts = GX_BUF_INIT(head->heap) };
    adopter a = { made, head, shared, shared->plan, store, words, false, error };
    return look_at_all(&a);
}

void gx_adopt_head_end(gx_image_head *head) {
    for (uint32_t i = 0; i < head->count; i++) {
        gx_rest_component *then = &head->components[i];
        gx_free(head->heap, GX_TAG_OTHER, then->streams, (then->stream_count + 1u) * sizeof *then->streams);
        gx_free(head->heap, GX_TAG_OTHER, then->inputs, (head->about[i].inputs.size + 1u) * sizeof *then->inputs);
        then->streams = NULL;
        then->inputs = NULL;
    }
}

void gx_adopted_fini(gx_adopted *made) {
    if (!made->heap) return;
    gx_free(made->heap, GX_TAG_OTHER, made->kept, made->count * sizeof *made->kept);
    gx_buf_fini(&made->texts);
    *made = (gx_adopted){ .heap = made->heap };
}

int gx_adopted_forget(const gx_adopted *made, const gale_store *store, gale_error *error) {
    int rc = GALE_OK;
    for (size_t at = made->gone; made->count && rc == GALE_OK && at < made->texts.size;) {
        const char *name = made->texts.data + at;
        rc = gx_keyed_remove_all(made->heap, store, name, error);
        at += strlen(name) + 1;
    }
    return rc;
}
