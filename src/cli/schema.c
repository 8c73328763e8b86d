#include "cli/schema.h"

#include "base/json.h"
#include "base/str.h"
#include "topology/config.h"

#include <gale/topology.h>

typedef struct writer {
    gx_json json;
    const gx_registry *registry;
} writer;

static void open_key(writer *w, const char *key, char bracket) {
    gx_json_key(&w->json, gx_str(key));
    gx_json_open(&w->json, bracket);
}

static void close(writer *w, char bracket) {
    gx_json_close(&w->json, bracket);
}

static void text(writer *w, const char *key, const char *value) {
    gx_json_key(&w->json, gx_str(key));
    gx_json_string(&w->json, gx_str(value));
}

static void type(writer *w, const char *key, const char *name) {
    gx_json_key(&w->json, gx_str(key));
    gx_json_open(&w->json, '{');
    text(w, "type", name);
    close(w, '}');
}

/* --- Values ------------------------------------------------------------------------------------------------------- */

/* Variables and references may stand for everything. */
static void any_of(writer *w, const char *const *types) {
    open_key(w, "type", '[');
    for (; *types; types++) gx_json_string(&w->json, gx_str(*types));
    close(w, ']');
}

static void bounds(writer *w, const gx_param *param) {
    if (param->min >= param->max) return;
    gx_json_key(&w->json, gx_str(param->roles & GX_PARAM_ABOVE ? "exclusiveMinimum" : "minimum"));
    gx_json_i64(&w->json, param->min);
    gx_json_key(&w->json, gx_str("maximum"));
    gx_json_i64(&w->json, param->max);
}

static void words(writer *w, const char *list) {
    gale_str rest = gx_str(list), word;
    open_key(w, "enum", '[');
    while (gx_str_next(&rest, ' ', &word)) gx_json_string(&w->json, word);
    close(w, ']');
}

/* What a file may give for each gx_param_type. An object may be a reference. */
static const char *const *types_of(const gx_param *param) {
    static const char *const table[GX_PARAM_TYPE_COUNT][5] = {
        [GX_PARAM_ANY] = { NULL },
        [GX_PARAM_BOOL] = { "boolean", "null", "object", NULL },
        [GX_PARAM_WHOLE] = { "integer", "null", "object", NULL },
        [GX_PARAM_NUMBER] = { "number", "null", "object", NULL },
        [GX_PARAM_SECONDS] = { "number", "string", "null", "object", NULL },
        [GX_PARAM_BYTES] = { "integer", "string", "null", "object", NULL },
        [GX_PARAM_TEXT] = { "string", "null", "object", NULL },
        [GX_PARAM_WORD] = { NULL },
        [GX_PARAM_FIELD] = { "string", "null", "object", NULL },
        [GX_PARAM_FIELDS] = { "string", "array", "null", "object", NULL },
        [GX_PARAM_LIST] = { "string", "array", "null", "object", NULL },
        [GX_PARAM_MAP] = { "object", "null", NULL },
    };
    return table[param->type];
}

static void value(writer *w, const gx_param *param) {
    gx_json_open(&w->json, '{');
    text(w, "description", param->text);
    if (param->type == GX_PARAM_WORD) words(w, param->words);
    const char *const *types = types_of(param);
    if (*types) any_of(w, types);
    bounds(w, param);
    if (param->fallback && *param->fallback) {
        gx_json_key(&w->json, gx_str("default"));
        gale_value fallback = gx_config_scalar(gx_str(param->fallback));
        bool number = param->type == GX_PARAM_WHOLE || param->type == GX_PARAM_NUMBER ||
                      param->type == GX_PARAM_SECONDS || param->type == GX_PARAM_BYTES;
        if (number && fallback.type == GALE_TYPE_I64)
            gx_json_i64(&w->json, fallback.as.i64);
        else if (param->type == GX_PARAM_BOOL && fallback.type == GALE_TYPE_BOOL)
            gx_json_bool(&w->json, fallback.as.boolean);
        else
            gx_json_string(&w->json, gx_str(param->fallback));
    }
    close(w, '}');
}

/* --- Classes ------------------------------------------------------------------------------------------------------ */

