#include "front/via.h"

#include "base/nearest.h"
#include "base/str.h"
#include "front/shape.h"

#include <stdio.h>

typedef struct expanding {
    gx_yaml_doc *doc;
    gale_error *error;
    gale_str topology;
    gx_yaml *spouts, *bolts, *streams; /* as they become */
    bool blind;                        /* there is no list to put components into, which is told later */
    gx_via **tail;
} expanding;

/* --- Nodes ----------------------------------------------------------------------------------------------------------- */

static int no_memory(const expanding *e) {
    return gale_error_set(e->error, GALE_NO_MEMORY, "%s: out of memory", gx_yaml_name(e->doc));
}

/* A text with the place of another node. */
static gx_yaml text_at(const gx_yaml *place, gale_str text) {
    return (gx_yaml){ .type = GALE_TYPE_STRING,
                      .line = place->line,
                      .column = place->column,
                      .end_line = place->end_line,
                      .file = place->file,
                      .expanded = 1,
                      .height = 1,
                      .text = text };
}

static gx_yaml *open_at(const expanding *e, const gx_yaml *place, int32_t type) {
    gx_yaml *made = gx_yaml_open(e->doc, NULL, type);
    if (!made) return NULL;
    made->line = place->line;
    made->column = place->column;
    made->file = place->file;
    return made;
}

static bool put(const expanding *e, gx_yaml *map, const char *name, const gx_yaml *value) {
    gx_yaml key = text_at(value, gx_str(name));
    return gx_yaml_put(e->doc, map, &key, value);
}

static bool put_text(const expanding *e, gx_yaml *map, const char *name, const gx_yaml *place, gale_str text) {
    gx_yaml value = text_at(place, text);
    return put(e, map, name, &value);
}

/* "base-part", in the document. */
static gale_str join(const expanding *e, gale_str base, const char *between, gale_str part) {
    size_t size = base.size + strlen(between) + part.size;
    char *text = gx_yaml_take(e->doc, size + 1);
    if (!text) return (gale_str){ NULL, 0 };
    snprintf(text, size + 1, "%.*s%s%.*s", GX_STR(base), between, GX_STR(part));
    return (gale_str){ text, size };
}

/* --- What is said of the topic --------------------------------------------------------------------------------------- */

enum { SINK = 1, SPOUT = 2, BOTH = 3 };

/* Where what is said goes. */
static const struct {
    const char *name;
    int to;
} settings[] = {
    { "brokers", BOTH },      { "topic", SINK },        { "properties", BOTH },   { "propertiesFrom", BOTH },
    { "markers", SINK },      { "finishWait", SINK },   { "group", SPOUT },       { "from", SPOUT },
    { "commitEvery", SPOUT }, { "maxAttempts", SPOUT }, { "deadLetters", SPOUT }, { "memory", BOTH },
};

enum { SETTING_COUNT = sizeof settings / sizeof *settings };

#define SETTINGS                                                                                                       \
    "brokers topic properties propertiesFrom markers finishWait group from commitEvery maxAttempts deadLetters memory"

static int refuse(const expanding *e, const gx_yaml *place, const char *what) {
    return gx_yaml_error(e->doc, place, e->error, GALE_TOPOLOGY, "%s", what);
}

static bool copy_settings(const expanding *e, const gx_yaml *kafka, int to, gx_yaml *properties) {
    bool done = true;
    for (const gx_yaml *key = kafka->as.first; key && done; key = key->next->next)
        for (size_t i = 0; i < SETTING_COUNT && done; i++)
            if (settings[i].to & to && gx_str_is(key->text, settings[i].name) && key->next->type != GALE_TYPE_NULL)
                done = gx_yaml_put(e->doc, properties, key, key->next);
    return done;
}

/* What is sent and read again is in the class's words, each with its place. */
static gx_yaml *sink_properties(const expanding *e, const gx_yaml *kafka) {
    gx_yaml *made = open_at(e, kafka, GALE_TYPE_MAP);
    bool done = made && put_text(e, made, "key", kafka, gx_str("key")) &&
                put_text(e, made, "value", kafka, gx_str("value"));
    if (done && !gx_yaml_get(kafka, "markers")) done = put_text(e, made, "markers", kafka, gx_str("gale-markers"));
    return done && copy_settings(e, kafka, SINK, made) ? made : NULL;
}

