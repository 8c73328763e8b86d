#include "front/via.h"

#include "base/nearest.h"
#include "base/str.h"
#include "front/expansion.h"
#include "front/shape.h"

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

static bool copy_settings(const gx_expansion *e, const gx_yaml *kafka, int to, gx_yaml *properties) {
    bool done = true;
    for (const gx_yaml *key = kafka->as.first; key && done; key = key->next->next)
        for (size_t i = 0; i < SETTING_COUNT && done; i++)
            if (settings[i].to & to && gx_str_is(key->text, settings[i].name) && key->next->type != GALE_TYPE_NULL)
                done = gx_yaml_put(e->doc, properties, key, key->next);
    return done;
}

/* What is sent and read again is in the class's words, each with its place. */
static gx_yaml *sink_properties(const gx_expansion *e, const gx_yaml *kafka) {
    gx_yaml *made = gx_expansion_open(e, kafka, GALE_TYPE_MAP);
    bool done = made && gx_expansion_put_text(e, made, "key", kafka, gx_str("key")) &&
                gx_expansion_put_text(e, made, "value", kafka, gx_str("value"));
    if (done && !gx_yaml_get(kafka, "markers"))
        done = gx_expansion_put_text(e, made, "markers", kafka, gx_str("gale-markers"));
    return done && copy_settings(e, kafka, SINK, made) ? made : NULL;
}

static gx_yaml *spout_properties(const gx_expansion *e, const gx_yaml *kafka, gale_str base) {
    gx_yaml *made = gx_expansion_open(e, kafka, GALE_TYPE_MAP), *topics = gx_expansion_open(e, kafka, GALE_TYPE_LIST);
    bool done = made && topics && gx_yaml_add(e->doc, topics, gx_yaml_get(kafka, "topic")) &&
                gx_expansion_put(e, made, "topics", topics) &&
                gx_expansion_put_text(e, made, "emit", kafka, gx_str("value, key"));
    if (done && !gx_yaml_get(kafka, "group")) {
        gale_str group = gx_expansion_join(e, e->topology, "-", base);
        done = group.data && gx_expansion_put_text(e, made, "group", kafka, group);
    }
    return done && copy_settings(e, kafka, SPOUT, made) ? made : NULL;
}

/* --- A stream -------------------------------------------------------------------------------------------------------- */

/* What of a stream's keys was found to be right. */
typedef struct said {
    const gx_yaml *via, *kafka, *parallelism;
} said;

static int read_grouping(const gx_expansion *e, gx_via *v) {
    const gx_yaml *grouping = gx_yaml_get(v->stream, "grouping"), *type;
    if (!grouping) return gx_expansion_refuse(e, v->stream, "a stream needs the field 'grouping'");
    int rc = gx_shape_map(e->doc, grouping, "a grouping of a stream with `via`", "type streamId args", e->error);
    if (rc == 0) rc = gx_shape_text(e->doc, grouping, "a grouping", "type", &type, e->error);
    if (rc < 0) return rc;
    if (!gx_str_is(type->text, "FIELDS"))
        return gx_expansion_refuse(
            e, type,
            "a stream with `via` is grouped by FIELDS, which become the messages' key: any other grouping "
            "needs no topic in between, or a stage of its own (docs/scaling.md)");
    rc = gx_shape_list(e->doc, grouping, "a grouping", "args", &v->args, e->error);
    if (rc == 0 && !v->args)
        return gx_expansion_refuse(e, grouping, "a FIELDS grouping needs 'args': the names of fields");
    if (rc == 0 && gx_yaml_get(grouping, "streamId"))
        rc = gx_shape_text(e->doc, grouping, "a grouping", "streamId", &v->stream_id, e->error);
    for (const gx_yaml *field = rc == 0 ? v->args->as.first : NULL; field; field = field->next)
        if (!gx_yaml_is_scalar(field)) return gx_expansion_refuse(e, field, "a field's name must be a string");
    return rc;
}

static int read_kafka(const gx_expansion *e, const gx_yaml *kafka) {
    static const char *const needed[] = { "brokers", "topic" };
    const gx_yaml *text;
    int rc = gx_shape_map_with(e->doc, kafka, "a stream's `via: {kafka: ...}`", SETTINGS, "brokers topic", e->error);
    for (size_t i = 0; i < 2 && rc == 0; i++)
        rc = gx_shape_text(e->doc, kafka, "a stream's `via: {kafka: ...}`", needed[i], &text, e->error);
    return rc;
}