static void names_of(writer *w, const gx_class *class_) {
    gx_json_string(&w->json, gx_str(class_->name));
    for (size_t i = 0; i < GX_ALIASES_MAX && class_->aliases[i]; i++)
        gx_json_string(&w->json, gx_str(class_->aliases[i]));
}

/* properties: {path: ...} */
static void as_map(writer *w, const gx_class *class_) {
    gx_json_open(&w->json, '{');
    text(w, "type", "object");
    open_key(w, "properties", '{');
    for (size_t i = 0; i < class_->param_count; i++) {
        gx_json_key(&w->json, gx_str(class_->params[i].name));
        value(w, &class_->params[i]);
        if (!class_->params[i].also) continue;
        gx_json_key(&w->json, gx_str(class_->params[i].also));
        value(w, &class_->params[i]);
    }
    close(w, '}');
    gx_json_key(&w->json, gx_str("additionalProperties"));
    gx_json_bool(&w->json, false);
    close(w, '}');
}

/* properties: [{name: path, value: ...}] */
static void as_list(writer *w, const gx_class *class_) {
    gx_json_open(&w->json, '{');
    text(w, "type", "array");
    open_key(w, "items", '{');
    text(w, "type", "object");
    open_key(w, "properties", '{');
    open_key(w, "name", '{');
    open_key(w, "enum", '[');
    for (size_t i = 0; i < class_->param_count; i++) {
        gx_json_string(&w->json, gx_str(class_->params[i].name));
        if (class_->params[i].also) gx_json_string(&w->json, gx_str(class_->params[i].also));
    }
    close(w, ']');
    close(w, '}');
    close(w, '}');
    open_key(w, "required", '[');
    gx_json_string(&w->json, gx_str("name"));
    close(w, ']');
    close(w, '}');
    close(w, '}');
}

static void class_rule(writer *w, const gx_class *class_) {
    gx_json_open(&w->json, '{');
    open_key(w, "if", '{');
    open_key(w, "properties", '{');
    open_key(w, "className", '{');
    open_key(w, "enum", '[');
    names_of(w, class_);
    close(w, ']');
    close(w, '}');
    close(w, '}');
    close(w, '}');
    open_key(w, "then", '{');
    text(w, "description", class_->text);
    open_key(w, "properties", '{');
    open_key(w, "constructorArgs", '{');
    open_key(w, "type", '[');
    gx_json_string(&w->json, gx_str("array"));
    gx_json_string(&w->json, gx_str("null"));
    close(w, ']');
    gx_json_key(&w->json, gx_str("maxItems"));
    gx_json_u64(&w->json, class_->param_count);
    close(w, '}');
    open_key(w, "properties", '{');
    open_key(w, "anyOf", '[');
    as_list(w, class_);
    as_map(w, class_);
    gx_json_open(&w->json, '{');
    text(w, "type", "null");
    close(w, '}');
    close(w, ']');
    close(w, '}');
    close(w, '}');
    close(w, '}');
    close(w, '}');
}

static void vertex_keys(writer *w) {
    static const char *const loads[] = { "onHeapMemoryLoad", "offHeapMemoryLoad", "cpuLoad" };
    for (size_t i = 0; i < 2; i++) {
        open_key(w, i ? "numTasks" : "parallelism", '{');
        text(w, "type", "integer");
        gx_json_key(&w->json, gx_str("minimum"));
        gx_json_i64(&w->json, 1);
        gx_json_key(&w->json, gx_str("maximum"));
        gx_json_i64(&w->json, GALE_TASKS_MAX);
        close(w, '}');
    }
    for (size_t i = 0; i < 3; i++) type(w, loads[i], "number");
    open_key(w, "config", '{');
    text(w, "$ref", "#/definitions/config");
    close(w, '}');
}

