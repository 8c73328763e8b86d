#include "front/expansion.h"

#include "base/str.h"

#include <stdio.h>

/* --- Nodes ----------------------------------------------------------------------------------------------------------- */

int gx_expansion_no_memory(const gx_expansion *e) {
    return gale_error_set(e->error, GALE_NO_MEMORY, "%s: out of memory", gx_yaml_name(e->doc));
}

/* A text with the place of another node. */
gx_yaml gx_expansion_text(const gx_yaml *place, gale_str text) {
    return (gx_yaml){ .type = GALE_TYPE_STRING,
                      .line = place->line,
                      .column = place->column,
                      .end_line = place->end_line,
                      .file = place->file,
                      .expanded = 1,
                      .height = 1,
                      .text = text };
}

gx_yaml *gx_expansion_open(const gx_expansion *e, const gx_yaml *place, int32_t type) {
    gx_yaml *made = gx_yaml_open(e->doc, NULL, type);
    if (!made) return NULL;
    made->line = place->line;
    made->column = place->column;
    made->file = place->file;
    return made;
}

bool gx_expansion_put(const gx_expansion *e, gx_yaml *map, const char *name, const gx_yaml *value) {
    gx_yaml key = gx_expansion_text(value, gx_str(name));
    return gx_yaml_put(e->doc, map, &key, value);
}

bool gx_expansion_put_text(const gx_expansion *e, gx_yaml *map, const char *name, const gx_yaml *place, gale_str text) {
    gx_yaml value = gx_expansion_text(place, text);
    return gx_expansion_put(e, map, name, &value);
}

/* "base-part", in the document. */
gale_str gx_expansion_join(const gx_expansion *e, gale_str base, const char *between, gale_str part) {
    size_t size = base.size + strlen(between) + part.size;
    char *text = gx_yaml_take(e->doc, size + 1);
    if (!text) return (gale_str){ NULL, 0 };
    snprintf(text, size + 1, "%.*s%s%.*s", GX_STR(base), between, GX_STR(part));
    return (gale_str){ text, size };
}

int gx_expansion_refuse(const gx_expansion *e, const gx_yaml *place, const char *what) {
    return gx_yaml_error(e->doc, place, e->error, GALE_TOPOLOGY, "%s", what);
}

gx_yaml *gx_expansion_map_of(const gx_expansion *e, const gx_yaml *place, const char *name, const gx_yaml *value) {
    gx_yaml *made = gx_expansion_open(e, place, GALE_TYPE_MAP);
    return made && gx_expansion_put(e, made, name, value) ? made : NULL;
}

gx_yaml *gx_expansion_list_of(const gx_expansion *e, const gx_yaml *place, const char *text) {
    gx_yaml *list = gx_expansion_open(e, place, GALE_TYPE_LIST), item = gx_expansion_text(place, gx_str(text));
    return list && gx_yaml_add(e->doc, list, &item) ? list : NULL;
}

gale_str gx_expansion_base(const gx_expansion *e, const gx_yaml *stream, gale_str from, gale_str to) {
    const gx_yaml *id = gx_yaml_get(stream, "id");
    bool own = id && gx_yaml_is_scalar(id) && id->text.size;
    return own ? id->text : gx_expansion_join(e, from, "-", to);
}

/* --- Components ------------------------------------------------------------------------------------------------------ */

bool gx_expansion_add_part(const gx_expansion *e, gx_yaml *list, const gx_expansion_part *p,
                           const gx_yaml *properties) {
    gx_yaml *item = gx_expansion_open(e, p->place, GALE_TYPE_MAP);
    bool done = properties && p->id.data && item && gx_expansion_put_text(e, item, "id", p->place, p->id) &&
                gx_expansion_put_text(e, item, "className", p->place, gx_str(p->class_)) &&
                gx_expansion_put(e, item, "properties", properties);
    if (done && p->parallelism) done = gx_expansion_put(e, item, "parallelism", p->parallelism);
    return done && gx_yaml_add(e->doc, list, item);
}