static int read_via(const gx_expansion *e, gx_via *v, said *ret) {
    *ret = (said){ .via = gx_yaml_get(v->stream, "via") };
    int rc = gx_shape_stream(e->doc, v->stream, GX_STREAM_KEYS " via", e->error);
    if (rc == 0) rc = gx_shape_text(e->doc, v->stream, "a stream", "from", &v->from, e->error);
    if (rc == 0) rc = gx_shape_text(e->doc, v->stream, "a stream", "to", &v->to, e->error);
    if (rc == 0) rc = gx_shape_map_with(e->doc, ret->via, "a stream's `via`", "kafka parallelism", "kafka", e->error);
    if (rc != 0) return rc;
    ret->kafka = gx_yaml_get(ret->via, "kafka");
    ret->parallelism = gx_yaml_get(ret->via, "parallelism");
    if (!ret->kafka)
        return gx_expansion_refuse(e, ret->via, "`via` needs the field 'kafka': {brokers: ..., topic: ...}");
    rc = read_kafka(e, ret->kafka);
    return rc != 0 ? rc : read_grouping(e, v);
}

static bool name_parts(const gx_expansion *e, gx_via *v, gale_str *ret_base) {
    *ret_base = gx_expansion_base(e, v->stream, v->from->text, v->to->text);
    if (!ret_base->data) return false;
    v->pack = gx_expansion_join(e, *ret_base, "-", gx_str("pack"));
    v->sink = gx_expansion_join(e, *ret_base, "-", gx_str("sink"));
    v->spout = gx_expansion_join(e, *ret_base, "-", gx_str("spout"));
    v->unpack = gx_expansion_join(e, *ret_base, "-", gx_str("unpack"));
    return v->pack.data && v->sink.data && v->spout.data && v->unpack.data;
}

/* What comes out is at least what it is grouped by; gx_via_shape says the rest. */
static bool add_parts(const gx_expansion *e, const gx_via *v, const said *s, gale_str base) {
    const gx_yaml *place = s->kafka, *tasks = s->parallelism;
    const gx_expansion_part pack = { place, tasks, v->pack, "gale.bolt.Pack" },
                            out = { place, tasks, v->sink, "gale.bolt.KafkaSink" };
    const gx_expansion_part in = { place, tasks, v->spout, "gale.spout.Kafka" };
    const gx_expansion_part unpack = { place, tasks, v->unpack, "gale.bolt.Unpack" };
    return gx_expansion_add_part(e, e->bolts, &pack, gx_expansion_map_of(e, place, "key", v->args)) &&
           gx_expansion_add_part(e, e->bolts, &out, sink_properties(e, s->kafka)) &&
           gx_expansion_add_part(e, e->spouts, &in, spout_properties(e, s->kafka, base)) &&
           gx_expansion_add_part(e, e->bolts, &unpack, gx_expansion_map_of(e, place, "fields", v->args));
}

/* Tasks keep the order of a key: by fields on all of the way. What it is grouped by is looked at once, by gx_via_shape. */
static bool add_streams(const gx_expansion *e, const gx_via *v, const said *s) {
    const gx_yaml *place = v->stream, *keys = gx_expansion_list_of(e, place, "key");
    const gx_yaml pack = gx_expansion_text(s->kafka, v->pack), out = gx_expansion_text(s->kafka, v->sink);
    const gx_yaml in = gx_expansion_text(s->kafka, v->spout), unpack = gx_expansion_text(s->kafka, v->unpack);
    return keys && gx_expansion_add_stream(e, place, v->from, &pack, v->args, v->stream_id) &&
           gx_expansion_add_stream(e, place, &pack, &out, keys, NULL) &&
           gx_expansion_add_stream(e, place, &in, &unpack, keys, NULL) &&
           gx_expansion_add_stream(e, place, &unpack, v->to, v->args, NULL);
}

/* Where the next one is noted. */
static int expand(const gx_expansion *e, const gx_yaml *stream, void *user) {
    gx_via ***tail = user, *v = gx_yaml_take(e->doc, sizeof *v);
    gale_str base;
    said s;
    if (!v) return gx_expansion_no_memory(e);
    v->stream = stream;
    size_t kept = gx_yaml_kept(e->doc);
    int rc = read_via(e, v, &s);
    if (rc != 0 || gx_yaml_kept(e->doc) > kept) return rc < 0 ? rc : 0;
    if (!name_parts(e, v, &base) || !add_parts(e, v, &s, base) || !add_streams(e, v, &s))
        return gx_expansion_no_memory(e);
    **tail = v;
    *tail = &v->next;
    return 0;
}

int gx_via_expand(gx_yaml_doc *doc, gx_via **ret_list, gale_error *error) {
    *ret_list = NULL;
    return gx_expansion_run(doc, "via", expand, &ret_list, error);
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