/* Keys of an object, and what follows from its class. */
static void object(writer *w, const char *name, int32_t kind, bool vertex) {
    static const char *const lists[] = { "constructorArgs", "factoryArgs", "configMethods" };
    const gx_class *class_;
    open_key(w, name, '{');
    text(w, "type", "object");
    open_key(w, "required", '[');
    gx_json_string(&w->json, gx_str("id"));
    gx_json_string(&w->json, gx_str("className"));
    close(w, ']');
    open_key(w, "properties", '{');
    type(w, "id", "string");
    open_key(w, "className", '{');
    open_key(w, "enum", '[');
    for (size_t i = 0; (class_ = gx_registry_at(w->registry, i)); i++)
        if (class_->kind == kind) names_of(w, class_);
    close(w, ']');
    close(w, '}');
    for (size_t i = 0; i < 3; i++) type(w, lists[i], "array");
    type(w, "factory", "string");
    open_key(w, "properties", '{');
    close(w, '}');
    if (vertex) vertex_keys(w);
    close(w, '}');
    gx_json_key(&w->json, gx_str("additionalProperties"));
    gx_json_bool(&w->json, false);
    open_key(w, "allOf", '[');
    for (size_t i = 0; (class_ = gx_registry_at(w->registry, i)); i++)
        if (class_->kind == kind) class_rule(w, class_);
    close(w, ']');
    close(w, '}');
}

/* --- The rest ----------------------------------------------------------------------------------------------------- */

static void key_types(writer *w, const gx_key *key) {
    static const struct {
        int32_t type;
        const char *name;
    } rows[] = { { GALE_TYPE_BOOL, "boolean" },  { GALE_TYPE_I64, "integer" }, { GALE_TYPE_F64, "number" },
                 { GALE_TYPE_STRING, "string" }, { GALE_TYPE_LIST, "array" },  { GALE_TYPE_MAP, "object" } };
    open_key(w, "type", '[');
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (key->types & 1u << rows[i].type) gx_json_string(&w->json, gx_str(rows[i].name));
    gx_json_string(&w->json, gx_str("null"));
    close(w, ']');
}

static void config(writer *w) {
    size_t count;
    const gx_key *keys = gx_config_keys(&count);
    open_key(w, "config", '{');
    open_key(w, "type", '[');
    gx_json_string(&w->json, gx_str("object"));
    gx_json_string(&w->json, gx_str("null"));
    close(w, ']');
    open_key(w, "properties", '{');
    for (size_t i = 0; i < count; i++) {
        if (keys[i].class_ == GX_KEY_REFUSED) continue;
        gx_json_key(&w->json, gx_str(keys[i].name));
        gx_json_open(&w->json, '{');
        text(w, "description", keys[i].text);
        key_types(w, &keys[i]);
        close(w, '}');
    }
    close(w, '}');
    close(w, '}');
}

/* A stream that goes through a topic (front/via.h). */
static void via(writer *w) {
    static const char *const texts[] = { "brokers", "topic", "markers", "group", "deadLetters" };
    static const char *const others[] = { "from", "commitEvery", "finishWait", "maxAttempts", "memory" };
    open_key(w, "via", '{');
    text(w, "type", "object");
    open_key(w, "required", '[');
    gx_json_string(&w->json, gx_str("kafka"));
    close(w, ']');
    open_key(w, "properties", '{');
    open_key(w, "kafka", '{');
    text(w, "type", "object");
    open_key(w, "required", '[');
    for (size_t i = 0; i < 2; i++) gx_json_string(&w->json, gx_str(texts[i]));
    close(w, ']');
    open_key(w, "properties", '{');
    for (size_t i = 0; i < 5; i++) {
        open_key(w, texts[i], '{');
        any_of(w, (const char *const[]){ "string", "null", NULL });
        close(w, '}');
    }
    for (size_t i = 0; i < 5; i++) {
        open_key(w, others[i], '{');
        close(w, '}');
    }
    type(w, "properties", "object");
    type(w, "propertiesFrom", "object");
    close(w, '}');
    gx_json_key(&w->json, gx_str("additionalProperties"));
    gx_json_bool(&w->json, false);
    close(w, '}');
    type(w, "parallelism", "integer");
    close(w, '}');
    gx_json_key(&w->json, gx_str("additionalProperties"));
    gx_json_bool(&w->json, false);
    close(w, '}');
}

/* One that goes through a folder (front/buffer.h). */
static void buffer(writer *w) {
    static const char *const keys[] = { "disk", "path", "parallelism", "memory", "maxAttempts" };
    open_key(w, "buffer", '{');
    text(w, "type", "object");
    open_key(w, "required", '[');
    for (size_t i = 0; i < 2; i++) gx_json_string(&w->json, gx_str(keys[i]));
    close(w, ']');
    open_key(w, "properties", '{');
    for (size_t i = 0; i < 5; i++) {
        open_key(w, keys[i], '{');
        close(w, '}');
    }
    close(w, '}');
    gx_json_key(&w->json, gx_str("additionalProperties"));
    gx_json_bool(&w->json, false);
    close(w, '}');
}