/* A stream by fields, or evenly where `args` is NULL. */
bool gx_expansion_add_stream(const gx_expansion *e, const gx_yaml *place, const gx_yaml *from, const gx_yaml *to,
                             const gx_yaml *args, const gx_yaml *stream_id) {
    gx_yaml *item = gx_expansion_open(e, place, GALE_TYPE_MAP),
            *grouping = gx_expansion_open(e, args ? args : place, GALE_TYPE_MAP);
    bool done = item && grouping && gx_expansion_put(e, item, "from", from) && gx_expansion_put(e, item, "to", to) &&
                gx_expansion_put_text(e, grouping, "type", place, gx_str(args ? "FIELDS" : "SHUFFLE"));
    if (done && args) done = gx_expansion_put(e, grouping, "args", args);
    if (done && stream_id) done = gx_expansion_put(e, grouping, "streamId", stream_id);
    return done && gx_expansion_put(e, item, "grouping", grouping) && gx_yaml_add(e->doc, e->streams, item);
}

int gx_expansion_add_straight(const gx_expansion *e, const gx_yaml *stream, const char *key) {
    gx_yaml *made = gx_expansion_open(e, stream, GALE_TYPE_MAP);
    bool done = made != NULL;
    for (const gx_yaml *item = done && stream->type == GALE_TYPE_MAP ? stream->as.first : NULL; item && done;
         item = item->next->next)
        if (!gx_str_is(item->text, key)) done = gx_yaml_put(e->doc, made, item, item->next);
    return done && gx_yaml_add(e->doc, e->streams, made) ? 0 : gx_expansion_no_memory(e);
}

/* --- The file -------------------------------------------------------------------------------------------------------- */

static bool is_list(const gx_yaml *node) {
    return node && node->type == GALE_TYPE_LIST;
}

static bool has(const gx_yaml *stream, const char *key) {
    return stream->type == GALE_TYPE_MAP && gx_yaml_get(stream, key);
}

static bool has_one(const gx_yaml *streams, const char *key) {
    for (const gx_yaml *item = is_list(streams) ? streams->as.first : NULL; item; item = item->next)
        if (has(item, key)) return true;
    return false;
}

static gx_yaml *opened(gx_expansion *e, const gx_yaml *root, const char *key) {
    const gx_yaml *list = gx_yaml_get(root, key);
    e->blind |= list && !is_list(list) && list->type != GALE_TYPE_NULL;
    return gx_yaml_open(e->doc, list, GALE_TYPE_LIST);
}

static int put_lists(const gx_expansion *e, gx_yaml *root) {
    bool done = gx_expansion_put(e, root, "streams", e->streams);
    if (done && !e->blind)
        done = gx_expansion_put(e, root, "spouts", e->spouts) && gx_expansion_put(e, root, "bolts", e->bolts);
    if (!done) return gx_expansion_no_memory(e);
    gx_yaml_set_root(e->doc, root);
    return 0;
}

static int replace(const gx_expansion *e, const gx_yaml *stream, const char *key, gx_expansion_one_fn *one,
                   void *user) {
    if (!has(stream, key)) return gx_yaml_add(e->doc, e->streams, stream) ? 0 : gx_expansion_no_memory(e);
    if (e->blind) return gx_expansion_add_straight(e, stream, key);
    size_t kept = gx_yaml_kept(e->doc);
    int rc = gx_yaml_keep(e->doc, one(e, stream, user), e->error);
    return rc == 0 && gx_yaml_kept(e->doc) > kept ? gx_expansion_add_straight(e, stream, key) : rc;
}

int gx_expansion_run(gx_yaml_doc *doc, const char *key, gx_expansion_one_fn *one, void *user, gale_error *error) {
    const gx_yaml *root = gx_yaml_root(doc), *streams = root ? gx_yaml_get(root, "streams") : NULL;
    const gx_yaml *name = root ? gx_yaml_get(root, "name") : NULL;
    if (!has_one(streams, key)) return 0;
    gx_expansion e = { .doc = doc, .error = error };
    e.topology = name && gx_yaml_is_scalar(name) ? name->text : gx_str("unnamed");
    gx_yaml *made = gx_yaml_open(doc, root, GALE_TYPE_MAP);
    e.spouts = opened(&e, root, "spouts");
    e.bolts = opened(&e, root, "bolts");
    e.streams = gx_expansion_open(&e, streams, GALE_TYPE_LIST);
    int rc = made && e.spouts && e.bolts && e.streams ? 0 : gx_expansion_no_memory(&e);
    for (const gx_yaml *item = streams->as.first; item && rc == 0; item = item->next)
        rc = replace(&e, item, key, one, user);
    return rc == 0 ? put_lists(&e, made) : rc;
}