static gx_yaml *spout_properties(const expanding *e, const gx_yaml *kafka, gale_str base) {
    gx_yaml *made = open_at(e, kafka, GALE_TYPE_MAP), *topics = open_at(e, kafka, GALE_TYPE_LIST);
    bool done = made && topics && gx_yaml_add(e->doc, topics, gx_yaml_get(kafka, "topic")) &&
                put(e, made, "topics", topics) && put_text(e, made, "emit", kafka, gx_str("value, key"));
    if (done && !gx_yaml_get(kafka, "group")) {
        gale_str group = join(e, e->topology, "-", base);
        done = group.data && put_text(e, made, "group", kafka, group);
    }
    return done && copy_settings(e, kafka, SPOUT, made) ? made : NULL;
}

/* --- Components ------------------------------------------------------------------------------------------------------ */

typedef struct part {
    const gx_yaml *place, *parallelism;
    gale_str id;
    const char *class_;
} part;

static bool add_part(const expanding *e, gx_yaml *list, const part *p, const gx_yaml *properties) {
    gx_yaml *item = open_at(e, p->place, GALE_TYPE_MAP);
    bool done = properties && p->id.data && item && put_text(e, item, "id", p->place, p->id) &&
                put_text(e, item, "className", p->place, gx_str(p->class_)) && put(e, item, "properties", properties);
    if (done && p->parallelism) done = put(e, item, "parallelism", p->parallelism);
    return done && gx_yaml_add(e->doc, list, item);
}

static gx_yaml *with(const expanding *e, const gx_yaml *place, const char *name, const gx_yaml *value) {
    gx_yaml *made = open_at(e, place, GALE_TYPE_MAP);
    return made && put(e, made, name, value) ? made : NULL;
}

/* A stream by fields, or evenly where `args` is NULL. */
static bool add_stream(const expanding *e, const gx_yaml *place, const gx_yaml *from, const gx_yaml *to,
                       const gx_yaml *args, const gx_yaml *stream_id) {
    gx_yaml *item = open_at(e, place, GALE_TYPE_MAP), *grouping = open_at(e, args ? args : place, GALE_TYPE_MAP);
    bool done = item && grouping && put(e, item, "from", from) && put(e, item, "to", to) &&
                put_text(e, grouping, "type", place, gx_str(args ? "FIELDS" : "SHUFFLE"));
    if (done && args) done = put(e, grouping, "args", args);
    if (done && stream_id) done = put(e, grouping, "streamId", stream_id);
    return done && put(e, item, "grouping", grouping) && gx_yaml_add(e->doc, e->streams, item);
}

static gx_yaml *list_of_text(const expanding *e, const gx_yaml *place, const char *text) {
    gx_yaml *list = open_at(e, place, GALE_TYPE_LIST), item = text_at(place, gx_str(text));
    return list && gx_yaml_add(e->doc, list, &item) ? list : NULL;
}

/* --- A stream -------------------------------------------------------------------------------------------------------- */

/* What of a stream's keys was found to be right. */
typedef struct said {
    const gx_yaml *via, *kafka, *parallelism;
} said;

static int read_grouping(const expanding *e, gx_via *v) {
    const gx_yaml *grouping = gx_yaml_get(v->stream, "grouping"), *type;
    if (!grouping) return refuse(e, v->stream, "a stream needs the field 'grouping'");
    int rc = gx_shape_map(e->doc, grouping, "a grouping of a stream with `via`", "type streamId args", e->error);
    if (rc == 0) rc = gx_shape_text(e->doc, grouping, "a grouping", "type", &type, e->error);
    if (rc < 0) return rc;
    if (!gx_str_is(type->text, "FIELDS"))
        return refuse(e, type,
                      "a stream with `via` is grouped by FIELDS, which become the messages' key: any other grouping "
                      "needs no topic in between, or a stage of its own (docs/scaling.md)");
    rc = gx_shape_list(e->doc, grouping, "a grouping", "args", &v->args, e->error);
    if (rc == 0 && !v->args) return refuse(e, grouping, "a FIELDS grouping needs 'args': the names of fields");
    if (rc == 0 && gx_yaml_get(grouping, "streamId"))
        rc = gx_shape_text(e->doc, grouping, "a grouping", "streamId", &v->stream_id, e->error);
    for (const gx_yaml *field = rc == 0 ? v->args->as.first : NULL; field; field = field->next)
        if (!gx_yaml_is_scalar(field)) return refuse(e, field, "a field's name must be a string");
    return rc;
}

static int read_kafka(const expanding *e, const gx_yaml *kafka) {
    static const char *const needed[] = { "brokers", "topic" };
    const gx_yaml *text;
    int rc = gx_shape_map_with(e->doc, kafka, "a stream's `via: {kafka: ...}`", SETTINGS, "brokers topic", e->error);
    for (size_t i = 0; i < 2 && rc == 0; i++)
        rc = gx_shape_text(e->doc, kafka, "a stream's `via: {kafka: ...}`", needed[i], &text, e->error);
    return rc;
}