static void streams(writer *w) {
    open_key(w, "stream", '{');
    text(w, "type", "object");
    open_key(w, "required", '[');
    gx_json_string(&w->json, gx_str("from"));
    gx_json_string(&w->json, gx_str("to"));
    gx_json_string(&w->json, gx_str("grouping"));
    close(w, ']');
    open_key(w, "properties", '{');
    static const char *const texts[] = { "id", "name", "from", "to" };
    for (size_t i = 0; i < 4; i++) type(w, texts[i], "string");
    open_key(w, "grouping", '{');
    open_key(w, "type", '[');
    gx_json_string(&w->json, gx_str("object"));
    gx_json_string(&w->json, gx_str("string"));
    close(w, ']');
    open_key(w, "required", '[');
    gx_json_string(&w->json, gx_str("type"));
    close(w, ']');
    open_key(w, "properties", '{');
    open_key(w, "type", '{');
    words(w, "SHUFFLE FIELDS ALL GLOBAL CUSTOM DIRECT LOCAL_OR_SHUFFLE NONE PARTIAL_KEY");
    close(w, '}');
    type(w, "streamId", "string");
    type(w, "args", "array");
    type(w, "customClass", "object");
    open_key(w, "drop", '{');
    words(w, "oldest newest nothing");
    close(w, '}');
    close(w, '}');
    gx_json_key(&w->json, gx_str("additionalProperties"));
    gx_json_bool(&w->json, false);
    close(w, '}');
    via(w);
    buffer(w);
    close(w, '}');
    gx_json_key(&w->json, gx_str("additionalProperties"));
    gx_json_bool(&w->json, false);
    close(w, '}');
}

static void list_of(writer *w, const char *key, const char *definition) {
    open_key(w, key, '{');
    open_key(w, "type", '[');
    gx_json_string(&w->json, gx_str("array"));
    gx_json_string(&w->json, gx_str("null"));
    close(w, ']');
    open_key(w, "items", '{');
    text(w, "$ref", definition);
    close(w, '}');
    close(w, '}');
}

static void includes(writer *w) {
    open_key(w, "include", '{');
    text(w, "type", "object");
    open_key(w, "required", '[');
    gx_json_string(&w->json, gx_str("file"));
    close(w, ']');
    open_key(w, "properties", '{');
    type(w, "file", "string");
    type(w, "resource", "boolean");
    type(w, "override", "boolean");
    close(w, '}');
    gx_json_key(&w->json, gx_str("additionalProperties"));
    gx_json_bool(&w->json, false);
    close(w, '}');
}

void gx_schema(const gx_registry *registry, gx_buf *out) {
    writer w = { gx_json_to(out), registry };
    gx_json_open(&w.json, '{');
    text(&w, "$schema", "http://json-schema.org/draft-07/schema#");
    text(&w, "title", "a topology of gale, in Storm's Flux form");
    text(&w, "type", "object");
    open_key(&w, "properties", '{');
    type(&w, "name", "string");
    open_key(&w, "config", '{');
    text(&w, "$ref", "#/definitions/config");
    close(&w, '}');
    list_of(&w, "includes", "#/definitions/include");
    list_of(&w, "components", "#/definitions/component");
    list_of(&w, "spouts", "#/definitions/spout");
    list_of(&w, "bolts", "#/definitions/bolt");
    list_of(&w, "streams", "#/definitions/stream");
    list_of(&w, "plugins", "#/definitions/plugin");
    close(&w, '}');
    gx_json_key(&w.json, gx_str("additionalProperties"));
    gx_json_bool(&w.json, false);
    open_key(&w, "definitions", '{');
    config(&w);
    includes(&w);
    type(&w, "plugin", "string");
    object(&w, "component", GX_CLASS_VALUE, false);
    object(&w, "spout", GX_CLASS_SPOUT, true);
    object(&w, "bolt", GX_CLASS_BOLT, true);
    streams(&w);
    close(&w, '}');
    gx_json_close(&w.json, '}');
    gx_buf_add_text(out, "\n");
}