static int read_via(const expanding *e, gx_via *v, said *ret) {
    *ret = (said){ .via = gx_yaml_get(v->stream, "via") };
    int rc = gx_shape_map(e->doc, v->stream, "a stream", "id name from to grouping via", e->error);
    if (rc == 0) rc = gx_shape_text(e->doc, v->stream, "a stream", "from", &v->from, e->error);
    if (rc == 0) rc = gx_shape_text(e->doc, v->stream, "a stream", "to", &v->to, e->error);
    if (rc == 0) rc = gx_shape_map_with(e->doc, ret->via, "a stream's `via`", "kafka parallelism", "kafka", e->error);
    if (rc != 0) return rc;
    ret->kafka = gx_yaml_get(ret->via, "kafka");
    ret->parallelism = gx_yaml_get(ret->via, "parallelism");
    if (!ret->kafka) return refuse(e, ret->via, "`via` needs the field 'kafka': {brokers: ..., topic: ...}");
    rc = read_kafka(e, ret->kafka);
    return rc != 0 ? rc : read_grouping(e, v);
}

static bool name_parts(const expanding *e, gx_via *v, gale_str *ret_base) {
    const gx_yaml *id = gx_yaml_get(v->stream, "id");
    bool own = id && gx_yaml_is_scalar(id) && id->text.size;
    *ret_base = own ? id->text : join(e, v->from->text, "-", v->to->text);
    if (!ret_base->data) return false;
    v->pack = join(e, *ret_base, "-", gx_str("pack"));
    v->sink = join(e, *ret_base, "-", gx_str("sink"));
    v->spout = join(e, *ret_base, "-", gx_str("spout"));
    v->unpack = join(e, *ret_base, "-", gx_str("unpack"));
    return v->pack.data && v->sink.data && v->spout.data && v->unpack.data;
}

/* What comes out is at least what it is grouped by; gx_via_shape says the rest. */
static bool add_parts(const expanding *e, const gx_via *v, const said *s, gale_str base) {
    const gx_yaml *place = s->kafka, *tasks = s->parallelism;
    const part pack = { place, tasks, v->pack, "gale.bolt.Pack" },
               out = { place, tasks, v->sink, "gale.bolt.KafkaSink" };
    const part in = { place, tasks, v->spout, "gale.spout.Kafka" };
    const part unpack = { place, tasks, v->unpack, "gale.bolt.Unpack" };
    return add_part(e, e->bolts, &pack, with(e, place, "key", v->args)) &&
           add_part(e, e->bolts, &out, sink_properties(e, s->kafka)) &&
           add_part(e, e->spouts, &in, spout_properties(e, s->kafka, base)) &&
           add_part(e, e->bolts, &unpack, with(e, place, "fields", v->args));
}

/* Tasks keep the order of a key: by fields on all of the way. What it is grouped by is looked at once, by gx_via_shape. */
static bool add_streams(const expanding *e, const gx_via *v, const said *s) {
    const gx_yaml *place = v->stream, *keys = list_of_text(e, place, "key");
    const gx_yaml pack = text_at(s->kafka, v->pack), out = text_at(s->kafka, v->sink);
    const gx_yaml in = text_at(s->kafka, v->spout), unpack = text_at(s->kafka, v->unpack);
    return keys && add_stream(e, place, v->from, &pack, v->args, v->stream_id) &&
           add_stream(e, place, &pack, &out, keys, NULL) && add_stream(e, place, &in, &unpack, keys, NULL) &&
           add_stream(e, place, &unpack, v->to, v->args, NULL);
}

/* A stream with an error in it goes straight on, so that the rest of the file can be looked at. */
static int add_straight(const expanding *e, const gx_yaml *stream) {
    gx_yaml *made = open_at(e, stream, GALE_TYPE_MAP);
    bool done = made != NULL;
    for (const gx_yaml *key = done && stream->type == GALE_TYPE_MAP ? stream->as.first : NULL; key && done;
         key = key->next->next)
        if (!gx_str_is(key->text, "via")) done = gx_yaml_put(e->doc, made, key, key->next);
    return done && gx_yaml_add(e->doc, e->streams, made) ? 0 : no_memory(e);
}

static int expand(expanding *e, const gx_yaml *stream) {
    gx_via *v = gx_yaml_take(e->doc, sizeof *v);
    gale_str base;
    said s;
    if (e->blind) return add_straight(e, stream);
    if (!v) return no_memory(e);
    v->stream = stream;
    size_t kept = gx_yaml_kept(e->doc);
    int rc = gx_yaml_keep(e->doc, read_via(e, v, &s), e->error);
    if (rc < 0) return rc;
    if (gx_yaml_kept(e->doc) > kept) return add_straight(e, stream);
    if (!name_parts(e, v, &base) || !add_parts(e, v, &s, base) || !add_streams(e, v, &s)) return no_memory(e);
    *e->tail = v;
    e->tail = &v->next;
    return 0;
}

/* --- The file -------------------------------------------------------------------------------------------------------- */

static bool is_list(const gx_yaml *node) {
    return node && node->type == GALE_TYPE_LIST;
}

static bool has_via(const gx_yaml *stream) {
    return stream->type == GALE_TYPE_MAP && gx_yaml_get(stream, "via");
}

static bool has_one(const gx_yaml *streams) {
    for (const gx_yaml *item = is_list(streams) ? streams->as.first : NULL; item; item = item->next)
        if (has_via(item)) return true;
    return false;
}

static gx_yaml *opened(expanding *e, const gx_yaml *root, const char *key) {
    const gx_yaml *list = gx_yaml_get(root, key);
    e->blind |= list && !is_list(list) && list->type != GALE_TYPE_NULL;
    return gx_yaml_open(e->doc, list, GALE_TYPE_LIST);
}

static int put_lists(const expanding *e, gx_yaml *root) {
    bool done = put(e, root, "streams", e->streams);
    if (done && !e->blind) done = put(e, root, "spouts", e->spouts) && put(e, root, "bolts", e->bolts);
    if (!done) return no_memory(e);
    gx_yaml_set_root(e->doc, root);
    return 0;
}

int gx_via_expand(gx_yaml_doc *doc, gx_via **ret_list, gale_error *error) {
    const gx_yaml *root = gx_yaml_root(doc), *streams = root ? gx_yaml_get(root, "streams") : NULL;
    const gx_yaml *name = root ? gx_yaml_get(root, "name") : NULL;
    *ret_list = NULL;
    if (!has_one(streams)) return 0;
    expanding e = { .doc = doc, .error = error, .tail = ret_list };
    e.topology = name && gx_yaml_is_scalar(name) ? name->text : gx_str("unnamed");
    gx_yaml *made = gx_yaml_open(doc, root, GALE_TYPE_MAP);
    e.spouts = opened(&e, root, "spouts");
    e.bolts = opened(&e, root, "bolts");
    e.streams = open_at(&e, streams, GALE_TYPE_LIST);
    int rc = made && e.spouts && e.bolts && e.streams ? 0 : no_memory(&e);
    for (const gx_yaml *item = streams->as.first; item && rc == 0; item = item->next) {
        if (has_via(item))
            rc = expand(&e, item);
        else if (!gx_yaml_add(doc, e.streams, item))
            rc = no_memory(&e);
    }
    return rc == 0 ? put_lists(&e, made) : rc;
}

/* --- What goes through it ---------------------------------------------------------------------------------------------*/

static bool names(const char *fields, gale_str wanted, gx_nearest *nearest) {
    gale_str rest = gx_str(fields), field;
    while (gx_str_next(&rest, ',', &field)) {
        if (gx_str_equal(field, wanted)) return true;
        gx_nearest_offer(nearest, field);
    }
    return false;
}

int gx_via_shape(const gx_yaml_doc *doc, const gx_via *via, const char *fields, gale_error *error) {
    char hint[GX_HINT_SIZE];
    for (const gx_yaml *field = via->args->as.first; field; field = field->next) {
        gx_nearest nearest = gx_nearest_to(field->text);
        if (names(fields, field->text, &nearest)) continue;
        return gx_yaml_error(doc, field, error, GALE_NOT_FOUND, "'%.*s' has no field '%.*s' in stream '%.*s'%s",
                             GX_STR(via->from->text), GX_STR(field->text),
                             GX_STR(via->stream_id ? via->stream_id->text : gx_str("default")),
                             gx_nearest_hint(&nearest, hint, sizeof hint));
    }
    return 0;
}

const gx_via *gx_via_of(const gx_via *list, gale_str id) {
    for (; list; list = list->next)
        if (gx_str_equal(list->pack, id) || gx_str_equal(list->sink, id) || gx_str_equal(list->spout, id) ||
            gx_str_equal(list->unpack, id))
            return list;
    return NULL;
}
